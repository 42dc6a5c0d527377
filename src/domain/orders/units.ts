import type { CommandState, LineQuantity, OrderCommandContent, UnitKind } from '../commands/command.ts'
import { isInFlight, isReleased, listUnits, unitKinds } from '../commands/command.ts'
import type { LineUnits, PurchaseOrder } from './order.ts'

/** An unsettled command whose request may have taken effect on this line. */
export interface InFlightUnits {
  readonly kind: UnitKind
  readonly quantity: number
  /** The line's units as read before the request was sent. */
  readonly baseline: LineUnits
}

/**
 * The unit ledger of one order line: processed units, reserved units, and therefore those that can still be processed
 * (specification, section 9, rules 1 to 5). Every figure counts units.
 */
export interface LineLedger {
  readonly lineNumber: string
  readonly sku: string | null
  readonly ordered: number
  /** What the marketplace last reported. */
  readonly reported: LineUnits
  /** The minimum that our confirmed commands prove; never less than the sum of their units. */
  readonly confirmed: { readonly shipped: number; readonly cancelled: number; readonly refunded: number }
  /** Reserved by commands whose request has not been sent. */
  readonly pending: { readonly ship: number; readonly cancel: number; readonly refund: number }
  readonly inFlight: InFlightUnits | null
  /** Units of the line (0 to ordered - 1) whose money our own refunds hold, until their units are released; see refunds.ts. */
  readonly refundSlots: readonly number[]
  /** Left out: no command of the order was predicted, and it was not placed in shadow mode. */
  readonly shadow?: ShadowUnits
}

/** Units of a line by what is done to them. */
type ProcessedUnits = Readonly<Record<'shipped' | 'cancelled' | 'refunded', number>>

/** The units of a line in shadow mode, where another system does what our commands predict, before or after them. */
interface ShadowUnits {
  /** The minimum that the line shows once everything has happened that was predicted. */
  readonly predicted: ProcessedUnits
  /**
   * Reported units of an order that was placed in shadow mode, which no command of ours explains: the other system may have been faster than the event that
   * predicts them, so they do not count against a command of the same kind.
   */
  readonly others: ProcessedUnits
}

/** The parts of a stored command that the ledger needs. */
export type LedgerCommand = OrderCommandContent & {
  readonly state: CommandState
  /** Units by line number before the request was sent; null if no request was ever sent. */
  readonly baseline: Readonly<Record<string, LineUnits>> | null
  /** Refunded units by line of its return before the request was sent; left out or null: none, or no request was ever sent. */
  readonly returnBaseline?: Readonly<Record<number, number>> | null
  /** When it was stored; left out: it is being planned. */
  readonly createdAt?: Date
  /** The event that it was derived from; left out or null: none, or it is not stored yet. */
  readonly event?: { readonly source: string; readonly id: string } | null
}

/** What one entry of a request asks of a line; `path` says where the entry stands, the fault's path goes on to the member. */
export interface UnitRequestLine extends LineQuantity {
  readonly path: string
}

/** Units asked of several lines for one purpose. A line may appear more than once. */
export interface UnitRequest {
  readonly kind: UnitKind
  readonly lines: readonly UnitRequestLine[]
}

/** Why units are not available. */
export interface UnitFault {
  readonly path: string
  readonly lineNumber: string
  readonly asked: number
  readonly available: number
  /** A sentence for a person. */
  readonly message: string
}

/** The ledgers with the request reserved, or every fault and nothing reserved. */
export type ReserveResult =
  | { readonly ok: true; readonly ledgers: readonly LineLedger[] }
  | { readonly ok: false; readonly faults: readonly UnitFault[] }

const countNames = { ship: 'shipped', cancel: 'cancelled', refund: 'refunded' } as const satisfies Record<
  UnitKind,
  keyof LineUnits
>

/**
 * Builds the ledgers of an order from what the marketplace reported and from our commands on it, in any order.
 *
 * A confirmed command proves `baseline + its units`, so that an effect counts even while the stored order is older than it. Predicted commands are in their
 * order: several may be open, so each predicts its units on top of its baseline, and those of the later ones on top of them.
 *
 * @param shadowSince since when the seller is in shadow mode; null: it is not
 */
