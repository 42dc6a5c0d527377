import { beforeEach, describe, expect, test } from 'vitest'
import { listSettlementDifferences } from '../../src/store/orders/settlement-difference-queries.ts'
import { reviewSettlements } from '../../src/store/orders/settlement-differences.ts'
import { hasSettlementOrders } from '../../src/store/orders/settlement-orders.ts'
import { settlementStore } from '../../src/store/orders/settlements.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { charge, orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { noteDueSettlements, type ReportRow, reportRow, storeReportRows } from './support/settlements.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 's-1'

const summary = (from: string, to: string): ReportRow => ({
  'Transaction Type': 'PaymentSummary',
  'Period Start Date': from,
  'Period End Date': to,
  'Total Payable': '1.00',
})
const march1 = summary('02/28/2026', '03/13/2026')
const march2 = summary('03/14/2026', '03/27/2026')

/** A shipped order of one unit of a SKU at 20.00. */
const seed = (id: string, shippedAt = '2026-03-05T10:00:00Z', sku = 'PAN') => {
  const parcel = {
    carrier: 'UPS',
    methodCode: null,
    trackingNumber: `T-${id}`,
    trackingUrl: null,
    quantity: 1,
    shownQuantity: 1,
    deliveredQuantity: 0,
    deliveredAt: null,
  }
  const line = orderLine(
    '1',
    sku,
    1,
    { shipped: 1 },
    { charges: [charge('20.00')], shipments: [{ ...parcel, shippedAt: new Date(shippedAt) }] },
  )
  return seedOrder(stage.database, sellerId, purchaseOrder(id, [line]))
}
const sale = (id: string, amount: string, sku = 'PAN') => reportRow(id, sku, '1', ['Sale', 'Product Price'], amount)
const store = (reportDate: string, rows: readonly ReportRow[], first = 1) =>
  storeReportRows(stage.database, sellerId, reportDate, rows, first)

/** Compares as a stream does that has read its reports. */
const review = async () => {
  await noteDueSettlements(stage.database, sellerId, 1)
  while (await hasSettlementOrders(stage.database, sellerId))
    await stage.database.transaction((tx) => reviewSettlements(tx, sellerId))
}
const list = async (state: 'open' | 'resolved' | null = 'open') => {
  const filter = { sellerId: null, kind: null, purchaseOrderId: null, sku: null, state, seen: { from: null, to: null } }
  const { items } = await listSettlementDifferences(stage.database, filter, null, 100)
  return items.toSorted((a, b) => (`${a.kind} ${a.purchaseOrderId}` < `${b.kind} ${b.purchaseOrderId}` ? -1 : 1))
}
const listRecorded = async () =>
  (await numbered(stage.database)).query(
    `SELECT type, purchase_order_id AS order, data FROM warehouse.changes WHERE type LIKE 'settlement_difference.%' ORDER BY seq`,
  )

