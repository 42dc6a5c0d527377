import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, sandboxSeller } from './support.ts'

// The sandbox notifies the daemon, which was subscribed by the command line. No poll reads orders meanwhile.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon
let environment: Readonly<Record<string, string>>

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-subscribed-'))
  databaseUrl = await postgres.database()
  const seller = {
    ...sandboxSeller,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    NOTIFICATIONS_SECRET: 'marketplace:a-password-of-the-tests',
  }
  daemon = await startTestDaemon({
    ...seller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    POLL_ORDERS: 'off',
    POLL_ORDER_SWEEP: 'off',
    POLL_RETURNS: 'off',
  })
  environment = {
    ...seller,
    TALLYMAN_URL: daemon.url,
    RATE_LIMITS: JSON.stringify({ 'notifications.change': { tokens: 1_000, per: '1m' } }),
  }
})
afterAll(async () => {
  await daemon.program.kill()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const deliveriesSchema = z.object({
  totals: z.object({ waiting: z.number() }),
  items: z.array(
    z.object({
      state: z.string(),
      forged: z.boolean(),
      body: z.object({ payload: z.object({ order: z.object({ purchaseOrderId: z.string() }).optional() }) }),
    }),
  ),
})

const findOrders = (purchaseOrderId: string) =>
  query(databaseUrl, `SELECT purchase_order_id FROM warehouse.orders WHERE purchase_order_id = '${purchaseOrderId}'`)

test.each(['hmac', 'basic', 'oauth'])('an order is stored without a poll after subscribing with %s', async (mode) => {
  const subscribed = await cli(['notifications', 'repair', '--url', daemon.url, '--mode', mode, '--yes'], environment)
  expect(subscribed).toMatchObject({ code: 0 })
  const { purchaseOrderId } = await placeOrder(sandbox, 1)
  await eventually(async () => expect(await findOrders(purchaseOrderId)).toHaveLength(1))
})

test('the test command reports that the daemon has received the sample', async () => {
  expect((await cli(['notifications', 'repair', '--url', daemon.url, '--yes'], environment)).code).toBe(0)
  const tested = await cli(['notifications', 'test', '--wait', '60'], environment)
  expect(tested).toMatchObject({ code: 0, out: expect.stringContaining(`the daemon at ${daemon.url} has received it`) })
  const wrong = { ...environment, NOTIFICATIONS_SECRET: 'another:secret-of-the-tests' }
  const refused = await cli(['notifications', 'test', '--wait', '60'], wrong)
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('has refused it: its secret differs') })
})

test('only orders of genuine notifications are stored, although some are repeated and disordered', async () => {
  await sandbox.control('PUT', '/notifications', { signature: 'request', retryMs: 10 })
  await sandbox.control('PUT', '/faults', { notifications: { duplicated: 0.5, reordered: 0.5, forged: 0.3 } })
  expect((await cli(['notifications', 'repair', '--url', daemon.url, '--mode', 'hmac', '--yes'], environment)).code).toBe(0)
  const placed = await sandbox.placeRandom(20)
  const delivered = async () => deliveriesSchema.parse(await sandbox.control('GET', '/notifications?limit=5000'))
  await eventually(async () => expect((await delivered()).totals.waiting).toBe(0))
  const { items } = await delivered()
  const mine = items.filter(({ body }) => placed.includes(body.payload.order?.purchaseOrderId ?? ''))
  const ids = (forged: boolean) =>
    new Set(mine.filter((one) => one.forged === forged).map(({ body }) => body.payload.order?.purchaseOrderId))
  expect(ids(true).size).toBeGreaterThan(0)
  expect(mine.filter(({ forged, state }) => state !== (forged ? 'failed' : 'delivered'))).toEqual([])
  const list = placed.map((id) => `'${id}'`).join(', ')
  const countOrders = () =>
    query(databaseUrl, `SELECT count(*)::int AS stored FROM warehouse.orders WHERE purchase_order_id IN (${list})`)
  await eventually(async () => expect(await countOrders()).toEqual([{ stored: ids(false).size }]))
})
