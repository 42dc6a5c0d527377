import type { z } from 'zod'
import { withPublishedCarriers } from '../campaigns/shipping-settings.ts'
import type {
  CancelPayload,
  PlannedCommand,
  RefundCharge,
  RefundLine,
  RefundPayload,
  ShipPayload,
  ShippingSettingsContent,
} from '../commands/command.ts'
import { findInboundTimes, type InboundShipment } from '../inventory/inbound-receipts.ts'
import { listLinesToCancel } from '../orders/cancel-intent.ts'
import { publishedSpelling } from '../orders/carriers.ts'
import type { DecimalText, OrderLine, PurchaseOrder } from '../orders/order.ts'
import { done, type LedgerCommand, type LineLedger } from '../orders/units.ts'
import { describeRefunds } from '../refunds/refund-money.ts'
import {
  finerThanCurrency,
  fullPriceGivesBack,
  minorDigits,
  productShare,
  type RefundResult,
  type RefundWords,
  refundOfAmount,
  refundOfSlots,
  refundTotal,
  sameCurrency,
  slotsWithMoney,
  splitByWeight,
} from '../refunds/refunds.ts'
import { type Allotment, type AllotmentEntry, allot } from '../sync/allotment.ts'
import type { StatusWords, Vocabulary } from '../values/vocabulary.ts'
import { planCorrection } from './correction-planning.ts'
import { type EventContent, type EventOptions, eventFaults, type ReadEvent } from './event-reading.ts'
import {
  type dispatchedSchema,
  type EventFault,
  erpEventTypes,
  inboundEventType,
  isOrderEventType,
  type OrderEvent,
  type OrderEventType,
  returnEventType,
  sellerEventTypes,
  settingsEventType,
  type unfulfillableSchema,
} from './event-shape.ts'

/** The commands of an event and the ledgers with their units reserved, or every fault and nothing else. */
export type PlanResult =
  | { readonly ok: true; readonly commands: readonly PlannedCommand[]; readonly ledgers: readonly LineLedger[] }
  | { readonly ok: false; readonly faults: readonly EventFault[] }

/** Data of an order that the marketplace does not show, and settings. */
export interface PlanOptions extends EventOptions {
  /** A command to acknowledge the order is pending or done. Default: none is. */
  readonly acknowledging?: boolean
  /** How a shipment of units that are still Created is handled; default: `acknowledge-first`. */
  readonly shipUnacknowledged?: 'acknowledge-first' | 'refuse'
  /** Whether the marketplace also refunds tax and shipping when the whole product price of a line is requested (public facts 3.4). */
  readonly fullPriceRefundsAll?: boolean
  /** Whether the marketplace lets the tracking number of shipped units be changed. Default: it does not. */
  readonly correctsShipments?: boolean
  /**
   * Commands on the order, in their order, those of events planned before among them; for the reason why units cannot be refunded again, and for
   * the tracking numbers that a correction may name.
   */
  readonly commands?: readonly LedgerCommand[]
}

/**
 * Derives commands from an event and reserves their units, or reports all faults.
 *
 * Lines named by SKU take units from the order's lines with that SKU, in line order, as far as each line has units left for
 * that purpose. Entries that name a line number are served first, so that an entry by SKU never takes the units of another
 * entry that can come from one line only. What does not fit rejects the whole event.
 *
 * An acknowledgement of an order that is already acknowledged is a command like any other; it confirms itself once
 * the order has been read. Only an order that is cancelled wholly refuses it.
 *
 * Units that are still Created cannot be shipped (public facts 2.6): they are acknowledged first, by a separate command, unless one
 * is pending or done.
 */
