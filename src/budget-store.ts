/** What is stored for one bucket. */
export interface StoredBucket {
  /** Counts the writes; 0 where nothing was ever written. */
  readonly version: number
  /** What was written last; null where nothing was. */
  readonly text: string | null
}

/** A process that draws on the budget, as it has said itself. */
export interface BudgetMember {
  readonly id: string
  /** It draws from its own memory and asks nobody. */
  readonly isSole: boolean
}

/** A moment of the store's clock with what was asked for. */
export interface StoreAnswer<Value> {
  readonly value: Value
  /** Epoch ms. */
  readonly storeMs: number
}

/**
 * Where processes share their rate budgets: small texts by name, each written only by who has read the last one, and the list of those who
 * draw. All its moments are on its own clock. Each method throws what keeps the store from answering.
 */
export interface BudgetStore {
  read(name: string): Promise<StoreAnswer<StoredBucket>>
  /** Writes if `version` is still the last one; answers whether it was. */
  swap(name: string, version: number, text: string): Promise<boolean>
  /** Writes whatever was there, but only while that process is sole, otherwise nothing; answers whether it was. */
  put(id: string, texts: ReadonlyMap<string, string>): Promise<boolean>
  /**
   * Says that a process draws for the next `forMs`, and answers who else does. With `claim` it is sole if, in the same moment, nobody else is
   * there; with `keep` it stays so while its last announcement still holds; with `yield` it is not. Nobody is believed for longer than `forMs` from now on,
   * though the clock was set back since they said so.
   */
  announce(id: string, options: Announcement): Promise<StoreAnswer<Announced>>
  /** Says that a process draws no more. */
  leave(id: string): Promise<void>
}

/** The answer to an announcement. */
export interface Announced {
  readonly isSole: boolean
  readonly others: readonly BudgetMember[]
}

/** How a process announces itself. */
export interface Announcement {
  readonly sole: 'claim' | 'keep' | 'yield'
  readonly forMs: number
}
