import type { SettlementComponent, SettlementMovement } from '../../domain/settlements/movement.ts'
import type { ReimbursedUnits } from '../../domain/settlements/reimbursements.ts'
import type { SqlRunner } from '../db/database.ts'
import { type ListedStore, listedStore } from '../versioned/listed-records.ts'
import { customerOrder, markTable } from '../versioned/table-marks.ts'
import { nameOrders } from './named-orders.ts'
import { noteOrdersOfRows, noteSettlementOrders } from './settlement-orders.ts'

const money = 'price shipping tax paid net_tax commission fees refunds other payout open_amount'
markTable('warehouse.order_money', {
  none: `seller_id purchase_order_id line_number sku order_date currency ordered shipped cancelled refunded ${money} report_rows last_posted_on`,
})
markTable('warehouse.sku_money', { none: `seller_id sku month currency orders ordered shipped cancelled refunded ${money}` })

/** A stored row of a settlement report. Money is decimal text, days are `YYYY-MM-DD`. */
export interface StoredSettlementLine {
  readonly reportDate: string
  readonly row: number
  readonly transactionType: string
  readonly description: string | null
  readonly reason: string | null
  readonly transactionKey: string | null
  readonly postedOn: string | null
  readonly periodStart: string | null
  readonly periodEnd: string | null
  readonly amount: string | null
  readonly amountType: string | null
  readonly totalPayable: string | null
  readonly currency: string | null
  readonly quantity: number | null
  readonly purchaseOrderId: string | null
  readonly purchaseOrderLine: string | null
  readonly customerOrderId: string | null
  readonly customerOrderLine: string | null
  readonly sku: string | null
  readonly gtin: string | null
  readonly productName: string | null
  readonly fulfillmentType: string | null
  readonly shippingMethod: string | null
  readonly contractCategory: string | null
  readonly productType: string | null
  readonly productTaxCode: string | null
  readonly movement: SettlementMovement
  readonly component: SettlementComponent
  /** Null: the row is no reimbursement. */
  readonly reimburses: ReimbursedUnits | null
  /** A fraction; null: the row states none. */
  readonly commissionRate: string | null
}

const settlementLines: ListedStore<StoredSettlementLine> = listedStore({
  name: 'settlement_lines',
  personalData: {
    none: `seller_id line_key report_date row_number transaction_type description reason transaction_key posted_on period_start period_end
      amount amount_type total_payable currency quantity purchase_order_id purchase_order_line customer_order_line sku gtin product_name
      fulfillment_type shipping_method contract_category product_type product_tax_code movement component commission_rate reimburses missing_since raw_hash
      observed_at first_seen_at changed_at`,
    reference: {
      customer_order_id: customerOrder,
      raw: 'names the customer order; the place shipped to is removed before storage',
    },
  },
  resource: 'settlements',
  key: { column: 'line_key', type: 'text' },
  payloadPath: '{reportData,0}',
  columns: [
    'report_date date',
    'row_number integer',
    'transaction_type text',
    'description text',
    'reason text',
    'transaction_key text',
    'posted_on date',
    'period_start date',
    'period_end date',
    'amount numeric',
    'amount_type text',
    'total_payable numeric',
    'currency text',
    'quantity integer',
    'purchase_order_id text',
    'purchase_order_line text',
    'customer_order_id text',
    'customer_order_line text',
    'sku text',
    'gtin text',
    'product_name text',
    'fulfillment_type text',
    'shipping_method text',
    'contract_category text',
    'product_type text',
    'product_tax_code text',
    'movement text',
    'component text',
    'commission_rate numeric',
    'reimburses text',
  ],
  row: (line: StoredSettlementLine) => ({
    report_date: line.reportDate,
    row_number: line.row,
    transaction_type: line.transactionType,
    description: line.description,
    reason: line.reason,
    transaction_key: line.transactionKey,
    posted_on: line.postedOn,
    period_start: line.periodStart,
    period_end: line.periodEnd,
    amount: line.amount,
    amount_type: line.amountType,
    total_payable: line.totalPayable,
    currency: line.currency,
    quantity: line.quantity,
    purchase_order_id: line.purchaseOrderId,
    purchase_order_line: line.purchaseOrderLine,
    customer_order_id: line.customerOrderId,
    customer_order_line: line.customerOrderLine,
    sku: line.sku,
    gtin: line.gtin,
    product_name: line.productName,
    fulfillment_type: line.fulfillmentType,
    shipping_method: line.shippingMethod,
    contract_category: line.contractCategory,
    product_type: line.productType,
    product_tax_code: line.productTaxCode,
    movement: line.movement,
    component: line.component,
    commission_rate: line.commissionRate,
    reimburses: line.reimburses,
  }),
  identity: {
    of: ({ reportDate, row }) => ({ reportDate, row }),
    sql: `jsonb_build_object('reportDate', report_date, 'row', row_number)`,
  },
  state: {
    of: ({ transactionType, amountType, amount, totalPayable, currency, purchaseOrderId }) => ({
      transactionType,
      amountType,
      amount,
      totalPayable,
      currency,
      purchaseOrderId,
    }),
    sql: `jsonb_build_object('transactionType', transaction_type, 'amountType', amount_type, 'amount', amount::text,
      'totalPayable', total_payable::text, 'currency', currency, 'purchaseOrderId', purchase_order_id)`,
  },
  change: (what, data) => ({ type: `settlement_line.${what}`, data }),
})

/** Rows of settlement reports, in `warehouse.settlement_lines`; changes are recorded as `settlement_line.…`. Notes the orders that rows name, to be fetched and compared. */
export const settlementStore: ListedStore<StoredSettlementLine> = {
  ...settlementLines,
  store: async (tx, sellerId, observedAt, records) => {
    // A corrected report may have the rows of other orders in these places: the orders that it no longer pays there are compared too.
    noteOrdersOfRows(
      tx,
      sellerId,
      records.map(({ key }) => key),
    )
    const written = await settlementLines.store(tx, sellerId, observedAt, records)
    const orders = records.map(({ value: { purchaseOrderId, postedOn, reportDate } }) => ({
      purchaseOrderId,
      at: new Date(postedOn ?? reportDate),
    }))
    nameOrders(tx, sellerId, 'settlements', orders)
    noteSettlementOrders(
      tx,
      sellerId,
      records.map(({ value }) => value),
    )
    return written
  },
  noteMissing: async (tx, sellerId, observedAt, keys) => {
    const marked = await settlementLines.noteMissing(tx, sellerId, observedAt, keys)
    noteOrdersOfRows(tx, sellerId, keys)
    return marked
  },
}

/** Keys of the rows of a report (of a day, `YYYY-MM-DD`) after its first `rows` that are stored as present. */
export const findSettlementLinesAfter = async (
  { prisma }: SqlRunner,
  sellerId: string,
  reportDate: string,
  rows: number,
): Promise<readonly string[]> => {
  const lines = await prisma.settlementLine.findMany({
    where: { sellerId, reportDate: new Date(reportDate), rowNumber: { gt: rows }, missingSince: null },
    orderBy: { rowNumber: 'asc' },
    select: { lineKey: true },
  })
  return lines.map(({ lineKey }) => lineKey)
}
