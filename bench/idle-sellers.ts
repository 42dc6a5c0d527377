/**
 * What sellers cost of whom there is nothing new: a daemon polls the orders of all of them at the ordinary interval, from a marketplace whose lists
 * are empty. Transactions and WAL of Postgres, processor time and memory, a minute and a seller. Linux only.
 * `node bench/idle-sellers.ts [--sellers 1000] [--minutes 1] [--queues postgres|redis] [--settle 90]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { startTestDaemon } from '../test/support/daemon.ts'
import { startTestRedis } from '../test/support/redis.ts'
import { benchFolder, benchOptions, daemonFlags, processorMs, residentMb, walBytes } from './measure.ts'

const { numbers, queues } = benchOptions({ sellers: 1_000, minutes: 1, settle: 90 }, { queues: true })
const { sellers, minutes } = numbers
/** Streams begin spread over their interval, and go over to their places in it. */
const settleMs = numbers.settle * 1_000

const portSchema = z.object({ port: z.number() })
const gapsSchema = z.object({ longestMs: z.number(), requests: z.number(), lists: z.number() })
const committedSchema = z.array(z.object({ committed: z.string(), fullPages: z.string() })).min(1)

const folder = await benchFolder()
const shutdownHooks: (() => Promise<unknown> | unknown)[] = [() => rm(folder, { recursive: true, force: true })]
try {
  const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
  shutdownHooks.push(() => server.stop())
  const postgresPid = server.pid() ?? 0
  await migrate(server.url)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  shutdownHooks.push(() => client.end())

  const stub = fork(path.join(import.meta.dirname, 'idle-stub.ts'))
  shutdownHooks.push(() => stub.disconnect())
  const [said]: unknown[] = await once(stub, 'message')
  const { port } = portSchema.parse(said)
  const askGaps = async () => {
    const answer = once(stub, 'message')
    stub.send('gaps')
    const [gaps]: unknown[] = await answer
    return gapsSchema.parse(gaps)
  }

  const redis = queues === 'redis' ? await startTestRedis() : null
  if (redis !== null) shutdownHooks.push(() => redis.stop())
  const file = path.join(folder, 'sellers.json')
  const ids = Array.from({ length: sellers }, (_, index) => `idle-${index}`)
  await writeFile(file, JSON.stringify({ sellers: ids.map((id) => ({ sellerId: id, clientId: id, clientSecret: 'bench' })) }))
  const daemon = await startTestDaemon(
    {
      DATABASE_URL: server.url,
      MARKETPLACE_URL: `http://127.0.0.1:${port}`,
      SELLERS_FILE: file,
      POLL_ORDERS: '1m',
      POLL_ORDER_SWEEP: 'off',
      REREAD_EVERY: 'off',
      POLL_RETURNS: 'off',
      POLL_SHIPPING_SETTINGS: 'off',
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
    },
    daemonFlags,
  )
  shutdownHooks.push(() => daemon.program.kill())
  const daemonPid = daemon.program.child.pid ?? 0
  await delay(settleMs)

  const read = async () => {
    const { rows } = await client.query(
      `SELECT xact_commit + xact_rollback AS committed, wal_fpi AS "fullPages" FROM pg_stat_database, pg_stat_wal WHERE datname = current_database()`,
    )
    const [counted] = committedSchema.parse(rows)
    return {
      transactions: Number(counted?.committed),
      fullPages: Number(counted?.fullPages),
      wal: await walBytes(client),
      daemonMs: await processorMs(daemonPid),
      postgresMs: await processorMs(postgresPid),
      atMs: performance.now(),
    }
  }
  await askGaps()
  const before = await read()
  await delay(minutes * 60_000)
  const after = await read()
  const { longestMs, requests, lists } = await askGaps()
  const passedMinutes = (after.atMs - before.atMs) / 60_000
  const each = (total: number): number => total / passedMinutes / sellers
  const core = (ms: number): number => ms / (after.atMs - before.atMs)
  const { now } = await residentMb(daemonPid)
  const measured = {
    queues,
    sellers,
    transactionsEach: each(after.transactions - before.transactions),
    walBytesEach: each(after.wal - before.wal),
    fullPagesEach: each(after.fullPages - before.fullPages),
    daemonCores: core(after.daemonMs - before.daemonMs),
    postgresCores: core(after.postgresMs - before.postgresMs),
    memoryMb: now,
    longestSeconds: longestMs / 1_000,
    requestsEach: each(requests),
    lists,
  }
  console.table(
    Object.fromEntries(
      Object.entries(measured).map(([name, value]) => [name, typeof value === 'number' ? Number(value.toFixed(2)) : value]),
    ),
  )
  console.log(
    `a poll: ${(measured.transactionsEach / measured.requestsEach).toFixed(2)} transactions, ${Math.round(measured.walBytesEach / measured.requestsEach)} bytes of WAL`,
  )
  process.send?.(measured)
} finally {
  for (const close of shutdownHooks.toReversed()) await close()
}
