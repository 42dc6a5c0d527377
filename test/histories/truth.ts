/** So many units of a line that stand in one state. */
interface TrueStatus {
  readonly status: 'Created' | 'Acknowledged' | 'Shipped' | 'Delivered' | 'Cancelled' | 'Refund'
  readonly units: number
  readonly trackingNumber: string | null
  readonly reason: string | null
}

/** Money given back, in cents. */
interface TrueRefund {
  readonly cents: number
  readonly taxCents: number
  readonly reason: string
}

/** A line as it truly is. Money is in cents and for all its units. */
export interface TrueLine {
  readonly lineNumber: string
  readonly units: number
  readonly priceCents: number
  readonly taxCents: number
  readonly statuses: readonly TrueStatus[]
  readonly refunds: readonly TrueRefund[]
}

/** An order as it truly is. Never changed in place. */
export interface TrueOrder {
  readonly purchaseOrderId: string
  readonly lines: readonly TrueLine[]
}

/** What is asked of one line in a request. `units` null: all that can be had. */
export interface AskedEntry {
  readonly lineNumber: string
  readonly units: number | null
  /** Tracking number or reason. */
  readonly mark: string
  readonly cents: number
  readonly taxCents: number
  /** The tracking number that is replaced. */
  readonly from?: string
}

/** What is asked of an order. */
export interface Asked {
  readonly kind: 'acknowledge' | 'ship' | 'cancel' | 'refund' | 'deliver' | 'correct'
  readonly entries: readonly AskedEntry[]
}

/** What happened to a line. */
export interface Happened {
  readonly lineNumber: string
  readonly units: number
  readonly cents: number
  /** Tracking number or reason, and the tracking number that it replaces. */
  readonly mark: string
  readonly from: string | null
  /** Units that came from nowhere. */
  readonly appeared: number
}

/** The order afterwards, or why it cannot be. */
export type Outcome =
  | { readonly ok: true; readonly order: TrueOrder; readonly happened: readonly Happened[] }
  | { readonly ok: false; readonly words: string }

/** How strict the marketplace is, and what it shows; see `Nature`. */
export interface TruthRules {
  readonly countsUnits: boolean
  readonly showsRefundedUnits: boolean
  readonly refundsKeepTracking: boolean
}

type Moved = Omit<TrueStatus, 'units'>

/** Moves units that are meant into another state; `missing`: how many there were not. */
const move = (
  line: TrueLine,
  isMeant: (entry: TrueStatus) => boolean,
  units: number | null,
  into: (entry: TrueStatus | null) => Moved,
): { readonly line: TrueLine; readonly moved: number; readonly missing: number } => {
  const there = line.statuses.reduce((sum, entry) => sum + (isMeant(entry) ? entry.units : 0), 0)
  const wanted = units ?? there
  let left = wanted
  const statuses = line.statuses.flatMap((entry): TrueStatus[] => {
    const taken = isMeant(entry) ? Math.min(left, entry.units) : 0
    if (taken === 0) return [entry]
    left -= taken
    const rest = entry.units - taken
    return [...(rest > 0 ? [{ ...entry, units: rest }] : []), { ...into(entry), units: taken }]
  })
  return { line: { ...line, statuses }, moved: wanted - left, missing: left }
}

/** Adds units from nowhere: a marketplace that does not count lets things happen twice. */
const appear = (line: TrueLine, units: number, into: Moved): TrueLine =>
  units === 0 ? line : { ...line, statuses: [...line.statuses, { ...into, units }] }

const fromStates = {
  acknowledge: ['Created'],
  ship: ['Acknowledged'],
  cancel: ['Created', 'Acknowledged'],
  refund: ['Shipped', 'Delivered'],
  deliver: ['Shipped'],
  correct: ['Shipped', 'Delivered'],
} as const satisfies Record<Asked['kind'], readonly TrueStatus['status'][]>

/** What is asked, as far as there are units for it. */
export const possible = (order: TrueOrder, asked: Asked): Asked => ({
  ...asked,
  entries: asked.entries.map((entry) => {
    const from: readonly TrueStatus['status'][] = fromStates[asked.kind]
    const line = order.lines.find(({ lineNumber }) => lineNumber === entry.lineNumber)
    const there = (line?.statuses ?? []).reduce((sum, each) => sum + (from.includes(each.status) ? each.units : 0), 0)
    return { ...entry, units: entry.units === null ? null : Math.min(entry.units, there) }
  }),
})

