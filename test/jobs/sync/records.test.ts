import { expect, test } from 'vitest'
import { replayQuarantined } from '../../../src/jobs/sync/engine/syncs.ts'
import { readOrder } from '../../../src/store/orders/stored-orders.ts'
import { rawHash } from '../../../src/store/versioned/versions.ts'
import { wireReturnSample } from '../../clients/samples.ts'
import { lineWith, orderWith, wireStatus } from '../../store/support/records.ts'
import { numbered } from '../../support/changes.ts'
import { readWithRaw, storeOrders } from '../../support/store.ts'
import { withSyncBench } from './support.ts'

const bench = withSyncBench()

const readQuarantine = (sellerId: string) =>
  bench.database.query<{ id: bigint; state: string; record_key: string | null; fault: string; seen_count: number }>(
    'SELECT id, state, record_key, fault, seen_count FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY id',
    sellerId,
  )
const putInQuarantine = async (sellerId: string, resource: string, rawText: string, observedAt: Date): Promise<bigint> => {
  const [row] = await bench.database.query<{ id: bigint }>(
    `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
     VALUES ($1, $2, decode($3, 'hex'), $4, 'an older version of the program did not understand it', $5::timestamptz) RETURNING id`,
    sellerId,
    resource,
    rawHash(rawText),
    rawText,
    observedAt.toISOString(),
  )
  if (row === undefined) throw new Error('not inserted')
  return row.id
}
const replay = (id: bigint) => replayQuarantined({ database: bench.database }, id)

test('a record that does not parse is kept aside, its page goes on, and a good version settles it', async () => {
  const one = await bench.seller()
  const ids = await one.place(60, { shipNodeType: 'SellerFulfilled' })
  await bench.sandbox.next({ fault: 'malformedRecord', sellerId: one.sellerId, operation: 'orders.released' })
  await one.sync('orders', 'released')
  expect(await one.storedOrders()).toHaveLength(59)
  const [aside] = await readQuarantine(one.sellerId)
  expect(aside).toMatchObject({ state: 'open' })
  expect((await one.runs('released')).at(-1)).toMatchObject({ seen: 60, changed: 59, quarantined: 1, error: null })
  await one.ageQuarantine()
  await one.sync('orders', 'released')
  expect(await one.storedOrders()).toEqual([...ids].sort())
  if (aside?.record_key !== null) expect((await readQuarantine(one.sellerId))[0]).toMatchObject({ state: 'superseded' })
})

test('a record that stays malformed is not written down at each poll', async () => {
  const one = await bench.seller()
  await one.place(1, { shipNodeType: 'SellerFulfilled' })
  const marks = () =>
    bench.database.query('SELECT xmin::text FROM tallyman.quarantined_records WHERE seller_id = $1', one.sellerId)
  await bench.sandbox.control('PUT', '/faults', { malformedRecord: 1, seed: 'same' })
  await one.sync('orders', 'released')
  const before = await marks()
  expect(before).toHaveLength(1)
  for (let poll = 0; poll < 3; poll += 1) await one.sync('orders', 'released')
  // The sandbox may break the record in other ways, which are other texts: none of them twice.
  const rows = await readQuarantine(one.sellerId)
  expect(rows.every((row) => row.seen_count === 1)).toBe(true)
  expect(await marks()).toEqual(expect.arrayContaining(before))
})

test('replay stores what the parser understands now, once, by the ordinary rules', async () => {
  const one = await bench.seller()
  const created = orderWith('901', [lineWith('1', 2, [wireStatus('Created', 2)])])
  const shipped = orderWith('901', [lineWith('1', 2, [wireStatus('Shipped', 2)])])
  const id = await putInQuarantine(one.sellerId, 'orders', created.rawText, new Date('2026-01-01T00:00:00Z'))
  expect(await replay(id)).toEqual({ outcome: 'replayed' })
  expect(await replay(id)).toEqual({ outcome: 'already-settled', state: 'replayed' })
  expect(await readWithRaw(bench.database, one.sellerId, '901')).toEqual(created.value)
  await storeOrders(bench.database, { sellerId: one.sellerId, records: [shipped], observedAt: new Date('2026-01-03T00:00:00Z') })
  const older = orderWith('901', [lineWith('1', 2, [wireStatus('Acknowledged', 2)])])
  const late = await putInQuarantine(one.sellerId, 'orders', older.rawText, new Date('2026-01-02T00:00:00Z'))
  expect(await replay(late)).toEqual({ outcome: 'superseded' })
  expect((await readOrder(bench.database, one.sellerId, '901'))?.lines[0]?.units.shipped).toBe(2)
  const returned = await putInQuarantine(one.sellerId, 'returns', JSON.stringify(wireReturnSample('R7')), new Date())
  expect(await replay(returned)).toEqual({ outcome: 'replayed' })
})

