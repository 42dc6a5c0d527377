import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { bucketName } from '../../src/clients/rate-limit/budget.ts'
import { reviewAlarms } from '../../src/jobs/maintenance/review-alarms.ts'
import { raiseAlarm, recordAlarmChanges, resolveAlarm } from '../../src/store/alarms/alarms.ts'
import { readChanges } from '../../src/store/changes/changes.ts'
import { announceSellers } from '../../src/store/sellers/seller-processes.ts'
import { type Removal, type RemovalRequest, removeSeller, sellerTables } from '../../src/store/sellers/seller-removal.ts'
import {
  findRemovedSellers,
  listSellers,
  pauseSeller,
  recordSellers,
  sendSellersHeartbeat,
  stopSeller,
} from '../../src/store/sellers/sellers.ts'
import { numbered } from '../support/changes.ts'
import { acknowledgement, storeCommand } from '../support/commands.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'

const stage = withDatabase({ each: 'test' })
const mark = (sellerId: string) => ({ sellerId, credentialsFingerprint: 'one' })
beforeEach(async () => {
  await recordSellers(stage.database, [mark('S'), mark('T')])
})

const remove = (more: Partial<RemovalRequest> = {}): Promise<Removal> =>
  removeSeller(stage.database, { sellerId: 'S', reason: 'mistyped', actor: 'Ada', hasEnded: () => false, ...more })
const listed = async (removed: boolean | null = null, sellers: string | null = null) =>
  (await listSellers(stage.database, null, 10, { state: null, sellers, removed })).items.map(({ sellerId }) => sellerId)
const readRecorded = async () =>
  (await readChanges(await numbered(stage.database), 0n, 100)).changes.map(({ type, sellerId, data }) => [type, sellerId, data])
const acts = () => stage.database.prisma.auditEntry.findMany({ where: { action: 'seller.removed' }, orderBy: { id: 'asc' } })
const process = { process: 'host@mark-1-00000000', roles: ['worker'], sellerIds: ['S', 'T'], faults: [] }
const serve = () => announceSellers(stage.database, process, 0)
const withPast = () => seedOrder(stage.database, 'S', purchaseOrder('PO', [orderLine('1', 'MUG', 1)]))
const countExpression = async (table: string, sellerId = 'S'): Promise<number> =>
  (await stage.database.query(`SELECT 1 AS found FROM ${table} WHERE seller_id = $1`, sellerId)).length

