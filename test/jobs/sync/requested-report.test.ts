import { expect, test } from 'vitest'
import type { RateLimits } from '../../../src/clients/http/operation.ts'
import { walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { addMonths } from '../../../src/domain/values/calendar.ts'
import { requestBackfill } from '../../../src/jobs/sync/engine/syncs.ts'
import { vocabulary } from '../../support/vocabulary.ts'
import { type TestSeller, withSyncBench } from './support.ts'

// Reconciliation reports that are generated on request: the engine against the sandbox, whose clock leaps over the waiting times.

const bench = withSyncBench(walmartUs)
const { calendar } = vocabulary

/** A seller whose client knows the sandbox's clock, and the month before the running one. */
const start = async (limits?: RateLimits): Promise<{ readonly one: TestSeller; readonly month: string }> => {
  await bench.sandbox.control('PUT', '/report', {})
  const one = await bench.seller(limits)
  await one.place(1)
  await one.once('orders', 'released')
  return { one, month: addMonths(calendar.formatMonth(one.client.clock().now()), -1) }
}

/** Lets the sandbox's clock leap, and the client learn it. */
const leap = async (one: TestSeller, duration: string): Promise<void> => {
  await bench.advance(duration)
  await one.once('orders', 'released')
}

const count = async (one: TestSeller, part: string): Promise<number> =>
  (await one.requests()).filter((target) => target.includes(part)).length

const readOpen = (one: TestSeller) =>
  bench.database.query<{ month: string; request_id: string }>(
    `SELECT to_char(month, 'YYYY-MM') AS month, request_id FROM tallyman.report_requests WHERE seller_id = $1 ORDER BY month`,
    one.sellerId,
  )
const readStates = async (one: TestSeller, month: string): Promise<readonly string[]> => {
  const rows = await bench.database.query<{ state: string }>(
    'SELECT state FROM warehouse.reconciliation_reports WHERE seller_id = $1 AND month = $2::date ORDER BY id',
    one.sellerId,
    `${month}-01`,
  )
  return rows.map(({ state }) => state)
}

const submitted = 'POST /v3/reports/reportRequests'
const checked = 'GET /v3/reports/reportRequests/'

test('a poll requests a report and ends; polls within five minutes do not ask for it', async () => {
  const { one, month } = await start()
  expect(await one.once('reconciliation', 'reports')).toEqual({ done: true })
  const open = await readOpen(one)
  expect(open.map((row) => row.month)).toContain(month)
  expect(await one.once('reconciliation', 'reports')).toEqual({ done: true })
  expect(await count(one, submitted)).toBe(open.length)
  expect(await count(one, checked)).toBe(0)
  await leap(one, '6m')
  await one.once('reconciliation', 'reports')
  expect(await count(one, checked)).toBe(open.length)
  expect(await readOpen(one)).toEqual(open)
  expect(await readStates(one, month)).toEqual([])
})

test('a report that is ready is imported although the request for another month waits for the rate limit', async () => {
  const { one } = await start({ 'reconciliation.request': { tokens: 1, perMs: 3_600_000 } })
  expect(await one.once('reconciliation', 'reports')).toEqual({ done: true })
  const months = (await readOpen(one)).map((row) => row.month)
  expect(months).toHaveLength(1)
  await leap(one, '30m')
  expect(await one.once('reconciliation', 'reports')).toEqual({ done: true })
  expect(await readOpen(one)).toEqual([])
  for (const month of months) expect(await readStates(one, month)).toEqual(['imported'])
})

test('an accepted request proves no enrolment, the report does', async () => {
  const { one, month } = await start()
  const readEnrolments = () =>
    bench.database.query(
      `SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1 AND resource = 'reconciliation'`,
      one.sellerId,
    )
  await one.once('reconciliation', 'reports')
  expect(await readEnrolments()).toEqual([])
  await leap(one, '30m')
  await one.sync('reconciliation', 'reports')
  expect(await readEnrolments()).toEqual([{ enrolled: true }])
  expect(await readStates(one, month)).toEqual(['imported'])
  expect(await readOpen(one)).toEqual([])
})

test('a seller who is not enrolled is not asked again', async () => {
  const { one } = await start()
  await bench.sandbox.control('PUT', '/enrolment', { sellerId: one.sellerId, fulfillment: false, answer: 'content-not-found' })
  await one.sync('reconciliation', 'reports')
  await leap(one, '2h')
  await one.sync('reconciliation', 'reports')
  expect(await count(one, submitted)).toBe(1)
})

test('a download that fails leaves the request open, and is repeated', async () => {
  const { one, month } = await start()
  await one.once('reconciliation', 'reports')
  const open = await readOpen(one)
  await leap(one, '30m')
  await bench.sandbox.next({ fault: 'serverErrorBefore', sellerId: one.sellerId, operation: 'reconciliation.download' })
  expect(await one.read('reconciliation', 'reports')).toBe(1)
  expect((await readOpen(one)).length).toBe(1)
  await leap(one, '6m')
  await one.sync('reconciliation', 'reports')
  expect(await readStates(one, month)).toEqual(['imported'])
  expect(await count(one, submitted)).toBe(open.length)
})

test('a report that was stored before its process ended is imported from there, and its request is settled', async () => {
  const { one, month } = await start()
  await one.once('reconciliation', 'reports')
  await leap(one, '30m')
  const stop = new AbortController()
  await bench.database.execute(
    `CREATE FUNCTION tallyman.refuse_import() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the process ends'; END $$`,
  )
  await bench.database.execute(
    `CREATE TRIGGER refuse_import BEFORE INSERT ON warehouse.reconciliation_rows EXECUTE FUNCTION tallyman.refuse_import()`,
  )
  await expect(one.once('reconciliation', 'reports', {}, stop.signal)).rejects.toThrow('the process ends')
  await bench.database.execute('DROP FUNCTION tallyman.refuse_import() CASCADE')
  const downloads = await count(one, 'downloadReport')
  expect(downloads).toBe(1)
  await one.sync('reconciliation', 'reports')
  expect(await readStates(one, month)).toEqual(['imported'])
  // One download of each month.
  expect(await count(one, 'downloadReport')).toBe(await count(one, submitted))
})

test('a backfill waits for each report without holding its worker', async () => {
  const { one, month } = await start()
  const wanted = addMonths(month, -1)
  const { from, to } = calendar.monthBounds(wanted)
  const { stream } = await requestBackfill(bench.database, {
    sellerId: one.sellerId,
    resource: 'reconciliation',
    range: { from, to: new Date(to.getTime() - 1) },
  })
  const first = await one.once('reconciliation', stream)
  if ('done' in first) throw new Error('a backfill ended before its report was there')
  expect(first.runAgainAt.getTime() - Date.now()).toBeGreaterThan(4 * 60_000)
  expect((await readOpen(one)).map((row) => row.month)).toEqual([wanted])
  await leap(one, '30m')
  expect(await one.once('reconciliation', stream)).toEqual({ done: true })
  expect(await readStates(one, wanted)).toEqual(['imported'])
  expect(await count(one, submitted)).toBe(1)
})

test('a request that was forgotten for a day is replaced', async () => {
  const { one, month } = await start()
  await one.once('reconciliation', 'reports')
  const before = await readOpen(one)
  await leap(one, '25h')
  await one.once('reconciliation', 'reports')
  const after = await readOpen(one)
  expect(after.map((row) => row.month)).toContain(month)
  const ids = new Set(before.map((row) => row.request_id))
  expect(after.filter((row) => ids.has(row.request_id))).toEqual([])
  expect(await count(one, checked)).toBe(0)
})

test('a malformed row goes to quarantine, and all lines are accounted for', async () => {
  const { one } = await start()
  await bench.sandbox.next({ fault: 'malformedRecord', sellerId: one.sellerId, operation: 'reconciliation.download' })
  await one.once('reconciliation', 'reports')
  await leap(one, '30m')
  await one.sync('reconciliation', 'reports')
  const [counts] = await bench.database.query<{ unread: number; complete: boolean }>(
    `SELECT sum(unread_count)::int AS unread,
       bool_and(line_count = row_count + (SELECT sum(value::int) FROM jsonb_each_text(skipped_lines))) AS complete
     FROM warehouse.reconciliation_reports WHERE seller_id = $1`,
    one.sellerId,
  )
  expect(counts).toEqual({ unread: 1, complete: true })
})
