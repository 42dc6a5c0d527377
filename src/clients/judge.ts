import { headerMomentMs } from '../domain/header-moment.ts'
import { isObject } from '../domain/values.ts'
import type { BudgetSignal } from './bucket.ts'
import {
  bodyTooLarge,
  bodyUnreadable,
  type FailureDetails,
  type FailureKind,
  type Fault,
  failureOf,
  type MarketplaceFailure,
  namesOfFaults,
  type SentState,
  tooManyRecords,
} from './errors.ts'
import type { Operation } from './operation.ts'

/** What a body says, in the words of one marketplace. */
export interface Said {
  readonly faults: readonly Fault[]
  /** The marketplace itself speaks, and not something on the way. */
  readonly ownWord: boolean
  /** Statuses that it names, by its codes or by one of its own. */
  readonly statuses: readonly number[]
  /** It says of itself that it is a failure, whatever else it brings. */
  readonly fails: boolean
  /** It names an error that is more than a remark. */
  readonly namesError: boolean
  /** All the errors that it names are remarks; also where it names none. */
  readonly onlyRemarks: boolean
}

/** How one marketplace words its faults. Pure; never throws, whatever a body holds. */
export interface FaultRules {
  read(body: unknown, how: Pick<Exchange, 'statusIsData' | 'speaksOAuth'>): Said
  /** A refusal that reads get during outages, and that is none. */
  isOutage(faults: readonly Fault[]): boolean
  /** There is nothing of the kind, which is not "no such address". */
  saysNone(faults: readonly Fault[]): boolean
  /** The goal was reached before. A hint only. */
  saysDone(faults: readonly Fault[]): boolean
}

/** Header names (lower case, in order of preference) in which the marketplace reports what is left of its budget. */
export interface BudgetHeaders {
  /** Requests that may still be sent. */
  readonly remaining: readonly string[]
  /** When the next one comes back: epoch ms, epoch s or ISO 8601. */
  readonly replenishAt: readonly string[]
}

/** Response headers as Node gives them: lower-case names. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** All that is known of one HTTP exchange when it is judged. */
export interface Exchange extends Pick<Operation, 'write' | 'payloadKeys' | 'refusesInBody' | 'speaksOAuth'> {
  readonly sent: SentState
  readonly status: number | null
  readonly headers: ResponseHeaders
  /** The whole body as text; null when it did not come whole or could not be unpacked. */
  readonly bodyText: string | null
  readonly networkCode: string | null
  /** Our own clock, epoch ms. */
  readonly nowMs: number
  /** The marketplace's clock at the same moment, epoch ms: dates in its headers are on that one. */
  readonly marketplaceNowMs: number
  readonly budgetHeaders: BudgetHeaders
  /** How the marketplace words its faults. */
  readonly rules: FaultRules
  /** The body is a record whose `status` is its own, not one of the answer. */
  readonly statusIsData?: true
  /** Wait in ms after a 429 that names no time; a short one when absent, which the budget lengthens. */
  readonly throttleWaitMs?: number
}

/** The judgement on one exchange. */
export type Verdict =
  | { readonly ok: true; readonly body: unknown; readonly faults: readonly Fault[] }
  | {
      readonly ok: false
      readonly kind: FailureKind
      readonly sent: SentState
      readonly httpStatus: number | null
      readonly faults: readonly Fault[]
      readonly retryAt: Date | null
      readonly contentNotFound: boolean
      readonly alreadyDone: boolean
      readonly networkCode: string | null
      /** The access token was not accepted: a new one may help. */
      readonly renewToken: boolean
      /** See {@link FailureDetails}. */
      readonly staleToken: boolean
      /** The marketplace itself speaks: JSON in one of its shapes, with a code. */
      readonly ownWord: boolean
    }

