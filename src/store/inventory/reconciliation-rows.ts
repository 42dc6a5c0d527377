import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import { parseRowKey, type ReconciliationRow, rowKey } from '../../domain/inventory/reconciliation-report.ts'
import type { Calendar } from '../../domain/values/calendar.ts'
import { normalSku } from '../../domain/values/text.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { markTable } from '../versioned/table-marks.ts'
import { type LockedRow, mapLockedRows, versionedTable } from '../versioned/versioned-table.ts'
import type { DifferingRecord } from '../versioned/versions.ts'
import { reviewDiscrepancies } from './discrepancies.ts'
import type { SkuMonth } from './discrepancy-sources.ts'
import { gtin14Sql, knownGtins, recordListedSkus } from './inventory-skus.ts'
import type { StoredReport } from './reconciliation-reports.ts'

markTable('warehouse.reconciliation_current_rows', {
  none: `seller_id month sku gtin beginning_quantity ending_quantity sold returned lost found damaged other_adjustments report_id
      covered_until observed_at first_seen_at changed_at`,
})

/** A row and its report; null: the row is replayed from quarantine. */
export interface ReportedRow {
  readonly row: ReconciliationRow
  readonly reportId: bigint | null
}

/** The resource of earlier versions and quarantined rows. */
const resource = 'reconciliation'

/** How far back the marketplace returns the log (public facts, section 7.1). Earlier movements do not make it due. */
const logReachMs = 365 * 86_400_000

/** The state of a row in the change feed. */
interface RowState {
  readonly beginningQuantity: number
  readonly endingQuantity: number
  readonly sold: number
  readonly returned: number
  readonly lost: number
  readonly found: number
  readonly damaged: number
  readonly otherAdjustments: number
}

interface StoredRow extends LockedRow, RowState {
  /** Up to when imported reports of the month count; null: there is none. */
  readonly coveredUntil: Date | null
}

const pickState = (state: RowState): RowState => ({
  beginningQuantity: state.beginningQuantity,
  endingQuantity: state.endingQuantity,
  sold: state.sold,
  returned: state.returned,
  lost: state.lost,
  found: state.found,
  damaged: state.damaged,
  otherAdjustments: state.otherAdjustments,
})

// New rows and the numbers of a current month, which change every day, are recorded only with their report, because single changes would hide the important
// ones. Changed rows of a complete month are recorded one by one.
const rowChanges = (
  sellerId: string,
  row: ReconciliationRow,
  stored: StoredRow | null,
  calendar: Calendar,
): readonly ChangeRecord[] => {
  if (stored === null) return []
  const { marked, coveredUntil } = stored
  const final = coveredUntil !== null && coveredUntil >= calendar.monthBounds(row.month).to
  if (!marked && !final) return []
  const before = marked ? null : { ...pickState(stored) }
  const after = { ...pickState(row) }
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  return [
    { sellerId, type: 'reconciliation_row.changed', data: { month: row.month, sku: row.sku, gtin: row.gtin, before, after } },
  ]
}

const reportedRows = versionedTable<ReportedRow, StoredRow, StoredRow>({
  name: 'reconciliation_rows',
  personalData: {
    none: `seller_id month sku gtin beginning_quantity ending_quantity sold returned lost found damaged other_adjustments report_id raw_hash
      raw observed_at missing_since first_seen_at changed_at`,
  },
  resource,
  key: ['month date', 'sku text'],
  buildKey: ({ value: { row } }) => [`${row.month}-01`, row.sku],
  foundBy: 'sku',
  columns: [
    'gtin text',
    'beginning_quantity int',
    'ending_quantity int',
    'sold int',
    'returned int',
    'lost int',
    'found int',
    'damaged int',
    'other_adjustments int',
    'report_id bigint',
  ],
  row: ({ row, reportId }) => ({
    gtin: row.gtin,
    beginning_quantity: row.beginningQuantity,
    ending_quantity: row.endingQuantity,
    sold: row.sold,
    returned: row.returned,
    lost: row.lost,
    found: row.found,
    damaged: row.damaged,
    other_adjustments: row.otherAdjustments,
    report_id: reportId === null ? null : String(reportId),
  }),
  computed: {
    report_id: `coalesce(t.report_id, (SELECT max(id) FROM warehouse.reconciliation_reports p
      WHERE p.seller_id = $1 AND p.month = t.month AND p.state IN ('imported', 'downloaded')))`,
  },
  payload: { text: ({ value: { row } }) => JSON.stringify(row.raw) },
  marks: ['missing_since'],
  // A row was final when a report up to the end of its month had been imported.
  locked: `(SELECT max(p.covered_until) FROM warehouse.reconciliation_reports p
      WHERE p.seller_id = $1 AND p.month = o.month AND p.state = 'imported') AS "coveredUntil",
    o.beginning_quantity AS "beginningQuantity", o.ending_quantity AS "endingQuantity", o.sold, o.returned, o.lost, o.found, o.damaged,
    o.other_adjustments AS "otherAdjustments"`,
  before: mapLockedRows,
  changes: (sellerId, { row }, before, { calendar }) => rowChanges(sellerId, row, before, calendar),
})

