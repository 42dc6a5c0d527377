import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, sandboxSeller, untilEffects, untilReady, untilSettled } from './support.ts'

const execute = promisify(execFile)

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-shortages-'))
})
beforeEach(async () => {
  databaseUrl = await postgres.database()
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})
afterAll(async () => {
  await Promise.all([postgres.stop(), sandbox.stop(), rm(folder, { recursive: true, force: true })])
})

const start = async (env: Readonly<Record<string, string>> = {}, flags: readonly string[] = []): Promise<TestDaemon> => {
  const daemon = await startTestDaemon(
    {
      ...sandboxSeller,
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      MARKETPLACE_URL: sandbox.url,
      POLL_ORDERS: '1s',
      POLL_RETURNS: 'off',
      REQUEST_TIMEOUT: '2s',
      SETTLE_TIME: '4s',
      ...env,
    },
    flags,
  )
  cleanUps.push(() => daemon.program.kill())
  return daemon
}

const acknowledgeNewOrder = async (daemon: TestDaemon): Promise<void> => {
  const order = await placeOrder(sandbox, 1)
  await eventually(async () => expect(await post(daemon, accepted(order))).toBe(202))
  await untilEffects(sandbox, order, ['acknowledged'])
  await untilSettled(databaseUrl)
}

const healthSchema = z.object({ checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().optional() })) })

/** Waits until `/readyz` names the trouble. */
const untilNamed = (daemon: TestDaemon, name: string, detail: unknown = expect.any(String)): Promise<void> =>
  eventually(async () => {
    const { status, body } = await daemon.call('GET', '/readyz')
    const found = healthSchema.parse(body).checks.find((check) => check.name === name)
    expect({ status, detail: found?.detail }).toEqual({ status: 503, detail })
  }, 20_000)

test('connections of Postgres that are used up are named, and the daemon heals when there are some', async () => {
  const admin = (sql: string) => query(postgres.url, sql)
  await admin(`CREATE ROLE few LOGIN PASSWORD 'few' IN ROLE tallyman`)
  const url = new URL(databaseUrl)
  url.username = 'few'
  url.password = 'few'
  const daemon = await start({ DATABASE_URL: url.href })
  await acknowledgeNewOrder(daemon)
  await admin('ALTER ROLE few CONNECTION LIMIT 0')
  await admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'few'`)
  await untilNamed(daemon, 'postgres', 'Postgres takes no more connections')
  const order = await placeOrder(sandbox, 1)
  expect(await post(daemon, accepted(order))).toBe(503)
  await admin('ALTER ROLE few CONNECTION LIMIT -1')
  await untilReady(daemon)
  expect(await post(daemon, accepted(order))).toBe(202)
  await untilEffects(sandbox, order, ['acknowledged'])
})

describe.skipIf(!hasRedisServer())('a Redis', () => {
  test('that is full is named, and work goes on when there is room', async () => {
    const redis = await startTestRedis()
    cleanUps.push(() => redis.stop())
    const daemon = await start({ REDIS_URL: redis.url })
    await acknowledgeNewOrder(daemon)
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await redis.command('CONFIG', 'SET', 'maxmemory', '1')
    await untilNamed(daemon, 'redis', 'Redis is full and takes no writes: raise its maxmemory or free memory')
    const order = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(order)), 'an event is durable in Postgres').toBe(202)
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    await untilReady(daemon)
    await untilEffects(sandbox, order, ['acknowledged'])
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 2 })
  })

  test('that takes no writes is named, and work goes on when it does again', async () => {
    const redis = await startTestRedis()
    cleanUps.push(() => redis.stop())
    const daemon = await start({ REDIS_URL: redis.url })
    await acknowledgeNewOrder(daemon)
    await redis.command('REPLICAOF', '127.0.0.1', '1')
    // The client leaves a replica at once, and asks again and again for a better one.
    await untilNamed(daemon, 'redis')
    const order = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(order))).toBe(202)
    await redis.command('REPLICAOF', 'NO', 'ONE')
    await untilReady(daemon)
    await untilEffects(sandbox, order, ['acknowledged'])
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 2 })
  })
})

test('a clock that jumps by an hour, on and back, stops no work and doubles none', async () => {
  const daemon = await start({}, ['--import', path.resolve('test/daemon/shifted-clock.ts')])
  for (const [step, signal] of (['SIGUSR2', 'SIGWINCH', 'SIGWINCH', 'SIGUSR2'] as const).entries()) {
    const before = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(before))).toBe(202)
    daemon.program.child.kill(signal)
    // It looks at its clock each second.
    await eventually(() => expect(daemon.program.output().match(/the clock was set (forward|back)/g)).toHaveLength(step + 1))
    await untilEffects(sandbox, before, ['acknowledged'])
    await acknowledgeNewOrder(daemon)
    await untilReady(daemon)
  }
  const orders = await query<{ orders: number }>(databaseUrl, 'SELECT count(*)::int AS orders FROM warehouse.orders')
  const placed = await placeOrder(sandbox, 1)
  await eventually(async () => {
    const [row] = await query<{ orders: number }>(databaseUrl, 'SELECT count(*)::int AS orders FROM warehouse.orders')
    expect(row?.orders, `the order ${placed.purchaseOrderId} is to come by itself`).toBeGreaterThan(orders[0]?.orders ?? 0)
  })
  expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 8 })
})

test.skipIf(process.platform !== 'linux')('256 descriptors are enough to outlast a thousand callers', async () => {
  const daemon = await start()
  await execute('prlimit', ['--pid', String(daemon.program.child.pid), '--nofile=256:256'])
  const { hostname, port } = new URL(daemon.url)
  const callers: Socket[] = []
  for (let count = 0; count < 1_000; count += 1) {
    const socket = connect({ host: hostname, port: Number(port) })
    // A caller that is turned away is what this is about.
    socket.on('error', () => undefined)
    callers.push(socket)
  }
  await Promise.all(callers.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
  const order = await placeOrder(sandbox, 1)
  await eventually(async () => {
    const rows = await query(databaseUrl, `SELECT 1 FROM warehouse.orders WHERE purchase_order_id = '${order.purchaseOrderId}'`)
    expect(rows, 'what is in progress goes on').toHaveLength(1)
  })
  for (const socket of callers) socket.destroy()
  await untilReady(daemon)
  await acknowledgeNewOrder(daemon)
  expect(daemon.program.child.exitCode).toBeNull()
})
