import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseConnections } from '../../src/daemon/database.ts'
import { queueConnections } from '../../src/queues/backend/postgres.ts'
import { inboundQueue, queueNames } from '../../src/queues/jobs.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { hasPgbouncer, startTestPooler, type TestPooler } from '../support/pgbouncer.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startProgram } from '../support/process.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, readiness, sandboxSeller, untilEffects, untilSettled } from './support.ts'

const kinds = hasRedisServer() ? (['Postgres', 'Redis'] as const) : (['Postgres'] as const)
const pooled = 8

/** Most connections of a process by their `application_name`, as the table of `docs/scaling.md` has them. */
const documented = async (): Promise<ReadonlyMap<string, number>> => {
  const page = await readFile('docs/scaling.md', 'utf8')
  const rows = [...page.matchAll(/^\| (?:`([^`|]+)`|([^`|]+)) \|[^|]*\| (\d+) \|/gm)]
  return new Map(rows.map(([, code, words, most]) => [code ?? words ?? '', Number(most)]))
}

const ofQueues: readonly string[] = [...queueNames, inboundQueue, 'tallyman-queues']

/** Several servers, and the daemon. */
const startMs = 120_000

describe.skipIf(!hasPgbouncer()).each(kinds)('behind a pooler in transaction mode, with the queues in %s', (kind) => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let pooler: TestPooler
  let direct: string
  let environment: Record<string, string>
  let redis: TestRedis | null = null
  const stops: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
    stops.push(
      () => postgres.stop(),
      () => sandbox.stop(),
    )
    pooler = await startTestPooler(postgres.url, { mode: 'transaction', connections: pooled })
    stops.push(() => pooler.stop())
    // Empty: its migrations go past the pooler, too.
    direct = await postgres.emptyDatabase()
    environment = {
      ...sandboxSeller,
      DATABASE_URL: pooler.through(direct),
      DATABASE_DIRECT_URL: direct,
      PREPARED_STATEMENTS: 'off',
      MARKETPLACE_URL: sandbox.url,
      DATA_DIR: sandbox.folder,
      POLL_ORDERS: '1s',
      REQUEST_TIMEOUT: '2s',
      SETTLE_TIME: '4s',
    }
    if (kind === 'Redis') {
      const server = await startTestRedis()
      redis = server
      stops.push(() => server.stop())
      environment['REDIS_URL'] = server.url
    }
  }, startMs)
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  test('orders are synced, and each event is carried out once', { timeout: 240_000 }, async () => {
    const daemon = await startTestDaemon(environment)
    stops.push(() => daemon.program.kill())
    const orders = await Promise.all(Array.from({ length: 6 }, () => placeOrder(sandbox, 2)))
    for (const order of orders)
      for (const event of [accepted(order), dispatched(order, 1, 2)]) expect(await post(daemon, event)).toBe(202)
    for (const order of orders) await untilEffects(sandbox, order, ['acknowledged', 'shipped'])
    expect(await untilSettled(direct)).toEqual({ confirmed: 2 * orders.length })
    for (const { shipped, ordered } of await sandbox.summary()) expect(shipped).toBe(ordered)
    expect(await readiness(daemon)).toEqual({ status: 200, failing: [] })

    const isOfQueues = (name: string): boolean => ofQueues.includes(name)
    // The pooler opens sessions ahead, too: until one has served somebody it has no name.
    const isOfPooler = (name: string): boolean => name === 'tallyman' || name === ''
    const isListener = (name: string): boolean => name === 'tallyman listener'
    // A session that its client has ended is listed for a moment yet.
    const backends = await eventually(async () => {
      const rows = await query<{ name: string }>(
        direct,
        `SELECT application_name AS name FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      )
      expect(rows.filter(({ name }) => !isOfPooler(name) && !isListener(name) && !isOfQueues(name))).toEqual([])
      expect(rows.filter(({ name }) => isOfPooler(name)).length).toBeLessThanOrEqual(pooled)
      return rows
    })
    const count = (isOne: (name: string) => boolean): number => backends.filter(({ name }) => isOne(name)).length
    const most = await documented()
    expect(most.get('tallyman')).toBe(databaseConnections)
    expect(most.get('tallyman-queues')).toBe(queueConnections)
    expect(most.get('tallyman listener')).toBe(1)
    expect(count(isListener)).toBe(1)
    const queues = count(isOfQueues)
    if (kind === 'Postgres') expect(queues).toBeLessThanOrEqual(queueConnections)
    else expect(queues).toBe(0)
    if (redis !== null) {
      const clients = String(await redis.command('CLIENT', 'LIST'))
        .trim()
        .split('\n')
      // One is that of the question.
      expect(clients.length - 1).toBe(most.get('to Redis'))
    }
    // Nobody's lock, and nobody's setting, is left behind in a session that others get. Queues in Postgres take locks for a transaction in passing.
    const held = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    await eventually(async () => expect(await query(direct, held)).toEqual([]))
    expect(await query(environment['DATABASE_URL'] ?? '', `SELECT current_setting('lock_timeout') AS lock`)).toEqual([
      { lock: '0' },
    ])

    const output = daemon.program.output()
    expect(output).not.toMatch(/"sqlstate":"(26000|42P05)"|prepared statement|a pooler in transaction mode/)
    expect(await daemon.program.stop()).toBe(0)
  })

  test('without a direct address the daemon says what is missing', async () => {
    const { DATABASE_DIRECT_URL: _, ...alone } = environment
    // Whether it gets ready then is a matter of luck.
    const program = startProgram('src/main.ts', { PORT: '0', LOG_FORMAT: 'json', ...alone })
    stops.push(() => program.kill())
    await program.says(/a pooler in transaction mode .*: set DATABASE_DIRECT_URL to an address past it/)
  })
})
