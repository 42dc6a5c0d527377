import { describe, expect, test } from 'vitest'
import { findResolution, type ResolvingMonth } from '../../src/domain/inventory/discrepancy-resolution.ts'

const month = (changes: Partial<ResolvingMonth> = {}): ResolvingMonth => ({
  listed: true,
  logComplete: true,
  logUnread: false,
  movesOn: false,
  before: { whole: true },
  ...changes,
})

describe('a discrepancy that is not found again, in a month with a row', () => {
  test('agrees once the log can be compared', () => {
    expect(findResolution({ kind: 'sold', reportUnits: 3 }, month())).toBe('agrees')
    expect(findResolution({ kind: 'sold', reportUnits: 3 }, month({ logComplete: false }))).toBeNull()
  })

  test('is withdrawn while entries of the log cannot be read', () => {
    const unread = month({ logComplete: false, logUnread: true })
    expect(findResolution({ kind: 'sold', reportUnits: 3 }, unread)).toBe('withdrawn')
    expect(findResolution({ kind: 'balance', reportUnits: 3 }, unread)).toBe('agrees')
  })

  test('of the row itself needs no log', () => {
    expect(findResolution({ kind: 'row', reportUnits: 3 }, month({ logComplete: false }))).toBe('agrees')
  })

  test('of the carry-over agrees when the time between is known, and is withdrawn when no month is before it', () => {
    const carryOver = { kind: 'carry-over', reportUnits: 3 } as const
    expect(findResolution(carryOver, month())).toBe('agrees')
    expect(findResolution(carryOver, month({ before: { whole: false } }))).toBeNull()
    expect(findResolution(carryOver, month({ before: null }))).toBe('withdrawn')
  })
})

describe('a discrepancy that is not found again, in a month without a row', () => {
  const without = (changes: Partial<ResolvingMonth> = {}) => month({ listed: false, ...changes })

  test('stays until the log can be compared', () => {
    expect(findResolution({ kind: 'sold', reportUnits: 0 }, without({ logComplete: false }))).toBeNull()
  })

  test('agrees where the report had said that nothing moved', () => {
    expect(findResolution({ kind: 'sold', reportUnits: 0 }, without({ movesOn: true }))).toBe('agrees')
  })

  test('stays as long as the SKU moves, but for that of the row itself', () => {
    expect(findResolution({ kind: 'sold', reportUnits: 3 }, without({ movesOn: true }))).toBeNull()
    expect(findResolution({ kind: 'sold', reportUnits: 3 }, without())).toBe('withdrawn')
    expect(findResolution({ kind: 'row', reportUnits: 3 }, without({ movesOn: true }))).toBe('withdrawn')
  })
})
