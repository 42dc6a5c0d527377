import { refuseContent } from '../core/errors.ts'
import type { EffectDraft, Order } from './model.ts'
import { putUnits, takeUnits, unitsIn } from './units.ts'

/**
 * Acknowledges every unit that is still Created, or of each line as many as are let through. A second call finds none and is refused
 * without any effect (public facts, section 6.4).
 */
export const acknowledge = (
  order: Order,
  now: number,
  most: (lineNumber: string) => number = () => Number.POSITIVE_INFINITY,
): EffectDraft[] => {
  const effects: EffectDraft[] = []
  const left = order.lines.some((line) => unitsIn(line, 'Created') > 0)
  for (const line of order.lines) {
    const quantity = Math.min(unitsIn(line, 'Created'), most(line.lineNumber))
    if (quantity === 0) continue
    takeUnits(line, quantity, 'Created')
    putUnits(line, { state: 'Acknowledged', quantity })
    line.statusDate = now
    effects.push({ lineNumber: line.lineNumber, kind: 'acknowledged', quantity, from: 'Created' })
  }
  if (!left) {
    throw refuseContent(`Failed when called acknowledge API for '${order.purchaseOrderId}'. Some or all qty in higher status`)
  }
  return effects
}
