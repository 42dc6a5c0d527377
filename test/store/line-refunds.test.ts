import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
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
const parcel = (status: string, units: number) =>
  wireStatus(status, units, {
    trackingInfo: {
      ...{ shipDateTime: at(-60).getTime(), carrierName: { carrier: 'FedEx' }, methodCode: 'Express', trackingNumber: 'Fx-1' },
      trackingURL: 'https://track.example/Fx-1',
    },
  })
const refund = (reason: string, amount: number, tax: number) => ({
  refundReason: reason,
  charge: {
    ...{ chargeType: 'PRODUCT', chargeName: 'ItemPrice', chargeAmount: { currency: 'USD', amount: -amount } },
    tax: { taxName: 'Tax', taxAmount: { currency: 'USD', amount: -tax } },
  },
})
const version = (statusMinute: number, statuses: readonly unknown[], refunds: readonly unknown[] = []) =>
  orderWith('31', [
    lineWith('2', 3, statuses, {
      statusDate: at(statusMinute).getTime(),
      ...(refunds.length === 0 ? {} : { refund: { refundId: `R-${refunds.length}`, refundCharges: { refundCharge: refunds } } }),
    }),
  ])
const damaged = refund('DamagedItem', 10, 0.8)
const late = refund('CustomerReceivedItemLate', 4.5, 0)
const versions = [
  version(-60, [parcel('Shipped', 3)]),
  version(1, [parcel('Delivered', 3)]),
  version(2, [parcel('Delivered', 2), wireStatus('Refund', 1)], [damaged]),
  // Money only, without another date of the line.
  version(2, [parcel('Delivered', 2), wireStatus('Refund', 1)], [damaged, late]),
  version(9, [parcel('Delivered', 1), wireStatus('Refund', 2)], [damaged, late, damaged]),
]
const expected = [
  { refundId: 'R-1', reason: 'DamagedItem', units: 1, amount: '10', tax: '0.8', refundedAt: at(2) },
  { refundId: 'R-2', reason: 'CustomerReceivedItemLate', units: 0, amount: '4.5', tax: '0', refundedAt: at(30) },
  { refundId: 'R-3', reason: 'DamagedItem', units: 1, amount: '10', tax: '0.8', refundedAt: at(9) },
]
const delivered = { quantity: 3, shownQuantity: 1, deliveredQuantity: 3, deliveredAt: at(1) }

const storeAll = async (database: Database): Promise<void> => {
  for (const [index, record] of versions.entries())
    await storeOrders(database, { sellerId: 's-1', records: [record], observedAt: at(index * 10) })
}

test('refunds and deliveries are stored as they are noticed, with their time, and stay', async () => {
  const database = openDatabase({ findVocabulary, url: await postgres.database() })
  await storeAll(database)
  const line = (await readOrder(database, 's-1', '31'))?.lines[0]
  expect(line?.refunds).toEqual(expected)
  expect(line?.shipments).toMatchObject([delivered])
  await database.close()
})

test('an upgrade takes them from the order and its earlier versions; an erased order has one refund without a time', async () => {
  const url = await databaseBefore(postgres, '20270420000000_refunds_and_deliveries')
  const database = openDatabase({ findVocabulary, url })
  const [current, ...earlier] = versions.toReversed()
  const raw = JSON.parse(current?.rawText ?? '')
  const line = JSON.stringify(raw.orderLines.orderLine[0])
  for (const [id, own, more] of [
    ['31', line, `'["DamagedItem", "CustomerReceivedItemLate", "DamagedItem"]'`],
    ['32', '{"erased": true}', `'["DamagedItem"]'`],
  ] as const) {
    await database.execute(
      `INSERT INTO warehouse.orders (seller_id, purchase_order_id, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
       VALUES ('s-1', $1, false, '\\x00', '{}', now(), now(), $2::timestamptz)`,
      ...[id, at(40).toISOString()],
    )
    await database.execute(
      `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, ordered, acknowledged, shipped, cancelled, refunded,
         refunded_amount, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at)
       VALUES ('s-1', $1, '2', 0, 3, 3, 3, 0, 2, 26.1, '[]', ${more}, false, $2::jsonb, now(), now())`,
      ...[id, own],
    )
  }
  await database.execute(
    `INSERT INTO warehouse.shipments (seller_id, purchase_order_id, line_number, position, carrier, tracking_number, quantity, shown_quantity,
       first_seen_at, changed_at) VALUES ('s-1', '31', '2', 0, 'FedEx', 'Fx-1', 3, 1, now(), now())`,
  )
  await database.execute(
    `INSERT INTO warehouse.order_line_statuses (seller_id, purchase_order_id, line_number, position, status, quantity, carrier, tracking_number, raw,
       first_seen_at, changed_at) VALUES ('s-1', '31', '2', 0, 'Delivered', 1, 'FedEx', 'Fx-1', '{}', now(), now())`,
  )
  for (const [index, { rawText }] of earlier.toReversed().entries()) {
    await database.execute(
      `INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
       VALUES ('s-1', 'orders', '31', decode($1, 'hex'), $2::jsonb, $3::timestamptz, now())`,
      ...[`0${index}`, rawText, at(index * 10).toISOString()],
    )
  }
  expect(await migrate(url)).toContain('20270420000000_refunds_and_deliveries')
  const upgraded = (await readOrder(database, 's-1', '31'))?.lines[0]
  expect(upgraded?.refunds).toEqual(
    expected.map((one) => ({ ...one, tax: expect.stringMatching(one.tax), amount: expect.stringMatching(one.amount) })),
  )
  expect(upgraded?.shipments).toMatchObject([delivered])
  const erased = { refundId: null, reason: 'DamagedItem', units: 2, amount: '26.1', tax: '0', refundedAt: null }
  expect((await readOrder(database, 's-1', '32'))?.lines[0]?.refunds).toEqual([erased])
  await database.close()
})