/** Longest wait that an answer can impose. */
const maxWaitMs = 86_400_000
/** From here on a number is no wait in seconds. */
const longestSeconds = 1e8
/** Moments that a number may mean as an epoch. */
const earliestMs = Date.UTC(2000, 0)
const latestMs = Date.UTC(2200, 0)
/** A number that is written as no wait and no moment is: Date would make a year of it. */
const isOddNumber = /^[+-]\s*[\d.]+$/
/** Shortest wait after a throttled answer, so that a date in the past is no retry storm. */
const minThrottleWaitMs = 1_000
/** Wait after a throttled answer that names no time; the budget lengthens it when throttling goes on. */
const defaultThrottleWaitMs = 2_000

/** Statuses that leave open what happened, as every server fault does: a lock, a replay and a time-out may be reported after an effect, too. */
const openStatuses: ReadonlySet<number> = new Set([408, 423, 425])

const hasPayload = (body: unknown, payloadKeys: readonly string[]): boolean =>
  payloadKeys.some((path) => {
    const found = path.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), body)
    return found !== undefined && found !== null
  })

/** What a 2xx body says of itself: null when it is the answer, otherwise the status it should have had (0 when it does not say). */
const contradiction = (body: unknown, { exchange, said }: Heard): number | null => {
  if (said.faults.length === 0 && !said.fails) return null
  if (hasPayload(body, exchange.payloadKeys) && !said.fails && said.onlyRemarks) return null
  // The worst one counts: a server fault beside a refusal leaves the outcome open.
  return said.statuses.length === 0 ? 0 : Math.max(...said.statuses)
}

/** Text of a header, the first one when it came several times. */
export const headerText = (headers: ResponseHeaders, name: string): string | null => {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.[0])?.trim() || null
}

/**
 * A moment that a header names, as a wait in ms from now: epoch ms, epoch s, ISO 8601, HTTP date, or a small number of seconds.
 * One without a zone is UTC. Dates are on the marketplace's clock; one that makes no sense there is tried on ours. Clamped to [0, one day], so no timer can
 * overflow (a known bug: epoch ms taken for seconds fires at once, again and again). Null when unreadable, and for numbers that are neither a wait
 * nor a moment of these years: no wait at all, or one of a day, would be made of them.
 */
export const waitMs = (value: string | null, nowMs: number, marketplaceNowMs: number): number | null => {
  if (value === null || isOddNumber.test(value)) return null
  const number = /^\d{1,20}(?:\.\d+)?$/.test(value) ? Number(value) : null
  if (number !== null && number < longestSeconds) return Math.min(number * 1000, maxWaitMs)
  const epochMs = number === null ? headerMomentMs(value) : number < 1e11 ? number * 1000 : number
  if (Number.isNaN(epochMs) || (number !== null && (epochMs < earliestMs || epochMs > latestMs))) return null
  const waits = [epochMs - marketplaceNowMs, epochMs - nowMs]
  const sensible = waits.find((wait) => wait >= 0 && wait <= maxWaitMs)
  return sensible ?? Math.min(Math.max(waits[0] ?? 0, 0), maxWaitMs)
}

/** What an answer says about the marketplace's budget, with its times moved to our own clock. Pure. */
export const budgetSignal = (exchange: Exchange & { readonly status: number }): BudgetSignal => {
  const { headers, nowMs, marketplaceNowMs, budgetHeaders } = exchange
  /** What the first of these headers says that can be read. */
  const first = <Read>(names: readonly string[], read: (text: string | null) => Read | null): Read | null =>
    names.map((name) => read(headerText(headers, name))).find((found) => found !== null) ?? null
  const count = (value: string | null): number | null => (value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null)
  const date = (value: string | null): Date | null => {
    const wait = waitMs(value, nowMs, marketplaceNowMs)
    return wait === null ? null : new Date(nowMs + wait)
  }
  const replenishAt = first(budgetHeaders.replenishAt, date)
  const retryAfter = date(headerText(headers, 'retry-after'))
  const untold = exchange.status === 429 && retryAfter === null && replenishAt === null ? exchange.throttleWaitMs : undefined
  return {
    status: exchange.status,
    remaining: first(budgetHeaders.remaining, count),
    replenishAt,
    retryAfter: untold === undefined ? retryAfter : new Date(nowMs + untold),
  }
}

interface Judgement {
  readonly kind: FailureKind
  readonly renewToken?: true
  readonly staleToken?: boolean
}

