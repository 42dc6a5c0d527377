import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../sandbox/server.ts'
import {
  at,
  connect,
  items,
  type Json,
  type Reply,
  startClient,
  startTestSandbox,
  type TestClient,
  temporaryDirectory,
} from './support.ts'

const listIds = (reply: Reply): string[] =>
  items(reply.json, 'list', 'elements', 'order').map((order) => String(at(order, 'purchaseOrderId')))
const faults = (client: TestClient, body: object): Promise<Json> => client.control('PUT', '/faults', body)
const placed = async (client: TestClient, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) ids.push(await client.place([{ sku: 'A', quantity: 2 }]))
  return ids
}
const buildCursor = (reply: Reply): string => String(at(reply.json, 'list', 'meta', 'nextCursor'))

/** All that a walk through the pages shows, page by page; stops at the first page that is no 200. */
const walk = async (client: TestClient, query: string): Promise<string[][]> => {
  const pages: string[][] = []
  let reply = await client.call('GET', `/v3/orders?${query}`)
  for (; reply.status === 200; reply = await client.call('GET', `/v3/orders${buildCursor(reply)}`)) {
    pages.push(listIds(reply))
    if (at(reply.json, 'list', 'meta', 'nextCursor') === null) return pages
  }
  pages.push([`status ${reply.status}`])
  return pages
}

describe('hidden records', () => {
  test('an order that is in no list, by whatever it is asked for; a read of it, a return of it and a write know it', async () => {
    const client = await startClient()
    const [seen = '', hidden = ''] = await placed(client, 2)
    await faults(client, { hidden: [{ ids: [hidden] }] })
    const listed = await client.call('GET', '/v3/orders')
    expect([listIds(listed), at(listed.json, 'list', 'meta', 'totalCount')]).toEqual([[seen], 1])
    expect(listIds(await client.call('GET', '/v3/orders/released'))).toEqual([seen])
    for (const query of [
      `purchaseOrderId=${hidden}`,
      'sku=A',
      `lastModifiedStartDate=${new Date(Date.now() - 60_000).toISOString().slice(0, 19)}Z`,
    ])
      expect((await client.call('GET', `/v3/orders?${query}`)).text).not.toContain(hidden)
    expect(at(await client.order(hidden), 'purchaseOrderId')).toBe(hidden)
    expect((await client.acknowledge(hidden)).status).toBe(200)
    await client.ship(hidden, [{ line: '1', quantity: 2 }])
    await client.control('POST', '/returns', {
      purchaseOrderId: hidden,
      lines: [{ lineNumber: '1', quantity: 1 }],
      travels: false,
    })
    expect((await client.call('GET', '/v3/returns')).text).toContain(hidden)
    await client.control('POST', '/clock', { advance: '30d' })
    await client.renewToken()
    expect((await client.call('GET', '/v3/orders?createdStartDate=2020-01-01')).text).not.toContain(hidden)
    await faults(client, {})
    expect((await client.call('GET', '/v3/orders?createdStartDate=2020-01-01')).text).toContain(hidden)
  })

  test('shares take disjoint parts: some for ever, some for a day, counted from when the order came or the rule was set', async () => {
    const client = await startClient()
    const hidden = [{ share: 0.2 }, { share: 0.3, forMs: 86_400_000 }]
    await client.control('POST', '/orders', { count: 100, shipNodeType: 'SellerFulfilled', alive: false })
    await faults(client, { seed: 9, hidden })
    await client.control('POST', '/orders', { count: 100, shipNodeType: 'SellerFulfilled', alive: false })
    const all = async (): Promise<string[]> => (await walk(client, 'limit=50')).flat()
    const atFirst = await all()
    expect(atFirst.length).toBeGreaterThan(75)
    expect(atFirst.length).toBeLessThan(125)
    await client.control('POST', '/clock', { advance: '23h' })
    await client.renewToken()
    expect(await all()).toEqual(atFirst)
    await client.control('POST', '/clock', { advance: '61m' })
    await client.renewToken()
    const later = await all()
    expect(later.length).toBeGreaterThan(140)
    expect(later.length).toBeLessThan(180)
    expect(later).toEqual(expect.arrayContaining(atFirst))
    await faults(client, { seed: 9, hidden: [{ share: 0.2 }] })
    expect(await all()).toEqual(later)
  })

  test('a share of the returns, until they are due', async () => {
    const client = await startClient()
    const po = await client.place([{ sku: 'A', quantity: 40 }])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 40 }])
    await faults(client, { hidden: [{ records: 'returns', share: 0.5, forMs: 3_600_000 }] })
    for (let index = 0; index < 40; index += 1)
      await client.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '1', quantity: 1 }], travels: false })
    const count = async (): Promise<number> =>
      Number(at((await client.call('GET', '/v3/returns?limit=200')).json, 'meta', 'totalCount'))
    expect(await count()).toBeGreaterThan(8)
    expect(await count()).toBeLessThan(32)
    expect(listIds(await client.call('GET', '/v3/orders'))).toEqual([po])
    await client.control('POST', '/clock', { advance: '61m' })
    await client.renewToken()
    expect(await count()).toBe(40)
  })

  test('stay hidden over a restart; a reset forgets it', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startSandbox({ dataDir, log: () => undefined })
    const client = await connect(first.url)
    const [seen, hidden] = await placed(client, 2)
    await faults(client, { hidden: [{ ids: [hidden, '4711'] }] })
    await first.close()
    const again = await connect((await startTestSandbox({ dataDir })).url)
    await again.place([{ sku: 'A' }], { purchaseOrderId: '4711' })
    expect(listIds(await again.call('GET', '/v3/orders'))).toEqual([seen])
    await again.control('DELETE', '/')
    await again.renewToken()
    await again.place([{ sku: 'A' }], { purchaseOrderId: '4711' })
    expect(listIds(await again.call('GET', '/v3/orders'))).toEqual(['4711'])
  })

  test.each([
    [{ hidden: [{}] }, 'either ids or share'],
    [{ hidden: [{ ids: ['1'], share: 0.1 }] }, 'either ids or share'],
    [{ hidden: [{ share: 0.6 }, { share: 0.6 }] }, 'add up'],
    [{ poisoned: [{ status: 500 }] }, 'either ids or share'],
    [{ nodes: { offsetsMs: [] } }, 'nodes'],
    [{ rules: [{ from: 'yesterday' }] }, 'from'],
  ])('%j is refused', async (body, message) => {
    await expect(faults(await startClient(), body)).rejects.toThrow(message)
  })
})

