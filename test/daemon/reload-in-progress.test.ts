import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startTestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, post, type SellerEntry } from './support.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const slowMs = 4_000
const orders = 3

test.each([
  ['has another service name', (seller: SellerEntry) => [{ ...seller, serviceName: 'Another' }]],
  ['has another SKU', (seller: SellerEntry) => [{ ...seller, skus: ['NEW'] }]],
  ['is taken out', () => []],
] as const)('a seller that %s has what is on the wire finished first', { timeout: 240_000 }, async (_what, next) => {
  const postgres = await startTestPostgres()
  cleanUps.push(() => postgres.stop())
  const sandbox = await startTestSandbox()
  cleanUps.push(() => sandbox.stop())
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-reload-'))
  cleanUps.push(() => rm(folder, { recursive: true, force: true }))
  const databaseUrl = await postgres.database()
  const sellersFile = path.join(folder, 'sellers.json')
  const [seller, other] = await makeSellers(sandbox, 'seller-a', 'seller-b')
  if (seller === undefined) throw new Error('the sandbox has made no seller')
  await writeFile(sellersFile, JSON.stringify([seller, other]))
  const daemon = await startTestDaemon({
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    SELLERS_FILE: sellersFile,
    POLL_ORDERS: '1s',
  })
  cleanUps.push(() => daemon.program.kill())
  const placed = await Promise.all(Array.from({ length: orders }, () => placeOrder(sandbox, 1, 'seller-a')))
  await eventually(async () => expect(await query(databaseUrl, 'SELECT 1 FROM warehouse.orders')).toHaveLength(orders), 30_000)
  await sandbox.next({ operation: 'orders.acknowledge', fault: 'slow', delayMs: slowMs, times: orders })
  for (const order of placed) expect(await post(daemon, accepted(order))).toBe(202)
  const states = () => query<{ state: string }>(databaseUrl, 'SELECT state FROM tallyman.commands')
  await eventually(async () => expect(await states()).toEqual(placed.map(() => ({ state: 'sending' }))))

  await writeFile(sellersFile, JSON.stringify([...next(seller), other]))
  const askedMs = performance.now()
  expect(await daemon.call('POST', '/v1/sellers/reload')).toMatchObject({ status: 200 })
  // Nobody waits for what is in progress.
  expect(performance.now() - askedMs).toBeLessThan(slowMs)
  await eventually(async () => expect(await states()).toEqual(placed.map(() => ({ state: 'confirmed' }))), 30_000)
  expect(daemon.program.output()).not.toContain('the outcome is unknown')
})