/** The rows of a page whose text differs from the stored one, or that were missing. Reads only. */
export const { findDiffering: findDifferingRows } = reportedRows

const movedUnits = ({ sold, returned, lost, found, damaged, otherAdjustments }: RowState): number =>
  [sold, returned, lost, found, damaged, otherAdjustments].reduce((sum, units) => sum + Math.abs(units), 0)

const parseRowKeys = (keys: readonly string[]): SkuMonth[] => keys.map((key) => parseRowKey(key))

/** Whether the newest report of a month has unreadable rows. */
export const hasUnreadSkus = async (sql: SqlRunner, sellerId: string, month: string): Promise<boolean> => {
  const where = { sellerId, month: new Date(`${month}-01`) }
  return (await sql.prisma.unreadReportSku.findFirst({ where, select: { sku: true } })) !== null
}

/**
 * Stores the SKUs of a report's rows that could not be read or stored, replacing those of the previous report. Their earlier rows are outdated, so they are not
 * compared.
 */
export const recordUnreadSkus = async (
  tx: Transaction,
  { sellerId, month, retrievedAt }: Pick<StoredReport, 'sellerId' | 'month' | 'retrievedAt'>,
  skus: readonly string[],
): Promise<void> => {
  await tx.execute(
    `WITH unread AS MATERIALIZED (
       SELECT sku FROM unnest($3::text[]) AS t(sku)
       UNION
       SELECT substr(record_key, 9) FROM tallyman.quarantined_records
       WHERE state = 'open' AND seller_id = $1 AND resource = '${resource}' AND observed_at = $4::timestamptz AND left(record_key, 8) = $5
     ), read AS (
       DELETE FROM tallyman.unread_report_skus WHERE seller_id = $1 AND month = $2::date AND sku NOT IN (SELECT sku FROM unread)
     )
     INSERT INTO tallyman.unread_report_skus (seller_id, month, sku) SELECT $1, $2::date, sku FROM unread ORDER BY sku ON CONFLICT DO NOTHING`,
    sellerId,
    `${month}-01`,
    skus.filter((sku) => !sku.includes('\0')),
    retrievedAt.toISOString(),
    rowKey(month, ''),
  )
}

const deleteUnread = async (tx: Transaction, sellerId: string, rows: readonly SkuMonth[]): Promise<void> => {
  await tx.execute(
    `DELETE FROM tallyman.unread_report_skus u USING json_to_recordset($2::json) AS t(sku text, month date)
     WHERE u.seller_id = $1 AND u.month = t.month AND u.sku = t.sku`,
    sellerId,
    JSON.stringify(rows.map(({ sku, month }) => ({ sku, month: `${month}-01` }))),
  )
}

/** The spelling of a row's SKU in its report; null: the normal form. */
const findSpelling = ({ sku, raw }: Pick<ReconciliationRow, 'sku' | 'raw'>): string | null =>
  Object.values(raw)
    .map((cell) => cell.trim())
    .find((cell) => cell !== sku && normalSku(cell) === sku) ?? null

