import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runPipelined } from '../../src/store/commit/query-batching.ts'
import { type Database, openDatabase, type Transaction } from '../../src/store/db/database.ts'
import { isDatabaseUnavailable } from '../../src/store/db/errors.ts'
import { prepared } from '../../src/store/db/prepared-statements.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { findVocabulary } from '../support/vocabulary.ts'

const stage = withDatabase({ each: 'test', connections: 2 })

const thrownBy = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {
      throw new Error('nothing was thrown')
    },
    (error: unknown) => error,
  )

const addSeller = (tx: Transaction, sellerId: string) =>
  tx.execute(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ($1, 'active')`, sellerId)
const sellers = async (): Promise<readonly string[]> =>
  (await stage.database.prisma.seller.findMany({ orderBy: { sellerId: 'asc' } })).map(({ sellerId }) => sellerId)

describe('values arrive', () => {
  test.each<readonly [sql: string, value: unknown]>([
    ['9007199254740993::bigint', 9_007_199_254_740_993n],
    ["'{1,NULL,9007199254740993}'::bigint[]", [1n, null, 9_007_199_254_740_993n]],
    ['7::int', 7],
    ['10.50::numeric', '10.50'],
    ["'{0.1,NULL,123456789.123456789}'::numeric[]", ['0.1', null, '123456789.123456789']],
    ['0.25::float8', 0.25],
    ['true', true],
    ["date '2026-03-29'", new Date('2026-03-29T00:00:00Z')],
    ["'{2026-03-29,NULL}'::date[]", [new Date('2026-03-29T00:00:00Z'), null]],
    ["timestamptz '2026-11-23 10:00:00.123+05:30'", new Date('2026-11-23T04:30:00.123Z')],
    ["array[timestamptz '2026-11-23 10:00:00Z', NULL]", [new Date('2026-11-23T10:00:00Z'), null]],
    ["array['a', 'b,c', NULL, '']", ['a', 'b,c', null, '']],
    [`'{"a":[1,null]}'::jsonb`, { a: [1, null] }],
    [`array['{"a":1}'::jsonb]`, [{ a: 1 }]],
    ["'\\x00ff'::bytea", Buffer.from([0, 255])],
    ['NULL::bigint', null],
    ["pg_notify('nobody', '')", ''],
  ])('%s', async (sql, value) => {
    expect(await stage.database.query(`SELECT ${sql} AS value`)).toEqual([{ value }])
  })

  test('of a session in another time zone as the correct times', async () => {
    const value = await stage.database.transaction(async (tx) => {
      await tx.execute(`SET LOCAL TimeZone = 'Asia/Kolkata'`)
      const [row] = await tx.query<{ value: Date }>(`SELECT timestamptz '2026-11-23 04:30:00Z' AS value`)
      return row?.value
    })
    expect(value).toEqual(new Date('2026-11-23T04:30:00Z'))
  })

  test('as they were sent', async () => {
    const sent = [[1n, 2n], new Date('2026-11-23T04:30:00.123Z'), ['it\'s "so"', '\\', ''], Buffer.from('é'), 0.1, 12n, null]
    const [row] = await stage.database.query(
      'SELECT $1::bigint[] AS a, $2::timestamptz AS b, $3::text[] AS c, $4::bytea AS d, $5::float8 AS e, $6::bigint AS f, $7::text AS g',
      ...sent,
    )
    expect(Object.values(row ?? {})).toEqual(sent)
  })
})

test('times are correct where the database has another time zone and another form of dates', async () => {
  const database = new URL(stage.url).pathname.slice(1)
  await stage.database.execute(`ALTER DATABASE "${database}" SET TimeZone = 'Asia/Kolkata'`)
  await stage.database.execute(`ALTER DATABASE "${database}" SET DateStyle = 'SQL, DMY'`)
  const other = openDatabase({ findVocabulary, url: stage.url, connections: 1 })
  try {
    const stoppedAt = new Date('2026-11-23T04:30:00.123Z')
    await other.prisma.seller.create({ data: { sellerId: 'a', state: 'stopped', stoppedAt } })
    const sql = `SELECT stopped_at AS "stoppedAt" FROM tallyman.sellers WHERE stopped_at = '2026-11-23T04:30:00.123Z'`
    expect(await other.query(sql)).toEqual([{ stoppedAt }])
    expect(await other.prisma.seller.findMany({ where: { stoppedAt }, select: { stoppedAt: true } })).toEqual([{ stoppedAt }])
  } finally {
    await other.close()
  }
})

describe('typed queries within a transaction', () => {
  test('see what it has written, and stay with it', async () => {
    const work = stage.database.transaction(async (tx) => {
      await addSeller(tx, 'a')
      expect(await tx.prisma.seller.findMany({ select: { sellerId: true } })).toEqual([{ sellerId: 'a' }])
      await tx.prisma.seller.create({ data: { sellerId: 'b', state: 'active' } })
      expect(await tx.query('SELECT seller_id FROM tallyman.sellers ORDER BY 1')).toEqual([
        { seller_id: 'a' },
        { seller_id: 'b' },
      ])
      expect(await sellers()).toEqual([])
      throw new Error('undone')
    })
    await expect(work).rejects.toThrow('undone')
    expect(await sellers()).toEqual([])
    await stage.database.transaction(async (tx) => {
      await tx.prisma.seller.create({ data: { sellerId: 'c', state: 'active' } })
    })
    expect(await sellers()).toEqual(['c'])
  })

  test('that fail undo all of it, and the connection is as good as new', async () => {
    for (const _ of [1, 2, 3]) {
      const work = stage.database.transaction(async (tx) => {
        await addSeller(tx, 'a')
        await tx.prisma.seller.create({ data: { sellerId: 'a', state: 'active' } })
      })
      await expect(work).rejects.toMatchObject({ code: 'P2002' })
    }
    expect(await sellers()).toEqual([])
  })

  test('that outlast their transaction are undone with it, and ask nothing more', async () => {
    await stage.database.transaction((tx) => addSeller(tx, 'a'))
    const written = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    let second: unknown = null
    const long = stage.database.transaction(
      async (tx) => {
        await tx.prisma.seller.updateMany({ data: { resumes: 7 } })
        written.resolve()
        await over.promise
        second = await thrownBy(tx.prisma.seller.updateMany({ data: { resumes: 8 } }))
      },
      { timeoutMs: 300 },
    )
    const outcome = thrownBy(long)
    await written.promise
    // It waits for the row, which is free once the time of the other is over.
    await stage.database.prisma.seller.updateMany({ where: { sellerId: 'a' }, data: { stoppedReason: 'told' } })
    over.resolve()
    expect(await outcome).toMatchObject({ code: '25P04' })
    expect(second).toMatchObject({ code: '25P04' })
    expect(await stage.database.prisma.seller.findMany({ select: { resumes: true } })).toEqual([{ resumes: 0 }])
  })

  test('take no other connection, however many transactions are open', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(
      ids.map((sellerId) =>
        stage.database.transaction(async (tx) => {
          await addSeller(tx, sellerId)
          await tx.prisma.seller.update({ where: { sellerId }, data: { resumes: 7 } })
        }),
      ),
    )
    expect(await stage.database.prisma.seller.count({ where: { resumes: 7 } })).toBe(ids.length)
  })
})

describe('a transaction', () => {
  test('takes nothing after its end', async () => {
    let late: Transaction | null = null
    await stage.database.transaction(async (tx) => {
      late = tx
      await addSeller(tx, 'a')
    })
    const tx = late as Transaction | null
    if (tx === null) throw new Error('there was no transaction')
    for (const asked of [tx.query('SELECT 1'), tx.execute('DELETE FROM tallyman.sellers'), tx.prisma.seller.deleteMany()]) {
      await expect(asked).rejects.toThrow('this transaction has ended')
    }
    expect(await sellers()).toEqual(['a'])
  })

  test('whose statement failed unnoticed reports it, and has changed nothing', async () => {
    const work = stage.database.transaction(async (tx) => {
      await addSeller(tx, 'a')
      await tx.query('SELECT 1 / 0').catch(() => undefined)
    })
    await expect(work).rejects.toThrow('nothing was committed')
    expect(await sellers()).toEqual([])
  })

  test('that takes too long is undone while its work goes on, and frees what it has locked', async () => {
    const written = Promise.withResolvers<void>()
    const goesOn = Promise.withResolvers<void>()
    const long = thrownBy(
      stage.database.transaction(
        async (tx) => {
          await addSeller(tx, 'a')
          written.resolve()
          await goesOn.promise
          await addSeller(tx, 'b')
        },
        { timeoutMs: 500 },
      ),
    )
    await written.promise
    // The same key: it waits for the first to end.
    await stage.database.transaction((tx) => addSeller(tx, 'a'))
    goesOn.resolve()
    const error = await long
    expect(isDatabaseUnavailable(error), String(error)).toBe(true)
    expect(await sellers()).toEqual(['a'])
  })

  test('gives its connection back once its time is over, though its work goes on', async () => {
    const database = openDatabase({ findVocabulary, url: stage.url, connections: 1 })
    try {
      const goesOn = Promise.withResolvers<void>()
      const long = database.transaction(
        async (tx) => {
          await tx.query('SELECT 1')
          await goesOn.promise
          return tx.query('SELECT 2')
        },
        { timeoutMs: 50 },
      )
      const outcome = thrownBy(long)
      expect(await database.transaction((tx) => tx.query('SELECT 3 AS three'))).toEqual([{ three: 3 }])
      goesOn.resolve()
      expect(await outcome).toMatchObject({ code: '25P04' })
      expect(await database.query('SELECT 4 AS four')).toEqual([{ four: 4 }])
    } finally {
      await database.close()
    }
  })

  test('reports what failed first, not what failed after it', async () => {
    const failing = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${code}'; END $$`
    const sent = stage.database.transaction(async (tx) => {
      tx.send(failing('40P01'))
      return tx.query('SELECT 2')
    })
    await expect(sent).rejects.toMatchObject({ code: '40P01' })
    const asked = stage.database.transaction((tx) =>
      runPipelined(
        tx,
        async () => {
          await tx.query('SELECT 1')
          return tx.query('SELECT 2')
        },
        () => tx.execute(failing('55P03')),
      ),
    )
    expect(isDatabaseUnavailable(await thrownBy(asked))).toBe(true)
    const typed = stage.database.transaction(async (tx) => {
      await addSeller(tx, 'a')
      await Promise.all([tx.prisma.seller.create({ data: { sellerId: 'a', state: 'active' } }), tx.query('SELECT 2')])
    })
    expect(await thrownBy(typed)).not.toMatchObject({ code: '25P02' })
  })

  test('sends concurrent statements in their order', async () => {
    const answers = await stage.database.transaction(async (tx) =>
      Promise.all([
        addSeller(tx, 'a'),
        tx.query('SELECT seller_id FROM tallyman.sellers'),
        tx.execute('DELETE FROM tallyman.sellers'),
        tx.query('SELECT seller_id FROM tallyman.sellers'),
      ]),
    )
    expect(answers).toEqual([1, [{ seller_id: 'a' }], 1, []])
  })

  test('commits what was only sent, and nothing where that fails', async () => {
    const named = `INSERT INTO tallyman.sellers (seller_id, state) VALUES ($1, 'active')`
    await stage.database.transaction(async (tx) => tx.send(named, 'a'))
    expect(await sellers()).toEqual(['a'])
    const work = stage.database.transaction(async (tx) => {
      tx.send(named, 'b')
      tx.send(named, 'a')
      tx.send(named, 'c')
      tx.record({ sellerId: 'a', type: 'order.missing', data: {} })
    })
    await expect(work).rejects.toMatchObject({ name: 'StatementFailed', code: '23505' })
    expect(await sellers()).toEqual(['a'])
    expect(await (await numbered(stage.database)).prisma.change.count()).toBe(0)
    const thrown = stage.database.transaction(async (tx) => {
      tx.send(named, 'a')
      throw new Error('undone')
    })
    await expect(thrown).rejects.toThrow('undone')
    await stage.database.transaction(async (tx) => tx.send(named, 'd'))
    expect(await sellers()).toEqual(['a', 'd'])
  })

  test('that begins with a lock asks and commits like those that do not', async () => {
    const options = { locksFirst: true }
    const answer = stage.database.transaction(async (tx) => {
      const [row] = await tx.query<{ one: number }>('SELECT 1 AS one')
      await addSeller(tx, 'a')
      return row?.one
    }, options)
    expect(await answer).toBe(1)
    await stage.database.transaction(async () => undefined, options)
    await expect(stage.database.transaction((tx) => tx.query('SELECT 1 / 0'), options)).rejects.toMatchObject({ code: '22012' })
    expect(await sellers()).toEqual(['a'])
  })
})

