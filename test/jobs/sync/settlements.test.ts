import { expect, test } from 'vitest'
import { specification, walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { settlementsEndpoint } from '../../../src/clients/marketplace/reports/settlements.ts'
import { replayQuarantined } from '../../../src/jobs/sync/engine/syncs.ts'
import { rehearse } from '../../contract/rehearse.ts'
import { daysAgo, type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

interface Stored {
  readonly key: string
  readonly report: string
  readonly type: string
  readonly amount: string | null
  readonly payable: string | null
  readonly currency: string | null
  readonly order: string | null
}

const rows = <Row>(one: TestSeller, sql: string) => bench.database.query<Row>(sql, one.sellerId)
const stored = (one: TestSeller) =>
  rows<Stored>(
    one,
    `SELECT line_key AS key, report_date::text AS report, transaction_type AS type, amount::text AS amount, total_payable::text AS payable,
       currency, purchase_order_id AS order
     FROM warehouse.settlement_lines WHERE seller_id = $1 AND missing_since IS NULL ORDER BY report_date, row_number`,
  )
const marks = (one: TestSeller) =>
  rows(one, 'SELECT xmin::text, line_key FROM warehouse.settlement_lines WHERE seller_id = $1 ORDER BY line_key')
const quarantined = (one: TestSeller) =>
  rows<{ id: bigint; key: string | null; state: string; skipped: boolean }>(
    one,
    `SELECT id, record_key AS key, state, skipped IS NOT NULL AS skipped FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY id`,
  )
const settle = (one: TestSeller) => one.sync('settlements', 'all')

/** Orders of past weeks, with the life that they have had. */
const sell = (one: TestSeller, count: number, days = 60) =>
  one.place(count, { alive: true, createdFrom: daysAgo(days), createdTo: daysAgo(days - 30) })

/** Hundredths, by which sums are exact. */
const cents = (amount: string | null): number => Math.round(Number(amount ?? 0) * 100)

test('every report comes in page by page, and each pays out what its rows move', async () => {
  const one = await bench.seller()
  await sell(one, 30)
  // Fifty rows to a page.
  await one.sync('settlements', 'all', { settings: { ...one.deps.settings, pageSize: 10 } })
  const lines = await stored(one)
  const reports = [...new Set(lines.map(({ report }) => report))]
  expect(reports.length).toBeGreaterThan(1)
  expect(lines.length).toBeGreaterThan(100)
  const pages = (await one.requests()).filter((request) => request.includes('reconFileJson'))
  expect(pages.length).toBeGreaterThan(reports.length)
  for (const report of reports) {
    const ofReport = lines.filter((line) => line.report === report)
    const [summary, ...movements] = ofReport
    expect(ofReport.map(({ key }) => key)).toEqual(ofReport.map((_, at) => `${report}/${at + 1}`))
    expect(summary).toMatchObject({ type: 'PaymentSummary', currency: 'USD', amount: null })
    expect(movements.every(({ currency, order }) => currency === 'USD' && order !== null)).toBe(true)
    expect(movements.reduce((sum, { amount }) => sum + cents(amount), 0)).toBe(cents(summary?.payable ?? null))
  }
  const [sold] = await rows<{ unsold: number; transaction_type: string }>(
    one,
    `SELECT count(*)::int AS unsold FROM warehouse.settlement_lines
     WHERE seller_id = $1 AND transaction_type NOT IN ('PaymentSummary', 'Sale', 'Refund')`,
  )
  expect(sold?.unsold).toBe(0)
})

test('the second pass writes nothing, nor does the stream of the newest reports', async () => {
  const one = await bench.seller()
  await sell(one, 12)
  await settle(one)
  const before = await marks(one)
  const told = (await one.changes()).length
  expect(told).toBe(before.length)
  await settle(one)
  await one.sync('settlements', 'recent')
  expect(await marks(one)).toEqual(before)
  expect(await one.changes()).toHaveLength(told)
  expect((await one.runs('recent')).at(-1)).toMatchObject({ changed: 0, error: null })
})

test('the newest reports are asked for with each poll, the others are not', async () => {
  const one = await bench.seller()
  await one.place(40, { alive: true, createdFrom: daysAgo(120), createdTo: daysAgo(20) })
  await one.sync('settlements', 'recent')
  const recent = new Set((await stored(one)).map(({ report }) => report))
  expect(recent.size).toBe(3)
  await settle(one)
  const every = [...new Set((await stored(one)).map(({ report }) => report))]
  expect(every.length).toBeGreaterThan(3)
  expect(every.slice(-3)).toEqual([...recent])
})

test('a report that is corrected: changed rows are reported with what stood there, their earlier version is kept', async () => {
  const one = await bench.seller()
  await sell(one, 12)
  await settle(one)
  const before = await stored(one)
  const told = (await one.changes()).length
  await sell(one, 3)
  await settle(one)
  const after = await stored(one)
  expect(after.length).toBeGreaterThan(before.length)
  const changed = before.filter((line) => JSON.stringify(line) !== JSON.stringify(after.find(({ key }) => key === line.key)))
  // New rows stand at the end of a report, and its summary pays them out.
  expect(changed.length).toBeGreaterThan(0)
  expect(changed.every(({ type }) => type === 'PaymentSummary')).toBe(true)
  const changes = (await one.changes()).slice(told)
  const ofType = (type: string) => changes.filter((change) => change.type === `settlement_line.${type}`)
  expect(ofType('changed')).toHaveLength(changed.length)
  expect(ofType('added')).toHaveLength(after.length - before.length)
  const kept = await rows<{ key: string }>(
    one,
    `SELECT record_key AS key FROM tallyman.superseded_versions WHERE seller_id = $1 AND resource = 'settlements' ORDER BY 1`,
  )
  expect(kept.map(({ key }) => key)).toEqual(changed.map(({ key }) => key).sort())
})

test('a row that a report has no more is noted as missing, and told', async () => {
  const one = await bench.seller()
  await sell(one, 6)
  await settle(one)
  const [last] = await rows<{ key: string }>(
    one,
    `INSERT INTO warehouse.settlement_lines SELECT (l).* FROM (
       SELECT jsonb_populate_record(l, jsonb_build_object('row_number', l.row_number + 1, 'line_key', l.report_date || '/' || l.row_number + 1)) AS l
       FROM warehouse.settlement_lines l WHERE seller_id = $1 ORDER BY report_date DESC, row_number DESC LIMIT 1
     ) AS longer RETURNING line_key AS key`,
  )
  await settle(one)
  const gone = await rows(
    one,
    'SELECT line_key AS key FROM warehouse.settlement_lines WHERE seller_id = $1 AND missing_since IS NOT NULL',
  )
  expect(gone).toEqual([last])
  expect((await one.changes()).at(-1)?.type).toBe('settlement_line.removed')
})

test('a row that cannot be read is kept aside by its place; the others are stored, and it can be replayed', async () => {
  const one = await bench.seller()
  await sell(one, 12)
  await settle(one)
  const whole = await stored(one)
  const other = await bench.seller()
  expect(whole.length).toBeGreaterThan(0)
  await bench.sandbox.next({ fault: 'malformedRecord', sellerId: one.sellerId, operation: 'settlements.report' })
  await bench.database.query('DELETE FROM warehouse.settlement_lines WHERE seller_id = $1', one.sellerId)
  await settle(one)
  const [aside, ...more] = await quarantined(one)
  expect(more).toEqual([])
  expect(aside).toMatchObject({ state: 'open', skipped: false })
  expect((await stored(one)).map(({ key }) => key)).toEqual(whole.map(({ key }) => key).filter((key) => key !== aside?.key))
  expect(await replayQuarantined({ database: bench.database }, aside?.id ?? 0n)).toMatchObject({ outcome: 'still-malformed' })
  // The next pass brings it.
  await settle(one)
  expect(await stored(one)).toEqual(whole)
  expect((await quarantined(one)).filter(({ state }) => state === 'open')).toEqual([])
  expect(await stored(other)).toEqual([])
})

test('a row is read again from the text that is kept of it, the place shipped to left out', async () => {
  const one = await bench.seller()
  await sell(one, 6)
  const { dates } = await one.client.of(settlementsEndpoint).dates({ signal: new AbortController().signal })
  const query = { reportDate: dates[0] ?? '', offset: 0, rows: 0, currency: null, limit: 1_000 }
  const { records } = await one.client.of(settlementsEndpoint).page(query, { signal: new AbortController().signal })
  expect(records.length).toBeGreaterThan(1)
  for (const record of records) {
    expect(settlementsEndpoint.read(record.rawText)).toEqual(record)
    expect(record.rawText).not.toContain('Ship to')
  }
  const broken = records[1]?.rawText.replace(/"Amount":"[^"]+"/, '"Amount":"much"') ?? ''
  expect(settlementsEndpoint.read(broken)).toMatchObject({
    ok: false,
    key: records[1]?.key,
    fault: 'Amount: not an amount of money',
  })
  expect(settlementsEndpoint.read('{"reportData":[{}]}')).toMatchObject({ ok: false, key: null })
})

test('a report that breaks off is reported, nothing of it counts as gone, and a later pass settles it', async () => {
  const one = await bench.seller()
  await sell(one, 12)
  await settle(one)
  const whole = await stored(one)
  await bench.sandbox.next({ fault: 'missingRows', rows: 1, sellerId: one.sellerId, operation: 'settlements.report' })
  await settle(one)
  expect((await stored(one)).map(({ key }) => key)).toEqual(whole.map(({ key }) => key))
  expect(await quarantined(one)).toMatchObject([{ key: expect.stringMatching(/\/rest$/), state: 'open', skipped: true }])
  expect(await one.skipAlarms()).toHaveLength(1)
  await settle(one)
  expect(await stored(one)).toEqual(whole)
  expect((await quarantined(one)).filter(({ state }) => state === 'open')).toEqual([])
  expect(await one.skipAlarms()).toEqual([])
})

test('a report whose further pages are refused stops neither the others nor the run', async () => {
  const one = await bench.seller()
  await sell(one, 30)
  const small = { settings: { ...one.deps.settings, pageSize: 4 } }
  await bench.sandbox.next({ fault: 'cursorExpired', status: 400, sellerId: one.sellerId, operation: 'settlements.report' })
  await one.sync('settlements', 'all', small)
  const first = await stored(one)
  const { dates } = await one.client.of(settlementsEndpoint).dates({ signal: new AbortController().signal })
  // The first page of one report, and all of the others.
  expect(first.filter(({ report }) => report === dates[0])).toHaveLength(20)
  expect(new Set(first.map(({ report }) => report))).toEqual(new Set(dates))
  expect(await quarantined(one)).toMatchObject([{ key: `${dates[0]}/rest`, state: 'open', skipped: true }])
  await one.sync('settlements', 'all', small)
  expect((await stored(one)).length).toBeGreaterThan(first.length)
  expect((await quarantined(one)).filter(({ state }) => state === 'open')).toEqual([])
})

test('a seller without reports has none, and a failure in disguise makes nothing gone', async () => {
  const one = await bench.seller()
  await settle(one)
  expect(await stored(one)).toEqual([])
  await sell(one, 6)
  await settle(one)
  const before = await stored(one)
  for (const fault of ['okWithErrors', 'html', 'emptyBody', 'truncatedJson', 'serverErrorBefore'] as const) {
    for (const operation of ['settlements.dates', 'settlements.report'] as const) {
      await bench.sandbox.next({ fault, sellerId: one.sellerId, operation })
      await expect(one.once('settlements', 'all')).rejects.toThrow()
      expect(await stored(one)).toEqual(before)
      await settle(one)
    }
  }
})

test.each([
  { profile: specification, words: 'limit=7&offset=0' },
  { profile: walmartUs, words: 'limit=7&noOfRecords=7&offset=0' },
])('under each profile a page is asked for in its words: $words', async ({ profile, words }) => {
  const { client, sandbox } = await rehearse(profile)
  await sandbox.control('POST', '/orders', { count: 5, createdFrom: daysAgo(60), createdTo: daysAgo(40) })
  const options = { signal: new AbortController().signal }
  const reports = client.of(settlementsEndpoint)
  const { dates } = await reports.dates(options)
  const reportDate = dates[0] ?? ''
  const page = await reports.page({ reportDate, offset: 0, rows: 0, currency: null, limit: 7 }, options)
  expect(page.records.map(({ ok, key }) => [ok, key])).toEqual([1, 2, 3, 4, 5, 6, 7].map((row) => [true, `${reportDate}/${row}`]))
  expect(page.currency).toBe('USD')
  const [year, month, date] = reportDate.split('-')
  const asked = JSON.stringify(await sandbox.control('GET', '/requests?limit=100'))
  expect(asked).toContain('/v3/report/reconreport/availableReconFiles?reportVersion=v1')
  expect(asked).toContain(`/v3/report/reconreport/reconFileJson?reportDate=${month}${date}${year}&${words}`)
  expect(
    (await reports.page({ reportDate: '2020-01-18', offset: 0, rows: 0, currency: null, limit: 7 }, options)).records,
  ).toEqual([])
})

test('orders that only a report names are fetched by their ids', async () => {
  const one = await bench.seller()
  await sell(one, 12)
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ share: 1, sellerId: one.sellerId }] })
  await one.sync('orders', 'reread')
  expect(await one.storedOrders()).toEqual([])
  await settle(one)
  const named = await rows<{ id: string; source: string }>(
    one,
    'SELECT purchase_order_id AS id, source FROM tallyman.named_orders WHERE seller_id = $1 ORDER BY 1',
  )
  const ofReports = new Set((await stored(one)).flatMap(({ order }) => order ?? []))
  expect(ofReports.size).toBeGreaterThan(5)
  expect(named).toEqual([...ofReports].sort().map((id) => ({ id, source: 'settlements' })))
  // They are requested once the lists had time to show them.
  await bench.database.execute(
    `UPDATE tallyman.named_orders SET named_at = named_at - interval '1 hour', ask_again_at = now() WHERE seller_id = $1`,
    one.sellerId,
  )
  await one.sync('orders', 'named')
  expect(await one.storedOrders()).toEqual(named.map(({ id }) => id))
})

