import { z } from 'zod'

const partSchema = z.object({
  part: z.number(),
  parts: z.number(),
  sellers: z.number(),
  hours: z.number(),
  commandsEach: z.number(),
  pollSeconds: z.number(),
})

/** What a part of a simulated fleet is told: of so many parts it is this one, from 0 on, and each has as many sellers. */
export type PartOfFleet = z.infer<typeof partSchema>

/** Reads what a part is told. @throws Error when it is something else */
export const readPart = (text: string): PartOfFleet => partSchema.parse(JSON.parse(text))

/** What comes of a part. */
export const partOutcomeSchema = z.object({
  processorSeconds: z.number(),
  memoryMb: z.number(),
  used: z.array(z.object({ operation: z.string(), calls: z.number(), waits: z.number(), allowed: z.number() })),
  pollLateP50Ms: z.number(),
  pollLateP99Ms: z.number(),
  pollLateMostMs: z.number(),
  backfillHours: z.array(z.number()),
  commandsSent: z.number(),
  commandsLate: z.number(),
  commandWaitP99Ms: z.number(),
  served: z.array(z.object({ got: z.number(), wanted: z.number(), allowed: z.number() })),
})

/** What comes of a part. */
export type PartOutcome = z.infer<typeof partOutcomeSchema>
