import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeInactive } from '../../src/cli/commands/sellers.ts'
import { stopSellerNow } from '../daemon/support.ts'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import { type Rig, startRig } from './rig.ts'
import { type CliRun, cli } from './run.ts'

const sellerId = 'sandbox-seller'
let rig: Rig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(async () => {
  await rig.stop()
})
afterEach(async () => {
  await rig.sandbox.control('PUT', '/faults', {})
  await tallyman(['sellers', 'resume', sellerId])
})

const tallyman = (args: readonly string[]): Promise<CliRun> => cli(args, rig.environment)
const stop = () => stopSellerNow(rig.databaseUrl, sellerId)

test('sellers are listed, paused with a reason and resumed', async () => {
  expect((await tallyman(['sellers'])).out).toMatch(/^sandbox-seller +active *$/m)
  const paused = await tallyman(['sellers', 'pause', sellerId, '--reason', 'stock-taking', '--by', 'Ada'])
  expect(paused).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^seller sandbox-seller is paused since \S+ by Ada: stock-taking\n$/),
  })
  expect((await tallyman(['sellers', 'list'])).out).toMatch(/^sandbox-seller +paused +\S+ +Ada +stock-taking$/m)
  const doctor = await tallyman(['doctor'])
  expect(doctor.out).toMatch(/^warn {2}sellers: seller sandbox-seller is paused since .* by Ada: stock-taking$/m)
  expect(doctor.out).toContain('`tallyman sellers resume sandbox-seller`')
  expect(doctor.out).not.toMatch(/credentials: /)
  const resumed = await tallyman(['sellers', 'resume', sellerId, '--json'])
  expect(JSON.parse(resumed.out)).toMatchObject({ sellerId, state: 'active', reason: null })
  for (const args of [
    ['sellers', 'resume', 'nobody'],
    ['shadow', 'report', '--seller', 'nobody'],
  ])
    expect(await tallyman(args)).toMatchObject({
      code: 1,
      out: '',
      messages: expect.stringContaining('There is no seller nobody'),
    })
})

test.each([
  [['forecast', '--seller', ''], 2, 'tallyman: --seller: must not be empty'],
  [['audit', '--who', 'x', '--seller', ''], 2, 'tallyman: --seller: '],
  [['keys', 'add', '', '--scope', 'read', '--reason', 'test'], 1, '  <name>: '],
  [['keys', 'add', 'long', '--scope', 'read', '--reason', 'x'.repeat(5_000)], 1, '  --reason: '],
  [['sync', 'orders', '--seller', 'nobody'], 1, '  --seller: is nobody, a seller that this daemon does not serve'],
] as const)('what the daemon says of values names the options: %j', async (args, code, said) => {
  const refused = await tallyman(args)
  expect(refused).toMatchObject({ code, out: '' })
  expect(refused.messages).toMatch(new RegExp(`^${said}`, 'm'))
  expect(refused.messages).not.toContain('query.')
})

test('a seller is shown with its open work and the lag of its orders', async () => {
  await eventually(async () =>
    expect((await tallyman(['sellers', 'show', sellerId])).out).toMatch(
      /^seller sandbox-seller is active\nserved by: \S+\norders: read \d+ s ago\nopen commands: \d+, waiting events: 0, failing streams: \d+\nwaiting for rate limits: /,
    ),
  )
  const unknown = await tallyman(['sellers', 'show', 'nobody'])
  expect(unknown).toMatchObject({ code: 1, messages: expect.stringContaining('There is no seller nobody') })
})

test('a list names who serves a seller that the process which is asked does not serve', async () => {
  const columns = 'INSERT INTO tallyman.seller_processes (process, roles, seller_ids, faults, taken_at, said_at)'
  await query(
    rig.databaseUrl,
    `INSERT INTO tallyman.sellers (seller_id, state) VALUES ('elsewhere', 'active'), ('nowhere', 'active')`,
  )
  await query(rig.databaseUrl, `${columns} VALUES ('p-2', '{worker}', '{elsewhere}', '{}', now(), now())`)
  const { out } = await tallyman(['sellers', 'list'])
  expect(out).toMatch(/^elsewhere +active +\(served by p-2\)$/m)
  expect(out).toMatch(/^nowhere +active +\(not in the settings\)$/m)
  await query(rig.databaseUrl, `DELETE FROM tallyman.seller_processes WHERE process = 'p-2'`)
  await query(rig.databaseUrl, `DELETE FROM tallyman.sellers WHERE seller_id IN ('elsewhere', 'nowhere')`)
})

