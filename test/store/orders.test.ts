import { describe, expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase, type Transaction } from '../../src/store/db/database.ts'
import { listOpenOrders } from '../../src/store/orders/order-samples.ts'
import {
  findDifferingOrders,
  lockOrder,
  markMissingOrders,
  storeDifferingOrders,
  storeOrder,
} from '../../src/store/orders/orders.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import { wireOrderSample } from '../clients/samples.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { readWithRaw, storeOrders } from '../support/store.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { lineWith, orderRecord, orderWith, wireStatus } from './support/records.ts'

const stage = withDatabase({ connections: 5 })
let counter = 0

const newSeller = (): string => {
  counter += 1
  return `seller-${counter}`
}
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))
const readChanges = async (sellerId: string) =>
  (await numbered(stage.database)).query<{
    type: string
    purchase_order_id: string
    line_number: string | null
    data: Record<string, unknown>
  }>('SELECT type, purchase_order_id, line_number, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq', sellerId)
const walPosition = async (database: Database): Promise<bigint> => {
  const [row] = await database.query<{ bytes: bigint }>(`SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS bytes`)
  return row?.bytes ?? 0n
}

test('an order is read back as it was stored, to the last field', async () => {
  const sellerId = newSeller()
  const shipped = wireStatus('Shipped', 2, {
    trackingInfo: {
      shipDateTime: 1_760_300_000_000,
      carrierName: { carrier: 'UPS' },
      methodCode: 'Standard',
      trackingNumber: '1Z9',
      trackingURL: 'https://track.example/1Z9',
    },
  })
  const record = orderWith('100', [
    lineWith('1', 3, [shipped, wireStatus('Created', 1)]),
    lineWith('4', 2, [wireStatus('Created', 2)]),
  ])
  const stored = await storeOrders(stage.database, { sellerId, records: [record], observedAt: at(1) })
  expect(stored).toMatchObject({ changed: 1 })
  expect(stored.fresh).toEqual([record.value])
  expect(await readWithRaw(stage.database, sellerId, '100')).toEqual(record.value)
  const read = await readOrder(stage.database, sellerId, '100')
  expect(await stage.database.transaction((tx) => lockOrder(tx, sellerId, '100'))).toEqual({
    value: read,
    rowVersion: expect.any(String),
  })
  expect(await readOrder(stage.database, sellerId, '101')).toBeNull()
  expect(await stage.database.transaction((tx) => lockOrder(tx, sellerId, '101'))).toBeNull()
})

test('a page of unchanged records writes nothing, not even to the write-ahead log', async () => {
  // The log is one for a whole server: this one is shared with nobody.
  const server = await startTestPostgres()
  const database = openDatabase({ findVocabulary, url: await server.database() })
  onTestFinished(async () => {
    await database.close()
    await server.stop()
  })
  const sellerId = newSeller()
  const records = Array.from({ length: 200 }, (_, index) => orderRecord(String(1_000 + index)))
  await storeOrders(database, { sellerId, records, observedAt: at(1) })
  // A first look at fresh rows may set hint bits and clean pages, and the server notes its running transactions every 15 s: so the
  // least of a few passes counts.
  const written: bigint[] = []
  for (let pass = 0; pass < 4; pass += 1) {
    await database.execute('CHECKPOINT')
    const before = await walPosition(database)
    expect(await storeOrders(database, { sellerId, records, observedAt: at(2 + pass) })).toEqual({ changed: 0, fresh: [] })
    written.push((await walPosition(database)) - before)
  }
  expect(written).toContain(0n)
})

test('an older observation never overwrites a newer one', async () => {
  const sellerId = newSeller()
  const created = orderWith('1', [lineWith('1', 2, [wireStatus('Created', 2)])])
  const shipped = orderWith('1', [lineWith('1', 2, [wireStatus('Shipped', 2)])])
  await storeOrders(stage.database, { sellerId, records: [shipped], observedAt: at(5) })
  const late = await storeOrders(stage.database, { sellerId, records: [created], observedAt: at(4) })
  expect(late.changed).toBe(0)
  expect((await readOrder(stage.database, sellerId, '1'))?.lines[0]?.units.shipped).toBe(2)
  expect(await readChanges(sellerId)).toHaveLength(1)
})

