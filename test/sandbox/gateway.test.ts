import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../sandbox/server.ts'
import {
  at,
  connect,
  fetchToken,
  type Json,
  readEffects,
  startClient,
  startTestSandbox,
  type TestClient,
  temporaryDirectory,
} from './support.ts'

const next = (client: TestClient, fault: string, more: object = {}): Promise<Json> =>
  client.control('POST', '/faults/next', { fault, ...more })

const bodies = {
  html: [/^text\/html/, /^<!DOCTYPE html>/],
  xml: [/^application\/xml/, /^<\?xml /],
  json: [/^application\/json/, /^\{"message":"[^"]+"\}$/],
  framework: [
    /^application\/json/,
    /^\{"timestamp":"[^"]+","status":\d+,"error":"[^"]+","path":"\/v3\/orders\/\d+\/acknowledge"\}$/,
  ],
  empty: [/^application\/json/, /^$/],
} as const

describe('answers of a gateway', () => {
  test.each(Object.keys(bodies) as (keyof typeof bodies)[])('%s, with any status, before and after the effect', async (body) => {
    const client = await startClient()
    for (const [fault, done] of [
      ['gatewayBefore', []],
      ['gatewayAfter', ['acknowledged 1 of line 1 by seller']],
    ] as const) {
      for (const status of [400, 403, 404, 502]) {
        const po = await client.place([{ sku: 'A' }])
        await next(client, fault, { status, body, operation: 'orders.acknowledge' })
        const reply = await client.acknowledge(po)
        const [type, text] = bodies[body]
        expect([reply.status, reply.headers.get('content-type')]).toEqual([status, expect.stringMatching(type)])
        expect(reply.text).toMatch(text)
        expect(await readEffects(client, po)).toEqual(done)
      }
    }
  })

  test('left to chance, statuses and bodies of every kind come, none with a code', async () => {
    const client = await startClient()
    await client.control('PUT', '/faults', { gatewayBefore: 1 })
    const seen = new Set<string>()
    for (let index = 0; index < 60; index += 1) {
      const reply = await client.call('GET', `/v3/orders/${index}`)
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.text).not.toMatch(/GMP_/)
      seen.add(`${Math.floor(reply.status / 100)}xx ${reply.text.slice(0, 2)}`)
    }
    expect([...seen].sort()).toEqual(['4xx ', '4xx <!', '4xx <?', '4xx {"', '5xx ', '5xx <!', '5xx <?', '5xx {"'])
  })

  test.each([
    [423, 'RESOURCE_IS_LOCKED'],
    [425, 'TOO_EARLY'],
  ])('%i comes coded, before and after the effect', async (status, code) => {
    const client = await startClient()
    const po = await client.place([{ sku: 'A' }])
    await next(client, 'lockedBefore', { status, purchaseOrderId: po })
    const before = await client.acknowledge(po)
    expect([before.status, at(before.json, 'errors', 'error', 0, 'code')]).toEqual([status, `${code}.GMP_GATEWAY_API`])
    expect(await readEffects(client, po)).toEqual([])
    await next(client, 'lockedAfter', { status, purchaseOrderId: po })
    expect((await client.acknowledge(po)).status).toBe(status)
    expect(await readEffects(client, po)).toHaveLength(1)
  })

  test('a rule may name one order, and hold for a while', async () => {
    const client = await startClient()
    const [one, two] = [await client.place([{ sku: 'A' }]), await client.place([{ sku: 'A' }])]
    const gatewayBefore = { share: 1, status: 403, body: 'html' }
    await client.control('PUT', '/faults', { rules: [{ purchaseOrderId: one, forMs: 3_600_000, gatewayBefore }] })
    const statuses = async (): Promise<number[]> =>
      Promise.all([one, two].map(async (po) => (await client.call('GET', `/v3/orders/${po}`)).status))
    expect(await statuses()).toEqual([403, 200])
    await client.control('POST', '/clock', { advance: '61m' })
    await client.renewToken()
    expect(await statuses()).toEqual([200, 200])
  })
})

