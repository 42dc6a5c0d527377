import type { BudgetSignal } from './budget.ts'
import type { BudgetHeaders, OperationName } from './profiles/profile.ts'

/**
 * What a failure means for the caller.
 *
 * - `refused`: the marketplace itself, by a code of its own, said a final no; nothing was done; do not retry.
 * - `throttled`: nothing was done; retry at `retryAt`.
 * - `unavailable`: nothing was done, or the request was a read; retry with jittered backoff.
 * - `unknown`: a write that may have been applied; read back before anything is sent again.
 * - `malformed`: a read whose answer cannot be understood; quarantine or retry, never skip.
 *
 * Which answer means what, and why: docs/decisions/0014-whose-word-refuses.md.
 */
export type FailureKind = 'refused' | 'throttled' | 'unavailable' | 'unknown' | 'malformed'

/** Whether the request left this machine: surely not, perhaps, or surely because it was answered. */
export type SentState = 'never' | 'maybe' | 'answered'

/** One fault that the marketplace named. The description is its free text: never put it in a message or a log line. */
export interface Fault {
  readonly code: string | null
  readonly field: string | null
  readonly description: string | null
}

/** Everything that is known about a failed call. */
export interface FailureDetails {
  readonly operation: OperationName
  readonly sellerId: string
  readonly correlationId: string
  readonly sent: SentState
  readonly httpStatus: number | null
  readonly faults: readonly Fault[]
  /** When to try again, on our own clock; null when the marketplace said nothing. */
  readonly retryAt: Date | null
  /** The token operation has refused the credentials again and again: nothing of this seller works until they are accepted. */
  readonly credentialsDead: boolean
  /** The access token of a write was not accepted, by the marketplace's own word: nothing was done, and the next request gets a new token. */
  readonly staleToken: boolean
  /** The marketplace's own word that there is none, which is not "no such address". */
  readonly contentNotFound: boolean
  /** A refusal whose text says that the goal was reached before. A hint only: read back to know. */
  readonly alreadyDone: boolean
  /** Code of the network fault (`ECONNRESET`, `ETIMEDOUT`, …), or of our own check (`BODY_TOO_LARGE`, …). */
  readonly networkCode: string | null
}

/**
 * A call to the marketplace that brought no usable answer. The message names the operation, status and fault codes,
 * never a secret, a body or the marketplace's free text.
 */
export abstract class MarketplaceFailure extends Error implements FailureDetails {
  abstract readonly kind: FailureKind
  readonly operation: OperationName
  readonly sellerId: string
  readonly correlationId: string
  readonly sent: SentState
  readonly httpStatus: number | null
  readonly faults: readonly Fault[]
  readonly retryAt: Date | null
  readonly credentialsDead: boolean
  readonly staleToken: boolean
  readonly contentNotFound: boolean
  readonly alreadyDone: boolean
  readonly networkCode: string | null

  constructor(message: string, details: FailureDetails) {
    super(message)
    this.name = new.target.name
    this.operation = details.operation
    this.sellerId = details.sellerId
    this.correlationId = details.correlationId
    this.sent = details.sent
    this.httpStatus = details.httpStatus
    this.faults = details.faults
    this.retryAt = details.retryAt
    this.credentialsDead = details.credentialsDead
    this.staleToken = details.staleToken
    this.contentNotFound = details.contentNotFound
    this.alreadyDone = details.alreadyDone
    this.networkCode = details.networkCode
  }
}

/** The marketplace itself said a final no; nothing was done. See `credentialsDead`, `contentNotFound` and `alreadyDone`. */
export class Refused extends MarketplaceFailure {
  readonly kind = 'refused'
}

/** Nothing was done; send again at `retryAt`. */
export class Throttled extends MarketplaceFailure {
  readonly kind = 'throttled'
  override readonly retryAt: Date

  constructor(message: string, details: FailureDetails & { readonly retryAt: Date }) {
    super(message, details)
    this.retryAt = details.retryAt
  }
}

