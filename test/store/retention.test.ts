import { describe, expect, test } from 'vitest'
import { takeBaseline } from '../../src/domain/commands/evidence.ts'
import { available } from '../../src/domain/orders/units.ts'
import { type RetainedData, retainedData } from '../../src/domain/sync/retention.ts'
import { acceptEvents } from '../../src/jobs/events/accept.ts'
import { raiseAlarm, resolveAlarm } from '../../src/store/alarms/alarms.ts'
import { ChangesRemoved, findFirstKeptChange, readChanges } from '../../src/store/changes/changes.ts'
import { readAttempts } from '../../src/store/commands/command-attempts.ts'
import { readLedgers } from '../../src/store/commands/command-ledgers.ts'
import { recordOrderSkus } from '../../src/store/inventory/inventory-skus.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import {
  acquirePass,
  endPass,
  readRetentionOverview,
  readTableSizes,
  removeOldData,
  renewPass,
  requestPasses,
} from '../../src/store/privacy/retention.ts'
import { dismissQuarantined, findNewlyFaulty, quarantine } from '../../src/store/sync/quarantine.ts'
import { marketplace, parts } from '../jobs/events/support.ts'
import { numbered } from '../support/changes.ts'
import { buildParcel, shipment, storeCommand } from '../support/commands.ts'
import { withDatabase } from '../support/database.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder, storeOrders } from '../support/store.ts'
import { lineWith, orderWith, wireStatus } from './support/records.ts'

const stage = withDatabase({ each: 'test' })

const sellerId = 's-1'
const dayMs = 86_400_000
const ago = (days: number): Date => new Date(Date.now() - days * dayMs)

/** Goes through a whole table; answers how many rows went. */
const removeAll = async (data: RetainedData, cutoff: Date): Promise<number> => {
  let removed = 0
  for (let page: number | null = 0; page !== null; ) {
    const step = await removeOldData(stage.database, data, cutoff, page)
    removed += step.removed
    page = step.nextPage
  }
  return removed
}

/** Ages all stored rows by this number of days. */
const age = async (table: string, days: number, ...columns: readonly string[]): Promise<void> => {
  const moved = columns.map((column) => `${column} = ${column} - make_interval(days => $1::int)`)
  await stage.database.execute(`UPDATE ${table} SET ${moved.join(', ')}`, days)
}

const counted = async (table: string, where = 'true'): Promise<number> => {
  const [row] = await stage.database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} t WHERE ${where}`)
  return row?.n ?? 0
}

describe('runs', () => {
  test('old ones go from every page of a large table, the newest of each stream stays', async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.sync_runs (seller_id, resource, stream, pages, seen, changed, quarantined, started_at, finished_at)
       SELECT 's-' || n % 50, 'orders', 'changes', 1, 0, 1, 0, t.at, t.at
       FROM generate_series(1, 20000) n, LATERAL (SELECT now() - interval '40 days' + n * interval '1 minute' AS at) t`,
    )
    const before = await readRetentionOverview(stage.database, 'runs', 30 * dayMs)
    expect(await removeAll('runs', ago(30))).toBe(before.goingRows)
    expect(before.goingRows).toBeGreaterThan(14_000)
    expect(await counted('tallyman.sync_runs', `finished_at < now() - interval '30 days 1 minute'`)).toBe(0)
    await age('tallyman.sync_runs', 100, 'finished_at')
    expect(await removeAll('runs', ago(30))).toBe(20_000 - before.goingRows - 50)
    expect(await counted('tallyman.sync_runs')).toBe(50)
  })
})

