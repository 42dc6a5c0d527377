import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { claimWindows } from '../../src/domain/inventory/claim-states.ts'
import { type AlarmParts, reviewAlarms } from '../../src/jobs/maintenance/review-alarms.ts'
import { tryLockReview } from '../../src/store/alarms/alarm-conditions.ts'
import { closeAlarm, countOpenAlarms, raiseAlarm, resolveAlarm, silenceAlarm } from '../../src/store/alarms/alarms.ts'
import { readChanges } from '../../src/store/changes/changes.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'

const stage = withDatabase({ each: 'test' })
const hour = 3_600_000
const placedAt = Date.parse('2026-03-01T10:00:00Z')

/** A seller and how far its marketplace's clock is from the moment at which its orders were placed. */
const look = (afterMs: number, more: Partial<AlarmParts> = {}) =>
  reviewAlarms({
    database: stage.database,
    streams: [],
    sellerIds: ['s-1'],
    findNow: () => new Date(placedAt + afterMs),
    upForMs: 30 * 24 * hour,
    ...more,
  })

const open = async () =>
  (
    await stage.database.prisma.alarm.findMany({ where: { resolvedAt: null }, orderBy: [{ sellerId: 'asc' }, { kind: 'asc' }] })
  ).map(({ sellerId, kind, subject, count, dueAt }) => [sellerId, kind, subject, count, dueAt?.toISOString() ?? null])
const told = async () =>
  (await readChanges(await numbered(stage.database), 0n, 1_000)).changes
    .filter(({ type }) => type.startsWith('alarm.'))
    .map(({ sellerId, type, data }) => ({ sellerId, type, ...Object(data) }))

beforeEach(async () => {
  await recordSellers(stage.database, [
    { sellerId: 's-1', credentialsFingerprint: 'x' },
    { sellerId: 's-2', credentialsFingerprint: 'x' },
  ])
})

const fresh = { acknowledged: 0 }

