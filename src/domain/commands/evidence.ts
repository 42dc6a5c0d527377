import { Decimal } from 'decimal.js'
import { z } from 'zod'
import type { LineStatus, PurchaseOrder } from '../orders/order.ts'
import { refundTotal } from '../refunds/refunds.ts'
import type { StatusWords } from '../values/vocabulary.ts'
import type {
  CancelPayload,
  CorrectionPayload,
  DirectCommandContent,
  RefundLine,
  RefundPayload,
  RefundReturnPayload,
  ShipPayload,
} from './command.ts'

/**
 * Was a request applied? The order as read before the request left is compared with the order as read back.
 *
 * Others change the order meanwhile: buyers cancel, carriers deliver, the marketplace refunds, other programs of the seller
 * ship. So a count that went up proves nothing by itself; what proves is a count that carries our mark: the tracking number
 * of a shipment, the reason of a cancellation, the reason and the money of a refund (public facts 2.6, 3.2 to 3.4). A correction
 * moves no unit: there the units under the old and the new tracking number prove. A count
 * that did not go up at all proves the opposite, because units shipped, cancelled and refunded never go down.
 *
 * Where the marketplace has said yes to the request, its yes counts as a mark of ours: every line must then show at least the gain that
 * was asked, under our mark or under none.
 *
 * The limit: an equal quantity that someone else ships, cancels or refunds under an equal mark between the two reads counts as ours.
 * Nothing is sent again then, so no unit is processed twice.
 */

const count = z.int()

/** One order line as read before a request left, reduced to the fields that show whether the request was applied. JSON. */
export const lineBaselineSchema = z.object({
  lineNumber: z.string(),
  ordered: count,
  units: z.object({ acknowledged: count, shipped: count, cancelled: count, refunded: count }),
  statuses: z.array(
    z.object({
      status: z.string(),
      quantity: count,
      trackingNumber: z.string().nullable(),
      cancellationReason: z.string().nullable(),
    }),
  ),
  /** Positive decimal, all money given back on the line so far. */
  refundedAmount: z.string(),
  refundReasons: z.array(z.string()),
})

/** An order as read before a request left. Stored with the attempt, in the same transaction as the intent. */
export const orderBaselineSchema = z.object({
  purchaseOrderId: z.string(),
  lines: z.array(lineBaselineSchema),
  /** The lines of the return through which units are refunded, with their refunded units; null: not reported. */
  returned: z
    .object({
      returnOrderId: z.string(),
      lines: z.array(z.object({ returnLineNumber: count, quantity: count, refunded: count.nullable() })),
    })
    .optional(),
})

/** One line of an {@link OrderBaseline}. */
export type LineBaseline = z.infer<typeof lineBaselineSchema>
/** An order as read before a request left. */
export type OrderBaseline = z.infer<typeof orderBaselineSchema>
/** A return as read before a request left. */
export type ReturnBaseline = NonNullable<OrderBaseline['returned']>

/** Whether a request was applied, as far as the order read back shows it. */
export type Verdict = 'applied' | 'not-applied' | 'unclear'

/** The finding of one line, with its figures. */
export interface LineFinding {
  readonly lineNumber: string
  readonly finding: Verdict
  /** A sentence for a person. */
  readonly explanation: string
  /** Units or money appeared under a mark of ours, or under none: they may be ours. */
  readonly maybeOurs: boolean
  /** Units or money appeared under a mark of ours. */
  readonly underOurMark: boolean
}

/** The verdict with the finding of each line; stored as the command's evidence. */
export interface Evidence {
  readonly verdict: Verdict
  readonly lines: readonly LineFinding[]
  /** A sentence for a person, where the evidence is not one of lines. */
  readonly explanation?: string
  /** The present state keeps the request from ever being applied: waiting or sending again changes nothing. */
  readonly ruledOut?: true
}

/** Reduces an order to what {@link judge} compares. */
export const takeBaseline = (order: PurchaseOrder): OrderBaseline => ({
  purchaseOrderId: order.purchaseOrderId,
  lines: order.lines.map((line) => ({
    lineNumber: line.lineNumber,
    ordered: line.ordered,
    units: { ...line.units },
    statuses: line.statuses.map(({ status, quantity, trackingNumber, cancellationReason }) => ({
      status,
      quantity,
      trackingNumber,
      cancellationReason,
    })),
    refundedAmount: line.refundedAmount,
    refundReasons: [...line.refundReasons],
  })),
})

