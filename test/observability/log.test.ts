import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createLogger, createQuietLog, describeError, type Logger } from '../../src/observability/log.ts'
import { scrub } from '../../src/observability/redaction.ts'
import { eventually } from '../support/eventually.ts'

const collect = (secretHeaders: readonly string[] = []) => {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const log = createLogger({ level: 'info', format: 'json', destination, secretHeaders })
  return { lines, log }
}

describe('the log', () => {
  test('ISO time, level as a word, no more than asked for', () => {
    const { lines, log } = collect()
    log.debug('not shown')
    log.warn({ seller_id: 's1' }, 'hello')
    expect(lines).toEqual([
      { level: 'warn', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), seller_id: 's1', msg: 'hello' },
    ])
  })

  test.each(['json', 'pretty'] as const)('what a terminal would obey is shown, as %s', async (format) => {
    const destination = new PassThrough().setEncoding('utf8')
    const log = createLogger({ level: 'info', format, destination })
    const hostile = 'a\u001b[2J\u009b1m\u202eb\u2066c\b\rd\u007f'
    log.warn({ name: hostile, err: new Error(hostile) }, hostile)
    let written = ''
    destination.on('data', (chunk: string) => {
      written += chunk
    })
    const shown = 'a\\u001b[2J\\u009b1m\\u202eb\\u2066c'
    await eventually(() => expect(written.split(shown).length).toBeGreaterThan(3))
    // The colours of the format itself are none of the text; what would have been in it is missing above.
    const line = stripVTControlCharacters(written)
    expect(line).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    if (format === 'json') expect(JSON.parse(line)).toMatchObject({ name: hostile, msg: hostile, err: { message: hostile } })
  })

  test('secrets and personal data do not get through, at the depths at which we log', () => {
    const { lines, log } = collect(['AB_SEC.ACCESS_TOKEN'])
    const personal = { phone: '555-0100', email: 'a@b.c', address: { name: 'N. N.' }, postalAddress: {}, orderId: '7' }
    log.info(
      { token: 't', client_secret: 'c', headers: { authorization: 'Bearer x', 'AB_SEC.ACCESS_TOKEN': 'y', accept: 'json' } },
      'request',
    )
    log.info({ order: personal, deep: { order: personal } }, 'order')
    const [request, order] = lines
    expect(request).toMatchObject({
      token: '[redacted]',
      client_secret: '[redacted]',
      headers: { authorization: '[redacted]', 'AB_SEC.ACCESS_TOKEN': '[redacted]', accept: 'json' },
    })
    const hidden = { phone: '[redacted]', email: '[redacted]', address: '[redacted]', postalAddress: '[redacted]', orderId: '7' }
    expect(order).toMatchObject({ order: hidden, deep: { order: hidden } })
  })

  test('nor do they deeper, or in lists; what was logged stays as it is', () => {
    const { lines, log } = collect()
    const fields = { pages: [{ orders: [{ buyer: { contact: { phone: '555-0100', count: 2 } } }] }], at: new Date(0) }
    const before = structuredClone(fields)
    log.info(fields, 'page')
    expect(lines[0]).toMatchObject({ at: '1970-01-01T00:00:00.000Z' })
    expect(JSON.stringify(lines[0])).not.toContain('555-0100')
    expect(fields).toEqual(before)
  })

  class Buyer {
    readonly phone = '555-0100'
    readonly orderId = '7'
  }
  const circle: Record<string, unknown> = { phone: '555-0100', orderId: '7' }
  circle['self'] = circle
  const deep = { a: { b: { c: { d: { e: { f: { g: { h: { phone: '555-0100' } } } } } } } }, orderId: '7' }
  test.each([
    ['what all lines of a part of the program carry', (log: Logger) => log.child({ phone: '555-0100', orderId: '7' }).info('x')],
    ['within it', (log: Logger) => log.child({ order: new Buyer() }, { level: 'info' }).child({ email: 'a@b.c' }).info('x')],
    [
      'what it carries from now on',
      (log: Logger) => {
        const child = log.child({})
        child.setBindings({ order: { phone: '555-0100', orderId: '7' } })
        child.info('x')
      },
    ],
    ['an instance', (log: Logger) => log.info({ list: [new Buyer()] }, 'x')],
    ['an own prototype', (log: Logger) => log.info({ buyer: Object.assign(Object.create({ z: 1 }), { ...new Buyer() }) }, 'x')],
    ['what has a JSON of its own', (log: Logger) => log.info({ buyer: { toJSON: () => new Buyer() } }, 'x')],
    ['an error', (log: Logger) => log.info({ error: Object.assign(new Error('7'), { phone: '555-0100' }) }, 'x')],
    ['errors', (log: Logger) => log.info({ errors: [Object.assign(new Error('7'), { phone: '555-0100' })] }, 'x')],
    ['what is put into the message', (log: Logger) => log.info('x %j and %o', { ...new Buyer() }, [new Buyer()])],
    ['a circle', (log: Logger) => log.info(circle, 'x')],
    ['what is very deep', (log: Logger) => log.info({ deep, orderId: '7' }, 'x')],
    ['an address', (log: Logger) => log.info({ orderId: '7', at: new URL('postgres://u:555-0100@h/db') }, 'x')],
  ])('nor in %s', (_, write) => {
    const { lines, log } = collect()
    write(log)
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).toContain('7')
    expect(JSON.stringify(lines)).not.toMatch(/555-0100|a@b\.c/)
  })

  test('an error keeps its message, codes and causes, and loses requests, responses and row values', () => {
    const { lines, log } = collect()
    const cause = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(a@b.c) exists',
      table: 'orders',
    })
    const error = Object.assign(new Error('request to https://user:pw@host/x failed: Bearer abcdefghijkl', { cause }), {
      code: 'ETIMEDOUT',
      httpStatus: 503,
      request: { headers: { authorization: 'Bearer secret' } },
      response: { body: 'all of it' },
      options: { password: 'pw' },
    })
    log.error({ err: error }, 'broken')
    expect(lines[0]?.['err']).toEqual({
      type: 'Error',
      message: 'request to https://***@host/x failed: Bearer ***',
      stack: expect.not.stringContaining('pw'),
      code: 'ETIMEDOUT',
      http_status: 503,
      cause: { type: 'Error', message: 'duplicate key', code: '23505', table: 'orders' },
    })
  })

  test('anything thrown can be described, endless causes too', () => {
    expect(describeError('text')).toEqual({ type: 'string', message: 'text' })
    expect(describeError(null)).toEqual({ type: 'object', message: 'null' })
    expect(describeError({ message: 'postgres://me:pw@db/x is gone' }).message).toBe('postgres://***@db/x is gone')
    expect(describeError({ a: 1, b: 2 }).message).toBe('an object with a, b')
    expect(describeError({}).message).toBe('an object without members')
    const ring = new Error('ring')
    ring.cause = ring
    expect(JSON.stringify(describeError(ring)).length).toBeLessThan(5_000)
    expect(describeError(new AggregateError([new Error('one'), new Error('two')])).errors).toMatchObject([
      { message: 'one' },
      { message: 'two' },
    ])
    expect(scrub('secret whsec_abc+/= postgres://me:pw@db/x')).toBe('secret whsec_*** postgres://***@db/x')
    expect(scrub(`the key tly_${'a2'.repeat(6)}_${'b-C_'.repeat(10)}xyz is wrong`)).toBe('the key tly_a2a2a2a2a2a2_*** is wrong')
  })
})

