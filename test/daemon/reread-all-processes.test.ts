import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { openPool } from '../support/pool.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Program, startProgram } from '../support/process.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, type SellerEntry } from './support.ts'

// A process that answers HTTP and one that works, each with a file of sellers of its own, as two machines have.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let http: TestDaemon
let worker: Program
let entries: readonly SellerEntry[]
const files = { http: '', worker: '' }
const write = (of: keyof typeof files, sellers: readonly unknown[]) => writeFile(files[of], JSON.stringify(sellers))

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
})
afterAll(async () => {
  await Promise.all([postgres.stop(), sandbox.stop()])
})
beforeEach(async () => {
  databaseUrl = await postgres.database()
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-rereads-'))
  files.http = path.join(folder, 'http.json')
  files.worker = path.join(folder, 'worker.json')
  entries = await makeSellers(sandbox, 'seller-a', 'seller-b')
  await write('http', entries.slice(0, 1))
  await write('worker', entries.slice(0, 1))
  const environment = { DATABASE_URL: databaseUrl, DATA_DIR: folder, MARKETPLACE_URL: sandbox.url, POLL_ORDERS: '1s' }
  worker = startProgram('src/main.ts', {
    LOG_FORMAT: 'json',
    ...environment,
    ROLES: 'scheduler,worker',
    SELLERS_FILE: files.worker,
  })
  http = await startTestDaemon({ ...environment, ROLES: 'http', SELLERS_FILE: files.http }, [], { ready: false })
  await worker.says('tallyman is running')
  await eventually(async () => expect(await query(databaseUrl, 'SELECT 1 FROM tallyman.seller_processes')).toHaveLength(2))
  return async () => {
    await worker.kill()
    await http.program.kill()
    await rm(folder, { recursive: true, force: true })
  }
})

const reload = () => http.call('POST', '/v1/sellers/reload')
const other = { process: expect.any(String), roles: ['scheduler', 'worker'], faults: [] }

test('a reload at one process is one at each, which the answer says, and so is what each serves', async () => {
  await write('http', entries)
  await write('worker', entries)
  expect(await reload()).toMatchObject({
    status: 200,
    body: { added: ['seller-b'], others: [{ ...other, state: 'reread', sellers: ['seller-a', 'seller-b'] }] },
  })
  const order = await placeOrder(sandbox, 1, 'seller-b')
  await eventually(async () =>
    expect(
      await query(databaseUrl, `SELECT 1 FROM warehouse.orders WHERE purchase_order_id = '${order.purchaseOrderId}'`),
    ).toHaveLength(1),
  )
  expect(await http.call('GET', '/v1/sellers?sellerId=seller-b')).toMatchObject({
    body: { items: [{ served: true, servedBy: [expect.any(String), expect.any(String)] }] },
  })

  expect(await worker.stop()).toBe(0)
  expect(await reload()).toMatchObject({ status: 200, body: { others: [] } })
})

test('a process that was killed on this machine serves no seller from then on', async () => {
  const servedBy = async () => (await http.call('GET', '/v1/sellers?sellerId=seller-a')).body
  expect(await servedBy()).toMatchObject({ items: [{ servedBy: [expect.any(String), expect.any(String)] }] })
  await worker.kill()
  expect(await servedBy()).toMatchObject({ items: [{ servedBy: [expect.any(String)] }] })
})

test('a process whose own settings are wrong keeps its sellers, and the answer says what is wrong', async () => {
  await write('http', entries)
  await write('worker', [entries[1], { ...entries[0], clientSecret: '' }])
  expect(await reload()).toMatchObject({
    status: 200,
    body: {
      added: ['seller-b'],
      others: [
        { ...other, state: 'faulty', sellers: ['seller-a'], faults: [expect.stringContaining('sellers[1].clientSecret')] },
      ],
    },
  })
  await worker.says('the sellers stay as they were: SELLERS_FILE')
  const run = await cli(['sellers', 'reload'], { TALLYMAN_URL: http.url })
  expect(run).toMatchObject({ code: 1, messages: expect.stringContaining('not every process has reloaded its settings') })
  expect(run.out).toMatch(/\n\S+ \(scheduler, worker\) serves 1 seller, unchanged: SELLERS_FILE: .*clientSecret/)

  await write('worker', entries)
  expect(await reload()).toMatchObject({ body: { others: [{ ...other, state: 'reread', sellers: ['seller-a', 'seller-b'] }] } })
})

test('settings that are wrong where a reload is asked for are read nowhere else', async () => {
  await write('http', [{ ...entries[0], clientSecret: '' }])
  await write('worker', entries)
  expect(await reload()).toMatchObject({ status: 422 })
  expect(await query(databaseUrl, 'SELECT 1 FROM tallyman.seller_processes WHERE asked_at IS NOT NULL')).toEqual([])
})

