import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MarketplaceFailure } from '../../src/clients/http/errors.ts'
import type { Page } from '../../src/clients/http/record.ts'
import { ordersEndpoint, orderWrites } from '../../src/clients/marketplace/orders/orders.ts'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import { returnsEndpoint } from '../../src/clients/marketplace/returns.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import { allOperations } from './operations.ts'
import { wireLine, wireOrderSample, wirePageText, wireReturnSample } from './samples.ts'
import { forever, generousLimits, sendJson, startClient, startMarketplace, startServer, startTcp } from './servers.ts'

const from = new Date('2026-05-01T00:00:00.123Z')
const to = new Date('2026-11-21T05:00:00.001Z')
const list = { shipNodeType: 'SellerFulfilled', createdFrom: from, limit: 200 }
const noneThere = { errors: { error: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' }] } }

const buildFailure = async (work: Promise<unknown>): Promise<MarketplaceFailure> => {
  try {
    await work
  } catch (error) {
    if (error instanceof MarketplaceFailure) return error
    throw error
  }
  throw new Error('expected a failure')
}

const business = (seen: readonly { readonly target: string }[]) =>
  seen.filter((request) => request.target !== '/v3/token').map((request) => request.target)

describe('reading orders', () => {
  test('sends the window without milliseconds, widened to whole seconds, and always a creation date', async () => {
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, wirePageText([])))
    const { client } = startClient(url)
    await client
      .of(ordersEndpoint)
      .list({ ...list, lastModifiedFrom: from, lastModifiedTo: to, createdTo: to, limit: 1_000 }, { signal: forever() })
    await client.of(ordersEndpoint).list(list, { signal: forever() })
    await client.of(ordersEndpoint).listReleased({ createdFrom: from, createdTo: to, limit: 50 }, { signal: forever() })
    const [full, short, released] = business(seen).map((target) => new URL(target, url))
    expect(Object.fromEntries(full?.searchParams ?? [])).toEqual({
      createdStartDate: '2026-05-01T00:00:00Z',
      createdEndDate: '2026-11-21T05:00:01Z',
      lastModifiedStartDate: '2026-05-01T00:00:00Z',
      lastModifiedEndDate: '2026-11-21T05:00:01Z',
      shipNodeType: 'SellerFulfilled',
      limit: '200',
    })
    expect(short?.search).toBe('?createdStartDate=2026-05-01T00%3A00%3A00Z&shipNodeType=SellerFulfilled&limit=200')
    expect(released?.pathname).toBe('/v3/orders/released')
    expect(released?.searchParams.has('shipNodeType')).toBe(false)
  })

  test('carries the headers of the specification with the seller’s prefix, a new correlation id for each request', async () => {
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, wirePageText([])))
    const { client } = startClient(url, { connection: { profile: walmartUs, headerPrefix: 'WM', serviceName: 'Dock' } })
    await client.of(ordersEndpoint).list(list, { signal: forever() })
    await client.of(ordersEndpoint).list(list, { signal: forever(), correlationId: 'mine' })
    const [token, first, second] = seen.map((request) => request.headers)
    expect(first).toMatchObject({ 'wm_sec.access_token': 'token-1', 'wm_svc.name': 'Dock', accept: 'application/json' })
    expect(second?.['wm_qos.correlation_id']).toBe('mine')
    expect(new Set([token, first, second].map((headers) => headers?.['wm_qos.correlation_id'])).size).toBe(3)
    expect(first?.['content-type']).toBeUndefined()
  })

  test('appends a cursor to the address exactly as it came', async () => {
    const cursors = [
      `?limit=10&hasMoreElements=true&soIndex=31&poIndex=10&createdStartDate=2013-08-16&createdEndDate=2019-09-17T18:47:03.703Z`,
      `?limit=10&createdEndDate=2026-01-01T00:00:00-06:00&x=a+b%2Bc%2f|{"'}&y=%zz&ends=`,
    ]
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, wirePageText([])))
    const { client } = startClient(url)
    for (const cursor of cursors) await client.of(ordersEndpoint).continue(cursor, 'list', { signal: forever() })
    await client.of(ordersEndpoint).continue('?limit=1', 'released', { signal: forever() })
    await client
      .of(returnsEndpoint)
      .continue('?sellerId=151&limit=10&offset=10', { signal: forever() })
      .catch(() => undefined)
    expect(business(seen)).toEqual([
      ...cursors.map((cursor) => `/v3/orders${cursor}`),
      '/v3/orders/released?limit=1',
      '/v3/returns?sellerId=151&limit=10&offset=10',
    ])
  })

  test('gives every record of a page, read or not, with its own text', async () => {
    const good = JSON.stringify(wireOrderSample('1')).replace('"amount":30.3', '"amount":30.30')
    const records = [
      good,
      '{"purchaseOrderId":"2"}',
      '{"purchaseOrderId":"3","orderLines":nope}',
      'null',
      '"text"',
      good.replace('"1"', '"9"'),
    ]
    const text = wirePageText([])
      .replace('"order":[]', `"order":[${records.join(',')}]`)
      .replace('"totalCount":0', '"totalCount":"6"')
    const { url } = await startMarketplace((_request, response) => sendJson(response, 200, text))
    const page = await startClient(url).client.of(ordersEndpoint).list(list, { signal: forever() })
    expect(page.records.map((record) => [record.ok, record.key])).toEqual([
      [true, '1'],
      [false, '2'],
      [false, null],
      [false, null],
      [false, null],
      [true, '9'],
    ])
    expect(page.records.map((record) => record.rawText)).toEqual(records)
    expect(page).toMatchObject({ totalCount: 6, nextCursor: null })
  })

  test('"none there" is an empty page, "no such address" a refusal', async () => {
    const { url } = await startMarketplace((request, response) =>
      request.target.includes('released')
        ? sendJson(response, 404, { errors: { error: [{ code: 'URI_NOT_FOUND.GMP_GATEWAY_API' }] } })
        : sendJson(response, 404, noneThere),
    )
    const { client, reports } = startClient(url)
    expect(await client.of(ordersEndpoint).list(list, { signal: forever() })).toMatchObject({
      records: [],
      totalCount: 0,
      nextCursor: null,
    })
    expect(await client.of(ordersEndpoint).get('108', { signal: forever() })).toBeNull()
    expect(
      await buildFailure(
        client.of(ordersEndpoint).listReleased({ createdFrom: from, createdTo: to, limit: 1 }, { signal: forever() }),
      ),
    ).toMatchObject({ kind: 'refused' })
    expect(reports.map((report) => report.outcome)).toEqual(['ok', 'none', 'none', 'refused'])
  })

  test.each([
    ['{"list":{"meta":{"totalCount":0},"elements":{}}}'],
    ['{"list":{"meta":{"totalCount":0},"elements":null}}'],
    ['{"list":{"meta":{"totalCount":0},"elements":{"order":null}}}'],
    ['{"list":{"elements":{"order":[]}}}'],
  ])('%s is an empty page', async (text) => {
    const { url } = await startMarketplace((_request, response) => sendJson(response, 200, text))
    expect((await startClient(url).client.of(ordersEndpoint).list(list, { signal: forever() })).records).toEqual([])
  })

  test.each([
    ['{}'],
    ['[]'],
    ['{"order":{}}'],
    ['{"list":{"elements":{"order":"none"}}}'],
    ['{"list":{"elements":{"\\u006frder":[{"purchaseOrderId":"1"}]}}}'],
    ['{"list":{"elements":{"order":[]}},"list":{"elements":{"order":[{}]}}}'],
    ['<html></html>'],
    [''],
    [wirePageText([wireOrderSample('1'), wireOrderSample('2')]).slice(0, -30)],
  ])('%.60s is malformed, never a page with fewer records', async (text) => {
    const { url } = await startMarketplace((_request, response) => sendJson(response, 200, text))
    expect(await buildFailure(startClient(url).client.of(ordersEndpoint).list(list, { signal: forever() }))).toMatchObject({
      kind: 'malformed',
      sent: 'answered',
    })
  })

  test('walks all pages, and stops where the cursor says so', async () => {
    const cursor = (page: number, more: boolean) => `?limit=2&hasMoreElements=${more}&poIndex=${page}`
    const { url, seen } = await startMarketplace((request, response) => {
      const page = Number(/poIndex=(\d+)/.exec(request.target)?.[1] ?? 0)
      sendJson(response, 200, wirePageText([wireOrderSample(`${page}0`)], cursor(page + 1, page < 2)))
    })
    const keys: (string | null)[] = []
    for await (const page of startClient(url)
      .client.of(ordersEndpoint)
      .pages(list, { signal: forever(), correlationId: 'first only' })) {
      keys.push(...page.records.map((record) => record.key))
    }
    expect(keys).toEqual(['00', '10', '20'])
    expect(seen.filter((request) => request.headers['xx_qos.correlation_id'] === 'first only')).toHaveLength(1)
  })

  test('an empty cursor ends a walk', async () => {
    const { url, seen } = await startMarketplace((_request, response) =>
      sendJson(response, 200, wirePageText([wireOrderSample('1')], '')),
    )
    const pages: Page<unknown>[] = []
    for await (const page of startClient(url).client.of(ordersEndpoint).pages(list, { signal: forever() })) pages.push(page)
    expect(pages.map(({ nextCursor }) => nextCursor)).toEqual([null])
    expect(business(seen)).toHaveLength(1)
  })

  test('a cursor that comes back is an error, not an endless walk', async () => {
    const { url } = await startMarketplace((_request, response) =>
      sendJson(response, 200, wirePageText([wireOrderSample('1')], '?same')),
    )
    const pages: Page<unknown>[] = []
    const walk = async (): Promise<void> => {
      for await (const page of startClient(url).client.of(ordersEndpoint).pages(list, { signal: forever() })) pages.push(page)
    }
    expect(await buildFailure(walk())).toMatchObject({ kind: 'malformed' })
    expect(pages).toHaveLength(2)
  })

  test('two empty pages in a row end a walk whose cursor never ends', async () => {
    let page = 0
    const { url } = await startMarketplace((_request, response) => {
      page += 1
      sendJson(response, 200, wirePageText(page < 3 ? [wireOrderSample(String(page))] : [], `?page=${page}`))
    })
    let seen = 0
    for await (const { records } of startClient(url).client.of(ordersEndpoint).pages(list, { signal: forever() }))
      seen += records.length
    expect(seen).toBe(2)
    expect(page).toBe(4)
  })

  test('one order must be the one that was asked for', async () => {
    const { url } = await startMarketplace((request, response) =>
      sendJson(response, 200, { order: request.target.endsWith('1') ? wireOrderSample('1') : wireOrderSample('other') }),
    )
    const { client } = startClient(url)
    expect((await client.of(ordersEndpoint).get('1', { signal: forever() }))?.record).toMatchObject({ ok: true, key: '1' })
    expect(await buildFailure(client.of(ordersEndpoint).get('2', { signal: forever() }))).toMatchObject({ kind: 'malformed' })
  })

  test('a read on a kept connection that was closed meanwhile is sent once more, by itself', async () => {
    let connections = 0
    const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const { url } = await startTcp((socket) => {
      connections += 1
      let requests = 0
      socket.on('data', (chunk) => {
        requests += 1
        if (String(chunk).startsWith('POST /v3/token')) return socket.write(answer('{"access_token":"t","expires_in":900}'))
        return requests > 1 ? socket.resetAndDestroy() : socket.write(answer(wirePageText([])))
      })
    })
    const { client, reports } = startClient(url)
    for (let call = 0; call < 3; call += 1) await client.of(ordersEndpoint).list(list, { signal: forever() })
    expect(connections).toBeGreaterThan(1)
    expect(reports.some((report) => report.outcome === 'unavailable')).toBe(true)
  })

  test('unknown values are counted', async () => {
    const held = wireLine('1', 1, {
      orderLineStatuses: { orderLineStatus: [{ status: 'OnHold', statusQuantity: { amount: '1' } }] },
    })
    const { url } = await startMarketplace((_request, response) =>
      sendJson(response, 200, { order: wireOrderSample('1', { orderLines: { orderLine: [held] } }) }),
    )
    const { client, unknownValues } = startClient(url)
    await client.of(ordersEndpoint).get('1', { signal: forever() })
    expect(unknownValues).toEqual([{ resource: 'order', field: 'orderLineStatus.status', value: 'OnHold' }])
  })

  test('a compressed page is read like any other', async () => {
    const { url } = await startMarketplace((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(wirePageText([wireOrderSample('1')])))
    })
    expect((await startClient(url).client.of(ordersEndpoint).list(list, { signal: forever() })).records).toHaveLength(1)
  })
})