describe('orders and settlement reports', () => {
  beforeEach(async () => {
    for (const id of ['1', '2', '3']) await seed(id)
    // Shipped within the newest report: a later one may pay it.
    await seed('4', '2026-03-20T10:00:00Z')
    await store('2026-03-14', [march1, sale('1', '20.00'), sale('2', '18.50'), sale('5', '12.00')])
    const fee = { 'Transaction Type': 'Adjustment', 'Transaction Description': 'A new fee', Amount: '-3.00' }
    await store('2026-03-28', [march2, fee])
    await review()
  })

  test('are compared: each difference has its rows, and an unchanged one is not written again', async () => {
    const open = { sellerId, state: 'open', resolution: null, resolvedAt: null, currency: 'USD' }
    const found = await list()
    expect(found).toMatchObject([
      {
        ...open,
        kind: 'never-paid',
        purchaseOrderId: '3',
        lineNumber: '1',
        sku: 'PAN',
        reportDate: null,
        expectedAmount: '20',
        paidAmount: '0',
        difference: '-20',
        rows: [],
      },
      {
        ...{
          ...open,
          kind: 'paid-less',
          purchaseOrderId: '2',
          reportDate: '2026-03-14',
          expectedAmount: '20',
          paidAmount: '18.5',
        },
        ...{
          difference: '-1.5',
          rows: [{ lineKey: '2026-03-14/3', transactionType: 'Sale', amountType: 'Product Price', amount: '18.50' }],
        },
      },
      {
        ...{
          ...open,
          kind: 'unknown-fee',
          purchaseOrderId: null,
          lineNumber: null,
          sku: null,
          reportDate: '2026-03-28',
          difference: '-3',
        },
        rows: [{ lineKey: '2026-03-28/2', description: 'A new fee', amount: '-3.00' }],
      },
    ])
    expect(await listRecorded()).toMatchObject(
      ['never-paid', 'paid-less', 'unknown-fee'].map((kind) => ({ type: 'settlement_difference.found', data: { kind } })),
    )
    await review()
    expect(await list()).toEqual(found)
    expect(await listRecorded()).toHaveLength(3)
  })

  test('a later report settles a difference, a change of its amounts is reported, and a row that is gone explains nothing', async () => {
    await store('2026-04-11', [summary('03/28/2026', '04/10/2026'), sale('3', '19.00'), sale('2', '1.50')])
    const fee = await stage.database.transaction((tx) => settlementStore.noteMissing(tx, sellerId, new Date(), ['2026-03-28/2']))
    expect(fee).toBe(1)
    await review()
    // Order 4 is due by now.
    expect(await list()).toMatchObject([
      { kind: 'never-paid', purchaseOrderId: '4' },
      { kind: 'paid-less', purchaseOrderId: '3', difference: '-1' },
    ])
    expect(await list('resolved')).toMatchObject(
      ['never-paid', 'paid-less', 'unknown-fee'].map((kind) => ({ kind, resolution: 'settled', resolvedAt: expect.any(Date) })),
    )
    await store('2026-04-11', [sale('3', '19.50')], 2)
    await review()
    expect((await listRecorded()).at(-1)).toMatchObject({
      type: 'settlement_difference.changed',
      order: '3',
      data: { paid: '19.5', difference: '-0.5' },
    })
  })

  test('an order whose payment is gone from a corrected report is compared, although its row is another order’s by now', async () => {
    expect(await list()).not.toContainEqual(expect.objectContaining({ purchaseOrderId: '1' }))
    await stage.database.execute(`UPDATE tallyman.settlement_periods SET checked_at = now() + interval '1 day'`)
    await store('2026-03-14', [march1, sale('2', '18.50'), sale('5', '12.00')])
    await stage.database.transaction((tx) => settlementStore.noteMissing(tx, sellerId, new Date(), ['2026-03-14/4']))
    await review()
    expect(await list()).toContainEqual(
      expect.objectContaining({ kind: 'never-paid', purchaseOrderId: '1', expectedAmount: expect.any(String) }),
    )
  })

  test('rows of an order that is not stored wait for it', async () => {
    expect(await stage.database.query('SELECT purchase_order_id AS id, waiting FROM tallyman.settlement_orders')).toEqual([
      { id: '5', waiting: true },
    ])
    await seed('5')
    await review()
    expect(await list()).toContainEqual(expect.objectContaining({ kind: 'paid-less', purchaseOrderId: '5', difference: '-8' }))
    expect(await stage.database.query('SELECT 1 FROM tallyman.settlement_orders')).toEqual([])
  })

  test('an order that is stored after its payment was due is found', async () => {
    await seed('6')
    await review()
    expect(await list()).toContainEqual(expect.objectContaining({ kind: 'never-paid', purchaseOrderId: '6' }))
  })

  test('a refund is explained by a return that comes later', async () => {
    const refund = (type: string, amount: string) => reportRow('1', 'PAN', '1', ['Refund', type], amount)
    await store('2026-03-28', [refund('Product Price', '-20.00')], 3)
    await review()
    expect(await list()).toContainEqual(
      expect.objectContaining({ kind: 'refund-without-return', purchaseOrderId: '1', difference: '-20' }),
    )
    await stage.database.execute(
      `INSERT INTO warehouse.returns (seller_id, return_order_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
       VALUES ($1, 'R', '\\x00', '{}', now(), now(), now())`,
      sellerId,
    )
    await stage.database.execute(
      `INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, purchase_order_id, purchase_order_line_number, quantity,
         raw, first_seen_at, changed_at) VALUES ($1, 'R', 1, '1', '1', 1, '{}', now(), now())`,
      sellerId,
    )
    await review()
    expect((await list()).map(({ kind }) => kind)).not.toContain('refund-without-return')
  })

  test('the rate of a commission is the usual one of the SKU', async () => {
    for (const id of ['11', '12', '13', '14']) await seed(id, '2026-03-20T10:00:00Z', 'POT')
    const commission = (id: string, amount: string) => reportRow(id, 'pot', '1', ['Sale', 'Commission on Product'], amount)
    const sold = ['11', '12', '13', '14'].flatMap((id) => [
      sale(id, '20.00', 'pot'),
      commission(id, id === '13' ? '-3.60' : '-3.00'),
    ])
    await store('2026-03-28', sold, 3)
    await review()
    expect((await list()).filter(({ sku }) => sku === 'POT')).toMatchObject([
      { kind: 'commission-off-rate', purchaseOrderId: '13', expectedAmount: '-3', paidAmount: '-3.6', difference: '-0.6' },
    ])
  })
})
