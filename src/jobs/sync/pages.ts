import { faultPoint } from '../../fault-points.ts'
import type { Database, Transaction } from '../../store/database.ts'
import {
  type FaultyRecord,
  findNewlyFaulty,
  findRefusedTexts,
  type NewlyFaulty,
  openQuarantineKeys,
  quarantine,
  reviewSkipAlarm,
  supersedeQuarantined,
} from '../../store/quarantine.ts'
import { type SyncLease, type SyncProgress, type SyncWindow, saveProgress } from '../../store/sync-states.ts'
import { type DifferingRecord, rawHash, type StorableRecord, storageFault, storageFaultPrefix } from '../../store/versions.ts'
import type { Resource, SyncHooks } from './resource.ts'
import type { SyncSettings } from './settings.ts'
import type { PageContent } from './stream.ts'

/** What a page brought. */
export interface SavedPage {
  readonly changed: number
  readonly quarantined: number
}

/** A window, or the rest of one, that cannot be read. */
export interface PassedOver {
  readonly window: SyncWindow
  /** The stream that tries it again. */
  readonly stream: string
  /** Why, in a sentence without personal data. */
  readonly fault: string
  readonly observedAt: Date
}

/** What of its window is known with a page. */
export interface PageFrame {
  /** None of its records was created before this; null: nobody knows. */
  readonly createdFrom: Date | null
  /** With this page all of the part has been read; these keys came. Null: it has not, or nobody knows. */
  readonly snapshot: { readonly part: string | null; readonly keys: ReadonlySet<string> } | null
}

/** Stores pages of one run, each together with the progress that it brings, in one transaction. */
export interface PageStore<T> {
  /** `progressAfter` is asked once the page's own numbers are known. */
  save(page: PageContent<T>, progressAfter: (saved: SavedPage) => SyncProgress, frame?: PageFrame): Promise<SyncProgress>
  /** Writes down where the stream stands. */
  keep(progress: SyncProgress): Promise<void>
  /** Writes down that a window is passed over, in quarantine and as an alarm, with where the stream goes on. */
  passOver(passed: PassedOver, progress: SyncProgress): Promise<void>
}

/** What a page store works with. */
export interface PageStoreParts<T> {
  readonly database: Database
  readonly resource: Resource<T>
  readonly lease: SyncLease
  readonly settings: SyncSettings
  readonly hooks: SyncHooks
}

/** Everything about a page that must be written, once it is known what that is. */
interface PageWork<T> {
  readonly observedAt: Date
  readonly createdFrom: Date | null
  readonly differing: readonly DifferingRecord<T>[]
  readonly faulty: readonly NewlyFaulty[]
  readonly healed: readonly string[]
  readonly missing: readonly string[]
  readonly alongside: PageContent<T>['alongside']
}

/**
 * Stores pages. A page of which nothing must be written opens no transaction: its progress is kept in memory and written down with
 * the next page that changes something, or every so often; a crash before that reads unchanged pages again, which costs nothing.
 */