describe('reading returns', () => {
  test('sends both ends of the window and reads the bare envelope', async () => {
    const { url, seen } = await startMarketplace((_request, response) =>
      sendJson(response, 200, { meta: { totalCount: 1, limit: 10, nextCursor: '' }, returnOrders: [wireReturnSample('R-1')] }),
    )
    const { client } = startClient(url)
    const page = await client
      .of(returnsEndpoint)
      .list({ lastModifiedFrom: from, lastModifiedTo: to, limit: 50 }, { signal: forever() })
    await client.of(returnsEndpoint).list({ createdFrom: from, createdTo: to, limit: 50 }, { signal: forever() })
    expect(page).toMatchObject({ totalCount: 1, nextCursor: null, records: [{ ok: true, key: 'R-1' }] })
    expect(business(seen)).toEqual([
      '/v3/returns?returnLastModifiedStartDate=2026-05-01T00%3A00%3A00Z&returnLastModifiedEndDate=2026-11-21T05%3A00%3A01Z&limit=50',
      '/v3/returns?returnCreationStartDate=2026-05-01T00%3A00%3A00Z&returnCreationEndDate=2026-11-21T05%3A00%3A01Z&limit=50',
    ])
  })

  test('a document that is no page of returns is malformed', async () => {
    const { url } = await startMarketplace((_request, response) => sendJson(response, 200, { hello: 1 }))
    const failure = await buildFailure(
      startClient(url).client.of(returnsEndpoint).list({ createdFrom: from, createdTo: to, limit: 1 }, { signal: forever() }),
    )
    expect(failure.kind).toBe('malformed')
  })
})