test('changed units and statuses are recorded with their old values, and vanished statuses are deleted', async () => {
  const sellerId = newSeller()
  const before = orderWith('1', [
    lineWith('1', 3, [wireStatus('Shipped', 1), wireStatus('Acknowledged', 1), wireStatus('Created', 1)]),
    lineWith('2', 1, [wireStatus('Created', 1)]),
  ])
  const after = orderWith('1', [lineWith('1', 3, [wireStatus('Shipped', 3)]), lineWith('2', 1, [wireStatus('Created', 1)])])
  await storeOrders(stage.database, { sellerId, records: [before], observedAt: at(1) })
  await storeOrders(stage.database, { sellerId, records: [after], observedAt: at(2) })
  expect((await readWithRaw(stage.database, sellerId, '1')).lines).toEqual(after.value.lines)
  const [seen, changed, ...more] = await readChanges(sellerId)
  expect(seen?.type).toBe('order.seen')
  expect(changed).toMatchObject({
    type: 'order_line.changed',
    purchase_order_id: '1',
    line_number: '1',
    data: {
      before: { shipped: 1, statuses: [{ status: 'Shipped', quantity: 1 }, { quantity: 1 }, { quantity: 1 }] },
      after: { shipped: 3, statuses: [{ status: 'Shipped', quantity: 3 }] },
    },
  })
  expect(more).toEqual([])
  const untouched = await stage.database.query<{ same: boolean }>(
    `SELECT first_seen_at = changed_at AS same FROM warehouse.order_lines WHERE seller_id = $1 ORDER BY line_number`,
    sellerId,
  )
  expect(untouched.map((row) => row.same)).toEqual([false, true])
})

test('the replaced version is kept with its first and last observation', async () => {
  const sellerId = newSeller()
  const versions = [1, 2, 3].map((units) => orderWith('1', [lineWith('1', 3, [wireStatus('Shipped', units)])]))
  for (const [index, record] of versions.entries()) {
    await storeOrders(stage.database, { sellerId, records: [record], observedAt: at(index) })
  }
  const kept = await stage.database.query<{ raw: unknown; first_seen_at: Date; last_seen_at: Date }>(
    `SELECT raw, first_seen_at, last_seen_at FROM tallyman.superseded_versions
     WHERE seller_id = $1 AND resource = 'orders' AND record_key = '1' ORDER BY last_seen_at`,
    sellerId,
  )
  expect(kept.map((row) => row.raw)).toEqual(versions.slice(0, 2).map((record) => record.value.raw))
  expect(kept[0]?.last_seen_at).toEqual(kept[1]?.first_seen_at)
})

test('charges stay as first seen, and placeholders do not overwrite a phone or an address', async () => {
  const sellerId = newSeller()
  const zero = { chargeType: 'PRODUCT', chargeName: 'ItemPrice', chargeAmount: { currency: 'USD', amount: 0 }, tax: null }
  const first = orderWith('1', [lineWith('1', 1, [wireStatus('Created', 1)])])
  const cancelled = orderWith('1', [lineWith('1', 1, [wireStatus('Cancelled', 1)], { charges: { charge: [zero] } })], {
    customerEmailId: 'nocxemail@walmartone.com',
    shippingInfo: { phone: '0000000000' },
  })
  await storeOrders(stage.database, { sellerId, records: [first], observedAt: at(1) })
  await storeOrders(stage.database, { sellerId, records: [cancelled], observedAt: at(2) })
  const stored = await readOrder(stage.database, sellerId, '1')
  expect(stored?.lines[0]?.charges).toEqual(first.value.lines[0]?.charges)
  expect(stored?.lines[0]?.units.cancelled).toBe(1)
  expect([stored?.customerPhone, stored?.customerEmail]).toEqual([first.value.customerPhone, first.value.customerEmail])
})

