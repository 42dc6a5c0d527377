import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { type Destination, subscriptionsEndpoint } from '../../../src/clients/marketplace/notifications/subscriptions.ts'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { type Answer, forever, sendJson, startClient, startMarketplace } from '../servers.ts'

const orders = { eventType: 'ORDER_UPDATES', eventVersion: 'V1', resourceName: 'ORDER' }
const wire = { ...orders, subscriptionId: 's-1', partnerId: 10, eventUrl: 'https://shop.example/a', status: 'ACTIVE' }
const read = { id: 's-1', eventType: 'ORDER_UPDATES', resourceName: 'ORDER', url: wire.eventUrl, isActive: true, mode: null }
const destination: Destination = { url: 'https://shop.example/a', proof: { mode: 'hmac', secret: 'a-secret-of-the-tests' } }
const options = { signal: forever() }

const connect = async (answer: Answer) => {
  const { url, seen } = await startMarketplace(answer)
  const { client, logged } = startClient(url, { connection: { profile: walmartUs, headerPrefix: 'WM' } })
  const subscriptions = client.of(subscriptionsEndpoint)
  if (subscriptions === null) throw new Error('the profile has no subscriptions')
  return { subscriptions, seen, logged }
}

const answerWith = (status: number, body: unknown) => connect((_request, response) => sendJson(response, status, body))

const failure = async (call: Promise<unknown>): Promise<MarketplaceFailure> => {
  const error: unknown = await call.then(() => null).catch((caught: unknown) => caught)
  if (!(error instanceof MarketplaceFailure)) throw new Error('the call did not fail')
  return error
}

test('the specification has no subscriptions', async () => {
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, {}))
  expect(startClient(url, { connection: { profile: specification } }).client.of(subscriptionsEndpoint)).toBeNull()
})

test.each([
  ['a list', { events: [wire] }, [read]],
  ['lists in a list', { events: [{ event: [wire, { ...wire, subscriptionId: 2 }] }] }, [read, { ...read, id: '2' }]],
  ['a single object', { events: wire }, [read]],
  [
    'an inactive one with its authentication',
    { events: [{ ...wire, status: 'INACTIVE', authDetails: { authMethod: 'OAUTH' } }] },
    [{ ...read, isActive: false, mode: 'oauth' }],
  ],
  ['an unknown authentication', { events: [{ ...wire, authDetails: { authMethod: 'MTLS' } }] }, [read]],
  [
    'fields of an unexpected type',
    { events: [{ ...wire, resourceName: 7, authDetails: 'none' }] },
    [{ ...read, resourceName: null }],
  ],
])('subscriptions are read from %s', async (_what, body, expected) => {
  const { subscriptions, seen } = await answerWith(200, body)
  expect(await subscriptions.list(options)).toEqual(expected)
  expect(seen.at(-1)).toMatchObject({ method: 'GET', target: '/v3/webhooks/subscriptions' })
})

test('a list without what identifies a subscription is not a list', async () => {
  const { subscriptions } = await answerWith(200, { events: [{ eventType: 'ORDER_UPDATES' }] })
  expect((await failure(subscriptions.list(options))).kind).toBe('malformed')
})

test('"not found" is an empty list', async () => {
  const fault = { code: 'CONTENT_NOT_FOUND.GMP_NOTIFICATION_API', severity: 'INFO', description: 'none' }
  const { subscriptions } = await answerWith(404, { errors: { error: [fault] } })
  expect(await subscriptions.list(options)).toEqual([])
})

test('event types are read', async () => {
  const { subscriptions, seen } = await answerWith(200, { eventTypes: [{ ...orders, description: 'orders' }] })
  expect(await subscriptions.listEventTypes(options)).toEqual([orders])
  expect(seen.at(-1)?.target).toBe('/v3/webhooks/eventTypes')
})

test.each([
  ['basic', { mode: 'basic', user: 'u', password: 'p' }, { authMethod: 'BASIC_AUTH', userName: 'u', password: 'p' }],
  ['hmac', { mode: 'hmac', secret: 's' }, { authMethod: 'HMAC', clientSecret: 's' }],
  [
    'oauth',
    { mode: 'oauth', tokenUrl: 'https://shop.example/token', clientId: 'i', clientSecret: 's' },
    { authMethod: 'OAUTH', authUrl: 'https://shop.example/token', clientId: 'i', clientSecret: 's' },
  ],
] as const)('a subscription with %s is created in one request', async (_mode, proof, details) => {
  const { subscriptions, seen } = await answerWith(200, { events: [wire] })
  expect(await subscriptions.create([orders], { ...destination, proof }, options)).toEqual([read])
  expect(seen.at(-1)).toMatchObject({ method: 'POST', target: '/v3/webhooks/subscriptions' })
  expect(JSON.parse(seen.at(-1)?.body ?? '')).toEqual({
    events: [
      { ...orders, eventUrl: destination.url, authDetails: { ...details, authHeaderName: 'Authorization' }, status: 'ACTIVE' },
    ],
  })
})

test('a subscription is changed with PATCH and removed with DELETE, by its encoded id', async () => {
  const { subscriptions, seen } = await connect((request, response) =>
    sendJson(response, 200, request.method === 'PATCH' ? { events: [wire] } : { subscriptionId: 's/1', message: 'deleted' }),
  )
  await subscriptions.update('s/1', destination, options)
  await subscriptions.remove('s/1', options)
  const [patch, removal] = seen.slice(-2)
  expect(patch).toMatchObject({ method: 'PATCH', target: '/v3/webhooks/subscriptions/s%2F1' })
  expect(JSON.parse(patch?.body ?? '')).toMatchObject({ eventUrl: destination.url, status: 'ACTIVE' })
  expect(removal).toMatchObject({ method: 'DELETE', target: '/v3/webhooks/subscriptions/s%2F1', body: '' })
})

test('a test is requested for one event type, and its refusal is a refusal', async () => {
  const accepted = await answerWith(200, { message: 'validated' })
  expect(await accepted.subscriptions.test(orders, destination, options)).toBe('validated')
  expect(accepted.seen.at(-1)).toMatchObject({ method: 'POST', target: '/v3/webhooks/test' })
  const fault = { code: 'INVALID_REQUEST_CONTENT.X', severity: 'ERROR', field: 'eventUrl', description: 'eventUrl answered 401' }
  const refused = await answerWith(400, { errors: { error: [fault] } })
  const error = await failure(refused.subscriptions.test(orders, destination, options))
  expect(error).toMatchObject({ kind: 'refused', faults: [{ description: 'eventUrl answered 401' }] })
})

test('a secret that an answer echoes is redacted', async () => {
  const fault = { code: 'INVALID_REQUEST_CONTENT.X', severity: 'ERROR', description: 'a-secret-of-the-tests is too weak' }
  const { subscriptions, logged } = await answerWith(400, { errors: { error: [fault] } })
  const error = await failure(subscriptions.create([orders], destination, options))
  expect(error.faults).toMatchObject([{ description: '[redacted] is too weak' }])
  expect(JSON.stringify([error, error.message, logged])).not.toContain('a-secret-of-the-tests')
})

test('a change without an answer is unknown, and is sent once', async () => {
  const { subscriptions, seen } = await connect((_request, response) => void response.socket?.destroy())
  expect((await failure(subscriptions.update('s-1', destination, options))).kind).toBe('unknown')
  expect(seen.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
})
