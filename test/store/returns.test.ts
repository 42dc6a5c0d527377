import { expect, test } from 'vitest'
import { wireReturnSample } from '../clients/samples.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { storeReturns } from '../support/store.ts'
import { returnRecord } from './support/records.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 'seller'
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))

const table = async <Row>(columns: string, name: string, order: string) =>
  (await numbered(stage.database)).query<Row>(`SELECT ${columns} FROM warehouse.${name} ORDER BY ${order}`)

/** The sample with other states of its only line. */
const sampleWith = (id: string, line: Readonly<Record<string, unknown>>) => {
  const sample = wireReturnSample(id)
  return returnRecord({ ...sample, returnOrderLines: sample.returnOrderLines.map((first) => ({ ...first, ...line })) })
}

test('tracking statuses and refund channels become rows, unknown channels too', async () => {
  const records = [returnRecord(wireReturnSample('R1'))]
  expect(await storeReturns(stage.database, { sellerId, records, observedAt: at(1) })).toBe(1)
  expect(await table('position, status, current_refund_status, quantity', 'return_line_tracking_statuses', 'position')).toEqual([
    { position: 0, status: 'IN_TRANSIT', current_refund_status: null, quantity: 2 },
    { position: 1, status: 'DELIVERED', current_refund_status: 'REFUND_INITIATED', quantity: 1 },
  ])
  expect(await table('refund_channel_name, quantity', 'return_line_refund_channels', 'position')).toEqual([
    { refund_channel_name: 'SELLER_MANUAL_REFUND', quantity: 2 },
    { refund_channel_name: 'SomethingNew', quantity: 1 },
  ])
  expect(await table('type, return_order_id', 'changes', 'seq')).toEqual([{ type: 'return.seen', return_order_id: 'R1' }])
})

test('unchanged returns are not written; changed ones are recorded with before and after, and vanished rows are deleted', async () => {
  const first = returnRecord(wireReturnSample('R1'))
  await storeReturns(stage.database, { sellerId, records: [first], observedAt: at(1) })
  expect(await storeReturns(stage.database, { sellerId, records: [first], observedAt: at(2) })).toBe(0)
  const arrived = sampleWith('R1', {
    currentTrackingStatuses: [{ status: 'DELIVERED', quantity: { measurementValue: 3 } }],
    refundChannels: [],
    refundedQty: 3,
  })
  expect(await storeReturns(stage.database, { sellerId, records: [arrived], observedAt: at(3) })).toBe(1)
  expect(await table('status, quantity', 'return_line_tracking_statuses', 'position')).toEqual([
    { status: 'DELIVERED', quantity: 3 },
  ])
  expect(await table('1', 'return_line_refund_channels', '1')).toEqual([])
  const [, change] = await table<{ type: string; line_number: string; data: unknown }>(
    'type, line_number, data',
    'changes',
    'seq',
  )
  expect(change).toMatchObject({
    type: 'return_line.changed',
    line_number: '1',
    data: { before: { refundedQuantity: 1 }, after: { refundedQuantity: 3, refundChannels: [] } },
  })
  const versions = await stage.database.query(`SELECT record_key FROM tallyman.superseded_versions WHERE resource = 'returns'`)
  expect(versions).toEqual([{ record_key: 'R1' }])
  // Late news of long ago.
  expect(await storeReturns(stage.database, { sellerId, records: [first], observedAt: at(2) })).toBe(0)
  expect(await table('refunded_quantity', 'return_lines', '1')).toEqual([{ refunded_quantity: 3 }])
})

test('who bears a refund is a column, and a change of it is recorded', async () => {
  const sql = 'return_order_line_number, refund_covered_by'
  await storeReturns(stage.database, { sellerId, records: [returnRecord(wireReturnSample('R1'))], observedAt: at(1) })
  expect(await table(sql, 'return_lines', '1')).toEqual([{ return_order_line_number: 1, refund_covered_by: null }])
  const records = [sampleWith('R1', { refundCoveredBy: 'SELLER' })]
  await storeReturns(stage.database, { sellerId, records, observedAt: at(2) })
  expect(await table(sql, 'return_lines', '1')).toEqual([{ return_order_line_number: 1, refund_covered_by: 'SELLER' }])
  const [, change] = await table<{ data: unknown }>('data', 'changes', 'seq')
  expect(change).toMatchObject({ data: { before: { refundCoveredBy: null }, after: { refundCoveredBy: 'SELLER' } } })
})

test('attributes that have no column are members of the stored record', async () => {
  const miscAttributes = [{ name: 'VEHICLE_DETAILS', value: 'a car' }]
  const records = [sampleWith('R1', { miscAttributes })]
  await storeReturns(stage.database, { sellerId, records, observedAt: at(1) })
  expect(await table(`raw -> 'miscAttributes' AS attributes`, 'return_lines', '1')).toEqual([{ attributes: miscAttributes }])
})

test('the same new returns, stored concurrently, are stored once', async () => {
  const records = Array.from({ length: 40 }, (_, index) => returnRecord(wireReturnSample(`R${index}`)))
  const stored = await Promise.all(
    [records, [...records].reverse(), records].map((page) =>
      storeReturns(stage.database, { sellerId, records: page, observedAt: at(1) }),
    ),
  )
  expect(stored.reduce((sum, page) => sum + page, 0)).toBe(40)
  expect(await table('count(*)::int AS count', 'return_lines', '1')).toEqual([{ count: 40 }])
})
