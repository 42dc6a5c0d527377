import path from 'node:path'
import { PassThrough } from 'node:stream'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { describeError, Misused } from '../../src/api-client/errors.ts'
import { buildEventsRequest } from '../../src/api-client/events.ts'
import { buildRefused } from '../../src/api-client/failures.ts'
import { parseBackfillEnd } from '../../src/cli/commands/syncs.ts'
import { computeUnits } from '../../src/cli/doctor/sandbox-effects.ts'
import { computeProgress, createIdleTime, type SyncStream } from '../../src/cli/output/backfill-progress.ts'
import { openProgress } from '../../src/cli/output/progress.ts'
import { duration, paint, print, printJson, printMessage, type Terminal, table } from '../../src/cli/output/terminal.ts'
import { readCliSettings } from '../../src/cli/settings.ts'
import { cli } from './run.ts'

// The default folder may be that of a daemon which runs in this checkout, and then says where it listens.
const nowhere = path.join(import.meta.dirname, 'no-daemon-here')

describe('settings', () => {
  test('the default address of the daemon is on this machine', () => {
    expect(readCliSettings({ DATA_DIR: nowhere }).daemonUrl).toBe('http://127.0.0.1:8080')
    expect(readCliSettings({ PORT: '9000', SANDBOX_PORT: '9001' })).toMatchObject({
      daemonUrl: 'http://127.0.0.1:9000',
      sandboxUrl: 'http://127.0.0.1:9001',
    })
    expect(readCliSettings({ PORT: '9000', TALLYMAN_URL: 'https://tallyman.example/' }).daemonUrl).toBe(
      'https://tallyman.example',
    )
  })
  test('empty variables count as unset', () => {
    const unset = { API_KEY: '', TALLYMAN_URL: ' ', PORT: '' }
    expect(readCliSettings({ ...unset, DATA_DIR: nowhere })).toMatchObject({ apiKey: null, daemonUrl: 'http://127.0.0.1:8080' })
    expect(readCliSettings({ ...unset, DATA_DIR: ' ' }).dataDir).toBe('.data')
  })
  test('the first secret signs while two are given for rotation', () => {
    expect(readCliSettings({ EVENTS_SECRET: 'whsec_new, whsec_old' }).eventsSecret).toBe('whsec_new')
  })
})

describe('what the daemon refuses', () => {
  test('title, detail and every fault with its path', () => {
    const body = JSON.stringify({
      title: 'The event is invalid',
      detail: '2 faults',
      code: 'invalid-event',
      errors: [
        { path: 'data.lines[0].quantity', message: 'must be at least 1' },
        { path: '[1].type', message: 'is missing' },
      ],
    })
    const refused = buildRefused(422, JSON.parse(body), undefined, 'POST /v1/events')
    expect(refused.message).toBe('POST /v1/events: The event is invalid: 2 faults')
    expect(refused.notes).toEqual(['data.lines[0].quantity: must be at least 1', '[1].type: is missing'])
    expect(refused.code).toBe('invalid-event')
  })
  test('a detail that only repeats the title is said once', () => {
    const body = JSON.stringify({ title: 'There is no such thing', detail: 'There is no such thing.' })
    expect(buildRefused(404, JSON.parse(body), undefined, 'GET /x').message).toBe('GET /x: There is no such thing')
  })
  test('a body that is no problem document', () => {
    expect(buildRefused(502, undefined, undefined, 'GET /x').message).toBe('GET /x: HTTP 502')
  })
  test('401 says which setting is missing', () => {
    expect(buildRefused(401, '', undefined, 'GET /x').notes.join()).toContain('API_KEY')
  })
  test('a missing or wrong signature asks for the secret of events, not for the key', () => {
    const notes = buildRefused(401, { code: 'invalid-signature' }, undefined, 'POST /v1/events').notes.join()
    expect(notes).toContain('EVENTS_SECRET')
    expect(notes).not.toContain('API_KEY')
  })
  test('Retry-After in seconds', () => {
    expect(buildRefused(503, '', '7', 'GET /x').retryAfterMs).toBe(7_000)
  })
})

describe('events on the wire', () => {
  const event = { specversion: '1.0', id: '1', source: 's', type: 't', data: {} }
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  test('one event is structured, a list is a batch', () => {
    expect(buildEventsRequest(event, null, new Date()).headers['content-type']).toMatch(/^application\/cloudevents\+json/)
    expect(buildEventsRequest([event], null, new Date()).headers['content-type']).toMatch(/^application\/cloudevents-batch\+json/)
    expect(buildEventsRequest(event, null, new Date()).headers).not.toHaveProperty('webhook-id')
  })
  test('the signature is one of Standard Webhooks; the same events carry the same id', () => {
    const { headers, body } = buildEventsRequest(event, secret, new Date())
    expect(new Webhook(secret).verify(body, { ...headers })).toEqual(event)
    expect(buildEventsRequest(event, secret, new Date(0)).headers['webhook-id']).toBe(headers['webhook-id'])
  })
  test('a secret that cannot sign is misuse', () => {
    expect(() => buildEventsRequest(event, 'whsec_', new Date())).toThrow(Misused)
  })
})

