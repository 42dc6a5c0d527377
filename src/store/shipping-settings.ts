import { type AccountSettings, accountSettingsSchema, settingsDifferences } from '../domain/shipping-settings.ts'
import { canonicalJson, isObject } from '../domain/values.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { type LockedRow, versionedTable } from './versioned-table.ts'
import { rawHash, type StorableRecord } from './versions.ts'

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
  const where = { sellerId, missingSince: null }
  const row = await sql.prisma.shippingSettings.findFirst({ where, select: { settings: true, observedAt: true } })
  return row === null ? null : { settings: accountSettingsSchema.parse(row.settings), observedAt: row.observedAt }
}

/** The value with its lists in one order: every list of shipping settings is a set, given in any order (specification, section 4). */
const unordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((element) => canonicalJson(unordered(element))).sort()
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unordered(member)])) : value
}

/** What the change feed records of settings. */
const told = (settings: AccountSettings) => ({
  ...settings,
  charges: settings.charges.map((charge) => ({
    ...charge,
    states: charge.states === null ? null : [...charge.states],
  })),
})

const isSame = (one: AccountSettings, other: AccountSettings): boolean =>
  [...settingsDifferences(one, other), ...settingsDifferences(other, one)].length === 0

interface LockedSettings extends LockedRow {
  readonly settings: unknown
  readonly source: string
}

interface SettingsBefore {
  /** Null while there are none. */
  readonly settings: AccountSettings | null
  /** Who created what is stored. */
  readonly source: string
}

const settingsTable = versionedTable<AccountSettings, SettingsBefore, LockedSettings>({
  name: 'shipping_settings',
  personalData: {
    none: `seller_id shipping_priority migrate_free_shipping_offers carrier_services settings source missing_since raw raw_hash observed_at
      first_seen_at changed_at`,
  },
  resource: 'shipping-settings',
  key: [],
  keyOf: () => [],
  columns: [
    'shipping_priority text',
    'migrate_free_shipping_offers boolean',
    'carrier_services text[]',
    'settings jsonb',
    'source text',
  ],
  row: (settings, before) => ({
    shipping_priority: settings.shippingPriority,
    migrate_free_shipping_offers: settings.migrateFreeShippingOffers,
    carrier_services: [...new Set(settings.charges.map((charge) => charge.carrierService))].sort(),
    settings,
    source: before === null || before.settings === null || !isSame(before.settings, settings) ? 'found' : before.source,
  }),
  hash: (rawText) => rawHash(canonicalJson(unordered(JSON.parse(rawText)))),
  marks: ['missing_since'],
  lockFirst: lockShippingSettings,
  locked: 'o.settings, o.source',
  before: (_tx, _sellerId, differing) =>
    new Map(
      differing.map(({ row: { key, marked, settings, source } }) => [
        key,
        { settings: marked ? null : accountSettingsSchema.parse(settings), source },
      ]),
    ),
  changes: (sellerId, after, stored) => {
    const before = stored?.settings ?? null
    if (before === null) return [{ sellerId, type: 'shipping_settings.created', data: told(after) }]
    if (isSame(before, after)) return []
    return [{ sellerId, type: 'shipping_settings.changed', data: { before: told(before), after: told(after) } }]
  },
})

/** Those settings that say something else than what is stored, or that came back, and what stores them under {@link lockShippingSettings}. */
export const { findDiffering: findDifferingSettings, store: storeDifferingSettings } = settingsTable

/** Stores settings by the same rules within a transaction under way; for answers of writes and read-backs. */
export const storeShippingSettings = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  record: StorableRecord<AccountSettings>,
): Promise<void> => {
  await storeDifferingSettings(tx, sellerId, observedAt, await findDifferingSettings(tx, sellerId, [record]))
}

/** Notes that the marketplace says there are none, and records that once; the row is kept. Returns how many were newly noted. */
export const noteMissingSettings = async (tx: Transaction, sellerId: string, observedAt: Date): Promise<number> => {
  await lockShippingSettings(tx, sellerId)
  const noted = await tx.execute(
    `UPDATE warehouse.shipping_settings SET missing_since = now()
     WHERE seller_id = $1 AND missing_since IS NULL AND observed_at <= $2::timestamptz`,
    sellerId,
    observedAt.toISOString(),
  )
  if (noted > 0) tx.record({ sellerId, type: 'shipping_settings.missing', data: {} })
  return noted
}

/** Notes that a command of ours created what is stored. */
export const noteSettingsCreated = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.prisma.shippingSettings.updateMany({ where: { sellerId, missingSince: null }, data: { source: 'command' } })
}
