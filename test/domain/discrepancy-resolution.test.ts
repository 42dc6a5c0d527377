import { describe, expect, test } from 'vitest'
import { type ResolvingMonth, resolutionOf } from '../../src/domain/discrepancy-resolution.ts'

const month = (changes: Partial<ResolvingMonth> = {}): ResolvingMonth => ({
  listed: true,
  logComplete: true,
  movesOn: false,
  before: { whole: true },
  ...changes,
})

describe('a discrepancy that is not found again, in a month with a row', () => {
  test('agrees once the log can be compared', () => {
    expect(resolutionOf({ kind: 'sold', reportUnits: 3 }, month())).toBe('agrees')
    expect(resolutionOf({ kind: 'sold', reportUnits: 3 }, month({ logComplete: false }))).toBeNull()
  })

  test('of the row itself needs no log', () => {
    expect(resolutionOf({ kind: 'row', reportUnits: 3 }, month({ logComplete: false }))).toBe('agrees')
  })

  test('of the carry-over agrees when the time between is known, and is withdrawn when no month is before it', () => {
    const carryOver = { kind: 'carry-over', reportUnits: 3 } as const
    expect(resolutionOf(carryOver, month())).toBe('agrees')
    expect(resolutionOf(carryOver, month({ before: { whole: false } }))).toBeNull()
    expect(resolutionOf(carryOver, month({ before: null }))).toBe('withdrawn')
  })
})

describe('a discrepancy that is not found again, in a month without a row', () => {
  const without = (changes: Partial<ResolvingMonth> = {}) => month({ listed: false, ...changes })

  test('stays until the log can be compared', () => {
    expect(resolutionOf({ kind: 'sold', reportUnits: 0 }, without({ logComplete: false }))).toBeNull()
  })

  test('agrees where the report had said that nothing moved', () => {
    expect(resolutionOf({ kind: 'sold', reportUnits: 0 }, without({ movesOn: true }))).toBe('agrees')
  })

  test('stays as long as the SKU moves, but for that of the row itself', () => {
    expect(resolutionOf({ kind: 'sold', reportUnits: 3 }, without({ movesOn: true }))).toBeNull()
    expect(resolutionOf({ kind: 'sold', reportUnits: 3 }, without())).toBe('withdrawn')
    expect(resolutionOf({ kind: 'row', reportUnits: 3 }, without({ movesOn: true }))).toBe('withdrawn')
  })
})
