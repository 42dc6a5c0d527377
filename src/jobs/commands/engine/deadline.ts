import { afterTimeout } from '../../../util/clock.ts'
import { type CommandParts, getClock } from './engine.ts'

const leaseMarginMs = 1_000
/** After this time the command of a process that was killed is free. */
const unrenewedMs = 15_000
/** Interval of renewals, and after a failed one. */
const renewEveryMs = 4_000
const retryRenewalMs = 1_000

/** Maximum time for sending: getting a token, the request, and storing the result. */
const maxSendMs = ({ requestTimeoutMs }: Pick<CommandParts, 'requestTimeoutMs'>): number =>
  2 * requestTimeoutMs + 2 * leaseMarginMs

/** Lease of a sender until it is renewed, by the database's clock, from the intent. */
export const leaseMs = (parts: Pick<CommandParts, 'requestTimeoutMs'>): number => Math.min(unrenewedMs, maxSendMs(parts))

/** Deadline for sending the request of one attempt. */
export interface SendingDeadline {
  passed(): boolean
  /** Aborts when the deadline passes. */
  readonly signal: AbortSignal
  /**
   * Extends the deadline from now on, as long as `renew` extends the lease by the given milliseconds. Call it when the intent is stored. `renew` returns
   * whether the lease was still held when it was renewed; it must not reject.
   */
  keep(renew: (forMs: number) => Promise<boolean>): void
  /** The request has ended, and its result is stored. */
  end(): void
}

/**
 * Starts the deadline for sending a request. Call it before the transaction that stores the intent: the lease begins within it, so this deadline passes
 * first, however late the commit is acknowledged. A renewal likewise counts from before its request, and one that is acknowledged after the deadline does
 * not count. Both of our clocks count: the wall clock can be set, and the monotonic clock stops while a virtual machine is paused.
 */
export const startDeadline = (parts: Pick<CommandParts, 'requestTimeoutMs' | 'clock' | 'after'>): SendingDeadline => {
  const clock = getClock(parts)
  const { after = afterTimeout } = parts
  const overMs = clock.monotonicMs() + maxSendMs(parts)
  let [wallMs, monotonicMs] = [clock.wallMs(), clock.monotonicMs()]
  let allowedMs = leaseMs(parts) - leaseMarginMs
  let cancelRenewal = (): void => undefined
  let ended = false
  const abort = new AbortController()
  const abortIn = (delayMs: number) => setTimeout(() => abort.abort(), delayMs).unref()
  let aborting = abortIn(allowedMs)

  const isLate = (): boolean => clock.monotonicMs() - monotonicMs >= allowedMs
  const renewOnce = async (renew: (forMs: number) => Promise<boolean>): Promise<void> => {
    const requested = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() }
    const forMs = Math.min(unrenewedMs, overMs - requested.monotonicMs)
    const isRenewed = await renew(forMs)
    if (ended || isLate()) return
    if (isRenewed) {
      ;({ wallMs, monotonicMs } = requested)
      allowedMs = forMs - leaseMarginMs
      clearTimeout(aborting)
      aborting = abortIn(allowedMs - (clock.monotonicMs() - monotonicMs))
    }
    renewIn(isRenewed ? renewEveryMs : retryRenewalMs, renew)
  }
  const renewIn = (delayMs: number, renew: (forMs: number) => Promise<boolean>): void => {
    // A renewal would gain nothing: the maximum time ends with the current lease.
    if (monotonicMs + allowedMs + leaseMarginMs >= overMs) return
    cancelRenewal = after(delayMs, () => renewOnce(renew))
  }
  return {
    passed: () => Math.abs(clock.wallMs() - wallMs) >= allowedMs || isLate(),
    signal: abort.signal,
    keep: (renew) => renewIn(Math.max(0, renewEveryMs - (clock.monotonicMs() - monotonicMs)), renew),
    end: () => {
      ended = true
      cancelRenewal()
      clearTimeout(aborting)
    },
  }
}
