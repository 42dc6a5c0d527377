import type { ClaimState } from '../inventory/claim-states.ts'
import type { ClaimKind } from '../inventory/claims.ts'
import type { DecimalText } from '../orders/order.ts'
import { Money } from './commission.ts'

/**
 * Which claims the reimbursements of settlement reports pay. A row pays a claim if it can pay no other one; nothing is guessed. A row pays once: its claim is
 * kept as long as a report has the row.
 */

/** What a reimbursement is for. `found`: units that were found again, so that their reimbursement is taken back. */
export const reimbursedUnits = ['lost', 'damaged', 'returned', 'found'] as const
/** One of {@link reimbursedUnits}. */
export type ReimbursedUnits = (typeof reimbursedUnits)[number]

/** Why it is not known which claim a row pays. too-many-units: it pays more units than any claim has left. */
export const paymentProblems = ['no-sku', 'no-claim', 'several-claims', 'too-many-units'] as const
/** One of {@link paymentProblems}. */
export type PaymentProblem = (typeof paymentProblems)[number]

/** A row of a settlement report that reimburses units. */
export interface ReimbursementRow {
  /** Identifies the row of a seller. A report that is corrected may have the same row with another key. */
  readonly lineKey: string
  readonly reportDate: string
  readonly transactionKey: string | null
  /** `YYYY-MM-DD`. */
  readonly postedOn: string
  readonly reimburses: ReimbursedUnits
  readonly sku: string | null
  /** Negative: taken back. */
  readonly amount: DecimalText
  readonly currency: string | null
  /** Without a sign; null: the row states none. */
  readonly units: number | null
  /** What the row says besides, in which the number of a case may be. */
  readonly text: string
}

/** What a claim was paid by rows. */
export interface ReportedPayment {
  readonly amount: DecimalText
  readonly units: number
  /** Every row states its units. */
  readonly counted: boolean
}

/** A claim that rows may pay. */
export interface PayableClaim {
  readonly id: string
  readonly sku: string
  readonly kind: ClaimKind
  /** The first day of its month. */
  readonly since: string
  /** Units that are missing now. */
  readonly units: number
  readonly filedUnits: number | null
  readonly value: DecimalText | null
  readonly currency: string | null
  readonly state: ClaimState
  readonly stateBy: string
  readonly reference: string | null
  readonly paidAmount: DecimalText | null
  /** What rows had paid before this comparison; null: nothing. */
  readonly reportedAmount: DecimalText | null
}

/** The row, without its key, that paid a claim so far. */
export interface KnownPayment
  extends Pick<ReimbursementRow, 'reportDate' | 'transactionKey' | 'reimburses' | 'sku' | 'amount' | 'units'> {
  readonly claimId: string
}

/** A row with its claim, or with the reason why none is known. */
export type AssignedPayment = { readonly row: ReimbursementRow } & (
  | { readonly claimId: string; readonly problem: null }
  | { readonly claimId: null; readonly problem: PaymentProblem }
)

const paidKinds: Readonly<Record<ReimbursedUnits, readonly ClaimKind[]>> = {
  lost: ['lost', 'missing', 'inbound'],
  damaged: ['damaged'],
  returned: ['returned'],
  found: ['lost', 'missing', 'inbound'],
}

/** Losses that the marketplace itself states, and pays without a claim. */
const stated: readonly ClaimKind[] = ['lost', 'damaged']

const buildSignature = ({ reportDate, transactionKey, reimburses, sku, amount, units }: Omit<KnownPayment, 'claimId'>): string =>
  JSON.stringify([reportDate, transactionKey, reimburses, sku?.toLowerCase() ?? null, new Money(amount).toFixed(), units])

/** With cents. */
const formatAmount = (amount: Money): DecimalText => amount.toFixed(Math.max(2, amount.decimalPlaces()))

const nothing: ReportedPayment = { amount: '0', units: 0, counted: true }

const addRow = (paid: ReportedPayment, { amount, units }: ReimbursementRow): ReportedPayment => ({
  amount: formatAmount(new Money(paid.amount).plus(amount)),
  units: paid.units + (units ?? 0) * (new Money(amount).lt(0) ? -1 : 1),
  counted: paid.counted && units !== null,
})

const isAbout = ({ sku, reimburses, currency, postedOn }: ReimbursementRow, claim: PayableClaim): boolean =>
  claim.sku.toLowerCase() === sku?.toLowerCase() &&
  paidKinds[reimburses].includes(claim.kind) &&
  (claim.currency === null || currency === null || claim.currency === currency) &&
  claim.since <= postedOn

/** Whether the claim has unpaid units, as many as the row pays. */
const hasRoom = ({ units, filedUnits, value }: PayableClaim, paid: ReportedPayment, rowUnits: number | null): boolean => {
  const left = Math.max(units, filedUnits ?? 0) - paid.units
  if (rowUnits !== null && paid.counted) return rowUnits <= left
  return left > 0 && (value === null || new Money(paid.amount).lt(value))
}

