import { describe, expect, onTestFinished, test } from 'vitest'
import { operations } from '../../sandbox/calls/registry.ts'
import { openDatabase } from '../../sandbox/core/database.ts'
import { createMeta } from '../../sandbox/core/meta.ts'
import { createRateLimits } from '../../sandbox/faults/limits.ts'
import { at, connect, items, type Json, listUnits, startTestSandbox, type TestClient, temporaryDirectory } from './support.ts'

const started = async (): Promise<TestClient> => {
  const sandbox = await startTestSandbox()
  const client = await connect(sandbox.url)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

const next = (client: TestClient, fault: string, more: object = {}): Promise<Json> =>
  client.control('PUT', '/faults', { next: [{ fault, operation: 'orders.*', ...more }] })
const acknowledged = async (client: TestClient, po: string): Promise<boolean> =>
  listUnits(await client.order(po)).startsWith('Acknowledged')

describe('a write under a fault', () => {
  test.each([
    ['serverErrorBefore', false, /^5\d\d$/],
    ['serverErrorAfter', true, /^5\d\d$/],
    ['dropBefore', false, /^gone$/],
    ['dropAfter', true, /^gone$/],
    ['html', false, /^503$/],
    ['emptyBody', true, /^200$/],
    ['truncatedJson', true, /^200$/],
    ['okWithErrors', false, /^200$/],
    ['tooManyRequests', false, /^429$/],
    ['tooManyRequestsWithoutHeader', false, /^429$/],
    ['tokenDiesEarly', false, /^401$/],
  ])('%s: effect %s', async (fault, effect, outcome) => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 2 }])
    await next(client, fault)
    const seen = await client.acknowledge(po).then(
      (reply) => String(reply.status),
      () => 'gone',
    )
    expect(seen).toMatch(outcome)
    if (fault === 'tokenDiesEarly') await client.renewToken()
    expect(await acknowledged(client, po)).toBe(effect)
    const requests = items(await client.control('GET', '/requests'), 'items')
    expect(at(requests.find((request) => at(request, 'operation') === 'orders.acknowledge') ?? null, 'fault')).toBe(fault)
  })

  test.each([
    ['timeoutBefore', false],
    ['timeoutAfter', true],
  ])('%s never answers: effect %s', async (fault, effect) => {
    const client = await started()
    const po = await client.place([{ sku: 'A' }])
    await next(client, fault)
    const race = await Promise.race([
      client.acknowledge(po).then(
        () => 'answered',
        () => 'failed',
      ),
      new Promise((resolve) => setTimeout(() => resolve('silent'), 150)),
    ])
    expect(race).toBe('silent')
    expect(await acknowledged(client, po)).toBe(effect)
  })

  test('lateEffect: the effect comes on virtual time, after the caller got no answer', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A' }])
    await next(client, 'lateEffect', { delayMs: 60_000, answer: 'serverError' })
    expect((await client.acknowledge(po)).status).toBeGreaterThanOrEqual(500)
    expect(await acknowledged(client, po)).toBe(false)
    await client.control('POST', '/clock', { advance: '61s' })
    expect(await acknowledged(client, po)).toBe(true)
    const [effect] = items(await client.control('GET', '/effects'), 'items')
    expect(effect).toMatchObject({ by: 'seller', kind: 'acknowledged', correlationId: expect.stringMatching(/-/) })
  })
})

describe('429', () => {
  test('names the time of the next token on the marketplace clock, unless configured not to', async () => {
    const client = await started()
    await client.control('POST', '/clock', { advance: '5m' })
    await next(client, 'tooManyRequests', { delayMs: 10_000 })
    const reply = await client.call('GET', '/v3/orders')
    expect(at(reply.json, 'errors', 'error', 0, 'code')).toBe('REQUEST_THRESHOLD_VIOLATED.GMP_GATEWAY_API')
    const ahead = Number(reply.headers.get('x-next-replenishment-time')) - Date.parse(reply.headers.get('date') ?? '')
    expect(ahead).toBeGreaterThan(9_000)
    expect(ahead).toBeLessThan(12_000)
    await next(client, 'tooManyRequestsWithoutHeader')
    const silent = await client.call('GET', '/v3/orders')
    expect([silent.status, silent.headers.get('x-next-replenishment-time')]).toEqual([429, null])
  })

  test('the published table holds: the 61st acknowledge of a minute is refused, other operations are not', async () => {
    const client = await connect((await startTestSandbox()).url)
    const published = at(await client.control('GET', '/limits'), 'operations', 'orders.acknowledge')
    expect(published).toMatchObject({ tokens: 60, perMs: 60_000 })
    // Filled more slowly: a minute's sixty are one a second, and a machine that has much to do needs longer than that for sixty calls.
    await client.control('PUT', '/limits', { operations: { 'orders.acknowledge': { tokens: 60, perMs: 36_000_000 } } })
    const statuses: number[] = []
    for (let index = 0; index < 61; index += 1) statuses.push((await client.acknowledge('1')).status)
    expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 404))
    expect(statuses[60]).toBe(429)
    expect((await client.cancel('1', '1', 1)).status).toBe(404)
  })

  test('the limits can be changed while it runs, also the spelling of the header', async () => {
    const client = await connect((await startTestSandbox()).url)
    await client.control('PUT', '/limits', {
      replenishHeader: 'x-next-replenish-time',
      operations: { 'orders.list': { tokens: 1, perMs: 3_600_000 } },
    })
    const first = await client.call('GET', '/v3/orders')
    expect([first.status, first.headers.get('x-current-token-count')]).toEqual([404, '0'])
    expect(Number(first.headers.get('x-next-replenish-time'))).toBeGreaterThan(Date.now())
    expect((await client.call('GET', '/v3/orders')).status).toBe(429)
    await client.control('PUT', '/limits', { operations: { 'orders.list': null } })
    expect((await client.call('GET', '/v3/orders')).headers.get('x-current-token-count')).toBeNull()
  })

  test('a bucket fills gradually, in real time, less what a foreign program takes', async () => {
    let now = 0
    const database = openDatabase(await temporaryDirectory())
    onTestFinished(() => database.close())
    const meta = createMeta(database)
    const limits = createRateLimits(meta, operations, () => now)
    limits.change({ operations: { 'orders.get': { tokens: 60, perMs: 60_000, foreignPerMinute: 30 } } })
    for (let index = 0; index < 60; index += 1) expect(limits.take('s', 'orders.get').granted).toBe(true)
    expect(limits.take('s', 'orders.get')).toEqual({ granted: false, left: 0, nextInMs: 2_000 })
    now = 1_999
    expect(limits.take('s', 'orders.get').granted).toBe(false)
    now = 2_000
    expect(limits.take('s', 'orders.get').granted).toBe(true)
    expect(limits.take('other', 'orders.get').granted).toBe(true)
    expect(createRateLimits(meta, operations).current().operations['orders.get']).toMatchObject({ foreignPerMinute: 30 })
  })
})