/** The baseline of an order as it was placed: every unit created, none acknowledged, shipped, cancelled or refunded. */
export const untouchedBaseline = (words: StatusWords, order: PurchaseOrder): OrderBaseline => ({
  purchaseOrderId: order.purchaseOrderId,
  lines: order.lines.map(({ lineNumber, ordered }) => ({
    lineNumber,
    ordered,
    units: { acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 },
    statuses: [{ status: words.findWord('created'), quantity: ordered, trackingNumber: null, cancellationReason: null }],
    refundedAmount: '0',
    refundReasons: [],
  })),
})

/**
 * Judges whether a command's request was applied, by the order read back.
 *
 * applied: every line shows all of it. not-applied: every line shows none of it. Anything else is unclear, partial effects included.
 *
 * @param words what the marketplace calls the states of units
 * @param baseline the order as read before this attempt's request left
 * @param now the order as read after the request can no longer be in progress
 * @param accepted whether the marketplace said yes to the request
 */
export const judge = (
  words: StatusWords,
  command: DirectCommandContent,
  baseline: OrderBaseline,
  now: PurchaseOrder,
  accepted = false,
): Evidence => {
  const after = takeBaseline(now)
  switch (command.kind) {
    case 'acknowledge':
      return judgeAcknowledge(words, baseline, after, accepted)
    case 'ship':
      return judgeLines(words, shipmentsByLine(command.payload), baseline, after, accepted ? seeShipment : judgeShipment)
    case 'cancel':
      return judgeLines(
        words,
        cancellationsByLine(command.payload),
        baseline,
        after,
        accepted ? seeCancellation : judgeCancellation,
      )
    case 'refund':
      return judgeLines(words, refundsByLine(command.payload), baseline, after, accepted ? seeRefund : judgeRefund)
    case 'correct-shipment':
      return judgeLines(
        words,
        correctionsByLine(command.payload, baseline, words),
        baseline,
        after,
        accepted ? seeCorrection : judgeCorrection,
      )
  }
}

type Finding = Omit<LineFinding, 'lineNumber'>

const judgeLines = <Asked>(
  words: StatusWords,
  askedByLine: ReadonlyMap<string, Asked>,
  baseline: OrderBaseline,
  after: OrderBaseline,
  judgeLine: (asked: Asked, before: LineBaseline, now: LineBaseline, words: StatusWords) => Finding,
): Evidence => {
  const lines = [...askedByLine].map(([lineNumber, asked]) => {
    const finding = compare(findLine(baseline, lineNumber), findLine(after, lineNumber), (before, now) => {
      const judged = judgeLine(asked, before, now, words)
      if (judged.finding !== 'not-applied' || !hasNewUnknown(before, now, words)) return judged
      return { ...unclear(`${judged.explanation}, but units moved to a state we do not know`), maybeOurs: true }
    })
    return { lineNumber, ...finding }
  })
  return { verdict: combined(lines.map((line) => line.finding)), lines }
}

/** Judges a line that is there both times and whose counts went nowhere but up. */
const compare = (
  before: LineBaseline | undefined,
  now: LineBaseline | undefined,
  judgePair: (before: LineBaseline, now: LineBaseline) => Finding,
): Finding => {
  if (before === undefined || now === undefined)
    return unclear(`the line is missing ${before === undefined ? 'before' : 'after'} the request`, { maybeOurs: true })
  if (before.ordered !== now.ordered)
    return unclear(`ordered units changed from ${before.ordered} to ${now.ordered}`, { maybeOurs: true })
  for (const count of ['shipped', 'cancelled', 'refunded'] as const) {
    if (now.units[count] < before.units[count])
      return unclear(`${count} units went down from ${before.units[count]} to ${now.units[count]}`, { maybeOurs: true })
  }
  return judgePair(before, now)
}

const combined = (findings: readonly Verdict[]): Verdict => {
  const [first] = findings
  return first !== undefined && findings.every((finding) => finding === first) ? first : 'unclear'
}

// ── ship ──

