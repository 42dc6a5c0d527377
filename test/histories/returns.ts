import type { PlannedReturn } from './history.ts'
import { type AskedEntry, type TrueLine, type TrueOrder, tooWideNumber } from './truth.ts'

/** A line of a return as it truly is. */
export interface TrueReturnLine {
  readonly returnLineNumber: number
  /** Of the order. */
  readonly lineNumber: string
  readonly units: number
  /** As the marketplace counts them: credits of the order may be among them. */
  readonly refunded: number
}

/** A return as it truly is. Never changed in place. */
export interface TrueReturn {
  readonly returnOrderId: string
  readonly purchaseOrderId: string
  readonly arrivedAtMs: number
  readonly lines: readonly TrueReturnLine[]
}

/** Units of a line of a return that are to be refunded. */
export interface AskedOfReturn {
  readonly returnLineNumber: number
  readonly units: number
}

const shippedUnits = ({ statuses }: TrueLine): number =>
  statuses.reduce((sum, { status, units }) => sum + (status === 'Shipped' || status === 'Delivered' ? units : 0), 0)

/** The return, as far as its units are shipped and in no other return; null: none of them are. */
export const openReturn = (
  planned: PlannedReturn,
  returnOrderId: string,
  order: TrueOrder,
  others: readonly TrueReturn[],
  atMs: number,
): TrueReturn | null => {
  const lines: TrueReturnLine[] = []
  const open = others.filter(({ purchaseOrderId }) => purchaseOrderId === order.purchaseOrderId).flatMap((other) => other.lines)
  for (const [index, { line: place, units: wanted }] of planned.lines.entries()) {
    const line = order.lines[place]
    if (line === undefined) continue
    const taken = [...open, ...lines]
      .filter(({ lineNumber }) => lineNumber === line.lineNumber)
      .reduce((sum, { units, refunded }) => sum + units - refunded, 0)
    const units = Math.min(wanted, shippedUnits(line) - taken)
    if (units > 0) lines.push({ returnLineNumber: index + 1, lineNumber: line.lineNumber, units, refunded: 0 })
  }
  return lines.length === 0 ? null : { returnOrderId, purchaseOrderId: order.purchaseOrderId, arrivedAtMs: atMs, lines }
}

/** What a refund through a return refunds of its order, with the money of these units; or why it cannot be. */
export const buildReturnEntries = (
  returned: TrueReturn,
  order: TrueOrder,
  asked: readonly AskedOfReturn[],
  countsUnits: boolean,
): { readonly ok: true; readonly entries: readonly AskedEntry[] } | { readonly ok: false; readonly words: string } => {
  const entries: AskedEntry[] = []
  for (const { returnLineNumber, units } of asked) {
    const line = returned.lines.find((one) => one.returnLineNumber === returnLineNumber)
    const of = order.lines.find(({ lineNumber }) => lineNumber === line?.lineNumber)
    if (line === undefined || of === undefined) return { ok: false, words: `Return line ${returnLineNumber} does not exist` }
    if (countsUnits && units > line.units - line.refunded)
      return { ok: false, words: `Return line ${returnLineNumber} has ${line.units - line.refunded} units left to be refunded` }
    const given = of.refunds.reduce((sum, refund) => sum + refund.cents + refund.taxCents, 0)
    const cents = Math.floor((of.priceCents * units) / of.units)
    const share = Math.floor((of.taxCents * units) / of.units)
    // A cent of tax for each unit is rounding, which is the marketplace's own.
    const left = of.priceCents + of.taxCents - given - cents
    const taxCents = left < share && share - left <= of.units ? Math.max(0, left) : share
    entries.push({ lineNumber: line.lineNumber, units, mark: 'Customer returned item', cents, taxCents })
  }
  return { ok: true, entries }
}

/** The return with so many more units refunded on a line. */
export const refundUnits = (returned: TrueReturn, returnLineNumber: number, units: number): TrueReturn => ({
  ...returned,
  lines: returned.lines.map((line) =>
    line.returnLineNumber === returnLineNumber ? { ...line, refunded: line.refunded + units } : line,
  ),
})

/** The returns of an order, the oldest first, with the units of a line that were refunded through the order counted as theirs. */
export const countCredit = (returns: readonly TrueReturn[], lineNumber: string, units: number): readonly TrueReturn[] => {
  let left = units
  return returns.map((returned) => {
    const lines = returned.lines.map((line) => {
      const taken = line.lineNumber === lineNumber ? Math.max(0, Math.min(left, line.units - line.refunded)) : 0
      left -= taken
      return taken === 0 ? line : { ...line, refunded: line.refunded + taken }
    })
    return { ...returned, lines }
  })
}

/** The return as the marketplace writes it (public facts, section 4.2). */
export const returnOnTheWire = (returned: TrueReturn, unstorable = false): object => ({
  returnOrderId: returned.returnOrderId,
  customerOrderId: `9${returned.purchaseOrderId}`,
  returnOrderDate: new Date(returned.arrivedAtMs).toISOString(),
  returnType: 'REFUND',
  returnOrderLines: returned.lines.map((line) => ({
    returnOrderLineNumber: line.returnLineNumber,
    purchaseOrderId: returned.purchaseOrderId,
    purchaseOrderLineNumber: Number(line.lineNumber),
    returnReason: 'NO_LONGER_WANTED',
    item: { sku: `SKU-${line.lineNumber}`, productName: 'Kettle', ...(unstorable ? { weight: tooWideNumber } : {}) },
    quantity: { unitOfMeasure: 'EACH', measurementValue: line.units },
    refundedQty: line.refunded,
    status: 'DELIVERED',
  })),
})
