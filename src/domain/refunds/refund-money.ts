import { Decimal } from 'decimal.js'
import { isReleased, type RefundPayload, type RefundReturnPayload } from '../commands/command.ts'
import type { OrderLine, PurchaseOrder } from '../orders/order.ts'
import { done, type LedgerCommand, type LineLedger } from '../orders/units.ts'
import { minorDigits, paidOn, refundTotal } from './refunds.ts'

const Exact = Decimal.clone({ precision: 60 })

/**
 * Why the money of a refund can no longer be refunded, as sentences; empty if it can. Checked right before the request is
 * sent: the marketplace also issues refunds, and a second refund of the same money pays twice (public facts 4.3).
 *
 * @param charged the order with its charges as first seen
 * @param seen the order as just read, with the money refunded so far
 */
export const checkMoneyLeft = (
  payload: RefundPayload | RefundReturnPayload,
  charged: PurchaseOrder,
  seen: PurchaseOrder,
): string[] => {
  const askedByLine = new Map<string, Decimal>()
  for (const { lineNumber, charges } of payload.lines)
    askedByLine.set(lineNumber, (askedByLine.get(lineNumber) ?? new Exact(0)).plus(refundTotal(charges)))
  return [...askedByLine].flatMap(([lineNumber, asked]) => {
    const line = charged.lines.find((candidate) => candidate.lineNumber === lineNumber)
    if (line === undefined) return []
    const refunded = seen.lines.find((candidate) => candidate.lineNumber === lineNumber)?.refundedAmount ?? '0'
    const paid = paidOn(line.charges)
    if (paid.minus(refunded).gte(asked)) return []
    const left = Decimal.max(0, paid.minus(refunded))
    return [
      `line ${lineNumber} has ${left.toFixed()} left to give back (${paid.toFixed()} paid, ${refunded} refunded), ${asked.toFixed()} asked`,
    ]
  })
}

/** What to do about money of a unit that was refunded in part; units, not money, are refunded once (specification, section 9). */
const onceOnly =
  "a unit is refunded once, and an amount below its charge uses it up; refund the rest in the marketplace's seller center"

const unitsWith = (count: number): string => (count === 1 ? '1 unit is' : `${count} units are`)

/**
 * Which units of a line were refunded, by which events and for how much, and what of the line's money was not, as a sentence.
 *
 * @param commands ours on the order; rejected ones refund nothing
 * @returns null when no unit was refunded
 */
export const describeRefunds = (line: OrderLine, ledger: LineLedger, commands: readonly LedgerCommand[]): string | null => {
  const currency = line.currency ?? line.charges[0]?.currency ?? ''
  const digits = minorDigits(currency) ?? undefined
  const shown = (money: Decimal.Value): string => `${new Exact(money).toFixed(digits)} ${currency}`.trim()
  const refunds = commands.flatMap((command) => {
    if ((command.kind !== 'refund' && command.kind !== 'refund-return') || isReleased(command.state)) return []
    const lines = [...command.payload.lines].filter(({ lineNumber }) => lineNumber === line.lineNumber)
    if (lines.length === 0) return []
    const units = lines.reduce((sum, { quantity }) => sum + quantity, 0)
    return [{ units, amount: refundTotal(lines.flatMap(({ charges }) => charges)), event: command.event ?? null }]
  })
  const others = done(ledger, 'refund') - refunds.reduce((sum, { units }) => sum + units, 0)
  const parts = refunds.map(({ units, amount, event }) => {
    const by = event === null ? 'an earlier event' : `the event ${event.id} of ${event.source}`
    return `${unitsWith(units)} refunded by ${by} for ${shown(amount)}`
  })
  if (others > 0) parts.push(`${unitsWith(others)} refunded otherwise`)
  if (parts.length === 0) return null
  const paid = paidOn(line.charges)
  // An amount without tax is refunded with its tax, which only the order shows.
  const ours = refunds.reduce((sum, { amount }) => sum.plus(amount), new Exact(0))
  const left = paid.minus(Decimal.max(ours, line.refundedAmount))
  if (!left.gt(0)) return `${parts.join(', ')}; no money of line ${line.lineNumber} is left`
  return `${parts.join(', ')}; ${shown(left)} of the ${shown(paid)} of line ${line.lineNumber} is left: ${onceOnly}`
}
