import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { classifyRow } from '../../src/clients/marketplace/reports/settlement-words.ts'
import { eventProblem } from '../../src/jobs/events/reject.ts'
import { findDueCommands, readCommand } from '../../src/store/commands/commands.ts'
import { openDatabase } from '../../src/store/db/database.ts'
import { finishedMigrations, MigrationFailed, migrate, missingMigrations } from '../../src/store/db/migrate.ts'
import { findDueEvents, findEndlessEvents, settleEvent } from '../../src/store/events/events.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { databaseBefore } from './support/earlier.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(() => postgres.stop())

const rows = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe('migrate', () => {
  test('applies everything once, also when several daemons start together', async () => {
    const url = await postgres.emptyDatabase()
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)])
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1)
    expect(await missingMigrations(await finishedMigrations(url))).toEqual([])
    expect(await rows(url, 'SELECT count(*)::int AS n FROM _prisma_migrations WHERE finished_at IS NOT NULL')).toEqual([
      { n: applied.flat().length },
    ])
  })

  test('a failing migration changes nothing and reports why', async () => {
    const url = await postgres.emptyDatabase()
    const directory = await mkdtemp(path.join(tmpdir(), 'tallyman-migrations-'))
    await cp(path.resolve('prisma/migrations'), directory, { recursive: true })
    await mkdir(path.join(directory, '99990101000000_broken'))
    await writeFile(
      path.join(directory, '99990101000000_broken', 'migration.sql'),
      'CREATE TABLE tallyman.half (a int); SELECT no_such_function();',
    )
    await expect(migrate(url, directory)).rejects.toThrow(MigrationFailed)
    await expect(migrate(url, directory)).rejects.toThrow(/99990101000000_broken|no_such_function/)
    const damaged = await migrate(url, directory).catch((error: unknown) => String(error))
    expect(damaged).toMatch(/^MigrationFailed: (?!.*\[object Object\]).{40,}/s)
    expect(
      await rows(url, "SELECT to_regclass('tallyman.half') AS half, to_regclass('warehouse.orders')::text AS orders"),
    ).toEqual([{ half: null, orders: 'warehouse.orders' }])
    // Its cause is gone, and an administrator lets it be tried again (docs/deployment.md).
    await writeFile(path.join(directory, '99990101000000_broken', 'migration.sql'), 'CREATE TABLE tallyman.half (a int);')
    await expect(migrate(url, directory)).rejects.toThrow(MigrationFailed)
    await rows(url, 'DELETE FROM _prisma_migrations WHERE finished_at IS NULL')
    expect(await migrate(url, directory)).toEqual(['99990101000000_broken'])
    await rm(directory, { recursive: true })
  })

  test('only adds: nothing is removed that an older version reads or omits', async () => {
    const folders = (await readdir('prisma/migrations', { withFileTypes: true })).filter((entry) => entry.isDirectory())
    expect(folders.length).toBeGreaterThan(30)
    const taking = /\b(DROP\s+(TABLE|COLUMN|VIEW|SCHEMA|FUNCTION)|RENAME\s|SET\s+NOT\s+NULL|ALTER\s+(COLUMN\s+)?\w+\s+TYPE)\b/i
    expect('ALTER TABLE a ALTER COLUMN b SET NOT NULL').toMatch(taking)
    for (const { name } of folders) {
      const sql = await readFile(path.resolve('prisma/migrations', name, 'migration.sql'), 'utf8')
      expect(sql.replaceAll(/--.*$/gm, ''), name).not.toMatch(taking)
    }
  })

  test('gives stored SKUs their normal form, and reads the log of such a SKU anew', async () => {
    const url = await databaseBefore(postgres, '20270130000000_normal_skus')
    const entry = (sku: string, id: string) => `('s', '${sku}', '${id}', 1, now(), '\\x00', '{}', now(), now(), now())`
    await rows(
      url,
      `INSERT INTO tallyman.inventory_skus (seller_id, sku, source, log_read_up_to) VALUES
         ('s', 'POT ', 'orders', now()), ('s', 'POT', 'report', now()), ('s', 'PO\u0308T', 'settings', now()), ('s', 'PAN', 'report', now());
       INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, changed_units, transaction_time, raw_hash, raw, observed_at, first_seen_at, changed_at)
         VALUES ${[entry('POT ', '1'), entry('POT ', '2'), entry('POT', '2'), entry(' POT', '1')].join(', ')}`,
    )
    expect(await migrate(url)).toContain('20270130000000_normal_skus')
    expect(
      await rows(
        url,
        'SELECT sku, marketplace_sku, log_read_up_to IS NULL AS anew FROM tallyman.inventory_skus ORDER BY sku COLLATE "C"',
      ),
    ).toEqual([
      { sku: 'PAN', marketplace_sku: null, anew: false },
      { sku: 'POT', marketplace_sku: 'POT ', anew: true },
      { sku: 'P\u00d6T', marketplace_sku: 'PO\u0308T', anew: true },
    ])
    expect(await rows(url, 'SELECT sku, entry_id FROM warehouse.inventory_log_entries ORDER BY 1, 2')).toEqual([
      { sku: 'POT', entry_id: '1' },
      { sku: 'POT', entry_id: '2' },
    ])
  })

  test('fills who bears the refund of a returned line from its record', async () => {
    const url = await databaseBefore(postgres, '20270184000000_refund_covered_by')
    const line = (number: number, raw: string) => `('s', 'R', ${number}, 1, '${raw}', now(), now())`
    await rows(
      url,
      `INSERT INTO warehouse.returns (seller_id, return_order_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
         VALUES ('s', 'R', '\\x00', '{}', now(), now(), now());
       INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, quantity, raw, first_seen_at, changed_at)
         VALUES ${[line(1, '{"refundCoveredBy": "SELLER"}'), line(2, '{"refundCoveredBy": 7}'), line(3, '{}')].join(', ')}`,
    )
    expect(await migrate(url)).toContain('20270184000000_refund_covered_by')
    expect(
      await rows(url, 'SELECT refund_covered_by AS by FROM warehouse.return_lines ORDER BY return_order_line_number'),
    ).toEqual([{ by: 'SELLER' }, { by: null }, { by: null }])
  })

  test('classifies stored rows of settlement reports as their reader does', async () => {
    const url = await databaseBefore(postgres, '20270340000000_money_views')
    const kinds = [
      ['Sale', 'Product Price', 'Purchase'],
      ['Refund', 'Commission on Product', 'Seller Triggered Refund'],
      ['Service Fee', '', '"WFS Return Shipping fee "'],
      ['Adjustment', 'Commission on Shipping', 'WFS LostInventory'],
      ['Release Reserve', 'Reserve', 'Reserve credited back'],
      ['PaymentSummary', '', 'Deposited in account'],
      ['Adjustment', 'A new fee', 'A text'],
    ] as const
    const values = kinds.map(
      ([type, amountType, description], at) =>
        `('s', '2026-03-14/${at + 1}', '2026-03-14', ${at + 1}, '${type}', '${amountType}', '${description}', '\\x00',
          '{"Commission Rate": "${['15', '0.15', '12.5%', '150', 'none', '', '1'][at]}"}', now(), now(), now())`,
    )
    await rows(
      url,
      `INSERT INTO warehouse.settlement_lines (seller_id, line_key, report_date, row_number, transaction_type, amount_type, description, raw_hash, raw,
         observed_at, first_seen_at, changed_at) VALUES ${values.join(', ')}`,
    )
    expect(await migrate(url)).toContain('20270340000000_money_views')
    expect(await rows(url, 'SELECT movement, component, reimburses FROM warehouse.settlement_lines ORDER BY row_number')).toEqual(
      kinds.map(([transactionType, amountType, description]) => classifyRow({ transactionType, amountType, description })),
    )
    expect(await rows(url, 'SELECT commission_rate::float8 AS rate FROM warehouse.settlement_lines ORDER BY row_number')).toEqual(
      [0.15, 0.15, 0.125, null, null, null, 0.01].map((rate) => ({ rate })),
    )
  })

  test('leaves a database of a newer version as it is, and works on it', async () => {
    const url = await postgres.database()
    await rows(
      url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ('newer', 'x', '99990101000000_of_a_newer_version', now(), now(), 1);
       ALTER TABLE tallyman.commands ADD COLUMN newer text NOT NULL DEFAULT 'x'`,
    )
    expect(await migrate(url)).toEqual([])
    expect(await missingMigrations(await finishedMigrations(url))).toEqual([])
    await rows(url, `INSERT INTO tallyman.sellers (seller_id, state) VALUES ('s-1', 'active')`)
    await rows(
      url,
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload) VALUES ('c-1', 's-1', 'po-1', 'acknowledge', 'pending', '{}')`,
    )
    const database = openDatabase({ findVocabulary, url })
    expect(await readCommand(database, 'c-1')).toMatchObject({ subject: 'order po-1' })
    await database.close()
  })

  test('a login that may not migrate leaves an older database unchanged, and reports what is missing', async () => {
    const url = await postgres.database()
    await rows(url, `CREATE ROLE works LOGIN PASSWORD 'x' IN ROLE tallyman_daemon; GRANT SELECT ON _prisma_migrations TO works`)
    const login = new URL(url)
    login.username = 'works'
    login.password = 'x'
    expect(await migrate(login.href)).toEqual([])
    const directory = await mkdtemp(path.join(tmpdir(), 'tallyman-migrations-'))
    await cp(path.resolve('prisma/migrations'), directory, { recursive: true })
    await mkdir(path.join(directory, '99990101000000_more'))
    await writeFile(path.join(directory, '99990101000000_more', 'migration.sql'), 'CREATE TABLE tallyman.more (a int);')
    await expect(migrate(login.href, directory)).rejects.toThrow(/^a database migration failed: .*permission denied/s)
    expect(await missingMigrations(await finishedMigrations(url), directory)).toEqual(['99990101000000_more'])
    expect(await rows(url, `SELECT to_regclass('tallyman.more') AS more`)).toEqual([{ more: null }])
    await rm(directory, { recursive: true })
  })

  test('leaves no event of the first version behind that could never end', async () => {
    const url = await postgres.emptyDatabase()
    const directory = await mkdtemp(path.join(tmpdir(), 'tallyman-migrations-'))
    for (const kept of ['20261121000000_first_floor', 'migration_lock.toml']) {
      await cp(path.resolve('prisma/migrations', kept), path.join(directory, kept), { recursive: true })
    }
    await migrate(url, directory)
    await rm(directory, { recursive: true })
    const insert = (values: string) =>
      rows(url, `INSERT INTO tallyman.erp_event (source, id, type, data, sequence, received_at) VALUES (${values})`)
    const data = `'{"purchaseOrderId": "1\\n"}'`
    await insert(`'', '', '', ${data}, -5, 'infinity'`)
    await insert(`'urn:erp', repeat('x', 20000), repeat('t', 300), '[]', -4, '-infinity'`)
    await insert(`'urn:erp', 'deep', 'x', (repeat('[', 4000) || repeat(']', 4000))::jsonb, -3, now()`)
    await insert(`'urn:erp', 'decided', 'x', ${data}, -2, now()`)
    await rows(url, `UPDATE tallyman.erp_event SET status = 'accepted' WHERE id = 'decided'`)
    await migrate(url)
    const database = openDatabase({ findVocabulary, url })
    expect(await findDueEvents(database, 10)).toEqual([{ source: 'urn:erp', id: 'deep' }])
    expect((await findEndlessEvents(database, 86_400_000, 10)).map(({ id }) => id.length)).toEqual([0, 20_000])
    for (const key of [
      { source: '', id: '' },
      { source: 'urn:erp', id: 'x'.repeat(20_000) },
      { source: 'urn:erp', id: 'deep' },
    ])
      expect(
        await database.transaction((tx) =>
          settleEvent(tx, key, { bodyHash: null, sellerId: null, problem: eventProblem([{ path: 'id', message: 'is wrong' }]) }),
        ),
      ).toBe(true)
    await database.close()
  })

  test('keeps every command of the first version, and takes those that it still writes meanwhile', async () => {
    const url = await postgres.emptyDatabase()
    const directory = await mkdtemp(path.join(tmpdir(), 'tallyman-migrations-'))
    for (const kept of ['20261121000000_first_floor', 'migration_lock.toml']) {
      await cp(path.resolve('prisma/migrations', kept), path.join(directory, kept), { recursive: true })
    }
    await migrate(url, directory)
    await rm(directory, { recursive: true })
    // As the first version writes them.
    const insert = (from: number) => `
      INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
      SELECT 'c-' || n, 's-1', 'po-' || n / 3, 'acknowledge', (ARRAY['pending', 'sending', 'verifying', 'held', 'confirmed'])[n % 5 + 1], '{}'
      FROM generate_series(${from}, ${from + 199}) AS n`
    await rows(url, `INSERT INTO tallyman.sellers (seller_id, state) VALUES ('s-1', 'active')`)
    await rows(url, insert(0))
    const columns = 'id, sequence, seller_id, purchase_order_id, kind, state, attempts, payload, created_at'
    const before = await rows(url, `SELECT ${columns} FROM tallyman.commands ORDER BY sequence`)
    expect(await migrate(url)).toContain('20261122000800_shipping_settings')
    expect(await rows(url, `SELECT ${columns} FROM tallyman.commands ORDER BY sequence`)).toEqual(before)
    await rows(url, insert(200))
    expect(
      await rows(url, 'SELECT DISTINCT seller_id FROM tallyman.commands WHERE subject <> $$order $$ || purchase_order_id'),
    ).toEqual([])
    const database = openDatabase({ findVocabulary, url })
    const due = await findDueCommands(database, 1_000)
    // The first unsettled one of each order, where it is not held.
    const heads = Array.from({ length: 134 }, (_, order) =>
      [0, 1, 2].map((n) => order * 3 + n).find((n) => n % 5 !== 4 && n < 400),
    )
    const expected = heads.filter((n) => n !== undefined && n % 5 !== 3).map((n) => `c-${n}`)
    expect([...due].sort()).toEqual(expected.sort())
    for (const id of due.slice(0, 5)) {
      expect(await readCommand(database, id)).toMatchObject({
        subject: expect.stringMatching(/^order po-/),
        content: { kind: 'acknowledge' },
      })
    }
    await database.close()
  })
})
