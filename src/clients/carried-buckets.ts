import { type BucketMemory, lessUsed, merged, shifted, underLimit } from './bucket.ts'
import type { RateLimit } from './operation.ts'
import { type OwedRequests, owedAt, owedTogether, shiftedOwed } from './owed-requests.ts'

/** What is known of a bucket and not stored: it is merged into the first text of it that is read. */
export interface Carried {
  readonly memory: BucketMemory
  /** The limit under which it stands so. */
  readonly limit: RateLimit
  /** What was used while the store was away, and is not in `memory`. */
  readonly used: OwedRequests
}

/** What was known of a bucket at one time: another one as soon as more is. The clock may be set meanwhile, and it moves with it. */
export interface CarriedEntry {
  readonly known: Carried
}

/** What a process knows of buckets and has not stored yet, by the names of the buckets. */
export interface CarriedBuckets {
  readonly size: number
  names(): readonly string[]
  get(name: string): CarriedEntry | undefined
  /** Adds to what is known of a bucket. */
  add(name: string, known: Carried, nowMs: number): CarriedEntry
  delete(name: string): boolean
  /** Deletes it unless more is known since. */
  deleteStored(name: string, entry: CarriedEntry | undefined): void
  /** Moves all moments to a clock that was set by so many ms. */
  shift(stepMs: number): void
}

/** As it is on a clock that was set by so many ms. */
const shiftedCarried = ({ memory, limit, used }: Carried, stepMs: number): Carried => ({
  memory: shifted(memory, stepMs),
  limit,
  used: shiftedOwed(used, stepMs),
})

/** A bucket as another limit, and later knowledge of it, have it. */
const together = (older: Carried, { memory, limit, used }: Carried, nowMs: number): Carried => ({
  memory: merged(limit, memory, underLimit(older.memory, older.limit, limit, nowMs), nowMs),
  limit,
  used: owedTogether(older.used, used, nowMs),
})

/** What was read of a bucket, with what is known of it besides. On the clock of the store, which is ahead of the own one by so many ms. */
export const withCarried = (
  memory: BucketMemory,
  known: Carried | undefined,
  limit: RateLimit,
  { storeMs, aheadMs }: { readonly storeMs: number; readonly aheadMs: number },
): BucketMemory => {
  if (known === undefined) return memory
  const own = shiftedCarried(known, aheadMs)
  const ownMemory = underLimit(own.memory, own.limit, limit, storeMs)
  return lessUsed(limit, merged(limit, memory, ownMemory, storeMs), owedAt(own.used, storeMs), storeMs)
}

/** Nothing is known yet. */
export const createCarriedBuckets = (): CarriedBuckets => {
  const carried = new Map<string, { known: Carried }>()
  return {
    get size() {
      return carried.size
    },
    names: () => [...carried.keys()],
    get: (name) => carried.get(name),
    add(name, known, nowMs) {
      const older = carried.get(name)
      const entry = { known: older === undefined ? known : together(older.known, known, nowMs) }
      carried.set(name, entry)
      return entry
    },
    delete: (name) => carried.delete(name),
    deleteStored(name, entry) {
      if (carried.get(name) === entry) carried.delete(name)
    },
    shift(stepMs) {
      for (const entry of carried.values()) entry.known = shiftedCarried(entry.known, stepMs)
    },
  }
}
