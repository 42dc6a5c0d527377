import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { apiStatusEndpoint } from '../../../src/clients/marketplace/utilities/api-status.ts'
import { startLiveClient } from '../../sandbox/support.ts'
import { forever, sendJson, startClient, startMarketplace } from '../servers.ts'

const options = { signal: forever() }

const connect = (url: string, more: { readonly clientId?: string; readonly clientSecret?: string } = {}) => {
  const { client } = startClient(url, { connection: { profile: walmartUs, headerPrefix: 'WM', ...more } })
  const statuses = client.of(apiStatusEndpoint)
  if (statuses === null) throw new Error('the profile has no status')
  return statuses
}

const connectTo = async (body: unknown) =>
  connect((await startMarketplace((_request, response) => sendJson(response, 200, body))).url)

test('the specification has no status', () => {
  const { client } = startClient('http://127.0.0.1:1', { connection: { profile: specification } })
  expect(client.of(apiStatusEndpoint)).toBeNull()
})

test('the sandbox reports every group, and the outages that it is told to report', async () => {
  const sandbox = await startLiveClient()
  const statuses = connect(sandbox.url, { clientId: 'sandbox-client', clientSecret: 'sandbox-secret' })
  const before = await statuses.list(options)
  expect(before.map(({ apiGroup }) => apiGroup)).toEqual(expect.arrayContaining(['Orders', 'Returns', 'Inventory']))
  expect(new Set(before.map(({ status }) => status))).toEqual(new Set(['OPERATIONAL']))
  await sandbox.control('PUT', '/api-status', { Orders: 'SERVICE_OUTAGE', Returns: 'SERVICE_DEGRADATION' })
  const disturbed = (await statuses.list(options)).filter(({ status }) => status !== 'OPERATIONAL')
  expect(disturbed).toEqual([
    { apiGroup: 'Returns', status: 'SERVICE_DEGRADATION', updatedAt: expect.any(Date) },
    { apiGroup: 'Orders', status: 'SERVICE_OUTAGE', updatedAt: expect.any(Date) },
  ])
  await sandbox.control('PUT', '/api-status', {})
  expect((await statuses.list(options)).every(({ status }) => status === 'OPERATIONAL')).toBe(true)
})

test('unknown fields are ignored, and a group without a readable name and status is left out', async () => {
  const lastUpdatedTime = '2026-11-27T10:00:00Z'
  const orders = { apiGroup: 'Orders', status: 'service_outage', lastUpdatedTime, region: 'east' }
  const odd = [
    { status: 'OPERATIONAL' },
    { apiGroup: 7, status: 'OPERATIONAL' },
    { apiGroup: 'Items', status: 'see https://x.example' },
  ]
  const statuses = await connectTo({
    apiStatuses: [...odd, orders, { apiGroup: 'Items', status: 'UNKNOWN', lastUpdatedTime: 'soon' }],
    more: true,
  })
  expect(await statuses.list(options)).toEqual([
    { apiGroup: 'Orders', status: 'SERVICE_OUTAGE', updatedAt: new Date(lastUpdatedTime) },
    { apiGroup: 'Items', status: 'UNKNOWN', updatedAt: null },
  ])
})

test('an answer without the list is a failure', async () => {
  const statuses = await connectTo({ apiStatuses: 'none' })
  const error: unknown = await statuses.list(options).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(MarketplaceFailure)
})
