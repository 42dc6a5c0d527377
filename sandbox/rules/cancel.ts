import { refuseContent } from '../core/errors.ts'
import type { Dialect } from '../settings.ts'
import { cancellationBody, readBody } from './bodies.ts'
import { findLine, refuseMarketplaceFulfilled } from './lines.ts'
import type { EffectDraft, Line, Order } from './model.ts'
import { readQuantity } from './quantity.ts'
import { putUnits, takeUnits, unitsIn } from './units.ts'
import { buyerAskedReason, cancellationReasons } from './vocabulary.ts'

const maxLinesARequest = 100

/** Cancels the units that the body names; any faulty line refuses the whole request (specification, section 9, rule 4). */
export const cancel = (order: Order, body: unknown, dialect: Dialect, now: number): EffectDraft[] => {
  const lines = readBody(cancellationBody, body).orderCancellation.orderLines.orderLine
  refuseMarketplaceFulfilled(order, 'cancelled')
  if (lines.length > maxLinesARequest) throw refuseContent(`No more than ${maxLinesARequest} lines are accepted in one request`)
  const effects: EffectDraft[] = []
  for (const asked of lines) {
    const line = findLine(order, asked.lineNumber)
    for (const entry of asked.orderLineStatuses.orderLineStatus) {
      if (entry.status !== 'Cancelled')
        throw refuseContent(`status must be Cancelled in line number ${line.lineNumber}`, 'status')
      checkReason(line, entry.cancellationReason)
      const quantity = readQuantity(entry, dialect.quantityField, line.lineNumber)
      const left = unitsIn(line, 'Created', 'Acknowledged')
      const where = `The Line: ${line.lineNumber} of PO: ${order.purchaseOrderId}`
      if (left === 0) {
        const state = unitsIn(line, 'Shipped', 'Delivered', 'Refund') > 0 ? 'SHIPPED' : 'CANCELLED'
        throw refuseContent(`Unable to process this request. ${where} is in ${state} status`)
      }
      if (quantity > left) {
        throw refuseContent(`Unable to process this request. ${where} doesn't have enough quantity to cancel requested quantity`)
      }
      effects.push(...cancelUnits(line, quantity, entry.cancellationReason, now))
    }
  }
  return effects
}

const checkReason = (line: Line, reason: string): void => {
  if (!cancellationReasons.has(reason)) {
    throw refuseContent(`Cancellation reason is not supported in line number ${line.lineNumber}`, 'cancellationReason')
  }
  if (reason === buyerAskedReason && line.intentToCancelAt === null) {
    throw refuseContent(`The buyer did not ask to cancel line number ${line.lineNumber}`, 'cancellationReason')
  }
}

/** Moves units to Cancelled, those not yet acknowledged first. The caller has checked that there are as many. */
export const cancelUnits = (line: Line, quantity: number, reason: string, now: number): EffectDraft[] => {
  const effects = takeUnits(line, quantity, 'Created', 'Acknowledged').map(
    (taken): EffectDraft => ({
      lineNumber: line.lineNumber,
      kind: 'cancelled',
      quantity: taken.quantity,
      from: taken.state,
    }),
  )
  putUnits(line, { state: 'Cancelled', quantity, cancellationReason: reason })
  line.statusDate = now
  return effects
}
