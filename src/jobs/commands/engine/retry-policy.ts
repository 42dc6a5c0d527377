import type { CommandParts } from './engine.ts'

/** After this many requests that provably changed nothing the command is held for an operator. */
export const maxAttempts = 6

/** Times of the read-backs, as fractions of the settle time. The last one is at its end. */
const readBackTimes = [0.04, 0.15, 0.35, 0.65, 1]
/** Minimum number of observations that decide against a request. */
export const minClearReads = 2
/** A command is held only after this many consecutive failed tries, however much time has passed: a stopped daemon makes none. */
export const minFailures = 5

/** Time after which a failing command raises an alarm. */
export const alarmAfterMs = ({ settleTimeMs }: Pick<CommandParts, 'settleTimeMs'>): number => 5 * settleTimeMs

/**
 * Time after which a failing command is held. A request that may have been applied is settled soon; one that was provably not sent can wait for an
 * outage to end (a day with the default settle time).
 */
export const maxRetryMs = ({ settleTimeMs }: Pick<CommandParts, 'settleTimeMs'>, state: 'pending' | 'verifying'): number =>
  (state === 'verifying' ? 10 : 720) * settleTimeMs

/** Adds jitter, so that commands are not all retried at the same time. */
export const jittered = ({ random = Math.random }: CommandParts, delayMs: number): number => delayMs * (0.75 + random() / 2)

/** Back-off after a number of consecutive failed tries. */
export const backOffMs = (parts: CommandParts, failed: number): number => {
  const firstMs = Math.min(1_000, parts.settleTimeMs / 20)
  const maxMs = Math.min(300_000, parts.settleTimeMs)
  return jittered(parts, Math.min(firstMs * 2 ** Math.min(failed, 20), maxMs))
}

/** Wait until the next read-back of a request whose outcome was stored `elapsedMs` ago. */
export const nextReadBackMs = (parts: CommandParts, elapsedMs: number): number => {
  const { settleTimeMs } = parts
  const next = readBackTimes.map((part) => part * settleTimeMs).find((timeMs) => timeMs > elapsedMs + 1)
  return next === undefined ? jittered(parts, Math.min(settleTimeMs / 4, 30_000)) : next - elapsedMs
}
