import type { InventoryLogEntry } from '../../domain/inventory/inventory-log.ts'
import type { LogMovement } from '../../domain/inventory/log-reasons.ts'
import type { ReportedUnits } from '../../domain/inventory/reconciliation.ts'
import type { SqlRunner } from '../db/database.ts'
import { gtin14Sql } from './inventory-skus.ts'

/** One SKU in one month of the report (`YYYY-MM`, by the marketplace's calendar). */
export interface SkuMonth {
  readonly sku: string
  readonly month: string
}

/** A month to review, with its bounds. */
export interface MonthToReview extends SkuMonth {
  readonly from: Date
  readonly to: Date
}

/** A SKU in a month with a report, which may have a row of it or not. */
export interface ReviewedMonth extends SkuMonth {
  readonly gtin: string | null
  /** Null: the report has no row of it. */
  readonly report: ReportedUnits | null
  /** The ending quantity of a row that the report no longer has. */
  readonly endingWhenListed: number | null
  /** Movements before this time are counted. */
  readonly until: Date
  /** When the newest report was made and read. */
  readonly generatedAt: Date
  readonly retrievedAt: Date
  /** When the log had been read once to its end; null: not yet. An entry that is read later was reported late. */
  readonly logKnownAt: Date | null
  /** That is the end of the month. */
  readonly complete: boolean
  /** The log is complete for the counted period. */
  readonly logComplete: boolean
  /** The log was read up to the end of the period, but may no longer reach back to its beginning. */
  readonly logReadFar: boolean
  /** Entries of the log that may be of the month cannot be read. Then `logComplete` and `logReadFar` are false. */
  readonly logUnread: boolean
  /** The log has movements since the month began. */
  readonly movesOn: boolean
  /** The last earlier month with a row; null: there is none. */
  readonly before: {
    readonly ending: number
    /**
     * The stock since then is known: that row and the reports of all months in between count to the end of their months, so that months without a row
     * had no movement; or the log is complete since then, whether or not these months have reports.
     */
    readonly whole: boolean
    /** The months without a row in between; null: there are none. */
    readonly gap: { readonly from: Date; readonly to: Date; readonly logComplete: boolean } | null
  } | null
}

/** A period of a SKU's log. */
export interface LogPeriod {
  readonly sku: string
  readonly from: Date
  readonly to: Date
}

/** An entry of the log, without its raw text. */
export type StoredEntry = Omit<InventoryLogEntry, 'raw' | 'gtin'> & {
  /** When the version of the entry was first read, on the marketplace's clock. */
  readonly observedAt: Date
}

/** The key of a month of a SKU. */
export const buildKey = ({ sku, month }: SkuMonth): string => `${month} ${sku}`

/** How far back the marketplace returns the log: 365 days (public facts, section 7.1), less one for the duration of a first reading. */
const logReachDays = 364

/** SQL: the log of a row of `tallyman.inventory_skus` is complete between two times. */
export const logCovers = (sku: string, from: string, until: string): string =>
  `coalesce(${sku}.log_read_up_to >= ${until} AND ${from} >= ${sku}.log_read_at - interval '${logReachDays} days', false)`

/** The prefix of the record keys of a SKU's log; a slash or a question mark follows. */
export const logKey = (sku: string): string => encodeURIComponent(sku)

/** SQL: the quarantined record `q` has entries of the log with this key prefix. */
export const belongsToLog = (key: string): string =>
  `q.resource = 'inventory-log' AND split_part(translate(q.record_key, '?', '/'), '/', 1) = ${key} AND q.record_key <> ${key}`

/** SQL: a log has an unreadable entry that may be between two times. */
export const hasUnreadEntry = (key: string, from: string, until: string): string =>
  `EXISTS (SELECT 1 FROM tallyman.quarantined_records q WHERE q.seller_id = $1 AND ${belongsToLog(key)} AND q.state = 'open'
    AND (q.created_from IS NULL OR (q.created_from >= ${from} AND q.created_from < ${until})))`

/** SQL: the end of a month, given the date of its first day; `$3` is the time zone. */
const endOfMonth = (month: string): string => `((${month} + interval '1 month') AT TIME ZONE $3::text)`

