import type { Database, Transaction } from '../../../store/db/database.ts'
import {
  type FaultyRecord,
  findNewlyFaulty,
  findRefusedTexts,
  type NewlyFaulty,
  quarantine,
  readOpenQuarantineKeys,
  reviewSkipAlarm,
  supersedeQuarantined,
} from '../../../store/sync/quarantine.ts'
import { type SyncLease, type SyncProgress, type SyncWindow, saveProgress } from '../../../store/sync/sync-states.ts'
import {
  type DifferingRecord,
  rawHash,
  type StorableRecord,
  storageFault,
  storageFaultPrefix,
} from '../../../store/versioned/versions.ts'
import { faultPoint } from '../../../util/fault-points.ts'
import type { Resource, SyncHooks } from './resource.ts'
import type { PageContent } from './stream.ts'
import type { SyncSettings } from './sync-settings.ts'

/** What storing a page changed. */
export interface SavedPage {
  readonly changed: number
  readonly quarantined: number
}

/** A window, or the rest of one, that cannot be read. */
export interface SkippedWindow {
  readonly window: SyncWindow
  /** The stream that retries it. */
  readonly stream: string
  /** The reason, in a sentence without personal data. */
  readonly fault: string
  readonly observedAt: Date
}

/** What a page proves about its window. */
export interface PageFrame {
  /** No record of the window was created before this; null: unknown. */
  readonly createdFrom: Date | null
  /** The keys of all records of a part of a snapshot, with its last page. Null: not all were read, or not all keys are known. */
  readonly snapshot: { readonly part: string | null; readonly keys: ReadonlySet<string> } | null
}

/** Stores the pages of one run, each together with the progress after it, in one transaction. */
export interface PageStore<T> {
  /** `progressAfter` returns the progress after the page, from the page's own numbers. */
  save(page: PageContent<T>, progressAfter: (saved: SavedPage) => SyncProgress, frame?: PageFrame): Promise<SyncProgress>
  /** Stores the progress of the stream. */
  keep(progress: SyncProgress): Promise<void>
  /** Stores a skipped window, in quarantine and as an alarm, together with the progress after it. */
  skip(skipped: SkippedWindow, progress: SyncProgress): Promise<void>
}

/** Dependencies of a page store. */
export interface PageStoreParts<T> {
  readonly database: Database
  readonly resource: Resource<T>
  readonly lease: SyncLease
  readonly settings: SyncSettings
  readonly hooks: SyncHooks
}

/** Everything that has to be written for a page. */
interface PageWork<T> {
  readonly observedAt: Date
  readonly createdFrom: Date | null
  readonly differing: readonly DifferingRecord<T>[]
  readonly faulty: readonly NewlyFaulty[]
  readonly healed: readonly string[]
  readonly missing: readonly string[]
  readonly inSameTransaction: PageContent<T>['inSameTransaction']
}

/** The readable records of a page, and the faulty ones. */
interface SortedRecords<T> {
  readonly good: readonly StorableRecord<T>[]
  readonly faulty: readonly FaultyRecord[]
}

const noFrame: PageFrame = { createdFrom: null, snapshot: null }

const isIdle = <T>({ differing, faulty, healed, missing, inSameTransaction }: PageWork<T>): boolean =>
  differing.length + faulty.length + healed.length + missing.length === 0 && inSameTransaction === undefined

/**
 * Stores pages. A page without changes opens no transaction: its progress is kept in memory, and stored with the next page that changes something, or
 * at intervals. After a crash unchanged pages are read again, which costs nothing.
 */
class DatabasePageStore<T> implements PageStore<T> {
  readonly #parts: PageStoreParts<T>
  readonly #skipped = new Set<string>()
  #persistedAtMs = performance.now()
  #quarantinedKeys: Set<string> | undefined

  constructor(parts: PageStoreParts<T>) {
    this.#parts = parts
  }

