import type { ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { Unavailable } from '../../../src/clients/http/errors.ts'
import type { RateLimits } from '../../../src/clients/http/operation.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { specification } from '../../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../../src/clients/marketplace/profiles/profile.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { reportSchedule } from '../../../src/domain/inventory/report-schedule.ts'
import type { SyncDeps } from '../../../src/jobs/sync/engine/run.ts'
import { replayQuarantined, requestBackfill, runSync } from '../../../src/jobs/sync/engine/syncs.ts'
import { readGtinReport } from '../../../src/jobs/sync/resources/gtin-report.ts'
import type { JobOutcome } from '../../../src/queues/jobs.ts'
import { type Database, openDatabase } from '../../../src/store/db/database.ts'
import { reviewDiscrepancies } from '../../../src/store/inventory/discrepancies.ts'
import { afterTest, generousLimits, type SeenRequest, sendJson, startMarketplace } from '../../clients/servers.ts'
import { logReadUpTo, storeLog } from '../../store/support/inventory.ts'
import { numbered } from '../../support/changes.ts'
import { eventually } from '../../support/eventually.ts'
import { dropDatabase, makeDatabase } from '../../support/postgres.ts'
import { findVocabulary, pacificHour, pacificMidnight, vocabulary } from '../../support/vocabulary.ts'
import { unhurried, withSyncBench } from './support.ts'

const sellerId = 'S-1'
const minuteMs = 60_000
const hourMs = 3_600_000
const header =
  'GTIN,SKU,Item Name,Beginning Quantity,Ending Quantity,Units Sold,Units Returned,Units Lost,Units Found,Units Damaged,Other Adjustments'

/** A line of the report: so many units to begin with, so many of them sold. */
const line = (sku: string, beginning = 10, sold = 0, gtin = `000${sku}`): string =>
  `${gtin},${sku},"Item, ${sku}",${beginning},${beginning - sold},${sold},0,0,0,0,0`

const csv = (...lines: readonly string[]): string => [header, ...lines, ''].join('\n')

type Answer = (response: ServerResponse, request: SeenRequest) => void

/** A marketplace whose clock the test sets, and which makes its reports by that clock. */
interface Rig {
  readonly database: Database
  readonly deps: SyncDeps
  /** The marketplace's clock, and ours. */
  now: Date
  /** Reports by month; a month without one is answered by a report without rows. */
  readonly files: Map<string, string>
  /** Takes the place of the next answers. */
  answer: Answer | null
  /** Months that were asked for. */
  readonly asked: string[]
  once(stream?: string, deps?: Partial<SyncDeps>): Promise<JobOutcome>
  /** Runs a stream until it says that it is done. */
  sync(stream?: string): Promise<void>
  rows(month?: string): Promise<readonly StoredRow[]>
  reports(): Promise<
    readonly {
      month: string
      state: string
      row_count: number | null
      changed_count: number | null
      gone_count: number | null
      fault: string | null
    }[]
  >
  changes(): Promise<readonly { type: string; data: Record<string, unknown> }[]>
  chunks(): Promise<number>
  alarms(): Promise<readonly { subject: string; message: string; open: boolean }[]>
}

interface StoredRow {
  readonly sku: string
  readonly sold: number
  readonly report_id: bigint
  readonly gone: boolean
  readonly version: string
}

const noBody = () => undefined

const startRig = async (
  options: { readonly now?: Date; readonly profile?: Profile; readonly limits?: RateLimits } = {},
): Promise<Rig> => {
  const { profile = specification, limits = generousLimits } = options
  const databaseUrl = await makeDatabase()
  const database = openDatabase({ findVocabulary, url: databaseUrl, connections: 5 })
  const files = new Map<string, string>()
  const asked: string[] = []
  const formatMonth = (target: string): string => {
    const query = new URLSearchParams(target.split('?')[1] ?? '')
    const [month, year] = query.get('monthYear')?.split('-') ?? []
    return month === undefined ? (query.get('startDate') ?? '').slice(0, 7) : `${year}-${month}`
  }
  const server = await startMarketplace((request, response) => {
    response.setHeader('date', rig.now.toUTCString())
    const month = formatMonth(request.target)
    asked.push(month)
    if (rig.answer !== null) return rig.answer(response, request)
    sendReport(response, files.get(month) ?? csv(), reportSchedule(vocabulary.calendar).latestGeneration(rig.now))
  })
  const client = createMarketplaceClient(
    {
      sellerId,
      clientId: 'client',
      clientSecret: 'secret',
      profile,
      marketplaceUrl: server.url,
      display: null,
      headerPrefix: profile.headerPrefix,
      quantityField: profile.quantityField,
      serviceName: 'Tallyman test',
      tokenPath: profile.tokenPath,
      requestTimeoutMs: 5_000,
    },
    { budget: createInProcessBudget({ limits }), log: { debug: noBody, warn: noBody }, now: () => rig.now.getTime() },
  )
  afterTest(async () => {
    await client.close()
    await database.close()
    await dropDatabase(databaseUrl)
  })
  const log = pino({ level: 'silent' })
  const deps: SyncDeps = { database, client: () => client, owner: 'test', settings: unhurried }
  const query = async <Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]> =>
    (await numbered(database)).query<Row>(sql, ...parameters)
  const rig: Rig = {
    database,
    deps,
    now: options.now ?? pacificHour('2026-11-21', 8),
    files,
    answer: null,
    asked,
    once: (stream = 'reports', more = {}) =>
      runSync(
        { ...deps, ...more },
        { sellerId, resource: 'reconciliation', stream },
        { signal: new AbortController().signal, log },
      ),
    sync: async (stream = 'reports') => {
      for (let runs = 0; runs < 50; runs += 1) {
        const outcome = await rig.once(stream)
        if ('done' in outcome) return
      }
      throw new Error('the sync does not come to an end')
    },
    rows: (month = '2026-11') =>
      query(
        `SELECT sku, sold, report_id, missing_since IS NOT NULL AS gone, xmin::text AS version FROM warehouse.reconciliation_rows
         WHERE month = $1::date ORDER BY sku`,
        `${month}-01`,
      ),
    reports: () =>
      query(
        `SELECT to_char(month, 'YYYY-MM') AS month, state, row_count, changed_count, gone_count, fault
         FROM warehouse.reconciliation_reports ORDER BY id`,
      ),
    changes: () => query('SELECT type, data FROM warehouse.changes ORDER BY seq'),
    chunks: async () => {
      const [row] = await query<{ count: number }>('SELECT count(*)::int AS count FROM tallyman.report_files')
      return row?.count ?? 0
    },
    alarms: () => query('SELECT subject, message, resolved_at IS NULL AS open FROM tallyman.alarms ORDER BY id'),
  }
  return rig
}