interface AskedShipment {
  readonly quantity: number
  /** Units by normal form of the tracking number. */
  readonly byTracking: ReadonlyMap<string, number>
}

const shipmentsByLine = (payload: ShipPayload): Map<string, AskedShipment> => {
  const lines = new Map<string, { quantity: number; byTracking: Map<string, number> }>()
  for (const parcel of payload.parcels) {
    for (const entry of parcel.lines) {
      const asked = lines.get(entry.lineNumber) ?? { quantity: 0, byTracking: new Map() }
      asked.quantity += entry.quantity
      add(asked.byTracking, normalMark(parcel.trackingNumber), entry.quantity)
      lines.set(entry.lineNumber, asked)
    }
  }
  return lines
}

const inUnits = (number: number): string => `${number} ${number === 1 ? 'unit' : 'units'}`

/**
 * A tracking number stays with its units when the carrier delivers them, but may be lost when they are refunded. What is missing under
 * our number is never taken as ours for that: the units that were refunded may be somebody else's.
 */
const judgeShipment = (asked: AskedShipment, before: LineBaseline, now: LineBaseline, words: StatusWords): Finding => {
  const shipped = now.units.shipped - before.units.shipped
  const { quantity } = asked
  if (shipped === 0) return absent(`no unit was shipped since, ${quantity} asked`)
  const trackedBefore = unitsByTracking(before, words)
  const trackedNow = unitsByTracking(now, words)
  const untracked = (trackedNow.get('') ?? 0) - (trackedBefore.get('') ?? 0)
  const ours = gainedOfAny(asked.byTracking, trackedBefore, trackedNow)
  for (const [tracking, units] of asked.byTracking) {
    const gained = (trackedNow.get(tracking) ?? 0) - (trackedBefore.get(tracking) ?? 0)
    if (gained === units) continue
    const seen = `${gained} of ${inUnits(units)} appeared under tracking number ${tracking}, ${shipped} shipped in all`
    const why =
      gained > units
        ? 'more than asked'
        : gained > 0
          ? 'a part only, or refunded since'
          : 'someone else may have shipped, or the tracking number is not shown'
    return unclear(`${seen}: ${why}`, { maybeOurs: ours > 0 || untracked > 0, underOurMark: ours > 0 })
  }
  if (shipped < quantity) {
    const seen = `${inUnits(quantity)} appeared under our tracking numbers, but only ${shipped} shipped in all`
    return unclear(seen, { maybeOurs: true, underOurMark: true })
  }
  return landed(`${inUnits(quantity)} appeared under our tracking numbers`)
}

/**
 * The marketplace said yes: what is missing under our tracking numbers may be shown under none. Units that were refunded since are shown
 * under none as well, also those that others shipped. These do not count, nor do units that appeared under numbers of others.
 */
const seeShipment = (asked: AskedShipment, before: LineBaseline, now: LineBaseline, words: StatusWords): Finding => {
  const strict = judgeShipment(asked, before, now, words)
  if (strict.finding === 'applied') return strict
  const [trackedBefore, trackedNow] = [unitsByTracking(before, words), unitsByTracking(now, words)]
  const ours = gainedOfAny(asked.byTracking, trackedBefore, trackedNow)
  const refunded = now.units.refunded - before.units.refunded
  const untracked = Math.max(0, (trackedNow.get('') ?? 0) - (trackedBefore.get('') ?? 0) - refunded)
  if (now.units.shipped - before.units.shipped < asked.quantity || ours + untracked < asked.quantity) return strict
  return landed(`accepted, and ${inUnits(ours + untracked)} appeared under our tracking numbers or none, ${asked.quantity} asked`)
}

/** Units that appeared under the marks that were asked, each mark as far as it was asked. */
const gainedOfAny = (
  asked: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
  now: ReadonlyMap<string, number>,
): number => {
  let gained = 0
  for (const [mark, most] of asked) {
    gained += Math.min(most, Math.max(0, (now.get(mark) ?? 0) - (before.get(mark) ?? 0)))
  }
  return gained
}

