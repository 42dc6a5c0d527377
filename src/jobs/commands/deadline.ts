import { type CommandParts, clockOf } from './engine.ts'

const leaseMarginMs = 1_000

/** Lease of a sender: for a token, the request, and storing the result. By the database's clock, from the intent on. */
export const leaseMs = ({ requestTimeoutMs }: CommandParts): number => 2 * requestTimeoutMs + 2 * leaseMarginMs

/** Deadline for sending the request of one attempt. */
export interface SendingDeadline {
  passed(): boolean
  /** Aborts when the deadline passes. */
  readonly signal: AbortSignal
}

/**
 * Starts the time in which a request may be sent. Call it before the transaction that stores the intent: the lease begins within it, so this
 * deadline passes first, however late the commit is acknowledged. Both of our clocks count: one may be set, the other stands still while
 * a virtual machine is paused.
 */
export const startDeadline = (parts: CommandParts): SendingDeadline => {
  const clock = clockOf(parts)
  const allowedMs = leaseMs(parts) - leaseMarginMs
  const [wallMs, monotonicMs] = [clock.wallMs(), clock.monotonicMs()]
  return {
    passed: () => Math.abs(clock.wallMs() - wallMs) >= allowedMs || clock.monotonicMs() - monotonicMs >= allowedMs,
    signal: AbortSignal.timeout(allowedMs),
  }
}
