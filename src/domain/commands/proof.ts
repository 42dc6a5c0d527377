import { Decimal } from 'decimal.js'
import { refundTotal } from '../refunds/refunds.ts'
import type { GrowingOrder } from '../sync/progress.ts'
import type { StatusWords } from '../values/vocabulary.ts'
import type { CancelPayload, OrderCommandContent, RefundPayload, ShipPayload } from './command.ts'
import { type LineBaseline, normalMark, type OrderBaseline, orderBaselineSchema } from './evidence.ts'

/** A confirmed command with the order as it was before its request was sent. */
export interface Confirmed {
  readonly content: OrderCommandContent
  /** Null if no request was ever sent. */
  readonly baseline: OrderBaseline | null
}

/** The proven minimum of one line, counts and marks. */
export interface ProvenLine {
  readonly shipped: number
  readonly cancelled: number
  readonly refunded: number
  /** Positive decimal. */
  readonly refundedAmount: string
  /** Units by normal form of the tracking number. */
  readonly byTracking: ReadonlyMap<string, number>
  /** Units by normal form of the reason of a cancellation. */
  readonly byReason: ReadonlyMap<string, number>
  /** Reasons of refunds, as often as they must be there. */
  readonly refundReasons: readonly string[]
}

/** By line number. */
export type Proof = ReadonlyMap<string, ProvenLine>

interface Gain {
  shipped: number
  cancelled: number
  refunded: number
  refundedAmount: Decimal
  readonly byTracking: Map<string, number>
  readonly byReason: Map<string, number>
  readonly refundReasons: string[]
}

const noGain = (): Gain => ({
  shipped: 0,
  cancelled: 0,
  refunded: 0,
  refundedAmount: new Decimal(0),
  byTracking: new Map(),
  byReason: new Map(),
  refundReasons: [],
})

/**
 * The effects that our confirmed commands prove, even if a stale view shows less: each one on top of the order's state before it, and
 * all of them together, with the tracking numbers as corrected since. A view that shows less is stale; a baseline that shows less is raised
 * ({@link raiseBaseline}).
 */
export const buildProof = (words: StatusWords, confirmed: readonly Confirmed[]): Proof => {
  const totals = new Map<string, Gain>()
  const proof = new Map<string, ProvenLine>()
  for (const { content, baseline } of confirmed) {
    if (content.kind === 'correct-shipment') {
      const { trackingNumber, replacement, lines } = content.payload
      for (const { lineNumber } of lines) {
        const total = totals.get(lineNumber)
        const proven = proof.get(lineNumber)
        if (total === undefined || proven === undefined) continue
        const numbers = { from: normalMark(trackingNumber), to: normalMark(replacement.trackingNumber) }
        totals.set(lineNumber, { ...total, byTracking: correctTracking(total.byTracking, numbers) })
        proof.set(lineNumber, { ...proven, byTracking: correctTracking(proven.byTracking, numbers) })
      }
      continue
    }
    for (const [lineNumber, gain] of computeGains(content)) {
      const total = totals.get(lineNumber) ?? noGain()
      totals.set(lineNumber, total)
      addGain(total, gain)
      const before = baseline?.lines.find((line) => line.lineNumber === lineNumber)
      const proven = proof.get(lineNumber)
      const onTop = before === undefined ? gain : addToGain(words, before, gain)
      proof.set(lineNumber, [onTop, total].reduce<ProvenLine>(most, proven ?? noGainProven()))
    }
  }
  return proof
}

/** Parses the stored baseline of an attempt, and completes it by the effects of the parts that an operator has confirmed. */
export const parseBaseline = (words: StatusWords, stored: unknown, decided: Proof): OrderBaseline =>
  raiseBaseline(words, orderBaselineSchema.parse(stored), decided)

/** The baseline, completed by all proven effects that it does not show. */
export const raiseBaseline = (words: StatusWords, baseline: OrderBaseline, proof: Proof): OrderBaseline => ({
  ...baseline,
  lines: baseline.lines.map((line) => {
    const proven = proof.get(line.lineNumber)
    return proven === undefined ? line : raiseLine(words, line, proven)
  }),
})

/**
 * The proof as an order for `computeProgress`: what is proven is known. Not every marketplace shows the units or the money of a refund, so only
 * counts that each one shows may call a view late.
 */
