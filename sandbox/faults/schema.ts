import { z } from 'zod'
import { ERROR_SHAPES } from '../core/errors.ts'

/** Faults that decide how a request ends; at most one of them strikes a request. */
export const OUTCOMES = [
  'tooManyRequests',
  'tooManyRequestsWithoutHeader',
  'serverErrorBefore',
  'serverErrorAfter',
  'timeoutBefore',
  'timeoutAfter',
  'lateEffect',
  'dropBefore',
  'dropAfter',
  'html',
  'emptyBody',
  'truncatedJson',
  'okWithErrors',
  'tokenDiesEarly',
  'cursorExpired',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Faults that only change what a good answer looks like, or when it comes; any number of them may strike a request. */
export const BLEMISHES = [
  'slow',
  'malformedRecord',
  'unknownValue',
  'duplicateRows',
  'repeatCursor',
  'emptyListInsteadOf404',
] as const
export type Blemish = (typeof BLEMISHES)[number]
export type FaultName = Outcome | Blemish

/** Faults that only mean something to some operations, to those that name them. */
export const SELECTIVE_FAULTS: ReadonlySet<FaultName> = new Set([
  'malformedRecord',
  'unknownValue',
  'duplicateRows',
  'repeatCursor',
  'emptyListInsteadOf404',
  'cursorExpired',
])

const details = {
  /** Milliseconds: how slow, how late the effect, how long the token lives, how long a 429 says to wait. */
  delayMs: z.number().int().min(0).max(86_400_000).optional(),
  /** The status to answer with, where a fault answers at all. */
  status: z.number().int().min(200).max(599).optional(),
  /** Whether the effect happens; each fault has a default. */
  effect: z.boolean().optional(),
  /** What the caller of a late effect sees. */
  answer: z.enum(['none', 'serverError', 'drop']).optional(),
}

const share = z.number().min(0).max(1)
const chance = z.union([share, z.strictObject({ share, ...details })]).optional()

const shares = {
  tooManyRequests: chance,
  tooManyRequestsWithoutHeader: chance,
  serverErrorBefore: chance,
  serverErrorAfter: chance,
  timeoutBefore: chance,
  timeoutAfter: chance,
  lateEffect: chance,
  dropBefore: chance,
  dropAfter: chance,
  html: chance,
  emptyBody: chance,
  truncatedJson: chance,
  okWithErrors: chance,
  tokenDiesEarly: chance,
  cursorExpired: chance,
  slow: chance,
  malformedRecord: chance,
  unknownValue: chance,
  duplicateRows: chance,
  repeatCursor: chance,
  emptyListInsteadOf404: chance,
}

const target = {
  /** An operation, with `*` for any part: `orders.*`. */
  operation: z.string().min(1).optional(),
  method: z.enum(['GET', 'POST']).optional(),
  sellerId: z.string().min(1).optional(),
}

const rule = z.strictObject({ ...target, ...shares })

/** One exact fault for the next request that fits. */
export const nextFault = z.strictObject({
  ...target,
  purchaseOrderId: z.string().min(1).optional(),
  fault: z.enum([...OUTCOMES, ...BLEMISHES]),
  times: z.number().int().min(1).max(1_000_000).default(1),
  ...details,
})

/** Body of `PUT /_sandbox/faults`: what is left out is off. Shares at the top hold for every operation. */
export const faultsSchema = z
  .strictObject({
    /** Decides which requests are struck; the same seed and requests give the same faults. */
    seed: z.union([z.string(), z.number()]).default('1'),
    ...shares,
    rules: z.array(rule).default([]),
    next: z.array(nextFault).default([]),
    /** How the bodies of fault answers are wrapped: `own` as the operation wraps its errors, `mixed` draws one of all shapes. */
    errorShape: z.enum([...ERROR_SHAPES, 'own', 'mixed']).default('own'),
    /** `emptyList`: where there is nothing to list, 200 with an empty list instead of 404. */
    emptyAnswer: z.enum(['404', 'emptyList']).default('404'),
    /** New and changed orders reach the lists only after so many milliseconds of virtual time. */
    listLagMs: z.number().int().min(0).max(86_400_000).default(0),
  })
  .superRefine((faults, context) => {
    for (const [index, one] of [faults, ...faults.rules].entries()) {
      const sum = OUTCOMES.reduce((total, name) => total + shareOf(one[name]), 0)
      if (sum > 1 + 1e-9) {
        const path = index === 0 ? [] : ['rules', index - 1]
        context.addIssue({
          code: 'custom',
          path,
          message: `only one of these can strike a request: their shares add up to ${sum}, above 1`,
        })
      }
    }
  })

export type Faults = z.infer<typeof faultsSchema>
export type NextFault = z.infer<typeof nextFault>
export type Chance = z.infer<typeof chance>

export interface FaultDetails {
  readonly delayMs?: number | undefined
  readonly status?: number | undefined
  readonly effect?: boolean | undefined
  readonly answer?: 'none' | 'serverError' | 'drop' | undefined
}

/** The share of a chance; 0 when it is not given. */
export function shareOf(given: Chance): number {
  return given === undefined ? 0 : typeof given === 'number' ? given : given.share
}

/** What a chance says besides its share. */
export function detailsOf(given: Chance): FaultDetails {
  return given === undefined || typeof given === 'number' ? {} : given
}
