import { type BucketMemory, lessUsed, merged, shifted, underLimit } from './bucket.ts'
import type { RateLimit } from './operation.ts'

/** What is known of a bucket and not stored: it is merged into the first text of it that is read. */
export interface Carried {
  readonly memory: BucketMemory
  /** The limit under which it stands so. */
  readonly limit: RateLimit
  /** What was used while the store was away, counted from a full bucket on. */
  readonly used: BucketMemory
}

/** What a process knows of buckets and has not stored yet, by the names of the buckets. */
export interface CarriedBuckets {
  readonly size: number
  names(): readonly string[]
  get(name: string): Carried | undefined
  /** Adds to what is known of a bucket. */
  add(name: string, known: Carried, nowMs: number): void
  delete(name: string): boolean
  /** Moves all moments to a clock that was set by so many ms. */
  shift(stepMs: number): void
}

/** As it is on a clock that was set by so many ms. */
const shiftedCarried = ({ memory, limit, used }: Carried, stepMs: number): Carried => ({
  memory: shifted(memory, stepMs),
  limit,
  used: shifted(used, stepMs),
})

/** As it is under another limit. */
const carriedUnder = (limit: RateLimit, known: Carried, nowMs: number): Carried => ({
  memory: underLimit(known.memory, known.limit, limit, nowMs),
  limit,
  used: underLimit(known.used, known.limit, limit, nowMs),
})

/** A bucket as another limit, and later knowledge of it, have it. */
const together = (older: Carried, { memory, limit, used }: Carried, nowMs: number): Carried => {
  const was = carriedUnder(limit, older, nowMs)
  return { memory: merged(limit, memory, was.memory, nowMs), limit, used: lessUsed(limit, used, was.used, nowMs) }
}

/** What was read of a bucket, with what is known of it besides. On the clock of the store, which is ahead of the own one by so many ms. */
export const withCarried = (
  memory: BucketMemory,
  known: Carried | undefined,
  limit: RateLimit,
  { storeMs, aheadMs }: { readonly storeMs: number; readonly aheadMs: number },
): BucketMemory => {
  if (known === undefined) return memory
  const own = carriedUnder(limit, shiftedCarried(known, aheadMs), storeMs)
  return lessUsed(limit, merged(limit, memory, own.memory, storeMs), own.used, storeMs)
}

/** Nothing is known yet. */
export const createCarriedBuckets = (): CarriedBuckets => {
  const carried = new Map<string, Carried>()
  return {
    get size() {
      return carried.size
    },
    names: () => [...carried.keys()],
    get: (name) => carried.get(name),
    add(name, known, nowMs) {
      const older = carried.get(name)
      carried.set(name, older === undefined ? known : together(older, known, nowMs))
    },
    delete: (name) => carried.delete(name),
    shift(stepMs) {
      for (const [name, known] of carried) carried.set(name, shiftedCarried(known, stepMs))
    },
  }
}
