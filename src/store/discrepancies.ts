import type { InventoryLogEntry } from '../domain/inventory-log.ts'
import { addMonths, monthBounds, pacificDay } from '../domain/pacific-time.ts'
import {
  type Certainty,
  type Difference,
  type DiscrepancyKind,
  explainByLog,
  isMovementKind,
  type LogMovement,
  type ReportedUnits,
  reconcile,
} from '../domain/reconciliation.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { lastUnitPrice } from './unit-price.ts'

/** One SKU in one month of the report (`YYYY-MM`, Pacific). */
export interface SkuMonth {
  readonly sku: string
  readonly month: string
}

/** A month under review, with the Pacific midnights between which it lies. */
interface AskedMonth extends SkuMonth {
  readonly from: Date
  readonly to: Date
}

/** A row of the report that is under review. */
interface ReviewedRow extends ReportedUnits {
  readonly sku: string
  readonly month: string
  readonly gtin: string | null
  /** Movements before this moment are counted. */
  readonly until: Date
  /** The log holds everything that the report counts. */
  readonly logComplete: boolean
  /** Whether the month before has a row, though one that may not count to its month's end. */
  readonly hasMonthBefore: boolean
  readonly endingBefore: number | null
}

/** What differs, with what is known about it. */
interface Finding extends SkuMonth, Difference {
  readonly gtin: string | null
  readonly logVerdict: 'missing' | 'extra' | null
  readonly logCertainty: Certainty | null
  /** The first {@link maxEntryIds} of them. */
  readonly logEntryIds: readonly string[]
  readonly logEntries: number
  /** `YYYY-MM-DD`, Pacific. */
  readonly earliestDay: string
}

interface OpenRow {
  readonly id: bigint
  readonly sku: string
  readonly gtin: string | null
  readonly month: string
  readonly kind: DiscrepancyKind
  readonly report_units: bigint
  readonly expected_units: bigint
  readonly log_verdict: string | null
  readonly log_certainty: string | null
  readonly log_entry_ids: string[]
  readonly log_entries: number
  readonly earliest_day: string
  readonly priced: boolean
}

interface EntryRow extends Omit<InventoryLogEntry, 'raw' | 'gtin'> {
  readonly month: string
}

/** Entries that a discrepancy names at most; it counts all of them. */
const maxEntryIds = 100

/**
 * How far back the marketplace gives the log, in days: 365 (public facts, section 7.1), less one for the time that a first reading takes.
 * What lies further back may never have been read.
 */
const logReachDays = 364

/** SQL that tells whether the log of a row of `tallyman.inventory_skus` is whole between two moments. */
export const logCovers = (sku: string, from: string, until: string): string =>
  `coalesce(${sku}.log_read_up_to >= ${until} AND ${from} >= ${sku}.log_read_at - interval '${logReachDays} days', false)`

const keyOf = ({ sku, month }: SkuMonth): string => `${month} ${sku}`

/** The months themselves, and those after them: what a month ends with is what the next one should begin with. */
const monthsToReview = (pairs: readonly SkuMonth[]): AskedMonth[] => {
  const bounds = new Map<string, ReturnType<typeof monthBounds>>()
  const boundsOf = (month: string) => {
    const known = bounds.get(month) ?? monthBounds(month)
    bounds.set(month, known)
    return known
  }
  const all = pairs.flatMap(({ sku, month }) => [
    { sku, month },
    { sku, month: addMonths(month, 1) },
  ])
  return [...new Map(all.map((pair) => [keyOf(pair), pair])).values()].map((pair) => ({ ...pair, ...boundsOf(pair.month) }))
}

/** Pairs as a parameter of SQL: months become the dates of their first days. */
const pairsJson = (pairs: readonly (SkuMonth & { readonly from?: Date; readonly to?: Date })[]): string =>
  JSON.stringify(pairs.map(({ sku, month, from, to }) => ({ sku, month: `${month}-01`, from, to })))