describe('a statement that a connection has prepared', () => {
  const sql = prepared('SELECT value FROM changing')
  const ask = (tx: Transaction): Promise<unknown> => tx.query(sql)
  const send = async (tx: Transaction): Promise<void> => tx.send(sql)
  const changeType = (database: Database) => database.execute('ALTER TABLE changing ALTER COLUMN value TYPE bigint')
  // As a pooler does that hands out another session.
  const forget = (database: Database) => database.transaction((tx) => tx.execute('DEALLOCATE ALL'))

  test.each([
    ['whose answer has another type now', changeType, '0A000', ask],
    ['whose answer has another type now, and is not waited for', changeType, '0A000', send],
    ['that the server no longer knows', forget, '26000', ask],
  ])('and %s fails once', async (_name, change, code, work) => {
    const database = openDatabase({ findVocabulary, url: stage.url, connections: 1 })
    try {
      await database.execute('CREATE TABLE changing (value int)')
      await database.transaction(work)
      await change(database)
      await expect(database.transaction(work)).rejects.toMatchObject({ name: 'StatementFailed', code })
      await database.transaction(work)
    } finally {
      await database.close()
    }
  })

  test('and that fails unnoticed, since its work has failed meanwhile, fails once', async () => {
    const database = openDatabase({ findVocabulary, url: stage.url, connections: 1 })
    try {
      await database.execute('CREATE TABLE changing (value int)')
      await database.transaction(ask)
      await changeType(database)
      const work = database.transaction(async (tx) => {
        tx.send(sql)
        throw new Error('undone')
      })
      await expect(work).rejects.toThrow('undone')
      await database.transaction(ask)
    } finally {
      await database.close()
    }
  })

  test('does not cost the connection where it fails by itself', async () => {
    const pid = prepared('SELECT pg_backend_pid() AS pid, 1 / $1::int AS quotient')
    const database = openDatabase({ findVocabulary, url: stage.url, connections: 1 })
    const ofSession = (divisor: number) => database.transaction((tx) => tx.query<{ pid: number }>(pid, divisor))
    try {
      const [before] = await ofSession(1)
      await expect(ofSession(0)).rejects.toMatchObject({ code: '22012' })
      expect(await ofSession(1)).toEqual([before])
    } finally {
      await database.close()
    }
  })
})

test('an error of a statement quotes nothing of the row', async () => {
  const named = (name: string) =>
    stage.database.execute(
      `INSERT INTO tallyman.sellers (seller_id, state, stopped_reason) VALUES ('a', $1, 'Ada Lovelace')`,
      name,
    )
  await named('active')
  for (const error of [await thrownBy(named('active')), await thrownBy(named('nothing'))]) {
    expect(inspect(error, { depth: 5 })).not.toContain('Lovelace')
    expect(error).toMatchObject({ name: 'StatementFailed' })
  }
})
