import type { ChangeRecord } from '../domain/changes/catalogue.ts'
import type { InventoryLogEntry } from '../domain/inventory-log.ts'
import type { Transaction } from './database.ts'
import { markTable } from './table-marks.ts'
import { asLocked, type LockedRow, versionedTable } from './versioned-table.ts'
import type { DifferingRecord } from './versions.ts'

markTable('warehouse.inventory_log_freshness', { none: 'seller_id sku gtin product_name read_up_to read_at age fault' })

/** What the change feed records of an entry, and what discrepancies depend on. */
interface EntryState {
  readonly changedUnits: number
  readonly transactionTime: Date
  readonly transactionLocation: string | null
  readonly transactionReasonCode: string | null
  readonly transactionType: string | null
}

// Plain objects, as the change feed takes them.
const told = (state: EntryState) => ({
  changedUnits: state.changedUnits,
  transactionTime: state.transactionTime.toISOString(),
  transactionLocation: state.transactionLocation,
  transactionReasonCode: state.transactionReasonCode,
  transactionType: state.transactionType,
})

const entriesAdded = (sellerId: string, sku: string, added: readonly InventoryLogEntry[]): ChangeRecord => {
  const times = added.map(({ transactionTime }) => transactionTime.getTime())
  return {
    sellerId,
    type: 'inventory_log.entries_added',
    data: {
      sku,
      gtin: added[0]?.gtin ?? null,
      count: added.length,
      netUnits: added.reduce((sum, { changedUnits }) => sum + changedUnits, 0),
      earliest: new Date(Math.min(...times)).toISOString(),
      latest: new Date(Math.max(...times)).toISOString(),
    },
  }
}

const entryChanged = (sellerId: string, before: EntryState, { sku, id, gtin, ...after }: InventoryLogEntry): ChangeRecord => ({
  sellerId,
  type: 'inventory_log.entry_changed',
  data: { sku, gtin, entryId: id, before: told(before), after: told(after) },
})

interface StoredEntry extends LockedRow, EntryState {}

const entries = versionedTable<InventoryLogEntry, StoredEntry, StoredEntry>({
  name: 'inventory_log_entries',
  personalData: {
    none: `seller_id sku entry_id gtin fc_name changed_units transaction_time transaction_location transaction_reason_code
      transaction_reason_description transaction_type shipment_id raw_hash raw observed_at first_seen_at changed_at missing_since`,
  },
  resource: 'inventory-log',
  key: ['sku text', 'entry_id text'],
  keyOf: ({ value }) => [value.sku, value.id],
  foundBy: 'sku',
  columns: [
    'gtin text',
    'fc_name text',
    'changed_units int',
    'transaction_time timestamptz',
    'transaction_location text',
    'transaction_reason_code text',
    'transaction_reason_description text',
    'transaction_type text',
    'shipment_id text',
  ],
  row: (entry) => ({
    gtin: entry.gtin,
    fc_name: entry.fcName,
    changed_units: entry.changedUnits,
    transaction_time: entry.transactionTime,
    transaction_location: entry.transactionLocation,
    transaction_reason_code: entry.transactionReasonCode,
    transaction_reason_description: entry.transactionReasonDescription,
    transaction_type: entry.transactionType,
    shipment_id: entry.shipmentId,
  }),
  payload: { path: '{payload,inventoryLog,0}' },
  marks: ['missing_since'],
  locked: `o.changed_units AS "changedUnits", o.transaction_time AS "transactionTime", o.transaction_location AS "transactionLocation",
    o.transaction_reason_code AS "transactionReasonCode", o.transaction_type AS "transactionType"`,
  before: asLocked,
  // New entries are recorded together, SKU by SKU.
  changes: (sellerId, entry, before) => (before === null ? [] : [entryChanged(sellerId, before, entry)]),
})

/** Those entries of a page whose text differs from what is stored, or that the log was without. Reads only. */
export const { findDiffering: findDifferingEntries } = entries

/** What became of a page of entries. */
export interface StoredEntries {
  /** Entries that were written. */
  readonly changed: number
  /** When they say that something moved, and for changed ones also when they said so before. */
  readonly touched: readonly { readonly sku: string; readonly at: Date }[]
}

/**
 * Stores entries that {@link findDifferingEntries} found, and records for each SKU how many are new and what they add up to, and of each changed
 * one what it was before.
 */
export const storeDifferingEntries = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<InventoryLogEntry>[],
): Promise<StoredEntries> => {
  const written = await entries.write(tx, sellerId, observedAt, records)
  const fresh = written.filter(({ before }) => before === null).map(({ value }) => value)
  for (const [sku, ofSku] of Map.groupBy(fresh, (entry) => entry.sku)) tx.record(entriesAdded(sellerId, sku, ofSku))
  const touched = written.flatMap(({ value: { sku, transactionTime }, before }) => [
    { sku, at: transactionTime },
    ...(before === null ? [] : [{ sku, at: before.transactionTime }]),
  ])
  return { changed: written.length, touched }
}

/** A part of a SKU's log that was read whole. */
export interface WholePart {
  readonly sku: string
  /** Entries strictly between these are all there. */
  readonly from: Date
  readonly to: Date
  /** Ids of the entries that came. */
  readonly ids: readonly string[]
  /** When the first page of it was asked for, on the marketplace's clock. */
  readonly observedAt: Date
}

/**
 * Marks entries that the log no longer has, of parts that were read completely, and records each. They no longer count, and come back when the log
 * shows them again. Returns when they had said that something moved. The SKUs are locked by the caller.
 */
export const noteGoneEntries = async (
  tx: Transaction,
  sellerId: string,
  parts: readonly WholePart[],
): Promise<readonly { readonly sku: string; readonly at: Date }[]> => {
  if (parts.length === 0) return []
  // Looked up part by part: as a join, Postgres reads every entry of the seller for each page until it has counted the new table.
  const gone = await tx.query<{ sku: string; entry_id: string; transaction_time: Date; changed_units: number }>(
    `WITH part AS MATERIALIZED (
       SELECT * FROM json_to_recordset($2::json) AS t(sku text, "from" timestamptz, "to" timestamptz, ids jsonb, "observedAt" timestamptz)
     ), missing AS MATERIALIZED (
       SELECT stored.sku, stored.entry_id, p."observedAt" FROM (SELECT * FROM part ORDER BY sku) p
       CROSS JOIN LATERAL (
         SELECT e.sku, e.entry_id FROM warehouse.inventory_log_entries e
         WHERE e.seller_id = $1 AND e.sku = p.sku AND e.transaction_time > p."from" AND e.transaction_time < p."to"
           AND e.missing_since IS NULL AND e.observed_at < p."observedAt" AND NOT p.ids ? e.entry_id
         ORDER BY e.entry_id FOR UPDATE
       ) stored
     )
     UPDATE warehouse.inventory_log_entries e SET missing_since = m."observedAt", changed_at = now()
     FROM missing m WHERE e.seller_id = $1 AND e.sku = m.sku AND e.entry_id = m.entry_id
     RETURNING e.sku, e.entry_id, e.transaction_time, e.changed_units`,
    sellerId,
    JSON.stringify(parts),
  )
  for (const { sku, entry_id: entryId, transaction_time: at, changed_units: changedUnits } of gone) {
    tx.record({
      sellerId,
      type: 'inventory_log.entry_gone',
      data: { sku, entryId, transactionTime: at.toISOString(), changedUnits },
    })
  }
  return gone.map(({ sku, transaction_time: at }) => ({ sku, at }))
}
