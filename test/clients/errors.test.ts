import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Exchange, Verdict } from '../../src/clients/http/classify.ts'
import { classify, parseWaitMs, readBudgetSignal, toFailure } from '../../src/clients/http/classify.ts'
import type { FailureKind } from '../../src/clients/http/errors.ts'
import type { Operation } from '../../src/clients/http/operation.ts'
import { faultRules, readFaults } from '../../src/clients/marketplace/faults.ts'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { specification } from '../../src/clients/marketplace/profiles/index.ts'
import type { WireErrorBody } from './wire-errors.ts'

const now = Date.UTC(2026, 10, 21, 6, 0, 0)

const exchange = (overrides: Partial<Exchange>): Exchange => ({
  write: false,
  payloadKeys: ['order', 'returnOrders', 'list.elements', 'list.meta', 'access_token', 'payload'],
  sent: 'answered',
  status: 200,
  headers: {},
  bodyText: '{}',
  networkCode: null,
  nowMs: now,
  marketplaceNowMs: now,
  budgetHeaders: specification.budgetHeaders,
  rules: faultRules,
  ...overrides,
})

const findKind = (verdict: Verdict): FailureKind | 'ok' => (verdict.ok ? 'ok' : verdict.kind)

const read = (status: number, bodyText: string | null = '{}', more: Partial<Exchange> = {}) =>
  findKind(classify(exchange({ status, bodyText, ...more })))
const write = (status: number, bodyText: string | null = '{}', more: Partial<Exchange> = {}) =>
  findKind(classify(exchange({ status, bodyText, write: true, ...more })))

const nested = (code: string, more: object = {}) => JSON.stringify({ errors: { error: [{ code, severity: 'ERROR', ...more }] } })

const coded = nested('INVALID_REQUEST_CONTENT.GMP_ORDER_API', { field: 'data' })
const record = { order: { purchaseOrderId: '1' } }

