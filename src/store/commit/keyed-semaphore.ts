/** Releases a permit; call it once. */
export type ReleasePermit = () => void

/** Limits concurrent work, each piece with a connection of its own: at most one permit for each key. */
export interface KeyedSemaphore {
  /** Resolves when a permit is free for the key, first come, first served; null: the signal fired before that. */
  acquire(key: string, signal?: AbortSignal): Promise<ReleasePermit | null>
}

interface Waiter {
  readonly key: string
  readonly admit: (release: ReleasePermit) => void
}

/** A semaphore of this many permits. One permit for each key: a key that waits for a lock must not take all connections. */
export const createKeyedSemaphore = (permits: number): KeyedSemaphore => {
  const waiters: Waiter[] = []
  const holders = new Set<string>()
  const admitNext = (): void => {
    while (holders.size < permits) {
      const at = waiters.findIndex(({ key }) => !holders.has(key))
      const [next] = at < 0 ? [] : waiters.splice(at, 1)
      if (next === undefined) return
      const { key, admit } = next
      holders.add(key)
      admit(() => {
        holders.delete(key)
        admitNext()
      })
    }
  }
  return {
    acquire: (key, signal) => {
      if (signal?.aborted) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<ReleasePermit | null>()
      const cancel = (): void => {
        waiters.splice(waiters.indexOf(waiter), 1)
        resolve(null)
      }
      const waiter: Waiter = {
        key,
        admit: (release) => {
          signal?.removeEventListener('abort', cancel)
          resolve(release)
        },
      }
      signal?.addEventListener('abort', cancel, { once: true })
      waiters.push(waiter)
      admitNext()
      return promise
    },
  }
}
