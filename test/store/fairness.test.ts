import { expect, test } from 'vitest'
import { insertCommands, postponeCommand } from '../../src/store/commands/command-steps.ts'
import { filterWithinShare, findDueCommands, readCommand } from '../../src/store/commands/commands.ts'
import { findDueEvents } from '../../src/store/events/events.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { withDatabase } from '../support/database.ts'
import { purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'

const stage = withDatabase({ each: 'test' })

const serve = (...sellerIds: readonly string[]) =>
  recordSellers(
    stage.database,
    sellerIds.map((sellerId) => ({ sellerId, credentialsFingerprint: 'f' })),
  )

/** So many due commands of a seller, each of an order of its own: `seller-1`, `seller-2`, … */
const plant = (sellerId: string, kind: string, count: number, from = 1) =>
  stage.database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, next_action_at)
     SELECT $1 || '-' || $2 || '-' || n, $1, $2 || '-' || n, $2, 'pending', '{}', now() - interval '1 hour'
     FROM generate_series($3::int, $4::int) n`,
    sellerId,
    kind,
    from,
    from + count - 1,
  )

const findSellers = (ids: readonly string[]): readonly string[] => ids.map((id) => id.split('-')[0] ?? '')
const countExpression = (ids: readonly string[], start: string): number => ids.filter((id) => id.startsWith(start)).length

const inbox = (sellerId: string | null, count: number) =>
  stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data)
     SELECT coalesce($1, 'nobody'), n::text, 'erp.order.accepted', jsonb_strip_nulls(jsonb_build_object('sellerId', $1::text, 'purchaseOrderId', n))
     FROM generate_series(1, $2::int) n`,
    sellerId,
    count,
  )

test('a seller with thousands of due commands keeps those of no other from being derived', async () => {
  await serve('a', 'b', 'c')
  await plant('a', 'acknowledge', 3_000)
  await plant('b', 'acknowledge', 1)
  await plant('c', 'acknowledge', 2)
  const due = await findDueCommands(stage.database, 300)
  expect(findSellers(due.slice(0, 5))).toEqual(expect.arrayContaining(['a', 'b', 'c']))
  expect([countExpression(due, 'b'), countExpression(due, 'c')]).toEqual([1, 2])
  expect(countExpression(due, 'a')).toBe(100)
})

test('a seller alone has all of a derivation, up to its own bound', async () => {
  await serve('a')
  await plant('a', 'acknowledge', 1_000)
  expect(await findDueCommands(stage.database, 50)).toHaveLength(50)
  expect(await findDueCommands(stage.database, 10_000)).toHaveLength(200)
})

test('commands of one kind keep those of another kind of the same seller from nothing', async () => {
  await serve('a', 'b')
  await plant('a', 'acknowledge', 2_000)
  await plant('a', 'ship', 3)
  await plant('b', 'ship', 3)
  const due = await findDueCommands(stage.database, 30)
  expect([countExpression(due, 'a-acknowledge'), countExpression(due, 'a-ship'), countExpression(due, 'b-ship')]).toEqual([
    10, 3, 3,
  ])
  // Each place goes round the sellers, not round the kinds.
  expect([...findSellers(due.slice(0, 2))].sort()).toEqual(['a', 'b'])
})

