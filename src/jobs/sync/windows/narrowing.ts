import { narrowWindow } from '../../../domain/sync/windows.ts'
import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import type { TimeRules } from '../engine/stream.ts'
import type { PagedRun } from '../engine/stream-run.ts'

/**
 * Replaces a window by parts of it: halves, and finally pages of one record (`time`: halves only; `page`: smaller pages first).
 * False: it cannot be divided further.
 */
export const narrow = <T>(run: PagedRun<T>, time: TimeRules, window: SyncWindow, by: 'all' | 'time' | 'page'): boolean => {
  const limit = window.limit ?? run.context.settings.pageSize
  const part = (parts: Partial<SyncWindow>): SyncWindow => ({ ...window, ...parts, narrowed: true })
  if (by === 'page' && limit > 1) {
    run.replaceWindow([part({ limit: Math.floor(limit / 2) })])
    return true
  }
  const halves = narrowWindow(window)
  if (halves !== null) {
    run.replaceWindow(halves.map((half) => part(half)))
    return true
  }
  const across = window.across ?? time.across(run.context, window)
  const slices = across === null ? null : narrowWindow(across)
  if (slices !== null) {
    run.replaceWindow(slices.map((slice) => part({ across: slice })))
    return true
  }
  if (by === 'time' || limit === 1) return false
  run.replaceWindow([part({ limit: 1 })])
  return true
}

/** Name of the stream that retries the windows that a run skips. */
export const findRetryingStream = <T>({ key }: PagedRun<T>, { retriedBy }: TimeRules): string => retriedBy ?? key.stream

/** Skips a window, or the rest of it: it is quarantined, raises an alarm, and is retried later. */
export const skipWindow = async <T>(run: PagedRun<T>, time: TimeRules, window: SyncWindow, fault: string): Promise<void> => {
  const now = run.context.client.clock().now()
  const upTo = new Date(Math.min(window.to.getTime(), run.completeUpToMs(now)))
  await run.skipWindow(window, upTo, (progress) =>
    run.pages.skip({ window, stream: findRetryingStream(run, time), fault, observedAt: now }, progress),
  )
  run.options.log.warn(
    { stream: run.name, from: window.from.toISOString(), to: window.to.toISOString() },
    'a part of a list cannot be read and is skipped; it is retried later',
  )
}

/** Whether a window touches the one that was skipped last. */
export const isNextToSkipped = <T>({ lastSkipped: last }: PagedRun<T>, { from, to }: SyncWindow): boolean =>
  last !== null && from.getTime() <= last.to.getTime() && to.getTime() >= last.from.getTime()