describe('a refused token', () => {
  test.each([
    [400, 'coded', 'invalid_client'],
    [401, 'coded', 'invalid_client'],
    [403, 'coded', 'access_denied'],
    [403, 'html', null],
    [401, 'json', null],
    [400, 'xml', null],
  ])('by the token operation once with %i %s, then the same credentials are good', async (status, body, error) => {
    const client = await startClient()
    await next(client, 'tokenRefused', { operation: 'token', status, body })
    const refused = await fetchToken(client.url)
    expect([refused.status, at(refused.json, 'error')]).toEqual([status, error])
    expect((await fetchToken(client.url)).status).toBe(200)
  })

  test('by the token operation so many times', async () => {
    const client = await startClient()
    await next(client, 'tokenRefused', { operation: 'token', times: 3 })
    const statuses: number[] = []
    for (let index = 0; index < 4; index += 1) statuses.push((await fetchToken(client.url)).status)
    expect(statuses).toEqual([400, 400, 400, 200])
  })

  test.each([
    [undefined, 401, 'UNAUTHORIZED'],
    [403, 403, 'FORBIDDEN'],
  ])('by a business call once (%s), without any effect; the same token is good for the next', async (given, status, code) => {
    const client = await startClient()
    const po = await client.place([{ sku: 'A' }])
    await next(client, 'tokenRefused', { operation: 'orders.*', ...(given === undefined ? {} : { status: given }) })
    const refused = await client.acknowledge(po)
    expect([refused.status, at(refused.json, 'errors', 'error', 0, 'code')]).toEqual([status, `${code}.GMP_GATEWAY_API`])
    expect(await readEffects(client, po)).toEqual([])
    expect((await client.acknowledge(po)).status).toBe(200)
  })
})

describe('several machines', () => {
  const aheadMs = async (client: TestClient, path = '/v3/orders'): Promise<number> => {
    const now = Date.parse(String(at(await client.control('GET', '/clock'), 'now')))
    const reply = await client.call('GET', path)
    return Math.round((Date.parse(reply.headers.get('date') ?? '') - now) / 10_000) * 10_000
  }

  test('answer in turn, each by its own clock', async () => {
    const client = await startClient()
    await client.control('PUT', '/faults', { nodes: { offsetsMs: [0, -40_000, 90_000], choice: 'turn' } })
    const seen: number[] = []
    for (let index = 0; index < 6; index += 1) seen.push((await aheadMs(client, index === 4 ? '/v3/nothing' : '/v3/orders')) + 0)
    expect(seen).toEqual([0, -40_000, 90_000, 0, -40_000, 90_000])
  })

  test('or at random, the same for the same seed, and after a restart', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startSandbox({ dataDir, log: () => undefined })
    const client = await connect(first.url)
    const nodes = { offsetsMs: [0, -40_000] }
    const draw = async (of: TestClient, count: number): Promise<number[]> => {
      const seen: number[] = []
      for (let index = 0; index < count; index += 1) seen.push((await aheadMs(of)) + 0)
      return seen
    }
    await client.control('PUT', '/faults', { seed: 3, nodes })
    const all = await draw(client, 16)
    expect(new Set(all)).toEqual(new Set([0, -40_000]))
    await client.control('PUT', '/faults', { seed: 3, nodes })
    expect(await draw(client, 8)).toEqual(all.slice(0, 8))
    await first.close()
    const again = await connect((await startTestSandbox({ dataDir })).url)
    expect(await draw(again, 8)).toEqual(all.slice(8))
  })

  test('tell the moment of the next token by the clock of their Date header', async () => {
    const client = await startClient()
    await client.control('PUT', '/faults', { nodes: { offsetsMs: [-600_000] }, tooManyRequests: { share: 1, delayMs: 10_000 } })
    const reply = await client.call('GET', '/v3/orders')
    const ahead = Number(reply.headers.get('x-next-replenishment-time')) - Date.parse(reply.headers.get('date') ?? '')
    expect(ahead).toBeGreaterThan(9_000)
    expect(ahead).toBeLessThan(12_000)
  })
})
