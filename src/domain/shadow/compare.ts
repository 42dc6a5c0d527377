import { Decimal } from 'decimal.js'
import type { CommandKind, OrderCommandContent, UnitKind } from '../commands/command.ts'
import type { OrderBaseline } from '../commands/evidence.ts'
import type { DecimalText, OrderLine, PurchaseOrder, Shipment } from '../orders/order.ts'
import type { ReturnedLine } from '../orders/returned-units.ts'
import { refundTotal } from '../refunds/refunds.ts'
import { allocateShipments, type Parcel, type PredictedUnits } from './allocation.ts'

/**
 * What the seller's present system did with an order, compared with the predictions; the worst first.
 *
 * - difference: it did something else than was predicted.
 * - missing: it did not do within {@link settleWithinMs} what was predicted.
 * - unpredicted: it did something that no event predicted.
 * - pending: it has not done yet what was predicted.
 * - agreement: it did what was predicted.
 */
export const shadowVerdicts = ['difference', 'missing', 'unpredicted', 'pending', 'agreement'] as const
/** See {@link shadowVerdicts}. */
export type ShadowVerdict = (typeof shadowVerdicts)[number]

/** The verdicts that must be explained before a seller goes live. */
export const openVerdicts: readonly ShadowVerdict[] = ['difference', 'missing', 'unpredicted']

/** What differs; `cancelled` and `shipped`: the units were processed so instead of as predicted. */
export const differenceKinds = ['units', 'twice', 'cancelled', 'shipped', 'tracking', 'carrier', 'money'] as const
/** See {@link differenceKinds}. */
export type DifferenceKind = (typeof differenceKinds)[number]

/** Time that the present system has for what was predicted, in milliseconds. */
export const settleWithinMs = 24 * 3_600_000

/** A command that was predicted. */
export interface Prediction {
  readonly commandId: string
  readonly predictedAt: Date
  readonly content: OrderCommandContent
  /** The order when it was predicted; null: not stored. */
  readonly before: OrderBaseline | null
}

/** An order of a seller in shadow mode. */
export interface ShadowedOrder {
  /** As last read; null: it is not stored. */
  readonly order: PurchaseOrder | null
  /** Since when the seller is in shadow mode. */
  readonly since: Date
  /** In the order of the commands. */
  readonly predictions: readonly Prediction[]
  readonly returned: readonly ReturnedLine[]
  /** Tracking numbers that our own commands have sent before. */
  readonly ownNumbers: ReadonlySet<string>
}

/** One difference between a predicted command and the order. */
export interface ShadowDifference {
  readonly kind: DifferenceKind
  readonly lineNumber: string
  readonly predicted: string
  readonly shown: string
}

/** Predicted units of a line, of one parcel of it for a shipment. */
export interface ComparedUnits {
  readonly lineNumber: string
  readonly quantity: number
  /** Those of them that the order shows. */
  readonly shown: number
  /** What a refund gives back, tax included, in the currency of the line; null: no refund, or not known. */
  readonly amount: DecimalText | null
}

/** A predicted command beside what the order shows. */
export interface ComparedCommand {
  readonly commandId: string
  readonly kind: CommandKind
  readonly verdict: Exclude<ShadowVerdict, 'unpredicted'>
  readonly predictedAt: Date
  /** Whether the order shows all units of it. */
  readonly shown: boolean
  /** How much later than the prediction the lines changed, in seconds, negative if earlier; null: not shown, or a later change hides it. */
  readonly laterSeconds: number | null
  /** Empty for an acknowledgement and a correction, which do not process units. */
  readonly units: readonly ComparedUnits[]
  readonly differences: readonly ShadowDifference[]
}

/** Units that the present system processed and no event predicted. */
export interface UnpredictedUnits {
  readonly lineNumber: string
  readonly kind: UnitKind
  readonly quantity: number
}

/** An order beside its predictions. */
export interface ComparedOrder {
  readonly verdict: ShadowVerdict
  readonly commands: readonly ComparedCommand[]
  readonly unpredicted: readonly UnpredictedUnits[]
}

