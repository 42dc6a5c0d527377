/**
 * The inventory log: entries of many SKUs from the sandbox over HTTP into Postgres, by the sync engine in one process beside the
 * sandbox's; then the same once more, when nothing has changed. Memory is the daemon's only with the settings that `npm start` gives V8:
 * `node --max-semi-space-size=16 --initial-old-space-size=32 --heap-growing-percent=60 bench/inventory-log.ts [--skus 2000] [--entries 50]`
 */

import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { runSync } from '../src/jobs/sync/engine/syncs.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { recordConfiguredSkus } from '../src/store/inventory/inventory-skus.ts'
import { startTestSandbox } from '../test/support/sandbox.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, forgetPeak, residentMb, walBytes } from './measure.ts'
import { createSandboxClient } from './sandbox-client.ts'

const { skus, entries: entriesPerSku } = benchOptions({ skus: 2_000, entries: 50 }).numbers
const entries = skus * entriesPerSku
const sellerId = 'sandbox-seller'
const key = { sellerId, resource: 'inventory-log', stream: 'due' }
const idleMs = 2_000

/** What one scan of all SKUs took. */
interface Pass {
  readonly seconds: number
  readonly calls: number
  readonly written: number
  readonly aboveIdleMb: number
  readonly processorMsPerCall: number
  readonly walKb: number
}

const measure = async (): Promise<readonly [Pass, Pass]> => {
  const folder = await benchFolder()
  const shutdownHooks: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
    shutdownHooks.push(() => server.stop())
    const sandbox = await startTestSandbox()
    shutdownHooks.push(() => sandbox.stop())
    await migrate(server.url)
    const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })
    shutdownHooks.push(() => database.close())
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    shutdownHooks.push(() => admin.end())
    let calls = 0
    const plenty = { tokens: 10_000_000, perMs: 1_000 }
    const client = createSandboxClient(
      sandbox.url,
      { token: plenty, 'inventory-log.list': plenty },
      {
        onRequest: ({ operation }) => {
          if (operation === 'inventory-log.list') calls += 1
        },
      },
    )
    shutdownHooks.push(() => client.close())
    await sandbox.control('POST', '/inventory', { skus, entriesPerSku, replace: true })
    const { items } = (await sandbox.control('GET', '/inventory?limit=10000')) as { items: { sku: string }[] }
    await recordConfiguredSkus(database, [{ sellerId, skus: items.map(({ sku }) => sku) }])

    const options = { signal: new AbortController().signal, log: pino({ level: 'warn' }) }
    const deps = { database, client: () => client, owner: 'bench' }
    const pass = async (): Promise<Pass> => {
      await admin.query('VACUUM (ANALYZE)')
      await admin.query('CHECKPOINT')
      await delay(idleMs)
      const { now: idleMb } = await residentMb(process.pid)
      await forgetPeak(process.pid)
      const walBefore = await walBytes(admin)
      const callsBefore = calls
      const cpuBefore = process.cpuUsage()
      const started = performance.now()
      for (let ended = false; !ended; ) ended = 'done' in (await runSync(deps, key, options))
      const seconds = (performance.now() - started) / 1_000
      const { user, system } = process.cpuUsage(cpuBefore)
      const { peak } = await residentMb(process.pid)
      const wal = (await walBytes(admin)) - walBefore
      const { rows } = await admin.query<{ written: number }>('SELECT sum(changed)::int AS written FROM tallyman.sync_runs')
      await admin.query('TRUNCATE tallyman.sync_runs')
      const made = calls - callsBefore
      return {
        seconds,
        calls: made,
        written: rows[0]?.written ?? 0,
        aboveIdleMb: peak - idleMb,
        processorMsPerCall: (user + system) / 1_000 / made,
        walKb: wal / 1e3,
      }
    }
    const first = await pass()
    const second = await pass()
    const stored = await admin.query<{ count: number }>('SELECT count(*)::int AS count FROM warehouse.inventory_log_entries')
    if (stored.rows[0]?.count !== entries || first.written !== entries || second.written !== 0)
      throw new Error(`not all entries came, or too many: ${JSON.stringify({ first, second, stored: stored.rows })}`)
    return [first, second]
  } finally {
    for (const close of shutdownHooks.reverse()) await close()
  }
}

const [first, second] = await measure()
const row = ({ seconds, calls, aboveIdleMb, processorMsPerCall, walKb }: Pass) => ({
  'entries/s': Math.round(entries / seconds),
  'calls/s': Math.round(calls / seconds),
  calls,
  'memory above idle, MB': Math.round(aboveIdleMb),
  'ms of processor time a call': processorMsPerCall.toFixed(2),
  'WAL, kB': Math.round(walKb),
})
console.log(`${skus} SKUs with ${entriesPerSku} entries each`)
console.table({ 'first pass': row(first), 'second pass, nothing changed': row(second) })
process.send?.({
  entriesPerSecond: entries / first.seconds,
  callsPerSecond: second.calls / second.seconds,
  aboveIdleMb: first.aboveIdleMb,
})