/** Units that were shipped, by normal form of their tracking number; under the empty text those that show none. */
const unitsByTracking = (line: LineBaseline, { findState }: StatusWords): Map<string, number> => {
  const units = new Map<string, number>()
  for (const entry of line.statuses) {
    const state = findState(entry.status)
    if (state === 'shipped' || state === 'refunded') add(units, normalMark(entry.trackingNumber ?? ''), entry.quantity)
  }
  return units
}

// ── cancel ──

interface AskedCancellation {
  readonly quantity: number
  /** Units by normal form of the reason. */
  readonly byReason: ReadonlyMap<string, number>
}

const cancellationsByLine = (payload: CancelPayload): Map<string, AskedCancellation> => {
  const lines = new Map<string, { quantity: number; byReason: Map<string, number> }>()
  for (const entry of payload.lines) {
    const asked = lines.get(entry.lineNumber) ?? { quantity: 0, byReason: new Map() }
    asked.quantity += entry.quantity
    add(asked.byReason, normalMark(entry.reason), entry.quantity)
    lines.set(entry.lineNumber, asked)
  }
  return lines
}

const judgeCancellation = (asked: AskedCancellation, before: LineBaseline, now: LineBaseline, words: StatusWords): Finding => {
  const cancelled = now.units.cancelled - before.units.cancelled
  const { quantity } = asked
  if (cancelled === 0) return absent(`no unit was cancelled since, ${quantity} asked`)
  const reasonsBefore = unitsByReason(before, words)
  const reasonsNow = unitsByReason(now, words)
  const unstated = (reasonsNow.get('') ?? 0) - (reasonsBefore.get('') ?? 0)
  const underOurMark = gainedOfAny(asked.byReason, reasonsBefore, reasonsNow) > 0
  const maybeOurs = unstated > 0 || underOurMark
  for (const [reason, units] of asked.byReason) {
    const gained = (reasonsNow.get(reason) ?? 0) - (reasonsBefore.get(reason) ?? 0)
    if (gained !== units) {
      return unclear(
        `${gained} of ${inUnits(units)} appeared as cancelled for ${reason}, ${cancelled} in all: someone else may have cancelled`,
        { maybeOurs, underOurMark },
      )
    }
  }
  return landed(`${inUnits(quantity)} appeared as cancelled for the reasons we gave`)
}

/** The marketplace said yes: what is missing under our reasons may stand under none. */
const seeCancellation = (asked: AskedCancellation, before: LineBaseline, now: LineBaseline, words: StatusWords): Finding => {
  const strict = judgeCancellation(asked, before, now, words)
  if (strict.finding === 'applied') return strict
  const [reasonsBefore, reasonsNow] = [unitsByReason(before, words), unitsByReason(now, words)]
  const ours = gainedOfAny(asked.byReason, reasonsBefore, reasonsNow)
  const unstated = Math.max(0, (reasonsNow.get('') ?? 0) - (reasonsBefore.get('') ?? 0))
  if (now.units.cancelled - before.units.cancelled < asked.quantity || ours + unstated < asked.quantity) return strict
  return landed(
    `accepted, and ${inUnits(ours + unstated)} appeared as cancelled for our reasons or none, ${asked.quantity} asked`,
  )
}

const unitsByReason = (line: LineBaseline, { findState }: StatusWords): Map<string, number> => {
  const units = new Map<string, number>()
  for (const entry of line.statuses) {
    if (findState(entry.status) === 'cancelled') add(units, normalMark(entry.cancellationReason ?? ''), entry.quantity)
  }
  return units
}

// ── refund ──

interface AskedRefund {
  readonly quantity: number
  readonly money: Decimal
  /** Normal forms of the reasons. */
  readonly reasons: ReadonlySet<string>
}

const refundsByLine = (payload: RefundPayload): Map<string, AskedRefund> => {
  const entriesByLine = new Map<string, RefundLine[]>()
  for (const entry of payload.lines) entriesByLine.set(entry.lineNumber, [...(entriesByLine.get(entry.lineNumber) ?? []), entry])
  const lines = new Map<string, AskedRefund>()
  for (const [lineNumber, entries] of entriesByLine) {
    lines.set(lineNumber, {
      quantity: entries.reduce((sum, entry) => sum + entry.quantity, 0),
      money: entries.reduce((sum, entry) => sum.plus(refundTotal(entry.charges)), new Decimal(0)),
      reasons: new Set(entries.map((entry) => normalMark(entry.reason))),
    })
  }
  return lines
}

