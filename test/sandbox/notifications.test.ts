import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { startSandbox } from '../../sandbox/server.ts'
import { buildDialect } from '../../sandbox/settings.ts'
import { eventually } from '../support/eventually.ts'
import {
  at,
  connect,
  items,
  type Json,
  startClient,
  startLiveClient,
  startTestSandbox,
  type TestClient,
  temporaryDirectory,
} from './support.ts'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly json: Json
}

/** A receiver that answers with `status`, or not at all; `POST /token` grants a token. */
const startReceiver = async (status: (received: Received, number: number) => number | null = () => 202) => {
  const received: Received[] = []
  const tokenRequests: Received[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const common = { path: request.url ?? '', headers: request.headers, body }
    if (request.url === '/token') {
      tokenRequests.push({ ...common, json: null })
      response.end(JSON.stringify({ access_token: `token-${tokenRequests.length}`, expires_in: 60 }))
      return
    }
    const one: Received = { ...common, json: JSON.parse(body) }
    received.push(one)
    const answer = status(one, received.length)
    if (answer !== null) response.writeHead(answer).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, received, tokenRequests }
}

const orderUpdates = { eventType: 'ORDER_UPDATES', eventVersion: 'V1', resourceName: 'ORDER' }
const subscriptionsPath = '/v3/webhooks/subscriptions'

const subscribe = async (client: TestClient, ...events: readonly object[]): Promise<readonly string[]> => {
  const reply = await client.call('POST', subscriptionsPath, { events })
  expect(reply.status).toBe(200)
  return items(reply.json, 'events').map((one) => String(at(one, 'subscriptionId')))
}

const subEvents = (received: readonly Received[]): readonly Json[] =>
  received.map(({ json }) => at(json, 'payload', 'subEventType'))
const eventIds = (received: readonly Received[]): readonly Json[] => received.map(({ json }) => at(json, 'source', 'eventId'))
const readTotals = async (client: TestClient): Promise<Json> => at(await client.control('GET', '/notifications'), 'totals')
const fast = { retryMs: 1 }

afterEach(() => void vi.useRealTimers())

test('subscriptions are made, listed, changed and deleted, without their secrets', async () => {
  const client = await startLiveClient()
  const offered = await client.call('GET', '/v3/webhooks/eventTypes')
  expect(items(offered.json, 'eventTypes')).toContainEqual(expect.objectContaining(orderUpdates))
  const authDetails = { authMethod: 'BASIC_AUTH', userName: 'shop', password: 'not-shown', authHeaderName: 'Authorization' }
  const [id = ''] = await subscribe(client, { ...orderUpdates, eventUrl: 'https://shop.example/a', authDetails })
  const listed = await client.call('GET', `${subscriptionsPath}?status=ACTIVE`)
  expect(listed.text).not.toContain('not-shown')
  expect(items(listed.json, 'events')).toEqual([
    {
      ...orderUpdates,
      subscriptionId: id,
      partnerId: 'sandbox-seller',
      eventUrl: 'https://shop.example/a',
      status: 'ACTIVE',
      authDetails: { authMethod: 'BASIC_AUTH', authHeaderName: 'Authorization', userName: 'shop' },
    },
  ])
  const changed = await client.call('PATCH', `${subscriptionsPath}/${id}`, {
    status: 'INACTIVE',
    eventUrl: 'https://shop.example/b',
  })
  expect(items(changed.json, 'events')).toMatchObject([{ status: 'INACTIVE', eventUrl: 'https://shop.example/b' }])
  expect(items((await client.call('GET', `${subscriptionsPath}?status=ACTIVE`)).json, 'events')).toEqual([])
  expect(await client.call('DELETE', `${subscriptionsPath}/${id}`)).toMatchObject({ status: 200, json: { subscriptionId: id } })
  expect((await client.call('DELETE', `${subscriptionsPath}/${id}`)).status).toBe(404)
})

