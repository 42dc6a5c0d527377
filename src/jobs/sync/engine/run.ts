import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { JobOutcome } from '../../../queues/jobs.ts'
import type { Database } from '../../../store/db/database.ts'
import { readEnrolment, recordEnrolment } from '../../../store/sync/enrolments.ts'
import { stopSkippedRetries } from '../../../store/sync/quarantine.ts'
import {
  acquireLease,
  endRun,
  LeaseLost,
  type SyncKey,
  type SyncLease,
  type SyncRun,
  type SyncWindow,
} from '../../../store/sync/sync-states.ts'
import { meansNotEnrolled, noteEnrolledAnswer } from '../recovery/enrolment.ts'
import { describe, notEnrolledAdvice, UnknownSync } from '../recovery/errors.ts'
import { planRun, withNextSlice } from '../windows/planning.ts'
import { importWindow } from './import-window.ts'
import { keepLease } from './lease.ts'
import { createPageStore } from './page-store.ts'
import { readWindow } from './read-window.ts'
import { findStream, type Resource, type SyncHooks } from './resource.ts'
import type { StreamContext, SyncStream } from './stream.ts'
import { type RunParts, type Stop, StreamRun, type SyncRunOptions } from './stream-run.ts'
import { dayMs, defaultSyncSettings, type SyncSettings } from './sync-settings.ts'

/** Dependencies of the sync engine. */
export interface SyncDeps extends SyncHooks {
  readonly database: Database
  /** The resources to sync; left out: all in `resources.ts`. */
  readonly resources?: readonly Resource[]
  client(sellerId: string): StreamContext['client']
  /** Name of this process in leases. */
  readonly owner: string
  readonly settings?: Partial<SyncSettings>
  /** Called after each run, for metrics. Must not throw. */
  readonly onRun?: (report: SyncRunReport) => void
}

/** A finished run. */
export interface SyncRunReport extends SyncKey {
  readonly run: SyncRun
  /** Nothing is left to read. */
  readonly finished: boolean
  readonly watermark: Date | null
  readonly durationMs: number
}

const enrolmentHoldsMs = 7 * dayMs
/** A smaller part of a window out of reach is not reported. */
const minReportedMs = 3_600_000

/** Reads the reachable part of a window. Null: continue with the next window. */
type WindowReader = (window: SyncWindow, planned: SyncWindow) => Promise<Stop | null>

/** A run, and the reader of windows for its kind of stream. */
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

/** Completes a window that is out of reach. */
const passWindow = async <T>(run: StreamRun<T>, { skippedAs, to }: SyncWindow): Promise<void> => {
  const { database, client } = run.context
  if (skippedAs !== undefined) await stopSkippedRetries(database, skippedAs)
  else if (to <= client.clock().now()) run.noteOutOfReach(to)
  run.completeWindow(to)
  // This loop awaited nothing else, and the next windows may be out of reach too.
  await letOthersRun()
}

/** Reads the reachable part of a planned window. Null: continue with the next window. */
const readReachable = async <T>(run: StreamRun<T>, read: WindowReader, planned: SyncWindow): Promise<Stop | null> => {
  const reached = run.stream.reach(run.context, planned)
  if (reached === null) {
    await passWindow(run, planned)
    return null
  }
  if (reached.from.getTime() - planned.from.getTime() > minReportedMs) run.noteOutOfReach(reached.from)
  const window = { ...planned, ...reached }
  run.noteWindow(window)
  return read(window, planned)
}

/** Reads until nothing is left, or until the run has to release its worker. */
const readAll = async <T>(run: StreamRun<T>, read: WindowReader): Promise<Stop> => {
  const resumed = run.progress.pending.length > 0
  let mayPlan = !resumed || run.stream.kind === 'changes'
  for (;;) {
    if (run.options.signal.aborted) return { finished: false, at: new Date(), reason: 'stopping' }
    run.setPending(withNextSlice(run.progress.pending))
    const [window] = run.progress.pending
    if (window !== undefined) {
      if (run.turnEndsAfter(run.record.pages)) return { finished: false, at: new Date(), reason: 'taking turns' }
      const stop = await readReachable(run, read, window)
      if (stop !== null) return stop
      // The windows were discarded because of clock skew.
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
 * Runs one stream until nothing is left to read. Without rate budget, after its turn, or at a shutdown it releases its worker and returns the time to
 * continue; its progress is stored. A failure is recorded with advice, then thrown: the job makes the pauses between retries.
 *
 * @throws MarketplaceFailure, CursorLoop, or an error of the database
 */
export const runStream = async <T>(
  deps: SyncDeps,
  declared: Resource<T>,
  key: SyncKey,
  options: SyncRunOptions,
): Promise<JobOutcome> => {
  const stream = findStream(declared, key.stream)
  if (stream === null)
    throw new UnknownSync(`${key.resource} has no stream ${key.stream}; it has ${Object.keys(declared.streams).join(', ')}`)
  const settings: SyncSettings = { ...defaultSyncSettings, ...deps.settings }
  const { database } = deps
  const needsEnrolment = declared.enrolment === 'needed'
  const { sellerId, resource } = key
  const enrolment = needsEnrolment ? await readEnrolment(database, sellerId, resource, enrolmentHoldsMs) : 'enrolled'
  if (enrolment === 'not enrolled') return { done: true }
  const client = deps.client(sellerId)
  const claim = await acquireLease(database, key, deps.owner, settings.leaseMs)
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
    if (error instanceof LeaseLost) return abandonRun(lease, options)
    if (needsEnrolment && meansNotEnrolled(database, key, error)) {
      options.log.info({ stream: `${resource}/${key.stream}` }, `the seller is not enrolled: ${notEnrolledAdvice}`)
      await database.transaction((tx) => recordEnrolment(tx, { sellerId, resource, enrolled: false, detail: describe(error) }))
      run.dropPending()
      await end({ finished: true, failed: false, error: null })
      return { done: true }
    }
    await recordFailure(error, () => end({ finished: false, failed: true, error: describe(error) }), options)
    throw error
  } finally {
    endLease()
  }
}

const abandonRun = (lease: SyncLease, { log }: SyncRunOptions): JobOutcome => {
  log.warn({ stream: `${lease.resource}/${lease.stream}` }, 'another process has taken over this sync; this run stops')
  return { done: true }
}

// If the database itself failed, the failure cannot be recorded, and the error of recording must not hide the first one.
const recordFailure = async (failure: unknown, record: () => Promise<void>, { log }: SyncRunOptions): Promise<void> => {
  try {
    await record()
  } catch (error) {
    log.warn({ err: error, failure: describe(failure) }, 'the failure of a sync could not be recorded in the database')
  }
}
