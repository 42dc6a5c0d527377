import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, sameJson } from '../../src/domain/values.ts'

const leaf = fc.oneof(
  fc.constantFrom(undefined, null, 0, -0, Number.NaN, '', '0', true, false),
  fc.integer({ min: 0, max: 2 }),
  fc.date({ noInvalidDate: false, min: new Date(0), max: new Date(2) }),
)
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
  ),
}))

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, shuffled(member)]),
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

test('the order of members says nothing', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(sameJson(value, shuffled(value))).toBe(true)
    }),
  )
})
