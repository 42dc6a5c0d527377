import type { SQLInputValue } from 'node:sqlite'
import { type Database, type Row, toInteger, toText } from '../core/database.ts'
import { type Hiding, notHidden } from '../faults/records.ts'
import { bitsOfStates, type Order, type OrderType, type ShipNodeType, type UnitState } from '../rules/model.ts'
import { stateBits } from '../rules/units.ts'
import { asOf, type Pasts } from './pasts.ts'

/** Which orders of a seller a list shows; bounds are epoch milliseconds, all inclusive. */
export interface OrderFilter {
  readonly sellerId: string
  readonly shipNodeType: ShipNodeType
  readonly createdFrom: number
  readonly createdTo: number
  readonly modifiedFrom: number | null
  readonly modifiedTo: number | null
  readonly shipFrom: number | null
  readonly shipTo: number | null
  readonly state: UnitState | null
  readonly sku: string | null
  readonly customerOrderId: string | null
  readonly purchaseOrderId: string | null
  readonly shippingProgramType: string | null
  readonly orderType: OrderType | null
  /** Changes younger than this moment have not reached the list yet. */
  readonly visibleUntil: number
  /** The moment whose orders are shown, as they were then; `null` for the present. */
  readonly asOf: number | null
  readonly now: number
}

export interface OrderStore {
  find(sellerId: string, purchaseOrderId: string): Order | null
  /** The order as it was at a moment not longer ago than `maxLagMs`; `null` when it had not been created. */
  findAt(sellerId: string, purchaseOrderId: string, at: number): Order | null
  insert(order: Order, modifiedAt: number): void
  /** Writes the order back with a new time of last change. */
  update(order: Order, modifiedAt: number): void
  count(filter: OrderFilter): number
  /** Oldest first, by number of rows skipped: rows shift when the set moves, as on the live service. */
  list(filter: OrderFilter, limit: number, offset: number): Order[]
  /** Orders of a SKU that have units left to ship. */
  open(sellerId: string, shipNodeType: ShipNodeType, sku: string): Order[]
  total(): number
  /** Orders by their inner number, for walking over all of them. */
  after(id: number, limit: number): { id: number; order: Order }[]
}