/** Nothing was done, or the call was a read: send again with jittered backoff. See `staleToken`. */
export class Unavailable extends MarketplaceFailure {
  readonly kind = 'unavailable'
}

/**
 * The token operation has refused the credentials, but not yet so often that they count as dead: no call of the seller leaves before
 * `retryAt`. It says nothing of what was to be called.
 */
export function isCredentialsDoubt(error: unknown): error is Unavailable & { readonly retryAt: Date } {
  if (!(error instanceof Unavailable) || error.operation !== 'token' || error.retryAt === null) return false
  return error.faults.length > 0 && error.httpStatus !== null && error.httpStatus < 500
}

/** A write that may have been applied: read back before anything is sent again. */
export class Unknown extends MarketplaceFailure {
  readonly kind = 'unknown'
}

/** A read whose answer cannot be understood. */
export class Malformed extends MarketplaceFailure {
  readonly kind = 'malformed'
}

/** Response headers as Node gives them: lower-case names. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** All that is known of one HTTP exchange when it is judged. */
export interface Exchange {
  /** Whether the request may have changed something at the marketplace. */
  readonly write: boolean
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
  /** The body is a record whose `status` is its own, not one of the answer. */
  readonly statusIsData?: true
  /** This operation refuses with a 2xx and errors in the body: errors without a record are a no, whatever their codes. */
  readonly refusesInBody?: true
  /** This operation also refuses in the words of OAuth 2.0 (RFC 6749, section 5.2): they are then the marketplace's own. */
  readonly speaksOAuth?: true
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

const MAX_FAULTS = 50
const MAX_FAULT_TEXT = 500
/** Longest wait that an answer can impose; the scarcest published budget is one request an hour. */
const MAX_WAIT_MS = 3_600_000
/** Shortest wait after a throttled answer, so that a date in the past is no retry storm. */
const MIN_THROTTLE_WAIT_MS = 1_000
/** Wait after a throttled answer that names no time; the budget lengthens it when throttling goes on. */
const DEFAULT_THROTTLE_WAIT_MS = 2_000

/** Statuses that the marketplace's codes stand for (public facts, section 6.2), by prefix; for bodies that contradict their HTTP status. */
const STATUS_BY_CODE: readonly (readonly [RegExp, number])[] = [
  [/^REQUEST_THRESHOLD_VIOLATED/i, 429],
  [/^TOO_MANY_REQUESTS/i, 429],
  [/^UNAUTHORIZED/i, 401],
  [/^FORBIDDEN/i, 403],
  [/^RESOURCE_IS_LOCKED/i, 423],
  [/^(?:CONTENT_NOT_FOUND|URI_NOT_FOUND|NOT_FOUND)/i, 404],
  [/^(?:SYSTEM_ERROR|INVALID_SYSTEM_STATE|INTERNAL_SERVER_ERROR|SERVER_ERROR)/i, 500],
  [/^(?:DOWNSTREAM_SYSTEM_TIME_OUT|GATEWAY_TIMEOUT)/i, 504],
  [/^(?:SERVICE_UNAVAILABLE|TEMPORARILY_UNAVAILABLE)/i, 503],
  [/^(?:INVALID_|MISSING_|MALFORMED_|BAD_REQUEST|UNPROCESSABLE_ENTITY|METHOD_NOT_ALLOWED|UNSUPPORTED_MEDIA_TYPE)/i, 400],
]

/**
 * A code as the marketplace writes it: capitals, often with a component behind a dot (public facts, section 6.2; specification, Errors);
 * the fulfillment service puts the status in front. Reason phrases ("Not Found") and bare numbers, as gateways and frameworks have them, are none.
 */
const OWN_CODE = /^(?:[A-Z][A-Z\d]*(?:[_.][A-Z\d]+)*|[45]\d\d\.[A-Z]+\.\d+)$/

/** Errors of OAuth 2.0 (RFC 6749, sections 4.1.2.1 and 5.2). */
const OAUTH_CODES: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
])

