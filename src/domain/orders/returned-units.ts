import { isInFlight, isReleased } from '../commands/command.ts'
import type { OrderBaseline } from '../commands/evidence.ts'
import type { PurchaseOrder } from './order.ts'
import type { LedgerCommand } from './units.ts'

/** A line of a stored return, as far as refunds concern it. */
export interface ReturnedLine {
  readonly returnOrderId: string
  readonly customerOrderId: string | null
  readonly returnLineNumber: number
  /** The line of the purchase order that the units belong to; null: the marketplace names none. */
  readonly purchaseOrderId: string | null
  readonly lineNumber: string | null
  readonly sku: string | null
  readonly quantity: number
  /** Units refunded as last reported; null: it is not reported. */
  readonly refunded: number | null
  /** Goods that are refunded through their order only; null: ordinary goods. */
  readonly exceptionItemType: string | null
  /** Since when the return exists: the earlier of its date and of the time when it was first stored. */
  readonly since: Date
}

/** The units of a line of a return. Every figure counts units. */
export interface ReturnedLedger {
  readonly line: ReturnedLine
  /** Refunded or possibly refunded, by us or by others. */
  readonly refunded: number
  /** Refunded through the order since the return exists; contained in `refunded`. */
  readonly credited: number
  /** Reserved by commands whose request has not been sent. */
  readonly pending: number
}

/** Refunded units by line of a return, as a baseline shows them; null: it has none. */
export const refundedByReturnLine = (baseline: OrderBaseline | null): Readonly<Record<number, number>> | null =>
  baseline?.returned === undefined
    ? null
    : Object.fromEntries(
        baseline.returned.lines.flatMap(({ returnLineNumber, refunded }) =>
          refunded === null ? [] : [[returnLineNumber, refunded]],
        ),
      )

const unitsOfLine = (
  command: LedgerCommand,
  { returnOrderId, returnLineNumber }: Pick<ReturnedLine, 'returnOrderId' | 'returnLineNumber'>,
): number =>
  command.kind === 'refund-return' && command.payload.returnOrderId === returnOrderId
    ? command.payload.lines.reduce((sum, line) => (line.returnLineNumber === returnLineNumber ? sum + line.quantity : sum), 0)
    : 0

/** Units of a line of a return that our confirmed commands prove as refunded. A read result that shows fewer is stale. */
export const provenOfReturn = (
  line: Pick<ReturnedLine, 'returnOrderId' | 'returnLineNumber'>,
  commands: readonly LedgerCommand[],
): number => {
  let sum = 0
  let proven = 0
  for (const command of commands) {
    const units = command.state === 'confirmed' ? unitsOfLine(command, line) : 0
    if (units === 0) continue
    sum += units
    proven = Math.max(proven, (command.returnBaseline?.[line.returnLineNumber] ?? 0) + units)
  }
  return Math.max(sum, proven)
}

/**
 * The units of every line of the returns of one order. A unit is refunded once, through its return or through its order: units that our commands refund
 * through the order since a return exists count as those of the return, the oldest return first. So a refund may be refused that would be right, and is
 * possible through the order; no unit is refunded twice.
 */
export const listReturnedLedgers = (
  lines: readonly ReturnedLine[],
  commands: readonly LedgerCommand[],
): readonly ReturnedLedger[] => {
  const credits = commands.flatMap((command) =>
    command.kind === 'refund' && !isReleased(command.state)
      ? command.payload.lines.map(({ lineNumber, quantity }) => ({ lineNumber, at: command.createdAt ?? null, left: quantity }))
      : [],
  )
  const oldestFirst = [...lines].sort((a, b) => a.since.getTime() - b.since.getTime() || a.returnLineNumber - b.returnLineNumber)
  return oldestFirst.map((line) => {
    const confirmed = provenOfReturn(line, commands)
    let through = confirmed
    let pending = 0
    for (const command of commands) {
      const units = unitsOfLine(command, line)
      if (command.state === 'pending') pending += units
      else if (units > 0 && (isInFlight(command.state) || command.state === 'predicted')) {
        // Without a baseline only the report can be counted from: units then count twice rather than not at all.
        const before = command.returnBaseline?.[line.returnLineNumber] ?? line.refunded ?? 0
        // Several predictions may be open, each on top of the ones before it.
        const from = command.state === 'predicted' ? Math.max(before, confirmed, through) : Math.max(before, confirmed)
        through = Math.max(through, from + units)
      }
    }
    let credited = 0
    for (const credit of credits) {
      if (credit.lineNumber !== line.lineNumber || (credit.at !== null && credit.at < line.since)) continue
      const taken = Math.min(credit.left, Math.max(0, line.quantity - confirmed - pending - credited))
      credit.left -= taken
      credited += taken
    }
    // The report contains the credits where the marketplace counts them as units of the return: the larger counts, not the sum.
    return { line, refunded: Math.max(line.refunded ?? 0, through, confirmed + credited), credited, pending }
  })
}

/** Units of a line of a return that can still be refunded through it. Never negative. */
export const availableOfReturn = ({ line, refunded, pending }: ReturnedLedger): number =>
  Math.max(0, line.quantity - refunded - pending)

/** A sentence that says how many units of a line of a return may still be refunded through it, and why. */
export const describeReturned = (ledger: ReturnedLedger): string => {
  const { line, refunded, credited, pending } = ledger
  const left = availableOfReturn(ledger)
  const parts = [`${line.quantity} returned`, `${refunded - credited} refunded through the return`]
  if (credited > 0) parts.push(`${credited} refunded through the order`)
  if (pending > 0) parts.push(`${pending} more in progress`)
  return `line ${line.returnLineNumber} of the return has ${left} unit${left === 1 ? '' : 's'} left to refund (${parts.join(', ')})`
}

/**
 * The order with at least the refunded units that its returns show: the marketplace refunds through a return as well, and such a unit cannot be refunded
 * through the order too.
 */
export const countReturned = (order: PurchaseOrder, returned: readonly ReturnedLine[]): PurchaseOrder => {
  const byLine = new Map<string, number>()
  for (const { lineNumber, refunded } of returned)
    if (lineNumber !== null) byLine.set(lineNumber, (byLine.get(lineNumber) ?? 0) + (refunded ?? 0))
  if (byLine.size === 0) return order
  const lines = order.lines.map((line) => {
    const refunded = Math.max(line.units.refunded, byLine.get(line.lineNumber) ?? 0)
    return refunded === line.units.refunded ? line : { ...line, units: { ...line.units, refunded } }
  })
  return { ...order, lines }
}