/** Which compared orders to list; null: any. */
export interface ShadowSelection {
  readonly verdict: ShadowVerdict | null
  /** With a command of this kind, or with units that were processed in this way without an event. */
  readonly kind: CommandKind | null
  /** With a difference of this kind. */
  readonly difference: DifferenceKind | null
}

/** Whether a compared order is selected. */
export const isSelected = (order: ComparedOrder, { verdict, kind, difference }: ShadowSelection): boolean =>
  (verdict === null || order.verdict === verdict) &&
  (kind === null || [...order.commands, ...order.unpredicted].some((part) => part.kind === kind)) &&
  (difference === null || order.commands.some(({ differences }) => differences.some((one) => one.kind === difference)))

interface Comparison {
  readonly prediction: Prediction
  readonly units: PredictedUnits[]
  readonly differences: ShadowDifference[]
}

/** The predicted units of a command, by line. */
const listPredicted = ({ content }: Prediction): PredictedUnits[] => {
  const build = (lineNumber: string, kind: UnitKind, quantity: number, more: Partial<PredictedUnits> = {}): PredictedUnits => ({
    ...{ lineNumber, kind, quantity, parcel: null, money: null, seen: 0, replaced: 0, found: [] },
    ...more,
  })
  switch (content.kind) {
    case 'acknowledge':
    case 'correct-shipment':
      return []
    case 'ship':
      return content.payload.parcels.flatMap(({ lines, ...parcel }) =>
        lines.map(({ lineNumber, quantity }) => build(lineNumber, 'ship', quantity, { parcel })),
      )
    case 'cancel':
      return content.payload.lines.map(({ lineNumber, quantity }) => build(lineNumber, 'cancel', quantity))
    case 'refund':
    case 'refund-return':
      return content.payload.lines.map(({ lineNumber, quantity, charges }) =>
        build(lineNumber, 'refund', quantity, { money: charges.length === 0 ? null : refundTotal(charges) }),
      )
  }
}

/** What a line shows since shadow mode began. */
interface ShownLine {
  readonly counts: Record<UnitKind, number>
  /** Refunded units that the order itself shows. */
  readonly refundedByOrder: number
  readonly refundedAmount: Decimal
  readonly parcels: Parcel[]
}

/** An order that was placed in shadow mode had nothing processed before; of an older one the first prediction knows what was. */
const readShown = (line: OrderLine, shadowed: ShadowedOrder): ShownLine => {
  const { order, since, predictions, returned, ownNumbers } = shadowed
  const isNew = order?.orderDate !== null && order?.orderDate !== undefined && order.orderDate >= since
  const parcels = line.shipments
    .filter(({ shippedAt, trackingNumber }) => isNew || isSince(shippedAt, since, trackingNumber, ownNumbers))
    .map((shipment: Shipment): Parcel => ({ ...shipment, left: shipment.quantity }))
  const sinceParcels = parcels.reduce((sum, { quantity }) => sum + quantity, 0)
  const first = predictions.find(({ before }) => before !== null)?.before?.lines.find((one) => one.lineNumber === line.lineNumber)
  // Without a prediction only the time of a parcel says that the units of an older order were processed since.
  const unknown = { ...line.units, shipped: line.units.shipped - sinceParcels, refundedAmount: line.refundedAmount }
  const start = isNew
    ? { shipped: 0, cancelled: 0, refunded: 0, refundedAmount: '0' }
    : first === undefined
      ? unknown
      : { ...first.units, refundedAmount: first.refundedAmount }
  const through = returned.reduce(
    (sum, one) => (one.lineNumber === line.lineNumber ? sum + countReturned(one, predictions, isNew) : sum),
    0,
  )
  const refundedByOrder = Math.max(0, line.units.refunded - start.refunded)
  return {
    counts: {
      ship: Math.max(0, line.units.shipped - start.shipped),
      cancel: Math.max(0, line.units.cancelled - start.cancelled),
      refund: Math.max(refundedByOrder, through),
    },
    refundedByOrder,
    refundedAmount: new Decimal(line.refundedAmount).minus(start.refundedAmount),
    parcels,
  }
}