test('replay says what is still wrong, and that nothing is there', async () => {
  const one = await bench.seller()
  const id = await putInQuarantine(one.sellerId, 'orders', '{"purchaseOrderId":"1","orderLines":7}', new Date())
  const outcome = await replay(id)
  expect(outcome).toMatchObject({ outcome: 'still-malformed' })
  expect((await readQuarantine(one.sellerId))[0]?.fault).toBe('fault' in outcome ? outcome.fault : '')
  expect(await replay(9_999_999n)).toEqual({ outcome: 'not-found' })
})

test('an order with characters that Postgres cannot hold is stored, with U+FFFD in their place', async () => {
  const one = await bench.seller()
  const id = await bench.sandbox.place({ sellerId: one.sellerId, lines: [{ sku: 'TEA\u0000POT', quantity: 1 }] })
  await one.sync('orders', 'released')
  expect(await readQuarantine(one.sellerId)).toEqual([])
  expect((await readOrder(bench.database, one.sellerId, id))?.lines.map(({ sku }) => sku)).toEqual(['TEA\ufffdPOT'])
  await one.sync('orders', 'released')
  expect((await one.runs('released')).at(-1)).toMatchObject({ changed: 0, quarantined: 0, error: null })
})

test('unknown values are stored as they came', async () => {
  const one = await bench.seller()
  await one.place(5, { shipNodeType: 'SellerFulfilled' })
  await bench.sandbox.control('PUT', '/faults', { unknownValue: 1 })
  await one.sync('orders', 'released')
  expect(await one.storedOrders()).toHaveLength(5)
  expect(await readQuarantine(one.sellerId)).toEqual([])
})

test('returns come in by last change, with what travels and through which channel', async () => {
  const one = await bench.seller()
  const old = new Date(Date.now() - 40 * 86_400_000).toISOString()
  await one.place(400, { shipNodeType: 'SellerFulfilled', createdFrom: old, createdTo: old })
  await bench.advance('1m')
  await one.sync('returns', 'changed')
  const [counts] = await (await numbered(bench.database)).query<{
    returns: number
    lines: number
    tracking: number
    channels: number
    seen: number
  }>(
    `SELECT (SELECT count(*)::int FROM warehouse.returns WHERE seller_id = $1) AS returns,
       (SELECT count(*)::int FROM warehouse.return_lines WHERE seller_id = $1) AS lines,
       (SELECT count(*)::int FROM warehouse.return_line_tracking_statuses WHERE seller_id = $1) AS tracking,
       (SELECT count(*)::int FROM warehouse.return_line_refund_channels WHERE seller_id = $1 AND refund_channel_name <> ''
         AND quantity > 0) AS channels,
       (SELECT count(*)::int FROM warehouse.changes WHERE seller_id = $1 AND type = 'return.seen') AS seen`,
    one.sellerId,
  )
  expect(counts?.returns).toBeGreaterThan(0)
  expect(counts?.lines).toBeGreaterThanOrEqual(counts?.returns ?? 1)
  expect(counts?.tracking).toBeGreaterThanOrEqual(counts?.lines ?? 1)
  expect(counts?.channels).toBeGreaterThan(0)
  const [told] = await bench.database.query<{ channels: number; tracking: number }>(
    `SELECT sum(jsonb_array_length(raw -> 'refundChannels'))::int AS channels, sum(jsonb_array_length(raw -> 'currentTrackingStatuses'))::int AS tracking
     FROM warehouse.return_lines WHERE seller_id = $1`,
    one.sellerId,
  )
  expect(counts).toMatchObject({ channels: told?.channels, tracking: told?.tracking })
  expect(counts?.seen).toBe(counts?.returns)
  await one.sync('returns', 'changed')
  expect((await one.runs('changed')).at(-1)).toMatchObject({ changed: 0, error: null })
})
