/** Default of how long a run waits for a slot, in milliseconds. */
export const defaultTimeoutMs = 250
const minRetryMs = 500
const maxRetryMs = 10_000

/** The division of slots among sellers. Pure: it does not wait. */
export interface Shares {
  /** Whether a seller may have another slot: it holds fewer than are free. */
  mayHave(sellerId: string): boolean
  heldBy(sellerId: string): number
  /** Takes a slot, without a check: the caller has checked {@link mayHave}. */
  occupy(sellerId: string): void
  release(sellerId: string): void
}

/** Creates shares in which all slots are free. */
export const createShares = (total: number): Shares => {
  const held = new Map<string, number>()
  let free = total
  const heldBy = (sellerId: string): number => held.get(sellerId) ?? 0
  return {
    // While fewer than half are taken, no seller holds as many as are free.
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

/** The waiting seller that gets the next free slot: of those that may have another one, the one with the fewest slots; null: none may. */
export const nextToAdmit = (shares: Shares, waiting: Iterable<string>): string | null => {
  let next: string | null = null
  for (const sellerId of waiting) {
    if (shares.mayHave(sellerId) && (next === null || shares.heldBy(sellerId) < shares.heldBy(next))) next = sellerId
    // No seller holds fewer.
    if (next !== null && shares.heldBy(next) === 0) return next
  }
  return next
}

/** Delay of a job that got no slot, in milliseconds; longer with each start. `random` in [0, 1). */
export const slotRetryMs = (starts: number, random: number): number =>
  Math.min(minRetryMs * 2 ** Math.min(starts - 1, 10), maxRetryMs) * (0.75 + random / 2)