/** A marketplace that does not count units does not ask whether they were acknowledged either. */
const looselyFrom = { ...fromStates, ship: ['Acknowledged', 'Created'] } as const

const intoState = (asked: Asked['kind'], mark: string, rules: TruthRules, entry: TrueStatus | null): Moved => {
  const trackingNumber = entry?.trackingNumber ?? null
  switch (asked) {
    case 'acknowledge':
      return { status: 'Acknowledged', trackingNumber: null, reason: null }
    case 'ship':
      return { status: 'Shipped', trackingNumber: mark, reason: null }
    case 'correct':
      return { status: entry?.status ?? 'Shipped', trackingNumber: mark, reason: null }
    case 'cancel':
      return { status: 'Cancelled', trackingNumber: null, reason: mark }
    case 'deliver':
      return { status: 'Delivered', trackingNumber, reason: null }
    case 'refund':
      return { status: 'Refund', trackingNumber: rules.refundsKeepTracking ? trackingNumber : null, reason: null }
  }
}

/** Words of refusals, after the public facts, section 6.4. */
const refusalWords = (kind: Asked['kind'], purchaseOrderId: string, lineNumber: string): string => {
  switch (kind) {
    case 'acknowledge':
      return `Failed when called acknowledge API for '${purchaseOrderId}'. Some or all qty in higher status`
    case 'ship':
      return `Failed when called shipConfirm API for ${purchaseOrderId}. Qty OverShipped : line ${lineNumber}`
    case 'cancel':
      return `Unable to process this request. The Line: ${lineNumber} of PO: ${purchaseOrderId} is in SHIPPED status`
    case 'correct':
      return `Unable to process this request. The Line: ${lineNumber} of PO: ${purchaseOrderId} has no shipment with that tracking number`
    case 'refund':
    case 'deliver':
      return `Unable to process this request. The Line: ${lineNumber} of PO: ${purchaseOrderId} has nothing left to refund`
  }
}

/** Words that say that what is asked has been done before. */
export const alreadyDoneWords = (kind: Asked['kind'], order: TrueOrder): string =>
  kind === 'refund'
    ? `The Line: ${order.lines[0]?.lineNumber ?? '1'} of PO: ${order.purchaseOrderId} is already refunded`
    : refusalWords(kind, order.purchaseOrderId, order.lines[0]?.lineNumber ?? '1')

/** Units of a line that stand under a tracking number and are not refunded. */
export const countTracked = (line: TrueLine, trackingNumber: string): number =>
  line.statuses
    .filter((entry) => fromStates.correct.some((state) => state === entry.status) && entry.trackingNumber === trackingNumber)
    .reduce((sum, { units }) => sum + units, 0)

