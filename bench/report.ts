/**
 * The inventory reconciliation report: from the sandbox over HTTP into Postgres, by the sync engine, in one process beside the sandbox's.
 * `node bench/report.ts [rows]`; prints rate and peak memory of a first import, and of the same report two hours later. Memory is the daemon's only
 * with the settings that `npm start` gives V8.
 */

import { rm } from 'node:fs/promises'
import { pino } from 'pino'
import { ordersEndpoint } from '../src/clients/marketplace/orders/orders.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { requestBackfill, runSync } from '../src/jobs/sync/engine/syncs.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { startTestSandbox } from '../test/support/sandbox.ts'
import { findVocabulary, pacificMonth } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, forgetPeak, residentMb } from './measure.ts'
import { createSandboxClient } from './sandbox-client.ts'

const { rows } = benchOptions({ rows: 200_000 }, { inOrder: true }).numbers
const sellerId = 'sandbox-seller'
const dayMs = 86_400_000

interface Pass {
  readonly rowsPerSecond: number
  readonly aboveIdleMb: number
}

const run = async (): Promise<{ readonly first: Pass; readonly again: Pass }> => {
  const folder = await benchFolder()
  const [server, sandbox] = await Promise.all([
    startEmbeddedPostgres({ dataDir: folder, say: () => undefined }),
    startTestSandbox(),
  ])
  await migrate(server.url)
  const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })
  const client = createSandboxClient(sandbox.url, { 'reconciliation.report': { tokens: 1_000, perMs: 1_000 } })
  const walPosition = async (): Promise<bigint> => {
    const [row] = await database.query<{ bytes: bigint }>(`SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS bytes`)
    return row?.bytes ?? 0n
  }
  const lastMonth = new Date(Date.now() - 31 * dayMs)
  const range = { from: lastMonth, to: new Date(lastMonth.getTime() + 1_000) }
  const pass = async (label: string): Promise<Pass> => {
    await database.execute('CHECKPOINT')
    await forgetPeak(process.pid)
    const idle = await residentMb(process.pid)
    const walBefore = await walPosition()
    const key = await requestBackfill(database, { sellerId, resource: 'reconciliation', range })
    const started = performance.now()
    const options = { signal: new AbortController().signal, log: pino({ level: 'warn' }) }
    const deps = { database, client: () => client, owner: 'bench' }
    for (let ended = false; !ended; ) {
      const outcome = await runSync(deps, key, options)
      ended = 'done' in outcome
      if ('runAgainAt' in outcome && outcome.reason === 'throttled') throw new Error('the report may not be requested yet')
    }
    const seconds = (performance.now() - started) / 1_000
    const aboveIdleMb = (await residentMb(process.pid)).peak - idle.now
    const [report] = await database.query<{ row_count: number; changed_count: number; byte_count: bigint }>(
      'SELECT row_count, changed_count, byte_count FROM warehouse.reconciliation_reports ORDER BY id DESC LIMIT 1',
    )
    console.log(
      `${label}: ${report?.row_count} rows (${report?.changed_count} written), ${(Number(report?.byte_count ?? 0) / 1e6).toFixed(1)} MB, in ${seconds.toFixed(1)} s, ` +
        `${Math.round((report?.row_count ?? 0) / seconds)} rows/s; memory ${Math.round(idle.now)} MB before, ${Math.round(aboveIdleMb)} MB more at its peak; ` +
        `WAL ${(Number((await walPosition()) - walBefore) / 1e6).toFixed(2)} MB`,
    )
    return { rowsPerSecond: (report?.row_count ?? 0) / seconds, aboveIdleMb }
  }
  try {
    await sandbox.control('POST', '/inventory', { skus: rows, entriesPerSku: 1, replace: true })
    const first = await pass(`${pacificMonth(lastMonth)}, first import`)
    await database.execute('VACUUM ANALYZE')
    await sandbox.control('POST', '/clock', { advance: '2h' })
    // Any answer tells what time it is at the marketplace.
    await client.of(ordersEndpoint).get('none', { signal: new AbortController().signal })
    const again = await pass(`${pacificMonth(lastMonth)}, the same again`)
    return { first, again }
  } finally {
    await client.close()
    await database.close()
    await Promise.all([server.stop(), sandbox.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}

const passes = await run()
process.send?.(passes)
