import type { InventoryLogEntry } from '../domain/inventory-log.ts'
import type { ChangeRecord, SqlRunner, Transaction } from './database.ts'
import { type DifferingRecord, distinctRecords, jsonArray, jsonObject, rawHash, type StorableRecord } from './versions.ts'

const skuOf = ({ value }: StorableRecord<InventoryLogEntry>): string => value.sku
const idOf = ({ value }: StorableRecord<InventoryLogEntry>): string => value.id

// $2 and $3 name an entry each, by SKU and id. Looked up one by one (OFFSET 0 keeps them from being joined otherwise): while a table that has
// just been filled has no statistics, a join would read all of it.
const probe = `
  SELECT array_agg(e.sku) AS skus, array_agg(e.entry_id) AS ids, array_agg(CASE WHEN e.missing_since IS NULL THEN encode(e.raw_hash, 'hex') ELSE '' END) AS hashes
  FROM unnest($2::text[], $3::text[]) AS t(sku, entry_id)
  CROSS JOIN LATERAL (
    SELECT * FROM warehouse.inventory_log_entries WHERE seller_id = $1 AND sku = t.sku AND entry_id = t.entry_id OFFSET 0
  ) e`

/** Those entries of a page whose text differs from what is stored. Reads only. */
export const findDifferingEntries = async (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<InventoryLogEntry>[],
): Promise<readonly DifferingRecord<InventoryLogEntry>[]> => {
  if (records.length === 0) return []
  const distinct = distinctRecords(records)
  const [row] = await sql.query<{ skus: string[] | null; ids: string[] | null; hashes: string[] | null }>(
    probe,
    sellerId,
    distinct.map(skuOf),
    distinct.map(idOf),
  )
  const stored = new Map<string, Map<string, string | undefined>>()
  for (const [index, sku] of (row?.skus ?? []).entries()) {
    const ofSku = stored.get(sku) ?? new Map<string, string | undefined>()
    ofSku.set(row?.ids?.[index] ?? '', row?.hashes?.[index])
    stored.set(sku, ofSku)
  }
  return distinct.flatMap((record) => {
    const hash = rawHash(record.rawText)
    const ofSku = stored.get(record.value.sku)
    const known = ofSku?.has(record.value.id) ?? false
    return known && ofSku?.get(record.value.id) === hash ? [] : [{ ...record, hash, known }]
  })
}

/** What the change feed tells of an entry, and what a discrepancy hangs on. */
interface EntryState {
  readonly changedUnits: number
  readonly transactionTime: Date
  readonly transactionLocation: string | null
  readonly transactionReasonCode: string | null
  readonly transactionType: string | null
}

interface LockedRow extends EntryState {
  readonly sku: string
  readonly entry_id: string
  readonly raw_hash: string
  readonly observed_at: Date
  readonly gone: boolean
}

const lockEntries = (
  tx: Transaction,
  sellerId: string,
  records: readonly StorableRecord<InventoryLogEntry>[],
): Promise<LockedRow[]> =>
  tx.query<LockedRow>(
    `SELECT e.sku, e.entry_id, encode(e.raw_hash, 'hex') AS raw_hash, e.observed_at, e.missing_since IS NOT NULL AS gone, e.changed_units AS "changedUnits",
       e.transaction_time AS "transactionTime", e.transaction_location AS "transactionLocation",
       e.transaction_reason_code AS "transactionReasonCode", e.transaction_type AS "transactionType"
     FROM unnest($2::text[], $3::text[]) AS t(sku, entry_id)
     JOIN warehouse.inventory_log_entries e ON e.seller_id = $1 AND e.sku = t.sku AND e.entry_id = t.entry_id
     ORDER BY e.sku, e.entry_id FOR UPDATE OF e`,
    sellerId,
    records.map(skuOf),
    records.map(idOf),
  )

const columns = [
  'gtin text',
  'fc_name text',
  'changed_units int',
  'transaction_time timestamptz',
  'transaction_location text',
  'transaction_reason_code text',
  'transaction_reason_description text',
  'transaction_type text',
  'shipment_id text',
] as const
const names = columns.map((column) => column.slice(0, column.indexOf(' ')))

