import { type AccountSettings, accountSettingsSchema, settingsDifferences } from '../../domain/campaigns/shipping-settings.ts'
import { canonicalJson, isObject } from '../../domain/values/values.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { type LockedRow, versionedTable } from '../versioned/versioned-table.ts'
import { rawHash, type StorableRecord } from '../versioned/versions.ts'

/** Stored account-level settings. */
export interface StoredSettings {
  readonly settings: AccountSettings
  /** When the marketplace last returned them, on its clock. */
  readonly observedAt: Date
}

/** Acquires the lock for deciding, sending and storing shipping settings of the seller until the transaction ends. Acquire it before any row lock. */
export const lockShippingSettings = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.query(`SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtextextended('shipping-settings ' || $1, 0))`, sellerId)
}

/** The current settings; null: the marketplace has returned none, or no longer has any. */
export const readShippingSettings = async (sql: SqlRunner, sellerId: string): Promise<StoredSettings | null> => {
  const where = { sellerId, missingSince: null }
  const row = await sql.prisma.shippingSettings.findFirst({ where, select: { settings: true, observedAt: true } })
  return row === null ? null : { settings: accountSettingsSchema.parse(row.settings), observedAt: row.observedAt }
}

/** The value with sorted lists: every list of shipping settings is a set, in any order (specification, section 4). */
const sortLists = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((element) => canonicalJson(sortLists(element))).sort()
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sortLists(member)])) : value
}

/** Settings as plain objects, which the type of changes requires. */
const toPlain = (settings: AccountSettings) => ({
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
  /** Null: there are none. */
  readonly settings: AccountSettings | null
  /** Where the stored settings come from. */
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
  buildKey: () => [],
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
  hash: (rawText) => rawHash(canonicalJson(sortLists(JSON.parse(rawText)))),
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
    if (before === null) return [{ sellerId, type: 'shipping_settings.created', data: toPlain(after) }]
    if (isSame(before, after)) return []
    return [{ sellerId, type: 'shipping_settings.changed', data: { before: toPlain(before), after: toPlain(after) } }]
  },
})

/** The statements of the versioned table of settings; storing acquires {@link lockShippingSettings}. */
export const { findDiffering: findDifferingSettings, store: storeDifferingSettings } = settingsTable

/** Stores settings in an open transaction by the same rules; for responses of commands and read-backs. */
export const storeShippingSettings = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  record: StorableRecord<AccountSettings>,
): Promise<void> => {
  await storeDifferingSettings(tx, sellerId, observedAt, await findDifferingSettings(tx, sellerId, [record]))
}

/** Marks the settings as missing at the marketplace, and records the change; the row is kept. Returns the number of newly marked rows. */
export const markMissingSettings = async (tx: Transaction, sellerId: string, observedAt: Date): Promise<number> => {
  await lockShippingSettings(tx, sellerId)
  const marked = await tx.execute(
    `UPDATE warehouse.shipping_settings SET missing_since = now()
     WHERE seller_id = $1 AND missing_since IS NULL AND observed_at <= $2::timestamptz`,
    sellerId,
    observedAt.toISOString(),
  )
  if (marked > 0) tx.record({ sellerId, type: 'shipping_settings.missing', data: {} })
  return marked
}

/** Stores that a command of ours has created the settings. */
export const recordSettingsCreated = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.prisma.shippingSettings.updateMany({ where: { sellerId, missingSince: null }, data: { source: 'command' } })
}