const isSince = (shippedAt: Date | null, since: Date, trackingNumber: string | null, own: ReadonlySet<string>): boolean =>
  shippedAt !== null && shippedAt >= since && (trackingNumber === null || !own.has(trackingNumber))

/** Units of a returned line that were refunded since shadow mode began. Of an older order only a prediction knows what was before. */
const countReturned = (line: ReturnedLine, predictions: readonly Prediction[], isNew: boolean): number => {
  if (line.refunded === null) return 0
  if (isNew) return line.refunded
  const before = predictions
    .map((prediction) => prediction.before?.returned)
    .find((returned) => returned?.returnOrderId === line.returnOrderId)
    ?.lines.find(({ returnLineNumber }) => returnLineNumber === line.returnLineNumber)
  return before === undefined ? 0 : Math.max(0, line.refunded - (before.refunded ?? 0))
}

const words = { ship: 'shipped', cancel: 'cancelled', refund: 'refunded' } as const

/** Gives the units that a line shows to the predicted ones; returns those that no event predicted. */
const settleLine = (
  line: OrderLine,
  shown: ShownLine,
  comparisons: readonly Comparison[],
  corrections: ReadonlyMap<string, string>,
): readonly UnpredictedUnits[] => {
  const { lineNumber } = line
  const list = (kind: UnitKind) =>
    comparisons.flatMap(({ units, differences }) =>
      units.flatMap((one) => (one.kind === kind && one.lineNumber === lineNumber ? [{ one, differences }] : [])),
    )
  const unpredicted: UnpredictedUnits[] = []
  const extra = { ship: 0, cancel: 0, refund: 0 }
  const ships = list('ship')
  const allocated = allocateShipments(
    ships.map(({ one }) => one),
    shown.parcels,
    shown.counts.ship,
    corrections,
  )
  extra.ship = allocated.left
  for (const kind of ['cancel', 'refund'] as const) {
    let left = shown.counts[kind]
    for (const { one } of list(kind)) {
      one.seen = Math.min(one.quantity, left)
      left -= one.seen
    }
    extra[kind] = left
  }

  // Units that can still be shipped or cancelled are pending; of the others the order shows what was done instead.
  const room = Math.max(0, line.ordered - line.units.shipped - line.units.cancelled)
  for (const [kind, instead] of [
    ['ship', 'cancel'],
    ['cancel', 'ship'],
  ] as const) {
    const open = list(kind)
    let lost = open.reduce((sum, { one }) => sum + one.quantity - one.seen, 0) - room
    for (const { one, differences } of open.toReversed()) {
      const units = Math.min(one.quantity - one.seen, lost, extra[instead])
      if (units <= 0) continue
      lost -= units
      extra[instead] -= units
      one.replaced += units
      const predicted = `${units} ${words[kind]}`
      differences.push({ kind: words[instead], lineNumber, predicted, shown: `${units} ${words[instead]}` })
    }
  }

  const addExtra = (kind: UnitKind, quantity: number, candidates: ReturnType<typeof list>): void => {
    const last = candidates.at(-1)
    if (quantity <= 0) return
    if (last === undefined) {
      unpredicted.push({ lineNumber, kind, quantity })
      return
    }
    const total = candidates.reduce((sum, { one }) => sum + one.quantity, 0)
    const name = quantity >= total ? 'twice' : 'units'
    const figures = { predicted: `${total} ${words[kind]}`, shown: `${total + quantity} ${words[kind]}` }
    last.differences.push({ kind: name, lineNumber, ...figures })
  }
  let extraShips = extra.ship
  for (const { trackingNumber, left } of allocated.parcels) {
    const units = Math.min(left, extraShips)
    extraShips -= units
    // Another parcel is another shipment: no event of it has arrived.
    const named = trackingNumber === null ? [] : ships.filter(({ one }) => one.parcel?.trackingNumber === trackingNumber)
    addExtra('ship', units, named)
  }
  addExtra('ship', extraShips, ships)
  addExtra('cancel', extra.cancel, list('cancel'))
  const refunds = list('refund')
  addExtra('refund', extra.refund, refunds)
  if (extra.refund === 0) compareMoney(shown, refunds)
  return unpredicted
}

