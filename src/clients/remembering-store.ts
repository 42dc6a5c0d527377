import type { BudgetStore, StoredBucket } from '../budget-store.ts'
import { owesMuch, owingLonger } from './stored-memory.ts'

/** A store that may lose its content, and gets back what this process remembers of it. */
export interface RememberingStore extends BudgetStore {
  /** Writes what was lost and is still remembered. Nobody may ask for it before this process ends, and those who come after must know of it. */
  restore(): Promise<void>
}

/**
 * A store that may lose its content, as a Redis that keeps nothing on disk: a bucket that owes for long would be full again. So each process
 * remembers what it has read and written last of those. A bucket that has been written fewer times than that was lost meanwhile, and what this process
 * remembers of it counts, if it owes for longer.
 */
export const rememberingStore = (store: BudgetStore): RememberingStore => {
  const remembered = new Map<string, { readonly version: number; readonly text: string }>()
  let lastStoreMs = 0

  const remember = (name: string, version: number, text: string | null): void => {
    if (text !== null && owesMuch(text, lastStoreMs)) remembered.set(name, { version, text })
    else remembered.delete(name)
  }

  const recall = (name: string, { version, text }: StoredBucket): StoredBucket => {
    const known = remembered.get(name)
    return { version, text: known !== undefined && version < known.version ? owingLonger(text, known.text) : text }
  }

  return {
    ...store,
    read: async (name) => {
      const { value, storeMs } = await store.read(name)
      lastStoreMs = storeMs
      const recalled = recall(name, value)
      remember(name, value.version, recalled.text)
      return { value: recalled, storeMs }
    },
    restore: async () => {
      await Promise.all(
        [...remembered].map(async ([name, { version, text }]) => {
          const { value } = await store.read(name)
          if (value.version < version && owesMuch(text, lastStoreMs))
            await store.swap(name, value.version, owingLonger(value.text, text))
        }),
      )
    },
    swap: async (name, version, text) => {
      const isLast = await store.swap(name, version, text)
      if (isLast) remember(name, version + 1, text)
      return isLast
    },
    put: async (id, texts) => {
      const isWritten = await store.put(id, texts)
      if (isWritten) for (const [name, text] of texts) remember(name, (remembered.get(name)?.version ?? 0) + 1, text)
      return isWritten
    },
  }
}