/** Stores rows that {@link findDifferingRows} found, makes the logs of their SKUs due, and reviews their discrepancies; returns the number of written rows. */
export const storeDifferingRows = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<ReportedRow>[],
): Promise<number> => {
  const written = (await reportedRows.write(tx, sellerId, observedAt, records)).map(({ value }) => value.row)
  if (written.length === 0) return 0
  await deleteUnread(tx, sellerId, written)
  const logFrom = new Date(observedAt.getTime() - logReachMs)
  const { monthBounds } = tx.findVocabulary(sellerId).calendar
  const ends = new Map([...new Set(written.map(({ month }) => month))].map((month) => [month, monthBounds(month).to]))
  const skus = written.map((row) => ({
    sku: row.sku,
    marketplaceSku: findSpelling(row),
    gtin: row.gtin,
    units: movedUnits(row),
    moved: movedUnits(row) > 0 && (ends.get(row.month) ?? logFrom) > logFrom,
  }))
  await recordListedSkus(tx, sellerId, observedAt, skus)
  await reviewDiscrepancies(tx, sellerId, parseRowKeys(written.map(({ month, sku }) => rowKey(month, sku))))
  return written.length
}

/** Marks rows (by key) that the report of their month no longer has, and records each. Returns the number of newly marked ones. */
export const markMissingRows = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  keys: readonly string[],
): Promise<number> => {
  if (keys.length === 0) return 0
  const missing = await tx.query<{ key: string; gtin: string | null }>(
    `WITH asked AS MATERIALIZED (
       SELECT k.key, r.month, r.sku FROM unnest($2::text[]) AS k(key)
       JOIN warehouse.reconciliation_rows r ON r.seller_id = $1 AND r.month = (left(k.key, 7) || '-01')::date AND r.sku = substr(k.key, 9)
       ORDER BY r.month, r.sku FOR UPDATE OF r
     )
     UPDATE warehouse.reconciliation_rows r SET missing_since = $3::timestamptz, changed_at = now()
     FROM asked a WHERE r.seller_id = $1 AND r.month = a.month AND r.sku = a.sku AND r.missing_since IS NULL AND r.observed_at <= $3::timestamptz
     RETURNING a.key, r.gtin`,
    sellerId,
    keys,
    observedAt.toISOString(),
  )
  for (const { key, gtin } of missing)
    tx.record({ sellerId, type: 'reconciliation_row.gone', data: { ...parseRowKey(key), gtin } })
  await reviewDiscrepancies(tx, sellerId, parseRowKeys(missing.map(({ key }) => key)))
  return missing.length
}

/** Deletes rows that were stored under their GTIN and are stored under their SKU now, and withdraws their discrepancies. */
export const removeRenamedRows = async (
  tx: Transaction,
  sellerId: string,
  month: string,
  gtins: readonly string[],
): Promise<void> => {
  const removed = await tx.query<{ sku: string }>(
    `DELETE FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND month = $2::date AND sku = ANY ($3::text[]) AND sku = gtin RETURNING sku`,
    sellerId,
    `${month}-01`,
    gtins,
  )
  const skus = removed.map(({ sku }) => sku)
  if (skus.length === 0) return
  await tx.execute(
    `UPDATE warehouse.inventory_discrepancies SET state = 'resolved', resolution = 'withdrawn', resolved_at = now(), changed_at = now()
     WHERE seller_id = $1 AND month = $2::date AND sku = ANY ($3::text[]) AND state = 'open'`,
    sellerId,
    `${month}-01`,
    skus,
  )
  await reviewDiscrepancies(
    tx,
    sellerId,
    skus.map((sku) => ({ sku, month })),
  )
}

/** Maximum number of rows that one import renames; the next import continues. */
const maxRenamed = 1_000

/**
 * Renames rows of any month that are stored under their GTIN to the SKU that is known now, and reviews the discrepancies of both. A row is not renamed if its
 * month has a row of that SKU already.
 */