describe('the quiet log', () => {
  const quietly = (maxKeys?: number) => {
    const { lines, log } = collect()
    const clock = { ms: 0 }
    const quiet = createQuietLog(log, { intervalMs: 1_000, nowMs: () => clock.ms, ...(maxKeys === undefined ? {} : { maxKeys }) })
    return { lines, clock, quiet }
  }

  test('tells a fault once an interval, with the number of those not told', () => {
    const { lines, clock, quiet } = quietly()
    for (clock.ms = 0; clock.ms < 2_500; clock.ms += 100) quiet.error('redis', { code: 'ECONNREFUSED' }, 'away')
    quiet.warn('other', {}, 'something else')
    expect(lines.map(({ msg, suppressed }) => [msg, suppressed])).toEqual([
      ['away', undefined],
      ['away', 9],
      ['away', 9],
      ['something else', undefined],
    ])
  })

  test('says when a fault is over, once, and tells the next one at once', () => {
    const { lines, clock, quiet } = quietly()
    quiet.recovered('redis', 'back')
    expect(lines).toEqual([])
    quiet.error('redis', {}, 'away')
    clock.ms = 400
    quiet.error('redis', {}, 'away')
    quiet.recovered('redis', 'back')
    quiet.recovered('redis', 'back')
    quiet.error('redis', {}, 'away')
    expect(lines.map(({ msg }) => msg)).toEqual(['away', 'back', 'away'])
    expect(lines[1]).toMatchObject({ level: 'info', away_ms: 400, suppressed: 1 })
  })

  test('remembers no more keys than it may', () => {
    const { lines, quiet } = quietly(2)
    for (const key of ['a', 'b', 'c', 'b', 'a']) quiet.warn(key, {}, key)
    expect(lines.map(({ msg }) => msg)).toEqual(['a', 'b', 'c', 'a'])
  })
})
