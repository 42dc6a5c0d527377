import { createServer } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Database, type DatabaseOptions, openDatabase } from '../../src/store/db/database.ts'
import { isDatabaseUnavailable, retryOnDeadlock } from '../../src/store/db/errors.ts'
import { sessionBounds } from '../../src/store/db/session.ts'
import { storageFault } from '../../src/store/versioned/versions.ts'
import { openPassage } from '../daemon/support.ts'
import { numbered } from '../support/changes.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startProgram } from '../support/process.ts'
import { findVocabulary } from '../support/vocabulary.ts'

let postgres: TestPostgres
let url: string
let admin: pg.Client
/** Apart from `admin`, which sees the same activity for as long as its transaction lasts. */
let watcher: pg.Client
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(() => postgres.stop())
beforeEach(async () => {
  url = await postgres.database()
  admin = new pg.Client({ connectionString: url })
  watcher = new pg.Client({ connectionString: url })
  await Promise.all([admin.connect(), watcher.connect()])
  await admin.query(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ('s-1', 'active')`)
  cleanUps.push(() => Promise.all([admin.end(), watcher.end()]))
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const open = (options: Partial<DatabaseOptions> = {}): Database => {
  const database = openDatabase({ findVocabulary, url, connections: 2, ...options })
  cleanUps.push(() => database.close())
  return database
}

type Case = readonly [name: string, work: (database: Database) => Promise<unknown>]

const thrownBy = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {
      throw new Error('nothing was thrown')
    },
    (error: unknown) => error,
  )

const startWriter = (env: Readonly<Record<string, string>>) => {
  const program = startProgram('test/store/frozen-writer.ts', { DATABASE_URL: url, ...env })
  cleanUps.push(() => program.kill())
  return program
}

const touchSeller = (database: Database) =>
  database.transaction(async (tx) => {
    await tx.execute(`UPDATE tallyman.sellers SET updated_at = now() WHERE seller_id = 's-1'`)
    tx.record({ sellerId: 's-1', type: 'shipping_settings.missing', data: {} })
  })

const found = async (sql: string): Promise<number> => (await watcher.query(sql)).rowCount ?? 0
const halfDone = () => found(`SELECT 1 FROM tallyman.sellers WHERE seller_id = 'half'`)
const countChanges = async (type: string): Promise<number> => {
  await numbered(open())
  return found(`SELECT 1 FROM warehouse.changes WHERE type = '${type}'`)
}
const describeLockWait = () =>
  eventually(async () => expect(await found(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).toBeGreaterThan(0))

describe('a process that is frozen', () => {
  test('in the middle of a transaction holds the others up for seconds only, and finds it undone when it goes on', async () => {
    const writer = startWriter({ STOP: 'in-transaction' })
    await eventually(async () =>
      expect(await found(`SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'`)).toBe(1),
    )
    const database = open()
    const startedAt = performance.now()
    await touchSeller(database)
    expect(performance.now() - startedAt).toBeLessThan(sessionBounds.idleInTransactionMs + 5_000)
    expect([await halfDone(), await countChanges('order.missing')]).toEqual([0, 0])
    writer.child.kill('SIGCONT')
    await writer.says('failed, unavailable: true')
    expect(await halfDone()).toBe(0)
  })

  test('while it numbers changes blocks no other process: lock, numbering and commit are one message', async () => {
    await admin.query('BEGIN; SELECT 1 FROM tallyman.change_counter FOR UPDATE')
    const writer = startWriter({ STOP: 'never' })
    await writer.says('committed')
    await describeLockWait()
    writer.child.kill('SIGSTOP')
    await admin.query('COMMIT')
    await touchSeller(open())
    expect([await halfDone(), await countChanges('order.missing'), await countChanges('shipping_settings.missing')]).toEqual([
      1, 1, 1,
    ])
    writer.child.kill('SIGCONT')
    await writer.ended
  })
})