// Writes new entries and new versions of known ones. $1 seller, $2 observed at, $3 entries, $4 SKUs of known ones. Known ones are locked by
// the caller. Answers the new ones that someone else has stored meanwhile: nothing of those was written.
const writeEntries = `
  WITH reported AS MATERIALIZED (
    SELECT t.*, t.envelope #> '{payload,inventoryLog,0}' AS raw
    FROM jsonb_to_recordset($3::jsonb) AS t(sku text, entry_id text, known boolean, raw_hash text, record_key text, envelope jsonb,
      ${columns.join(', ')})
  ), inserted AS (
    INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, ${names.join(', ')}, raw_hash, raw, observed_at,
      first_seen_at, changed_at)
    SELECT $1, sku, entry_id, ${names.join(', ')}, decode(raw_hash, 'hex'), raw, $2::timestamptz, now(), now()
    FROM reported WHERE NOT known
    ON CONFLICT DO NOTHING
    RETURNING sku, entry_id
  ), superseded AS (
    INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
    SELECT $1, 'inventory-log', r.record_key, o.raw_hash, o.raw, o.changed_at, now()
    FROM warehouse.inventory_log_entries o JOIN reported r ON r.known AND r.sku = o.sku AND r.entry_id = o.entry_id
    WHERE o.seller_id = $1 AND o.sku = ANY ($4::text[]) AND o.raw_hash <> decode(r.raw_hash, 'hex')
    ON CONFLICT DO NOTHING
  ), updated AS (
    UPDATE warehouse.inventory_log_entries o
    SET ${names.map((name) => `${name} = r.${name}`).join(', ')}, raw_hash = decode(r.raw_hash, 'hex'), raw = r.raw,
      observed_at = $2::timestamptz, missing_since = NULL, changed_at = now()
    FROM reported r
    WHERE o.seller_id = $1 AND o.sku = ANY ($4::text[]) AND r.known AND o.sku = r.sku AND o.entry_id = r.entry_id
  )
  SELECT r.record_key FROM reported r
  WHERE NOT r.known AND (r.sku, r.entry_id) NOT IN (SELECT sku, entry_id FROM inserted)`

interface Write {
  readonly record: DifferingRecord<InventoryLogEntry>
  /** As it is stored; null for a new one. */
  readonly before: EntryState | null
}

const entryText = ({ record: { key, hash, value, rawText }, before }: Write): string =>
  jsonObject(
    {
      sku: value.sku,
      entry_id: value.id,
      known: before !== null,
      raw_hash: hash,
      record_key: key,
      gtin: value.gtin,
      fc_name: value.fcName,
      changed_units: value.changedUnits,
      transaction_time: value.transactionTime,
      transaction_location: value.transactionLocation,
      transaction_reason_code: value.transactionReasonCode,
      transaction_reason_description: value.transactionReasonDescription,
      transaction_type: value.transactionType,
      shipment_id: value.shipmentId,
    },
    { envelope: rawText },
  )

const write = async (tx: Transaction, sellerId: string, observedAt: Date, writes: readonly Write[]): Promise<Set<string>> => {
  const missed = await tx.query<{ record_key: string }>(
    writeEntries,
    sellerId,
    observedAt.toISOString(),
    jsonArray(writes.map(entryText)),
    writes.flatMap(({ record, before }) => (before === null ? [] : [record.value.sku])),
  )
  return new Set(missed.map((row) => row.record_key))
}

const nameOf = (sku: string, id: string): string => JSON.stringify([sku, id])

// Locks the known ones, then looks again: what was found before the lock may have changed since.
const prepare = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<InventoryLogEntry>[],
): Promise<Write[]> => {
  const known = records.filter((record) => record.known)
  const rows = known.length === 0 ? [] : await lockEntries(tx, sellerId, known)
  const locked = new Map(rows.map((row) => [nameOf(row.sku, row.entry_id), row]))
  return records.flatMap((record): Write[] => {
    const stored = locked.get(nameOf(record.value.sku, record.value.id))
    if (stored === undefined) return [{ record, before: null }]
    return stored.observed_at <= observedAt && (stored.raw_hash !== record.hash || stored.gone)
      ? [{ record, before: stored }]
      : []
  })
}

// Plain objects, as the change feed takes them.
const told = (state: EntryState) => ({
  changedUnits: state.changedUnits,
  transactionTime: state.transactionTime.toISOString(),
  transactionLocation: state.transactionLocation,
  transactionReasonCode: state.transactionReasonCode,
  transactionType: state.transactionType,
})