/** Statuses that leave open what happened, as every server fault does: a lock, a replay and a time-out are told after an effect, too. */
const OPEN_STATUSES: ReadonlySet<number> = new Set([408, 423, 425])

/** Keys that carry what was asked for; errors beside them are remarks, errors without them are the answer. */
const PAYLOAD_KEYS = ['order', 'returnOrders', 'access_token', 'payload', 'simplifiedShippingSettings']

/** Texts of a refusal that mean "done before" (public facts, section 6.4). Loose, since only these samples are known. */
const ALREADY_DONE = /higher status|already|over\s*shipped|is in (?!created|acknowledged)\w+ status|enough quantity to/i

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function faultText(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, MAX_FAULT_TEXT) : null
}

function readFault(entry: unknown): Fault | null {
  if (!isObject(entry)) {
    const text = faultText(entry)
    return text === null ? null : { code: text, field: null, description: null }
  }
  const causes = Array.isArray(entry['causes']) ? entry['causes'] : []
  const words = causes.map((cause) => (isObject(cause) ? cause['description'] : cause))
  const description = joinTexts([entry['description'], entry['message'], entry['info'], entry['detail'], ...words])
  return { code: faultText(entry['code']), field: faultText(entry['field']), description: faultText(description) }
}

function joinTexts(values: readonly unknown[]): string {
  return [...new Set(values.slice(0, MAX_FAULTS).map(faultText))].filter((text) => text !== null).join('; ')
}

/** The entries under `errors` or `error`: a list, a single one, or either below a further `error`. Not recursive: a body may be as deep as it likes. */
function entriesOf(value: unknown): readonly unknown[] {
  const inner = isObject(value) && 'error' in value ? value['error'] : value
  if (inner === undefined || inner === null || inner === '') return []
  return Array.isArray(inner) ? inner : [inner]
}

/** Of display advertising (specification, Errors). */
function isFailureCode(code: unknown): boolean {
  return typeof code === 'string' && /^failure$/i.test(code)
}

/** The `details` of a failure, a text or a list of them; one that is a code, such as `TOO_MANY_FILTERS_PROVIDED_IN_REQUEST`, counts as one. */
function failureEntries(details: unknown): readonly unknown[] {
  const texts = [details].flat().slice(0, MAX_FAULTS)
  const codes = texts.filter((text) => typeof text === 'string' && /^[A-Z][A-Z\d]*(?:[_.][A-Z\d]+)+$/.test(text))
  const others = texts.filter((text) => !codes.includes(text))
  return codes.length > 0 && others.length === 0 ? codes : [...codes, { code: 'failure', description: joinTexts(others) }]
}

/** The faults that a body names, in whichever of the known shapes (public facts, section 6.1). Never throws; empty when there are none. */
export function readFaults(body: unknown): readonly Fault[] {
  if (!isObject(body)) return []
  const list = body['list']
  const entries = [...entriesOf(body['errors']), ...(isObject(list) ? entriesOf(list['errors']) : [])]
  const error = body['error']
  if (isObject(error) || Array.isArray(error)) entries.push(...entriesOf(error))
  else if (faultText(error) !== null) {
    entries.push({ code: error, description: body['error_description'] ?? body['message'] })
  }
  if (isFailureCode(body['code'])) entries.push(...failureEntries(body['details']))
  if (entries.length === 0 && faultText(body['title']) !== null)
    entries.push({ code: body['title'], description: body['detail'] })
  return entries
    .slice(0, MAX_FAULTS)
    .map(readFault)
    .filter((fault) => fault !== null)
}

/** Whether one of these entries is a fault with a code, one that fits the pattern where there is one. */
function someCoded(entries: readonly unknown[], pattern: RegExp): boolean {
  return entries.slice(0, MAX_FAULTS).some((entry) => {
    const code = isObject(entry) ? entry['code'] : undefined
    return typeof code === 'string' && pattern.test(code)
  })
}

