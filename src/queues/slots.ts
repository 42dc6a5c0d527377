import { pause } from '../util/sleep.ts'
import type { JobOutcome } from './jobs.ts'
import { createShares, defaultTimeoutMs, nextToAdmit, slotRetryMs } from './shares.ts'

/** Releases a slot; called once, when the run has ended. */
export type Release = () => void

/** The slots of one kind of work in this process, shared by the sellers. */
export interface Slots {
  /**
   * A slot for a run of this seller; waits for one while the seller holds its share. Null: none became free in time, or the signal is aborted. After
   * such a timeout, further runs of the seller get null without waiting until one of its runs ends.
   */
  take(sellerId: string, signal: AbortSignal): Promise<Release | null>
}

/** Settings of slots. */
export interface SlotsOptions {
  /** Number of slots, at least two. A seller without competition gets half of them. */
  readonly total: number
  /** How long a run waits for a slot, in milliseconds: longer than most runs last. */
  readonly timeoutMs?: number
}

interface WaitingRun {
  readonly admit: (release: Release) => void
}

/**
 * Slots of which no seller can hold all: a seller gets another slot while it holds fewer than are free. A single seller gets half of them. Several
 * sellers that want more each get as many as stay free for the next one: long runs of one seller do not delay another seller.
 */
export const createSlots = ({ total, timeoutMs = defaultTimeoutMs }: SlotsOptions): Slots => {
  const shares = createShares(total)
  const waiting = new Map<string, Set<WaitingRun>>()
  /** Sellers with a run that timed out after the last end of one of their runs. */
  const exhausted = new Set<string>()

  const occupy = (sellerId: string): Release => {
    shares.occupy(sellerId)
    return () => release(sellerId)
  }

  const release = (sellerId: string): void => {
    shares.release(sellerId)
    exhausted.delete(sellerId)
    admitNext()
  }

  /** The seller with the fewest slots goes first. */
  const admitNext = (): void => {
    for (;;) {
      const sellerId = nextToAdmit(shares, waiting.keys())
      if (sellerId === null) return
      const [first] = waiting.get(sellerId) ?? []
      if (first !== undefined) removeWaiting(sellerId, first)
      first?.admit(occupy(sellerId))
    }
  }

  const removeWaiting = (sellerId: string, run: WaitingRun): boolean => {
    const runs = waiting.get(sellerId)
    const removed = runs?.delete(run) ?? false
    if (runs?.size === 0) waiting.delete(sellerId)
    return removed
  }

  return {
    take: async (sellerId, signal) => {
      if (signal.aborted) return null
      if (shares.mayHave(sellerId) && !waiting.has(sellerId)) return occupy(sellerId)
      if (exhausted.has(sellerId)) return null
      const { promise, resolve } = Promise.withResolvers<Release>()
      const run: WaitingRun = { admit: resolve }
      const runs = waiting.get(sellerId) ?? new Set<WaitingRun>()
      waiting.set(sellerId, runs.add(run))
      const over = new AbortController()
      const timedOut = pause(timeoutMs, AbortSignal.any([signal, over.signal])).then(() => {
        if (!removeWaiting(sellerId, run)) return promise
        if (!signal.aborted) exhausted.add(sellerId)
        return null
      })
      try {
        return await Promise.race([promise, timedOut])
      } finally {
        over.abort()
      }
    },
  }
}

/** A job ends before it reaches the limit of starts; the relay enqueues due work again from Postgres. */
const maxStarts = 500

/** Outcome of a run that got no slot: the job is delayed, longer each time, and occupies no worker. `holder`: the seller or endpoint, for the log. */
export const postponeForSlot = (holder: string, starts: number, random: () => number = Math.random): JobOutcome => {
  if (starts >= maxStarts) return { done: true }
  return { runAgainAt: new Date(Date.now() + slotRetryMs(starts, random())), reason: `${holder} has its share of the slots` }
}
