import { explainClaim } from '../../domain/inventory/claim-arithmetic.ts'
import type { ClaimEvidence, EvidenceEntry } from '../../domain/inventory/claim-document.ts'
import type { ClaimKind } from '../../domain/inventory/claims.ts'
import { findMovementKind } from '../../domain/inventory/log-reasons.ts'
import { type DiscrepancyKind, reconcile } from '../../domain/inventory/reconciliation.ts'
import type { UncertainUnits } from '../../domain/inventory/shortages.ts'
import { addMonths } from '../../domain/values/calendar.ts'
import type { SqlRunner } from '../db/database.ts'
import type { ClaimItem } from './claim-items.ts'
import { readEntries } from './discrepancy-sources.ts'
import { readReasons } from './log-reasons.ts'

/** Maximum number of log entries in the evidence of one claim. */
const maxEntries = 1_000

interface ReportRow {
  readonly month: string
  readonly fileName: string | null
  readonly generatedAt: Date | null
  readonly raw: Readonly<Record<string, string>>
  readonly beginningQuantity: number
  readonly endingQuantity: number
  readonly sold: number
  readonly returned: number
  readonly lost: number
  readonly found: number
  readonly damaged: number
  readonly otherAdjustments: number
}

// The month before, the month, and what came back later.
const readReportRows = (sql: SqlRunner, { sellerId, sku, month }: ClaimItem): Promise<readonly ReportRow[]> =>
  sql.query<ReportRow>(
    `SELECT to_char(r.month, 'YYYY-MM') AS month, p.file_name AS "fileName", p.generated_at AS "generatedAt", r.raw,
       r.beginning_quantity AS "beginningQuantity", r.ending_quantity AS "endingQuantity", r.sold, r.returned, r.lost, r.found, r.damaged,
       r.other_adjustments AS "otherAdjustments"
     FROM warehouse.reconciliation_rows r LEFT JOIN warehouse.reconciliation_reports p ON p.id = r.report_id
     WHERE r.seller_id = $1 AND r.sku = $2 AND r.missing_since IS NULL AND r.month >= $3::date AND (r.month <= $4::date OR r.found <> 0)
     ORDER BY r.month`,
    sellerId,
    sku,
    `${addMonths(month, -1)}-01`,
    `${addMonths(month, 1)}-01`,
  )

const readDifferences = (sql: SqlRunner, { sellerId, sku, month }: ClaimItem) =>
  sql.query<{ kind: DiscrepancyKind; reportUnits: number; expectedUnits: number }>(
    `SELECT kind, report_units::float8 AS "reportUnits", expected_units::float8 AS "expectedUnits" FROM warehouse.inventory_discrepancies
     WHERE seller_id = $1 AND sku = $2 AND month = $3::date AND state = 'open' ORDER BY id`,
    sellerId,
    sku,
    `${month}-01`,
  )

const readGross = async (
  sql: SqlRunner,
  { sellerId, sku, month }: ClaimItem,
): Promise<{ readonly units: Readonly<Record<ClaimKind, number>>; readonly uncertain: UncertainUnits }> => {
  const [row] = await sql.query<Record<ClaimKind, number> & { uncertain: UncertainUnits }>(
    `SELECT lost::float8 AS lost, damaged::float8 AS damaged, (unexplained - returned)::float8 AS missing, returned::float8 AS returned,
       uncertain_reasons AS uncertain
     FROM tallyman.claim_rows WHERE seller_id = $1 AND sku = $2 AND month = $3::date`,
    sellerId,
    sku,
    `${month}-01`,
  )
  return { units: row ?? { lost: 0, damaged: 0, missing: 0, returned: 0 }, uncertain: row?.uncertain ?? {} }
}

/** The evidence of a claim: its arithmetic, the rows of the reports as they came, and the entries of the log in its month. */
export const readClaimEvidence = async (sql: SqlRunner, claim: ClaimItem): Promise<ClaimEvidence> => {
  const { sellerId, sku, month, kind } = claim
  const reasons = await readReasons(sql, sellerId)
  const rows = await readReportRows(sql, claim)
  const differences = await readDifferences(sql, claim)
  const gross = await readGross(sql, claim)
  const bounds = sql.findVocabulary(sellerId).calendar.monthBounds(month)
  const entries = [...(await readEntries(sql, sellerId, [{ sku, month, ...bounds }])).values()].flat()
  const named = entries.map((entry) => ({ entry, movement: findMovementKind(entry, reasons) }))
  const row = rows.find((one) => one.month === month)
  // Of a claim for missing units no entry tells more than another, so all their centers count.
  const ofKind = named.filter(({ movement }) => kind === 'missing' || movement === kind)
  return {
    ...{ id: String(claim.id), sellerId, sku, gtin: claim.gtin, month, kind, units: claim.units, certainty: claim.certainty },
    ...{ value: claim.value, currency: claim.currency, state: claim.state, reference: claim.reference },
    deadline: claim.deadline?.toISOString() ?? null,
    centers: [...new Set(ofKind.flatMap(({ entry }) => entry.fcName ?? []))].sort(),
    arithmetic: explainClaim({
      ...{ month, sku, kind, units: claim.units, unitPrice: claim.unitPrice, value: claim.value, currency: claim.currency },
      grossUnits: gross.units[kind],
      uncertain: gross.uncertain,
      row:
        row === undefined
          ? null
          : {
              beginning: row.beginningQuantity,
              ending: row.endingQuantity,
              units: reconcile({ report: row, endingBefore: null, movements: null }).units,
            },
      differences,
    }),
    reportRows: rows.map(({ raw, generatedAt, ...one }) => ({
      month: one.month,
      fileName: one.fileName,
      generatedAt: generatedAt?.toISOString() ?? null,
      columns: raw,
    })),
    logEntries: named.slice(0, maxEntries).map(
      ({ entry, movement }): EvidenceEntry => ({
        id: entry.id,
        transactionTime: entry.transactionTime.toISOString(),
        changedUnits: entry.changedUnits,
        movement: movement ?? 'not counted',
        fcName: entry.fcName,
        shipmentId: entry.shipmentId,
        type: entry.transactionType,
        reasonCode: entry.transactionReasonCode,
        reasonDescription: entry.transactionReasonDescription,
        location: entry.transactionLocation,
      }),
    ),
    omittedEntries: Math.max(0, named.length - maxEntries),
  }
}