export const planCommands = (
  event: ReadEvent,
  order: PurchaseOrder,
  ledgers: readonly LineLedger[],
  options: PlanOptions,
): PlanResult => {
  const { vocabulary } = options
  const faults: EventFault[] = [...eventFaults(event, options), ...orderFaults(event, order, ledgers, vocabulary)]
  const content = event.content === null || isOtherEvent(event.content) ? null : event.content
  if (sellerEventTypes.includes(event.type) || event.type === returnEventType) faults.push(foreignType)
  const kind = isOrderEventType(event.type) ? commandKinds[event.type] : null
  if (kind === null || kind === 'acknowledge') {
    if (content === null || faults.length > 0) return { ok: false, faults }
    return { ok: true, commands: [{ kind: 'acknowledge', purchaseOrderId: order.purchaseOrderId, payload: {} }], ledgers }
  }
  if (kind === 'correct-shipment') return planShipmentCorrection(content, faults, order, ledgers, options)
  const allotment = allot(
    selectValidEntries(event),
    kind,
    ledgers,
    kind === 'refund' ? indexSlotsWithMoney(order, vocabulary) : undefined,
  )
  faults.push(...(kind === 'refund' ? withRefunds(allotment.faults, event, order, ledgers, options) : allotment.faults))
  const credits = kind === 'refund' ? creditLines(event, order, allotment, options) : { lines: [], faults: [] }
  faults.push(...credits.faults)
  const created = kind === 'ship' && options.acknowledging !== true ? createdLines(order, allotment, vocabulary) : []
  if (kind === 'ship') faults.push(...intentFaults(event, order, allotment, vocabulary))
  if (created.length > 0 && options.shipUnacknowledged === 'refuse') {
    const message = `names an order whose line ${created.join(', ')} is still ${vocabulary.statuses.findWord('created')}: acknowledge it first, by erp.order.accepted`
    faults.push({ path: 'data.purchaseOrderId', message })
  }
  if (content === null || content.type === correctedType || faults.length > 0) return { ok: false, faults }
  const command = buildCommand(content, order, allotment, credits.lines, vocabulary.carriers)
  const first: PlannedCommand = { kind: 'acknowledge', purchaseOrderId: order.purchaseOrderId, payload: {} }
  return { ok: true, commands: created.length > 0 ? [first, command] : [command], ledgers: allotment.ledgers }
}

const correctedType = 'erp.shipment.corrected'

/** The command that corrects a shipment; none if the number was corrected so before. */
const planShipmentCorrection = (
  content: OrderEvent | null,
  faults: EventFault[],
  order: PurchaseOrder,
  ledgers: readonly LineLedger[],
  { vocabulary, correctsShipments = false, commands = [] }: PlanOptions,
): PlanResult => {
  if (!correctsShipments) faults.push(noCorrections)
  if (content === null || content.type !== correctedType || !correctsShipments) return { ok: false, faults }
  const plan = planCorrection(content.data, order, commands, vocabulary)
  if (!plan.ok) faults.push(...plan.faults)
  if (!plan.ok || faults.length > 0) return { ok: false, faults }
  if (plan.payload === null) return { ok: true, commands: [], ledgers }
  const { purchaseOrderId } = order
  return { ok: true, commands: [{ kind: 'correct-shipment', purchaseOrderId, payload: plan.payload }], ledgers }
}

/** The fault of a correction at a marketplace that has none (the specification names no way to change what was shipped). */
const noCorrections: EventFault = {
  path: 'type',
  message:
    'is erp.shipment.corrected, but the marketplace of this profile has no way to change a reported tracking number: change it in its seller center, and send the buyer the right one',
}

const isOtherEvent = (content: EventContent): content is Exclude<EventContent, OrderEvent> =>
  content.type === settingsEventType || content.type === inboundEventType || content.type === returnEventType

/** Faults of units that cannot be refunded, with the refunds of their lines before. */
const withRefunds = (
  faults: readonly EventFault[],
  event: ReadEvent,
  order: PurchaseOrder,
  ledgers: readonly LineLedger[],
  { commands = [] }: PlanOptions,
): EventFault[] =>
  faults.map(({ path, message }) => {
    const line = event.entries.find((entry) => path === `${entry.path}.quantity`)?.line
    const refunds = ledgers.flatMap((ledger) => {
      const isMeant = line !== undefined && line !== null && (ledger.lineNumber === line.lineNumber || ledger.sku === line.sku)
      const of = order.lines.find(({ lineNumber }) => lineNumber === ledger.lineNumber)
      return (isMeant && of !== undefined ? describeRefunds(of, ledger, commands) : null) ?? []
    })
    return { path, message: [message, ...refunds].join('. ') }
  })

/** Numbers of the lines with allotted units of which some are still Created. */
const createdLines = (order: PurchaseOrder, allotment: Allotment, { statuses }: Vocabulary): string[] => {
  const given = new Set([...allotment.pieces.values()].flatMap((pieces) => pieces.map((piece) => piece.lineNumber)))
  return order.lines.filter((line) => given.has(line.lineNumber) && isCreated(line, statuses)).map((line) => line.lineNumber)
}

const isCreated = ({ statuses, units, ordered }: OrderLine, { findState }: StatusWords): boolean => {
  if (statuses.length === 0) return units.acknowledged + units.cancelled < ordered
  return statuses.some(({ status, quantity }) => findState(status) === 'created' && quantity > 0)
}