describe('cursors', () => {
  test.each([
    [400, undefined, 'INVALID_REQUEST.GMP_ORDER_API'],
    [401, undefined, 'UNAUTHORIZED.GMP_GATEWAY_API'],
    [403, undefined, 'FORBIDDEN.GMP_GATEWAY_API'],
    [404, undefined, 'URI_NOT_FOUND.GMP_GATEWAY_API'],
    [410, undefined, 'GONE.GMP_GATEWAY_API'],
    [422, undefined, 'INVALID_REQUEST_PARAM.GMP_GATEWAY_API'],
    [500, undefined, 'SYSTEM_ERROR.GMP_GATEWAY_API'],
    [404, 'framework', null],
    [410, 'html', null],
  ])('die with %i (%s), and stay dead while others live', async (status, body, code) => {
    const client = await startClient()
    const ids = await placed(client, 4)
    const cursor = buildCursor(await client.call('GET', '/v3/orders?limit=2'))
    const dying = { fault: 'cursorExpired', status, lasting: true, ...(body === undefined ? {} : { body }) }
    await client.control('POST', '/faults/next', dying)
    for (let time = 0; time < 3; time += 1) {
      const dead = await client.call('GET', `/v3/orders${cursor}`)
      expect([dead.status, at(dead.json, 'errors', 'error', 0, 'code')]).toEqual([status, code])
    }
    await client.control('POST', '/clock', { advance: '2s' })
    expect((await walk(client, 'limit=2')).flat()).toEqual(ids)
  })

  test('a dead one is dead after a restart too, and alive when the faults are replaced', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startSandbox({ dataDir, log: () => undefined })
    const client = await connect(first.url)
    await placed(client, 4)
    const cursor = buildCursor(await client.call('GET', '/v3/orders?limit=2'))
    await client.control('POST', '/faults/next', { fault: 'cursorExpired', status: 401, lasting: true })
    expect((await client.call('GET', `/v3/orders${cursor}`)).status).toBe(401)
    await first.close()
    const again = await connect((await startTestSandbox({ dataDir })).url)
    expect((await again.call('GET', `/v3/orders${cursor}`)).status).toBe(401)
    await faults(again, {})
    expect((await again.call('GET', `/v3/orders${cursor}`)).status).toBe(200)
  })
})