test('reimbursements are compared with claims when all reports are read', async () => {
  const one = await bench.seller()
  const planted = { sellerId: one.sellerId, reimburses: 'lost', amount: '9.98', at: daysAgo(40) }
  await bench.sandbox.control('POST', '/reimbursements', { ...planted, sku: 'A', units: 2 })
  await bench.database.execute(
    `INSERT INTO warehouse.claims (seller_id, sku, month, kind, units, certainty)
     VALUES ($1, 'A', date_trunc('month', now())::date - interval '6 months', 'lost', 2, 'reported')`,
    one.sellerId,
  )
  await bench.sandbox.control('POST', '/reimbursements', { ...planted, sku: 'B' })
  await settle(one)
  expect(
    await rows(one, 'SELECT sku, problem, amount::text, units FROM warehouse.claim_payments WHERE seller_id = $1 ORDER BY sku'),
  ).toEqual([
    { sku: 'A', problem: null, amount: '9.98', units: 2 },
    { sku: 'B', problem: 'no-claim', amount: '9.98', units: null },
  ])
  expect(await rows(one, 'SELECT state, paid_amount::text AS paid FROM warehouse.claims WHERE seller_id = $1')).toEqual([
    { state: 'paid', paid: '9.98' },
  ])
  const differences = await rows(one, 'SELECT kind FROM warehouse.settlement_differences WHERE seller_id = $1')
  expect(differences).toEqual([])
})

