import {
  type ChangeFilter,
  type ChangesRead,
  findFirstKeptChange,
  findLastChange,
  readChanges,
} from '../store/changes/changes.ts'
import type { SqlRunner } from '../store/db/database.ts'
import type { Listener } from '../store/db/listener.ts'

/** Name of the channel on which appended changes are notified. */
export const changesChannel = 'tallyman_changes'

/** Without a notification from Postgres (while the listener reconnects) a reader polls at this interval, in milliseconds. */
const pollMs = 5_000

/** Readers of the change feed that wait for changes. One notification wakes all of them. */
export interface ChangeFeed {
  /** The number before that of the oldest stored change. */
  beginning(): Promise<bigint>
  /** The number of the last change. */
  end(): Promise<bigint>
  /**
   * Changes after this number that match the filter. Waits for the first one, for at most this time in milliseconds. Empty if there was none, the
   * signal is aborted or the feed closes. The position advances past changes that do not match.
   * @throws ChangesRemoved when the next one has been removed
   * @throws PositionBeyondEnd
   */
  next(after: bigint, filter: ChangeFilter, limit: number, waitMs: number, signal: AbortSignal): Promise<ChangesRead>
  /** Releases every reader, present and future ones. */
  close(): void
  readonly closed: AbortSignal
}

/** Opens the feed on a listener of {@link changesChannel}. */
export const createChangeFeed = (sql: SqlRunner, listener: Listener): ChangeFeed => {
  const closing = new AbortController()
  const sleepers = new Set<() => void>()
  let notifications = 0
  const wakeAll = (): void => {
    notifications += 1
    for (const wake of [...sleepers]) wake()
  }
  const unsubscribe = listener.on(changesChannel, wakeAll)

  const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        sleepers.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, milliseconds)
      sleepers.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })

  return {
    closed: closing.signal,
    beginning: () => findFirstKeptChange(sql),
    end: () => findLastChange(sql),
    next: async (from, filter, limit, waitMs, signal) => {
      const until = performance.now() + waitMs
      let after = from
      for (;;) {
        const notificationsBefore = notifications
        const read = await readChanges(sql, after, limit, filter)
        const leftMs = until - performance.now()
        if (read.changes.length > 0 || leftMs <= 0 || signal.aborted || closing.signal.aborted) return read
        after = read.position
        // Changes notified during the read may not have been visible to it.
        if (notifications === notificationsBefore) await sleep(Math.min(leftMs, pollMs), signal)
      }
    },
    close: () => {
      unsubscribe()
      closing.abort()
      wakeAll()
    },
  }
}