// Looked up one by one (OFFSET 0 keeps them from being joined otherwise): while a table that has just been filled has no statistics, a join
// of it would cost the square of its size.
const readRows = (tx: SqlRunner, sellerId: string, asked: readonly AskedMonth[]): Promise<ReviewedRow[]> =>
  tx.query<ReviewedRow>(
    `SELECT r.sku, to_char(r.month, 'YYYY-MM') AS month, r.gtin, least(r.covered_until, a."to") AS until,
       ${logCovers('s', 'a."from"', 'least(r.covered_until, a."to")')} AS "logComplete",
       b.sku IS NOT NULL AS "hasMonthBefore",
       CASE WHEN b.covered_until >= a."from" THEN b.ending_quantity END AS "endingBefore",
       r.beginning_quantity AS "beginningQuantity", r.ending_quantity AS "endingQuantity", r.sold, r.returned, r.lost, r.found, r.damaged,
       r.other_adjustments AS "otherAdjustments"
     FROM json_to_recordset($2::json) AS a(sku text, month date, "from" timestamptz, "to" timestamptz)
     CROSS JOIN LATERAL (
       SELECT * FROM warehouse.reconciliation_current_rows WHERE seller_id = $1 AND month = a.month AND sku = a.sku OFFSET 0
     ) r
     LEFT JOIN LATERAL (
       SELECT * FROM warehouse.reconciliation_current_rows
       WHERE seller_id = $1 AND month = (a.month - interval '1 month')::date AND sku = a.sku OFFSET 0
     ) b ON true
     LEFT JOIN LATERAL (SELECT * FROM tallyman.inventory_skus WHERE seller_id = $1 AND sku = a.sku OFFSET 0) s ON true`,
    sellerId,
    pairsJson(asked),
  )

const readOpen = (tx: SqlRunner, sellerId: string, asked: readonly AskedMonth[]): Promise<OpenRow[]> =>
  tx.query<OpenRow>(
    `SELECT d.id, d.sku, d.gtin, to_char(d.month, 'YYYY-MM') AS month, d.kind, d.report_units, d.expected_units, d.log_verdict,
       d.log_certainty, d.log_entry_ids, d.log_entries, to_char(d.earliest_day, 'YYYY-MM-DD') AS earliest_day, d.value IS NOT NULL AS priced
     FROM json_to_recordset($2::json) AS a(sku text, month date)
     JOIN warehouse.inventory_discrepancies d ON d.seller_id = $1 AND d.sku = a.sku AND d.month = a.month AND d.state = 'open'`,
    sellerId,
    pairsJson(asked),
  )

/** The log of these rows' time, added up to one movement for each of what decides its kind. */
const readMovements = async (
  tx: SqlRunner,
  sellerId: string,
  rows: readonly (SkuMonth & { readonly from: Date; readonly to: Date })[],
): Promise<ReadonlyMap<string, readonly LogMovement[]>> => {
  const found = await tx.query<
    SkuMonth & { units: bigint; location: string | null; code: string | null; description: string | null; type: string | null }
  >(
    `SELECT a.sku, to_char(a.month, 'YYYY-MM') AS month, sum(e.changed_units)::bigint AS units, e.transaction_location AS location,
       e.transaction_reason_code AS code, e.transaction_reason_description AS description, e.transaction_type AS type
     FROM json_to_recordset($2::json) AS a(sku text, month date, "from" timestamptz, "to" timestamptz)
     JOIN warehouse.inventory_log_entries e
       ON e.seller_id = $1 AND e.sku = a.sku AND e.transaction_time >= a."from" AND e.transaction_time < a."to"
     GROUP BY a.sku, a.month, e.transaction_location, e.transaction_reason_code, e.transaction_reason_description, e.transaction_type`,
    sellerId,
    pairsJson(rows),
  )
  const movements = new Map<string, LogMovement[]>(rows.map((row) => [keyOf(row), []]))
  for (const row of found) {
    movements.get(keyOf(row))?.push({
      changedUnits: Number(row.units),
      transactionLocation: row.location,
      transactionReasonCode: row.code,
      transactionReasonDescription: row.description,
      transactionType: row.type,
    })
  }
  return movements
}