const entriesAdded = (sellerId: string, sku: string, entries: readonly InventoryLogEntry[]): ChangeRecord => {
  const times = entries.map(({ transactionTime }) => transactionTime.getTime())
  return {
    sellerId,
    type: 'inventory_log.entries_added',
    data: {
      sku,
      gtin: entries[0]?.gtin ?? null,
      count: entries.length,
      netUnits: entries.reduce((sum, { changedUnits }) => sum + changedUnits, 0),
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

/** What became of a page of entries. */
export interface StoredEntries {
  /** Entries that were written. */
  readonly changed: number
  /** When they say that something moved, and for changed ones also when they said so before. */
  readonly touched: readonly { readonly sku: string; readonly at: Date }[]
}

/**
 * Stores entries that {@link findDifferingEntries} found, by one statement, and tells of each SKU how many are new and what they add up
 * to, and of each changed one what it was before. An older observation never overwrites a newer one; the version that is replaced is
 * kept in `tallyman.superseded_versions`.
 */
export const storeDifferingEntries = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<InventoryLogEntry>[],
): Promise<StoredEntries> => {
  const added = new Map<string, InventoryLogEntry[]>()
  const touched: { readonly sku: string; readonly at: Date }[] = []
  let changed = 0
  let rest = records
  // Entries that someone else stores at the same moment are known in the next round, where they are locked.
  while (rest.length > 0) {
    const writes = await prepare(tx, sellerId, observedAt, rest)
    if (writes.length === 0) break
    const missed = await write(tx, sellerId, observedAt, writes)
    for (const { record, before } of writes) {
      if (missed.has(record.key)) continue
      const { value } = record
      changed += 1
      touched.push({ sku: value.sku, at: value.transactionTime })
      if (before === null) {
        const ofSku = added.get(value.sku)
        if (ofSku === undefined) added.set(value.sku, [value])
        else ofSku.push(value)
        continue
      }
      touched.push({ sku: value.sku, at: before.transactionTime })
      tx.tell(entryChanged(sellerId, before, value))
    }
    rest = rest.filter((record) => missed.has(record.key)).map((record) => ({ ...record, known: true }))
  }
  for (const [sku, entries] of added) tx.tell(entriesAdded(sellerId, sku, entries))
  return { changed, touched }
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
 * Marks entries that the log is without now, of parts that were read whole, and tells each. They count no more, and come back when the log
 * shows them again. Answers when they had said that something moved. The SKUs are locked by the caller.
 */
export const noteGoneEntries = async (
  tx: Transaction,
  sellerId: string,
  parts: readonly WholePart[],
): Promise<readonly { readonly sku: string; readonly at: Date }[]> => {
  if (parts.length === 0) return []
  const gone = await tx.query<{ sku: string; entry_id: string; transaction_time: Date; changed_units: number }>(
    `WITH part AS MATERIALIZED (
       SELECT * FROM json_to_recordset($2::json) AS t(sku text, "from" timestamptz, "to" timestamptz, ids jsonb, "observedAt" timestamptz)
     ), missing AS MATERIALIZED (
       SELECT e.sku, e.entry_id, p."observedAt" FROM part p
       JOIN warehouse.inventory_log_entries e ON e.seller_id = $1 AND e.sku = p.sku AND e.transaction_time > p."from" AND e.transaction_time < p."to"
       WHERE e.missing_since IS NULL AND e.observed_at < p."observedAt" AND NOT p.ids ? e.entry_id
       ORDER BY e.sku, e.entry_id FOR UPDATE OF e
     )
     UPDATE warehouse.inventory_log_entries e SET missing_since = m."observedAt", changed_at = now()
     FROM missing m WHERE e.seller_id = $1 AND e.sku = m.sku AND e.entry_id = m.entry_id
     RETURNING e.sku, e.entry_id, e.transaction_time, e.changed_units`,
    sellerId,
    JSON.stringify(parts),
  )
  for (const { sku, entry_id: entryId, transaction_time: at, changed_units: changedUnits } of gone) {
    tx.tell({
      sellerId,
      type: 'inventory_log.entry_gone',
      data: { sku, entryId, transactionTime: at.toISOString(), changedUnits },
    })
  }
  return gone.map(({ sku, transaction_time: at }) => ({ sku, at }))
}
