import type { Standing } from './budget-standing.ts'
import type { Carried } from './carried-buckets.ts'
import { unknownDraws } from './recent-draws.ts'
import { storedText } from './stored-memory.ts'

/** Stores what a process knows of buckets that nobody has asked for since: the others would not know of it. */
export interface CarriedStoring {
  /** Once each; what others have written meanwhile stays for the next time. */
  storeOnce(): Promise<void>
  /** For who leaves: also what others have written over meanwhile. */
  storeAll(): Promise<void>
  /** Ends when nothing of this bucket is on its way. */
  endOf(name: string): Promise<void>
}

const mostSwaps = 20

/** For one process. */
export const createCarriedStoring = (standing: Standing): CarriedStoring => {
  const { store, carried } = standing
  let storing: Promise<void> | null = null
  const underWay = new Map<string, Promise<void>>()

  const storeKnown = async (name: string, known: Carried): Promise<void> => {
    const { value, storeMs } = await store.read(name)
    standing.hear(storeMs)
    if (carried.get(name) !== known) return
    const { memory } = standing.readingOf(name, value.text, known.limit, storeMs)
    const isLast = await store.swap(name, value.version, storedText(memory, known.limit, unknownDraws(storeMs)))
    if (isLast && carried.get(name) === known) carried.delete(name)
  }

  const storeEach = async (): Promise<void> => {
    for (const name of carried.names()) {
      const known = carried.get(name)
      if (known === undefined) continue
      const one = storeKnown(name, known)
      underWay.set(name, one)
      await one.finally(() => underWay.delete(name))
    }
  }

  const storeOnce = (): Promise<void> => {
    storing ??= storeEach().finally(() => {
      storing = null
    })
    return storing
  }

  return {
    storeOnce,
    async storeAll() {
      for (let swap = 0; swap < mostSwaps && carried.size > 0; swap += 1) await storeOnce()
    },
    async endOf(name) {
      await underWay.get(name)
    },
  }
}
