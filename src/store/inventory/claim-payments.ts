import {
  type AssignedPayment,
  assignReimbursements,
  type KnownPayment,
  type PayableClaim,
  type PaymentProblem,
  type ReimbursedUnits,
  type ReimbursementRow,
  type ReportedPayment,
  settleClaim,
} from '../../domain/settlements/reimbursements.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { recordAct } from '../keys/audit.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { markTable } from '../versioned/table-marks.ts'

markTable('warehouse.claim_payments', {
  none: 'seller_id line_key claim_id problem reimburses sku amount currency units report_date transaction_key first_seen_at changed_at',
})

/** The actor of states that settlement reports set. */
const reportActor = 'report'

const readRows = (tx: SqlRunner, sellerId: string): Promise<ReimbursementRow[]> =>
  tx.query<ReimbursementRow>(
    `SELECT line_key AS "lineKey", report_date::text AS "reportDate", transaction_key AS "transactionKey",
       coalesce(posted_on, report_date)::text AS "postedOn", reimburses, sku, amount::text AS amount, currency, abs(nullif(quantity, 0)) AS units,
       concat_ws(' ', description, reason, transaction_key) AS text
     FROM warehouse.settlement_lines
     WHERE seller_id = $1 AND reimburses IS NOT NULL AND missing_since IS NULL AND amount <> 0 ORDER BY report_date, row_number`,
    sellerId,
  )

