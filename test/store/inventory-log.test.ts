import { beforeEach, expect, test } from 'vitest'
import type { InventoryLogEntry } from '../../src/domain/inventory/inventory-log.ts'
import { findDifferingEntries, storeDifferingEntries } from '../../src/store/inventory/inventory-log.ts'
import type { StorableRecord } from '../../src/store/versioned/versions.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { logRecord } from './support/records.ts'

const stage = withDatabase()
let sellers = 0
let sellerId = ''
const at = (minute: number): Date => new Date(Date.UTC(2026, 9, 1, 0, minute))

beforeEach(() => {
  sellers += 1
  sellerId = `seller-${sellers}`
})

const entry = (sku: string, id: string, changes: Readonly<Record<string, unknown>> = {}): StorableRecord<InventoryLogEntry> =>
  logRecord(sku, { id, aFieldOfTheFuture: { kept: [1, 2] }, ...changes })

const store = async (records: readonly StorableRecord<InventoryLogEntry>[], observedAt: Date) => {
  const differing = await findDifferingEntries(stage.database, sellerId, records)
  return stage.database.transaction((tx) => storeDifferingEntries(tx, sellerId, observedAt, differing))
}

const stored = () =>
  stage.database.query(
    `SELECT sku, entry_id, gtin, changed_units, raw FROM warehouse.inventory_log_entries WHERE seller_id = $1 ORDER BY sku, entry_id`,
    sellerId,
  )
const changes = async () =>
  (await numbered(stage.database)).query<{ type: string; data: Record<string, unknown> }>(
    'SELECT type, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq',
    sellerId,
  )

test('new entries are stored with all their fields and reported once for each SKU', async () => {
  const records = [
    entry('A', '1'),
    entry('A', '2', { changedUnits: 5, transactionTime: at(9).toISOString() }),
    entry('B/1', '1', { changedUnits: 0 }),
    entry('A', '1'),
  ]
  const { changed, touched } = await store(records, at(20))
  expect(changed).toBe(3)
  expect(touched).toEqual([
    { sku: 'A', at: at(1) },
    { sku: 'A', at: at(9) },
    { sku: 'B/1', at: at(1) },
  ])
  expect(await stored()).toMatchObject([
    { sku: 'A', entry_id: '1', gtin: '00012345678905', changed_units: -2, raw: { id: '1', aFieldOfTheFuture: { kept: [1, 2] } } },
    { sku: 'A', entry_id: '2', changed_units: 5 },
    { sku: 'B/1', entry_id: '1', changed_units: 0 },
  ])
  expect(
    await stage.database.query(
      `SELECT fc_name, transaction_time, transaction_location, transaction_reason_code, transaction_reason_description, transaction_type,
         shipment_id, observed_at FROM warehouse.inventory_log_entries WHERE seller_id = $1 AND sku = 'A' AND entry_id = '1'`,
      sellerId,
    ),
  ).toEqual([
    {
      fc_name: 'KY1',
      transaction_time: at(1),
      transaction_location: 'Inventory',
      transaction_reason_code: 'SIP',
      transaction_reason_description: 'Shipped to Customer',
      transaction_type: 'Ship',
      shipment_id: null,
      observed_at: at(20),
    },
  ])
  expect(await changes()).toEqual([
    {
      type: 'inventory_log.entries_added',
      data: {
        sku: 'A',
        gtin: '00012345678905',
        count: 2,
        netUnits: 3,
        earliest: at(1).toISOString(),
        latest: at(9).toISOString(),
      },
    },
    { type: 'inventory_log.entries_added', data: expect.objectContaining({ sku: 'B/1', count: 1, netUnits: 0 }) },
  ])
})

test('unchanged entries do not differ; a corrected one is replaced and recorded, and its old version is kept', async () => {
  await store([entry('A', '1'), entry('A', '2')], at(10))
  expect(await findDifferingEntries(stage.database, sellerId, [entry('A', '1'), entry('A', '2')])).toEqual([])
  const corrected = entry('A', '1', { changedUnits: -3, transactionTime: at(2).toISOString() })
  const { changed, touched } = await store([corrected, entry('A', '2')], at(20))
  expect({ changed, touched }).toEqual({
    changed: 1,
    touched: [
      { sku: 'A', at: at(2) },
      { sku: 'A', at: at(1) },
    ],
  })
  expect(await stored()).toMatchObject([{ changed_units: -3 }, { changed_units: -2 }])
  expect((await changes()).at(-1)).toEqual({
    type: 'inventory_log.entry_changed',
    data: {
      sku: 'A',
      gtin: '00012345678905',
      entryId: '1',
      before: expect.objectContaining({ changedUnits: -2, transactionTime: at(1).toISOString() }),
      after: expect.objectContaining({ changedUnits: -3, transactionTime: at(2).toISOString() }),
    },
  })
  expect(
    await stage.database.query(
      `SELECT record_key, raw ->> 'changedUnits' AS units FROM tallyman.superseded_versions WHERE seller_id = $1 AND resource = 'inventory-log'`,
      sellerId,
    ),
  ).toEqual([{ record_key: 'A/1', units: '-2' }])
  // Late news of long ago.
  expect((await store([entry('A', '1')], at(15))).changed).toBe(0)
  expect(await stored()).toMatchObject([{ changed_units: -3 }, { changed_units: -2 }])
})

test('the same id under two SKUs is two entries, and names with separators are not mixed up', async () => {
  const records = [entry('a/b', 'c'), entry('a', 'b/c'), entry('a', '%2F')]
  expect((await store(records, at(10))).changed).toBe(3)
  expect((await store([entry('a', 'c')], at(11))).changed).toBe(1)
  expect((await stored()).length).toBe(4)
})

test('the same new entries, stored concurrently, are stored and recorded once', async () => {
  const records = Array.from({ length: 60 }, (_, index) => entry(`S${index % 3}`, String(index)))
  const results = await Promise.all([records, [...records].reverse(), records].map((page) => store(page, at(10))))
  expect(results.reduce((sum, { changed }) => sum + changed, 0)).toBe(60)
  const recorded = (await changes()).map(({ data }) => Number(data['count']))
  expect(recorded.reduce((sum, count) => sum + count, 0)).toBe(60)
})
