import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/postgres.ts'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import { listBuyerTables } from '../../src/store/db/vacuum.ts'
import { eraseBuyer } from '../../src/store/privacy/erasures.ts'
import { orderRecord } from '../store/support/records.ts'
import { storeOrders } from '../support/store.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { cli } from './run.ts'

let folder: string
let postgres: EmbeddedPostgres
let database: Database
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-vacuum-'))
  await chmod(folder, 0o755)
  postgres = await startEmbeddedPostgres({
    dataDir: folder,
    say: () => undefined,
    settings: ['fsync=off', 'wal_compression=off'],
  })
  await migrate(postgres.url)
  database = openDatabase({ findVocabulary, url: postgres.url, connections: 2 })
}, 60_000)
afterAll(async () => {
  await database?.close()
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
})

const name = 'Zebulon Quackenbush'
const order = (minute: number) =>
  storeOrders(database, {
    sellerId: 's-1',
    observedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)),
    records: Array.from({ length: 40 }, (_, at) =>
      orderRecord(`48${at}`, {
        customerOrderId: '5811',
        customerEmailId: `quackenbush-${at}@relay.example`,
        shippingInfo: { phone: '9375550199', methodCode: 'Standard', postalAddress: { name, address1: `${at} Duck Lane` } },
        note: `${minute}`,
      }),
    ),
  })

const filesWithTraces = async (): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = path.join(entry.parentPath, entry.name)
    // A table that is written anew leaves files behind that end with the next checkpoint.
    const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    if (/quackenbush|9375550199|Duck Lane/i.test(text)) found.push(path.relative(folder, file))
  }
  return found
}

test('what was erased is in no file of the embedded Postgres any more', { timeout: 240_000 }, async () => {
  await order(1)
  await database.execute('ANALYZE')
  await order(2)
  // Segments that are used again would keep what they held.
  await database.query('SELECT pg_switch_wal()::text')
  await database.execute('CHECKPOINT')
  const erased = await eraseBuyer(database, { sellerId: 's-1', customerOrderId: '5811', actor: 'Ada', reason: 'request 4711' })
  expect(erased).toMatchObject({ ok: true, erasure: { rows: { 'warehouse.orders': 40 } } })
  await database.execute('CHECKPOINT')
  const before = await filesWithTraces()
  expect(before.some((file) => file.startsWith('postgres/base/'))).toBe(true)
  expect(before.some((file) => file.startsWith('postgres/pg_wal/'))).toBe(true)

  const run = await cli(['vacuum'], { DATA_DIR: folder })
  expect(run, run.messages).toMatchObject({ code: 0, out: expect.stringContaining('19 tables'), messages: '' })
  expect(await filesWithTraces()).toEqual([])
  expect(await database.query('SELECT count(*)::int AS n FROM warehouse.orders')).toEqual([{ n: 40 }])
})

test('a login that does not own the tables, and a missing Postgres, are reported', async () => {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`CREATE ROLE stranger LOGIN PASSWORD 'secret'`)
  await client.end()
  const address = new URL(postgres.url)
  address.username = 'stranger'
  address.password = 'secret'
  expect(await cli(['vacuum'], { DATABASE_URL: address.href })).toMatchObject({
    code: 1,
    messages: expect.stringMatching(/does not own tallyman\.[\s\S]*warehouse\.[\s\S]*as the owner/),
  })
  expect(await cli(['vacuum'], { DATA_DIR: path.join(folder, 'nothing') })).toMatchObject({
    code: 1,
    messages: expect.stringContaining('no Postgres runs in DATA_DIR'),
  })
})

test('the page on operations names the same tables', async () => {
  const page = await readFile('docs/operations.md', 'utf8')
  const [, named = ''] = /^VACUUM \(FULL, ANALYZE\)\s+([^;]+);/m.exec(page) ?? []
  expect(named.split(/,\s+/).sort()).toEqual([...(await listBuyerTables())].sort())
})
