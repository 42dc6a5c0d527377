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

/** Faults that we found ourselves in an answer that came: too large, or not to be unpacked. */
export const bodyTooLarge = 'BODY_TOO_LARGE'
/** See `bodyTooLarge`. */
export const bodyUnreadable = 'BODY_UNREADABLE'
/** See `bodyTooLarge`: more records than one answer may hold. */
export const tooManyRecords = 'TOO_MANY_RECORDS'

/** Everything that is known about a failed call. */
export interface FailureDetails {
  readonly operation: string
  readonly sellerId: string
  readonly correlationId: string
  readonly sent: SentState
  readonly httpStatus: number | null
  readonly faults: readonly Fault[]
  /** When to try again, on our own clock; null when the marketplace said nothing. */
  readonly retryAt: Date | null
  /** The token operation has refused the credentials again and again: nothing of this seller works until they are accepted. */
  readonly credentialsDead: boolean
  /** The credentials were refused, but not yet so often that they count as dead: no call of the seller leaves before `retryAt`. */
  readonly credentialsDoubted?: boolean
  /** It is about the credentials of the seller, and not about what was asked for. */
  readonly ofCredentials?: boolean
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

  /** The same, with a time to send again that lies at this one or after it. */
  notBefore(earliest: Date): Throttled {
    return earliest > this.retryAt ? new Throttled(this.message, { ...this, retryAt: earliest }) : this
  }
}

/** Nothing was done, or the call was a read: send again with jittered backoff. See `staleToken`. */
export class Unavailable extends MarketplaceFailure {
  readonly kind = 'unavailable'
}

/** Whether the credentials are in doubt (see `credentialsDoubted`): it says nothing of what was to be called. */
export const isCredentialsDoubt = (error: unknown): error is Unavailable & { readonly retryAt: Date } =>
  error instanceof Unavailable && error.credentialsDoubted && error.retryAt !== null

/** A write that may have been applied: read back before anything is sent again. */
export class Unknown extends MarketplaceFailure {
  readonly kind = 'unknown'
}

/** A read whose answer cannot be understood. */
export class Malformed extends MarketplaceFailure {
  readonly kind = 'malformed'
}

const safeName = (text: string | null): string | null => (text !== null && /^[\w.-]{1,80}$/.test(text) ? text : null)

/** Codes of faults, each with its field. They are the marketplace's words too: only what looks like a name comes along, and no free text. */
export const namesOfFaults = (faults: readonly unknown[]): readonly string[] =>
  faults.flatMap((fault) => {
    if (typeof fault !== 'object' || fault === null) return []
    const code = 'code' in fault ? fault.code : null
    const field = 'field' in fault ? fault.field : null
    const safeCode = typeof code === 'string' ? safeName(code) : null
    const safeField = typeof field === 'string' ? safeName(field) : null
    return safeCode === null ? [] : [safeField === null ? safeCode : `${safeCode} (${safeField})`]
  })

/** The failure of a kind. */
export const failureOf = (kind: FailureKind, message: string, details: FailureDetails): MarketplaceFailure => {
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
