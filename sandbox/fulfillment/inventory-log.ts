import type { Call, Operation } from '../calls/operation.ts'
import { blemishRecords } from '../calls/perform.ts'
import { maxOffset, type Query, readWhole } from '../calls/query.ts'
import { dayMs, minuteMs } from '../core/duration.ts'
import { isDay, parseMoment } from '../core/moment.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { perMinute } from '../faults/limits.ts'
import { listFaults } from '../faults/schema.ts'
import type { World } from '../world.ts'
import { requireEnrolment } from './enrolment.ts'
import type { Item } from './model.ts'
import { gtinParameter, noSuchItem, refuseValue, required, wordParameter } from './parameters.ts'
import { liveOn } from './simulation.ts'
import type { LogEntry, LogFilter, LogOrder } from './store.ts'

const defaultLimit = 50
const maxLimit = 200
/** Without a start, and at most (public facts, section 7.1). */
const defaultDays = 90
const maxDays = 365

const sortColumns = {
  gtin: null,
  changedUnits: 'units',
  transactionReasonCode: 'reason_code',
  transactionType: 'type',
  shipmentId: 'shipment_id',
} as const

/** `GET /v3/fulfillment/inventory-log` (specification, section 7): newest first unless sorted, by offset over a log that grows. */
export const inventoryLog: Operation = {
  name: 'inventory-log.list',
  limit: perMinute(500),
  method: 'GET',
  urls: ['/v3/fulfillment/inventory-log'],
  admission: 'marketplace',
  body: 'none',
  writes: false,
  errorShape: 'flat',
  faults: [...listFaults, 'emptyListInsteadOf404'],
  perform: (world, call, plan, now) => ({ json: listLog(world, call, plan, now) }),
}

const listLog = (world: World, { sellerId, query }: Call, plan: FaultPlan, now: number): unknown => {
  requireEnrolment(world, sellerId, 'fulfillment')
  const filter: LogFilter = {
    ...bounds(query, now),
    now,
    shipmentId: query.get('shipmentId'),
    type: wordParameter(query, 'transactionType', ['Receipt', 'Adjustment', 'Ship', 'Return']),
    location: wordParameter(query, 'transactionLocation', ['Salvage', 'Inventory']),
  }
  const sorted = wordParameter(query, 'sort_by', [
    'gtin',
    'changedUnits',
    'transactionReasonCode',
    'transactionType',
    'shipmentId',
  ])
  const order: LogOrder = {
    column: sorted === null ? null : sortColumns[sorted],
    direction: wordParameter(query, 'sort_order', ['ASC', 'DESC']) ?? (sorted === null ? 'DESC' : 'ASC'),
  }
  const limit = readWhole(query, 'limit', defaultLimit, [1, maxLimit], refuseValue)
  const offset = readWhole(query, 'offset', 0, [0, maxOffset], refuseValue)
  const key = buildKey(world, query)
  liveOn(world, sellerId, now)
  world.inventory.seen(sellerId, now)
  const item =
    key.sku === null ? (world.inventory.itemsOfGtin(sellerId, key.gtin)[0] ?? null) : world.inventory.item(sellerId, key.sku)
  if (item === null) {
    if (!plan.emptyList) throw noSuchItem()
    return { headers: { limit, offset, totalCount: 0 }, payload: { inventoryLog: [] } }
  }
  const entries = world.inventory.log(item, filter, order, limit, offset).map(viewEntry)
  return {
    headers: { limit, offset, totalCount: world.inventory.countLog(item, filter) },
    payload: buildPayload(item, blemishRecords(entries, 'id', plan)),
  }
}

/** By SKU in the specification, by GTIN on the live service, where that parameter is required (public facts, section 7.1). */
const buildKey = ({ settings }: World, query: Query): { sku: string; gtin: null } | { sku: null; gtin: string } =>
  settings.dialect.fulfillment.logKey === 'gtin'
    ? { sku: null, gtin: gtinParameter(required(query, 'gtin')) }
    : { sku: required(query, 'sellerSku'), gtin: null }

const bounds = (query: Query, now: number): { readonly from: number; readonly to: number } => {
  const from = moment(query, 'startDate', 0)
  const to = moment(query, 'endDate', dayMs - 1)
  // Whole days: the day that was 365 days ago may still be asked for, from its first moment on, also by who asked a moment before midnight.
  const oldest = Math.floor((now - maxDays * dayMs - minuteMs) / dayMs) * dayMs
  if (from !== null && from < oldest) throw refuseValue('startDate', `startDate must not be more than ${maxDays} days back`)
  const start = from ?? now - defaultDays * dayMs
  if (start > (to ?? now)) throw refuseValue('startDate', 'startDate must not be after endDate')
  return { from: start, to: to ?? now }
}

/** A date-time, or a whole UTC day, whose last moment is `dayLength` later than its first. */
const moment = (query: Query, name: string, dayLength: number): number | null => {
  const value = query.get(name)
  if (value === null) return null
  const at = parseMoment(value)
  if (at === null) throw refuseValue(name, `${name} must be an ISO 8601 date-time or a day, YYYY-MM-DD`)
  return isDay(value) ? at + dayLength : at
}

const buildPayload = (item: Item, inventoryLog: readonly unknown[]): Record<string, unknown> => ({
  gtin: item.gtin,
  vendorSku: item.sku,
  productName: item.productName,
  inventoryLog,
})

const viewEntry = (entry: LogEntry): Record<string, unknown> => ({
  id: entry.entryId,
  fcName: entry.fcName,
  changedUnits: entry.units,
  transactionTime: new Date(entry.at).toISOString(),
  transactionLocation: entry.location,
  transactionReasonCode: entry.reasonCode,
  transactionReasonDesc: entry.reasonText,
  transactionType: entry.type,
  ...(entry.shipmentId === null ? {} : { shipmentId: entry.shipmentId }),
})
