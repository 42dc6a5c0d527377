import { beforeEach, describe, expect, test } from 'vitest'
import { parseCampaign } from '../../src/clients/marketplace/campaign-record.ts'
import { parseSalesChannel } from '../../src/clients/marketplace/sales-channel-record.ts'
import { parseShippingSettings } from '../../src/clients/marketplace/shipping-settings-record.ts'
import { findDifferingCampaigns, storeDifferingCampaigns } from '../../src/store/campaigns/campaigns.ts'
import { salesChannelStore } from '../../src/store/campaigns/sales-channels.ts'
import { findDifferingSettings, storeDifferingSettings } from '../../src/store/campaigns/shipping-settings.ts'
import type { SqlRunner, Transaction } from '../../src/store/db/database.ts'
import { findDifferingEntries, storeDifferingEntries } from '../../src/store/inventory/inventory-log.ts'
import { beginReport, completeReport } from '../../src/store/inventory/reconciliation-reports.ts'
import { findDifferingRows, storeDifferingRows } from '../../src/store/inventory/reconciliation-rows.ts'
import { findDifferingOrders, storeDifferingOrders } from '../../src/store/orders/orders.ts'
import { findDifferingReturns, storeDifferingReturns } from '../../src/store/orders/returns.ts'
import type { DifferingRecord, StorableRecord } from '../../src/store/versioned/versions.ts'
import { wireReturnSample } from '../clients/samples.ts'
import { settings } from '../domain/support/shipping-settings.ts'
import { withDatabase } from '../support/database.ts'
import { logRecord, orderRecord, readable, reportRecord, returnRecord } from './support/records.ts'

const stage = withDatabase()
let sellers = 0
let sellerId = ''
const at = (minute: number): Date => new Date(Date.UTC(2026, 9, 1, 0, minute))

beforeEach(async () => {
  sellers += 1
  sellerId = `seller-${sellers}`
})

interface Steps<T> {
  /** A record of this number; in another version when told. */
  readonly record: (number: number, version: number) => StorableRecord<T>
  readonly find: (
    sql: SqlRunner,
    sellerId: string,
    records: readonly StorableRecord<T>[],
  ) => Promise<readonly DifferingRecord<T>[]>
  readonly store: (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
  ) => Promise<unknown>
}

/** The same table without the type of its records. */
const table = <T>(name: string, resource: string, { record, find, store }: Steps<T>) => {
  const findByNumber = (numbers: readonly number[], version: number) =>
    find(
      stage.database,
      sellerId,
      numbers.map((number) => record(number, version)),
    )
  return {
    name,
    resource,
    buildKey: (number: number): string => record(number, 0).key,
    /** Finds differing records; the result stores them later. */
    findDiffering: async (numbers: readonly number[], version: number) => {
      const differing = await findByNumber(numbers, version)
      return {
        found: differing.length,
        store: (tx: Transaction, minute: number) => store(tx, sellerId, at(minute), differing),
      }
    },
  }
}

const month = '2026-10'
const tables = [
  table('orders', 'orders', {
    record: (number, version) => orderRecord(`${1_000 + number}`, { version }),
    find: findDifferingOrders,
    store: storeDifferingOrders,
  }),
  table('returns', 'returns', {
    record: (number, version) => returnRecord({ ...wireReturnSample(`${1_000 + number}`), version }),
    find: findDifferingReturns,
    store: storeDifferingReturns,
  }),
  table('campaigns', 'campaigns', {
    record: (number, version) =>
      readable(parseCampaign({ campaignId: `${1_000 + number}`, status: 'RUNNING', name: `Name ${version}` })),
    find: findDifferingCampaigns,
    store: storeDifferingCampaigns,
  }),
  table('sales_channels', 'sales-channels', {
    record: (number, version) =>
      readable(parseSalesChannel({ orderChannelId: `${1_000 + number}`, orderChannelName: `Name ${version}`, active: 'Y' })),
    find: salesChannelStore.findDiffering,
    store: salesChannelStore.store,
  }),
  table('inventory_log_entries', 'inventory-log', {
    record: (number, version) => logRecord(`SKU-${number}`, { changedUnits: version }),
    find: findDifferingEntries,
    store: storeDifferingEntries,
  }),
  table('reconciliation_rows', 'reconciliation', {
    record: (number, version) => reportRecord(month, `SKU-${number}`, version),
    find: findDifferingRows,
    store: storeDifferingRows,
  }),
]

const oneRow = table('shipping_settings', 'shipping-settings', {
  record: (_number, version) => {
    const wire = settings()
    return readable(
      parseShippingSettings(
        JSON.stringify(version === 1 ? wire : { ...wire, shippingPriority: version === 2 ? 'CHEAPEST' : 'FASTEST' }),
      ),
    )
  },
  find: findDifferingSettings,
  store: storeDifferingSettings,
})

type Table = (typeof tables)[number]

beforeEach(async () => {
  // Rows of the reconciliation report belong to one.
  const report = { sellerId, month, fileName: null, generatedAt: at(0), retrievedAt: at(0), correlationId: 'c' }
  await completeReport(stage.database, await beginReport(stage.database, report), 0)
})