export const buildLedgers = (
  order: PurchaseOrder,
  commands: readonly LedgerCommand[],
  shadowSince: Date | null = null,
): LineLedger[] => {
  const isShadowed = shadowSince !== null && order.orderDate !== null && order.orderDate >= shadowSince
  return order.lines.map((line) => {
    const predicted = { shipped: 0, cancelled: 0, refunded: 0 }
    let hasPredicted = false
    const confirmed = { shipped: 0, cancelled: 0, refunded: 0 }
    const proven = { shipped: 0, cancelled: 0, refunded: 0 }
    const pending = { ship: 0, cancel: 0, refund: 0 }
    const refundSlots: number[] = []
    let inFlight: InFlightUnits | null = null
    for (const command of commands) {
      // A correction gives shipped units another tracking number: it neither takes nor frees any.
      const kind = unitKinds[command.kind]
      if (kind === null || isReleased(command.state)) continue
      const quantity = listUnits(command.payload).find((entry) => entry.lineNumber === line.lineNumber)?.quantity
      if (quantity === undefined) continue
      if (command.kind === 'refund' || command.kind === 'refund-return') {
        for (const entry of command.payload.lines)
          if (entry.lineNumber === line.lineNumber) refundSlots.push(...(entry.slots ?? []))
      }
      const baseline = command.baseline?.[line.lineNumber]
      if (command.state === 'confirmed') {
        const count = countNames[kind]
        confirmed[count] += quantity
        proven[count] = Math.max(proven[count], (baseline?.[count] ?? 0) + quantity)
      } else if (command.state === 'predicted') {
        const count = countNames[kind]
        hasPredicted = true
        predicted[count] = Math.max(predicted[count], baseline?.[count] ?? 0) + quantity
      } else if (isInFlight(command.state)) {
        // Without a baseline only the report can be counted from: units then count twice rather than not at all.
        inFlight = { kind, quantity, baseline: baseline ?? line.units }
      } else {
        pending[kind] += quantity
      }
    }
    const ledger: LineLedger = {
      lineNumber: line.lineNumber,
      sku: line.sku,
      ordered: line.ordered,
      reported: line.units,
      confirmed: {
        shipped: Math.max(confirmed.shipped, proven.shipped),
        cancelled: Math.max(confirmed.cancelled, proven.cancelled),
        refunded: Math.max(confirmed.refunded, proven.refunded),
      },
      pending,
      inFlight,
      refundSlots: refundSlots.sort((a, b) => a - b),
    }
    if (!hasPredicted && !isShadowed) return ledger
    const none = { shipped: 0, cancelled: 0, refunded: 0 }
    const expected: LineLedger = { ...ledger, shadow: { predicted, others: none } }
    return isShadowed ? { ...ledger, shadow: { predicted, others: countOthers(expected) } } : expected
  })
}

/** Reported units that our commands do not explain. */
const countOthers = (ledger: LineLedger): ProcessedUnits => {
  const ours = { ...ledger, reported: { acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 } }
  const countBeyond = (kind: UnitKind): number => Math.max(0, ledger.reported[countNames[kind]] - done(ours, kind))
  return { shipped: countBeyond('ship'), cancelled: countBeyond('cancel'), refunded: countBeyond('refund') }
}

/**
 * Units of this kind that are done or may be done: the most of what is reported, what our confirmed commands prove, and
 * what the command in flight would have brought about on top of what was done when it left. The most and not the sum,
 * because an effect may already be reported while its command is still in flight.
 */
export const done = (ledger: LineLedger, kind: UnitKind): number => {
  const count = countNames[kind]
  const { reported, confirmed, inFlight, shadow } = ledger
  // All confirmed commands were confirmed before the one in flight left: commands of an order run one at a time.
  const landed = inFlight?.kind === kind ? Math.max(inFlight.baseline[count], confirmed[count]) + inFlight.quantity : 0
  return Math.max(reported[count], confirmed[count], landed, shadow?.predicted[count] ?? 0)
}

/** Units of this kind that are done, may be done, or are reserved. */
export const accounted = (ledger: LineLedger, kind: UnitKind): number => done(ledger, kind) + ledger.pending[kind]

/** Whether every unit is cancelled, or will be once the commands in front have taken effect: then nothing is left to acknowledge. */
export const cancelsWholly = (ledgers: readonly LineLedger[]): boolean =>
  ledgers.length > 0 && ledgers.every((ledger) => accounted(ledger, 'cancel') >= ledger.ordered)

/**
 * Units that can still be reserved: shipped + cancelled + reserved <= ordered, refunded + reserved <= shipped, where
 * earlier pending ships count as shipped because commands of one order run in order. Never negative.
 */
export const available = (ledger: LineLedger, kind: UnitKind): number => {
  const room = roomFor(ledger, kind, accounted)
  // A unit whose money one of our refunds holds cannot be refunded again, even if the counts allow it.
  return kind === 'refund' ? Math.max(0, Math.min(room, ledger.ordered - ledger.refundSlots.length)) : room
}

