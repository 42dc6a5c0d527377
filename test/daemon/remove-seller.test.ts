import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openPool } from '../support/pool.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Program, startProgram } from '../support/process.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, post, type SellerEntry } from './support.ts'

// A process that answers HTTP and one that works, each with a file of sellers of its own, as two machines have.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let http: TestDaemon
let worker: Program
let entries: readonly SellerEntry[]
const files = { http: '', worker: '' }
const write = (...sellers: readonly unknown[]) =>
  Promise.all(Object.values(files).map((file) => writeFile(file, JSON.stringify(sellers))))

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  databaseUrl = await postgres.database()
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-removal-'))
  files.http = path.join(folder, 'http.json')
  files.worker = path.join(folder, 'worker.json')
  entries = await makeSellers(sandbox, 'seller-a', 'seller-b', 'sellerb')
  await write(...entries.slice(0, 2))
  const environment = { DATABASE_URL: databaseUrl, DATA_DIR: folder, MARKETPLACE_URL: sandbox.url, POLL_ORDERS: '1s' }
  http = await startTestDaemon({ ...environment, ROLES: 'http', SELLERS_FILE: files.http }, [], { ready: false })
  worker = startProgram('src/main.ts', {
    LOG_FORMAT: 'json',
    ...environment,
    ROLES: 'scheduler,worker',
    SELLERS_FILE: files.worker,
  })
  await worker.says('tallyman is running')
})
afterAll(async () => {
  await worker.kill()
  await http.program.kill()
  await rm(folder, { recursive: true, force: true })
  await Promise.all([postgres.stop(), sandbox.stop()])
})

const tallyman = (...args: readonly string[]) => cli(['sellers', ...args], { TALLYMAN_URL: http.url })
/** Removes it once nothing reads its streams any more. */
const remove = (sellerId: string) =>
  eventually(async () => {
    const run = await tallyman('remove', sellerId, '--reason', 'closed', '--by', 'Ada')
    expect(run.messages).not.toContain('being read now')
    return run
  }, 40_000)
const listed = async (...args: readonly string[]) =>
  [...(await tallyman('list', ...args)).out.matchAll(/^(seller\S+) /gm)].map(([, sellerId]) => sellerId)

test('a seller that was in the files for a moment is refused while it is served, and gone afterwards', async () => {
  // Not enrolled in anything and without orders, as a mistyped id is; it has no past unless something is read of it.
  await write(...entries.slice(0, 2), { ...entries[2], clientSecret: 'mistyped' })
  expect(await tallyman('reload')).toMatchObject({ code: 0, out: expect.stringContaining('added: sellerb') })
  expect(await listed()).toEqual(['seller-a', 'seller-b', 'sellerb'])
  const refused = await tallyman('remove', 'sellerb', '--reason', 'mistyped')
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.messages).toMatch(/Seller sellerb is served by \S+, \S+\. Remove it from SELLERS_FILE/)

  await write(...entries.slice(0, 2))
  expect(await tallyman('reload')).toMatchObject({ code: 0, out: expect.stringContaining('removed: sellerb') })
  expect(await remove('sellerb')).toMatchObject({ code: 0, out: 'seller sellerb is deleted: it had no records\n' })
  expect([await listed(), await listed('--removed')]).toEqual([['seller-a', 'seller-b'], []])
  expect(await tallyman('remove', 'sellerb', '--reason', 'again')).toMatchObject({
    code: 1,
    messages: expect.stringContaining('There is no seller sellerb'),
  })
})

