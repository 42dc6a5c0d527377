import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { findHeldSnapshots, terminateIdleSessions } from '../../src/store/db/held-snapshots.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'

// Roles and prepared transactions belong to the whole server, hence one of its own.
let server: TestPostgres
let url: string
let database: Database
const clients = new Set<pg.Client>()

const connect = async (user: string | null, application = 'report', at = url): Promise<pg.Client> => {
  const address = new URL(at)
  if (user !== null) {
    address.username = user
    address.password = 'secret'
  }
  const client = new pg.Client({ connectionString: address.href, application_name: application })
  client.on('error', () => clients.delete(client))
  await client.connect()
  clients.add(client)
  return client
}
const leave = async (client: pg.Client): Promise<void> => {
  clients.delete(client)
  await client.end()
}
const hold = async (client: pg.Client): Promise<string> => {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return String(rows[0]?.pid)
}
const open = (user: string): Database => {
  const address = new URL(url)
  address.username = user
  address.password = 'secret'
  return openDatabase({ findVocabulary, url: address.href, connections: 1 })
}
const held = async (by = database, transactions = 1_000_000) =>
  (await findHeldSnapshots(by, { forMs: 1, transactions })).map(({ kind, name, user, application }) => [
    kind,
    name,
    user,
    application,
  ])

beforeAll(async () => {
  server = await startTestPostgres(['max_prepared_transactions=4'])
  url = await server.database()
  database = openDatabase({ findVocabulary, url, connections: 1 })
  for (const statement of [
    `CREATE ROLE metabase LOGIN PASSWORD 'secret'`,
    `GRANT tallyman_bi TO metabase`,
    `CREATE ROLE other LOGIN PASSWORD 'secret'`,
    `CREATE ROLE plain LOGIN PASSWORD 'secret'`,
    `GRANT tallyman_daemon TO plain`,
  ])
    await database.execute(statement)
})
afterAll(async () => {
  await Promise.all([...clients].map(leave))
  await database.close()
  await server.stop()
})

describe('what holds an old snapshot is named', () => {
  test('a session, until its transaction ends', async () => {
    const client = await connect('metabase')
    const pid = await hold(client)
    await eventually(async () => expect(await held()).toEqual([['session', pid, 'metabase', 'report']]))
    expect(await findHeldSnapshots(database, { forMs: 3_600_000, transactions: 0 })).toEqual([])
    await client.query('COMMIT')
    expect(await held()).toEqual([])
    await leave(client)
  })

  test('none that belongs to another database, where it keeps nothing from being removed', async () => {
    const client = await connect(null, 'report', await server.emptyDatabase())
    await hold(client)
    expect(await held()).toEqual([])
    await leave(client)
  })

  test('a prepared transaction', async () => {
    const client = await connect(null)
    await client.query('BEGIN')
    await client.query('CREATE TABLE forgotten (id int)')
    await client.query(`PREPARE TRANSACTION 'left over'`)
    const { rows } = await client.query<{ user: string }>('SELECT current_user::text AS user')
    await eventually(async () => expect(await held()).toEqual([['prepared transaction', 'left over', rows[0]?.user, null]]))
    await client.query(`ROLLBACK PREPARED 'left over'`)
    expect(await held()).toEqual([])
    await leave(client)
  })

  test('also to a login that may not see since when, by the transactions that have begun', async () => {
    const client = await connect('metabase')
    const pid = await hold(client)
    const plain = open('plain')
    await database.execute('DO $$ BEGIN FOR i IN 1..50 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$')
    expect(await held(plain)).toEqual([])
    expect(await held(plain, 40)).toEqual([['session', pid, 'metabase', 'report']])
    await plain.close()
    await leave(client)
  })
})

describe('a transaction that BI left idle', () => {
  test('is ended; one of anybody else is not, nor a statement that runs', async () => {
    const [idle, busy, other] = await Promise.all([connect('metabase', 'dashboard'), connect('metabase'), connect('other')])
    const pid = await hold(idle)
    await hold(other)
    await other.query('SELECT pg_advisory_xact_lock(1)')
    // One message: it is never idle in between.
    const running = busy.query('BEGIN; SELECT pg_advisory_xact_lock(1)')
    const ended: unknown[] = []
    await eventually(async () => {
      ended.push(...(await terminateIdleSessions(database, 1)))
      expect(ended).toEqual([{ pid: Number(pid), user: 'metabase', application: 'dashboard', since: expect.any(Date) }])
    })
    await expect(idle.query('SELECT 1')).rejects.toThrow()
    expect((await other.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await other.query('COMMIT')
    await running
    await Promise.all([leave(busy), leave(other)])
  })

  test('is left to others by a login that may not end it, and ended by one that may', async () => {
    const client = await connect('metabase')
    await hold(client)
    const plain = open('plain')
    expect(await terminateIdleSessions(plain, 1)).toEqual([])
    await database.execute('GRANT pg_read_all_stats, pg_signal_backend TO plain')
    await eventually(async () => expect(await terminateIdleSessions(plain, 1)).toHaveLength(1))
    await plain.close()
  })
})
