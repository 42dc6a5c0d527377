import type { MarketplaceClient } from '../../clients/client.ts'
import type { Operation } from '../../clients/operation.ts'
import { countSlices, intersect, type TimeWindow } from '../../domain/windows.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import type { Database, Transaction } from '../../store/database.ts'
import {
  askSkippedAgain,
  lockQuarantined,
  markReplayed,
  noteFault,
  type QuarantinedRecord,
  type ReplayOutcome,
} from '../../store/quarantine.ts'
import { requestWindows, type SyncKey } from '../../store/sync-states.ts'
import { storageFault } from '../../store/versions.ts'
import { UnknownSync } from './faults.ts'
import { everyMsOf, type Intervals } from './intervals.ts'
import { backfillStream, type Resource, type SyncHooks, streamOf } from './resource.ts'
import { resources } from './resources.ts'
import { runStream, type SyncDeps } from './run.ts'
import { defaultSyncSettings, type SyncSettings } from './settings.ts'
import type { SyncRunOptions } from './stream-run.ts'
import { partsOf, reachOfPast } from './streams.ts'

const find = (name: string, among: readonly Resource[] = resources): Resource => {
  const found = among.find((resource) => resource.name === name)
  if (found === undefined)
    throw new UnknownSync(`there is no resource ${name} to sync; there are ${among.map((resource) => resource.name).join(', ')}`)
  return found
}

/** Names of the resources that can be synced. */
export const syncResources: readonly string[] = resources.map(({ name }) => name)

/** Names of the resources that a seller has; display advertising is only of those who advertise. */
export const resourcesOf = (client: MarketplaceClient): readonly string[] =>
  resources.filter(({ endpoint }) => client.of(endpoint) !== null).map(({ name }) => name)

/** How often a stream of a resource runs by itself. */
export interface StreamInterval {
  readonly stream: string
  readonly everyMs: number
  /** A start does not run it where it has succeeded within its interval. */
  readonly restsAfterRestart: boolean
}

/**
 * Streams of a resource that run by themselves, and how often by these settings; those that are off are left out.
 * @throws UnknownSync
 */
export const streamsOf = (resource: string, intervals: Intervals = {}): readonly StreamInterval[] => {
  const { streams, poll } = find(resource)
  return Object.entries(streams).flatMap(([stream, { pace }]) => {
    const everyMs = everyMsOf(pace, poll, intervals)
    return everyMs === 'off' ? [] : [{ stream, everyMs, restsAfterRestart: 'setting' in pace && pace.restsAfterRestart }]
  })
}

/** By which operation a stream asks, and for how many records at a time; null: there is no such stream. */
export const askingOf = (
  resource: string,
  stream: string,
  { pageSize }: Pick<SyncSettings, 'pageSize'> = defaultSyncSettings,
): { readonly operation: Operation; readonly pageSize: number } | null => {
  const declared = resources.find(({ name }) => name === resource)
  const found = declared === undefined ? null : streamOf(declared, stream)
  // A file comes whole.
  return found && { operation: found.operation, pageSize: found.kind === 'import' ? Number.POSITIVE_INFINITY : pageSize }
}

/**
 * Brings one stream up to date; what a `sync.run` job does.
 * @throws UnknownSync, and what {@link runStream} throws
 */
export const runSync = async (deps: SyncDeps, key: SyncKey, options: SyncRunOptions): Promise<JobOutcome> =>
  runStream(deps, find(key.resource, deps.resources), key, options)

/** Names of the resources that have a past which can be read again. */
export const backfillResources: readonly string[] = syncResources.filter((name) => find(name).past !== undefined)

/** What to read again. */
export interface BackfillRequest {
  readonly sellerId: string
  readonly resource: string
  /** Creation times on the marketplace's clock; what is older than it answers for, or still to come, is left out. */
  readonly range: TimeWindow
  /** The marketplace's now; by our own clock when absent. */
  readonly now?: Date
}

/** Less than this out of reach is not worth a word. */
const worthTellingMs = 3_600_000

const pastOf = (resource: string) => {
  const { past } = find(resource)
  if (past === undefined) throw new RangeError(`${resource} has no past that could be read again`)
  return past
}

/**
 * The times of a resource that can be read again now.
 * @throws UnknownSync; RangeError when it has no past
 */
export const reachOfBackfill = (resource: string, now: Date, settings: SyncSettings = defaultSyncSettings): TimeWindow =>
  reachOfPast(pastOf(resource), now, settings)

/**
 * Puts a backfill down, oldest first; a `sync.run` job on the stream that it answers does it, and `listSyncs` shows how far it is.
 * The same range again while it is under way changes nothing; once it is finished it starts again.
 * @throws UnknownSync; RangeError when the range is empty or wholly out of reach, or the resource has no past
 */
export const requestBackfill = async (
  database: Database,
  { sellerId, resource, range, now = new Date() }: BackfillRequest,
  settings: Partial<SyncSettings> = {},
): Promise<SyncKey> => {
  const past = pastOf(resource)
  if (range.from >= range.to) throw new RangeError('a backfill must begin before it ends')
  const all = { ...defaultSyncSettings, ...settings }
  const reached = intersect(range, reachOfBackfill(resource, now, all))
  if (reached === null) throw new RangeError('nothing of the range can be reached')
  const { backfillSliceMs: sliceMs } = all
  const parts = partsOf(past)
  const cut = past.windows?.(reached, database.vocabularyOf(sellerId))
  const windows = (cut ?? [{ ...reached, sliceMs }]).flatMap((window) => parts.map((part) => ({ ...window, part })))
  // By what was asked for, so that the same words are the same stream while the reach moves on.
  const key = { sellerId, resource, stream: backfillStream(range) }
  await requestWindows(database, key, windows, {
    windowsTotal: cut === undefined ? countSlices(reached, sliceMs) * parts.length : windows.length,
    outOfReachBefore: reached.from.getTime() - range.from.getTime() > worthTellingMs ? reached.from.toISOString() : null,
  })
  return key
}

const replay = async <T>(
  { endpoint, table }: Resource<T>,
  tx: Transaction,
  { id, sellerId, rawText, observedAt }: QuarantinedRecord,
  hooks: SyncHooks,
): Promise<ReplayOutcome> => {
  const parsed = endpoint.read(rawText)
  if (!parsed.ok) {
    await noteFault(tx, id, parsed.fault)
    return { outcome: 'still-malformed', fault: parsed.fault }
  }
  const differing = await table.findDiffering(tx, sellerId, [parsed])
  const written = await table.store(tx, sellerId, observedAt, differing, hooks)
  const outcome = differing.length > 0 && written === 0 ? 'superseded' : 'replayed'
  await markReplayed(tx, id, outcome, parsed.key)
  return { outcome }
}

/**
 * Reads a quarantined record again with the parser of today and stores it by the ordinary rules: an older observation never overwrites
 * a newer one, and the same record twice is stored once.
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
        await askSkippedAgain(tx, id)
        return { outcome: 'still-malformed', fault: `${record.fault}; it is asked for again with the next run` }
      }
      return replay(find(record.resource), tx, record, hooks)
    })
  } catch (error) {
    const fault = storageFault(error)
    if (fault === null) throw error
    await database.transaction((tx) => noteFault(tx, id, fault))
    return { outcome: 'still-malformed', fault }
  }
}
