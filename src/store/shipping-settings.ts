import { type AccountSettings, accountSettingsSchema, settingsDifferences } from '../domain/shipping-settings.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { type DifferingRecord, rawHash, type StorableRecord } from './versions.ts'

/** Account-level settings as they are stored. */
export interface StoredSettings {
  readonly settings: AccountSettings
  /** When the marketplace last showed them like this, on its own clock. */
  readonly observedAt: Date
}

/**
 * Keeps everybody else from deciding, sending or storing shipping settings of the seller until the transaction ends. Take it before any
 * row's lock.
 */
export const lockShippingSettings = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.query(`SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtextextended('shipping-settings ' || $1, 0))`, sellerId)
}

/** The settings that exist as far as is known; null when the marketplace has shown none, or says that there are none any more. */
export const readShippingSettings = async (sql: SqlRunner, sellerId: string): Promise<StoredSettings | null> => {
  const [row] = await sql.query<{ settings: unknown; observed_at: Date }>(
    'SELECT settings, observed_at FROM warehouse.shipping_settings WHERE seller_id = $1 AND missing_since IS NULL',
    sellerId,
  )
  return row === undefined ? null : { settings: accountSettingsSchema.parse(row.settings), observedAt: row.observed_at }
}

/** JSON with members and elements in one order: every list of shipping settings is a set, given in any order (specification, section 4). */
const unordered = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(unordered).sort().join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${unordered(member)}`)
    return `{${members.sort().join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** Those settings that say something else than what is stored, or that came back. Reads only. */
export const findDifferingSettings = async (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<AccountSettings>[],
): Promise<readonly DifferingRecord<AccountSettings>[]> => {
  const record = records.at(-1)
  if (record === undefined) return []
  const hash = rawHash(unordered(JSON.parse(record.rawText)))
  const [row] = await sql.query<{ same: boolean }>(
    `SELECT raw_hash = decode($2, 'hex') AND missing_since IS NULL AS same FROM warehouse.shipping_settings WHERE seller_id = $1`,
    sellerId,
    hash,
  )
  return row?.same === true ? [] : [{ ...record, hash, known: row !== undefined }]
}

/** What the change feed tells of settings. */
const told = (settings: AccountSettings) => ({
  ...settings,
  charges: settings.charges.map((charge) => ({
    ...charge,
    states: charge.states === null ? null : [...charge.states],
  })),
})

/**
 * Stores settings that {@link findDifferingSettings} found and tells what has changed; answers how many were written. An older observation
 * never overwrites a newer one; the version that is replaced is kept in `tallyman.superseded_versions`.
 */
export const storeDifferingSettings = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<AccountSettings>[],
): Promise<number> => {
  const record = records.at(-1)
  if (record === undefined) return 0
  await lockShippingSettings(tx, sellerId)
  const [before] = await tx.query<{ settings: unknown; same: boolean; missing: boolean; newer: boolean }>(
    `SELECT settings, raw_hash = decode($2, 'hex') AS same, missing_since IS NOT NULL AS missing, observed_at > $3::timestamptz AS newer
     FROM warehouse.shipping_settings WHERE seller_id = $1`,
    sellerId,
    record.hash,
    observedAt.toISOString(),
  )
  if (before !== undefined && (before.newer || (before.same && !before.missing))) return 0
  const after = record.value
  const known = before === undefined || before.missing ? null : accountSettingsSchema.parse(before.settings)
  const changed = known === null || [...settingsDifferences(known, after), ...settingsDifferences(after, known)].length > 0
  if (before !== undefined && !before.same) {
    await tx.execute(
      `INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
       SELECT seller_id, 'shipping-settings', $2, raw_hash, raw, changed_at, now() FROM warehouse.shipping_settings WHERE seller_id = $1
       ON CONFLICT DO NOTHING`,
      sellerId,
      record.key,
    )
  }
  await tx.execute(
    `INSERT INTO warehouse.shipping_settings AS s (seller_id, shipping_priority, migrate_free_shipping_offers, carrier_services, settings,
       raw, raw_hash, observed_at, first_seen_at, changed_at)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6::jsonb, decode($7, 'hex'), $8::timestamptz, now(), now())
     ON CONFLICT (seller_id) DO UPDATE SET shipping_priority = excluded.shipping_priority,
       migrate_free_shipping_offers = excluded.migrate_free_shipping_offers, carrier_services = excluded.carrier_services,
       settings = excluded.settings, source = CASE WHEN $9 THEN 'found' ELSE s.source END, missing_since = NULL, raw = excluded.raw,
       raw_hash = excluded.raw_hash, observed_at = excluded.observed_at, changed_at = now()`,
    sellerId,
    after.shippingPriority,
    after.migrateFreeShippingOffers,
    [...new Set(after.charges.map((charge) => charge.carrierService))].sort(),
    JSON.stringify(after),
    record.rawText,
    record.hash,
    observedAt.toISOString(),
    changed,
  )
  if (known === null) tx.tell({ sellerId, type: 'shipping_settings.created', data: told(after) })
  else if (changed) tx.tell({ sellerId, type: 'shipping_settings.changed', data: { before: told(known), after: told(after) } })
  return 1
}

/** Stores settings by the same rules within a transaction under way; for answers of writes and read-backs. */
export const storeShippingSettings = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  record: StorableRecord<AccountSettings>,
): Promise<void> => {
  await storeDifferingSettings(tx, sellerId, observedAt, await findDifferingSettings(tx, sellerId, [record]))
}

/** Notes that the marketplace says there are none, and tells it once; the row is kept. Answers how many were newly noted. */
export const noteMissingSettings = async (tx: Transaction, sellerId: string, observedAt: Date): Promise<number> => {
  await lockShippingSettings(tx, sellerId)
  const noted = await tx.execute(
    `UPDATE warehouse.shipping_settings SET missing_since = now()
     WHERE seller_id = $1 AND missing_since IS NULL AND observed_at <= $2::timestamptz`,
    sellerId,
    observedAt.toISOString(),
  )
  if (noted > 0) tx.tell({ sellerId, type: 'shipping_settings.missing', data: {} })
  return noted
}

/** Notes that a command of ours created what is stored. */
export const noteSettingsCreated = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.execute(
    `UPDATE warehouse.shipping_settings SET source = 'command' WHERE seller_id = $1 AND missing_since IS NULL AND source <> 'command'`,
    sellerId,
  )
}
