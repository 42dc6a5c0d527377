import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import {
  addCalls,
  computeDailyFigures,
  readLastComputation,
  readTrends,
  recordLags,
} from '../../src/store/trends/daily-figures.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'

let postgres: TestPostgres
let database: Database

beforeAll(async () => {
  postgres = await startTestPostgres()
  const url = await postgres.database()
  await migrate(url)
  database = openDatabase({ findVocabulary, url })
  // Two sellers; each has an order of three days ago that was shipped on the next day, one of them late, and one of 40 days ago.
  await database.execute(
    `INSERT INTO warehouse.orders (seller_id, purchase_order_id, order_date, estimated_ship_date, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT s, s || d, now() - make_interval(days => d), now() - make_interval(days => d) + make_interval(hours => CASE s WHEN 's-1' THEN 36 ELSE 12 END),
       false, '', '{}', now(), now(), now()
     FROM unnest(ARRAY['s-1', 's-2']) AS s, unnest(ARRAY[3, 40]) AS d`,
  )
  await database.execute(
    `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled, refunded,
       refunded_amount, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at, refunds)
     SELECT seller_id, purchase_order_id, '1', 0, 'TEA', 3, 3, 3, 0, 1, 0, '[]', '[]', false, '{}', now(), now(),
       jsonb_build_array(jsonb_build_object('units', 1, 'amount', '5.00', 'tax', '0', 'reason', 'x', 'refundedAt', to_json(order_date + interval '2 days') #>> '{}'))
     FROM warehouse.orders`,
  )
  await database.execute(
    `INSERT INTO warehouse.shipments (seller_id, purchase_order_id, line_number, position, shipped_at, quantity, shown_quantity, first_seen_at, changed_at)
     SELECT seller_id, purchase_order_id, '1', 0, order_date + interval '24 hours', 3, 3, now(), now() FROM warehouse.orders`,
  )
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
})

const read = async (days: number, sellers: readonly string[] | null, figure: string) => {
  const { trends } = await readTrends(database, days, sellers)
  return trends.filter((trend) => trend.figure === figure)
}
const known = (values: readonly (string | null)[] = []): readonly string[] =>
  values.flatMap((value) => (value === null ? [] : [value]))

test('figures are computed by day, and combined over sellers: sums are added, means are weighted', async () => {
  expect(await readLastComputation(database)).toBe(null)
  await computeDailyFigures(database, 190)
  expect(await readLastComputation(database)).toMatchObject({ at: expect.any(Date), tookMs: expect.any(Number) })
  const [orders] = await read(30, null, 'orders')
  expect(orders?.values.at(-4)).toBe('2.0000')
  expect(orders?.values.filter((value) => Number(value) > 0)).toHaveLength(1)
  expect(orders?.previous.filter((value) => Number(value) > 0)).toEqual(['2.0000'])
  const [onTime] = await read(7, null, 'on-time')
  expect(known(onTime?.values)).toEqual(['0.5000'])
  const [ofOne] = await read(7, ['s-1'], 'on-time')
  expect(known(ofOne?.values)).toEqual(['1.0000'])
  const [hours] = await read(7, null, 'hours-to-ship')
  expect(known(hours?.values)).toEqual(['24.0000'])
  const [refunds] = await read(7, null, 'refunds')
  expect(known(refunds?.values).filter((value) => Number(value) > 0)).toEqual(['2.0000'])
})

test('to compute again changes nothing', async () => {
  await computeDailyFigures(database, 2)
  const [orders] = await read(30, null, 'orders')
  expect(orders?.values.at(-4)).toBe('2.0000')
})

test('the largest lag of the day remains, and calls are added', async () => {
  await recordLags(database, [{ resource: 'orders', seconds: 40 }])
  await recordLags(database, [{ resource: 'orders', seconds: 9 }])
  const [lag] = await read(7, null, 'lag')
  expect([lag?.part, lag?.values.at(-1)]).toEqual(['orders', '40.0000'])
  const calls = (count: number) => [
    { sellerId: 's-1', figure: 'calls', count } as const,
    { sellerId: 's-1', figure: 'calls-refused', count: 1 } as const,
  ]
  await addCalls(database, calls(3))
  await addCalls(database, calls(4))
  const [sum] = await read(7, ['s-1'], 'calls')
  expect(sum?.values.at(-1)).toBe('7.0000')
  const [refused] = await read(7, ['s-2'], 'calls-refused')
  expect(known(refused?.values)).toEqual([])
  await addCalls(database, [{ sellerId: 's-2', figure: 'calls', count: 1 }])
  const [none] = await read(7, ['s-2'], 'calls-refused')
  expect(known(none?.values)).toEqual(['0'])
})
