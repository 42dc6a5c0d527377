/**
 * What a failure means for the caller.
 *
 * - `refused`: the marketplace itself has refused, by a code of its own; nothing was done; do not retry.
 * - `throttled`: nothing was done; retry at `retryAt`.
 * - `unavailable`: nothing was done, or the request was a read; retry with jittered backoff.
 * - `unknown`: a write that may have been applied; read back before anything is sent again.
 * - `malformed`: a read with an unreadable answer; quarantine or retry, never skip.
 *
 * The rules and their reasons: docs/decisions/0007-only-a-coded-answer-is-a-refusal.md.
 */
export type FailureKind = 'refused' | 'throttled' | 'unavailable' | 'unknown' | 'malformed'

/** Whether the request was sent: no, perhaps, or yes, since it was answered. */
export type SentState = 'never' | 'maybe' | 'answered'

/** One error in an answer of the marketplace. The description is free text: never write it to a message or a log line. */
export interface Fault {
  readonly code: string | null
  readonly field: string | null
  readonly description: string | null
}

/** Codes of our own checks of an answer: it is too large, or cannot be decompressed. */
export const bodyTooLarge = 'BODY_TOO_LARGE'
/** See `bodyTooLarge`. */
export const bodyUnreadable = 'BODY_UNREADABLE'
/** See `bodyTooLarge`: its content type names an unknown character encoding. */
export const unknownCharset = 'UNKNOWN_CHARSET'
/** See `bodyTooLarge`: it has too many records. */
export const tooManyRecords = 'TOO_MANY_RECORDS'

/** A failed call. */
export interface FailureDetails {
  readonly operation: string
  readonly sellerId: string
  readonly correlationId: string
  readonly sent: SentState
  readonly httpStatus: number | null
  readonly faults: readonly Fault[]
  /** When to retry, on our own clock; null if the marketplace names no time. */
  readonly retryAt: Date | null
  /** The token operation has refused the credentials repeatedly: no call of this seller is possible until they are accepted. */
  readonly credentialsDead: boolean
  /** The credentials were refused, but do not count as dead yet: no call of the seller is sent before `retryAt`. */
  readonly credentialsDoubted?: boolean
  /** It concerns the credentials of the seller, not the call. */
  readonly ofCredentials?: boolean
  /** The marketplace itself did not accept the access token of a write: nothing was done, and the next request gets a new token. */
  readonly staleToken: boolean
  /** The marketplace itself answered that the resource does not exist. An unknown path is another error. */
  readonly contentNotFound: boolean
  /** A refusal because the goal was reached before, by its text. Only a hint: read back to verify. */
  readonly alreadyDone: boolean
  /** A refused read: the marketplace states that the seller is not in the programme of the operation. */
  readonly notEnrolled?: boolean
  /** Code of the network error (`ECONNRESET`, `ETIMEDOUT`, …), or of our own check (`BODY_TOO_LARGE`, …). */
  readonly networkCode: string | null
}

/**
 * A call to the marketplace without a usable answer. The message names the operation, status and error codes, never a secret, a body or the marketplace's free
 * text.
 */
export abstract class MarketplaceFailure extends Error implements FailureDetails {
  abstract readonly kind: FailureKind
  readonly operation: string
  readonly sellerId: string
  readonly correlationId: string
  readonly sent: SentState
  readonly httpStatus: number | null
  readonly faults: readonly Fault[]
  readonly retryAt: Date | null
  readonly credentialsDead: boolean
  readonly credentialsDoubted: boolean
  readonly ofCredentials: boolean
  readonly staleToken: boolean
  readonly contentNotFound: boolean
  readonly alreadyDone: boolean
  readonly notEnrolled: boolean
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
    this.credentialsDoubted = details.credentialsDoubted ?? false
    this.ofCredentials = details.ofCredentials ?? details.credentialsDead
    this.staleToken = details.staleToken
    this.contentNotFound = details.contentNotFound
    this.alreadyDone = details.alreadyDone
    this.notEnrolled = details.notEnrolled ?? false
    this.networkCode = details.networkCode
  }
}

/** The marketplace itself has refused; nothing was done. See `credentialsDead`, `contentNotFound` and `alreadyDone`. */
export class Refused extends MarketplaceFailure {
  readonly kind = 'refused'
}

/** Nothing was done; retry at `retryAt`. */
export class Throttled extends MarketplaceFailure {
  readonly kind = 'throttled'
  override readonly retryAt: Date

  constructor(message: string, details: FailureDetails & { readonly retryAt: Date }) {
    super(message, details)
    this.retryAt = details.retryAt
  }

  /** The same failure with a retry time that is not before `earliest`. */
  notBefore(earliest: Date): Throttled {
    return earliest > this.retryAt ? new Throttled(this.message, { ...this, retryAt: earliest }) : this
  }
}

/** Nothing was done, or the call was a read: retry with jittered backoff. See `staleToken`. */
export class Unavailable extends MarketplaceFailure {
  readonly kind = 'unavailable'
}

/** Whether the credentials are in doubt (see `credentialsDoubted`). Such an error says nothing about the called operation. */
export const isCredentialsDoubt = (error: unknown): error is Unavailable & { readonly retryAt: Date } =>
  error instanceof Unavailable && error.credentialsDoubted && error.retryAt !== null

/** A write that may have been applied: read back before sending again. */
export class Unknown extends MarketplaceFailure {
  readonly kind = 'unknown'
}

/** A read with an unreadable answer. */
export class Malformed extends MarketplaceFailure {
  readonly kind = 'malformed'
}

const safeName = (text: string | null): string | null => (text !== null && /^[\w.-]{1,80}$/.test(text) ? text : null)

/** Error codes, each with its field. The marketplace writes them, so only texts in the form of a name are returned, no free text. */
export const listFaultCodes = (faults: readonly unknown[]): readonly string[] =>
  faults.flatMap((fault) => {
    if (typeof fault !== 'object' || fault === null) return []
    const code = 'code' in fault ? fault.code : null
    const field = 'field' in fault ? fault.field : null
    const safeCode = typeof code === 'string' ? safeName(code) : null
    const safeField = typeof field === 'string' ? safeName(field) : null
    return safeCode === null ? [] : [safeField === null ? safeCode : `${safeCode} (${safeField})`]
  })

/** The failure of a kind. */
export const buildFailure = (kind: FailureKind, message: string, details: FailureDetails): MarketplaceFailure => {
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
