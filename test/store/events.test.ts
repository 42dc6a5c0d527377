import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEvent } from '../../src/domain/events/event-reading.ts'
import { openDatabase } from '../../src/store/db/database.ts'
import { isDatabaseUnavailable, retryOnDeadlock } from '../../src/store/db/errors.ts'
import { listEvents } from '../../src/store/events/event-queries.ts'
import {
  findDueEvents,
  insertEvents,
  lockWaitingEvents,
  postponeEvent,
  readStoredEvent,
  settleEvent,
} from '../../src/store/events/events.ts'
import { withDatabase } from '../support/database.ts'
import { findVocabulary } from '../support/vocabulary.ts'

const stage = withDatabase({ each: 'test' })

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
  const insert = () => stage.database.transaction((tx) => insertEvents(tx, [row('1', 'accepted')]))
  expect([await insert(), await insert()]).toEqual([[true], [false]])
  expect(await readStoredEvent(stage.database, { source: 'urn:erp', id: '1' })).toMatchObject({
    ...row('1', 'accepted'),
    sequence: expect.any(BigInt),
    commands: [],
    problem: null,
    receivedAt: expect.any(Date),
    processedAt: expect.any(Date),
  })
  expect(await readStoredEvent(stage.database, { source: 'urn:erp', id: '2' })).toBeNull()
})

test('waiting events come in their order, are put off, and are settled once', async () => {
  for (const id of ['b', 'a', 'c']) await stage.database.transaction((tx) => insertEvents(tx, [row(id)]))
  const due = async () => (await findDueEvents(stage.database, 10)).map(({ id }) => id)
  expect(await due()).toEqual(['b', 'a', 'c'])
  const settle = () =>
    stage.database.transaction((tx) =>
      settleEvent(tx, { source: 'urn:erp', id: 'a' }, { bodyHash: 'cd'.repeat(32), sellerId: null, problem: null }),
    )
  expect([await settle(), await settle()]).toEqual([true, false])
  expect(await due()).toEqual(['b', 'c'])
  const putOff = (dueInMs: number) =>
    postponeEvent(stage.database, { source: 'urn:erp', id: 'b' }, { reason: 'no route', sellerId: 's-2', dueInMs })
  await putOff(60_000)
  expect(await due()).toEqual(['c'])
  // Whose it is was fixed when it was taken.
  expect(await readStoredEvent(stage.database, { source: 'urn:erp', id: 'b' })).toMatchObject({
    waitsFor: 'no route',
    sellerId: 's-1',
  })
  await putOff(0)
  expect(await due()).toEqual(['c', 'b'])
  // Whoever reads the table by SQL must not find a reason to wait in what is decided.
  const b = { source: 'urn:erp', id: 'b' }
  await stage.database.transaction((tx) => settleEvent(tx, b, { bodyHash: null, sellerId: null, problem: null }))
  expect(await stage.database.query(`SELECT status, waits_for FROM tallyman.erp_event WHERE id = 'b'`)).toEqual([
    { status: 'accepted', waits_for: null },
  ])
})

test('a row is due from its time on, although that is kept to the millisecond', async () => {
  await stage.database.transaction((tx) => insertEvents(tx, [row('1')]))
  // Half of these times are rounded up.
  for (let round = 0; round < 20; round += 1) {
    const due = await stage.database.transaction(async (tx) => {
      await tx.execute('UPDATE tallyman.erp_event SET due_at = now()')
      return findDueEvents(tx, 10)
    })
    expect(due).toMatchObject([{ id: '1' }])
  }
})

