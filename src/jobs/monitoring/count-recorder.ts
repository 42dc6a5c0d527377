import type { QuietLog } from '../../observability/log.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'

/** What a recorder needs of its process. */
export interface RecorderParts {
  readonly quiet: QuietLog
  readonly shutdownHooks: ShutdownHooks
}

/** What is counted, and how it is recorded. */
export interface CountRecording<Item extends { readonly count: number }> {
  /** What is counted, for log lines: "calls to the marketplace". */
  readonly what: string
  /** Interval at which it is asked whether something is due. */
  readonly everyMs: number
  /** Whether the counts must be recorded now, `sinceMs` after the last time; default true. */
  readonly isDue?: (pending: ReadonlyMap<string, Item>, sinceMs: number) => boolean
  /** Records the counts; if it fails, they are tried again together with later ones. */
  readonly record: (pending: ReadonlyMap<string, Item>) => Promise<void>
}

/** Adds an item under its key; its count is added to that of the item that waits under the same key. Never throws. */
export type CountItem<Item> = (key: string, item: Item) => void

/** Counts in memory, and records the counts in Postgres now and then, and when the process ends. */
export const createCountRecorder = <Item extends { readonly count: number }>(
  { quiet, shutdownHooks }: RecorderParts,
  { what, everyMs, isDue = () => true, record }: CountRecording<Item>,
): CountItem<Item> => {
  let pending = new Map<string, Item>()
  let recordedAtMs = performance.now()
  let recording: Promise<void> | null = null

  const add: CountItem<Item> = (key, item) => {
    pending.set(key, { ...item, count: item.count + (pending.get(key)?.count ?? 0) })
  }
  const flush = async (): Promise<void> => {
    const taken = pending
    pending = new Map()
    recordedAtMs = performance.now()
    try {
      await record(taken)
      quiet.recovered(what, `${what} are recorded again`)
    } catch (error) {
      for (const [key, item] of taken) add(key, item)
      quiet.warn(what, { err: error }, `${what} cannot be recorded; it is tried again`)
    }
  }

  const timer = setInterval(() => {
    if (pending.size === 0 || !isDue(pending, performance.now() - recordedAtMs)) return
    recording ??= flush().finally(() => {
      recording = null
    })
  }, everyMs)
  shutdownHooks.add(what, async () => {
    clearInterval(timer)
    await recording
    if (pending.size > 0) await flush()
  })
  return add
}