export const createOrderStore = (database: Database, pasts: Pasts, hiding: Hiding): OrderStore => {
  const parse = (row: Row): Order => JSON.parse(toText(row, 'document'))
  return {
    find(sellerId, purchaseOrderId) {
      const row = database.get(
        'SELECT document FROM orders WHERE seller_id = ? AND purchase_order_id = ?',
        sellerId,
        purchaseOrderId,
      )
      return row === undefined ? null : parse(row)
    },
    findAt(sellerId, purchaseOrderId, at) {
      const row = database.get(
        `SELECT document FROM ${pastOrders} WHERE seller_id = ? AND purchase_order_id = ? AND created_at <= ?`,
        at,
        sellerId,
        purchaseOrderId,
        at,
      )
      return row === undefined ? null : parse(row)
    },
    insert(order, modifiedAt) {
      const row = database.get(
        `INSERT INTO orders (seller_id, purchase_order_id, customer_order_id, ship_node_type, created_at, modified_at, ship_by, states, document)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        order.sellerId,
        order.purchaseOrderId,
        order.customerOrderId,
        order.shipNodeType,
        order.createdAt,
        modifiedAt,
        order.shipBy,
        stateBits(order),
        JSON.stringify(order),
      )
      if (row === undefined) throw new Error('an inserted order has no number')
      hiding.came({ records: 'orders', sellerId: order.sellerId, id: order.purchaseOrderId }, toInteger(row, 'id'))
      for (const line of order.lines) {
        database.run(
          'INSERT OR IGNORE INTO order_skus (seller_id, sku, order_id) VALUES (?, ?, ?)',
          order.sellerId,
          line.item.sku,
          toInteger(row, 'id'),
        )
      }
    },
    update(order, modifiedAt) {
      pasts.keep('orders', order.sellerId, order.purchaseOrderId, modifiedAt)
      database.run(
        'UPDATE orders SET modified_at = ?, states = ?, document = ? WHERE seller_id = ? AND purchase_order_id = ?',
        modifiedAt,
        stateBits(order),
        JSON.stringify(order),
        order.sellerId,
        order.purchaseOrderId,
      )
    },
    count(filter) {
      const { from, where, values } = condition(filter, hiding.any('orders'))
      const row = database.get(`SELECT count(*) AS total FROM ${from} WHERE ${where}`, ...values)
      return row === undefined ? 0 : toInteger(row, 'total')
    },
    list(filter, limit, offset) {
      const { from, where, values } = condition(filter, hiding.any('orders'))
      const page = `FROM ${from} WHERE ${where} ORDER BY created_at, id LIMIT ? OFFSET ?`
      const sql =
        filter.asOf === null
          ? `SELECT document FROM orders WHERE id IN (SELECT id ${page}) ORDER BY created_at, id`
          : `SELECT document ${page}`
      return database.all(sql, ...values, limit, offset).map(parse)
    },
    open: (sellerId, shipNodeType, sku) =>
      database
        .all(
          `SELECT o.document FROM order_skus s JOIN orders o ON o.id = s.order_id
           WHERE s.seller_id = ? AND s.sku = ? AND o.ship_node_type = ? AND o.states & ? <> 0`,
          sellerId,
          sku,
          shipNodeType,
          bitsOfStates.Created | bitsOfStates.Acknowledged,
        )
        .map(parse),
    total() {
      const row = database.get('SELECT count(*) AS total FROM orders')
      return row === undefined ? 0 : toInteger(row, 'total')
    },
    after: (id, limit) =>
      database
        .all('SELECT id, document FROM orders WHERE id > ? ORDER BY id LIMIT ?', id, limit)
        .map((row) => ({ id: toInteger(row, 'id'), order: parse(row) })),
  }
}

const columns = [
  ...['id', 'seller_id', 'purchase_order_id', 'customer_order_id', 'ship_node_type', 'created_at', 'modified_at'],
  ...['ship_by', 'states', 'document'],
]
const pastOrders = asOf('orders', columns)

/** The narrowest index is named outright: without statistics SQLite may prefer to walk a seller's whole history in date order. */
const indexFor = (filter: OrderFilter): string => {
  if (filter.purchaseOrderId !== null || filter.sku !== null) return 'orders'
  if (filter.customerOrderId !== null) return 'orders INDEXED BY orders_customer'
  if (filter.modifiedFrom !== null) return 'orders INDEXED BY orders_modified'
  if (filter.state === 'Created') return 'orders INDEXED BY orders_released'
  return 'orders INDEXED BY orders_created'
}

const condition = (filter: OrderFilter, hides: boolean): { from: string; where: string; values: SQLInputValue[] } => {
  const parts: string[] = []
  const values: SQLInputValue[] = filter.asOf === null ? [] : [filter.asOf]
  const add = (part: string, ...given: readonly SQLInputValue[]): void => {
    parts.push(part)
    values.push(...given)
  }
  add('seller_id = ? AND ship_node_type = ?', filter.sellerId, filter.shipNodeType)
  add('created_at BETWEEN ? AND ?', filter.createdFrom, Math.min(filter.createdTo, filter.visibleUntil))
  if (filter.modifiedFrom !== null || filter.modifiedTo !== null) {
    const to = Math.min(filter.modifiedTo ?? Number.MAX_SAFE_INTEGER, filter.visibleUntil)
    add('modified_at BETWEEN ? AND ?', filter.modifiedFrom ?? 0, to)
  }
  if (filter.shipFrom !== null) add('ship_by >= ?', filter.shipFrom)
  if (filter.shipTo !== null) add('ship_by <= ?', filter.shipTo)
  // The partial index of released orders applies only if the query contains its condition literally.
  if (filter.state === 'Created') add('states & 1')
  else if (filter.state !== null) add('(states & ?) != 0', bitsOfStates[filter.state])
  if (filter.purchaseOrderId !== null) add('purchase_order_id = ?', filter.purchaseOrderId)
  if (filter.customerOrderId !== null) add('customer_order_id = ?', filter.customerOrderId)
  if (filter.sku !== null) {
    add('id IN (SELECT order_id FROM order_skus WHERE seller_id = ? AND sku = ?)', filter.sellerId, filter.sku)
  }
  if (filter.shippingProgramType !== null) add("json_extract(document, '$.shippingProgramType') = ?", filter.shippingProgramType)
  if (filter.orderType !== null) add("coalesce(json_extract(document, '$.orderType'), 'REGULAR') = ?", filter.orderType)
  if (hides) add(notHidden('orders'), filter.asOf ?? filter.now)
  return { from: filter.asOf === null ? indexFor(filter) : pastOrders, where: parts.join(' AND '), values }
}