/** The bodies that the table of the decision record names. */
const bodies: Readonly<Record<string, readonly (string | null)[]>> = {
  coded: [
    coded,
    nested('some code of the marketplace alone'),
    JSON.stringify({ errors: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' }] }),
    JSON.stringify({ error: [{ code: 'FORBIDDEN' }] }),
    JSON.stringify({ list: { errors: { error: [{ code: 'INVALID_REQUEST_PARAM.GMP_ORDER_API' }] } } }),
    JSON.stringify({ status: 'FAIL', errors: [{ code: '400.WFS.100', description: 'gtin/sku is required attribute.' }] }),
    JSON.stringify({ code: 'failure', details: 'no' }),
    JSON.stringify({ code: 'failure', details: ['TOO_MANY_FILTERS_PROVIDED_IN_REQUEST'] }),
  ],
  'coded as a programme': [nested('UNAUTHORIZED.GMP_GATEWAY_API', { description: 'Program Eligibility is not enabled' })],
  uncoded: [
    '<html><body>Access Denied</body></html>',
    '<?xml version="1.0"?><ns2:errors xmlns:ns2="http://x/"><ns2:error><ns2:code>FORBIDDEN</ns2:code></ns2:error></ns2:errors>',
    '',
    'no healthy upstream',
    '{}',
    '[]',
    'null',
    '{"message":"Forbidden"}',
    JSON.stringify({ timestamp: '2026-11-21', status: 404, error: 'Not Found', path: '/v3/orders' }),
    JSON.stringify({ title: 'Forbidden', detail: 'by the policy of this proxy' }),
    JSON.stringify({ errors: ['not allowed'] }),
    JSON.stringify({ errors: [{ code: 'Forbidden', message: 'no' }] }),
    JSON.stringify({ errors: { code: 'Forbidden' } }),
    JSON.stringify({ error: { code: 403, message: 'no', status: 'PERMISSION_DENIED' } }),
    JSON.stringify({ error: 'invalid_client' }),
    JSON.stringify({ code: 'failure' }),
    coded.slice(0, -1),
    null,
  ],
  'coded as a server fault': [
    nested('SYSTEM_ERROR.GMP_GATEWAY_API'),
    JSON.stringify({ errors: [{ code: 'INVALID_REQUEST' }, { code: 'DOWNSTREAM_SYSTEM_TIME_OUT' }] }),
    JSON.stringify({ errors: [{ code: '500.WFS.100' }] }),
    JSON.stringify({ status: 'INTERNAL_SERVER_ERROR', errors: [{ code: '400.WFS.100' }] }),
  ],
  'coded as a lock': [nested('RESOURCE_IS_LOCKED.GMP_ORDER_API')],
  'coded, beside the record': [JSON.stringify({ ...record, errors: [{ code: 'INVALID_REQUEST_CONTENT' }] })],
  'coded as an outage': [nested('INVALID_REQUEST.GMP_ORDER_API', { field: 'data', description: 'Invalid Request' })],
  'coded as a dead token': [nested('UNAUTHORIZED.GMP_GATEWAY_API')],
  'coded as a used-up budget': [nested('REQUEST_THRESHOLD_VIOLATED.GMP_GATEWAY_API'), nested('TOO_MANY_REQUESTS')],
  'coded with a known code': [coded, JSON.stringify({ errors: [{ code: 'CONTENT_NOT_FOUND' }] }), nested('400.WFS.100')],
  'coded with an unknown code': [nested('SOMETHING_ELSE'), JSON.stringify({ code: 'failure', details: ['no'] })],
  'a failure without a code': ['{"status":"FAIL"}', '{"error":"Not Found"}', '{"errors":["no"]}'],
  'the record': [
    JSON.stringify(record),
    JSON.stringify({ ...record, errors: [{ code: 'NOTE', severity: 'INFO' }] }),
    '{"list":{"meta":{}}}',
    '{"status":"OK","payload":{}}',
  ],
  'no JSON': ['', '<html>', '{"order":', 'null!'],
  cut: [null],
}
const buildHeaders: Readonly<Record<string, readonly Exchange['headers'][]>> = {
  ', with Retry-After': [{ 'retry-after': '7' }, { 'retry-after': new Date(now + 7_000).toUTCString() }],
  ', with a budget': [{ 'x-current-token-count': '0' }, { 'x-next-replenish-time': String(now + 5_000) }],
}

interface Row {
  readonly statuses: readonly (number | null)[]
  readonly body: string
  readonly read: string
  readonly write: string
}

const listRows = (text: string): readonly Row[] =>
  text.split('\n').flatMap((line): Row[] => {
    const [, status = '', body = '', forRead = '', forWrite = ''] = line.split('|').map((cell) => cell.trim())
    if (!/^\d|^none$/.test(status)) return []
    return [{ statuses: status === 'none' ? [null] : status.split(', ').map(Number), body, read: forRead, write: forWrite }]
  })

const told = (verdict: Verdict): string => `${findKind(verdict)}${!verdict.ok && verdict.renewToken ? ' + token' : ''}`

const listExchanges = ({ statuses, body }: Row): readonly Exchange[] => {
  const [status] = statuses
  if (status === null) {
    const codes = ['ENOTFOUND', 'ECONNREFUSED', 'EPROTO', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE', 'ABORTED']
    const sent = body === 'never sent' ? 'never' : 'maybe'
    return codes.map((networkCode) => exchange({ status: null, bodyText: null, networkCode, sent }))
  }
  const [suffix, headers] = Object.entries(buildHeaders).find(([name]) => body.endsWith(name)) ?? ['', [{}]]
  const texts = bodies[body.slice(0, body.length - suffix.length)]
  if (texts === undefined) throw new Error(`the test knows no body "${body}"`)
  return statuses.flatMap((one) =>
    texts.flatMap((bodyText) =>
      headers.map((given) =>
        exchange({ status: one, bodyText, headers: given, networkCode: bodyText === null ? 'ECONNRESET' : null }),
      ),
    ),
  )
}

const table = listRows(
  readFileSync(new URL('../../docs/decisions/0007-only-a-coded-answer-is-a-refusal.md', import.meta.url), 'utf8'),
)

describe('the table of refusals', () => {
  test('names every status that has a meaning of its own', () => {
    const named = new Set(table.flatMap(({ statuses }) => statuses))
    for (const status of [200, 302, 400, 401, 403, 404, 405, 408, 409, 423, 425, 429, 500, 502, 503, 504, 520, 521, null]) {
      expect(named).toContain(status)
    }
  })

  test.each(table)('$statuses, $body: a read is $read, a write $write', (row) => {
    const exchanges = listExchanges(row)
    expect(exchanges.length).toBeGreaterThan(0)
    for (const one of exchanges) {
      const { status, bodyText, headers } = one
      const name = JSON.stringify({ status, bodyText, headers })
      expect(told(classify({ ...one, write: false })), `read ${name}`).toBe(row.read)
      expect(told(classify({ ...one, write: true })), `write ${name}`).toBe(row.write)
    }
  })
})

describe('by status', () => {
  test.each([
    JSON.stringify({ errors: [{ code: 'UNAUTHORIZED.GMP_GATEWAY_API', description: 'Program Eligibility is not enabled' }] }),
    JSON.stringify({ message: 'Program Eligibility is not enabled for this seller' }),
  ])('a 401 about a programme is a refusal of the operation and asks for no new token: %s', (bodyText) => {
    const verdict = classify(exchange({ status: 401, bodyText }))
    expect(verdict).toMatchObject({ ok: false, kind: 'refused', notEnrolled: true, renewToken: false, contentNotFound: false })
    expect(classify(exchange({ status: 401, bodyText, write: true }))).toMatchObject({ notEnrolled: false, renewToken: true })
    expect(classify(exchange({ status: 500, bodyText }))).toMatchObject({ kind: 'unavailable', notEnrolled: false })
  })

  test('only a 401 asks for a new token', () => {
    for (const status of [200, 400, 403, 429, 500]) {
      const verdict = classify(exchange({ status }))
      expect(verdict.ok || !verdict.renewToken).toBe(true)
    }
  })

  test('a stale token is told of a write alone, and by the marketplace’s own word alone', () => {
    const unauthorized = nested('UNAUTHORIZED.GMP_GATEWAY_API')
    const of = (bodyText: string, forWrite: boolean) => classify(exchange({ status: 401, bodyText, write: forWrite }))
    expect(of(unauthorized, true)).toMatchObject({ kind: 'unavailable', sent: 'answered', staleToken: true })
    expect(of(unauthorized, false)).toMatchObject({ kind: 'unavailable', staleToken: false })
    expect(of('', true)).toMatchObject({ kind: 'unknown', staleToken: false })
  })

  test('a cut refusal leaves open whose word it was', () => {
    expect(write(400, null, { networkCode: 'ECONNRESET' })).toBe('unknown')
    expect(write(429, null, { networkCode: 'ECONNRESET' })).toBe('unknown')
    expect(write(429, null, { networkCode: 'ECONNRESET', headers: { 'retry-after': '1' } })).toBe('throttled')
  })

  test('words of OAuth are the marketplace’s own where it speaks them', () => {
    const judge = (body: object) =>
      findKind(classify(exchange({ status: 400, bodyText: JSON.stringify(body), speaksOAuth: true })))
    expect(judge({ error: 'invalid_client', error_description: 'd' })).toBe('refused')
    expect(judge({ error: 'server_error' })).toBe('unavailable')
    expect(judge({ error: 'Bad Request', status: 400 })).toBe('unavailable')
  })

  test('the outage refusal of reads is not final, that of writes is', () => {
    const body = nested('INVALID_REQUEST.GMP_ORDER_API', { field: 'data', description: 'Invalid Request' })
    expect(read(400, body)).toBe('unavailable')
    expect(write(400, body)).toBe('refused')
    expect(
      read(400, nested('INVALID_REQUEST.GMP_ORDER_API', { field: 'createdStartDate', description: 'Invalid Request' })),
    ).toBe('refused')
  })
})

describe('a 2xx answer', () => {
  test('without a usable body is unknown for a write and malformed for a read', () => {
    for (const body of ['', '<html>', '{"order":', 'null!']) {
      expect(write(200, body)).toBe('unknown')
      expect(read(200, body)).toBe('malformed')
    }
    expect(read(200, null, { networkCode: 'BODY_TOO_LARGE' })).toBe('malformed')
    expect(read(200, null, { networkCode: 'ECONNRESET' })).toBe('unavailable')
    expect(write(200, null, { networkCode: 'BODY_TOO_LARGE' })).toBe('unknown')
  })

  test('that carries errors instead of what was asked for is no success', () => {
    expect(read(200, nested('INVALID_REQUEST_CONTENT.INVALID_REQUEST'))).toBe('refused')
    expect(write(200, nested('INVALID_REQUEST_CONTENT.INVALID_REQUEST'))).toBe('refused')
    expect(write(200, nested('SYSTEM_ERROR.GMP_GATEWAY_API'))).toBe('unknown')
    expect(read(200, nested('SYSTEM_ERROR.GMP_GATEWAY_API'))).toBe('unavailable')
    expect(read(200, nested('REQUEST_THRESHOLD_VIOLATED.GMP_GATEWAY_API'))).toBe('throttled')
    expect(read(200, '{"status":"FAIL"}')).toBe('unavailable')
    expect(read(200, '{"status":"SERVICE_UNAVAILABLE"}')).toBe('unavailable')
    expect(write(200, '{"status":"FAIL"}')).toBe('unknown')
    expect(read(200, '{"code":"failure","details":["no"]}')).toBe('refused')
    expect(read(200, '{"list":{"errors":{"error":[{"code":"INVALID_REQUEST"}]}}}')).toBe('refused')
  })

  test('with remarks beside what was asked for is a success', () => {
    expect(read(200, '{"order":{},"errors":[{"code":"X","severity":"INFO"}]}')).toBe('ok')
    expect(read(206, '{"list":{"elements":{"order":[]}},"errors":[{"code":"SOME_CONTENT_NOT_FOUND","severity":"INFO"}]}')).toBe(
      'ok',
    )
    expect(read(200, '{"list":{"meta":{}}}')).toBe('ok')
    expect(read(200, '{"status":"OK","payload":{}}')).toBe('ok')
  })

  test('a write with both an order and an error leaves the outcome open', () => {
    expect(write(200, '{"order":{},"errors":[{"code":"INVALID_REQUEST_CONTENT"}]}')).toBe('unknown')
  })
})

describe('error bodies', () => {
  const published: readonly (readonly [WireErrorBody, string, string | null, string | null])[] = [
    [{ errors: { error: [{ code: 'C', field: 'f', description: 'd' }] } }, 'C', 'f', 'd'],
    [{ errors: [{ code: 'C', field: 'f', message: 'd' }] }, 'C', 'f', 'd'],
    [{ error: [{ code: 'C', field: 'f', info: 'd' }] }, 'C', 'f', 'd'],
    [{ error: 'invalid_client', error_description: 'd' }, 'invalid_client', null, 'd'],
    [{ status: 'FAIL', errors: [{ code: '400.WFS.100', description: 'd' }] }, '400.WFS.100', null, 'd'],
    [{ timestamp: '2026-11-21', status: 404, error: 'Not Found', path: '/x' }, 'Not Found', null, null],
    [{ code: 'failure', details: 'd' }, 'failure', null, 'd'],
    [{ code: 'failure', details: ['d', 'e'] }, 'failure', null, 'd; e'],
    [
      { status: 400, errors: [{ code: 'C', field: null, description: 'd', causes: ['e', { description: 'g' }] }] },
      'C',
      null,
      'd; e; g',
    ],
  ]
  const odd: readonly (readonly [object, string, string | null, string | null])[] = [
    [{ errors: { error: { code: 'C', field: 'f', description: 'd' } } }, 'C', 'f', 'd'],
    [{ title: 'Bad Request', detail: 'd' }, 'Bad Request', null, 'd'],
    [{ list: { errors: [{ code: 'C' }] } }, 'C', null, null],
    [{ errors: ['C'] }, 'C', null, null],
  ]
  test.each([...published, ...odd])('%j', (body, code, field, description) => {
    expect(readFaults(body)).toEqual([{ code, field, description }])
  })

  test('"none there" is told from "no such address"', () => {
    const found = (bodyText: string) => classify(exchange({ status: 404, bodyText }))
    expect(found(nested('CONTENT_NOT_FOUND.GMP_ORDER_API', { severity: 'INFO' }))).toMatchObject({ contentNotFound: true })
    expect(found(nested('URI_NOT_FOUND.GMP_GATEWAY_API'))).toMatchObject({ kind: 'refused', contentNotFound: false })
    const both = { errors: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API' }, { code: 'URI_NOT_FOUND.GMP_GATEWAY_API' }] }
    expect(found(JSON.stringify(both))).toMatchObject({ kind: 'refused', contentNotFound: false })
    for (const body of [
      '{"status":404,"error":"CONTENT_NOT_FOUND","path":"/v3"}',
      '{"errors":["CONTENT_NOT_FOUND"]}',
      '<html>',
      '',
    ]) {
      expect(found(body)).toMatchObject({ kind: 'unavailable', contentNotFound: false })
    }
  })

  test.each([
    "Failed when called acknowledge API for '108'. Some or all qty in higher status",
    'Failed when called shipConfirm API for 108. Qty OverShipped : 1',
    'Unable to process this request. The Line: 4 of PO: 108 is in SHIPPED status',
    "Line 1 doesn't have enough quantity to ship requested quantity",
    'Order was ALREADY acknowledged',
  ])('"%s" hints that it was done before', (description) => {
    const body = nested('INVALID_REQUEST_CONTENT.GMP_ORDER_API', { field: 'data', description })
    expect(classify(exchange({ status: 400, bodyText: body, write: true }))).toMatchObject({ kind: 'refused', alreadyDone: true })
    expect(classify(exchange({ status: 400, bodyText: body }))).toMatchObject({ alreadyDone: false })
  })

  test('a wrong line does not', () => {
    const body = nested('INVALID_REQUEST_CONTENT.GMP_ORDER_API', { description: 'Line: 1 of PO 108 does not exist' })
    expect(classify(exchange({ status: 400, bodyText: body, write: true }))).toMatchObject({ alreadyDone: false })
  })
})

describe('when to try again', () => {
  const retryAfterMs = (headers: Exchange['headers'], marketplaceNowMs = now) => {
    const verdict = classify(exchange({ status: 429, headers, marketplaceNowMs }))
    return verdict.ok ? null : (verdict.retryAt?.getTime() ?? Number.NaN) - now
  }

  test('is told by Retry-After, in seconds or as a date', () => {
    expect(retryAfterMs({ 'retry-after': '7' })).toBe(7_000)
    expect(retryAfterMs({ 'retry-after': new Date(now + 9_000).toUTCString() })).toBe(9_000)
  })

  test('or by either replenish header, in epoch ms, epoch s or ISO 8601', () => {
    for (const name of ['x-next-replenishment-time', 'x-next-replenish-time']) {
      expect(retryAfterMs({ [name]: String(now + 5_000) })).toBe(5_000)
      expect(retryAfterMs({ [name]: String((now + 5_000) / 1000) })).toBe(5_000)
      expect(retryAfterMs({ [name]: new Date(now + 5_000).toISOString() })).toBe(5_000)
    }
  })

  test('a date without a zone is UTC, wherever the daemon runs', () => {
    const zone = process.env['TZ']
    process.env['TZ'] = 'America/New_York'
    onTestFinished(() => {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    })
    const at = new Date(Math.ceil(now / 1_000) * 1_000 + 30_000)
    const iso = at.toISOString().slice(0, -1)
    const [day = '', date, month, year, time = ''] = at.toUTCString().split(' ')
    const asC = `${day.slice(0, 3)} ${month} ${date} ${time} ${year}`
    for (const value of [iso, iso.slice(0, 19), iso.replace('T', ' '), `${day} ${date} ${month} ${year} ${time}`, asC])
      expect(retryAfterMs({ 'retry-after': value }), value).toBe(at.getTime() - now)
  })

  test('Retry-After goes first, and dates are on the marketplace’s clock', () => {
    expect(retryAfterMs({ 'retry-after': '3', 'x-next-replenish-time': String(now + 50_000) })).toBe(3_000)
    const ahead = now + 3 * 86_400_000
    expect(retryAfterMs({ 'x-next-replenish-time': String(ahead + 4_000) }, ahead)).toBe(4_000)
    // A date that makes no sense on that clock, but does on ours.
    expect(retryAfterMs({ 'x-next-replenish-time': String(now + 4_000) }, ahead)).toBe(4_000)
  })

  test('is never in the past, never further than a day, and always something', () => {
    expect(retryAfterMs({})).toBe(2_000)
    expect(retryAfterMs({ 'retry-after': 'soon' })).toBe(2_000)
    expect(retryAfterMs({ 'retry-after': '0' })).toBe(1_000)
    expect(retryAfterMs({ 'retry-after': '99999999' })).toBe(86_400_000)
    expect(retryAfterMs({ 'x-next-replenish-time': '1' })).toBe(1_000)
    expect(retryAfterMs({ 'x-next-replenish-time': new Date(now - 86_400_000).toISOString() })).toBe(1_000)
  })

  // Below nothing, with a sign, in 1973, in microseconds, and of twenty digits.
  test.each(['-5', '+60', '100000000', String(now * 1_000), '99999999999999999999'])('is unknown where it says %s', (value) => {
    expect(parseWaitMs(value, now, now)).toBeNull()
    expect(retryAfterMs({ 'retry-after': value })).toBe(2_000)
    expect(retryAfterMs({ 'x-next-replenish-time': value })).toBe(2_000)
  })

  test('a wait fits a timer whatever the header says', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.integer().map(String), fc.date().map(String), fc.bigInt().map(String)),
        fc.integer(),
        (value, drift) => {
          const wait = parseWaitMs(value, now, now + drift)
          if (wait !== null) expect(wait >= 0 && wait <= 86_400_000).toBe(true)
        },
      ),
    )
  })

  test('the budget is read from headers of any answer', () => {
    const headers = { 'x-current-token-count': '0', 'x-next-replenish-time': String(now + 1_500) }
    expect(readBudgetSignal({ ...exchange({ headers }), status: 200 })).toEqual({
      status: 200,
      remaining: 0,
      replenishAt: new Date(now + 1_500),
      retryAfter: null,
    })
    expect(readBudgetSignal({ ...exchange({ headers: { 'x-current-token-count': '-1' } }), status: 200 }).remaining).toBeNull()
    // One spelling that cannot be read does not hide the other.
    const both = { 'x-next-replenishment-time': 'soon', 'x-next-replenish-time': String(now + 1_500) }
    expect(readBudgetSignal({ ...exchange({ headers: both }), status: 200 }).replenishAt).toEqual(new Date(now + 1_500))
  })
})

