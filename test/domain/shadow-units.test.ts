import { expect, test } from 'vitest'
import type { DirectCommandContent } from '../../src/domain/commands/command.ts'
import type { LineUnits, PurchaseOrder } from '../../src/domain/orders/order.ts'
import { available, buildLedgers, checkBeforeSend, type LedgerCommand } from '../../src/domain/orders/units.ts'
import * as market from './support/marketplace.ts'

const since = new Date('2026-11-20T00:00:00Z')
const nothing: LineUnits = { acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 }

/** An order of one line of four units, with these units processed. */
const buildOrder = (units: Partial<LineUnits> = {}, orderDate = new Date('2026-11-21T00:00:00Z')): PurchaseOrder => {
  const order = market.read(market.placeOrder([{ quantity: 4 }]))
  return { ...order, orderDate, lines: order.lines.map((line) => ({ ...line, units: { ...nothing, ...units } })) }
}

const [{ lineNumber } = { lineNumber: '' }] = buildOrder().lines

const buildShipment = (quantity: number): DirectCommandContent => ({
  kind: 'ship',
  payload: {
    parcels: [
      {
        ...{ carrier: 'UPS', trackingNumber: '1Z', trackingUrl: null, method: null, shippedAt: '2026-11-21T09:30:00Z' },
        lines: [{ lineNumber, quantity }],
      },
    ],
  },
})
const buildRefund = (quantity: number): DirectCommandContent => ({
  kind: 'refund',
  payload: { lines: [{ lineNumber, quantity, reason: 'DamagedItem', charges: [] }] },
})

const predicted = (quantity: number, shippedBefore = 0, state: 'predicted' | 'withdrawn' = 'predicted'): LedgerCommand => ({
  ...buildShipment(quantity),
  state,
  baseline: { [lineNumber]: { ...nothing, shipped: shippedBefore } },
})

const left = (order: PurchaseOrder, commands: readonly LedgerCommand[], shadowSince: Date | null = since) => {
  const [ledger] = buildLedgers(order, commands, shadowSince)
  if (ledger === undefined) throw new Error('the order has no line')
  return { ship: available(ledger, 'ship'), cancel: available(ledger, 'cancel'), refund: available(ledger, 'refund') }
}

test('predictions reserve their units, also several at once, and count once when the order shows them', () => {
  const commands = [predicted(1), predicted(2)]
  expect(left(buildOrder(), commands)).toEqual({ ship: 1, cancel: 1, refund: 3 })
  for (const shipped of [1, 2, 3]) expect(left(buildOrder({ shipped }), commands)).toEqual({ ship: 1, cancel: 1, refund: 3 })
})

test('a withdrawn prediction reserves nothing', () => {
  expect(left(buildOrder(), [predicted(3, 0, 'withdrawn')])).toEqual({ ship: 4, cancel: 4, refund: 0 })
})

test('units that the other system was faster with do not count against the same kind of an order placed in shadow mode', () => {
  expect(left(buildOrder({ shipped: 3 }), [])).toEqual({ ship: 4, cancel: 1, refund: 3 })
  expect(left(buildOrder({ shipped: 3 }), [predicted(1)])).toEqual({ ship: 3, cancel: 1, refund: 3 })
  expect(left(buildOrder({ cancelled: 1 }), [])).toEqual({ ship: 3, cancel: 4, refund: 0 })
})

test('of an older order, and of a live seller, everything that the order shows counts', () => {
  const older = buildOrder({ shipped: 3 }, new Date('2026-11-19T00:00:00Z'))
  expect(left(older, [])).toEqual({ ship: 1, cancel: 1, refund: 3 })
  expect(left(buildOrder({ shipped: 3 }), [], null)).toEqual({ ship: 1, cancel: 1, refund: 3 })
  expect(left(older, [predicted(1, 3)])).toEqual({ ship: 0, cancel: 0, refund: 4 })
})

test('a refund may follow a shipment that is only predicted', () => {
  expect(checkBeforeSend(buildLedgers(buildOrder(), [predicted(2)], since), buildRefund(2))).toEqual([])
  expect(checkBeforeSend(buildLedgers(buildOrder(), [predicted(2)], since), buildRefund(3))).toHaveLength(1)
})