/** Single entries of the log, in the order of their time. */
const readEntries = (
  tx: SqlRunner,
  sellerId: string,
  rows: readonly (SkuMonth & { readonly from: Date; readonly to: Date })[],
): Promise<EntryRow[]> =>
  tx.query<EntryRow>(
    `SELECT to_char(a.month, 'YYYY-MM') AS month, e.sku, e.entry_id AS id, e.fc_name AS "fcName", e.changed_units AS "changedUnits",
       e.transaction_time AS "transactionTime", e.transaction_location AS "transactionLocation",
       e.transaction_reason_code AS "transactionReasonCode", e.transaction_reason_description AS "transactionReasonDescription",
       e.transaction_type AS "transactionType", e.shipment_id AS "shipmentId"
     FROM json_to_recordset($2::json) AS a(sku text, month date, "from" timestamptz, "to" timestamptz)
     JOIN warehouse.inventory_log_entries e
       ON e.seller_id = $1 AND e.sku = a.sku AND e.transaction_time >= a."from" AND e.transaction_time < a."to"
     ORDER BY e.transaction_time, e.entry_id`,
    sellerId,
    pairsJson(rows),
  )

/** Adds what the log says to differences; single entries are read only of months in which the log may hold too much. */
const explain = async (
  tx: SqlRunner,
  sellerId: string,
  differing: readonly { readonly row: ReviewedRow; readonly difference: Difference }[],
): Promise<Finding[]> => {
  const mayBeExtra = differing.filter(({ difference: { kind, difference } }) => kind === 'other' || difference < 0)
  const suspects = mayBeExtra.filter(({ difference }) => isMovementKind(difference.kind)).map(({ row }) => row)
  const months = [...new Map(suspects.map((row) => [keyOf(row), countedTime(row)])).values()]
  const entries = months.length === 0 ? [] : await readEntries(tx, sellerId, months)
  const entriesOf = Map.groupBy(entries, keyOf)
  return differing.map(({ row, difference }): Finding => {
    const { sku, month, gtin } = row
    const { kind } = difference
    const finding = { ...difference, sku, month, gtin }
    const firstDay = `${month}-01`
    if (!isMovementKind(kind)) {
      return { ...finding, logVerdict: null, logCertainty: null, logEntryIds: [], logEntries: 0, earliestDay: firstDay }
    }
    const { verdict, certainty, entries: extra } = explainByLog({ ...difference, kind }, entriesOf.get(keyOf(row)) ?? [])
    const [earliest] = extra
    return {
      ...finding,
      logVerdict: verdict,
      logCertainty: certainty,
      logEntryIds: extra.slice(0, maxEntryIds).map((entry) => entry.id),
      logEntries: extra.length,
      earliestDay: earliest === undefined ? firstDay : pacificDay(earliest.transactionTime),
    }
  })
}

const countedTime = ({ sku, month, until }: ReviewedRow) => ({ sku, month, from: monthBounds(month).from, to: until })

const isSame = (open: OpenRow, finding: Finding): boolean =>
  Number(open.report_units) === finding.reportUnits &&
  Number(open.expected_units) === finding.expectedUnits &&
  open.gtin === finding.gtin &&
  open.log_verdict === finding.logVerdict &&
  open.log_certainty === finding.logCertainty &&
  open.log_entries === finding.logEntries &&
  open.earliest_day === finding.earliestDay &&
  open.log_entry_ids.length === finding.logEntryIds.length &&
  open.log_entry_ids.every((id, index) => id === finding.logEntryIds[index])

