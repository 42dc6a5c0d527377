import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { OrderCommandContent } from '../../../src/domain/commands/command.ts'
import type { LineDecision } from '../../../src/domain/commands/decision.ts'
import { takeBaseline } from '../../../src/domain/commands/evidence.ts'
import { available } from '../../../src/domain/orders/units.ts'
import { decideCommand } from '../../../src/store/commands/command-decisions.ts'
import { readLedgers } from '../../../src/store/commands/command-ledgers.ts'
import { readCommandDetail } from '../../../src/store/commands/command-queries.ts'
import { readCommand } from '../../../src/store/commands/commands.ts'
import { storeOrder } from '../../../src/store/orders/orders.ts'
import { readOrder } from '../../../src/store/orders/stored-orders.ts'
import { lineWith, orderWith, wireStatus } from '../../store/support/records.ts'
import { acknowledgement, buildParcel, shipment, storeCommand } from '../../support/commands.ts'
import { withDatabase } from '../../support/database.ts'

const sellerId = 'seller'
const purchaseOrderId = '4800'
const stage = withDatabase({ each: 'test' })

beforeEach(async () => {
  const record = orderWith(purchaseOrderId, [
    lineWith('1', 3, [wireStatus('Acknowledged', 3)]),
    lineWith('2', 2, [wireStatus('Acknowledged', 2)]),
  ])
  await stage.database.transaction((tx) => storeOrder(tx, sellerId, new Date('2026-11-20T10:00:00Z'), record))
})

const bothParcels = shipment(buildParcel('T1', { '1': 2 }), buildParcel('T2', { '1': 1, '2': 2 }))

/** A held command whose one request may have been applied in part. */
const held = async (content: OrderCommandContent): Promise<string> => {
  const id = await storeCommand(stage.database, { sellerId, purchaseOrderId }, content)
  const order = await readOrder(stage.database, sellerId, purchaseOrderId)
  if (order === null) throw new Error('the order is not stored')
  await stage.database.execute(`UPDATE tallyman.commands SET state = 'held', attempts = 1 WHERE id = $1`, id)
  await stage.database.execute(
    `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, outcome)
     VALUES ($1, 1, $2, '{}', $3::jsonb, 'unknown')`,
    id,
    randomUUID(),
    JSON.stringify(takeBaseline(order)),
  )
  return id
}

const ledgers = async () => {
  const order = await readOrder(stage.database, sellerId, purchaseOrderId)
  if (order === null) throw new Error('the order is not stored')
  return readLedgers(stage.database, sellerId, order)
}

const left = async (kind: 'ship' | 'refund') =>
  Object.fromEntries((await ledgers()).map((ledger) => [ledger.lineNumber, available(ledger, kind)]))

const decide = (commandId: string, lines: readonly LineDecision[]) =>
  decideCommand(stage.database, { commandId, actor: 'kim', reason: 'seen', lines })