/** Pairs as a JSON parameter, with months as the dates of their first days. */
const pairsJson = (pairs: readonly (SkuMonth & { readonly from?: Date; readonly to?: Date })[]): string =>
  JSON.stringify(pairs.map(({ sku, month, from, to }) => ({ sku, month: `${month}-01`, from, to, logKey: logKey(sku) })))

/** These months, and for each the next one with a row, whose beginning must equal the ending of this one. */
export const listMonthsToReview = async (
  tx: SqlRunner,
  sellerId: string,
  pairs: readonly SkuMonth[],
): Promise<readonly MonthToReview[]> => {
  const next = await tx.query<SkuMonth>(
    `SELECT DISTINCT a.sku, to_char(n.month, 'YYYY-MM') AS month
     FROM json_to_recordset($2::json) AS a(sku text, month date)
     CROSS JOIN LATERAL (
       SELECT month FROM warehouse.reconciliation_rows
       WHERE seller_id = $1 AND sku = a.sku AND month > a.month AND missing_since IS NULL ORDER BY month LIMIT 1
     ) n`,
    sellerId,
    pairsJson(pairs),
  )
  const { monthBounds } = tx.findVocabulary(sellerId).calendar
  const bounds = new Map<string, ReturnType<typeof monthBounds>>()
  const findBounds = (month: string) => {
    const known = bounds.get(month) ?? monthBounds(month)
    bounds.set(month, known)
    return known
  }
  const distinct = new Map([...pairs, ...next].map(({ sku, month }) => [buildKey({ sku, month }), { sku, month }]))
  return [...distinct.values()].map((pair) => ({ ...pair, ...findBounds(pair.month) }))
}

interface MonthRow extends SkuMonth, ReportedUnits {
  readonly gtin: string | null
  readonly listed: boolean
  readonly endingWhenListed: number | null
  readonly until: Date
  readonly generatedAt: Date
  readonly retrievedAt: Date
  readonly logKnownAt: Date | null
  readonly logComplete: boolean
  readonly logReadFar: boolean
  readonly logUnread: boolean
  readonly movesOn: boolean
  readonly monthBefore: string | null
  readonly endingBefore: number
  readonly wholeBefore: boolean
  readonly gapLogComplete: boolean
}

const gapLogCovers = `(${logCovers('s', endOfMonth('b.month'), 'a."from"')} AND NOT ${hasUnreadEntry('a."logKey"', endOfMonth('b.month'), 'a."from"')})`

