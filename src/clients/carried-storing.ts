import type { Standing } from './budget-standing.ts'
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
/** So many at once: others wait for who leaves. */
const atOnce = 16

/** For one process. */
export const createCarriedStoring = (standing: Standing): CarriedStoring => {
  const { store, carried } = standing
  let storing: Promise<void> | null = null
  const underWay = new Map<string, Promise<void>>()

  const storeKnown = async (name: string): Promise<void> => {
    const entry = carried.get(name)
    if (entry === undefined) return
    const stored = await standing.read(name)
    if (carried.get(name) !== entry) return
    const { limit } = entry.known
    const { memory } = standing.readingOf(name, stored, limit)
    const text = storedText(memory, limit, stored.storeMs, unknownDraws(stored.storeMs))
    if (await store.swap(name, stored.version, text)) carried.deleteStored(name, entry)
  }

  const storeEach = async (): Promise<void> => {
    const names = carried.names().values()
    const storeOneByOne = async (): Promise<void> => {
      for (const name of names) {
        const one = storeKnown(name)
        underWay.set(name, one)
        await one.finally(() => underWay.delete(name))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, storeOneByOne))
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
