import { beforeEach, expect, test } from 'vitest'
import { readOpenCommands } from '../../src/store/commands/open-commands.ts'
import type { DeadlineRules } from '../../src/store/orders/deadlines.ts'
import { readOrdersWithoutCommand } from '../../src/store/orders/order-deadlines.ts'
import { readOpenBackfills, requestWindows } from '../../src/store/sync/sync-states.ts'
import { withDatabase } from '../support/database.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'

const stage = withDatabase({ each: 'test' })
const now = new Date('2026-03-10T12:00:00Z')
const at = (hour: number): Date => new Date(now.getTime() + hour * 3_600_000)
const rules: DeadlineRules = {
  ...{ sellerId: 's-1', now, acknowledgeWithinHours: 4, cancelsAfterDays: null },
  fulfilledByMarketplace: 'WFSFulfilled',
}

const command = (id: string, kind: string, { seller = 's-1', state = 'pending', order = id, actBy = null as Date | null } = {}) =>
  stage.database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, act_by) VALUES ($1, $2, $3, $4, $5, '{}', $6)`,
    ...[id, seller, order, kind, state, actBy?.toISOString() ?? null],
  )

const order = (id: string, orderDate: Date, estimatedShipDate: Date | null) =>
  seedOrder(stage.database, 's-1', {
    ...purchaseOrder(id, [orderLine('1', 'SKU-1', 2, { acknowledged: 0 })]),
    orderDate,
    estimatedShipDate,
  })

beforeEach(async () => {
  await command('late', 'ship', { actBy: at(1) })
  await command('later', 'ship', { actBy: at(2) })
  await command('whenever', 'refund')
  await command('held', 'ship', { state: 'held', actBy: at(1) })
  await command('done', 'ship', { state: 'confirmed' })
  await command('of another', 'ship', { seller: 's-2' })
})

test('open commands are read with their lines, those that are wanted earliest before the others are left out', async () => {
  await stage.database.execute(
    `INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity)
     SELECT 'late', n::text, 's-1', 'late', 1 FROM generate_series(1, 2) n`,
  )
  const all = await readOpenCommands(stage.database, ['s-1'], 10)
  expect(all.count).toBe(3)
  expect(all.commands.map(({ id }) => id)).toEqual(['late', 'later', 'whenever'])
  expect(all.commands[0]).toMatchObject({ kind: 'ship', state: 'pending', lines: ['1', '2'], actBy: at(1), previousId: null })
  const some = await readOpenCommands(stage.database, ['s-1'], 2)
  expect([some.count, some.commands.map(({ id }) => id)]).toEqual([3, ['late', 'later']])
})

test('commands that wait behind a held one are marked, and none before it', async () => {
  await command('before', 'acknowledge', { order: 'o' })
  await command('held one', 'ship', { order: 'o', state: 'held' })
  await command('behind', 'ship', { order: 'o' })
  await command('behind too', 'refund', { order: 'o' })
  await command('same order', 'ship', { order: 'o', seller: 's-2' })
  const { commands } = await readOpenCommands(stage.database, ['s-1', 's-2'], 10)
  expect(commands.filter(({ isBehindHeld }) => isBehindHeld).map(({ id }) => id)).toEqual(['behind', 'behind too'])
  const followers = commands.filter(({ previousId }) => previousId !== null)
  expect(followers.map(({ id, previousId }) => [id, previousId])).toEqual([
    ['behind', 'before'],
    ['behind too', 'behind'],
  ])
})

test('of backfills those are read that have something left, with their windows', async () => {
  const key = { sellerId: 's-1', resource: 'orders', stream: 'backfill:20260101T000000Z:20260131T000000Z' }
  const window = {
    from: new Date('2026-01-01T00:00:00Z'),
    to: new Date('2026-01-31T00:00:00Z'),
    part: null,
    sliceMs: 864_000_000,
  }
  await requestWindows(stage.database, key, [window])
  await requestWindows(stage.database, { ...key, stream: 'reread' }, [window])
  await requestWindows(stage.database, { ...key, sellerId: 's-2' }, [window])
  await requestWindows(stage.database, { ...key, stream: 'backfill:at its end' }, [])
  await stage.database.execute(
    `UPDATE tallyman.sync_states SET totals = totals || '{"seen": 700, "windowsDone": 2, "windowTotal": 300, "windowSeen": 200}'
     WHERE seller_id = 's-1' AND stream = $1`,
    key.stream,
  )
  expect(await readOpenBackfills(stage.database, ['s-1'])).toEqual([
    { ...key, windows: [window], windowsDone: 2, seen: 700, windowSeen: 200, windowTotal: 300 },
  ])
})

test('orders whose deadline comes and of which no command is open wait for the ERP', async () => {
  await order('soon', at(-1), at(5))
  await order('far', at(30), at(90))
  await order('shipped', at(-2), at(6))
  await command('of shipped', 'ship', { order: 'shipped' })
  await order('held back', at(-2), at(7))
  await command('of held back', 'cancel', { order: 'held back', state: 'held' })
  await order('refused', at(-2), at(8))
  await command('of refused', 'ship', { order: 'refused', state: 'rejected' })
  const { orders, count } = await readOrdersWithoutCommand(stage.database, [rules], 24, 10)
  expect(orders).toEqual([
    { sellerId: 's-1', purchaseOrderId: 'refused', wants: 'acknowledge', by: at(2) },
    { sellerId: 's-1', purchaseOrderId: 'shipped', wants: 'acknowledge', by: at(2) },
    { sellerId: 's-1', purchaseOrderId: 'soon', wants: 'acknowledge', by: at(3) },
    { sellerId: 's-1', purchaseOrderId: 'soon', wants: 'ship', by: at(5) },
    { sellerId: 's-1', purchaseOrderId: 'refused', wants: 'ship', by: at(8) },
  ])
  expect(count).toBe(5)
  const few = await readOrdersWithoutCommand(stage.database, [rules], 24, 1)
  expect([few.orders.length, few.count]).toEqual([1, 5])
})
