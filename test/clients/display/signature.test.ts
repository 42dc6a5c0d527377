import { verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import type { SeenRequest } from '../servers.ts'
import { forever, generousLimits, sendJson } from '../servers.ts'
import { buildFailure, keys, secrets, startDisplay } from './support.ts'

const nothing = { code: 'success', details: '', totalResults: 0, data: [] }
const all = { startIndex: 0, count: 100 }

const signedBy = (request: SeenRequest | undefined, prefix = 'xx') => {
  const header = (name: string): string => String(request?.headers[name])
  const timestamp = header(`${prefix}_consumer.intimestamp`)
  const text = `${header(`${prefix}_consumer.id`)}\n${timestamp}\n${header(`${prefix}_sec.key_version`)}\n`
  const signature = header(`${prefix}_sec.auth_signature`)
  return {
    timestamp: Number(timestamp),
    signature,
    isGenuine: verify('RSA-SHA256', Buffer.from(text), keys.publicKey, Buffer.from(signature, 'base64')),
  }
}

describe('a display request', () => {
  test.each([
    [specification, 'xx'],
    [walmartUs, 'wm'],
  ])('is signed and carries the headers of the specification: $name', async (profile, prefix) => {
    const { display, seen } = await startDisplay((_request, response) => sendJson(response, 200, nothing), {
      connection: { profile, headerPrefix: profile.headerPrefix },
      path: '/api-proxy/display/',
    })
    const before = Date.now()
    await display.taxonomies.list({ level: 1, ...all }, { signal: forever(), correlationId: 'mine' })
    const [request] = seen
    expect(request?.method).toBe('POST')
    expect(request?.target).toBe('/api-proxy/display/api/v1/taxonomies/list')
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${secrets.authToken}`,
      'content-type': 'application/json',
      accept: 'application/json',
      [`${prefix}_consumer.id`]: 'consumer-7',
      [`${prefix}_sec.key_version`]: '1',
      [`${prefix}_qos.correlation_id`]: 'mine',
    })
    expect(request?.headers).not.toHaveProperty(`${prefix}_sec.access_token`)
    const { timestamp, isGenuine } = signedBy(request, prefix)
    expect(isGenuine).toBe(true)
    expect(Math.abs(timestamp - before)).toBeLessThan(60_000)
    // Nobody asked the marketplace for a token.
    expect(seen).toHaveLength(1)
  })

  test('is signed by the clock of the display host, ever anew', async () => {
    let skewMs = 3_600_000
    const { display, seen } = await startDisplay((_request, response) =>
      sendJson(response, 200, nothing, { date: new Date(Date.now() + skewMs).toUTCString() }),
    )
    for (let count = 0; count < 3; count += 1) await display.taxonomies.list(all, { signal: forever() })
    skewMs = 0
    const [first, second, third] = seen.map((request) => signedBy(request))
    expect([first, second, third].every((one) => one?.isGenuine)).toBe(true)
    expect((second?.timestamp ?? 0) - (first?.timestamp ?? 0)).toBeGreaterThan(3_590_000)
    expect(Math.abs((third?.timestamp ?? 0) - (second?.timestamp ?? 0))).toBeLessThan(60_000)
    expect(new Set(seen.map((request) => request.headers['xx_qos.correlation_id'])).size).toBe(3)
  })

  test('that is refused for its time goes out once more with a signature by the host’s clock', async () => {
    const skewMs = -600_000
    const { display, seen } = await startDisplay((request, response) => {
      const hostMs = Date.now() + skewMs
      const late = Math.abs(signedBy(request).timestamp - hostMs) > 180_000
      const body = late ? { code: 'failure', details: 'timestamp expired' } : nothing
      sendJson(response, late ? 401 : 200, body, { date: new Date(hostMs).toUTCString() })
    })
    await display.taxonomies.list(all, { signal: forever(), correlationId: 'first' })
    const [first, second] = seen.map((request) => signedBy(request))
    expect(seen).toHaveLength(2)
    expect([first?.isGenuine, second?.isGenuine]).toEqual([true, true])
    expect(first?.signature).not.toBe(second?.signature)
    expect(seen[1]?.headers['xx_qos.correlation_id']).not.toBe('first')
  })

  test('that is refused for its time twice is not sent a third time', async () => {
    const { display, seen } = await startDisplay((_request, response) =>
      sendJson(response, 401, { code: 'failure', details: 'timestamp expired' }),
    )
    expect((await buildFailure(display.taxonomies.list(all, { signal: forever() }))).kind).toBe('unavailable')
    expect(seen).toHaveLength(2)
  })

  test('that is refused for who sends it is final at once', async () => {
    const { display, seen } = await startDisplay((_request, response) =>
      sendJson(response, 401, { code: 'failure', details: 'unknown consumer' }),
    )
    expect(await buildFailure(display.taxonomies.list(all, { signal: forever() }))).toMatchObject({
      kind: 'refused',
      httpStatus: 401,
      credentialsDead: false,
    })
    expect(seen).toHaveLength(1)
  })
})

test.each(['', '<html>Log in</html>', '{"message":"Unauthorized"}'])(
  'a 401 %j that is no word of the host is an outage, not a refusal of who sends it',
  async (body) => {
    const { display, seen } = await startDisplay((_request, response) => sendJson(response, 401, body))
    expect(await buildFailure(display.taxonomies.list(all, { signal: forever() }))).toMatchObject({
      kind: 'unavailable',
      httpStatus: 401,
    })
    expect(seen).toHaveLength(1)
  },
)

test.each([0, 200, 470, 495])(
  'no secret comes out of a failure, even when the host echoes it after %i characters',
  async (before) => {
    const { display, seen, logged } = await startDisplay((request, response) => {
      const { authorization, 'xx_sec.auth_signature': signature } = request.headers
      const details = [`${'x'.repeat(before)} ${signature} ${signature}`, `got ${authorization}`]
      sendJson(response, 400, { code: 'failure', details: before > 200 ? details : details.reverse() })
    })
    const failure = await buildFailure(display.contextual.list(all, { signal: forever() }))
    const told = JSON.stringify([failure, failure.message, failure.faults, logged])
    expect(failure.faults).not.toEqual([])
    expect(told).not.toContain(secrets.authToken)
    expect(told).not.toContain(signedBy(seen[0]).signature.slice(0, 10))
  },
)

describe('a 429', () => {
  test('without a time means ten minutes, for this operation alone', async () => {
    const nowMs = Date.UTC(2026, 10, 22)
    const now = () => nowMs
    const { display, seen } = await startDisplay(
      (request, response) => sendJson(response, request.target.includes('v2') ? 200 : 429, { totalResults: 0, contextual: [] }),
      { now, budget: createInProcessBudget({ limits: generousLimits, now }) },
    )
    for (let count = 0; count < 2; count += 1) {
      expect(await buildFailure(display.taxonomies.list(all, { signal: forever() }))).toMatchObject({
        kind: 'throttled',
        retryAt: new Date(nowMs + 600_000),
      })
    }
    await display.contextual.list(all, { signal: forever() })
    expect(seen.map((request) => request.target)).toEqual(['/api/v1/taxonomies/list', '/api/v2/targeting/list'])
  })

  test('that names a time means that time', async () => {
    const { display } = await startDisplay((_request, response) =>
      sendJson(response, 429, { code: 'failure', details: 'slow down' }, { 'retry-after': '5' }),
    )
    const failure = await buildFailure(display.taxonomies.list(all, { signal: forever() }))
    expect(Math.abs((failure.retryAt?.getTime() ?? 0) - Date.now() - 5_000)).toBeLessThan(2_000)
  })
})