test('a changed header is recorded by field, without personal data', async () => {
  const sellerId = newSeller()
  const sample = orderRecord('1')
  const moved = orderRecord('1', { shippingInfo: { phone: '5550199', methodCode: 'Express' } })
  await storeOrders(stage.database, { sellerId, records: [sample], observedAt: at(1) })
  await storeOrders(stage.database, { sellerId, records: [moved], observedAt: at(2) })
  const [, change] = await readChanges(sellerId)
  expect(change).toMatchObject({
    type: 'order.changed',
    data: { before: { methodCode: 'Standard' }, after: { methodCode: 'Express' } },
  })
  expect(change?.data['fields']).toContain('customerPhone')
  expect(JSON.stringify(change)).not.toContain('5550199')
})

test('a record that differs only in unread fields is stored, but records no change', async () => {
  const sellerId = newSeller()
  await storeOrders(stage.database, { sellerId, records: [orderRecord('1')], observedAt: at(1) })
  const stored = await storeOrders(stage.database, {
    sellerId,
    records: [orderRecord('1', { novelty: true })],
    observedAt: at(2),
  })
  expect(stored.changed).toBe(1)
  expect(await readChanges(sellerId)).toHaveLength(1)
  expect((await readWithRaw(stage.database, sellerId, '1')).raw).toMatchObject({ novelty: true })
})

test('a record twice in a page is stored once, the later one', async () => {
  const sellerId = newSeller()
  const records = [1, 2].map((units) => orderWith('1', [lineWith('1', 2, [wireStatus('Shipped', units)])]))
  const stored = await storeOrders(stage.database, { sellerId, records, observedAt: at(1) })
  expect(stored).toMatchObject({ changed: 1 })
  expect((await readOrder(stage.database, sellerId, '1'))?.lines[0]?.units.shipped).toBe(2)
})

test('pages with the same new orders, stored concurrently, store each order once', async () => {
  const sellerId = newSeller()
  const records = Array.from({ length: 100 }, (_, index) => orderRecord(String(5_000 + index)))
  const pages = [records, [...records].reverse(), records.slice(50), records.slice(0, 50)]
  const stored = await Promise.all(
    pages.map((page) => storeOrders(stage.database, { sellerId, records: page, observedAt: at(1) })),
  )
  expect(stored.reduce((sum, page) => sum + page.changed, 0)).toBe(100)
  expect(stored.flatMap((page) => page.fresh.map((order) => order.purchaseOrderId)).sort()).toEqual(
    records.map((record) => record.key).sort(),
  )
  const [counts] = await (await numbered(stage.database)).query<{ orders: bigint; lines: bigint; seen: bigint }>(
    `SELECT (SELECT count(*) FROM warehouse.orders WHERE seller_id = $1) AS orders,
       (SELECT count(*) FROM warehouse.order_lines WHERE seller_id = $1) AS lines,
       (SELECT count(*) FROM warehouse.changes WHERE seller_id = $1) AS seen`,
    sellerId,
  )
  expect(counts).toEqual({ orders: 100n, lines: 300n, seen: 100n })
})

test('an order that another transaction stores between the probe and the write is found again under its lock', async () => {
  const sellerId = newSeller()
  const [older, newer] = [1, 2].map((units) => orderWith('1', [lineWith('1', 2, [wireStatus('Shipped', units)])]))
  if (older === undefined || newer === undefined) throw new Error('no records')
  const differing = await findDifferingOrders(stage.database, sellerId, [newer])
  await storeOrders(stage.database, { sellerId, records: [older], observedAt: at(1) })
  const stored = await stage.database.transaction((tx) => storeDifferingOrders(tx, sellerId, at(2), differing))
  expect(stored).toEqual({ changed: 1, fresh: [] })
  expect((await readChanges(sellerId)).map((change) => change.type)).toEqual(['order.seen', 'order_line.changed'])
})