export const provenOrder = (proof: Proof): GrowingOrder => ({
  lines: [...proof].map(([lineNumber, { shipped, cancelled }]) => ({
    lineNumber,
    units: { shipped, cancelled, refunded: 0 },
    refundedAmount: '0',
  })),
})

/**
 * Only counts that are below what is proven are raised, and marks only with their count: where the count is there, the marks stand as the
 * marketplace shows them (a tracking number may be lost with a refund). Of a refund some marketplaces show units, some money: what a line
 * shows of neither is raised in both, otherwise in what it shows.
 */
const raiseLine = (words: StatusWords, line: LineBaseline, proven: ProvenLine): LineBaseline => {
  const { units } = line
  const statuses = [...line.statuses]
  if (units.shipped < proven.shipped) statuses.push(...listMissing(words, line, 'shipped', proven.byTracking))
  if (units.cancelled < proven.cancelled) statuses.push(...listMissing(words, line, 'cancelled', proven.byReason))
  const showsMoney = !new Decimal(line.refundedAmount).isZero()
  const raisesUnits = units.refunded < proven.refunded && (units.refunded > 0 || !showsMoney)
  const raisesMoney = new Decimal(line.refundedAmount).lt(proven.refundedAmount) && (showsMoney || units.refunded === 0)
  return {
    ...line,
    units: {
      ...units,
      shipped: Math.max(units.shipped, proven.shipped),
      cancelled: Math.max(units.cancelled, proven.cancelled),
      refunded: raisesUnits ? proven.refunded : units.refunded,
    },
    statuses,
    refundedAmount: raisesMoney ? proven.refundedAmount : line.refundedAmount,
    refundReasons:
      raisesUnits || raisesMoney
        ? [...line.refundReasons, ...missingReasons(line.refundReasons, proven.refundReasons)]
        : line.refundReasons,
  }
}

type Marked = 'shipped' | 'cancelled'

/** What carries our mark. */
const markFields = { shipped: 'trackingNumber', cancelled: 'cancellationReason' } as const satisfies Record<Marked, string>

const listMissing = (
  words: StatusWords,
  line: LineBaseline,
  state: Marked,
  wanted: ReadonlyMap<string, number>,
): LineBaseline['statuses'] => {
  const mark = markFields[state]
  return [...wanted].flatMap(([text, units]) => {
    const shown = line.statuses
      .filter((entry) => entry[mark] !== null && normalMark(entry[mark]) === text && isMarked(words, state, entry.status))
      .reduce((sum, entry) => sum + entry.quantity, 0)
    if (shown >= units) return []
    return [
      { status: words.findWord(state), quantity: units - shown, trackingNumber: null, cancellationReason: null, [mark]: text },
    ]
  })
}