/** Puts a row of this seller into any table: what the columns need, whatever it means. */
const plant = async (table: string, sellerId = 'S'): Promise<void> => {
  const columns = await stage.database.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef AND attidentity = '' AND attname <> 'seller_id'`,
    table,
  )
  const byName: Readonly<Record<string, string>> = { state: `'open'`, source: `'settings'`, kind: `'missing'` }
  const byType: Readonly<Record<string, string>> = {
    ...{ jsonb: `'{}'`, bytea: `'\\x01'`, date: `'2026-03-01'`, boolean: 'true', 'text[]': `'{}'` },
    ...{ integer: '1', bigint: '1', smallint: '1', numeric: '1', text: `'x'`, 'bigint[]': `'{}'` },
    'timestamp with time zone': 'now()',
  }
  const states: Readonly<Record<string, string>> = {
    'tallyman.commands': `'confirmed'`,
    'tallyman.sellers': `'active'`,
    'warehouse.reconciliation_reports': `'imported'`,
  }
  const names = ['seller_id', ...columns.map(({ name }) => name)]
  const values = columns.map(({ name, type }) => (name === 'state' ? states[table] : undefined) ?? byName[name] ?? byType[type])
  // Checks of what a column may say are not what is tried here.
  const checks = await stage.database.query<{ name: string }>(
    `SELECT conname AS name FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('c', 'f')`,
    table,
  )
  for (const { name } of checks) await stage.database.execute(`ALTER TABLE ${table} DROP CONSTRAINT "${name}"`)
  await stage.database.execute(`INSERT INTO ${table} (${names.join(', ')}) VALUES ($1, ${values.join(', ')})`, sellerId)
}

test('every table with a seller is either its past, or goes with it, or stays on purpose', async () => {
  const rows = await stage.database.query<{ name: string }>(
    `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'seller_id' AND NOT a.attisdropped
     WHERE n.nspname IN ('warehouse', 'tallyman') AND c.relkind IN ('r', 'p') ORDER BY 1`,
  )
  expect(Object.values(sellerTables).flat().sort()).toEqual(rows.map(({ name }) => name))
})

test('a seller without a past is deleted with all its rows, and the feed contains its alarms', async () => {
  for (const sellerId of ['S', 'T'])
    for (const table of sellerTables.bookkeeping.filter((table) => !/alarms|sellers/.test(table))) await plant(table, sellerId)
  await stopSeller(stage.database, { ...mark('S'), resumes: 0 }, 'correct them')
  await recordAlarmChanges(stage.database)
  const ended = { sellerId: 'S', kind: 'report-faulty', subject: '2026-03' } as const
  await stage.database.transaction(async (tx) => {
    await raiseAlarm(tx, ended, 'a column is missing')
    await resolveAlarm(tx, ended)
  })
  const operation = ordersEndpoint.operations.get
  const budgets = ['S', 'S2'].map((sellerId) => bucketName({ sellerId, operation, scope: null }))
  for (const name of budgets)
    await stage.database.execute(
      `INSERT INTO tallyman.rate_limits (name, version, state, changed_at) VALUES ($1, 1, '', now())`,
      name,
    )

  expect(await remove()).toEqual({ outcome: 'deleted' })
  for (const table of sellerTables.bookkeeping) expect([table, await countExpression(table)]).toEqual([table, 0])
  for (const table of sellerTables.bookkeeping.filter((table) => table !== 'tallyman.alarms'))
    expect([table, await countExpression(table, 'T')]).toEqual([table, 1])
  expect(await stage.database.query('SELECT name FROM tallyman.rate_limits')).toEqual([{ name: budgets[1] }])
  expect(await listed()).toEqual(['T'])
  expect((await readRecorded()).map(([type, sellerId]) => [type, sellerId])).toEqual([
    ['seller.stopped', 'S'],
    ['alarm.raised', 'S'],
    ['alarm.resolved', 'S'],
    ['alarm.raised', 'S'],
    ['alarm.resolved', 'S'],
    ['seller.removed', 'S'],
  ])
  expect((await readRecorded()).at(-1)?.[2]).toEqual({ actor: 'Ada', reason: 'mistyped', deleted: true })
  expect(await acts()).toMatchObject([
    { actor: 'Ada', sellerId: 'S', subject: 'S', reason: 'mistyped', details: { deleted: true, alarms: 1 } },
  ])
  // There is nothing to remove any more, and nothing happens.
  expect(await remove()).toEqual({ outcome: 'unknown' })
  expect(await acts()).toHaveLength(1)
})

test.each(sellerTables.past)('a row of %s is a past, which hides the seller', async (table) => {
  await plant(table)
  await stage.database.execute(`UPDATE tallyman.erp_event SET status = 'accepted'`)
  expect(await remove()).toMatchObject({ outcome: 'hidden' })
  expect(await countExpression(table)).toBe(1)
  expect(await listed()).toEqual(['T'])
})

test('an event that names the seller in its data alone is a past', async () => {
  await stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data, status) VALUES ('/erp', '1', 'x', '{"sellerId": "S"}', 'rejected')`,
  )
  expect(await remove()).toMatchObject({ outcome: 'hidden' })
})

