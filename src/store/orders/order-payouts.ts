import type { SqlRunner } from '../db/database.ts'
import type { OrderKey } from './order-queries.ts'

/** States of a payout: charges of shipped units are not paid yet; reports have paid; nothing is due, and no report names the order. */
export const payoutStates = ['pending', 'paid', 'nothing-due'] as const

/** What settlement reports have paid for an order in one currency. Money is decimal text; negative: to the marketplace or the buyer. */
export interface OrderPayout {
  readonly currency: string | null
  readonly state: (typeof payoutStates)[number]
  readonly paid: string
  readonly netTax: string
  readonly commission: string
  readonly fees: string
  readonly refunds: string
  readonly other: string
  /** The sum of the others. */
  readonly payout: string
  /** Charges of shipped units that no report has paid, before commission. */
  readonly openAmount: string
  /** Day of the newest row, `YYYY-MM-DD`; null: no report names the order. */
  readonly lastPostedOn: string | null
}

/** Payouts of an order by currency. */
export const readOrderPayouts = (sql: SqlRunner, { sellerId, purchaseOrderId }: OrderKey): Promise<readonly OrderPayout[]> =>
  sql.query<OrderPayout>(
    `SELECT currency, state, paid::text, net_tax::text AS "netTax", commission::text, fees::text, refunds::text, other::text, payout::text,
       open_amount::text AS "openAmount", last_posted_on::text AS "lastPostedOn"
     FROM warehouse.order_payouts WHERE seller_id = $1 AND purchase_order_id = $2 ORDER BY currency`,
    sellerId,
    purchaseOrderId,
  )
