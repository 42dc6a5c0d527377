import type { SQLInputValue } from 'node:sqlite'
import { type Database, type Row, toInteger, toText } from '../core/database.ts'
import { type Hiding, notHidden } from '../faults/records.ts'
import { type ReturnOrder, statusGroup } from '../rules/returns-model.ts'
import { asOf, type Pasts } from './pasts.ts'

/** Which returns of a seller a list shows; bounds are epoch milliseconds, inclusive. */
export interface ReturnFilter {
  readonly sellerId: string
  readonly returnOrderId: string | null
  readonly customerOrderId: string | null
  readonly status: string | null
  readonly returnType: string | null
  readonly wfs: boolean | null
  readonly createdFrom: number | null
  readonly createdTo: number | null
  readonly modifiedFrom: number | null
  readonly modifiedTo: number | null
  /** The moment whose returns are shown, as they were then; `null` for the present. */
  readonly asOf: number | null
  readonly now: number
}

export interface ReturnStore {
  find(sellerId: string, returnOrderId: string): ReturnOrder | null
  /** Returns that hold a line of this purchase order. */
  ofPurchaseOrder(sellerId: string, purchaseOrderId: string): ReturnOrder[]
  insert(order: ReturnOrder, modifiedAt: number): void
  update(order: ReturnOrder, modifiedAt: number): void
  count(filter: ReturnFilter): number
  /** Newest first, by number of rows skipped. */
  list(filter: ReturnFilter, limit: number, offset: number): ReturnOrder[]
  total(): number
}

export const createReturnStore = (database: Database, pasts: Pasts, hiding: Hiding): ReturnStore => {
  const parse = (row: Row): ReturnOrder => JSON.parse(toText(row, 'document'))
  const total = (row: Row | undefined): number => (row === undefined ? 0 : toInteger(row, 'total'))
  return {
    find(sellerId, returnOrderId) {
      const row = database.get(
        'SELECT document FROM returns WHERE seller_id = ? AND return_order_id = ?',
        sellerId,
        returnOrderId,
      )
      return row === undefined ? null : parse(row)
    },
    ofPurchaseOrder: (sellerId, purchaseOrderId) =>
      database
        .all('SELECT document FROM returns WHERE seller_id = ? AND purchase_order_id = ? ORDER BY id', sellerId, purchaseOrderId)
        .map(parse),
    insert(order, modifiedAt) {
      const row = database.get(
        `INSERT INTO returns (seller_id, return_order_id, customer_order_id, purchase_order_id, return_type, state, wfs, created_at, modified_at, document)
         VALUES (?, ?, ?, ?, 'REFUND', ?, ?, ?, ?, ?) RETURNING id`,
        order.sellerId,
        order.returnOrderId,
        order.customerOrderId,
        order.lines[0]?.purchaseOrderId ?? '',
        statusGroup(order),
        order.wfs ? 1 : 0,
        order.createdAt,
        modifiedAt,
        JSON.stringify(order),
      )
      if (row === undefined) throw new Error('an inserted return has no number')
      hiding.came({ records: 'returns', sellerId: order.sellerId, id: order.returnOrderId }, toInteger(row, 'id'))
    },
    update(order, modifiedAt) {
      pasts.keep('returns', order.sellerId, order.returnOrderId, modifiedAt)
      database.run(
        'UPDATE returns SET state = ?, modified_at = ?, document = ? WHERE seller_id = ? AND return_order_id = ?',
        statusGroup(order),
        modifiedAt,
        JSON.stringify(order),
        order.sellerId,
        order.returnOrderId,
      )
    },
    count(filter) {
      const { from, where, values } = condition(filter, hiding.any('returns'))
      return total(database.get(`SELECT count(*) AS total FROM ${from} WHERE ${where}`, ...values))
    },
    list(filter, limit, offset) {
      const { from, where, values } = condition(filter, hiding.any('returns'))
      const sql = `SELECT document FROM ${from} WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`
      return database.all(sql, ...values, limit, offset).map(parse)
    },
    total: () => total(database.get('SELECT count(*) AS total FROM returns')),
  }
}

const columns = [
  ...['id', 'seller_id', 'return_order_id', 'customer_order_id', 'purchase_order_id', 'return_type', 'state', 'wfs'],
  ...['created_at', 'modified_at', 'document'],
]
const pastReturns = asOf('returns', columns)

const condition = (filter: ReturnFilter, hides: boolean): { from: string; where: string; values: SQLInputValue[] } => {
  const parts = ['seller_id = ?']
  const values: SQLInputValue[] = [...(filter.asOf === null ? [] : [filter.asOf]), filter.sellerId]
  const add = (part: string, value: SQLInputValue): void => {
    if (value === null) return
    parts.push(part)
    values.push(value)
  }
  add('return_order_id = ?', filter.returnOrderId)
  add('customer_order_id = ?', filter.customerOrderId)
  add('state = ?', filter.status)
  add('return_type = ?', filter.returnType)
  add('wfs = ?', filter.wfs === null ? null : Number(filter.wfs))
  add('created_at >= ?', filter.createdFrom)
  add('created_at <= ?', filter.createdTo)
  add('modified_at >= ?', filter.modifiedFrom)
  add('modified_at <= ?', filter.modifiedTo)
  add('created_at <= ?', filter.asOf)
  if (hides) add(notHidden('returns'), filter.asOf ?? filter.now)
  return { from: filter.asOf === null ? 'returns' : pastReturns, where: parts.join(' AND '), values }
}
