import { z } from 'zod'

// Shapes of returns. Dates are sent as ISO 8601 in UTC.

const maybe = z.string().nullable()

const lateReturnLineSchema = z.object({
  returnLineNumber: z.int(),
  purchaseOrderId: maybe.meta({ description: 'The order of the units; null: the marketplace names none.' }),
  lineNumber: maybe.meta({ description: 'Its line.' }),
  sku: maybe,
  units: z.int().meta({ description: 'Units that have arrived and are not refunded.' }),
  arrivedAt: z.date().meta({
    description: "When the first of them arrived, by the marketplace's status; without its time: when the status was stored.",
  }),
  refundBy: z.date(),
  exceptionItemType: maybe.meta({ description: 'Goods that are refunded through their order only, by `erp.credit.issued`.' }),
})

/** A return whose refund is late, or due soon. */
export const lateReturnSchema = z
  .object({
    sellerId: z.string(),
    returnOrderId: z.string(),
    refundBy: z.date().meta({ description: 'The earliest deadline of its lines.' }),
    state: z.enum(['late', 'soon']).meta({ description: 'late: the deadline has passed; soon: it passes within 12 hours.' }),
    lines: z.array(lateReturnLineSchema).readonly(),
  })
  .meta({ id: 'LateReturn' })
