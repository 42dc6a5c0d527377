import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { replenishmentEndpoint } from '../../../src/clients/marketplace/replenishment.ts'
import { forever, sendJson, startClient, startMarketplace } from '../servers.ts'
import { brokenBody, withOddFields } from './fuzzed.ts'

const sample = { itemId: 'I-1', gtin: '00012345678905', upc: '012345678905', vendorSku: 'MUG-1', suggestedQty: 40, maxQty: 120 }
const envelope = (replenishments: unknown, more: object = {}) => ({ status: 'OK', payload: { replenishments }, ...more })

const startWith = async (status: number, body: unknown, connection: object = {}) => {
  const market = await startMarketplace((_request, response) => sendJson(response, status, body))
  return { ...startClient(market.url, { connection }), seen: market.seen }
}
const options = () => ({ signal: forever() })

const buildFailure = async (work: Promise<unknown>): Promise<MarketplaceFailure> => {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (outcome instanceof MarketplaceFailure) return outcome
  throw new Error(`no failure of the marketplace: ${String(outcome)}`)
}

test('SKUs or GTINs go into the body under the names of the specification', async () => {
  const { client, seen } = await startWith(200, envelope([]))
  await client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1', 'MUG 2'] }, options())
  await client.of(replenishmentEndpoint).recommend({ gtins: ['00012345678905'] }, options())
  const [skus, gtins] = seen.slice(1)
  expect(`${skus?.method} ${skus?.target}`).toBe('POST /v3/wfs/recommendation/shipment-quantity')
  expect(JSON.parse(skus?.body ?? '')).toEqual({ sku: ['MUG-1', 'MUG 2'] })
  expect(skus?.headers).toMatchObject({ 'content-type': 'application/json', 'xx_sec.access_token': 'token-1' })
  expect(JSON.parse(gtins?.body ?? '')).toEqual({ gtins: ['00012345678905'] })
})

test('a SKU is read in its normal form, and its record keeps what came', async () => {
  const { client } = await startWith(200, envelope([{ ...sample, vendorSku: ' PO\u0308T' }]))
  const { records } = await client.of(replenishmentEndpoint).recommend({ skus: [' PO\u0308T'] }, options())
  expect(records).toMatchObject([{ key: 'P\u00d6T', value: { vendorSku: 'P\u00d6T', raw: { vendorSku: ' PO\u0308T' } } }])
})

test('the other path and repeated query parameters, where the profile asks for them', async () => {
  const profile = {
    ...specification,
    replenishmentPath: '/v3/wfs/recommendations/inbound',
    replenishmentRequest: { ...specification.replenishmentRequest, keysIn: 'query' as const },
  }
  const { client, seen } = await startWith(200, envelope([]), { profile })
  await client.of(replenishmentEndpoint).recommend({ skus: ['MUG 1', 'A&B=C'] }, options())
  expect(seen.at(-1)).toMatchObject({
    method: 'POST',
    target: '/v3/wfs/recommendations/inbound?sku=MUG%201&sku=A%26B%3DC',
    body: '',
  })
})

test('the live profile has names and headers of its own', async () => {
  const { client, seen } = await startWith(200, envelope([]), { profile: walmartUs, headerPrefix: 'WM' })
  await client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options())
  expect(JSON.parse(seen.at(-1)?.body ?? '')).toEqual({ listOfSkus: ['MUG-1'] })
  expect(seen.at(-1)?.headers).toMatchObject({ wm_global_version: '3.1', wm_market: 'us' })
  await client.of(replenishmentEndpoint).recommend({ gtins: ['1'] }, options())
  expect(JSON.parse(seen.at(-1)?.body ?? '')).toEqual({ listOfGtins: ['1'] })
})

test('none, or more keys than one request may carry, is refused before anything is sent', async () => {
  const { client, seen } = await startWith(200, envelope([]))
  const tooMany = Array.from({ length: client.of(replenishmentEndpoint).maxKeys + 1 }, (_, index) => `S-${index}`)
  await expect(client.of(replenishmentEndpoint).recommend({ skus: [] }, options())).rejects.toThrow(RangeError)
  await expect(client.of(replenishmentEndpoint).recommend({ skus: tooMany }, options())).rejects.toThrow(RangeError)
  expect(seen).toEqual([])
})