describe('writing', () => {
  const write = (client: ReturnType<typeof startClient>['client']) =>
    client
      .writer(orderWrites)
      .send(
        client
          .of(ordersEndpoint)
          .prepare.cancel({ purchaseOrderId: '1', lines: [{ lineNumber: '1', quantity: 1, reason: 'R' }] }),
        {
          signal: forever(),
          correlationId: 'intent-1',
        },
      )

  test('sends what was prepared, as JSON, under the given correlation id, and gives back the order', async () => {
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, { order: wireOrderSample('1') }))
    const { client } = startClient(url)
    const observed = await write(client)
    expect(observed).toMatchObject({ correlationId: 'intent-1', httpStatus: 200, record: { ok: true, key: '1' } })
    expect(seen[1]).toMatchObject({
      method: 'POST',
      target: '/v3/orders/1/cancel',
      headers: { 'content-type': 'application/json' },
    })
    expect(JSON.parse(seen[1]?.body ?? '')).toHaveProperty('orderCancellation')
  })

  test('acknowledge goes out without a body', async () => {
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, { order: wireOrderSample('1') }))
    const { client } = startClient(url)
    await client
      .writer(orderWrites)
      .send(client.of(ordersEndpoint).prepare.acknowledge('1'), { signal: forever(), correlationId: 'c' })
    expect(seen[1]).toMatchObject({ body: '', headers: { 'content-length': '0' } })
  })

  test.each([
    ['', 200],
    ['<html>', 200],
    ['{}', 200],
    ['{"order":null}', 200],
    [JSON.stringify({ order: wireOrderSample('another') }), 200],
    ['{"order":{"purchaseOrderId":"1"', 200],
    ['', 500],
    [JSON.stringify({ errors: { error: [{ code: 'SYSTEM_ERROR' }] } }), 504],
  ])('an answer %.40s with %i leaves the outcome unknown, and nothing is sent again', async (body, status) => {
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, status, body))
    expect(await buildFailure(write(startClient(url).client))).toMatchObject({
      kind: 'unknown',
      httpStatus: status,
      correlationId: 'intent-1',
      sent: 'answered',
    })
    expect(business(seen)).toHaveLength(1)
  })

  test('an accepted write whose order cannot be read is a success with its text', async () => {
    const { url } = await startMarketplace((_request, response) => sendJson(response, 200, { order: { purchaseOrderId: '1' } }))
    expect((await write(startClient(url).client)).record).toMatchObject({
      ok: false,
      key: '1',
      rawText: '{"purchaseOrderId":"1"}',
    })
  })

  test('a lost answer is unknown, a lost connection before it is not', async () => {
    const { url } = await startMarketplace((_request, response) => response.destroy())
    expect(await buildFailure(write(startClient(url).client))).toMatchObject({
      kind: 'unknown',
      sent: 'maybe',
      networkCode: 'ECONNRESET',
    })
    const { url: slow } = await startMarketplace(() => undefined)
    const timeout = startClient(slow, { connection: { requestTimeoutMs: 200 } })
    expect(await buildFailure(write(timeout.client))).toMatchObject({ kind: 'unknown', sent: 'maybe', networkCode: 'ETIMEDOUT' })
    expect(await buildFailure(write(startClient('http://127.0.0.1:1').client))).toMatchObject({
      kind: 'unavailable',
      sent: 'never',
    })
  })

  test('closing the client ends what is in progress', async () => {
    const { url, seen } = await startMarketplace((request) => {
      if (request.target.endsWith('cancel')) queueMicrotask(() => client.close())
    })
    const { client } = startClient(url)
    expect(await buildFailure(write(client))).toMatchObject({ kind: 'unknown', networkCode: 'ABORTED' })
    expect(business(seen)).toHaveLength(1)
  })
})

