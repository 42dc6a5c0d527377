import { type CommissionedSale, findUsualRate } from '../../domain/settlements/commission.ts'
import {
  findLine,
  type PayableLine,
  type PaymentRow,
  type SettlementRules,
} from '../../domain/settlements/settlement-differences.ts'
import type { SqlRunner } from '../db/database.ts'
import { noOrder } from './settlement-orders.ts'

/** An order with the rows of all reports that name it. */
export interface OrderToSettle {
  readonly purchaseOrderId: string
  readonly currency: string | null
  /** Empty: it is not stored. */
  readonly lines: readonly PayableLine[]
  readonly rows: readonly PaymentRow[]
}

interface LineRow extends PayableLine {
  readonly purchaseOrderId: string
  readonly currency: string | null
}

interface OrderRow extends PaymentRow {
  readonly purchaseOrderId: string
  readonly currency: string | null
}

interface ReturnedRow {
  readonly purchaseOrderId: string
  readonly lineNumber: string | null
  readonly sku: string | null
  readonly units: number
}

const readLines = (sql: SqlRunner, sellerId: string, orders: readonly string[]): Promise<readonly LineRow[]> =>
  sql.query<LineRow>(
    `SELECT l.purchase_order_id AS "purchaseOrderId", l.line_number AS "lineNumber", l.sku, l.currency, l.ordered, l.cancelled, l.charges,
       0 AS "refundableUnits", least(l.shipped, coalesce((SELECT sum(s.quantity) FROM warehouse.shipments s
         JOIN tallyman.settlement_periods p ON p.seller_id = s.seller_id AND s.shipped_at >= p.due_from AND s.shipped_at < p.due_before
         WHERE s.seller_id = l.seller_id AND s.purchase_order_id = l.purchase_order_id AND s.line_number = l.line_number), 0))::int AS "dueUnits"
     FROM warehouse.order_lines l WHERE l.seller_id = $1 AND l.purchase_order_id = ANY ($2::text[])
     ORDER BY l.purchase_order_id, l.line_index`,
    sellerId,
    orders,
  )

const rowColumns = `s.line_key AS "lineKey", s.report_date::text AS "reportDate", s.transaction_key AS "transactionKey", s.movement, s.component,
  s.amount_type AS "amountType", s.amount::text AS amount, s.quantity, s.purchase_order_line AS "lineNumber", s.sku,
  s.commission_rate::text AS "commissionRate", coalesce(s.purchase_order_id, '') AS "purchaseOrderId", s.currency`

const readRows = (sql: SqlRunner, sellerId: string, orders: readonly string[]): Promise<readonly OrderRow[]> =>
  sql.query<OrderRow>(
    `SELECT ${rowColumns} FROM warehouse.settlement_lines s
     WHERE s.seller_id = $1 AND s.purchase_order_id = ANY ($2::text[]) AND s.purchase_order_id <> '' AND s.missing_since IS NULL
       AND s.movement <> 'summary' AND s.amount IS NOT NULL
     ORDER BY s.report_date, s.row_number`,
    sellerId,
    orders,
  )

/** Rows that name no order and whose money has an unknown name. */
const readUnordered = (sql: SqlRunner, sellerId: string): Promise<readonly OrderRow[]> =>
  sql.query<OrderRow>(
    `SELECT ${rowColumns} FROM warehouse.settlement_lines s
     WHERE s.seller_id = $1 AND s.component = 'unknown' AND coalesce(s.purchase_order_id, '') = '' AND s.missing_since IS NULL
       AND s.amount IS NOT NULL
     ORDER BY s.report_date, s.row_number`,
    sellerId,
  )

/** Units of returns, and of refunds by our commands; a refund through a return concerns the units of that return. */
const readReturned = (sql: SqlRunner, sellerId: string, orders: readonly string[]): Promise<readonly ReturnedRow[]> =>
  sql.query<ReturnedRow>(
    `SELECT purchase_order_id AS "purchaseOrderId", purchase_order_line_number AS "lineNumber", sku, sum(quantity)::int AS units
     FROM warehouse.return_lines WHERE seller_id = $1 AND purchase_order_id = ANY ($2::text[]) GROUP BY 1, 2, 3
     UNION ALL
     SELECT l.purchase_order_id, l.line_number, NULL, sum(l.quantity)::int
     FROM tallyman.command_lines l JOIN tallyman.commands c ON c.id = l.command_id
     WHERE l.seller_id = $1 AND l.purchase_order_id = ANY ($2::text[]) AND c.kind = 'refund'
       AND (c.state NOT IN ('rejected', 'withdrawn') OR c.parts IS NOT NULL)
     GROUP BY 1, 2`,
    sellerId,
    orders,
  )

