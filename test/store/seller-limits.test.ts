import { expect, test } from 'vitest'
import { makeWaitingEventsDue } from '../../src/store/events/events.ts'
import { findSellersWithChangedLimits, storeLimits } from '../../src/store/sellers/seller-limits.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })

test('sellers are named whose limits are others than those that are noted, or were until not long ago', async () => {
  const { database } = stage
  await database.execute(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ('a', 'active'), ('b', 'active')`)
  const [before, after] = [
    new Map([
      ['a', '1'],
      ['b', '1'],
    ]),
    new Map([
      ['a', '2'],
      ['b', '1'],
    ]),
  ]
  expect(await findSellersWithChangedLimits(database, before)).toEqual(['a', 'b'])
  await storeLimits(database, before)
  const longAgo = () => database.execute(`UPDATE tallyman.sellers SET limits_since = now() - interval '2 hours'`)
  await longAgo()
  expect(await findSellersWithChangedLimits(database, before)).toEqual([])
  expect(await findSellersWithChangedLimits(database, after)).toEqual(['a'])
  await storeLimits(database, after)
  // For the start of a process that is replaced a little later.
  expect(await findSellersWithChangedLimits(database, after)).toEqual(['a'])
  await longAgo()
  expect(await findSellersWithChangedLimits(database, after)).toEqual([])
})

test('events that wait are made due, and only of the sellers that were named', async () => {
  const plant = (id: string, sellerId: string, data: object, status: string) =>
    stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id, status, due_at)
       VALUES ('/erp', $1, 'erp.order.accepted', $2::jsonb, $3, $4, now() + interval '1 hour')`,
      id,
      JSON.stringify(data),
      sellerId,
      status,
    )
  await plant('waits', 'a', {}, 'received')
  await plant('decided', 'a', {}, 'accepted')
  await plant('of another', 'b', {}, 'received')
  await makeWaitingEventsDue(stage.database, ['a'])
  const due = await stage.database.query<{ id: string }>('SELECT id FROM tallyman.erp_event WHERE due_at <= now()')
  expect(due.map(({ id }) => id)).toEqual(['waits'])
})
