import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { storeOrders } from '../../src/store/orders.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { lineWith, orderWith, wireStatus } from './support/records.ts'

let postgres: TestPostgres
let database: Database
beforeAll(async () => {
  postgres = await startTestPostgres()
  database = openDatabase({ url: await postgres.database(), connections: 2 })
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
})

test('units shipped and cancelled beyond those ordered stand in order_lines.excess; those that fit do not', async () => {
  const record = orderWith('100', [
    lineWith('1', 3, [wireStatus('Shipped', 3), wireStatus('Cancelled', 2)]),
    lineWith('2', 3, [wireStatus('Shipped', 5)]),
    lineWith('3', 3, [wireStatus('Shipped', 2), wireStatus('Cancelled', 1)]),
    lineWith('4', 3, [wireStatus('Created', 3)]),
  ])
  await storeOrders(database, { sellerId: 's', records: [record], observedAt: new Date() })
  const rows = await database.query<{ line_number: string; excess: number }>(
    'SELECT line_number, excess FROM warehouse.order_lines WHERE seller_id = $1 ORDER BY line_number',
    's',
  )
  expect(rows.map(({ line_number, excess }) => [line_number, excess])).toEqual([
    ['1', 2],
    ['2', 2],
    ['3', 0],
    ['4', 0],
  ])
})
