import type { SQLInputValue } from 'node:sqlite'
import { type Database, type Row, textOf, wholeOf } from '../core/database.ts'
import { type Order, type ShipNodeType, STATE_BITS, type UnitState } from '../rules/model.ts'
import { stateBits } from '../rules/units.ts'

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
  /** Changes younger than this moment have not reached the list yet. */
  readonly visibleUntil: number
}

export interface OrderStore {
  find(sellerId: string, purchaseOrderId: string): Order | null
  insert(order: Order, modifiedAt: number): void
  /** Writes the order back with a new time of last change. */
  update(order: Order, modifiedAt: number): void
  count(filter: OrderFilter): number
  /** Oldest first, by number of rows skipped: rows shift when the set moves, as on the live service. */
  list(filter: OrderFilter, limit: number, offset: number): Order[]
  total(): number
  /** Orders by their inner number, for walking over all of them. */
  after(id: number, limit: number): { id: number; order: Order }[]
}

export function createOrderStore(database: Database): OrderStore {
  const parse = (row: Row): Order => JSON.parse(textOf(row, 'document'))
  return {
    find(sellerId, purchaseOrderId) {
      const row = database.get(
        'SELECT document FROM orders WHERE seller_id = ? AND purchase_order_id = ?',
        sellerId,
        purchaseOrderId,
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
      for (const line of order.lines) {
        database.run(
          'INSERT OR IGNORE INTO order_skus (seller_id, sku, order_id) VALUES (?, ?, ?)',
          order.sellerId,
          line.item.sku,
          wholeOf(row, 'id'),
        )
      }
    },
    update(order, modifiedAt) {
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
      const { from, where, values } = condition(filter)
      const row = database.get(`SELECT count(*) AS total FROM ${from} WHERE ${where}`, ...values)
      return row === undefined ? 0 : wholeOf(row, 'total')
    },
    list(filter, limit, offset) {
      const { from, where, values } = condition(filter)
      return database
        .all(
          `SELECT document FROM orders WHERE id IN (
             SELECT id FROM ${from} WHERE ${where} ORDER BY created_at, id LIMIT ? OFFSET ?) ORDER BY created_at, id`,
          ...values,
          limit,
          offset,
        )
        .map(parse)
    },
    total() {
      const row = database.get('SELECT count(*) AS total FROM orders')
      return row === undefined ? 0 : wholeOf(row, 'total')
    },
    after: (id, limit) =>
      database
        .all('SELECT id, document FROM orders WHERE id > ? ORDER BY id LIMIT ?', id, limit)
        .map((row) => ({ id: wholeOf(row, 'id'), order: parse(row) })),
  }
}

/** The narrowest index is named outright: without statistics SQLite may prefer to walk a seller's whole history in date order. */
function indexFor(filter: OrderFilter): string {
  if (filter.purchaseOrderId !== null || filter.sku !== null) return 'orders'
  if (filter.customerOrderId !== null) return 'orders INDEXED BY orders_customer'
  if (filter.modifiedFrom !== null) return 'orders INDEXED BY orders_modified'
  if (filter.state === 'Created') return 'orders INDEXED BY orders_released'
  return 'orders INDEXED BY orders_created'
}

function condition(filter: OrderFilter): { from: string; where: string; values: SQLInputValue[] } {
  const parts: string[] = []
  const values: SQLInputValue[] = []
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
  // The partial index of released orders applies only where its own condition stands literally.
  if (filter.state === 'Created') add('states & 1')
  else if (filter.state !== null) add('(states & ?) != 0', STATE_BITS[filter.state])
  if (filter.purchaseOrderId !== null) add('purchase_order_id = ?', filter.purchaseOrderId)
  if (filter.customerOrderId !== null) add('customer_order_id = ?', filter.customerOrderId)
  if (filter.sku !== null) {
    add('id IN (SELECT order_id FROM order_skus WHERE seller_id = ? AND sku = ?)', filter.sellerId, filter.sku)
  }
  return { from: indexFor(filter), where: parts.join(' AND '), values }
}