describe('attempts', () => {
  const purchaseOrderId = '4800'
  const stored = async () => {
    const found = await readOrder(stage.database, sellerId, purchaseOrderId)
    if (found === null) throw new Error('the order is not stored')
    return found
  }
  const left = async () =>
    (await readLedgers(stage.database, sellerId, await stored())).map((ledger) => [
      available(ledger, 'ship'),
      available(ledger, 'refund'),
    ])
  const attempt = async (commandId: string, number: number, outcome: string) =>
    stage.database.execute(
      `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, outcome, read_backs)
       VALUES ($1, $2::int, 'c', '{"path": "/v3/orders"}', $3::jsonb, $4, '[{"verdict": "applied"}]')`,
      commandId,
      number,
      JSON.stringify(takeBaseline(await stored())),
      outcome,
    )
  const command = (trackingNumber: string, quantity: number): Promise<string> =>
    storeCommand(stage.database, { sellerId, purchaseOrderId }, shipment(buildParcel(trackingNumber, { '1': quantity })))
  const settle = (id: string, state: string) =>
    stage.database.execute(`UPDATE tallyman.commands SET state = $2, settled_at = now() WHERE id = $1`, id, state)
  const rows = () =>
    stage.database.query(
      `SELECT c.state, a.attempt, a.request = 'null' AND a.read_backs = '[]' AS emptied FROM tallyman.command_attempts a JOIN tallyman.commands c ON c.id = a.command_id
       ORDER BY c.sequence, a.attempt`,
    )

  test('those of settled commands go, but for the baseline that units are counted from; those of open ones stay', async () => {
    const record = orderWith(purchaseOrderId, [lineWith('1', 9, [wireStatus('Acknowledged', 7), wireStatus('Shipped', 2)])])
    await storeOrders(stage.database, { sellerId, records: [record], observedAt: new Date() })
    const shipped = await command('T1', 3)
    await attempt(shipped, 1, 'not-sent')
    await attempt(shipped, 2, 'not-applied')
    await attempt(shipped, 3, 'applied')
    await settle(shipped, 'confirmed')
    const refused = await command('T2', 1)
    await attempt(refused, 1, 'refused')
    await settle(refused, 'rejected')
    const open = await command('T3', 1)
    await attempt(open, 1, 'unknown')
    await stage.database.execute(`UPDATE tallyman.commands SET state = 'held' WHERE id = $1`, open)
    await age('tallyman.command_attempts', 500, 'started_at')
    await age('tallyman.commands', 500, 'settled_at', 'updated_at', 'created_at')
    // An open command of the same order holds everything of that order.
    expect(await removeAll('attempts', ago(400))).toBe(0)
    await settle(open, 'rejected')
    const before = await left()
    await age('tallyman.commands', 500, 'settled_at')
    await raiseAlarm(stage.database, { sellerId, kind: 'command-rejected', subject: open }, 'look at it')
    expect((await readRetentionOverview(stage.database, 'attempts', 400 * dayMs)).goingRows).toBe(4)
    expect(await removeAll('attempts', ago(400))).toBe(4)
    expect(await rows()).toEqual([
      { state: 'confirmed', attempt: 3, emptied: true },
      { state: 'rejected', attempt: 1, emptied: false },
    ])
    await resolveAlarm(stage.database, { sellerId, kind: 'command-rejected', subject: open })
    expect(await removeAll('attempts', ago(400))).toBe(1)
    expect(await removeAll('attempts', ago(400))).toBe(0)
    // The order as it is stored shows two shipped units: only the baseline says that our three came on top.
    expect(before).toEqual([[4, 5]])
    expect(await left()).toEqual(before)
    expect((await readAttempts(stage.database, shipped)).map(({ baseline }) => baseline)).toEqual([takeBaseline(await stored())])
  })
})

