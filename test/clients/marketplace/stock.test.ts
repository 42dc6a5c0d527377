import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { stockEndpoint } from '../../../src/clients/marketplace/stock.ts'
import { parseStock } from '../../../src/clients/marketplace/stock-record.ts'
import { forever, sendJson, startClient, startMarketplace } from '../servers.ts'
import { brokenBody, withOddFields } from './fuzzed.ts'

const sample = {
  itemInformation: {
    itemName: 'Blue mug',
    gtin: 12345678905,
    sku: ' MUG-BLUE ',
    itemID: '5001',
    offerID: 'A1',
    brand: 'Dock Seven',
    itemCondition: 'New',
  },
  inventoryData: {
    publishingStatus: 'WFS Ineligible',
    itemLifecycle: 'Active',
    stockStatus: 'In-stock',
    availableUnits: 94,
    reservedUnits: '2',
    onhandUnits: 99,
    inboundUnits: 40,
    unavailableUnits: { inventoryReviewUnits: 1, inventoryMovementUnits: 2 },
    inventoryAge: { '0To90days': 90, '91To180days': 9, '181To270days': 0, '271To365days': 0, '366PlusDays': 0 },
    firstInStockDate: '2025-03-04',
  },
  inventoryInsights: {
    daysOfSupply: 33.5,
    outOfStockDate: '2026-12-24',
    salesForecastWeek1to4: 80,
    salesForecastWeek5to8: 81,
    salesForecastWeek9to12: 82,
    sellThroughRate: '0.45',
    suggestedUnits: 60,
    surplusUnits: 0,
  },
}
const withData = (data: object) => ({ ...sample, inventoryData: { ...sample.inventoryData, ...data } })
const page = (inventory: readonly unknown[], headers: object = {}) => ({ headers, payload: { inventory } })

const listFrom = async (status: number, body: unknown, query = { offset: 0, limit: 50 }) => {
  const market = await startMarketplace((_request, response) => sendJson(response, status, body))
  const { client, unknownValues } = startClient(market.url, { connection: { profile: walmartUs, headerPrefix: 'WM' } })
  const stock = client.of(stockEndpoint)
  if (stock === null) throw new Error('the profile has no stock on hand')
  return { answer: stock.list(query, { signal: forever() }), unknownValues, seen: market.seen }
}

test('only a profile with a path has the stock on hand', async () => {
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, {}))
  expect(startClient(url, { connection: { profile: specification } }).client.of(stockEndpoint)).toBeNull()
})

test('a record is read field by field', async () => {
  const { answer, seen, unknownValues } = await listFrom(200, page([sample], { totalCount: 1, limit: 50, offset: 0 }))
  const read = await answer
  expect(seen.at(-1)?.target).toBe('/v3/wfs/inventory?limit=50&offset=0')
  expect(read).toMatchObject({ totalCount: 1, nextCursor: null, isShort: false })
  const [record] = read?.records ?? []
  if (record?.ok !== true) throw new Error('not read')
  expect(record.key).toBe('MUG-BLUE')
  const { raw, ...value } = record.value
  expect(raw).toMatchObject({ itemInformation: { sku: ' MUG-BLUE ' } })
  expect(value).toEqual({
    ...{ sku: 'MUG-BLUE', itemName: 'Blue mug', gtin: '00012345678905', itemId: '5001', offerId: 'A1', brand: 'Dock Seven' },
    ...{ itemCondition: 'New', publishingStatus: 'WFS Ineligible', lifecycle: 'Active', stockStatus: 'In-stock' },
    ...{ availableUnits: 94, reservedUnits: 2, onHandUnits: 99, inboundUnits: 40, inReviewUnits: 1, inMovementUnits: 2 },
    ageUnits: { days0To90: 90, days91To180: 9, days181To270: 0, days271To365: 0, daysOver365: 0 },
    firstInStockOn: '2025-03-04',
    insights: {
      ...{ daysOfSupply: '33.5', outOfStockOn: '2026-12-24', sellThroughRate: '0.45', suggestedUnits: '60', surplusUnits: '0' },
      ...{ salesForecastWeeks1To4: '80', salesForecastWeeks5To8: '81', salesForecastWeeks9To12: '82' },
    },
  })
  expect(unknownValues).toEqual([])
})

