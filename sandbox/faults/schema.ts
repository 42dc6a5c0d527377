import { z } from 'zod'
import { type ErrorShape, errorShapes, gatewayShapes } from '../core/errors.ts'
import { methods } from '../core/methods.ts'
import { parseCents } from '../core/money.ts'

/** Faults that decide how a request ends; at most one of them strikes a request. */
export const outcomes = [
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
  'gatewayBefore',
  'gatewayAfter',
  'lockedBefore',
  'lockedAfter',
  'tokenRefused',
] as const
export type Outcome = (typeof outcomes)[number]

/** Faults that only change what a good answer looks like, when it comes or how much of a write is done; any number of them may strike a request. */
export const blemishNames = [
  'slow',
  'deprecated',
  'malformedRecord',
  'unknownValue',
  'changedType',
  'duplicateRows',
  'repeatCursor',
  'emptyListInsteadOf404',
  'stale',
  'falseNone',
  'repeatedRows',
  'reorderedRows',
  'missingRows',
  'oversized',
  'partialEffect',
  'partialAnswer',
  'refundsAsMoney',
  'positiveRefunds',
] as const
export type Blemish = (typeof blemishNames)[number]
export type FaultName = Outcome | Blemish

/** Faults that only mean something to some operations, to those that name them: any answer can be slow or deprecated, the other blemishes are of some. */
export const selectiveFaults: ReadonlySet<FaultName> = new Set([
  'cursorExpired',
  ...blemishNames.filter((name) => name !== 'slow' && name !== 'deprecated'),
])

/** Those of them that every list knows. */
export const listFaults: readonly FaultName[] = [
  'malformedRecord',
  'unknownValue',
  'changedType',
  'duplicateRows',
  'reorderedRows',
  'missingRows',
  'oversized',
]

/** Those of them that mean something to further pages only. */
export const furtherPageFaults: ReadonlySet<FaultName> = new Set(['cursorExpired', 'repeatCursor', 'repeatedRows'])

/** Bodies of answers that do not come from the operation itself: with its codes, or without. */
const bodies = ['coded', 'html', 'xml', 'json', 'framework', 'empty'] as const
export type Body = (typeof bodies)[number]

/** The bodies that carry no code of the marketplace, as error shapes. */
export const uncoded: Readonly<Record<Exclude<Body, 'coded'>, ErrorShape>> = {
  html: 'html',
  xml: 'xml',
  json: 'message',
  framework: 'spring',
  empty: 'empty',
}

const bytes = z.number().int().min(1).max(268_435_456)
const amount = z
  .union([z.string(), z.number()])
  .refine((value) => (parseCents(value) ?? 0) > 0, 'must be an amount of money above 0 with at most two decimals')

const details = {
  /** Milliseconds: how slow, how late the effect, how long the token lives, how long a 429 says to wait, how far behind a read is. */
  delayMs: z.number().int().min(0).max(86_400_000).optional(),
  /** The status to answer with, where a fault answers at all. */
  status: z.number().int().min(200).max(599).optional(),
  /** Whether the effect happens; each fault has a default. */
  effect: z.boolean().optional(),
  /** What the caller of a late effect sees. */
  answer: z.enum(['none', 'serverError', 'drop']).optional(),
  /** The body of an answer by a gateway, of a refused token and of a dead cursor. */
  body: z.enum(bodies).optional(),
  /** The lines that a partial write is done, or shown, for. */
  lines: z.array(z.string().min(1)).optional(),
  /** How many units of each line a partial write is done, or shown, for. */
  units: z.number().int().min(0).optional(),
  /** What a refund pays for each line instead of what was asked, as far as the charges go. */
  amount: amount.optional(),
  /** How many rows are repeated or missing. */
  rows: z.number().int().min(1).max(200).optional(),
  /** How large an answer becomes. */
  bytes: bytes.optional(),
  /** Whether a cursor that has died stays dead, however often it is tried. */
  lasting: z.boolean().optional(),
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
  gatewayBefore: chance,
  gatewayAfter: chance,
  lockedBefore: chance,
  lockedAfter: chance,
  tokenRefused: chance,
  slow: chance,
  deprecated: chance,
  malformedRecord: chance,
  unknownValue: chance,
  changedType: chance,
  duplicateRows: chance,
  repeatCursor: chance,
  emptyListInsteadOf404: chance,
  stale: chance,
  falseNone: chance,
  repeatedRows: chance,
  reorderedRows: chance,
  missingRows: chance,
  oversized: chance,
  partialEffect: chance,
  partialAnswer: chance,
  refundsAsMoney: chance,
  positiveRefunds: chance,
}

/** A moment of the virtual clock, kept as ISO text. */
const moment = z.iso.datetime({ offset: true })
const span = z.number().int().min(0).max(31_622_400_000)

/** When a setting applies, by the virtual clock; by default from the moment it is set until it is replaced. */
const time = {
  from: moment.optional(),
  until: moment.optional(),
  /** The same from the moment of setting; they are kept as `from` and `until`. */
  afterMs: span.optional(),
  forMs: span.optional(),
}

const target = {
  /** An operation, with `*` for any part: `orders.*`. */
  operation: z.string().min(1).optional(),
  method: z.enum(methods).optional(),
  sellerId: z.string().min(1).optional(),
  purchaseOrderId: z.string().min(1).optional(),
  ...time,
}

const rule = z.strictObject({ ...target, ...shares })

/** One exact fault for the next request that fits. */
export const nextFault = z.strictObject({
  ...target,
  fault: z.enum([...outcomes, ...blemishNames]),
  times: z.number().int().min(1).max(1_000_000).default(1),
  ...details,
})

export const recordKinds = ['orders', 'returns'] as const
export type RecordKind = (typeof recordKinds)[number]