describe('versions', () => {
  test('old ones go, but for those of an order with an open command', async () => {
    for (const note of ['a', 'b', 'c'])
      for (const id of ['1', '2']) {
        const record = orderWith(id, [lineWith('1', 1, [wireStatus('Acknowledged', 1, { note })])])
        await storeOrders(stage.database, { sellerId, records: [record], observedAt: new Date() })
      }
    await stage.database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload) VALUES ('c', 's-1', '2', 'acknowledge', 'held', '{}')`,
    )
    await age('tallyman.superseded_versions', 500, 'last_seen_at')
    expect(await counted('tallyman.superseded_versions')).toBe(4)
    expect(await removeAll('versions', ago(400))).toBe(2)
    expect(await counted('tallyman.superseded_versions', `record_key = '2'`)).toBe(2)
  })
})

describe('changes', () => {
  const recordChanges = async (count: number): Promise<void> => {
    await stage.database.transaction(async (tx) => {
      for (let n = 0; n < count; n += 1) tx.record({ sellerId, type: 'shipping_settings.missing', data: {} })
    })
    await numbered(stage.database)
  }

  test('are removed from the first on without gaps; a reader that has missed some gets an error, others continue', async () => {
    await recordChanges(6_000)
    await age('warehouse.changes', 100, 'occurred_at')
    await recordChanges(4)
    // One that is older than the one before it must not go alone.
    await stage.database.execute(`UPDATE warehouse.changes SET occurred_at = now() - interval '200 days' WHERE seq = 6002`)
    expect(await findFirstKeptChange(stage.database)).toBe(0n)
    expect(await removeOldData(stage.database, 'changes', ago(90), 0)).toEqual({ removed: 5_000, nextPage: 0 })
    expect(await removeAll('changes', ago(90))).toBe(1_000)
    expect(await removeAll('changes', ago(90))).toBe(0)
    expect(await findFirstKeptChange(stage.database)).toBe(6_000n)
    await expect(readChanges(stage.database, 0n, 10)).rejects.toThrow(ChangesRemoved)
    await expect(readChanges(stage.database, 5_999n, 10)).rejects.toThrow('changes 6000 to 6000 are no longer stored')
    expect((await readChanges(stage.database, 6_000n, 2)).changes.map(({ seq }) => seq)).toEqual([6_001n, 6_002n])
    await age('warehouse.changes', 100, 'occurred_at')
    expect(await removeAll('changes', ago(90))).toBe(4)
    expect(await readChanges(stage.database, 6_004n, 2)).toEqual({ changes: [], position: 6_004n })
    await expect(readChanges(stage.database, 6_003n, 2)).rejects.toThrow(ChangesRemoved)
    await recordChanges(1)
    expect((await readChanges(stage.database, 6_004n, 2)).changes.map(({ seq }) => seq)).toEqual([6_005n])
  })

  test('SKUs of orders are found also by who has not read the changes that went', async () => {
    const fulfilled = { shipNode: { type: 'WFSFulfilled' } }
    const bring = async (id: string, sku: string) => {
      const record = orderWith(
        id,
        [lineWith('1', 1, [wireStatus('Acknowledged', 1)], { item: { productName: sku, sku } })],
        fulfilled,
      )
      await storeOrders(stage.database, { sellerId, records: [record], observedAt: new Date() })
      await numbered(stage.database)
    }
    const skus = async () =>
      (await stage.database.query<{ sku: string }>('SELECT sku FROM tallyman.inventory_skus ORDER BY 1')).map(({ sku }) => sku)
    await bring('1', 'A')
    await age('warehouse.changes', 100, 'occurred_at')
    await removeAll('changes', ago(90))
    await bring('2', 'B')
    await recordOrderSkus(stage.database, sellerId, new Date())
    expect(await skus()).toEqual(['A', 'B'])
    await bring('3', 'C')
    await recordOrderSkus(stage.database, sellerId, new Date())
    expect(await skus()).toEqual(['A', 'B', 'C'])
  })
})

describe('events', () => {
  const credit = (id: string, quantity: number) => ({
    source: '/erp',
    id,
    type: 'erp.credit.issued',
    data: {
      sellerId,
      purchaseOrderId: '1',
      lines: [{ lineNumber: '1', quantity, reason: 'DamagedItem' }],
    },
  })

  test('a refund that is sent again after its data was removed pays nothing twice; another body under its name is rejected', async () => {
    const shop = marketplace()
    const accept = parts(stage.database, shop)
    await seedOrder(stage.database, sellerId, purchaseOrder('1', [orderLine('1', 'TEA', 5, { shipped: 5, acknowledged: 0 })]))
    const post = (event: ReturnType<typeof credit>) => acceptEvents(accept, [event], new AbortController().signal)
    const first = await post(credit('c-1', 1))
    expect(first).toMatchObject({ ok: true, receipts: [{ status: 'accepted' }] })
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', 'waits', 'erp.order.accepted', '{"purchaseOrderId": "9"}')`,
    )
    await age('tallyman.erp_event', 500, 'processed_at', 'received_at')
    expect(await removeAll('events', ago(400))).toBe(0)
    await stage.database.execute(`UPDATE tallyman.commands SET state = 'confirmed', settled_at = now()`)
    const overview = await readRetentionOverview(stage.database, 'events', 400 * dayMs)
    expect(overview).toMatchObject({ rows: 2, goingRows: 1 })
    expect(await removeAll('events', ago(400))).toBe(1)
    expect(await removeAll('events', ago(400))).toBe(0)
    expect(await stage.database.query(`SELECT id, data FROM tallyman.erp_event ORDER BY id`)).toEqual([
      { id: 'c-1', data: { sellerId, purchaseOrderId: '1' } },
      { id: 'waits', data: { purchaseOrderId: '9' } },
    ])
    const commands = first.ok ? first.receipts.map((receipt) => receipt.commands) : []
    const again = await post(credit('c-1', 1))
    expect(again).toMatchObject({ ok: true, receipts: [{ status: 'duplicate', state: 'accepted', commands: commands[0] }] })
    expect(await post(credit('c-1', 2))).toEqual({ ok: false, reason: 'conflict', indexes: [0] })
    await expect(
      stage.database.execute(
        `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', 'c-1', 'erp.credit.issued', '{}')`,
      ),
    ).rejects.toThrow()
    expect(await counted('tallyman.commands')).toBe(1)
  })

  test('a rejected one keeps its data until a person has closed its alarm', async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data, status, problem, processed_at)
       VALUES ('/erp', 'e', 'x', '{"deep": [1]}', 'rejected', '{"code": "invalid-event", "errors": [{"path": "a", "message": "b"}]}', now() - interval '500 days')`,
    )
    const alarm = { sellerId, kind: 'event-rejected', subject: '/erp e' } as const
    await raiseAlarm(stage.database, alarm, 'look')
    expect(await removeAll('events', ago(400))).toBe(0)
    await resolveAlarm(stage.database, alarm)
    expect(await removeAll('events', ago(400))).toBe(1)
    expect(await stage.database.query('SELECT data, problem FROM tallyman.erp_event')).toEqual([
      { data: {}, problem: { code: 'invalid-event', errors: [] } },
    ])
  })
})

test('alarms go when they were resolved long ago, never while they are open', async () => {
  for (const subject of ['a', 'b', 'c']) await raiseAlarm(stage.database, { sellerId, kind: 'command-held', subject }, 'look')
  await resolveAlarm(stage.database, { sellerId, kind: 'command-held', subject: 'a' })
  await age('tallyman.alarms', 500, 'raised_at', 'resolved_at')
  await resolveAlarm(stage.database, { sellerId, kind: 'command-held', subject: 'b' })
  expect(await removeAll('alarms', ago(400))).toBe(1)
  expect(await stage.database.query('SELECT subject FROM tallyman.alarms ORDER BY id')).toEqual([
    { subject: 'b' },
    { subject: 'c' },
  ])
})

test('quarantine: settled records go, open ones stay, dismissed ones stay known without their text', async () => {
  const texts = ['open', 'settled', 'dismissed']
  const records = texts.map((rawText) => ({ key: rawText, rawText, fault: 'no lines' }))
  const faulty = () => findNewlyFaulty(stage.database, sellerId, 'orders', new Date(), records)
  const fresh = await faulty()
  await stage.database.transaction((tx) => quarantine(tx, sellerId, 'orders', new Date(), fresh))
  const [dismissed] = await stage.database.query<{ id: bigint }>(
    `SELECT id FROM tallyman.quarantined_records WHERE record_key = 'dismissed'`,
  )
  await stage.database.transaction((tx) => dismissQuarantined(tx, dismissed?.id ?? 0n, { actor: 'kim', reason: 'not to be had' }))
  await stage.database.execute(`UPDATE tallyman.quarantined_records SET state = 'superseded' WHERE record_key = 'settled'`)
  await age('tallyman.quarantined_records', 500, 'last_seen_at')
  expect(await removeAll('quarantine', ago(400))).toBe(2)
  expect(await removeAll('quarantine', ago(400))).toBe(0)
  const rows = await stage.database.query('SELECT record_key, raw_text FROM tallyman.quarantined_records ORDER BY id')
  expect(rows).toEqual(
    expect.arrayContaining([
      { record_key: 'open', raw_text: 'open' },
      { record_key: 'dismissed', raw_text: '' },
    ]),
  )
  expect(rows).toHaveLength(2)
  expect((await faulty()).map(({ key }) => key)).not.toContain('dismissed')
})

test('the inventory log is removed, except what an inactive seller was compared with, and what open discrepancies need', async () => {
  const entry = (sku: string, id: string, days: number) =>
    stage.database.execute(
      `INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, changed_units, transaction_time, raw_hash, raw, observed_at, first_seen_at, changed_at)
       VALUES ('s-1', $1, $2, 1, now() - make_interval(days => $3::int), '', '{}', now(), now(), now())`,
      sku,
      id,
      days,
    )
  await stage.database.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, source, log_read_at) VALUES ('s-1', 'runs', 'orders', now()), ('s-1', 'rests', 'orders', now() - interval '600 days')`,
  )
  for (const sku of ['runs', 'rests', 'unknown', 'differs'])
    for (const days of [10, 900, 1_100]) await entry(sku, `${days}`, days)
  await stage.database.execute(
    `INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, month, kind, report_units, expected_units, log_entry_ids, log_entries, earliest_day)
     VALUES ('s-1', 'differs', date_trunc('month', (now() - interval '900 days') AT TIME ZONE 'America/Los_Angeles'), 'lost', 1, 2, '{}', 0, now()),
       ('s-1', 'differs', '2020-01-01', 'lost', 1, 2, '{1100}', 1, now())`,
  )
  expect(await removeAll('log-entries', ago(800))).toBe(5)
  const rows = await stage.database.query('SELECT sku, entry_id AS id FROM warehouse.inventory_log_entries ORDER BY 1, 2')
  expect(rows).toEqual([
    { sku: 'differs', id: '10' },
    { sku: 'differs', id: '1100' },
    { sku: 'differs', id: '900' },
    { sku: 'rests', id: '10' },
    { sku: 'rests', id: '900' },
    { sku: 'runs', id: '10' },
    { sku: 'unknown', id: '10' },
  ])
})

