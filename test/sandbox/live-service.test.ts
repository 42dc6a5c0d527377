import { describe, expect, test } from 'vitest'
import {
  at,
  description,
  items,
  type Json,
  listUnits,
  type Reply,
  readEffects,
  startClient,
  startLiveClient,
  type TestClient,
} from './support.ts'

test('correlation ids that are no UUIDs are welcome on the live service, and refused by the specification', async () => {
  const live = await startLiveClient()
  const po = await live.place([{ sku: 'A' }])
  const reply = await live.call('POST', `/v3/orders/${po}/acknowledge`, undefined, { 'WM_QOS.CORRELATION_ID': '1234567890' })
  expect(reply.status).toBe(200)
  const [effect] = items(await live.control('GET', '/effects'), 'items')
  expect(at(effect ?? null, 'correlationId')).toBe('1234567890')
  expect((await live.call('GET', '/v3/orders', undefined, { 'WM_QOS.CORRELATION_ID': null })).status).toBe(400)
})

describe('GET /v3/token/detail', () => {
  test('tells since when and until when a token lives, and what it may do', async () => {
    const live = await startLiveClient()
    await live.control('POST', '/clock', { advance: '10m' })
    const now = Date.parse(String(at(await live.control('GET', '/clock'), 'now')))
    await live.renewToken()
    const detail = (await live.call('GET', '/v3/token/detail')).json
    expect(detail).toMatchObject({
      is_valid: true,
      is_channel_match: true,
      scopes: { orders: 'full_access', returns: 'full_access' },
    })
    expect([at(detail, 'issued_at'), at(detail, 'expire_at')]).toEqual([
      expect.stringMatching(/^\d{13}$/),
      expect.stringMatching(/^\d{13}$/),
    ])
    expect(Number(at(detail, 'issued_at'))).toBeGreaterThanOrEqual(now)
    expect(Number(at(detail, 'expire_at')) - Number(at(detail, 'issued_at'))).toBe(900_000)
  })

  test('a dead token gets 401, and the specification knows no such operation', async () => {
    const live = await startLiveClient()
    await live.control('POST', '/clock', { advance: '16m' })
    expect((await live.call('GET', '/v3/token/detail')).status).toBe(401)
    const unknown = await (await startClient()).call('GET', '/v3/token/detail')
    expect([unknown.status, at(unknown.json, 'errors', 'error', 0, 'code')]).toEqual([404, 'URI_NOT_FOUND.GMP_GATEWAY_API'])
  })
})