describe('the budget', () => {
  test('a request that was not looked at has used up nothing: a dead token does not cost the only call of an hour', async () => {
    let answers = 0
    const { url } = await startMarketplace((_request, response) => {
      answers += 1
      if (answers === 1) sendJson(response, 401, {})
      else sendJson(response, 404, { errors: { error: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API' }] } })
    })
    const budget = createInProcessBudget({ limits: { ...generousLimits, 'orders.get': { tokens: 1, perMs: 3_600_000 } } })
    const { client } = startClient(url, { budget })
    expect(await client.of(ordersEndpoint).get('1', { signal: forever() })).toBeNull()
    expect(answers).toBe(2)
    expect(await client.budget.take(ordersEndpoint.operations.get)).toMatchObject({ granted: false })
  })

  test('a request for which there are no credentials, or that cannot leave, has used up nothing either', async () => {
    let answers = 0
    const { url } = await startServer((request, response) => {
      answers += 1
      if (answers === 1) sendJson(response, 500, {})
      else if (request.target === '/v3/token') sendJson(response, 200, { access_token: 't', expires_in: 900 })
      else sendJson(response, 200, { order: wireOrderSample('1') })
    })
    const hourly = { tokens: 1, perMs: 3_600_000 }
    const budget = createInProcessBudget({ limits: { ...generousLimits, 'orders.get': hourly, 'orders.acknowledge': hourly } })
    const { client } = startClient(url, { budget })
    const orders = client.of(ordersEndpoint)
    expect(await buildFailure(orders.get('1', { signal: forever() }))).toMatchObject({ operation: 'token', sent: 'never' })
    expect(await orders.get('1', { signal: forever() })).not.toBeNull()
    const request = orders.prepare.acknowledge('1')
    const tooLate = { signal: forever(), correlationId: 'c', maySend: () => false }
    expect(await buildFailure(client.writer(orderWrites).send(request, tooLate))).toMatchObject({ sent: 'never' })
    expect(await client.budget.take(ordersEndpoint.operations.acknowledge)).toEqual({ granted: true })
    expect(await client.budget.take(ordersEndpoint.operations.get)).toMatchObject({ granted: false })
  })

  test('stands before every call; without a grant the call fails before it is sent', async () => {
    const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, { order: wireOrderSample('1') }))
    const budget = createInProcessBudget({ limits: { ...generousLimits, 'orders.get': { tokens: 1, perMs: 60_000 } } })
    const { client } = startClient(url, { budget })
    await client.of(ordersEndpoint).get('1', { signal: forever() })
    const failure = await buildFailure(client.of(ordersEndpoint).get('1', { signal: forever() }))
    expect(failure).toMatchObject({
      kind: 'throttled',
      sent: 'never',
      httpStatus: null,
      message: 'orders.get throttled: not sent',
    })
    expect(failure.retryAt?.getTime()).toBeGreaterThan(Date.now())
    const wait = await client.budget.take(ordersEndpoint.operations.get)
    expect(wait.granted).toBe(false)
    // A grant that was taken before is not taken again.
    await client.of(ordersEndpoint).get('1', { signal: forever(), grant: { granted: true } })
    expect(business(seen)).toHaveLength(2)
  })

  test('learns from every answer', async () => {
    const { url } = await startMarketplace((_request, response) =>
      sendJson(
        response,
        200,
        { order: wireOrderSample('1') },
        { 'X-Current-Token-Count': '0', 'X-Next-Replenishment-Time': String(Date.now() + 30_000) },
      ),
    )
    const { client } = startClient(url)
    await client.of(ordersEndpoint).get('1', { signal: forever() })
    expect(await client.budget.take(ordersEndpoint.operations.get)).toMatchObject({ granted: false })
    expect(await client.budget.take(ordersEndpoint.operations.list)).toMatchObject({ granted: true })
  })

  test('a 429, or a 200 that is one, stops the operation of that seller alone', async () => {
    for (const status of [429, 200]) {
      const { url } = await startMarketplace((_request, response) =>
        sendJson(response, status, { errors: { error: [{ code: 'REQUEST_THRESHOLD_VIOLATED.GMP_GATEWAY_API' }] } }),
      )
      const budget = createInProcessBudget({ limits: generousLimits })
      const { client } = startClient(url, { budget })
      expect(await buildFailure(client.of(ordersEndpoint).get('1', { signal: forever() }))).toMatchObject({
        kind: 'throttled',
        sent: 'answered',
      })
      expect(await budget.take('S-1', ordersEndpoint.operations.get)).toMatchObject({ granted: false })
      expect(await budget.take('S-2', ordersEndpoint.operations.get)).toMatchObject({ granted: true })
    }
  })
})

describe('time', () => {
  test('a read is true from when it was asked, a write from when it was answered, on the marketplace’s clock', async () => {
    const ahead = 5 * 86_400_000
    const { url } = await startMarketplace((_request, response) => {
      const date = new Date(Date.now() + ahead).toUTCString()
      setTimeout(() => sendJson(response, 200, { order: wireOrderSample('1') }, { date }), 50)
    })
    const { client } = startClient(url)
    const askedMs = Date.now()
    const read = await client.of(ordersEndpoint).get('1', { signal: forever() })
    expect(Math.abs((read?.observedAt.getTime() ?? 0) - askedMs - ahead)).toBeLessThan(2_000)
    const written = await client
      .writer(orderWrites)
      .send(client.of(ordersEndpoint).prepare.acknowledge('1'), { signal: forever(), correlationId: 'c' })
    const again = await client.of(ordersEndpoint).get('1', { signal: forever() })
    expect(written.observedAt.getTime() - (read?.observedAt.getTime() ?? 0)).toBeGreaterThan(80)
    expect(again?.observedAt.getTime()).toBeGreaterThanOrEqual(written.observedAt.getTime())
    expect(Math.abs(client.clock().now().getTime() - Date.now() - ahead)).toBeLessThan(2_000)
  })

  test('a page is true from when it was asked for', async () => {
    const travelMs = 300
    const { url } = await startMarketplace((_request, response) => {
      setTimeout(() => sendJson(response, 200, wirePageText([wireOrderSample('1')])), travelMs)
    })
    const page = await startClient(url).client.of(ordersEndpoint).list(list, { signal: forever() })
    // A timer may fire a millisecond early.
    expect(page.marketplaceNow.getTime() - page.observedAt.getTime()).toBeGreaterThanOrEqual(travelMs - 2)
  })
})

describe('what it tells', () => {
  test('the announced end of an operation, once', async () => {
    const headers = { deprecation: 'true', sunset: 'Sat, 27 Mar 2027 00:00:00 GMT' }
    const { url } = await startMarketplace((_request, response) => sendJson(response, 200, wirePageText([]), headers))
    const { client, logged } = startClient(url)
    for (let call = 0; call < 3; call += 1) await client.of(ordersEndpoint).list(list, { signal: forever() })
    expect(logged.filter((line) => line.level === 'warn')).toEqual([
      { level: 'warn', fields: { seller_id: 'S-1', operation: 'orders.list', ...headers }, message: expect.any(String) },
    ])
  })

  test('no secret and nothing of a body in an error or a log line', async () => {
    const { url } = await startMarketplace((request, response) => {
      const echo = `${request.headers['xx_sec.access_token']} Ada Example`
      sendJson(response, 400, {
        errors: { error: [{ code: `X ${echo}`, field: echo, description: `refused for ${echo} hunter2-very-secret` }] },
      })
    })
    const { client, logged } = startClient(url)
    const failure = await buildFailure(client.of(ordersEndpoint).get('1', { signal: forever() }))
    expect(failure.message).toBe('orders.get refused: HTTP 400')
    const everything = JSON.stringify({
      ...failure,
      message: failure.message,
      stack: failure.stack,
      cause: failure.cause,
      logged,
    })
    expect(everything).not.toContain('token-1')
    expect(everything).not.toContain('hunter2')
    expect(JSON.stringify([failure.message, failure.stack, logged])).not.toContain('Ada Example')
  })

  test('each request with its operation, outcome, status and duration', async () => {
    const { url } = await startMarketplace((_request, response) => sendJson(response, 503, ''))
    const { client, reports } = startClient(url)
    await buildFailure(client.of(ordersEndpoint).get('1', { signal: forever() }))
    const request = { sellerId: 'S-1', durationMs: expect.any(Number), correlationId: expect.stringMatching(/^[\da-f-]{36}$/) }
    expect(reports).toEqual([
      { ...request, operation: 'token', outcome: 'ok', status: 200 },
      { ...request, operation: 'orders.get', outcome: 'unavailable', status: 503 },
    ])
  })
})

test('every profile has a limit for every operation', () => {
  for (const profile of [specification, walmartUs]) {
    for (const { name, limit } of allOperations) {
      const { tokens, perMs } = profile.rateLimits[name] ?? limit
      expect(tokens > 0 && perMs > 0, name).toBe(true)
    }
    const names = allOperations.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(Object.keys(profile.rateLimits).filter((name) => !names.includes(name))).toEqual([])
  }
})

test('an error of the rate limit loses no answer', async () => {
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, { order: wireOrderSample('1') }))
  const budget = createInProcessBudget({ limits: generousLimits })
  const broken = { ...budget, learn: () => Promise.reject(new Error('the store is unavailable')) }
  const { client, logged } = startClient(url, { budget: broken })
  const observed = await client
    .writer(orderWrites)
    .send(client.of(ordersEndpoint).prepare.acknowledge('1'), { signal: forever(), correlationId: 'c' })
  expect(observed.record.ok).toBe(true)
  expect(logged.some((line) => line.level === 'warn')).toBe(true)
})

