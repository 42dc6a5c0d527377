import { expect, test } from 'vitest'
import type { ReplenishmentClient } from '../../../src/clients/marketplace/replenishment.ts'
import { replenishmentEndpoint } from '../../../src/clients/marketplace/replenishment.ts'
import type { SyncDeps } from '../../../src/jobs/sync/engine/run.ts'
import { recordConfiguredSkus } from '../../../src/store/inventory/inventory-skus.ts'
import { withPart } from '../../clients/with-part.ts'
import { corruptFailure, type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

const listSkus = (count: number) => Array.from({ length: count }, (_, index) => `SKU-${String(index).padStart(2, '0')}`)
const stocked = async (one: TestSeller, skus: readonly string[]): Promise<void> => {
  const movements = skus.map((sku) => ({ sku, changedUnits: 10, transactionType: 'Receipt' }))
  await bench.sandbox.control('POST', '/inventory/movements', { sellerId: one.sellerId, movements })
  await recordConfiguredSkus(bench.database, [{ sellerId: one.sellerId, skus }])
}
/** Requests that name one of these SKUs fail; counts what is asked. */
const corrupt = (one: TestSeller, bad: readonly string[], status: number) => {
  const asked: number[] = []
  const replenishment: Partial<ReplenishmentClient> = {
    maxKeys: one.client.of(replenishmentEndpoint).maxKeys,
    recommend: async (query, options) => {
      const keys = 'skus' in query ? query.skus : query.gtins
      asked.push(keys.length)
      if (!keys.some((key) => bad.includes(key))) return one.client.of(replenishmentEndpoint).recommend(query, options)
      throw corruptFailure('replenishment.recommend', one.sellerId, status)
    },
  }
  const deps: Partial<SyncDeps> = { client: () => withPart(one.client, replenishmentEndpoint, replenishment) }
  return { deps, asked }
}
const stored = async (one: TestSeller): Promise<readonly string[]> =>
  (
    await bench.database.query<{ sku: string }>(
      'SELECT sku FROM warehouse.replenishment_recommendations WHERE seller_id = $1 AND valid_to IS NULL ORDER BY sku',
      one.sellerId,
    )
  ).map((row) => row.sku)

test.each([500, 400])(
  'a SKU that corrupts its batch with %i is skipped, reported, and asked for alone with the next run',
  async (status) => {
    const one = await bench.seller()
    const skus = listSkus(60)
    await stocked(one, skus)
    const bad = [skus[5] ?? '', skus[59] ?? '']
    const good = skus.filter((sku) => !bad.includes(sku))
    const first = corrupt(one, bad, status)
    await one.sync('replenishment', 'all', first.deps)
    expect(await stored(one)).toEqual(good)
    expect(await one.skipped()).toEqual(bad)
    expect(await one.skipAlarms()).toEqual([{ subject: 'replenishment' }])
    const second = corrupt(one, bad, status)
    await one.sync('replenishment', 'all', second.deps)
    expect(second.asked.filter((count) => count > 1)).toEqual([24, 25, 9])
    expect(await stored(one)).toEqual(good)
    await one.ageQuarantine()
    await one.sync('replenishment', 'all')
    expect(await stored(one)).toEqual(skus)
    expect(await one.skipped()).toEqual([])
    expect(await one.skipAlarms()).toEqual([])
  },
)

test('an outage passes no SKU over, and withdraws nothing', async () => {
  const one = await bench.seller()
  const skus = listSkus(30)
  await stocked(one, skus)
  await one.sync('replenishment', 'all')
  const { deps, asked } = corrupt(one, skus, 500)
  for (let run = 0; run < 3; run += 1) await expect(one.once('replenishment', 'all', deps)).rejects.toThrow()
  expect(asked.length).toBeLessThan(20)
  expect(await one.skipped()).toEqual([])
  expect(await stored(one)).toEqual(skus)
})
