import { expect, test } from 'vitest'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { stockEndpoint } from '../../../src/clients/marketplace/stock.ts'
import { listResources } from '../../../src/jobs/sync/engine/syncs.ts'
import { rehearse } from '../../contract/rehearse.ts'
import { type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench(walmartUs)

interface Stored {
  readonly sku: string
  readonly onHand: number
  readonly available: number
  readonly reserved: number
  readonly there: boolean
}

const rows = <Row>(one: TestSeller, sql: string) => bench.database.query<Row>(sql, one.sellerId)
const stored = (one: TestSeller) =>
  rows<Stored>(
    one,
    `SELECT sku, on_hand_units AS "onHand", available_units AS available, reserved_units AS reserved, missing_since IS NULL AS there
     FROM warehouse.stock_on_hand WHERE seller_id = $1 ORDER BY sku COLLATE "C"`,
  )
const marks = (one: TestSeller) =>
  rows(one, 'SELECT xmin::text, sku FROM warehouse.stock_on_hand WHERE seller_id = $1 ORDER BY sku')
const quarantined = (one: TestSeller) =>
  rows<{ key: string | null; state: string }>(
    one,
    'SELECT record_key AS key, state FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY id',
  )
const enrolment = (one: TestSeller) =>
  rows<{ enrolled: boolean }>(one, `SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1 AND resource = 'inventory'`)
const sync = (one: TestSeller, pageSize = 10) => one.sync('inventory', 'all', { settings: { ...one.deps.settings, pageSize } })
/** Generated items that do not move by themselves. */
const makeItems = (one: TestSeller, skus: number) =>
  bench.sandbox.control('POST', '/inventory', { sellerId: one.sellerId, skus, entriesPerSku: 4, replace: true })
const listItems = async (one: TestSeller) => {
  const { items } = (await bench.sandbox.control('GET', `/inventory?sellerId=${one.sellerId}&limit=1000`)) as {
    items: { sku: string; stock: number }[]
  }
  return items
}
const plant = (one: TestSeller, sku: string, difference: number) =>
  bench.sandbox.control('PUT', '/stock', { sellerId: one.sellerId, sku, difference })
const types = async (one: TestSeller) => (await one.changes()).map(({ type }) => type)

test('all items arrive over several pages, with the stock that their movements add up to; the first reading is one change', async () => {
  const one = await bench.seller()
  await makeItems(one, 35)
  await sync(one)
  const items = await listItems(one)
  expect((await stored(one)).map(({ sku, onHand }) => ({ sku, stock: onHand }))).toEqual(
    items.map(({ sku, stock }) => ({ sku, stock })),
  )
  const pages = (await one.requests()).filter((request) => request.includes('/v3/wfs/inventory?'))
  // Each page begins with the last row of the one before.
  expect(pages.length).toBeGreaterThanOrEqual(4)
  expect(await types(one)).toEqual(['stock.loaded'])
  expect(await enrolment(one)).toEqual([{ enrolled: true }])
  const [columns] = await rows<object>(
    one,
    `SELECT gtin, item_name, publishing_status, lifecycle, stock_status, inbound_units, in_review_units, in_movement_units,
       age_0_to_90_units + age_91_to_180_units + age_181_to_270_units + age_271_to_365_units + age_over_365_units = greatest(on_hand_units, 0) AS aged,
       first_in_stock_on IS NOT NULL AS dated, suggested_units::int >= 0 AS suggested
     FROM warehouse.stock_on_hand WHERE seller_id = $1 ORDER BY sku LIMIT 1`,
  )
  expect(columns).toMatchObject({
    ...{ gtin: expect.stringMatching(/^\d{14}$/), publishing_status: 'Published', lifecycle: 'Active' },
    ...{ inbound_units: 0, in_review_units: 0, in_movement_units: 0, aged: true, dated: true, suggested: true },
  })
})

test('units of marketplace-fulfilled orders that are not shipped are reserved and not available', async () => {
  const one = await bench.seller()
  await makeItems(one, 3)
  const [item] = await listItems(one)
  if (item === undefined) throw new Error('no item')
  await bench.sandbox.control('POST', '/orders', {
    ...{ sellerId: one.sellerId, alive: false, shipNodeType: 'WFSFulfilled' },
    lines: [{ sku: item.sku, quantity: 2 }],
  })
  await sync(one)
  const [first, second] = await stored(one)
  expect(first).toMatchObject({ sku: item.sku, onHand: item.stock, reserved: 2, available: Math.max(0, item.stock - 2) })
  expect(second).toMatchObject({ reserved: 0 })
})

test('a second pass writes nothing; a change is recorded, and its earlier version is kept', async () => {
  const one = await bench.seller()
  await makeItems(one, 12)
  await sync(one)
  const before = await marks(one)
  await sync(one)
  expect(await marks(one)).toEqual(before)
  expect(await types(one)).toEqual(['stock.loaded'])
  await plant(one, 'SKU-000005', 7)
  await sync(one)
  expect(await types(one)).toEqual(['stock.loaded', 'stock.changed'])
  const kept = await rows<{ key: string; units: number }>(
    one,
    `SELECT record_key AS key, (raw #>> '{inventoryData,onhandUnits}')::int AS units FROM tallyman.superseded_versions
     WHERE seller_id = $1 AND resource = 'inventory'`,
  )
  const now = (await stored(one)).find(({ sku }) => sku === 'SKU-000005')
  expect(kept).toEqual([{ key: 'SKU-000005', units: (now?.onHand ?? 0) - 7 }])
})

test('an item that a complete list no longer has is missing, and present again when it returns', async () => {
  const one = await bench.seller()
  await makeItems(one, 12)
  await sync(one)
  await bench.database.execute(
    `INSERT INTO warehouse.stock_on_hand SELECT (s).* FROM (
       SELECT jsonb_populate_record(o, '{"sku":"SKU-000000"}') AS s FROM warehouse.stock_on_hand o WHERE seller_id = $1 AND sku = 'SKU-000001'
     ) AS another`,
    one.sellerId,
  )
  await sync(one)
  expect((await stored(one)).filter(({ there }) => !there)).toMatchObject([{ sku: 'SKU-000000' }])
  expect((await types(one)).at(-1)).toBe('stock.removed')
})

test('an error that looks like an answer marks nothing missing', async () => {
  const one = await bench.seller()
  await makeItems(one, 12)
  await sync(one)
  const before = await stored(one)
  for (const fault of ['okWithErrors', 'html', 'emptyBody', 'truncatedJson', 'serverErrorBefore'] as const) {
    await bench.sandbox.next({ fault, sellerId: one.sellerId, operation: 'inventory.list' })
    await expect(one.once('inventory', 'all')).rejects.toThrow()
    expect(await stored(one)).toEqual(before)
  }
})

test('rows that a page lacks are not missing', async () => {
  const one = await bench.seller()
  await makeItems(one, 25)
  await sync(one)
  const before = await stored(one)
  for (let pass = 0; pass < 3; pass += 1) {
    await bench.sandbox.next({ fault: 'missingRows', rows: 3, sellerId: one.sellerId, operation: 'inventory.list' })
    await sync(one)
    expect(await stored(one)).toEqual(before)
  }
})

test('an item that cannot be parsed is quarantined and marks nothing missing, and a later pass settles it', async () => {
  const one = await bench.seller()
  await makeItems(one, 6)
  await sync(one)
  const before = await stored(one)
  await bench.sandbox.next({ fault: 'malformedRecord', sellerId: one.sellerId, operation: 'inventory.list' })
  await sync(one)
  expect(await stored(one)).toEqual(before)
  const [aside, ...more] = await quarantined(one)
  expect(more).toEqual([])
  expect(aside?.state).toBe('open')
  // A record without a key has nothing that a later one could be compared with.
  if (aside?.key === null) return
  await plant(one, aside?.key ?? '', 1)
  await one.ageQuarantine()
  await sync(one)
  expect((await quarantined(one)).map(({ state }) => state)).not.toContain('open')
})

test('unknown statuses and fields are stored as they arrive', async () => {
  const one = await bench.seller()
  await makeItems(one, 6)
  await bench.sandbox.next({ fault: 'unknownValue', sellerId: one.sellerId, operation: 'inventory.list' })
  await sync(one)
  expect(await stored(one)).toHaveLength(6)
  expect(await quarantined(one)).toEqual([])
})

test.each([
  ['ineligible', 0],
  ['content-not-found', 0],
  ['spring', 2],
])('a seller who is not enrolled (%s) is remembered, not asked again, and not stopped', async (answer, doubts) => {
  const one = await bench.seller()
  await bench.sandbox.control('PUT', '/enrolment', { sellerId: one.sellerId, fulfillment: false, answer })
  // The framework's own 404 is believed the third time.
  for (let run = 0; run < doubts; run += 1) await expect(one.once('inventory', 'all')).rejects.toThrow('404')
  await sync(one)
  expect(await enrolment(one)).toEqual([{ enrolled: false }])
  const requests = await one.requests()
  // One token served all of it.
  expect(requests.filter((request) => request.includes('/v3/token'))).toHaveLength(1)
  await sync(one)
  expect(await one.requests()).toHaveLength(requests.length)
  expect(await one.state('all')).toMatchObject({ failures: 0, last_error: null })
  await one.sync('orders', 'released')
  expect(await one.client.credentials.check(new AbortController().signal)).toEqual({ accepted: true })
})

test('the stock is compared with report and log at the time of the list, once the log has been read up to then', async () => {
  const one = await bench.seller()
  await makeItems(one, 12)
  const differences = () =>
    rows(
      one,
      `SELECT sku, difference::int, counted_units = balance_units + difference AS adds, state, resolution FROM warehouse.stock_differences
       WHERE seller_id = $1 ORDER BY id`,
    )
  const compared = () =>
    rows<{ compared: bigint }>(
      one,
      `SELECT count(*) AS compared FROM tallyman.stock_readings r JOIN tallyman.inventory_skus s USING (seller_id, sku)
       WHERE r.seller_id = $1 AND r.read_at <= s.log_read_up_to`,
    )
  /** A day later the log, whose days are read whole, has been read up to the list. */
  const nextDay = async () => {
    await bench.advance('1d')
    await one.sync('reconciliation', 'reports')
    await one.sync('inventory-log', 'due')
    // A report is generated on request, within half an hour of the marketplace's clock, which the client learns from any answer.
    await bench.advance('30m')
    await one.place(1)
    await one.once('orders', 'released')
    await one.sync('reconciliation', 'reports')
  }
  await sync(one)
  await nextDay()
  expect(await compared()).toEqual([{ compared: 12n }])
  expect(await differences()).toEqual([])
  await plant(one, 'SKU-000005', -3)
  await sync(one)
  await nextDay()
  const found = { sku: 'SKU-000005', difference: -3, adds: true }
  expect(await differences()).toEqual([{ ...found, state: 'open', resolution: null }])
  await plant(one, 'SKU-000005', 0)
  await sync(one)
  await nextDay()
  expect(await differences()).toEqual([{ ...found, state: 'resolved', resolution: 'agrees' }])
  expect((await types(one)).filter((type) => type.startsWith('stock_difference'))).toEqual([
    'stock_difference.found',
    'stock_difference.resolved',
  ])
})

test('a seller whose profile lacks the operation does not have the resource', async () => {
  const { client, sandbox } = await rehearse(specification)
  expect(client.of(stockEndpoint)).toBeNull()
  expect(listResources(client)).not.toContain('inventory')
  expect((await sandbox.call('GET', '/v3/wfs/inventory')).status).toBe(404)
  const live = await bench.seller()
  expect(listResources(live.client)).toContain('inventory')
})
