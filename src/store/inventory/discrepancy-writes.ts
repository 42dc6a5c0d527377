import type { Resolution } from '../../domain/inventory/discrepancy-resolution.ts'
import type { Certainty, Difference, DiscrepancyKind } from '../../domain/inventory/reconciliation.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { selectLastUnitPrices } from '../orders/unit-price.ts'
import { buildKey, type SkuMonth } from './discrepancy-sources.ts'

/** A found difference with its explanation. */
export interface Finding extends SkuMonth, Difference {
  readonly gtin: string | null
  readonly logVerdict: 'missing' | 'extra' | null
  readonly logCertainty: Certainty | null
  /** The first 100 of them. */
  readonly logEntryIds: readonly string[]
  readonly logEntries: number
  /** What copies in the log add to the stock. */
  readonly copiedUnits: number
  /** What entries that are newer than the report add to the stock, as far as they can make the difference, and the newest of them; null: none. */
  readonly late: { readonly units: number; readonly at: Date } | null
  /** `YYYY-MM-DD`, by the marketplace's calendar. */
  readonly earliestDay: string
}

/** A stored open discrepancy. */
export interface OpenRow extends SkuMonth {
  readonly id: bigint
  readonly gtin: string | null
  readonly kind: DiscrepancyKind
  readonly report_units: bigint
  readonly expected_units: bigint
  readonly log_verdict: string | null
  readonly log_certainty: Certainty | null
  readonly log_entry_ids: string[]
  readonly log_entries: number
  readonly log_copied_units: bigint
  readonly log_late_units: bigint
  readonly log_late_at: Date | null
  readonly earliest_day: string
  readonly priced: boolean
}

/** An open discrepancy that no longer holds, and why. */
export interface Resolved {
  readonly open: OpenRow
  readonly resolution: Resolution
}

/** The key of a discrepancy of a seller. */
export const discrepancyKey = (one: SkuMonth & { readonly kind: DiscrepancyKind }): string => `${one.kind} ${buildKey(one)}`

/** All open discrepancies of these SKUs. */
export const readOpen = (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<OpenRow[]> =>
  tx.query<OpenRow>(
    `SELECT d.id, d.sku, d.gtin, to_char(d.month, 'YYYY-MM') AS month, d.kind, d.report_units, d.expected_units, d.log_verdict,
       d.log_certainty, d.log_entry_ids, d.log_entries, d.log_copied_units, d.log_late_units, d.log_late_at, to_char(d.earliest_day, 'YYYY-MM-DD') AS earliest_day, d.value IS NOT NULL AS priced
     FROM unnest($2::text[]) AS a(sku)
     JOIN warehouse.inventory_discrepancies d ON d.seller_id = $1 AND d.sku = a.sku AND d.state = 'open'`,
    sellerId,
    skus,
  )

/** Whether a finding equals the stored discrepancy. */
export const isSame = (open: OpenRow, finding: Finding): boolean =>
  Number(open.report_units) === finding.reportUnits &&
  Number(open.expected_units) === finding.expectedUnits &&
  open.gtin === finding.gtin &&
  open.log_verdict === finding.logVerdict &&
  open.log_certainty === finding.logCertainty &&
  open.log_entries === finding.logEntries &&
  Number(open.log_copied_units) === finding.copiedUnits &&
  Number(open.log_late_units) === (finding.late?.units ?? 0) &&
  open.log_late_at?.getTime() === finding.late?.at.getTime() &&
  open.earliest_day === finding.earliestDay &&
  open.log_entry_ids.length === finding.logEntryIds.length &&
  open.log_entry_ids.every((id, index) => id === finding.logEntryIds[index])

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
  log_copied_units: finding.copiedUnits,
  log_late_units: finding.late?.units ?? 0,
  log_late_at: finding.late?.at ?? null,
  earliest_day: finding.earliestDay,
})