describe('a seller with a past', () => {
  beforeEach(withPast)

  test('is hidden, found by name, and closed for alarms; a second removal changes nothing', async () => {
    await stage.database.transaction((tx) =>
      raiseAlarm(tx, { sellerId: 'S', kind: 'report-faulty', subject: '2026-03' }, 'a column'),
    )
    const first = await remove()
    expect(first).toEqual({ outcome: 'hidden', removedAt: expect.any(Date) })
    expect([await listed(), await listed(true), await listed(null, 'S'), await listed(false, 'S')]).toEqual([
      ['T'],
      ['S'],
      ['S'],
      [],
    ])
    expect([...(await findRemovedSellers(stage.database))]).toEqual(['S'])
    expect(await stage.database.prisma.alarm.findMany()).toMatchObject([
      { resolvedBy: 'Ada', resolvedReason: 'mistyped', told: 2 },
    ])
    expect((await readRecorded()).at(-1)).toEqual(['seller.removed', 'S', { actor: 'Ada', reason: 'mistyped', deleted: false }])
    const before = (await readRecorded()).length
    expect(await remove({ actor: 'Ben' })).toEqual(first)
    expect(await readRecorded()).toHaveLength(before)
    expect((await listSellers(stage.database, null, 10, { state: null, sellers: 'S', removed: null })).items).toMatchObject([
      { removedBy: 'Ada' },
    ])
    expect(await countExpression('warehouse.orders')).toBe(1)
  })

  test.each(['start', 'settings'] as const)('comes back when a process loads it (%s), paused if it was paused', async (by) => {
    await pauseSeller(stage.database, { sellerId: 'S', actor: 'Ada', reason: 'stock-taking' })
    await remove()
    await recordSellers(stage.database, [mark('S')], by)
    expect((await listSellers(stage.database, null, 1)).items).toMatchObject([
      { sellerId: 'S', state: 'paused', reason: 'stock-taking', removedAt: null, removedBy: null },
    ])
    expect((await readRecorded()).at(-1)).toEqual(['seller.returned', 'S', { by }])
    // Once is reported once.
    await recordSellers(stage.database, [mark('S')], by)
    expect((await readRecorded()).filter(([type]) => type === 'seller.returned')).toHaveLength(1)
  })

  test('that was stopped is tried anew when it comes back', async () => {
    await stopSeller(stage.database, { ...mark('S'), resumes: 0 }, 'correct them')
    await remove()
    expect((await listSellers(stage.database, null, 1, { state: null, sellers: 'S', removed: true })).items).toMatchObject([
      { state: 'active', reason: null, since: null, probeAt: null },
    ])
  })

  test('raises no alarm about what is left of it', async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
       SELECT 'S', 'orders', decode(lpad(to_hex(n), 8, '0'), 'hex'), '{}', 'no lines', now() FROM generate_series(1, 200) AS n`,
    )
    const review = () => reviewAlarms({ database: stage.database, streams: [], sellerIds: [], findNow: () => null, upForMs: 0 })
    await review()
    const isOpen = { resolvedAt: null, sellerId: 'S', kind: 'quarantine-growing' }
    expect(await stage.database.prisma.alarm.count({ where: isOpen })).toBe(1)
    await remove()
    await review()
    expect(await stage.database.prisma.alarm.count({ where: isOpen })).toBe(0)
  })
})

describe('a removal is refused', () => {
  test('while a process serves the seller, until its row is old or it is known to have ended', async () => {
    await serve()
    expect(await remove()).toEqual({ outcome: 'served', by: [process.process] })
    expect(await acts()).toEqual([])
    await stage.database.execute(`UPDATE tallyman.seller_processes SET said_at = now() - interval '2 minutes'`)
    expect(await remove({ sellerId: 'T' })).toEqual({ outcome: 'deleted' })
    await serve()
    expect(await remove({ hasEnded: (name) => name === process.process })).toEqual({ outcome: 'deleted' })
  })

  test('while commands, events and readings are not settled, with how many', async () => {
    await withPast()
    for (const state of ['pending', 'sending', 'verifying', 'held', 'confirmed', 'rejected']) {
      const id = await storeCommand(stage.database, { sellerId: 'S', purchaseOrderId: 'PO' }, acknowledgement)
      await stage.database.execute('UPDATE tallyman.commands SET state = $2 WHERE id = $1', id, state)
    }
    for (const [id, column] of [
      ['1', `'S'`],
      ['2', 'NULL'],
    ])
      await stage.database.execute(
        `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id) VALUES ('/erp', $1, 'x', '{"sellerId": "S"}', ${column})`,
        id,
      )
    await stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, lease_until) VALUES ('S', 'orders', 'released', now() + interval '1 minute'),
         ('S', 'orders', 'sweep', now() - interval '1 minute')`,
    )
    const work = { commands: 4, unknown: 2, held: 1, events: 2, readings: 1 }
    expect(await remove()).toEqual({ outcome: 'unsettled', work })
    expect(await listed()).toEqual(['S', 'T'])
    await stage.database.execute(`UPDATE tallyman.commands SET state = 'rejected'`)
    await stage.database.execute(`UPDATE tallyman.erp_event SET status = 'rejected'`)
    expect(await remove()).toMatchObject({ outcome: 'unsettled', work: { commands: 0, events: 0, readings: 1 } })
    await stage.database.execute(`UPDATE tallyman.sync_states SET lease_until = now() - interval '1 second'`)
    expect(await remove()).toMatchObject({ outcome: 'hidden' })
  })
})

