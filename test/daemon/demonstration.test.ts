import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { markedColumns } from '../../src/store/privacy/personal-data.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'

/** Details of returns that the demonstration may not have had after two minutes. */
const rareDetails = ['warehouse.return_line_tracking_statuses', 'warehouse.return_line_refund_channels']

/** Tables of operations that only `walmart-us` has. The demonstration uses the profile `specification`. */
const tablesOfOtherProfiles = ['warehouse.inventory', 'warehouse.stock_on_hand', 'warehouse.stock_differences']

/** What comes from errors of the marketplace in reports, and from shipments to its warehouses. The demonstration has none until somebody makes them. */
const tablesOfMishaps = ['warehouse.settlement_differences', 'warehouse.claim_payments', 'warehouse.inbound_shipment_lines']

const mayBeEmpty = [...rareDetails, ...tablesOfOtherProfiles, ...tablesOfMishaps]

/** Every table and view that a seller and BI may rely on (docs/data-model.md). */
const tables = async (): Promise<readonly string[]> => {
  const names = new Set((await markedColumns()).map(({ table }) => table))
  return [...names].filter((name) => name.startsWith('warehouse.') && !mayBeEmpty.includes(name))
}

/** What the demonstration promises whoever starts it without settings. */
const maxWaitMs = 120_000

let folder: string
let postgres: TestPostgres
let database: Database
let daemon: TestDaemon

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-demonstration-'))
  await chmod(folder, 0o755)
  postgres = await startTestPostgres()
  const url = await postgres.database()
  database = openDatabase({ findVocabulary, url, connections: 2 })
  daemon = await startTestDaemon({ SANDBOX_PORT: '0', DATA_DIR: folder, DATABASE_URL: url })
})
afterAll(async () => {
  await daemon.program.stop()
  await database.close()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

const emptyTables = async (): Promise<readonly string[]> => {
  const counted = await Promise.all(
    (await tables()).map(async (table) => {
      const [row] = await database.query<{ filled: boolean }>(`SELECT EXISTS (SELECT 1 FROM ${table}) AS filled`)
      return row?.filled === true ? [] : [table]
    }),
  )
  return counted.flat()
}

test('with no settings, within two minutes every table of the warehouse holds rows', {
  timeout: maxWaitMs + 10_000,
}, async () => {
  await eventually(async () => expect(await emptyTables()).toEqual([]), maxWaitMs)
})

const plantedSchema = z.object({
  items: z.array(
    z.object({
      sku: z.string(),
      month: z.string(),
      kind: z.string(),
      cell: z.string().nullable(),
      reported: z.number(),
      expected: z.number(),
    }),
  ),
})
const foundSchema = z.object({
  items: z.array(
    z.object({
      sku: z.string(),
      month: z.string(),
      kind: z.string(),
      reportUnits: z.number(),
      expectedUnits: z.number(),
    }),
  ),
})

const findKind = ({ kind, cell }: { readonly kind: string; readonly cell: string | null }): string =>
  kind === 'ending-off' ? 'balance' : kind === 'carry-over-break' ? 'carry-over' : (cell ?? kind)

const planted = async (): Promise<readonly string[]> => {
  const sandboxUrl = /"sandbox":"(http:[^"]+)"/.exec(daemon.program.output())?.[1] ?? ''
  const answer = await fetch(`${sandboxUrl}/_sandbox/inventory/discrepancies`)
  return plantedSchema
    .parse(await answer.json())
    .items.map((item) => `${item.month} ${item.sku} ${findKind(item)}: ${item.reported}, not ${item.expected}`)
    .sort()
}

const found = async (): Promise<readonly string[]> =>
  foundSchema
    .parse((await daemon.call('GET', '/v1/discrepancies?limit=1000')).body)
    .items.map((item) => `${item.month} ${item.sku} ${item.kind}: ${item.reportUnits}, not ${item.expectedUnits}`)
    .sort()

test('every difference that the sandbox has planted is found, and nothing else', { timeout: maxWaitMs + 10_000 }, async () => {
  expect(await planted()).not.toEqual([])
  await eventually(async () => expect(await found()).toEqual(await planted()), maxWaitMs)
})

test('no answer of the sandbox differs from what is published', async () => {
  // The end of the process records what it has seen.
  await daemon.program.stop()
  const [{ orders } = { orders: 0 }] = await database.query<{ orders: number }>(
    'SELECT count(*)::int AS orders FROM warehouse.orders',
  )
  expect(orders).toBeGreaterThan(0)
  expect(await database.query('SELECT operation, kind, path, example FROM tallyman.drift')).toEqual([])
})