test('entries of an open discrepancy are kept by the month of any time zone', async () => {
  const at = ['2021-02-28T09:00Z', '2021-02-28T11:00Z', '2021-03-15T00:00Z', '2021-04-01T11:00Z', '2021-04-01T13:00Z']
  await stage.database.execute(
    `INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, changed_units, transaction_time, raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT 's-1', 'edge', t, 1, t::timestamptz, '', '{}', now(), now(), now() FROM unnest($1::text[]) AS t`,
    at,
  )
  await stage.database.execute(
    `INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, month, kind, report_units, expected_units, log_entry_ids, log_entries, earliest_day)
     VALUES ('s-1', 'edge', '2021-03-01', 'lost', 1, 2, '{}', 0, '2021-03-01')`,
  )
  expect(await removeAll('log-entries', ago(800))).toBe(2)
  const rows = await stage.database.query<{ id: string }>(
    `SELECT entry_id AS id FROM warehouse.inventory_log_entries WHERE sku = 'edge' ORDER BY 1`,
  )
  expect(rows.map(({ id }) => id)).toEqual(at.slice(1, 4))
})

test('a pass is due once a day, is taken by one process, and goes on where the one before left it', async () => {
  const take = (owner: string) => acquirePass(stage.database, 'alarms', owner, dayMs)
  const first = await take('one')
  expect(first).toMatchObject({ data: 'alarms', nextPage: 0 })
  if (first === null) throw new Error('the pass was not due')
  expect(await take('two')).toBeNull()
  const isRunning = async () => (await readRetentionOverview(stage.database, 'alarms', dayMs)).running
  expect(await renewPass(stage.database, first, { removed: 3, nextPage: 64 })).toBe(true)
  expect(await isRunning()).toBe(true)
  await stage.database.execute(`UPDATE tallyman.retention_passes SET lease_until = now() - interval '1 second'`)
  expect(await isRunning()).toBe(false)
  const second = await take('two')
  expect(second).toMatchObject({ nextPage: 64 })
  expect(await renewPass(stage.database, first, { removed: 1, nextPage: null })).toBe(false)
  if (second === null) throw new Error('the pass was not taken over')
  expect(await renewPass(stage.database, second, { removed: 2, nextPage: null })).toBe(true)
  const asked = await requestPasses(stage.database, ['alarms'])
  await endPass(stage.database, second)
  expect(await readRetentionOverview(stage.database, 'alarms', dayMs)).toMatchObject({
    lastRemoved: 5,
    running: false,
    dueAt: asked,
  })
  const third = await take('two')
  if (third === null) throw new Error('what was asked for meanwhile is not due')
  await endPass(stage.database, third)
  expect(await take('two')).toBeNull()
  const { dueAt, lastRemoved } = await readRetentionOverview(stage.database, 'alarms', dayMs)
  expect(lastRemoved).toBe(0)
  expect(Math.abs(dueAt.getTime() - Date.now() - dayMs)).toBeLessThan(60_000)
})

