import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { salesChannelsEndpoint } from '../../../src/clients/marketplace/sales-channels.ts'
import { forever, sendJson, startClient, startMarketplace } from '../servers.ts'
import { brokenBody, withOddFields } from './fuzzed.ts'

const sample = {
  orderChannelId: 'CH-1',
  orderChannelName: 'Own shop',
  boxCatalogType: 'multichannel',
  shippping: 'Standard and expedited',
  returnAddress: {
    line1: '1 Quay Street',
    line2: null,
    city: 'Portland',
    state: 'OR',
    country: 'USA',
    zip: 97201,
    addressType: 'OFFICE',
  },
  active: 'Y',
  sellerId: '10001',
  sellerName: 'Dock Seven',
  createdDate: '2026-01-02T03:04:05.678-08:00',
  martId: '202',
}
const envelope = (payload: unknown, more: object = {}) => ({
  status: 'OK',
  header: { headerAttributes: {} },
  errors: [],
  payload,
  ...more,
})

const listFrom = async (status: number, body: unknown, connection: object = {}) => {
  const market = await startMarketplace((_request, response) => sendJson(response, status, body))
  const { client, unknownValues } = startClient(market.url, { connection })
  return { page: client.of(salesChannelsEndpoint).list({ signal: forever() }), unknownValues, seen: market.seen }
}

const buildFailure = async (work: Promise<unknown>): Promise<MarketplaceFailure> => {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (outcome instanceof MarketplaceFailure) return outcome
  throw new Error(`no failure of the marketplace: ${String(outcome)}`)
}

test('the specification’s headers: those of the group, the user, the market under both names, no query', async () => {
  const { page, seen } = await listFrom(200, envelope([]))
  expect(await page).toMatchObject({ records: [], nextCursor: null })
  const request = seen.at(-1)
  expect(`${request?.method} ${request?.target}`).toBe('GET /v3/fulfillment/orders-fulfillments/channel-details')
  expect(request?.headers).toMatchObject({
    'xx_svc.name': 'Tallyman',
    'xx_sec.access_token': 'token-1',
    loggedinuser: 'Tallyman',
    martid: '202',
    xxmartid: '202',
  })
  expect(request?.headers['xx_qos.correlation_id']).toMatch(/^[0-9a-f-]{36}$/)
})

test('the spelling without underscores, where the profile asks for it', async () => {
  const profile = { ...specification, channelDetails: { ...specification.channelDetails, headerSpelling: 'plain' as const } }
  const { page, seen } = await listFrom(200, envelope([]), { profile })
  await page
  const headers = seen.at(-1)?.headers ?? {}
  expect(headers).toMatchObject({ 'xxsvc.name': 'Tallyman', 'xxsec.accesstoken': 'token-1', xxmartid: '202' })
  expect(headers['xxqos.correlationid']).toMatch(/^[0-9a-f-]{36}$/)
  expect(Object.keys(headers).filter((name) => name.startsWith('xx_'))).toEqual([])
})

test('the live profile: its prefix, every spelling of the market, the seller as partner', async () => {
  const { page, seen } = await listFrom(200, envelope([]), { profile: walmartUs, headerPrefix: 'WM' })
  await page
  const request = seen.at(-1)
  expect(request?.target).toBe('/v3/fulfillment/orders-fulfillments/channel-details?partnerId=S-1')
  expect(request?.headers).toMatchObject({ martid: '202', wmmartid: '202', wm_mart_id: '202', loggedinuser: 'Tallyman' })
})

test('a channel is read field by field', async () => {
  const { page } = await listFrom(200, envelope([sample]))
  const [record] = (await page)?.records ?? []
  if (record?.ok !== true) throw new Error('not read')
  expect(record.key).toBe('CH-1')
  expect(record.value).toMatchObject({
    orderChannelName: 'Own shop',
    boxCatalogType: 'multichannel',
    shippingMethods: 'Standard and expedited',
    returnAddress: { line1: '1 Quay Street', line2: null, line3: null, city: 'Portland', zip: '97201', addressType: 'OFFICE' },
    active: true,
    partnerId: '10001',
    partnerName: 'Dock Seven',
    createdDate: new Date('2026-01-02T11:04:05.678Z'),
    martId: '202',
  })
})

