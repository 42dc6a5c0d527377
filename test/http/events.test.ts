import { randomUUID } from 'node:crypto'
import { CloudEvent, HTTP } from 'cloudevents'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { accepted, cloudEvent } from '../support/events.ts'
import { at, listAt, membersAt, ofItems } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { startServer, type TestServer } from './support.ts'

const secret = `whsec_${Buffer.from('the secret of before, 32 bytes!!').toString('base64')}`
const nextSecret = `whsec_${Buffer.from('the secret of after, 32 bytes!!!').toString('base64')}`
const stage = withDatabase()
let server: TestServer
let signed: TestServer
let orders = 0

beforeAll(async () => {
  server = await startServer(stage.database)
  signed = await startServer(stage.database, { apiKey: 'a-key-of-sixteen-or-more', eventsSecrets: [secret, nextSecret] })
})
afterAll(async () => {
  await server.close()
  await signed.close()
})

/** An order of one line of five units of SKU A, stored. */
const stored = async (): Promise<string> => {
  orders += 1
  await seedOrder(stage.database, 's-1', purchaseOrder(String(orders), [orderLine('1', 'A', 5)]))
  return String(orders)
}
const buildEvent = (purchaseOrderId: string, attributes: Record<string, unknown> = {}) => ({
  ...cloudEvent(accepted({ purchaseOrderId }, randomUUID()), 'urn:erp:main'),
  ...attributes,
})
const post = (body: unknown, headers: Record<string, string> = {}, to = server) =>
  to.json('/v1/events', {
    method: 'POST',
    headers: {
      'content-type': Array.isArray(body) ? 'application/cloudevents-batch+json' : 'application/cloudevents+json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const eventCount = async () =>
  (await stage.database.query<{ n: number }>('SELECT count(*)::int AS n FROM tallyman.erp_event'))[0]?.n

describe('CloudEvents', () => {
  test('in structured mode, as the SDK writes them', async () => {
    const event = new CloudEvent({ source: '/erp', type: 'erp.order.accepted', data: { purchaseOrderId: await stored() } })
    const { headers, body } = HTTP.structured(event)
    const answer = await server.json('/v1/events', {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: String(body),
    })
    expect(answer).toMatchObject({
      status: 202,
      body: { items: [{ id: event.id, source: '/erp', status: 'accepted', state: 'accepted', commands: [expect.any(String)] }] },
    })
  })

  test('in binary mode, as the SDK writes them', async () => {
    const event = new CloudEvent({ source: '/erp', type: 'erp.order.accepted', data: { purchaseOrderId: await stored() } })
    const { headers, body } = HTTP.binary(event)
    const answer = await server.json('/v1/events', {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: String(body),
    })
    expect(answer).toMatchObject({ status: 202, body: { items: [{ id: event.id, status: 'accepted' }] } })
  })

  test('in binary mode with percent-encoded and quoted headers', async () => {
    const id = randomUUID()
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'ce-specversion': '1.0',
      'ce-id': `"Bestellung %C3%9C ${id}"`,
      'ce-source': 'urn:erp:%25',
      'ce-type': 'erp.order.accepted',
      'ce-traceparent': '00-abc',
    }
    const answer = await post(JSON.stringify({ purchaseOrderId: await stored() }), headers)
    expect(answer).toMatchObject({ status: 202, body: { items: [{ id: `Bestellung Ü ${id}`, source: 'urn:erp:%' }] } })
    const found = await server.json(`/v1/events/${encodeURIComponent('urn:erp:%')}/${encodeURIComponent(`Bestellung Ü ${id}`)}`)
    expect(found).toMatchObject({
      status: 200,
      body: { state: 'accepted', commands: [{ kind: 'acknowledge', state: 'pending' }] },
    })
  })

  test('in batch mode; the same event twice in it is a duplicate of itself', async () => {
    const first = buildEvent(await stored())
    const answer = await post([first, buildEvent(await stored()), first])
    expect(answer.status).toBe(202)
    expect(ofItems(answer.body, 'status')).toEqual(['accepted', 'accepted', 'duplicate'])
    expect(at(answer.body, 'items', 2, 'commands')).toEqual(at(answer.body, 'items', 0, 'commands'))
    expect(await post([])).toMatchObject({ status: 202, body: { items: [] } })
  })

  test('as plain JSON without headers ce-*: an event, or an array; faults have the paths of the mode', async () => {
    const json = { 'content-type': 'application/json' }
    const first = buildEvent(await stored())
    expect(await post(first, json)).toMatchObject({ status: 202, body: { items: [{ id: first.id, status: 'accepted' }] } })
    const both = await post([first, buildEvent(await stored())], json)
    expect([both.status, ofItems(both.body, 'status')]).toEqual([202, ['duplicate', 'accepted']])
    const { source: _, ...without } = buildEvent('1')
    const errors = [{ path: 'source', message: 'is missing' }]
    expect(await post(without, json)).toMatchObject({ status: 422, body: { errors } })
    expect(await post([without], json)).toMatchObject({ status: 422, body: { errors: [{ path: '[0].source' }] } })
    // With such headers the body is the data, with any content.
    expect(await post(first, { ...json, 'ce-id': '1' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'specversion' }, {}, {}] },
    })
  })

  test('as the OpenAPI document says, in each media type', async () => {
    const { body } = await server.json('/openapi.json')
    const content = at(body, 'paths', '/v1/events', 'post', 'requestBody', 'content')
    const types = Object.keys(content ?? {})
    expect(types).toEqual(
      expect.arrayContaining(['application/json', 'application/cloudevents+json', 'application/cloudevents-batch+json']),
    )
    const examples = types.map((type) => at(content, type, 'example'))
    const [event] = examples.filter((example) => !Array.isArray(example))
    const named = String(at(event, 'data', 'purchaseOrderId'))
    // As it stands it names no order, and nothing is stored of it.
    const message = expect.stringContaining(`is ${named}, which the marketplace does not know`)
    expect(await post(event)).toMatchObject({ status: 422, body: { errors: [{ path: 'data.purchaseOrderId', message }] } })
    await seedOrder(stage.database, 's-1', purchaseOrder(named, [orderLine('1', 'A', 5)]))
    for (const [index, type] of types.entries())
      expect(await post(JSON.stringify(examples[index]), { 'content-type': type }), type).toMatchObject({ status: 202 })
  })

  test.each(['utf8', 'UTF8', '"utf-8"', 'unicode-1-1-utf-8'])('in UTF-8 by the label %s', async (label) => {
    const type = `application/cloudevents+json; charset=${label}`
    expect(await post(buildEvent(await stored()), { 'content-type': type })).toMatchObject({ status: 202 })
  })

  test('with their data in Base64', async () => {
    const { data, ...event } = buildEvent(await stored())
    const encoded = Buffer.from(JSON.stringify(data)).toString('base64')
    expect(await post({ ...event, data_base64: encoded })).toMatchObject({ status: 202 })
    expect(await post({ ...event, data, data_base64: encoded })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'data_base64' }] },
    })
  })

  test('from a source that is a long address', async () => {
    const source = `https://erp.example/companies/${'ü'.repeat(400)}/orders?x=1#y`
    const event = buildEvent(await stored(), { source })
    expect((await post(event)).status).toBe(202)
    const found = await server.json(`/v1/events/${encodeURIComponent(source)}/${event.id}`)
    expect(found).toMatchObject({ status: 200, body: { source, id: event.id, data: event.data } })
    expect(await server.json('/v1/events/urn%3Anobody/1')).toMatchObject({ status: 404, body: { code: 'not-found' } })
  })

  test.each([
    ['another version of CloudEvents', { specversion: '0.3' }, 'specversion'],
    ['no id', { id: undefined }, 'id'],
    ['an empty id', { id: '' }, 'id'],
    ['an id that is a number', { id: 7 }, 'id'],
    ['a source that is no URI reference', { source: 'not a source' }, 'source'],
    ['no type', { type: undefined }, 'type'],
    ['a time that is none', { time: 'yesterday' }, 'time'],
    ['a schema that is no URI', { dataschema: 'schema' }, 'dataschema'],
    ['data that are not JSON', { datacontenttype: 'text/xml' }, 'datacontenttype'],
    ['an attribute with capitals', { myExtension: 'a' }, 'myExtension'],
    ['an attribute that is an object', { extension: {} }, 'extension'],
    ['an unknown type', { type: 'erp.unheard' }, 'type'],
    ['no data', { data: undefined }, 'data'],
  ])('with %s are refused', async (_, attributes, path) => {
    const before = await eventCount()
    const answer = await post(buildEvent('1', attributes))
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-event' } })
    expect(listAt(answer.body, 'errors').map((fault) => at(fault, 'path'))).toContain(path)
    expect(await eventCount()).toBe(before)
  })

  test.each([
    ['without a header', { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-type': 'erp.order.accepted' }, 'source'],
    [
      'with ce-datacontenttype',
      { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 'a', 'ce-type': 't', 'ce-datacontenttype': 'application/json' },
      'datacontenttype',
    ],
    ['with a lone percent sign', { 'ce-specversion': '1.0', 'ce-id': '100%', 'ce-source': 'a', 'ce-type': 't' }, 'id'],
    ['with raw Latin-1', { 'ce-specversion': '1.0', 'ce-id': 'Ü', 'ce-source': 'a', 'ce-type': 't' }, 'id'],
    ['without any', {}, 'specversion'],
  ])('in binary mode %s are refused', async (_, headers, path) => {
    const answer = await post('{"purchaseOrderId":"1"}', { 'content-type': 'application/json', ...headers })
    expect(answer.status).toBe(422)
    expect(listAt(answer.body, 'errors').map((fault) => at(fault, 'path'))).toContain(path)
  })

  test.each([
    ['cut off', '{"a":', 400, 'application/cloudevents+json'],
    ['an array in structured mode', '[]', 422, 'application/cloudevents+json'],
    ['an object in batch mode', '{}', 422, 'application/cloudevents-batch+json'],
    ['in another alphabet', '{}', 415, 'application/cloudevents+json; charset=latin1'],
    ['in an unknown alphabet', '{}', 415, 'application/json; charset=utf9'],
  ])('%s are refused', async (_, body, status, type) => {
    expect((await post(body, { 'content-type': type })).status).toBe(status)
  })

  test('that are not UTF-8 are refused', async () => {
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])
    const answer = await server.json('/v1/events', {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
      body,
    })
    expect(answer).toMatchObject({ status: 400, body: { code: 'malformed-json' } })
  })

  test('hold no number that would become another one on its way', async () => {
    const text = JSON.stringify(buildEvent(await stored()))
    const before = await eventCount()
    for (const number of ['12345678901234567890', '700.00000000000000001', '1e400']) {
      const answer = await post(text.replace('"data":{', `"data":{"erpNumber":${number},`))
      const message = `contains the number ${number}, which would lose precision; send it as text`
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-event', errors: [{ message }] } })
      const { data: _, ...rest } = buildEvent('1')
      const encoded = Buffer.from(`{"erpNumber":${number}}`).toString('base64')
      expect(await post({ ...rest, data_base64: encoded })).toMatchObject({ status: 422, body: { errors: [{ message }] } })
    }
    expect(await eventCount()).toBe(before)
    for (const number of ['0.30000000000000004', '9007199254740992', '1.5000000000000000000000', '1e3', '-0', '0e99'])
      expect((await post(text.replace('"data":{', `"number":${number},"id":"${randomUUID()}","data":{`))).status).toBe(202)
  })
})