/** Lines whose buyer has asked to cancel are shipped only when the entry says so: the marketplace refuses the request otherwise. */
const intentFaults = (
  event: ReadEvent,
  order: PurchaseOrder,
  allotment: Allotment,
  { buyerCancelReason }: Vocabulary,
): EventFault[] => {
  const asked = listLinesToCancel(order)
  return event.entries.flatMap(({ path, intentToCancelOverride }) => {
    const lines = (allotment.pieces.get(path) ?? [])
      .filter((piece) => asked.has(piece.lineNumber))
      .map((piece) => piece.lineNumber)
    if (lines.length === 0 || intentToCancelOverride) return []
    const message = `must be true to ship line ${lines.join(', ')}, whose buyer has asked to cancel; or cancel it for ${buyerCancelReason}`
    return [{ path: `${path}.intentToCancelOverride`, message }]
  })
}

/** Existing account-level settings, with the time at which the marketplace last showed them. */
export interface KnownSettings {
  readonly observedAt: Date
}

/**
 * Derives the command that creates shipping settings from its event, or reports all faults. Existing settings are a fault: there is
 * one account-level setting per seller, and creating it a second time fails (specification, section 4).
 */
export const planSettings = (
  event: ReadEvent,
  existing: KnownSettings | null,
  options: EventOptions,
):
  | { readonly ok: true; readonly command: ShippingSettingsContent }
  | { readonly ok: false; readonly faults: readonly EventFault[] } => {
  const faults = eventFaults(event, options)
  const content = event.content?.type === settingsEventType ? event.content : null
  if (event.type !== settingsEventType) faults.push(foreignType)
  if (existing !== null) {
    const message = `cannot be created: account-level settings exist already, as seen on ${existing.observedAt.toISOString()}`
    faults.push({ path: 'data.simplifiedShippingSettings', message })
  }
  if (content === null || faults.length > 0) return { ok: false, faults }
  const { settingsCarriers } = options.vocabulary
  const simplifiedShippingSettings = withPublishedCarriers(content.data.simplifiedShippingSettings, settingsCarriers)
  return { ok: true, command: { kind: 'create-shipping-settings', payload: { simplifiedShippingSettings } } }
}

/** The inbound shipment that an event states, or every fault. It has no command. */
export const planInbound = (
  event: ReadEvent,
  options: EventOptions,
): { readonly ok: true; readonly shipment: InboundShipment } | { readonly ok: false; readonly faults: readonly EventFault[] } => {
  const faults = eventFaults(event, options)
  const content = event.content?.type === inboundEventType ? event.content : null
  if (content === null || faults.length > 0) return { ok: false, faults }
  const { shipmentId, shippedAt, expectedBy, deliveredAt, lines } = content.data
  return { ok: true, shipment: { shipmentId, ...findInboundTimes(shippedAt, expectedBy ?? null, deliveredAt ?? null), lines } }
}

/** The fault of an event that is about something else. */
const foreignType: EventFault = { path: 'type', message: `must be one of ${erpEventTypes.join(', ')}` }

const commandKinds = {
  'erp.order.accepted': 'acknowledge',
  'erp.shipment.dispatched': 'ship',
  'erp.lines.unfulfillable': 'cancel',
  'erp.credit.issued': 'refund',
  'erp.shipment.corrected': 'correct-shipment',
} as const satisfies Record<OrderEventType, PlannedCommand['kind']>

const buildCommand = (
  event: Exclude<OrderEvent, { type: typeof correctedType }>,
  order: PurchaseOrder,
  allotment: Allotment,
  credits: readonly RefundLine[],
  carriers: ReadonlySet<string> | null,
): PlannedCommand => {
  const { purchaseOrderId } = order
  switch (event.type) {
    case 'erp.order.accepted':
      return { kind: 'acknowledge', purchaseOrderId, payload: {} }
    case 'erp.shipment.dispatched':
      return { kind: 'ship', purchaseOrderId, payload: shipPayload(event.data, allotment, carriers) }
    case 'erp.lines.unfulfillable':
      return { kind: 'cancel', purchaseOrderId, payload: cancelPayload(event.data, allotment) }
    case 'erp.credit.issued': {
      const payload: RefundPayload = { lines: [...credits] }
      return { kind: 'refund', purchaseOrderId, payload }
    }
  }
}