/**
 * Whether the marketplace itself speaks, and not something on the way: a fault with a code in one of its shapes (public facts, section
 * 6.1). `errors.error[]` is its alone, so any code will do there; the others are common, so the code must be one of its kind. Spring's
 * default body, `{"message":…}` and the like are JSON too, but come from whoever happens to stand there.
 */
function isOwnWord(body: unknown, speaksOAuth: boolean): boolean {
  if (!isObject(body)) return false
  const { errors, error, list, code, details } = body
  for (const found of [errors, isObject(list) ? list['errors'] : undefined]) {
    if (someCoded(entriesOf(found), isObject(found) && 'error' in found ? /\S/ : OWN_CODE)) return true
  }
  if (typeof error !== 'string' && someCoded(entriesOf(error), OWN_CODE)) return true
  if (isFailureCode(code) && details !== undefined) return true
  return speaksOAuth && OAUTH_CODES.has(error)
}

function hasPayload(body: unknown): boolean {
  if (!isObject(body)) return false
  if (PAYLOAD_KEYS.some((key) => body[key] !== undefined && body[key] !== null)) return true
  const list = body['list']
  return isObject(list) && (isObject(list['elements']) || isObject(list['meta']))
}

function isRemark(entry: unknown): boolean {
  return isObject(entry) && typeof entry['severity'] === 'string' && /^(?:INFO|WARN)/i.test(entry['severity'])
}

function hasError(body: unknown): boolean {
  return isObject(body) && entriesOf(body['errors']).some((entry) => isObject(entry) && !isRemark(entry))
}

function statusOfCode(code: string | null): number | null {
  if (code === null) return null
  // The fulfillment service puts the status in front: `400.WFS.100`.
  const leading = /^([45]\d\d)(?:\D|$)/.exec(code)?.[1]
  if (leading !== undefined) return Number(leading)
  return STATUS_BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? null
}

/** The statuses that a body names, by its codes and by a `status` of its own. */
function namedStatuses(body: unknown, faults: readonly Fault[], statusIsData: boolean): readonly number[] {
  const status = isObject(body) && !statusIsData ? body['status'] : null
  const named = typeof status === 'string' || typeof status === 'number' ? String(status) : null
  return [...faults.map((fault) => statusOfCode(fault.code)), statusOfCode(named)].filter((found) => found !== null)
}

/** What a 2xx body says of itself: null when it is the answer, otherwise the status it should have had (0 when it does not say). */
function contradiction(body: unknown, faults: readonly Fault[], statusIsData: boolean): number | null {
  if (!isObject(body)) return null
  const status = statusIsData ? null : body['status']
  const named = typeof status === 'string' ? status : typeof status === 'number' ? String(status) : ''
  const fails = /^(?:FAIL|ERROR)/i.test(named) || statusOfCode(named) !== null || isFailureCode(body['code'])
  if (faults.length === 0 && !fails) return null
  const raw = [...entriesOf(body['errors']), ...entriesOf(body['error'])]
  if (hasPayload(body) && !fails && raw.every(isRemark)) return null
  const found = namedStatuses(body, faults, statusIsData)
  // The worst one counts: a server fault beside a refusal leaves the outcome open.
  return found.length === 0 ? 0 : Math.max(...found)
}

/** Text of a header, the first one when it came several times. */
export function headerText(headers: ResponseHeaders, name: string): string | null {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.[0])?.trim() || null
}

/**
 * A moment that a header names, as a wait in ms from now: epoch ms, epoch s, ISO 8601, HTTP date, or a small number of seconds.
 * Dates are on the marketplace's clock; one that makes no sense there is tried on ours. Clamped to [0, one hour], so no timer can
 * overflow (a known bug: epoch ms taken for seconds fires at once, again and again). Null when unreadable.
 */