test.each([
  ['an unknown event type', { eventType: 'ORDERS' }],
  ['another resource', { resourceName: 'ITEM' }],
  ['another version', { eventVersion: 'V2' }],
  ['an address that is none', { eventUrl: 'ftp://shop.example' }],
  ['an authentication without its secret', { authDetails: { authMethod: 'HMAC' } }],
])('%s is refused, and nothing is stored', async (_what, wrong) => {
  const client = await startLiveClient()
  const good = { ...orderUpdates, eventUrl: 'https://shop.example' }
  expect((await client.call('POST', subscriptionsPath, { events: [good, { ...good, ...wrong }] })).status).toBe(400)
  expect(items((await client.call('GET', subscriptionsPath)).json, 'events')).toEqual([])
})

test('the specification has no notifications', async () => {
  const client = await startClient()
  for (const path of [subscriptionsPath, '/v3/webhooks/eventTypes']) expect((await client.call('GET', path)).status).toBe(404)
})

test('subscriptions belong to their seller', async () => {
  const client = await startLiveClient()
  const [id = ''] = await subscribe(client, { ...orderUpdates, eventUrl: 'https://shop.example' })
  await client.control('POST', '/sellers', { sellerId: 'other' })
  const other = await connect(client.url, { prefix: 'WM', clientId: 'other-client', clientSecret: 'other-secret' })
  expect(items((await other.call('GET', subscriptionsPath)).json, 'events')).toEqual([])
  expect((await other.call('DELETE', `${subscriptionsPath}/${id}`)).status).toBe(404)
})

test('the events of an order are delivered with its lines and without its buyer', async () => {
  const client = await startLiveClient()
  const { url, received } = await startReceiver()
  await subscribe(client, { ...orderUpdates, eventUrl: `${url}/hook?a=b`, headers: { 'x-shop': 'one' } })
  const po = await client.place(
    [
      { sku: 'A', quantity: 2 },
      { sku: 'B', quantity: 1 },
    ],
    { alive: true },
  )
  await client.control('POST', '/buyer-cancel', { purchaseOrderId: po, lineNumber: '2', intentOnly: true })
  await client.control('POST', `/orders/${po}/fraud-cancel`, { cancels: false })
  await eventually(() => expect(subEvents(received)).toHaveLength(3))
  expect(new Set(subEvents(received))).toEqual(new Set(['PO_CREATED', 'INTENT_TO_CANCEL', 'FRAUD_CANCEL']))
  const made = received.find(({ json }) => at(json, 'payload', 'subEventType') === 'PO_CREATED')
  expect(made).toMatchObject({
    path: '/hook?a=b',
    headers: { 'content-type': 'application/json', 'x-shop': 'one' },
    json: { source: { eventType: 'ORDER_UPDATES' }, payload: { partnerId: 'sandbox-seller', order: { purchaseOrderId: po } } },
  })
  expect(items(made?.json ?? null, 'payload', 'order', 'orderLines').map((line) => at(line, 'sku'))).toEqual(['A', 'B'])
  const order = await client.order(po)
  expect(made?.body).not.toContain(String(at(order, 'customerEmailId')))
  expect(at(order, 'orderLines', 'orderLine', 1, 'intentToCancel')).not.toBeNull()
  expect(at(order, 'orderLines', 'orderLine', 0, 'orderLineStatuses', 'orderLineStatus', 0, 'status')).toBe('Created')
})

test('a cancel for fraud cancels what is not shipped, and an automatic cancel is announced', async () => {
  const client = await startLiveClient()
  const { url, received } = await startReceiver()
  await subscribe(client, { ...orderUpdates, eventUrl: url })
  const suspected = await client.place([{ sku: 'A', quantity: 2 }])
  expect(await client.control('POST', `/orders/${suspected}/fraud-cancel`)).toEqual({ cancelled: 2 })
  expect(
    at(await client.order(suspected), 'orderLines', 'orderLine', 0, 'orderLineStatuses', 'orderLineStatus', 0),
  ).toMatchObject({
    status: 'Cancelled',
    cancellationReason: 'CANCELLED_FOR_FRAUD',
  })
  const late = await client.place([{ sku: 'B', quantity: 1 }], { alive: true })
  await client.control('POST', '/clock', { advance: '20d' })
  await eventually(() => {
    const cancelled = received.find(({ json }) => at(json, 'payload', 'subEventType') === 'PO_LINE_AUTOCANCELLED')
    expect(at(cancelled?.json ?? null, 'payload', 'order', 'purchaseOrderId')).toBe(late)
  })
})