test.each([
  [{ availableUnits: null }, 'inventoryData.availableUnits'],
  [{ availableUnits: '' }, 'availableUnits: missing'],
  [{ availableUnits: 1.5 }, 'availableUnits: not a whole number of units'],
  [{ reservedUnits: 'two' }, 'reservedUnits: not a whole number of units'],
  [{ onhandUnits: { unit: 3 } }, 'inventoryData.onhandUnits'],
  [{ unavailableUnits: { inventoryReviewUnits: true } }, 'inventoryData.unavailableUnits.inventoryReviewUnits'],
  [{ inventoryAge: { '365PlusDays': 'many' } }, '365PlusDays: not a whole number of units'],
])('units are strict: %j', (data, fault) => {
  expect(parseStock(withData(data))).toMatchObject({ ok: false, key: 'MUG-BLUE', fault: expect.stringContaining(fault) })
})

test('units that are left out are null, statuses and insights lenient', () => {
  const seen: unknown[] = []
  const { publishingStatus, itemLifecycle } = sample.inventoryData
  const bare = {
    itemInformation: { sku: 7 },
    inventoryData: { publishingStatus, itemLifecycle, availableUnits: 0, stockStatus: 'Low', firstInStockDate: 'soon' },
    inventoryInsights: { daysOfSupply: {}, surplusUnits: 'many' },
  }
  const record = parseStock(bare, (value) => seen.push(value))
  if (!record.ok) throw new Error(record.fault)
  expect(record.key).toBe('7')
  expect(record.value).toMatchObject({ availableUnits: 0, reservedUnits: null, onHandUnits: null, firstInStockOn: null })
  expect(record.value.insights).toMatchObject({ daysOfSupply: null, surplusUnits: null })
  expect(seen).toEqual([
    { resource: 'stock', field: 'stockStatus', value: 'Low' },
    { resource: 'stock', field: 'firstInStockDate', value: 'soon' },
  ])
})

test('pages end with what was announced, and a page that is not full is short', async () => {
  const rows = (count: number) => Array.from({ length: count }, () => sample)
  const read = async (count: number, headers: object, limit = 3) =>
    await (await listFrom(200, page(rows(count), headers), { offset: 3, limit })).answer
  expect(await read(3, { totalCount: 7 })).toMatchObject({ nextCursor: '6', isShort: false })
  expect(await read(3, { totalCount: 6 })).toMatchObject({ nextCursor: null, isShort: false })
  expect(await read(2, { totalCount: 7 })).toMatchObject({ nextCursor: '5', isShort: true })
  // The marketplace may allow fewer items than were asked for.
  expect(await read(2, { totalCount: 7, limit: 2 })).toMatchObject({ nextCursor: '5', isShort: false })
  expect(await read(3, {})).toMatchObject({ nextCursor: '6' })
  expect(await read(2, {})).toMatchObject({ nextCursor: null })
})

test.each([
  [200, page([], { totalCount: 9 }), 'malformed'],
  [200, { headers: {}, payload: {} }, 'malformed'],
  [200, {}, 'malformed'],
  [401, { errors: [{ code: 'UNAUTHORIZED', description: 'Program Eligibility is not enabled' }] }, 'refused'],
  [404, '<html></html>', 'unavailable'],
])('%s %j is no page', async (status, body, kind) => {
  const { answer } = await listFrom(status, body)
  await expect(answer).rejects.toMatchObject({ kind })
})

test('no stock of this seller is null; an empty list is a page', async () => {
  const none = { errors: [{ code: 'CONTENT_NOT_FOUND.GMP', severity: 'INFO' }] }
  expect(await (await listFrom(404, none)).answer).toBeNull()
  expect((await (await listFrom(200, page([], { totalCount: 0 }))).answer)?.records).toEqual([])
  expect((await (await listFrom(200, { headers: { totalCount: 0 }, payload: null })).answer)?.records).toEqual([])
})

test('whatever the answer looks like, no record is lost and every failure is typed', async () => {
  let body = ''
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, body))
  const { client } = startClient(url, { connection: { profile: walmartUs, headerPrefix: 'WM' } })
  const pages = fc
    .array(withOddFields(sample), { minLength: 1, maxLength: 4 })
    .map((inventory) => ({ text: JSON.stringify(page(inventory)), length: inventory.length }))
  const broken = brokenBody(JSON.stringify(page([sample]))).map((text) => ({ text, length: null }))
  await fc.assert(
    fc.asyncProperty(fc.oneof(pages, broken), async ({ text, length }) => {
      body = text
      try {
        const read = await client.of(stockEndpoint)?.list({ offset: 0, limit: 50 }, { signal: forever() })
        if (length !== null) expect(read?.records).toHaveLength(length)
      } catch (error) {
        if (!(error instanceof MarketplaceFailure)) throw error
        expect(length).toBeNull()
      }
    }),
    { numRuns: 200 },
  )
})
