import { refuseContent } from '../core/errors.ts'
import type { EffectDraft, Order } from './model.ts'
import { putUnits, takeUnits, unitsIn } from './units.ts'

/**
 * Acknowledges every unit that is still Created. A second call finds none and is refused without any effect
 * (public facts, section 6.4).
 */
export function acknowledge(order: Order, now: number): EffectDraft[] {
  const effects: EffectDraft[] = []
  for (const line of order.lines) {
    const quantity = unitsIn(line, 'Created')
    if (quantity === 0) continue
    takeUnits(line, quantity, 'Created')
    putUnits(line, { state: 'Acknowledged', quantity })
    line.statusDate = now
    effects.push({ lineNumber: line.lineNumber, kind: 'acknowledged', quantity, from: 'Created' })
  }
  if (effects.length === 0) {
    throw refuseContent(`Failed when called acknowledge API for '${order.purchaseOrderId}'. Some or all qty in higher status`)
  }
  return effects
}
