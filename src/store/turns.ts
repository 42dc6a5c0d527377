/** Gives a turn back; to be called once. */
export type EndTurn = () => void

/** Turns at something that may take long, each with a connection of its own. */
export interface Turns {
  /** Resolves when it is this holder's turn, in the order of asking; null: the signal fired before that. */
  take(holder: string, signal?: AbortSignal): Promise<EndTurn | null>
}

interface Waiting {
  readonly holder: string
  readonly admit: (end: EndTurn) => void
}

/** So many turns at once, of one holder one: what one of them waits for must not take the connections of all. */
export const createTurns = (atOnce: number): Turns => {
  const waiting: Waiting[] = []
  const holders = new Set<string>()
  const admitNext = (): void => {
    while (holders.size < atOnce) {
      const at = waiting.findIndex(({ holder }) => !holders.has(holder))
      const [next] = at < 0 ? [] : waiting.splice(at, 1)
      if (next === undefined) return
      const { holder, admit } = next
      holders.add(holder)
      admit(() => {
        holders.delete(holder)
        admitNext()
      })
    }
  }
  return {
    take: (holder, signal) => {
      if (signal?.aborted) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<EndTurn | null>()
      const leave = (): void => {
        waiting.splice(waiting.indexOf(one), 1)
        resolve(null)
      }
      const one: Waiting = {
        holder,
        admit: (end) => {
          signal?.removeEventListener('abort', leave)
          resolve(end)
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      waiting.push(one)
      admitNext()
      return promise
    },
  }
}
