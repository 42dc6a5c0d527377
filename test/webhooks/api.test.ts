import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { refusalOfUrl } from '../../src/jobs/webhooks/address.ts'
import { deliverTest } from '../../src/jobs/webhooks/deliver.ts'
import { startServer, type TestServer } from '../http/support.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, membersAt, textAt } from '../support/json.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { createSender, tell } from './rig.ts'

const stage = withDatabase({ each: 'test' })
let receiver: Receiver
let sender: ReturnType<typeof createSender>
let server: TestServer
beforeEach(async () => {
  receiver = await startReceiver()
  sender = createSender(stage.database)
  server = await startServer(stage.database, {
    webhooks: {
      findUrlFault: (url) => refusalOfUrl(url, true),
      test: (endpoint, signal) => deliverTest(sender.parts, endpoint, signal),
    },
  })
})
afterEach(async () => {
  await server.close()
  sender.close()
  await receiver.close()
})

const send = (method: string, path: string, body?: object) =>
  server.json(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
const secretPattern = /^whsec_[A-Za-z0-9+/]{43}=$/

test('an endpoint is made, read, changed and removed; its secret is in the answer that makes it, and never again', async () => {
  const made = await send('POST', '/v1/webhooks', { url: receiver.url, types: 'order.*, command.confirmed', sellerId: 's-1' })
  expect(made).toMatchObject({
    status: 201,
    body: {
      id: expect.stringMatching(/^wh_[0-9a-f]{32}$/),
      types: ['order.*', 'command.confirmed'],
      sellerId: 's-1',
      state: 'active',
    },
  })
  const { id, secret, ...shown } = membersAt(made.body)
  expect(secret).toMatch(secretPattern)
  expect((await server.json(`/v1/webhooks/${id}`)).body).toEqual({ id, ...shown })
  expect((await server.json('/v1/webhooks')).body).toEqual({ items: [{ id, ...shown }], nextCursor: null })
  const changed = await send('PATCH', `/v1/webhooks/${id}`, { types: ['*'], sellerId: null, state: 'paused' })
  expect(changed.body).toMatchObject({ types: [], sellerId: null, state: 'paused', reason: 'paused by an operator' })
  expect((await send('PATCH', `/v1/webhooks/${id}`, { state: 'active' })).body).toMatchObject({ state: 'active', reason: null })
  const rotated = await send('POST', `/v1/webhooks/${id}/rotate`)
  expect(rotated.body).toMatchObject({ id, secret: expect.stringMatching(secretPattern), oldSecretUntil: expect.any(String) })
  expect(at(rotated.body, 'secret')).not.toBe(secret)
  expect((await send('POST', `/v1/webhooks/${id}/test`)).body).toMatchObject({ delivered: true, httpStatus: 204, error: null })
  expect(receiver.received).toMatchObject([{ body: expect.stringContaining('"type":"webhook.test"') }])
  for (const path of ['/v1/webhooks', `/v1/webhooks/${id}`, `/v1/webhooks/${id}/deliveries`, '/v1/alarms'])
    expect(await (await server.fetch(path)).text()).not.toContain('whsec_')
  expect(JSON.stringify(server.log)).not.toMatch(/whsec_(?!\*\*\*)|127\.0\.0\.1:\d+\/hook/)
  expect(await send('DELETE', `/v1/webhooks/${id}`)).toMatchObject({ status: 200, body: { id, removed: true } })
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
  ] as const)
    expect(await send(method, `/v1/webhooks/${id}${path}`)).toMatchObject({ status: 404, body: { code: 'not-found' } })
  expect(await send('PATCH', `/v1/webhooks/${id}`, { state: 'paused' })).toMatchObject({ status: 404 })
  expect(await send('POST', `/v1/webhooks/${id}/redeliver`, { ids: ['1'] })).toMatchObject({ status: 404 })
})

test('endpoints are found by state and by whose changes they get, as a table too', async () => {
  for (const sellerId of ['s-1', 's-2', null]) await send('POST', '/v1/webhooks', { url: receiver.url, sellerId })
  const findSellers = async (query: string) =>
    listAt((await server.json(`/v1/webhooks?${query}`)).body, 'items')
      .map((one) => at(one, 'sellerId') ?? '')
      .sort()
  expect(await findSellers('sellerId=s-1')).toEqual(['', 's-1'])
  expect(await findSellers('state=active')).toEqual(['', 's-1', 's-2'])
  expect(await findSellers('state=paused')).toEqual([])
  const table = await (await server.fetch('/v1/webhooks?sellerId=s-2', { headers: { accept: 'text/csv' } })).text()
  expect(
    parse<Record<string, string>>(table, { columns: true })
      .map((row) => row['sellerId'])
      .sort(),
  ).toEqual(['', 's-2'])
  expect(table).not.toContain('whsec_')
})