const anyExchange: fc.Arbitrary<Exchange> = fc.record({
  payloadKeys: fc.constant(exchange({}).payloadKeys),
  rules: fc.constant(faultRules),
  write: fc.boolean(),
  sent: fc.constantFrom('never', 'maybe', 'answered'),
  status: fc.option(fc.integer({ min: 100, max: 999 }), { nil: null }),
  headers: fc.dictionary(fc.constantFrom('retry-after', 'x-current-token-count', 'x-next-replenish-time', 'date'), fc.string()),
  bodyText: fc.option(
    fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .constantFrom('CONTENT_NOT_FOUND.X', 'SYSTEM_ERROR', 'REQUEST_THRESHOLD_VIOLATED', 'FOO', 'UNAUTHORIZED')
        .map((code) => nested(code)),
      fc
        .record(
          { errors: fc.jsonValue(), error: fc.jsonValue(), status: fc.jsonValue(), order: fc.jsonValue(), list: fc.jsonValue() },
          { requiredKeys: [] },
        )
        .map((body) => JSON.stringify(body)),
    ),
    { nil: null },
  ),
  networkCode: fc.option(fc.string(), { nil: null }),
  nowMs: fc.constant(now),
  marketplaceNowMs: fc.integer({ min: now - 1e9, max: now + 1e9 }),
  budgetHeaders: fc.constant(specification.budgetHeaders),
})

