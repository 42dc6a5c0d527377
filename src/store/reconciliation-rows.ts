import { monthBounds } from '../domain/pacific-time.ts'
import { type ReconciliationRow, rowKey, rowOfKey } from '../domain/reconciliation-report.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { reviewDiscrepancies } from './discrepancies.ts'
import type { SkuMonth } from './discrepancy-sources.ts'
import { gtin14Sql, knownGtins, noteReportSkus } from './inventory-skus.ts'
import type { StoredReport } from './reconciliation-reports.ts'
import { type DifferingRecord, findDiffering, jsonArray, jsonObject, type StorableRecord } from './versions.ts'

/** A row, and the report that it stands in; null for one that is read again out of quarantine. */
export interface ReportedRow {
  readonly row: ReconciliationRow
  readonly reportId: bigint | null
}

/** Resource name, under which earlier versions and rows in quarantine are kept. */
const resource = 'reconciliation'

/** The log goes back no further (public facts, section 7.1): movements before that need no look into it. */
const logReachMs = 365 * 86_400_000

// A row that was gone and is back differs, although its text may be the same.
const probe = `
  SELECT array_agg(k.key) AS keys, array_agg(CASE WHEN r.missing_since IS NULL THEN encode(r.raw_hash, 'hex') ELSE '' END) AS hashes
  FROM unnest($2::text[]) AS k(key)
  JOIN warehouse.reconciliation_rows r ON r.seller_id = $1 AND r.month = (left(k.key, 7) || '-01')::date AND r.sku = substr(k.key, 9)`

/** Those rows of a page whose text differs from what is stored, or that were gone. Reads only. */
export const findDifferingRows = (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<ReportedRow>[],
): Promise<readonly DifferingRecord<ReportedRow>[]> => findDiffering(sql, probe, sellerId, records)

/** What the change feed tells of a row. */
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

interface LockedRow extends RowState {
  readonly key: string
  readonly raw_hash: string
  readonly observed_at: Date
  readonly gone: boolean
  readonly final: boolean
}

const stateOf = (state: RowState): RowState => ({
  beginningQuantity: state.beginningQuantity,
  endingQuantity: state.endingQuantity,
  sold: state.sold,
  returned: state.returned,
  lost: state.lost,
  found: state.found,
  damaged: state.damaged,
  otherAdjustments: state.otherAdjustments,
})

const endsOfMonths = (months: readonly string[]): ReadonlyMap<string, Date> =>
  new Map([...new Set(months)].map((month) => [month, monthBounds(month).to]))

// $1 seller, $2 keys with the ends of their months. A row was final when a report up to the end of its month had been imported.
const lockRows = (tx: Transaction, sellerId: string, keys: readonly string[]): Promise<LockedRow[]> => {
  const ends = endsOfMonths(keys.map((key) => rowOfKey(key).month))
  return tx.query<LockedRow>(
    `SELECT k.key, encode(r.raw_hash, 'hex') AS raw_hash, r.observed_at, r.missing_since IS NOT NULL AS gone,
       EXISTS (SELECT 1 FROM warehouse.reconciliation_reports p WHERE p.seller_id = $1 AND p.month = r.month AND p.state = 'imported'
         AND p.covered_until >= k.month_end) AS final,
       r.beginning_quantity AS "beginningQuantity", r.ending_quantity AS "endingQuantity", r.sold, r.returned, r.lost, r.found, r.damaged,
       r.other_adjustments AS "otherAdjustments"
     FROM json_to_recordset($2::json) AS k(key text, month_end timestamptz)
     JOIN warehouse.reconciliation_rows r ON r.seller_id = $1 AND r.month = (left(k.key, 7) || '-01')::date AND r.sku = substr(k.key, 9)
     ORDER BY r.month, r.sku FOR UPDATE OF r`,
    sellerId,
    JSON.stringify(keys.map((key) => ({ key, month_end: ends.get(rowOfKey(key).month) }))),
  )
}