test('every kind is reported, also without a limit, and a large table is estimated from a sample', async () => {
  expect((await stage.database.prisma.retentionPass.findMany()).map(({ data }) => data).sort()).toEqual([...retainedData].sort())
  for (const data of retainedData) {
    expect(await readRetentionOverview(stage.database, data, null)).toMatchObject({
      data,
      goingRows: 0,
      rows: 0,
      oldest: null,
      estimated: false,
    })
    expect(await readRetentionOverview(stage.database, data, dayMs)).toMatchObject({ goingRows: 0, goingBytes: 0 })
  }
  await stage.database.execute(
    `INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
     SELECT 's-1', 'orders', n, '', jsonb_build_object('note', repeat('x', 1500)), now(), now() - (n % 2) * interval '500 days' FROM generate_series(1, 30000) n`,
  )
  await stage.database.execute('ANALYZE tallyman.superseded_versions')
  const overview = await readRetentionOverview(stage.database, 'versions', 400 * dayMs)
  expect(overview).toMatchObject({ estimated: true, oldest: expect.any(Date) })
  expect(overview.goingRows / 15_000).toBeGreaterThan(0.8)
  expect(overview.goingRows / 15_000).toBeLessThan(1.2)
  expect(overview.goingBytes / overview.bytes).toBeGreaterThan(0.4)
  expect(overview.goingBytes / overview.bytes).toBeLessThan(0.6)
  const sizes = await readTableSizes(stage.database)
  expect(sizes.find(({ table }) => table === 'tallyman.superseded_versions')).toEqual({
    table: 'tallyman.superseded_versions',
    rows: 30_000,
    bytes: overview.bytes,
  })
})

test('a step reads only its own pages', async () => {
  await stage.database.execute(
    `INSERT INTO tallyman.sync_runs (seller_id, resource, stream, pages, seen, changed, quarantined, started_at, finished_at)
     SELECT 's', 'orders', 'changes', 1, 0, 1, 0, now() - interval '40 days', now() - interval '40 days' FROM generate_series(1, 50000)`,
  )
  const { removed, nextPage } = await removeOldData(stage.database, 'runs', ago(30), 0)
  expect(nextPage).toBe(64)
  expect(removed).toBeLessThan(6_000)
  expect(removed).toBeGreaterThan(1_000)
})
