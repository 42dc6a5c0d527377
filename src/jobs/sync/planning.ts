import { carveOut } from '../../domain/windows.ts'
import { dueSkippedWindows, windowsPassedOver } from '../../store/quarantine.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import { isSeldom } from './intervals.ts'
import { fresh, withoutPasses } from './progress.ts'
import type { TimeRules } from './stream.ts'
import type { StreamRun } from './stream-run.ts'

// A difference this large between our clock and the marketplace's first answer means that the windows were planned by the wrong clock.
const clockSurpriseMs = 60_000
const worthCatchingUpMs = 60_000

/** The windows of a stream as it plans them, without what is passed over now, with what of that is to be tried again. */
interface Plan {
  readonly pending: readonly SyncWindow[]
  /** What stands beside what is passed over may not be met. */
  readonly isWhole: boolean
}

const withoutHoles = async <T>(run: StreamRun<T>, time: TimeRules, planned: readonly SyncWindow[], from: Date): Promise<Plan> => {
  const { context, key } = run
  const holes = await windowsPassedOver(context.database, key, from)
  const again = holes.length > 0 ? await dueSkippedWindows(context.database, key.sellerId, key.resource, key.stream) : []
  const parts = planned.flatMap((window) => without(run, time, window, holes))
  return { pending: [...parts, ...again], isWhole: parts.every((part, at) => part === planned[at]) }
}

/** A window without what is passed over now: it would be met with every run. Of a second of which only a part is, the rest stays. */
const without = <T>(
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

/** Plans what a run reads, after what an earlier one had left where it was `resumed`. Returns whether there is something to read. */
export const planRun = async <T>(run: StreamRun<T>, resumed: boolean): Promise<boolean> => {
  const { context, stream } = run
  const { watermark } = run.progress
  const clockMs = context.client.clock().now().getTime()
  run.plannedBy = { clockMs, ownMs: performance.now() }
  const planned = await stream.plan(context, watermark)
  // A run that only went on with what an earlier one had left may have to catch up. It must not start again for the few seconds since
  // then: with a tight budget that would be left over again, for ever.
  const newest = Math.max(...planned.map(({ to }) => to.getTime()))
  if (resumed && watermark !== null && newest - watermark.getTime() < worthCatchingUpMs) return false
  const earliest = new Date(Math.min(...planned.map(({ from }) => from.getTime()), clockMs))
  const time = stream.kind === 'import' ? null : stream.time
  const { pending, isWhole } =
    time === null ? { pending: planned, isWhole: true } : await withoutHoles(run, time, planned, earliest)
  const begun = withoutPasses(fresh(run.progress))
  run.progress = {
    ...begun,
    pending,
    totals: {
      ...begun.totals,
      windowsTotal: pending.length,
      windowsDone: 0,
      skipped: 0,
      outOfReachBefore: null,
      plannedAt: run.startedAt.toISOString(),
      plannedFrom: isWhole ? earliest.toISOString() : null,
    },
  }
  // A run of it that dies at its beginning is taken up again, and not a day later.
  if (isSeldom(stream.pace)) await run.pages.keep(run.progress)
  return pending.length > 0
}

/** Whether the first answer shows that the windows were planned by a wrong clock; then none are left, and they have to be planned again. */
export const clockSurprise = <T>(run: StreamRun<T>, marketplaceNow: Date): boolean => {
  const { plannedBy: planned } = run
  if (planned === null || run.replanned) return false
  const expectedMs = planned.clockMs + (performance.now() - planned.ownMs)
  if (Math.abs(marketplaceNow.getTime() - expectedMs) < clockSurpriseMs) return false
  run.options.log.info(
    { stream: run.name, difference_ms: Math.round(marketplaceNow.getTime() - expectedMs) },
    "the marketplace's clock is not ours; the windows are planned again by it",
  )
  run.replanned = true
  run.plannedBy = null
  run.progress = { ...fresh(run.progress), pending: [] }
  return true
}