describe('a session', () => {
  const findSettings = async (database: Database): Promise<Record<string, string>> => {
    const rows = await database.query<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings WHERE name LIKE '%timeout%' OR name LIKE 'tcp_keepalives%'`,
    )
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  }

  test('is bounded on the side of the server', async () => {
    const settings = await findSettings(open())
    expect(settings).toMatchObject({
      idle_in_transaction_session_timeout: '10000',
      lock_timeout: '20000',
      statement_timeout: '60000',
      tcp_user_timeout: '20000',
      tcp_keepalives_idle: '10',
    })
    const [version] = await open().query<{ number: string }>(`SELECT current_setting('server_version_num') AS number`)
    expect(settings['transaction_timeout']).toBe(Number(version?.number) >= 170_000 ? '120000' : undefined)
  })

  test('keeps what is set tighter', async () => {
    const tighter = new URL(url)
    tighter.searchParams.set('options', '-c statement_timeout=1234 -c lock_timeout=99999')
    expect(await findSettings(open({ url: tighter.href }))).toMatchObject({ statement_timeout: '1234', lock_timeout: '20000' })
  })

  test('whose server falls silent is given up, and the next one is a new one', async () => {
    const address = new URL(url)
    const passage = await openPassage(Number(address.port))
    cleanUps.push(() => passage.close())
    address.port = String(passage.port)
    const bounds = { ...sessionBounds, statementMs: 300, silenceMs: 800 }
    const database = open({ url: address.href, bounds, connections: 1 })
    await database.query('SELECT 1 AS one')
    passage.freeze()
    const error = await thrownBy(database.query('SELECT 2 AS two'))
    expect(isDatabaseUnavailable(error), String(error)).toBe(true)
    await passage.open()
    expect(await database.query('SELECT 3 AS three')).toEqual([{ three: 3 }])
  })
})

describe('a commit that fails', () => {
  test('reports why, leaves nothing, and its connection is reusable', async () => {
    const database = open({ connections: 1 })
    const insert = (value: string) =>
      database.transaction(async (tx) => {
        await tx.execute(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ('half', 'active')`)
        tx.record({ sellerId: 's-1', type: 'seller.stopped', data: { reason: value } })
      })
    const error = await thrownBy(insert('a\u0000b'))
    expect(storageFault(error)).toContain('22P05')
    expect(isDatabaseUnavailable(error)).toBe(false)
    expect(await halfDone()).toBe(0)
    const tricky = `it's "quoted" \\ $1 ; -- \n ü $$`
    await insert(tricky)
    await numbered(database)
    expect((await admin.query(`SELECT data ->> 'reason' AS value FROM warehouse.changes`)).rows).toEqual([{ value: tricky }])
    expect(await halfDone()).toBe(1)
  })

  test('for a deadlock of typed queries runs again', async () => {
    const database = open()
    let runs = 0
    await admin.query(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ('s-2', 'active')`)
    await admin.query(`BEGIN; UPDATE tallyman.sellers SET resumes = 1 WHERE seller_id = 's-2'`)
    const resumed = (sellerId: string) => ({ where: { sellerId }, data: { resumes: { increment: 1 } } })
    const done = retryOnDeadlock(() =>
      database.transaction(async (tx) => {
        runs += 1
        await tx.prisma.seller.updateMany(resumed('s-1'))
        await tx.prisma.seller.updateMany(resumed('s-2'))
      }),
    )
    await describeLockWait()
    await admin.query(`SET deadlock_timeout = '10s'; UPDATE tallyman.sellers SET resumes = 1 WHERE seller_id = 's-1'`)
    await admin.query('COMMIT')
    await done
    expect(runs).toBe(2)
  })

  test('for a deadlock runs again', async () => {
    const database = open()
    let runs = 0
    await admin.query(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ('s-2', 'active')`)
    await admin.query(`BEGIN; SELECT 1 FROM tallyman.sellers WHERE seller_id = 's-2' FOR UPDATE`)
    const done = retryOnDeadlock(() =>
      database.transaction(async (tx) => {
        runs += 1
        for (const sellerId of ['s-1', 's-2'])
          await tx.execute('UPDATE tallyman.sellers SET updated_at = now() WHERE seller_id = $1', sellerId)
        tx.record({ sellerId: 's-1', type: 'seller.stopped', data: { reason: 'told' } })
      }),
    )
    await describeLockWait()
    // Now both wait for each other; whichever the server chooses, ours ends well.
    const theirs = await admin
      .query(`SET deadlock_timeout = '10s'; UPDATE tallyman.sellers SET updated_at = now() WHERE seller_id = 's-1'`)
      .then(() => 'done')
    await admin.query('COMMIT')
    await done
    expect([theirs, runs]).toEqual(['done', 2])
    expect(await countChanges('seller.stopped')).toBe(1)
  })
})

