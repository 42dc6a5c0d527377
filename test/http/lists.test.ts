import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { at, listAt, ofItems, textAt, textOrNullAt } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer
const orders = 100_000

beforeAll(async () => {
  server = await startServer(stage.database)
  const { database } = stage
  // 100,000 orders of 20 sellers with two lines each: one SKU of many, and one in every tenth order; every second order has been shipped.
  await database.execute(
    `INSERT INTO warehouse.orders (seller_id, purchase_order_id, customer_order_id, order_date, ship_node_type, estimated_ship_date, open,
       raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT 's-' || n % 20, 'po-' || n, 'co-' || n / 2, CASE WHEN n % 1000 > 0 THEN '2026-01-01'::timestamptz + n * interval '1 minute' END,
       'SellerFulfilled', CASE WHEN n % 500 > 0 THEN '2026-01-03'::timestamptz + (n * 7919 % ${orders}) * interval '1 minute' END,
       n % 2 = 0, '\\x00', '{}', now(), now(), now() FROM generate_series(1, ${orders}) AS n`,
  )
  await database.execute(
    `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled,
       refunded, refunded_amount, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at)
     SELECT 's-' || n % 20, 'po-' || n, l::text, l, CASE l WHEN 1 THEN 'SKU-' || n % 30000 ELSE 'MUG-' || n % 10 END,
       2, 0, CASE WHEN n % 2 = 0 THEN 0 ELSE 2 END, 0, 0, 0, '[]', '[]', false, '{}', now(), now()
     FROM generate_series(1, ${orders}) AS n CROSS JOIN generate_series(1, 2) AS l`,
  )
  await database.execute(
    `INSERT INTO warehouse.order_line_statuses (seller_id, purchase_order_id, line_number, position, status, quantity, tracking_number, raw,
       first_seen_at, changed_at)
     SELECT 's-' || n % 20, 'po-' || n, '1', 0, 'Shipped', 2, CASE WHEN n % 2 = 1 THEN '1Z' || n END, '{}', now(), now()
     FROM generate_series(1, ${orders}) AS n`,
  )
  // Every tenth was refunded: its parcel is no longer shown.
  await database.execute(
    `INSERT INTO warehouse.shipments (seller_id, purchase_order_id, line_number, position, carrier, tracking_number, quantity, shown_quantity,
       first_seen_at, changed_at)
     SELECT 's-' || n % 20, 'po-' || n, '1', 0, 'UPS', CASE WHEN n % 10 = 0 THEN 'Gone-' || n ELSE '1Z' || n END, 2,
       CASE WHEN n % 10 = 0 THEN 0 ELSE 2 END, now(), now()
     FROM generate_series(1, ${orders}) AS n WHERE n % 2 = 1 OR n % 10 = 0`,
  )
  // A shipment for every order with two parcels, one of them shared by ten orders, and an acknowledgement before it.
  await database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
     SELECT k.kind || '-' || n, 's-' || n % 20, 'po-' || n, k.kind, 'confirmed', CASE k.kind WHEN 'ship' THEN jsonb_build_object('parcels', jsonb_build_array(
       jsonb_build_object('trackingNumber', '1Z' || n, 'carrier', 'UPS'), jsonb_build_object('trackingNumber', 'SHARED' || n / 10, 'carrier', '1Z1'))) ELSE '{}' END
     FROM generate_series(1, ${orders}) AS n CROSS JOIN (VALUES ('acknowledge'), ('ship')) k (kind) ORDER BY n, k.kind`,
  )
  await database.execute(
    `INSERT INTO tallyman.command_lines (command_id, seller_id, purchase_order_id, line_number, quantity)
     SELECT 'ship-' || n, 's-' || n % 20, 'po-' || n, l::text, 2 FROM generate_series(1, ${orders}) AS n CROSS JOIN generate_series(1, 2) AS l`,
  )
  await database.execute(
    'ANALYZE warehouse.orders, warehouse.order_lines, warehouse.order_line_statuses, warehouse.shipments, tallyman.commands, tallyman.command_lines',
  )
}, 120_000)
afterAll(async () => {
  await server.close()
})

const listIds = async (query: string): Promise<unknown[]> => {
  const { status, body } = await server.json(`/v1/orders?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return ofItems(body, 'purchaseOrderId')
}

/** So often a page is asked for until it comes in time: a plan that reads the table never does, and others use the machine too. */
const maxTries = 25

/** Reads a page within 200 ms on a machine that others leave alone for that long. */
const readInTime = async (page: string) => {
  const tookMs: number[] = []
  for (;;) {
    const began = performance.now()
    const { status, body } = await server.json(page)
    tookMs.push(performance.now() - began)
    expect(status).toBe(200)
    if (Math.min(...tookMs) < 200) return body
    expect(tookMs.length, `${page}: ${tookMs.map(Math.round).join(', ')} ms`).toBeLessThan(maxTries)
  }
}

/** Reads two pages, each in time. */
const twoPages = async (path: string): Promise<void> => {
  const nextCursor = textOrNullAt(await readInTime(path), 'nextCursor')
  if (nextCursor !== null) await readInTime(`${path}&cursor=${nextCursor}`)
}

describe(`a search, of ${orders} orders`, () => {
  beforeAll(async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id)
       SELECT 'urn:erp', 'Dispatch-' || n, 'erp.shipment.dispatched', '{}', 's-' || n % 20 FROM generate_series(1, 2000) AS n`,
    )
  })

  test.each([
    ['q=PO%204711&limit=2', ['order po-4711', 'order po-47110']],
    ['q=co2355&limit=1', ['customer-order co-2355']],
    ['q=gone 9999', ['tracking-number Gone-99990']],
    ['q=Sku29999', ['sku SKU-29999']],
    ['q=mug&limit=2&sellerId=s-3', ['sku MUG-3']],
    ['q=SHIP4711&limit=1', ['command ship-4711']],
    ['q=dispatch%20200&limit=1', ['event Dispatch-200']],
    ['q=po4711&sellerId=s-12', ['order po-47112']],
    ['q=9876&limit=2', ['order po-19876', 'order po-29876', 'customer-order co-19876']],
    ['q=876&limit=2', []],
    ['q=-', []],
    ['q=nothing', []],
  ])('%s', async (query, expected) => {
    const path = `/v1/search?${query}`
    const { status, body } = await server.json(path)
    expect(status, JSON.stringify(body)).toBe(200)
    const found = listAt(body, 'items').map((item) => `${textAt(item, 'kind')} ${textAt(item, 'text')}`)
    // A customer order has two orders, of two sellers.
    expect([...new Set(found)]).toEqual(expected)
  })

  test.each(['q=p', 'q=mug', 'q=1z', 'q=ship', 'q=dispatch-1999', 'q=9876', 'q=nothing'])('%s: in time', async (query) => {
    await readInTime(`/v1/search?${query}`)
  })
})

describe(`orders, of ${orders}`, () => {
  test.each([
    ['q=po-4711&limit=1', ['po-4711']],
    ['q=CO-2355&limit=2', ['po-4710', 'po-4711']],
    ['q=1z4711&limit=1', ['po-4711']],
    ['q=SKU-29999', ['po-59999', 'po-89999', 'po-29999']],
    ['q=gone-4710&limit=1', ['po-4710']],
    ['q=gOnE-9999', ['po-99990']],
    ['q=PO-99&sellerId=s-99', []],
    ['q=947-11', ['po-94711']],
    ['q=711', []],
    ['q=nothing', []],
    ['q=_%25', []],
    ['purchaseOrderId=po-4711', ['po-4711']],
    ['purchaseOrderId=po-4711&sellerId=s-11', ['po-4711']],
    ['purchaseOrderId=po-4711&sellerId=s-12', []],
    ['customerOrderId=co-2355', ['po-4710', 'po-4711']],
    ['trackingNumber=1Z4711', ['po-4711']],
    ['trackingNumber=1Z4710', []],
    ['trackingNumber=Gone-4710', ['po-4710']],
    ['trackingNumber=gone-4710', []],
    ['sku=sku-29999', []],
    ['sku=SKU-29999', ['po-59999', 'po-89999', 'po-29999']],
    ['sku=SKU-29999&sort=-orderDate', ['po-89999', 'po-59999', 'po-29999']],
    ['sku=SKU-29999&createdFrom=2026-02-01&createdTo=2026-02-15', ['po-59999']],
    ['sku=SKU-29998&open=true&sort=acknowledgeBy', ['po-29998', 'po-59998', 'po-89998']],
    ['sort=-orderDate&limit=3', ['po-99999', 'po-99998', 'po-99997']],
    ['sort=-orderDate&limit=2&sellerId=s-3', ['po-99983', 'po-99963']],
    ['sort=acknowledgeBy&limit=1&createdFrom=2026-01-01T00:01:30Z', ['po-2']],
    ['createdFrom=2026-01-01T00:10:00Z&createdTo=2026-01-01T00:12:00Z', ['po-10', 'po-11']],
  ])('%s', async (query, expected) => {
    expect((await listIds(query)).sort()).toEqual([...expected].sort())
    if (query.includes('sort')) expect(await listIds(query)).toEqual(expected)
  })

  test.each([
    'q=po-4711',
    'q=mug-3',
    'q=p',
    'q=PO-4&sort=-orderDate&open=true',
    'q=MUG-3&sort=acknowledgeBy&unacknowledged=true',
    'q=nothing',
    'sku=MUG-3',
    'sku=MUG-3&sort=-orderDate',
    'sku=MUG-3&sort=shipBy&open=true',
    'trackingNumber=1Z4711',
    'sort=-orderDate',
    'sort=-orderDate&sellerId=s-7',
    'sort=shipBy&open=true&late=true',
    'sort=acknowledgeBy&open=true',
    'open=true&sellerId=s-7&createdFrom=2026-03-01',
    'createdFrom=2026-03-01&createdTo=2026-03-02',
  ])('%s answers within 200 ms, and so does the page after it', (query) => twoPages(`/v1/orders?${query}`))

  test.each([
    ['', 1],
    ['&sort=acknowledgeBy', 1],
    ['&sort=-orderDate', -1],
  ])('q with “%s” answers the whole id first, then each that begins with it once', async (sort, direction) => {
    const ids: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/v1/orders?q=Po-4711&limit=4${sort}${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { body } = await server.json(path)
      ids.push(...ofItems(body, 'purchaseOrderId'))
      cursor = textOrNullAt(body, 'nextCursor')
    }
    const [whole, ...others] = ids
    const longer = Array.from({ length: 10 }, (_, digit) => `po-4711${digit}`)
    expect(whole).toBe('po-4711')
    if (sort === '') expect(others.sort()).toEqual(longer)
    else expect(others).toEqual(direction === 1 ? longer : longer.reverse())
  })

  test.each(['-orderDate', 'shipBy', 'acknowledgeBy'])('pages by %s have each order once', async (sort) => {
    const seen = new Set<unknown>()
    let rows = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/v1/orders?sort=${sort}&sellerId=s-3&limit=999${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { body } = await server.json(path)
      rows += listAt(body, 'items').length
      for (const id of ofItems(body, 'purchaseOrderId')) seen.add(id)
      cursor = textOrNullAt(body, 'nextCursor')
    }
    expect([seen.size, rows]).toEqual([orders / 20, orders / 20])
  })

  test('a cursor of other filters is refused; another length of the page is not another filter', async () => {
    const nextCursor = textAt((await server.json('/v1/orders?open=true&sort=shipBy&limit=2')).body, 'nextCursor')
    expect((await server.json(`/v1/orders?sort=shipBy&open=true&limit=5&cursor=${nextCursor}`)).status).toBe(200)
    for (const other of ['sort=shipBy', 'open=false&sort=shipBy', 'open=true&sort=-orderDate', 'open=true&sort=shipBy&sku=A'])
      expect(await server.json(`/v1/orders?${other}&cursor=${nextCursor}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid-cursor', errors: [{ message: expect.stringContaining('other filters') }] },
      })
  })

  test('as CSV all of them come, as a stream', async () => {
    const answer = await server.fetch('/v1/orders?sellerId=s-3&limit=1', { headers: { accept: 'text/csv' } })
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(answer.headers.get('content-length')).toBeNull()
    const rows = parse<Record<string, string>>(await answer.text(), { columns: true })
    expect(rows).toHaveLength(orders / 20)
    expect(rows.find(({ purchaseOrderId }) => purchaseOrderId === 'po-3')).toMatchObject({
      ...{ sellerId: 's-3', customerOrderId: 'co-1', orderDate: '2026-01-01T00:03:00.000Z', open: 'false', totalAmount: '' },
      lines: expect.stringContaining('"sku":"MUG-3"'),
    })
  })
})