// Writes new rows and new versions of known ones. $1 seller, $2 observed at, $3 rows. Known rows are locked by the caller. Answers the keys of new
// ones that someone else has stored meanwhile: nothing of those was written.
const writeRows = `
  WITH reported AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($3::jsonb) AS t(month date, sku text, known boolean, raw_hash text, gtin text, beginning_quantity int,
      ending_quantity int, sold int, returned int, lost int, found int, damaged int, other_adjustments int, report_id bigint, raw jsonb)
  ), sourced AS MATERIALIZED (
    SELECT t.*, coalesce(t.report_id, (SELECT max(id) FROM warehouse.reconciliation_reports p
      WHERE p.seller_id = $1 AND p.month = t.month AND p.state IN ('imported', 'downloaded'))) AS source_id
    FROM reported t
  ), inserted AS (
    INSERT INTO warehouse.reconciliation_rows (seller_id, month, sku, gtin, beginning_quantity, ending_quantity, sold, returned, lost, found,
      damaged, other_adjustments, report_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
    SELECT $1, month, sku, gtin, beginning_quantity, ending_quantity, sold, returned, lost, found, damaged, other_adjustments, source_id,
      decode(raw_hash, 'hex'), raw, $2::timestamptz, now(), now()
    FROM sourced WHERE NOT known ORDER BY month, sku
    ON CONFLICT DO NOTHING
    RETURNING month, sku
  ), superseded AS (
    INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
    SELECT $1, '${resource}', to_char(month, 'YYYY-MM') || '/' || sku, o.raw_hash, o.raw, o.changed_at, now()
    FROM sourced s JOIN warehouse.reconciliation_rows o USING (month, sku)
    WHERE o.seller_id = $1 AND s.known AND o.raw_hash <> decode(s.raw_hash, 'hex')
    ON CONFLICT DO NOTHING
  ), updated AS (
    UPDATE warehouse.reconciliation_rows o
    SET gtin = s.gtin, beginning_quantity = s.beginning_quantity, ending_quantity = s.ending_quantity, sold = s.sold, returned = s.returned,
      lost = s.lost, found = s.found, damaged = s.damaged, other_adjustments = s.other_adjustments, report_id = s.source_id,
      raw_hash = decode(s.raw_hash, 'hex'), raw = s.raw, observed_at = $2::timestamptz, missing_since = NULL, changed_at = now()
    FROM sourced s
    WHERE s.known AND o.seller_id = $1 AND o.month = s.month AND o.sku = s.sku
  )
  SELECT to_char(month, 'YYYY-MM') || '/' || sku AS key FROM sourced
  WHERE NOT known AND (month, sku) NOT IN (SELECT month, sku FROM inserted)`

interface Write {
  readonly record: DifferingRecord<ReportedRow>
  /** As it is stored; null for a new row. */
  readonly before: LockedRow | null
}

const rowText = ({ record, before }: Write): string => {
  const { row, reportId } = record.value
  return jsonObject(
    {
      month: `${row.month}-01`,
      sku: row.sku,
      known: before !== null,
      raw_hash: record.hash,
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
    },
    { raw: JSON.stringify(row.raw) },
  )
}

const write = async (tx: Transaction, sellerId: string, observedAt: Date, writes: readonly Write[]): Promise<Set<string>> => {
  const missed = await tx.query<{ key: string }>(writeRows, sellerId, observedAt.toISOString(), jsonArray(writes.map(rowText)))
  return new Set(missed.map(({ key }) => key))
}

const prepare = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<ReportedRow>[],
): Promise<Write[]> => {
  const known = records.filter((record) => record.known).map((record) => record.key)
  const rows = known.length === 0 ? [] : await lockRows(tx, sellerId, known)
  const locked = new Map(rows.map((row) => [row.key, row]))
  return records.flatMap((record): Write[] => {
    const stored = locked.get(record.key)
    if (stored === undefined) return [{ record, before: null }]
    const outdated = stored.observed_at <= observedAt && (stored.raw_hash !== record.hash || stored.gone)
    return outdated ? [{ record, before: stored }] : []
  })
}

