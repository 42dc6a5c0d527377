import type { ClaimCertainty, ClaimDecision, ClaimState, ClaimWindows } from '../../domain/inventory/claim-states.ts'
import type { ClaimKind } from '../../domain/inventory/claims.ts'
import { countDecimals, countMinorDigits } from '../../domain/values/money.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

/** Units of a SKU that a seller can claim for a month. */
export interface ClaimItem {
  readonly id: bigint
  readonly sellerId: string
  readonly sku: string
  readonly gtin: string | null
  /** `YYYY-MM`, by the marketplace's calendar. */
  readonly month: string
  readonly kind: ClaimKind
  /** The inbound shipment; null: units of the month. */
  readonly shipmentId: string | null
  readonly units: number
  readonly certainty: ClaimCertainty
  /** The whole log of the SKU was read after each open difference of the month was found, so that a late entry would have settled it. */
  readonly logRead: boolean
  /** Decimals; null: the SKU has no known price. */
  readonly unitPrice: string | null
  readonly value: string | null
  readonly currency: string | null
  readonly state: ClaimState
  /** Null: not computed yet. */
  readonly deadline: Date | null
  readonly reference: string | null
  readonly filedUnits: number | null
  readonly paidAmount: string | null
  /** What rows of settlement reports have paid, and the units that they state; null: no row has. */
  readonly reportedAmount: string | null
  readonly reportedUnits: number | null
  readonly stateBy: string
  readonly stateChangedAt: Date
  readonly firstSeenAt: Date
  readonly changedAt: Date
}

/** Which claims to list; null: any. */
export interface ClaimItemFilter {
  readonly sellerId: SellerFilter
  /** `YYYY-MM`. */
  readonly month: string | null
  readonly sku: string | null
  readonly kind: ClaimKind | null
  readonly state: ClaimState | null
  /** The deadline is before this time. */
  readonly dueBefore: Date | null
  /** Sorted by deadline, claims without one last; otherwise newest first. */
  readonly byDeadline: boolean
}

/** Place of a claim in a list. */
export interface ClaimPlace {
  readonly id: bigint
  /** ISO 8601; null: it has none. */
  readonly deadline: string | null
}

interface ItemRow extends Omit<ClaimItem, 'units' | 'filedUnits' | 'reportedUnits'> {
  readonly units: bigint
  readonly filedUnits: bigint | null
  readonly reportedUnits: bigint | null
}

const toItem = (row: ItemRow): ClaimItem => ({
  ...row,
  units: Number(row.units),
  filedUnits: row.filedUnits === null ? null : Number(row.filedUnits),
  reportedUnits: row.reportedUnits === null ? null : Number(row.reportedUnits),
})

const itemColumns = `c.id, c.seller_id AS "sellerId", c.sku, coalesce(r.gtin, s.gtin) AS gtin, to_char(c.month, 'YYYY-MM') AS month, c.kind,
  c.shipment_id AS "shipmentId", c.units, c.certainty, c.kind = 'inbound' OR NOT EXISTS (
    SELECT 1 FROM warehouse.inventory_discrepancies d WHERE d.seller_id = c.seller_id AND d.sku = c.sku AND d.month = c.month AND d.state = 'open'
      AND (s.log_full_at IS NULL OR s.log_full_at < d.first_seen_at OR s.log_pass IS NOT NULL)
  ) AS "logRead", c.unit_price::text AS "unitPrice", c.value::text AS value, c.currency, c.state, c.deadline, c.reference,
  c.filed_units AS "filedUnits", c.paid_amount::text AS "paidAmount", c.reported_amount::text AS "reportedAmount",
  c.reported_units AS "reportedUnits", c.state_by AS "stateBy", c.state_changed_at AS "stateChangedAt",
  c.first_seen_at AS "firstSeenAt", c.changed_at AS "changedAt"`
const itemJoins = `LEFT JOIN tallyman.inventory_skus s ON s.seller_id = c.seller_id AND s.sku = c.sku
  LEFT JOIN warehouse.reconciliation_rows r ON r.seller_id = c.seller_id AND r.month = c.month AND r.sku = c.sku`