/** An amount with two digits after the point, or all that it has. */
const inMoney = (amount: Decimal): string => amount.toFixed(Math.max(2, amount.decimalPlaces()))

/**
 * Units, money and reasons must agree. A marketplace that shows refunded money but no refunded units is judged by money and
 * reasons; units alone never prove, since the marketplace refunds by itself as well (public facts 4.3).
 */
const judgeRefund = (asked: AskedRefund, before: LineBaseline, now: LineBaseline): Finding => {
  const units = now.units.refunded - before.units.refunded
  const money = new Decimal(now.refundedAmount).minus(before.refundedAmount)
  const gained = gainedReasons(before, now)
  const seen = `${units} of ${inUnits(asked.quantity)} and ${inMoney(money)} of ${inMoney(asked.money)} appeared as refunded`
  if (units === 0 && money.isZero() && gained.length === 0) return absent(`${seen}, and no new reason`)
  const unitsShown = now.units.refunded > 0 || new Decimal(now.refundedAmount).isZero()
  const underOurMark = gained.some((reason) => asked.reasons.has(reason))
  const ours = { maybeOurs: gained.length === 0 || underOurMark || money.eq(asked.money), underOurMark }
  if (unitsShown && units !== asked.quantity) return unclear(`${seen}: the units do not agree`, ours)
  if (!money.eq(asked.money)) return unclear(`${seen}: the money does not agree`, ours)
  if (!reasonsAgree(asked.reasons, gained, now)) {
    return unclear(`${seen}, for ${gained.join(', ') || 'no new reason'}: someone else may have refunded`, ours)
  }
  return landed(`${seen}, for the reasons we gave`)
}

/**
 * The marketplace said yes: reasons need not be shown, nor one of units and money. Money that is shown must be what was asked, and reasons
 * that are shown must be ours: others may have refunded meanwhile.
 */
const seeRefund = (asked: AskedRefund, before: LineBaseline, now: LineBaseline): Finding => {
  const strict = judgeRefund(asked, before, now)
  if (strict.finding === 'applied') return strict
  const units = now.units.refunded - before.units.refunded
  const money = new Decimal(now.refundedAmount).minus(before.refundedAmount)
  const moneyShown = !new Decimal(now.refundedAmount).isZero()
  const unitsShown = now.units.refunded > 0
  if (!unitsShown && !moneyShown) return strict
  const gained = gainedReasons(before, now)
  if (gained.length > 0 && !reasonsAgree(asked.reasons, gained, now)) return strict
  if (unitsShown && units < asked.quantity) return strict
  if (moneyShown && !money.eq(asked.money)) return strict
  return landed(
    `accepted, and ${units} of ${inUnits(asked.quantity)} and ${inMoney(money)} of ${inMoney(asked.money)} appeared as refunded`,
  )
}

const gainedReasons = (before: LineBaseline, now: LineBaseline): string[] => {
  const left = now.refundReasons.map(normalMark)
  for (const reason of before.refundReasons.map(normalMark)) {
    const at = left.indexOf(reason)
    if (at >= 0) left.splice(at, 1)
  }
  return left
}

/** New reasons are exactly ours; a marketplace that states each reason once shows no new one when all it knows are ours already. */
const reasonsAgree = (ours: ReadonlySet<string>, gained: readonly string[], now: LineBaseline): boolean => {
  const shown = new Set(gained.length > 0 ? gained : now.refundReasons.map(normalMark))
  return shown.size === ours.size && [...shown].every((reason) => ours.has(reason))
}

// ── correction ──

interface AskedCorrection {
  /** Normal forms of the tracking numbers. */
  readonly from: string
  readonly to: string
}

/** The lines that were sent: those with units under the old number, or all where the baseline shows none. */
const correctionsByLine = (
  { trackingNumber, replacement, lines }: CorrectionPayload,
  baseline: OrderBaseline,
  words: StatusWords,
): Map<string, AskedCorrection> => {
  const asked = { from: normalMark(trackingNumber), to: normalMark(replacement.trackingNumber) }
  const sent = lines.filter(({ lineNumber }) => {
    const before = findLine(baseline, lineNumber)
    return before !== undefined && countTracked(before, words, asked.from) > 0
  })
  return new Map((sent.length > 0 ? sent : lines).map(({ lineNumber }) => [lineNumber, asked]))
}