/** Does what is asked, all of it or nothing. */
export const happen = (order: TrueOrder, asked: Asked, rules: TruthRules): Outcome => {
  const lines = new Map(order.lines.map((line) => [line.lineNumber, line]))
  const happened: Happened[] = []
  const { kind } = asked
  for (const { lineNumber, units, mark, cents, taxCents, from: replaced = null } of asked.entries) {
    const line = lines.get(lineNumber)
    if (line === undefined) return { ok: false, words: `The Line: ${lineNumber} of PO ${order.purchaseOrderId} does not exist` }
    const refuse = (): Outcome => ({ ok: false, words: refusalWords(kind, order.purchaseOrderId, lineNumber) })
    const shows = kind !== 'refund' || rules.showsRefundedUnits
    const from: readonly TrueStatus['status'][] = rules.countsUnits ? fromStates[kind] : looselyFrom[kind]
    const isMeant = (entry: TrueStatus): boolean =>
      from.includes(entry.status) && (kind !== 'correct' || entry.trackingNumber === replaced)
    const step = move(line, isMeant, shows ? units : 0, (entry) => intoState(kind, mark, rules, entry))
    if (step.missing > 0 && rules.countsUnits && !(kind === 'correct' && step.moved > 0)) return refuse()
    // A marketplace that does not count takes a correction of a number that nothing has for a shipment.
    const appeared = kind === 'refund' || (kind === 'correct' && step.moved > 0) ? 0 : step.missing
    let after = step.line
    if (kind === 'refund') {
      const given = after.refunds.reduce((sum, refund) => sum + refund.cents + refund.taxCents, 0)
      const shipped = line.statuses.some((entry) => ['Shipped', 'Delivered', 'Refund'].includes(entry.status))
      if (rules.countsUnits && (!shipped || given + cents + taxCents > line.priceCents + line.taxCents)) return refuse()
      if (cents + taxCents > 0) after = { ...after, refunds: [...after.refunds, { cents, taxCents, reason: mark }] }
    } else after = appear(after, appeared, intoState(kind, mark, rules, null))
    lines.set(lineNumber, after)
    const count = shows ? step.moved + appeared : (units ?? 0)
    const done = { units: kind === 'refund' && units !== null ? units : count, cents: cents + taxCents }
    happened.push({ lineNumber, ...done, mark, from: replaced, appeared })
  }
  const moved = happened.some(({ units, cents }) => units > 0 || cents > 0)
  if (kind === 'acknowledge' && !moved && rules.countsUnits) {
    return { ok: false, words: refusalWords(kind, order.purchaseOrderId, order.lines[0]?.lineNumber ?? '1') }
  }
  return {
    ok: true,
    order: { ...order, lines: order.lines.map((line) => lines.get(line.lineNumber) ?? line) },
    happened: happened.filter(({ units, cents }) => units > 0 || cents > 0),
  }
}

const money = (cents: number) => ({ currency: 'USD', amount: cents / 100 })
const quantity = (units: number) => ({ unitOfMeasurement: 'EACH', amount: String(units) })

/** Stands in an order for a number that no column of Postgres holds; JSON.stringify cannot write one. */
export const tooWideNumber = 'a number that is too wide'

/** The order as the marketplace writes it (public facts, section 2.5). */
export const orderOnTheWire = (order: TrueOrder, unstorable = false): object => ({
  purchaseOrderId: order.purchaseOrderId,
  customerOrderId: `9${order.purchaseOrderId}`,
  orderDate: Date.UTC(2026, 10, 1),
  shippingInfo: {
    phone: '5550100',
    methodCode: 'Standard',
    postalAddress: {
      name: 'A. Buyer',
      address1: '1 Main Street',
      city: 'Springfield',
      state: 'IL',
      postalCode: '62701',
      country: 'USA',
    },
  },
  shipNode: { type: 'SellerFulfilled' },
  orderLines: {
    orderLine: order.lines.map((line) => ({
      lineNumber: line.lineNumber,
      item: { productName: 'Kettle', sku: `SKU-${line.lineNumber}`, ...(unstorable ? { weight: tooWideNumber } : {}) },
      charges: {
        charge: [
          {
            chargeType: 'PRODUCT',
            chargeName: 'ItemPrice',
            chargeAmount: money(line.priceCents),
            tax: line.taxCents === 0 ? null : { taxName: 'Tax1', taxAmount: money(line.taxCents) },
          },
        ],
      },
      orderLineQuantity: quantity(line.units),
      statusDate: Date.UTC(2026, 10, 1),
      orderLineStatuses: {
        orderLineStatus: line.statuses.map((entry) => ({
          status: entry.status,
          statusQuantity: quantity(entry.units),
          ...(entry.reason === null ? {} : { cancellationReason: entry.reason }),
          trackingInfo:
            entry.trackingNumber === null
              ? null
              : {
                  shipDateTime: Date.UTC(2026, 10, 2),
                  carrierName: { carrier: 'UPS' },
                  methodCode: 'Standard',
                  trackingNumber: entry.trackingNumber,
                },
        })),
      },
      ...(line.refunds.length === 0
        ? {}
        : {
            refund: {
              refundCharges: {
                refundCharge: line.refunds.map(({ cents, taxCents, reason }) => ({
                  refundReason: reason,
                  charge: {
                    chargeType: 'PRODUCT',
                    chargeName: 'ItemPrice',
                    chargeAmount: money(-cents),
                    tax: taxCents === 0 ? null : { taxName: 'Tax1', taxAmount: money(-taxCents) },
                  },
                })),
              },
            },
          }),
    })),
  },
})