test('a seller with a past is hidden, readable by id, and comes back with its file', async () => {
  const { purchaseOrderId } = await placeOrder(sandbox, 1, 'seller-b')
  const order = `/v1/orders/${purchaseOrderId}`
  await eventually(async () => expect(await http.call('GET', order)).toMatchObject({ status: 200 }))
  await write(entries[0])
  expect(await tallyman('reload')).toMatchObject({ code: 0 })
  expect(await remove('seller-b')).toMatchObject({ code: 0, out: expect.stringMatching(/^seller seller-b is removed since \d/) })
  expect([await listed(), await listed('--removed')]).toEqual([['seller-a'], ['seller-b']])
  expect((await tallyman('list', '--removed')).out).toMatch(/^seller-b +active +\(removed \S+ by Ada, not in the settings\)$/m)
  const shown = (await tallyman('show', 'seller-b')).out
  expect(shown).toMatch(/^seller seller-b was removed \S+ by Ada; it is listed again when a process has it in its settings\n/)
  expect(shown).not.toContain('is active')
  expect(JSON.parse((await tallyman('remove', 'seller-b', '--reason', 'again', '--json')).out)).toMatchObject({ deleted: false })
  expect(await http.call('GET', order)).toMatchObject({ status: 200, body: { sellerId: 'seller-b' } })
  const metrics = await (await fetch(`${http.url}/metrics`)).text()
  expect(metrics).toContain('tallyman_sellers{')
  expect(metrics).not.toContain('seller="seller-b"')

  await write(...entries.slice(0, 2))
  expect(await tallyman('reload')).toMatchObject({ code: 0, out: expect.stringContaining('added: seller-b') })
  expect([await listed(), await listed('--removed')]).toEqual([['seller-a', 'seller-b'], []])
  const another = await placeOrder(sandbox, 1, 'seller-b')
  await eventually(async () =>
    expect(await http.call('GET', `/v1/orders/${another.purchaseOrderId}`)).toMatchObject({ status: 200 }),
  )
})

test('a forecast that is in progress while a reload takes a seller out says that it is not served', async () => {
  const order = await placeOrder(sandbox, 1, 'seller-b')
  await eventually(async () => expect(await post(http, accepted(order))).toBe(202))
  const acknowledged = `FROM tallyman.commands WHERE purchase_order_id = '${order.purchaseOrderId}' AND state = 'confirmed'`
  await eventually(async () => expect(await query(databaseUrl, `SELECT 1 ${acknowledged}`)).toHaveLength(1))
  await query(
    databaseUrl,
    `UPDATE tallyman.commands SET state = 'pending', attempts = 0, next_action_at = now() + interval '1 hour', settled_at = NULL
     WHERE id IN (SELECT id ${acknowledged})`,
  )
  const told = JSON.stringify((await http.call('GET', '/v1/forecast?sellerId=seller-b')).body)
  expect(told).toContain('"operation":"orders.acknowledge"')
  expect(told).not.toContain('seller-a')
  const pool = openPool({ connectionString: databaseUrl, max: 1 })
  onTestFinished(() => pool.end())
  await pool.query('BEGIN; LOCK TABLE tallyman.sync_runs, tallyman.sync_states IN ACCESS EXCLUSIVE MODE')
  const asked = http.call('GET', '/v1/forecast')
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%backfill:%'`
  await eventually(async () => expect(await query(databaseUrl, waiting)).not.toEqual([]))
  const reread = (): number => http.program.output().split('"sellers":1,"msg":"sellers read again"').length
  const before = reread()
  await write(entries[0])
  http.program.child.kill('SIGHUP')
  await eventually(() => expect(reread()).toBe(before + 1))
  expect(http.program.output()).toMatch(/"level":"warn".*"removed":\["seller-b"\].*their work rests/)
  await pool.query('COMMIT')
  expect(await asked).toMatchObject({
    status: 200,
    body: { assumptions: expect.arrayContaining([expect.stringContaining('does not serve seller-b')]) },
  })
  await write(...entries.slice(0, 2))
  expect(await tallyman('reload')).toMatchObject({ code: 0 })
})

test('a process that serves a removed seller, since nobody heard of it for long, takes it up again', async () => {
  await query(databaseUrl, `UPDATE tallyman.sellers SET removed_at = now(), served_at = NULL WHERE seller_id = 'seller-a'`)
  await query(databaseUrl, `DELETE FROM tallyman.sellers WHERE seller_id = 'seller-b'`)
  await query(databaseUrl, `SELECT pg_notify('tallyman_sellers', '')`)
  await eventually(async () => expect(await listed()).toEqual(['seller-a', 'seller-b']))
})
