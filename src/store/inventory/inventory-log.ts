import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import type { InventoryLogEntry } from '../../domain/inventory/inventory-log.ts'
import { findOrderOfEntry } from '../../domain/orders/named-orders.ts'
import type { Transaction } from '../db/database.ts'
import { nameOrders } from '../orders/named-orders.ts'
import { markTable } from '../versioned/table-marks.ts'
import { type LockedRow, mapLockedRows, versionedTable } from '../versioned/versioned-table.ts'
import type { DifferingRecord } from '../versioned/versions.ts'

markTable('warehouse.inventory_log_freshness', { none: 'seller_id sku gtin product_name read_up_to read_at age fault' })

/** The fields of an entry in the change feed, which discrepancies depend on. */
interface EntryState {
  readonly changedUnits: number
  readonly transactionTime: Date
  readonly transactionLocation: string | null
  readonly transactionReasonCode: string | null
  readonly transactionType: string | null
}

// Converts to plain objects, which the type of changes requires.
const toPlain = (state: EntryState) => ({
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
  data: { sku, gtin, entryId: id, before: toPlain(before), after: toPlain(after) },
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
  buildKey: ({ value }) => [value.sku, value.id],
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
  before: mapLockedRows,
  // New entries are recorded as one change for each SKU.
  changes: (sellerId, entry, before) => (before === null ? [] : [entryChanged(sellerId, before, entry)]),
})

/** The entries of a page whose text differs from the stored one, or that were missing. Reads only. */
export const { findDiffering: findDifferingEntries } = entries

/** The result of storing a page of entries. */
export interface StoredEntries {
  /** The number of written entries. */
  readonly changed: number
  /** The times of their movements; for changed entries also the previous times. */
  readonly touched: readonly { readonly sku: string; readonly at: Date }[]
}

/**
 * Stores entries that {@link findDifferingEntries} found, records the number and the sum of new ones for each SKU, and each changed one, and notes the orders
 * that they name.
 */
export const storeDifferingEntries = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<InventoryLogEntry>[],
): Promise<StoredEntries> => {
  const written = await entries.write(tx, sellerId, observedAt, records)
  nameOrders(
    tx,
    sellerId,
    'inventory-log',
    written.map(({ value }) => ({ purchaseOrderId: findOrderOfEntry(value), at: value.transactionTime })),
  )
  const fresh = written.filter(({ before }) => before === null).map(({ value }) => value)
  for (const [sku, ofSku] of Map.groupBy(fresh, (entry) => entry.sku)) tx.record(entriesAdded(sellerId, sku, ofSku))
  const touched = written.flatMap(({ value: { sku, transactionTime }, before }) => [
    { sku, at: transactionTime },
    ...(before === null ? [] : [{ sku, at: before.transactionTime }]),
  ])
  return { changed: written.length, touched }
}

/** A part of a SKU's log that was read completely. */
export interface CompletePart {
  readonly sku: string
  /** All entries strictly between these times were read. */
  readonly from: Date
  readonly to: Date
  /** Ids of the read entries. */
  readonly ids: readonly string[]
  /** When its first page was requested, on the marketplace's clock. */
  readonly observedAt: Date
}

/**
 * Marks stored entries of completely read parts that the log no longer has, and records each. They no longer count until the log returns them again.
 * Returns the times of their movements. The caller has locked the SKUs.
 */
export const markMissingEntries = async (
  tx: Transaction,
  sellerId: string,
  parts: readonly CompletePart[],
): Promise<readonly { readonly sku: string; readonly at: Date }[]> => {
  if (parts.length === 0) return []
  // Looked up part by part: with a join, Postgres reads every entry of the seller until the table has statistics.
  const missing = await tx.query<{ sku: string; entry_id: string; transaction_time: Date; changed_units: number }>(
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
  for (const { sku, entry_id: entryId, transaction_time: at, changed_units: changedUnits } of missing) {
    tx.record({
      sellerId,
      type: 'inventory_log.entry_gone',
      data: { sku, entryId, transactionTime: at.toISOString(), changedUnits },
    })
  }
  return missing.map(({ sku, transaction_time: at }) => ({ sku, at }))
}
