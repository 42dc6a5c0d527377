/**
 * The whole path: the sandbox over HTTP, the daemon, Postgres, each a process of its own. Loads orders by a backfill, twice, and then stores the
 * same orders straight from memory, for comparison. Linux only (memory and processor time are read from /proc).
 * `node bench/backfill.ts [--orders 20000] [--rounds 1]`; prints medians.
 */

import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { parseOrder } from '../src/clients/marketplace/orders/order-record.ts'
import type { PurchaseOrder } from '../src/domain/orders/order.ts'
import { intervalSettings } from '../src/domain/sync/intervals.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import type { StorableRecord } from '../src/store/versioned/versions.ts'
import { startTestDaemon, type TestDaemon } from '../test/support/daemon.ts'
import { startTestSandbox, type TestSandbox } from '../test/support/sandbox.ts'
import { storeOrders } from '../test/support/store.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, daemonFlags, forgetPeak, median, processorMs, residentMb, walBytes } from './measure.ts'

const { orders, rounds } = benchOptions({ orders: 20_000, rounds: 1 }).numbers
const pageSize = 200
const placedAtOnce = 20_000
const dayMs = 86_400_000
const idleMs = 10_000
const longestPassMs = 1_800_000
/** Orders stored from memory: enough for a rate, few enough to be held. */
const heldOrders = Math.min(orders, 20_000)

/** What one round of this benchmark measured; rates are orders a second. */
interface Figures {
  readonly first: number
  readonly unchanged: number
  readonly storePath: number
  readonly idleMb: number
  readonly peakFirstMb: number
  readonly peakUnchangedMb: number
  readonly walFirst: number
  readonly walUnchanged: number
  readonly walIdleForAsLong: number
  readonly daemonMsPerOrder: number
  readonly sandboxMsPerOrder: number
  readonly postgresMsPerOrder: number
  readonly bytesPerOrder: number
}

const syncsSchema = z.object({
  items: z.array(
    z.object({
      stream: z.string(),
      windowsPending: z.number(),
      running: z.boolean(),
      lastSuccessAt: z.string().nullable(),
      lastError: z.string().nullable(),
      totals: z.object({ seen: z.number(), changed: z.number(), quarantined: z.number() }),
    }),
  ),
})

const findStream = async (daemon: TestDaemon) => {
  const { items } = syncsSchema.parse((await daemon.call('GET', '/v1/syncs?limit=200')).body)
  return items.find(({ stream }) => stream.startsWith('backfill:'))
}

/** Runs the backfill; answers its time in seconds. */
const backfill = async (daemon: TestDaemon, range: { from: string; to: string }, changed: number): Promise<number> => {
  const before = (await findStream(daemon))?.lastSuccessAt ?? null
  const started = performance.now()
  const asked = await daemon.call('POST', '/v1/syncs/orders/run', range)
  if (asked.status !== 202) throw new Error(`the backfill was not taken: ${JSON.stringify(asked.body)}`)
  for (;;) {
    const sync = await findStream(daemon)
    const seconds = (performance.now() - started) / 1_000
    if (sync !== undefined && sync.windowsPending === 0 && !sync.running && sync.lastSuccessAt !== before) {
      const { totals } = sync
      // An order on the border of two windows is seen in both.
      if (totals.seen < orders || totals.changed !== changed || totals.quarantined !== 0)
        throw new Error(`not all orders came, or the wrong ones: ${JSON.stringify(totals)}`)
      return seconds
    }
    if (sync?.lastError != null) throw new Error(`the backfill failed: ${sync.lastError}`)
    if (seconds * 1_000 > longestPassMs) throw new Error('the backfill does not end')
    await delay(50)
  }
}

const place = async (sandbox: TestSandbox): Promise<{ from: string; to: string }> => {
  const now = Date.now()
  const from = new Date(now - 30 * dayMs)
  const to = new Date(now - 7 * dayMs)
  for (let left = orders; left > 0; left -= placedAtOnce) {
    const count = Math.min(left, placedAtOnce)
    // Static orders: the second pass must find the same data as the first.
    await sandbox.placeRandom(count, { alive: false, createdFrom: from.toISOString(), createdTo: to.toISOString() })
  }
  return { from: new Date(now - 31 * dayMs).toISOString(), to: new Date(now - 6 * dayMs).toISOString() }
}

/** Stores the same orders from memory, on one connection as the backfill does; answers orders a second. */
const storeFromMemory = async (admin: pg.Client, emptyUrl: string): Promise<number> => {
  const { rows } = await admin.query<{ raw: string }>(
    'SELECT raw::text AS raw FROM warehouse.orders ORDER BY order_date LIMIT $1',
    [heldOrders],
  )
  const records = rows.map(({ raw }): StorableRecord<PurchaseOrder> => {
    const record = parseOrder(raw)
    if (!record.ok) throw new Error(`a stored order cannot be read: ${record.fault}`)
    return record
  })
  await migrate(emptyUrl)
  const database = openDatabase({ findVocabulary, url: emptyUrl, connections: 1 })
  try {
    const started = performance.now()
    for (let at = 0; at < records.length; at += pageSize)
      await storeOrders(database, { sellerId: 'bench', records: records.slice(at, at + pageSize), observedAt: new Date() })
    return records.length / ((performance.now() - started) / 1_000)
  } finally {
    await database.close()
  }
}