export const renameKnownRows = async (tx: Transaction, sellerId: string): Promise<void> => {
  const renamed = await tx.query<{ month: string; gtin: string; sku: string }>(
    `WITH known AS MATERIALIZED (${knownGtins}), chosen AS MATERIALIZED (
       SELECT r.month, r.sku AS gtin, k.sku FROM warehouse.reconciliation_rows r JOIN known k ON k.gtin = ${gtin14Sql('r.sku')}
       WHERE r.seller_id = $1 AND r.sku = r.gtin AND r.missing_since IS NULL
         AND NOT EXISTS (SELECT 1 FROM warehouse.reconciliation_rows o WHERE o.seller_id = $1 AND o.month = r.month AND o.sku = k.sku)
         AND EXISTS (SELECT 1 FROM warehouse.reconciliation_reports p WHERE p.seller_id = $1 AND p.month = r.month AND p.by_gtin)
       ORDER BY r.month, r.sku LIMIT $2::int FOR UPDATE OF r
     )
     UPDATE warehouse.reconciliation_rows r SET sku = c.sku, changed_at = now() FROM chosen c
     WHERE r.seller_id = $1 AND r.month = c.month AND r.sku = c.gtin
     RETURNING to_char(c.month, 'YYYY-MM') AS month, c.gtin, c.sku`,
    sellerId,
    maxRenamed,
  )
  if (renamed.length === 0) return
  await tx.execute(
    `UPDATE warehouse.inventory_discrepancies d SET state = 'resolved', resolution = 'withdrawn', resolved_at = now(), changed_at = now()
     FROM json_to_recordset($2::json) AS t(month date, sku text)
     WHERE d.seller_id = $1 AND d.month = t.month AND d.sku = t.sku AND d.state = 'open'`,
    sellerId,
    JSON.stringify(renamed.map(({ month, gtin }) => ({ month: `${month}-01`, sku: gtin }))),
  )
  await reviewDiscrepancies(
    tx,
    sellerId,
    renamed.flatMap(({ month, gtin, sku }) => [
      { month, sku },
      { month, sku: gtin },
    ]),
  )
}

/** SKUs after this one, sorted, of the current rows of a month. */
export const listMonthSkus = async (
  { prisma }: SqlRunner,
  sellerId: string,
  month: string,
  after: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await prisma.reconciliationRow.findMany({
    where: { sellerId, month: new Date(`${month}-01`), sku: { gt: after }, missingSince: null },
    orderBy: { sku: 'asc' },
    take: limit,
    select: { sku: true },
  })
  return rows.map(({ sku }) => sku)
}

/** A batch of SKUs without a row in a month's report. */
export interface UnlistedSkus {
  readonly skus: readonly string[]
  /** The SKU after which the next batch begins; null: this is the last one. */
  readonly next: string | null
}

/** Maximum number of SKUs that one batch reads. */
const skusPerBatch = 5_000

/**
 * The seller's SKUs after this one, sorted, without a row in the month, but with entries of the log, a discrepancy or an earlier row. They must be reviewed
 * once the month's report is complete.
 */
export const findUnlistedSkus = async (sql: SqlRunner, sellerId: string, month: string, after: string): Promise<UnlistedSkus> => {
  const { from, to } = sql.findVocabulary(sellerId).calendar.monthBounds(month)
  const rows = await sql.query<{ sku: string; last: boolean; unlisted: boolean }>(
    `WITH batch AS MATERIALIZED (SELECT sku FROM tallyman.inventory_skus WHERE seller_id = $1 AND sku > $3 ORDER BY sku LIMIT $4::int),
     furthest AS (SELECT max(sku) AS sku, count(*) AS n FROM batch)
     SELECT s.sku, s.sku = l.sku AS last, a.unlisted FROM batch s CROSS JOIN furthest l
     CROSS JOIN LATERAL (
       SELECT NOT EXISTS (SELECT 1 FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND month = $2::date AND sku = s.sku AND missing_since IS NULL)
         AND (EXISTS (SELECT 1 FROM warehouse.inventory_log_entries WHERE seller_id = $1 AND sku = s.sku AND transaction_time >= $5::timestamptz
             AND transaction_time < $6::timestamptz)
           OR EXISTS (SELECT 1 FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND sku = s.sku AND month < $2::date)
           OR EXISTS (SELECT 1 FROM warehouse.inventory_discrepancies WHERE seller_id = $1 AND sku = s.sku AND month = $2::date AND state = 'open'))
         AS unlisted
     ) a
     WHERE a.unlisted OR (s.sku = l.sku AND l.n = $4::int) ORDER BY s.sku`,
    sellerId,
    `${month}-01`,
    after,
    skusPerBatch,
    from.toISOString(),
    to.toISOString(),
  )
  const last = rows.at(-1)
  return { skus: rows.filter(({ unlisted }) => unlisted).map(({ sku }) => sku), next: last?.last === true ? last.sku : null }
}