test('single events of orders are delivered until 15 December 2026', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-12-14T12:00:00Z') })
  const client = await startLiveClient()
  const { url, received } = await startReceiver()
  const single = { eventType: 'PO_CREATED', eventVersion: 'V1', resourceName: 'ORDER', eventUrl: url }
  await subscribe(client, single, { ...orderUpdates, eventUrl: url })
  const po = await client.place([{ sku: 'A', quantity: 1 }])
  await eventually(() => expect(received).toHaveLength(2))
  const types = (): readonly Json[] => received.map(({ json }) => at(json, 'source', 'eventType'))
  expect(new Set(types())).toEqual(new Set(['PO_CREATED', 'ORDER_UPDATES']))
  expect(received.map(({ json }) => at(json, 'payload', 'purchaseOrderId'))).toContain(po)
  await client.control('POST', '/clock', { advance: '1d' })
  await client.renewToken()
  expect((await client.call('POST', subscriptionsPath, { events: [single] })).status).toBe(400)
  await client.place([{ sku: 'A', quantity: 1 }])
  await eventually(() => expect(received).toHaveLength(3))
  expect(types().at(-1)).toBe('ORDER_UPDATES')
})

test('a new return, its arrival and a report that is ready are delivered', async () => {
  const client = await startLiveClient()
  const { url, received } = await startReceiver()
  await subscribe(
    client,
    { eventType: 'RETURN_CREATED', eventVersion: 'V1', resourceName: 'RETURNS', eventUrl: url },
    { eventType: 'RETURN_DELIVERED', eventVersion: 'V1', resourceName: 'RETURNS', eventUrl: url },
    { eventType: 'REPORT_STATUS', eventVersion: 'V1', resourceName: 'REPORTS', eventUrl: url },
  )
  const po = await client.place([{ sku: 'A', quantity: 1 }])
  await client.acknowledge(po)
  await client.ship(po, [{ line: '1', quantity: 1 }])
  const opened = await client.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '1', quantity: 1 }] })
  const find = (type: string): Json => received.find(({ json }) => at(json, 'source', 'eventType') === type)?.json ?? null
  await eventually(() =>
    expect(at(find('RETURN_CREATED'), 'payload', 'returnOrders', 0)).toMatchObject({
      purchaseOrderId: po,
      returnOrderId: at(opened, 'returnOrderId'),
    }),
  )
  const month = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7)
  const days = { dataStartTime: `${month}-01T00:00:00.000Z`, dataEndTime: `${month}-28T23:59:59.999Z` }
  const path = '/v3/reports/reportRequests?reportType=INVENTORY_RECON&reportVersion=v1'
  const requested = await client.call('POST', path, days)
  await client.control('POST', '/clock', { advance: '15d' })
  await eventually(() => expect(find('RETURN_DELIVERED')).not.toBeNull())
  await eventually(() =>
    expect(at(find('REPORT_STATUS'), 'payload')).toMatchObject({
      requestId: at(requested.json, 'requestId'),
      requestStatus: 'READY',
    }),
  )
})

const deliver = async (authDetails: object, form: object = {}): Promise<Received> => {
  const client = await startLiveClient()
  await client.control('PUT', '/notifications', form)
  const receiver = await startReceiver()
  await subscribe(client, { ...orderUpdates, eventUrl: `${receiver.url}/hook?x=1`, authDetails })
  await client.place([{ sku: 'A', quantity: 1 }])
  return await eventually(() => {
    const [one] = receiver.received
    if (one === undefined) throw new Error('nothing was received')
    return one
  })
}

