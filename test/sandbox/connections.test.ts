import { expect, test } from 'vitest'
import { startSandbox } from '../../sandbox/server.ts'
import { at, connect, items, type Json, startClient, startTestSandbox, type TestClient, temporaryDirectory } from './support.ts'

interface Connected {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
}

const connectSeller = async (client: TestClient, sellerId: string, more: object = {}): Promise<Connected> => {
  const made = await client.control('POST', '/connections', { sellerId, ...more })
  const text = (name: string): string => String(at(made, name))
  expect(made).toMatchObject({ sellerId, partnerId: sellerId })
  return { clientId: text('clientId'), clientSecret: text('clientSecret'), refreshToken: text('refreshToken') }
}

/** Requests a token as a solution provider does. */
const refresh = async (
  url: string,
  { clientId, clientSecret, refreshToken }: Connected,
  partnerId: string | null,
): Promise<{ readonly status: number; readonly json: Json }> => {
  const answer = await fetch(`${url}/v3/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(partnerId === null ? {} : { 'XX_PARTNER.ID': partnerId }),
    },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }).toString(),
  })
  const json: Json = JSON.parse(await answer.text())
  return { status: answer.status, json }
}
const states = async (client: TestClient): Promise<readonly Json[]> =>
  items(await client.control('GET', '/connections'), 'items').map((connection) => at(connection, 'state'))

test('one app has a refresh token for each seller, which is valid with the partner header only', async () => {
  const client = await startClient()
  const one = await connectSeller(client, 'seller-one')
  const two = await connectSeller(client, 'seller-two')
  expect(one.clientId).toBe(two.clientId)
  const granted = await refresh(client.url, one, 'seller-one')
  expect(granted).toMatchObject({ status: 200, json: { token_type: 'Bearer', expires_in: 900 } })
  expect(at(granted.json, 'refresh_token')).toBeNull()
  const headers = { 'XX_SEC.ACCESS_TOKEN': String(at(granted.json, 'access_token')) }
  await client.place([{ sku: 'A' }], { sellerId: 'seller-one' })
  const orders = await client.call('GET', '/v3/orders', undefined, headers)
  expect(items(orders.json, 'list', 'elements', 'order')).toHaveLength(1)

  for (const [connected, partnerId, error] of [
    [one, null, 'invalid_request'],
    [one, 'seller-two', 'invalid_grant'],
    [{ ...one, refreshToken: 'unknown' }, 'seller-one', 'invalid_grant'],
    [{ ...one, clientSecret: 'wrong' }, 'seller-one', 'invalid_client'],
    [{ ...one, clientId: 'sandbox-client', clientSecret: 'sandbox-secret' }, 'seller-one', 'invalid_client'],
  ] as const)
    expect(await refresh(client.url, connected, partnerId)).toMatchObject({ status: 400, json: { error } })
  await expect(client.control('POST', '/connections', { sellerId: 'x', clientId: 'sandbox-client' })).rejects.toThrow(/409/)
})

test('a rotating token is replaced by each use, and a replaced one that is used again revokes the connection', async () => {
  const dataDir = await temporaryDirectory()
  const sandbox = await startSandbox({ dataDir, log: () => undefined })
  const { url } = sandbox
  const client = await connect(url)
  const first = await connectSeller(client, 'seller-one', { rotates: true })
  const answer = await refresh(url, first, 'seller-one')
  const second = { ...first, refreshToken: String(at(answer.json, 'refresh_token')) }
  expect(second.refreshToken).not.toBe(first.refreshToken)
  expect(await refresh(url, second, 'seller-one')).toMatchObject({ status: 200 })
  expect(await states(client)).toEqual(['replaced', 'replaced', 'active'])
  await sandbox.close()

  const again = await startTestSandbox({ dataDir })
  const other = await connect(again.url)
  expect(await refresh(again.url, first, 'seller-one')).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
  expect(await states(other)).toEqual(['revoked', 'revoked', 'revoked'])
})

test('a revoked connection gets no token and its tokens end; a new consent is a new connection', async () => {
  const client = await startClient()
  const connected = await connectSeller(client, 'seller-one')
  const granted = await refresh(client.url, connected, 'seller-one')
  const headers = { 'XX_SEC.ACCESS_TOKEN': String(at(granted.json, 'access_token')) }
  expect(await client.control('POST', '/connections/revoke', { sellerId: 'seller-one' })).toEqual({ revoked: 1 })
  expect(await refresh(client.url, connected, 'seller-one')).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
  expect((await client.call('GET', '/v3/orders', undefined, headers)).status).toBe(401)
  const renewed = await connectSeller(client, 'seller-one')
  expect(await refresh(client.url, renewed, 'seller-one')).toMatchObject({ status: 200 })
  expect(await states(client)).toEqual(['revoked', 'active'])
})