test('storeOrder obeys the caller’s transaction', async () => {
  const sellerId = newSeller()
  const record = orderRecord('1')
  const store = (tx: Transaction) => storeOrder(tx, sellerId, at(1), record)
  await expect(
    stage.database.transaction(async (tx) => {
      await store(tx)
      throw new Error('changed my mind')
    }),
  ).rejects.toThrow('changed my mind')
  expect(await readOrder(stage.database, sellerId, '1')).toBeNull()
  expect(await readChanges(sellerId)).toEqual([])
  expect(await stage.database.transaction(store)).toMatchObject({ changed: 1 })
  expect(await stage.database.transaction(store)).toMatchObject({ changed: 0 })
})

describe('an order whose former reading is handed along', () => {
  const held = <Result>(sellerId: string, work: (tx: Transaction) => Promise<Result>) =>
    stage.database.transaction((tx) => work({ ...tx, held: { sellerId, purchaseOrderId: '1' } }))
  const buildShipped = (units: number) => orderWith('1', [lineWith('1', 3, [wireStatus('Shipped', units)])])
  /** The reading, made recognisable: its line was acknowledged ninety times. */
  const marked = async (sellerId: string) => {
    const read = await held(sellerId, (tx) => lockOrder(tx, sellerId, '1'))
    if (read === null) throw new Error('the order is not stored')
    const lines = read.value.lines.map((line) => ({ ...line, units: { ...line.units, acknowledged: 90 } }))
    return { ...read, value: { ...read.value, lines } }
  }
  const acknowledgedBefore = async (sellerId: string) =>
    (await readChanges(sellerId))
      .filter(({ type }) => type === 'order_line.changed')
      .map(({ data }) => Reflect.get(Object(data['before']), 'acknowledged'))

  test('is compared with it as long as nothing was written', async () => {
    const sellerId = newSeller()
    await storeOrders(stage.database, { sellerId, records: [buildShipped(1)], observedAt: at(1) })
    const read = await marked(sellerId)
    await held(sellerId, (tx) => storeOrder(tx, sellerId, at(2), buildShipped(2), read))
    expect(await acknowledgedBefore(sellerId)).toEqual([90])
  })

  test.each([
    [
      'another version was stored',
      (sellerId: string) => storeOrders(stage.database, { sellerId, records: [buildShipped(2)], observedAt: at(2) }),
      [1, 2],
    ],
    [
      'it was missing and is there again',
      async (sellerId: string) => {
        await stage.database.transaction((tx) => markMissingOrders(tx, sellerId, at(2), ['1']))
        await storeOrders(stage.database, { sellerId, records: [buildShipped(1)], observedAt: at(3) })
      },
      [1],
    ],
    [
      'it is missing',
      (sellerId: string) => stage.database.transaction((tx) => markMissingOrders(tx, sellerId, at(2), ['1'])),
      [1],
    ],
  ])('is read again when %s', async (_, meanwhile, before) => {
    const sellerId = newSeller()
    await storeOrders(stage.database, { sellerId, records: [buildShipped(1)], observedAt: at(1) })
    const read = await marked(sellerId)
    await meanwhile(sellerId)
    await held(sellerId, (tx) => storeOrder(tx, sellerId, at(4), buildShipped(3), read))
    expect(await acknowledgedBefore(sellerId)).toEqual(before)
  })
})