// New rows are told by their report, and so are the numbers of a running month, which change every day: a feed that repeats all of it would
// hide what matters. What is told one by one is what a month that was complete says differently now.
const tell = (tx: Transaction, sellerId: string, { record, before }: Write): void => {
  const { row } = record.value
  if (before === null || (!before.gone && !before.final)) return
  const after = stateOf(row)
  const stored = before.gone ? null : stateOf(before)
  if (JSON.stringify(stored) === JSON.stringify(after)) return
  tx.tell({
    sellerId,
    type: 'reconciliation_row.changed',
    data: { month: row.month, sku: row.sku, gtin: row.gtin, before: stored === null ? null : { ...stored }, after: { ...after } },
  })
}

const movedUnits = ({ sold, returned, lost, found, damaged, otherAdjustments }: RowState): number =>
  [sold, returned, lost, found, damaged, otherAdjustments].reduce((sum, units) => sum + Math.abs(units), 0)

const pairsOf = (keys: readonly string[]): SkuMonth[] => keys.map((key) => rowOfKey(key))

/** Whether the newest report of a month has rows that could not be read. */
export const hasUnreadSkus = async (sql: SqlRunner, sellerId: string, month: string): Promise<boolean> => {
  const [row] = await sql.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM tallyman.unread_report_skus WHERE seller_id = $1 AND month = $2::date) AS found',
    sellerId,
    `${month}-01`,
  )
  return row?.found ?? false
}

/**
 * Writes down whose rows a report has in a way that could not be read, or that Postgres could not hold, in place of those of the report before: what
 * was stored of them earlier says nothing of the time since, so nothing is judged by it.
 */
export const noteUnreadSkus = async (
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

const forgetUnread = async (tx: Transaction, sellerId: string, rows: readonly SkuMonth[]): Promise<void> => {
  await tx.execute(
    `DELETE FROM tallyman.unread_report_skus u USING json_to_recordset($2::json) AS t(sku text, month date)
     WHERE u.seller_id = $1 AND u.month = t.month AND u.sku = t.sku`,
    sellerId,
    JSON.stringify(rows.map(({ sku, month }) => ({ sku, month: `${month}-01` }))),
  )
}

/**
 * Stores rows that {@link findDifferingRows} found, by one statement, has their SKUs' logs read, and judges their discrepancies anew. An older
 * observation never overwrites a newer one; the version that is replaced is kept in `tallyman.superseded_versions`. Answers how many were written.
 */
export const storeDifferingRows = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<ReportedRow>[],
): Promise<number> => {
  const written: ReconciliationRow[] = []
  let rest = records
  // Rows that someone else stores at the same moment are known in the next round, where they are locked.
  while (rest.length > 0) {
    const writes = await prepare(tx, sellerId, observedAt, rest)
    if (writes.length === 0) break
    const missed = await write(tx, sellerId, observedAt, writes)
    for (const one of writes) {
      if (missed.has(one.record.key)) continue
      written.push(one.record.value.row)
      tell(tx, sellerId, one)
    }
    rest = rest.filter((record) => missed.has(record.key)).map((record) => ({ ...record, known: true }))
  }
  if (written.length === 0) return 0
  await forgetUnread(tx, sellerId, written)
  const logFrom = new Date(observedAt.getTime() - logReachMs)
  const ends = endsOfMonths(written.map(({ month }) => month))
  const skus = written.map((row) => ({
    sku: row.sku,
    gtin: row.gtin,
    units: movedUnits(row),
    moved: movedUnits(row) > 0 && (ends.get(row.month) ?? logFrom) > logFrom,
  }))
  await noteReportSkus(tx, sellerId, observedAt, skus)
  await reviewDiscrepancies(tx, sellerId, pairsOf(written.map(({ month, sku }) => rowKey(month, sku))))
  return written.length
}

