import type { SqlRunner } from '../db/database.ts'
import { beginsWith, endsWith, reversedText, typedText } from '../db/typed-text.ts'
import { eventSellerExpression } from '../events/event-queries.ts'
import { allSellers } from '../orders/order-queries.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

/** Kinds of things that a search finds, in the order of its answer. */
export const foundKinds = ['order', 'customer-order', 'tracking-number', 'sku', 'command', 'event'] as const

/** A thing that a search has found. */
export interface Found {
  readonly kind: (typeof foundKinds)[number]
  /** The id, number or SKU that begins with the searched text, or the id of an order or customer order that ends with it. */
  readonly text: string
  /** It is equal to the searched text. */
  readonly exact: boolean
  /** Null: the seller of an event is unknown. */
  readonly sellerId: string | null
  /** The order of an order, a customer order or a tracking number. */
  readonly purchaseOrderId: string | null
  /** The source of an event. */
  readonly source: string | null
}

/** A parcel has a row for each of its lines, so more rows than parcels are read. */
const rowsForEach = 5

const typed = '$1::text'
const max = '$3::int'

/** SQL: the first rows of the sellers' table whose `column` begins with the searched text. */
const ofSellers = (kind: Found['kind'], table: string, column: string): string => `
  (SELECT DISTINCT '${kind}' AS kind, f.text, s.seller_id, f.purchase_order_id, NULL AS source, f.typed, false AS ending
   FROM s CROSS JOIN LATERAL (
     SELECT t.${column} AS text, t.purchase_order_id, ${typedText(`t.${column}`)} AS typed FROM ${table} t
     WHERE t.seller_id = s.seller_id AND ${beginsWith(`t.${column}`, typed)}
     ORDER BY ${typedText(`t.${column}`)} USING ~<~ LIMIT ${rowsForEach} * ${max}) f
   ORDER BY f.typed, f.text LIMIT ${max})`

/** SQL: the same for orders whose `column` ends with the searched text. */
const ordersByEnd = (kind: Found['kind'], column: string): string => `
  (SELECT '${kind}', f.text, s.seller_id, f.purchase_order_id, NULL, f.typed, true
   FROM s CROSS JOIN LATERAL (
     SELECT t.${column} AS text, t.purchase_order_id, ${typedText(`t.${column}`)} AS typed FROM warehouse.orders t
     WHERE t.seller_id = s.seller_id AND ${endsWith(`t.${column}`, typed)}
     ORDER BY ${reversedText(`t.${column}`)} USING ~<~ LIMIT ${max}) f
   ORDER BY f.typed, f.text LIMIT ${max})`

// A SKU is in many lines: the recursion looks up one line for each SKU, by the index.
const skus = `
  (SELECT 'sku', f.text, s.seller_id, NULL, NULL, f.typed, false FROM s CROSS JOIN LATERAL (
     WITH RECURSIVE k AS (
       (SELECT l.sku AS text, ${typedText('l.sku')} AS typed FROM warehouse.order_lines l
        WHERE l.seller_id = s.seller_id AND ${beginsWith('l.sku', typed)} ORDER BY ${typedText('l.sku')} USING ~<~ LIMIT 1)
       UNION ALL
       SELECT n.* FROM k CROSS JOIN LATERAL (SELECT l.sku AS text, ${typedText('l.sku')} AS typed FROM warehouse.order_lines l
         WHERE l.seller_id = s.seller_id AND ${typedText('l.sku')} ~>~ k.typed AND ${beginsWith('l.sku', typed)}
         ORDER BY ${typedText('l.sku')} USING ~<~ LIMIT 1) n
     ) SELECT * FROM k LIMIT ${max}) f
   ORDER BY f.typed, f.text LIMIT ${max})`

const byId = (kind: Found['kind'], from: string, columns: string): string => `
  (SELECT '${kind}', e.id, ${columns}, ${typedText('e.id')} AS typed, false FROM ${from} e
   WHERE ${beginsWith('e.id', typed)} AND ($2::text[] IS NULL OR ${kind === 'event' ? eventSellerExpression : 'e.seller_id'} = ANY ($2::text[]))
   ORDER BY ${typedText('e.id')} USING ~<~ LIMIT ${max})`

const statement = (sellers: string): string => `
  WITH s AS MATERIALIZED (${sellers}), found AS (${[
    ofSellers('order', 'warehouse.orders', 'purchase_order_id'),
    ofSellers('customer-order', 'warehouse.orders', 'customer_order_id'),
    ordersByEnd('order', 'purchase_order_id'),
    ordersByEnd('customer-order', 'customer_order_id'),
    ofSellers('tracking-number', 'warehouse.shipments', 'tracking_number'),
    skus,
    byId('command', 'tallyman.commands', 'e.seller_id, NULL, NULL'),
    byId('event', 'tallyman.erp_event', `${eventSellerExpression}, NULL, e.source`),
  ].join(' UNION ALL ')})
  SELECT kind, text, typed = ${typedText(typed)} AS exact, seller_id AS "sellerId", purchase_order_id AS "purchaseOrderId", source
  FROM found WHERE ${typedText(typed)} <> ''
  ORDER BY exact DESC, ending, array_position(ARRAY[${foundKinds.map((kind) => `'${kind}'`).join(', ')}], kind), typed, text, seller_id`

/**
 * Things whose id, number or SKU begins with a text, up to `limit` of each kind, equal ones first; then as many orders and customer orders that end
 * with it. Regardless of case, spaces and hyphens.
 */
export const search = async (sql: SqlRunner, text: string, sellers: SellerFilter, limit: number): Promise<readonly Found[]> => {
  const only = toSellerIds(sellers)
  return sql.query<Found>(statement(only === null ? allSellers : 'SELECT unnest($2::text[]) AS seller_id'), text, only, limit)
}
