import { beforeEach, expect, test } from 'vitest'
import { parseReplenishment } from '../../src/clients/marketplace/replenishment-record.ts'
import type { ReplenishmentRecommendation } from '../../src/domain/inventory/replenishment.ts'
import {
  endRecommendations,
  filterRecommended,
  findDifferingRecommendations,
  storeDifferingRecommendations,
} from '../../src/store/inventory/replenishment.ts'
import type { StorableRecord } from '../../src/store/versioned/versions.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()
let seller = 0
let sellerId = ''
const at = (day: number): Date => new Date(Date.UTC(2026, 2, day))

beforeEach(() => {
  seller += 1
  sellerId = `seller-${seller}`
})

const recommendation = (
  vendorSku: string,
  suggestedQty: number | undefined,
  maxQty: number,
): StorableRecord<ReplenishmentRecommendation> => {
  const record = parseReplenishment({
    itemId: 'I-1',
    gtin: '00012345678905',
    upc: '012345678905',
    vendorSku,
    suggestedQty,
    maxQty,
  })
  if (!record.ok) throw new Error(record.fault)
  return record
}
const store = async (observedAt: Date, ...records: StorableRecord<ReplenishmentRecommendation>[]): Promise<number> => {
  const differing = await findDifferingRecommendations(stage.database, sellerId, records)
  return stage.database.transaction((tx) => storeDifferingRecommendations(tx, sellerId, observedAt, differing))
}
const versions = async () =>
  (
    await stage.database.query<{ sku: string; suggested: number | null; max: number; valid_from: Date; valid_to: Date | null }>(
      `SELECT sku, suggested_quantity AS suggested, max_quantity AS max, valid_from, valid_to
       FROM warehouse.replenishment_recommendations WHERE seller_id = $1 ORDER BY sku, valid_from`,
      sellerId,
    )
  ).map((row) => [row.sku, row.suggested, row.max, row.valid_from.getUTCDate(), row.valid_to?.getUTCDate() ?? null])
const current = () =>
  stage.database.query(
    `SELECT sku, suggested_quantity AS suggested FROM warehouse.current_replenishment_recommendations WHERE seller_id = $1 ORDER BY sku`,
    sellerId,
  )
const readRecorded = async () =>
  (await numbered(stage.database)).query<{ type: string; data: unknown }>(
    'SELECT type, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq',
    sellerId,
  )

test('every version is a row that is valid from one answer to the next; the same answer again writes nothing', async () => {
  expect(await store(at(1), recommendation('A', 10, 50), recommendation('B', undefined, 20))).toBe(2)
  expect(await store(at(2), recommendation('A', 10, 50), recommendation('B', undefined, 20))).toBe(0)
  expect(await store(at(3), recommendation('A', 12, 50), recommendation('B', undefined, 20))).toBe(1)
  expect(await versions()).toEqual([
    ['A', 10, 50, 1, 3],
    ['A', 12, 50, 3, null],
    ['B', null, 20, 1, null],
  ])
  expect(await current()).toEqual([
    { sku: 'A', suggested: 12 },
    { sku: 'B', suggested: null },
  ])
  expect(await readRecorded()).toEqual([
    { type: 'replenishment.changed', data: { sku: 'A', before: null, after: { suggestedQuantity: 10, maxQuantity: 50 } } },
    { type: 'replenishment.changed', data: { sku: 'B', before: null, after: { suggestedQuantity: null, maxQuantity: 20 } } },
    {
      type: 'replenishment.changed',
      data: {
        sku: 'A',
        before: { suggestedQuantity: 10, maxQuantity: 50 },
        after: { suggestedQuantity: 12, maxQuantity: 50 },
      },
    },
  ])
})

test('a recommendation that is no longer given ends, and may come again', async () => {
  await store(at(1), recommendation('A', 10, 50), recommendation('B', 5, 20))
  expect(await filterRecommended(stage.database, sellerId, ['A', 'C'])).toEqual(['A'])
  expect(await stage.database.transaction((tx) => endRecommendations(tx, sellerId, at(2), ['A', 'C']))).toBe(1)
  expect(await stage.database.transaction((tx) => endRecommendations(tx, sellerId, at(2), ['A', 'C']))).toBe(0)
  expect(await current()).toEqual([{ sku: 'B', suggested: 5 }])
  expect((await readRecorded()).at(-1)?.data).toEqual({
    sku: 'A',
    before: { suggestedQuantity: 10, maxQuantity: 50 },
    after: null,
  })
  expect(await store(at(4), recommendation('A', 10, 50))).toBe(1)
  expect(await versions()).toEqual([
    ['A', 10, 50, 1, 2],
    ['A', 10, 50, 4, null],
    ['B', 5, 20, 1, null],
  ])
})

test('an older observation changes nothing', async () => {
  await store(at(1), recommendation('A', 10, 50))
  await store(at(5), recommendation('A', 12, 50))
  await stage.database.transaction((tx) => endRecommendations(tx, sellerId, at(8), ['A']))
  for (const day of [1, 3, 5, 7]) expect(await store(at(day), recommendation('A', 7, 50))).toBe(0)
  expect(await stage.database.transaction((tx) => endRecommendations(tx, sellerId, at(4), ['A']))).toBe(0)
  expect(await versions()).toEqual([
    ['A', 10, 50, 1, 5],
    ['A', 12, 50, 5, 8],
  ])
})
