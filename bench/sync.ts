/**
 * The whole path: orders from the sandbox over HTTP into Postgres, by the sync engine's backfill, in one process beside the sandbox's.
 * `node bench/sync.ts [orders]`; prints rate, peak memory, and the writes of an unchanged second pass.
 */

import { rm } from 'node:fs/promises'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { requestBackfill, runSync } from '../src/jobs/sync/engine/syncs.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { startTestSandbox, type TestSandbox } from '../test/support/sandbox.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions } from './measure.ts'
import { createSandboxClient } from './sandbox-client.ts'

const { orders } = benchOptions({ orders: 20_000 }, { inOrder: true }).numbers
const sellerId = 'sandbox-seller'
const dayMs = 86_400_000
const range = { from: new Date(Date.now() - 170 * dayMs), to: new Date(Date.now() - dayMs) }

const place = async (sandbox: TestSandbox): Promise<void> => {
  const within = { createdFrom: range.from.toISOString(), createdTo: range.to.toISOString(), alive: false }
  for (let placed = 0; placed < orders; placed += 5_000) await sandbox.placeRandom(Math.min(5_000, orders - placed), within)
}

const run = async (): Promise<void> => {
  const folder = await benchFolder()
  const [server, sandbox] = await Promise.all([
    startEmbeddedPostgres({ dataDir: folder, say: () => undefined }),
    startTestSandbox(),
  ])
  await migrate(server.url)
  const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })
  const client = createSandboxClient(sandbox.url, {
    'orders.list': { tokens: 10_000_000, perMs: 1_000 },
    token: { tokens: 1_000, perMs: 1_000 },
  })
  const walPosition = async (): Promise<bigint> => {
    const [row] = await database.query<{ bytes: bigint }>(`SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS bytes`)
    return row?.bytes ?? 0n
  }
  let peakBytes = 0
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss)
  }, 50)
  const pass = async (label: string): Promise<void> => {
    await database.execute('CHECKPOINT')
    peakBytes = process.memoryUsage().rss
    const idleBytes = peakBytes
    const walBefore = await walPosition()
    const key = await requestBackfill(database, { sellerId, resource: 'orders', range })
    const started = performance.now()
    const cpuBefore = process.cpuUsage()
    const options = { signal: new AbortController().signal, log: pino({ level: 'warn' }) }
    const deps = { database, client: () => client, owner: 'bench' }
    for (let ended = false; !ended; ) ended = 'done' in (await runSync(deps, key, options))
    const seconds = (performance.now() - started) / 1_000
    const cpu = process.cpuUsage(cpuBefore)
    const [counts] = await database.query<{ seen: number; changed: number; pages: number }>(
      `SELECT sum(seen)::int AS seen, sum(changed)::int AS changed, sum(pages)::int AS pages FROM tallyman.sync_runs`,
    )
    await database.execute('TRUNCATE tallyman.sync_runs')
    console.log(
      `${label}: ${counts?.seen} orders (${counts?.changed} written) in ${seconds.toFixed(1)} s and ${counts?.pages} pages, ` +
        `${Math.round((counts?.seen ?? 0) / seconds)}/s; ${((cpu.user + cpu.system) / 1_000 / (counts?.seen ?? 1)).toFixed(2)} ms of CPU an order; memory ${Math.round(idleBytes / 1e6)} MB before, peak ${Math.round(peakBytes / 1e6)} MB; ` +
        `WAL ${(Number((await walPosition()) - walBefore) / 1e6).toFixed(3)} MB`,
    )
  }
  try {
    await place(sandbox)
    await pass('first load')
    // What a first load leaves for later (hint bits under checksums) is not the second pass's doing.
    await database.execute('VACUUM')
    await pass('second pass')
  } finally {
    clearInterval(watch)
    await client.close()
    await database.close()
    await Promise.all([server.stop(), sandbox.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}

await run()
