import { describe, expect, test } from 'vitest'
import { renewalDueMs } from '../../src/clients/auth.ts'
import { createInProcessBudget } from '../../src/clients/budget.ts'
import { MarketplaceFailure } from '../../src/clients/errors.ts'
import { eventually } from '../support/eventually.ts'
import { wireOrderSample } from './samples.ts'
import { type Answer, forever, generousLimits, type SeenRequest, sendJson, startClient, startServer } from './servers.ts'

const ORDER = { order: wireOrderSample('108') }

async function failureOf(work: Promise<unknown>): Promise<MarketplaceFailure> {
  try {
    await work
  } catch (error) {
    if (error instanceof MarketplaceFailure) return error
    throw error
  }
  throw new Error('expected a failure')
}

/** A marketplace that accepts only its newest token. */
async function startStrict(options: { readonly onToken?: Answer; readonly expiresIn?: unknown } = {}) {
  const state = { newest: '', issued: 0 }
  const server = await startServer((request, response, index) => {
    if (request.target === '/v3/token') {
      if (options.onToken !== undefined) return options.onToken(request, response, index)
      state.issued += 1
      state.newest = `token-${state.issued}`
      return sendJson(response, 200, { access_token: state.newest, token_type: 'Bearer', expires_in: options.expiresIn ?? 900 })
    }
    if (request.headers['xx_sec.access_token'] !== state.newest) return sendJson(response, 401, { error: 'unauthorized' })
    return sendJson(response, 200, ORDER)
  })
  return { ...server, state }
}

const tokenRequests = (seen: readonly SeenRequest[]) => seen.filter((request) => request.target === '/v3/token')

describe('the access token', () => {
  test('is asked for by client credentials, once for many callers', async () => {
    const { url, seen } = await startStrict()
    const { client } = startClient(url)
    await Promise.all(Array.from({ length: 20 }, () => client.orders.get('108', { signal: forever() })))
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
    await client.orders.get('108', { signal: forever() })
    now += 700_000
    await client.orders.get('108', { signal: forever() })
    expect(state.issued).toBe(1)
    now += 100_000
    await client.orders.get('108', { signal: forever() })
    expect(state.issued).toBe(2)
    expect(renewalDueMs(0, 900_000)).toBe(780_000)
    expect(renewalDueMs(0, 40_000)).toBe(30_000)
  })

  test('serves on while an early renewal fails', async () => {
    let now = Date.now()
    let broken = false
    const { url, seen } = await startServer((request, response) => {
      if (request.target !== '/v3/token') return sendJson(response, 200, ORDER)
      return broken ? sendJson(response, 503, '') : sendJson(response, 200, { access_token: 't', expires_in: '900' })
    })
    const { client } = startClient(url, { now: () => now })
    await client.orders.get('108', { signal: forever() })
    broken = true
    now += 800_000
    await client.orders.get('108', { signal: forever() })
    await client.orders.get('108', { signal: forever() })
    // One try, then a pause: the token operation is not asked again by every call.
    expect(tokenRequests(seen)).toHaveLength(2)
    now += 100_001
    expect(await failureOf(client.orders.get('108', { signal: forever() }))).toMatchObject({
      kind: 'unavailable',
      operation: 'token',
      sent: 'never',
    })
  })

  test('that dies early is renewed once after a 401, even for a write, under a new correlation id', async () => {
    const { url, seen, state } = await startStrict()
    const { client } = startClient(url)
    await client.orders.get('108', { signal: forever() })
    state.newest = 'somebody else logged in'
    const answer = await client.orders.send(client.orders.prepare.acknowledge('108'), {
      signal: forever(),
      correlationId: 'given',
    })
    const writes = seen.filter((request) => request.method === 'POST' && request.target !== '/v3/token')
    expect(writes.map((request) => request.headers['xx_qos.correlation_id'])).toEqual(['given', answer.correlationId])
    expect(answer.correlationId).not.toBe('given')
    expect(tokenRequests(seen)).toHaveLength(2)
  })

  test('is renewed once for many 401s that come together', async () => {
    const { url, seen, state } = await startStrict()
    const { client } = startClient(url)
    await client.orders.get('108', { signal: forever() })
    state.newest = 'somebody else logged in'
    await Promise.all(Array.from({ length: 10 }, () => client.orders.get('108', { signal: forever() })))
    expect(tokenRequests(seen)).toHaveLength(2)
  })

  test('that is not accepted even when new ends in "try later", after two requests', async () => {
    const { url, seen } = await startServer((request, response) =>
      request.target === '/v3/token'
        ? sendJson(response, 200, { access_token: 't', expires_in: 900 })
        : sendJson(response, 401, ''),
    )
    const { client } = startClient(url)
    const failure = await failureOf(
      client.orders.send(client.orders.prepare.acknowledge('1'), { signal: forever(), correlationId: 'c' }),
    )
    expect(failure).toMatchObject({ kind: 'unavailable', httpStatus: 401, credentialsDead: false })
    expect(seen.filter((request) => request.target !== '/v3/token')).toHaveLength(2)
  })

  test('does not die with the caller that asked for it first', async () => {
    let release = (): void => undefined
    const { url, seen } = await startServer((request, response) => {
      if (request.target !== '/v3/token') return sendJson(response, 200, ORDER)
      release = () => sendJson(response, 200, { access_token: 't', expires_in: 900 })
    })
    const { client } = startClient(url)
    const impatient = new AbortController()
    const first = failureOf(client.orders.get('108', { signal: impatient.signal }))
    const second = client.orders.get('108', { signal: forever() })
    await eventually(() => expect(tokenRequests(seen)).toHaveLength(1))
    impatient.abort()
    expect(await first).toMatchObject({ kind: 'unavailable', sent: 'never', networkCode: 'ABORTED' })
    release()
    expect((await second)?.record.ok).toBe(true)
    expect(tokenRequests(seen)).toHaveLength(1)
  })
})

