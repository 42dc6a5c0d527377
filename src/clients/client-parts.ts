import type { RateBudget } from './budget.ts'
import type { FailureKind } from './errors.ts'

/** The part of a pino logger that the clients use. */
export interface ClientLog {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** One HTTP request as it ended: `outcome` is `ok`, `none` (404 that means "none there") or the class of the failure. */
export interface RequestReport {
  readonly sellerId: string
  readonly operation: string
  readonly outcome: 'ok' | 'none' | FailureKind
  /** HTTP status, null when there was no answer. */
  readonly status: number | null
  readonly durationMs: number
}

/** A value outside the known set, kept as it came. */
export interface UnknownValueReport {
  /** Such as `order`, `return`, `campaign`. */
  readonly resource: string
  readonly field: string
  readonly value: string
}

/** What the clients report to metrics and logs. A hook must not throw. */
export interface ClientHooks {
  readonly onRequest?: (report: RequestReport) => void
  readonly onUnknownValue?: (report: UnknownValueReport) => void
}

/** What a client is built from, beside the connection. */
export interface ClientParts {
  readonly budget: RateBudget
  readonly log: ClientLog
  readonly hooks?: ClientHooks
  /** Bound of an answer, both on the wire and unpacked; default 32 MiB. */
  readonly maxBodyBytes?: number
  /** Most records of one answer; default 10,000. */
  readonly maxRecords?: number
  /** Our own clock, epoch ms. */
  readonly now?: () => number
}
