import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compareInbound,
  findInboundTimes,
  type ReceiptEntry,
  type SentUnits,
} from '../../src/domain/inventory/inbound-receipts.ts'

const day = (number: number): Date => new Date(Date.UTC(2026, 2, number))
const sent = (more: Partial<SentUnits> = {}): SentUnits => ({
  units: 10,
  expectedBy: day(20),
  logReadUpTo: day(15),
  isUnknown: false,
  ...more,
})
const receipt = (units: number, on: number): ReceiptEntry => ({ units, at: day(on) })

test.each([
  ['nothing yet', sent(), [], { receivedUnits: 0, completeAt: null, state: 'open', late: false }],
  ['a part, before the time', sent(), [receipt(4, 5)], { receivedUnits: 4, state: 'open', late: false }],
  ['all in two parts', sent(), [receipt(6, 9), receipt(4, 5)], { completeAt: day(9), state: 'complete', late: false }],
  ['all, after the time', sent(), [receipt(10, 21)], { completeAt: day(21), state: 'complete', late: true }],
  ['more than sent', sent(), [receipt(12, 5)], { receivedUnits: 12, completeAt: day(5), state: 'over', late: false }],
  ['a corrected receipt', sent(), [receipt(12, 5), receipt(-2, 6)], { receivedUnits: 10, completeAt: day(5), state: 'complete' }],
  ['a receipt taken back, and made again', sent(), [receipt(10, 5), receipt(-3, 6), receipt(3, 7)], { completeAt: day(7) }],
  [
    'less, and the log is read',
    sent({ logReadUpTo: day(20) }),
    [receipt(9, 5)],
    { receivedUnits: 9, state: 'short', late: true },
  ],
  ['nothing, and the log is read', sent({ logReadUpTo: day(25) }), [], { receivedUnits: 0, state: 'short', late: true }],
  ['nothing of an unknown SKU', sent({ logReadUpTo: day(25), isUnknown: true }), [], { state: 'unknown-sku', late: false }],
  [
    'a receipt taken back, of an unknown SKU',
    sent({ logReadUpTo: day(25), isUnknown: true }),
    [receipt(2, 5), receipt(-2, 6)],
    { receivedUnits: 0, firstReceivedAt: day(5), state: 'short' },
  ],
  ['nothing, and the log was never read', sent({ logReadUpTo: null }), [], { state: 'open', late: false }],
] as const)('%s', (_, units, receipts, expected) => {
  expect(compareInbound(units, receipts)).toMatchObject(expected)
})

test('units are expected after 30 days, unless the event names a time', () => {
  expect(findInboundTimes('2026-03-01T00:00:00.000Z', null, null).expectedBy).toEqual(new Date('2026-03-31T00:00:00.000Z'))
  expect(findInboundTimes('2026-03-01T00:00:00.000Z', '2026-03-05T00:00:00.000Z', null).expectedBy).toEqual(day(5))
})

describe('for any receipts', () => {
  const entries = fc.array(fc.record({ units: fc.integer({ min: -5, max: 20 }), on: fc.integer({ min: 1, max: 40 }) }), {
    maxLength: 12,
  })
  const given = fc.record({
    units: fc.integer({ min: 1, max: 40 }),
    expectedOn: fc.integer({ min: 2, max: 40 }),
    readOn: fc.option(fc.integer({ min: 1, max: 45 })),
    entries,
  })

  test('units, state and lateness fit together, in whatever order the receipts come', () => {
    fc.assert(
      fc.property(given, ({ units, expectedOn, readOn, entries: list }) => {
        // Receipts of one instant have no order of their own, so each has another minute.
        const receipts = list.map(({ units: received, on }, minute) => ({
          units: received,
          at: new Date(day(on).getTime() + minute * 60_000),
        }))
        const logReadUpTo = readOn === null ? null : day(readOn)
        const compared = compareInbound(sent({ units, expectedBy: day(expectedOn), logReadUpTo }), receipts)
        const total = receipts.reduce((sum, one) => sum + one.units, 0)
        expect(compared.receivedUnits).toBe(total)
        expect(compareInbound(sent({ units, expectedBy: day(expectedOn), logReadUpTo }), receipts.toReversed())).toEqual(compared)
        const isRead = logReadUpTo !== null && logReadUpTo >= day(expectedOn)
        if (total > units) expect(compared.state).toBe('over')
        else if (total === units) expect(compared.state).toBe('complete')
        else expect(compared.state).toBe(isRead ? 'short' : 'open')
        if (total < units) {
          expect(compared).toMatchObject({ completeAt: null, late: isRead })
          return
        }
        const { completeAt } = compared
        const unitsUpTo = (test: (at: Date) => boolean) =>
          receipts.filter(({ at }) => test(at)).reduce((sum, one) => sum + one.units, 0)
        expect(receipts.map(({ at }) => at)).toContainEqual(completeAt)
        expect(unitsUpTo((at) => completeAt !== null && at <= completeAt)).toBeGreaterThanOrEqual(units)
        expect(unitsUpTo((at) => completeAt !== null && at < completeAt)).toBeLessThan(units)
        expect(compared.late).toBe(completeAt !== null && completeAt > day(expectedOn))
      }),
      { numRuns: 500 },
    )
  })
})