describe(`commands, of ${2 * orders}`, () => {
  test.each([
    ['trackingNumber=1Z4711', ['ship-4711']],
    ['trackingNumber=SHARED471', [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => `ship-471${n}`)],
    ['trackingNumber=SHARED471&sellerId=s-11', ['ship-4711']],
    ['trackingNumber=1Z4711&sellerId=s-12', []],
    ['trackingNumber=1Z1', ['ship-1']],
    ['trackingNumber=UPS', []],
    ['sku=SKU-29999', ['ship-89999', 'ship-59999', 'ship-29999']],
    ['sku=SKU-29999&kind=acknowledge', []],
    ['sku=SKU-29999&sellerId=s-19&limit=1', ['ship-89999']],
    ['sku=SKU-29999&trackingNumber=1Z59999', ['ship-59999']],
    ['sku=nothing', []],
    ['purchaseOrderId=po-4711&kind=acknowledge', ['acknowledge-4711']],
    ['q=PO-47110', ['ship-47110', 'acknowledge-47110']],
    ['q=po-4711&kind=ship&sellerId=s-11&limit=1', ['ship-47111']],
    ['q=Gone-99990%20&kind=ship', ['ship-99990']],
    ['q=nothing', []],
    ['state=confirmed&limit=2', ['ship-100000', 'acknowledge-100000']],
  ])('%s', async (query, expected) => {
    const { status, body } = await server.json(`/v1/commands?${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(ofItems(body, 'id')).toEqual(expected)
  })

  test.each([
    'trackingNumber=1Z4711',
    'trackingNumber=none',
    'sku=SKU-29999',
    'sku=MUG-3&sellerId=s-3&limit=20',
    'kind=ship&limit=20',
    'q=po-4711',
    'q=p',
    'state=held',
  ])('%s answers within 200 ms, and so does the page after it', (query) => twoPages(`/v1/commands?${query}`))
})

test('cells that a spreadsheet would execute are escaped, numbers are not', async () => {
  const odd = ['=HYPERLINK("http://x")', '+1+1', '-1+1', '@SUM(A1)', '\tx', 'a,"b"\nc']
  for (const subject of odd)
    await stage.database.execute(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message, raised_at) VALUES ('csv', 'test', $1, '-12.50', now())`,
      subject,
    )
  const answer = await server.fetch('/v1/alarms?sellerId=csv', { headers: { accept: 'text/csv' } })
  const rows = parse<Record<string, string>>(await answer.text(), { columns: true })
  expect(rows.map(({ subject }) => subject).reverse()).toEqual([...odd.slice(0, 5).map((text) => `'${text}`), odd[5]])
  expect(rows.every(({ message }) => message === '-12.50')).toBe(true)
})

describe('other lists', () => {
  beforeAll(async () => {
    const { database } = stage
    await database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data, received_at)
       SELECT '/erp', 'e-' || n, CASE n % 2 WHEN 0 THEN 'erp.order.accepted' ELSE 'erp.credit.issued' END,
         jsonb_build_object('purchaseOrderId', 'po-' || n % 3), '2026-03-01'::timestamptz + n * interval '1 day' FROM generate_series(1, 6) AS n`,
    )
    await database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, event_source, event_id, created_at)
       SELECT 'c-' || n, 's-1', 'po-' || n % 3, CASE n % 2 WHEN 0 THEN 'acknowledge' ELSE 'cancel' END, 'confirmed', '{}', '/erp', 'e-' || n,
         '2026-03-01'::timestamptz + n * interval '1 day' FROM generate_series(1, 6) AS n`,
    )
    await database.execute(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message, raised_at)
       SELECT 's-1', 'kind-' || n % 2, 'subject-' || n, '', '2026-03-01'::timestamptz + n * interval '1 day' FROM generate_series(1, 4) AS n`,
    )
    await database.execute(
      `INSERT INTO tallyman.sync_runs (seller_id, resource, stream, pages, seen, changed, quarantined, started_at, finished_at, error)
       SELECT 's-' || n % 2, CASE n WHEN 9 THEN 'returns' ELSE 'orders' END, 'changed', 1, n, 0, 0,
         '2026-03-01'::timestamptz + n * interval '1 day', '2026-03-01'::timestamptz + n * interval '1 day', CASE n WHEN 3 THEN 'down' END
       FROM generate_series(1, 9) AS n`,
    )
    await database.execute(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, record_key, fault, raw_text, raw_hash, state, seen_count, first_seen_at,
         last_seen_at, observed_at)
       SELECT 's-1', 'orders', 'po-' || n, 'x', '{}', decode(lpad(n::text, 2, '0'), 'hex'), 'open', 1,
         '2026-03-01'::timestamptz + n * interval '1 day', now(), now() FROM generate_series(1, 4) AS n`,
    )
  })

  test.each([
    ['/v1/commands?kind=cancel', ['c-5', 'c-3', 'c-1']],
    ['/v1/commands?kind=cancel&createdFrom=2026-03-03&createdTo=2026-03-06', ['c-3']],
    ['/v1/commands?purchaseOrderId=po-1&eventSource=/erp', ['c-4', 'c-1']],
    ['/v1/events?type=erp.credit.issued', ['e-5', 'e-3', 'e-1']],
    ['/v1/events?purchaseOrderId=po-1', ['e-4', 'e-1']],
    ['/v1/events?id=e-2&source=/erp', ['e-2']],
    ['/v1/events?receivedFrom=2026-03-05&receivedTo=2026-03-07', ['e-5', 'e-4']],
  ])('%s', async (path, expected) => {
    const { status, body } = await server.json(path)
    expect([status, ofItems(body, 'id')]).toEqual([200, expected])
  })

  test.each([
    ['/v1/alarms?kind=kind-1', 'subject', ['subject-3', 'subject-1']],
    ['/v1/alarms?subject=subject-2', 'subject', ['subject-2']],
    ['/v1/alarms?sellerId=s-1&raisedFrom=2026-03-03&raisedTo=2026-03-04', 'subject', ['subject-2']],
    ['/v1/quarantine?recordKey=po-2', 'recordKey', ['po-2']],
    ['/v1/quarantine?seenTo=2026-03-03&skipped=false', 'recordKey', ['po-1']],
    ['/v1/quarantine?skipped=true', 'recordKey', []],
    ['/v1/syncs/orders/runs', 'seen', [8, 7, 6, 5, 4, 3, 2, 1]],
    ['/v1/syncs/orders/runs?failed=true', 'seen', [3]],
    ['/v1/syncs/orders/runs?sellerId=s-0&failed=false&startedFrom=2026-03-06', 'seen', [8, 6]],
    ['/v1/syncs/returns/runs?stream=changed', 'seen', [9]],
    ['/v1/syncs?resource=orders', 'resource', []],
    ['/v1/sellers?state=active', 'sellerId', []],
    ['/v1/campaigns?campaignId=1', 'campaignId', []],
    ['/v1/discrepancies?gtin=1&seenFrom=2026-01-01&seenTo=2026-02-01', 'id', []],
    ['/v1/drift?sellerId=s-1&operation=orders.list&kind=field', 'path', []],
    ['/v1/stock?sellerId=s-1&sku=A&gtin=1&stockStatus=In-stock&state=missing', 'sku', []],
    ['/v1/stock-differences?sku=A&state=all&seenFrom=2026-01-01&seenTo=2026-02-01', 'id', []],
    [
      '/v1/settlement-differences?sku=A&kind=paid-less&purchaseOrderId=1&state=all&seenFrom=2026-01-01&seenTo=2026-02-01',
      'id',
      [],
    ],
    ['/v1/inbound-shipments?sellerId=s-1&shipmentId=1&sku=A&state=short&late=true', 'sku', []],
    ['/v1/late-returns?sellerId=s-1&returnOrderId=1&purchaseOrderId=1&sku=A&state=late', 'returnOrderId', []],
    ['/v1/shadow?verdict=missing&kind=ship&difference=units&purchaseOrderId=1&from=2026-01-01', 'purchaseOrderId', []],
    ['/v1/claims?month=2026-03', 'month', []],
    ['/v1/reconciliation?month=2026-03&sku=A&adjusted=true', 'sku', []],
    ['/v1/targets?tactic=contextual&usable=true&q=pans', 'id', []],
  ])('%s', async (path, member, expected) => {
    const { status, body } = await server.json(path)
    expect([status, ofItems(body, member)]).toEqual([200, expected])
    const csv = await server.fetch(path, { headers: { accept: 'text/csv' } })
    expect(parse<Record<string, string>>(await csv.text(), { columns: true })).toHaveLength(expected.length)
  })

  test('keys are found by name and by the seller that they may act for', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const [name, sellerIds] of [
      ['erp', ['s-1']],
      ['bi', ['s-2']],
      ['everything', null],
    ] as const) {
      const body = JSON.stringify({ name, scopes: ['read'], sellerIds })
      expect((await server.json('/v1/keys', { method: 'POST', headers, body })).status).toBe(201)
    }
    const listNames = async (query: string) => ofItems((await server.json(`/v1/keys?${query}`)).body, 'name').sort()
    expect(await listNames('name=bi')).toEqual(['bi'])
    expect(await listNames('sellerId=s-1')).toEqual(['erp', 'everything'])
    const csv = await (await server.fetch('/v1/keys?sellerId=s-2', { headers: { accept: 'text/csv' } })).text()
    expect(
      parse<Record<string, string>>(csv, { columns: true })
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['bi', 'everything'])
  })

  test('runs come page by page, and of a resource that there is not they are none', async () => {
    const { body } = await server.json('/v1/syncs/orders/runs?limit=3')
    expect(ofItems(body, 'seen')).toEqual([8, 7, 6])
    const rest = (await server.json(`/v1/syncs/orders/runs?limit=3&cursor=${at(body, 'nextCursor')}`)).body
    expect(ofItems(rest, 'seen')).toEqual([5, 4, 3])
    expect((await server.json('/v1/syncs/order/runs')).status).toBe(404)
  })

  test.each([
    '/v1/orders?createdFrom=yesterday',
    '/v1/orders?sort=orderDate',
    '/v1/orders?sku=',
    '/v1/commands?kind=x',
    '/v1/syncs?running=yes',
  ])('%s is refused', async (path) => {
    expect(await server.json(path)).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
  })

  test('the events of an order include those of its returns, and none of another return', async () => {
    const { database } = stage
    await database.execute(
      `INSERT INTO tallyman.sellers (seller_id, state) VALUES ('s-1', 'active'), ('s-2', 'active') ON CONFLICT DO NOTHING`,
    )
    await database.execute(
      `INSERT INTO warehouse.returns (seller_id, return_order_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
       SELECT s, 'R-' || n, '\\x00', '{}', now(), now(), now() FROM unnest('{s-1,s-2}'::text[]) s CROSS JOIN generate_series(1, 2) n`,
    )
    await database.execute(
      `INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, purchase_order_id, quantity, raw, first_seen_at,
         changed_at)
       SELECT s, r, line, po, 1, '{}', now(), now()
       FROM (VALUES ('s-1', 'R-1', 1, 'po-17'), ('s-1', 'R-1', 2, 'po-17'), ('s-1', 'R-2', 1, 'po-18'), ('s-2', 'R-1', 1, 'po-18')) l (s, r, line, po)`,
    )
    await database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id) VALUES
         ('/erp', 'credit', 'erp.credit.issued', '{"purchaseOrderId": "po-17"}', 's-1'),
         ('/erp', 'refund', 'erp.return.refunded', '{"returnOrderId": " R-1 "}', 's-1'),
         ('/erp', 'other return', 'erp.return.refunded', '{"returnOrderId": "R-2"}', 's-1'),
         ('/erp', 'other seller', 'erp.return.refunded', '{"returnOrderId": "R-1"}', 's-2')`,
    )
    for (const filter of ['', '&sellerId=s-1'])
      expect(ofItems((await server.json(`/v1/events?purchaseOrderId=po-17${filter}`)).body, 'id')).toEqual(['refund', 'credit'])
  })
})

test('orders of several sellers in shadow mode come once each, page by page, by their kinds; an unknown seller is named', async () => {
  // The newest ten orders of each seller.
  await stage.database.execute(
    `INSERT INTO tallyman.sellers (seller_id, state, mode, mode_since)
     SELECT id, 'active', 'shadow', '2026-01-01'::timestamptz + 99800 * interval '1 minute' FROM unnest('{s-3,s-5}'::text[]) AS id
     ON CONFLICT (seller_id) DO UPDATE SET mode = EXCLUDED.mode, mode_since = EXCLUDED.mode_since`,
  )
  const readAll = async (query: string): Promise<readonly unknown[]> => {
    const ids: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/v1/shadow?limit=3${query}${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { status, body } = await server.json(path)
      expect(status, JSON.stringify(body)).toBe(200)
      ids.push(...ofItems(body, 'purchaseOrderId'))
      cursor = textOrNullAt(body, 'nextCursor')
    }
    return ids
  }
  const listNewest = (rest: number) => Array.from({ length: 10 }, (_, index) => `po-${99_800 + rest + index * 20}`)
  const both = [...listNewest(3), ...listNewest(5)]
  expect(await readAll('')).toEqual(both)
  expect(await readAll('&kind=ship&verdict=unpredicted')).toEqual(both)
  expect(await readAll('&sellerId=s-5')).toEqual(listNewest(5))
  expect(await readAll('&purchaseOrderId=po-99885')).toEqual(['po-99885'])
  expect(await readAll('&kind=cancel')).toEqual([])
  expect(await readAll('&difference=money')).toEqual([])
  expect(await server.json('/v1/shadow/counts')).toMatchObject({ status: 200, body: { unpredicted: 20, complete: true } })
})

test.each([
  '/v1/shadow?',
  '/v1/shadow/counts?',
  '/v1/claims?month=2026-03&',
  '/v1/claims/items?',
  '/v1/claims/payments?',
  '/v1/settlement-differences?',
  '/v1/inbound-shipments?',
  '/v1/drift?',
  '/v1/completeness?',
])('%s: an unknown seller is 404', async (path) => {
  expect(await server.json(`${path}sellerId=nobody`)).toMatchObject({
    ...{ status: 404, body: { code: 'not-found', detail: 'There is no seller nobody.' } },
  })
})

test.each([
  ['/v1/completeness?days=ten', 'days', 'must be a whole number from 1 to 365'],
  ['/v1/completeness?from=2026-03-02&to=2026-03-01', 'from', 'is after `to` (default: today)'],
  ['/v1/completeness?from=2999-01-01', 'from', 'is after `to` (default: today)'],
  ['/v1/forecast?hours=', 'hours', 'must be at least 1'],
  ['/v1/claims/abc', 'id', 'must be a whole number of at most 18 digits'],
])('%s: the error says what the parameter must be', async (path, name, message) => {
  expect(await server.json(path)).toMatchObject({
    status: 400,
    body: { errors: [{ path: expect.stringContaining(name), message }] },
  })
})
