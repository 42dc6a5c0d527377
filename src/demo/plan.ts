/**
 * The demonstration ERP's decisions about an order. Pure and deterministic: the same order always gets the same decisions, and a
 * repeated event has the same id, so a restart continues where it stopped and repeats nothing.
 */
import { createHash } from 'node:crypto'
import type { ErpEvent } from 'tallyman/types'

/** One line as used by the demonstration; the last three counts are units that can still be reserved. */
export interface DemoLine {
  readonly lineNumber: string
  readonly sku: string | null
  readonly ordered: number
  readonly acknowledged: number
  readonly cancelled: number
  /** The buyer asked to cancel. */
  readonly intentToCancel: boolean
  readonly shippable: number
  readonly cancellable: number
  readonly refundable: number
}

/** A command that exists for the order, ours or another's. */
export interface DemoCommand {
  readonly eventSource: string | null
  readonly eventId: string | null
  readonly state: string
}

/** An order as used by the demonstration. */
export interface DemoOrder {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly orderDate: Date
  readonly lines: readonly DemoLine[]
  readonly commands: readonly DemoCommand[]
}

/** An event of the demonstration. */
export type DemoEvent = ErpEvent & { readonly subject: string }

/**
 * Next step for an order.
 *
 * - say: send this event, after this number of paces (a warehouse needs time).
 * - wait: commands of this order are in progress.
 * - held: an operator must decide on a command of this order first.
 * - finished: nothing more, unless the order changes.
 */
export type Decision =
  | { readonly kind: 'say'; readonly event: DemoEvent; readonly paces: number }
  | { readonly kind: 'wait' }
  | { readonly kind: 'held' }
  | { readonly kind: 'finished' }

/** `source` of every event of the demonstration. */
export const demoSource = 'demonstration-erp'

/** A number in [0, 1) that depends on the order and the purpose only. */
const chance = (order: { readonly purchaseOrderId: string }, purpose: string): number =>
  createHash('sha256').update(`${order.purchaseOrderId} ${purpose}`).digest().readUIntBE(0, 6) / 2 ** 48

const pick = <Value>(values: readonly [Value, ...Value[]], share: number): Value =>
  values[Math.floor(share * values.length)] ?? values[0]

const digits = (order: DemoOrder, purpose: string, length: number): string =>
  Array.from({ length }, (_, index) => Math.floor(chance(order, `${purpose} digit ${index}`) * 10)).join('')

interface Carrier {
  readonly name: string
  readonly number: (order: DemoOrder, purpose: string) => string
  readonly url: (trackingNumber: string) => string
}

const carriers: readonly [Carrier, ...Carrier[]] = [
  {
    name: 'UPS',
    number: (order, purpose) => `1Z${digits(order, purpose, 16)}`,
    url: (number) => `https://www.ups.com/track?tracknum=${number}`,
  },
  {
    name: 'USPS',
    number: (order, purpose) => `94001${digits(order, purpose, 17)}`,
    url: (number) => `https://tools.usps.com/go/TrackConfirmAction?tLabels=${number}`,
  },
  {
    name: 'FedEx',
    number: (order, purpose) => `7${digits(order, purpose, 11)}`,
    url: (number) => `https://www.fedex.com/fedextrack/?trknbr=${number}`,
  },
  {
    name: 'OnTrac',
    number: (order, purpose) => `D${digits(order, purpose, 14)}`,
    url: (number) => `https://www.ontrac.com/tracking/?number=${number}`,
  },
]

const creditReasons = ['DamagedItem', 'DefectiveItem', 'ItemNotAsAdvertised', 'CustomerChangedMind'] as const

/** Shares of orders with each kind of deviation. */
const shareShort = 0.15
const shareTwoParcels = 0.45
const shareParcelsTogether = 0.35
const shareCredited = 0.2
const shareNamedBySku = 0.5

/** Units by line number; lines with none are omitted. */
type Allotment = ReadonlyMap<string, number>

/** The warehouse's plan for each line of an order if nothing interferes. */
export interface DemoPlan {
  /** Units that are out of stock. */
  readonly short: Allotment
  /** One or two parcels, none empty unless every unit is short. */
  readonly parcels: readonly Allotment[]
  /** Two parcels are reported in one event. */
  readonly together: boolean
  /** Units that are refunded later. */
  readonly credit: Allotment
}

const without = (units: Map<string, number>): Allotment => new Map([...units].filter(([, quantity]) => quantity > 0))

const planShort = (order: DemoOrder): Allotment => {
  const total = order.lines.reduce((sum, line) => sum + line.ordered, 0)
  if (total < 2 || chance(order, 'short') >= shareShort) return new Map()
  const line = order.lines[Math.floor(chance(order, 'short line') * order.lines.length)]
  if (line === undefined) return new Map()
  // At least one unit of the order is shipped.
  const most = Math.min(line.ordered, total - 1)
  return new Map([[line.lineNumber, 1 + Math.floor(chance(order, 'short units') * most)]])
}

