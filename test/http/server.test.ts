import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/db/database.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, membersAt, textAt } from '../support/json.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { defaultLimits, startServer, type TestServer } from './support.ts'

const key = 'a-key-of-sixteen-or-more'
const stage = withDatabase()
let open: TestServer
let locked: TestServer

beforeAll(async () => {
  open = await startServer(stage.database)
  locked = await startServer(stage.database, { apiKey: key })
})
afterAll(async () => {
  await open.close()
  await locked.close()
})

/** A request with headers that fetch does not let one set. */
const bare = (server: TestServer, path: string, options: { method?: string; headers?: Record<string, string>; body?: string }) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = httpRequest(
      `${server.url}${path}`,
      { method: options.method ?? 'GET', headers: options.headers ?? {} },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      },
    )
    sent.on('error', reject)
    sent.end(options.body)
  })

describe('problems', () => {
  test.each([
    ['an unknown address', '/v1/nothing', {}, 404, 'not-found'],
    ['an unknown command', '/v1/commands/x', {}, 404, 'not-found'],
    ['a method that is not allowed', '/v1/commands', { method: 'DELETE' }, 405, 'method-not-allowed'],
    ['a method that is not allowed below a parameter', '/v1/orders/1', { method: 'PUT' }, 405, 'method-not-allowed'],
    ['a limit out of bounds', '/v1/commands?limit=1001', {}, 400, 'invalid-request'],
    [
      'a cursor of another list',
      `/v1/orders?cursor=${Buffer.from('["commands","1"]').toString('base64url')}`,
      {},
      400,
      'invalid-cursor',
    ],
    ['a cursor that is none', '/v1/alarms?cursor=%00', {}, 400, 'invalid-cursor'],
    ['a zero character in the address', '/v1/events/a/%00', {}, 400, 'invalid-request'],
    ['a zero character in a parameter', '/v1/events?sellerId=%00', {}, 400, 'invalid-request'],
    [
      'half a surrogate pair in a body',
      '/v1/events/a/b/reject',
      { method: 'POST', body: '{"actor": "a", "reason": "\\ud800"}', headers: { 'content-type': 'application/json' } },
      422,
      'invalid-body',
    ],
    ['an address that cannot be decoded', '/v1/orders/%ff', {}, 400, 'malformed-request'],
    [
      'a body of another type',
      '/v1/commands/x/retry',
      { method: 'POST', body: 'a', headers: { 'content-type': 'text/csv' } },
      415,
      'unsupported-media-type',
    ],
    [
      'a body that is no JSON',
      '/v1/commands/x/retry',
      { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
      400,
      'malformed-json',
    ],
    [
      'a body with faults',
      '/v1/commands/x/retry',
      { method: 'POST', body: '{"actor":"","extra":1}', headers: { 'content-type': 'application/json' } },
      422,
      'invalid-body',
    ],
    ['a body that is missing', '/v1/commands/x/retry', { method: 'POST' }, 422, 'invalid-body'],
    [
      'an event of another type',
      '/v1/events',
      { method: 'POST', body: 'a', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported-media-type',
    ],
    [
      'a body beyond the bound',
      '/v1/events',
      { method: 'POST', body: 'a'.repeat(1_100_000), headers: { 'content-type': 'application/json' } },
      413,
      'body-too-large',
    ],
  ])('%s is one', async (_, path, init, status, code) => {
    const answer = await open.json(path, init)
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(answer.body).toMatchObject({ type: `urn:tallyman:problem:${code}`, status, code, instance: path.split('?')[0] })
    expect(at(answer.body, 'title')).toEqual(expect.any(String))
    expect(at(answer.body, 'detail')).toEqual(expect.any(String))
    expect(at(answer.body, 'correlationId')).toBe(answer.headers.get('x-correlation-id'))
    expect(answer.status).toBe(status)
  })

  test('errors are listed up to a limit, with their total number', async () => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`m${index}`, 1])))
    const headers = { 'content-type': 'application/json' }
    const answer = await open.json('/v1/commands/x/retry', { method: 'POST', body, headers })
    expect(answer).toMatchObject({ status: 422, body: { detail: expect.stringContaining('100 of 60001') } })
    expect(at(answer.body, 'errors')).toHaveLength(100)
    const lines = Array.from({ length: 30_000 }, () => ({ quantity: 0 }))
    const data = { purchaseOrderId: '1', lines }
    const event = { specversion: '1.0', id: 'many', source: 'a', type: 'erp.lines.unfulfillable', data }
    const posted = await open.fetch('/v1/events', {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(event),
    })
    expect(posted.status).toBe(422)
    expect((await posted.text()).length).toBeLessThan(50_000)
  })

  test('connections beyond the limit get 503 with Retry-After, and health is still answered', async () => {
    const narrow = await startServer(stage.database, { limits: { ...defaultLimits, connections: 3 } })
    const { port } = new URL(narrow.url)
    const idle = await Promise.all(
      Array.from(
        { length: 3 },
        () =>
          new Promise<Socket>((resolve, reject) => {
            const socket = connect(Number(port), '127.0.0.1', () => resolve(socket)).on('error', reject)
          }),
      ),
    )
    const refused = await narrow.json('/v1/orders')
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('connection')).toBe('close')
    for (const path of ['/livez', '/readyz']) expect((await narrow.fetch(path)).status).toBe(200)
    for (const socket of idle) socket.destroy()
    await expect.poll(async () => (await narrow.fetch('/v1/orders')).status).toBe(200)
    await narrow.close()
  })

  test('every route refuses a parameter that it does not know, and says which it does', async () => {
    const { body: document } = await open.json('/openapi.json')
    const operations = Object.entries(membersAt(document, 'paths')).flatMap(([path, methods]) =>
      Object.keys(membersAt(methods)).map((method) => ({ path: path.replaceAll(/\{\w+\}/g, '1'), method: method.toUpperCase() })),
    )
    expect(operations.length).toBeGreaterThan(35)
    for (const { path, method } of operations) {
      const answer = await open.json(`${path}?bogus=1`, { method })
      expect(answer, `${method} ${path}`).toMatchObject({ status: 400, body: { code: 'unknown-parameter' } })
    }
    const { body } = await open.json('/v1/events?dryrun=true&sellerid=1&limit=3')
    expect(at(body, 'errors')).toEqual([
      {
        path: 'query.dryrun',
        message:
          'is unknown; accepted: limit, cursor, state, type, sellerId, purchaseOrderId, source, id, receivedFrom, receivedTo',
      },
      {
        path: 'query.sellerid',
        message:
          'is unknown (did you mean sellerId?); accepted: limit, cursor, state, type, sellerId, purchaseOrderId, source, id, receivedFrom, receivedTo',
      },
    ])
    expect(at((await open.json('/livez?x=1')).body, 'errors', 0, 'message')).toBe('is unknown; the route has none')
    expect((await locked.json('/v1/orders?bogus=1')).status).toBe(401)
    expect(textAt((await open.json(`/v1/orders?${'a'.repeat(9_000)}=1`)).body, 'errors', 0, 'path').length).toBeLessThan(100)
  })

  test('a zero character or half a surrogate pair is none of any list’s cursors, filters and addresses', async () => {
    const { body: document } = await open.json('/openapi.json')
    const gets = Object.entries(membersAt(document, 'paths')).flatMap(([path, methods]) => {
      const { get } = methods as { get?: { parameters?: { name: string; in: string }[] } }
      return get === undefined ? [] : [{ path, parameters: get.parameters ?? [] }]
    })
    const keys = [['a\u0000'], ['s', 'a\u0000'], ['s', 'a', '\u0000'], ['1', 's', '\ud800', 'x'], 'a\u0000', '\ud800']
    let tried = 0
    for (const { path, parameters } of gets) {
      const list = path.slice('/v1/'.length)
      const base = path.replaceAll(/\{\w+\}/g, '1')
      const addresses = [
        ...(path.includes('{') ? [path.replaceAll(/\{\w+\}/g, '%00'), path.replaceAll(/\{\w+\}/g, 'a%00b')] : []),
        ...parameters
          .filter((parameter) => parameter.in === 'query')
          .flatMap(({ name }) => [`${base}?${name}=%00`, `${base}?${name}=a%00`, `${base}?${name}=%00&${name}=b`]),
        ...keys.map((key) => `${base}?cursor=${Buffer.from(JSON.stringify([list, key])).toString('base64url')}`),
      ]
      for (const address of addresses) {
        const { status } = await open.fetch(address)
        expect(status, address).toBe(400)
        tried += 1
      }
    }
    expect(tried).toBeGreaterThan(100)
  })

  test('a method that is not allowed names those that are', async () => {
    expect((await open.fetch('/v1/events', { method: 'PUT' })).headers.get('allow')?.split(', ').sort()).toEqual([
      'GET',
      'HEAD',
      'POST',
    ])
  })

  test('every error of a body is reported with its path', async () => {
    const { body } = await open.json('/v1/commands/x/retry', {
      method: 'POST',
      body: '{"actor":"","extra":1}',
      headers: { 'content-type': 'application/json' },
    })
    expect(
      listAt(body, 'errors')
        .map((fault) => at(fault, 'path'))
        .sort(),
    ).toEqual(['actor', 'extra', 'reason'])
  })

  test('a fault of ours shows nothing but a correlation id that stands in the log', async () => {
    const broken = await startServer(stage.database, {
      metrics: async () => {
        throw new Error('secret innards')
      },
    })
    const { status, body } = await broken.json('/metrics')
    await broken.close()
    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toContain('innards')
    const [line] = broken.log.filter((entry) => entry['correlation_id'] === at(body, 'correlationId'))
    expect(JSON.stringify(line)).toContain('secret innards')
  })

  test('an unreachable database is 503, with one log line for the outage and not one for each request', async () => {
    const url = new URL(stage.url)
    url.port = '1'
    const nowhere = openDatabase({ findVocabulary, url: url.href })
    const cut = await startServer(nowhere)
    const answer = await cut.json('/v1/orders')
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('5')
    const event = { specversion: '1.0', id: '1', source: 'a', type: 'erp.order.accepted', data: { purchaseOrderId: '1' } }
    const posted = await cut.json('/v1/events', {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(event),
    })
    expect(posted).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(posted.headers.get('retry-after')).toBe('5')
    const warnings = cut.log.filter(({ level }) => Number(level) >= 40)
    expect(warnings).toMatchObject([{ level: 40, msg: expect.stringContaining('answered with 503') }])
    expect((await cut.fetch('/livez')).status).toBe(200)
    await cut.close()
    await nowhere.close()
  })

  test('what is no HTTP at all gets one too', async () => {
    const { port } = new URL(open.url)
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('GARBAGE\r\n\r\n'))
      let text = ''
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      socket.on('end', () => resolve(text)).on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('application/problem+json')
    expect(answer).toContain('urn:tallyman:problem:malformed-request')
  })
})

