import { afterAll, beforeAll, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { at, ofItems } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
  await stage.database.execute(
    `INSERT INTO warehouse.stock_on_hand (seller_id, sku, gtin, stock_status, available_units, on_hand_units, age_0_to_90_units, first_in_stock_on,
       days_of_supply, missing_since, raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT seller, sku, 'gtin of ' || sku, 'In-stock', 4, 5, 3, '2026-01-05', 10.50, CASE WHEN sku = 'C' THEN timestamptz '2026-04-01T00:00:00Z' END,
       '\\x00', '{}', '2026-04-02T10:00:00Z', now(), now() FROM unnest('{s-1,s-2}'::text[]) AS s(seller), unnest('{A,B,C}'::text[]) AS t(sku)`,
  )
  await stage.database.execute(
    `INSERT INTO warehouse.stock_differences (seller_id, sku, gtin, counted_units, balance_units, as_of, opening_units, opening_at, unit_price, value,
       currency, state, resolution, resolved_at)
     SELECT 's-1', sku, NULL, 5, 3, '2026-04-02T10:00:00Z', 19, '2026-04-01T07:00:00Z', 4.0000, 8.00, 'USD', state, resolution,
       CASE state WHEN 'resolved' THEN now() END
     FROM (VALUES ('A', 'open', NULL), ('B', 'resolved', 'agrees'), ('B', 'open', NULL)) AS t(sku, state, resolution)`,
  )
})
afterAll(async () => {
  await server.close()
})

const keys = async (path: string): Promise<readonly string[]> => {
  const { status, body } = await server.json(path)
  expect(status).toBe(200)
  const skus = ofItems(body, 'sku')
  return ofItems(body, 'sellerId').map((sellerId, index) => `${sellerId} ${skus[index]}`)
}

test('the stock is listed by seller and SKU, page by page, without SKUs that the list no longer has', async () => {
  expect(await keys('/v1/stock')).toEqual(['s-1 A', 's-1 B', 's-2 A', 's-2 B'])
  const first = await server.json('/v1/stock?limit=3')
  expect(ofItems(first.body, 'sku')).toEqual(['A', 'B', 'A'])
  const rest = await server.json(`/v1/stock?limit=3&cursor=${at(first.body, 'nextCursor')}`)
  expect(rest.body).toMatchObject({ items: [{ sellerId: 's-2', sku: 'B' }], nextCursor: null })
  expect(at(first.body, 'items', 0)).toEqual({
    ...{
      sellerId: 's-1',
      sku: 'A',
      gtin: 'gtin of A',
      itemName: null,
      itemId: null,
      offerId: null,
      brand: null,
      itemCondition: null,
    },
    ...{
      publishingStatus: null,
      lifecycle: null,
      stockStatus: 'In-stock',
      availableUnits: 4,
      reservedUnits: null,
      onHandUnits: 5,
    },
    ...{ inboundUnits: null, inReviewUnits: null, inMovementUnits: null, firstInStockOn: '2026-01-05' },
    ageUnits: { days0To90: 3, days91To180: null, days181To270: null, days271To365: null, daysOver365: null },
    insights: {
      ...{ daysOfSupply: '10.50', outOfStockOn: null, salesForecastWeeks1To4: null, salesForecastWeeks5To8: null },
      ...{ salesForecastWeeks9To12: null, sellThroughRate: null, suggestedUnits: null, surplusUnits: null },
    },
    ...{ missingSince: null, observedAt: '2026-04-02T10:00:00.000Z', changedAt: expect.any(String) },
  })
})

test.each([
  ['/v1/stock?sellerId=s-2&sku=B', ['s-2 B']],
  ['/v1/stock?gtin=gtin%20of%20A', ['s-1 A', 's-2 A']],
  ['/v1/stock?state=missing', ['s-1 C', 's-2 C']],
  ['/v1/stock?state=all&sellerId=s-1', ['s-1 A', 's-1 B', 's-1 C']],
  ['/v1/stock?stockStatus=Out-of-stock', []],
  ['/v1/stock-differences', ['s-1 B', 's-1 A']],
  ['/v1/stock-differences?sku=B&state=all', ['s-1 B', 's-1 B']],
  ['/v1/stock-differences?state=resolved', ['s-1 B']],
  ['/v1/stock-differences?sellerId=s-2&state=all', []],
  ['/v1/stock-differences?state=all&seenTo=2026-01-01', []],
])('%s', async (path, expected) => {
  expect(await keys(path)).toEqual(expected)
})

test('a difference has its units, times and value', async () => {
  const { body } = await server.json('/v1/stock-differences?limit=1')
  expect(at(body, 'items', 0)).toEqual({
    ...{
      id: expect.stringMatching(/^\d+$/),
      sellerId: 's-1',
      sku: 'B',
      gtin: null,
      countedUnits: 5,
      balanceUnits: 3,
      difference: 2,
    },
    ...{ asOf: '2026-04-02T10:00:00.000Z', openingUnits: 19, openingAt: '2026-04-01T07:00:00.000Z' },
    ...{ unitPrice: '4.0000', value: '8.00', currency: 'USD', state: 'open', resolution: null, resolvedAt: null },
    ...{ firstSeenAt: expect.any(String), changedAt: expect.any(String) },
  })
  const rest = await server.json(`/v1/stock-differences?limit=1&cursor=${at(body, 'nextCursor')}`)
  expect(rest.body).toMatchObject({ items: [{ sku: 'A' }], nextCursor: null })
})

test.each(['/v1/stock?state=open', '/v1/stock-differences?state=missing', '/v1/stock?cursor=nonsense'])(
  '%s is refused',
  async (path) => {
    expect(await server.json(path)).toMatchObject({
      status: 400,
      body: { errors: [{ path: expect.stringMatching(/^query\./) }] },
    })
  },
)
