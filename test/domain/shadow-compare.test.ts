import { describe, expect, test } from 'vitest'
import type { OrderCommandContent, RefundCharge } from '../../src/domain/commands/command.ts'
import { takeBaseline } from '../../src/domain/commands/evidence.ts'
import type { OrderLine, PurchaseOrder, Shipment } from '../../src/domain/orders/order.ts'
import type { ReturnedLine } from '../../src/domain/orders/returned-units.ts'
import {
  compareOrder,
  isSelected,
  type Prediction,
  type ShadowedOrder,
  type ShadowSelection,
} from '../../src/domain/shadow/compare.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'

const since = new Date('2026-03-01T00:00:00Z')
const predictedAt = new Date('2026-03-02T00:00:00Z')
const soon = new Date('2026-03-02T12:00:00Z')
const late = new Date('2026-03-03T00:00:00Z')

const ofLine = (units: Partial<OrderLine['units']> = {}, more: Partial<OrderLine> = {}): PurchaseOrder =>
  purchaseOrder('P', [orderLine('1', 'TEA', 4, units, more)])

const parcel = (trackingNumber: string | null, quantity: number, more: Partial<Shipment> = {}): Shipment => ({
  ...{ carrier: 'UPS', methodCode: null, trackingNumber, trackingUrl: null, shippedAt: predictedAt },
  ...{ quantity, shownQuantity: quantity, deliveredQuantity: 0, deliveredAt: null, ...more },
})