export const createPageStore = <T>({ database, resource: declared, lease, settings, hooks }: PageStoreParts<T>): PageStore<T> => {
  const { sellerId } = lease
  const { name: resource, table } = declared
  let persistedAtMs = performance.now()
  let quarantinedKeys: Set<string> | undefined
  const passedOver = new Set<string>()

  const noteMissing = async (tx: Transaction, observedAt: Date, keys: readonly string[]): Promise<number> => {
    if (table.noteMissing === undefined) throw new TypeError(`the table of ${resource} does not note what is missing`)
    return table.noteMissing(tx, sellerId, observedAt, keys)
  }

  const write = (
    { observedAt, createdFrom, differing, faulty, healed, missing, alongside }: PageWork<T>,
    progressAfter: (saved: SavedPage) => SyncProgress,
    alreadyChanged: number,
  ): Promise<SyncProgress> =>
    database.transaction(async (tx) => {
      // Quarantine before records, as a replay locks them too.
      await quarantine(tx, sellerId, resource, observedAt, faulty, lease.stream, createdFrom)
      if (healed.length > 0) await supersedeQuarantined(tx, sellerId, resource, observedAt, healed)
      const stored = alreadyChanged + (await table.store(tx, sellerId, observedAt, differing, hooks))
      const gone = missing.length === 0 ? 0 : await noteMissing(tx, observedAt, missing)
      const changed = stored + gone
      await alongside?.(tx)
      // Orders may have been passed over, or read at last.
      if (healed.length > 0 || faulty.some(({ skipped }) => skipped !== undefined)) await reviewSkipAlarm(tx, sellerId, resource)
      const progress = progressAfter({ changed, quarantined: faulty.length })
      // After the records, so that whoever stores orders locks them first; it fails, with all of the page, once the lease is lost.
      await saveProgress(tx, lease, progress, settings.leaseMs)
      return progress
    })

  // Postgres refused some record of the page: find out which, keep the others.
  const writeOneByOne = async (work: PageWork<T>, progressAfter: (saved: SavedPage) => SyncProgress): Promise<SyncProgress> => {
    const refused: FaultyRecord[] = []
    let changed = 0
    for (const record of work.differing) {
      try {
        changed += await database.transaction((tx) => table.store(tx, sellerId, work.observedAt, [record], hooks))
      } catch (error) {
        const fault = storageFault(error)
        if (fault === null) throw error
        refused.push({ key: record.key, rawText: record.rawText, fault })
      }
    }
    const healed = work.healed.filter((key) => !refused.some((record) => record.key === key))
    const faulty = [...work.faulty, ...(await findNewlyFaulty(database, sellerId, resource, work.observedAt, refused))]
    return write({ ...work, differing: [], faulty, healed }, progressAfter, changed)
  }

  return {
    save: async (page, progressAfter, { createdFrom, snapshot } = { createdFrom: null, snapshot: null }) => {
      const { keys = {} } = page
      const good: StorableRecord<T>[] = []
      const faulty: FaultyRecord[] = (keys.unreadable ?? []).map(({ key, fault }) => ({
        key,
        fault,
        rawText: JSON.stringify({ asked: key }),
        skipped: { window: null },
      }))
      for (const record of page.records) {
        if (!record.ok) faulty.push({ ...record, createdAt: declared.createdAt?.(record.rawText) ?? null })
        // It cannot even be looked for.
        else if (record.key.includes('\0')) faulty.push({ ...record, fault: `${storageFaultPrefix}: its key holds a NUL` })
        else good.push(record)
      }
      const names = good.length + faulty.length + (keys.answered ?? []).length > 0
      if (names) quarantinedKeys ??= await openQuarantineKeys(database, sellerId, resource)
      const stillOpen = quarantinedKeys ?? new Set<string>()
      const suspects = good.filter((record) => stillOpen.has(record.key))
      const refusedBefore = await findRefusedTexts(database, sellerId, resource, suspects)
      const healed = [
        ...suspects.filter((record) => !refusedBefore.has(record.rawText)).map((record) => record.key),
        ...(keys.answered ?? []).filter((key) => stillOpen.has(key)),
      ]
      const storable = refusedBefore.size === 0 ? good : good.filter((record) => !refusedBefore.has(record.rawText))
      const differing = await table.findDiffering(database, sellerId, storable)
      const newlyFaulty = await findNewlyFaulty(database, sellerId, resource, page.observedAt, faulty)
      const gone = snapshot === null ? [] : await table.findGone?.(database, sellerId, snapshot.part, snapshot.keys)
      const missing = [...(keys.missing ?? []), ...(gone ?? [])]
      const { alongside } = page
      const idle = differing.length + newlyFaulty.length + healed.length + missing.length === 0 && alongside === undefined
      if (idle) {
        const progress = progressAfter({ changed: 0, quarantined: 0 })
        if (performance.now() - persistedAtMs > settings.persistEveryMs) {
          await saveProgress(database, lease, progress, settings.leaseMs)
          persistedAtMs = performance.now()
        }
        return progress
      }
      faultPoint('sync.before-save')
      const { observedAt } = page
      const work: PageWork<T> = { observedAt, createdFrom, differing, faulty: newlyFaulty, healed, missing, alongside }
      const progress = await write(work, progressAfter, 0).catch((error: unknown) => {
        if (differing.length === 0 || storageFault(error) === null) throw error
        return writeOneByOne(work, progressAfter)
      })
      faultPoint('sync.after-save')
      persistedAtMs = performance.now()
      for (const key of healed) stillOpen.delete(key)
      for (const record of newlyFaulty) if (record.key !== null) stillOpen.add(record.key)
      return progress
    },
    keep: (progress) => saveProgress(database, lease, progress, settings.leaseMs),
    passOver: ({ window, stream, fault, observedAt }, progress) =>
      database.transaction(async (tx) => {
        const { from, to, part, across, limit } = window
        const asked: SyncWindow = {
          ...{ from, to, part, narrowed: true },
          ...(across === undefined ? {} : { across }),
          ...(limit === undefined ? {} : { limit }),
        }
        // The same window must have the same text, however it was kept meanwhile.
        const range = across === undefined ? {} : { across: { from: across.from, to: across.to } }
        const rawText = JSON.stringify({ stream, part, from, to, ...range, ...(limit === undefined ? {} : { limit }) })
        // Neighbouring windows share a second: what spoils it is met twice.
        if (passedOver.has(rawText)) return saveProgress(tx, lease, progress, settings.leaseMs)
        passedOver.add(rawText)
        const record = { key: null, rawText, fault, skipped: { window: asked }, hash: rawHash(rawText) }
        await quarantine(tx, sellerId, resource, observedAt, [record], stream)
        await reviewSkipAlarm(tx, sellerId, resource)
        await saveProgress(tx, lease, progress, settings.leaseMs)
      }),
  }
}