const planParcels = (order: DemoOrder, keep: ReadonlyMap<string, number>): Allotment[] => {
  const first = new Map<string, number>()
  const second = new Map<string, number>()
  const two = chance(order, 'parcels') < shareTwoParcels
  for (const line of order.lines) {
    const quantity = keep.get(line.lineNumber) ?? 0
    const share = chance(order, `split of line ${line.lineNumber}`)
    const inSecond = two ? Math.floor(share * (quantity + 1)) : 0
    first.set(line.lineNumber, quantity - inSecond)
    second.set(line.lineNumber, inSecond)
  }
  return [without(first), without(second)].filter((parcel) => parcel.size > 0)
}

/** The plan for an order. Depends on its id, its lines and the ordered units only, which never change. */
export const planOrder = (order: DemoOrder): DemoPlan => {
  const short = planShort(order)
  const keep = new Map(order.lines.map((line) => [line.lineNumber, line.ordered - (short.get(line.lineNumber) ?? 0)]))
  const credit = new Map<string, number>()
  if (chance(order, 'credit') < shareCredited) {
    const shipped = order.lines.filter((line) => (keep.get(line.lineNumber) ?? 0) > 0)
    const line = shipped[Math.floor(chance(order, 'credit line') * shipped.length)]
    if (line !== undefined) {
      const most = keep.get(line.lineNumber) ?? 0
      credit.set(line.lineNumber, 1 + Math.floor(chance(order, 'credit units') * most))
    }
  }
  return {
    short,
    parcels: planParcels(order, keep),
    together: chance(order, 'together') < shareParcelsTogether,
    credit,
  }
}

type Content<Event> = Event extends ErpEvent ? Pick<Event, 'type' | 'data'> : never

const buildEvent = (order: DemoOrder, step: string, content: Content<ErpEvent>): DemoEvent => ({
  specversion: '1.0',
  source: demoSource,
  id: `demo-${order.purchaseOrderId}-${step}`,
  subject: order.purchaseOrderId,
  datacontenttype: 'application/json',
  ...content,
})

const nameOrder = ({ sellerId, purchaseOrderId }: DemoOrder) => ({ sellerId, purchaseOrderId })

type LineName = { readonly lineNumber: string } | { readonly sku: string }

// An ERP that knows only its own stock keys leaves the choice of the line to the daemon. If a buyer wants one of several lines
// with that key cancelled, the choice matters, so the line is named.
const nameLines = (order: DemoOrder, units: Allotment): { name: LineName; quantity: number }[] => {
  const bySku =
    chance(order, 'naming') < shareNamedBySku && order.lines.every((line) => line.sku !== null && !line.intentToCancel)
  if (!bySku) return [...units].map(([lineNumber, quantity]) => ({ name: { lineNumber }, quantity }))
  const totals = new Map<string, number>()
  for (const line of order.lines) {
    const quantity = units.get(line.lineNumber) ?? 0
    if (line.sku !== null && quantity > 0) totals.set(line.sku, (totals.get(line.sku) ?? 0) + quantity)
  }
  return [...totals].map(([sku, quantity]) => ({ name: { sku }, quantity }))
}

const listEntries = (order: DemoOrder, units: Allotment) =>
  nameLines(order, units).map(({ name, quantity }) => ({ ...name, quantity }))

const listWithReason = (order: DemoOrder, units: Allotment, reason: string) =>
  listEntries(order, units).map((entry) => ({ ...entry, reason }))

const buildParcel = (order: DemoOrder, purpose: string, units: Allotment) => {
  const carrier = pick(carriers, chance(order, `${purpose} carrier`))
  const trackingNumber = carrier.number(order, purpose)
  // Derived from the order's own date, on the marketplace's clock, so that the event is the same whenever it is sent. This
  // warehouse packs within a minute: a shipping time in the future is refused.
  const packedMs = (5 + Math.floor(chance(order, `${purpose} time`) * 55)) * 1_000
  return {
    carrier: carrier.name,
    trackingNumber,
    trackingUrl: carrier.url(trackingNumber),
    shippedAt: new Date(order.orderDate.getTime() + packedMs).toISOString(),
    lines: listEntries(order, units),
  }
}

/** The planned units, limited to those that are left. */
const upTo = (order: DemoOrder, planned: Allotment, left: (line: DemoLine) => number): Allotment =>
  without(new Map(order.lines.map((line) => [line.lineNumber, Math.min(planned.get(line.lineNumber) ?? 0, left(line))])))

const shippable = (line: DemoLine): number => (line.intentToCancel ? 0 : line.shippable)

