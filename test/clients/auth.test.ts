import { describe, expect, test } from 'vitest'
import { type RefreshTokens, RefreshTokenUnreadable, renewalDueMs } from '../../src/clients/http/auth.ts'
import { MarketplaceFailure } from '../../src/clients/http/errors.ts'
import { ordersEndpoint, orderWrites } from '../../src/clients/marketplace/orders/orders.ts'
import { tokenOperation } from '../../src/clients/marketplace/token-authorisation.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import { eventually } from '../support/eventually.ts'
import { wireOrderSample } from './samples.ts'
import {
  type Answer,
  type ClientSettings,
  forever,
  generousLimits,
  type SeenRequest,
  sendJson,
  startClient,
  startServer,
} from './servers.ts'

const order = { order: wireOrderSample('108') }

const buildFailure = async (work: Promise<unknown>): Promise<MarketplaceFailure> => {
  try {
    await work
  } catch (error) {
    if (error instanceof MarketplaceFailure) return error
    throw error
  }
  throw new Error('expected a failure')
}

const unauthorized = { errors: { error: [{ code: 'UNAUTHORIZED.GMP_GATEWAY_API', severity: 'ERROR' }] } }

/** A marketplace that accepts only its newest token. */
const startStrict = async (options: { readonly onToken?: Answer; readonly expiresIn?: unknown } = {}) => {
  const state = { newest: '', issued: 0 }
  const server = await startServer((request, response, index) => {
    if (request.target === '/v3/token') {
      if (options.onToken !== undefined) return options.onToken(request, response, index)
      state.issued += 1
      state.newest = `token-${state.issued}`
      return sendJson(response, 200, { access_token: state.newest, token_type: 'Bearer', expires_in: options.expiresIn ?? 900 })
    }
    if (request.headers['xx_sec.access_token'] !== state.newest) return sendJson(response, 401, unauthorized)
    return sendJson(response, 200, order)
  })
  return { ...server, state }
}

const tokenRequests = (seen: readonly SeenRequest[]) => seen.filter((request) => request.target === '/v3/token')

