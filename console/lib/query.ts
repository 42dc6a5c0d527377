import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'

/** What a view asks for, and what has come of it. */
export interface Query<Data> {
  /** The last answer; stays while a newer one is asked for, and when that fails. */
  readonly data: Data | undefined
  readonly error: Error | null
  /** Nothing has come yet. */
  readonly loading: boolean
  /** Asks again now. */
  readonly reload: () => void
}

/** How a query is kept fresh. */
export interface Freshness {
  /** First words of the types of changes upon which it is asked again: `order`, `command` … */
  readonly topics?: readonly string[]
  /** Asked again after this time in milliseconds, whatever happens; default half a minute. */
  readonly everyMs?: number
}

interface Entry {
  data: unknown
  error: Error | null
  running: boolean
  /** Asked for while it was running. */
  again: boolean
  ask: () => Promise<unknown>
  topics: readonly string[]
  readonly watchers: Set<() => void>
}

const entries = new Map<string, Entry>()
/** Answers that are remembered for views that were left. */
const mostKept = 60

const tell = (entry: Entry): void => {
  for (const watcher of [...entry.watchers]) watcher()
}

const run = async (entry: Entry): Promise<void> => {
  if (entry.running) {
    entry.again = true
    return
  }
  entry.running = true
  try {
    entry.data = await entry.ask()
    entry.error = null
  } catch (error) {
    entry.error = error instanceof Error ? error : new Error(String(error))
  }
  entry.running = false
  tell(entry)
  if (entry.again) {
    entry.again = false
    await run(entry)
  }
}

/** Asks again for everything that is shown and depends on one of these topics; without topics for everything. */
export const invalidate = (topics?: ReadonlySet<string>): void => {
  for (const [key, entry] of entries) {
    const concerned = topics === undefined || entry.topics.some((topic) => topics.has(topic))
    if (!concerned) continue
    if (entry.watchers.size > 0) void run(entry)
    else entries.delete(key)
  }
}

/** Forgets all answers: somebody else may be signed in. */
export const forgetAll = (): void => {
  for (const [key, entry] of entries) if (entry.watchers.size === 0) entries.delete(key)
}

/** Data from the daemon. `key` names the question with all its parameters. */
export const useQuery = <Data>(key: string, ask: () => Promise<Data>, freshness: Freshness = {}): Query<Data> => {
  const { topics = [], everyMs = 30_000 } = freshness
  const [, render] = useState(0)
  const entry = useMemo((): Entry => {
    const known = entries.get(key)
    if (known !== undefined) return known
    const made: Entry = { data: undefined, error: null, running: false, again: false, ask, topics, watchers: new Set() }
    entries.set(key, made)
    for (const [oldest, { watchers }] of entries) {
      if (entries.size <= mostKept) break
      if (watchers.size === 0 && oldest !== key) entries.delete(oldest)
    }
    return made
  }, [key])
  entry.ask = ask
  entry.topics = topics
  useEffect(() => {
    const watcher = (): void => render((count) => count + 1)
    entry.watchers.add(watcher)
    entries.set(key, entry)
    void run(entry)
    const timer = setInterval(() => {
      if (!document.hidden) void run(entry)
    }, everyMs)
    return () => {
      clearInterval(timer)
      entry.watchers.delete(watcher)
    }
  }, [entry, key, everyMs])
  const reload = useCallback(() => void run(entry), [entry])
  // A key has one shape of data: the view that names the question reads its answer.
  const data = entry.data as Data | undefined
  return { data, error: entry.error, loading: data === undefined && entry.error === null, reload }
}