test('a request that no notification told of is met at the next look', async () => {
  await write('worker', entries)
  await query(
    databaseUrl,
    `INSERT INTO tallyman.seller_processes (process, roles, seller_ids, faults, taken_at, asked_at, said_at)
     VALUES ('other', '{http}', '{}', '{}', now(), now(), now())`,
  )
  await worker.says('another process asks to read the sellers again')
  await eventually(async () =>
    expect(await query(databaseUrl, `SELECT 1 FROM tallyman.seller_processes WHERE seller_ids @> '{seller-b}'`)).toHaveLength(1),
  )
})

/** What the table says of the worker and of seller-b; whether seller-b has come back after it was removed. */
const standing = async () => {
  const [row] = await query<{ served: readonly string[]; removed: boolean; returned: boolean }>(
    databaseUrl,
    `SELECT p.seller_ids AS served,
       NOT EXISTS (SELECT FROM tallyman.sellers WHERE seller_id = 'seller-b' AND removed_at IS NULL) AS removed,
       EXISTS (SELECT FROM warehouse.changes WHERE type = 'seller.returned') AS returned
     FROM tallyman.seller_processes p WHERE 'worker' = ANY (p.roles)`,
  )
  return row
}
/** As if nobody had heard of the worker for some minutes, and a person had removed seller-b meanwhile. */
const removal = `WITH silent AS (UPDATE tallyman.seller_processes SET said_at = now() - interval '3 minutes' WHERE 'worker' = ANY (roles))
  UPDATE tallyman.sellers SET removed_at = now(), removed_by = 'Ada', served_at = NULL WHERE seller_id = 'seller-b'`

test.each([
  ['that waits', async () => undefined],
  ['whose process has ended', async () => void (await http.program.stop())],
])('a process that was silent meets a request %s before it takes up sellers that were removed meanwhile', async (_what, then) => {
  await Promise.all([write('http', entries), write('worker', entries)])
  expect(await reload()).toMatchObject({ body: { others: [{ ...other, state: 'reread' }] } })
  await eventually(async () => expect(await standing()).toMatchObject({ served: ['seller-a', 'seller-b'] }))
  worker.child.kill('SIGSTOP')
  await Promise.all([write('http', entries.slice(0, 1)), write('worker', entries.slice(0, 1))])
  expect(await reload()).toMatchObject({ status: 200, body: { others: [{ ...other, state: 'unanswered' }] } })
  await query(databaseUrl, removal)
  await then()
  worker.child.kill('SIGCONT')
  await query(databaseUrl, `SELECT pg_notify('tallyman_sellers', '')`)
  await eventually(async () => expect(await standing()).toEqual({ served: ['seller-a'], removed: true, returned: false }))
})

test('a reload that drops a removed seller and the look that finds it removed do not come between each other', async () => {
  await Promise.all([write('http', entries), write('worker', entries)])
  expect(await reload()).toMatchObject({ body: { others: [{ ...other, state: 'reread' }] } })
  await write('worker', entries.slice(0, 1))
  const pool = openPool({ connectionString: databaseUrl, max: 1 })
  onTestFinished(() => pool.end())
  // Whoever takes seller-b up waits from here on; whoever drops it does not.
  await pool.query(`BEGIN; ${removal}; COMMIT; BEGIN; SELECT FROM tallyman.sellers WHERE seller_id = 'seller-b' FOR UPDATE`)
  await query(databaseUrl, `SELECT pg_notify('tallyman_sellers', '')`)
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FOR KEY SHARE%'`
  await eventually(async () => {
    if ((await query(databaseUrl, waiting)).length === 0) expect(await standing()).toMatchObject({ served: ['seller-a'] })
  })
  worker.child.kill('SIGHUP')
  await eventually(async () => expect(await standing()).toMatchObject({ served: ['seller-a'] }))
  await pool.query('COMMIT')
  expect(await reload()).toMatchObject({ body: { others: [{ ...other, state: 'reread', sellers: ['seller-a'] }] } })
  expect(worker.output()).not.toContain('is not configured')
})

test('a process whose settings are wrong takes up again what was removed meanwhile, and says so', async () => {
  await Promise.all([write('http', entries), write('worker', entries)])
  expect(await reload()).toMatchObject({ body: { others: [{ ...other, state: 'reread' }] } })
  // It serves seller-b as well, and would be the one that takes it up.
  expect(await http.program.stop()).toBe(0)
  await write('worker', [{ ...entries[0], clientSecret: '' }])
  await query(databaseUrl, removal)
  await query(databaseUrl, `SELECT pg_notify('tallyman_sellers', '')`)
  await worker.says('the sellers stay as they were: SELLERS_FILE')
  await eventually(async () =>
    expect(await standing()).toEqual({ served: ['seller-a', 'seller-b'], removed: false, returned: true }),
  )
})
