import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopes } from '../../src/domain/values/keys.ts'
import { acceptEvents } from '../../src/jobs/events/accept.ts'
import { openDatabase } from '../../src/store/db/database.ts'
import { marketplace, parts } from '../jobs/events/support.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { at, listAt, membersAt, numberAt, ofItems, textAt, textOrNullAt } from '../support/json.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { type Planted, plant, readOperations } from './keys-support.ts'
import { idleQueue, silentListener, startServer, type TestServer } from './support.ts'

const apiKey = 'a-key-of-sixteen-or-more'
const secret = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`
const stage = withDatabase()
let server: TestServer
let other: TestServer
let signed: TestServer
let mine: Planted
let theirs: Planted
const ran: (string | null)[] = []
const listener = silentListener()

const send = (
  from: TestServer,
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) =>
  from.json(path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const call = (key: string | null, method: string, path: string, body?: unknown) => send(server, key, method, path, body)
const addKey = async (body: object, by = apiKey) => {
  const answer = await call(by, 'POST', '/v1/keys', body)
  expect(answer.body).toMatchObject({ key: expect.stringMatching(/^tly_[a-z2-7]{12}_[\w-]{43}$/) })
  expect(answer.status).toBe(201)
  return { ...membersAt(answer.body), id: textAt(answer.body, 'id'), key: textAt(answer.body, 'key') }
}
const buildEvent = (id: string, data: { purchaseOrderId: string; sellerId?: string }) =>
  JSON.stringify(cloudEvent(buildDispatch(data, id, reportedParcel(id, { sku: 'A', quantity: 1 }))))
const postEvent = (from: TestServer, key: string | null, event: string, headers = {}) =>
  send(from, key, 'POST', '/v1/events', event, { 'content-type': 'application/cloudevents+json', ...headers })

beforeAll(async () => {
  const events = parts(stage.database, marketplace(), ['s-1', 's-2'])
  const services: Parameters<typeof startServer>[1] = {
    apiKey,
    listener,
    sellers: () => ['s-1', 's-2'],
    acceptEvents: (posted, signal) => acceptEvents(events, posted, signal),
    boardQueues: () => [{ queue: idleQueue('orders'), readOnly: true }],
    syncs: {
      resources: ['orders', 'campaigns'],
      backfillable: ['orders'],
      reach: (_resource, now) => ({ from: new Date(0), to: now }),
      run: async ({ sellerId }) => {
        ran.push(sellerId)
        return [`${sellerId ?? 'all'}/orders`]
      },
    },
  }
  server = await startServer(stage.database, services)
  other = await startServer(stage.database, services)
  signed = await startServer(stage.database, { ...services, eventsSecrets: [secret] })
  mine = await plant(stage.database, server, 's-1', '1001', `Bearer ${apiKey}`)
  theirs = await plant(stage.database, server, 's-2', '2002', `Bearer ${apiKey}`)
})
afterAll(async () => {
  for (const one of [server, other, signed]) await one.close()
})

describe('a key', () => {
  test('is shown once, stored as its hash, and listed without it', async () => {
    const { key, ...rest } = await addKey({ name: 'shown once', scopes: ['read', 'read'], reason: 'for the test' })
    expect(rest).toMatchObject({ name: 'shown once', scopes: ['read'], sellerIds: null, lastUsedAt: null, createdBy: 'operator' })
    const listed = await call(apiKey, 'GET', '/v1/keys')
    expect(at(listed.body, 'items')).toContainEqual(rest)
    const [row] = await stage.database.query<Record<string, unknown>>('SELECT * FROM tallyman.api_keys WHERE id = $1', rest.id)
    expect(row?.['secret_hash']).toBe(createHash('sha256').update(key).digest('hex'))
    const dump = await stage.database.query<{ text: string }>(
      `SELECT string_agg(k::text, '') || (SELECT string_agg(a::text, '') FROM tallyman.audit_entries a) AS text FROM tallyman.api_keys k`,
    )
    const secretPart = key.slice(-43)
    for (const where of [JSON.stringify(dump), JSON.stringify(listed.body), JSON.stringify(server.log)])
      expect(where).not.toContain(secretPart)
  })

  test('is wrong with another secret, another id or another form', async () => {
    const { key, id } = await addKey({ name: 'exact', scopes: ['read'] })
    expect((await call(key, 'GET', '/v1/orders')).status).toBe(200)
    const fresh = await startServer(stage.database, { apiKey })
    for (const wrong of [
      `${key.slice(0, -1)}${key.endsWith('A') ? 'E' : 'A'}`,
      key.replace(id, 'aaaaaaaaaaaa'),
      key.slice(0, -1),
      `${key}A`,
      'tly_',
    ]) {
      expect(await send(fresh, wrong, 'GET', '/v1/orders'), wrong).toMatchObject({
        status: 401,
        body: { code: 'unauthenticated' },
      })
    }
    await fresh.close()
  })

  test.each([
    [{ scopes: ['read'] }, 'name'],
    [{ name: 'operator', scopes: ['read'] }, 'name'],
    [{ name: 'settings', scopes: ['read'] }, 'name'],
    [{ name: 'a\nb', scopes: ['read'] }, 'name'],
    [{ name: `tly_${'a'.repeat(12)}_${'b'.repeat(43)}`, scopes: ['read'] }, 'name'],
    [{ name: 'none', scopes: [] }, 'scopes'],
    [{ name: 'none', scopes: ['admin'] }, 'scopes[0]'],
    [{ name: 'none', scopes: ['read'], sellerIds: [] }, 'sellerIds'],
  ])('is not made of %j', async (body, path) => {
    expect(await call(apiKey, 'POST', '/v1/keys', body)).toMatchObject({ status: 422, body: { errors: [{ path }] } })
  })

  test('has a name of its own while it is active', async () => {
    const { id } = await addKey({ name: 'one at a time', scopes: ['read'] })
    expect(await call(apiKey, 'POST', '/v1/keys', { name: 'one at a time', scopes: ['read'] })).toMatchObject({
      status: 409,
      body: { code: 'illegal-state' },
    })
    expect((await call(apiKey, 'DELETE', `/v1/keys/${id}`)).status).toBe(200)
    await addKey({ name: 'one at a time', scopes: ['read'] })
  })

  test('that is revoked ends here immediately and in other processes within seconds, and stays listed', async () => {
    const { key, id } = await addKey({ name: 'to be revoked', scopes: ['read'] })
    for (const one of [server, other]) expect((await send(one, key, 'GET', '/v1/orders')).status).toBe(200)
    expect(await call(apiKey, 'DELETE', `/v1/keys/${id}?reason=lost`)).toMatchObject({
      status: 200,
      body: { id, revokedAt: expect.any(String) },
    })
    expect((await call(key, 'GET', '/v1/orders')).status).toBe(401)
    const toldAt = performance.now()
    await eventually(async () => expect((await send(other, key, 'GET', '/v1/orders')).status).toBe(401))
    expect(performance.now() - toldAt).toBeLessThan(15_000)
    expect(ofItems((await call(apiKey, 'GET', '/v1/keys')).body, 'id')).not.toContain(id)
    expect(ofItems((await call(apiKey, 'GET', '/v1/keys?state=all')).body, 'id')).toContain(id)
    expect((await call(apiKey, 'DELETE', `/v1/keys/${id}`)).status).toBe(404)
    expect((await call(apiKey, 'POST', `/v1/keys/${id}/rotate`)).status).toBe(404)
  })

  test('that is revoked ends a stream and a long poll that it began', async () => {
    const { key, id } = await addKey({ name: 'streaming', scopes: ['read'] })
    await numbered(stage.database)
    const { body: now } = await call(apiKey, 'GET', '/v1/changes?limit=1000')
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
    const stream = await server.fetch(`/v1/changes?after=${at(now, 'nextCursor')}`, { headers })
    const polled = call(key, 'GET', `/v1/changes?after=${at(now, 'nextCursor')}&wait=30`)
    await call(apiKey, 'DELETE', `/v1/keys/${id}`)
    await stage.database.transaction(async (tx) =>
      tx.record({ sellerId: 's-1', type: 'order.missing', purchaseOrderId: 'after-revocation', data: {} }),
    )
    listener.say()
    expect(await polled).toMatchObject({ status: 401 })
    expect(await stream.text()).not.toContain('after-revocation')
  })

  test('is accepted at once by every process, a new secret too', async () => {
    const { key, id } = await addKey({ name: 'everywhere', scopes: ['read'] })
    expect((await send(other, key, 'GET', '/v1/orders')).status).toBe(200)
    const { body } = await call(apiKey, 'POST', `/v1/keys/${id}/rotate`)
    expect((await send(other, textAt(body, 'key'), 'GET', '/v1/orders')).status).toBe(200)
  })

  test('gets another secret, and the one before is accepted for the overlap', async () => {
    const { key: first, id } = await addKey({ name: 'rotated', scopes: ['read'] })
    const rotate = (body: object) => call(apiKey, 'POST', `/v1/keys/${id}/rotate`, body)
    const { status, body: second } = await rotate({ overlapSeconds: 3_600 })
    expect(status).toBe(200)
    expect(second).toMatchObject({ id, name: 'rotated', previousUntil: expect.any(String) })
    expect(textAt(second, 'key')).not.toBe(first)
    for (const key of [first, textAt(second, 'key')]) expect((await call(key, 'GET', '/v1/orders')).status).toBe(200)
    // Only one secret before the newest is accepted.
    const { body: third } = await rotate({ overlapSeconds: 3_600 })
    expect((await call(first, 'GET', '/v1/orders')).status).toBe(401)
    for (const key of [textAt(second, 'key'), textAt(third, 'key')])
      expect((await call(key, 'GET', '/v1/orders')).status).toBe(200)
    const { body: fourth } = await rotate({ overlapSeconds: 0 })
    expect(at(fourth, 'previousUntil')).toBeNull()
    expect((await call(textAt(third, 'key'), 'GET', '/v1/orders')).status).toBe(401)
    const { body: fifth } = await rotate({ overlapSeconds: 1 })
    await eventually(async () => expect((await call(textAt(fourth, 'key'), 'GET', '/v1/orders')).status).toBe(401))
    expect((await call(textAt(fifth, 'key'), 'GET', '/v1/orders')).status).toBe(200)
    expect((await rotate({ overlapSeconds: 2_592_001 })).status).toBe(422)
  })

  test('has its last use written, once a minute at most', async () => {
    const { key, id } = await addKey({ name: 'used', scopes: ['read'] })
    const lastUse = async () => {
      const { body } = await call(apiKey, 'GET', '/v1/keys')
      return textOrNullAt(
        listAt(body, 'items').find((one) => at(one, 'id') === id),
        'lastUsedAt',
      )
    }
    await call(key, 'GET', '/v1/orders')
    const first = await lastUse()
    expect(first).toEqual(expect.any(String))
    // Another process that uses it does not write either.
    for (const one of [server, other]) await send(one, key, 'GET', '/v1/orders')
    expect(await lastUse()).toBe(first)
    const fresh = await startServer(stage.database, { apiKey })
    await stage.database.execute(`UPDATE tallyman.api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = $1`, id)
    await send(fresh, key, 'GET', '/v1/orders')
    await fresh.close()
    expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThanOrEqual(Date.parse(first ?? ''))
  })

  test('gives no more than its holder has', async () => {
    const { key } = await addKey({ name: 'clerk', scopes: ['operate'] })
    expect(await call(key, 'POST', '/v1/keys', { name: 'more', scopes: ['operate', 'read'] })).toMatchObject({
      status: 403,
      body: { code: 'scope-missing', detail: expect.stringContaining('read') },
    })
    const { id } = await addKey({ name: 'reader of the clerk', scopes: ['read'] })
    expect(await call(key, 'POST', `/v1/keys/${id}/rotate`)).toMatchObject({ status: 403, body: { code: 'scope-missing' } })
    await addKey({ name: 'as much', scopes: ['operate'] }, key)
    const { key: bound } = await addKey({ name: 'bound clerk', scopes: [...scopes], sellerIds: ['s-1'] })
    expect(await call(bound, 'POST', '/v1/keys', { name: 'unbound', scopes: ['read'] })).toMatchObject({
      status: 403,
      body: { code: 'seller-refused' },
    })
  })

  test('is held to its scopes also where no key is needed', async () => {
    const open = await startServer(stage.database)
    const { key } = await addKey({ name: 'local', scopes: ['read'] })
    expect((await send(open, null, 'POST', '/v1/retention/run')).status).toBe(202)
    expect((await send(open, key, 'POST', '/v1/retention/run')).status).toBe(403)
    expect((await send(open, `${key.slice(0, -2)}xx`, 'GET', '/v1/orders')).status).toBe(401)
    await open.close()
  })

  test('tells of itself where no key is needed, and is refused in a form that is not read there', async () => {
    const open = await startServer(stage.database, { sellers: () => ['s-1', 's-2'] })
    const { key, id } = await addKey({ name: 'bound on the machine', scopes: ['read'], sellerIds: ['s-1'] })
    const named = await send(open, key, 'GET', '/v1/session')
    expect(named).toMatchObject({ status: 200, body: { signedIn: true, scopes: ['read'], sellers: ['s-1'], expiresAt: null } })
    expect(textAt(named.body, 'name')).toBe('bound on the machine')
    expect(listAt(named.body, 'clocks').map((clock) => at(clock, 'sellerId'))).toEqual(['s-1'])
    expect((await send(open, null, 'GET', '/v1/session')).body).toMatchObject({ name: null, scopes, sellers: null })
    expect((await send(open, `${key}x`, 'GET', '/v1/session')).status).toBe(401)
    const forms = [key, `Basic ${btoa(`x:${key}`)}`, `Basic ${btoa(`${key}:`)}`, `Bearer ${key} ${key}`, `Token ${key}`]
    for (const path of ['/v1/session', '/v1/orders'])
      for (const authorization of forms) {
        expect((await open.json(path, { headers: { authorization } })).status, authorization.replace(key, 'key')).toBe(401)
      }
    expect((await send(open, `${key}x`, 'DELETE', '/v1/session')).status).toBe(401)
    await open.close()
    await call(apiKey, 'DELETE', `/v1/keys/${id}?reason=test`)
  })

  test('is answered with 503 while the database is unreachable, and not called wrong', async () => {
    const { key } = await addKey({ name: 'in an outage', scopes: ['read'] })
    const unreachable = openDatabase({ findVocabulary, url: 'postgres://nobody@127.0.0.1:1/nothing' })
    const cut = await startServer(unreachable, { apiKey })
    expect(await send(cut, key, 'GET', '/v1/orders')).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect((await send(cut, null, 'GET', '/livez')).status).toBe(200)
    await cut.close()
    await unreachable.close()
  })

  test('opens the pages of a browser as the password', async () => {
    const { key } = await addKey({ name: 'browser', scopes: ['read'] })
    const headers = { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` }
    for (const path of ['/docs/', '/openapi.json', '/queues', '/metrics'])
      expect((await server.fetch(path, { headers })).status, path).toBe(200)
    expect((await server.fetch('/v1/orders', { headers })).status).toBe(401)
  })
})

