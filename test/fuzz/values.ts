import fc from 'fast-check'

/** JSON Schema, as far as the documents of the daemon use it. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly pickOne?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
}

/** Texts that programs stumble over: control characters, other scripts, paths, years, numbers beyond all types, and long ones. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\0',
      'a\0b',
      '\r\nx: y',
      '\u202egnirts',
      '\ud800',
      '😀',
      '..',
      '../..',
      './.',
      '%00',
      '%2e%2e',
      '__proto__',
      'constructor',
      "'; DROP TABLE x; --",
      '$' + '{7*7}',
      'null',
      'NaN',
      '-1',
      '0',
      '1e309',
      '99999999999999999999999999',
      '9007199254740993',
      '0000-01-01',
      '0001-01-01T00:00:00Z',
      '2026-02-30',
      '9999-12-31T23:59:59-05:00',
      '+275760-09-13',
      '2026-11-22T10:00:00Z',
    ),
  },
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 20_000 }).map((length) => 'x'.repeat(length)) },
)

/** Any JSON value of some size, hostile texts included. */
const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, [], {}, [[]], { a: {} }),
  fc.double(),
  fc.array(hostileText, { maxLength: 4 }),
  fc.integer({ min: 5, max: 400 }).map((depth) => {
    let value: unknown = 1
    for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
    return value
  }),
  fc.integer({ min: 100, max: 3_000 }).map((length) => Array.from({ length }, () => ({}))),
)

const corruptSometimes = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: hostileJson })

const deepest = 8

/** Values that a schema allows, here and there with one that it does not. `resolve` follows a reference; `texts` are known names. */
export const buildValues = (
  schema: JsonSchema,
  resolve: (ref: string) => JsonSchema,
  texts: readonly string[],
  level = 0,
): fc.Arbitrary<unknown> => {
  const of = (inner: JsonSchema): fc.Arbitrary<unknown> => buildValues(inner, resolve, texts, level + 1)
  if (level > deepest) return hostileJson
  if (schema.$ref !== undefined) return of(resolve(schema.$ref))
  if (schema.const !== undefined) return corruptSometimes(fc.constant(schema.const))
  if (schema.enum !== undefined) return corruptSometimes(fc.constantFrom(...schema.enum))
  const choices = schema.anyOf ?? schema.pickOne
  if (choices !== undefined && choices.length > 0) return fc.oneof(...choices.map(of))
  if (schema.allOf !== undefined) {
    return fc.tuple(...schema.allOf.map(of)).map((parts) => Object.assign({}, ...parts.filter((part) => part instanceof Object)))
  }
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  if (type === 'object' && schema.properties !== undefined) {
    return corruptSometimes(
      fc.record(Object.fromEntries(Object.entries(schema.properties).map(([name, inner]) => [name, of(inner)])), {
        requiredKeys: [],
      }),
    )
  }
  if (type === 'array') return corruptSometimes(fc.array(of(schema.items ?? {}), { maxLength: 3 }))
  if (type === 'integer' || type === 'number') return corruptSometimes(fc.oneof(fc.integer({ min: -2, max: 5 }), fc.double()))
  if (type === 'boolean') return corruptSometimes(fc.boolean())
  if (type === 'string')
    return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...texts) }, { weight: 1, arbitrary: hostileText })
  return hostileJson
}
