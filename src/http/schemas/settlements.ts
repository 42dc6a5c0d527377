import { z } from 'zod'
import { settlementDifferenceKinds, settlementResolutions } from '../../domain/settlements/settlement-differences.ts'
import { payoutStates } from '../../store/orders/order-payouts.ts'

const maybe = z.string().nullable()
const decimal = z.string().meta({ description: 'A decimal.' })

/** What settlement reports have paid for an order. */
export const orderPayoutSchema = z
  .object({
    currency: maybe,
    state: z.enum(payoutStates).meta({
      description:
        'pending: `openAmount` is positive; paid: reports have paid all shipped units; nothing-due: no unit is due, and no report names the order.',
    }),
    paid: decimal.meta({ description: 'Prices and other charges that reports have paid.' }),
    netTax: decimal.meta({ description: 'Taxes of sales, less what the marketplace withheld.' }),
    commission: decimal.meta({ description: 'Commissions, less those given back; negative: to the marketplace.' }),
    fees: decimal.meta({ description: 'Fees and adjustments; negative: to the marketplace.' }),
    refunds: decimal.meta({ description: 'Refunds, without the commission given back; negative: to the buyer.' }),
    other: decimal.meta({ description: 'Discounts, reserves and other money.' }),
    payout: decimal.meta({ description: 'All of these together: what the order earned so far.' }),
    openAmount: decimal.meta({ description: 'Charges of shipped units that no report has paid, before commission.' }),
    lastPostedOn: maybe.meta({ description: '`YYYY-MM-DD`: the newest row. Null: no report names the order.' }),
  })
  .meta({ id: 'OrderPayout' })

/** A difference between settlement reports and an order line. */
export const settlementDifferenceSchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    kind: z.enum(settlementDifferenceKinds),
    purchaseOrderId: maybe.meta({ description: 'Null: the row of the report names no order.' }),
    lineNumber: maybe,
    sku: maybe,
    reportDate: maybe.meta({ description: '`YYYY-MM-DD`: the newest report of its rows. Null: no report has paid.' }),
    expectedAmount: decimal.meta({ description: 'What reports should have paid; negative: to the marketplace.' }),
    paidAmount: decimal.meta({ description: 'What the rows of reports have paid.' }),
    difference: decimal.meta({ description: 'paidAmount minus expectedAmount; negative: the seller has received too little.' }),
    currency: maybe,
    rows: z
      .array(
        z.object({
          lineKey: z.string().meta({ description: 'Report and position of the row.' }),
          transactionType: z.string(),
          amountType: maybe,
          description: maybe,
          postedOn: maybe.meta({ description: '`YYYY-MM-DD`.' }),
          amount: maybe,
        }),
      )
      .readonly()
      .meta({ description: 'The rows of reports that it comes from.' }),
    state: z.enum(['open', 'resolved']),
    resolution: z
      .enum(settlementResolutions)
      .nullable()
      .meta({ description: 'settled: later reports or records explain it; withdrawn: its order is no longer stored.' }),
    firstSeenAt: z.date(),
    changedAt: z.date(),
    resolvedAt: z.date().nullable(),
  })
  .meta({ id: 'SettlementDifference' })