describe('scopes', () => {
  test('are listed in docs/keys.md, for every route', async () => {
    const { body } = await call(apiKey, 'GET', '/openapi.json')
    const listed = [...(await readFile('docs/keys.md', 'utf8')).matchAll(/^\| `([A-Z]+ [^`]+)` \| `([^`]+)` \| ([^|]+) \|$/gm)]
    const refusedToBound = (path: string, method: string): boolean =>
      textAt(body, 'paths', path, method.toLowerCase(), 'description').includes('of a key that is not bound to sellers')
    expect(listed.map(([, name, scope, bound]) => [name, scope, bound === 'refused']).sort()).toEqual(
      readOperations(body)
        .map(({ name, method, path, scope }) => [name, scope, refusedToBound(path, method)])
        .sort(),
    )
  })

  test.each(scopes)('%s admits what names it, and nothing else', async (scope) => {
    const { key } = await addKey({ name: `only ${scope}`, scopes: [scope] })
    const { body: document } = await call(apiKey, 'GET', '/openapi.json')
    const operations = readOperations(document)
    expect(operations.length).toBeGreaterThan(35)
    for (const { name, method, path, scope: needed } of operations) {
      // Nothing of these names exists, and no body is valid: an admitted request ends behind the guard.
      const url = path.replace('{gtin}', '12345678').replace(/\{\w+\}/g, '0')
      const { status, body } = await send(
        server,
        key,
        method,
        `${url}${path === '/v1/claims' ? '?month=2026-03' : ''}`,
        ...(method === 'POST' ? [{ nothing: 0 }] : []),
      ).catch((error: unknown) => {
        // Metrics are no JSON.
        if (error instanceof SyntaxError) return { status: 200, body: {} }
        throw error
      })
      if (needed === scope) expect([401, 403], name).not.toContain(status)
      else expect({ status, code: at(body, 'code') }, name).toEqual({ status: 403, code: 'scope-missing' })
    }
    const board = await server.fetch('/queues', {
      headers: { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` },
    })
    expect(board.status).toBe(scope === 'read' ? 200 : 403)
    const changing = await server.fetch('/queues/api/queues/orders/pause', {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}` },
    })
    expect(changing.status === 403 && (await changing.text()).includes('scope-missing')).toBe(scope !== 'operate')
  })
})

