import type { ReadClient } from '../../../clients/http/client.ts'
import type { Operation } from '../../../clients/http/operation.ts'
import { findIntervalMs, type Intervals } from '../../../domain/sync/intervals.ts'
import { countSlices, intersect, type TimeWindow } from '../../../domain/sync/windows.ts'
import type { JobOutcome } from '../../../queues/jobs.ts'
import type { Database, Transaction } from '../../../store/db/database.ts'
import {
  lockQuarantined,
  makeSkippedDue,
  markReplayed,
  type QuarantinedRecord,
  type ReplayOutcome,
  recordFault,
} from '../../../store/sync/quarantine.ts'
import { requestWindows, type SyncKey } from '../../../store/sync/sync-states.ts'
import { storageFault } from '../../../store/versioned/versions.ts'
import { UnknownSync } from '../recovery/errors.ts'
import { resources } from '../resources/resources.ts'
import { backfillStream, findStream, type Resource, type SyncHooks } from './resource.ts'
import { runStream, type SyncDeps } from './run.ts'
import type { SyncRunOptions } from './stream-run.ts'
import { findParts, findReach } from './streams.ts'
import { defaultSyncSettings, type SyncSettings } from './sync-settings.ts'

const find = (name: string, among: readonly Resource[] = resources): Resource => {
  const found = among.find((resource) => resource.name === name)
  if (found === undefined)
    throw new UnknownSync(`there is no resource ${name}; there are ${among.map((resource) => resource.name).join(', ')}`)
  return found
}

/** Names of the resources that can be synced. */
export const syncResources: readonly string[] = resources.map(({ name }) => name)

/** Names of the resources that a seller has; those of display advertising only if the seller advertises. */
export const listResources = (client: ReadClient): readonly string[] =>
  resources.filter(({ endpoint }) => client.of(endpoint) !== null).map(({ name }) => name)

/** The interval of a scheduled stream. */
export interface StreamInterval {
  readonly stream: string
  readonly everyMs: number
}

/**
 * The scheduled streams of a resource with their intervals by these settings; those that are off are left out.
 * @throws UnknownSync
 */
export const readStreams = (resource: string, intervals: Intervals = {}): readonly StreamInterval[] => {
  const { streams, poll } = find(resource)
  return Object.entries(streams).flatMap(([stream, { pace }]) => {
    const everyMs = findIntervalMs(pace, poll, intervals)
    return everyMs === 'off' ? [] : [{ stream, everyMs }]
  })
}

/** The scheduled streams of all resources with their intervals by these settings. */
export const listPaces = (intervals: Intervals): readonly (StreamInterval & { readonly resource: string })[] =>
  resources.flatMap(({ name: resource }) => readStreams(resource, intervals).map((stream) => ({ resource, ...stream })))

/** The operation and the page size of a stream; null: there is no such stream. */
export const findOperation = (
  resource: string,
  stream: string,
  { pageSize }: Pick<SyncSettings, 'pageSize'> = defaultSyncSettings,
): { readonly operation: Operation; readonly pageSize: number } | null => {
  const declared = resources.find(({ name }) => name === resource)
  const found = declared === undefined ? null : findStream(declared, stream)
  // A file is fetched as a whole.
  return found && { operation: found.operation, pageSize: found.kind === 'import' ? Number.POSITIVE_INFINITY : pageSize }
}

/**
 * Brings one stream up to date; the work of a `sync.run` job.
 * @throws UnknownSync, and what {@link runStream} throws
 */
export const runSync = async (deps: SyncDeps, key: SyncKey, options: SyncRunOptions): Promise<JobOutcome> =>
  runStream(deps, find(key.resource, deps.resources), key, options)

/** Names of the resources that can be backfilled. */
export const backfillResources: readonly string[] = syncResources.filter((name) => find(name).backfill !== undefined)

/** A request to read a range again. */
export interface BackfillRequest {
  readonly sellerId: string
  readonly resource: string
  /** Creation times on the marketplace's clock; times that are too old for the marketplace, or in the future, are left out. */
  readonly range: TimeWindow
  /** The marketplace's now; our own clock when absent. */
  readonly now?: Date
}

