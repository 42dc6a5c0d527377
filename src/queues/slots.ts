import { pause } from '../pause.ts'
import type { JobOutcome } from './jobs.ts'
import { createShares, defaultPatienceMs, nextToAdmit, turnedAwayForMs } from './shares.ts'

/** Gives a slot back; to be called once, when the run has ended. */
export type Release = () => void

/** The slots of one kind of work in this process, shared by the sellers. */
export interface Slots {
  /**
   * A slot for a run of this seller. Waits a moment for one while the seller has its share; null: none came free, or the signal fired. Of a seller
   * for whom none came free the next are turned away at once, until one of its runs ends.
   */
  take(sellerId: string, signal: AbortSignal): Promise<Release | null>
}

/** Settings of slots. */
export interface SlotsOptions {
  /** All of them; two at least. One seller alone has half of them. */
  readonly total: number
  /** So long a run waits for a slot of its seller's share, in milliseconds: longer than most runs last. */
  readonly patienceMs?: number
}

interface Waiting {
  readonly admit: (release: Release) => void
}

/**
 * Slots of which no seller can hold all: a seller gets another one while it holds fewer than are free. One alone has half of them; each of several
 * that want more than they get has as many as stay free for whoever comes next, so that the runs of one seller that last for half a minute keep no
 * other one waiting.
 */
export const createSlots = ({ total, patienceMs = defaultPatienceMs }: SlotsOptions): Slots => {
  const shares = createShares(total)
  const waiting = new Map<string, Set<Waiting>>()
  /** Sellers for whom a run has waited in vain since one of theirs ended. */
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

  /** Whoever holds least goes first. */
  const admitNext = (): void => {
    for (;;) {
      const sellerId = nextToAdmit(shares, waiting.keys())
      if (sellerId === null) return
      const [first] = waiting.get(sellerId) ?? []
      if (first !== undefined) leave(sellerId, first)
      first?.admit(occupy(sellerId))
    }
  }

  const leave = (sellerId: string, run: Waiting): boolean => {
    const runs = waiting.get(sellerId)
    const left = runs?.delete(run) ?? false
    if (runs?.size === 0) waiting.delete(sellerId)
    return left
  }

  return {
    take: async (sellerId, signal) => {
      if (signal.aborted) return null
      if (shares.mayHave(sellerId) && !waiting.has(sellerId)) return occupy(sellerId)
      if (exhausted.has(sellerId)) return null
      const { promise, resolve } = Promise.withResolvers<Release>()
      const run: Waiting = { admit: resolve }
      const runs = waiting.get(sellerId) ?? new Set<Waiting>()
      waiting.set(sellerId, runs.add(run))
      const over = new AbortController()
      const turnedAway = pause(patienceMs, AbortSignal.any([signal, over.signal])).then(() => {
        if (!leave(sellerId, run)) return promise
        if (!signal.aborted) exhausted.add(sellerId)
        return null
      })
      try {
        return await Promise.race([promise, turnedAway])
      } finally {
        over.abort()
      }
    },
  }
}

/** Rather than run into the limit of starts a job ends; what is due is enqueued again from Postgres. */
const mostStarts = 500

/** The end of a run for which no slot came free: the job comes back, later each time, and holds no worker meanwhile. */
export const turnedAway = (holder: string, starts: number, random: () => number = Math.random): JobOutcome => {
  if (starts >= mostStarts) return { done: true }
  return { runAgainAt: new Date(Date.now() + turnedAwayForMs(starts, random())), reason: `${holder} has its share of the slots` }
}