describe('a key that is bound to a seller', () => {
  let bound: string
  let boundId: string
  beforeAll(async () => {
    const made = await addKey({ name: 'of s-1', scopes: [...scopes], sellerIds: ['s-1'] })
    bound = made.key
    boundId = made.id
  })

  const why = { reason: 'by the test' }
  type Case = readonly [name: string, path: () => string, body: object | undefined, status: number]
  /** What belongs to the other seller, at every route. Lists answer, without it. */
  const foreign: readonly Case[] = [
    ['GET /v1/alarms', () => '/v1/alarms?sellerId=s-2', undefined, 403],
    ['POST /v1/alarms/{id}/resolve', () => `/v1/alarms/${theirs.alarm}/resolve`, {}, 404],
    [
      'POST /v1/alarms/{id}/silence',
      () => `/v1/alarms/${theirs.alarm}/silence`,
      { ...why, until: new Date(Date.now() + 3_600_000) },
      404,
    ],
    ['GET /v1/audit', () => '/v1/audit?sellerId=s-2', undefined, 403],
    ['GET /v1/campaigns', () => '/v1/campaigns?sellerId=s-2', undefined, 403],
    ['GET /v1/campaigns/{campaignId}', () => `/v1/campaigns/${theirs.campaign}`, undefined, 404],
    ['POST /v1/campaigns', () => '/v1/campaigns', { sellerId: 's-2', campaignIds: ['x'] }, 403],
    ['DELETE /v1/campaigns/{campaignId}', () => `/v1/campaigns/${theirs.campaign}`, undefined, 404],
    ['GET /v1/changes', () => '/v1/changes', undefined, 200],
    ['GET /v1/claims', () => '/v1/claims?month=2026-03&sellerId=s-2', undefined, 403],
    ['GET /v1/claims/items', () => '/v1/claims/items?sellerId=s-2', undefined, 403],
    ['GET /v1/claims/payments', () => '/v1/claims/payments?sellerId=s-2', undefined, 403],
    ['GET /v1/claims/evidence', () => '/v1/claims/evidence?month=2026-03&sellerId=s-2', undefined, 403],
    ['GET /v1/claims/{id}', () => `/v1/claims/${theirs.claim}`, undefined, 404],
    ['GET /v1/claims/{id}/evidence', () => `/v1/claims/${theirs.claim}/evidence`, undefined, 404],
    ['POST /v1/claims/{id}', () => `/v1/claims/${theirs.claim}`, { state: 'filed' }, 404],
    ['GET /v1/commands', () => '/v1/commands?sellerId=s-2', undefined, 403],
    ['GET /v1/commands/{id}', () => `/v1/commands/${theirs.command}`, undefined, 404],
    ['POST /v1/commands/{id}/confirm', () => `/v1/commands/${theirs.command}/confirm`, why, 404],
    ['POST /v1/commands/{id}/reject', () => `/v1/commands/${theirs.command}/reject`, why, 404],
    ['POST /v1/commands/{id}/retry', () => `/v1/commands/${theirs.command}/retry`, why, 404],
    [
      'POST /v1/commands/{id}/decide',
      () => `/v1/commands/${theirs.command}/decide`,
      { ...why, lines: [{ lineNumber: '1', verdict: 'applied' }] },
      404,
    ],
    ['GET /v1/completeness', () => '/v1/completeness?sellerId=s-2', undefined, 403],
    ['GET /v1/discrepancies', () => '/v1/discrepancies?sellerId=s-2', undefined, 403],
    ['POST /v1/demonstration/trouble', () => '/v1/demonstration/trouble', undefined, 403],
    ['POST /v1/erasures', () => '/v1/erasures', { ...why, sellerId: 's-2', customerOrderId: 'C-2002' }, 403],
    ['GET /v1/drift', () => '/v1/drift?sellerId=s-2', undefined, 403],
    ['GET /v1/events', () => '/v1/events?sellerId=s-2', undefined, 403],
    ['GET /v1/forecast', () => '/v1/forecast?sellerId=s-2', undefined, 403],
    [
      'POST /v1/events',
      () => '/v1/events',
      {
        specversion: '1.0',
        id: 'x',
        source: 'urn:x',
        type: 'erp.order.accepted',
        data: { purchaseOrderId: '2002', sellerId: 's-2' },
      },
      403,
    ],
    ['GET /v1/events/{source}/{id}', () => `/v1/events/urn%3Aerp/${theirs.event}`, undefined, 404],
    ['POST /v1/events/{source}/{id}/reject', () => `/v1/events/urn%3Aerp/${theirs.waitingEvent}/reject`, why, 404],
    ['POST /v1/notifications/{sellerId}', () => '/v1/notifications/s-2', { source: { eventType: 'PO_CREATED' } }, 403],
    ['POST /v1/notifications/{sellerId}/token', () => '/v1/notifications/s-2/token', {}, 403],
    ['GET /v1/keys', () => '/v1/keys', undefined, 403],
    ['POST /v1/keys', () => '/v1/keys', { name: 'x', scopes: ['read'] }, 403],
    ['DELETE /v1/keys/{id}', () => `/v1/keys/${boundId}`, undefined, 403],
    ['POST /v1/keys/{id}/rotate', () => `/v1/keys/${boundId}/rotate`, undefined, 403],
    ['GET /metrics', () => '/metrics', undefined, 403],
    ['GET /v1/orders', () => '/v1/orders?sellerId=s-2', undefined, 403],
    ['GET /v1/orders/{purchaseOrderId}', () => `/v1/orders/${theirs.order}`, undefined, 404],
    ['POST /v1/orders/{purchaseOrderId}/reveal', () => `/v1/orders/${theirs.order}/reveal`, undefined, 404],
    ['GET /v1/overview', () => '/v1/overview', undefined, 200],
    ['GET /v1/trends', () => '/v1/trends', undefined, 200],
    ['GET /v1/throughput', () => '/v1/throughput', undefined, 200],
    ['GET /v1/budget', () => '/v1/budget', undefined, 200],
    ['GET /v1/budget/operations', () => '/v1/budget/operations', undefined, 200],
    ['GET /v1/lags', () => '/v1/lags', undefined, 200],
    ['GET /v1/late-returns', () => '/v1/late-returns?sellerId=s-2', undefined, 403],
    ['GET /v1/order-states', () => '/v1/order-states', undefined, 200],
    ['GET /v1/pick-list', () => '/v1/pick-list', undefined, 200],
    ['GET /v1/quarantine', () => '/v1/quarantine?sellerId=s-2', undefined, 403],
    ['GET /v1/resources', () => '/v1/resources', undefined, 200],
    ['GET /v1/search', () => '/v1/search?q=nothing-like-it', undefined, 200],
    ['POST /v1/quarantine/{id}/dismiss', () => `/v1/quarantine/${theirs.record}/dismiss`, why, 404],
    ['POST /v1/quarantine/{id}/replay', () => `/v1/quarantine/${theirs.record}/replay`, undefined, 404],
    ['POST /v1/quarantine/{id}/reveal', () => `/v1/quarantine/${theirs.record}/reveal`, undefined, 404],
    ['GET /v1/reconciliation', () => '/v1/reconciliation?sellerId=s-2', undefined, 403],
    ['GET /v1/reconciliation/{gtin}', () => '/v1/reconciliation/12345678?sellerId=s-2', undefined, 403],
    ['GET /v1/retention', () => '/v1/retention', undefined, 403],
    ['POST /v1/retention/run', () => '/v1/retention/run', undefined, 403],
    ['GET /v1/sellers', () => '/v1/sellers', undefined, 200],
    ['GET /v1/shadow', () => '/v1/shadow?sellerId=s-2', undefined, 403],
    ['GET /v1/shadow/counts', () => '/v1/shadow/counts?sellerId=s-2', undefined, 403],
    ['POST /v1/sellers/reload', () => '/v1/sellers/reload', undefined, 403],
    ['POST /v1/sellers/{id}/go-live', () => '/v1/sellers/s-2/go-live', why, 403],
    ['POST /v1/sellers/{id}/go-shadow', () => '/v1/sellers/s-2/go-shadow', why, 403],
    ['POST /v1/sellers/{id}/pause', () => '/v1/sellers/s-2/pause', why, 403],
    ['POST /v1/sellers/{id}/resume', () => '/v1/sellers/s-2/resume', undefined, 403],
    // Its own neither: what is in the settings concerns all.
    ['DELETE /v1/sellers/{id}', () => '/v1/sellers/s-1', undefined, 403],
    ['GET /v1/settings', () => '/v1/settings', undefined, 403],
    ['GET /v1/settlement-differences', () => '/v1/settlement-differences?sellerId=s-2', undefined, 403],
    ['GET /v1/inbound-shipments', () => '/v1/inbound-shipments?sellerId=s-2', undefined, 403],
    ['GET /v1/stock', () => '/v1/stock?sellerId=s-2', undefined, 403],
    ['GET /v1/stock-differences', () => '/v1/stock-differences?sellerId=s-2', undefined, 403],
    ['GET /v1/syncs', () => '/v1/syncs?sellerId=s-2', undefined, 403],
    ['GET /v1/syncs/{resource}/runs', () => '/v1/syncs/orders/runs?sellerId=s-2', undefined, 403],
    ['POST /v1/syncs/{resource}/run', () => '/v1/syncs/orders/run', { sellerId: 's-2' }, 403],
    ['GET /v1/targets', () => '/v1/targets?sellerId=s-2', undefined, 403],
    ['GET /v1/proposals', () => '/v1/proposals?sellerId=s-2', undefined, 403],
    ['GET /v1/proposals/{id}', () => `/v1/proposals/${theirs.proposal}`, undefined, 404],
    [
      'POST /v1/proposals',
      () => '/v1/proposals',
      { type: 'erp.order.accepted', data: { purchaseOrderId: '2002', sellerId: 's-2' }, reason: 'why not' },
      403,
    ],
    ['POST /v1/proposals/{id}/approve', () => `/v1/proposals/${theirs.proposal}/approve`, why, 404],
    ['POST /v1/proposals/{id}/reject', () => `/v1/proposals/${theirs.proposal}/reject`, why, 404],
    ['GET /v1/alarm-channels', () => '/v1/alarm-channels', undefined, 403],
    ['POST /v1/alarm-channels', () => '/v1/alarm-channels', { name: 'x', kind: 'slack', url: 'https://hooks.example/x' }, 403],
    ['GET /v1/alarm-channels/{id}', () => '/v1/alarm-channels/ch_1', undefined, 403],
    ['PATCH /v1/alarm-channels/{id}', () => '/v1/alarm-channels/ch_1', { state: 'paused' }, 403],
    ['DELETE /v1/alarm-channels/{id}', () => '/v1/alarm-channels/ch_1', undefined, 403],
    ['POST /v1/alarm-channels/{id}/test', () => '/v1/alarm-channels/ch_1/test', undefined, 403],
    ['GET /v1/webhooks', () => '/v1/webhooks', undefined, 403],
    ['POST /v1/webhooks', () => '/v1/webhooks', { url: 'https://shop.example/hooks', sellerId: 's-1' }, 403],
    ['GET /v1/webhooks/{id}', () => '/v1/webhooks/wh_1', undefined, 403],
    ['PATCH /v1/webhooks/{id}', () => '/v1/webhooks/wh_1', { state: 'paused' }, 403],
    ['DELETE /v1/webhooks/{id}', () => '/v1/webhooks/wh_1', undefined, 403],
    ['GET /v1/webhooks/{id}/deliveries', () => '/v1/webhooks/wh_1/deliveries', undefined, 403],
    ['POST /v1/webhooks/{id}/redeliver', () => '/v1/webhooks/wh_1/redeliver', { ids: ['1'] }, 403],
    ['POST /v1/webhooks/{id}/rotate', () => '/v1/webhooks/wh_1/rotate', undefined, 403],
    ['POST /v1/webhooks/{id}/test', () => '/v1/webhooks/wh_1/test', undefined, 403],
  ]

  test.each(foreign)('gets nothing of another by %s', async (name, path, body, status) => {
    const before = await stage.database.query('SELECT count(*)::int AS acts FROM tallyman.audit_entries')
    const type = name === 'POST /v1/events' ? { 'content-type': 'application/cloudevents+json' } : {}
    const answer = await send(server, bound, name.split(' ')[0] ?? '', path(), body, type)
    expect(answer.status).toBe(status)
    if (status === 404) {
      // As where there is no such thing at all, but for its name.
      const [, id = ''] =
        /\/([^/?]+)(?:\/(?:resolve|approve|silence|confirm|reject|retry|decide|dismiss|replay|reveal|evidence))?$/.exec(path()) ??
        []
      const nothing = await send(server, bound, name.split(' ')[0] ?? '', path().replace(id, '999999999'), body)
      expect({ ...membersAt(answer.body), correlationId: '', instance: '' }).toEqual({
        ...membersAt(nothing.body),
        detail: textAt(nothing.body, 'detail').replace('999999999', id),
        correlationId: '',
        instance: '',
      })
    }
    if (status === 403) expect(at(answer.body, 'code')).toBe('seller-refused')
    expect(await stage.database.query('SELECT count(*)::int AS acts FROM tallyman.audit_entries')).toEqual(before)
  })

  test('every route is tried', async () => {
    const { body } = await call(apiKey, 'GET', '/openapi.json')
    expect(foreign.map(([name]) => name).sort()).toEqual(
      readOperations(body)
        .map(({ name }) => name)
        .sort(),
    )
  })

  test.each([
    '/v1/alarms',
    '/v1/audit',
    '/v1/campaigns',
    '/v1/changes?limit=1000',
    '/v1/claims?month=2026-03',
    '/v1/claims/items',
    '/v1/claims/payments',
    '/v1/claims/evidence?month=2026-03',
    '/v1/commands',
    '/v1/completeness',
    '/v1/discrepancies',
    '/v1/drift',
    '/v1/events',
    '/v1/inbound-shipments',
    '/v1/orders',
    '/v1/quarantine',
    '/v1/reconciliation',
    '/v1/sellers',
    '/v1/settlement-differences',
    '/v1/stock',
    '/v1/stock-differences',
    '/v1/syncs',
  ])('sees of %s its own', async (path) => {
    if (path === '/v1/audit') for (const id of ['s-1', 's-2']) await call(apiKey, 'POST', `/v1/sellers/${id}/resume`)
    const findSellers = (page: unknown) => [...new Set(ofItems(page, 'sellerId'))].sort()
    const { body: all } = await call(apiKey, 'GET', path)
    expect(findSellers(all)).toEqual(expect.arrayContaining(['s-1', 's-2']))
    const { status, body } = await call(bound, 'GET', path)
    expect(status).toBe(200)
    expect(findSellers(body)).toEqual(['s-1'])
    const both = await addKey({ name: `both ${path}`, scopes: ['read', 'operate'], sellerIds: ['s-1', 's-2'] })
    const { body: ofBoth } = await call(both.key, 'GET', path)
    expect(findSellers(ofBoth)).toEqual(['s-1', 's-2'])
  })

  test('sees a forecast of its own sellers', async () => {
    expect(at((await call(apiKey, 'GET', '/v1/forecast')).body, 'sellerIds')).toEqual(['s-1', 's-2'])
    const { status, body } = await call(bound, 'GET', '/v1/forecast?hours=6')
    expect([status, at(body, 'sellerIds'), at(body, 'until')]).toEqual([200, ['s-1'], '2026-03-10T06:00:00.000Z'])
  })

  test('counts its own in the overview', async () => {
    const { body: all } = await call(apiKey, 'GET', '/v1/overview')
    const { body } = await call(bound, 'GET', '/v1/overview')
    expect(body).toMatchObject({ orders: { open: 1 }, commands: { pending: 1 }, waitingEvents: 1, quarantined: 1, alarms: 1 })
    expect(all).toMatchObject({ orders: { open: 2 }, commands: { pending: 2 }, waitingEvents: 2, quarantined: 2, alarms: 2 })
    expect(numberAt(body, 'discrepancies') * 2).toBe(at(all, 'discrepancies'))
  })

  test('streams its own changes', async () => {
    const stop = new AbortController()
    const headers = { authorization: `Bearer ${bound}`, accept: 'text/event-stream' }
    const answer = await server.fetch('/v1/changes?after=0', { headers, signal: stop.signal })
    const reader = answer.body?.getReader()
    let text = ''
    while (!text.includes('"order.seen"')) text += new TextDecoder().decode((await reader?.read())?.value)
    stop.abort()
    expect(text).toContain('"s-1"')
    expect(text).not.toContain('s-2')
  })

  test('does with its own what it does not with others', async () => {
    expect((await call(bound, 'GET', `/v1/orders/${mine.order}`)).body).toMatchObject({ sellerId: 's-1' })
    expect((await call(bound, 'GET', `/v1/commands/${mine.command}`)).body).toMatchObject({ sellerId: 's-1' })
    expect((await call(bound, 'GET', `/v1/events/urn%3Aerp/${mine.event}`)).status).toBe(200)
    expect((await call(bound, 'GET', '/v1/reconciliation/12345678')).body).toMatchObject({ sellerId: 's-1' })
    ran.length = 0
    expect((await call(bound, 'POST', '/v1/syncs/orders/run')).body).toMatchObject({ jobs: ['s-1/orders'] })
    expect((await call(bound, 'POST', '/v1/campaigns', { campaignIds: ['new'] })).body).toMatchObject({ sellerId: 's-1' })
    expect(ran).toEqual(['s-1', 's-1'])
  })

  test('an order that both sellers have is its own', async () => {
    const { order } = theirs
    const { seedOrder } = await import('../support/store.ts')
    const { orderLine, purchaseOrder } = await import('../support/orders.ts')
    await seedOrder(stage.database, 's-1', purchaseOrder(order, [orderLine('1', 'A', 1)]))
    expect((await call(apiKey, 'GET', `/v1/orders/${order}`)).status).toBe(409)
    expect((await call(bound, 'GET', `/v1/orders/${order}`)).body).toMatchObject({ sellerId: 's-1' })
    await stage.database.execute(`DELETE FROM warehouse.orders WHERE seller_id = 's-1' AND purchase_order_id = $1`, order)
  })
})

