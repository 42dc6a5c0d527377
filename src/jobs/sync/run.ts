import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { JobOutcome } from '../../queues/jobs.ts'
import type { Database } from '../../store/database.ts'
import { readEnrolment, recordEnrolment } from '../../store/enrolments.ts'
import { giveUpSkipped } from '../../store/quarantine.ts'
import {
  endRun,
  LeaseLost,
  type SyncKey,
  type SyncLease,
  type SyncRun,
  type SyncWindow,
  takeLease,
} from '../../store/sync-states.ts'
import { meansNotEnrolled, noteEnrolledAnswer } from './enrolment.ts'
import { describe, notEnrolledAdvice, UnknownSync } from './faults.ts'
import { importWindow } from './importing.ts'
import { keepLease } from './lease.ts'
import { createPageStore } from './pages.ts'
import { planRun } from './planning.ts'
import { windowDone } from './progress.ts'
import { readWindow } from './reading.ts'
import { type Resource, type SyncHooks, streamOf } from './resource.ts'
import { dayMs, defaultSyncSettings, type SyncSettings } from './settings.ts'
import { withNextSlice } from './slices.ts'
import type { StreamContext, SyncStream } from './stream.ts'
import { type RunParts, type Stop, StreamRun, type SyncRunOptions } from './stream-run.ts'

/** What the engine needs from the rest of the daemon. */
export interface SyncDeps extends SyncHooks {
  readonly database: Database
  /** What the marketplace has that can be synced; left out: everything in `resources.ts`. */
  readonly resources?: readonly Resource[]
  client(sellerId: string): StreamContext['client']
  /** Names this process in leases. */
  readonly owner: string
  readonly settings?: Partial<SyncSettings>
  /** Told how each run ended, for metrics. Must not throw. */
  readonly onRun?: (report: SyncRunReport) => void
}

/** One run as it ended. */
export interface SyncRunReport extends SyncKey {
  readonly run: SyncRun
  /** Nothing was left to read. */
  readonly finished: boolean
  readonly watermark: Date | null
  readonly durationMs: number
}

const askEnrolmentAgainMs = 7 * dayMs
/** A window that begins later than asked by more than this was partly out of reach. */
const worthTellingMs = 3_600_000

/** Reads a window as far as it can be asked for. Null: go on with the next window. */
type WindowReader = (window: SyncWindow, planned: SyncWindow) => Promise<Stop | null>

/** A run with what reads a window of its kind of stream. */
const openRun = <T>(
  stream: SyncStream<T>,
  parts: Omit<RunParts<T, SyncStream<T>>, 'stream'>,
): { readonly run: StreamRun<T>; readonly read: WindowReader } => {
  if (stream.kind === 'import') {
    const run = new StreamRun({ ...parts, stream })
    return { run, read: (window) => importWindow(run, window) }
  }
  const run = new StreamRun({ ...parts, stream })
  return { run, read: (window, planned) => readWindow(run, window, planned) }
}

/** Notes that everything before a moment is older than the marketplace answers for. */
const noteOutOfReach = <T>(run: StreamRun<T>, before: Date): void => {
  const { totals } = run.progress
  const known = totals.outOfReachBefore
  if (known !== null && Date.parse(known) >= before.getTime()) return
  run.progress = { ...run.progress, totals: { ...totals, outOfReachBefore: before.toISOString() } }
}

/** Leaves a window of which nothing can be asked for. */
const leaveWindow = async <T>(run: StreamRun<T>, { skippedAs, to }: SyncWindow): Promise<void> => {
  const { database, client } = run.context
  if (skippedAs !== undefined) await giveUpSkipped(database, skippedAs)
  else if (to <= client.clock().now()) noteOutOfReach(run, to)
  run.progress = windowDone(run.progress, run.stream.kind === 'changes' ? to : null)
  // Nothing was waited for, and the next window may be like this one.
  await letOthersRun()
}

/** Reads what can be asked for of a window. Null: go on with the next window. */
const readReached = async <T>(run: StreamRun<T>, read: WindowReader, planned: SyncWindow): Promise<Stop | null> => {
  const reached = run.stream.reach(run.context, planned)
  if (reached === null) {
    await leaveWindow(run, planned)
    return null
  }
  if (reached.from.getTime() - planned.from.getTime() > worthTellingMs) noteOutOfReach(run, reached.from)
  const window = { ...planned, ...reached }
  run.note(window)
  return read(window, planned)
}