describe('the key', () => {
  const paths = [
    '/v1/orders',
    '/v1/commands',
    '/v1/changes',
    '/v1/syncs',
    '/v1/quarantine',
    '/v1/campaigns',
    '/v1/discrepancies',
    '/v1/drift',
    '/v1/claims',
    '/v1/alarms',
    '/v1/retention',
    '/v1/overview',
    '/v1/late-returns',
    '/v1/shadow',
    '/metrics',
    '/queues',
    '/openapi.json',
    '/docs/',
    '/v1/events',
    '/v1/events/a/b',
    '/nothing',
  ]
  test.each(paths)('is needed for %s', async (path) => {
    const without = await locked.json(path)
    expect(without).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    expect(without.headers.get('www-authenticate')).toBeTruthy()
    expect((await locked.fetch(path, { headers: { authorization: `Bearer ${key}` } })).status).not.toBe(401)
  })

  // Not for every path: an address may send twenty wrong keys without waiting.
  test.each(paths.slice(0, 10))('must be right for %s', async (path) => {
    expect((await locked.fetch(path, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
  })

  test.each(['/livez', '/healthz', '/readyz', '/', '/console/orders?open=true', '/console/orders?sellerId=s-1', '/v1/session'])(
    'is not needed for %s',
    async (path) => {
      expect((await locked.fetch(path)).status).toBe(200)
    },
  )

  test('is needed for events that are not signed', async () => {
    expect((await locked.fetch('/v1/events', { method: 'POST' })).status).toBe(401)
  })

  test('may come as a password where a browser cannot set a header, and only there', async () => {
    const authorization = `Basic ${Buffer.from(`anybody:${key}`).toString('base64')}`
    expect((await locked.fetch('/queues', { headers: { authorization } })).status).toBe(200)
    expect((await locked.fetch('/v1/orders', { headers: { authorization } })).status).toBe(401)
  })
})

describe('a browser', () => {
  test.each(['evil.example', 'evil.example:8080', '192.168.1.10', '127.0.0.1.evil.example'])(
    'that calls the keyless server %s is refused',
    async (host) => {
      expect(await bare(open, '/v1/orders', { headers: { host } })).toMatchObject({ status: 403 })
      expect(await bare(locked, '/v1/orders', { headers: { host, authorization: `Bearer ${key}` } })).toMatchObject({
        status: 200,
      })
    },
  )

  test.each(['localhost', 'LOCALHOST:8080', '127.0.0.1', '[::1]:80'])('may call it %s', async (host) => {
    expect(await bare(open, '/v1/orders', { headers: { host } })).toMatchObject({ status: 200 })
  })

  test.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('on a page of another origin (%o) changes nothing, with or without a key', async (headers) => {
    const sent = { method: 'POST', headers: { ...headers, authorization: `Bearer ${key}` } }
    expect(await bare(open, '/v1/syncs/orders/run', sent)).toMatchObject({ status: 403 })
    expect(await bare(locked, '/v1/syncs/orders/run', sent)).toMatchObject({ status: 403 })
  })

  test('on our own page may', async () => {
    const headers = { origin: open.url, 'sec-fetch-site': 'same-origin' }
    expect(await bare(open, '/v1/syncs/orders/run', { method: 'POST', headers })).toMatchObject({ status: 202 })
  })

  test('gets a console that speaks to nobody else', async () => {
    const page = await open.fetch('/')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const text = await page.text()
    expect(text).toContain('<title>Tallyman</title>')
    expect(text).not.toMatch(/(src|href)="(https?:)?\/\//)
  })
})

describe('the OpenAPI document', () => {
  test('describes every route, its problems and its key', async () => {
    const { body } = await open.json('/openapi.json')
    expect(at(body, 'openapi')).toBe('3.1.0')
    const routes = Object.entries(membersAt(body, 'paths')).flatMap(([path, methods]) =>
      Object.keys(membersAt(methods)).map((method) => `${method} ${path}`),
    )
    expect(routes.sort()).toEqual([
      'delete /v1/alarm-channels/{id}',
      'delete /v1/campaigns/{campaignId}',
      'delete /v1/keys/{id}',
      'delete /v1/sellers/{id}',
      'delete /v1/session',
      'delete /v1/webhooks/{id}',
      'get /healthz',
      'get /livez',
      'get /metrics',
      'get /readyz',
      'get /v1/alarm-channels',
      'get /v1/alarm-channels/{id}',
      'get /v1/alarms',
      'get /v1/audit',
      'get /v1/budget',
      'get /v1/budget/operations',
      'get /v1/campaigns',
      'get /v1/campaigns/{campaignId}',
      'get /v1/changes',
      'get /v1/claims',
      'get /v1/claims/evidence',
      'get /v1/claims/items',
      'get /v1/claims/payments',
      'get /v1/claims/{id}',
      'get /v1/claims/{id}/evidence',
      'get /v1/commands',
      'get /v1/commands/{id}',
      'get /v1/completeness',
      'get /v1/discrepancies',
      'get /v1/drift',
      'get /v1/events',
      'get /v1/events/{source}/{id}',
      'get /v1/forecast',
      'get /v1/inbound-shipments',
      'get /v1/keys',
      'get /v1/lags',
      'get /v1/late-returns',
      'get /v1/order-states',
      'get /v1/orders',
      'get /v1/orders/{purchaseOrderId}',
      'get /v1/overview',
      'get /v1/pick-list',
      'get /v1/proposals',
      'get /v1/proposals/{id}',
      'get /v1/quarantine',
      'get /v1/reconciliation',
      'get /v1/reconciliation/{gtin}',
      'get /v1/resources',
      'get /v1/retention',
      'get /v1/search',
      'get /v1/sellers',
      'get /v1/session',
      'get /v1/settings',
      'get /v1/settlement-differences',
      'get /v1/shadow',
      'get /v1/shadow/counts',
      'get /v1/stock',
      'get /v1/stock-differences',
      'get /v1/syncs',
      'get /v1/syncs/{resource}/runs',
      'get /v1/targets',
      'get /v1/throughput',
      'get /v1/trends',
      'get /v1/webhooks',
      'get /v1/webhooks/{id}',
      'get /v1/webhooks/{id}/deliveries',
      'patch /v1/alarm-channels/{id}',
      'patch /v1/webhooks/{id}',
      'post /v1/alarm-channels',
      'post /v1/alarm-channels/{id}/test',
      'post /v1/alarms/{id}/resolve',
      'post /v1/alarms/{id}/silence',
      'post /v1/campaigns',
      'post /v1/claims/{id}',
      'post /v1/commands/{id}/confirm',
      'post /v1/commands/{id}/decide',
      'post /v1/commands/{id}/reject',
      'post /v1/commands/{id}/retry',
      'post /v1/demonstration/trouble',
      'post /v1/erasures',
      'post /v1/events',
      'post /v1/events/{source}/{id}/reject',
      'post /v1/keys',
      'post /v1/keys/{id}/rotate',
      'post /v1/notifications/{sellerId}',
      'post /v1/notifications/{sellerId}/token',
      'post /v1/orders/{purchaseOrderId}/reveal',
      'post /v1/proposals',
      'post /v1/proposals/{id}/approve',
      'post /v1/proposals/{id}/reject',
      'post /v1/quarantine/{id}/dismiss',
      'post /v1/quarantine/{id}/replay',
      'post /v1/quarantine/{id}/reveal',
      'post /v1/retention/run',
      'post /v1/sellers/reload',
      'post /v1/sellers/{id}/go-live',
      'post /v1/sellers/{id}/go-shadow',
      'post /v1/sellers/{id}/pause',
      'post /v1/sellers/{id}/resume',
      'post /v1/session',
      'post /v1/syncs/{resource}/run',
      'post /v1/webhooks',
      'post /v1/webhooks/{id}/redeliver',
      'post /v1/webhooks/{id}/rotate',
      'post /v1/webhooks/{id}/test',
    ])
    const problem = at(body, 'paths', '/v1/events', 'post', 'responses', '422', 'content', 'application/problem+json', 'schema')
    expect(JSON.stringify(problem)).toContain('Problem')
    expect(at(body, 'components', 'securitySchemes', 'apiKey')).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect(at(body, 'paths', '/livez', 'get', 'security')).toEqual([])
    expect(at(body, 'paths', '/v1/orders', 'get', 'security')).toEqual([{ apiKey: ['read'] }])
    expect(at(body, 'paths', '/v1/events', 'post', 'security')).toEqual([{ apiKey: ['events:write'] }, { signature: [] }])
    expect(at(body, 'paths', '/v1/keys', 'post', 'description')).toContain(
      'Needs the scope `operate`, of a key that is not bound to sellers.',
    )
    expect(Object.keys(membersAt(body, 'paths', '/v1/events', 'post', 'requestBody', 'content'))).toContain(
      'application/cloudevents+json',
    )
    expect(JSON.stringify(at(body, 'components', 'schemas', 'Command'))).toContain('date-time')
    // Every reference leads somewhere.
    for (const [, name] of JSON.stringify(body).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(membersAt(body, 'components', 'schemas'))).toContain(name)
    }
  })

  test('is shown by a page that loads nothing from other hosts', async () => {
    const page = await open.fetch('/docs/')
    expect(page.status).toBe(200)
    expect(await page.text()).not.toMatch(/(src|href)="(https?:)?\/\//)
    // Also where the daemon is reached without TLS: nothing may make the browser ask by https.
    const policy = page.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https:|upgrade-insecure-requests|swagger\.io/)
  })
})

describe('health', () => {
  test('answers 503 with the checks that fail', async () => {
    const ill = await startServer(stage.database, {
      health: {
        live: () => ({ ok: false, checks: [{ name: 'work', ok: false, detail: 'nothing consumed for 5 min' }] }),
        ready: async () => ({ ok: false, checks: [{ name: 'postgres', ok: false }] }),
      },
    })
    expect(await ill.json('/livez')).toMatchObject({
      status: 503,
      body: { status: 'failing', checks: [{ name: 'work', ok: false }] },
    })
    expect(await ill.json('/readyz')).toMatchObject({ status: 503, body: { status: 'failing' } })
    await ill.close()
    expect(await open.json('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await open.json('/readyz')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })

  test('is not ready once it drains, while requests are still served', async () => {
    const server = await startServer(stage.database)
    server.server.drain()
    expect(await server.json('/readyz')).toMatchObject({ status: 503, body: { checks: [{ name: 'not-draining', ok: false }] } })
    expect((await server.fetch('/v1/orders')).status).toBe(200)
    expect((await server.fetch('/livez')).status).toBe(200)
    await server.close()
    await expect(server.fetch('/livez')).rejects.toThrow()
  })

  test('finishes requests in progress when it closes', async () => {
    let answer: (() => void) | undefined
    const begun = Promise.withResolvers<void>()
    const server = await startServer(stage.database, {
      metrics: () =>
        new Promise((resolve) => {
          answer = () => resolve({ contentType: 'text/plain', body: 'whole' })
          begun.resolve()
        }),
    })
    const waiting = server.fetch('/metrics').then((response) => response.text())
    await begun.promise
    const closing = server.close()
    answer?.()
    expect(await waiting).toBe('whole')
    await closing
  })

  test('metrics are text as Prometheus asks for it', async () => {
    const response = await open.fetch('/metrics')
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await response.text()).toBe('tallyman_up 1\n')
  })
})
