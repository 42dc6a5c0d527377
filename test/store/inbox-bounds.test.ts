import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxDataBytes, maxKeyBytes, maxTypeLength, postgresTextBytes } from '../../src/domain/events/event-bounds.ts'
import { storableFaults } from '../../src/jobs/events/storable.ts'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { insertEvents } from '../../src/store/events/events.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { databaseBefore } from './support/earlier.ts'

let postgres: TestPostgres
let url: string
let client: pg.Client
let database: Database
beforeAll(async () => {
  postgres = await startTestPostgres()
  url = await postgres.database()
  database = openDatabase({ findVocabulary, url })
  client = new pg.Client({ connectionString: url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.close()
  await postgres.stop()
})

describe('the bounds of the inbox', () => {
  test('are those of the daemon, and are in the names of the constraints', async () => {
    const { rows } = await client.query<{ name: string; definition: string }>(
      `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
       WHERE conrelid = 'tallyman.erp_event'::regclass AND conname LIKE '%takes%' ORDER BY 1`,
    )
    const bounds = { data: maxDataBytes, id: maxKeyBytes, source: maxKeyBytes, type: maxTypeLength }
    expect(rows.map(({ name }) => name)).toEqual([
      `erp_event_data_takes_${maxDataBytes}_bytes_as_text`,
      `erp_event_id_takes_1_to_${maxKeyBytes}_bytes`,
      `erp_event_source_takes_1_to_${maxKeyBytes}_bytes`,
      `erp_event_type_takes_1_to_${maxTypeLength}_characters`,
    ])
    for (const [index, bound] of Object.values(bounds).entries())
      expect(rows[index]?.definition).toMatch(new RegExp(`<= ${bound}\\b`))
  })

  test('refuse a row that would be larger than Postgres can write out, in the words of the ERP', async () => {
    const numbers = `SELECT jsonb_build_object('purchaseOrderId', '1', 'n', jsonb_agg('1e131071'::jsonb)) FROM generate_series(1, 100)`
    const insert = client.query(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', 'digits', 'erp.order.accepted', (${numbers}))`,
    )
    await expect(insert).rejects.toThrow(/erp_event_data_takes_4194304_bytes_as_text/)
  })

  test('do not apply to stored rows, which can still end', async () => {
    const before = await databaseBefore(postgres, '20261126100100_inbox_bounds')
    const old = new pg.Client({ connectionString: before })
    await old.connect()
    try {
      const data = `(SELECT jsonb_agg('1e131071'::jsonb) FROM generate_series(1, 100))`
      await old.query(`INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', 'old', 'x', ${data})`)
      const { migrate } = await import('../../src/store/db/migrate.ts')
      expect(await migrate(before)).toContain('20261126100100_inbox_bounds')
      await old.query(`UPDATE tallyman.erp_event SET status = 'rejected' WHERE id = 'old'`)
    } finally {
      await old.end()
    }
  })

  test('are known before: the size of any value is what Postgres makes of it', async () => {
    const numbers = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(1e308, -1.5e300, 5e-324, -1e-7, 1e21, 0, -0),
    )
    const values = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', ' ')))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(numbers, values, fc.array(numbers), fc.dictionary(fc.string({ unit: 'grapheme' }), values)),
        async (value) => {
          const text = JSON.stringify(value)
          fc.pre(!text.includes('\\u0000') && text.isWellFormed() && !/\\ud[89a-f]/i.test(text))
          const { rows } = await client.query<{ bytes: number }>('SELECT octet_length(($1::jsonb)::text) AS bytes', [text])
          expect(postgresTextBytes(JSON.parse(text)), text).toBe(rows[0]?.bytes)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('take whatever the daemon takes by HTTP, to the byte', async () => {
    const event = (data: unknown, id: string) => ({ source: '/erp', id, type: 'erp.order.accepted', data })
    const fitting = { purchaseOrderId: '1', note: '' }
    fitting.note = 'x'.repeat(maxDataBytes - postgresTextBytes(fitting))
    expect(postgresTextBytes(fitting)).toBe(maxDataBytes)
    expect(storableFaults(event(fitting, 'fits'))).toEqual([])
    const store = (data: unknown, id: string) =>
      database.transaction((tx) => insertEvents(tx, [{ ...event(data, id), bodyHash: '00', sellerId: null, state: 'received' }]))
    await expect(store(fitting, 'fits')).resolves.toEqual([true])
    const larger = { ...fitting, note: `${fitting.note}x` }
    expect(storableFaults(event(larger, 'larger'))).toMatchObject([
      { path: 'data', message: expect.stringContaining('too large') },
    ])
    await expect(store(larger, 'larger')).rejects.toThrow(/erp_event_data_takes/)
    // Half a megabyte on the wire, 27 times that in Postgres.
    expect(
      storableFaults(
        event(
          Array.from({ length: 90_000 }, () => 1e308),
          'digits',
        ),
      ),
    ).toHaveLength(1)
  })
})
