/** Asks for more work once half of what was derived has been done, so that a long queue of one seller need not wait for the interval. */
export interface Prefetch {
  /** So much was derived, beside or in place of what is left of the derivation before. */
  derived(count: number): void
  /** One piece of it, or any other, is done. */
  ended(): void
}

/** A derivation of fewer has left nothing behind that it would be worth asking for before the next. */
const minToPrefetch = 20

/** `ask` is called at most once after each derivation. */
export const createPrefetch = (ask: () => void): Prefetch => {
  let left = 0
  let askAt: number | null = null
  return {
    derived: (count) => {
      left = count
      askAt = count < minToPrefetch ? null : Math.floor(count / 2)
    },
    ended: () => {
      left -= 1
      if (left === askAt) ask()
    },
  }
}
