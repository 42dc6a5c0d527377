import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/store/db/database.ts'
import {
  beginReport,
  claimTry,
  completeReport,
  findOtherImport,
  findReport,
  findWaitingReport,
  finishReport,
  markFaulty,
  readReportMonths,
  releaseTry,
  removeReport,
  type StoredReport,
  settleTry,
} from '../../src/store/inventory/reconciliation-reports.ts'
import {
  findDifferingRows,
  listMonthSkus,
  markMissingRows,
  type ReportedRow,
  storeDifferingRows,
} from '../../src/store/inventory/reconciliation-rows.ts'
import { ReportFileRemoved, readReportFile, writeReportFile } from '../../src/store/inventory/report-files.ts'
import type { StorableRecord } from '../../src/store/versioned/versions.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { pacificMidnight } from '../support/vocabulary.ts'
import { reportRecord } from './support/records.ts'

const stage = withDatabase({ each: 'test', connections: 4 })
const sellerId = 'S-1'
const month = '2026-11'
const key = { sellerId, month }
const at = (day: number): Date => new Date(Date.UTC(2026, 10, day, 16))

const pieces = async function* (bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

const arrive = async (database: Database, day: number, bytes = Buffer.from('SKU\nA\n')): Promise<StoredReport> => {
  const retrievedAt = at(day)
  const id = await beginReport(database, {
    ...key,
    fileName: 'report.csv',
    generatedAt: retrievedAt,
    retrievedAt,
    correlationId: 'c',
  })
  await completeReport(database, id, await writeReportFile(database, id, pieces(bytes, 10_007)))
  const report = await findReport(database, id)
  if (report === null) throw new Error('the report is not there')
  return report
}

const record = (reportId: bigint | null, sku: string, sold = 0) => reportRecord(month, sku, sold, reportId)

const store = async (database: Database, observedAt: Date, records: readonly StorableRecord<ReportedRow>[]): Promise<number> => {
  const differing = await findDifferingRows(database, sellerId, records)
  return database.transaction((tx) => storeDifferingRows(tx, sellerId, observedAt, differing))
}

const listRows = (database: Database) =>
  database.query<{ sku: string; sold: number; report_id: bigint; missing: boolean }>(
    'SELECT sku, sold, report_id, missing_since IS NOT NULL AS missing FROM warehouse.reconciliation_rows ORDER BY sku',
  )

const finish = (database: Database, report: StoredReport): Promise<boolean> =>
  database.transaction((tx) => {
    const skippedLines = { header: 1, blank: 0, total: 0, text: 0, continued: 0 }
    const counts = { lineCount: 2, rowCount: 1, unreadCount: 0, namelessCount: 0, headers: [], skippedLines }
    return finishReport(tx, report, { ...counts, byGtin: false })
  })

describe('a file', () => {
  const bytes = randomBytes(700_000)

  test('is stored in chunks that together are one gzip file, and can be read from any byte on', async () => {
    const { database } = stage
    const report = await arrive(database, 21, bytes)
    expect(report.byteCount).toBe(bytes.length)
    const chunks = await database.query<{ bytes: Uint8Array }>('SELECT bytes FROM tallyman.report_files ORDER BY chunk')
    expect(chunks.length).toBeGreaterThan(2)
    expect(gunzipSync(Buffer.concat(chunks.map((chunk) => chunk.bytes))).equals(bytes)).toBe(true)
    for (const from of [0, 1, 262_143, 270_000, 699_999, 700_000]) {
      const read: Uint8Array[] = []
      for await (const piece of readReportFile(database, report, from)) read.push(piece)
      expect(Buffer.concat(read).equals(bytes.subarray(from))).toBe(true)
    }
  })

  test('that has lost a part is not read as a shorter one', async () => {
    const { database } = stage
    const report = await arrive(database, 21, bytes)
    await database.execute('DELETE FROM tallyman.report_files WHERE chunk = 1')
    const read = async (): Promise<void> => {
      for await (const piece of readReportFile(database, report)) expect(piece.length).toBeGreaterThan(0)
    }
    await expect(read()).rejects.toBeInstanceOf(ReportFileRemoved)
  })

  test('of a download that broke off leaves nothing', async () => {
    const { database } = stage
    const id = await beginReport(database, {
      ...key,
      fileName: null,
      generatedAt: at(21),
      retrievedAt: at(21),
      correlationId: 'c',
    })
    await writeReportFile(database, id, pieces(bytes, 50_000))
    expect(await findWaitingReport(database, key)).toBeNull()
    await removeReport(database, id)
    expect(await database.query('SELECT 1 FROM tallyman.report_files')).toEqual([])
  })
})

describe('two downloads of a month at the same time', () => {
  const begin = () =>
    beginReport(stage.database, { ...key, fileName: null, generatedAt: at(21), retrievedAt: at(21), correlationId: 'c' })
  const bytes = randomBytes(700_000)

  test('do not disturb each other', async () => {
    const { database } = stage
    const ids = [await begin(), await begin()]
    const sizes = await Promise.all(ids.map((id) => writeReportFile(database, id, pieces(bytes, 50_000))))
    for (const id of ids) await completeReport(database, id, bytes.length)
    expect(sizes).toEqual([bytes.length, bytes.length])
    expect((await findWaitingReport(database, key))?.reportId).toBe(ids[1])
  })

  test('end with the later one when its rows are stored: the earlier one stores nothing any more', async () => {
    const { database } = stage
    const earlier = await begin()
    const ended = async function* (): AsyncGenerator<Uint8Array> {
      yield bytes
      expect(await finish(database, await arrive(database, 21))).toBe(true)
      yield bytes
    }
    await expect(writeReportFile(database, earlier, ended())).rejects.toBeInstanceOf(ReportFileRemoved)
    await expect(completeReport(database, earlier, bytes.length)).rejects.toBeInstanceOf(ReportFileRemoved)
    expect(await database.query('SELECT state FROM warehouse.reconciliation_reports')).toEqual([{ state: 'imported' }])
    expect(await database.query('SELECT 1 FROM tallyman.report_files')).toEqual([])
  })
})

describe('tries', () => {
  test('of one month are claimed by one of those who knew the same', async () => {
    const { database } = stage
    const claims = await Promise.all([1, 2, 3, 4].map(() => claimTry(database, key, at(21), null)))
    expect(claims.filter((claimed) => claimed)).toHaveLength(1)
    expect(await claimTry(database, key, at(22), at(20))).toBe(false)
    const again = await Promise.all(
      [1, 2, 3, 4].map((minute) => claimTry(database, key, new Date(at(22).getTime() + minute), at(21))),
    )
    expect(again.filter((claimed) => claimed)).toHaveLength(1)
  })

  test('that asked nothing are taken back', async () => {
    const { database } = stage
    await claimTry(database, key, at(21), null)
    await releaseTry(database, key, null)
    expect(await readReportMonths(database, sellerId)).toEqual([])
    await claimTry(database, key, at(21), null)
    await claimTry(database, key, at(22), at(21))
    await releaseTry(database, key, at(21))
    expect(await readReportMonths(database, sellerId)).toEqual([
      { month, triedAt: at(21), newest: null, waiting: false, failures: 0, lateEntryAt: null, requested: null },
    ])
  })

  test('that fail are counted until one does not', async () => {
    const { database } = stage
    await claimTry(database, key, at(21), null)
    expect(await settleTry(database, key, at(21), { fault: 'HTTP 500' })).toBe(1)
    expect(await settleTry(database, key, at(21), { fault: 'HTTP 500' })).toBe(2)
    expect(await settleTry(database, key, at(21), 'none')).toBe(3)
    expect(await readReportMonths(database, sellerId)).toMatchObject([{ failures: 3 }])
    expect(await settleTry(database, key, at(21), 'file')).toBe(0)
    expect(await database.query('SELECT 1 FROM tallyman.alarms')).toEqual([])
  })
})

describe('a month', () => {
  test('is known by its tries and its newest report', async () => {
    const { database } = stage
    const first = await arrive(database, 20)
    await finish(database, first)
    await arrive(database, 21)
    await claimTry(database, { sellerId, month: '2026-09' }, at(1), null)
    expect(await readReportMonths(database, sellerId)).toEqual([
      { month: '2026-09', triedAt: at(1), newest: null, waiting: false, failures: 0, lateEntryAt: null, requested: null },
      {
        month,
        triedAt: null,
        newest: { generatedAt: at(21), retrievedAt: at(21) },
        waiting: true,
        failures: 0,
        lateEntryAt: null,
        requested: null,
      },
    ])
    expect(await readReportMonths(database, sellerId, '2026-09')).toHaveLength(1)
    expect(await readReportMonths(database, 'S-2')).toEqual([])
  })

  test('is finished once, and with it what was kept of earlier reports goes', async () => {
    const { database } = stage
    const faulty = await arrive(database, 19)
    await database.transaction((tx) => markFaulty(tx, faulty, 'the column SKU is missing'))
    const superseded = await arrive(database, 20)
    const report = await arrive(database, 21)
    expect(await findWaitingReport(database, key)).toMatchObject({ reportId: report.reportId })
    expect(await finish(database, report)).toBe(true)
    expect(await finish(database, report)).toBe(false)
    expect(await database.query('SELECT 1 FROM tallyman.report_files')).toEqual([])
    expect(await findReport(database, superseded.reportId)).toBeNull()
    expect(await findOtherImport(database, faulty)).toEqual({ generatedAt: at(21), coveredUntil: pacificMidnight('2026-11-21') })
    const open = await database.query('SELECT 1 FROM tallyman.alarms WHERE resolved_at IS NULL')
    expect(open).toEqual([])
  })
})

describe('rows', () => {
  test('contain up to when they count: as the newest imported report of the month, or as the one that has just changed them', async () => {
    const { database } = stage
    const first = await arrive(database, 20)
    await store(database, at(20), [record(first.reportId, 'A', 1), record(first.reportId, 'B')])
    await finish(database, first)
    const second = await arrive(database, 21)
    await store(database, at(21), [record(second.reportId, 'A', 2), record(second.reportId, 'B')])
    const current = () =>
      database.query('SELECT sku, sold, covered_until FROM warehouse.reconciliation_current_rows ORDER BY sku')
    const [before, after] = [pacificMidnight('2026-11-20'), pacificMidnight('2026-11-21')]
    expect(await current()).toEqual([
      { sku: 'A', sold: 2, covered_until: after },
      { sku: 'B', sold: 0, covered_until: before },
    ])
    await finish(database, second)
    expect(await current()).toEqual([
      { sku: 'A', sold: 2, covered_until: after },
      { sku: 'B', sold: 0, covered_until: after },
    ])
    expect(await listRows(database)).toMatchObject([{ report_id: second.reportId }, { report_id: first.reportId }])
  })

  test('of an older report never overwrite those of a newer one, nor mark them as missing', async () => {
    const { database } = stage
    const first = await arrive(database, 20)
    const second = await arrive(database, 21)
    await store(database, at(21), [record(second.reportId, 'A', 2)])
    expect(await store(database, at(20), [record(first.reportId, 'A', 1)])).toBe(0)
    expect(await database.transaction((tx) => markMissingRows(tx, sellerId, at(20), ['2026-11/A', '2026-11/Z']))).toBe(0)
    expect(await listRows(database)).toMatchObject([{ sku: 'A', sold: 2, missing: false }])
  })

  test('that two writers store concurrently are stored once, and the later observation wins', async () => {
    const { database } = stage
    const report = await arrive(database, 21)
    const skus = Array.from({ length: 200 }, (_, index) => `SKU-${index}`)
    const differing = await Promise.all(
      [1, 2].map((sold) =>
        findDifferingRows(
          database,
          sellerId,
          skus.map((sku) => record(report.reportId, sku, sold)),
        ),
      ),
    )
    const counts = await Promise.all(
      differing.map((rows, index) => database.transaction((tx) => storeDifferingRows(tx, sellerId, at(21 + index), rows))),
    )
    expect(counts[1]).toBe(200)
    const rows = await listRows(database)
    expect(rows).toHaveLength(200)
    expect(rows.every(({ sold }) => sold === 2)).toBe(true)
  })

  test('that are missing leave the month, return unchanged, and are recorded', async () => {
    const { database } = stage
    const first = await arrive(database, 20)
    await store(database, at(20), [record(first.reportId, 'A'), record(first.reportId, 'B')])
    expect(await database.transaction((tx) => markMissingRows(tx, sellerId, at(21), ['2026-11/B']))).toBe(1)
    expect(await database.transaction((tx) => markMissingRows(tx, sellerId, at(21), ['2026-11/B']))).toBe(0)
    expect(await listMonthSkus(database, sellerId, month, '', 10)).toEqual(['A'])
    expect(await database.query('SELECT sku FROM warehouse.reconciliation_current_rows')).toEqual([{ sku: 'A' }])
    const second = await arrive(database, 22)
    expect(await store(database, at(22), [record(second.reportId, 'A'), record(second.reportId, 'B')])).toBe(1)
    expect(await listRows(database)).toMatchObject([{ missing: false }, { missing: false, report_id: second.reportId }])
    // The same text again is no other version.
    expect(await database.query('SELECT 1 FROM tallyman.superseded_versions')).toEqual([])
    const recorded = await (await numbered(database)).query<{ type: string }>('SELECT type FROM warehouse.changes ORDER BY seq')
    expect(recorded.map(({ type }) => type)).toEqual(['reconciliation_row.gone', 'reconciliation_row.changed'])
  })

  test('that come out of quarantine belong to the newest report of their month', async () => {
    const { database } = stage
    await arrive(database, 20)
    const second = await arrive(database, 21)
    await store(database, at(21), [record(null, 'A')])
    expect(await listRows(database)).toMatchObject([{ sku: 'A', report_id: second.reportId }])
  })
})