const sendReport = (response: ServerResponse, text: string | Uint8Array, generatedAt: Date): void => {
  const stamp = generatedAt.toISOString().replaceAll(':', '_')
  response
    .writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment: filename=InventoryReconciliationReport_${stamp}.csv`,
    })
    .end(text)
}

const advance = (rig: Rig, ms: number): void => {
  rig.now = new Date(rig.now.getTime() + ms)
}

/** The rig on the next day, an hour after the report was made anew. */
const nextDay = (rig: Rig): void => advance(rig, 24 * hourMs)

describe('a report', () => {
  test('is read for the running month and the one before, and its rows are stored', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', csv(line('A', 10, 3), line('B')))
    rig.files.set('2026-10', csv(line('A', 12, 2)))
    await rig.sync()
    expect(rig.asked).toEqual(['2026-11', '2026-10'])
    expect(await rig.rows()).toMatchObject([
      { sku: 'A', sold: 3 },
      { sku: 'B', sold: 0 },
    ])
    expect(await rig.rows('2026-10')).toMatchObject([{ sku: 'A', sold: 2 }])
    expect(await rig.reports()).toMatchObject([
      { month: '2026-11', state: 'imported', row_count: 2, changed_count: 2, gone_count: 0 },
      { month: '2026-10', state: 'imported', row_count: 1 },
    ])
    expect(await rig.chunks()).toBe(0)
    const imported = (await rig.changes()).filter(({ type }) => type === 'reconciliation_report.imported')
    expect(imported.map(({ data }) => data)).toMatchObject([
      { month: '2026-11', rows: 2, changed: 2, coveredUntil: pacificMidnight('2026-11-21').toISOString() },
      { month: '2026-10', rows: 1, coveredUntil: pacificMidnight('2026-11-01').toISOString() },
    ])
    const [raw] = await rig.database.query<{ raw: unknown; gtin: string }>(
      `SELECT raw, gtin FROM warehouse.reconciliation_rows WHERE sku = 'B'`,
    )
    expect(raw).toMatchObject({ gtin: '000B', raw: { 'Item Name': 'Item, B', 'Units Sold': '0' } })
    const skus = await rig.database.query(`SELECT sku, gtin, source FROM tallyman.inventory_skus ORDER BY sku`)
    expect(skus).toEqual([
      { sku: 'A', gtin: '000A', source: 'report' },
      { sku: 'B', gtin: '000B', source: 'report' },
    ])
    expect(await rig.database.query('SELECT enrolled FROM tallyman.enrolments')).toEqual([{ enrolled: true }])
  })

  test('is not read again before there is a new one, whichever clock made the first plan', async () => {
    const rig = await startRig()
    await rig.sync()
    for (let quarters = 0; quarters < 90; quarters += 1) {
      advance(rig, 15 * minuteMs)
      await rig.sync()
    }
    expect(rig.now < pacificHour('2026-11-22', 7)).toBe(true)
    expect(rig.asked).toHaveLength(2)
    advance(rig, 45 * minuteMs)
    await rig.sync()
    expect(rig.asked).toEqual(['2026-11', '2026-10', '2026-11'])
  })

  test('that is made anew writes what has changed, marks what is gone and leaves the rest alone', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', csv(line('A', 10, 3), line('B'), line('C')))
    await rig.sync()
    const before = await rig.rows()
    nextDay(rig)
    rig.files.set('2026-11', csv(line('D'), line('B'), line('A', 10, 5)))
    await rig.sync()
    const after = await rig.rows()
    expect(after).toMatchObject([
      { sku: 'A', sold: 5, gone: false },
      { sku: 'B', gone: false },
      { sku: 'C', gone: true },
      { sku: 'D' },
    ])
    expect(after[1]).toEqual(before[1])
    expect((await rig.reports()).at(-1)).toMatchObject({ row_count: 3, changed_count: 2, gone_count: 1 })
    const versions = await rig.database.query(
      `SELECT record_key FROM tallyman.superseded_versions WHERE resource = 'reconciliation'`,
    )
    expect(versions).toEqual([{ record_key: '2026-11/A' }])
    // The numbers of a running month change every day: that is told by the report, not row by row.
    const told = (await rig.changes()).filter(({ type }) => type.startsWith('reconciliation_row.'))
    expect(told).toEqual([{ type: 'reconciliation_row.gone', data: { month: '2026-11', sku: 'C', gtin: '000C' } }])
    // Rows that the new report has not changed count as far as it does.
    const current = await rig.database.query<{ sku: string; covered_until: Date }>(
      `SELECT sku, covered_until FROM warehouse.reconciliation_current_rows WHERE month = '2026-11-01' ORDER BY sku`,
    )
    const until = pacificMidnight('2026-11-22')
    expect(current).toEqual(['A', 'B', 'D'].map((sku) => ({ sku, covered_until: until })))
  })

  test('tells of rows that come back, and of a month that says something else after it was complete', async () => {
    const rig = await startRig()
    rig.files.set('2026-10', csv(line('A', 10, 3), line('B')))
    await rig.sync()
    advance(rig, 12 * 24 * hourMs)
    const backfill = await requestBackfill(rig.database, {
      sellerId,
      resource: 'reconciliation',
      range: { from: new Date('2026-10-05T00:00:00Z'), to: new Date('2026-10-06T00:00:00Z') },
    })
    rig.files.set('2026-10', csv(line('A', 10, 4)))
    await rig.sync(backfill.stream)
    advance(rig, hourMs)
    rig.files.set('2026-10', csv(line('A', 10, 4), line('B')))
    await requestBackfill(rig.database, {
      sellerId,
      resource: 'reconciliation',
      range: { from: new Date('2026-10-05T00:00:00Z'), to: new Date('2026-10-06T00:00:00Z') },
    })
    await rig.sync(backfill.stream)
    const told = (await rig.changes()).filter(({ type }) => type.startsWith('reconciliation_row.'))
    expect(told).toMatchObject([
      { type: 'reconciliation_row.changed', data: { month: '2026-10', sku: 'A', before: { sold: 3 }, after: { sold: 4 } } },
      { type: 'reconciliation_row.gone', data: { sku: 'B' } },
      { type: 'reconciliation_row.changed', data: { sku: 'B', before: null, after: { beginningQuantity: 10 } } },
    ])
    expect(await rig.rows('2026-10')).toMatchObject([
      { sku: 'A', gone: false },
      { sku: 'B', gone: false },
    ])
  })

  test('of many pages is read whole, in whatever order its columns and rows come', async () => {
    const rig = await startRig()
    const skus = Array.from({ length: 3_500 }, (_, index) => `SKU-${index}`)
    rig.files.set('2026-11', csv(...skus.map((sku) => line(sku))))
    await rig.sync()
    const before = await rig.rows()
    expect(before).toHaveLength(3_500)
    nextDay(rig)
    const others = skus.toReversed().filter((sku) => sku !== 'SKU-17')
    rig.files.set(
      '2026-11',
      [
        'SKU,Units Sold,Other Adjustments,Units Damaged,Units Found,Units Lost,Units Returned,Ending Quantity,Beginning Quantity,Item Name,GTIN',
      ]
        .concat(others.map((sku) => `${sku},0,0,0,0,0,0,10,10,"Item, ${sku}",000${sku}`))
        .join('\r\n'),
    )
    await rig.sync()
    const after = await rig.rows()
    const written = after.filter((row, index) => row.version !== before[index]?.version)
    expect(written).toMatchObject([{ sku: 'SKU-17', gone: true }])
    expect((await rig.reports()).at(-1)).toMatchObject({ row_count: 3_499, changed_count: 0, gone_count: 1 })
  })

  test('of several turns is inspected in the first one only', async () => {
    const rig = await startRig()
    const itemName = 'x'.repeat(1_000)
    const rows = Array.from({ length: 2_500 }, (_, index) => `1,SKU-${index},${itemName},10,10,0,0,0,0,0,0`)
    rig.files.set('2026-11', csv(...rows))
    expect(await rig.once('reports', { settings: { ...unhurried, turnMs: 0 } })).toMatchObject({ reason: 'taking turns' })
    // The rows of the second page begin behind the first chunk, which only another inspection would read.
    expect(await rig.database.execute('DELETE FROM tallyman.report_files WHERE chunk = 0')).toBe(1)
    await rig.sync()
    expect(await rig.rows()).toHaveLength(2_500)
    expect((await rig.reports())[0]).toMatchObject({ state: 'imported', row_count: 2_500 })
  })

  test('that the marketplace made before the one that is stored is put aside', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', csv(line('A', 10, 3)))
    await rig.sync()
    nextDay(rig)
    rig.answer = (response) => sendReport(response, csv(line('A', 10, 1)), pacificHour('2026-11-20', 7))
    await rig.sync()
    expect((await rig.reports()).at(-1)).toMatchObject({ month: '2026-11', state: 'outdated' })
    expect(await rig.rows()).toMatchObject([{ sku: 'A', sold: 3 }])
    expect(await rig.chunks()).toBe(0)
  })

  test('of an earlier generation is asked for again every hour, but not all day', async () => {
    const rig = await startRig({ now: pacificHour('2026-11-21', 7) })
    rig.files.set('2026-11', csv(line('A', 10, 3)))
    rig.answer = (response) => sendReport(response, csv(line('A', 10, 3)), pacificHour('2026-11-20', 7))
    for (let quarters = 0; quarters < 4 * 12; quarters += 1) {
      await rig.sync()
      advance(rig, 15 * minuteMs)
    }
    expect(rig.asked.filter((month) => month === '2026-11')).toHaveLength(6)
  })
})

describe('its rows', () => {
  test('that cannot be read go to quarantine, and stop nothing', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', csv(line('A'), line('B').replace(',10,10,', ',10,ten,'), '0001,C,short', line('D')))
    await rig.sync()
    expect(await rig.rows()).toMatchObject([{ sku: 'A' }, { sku: 'D' }])
    const quarantined = await rig.database.query<{ id: bigint; record_key: string | null; fault: string; raw_text: string }>(
      `SELECT id, record_key, fault, raw_text FROM tallyman.quarantined_records WHERE resource = 'reconciliation' ORDER BY record_key NULLS FIRST`,
    )
    expect(quarantined).toMatchObject([
      { record_key: null, fault: 'too few cells: 3 of 11 (line 4)' },
      { record_key: '2026-11/B', fault: 'Ending Quantity: not a whole number (line 3)' },
    ])
    // A parser that understands it stores it where it belongs.
    const [, second] = quarantined
    await rig.database.execute(
      `UPDATE tallyman.quarantined_records SET raw_text = replace(raw_text, '"ten"', '"10"') WHERE id = $1::bigint`,
      second?.id,
    )
    expect(await replayQuarantined({ database: rig.database }, second?.id ?? 0n)).toEqual({ outcome: 'replayed' })
    expect(await rig.rows()).toMatchObject([{ sku: 'A' }, { sku: 'B' }, { sku: 'D' }])
    // While a row does not say what it is about, nothing counts as gone.
    nextDay(rig)
    rig.files.set('2026-11', csv(line('A'), '0001,C,short'))
    await rig.sync()
    expect((await rig.rows()).every(({ gone }) => !gone)).toBe(true)
    nextDay(rig)
    rig.files.set('2026-11', csv(line('A')))
    await rig.sync()
    expect(await rig.rows()).toMatchObject([{ gone: false }, { sku: 'B', gone: true }, { sku: 'D', gone: true }])
  })

  test('that contradict each other are not guessed at, however far apart they are; the same one twice does no harm', async () => {
    const rig = await startRig()
    const filler = Array.from({ length: 1_500 }, (_, index) => line(`F-${index}`))
    rig.files.set('2026-11', csv(line('A', 10, 1), line('B', 10, 1), ...filler, line('A', 10, 2), line('B', 10, 1)))
    await rig.sync()
    expect((await rig.rows()).filter(({ sku }) => sku < 'F')).toMatchObject([{ sku: 'B', sold: 1 }])
    const faults = await rig.database.query(`SELECT record_key, fault, state FROM tallyman.quarantined_records ORDER BY id`)
    const fault = 'the report has different rows for this SKU'
    expect(faults).toEqual([
      { record_key: '2026-11/A', fault: `${fault} (line 2)`, state: 'open' },
      { record_key: '2026-11/A', fault: `${fault} (line 1504)`, state: 'open' },
    ])
    nextDay(rig)
    rig.files.set('2026-11', csv(line('A', 10, 3), ...filler))
    await rig.sync()
    expect((await rig.rows()).find(({ sku }) => sku === 'A')).toMatchObject({ sold: 3 })
    expect(await rig.database.query(`SELECT DISTINCT state FROM tallyman.quarantined_records`)).toEqual([{ state: 'superseded' }])
  })

  test('are stored with U+FFFD in place of a NUL, unless it is in the SKU or in a number', async () => {
    const rig = await startRig()
    const number = line('D').replace(',10,', ',1\u00000,')
    rig.files.set('2026-11', csv(line('A'), line('B').replace('Item, B', 'Item\u0000B'), line('C\u0000'), number))
    await rig.sync()
    expect(await rig.rows()).toMatchObject([{ sku: 'A' }, { sku: 'B' }])
    const [stored] = await rig.database.query(`SELECT raw FROM warehouse.reconciliation_rows WHERE sku = 'B'`)
    expect(stored).toMatchObject({ raw: { 'Item Name': 'Item\uFFFDB' } })
    const faults = await rig.database.query('SELECT record_key, fault FROM tallyman.quarantined_records ORDER BY record_key')
    expect(faults).toEqual([
      { record_key: '2026-11/C\uFFFD', fault: expect.stringContaining('U+FFFD') },
      { record_key: '2026-11/D', fault: expect.stringContaining('not a whole number') },
    ])
  })
})

describe('the lines of a file', () => {
  const counts = async (rig: Rig) => {
    const [report] = await rig.database.query(
      `SELECT line_count, row_count, unread_count, footer_count, skipped_lines FROM warehouse.reconciliation_reports
       WHERE month = '2026-11-01' ORDER BY id DESC LIMIT 1`,
    )
    return report
  }

  test('are all stored, quarantined or skipped, whatever quotes and totals are among them', async () => {
    const rig = await startRig()
    const total = ',Group total,,20,20,0,0,0,0,0,0'
    const open = line('D').replace('"Item, D"', '"Item D')
    const spanning = line('E').replace('"Item, E"', '"Item\nE"')
    const lines = [line('A'), line('B'), total, '', line('C'), open, spanning, '000F,F', ',Subtotal,,9,9,0,0,0,0,0,0']
    rig.files.set('2026-11', csv(...lines, ',,Sum of all,,,,,,,,'))
    await rig.sync()
    expect((await rig.rows()).map(({ sku }) => sku)).toEqual(['A', 'B', 'C', 'D', 'E'])
    const [raw] = await rig.database.query(`SELECT raw FROM warehouse.reconciliation_rows WHERE sku = 'D'`)
    expect(raw).toMatchObject({ raw: { 'Item Name': '"Item D', 'Beginning Quantity': '10' } })
    const [broken, ...others] = await rig.database.query('SELECT fault, record_key FROM tallyman.quarantined_records')
    expect([broken, others]).toEqual([{ fault: 'too few cells: 2 of 11 (line 10)', record_key: null }, []])
    // The row that is broken may be counted in the last total.
    expect(await counts(rig)).toEqual({
      ...{ line_count: 12, row_count: 6, unread_count: 1, footer_count: 3 },
      skipped_lines: { header: 1, blank: 1, total: 2, text: 1, continued: 1 },
    })
    const [{ headers = [] } = {}] = await rig.database.query<{ headers: string[] }>(
      'SELECT headers FROM warehouse.reconciliation_reports',
    )
    expect(headers.join(',')).toBe(csv().split('\n')[0]?.trim())
    const imported = (await rig.changes()).find(({ type }) => type === 'reconciliation_report.imported')
    expect(imported?.data).toMatchObject({ lines: 12, rows: 6, quarantined: 1, skipped: 6 })
  })

  test('may be a total that does not say so, which nobody counts before a person has decided', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', csv(line('A'), line('B'), ',ACME,,20,20,0,0,0,0,0,0', line('C')))
    await rig.sync()
    expect((await rig.rows()).map(({ sku }) => sku)).toEqual(['A', 'B', 'C'])
    const [record] = await rig.database.query<{ id: bigint; fault: string; record_key: string }>(
      'SELECT id, fault, record_key FROM tallyman.quarantined_records',
    )
    expect(record).toMatchObject({ record_key: '2026-11/ACME', fault: expect.stringContaining('may be a total (line 4)') })
    expect(await replayQuarantined({ database: rig.database }, record?.id ?? 0n)).toEqual({ outcome: 'replayed' })
    expect((await rig.rows()).map(({ sku }) => sku)).toContain('ACME')
  })
})

describe('a report that cannot be read', () => {
  test('is kept as it came, calls a person and leaves what is stored; a later good one settles it', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', csv(line('A', 10, 3)))
    await rig.sync()
    nextDay(rig)
    const broken = csv(line('A', 10, 4)).replace('Units Lost', 'Units Astray')
    rig.files.set('2026-11', broken)
    await rig.sync()
    expect(await rig.rows()).toMatchObject([{ sku: 'A', sold: 3, gone: false }])
    expect((await rig.reports()).at(-1)).toMatchObject({
      state: 'faulty',
      fault: expect.stringContaining('the column Units Lost is missing'),
    })
    expect(await rig.alarms()).toEqual([
      { subject: 'reconciliation/2026-11', message: expect.stringContaining('"Units Astray"'), open: true },
    ])
    const chunks = await rig.database.query<{ bytes: Uint8Array }>(
      'SELECT bytes FROM tallyman.report_files ORDER BY report_id, chunk',
    )
    expect(gunzipSync(Buffer.concat(chunks.map(({ bytes }) => bytes))).toString()).toBe(broken)
    // It is not asked for again before there is a new one.
    advance(rig, 2 * hourMs)
    const asked = rig.asked.length
    await rig.sync()
    expect(rig.asked).toHaveLength(asked)
    advance(rig, 22 * hourMs)
    rig.files.set('2026-11', csv(line('A', 10, 5)))
    await rig.sync()
    expect(await rig.rows()).toMatchObject([{ sku: 'A', sold: 5 }])
    expect((await rig.alarms())[0]).toMatchObject({ open: false })
    expect(await rig.chunks()).toBe(0)
  })

  test('is one that suddenly has no rows, but not one that never had any', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', csv(line('A')))
    await rig.sync()
    expect((await rig.reports()).map(({ month, state }) => `${month} ${state}`)).toEqual(['2026-11 imported', '2026-10 imported'])
    nextDay(rig)
    rig.files.set('2026-11', csv())
    await rig.sync()
    expect((await rig.reports()).at(-1)).toMatchObject({
      state: 'faulty',
      fault: 'it has no rows, although earlier reports of the month had some',
    })
    expect(await rig.rows()).toMatchObject([{ sku: 'A', gone: false }])
  })

  test('is one in another encoding than its content type says, before any of its rows is stored', async () => {
    const rig = await startRig()
    const generatedAt = reportSchedule(vocabulary.calendar).latestGeneration(rig.now)
    rig.answer = (response) => sendReport(response, Buffer.from(csv(line('A'), line('ÖL')), 'latin1'), generatedAt)
    await rig.sync()
    expect(await rig.rows()).toEqual([])
    expect(await rig.alarms()).toMatchObject([
      { message: expect.stringContaining('line 3 is not text in UTF-8'), open: true },
      { open: true },
    ])
  })
})

describe('what cannot be read of a report', () => {
  const head =
    'SKU,GTIN,Beginning Quantity,Ending Quantity,Units Sold,Units Returned,Units Lost,Units Found,Units Damaged,Other Adjustments'
  const formatFile = (...lines: readonly string[]): string => `${[head, ...lines].join('\n')}\n`
  const lineA = 'A,00012345678905,10,7,3,0,0,0,0,0'
  const lineB = 'B,00012345678906,5,5,0,0,0,0,0,0'
  const open = (rig: Rig) =>
    rig.database.query(
      `SELECT to_char(month, 'YYYY-MM') AS month, sku, kind FROM warehouse.inventory_discrepancies WHERE state = 'open' ORDER BY month, sku, kind`,
    )
  const storedDay = async (...lines: readonly string[]): Promise<Rig> => {
    const rig = await startRig()
    rig.files.set('2026-11', formatFile(...lines))
    rig.files.set('2026-10', formatFile('A,00012345678905,10,10,0,0,0,0,0,0', lineB))
    await rig.sync()
    await storeLog(rig.database, sellerId, [
      { sku: 'A', id: 's1', kind: 'sold', changedUnits: -3, at: '2026-11-10T12:00:00Z' },
      { sku: 'A', id: 'r1', kind: 'returned', changedUnits: 4, at: '2026-11-21T20:00:00Z' },
    ])
    nextDay(rig)
    return rig
  }
  const importNext = async (rig: Rig, ...lines: readonly string[]): Promise<void> => {
    await logReadUpTo(rig.database, sellerId, rig.now.toISOString(), 'A', 'B', 'C')
    rig.files.set('2026-11', formatFile(...lines))
    await rig.sync()
  }

  test.each(['A,00012345678905,10,11,3,four,0,0,0,0', '00012345678905,10,11,3,4,0,0,0,0'])(
    'makes nothing of the row of the day before, until it can: %s',
    async (unreadable) => {
      const rig = await storedDay(lineA, lineB)
      await importNext(rig, unreadable, lineB)
      expect(await open(rig)).toEqual([])
      expect(await rig.rows()).toMatchObject([
        { sku: 'A', sold: 3, gone: false },
        { sku: 'B', gone: false },
      ])
      expect((await rig.reports()).at(-1)).toMatchObject({ state: 'imported' })
      // The same row as before is read again: now it says that nothing came back.
      await rig.database.execute(`UPDATE warehouse.reconciliation_reports SET covered_until = covered_until + interval '1 day'`)
      nextDay(rig)
      await importNext(rig, lineA, lineB)
      expect(await open(rig)).toEqual([{ month: '2026-11', sku: 'A', kind: 'returned' }])
    },
  )

  test('makes nothing of a SKU that had no row before', async () => {
    const rig = await storedDay(lineA, lineB)
    await storeLog(rig.database, sellerId, [{ sku: 'C', id: 'o1', kind: 'other', changedUnits: 10, at: '2026-11-20T20:00:00Z' }])
    await importNext(rig, 'A,00012345678905,10,11,3,4,0,0,0,0', lineB, 'C,1,0,10,0,0,0,0,0,ten')
    expect(await open(rig)).toEqual([])
    nextDay(rig)
    await importNext(rig, 'A,00012345678905,10,11,3,4,0,0,0,0', lineB)
    expect(await open(rig)).toEqual([{ month: '2026-11', sku: 'C', kind: 'other' }])
  })

  test('makes nothing of the beginning of the month after it', async () => {
    const rig = await startRig()
    rig.files.set('2026-11', formatFile('A,00012345678905,9,9,0,0,0,0,0,0', lineB))
    rig.files.set('2026-10', formatFile('A,00012345678905,10,9,1,0,0,0,0,0', lineB))
    await rig.sync()
    rig.now = pacificHour('2026-12-01', 8)
    rig.files.set('2026-11', formatFile('A,00012345678905,9,8,one,0,0,0,0,0', lineB))
    rig.files.set('2026-12', formatFile('A,00012345678905,8,8,0,0,0,0,0,0', lineB))
    await rig.sync()
    rig.now = pacificHour('2026-12-02', 8)
    await rig.sync()
    expect(await open(rig)).toEqual([])
  })

  test('of a replayed row is judged at once', async () => {
    const rig = await storedDay(lineA, lineB)
    await importNext(rig, 'A,00012345678905,10,11,3,four,0,0,0,0', lineB)
    const [record] = await rig.database.query<{ id: bigint }>(
      `UPDATE tallyman.quarantined_records SET raw_text = replace(raw_text, '"four"', '"4"') RETURNING id`,
    )
    expect(await replayQuarantined({ database: rig.database }, record?.id ?? 0n)).toEqual({ outcome: 'replayed' })
    expect(await rig.database.query('SELECT * FROM tallyman.unread_report_skus')).toEqual([])
  })

  test('is a fault of the report when it is most of it', async () => {
    const rig = await storedDay(lineA, lineB)
    await importNext(rig, 'A,00012345678905,10,11,3,4 pcs,0,0,0,0', 'B,00012345678906,5,5 pcs,0,0,0,0,0,0', 'C,1,0,0,0,0,0,0,0,0')
    expect((await rig.reports()).at(-1)).toMatchObject({
      state: 'faulty',
      fault: '2 of its 3 rows cannot be read; the first error: Units Returned: not a whole number (line 2)',
    })
    expect(await rig.alarms()).toMatchObject([{ subject: 'reconciliation/2026-11', open: true }])
    expect(await rig.chunks()).toBeGreaterThan(0)
    expect(await open(rig)).toEqual([])
  })

  const gone = async (rig: Rig) => (await rig.rows()).flatMap((row) => (row.gone ? [row.sku] : []))

  test.each([
    [],
    ['End of report'],
    ['Generated at,2026-11-22 07:00'],
    [',,5,5,0,0,0,0,0,0'],
    ['Grand Total:,,5,5,0,,,,,'],
    ['Total,,5,5,0,0,0,0,0,0', '', '*** end ***'],
  ])('is not what stands below the rows: %j', async (...footer) => {
    const rig = await storedDay(lineA, lineB, ...footer.map((line) => line.replace(',,5,5,0', ',,15,12,3')))
    await importNext(rig, lineB, ...footer)
    expect(await gone(rig)).toEqual(['A'])
    expect(await rig.rows()).toHaveLength(2)
    expect(await rig.alarms()).toEqual([])
    const [report] = await rig.database.query(
      'SELECT row_count, footer_count, nameless_count FROM warehouse.reconciliation_reports ORDER BY id DESC LIMIT 1',
    )
    expect(report).toEqual({ row_count: 1, footer_count: footer.filter((line) => line !== '').length, nameless_count: 0 })
    expect(await open(rig)).toEqual([
      { month: '2026-11', sku: 'A', kind: 'returned' },
      { month: '2026-11', sku: 'A', kind: 'sold' },
    ])
  })

  test.each([',,6,5,0,0,0,0,0,0', 'Total,,6,5,0,0,0,0,0,0', ',00012345678907,6,5,0,0,0,0,0,0', 'A,00012'])(
    'calls a person where it may be any row: %s',
    async (nameless) => {
      const rig = await storedDay(lineA, lineB)
      await importNext(rig, lineB, nameless)
      expect(await gone(rig)).toEqual([])
      expect(await open(rig)).toEqual([])
      expect(await rig.alarms()).toMatchObject([
        { subject: 'reconciliation/2026-11', message: expect.stringContaining('1 of the 2 rows'), open: true },
      ])
      nextDay(rig)
      await importNext(rig, lineB)
      expect(await gone(rig)).toEqual(['A'])
      expect(await rig.alarms()).toMatchObject([{ open: false }])
    },
  )
})

describe('a try that fails', () => {
  test('is not repeated within the hour by any process; the other month is read meanwhile', async () => {
    const rig = await startRig()
    rig.answer = (response, { target }) =>
      target.includes('2026-11-01')
        ? sendJson(response, 500, {})
        : sendReport(response, csv(line('B')), reportSchedule(vocabulary.calendar).latestGeneration(rig.now))
    await expect(rig.once()).rejects.toBeInstanceOf(Unavailable)
    for (let minutes = 0; minutes < 59; minutes += 5) {
      await rig.sync()
      advance(rig, 5 * minuteMs)
    }
    expect(rig.asked).toEqual(['2026-11', '2026-10'])
    rig.answer = null
    rig.files.set('2026-11', csv(line('A')))
    advance(rig, 5 * minuteMs)
    await rig.sync()
    expect(rig.asked).toEqual(['2026-11', '2026-10', '2026-11'])
    expect(await rig.rows()).toMatchObject([{ sku: 'A' }])
  })

  test('again and again calls a person, until a file comes', async () => {
    const rig = await startRig()
    await rig.sync()
    nextDay(rig)
    rig.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': '9999' })
      response.write(csv(line('A')), () => response.destroy())
    }
    for (let tries = 1; tries <= 3; tries += 1) {
      expect(await rig.alarms()).toEqual([])
      await expect(rig.once()).rejects.toBeInstanceOf(Unavailable)
      await rig.sync()
      advance(rig, hourMs)
    }
    expect(await rig.alarms()).toMatchObject([{ message: expect.stringContaining('3 times in a row'), open: true }])
    // A file that did not come whole leaves nothing behind.
    expect(await rig.reports()).toHaveLength(2)
    expect(await rig.chunks()).toBe(0)
    rig.answer = null
    await rig.sync()
    expect(await rig.alarms()).toMatchObject([{ open: false }])
  })

  test('that never left does not count', async () => {
    const rig = await startRig({
      profile: { ...specification, reconciliationLimit: 'all months' },
      limits: specification.rateLimits,
    })
    rig.files.set('2026-11', csv(line('A')))
    rig.files.set('2026-10', csv(line('A')))
    const first = await rig.once()
    if ('done' in first) throw new Error('one request was enough for two months')
    expect(first.reason).toBe('throttled')
    expect(rig.asked).toEqual(['2026-11'])
    expect(await rig.database.query(`SELECT to_char(month, 'YYYY-MM') AS month FROM tallyman.report_tries`)).toEqual([
      { month: '2026-11' },
    ])
  })

  test('because the seller is not enrolled is asked again in a week', async () => {
    const rig = await startRig()
    rig.answer = (response) => sendJson(response, 404, { errors: [{ code: 'URI_NOT_FOUND' }] })
    await rig.sync()
    advance(rig, 2 * hourMs)
    await rig.sync()
    expect(rig.asked).toEqual(['2026-11'])
    expect(await rig.database.query('SELECT enrolled FROM tallyman.enrolments')).toEqual([{ enrolled: false }])
    const unknown = await startRig()
    unknown.answer = (response) => sendJson(response, 404, { errors: [{ code: 'CONTENT_NOT_FOUND' }] })
    await unknown.sync()
    expect(await unknown.database.query('SELECT enrolled FROM tallyman.enrolments')).toEqual([{ enrolled: false }])
  })
})

describe('months in between', () => {
  /** The daemon was off since July: four months are to be caught up with, and the one that was running then to be read to its end. */
  const offSinceJuly = async (): Promise<Rig> => {
    const rig = await startRig({ now: pacificHour('2026-07-20', 8) })
    for (const month of ['2026-07', '2026-08', '2026-09', '2026-10', '2026-11']) rig.files.set(month, csv(line('A')))
    rig.files.set('2026-06', csv(line('A')))
    await rig.sync()
    rig.now = pacificHour('2026-11-21', 8)
    rig.asked.length = 0
    return rig
  }
  const imported = (rig: Rig) =>
    rig.database.query(
      `SELECT DISTINCT to_char(month, 'YYYY-MM') AS month FROM warehouse.reconciliation_reports WHERE state = 'imported' ORDER BY 1`,
    )
  const all = ['2026-06', '2026-07', '2026-08', '2026-09', '2026-10', '2026-11'].map((month) => ({ month }))

  test.each(['CONTENT_NOT_FOUND', 'URI_NOT_FOUND'])(
    'come later where one is denied once with %s, and the others meanwhile',
    async (code) => {
      const rig = await offSinceJuly()
      let denials = 1
      rig.answer = (response, { target }) => {
        if (target.includes('2026-09-01') && denials > 0) {
          denials -= 1
          return sendJson(response, 404, { errors: [{ code }] })
        }
        return sendReport(response, csv(line('A')), reportSchedule(vocabulary.calendar).latestGeneration(rig.now))
      }
      await rig.sync()
      expect(rig.asked).toEqual(['2026-11', '2026-10', '2026-09', '2026-08', '2026-07', '2026-06'])
      expect(await imported(rig)).toEqual(all.filter(({ month }) => month !== '2026-09'))
      expect(await rig.database.query('SELECT enrolled FROM tallyman.enrolments')).toEqual([{ enrolled: true }])
      advance(rig, hourMs)
      await rig.sync()
      expect(rig.asked.slice(6)).toEqual(['2026-09'])
      expect(await imported(rig)).toEqual(all)
      expect(await rig.alarms()).toEqual([])
    },
  )

  test('come though the first answer shows that our clock is off, so that all is planned anew', async () => {
    const rig = await offSinceJuly()
    rig.answer = (response, { target }) => {
      response.setHeader('date', new Date(rig.now.getTime() + 3 * minuteMs).toUTCString())
      const month = /startDate=(\d{4}-\d{2})/.exec(target)?.[1] ?? ''
      sendReport(response, rig.files.get(month) ?? csv(), reportSchedule(vocabulary.calendar).latestGeneration(rig.now))
    }
    await rig.sync()
    expect(await imported(rig)).toEqual(all)
  })
})

describe('after a crash', () => {
  /** A database that loses its connection when a page is to be stored for the n-th time. */
  const failing = (database: Database, failAt: number): Database => {
    let pages = 0
    return {
      ...database,
      transaction: (work, options) =>
        database.transaction(async (tx) => {
          const result = await work({
            ...tx,
            execute: (sql, ...parameters) => {
              if (sql.includes('UPDATE tallyman.sync_states')) {
                pages += 1
                if (pages >= failAt) throw new Error('connection lost')
              }
              return tx.execute(sql, ...parameters)
            },
          })
          return result
        }, options),
    }
  }

  test.each([1, 2, 3, 4])('at page %i the import goes on without asking again', async (failAt) => {
    const rig = await startRig()
    const skus = Array.from({ length: 2_300 }, (_, index) => `SKU-${index}`)
    rig.files.set('2026-11', csv(...skus.map((sku) => line(sku))))
    await expect(rig.once('reports', { database: failing(rig.database, failAt) })).rejects.toThrow('connection lost')
    expect(rig.asked).toEqual(['2026-11'])
    expect(await rig.chunks()).toBeGreaterThan(0)
    // Only the try stops the next request, and only the stored file makes it needless.
    advance(rig, 5 * minuteMs)
    await rig.sync()
    expect(rig.asked).toEqual(['2026-11', '2026-10'])
    expect(await rig.rows()).toHaveLength(2_300)
    expect((await rig.reports())[0]).toMatchObject({ state: 'imported', row_count: 2_300, changed_count: 2_300 })
    expect(await rig.chunks()).toBe(0)
  })

  test('in the middle of a download nothing of it is left after the next one', async () => {
    const rig = await startRig()
    await rig.database.execute(
      `INSERT INTO warehouse.reconciliation_reports (id, seller_id, month, state, retrieved_at, correlation_id)
       VALUES (0, $1, '2026-11-01', 'downloading', now(), 'x')`,
      sellerId,
    )
    await rig.database.execute(`INSERT INTO tallyman.report_files VALUES (0, 0, 0, '\\x00')`)
    await rig.sync()
    expect((await rig.reports()).map(({ state }) => state)).toEqual(['imported', 'imported'])
    expect(await rig.chunks()).toBe(0)
  })

  test('while rows are judged anew, that goes on', async () => {
    const rig = await startRig()
    const skus = Array.from({ length: 2_300 }, (_, index) => `SKU-${index}`)
    rig.files.set('2026-11', csv(...skus.map((sku) => line(sku))))
    await rig.sync()
    nextDay(rig)
    // Three pages of rows, the last step of the import, then a page of rows to judge.
    await expect(rig.once('reports', { database: failing(rig.database, 3) })).rejects.toThrow('connection lost')
    expect((await rig.reports()).at(-1)).toMatchObject({ state: 'imported' })
    const [state] = await rig.database.query<{ step: string | null }>(
      `SELECT totals -> 'importAt' ->> 'step' AS step FROM tallyman.sync_states`,
    )
    expect(state?.step).toBe('review')
    await rig.sync()
    expect(rig.asked).toHaveLength(3)
  })
})

describe('a backfill', () => {
  const backfill = (rig: Rig, from: string, to: string) =>
    requestBackfill(rig.database, { sellerId, resource: 'reconciliation', range: { from: new Date(from), to: new Date(to) } })

  test('reads month by month, none before 2022 and none that has no report yet', async () => {
    const rig = await startRig({ now: pacificHour('2022-04-01', 12) })
    rig.files.set('2022-02', csv(line('A')))
    const outOfReach = (of: string) =>
      rig.database.query(`SELECT totals ->> 'outOfReachBefore' AS before FROM tallyman.sync_states WHERE stream = $1`, of)
    const { stream } = await backfill(rig, '2021-06-01T08:00:00Z', '2022-04-30T00:00:00Z')
    await rig.sync(stream)
    expect(await outOfReach(stream)).toEqual([{ before: pacificMidnight('2022-01-01').toISOString() }])
    expect(rig.asked).toEqual(['2022-01', '2022-02', '2022-03'])
    expect(await rig.rows('2022-02')).toMatchObject([{ sku: 'A' }])
    const { stream: older } = await backfill(rig, '2020-06-01T08:00:00Z', '2021-04-30T00:00:00Z')
    await rig.sync(older)
    expect(rig.asked).toHaveLength(3)
    expect(await outOfReach(older)).toEqual([{ before: '2021-04-30T00:00:00.000Z' }])
  })

  test('waits for the rest of the hour where a month was asked for before', async () => {
    const rig = await startRig()
    await rig.sync()
    advance(rig, 20 * minuteMs)
    const { stream } = await backfill(rig, '2026-10-05T00:00:00Z', '2026-10-06T00:00:00Z')
    const outcome = await rig.once(stream)
    if ('done' in outcome) throw new Error('it did not wait')
    expect(Math.round((outcome.runAgainAt.getTime() - Date.now()) / minuteMs)).toBe(40)
    advance(rig, 40 * minuteMs)
    await rig.sync(stream)
    expect(rig.asked).toEqual(['2026-11', '2026-10', '2026-10'])
  })

  test('gives a month up that cannot be had three times, and reads the others', async () => {
    const rig = await startRig()
    rig.answer = (response, { target }) =>
      target.includes('2026-08')
        ? sendJson(response, 500, {})
        : sendReport(response, csv(line('A')), reportSchedule(vocabulary.calendar).latestGeneration(rig.now))
    const { stream } = await backfill(rig, '2026-08-05T00:00:00Z', '2026-09-06T00:00:00Z')
    for (let tries = 1; tries <= 2; tries += 1) {
      await expect(rig.once(stream)).rejects.toBeInstanceOf(Unavailable)
      advance(rig, hourMs)
    }
    await rig.sync(stream)
    expect(rig.asked).toEqual(['2026-08', '2026-08', '2026-08', '2026-09'])
    expect(await rig.rows('2026-09')).toMatchObject([{ sku: 'A' }])
    expect(await rig.alarms()).toMatchObject([{ subject: 'reconciliation/2026-08', open: true }])
  })

  test('that is so slow that its report is requested again ends without an error when the later one is stored', async () => {
    const rig = await startRig()
    // Larger than a chunk, so that a part of it is stored before the rest arrives.
    const text = csv(...Array.from({ length: 12_000 }, (_, index) => line(`SKU-${index}`)))
    const rest = Promise.withResolvers<void>()
    rig.answer = (response) => {
      rig.answer = null
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' })
      response.write(text.slice(0, 400_000))
      void rest.promise.then(() => response.end(text.slice(400_000)))
    }
    const { stream } = await backfill(rig, '2026-11-02T00:00:00Z', '2026-11-06T00:00:00Z')
    const slow = rig.once(stream)
    await eventually(async () => expect(await rig.chunks()).toBeGreaterThan(0))
    advance(rig, hourMs)
    rig.files.set('2026-11', csv(line('A')))
    await rig.sync()
    rest.resolve()
    await slow
    expect(rig.asked.filter((month) => month === '2026-11')).toHaveLength(2)
    expect((await rig.rows()).map(({ sku }) => sku)).toEqual(['A'])
    expect((await rig.reports()).filter(({ month }) => month === '2026-11')).toMatchObject([{ state: 'imported' }])
    expect(await rig.chunks()).toBe(0)
  })

  test('and the daily sync at the same time ask once', async () => {
    const rig = await startRig()
    const skus = Array.from({ length: 1_200 }, (_, index) => `SKU-${index}`)
    rig.files.set('2026-11', csv(...skus.map((sku) => line(sku))))
    const { stream } = await backfill(rig, '2026-11-02T00:00:00Z', '2026-11-06T00:00:00Z')
    await Promise.all([rig.once(), rig.once(stream)])
    expect(rig.asked.filter((month) => month === '2026-11')).toHaveLength(1)
    await rig.sync()
    expect(await rig.rows()).toHaveLength(1_200)
  })
})

test('a report by GTIN counts for the SKU that the log has named beside it, from then on', async () => {
  const rig = await startRig({ now: new Date('2026-10-20T16:00:00Z') })
  const byGtin = (beginning: number) =>
    `GTIN,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other\n0001,${beginning},${beginning},0,0,0,0,0,0\n0002,5,5,0,0,0,0,0,0\n`
  rig.files.set('2026-10', byGtin(10))
  await rig.sync()
  expect((await rig.rows('2026-10')).map(({ sku }) => sku)).toEqual(['0001', '0002'])
  await rig.database.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, gtin, source) VALUES ($1, 'SKU-1', '0001', 'orders'), ($1, 'SKU-2', '0002', 'orders'), ($1, 'SKU-3', '0002', 'orders')`,
    sellerId,
  )
  rig.now = new Date('2026-10-21T16:00:00Z')
  rig.files.set('2026-10', byGtin(12))
  await rig.sync()
  // Two SKUs have the second GTIN: whose row it is nobody knows.
  expect((await rig.rows('2026-10')).filter(({ gone }) => !gone).map(({ sku }) => sku)).toEqual(['0002', 'SKU-1'])
  expect(await rig.database.query(`SELECT 1 FROM warehouse.inventory_discrepancies WHERE state = 'open'`)).toEqual([])
  expect((await rig.changes()).filter(({ type }) => type === 'reconciliation_row.gone')).toEqual([])
})