describe('a page under a fault', () => {
  const withOrders = async (): Promise<TestClient> => {
    const client = await started()
    for (let index = 0; index < 5; index += 1) await client.place([{ sku: 'A' }])
    return client
  }

  test('malformedRecord breaks one record and leaves the others', async () => {
    const client = await withOrders()
    for (let seed = 0; seed < 10; seed += 1) {
      await client.control('PUT', '/faults', { seed, malformedRecord: 1 })
      const orders = items((await client.call('GET', '/v3/orders')).json, 'list', 'elements', 'order')
      const whole = orders.filter(
        (order) =>
          typeof at(order, 'purchaseOrderId') === 'string' && at(order, 'orderLines', 'orderLine', 0, 'lineNumber') === '1',
      )
      expect([orders.length, whole.length]).toEqual([5, 4])
    }
  })

  test('unknownValue adds fields and words, and hides no shipped unit', async () => {
    const client = await withOrders()
    await next(client, 'unknownValue')
    const reply = await client.call('GET', '/v3/orders')
    expect(listUnits(items(reply.json, 'list', 'elements', 'order')[0] ?? null)).toBe('OnHold 1')
    expect(reply.text).toContain('futureFlag')
  })

  test('duplicateRows, repeatCursor and cursorExpired', async () => {
    const client = await withOrders()
    await next(client, 'duplicateRows')
    const page = items((await client.call('GET', '/v3/orders')).json, 'list', 'elements', 'order')
    expect(new Set(page.map((order) => at(order, 'purchaseOrderId'))).size).toBe(page.length - 1)
    const cursor = String(at((await client.call('GET', '/v3/orders?limit=2')).json, 'list', 'meta', 'nextCursor'))
    await next(client, 'repeatCursor')
    expect(at((await client.call('GET', `/v3/orders${cursor}`)).json, 'list', 'meta', 'nextCursor')).toBe(cursor)
    await next(client, 'cursorExpired')
    expect((await client.call('GET', '/v3/orders')).status).toBe(200)
    expect((await client.call('GET', `/v3/orders${cursor}`)).status).toBe(400)
  })

  test('every error shape is available', async () => {
    const client = await withOrders()
    const shapes = ['nested', 'flat', 'singular', 'oauth', 'wfs', 'spring', 'display', 'problem', 'html', 'empty']
    const texts: string[] = []
    for (const errorShape of shapes) {
      await client.control('PUT', '/faults', { errorShape, serverErrorBefore: { share: 1, status: 500 } })
      const reply = await client.call('GET', '/v3/orders')
      expect(reply.status).toBe(500)
      texts.push(reply.text)
    }
    expect(new Set(texts).size).toBe(shapes.length)
  })
})

describe('shares', () => {
  const run = async (client: TestClient, pos: readonly string[]): Promise<number[]> => {
    await client.control('PUT', '/faults', {
      seed: 7,
      rules: [{ method: 'POST', operation: 'orders.ack*', serverErrorBefore: 0.5 }],
    })
    const statuses: number[] = []
    for (const po of pos) statuses.push((await client.acknowledge(po)).status)
    return statuses
  }

  test('strike as often as said, the same requests for the same seed, and only what they name', async () => {
    const client = await started()
    const pos = Array.from({ length: 60 }, (_, index) => String(index + 1))
    const first = await run(client, pos)
    const second = await run(client, pos.toReversed())
    expect(second.toReversed().map((status) => status >= 500)).toEqual(first.map((status) => status >= 500))
    const struck = first.filter((status) => status >= 500).length
    expect(struck).toBeGreaterThan(15)
    expect(struck).toBeLessThan(45)
    expect(at(await client.control('GET', '/faults'), 'struck', 'serverErrorBefore')).toBe(struck)
    expect((await client.cancel('1', '1', 1)).status).toBe(404)
  })

  test.each([
    [{ tooManyRequests: 0.6, dropBefore: 0.6 }, 'add up'],
    [{ serverErrorBefore: 2 }, 'serverErrorBefore'],
    [{ nonsense: 0.1 }, 'nonsense'],
    [{ next: [{ fault: 'nonsense' }] }, 'next'],
  ])('%j is refused', async (faults, message) => {
    const client = await started()
    await expect(client.control('PUT', '/faults', faults)).rejects.toThrow(message)
  })
})

test('control requests of web pages are refused', async () => {
  const client = await started()
  const response = await fetch(`${client.url}/_sandbox/orders`, { method: 'POST', headers: { origin: 'https://evil.example' } })
  expect(response.status).toBe(403)
})