describe('tables', () => {
  test('columns are as wide as their widest cell, no space at line ends', () => {
    const columns = [{ heading: 'id' }, { heading: 'n', align: 'right' as const }, { heading: 'why' }]
    expect(
      table(columns, [
        ['a', '10', ''],
        ['long', '2', 'x'],
      ]),
    ).toBe(['id     n  why', 'a     10', 'long   2  x'].join('\n'))
  })
  test('control characters of foreign texts do not reach the terminal', () => {
    expect(table([{ heading: 'x' }], [['a\u001b[31mb\nc']])).toBe('x\na\\u001b[31mb c')
  })
  test('colours do not count for the width', () => {
    const painted = table([{ heading: 'a' }, { heading: 'b' }], [[{ text: 'x', tone: 'bad' }, 'y']], (_tone, text) => `<${text}>`)
    expect(painted).toBe('<a>  <b>\n<x>  y')
  })
})

describe('a table on a terminal', () => {
  const columns = [{ heading: 'id' }, { heading: 'reason' }, { heading: 'of' }]
  const rows = [['c-1', 'the marketplace refuses it for a reason that takes many words', 'a seller with a rather long name']]

  test('takes no more room than there is; the widest columns give way first', () => {
    const lines = table(columns, rows, undefined, 40).split('\n')
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40)
    expect(lines[1]).toBe('c-1  the marketplace…  a seller with a…')
  })

  test('keeps what fits, and never makes a column narrower than eight', () => {
    expect(table(columns, rows, undefined, 200)).toBe(table(columns, rows))
    expect(table(columns, rows, undefined, 10).split('\n')[1]).toBe('c-1  the mar…  a selle…')
  })

  test('is whole where it is no terminal', async () => {
    const { out } = await cli(['--version'], {}, { columns: 5 })
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('texts from outside', () => {
  const buildTerminal = (isTTY: boolean) => {
    const written: string[] = []
    const stream = Object.assign(new PassThrough(), { isTTY, getColorDepth: () => 8 })
    stream.setEncoding('utf8').on('data', (text: string) => written.push(text))
    const terminal: Terminal = { out: stream, messages: stream, json: false }
    return { terminal, written: () => written.join('') }
  }
  const hostile = 'tea\u001b]0;mine\u0007\u009b2J\u202eeno\u2066\u2028\u00ad\u{e0041}\r\b\u007f'
  const shown = 'tea\\u001b]0;mine\\u0007\\u009b2J\\u202eeno\\u2066\\u2028\\u00ad\\udb40\\udc41\\u000d\\u0008\\u007f'
  // Joined emoji, a word with a zero-width non-joiner, Hebrew, Hangul, a tab.
  const innocent = '\u{1f469}\u200d\u{1f4bb} \u0645\u06cc\u200c\u062e\u0648 \u05e9\u05dc\u05d5\u05dd \ud55c\uae00\tx'

  test('show what a terminal would obey, and leave the rest as it is', () => {
    for (const isTTY of [true, false]) {
      const { terminal, written } = buildTerminal(isTTY)
      print(terminal, `${hostile}${innocent}`)
      printMessage(terminal, hostile)
      expect(written()).toBe(`${shown}${innocent}\n${shown}\n`)
    }
  })
  test('keep no colour of their own; ours stay, on a terminal', () => {
    const colours = { env: process.env['NO_COLOR'], force: process.env['FORCE_COLOR'] }
    Reflect.deleteProperty(process.env, 'NO_COLOR')
    Reflect.deleteProperty(process.env, 'FORCE_COLOR')
    try {
      for (const [isTTY, expected] of [
        [true, '\u001b[31ma\\u001b[32mb\u001b[39m c\\u001b[0m\n'],
        [false, 'a\\u001b[32mb c\\u001b[0m\n'],
      ] as const) {
        const { terminal, written } = buildTerminal(isTTY)
        print(terminal, `${paint(terminal.out, 'bad', 'a\u001b[32mb')} c\u001b[0m`)
        expect(written()).toBe(expected)
      }
    } finally {
      if (colours.env !== undefined) process.env['NO_COLOR'] = colours.env
      if (colours.force !== undefined) process.env['FORCE_COLOR'] = colours.force
    }
  })
  test('are the same as JSON, with nothing in it that a terminal obeys', () => {
    const { terminal, written } = buildTerminal(true)
    printJson(terminal, { [hostile]: [hostile, innocent] })
    expect(JSON.parse(written())).toEqual({ [hostile]: [hostile, innocent] })
    expect(written()).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  })
  test('stand on one line in a bar and in a line of progress', () => {
    const progress = computeProgress([])
    for (const isTTY of [true, false]) {
      const { terminal, written } = buildTerminal(isTTY)
      const opened = openProgress(terminal, `orders${hostile}`)
      opened.show({ ...progress, trouble: `${hostile}\nok` })
      opened.close()
      expect(written()).toContain('waiting: tea\\u001b]0;mine')
      for (const part of ['\u001b]', '\u0007', '\u009b', '\u202e', '\nok']) expect(written()).not.toContain(part)
    }
  })
})

test.each([
  [0, '0 ms'],
  [12.4, '12 ms'],
  [-1_500, '1 s'],
  [125_000, '2 m 5 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
])('%d ms is %s', (ms, words) => {
  expect(duration(ms)).toBe(words)
})

test('the innermost cause is what went wrong', () => {
  const fetchFailed = new TypeError('fetch failed', { cause: new AggregateError([new Error('connect ECONNREFUSED ::1:1')], '') })
  expect(describeError(fetchFailed)).toBe('connect ECONNREFUSED ::1:1')
  expect(describeError('text')).toBe('text')
})

test('a unit that was cancelled after it was acknowledged is acknowledged no longer', () => {
  const effects = { acknowledged: 5, shipped: 2, cancelled: 3, cancelledAfterAcknowledged: 2, refunded: 1 }
  expect(computeUnits(effects)).toEqual({ acknowledged: 3, shipped: 2, cancelled: 3, refunded: 1 })
})

describe('progress of a backfill', () => {
  const stream = (changes: Partial<SyncStream['totals']>, rest: Partial<SyncStream> = {}): SyncStream => ({
    sellerId: 'S',
    resource: 'orders',
    stream: 'backfill:20260301T000000Z:20260311T000000Z',
    running: true,
    windowsPending: 5,
    failures: 0,
    totals: {
      windowsTotal: 10,
      windowsDone: 5,
      seen: 50,
      changed: 40,
      quarantined: 1,
      windowSeen: 0,
      windowTotal: null,
      skipped: 0,
      ...changes,
    },
    ...rest,
  })
  test('counts windows, and the records of the current window', () => {
    expect(computeProgress([stream({})]).done).toBe(0.5)
    expect(computeProgress([stream({ windowSeen: 100, windowTotal: 200 })]).done).toBe(0.55)
    expect(computeProgress([stream({ windowSeen: 300, windowTotal: 200 })]).done).toBe(0.6)
  })
  test('sellers add up; it is finished when no window is left', () => {
    const done = stream({ windowsDone: 10 }, { windowsPending: 0 })
    expect(computeProgress([done, stream({})])).toMatchObject({
      done: 0.75,
      finished: false,
      seen: 100,
      changed: 80,
      quarantined: 2,
    })
    expect(computeProgress([done, done])).toMatchObject({ done: 1, finished: true })
  })
  test('nothing begun is nothing done, and never finished', () => {
    expect(computeProgress([])).toMatchObject({ done: 0, finished: false })
  })
  test('reports times out of reach and skipped parts', () => {
    const parts = [
      stream({ skipped: 1, outOfReachBefore: '2026-05-01T00:00:00.000Z' }),
      stream({ outOfReachBefore: '2026-05-26T00:00:00.000Z' }),
    ]
    expect(computeProgress(parts)).toMatchObject({ skipped: 1, outOfReachBefore: '2026-05-26T00:00:00.000Z' })
    expect(computeProgress([stream({})])).toMatchObject({ skipped: 0, outOfReachBefore: null })
  })
  test('a failing stream says why', () => {
    expect(computeProgress([stream({}, { failures: 2, lastError: 'HTTP 500' })]).trouble).toBe('seller S: HTTP 500')
  })
  test('is idle while nothing begins for its seller, but not in the pause after a failure, nor while the worker does something else', () => {
    const waiting = (rest: Partial<SyncStream> = {}) => stream({}, { running: false, ...rest })
    const other = (rest: Partial<SyncStream>) => stream({}, { running: false, stream: 'changed', windowsPending: 0, ...rest })
    const idleAfter = (all: readonly SyncStream[], later: readonly SyncStream[] = all) => {
      const idleTime = createIdleTime(0)
      idleTime(all, all.slice(0, 1), 1_000)
      return idleTime(later, later.slice(0, 1), 700_000)
    }
    expect(idleAfter([waiting()])).toBe(699_000)
    expect(idleAfter([waiting()], [waiting({ lastStartedAt: '2026-03-11T00:00:00Z' })])).toBe(0)
    expect(idleAfter([waiting(), other({})], [waiting(), other({ running: true })])).toBe(0)
    expect(idleAfter([waiting(), other({ sellerId: 'T', running: true })])).toBe(699_000)
    expect(idleAfter([waiting({ failures: 1 })])).toBe(99_000)
  })
  test('the range is read from the name of its stream', () => {
    const from = new Date('2026-03-01T00:00:00Z')
    expect(parseBackfillEnd('backfill:20260301T000000Z:20260311T101112Z', from)).toEqual(new Date('2026-03-11T10:11:12Z'))
    expect(parseBackfillEnd('backfill:20260302T000000Z:20260311T101112Z', from)).toBeNull()
    expect(parseBackfillEnd('changed:SellerFulfilled', from)).toBeNull()
  })
})
