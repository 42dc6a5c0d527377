import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import {
  type OrderAddress,
  placeOrder,
  post,
  sandboxSeller,
  untilEffects,
  untilMissing,
  untilReady,
  untilSettled,
} from './support.ts'

describe.skipIf(!hasRedisServer())('while Redis is away', () => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let redis: TestRedis
  let databaseUrl: string
  let environment: Record<string, string>
  const stops: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    ;[postgres, sandbox, redis] = await Promise.all([startTestPostgres(), startTestSandbox(), startTestRedis()])
    const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-redis-away-'))
    stops.push(
      () => rm(folder, { recursive: true, force: true }),
      () => postgres.stop(),
      () => redis.stop(),
      () => sandbox.stop(),
    )
    databaseUrl = await postgres.database()
    environment = {
      ...sandboxSeller,
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      MARKETPLACE_URL: sandbox.url,
      REDIS_URL: redis.url,
      POLL_ORDERS: '1s',
      POLL_RETURNS: 'off',
      REQUEST_TIMEOUT: '2s',
      SETTLE_TIME: '4s',
    }
  }, 60_000)
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })

  const start = async (options?: { readonly ready: boolean }): Promise<TestDaemon> => {
    const daemon = await startTestDaemon(environment, [], options)
    stops.push(() => daemon.program.kill())
    return daemon
  }
  const isStored = async ({ purchaseOrderId }: OrderAddress): Promise<boolean> =>
    (await query(databaseUrl, `SELECT 1 FROM warehouse.orders WHERE purchase_order_id = '${purchaseOrderId}'`)).length === 1
  const untilStored = (order: OrderAddress) => eventually(async () => expect(await isStored(order)).toBe(true))
  const tell = (...orders: readonly OrderAddress[]) =>
    query(
      databaseUrl,
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ${orders
        .map((order) => accepted(order))
        .map(({ id, type, data }) => `('/sql', '${id}', '${type}', '${JSON.stringify(data)}')`)
        .join(', ')}`,
    )
  const once = async (order: OrderAddress, ...kinds: readonly string[]): Promise<void> => {
    const effects = await sandbox.effects(order.purchaseOrderId)
    expect(effects.map(({ kind }) => kind)).toEqual(kinds)
  }

  test('events are accepted and wait; polls and commands go on after its return, each once', async () => {
    const daemon = await start()
    const known = await placeOrder(sandbox, 2)
    await untilStored(known)
    expect(await post(daemon, accepted(known))).toBe(202)
    await untilSettled(databaseUrl)

    await redis.kill()
    await untilMissing(daemon, 'redis')
    expect(await post(daemon, dispatched(known, 0, 1))).toBe(202)
    const unseen = await placeOrder(sandbox, 1)
    await tell(unseen)
    // One that starts meanwhile waits as well.
    const second = await start({ ready: false })
    await once(known, 'acknowledged')
    expect(await isStored(unseen)).toBe(false)

    const backAtMs = performance.now()
    await redis.start()
    await untilEffects(sandbox, unseen, ['acknowledged'])
    await untilEffects(sandbox, known, ['acknowledged', 'shipped'])
    expect(performance.now() - backAtMs).toBeLessThan(30_000)
    await untilReady(daemon)
    await untilReady(second)
    expect(await post(second, dispatched(known, 1, 1))).toBe(202)
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 4 })
    await once(known, 'acknowledged', 'shipped', 'shipped')
    expect(await daemon.program.stop()).toBe(0)
    expect(await second.program.stop()).toBe(0)
  }, 120_000)

  test('a process can be stopped while it is away', async () => {
    const daemon = await start()
    await redis.kill()
    await untilMissing(daemon, 'redis')
    expect(await daemon.program.stop()).toBe(0)
  }, 120_000)
})