const shipPayload = (
  data: z.infer<typeof dispatchedSchema>,
  allotment: Allotment,
  carriers: ReadonlySet<string> | null,
): ShipPayload => ({
  parcels: data.parcels.map((parcel, parcelIndex) => {
    const lines = new Map<string, ShipPayload['parcels'][number]['lines'][number]>()
    for (const [index, { intentToCancelOverride }] of parcel.lines.entries()) {
      for (const { lineNumber, quantity } of allotment.pieces.get(`data.parcels[${parcelIndex}].lines[${index}]`) ?? []) {
        const line = lines.get(lineNumber) ?? { lineNumber, quantity: 0 }
        line.quantity += quantity
        if (intentToCancelOverride === true) line.intentToCancelOverride = true
        lines.set(lineNumber, line)
      }
    }
    return {
      carrier: (carriers === null ? null : publishedSpelling(carriers, parcel.carrier)) ?? parcel.carrier,
      trackingNumber: parcel.trackingNumber,
      trackingUrl: parcel.trackingUrl ?? null,
      method: parcel.method ?? null,
      shippedAt: parcel.shippedAt,
      lines: [...lines.values()],
    }
  }),
})

const cancelPayload = (data: z.infer<typeof unfulfillableSchema>, allotment: Allotment): CancelPayload => {
  const lines: CancelPayload['lines'] = []
  for (const [index, { reason }] of data.lines.entries()) {
    for (const { lineNumber, quantity } of allotment.pieces.get(`data.lines[${index}]`) ?? []) {
      const same = lines.find((line) => line.lineNumber === lineNumber && line.reason === reason)
      if (same === undefined) lines.push({ lineNumber, quantity, reason })
      else same.quantity += quantity
    }
  }
  return { lines }
}

/** The slots of each line that have money. */
const indexSlotsWithMoney = (order: PurchaseOrder, words: RefundWords): ((lineNumber: string) => (slot: number) => boolean) => {
  const byLine = new Map(order.lines.map((line) => [line.lineNumber, slotsWithMoney(line, words)]))
  return (lineNumber) => byLine.get(lineNumber) ?? (() => true)
}

/** The money of each piece of a credit; an amount for units of several lines is split by the product charges of those units. */
const creditLines = (
  event: ReadEvent,
  order: PurchaseOrder,
  allotment: Allotment,
  { vocabulary, fullPriceRefundsAll = false }: PlanOptions,
): { lines: RefundLine[]; faults: EventFault[] } => {
  const lines: RefundLine[] = []
  const asked = new Map<OrderLine, AskedMoney>()
  const faults: EventFault[] = []
  for (const { path, credit } of event.entries) {
    if (credit === null) continue
    const { amount, currency, reason } = credit
    const pieces = (allotment.pieces.get(path) ?? []).flatMap((piece) => {
      const line = order.lines.find((candidate) => candidate.lineNumber === piece.lineNumber)
      return line === undefined ? [] : [{ ...piece, line }]
    })
    const foreign = pieces.find(({ line }) => !chargedIn(line, currency ?? null))
    if (foreign !== undefined) {
      faults.push({
        path: `${path}.currency`,
        message: `line ${foreign.lineNumber} is charged in ${findCurrency(foreign.line)}, not in ${currency}`,
      })
      continue
    }
    const named = amount === undefined || amount === null ? null : amount
    const unsplittable = named === null ? null : splitFault(named, pieces, vocabulary)
    if (unsplittable !== null) {
      faults.push({ path: `${path}.amount`, message: unsplittable })
      continue
    }
    const amounts = named === null ? null : splitAmount(named, pieces, vocabulary)
    for (const [index, { line, quantity, slots }] of pieces.entries()) {
      const part = amounts?.[index]
      const refund: RefundResult =
        part === undefined ? refundOfSlots(line, slots, vocabulary) : refundOfAmount(line, slots, part, vocabulary)
      const at = part === undefined ? path : `${path}.amount`
      if (refund.ok) {
        lines.push({ lineNumber: line.lineNumber, quantity, reason, charges: refund.charges, slots: [...slots] })
        const before = asked.get(line)
        const charges = [...(before?.charges ?? []), ...refund.charges]
        asked.set(
          line,
          before === undefined || before.amount === null ? { charges, path: at, amount: part ?? null } : { ...before, charges },
        )
      } else faults.push({ path: at, message: refund.message })
    }
  }
  if (fullPriceRefundsAll) for (const [line, money] of asked) faults.push(...fullPriceFaults(line, money, vocabulary))
  return { lines, faults }
}

/** The refund of one line that an event requests. */
interface AskedMoney {
  readonly charges: readonly RefundCharge[]
  /** The entry that names an amount, or any where none does. */
  readonly path: string
  readonly amount: DecimalText | null
}

