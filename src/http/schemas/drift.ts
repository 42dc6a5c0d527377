import { z } from 'zod'
import { driftKinds } from '../../domain/drift/shape.ts'

/** A place of the marketplace's answers that differs from what is published. */
export const driftSchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    operation: z.string().meta({ description: 'The operation, as in `RATE_LIMITS`.' }),
    kind: z.enum(driftKinds).meta({
      description: 'An unknown field, value of an enumeration, type of a value, header that announces an end, or HTTP status.',
    }),
    path: z.string().meta({
      description:
        'Members with dots, `[]` for the elements of a list; the name of a header; an HTTP status. `*`: a name that may be data.',
    }),
    value: z.string().meta({ description: 'The unknown value, if it is a plain word; otherwise empty.' }),
    example: z
      .string()
      .meta({ description: 'What was found, without personal data: a type, the length of a text, a value, a date.' }),
    count: z.int().meta({ description: 'Number of compared records, or of answers, that had it.' }),
    firstSeenAt: z.date(),
    lastSeenAt: z.date(),
  })
  .meta({ id: 'Drift' })
