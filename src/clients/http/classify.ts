import { parseHeaderDateMs } from '../../domain/values/header-date.ts'
import { isObject } from '../../domain/values/values.ts'
import type { BudgetSignal } from '../rate-limit/budget.ts'
import {
  bodyTooLarge,
  bodyUnreadable,
  buildFailure,
  type FailureDetails,
  type FailureKind,
  type Fault,
  listFaultCodes,
  type MarketplaceFailure,
  type SentState,
  tooManyRecords,
  unknownCharset,
} from './errors.ts'
import type { Operation } from './operation.ts'

/** The errors in a body, read by the rules of one marketplace. */
export interface BodyErrors {
  readonly faults: readonly Fault[]
  /** The marketplace itself has answered, and not a gateway. */
  readonly fromMarketplace: boolean
  /** HTTP statuses in the body, directly or by error codes. */
  readonly statuses: readonly number[]
  /** The body declares a failure, even if it has data. */
  readonly isFailure: boolean
  /** It contains an error, not only warnings. */
  readonly hasError: boolean
  /** It contains no error; it may contain warnings. */
  readonly onlyWarnings: boolean
  /** The seller is not enrolled in the programme of the operation. */
  readonly notEnrolled: boolean
}

/** How errors of one marketplace are read. Pure; never throws. */
export interface FaultRules {
  read(body: unknown, how: Pick<Exchange, 'statusIsData' | 'speaksOAuth'>): BodyErrors
  /** An apparent refusal that reads get during outages. */
  isOutage(faults: readonly Fault[]): boolean
  /** The resource does not exist. An unknown path is another error. */
  isNotFound(faults: readonly Fault[]): boolean
  /** The goal was reached before. Only a hint. */
  isAlreadyDone(faults: readonly Fault[]): boolean
}

/** Headers (lower case, in order of preference) in which the marketplace reports its rate limit. */
export interface BudgetHeaders {
  /** Requests that may still be sent. */
  readonly remaining: readonly string[]
  /** When the next request is available: epoch ms, epoch s or ISO 8601. */
  readonly replenishAt: readonly string[]
}

/** Response headers of Node: lower-case names. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** One HTTP exchange to be classified. */
export interface Exchange extends Pick<Operation, 'write' | 'payloadKeys' | 'refusesInBody' | 'speaksOAuth'> {
  readonly sent: SentState
  readonly status: number | null
  readonly headers: ResponseHeaders
  /** The whole body as text; null if it did not arrive completely or could not be decompressed. */
  readonly bodyText: string | null
  readonly networkCode: string | null
  /** Our own clock, epoch ms. */
  readonly nowMs: number
  /** The marketplace's clock at the same time, epoch ms. Dates in its headers are on this clock. */
  readonly marketplaceNowMs: number
  readonly budgetHeaders: BudgetHeaders
  /** How errors of the marketplace are read. */
  readonly rules: FaultRules
  /** The body is a record: its `status` is data, not the status of the answer. */
  readonly statusIsData?: true
  /** Wait in ms after a 429 that names no time; default: a short wait, which the rate limit extends. */
  readonly throttleWaitMs?: number
}

/** The classification of one exchange. */
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
      readonly notEnrolled: boolean
      readonly networkCode: string | null
      /** The access token was not accepted: a new one may be. */
      readonly renewToken: boolean
      /** See {@link FailureDetails}. */
      readonly staleToken: boolean
      /** The marketplace itself has answered: JSON in one of its shapes, with a code. */
      readonly fromMarketplace: boolean
    }

/** Longest wait that an answer can require. */
const maxWaitMs = 86_400_000
/** From this value on, a number is no wait in seconds. */
const maxSeconds = 1e8
/** Range of a number that is read as an epoch. */
const earliestMs = Date.UTC(2000, 0)
const latestMs = Date.UTC(2200, 0)
/** A number that is neither a wait nor a timestamp: Date would read it as a year. */
const isOddNumber = /^[+-]\s*[\d.]+$/
/** Shortest wait after a throttled answer, so that a date in the past causes no retry storm. */
const minThrottleWaitMs = 1_000
/** Wait after a throttled answer that names no time; the rate limit extends it if throttling continues. */
const defaultThrottleWaitMs = 2_000