/** Shipped units of a line under a tracking number (normal form). Refunded units do not count: their number is never corrected. */
export const countTracked = (
  line: { readonly statuses: readonly Pick<LineStatus, 'status' | 'quantity' | 'trackingNumber'>[] },
  { findState }: StatusWords,
  mark: string,
): number =>
  line.statuses
    .filter(({ status, trackingNumber }) => findState(status) === 'shipped' && normalMark(trackingNumber ?? '') === mark)
    .reduce((sum, { quantity }) => sum + quantity, 0)

/**
 * Units that were refunded since may have left the old number without appearing under the new one. All units that are left must have moved;
 * nobody else gives them this number.
 */
const judgeCorrection = ({ from, to }: AskedCorrection, before: LineBaseline, now: LineBaseline, words: StatusWords): Finding => {
  const [oldBefore, oldNow] = [countTracked(before, words, from), countTracked(now, words, from)]
  const gained = countTracked(now, words, to) - countTracked(before, words, to)
  const refunded = now.units.refunded - before.units.refunded
  const units = `${oldNow} of ${inUnits(oldBefore)} under tracking number ${from}, ${gained} more under ${to}`
  if (gained > 0 && oldNow === 0 && gained + refunded >= oldBefore) return landed(units)
  if (gained > 0) return unclear(`${units}: a part only`, { maybeOurs: true, underOurMark: true })
  if (oldNow + refunded >= oldBefore && (oldNow > 0 || oldBefore === 0)) return absent(units)
  return unclear(`${units}: refunded since, or changed by someone else`, { maybeOurs: true })
}

/** The marketplace said yes: it is enough that no unit has the old number any more. */
const seeCorrection = (asked: AskedCorrection, before: LineBaseline, now: LineBaseline, words: StatusWords): Finding => {
  const strict = judgeCorrection(asked, before, now, words)
  if (strict.finding === 'applied' || countTracked(now, words, asked.from) > 0) return strict
  return landed(`accepted, and no unit has the tracking number ${asked.from} any more`)
}

// ── refund through a return ──

/**
 * Judges whether units were refunded through their return, by the refunded units of its lines. They are the goal, by our request or not: the marketplace refunds
 * returned units as well, and a unit that it has refunded needs no refund of ours. Units that appeared in part only are unclear.
 */
export const judgeReturn = (
  { lines: asked }: RefundReturnPayload,
  before: ReturnBaseline | undefined,
  now: ReturnBaseline,
): Evidence => {
  const quantities = new Map<number, { quantity: number; readonly lineNumbers: Set<string> }>()
  for (const { returnLineNumber, lineNumber, quantity } of asked) {
    const line = quantities.get(returnLineNumber) ?? { quantity: 0, lineNumbers: new Set() }
    line.quantity += quantity
    line.lineNumbers.add(lineNumber)
    quantities.set(returnLineNumber, line)
  }
  const lines = [...quantities].flatMap(([returnLineNumber, { quantity, lineNumbers }]): LineFinding[] => {
    const of = (baseline: ReturnBaseline | undefined) =>
      baseline?.lines.find((line) => line.returnLineNumber === returnLineNumber)
    const judged = judgeReturnLine(returnLineNumber, quantity, of(before)?.refunded ?? null, of(now)?.refunded ?? null)
    return [...lineNumbers].map((lineNumber) => ({ lineNumber, ...judged }))
  })
  return { verdict: combined(lines.map((line) => line.finding)), lines }
}

const judgeReturnLine = (returnLineNumber: number, quantity: number, before: number | null, now: number | null): Finding => {
  const name = `line ${returnLineNumber} of the return`
  if (before === null || now === null)
    return unclear(`${name} does not show its refunded units ${before === null ? 'before' : 'after'} the request`, {
      maybeOurs: true,
    })
  if (now < before) return unclear(`refunded units of ${name} went down from ${before} to ${now}`, { maybeOurs: true })
  const gained = now - before
  const seen = `${gained} of ${inUnits(quantity)} of ${name} appeared as refunded`
  if (gained === 0) return absent(seen)
  if (gained < quantity) return unclear(`${seen}: a part only`, { maybeOurs: true, underOurMark: true })
  return landed(gained === quantity ? seen : `${seen}, the others by the marketplace`)
}