/** What is known of an answer besides its status. */
interface Heard {
  readonly exchange: Exchange
  readonly said: Said
}

/** Whether an answer names a rate budget: by what is left, by when more comes, or by when to come back. */
const namesBudget = (exchange: Exchange): boolean => {
  const { remaining, replenishAt, retryAfter } = budgetSignal({ ...exchange, status: 200 })
  return remaining !== null || replenishAt !== null || retryAfter !== null
}

/**
 * By the status, which may be one that the body gave away. The one question about a write: can the effect have happened? Only the
 * marketplace's own word says that it has not; whatever else stands on the way may have passed the request on.
 */
const judgeStatus = (status: number, { exchange, said: { faults, ownWord } }: Heard): Judgement => {
  const { write = false } = exchange
  const open: Judgement = { kind: write ? 'unknown' : 'unavailable' }
  if (status === 401)
    return ownWord || !write ? { kind: 'unavailable', renewToken: true, staleToken: write } : { ...open, renewToken: true }
  if (status === 429) return ownWord || !write || namesBudget(exchange) ? { kind: 'throttled' } : open
  // A redirect or a stray status leaves open what happened, as every server fault does.
  if (status < 400 || status >= 500 || openStatuses.has(status) || !ownWord) return open
  if (status === 400 && !write && exchange.rules.isOutage(faults)) return open
  return { kind: 'refused' }
}

const parseBody = (text: string | null): { readonly json: boolean; readonly value: unknown } => {
  if (text === null) return { json: false, value: undefined }
  try {
    return { json: true, value: JSON.parse(text) }
  } catch (error) {
    // HTML, an empty body, a cut one: all "not JSON", which the caller judges by the status.
    if (error instanceof SyntaxError) return { json: false, value: undefined }
    throw error
  }
}

const judgeSuccess = (heard: Heard, json: boolean, body: unknown): Judgement | null => {
  const { exchange, said } = heard
  if (exchange.bodyText === null || !json) {
    if (exchange.write) return { kind: 'unknown' }
    // The connection broke in the middle of the answer: a whole one may come next time. Otherwise it came whole and makes no sense.
    return { kind: exchange.bodyText === null && !isOwnCheck(exchange.networkCode) ? 'unavailable' : 'malformed' }
  }
  const status = contradiction(body, heard)
  if (status === null) return null
  const brings = hasPayload(body, exchange.payloadKeys)
  if (status === 0 && exchange.refusesInBody === true && said.namesError && !brings) return { kind: 'refused' }
  // 207 says that parts of it ended differently: some may have been done.
  if (exchange.write && (status === 0 || exchange.status === 207 || brings)) return { kind: 'unknown' }
  if (status === 0) return { kind: said.ownWord ? 'refused' : 'unavailable' }
  return judgeStatus(status, heard)
}

/** As it can be stored: texts are cut at a length, which may leave half of a surrogate pair, and Postgres keeps no U+0000. */
const storableText = (text: string | null): string | null => text?.toWellFormed().replaceAll('\0', '\ufffd') ?? null

const storableFault = ({ code, field, description }: Fault): Fault => ({
  code: storableText(code),
  field: storableText(field),
  description: storableText(description),
})

const isOwnCheck = (networkCode: string | null): boolean =>
  networkCode === bodyTooLarge || networkCode === bodyUnreadable || networkCode === tooManyRecords

/**
 * The one place that maps HTTP and network faults to failure classes. Pure and total: every exchange gets a verdict, a write
 * that may have been applied is never anything but `unknown`, and nothing but the marketplace's own word is `refused`.
 */