test('a stream compares what it has read, also when another one ends at the same time, but not while that one reads', async () => {
  const one = await bench.seller()
  await sell(one, 6)
  await one.sync('settlements', 'recent')
  const toCompare = async (otherCursor: object) => {
    await bench.database.execute(
      `UPDATE tallyman.sync_states SET cursor = $2 WHERE seller_id = $1 AND resource = 'settlements' AND stream = 'recent'`,
      one.sellerId,
      JSON.stringify(otherCursor),
    )
    // Rows are noted as if they were new.
    await bench.database.execute('UPDATE tallyman.settlement_orders SET waiting = false WHERE seller_id = $1', one.sellerId)
    await settle(one)
    const noted = await rows<{ order: string }>(
      one,
      'SELECT purchase_order_id AS order FROM tallyman.settlement_orders WHERE seller_id = $1 AND NOT waiting',
    )
    return noted.length
  }
  expect(await toCompare({ dates: ['2026-01-02'], offset: 0, rows: 0, currency: null })).toBeGreaterThan(0)
  expect(await toCompare({ search: null })).toBe(0)
  expect(await toCompare({ review: 1 })).toBe(0)
})

test('one of two streams that read at the same time compares, also if their last pages have not changed', async () => {
  const one = await bench.seller()
  await sell(one, 6)
  await settle(one)
  for (let round = 0; round < 4; round += 1) {
    // The first rows differ from what is stored, so both streams store a place there.
    await bench.database.execute(
      `UPDATE warehouse.settlement_lines SET raw_hash = ''::bytea WHERE seller_id = $1 AND row_number < 3
         AND report_date = (SELECT max(report_date) FROM warehouse.settlement_lines WHERE seller_id = $1)`,
      one.sellerId,
    )
    await bench.database.execute('UPDATE tallyman.settlement_orders SET waiting = false WHERE seller_id = $1', one.sellerId)
    const settings = { ...one.deps.settings, pageSize: 2 }
    await Promise.all([one.sync('settlements', 'recent', { settings }), one.sync('settlements', 'all', { settings })])
    expect(await rows(one, 'SELECT FROM tallyman.settlement_orders WHERE seller_id = $1 AND NOT waiting')).toEqual([])
  }
})