/** Faults of a credit that requests the whole product price of a line where that would refund more than requested. */
const fullPriceFaults = (line: OrderLine, { charges, path, amount }: AskedMoney, words: RefundWords): EventFault[] => {
  const all = fullPriceGivesBack(line, charges, words)
  if (all === null) return []
  const what = `the whole product price of line ${line.lineNumber}, for which the marketplace would give back ${all} ${findCurrency(line)}`
  const message =
    amount === null
      ? `asks for ${what} instead of ${refundTotal(charges)}; credit these units one by one, or name an amount below the price`
      : `the amount ${amount} comes to ${what}, tax and shipping too; leave amount out to give back everything of these units, or name less`
  return [{ path, message }]
}

/** Units of one line that an amount is divided over. */
interface Piece {
  readonly line: OrderLine
  readonly slots: readonly number[]
}

/** Why an amount cannot be divided over the lines of its entry; null if it can. The whole amount is checked, not its parts. */
const splitFault = (amount: DecimalText, pieces: readonly Piece[], words: RefundWords): string | null => {
  const currencies = new Set(pieces.map(({ line }) => findCurrency(line)?.toUpperCase() ?? null))
  const [currency] = currencies
  if (currency === undefined || pieces.length === 1) return null
  const lines = pieces.map(({ line }) => line.lineNumber).join(', ')
  if (currencies.size > 1) return `the lines ${lines} are charged in different currencies; name each line by its number`
  const finer = currency === null ? null : finerThanCurrency(amount, currency)
  if (finer !== null) return finer
  const empty = splitAmount(amount, pieces, words).findIndex((part) => !/[1-9]/.test(part))
  if (empty === -1 || !/[1-9]/.test(amount)) return null
  return `the amount ${amount} leaves nothing for line ${pieces[empty]?.line.lineNumber} of the lines ${lines}; name each line by its number`
}

const splitAmount = (amount: DecimalText, pieces: readonly Piece[], words: RefundWords): DecimalText[] => {
  if (pieces.length <= 1) return pieces.map(() => amount)
  const digits = minorDigits(pieces[0] === undefined ? '' : (findCurrency(pieces[0].line) ?? '')) ?? 0
  return splitByWeight(
    amount,
    pieces.map(({ line, slots }) => productShare(line, slots, words) ?? '0'),
    digits,
  )
}

/** Whether a line is charged in this currency; a line or a credit that names none does not contradict. */
const chargedIn = (line: OrderLine, currency: string | null): boolean => {
  const own = findCurrency(line)
  return own === null || currency === null || sameCurrency(own, currency)
}

const findCurrency = (line: OrderLine): string | null => line.currency ?? line.charges[0]?.currency ?? null

/** Whether the seller does this only with orders that it ships itself. */
const isSellersOwn = (kind: PlannedCommand['kind']): boolean =>
  kind === 'ship' || kind === 'cancel' || kind === 'correct-shipment'

/** Faults of the event as a whole against its order. */
const orderFaults = (
  event: ReadEvent,
  order: PurchaseOrder,
  ledgers: readonly LineLedger[],
  { shipNodes }: Vocabulary,
): EventFault[] => {
  const faults: EventFault[] = []
  const path = 'data.purchaseOrderId'
  const { address } = event
  if (address !== null && address.purchaseOrderId !== order.purchaseOrderId) {
    faults.push({ path, message: `is ${address.purchaseOrderId}, but the order is ${order.purchaseOrderId}` })
  }
  const kind = isOrderEventType(event.type) ? commandKinds[event.type] : null
  if (kind !== null && isSellersOwn(kind) && order.shipNodeType?.toLowerCase() === shipNodes.marketplace.toLowerCase()) {
    faults.push({
      path,
      message: `the marketplace fulfils this order itself, the seller cannot ${kind === 'correct-shipment' ? 'correct' : kind} it`,
    })
  }
  if (kind === 'acknowledge' && ledgers.length > 0 && ledgers.every((ledger) => done(ledger, 'cancel') >= ledger.ordered)) {
    faults.push({ path, message: 'every unit of the order is cancelled, nothing is left to acknowledge' })
  }
  return faults
}

/** The entries that are valid by themselves: they are allotted even when others are invalid, so that all faults are reported at once. */
const selectValidEntries = (event: ReadEvent): AllotmentEntry[] =>
  event.entries.flatMap(({ path, line }) => {
    if (line === null) return []
    const lineNumber = line.lineNumber ?? null
    const sku = line.sku ?? null
    return (lineNumber === null) === (sku === null) ? [] : [{ path, lineNumber, sku, quantity: line.quantity }]
  })