test('long-waiting rows do not block later ones', async () => {
  const insert = (from: number, to: number) =>
    stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) SELECT 'urn:erp', 'e-' || n, 'erp.order.accepted', '{}' FROM generate_series($1::int, $2::int) n`,
      from,
      to,
    )
  await insert(1, 50)
  for (const key of await findDueEvents(stage.database, 50))
    await postponeEvent(stage.database, key, { reason: 'x', sellerId: null, dueInMs: 60_000 })
  await insert(51, 51)
  expect(await findDueEvents(stage.database, 50)).toMatchObject([{ id: 'e-51' }])
})

test('Postgres and the daemon read a purchase order id alike, however it is written', async () => {
  const space = fc.constantFrom(
    ...'\t\n\v\f\r \u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
    '\u0085',
    '\u180e',
    '\u200b',
  )
  const written = fc.oneof(
    fc
      .tuple(
        fc.array(space),
        fc.oneof(fc.constantFrom('1', '', '0', '1.0', 'PO\u00a07', 'ü'), fc.string({ unit: 'grapheme' })),
        fc.array(space),
      )
      .map(([before, text, after]) => JSON.stringify(`${before.join('')}${text.replaceAll('\u0000', '')}${after.join('')}`)),
    fc.constantFrom(
      '1',
      '1.0',
      '1e3',
      '0',
      '-1',
      '-0',
      '1.5',
      '9007199254740991',
      '9007199254740992',
      '1e400',
      '1e-400',
      '0.1e1',
      'null',
      'true',
      '[]',
      '{}',
    ),
    fc.integer().map(String),
    fc.maxSafeInteger().map((id) => `${id}.000`),
  )
  const asPostgres = async (json: string) => {
    const [read] = await stage.database.query<{ id: string | null; data: string }>(
      `SELECT tallyman.normal_id($1::jsonb) AS id, $1::jsonb::text AS data`,
      json,
    )
    return read
  }
  await fc.assert(
    fc.asyncProperty(written, async (json) => {
      const read = await asPostgres(json)
      const data: unknown = { purchaseOrderId: JSON.parse(read?.data ?? '') }
      expect(read?.id ?? null).toBe(readEvent({ type: 'erp.order.accepted', data }).address?.purchaseOrderId ?? null)
    }),
    { numRuns: 500 },
  )
  expect(await asPostgres('"\\u00a0 1\\n\\t"')).toMatchObject({ id: '1' })
  expect(await asPostgres('1.0')).toMatchObject({ id: '1' })
  // JavaScript reads these as another number; the difference is what ends such a row.
  expect(await asPostgres('9007199254740990.6')).toMatchObject({ id: null })
})

test('waiting rows of an order are found however their id is written', async () => {
  const ids = ['"7"', '" 7\\n"', '"\\u00a07\\t"', '7', '7.0', '"70"', '"07"']
  for (const [place, id] of ids.entries()) {
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('urn:erp', $1, 'erp.order.accepted', $2::jsonb)`,
      `e-${place}`,
      `{"purchaseOrderId": ${id}}`,
    )
  }
  const locked = await stage.database.transaction((tx) => lockWaitingEvents(tx, '7'))
  expect(locked.map(({ id }) => id)).toEqual(['e-0', 'e-1', 'e-2', 'e-3', 'e-4'])
})

test('the inbox rejects keys that no job can carry, and earlier rows with such keys can still end', async () => {
  const insert = (values: Readonly<Record<string, string>>) => {
    const given = { source: `'urn:erp'`, id: `'e-1'`, type: `'erp.order.accepted'`, data: `'{}'`, ...values }
    return stage.database.execute(
      `INSERT INTO tallyman.erp_event (${Object.keys(given).join(', ')}) VALUES (${Object.values(given).join(', ')})`,
    )
  }
  const wrong: Readonly<Record<string, string>>[] = [
    { id: `''` },
    { source: `''` },
    { id: `'..'` },
    { source: `'.'` },
    { id: `repeat('x', 1001)` },
    { source: `repeat('ü', 501)` },
    { type: `''` },
    { type: `repeat('x', 257)` },
    { received_at: `'infinity'` },
    { received_at: `now() + interval '2 days'` },
    { sequence: '0' },
    { data: `(SELECT jsonb_agg(md5(n::text)) FROM generate_series(1, 500000) n)` },
  ]
  for (const values of wrong) await expect(insert(values), JSON.stringify(values)).rejects.toThrow(/_fits|_takes_|_not_dots/)
  await insert({ id: `repeat('x', 1000)`, source: `repeat('ü', 500)` })
  // What is stored and waits no more is not looked at.
  await insert({ id: `''`, status: `'rejected'` })
})

