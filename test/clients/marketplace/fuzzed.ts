import fc from 'fast-check'

const anything = fc.oneof(
  fc.constant(null),
  fc.constant(undefined),
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant([]),
  fc.constant({}),
  fc.constantFrom(
    'FAIL',
    'ERROR',
    'NOT_FOUND',
    'TOO_MANY_REQUESTS',
    'UNKNOWN_VALUE',
    '9999-12-30',
    '2026-02-31',
    '1e999',
    '-7',
    '0.10',
  ),
  fc.array(fc.anything({ maxDepth: 2 }), { maxLength: 3 }),
)

/** The sample with one to three of its fields missing, null, of another type or with a value nobody knows. */
export const withOddFields = (sample: Readonly<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .array(fc.tuple(fc.constantFrom(...Object.keys(sample), 'brandNew'), anything), { minLength: 1, maxLength: 3 })
    .map((changes) => ({ ...sample, ...Object.fromEntries(changes) }))

/** Bodies that are no whole answer: cut short, HTML, empty, or another JSON than expected. */
export const brokenBody = (whole: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.integer({ min: 0, max: whole.length - 1 }).map((length) => whole.slice(0, length)),
    fc.constantFrom('', ' ', '<html><body>Access Denied</body></html>', 'null', '[]', '7', '"text"', '{}', '{"status":"OK"}'),
    fc.constantFrom('{"status":"FAIL"}', '{"status":"PARTIAL","payload":[]}', '{"status":"OK","payload":7}'),
    fc.constant('{"errors":[{"code":"INVALID_REQUEST","severity":"ERROR","category":"DATA"}]}'),
    fc.json(),
  )
