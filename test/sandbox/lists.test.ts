import { describe, expect, onTestFinished, test } from 'vitest'
import { readQuery, returnDate } from '../../sandbox/calls/query.ts'
import { dayMs, hourMs } from '../../sandbox/core/duration.ts'
import { at, connect, fetchToken, items, type Json, listUnits, type Reply, startTestSandbox, type TestClient } from './support.ts'

const started = async (): Promise<TestClient> => {
  const sandbox = await startTestSandbox()
  const client = await connect(sandbox.url)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

const listIds = (reply: Reply): string[] =>
  items(reply.json, 'list', 'elements', 'order').map((order) => String(at(order, 'purchaseOrderId')))
const buildCursor = (reply: Reply): string => String(at(reply.json, 'list', 'meta', 'nextCursor'))
const day = (ageMs: number): string => new Date(Date.now() - ageMs).toISOString().replace(/\.\d+Z$/, 'Z')

/** Places orders of the given ages, oldest first, and gives their ids. */
const placeAged = async (client: TestClient, agesMs: readonly number[]): Promise<string[]> => {
  const ids: string[] = []
  for (const ageMs of agesMs) {
    ids.push(await client.place([{ sku: 'A', quantity: 2 }], { createdFrom: new Date(Date.now() - ageMs).toISOString() }))
  }
  return ids
}

describe('headers and token', () => {
  test.each([
    ['XX_SEC.ACCESS_TOKEN', null, 401, 'UNAUTHORIZED'],
    ['XX_SEC.ACCESS_TOKEN', 'wrong', 401, 'UNAUTHORIZED'],
    ['XX_QOS.CORRELATION_ID', null, 400, 'MISSING_REQUEST_HEADER'],
    ['XX_QOS.CORRELATION_ID', 'abc', 400, 'INVALID_REQUEST_HEADER'],
    ['XX_SVC.NAME', null, 400, 'MISSING_REQUEST_HEADER'],
    ['accept', 'text/xml', 406, 'INVALID_ACCEPT_TYPE'],
  ])('%s = %s is answered with %i', async (name, value, status, code) => {
    const client = await started()
    const reply = await client.call('GET', '/v3/orders', undefined, { [name]: value })
    expect([reply.status, at(reply.json, 'errors', 'error', 0, 'code')]).toEqual([status, `${code}.GMP_GATEWAY_API`])
  })

  test('a token lives 900 seconds of virtual time', async () => {
    const client = await started()
    await placeAged(client, [hourMs])
    await client.control('POST', '/clock', { advance: '890s' })
    expect((await client.call('GET', '/v3/orders')).status).toBe(200)
    await client.control('POST', '/clock', { advance: '11s' })
    expect((await client.call('GET', '/v3/orders')).status).toBe(401)
    await client.renewToken()
    expect((await client.call('GET', '/v3/orders')).status).toBe(200)
  })

  test('wrong and revoked credentials get 400, and revoking kills tokens already out', async () => {
    const client = await started()
    expect((await fetchToken(client.url, 'sandbox-client', 'wrong')).status).toBe(400)
    await client.control('POST', '/sellers', { sellerId: 'sandbox-seller', revoked: true })
    expect((await client.call('GET', '/v3/orders')).status).toBe(401)
    const refused = await fetchToken(client.url)
    expect([refused.status, at(refused.json, 'error')]).toEqual([400, 'invalid_client'])
  })

  test('each seller sees his own orders only', async () => {
    const client = await started()
    await client.control('POST', '/sellers', { sellerId: 'two' })
    const other = await connect(client.url, { clientId: 'two-client', clientSecret: 'two-secret' })
    const mine = await client.place([{ sku: 'A' }])
    const theirs = await client.place([{ sku: 'A' }], { sellerId: 'two' })
    expect(listIds(await client.call('GET', '/v3/orders'))).toEqual([mine])
    expect(listIds(await other.call('GET', '/v3/orders'))).toEqual([theirs])
    expect((await other.acknowledge(mine)).status).toBe(404)
  })

  test.each(['3661d', '99999999999d', '-1d', '2', ''])('the clock does not advance by "%s"', async (advance) => {
    const client = await started()
    const before = at(await client.control('GET', '/clock'), 'offsetMs')
    await expect(client.control('POST', '/clock', { advance })).rejects.toThrow('400')
    expect(at(await client.control('GET', '/clock'), 'offsetMs')).toBe(before)
  })

  test('the Date header shows the virtual clock', async () => {
    const client = await started()
    await client.control('POST', '/clock', { advance: '2d' })
    const reply = await client.call('GET', '/v3/nothing')
    expect(Date.parse(reply.headers.get('date') ?? '') - Date.now()).toBeGreaterThan(2 * dayMs - 5_000)
    expect([reply.status, at(reply.json, 'errors', 'error', 0, 'code')]).toEqual([404, 'URI_NOT_FOUND.GMP_GATEWAY_API'])
  })
})

describe('GET /v3/orders', () => {
  test('nothing found is 404 CONTENT_NOT_FOUND of severity INFO, or an empty list by switch', async () => {
    const client = await started()
    const none = await client.call('GET', '/v3/orders')
    expect(none.status).toBe(404)
    expect(at(none.json, 'errors', 'error', 0)).toMatchObject({ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' })
    await client.control('PUT', '/faults', { emptyAnswer: 'emptyList' })
    const empty = await client.call('GET', '/v3/orders')
    expect([empty.status, listIds(empty), at(empty.json, 'list', 'meta', 'totalCount')]).toEqual([200, [], 0])
  })

  test('a cursor is appended as it is and walks every order once', async () => {
    const client = await started()
    const ids = await placeAged(
      client,
      [5, 4, 3, 2, 1].map((hours) => hours * hourMs),
    )
    const seen: string[] = []
    let reply = await client.call('GET', '/v3/orders?limit=2')
    seen.push(...listIds(reply))
    expect(buildCursor(reply)).toMatch(
      /^\?limit=2&hasMoreElements=true&soIndex=\d+&poIndex=2&partnerId=\d+&sellerId=sandbox-seller&/,
    )
    while (at(reply.json, 'list', 'meta', 'nextCursor') !== null) {
      reply = await client.call('GET', `/v3/orders${buildCursor(reply)}`)
      seen.push(...listIds(reply))
    }
    expect(seen).toEqual(ids)
  })

  test('a cursor given as a parameter is ignored: page 1 again; a decoded one is 401', async () => {
    const client = await started()
    const ids = await placeAged(client, [3 * hourMs, 2 * hourMs, hourMs])
    const first = await client.call('GET', '/v3/orders?limit=2')
    const again = await client.call('GET', `/v3/orders?limit=2&nextCursor=${encodeURIComponent(buildCursor(first))}`)
    expect(listIds(again)).toEqual(ids.slice(0, 2))
    expect((await client.call('GET', `/v3/orders${decodeURIComponent(buildCursor(first))}`)).status).toBe(401)
    expect((await client.call('GET', `/v3/orders${buildCursor(first).replace('poIndex=2', 'poIndex=1')}`)).status).toBe(401)
  })

  test('the upper bound is frozen at the first page', async () => {
    const client = await started()
    const ids = await placeAged(client, [3 * hourMs, 2 * hourMs, hourMs])
    const first = await client.call('GET', '/v3/orders?limit=2')
    await client.control('POST', '/clock', { advance: '1m' })
    await client.place([{ sku: 'LATER' }])
    const second = await client.call('GET', `/v3/orders${buildCursor(first)}`)
    expect([listIds(second), at(second.json, 'list', 'meta', 'totalCount')]).toEqual([ids.slice(2), 3])
  })

  test('pages count rows of a set that moves: what leaves it makes others slip through', async () => {
    const client = await started()
    const ids = await placeAged(
      client,
      [4, 3, 2, 1].map((hours) => hours * hourMs),
    )
    const first = await client.call('GET', '/v3/orders/released?limit=2')
    expect(listIds(first)).toEqual(ids.slice(0, 2))
    await client.acknowledge(String(ids[0]))
    expect(listIds(await client.call('GET', `/v3/orders/released${buildCursor(first)}`))).toEqual(ids.slice(3))
  })

  test('without a start by creation only seven days are seen, whatever was modified; the wall stands at 180 days', async () => {
    const client = await started()
    const [ancient, old, young] = await placeAged(client, [181 * dayMs, 8 * dayMs, dayMs])
    await client.acknowledge(String(old))
    const modified = `lastModifiedStartDate=${day(hourMs)}`
    expect(listIds(await client.call('GET', '/v3/orders'))).toEqual([young])
    expect((await client.call('GET', `/v3/orders?${modified}`)).status).toBe(404)
    expect(listIds(await client.call('GET', `/v3/orders?${modified}&createdStartDate=${day(179 * dayMs)}`))).toEqual([old])
    expect(listIds(await client.call('GET', `/v3/orders?createdStartDate=${day(300 * dayMs)}`))).toEqual([old, young])
    expect((await client.call('GET', `/v3/orders/${ancient}`)).status).toBe(404)
  })

  test.each([
    'createdStartDate=2026-11-01T00:00:00.000Z',
    'lastModifiedStartDate=yesterday',
    'createdEndDate=1795240551757',
    'limit=201',
    'limit=0',
    'status=Done',
    'shipNodeType=Mine',
    'createdStartDate=2026-11-02&createdEndDate=2026-11-01',
  ])('%s is refused with INVALID_REQUEST.GMP_ORDER_API', async (query) => {
    const client = await started()
    const reply = await client.call('GET', `/v3/orders?${query}`)
    expect([reply.status, at(reply.json, 'errors', 'error', 0, 'code')]).toEqual([400, 'INVALID_REQUEST.GMP_ORDER_API'])
  })

  test('filters: status of any line, stock key, ids, ship node, ship-by date', async () => {
    const client = await started()
    const plain = await client.place([{ sku: 'A' }])
    const mixed = await client.place([{ sku: 'B', quantity: 2 }, { sku: 'C' }], { customerOrderId: '777' })
    const stored = await client.place([{ sku: 'A' }], { shipNodeType: 'WFSFulfilled' })
    await client.acknowledge(mixed)
    await client.ship(mixed, [{ line: '1', quantity: 1 }])
    const found = async (query: string): Promise<string[]> => listIds(await client.call('GET', `/v3/orders?${query}`))
    expect(await found('status=Shipped')).toEqual([mixed])
    expect(await found('status=Acknowledged')).toEqual([mixed])
    expect(await found('status=Created')).toEqual([plain])
    expect(await found('sku=A')).toEqual([plain])
    expect(await found('customerOrderId=777')).toEqual([mixed])
    expect(await found(`purchaseOrderId=${plain}`)).toEqual([plain])
    expect(await found('shipNodeType=WFSFulfilled')).toEqual([stored])
    expect(await found(`toExpectedShipDate=${day(-3 * dayMs)}`)).toEqual([plain, mixed])
    expect((await client.call('GET', `/v3/orders?fromExpectedShipDate=${day(-3 * dayMs)}`)).status).toBe(404)
  })

  test('no query reaches beyond its first 10,000 orders, and totalCount tells how many there are', {
    timeout: 30_000,
  }, async () => {
    const client = await started()
    await client.control('POST', '/orders', {
      count: 10_300,
      shipNodeType: 'SellerFulfilled',
      createdFrom: day(dayMs),
      alive: false,
    })
    let reply = await client.call('GET', '/v3/orders?limit=200')
    expect(at(reply.json, 'list', 'meta', 'totalCount')).toBe(10_300)
    const seen = new Set(listIds(reply))
    for (let page = 2; page <= 50; page += 1) {
      reply = await client.call('GET', `/v3/orders${buildCursor(reply)}`)
      for (const id of listIds(reply)) seen.add(id)
    }
    expect(seen.size).toBe(10_000)
    expect((await client.call('GET', `/v3/orders${buildCursor(reply)}`)).status).toBe(400)
  })

  test('a list may lag behind the orders', async () => {
    const client = await started()
    await client.control('PUT', '/faults', { listLagMs: 120_000 })
    const po = await client.place([{ sku: 'A' }])
    expect((await client.call('GET', '/v3/orders')).status).toBe(404)
    expect(at(await client.order(po), 'purchaseOrderId')).toBe(po)
    await client.control('POST', '/clock', { advance: '121s' })
    expect(listIds(await client.call('GET', '/v3/orders'))).toEqual([po])
  })
})

test('released shows what waits to be acknowledged, never marketplace-fulfilled orders', async () => {
  const client = await started()
  const po = await client.place([{ sku: 'A' }])
  await client.place([{ sku: 'A' }], { shipNodeType: 'WFSFulfilled' })
  expect(listIds(await client.call('GET', '/v3/orders/released'))).toEqual([po])
  expect((await client.call('GET', '/v3/orders/released?shipNodeType=WFSFulfilled')).status).toBe(404)
  await client.acknowledge(po)
  expect((await client.call('GET', '/v3/orders/released')).status).toBe(404)
})

describe('GET /v3/returns', () => {
  const withReturns = async (count: number): Promise<{ client: TestClient; po: string }> => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 5, unitPrice: '3.33', lineNumber: '4' }])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '4', quantity: 5 }])
    for (let index = 0; index < count; index += 1) {
      await client.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '4', quantity: 1 }], travels: false })
    }
    return { client, po }
  }
  const listReturns = (reply: Reply): readonly Json[] => items(reply.json, 'returnOrders')

  test('integer line numbers, ISO dates, statuses and channels split by quantity, no list around it', async () => {
    const { client, po } = await withReturns(1)
    const [returned] = listReturns(await client.call('GET', '/v3/returns'))
    expect(returned).toMatchObject({ returnOrderDate: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) })
    expect(at(returned ?? null, 'returnOrderLines', 0)).toMatchObject({
      returnOrderLineNumber: 1,
      purchaseOrderLineNumber: 4,
      purchaseOrderId: po,
      quantity: { unitOfMeasure: 'EACH', measurementValue: 1 },
      currentTrackingStatuses: [{ status: 'RETURN_INITIATED', quantity: { measurementValue: 1 } }],
      refundChannels: [{ refundChannelName: 'ORIGINAL_PAYMENT_METHOD', quantity: { measurementValue: 1 } }],
    })
  })

  test('offset cursor, newest first; none is 404', async () => {
    const { client } = await withReturns(3)
    const first = await client.call('GET', '/v3/returns?limit=2')
    expect(at(first.json, 'meta', 'nextCursor')).toBe('?sellerId=sandbox-seller&limit=2&offset=2')
    const second = await client.call('GET', '/v3/returns?sellerId=sandbox-seller&limit=2&offset=2')
    const ids = [...listReturns(first), ...listReturns(second)].map((returned) => Number(at(returned, 'returnOrderId')))
    expect(ids).toEqual([...ids].sort((a, b) => b - a))
    expect(new Set(ids).size).toBe(3)
    expect((await client.call('GET', '/v3/returns?status=COMPLETED')).status).toBe(404)
  })

  test('a moment without a zone is UTC, wherever the sandbox runs', async () => {
    const zone = process.env['TZ']
    process.env['TZ'] = 'America/New_York'
    onTestFinished(() => {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    })
    expect(returnDate(readQuery('/v3/returns?at=2026-03-04T05:06:07'), 'at')).toBe(Date.UTC(2026, 2, 4, 5, 6, 7))
  })

  test('a window needs both of its ends', async () => {
    const { client } = await withReturns(1)
    const start = `returnLastModifiedStartDate=${encodeURIComponent(day(hourMs))}`
    expect((await client.call('GET', `/v3/returns?${start}`)).status).toBe(400)
    const both = await client.call('GET', `/v3/returns?${start}&returnLastModifiedEndDate=${encodeURIComponent(day(-hourMs))}`)
    expect(listReturns(both)).toHaveLength(1)
  })

  test('more units than were shipped cannot be returned', async () => {
    const { client, po } = await withReturns(3)
    const request = { purchaseOrderId: po, lines: [{ lineNumber: '4', quantity: 3 }] }
    await expect(client.control('POST', '/returns', request)).rejects.toThrow(/409/)
  })

  test('a refund by the seller is credited to the return, so that the marketplace does not pay again', async () => {
    const { client, po } = await withReturns(0)
    await client.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '4', quantity: 2 }] })
    expect((await client.refund(po, '4', 1, -3.33)).status).toBe(200)
    await client.control('POST', '/clock', { advance: '40d' })
    await client.renewToken()
    const [returned] = listReturns(await client.call('GET', '/v3/returns?status=COMPLETED'))
    expect(at(returned ?? null, 'returnOrderLines', 0)).toMatchObject({ refundedQty: 2 })
    expect(listUnits(await client.order(po))).toBe('Refund 2, Shipped 3')
    const paid = items(await client.control('GET', '/effects'), 'items').filter((effect) => at(effect, 'kind') === 'refunded')
    expect(paid.map((effect) => [at(effect, 'by'), at(effect, 'quantity')])).toEqual([
      ['seller', 1],
      ['marketplace', 1],
    ])
  })
})
