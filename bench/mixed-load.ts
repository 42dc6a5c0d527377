/**
 * A large report is imported while orders are polled every two seconds, the inventory log is read and people use the API: the sandbox, the daemon and
 * Postgres are processes of their own. `node bench/mixed-load.ts [--rows 300000] [--orders 5]`; `orders` are placed every second. Prints the time of the
 * import, the longest gap between polls, and the answers of the API meanwhile.
 */

import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { startTestDaemon } from '../test/support/daemon.ts'
import { startTestSandbox } from '../test/support/sandbox.ts'
import { pacificMonth } from '../test/support/vocabulary.ts'
import { answerMs } from './answer-times.ts'
import { benchFolder, benchOptions, daemonFlags, forgetPeak, percentile, processorMs, residentMb } from './measure.ts'

const { rows, orders } = benchOptions({ rows: 300_000, orders: 5 }).numbers
const dayMs = 86_400_000
const apiPauseMs = 50
const claimsPauseMs = 1_000
const settleMs = 5_000
const progressEveryMs = 10_000
const longestImportMs = 1_800_000

const lastMonth = new Date(Date.now() - 31 * dayMs)
const month = pacificMonth(lastMonth)
const api = ['/v1/orders?sort=-orderDate&limit=50', '/v1/overview', '/v1/syncs', '/v1/commands?limit=50', '/v1/alarms']

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
  await sandbox.control('POST', '/inventory', { skus: rows, entriesPerSku: 1, replace: true })
  const daemon = await startTestDaemon(
    {
      DATABASE_URL: server.url,
      DATA_DIR: `${folder}/daemon`,
      MARKETPLACE_URL: sandbox.url,
      SELLER_ID: 'sandbox-seller',
      CLIENT_ID: 'sandbox-client',
      CLIENT_SECRET: 'sandbox-secret',
      POLL_ORDERS: '2s',
      POLL_INVENTORY_LOG: '10s',
    },
    daemonFlags,
  )
  shutdownHooks.push(() => daemon.program.stop())
  const pids = { daemon: daemon.program.child.pid ?? 0, sandbox: sandbox.program.child.pid ?? 0, postgres: server.pid() ?? 0 }
  const processorTimes = () => Promise.all(Object.values(pids).map(processorMs))
  await delay(settleMs)
  await forgetPeak(pids.daemon)

  const load = new AbortController()
  const [apiMs, claimsMs]: [number[], number[]] = [[], []]
  const during = async (work: () => Promise<void>): Promise<void> => {
    while (!load.signal.aborted) await work()
  }
  const started = performance.now()
  const before = await processorTimes()
  const { rows: clock } = await admin.query<{ now: Date }>('SELECT now() AS now')
  const beganAt = clock[0]?.now
  const loads = Promise.all([
    during(async () => {
      await sandbox.placeRandom(orders)
      await delay(1_000)
    }),
    during(async () => {
      for (const path of api) {
        apiMs.push(await answerMs(`${daemon.url}${path}`))
        await delay(apiPauseMs)
      }
    }),
    during(async () => {
      claimsMs.push(await answerMs(`${daemon.url}/v1/claims?month=${month}`))
      await delay(claimsPauseMs)
    }),
  ])
  const range = { from: lastMonth.toISOString(), to: new Date(lastMonth.getTime() + 1_000).toISOString() }
  const asked = await daemon.call('POST', '/v1/syncs/reconciliation/run', range)
  if (asked.status !== 202) throw new Error(`the import was not accepted: ${JSON.stringify(asked.body)}`)

  const findImport = async (): Promise<{ readonly seen: number; readonly imported: boolean }> => {
    const found = await admin.query<{ seen: number; imported: boolean }>(
      `SELECT coalesce((SELECT (totals ->> 'seen')::int FROM tallyman.sync_states WHERE resource = 'reconciliation' AND stream LIKE 'backfill%'), 0) AS seen,
         EXISTS (SELECT 1 FROM warehouse.reconciliation_reports WHERE state = 'imported') AS imported`,
    )
    return found.rows[0] ?? { seen: 0, imported: false }
  }
  for (let [printedMs, printed] = [started, 0]; ; ) {
    const { seen, imported } = await findImport()
    const nowMs = performance.now()
    if (nowMs - printedMs >= progressEveryMs || imported) {
      const rate = (seen - printed) / ((nowMs - printedMs) / 1_000)
      console.log(`${((nowMs - started) / 1_000).toFixed(0)} s: ${seen} rows, ${Math.round(rate)} rows/s`)
      printedMs = nowMs
      printed = seen
    }
    if (imported) break
    if (nowMs - started > longestImportMs) throw new Error('the import does not end')
    await delay(250)
  }
  const importSeconds = (performance.now() - started) / 1_000
  const after = await processorTimes()
  load.abort()
  await loads
  const polls = await admin.query<{ gap: number | null; polls: number }>(
    `SELECT max(extract(epoch FROM started_at - before))::float AS gap, count(*)::int AS polls
     FROM (SELECT started_at, lag(started_at) OVER (ORDER BY started_at) AS before FROM tallyman.sync_runs
       WHERE resource = 'orders' AND stream = 'released' AND started_at >= $1) r`,
    [beganAt],
  )
  const { peak } = await residentMb(pids.daemon)
  const shares = Object.keys(pids).map((name, place) => {
    const usedMs = (after[place] ?? 0) - (before[place] ?? 0)
    return `${name} ${(usedMs / 1_000 / importSeconds).toFixed(2)}`
  })
  const { gap = null, polls: count = 0 } = polls.rows[0] ?? {}
  // During a short import fewer than two polls begin: then the gap is at most the whole import.
  const longestGapSeconds = gap ?? importSeconds
  const apiP99Ms = percentile(apiMs, 0.99)
  const slowestClaimsMs = Math.max(...claimsMs)
  console.table({
    'import of the report': { value: `${importSeconds.toFixed(0)} s, ${Math.round(rows / importSeconds)} rows/s` },
    'longest gap between polls of orders': {
      value: `${gap === null ? 'at most ' : ''}${longestGapSeconds.toFixed(1)} s of ${count} polls`,
    },
    'answers of the API, median and p99': {
      value: `${percentile(apiMs, 0.5).toFixed(0)} and ${apiP99Ms.toFixed(0)} ms of ${apiMs.length}`,
    },
    'claims of the month, median and slowest': {
      value: `${percentile(claimsMs, 0.5).toFixed(0)} and ${slowestClaimsMs.toFixed(0)} ms`,
    },
    'cores used': { value: shares.join(', ') },
    'peak of the resident memory of the daemon': { value: `${peak.toFixed(0)} MB` },
  })
  process.send?.({ rowsPerSecond: rows / importSeconds, longestGapSeconds, apiP99Ms, slowestClaimsMs })
} finally {
  for (const close of shutdownHooks.reverse()) await close()
}