export function waitMs(value: string | null, nowMs: number, marketplaceNowMs: number): number | null {
  if (value === null) return null
  const number = /^\d{1,20}(?:\.\d+)?$/.test(value) ? Number(value) : null
  if (number !== null && number < 1e8) return Math.min(number * 1000, MAX_WAIT_MS)
  const epochMs = number === null ? Date.parse(value) : number < 1e11 ? number * 1000 : number
  if (Number.isNaN(epochMs)) return null
  const waits = [epochMs - marketplaceNowMs, epochMs - nowMs]
  const sensible = waits.find((wait) => wait >= 0 && wait <= MAX_WAIT_MS)
  return sensible ?? Math.min(Math.max(waits[0] ?? 0, 0), MAX_WAIT_MS)
}

/** What an answer tells about the marketplace's budget, with its times moved to our own clock. Pure. */
export function budgetSignal(exchange: Exchange & { readonly status: number }): BudgetSignal {
  const { headers, nowMs, marketplaceNowMs, budgetHeaders } = exchange
  const first = (names: readonly string[]): string | null =>
    names.map((name) => headerText(headers, name)).find((text) => text !== null) ?? null
  const date = (value: string | null): Date | null => {
    const wait = waitMs(value, nowMs, marketplaceNowMs)
    return wait === null ? null : new Date(nowMs + wait)
  }
  const remaining = first(budgetHeaders.remaining)
  const replenishAt = date(first(budgetHeaders.replenishAt))
  const retryAfter = date(headerText(headers, 'retry-after'))
  const untold = exchange.status === 429 && retryAfter === null && replenishAt === null ? exchange.throttleWaitMs : undefined
  return {
    status: exchange.status,
    remaining: remaining !== null && /^\d{1,9}$/.test(remaining) ? Number(remaining) : null,
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
  readonly faults: readonly Fault[]
  readonly ownWord: boolean
}

/** Whether an answer names a rate budget: by what is left, by when more comes, or by when to come back. */
function namesBudget(exchange: Exchange): boolean {
  const { remaining, replenishAt, retryAfter } = budgetSignal({ ...exchange, status: 200 })
  return remaining !== null || replenishAt !== null || retryAfter !== null
}

/**
 * By the status, which may be one that the body gave away. The one question about a write: can the effect have happened? Only the
 * marketplace's own word says that it has not; whatever else stands on the way may have passed the request on.
 */
function judgeStatus(status: number, { exchange, faults, ownWord }: Heard): Judgement {
  const { write } = exchange
  const open: Judgement = { kind: write ? 'unknown' : 'unavailable' }
  if (status === 401)
    return ownWord || !write ? { kind: 'unavailable', renewToken: true, staleToken: write } : { ...open, renewToken: true }
  if (status === 429) return ownWord || !write || namesBudget(exchange) ? { kind: 'throttled' } : open
  // A redirect or a stray status leaves open what happened, as every server fault does.
  if (status < 400 || status >= 500 || OPEN_STATUSES.has(status) || !ownWord) return open
  if (status === 400 && !write && isOutageRefusal(faults)) return open
  return { kind: 'refused' }
}

/** A 400 that a read gets during outages: field `data`, "Invalid Request", nothing more (public facts, section 6.3). */
function isOutageRefusal(faults: readonly Fault[]): boolean {
  const [fault] = faults
  return (
    fault !== undefined &&
    faults.length === 1 &&
    /^INVALID_REQUEST\./i.test(fault.code ?? '') &&
    fault.field === 'data' &&
    /^invalid request\.?$/i.test(fault.description ?? '')
  )
}

function parseBody(text: string | null): { readonly json: boolean; readonly value: unknown } {
  if (text === null) return { json: false, value: undefined }
  try {
    return { json: true, value: JSON.parse(text) }
  } catch (error) {
    // HTML, an empty body, a cut one: all "not JSON", which the caller judges by the status.
    if (error instanceof SyntaxError) return { json: false, value: undefined }
    throw error
  }
}

function judgeSuccess(heard: Heard, json: boolean, body: unknown): Judgement | null {
  const { exchange, faults, ownWord } = heard
  if (exchange.bodyText === null || !json) {
    if (exchange.write) return { kind: 'unknown' }
    // The connection broke in the middle of the answer: a whole one may come next time. Otherwise it came whole and makes no sense.
    return { kind: exchange.bodyText === null && !isOwnCheck(exchange.networkCode) ? 'unavailable' : 'malformed' }
  }
  const status = contradiction(body, faults, exchange.statusIsData ?? false)
  if (status === null) return null
  if (status === 0 && exchange.refusesInBody === true && hasError(body) && !hasPayload(body)) return { kind: 'refused' }
  // 207 says that parts of it ended differently: some may have been done.
  if (exchange.write && (status === 0 || exchange.status === 207 || hasPayload(body))) return { kind: 'unknown' }
  if (status === 0) return { kind: ownWord ? 'refused' : 'unavailable' }
  return judgeStatus(status, heard)
}

/** Faults that we found ourselves in an answer that came: too large, or not to be unpacked. */
export const BODY_TOO_LARGE = 'BODY_TOO_LARGE'
/** See `BODY_TOO_LARGE`. */
export const BODY_UNREADABLE = 'BODY_UNREADABLE'
/** See `BODY_TOO_LARGE`: more records than one answer may hold. */
export const TOO_MANY_RECORDS = 'TOO_MANY_RECORDS'

function isOwnCheck(networkCode: string | null): boolean {
  return networkCode === BODY_TOO_LARGE || networkCode === BODY_UNREADABLE || networkCode === TOO_MANY_RECORDS
}

/**
 * The one place that maps HTTP and network faults to failure classes. Pure and total: every exchange gets a verdict, a write
 * that may have been applied is never anything but `unknown`, and nothing but the marketplace's own word is `refused`.
 */
export function classify(exchange: Exchange): Verdict {
  const { status, write } = exchange
  if (status === null) {
    const kind = write && exchange.sent !== 'never' ? 'unknown' : 'unavailable'
    return {
      ok: false,
      kind,
      sent: exchange.sent,
      httpStatus: null,
      faults: [],
      retryAt: null,
      ...NO_HINTS,
      networkCode: exchange.networkCode,
    }
  }
  const { json, value: body } = parseBody(exchange.bodyText)
  const faults = readFaults(body)
  const heard: Heard = { exchange, faults, ownWord: isOwnWord(body, exchange.speaksOAuth ?? false) }
  const judgement = judgeAnswer(status, heard, json, body)
  if (judgement === null) return { ok: true, body, faults }
  const told = budgetSignal({ ...exchange, status: judgement.kind === 'throttled' ? 429 : status })
  const waitUntil = told.retryAfter ?? (judgement.kind === 'throttled' ? told.replenishAt : null)
  const texts = faults.map((fault) => fault.description ?? '').join('\n')
  return {
    ok: false,
    kind: judgement.kind,
    sent: 'answered',
    httpStatus: status,
    faults,
    retryAt: judgement.kind === 'throttled' ? throttledUntil(waitUntil, exchange.nowMs) : waitUntil,
    contentNotFound: judgement.kind === 'refused' && saysNone(faults),
    alreadyDone: judgement.kind === 'refused' && write && ALREADY_DONE.test(texts),
    networkCode: exchange.networkCode,
    renewToken: judgement.renewToken ?? false,
    staleToken: judgement.staleToken ?? false,
    ownWord: heard.ownWord,
  }
}

function saysNone(faults: readonly Fault[]): boolean {
  return faults.length > 0 && faults.every(({ code }) => /^CONTENT_NOT_FOUND(?:\.|$)/i.test(code ?? ''))
}

const NO_HINTS = { contentNotFound: false, alreadyDone: false, renewToken: false, staleToken: false, ownWord: false }

function judgeAnswer(status: number, heard: Heard, json: boolean, body: unknown): Judgement | null {
  const { exchange, faults } = heard
  if (status >= 200 && status < 300) return judgeSuccess(heard, json, body)
  if (status < 400 || status >= 500) return judgeStatus(status, heard)
  const named = namedStatuses(body, faults, exchange.statusIsData ?? false)
  // A refusal that speaks of a server fault, or brings what the write should have made, contradicts itself: that leaves it open.
  const fault = named.find((code) => code >= 500 || OPEN_STATUSES.has(code))
  if (fault !== undefined || (exchange.write && hasPayload(body))) return judgeStatus(fault ?? 500, heard)
  // Some gateways answer an expired token or a used-up budget with a plain 400: the code tells.
  return judgeStatus(named.find((code) => code === 401 || code === 429) ?? status, heard)
}

function throttledUntil(told: Date | null, nowMs: number): Date {
  if (told === null) return new Date(nowMs + DEFAULT_THROTTLE_WAIT_MS)
  return new Date(Math.max(told.getTime(), nowMs + MIN_THROTTLE_WAIT_MS))
}

function safeName(text: string | null): string | null {
  return text !== null && /^[\w.-]{1,80}$/.test(text) ? text : null
}

/** A verdict as the error to throw. */
export function toFailure(
  verdict: Verdict & { readonly ok: false },
  call: {
    readonly operation: OperationName
    readonly sellerId: string
    readonly correlationId: string
    readonly credentialsDead?: boolean
  },
): MarketplaceFailure {
  const details: FailureDetails = {
    operation: call.operation,
    sellerId: call.sellerId,
    correlationId: call.correlationId,
    sent: verdict.sent,
    httpStatus: verdict.httpStatus,
    faults: verdict.faults,
    retryAt: verdict.retryAt,
    credentialsDead: call.credentialsDead ?? false,
    staleToken: verdict.staleToken,
    contentNotFound: verdict.contentNotFound,
    alreadyDone: verdict.alreadyDone,
    networkCode: verdict.networkCode,
  }
  const named = namesOfFaults(verdict.faults.slice(0, 3))
  const status = verdict.httpStatus === null ? 'no answer' : `HTTP ${verdict.httpStatus}`
  const refusal = verdict.httpStatus !== null && verdict.httpStatus >= 400 && verdict.httpStatus < 500
  // Whoever reads it should look at what stands on the way, not at the marketplace.
  const whose = refusal && !verdict.ownWord ? 'not in the words of the marketplace' : null
  const message = [`${call.operation} ${verdict.kind}: ${status}`, whose, verdict.networkCode, ...named]
    .filter((part) => part !== null)
    .join(', ')
  return failureOf(verdict.kind, message, details)
}

/** Codes of faults, each with its field. They are the marketplace's words too: only what looks like a name comes along, and no free text. */
export function namesOfFaults(faults: readonly unknown[]): readonly string[] {
  return faults.flatMap((fault) => {
    if (!isObject(fault)) return []
    const { code, field } = fault
    const safeCode = typeof code === 'string' ? safeName(code) : null
    const safeField = typeof field === 'string' ? safeName(field) : null
    return safeCode === null ? [] : [safeField === null ? safeCode : `${safeCode} (${safeField})`]
  })
}

function failureOf(kind: FailureKind, message: string, details: FailureDetails): MarketplaceFailure {
  switch (kind) {
    case 'refused':
      return new Refused(message, details)
    case 'throttled':
      return new Throttled(message, { ...details, retryAt: details.retryAt ?? new Date() })
    case 'unavailable':
      return new Unavailable(message, details)
    case 'unknown':
      return new Unknown(message, details)
    case 'malformed':
      return new Malformed(message, details)
  }
}
