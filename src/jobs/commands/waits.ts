import type { CommandParts } from './engine.ts'

/** Number of requests that provably changed nothing, after which the command is held for an operator. */
export const mostAttempts = 6

/** Moments of the read-backs, as parts of the settle time. The last one is at its end. */
const readBackMoments = [0.04, 0.15, 0.35, 0.65, 1]
/** Number of observations that decide against a request. */
export const fewestClearReads = 2
/** A command is held only after this number of consecutive failed attempts, however much time has passed: a stopped daemon makes none. */
export const fewestLooks = 5

/** A command in trouble raises an alarm after this. */
export const alarmAfterMs = ({ settleTimeMs }: Pick<CommandParts, 'settleTimeMs'>): number => 5 * settleTimeMs

/**
 * How long a command may be in trouble before it is held: a request that may have been applied is settled soon, one that
 * was provably not sent can wait for an outage to end (a day with the default settle time).
 */
export const patienceMs = ({ settleTimeMs }: Pick<CommandParts, 'settleTimeMs'>, state: 'pending' | 'verifying'): number =>
  (state === 'verifying' ? 10 : 720) * settleTimeMs

/** Jitter, so that commands are not all retried at once. */
export const jittered = ({ random = Math.random }: CommandParts, delayMs: number): number => delayMs * (0.75 + random() / 2)

/** Back-off after a number of consecutive failed attempts. */
export const backOffMs = (parts: CommandParts, failed: number): number => {
  const firstMs = Math.min(1_000, parts.settleTimeMs / 20)
  const longestMs = Math.min(300_000, parts.settleTimeMs)
  return jittered(parts, Math.min(firstMs * 2 ** Math.min(failed, 20), longestMs))
}

/** Wait until the next read-back of a request whose outcome was known so long ago. */
export const nextReadBackMs = (parts: CommandParts, elapsedMs: number): number => {
  const { settleTimeMs } = parts
  const next = readBackMoments.map((part) => part * settleTimeMs).find((momentMs) => momentMs > elapsedMs + 1)
  return next === undefined ? jittered(parts, Math.min(settleTimeMs / 4, 30_000)) : next - elapsedMs
}