describe('the access token', () => {
  test('is asked for by client credentials, once for many callers', async () => {
    const { url, seen } = await startStrict()
    const { client } = startClient(url)
    await Promise.all(Array.from({ length: 20 }, () => client.of(ordersEndpoint).get('108', { signal: forever() })))
    const [request] = tokenRequests(seen)
    expect(tokenRequests(seen)).toHaveLength(1)
    expect(request).toMatchObject({ method: 'POST', body: 'grant_type=client_credentials' })
    expect(request?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('client-1:hunter2-very-secret').toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'xx_svc.name': 'Tallyman',
      'xx_qos.correlation_id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  test('is renewed before its end', async () => {
    let now = Date.now()
    const { url, state } = await startStrict()
    const { client } = startClient(url, { now: () => now })
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    now += 700_000
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    expect(state.issued).toBe(1)
    now += 100_000
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    expect(state.issued).toBe(2)
    expect(renewalDueMs(0, 900_000)).toBe(780_000)
    expect(renewalDueMs(0, 40_000)).toBe(30_000)
  })

  test('serves on while an early renewal fails', async () => {
    let now = Date.now()
    let broken = false
    const { url, seen } = await startServer((request, response) => {
      if (request.target !== '/v3/token') return sendJson(response, 200, order)
      return broken ? sendJson(response, 503, '') : sendJson(response, 200, { access_token: 't', expires_in: '900' })
    })
    const { client } = startClient(url, { now: () => now })
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    broken = true
    now += 800_000
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    // One try, then a pause: the token operation is not asked again by every call.
    expect(tokenRequests(seen)).toHaveLength(2)
    now += 100_001
    expect(await buildFailure(client.of(ordersEndpoint).get('108', { signal: forever() }))).toMatchObject({
      kind: 'unavailable',
      operation: 'token',
      sent: 'never',
    })
  })

  test('that dies early is renewed once for a read, which goes out once more under an id of its own', async () => {
    const { url, seen, state } = await startStrict()
    const { client } = startClient(url)
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    state.newest = 'somebody else logged in'
    const answer = await client.of(ordersEndpoint).get('108', { signal: forever(), correlationId: 'given' })
    const reads = seen.filter((request) => request.method === 'GET').slice(1)
    expect(reads.map((request) => request.headers['xx_qos.correlation_id'])).toEqual(['given', answer?.correlationId])
    expect(answer?.correlationId).not.toBe('given')
    expect(tokenRequests(seen)).toHaveLength(2)
  })

  const acknowledge = (client: ReturnType<typeof startClient>['client'], correlationId: string) =>
    client.writer(orderWrites).send(client.of(ordersEndpoint).prepare.acknowledge('108'), { signal: forever(), correlationId })
  const listWrites = (seen: readonly SeenRequest[]) =>
    seen.filter(({ method, target }) => method === 'POST' && target !== '/v3/token')

  test('that dies early ends a write, which is never sent again by itself; the next one has a new token', async () => {
    const { url, seen, state } = await startStrict()
    const { client } = startClient(url)
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    state.newest = 'somebody else logged in'
    expect(await buildFailure(acknowledge(client, 'first'))).toMatchObject({
      kind: 'unavailable',
      sent: 'answered',
      staleToken: true,
      correlationId: 'first',
      httpStatus: 401,
      credentialsDead: false,
    })
    const answer = await acknowledge(client, 'second')
    expect(answer.correlationId).toBe('second')
    expect(listWrites(seen).map((request) => request.headers['xx_qos.correlation_id'])).toEqual(['first', 'second'])
    expect(tokenRequests(seen)).toHaveLength(2)
  })

  test.each(['', '<html>Log in</html>', '{"message":"Unauthorized"}'])(
    'a 401 %j on a write leaves open what happened; the next request has a new token',
    async (body) => {
      const { url, seen } = await startServer((request, response) => {
        if (request.target === '/v3/token') return sendJson(response, 200, { access_token: 't', expires_in: 900 })
        return request.method === 'GET' ? sendJson(response, 200, order) : sendJson(response, 401, body)
      })
      const { client } = startClient(url)
      expect(await buildFailure(acknowledge(client, 'c'))).toMatchObject({ kind: 'unknown', sent: 'answered', staleToken: false })
      expect(listWrites(seen)).toHaveLength(1)
      await client.of(ordersEndpoint).get('108', { signal: forever() })
      expect(tokenRequests(seen)).toHaveLength(2)
    },
  )

  test('is renewed once for many 401s that come together', async () => {
    const { url, seen, state } = await startStrict()
    const { client } = startClient(url)
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    state.newest = 'somebody else logged in'
    await Promise.all(Array.from({ length: 10 }, () => client.of(ordersEndpoint).get('108', { signal: forever() })))
    expect(tokenRequests(seen)).toHaveLength(2)
  })

  test('that is not accepted even when new ends in "try later", after two requests', async () => {
    for (const body of ['', unauthorized]) {
      const { url, seen } = await startServer((request, response) =>
        request.target === '/v3/token'
          ? sendJson(response, 200, { access_token: 't', expires_in: 900 })
          : sendJson(response, 401, body),
      )
      const { client } = startClient(url)
      const failure = await buildFailure(client.of(ordersEndpoint).get('1', { signal: forever() }))
      expect(failure).toMatchObject({ kind: 'unavailable', httpStatus: 401, credentialsDead: false, staleToken: false })
      expect(seen.filter((request) => request.target !== '/v3/token')).toHaveLength(2)
    }
  })

  test('does not die with the caller that asked for it first', async () => {
    let release = (): void => undefined
    const { url, seen } = await startServer((request, response) => {
      if (request.target !== '/v3/token') return sendJson(response, 200, order)
      release = () => sendJson(response, 200, { access_token: 't', expires_in: 900 })
    })
    const { client } = startClient(url)
    const impatient = new AbortController()
    const first = buildFailure(client.of(ordersEndpoint).get('108', { signal: impatient.signal }))
    const second = client.of(ordersEndpoint).get('108', { signal: forever() })
    await eventually(() => expect(tokenRequests(seen)).toHaveLength(1))
    impatient.abort()
    expect(await first).toMatchObject({ kind: 'unavailable', sent: 'never', networkCode: 'ABORTED' })
    release()
    expect((await second)?.record.ok).toBe(true)
    expect(tokenRequests(seen)).toHaveLength(1)
  })
})

describe('a refresh token', () => {
  const connection = { refreshToken: 'rt/first+1', partnerId: '10002' }
  const startRefresh = async (answer: object, status = 200, settings: Omit<ClientSettings, 'connection'> = {}) => {
    const server = await startServer((request, response) =>
      request.target === '/v3/token' ? sendJson(response, status, answer) : sendJson(response, 200, order),
    )
    const { client, logged } = startClient(server.url, { connection, ...settings })
    return { ...server, client, logged, read: () => client.of(ordersEndpoint).get('108', { signal: forever() }) }
  }
  const granted = { access_token: 't', token_type: 'Bearer', expires_in: 900 }

  test('is exchanged for an access token, with the client of the app and the partner header', async () => {
    const { seen, read } = await startRefresh({ ...granted, refresh_token: 'rt-second' })
    await read()
    const [request] = tokenRequests(seen)
    expect(request).toMatchObject({ method: 'POST', body: 'grant_type=refresh_token&refresh_token=rt%2Ffirst%2B1' })
    expect(request?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('client-1:hunter2-very-secret').toString('base64')}`,
      'xx_partner.id': '10002',
    })
    expect(seen.at(-1)?.headers).not.toHaveProperty('xx_partner.id')
  })

  test('has the id of the seller as partner, unless it has another one', async () => {
    const { seen, client } = await startRefresh(granted, 200)
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    const other = startClient((await startRefresh(granted)).url, { connection: { refreshToken: 'rt' } })
    expect(seen[0]?.headers['xx_partner.id']).toBe('10002')
    const { url, seen: seenByOther } = await startRefresh(granted)
    await startClient(url, { connection: { refreshToken: 'rt' } })
      .client.of(ordersEndpoint)
      .get('108', { signal: forever() })
    expect(seenByOther[0]?.headers['xx_partner.id']).toBe(other.client.sellerId)
  })

  test('that is newer than the configured one is used, and a replacement is handed over before its access token', async () => {
    const replaced: (string | null)[] = []
    const refreshTokens: RefreshTokens = {
      use: async (configured, request) => {
        expect(configured).toEqual({ sellerId: 'S-1', clientId: 'client-1', refreshToken: 'rt/first+1' })
        const result = await request('rt-second')
        replaced.push(result.replacement)
        return result
      },
    }
    const { seen, read } = await startRefresh({ ...granted, refresh_token: 'rt-third' }, 200, { refreshTokens })
    await read()
    expect([seen[0]?.body, replaced]).toEqual(['grant_type=refresh_token&refresh_token=rt-second', ['rt-third']])
  })

  test('an unreadable replacement does not cost the access token', async () => {
    const { read } = await startRefresh({ ...granted, refresh_token: 7 })
    expect((await read())?.record.ok).toBe(true)
  })

  test('that is refused is in no message, also when the answer echoes it', async () => {
    const body = { error: 'invalid_grant', error_description: 'rt/first+1 and rt%2Ffirst%2B1 are not valid' }
    const { read, logged } = await startRefresh(body, 400)
    const failure = await buildFailure(read())
    expect(failure).toMatchObject({ kind: 'unavailable', httpStatus: 400, credentialsDoubted: true })
    expect(JSON.stringify([failure, failure.message, failure.faults, logged])).not.toContain('first')
  })

  test('that cannot be decrypted counts as refused, and one that cannot be read as an outage', async () => {
    let fault: Error = new RefreshTokenUnreadable('no key fits')
    const { seen, read, logged } = await startRefresh(granted, 200, { refreshTokens: { use: () => Promise.reject(fault) } })
    expect(await buildFailure(read())).toMatchObject({
      kind: 'unavailable',
      credentialsDoubted: true,
      httpStatus: null,
      message: 'token unavailable: not sent, REFRESH_TOKEN_UNREADABLE',
    })
    fault = new Error('Postgres does not answer')
    const outage = await startRefresh(granted, 200, { refreshTokens: { use: () => Promise.reject(fault) } })
    expect(await buildFailure(outage.read())).toMatchObject({
      kind: 'unavailable',
      credentialsDoubted: false,
      message: 'token unavailable: not sent, REFRESH_TOKEN_UNAVAILABLE',
    })
    expect(outage.logged).toMatchObject([{ level: 'warn', fields: { seller_id: 'S-1', err: fault } }])
    expect([...seen, ...outage.seen, ...logged]).toEqual([])
  })
})

const refusing: readonly (readonly [number, object])[] = [
  [400, { error: 'invalid_client', error_description: 'hunter2-very-secret is wrong' }],
  [400, { errors: { error: [{ code: 'INVALID_REQUEST.GMP_GATEWAY_API', description: 'hunter2-very-secret' }] } }],
  [401, { error: 'invalid_client' }],
  [401, unauthorized],
  [403, { errors: [{ code: 'FORBIDDEN.GMP_GATEWAY_API' }] }],
]

/** A marketplace whose token operation answers as the test says, and a client on a clock of the test's. */
const startScripted = async () => {
  const script = { status: 200, body: {} as object | string, nowMs: Date.UTC(2026, 10, 22) }
  const server = await startServer((request, response) => {
    if (request.target !== '/v3/token') return sendJson(response, 200, order)
    return script.status === 200
      ? sendJson(response, 200, { access_token: 't', expires_in: 900 })
      : sendJson(response, script.status, script.body)
  })
  const now = () => script.nowMs
  const { client } = startClient(server.url, { now, budget: createInProcessBudget({ limits: generousLimits, now }) })
  const call = () => buildFailure(client.of(ordersEndpoint).get('108', { signal: forever() }))
  return { ...server, script, client, call }
}

describe('dead credentials', () => {
  test.each(refusing)(
    '%i %j of the token operation is believed the third time, a minute after the first',
    async (status, body) => {
      const { seen, script, client, call } = await startScripted()
      Object.assign(script, { status, body })
      const startMs = script.nowMs
      for (const [askedAfterMs, nextAfterMs] of [
        [0, 20_000],
        [20_000, 60_000],
      ] as const) {
        script.nowMs = startMs + askedAfterMs
        const before = seen.length
        for (let time = 0; time < 3; time += 1) {
          const failure = await call()
          expect(failure).toMatchObject({
            kind: 'unavailable',
            operation: 'token',
            sent: 'never',
            httpStatus: status,
            credentialsDead: false,
            retryAt: new Date(startMs + nextAfterMs),
          })
          expect(JSON.stringify([failure.message, failure.faults, failure.stack])).not.toContain('hunter2')
        }
        // Those who come before its time do not ask again.
        expect(seen.length - before).toBe(1)
      }
      script.nowMs = startMs + 60_000
      for (let time = 0; time < 3; time += 1) {
        expect(await call()).toMatchObject({ kind: 'refused', credentialsDead: true, sent: 'never', httpStatus: status })
      }
      script.nowMs += 86_400_000
      expect(await call()).toMatchObject({ credentialsDead: true })
      expect(seen).toHaveLength(3)

      // Somebody says that they are right now: the memory goes, and the next call asks.
      client.credentials.clearRefusals()
      expect(await call()).toMatchObject({ kind: 'unavailable', credentialsDead: false })
      script.status = 200
      client.credentials.clearRefusals()
      expect((await client.of(ordersEndpoint).get('108', { signal: forever() }))?.record.ok).toBe(true)
    },
  )

  test.each([
    [400, '<html>'],
    [400, ''],
    [401, '{"message":"Unauthorized"}'],
    [403, '<html>Access Denied</html>'],
    [403, { timestamp: 'x', status: 403, error: 'Forbidden', path: '/v3/token' }],
    [403, { errors: { error: [{ code: 'SYSTEM_ERROR.GMP_GATEWAY_API' }] } }],
    [400, { error: 'server_error' }],
    [404, { errors: [{ code: 'URI_NOT_FOUND' }] }],
    [503, { error: 'invalid_client' }],
  ])('%i %j of the token operation is an outage, however often it comes', async (status, body) => {
    const { seen, script, call } = await startScripted()
    Object.assign(script, { status, body })
    for (let minute = 0; minute < 10; minute += 1) {
      script.nowMs += 60_000
      expect(await call()).toMatchObject({ kind: 'unavailable', credentialsDead: false, sent: 'never', httpStatus: status })
    }
    expect(seen).toHaveLength(10)
  })

  test('an operation that answers now this and now that does not count as refusing', async () => {
    const { script, call } = await startScripted()
    for (let minute = 0; minute < 12; minute += 1) {
      script.nowMs += 300_000
      Object.assign(
        script,
        minute % 3 === 2 ? { status: 502, body: '<html>' } : { status: 400, body: { error: 'invalid_client' } },
      )
      expect(await call()).toMatchObject({ kind: 'unavailable', credentialsDead: false })
    }
  })

  test('a refusal of an early renewal does not end the token that still serves', async () => {
    const { seen, script, client } = await startScripted()
    await client.of(ordersEndpoint).get('108', { signal: forever() })
    Object.assign(script, { status: 400, body: { error: 'invalid_client' } })
    for (let step = 0; step < 11; step += 1) {
      script.nowMs += 80_000
      expect((await client.of(ordersEndpoint).get('108', { signal: forever() }))?.record.ok).toBe(true)
    }
    // Renewal is due after 780 s: asked then, and twenty seconds later at the earliest.
    expect(tokenRequests(seen)).toHaveLength(3)
  })

  test('asking by hand disregards the memory, tells what came of it, and revives when it is accepted', async () => {
    const { script, client, call, seen } = await startScripted()
    Object.assign(script, { status: 400, body: { error: 'invalid_client' } })
    for (const afterMs of [0, 20_000, 40_000]) {
      script.nowMs += afterMs
      await call()
    }
    expect(await call()).toMatchObject({ credentialsDead: true })
    expect(await client.credentials.check(forever())).toMatchObject({
      accepted: false,
      refused: true,
      failure: { credentialsDead: true, httpStatus: 400 },
    })
    Object.assign(script, { status: 503, body: '' })
    expect(await client.credentials.check(forever())).toMatchObject({ accepted: false, refused: false })
    expect(await call()).toMatchObject({ credentialsDead: true })
    expect(await client.credentials.check(AbortSignal.abort())).toMatchObject({ accepted: false, refused: false })
    script.status = 200
    const before = seen.length
    expect(await client.credentials.check(forever())).toEqual({ accepted: true })
    expect((await client.of(ordersEndpoint).get('108', { signal: forever() }))?.record.ok).toBe(true)
    expect(tokenRequests(seen.slice(before))).toHaveLength(1)
  })

  test('other answers of it are not: they are tried again', async () => {
    for (const status of [400, 401, 403, 404, 405, 423, 429, 500, 503]) {
      const { url } = await startStrict({ onToken: (_request, response) => sendJson(response, status, '<html>') })
      const { client } = startClient(url)
      expect(await buildFailure(client.of(ordersEndpoint).get('108', { signal: forever() }))).toMatchObject({
        kind: status === 429 ? 'throttled' : 'unavailable',
        credentialsDead: false,
        sent: 'never',
      })
    }
    const { url } = await startStrict({ onToken: (_request, response) => sendJson(response, 200, { access_token: '' }) })
    const { client } = startClient(url)
    const request = client.of(ordersEndpoint).prepare.acknowledge('1')
    expect(await buildFailure(client.writer(orderWrites).send(request, { signal: forever(), correlationId: 'c' }))).toMatchObject(
      {
        kind: 'unavailable',
        sent: 'never',
      },
    )
  })

  test('the token operation has a budget of its own', async () => {
    const { url, seen } = await startStrict()
    const budget = createInProcessBudget({ limits: { ...generousLimits, token: { tokens: 1, perMs: 3_600_000 } } })
    await budget.take('S-1', tokenOperation)
    const { client } = startClient(url, { budget })
    expect(await buildFailure(client.of(ordersEndpoint).get('108', { signal: forever() }))).toMatchObject({
      kind: 'throttled',
      operation: 'token',
      sent: 'never',
    })
    expect(seen).toEqual([])
  })
})
