import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { insertEvent, readStoredEvent, receivedEvents, settleEvent } from '../../src/store/events.ts'
import { isDatabaseAway, retryOnDeadlock } from '../../src/store/faults.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'

let postgres: TestPostgres
let database: Database

beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(async () => {
  await postgres.stop()
})
beforeEach(async () => {
  database = openDatabase({ url: await postgres.database() })
  return () => database.close()
})

const row = (id: string, state: 'received' | 'accepted' = 'received') => ({
  source: 'urn:erp',
  id,
  type: 'erp.order.accepted',
  data: { purchaseOrderId: '1', note: 'ü"\\' },
  bodyHash: 'ab'.repeat(32),
  sellerId: 's-1',
  state,
})

test('an event is stored once and read back as it was', async () => {
  const insert = () => database.transaction((tx) => insertEvent(tx, row('1', 'accepted')))
  expect([await insert(), await insert()]).toEqual([true, false])
  expect(await readStoredEvent(database, { source: 'urn:erp', id: '1' })).toMatchObject({
    ...row('1', 'accepted'),
    sequence: expect.any(BigInt),
    commands: [],
    problem: null,
    receivedAt: expect.any(Date),
    processedAt: expect.any(Date),
  })
  expect(await readStoredEvent(database, { source: 'urn:erp', id: '2' })).toBeNull()
})

test('waiting events come in their order and are settled once', async () => {
  for (const id of ['b', 'a', 'c']) await database.transaction((tx) => insertEvent(tx, row(id)))
  const waiting = await receivedEvents(database, 0n, 10)
  expect(waiting.map(({ id }) => id)).toEqual(['b', 'a', 'c'])
  const settle = () =>
    database.transaction((tx) =>
      settleEvent(tx, { source: 'urn:erp', id: 'a' }, { bodyHash: 'cd'.repeat(32), sellerId: null, problem: null }),
    )
  expect([await settle(), await settle()]).toEqual([true, false])
  expect((await receivedEvents(database, waiting[0]?.sequence ?? 0n, 10)).map(({ id }) => id)).toEqual(['c'])
})

test('a transaction that Postgres ends for a deadlock runs again', async () => {
  // Each inserts its first event, and only when both have, the one of the other.
  let entered = 0
  const both = Promise.withResolvers<void>()
  let runs = 0
  const cross = (first: string, second: string) =>
    retryOnDeadlock(() =>
      database.transaction(async (tx) => {
        runs += 1
        const mine = await insertEvent(tx, row(first))
        entered += 1
        if (entered === 2) both.resolve()
        await both.promise
        return [mine, await insertEvent(tx, row(second))]
      }),
    )
  const results = await Promise.all([cross('x', 'y'), cross('y', 'x')])
  expect(runs).toBeGreaterThanOrEqual(3)
  expect(results.flat().filter(Boolean)).toHaveLength(2)
})

test('a database that is away is told apart from one that refuses', async () => {
  const refused = await database.query('SELECT nothing').catch((error: unknown) => error)
  expect(isDatabaseAway(refused)).toBe(false)
  const url = new URL(postgres.url)
  url.port = '1'
  const nowhere = openDatabase({ url: url.href })
  expect(isDatabaseAway(await nowhere.query('SELECT 1 AS one').catch((error: unknown) => error))).toBe(true)
  expect(isDatabaseAway(await nowhere.transaction((tx) => tx.query('SELECT 1 AS one')).catch((error: unknown) => error))).toBe(
    true,
  )
  await nowhere.close()
  const ended = database.query('SELECT pg_sleep(30)::text').catch((error: unknown) => error)
  await expect
    .poll(
      async () =>
        (await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'`))
          .length,
    )
    .toBe(1)
  expect(isDatabaseAway(await ended)).toBe(true)
})