test('a recommendation is read field by field; the suggested quantity may be absent', async () => {
  const { suggestedQty, ...rest } = sample
  const { client } = await startWith(
    200,
    envelope([sample, { ...rest, vendorSku: 'MUG-2', maxQty: '7', customerFavorite: true }]),
  )
  const { records } = await client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1', 'MUG-2'] }, options())
  expect(records.map((record) => record.ok && record.value)).toMatchObject([
    {
      itemId: 'I-1',
      gtin: '00012345678905',
      upc: '012345678905',
      vendorSku: 'MUG-1',
      suggestedQuantity: suggestedQty,
      maxQuantity: 120,
    },
    { vendorSku: 'MUG-2', suggestedQuantity: null, maxQuantity: 7, raw: { customerFavorite: true } },
  ])
})

test.each([
  [-1, 'suggestedQty'],
  [1.5, 'suggestedQty'],
  ['many', 'suggestedQty'],
])('%j units are no quantity: the record is kept with its fault', async (suggestedQty, field) => {
  const { client } = await startWith(200, envelope([{ ...sample, suggestedQty }]))
  const [record] = (await client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options())).records
  expect(record).toMatchObject({ ok: false, key: 'MUG-1' })
  expect(record?.ok === false && record.fault).toContain(field)
})

test('400.WFS.100 is a refusal; items that are not known at all are no recommendations', async () => {
  const required = { status: 'FAIL', errors: [{ code: '400.WFS.100', description: 'gtin/sku is required attribute.' }] }
  const { client } = await startWith(400, required)
  expect(await buildFailure(client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options()))).toMatchObject({
    kind: 'refused',
    httpStatus: 400,
    faults: [{ code: '400.WFS.100' }],
  })
  const invalid = { status: 'INTERNAL_SERVER_ERROR', errors: [{ code: '500.WFS.100', info: "All GTIN's are invalid" }] }
  for (const status of [200, 400, 500]) {
    const { client: asked } = await startWith(status, invalid)
    expect((await asked.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options())).records).toEqual([])
  }
  const trouble = { status: 'INTERNAL_SERVER_ERROR', errors: [{ code: '500.WFS.100', description: 'try again' }] }
  const { client: failing } = await startWith(500, trouble)
  expect((await buildFailure(failing.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options()))).kind).toBe(
    'unavailable',
  )
})

test('a lookup may be repeated: a broken connection leaves nothing open', async () => {
  const market = await startMarketplace((_request, response) => response.destroy())
  const { client } = startClient(market.url)
  expect((await buildFailure(client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options()))).kind).toBe(
    'unavailable',
  )
})

test('nothing there is an empty page, a page of the gateway is an outage, a partial answer is none', async () => {
  const none = { errors: [{ code: 'CONTENT_NOT_FOUND.WFS', severity: 'INFO' }] }
  const ask = async (status: number, body: unknown) =>
    (await startWith(status, body)).client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options())
  expect((await ask(404, none)).records).toEqual([])
  expect((await ask(200, envelope(null))).records).toEqual([])
  expect((await ask(200, { status: 'OK', payload: null })).records).toEqual([])
  expect(await buildFailure(ask(404, { errors: [{ code: 'URI_NOT_FOUND' }] }))).toMatchObject({
    kind: 'refused',
    httpStatus: 404,
  })
  expect(await buildFailure(ask(404, '<html></html>'))).toMatchObject({ kind: 'unavailable', httpStatus: 404 })
  expect((await buildFailure(ask(200, envelope([sample], { status: 'PARTIAL' })))).kind).toBe('malformed')
  expect((await buildFailure(ask(200, envelope([sample], { status: 'FAIL' })))).kind).toBe('unavailable')
  expect((await buildFailure(ask(200, { status: 'OK' }))).kind).toBe('malformed')
})

test('whatever the answer looks like, no record is lost and every failure is typed', async () => {
  let body = ''
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, body))
  const { client } = startClient(url)
  const pages = fc
    .array(withOddFields(sample), { minLength: 1, maxLength: 4 })
    .map((items) => ({ text: JSON.stringify(envelope(items)), length: items.length }))
  const broken = brokenBody(JSON.stringify(envelope([sample]))).map((text) => ({ text, length: null }))
  await fc.assert(
    fc.asyncProperty(fc.oneof(pages, broken), async ({ text, length }) => {
      body = text
      try {
        const page = await client.of(replenishmentEndpoint).recommend({ skus: ['MUG-1'] }, options())
        if (length !== null) expect(page.records).toHaveLength(length)
      } catch (error) {
        if (!(error instanceof MarketplaceFailure)) throw error
        expect(length).toBeNull()
      }
    }),
    { numRuns: 200 },
  )
})