// OFFSET 0 forces one lookup for each pair: without statistics of a newly filled table, a join would cost the square of its size.
const readMonthsQuery = `
  SELECT a.sku, to_char(a.month, 'YYYY-MM') AS month, coalesce(r.gtin, g.gtin, s.gtin) AS gtin, r.sku IS NOT NULL AS listed,
    g.ending_quantity AS "endingWhenListed", least(n.covered_until, a."to") AS until,
    n.generated_at AS "generatedAt", n.retrieved_at AS "retrievedAt", s.log_known_at AS "logKnownAt",
    ${logCovers('s', 'a."from"', 'least(n.covered_until, a."to")')} AND NOT e.unread AS "logComplete",
    coalesce(s.log_read_up_to >= least(n.covered_until, a."to"), false) AND NOT e.unread AS "logReadFar", e.unread AS "logUnread",
    EXISTS (SELECT 1 FROM warehouse.inventory_log_entries e WHERE e.seller_id = $1 AND e.sku = a.sku AND e.transaction_time >= a."from"
      AND e.missing_since IS NULL) AS "movesOn",
    to_char(b.month, 'YYYY-MM') AS "monthBefore", b.ending_quantity AS "endingBefore",
    coalesce(w.whole OR w.ends AND ${gapLogCovers}, false) AS "wholeBefore", ${gapLogCovers} AS "gapLogComplete",
    r.beginning_quantity AS "beginningQuantity", r.ending_quantity AS "endingQuantity", r.sold, r.returned, r.lost, r.found, r.damaged,
    r.other_adjustments AS "otherAdjustments"
  FROM json_to_recordset($2::json) AS a(sku text, month date, "from" timestamptz, "to" timestamptz, "logKey" text)
  CROSS JOIN LATERAL (SELECT ${hasUnreadEntry('a."logKey"', 'a."from"', 'a."to"')} AS unread OFFSET 0) e
  LEFT JOIN LATERAL (
    SELECT * FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND month = a.month AND sku = a.sku AND missing_since IS NULL OFFSET 0
  ) r ON true
  LEFT JOIN LATERAL (
    SELECT * FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND month = a.month AND sku = a.sku AND missing_since IS NOT NULL OFFSET 0
  ) g ON true
  CROSS JOIN LATERAL (
    SELECT max(covered_until) AS covered_until, max(generated_at) AS generated_at, max(retrieved_at) AS retrieved_at FROM warehouse.reconciliation_reports
    WHERE seller_id = $1 AND month = a.month AND (state = 'imported' OR id = r.report_id)
  ) n
  LEFT JOIN LATERAL (
    SELECT nameless_count > 0 AS nameless, by_gtin FROM warehouse.reconciliation_reports
    WHERE seller_id = $1 AND month = a.month AND state = 'imported' ORDER BY generated_at DESC, id DESC LIMIT 1
  ) i ON true
  LEFT JOIN LATERAL (
    SELECT month, ending_quantity, report_id FROM warehouse.reconciliation_rows
    WHERE seller_id = $1 AND sku = a.sku AND month < a.month AND missing_since IS NULL ORDER BY month DESC LIMIT 1
  ) b ON true
  LEFT JOIN LATERAL (
    SELECT count(DISTINCT p.month) = extract(year FROM age(a.month, b.month)) * 12 + extract(month FROM age(a.month, b.month)) AS whole,
      bool_or(p.month = b.month) AS ends
    FROM warehouse.reconciliation_reports p
    WHERE p.seller_id = $1 AND p.month >= b.month AND p.month < a.month AND (p.state = 'imported' OR p.id = b.report_id)
      AND p.covered_until >= ${endOfMonth('p.month')} AND (p.month = b.month OR coalesce(p.nameless_count, 0) = 0)
      AND NOT EXISTS (SELECT 1 FROM tallyman.unread_report_skus WHERE seller_id = $1 AND month = p.month AND sku = a.sku)
  ) w ON true
  LEFT JOIN LATERAL (SELECT * FROM tallyman.inventory_skus WHERE seller_id = $1 AND sku = a.sku OFFSET 0) s ON true
  LEFT JOIN LATERAL (
    SELECT true AS unread FROM tallyman.unread_report_skus WHERE seller_id = $1 AND month = a.month AND sku = a.sku OFFSET 0
  ) u ON true
  LEFT JOIN LATERAL (
    SELECT true AS named FROM warehouse.reconciliation_rows
    WHERE seller_id = $1 AND month = a.month AND sku = ${gtin14Sql('s.gtin')} AND sku <> a.sku AND missing_since IS NULL OFFSET 0
  ) h ON true
  WHERE n.covered_until IS NOT NULL AND u.unread IS NOT TRUE
    AND (r.sku IS NOT NULL OR (i.nameless IS NOT TRUE AND (i.by_gtin IS NOT TRUE OR (s.gtin IS NOT NULL AND h.named IS NOT TRUE))))`

/**
 * The data of these months, of those with reports. Months are omitted whose newest report has an unreadable row that concerns the SKU, or may concern it:
 * a row without a SKU, or with a GTIN that may be that of the SKU.
 */
export const readMonths = async (
  tx: SqlRunner,
  sellerId: string,
  asked: readonly MonthToReview[],
): Promise<readonly ReviewedMonth[]> => {
  const { zone, monthBounds } = tx.findVocabulary(sellerId).calendar
  const rows = await tx.query<MonthRow>(readMonthsQuery, sellerId, pairsJson(asked), zone)
  return rows.map(
    ({
      sku,
      month,
      gtin,
      listed,
      endingWhenListed,
      until,
      generatedAt,
      retrievedAt,
      logKnownAt,
      logComplete,
      logReadFar,
      logUnread,
      movesOn,
      monthBefore,
      ...row
    }): ReviewedMonth => {
      const { endingBefore, wholeBefore, gapLogComplete, ...report } = row
      const gap = monthBefore === null ? null : { from: monthBounds(monthBefore).to, to: monthBounds(month).from }
      return {
        sku,
        month,
        gtin,
        report: listed ? report : null,
        endingWhenListed,
        until,
        generatedAt,
        retrievedAt,
        logKnownAt,
        complete: until >= monthBounds(month).to,
        logComplete,
        logReadFar,
        logUnread,
        movesOn,
        before:
          gap === null
            ? null
            : {
                ending: endingBefore,
                whole: wholeBefore,
                gap: gap.from < gap.to ? { ...gap, logComplete: gapLogComplete } : null,
              },
      }
    },
  )
}