const measure = async (): Promise<Figures> => {
  const folder = await benchFolder()
  const shutdownHooks: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
    shutdownHooks.push(() => server.stop())
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    shutdownHooks.push(() => admin.end())
    const sandbox = await startTestSandbox()
    shutdownHooks.push(() => sandbox.stop())
    const range = await place(sandbox)
    const daemon = await startTestDaemon(
      {
        DATABASE_URL: server.url,
        DATA_DIR: `${folder}/daemon`,
        MARKETPLACE_URL: sandbox.url,
        SELLER_ID: 'sandbox-seller',
        CLIENT_ID: 'sandbox-client',
        CLIENT_SECRET: 'sandbox-secret',
        // Orders alone: the settlements and the log of so many orders would be read beside them.
        ...Object.fromEntries(intervalSettings.map(({ variable }) => [variable, 'off'])),
      },
      daemonFlags,
    )
    shutdownHooks.push(() => daemon.program.stop())
    const pids = [daemon.program.child.pid, sandbox.program.child.pid, server.pid()].map((pid) => pid ?? 0)
    const [daemonPid = 0] = pids
    const times = () => Promise.all(pids.map(processorMs))

    await delay(idleMs / 4)
    const { now: idleMb } = await residentMb(daemonPid)
    await forgetPeak(daemonPid)
    const before = await times()
    const walBefore = await walBytes(admin)
    const firstSeconds = await backfill(daemon, range, orders)
    const after = await times()
    const walFirst = (await walBytes(admin)) - walBefore
    const { peak: peakFirstMb } = await residentMb(daemonPid)
    const [daemonMsPerOrder = 0, sandboxMsPerOrder = 0, postgresMsPerOrder = 0] = after.map(
      (ms, index) => (ms - (before[index] ?? 0)) / orders,
    )

    // Background work of Postgres after a load must not be measured.
    await admin.query('VACUUM (ANALYZE)')
    await admin.query('CHECKPOINT')
    await forgetPeak(daemonPid)
    // The first change of a page after a checkpoint writes the whole page: the idle time comes first and pays for the queues' pages.
    const walIdleBefore = await walBytes(admin)
    await delay(idleMs)
    const walUnchangedBefore = await walBytes(admin)
    const unchangedSeconds = await backfill(daemon, range, 0)
    const walUnchanged = (await walBytes(admin)) - walUnchangedBefore
    const { peak: peakUnchangedMb } = await residentMb(daemonPid)
    const walIdle = walUnchangedBefore - walIdleBefore

    const size = await admin.query<{ bytes: string }>(
      'SELECT avg(length(raw::text)) AS bytes FROM (SELECT raw FROM warehouse.orders LIMIT 1000) o',
    )
    await daemon.program.stop()
    await admin.query('CREATE DATABASE memory')
    return {
      first: orders / firstSeconds,
      unchanged: orders / unchangedSeconds,
      storePath: await storeFromMemory(admin, server.url.replace(/\/tallyman$/, '/memory')),
      idleMb,
      peakFirstMb,
      peakUnchangedMb,
      walFirst,
      walUnchanged,
      walIdleForAsLong: (walIdle * unchangedSeconds * 1_000) / idleMs,
      daemonMsPerOrder,
      sandboxMsPerOrder,
      postgresMsPerOrder,
      bytesPerOrder: Number(size.rows[0]?.bytes),
    }
  } finally {
    for (const close of shutdownHooks.reverse()) await close()
  }
}

const all: Figures[] = []
for (let round = 0; round < rounds; round += 1) all.push(await measure())
const of = (pick: (figures: Figures) => number): number => median(all.map(pick))
const kB = (bytes: number): string => `${(bytes / 1e3).toFixed(0)} kB`
const mb = (megabytes: number): string => `${megabytes.toFixed(0)} MB`

console.log(
  `${orders} orders of ${Math.round(of((f) => f.bytesPerOrder))} bytes, ${pageSize} a page; medians of ${rounds} rounds`,
)
console.table({
  'first load': { value: `${Math.round(of((f) => f.first))} orders/s` },
  'store path alone, same orders from memory': { value: `${Math.round(of((f) => f.storePath))} orders/s` },
  'first load to store path': { value: median(all.map((f) => f.first / f.storePath)).toFixed(2) },
  'unchanged pass': { value: `${Math.round(of((f) => f.unchanged))} orders/s` },
  'memory of the idle daemon': { value: mb(of((f) => f.idleMb)) },
  'highest above idle, first load': { value: mb(median(all.map((f) => f.peakFirstMb - f.idleMb))) },
  'highest above idle, unchanged pass': { value: mb(median(all.map((f) => f.peakUnchangedMb - f.idleMb))) },
  'WAL of the first load': { value: `${(of((f) => f.walFirst) / 1e6).toFixed(1)} MB` },
  'WAL of the unchanged pass': { value: kB(of((f) => f.walUnchanged)) },
  'WAL of an idle daemon in that time': { value: kB(of((f) => f.walIdleForAsLong)) },
  'processor time an order: daemon, sandbox, Postgres': {
    value: `${[of((f) => f.daemonMsPerOrder), of((f) => f.sandboxMsPerOrder), of((f) => f.postgresMsPerOrder)]
      .map((ms) => ms.toFixed(2))
      .join(', ')} ms`,
  },
})
process.send?.({
  firstToStorePath: median(all.map((f) => f.first / f.storePath)),
  first: of((f) => f.first),
  unchanged: of((f) => f.unchanged),
  aboveIdleMb: median(all.map((f) => Math.max(f.peakFirstMb, f.peakUnchangedMb) - f.idleMb)),
  walUnchangedBytes: median(all.map((f) => f.walUnchanged - f.walIdleForAsLong)),
})
