import { Decimal } from 'decimal.js'
import type { RefundPayload } from './command.ts'
import type { PurchaseOrder } from './order.ts'
import { paidOn, refundTotal } from './refunds.ts'

const Exact = Decimal.clone({ precision: 60 })

/**
 * Why the money of a refund can no longer be refunded, as sentences; empty if it can. Checked right before the request is
 * sent: the marketplace also issues refunds, and a second refund of the same money pays twice (public facts 4.3).
 *
 * @param charged the order with its charges as first seen
 * @param seen the order as just read, with the money refunded so far
 */
export const checkMoneyLeft = (payload: RefundPayload, charged: PurchaseOrder, seen: PurchaseOrder): string[] => {
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