describe('a decision by line', () => {
  test('applied and not applied: the ledger counts the first as done and frees the second', async () => {
    const id = await held(bothParcels)
    expect(await left('ship')).toEqual({ '1': 0, '2': 0 })
    expect(
      await decide(id, [
        { lineNumber: '1', verdict: 'applied' },
        { lineNumber: '2', verdict: 'not-applied' },
      ]),
    ).toEqual({ ok: true, state: 'confirmed' })
    expect(await left('ship')).toEqual({ '1': 0, '2': 2 })
    expect(await left('refund')).toEqual({ '1': 3, '2': 0 })
    const decisions = await stage.database.query(
      `SELECT decision, actor, lines FROM tallyman.command_decisions WHERE command_id = $1`,
      id,
    )
    expect(decisions).toMatchObject([{ decision: 'by-line', actor: 'kim', lines: [{ lineNumber: '1' }, { lineNumber: '2' }] }])
  })

  test('a part is sent again: only that part is still to be carried out, and nothing of it counts twice', async () => {
    const id = await held(bothParcels)
    expect(
      await decide(id, [
        { lineNumber: '1', trackingNumber: 'T1', verdict: 'applied' },
        { lineNumber: '1', trackingNumber: 'T2', verdict: 'send-again' },
        { lineNumber: '2', verdict: 'not-applied' },
      ]),
    ).toEqual({ ok: true, state: 'pending' })
    const command = await readCommand(stage.database, id)
    expect(command?.content.payload).toMatchObject({
      parcels: [{ trackingNumber: 'T2', lines: [{ lineNumber: '1', quantity: 1 }] }],
    })
    expect(await left('ship')).toEqual({ '1': 0, '2': 2 })
    expect(await decideCommand(stage.database, { commandId: id, decision: 'reject', actor: 'kim', reason: 'no' })).toMatchObject({
      state: 'confirmed',
    })
    expect((await readCommandDetail(stage.database, id))?.parts).toEqual({
      applied: [{ lineNumber: '1', quantity: 2 }],
      open: [],
    })
    // What was applied stays applied, although the rest was turned down.
    expect(await left('ship')).toEqual({ '1': 1, '2': 2 })
    expect(await left('refund')).toEqual({ '1': 2, '2': 0 })
  })

  test.each(['by line', 'as a whole'])(
    'parts that are decided one after the other count on top of each other, the last %s',
    async (way) => {
      // Two of six were shipped by somebody else before.
      const record = orderWith(purchaseOrderId, [
        lineWith('1', 6, [wireStatus('Acknowledged', 4), wireStatus('Shipped', 2)]),
        lineWith('2', 2, [wireStatus('Acknowledged', 2)]),
      ])
      await stage.database.transaction((tx) => storeOrder(tx, sellerId, new Date('2026-11-20T11:00:00Z'), record))
      const id = await held(bothParcels)
      await decide(id, [
        { lineNumber: '1', trackingNumber: 'T1', verdict: 'applied' },
        { lineNumber: '1', trackingNumber: 'T2', verdict: 'send-again' },
        { lineNumber: '2', verdict: 'not-applied' },
      ])
      if (way === 'by line') await decide(id, [{ lineNumber: '1', verdict: 'applied' }])
      else await decideCommand(stage.database, { commandId: id, decision: 'confirm', actor: 'kim', reason: 'seen' })
      expect(await left('ship')).toEqual({ '1': 1, '2': 2 })
    },
  )

  test('nothing applied and nothing sent again is a rejection, without an alarm', async () => {
    const id = await held(bothParcels)
    const lines = ['1', '2'].map((lineNumber): LineDecision => ({ lineNumber, verdict: 'not-applied' }))
    expect(await decide(id, lines)).toEqual({ ok: true, state: 'rejected' })
    expect(await left('ship')).toEqual({ '1': 3, '2': 2 })
    expect(await stage.database.prisma.alarm.count({ where: { resolvedAt: null } })).toBe(0)
  })

  test('a part of an entry can be decided, but not the part of a refund', async () => {
    const cancel: OrderCommandContent = {
      kind: 'cancel',
      payload: { lines: [{ lineNumber: '1', quantity: 3, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
    }
    const id = await held(cancel)
    await decide(id, [
      { lineNumber: '1', quantity: 1, verdict: 'applied' },
      { lineNumber: '1', quantity: 2, verdict: 'send-again' },
    ])
    expect((await readCommand(stage.database, id))?.content.payload).toMatchObject({ lines: [{ lineNumber: '1', quantity: 2 }] })
  })

  test('says every fault, and changes nothing', async () => {
    const id = await held(bothParcels)
    const wrong = async (lines: readonly LineDecision[]) => {
      const result = await decide(id, lines)
      return 'faults' in result ? result.faults.map((fault) => fault.path) : result
    }
    expect(await wrong([{ lineNumber: '9', verdict: 'applied' }])).toEqual(['lines[0].lineNumber'])
    expect(await wrong([{ lineNumber: '1', verdict: 'applied', trackingNumber: 'T9' }])).toEqual(['lines[0].trackingNumber'])
    expect(await wrong([{ lineNumber: '1', verdict: 'applied', quantity: 4 }])).toEqual(['lines[0].quantity'])
    expect(await wrong([{ lineNumber: '1', verdict: 'applied', quantity: 2 }])).toEqual(['lines[0].trackingNumber'])
    expect(await wrong([{ lineNumber: '1', verdict: 'applied' }])).toEqual(['lines'])
    const twice: LineDecision = { lineNumber: '2', verdict: 'applied' }
    expect(await wrong([{ lineNumber: '1', verdict: 'applied' }, twice, twice])).toEqual(['lines[2].quantity'])
    expect((await readCommand(stage.database, id))?.state).toBe('held')
  })

  test('a command without lines is decided as a whole', async () => {
    const id = await held(acknowledgement)
    expect(await decide(id, [{ lineNumber: '1', verdict: 'applied' }])).toMatchObject({ ok: false, fault: 'wrong-lines' })
    expect(
      await decideCommand(stage.database, { commandId: id, decision: 'confirm', actor: 'kim', reason: 'seen' }),
    ).toMatchObject({
      ok: true,
    })
  })
})

test('a command that can no longer be read counts in full, and a person decides it', async () => {
  const id = await storeCommand(stage.database, { sellerId, purchaseOrderId }, bothParcels)
  await stage.database.execute(`UPDATE tallyman.commands SET payload = '{"parcels": "none"}' WHERE id = $1`, id)
  expect((await readCommand(stage.database, id))?.fault).toContain('cannot be read')
  expect(await left('ship')).toEqual({ '1': 0, '2': 0 })
  expect(await decideCommand(stage.database, { commandId: id, decision: 'reject', actor: 'kim', reason: 'unreadable' })).toEqual({
    ok: true,
    state: 'rejected',
  })
  expect(await left('ship')).toEqual({ '1': 3, '2': 2 })
})
