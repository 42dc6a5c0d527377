import type { Body } from './body.ts'
import type { ResponseHeaders, Verdict } from './classify.ts'
import type { MarketplaceClock } from './clock.ts'
import type { Fault } from './errors.ts'
import type { HttpOutcome } from './http.ts'
import type { CutRecord } from './json.ts'
import type { Operation } from './operation.ts'

/** One call of an operation. */
export interface Call {
  readonly operation: Operation
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path and query, sent unchanged. */
  readonly target: string
  readonly body: string | null
  /** Path to the records in the answer. */
  readonly recordsAt: readonly string[]
  /** The answer is the record itself without an envelope: its text is the only record, and a `status` in it belongs to the record. */
  readonly answerIsRecord?: true
  /** The answer may be the only element of an array, which is then removed. */
  readonly mayBeWrapped?: true
  /** Headers of this operation. They overrule those of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Another spelling of the marketplace's header names, if it has one; see its `headers`. */
  readonly headerSpelling?: 'underscored' | 'plain'
  /** The part of the operation that has its own rate limit. */
  readonly budgetScope?: string
  /** Texts of the body that an answer may echo. They are redacted. */
  readonly secrets?: readonly string[]
  /** The answer is a file of any size and no JSON; for {@link Caller.download}. */
  readonly isFile?: true
}

/** A usable answer. `envelope` is the document without its records. */
export interface Answer {
  /** False if the marketplace answered a read with "not found". */
  readonly found: boolean
  readonly httpStatus: number
  readonly correlationId: string
  readonly envelope: unknown
  readonly records: readonly CutRecord[]
  /** Our own clock, epoch ms. */
  readonly sentMs: number
  readonly answeredMs: number
}

/** A file as the answer. */
export interface FileAnswer {
  readonly headers: ResponseHeaders
  readonly correlationId: string
  /** The file, decompressed, in chunks. Read or cancel it. It throws a `MarketplaceFailure` if it does not arrive completely. */
  readonly body: Body
  /** Our own clock, epoch ms. */
  readonly sentMs: number
  readonly answeredMs: number
}

/** One HTTP request and its classification. */
export interface Attempt {
  readonly outcome: HttpOutcome
  readonly verdict: Verdict
  readonly records: readonly CutRecord[]
  /** The answer, if it is a file. */
  readonly file: Body | null
}

/** The fields of a verdict without an answer. */
export const noAnswer = {
  ok: false,
  httpStatus: null,
  faults: [],
  retryAt: null,
  contentNotFound: false,
  alreadyDone: false,
  notEnrolled: false,
  networkCode: null,
  renewToken: false,
  staleToken: false,
  fromMarketplace: false,
} as const

/** Proves the origin of one request. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  /** Texts that an answer may echo. They are redacted. */
  readonly secrets: readonly string[]
  /** Called after a 401. True: the next credentials may be accepted, and a read is sent once more. */
  reject(faults: readonly Fault[]): boolean
}

/** How requests to one host are authorised. */
export interface Authorisation {
  /**
   * Credentials of one request, requested directly before it is sent.
   *
   * @throws MarketplaceFailure if there are none
   */
  credentials(signal: AbortSignal): Promise<Credentials>
}

/** What an authorisation may use of its caller. */
export interface AuthorisationContext {
  readonly clock: MarketplaceClock
  /** Sends one request without authorisation, within the rate limit of its operation. Closing the caller aborts it, not the signal of a call that needs it. */
  send(call: Call, credentials: Pick<Credentials, 'headers' | 'secrets'>, correlationId: string): Promise<Attempt>
}
