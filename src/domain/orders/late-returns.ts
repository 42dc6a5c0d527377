import type { ReturnWords } from '../values/vocabulary.ts'
import { availableOfReturn, type ReturnedLedger } from './returned-units.ts'

/** Units of a returned line in one status, as the marketplace shows them. */
export interface ReturnedStatus {
  readonly status: string | null
  readonly currentRefundStatus: string | null
  /** Null: the rest of the line. */
  readonly quantity: number | null
  /** Since when; null: the marketplace shows no time. */
  readonly at: Date | null
}

/** A line of a return that the seller must refund as soon as its units have arrived. */
export interface RefundableLine {
  readonly ledger: ReturnedLedger
  /** The status of the whole line; used if there are no `statuses`. */
  readonly status: string | null
  readonly statuses: readonly ReturnedStatus[]
  /** When this version of the line was stored: the arrival of units without a time. */
  readonly storedAt: Date
  /** Units that the order line still has to refund, by the marketplace's report; null: the order is not stored. */
  readonly leftInOrder: number | null
}

/** `late`: the deadline has passed; `soon`: it passes within {@link refundSoonMs}. */
export type RefundState = 'late' | 'soon' | 'in-time'

/** The refund of arrived units of a line. */
export interface RefundDue {
  /** Units that have arrived and are not refunded. */
  readonly units: number
  /** When the first of them arrived. */
  readonly arrivedAt: Date
  readonly refundBy: Date
  readonly state: RefundState
}

const hourMs = 3_600_000

/** A refund is due soon if less than this time is left, in milliseconds. */
export const refundSoonMs = 12 * hourMs

/** A refund that is late for this time is no longer listed, in milliseconds: the marketplace has decided it long ago. */
export const maxLateMs = 30 * 24 * hourMs

const isAmong = (words: readonly string[], text: string | null): boolean => text !== null && words.includes(text.toUpperCase())

/** The statuses with their units. The first one without a quantity has the rest of the line, any further one has none. */
const withUnits = ({ ledger, status, statuses }: RefundableLine) => {
  const shown = statuses.length > 0 ? statuses : [{ status, currentRefundStatus: null, quantity: null, at: null }]
  let rest = ledger.line.quantity - shown.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0)
  return shown.map((entry) => {
    if (entry.quantity !== null) return { ...entry, units: entry.quantity }
    const units = Math.max(0, rest)
    rest = 0
    return { ...entry, units }
  })
}

/**
 * The arrived units of a line that are not refunded, and by when the seller must refund them (public facts 4.3); null: there are none.
 *
 * Units count as refunded by the marketplace's report, and by our commands through the return and through the order. Refunded units that no status shows are
 * those that arrived first. Each arrival has its own deadline; the earliest counts.
 */
export const findRefundDue = (line: RefundableLine, words: ReturnWords, now: Date): RefundDue | null => {
  const { ledger, storedAt, leftInOrder } = line
  const isRefunded = (entry: ReturnedStatus): boolean =>
    isAmong(words.refunded, entry.status) || isAmong(words.refunded, entry.currentRefundStatus)
  const entries = withUnits(line)
  const shownRefunded = entries.reduce((sum, entry) => (isRefunded(entry) ? sum + entry.units : sum), 0)
  const arrivals = entries
    .filter((entry) => isAmong(words.arrived, entry.status) && !isRefunded(entry))
    .map(({ units, at }) => ({ units, at: at ?? storedAt }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
  const arrived = arrivals.reduce((sum, { units }) => sum + units, 0)
  const refundable = Math.min(availableOfReturn(ledger), leftInOrder ?? Number.POSITIVE_INFINITY)
  let refunded = Math.max(0, ledger.refunded + ledger.pending - shownRefunded, arrived - refundable)
  const units = arrived - refunded
  if (units <= 0) return null
  const first = arrivals.find((arrival) => {
    refunded -= arrival.units
    return refunded < 0
  })
  if (first === undefined) return null
  const refundBy = new Date(first.at.getTime() + words.refundWithinHours * hourMs)
  const leftMs = refundBy.getTime() - now.getTime()
  return { units, arrivedAt: first.at, refundBy, state: leftMs <= 0 ? 'late' : leftMs <= refundSoonMs ? 'soon' : 'in-time' }
}

/** A line of a return whose refund is late, or due soon. */
export interface LateReturnLine {
  readonly returnLineNumber: number
  /** The order of the units and its line; null: the marketplace names none. */
  readonly purchaseOrderId: string | null
  readonly lineNumber: string | null
  readonly sku: string | null
  /** Units to refund. */
  readonly units: number
  readonly arrivedAt: Date
  readonly refundBy: Date
  /** Goods that are refunded through their order only, such as hazardous ones; null: ordinary goods. */
  readonly exceptionItemType: string | null
}

/** A return with lines whose refund is late, or due soon. */
export interface LateReturn {
  readonly sellerId: string
  readonly returnOrderId: string
  /** The earliest deadline of its lines. */
  readonly refundBy: Date
  readonly state: Exclude<RefundState, 'in-time'>
  readonly lines: readonly LateReturnLine[]
}

/** Maximum number of returns in the message of an alarm. */
const namedReturns = 5

const describeLine = ({ units, sku, purchaseOrderId, exceptionItemType }: LateReturnLine): string => {
  const exception = exceptionItemType === null ? '' : ` (${exceptionItemType})`
  return `${units} × ${sku ?? 'an unknown SKU'}${exception} of ${purchaseOrderId === null ? 'an unknown order' : `order ${purchaseOrderId}`}`
}

/**
 * The message of the alarm about late returns.
 * @param returns those of one seller, the earliest deadline first; not empty
 */
export const lateReturnsMessage = (returns: readonly LateReturn[]): string => {
  const late = returns.filter(({ state }) => state === 'late').length
  const named = returns
    .slice(0, namedReturns)
    .map(
      ({ returnOrderId, refundBy, lines }) =>
        `return ${returnOrderId} (${lines.map(describeLine).join(', ')}) by ${refundBy.toISOString()}`,
    )
    .join('; ')
  const more = returns.length > namedReturns ? `; and ${returns.length - namedReturns} more` : ''
  const count = returns.length === 1 ? '1 return' : `${returns.length} returns`
  const exceptions = [...new Set(returns.flatMap(({ lines }) => lines.flatMap((line) => line.exceptionItemType ?? [])))]
  const through = exceptions.length === 0 ? '' : `, erp.credit.issued for lines that are ${exceptions.join(' or ')}`
  return `${count} to be refunded within 12 hours, ${late} of them late already: ${named}${more}. Send erp.return.refunded for each${through}`
}
