import { buildCursor, isCursor } from '../calls/cursor.ts'
import { orderDate, type Query, readWhole, readWord } from '../calls/query.ts'
import { dayMs } from '../core/duration.ts'
import { contentNotFound, refuseParameter } from '../core/errors.ts'
import { hashWords } from '../core/random.ts'
import { type ViewOptions, viewOrder } from '../http/order-view.ts'
import { orderTypes, shipNodeTypes, shippingProgramTypes, type UnitState } from '../rules/model.ts'
import type { OrderFilter } from '../store/orders.ts'
import type { World } from '../world.ts'

/** Orders older than this are not served at all (public facts, section 2.4). */
const retentionMs = 180 * dayMs
/** The default window: without a start by creation, only this number of days is searched, with any other filters (section 2.3). */
const defaultWindowMs = 7 * dayMs
/** No query returns orders beyond this position (section 2.4). */
const maxOrdersAQuery = 10_000
const defaultLimit = 100
const maxLimit = 200

/** A page of a list, still to be wrapped. */
export interface ListPage {
  readonly totalCount: number
  readonly limit: number
  readonly nextCursor: string | null
  readonly records: readonly Record<string, unknown>[]
  /** The last records of the page before, if requested. */
  readonly previous: readonly Record<string, unknown>[]
  readonly onCursor: boolean
}

/** Whose records are read, and what faults make of the reading. */
export interface ReadOptions {
  readonly sellerId: string
  readonly now: number
  /** How long new and changed orders stay invisible to lists. */
  readonly listLagMs: number
  /** The moment as of which records are shown; `null` for the present. */
  readonly asOf: number | null
  /** How many records of the page before are wanted besides. */
  readonly previousRows: number
  readonly refundsAsMoney: boolean
  readonly positiveRefunds: boolean
  /** Whether records have the fields that only the live service shows. */
  readonly liveFields: boolean
}

const states: readonly UnitState[] = ['Created', 'Acknowledged', 'Shipped', 'Delivered', 'Cancelled', 'Refund']
const filterParameters = [
  'sku',
  'customerOrderId',
  'purchaseOrderId',
  'status',
  'fromExpectedShipDate',
  'toExpectedShipDate',
  'lastModifiedStartDate',
  'lastModifiedEndDate',
  'productInfo',
  'replacementInfo',
  'shippingProgramType',
  'orderType',
] as const

/** `GET /v3/orders`, and `/released`, which shows units still in Created and knows neither status nor last-modified filters. */
export const listOrders = (world: World, query: Query, released: boolean, options: ReadOptions): ListPage => {
  const onCursor = isCursor(world, query)
  const offset = onCursor ? Number(query.get('poIndex') ?? '0') : 0
  const limit = readWhole(query, 'limit', defaultLimit, [1, maxLimit])
  if (offset >= maxOrdersAQuery) {
    throw refuseParameter('limit', `No more than ${maxOrdersAQuery} orders can be retrieved by one query; narrow the window`)
  }
  const filter = readFilter(query, released, onCursor, options)
  const totalCount = world.orders.count(filter)
  const orders = world.orders.list(filter, limit, offset)
  const next = offset + orders.length
  const view = viewOptions(query, options)
  const overlap = Math.min(offset, options.previousRows)
  return {
    totalCount,
    limit,
    onCursor,
    nextCursor:
      orders.length === limit && next < totalCount ? buildOrderCursor(world, query, filter, released, limit, next) : null,
    records: orders.map((order) => viewOrder(order, view)),
    previous: overlap === 0 ? [] : world.orders.list(filter, overlap, offset - overlap).map((order) => viewOrder(order, view)),
  }
}

const viewOptions = (query: Query, { refundsAsMoney, positiveRefunds, liveFields }: ReadOptions): ViewOptions => {
  const asked = { productInfo: query.get('productInfo') === 'true', replacementInfo: query.get('replacementInfo') === 'true' }
  return { ...asked, refundsAsMoney, positiveRefunds, liveFields }
}

const readFilter = (query: Query, released: boolean, onCursor: boolean, options: ReadOptions): OrderFilter => {
  const { sellerId, now, listLagMs, asOf } = options
  // The cursor carries its bounds to the millisecond, which a client's own query must not.
  const createdFrom = onCursor ? Date.parse(query.get('createdStartDate') ?? '') : orderDate(query, 'createdStartDate')
  const createdTo = onCursor ? Date.parse(query.get('createdEndDate') ?? '') : orderDate(query, 'createdEndDate')
  if (createdFrom !== null && createdTo !== null && createdFrom > createdTo) {
    throw refuseParameter('createdStartDate', 'createdStartDate must not be after createdEndDate')
  }
  return {
    sellerId,
    shipNodeType: readWord(query, 'shipNodeType', shipNodeTypes) ?? 'SellerFulfilled',
    createdFrom: Math.max(createdFrom ?? now - defaultWindowMs, now - retentionMs),
    createdTo: createdTo ?? now,
    modifiedFrom: released ? null : orderDate(query, 'lastModifiedStartDate'),
    modifiedTo: released ? null : orderDate(query, 'lastModifiedEndDate'),
    shipFrom: orderDate(query, 'fromExpectedShipDate'),
    shipTo: orderDate(query, 'toExpectedShipDate'),
    state: released ? 'Created' : readWord(query, 'status', states),
    sku: query.get('sku'),
    customerOrderId: query.get('customerOrderId'),
    purchaseOrderId: query.get('purchaseOrderId'),
    shippingProgramType: readWord(query, 'shippingProgramType', shippingProgramTypes),
    orderType: readWord(query, 'orderType', orderTypes),
    visibleUntil: Math.min(now - listLagMs, asOf ?? now),
    asOf,
    now,
  }
}

/** The bounds by creation are fixed in the cursor; the remaining query is evaluated again, by row number, over a set that changes. */
const buildOrderCursor = (
  world: World,
  query: Query,
  filter: OrderFilter,
  released: boolean,
  limit: number,
  next: number,
): string =>
  buildCursor(world, [
    ['limit', limit],
    ['hasMoreElements', 'true'],
    ['soIndex', next + limit],
    ['poIndex', next],
    ['partnerId', 10_000_000 + (hashWords(filter.sellerId) % 90_000_000)],
    ['sellerId', filter.sellerId],
    ...(released ? [['status', 'Created'] as const] : []),
    ['createdStartDate', new Date(filter.createdFrom).toISOString()],
    ['createdEndDate', new Date(filter.createdTo).toISOString()],
    ['shipNodeType', filter.shipNodeType],
    ...filterParameters.filter((name) => !(released && name === 'status')).map((name) => [name, query.get(name)] as const),
  ])

/** `GET /v3/orders/{purchaseOrderId}`. */
export const getOrder = (
  world: World,
  query: Query,
  purchaseOrderId: string,
  options: ReadOptions,
): { order: Record<string, unknown> } => {
  const { sellerId, now, asOf } = options
  const order =
    asOf === null ? world.orders.find(sellerId, purchaseOrderId) : world.orders.findAt(sellerId, purchaseOrderId, asOf)
  if (order === null || order.createdAt < now - retentionMs) throw contentNotFound(`No order found for PO: ${purchaseOrderId}`)
  return { order: viewOrder(order, viewOptions(query, options)) }
}