describe('an answer', () => {
  test('is the same for a duplicate, and 409 for another body under the same id', async () => {
    const event = buildEvent(await stored())
    const first = await post(event)
    const second = await post(event)
    expect(at(second.body, 'items')).toEqual([{ ...membersAt(first.body, 'items', 0), status: 'duplicate' }])
    const before = await eventCount()
    const other = await post([buildEvent(await stored()), { ...event, data: { ...event.data, note: 'more' } }])
    expect(other).toMatchObject({ status: 409, body: { code: 'event-conflict', errors: [{ path: '[1].id' }] } })
    expect(await eventCount()).toBe(before)
  })

  test('lists every fault, in a batch with the place of its event', async () => {
    const purchaseOrderId = await stored()
    const cancel = (quantity: unknown, reason: string) =>
      buildEvent(purchaseOrderId, {
        type: 'erp.lines.unfulfillable',
        data: { purchaseOrderId, lines: [{ sku: 'A', quantity, reason }] },
      })
    const before = await eventCount()
    const answer = await post([buildEvent(purchaseOrderId), cancel(9, 'SELLER_CANCEL_OUT_OF_STOCK'), cancel('many', 'because')])
    expect(answer.status).toBe(422)
    expect(
      listAt(answer.body, 'errors')
        .map((fault) => at(fault, 'path'))
        .sort(),
    ).toEqual(['[1].data.lines[0].quantity', '[2].data.lines[0].quantity', '[2].data.lines[0].reason'])
    expect(await eventCount()).toBe(before)
  })

  test('to equal posts at once accepts one', async () => {
    const event = buildEvent(await stored())
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(event)))
    expect(answers.map(({ body }) => at(body, 'items', 0, 'status')).sort()).toEqual([
      'accepted',
      ...Array.from({ length: 7 }, () => 'duplicate'),
    ])
  })

  test('tells that an event waits for its order, and later what was wrong with it', async () => {
    server.shop.state.failure = new Error('no route')
    const event = buildEvent('never-seen')
    expect(await post(event)).toMatchObject({
      status: 202,
      body: { items: [{ status: 'accepted', state: 'received', commands: [] }] },
    })
    const found = await server.json(`/v1/events/${encodeURIComponent(event.source)}/${event.id}`)
    expect(found.body).toMatchObject({ state: 'received', processedAt: null, commands: [] })
    server.shop.state.failure = null
  })
})