test('events are listed newest first, by state and seller, with their orders and reasons', async () => {
  for (const id of ['1', '2', '3']) await stage.database.transaction((tx) => insertEvents(tx, [row(id)]))
  await stage.database.transaction((tx) => insertEvents(tx, [row('4', 'accepted')]))
  await stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('urn:erp', '5', 'x', '{"sellerId": " s-2 ", "purchaseOrderId": 8.0}')`,
  )
  await postponeEvent(stage.database, { source: 'urn:erp', id: '2' }, { reason: 'no route', sellerId: null, dueInMs: 0 })
  const first = await listEvents(stage.database, { state: 'received', sellerId: null }, null, 2)
  expect(first.items).toMatchObject([
    { id: '5', sellerId: 's-2', purchaseOrderId: '8', state: 'received', waitsFor: null, commands: [] },
    { id: '3', sellerId: 's-1', purchaseOrderId: '1' },
  ])
  const rest = await listEvents(stage.database, { state: 'received', sellerId: null }, first.next, 2)
  expect(rest).toMatchObject({ items: [{ id: '2', waitsFor: 'no route' }, { id: '1' }], next: null })
  const of = async (filter: Parameters<typeof listEvents>[1]) =>
    (await listEvents(stage.database, filter, null, 10)).items.map(({ id }) => id)
  expect(await of({ state: 'accepted', sellerId: null })).toEqual(['4'])
  expect(await of({ state: null, sellerId: 's-2' })).toEqual(['5'])
  expect(await of({ state: 'rejected', sellerId: null })).toEqual([])
})

test('a transaction that Postgres ends for a deadlock runs again', async () => {
  // Each inserts its first event, and only when both have, the one of the other.
  let entered = 0
  const both = Promise.withResolvers<void>()
  let runs = 0
  const cross = (first: string, second: string) =>
    retryOnDeadlock(() =>
      stage.database.transaction(async (tx) => {
        runs += 1
        const mine = (await insertEvents(tx, [row(first)]))[0]
        entered += 1
        if (entered === 2) both.resolve()
        await both.promise
        return [mine, (await insertEvents(tx, [row(second)]))[0]]
      }),
    )
  const results = await Promise.all([cross('x', 'y'), cross('y', 'x')])
  expect(runs).toBeGreaterThanOrEqual(3)
  expect(results.flat().filter(Boolean)).toHaveLength(2)
})

test('an unavailable database is distinguished from one that rejects', async () => {
  const refused = await stage.database.query('SELECT nothing').catch((error: unknown) => error)
  expect(isDatabaseUnavailable(refused)).toBe(false)
  const url = new URL(stage.url)
  url.port = '1'
  const nowhere = openDatabase({ findVocabulary, url: url.href })
  expect(isDatabaseUnavailable(await nowhere.query('SELECT 1 AS one').catch((error: unknown) => error))).toBe(true)
  expect(
    isDatabaseUnavailable(await nowhere.transaction((tx) => tx.query('SELECT 1 AS one')).catch((error: unknown) => error)),
  ).toBe(true)
  await nowhere.close()
  const ended = stage.database.query('SELECT pg_sleep(30)::text').catch((error: unknown) => error)
  await expect
    .poll(
      async () =>
        (
          await stage.database.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep%'`,
          )
        ).length,
    )
    .toBe(1)
  expect(isDatabaseUnavailable(await ended)).toBe(true)
})
