/** A state to be stored under a name, if `version` is still the stored one or nothing is stored. */
export interface StateWrite {
  readonly name: string
  readonly version: number
  /** Unique: by it the writer knows whether its own text was stored. */
  readonly text: string
}

/** The state that is stored after a write: the written one, or the one of another process. */
export interface StoredState {
  readonly version: number
  readonly text: string
  /** The store's clock, epoch ms. */
  readonly storeMs: number
}

/** Where processes share the states of rate limits, by compare-and-set. It knows nothing of rates. Methods throw if it does not answer. */
export interface RateLimitStore {
  /** The store's clock, epoch ms. */
  nowMs(): Promise<number>
  /** Writes states of different names; one result for each, in the same order. */
  swap(writes: readonly StateWrite[]): Promise<readonly StoredState[]>
}

/** A store in memory, for one process. */
export const createMemoryStore = (nowMs: () => number): RateLimitStore => {
  const states = new Map<string, Pick<StoredState, 'version' | 'text'>>()
  return {
    nowMs: async () => nowMs(),
    swap: async (writes) =>
      writes.map(({ name, version, text }) => {
        const stored = states.get(name)
        const kept = stored === undefined || stored.version === version ? { version: version + 1, text } : stored
        states.set(name, kept)
        return { ...kept, storeMs: nowMs() }
      }),
  }
}
