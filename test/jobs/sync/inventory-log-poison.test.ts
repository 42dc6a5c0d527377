import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordConfiguredSkus } from '../../../src/store/inventory-skus.ts'
import { type SyncBench, spoiltFailure, startSyncBench, type TestSeller } from './support.ts'

let bench: SyncBench
beforeAll(async () => {
  bench = await startSyncBench()
})
afterAll(async () => {
  await bench.stop()
})

const passedOver = (one: TestSeller) =>
  bench.database.query<{ record_key: string; state: string }>(
    'SELECT record_key, state FROM tallyman.quarantined_records WHERE seller_id = $1 AND skipped IS NOT NULL',
    one.sellerId,
  )
const dueNow = (one: TestSeller) =>
  bench.database.execute('UPDATE tallyman.inventory_skus SET log_due_at = NULL WHERE seller_id = $1', one.sellerId)

test.each([500, 400])('a log with a page that never comes is told until it can be read: %i', async (status) => {
  const one = await bench.seller()
  const { sellerId } = one
  await bench.sandbox.control('POST', '/inventory', { sellerId, skus: 3, entriesPerSku: 90, replace: true })
  const { items } = (await bench.sandbox.control('GET', `/inventory?sellerId=${sellerId}&limit=1000`)) as {
    items: { sku: string }[]
  }
  const skus = items.map(({ sku }) => sku).sort()
  const bad = skus[1] ?? ''
  await recordConfiguredSkus(bench.database, sellerId, skus)
  const inventoryLog: typeof one.client.inventoryLog = {
    keyedBy: one.client.inventoryLog.keyedBy,
    precision: one.client.inventoryLog.precision,
    page: async (query, options) => {
      if (query.sku !== bad || query.offset === 0) return one.client.inventoryLog.page(query, options)
      throw spoiltFailure('inventory-log.list', sellerId, status)
    },
  }
  const deps = { client: () => ({ ...one.client, inventoryLog }) }
  for (let run = 0; run < 4; run += 1) {
    await dueNow(one)
    await one.once('inventory-log', 'due', deps).catch(() => null)
  }
  expect(await passedOver(one)).toEqual([{ record_key: encodeURIComponent(bad), state: 'open' }])
  expect(await one.skipAlarms()).toEqual([{ subject: 'inventory-log' }])
  await dueNow(one)
  await one.sync('inventory-log', 'due')
  expect(await passedOver(one)).toEqual([{ record_key: encodeURIComponent(bad), state: 'superseded' }])
  expect(await one.skipAlarms()).toEqual([])
})
