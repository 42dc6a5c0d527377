import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, sameJson } from '../../src/domain/values/values.ts'

const leaf = fc.oneof(
  fc.constantFrom(undefined, null, 0, -0, Number.NaN, '', '0', true, false),
  fc.integer({ min: 0, max: 2 }),
  fc.date({ noInvalidDate: false, min: new Date(0), max: new Date(2) }),
)
/** Names that every object inherits among them. */
const name = fc.constantFrom('a', 'b', 'constructor', 'toString', '__proto__')

/** An object with these members of its own; an assignment to `__proto__` would make none. */
const withMembers = (members: readonly (readonly [string, unknown])[]): object => {
  const made = {}
  for (const [of, value] of members)
    Object.defineProperty(made, of, { value, enumerable: true, configurable: true, writable: true })
  return made
}

const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map(withMembers),
  ),
}))

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return withMembers(
    Object.entries(value)
      .reverse()
      .map(([of, member]) => [of, shuffled(member)]),
  )
}

test('values are the same JSON where their canonical texts are the same', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (one, other) => {
      expect(sameJson(one, other)).toBe(canonicalJson(one) === canonicalJson(other))
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  [{}, { constructor: '1.0' }],
  [{ constructor: null }, {}],
  [{}, JSON.parse('{"__proto__":{"a":1}}')],
])('what every object inherits is no member: %j and %j', (one, other) => {
  expect([sameJson(one, other), sameJson(other, one)]).toEqual([false, false])
})

test('the order of members says nothing', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(sameJson(value, shuffled(value))).toBe(true)
    }),
  )
})