test('what a terminal would obey is shown, in tables, by doctor and as JSON', async () => {
  const reason = 'a\u001b[2J\u009b1m\u202eb\u2066c'
  const shown = 'a\\u001b[2J\\u009b1m\\u202eb\\u2066c'
  const paused = await tallyman(['sellers', 'pause', sellerId, '--reason', reason, '--by', 'Ada'])
  const runs = await Promise.all([['sellers'], ['doctor'], ['sellers', 'list', '--json'], ['doctor', '--json']].map(tallyman))
  for (const { out } of [paused, ...runs]) {
    expect(out).toContain(shown)
    expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  }
  expect(runs[2]?.out).toContain(JSON.stringify(reason).slice(0, 8))
  expect(JSON.parse(runs[2]?.out ?? '')).toMatchObject({ items: [{ sellerId, reason }] })
})

test('sync and backfill of a stopped seller say so at once, and queue nothing', async () => {
  await stop()
  for (const args of [
    ['sync', 'orders'],
    ['sync', 'orders', '--seller', sellerId],
    ['backfill', 'orders', '--from', '2026-01-01'],
  ]) {
    const { code, out, messages } = await tallyman(args)
    expect({ code, out }, args.join(' ')).toEqual({ code: 1, out: '' })
    expect(messages).toMatch(/seller sandbox-seller is stopped since \d{4}-\S+: the credentials are refused/)
  }
  expect(await rig.sql(`SELECT 1 FROM tallyman.sync_states WHERE stream LIKE 'backfill:20260101T%'`)).toEqual([])
})

test('a backfill whose seller is stopped on the way ends, and goes on when the seller does', async () => {
  await rig.sandbox.placeRandom(30, { createdFrom: new Date(Date.now() - 20 * 86_400_000).toISOString(), alive: false })
  await rig.sandbox.control('PUT', '/faults', { slow: { share: 1, delayMs: 1_500 } })
  const backfill = ['backfill', 'orders', '--from', new Date(Date.now() - 150 * 86_400_000).toISOString().slice(0, 10)]
  const run = tallyman(backfill)
  await eventually(async () => {
    const rows = await rig.sql(`SELECT 1 FROM tallyman.sync_states WHERE stream LIKE 'backfill:%' AND pending <> '[]'`)
    expect(rows).toHaveLength(1)
  })
  await stop()
  const { code, messages } = await run
  expect(code).toBe(1)
  expect(messages).toMatch(/seller sandbox-seller is stopped since \S+: the credentials are refused/)
  expect(messages).toContain('continues when the seller is resumed: `tallyman sellers resume sandbox-seller`')
  await rig.sandbox.control('PUT', '/faults', {})
  await tallyman(['sellers', 'resume', sellerId])
  const again = await tallyman(backfill)
  expect(again.messages).toContain('continuing the backfill')
  expect(again.code).toBe(0)
})

test('doctor says one thing of a stopped seller: refused, since when, and what to do', async () => {
  await stop()
  const run = await tallyman(['doctor', '--json'])
  expect(run.code).toBe(1)
  const { findings } = JSON.parse(run.out) as { findings: { check: string; state: string; detail: string; advice?: string }[] }
  const about = findings.filter(({ detail }) => detail.includes(sellerId))
  expect(about).toEqual([
    {
      check: 'credentials',
      state: 'fail',
      detail: expect.stringMatching(/^seller sandbox-seller: the marketplace refuses the credentials; stopped since \d{4}-\S+Z$/),
      advice: expect.stringContaining('`tallyman sellers resume sandbox-seller` retries them immediately'),
    },
  ])
  expect(findings.filter(({ check, state }) => check === 'credentials' && state === 'ok')).toEqual([])
})

test('doctor says refused, and nothing else, of credentials that only it has tried', async () => {
  const { out } = await cli(['doctor'], { ...rig.environment, CLIENT_SECRET: 'mistyped' })
  expect(out.match(/^\w+ +credentials: .*$/gm)).toEqual([
    expect.stringMatching(
      /^fail {2}credentials: seller sandbox-seller: the marketplace refuses the credentials: token unavailable: HTTP 400, invalid_client$/,
    ),
  ])
})

test('doctor takes a page of a gateway for an outage', async () => {
  await rig.sandbox.next({ fault: 'html', status: 403, operation: 'token' })
  const { out } = await tallyman(['doctor'])
  expect(out.match(/^\w+ +credentials: .*$/gm)).toEqual([
    expect.stringMatching(
      /^warn {2}credentials: seller sandbox-seller: token unavailable: HTTP 403, not from the marketplace itself$/,
    ),
  ])
})

test('a stopped or paused seller is shown with state, time, actor and reason', () => {
  const seller = { sellerId: 'S', state: 'stopped', served: true }
  expect(describeInactive(seller)).toBe('seller S is stopped: no reason was recorded')
  expect(describeInactive({ ...seller, state: 'paused', since: 'T', pausedBy: 'Ada', reason: 'x' })).toBe(
    'seller S is paused since T by Ada: x',
  )
})