/** Reads until nothing is left, or until the run has to give its worker back. */
const readAll = async <T>(run: StreamRun<T>, read: WindowReader): Promise<Stop> => {
  const resumed = run.progress.pending.length > 0
  let mayPlan = !resumed || run.stream.kind === 'changes'
  for (;;) {
    if (run.options.signal.aborted) return { finished: false, at: new Date(), reason: 'stopping' }
    run.progress = { ...run.progress, pending: withNextSlice(run.progress.pending) }
    const [window] = run.progress.pending
    if (window !== undefined) {
      if (run.turnEndsWith(run.record.pages)) return { finished: false, at: new Date(), reason: 'taking turns' }
      const stop = await readReached(run, read, window)
      if (stop !== null) return stop
      // The windows were planned by a clock that has turned out to be wrong.
      if (run.progress.pending.length === 0 && run.plannedBy === null && run.replanned) mayPlan = true
      continue
    }
    if (!mayPlan) return { finished: true }
    mayPlan = false
    if (!(await planRun(run, resumed))) return { finished: true }
  }
}

interface EndedRun {
  readonly finished: boolean
  readonly failed: boolean
  readonly error: string | null
}

/**
 * Runs one stream until nothing is left to read. Without budget, without time, or when it has to stop, it gives its worker back and names
 * the time to go on; where it stands is kept. A failure is recorded with what to do about it, then thrown: pauses between tries are the job's.
 *
 * @throws MarketplaceFailure, PagingAstray, or an error of the database
 */
export const runStream = async <T>(
  deps: SyncDeps,
  declared: Resource<T>,
  key: SyncKey,
  options: SyncRunOptions,
): Promise<JobOutcome> => {
  const stream = streamOf(declared, key.stream)
  if (stream === null)
    throw new UnknownSync(`${key.resource} has no stream ${key.stream}; it has ${Object.keys(declared.streams).join(', ')}`)
  const settings: SyncSettings = { ...defaultSyncSettings, ...deps.settings }
  const { database } = deps
  const needsEnrolment = declared.enrolment === 'needed'
  const { sellerId, resource } = key
  const enrolment = needsEnrolment ? await readEnrolment(database, sellerId, resource, askEnrolmentAgainMs) : 'enrolled'
  if (enrolment === 'not enrolled') return { done: true }
  const client = deps.client(sellerId)
  const claim = await takeLease(database, key, deps.owner, settings.leaseMs)
  if (!claim.taken) {
    return claim.unfinished ? { runAgainAt: claim.until, reason: 'another process has the lease' } : { done: true }
  }
  const { lease } = claim
  const startedMs = performance.now()
  const pages = createPageStore({ database, resource: declared, lease, settings, hooks: deps })
  const context = { client, database, settings }
  const { run, read } = openRun(stream, { context, pages, progress: claim.progress, options, lease })
  const end = async (ended: EndedRun): Promise<void> => {
    const record: SyncRun = { ...run.record, error: ended.error ?? run.record.error }
    const worthRecording = ended.finished || ended.failed || record.pages > 0
    const runEnd = { ...ended, run: worthRecording ? record : null }
    const { noteLoaded } = declared.table
    if (ended.finished && run.answered && stream.kind === 'snapshot' && noteLoaded !== undefined) {
      await database.transaction(async (tx) => {
        await noteLoaded(tx, sellerId)
        await endRun(tx, lease, run.progress, runEnd)
      })
    } else await endRun(database, lease, run.progress, runEnd)
    if (worthRecording) {
      const { finished } = ended
      deps.onRun?.({
        ...key,
        run: record,
        finished,
        watermark: run.progress.watermark,
        durationMs: performance.now() - startedMs,
      })
    }
  }
  const endLease = keepLease(database, lease, settings.leaseMs, options)
  try {
    const stop = await readAll(run, read)
    if (run.answered) noteEnrolledAnswer(database, key)
    if (enrolment !== 'enrolled' && run.answered) {
      await database.transaction((tx) => recordEnrolment(tx, { sellerId, resource, enrolled: true, detail: null }))
    }
    await end({ finished: stop.finished, failed: false, error: null })
    return stop.finished ? { done: true } : { runAgainAt: stop.at, reason: stop.reason }
  } catch (error) {
    if (error instanceof LeaseLost) return abandon(lease, options)
    if (needsEnrolment && meansNotEnrolled(database, key, error)) {
      options.log.info({ stream: `${resource}/${key.stream}` }, `the seller is not enrolled: ${notEnrolledAdvice}`)
      await database.transaction((tx) => recordEnrolment(tx, { sellerId, resource, enrolled: false, detail: describe(error) }))
      run.forget()
      await end({ finished: true, failed: false, error: null })
      return { done: true }
    }
    await recordFailure(error, () => end({ finished: false, failed: true, error: describe(error) }), options)
    throw error
  } finally {
    endLease()
  }
}

const abandon = (lease: SyncLease, { log }: SyncRunOptions): JobOutcome => {
  log.warn({ stream: `${lease.resource}/${lease.stream}` }, 'another process has taken over this sync; stopping here')
  return { done: true }
}

// The database may be what failed: then the failure cannot be recorded there, and must not hide behind this one.
const recordFailure = async (failure: unknown, record: () => Promise<void>, { log }: SyncRunOptions): Promise<void> => {
  try {
    await record()
  } catch (error) {
    log.warn({ err: error, failure: describe(failure) }, 'the failure of a sync could not be recorded')
  }
}
