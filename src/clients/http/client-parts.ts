import type { Drift } from '../../domain/drift/shape.ts'
import type { RateBudget } from '../rate-limit/budget.ts'
import type { RefreshTokens } from './auth.ts'
import type { FailureKind } from './errors.ts'

/** The part of a pino logger that the clients use. */
export interface ClientLog {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The end of one HTTP request: `outcome` is `ok`, `none` (a 404 that means "not found") or the class of the failure. */
export interface RequestReport {
  readonly sellerId: string
  readonly correlationId: string
  readonly operation: string
  readonly outcome: 'ok' | 'none' | FailureKind
  /** HTTP status; null without an answer. */
  readonly status: number | null
  readonly durationMs: number
}

/** A value outside the known set. It is stored unchanged. */
export interface UnknownValueReport {
  /** For example `order`, `return`, `campaign`. */
  readonly resource: string
  readonly field: string
  readonly value: string
}

/** A difference between an answer and what is published about its operation. */
export interface DriftReport extends Drift {
  readonly sellerId: string
  readonly operation: string
}

/** Reports of the clients to metrics and logs. A hook must not throw. */
export interface ClientHooks {
  readonly onRequest?: (report: RequestReport) => void
  readonly onUnknownValue?: (report: UnknownValueReport) => void
  readonly onDrift?: (report: DriftReport) => void
}

/** Dependencies of a client, in addition to the connection. */
export interface ClientParts {
  readonly budget: RateBudget
  readonly log: ClientLog
  readonly hooks?: ClientHooks
  /** Default: every request uses the configured refresh token, and a replacement is ignored. */
  readonly refreshTokens?: RefreshTokens
  /** Limit of an answer in bytes, before and after decompression; default 32 MiB. */
  readonly maxBodyBytes?: number
  /** Maximum number of records of one answer; default 10,000. */
  readonly maxRecords?: number
  /** Our own clock, epoch ms. */
  readonly now?: () => number
}
