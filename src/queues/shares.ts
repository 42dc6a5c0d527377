/** So long a run waits for a slot of its seller's share, in milliseconds, where nothing else is said. */
export const defaultPatienceMs = 250
const soonestMs = 500
const latestMs = 10_000

/** So many slots, divided among sellers: who holds how many, and who may have another one. Pure: nobody waits here. */
export interface Shares {
  /** Whether a seller may have another slot: it holds fewer than are free. */
  mayHave(sellerId: string): boolean
  heldBy(sellerId: string): number
  /** Takes a slot, also beyond the share: whoever asks for it has asked {@link mayHave}. */
  occupy(sellerId: string): void
  release(sellerId: string): void
}

/** Slots that nobody holds. */
export const createShares = (total: number): Shares => {
  const held = new Map<string, number>()
  let free = total
  const heldBy = (sellerId: string): number => held.get(sellerId) ?? 0
  return {
    // While fewer than half are taken, nobody holds as many as are free.
    mayHave: (sellerId) => total - free < free || heldBy(sellerId) < free,
    heldBy,
    occupy: (sellerId) => {
      held.set(sellerId, heldBy(sellerId) + 1)
      free -= 1
    },
    release: (sellerId) => {
      const left = heldBy(sellerId) - 1
      if (left > 0) held.set(sellerId, left)
      else held.delete(sellerId)
      free += 1
    },
  }
}

/** Which of the waiting sellers has the slot that has come free: of those that may have another one whoever holds least; null: none may. */
export const nextToAdmit = (shares: Shares, waiting: Iterable<string>): string | null => {
  let next: string | null = null
  for (const sellerId of waiting) {
    if (shares.mayHave(sellerId) && (next === null || shares.heldBy(sellerId) < shares.heldBy(next))) next = sellerId
    // Nobody holds less.
    if (next !== null && shares.heldBy(next) === 0) return next
  }
  return next
}

/** After so many milliseconds a job comes back for which no slot came free, later each time. `random` in [0, 1). */
export const turnedAwayForMs = (starts: number, random: number): number =>
  Math.min(soonestMs * 2 ** Math.min(starts - 1, 10), latestMs) * (0.75 + random / 2)