/** Those of these SKUs of which a price is known. */
const skusWithPrice = async (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<ReadonlySet<string>> => {
  if (skus.length === 0) return new Set()
  const rows = await tx.query<{ sku: string }>(
    `SELECT sku FROM (${lastUnitPrice('(SELECT DISTINCT $1::text AS seller_id, sku FROM unnest($2::text[]) AS t(sku))')}) AS price`,
    sellerId,
    skus,
  )
  return new Set(rows.map((row) => row.sku))
}

/** An open discrepancy that stands no more, and why. */
interface Resolved {
  readonly open: OpenRow
  readonly resolution: 'agrees' | 'withdrawn'
}

/** What becomes of a discrepancy that is open but was not found again; null when it could not be judged now, so that it stays. */
const resolutionOf = (open: OpenRow, row: ReviewedRow | undefined): Resolved | null => {
  if (row === undefined) return { open, resolution: 'withdrawn' }
  if (isMovementKind(open.kind) && !row.logComplete) return null
  if (open.kind !== 'carry-over' || row.endingBefore !== null) return { open, resolution: 'agrees' }
  return row.hasMonthBefore ? null : { open, resolution: 'withdrawn' }
}

const toJson = (finding: Finding) => ({
  sku: finding.sku,
  gtin: finding.gtin,
  month: `${finding.month}-01`,
  kind: finding.kind,
  report_units: finding.reportUnits,
  expected_units: finding.expectedUnits,
  log_verdict: finding.logVerdict,
  log_certainty: finding.logCertainty,
  log_entry_ids: finding.logEntryIds,
  log_entries: finding.logEntries,
  earliest_day: finding.earliestDay,
})

const findingColumns = `sku text, gtin text, month date, kind text, report_units bigint, expected_units bigint, log_verdict text,
  log_certainty text, log_entry_ids text[], log_entries int, earliest_day date`

interface Written {
  readonly id: bigint
  readonly sku: string
  readonly month: string
  readonly kind: DiscrepancyKind
  readonly value: string | null
  readonly currency: string | null
}

const written = `d.id, d.sku, to_char(d.month, 'YYYY-MM') AS month, d.kind, d.value::text AS value, d.currency`

const insert = (tx: SqlRunner, sellerId: string, findings: readonly Finding[]): Promise<Written[]> =>
  tx.query<Written>(
    `WITH finding AS MATERIALIZED (SELECT * FROM json_to_recordset($2::json) AS t(${findingColumns})),
     price AS MATERIALIZED (${lastUnitPrice('(SELECT DISTINCT $1::text AS seller_id, sku FROM finding)')})
     INSERT INTO warehouse.inventory_discrepancies AS d (seller_id, sku, gtin, month, kind, report_units, expected_units, log_verdict,
       log_certainty, log_entry_ids, log_entries, earliest_day, unit_price, value, currency)
     SELECT $1, f.sku, f.gtin, f.month, f.kind, f.report_units, f.expected_units, f.log_verdict, f.log_certainty, f.log_entry_ids,
       f.log_entries, f.earliest_day, round(p.amount / p.units, 4), round(abs(f.report_units - f.expected_units) * p.amount / p.units, 2),
       p.currency
     FROM finding f LEFT JOIN price p ON p.sku = f.sku ORDER BY f.month, f.sku, f.kind
     RETURNING ${written}`,
    sellerId,
    JSON.stringify(findings.map(toJson)),
  )

const update = (tx: SqlRunner, sellerId: string, changed: readonly { readonly id: bigint; readonly finding: Finding }[]) =>
  tx.query<Written>(
    `WITH finding AS MATERIALIZED (SELECT * FROM json_to_recordset($2::json) AS t(id bigint, ${findingColumns})),
     price AS MATERIALIZED (${lastUnitPrice('(SELECT DISTINCT $1::text AS seller_id, sku FROM finding)')})
     UPDATE warehouse.inventory_discrepancies AS d SET gtin = f.gtin, report_units = f.report_units, expected_units = f.expected_units,
       log_verdict = f.log_verdict, log_certainty = f.log_certainty, log_entry_ids = f.log_entry_ids, log_entries = f.log_entries,
       earliest_day = f.earliest_day, unit_price = round(p.amount / p.units, 4),
       value = round(abs(f.report_units - f.expected_units) * p.amount / p.units, 2), currency = p.currency, changed_at = now()
     FROM finding f LEFT JOIN price p ON p.sku = f.sku WHERE d.id = f.id
     RETURNING ${written}`,
    sellerId,
    JSON.stringify(changed.map(({ id, finding }) => ({ id: String(id), ...toJson(finding) }))),
  )

const resolve = (tx: SqlRunner, resolved: readonly Resolved[]): Promise<number> =>
  tx.execute(
    `UPDATE warehouse.inventory_discrepancies AS d SET state = 'resolved', resolution = t.resolution, resolved_at = now(), changed_at = now()
     FROM json_to_recordset($1::json) AS t(id bigint, resolution text) WHERE d.id = t.id`,
    JSON.stringify(resolved.map(({ open, resolution }) => ({ id: String(open.id), resolution }))),
  )

const discrepancyKey = (one: SkuMonth & { readonly kind: DiscrepancyKind }): string => `${one.kind} ${keyOf(one)}`

const tellWritten = (
  tx: Transaction,
  sellerId: string,
  type: 'found' | 'changed',
  findings: readonly Finding[],
  rows: readonly Written[],
): void => {
  const rowOf = new Map(rows.map((row) => [discrepancyKey(row), row]))
  for (const finding of findings) {
    const row = rowOf.get(discrepancyKey(finding))
    if (row === undefined) throw new Error(`the ${finding.kind} discrepancy of a SKU in ${finding.month} was not written`)
    tx.tell({
      sellerId,
      type: `inventory_discrepancy.${type}`,
      data: {
        id: String(row.id),
        sku: finding.sku,
        gtin: finding.gtin,
        month: finding.month,
        kind: finding.kind,
        reportUnits: finding.reportUnits,
        expectedUnits: finding.expectedUnits,
        difference: finding.difference,
        logVerdict: finding.logVerdict,
        value: row.value,
        currency: row.currency,
      },
    })
  }
}

/**
 * Recomputes the discrepancies of these SKUs and months, and of the months after them, which should begin where these end, from the report rows
 * and the inventory log as this transaction sees them; answers how many were found, changed or resolved. Writes only what differs. Report and
 * log are compared when the log has been read up to where the report counts; until then what was found by the log stands as it is.
 * A fixed number of statements, however many pairs. Reviews of one seller wait for each other until their transactions end, so that of two
 * that change both sides at once the later one sees both changes.
 */
export const reviewDiscrepancies = async (tx: Transaction, sellerId: string, pairs: readonly SkuMonth[]): Promise<number> => {
  if (pairs.length === 0) return 0
  await tx.execute(`SELECT pg_advisory_xact_lock(hashtextextended('tallyman.discrepancies ' || $1, 0))`, sellerId)
  const asked = monthsToReview(pairs)
  const rows = await readRows(tx, sellerId, asked)
  const openRows = await readOpen(tx, sellerId, asked)
  const comparable = rows.filter((row) => row.logComplete).map(countedTime)
  const movements = comparable.length === 0 ? new Map<string, never>() : await readMovements(tx, sellerId, comparable)

  const differing = rows.flatMap((row) => {
    const differences = reconcile({ report: row, endingBefore: row.endingBefore, movements: movements.get(keyOf(row)) ?? null })
    return differences.map((difference) => ({ row, difference }))
  })
  const findings = await explain(tx, sellerId, differing)

  const openOf = new Map(openRows.map((open) => [discrepancyKey(open), open]))
  const fresh = findings.filter((finding) => !openOf.has(discrepancyKey(finding)))
  const again = findings.flatMap((finding) => {
    const open = openOf.get(discrepancyKey(finding))
    return open === undefined ? [] : [{ open, finding }]
  })
  const nowPriced = await skusWithPrice(
    tx,
    sellerId,
    again.filter(({ open }) => !open.priced).map(({ open }) => open.sku),
  )
  const changed = again
    .filter(({ open, finding }) => !isSame(open, finding) || (!open.priced && nowPriced.has(finding.sku)))
    .map(({ open, finding }) => ({ id: open.id, finding }))
  const found = new Set(findings.map(discrepancyKey))
  const rowOf = new Map(rows.map((row) => [keyOf(row), row]))
  const resolved = openRows
    .filter((open) => !found.has(discrepancyKey(open)))
    .flatMap((open) => resolutionOf(open, rowOf.get(keyOf(open))) ?? [])

  if (fresh.length > 0) tellWritten(tx, sellerId, 'found', fresh, await insert(tx, sellerId, fresh))
  if (changed.length > 0) {
    const rewritten = await update(tx, sellerId, changed)
    tellWritten(
      tx,
      sellerId,
      'changed',
      changed.map(({ finding }) => finding),
      rewritten,
    )
  }
  if (resolved.length > 0) await resolve(tx, resolved)
  for (const { open, resolution } of resolved) {
    const { id, sku, gtin, month, kind } = open
    tx.tell({ sellerId, type: 'inventory_discrepancy.resolved', data: { id: String(id), sku, gtin, month, kind, resolution } })
  }
  return fresh.length + changed.length + resolved.length
}
