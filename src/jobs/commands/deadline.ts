import { afterTimeout } from '../../clock.ts'
import { type CommandParts, clockOf } from './engine.ts'

const leaseMarginMs = 1_000
/** What a process that was killed had in hand is free after so long. */
const unrenewedMs = 15_000
/** A lease is renewed this often; after a try that failed it is tried again sooner. */
const renewEveryMs = 4_000
const tryAgainMs = 1_000

/** Longest that sending may take: for a token, the request, and storing the result. */
const longestMs = ({ requestTimeoutMs }: Pick<CommandParts, 'requestTimeoutMs'>): number =>
  2 * requestTimeoutMs + 2 * leaseMarginMs

/** Lease of a sender until it is renewed. By the database's clock, from the intent on. */
export const leaseMs = (parts: Pick<CommandParts, 'requestTimeoutMs'>): number => Math.min(unrenewedMs, longestMs(parts))

/** Deadline for sending the request of one attempt. */
export interface SendingDeadline {
  passed(): boolean
  /** Aborts when the deadline passes. */
  readonly signal: AbortSignal
  /**
   * Moves the deadline on from now on, as long as `renew` holds the lease for another so many milliseconds. Call it when the intent is stored. What
   * `renew` answers is whether the lease was still held when it was renewed; it must not reject.
   */
  keep(renew: (forMs: number) => Promise<boolean>): void
  /** The request has ended, and its result is stored. */
  end(): void
}

/**
 * Starts the time in which a request may be sent. Call it before the transaction that stores the intent: the lease begins within it, so this
 * deadline passes first, however late the commit is acknowledged. In the same way a renewal counts from before it was asked for, and one that is
 * acknowledged after the deadline does not count. Both of our clocks count: one may be set, the other stands still while a virtual machine is paused.
 */
export const startDeadline = (parts: Pick<CommandParts, 'requestTimeoutMs' | 'clock' | 'after'>): SendingDeadline => {
  const clock = clockOf(parts)
  const { after = afterTimeout } = parts
  const overMs = clock.monotonicMs() + longestMs(parts)
  let [wallMs, monotonicMs] = [clock.wallMs(), clock.monotonicMs()]
  let allowedMs = leaseMs(parts) - leaseMarginMs
  let callOff = (): void => undefined
  let ended = false
  const abort = new AbortController()
  const abortIn = (delayMs: number) => setTimeout(() => abort.abort(), delayMs).unref()
  let aborting = abortIn(allowedMs)

  const isLate = (): boolean => clock.monotonicMs() - monotonicMs >= allowedMs
  const renewOnce = async (renew: (forMs: number) => Promise<boolean>): Promise<void> => {
    const asked = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() }
    const forMs = Math.min(unrenewedMs, overMs - asked.monotonicMs)
    const isRenewed = await renew(forMs)
    if (ended || isLate()) return
    if (isRenewed) {
      ;({ wallMs, monotonicMs } = asked)
      allowedMs = forMs - leaseMarginMs
      clearTimeout(aborting)
      aborting = abortIn(allowedMs - (clock.monotonicMs() - monotonicMs))
    }
    renewIn(isRenewed ? renewEveryMs : tryAgainMs, renew)
  }
  const renewIn = (delayMs: number, renew: (forMs: number) => Promise<boolean>): void => {
    // Nothing would be won: the longest time ends with what is held already.
    if (monotonicMs + allowedMs + leaseMarginMs >= overMs) return
    callOff = after(delayMs, () => renewOnce(renew))
  }
  return {
    passed: () => Math.abs(clock.wallMs() - wallMs) >= allowedMs || isLate(),
    signal: abort.signal,
    keep: (renew) => renewIn(Math.max(0, renewEveryMs - (clock.monotonicMs() - monotonicMs)), renew),
    end: () => {
      ended = true
      callOff()
      clearTimeout(aborting)
    },
  }
}