/** Adds a difference of money where the order shows all predicted refunds of a line, and no others. */
const compareMoney = (
  { refundedByOrder, refundedAmount }: ShownLine,
  refunds: readonly { readonly one: PredictedUnits; readonly differences: ShadowDifference[] }[],
): void => {
  const last = refunds.at(-1)
  const units = refunds.reduce((sum, { one }) => sum + one.quantity, 0)
  if (last === undefined || units !== refundedByOrder) return
  let predicted = new Decimal(0)
  for (const { one } of refunds) {
    if (one.money === null) return
    predicted = predicted.plus(one.money)
  }
  if (predicted.equals(refundedAmount)) return
  const { lineNumber } = last.one
  last.differences.push({ kind: 'money', lineNumber, predicted: predicted.toFixed(), shown: refundedAmount.toFixed() })
}

const isSameCarrier = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase()

/** Adds the differences between a predicted parcel and those in which its units left. */
const compareParcels = ({ units, differences }: Comparison, corrections: ReadonlyMap<string, string>): void => {
  for (const { lineNumber, parcel, found } of units)
    for (const { trackingNumber, carrier } of parcel === null ? [] : found) {
      if (parcel === null) continue
      const isNumber = trackingNumber === parcel.trackingNumber || trackingNumber === corrections.get(parcel.trackingNumber)
      if (trackingNumber !== null && !isNumber)
        differences.push({ kind: 'tracking', lineNumber, predicted: parcel.trackingNumber, shown: trackingNumber })
      else if (carrier !== null && trackingNumber === parcel.trackingNumber && !isSameCarrier(carrier, parcel.carrier))
        differences.push({ kind: 'carrier', lineNumber, predicted: parcel.carrier, shown: carrier })
    }
}

/** How far the order shows a prediction: units that are expected, seen, and processed in another way. */
interface Progress {
  readonly quantity: number
  readonly seen: number
  readonly replaced: number
}

const measureAcknowledgement = ({ lines }: PurchaseOrder, differences: ShadowDifference[]): Progress => {
  const open = lines.filter(({ ordered, units }) => units.acknowledged + units.cancelled < ordered)
  const cancelled = lines.filter(({ ordered, units }) => units.cancelled >= ordered)
  if (cancelled.length === lines.length)
    for (const { lineNumber, ordered } of cancelled)
      differences.push({ kind: 'cancelled', lineNumber, predicted: `${ordered} acknowledged`, shown: `${ordered} cancelled` })
  const replaced = cancelled.length === lines.length ? lines.length : 0
  return { quantity: lines.length, seen: lines.length - open.length - replaced, replaced }
}

const measureCorrection = (
  { lines }: PurchaseOrder,
  content: Extract<OrderCommandContent, { kind: 'correct-shipment' }>,
  differences: ShadowDifference[],
): Progress => {
  const { replacement } = content.payload
  const progress = { quantity: 0, seen: 0, replaced: 0 }
  for (const { lineNumber, quantity } of content.payload.lines) {
    const shipments = lines.find((line) => line.lineNumber === lineNumber)?.shipments ?? []
    const corrected = shipments.filter(({ trackingNumber }) => trackingNumber === replacement.trackingNumber)
    progress.quantity += quantity
    progress.seen += Math.min(
      quantity,
      corrected.reduce((sum, shipment) => sum + shipment.quantity, 0),
    )
    for (const { carrier } of corrected)
      if (carrier !== null && !isSameCarrier(carrier, replacement.carrier))
        differences.push({ kind: 'carrier', lineNumber, predicted: replacement.carrier, shown: carrier })
  }
  return progress
}

