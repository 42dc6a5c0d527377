import type { Observed } from '../../../clients/http/record.ts'
import type { Database, Transaction } from '../../../store/db/database.ts'
import {
  type FaultyRecord,
  findNewlyFaulty,
  findQuarantinedId,
  quarantine,
  supersedeQuarantined,
} from '../../../store/sync/quarantine.ts'
import { storageFault } from '../../../store/versioned/versions.ts'
import type { Resource, SyncHooks } from './resource.ts'

/** Result of storing one record. `what`: it could not be parsed, or Postgres refused it; it is in quarantine. */
export type StoredRecord =
  | { readonly stored: true }
  | { readonly stored: false; readonly what: 'read' | 'stored'; readonly fault: string; readonly quarantinedId: bigint | null }

/** Dependencies of storing one record. */
export interface StoreRecordParts extends SyncHooks {
  readonly database: Database
}

/**
 * Stores one record that was read by its id, by the rules of pages: an older observation never overwrites a newer one, and an unreadable record is
 * quarantined. `inSameTransaction` runs in the transaction that stores it.
 */
export const storeRecord = async <T>(
  { database, ...hooks }: StoreRecordParts,
  { name, table }: Resource<T>,
  sellerId: string,
  { record, observedAt }: Pick<Observed<T>, 'record' | 'observedAt'>,
  inSameTransaction: (tx: Transaction) => Promise<void> = async () => undefined,
): Promise<StoredRecord> => {
  const keepFaulty = async (faulty: FaultyRecord, what: 'read' | 'stored'): Promise<StoredRecord> => {
    const quarantinedId = await database.transaction(async (tx) => {
      await quarantine(tx, sellerId, name, observedAt, await findNewlyFaulty(tx, sellerId, name, observedAt, [faulty]))
      return findQuarantinedId(tx, sellerId, name, faulty.rawText)
    })
    return { stored: false, what, fault: faulty.fault, quarantinedId }
  }
  if (!record.ok) return keepFaulty(record, 'read')
  try {
    await database.transaction(async (tx) => {
      // Quarantine before records, as a replay locks them too.
      await supersedeQuarantined(tx, sellerId, name, observedAt, [record.key])
      await table.store(tx, sellerId, observedAt, await table.findDiffering(tx, sellerId, [record]), hooks)
      await inSameTransaction(tx)
    })
    return { stored: true }
  } catch (error) {
    const fault = storageFault(error)
    if (fault === null) throw error
    return keepFaulty({ key: record.key, rawText: record.rawText, fault }, 'stored')
  }
}