/** Statuses after which the effect is unknown, as after every server error: a lock, a replay and a timeout may be reported after an effect. */
const openStatuses: ReadonlySet<number> = new Set([408, 423, 425])

const hasPayload = (body: unknown, payloadKeys: readonly string[]): boolean =>
  payloadKeys.some((path) => {
    const found = path.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), body)
    return found !== undefined && found !== null
  })

/** The status that a 2xx answer should have had by its body; 0 if the body names none, null if it is a regular answer. */
const findContradiction = (body: unknown, { exchange, bodyErrors }: AnswerContext): number | null => {
  const { faults, isFailure, onlyWarnings, statuses } = bodyErrors
  if (faults.length === 0 && !isFailure) return null
  if (hasPayload(body, exchange.payloadKeys) && !isFailure && onlyWarnings) return null
  // The highest status counts: with a server error beside a refusal, the effect is unknown.
  return statuses.length === 0 ? 0 : Math.max(...statuses)
}

/** Text of a header; the first one if it is repeated. */
export const headerText = (headers: ResponseHeaders, name: string): string | null => {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.[0])?.trim() || null
}

/**
 * The time in a header as a wait in ms from now: epoch ms, epoch s, ISO 8601, HTTP date, or a small number of seconds. A date without a zone is UTC. Dates are
 * on the marketplace's clock; if the result is out of range, our clock is used. Clamped to [0, one day], so that no timer overflows (a known bug: epoch ms
 * read as seconds fires immediately, again and again). Null if unreadable, and for numbers that are neither a wait nor a date of this era: they would result
 * in no wait, or one of a day.
 */
export const parseWaitMs = (value: string | null, nowMs: number, marketplaceNowMs: number): number | null => {
  if (value === null || isOddNumber.test(value)) return null
  const number = /^\d{1,20}(?:\.\d+)?$/.test(value) ? Number(value) : null
  if (number !== null && number < maxSeconds) return Math.min(number * 1000, maxWaitMs)
  const epochMs = number === null ? parseHeaderDateMs(value) : number < 1e11 ? number * 1000 : number
  if (Number.isNaN(epochMs) || (number !== null && (epochMs < earliestMs || epochMs > latestMs))) return null
  const waits = [epochMs - marketplaceNowMs, epochMs - nowMs]
  const sensible = waits.find((wait) => wait >= 0 && wait <= maxWaitMs)
  return sensible ?? Math.min(Math.max(waits[0] ?? 0, 0), maxWaitMs)
}

/** The rate limit signal of an answer, with its times converted to our own clock. Pure. */
export const readBudgetSignal = (exchange: Exchange & { readonly status: number }): BudgetSignal => {
  const { headers, nowMs, marketplaceNowMs, budgetHeaders } = exchange
  /** The value of the first of these headers that is readable. */
  const first = <Read>(names: readonly string[], read: (text: string | null) => Read | null): Read | null =>
    names.map((name) => read(headerText(headers, name))).find((found) => found !== null) ?? null
  const count = (value: string | null): number | null => (value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null)
  const date = (value: string | null): Date | null => {
    const wait = parseWaitMs(value, nowMs, marketplaceNowMs)
    return wait === null ? null : new Date(nowMs + wait)
  }
  const replenishAt = first(budgetHeaders.replenishAt, date)
  const retryAfter = date(headerText(headers, 'retry-after'))
  const fixedWaitMs = exchange.status === 429 && retryAfter === null && replenishAt === null ? exchange.throttleWaitMs : undefined
  return {
    status: exchange.status,
    remaining: first(budgetHeaders.remaining, count),
    replenishAt,
    retryAfter: fixedWaitMs === undefined ? retryAfter : new Date(nowMs + fixedWaitMs),
  }
}