describe('poisoned records', () => {
  test('corrupt every page on which they stand, however it is cut, and no other', async () => {
    const client = await startClient()
    const ids = await placed(client, 6)
    const [, , bad = ''] = ids
    await faults(client, { poisoned: [{ ids: [bad] }] })
    expect(await walk(client, 'limit=2')).toEqual([ids.slice(0, 2), ['status 500']])
    expect((await client.call('GET', '/v3/orders?limit=5')).status).toBe(500)
    expect((await client.call('GET', '/v3/orders?limit=1')).status).toBe(200)
    expect((await client.call('GET', `/v3/orders?purchaseOrderId=${bad}`)).status).toBe(500)
    expect((await client.call('GET', `/v3/orders?purchaseOrderId=${ids[3]}`)).status).toBe(200)
    expect((await client.call('GET', `/v3/orders/${bad}`)).status).toBe(200)
    await faults(client, { poisoned: [{ ids: [bad], status: 400, reads: true, forMs: 60_000 }] })
    const refused = await client.call('GET', `/v3/orders/${bad}`)
    expect([refused.status, at(refused.json, 'errors', 'error', 0)]).toEqual([
      400,
      expect.objectContaining({ code: 'INVALID_REQUEST.GMP_ORDER_API', field: 'data', description: 'Invalid Request' }),
    ])
    await client.control('POST', '/clock', { advance: '61s' })
    expect((await client.call('GET', '/v3/orders')).status).toBe(200)
  })

  test('or swell it beyond any bound', async () => {
    const client = await startClient()
    const ids = await placed(client, 3)
    await faults(client, { poisoned: [{ ids: ids.slice(1, 2), bytes: 3_000_000 }] })
    expect((await client.call('GET', '/v3/orders')).text.length).toBeGreaterThan(3_000_000)
    expect((await client.call('GET', '/v3/orders?limit=1')).text.length).toBeLessThan(10_000)
    await faults(client, { next: [{ fault: 'oversized', bytes: 2_000_000 }] })
    expect((await client.call('GET', '/v3/orders?limit=1')).text.length).toBeGreaterThan(2_000_000)
  })

  test('returns too, in any body', async () => {
    const client = await startClient()
    const po = await client.place([{ sku: 'A' }])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 1 }])
    await client.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '1', quantity: 1 }], travels: false })
    await faults(client, { poisoned: [{ records: 'returns', share: 1, status: 502, body: 'html' }] })
    const reply = await client.call('GET', '/v3/returns')
    expect([reply.status, reply.headers.get('content-type')]).toEqual([502, 'text/html'])
    expect((await client.call('GET', '/v3/orders')).status).toBe(200)
  })
})

describe('pages that lie', () => {
  test('records of the page before come again, in another order, or are missing', async () => {
    const client = await startClient()
    const ids = await placed(client, 9)
    await faults(client, { rules: [{ operation: 'orders.list', repeatedRows: { share: 1, rows: 2 } }] })
    expect(await walk(client, 'limit=3')).toEqual([ids.slice(0, 3), ids.slice(1, 6), ids.slice(4, 9)])
    await faults(client, { seed: 4, reorderedRows: 1 })
    const reordered = listIds(await client.call('GET', '/v3/orders'))
    expect(reordered).not.toEqual(ids)
    expect(reordered.toSorted()).toEqual(ids.toSorted())
    await faults(client, { rules: [{ operation: 'orders.list', missingRows: { share: 1, rows: 1 } }] })
    const pages = await walk(client, 'limit=3')
    expect(pages.map((page) => page.length)).toEqual([2, 2, 2])
    expect(ids).toEqual(expect.arrayContaining(pages.flat()))
  })

  test('a false none lasts for hours, in lists and in reads of one order, and ends', async () => {
    const client = await startClient()
    const [po = ''] = await placed(client, 1)
    await faults(client, { rules: [{ operation: 'orders.list', forMs: 4 * 3_600_000, falseNone: 1 }] })
    const none = await client.call('GET', '/v3/orders')
    expect([none.status, at(none.json, 'errors', 'error', 0)]).toEqual([
      404,
      expect.objectContaining({ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' }),
    ])
    expect((await client.call('GET', '/v3/orders/released')).status).toBe(200)
    expect((await client.call('GET', `/v3/orders/${po}`)).status).toBe(200)
    await client.control('POST', '/clock', { advance: '239m' })
    await client.renewToken()
    expect((await client.call('GET', '/v3/orders')).status).toBe(404)
    await client.control('POST', '/clock', { advance: '2m' })
    expect(listIds(await client.call('GET', '/v3/orders'))).toEqual([po])
    await client.control('POST', '/faults/next', { fault: 'falseNone', purchaseOrderId: po })
    expect((await client.call('GET', `/v3/orders/${po}`)).status).toBe(404)
    expect((await client.call('GET', `/v3/orders/${po}`)).status).toBe(200)
  })
})

test('rows of other lists are missing, in another order or too large as well', async () => {
  const client = await startClient()
  const movements = Array.from({ length: 6 }, (_, index) => ({ sku: 'NEW', changedUnits: index + 1 }))
  await client.control('POST', '/inventory/movements', { movements })
  const read = async (): Promise<readonly number[]> => {
    const { json } = await client.call('GET', '/v3/fulfillment/inventory-log?sellerSku=NEW')
    return items(json, 'payload', 'inventoryLog').map((entry) => Number(at(entry, 'changedUnits')))
  }
  const all = await read()
  await faults(client, { seed: 2, next: [{ fault: 'missingRows', rows: 2 }, { fault: 'reorderedRows' }] })
  const corrupt = await read()
  expect(corrupt).toHaveLength(4)
  expect(all).toEqual(expect.arrayContaining([...corrupt]))
  expect(corrupt).not.toEqual(all.filter((units) => corrupt.includes(units)))
  expect(await read()).toEqual(all)
})
