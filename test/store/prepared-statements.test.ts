import { expect, test } from 'vitest'
import { findHeadCommand, readCommand } from '../../src/store/commands/commands.ts'
import { readOrders } from '../../src/store/orders/stored-orders.ts'
import { withDatabase } from '../support/database.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'

const stage = withDatabase({ connections: 1 })

test('a statement with one request at a time is not planned each time', async () => {
  const orders = Array.from({ length: 40 }, (_, index) => purchaseOrder(`${index}`, [orderLine('1', 'A', 1)]))
  for (const order of orders) await seedOrder(stage.database, 's-1', order)
  await stage.database.query('ANALYZE')
  const times = 20
  for (let time = 0; time < times; time += 1) {
    expect((await readOrders(stage.database, 's-1', [`${time}`])).size).toBe(1)
    expect(await readCommand(stage.database, `${time}`)).toBeNull()
    expect(await findHeadCommand(stage.database, 's-1', `${time}`)).toBeNull()
  }
  const asked = await stage.database.query<{ statement: string; custom: number; generic: number }>(
    `SELECT statement, custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements
     WHERE name LIKE 'tallyman%' AND custom_plans + generic_plans = ${times}`,
  )
  expect(asked).toHaveLength(3)
  // Postgres tries five times with what it is given, and then decides.
  for (const { statement, ...plans } of asked) expect(plans, statement).toEqual({ custom: 5, generic: times - 5 })
})
