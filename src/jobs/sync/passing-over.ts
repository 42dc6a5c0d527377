import type { CallOptions } from '../../clients/call-options.ts'
import { MarketplaceFailure, Throttled } from '../../clients/errors.ts'

/** So often something that is asked for by name fails before it is passed over. */
export const asksToPassOver = 3

/** So often a run fails before something is passed over though nothing else is known that could show an outage. */
export const failuresWithoutOthers = 8

/**
 * So often a run fails before something is passed over though not even what is known is answered for: that may be what spoils its answers, and
 * no stream may stop for ever. An hour, with the pauses between failed runs.
 */
export const failuresAgainstOthers = 12

/** A failure that may be about what was asked for by name: not about the budget or the credentials, nor because the run has to stop. */
export const mayBeOfOne = (error: unknown, { signal }: CallOptions): error is MarketplaceFailure =>
  error instanceof MarketplaceFailure && !(error instanceof Throttled) && !error.ofCredentials && !signal.aborted
