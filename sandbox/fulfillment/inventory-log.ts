import { DAY_MS, MINUTE_MS } from '../core/duration.ts'
import { isDay, parseMoment } from '../core/moment.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { LIST_FAULTS } from '../faults/schema.ts'
import type { Call, Operation } from '../operations/operation.ts'
import { blemishRecords } from '../operations/perform.ts'
import { MAX_OFFSET, type Query, readWhole } from '../operations/query.ts'
import type { World } from '../world.ts'
import { requireEnrolment } from './enrolment.ts'
import type { Item } from './model.ts'
import { gtinParameter, noSuchItem, refuseValue, required, wordParameter } from './parameters.ts'
import { liveOn } from './simulation.ts'
import type { LogEntry, LogFilter, LogOrder } from './store.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200
/** Without a start, and at most (public facts, section 7.1). */
const DEFAULT_DAYS = 90
const MAX_DAYS = 365

const SORT_COLUMNS = {
  gtin: null,
  changedUnits: 'units',
  transactionReasonCode: 'reason_code',
  transactionType: 'type',
  shipmentId: 'shipment_id',
} as const

/** `GET /v3/fulfillment/inventory-log` (specification, section 7): newest first unless sorted, by offset over a log that grows. */
export const inventoryLog: Operation = {
  name: 'inventory-log.list',
  method: 'GET',
  urls: ['/v3/fulfillment/inventory-log'],
  admission: 'marketplace',
  body: 'none',
  writes: false,
  errorShape: 'flat',
  faults: [...LIST_FAULTS, 'emptyListInsteadOf404'],
  perform: (world, call, plan, now) => ({ json: listLog(world, call, plan, now) }),
}

function listLog(world: World, { sellerId, query }: Call, plan: FaultPlan, now: number): unknown {
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
    column: sorted === null ? null : SORT_COLUMNS[sorted],
    direction: wordParameter(query, 'sort_order', ['ASC', 'DESC']) ?? (sorted === null ? 'DESC' : 'ASC'),
  }
  const limit = readWhole(query, 'limit', DEFAULT_LIMIT, [1, MAX_LIMIT], refuseValue)
  const offset = readWhole(query, 'offset', 0, [0, MAX_OFFSET], refuseValue)
  const key = keyOf(world, query)
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
    payload: payloadOf(item, blemishRecords(entries, 'id', plan)),
  }
}

/** By SKU in the specification, by GTIN on the live service, where that parameter is required (public facts, section 7.1). */
function keyOf({ settings }: World, query: Query): { sku: string; gtin: null } | { sku: null; gtin: string } {
  return settings.dialect.fulfillment.logKey === 'gtin'
    ? { sku: null, gtin: gtinParameter(required(query, 'gtin')) }
    : { sku: required(query, 'sellerSku'), gtin: null }
}

function bounds(query: Query, now: number): { readonly from: number; readonly to: number } {
  const from = moment(query, 'startDate', 0)
  const to = moment(query, 'endDate', DAY_MS - 1)
  // Whole days: the day that was 365 days ago may still be asked for, from its first moment on, also by who asked a moment before midnight.
  const oldest = Math.floor((now - MAX_DAYS * DAY_MS - MINUTE_MS) / DAY_MS) * DAY_MS
  if (from !== null && from < oldest) throw refuseValue('startDate', `startDate must not be more than ${MAX_DAYS} days back`)
  const start = from ?? now - DEFAULT_DAYS * DAY_MS
  if (start > (to ?? now)) throw refuseValue('startDate', 'startDate must not be after endDate')
  return { from: start, to: to ?? now }
}

/** A date-time, or a whole UTC day, whose last moment is `dayLength` later than its first. */
function moment(query: Query, name: string, dayLength: number): number | null {
  const value = query.get(name)
  if (value === null) return null
  const at = parseMoment(value)
  if (at === null) throw refuseValue(name, `${name} must be an ISO 8601 date-time or a day, YYYY-MM-DD`)
  return isDay(value) ? at + dayLength : at
}

function payloadOf(item: Item, inventoryLog: readonly unknown[]): Record<string, unknown> {
  return { gtin: item.gtin, vendorSku: item.sku, productName: item.productName, inventoryLog }
}

function viewEntry(entry: LogEntry): Record<string, unknown> {
  return {
    id: entry.entryId,
    fcName: entry.fcName,
    changedUnits: entry.units,
    transactionTime: new Date(entry.at).toISOString(),
    transactionLocation: entry.location,
    transactionReasonCode: entry.reasonCode,
    transactionReasonDesc: entry.reasonText,
    transactionType: entry.type,
    ...(entry.shipmentId === null ? {} : { shipmentId: entry.shipmentId }),
  }
}