describe('a client that another one takes the place of', () => {
  const gate = () => Promise.withResolvers<void>()

  test('finishes what has begun, refuses what comes as never sent, and is closed then', async () => {
    const [asked, mayAnswer] = [gate(), gate()]
    const { url, seen } = await startMarketplace((_request, response) => {
      asked.resolve()
      void mayAnswer.promise.then(() => sendJson(response, 200, wirePageText([])))
    })
    const { client } = startClient(url)
    const begun = client.of(ordersEndpoint).list(list, { signal: forever() })
    await asked.promise
    let isClosed = false
    const retired = client.retire().then(() => {
      isClosed = true
    })
    const failure = await buildFailure(client.of(ordersEndpoint).list(list, { signal: forever() }))
    expect(failure).toMatchObject({ kind: 'throttled', sent: 'never', networkCode: 'CALLER_RETIRED' })
    expect(failure.retryAt?.getTime()).toBeLessThanOrEqual(Date.now())
    expect([business(seen).length, isClosed]).toEqual([1, false])
    mayAnswer.resolve()
    expect(await begun).toMatchObject({ records: [] })
    await retired
    expect(await buildFailure(client.of(ordersEndpoint).list(list, { signal: forever() }))).toMatchObject({ sent: 'never' })
  })

  test('is broken off when all is closed', async () => {
    const asked = gate()
    const { url } = await startMarketplace(() => asked.resolve())
    const { client } = startClient(url)
    const begun = buildFailure(client.of(ordersEndpoint).list(list, { signal: forever() }))
    await asked.promise
    const retired = client.retire()
    await client.close()
    expect(await begun).toMatchObject({ networkCode: 'ABORTED' })
    await retired
  })
})
