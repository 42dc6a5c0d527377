import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { at, textAt } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { startServer, type TestServer } from './support.ts'

const apiKey = 'a-key-of-sixteen-or-more'
const stage = withDatabase()
let server: TestServer
let other: TestServer

beforeAll(async () => {
  ;[server, other] = await Promise.all([startServer(stage.database, { apiKey }), startServer(stage.database, { apiKey })])
  await seedOrder(stage.database, 's-1', purchaseOrder('1001', [orderLine('1', 'A', 2)]))
})
afterAll(async () => {
  await Promise.all([server?.close(), other?.close()])
})

const signIn = async (key: string, headers: Record<string, string> = {}, at = server) => {
  const answer = await at.fetch('/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ key }),
  })
  const cookie = answer.headers.get('set-cookie') ?? ''
  const body = await answer.json()
  return { status: answer.status, cookie, pair: cookie.split(';')[0] ?? '', body }
}
const ask = (pair: string, path: string, init: RequestInit = {}, at = server) =>
  at.fetch(path, { ...init, headers: { cookie: pair, ...init.headers } })
const addKey = async (body: object): Promise<{ id: string; key: string }> => {
  const added = await server.json('/v1/keys', {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { id: textAt(added.body, 'id'), key: textAt(added.body, 'key') }
}

describe('a session', () => {
  test('is a cookie that is accepted by every process wherever the key is, until the sign-out', async () => {
    const { status, cookie, pair, body } = await signIn(apiKey)
    expect(status).toBe(200)
    expect(cookie).toMatch(/^tallyman_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    expect(body).toMatchObject({ signedIn: true, name: null, sellers: null, version: '0.0.0-test' })
    for (const at of [server, other]) expect((await ask(pair, '/v1/orders', {}, at)).status).toBe(200)
    for (const path of ['/docs/', '/queues']) expect((await ask(pair, path)).status).toBe(200)
    const origin = { origin: server.url }
    expect((await ask(pair, '/v1/session', { method: 'DELETE', headers: origin })).status).toBe(200)
    expect((await ask(pair, '/v1/orders')).status).toBe(401)
    await eventually(async () => expect((await ask(pair, '/v1/orders', {}, other)).status).toBe(401))
    const { body: audit } = await server.json('/v1/audit?limit=2', { headers: { authorization: `Bearer ${apiKey}` } })
    expect(at(audit, 'items')).toMatchObject([
      { action: 'session.closed', actor: 'operator', keyId: 'API_KEY' },
      { action: 'session.opened', actor: 'operator', keyId: 'API_KEY' },
    ])
  })

  test('stores neither the cookie nor anything that API_KEY could be guessed by', async () => {
    const { pair } = await signIn(apiKey)
    const token = pair.slice(pair.indexOf('=') + 1)
    const rows = JSON.stringify(await stage.database.query('SELECT token_hash, key_id, proof FROM tallyman.sessions'))
    expect(rows).not.toContain(token)
    const { createHash } = await import('node:crypto')
    expect(rows).not.toContain(createHash('sha256').update(apiKey).digest('hex'))
  })

  test('is sent over TLS only where the page came by it', async () => {
    const origin = `https://${new URL(server.url).host}`
    expect((await signIn(apiKey, { origin })).cookie).toMatch(/; Secure$/)
  })

  test('refuses writing requests without an origin, or from another origin', async () => {
    const { pair } = await signIn(apiKey)
    const run = (headers: Record<string, string>) => ask(pair, '/v1/syncs/orders/run', { method: 'POST', headers })
    expect((await run({})).status).toBe(403)
    expect((await run({ origin: 'http://evil.example' })).status).toBe(403)
    expect((await run({ 'sec-fetch-site': 'same-site' })).status).toBe(403)
    expect((await run({ origin: server.url })).status).toBe(202)
  })

  test('has the rights of its key, and ends when that is revoked or gets another secret', async () => {
    const { id, key } = await addKey({ name: 'kim', scopes: ['read'], sellerIds: ['s-1'] })
    const { pair, body } = await signIn(key)
    expect(body).toMatchObject({ name: 'kim', scopes: ['read'], sellers: ['s-1'] })
    expect((await ask(pair, '/v1/orders')).status).toBe(200)
    expect((await ask(pair, '/v1/orders?sellerId=s-2')).status).toBe(403)
    expect((await ask(pair, '/v1/syncs/orders/run', { method: 'POST', headers: { origin: server.url } })).status).toBe(403)
    const rotated = await server.json(`/v1/keys/${id}/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ overlapSeconds: 0 }),
    })
    await eventually(async () => expect((await ask(pair, '/v1/orders')).status).toBe(401))
    const again = await signIn(textAt(rotated.body, 'key'))
    expect((await ask(again.pair, '/v1/orders')).status).toBe(200)
    await server.fetch(`/v1/keys/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${apiKey}` } })
    const ended = await ask(again.pair, '/v1/orders')
    expect(ended.status).toBe(401)
    expect(ended.headers.get('set-cookie')).toMatch(/^tallyman_session=; .*Max-Age=0/)
  })

  test('ends when API_KEY is another one, and when its time is over', async () => {
    const { pair } = await signIn(apiKey)
    const changed = await startServer(stage.database, { apiKey: 'another-key-of-sixteen' })
    expect((await ask(pair, '/v1/orders', {}, changed)).status).toBe(401)
    await changed.close()
    const late = await signIn(apiKey)
    await stage.database.execute(`UPDATE tallyman.sessions SET expires_at = now() - interval '1 second'`)
    expect((await ask(late.pair, '/v1/orders', {}, other)).status).toBe(401)
  })

  test('is not opened by guessing: wrong keys of an address are bounded', async () => {
    const guarded = await startServer(stage.database, { apiKey })
    const statuses: number[] = []
    for (let tries = 0; tries < 25; tries += 1) statuses.push((await signIn(`guess-of-the-key-${tries}`, {}, guarded)).status)
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401))
    expect(statuses.at(-1)).toBe(429)
    expect((await signIn(apiKey, {}, guarded)).status).toBe(429)
    await guarded.close()
  })

  test('goes on while somebody else at its address sends wrong keys', async () => {
    const shared = await startServer(stage.database, { apiKey })
    const { pair } = await signIn(apiKey, {}, shared)
    let status = 0
    for (let tries = 0; tries < 25; tries += 1) ({ status } = await signIn(`guess-of-the-key-${tries}`, {}, shared))
    expect(status).toBe(429)
    const answer = await ask(pair, '/v1/orders', {}, shared)
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null])
    await shared.close()
  })

  test('leads a browser that opens a page to the sign-in, and no program', async () => {
    const page = await server.fetch('/docs/', { headers: { accept: 'text/html' }, redirect: 'manual' })
    expect([page.status, page.headers.get('location')]).toEqual([303, '/console/sign-in?to=%2Fdocs%2F'])
    expect((await server.fetch('/docs/', { headers: { accept: '*/*' } })).status).toBe(401)
  })

  test('shows orders without their buyer', async () => {
    const { pair } = await signIn(apiKey)
    const of = async (init: RequestInit, path = '/v1/orders/1001'): Promise<unknown> => (await server.fetch(path, init)).json()
    const program = await of({ headers: { authorization: `Bearer ${apiKey}` } })
    expect(at(program, 'customerName')).not.toBe('•••')
    const person = await of({ headers: { cookie: pair } })
    for (const member of ['customerName', 'customerEmail', 'customerPhone']) {
      expect(at(person, member)).toBe(at(program, member) === null ? null : '•••')
    }
    expect(await of({ headers: { authorization: `Bearer ${apiKey}` } }, '/v1/orders/1001?masked=true')).toEqual(person)
    const shown = await of({ method: 'POST', headers: { cookie: pair, origin: server.url } }, '/v1/orders/1001/reveal')
    expect(shown).toMatchObject({ customerName: at(program, 'customerName'), customerPhone: at(program, 'customerPhone') })
  })
})