describe('POST /v3/returns/{returnOrderId}/refund', () => {
  interface Opened {
    readonly live: TestClient
    readonly po: string
    readonly id: string
  }
  const opened = async (lines: readonly object[] = [{ lineNumber: '1', quantity: 2 }], more: object = {}): Promise<Opened> => {
    const live = await startLiveClient()
    const placed = [
      { sku: 'A', quantity: 3, unitPrice: '10.00', tax: '2.00' },
      { sku: 'B', quantity: 1, unitPrice: '4.00' },
    ]
    const po = await live.place(placed, more)
    await live.acknowledge(po)
    await live.ship(po, [
      { line: '1', quantity: 3 },
      { line: '2', quantity: 1 },
    ])
    const created = await live.control('POST', '/returns', { purchaseOrderId: po, lines, travels: false })
    return { live, po, id: String(at(created, 'returnOrderId')) }
  }
  const units = (measurementValue: number): object => ({ unitOfMeasure: 'EA', measurementValue })
  const refund = (live: TestClient, id: string, body: object): Promise<Reply> =>
    live.call('POST', `/v3/returns/${id}/refund`, body)
  const returned = async (live: TestClient): Promise<Json> => at((await live.call('GET', '/v3/returns')).json, 'returnOrders', 0)

  test('pays the units of the returned line back, echoes the request, and counts them in order and return', async () => {
    const { live, po, id } = await opened()
    const customerOrderId = at(await live.order(po), 'customerOrderId')
    const body = { customerOrderId, refundLines: [{ returnOrderLineNumber: 1, quantity: units(1) }] }
    const reply = await refund(live, id, body)
    expect([reply.status, reply.json]).toEqual([200, { returnOrderId: id, ...body }])
    expect(listUnits(await live.order(po))).toBe('Refund 1, Shipped 2')
    expect(at(await returned(live), 'returnOrderLines', 0, 'refundedQty')).toBe(1)
    expect((await readEffects(live, po)).at(-1)).toBe('refunded 1 of line 1 by seller')
    const effects = items(await live.control('GET', `/effects?purchaseOrderId=${po}`), 'items')
    expect(effects.at(-1)).toMatchObject({ amount: '10.67', correlationId: expect.stringMatching(/-/) })
  })

  test('the line number may be left out where there is one line only', async () => {
    const one = await opened()
    expect((await refund(one.live, one.id, { refundLines: [{ quantity: units(2) }] })).status).toBe(200)
    const two = await opened([
      { lineNumber: '1', quantity: 1 },
      { lineNumber: '2', quantity: 1 },
    ])
    const missing = await refund(two.live, two.id, { refundLines: [{ quantity: units(1) }] })
    expect([missing.status, at(missing.json, 'errors', 'error', 0, 'field')]).toEqual([400, 'returnOrderLineNumber'])
    const both = [1, 2].map((returnOrderLineNumber) => ({ returnOrderLineNumber, quantity: units(1) }))
    expect((await refund(two.live, two.id, { refundLines: both })).status).toBe(200)
    expect(listUnits(await two.live.order(two.po), 1)).toBe('Refund 1')
  })

  test('twice pays twice until the units of the return are used up; one faulty line refuses all', async () => {
    const { live, po, id } = await opened([
      { lineNumber: '1', quantity: 2 },
      { lineNumber: '2', quantity: 1 },
    ])
    const line = (returnOrderLineNumber: number, count: number): object => ({ returnOrderLineNumber, quantity: units(count) })
    expect(description(await refund(live, id, { refundLines: [line(2, 1), line(1, 3)] }))).toContain('2 units left')
    expect(listUnits(await live.order(po), 1)).toBe('Shipped 1')
    expect((await refund(live, id, { refundLines: [line(1, 1)] })).status).toBe(200)
    expect((await refund(live, id, { refundLines: [line(1, 1)] })).status).toBe(200)
    expect((await refund(live, id, { refundLines: [line(1, 1)] })).status).toBe(400)
    expect((await refund(live, id, { refundLines: [line(9, 1)] })).status).toBe(400)
    expect(listUnits(await live.order(po))).toBe('Refund 2, Shipped 1')
  })

  test.each([
    [{ refundLines: [] }, 'refundLines'],
    [{ refundLines: [{ returnOrderLineNumber: 1 }] }, 'quantity'],
    [{ refundLines: [{ returnOrderLineNumber: 1, quantity: { measurementValue: 0 } }] }, 'measurementValue'],
    [{ customerOrderId: '1', refundLines: [{ quantity: { measurementValue: 1 } }] }, 'customerOrderId'],
  ])('%j is refused', async (body, field) => {
    const { live, id } = await opened()
    const reply = await refund(live, id, body)
    expect([reply.status, at(reply.json, 'errors', 'error', 0, 'code')]).toEqual([400, 'INVALID_REQUEST_CONTENT.GMP_RETURNS_API'])
    expect(String(at(reply.json, 'errors', 'error', 0, 'field'))).toContain(field)
  })

  test('an amount must be negative, in the currency, and at most what was charged for the units', async () => {
    const { live, po, id } = await opened()
    const ask = (amount: number, currency = 'USD'): Promise<Reply> =>
      refund(live, id, { refundLines: [{ quantity: units(1), amount: { currency, amount } }] })
    expect(description(await ask(4))).toContain('must be negative')
    expect(description(await ask(-10.01))).toContain('was charged 10,')
    expect(description(await ask(-4, 'EUR'))).toContain('must be USD')
    expect((await ask(-4)).status).toBe(200)
    const effects = items(await live.control('GET', `/effects?purchaseOrderId=${po}`), 'items')
    expect(effects.at(-1)).toMatchObject({ kind: 'refunded', quantity: 1, amount: '4' })
  })

  test('exceptions and marketplace-fulfilled returns are refused, unknown ones not found', async () => {
    const exception = await opened([{ lineNumber: '1', quantity: 1, exceptionItemType: 'HAZMAT' }])
    const body = { refundLines: [{ quantity: units(1) }] }
    expect(at(await returned(exception.live), 'returnOrderLines', 0)).toMatchObject({
      exceptionItemType: 'HAZMAT',
      isReturnForException: true,
    })
    expect(description(await refund(exception.live, exception.id, body))).toContain('HAZMAT')
    expect((await refund(exception.live, '1', body)).status).toBe(404)
    const live = await startLiveClient()
    const po = await live.place([{ sku: 'A', quantity: 1 }], { shipNodeType: 'WFSFulfilled', alive: true })
    await live.control('POST', '/clock', { advance: '19h' })
    await live.renewToken()
    const created = await live.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '1', quantity: 1 }] })
    const refused = await refund(live, String(at(created, 'returnOrderId')), body)
    expect([refused.status, description(refused)]).toEqual([400, expect.stringContaining('marketplace fulfilled')])
  })

  test('comes late under a fault, takes a token of its own budget, and is unknown to the specification', async () => {
    const { live, po, id } = await opened()
    await live.control('PUT', '/faults', {
      next: [{ fault: 'lateEffect', operation: 'returns.refund', delayMs: 60_000, answer: 'serverError' }],
    })
    const body = { refundLines: [{ quantity: units(2) }] }
    expect((await refund(live, id, body)).status).toBeGreaterThanOrEqual(500)
    expect(listUnits(await live.order(po))).toBe('Shipped 3')
    await live.control('POST', '/clock', { advance: '61s' })
    expect(listUnits(await live.order(po))).toBe('Refund 2, Shipped 1')
    await live.control('PUT', '/limits', { enabled: true })
    const limited = await refund(live, '1', body)
    expect([limited.status, limited.headers.get('x-current-token-count')]).toEqual([404, '59'])
    expect((await refund(await startClient(), '1', body)).status).toBe(404)
  })
})