describe('what became of events', () => {
  const reject = (source: string, id: string, body: unknown) =>
    server.json(`/v1/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}/reject`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const inbox = (source: string, id: string, data: string) =>
    stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, 'erp.order.accepted', $3::jsonb)`,
      source,
      id,
      data,
    )

  test('is listed by state, page by page', async () => {
    for (const id of ['l-1', 'l-2', 'l-3']) await inbox('urn:list', id, '{"purchaseOrderId": 7.0, "sellerId": "s-list"}')
    const first = await server.json('/v1/events?state=received&sellerId=s-list&limit=2')
    expect(first).toMatchObject({
      status: 200,
      body: {
        items: [
          {
            id: 'l-3',
            source: 'urn:list',
            state: 'received',
            purchaseOrderId: '7',
            sellerId: 's-list',
            problem: null,
            waitsFor: null,
          },
          { id: 'l-2', commands: [] },
        ],
      },
    })
    const rest = await server.json(`/v1/events?state=received&sellerId=s-list&limit=2&cursor=${at(first.body, 'nextCursor')}`)
    expect(rest.body).toMatchObject({ items: [{ id: 'l-1' }], nextCursor: null })
    expect((await server.json('/v1/events?state=rejected&sellerId=s-list')).body).toEqual({ items: [], nextCursor: null })
    expect(await server.json('/v1/events?state=waiting')).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
  })

  test.each([
    ['urn:erp', 'r-1'],
    ['https://erp.example/a b/c?d=e&f=%2F#g', 'id/with %25 and ü'],
    ['ü'.repeat(500), '/'.repeat(1_000)],
    ['a/reject', 'reject'],
  ])('is rejected by a person, with any source and id: %s', async (source, id) => {
    await inbox(source, id, '{"purchaseOrderId": "7", "sellerId": "s-list"}')
    const by = { actor: 'Ada', reason: 'done by hand' }
    expect(await reject(source, id, by)).toMatchObject({ status: 200, body: { source, id, state: 'rejected' } })
    const found = await server.json(`/v1/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}`)
    expect(found.body).toMatchObject({
      state: 'rejected',
      problem: { code: 'event-rejected-by-person', detail: 'Ada: done by hand' },
    })
    expect(await reject(source, id, by)).toMatchObject({ status: 409, body: { code: 'illegal-state' } })
  })

  test('is decided by somebody, with a reason, and only while it waits', async () => {
    expect(await reject('urn:erp', 'nobody', { actor: 'Ada', reason: 'x' })).toMatchObject({ status: 404 })
    await inbox('urn:erp', 'r-2', '{"purchaseOrderId": "7"}')
    expect(await reject('urn:erp', 'r-2', { actor: 'Ada' })).toMatchObject({ status: 422, body: { code: 'invalid-body' } })
    const event = buildEvent(await stored())
    expect(await post(event)).toMatchObject({ status: 202 })
    const refused = await reject(event.source, event.id, { actor: 'Ada', reason: 'x' })
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('accepted already') } })
  })

  test('is shown also of a row that cannot be read', async () => {
    await inbox('urn:erp', 'deep', `{"purchaseOrderId": "7", "note": ${'['.repeat(4_000)}${']'.repeat(4_000)}}`)
    expect(await server.json('/v1/events/urn%3Aerp/deep')).toMatchObject({
      status: 200,
      body: { data: null, unreadable: 'is nested more than 32 levels deep', purchaseOrderId: '7' },
    })
  })
})

test('a body of bottomless nesting is refused as such', async () => {
  const before = await eventCount()
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const data = `{"purchaseOrderId": "1", "note": ${deep}}`
  const event = `{"specversion":"1.0","id":"d","source":"urn:erp","type":"erp.order.accepted"`
  const bodies = [`${event},"data":${data}}`, `${event},"data_base64":"${Buffer.from(data).toString('base64')}"}`]
  for (const body of bodies)
    expect(await post(body)).toMatchObject({ status: 422, body: { code: 'invalid-event', errors: [{ path: 'data' }] } })
  expect(await post(deep)).toMatchObject({ status: 422 })
  expect(await eventCount()).toBe(before)
})

test('a body that is too large is refused with the limit', async () => {
  const answer = await post(buildEvent('1', { extension: 'x'.repeat(1_100_000) }))
  expect(answer).toMatchObject({ status: 413, body: { code: 'body-too-large' } })
  expect(at(answer.body, 'detail')).toBe('The body has more than 1048576 bytes (MAX_BODY_BYTES); send smaller requests.')
})

describe('faults say what to do', () => {
  const listFaults = async (event: object) => {
    const before = await eventCount()
    const answer = await post(event)
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-event' } })
    expect(await eventCount()).toBe(before)
    return at(answer.body, 'errors')
  }

  test('of an unknown member, with the near name', async () => {
    const parcel = {
      carrier: 'UPS',
      trackingNo: '1Z1',
      trackingNumber: '1Z1',
      shippedAt: '2026-03-01T09:30:00Z',
      lines: [{ sku: 'A', quantity: 1, qty: 1 }],
    }
    const data = { purchaseOrderId: await stored(), parcels: [parcel], orderNumber: 'X' }
    expect(await listFaults(buildEvent('1', { type: 'erp.shipment.dispatched', data }))).toEqual([
      {
        path: 'data.parcels[0].trackingNo',
        message:
          'is unknown (did you mean trackingNumber?); accepted: carrier, trackingNumber, trackingUrl, method, shippedAt, lines',
      },
      {
        path: 'data.parcels[0].lines[0].qty',
        message: 'is unknown; accepted: lineNumber, sku, quantity, intentToCancelOverride',
      },
      { path: 'data.orderNumber', message: 'is unknown; accepted: sellerId, purchaseOrderId, parcels' },
    ])
  })

  test('of thousands of unknown members only some are reported', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`member${index}`, 1]))
    const errors = await listFaults(buildEvent('1', { data: { purchaseOrderId: '1', ...many } }))
    expect(errors).toHaveLength(51)
    expect(listAt(errors).at(-1)).toEqual({ path: 'data', message: 'has 4950 more unknown members' })
  })

  test.each(['-1', 'ten', '1.1234567', -1, '1e3', 1e16])('of the amount %s, in words', async (amount) => {
    const data = { purchaseOrderId: await stored(), lines: [{ sku: 'A', quantity: 1, reason: 'DamagedItem', amount }] }
    const message =
      'must be an amount of money without tax, as text ("12.30") or as a number: no sign, at most 15 digits before the point and 6 after it'
    expect(await listFaults(buildEvent('1', { type: 'erp.credit.issued', data }))).toContainEqual({
      path: 'data.lines[0].amount',
      message,
    })
  })

  test.each([
    ['{"purchaseOrderId":"1"}', 'not a text: send the object itself, not its JSON as a text (without the outer quotation marks)'],
    ['hello', 'not a text'],
    [[], 'not a list'],
    [7, 'not a number'],
  ])('of data %j', async (data, what) => {
    expect(await listFaults(buildEvent('1', { data }))).toEqual([{ path: 'data', message: `must be a JSON object, ${what}` }])
  })

  test.each([
    ['%%', 'must be a text in Base64'],
    [Buffer.from('<xml/>').toString('base64'), 'must be JSON in Base64: '],
    [Buffer.from([0xff, 0x22]).toString('base64'), 'must be JSON in Base64: what it decodes to is not UTF-8'],
  ])('of data_base64 %s', async (encoded, what) => {
    const { data: _, ...event } = buildEvent('1')
    expect(await listFaults({ ...event, data_base64: encoded })).toEqual([
      { path: 'data_base64', message: expect.stringContaining(what) },
    ])
  })
})

describe('a dry run', () => {
  const ask = (body: unknown, headers: object = {}) => {
    const type = Array.isArray(body) ? 'application/cloudevents-batch+json' : 'application/cloudevents+json'
    return server.json('/v1/events?dryRun=true', {
      method: 'POST',
      headers: { 'content-type': type, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }
  const buildShipment = (purchaseOrderId: string, quantity: number) =>
    new CloudEvent({
      source: '/erp',
      type: 'erp.shipment.dispatched',
      data: {
        purchaseOrderId,
        parcels: [{ carrier: 'UPS', trackingNumber: '1Z1', shippedAt: '2026-03-01T09:30:00Z', lines: [{ sku: 'A', quantity }] }],
      },
    })

  test('answers each mode of the SDK with the commands and their requests', async () => {
    const purchaseOrderId = await stored()
    const event = buildShipment(purchaseOrderId, 3)
    const structured = HTTP.structured(event)
    const binary = HTTP.binary(event)
    const before = await eventCount()
    const answers = [
      await ask(String(structured.body), structured.headers),
      await ask(String(binary.body), binary.headers),
      await ask([event.toJSON()]),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        items: [
          {
            id: event.id,
            source: '/erp',
            would: 'accepted',
            commands: [
              {
                kind: 'ship',
                lines: [{ lineNumber: '1', quantity: 3 }],
                money: null,
                request: {
                  operation: 'orders.ship',
                  purchaseOrderId,
                  path: `/v3/orders/${purchaseOrderId}/shipping`,
                  body: { orderShipment: expect.anything() },
                },
              },
            ],
            problem: null,
          },
        ],
      })
    }
    expect(await eventCount()).toBe(before)
    expect(at((await post(event.toJSON())).body, 'items')).toMatchObject([{ status: 'accepted' }])
    expect(at((await ask(event.toJSON())).body, 'items')).toMatchObject([{ would: 'duplicate', commands: [], problem: null }])
    expect(
      at((await ask({ ...event.toJSON(), type: 'erp.order.accepted', data: { purchaseOrderId } })).body, 'items'),
    ).toMatchObject([{ would: 'rejected', problem: { code: 'event-conflict', status: 409 } }])
  })

  test('later events of a batch find the units of earlier ones taken, and a batch is refused as a whole', async () => {
    const purchaseOrderId = await stored()
    const batch = [buildShipment(purchaseOrderId, 3), buildShipment(purchaseOrderId, 2), buildShipment(purchaseOrderId, 1)]
    const { body } = await ask(batch.map((event) => event.toJSON()))
    const refused = { code: 'batch-refused', errors: [{ path: '[2]', message: 'would be rejected' }] }
    expect(at(body, 'items')).toMatchObject([
      { would: 'accepted', commands: [{ kind: 'ship' }], problem: refused },
      { would: 'accepted', commands: [{ kind: 'ship' }], problem: refused },
      {
        would: 'rejected',
        commands: [],
        problem: { code: 'invalid-event', errors: [{ path: 'data.parcels[0].lines[0].quantity' }] },
      },
    ])
  })

  test('an event that waits takes its units first', async () => {
    const purchaseOrderId = await stored()
    const waiting = buildShipment(purchaseOrderId, 4)
    await stage.database.execute(
      'INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, $3, $4::jsonb)',
      waiting.source,
      waiting.id,
      waiting.type,
      JSON.stringify(waiting.data),
    )
    expect(at((await ask(buildShipment(purchaseOrderId, 2).toJSON())).body, 'items')).toMatchObject([{ would: 'rejected' }])
    expect(at((await ask(buildShipment(purchaseOrderId, 1).toJSON())).body, 'items')).toMatchObject([{ would: 'accepted' }])
    expect(at((await ask(waiting.toJSON())).body, 'items')).toMatchObject([{ would: 'duplicate' }])
  })

  test('says that an order which is not stored would be fetched, and does not ask for it', async () => {
    const asked = server.shop.state.asked
    expect(at((await ask(buildEvent('nowhere'))).body, 'items')).toMatchObject([
      { would: 'accepted', commands: [], problem: { code: 'order-not-stored', status: 202 } },
    ])
    expect(server.shop.state.asked).toBe(asked)
  })

  test('of an envelope with faults gets the answer of the real run', async () => {
    expect(await ask(buildEvent('1', { time: 'yesterday' }))).toMatchObject({ status: 422, body: { errors: [{ path: 'time' }] } })
    expect((await ask('{"a":')).status).toBe(400)
  })

  test.each(['dryRun=1', 'dryRun=', 'dryrun=true', 'dryRun=TRUE'])('is never taken for a real run: %s', async (query) => {
    const before = await eventCount()
    const answer = await server.json(`/v1/events?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(buildEvent(await stored())),
    })
    expect(answer.status).toBe(400)
    expect(await eventCount()).toBe(before)
  })
})

