import { beforeEach, expect, test } from 'vitest'
import { parseSalesChannel } from '../../src/clients/marketplace/sales-channel-record.ts'
import type { SalesChannel } from '../../src/domain/campaigns/sales-channel.ts'
import { salesChannelStore } from '../../src/store/campaigns/sales-channels.ts'
import type { StorableRecord } from '../../src/store/versioned/versions.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()
let seller = 0
let sellerId = ''
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 10, 0, minute))

beforeEach(() => {
  seller += 1
  sellerId = `seller-${seller}`
})

const channel = (orderChannelId: string, change: object = {}): StorableRecord<SalesChannel> => {
  const record = parseSalesChannel({
    orderChannelId,
    orderChannelName: 'Own shop',
    boxCatalogType: 'typeA',
    shippping: 'Standard',
    returnAddress: { line1: '1 Quay Street', city: 'Portland', state: 'OR', country: 'USA', zip: '97201', addressType: 'OFFICE' },
    active: 'Y',
    sellerId: '10001',
    sellerName: 'Dock Seven',
    createdDate: '2026-01-02T03:04:05Z',
    martId: '202',
    ...change,
  })
  if (!record.ok) throw new Error(record.fault)
  return record
}
const store = async (observedAt: Date, ...records: StorableRecord<SalesChannel>[]): Promise<number> => {
  const differing = await salesChannelStore.findDiffering(stage.database, sellerId, records)
  return stage.database.transaction((tx) => salesChannelStore.store(tx, sellerId, observedAt, differing))
}
const rows = async <Row>(sql: string) => (await numbered(stage.database)).query<Row>(sql, sellerId)
const readRecorded = async () =>
  (
    await rows<{ type: string; id: string }>(
      `SELECT type, data->>'orderChannelId' AS id FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq`,
    )
  ).map(({ type, id }) => `${type} ${id}`)

test('a channel is stored with its address in columns', async () => {
  expect(await store(at(1), channel('A'), channel('B', { returnAddress: null, active: 'perhaps' }))).toBe(2)
  const stored = await rows(
    `SELECT order_channel_id, order_channel_name, box_catalog_type, shipping_methods, active, partner_id, partner_name, mart_id,
       created_date, return_line1, return_line2, return_city, return_state, return_country, return_zip, return_address_type, observed_at
     FROM warehouse.sales_channels WHERE seller_id = $1 ORDER BY order_channel_id`,
  )
  expect(stored).toMatchObject([
    {
      order_channel_id: 'A',
      order_channel_name: 'Own shop',
      box_catalog_type: 'typeA',
      shipping_methods: 'Standard',
      active: true,
      partner_id: '10001',
      partner_name: 'Dock Seven',
      mart_id: '202',
      created_date: new Date('2026-01-02T03:04:05Z'),
      return_line1: '1 Quay Street',
      return_line2: null,
      return_city: 'Portland',
      return_state: 'OR',
      return_country: 'USA',
      return_zip: '97201',
      return_address_type: 'OFFICE',
      observed_at: at(1),
    },
    { order_channel_id: 'B', active: null, return_line1: null, return_zip: null },
  ])
  expect(await readRecorded()).toEqual(['sales_channel.added A', 'sales_channel.added B'])
})

test('unchanged ones are not written, changed ones are, with the version before; late news is not', async () => {
  await store(at(1), channel('A'), channel('B'))
  expect(await store(at(2), channel('A'), channel('B'))).toBe(0)
  expect(await store(at(3), channel('A', { active: 'N' }), channel('B'))).toBe(1)
  expect(await store(at(2), channel('A'))).toBe(0)
  expect(
    await rows('SELECT order_channel_id AS id, active FROM warehouse.sales_channels WHERE seller_id = $1 ORDER BY 1'),
  ).toEqual([
    { id: 'A', active: false },
    { id: 'B', active: true },
  ])
  expect(
    await rows(`SELECT record_key FROM tallyman.superseded_versions WHERE seller_id = $1 AND resource = 'sales-channels'`),
  ).toEqual([{ record_key: 'A' }])
  expect((await readRecorded()).at(-1)).toBe('sales_channel.changed A')
})

test('a record that is no longer listed is marked once, and is present again when it returns unchanged', async () => {
  await store(at(1), channel('A'), channel('B'))
  const unlisted = await salesChannelStore.findMissing(stage.database, sellerId, null, new Set(['A']))
  expect(unlisted).toEqual(['B'])
  const note = () => stage.database.transaction((tx) => salesChannelStore.noteMissing(tx, sellerId, at(2), unlisted))
  expect(await note()).toBe(1)
  expect(await note()).toBe(0)
  expect(await salesChannelStore.findMissing(stage.database, sellerId, null, new Set(['A']))).toEqual([])
  const missing = () =>
    rows('SELECT order_channel_id AS id, missing_since FROM warehouse.sales_channels WHERE seller_id = $1 ORDER BY 1')
  expect(await missing()).toEqual([
    { id: 'A', missing_since: null },
    { id: 'B', missing_since: at(2) },
  ])
  expect(await store(at(3), channel('A'), channel('B'))).toBe(1)
  expect(await missing()).toEqual([
    { id: 'A', missing_since: null },
    { id: 'B', missing_since: null },
  ])
  expect((await readRecorded()).slice(2)).toEqual(['sales_channel.removed B', 'sales_channel.added B'])
  // An observation from before the record was missing changes nothing, before and after its return.
  await note()
  expect(await store(at(1), channel('B', { active: 'N' }))).toBe(0)
})