export const classify = (exchange: Exchange): Verdict => {
  const { status, write = false } = exchange
  if (status === null) {
    const kind = write && exchange.sent !== 'never' ? 'unknown' : 'unavailable'
    return {
      ok: false,
      kind,
      sent: exchange.sent,
      httpStatus: null,
      faults: [],
      retryAt: null,
      ...noHints,
      networkCode: exchange.networkCode,
    }
  }
  const { json, value: body } = parseBody(exchange.bodyText)
  const said = exchange.rules.read(body, exchange)
  const faults = said.faults.map(storableFault)
  const heard: Heard = { exchange, said }
  const judgement = judgeAnswer(status, heard, json, body)
  if (judgement === null) return { ok: true, body, faults }
  const told = budgetSignal({ ...exchange, status: judgement.kind === 'throttled' ? 429 : status })
  const waitUntil = told.retryAfter ?? (judgement.kind === 'throttled' ? told.replenishAt : null)
  return {
    ok: false,
    kind: judgement.kind,
    sent: 'answered',
    httpStatus: status,
    faults,
    retryAt: judgement.kind === 'throttled' ? throttledUntil(waitUntil, exchange.nowMs) : waitUntil,
    contentNotFound: judgement.kind === 'refused' && exchange.rules.saysNone(faults),
    alreadyDone: judgement.kind === 'refused' && write && exchange.rules.saysDone(faults),
    networkCode: exchange.networkCode,
    renewToken: judgement.renewToken ?? false,
    staleToken: judgement.staleToken ?? false,
    ownWord: said.ownWord,
  }
}

const noHints = { contentNotFound: false, alreadyDone: false, renewToken: false, staleToken: false, ownWord: false }

const judgeAnswer = (status: number, heard: Heard, json: boolean, body: unknown): Judgement | null => {
  const { exchange, said } = heard
  if (status >= 200 && status < 300) return judgeSuccess(heard, json, body)
  if (status < 400 || status >= 500) return judgeStatus(status, heard)
  const named = said.statuses
  // A refusal that speaks of a server fault, or brings what the write should have made, contradicts itself: that leaves it open.
  const fault = named.find((code) => code >= 500 || openStatuses.has(code))
  if (fault !== undefined || (exchange.write && hasPayload(body, exchange.payloadKeys))) return judgeStatus(fault ?? 500, heard)
  // Some gateways answer an expired token or a used-up budget with a plain 400: the code says which.
  return judgeStatus(named.find((code) => code === 401 || code === 429) ?? status, heard)
}

const throttledUntil = (told: Date | null, nowMs: number): Date => {
  if (told === null) return new Date(nowMs + defaultThrottleWaitMs)
  return new Date(Math.max(told.getTime(), nowMs + minThrottleWaitMs))
}

/** A verdict as the error to throw. */
export const toFailure = (
  verdict: Verdict & { readonly ok: false },
  call: {
    readonly operation: string
    readonly sellerId: string
    readonly correlationId: string
    readonly credentialsDead?: boolean
    readonly credentialsDoubted?: boolean
    readonly ofCredentials?: boolean
  },
): MarketplaceFailure => {
  const details: FailureDetails = {
    operation: call.operation,
    sellerId: call.sellerId,
    correlationId: call.correlationId,
    sent: verdict.sent,
    httpStatus: verdict.httpStatus,
    faults: verdict.faults,
    retryAt: verdict.retryAt,
    credentialsDead: call.credentialsDead ?? false,
    credentialsDoubted: call.credentialsDoubted ?? false,
    ofCredentials: call.ofCredentials ?? false,
    staleToken: verdict.staleToken,
    contentNotFound: verdict.contentNotFound,
    alreadyDone: verdict.alreadyDone,
    networkCode: verdict.networkCode,
  }
  const named = namesOfFaults(verdict.faults.slice(0, 3))
  // Where nothing went wrong on the way, nobody was asked.
  const unanswered = verdict.sent === 'never' && verdict.networkCode === null ? 'not sent' : 'no answer'
  const status = verdict.httpStatus === null ? unanswered : `HTTP ${verdict.httpStatus}`
  const refusal = verdict.httpStatus !== null && verdict.httpStatus >= 400 && verdict.httpStatus < 500
  // Whoever reads it should look at what stands on the way, not at the marketplace.
  const whose = refusal && !verdict.ownWord ? 'not in the words of the marketplace' : null
  const message = [`${call.operation} ${verdict.kind}: ${status}`, whose, verdict.networkCode, ...named]
    .filter((part) => part !== null)
    .join(', ')
  return failureOf(verdict.kind, message, details)
}