/** Claims after this place. */
export const listClaimItems = async (
  sql: SqlRunner,
  filter: ClaimItemFilter,
  after: ClaimPlace | null,
  limit: number,
): Promise<ListPage<ClaimItem, ClaimPlace>> => {
  const order = filter.byDeadline ? `coalesce(deadline, 'infinity'), id` : 'id DESC'
  const isAfter = filter.byDeadline
    ? `(coalesce(deadline, 'infinity'), id) > (coalesce($8::timestamptz, 'infinity'), $7::bigint)`
    : 'id < $7::bigint AND $8::timestamptz IS NOT DISTINCT FROM $8::timestamptz'
  const rows = await sql.query<ItemRow>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM warehouse.claims
       WHERE ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::date IS NULL OR month = $2::date) AND ($3::text IS NULL OR sku = $3::text)
         AND ($4::text IS NULL OR kind = $4::text) AND ($5::text IS NULL OR state = $5::text)
         AND ($6::timestamptz IS NULL OR deadline < $6::timestamptz) AND ($7::bigint IS NULL OR (${isAfter}))
       ORDER BY ${order} LIMIT $9::int
     )
     SELECT ${itemColumns} FROM page c ${itemJoins} ORDER BY ${filter.byDeadline ? `coalesce(c.deadline, 'infinity'), c.id` : 'c.id DESC'}`,
    toSellerIds(filter.sellerId),
    filter.month === null ? null : `${filter.month}-01`,
    filter.sku,
    filter.kind,
    filter.state,
    filter.dueBefore?.toISOString() ?? null,
    after?.id ?? null,
    after?.deadline ?? null,
    limit + 1,
  )
  return buildPage(rows.map(toItem), limit, ({ id, deadline }) => ({ id, deadline: deadline?.toISOString() ?? null }))
}

/** One claim; null: there is none. */
export const readClaimItem = async (sql: SqlRunner, id: bigint): Promise<ClaimItem | null> => {
  const [row] = await sql.query<ItemRow>(`SELECT ${itemColumns} FROM warehouse.claims c ${itemJoins} WHERE c.id = $1::bigint`, id)
  return row === undefined ? null : toItem(row)
}

/** What a person decides about a claim. */
export interface ClaimDecided {
  readonly id: bigint
  readonly by: Actor
  readonly state: ClaimDecision
  readonly reason: string | null
  /** The number of the case at the marketplace; null: unchanged. */
  readonly reference: string | null
  /** What was paid, as decimal text; null: unchanged. */
  readonly paidAmount: string | null
  /** Files a claim although a late entry of the log may still settle it, or records more than its value as paid. */
  readonly force: boolean
}

/** Why a claim was not changed. */
export type ClaimRefusal =
  | 'not-found'
  | 'withdrawn'
  | 'log-not-read'
  | 'not-filed'
  | 'amount-without-payment'
  | 'amount-missing'
  | 'amount-above-value'
  | 'amount-too-precise'

/** States of a claim that the marketplace has answered, or can answer. */
const filedStates: readonly ClaimState[] = ['filed', 'paid-in-part', 'paid', 'refused']
const paidStates: readonly ClaimState[] = ['paid-in-part', 'paid']

/** Why a decision cannot be recorded; null: it can. An amount above the value is refused unless forced: it is a slip of the keyboard more often. */
const findRefusal = async (
  tx: Transaction,
  claim: ClaimItem,
  { state, paidAmount, force }: Pick<ClaimDecided, 'state' | 'paidAmount' | 'force'>,
): Promise<ClaimRefusal | null> => {
  if (claim.state === 'withdrawn') return 'withdrawn'
  if (paidAmount !== null && !paidStates.includes(state)) return 'amount-without-payment'
  if (state === 'filed') return claim.logRead || force || filedStates.includes(claim.state) ? null : 'log-not-read'
  if (state === 'open') return null
  if (!filedStates.includes(claim.state)) return 'not-filed'
  if (!paidStates.includes(state)) return null
  if (paidAmount !== null && countDecimals(paidAmount) > countMinorDigits(claim.currency)) return 'amount-too-precise'
  const amount = paidAmount ?? claim.paidAmount
  const [compared] = await tx.query<{ none: boolean; above: boolean }>(
    `SELECT coalesce($1::numeric, 0) = 0 AS none, coalesce($1::numeric > greatest($2::numeric, $3::numeric * $4::numeric), false) AS above`,
    amount,
    claim.value,
    claim.unitPrice,
    claim.filedUnits,
  )
  if (compared?.none !== false) return 'amount-missing'
  return compared.above && !force ? 'amount-above-value' : null
}

/** Sets the state of a claim and records the act. */
export const decideClaim = async (
  tx: Transaction,
  { id, by, state, reason, reference, paidAmount, force }: ClaimDecided,
): Promise<ClaimItem | ClaimRefusal> => {
  await tx.query('SELECT 1 FROM warehouse.claims WHERE id = $1::bigint FOR UPDATE', id)
  const claim = await readClaimItem(tx, id)
  if (claim === null) return 'not-found'
  const refusal = await findRefusal(tx, claim, { state, paidAmount, force })
  if (refusal !== null) return refusal
  await tx.execute(
    `UPDATE warehouse.claims SET state = $2, reference = coalesce($3, reference),
       paid_amount = CASE WHEN $2 IN ('paid', 'paid-in-part') THEN coalesce($4::numeric, paid_amount) END,
       filed_units = CASE WHEN $2 = 'open' THEN NULL ELSE coalesce(filed_units, units) END, state_by = $5,
       state_changed_at = CASE WHEN state = $2 THEN state_changed_at ELSE now() END, changed_at = now()
     WHERE id = $1::bigint`,
    id,
    state,
    reference,
    paidAmount,
    by.actor,
  )
  await recordAct(tx, {
    by,
    action: 'claim.decided',
    sellerId: claim.sellerId,
    subject: String(id),
    reason,
    details: {
      from: claim.state,
      to: state,
      units: claim.units,
      ...(reference === null ? {} : { reference }),
      ...(paidAmount === null ? {} : { paidAmount }),
    },
  })
  return (await readClaimItem(tx, id)) ?? 'not-found'
}

/** SQL: claims `c` whose deadline may be in the future: open ones, and those that a longer window opens again; parameters $1 and $2: the windows. */
const mayBeDue = `(c.state = 'open' OR c.state = 'expired' AND c.kind <> 'inbound'
  AND c.month > now() - make_interval(secs => greatest($1::float8, $2::float8) / 1000) - interval '33 days')`

/**
 * Sets the deadlines of claims for units of months, expires claims that were not filed in time, and opens expired ones again whose window was made longer. Returns
 * the number of changed claims.
 */
export const reviewClaimDeadlines = async (
  sql: SqlRunner,
  { inventoryMs, returnsMs }: Pick<ClaimWindows, 'inventoryMs' | 'returnsMs'>,
): Promise<number> => {
  const sellers = await sql.query<{ sellerId: string }>(
    `SELECT DISTINCT seller_id AS "sellerId" FROM warehouse.claims c WHERE ${mayBeDue}`,
    inventoryMs,
    returnsMs,
  )
  const byZone = Map.groupBy(sellers, ({ sellerId }) => sql.findVocabulary(sellerId).calendar.zone)
  let changed = 0
  for (const [zone, ofZone] of byZone) {
    changed += await sql.execute(
      `WITH due AS (
         SELECT c.id, CASE WHEN c.kind = 'inbound' THEN c.deadline WHEN c.kind = 'returned'
           THEN (coalesce((SELECT min(d.earliest_day) FROM warehouse.inventory_discrepancies d WHERE d.seller_id = c.seller_id AND d.sku = c.sku
             AND d.month = c.month AND d.kind = 'returned' AND d.state = 'open'), c.month)::timestamp AT TIME ZONE $4::text)
             + make_interval(secs => $2::float8 / 1000)
           ELSE ((c.month + interval '1 month') AT TIME ZONE $4::text) + make_interval(secs => $1::float8 / 1000) END AS deadline
         FROM warehouse.claims c WHERE c.seller_id = ANY ($3::text[]) AND ${mayBeDue}
       ), stated AS (SELECT id, deadline, CASE WHEN deadline <= now() THEN 'expired' ELSE 'open' END AS state FROM due)
       UPDATE warehouse.claims c SET deadline = d.deadline, changed_at = now(), state = d.state,
         state_by = CASE WHEN d.state <> c.state THEN 'report' ELSE c.state_by END,
         state_changed_at = CASE WHEN d.state <> c.state THEN now() ELSE c.state_changed_at END
       FROM stated d WHERE c.id = d.id AND (c.deadline IS DISTINCT FROM d.deadline OR c.state <> d.state)`,
      inventoryMs,
      returnsMs,
      ofZone.map(({ sellerId }) => sellerId),
      zone,
    )
  }
  return changed
}

/** Open claims of a seller that expire soon. */
export interface ExpiringClaims {
  readonly sellerId: string
  readonly count: number
  readonly units: number
  readonly earliest: Date
}

/** Open claims that expire within this time, by seller. */
export const findExpiringClaims = (sql: SqlRunner, withinMs: number): Promise<readonly ExpiringClaims[]> =>
  sql.query<ExpiringClaims>(
    `SELECT seller_id AS "sellerId", count(*)::int AS count, sum(units)::float8 AS units, min(deadline) AS earliest FROM warehouse.claims
     WHERE state = 'open' AND deadline < now() + make_interval(secs => $1::float8 / 1000) GROUP BY seller_id ORDER BY 1`,
    withinMs,
  )
