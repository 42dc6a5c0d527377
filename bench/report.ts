/**
 * The inventory reconciliation report: from the sandbox over HTTP into Postgres, by the sync engine, in one process beside the sandbox's.
 * `node bench/report.ts [rows]`; prints rate and peak memory of a first import, and of the same report a day later, of which little has changed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { createInProcessBudget } from '../src/clients/budget.ts'
import { createMarketplaceClient } from '../src/clients/client.ts'
import { specification } from '../src/clients/profiles/index.ts'
import { pacificMonth } from '../src/domain/pacific-time.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { requestBackfill, runSync } from '../src/jobs/sync/syncs.ts'
import { openDatabase } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { startTestSandbox } from '../test/support/sandbox.ts'

const rows = Number(process.argv[2] ?? 200_000)
const sellerId = 'sandbox-seller'
const dayMs = 86_400_000

const run = async (): Promise<void> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-bench-'))
  const [server, sandbox] = await Promise.all([
    startEmbeddedPostgres({ dataDir: folder, say: () => undefined }),
    startTestSandbox(),
  ])
  await migrate(server.url)
  const database = openDatabase({ url: server.url, connections: 4 })
  const client = createMarketplaceClient(
    {
      sellerId,
      clientId: 'sandbox-client',
      clientSecret: 'sandbox-secret',
      profile: specification,
      marketplaceUrl: sandbox.url,
      display: null,
      headerPrefix: specification.headerPrefix,
      quantityField: specification.quantityField,
      serviceName: 'Tallyman bench',
      tokenPath: specification.tokenPath,
      requestTimeoutMs: 60_000,
    },
    {
      budget: createInProcessBudget({
        limits: { ...specification.rateLimits, 'reconciliation.report': { tokens: 1_000, perMs: 1_000 } },
      }),
      log: { debug: () => undefined, warn: () => undefined },
    },
  )
  let peakBytes = 0
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss)
  }, 50)
  const walPosition = async (): Promise<bigint> => {
    const [row] = await database.query<{ bytes: bigint }>(`SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS bytes`)
    return row?.bytes ?? 0n
  }
  const lastMonth = new Date(Date.now() - 31 * dayMs)
  const range = { from: lastMonth, to: new Date(lastMonth.getTime() + 1_000) }
  const pass = async (label: string): Promise<void> => {
    await database.execute('CHECKPOINT')
    peakBytes = process.memoryUsage().rss
    const idleBytes = peakBytes
    const walBefore = await walPosition()
    const key = await requestBackfill(database, { sellerId, resource: 'reconciliation', range })
    const started = performance.now()
    const options = { signal: new AbortController().signal, log: pino({ level: 'warn' }) }
    const deps = { database, client: () => client, owner: 'bench' }
    for (let ended = false; !ended; ) {
      const outcome = await runSync(deps, key, options)
      ended = 'done' in outcome
      if ('runAgainAt' in outcome && outcome.reason === 'throttled') throw new Error('the report may not be asked for yet')
    }
    const seconds = (performance.now() - started) / 1_000
    const [report] = await database.query<{ row_count: number; changed_count: number; byte_count: bigint }>(
      'SELECT row_count, changed_count, byte_count FROM warehouse.reconciliation_reports ORDER BY id DESC LIMIT 1',
    )
    console.log(
      `${label}: ${report?.row_count} rows (${report?.changed_count} written), ${(Number(report?.byte_count ?? 0) / 1e6).toFixed(1)} MB, in ${seconds.toFixed(1)} s, ` +
        `${Math.round((report?.row_count ?? 0) / seconds)} rows/s; memory ${Math.round(idleBytes / 1e6)} MB before, peak ${Math.round(peakBytes / 1e6)} MB; ` +
        `WAL ${(Number((await walPosition()) - walBefore) / 1e6).toFixed(2)} MB`,
    )
  }
  try {
    await sandbox.control('POST', '/inventory', { skus: rows, entriesPerSku: 1, replace: true })
    await pass(`${pacificMonth(lastMonth)}, first import`)
    await database.execute('VACUUM ANALYZE')
    await sandbox.control('POST', '/clock', { advance: '2h' })
    // Any answer tells what time it is at the marketplace.
    await client.orders.get('none', { signal: new AbortController().signal })
    await pass(`${pacificMonth(lastMonth)}, the same again`)
  } finally {
    clearInterval(watch)
    await client.close()
    await database.close()
    await Promise.all([server.stop(), sandbox.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}

await run()
