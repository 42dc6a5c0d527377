import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { untilReleased } from './press.ts'

/** The state of a query of a view. */
export interface Query<Data> {
  /** The last answer; kept while a newer one is loaded, and when that fails. */
  readonly data: Data | undefined
  readonly error: Error | null
  /** There is no answer yet. */
  readonly loading: boolean
  /** The data belong to the previous query; the answer of this one is being loaded. */
  readonly stale: boolean
  /** Loads the data again now. */
  readonly reload: () => void
}

/** How a query is kept fresh. */
export interface Freshness {
  /** Groups of the types of changes that cause a reload: `order`, `command` … */
  readonly topics?: readonly string[]
  /** Interval of reloads, in milliseconds; default half a minute. */
  readonly everyMs?: number
}

interface Entry {
  data: unknown
  error: Error | null
  running: boolean
  /** Requested again while it was running. */
  again: boolean
  fetchData: () => Promise<unknown>
  topics: readonly string[]
  readonly watchers: Set<() => void>
}

const entries = new Map<string, Entry>()
/** Maximum number of cached answers. */
const maxEntries = 60

const notifyWatchers = (entry: Entry): void => {
  for (const watcher of [...entry.watchers]) watcher()
}

const run = async (entry: Entry): Promise<void> => {
  if (entry.running) {
    entry.again = true
    return
  }
  entry.running = true
  const answer = await entry.fetchData().then(
    (data) => ({ data, error: null }),
    (error: unknown) => ({ data: entry.data, error: error instanceof Error ? error : new Error(String(error)) }),
  )
  await untilReleased()
  Object.assign(entry, answer)
  entry.running = false
  notifyWatchers(entry)
  if (entry.again) {
    entry.again = false
    await run(entry)
  }
}

/** Reloads all shown data of these topics, and drops cached answers; without topics all data. */
export const invalidate = (topics?: ReadonlySet<string>): void => {
  for (const [key, entry] of entries) {
    const concerned = topics === undefined || entry.topics.some((topic) => topics.has(topic))
    if (!concerned) continue
    if (entry.watchers.size > 0) void run(entry)
    else entries.delete(key)
  }
}

/** Drops all cached answers, because another person may sign in. */
export const clearQueries = (): void => {
  for (const [key, entry] of entries) if (entry.watchers.size === 0) entries.delete(key)
}

/** Data from the daemon. `key` identifies the query with all its parameters. */
export const useQuery = <Data>(key: string, fetchData: () => Promise<Data>, freshness: Freshness = {}): Query<Data> => {
  const { topics = [], everyMs = 30_000 } = freshness
  const [, render] = useState(0)
  const entry = useMemo((): Entry => {
    const known = entries.get(key)
    if (known !== undefined) return known
    const created: Entry = { data: undefined, error: null, running: false, again: false, fetchData, topics, watchers: new Set() }
    entries.set(key, created)
    for (const [oldest, { watchers }] of entries) {
      if (entries.size <= maxEntries) break
      if (watchers.size === 0 && oldest !== key) entries.delete(oldest)
    }
    return created
  }, [key])
  entry.fetchData = fetchData
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
  // A key has one type of data, because only the view that defines the key reads it.
  const data = entry.data as Data | undefined
  return { data, error: entry.error, loading: data === undefined && entry.error === null, stale: false, reload }
}