// Claims that were paid stay among them, although no row names their SKU any more.
const readClaims = (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<PayableClaim[]> =>
  tx.query<PayableClaim>(
    `SELECT id::text AS id, sku, kind, month::text AS since, units::float8 AS units, filed_units::float8 AS "filedUnits", value::text AS value,
       currency, state, state_by AS "stateBy", reference, paid_amount::text AS "paidAmount", reported_amount::text AS "reportedAmount"
     FROM warehouse.claims WHERE seller_id = $1 AND (lower(sku) = ANY ($2::text[]) OR reported_amount IS NOT NULL) ORDER BY id FOR UPDATE`,
    sellerId,
    skus,
  )

interface StoredPayment extends Omit<KnownPayment, 'claimId'> {
  readonly lineKey: string
  readonly claimId: string | null
  readonly problem: PaymentProblem | null
}

const readKnown = (tx: SqlRunner, sellerId: string): Promise<StoredPayment[]> =>
  tx.query<StoredPayment>(
    `SELECT line_key AS "lineKey", claim_id::text AS "claimId", problem, reimburses, sku, amount::text AS amount, units,
       report_date::text AS "reportDate", transaction_key AS "transactionKey"
     FROM warehouse.claim_payments WHERE seller_id = $1`,
    sellerId,
  )

const writePayments = async (tx: SqlRunner, sellerId: string, payments: readonly AssignedPayment[]): Promise<void> => {
  const rows = payments.map(({ row, claimId, problem }) => ({
    ...{ line_key: row.lineKey, claim_id: claimId, problem, reimburses: row.reimburses, sku: row.sku, amount: row.amount },
    ...{ currency: row.currency, units: row.units, report_date: row.reportDate, transaction_key: row.transactionKey },
  }))
  await tx.execute(
    'DELETE FROM warehouse.claim_payments WHERE seller_id = $1 AND line_key <> ALL ($2::text[])',
    sellerId,
    rows.map(({ line_key }) => line_key),
  )
  const columns = 'line_key, claim_id, problem, reimburses, sku, amount, currency, units, report_date, transaction_key'
  await tx.execute(
    `INSERT INTO warehouse.claim_payments AS p (seller_id, ${columns})
     SELECT $1, ${columns} FROM json_to_recordset($2::json) AS t(line_key text, claim_id bigint, problem text, reimburses text, sku text,
       amount numeric, currency text, units int, report_date date, transaction_key text) ORDER BY line_key
     ON CONFLICT (seller_id, line_key) DO UPDATE SET claim_id = excluded.claim_id, problem = excluded.problem, reimburses = excluded.reimburses,
       sku = excluded.sku, amount = excluded.amount, currency = excluded.currency, units = excluded.units, transaction_key = excluded.transaction_key,
       changed_at = now()
     WHERE (p.claim_id, p.problem, p.reimburses, p.sku, p.amount, p.currency, p.units, p.transaction_key) IS DISTINCT FROM (excluded.claim_id,
       excluded.problem, excluded.reimburses, excluded.sku, excluded.amount, excluded.currency, excluded.units, excluded.transaction_key)`,
    sellerId,
    JSON.stringify(rows),
  )
}

/** Line keys by claim. */
const groupKeys = (
  payments: readonly { readonly lineKey: string; readonly claimId: string | null }[],
): ReadonlyMap<string, string> =>
  new Map(
    [...Map.groupBy(payments, ({ claimId }) => claimId)].flatMap(([claimId, ofClaim]) =>
      claimId === null
        ? []
        : [
            [
              claimId,
              ofClaim
                .map(({ lineKey }) => lineKey)
                .sort()
                .join(' '),
            ] as const,
          ],
    ),
  )

const writeClaim = async (
  tx: Transaction,
  sellerId: string,
  claim: PayableClaim,
  paid: ReportedPayment | null,
  rows: readonly string[],
): Promise<void> => {
  const { state, paidAmount, byReport } = settleClaim(claim, paid)
  const written = await tx.execute(
    `UPDATE warehouse.claims SET state = $2, paid_amount = $3::numeric, reported_amount = $4::numeric, reported_units = $5::bigint, changed_at = now(),
       state_by = CASE WHEN $6::boolean THEN $7 ELSE state_by END,
       state_changed_at = CASE WHEN state = $2 THEN state_changed_at ELSE now() END
     WHERE id = $1::bigint AND (state, paid_amount, reported_amount, reported_units) IS DISTINCT FROM ($2, $3::numeric, $4::numeric, $5::bigint)`,
    claim.id,
    state,
    paidAmount,
    paid?.amount ?? null,
    paid?.units ?? null,
    byReport,
    reportActor,
  )
  if (written === 0) return
  await recordAct(tx, {
    by: { actor: reportActor },
    action: 'claim.decided',
    sellerId,
    subject: claim.id,
    reason: null,
    details: {
      ...{ from: claim.state, to: state, units: claim.units },
      ...(paidAmount === null ? {} : { paidAmount }),
      rows: [...rows],
    },
  })
}

/**
 * Assigns the reimbursements of a seller's settlement reports to its claims, and sets the states of those claims whose rows or units have changed. A state
 * that a person sets stays until another row pays the claim. Returns the number of rows without a claim. Serialized with reviews of discrepancies by their lock.
 */
export const reviewClaimPayments = async (tx: Transaction, sellerId: string): Promise<number> => {
  await tx.execute(`SELECT pg_advisory_xact_lock(hashtextextended('tallyman.discrepancies ' || $1, 0))`, sellerId)
  const rows = await readRows(tx, sellerId)
  const known = await readKnown(tx, sellerId)
  if (rows.length === 0 && known.length === 0) return 0
  const claims = await readClaims(tx, sellerId, [...new Set(rows.flatMap(({ sku }) => sku?.toLowerCase() ?? []))])
  const { payments, paid } = assignReimbursements(
    rows,
    claims,
    known.flatMap((payment) => (payment.claimId === null ? [] : [{ ...payment, claimId: payment.claimId }])),
  )
  await writePayments(tx, sellerId, payments)
  const [keysBefore, keysNow] = [
    groupKeys(known),
    groupKeys(payments.map(({ row, claimId }) => ({ lineKey: row.lineKey, claimId }))),
  ]
  for (const claim of claims) {
    const keys = keysNow.get(claim.id)
    const isOfReport = claim.stateBy === reportActor && (claim.state === 'paid' || claim.state === 'paid-in-part')
    if (keys !== keysBefore.get(claim.id) || isOfReport)
      await writeClaim(tx, sellerId, claim, paid.get(claim.id) ?? null, keys?.split(' ') ?? [])
  }
  return payments.filter(({ claimId }) => claimId === null).length
}

/** A row of a settlement report that reimburses units, with its claim or the reason why none is known. */
export interface ClaimPayment {
  readonly sellerId: string
  readonly lineKey: string
  readonly claimId: bigint | null
  readonly problem: PaymentProblem | null
  readonly reimburses: ReimbursedUnits
  readonly sku: string | null
  /** Decimal text; negative: taken back. */
  readonly amount: string
  readonly currency: string | null
  readonly units: number | null
  /** `YYYY-MM-DD`. */
  readonly reportDate: string
  readonly postedOn: string | null
  readonly description: string | null
  readonly firstSeenAt: Date
}

const paymentColumns = `p.seller_id AS "sellerId", p.line_key AS "lineKey", p.claim_id AS "claimId", p.problem, p.reimburses, p.sku,
  p.amount::text AS amount, p.currency, p.units, p.report_date::text AS "reportDate", s.posted_on::text AS "postedOn", s.description,
  p.first_seen_at AS "firstSeenAt"`
const paymentTables = `warehouse.claim_payments p LEFT JOIN warehouse.settlement_lines s ON s.seller_id = p.seller_id AND s.line_key = p.line_key`

/** The rows that have paid a claim, in the order of reports. */
export const readPaymentsOfClaim = (sql: SqlRunner, claimId: bigint): Promise<readonly ClaimPayment[]> =>
  sql.query<ClaimPayment>(
    `SELECT ${paymentColumns} FROM ${paymentTables} WHERE p.claim_id = $1::bigint ORDER BY s.report_date, s.row_number`,
    claimId,
  )

/** Which rows to list; null: any. */
export interface ClaimPaymentFilter {
  readonly sellerId: SellerFilter
  readonly sku: string | null
  readonly claimId: bigint | null
  /** Whether the claim of a row is known. */
  readonly assigned: boolean | null
}

/** Identity of a row. */
export type ClaimPaymentKey = Pick<ClaimPayment, 'sellerId' | 'lineKey'>

/** Rows that reimburse units, by seller and, newest report first, by row, after this key. */
export const listClaimPayments = async (
  sql: SqlRunner,
  { sellerId, sku, claimId, assigned }: ClaimPaymentFilter,
  after: ClaimPaymentKey | null,
  limit: number,
): Promise<ListPage<ClaimPayment, ClaimPaymentKey>> => {
  const rows = await sql.query<ClaimPayment>(
    `SELECT ${paymentColumns} FROM ${paymentTables}
     WHERE ($1::text[] IS NULL OR p.seller_id = ANY ($1::text[])) AND ($2::text IS NULL OR lower(p.sku) = lower($2::text))
       AND ($3::bigint IS NULL OR p.claim_id = $3::bigint) AND ($4::boolean IS NULL OR (p.claim_id IS NOT NULL) = $4::boolean)
       AND ($5::text IS NULL OR p.seller_id > $5::text OR (p.seller_id = $5::text AND p.line_key < $6::text))
     ORDER BY p.seller_id, p.line_key DESC LIMIT $7::int`,
    toSellerIds(sellerId),
    sku,
    claimId,
    assigned,
    after?.sellerId ?? null,
    after?.lineKey ?? null,
    limit + 1,
  )
  return buildPage(rows, limit, ({ sellerId: of, lineKey }) => ({ sellerId: of, lineKey }))
}
