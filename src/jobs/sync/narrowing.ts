import { narrowWindow } from '../../domain/windows.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import { fresh, windowDone, withoutPasses } from './progress.ts'
import type { TimeRules } from './stream.ts'
import type { PagedRun } from './stream-run.ts'

/**
 * Replaces a window by parts of it: halves, and at last pages of one record (`time`: halves only; `page`: smaller pages first).
 * False: it is as small as can be.
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

/** Has the other windows read before this one, once. False: there are none, or they were. */
export const putOff = <T>(run: PagedRun<T>, window: SyncWindow): boolean => {
  const { pending } = run.progress
  if (pending.slice(1).every((other) => other.putOff === true)) return false
  const restarted = withoutPasses(fresh(run.progress))
  run.progress = { ...restarted, pending: [...pending.slice(1), { ...window, putOff: true }] }
  return true
}

/** The stream that tries again what this one passes over. */
export const retryingStream = <T>({ key }: PagedRun<T>, { retriedBy }: TimeRules): string => retriedBy ?? key.stream

/** Up to when the marketplace's lists are complete for a stream, at a moment on its clock. */
export const completeUpTo = <T>({ stream, context }: PagedRun<T>, marketplaceNow: Date): number =>
  marketplaceNow.getTime() - (stream.kind === 'changes' ? context.settings.lagMs : 0)

/** Passes a window over, or the rest of one: it is kept in quarantine and in an alarm, and is tried again later. */
export const passOver = async <T>(run: PagedRun<T>, time: TimeRules, window: SyncWindow, fault: string): Promise<void> => {
  const now = run.context.client.clock().now()
  const upTo = new Date(Math.min(window.to.getTime(), completeUpTo(run, now)))
  const { totals } = run.progress
  const counted = { ...run.progress, totals: { ...totals, skipped: totals.skipped + 1 } }
  const progress = windowDone(counted, run.stream.kind === 'changes' ? upTo : null)
  await run.pages.passOver({ window, stream: retryingStream(run, time), fault, observedAt: now }, progress)
  run.progress = progress
  run.lastPassedOver = window
  run.record = { ...run.record, quarantined: run.record.quarantined + 1 }
  run.options.log.warn(
    { stream: run.name, from: window.from.toISOString(), to: window.to.toISOString() },
    'a part of a list cannot be read and is passed over; it is tried again later',
  )
}

/** Whether a window stands beside the one that was passed over last. */
export const isNextToPassedOver = <T>({ lastPassedOver: last }: PagedRun<T>, { from, to }: SyncWindow): boolean =>
  last !== null && from.getTime() <= last.to.getTime() && to.getTime() >= last.from.getTime()
