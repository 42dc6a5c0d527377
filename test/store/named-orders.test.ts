import { expect, test } from 'vitest'
import type { NamedOrder, NamingSource } from '../../src/domain/orders/named-orders.ts'
import { storeNotification } from '../../src/store/notifications/notifications.ts'
import {
  countNamedByDay,
  findDueNamedOrders,
  nameOrders,
  recordNamedAnswers,
  takeNamedOrders,
} from '../../src/store/orders/named-orders.ts'
import { wireReturnSample } from '../clients/samples.ts'
import { withDatabase } from '../support/database.ts'
import { storeOrders, storeReturns } from '../support/store.ts'
import { orderRecord, returnRecord } from './support/records.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 'seller'
const now = new Date()
const today = now.toISOString().slice(0, 10)
const daysAgo = (days: number): Date => new Date(now.getTime() - days * 86_400_000)

const name = (source: NamingSource, ids: readonly string[], at = now): Promise<void> =>
  stage.database.transaction(async (tx) => {
    nameOrders(
      tx,
      sellerId,
      source,
      ids.map((purchaseOrderId): NamedOrder => ({ purchaseOrderId, at })),
    )
  })
const notify = (eventId: string, ...ids: readonly string[]) =>
  storeNotification(stage.database, sellerId, {
    ...{ eventId, eventType: 'PO_CREATED', hold: null },
    records: ids.map((recordId) => ({ resource: 'orders', recordId })),
  })
const store = (id: string) => storeOrders(stage.database, { sellerId, records: [orderRecord(id)], observedAt: now })
const rows = () =>
  stage.database.query(
    `SELECT purchase_order_id AS id, source, state, answer, asks, CASE WHEN ask_again_at = 'infinity' THEN NULL
       ELSE round(extract(epoch FROM ask_again_at - named_at))::int END AS seconds
     FROM tallyman.named_orders ORDER BY 1`,
  )
const missing = { state: 'missing', answer: null, asks: 0 }

test('an order that is not stored is noted with its first source; one that is stored, or named by an old record, is not', async () => {
  await store('1')
  await name('returns', ['1', '2', '2', '..'])
  await name('notifications', ['2', '3'])
  await name('settlements', ['4'], daysAgo(181))
  expect(await rows()).toEqual([
    { id: '..', source: 'returns', state: 'explained', answer: 'this is not the id of a purchase order', asks: 0, seconds: null },
    { id: '2', source: 'returns', ...missing, seconds: 10 },
    { id: '3', source: 'notifications', ...missing, seconds: 10 },
  ])
})

test('a page of returns notes its orders in its own transaction', async () => {
  const record = returnRecord({ ...wireReturnSample('R1'), returnOrderDate: now.toISOString() })
  await storeReturns(stage.database, { sellerId, records: [record], observedAt: now })
  const ids = record.value.lines.map(({ purchaseOrderId }) => purchaseOrderId)
  expect(await rows()).toMatchObject(ids.map((id) => ({ id, source: 'returns', ...missing })))
})

test('orders are requested when they are due and the lists were read once; one that a list has shown meanwhile is settled', async () => {
  const becomeDue = () => stage.database.execute('UPDATE tallyman.named_orders SET ask_again_at = now()')
  const due = () => findDueNamedOrders(stage.database)
  const take = () => takeNamedOrders(stage.database, sellerId, { after: '', limit: 10 })
  await name('events', ['1', '2', '3'])
  await becomeDue()
  expect([await due(), await take()]).toEqual([[], []])
  await stage.database.execute(
    `INSERT INTO tallyman.sync_states (seller_id, resource, stream, watermark) VALUES ($1, 'orders', 'changed:SellerFulfilled', now())`,
    sellerId,
  )
  expect(await due()).toEqual([{ sellerId, resource: 'orders', stream: 'named' }])
  await store('1')
  expect(await take()).toEqual([
    { purchaseOrderId: '2', asks: 0 },
    { purchaseOrderId: '3', asks: 0 },
  ])
  await stage.database.transaction(async (tx) => {
    await recordNamedAnswers(tx, sellerId, [
      { purchaseOrderId: '2', asks: 0, answer: 'none' },
      // It was refused by Postgres.
      { purchaseOrderId: '3', asks: 0, answer: 'stored' },
    ])
  })
  expect(await rows()).toMatchObject([
    { id: '1', state: 'stored', answer: 'stored', asks: 0 },
    { id: '2', state: 'missing', answer: 'none', asks: 1 },
    { id: '3', state: 'missing', asks: 1 },
  ])
  expect([await due(), await take()]).toEqual([[], []])
})

test('an explained order that is named again is missing again, and requested', async () => {
  await name('returns', ['1', '..'])
  await stage.database.execute(
    `UPDATE tallyman.named_orders SET state = 'explained', asks = 5, ask_again_at = now() + interval '7 days' WHERE purchase_order_id = '1'`,
  )
  await name('events', ['1', '..'])
  expect(await rows()).toMatchObject([
    { id: '..', source: 'returns', state: 'explained' },
    { id: '1', source: 'events', ...missing, seconds: 10 },
  ])
})

test('named orders are counted by source and day, within the filter', async () => {
  await store('1')
  await notify('first', '1', '2', '3')
  await notify('second', '2', '..')
  await stage.database.execute(
    `UPDATE tallyman.notifications SET received_at = $1::timestamptz WHERE event_id = 'second'`,
    daysAgo(2).toISOString(),
  )
  const count = (filter: object) =>
    countNamedByDay(stage.database, { sellerId: null, from: today, to: today, source: null, ...filter })
  expect(await count({})).toEqual([
    {
      ...{ sellerId, source: 'notifications', day: today, named: 3, stored: 1, missing: 2, explained: 0 },
      missingIds: ['2', '3'],
      explanations: [],
    },
  ])
  expect(await count({ from: daysAgo(2).toISOString().slice(0, 10) })).toMatchObject([
    { named: 3, missing: 2, explained: 0 },
    { named: 2, missing: 1, explained: 1 },
  ])
  expect([await count({ source: 'returns' }), await count({ sellerId: 'other' })]).toEqual([[], []])
})