describe('events', () => {
  test('are posted with a key instead of a signature, if it has the scope', async () => {
    const { key: writer } = await addKey({ name: 'erp', scopes: ['events:write'] })
    const { key: reader } = await addKey({ name: 'no erp', scopes: ['read', 'operate'] })
    const own = { purchaseOrderId: mine.order, sellerId: 's-1' }
    expect((await postEvent(signed, writer, buildEvent('k-1', own))).status).toBe(202)
    expect(await postEvent(signed, reader, buildEvent('k-2', own))).toMatchObject({
      status: 403,
      body: { code: 'scope-missing' },
    })
    // API_KEY, and nothing at all, do not replace a signature.
    for (const key of [apiKey, null]) {
      expect(await postEvent(signed, key, buildEvent('k-3', own))).toMatchObject({
        status: 401,
        body: { code: 'invalid-signature' },
      })
    }
    // A signature that comes with a key must be right.
    const headers = {
      'webhook-id': 'm',
      'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      'webhook-signature': 'v1,AAAA',
    }
    expect(await postEvent(signed, writer, buildEvent('k-4', own), headers)).toMatchObject({
      status: 401,
      body: { code: 'invalid-signature' },
    })
  })

  test('of a key that is bound say whose they are, and are of its sellers', async () => {
    const { key } = await addKey({ name: 'erp of s-1', scopes: ['events:write'], sellerIds: ['s-1'] })
    for (const from of [server, signed]) {
      const suffix = from === server ? 'a' : 'b'
      expect(
        (await postEvent(from, key, buildEvent(`b-1${suffix}`, { purchaseOrderId: mine.order, sellerId: 's-1' }))).status,
      ).toBe(202)
      for (const data of [{ purchaseOrderId: theirs.order, sellerId: 's-2' }, { purchaseOrderId: theirs.order }]) {
        expect(await postEvent(from, key, buildEvent(`b-2${suffix}`, data))).toMatchObject({
          status: 403,
          body: { code: 'seller-refused', errors: [{ path: 'data.sellerId' }] },
        })
      }
    }
    const [kept] = await stage.database.query(`SELECT count(*)::int AS kept FROM tallyman.erp_event WHERE id LIKE 'b-2%'`)
    expect(kept).toEqual({ kept: 0 })
  })
})

describe('wrong keys', () => {
  test('are bounded for each address, and logged without the key', async () => {
    const guarded = await startServer(stage.database, { apiKey })
    const { key } = await addKey({ name: 'beside the guesses', scopes: ['read'] })
    const statuses: number[] = []
    for (let index = 0; index < 30; index += 1)
      statuses.push((await send(guarded, `guess-of-the-key-${index}`, 'GET', '/v1/orders')).status)
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5)
    const refused = await send(guarded, apiKey, 'GET', '/v1/orders')
    expect(refused).toMatchObject({ status: 429, body: { code: 'too-many-attempts' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await send(guarded, `tly_${'a'.repeat(12)}_${'b'.repeat(43)}`, 'GET', '/v1/orders')).status).toBe(429)
    // A right named key cannot have been guessed, so it works also behind a proxy that others share.
    expect((await send(guarded, key, 'GET', '/v1/orders')).status).toBe(200)
    const lines = guarded.log.filter(({ remote_ip: from }) => from === '127.0.0.1')
    expect(lines.length).toBeGreaterThanOrEqual(2)
    expect(lines.length).toBeLessThan(6)
    expect(JSON.stringify(guarded.log)).not.toContain('guess-of-the-key')
    await guarded.close()
  })
})