describe('deadlines of orders', () => {
  test('are one alarm for each seller, with their number and the earliest, and end with their cause', async () => {
    for (const id of ['1', '2', '3']) await seedOrder(stage.database, 's-1', purchaseOrder(id, [orderLine('1', 'MUG', 2, fresh)]))
    await seedOrder(stage.database, 's-2', purchaseOrder('9', [orderLine('1', 'MUG', 2, fresh)]))
    // Nothing is due two hours after the order, with two more to acknowledge it in.
    expect(await look(2 * hour)).toEqual({ opened: 0, resolved: 0 })
    expect(await look(3.5 * hour)).toEqual({ opened: 2, resolved: 0 })
    const due = '2026-03-01T14:00:00.000Z'
    expect(await open()).toEqual([
      ['s-1', 'acknowledge-deadline', 'orders', 3, due],
      ['s-2', 'acknowledge-deadline', 'orders', 1, due],
    ])
    // What is as it was is not written again.
    const version = () =>
      stage.database.query<{ id: bigint; xmin: string }>('SELECT id, xmin::text FROM tallyman.alarms ORDER BY id')
    const before = await version()
    expect(await look(3.5 * hour)).toEqual({ opened: 0, resolved: 0 })
    expect(await version()).toEqual(before)

    await stage.database.execute(
      `UPDATE warehouse.order_lines SET acknowledged = ordered WHERE seller_id = 's-2' OR purchase_order_id = '1'`,
    )
    expect(await look(5 * hour)).toEqual({ opened: 0, resolved: 1 })
    expect(await open()).toEqual([['s-1', 'acknowledge-deadline', 'orders', 2, due]])
    expect((await stage.database.prisma.alarm.findFirst({ where: { resolvedAt: null } }))?.message).toContain(
      '2 of them too late already',
    )
  })

  test('ship-by and the cancellation by the marketplace count open orders of the seller only', async () => {
    const { marketplace } = stage.database.findVocabulary('s-1').shipNodes
    await seedOrder(stage.database, 's-1', purchaseOrder('open', [orderLine('1', 'MUG', 2)]))
    await seedOrder(stage.database, 's-1', purchaseOrder('shipped', [orderLine('1', 'MUG', 2, { shipped: 2 })]))
    await seedOrder(stage.database, 's-1', purchaseOrder('theirs', [orderLine('1', 'MUG', 2)], { shipNodeType: marketplace }))
    await seedOrder(stage.database, 's-1', purchaseOrder('gone', [orderLine('1', 'MUG', 2)]))
    await stage.database.execute(`UPDATE warehouse.orders SET missing_since = now() WHERE purchase_order_id = 'gone'`)
    await look(45 * hour)
    expect(await open()).toEqual([])
    await look(47 * hour)
    expect(await open()).toEqual([['s-1', 'ship-by', 'orders', 1, '2026-03-03T10:00:00.000Z']])
    await look(48 * hour + 3 * 24 * hour + hour)
    expect(await open()).toEqual([
      ['s-1', 'auto-cancel', 'orders', 1, '2026-03-07T10:00:00.000Z'],
      ['s-1', 'ship-by', 'orders', 1, '2026-03-03T10:00:00.000Z'],
    ])
  })

  test('of a seller that nobody serves any more are over', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'MUG', 2, fresh)]))
    await look(5 * hour)
    await stage.database.execute(`UPDATE tallyman.sellers SET served_at = now() - interval '1 hour' WHERE seller_id = 's-1'`)
    expect(await look(5 * hour)).toEqual({ opened: 0, resolved: 1 })
  })

  test('are read from indexes of what is open, not from the orders', async () => {
    await stage.database.execute(
      `INSERT INTO warehouse.orders (seller_id, purchase_order_id, order_date, estimated_ship_date, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
       SELECT 's-1', n::text, now(), now(), n % 100 = 0, '\\x00', '{}', now(), now(), now() FROM generate_series(1, 20000) n`,
    )
    await stage.database.execute('VACUUM ANALYZE warehouse.orders')
    const plan = await stage.database.query<Record<string, string>>(
      `EXPLAIN SELECT count(*) FROM warehouse.orders o WHERE o.seller_id = 's-1' AND o.open AND o.missing_since IS NULL
         AND o.ship_node_type IS DISTINCT FROM 'x' AND o.estimated_ship_date < now()`,
    )
    expect(JSON.stringify(plan)).toContain('orders_open_to_ship')
  })
})

