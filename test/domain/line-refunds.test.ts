import { expect, test } from 'vitest'
import { keepRefunds, type RefundedMoney, shownRefunds } from '../../src/domain/orders/line-refunds.ts'
import type { LineRefund } from '../../src/domain/orders/order.ts'

const day = (number: number): Date => new Date(Date.UTC(2026, 2, number))
const money = (reason: string, amount: string, tax = '0'): RefundedMoney => ({ refundId: null, reason, amount, tax })
const line = (units: number, entries: readonly RefundedMoney[], statusDate: Date | null = null) => ({
  statusDate,
  refunds: shownRefunds(entries, units, statusDate),
})
/** The refunds after these versions, each observed a day after the one before. */
const replay = (...versions: readonly ReturnType<typeof line>[]) => {
  const [first, ...later] = versions
  if (first === undefined) return []
  let stored = first
  for (const [index, version] of later.entries()) stored = { ...version, refunds: keepRefunds(stored, version, day(index + 2)) }
  return stored.refunds.map(({ reason, units, amount, tax, refundedAt }) => [reason, units, amount, tax, refundedAt])
}

test('each refund has its reason, units, money and time; the date of the line counts if it is new', () => {
  const damaged = money('Damaged', '10', '0.8')
  const sent = line(0, [], day(1))
  const one = line(1, [damaged], day(1))
  const two = line(2, [damaged, money('Late', '4', '0.32'), money('Damaged', '2')], day(20))
  expect(replay(sent, one, two)).toEqual([
    ['Damaged', 1, '10', '0.8', day(2)],
    ['Damaged', 0, '2', '0', day(20)],
    ['Late', 1, '4', '0.32', day(20)],
  ])
})

test('what an order shows when it is first read is dated by the line, or not at all', () => {
  const entries = [money('Damaged', '10'), money('Late', '30')]
  expect(replay(line(4, entries, day(7)))).toEqual([
    ['Damaged', 1, '10', '0', day(7)],
    ['Late', 3, '30', '0', day(7)],
  ])
  expect(replay(line(1, [money('Late', '5')]))).toEqual([['Late', 1, '5', '0', null]])
})

test('units and their money may come one after the other, in either order; a line without money has a refund without a reason', () => {
  const late = money('Late', '5', '1')
  expect(replay(line(0, []), line(1, []), line(1, [late]))).toEqual([['Late', 1, '5', '1', day(2)]])
  expect(replay(line(0, []), line(0, [late]), line(1, [late]))).toEqual([['Late', 1, '5', '1', day(2)]])
  expect(replay(line(0, []), line(2, []))).toEqual([[null, 2, '0', '0', day(2)]])
})

test('a version that shows less replaces what was noticed, so that refunds add up to the line', () => {
  const late = money('Late', '5')
  expect(replay(line(0, []), line(1, [late]), line(2, [late, money('Damaged', '3')]), line(1, [late], day(9)))).toEqual([
    ['Late', 1, '5', '0', day(9)],
  ])
  expect(replay(line(0, []), line(2, [late]), line(1, [late], day(9)))).toEqual([['Late', 1, '5', '0', day(9)]])
})

test('the charges of a reason are one refund, and the newest id counts', () => {
  const charges = [
    { ...money('Late', '5', '0.5'), refundId: 'R-1' },
    { ...money('Late', '2', '0.2'), refundId: 'R-2' },
  ]
  const [refund, ...more] = shownRefunds(charges, 1, null)
  expect(more).toEqual([])
  expect(refund).toEqual({
    refundId: 'R-2',
    reason: 'Late',
    units: 1,
    amount: '7',
    tax: '0.7',
    refundedAt: null,
  } satisfies LineRefund)
})
