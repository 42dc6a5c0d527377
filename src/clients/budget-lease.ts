import { allowedAtMs, availableAt, type BucketMemory, type BucketShape, intervalOf, reserveOf } from './bucket.ts'
import type { CallLane } from './lane.ts'
import type { DrawPoint } from './recent-draws.ts'

/**
 * Requests that were taken out of a shared bucket together. They are used up one by one, and those that are not used lapse at the pace at
 * which the bucket fills up again: so what is left of them and what is in the bucket are never more than a full bucket.
 */
export interface Lease {
  readonly count: number
  readonly used: number
  /** From when on they lapse, on a clock that nobody sets: the bucket would be full then without them. */
  readonly lapsesFromMs: number
  readonly intervalMs: number
  /** How it stood with the bucket when they were taken out. */
  readonly point: DrawPoint
}

/**
 * Takes up to `count` requests out of the bucket at once, but none before its time; none are taken while it is empty. Of the reserve of commands only a command
 * takes, and one. They leave so much later. `waitUntilMs`: when the bucket lets another one through, to a command.
 */
export const drawFrom = (
  shape: BucketShape,
  memory: BucketMemory,
  nowMs: number,
  { count, lane, leaveAfterMs = 0 }: { readonly count: number; readonly lane: CallLane; readonly leaveAfterMs?: number },
): { readonly memory: BucketMemory; readonly drawn: number; readonly waitUntilMs: number } => {
  const isCommand = lane === 'command'
  const isForCommands = memory.isForCommands || isCommand
  const available = availableAt(shape, memory, nowMs)
  const free = Math.max(available - reserveOf(shape, { isForCommands }), isCommand ? Math.min(1, available) : 0)
  const drawn = Math.min(count, free)
  const arrivalMs =
    drawn === 0 ? memory.arrivalMs : Math.max(memory.arrivalMs, nowMs + leaveAfterMs) + drawn * intervalOf(shape, memory)
  const left = { ...memory, arrivalMs, isForCommands }
  return { memory: left, drawn, waitUntilMs: allowedAtMs(shape, left) }
}

/** Requests that a lease still holds. */
export const leftOf = (lease: Lease | null, nowMs: number): number => {
  if (lease === null) return 0
  const lapsed = Math.floor((nowMs - lease.lapsesFromMs) / lease.intervalMs)
  return Math.max(0, lease.count - Math.max(lease.used, lapsed))
}

/** The lease after one more request out of it; null when it is used up or has lapsed. */
export const useLease = (lease: Lease, nowMs: number): Lease | null => {
  const left = leftOf(lease, nowMs)
  return left > 0 ? { ...lease, used: lease.count - left + 1 } : null
}
