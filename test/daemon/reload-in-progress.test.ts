import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startTestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, post } from './support.ts'

const stage = withDatabase()
const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const slowMs = 6_000
const ordersOfEach = 2

test('sellers that have another service name, have another SKU, or are taken out have what is on the wire finished first', async () => {
  const sandbox = await startTestSandbox()
  cleanUps.push(() => sandbox.stop())
  const sellersFile = path.join(sandbox.folder, 'sellers.json')
  const sellerIds = ['renamed', 'with-new-sku', 'taken-out'] as const
  const [renamed, withNewSku, takenOut, other] = await makeSellers(sandbox, ...sellerIds, 'other')
  await writeFile(sellersFile, JSON.stringify([renamed, withNewSku, takenOut, other]))
  const daemon = await startTestDaemon({
    DATABASE_URL: stage.url,
    DATA_DIR: sandbox.folder,
    MARKETPLACE_URL: sandbox.url,
    SELLERS_FILE: sellersFile,
    POLL_ORDERS: '1s',
  })
  cleanUps.push(() => daemon.program.kill())
  const addresses = sellerIds.flatMap((sellerId) => Array.from({ length: ordersOfEach }, () => sellerId))
  const placed = await Promise.all(addresses.map((sellerId) => placeOrder(sandbox, 1, sellerId)))
  await eventually(async () => expect(await query(stage.url, 'SELECT 1 FROM warehouse.orders')).toHaveLength(placed.length))
  await sandbox.next({ operation: 'orders.acknowledge', fault: 'slow', delayMs: slowMs, times: placed.length })
  expect(await Promise.all(placed.map((order) => post(daemon, accepted(order))))).toEqual(placed.map(() => 202))
  const states = () => query<{ state: string }>(stage.url, 'SELECT state FROM tallyman.commands')
  await eventually(async () => expect(await states()).toEqual(placed.map(() => ({ state: 'sending' }))))

  const changed = [{ ...renamed, serviceName: 'Another' }, { ...withNewSku, skus: ['NEW'] }, other]
  await writeFile(sellersFile, JSON.stringify(changed))
  const askedMs = performance.now()
  expect(await daemon.call('POST', '/v1/sellers/reload')).toMatchObject({ status: 200 })
  // Nobody waits for what is in progress.
  expect(performance.now() - askedMs).toBeLessThan(slowMs)
  await eventually(async () => expect(await states()).toEqual(placed.map(() => ({ state: 'confirmed' }))))
  expect(daemon.program.output()).not.toContain('the outcome is unknown')
})