const missingReasons = (shown: readonly string[], wanted: readonly string[]): string[] => {
  const left = shown.map(normalMark)
  return wanted.filter((reason) => {
    const at = left.indexOf(reason)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** Whether a status may be of units that were shipped, which a word that nobody knows may be, or is of cancelled ones. */
const isMarked = ({ findState }: StatusWords, state: Marked, shown: string): boolean => {
  const known = findState(shown)
  if (state === 'cancelled') return known === 'cancelled'
  return known !== 'cancelled' && known !== 'created' && known !== 'acknowledged'
}

/** Units by tracking number after a correction: those under the wrong number stand under the other one. */
const correctTracking = (
  byTracking: ReadonlyMap<string, number>,
  { from, to }: { readonly from: string; readonly to: string },
): Map<string, number> => {
  const corrected = new Map(byTracking)
  const units = corrected.get(from)
  if (units === undefined) return corrected
  corrected.delete(from)
  count(corrected, to, units)
  return corrected
}

const computeGains = (content: OrderCommandContent): ReadonlyMap<string, Gain> => {
  const gains = new Map<string, Gain>()
  const of = (lineNumber: string): Gain => {
    const gain = gains.get(lineNumber) ?? noGain()
    gains.set(lineNumber, gain)
    return gain
  }
  switch (content.kind) {
    case 'acknowledge':
    case 'correct-shipment':
      break
    case 'ship':
      addShipment(content.payload, of)
      break
    case 'cancel':
      addCancellation(content.payload, of)
      break
    case 'refund':
      addRefund(content.payload, of)
      break
    case 'refund-return':
      // The marketplace works out the money and the reason.
      for (const { lineNumber, quantity } of content.payload.lines) of(lineNumber).refunded += quantity
      break
  }
  return gains
}

const addShipment = ({ parcels }: ShipPayload, of: (lineNumber: string) => Gain): void => {
  for (const { trackingNumber, lines } of parcels) {
    for (const { lineNumber, quantity } of lines) {
      const gain = of(lineNumber)
      gain.shipped += quantity
      count(gain.byTracking, normalMark(trackingNumber), quantity)
    }
  }
}

const addCancellation = ({ lines }: CancelPayload, of: (lineNumber: string) => Gain): void => {
  for (const { lineNumber, quantity, reason } of lines) {
    const gain = of(lineNumber)
    gain.cancelled += quantity
    count(gain.byReason, normalMark(reason), quantity)
  }
}

const addRefund = ({ lines }: RefundPayload, of: (lineNumber: string) => Gain): void => {
  for (const { lineNumber, quantity, reason, charges } of lines) {
    const gain = of(lineNumber)
    gain.refunded += quantity
    gain.refundedAmount = gain.refundedAmount.plus(refundTotal(charges))
    gain.refundReasons.push(normalMark(reason))
  }
}

const addGain = (total: Gain, gain: Gain): void => {
  total.shipped += gain.shipped
  total.cancelled += gain.cancelled
  total.refunded += gain.refunded
  total.refundedAmount = total.refundedAmount.plus(gain.refundedAmount)
  for (const [mark, units] of gain.byTracking) count(total.byTracking, mark, units)
  for (const [mark, units] of gain.byReason) count(total.byReason, mark, units)
  total.refundReasons.push(...gain.refundReasons)
}

const addToGain = (words: StatusWords, before: LineBaseline, gain: Gain): Gain => {
  const byTracking = new Map(gain.byTracking)
  const byReason = new Map(gain.byReason)
  for (const { status, quantity, trackingNumber, cancellationReason } of before.statuses) {
    const tracking = trackingNumber === null ? null : normalMark(trackingNumber)
    const reason = cancellationReason === null ? null : normalMark(cancellationReason)
    if (tracking !== null && gain.byTracking.has(tracking) && isMarked(words, 'shipped', status))
      count(byTracking, tracking, quantity)
    if (reason !== null && gain.byReason.has(reason) && isMarked(words, 'cancelled', status)) count(byReason, reason, quantity)
  }
  return {
    shipped: gain.shipped === 0 ? 0 : before.units.shipped + gain.shipped,
    cancelled: gain.cancelled === 0 ? 0 : before.units.cancelled + gain.cancelled,
    refunded: gain.refunded === 0 ? 0 : before.units.refunded + gain.refunded,
    refundedAmount: gain.refunded === 0 ? gain.refundedAmount : gain.refundedAmount.plus(before.refundedAmount),
    byTracking,
    byReason,
    refundReasons: gain.refunded === 0 ? [] : [...before.refundReasons.map(normalMark), ...gain.refundReasons],
  }
}

const noGainProven = (): ProvenLine => ({ ...noGain(), refundedAmount: '0' })

const most = (proven: ProvenLine, more: Gain | ProvenLine): ProvenLine => ({
  shipped: Math.max(proven.shipped, more.shipped),
  cancelled: Math.max(proven.cancelled, more.cancelled),
  refunded: Math.max(proven.refunded, more.refunded),
  refundedAmount: Decimal.max(proven.refundedAmount, more.refundedAmount).toFixed(),
  byTracking: takeMaxima(proven.byTracking, more.byTracking),
  byReason: takeMaxima(proven.byReason, more.byReason),
  refundReasons: more.refundReasons.length > proven.refundReasons.length ? more.refundReasons : proven.refundReasons,
})

const takeMaxima = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> => {
  const all = new Map(a)
  for (const [mark, units] of b) all.set(mark, Math.max(all.get(mark) ?? 0, units))
  return all
}

const count = (totals: Map<string, number>, mark: string, units: number): void => {
  totals.set(mark, (totals.get(mark) ?? 0) + units)
}