/** The only one of some claims that has a property; undefined: none has, or several have. */
const findOnly = (claims: readonly PayableClaim[], has: (claim: PayableClaim) => boolean): PayableClaim | undefined => {
  const [one, other] = claims.filter(has)
  return other === undefined ? one : undefined
}

const choose = (
  row: ReimbursementRow,
  claims: readonly PayableClaim[],
  paid: ReadonlyMap<string, ReportedPayment>,
): AssignedPayment => {
  const fail = (problem: PaymentProblem): AssignedPayment => ({ row, claimId: null, problem })
  if (row.sku === null) return fail('no-sku')
  const payment = ({ id }: PayableClaim): ReportedPayment => paid.get(id) ?? nothing
  const amount = new Money(row.amount)
  const about = claims.filter((claim) => isAbout(row, claim))
  const candidates = amount.lt(0)
    ? about.filter((claim) => amount.neg().lte(payment(claim).amount) && (row.units ?? 0) <= payment(claim).units)
    : about.filter(({ kind, state, filedUnits }) => state !== 'withdrawn' && (filedUnits !== null || stated.includes(kind)))
  const possible = amount.lt(0) ? candidates : candidates.filter((claim) => hasRoom(claim, payment(claim), row.units))
  if (possible.length === 0) return fail(candidates.length === 0 ? 'no-claim' : 'too-many-units')
  const only =
    findOnly(possible, () => true) ??
    findOnly(possible, ({ reference }) => reference !== null && row.text.includes(reference)) ??
    // A person has recorded this payment already.
    findOnly(
      possible,
      (claim) => claim.paidAmount !== null && new Money(claim.paidAmount).minus(payment(claim).amount).equals(amount),
    )
  return only === undefined ? fail('several-claims') : { row, claimId: only.id, problem: null }
}

/**
 * Assigns rows to claims. Rows are those of all reports, in their order; claims are those of their SKUs.
 *
 * @param known the payments of an earlier comparison
 */
export const assignReimbursements = (
  rows: readonly ReimbursementRow[],
  claims: readonly PayableClaim[],
  known: readonly KnownPayment[],
): { readonly payments: readonly AssignedPayment[]; readonly paid: ReadonlyMap<string, ReportedPayment> } => {
  const byId = new Map(claims.map((claim) => [claim.id, claim]))
  const bySku = Map.groupBy(claims, ({ sku }) => sku.toLowerCase())
  const keptBySignature = Map.groupBy(
    known.filter(({ claimId }) => byId.has(claimId)),
    buildSignature,
  )
  const paid = new Map<string, ReportedPayment>()
  const pay = (claimId: string, row: ReimbursementRow): void => {
    paid.set(claimId, addRow(paid.get(claimId) ?? nothing, row))
  }
  const kept = rows.map((row): AssignedPayment | null => {
    const payment = keptBySignature.get(buildSignature(row))?.shift()
    if (payment === undefined) return null
    pay(payment.claimId, row)
    return { row, claimId: payment.claimId, problem: null }
  })
  const payments = rows.map((row, at): AssignedPayment => {
    const before = kept[at]
    if (before != null) return before
    const chosen = choose(row, bySku.get(row.sku?.toLowerCase() ?? '') ?? [], paid)
    if (chosen.claimId !== null) pay(chosen.claimId, row)
    return chosen
  })
  return { payments, paid }
}

/** What rows make of a claim. */
export interface PaidClaim {
  readonly state: ClaimState
  readonly paidAmount: DecimalText | null
  /** The state is set by rows, not by a person. */
  readonly byReport: boolean
}

const isPaid = (state: ClaimState): boolean => state === 'paid' || state === 'paid-in-part'

/** The state before a payment. */
const findStateBefore = ({ units, filedUnits }: PayableClaim): ClaimState =>
  units === 0 ? 'withdrawn' : filedUnits === null ? 'open' : 'filed'

/**
 * The state of a claim after its rows have changed, or its units. What a person has recorded stays, unless rows pay more.
 *
 * @param paid by all rows of the claim; null: no row is left
 */
export const settleClaim = (claim: PayableClaim, paid: ReportedPayment | null): PaidClaim => {
  const { state, value, units, paidAmount, reportedAmount } = claim
  const amount = new Money(paid?.amount ?? 0)
  const ofRows = claim.stateBy === 'report'
  const isRecorded = paidAmount !== null && (reportedAmount === null || !new Money(paidAmount).equals(reportedAmount))
  const nextAmount = isRecorded && amount.lt(paidAmount) ? paidAmount : amount.gt(0) ? formatAmount(amount) : null
  if (amount.lte(0) || paid === null) {
    if (!ofRows || !isPaid(state)) return { state, paidAmount: isPaid(state) ? nextAmount : null, byReport: ofRows }
    return { state: findStateBefore(claim), paidAmount: null, byReport: true }
  }
  const isComplete = paid.counted ? paid.units >= units : value !== null && amount.gte(value)
  if (!ofRows && (state === 'paid' || (state === 'paid-in-part' && !isComplete)))
    return { state, paidAmount: nextAmount, byReport: false }
  return { state: isComplete ? 'paid' : 'paid-in-part', paidAmount: nextAmount, byReport: true }
}