describe('filters', () => {
  const found = async (client: TestClient, query: string): Promise<Json[]> =>
    items((await client.call('GET', `/v3/orders?${query}`)).json, 'list', 'elements', 'order').map((order) =>
      at(order, 'purchaseOrderId'),
    )

  test('shippingProgramType and orderType, also over pages and among released orders', async () => {
    const live = await startLiveClient()
    const plain = await live.place([{ sku: 'A' }])
    const fast = await live.place([{ sku: 'A' }], { shippingProgramType: 'TWO_DAY' })
    const again = await live.place([{ sku: 'A' }], { orderType: 'REPLACEMENT', originalCustomerOrderId: '77' })
    const more = await live.place([{ sku: 'A' }], { shippingProgramType: 'TWO_DAY' })
    expect(await found(live, 'shippingProgramType=TWO_DAY')).toEqual([fast, more])
    expect(await found(live, 'orderType=REPLACEMENT')).toEqual([again])
    expect(await found(live, 'orderType=REGULAR')).toEqual([plain, fast, more])
    expect(await found(live, 'orderType=PREORDER')).toEqual([])
    const first = await live.call('GET', '/v3/orders?orderType=REGULAR&limit=2')
    const second = await live.call('GET', `/v3/orders${at(first.json, 'list', 'meta', 'nextCursor')}`)
    expect(items(second.json, 'list', 'elements', 'order').map((order) => at(order, 'purchaseOrderId'))).toEqual([more])
    const released = await live.call('GET', '/v3/orders/released?shippingProgramType=TWO_DAY')
    expect(items(released.json, 'list', 'elements', 'order')).toHaveLength(2)
    expect((await live.call('GET', '/v3/orders?orderType=NONE')).status).toBe(400)
    expect((await live.call('GET', '/v3/orders?shippingProgramType=NEXT_DAY')).status).toBe(400)
    const shown = at((await live.call('GET', `/v3/orders/${again}?replacementInfo=true`)).json, 'order')
    expect(shown).toMatchObject({ orderType: 'REPLACEMENT', originalCustomerOrderID: '77' })
    expect(at(await live.order(fast), 'orderLines', 'orderLine', 0, 'fulfillment', 'shippingProgramType')).toBe('TWO_DAY')
  })
})

describe('another body than JSON is told what it is', () => {
  const xml = '<?xml version="1.0"?><orderShipment/>'
  const form = 'grant_type=client_credentials&lineNumber=1'
  test.each([
    ['application/xml', xml, 415, 'this one is XML'],
    ['text/xml; charset=utf-8', '{}', 415, 'this one is XML'],
    ['application/x-www-form-urlencoded', form, 415, 'this one is a form'],
    ['multipart/form-data; boundary=x', '--x--', 415, 'this one is a form'],
    ['text/plain', xml, 415, 'this one is XML'],
    ['text/plain', 'hello', 415, 'must be application/json'],
    ['application/json', xml, 400, 'The body is XML, not JSON'],
    ['application/json', form, 400, 'The body is a form, not JSON'],
    ['application/json', '{"a":', 400, 'The body is no JSON'],
  ])('%s %s', async (type, body, status, said) => {
    const live = await startLiveClient()
    const reply = await live.call('POST', '/v3/orders/1/shipping', body, { 'content-type': type })
    expect([reply.status, description(reply)]).toEqual([status, expect.stringContaining(said)])
  })
})