/** Maximum number of rows of a SKU that its usual rate is derived from: the newest ones. */
const maxRateRows = 80

/** The usual rates of the commission of these SKUs (lower case), from their newest sales. */
const readUsualRates = async (
  sql: SqlRunner,
  sellerId: string,
  skus: readonly string[],
): Promise<ReadonlyMap<string, string | null>> => {
  const rows = await sql.query<CommissionedSale & { readonly sku: string }>(
    `SELECT k.sku, t.price::text AS price, t.commission::text AS commission FROM unnest($2::text[]) AS k(sku)
     CROSS JOIN LATERAL (
       SELECT sum(n.amount) FILTER (WHERE n.component = 'price') AS price, -sum(n.amount) FILTER (WHERE n.component = 'commission') AS commission
       FROM (SELECT * FROM warehouse.settlement_lines s
         WHERE s.seller_id = $1 AND lower(s.sku) = k.sku AND s.movement = 'sale' AND s.component IN ('price', 'commission')
           AND s.missing_since IS NULL AND s.purchase_order_id <> ''
         ORDER BY s.report_date DESC, s.row_number DESC LIMIT ${maxRateRows}) n
       GROUP BY n.purchase_order_id, n.purchase_order_line, n.report_date, n.transaction_key, n.quantity
     ) t WHERE t.price > 0 AND t.commission IS NOT NULL`,
    sellerId,
    skus,
  )
  return new Map([...Map.groupBy(rows, ({ sku }) => sku)].map(([sku, sales]) => [sku, findUsualRate(sales)]))
}

const withReturned = (lines: readonly LineRow[], returned: readonly ReturnedRow[]): readonly PayableLine[] => {
  const units = new Map<string, number>()
  for (const one of returned) {
    const number = findLine(lines, one)?.lineNumber
    if (number !== undefined) units.set(number, (units.get(number) ?? 0) + one.units)
  }
  return lines.map((line) => ({ ...line, refundableUnits: units.get(line.lineNumber) ?? 0 }))
}

/** What is known about these orders and their payments; one order may be {@link noOrder}. The number of statements does not depend on that of the orders. */
export const readOrdersToSettle = async (
  sql: SqlRunner,
  sellerId: string,
  orders: readonly string[],
): Promise<readonly OrderToSettle[]> => {
  const lines = Map.groupBy(await readLines(sql, sellerId, orders), ({ purchaseOrderId }) => purchaseOrderId)
  const ordered = await readRows(sql, sellerId, orders)
  const unordered = orders.includes(noOrder) ? await readUnordered(sql, sellerId) : []
  const rows = Map.groupBy([...ordered, ...unordered], ({ purchaseOrderId }) => purchaseOrderId)
  const returned = Map.groupBy(await readReturned(sql, sellerId, orders), ({ purchaseOrderId }) => purchaseOrderId)
  return orders.map((purchaseOrderId) => {
    const ofOrder = lines.get(purchaseOrderId) ?? []
    const paid = rows.get(purchaseOrderId) ?? []
    return {
      purchaseOrderId,
      currency: ofOrder[0]?.currency ?? paid[0]?.currency ?? null,
      lines: withReturned(ofOrder, returned.get(purchaseOrderId) ?? []),
      rows: paid,
    }
  })
}

/** The rules for these orders: the terms of their marketplace, and the usual rates of their SKUs. */
export const readSettlementRules = async (
  sql: SqlRunner,
  sellerId: string,
  orders: readonly OrderToSettle[],
): Promise<SettlementRules> => {
  const skus = new Set(orders.flatMap(({ lines }) => lines.flatMap(({ sku }) => sku?.toLowerCase() ?? [])))
  const rates = await readUsualRates(sql, sellerId, [...skus])
  const { productCharge } = sql.findVocabulary(sellerId)
  return { productCharge, usualRate: (sku) => rates.get(sku) ?? null }
}