describe('a report by GTIN', () => {
  const byGtin = (...lines: readonly string[]): string =>
    `${['GTIN,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other', ...lines].join('\n')}\n`
  const gtin = '00012345678905'
  const open = (rig: Rig) =>
    rig.database.query(
      `SELECT to_char(month, 'YYYY-MM') AS month, sku, kind FROM warehouse.inventory_discrepancies WHERE state = 'open' ORDER BY month, sku, kind`,
    )
  const know = (rig: Rig, skus: readonly string[], of: string | null) =>
    rig.database.execute(
      `INSERT INTO tallyman.inventory_skus (seller_id, sku, gtin, source, log_read_up_to, log_read_at)
       SELECT $1, sku, $3, 'orders', $4::timestamptz, $4::timestamptz FROM unnest($2::text[]) AS t(sku)
       ON CONFLICT (seller_id, sku) DO UPDATE SET gtin = excluded.gtin`,
      sellerId,
      skus,
      of,
      rig.now.toISOString(),
    )
  const sold = (sku: string, units: number, at = '2026-11-10T12:00:00Z') =>
    ({ sku, id: `${sku} ${at}`, kind: 'sold', changedUnits: -units, at }) as const

  test('counts for its SKU in whatever length the GTIN is written', async () => {
    const rig = await startRig()
    await know(rig, ['A'], gtin)
    await storeLog(rig.database, sellerId, [sold('A', 3)])
    rig.files.set('2026-11', byGtin('012345678905,10,7,3,0,0,0,0,0'))
    await rig.sync()
    expect((await rig.rows()).map(({ sku }) => sku)).toEqual(['A'])
    expect(await open(rig)).toEqual([])
  })

  test('says nothing of the SKUs that share a GTIN, as long as it has a row of it', async () => {
    const rig = await startRig()
    await know(rig, ['A', 'A-USED'], gtin)
    await know(rig, ['B'], '00012345678906')
    await storeLog(rig.database, sellerId, [sold('A', 3), sold('A-USED', 2), sold('B', 1)])
    rig.files.set('2026-11', byGtin(`${gtin},10,5,5,0,0,0,0,0`))
    await rig.sync()
    // That of B is known, and has no row.
    expect(await open(rig)).toEqual([{ month: '2026-11', sku: 'B', kind: 'sold' }])
  })

  test('says nothing of a SKU whose GTIN nobody knows, and counts for it in all months once somebody does', async () => {
    const rig = await startRig()
    await know(rig, ['A'], null)
    await storeLog(rig.database, sellerId, [sold('A', 3), sold('A', 1, '2026-10-10T12:00:00Z')])
    rig.files.set('2026-11', byGtin(`${gtin},10,7,3,0,0,0,0,0`))
    rig.files.set('2026-10', byGtin(`${gtin},12,10,2,0,0,0,0,0`))
    await rig.sync()
    expect(await open(rig)).toEqual([])
    await know(rig, ['A'], gtin)
    nextDay(rig)
    await rig.sync()
    expect((await rig.rows('2026-10')).map(({ sku }) => sku)).toEqual(['A'])
    expect((await rig.rows()).map(({ sku }) => sku)).toEqual(['A'])
    expect(await open(rig)).toEqual([{ month: '2026-10', sku: 'A', kind: 'sold' }])
  })
})

