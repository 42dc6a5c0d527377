import { expect, test } from 'vitest'
import { parseShippingSettings } from '../../src/clients/marketplace/shipping-settings-record.ts'
import {
  findDifferingSettings,
  lockShippingSettings,
  markMissingSettings,
  readShippingSettings,
  recordSettingsCreated,
  storeDifferingSettings,
  storeShippingSettings,
} from '../../src/store/campaigns/shipping-settings.ts'
import { settings } from '../domain/support/shipping-settings.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 'seller'
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))

const record = (wire: object) => {
  const parsed = parseShippingSettings(JSON.stringify(wire))
  if (!parsed.ok) throw new Error(parsed.fault)
  return parsed
}

/** Stores as a sync does: finds differing records, then writes them. */
const store = async (wire: object, minute: number): Promise<number> => {
  const differing = await findDifferingSettings(stage.database, sellerId, [record(wire)])
  return stage.database.transaction((tx) => storeDifferingSettings(tx, sellerId, at(minute), differing))
}

const row = async () =>
  (
    await stage.database.query(
      `SELECT shipping_priority, migrate_free_shipping_offers, carrier_services, source, missing_since IS NOT NULL AS missing, observed_at
       FROM warehouse.shipping_settings`,
    )
  )[0]
const changes = async () =>
  (await numbered(stage.database)).query<{ type: string; data: object }>('SELECT type, data FROM warehouse.changes ORDER BY seq')

test('settings become a row, and the same in another order change nothing', async () => {
  const [ups, usps] = settings().accountConfigs.carrierConfigs
  expect(await store(settings(), 1)).toBe(1)
  expect(await row()).toEqual({
    shipping_priority: 'FASTEST',
    migrate_free_shipping_offers: true,
    carrier_services: ['UPS_GROUND', 'USPS_PRIORITY_MAIL'],
    source: 'found',
    missing: false,
    observed_at: at(1),
  })
  const reordered = settings({ carrierConfigs: [usps, { ...ups, configurations: ups?.configurations.toReversed() }] })
  expect(await findDifferingSettings(stage.database, sellerId, [record(reordered)])).toEqual([])
  expect(await store(reordered, 2)).toBe(0)
  expect(await changes()).toMatchObject([{ type: 'shipping_settings.created', data: { shippingPriority: 'FASTEST' } }])
  const charges = await stage.database.query(
    `SELECT c.* FROM warehouse.shipping_settings s, jsonb_to_recordset(s.settings -> 'charges')
       AS c("carrierService" text, "regionCode" text, "addressType" text, "chargePerItem" jsonb) LIMIT 1`,
  )
  expect(charges).toEqual([
    { carrierService: 'UPS_GROUND', regionCode: 'C', addressType: 'STREET', chargePerItem: { amount: '1.50', currency: 'USD' } },
  ])
})

test('changed settings are recorded with before and after, the old version is kept, and late observations change nothing', async () => {
  await store(settings(), 1)
  await stage.database.transaction((tx) => recordSettingsCreated(tx, sellerId))
  expect(await row()).toMatchObject({ source: 'command' })
  // A field that nobody knows here is kept, and is no change of the settings.
  expect(await store(settings({ version: 2 }), 2)).toBe(1)
  expect(await row()).toMatchObject({ source: 'command' })
  expect(await store(settings({ shippingPriority: 'COST_SAVINGS' }), 3)).toBe(1)
  expect(await row()).toMatchObject({ source: 'found', shipping_priority: 'COST_SAVINGS' })
  expect(await store(settings(), 2)).toBe(0)
  expect(await changes()).toMatchObject([
    { type: 'shipping_settings.created' },
    {
      type: 'shipping_settings.changed',
      data: { before: { shippingPriority: 'FASTEST' }, after: { shippingPriority: 'COST_SAVINGS' } },
    },
  ])
  const versions = await stage.database.query('SELECT record_key FROM tallyman.superseded_versions')
  expect(versions).toEqual([{ record_key: 'account' }, { record_key: 'account' }])
})

test('an amount that is written otherwise is no change', async () => {
  const [ups] = settings().accountConfigs.carrierConfigs
  const priced = (amount: unknown) => {
    const rates = { unitOfMeasure: 'LB', shippingAndHandling: { amount, currency: 'USD' } }
    const configurations = [{ ...ups?.configurations[0], shippingCharge: { perShippingCharge: rates } }]
    return settings({ carrierConfigs: [{ ...ups, configurations }] })
  }
  await store(priced(4.9), 1)
  await stage.database.transaction((tx) => recordSettingsCreated(tx, sellerId))
  await store(priced('4.90'), 2)
  expect(await row()).toMatchObject({ source: 'command', observed_at: at(2) })
  await store(priced('4.91'), 3)
  expect(await row()).toMatchObject({ source: 'found' })
  expect((await changes()).map((change) => change.type)).toEqual(['shipping_settings.created', 'shipping_settings.changed'])
})

test('missing settings are marked and recorded once, and count as new when they return', async () => {
  await store(settings(), 2)
  const note = (minute: number) => stage.database.transaction((tx) => markMissingSettings(tx, sellerId, at(minute)))
  expect(await note(1)).toBe(0)
  expect(await readShippingSettings(stage.database, sellerId)).toMatchObject({
    observedAt: at(2),
    settings: { shippingPriority: 'FASTEST' },
  })
  expect(await note(3)).toBe(1)
  expect(await note(4)).toBe(0)
  expect(await readShippingSettings(stage.database, sellerId)).toBeNull()
  expect(await store(settings(), 5)).toBe(1)
  expect(await readShippingSettings(stage.database, sellerId)).toMatchObject({ observedAt: at(5) })
  expect((await changes()).map((change) => change.type)).toEqual([
    'shipping_settings.created',
    'shipping_settings.missing',
    'shipping_settings.created',
  ])
})

test('stored concurrently, they are one row and one change', async () => {
  const one = record(settings())
  await Promise.all(
    Array.from({ length: 8 }, (_, minute) =>
      stage.database.transaction((tx) => storeShippingSettings(tx, sellerId, at(minute), one)),
    ),
  )
  expect(await changes()).toHaveLength(1)
})

test('the lock is for one seller', async () => {
  const order: string[] = []
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = stage.database.transaction(async (tx) => {
    await lockShippingSettings(tx, 'a')
    order.push('a')
    await stage.database.transaction(async (other) => {
      await lockShippingSettings(other, 'b')
      order.push('b')
    })
    await released
    order.push('a ends')
  })
  const second = first.then(() => undefined)
  await expect.poll(() => order).toEqual(['a', 'b'])
  const waiting = stage.database.transaction(async (tx) => {
    await lockShippingSettings(tx, 'a')
    order.push('a again')
  })
  release()
  await Promise.all([second, waiting])
  expect(order).toEqual(['a', 'b', 'a ends', 'a again'])
})
