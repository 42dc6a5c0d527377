import { isSeldom } from '../../../domain/sync/intervals.ts'
import { carveOut, cutSlice } from '../../../domain/sync/windows.ts'
import { findDueSkippedWindows, findSkippedWindows } from '../../../store/sync/quarantine.ts'
import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import type { TimeRules } from '../engine/stream.ts'
import type { StreamRun } from '../engine/stream-run.ts'

// The marketplace's first answer differs from our clock by this much: the windows were planned by the wrong clock.
const clockSkewMs = 60_000
const worthCatchingUpMs = 60_000

/** The windows of a stream without the skipped ones, and the skipped ones that are due again. */
interface Plan {
  readonly pending: readonly SyncWindow[]
  /** False: skipped windows were cut out, so records beside them may be missed. */
  readonly isComplete: boolean
}

const cutOutSkipped = async <T>(
  run: StreamRun<T>,
  time: TimeRules,
  planned: readonly SyncWindow[],
  from: Date,
): Promise<Plan> => {
  const { context, key } = run
  const holes = await findSkippedWindows(context.database, key, from)
  const again = holes.length > 0 ? await findDueSkippedWindows(context.database, key.sellerId, key.resource, key.stream) : []
  const parts = planned.flatMap((window) => cutHoles(run, time, window, holes))
  return { pending: [...parts, ...again], isComplete: parts.every((part, at) => part === planned[at]) }
}

/** A window without its skipped parts, which would fail in every run. Of a second that is skipped in part, the rest stays. */
const cutHoles = <T>(
  { context }: StreamRun<T>,
  time: TimeRules,
  window: SyncWindow,
  holes: readonly SyncWindow[],
): readonly SyncWindow[] => {
  const own = holes.filter((hole) => hole.part === window.part && hole.from < window.to && hole.to > window.from)
  if (own.length === 0) return [window]
  const seconds = Map.groupBy(own, ({ from, to }) => `${from.getTime()} ${to.getTime()}`)
  const rests = [...seconds.values()].flatMap((parts) => {
    const [first] = parts
    const all = first === undefined ? null : time.across(context, first)
    const across = parts.flatMap((part) => part.across ?? [])
    if (first === undefined || all === null || across.length < parts.length) return []
    return carveOut(all, across).map(
      (rest): SyncWindow => ({ from: first.from, to: first.to, part: first.part, across: rest, narrowed: true }),
    )
  })
  const pieces = carveOut(window, own).map((piece): SyncWindow => ({ ...window, ...piece }))
  return [...rests, ...pieces].sort((a, b) => a.from.getTime() - b.from.getTime())
}

/**
 * Plans the windows of a run. `resumed`: the run first finished the windows of an earlier run. Returns whether there is something to read.
 */
export const planRun = async <T>(run: StreamRun<T>, resumed: boolean): Promise<boolean> => {
  const { context, stream } = run
  const { watermark } = run.progress
  const marketplaceMs = context.client.clock().now().getTime()
  run.startPlanning({ marketplaceMs, monotonicMs: performance.now() })
  const planned = await stream.plan(context, watermark)
  // A resumed run may have to catch up, but not for the few seconds since its windows were planned: with a small rate budget it would never finish.
  const newest = Math.max(...planned.map(({ to }) => to.getTime()))
  if (resumed && watermark !== null && newest - watermark.getTime() < worthCatchingUpMs) return false
  const earliest = new Date(Math.min(...planned.map(({ from }) => from.getTime()), marketplaceMs))
  const time = stream.kind === 'import' ? null : stream.time
  const { pending, isComplete } =
    time === null ? { pending: planned, isComplete: true } : await cutOutSkipped(run, time, planned, earliest)
  run.startPlan({ pending, plannedFrom: isComplete ? earliest : null })
  // If the run of a rare stream crashes at its start, the next job continues it. Without a stored plan it would wait a day.
  if (isSeldom(stream.pace)) await run.pages.keep(run.progress)
  return pending.length > 0
}

/** Discards the plan when the first answer shows that it was made by a wrong clock. Returns whether it did; the run then plans again. */
export const discardPlanOnClockSkew = <T>(run: StreamRun<T>, marketplaceNow: Date): boolean => {
  const { plannedBy: planned } = run
  if (planned === null || run.replanned) return false
  const expectedMs = planned.marketplaceMs + (performance.now() - planned.monotonicMs)
  if (Math.abs(marketplaceNow.getTime() - expectedMs) < clockSkewMs) return false
  run.options.log.info(
    { stream: run.name, difference_ms: Math.round(marketplaceNow.getTime() - expectedMs) },
    "the marketplace's clock differs from ours; the windows are planned again by the marketplace's clock",
  )
  run.discardPlan()
  return true
}

/**
 * The pending windows with a first one that fits one query. A long range is cut into slices only as they are needed: the next slice goes first, and the
 * rest of the range goes behind the other ranges, so that all are read oldest first. A range of any length is stored as one window.
 */
export const withNextSlice = (pending: readonly SyncWindow[]): readonly SyncWindow[] => {
  const [range, ...others] = pending
  if (range?.sliceMs === undefined) return pending
  const { sliceMs, ...window } = range
  const { slice, rest } = cutSlice(range, sliceMs)
  return [{ ...window, ...slice }, ...others, ...(rest === null ? [] : [{ ...range, ...rest }])]
}