const measure = ({ prediction: { content }, units, differences }: Comparison, order: PurchaseOrder | null): Progress => {
  if (order !== null && content.kind === 'acknowledge') return measureAcknowledgement(order, differences)
  if (order !== null && content.kind === 'correct-shipment') return measureCorrection(order, content, differences)
  const sum = (count: (one: PredictedUnits) => number): number => units.reduce((total, one) => total + count(one), 0)
  const quantity = sum((one) => one.quantity)
  return { quantity: Math.max(1, quantity), seen: sum(({ seen }) => seen), replaced: sum(({ replaced }) => replaced) }
}

/** When the lines of a shown prediction changed; null: a later change of one of them hides it. */
const findChange = (comparison: Comparison, later: readonly Comparison[], order: PurchaseOrder): Date | null => {
  const { kind } = comparison.prediction.content
  if (kind === 'correct-shipment') return null
  const named = new Set(comparison.units.map(({ lineNumber }) => lineNumber))
  const lines = order.lines.filter(({ lineNumber }) => kind === 'acknowledge' || named.has(lineNumber))
  const isHidden = lines.some(({ lineNumber, units }) => {
    if (kind === 'acknowledge') return units.shipped + units.cancelled > 0
    if (kind !== 'refund' && kind !== 'refund-return' && units.refunded > 0) return true
    return later.some((other) => other.units.some((one) => one.lineNumber === lineNumber && one.seen > 0))
  })
  const times = lines.flatMap(({ statusDate }) => (statusDate === null ? [] : [statusDate.getTime()]))
  return isHidden || times.length === 0 ? null : new Date(Math.max(...times))
}

/** Compares an order of a seller in shadow mode with what was predicted for it. Deterministic. */
export const compareOrder = (shadowed: ShadowedOrder, now: Date): ComparedOrder => {
  const { order, predictions } = shadowed
  const comparisons = predictions.map((prediction): Comparison => {
    return { prediction, units: listPredicted(prediction), differences: [] }
  })
  const corrections = new Map(
    predictions.flatMap(({ content }) =>
      content.kind === 'correct-shipment'
        ? [[content.payload.trackingNumber, content.payload.replacement.trackingNumber] as const]
        : [],
    ),
  )
  const unpredicted = (order?.lines ?? []).flatMap((line) =>
    settleLine(line, readShown(line, shadowed), comparisons, corrections),
  )
  const commands = comparisons.map((comparison, index): ComparedCommand => {
    const { prediction, units, differences } = comparison
    compareParcels(comparison, corrections)
    const { quantity, seen, replaced } = measure(comparison, order)
    const isOpen = seen + replaced < quantity
    const isLate = now.getTime() - prediction.predictedAt.getTime() >= settleWithinMs
    if (isOpen && isLate && seen > 0)
      for (const one of units)
        if (one.seen + one.replaced < one.quantity) {
          const kind = words[one.kind]
          const figures = { predicted: `${one.quantity} ${kind}`, shown: `${one.seen} ${kind}` }
          differences.push({ kind: 'units', lineNumber: one.lineNumber, ...figures })
        }
    const waiting = isLate ? 'missing' : 'pending'
    const isShown = seen >= quantity
    const changedAt = isShown && order !== null ? findChange(comparison, comparisons.slice(index + 1), order) : null
    return {
      commandId: prediction.commandId,
      kind: prediction.content.kind,
      verdict: differences.length > 0 ? 'difference' : isOpen ? waiting : 'agreement',
      predictedAt: prediction.predictedAt,
      shown: isShown,
      units: units.map((one) => ({ lineNumber: one.lineNumber, quantity: one.quantity, shown: one.seen, amount: one.money })),
      laterSeconds: changedAt === null ? null : Math.round((changedAt.getTime() - prediction.predictedAt.getTime()) / 1_000),
      differences,
    }
  })
  const found = new Set<ShadowVerdict>(commands.map(({ verdict }) => verdict))
  if (unpredicted.length > 0) found.add('unpredicted')
  return { verdict: shadowVerdicts.find((verdict) => found.has(verdict)) ?? 'agreement', commands, unpredicted }
}