test('one item of the running month is read on demand, held against the log, and not stored', async () => {
  const rig = await startRig({ now: new Date('2026-10-20T16:00:00Z') })
  rig.files.set('2026-10', csv(line('A', 10, 3)))
  const read = () =>
    readGtinReport({ client: rig.deps.client(sellerId), database: rig.database }, '000A', {
      signal: new AbortController().signal,
    })
  const row = { sku: 'A', gtin: '000A', beginningQuantity: 10, endingQuantity: 7, sold: 3 }
  expect(await read()).toMatchObject({ sellerId, month: '2026-10', rows: [{ ...row, compared: false, differences: [] }] })
  await rig.database.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, source, log_read_up_to) VALUES ($1, 'A', 'settings', '2026-10-20T15:00:00Z')`,
    sellerId,
  )
  const differences = [{ kind: 'sold', reportUnits: 3, expectedUnits: 0, difference: 3 }]
  expect(await read()).toMatchObject({ rows: [{ ...row, compared: true, differences }] })
  expect(await rig.rows('2026-10')).toEqual([])
  rig.answer = (response) => sendJson(response, 404, { errors: [{ code: 'CONTENT_NOT_FOUND' }] })
  expect(await read()).toMatchObject({ generatedAt: null, rows: [] })
})

test('a row that does not add up is found, and settled once it does', async () => {
  const rig = await startRig()
  rig.files.set('2026-11', csv(line('A').replace(',10,10,', ',10,9,')))
  await rig.sync()
  const discrepancies = () => rig.database.query(`SELECT sku, state FROM warehouse.inventory_discrepancies`)
  expect(await discrepancies()).toEqual([{ sku: 'A', state: 'open' }])
  nextDay(rig)
  rig.files.set('2026-11', csv(line('A', 10, 1)))
  await rig.sync()
  expect(await discrepancies()).toEqual([{ sku: 'A', state: 'resolved' }])
})

test('a difference that depends on an entry newer than the report is claimed only when the report, read again, still shows it', async () => {
  const rig = await startRig()
  rig.files.set('2026-10', csv(line('A')))
  await rig.sync()
  const claimed = async () => ({
    claims: await rig.database.query(`SELECT kind, units::int, state FROM warehouse.claims`),
    uncertain: await rig.database.query(
      `SELECT uncertain_reasons FROM tallyman.claim_rows WHERE month = '2026-10-01' AND sku = 'A'`,
    ),
  })
  await logReadUpTo(rig.database, sellerId, rig.now.toISOString(), 'A')
  await rig.database.execute(`UPDATE tallyman.inventory_skus SET log_known_at = log_read_at`)
  advance(rig, hourMs)
  await storeLog(rig.database, sellerId, [
    { sku: 'A', id: 'late', kind: 'returned', changedUnits: 2, at: '2026-10-15T12:00:00Z' },
  ])
  await rig.database.execute(`UPDATE warehouse.inventory_log_entries SET observed_at = $1::timestamptz`, rig.now.toISOString())
  await rig.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, [{ sku: 'A', month: '2026-10' }]))
  expect(await claimed()).toEqual({ claims: [], uncertain: [{ uncertain_reasons: { 'older-report': 2 } }] })
  await rig.sync()
  expect(rig.asked).toEqual(['2026-11', '2026-10'])
  nextDay(rig)
  await rig.sync()
  expect(rig.asked.slice(2)).toEqual(['2026-11', '2026-10'])
  expect(await claimed()).toEqual({
    claims: [{ kind: 'returned', units: 2, state: 'open' }],
    uncertain: [{ uncertain_reasons: {} }],
  })
  nextDay(rig)
  await rig.sync()
  expect(rig.asked.slice(4)).toEqual(['2026-11'])
})

describe('at the sandbox', () => {
  const bench = withSyncBench()

  test('two months of stock add up, day after day, in any form of the file', async () => {
    const { sellerId: seller, sync, requests } = await bench.seller()
    await bench.sandbox.control('POST', '/inventory', { sellerId: seller, skus: 1_300, entriesPerSku: 6, prefix: 'BULK' })
    await sync('reconciliation', 'reports')
    const months = await bench.database.query<{ rows: number; moved: number; off: number }>(
      `SELECT count(*)::int AS rows, count(*) FILTER (WHERE beginning_quantity <> ending_quantity)::int AS moved,
         count(*) FILTER (WHERE ending_quantity <> beginning_quantity - abs(sold) + abs(returned) - abs(lost) + abs(found) - abs(damaged)
           + other_adjustments)::int AS off
       FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND sku LIKE 'BULK%' GROUP BY month ORDER BY month`,
      seller,
    )
    expect(months).toMatchObject([
      { rows: 1_300, off: 0 },
      { rows: 1_300, off: 0 },
    ])
    expect(months.reduce((sum, { moved }) => sum + moved, 0)).toBeGreaterThan(1_000)
    await bench.sandbox.control('PUT', '/report', {
      columns: ['other', 'damaged', 'found', 'lost', 'returned', 'sold', 'ending', 'beginning', 'itemName', 'sku', 'gtin'],
      letterCase: 'upper',
      byteOrderMark: true,
      lineBreak: '\r\n',
      contentType: 'application/octet-stream',
      disposition: 'attachment:',
    })
    await bench.advance('24h')
    // Any answer tells what time it is at the marketplace.
    await sync('returns', 'changed')
    await sync('reconciliation', 'reports')
    const reports = await bench.database.query<{ month: string; state: string; row_count: number }>(
      `SELECT to_char(month, 'YYYY-MM') AS month, state, row_count FROM warehouse.reconciliation_reports WHERE seller_id = $1 ORDER BY id`,
      seller,
    )
    expect(reports.length).toBeGreaterThanOrEqual(3)
    expect(reports.every(({ state, row_count: rows }) => state === 'imported' && rows === reports[0]?.row_count)).toBe(true)
    const asked = (await requests()).filter((request) => request.includes('InventoryReconciliationReport'))
    expect(asked).toHaveLength(reports.length)
    await sync('reconciliation', 'reports')
    expect((await requests()).filter((request) => request.includes('InventoryReconciliationReport'))).toHaveLength(asked.length)
    const alarms = await bench.database.query('SELECT 1 FROM tallyman.alarms WHERE seller_id = $1', seller)
    expect(alarms).toEqual([])
  })
})