describe('dead credentials', () => {
  test.each([400, 401, 403])('%i of the token operation is final and remembered', async (status) => {
    const { url, seen } = await startStrict({
      onToken: (_request, response) =>
        sendJson(response, status, { error: 'invalid_client', error_description: 'hunter2-very-secret is wrong' }),
    })
    const { client } = startClient(url)
    for (let call = 0; call < 3; call += 1) {
      const failure = await failureOf(client.orders.get('108', { signal: forever() }))
      expect(failure).toMatchObject({
        kind: 'refused',
        credentialsDead: true,
        operation: 'token',
        sent: 'never',
        httpStatus: status,
      })
      expect(JSON.stringify([failure.message, failure.faults, failure.stack])).not.toContain('hunter2')
    }
    expect(seen).toHaveLength(1)
  })

  test('other answers of it are not: they are tried again', async () => {
    for (const status of [404, 405, 423, 429, 500, 503]) {
      const { url } = await startStrict({ onToken: (_request, response) => sendJson(response, status, '<html>') })
      const { client } = startClient(url)
      expect(await failureOf(client.orders.get('108', { signal: forever() }))).toMatchObject({
        kind: status === 429 ? 'throttled' : 'unavailable',
        credentialsDead: false,
        sent: 'never',
      })
    }
    const { url } = await startStrict({ onToken: (_request, response) => sendJson(response, 200, { access_token: '' }) })
    const write = startClient(url).client.orders
    expect(await failureOf(write.send(write.prepare.acknowledge('1'), { signal: forever(), correlationId: 'c' }))).toMatchObject({
      kind: 'unavailable',
      sent: 'never',
    })
  })

  test('the token operation has a budget of its own', async () => {
    const { url, seen } = await startStrict()
    const budget = createInProcessBudget({ limits: { ...generousLimits, token: { tokens: 1, perMs: 3_600_000 } } })
    await budget.take('S-1', 'token')
    const { client } = startClient(url, { budget })
    expect(await failureOf(client.orders.get('108', { signal: forever() }))).toMatchObject({
      kind: 'throttled',
      operation: 'token',
      sent: 'never',
    })
    expect(seen).toEqual([])
  })
})