describe('any exchange at all', () => {
  test('gets a verdict, and a failure that can be thrown', () => {
    fc.assert(
      fc.property(anyExchange, (seen) => {
        const verdict = classify(seen)
        if (verdict.ok) return
        const failure = toFailure(verdict, { operation: 'orders.ship', sellerId: 'S', correlationId: 'c' })
        expect(failure.kind).toBe(verdict.kind)
        if (failure.kind === 'throttled') expect(failure.retryAt).not.toBeNull()
      }),
      { numRuns: 2_000 },
    )
  })

  test('also when its body is nested without end', () => {
    const nesting: readonly (readonly [string, string])[] = [
      ['[', ']'],
      ['{"error":', '}'],
      ['{"errors":{"error":[{"causes":[', ']}]}}'],
    ]
    for (const [open, close] of nesting) {
      const deep = `${open.repeat(50_000)}1${close.repeat(50_000)}`
      const bodyText = `{"code":"failure","details":${deep},"error":${deep},"errors":${deep}}`
      expect(findKind(classify(exchange({ status: 400, bodyText })))).toBe('refused')
      expect(findKind(classify(exchange({ status: 200, bodyText, write: true })))).toBe('unknown')
    }
  })

  test('a write of which parts ended differently (207) is unknown, whatever its body says', () => {
    expect(findKind(classify(exchange({ status: 207, bodyText: coded, write: true })))).toBe('unknown')
    expect(findKind(classify(exchange({ status: 200, bodyText: coded, write: true })))).toBe('refused')
  })

  test('a write that may have been applied is unknown, never something to send again', () => {
    fc.assert(
      fc.property(anyExchange, (seen) => {
        const verdict = classify({ ...seen, write: true })
        const { status, sent } = seen
        const lost = status === null && sent !== 'never'
        const serverFault =
          status !== null && (status >= 500 || status < 200 || (status >= 300 && status < 400) || status === 408)
        if (lost) expect(findKind(verdict)).toBe('unknown')
        if (serverFault) expect(['unknown', 'unavailable', 'throttled']).toContain(findKind(verdict))
        if (serverFault && status !== null && (status >= 500 || status < 400)) expect(findKind(verdict)).toBe('unknown')
        // A 2xx is a success, or the outcome is open, or the body itself says that nothing was done.
        if (
          status !== null &&
          status >= 200 &&
          status < 300 &&
          ['unavailable', 'throttled', 'refused'].includes(findKind(verdict))
        ) {
          expect(readFaults(JSON.parse(seen.bodyText ?? 'null')).length > 0 || /"status":/.test(seen.bodyText ?? '')).toBe(true)
        }
        expect(findKind(verdict)).not.toBe('malformed')
      }),
      { numRuns: 2_000 },
    )
  })

  test('a read is never unknown', () => {
    fc.assert(
      fc.property(anyExchange, (seen) => {
        expect(findKind(classify({ ...seen, write: false }))).not.toBe('unknown')
      }),
    )
  })

  test('nothing but the marketplace’s own word refuses, and no write is throttled or unavailable without one or a budget', () => {
    fc.assert(
      fc.property(anyExchange, (seen) => {
        const verdict = classify(seen)
        if (verdict.ok) return
        if (verdict.kind === 'refused') expect(verdict.fromMarketplace).toBe(true)
        const certain = verdict.kind === 'unavailable' || verdict.kind === 'throttled'
        if (seen.write && seen.status !== null && certain && !verdict.fromMarketplace) {
          expect(verdict.kind).toBe('throttled')
          expect(Object.keys(seen.headers)).not.toEqual([])
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('a failure says when the word was not the marketplace’s', () => {
    const verdict = classify(exchange({ status: 403, bodyText: '<html>' }))
    if (verdict.ok) throw new Error('expected a failure')
    expect(toFailure(verdict, { operation: 'orders.get', sellerId: 'S', correlationId: 'c' }).message).toBe(
      'orders.get unavailable: HTTP 403, not from the marketplace itself',
    )
  })

  test('a message holds names and numbers only', () => {
    const body = nested('BAD CODE with hunter2', { field: 'Ada Example', description: 'hunter2 for Ada Example' })
    const verdict = classify(exchange({ status: 400, bodyText: body }))
    if (verdict.ok) throw new Error('expected a failure')
    expect(toFailure(verdict, { operation: 'orders.get', sellerId: 'S', correlationId: 'c' }).message).toBe(
      'orders.get refused: HTTP 400',
    )
  })
})

test.each(Object.values(ordersEndpoint.operations).filter(({ write }: Operation) => write === true))(
  'a refusal of $name that brings an order in whatever wrapping leaves open whether it was done',
  ({ payloadKeys }) => {
    const errors = { error: [{ code: 'INVALID_REQUEST_CONTENT.GMP_ORDER_API', field: 'data' }] }
    for (const brings of [{ order: {} }, { list: { elements: {} } }, { payload: {} }])
      expect(write(400, JSON.stringify({ errors, ...brings }), { payloadKeys })).toBe('unknown')
    expect(write(400, JSON.stringify({ errors }), { payloadKeys })).toBe('refused')
  },
)

test.each([
  ['U+0000', 'The carrier \u0000 is not known', 'The carrier \ufffd is not known'],
  ['a pair that the longest text cuts in two', `${'x'.repeat(499)}\u{1F4E6}!`, `${'x'.repeat(499)}\ufffd`],
])('a refusal whose words hold %s can be stored', (_what, description, kept) => {
  const verdict = classify(
    exchange({ status: 400, write: true, bodyText: nested('INVALID_REQUEST_CONTENT.GMP_ORDER_API', { description }) }),
  )
  expect(verdict.ok).toBe(false)
  expect(verdict.faults).toEqual([expect.objectContaining({ description: kept })])
})