interface Classification {
  readonly kind: FailureKind
  readonly renewToken?: true
  readonly staleToken?: boolean
}

/** An answer without its status. */
interface AnswerContext {
  readonly exchange: Exchange
  readonly bodyErrors: BodyErrors
}

/** Whether an answer reports a rate limit: the remaining requests, the time of the next one, or a retry time. */
const hasBudgetHeaders = (exchange: Exchange): boolean => {
  const { remaining, replenishAt, retryAfter } = readBudgetSignal({ ...exchange, status: 200 })
  return remaining !== null || replenishAt !== null || retryAfter !== null
}

/**
 * Classifies by the status, which may be one from the body. The question about a write: can it have had an effect? Only an answer of the marketplace itself
 * excludes it; a gateway may have forwarded the request.
 */
const classifyStatus = (status: number, { exchange, bodyErrors }: AnswerContext): Classification => {
  const { faults, fromMarketplace } = bodyErrors
  const { write = false } = exchange
  // Another token would not help: the credentials are accepted, and the programme is not open to the seller.
  if (status === 401 && bodyErrors.notEnrolled && !write) return { kind: 'refused' }
  const unclear: Classification = { kind: write ? 'unknown' : 'unavailable' }
  if (status === 401)
    return fromMarketplace || !write
      ? { kind: 'unavailable', renewToken: true, staleToken: write }
      : { ...unclear, renewToken: true }
  if (status === 429) return fromMarketplace || !write || hasBudgetHeaders(exchange) ? { kind: 'throttled' } : unclear
  // After a redirect or an unexpected status the effect is unknown, as after every server error.
  if (status < 400 || status >= 500 || openStatuses.has(status) || !fromMarketplace) return unclear
  if (status === 400 && !write && exchange.rules.isOutage(faults)) return unclear
  return { kind: 'refused' }
}

const parseBody = (text: string | null): { readonly json: boolean; readonly value: unknown } => {
  if (text === null) return { json: false, value: undefined }
  try {
    return { json: true, value: JSON.parse(text) }
  } catch (error) {
    // HTML, an empty or a truncated body: the status decides.
    if (error instanceof SyntaxError) return { json: false, value: undefined }
    throw error
  }
}

const classifySuccess = (context: AnswerContext, json: boolean, body: unknown): Classification | null => {
  const { exchange, bodyErrors } = context
  if (exchange.bodyText === null || !json) {
    if (exchange.write) return { kind: 'unknown' }
    // If the connection broke within the answer, the next one may be complete. A complete answer that is unreadable is malformed.
    return { kind: exchange.bodyText === null && !isOwnCheck(exchange.networkCode) ? 'unavailable' : 'malformed' }
  }
  const status = findContradiction(body, context)
  if (status === null) return null
  const brings = hasPayload(body, exchange.payloadKeys)
  if (status === 0 && exchange.refusesInBody === true && bodyErrors.hasError && !brings) return { kind: 'refused' }
  // 207: parts of the request had different results, so some may have been done.
  if (exchange.write && (status === 0 || exchange.status === 207 || brings)) return { kind: 'unknown' }
  if (status === 0) return { kind: bodyErrors.fromMarketplace ? 'refused' : 'unavailable' }
  return classifyStatus(status, context)
}

/** A text that Postgres can store: truncation may leave half of a surrogate pair, and Postgres rejects U+0000. */
const storableText = (text: string | null): string | null => text?.toWellFormed().replaceAll('\0', '\ufffd') ?? null

const toStorableFault = ({ code, field, description }: Fault): Fault => ({
  code: storableText(code),
  field: storableText(field),
  description: storableText(description),
})

