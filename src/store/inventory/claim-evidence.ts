import { explainClaim, explainInbound, type InboundNumbers } from '../../domain/inventory/claim-arithmetic.ts'
import type { ClaimEvidence, EvidenceEntry } from '../../domain/inventory/claim-document.ts'
import type { LossKind } from '../../domain/inventory/claims.ts'
import { findMovementKind, type MovementKind, type ReasonMap } from '../../domain/inventory/log-reasons.ts'
import { type DiscrepancyKind, reconcile } from '../../domain/inventory/reconciliation.ts'
import type { UncertainUnits } from '../../domain/inventory/shortages.ts'
import { addMonths } from '../../domain/values/calendar.ts'
import type { SqlRunner } from '../db/database.ts'
import type { ClaimItem } from './claim-items.ts'
import { readPaymentsOfClaim } from './claim-payments.ts'
import { readEntries, readShipmentEntries, type StoredEntry } from './discrepancy-sources.ts'
import { readReasons } from './log-reasons.ts'

/** Maximum number of log entries in the evidence of one claim. */
const maxEntries = 1_000

interface ReportRow {
  readonly month: string
  readonly fileName: string | null
  readonly generatedAt: Date | null
  /** Of its report; null: the report is not stored. */
  readonly headers: readonly string[] | null
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

// The month before, the month, and all later ones up to the last in which units came back: they settle the losses between, too.
const readReportRows = (sql: SqlRunner, { sellerId, sku, month }: ClaimItem): Promise<readonly ReportRow[]> =>
  sql.query<ReportRow>(
    `SELECT to_char(r.month, 'YYYY-MM') AS month, p.file_name AS "fileName", p.generated_at AS "generatedAt", p.headers, r.raw,
       r.beginning_quantity AS "beginningQuantity", r.ending_quantity AS "endingQuantity", r.sold, r.returned, r.lost, r.found, r.damaged,
       r.other_adjustments AS "otherAdjustments"
     FROM warehouse.reconciliation_rows r LEFT JOIN warehouse.reconciliation_reports p ON p.id = r.report_id
     WHERE r.seller_id = $1 AND r.sku = $2 AND r.missing_since IS NULL AND r.month >= $3::date
       AND r.month <= greatest($4::date, (SELECT max(f.month) FROM warehouse.reconciliation_rows f
         WHERE f.seller_id = $1 AND f.sku = $2 AND f.missing_since IS NULL AND f.found <> 0))
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
): Promise<{
  readonly units: Readonly<Record<LossKind, number>>
  readonly uncertain: UncertainUnits
  readonly foundLater: number
}> => {
  const [row] = await sql.query<Record<LossKind, number> & { uncertain: UncertainUnits; foundLater: number }>(
    `SELECT lost::float8 AS lost, damaged::float8 AS damaged, (unexplained - returned)::float8 AS missing, returned::float8 AS returned,
       uncertain_reasons AS uncertain,
       (SELECT coalesce(sum(l.found), 0)::float8 FROM tallyman.claim_rows l
         WHERE l.seller_id = $1 AND l.sku = $2 AND l.month > $3::date) AS "foundLater"
     FROM tallyman.claim_rows WHERE seller_id = $1 AND sku = $2 AND month = $3::date`,
    sellerId,
    sku,
    `${month}-01`,
  )
  return {
    units: row ?? { lost: 0, damaged: 0, missing: 0, returned: 0 },
    uncertain: row?.uncertain ?? {},
    foundLater: row?.foundLater ?? 0,
  }
}

/** SQL: a time as ISO 8601. */
const isoTime = (time: string): string => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`

/** Parts of the evidence that depend on the kind of the claim. */
type Proof = Pick<ClaimEvidence, 'centers' | 'arithmetic' | 'reportRows'> & { readonly entries: readonly NamedEntry[] }

interface NamedEntry {
  readonly entry: StoredEntry
  readonly movement: MovementKind | null
}

const nameEntries = (entries: readonly StoredEntry[], reasons: ReasonMap): readonly NamedEntry[] =>
  entries.map((entry) => ({ entry, movement: findMovementKind(entry, reasons) }))

/** The columns of a row in the order of the file; those of an unknown place at the end. */
const sortColumns = (raw: ReportRow['raw'], headers: readonly string[]): ReportRow['raw'] => {
  const names = [
    ...headers.filter((header) => Object.hasOwn(raw, header)),
    ...Object.keys(raw).filter((name) => !headers.includes(name)),
  ]
  return Object.fromEntries(names.map((name) => [name, raw[name] ?? '']))
}

const listCenters = (entries: readonly NamedEntry[]): readonly string[] =>
  [...new Set(entries.flatMap(({ entry }) => entry.fcName ?? []))].sort()

const proveLoss = async (sql: SqlRunner, claim: ClaimItem, kind: LossKind): Promise<Proof> => {
  const { sellerId, sku, month } = claim
  const rows = await readReportRows(sql, claim)
  const differences = await readDifferences(sql, claim)
  const gross = await readGross(sql, claim)
  const bounds = sql.findVocabulary(sellerId).calendar.monthBounds(month)
  const entries = [...(await readEntries(sql, sellerId, [{ sku, month, ...bounds }])).values()].flat()
  const named = nameEntries(entries, await readReasons(sql, sellerId))
  const row = rows.find((one) => one.month === month)
  return {
    // Of a claim for missing units no entry tells more than another, so all their centers count.
    centers: listCenters(named.filter(({ movement }) => kind === 'missing' || movement === kind)),
    arithmetic: explainClaim({
      ...{ month, sku, kind, units: claim.units, unitPrice: claim.unitPrice, value: claim.value, currency: claim.currency },
      grossUnits: gross.units[kind],
      uncertain: gross.uncertain,
      foundLater: gross.foundLater,
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
    reportRows: rows.map(({ raw, headers, generatedAt, ...one }) => ({
      month: one.month,
      fileName: one.fileName,
      generatedAt: generatedAt?.toISOString() ?? null,
      columns: sortColumns(raw, headers ?? []),
    })),
    entries: named,
  }
}

const proveInbound = async (sql: SqlRunner, claim: ClaimItem, shipmentId: string): Promise<Proof> => {
  const { sellerId, sku, units, unitPrice, value, currency } = claim
  const lines = await sql.query<Omit<InboundNumbers, 'units' | 'unitPrice' | 'value' | 'currency' | 'shipmentId'>>(
    `SELECT l.sent_units AS "sentUnits", l.received_units::float8 AS "receivedUnits", ${isoTime('l.shipped_at')} AS "shippedAt",
       ${isoTime('l.delivered_at')} AS "deliveredAt", ${isoTime('l.log_read_up_to')} AS "logReadUpTo",
       ${isoTime('(SELECT min(o.first_received_at) FROM warehouse.inbound_shipment_lines o WHERE o.seller_id = l.seller_id AND o.shipment_id = l.shipment_id)')}
         AS "firstReceivedAt"
     FROM warehouse.inbound_shipment_lines l WHERE l.seller_id = $1 AND l.shipment_id = $2 AND l.sku = $3`,
    sellerId,
    shipmentId,
    sku,
  )
  const entries = nameEntries(await readShipmentEntries(sql, sellerId, sku, shipmentId), await readReasons(sql, sellerId))
  return {
    centers: listCenters(entries),
    arithmetic: lines.flatMap((line) => explainInbound({ ...line, shipmentId, units, unitPrice, value, currency })),
    reportRows: [],
    entries,
  }
}

/** The evidence of a claim: its arithmetic, the rows of the reports as they came, and the entries of the log of its month or of its inbound shipment. */
export const readClaimEvidence = async (sql: SqlRunner, claim: ClaimItem): Promise<ClaimEvidence> => {
  const { sellerId, sku, month, kind, shipmentId } = claim
  const { entries, ...proof } =
    kind === 'inbound' ? await proveInbound(sql, claim, shipmentId ?? '') : await proveLoss(sql, claim, kind)
  const payments = await readPaymentsOfClaim(sql, claim.id)
  return {
    ...{ id: String(claim.id), sellerId, sku, gtin: claim.gtin, month, kind, units: claim.units, certainty: claim.certainty },
    ...{ value: claim.value, currency: claim.currency, state: claim.state, reference: claim.reference, shipmentId },
    deadline: claim.deadline?.toISOString() ?? null,
    ...proof,
    logEntries: entries.slice(0, maxEntries).map(
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
    omittedEntries: Math.max(0, entries.length - maxEntries),
    payments: payments.map(({ lineKey, reportDate, postedOn, description, units, amount, currency }) => ({
      ...{ lineKey, reportDate, postedOn, description, units, amount, currency },
    })),
  }
}
