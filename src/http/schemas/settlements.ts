import { z } from 'zod'
import { settlementDifferenceKinds, settlementResolutions } from '../../domain/settlements/settlement-differences.ts'

const maybe = z.string().nullable()
const decimal = z.string().meta({ description: 'A decimal.' })

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