const findingColumns = `sku text, gtin text, month date, kind text, report_units bigint, expected_units bigint, log_verdict text,
  log_certainty text, log_entry_ids text[], log_entries int, log_copied_units bigint,
  log_late_units bigint, log_late_at timestamptz, earliest_day date`

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
     price AS MATERIALIZED (${selectLastUnitPrices('(SELECT DISTINCT $1::text AS seller_id, sku FROM finding)', '$3')})
     INSERT INTO warehouse.inventory_discrepancies AS d (seller_id, sku, gtin, month, kind, report_units, expected_units, log_verdict,
       log_certainty, log_entry_ids, log_entries, log_copied_units, log_late_units, log_late_at, earliest_day, unit_price, value, currency)
     SELECT $1, f.sku, f.gtin, f.month, f.kind, f.report_units, f.expected_units, f.log_verdict, f.log_certainty, f.log_entry_ids,
       f.log_entries, f.log_copied_units, f.log_late_units, f.log_late_at, f.earliest_day, round(p.amount / p.units, 4), round(abs(f.report_units - f.expected_units) * p.amount / p.units, 2),
       p.currency
     FROM finding f LEFT JOIN price p ON p.sku = f.sku ORDER BY f.month, f.sku, f.kind
     RETURNING ${written}`,
    sellerId,
    JSON.stringify(findings.map(toJson)),
    tx.findVocabulary(sellerId).productCharge,
  )

const update = (tx: SqlRunner, sellerId: string, changed: readonly { readonly id: bigint; readonly finding: Finding }[]) =>
  tx.query<Written>(
    `WITH finding AS MATERIALIZED (SELECT * FROM json_to_recordset($2::json) AS t(id bigint, ${findingColumns})),
     price AS MATERIALIZED (${selectLastUnitPrices('(SELECT DISTINCT $1::text AS seller_id, sku FROM finding)', '$3')})
     UPDATE warehouse.inventory_discrepancies AS d SET gtin = f.gtin, report_units = f.report_units, expected_units = f.expected_units,
       log_verdict = f.log_verdict, log_certainty = f.log_certainty, log_entry_ids = f.log_entry_ids, log_entries = f.log_entries,
       log_copied_units = f.log_copied_units, log_late_units = f.log_late_units, log_late_at = f.log_late_at,
       earliest_day = f.earliest_day, unit_price = round(p.amount / p.units, 4),
       value = round(abs(f.report_units - f.expected_units) * p.amount / p.units, 2), currency = p.currency, changed_at = now()
     FROM finding f LEFT JOIN price p ON p.sku = f.sku WHERE d.id = f.id
     RETURNING ${written}`,
    sellerId,
    JSON.stringify(changed.map(({ id, finding }) => ({ id: String(id), ...toJson(finding) }))),
    tx.findVocabulary(sellerId).productCharge,
  )

const resolve = (tx: SqlRunner, resolved: readonly Resolved[]): Promise<number> =>
  tx.execute(
    `UPDATE warehouse.inventory_discrepancies AS d SET state = 'resolved', resolution = t.resolution, resolved_at = now(), changed_at = now()
     FROM json_to_recordset($1::json) AS t(id bigint, resolution text) WHERE d.id = t.id`,
    JSON.stringify(resolved.map(({ open, resolution }) => ({ id: String(open.id), resolution }))),
  )

const recordWritten = (
  tx: Transaction,
  sellerId: string,
  type: 'found' | 'changed',
  findings: readonly Finding[],
  rows: readonly Written[],
): void => {
  const rowByKey = new Map(rows.map((row) => [discrepancyKey(row), row]))
  for (const finding of findings) {
    const row = rowByKey.get(discrepancyKey(finding))
    if (row === undefined) throw new Error(`the ${finding.kind} discrepancy of a SKU in ${finding.month} was not written`)
    tx.record({
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

/** Writes new, changed and resolved discrepancies, and records each change. */
export const writeDiscrepancies = async (
  tx: Transaction,
  sellerId: string,
  fresh: readonly Finding[],
  changed: readonly { readonly id: bigint; readonly finding: Finding }[],
  resolved: readonly Resolved[],
): Promise<void> => {
  if (fresh.length > 0) recordWritten(tx, sellerId, 'found', fresh, await insert(tx, sellerId, fresh))
  if (changed.length > 0) {
    const rewritten = await update(tx, sellerId, changed)
    const findings = changed.map(({ finding }) => finding)
    recordWritten(tx, sellerId, 'changed', findings, rewritten)
  }
  if (resolved.length > 0) await resolve(tx, resolved)
  for (const { open, resolution } of resolved) {
    const { id, sku, gtin, month, kind } = open
    tx.record({ sellerId, type: 'inventory_discrepancy.resolved', data: { id: String(id), sku, gtin, month, kind, resolution } })
  }
}