test('deliveries are listed with their attempts, and sent again by id and by range', async () => {
  const id = textAt((await send('POST', '/v1/webhooks', { url: receiver.url })).body, 'id')
  await tell(stage.database, [
    ['order.seen', 'a'],
    ['order.changed', 'a'],
    ['order.seen', 'b'],
  ])
  receiver.answer(({ body }) => (body.includes('"id":"1"') ? 500 : 200))
  await sender.run()
  const table = async (query: string) =>
    parse<Record<string, string>>(
      await (await server.fetch(`/v1/webhooks/${id}/deliveries${query}`, { headers: { accept: 'text/csv' } })).text(),
      { columns: true },
    )
  const list = (query = '') => server.json(`/v1/webhooks/${id}/deliveries${query}`)
  const { body } = await list()
  expect(at(body, 'items')).toMatchObject([
    { changeSequence: '3', status: 'delivered', attempt: 1, nextAt: null, httpStatus: 200 },
    { changeSequence: '2', status: 'pending', attempt: 0, at: null, nextAt: expect.any(String) },
    { changeSequence: '1', status: 'pending', attempt: 1, httpStatus: 500, attempts: [{ httpStatus: 500, error: null }] },
  ])
  const oldest = at(body, 'items', 2, 'id')
  expect(at((await list('?status=delivered')).body, 'items')).toHaveLength(1)
  expect(at((await list('?changeSequence=1')).body, 'items')).toMatchObject([{ id: oldest }])
  expect(await table('?changeSequence=1')).toMatchObject([{ id: oldest, httpStatus: '500' }])
  const page = (await list('?limit=2')).body
  expect(at((await list(`?limit=2&cursor=${at(page, 'nextCursor')}`)).body, 'items')).toMatchObject([{ changeSequence: '1' }])
  receiver.answer(200)
  expect((await send('POST', `/v1/webhooks/${id}/redeliver`, { ids: [oldest, '77'] })).body).toEqual({
    redelivered: 1,
    missing: ['77'],
    nextAfter: null,
  })
  await sender.run()
  expect(at((await list('?status=delivered')).body, 'items')).toHaveLength(3)
  expect((await send('POST', `/v1/webhooks/${id}/redeliver`, { after: 0, before: '3' })).body).toEqual({
    redelivered: 2,
    missing: [],
    nextAfter: null,
  })
})

test('an endpoint begins where it is told to: with what happens next, or after a change that is there', async () => {
  await tell(stage.database, [['order.seen'], ['order.seen']])
  expect(at((await send('POST', '/v1/webhooks', { url: receiver.url })).body, 'position')).toBe('2')
  expect(at((await send('POST', '/v1/webhooks', { url: receiver.url, after: '1' })).body, 'position')).toBe('1')
  expect(await send('POST', '/v1/webhooks', { url: receiver.url, after: 3 })).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'after', message: 'is beyond the newest change, 2' }] },
  })
})

describe('what is wrong is refused with its path', () => {
  test.each([
    [{}, 'url'],
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'https://user:password@example.com/' }, 'url'],
    [{ url: 'https://example.com/#part' }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2_050)}` }, 'url'],
    [{ url: 'https://example.com/', types: ['Order.*'] }, 'types[0]'],
    [{ url: 'https://example.com/', types: ['*.seen'] }, 'types[0]'],
    [{ url: 'https://example.com/', sellerId: '' }, 'sellerId'],
    [{ url: 'https://example.com/', secret: 'mine' }, 'secret'],
    [{ url: 'https://example.com/', after: 'x' }, 'after'],
  ])('%j', async (body, path) => {
    expect(await send('POST', '/v1/webhooks', body)).toMatchObject({ status: 422, body: { errors: [{ path }] } })
  })

  test('also of a change and a redelivery', async () => {
    const made = await send('POST', '/v1/webhooks', { url: receiver.url })
    const endpoint = `/v1/webhooks/${textAt(made.body, 'id')}`
    expect(await send('PATCH', endpoint, {})).toMatchObject({ status: 422 })
    expect(await send('PATCH', endpoint, { state: 'asleep' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'state' }] },
    })
    expect(await send('PATCH', endpoint, { url: 'gopher://example.com' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'url' }] },
    })
    expect(await send('POST', `${endpoint}/redeliver`, { after: 5, before: 5 })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'before' }] },
    })
    expect(await send('POST', `${endpoint}/redeliver`, { ids: [] })).toMatchObject({ status: 422 })
    expect(await send('POST', `${endpoint}/rotate`, { overlapSeconds: -1 })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'overlapSeconds' }] },
    })
    expect(await server.json(`${endpoint}/deliveries?status=lost`)).toMatchObject({ status: 400 })
  })
})
