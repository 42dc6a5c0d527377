import { Decimal } from 'decimal.js'
import type { DecimalText, LineUnits } from '../orders/order.ts'

/** Monotonic figures of a line: shipped, cancelled and refunded units and refunded money never decrease. */
export interface GrowingLine {
  readonly lineNumber: string
  readonly units: Pick<LineUnits, 'shipped' | 'cancelled' | 'refunded'>
  readonly refundedAmount: DecimalText
}

/** An order as far as {@link computeProgress} looks at it. */
export interface GrowingOrder {
  readonly lines: readonly GrowingLine[]
}

/**
 * Comparison of a view of an order with the known state. `mixed`: ahead in some figures and behind in others. Clocks are not used:
 * dates of several nodes differ by seconds, and a list page may lag behind an earlier read.
 */
export interface Progress {
  readonly order: 'same' | 'ahead' | 'behind' | 'mixed'
  /** Figures below the known state, as sentences; empty unless behind or mixed. */
  readonly lagging: readonly string[]
}

const growing = ['shipped', 'cancelled', 'refunded'] as const

/** Compares a view with the known state. A line missing in the view is behind; one that only the view has is ahead. */
export const computeProgress = (known: GrowingOrder, seen: GrowingOrder): Progress => {
  const lagging: string[] = []
  let ahead = false
  const seenLines = new Map(seen.lines.map((line) => [line.lineNumber, line]))
  for (const before of known.lines) {
    const now = seenLines.get(before.lineNumber)
    seenLines.delete(before.lineNumber)
    if (now === undefined) {
      lagging.push(`line ${before.lineNumber} is missing`)
      continue
    }
    for (const count of growing) {
      if (now.units[count] > before.units[count]) ahead = true
      if (now.units[count] < before.units[count])
        lagging.push(`line ${before.lineNumber} shows ${now.units[count]} ${count} units, ${before.units[count]} are known`)
    }
    const money = new Decimal(now.refundedAmount).comparedTo(before.refundedAmount)
    if (money > 0) ahead = true
    if (money < 0)
      lagging.push(`line ${before.lineNumber} shows ${now.refundedAmount} given back, ${before.refundedAmount} are known`)
  }
  if (seenLines.size > 0) ahead = true
  if (lagging.length > 0) return { order: ahead ? 'mixed' : 'behind', lagging }
  return { order: ahead ? 'ahead' : 'same', lagging }
}
