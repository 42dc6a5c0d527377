import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/db/database.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import { listOrders, type OrderFilter } from '../../src/store/orders/order-queries.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import { eraseBuyer } from '../../src/store/privacy/erasures.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { storeOrders } from '../support/store.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { databaseBefore } from './support/earlier.ts'
import { lineWith, orderWith, wireStatus } from './support/records.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(() => postgres.stop())

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))
const shippedAt = at(-60)
const parcel = (trackingNumber: string, units: number, status = 'Shipped') =>
  wireStatus(status, units, {
    trackingInfo: {
      shipDateTime: shippedAt.getTime(),
      carrierName: { carrier: 'FedEx' },
      methodCode: 'Express',
      trackingNumber,
      trackingURL: `https://track.example/${trackingNumber}`,
    },
  })
const orderExpression = (...statuses: readonly unknown[]) =>
  orderWith('31', [lineWith('2', 3, statuses)], { customerOrderId: 'C31' })
const shippedInTwo = orderExpression(parcel('Fx-1', 2), parcel('Fx-2', 1))
const refundedInPart = orderExpression(parcel('Fx-1', 1, 'Delivered'), parcel('Fx-2', 1), wireStatus('Refund', 1))
const refunded = orderExpression(wireStatus('Refund', 3))

const filter: OrderFilter = {
  ...{ sellerId: null, q: null, purchaseOrderId: null, customerOrderId: null, sku: null, trackingNumber: null, open: null },
  ...{
    outcome: null,
    findNow: new Map(),
    due: [],
    shipNodeType: null,
    fulfilledBySeller: null,
    unacknowledged: null,
    city: null,
  },
  ...{ created: { from: null, to: null }, shipBy: { from: null, to: null }, sort: null },
}
const kept = (trackingNumber: string, quantity: number, shownQuantity: number, deliveredAt: Date | null) => ({
  ...{
    carrier: 'FedEx',
    methodCode: 'Express',
    trackingNumber,
    trackingUrl: `https://track.example/${trackingNumber}`,
    shippedAt,
  },
  ...{ quantity, shownQuantity, deliveredQuantity: deliveredAt === null ? 0 : 1, deliveredAt },
})

test('a refunded order keeps its parcels, is found by them, and an older version that comes again changes nothing', async () => {
  const database = openDatabase({ findVocabulary, url: await postgres.database() })
  const store = (record: typeof refunded, minute: number) =>
    storeOrders(database, { sellerId: 's-1', records: [record], observedAt: at(minute) })
  const shipments = async () => (await readOrder(database, 's-1', '31'))?.lines[0]?.shipments
  for (const [index, version] of [shippedInTwo, refundedInPart, shippedInTwo].entries()) await store(version, index)
  expect(await shipments()).toEqual([kept('Fx-1', 2, 1, at(1)), kept('Fx-2', 1, 1, null)])
  await store(refunded, 4)
  expect((await store(shippedInTwo, 5)).changed).toBe(0)
  expect(await shipments()).toEqual([kept('Fx-1', 2, 0, at(1)), kept('Fx-2', 1, 0, null)])
  const found = async (more: Partial<OrderFilter>) =>
    (await listOrders(database, { ...filter, ...more }, null, 5)).items.map(({ purchaseOrderId }) => purchaseOrderId)
  expect(await found({ q: 'fX-' })).toEqual(['31'])
  expect(await found({ trackingNumber: 'Fx-2' })).toEqual(['31'])
  expect(await found({ trackingNumber: 'fx-2' })).toEqual([])

  const erased = await eraseBuyer(database, { sellerId: 's-1', customerOrderId: 'C31', actor: 'kim', reason: 'asked' })
  expect(erased).toMatchObject({ ok: true, erasure: { rows: { 'warehouse.shipments': 2 } } })
  // What is reported of it later is stored without its buyer.
  await store(orderExpression(wireStatus('Refund', 2), parcel('Fx-3', 1)), 6)
  await store(orderExpression(wireStatus('Refund', 3), parcel('Fx-3', 1)), 7)
  expect((await shipments())?.map(({ trackingNumber, trackingUrl }) => [trackingNumber, trackingUrl])).toEqual([
    ['Fx-1', null],
    ['Fx-2', null],
    ['Fx-3', null],
  ])
  await database.close()
})

test('an upgrade takes the parcels from the statuses and from the earlier versions that are kept', async () => {
  const url = await databaseBefore(postgres, '20270140000000_shipments')
  const database = openDatabase({ findVocabulary, url })
  await database.execute(
    `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled,
       refunded, refunded_amount, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at)
     VALUES ('s-1', '31', '2', 0, 'CUP', 3, 3, 3, 0, 2, 0, '[]', '[]', false, '{}', now(), now())`,
  )
  const statuses = [
    { position: 0, status: 'Shipped', trackingNumber: 'Fx-2', at: shippedAt },
    { position: 1, status: 'Refund', trackingNumber: null, at: null },
  ]
  for (const { position, status, trackingNumber, at: shipped } of statuses) {
    await database.execute(
      `INSERT INTO warehouse.order_line_statuses (seller_id, purchase_order_id, line_number, position, status, quantity, carrier,
         tracking_number, shipped_at, raw, first_seen_at, changed_at)
       VALUES ('s-1', '31', '2', $1::int, $2, 1, $3, $4, $5::timestamptz, '{}', $6::timestamptz, now())`,
      ...[position, status, trackingNumber === null ? null : 'FedEx', trackingNumber, shipped?.toISOString() ?? null],
      at(9).toISOString(),
    )
  }
  // A list may come as one object; a line that is stored no more has nowhere to go; an unreadable time is none.
  const alone = {
    orderLines: {
      orderLine: {
        lineNumber: 2,
        orderLineQuantity: { amount: '3' },
        orderLineStatuses: {
          orderLineStatus: {
            status: 'Shipped',
            trackingInfo: { shipDateTime: '2026-02-31T10:00:00Z', carrierName: 'Bike', trackingNumber: 77 },
          },
        },
      },
    },
  }
  const otherRaw = orderWith('31', [lineWith('9', 3, [parcel('Fx-9', 3)])]).value.raw
  const versions = [shippedInTwo.value.raw, refundedInPart.value.raw, alone, otherRaw, { erased: true }]
  for (const [index, raw] of versions.entries()) {
    await database.execute(
      `INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
       VALUES ('s-1', 'orders', '31', decode($1, 'hex'), $2::jsonb, $3::timestamptz, now())`,
      ...[`0${index}`, JSON.stringify(raw), at(index).toISOString()],
    )
  }
  expect(await migrate(url)).toContain('20270140000000_shipments')
  const rows = await database.query(
    `SELECT position, carrier, tracking_number, method_code, shipped_at, quantity, shown_quantity, first_seen_at FROM warehouse.shipments
     WHERE seller_id = 's-1' AND purchase_order_id = '31' AND line_number = '2' ORDER BY position`,
  )
  const row = (position: number, tracking_number: string, quantity: number, shown_quantity: number) => ({
    ...{ position, carrier: 'FedEx', tracking_number, method_code: 'Express', shipped_at: shippedAt, quantity, shown_quantity },
    first_seen_at: at(0),
  })
  expect(rows).toEqual([
    row(0, 'Fx-1', 2, 0),
    row(1, 'Fx-2', 1, 1),
    { ...row(2, '77', 3, 0), carrier: 'Bike', method_code: null, shipped_at: null, first_seen_at: at(2) },
  ])
  expect(await database.query(`SELECT 1 AS one FROM warehouse.shipments`)).toHaveLength(3)
  await database.close()
})