interface Step {
  readonly id: string
  /** Minimum and maximum number of paces before it. */
  readonly paces: readonly [number, number]
  /** Null: there is nothing to send. */
  readonly event: () => DemoEvent | null
}

const listSteps = (order: DemoOrder): Step[] => {
  const plan = planOrder(order)
  const step = (name: string, paces: readonly [number, number], event: (name: string) => DemoEvent | null): Step => ({
    id: `demo-${order.purchaseOrderId}-${name}`,
    paces,
    event: () => event(name),
  })
  const dispatch = (name: string, parcels: readonly Allotment[]): DemoEvent | null => {
    const filled = parcels.filter((parcel) => parcel.size > 0)
    if (filled.length === 0) return null
    const reported = filled.map((parcel, index) => buildParcel(order, `${name} ${index}`, parcel))
    return buildEvent(order, name, { type: 'erp.shipment.dispatched', data: { ...nameOrder(order), parcels: reported } })
  }
  const cancel = (name: string, units: Allotment, reason: string): DemoEvent | null =>
    units.size === 0
      ? null
      : buildEvent(order, name, {
          type: 'erp.lines.unfulfillable',
          data: { ...nameOrder(order), lines: listWithReason(order, units, reason) },
        })

  const accept = step('accept', [0.5, 2], (name) =>
    order.lines.some((line) => line.acknowledged + line.cancelled < line.ordered)
      ? buildEvent(order, name, { type: 'erp.order.accepted', data: nameOrder(order) })
      : null,
  )
  const asked = order.lines
    .filter((line) => line.intentToCancel)
    .map((line) =>
      step(`buyer-${line.lineNumber}`, [0.2, 0.5], (name) =>
        cancel(name, without(new Map([[line.lineNumber, line.cancellable]])), 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL'),
      ),
    )
  const short = step('short', [0.5, 1.5], (name) =>
    cancel(
      name,
      upTo(order, plan.short, (line) => (line.intentToCancel ? 0 : line.cancellable)),
      'SELLER_CANCEL_OUT_OF_STOCK',
    ),
  )
  const parcels = plan.together
    ? [step('parcels', [1, 3], (name) => dispatch(name, packed(order, plan.parcels)))]
    : plan.parcels.map((parcel, index) =>
        step(`parcel-${index + 1}`, index === 0 ? [1, 3] : [2, 4], (name) => dispatch(name, packed(order, [parcel]))),
      )
  // Units left over because something interfered, so that no order stays open for ever.
  const rest = step('rest', [1, 2], (name) => {
    const everything = new Map(order.lines.map((line) => [line.lineNumber, line.ordered]))
    return dispatch(name, packed(order, [everything]))
  })
  const credit = step('credit', [4, 8], (name) => {
    const units = upTo(order, plan.credit, (line) => line.refundable)
    const reason = pick(creditReasons, chance(order, 'credit reason'))
    return units.size === 0
      ? null
      : buildEvent(order, name, {
          type: 'erp.credit.issued',
          data: { ...nameOrder(order), lines: listWithReason(order, units, reason) },
        })
  })
  return [accept, ...asked, short, ...parcels, rest, credit]
}

/** Parcels of one event, filled one after another with what may still be shipped. */
const packed = (order: DemoOrder, parcels: readonly Allotment[]): Allotment[] => {
  const left = new Map(order.lines.map((line) => [line.lineNumber, shippable(line)]))
  return parcels.map((parcel) => {
    const taken = upTo(order, parcel, (line) => left.get(line.lineNumber) ?? 0)
    for (const [lineNumber, quantity] of taken) left.set(lineNumber, (left.get(lineNumber) ?? 0) - quantity)
    return taken
  })
}

const settledStates = new Set(['confirmed', 'rejected', 'predicted', 'withdrawn'])

/** Decides the next step. `answered`: ids of events with a final answer of the daemon, positive or negative. */
export const decide = (order: DemoOrder, answered: ReadonlySet<string>): Decision => {
  if (order.commands.some((command) => command.state === 'held')) return { kind: 'held' }
  if (order.commands.some((command) => !settledStates.has(command.state))) return { kind: 'wait' }
  // This order is left to people who try events by hand.
  if (order.commands.some(({ eventSource }) => eventSource !== null && eventSource !== demoSource)) return { kind: 'finished' }
  const said = new Set(order.commands.filter((command) => command.eventSource === demoSource).map((command) => command.eventId))
  for (const step of listSteps(order)) {
    if (said.has(step.id) || answered.has(step.id)) continue
    const event = step.event()
    if (event === null) continue
    const [least, most] = step.paces
    return { kind: 'say', event, paces: least + (most - least) * chance(order, `pause before ${step.id}`) }
  }
  return { kind: 'finished' }
}