test.each(['.', '..'])('an id %s, which no address can hold, is refused', async (id) => {
  expect(await post(buildEvent(await stored(), { id }))).toMatchObject({ status: 422, body: { errors: [{ path: 'id' }] } })
})

describe('signatures', () => {
  const send = async (change: { secret?: string; at?: Date; headers?: Record<string, string>; body?: string } = {}) => {
    const body = JSON.stringify(buildEvent(await stored()))
    const at = change.at ?? new Date()
    const id = `msg_${randomUUID()}`
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(change.secret ?? secret).sign(id, at, body),
      ...change.headers,
    }
    return post(change.body ?? body, headers, signed)
  }
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

  test('of either secret are taken while they rotate, without the key', async () => {
    expect((await send()).status).toBe(202)
    expect((await send({ secret: nextSecret })).status).toBe(202)
  })

  test('may be one of several', async () => {
    const body = JSON.stringify(buildEvent(await stored()))
    const at = new Date()
    const good = new Webhook(secret).sign('msg_1', at, body)
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': `v1,AAAA v1a,xyz v1 ${good}`,
    }
    expect((await post(body, headers, signed)).status).toBe(202)
  })

  test.each([
    ['by nobody', { headers: { 'webhook-signature': '' } }],
    ['without an id', { headers: { 'webhook-id': '' } }],
    ['by another secret', { secret: `whsec_${Buffer.from('some other secret of 32 bytes !!').toString('base64')}` }],
    ['over another body', { body: '{"specversion":"1.0"}' }],
    ['under another id', { headers: { 'webhook-id': 'msg_other' } }],
    ['more than five minutes ago', { at: minutesAgo(5.2) }],
    ['more than five minutes ahead', { at: minutesAgo(-15) }],
    ['at a time that is no number', { headers: { 'webhook-timestamp': '1e9' } }],
  ])('%s are refused', async (_, change) => {
    const before = await eventCount()
    expect(await send(change)).toMatchObject({ status: 401, body: { code: 'invalid-signature' } })
    expect(await eventCount()).toBe(before)
  })

  test('up to five minutes off are taken', async () => {
    expect((await send({ at: minutesAgo(4.8) })).status).toBe(202)
    expect((await send({ at: minutesAgo(-4.8) })).status).toBe(202)
  })

  test('are looked at before the body', async () => {
    const answer = await post('{', {}, signed)
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-signature' } })
  })
})