test('within a seller what the marketplace wants earliest is derived first', async () => {
  await serve('s-1')
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute))
  const submit = async (purchaseOrderId: string, kind: 'acknowledge' | 'ship', date: Date | null) => {
    await seedOrder(stage.database, 's-1', {
      ...purchaseOrder(purchaseOrderId, []),
      orderDate: kind === 'acknowledge' ? date : at(0),
      estimatedShipDate: kind === 'ship' ? date : at(0),
    })
    const [id = ''] = await stage.database.transaction((tx) =>
      insertCommands(tx, {
        sellerId: 's-1',
        purchaseOrderId,
        event: null,
        commands: [kind === 'ship' ? { kind, payload: { parcels: [] } } : { kind, payload: {} }],
      }),
    )
    return id
  }
  const none = await submit('1', 'acknowledge', null)
  const late = await submit('2', 'acknowledge', at(30))
  const soon = await submit('3', 'acknowledge', at(10))
  expect(await findDueCommands(stage.database, 10)).toEqual([soon, late, none])
  const lateParcel = await submit('4', 'ship', at(40))
  const soonParcel = await submit('5', 'ship', at(20))
  const due = await findDueCommands(stage.database, 10)
  expect(due.filter((id) => id === lateParcel || id === soonParcel)).toEqual([soonParcel, lateParcel])
  const deadlines = await stage.database.query<{ act_by: Date | null }>('SELECT act_by FROM tallyman.commands ORDER BY sequence')
  // Four hours after the order for an acknowledgement, the ship date for a shipment.
  const four = 4 * 3_600_000
  expect(deadlines.map(({ act_by }) => act_by?.getTime() ?? null)).toEqual([
    null,
    at(30).getTime() + four,
    at(10).getTime() + four,
    at(40).getTime(),
    at(20).getTime(),
  ])
})

test('commands that wait for budget hold their places: those behind them are not derived before their turn', async () => {
  await serve('a', 'b')
  await plant('a', 'acknowledge', 1_000)
  await plant('b', 'acknowledge', 1)
  const first = await findDueCommands(stage.database, 40)
  expect(countExpression(first, 'a')).toBe(20)
  const ofA = first.filter((id) => id.startsWith('a'))
  for (const id of ofA) {
    const command = await readCommand(stage.database, id)
    if (command !== null) await postponeCommand(stage.database, command, { delayMs: 60_000, owner: 'test' })
  }
  expect(await findDueCommands(stage.database, 40)).toEqual(['b-acknowledge-1'])
  // One that cannot go on at all holds no place.
  await stage.database.execute(`UPDATE tallyman.commands SET troubled_since = now() WHERE id = $1`, ofA[0])
  expect(await findDueCommands(stage.database, 40)).toEqual(expect.arrayContaining(['a-acknowledge-21', 'b-acknowledge-1']))
})

test('a command is enqueued immediately only while it is within the share of its seller', async () => {
  await serve('a', 'b')
  await plant('a', 'acknowledge', 300)
  await plant('b', 'acknowledge', 1)
  const asked = ['a-acknowledge-1', 'a-acknowledge-200', 'a-acknowledge-201', 'a-acknowledge-300', 'b-acknowledge-1', 'unknown']
  expect([...(await filterWithinShare(stage.database, asked))].sort()).toEqual([
    'a-acknowledge-1',
    'a-acknowledge-200',
    'b-acknowledge-1',
  ])
  expect(await filterWithinShare(stage.database, [])).toEqual([])
})

test('a seller with hundreds of rows in the inbox keeps those of no other from being derived', async () => {
  await inbox('a', 520)
  await inbox('b', 1)
  await inbox(null, 2)
  const due = await findDueEvents(stage.database, 500)
  expect(due.filter(({ source }) => source === 'b')).toHaveLength(1)
  expect(due.filter(({ source }) => source === 'nobody')).toHaveLength(2)
  expect(
    due
      .slice(0, 3)
      .map(({ source }) => source)
      .sort(),
  ).toEqual(['a', 'b', 'nobody'])
  expect(due.filter(({ source }) => source === 'a').map(({ id }) => Number(id))).toEqual(
    Array.from({ length: 166 }, (_, n) => n + 1),
  )
})

test('more sellers than a derivation has places are derived all the same, each once', async () => {
  for (let seller = 1; seller <= 12; seller += 1) await inbox(`seller-${seller}`, 2)
  const due = await findDueEvents(stage.database, 5)
  expect(new Set(due.map(({ source }) => source)).size).toBe(12)
  expect(due).toHaveLength(12)
})
