import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { startReceiver } from '../webhooks/receiver.ts'
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

/** So whatever reads has failed, and is to be tried again. */
const nothingCanBeRead = { rules: [{ operation: 'orders.*', method: 'GET', serverErrorBefore: 1 }] }

describe.skipIf(!hasRedisServer())('while Redis is away', () => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let redis: TestRedis
  let databaseUrl: string
  let environment: Record<string, string>
  const stops: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    ;[postgres, sandbox, redis] = await Promise.all([startTestPostgres(), startTestSandbox(), startTestRedis()])
    const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-without-queues-'))
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
      WEBHOOK_PRIVATE_ADDRESSES: 'allow',
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

  test('what fails is tried again, rows of the inbox are taken, outcomes are read back, and webhooks are told', async () => {
    const daemon = await start()
    const receiver = await startReceiver()
    stops.push(() => receiver.close())
    const added = await daemon.call('POST', '/v1/webhooks', { url: receiver.url, types: ['command.confirmed'] })
    expect(added.status).toBe(201)
    const known = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(known))).toBe(202)
    await untilSettled(databaseUrl)

    await redis.kill()
    await untilMissing(daemon, 'redis')
    await sandbox.control('PUT', '/faults', nothingCanBeRead)
    const [polled, posted, told] = await Promise.all([1, 2, 3].map(() => placeOrder(sandbox, 1)))
    if (polled === undefined || posted === undefined || told === undefined) throw new Error('no orders')
    expect(await post(daemon, accepted(posted))).toBe(202)
    await tell(told)
    await eventually(async () => {
      const failed = await query(databaseUrl, `SELECT 1 FROM tallyman.sync_states WHERE resource = 'orders' AND failures > 0`)
      expect(failed).not.toEqual([])
    })
    expect(await isStored(polled)).toBe(false)
    await sandbox.control('PUT', '/faults', {})
    await untilEffects(sandbox, posted, ['acknowledged'])
    await untilEffects(sandbox, told, ['acknowledged'])
    await untilStored(polled)

    await sandbox.next({ fault: 'dropAfter', operation: 'orders.ship', purchaseOrderId: known.purchaseOrderId })
    expect(await post(daemon, dispatched(known, 0, 1))).toBe(202)
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 4 })
    await once(known, 'acknowledged', 'shipped')
    await eventually(() => {
      const subjects = receiver.received.map(({ body }) => z.object({ subject: z.string() }).parse(JSON.parse(body)).subject)
      expect(new Set(subjects)).toEqual(new Set([known, posted, told].map(({ purchaseOrderId }) => purchaseOrderId)))
    })
    await untilMissing(daemon, 'redis')
    expect(daemon.program.output()).toContain('this process runs it without them')
  }, 120_000)

  test('several processes, one of them started meanwhile, do everything once; when it is back they go on with it', async () => {
    const first = await start()
    // Few: each process has a part of what the marketplace allows.
    const orders = await Promise.all(Array.from({ length: 3 }, () => placeOrder(sandbox, 2)))
    for (const order of orders) await untilStored(order)
    await redis.kill()
    await untilMissing(first, 'redis')
    const second = await start({ ready: false })
    await tell(...orders)
    for (const order of orders) await untilEffects(sandbox, order, ['acknowledged'])
    expect(await first.program.stop()).toBe(0)
    for (const order of orders) expect(await post(second, dispatched(order, 0, 2))).toBe(202)
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 2 * orders.length })

    await redis.start()
    await untilReady(second)
    const last = await placeOrder(sandbox, 1)
    await untilStored(last)
    await tell(last)
    await untilEffects(sandbox, last, ['acknowledged'])
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 2 * orders.length + 1 })
    for (const order of orders) await once(order, 'acknowledged', 'shipped')
    expect(await second.program.stop()).toBe(0)
  }, 120_000)
})
