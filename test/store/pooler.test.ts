import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/db/database.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import { detectTransactionPooler } from '../../src/store/db/pooler.ts'
import { sessionBounds } from '../../src/store/db/session.ts'
import { cli } from '../cli/run.ts'
import { eventually } from '../support/eventually.ts'
import { hasPgbouncer, startTestPooler, type TestPooler } from '../support/pgbouncer.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { findVocabulary } from '../support/vocabulary.ts'

describe.skipIf(!hasPgbouncer())('behind a pooler', () => {
  let postgres: TestPostgres
  let direct: string
  let transactions: TestPooler
  let sessions: TestPooler

  beforeAll(async () => {
    postgres = await startTestPostgres()
    direct = await postgres.database()
    transactions = await startTestPooler(postgres.url, { mode: 'transaction', connections: 4 })
    sessions = await startTestPooler(postgres.url, { mode: 'session', connections: 8 })
  })
  afterAll(async () => {
    await Promise.all([transactions.stop(), sessions.stop()])
    await postgres.stop()
  })

  test('one in transaction mode is distinguished from a server, and from one in session mode', async () => {
    expect(await detectTransactionPooler(transactions.through(direct))).toBe(true)
    expect(await detectTransactionPooler(sessions.through(direct))).toBe(false)
    expect(await detectTransactionPooler(direct)).toBe(false)
  })

  test('transactions are bounded, and leave nothing behind in the sessions that all clients share', async () => {
    const url = transactions.through(direct)
    const setting = `SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement`
    const database = openDatabase({ url, findVocabulary, connections: 4, prepare: false, pooled: true })
    try {
      const within = await Promise.all(Array.from({ length: 4 }, () => database.transaction((tx) => tx.query<object>(setting))))
      expect(within).toEqual(Array.from({ length: 4 }, () => [{ lock: '20s', statement: '1min' }]))
      expect(await database.query(setting)).toEqual([{ lock: '0', statement: '0' }])
    } finally {
      await database.close()
    }
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    expect((await client.query(setting)).rows).toEqual([{ lock: '0', statement: '0' }])
    await client.end()
  })

  test('a client in another time zone shares the sessions, and ours stay in UTC', async () => {
    const url = transactions.through(direct)
    const database = openDatabase({ url, findVocabulary, connections: 4, prepare: false, pooled: true })
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      await client.query(`SET TimeZone = 'Asia/Kolkata'`)
      const zone = `SELECT current_setting('TimeZone') AS zone`
      for (const _ of [1, 2, 3, 4]) {
        expect((await client.query(zone)).rows).toEqual([{ zone: 'Asia/Kolkata' }])
        expect(await database.query(zone)).toEqual([{ zone: 'UTC' }])
      }
    } finally {
      await client.end()
      await database.close()
    }
  })

  test('a role that is bounded tighter stays so', async () => {
    const client = new pg.Client({ connectionString: direct })
    await client.connect()
    const name = new URL(direct).pathname.slice(1)
    await client.query(`ALTER DATABASE ${name} SET lock_timeout = '3s'`)
    const fresh = await startTestPooler(postgres.url, { mode: 'transaction', connections: 2 })
    const database = openDatabase({ url: fresh.through(direct), findVocabulary, connections: 2, prepare: false, pooled: true })
    try {
      expect(await database.transaction((tx) => tx.query(`SELECT current_setting('lock_timeout') AS lock`))).toEqual([
        { lock: '3s' },
      ])
    } finally {
      await database.close()
      await fresh.stop()
      await client.query(`ALTER DATABASE ${name} RESET lock_timeout`)
      await client.end()
    }
  })

  const doctor = async (environment: Readonly<Record<string, string>>): Promise<string> => {
    const { out } = await cli(['doctor'], { TALLYMAN_URL: 'http://127.0.0.1:1', ...environment })
    return out
      .split('\n')
      .filter(
        (line, index, lines) =>
          line.includes('database: ') || (lines[index - 1]?.includes('database: ') === true && line.startsWith('     ')),
      )
      .join('\n')
  }

  test('the doctor reports that a direct address is missing, or leads through a pooler itself', async () => {
    const pooled = transactions.through(direct)
    expect(await doctor({ DATABASE_URL: pooled })).toMatch(
      /^fail +database: a pooler in transaction mode .*\n +set DATABASE_DIRECT_URL/m,
    )
    expect(await doctor({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: pooled })).toMatch(
      /^fail +database: a pooler in transaction mode /m,
    )
    const good = await doctor({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct })
    expect(good).toMatch(/^ok +database: answers and is migrated\nok +database: DATABASE_DIRECT_URL answers, without a pooler$/)
    expect(await doctor({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: await postgres.database() })).toMatch(
      /^fail +database: DATABASE_DIRECT_URL leads to another database than DATABASE_URL$/m,
    )
    expect(
      await doctor({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: 'postgresql://tallyman:of-nobody@127.0.0.1:1/none' }),
    ).toMatch(/^fail +database: DATABASE_DIRECT_URL does not answer: connect ECONNREFUSED/m)
    expect(await doctor({ DATABASE_URL: sessions.through(direct) })).toMatch(/^ok +database: answers and is migrated$/)
  })

  test('a start that migrates through it leaves no lock behind in its sessions', async () => {
    const empty = await postgres.emptyDatabase()
    expect(await migrate(transactions.through(empty))).not.toEqual([])
    await eventually(async () => {
      const held = await query(
        empty,
        `SELECT l.objid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
         WHERE d.datname = current_database() AND l.locktype = 'advisory'`,
      )
      expect(held).toEqual([])
    }, 5_000)
    expect(await migrate(empty)).toEqual([])
  })

  test('the command line migrates and grants past it', async () => {
    const empty = await postgres.emptyDatabase()
    const environment = { DATABASE_URL: transactions.through(empty), DATABASE_DIRECT_URL: empty }
    for (const command of ['migrate', 'grants']) expect(await cli([command], environment)).toMatchObject({ code: 0 })
    const { rows } = await (async () => {
      const client = new pg.Client({ connectionString: empty })
      await client.connect()
      try {
        return await client.query(`SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory'`)
      } finally {
        await client.end()
      }
    })()
    expect(rows).toEqual([{ held: 0 }])
  })

  test('a transaction that cannot be bounded is not begun, and gives its connection back', async () => {
    const bounds = { ...sessionBounds, lockMs: 10 ** 15 }
    const database = openDatabase({ url: direct, findVocabulary, connections: 1, prepare: false, pooled: true, bounds })
    try {
      for (const _ of [1, 2]) {
        const begun = database.transaction((tx) => tx.query('SELECT 1'), { maxWaitMs: 2_000 })
        await expect(begun).rejects.toThrow('invalid value for parameter "lock_timeout"')
      }
      expect(await database.query('SELECT txid_current_if_assigned() IS NULL AS free')).toEqual([{ free: true }])
    } finally {
      await database.close()
    }
  })
})
