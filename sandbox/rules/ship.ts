import type { z } from 'zod'
import { dayMs, hourMs } from '../core/duration.ts'
import { refuseContent } from '../core/errors.ts'
import type { Dialect } from '../settings.ts'
import { readBody, shipmentBody } from './bodies.ts'
import { findLine, refuseMarketplaceFulfilled } from './lines.ts'
import type { EffectDraft, Line, Order, Parcel } from './model.ts'
import { readQuantity } from './quantity.ts'
import { putUnits, takeUnits, unitsIn } from './units.ts'
import { carriers, methodCodes } from './vocabulary.ts'

/** Below this a ship time must be seconds, above now (plus clock differences) it lies in the future: both are refused. */
const earliestShipTimeMs = 1_000_000_000_000
const trackingChangeWindowMs = 4 * hourMs

type ShippedEntry = z.infer<
  typeof shipmentBody
>['orderShipment']['orderLines']['orderLine'][number]['orderLineStatuses']['orderLineStatus'][number]

/** Ships the units that the body names; any faulty line refuses the whole request (specification, section 9, rule 3). */
export const ship = (order: Order, body: unknown, dialect: Dialect, now: number): EffectDraft[] => {
  const { orderShipment } = readBody(shipmentBody, body)
  refuseMarketplaceFulfilled(order, 'shipped')
  const effects: EffectDraft[] = []
  const onlyTracking = orderShipment.processMode === 'PARTIAL_UPDATE'
  for (const asked of orderShipment.orderLines.orderLine) {
    const line = findLine(order, asked.lineNumber)
    if (line.intentToCancelAt !== null && asked.intentToCancelOverride !== true) {
      throw refuseContent(
        `Unable to process this request. The buyer asked to cancel Line: ${line.lineNumber} of PO: ${order.purchaseOrderId}; set intentToCancelOverride to ship it`,
      )
    }
    for (const entry of asked.orderLineStatuses.orderLineStatus) {
      if (entry.status !== 'Shipped') throw refuseContent(`status must be Shipped in line number ${line.lineNumber}`, 'status')
      const parcel = readParcel(order, line, entry, dialect, now)
      if (onlyTracking) effects.push(changeTracking(order, line, parcel, entry.currentTrackingInfo?.trackingNumber ?? null, now))
      else effects.push(shipUnits(order, line, parcel, readQuantity(entry, dialect.quantityField, line.lineNumber)))
    }
    line.sellerOrderId = asked.sellerOrderId ?? line.sellerOrderId
    line.statusDate = now
  }
  return effects
}

const shipUnits = (order: Order, line: Line, parcel: Parcel, quantity: number): EffectDraft => {
  const left = unitsIn(line, 'Acknowledged')
  const shipped = unitsIn(line, 'Shipped', 'Delivered', 'Refund')
  const where = `The Line: ${line.lineNumber} of PO: ${order.purchaseOrderId}`
  if (left === 0) {
    const state = unitsIn(line, 'Created') > 0 ? 'CREATED' : shipped > 0 ? 'SHIPPED' : 'CANCELLED'
    throw refuseContent(`Unable to process this request. ${where} is in ${state} status`)
  }
  if (quantity > left) {
    throw refuseContent(
      shipped > 0
        ? `Failed when called shipConfirm API for ${order.purchaseOrderId}. Qty OverShipped : ${quantity - left} in line ${line.lineNumber}`
        : `Unable to process this request. ${where} doesn't have enough quantity to ship requested quantity`,
    )
  }
  takeUnits(line, quantity, 'Acknowledged')
  putUnits(line, { state: 'Shipped', quantity, parcel })
  return { lineNumber: line.lineNumber, kind: 'shipped', quantity, from: 'Acknowledged', trackingNumber: parcel.trackingNumber }
}

const readParcel = (order: Order, line: Line, entry: ShippedEntry, dialect: Dialect, now: number): Parcel => {
  const info = entry.trackingInfo
  const inLine = `in line number ${line.lineNumber}`
  const shippedAt =
    typeof info.shipDateTime === 'string' && /^\d+$/.test(info.shipDateTime) ? Number(info.shipDateTime) : info.shipDateTime
  if (
    typeof shippedAt !== 'number' ||
    !Number.isSafeInteger(shippedAt) ||
    shippedAt < earliestShipTimeMs ||
    shippedAt > now + dayMs
  ) {
    throw refuseContent(`Invalid shipDateTime ${inLine}: epoch milliseconds not after the present are accepted`, 'shipDateTime')
  }
  const methodCode = info.methodCode ?? order.methodCode
  if (!methodCodes.has(methodCode)) throw refuseContent(`Method code is not supported ${inLine}`, 'methodCode')
  const carrier = info.carrierName.carrier ?? null
  const otherCarrier = info.carrierName.otherCarrier ?? null
  if ((carrier === null) === (otherCarrier === null)) {
    throw refuseContent(`Either carrier or otherCarrier is required ${inLine}`, 'carrierName')
  }
  if (dialect.closedCarriers && carrier !== null && !carriers.has(carrier.toLowerCase())) {
    throw refuseContent(`Carrier is not supported ${inLine}`, 'carrier')
  }
  const trackingUrl = info.trackingURL ?? null
  if (otherCarrier !== null && (trackingUrl === null || trackingUrl === '')) {
    throw refuseContent(`trackingURL is required with otherCarrier ${inLine}`, 'trackingURL')
  }
  return { shippedAt, carrier, otherCarrier, methodCode, trackingNumber: String(info.trackingNumber), trackingUrl }
}

/** `processMode: PARTIAL_UPDATE`: other tracking for what is shipped already; no unit moves (public facts, section 3.2). */
const changeTracking = (order: Order, line: Line, parcel: Parcel, oldNumber: string | null, now: number): EffectDraft => {
  const shipped = line.entries.filter((entry) => entry.state === 'Shipped')
  const named = oldNumber === null ? shipped : shipped.filter((entry) => entry.parcel?.trackingNumber === oldNumber)
  const entry = named[0]
  if (entry === undefined || named.length > 1) {
    throw refuseContent(
      `Unable to process this request. The Line: ${line.lineNumber} of PO: ${order.purchaseOrderId} has no single shipment with that tracking number`,
    )
  }
  if (entry.parcel !== undefined && now - entry.parcel.shippedAt > trackingChangeWindowMs) {
    throw refuseContent(`Tracking of line number ${line.lineNumber} may no longer be changed`)
  }
  line.entries = line.entries.filter((one) => one !== entry)
  putUnits(line, { ...entry, parcel })
  const { quantity } = entry
  return { lineNumber: line.lineNumber, kind: 'corrected', quantity, from: 'Shipped', trackingNumber: parcel.trackingNumber }
}