// ── acknowledge ──

/**
 * Acknowledge is about the whole order, and its goal counts, not who reached it: no unit is in the state created.
 *
 * Units that are still in the state created were there when the request would have been applied, so it was not, at least not to all:
 * not-applied unless some line has gained acknowledged units.
 */
const judgeAcknowledge = (words: StatusWords, baseline: OrderBaseline, after: OrderBaseline, accepted: boolean): Evidence => {
  let acknowledged = 0
  let gained = false
  const lines: LineFinding[] = baseline.lines.map((line) => {
    const finding = compare(line, findLine(after, line.lineNumber), (before, now) => {
      acknowledged += now.units.acknowledged
      gained ||= now.units.acknowledged > before.units.acknowledged
      const created = createdUnits(now, words)
      const { acknowledged: ofThem, cancelled } = now.units
      const figures = [
        `${ofThem} of ${inUnits(now.ordered)} acknowledged`,
        ...(created > 0 ? [`${created} not yet`] : []),
        ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
      ].join(', ')
      if (unknownUnits(before, words).size > 0 || unknownUnits(now, words).size > 0)
        return unclear(`${figures}, others in a state we do not know`)
      return created > 0 ? absent(figures) : landed(figures)
    })
    return { lineNumber: line.lineNumber, ...finding }
  })
  const findings = lines.map((line) => line.finding)
  if (findings.includes('unclear')) return { verdict: 'unclear', lines }
  if (findings.includes('not-applied')) return { verdict: gained ? 'unclear' : 'not-applied', lines }
  if (acknowledged > 0 || accepted) return { verdict: 'applied', lines }
  // A wholly cancelled order shows nothing about an acknowledgement before that, and needs none.
  const explanation = 'every unit of the order is cancelled, nothing is left to acknowledge'
  return { verdict: 'unclear', lines, explanation, ruledOut: true }
}

// ── shared ──

/** Units in states that we do not know, by state; under the empty text those that no status accounts for. */
const unknownUnits = (line: LineBaseline, { findState }: StatusWords): Map<string, number> => {
  const units = new Map<string, number>()
  let accountedFor = 0
  for (const entry of line.statuses) {
    accountedFor += entry.quantity
    if (findState(entry.status) === null) add(units, entry.status.toLowerCase(), entry.quantity)
  }
  if (accountedFor < line.ordered) add(units, '', line.ordered - accountedFor)
  return units
}

const hasNewUnknown = (before: LineBaseline, now: LineBaseline, words: StatusWords): boolean => {
  const unitsBefore = unknownUnits(before, words)
  return [...unknownUnits(now, words)].some(([status, quantity]) => quantity > (unitsBefore.get(status) ?? 0))
}

const createdUnits = (line: LineBaseline, { findState }: StatusWords): number =>
  line.statuses.filter((entry) => findState(entry.status) === 'created').reduce((sum, entry) => sum + entry.quantity, 0)

const findLine = (order: OrderBaseline, lineNumber: string): LineBaseline | undefined =>
  order.lines.find((line) => line.lineNumber === lineNumber)

/** Marks are compared by letters and digits alone: published answers spell IncorrectItemReceived as INCORRECT_ITEM_RECEIVED. */
export const normalMark = (mark: string): string => {
  const upper = mark.trim().toUpperCase()
  return upper.replaceAll(/[^\p{L}\p{N}]/gu, '') || upper
}

const add = (totals: Map<string, number>, key: string, quantity: number): void => {
  totals.set(key, (totals.get(key) ?? 0) + quantity)
}

const landed = (explanation: string): Finding => ({ finding: 'applied', explanation, maybeOurs: true, underOurMark: true })

const absent = (explanation: string): Finding => ({ finding: 'not-applied', explanation, maybeOurs: false, underOurMark: false })

const unclear = (explanation: string, { maybeOurs = false, underOurMark = false } = {}): Finding => ({
  finding: 'unclear',
  explanation,
  maybeOurs,
  underOurMark,
})