describe('other conditions', () => {
  test('a stream is behind after five of its intervals, unless its process has just come up, its seller rests, or it is being read', async () => {
    const stream = { sellerId: 's-1', resource: 'orders', stream: 'changed', everyMs: 10 * 60_000 }
    await stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_success_at, last_error)
       VALUES ('s-1', 'orders', 'changed', now() - interval '51 minutes', 'HTTP 503')`,
    )
    const behind = async (more: Partial<AlarmParts> = {}) => {
      await look(0, { streams: [stream], ...more })
      return (await open()).map(([, kind, subject]) => `${kind} ${subject}`)
    }
    expect(await behind({ upForMs: 40 * 60_000 })).toEqual([])
    expect(await behind({ streams: [{ ...stream, everyMs: 11 * 60_000 }] })).toEqual([])
    expect(await behind()).toEqual(['sync-behind orders/changed'])
    // A process that does not run the stream knows nothing of it.
    expect(await behind({ streams: [], sellerIds: [] })).toEqual(['sync-behind orders/changed'])
    await stage.database.execute(`UPDATE tallyman.sync_states SET lease_until = now() + interval '1 minute'`)
    expect(await behind()).toEqual([])
    await stage.database.execute('UPDATE tallyman.sync_states SET lease_until = NULL')
    expect(await behind()).toEqual(['sync-behind orders/changed'])
    await stage.database.execute(`UPDATE tallyman.sellers SET state = 'stopped'`)
    expect(await behind()).toEqual([])
  })

  test('a named order that is not stored after an hour raises an alarm, which closes when it is stored or explained', async () => {
    const { database } = stage
    await database.execute(
      `INSERT INTO tallyman.named_orders (seller_id, purchase_order_id, source, named_at, state, asks, ask_again_at)
       SELECT CASE WHEN n < 9 THEN 's-1' ELSE 's-2' END, '10' || n, 'returns', now() - interval '1 hour' * CASE WHEN n = 8 THEN 0.9 ELSE 1.1 END,
         'missing', 1, now() FROM generate_series(1, 9) n`,
    )
    const named = async () => {
      await look(0)
      const alarms = (await open()).filter(([, kind]) => kind === 'order-missing')
      return alarms.map(([sellerId, , subject, count]) => `${sellerId} ${subject} ${count}`)
    }
    expect(await named()).toEqual(['s-1 orders 7', 's-2 orders 1'])
    const [row] = await database.query<{ message: string }>(
      `SELECT message FROM tallyman.alarms WHERE kind = 'order-missing' AND seller_id = 's-1'`,
    )
    expect(row?.message).toMatch(/^7 orders not stored, the first named at .*: 101, 102, 103, 104, 105 and 2 more$/)
    await database.execute(`UPDATE tallyman.named_orders SET state = 'explained' WHERE seller_id = 's-1'`)
    expect(await named()).toEqual(['s-2 orders 1'])
    await database.execute(
      `INSERT INTO warehouse.orders (seller_id, purchase_order_id, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
       VALUES ('s-2', '109', true, '', '{}', now(), now(), now())`,
    )
    expect(await named()).toEqual([])
  })

  test('quarantine that grows, differences worth much, campaigns out of budget or time, and paused webhooks are told of', async () => {
    const { database } = stage
    await database.execute(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at)
       SELECT CASE WHEN n <= 10 THEN 's-1' ELSE 's-2' END, 'orders', 'po-' || n, decode(lpad(n::text, 40, '0'), 'hex'), '{}', 'no lines', now() FROM generate_series(1, 19) n`,
    )
    await database.execute(
      `INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, month, kind, report_units, expected_units, log_entry_ids, log_entries, earliest_day, value, currency)
       SELECT 's-1', 'SKU' || n, '2026-02-01', 'lost', 1, 2, '{}', 0, '2026-02-01', 250, CASE WHEN n <= 2 THEN 'USD' ELSE 'EUR' END FROM generate_series(1, 3) n`,
    )
    await database.execute(
      `INSERT INTO warehouse.stock_differences (seller_id, sku, counted_units, balance_units, as_of, opening_units, opening_at, value, currency, first_seen_at)
       SELECT seller, 'SKU' || n, 1, 2, now(), 2, now(), 250, 'USD', now() - since FROM generate_series(1, 2) n,
         (VALUES ('s-1', interval '25 hours'), ('s-2', interval '23 hours')) AS t(seller, since)`,
    )
    await database.execute(
      `INSERT INTO warehouse.campaigns (seller_id, campaign_id, status, end_date, raw_hash, raw, observed_at, first_seen_at, changed_at)
       SELECT 's-1', id, status, ends, '\\x00', '{}', now(), now(), now() FROM (VALUES ('A', 'BUDGET_EXHAUSTED', NULL::date),
         ('B', 'RUNNING', current_date + 1), ('C', 'RUNNING', current_date + 30), ('D', 'COMPLETED', current_date), ('E', 'CAMPAIGN_ENDING_SOON', NULL)) c(id, status, ends)`,
    )
    await database.execute(
      `INSERT INTO tallyman.watched_campaigns (seller_id, campaign_id) SELECT 's-1', unnest(ARRAY['A', 'B', 'C', 'D', 'E'])`,
    )
    await database.execute(
      `INSERT INTO tallyman.webhook_endpoints (id, url, state, position, state_since) VALUES
         ('wh_1', 'https://a.example', 'paused', 0, now() - interval '2 hours'), ('wh_2', 'https://a.example', 'paused', 0, now())`,
    )
    await look(0)
    expect((await open()).map(([sellerId, kind, subject, count]) => `${sellerId} ${kind} ${subject} ${count}`)).toEqual([
      ' webhook-paused wh_1 null',
      's-1 campaign-budget A null',
      's-1 campaign-ending B null',
      's-1 campaign-ending E null',
      's-1 discrepancy-value USD 2',
      's-1 order-unreadable orders 10',
      's-1 quarantine-growing quarantine 10',
      's-1 stock-difference-value USD 2',
      's-2 order-unreadable orders 9',
    ])
    await database.execute(
      `UPDATE warehouse.inventory_discrepancies SET state = 'resolved', resolved_at = now(), resolution = 'agrees'`,
    )
    await database.execute(
      `UPDATE warehouse.stock_differences SET state = 'resolved', resolved_at = now(), resolution = 'agrees' WHERE seller_id = 's-1'`,
    )
    await database.execute(`UPDATE tallyman.quarantined_records SET state = 'dismissed' WHERE seller_id = 's-1'`)
    await database.execute(`UPDATE warehouse.campaigns SET status = 'COMPLETED'`)
    await database.execute(`UPDATE tallyman.webhook_endpoints SET state = 'active'`)
    expect(await look(0)).toEqual({ opened: 0, resolved: 8 })
  })

  test('claims that expire soon are one alarm for each seller; those past their deadline expire', async () => {
    const { database } = stage
    const days = 24 * hour
    await database.execute(
      `INSERT INTO warehouse.claims (seller_id, sku, month, kind, units, certainty)
       SELECT 's-1', sku, date_trunc('month', now())::date - make_interval(months => months), 'lost', 2, 'reported'
       FROM (VALUES ('A', 2), ('B', 2), ('C', 1), ('D', 8)) AS t(sku, months)`,
    )
    // The end of the month before last is 31 to 62 days ago, and that of last month at most 31.
    expect(await look(0, { claimWindows: { ...claimWindows, inventoryMs: 63 * days, returnsMs: days } })).toMatchObject({
      opened: 1,
    })
    const states = () => database.query<{ sku: string; state: string }>(`SELECT sku, state FROM warehouse.claims ORDER BY sku`)
    expect((await states()).map(({ sku, state }) => `${sku} ${state}`)).toContain('D expired')
    await database.execute(`UPDATE warehouse.claims SET state = 'filed' WHERE state = 'open'`)
    expect(await look(0, { claimWindows: { ...claimWindows, inventoryMs: 63 * days, returnsMs: days } })).toEqual({
      opened: 0,
      resolved: 1,
    })
    // What was filed does not expire.
    expect(await look(0, { claimWindows: { ...claimWindows, inventoryMs: days, returnsMs: days } })).toEqual({
      opened: 0,
      resolved: 0,
    })
    expect((await states()).filter(({ state }) => state === 'filed')).toHaveLength(3)
  })

  test('one process looks at a time', async () => {
    await stage.database.transaction(async (tx) => {
      expect(await tryLockReview(tx)).toBe(true)
      expect(await look(0)).toBeNull()
    })
    expect(await look(0)).not.toBeNull()
  })
})