  async save(
    page: PageContent<T>,
    progressAfter: (saved: SavedPage) => SyncProgress,
    frame: PageFrame = noFrame,
  ): Promise<SyncProgress> {
    const work = await this.#findWork(page, frame)
    if (isIdle(work)) return this.#saveIdle(progressAfter({ changed: 0, quarantined: 0 }))
    faultPoint('sync.before-save')
    const progress = await this.#write(work, progressAfter, 0).catch((error: unknown) => {
      if (work.differing.length === 0 || storageFault(error) === null) throw error
      return this.#writeOneByOne(work, progressAfter)
    })
    faultPoint('sync.after-save')
    this.#persistedAtMs = performance.now()
    for (const key of work.healed) this.#quarantinedKeys?.delete(key)
    for (const record of work.faulty) if (record.key !== null) this.#quarantinedKeys?.add(record.key)
    return progress
  }

  keep(progress: SyncProgress): Promise<void> {
    const { database, lease, settings } = this.#parts
    return saveProgress(database, lease, progress, settings.leaseMs)
  }

  skip({ window, stream, fault, observedAt }: SkippedWindow, progress: SyncProgress): Promise<void> {
    const { database, lease, settings, resource } = this.#parts
    return database.transaction(async (tx) => {
      const { from, to, part, across, limit } = window
      const retried: SyncWindow = {
        ...{ from, to, part, narrowed: true },
        ...(across === undefined ? {} : { across }),
        ...(limit === undefined ? {} : { limit }),
      }
      // The same window must have the same text, independent of its later progress.
      const range = across === undefined ? {} : { across: { from: across.from, to: across.to } }
      const rawText = JSON.stringify({ stream, part, from, to, ...range, ...(limit === undefined ? {} : { limit }) })
      // Neighbouring windows share a second: its corrupt record is found twice.
      if (!this.#skipped.has(rawText)) {
        this.#skipped.add(rawText)
        const record = { key: null, rawText, fault, skipped: { window: retried }, hash: rawHash(rawText) }
        await quarantine(tx, lease.sellerId, resource.name, observedAt, [record], stream)
        await reviewSkipAlarm(tx, lease.sellerId, resource.name)
      }
      await saveProgress(tx, lease, progress, settings.leaseMs)
    })
  }

  async #saveIdle(progress: SyncProgress): Promise<SyncProgress> {
    const { settings } = this.#parts
    if (performance.now() - this.#persistedAtMs > settings.persistEveryMs) {
      await this.keep(progress)
      this.#persistedAtMs = performance.now()
    }
    return progress
  }

  #sortRecords({ records, keys = {} }: PageContent<T>): SortedRecords<T> {
    const { resource } = this.#parts
    const good: StorableRecord<T>[] = []
    const faulty: FaultyRecord[] = (keys.unreadable ?? []).map(({ key, fault }) => ({
      key,
      fault,
      rawText: JSON.stringify({ asked: key }),
      skipped: { window: null },
    }))
    for (const record of records) {
      if (!record.ok) faulty.push({ ...record, createdAt: resource.createdAt?.(record.rawText) ?? null })
      // Postgres cannot even compare such a key.
      else if (record.key.includes('\0')) faulty.push({ ...record, fault: `${storageFaultPrefix}: its key holds a NUL` })
      else good.push(record)
    }
    return { good, faulty }
  }

  async #findWork(page: PageContent<T>, { createdFrom, snapshot }: PageFrame): Promise<PageWork<T>> {
    const { database, resource, lease } = this.#parts
    const { sellerId } = lease
    const { name, table } = resource
    const { keys = {}, observedAt, inSameTransaction } = page
    const { good, faulty } = this.#sortRecords(page)
    const hasKeys = good.length + faulty.length + (keys.answered ?? []).length > 0
    if (hasKeys) this.#quarantinedKeys ??= await readOpenQuarantineKeys(database, sellerId, name)
    const stillOpen = this.#quarantinedKeys ?? new Set<string>()
    const suspects = good.filter((record) => stillOpen.has(record.key))
    const refusedBefore = await findRefusedTexts(database, sellerId, name, suspects)
    const healed = [
      ...suspects.filter((record) => !refusedBefore.has(record.rawText)).map((record) => record.key),
      ...(keys.answered ?? []).filter((key) => stillOpen.has(key)),
    ]
    const storable = refusedBefore.size === 0 ? good : good.filter((record) => !refusedBefore.has(record.rawText))
    const differing = await table.findDiffering(database, sellerId, storable)
    const newlyFaulty = await findNewlyFaulty(database, sellerId, name, observedAt, faulty)
    const gone = snapshot === null ? [] : await table.findMissing?.(database, sellerId, snapshot.part, snapshot.keys)
    const missing = [...(keys.missing ?? []), ...(gone ?? [])]
    return { observedAt, createdFrom, differing, faulty: newlyFaulty, healed, missing, inSameTransaction }
  }

  #write(
    { observedAt, createdFrom, differing, faulty, healed, missing, inSameTransaction }: PageWork<T>,
    progressAfter: (saved: SavedPage) => SyncProgress,
    alreadyChanged: number,
  ): Promise<SyncProgress> {
    const { database, resource, lease, settings, hooks } = this.#parts
    const { sellerId } = lease
    const { name, table } = resource
    return database.transaction(async (tx) => {
      // Quarantine before records: a replay locks them in the same order.
      await quarantine(tx, sellerId, name, observedAt, faulty, lease.stream, createdFrom)
      if (healed.length > 0) await supersedeQuarantined(tx, sellerId, name, observedAt, healed)
      const stored = alreadyChanged + (await table.store(tx, sellerId, observedAt, differing, hooks))
      const changed = stored + (missing.length === 0 ? 0 : await this.#noteMissing(tx, observedAt, missing))
      await inSameTransaction?.(tx)
      // A record may have been skipped, or read after all.
      if (healed.length > 0 || faulty.some(({ skipped }) => skipped !== undefined)) await reviewSkipAlarm(tx, sellerId, name)
      const progress = progressAfter({ changed, quarantined: faulty.length })
      // After the records, since orders are locked first everywhere. This fails, and the whole page with it, when the lease is lost.
      await saveProgress(tx, lease, progress, settings.leaseMs)
      return progress
    })
  }

  async #noteMissing(tx: Transaction, observedAt: Date, keys: readonly string[]): Promise<number> {
    const { resource, lease } = this.#parts
    const { name, table } = resource
    if (table.noteMissing === undefined) throw new TypeError(`the table of ${name} does not note missing records`)
    return table.noteMissing(tx, lease.sellerId, observedAt, keys)
  }

  /** Postgres refused some record of the page: stores the records one by one, and quarantines the refused ones. */
  async #writeOneByOne(work: PageWork<T>, progressAfter: (saved: SavedPage) => SyncProgress): Promise<SyncProgress> {
    const { database, resource, lease, hooks } = this.#parts
    const { sellerId } = lease
    const { name, table } = resource
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
    const faulty = [...work.faulty, ...(await findNewlyFaulty(database, sellerId, name, work.observedAt, refused))]
    return this.#write({ ...work, differing: [], faulty, healed }, progressAfter, changed)
  }
}

/** The page store of a run. */
export const createPageStore = <T>(parts: PageStoreParts<T>): PageStore<T> => new DatabasePageStore(parts)