const ship = (quantity: number, trackingNumber = '1Z'): OrderCommandContent => ({
  kind: 'ship',
  payload: {
    parcels: [
      {
        ...{ carrier: 'ups', trackingNumber, trackingUrl: null, method: null, shippedAt: predictedAt.toISOString() },
        lines: [{ lineNumber: '1', quantity }],
      },
    ],
  },
})
const cancel = (quantity: number): OrderCommandContent => ({
  kind: 'cancel',
  payload: { lines: [{ lineNumber: '1', quantity, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
})
const charge = (amount: string): RefundCharge => {
  const tax = { taxName: 'Tax', amount: '-0.10', currency: 'USD' }
  return { chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount, currency: 'USD', tax }
}
const refund = (quantity: number, amount = '-2.00'): OrderCommandContent => ({
  kind: 'refund',
  payload: { lines: [{ lineNumber: '1', quantity, reason: 'DamagedItem', charges: [charge(amount)] }] },
})
const refundReturn = (quantity: number): OrderCommandContent => ({
  kind: 'refund-return',
  payload: {
    ...{ returnOrderId: 'R', customerOrderId: 'C-P' },
    lines: [{ lineNumber: '1', returnLineNumber: 1, quantity, reason: null, charges: [charge('-2.00')] }],
  },
})
const correct = (from: string, trackingNumber: string, quantity: number): OrderCommandContent => ({
  kind: 'correct-shipment',
  payload: {
    ...{ trackingNumber: from, replacement: { carrier: 'UPS', trackingNumber, trackingUrl: null } },
    lines: [{ lineNumber: '1', quantity, shippedAt: predictedAt.toISOString(), method: null }],
  },
})
const acknowledge: OrderCommandContent = { kind: 'acknowledge', payload: {} }

const predict = (content: OrderCommandContent, before: PurchaseOrder | null = ofLine(), commandId = 'c'): Prediction => ({
  ...{ commandId, predictedAt, content },
  before: before === null ? null : takeBaseline(before),
})

const compare = (
  order: PurchaseOrder | null,
  contents: readonly OrderCommandContent[],
  more: Partial<ShadowedOrder> & { readonly now?: Date } = {},
) => {
  const { now = soon, ...given } = more
  const predictions = contents.map((content, index) => predict(content, ofLine(), `c-${index}`))
  return compareOrder({ order, since, predictions, returned: [], ownNumbers: new Set(), ...given }, now)
}

const kinds = ({ verdict, commands, unpredicted }: ReturnType<typeof compare>) => ({
  verdict,
  commands: commands.map(({ verdict: of, differences }) => [of, ...differences.map(({ kind }) => kind)]),
  unpredicted: unpredicted.map(({ kind, quantity }) => `${kind} ${quantity}`),
})
const agreed = (count = 1) => ({
  verdict: 'agreement',
  commands: Array.from({ length: count }, () => ['agreement']),
  unpredicted: [],
})

describe('a shipment', () => {
  test('agrees with the same units under the same number, whatever the case of the carrier', () => {
    expect(kinds(compare(ofLine({ shipped: 2 }, { shipments: [parcel('1Z', 2)] }), [ship(2)]))).toEqual(agreed())
    expect(kinds(compare(ofLine({ shipped: 2 }), [ship(2)]))).toEqual(agreed())
  })

  test('is pending for 24 hours and then missing', () => {
    for (const order of [ofLine(), null]) {
      const justBefore = new Date(late.getTime() - 1)
      expect(kinds(compare(order, [ship(2)], { now: justBefore }))).toMatchObject({ verdict: 'pending' })
      expect(kinds(compare(order, [ship(2)], { now: late }))).toEqual({
        verdict: 'missing',
        commands: [['missing']],
        unpredicted: [],
      })
    }
  })

  test('of which a part is shown is pending, then a difference of units', () => {
    const order = ofLine({ shipped: 1 }, { shipments: [parcel('1Z', 1)] })
    expect(kinds(compare(order, [ship(2)]))).toMatchObject({ verdict: 'pending' })
    const { commands } = compare(order, [ship(2)], { now: late })
    expect(commands).toMatchObject([
      {
        verdict: 'difference',
        shown: false,
        units: [{ lineNumber: '1', quantity: 2, shown: 1, amount: null }],
        differences: [{ kind: 'units', predicted: '2 shipped', shown: '1 shipped' }],
      },
    ])
  })

  test('under another number, or of another carrier, is a difference', () => {
    const other = compare(ofLine({ shipped: 2 }, { shipments: [parcel('9X', 2)] }), [ship(2)])
    expect(other).toMatchObject({
      verdict: 'difference',
      commands: [{ shown: true, differences: [{ kind: 'tracking', lineNumber: '1', predicted: '1Z', shown: '9X' }] }],
      unpredicted: [],
    })
    const carrier = compare(ofLine({ shipped: 2 }, { shipments: [parcel('1Z', 2, { carrier: 'FedEx' })] }), [ship(2)])
    expect(carrier.commands[0]?.differences).toEqual([{ kind: 'carrier', lineNumber: '1', predicted: 'ups', shown: 'FedEx' }])
  })

  test('takes its own parcel, not the one of another prediction', () => {
    const shipments = [parcel('B', 1), parcel('A', 2)]
    expect(kinds(compare(ofLine({ shipped: 3 }, { shipments }), [ship(2, 'A'), ship(1, 'B')]))).toEqual(agreed(2))
    const onlySecond = compare(ofLine({ shipped: 1 }, { shipments: [parcel('B', 1)] }), [ship(2, 'A'), ship(1, 'B')])
    expect(kinds(onlySecond)).toEqual({ verdict: 'pending', commands: [['pending'], ['agreement']], unpredicted: [] })
  })

  test('is done twice if its number has twice its units, and unpredicted in a parcel that no event names', () => {
    const twice = compare(ofLine({ shipped: 4 }, { shipments: [parcel('1Z', 4)] }), [ship(2)])
    expect(kinds(twice)).toEqual({ verdict: 'difference', commands: [['difference', 'twice']], unpredicted: [] })
    const more = compare(ofLine({ shipped: 3 }, { shipments: [parcel('1Z', 3)] }), [ship(2)])
    expect(kinds(more)).toEqual({ verdict: 'difference', commands: [['difference', 'units']], unpredicted: [] })
    const another = compare(ofLine({ shipped: 4 }, { shipments: [parcel('1Z', 2), parcel('2Y', 2)] }), [ship(2)])
    expect(kinds(another)).toEqual({ verdict: 'unpredicted', commands: [['agreement']], unpredicted: ['ship 2'] })
  })

  test('that became a cancellation is a difference as soon as no unit is left for it', () => {
    expect(compare(ofLine({ cancelled: 4 }), [ship(4)])).toMatchObject({
      verdict: 'difference',
      commands: [{ shown: false, differences: [{ kind: 'cancelled', predicted: '4 shipped', shown: '4 cancelled' }] }],
      unpredicted: [],
    })
    // Three units are left for the prediction: the cancelled one is another.
    expect(kinds(compare(ofLine({ cancelled: 1 }), [ship(3)]))).toEqual({
      ...{ verdict: 'unpredicted', commands: [['pending']], unpredicted: ['cancel 1'] },
    })
  })

  test('and its correction agree with either number', () => {
    const corrected = [ship(2, 'A'), correct('A', 'B', 2)]
    expect(kinds(compare(ofLine({ shipped: 2 }, { shipments: [parcel('B', 2)] }), corrected))).toEqual(agreed(2))
    const kept = [parcel('A', 2, { shownQuantity: 0 }), parcel('B', 2)]
    expect(kinds(compare(ofLine({ shipped: 2 }, { shipments: kept }), corrected))).toEqual(agreed(2))
    const notYet = compare(ofLine({ shipped: 2 }, { shipments: [parcel('A', 2)] }), corrected)
    expect(kinds(notYet)).toEqual({ verdict: 'pending', commands: [['agreement'], ['pending']], unpredicted: [] })
  })
})

describe('cancellations and acknowledgements', () => {
  test('a cancellation agrees, is done twice, or became a shipment', () => {
    expect(kinds(compare(ofLine({ cancelled: 2 }), [cancel(2)]))).toEqual(agreed())
    expect(kinds(compare(ofLine({ cancelled: 4 }), [cancel(2)])).commands).toEqual([['difference', 'twice']])
    expect(kinds(compare(ofLine({ cancelled: 3 }), [cancel(2)])).commands).toEqual([['difference', 'units']])
    const shipped = compare(ofLine({ shipped: 4 }, { shipments: [parcel('1Z', 4)] }), [cancel(4)])
    expect(kinds(shipped)).toEqual({ verdict: 'difference', commands: [['difference', 'shipped']], unpredicted: [] })
  })

  test('an acknowledgement agrees once every line is acknowledged', () => {
    expect(kinds(compare(ofLine(), [acknowledge]))).toEqual(agreed())
    expect(kinds(compare(ofLine({ acknowledged: 0 }), [acknowledge]))).toMatchObject({ verdict: 'pending' })
    expect(kinds(compare(ofLine({ acknowledged: 0 }), [acknowledge], { now: late }))).toMatchObject({ verdict: 'missing' })
    expect(kinds(compare(ofLine({ acknowledged: 3, cancelled: 1 }), [acknowledge])).commands).toEqual([['agreement']])
    const wholly = compare(ofLine({ acknowledged: 0, cancelled: 4 }), [acknowledge])
    expect(kinds(wholly).commands).toEqual([['difference', 'cancelled']])
  })
})

describe('a refund', () => {
  const shipped = { shipped: 4 }
  const shipments = [parcel('1Z', 4)]

  test('agrees in units and money, tax included, compared as decimals', () => {
    const order = ofLine({ ...shipped, refunded: 1 }, { shipments, refundedAmount: '2.1' })
    expect(kinds(compare(order, [ship(4), refund(1)]))).toEqual(agreed(2))
    const money = compare(ofLine({ ...shipped, refunded: 1 }, { shipments, refundedAmount: '3.10' }), [ship(4), refund(1)])
    expect(money.commands[1]).toMatchObject({
      ...{ verdict: 'difference', shown: true, differences: [{ kind: 'money', predicted: '2.1', shown: '3.1' }] },
    })
  })

  test('is done twice, or not predicted', () => {
    const order = ofLine({ ...shipped, refunded: 2 }, { shipments, refundedAmount: '4.20' })
    expect(kinds(compare(order, [ship(4), refund(1)])).commands).toEqual([['agreement'], ['difference', 'twice']])
    expect(kinds(compare(order, [ship(4)]))).toEqual({
      verdict: 'unpredicted',
      commands: [['agreement']],
      unpredicted: ['refund 2'],
    })
  })

  test('through a return agrees as soon as the return shows it, and is counted once if the order shows it as well', () => {
    const returned = (refunded: number | null): ReturnedLine => ({
      ...{ returnOrderId: 'R', customerOrderId: 'C-P', returnLineNumber: 1, purchaseOrderId: 'P', lineNumber: '1', sku: 'TEA' },
      ...{ quantity: 2, refunded, exceptionItemType: null, since: predictedAt },
    })
    const contents = [ship(4), refundReturn(1)]
    const before = ofLine(shipped, { shipments })
    expect(kinds(compare(before, contents, { returned: [returned(null)] })).commands).toEqual([['agreement'], ['pending']])
    expect(kinds(compare(before, contents, { returned: [returned(1)] }))).toEqual(agreed(2))
    const both = ofLine({ ...shipped, refunded: 1 }, { shipments, refundedAmount: '2.10' })
    expect(kinds(compare(both, contents, { returned: [returned(1)] }))).toEqual(agreed(2))
  })
})

describe('an order from before shadow mode', () => {
  const orderDate = new Date('2026-02-20T00:00:00Z')
  const old = parcel('OLD', 1, { shippedAt: new Date('2026-02-21T00:00:00Z') })
  const build = (units: Partial<OrderLine['units']>, more: Partial<OrderLine> = {}): PurchaseOrder => ({
    ...ofLine(units, more),
    orderDate,
  })
  const start = build({ shipped: 1, refunded: 1, cancelled: 1 }, { shipments: [old], refundedAmount: '5.00' })

  test('counts only what came after its first prediction', () => {
    const predictions = [predict(ship(1), start), predict(refund(1), start, 'd')]
    expect(kinds(compare(start, [], { predictions }))).toMatchObject({ verdict: 'pending', unpredicted: [] })
    const done = build({ shipped: 2, refunded: 2, cancelled: 1 }, { shipments: [old, parcel('1Z', 1)], refundedAmount: '7.10' })
    expect(kinds(compare(done, [], { predictions }))).toEqual(agreed(2))
  })

  test('without a prediction shows parcels that left since, without those of our own commands', () => {
    const shipments = [old, parcel('NEW', 2)]
    const order = build({ shipped: 3, cancelled: 1 }, { shipments })
    expect(kinds(compare(order, []))).toEqual({ verdict: 'unpredicted', commands: [], unpredicted: ['ship 2'] })
    expect(kinds(compare(order, [], { ownNumbers: new Set(['NEW']) }))).toEqual({ ...agreed(0) })
  })
})

test('the time of the other system is that of the last change, as long as nothing later hides it', () => {
  const minutes = (count: number): Date => new Date(predictedAt.getTime() + count * 60_000)
  const later = (order: PurchaseOrder, contents: readonly OrderCommandContent[]) =>
    compare(order, contents).commands.map(({ laterSeconds }) => laterSeconds)
  const acknowledged = ofLine({}, { statusDate: minutes(-5) })
  expect(later(acknowledged, [acknowledge, ship(2)])).toEqual([-300, null])
  const shipped = ofLine({ shipped: 2 }, { statusDate: minutes(10), shipments: [parcel('1Z', 2)] })
  expect(later(shipped, [acknowledge, ship(2)])).toEqual([null, 600])
  const refunded = ofLine({ shipped: 2, refunded: 1 }, { statusDate: minutes(20), refundedAmount: '2.10' })
  expect(later(refunded, [ship(2), refund(1)])).toEqual([null, 1_200])
  expect(compare(refunded, [ship(2), refund(1)]).commands.map(({ units }) => units)).toEqual([
    [{ lineNumber: '1', quantity: 2, shown: 2, amount: null }],
    [{ lineNumber: '1', quantity: 1, shown: 1, amount: '2.1' }],
  ])
})

test('the verdict of an order is the worst of its parts', () => {
  const order = ofLine({ shipped: 1, refunded: 1 }, { shipments: [parcel('9X', 1)], refundedAmount: '1.00' })
  expect(kinds(compare(order, [acknowledge, ship(1), cancel(1)], { now: late }))).toEqual({
    ...{ verdict: 'difference', commands: [['agreement'], ['difference', 'tracking'], ['missing']], unpredicted: ['refund 1'] },
  })
})

test('an order is selected by its verdict, by the kind of a command or of units, and by the kind of a difference', () => {
  const order = ofLine({ shipped: 1, refunded: 1 }, { shipments: [parcel('9X', 1)], refundedAmount: '1.00' })
  const compared = compare(order, [acknowledge, ship(1)])
  const any: ShadowSelection = { verdict: null, kind: null, difference: null }
  const select = (selection: Partial<ShadowSelection>) => isSelected(compared, { ...any, ...selection })
  for (const kind of ['acknowledge', 'ship', 'refund'] as const) expect(select({ kind })).toBe(true)
  expect(select({ verdict: 'difference', kind: 'ship', difference: 'tracking' })).toBe(true)
  expect([select({ kind: 'cancel' }), select({ difference: 'money' }), select({ verdict: 'missing' })]).toEqual([
    false,
    false,
    false,
  ])
})
