import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder } from './support.ts'

const stage = withDatabase({ each: 'test' })
let sandbox: TestSandbox
let redis: TestRedis | null = null
let daemon: TestDaemon | null = null

beforeAll(async () => {
  sandbox = await startTestSandbox()
  if (hasRedisServer()) redis = await startTestRedis()
})
afterEach(async () => {
  await daemon?.program.kill()
  daemon = null
})
afterAll(async () => {
  await redis?.stop()
  await sandbox.stop()
})

const hourly = { tokens: 1, per: '1h' }
const limits = { rateLimits: { 'orders.list': hourly, 'orders.released': hourly } }

/** Streams of orders that have begun and wait for their next call. */
const waitingStreams = () =>
  query(
    stage.url,
    `SELECT stream FROM tallyman.sync_states WHERE resource = 'orders' AND pending <> '[]' AND lease_until IS NULL AND last_started_at IS NOT NULL`,
  )

/** A daemon whose polls wait for the next hour by the limit of its seller, and what removes that limit. */
const startWaiting = async (name: string, more: Readonly<Record<string, string>>) => {
  const [seller] = await makeSellers(sandbox, name)
  const file = path.join(sandbox.folder, `${name}.json`)
  const write = (settings: object) => writeFile(file, JSON.stringify([{ ...seller, ...settings }]))
  await write(limits)
  const start = () =>
    startTestDaemon({
      SELLERS_FILE: file,
      DATABASE_URL: stage.url,
      MARKETPLACE_URL: sandbox.url,
      DATA_DIR: sandbox.folder,
      POLL_ORDERS: '1s',
      POLL_RETURNS: 'off',
      POLL_ORDER_SWEEP: 'off',
      POLL_SHIPPING_SETTINGS: 'off',
      ...more,
    })
  const waiting = await start()
  daemon = waiting
  await eventually(async () => expect((await waitingStreams()).length).toBeGreaterThan(0))
  await placeOrder(sandbox, 1, name)
  return { start, daemon: waiting, removeLimit: () => write({}) }
}
const orders = () => query(stage.url, 'SELECT seller_id FROM warehouse.orders')
const untilRead = (sellerId: string) => eventually(async () => expect(await orders()).toEqual([{ seller_id: sellerId }]))

test('polls that wait by a limit go on at once when a reload has removed it', { timeout: 240_000 }, async () => {
  const waiting = await startWaiting('seller-reloaded', {})
  expect(await orders()).toEqual([])
  await waiting.removeLimit()
  expect(await waiting.daemon.call('POST', '/v1/sellers/reload')).toMatchObject({ status: 200 })
  await untilRead('seller-reloaded')
})

test.skipIf(!hasRedisServer())('… with the queues in Redis too', { timeout: 240_000 }, async () => {
  const waiting = await startWaiting('seller-redis', { REDIS_URL: redis?.url ?? '' })
  expect(await orders()).toEqual([])
  await waiting.removeLimit()
  expect(await waiting.daemon.call('POST', '/v1/sellers/reload')).toMatchObject({ status: 200 })
  await untilRead('seller-redis')
})

test('polls that wait by a limit go on when the next start has another one', { timeout: 240_000 }, async () => {
  const waiting = await startWaiting('seller-restarted', {})
  await waiting.daemon.program.kill()
  await waiting.removeLimit()
  daemon = await waiting.start()
  await untilRead('seller-restarted')
})
