import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { reportRateLimits, sandboxSeller } from './support.ts'

// Reconciliation reports that the live marketplace generates on request (profile `walmart-us`), through the whole daemon. The sandbox's clock, which the daemon
// follows, leaps over the waiting times.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

const start = (): Promise<TestDaemon> =>
  startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    POLL_RECONCILIATION: '1s',
    RATE_LIMITS: reportRateLimits,
    POLL_ORDERS: '1s',
    POLL_RETURNS: '1s',
    REQUEST_TIMEOUT: '2s',
  })

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-reports-'))
  databaseUrl = await postgres.database()
  // On these days the month before is final: only its first report is due, and one of the running month with each generation.
  const today = Number(new Intl.DateTimeFormat('en', { timeZone: 'America/Los_Angeles', day: 'numeric' }).format(new Date()))
  await advance(`${(firstDay + 31 - today) % 31}d`)
  const { now } = (await sandbox.control('GET', '/clock')) as { now: string }
  expect(Number(new Date(now).toISOString().slice(8, 10))).toBeGreaterThanOrEqual(12)
  daemon = await start()
})
afterAll(async () => {
  await daemon.program.kill()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

/** A day in the middle of a month; months have up to three days less than 31. */
const firstDay = 14

interface ReportRow {
  readonly state: string
  readonly rows: number
  readonly complete: boolean
}

const readReports = (): Promise<readonly ReportRow[]> =>
  query<ReportRow>(
    databaseUrl,
    `SELECT state, row_count AS rows, line_count = row_count + (SELECT sum(value::int) FROM jsonb_each_text(skipped_lines)) AS complete
     FROM warehouse.reconciliation_reports ORDER BY id`,
  )
const readOpen = (): Promise<readonly { readonly request_id: string }[]> =>
  query(databaseUrl, 'SELECT request_id FROM tallyman.report_requests ORDER BY month')

/** Requests of an operation so far, refused ones included. */
const countCalls = async (operation: string): Promise<number> => {
  const { items } = (await sandbox.control('GET', '/requests?limit=5000')) as { items: { operation: string }[] }
  return items.filter((item) => item.operation === `reconciliation.${operation}`).length
}
const requestsMake = (requests: object): Promise<unknown> => sandbox.control('PUT', '/report', { requests })
const advance = (duration: string): Promise<unknown> => sandbox.control('POST', '/clock', { advance: duration })
const findAlarms = () =>
  query<{ subject: string; open: boolean }>(
    databaseUrl,
    `SELECT subject, resolved_at IS NULL AS open FROM tallyman.alarms WHERE kind = 'report-faulty' ORDER BY id`,
  )

test('a report is requested, and imported when it is ready; a restart in between neither loses nor repeats the request', async () => {
  const requested = await eventually(async () => {
    const open = await readOpen()
    expect(open).toHaveLength(2)
    return open
  })
  // Stopped without warning while the marketplace generates both reports.
  await daemon.program.kill()
  await advance('30m')
  daemon = await start()
  await eventually(async () => {
    const imported = { state: 'imported', rows: 21, complete: true }
    expect(await readReports()).toEqual([imported, imported])
  })
  expect(await readOpen()).toEqual([])
  expect(await countCalls('request')).toBe(2)
  expect(await countCalls('report')).toBe(0)
  const stored = await query<{ months: number; rows: number }>(
    databaseUrl,
    'SELECT count(DISTINCT month)::int AS months, count(*)::int AS rows FROM warehouse.reconciliation_rows',
  )
  expect(stored).toEqual([{ months: 2, rows: 42 }])
  expect(requested.map(({ request_id }) => request_id)).toHaveLength(2)
  expect(await query(databaseUrl, `SELECT enrolled FROM tallyman.enrolments WHERE resource = 'reconciliation'`)).toEqual([
    { enrolled: true },
  ])
})

test.each(['error', 'stuck', 'expired'] as const)(
  'a request that ends as %s is repeated; after three of them in a row an alarm opens, and a report closes it',
  async (ending) => {
    await requestsMake({ ending })
    const [before, alarms, reports] = [await countCalls('request'), await findAlarms(), await readReports()]
    const attempts = async (): Promise<number> => (await countCalls('request')) - before
    // The next generation of the running month.
    await advance('1d')
    await eventually(async () => expect(await readOpen()).toHaveLength(1))
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      await advance(ending === 'stuck' ? '7h' : '30m')
      await eventually(async () => expect(await readOpen()).toEqual([]))
      if (attempt === 4) break
      await advance('61m')
      await eventually(async () => expect(await attempts()).toBe(attempt))
    }
    const opened = await eventually(async () => {
      const raised = (await findAlarms()).slice(alarms.length)
      expect(raised).toHaveLength(1)
      return raised
    })
    expect(opened).toMatchObject([{ open: true }])
    await requestsMake({ archive: true })
    await advance('61m')
    await eventually(async () => expect(await readOpen()).toHaveLength(1))
    await advance('30m')
    await eventually(async () => expect((await findAlarms()).every(({ open }) => !open)).toBe(true))
    expect((await readReports()).slice(reports.length)).toEqual([{ state: 'imported', rows: 21, complete: true }])
  },
)

test('a request that is refused, as for a bad granularity, is an error that names the field, and is repeated', async () => {
  await requestsMake({})
  await sandbox.next({ fault: 'lockedBefore', status: 400, operation: 'reconciliation.request' })
  await advance('1d')
  await eventually(async () => {
    const [state] = await query<{ error: string | null }>(
      databaseUrl,
      `SELECT last_error AS error FROM tallyman.sync_states WHERE resource = 'reconciliation' AND stream = 'reports'`,
    )
    expect(state?.error).toContain('reconciliation.request')
  })
  await advance('61m')
  await eventually(async () => expect((await readOpen()).length).toBeGreaterThan(0))
})

test('orders and returns keep the attributes of the live service, and a returned line names who bears its refund', async () => {
  const purchaseOrderId = await sandbox.place({ lines: [{ lineNumber: '1', sku: 'TEA', quantity: 2, unitPrice: '4.00' }] })
  await eventually(async () => {
    const [order] = await query<{ attributes: unknown; wcp: boolean }>(
      databaseUrl,
      `SELECT raw -> 'miscAttributes' AS attributes, (raw -> 'isWCPOrder')::boolean AS wcp FROM warehouse.orders WHERE purchase_order_id = $1`,
      [purchaseOrderId],
    )
    expect(order).toEqual({ attributes: [{ name: 'SHIPPING_TIER', value: expect.any(String) }], wcp: false })
  })
})