describe('the feed and people', () => {
  const key = { sellerId: 's-1', kind: 'command-rejected', subject: 'c-1' } as const
  const by = { actor: 'kim' }
  const findId = async () => (await stage.database.prisma.alarm.findFirstOrThrow({ orderBy: { id: 'desc' } })).id

  test('every alarm is reported once when it opens and once when it ends, whoever raised it, without its message', async () => {
    await raiseAlarm(stage.database, { ...key, kind: 'command-held', subject: 'c-1' }, 'the buyer Ada Byron')
    await raiseAlarm(stage.database, { sellerId: 'named-by-erp', kind: 'event-rejected', subject: '/ada 1' }, 'wrong')
    await look(0)
    await look(0)
    await resolveAlarm(stage.database, { ...key, kind: 'command-held', subject: 'c-1' })
    await raiseAlarm(stage.database, { ...key, kind: 'sync-failing', subject: 'short' }, 'x')
    await resolveAlarm(stage.database, { ...key, kind: 'sync-failing', subject: 'short' })
    await look(0)
    const changes = await told()
    expect(changes.map(({ sellerId, type, kind, subject }) => [sellerId, type, kind, subject])).toEqual([
      ['s-1', 'alarm.raised', 'command-held', 'c-1'],
      // Neither the seller nor the id that an ERP has made up: an erasure could not take them out again.
      ['', 'alarm.raised', 'event-rejected', null],
      ['s-1', 'alarm.resolved', 'command-held', 'c-1'],
      ['s-1', 'alarm.raised', 'sync-failing', 'short'],
      ['s-1', 'alarm.resolved', 'sync-failing', 'short'],
    ])
    expect(JSON.stringify(changes)).not.toMatch(/Byron|ada/)
  })

  test('a person resolves what is past, with a reason, and the feed says who', async () => {
    await raiseAlarm(stage.database, key, 'look')
    const id = await findId()
    expect(await closeAlarm(stage.database, { id, by, reason: 'sent again' })).toBe('closed')
    expect(await closeAlarm(stage.database, { id, by, reason: null })).toBe('not-closable')
    expect(await stage.database.prisma.alarm.findUnique({ where: { id } })).toMatchObject({
      resolvedBy: 'kim',
      resolvedReason: 'sent again',
    })
    await look(0)
    expect((await told()).map(({ type, by: who }) => [type, who])).toEqual([
      ['alarm.raised', undefined],
      ['alarm.resolved', 'kim'],
    ])
    expect(await stage.database.prisma.auditEntry.findMany({ where: { action: 'alarm.closed' } })).toMatchObject([
      { actor: 'kim', reason: 'sent again', subject: String(id) },
    ])
  })

  test('a silenced alarm stays open, is counted apart, and stays silenced when it comes back', async () => {
    const until = new Date(Date.now() + hour)
    await raiseAlarm(stage.database, { ...key, kind: 'sync-failing' }, 'look')
    const id = await findId()
    expect(await silenceAlarm(stage.database, { id, by, reason: 'known', until })).toBe('silenced')
    expect(await countOpenAlarms(stage.database)).toEqual([{ kind: 'sync-failing', open: 0, silenced: 1 }])
    await resolveAlarm(stage.database, { ...key, kind: 'sync-failing' })
    expect(await silenceAlarm(stage.database, { id, by, reason: 'known', until })).toBe('not-open')
    expect(await silenceAlarm(stage.database, { id: 999n, by, reason: 'known', until })).toBe('not-found')
    await raiseAlarm(stage.database, { ...key, kind: 'sync-failing' }, 'look')
    await raiseAlarm(stage.database, { ...key, kind: 'sync-failing', subject: 'another' }, 'look')
    expect(await countOpenAlarms(stage.database)).toEqual([{ kind: 'sync-failing', open: 1, silenced: 1 }])
    await silenceAlarm(stage.database, { id: await findId(), by, reason: 'over', until: new Date(0) })
    expect(await countOpenAlarms(stage.database)).toEqual([{ kind: 'sync-failing', open: 1, silenced: 1 }])
    expect((await told()).map(({ type }) => type)).toEqual(['alarm.raised', 'alarm.silenced', 'alarm.raised', 'alarm.silenced'])
  })
})