describe('a process that loads the seller at the same time', () => {
  const load = (inSameTransaction: () => Promise<void> = async () => undefined) =>
    recordSellers(stage.database, [mark('S'), mark('T')], 'settings', async (tx) => {
      await announceSellers(tx, process, 0)
      await inSameTransaction()
    })
  const waiting = () =>
    eventually(async () =>
      expect(
        await stage.database.query(
          `SELECT 1 AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
      ).not.toEqual([]),
    )

  test.each([true, false])('is first: the removal waits, and finds it served (with a past: %s)', async (hasPast) => {
    if (hasPast) await withPast()
    let removal: Promise<Removal> | undefined
    await load(async () => {
      removal = remove()
      await waiting()
    })
    expect(await removal).toEqual({ outcome: 'served', by: [process.process] })
    expect(await listed()).toEqual(['S', 'T'])
  })

  test.each([true, false])('is second: it waits, and takes the seller in anew (with a past: %s)', async (hasPast) => {
    if (hasPast) await withPast()
    const alarm = { sellerId: 'S', kind: 'report-faulty', subject: '2026-03' } as const
    await stage.database.transaction((tx) => raiseAlarm(tx, alarm, 'a column is missing'))
    // Holds the removal up once it has the seller's row.
    const holder = new pg.Client({ connectionString: stage.url })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM tallyman.alarms FOR UPDATE')
    const removal = remove()
    await waiting()
    const loaded = load()
    await eventually(async () =>
      expect(
        await stage.database.query(
          `SELECT 1 AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
             AND query LIKE '%FOR KEY SHARE%'`,
        ),
      ).toHaveLength(1),
    )
    await holder.query('COMMIT')
    await holder.end()
    expect(await removal).toMatchObject({ outcome: hasPast ? 'hidden' : 'deleted' })
    await loaded
    expect(await listed()).toEqual(['S', 'T'])
    expect(await remove()).toMatchObject({ outcome: 'served' })
  })

  test('never ends with a seller that is served and removed, whoever is first', async () => {
    const outcomes = new Set<string>()
    for (let round = 0; round < 30; round += 1) {
      await stage.database.execute('DELETE FROM tallyman.seller_processes')
      if (round === 15) await withPast()
      const [removal] = await Promise.all(round % 2 === 0 ? [remove(), load(), load()] : [load().then(() => remove()), load()])
      outcomes.add(removal.outcome)
      expect([round, await listed()]).toEqual([round, ['S', 'T']])
    }
    expect(outcomes).toContain('served')
  })

  test('and that sent no heartbeat for long learns that its sellers were removed', async () => {
    await withPast()
    await remove()
    await remove({ sellerId: 'T' })
    expect(await sendSellersHeartbeat(stage.database, ['S', 'T'])).toEqual({ at: expect.any(Date), removed: ['S', 'T'] })
    await load()
    expect(await sendSellersHeartbeat(stage.database, ['S', 'T'])).toMatchObject({ removed: [] })
    expect(await listed()).toEqual(['S', 'T'])
  })
})