test('BASIC_AUTH sends user and password in the header that the subscriber names', async () => {
  const details = { authMethod: 'BASIC_AUTH', userName: 'shop', password: 'secret' }
  const encoded = Buffer.from('shop:secret').toString('base64')
  expect((await deliver(details)).headers.authorization).toBe(`Basic ${encoded}`)
  const bare = await deliver({ ...details, authHeaderName: 'x-shop-auth' }, { basicScheme: false })
  expect(bare.headers['x-shop-auth']).toBe(encoded)
})

test('HMAC signs the body in the header that the subscriber names', async () => {
  const details = { authMethod: 'HMAC', clientSecret: 'secret' }
  const { headers, body } = await deliver(details)
  expect(headers.authorization).toBe(createHmac('sha256', 'secret').update(body).digest('base64'))
  const hex = await deliver({ ...details, authHeaderName: 'x-signature' }, { encoding: 'hex' })
  expect(hex.headers['x-signature']).toBe(createHmac('sha256', 'secret').update(hex.body).digest('hex'))
})

test('the other form signs method, path, time and body', async () => {
  const { headers, body } = await deliver({ authMethod: 'HMAC', clientSecret: 'secret' }, { signature: 'request' })
  const timestamp = String(headers['wm_sec.timestamp'])
  expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(60)
  const signed = `POST\n/hook?x=1\n${timestamp}\n${createHash('sha256').update(body).digest('hex')}`
  expect(headers['wm_sec.signature']).toBe(createHmac('sha256', 'secret').update(signed).digest('base64'))
  expect(headers.authorization).toBeUndefined()
})