test('an error of a typed query quotes nothing of what was asked', async () => {
  const { seller } = open().prisma
  const typed = { sellerId: 's-1', state: 'active', stoppedReason: 'Ada Lovelace' }
  const [taken, wrong] = [seller.create({ data: typed }), seller.create({ data: { ...typed, sellerId: 'a\u0000b' } })]
  for (const error of [await thrownBy(taken), await thrownBy(wrong)]) expect(String(error)).not.toContain('Lovelace')
})

describe('Postgres is unavailable', () => {
  const terminate = () =>
    admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tallyman'
      AND datname = current_database()`)
  const untilGone = () =>
    eventually(async () =>
      expect(
        await found(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'tallyman' AND datname = current_database()`),
      ).toBe(0),
    )

  const endWaiting = () =>
    watcher.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database()`)
  /** Has every change of a seller fail. */
  const failWith = (code: string) =>
    admin.query(`CREATE OR REPLACE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${code}'; END $$;
      CREATE OR REPLACE TRIGGER fail BEFORE UPDATE ON tallyman.sellers FOR EACH ROW EXECUTE FUNCTION pg_temp.fail()`)

  const raised = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${code}'; END $$`
  const cases: readonly Case[] = [
    [
      'when a backend ends between two statements',
      (database) =>
        database.transaction(async (tx) => {
          await tx.query('SELECT 1 AS one')
          await terminate()
          await untilGone()
          await tx.query('SELECT 2 AS two')
        }),
    ],
    [
      'when a backend ends before the commit',
      (database) =>
        database.transaction(async (tx) => {
          tx.record({ sellerId: 's-1', type: 'seller.stopped', data: { reason: 'told' } })
          await tx.query('SELECT 1 AS one')
          await terminate()
          await untilGone()
        }),
    ],
    [
      'when a backend ends in a statement',
      async (database) => {
        const ended = database.query('SELECT pg_sleep(30)::text')
        const outcome = thrownBy(ended)
        await eventually(async () => expect((await terminate()).rowCount).toBeGreaterThan(0))
        throw await outcome
      },
    ],
    ['for a statement that takes too long', (database) => database.query('SELECT pg_sleep(30)::text')],
    [
      'for a lock that does not come',
      async (database) => {
        await admin.query('BEGIN; SELECT 1 FROM tallyman.sellers FOR UPDATE')
        try {
          await touchSeller(database)
        } finally {
          await admin.query('ROLLBACK')
        }
      },
    ],
    [
      'for a transaction that was idle too long',
      (database) =>
        database.transaction(async (tx) => {
          await tx.query('SELECT 1 AS one')
          await untilGone()
          await tx.query('SELECT 2 AS two')
        }),
    ],
    [
      'for a transaction that is over before its end',
      (database) => database.transaction((tx) => tx.query('SELECT pg_sleep(0.2)::text'), { timeoutMs: 20 }),
    ],
    [
      'for a pool without a free connection',
      async (database) => {
        const busy = [1, 2].map(() => thrownBy(database.query('SELECT pg_sleep(30)::text')))
        const error = await thrownBy(database.transaction((tx) => tx.query('SELECT 1 AS one'), { maxWaitMs: 20 }))
        await Promise.all(busy)
        throw error
      },
    ],
    ['for a server that is read-only', (database) => database.execute(raised('25006'))],
    ['for a full disk', (database) => database.execute(raised('53100'))],
    ['for a server without memory', (database) => database.execute(raised('53200'))],
    ['for too many connections', (database) => database.execute(raised('53300'))],
    ['for a disk that does not answer', (database) => database.execute(raised('58030'))],
    ['for a server that is starting', (database) => database.execute(raised('57P03'))],
    [
      'when a backend ends between two statements, the second a typed one',
      (database) =>
        database.transaction(async (tx) => {
          await tx.prisma.seller.findMany()
          await terminate()
          await untilGone()
          await tx.prisma.seller.findMany()
        }),
    ],
    [
      'when a backend ends in a typed query',
      async (database) => {
        await admin.query('BEGIN; LOCK TABLE tallyman.sellers')
        const outcome = thrownBy(database.prisma.seller.findMany())
        try {
          await eventually(async () => expect((await endWaiting()).rowCount).toBeGreaterThan(0))
        } finally {
          await admin.query('ROLLBACK')
        }
        throw await outcome
      },
    ],
    [
      'for a typed query that waits too long',
      async (database) => {
        await admin.query('BEGIN; LOCK TABLE tallyman.sellers')
        try {
          await database.prisma.seller.findMany()
        } finally {
          await admin.query('ROLLBACK')
        }
      },
    ],
    [
      'for a typed write where Postgres is read-only',
      (database) =>
        database.transaction(async (tx) => {
          await tx.execute('SET TRANSACTION READ ONLY')
          await tx.prisma.seller.updateMany({ data: { resumes: 1 } })
        }),
    ],
    ...['53100', '53200', '53300', '58030', '57P03', '08006'].map(
      (code): Case => [
        `for a typed write that fails with ${code}`,
        async (database) => {
          await failWith(code)
          await database.prisma.seller.updateMany({ data: { resumes: 1 } })
        },
      ],
    ),
  ]

  test.each(cases)('%s', async (_, work) => {
    const bounds = { ...sessionBounds, statementMs: 400, lockMs: 300, idleInTransactionMs: 300 }
    const error = await thrownBy(work(open({ bounds })))
    expect(isDatabaseUnavailable(error), String(error)).toBe(true)
  })

  test('without a listener, and without an answer', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    cleanUps.push(async () => silent.close())
    const address = silent.address()
    const nowhere = new URL(url)
    for (const port of [1, typeof address === 'object' && address !== null ? address.port : 0]) {
      nowhere.port = String(port)
      const database = open({ url: nowhere.href, connections: 1 })
      const errors = await Promise.all([
        thrownBy(database.query('SELECT 1 AS one')),
        thrownBy(database.query('SELECT 1 AS one')),
        thrownBy(database.transaction((tx) => tx.query('SELECT 1 AS one'))),
        thrownBy(database.prisma.seller.findMany()),
      ])
      for (const error of errors) expect(isDatabaseUnavailable(error), String(error)).toBe(true)
    }
  })

  test('but not when it does not like what it is asked', async () => {
    const database = open()
    for (const sql of ['SELECT nothing', 'SELECT 1/0', raised('23505'), raised('40001'), raised('P0001')]) {
      expect(isDatabaseUnavailable(await thrownBy(database.execute(sql))), sql).toBe(false)
    }
    for (const code of ['23505', '40001', 'P0001', '22003']) {
      await failWith(code)
      expect(isDatabaseUnavailable(await thrownBy(database.prisma.seller.updateMany({ data: { resumes: 1 } }))), code).toBe(false)
    }
    const again = database.prisma.seller.createMany({ data: [{ sellerId: 's-1', state: 'active' }] })
    expect(isDatabaseUnavailable(await thrownBy(again))).toBe(false)
    expect(isDatabaseUnavailable(new Error('the name of a connection terminated in a dot'))).toBe(false)
    expect(isDatabaseUnavailable(undefined)).toBe(false)
  })
})