/** A smaller part out of reach is not reported. */
const minReportedMs = 3_600_000

const findBackfill = (resource: string) => {
  const { backfill } = find(resource)
  if (backfill === undefined) throw new RangeError(`${resource} cannot be backfilled`)
  return backfill
}

/**
 * The time range of a resource that can be backfilled now.
 * @throws UnknownSync; RangeError when it cannot be backfilled
 */
export const findBackfillReach = (resource: string, now: Date, settings: SyncSettings = defaultSyncSettings): TimeWindow =>
  findReach(findBackfill(resource), now, settings)

/**
 * Stores a backfill, oldest first, and returns its stream. A `backfill.run` job of that stream runs it, and `listSyncs` shows its progress.
 * The same range again changes nothing while the backfill is in progress; a finished backfill starts again.
 * @throws UnknownSync; RangeError when the range is empty or completely out of reach, or the resource cannot be backfilled
 */
export const requestBackfill = async (
  database: Database,
  { sellerId, resource, range, now = new Date() }: BackfillRequest,
  settings: Partial<SyncSettings> = {},
): Promise<SyncKey> => {
  const backfill = findBackfill(resource)
  if (range.from >= range.to) throw new RangeError('the start of a backfill must be before its end')
  const all = { ...defaultSyncSettings, ...settings }
  const reached = intersect(range, findBackfillReach(resource, now, all))
  if (reached === null) throw new RangeError('the marketplace lists nothing in this range')
  const { backfillSliceMs: sliceMs } = all
  const parts = findParts(backfill)
  const cut = backfill.windows?.(reached, database.findVocabulary(sellerId))
  const windows = (cut ?? [{ ...reached, sliceMs }]).flatMap((window) => parts.map((part) => ({ ...window, part })))
  // Named by the requested range: the same request is the same stream, while the reach moves with the time.
  const key = { sellerId, resource, stream: backfillStream(range) }
  await requestWindows(database, key, windows, {
    windowsTotal: cut === undefined ? countSlices(reached, sliceMs) * parts.length : windows.length,
    outOfReachBefore: reached.from.getTime() - range.from.getTime() > minReportedMs ? reached.from.toISOString() : null,
  })
  return key
}

const replay = async <T>(
  { endpoint, table }: Resource<T>,
  tx: Transaction,
  record: QuarantinedRecord,
  hooks: SyncHooks,
): Promise<ReplayOutcome> => {
  const { id, sellerId, rawText, observedAt } = record
  const parsed = endpoint.read(rawText)
  if (!parsed.ok) {
    await recordFault(tx, id, parsed.fault)
    return { outcome: 'still-malformed', fault: parsed.fault }
  }
  const differing = await table.findDiffering(tx, sellerId, [parsed])
  const written = await table.store(tx, sellerId, observedAt, differing, hooks)
  const outcome = differing.length > 0 && written === 0 ? 'superseded' : 'replayed'
  await markReplayed(tx, record, outcome, parsed.key)
  return { outcome }
}

/**
 * Parses a quarantined record again with the current parser and stores it by the usual rules: an older observation never overwrites a newer one, and
 * the same record twice is stored once.
 */
export const replayQuarantined = async (
  { database, ...hooks }: SyncHooks & { readonly database: Database },
  id: bigint,
): Promise<ReplayOutcome> => {
  try {
    return await database.transaction(async (tx) => {
      const record = await lockQuarantined(tx, id)
      if (record === null) return { outcome: 'not-found' }
      if (record.state !== 'open') return { outcome: 'already-settled', state: record.state }
      if (record.isSkip) {
        await makeSkippedDue(tx, id)
        return { outcome: 'still-malformed', fault: `${record.fault}; the next run requests it again` }
      }
      return replay(find(record.resource), tx, record, hooks)
    })
  } catch (error) {
    const fault = storageFault(error)
    if (fault === null) throw error
    await database.transaction((tx) => recordFault(tx, id, fault))
    return { outcome: 'still-malformed', fault }
  }
}
