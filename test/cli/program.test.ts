import { createServer } from 'node:net'
import { InvalidArgumentError } from 'commander'
import { describe, expect, test } from 'vitest'
import { parseCount, parseSeconds, parseTime } from '../../src/cli/arguments.ts'
import { cli } from './run.ts'

describe('misuse exits with 2 and says what is wrong', () => {
  test.each([
    [[], /Usage: tallyman/],
    [['bogus'], /unknown command 'bogus'/],
    [['--bogus'], /unknown option '--bogus'/],
    [['doctor', '--bogus'], /unknown option '--bogus'/],
    [['doctor', 'surplus'], /too many arguments/],
    [['sync'], /missing required argument 'resource'/],
    [['backfill', 'orders'], /required option '--from <date>'/],
    [['backfill', 'orders', '--from', 'yesterday'], /a date such as 2026-03-01/],
    [['backfill', 'orders', '--from', '2026-02-30'], /a date such as 2026-03-01/],
    [['backfill', 'orders', '--from', '2026-03-02', '--to', '2026-03-01'], /--to must be later than --from/],
    [['commands', 'list', '--limit', '0'], /a whole number of at least 1/],
    [['forecast', '--hours', '169'], /option '--hours <number>' argument '169' is invalid. a whole number from 1 to 168/],
    [['forecast', '--hours', '0'], /a whole number from 1 to 168/],
    [['commands', 'show'], /missing required argument 'id'/],
    [['commands', 'retry', 'c1'], /required option '--reason <text>'/],
    [['commands', 'reject', 'c1', '--reason'], /argument missing/],
    [['send'], /missing required argument/],
    [['send', '/no/such/file.json'], /cannot be read/],
    [['quarantine', 'replay'], /give the id of one record, or --all/],
    [['quarantine', 'replay', '1', '--all'], /give the id of one record, or --all/],
    [['campaigns', 'watch'], /missing required argument 'id'/],
    [['campaigns', 'unwatch'], /missing required argument 'id'/],
    [['sellers', 'pause', 's-1'], /required option '--reason <text>'/],
    [['sellers', 'resume'], /missing required argument 'id'/],
    [['reconcile'], /give either a month .--month 2026-03. or an item of the current month/],
    [['reconcile', '--month', '2026-03', '--gtin', '00012345678905'], /give either a month/],
    [['reconcile', '--month', '2026-13'], /a month such as 2026-03/],
    [['reconcile', '--month', '2026-3'], /a month such as 2026-03/],
    [['migrate'], /DATABASE_URL is unset/],
    [['grants'], /DATABASE_URL is unset/],
    [['erase', '--reason', 'x'], /required option '--customer-order <id>'/],
    [['erase', '--customer-order', '1'], /required option '--reason <text>'/],
    [['erase', '--customer-order', '1', '--reason', 'x', '--json'], /no confirmation is possible: use --yes or --dry-run/],
    [['doctor', '--units', '--sandbox', 'localhost:1'], /--sandbox is not an address/],
  ])('tallyman %j', async (args, message) => {
    const { code, out, messages } = await cli(args)
    expect(code).toBe(2)
    expect(messages).toMatch(message)
    expect(out).toBe('')
  })

  test.each([
    [{ TALLYMAN_URL: 'daemon:8080' }, /TALLYMAN_URL is not an address/],
    [{ PORT: 'http' }, /PORT is not a port/],
    [{ PORT: '70000' }, /PORT is not a port/],
    [{ API_KEY_FILE: '/no/such/key' }, /API_KEY_FILE: \/no\/such\/key cannot be read/],
    [{ API_KEY: 'a', API_KEY_FILE: 'b' }, /API_KEY and API_KEY_FILE are both set/],
  ])('a wrong setting: %j', async (environment, message) => {
    const { code, messages } = await cli(['commands'], environment)
    expect(code).toBe(2)
    expect(messages).toMatch(message)
  })

  test.each([
    ['no JSON', /standard input is not JSON/],
    ['[]', /neither a CloudEvent/],
    ['"text"', /neither a CloudEvent/],
    ['[1]', /neither a CloudEvent/],
  ])('send - with %s', async (input, message) => {
    const { code, messages } = await cli(['send', '-'], {}, { input })
    expect(code).toBe(2)
    expect(messages).toMatch(message)
  })
})

test('help and version are no mistakes and go to standard output', async () => {
  for (const args of [['--help'], ['doctor', '--help'], ['commands', 'retry', '--help'], ['--version']]) {
    const { code, out, messages } = await cli(args)
    expect(code).toBe(0)
    expect(out).not.toBe('')
    expect(messages).toBe('')
  }
})

test('a daemon that cannot be reached is a failure that says what to do', async () => {
  // A port that was free a moment ago and that nobody listens on now.
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  for (const args of [['commands'], ['sync', 'orders'], ['quarantine', '--json'], ['reconcile', '--month', '2026-03']]) {
    const { code, out, messages } = await cli(args, { PORT: String(address.port) })
    expect(code).toBe(1)
    expect(messages).toContain(`the daemon cannot be reached at http://127.0.0.1:${address.port} (connect ECONNREFUSED`)
    expect(messages).toContain('npm start')
    expect(out).toBe('')
  }
})

test('without a terminal nothing is coloured', async () => {
  const { messages } = await cli(['commands'], { PORT: '1' })
  expect(messages).not.toContain('\u001b')
})

describe('option values', () => {
  test('a date is its midnight in UTC, a moment keeps its offset', () => {
    expect(parseTime('2026-03-01').toISOString()).toBe('2026-03-01T00:00:00.000Z')
    expect(parseTime('2026-03-01T10:00+02:00').toISOString()).toBe('2026-03-01T08:00:00.000Z')
    expect(parseTime('2026-03-01T10:00:01.5Z').toISOString()).toBe('2026-03-01T10:00:01.500Z')
  })
  test.each(['', '2026', '2026-13-01', '2026-02-30', '2026-03-01T10:00:00', '01.03.2026', '2026-03-01T25:00:00Z'])(
    'no date: %j',
    (text) => {
      expect(() => parseTime(text)).toThrow(InvalidArgumentError)
    },
  )
  test.each(['', '0', '-1', '1.5', 'x', '1e3'])('no count: %j', (text) => {
    expect(() => parseCount(text)).toThrow(InvalidArgumentError)
  })
  test('seconds may be none', () => {
    expect(parseSeconds('0')).toBe(0)
    expect(() => parseSeconds('1m')).toThrow(InvalidArgumentError)
  })
})
