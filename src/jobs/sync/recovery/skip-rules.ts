import type { CallOptions } from '../../../clients/http/call-options.ts'
import { MarketplaceFailure, Throttled } from '../../../clients/http/errors.ts'

/** Failed requests before a record that is requested by its key is skipped. */
export const failedRequestsBeforeSkip = 3

/** Failed runs before something is skipped when no other known record can show whether it is an outage. */
export const failedRunsWithoutProbes = 8

/**
 * Failed runs before a window is skipped when known-good records fail too: a corrupt record may break all answers, and no stream may stop for ever.
 * With the pauses between failed runs this takes about one hour.
 */
export const failedRunsAgainstProbes = 12

/** Whether a failure may be about the record requested by its key: not about the rate budget or the credentials, and the run does not stop. */
export const mayBeAboutRecord = (error: unknown, { signal }: CallOptions): error is MarketplaceFailure =>
  error instanceof MarketplaceFailure && !(error instanceof Throttled) && !error.ofCredentials && !signal.aborted