/** Some records of one kind: those named, or a share of all, drawn by their ids. */
const records = {
  records: z.enum(recordKinds).default('orders'),
  ids: z.array(z.string().min(1)).min(1).max(10_000).optional(),
  share: share.optional(),
  sellerId: z.string().min(1).optional(),
}
const namesRecords = (value: { ids?: unknown; share?: unknown }): boolean =>
  (value.ids === undefined) !== (value.share === undefined)
const namesNoRecords = { message: 'either ids or share must be given' }

/** Records that are in no list, though everything else knows them. */
const hidden = z
  .strictObject({
    ...records,
    /** How long, from when the record is there or this is set, whichever is later; left out: for ever. */
    forMs: span.optional(),
  })
  .refine(namesRecords, namesNoRecords)
export type HiddenRule = z.infer<typeof hidden>

/** Records that make each page with them fail. */
const poisoned = z
  .strictObject({
    ...records,
    ...time,
    /** What such a page is answered with; 500 unless `bytes` is given. */
    status: z.number().int().min(400).max(599).optional(),
    body: z.enum(bodies).optional(),
    /** The record is so large instead. */
    bytes: bytes.optional(),
    /** Whether reads of the record alone are corrupt as well. */
    reads: z.boolean().default(false),
  })
  .refine(namesRecords, namesNoRecords)

/** What goes wrong with notifications; each is drawn for itself. */
export const notificationFaults = ['dropped', 'duplicated', 'reordered', 'delayed', 'forged'] as const
export type NotificationFault = (typeof notificationFaults)[number]
const notifications = z.strictObject({
  /** Never sent. */
  dropped: chance,
  /** Sent twice. */
  duplicated: chance,
  /** Sent after a random time of up to `delayMs`, so that later ones overtake it. */
  reordered: chance,
  /** Sent after `delayMs`. */
  delayed: chance,
  /** Sent with a wrong secret. */
  forged: chance,
})

/** Several machines answer, whose clocks do not agree. */
const nodes = z.strictObject({
  /** How far each machine's clock is ahead of the virtual one; negative is behind. */
  offsetsMs: z.array(z.number().int().min(-86_400_000).max(86_400_000)).min(1).max(100),
  choice: z.enum(['random', 'turn']).default('random'),
})

/** The share of a chance; 0 when it is not given. */
export const computeShare = (given: Chance): number => (given === undefined ? 0 : typeof given === 'number' ? given : given.share)

/** Body of `PUT /_sandbox/faults`: what is left out is off. Shares at the top hold for every operation. */
export const faultsSchema = z
  .strictObject({
    /** Decides which requests are struck; the same seed and requests give the same faults. */
    seed: z.union([z.string(), z.number()]).default('1'),
    ...shares,
    rules: z.array(rule).default([]),
    next: z.array(nextFault).default([]),
    /** How the bodies of fault answers are wrapped: `own` as the operation wraps its errors, `mixed` draws one of all shapes. */
    errorShape: z.enum([...errorShapes, ...gatewayShapes, 'own', 'mixed']).default('own'),
    /** `emptyList`: where there is nothing to list, 200 with an empty list instead of 404. */
    emptyAnswer: z.enum(['404', 'emptyList']).default('404'),
    /** New and changed orders appear in the lists only after this time, in milliseconds of virtual time. */
    listLagMs: z.number().int().min(0).max(86_400_000).default(0),
    hidden: z.array(hidden).default([]),
    poisoned: z.array(poisoned).default([]),
    nodes: nodes.nullable().default(null),
    notifications: notifications.default({}),
  })
  .superRefine((faults, context) => {
    for (const [index, one] of [faults, ...faults.rules].entries()) {
      const sum = outcomes.reduce((total, name) => total + computeShare(one[name]), 0)
      if (sum > 1 + 1e-9) {
        const path = index === 0 ? [] : ['rules', index - 1]
        context.addIssue({
          code: 'custom',
          path,
          message: `only one of these can strike a request: their shares add up to ${sum}, above 1`,
        })
      }
    }
    for (const kind of recordKinds) {
      const sum = faults.hidden.reduce((total, one) => (one.records === kind ? total + (one.share ?? 0) : total), 0)
      if (sum > 1 + 1e-9)
        context.addIssue({ code: 'custom', path: ['hidden'], message: `the shares of ${kind} add up to ${sum}, above 1` })
    }
  })

export type Faults = z.infer<typeof faultsSchema>
export type NextFault = z.infer<typeof nextFault>
export type Chance = z.infer<typeof chance>

type Details = { readonly [name in keyof typeof details]: z.infer<(typeof details)[name]> }
export type FaultDetails = Partial<Details>

/** Details of a chance besides its share. */
export const buildDetails = (given: Chance): FaultDetails => (given === undefined || typeof given === 'number' ? {} : given)

interface Timed {
  readonly from?: string | undefined
  readonly until?: string | undefined
  readonly afterMs?: number | undefined
  readonly forMs?: number | undefined
}

/** The same with its times made absolute: they count from now. */
export const anchored = <T extends Timed>(timed: T, now: number): T => {
  const { afterMs, forMs, ...rest } = timed
  if (afterMs === undefined && forMs === undefined) return timed
  const from = now + (afterMs ?? 0)
  const until = forMs === undefined ? {} : { until: new Date(from + forMs).toISOString() }
  return { ...timed, ...rest, afterMs: undefined, forMs: undefined, from: new Date(from).toISOString(), ...until }
}

/** Whether it holds now; its first moment belongs to it, its last does not. */
export const holds = ({ from, until }: Timed, now: number): boolean =>
  (from === undefined || now >= Date.parse(from)) && (until === undefined || now < Date.parse(until))
