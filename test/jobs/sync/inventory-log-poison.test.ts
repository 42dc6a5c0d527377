import { expect, test } from 'vitest'
import type { InventoryLogClient } from '../../../src/clients/marketplace/inventory-log.ts'
import { inventoryLogEndpoint } from '../../../src/clients/marketplace/inventory-log.ts'
import { recordConfiguredSkus } from '../../../src/store/inventory/inventory-skus.ts'
import { withPart } from '../../clients/with-part.ts'
import { corruptFailure, type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

const skipped = (one: TestSeller) =>
  bench.database.query<{ record_key: string; state: string }>(
    'SELECT record_key, state FROM tallyman.quarantined_records WHERE seller_id = $1 AND skipped IS NOT NULL',
    one.sellerId,
  )
const dueNow = (one: TestSeller) =>
  bench.database.execute('UPDATE tallyman.inventory_skus SET log_due_at = NULL WHERE seller_id = $1', one.sellerId)

test.each([500, 400])('a log with a page that never comes is reported until it can be read: %i', async (status) => {
  const one = await bench.seller()
  const { sellerId } = one
  await bench.sandbox.control('POST', '/inventory', { sellerId, skus: 3, entriesPerSku: 90, replace: true })
  const { items } = (await bench.sandbox.control('GET', `/inventory?sellerId=${sellerId}&limit=1000`)) as {
    items: { sku: string }[]
  }
  const skus = items.map(({ sku }) => sku).sort()
  const bad = skus[1] ?? ''
  await recordConfiguredSkus(bench.database, [{ sellerId, skus }])
  const inventoryLog: Partial<InventoryLogClient> = {
    keyedBy: one.client.of(inventoryLogEndpoint).keyedBy,
    precision: one.client.of(inventoryLogEndpoint).precision,
    page: async (query, options) => {
      if (query.sku !== bad || query.offset === 0) return one.client.of(inventoryLogEndpoint).page(query, options)
      throw corruptFailure('inventory-log.list', sellerId, status)
    },
  }
  const deps = { client: () => withPart(one.client, inventoryLogEndpoint, inventoryLog) }
  for (let run = 0; run < 4; run += 1) {
    await dueNow(one)
    await one.once('inventory-log', 'due', deps).catch(() => null)
  }
  expect(await skipped(one)).toEqual([{ record_key: encodeURIComponent(bad), state: 'open' }])
  expect(await one.skipAlarms()).toEqual([{ subject: 'inventory-log' }])
  await bench.advance('1m')
  await dueNow(one)
  await one.sync('inventory-log', 'due')
  expect(await skipped(one)).toEqual([{ record_key: encodeURIComponent(bad), state: 'superseded' }])
  expect(await one.skipAlarms()).toEqual([])
})

test.each([500, 400])('an entry that corrupts each page it is on is left out, and all others are stored: %i', async (status) => {
  const one = await bench.seller()
  const { sellerId } = one
  await bench.sandbox.control('POST', '/inventory', { sellerId, skus: 3, entriesPerSku: 90, replace: true })
  const { items } = (await bench.sandbox.control('GET', `/inventory?sellerId=${sellerId}&limit=1000`)) as {
    items: { sku: string }[]
  }
  const skus = items.map(({ sku }) => sku).sort()
  await recordConfiguredSkus(bench.database, [{ sellerId, skus }])
  const [bad = ''] = skus
  const corruptPlaces = [0, 61, 62, 89]
  let asked = 0
  const inventoryLog: Partial<InventoryLogClient> = {
    page: async (query, options) => {
      const isCorrupt = corruptPlaces.some((place) => place >= query.offset && place < query.offset + query.limit)
      if (query.sku !== bad) return one.client.of(inventoryLogEndpoint).page(query, options)
      asked += 1
      if (isCorrupt) throw corruptFailure('inventory-log.list', sellerId, status)
      return one.client.of(inventoryLogEndpoint).page(query, options)
    },
  }
  const deps = { client: () => withPart(one.client, inventoryLogEndpoint, inventoryLog) }
  const stored = async () => {
    const rows = await bench.database.query<{ sku: string; entries: number }>(
      'SELECT sku, count(*)::int AS entries FROM warehouse.inventory_log_entries WHERE seller_id = $1 GROUP BY sku ORDER BY sku',
      sellerId,
    )
    return rows.map(({ entries }) => entries)
  }
  const key = `${encodeURIComponent(bad)}?entries`
  for (let run = 0; run < 4; run += 1) {
    await dueNow(one)
    await one.once('inventory-log', 'due', deps).catch(() => null)
  }
  expect(await stored()).toEqual([86, 90, 90])
  expect(await skipped(one)).toContainEqual({ record_key: key, state: 'open' })
  expect(await one.skipAlarms()).toEqual([{ subject: 'inventory-log' }])
  expect(asked).toBeLessThan(400)
  // A reading of the last days proves nothing of what lies before them.
  await bench.advance('1m')
  await bench.database.execute(
    `UPDATE tallyman.inventory_skus SET log_due_at = NULL, log_read_up_to = now(), log_read_at = now() WHERE seller_id = $1`,
    sellerId,
  )
  await one.sync('inventory-log', 'due')
  expect(await skipped(one)).toContainEqual({ record_key: key, state: 'open' })
  // A day later all of it is read again.
  const dueAgain = await bench.database.query<{ hours: number }>(
    `SELECT round(extract(epoch FROM log_full_due_at - now()) / 3600)::int AS hours FROM tallyman.inventory_skus
     WHERE seller_id = $1 AND sku = $2`,
    sellerId,
    bad,
  )
  expect(dueAgain).toEqual([{ hours: 24 }])
  await bench.advance('1m')
  await bench.database.execute(
    'UPDATE tallyman.inventory_skus SET log_due_at = NULL, log_full_due_at = now() WHERE seller_id = $1',
    sellerId,
  )
  await one.sync('inventory-log', 'due')
  expect(await stored()).toEqual([90, 90, 90])
  expect((await skipped(one)).filter(({ state }) => state === 'open')).toEqual([])
  expect(await one.skipAlarms()).toEqual([])
})
