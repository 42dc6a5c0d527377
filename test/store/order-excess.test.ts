import { expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { storeOrders } from '../support/store.ts'
import { lineWith, orderWith, wireStatus } from './support/records.ts'

const stage = withDatabase({ connections: 2 })

test('units shipped and cancelled beyond those ordered are in order_lines.excess; those that fit are not', async () => {
  const record = orderWith('100', [
    lineWith('1', 3, [wireStatus('Shipped', 3), wireStatus('Cancelled', 2)]),
    lineWith('2', 3, [wireStatus('Shipped', 5)]),
    lineWith('3', 3, [wireStatus('Shipped', 2), wireStatus('Cancelled', 1)]),
    lineWith('4', 3, [wireStatus('Created', 3)]),
  ])
  await storeOrders(stage.database, { sellerId: 's', records: [record], observedAt: new Date() })
  const rows = await stage.database.query<{ line_number: string; excess: number }>(
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
