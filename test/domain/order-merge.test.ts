import { describe, expect, test } from 'vitest'
import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import { isOpen, judgeView, mergeCharges, mergeOrder } from '../../src/domain/orders/order-merge.ts'
import { lineWith, orderWith, wireStatus } from '../store/support/records.ts'
import { charge } from '../support/orders.ts'

const named = (chargeName: string, amount: string, tax: string | null = null) => ({
  ...charge(amount, tax),
  chargeName,
})
const order = (shipped: number, cancelled = 0): PurchaseOrder =>
  orderWith('1', [lineWith('1', 4, [wireStatus('Shipped', shipped), wireStatus('Cancelled', cancelled)])]).value
const at = (hour: number): Date => new Date(Date.UTC(2026, 9, 1, hour))

const observedAt = new Date('2026-03-02T12:00:00Z')

test('charges that were not there, or zero, are taken over; two of one name stay two', () => {
  expect(mergeCharges([named('A', '5'), named('A', '0.00')], [named('A', '0', '1'), named('A', '7'), named('B', '2')])).toEqual([
    named('A', '5', '1'),
    named('A', '7'),
    named('B', '2'),
  ])
  expect(mergeCharges([named('A', '5', '1')], [])).toEqual([named('A', '5', '1')])
  expect(mergeCharges([named('A', '5', '1')], [named('A', '5', '0')])).toEqual([named('A', '5', '1')])
})

test('a fee that was zero is taken over, one that was not stays', () => {
  const fee = (amount: string) => ({ ...named('A', '5'), taxAndOtherFees: { taxName: 'Fee', amount, currency: 'USD' } })
  expect(mergeCharges([fee('0')], [fee('2')])).toEqual([fee('2')])
  expect(mergeCharges([fee('2')], [fee('0')])).toEqual([fee('2')])
})

test('placeholders do not overwrite a phone or an address, and good values replace each other', () => {
  const stored = { ...order(0), customerPhone: '5550100', customerEmail: 'one@example.com' }
  const worse = { ...order(0), customerPhone: '0000000000', customerEmail: 'nocxemail@example.com' }
  const better = { ...order(0), customerPhone: '5550199', customerEmail: 'two@example.com' }
  expect(mergeOrder(stored, worse, observedAt)).toMatchObject({ customerPhone: '5550100', customerEmail: 'one@example.com' })
  expect(mergeOrder(stored, better, observedAt)).toMatchObject({ customerPhone: '5550199', customerEmail: 'two@example.com' })
  expect(mergeOrder(worse, better, observedAt)).toMatchObject({ customerPhone: '5550199', customerEmail: 'two@example.com' })
})

test('all else of an order is as it is reported now, with lines that are new', () => {
  const two = orderWith('1', [lineWith('1', 4, [wireStatus('Shipped', 4)]), lineWith('2', 1, [wireStatus('Created', 1)])]).value
  expect(mergeOrder(order(1), two, observedAt)).toEqual(two)
})

test('a parcel stays when the marketplace shows its units as refunded, and is counted once however often it is shown', () => {
  const tracking = (trackingNumber: string | null, at: number, more: object = {}) => ({
    trackingInfo: { carrierName: { otherCarrier: 'Bike' }, trackingNumber, shipDateTime: at, ...more },
  })
  const view = (...statuses: readonly unknown[]) => orderWith('1', [lineWith('1', 4, statuses)]).value
  const first = view(
    wireStatus('Shipped', 2, tracking('B-1', 1_800_000_000_000, { methodCode: 'Express' })),
    wireStatus('Delivered', 1, tracking('B-1', 1_800_000_000_000)),
    wireStatus('Created', 1),
  )
  const partly = view(
    wireStatus('Delivered', 1, tracking('B-1', 1_800_000_000_000)),
    wireStatus('Refund', 2),
    wireStatus('Created', 1),
  )
  const last = view(wireStatus('Refund', 3), wireStatus('Shipped', 1, tracking(null, 1_800_000_600_000)))
  const findShipments = (order: PurchaseOrder) =>
    order.lines[0]?.shipments.map(({ trackingNumber, quantity, shownQuantity }) => [trackingNumber, quantity, shownQuantity])
  const afterPartly = mergeOrder(mergeOrder(first, first, observedAt), partly, observedAt)
  expect(findShipments(afterPartly)).toEqual([['B-1', 3, 1]])
  const afterLast = mergeOrder(mergeOrder(afterPartly, last, observedAt), last, observedAt)
  expect(findShipments(afterLast)).toEqual([
    ['B-1', 3, 0],
    [null, 1, 1],
  ])
  expect(afterLast.lines[0]?.shipments[0]).toMatchObject({
    ...{ carrier: 'Bike', methodCode: 'Express', shippedAt: new Date(1_800_000_000_000), deliveredQuantity: 1 },
  })
  expect(findShipments(mergeOrder(afterLast, first, observedAt))).toEqual([
    ['B-1', 3, 3],
    [null, 1, 0],
  ])
})

test('an order is open as long as a unit is neither shipped nor cancelled', () => {
  expect([isOpen(order(3, 0)), isOpen(order(3, 1)), isOpen(order(4, 0)), isOpen(order(0, 4))]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

describe('a view of a stored order', () => {
  const stored = { order: order(2), observedAt: at(10), behindMs: null }

  test('that shows more is written, whenever it was observed', () => {
    expect(judgeView(stored, order(3), at(9))).toBe('write')
    expect(judgeView(stored, order(3), at(11))).toBe('write')
  })

  test('that shows the same is written when it is not older', () => {
    expect(judgeView(stored, order(2), at(9))).toBe('skip')
    expect(judgeView(stored, order(2), at(10))).toBe('write')
  })

  test.each([
    ['less', order(1)],
    ['less here and more there', order(1, 1)],
  ])('that shows %s is noted first, and believed after a day', (_what, less) => {
    expect(judgeView(stored, less, at(9))).toBe('skip')
    expect(judgeView(stored, less, at(11))).toBe('behind')
    expect(judgeView({ ...stored, behindMs: 86_399_999 }, less, at(11))).toBe('skip')
    expect(judgeView({ ...stored, behindMs: 86_400_000 }, less, at(11))).toBe('write')
  })
})
