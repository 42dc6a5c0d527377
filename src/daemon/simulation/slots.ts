import { createShares, defaultPatienceMs, nextToAdmit } from '../../queues/shares.ts'
import type { Timeline } from './timeline.ts'

/** What wants a slot: it is told, now or later, whether it has one. */
export interface Applicant {
  readonly sellerId: string
  admit(): void
  turnAway(): void
}

/** The slots of a process in virtual time, by the rules of `createSlots`. */
export interface SimulatedSlots {
  apply(applicant: Applicant): void
  release(sellerId: string): void
}

/** Slots that nobody holds. */
export const createSimulatedSlots = (total: number, timeline: Timeline): SimulatedSlots => {
  const shares = createShares(total)
  const waiting = new Map<string, Set<Applicant>>()
  /** Sellers for whom a run has waited in vain since one of theirs ended. */
  const exhausted = new Set<string>()

  const leave = (applicant: Applicant): boolean => {
    const own = waiting.get(applicant.sellerId)
    const left = own?.delete(applicant) ?? false
    if (own?.size === 0) waiting.delete(applicant.sellerId)
    return left
  }

  const admitNext = (): void => {
    while (waiting.size > 0) {
      const sellerId = nextToAdmit(shares, waiting.keys())
      if (sellerId === null) return
      const [first] = waiting.get(sellerId) ?? []
      if (first === undefined) return
      leave(first)
      shares.occupy(sellerId)
      first.admit()
    }
  }

  return {
    apply: (applicant) => {
      const { sellerId } = applicant
      if (shares.mayHave(sellerId) && !waiting.has(sellerId)) {
        shares.occupy(sellerId)
        applicant.admit()
        return
      }
      if (exhausted.has(sellerId)) {
        applicant.turnAway()
        return
      }
      const own = waiting.get(sellerId) ?? new Set<Applicant>()
      waiting.set(sellerId, own.add(applicant))
      timeline.at(timeline.nowMs() + defaultPatienceMs, {
        happen: () => {
          if (!leave(applicant)) return
          exhausted.add(sellerId)
          applicant.turnAway()
        },
      })
    },
    release: (sellerId) => {
      shares.release(sellerId)
      exhausted.delete(sellerId)
      admitNext()
    },
  }
}