const roomFor = (ledger: LineLedger, kind: UnitKind, count: (ledger: LineLedger, kind: UnitKind) => number): number => {
  const others = ledger.shadow?.others[countNames[kind]] ?? 0
  const room =
    kind === 'refund'
      ? count(ledger, 'ship') - count(ledger, 'refund')
      : ledger.ordered - count(ledger, 'ship') - count(ledger, 'cancel')
  return Math.max(0, room + others)
}

/** Reserves all that is asked, or nothing and says every fault. Entries are served in their order. */
export const reserve = (ledgers: readonly LineLedger[], request: UnitRequest): ReserveResult => {
  const { kind } = request
  const byLine = new Map(ledgers.map((ledger) => [ledger.lineNumber, ledger]))
  const faults: UnitFault[] = []
  for (const entry of request.lines) {
    const ledger = byLine.get(entry.lineNumber)
    if (ledger === undefined) {
      faults.push(unknownLine(entry))
      continue
    }
    const room = available(ledger, kind)
    if (entry.quantity > room) {
      faults.push(tooMany(entry, kind, ledger, room, accounted))
      continue
    }
    byLine.set(entry.lineNumber, { ...ledger, pending: { ...ledger.pending, [kind]: ledger.pending[kind] + entry.quantity } })
  }
  if (faults.length > 0) return { ok: false, faults }
  return { ok: true, ledgers: ledgers.map((ledger) => byLine.get(ledger.lineNumber) ?? ledger) }
}

/**
 * The same rules at the time of sending, for a command that is still `pending`: reservations do not count, neither its own
 * nor those behind it (an earlier ship that a refund relied on has been settled by now, one way or the other).
 *
 * Empty when it may be sent. Acknowledge is refused only when every unit is already cancelled; a correction takes no units.
 */
export const checkBeforeSend = (ledgers: readonly LineLedger[], command: OrderCommandContent): UnitFault[] => {
  if (command.kind === 'correct-shipment') return []
  const kind = unitKinds[command.kind]
  if (kind === null) {
    if (ledgers.some((ledger) => done(ledger, 'cancel') < ledger.ordered)) return []
    return [
      {
        path: 'payload',
        lineNumber: '',
        asked: 0,
        available: 0,
        message: 'every unit of the order is cancelled, nothing is left to acknowledge',
      },
    ]
  }
  const faults: UnitFault[] = []
  for (const [index, entry] of listUnits(command.payload).entries()) {
    const request = { ...entry, path: `lines[${index}]` }
    const ledger = ledgers.find((candidate) => candidate.lineNumber === entry.lineNumber)
    if (ledger === undefined) {
      faults.push(unknownLine(request))
      continue
    }
    const room = roomFor(ledger, kind, done)
    if (entry.quantity > room) faults.push(tooMany(request, kind, ledger, room, done))
  }
  return faults
}

const unknownLine = (entry: UnitRequestLine): UnitFault => {
  const message = `the order has no line ${entry.lineNumber}`
  return { path: `${entry.path}.lineNumber`, lineNumber: entry.lineNumber, asked: entry.quantity, available: 0, message }
}

const tooMany = (
  entry: UnitRequestLine,
  kind: UnitKind,
  ledger: LineLedger,
  room: number,
  count: (ledger: LineLedger, kind: UnitKind) => number,
): UnitFault => {
  const asked = entry.quantity
  const message = `${describeRoom(ledger, kind, room, count)}, ${asked} asked`
  return { path: `${entry.path}.quantity`, lineNumber: entry.lineNumber, asked, available: room, message }
}

/** A sentence that says how many units of a line may still be shipped, cancelled or refunded, and why. */
export const describeAvailable = (ledger: LineLedger, kind: UnitKind): string =>
  describeRoom(ledger, kind, available(ledger, kind), accounted)

const describeRoom = (
  ledger: LineLedger,
  kind: UnitKind,
  room: number,
  count: (ledger: LineLedger, kind: UnitKind) => number,
): string => {
  const kinds = kind === 'refund' ? (['ship', 'refund'] as const) : (['ship', 'cancel'] as const)
  const parts = kinds.map((each) => {
    const reserved = count(ledger, each) - ledger.reported[countNames[each]]
    return `${ledger.reported[countNames[each]]} ${countNames[each]}${reserved > 0 ? ` and ${reserved} more in progress` : ''}`
  })
  return `line ${ledger.lineNumber} has ${room} unit${room === 1 ? '' : 's'} left to ${kind} (${ledger.ordered} ordered, ${parts.join(', ')})`
}