/** Marks rows, by their keys, that the report of their month is without now, and tells each. Answers how many were marked. */
export const noteGoneRows = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  keys: readonly string[],
): Promise<number> => {
  if (keys.length === 0) return 0
  const gone = await tx.query<{ key: string; gtin: string | null }>(
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
  for (const { key, gtin } of gone) tx.tell({ sellerId, type: 'reconciliation_row.gone', data: { ...rowOfKey(key), gtin } })
  await reviewDiscrepancies(tx, sellerId, pairsOf(gone.map(({ key }) => key)))
  return gone.length
}

/**
 * Removes rows that were stored under their GTIN because nobody knew its SKU then: the report has not lost them, they have another name now.
 * What was found under that name is withdrawn.
 */
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

/** Rows that one import renames at most; the next one goes on. */
const renamedAtOnce = 1_000

/**
 * Gives rows of any month that stand under their GTIN the SKU that is known beside it now, and judges both anew. A row of that SKU that the month
 * has already stays, and nothing is renamed.
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
    renamedAtOnce,
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

/** SKUs after this one, in their own order, of the rows that a month has now. */
export const skusOfMonth = async (
  sql: SqlRunner,
  sellerId: string,
  month: string,
  after: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await sql.query<{ sku: string }>(
    `SELECT sku FROM warehouse.reconciliation_rows
     WHERE seller_id = $1 AND month = $2::date AND sku > $3 AND missing_since IS NULL ORDER BY sku LIMIT $4::int`,
    sellerId,
    `${month}-01`,
    after,
    limit,
  )
  return rows.map(({ sku }) => sku)
}

/** SKUs that a month's report may lack, among some of the seller's. */
export interface UnlistedSkus {
  readonly skus: readonly string[]
  /** After which to go on; null when there are no more. */
  readonly next: string | null
}

/** SKUs that one look for unlisted ones passes over at most. */
const skusAtOnce = 5_000

/**
 * The seller's SKUs after this one, in their own order, that a month has no row of though the log, a difference or an earlier month knows them:
 * what to review once the month's report is whole.
 */
export const unlistedSkus = async (sql: SqlRunner, sellerId: string, month: string, after: string): Promise<UnlistedSkus> => {
  const { from, to } = monthBounds(month)
  const rows = await sql.query<{ sku: string; last: boolean; asked: boolean }>(
    `WITH looked AS MATERIALIZED (SELECT sku FROM tallyman.inventory_skus WHERE seller_id = $1 AND sku > $3 ORDER BY sku LIMIT $4::int),
     furthest AS (SELECT max(sku) AS sku, count(*) AS n FROM looked)
     SELECT s.sku, s.sku = l.sku AS last, a.asked FROM looked s CROSS JOIN furthest l
     CROSS JOIN LATERAL (
       SELECT NOT EXISTS (SELECT 1 FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND month = $2::date AND sku = s.sku AND missing_since IS NULL)
         AND (EXISTS (SELECT 1 FROM warehouse.inventory_log_entries WHERE seller_id = $1 AND sku = s.sku AND transaction_time >= $5::timestamptz
             AND transaction_time < $6::timestamptz)
           OR EXISTS (SELECT 1 FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND sku = s.sku AND month < $2::date)
           OR EXISTS (SELECT 1 FROM warehouse.inventory_discrepancies WHERE seller_id = $1 AND sku = s.sku AND month = $2::date AND state = 'open'))
         AS asked
     ) a
     WHERE a.asked OR (s.sku = l.sku AND l.n = $4::int) ORDER BY s.sku`,
    sellerId,
    `${month}-01`,
    after,
    skusAtOnce,
    from.toISOString(),
    to.toISOString(),
  )
  const last = rows.at(-1)
  return { skus: rows.filter(({ asked }) => asked).map(({ sku }) => sku), next: last?.last === true ? last.sku : null }
}
