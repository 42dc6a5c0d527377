import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MarketplaceNotification } from '../../src/domain/sync/notification.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { withDatabase } from '../support/database.ts'
import { textAt } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
const secret = 'marketplace:a-long-password'
const counters = createMetrics({ version: '0.0.0-test', processMetrics: false })

let server: TestServer
let accepted: (readonly [sellerId: string, notification: MarketplaceNotification])[] = []

beforeAll(async () => {
  const secrets: Readonly<Record<string, string | null>> = { 's-1': secret, open: null }
  server = await startServer(stage.database, {
    apiKey: 'a-key-of-the-tests',
    counters,
    notifications: {
      findSecret: (sellerId) => secrets[sellerId],
      accept: async (sellerId, notification) => {
        const isNew = accepted.every(([, { eventId }]) => eventId !== notification.eventId)
        accepted.push([sellerId, notification])
        return isNew
      },
    },
  })
})
afterAll(() => server.close())
beforeEach(() => {
  accepted = []
  counters.registry.resetMetrics()
})

const body = (eventType: string, eventId = 'e-1'): string =>
  JSON.stringify({ source: { eventType, eventId }, payload: { purchaseOrderId: '108', customerName: 'Ada' } })

const post = (path: string, text: string, headers: Readonly<Record<string, string>>) =>
  server.json(path, { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } })

const sign = (text: string): Record<string, string> => ({
  authorization: createHmac('sha256', secret).update(text).digest('base64'),
})

const send = (text: string, headers = sign(text)) => post('/v1/notifications/s-1', text, headers)

const counts = async (): Promise<Record<string, number>> => {
  const { values } = await counters.notifications.get()
  return Object.fromEntries(values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.outcome, value]))
}

describe('POST /v1/notifications/{sellerId}', () => {
  test('accepts a proven notification with ids alone, and a repeated one as a duplicate', async () => {
    expect(await send(body('PO_CREATED'))).toMatchObject({ status: 202, body: { status: 'accepted' } })
    expect(await send(body('PO_CREATED'))).toMatchObject({ status: 202, body: { status: 'duplicate' } })
    const records = [{ resource: 'orders', recordId: '108' }]
    expect(accepted[0]).toEqual(['s-1', { eventId: 'e-1', eventType: 'PO_CREATED', records, hold: null }])
    expect(await counts()).toEqual({ accepted: 1, duplicate: 1 })
  })

  test('acknowledges and counts what is not read', async () => {
    expect(await send(body('OFFER_PUBLISHED'))).toMatchObject({ status: 202, body: { status: 'ignored' } })
    expect(await send(JSON.stringify({ source: { eventType: 'PO_CREATED' } }))).toMatchObject({ status: 202 })
    expect(accepted).toEqual([])
    expect(await counts()).toEqual({ other: 1, unreadable: 1 })
  })

  test('refuses a forged one: it is counted, logged without the secret, and nothing is done', async () => {
    for (const headers of [{}, { authorization: 'Basic eDp5' }, sign('{}'), { authorization: 'Bearer a-key-of-the-tests' }])
      expect(await send(body('FRAUD_CANCEL'), headers)).toMatchObject({ status: 401, body: { code: 'invalid-signature' } })
    expect(accepted).toEqual([])
    expect(await counts()).toEqual({ refused: 4 })
    const lines = server.log.filter(({ seller_id: sellerId }) => sellerId === 's-1').map((line) => JSON.stringify(line))
    expect(lines.join()).toContain('refused a notification')
    expect(lines.join()).not.toMatch(/a-long-password|Ada|108/)
  })

  test('refuses a proven body that is no notification', async () => {
    expect(await send('{}')).toMatchObject({ status: 422, body: { code: 'invalid-body' } })
    expect(await send('PO_CREATED')).toMatchObject({ status: 422 })
    expect(await counts()).toEqual({ malformed: 2 })
  })

  test('refuses a body that is too large', async () => {
    expect(await send(JSON.stringify({ text: 'x'.repeat(1_100_000) }))).toMatchObject({ status: 413 })
  })

  test('needs a key where no secret is set, and does not tell strangers which sellers there are', async () => {
    const text = body('PO_CREATED')
    expect(await post('/v1/notifications/open', text, {})).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    expect(await post('/v1/notifications/nobody', text, {})).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    const key = { authorization: 'Bearer a-key-of-the-tests' }
    expect(await post('/v1/notifications/open', text, key)).toMatchObject({ status: 202 })
    expect(await post('/v1/notifications/nobody', text, key)).toMatchObject({ status: 404 })
  })
})

describe('POST /v1/notifications/{sellerId}/token', () => {
  const form = 'application/x-www-form-urlencoded'
  const basic = { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }

  test.each([
    ['a Basic header', 'grant_type=client_credentials', { ...basic, 'content-type': form }],
    ['a form', 'grant_type=client_credentials&client_id=marketplace&client_secret=a-long-password', { 'content-type': form }],
    ['JSON', JSON.stringify({ client_id: 'marketplace', client_secret: 'a-long-password' }), {}],
  ])('gives a token for credentials in %s, which proves a notification', async (_name, text, headers) => {
    const answer = await post('/v1/notifications/s-1/token', text, headers)
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 900 } })
    const authorization = `Bearer ${textAt(answer.body, 'access_token')}`
    expect(await send(body('PO_CREATED'), { authorization })).toMatchObject({ status: 202 })
  })

  test('refuses other credentials', async () => {
    for (const text of ['', 'client_id=marketplace&client_secret=other', 'client_id=marketplace:a-long-password'])
      expect((await post('/v1/notifications/s-1/token', text, { 'content-type': form })).status).toBe(401)
    expect((await post('/v1/notifications/s-1/token', '{', {})).status).toBe(400)
    const key = { authorization: 'Bearer a-key-of-the-tests' }
    expect((await post('/v1/notifications/open/token', 'client_id=a&client_secret=b', key)).status).toBe(404)
  })
})
