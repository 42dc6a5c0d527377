import { countSlices, intersect, reachOf, type TimeWindow } from '../../domain/windows.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { askSkippedAgain, lockQuarantined, markReplayed, noteFault, type QuarantinedRecord } from '../../store/quarantine.ts'
import { requestWindows, type SyncKey } from '../../store/sync-states.ts'
import { storageFault } from '../../store/versions.ts'
import { campaignsSync } from './campaigns.ts'
import {
  backfillStream,
  defaultSyncSettings,
  longestReachDays,
  type SyncDefinition,
  type SyncHooks,
  type SyncSettings,
} from './definition.ts'
import { inventoryLogSync } from './inventory-log.ts'
import { ordersSync } from './orders.ts'
import { reconciliationSync } from './reconciliation.ts'
import { replenishmentSync } from './replenishment.ts'
import { returnsSync } from './returns.ts'
import { runStream, type SyncDeps, type SyncRunOptions, UnknownSync } from './run.ts'
import { salesChannelsSync } from './sales-channels.ts'
import { shippingSettingsSync } from './shipping-settings.ts'
import { behavioralAudiencesSync, contextualTargetsSync } from './targeting.ts'
import { taxonomiesSync } from './taxonomies.ts'

/** What became of a quarantined record that was read again. */
export type ReplayOutcome =
  | { readonly outcome: 'replayed' }
  /** It can be read now, but something newer is stored already. */
  | { readonly outcome: 'superseded' }
  | { readonly outcome: 'still-malformed'; readonly fault: string }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'already-settled'; readonly state: string }

/** A resource with its record type closed over. */
interface Resource {
  readonly streams: readonly string[]
  intervalMs(stream: string, pollMs: number): number
  readonly backfillParts: readonly (string | null)[]
  readonly backfillWindows: SyncDefinition<unknown>['backfillWindows']
  readonly reachDays: SyncDefinition<unknown>['reachDays']
  run(deps: SyncDeps, key: SyncKey, options: SyncRunOptions): Promise<JobOutcome>
  replay(tx: Transaction, record: QuarantinedRecord, hooks: SyncHooks): Promise<ReplayOutcome>
}

const bind = <T>(definition: SyncDefinition<T>): Resource => ({
  streams: definition.streams,
  intervalMs: definition.intervalMs ?? ((_stream, pollMs) => pollMs),
  backfillParts: definition.backfillParts,
  backfillWindows: definition.backfillWindows,
  reachDays: definition.reachDays,
  run: (deps, key, options) => runStream(deps, definition, key, options),
  replay: async (tx, { id, sellerId, rawText, observedAt }, hooks) => {
    const parsed = definition.parse(rawText)
    if (!parsed.ok) {
      await noteFault(tx, id, parsed.fault)
      return { outcome: 'still-malformed', fault: parsed.fault }
    }
    const differing = await definition.find(tx, sellerId, [parsed])
    const written = await definition.store(tx, sellerId, observedAt, differing, hooks)
    const outcome = differing.length > 0 && written === 0 ? 'superseded' : 'replayed'
    await markReplayed(tx, id, outcome, parsed.key)
    return { outcome }
  },
})

const resources: ReadonlyMap<string, Resource> = new Map([
  [ordersSync.resource, bind(ordersSync)],
  [returnsSync.resource, bind(returnsSync)],
  [reconciliationSync.resource, bind(reconciliationSync)],
  [taxonomiesSync.resource, bind(taxonomiesSync)],
  [contextualTargetsSync.resource, bind(contextualTargetsSync)],
  [behavioralAudiencesSync.resource, bind(behavioralAudiencesSync)],
  [campaignsSync.resource, bind(campaignsSync)],
  [salesChannelsSync.resource, bind(salesChannelsSync)],
  [shippingSettingsSync.resource, bind(shippingSettingsSync)],
  [replenishmentSync.resource, bind(replenishmentSync)],
  [inventoryLogSync.resource, bind(inventoryLogSync)],
])

const find = (resource: string): Resource => {
  const found = resources.get(resource)
  if (found === undefined)
    throw new UnknownSync(`there is no resource ${resource} to sync; there are ${[...resources.keys()].join(', ')}`)
  return found
}

/** Names of the resources that can be synced. */
export const syncResources: readonly string[] = [...resources.keys()]

const displayResources: ReadonlySet<string> = new Set(['taxonomies', 'contextual-targets', 'behavioral-audiences'])

/** Whether a resource belongs to display advertising, which a seller may not have. */
export const isDisplayResource = (resource: string): boolean => displayResources.has(resource)

/**
 * Streams of a resource that schedulers run, and how often each is run where the resource is polled every `pollMs`.
 * @throws UnknownSync
 */
export const streamsOf = (resource: string, pollMs = 0): readonly { readonly stream: string; readonly everyMs: number }[] => {
  const { streams, intervalMs } = find(resource)
  return streams.map((stream) => ({ stream, everyMs: intervalMs(stream, pollMs) }))
}

/**
 * Brings one stream up to date; what a `sync.run` job does.
 * @throws UnknownSync, and what {@link runStream} throws
 */
export const runSync = async (deps: SyncDeps, key: SyncKey, options: SyncRunOptions): Promise<JobOutcome> =>
  find(key.resource).run(deps, key, options)

/** Names of the resources that have a past which can be read again. */
export const backfillResources: readonly string[] = syncResources.filter((name) => find(name).backfillParts.length > 0)

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

/**
 * The times of a resource that can be read again now.
 * @throws UnknownSync
 */
export const reachOfBackfill = (resource: string, now: Date, settings: SyncSettings = defaultSyncSettings): TimeWindow =>
  reachOf(now, find(resource).reachDays?.(settings) ?? longestReachDays)

/**
 * Puts a backfill down, oldest first; a `sync.run` job on the stream that it answers does it, and `listSyncs` shows how far it is.
 * The same range again while it is under way changes nothing; once it is finished it starts anew.
 * @throws UnknownSync; RangeError when the range is empty or wholly out of reach, or the resource has no past
 */
export const requestBackfill = async (
  database: Database,
  { sellerId, resource, range, now = new Date() }: BackfillRequest,
  settings: Partial<SyncSettings> = {},
): Promise<SyncKey> => {
  const { backfillParts, backfillWindows } = find(resource)
  if (backfillParts.length === 0) throw new RangeError(`${resource} has no past that could be read again`)
  if (range.from >= range.to) throw new RangeError('a backfill must begin before it ends')
  const all = { ...defaultSyncSettings, ...settings }
  const reached = intersect(range, reachOfBackfill(resource, now, all))
  if (reached === null) throw new RangeError('nothing of the range can be reached')
  const { backfillSliceMs: sliceMs } = all
  const months = backfillWindows?.(reached)
  const windows = (months ?? [{ ...reached, sliceMs }]).flatMap((window) => backfillParts.map((part) => ({ ...window, part })))
  // By what was asked for, so that the same words are the same stream while the reach moves on.
  const key = { sellerId, resource, stream: backfillStream(range) }
  await requestWindows(database, key, windows, {
    windowsTotal: months === undefined ? countSlices(reached, sliceMs) * backfillParts.length : windows.length,
    outOfReachBefore: reached.from.getTime() - range.from.getTime() > worthTellingMs ? reached.from.toISOString() : null,
  })
  return key
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
      return find(record.resource).replay(tx, record, hooks)
    })
  } catch (error) {
    const fault = storageFault(error)
    if (fault === null) throw error
    await database.transaction((tx) => noteFault(tx, id, fault))
    return { outcome: 'still-malformed', fault }
  }
}