/** The movements of the log in each of these periods, summed by the fields that determine their kind. */
export const readMovements = async (
  tx: SqlRunner,
  sellerId: string,
  periods: readonly LogPeriod[],
): Promise<readonly (readonly LogMovement[])[]> => {
  const movements = periods.map((): LogMovement[] => [])
  if (periods.length === 0) return movements
  const found = await tx.query<{
    n: number
    units: bigint
    location: string | null
    code: string | null
    description: string | null
    type: string | null
  }>(
    `SELECT a.n, sum(e.changed_units)::bigint AS units, e.transaction_location AS location, e.transaction_reason_code AS code,
       e.transaction_reason_description AS description, e.transaction_type AS type
     FROM json_to_recordset($2::json) AS a(n int, sku text, "from" timestamptz, "to" timestamptz)
     JOIN warehouse.inventory_log_entries e ON e.seller_id = $1 AND e.sku = a.sku AND e.transaction_time >= a."from"
       AND e.transaction_time < a."to" AND e.missing_since IS NULL
     GROUP BY a.n, sign(e.changed_units), e.transaction_location, e.transaction_reason_code, e.transaction_reason_description, e.transaction_type`,
    sellerId,
    JSON.stringify(periods.map((period, n) => ({ ...period, n }))),
  )
  for (const row of found) {
    movements[row.n]?.push({
      changedUnits: Number(row.units),
      transactionLocation: row.location,
      transactionReasonCode: row.code,
      transactionReasonDescription: row.description,
      transactionType: row.type,
    })
  }
  return movements
}

const entryColumns = `e.sku, e.entry_id AS id, e.fc_name AS "fcName", e.changed_units AS "changedUnits",
  e.transaction_time AS "transactionTime", e.transaction_location AS "transactionLocation", e.transaction_reason_code AS "transactionReasonCode",
  e.transaction_reason_description AS "transactionReasonDescription", e.transaction_type AS "transactionType", e.shipment_id AS "shipmentId",
  e.observed_at AS "observedAt"`

/** The entries of a SKU that name a shipment, oldest first. */
export const readShipmentEntries = (
  sql: SqlRunner,
  sellerId: string,
  sku: string,
  shipmentId: string,
): Promise<readonly StoredEntry[]> =>
  sql.query<StoredEntry>(
    `SELECT ${entryColumns} FROM warehouse.inventory_log_entries e
     WHERE e.seller_id = $1 AND e.sku = $2 AND e.shipment_id = $3 AND e.missing_since IS NULL ORDER BY e.transaction_time, e.entry_id`,
    sellerId,
    sku,
    shipmentId,
  )

/** The entries of the log of these months, by {@link buildKey}, sorted by time. */
export const readEntries = async (
  tx: SqlRunner,
  sellerId: string,
  months: readonly MonthToReview[],
): Promise<ReadonlyMap<string, readonly StoredEntry[]>> => {
  if (months.length === 0) return new Map()
  const entries = await tx.query<StoredEntry & { readonly month: string }>(
    `SELECT to_char(a.month, 'YYYY-MM') AS month, ${entryColumns} FROM json_to_recordset($2::json) AS a(sku text, month date, "from" timestamptz, "to" timestamptz)
     JOIN warehouse.inventory_log_entries e ON e.seller_id = $1 AND e.sku = a.sku AND e.transaction_time >= a."from"
       AND e.transaction_time < a."to" AND e.missing_since IS NULL
     ORDER BY e.transaction_time, e.entry_id`,
    sellerId,
    pairsJson(months),
  )
  return Map.groupBy(entries, buildKey)
}
