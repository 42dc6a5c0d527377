import { expect, test } from 'vitest'
import { recordConfiguredSkus } from '../../../src/store/inventory/inventory-skus.ts'
import { type TestSeller, testSettings, withSyncBench } from './support.ts'

const bench = withSyncBench()

const rows = <Row>(one: TestSeller, sql: string) => bench.database.query<Row>(sql, one.sellerId)
const versions = (one: TestSeller) =>
  rows<{ sku: string; suggested: number | null; max: number; current: boolean }>(
    one,
    `SELECT sku, suggested_quantity AS suggested, max_quantity AS max, valid_to IS NULL AS current
     FROM warehouse.replenishment_recommendations WHERE seller_id = $1 ORDER BY sku, valid_from`,
  )
const sync = (one: TestSeller) => one.sync('replenishment', 'all')
const enrolment = (one: TestSeller) =>
  rows<{ enrolled: boolean }>(one, `SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1 AND resource = 'replenishment'`)

/** Puts a SKU with so many units into the sandbox's fulfilment service, or sells so many of it. */
const stock = (one: TestSeller, sku: string, units: number) =>
  bench.sandbox.control('POST', '/inventory/movements', {
    sellerId: one.sellerId,
    movements: [{ sku, changedUnits: units, transactionType: 'Receipt' }],
  })
const sell = (one: TestSeller, sku: string, units: number) =>
  bench.sandbox.control('POST', '/inventory/movements', {
    sellerId: one.sellerId,
    movements: [{ sku, changedUnits: -units, transactionType: 'Ship' }],
  })

test('every SKU is asked for, in batches; an unchanged answer writes nothing, a changed one is a version of its own', async () => {
  const one = await bench.seller()
  const skus = Array.from({ length: 60 }, (_, index) => `SKU-${String(index).padStart(2, '0')}`)
  for (const sku of skus) await stock(one, sku, 10)
  await sell(one, 'SKU-07', 10)
  await recordConfiguredSkus(bench.database, [{ sellerId: one.sellerId, skus: [...skus, 'NOT-THEIRS'] }])
  await sync(one)
  const first = await versions(one)
  expect(first.map(({ sku }) => sku)).toEqual(skus)
  expect(first[7]?.suggested).toBeGreaterThan(0)
  expect(first[8]?.suggested).toBeNull()
  // 61 SKUs in pages of 25.
  expect((await one.requests()).filter((request) => request.includes('shipment-quantity'))).toHaveLength(3)
  const marks = () =>
    rows(one, 'SELECT sku, xmin::text FROM warehouse.replenishment_recommendations WHERE seller_id = $1 ORDER BY 1')
  const before = await marks()
  await sync(one)
  expect(await marks()).toEqual(before)
  await sell(one, 'SKU-30', 10)
  await sync(one)
  const changed = (await versions(one)).filter(({ sku }) => sku === 'SKU-30')
  expect(changed).toMatchObject([
    { suggested: null, current: false },
    { suggested: expect.any(Number), current: true },
  ])
  expect((await versions(one)).filter(({ current }) => current)).toHaveLength(60)
  expect((await one.changes()).filter(({ type }) => type === 'replenishment.changed')).toHaveLength(61)
})

test('a recommendation that is no longer given ends', async () => {
  const one = await bench.seller()
  await stock(one, 'A', 10)
  await recordConfiguredSkus(bench.database, [{ sellerId: one.sellerId, skus: ['A'] }])
  await sync(one)
  await bench.sandbox.control('PUT', '/enrolment', { sellerId: one.sellerId, fulfillment: false, answer: 'content-not-found' })
  await sync(one)
  expect(await versions(one)).toMatchObject([{ sku: 'A', current: false }])
  expect(await enrolment(one)).toEqual([{ enrolled: true }])
  await bench.sandbox.control('PUT', '/enrolment', { sellerId: one.sellerId })
  await sync(one)
  expect(await versions(one)).toMatchObject([
    { sku: 'A', current: false },
    { sku: 'A', current: true },
  ])
})

test('a seller who is not enrolled is remembered, keeps what was recommended, and is not asked again', async () => {
  const one = await bench.seller()
  await stock(one, 'A', 10)
  await recordConfiguredSkus(bench.database, [{ sellerId: one.sellerId, skus: ['A'] }])
  await sync(one)
  await bench.sandbox.control('PUT', '/enrolment', { sellerId: one.sellerId, fulfillment: false })
  // The framework's own 404 is believed the third time.
  for (let run = 0; run < 2; run += 1) await expect(one.once('replenishment', 'all')).rejects.toThrow('404')
  await sync(one)
  expect(await enrolment(one)).toEqual([{ enrolled: false }])
  const calls = (await one.requests()).length
  await sync(one)
  expect(await one.requests()).toHaveLength(calls)
  expect(await versions(one)).toMatchObject([{ sku: 'A', current: true }])
})

test('without a SKU nothing is asked, and nothing is known of the enrolment', async () => {
  const one = await bench.seller()
  await sync(one)
  expect((await one.requests()).filter((request) => request.includes('shipment-quantity'))).toEqual([])
  expect(await enrolment(one)).toEqual([])
})

test('an answer that is a failure in disguise ends nothing; what it was for is asked for again', async () => {
  const one = await bench.seller()
  const skus = ['A', 'B', 'C', 'D', 'E', 'F']
  for (const sku of skus) await stock(one, sku, 10)
  await recordConfiguredSkus(bench.database, [{ sellerId: one.sellerId, skus }])
  const settings = { settings: { ...testSettings, pageSize: 2 } }
  await one.sync('replenishment', 'all', settings)
  for (const fault of ['okWithErrors', 'html', 'emptyBody', 'truncatedJson', 'serverErrorBefore'] as const) {
    await bench.sandbox.next({ fault, sellerId: one.sellerId, operation: 'replenishment.recommend' })
    await one.sync('replenishment', 'all', settings)
    expect((await versions(one)).map(({ sku, current }) => [sku, current])).toEqual(skus.map((sku) => [sku, true]))
    expect(await one.state('all')).toMatchObject({ failures: 0, windows: 0 })
  }
  const skipped = await rows(one, 'SELECT record_key FROM tallyman.quarantined_records WHERE seller_id = $1')
  expect(skipped).toEqual([])
})

test('a recommendation that does not parse is kept aside, and nothing counts as withdrawn', async () => {
  const one = await bench.seller()
  for (const sku of ['A', 'B', 'C']) await stock(one, sku, 10)
  await recordConfiguredSkus(bench.database, [{ sellerId: one.sellerId, skus: ['A', 'B', 'C'] }])
  await sync(one)
  await bench.sandbox.next({ fault: 'malformedRecord', sellerId: one.sellerId, operation: 'replenishment.recommend' })
  await one.once('replenishment', 'all')
  expect((await versions(one)).map(({ sku, current }) => [sku, current])).toEqual([
    ['A', true],
    ['B', true],
    ['C', true],
  ])
  expect(await rows(one, 'SELECT 1 AS aside FROM tallyman.quarantined_records WHERE seller_id = $1')).toHaveLength(1)
})