const ownChecks: ReadonlySet<string | null> = new Set([bodyTooLarge, bodyUnreadable, tooManyRecords, unknownCharset])

const isOwnCheck = (networkCode: string | null): boolean => ownChecks.has(networkCode)

/**
 * The only mapping of HTTP and network errors to failure classes. Pure and total: every exchange gets a verdict. A write that may have been applied is always
 * `unknown`, and only an answer of the marketplace itself is `refused`.
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
  const bodyErrors = exchange.rules.read(body, exchange)
  const faults = bodyErrors.faults.map(toStorableFault)
  const context: AnswerContext = { exchange, bodyErrors }
  const classification = classifyAnswer(status, context, json, body)
  if (classification === null) return { ok: true, body, faults }
  const signal = readBudgetSignal({ ...exchange, status: classification.kind === 'throttled' ? 429 : status })
  const waitUntil = signal.retryAfter ?? (classification.kind === 'throttled' ? signal.replenishAt : null)
  return {
    ok: false,
    kind: classification.kind,
    sent: 'answered',
    httpStatus: status,
    faults,
    retryAt: classification.kind === 'throttled' ? throttledUntil(waitUntil, exchange.nowMs) : waitUntil,
    contentNotFound: classification.kind === 'refused' && exchange.rules.isNotFound(faults),
    alreadyDone: classification.kind === 'refused' && write && exchange.rules.isAlreadyDone(faults),
    notEnrolled: classification.kind === 'refused' && !write && bodyErrors.notEnrolled,
    networkCode: exchange.networkCode,
    renewToken: classification.renewToken ?? false,
    staleToken: classification.staleToken ?? false,
    fromMarketplace: bodyErrors.fromMarketplace,
  }
}

const noHints = {
  contentNotFound: false,
  alreadyDone: false,
  notEnrolled: false,
  renewToken: false,
  staleToken: false,
  fromMarketplace: false,
}

const classifyAnswer = (status: number, context: AnswerContext, json: boolean, body: unknown): Classification | null => {
  const { exchange, bodyErrors } = context
  if (status >= 200 && status < 300) return classifySuccess(context, json, body)
  if (status < 400 || status >= 500) return classifyStatus(status, context)
  const named = bodyErrors.statuses
  // A refusal with a server error, or with the result of the write, contradicts itself: the effect is unknown.
  const fault = named.find((code) => code >= 500 || openStatuses.has(code))
  if (fault !== undefined || (exchange.write && hasPayload(body, exchange.payloadKeys)))
    return classifyStatus(fault ?? 500, context)
  // Some gateways answer an expired token or an exceeded rate limit with a plain 400: the error code tells which.
  return classifyStatus(named.find((code) => code === 401 || code === 429) ?? status, context)
}

const throttledUntil = (requestedAt: Date | null, nowMs: number): Date => {
  if (requestedAt === null) return new Date(nowMs + defaultThrottleWaitMs)
  return new Date(Math.max(requestedAt.getTime(), nowMs + minThrottleWaitMs))
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
    notEnrolled: verdict.notEnrolled,
    networkCode: verdict.networkCode,
  }
  const named = listFaultCodes(verdict.faults.slice(0, 3))
  // Without a network error, no request was made.
  const unanswered = verdict.sent === 'never' && verdict.networkCode === null ? 'not sent' : 'no answer'
  const status = verdict.httpStatus === null ? unanswered : `HTTP ${verdict.httpStatus}`
  const refusal = verdict.httpStatus !== null && verdict.httpStatus >= 400 && verdict.httpStatus < 500
  // The reader should check the gateway, not the marketplace.
  const origin = refusal && !verdict.fromMarketplace ? 'not from the marketplace itself' : null
  const message = [`${call.operation} ${verdict.kind}: ${status}`, origin, verdict.networkCode, ...named]
    .filter((part) => part !== null)
    .join(', ')
  return buildFailure(verdict.kind, message, details)
}
