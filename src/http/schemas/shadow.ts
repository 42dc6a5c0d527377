import { z } from 'zod'
import { commandKinds } from '../../domain/commands/command.ts'
import { differenceKinds, shadowVerdicts } from '../../domain/shadow/compare.ts'

// Shapes of the comparison of shadow mode. Dates are sent as ISO 8601 in UTC.

/** What the other system did with an order, compared with the predictions. */
export const shadowVerdictSchema = z.enum(shadowVerdicts).meta({
  description:
    'difference: the other system did something else than was predicted; missing: it did not do within 24 hours what was predicted; ' +
    'unpredicted: it did something that no event predicted; pending: it has not done yet what was predicted; agreement: it did what was predicted. ' +
    'The first one that is true of a part of the order.',
})

const differenceSchema = z.object({
  kind: z.enum(differenceKinds).meta({
    description:
      'units: another quantity; twice: at least twice the quantity; cancelled, shipped: instead of what was predicted; tracking, carrier, money: other values.',
  }),
  lineNumber: z.string(),
  predicted: z.string().meta({ description: 'Units, a tracking number, a carrier or an amount.' }),
  shown: z.string().meta({ description: 'The same, as the order shows it.' }),
})

const comparedCommandSchema = z.object({
  commandId: z.string(),
  kind: z.enum(commandKinds),
  verdict: z.enum(['difference', 'missing', 'pending', 'agreement']),
  predictedAt: z.date(),
  shown: z.boolean().meta({ description: 'Whether the order shows all units of it.' }),
  laterSeconds: z.int().nullable().meta({
    description:
      'How much later than the prediction the lines of the order changed, negative if earlier; null: not shown, or a later change hides it.',
  }),
  units: z
    .array(
      z.object({
        lineNumber: z.string(),
        quantity: z.int(),
        shown: z.int().meta({ description: 'Those of the units that the order shows.' }),
        amount: z
          .string()
          .nullable()
          .meta({ description: 'What a refund gives back, tax included; null: no refund, or not known.' }),
      }),
    )
    .readonly()
    .meta({ description: 'Predicted units by line, and by parcel; empty for an acknowledgement and a correction.' }),
  differences: z.array(differenceSchema).readonly(),
})

const unpredictedSchema = z.object({
  lineNumber: z.string(),
  kind: z.enum(['ship', 'cancel', 'refund']),
  quantity: z.int(),
})

/** An order of a seller in shadow mode beside what was predicted. */
export const shadowOrderSchema = z
  .object({
    sellerId: z.string(),
    purchaseOrderId: z.string(),
    verdict: shadowVerdictSchema,
    observedAt: z.date().nullable().meta({ description: 'When the order was last read; null: it is not stored.' }),
    commands: z.array(comparedCommandSchema).readonly().meta({ description: 'The predicted commands, in their order.' }),
    unpredicted: z.array(unpredictedSchema).readonly().meta({
      description: 'Units that were processed since shadow mode began, and that no event predicted.',
    }),
  })
  .meta({ id: 'ShadowOrder' })

const counted = z.int()

/** Number of orders by verdict. */
export const shadowCountsSchema = z
  .object({
    difference: counted,
    missing: counted,
    unpredicted: counted,
    pending: counted,
    agreement: counted,
    complete: z.boolean().meta({ description: 'false: there are more than about 10,000 orders; the first ones are counted.' }),
  })
  .meta({ id: 'ShadowCounts' })