test('whoever holds an old snapshot is one alarm, told without a query, until the transaction ends', async () => {
  const holder = new pg.Client({ connectionString: stage.url, application_name: 'report' })
  await holder.connect()
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const { rows } = await holder.query<{ pid: number; by: string }>('SELECT pg_backend_pid() AS pid, current_user::text AS by')
  const { pid, by } = rows[0] ?? { pid: 0, by: '' }
  // It is not old yet.
  expect(await look(0)).toEqual({ opened: 0, resolved: 0 })
  expect(await look(0, { snapshotHeldMs: 1 })).toEqual({ opened: 1, resolved: 0 })
  expect(await look(0, { snapshotHeldMs: 1 })).toEqual({ opened: 0, resolved: 0 })
  expect(await open()).toEqual([['', 'snapshot-held', `session ${pid}`, null, null]])
  const alarm = await stage.database.prisma.alarm.findFirst({ where: { resolvedAt: null } })
  expect(alarm?.message).toMatch(
    new RegExp(`^the session ${pid} \\(of ${by}, application report\\) holds an old snapshot since 20\\S+Z: vacuum cannot`),
  )
  await holder.query('COMMIT')
  expect(await look(0, { snapshotHeldMs: 1 })).toEqual({ opened: 0, resolved: 1 })
  await holder.end()
})