const save = async ({ findDiffering }: Table, numbers: readonly number[], version: number, minute: number): Promise<number> => {
  const { found, store } = await findDiffering(numbers, version)
  await stage.database.transaction((tx) => store(tx, minute))
  return found
}
const listRows = ({ name }: Table) =>
  stage.database.query<{ observed_at: Date; hash: string; first_seen_at: Date; changed_at: Date }>(
    `SELECT observed_at, encode(raw_hash, 'hex') AS hash, first_seen_at, changed_at FROM warehouse.${name} WHERE seller_id = $1`,
    sellerId,
  )
const readVersions = ({ resource }: Table) =>
  stage.database.query<{ record_key: string; hash: string }>(
    `SELECT record_key, encode(raw_hash, 'hex') AS hash FROM tallyman.superseded_versions WHERE seller_id = $1 AND resource = $2`,
    sellerId,
    resource,
  )

describe.each([...tables, oneRow].map((each) => ({ ...each })))('$name', (each) => {
  test('a record is written when it differs, and the version before is kept', async () => {
    expect(await save(each, [1], 1, 1)).toBe(1)
    const [first] = await listRows(each)
    expect(await save(each, [1], 1, 2)).toBe(0)
    expect(await listRows(each)).toEqual([first])
    expect(await save(each, [1], 2, 3)).toBe(1)
    const [second] = await listRows(each)
    expect(second).toMatchObject({ observed_at: at(3), first_seen_at: first?.first_seen_at })
    expect(second?.hash).not.toBe(first?.hash)
    expect(await readVersions(each)).toEqual([{ record_key: each.buildKey(1), hash: first?.hash }])
  })

  test('an older observation overwrites nothing', async () => {
    await save(each, [1], 2, 3)
    const rows = await listRows(each)
    await save(each, [1], 1, 2)
    expect(await listRows(each)).toEqual(rows)
    expect(await readVersions(each)).toEqual([])
  })

  test('a record that another transaction stores between the probe and the write is found again under its lock', async () => {
    const newer = await each.findDiffering([1], 2)
    await save(each, [1], 1, 1)
    const [first] = await listRows(each)
    await stage.database.transaction((tx) => newer.store(tx, 2))
    expect(await listRows(each)).toMatchObject([{ observed_at: at(2) }])
    expect(await readVersions(each)).toEqual([{ record_key: each.buildKey(1), hash: first?.hash }])
  })
})

// Returns are never requested by id, so that the marketplace cannot answer that one is missing.
const vanishing = [...tables, oneRow].filter(({ name }) => name !== 'returns')

test.each(vanishing.map((each) => ({ ...each })))(
  'of $name a missing record is written although its text is the same',
  async (each) => {
    await save(each, [1], 1, 1)
    await stage.database.execute(`UPDATE warehouse.${each.name} SET missing_since = now() WHERE seller_id = $1`, sellerId)
    expect(await save(each, [1], 1, 2)).toBe(1)
    const found = await stage.database.query(
      `SELECT 1 FROM warehouse.${each.name} WHERE seller_id = $1 AND missing_since IS NOT NULL`,
      sellerId,
    )
    expect(found).toEqual([])
    expect(await listRows(each)).toMatchObject([{ observed_at: at(2) }])
    expect(await readVersions(each)).toEqual([])
  },
)

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Node Type': string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** The number of rows of `warehouse` tables that a plan has read, by table. */
const rowsRead = (node: PlanNode, into: Map<string, number> = new Map()): ReadonlyMap<string, number> => {
  const name = node['Relation Name']
  if (name !== undefined && node['Node Type'] !== 'ModifyTable') {
    const read = ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0)
    into.set(name, (into.get(name) ?? 0) + read)
  }
  for (const below of node.Plans ?? []) rowsRead(below, into)
  return into
}

describe.each(tables.map((each) => ({ ...each })))('whatever the planner thinks of $name', (each) => {
  test('a page goes through its own rows, not through all', async () => {
    const stored = 200
    await save(
      each,
      Array.from({ length: stored }, (_, number) => number),
      1,
      1,
    )
    const { found, store } = await each.findDiffering([7, 8], 2)
    expect(found).toBe(2)
    const plans: ReadonlyMap<string, number>[] = []
    await stage.database.transaction(async (tx) => {
      // What it would do if it took the page for large, or the table for small.
      await tx.execute('SET LOCAL enable_nestloop = off')
      await tx.execute('SET LOCAL enable_seqscan = off')
      const watched: Transaction = {
        ...tx,
        query: async <Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]> => {
          if (!/^\s*(WITH reported|SELECT .* FOR UPDATE)/s.test(sql)) return tx.query<Row>(sql, ...parameters)
          const isWrite = sql.includes('WITH reported')
          const rows = isWrite ? [] : await tx.query<Row>(sql, ...parameters)
          const [plan] = await tx.query<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(
            `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
            ...parameters,
          )
          if (plan === undefined) throw new Error('there is no plan')
          plans.push(rowsRead(plan['QUERY PLAN'][0].Plan))
          return rows
        },
      }
      await store(watched, 2)
    })
    expect(plans).toHaveLength(2)
    // The lock reads the rows of the page once; the write twice, for the version that is replaced and to replace it.
    for (const read of plans) expect(read.get(each.name) ?? 0).toBeGreaterThan(0)
    for (const read of plans)
      for (const [name, rows] of read) expect({ name, rows: rows < stored / 4 }).toEqual({ name, rows: true })
  })
})