test('OAUTH fetches one token, and another one after a refusal', async () => {
  const client = await startLiveClient()
  await client.control('PUT', '/notifications', fast)
  const { url, received, tokenRequests } = await startReceiver((_one, number) => (number === 3 ? 401 : 200))
  const authDetails = { authMethod: 'OAUTH', authUrl: `${url}/token`, clientId: 'id', clientSecret: 'secret' }
  await subscribe(client, { ...orderUpdates, eventUrl: url, authDetails })
  for (let placed = 1; placed <= 3; placed += 1) {
    await client.place([{ sku: 'A', quantity: 1 }])
    await eventually(() => expect(received.length).toBeGreaterThanOrEqual(placed))
  }
  await eventually(() => expect(received).toHaveLength(4))
  expect(received.map(({ headers }) => headers.authorization)).toEqual([1, 1, 1, 2].map((number) => `Bearer token-${number}`))
  expect(tokenRequests[0]).toMatchObject({
    body: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${Buffer.from('id:secret').toString('base64')}` },
  })
})

test('a delivery is tried three times in all', async () => {
  const client = await startLiveClient()
  await client.control('PUT', '/notifications', fast)
  const { url, received } = await startReceiver((_one, number) => (number === 5 ? 200 : 500))
  await subscribe(client, { ...orderUpdates, eventUrl: url })
  await client.place([{ sku: 'A', quantity: 1 }])
  await eventually(async () => expect(await readTotals(client)).toMatchObject({ failed: 1 }))
  expect(received).toHaveLength(3)
  expect(new Set(eventIds(received)).size).toBe(1)
  await client.place([{ sku: 'A', quantity: 1 }])
  await eventually(async () => expect(await readTotals(client)).toMatchObject({ failed: 1, delivered: 1 }))
  expect(received).toHaveLength(5)
})

test('an inactive subscription gets nothing', async () => {
  const client = await startLiveClient()
  const { url, received } = await startReceiver()
  await subscribe(
    client,
    { ...orderUpdates, eventUrl: `${url}/active` },
    { ...orderUpdates, eventUrl: `${url}/not`, status: 'INACTIVE' },
  )
  await client.place([{ sku: 'A', quantity: 1 }])
  await eventually(async () => expect(await readTotals(client)).toMatchObject({ delivered: 1, waiting: 0 }))
  expect(received.map(({ path }) => path)).toEqual(['/active'])
})

const deliverBadly = async (faults: object, orders: number) => {
  const client = await startLiveClient()
  await client.control('PUT', '/notifications', fast)
  await client.control('PUT', '/faults', { notifications: faults })
  const secret = 'secret'
  const isGenuine = ({ headers, body }: Received): boolean =>
    headers.authorization === createHmac('sha256', secret).update(body).digest('base64')
  const { url, received } = await startReceiver((one) => (isGenuine(one) ? 202 : 401))
  await subscribe(client, { ...orderUpdates, eventUrl: url, authDetails: { authMethod: 'HMAC', clientSecret: secret } })
  const placed = items(await client.control('POST', '/orders', { count: orders }), 'purchaseOrderIds')
  await eventually(async () => expect(await readTotals(client)).toMatchObject({ waiting: 0 }))
  return { client, placed, received, genuine: received.filter(isGenuine) }
}

test('duplicated deliveries arrive twice with one event id', async () => {
  const { received } = await deliverBadly({ duplicated: 1 }, 3)
  expect(received).toHaveLength(6)
  expect(new Set(eventIds(received)).size).toBe(3)
})

test('dropped deliveries are never sent, and are counted', async () => {
  const { client, received } = await deliverBadly({ dropped: 1 }, 3)
  expect(received).toEqual([])
  expect(await readTotals(client)).toMatchObject({ dropped: 3 })
  expect(at(await client.control('GET', '/faults'), 'struck', 'notifications.dropped')).toBe(3)
})

test('forged deliveries are wrongly signed, at each attempt', async () => {
  const { received, genuine } = await deliverBadly({ forged: 1 }, 2)
  expect(received).toHaveLength(6)
  expect(genuine).toEqual([])
})

test('a delayed delivery arrives later, and reordered ones in another order', async () => {
  const started = Date.now()
  await deliverBadly({ delayed: { share: 1, delayMs: 300 } }, 1)
  expect(Date.now() - started).toBeGreaterThanOrEqual(300)
  const { received, placed } = await deliverBadly({ reordered: { share: 1, delayMs: 400 } }, 12)
  const arrived = received.map(({ json }) => at(json, 'payload', 'order', 'purchaseOrderId'))
  expect(arrived).not.toEqual(placed)
  expect(new Set(arrived)).toEqual(new Set(placed))
})

test('the test operation sends a sample, and answers what the receiver answered', async () => {
  const client = await startLiveClient()
  const { url, received } = await startReceiver((one) => (one.path === '/good' ? 202 : 401))
  const good = await client.call('POST', '/v3/webhooks/test', { ...orderUpdates, eventUrl: `${url}/good` })
  expect(good).toMatchObject({ status: 200, json: { message: expect.any(String) } })
  expect(received[0]?.json).toMatchObject({ source: { eventType: 'ORDER_UPDATES' } })
  const refused = await client.call('POST', '/v3/webhooks/test', { ...orderUpdates, eventUrl: `${url}/bad` })
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('answered 401')
})

test('a delivery that was not answered is sent again after a restart', async () => {
  const { url, received } = await startReceiver((_one, number) => (number === 1 ? null : 200))
  const options = { dialect: buildDialect('walmart-us'), dataDir: await temporaryDirectory(), log: () => undefined }
  const first = await startSandbox(options)
  const client = await connect(first.url, { prefix: 'WM' })
  await subscribe(client, { ...orderUpdates, eventUrl: url })
  await client.place([{ sku: 'A', quantity: 1 }])
  await eventually(() => expect(received).toHaveLength(1))
  await first.close()
  await startTestSandbox(options)
  await eventually(() => expect(received).toHaveLength(2))
  expect(new Set(eventIds(received)).size).toBe(1)
})