test('the shipping methods are read under either spelling; active is Y, true or their opposites', async () => {
  const { shippping, ...rest } = sample
  const states = ['Y', 'y', 'true', true, 'N', 'false', false, 'sometimes', null, '']
  const payload = [
    { ...rest, shipping: shippping },
    ...states.map((active, index) => ({ ...sample, orderChannelId: `A-${index}`, active })),
  ]
  const { page, unknownValues } = await listFrom(200, envelope(payload))
  const values = ((await page)?.records ?? []).map((record) => (record.ok ? record.value : null))
  expect(values.map((value) => value?.shippingMethods)).toEqual(values.map(() => shippping))
  expect(values.slice(1).map((value) => value?.active)).toEqual([true, true, true, true, false, false, false, null, null, null])
  expect(unknownValues).toEqual([{ resource: 'sales-channel', field: 'active', value: 'sometimes' }])
})

test('no channels: an empty list or null; no such thing for this seller: null', async () => {
  expect((await (await listFrom(200, envelope(null))).page)?.records).toEqual([])
  expect((await (await listFrom(200, envelope([]))).page)?.records).toEqual([])
  const none = { errors: [{ code: 'CONTENT_NOT_FOUND.GMP', severity: 'INFO' }] }
  expect(await (await listFrom(404, none)).page).toBeNull()
  const failure = await buildFailure((await listFrom(404, '<html></html>')).page)
  expect(failure).toMatchObject({ kind: 'unavailable', httpStatus: 404 })
})

test.each([
  ['FAIL', 'unavailable'],
  ['INTERNAL_SERVER_ERROR', 'unavailable'],
  ['TOO_MANY_REQUESTS', 'throttled'],
  ['PARTIAL', 'malformed'],
  ['ACCEPTED', 'malformed'],
])('a 200 with the status %s is a failure', async (status, kind) => {
  expect((await buildFailure((await listFrom(200, envelope([sample], { status }))).page)).kind).toBe(kind)
})

test('a 200 with errors is a failure, with any status', async () => {
  const errors = [{ code: 'INVALID_REQUEST_PARAM', field: 'partnerId', severity: 'ERROR' }]
  expect((await buildFailure((await listFrom(200, envelope([sample], { errors }))).page)).kind).toBe('refused')
})

test('a channel that cannot be read stays with its text, beside those that can', async () => {
  const { page } = await listFrom(200, envelope([{ orderChannelName: 'nameless' }, sample, 'text']))
  const records = (await page)?.records ?? []
  expect(records.map((record) => record.ok)).toEqual([false, true, false])
  expect(records[0]).toMatchObject({ key: null, rawText: '{"orderChannelName":"nameless"}' })
})

test('whatever the answer looks like, no record is lost and every failure is typed', async () => {
  let body = ''
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, body))
  const { client } = startClient(url)
  const pages = fc
    .array(withOddFields(sample), { minLength: 1, maxLength: 4 })
    .map((payload) => ({ text: JSON.stringify(envelope(payload)), length: payload.length }))
  const broken = brokenBody(JSON.stringify(envelope([sample]))).map((text) => ({ text, length: null }))
  await fc.assert(
    fc.asyncProperty(fc.oneof(pages, broken), async ({ text, length }) => {
      body = text
      try {
        const page = await client.of(salesChannelsEndpoint).list({ signal: forever() })
        if (length !== null) expect(page?.records).toHaveLength(length)
      } catch (error) {
        if (!(error instanceof MarketplaceFailure)) throw error
        expect(length).toBeNull()
      }
    }),
    { numRuns: 200 },
  )
})