test('open orders are listed in steps; missing ones are noted once, and found again', async () => {
  const sellerId = newSeller()
  const done = orderWith('3', [lineWith('1', 2, [wireStatus('Shipped', 1), wireStatus('Cancelled', 1)])])
  const records = [orderRecord('1'), orderRecord('2'), done, orderRecord('4')]
  await storeOrders(stage.database, { sellerId, records, observedAt: at(1) })
  expect(await listOpenOrders(stage.database, sellerId, '', 2)).toEqual(['1', '2'])
  expect(await listOpenOrders(stage.database, sellerId, '2', 2)).toEqual(['4'])
  const note = () => stage.database.transaction((tx) => markMissingOrders(tx, sellerId, at(2), ['2', '9']))
  expect(await note()).toBe(1)
  expect(await note()).toBe(0)
  expect((await readChanges(sellerId)).filter((change) => change.type === 'order.missing')).toHaveLength(1)
  // The same text again: the marketplace knows it after all.
  expect((await storeOrders(stage.database, { sellerId, records, observedAt: at(3) })).changed).toBe(1)
  const [row] = await stage.database.query<{ missing: number; versions: bigint }>(
    `SELECT count(missing_since)::int AS missing, (SELECT count(*) FROM tallyman.superseded_versions WHERE seller_id = $1) AS versions
     FROM warehouse.orders WHERE seller_id = $1`,
    sellerId,
  )
  expect(row).toEqual({ missing: 0, versions: 0n })
})

test('unknown fields of the sample survive in raw', async () => {
  const sellerId = newSeller()
  await storeOrders(stage.database, {
    sellerId,
    records: [orderRecord('1', { brandNew: { deep: [1, 'two'] } })],
    observedAt: at(1),
  })
  expect((await readWithRaw(stage.database, sellerId, '1')).raw).toEqual({
    ...wireOrderSample('1'),
    brandNew: { deep: [1, 'two'] },
  })
})

test('what a view shows decides before its time: less than is known never overwrites, more is newer', async () => {
  const sellerId = newSeller()
  const view = (shipped: number) =>
    orderWith('100', [lineWith('1', 2, [wireStatus('Acknowledged', 2 - shipped), wireStatus('Shipped', shipped)])])
  const store = (shipped: number, minute: number) =>
    storeOrders(stage.database, { sellerId, records: [view(shipped)], observedAt: at(minute) })
  const shipped = async () => (await readOrder(stage.database, sellerId, '100'))?.lines[0]?.units.shipped
  await store(1, 10)
  // A list page that lags behind, although it was asked for later.
  expect((await store(0, 20)).changed).toBe(0)
  expect(await shipped()).toBe(1)
  // Another node, whose clock is behind, knows more.
  expect((await store(2, 5)).changed).toBe(1)
  expect(await shipped()).toBe(2)
  // Behind for a day, and nothing better has come: then it is believed.
  await store(0, 30)
  await stage.database.execute(
    `UPDATE warehouse.orders SET behind_since = now() - interval '2 days' WHERE seller_id = $1`,
    sellerId,
  )
  expect((await store(0, 40)).changed).toBe(1)
  expect(await shipped()).toBe(0)
  const [row] = await stage.database.query<{ behind_since: Date | null }>(
    'SELECT behind_since FROM warehouse.orders WHERE seller_id = $1',
    sellerId,
  )
  expect(row?.behind_since).toBeNull()
})

test('a stale view is cleared as soon as the marketplace shows the known state again', async () => {
  const sellerId = newSeller()
  const view = (cancelled: number) =>
    orderWith('100', [lineWith('1', 2, [wireStatus('Created', 2 - cancelled), wireStatus('Cancelled', cancelled)])])
  const store = (cancelled: number, minute: number) =>
    storeOrders(stage.database, { sellerId, records: [view(cancelled)], observedAt: at(minute) })
  const behind = async () =>
    (
      await stage.database.query<{ behind: boolean }>(
        'SELECT behind_since IS NOT NULL AS behind FROM warehouse.orders WHERE seller_id = $1',
        sellerId,
      )
    )[0]
  await store(1, 1)
  await store(0, 2)
  expect(await behind()).toEqual({ behind: true })
  await store(1, 3)
  expect(await behind()).toEqual({ behind: false })
})
