import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { eraseBuyer } from '../../src/store/erasures.ts'
import { storeOrders } from '../../src/store/orders.ts'
import { findNewlyFaulty, quarantine } from '../../src/store/quarantine.ts'
import { storeReturns } from '../../src/store/returns.ts'
import { wireReturnSample } from '../clients/samples.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { orderRecord, returnRecord } from './support/records.ts'

let postgres: TestPostgres
let database: Database
let counter = 0
beforeAll(async () => {
  postgres = await startTestPostgres()
  database = openDatabase({ url: await postgres.database(), connections: 8 })
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
})

const newSeller = (): string => {
  counter += 1
  return `seller-${counter}`
}
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))
const name = 'Zebulon Quackenbush'
const order = (purchaseOrderId: string, customerOrderId: string, more: object = {}) =>
  orderRecord(purchaseOrderId, {
    customerOrderId,
    customerEmailId: `${name}@relay.example`,
    shippingInfo: { phone: '9375550199', methodCode: 'Standard', postalAddress: { name } },
    note: name,
    ...more,
  })
const store = (sellerId: string, minute: number, ...records: ReturnType<typeof orderRecord>[]) =>
  storeOrders(database, { sellerId, records, observedAt: at(minute) })
const erase = (sellerId: string, customerOrderId: string) =>
  eraseBuyer(database, { sellerId, customerOrderId, actor: 'Ada', reason: 'request 4711' })
const named = async (sellerId: string): Promise<readonly string[]> => {
  const rows = await database.query<{ id: string }>(
    `SELECT purchase_order_id AS id FROM warehouse.orders o WHERE seller_id = $1 AND o::text LIKE '%Quackenbush%' ORDER BY 1`,
    sellerId,
  )
  return rows.map(({ id }) => id)
}
const faulty = async (sellerId: string, minute: number, key: string | null, rawText: string): Promise<void> => {
  const found = await findNewlyFaulty(database, sellerId, 'orders', at(minute), [{ key, rawText, fault: 'no lines' }])
  await database.transaction((tx) => quarantine(tx, sellerId, 'orders', at(minute), found))
}
const quarantined = (sellerId: string) =>
  database.query<{ state: string; raw_text: string }>(
    'SELECT state, raw_text FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY id',
    sellerId,
  )

describe('an erasure', () => {
  test('takes the purchase orders of one customer order, and of one seller', async () => {
    const [sellerId, other] = [newSeller(), newSeller()]
    await store(sellerId, 1, order('1', 'c-1'), order('2', 'c-1'), order('3', 'c-2'))
    await store(other, 1, order('1', 'c-1'))
    const result = await erase(sellerId, 'c-1')
    expect(result).toMatchObject({ ok: true, erasure: { purchaseOrderIds: ['1', '2'], rows: { 'warehouse.orders': 2 } } })
    expect([await named(sellerId), await named(other)]).toEqual([['3'], ['1']])
    expect(await erase(sellerId, 'c-0')).toEqual({ ok: false, fault: 'not-found' })
    // Again: there is nothing left to take.
    expect(await erase(sellerId, 'c-1')).toMatchObject({ ok: true, erasure: { rows: { 'warehouse.orders': 0 } } })
  })

  test('holds for what is stored later: new versions, and further orders and returns of the customer order', async () => {
    const sellerId = newSeller()
    await store(sellerId, 1, order('1', 'c-1'))
    await erase(sellerId, 'c-1')
    const again = order('1', 'c-1', { orderType: 'REPLACEMENT' })
    expect(await store(sellerId, 2, again, order('2', 'c-1'), order('3', 'c-3'))).toMatchObject({ changed: 3 })
    expect(await store(sellerId, 3, again)).toMatchObject({ changed: 0 })
    expect(await named(sellerId)).toEqual(['3'])
    const returned = returnRecord({ ...wireReturnSample('R1'), customerOrderId: 'c-1', customerName: { lastName: name } })
    await storeReturns(database, { sellerId, records: [returned], observedAt: at(4) })
    const versions = await database.query(
      `SELECT 1 AS found FROM warehouse.returns r WHERE r.seller_id = $1 AND r::text LIKE '%Quackenbush%'
       UNION ALL SELECT 1 FROM tallyman.superseded_versions v WHERE v.seller_id = $1 AND v::text LIKE '%Quackenbush%'`,
      sellerId,
    )
    expect(versions).toEqual([])
    const [units] = await database.query<{ lines: number }>(
      'SELECT count(*)::int AS lines FROM warehouse.order_lines WHERE seller_id = $1 AND ordered > 0',
      sellerId,
    )
    expect(units?.lines).toBeGreaterThanOrEqual(3)
  })

  test('misses none that is stored at the same moment, known or not', async () => {
    for (let round = 0; round < 8; round += 1) {
      const sellerId = newSeller()
      await store(sellerId, 1, order('1', 'c-1'))
      const pages = Array.from({ length: 6 }, (_, at) =>
        store(sellerId, 2 + at, order('1', 'c-1', { orderType: `T${at}` }), order(`n-${round}-${at}`, 'c-1')),
      )
      await Promise.all([...pages, erase(sellerId, 'c-1')])
      expect(await named(sellerId), `round ${round}`).toEqual([])
    }
  })

  test('takes records out of quarantine that name the order, and lets none in again; a longer number is another one', async () => {
    const sellerId = newSeller()
    await store(sellerId, 1, order('11', '51'))
    const text = (purchaseOrderId: string) => JSON.stringify({ purchaseOrderId, name })
    await faulty(sellerId, 2, '11', text('11'))
    await faulty(sellerId, 2, null, `[{"customerOrderId":51,"name":"${name}"`)
    await faulty(sellerId, 2, '115', text('115'))
    await erase(sellerId, '51')
    const erased = '{"erased":true}'
    expect(await quarantined(sellerId)).toEqual([
      { state: 'dismissed', raw_text: erased },
      { state: 'dismissed', raw_text: erased },
      { state: 'open', raw_text: text('115') },
    ])
    await faulty(sellerId, 3, '11', text('11'))
    await faulty(sellerId, 3, '11', `${text('11')} `)
    await faulty(sellerId, 3, null, `"11" of ${name}`)
    await faulty(sellerId, 3, '511', text('511'))
    expect((await quarantined(sellerId)).slice(3)).toEqual([
      { state: 'open', raw_text: erased },
      { state: 'open', raw_text: erased },
      { state: 'open', raw_text: text('511') },
    ])
  })

  test('finds a name in a sentence, whatever stands in it', async () => {
    const sellerId = newSeller()
    const odd = 'José (Büro) + Söhne [a|b] \\d $1 Ünal'
    await store(sellerId, 1, order('1', 'c-1', { shippingInfo: { postalAddress: { name: odd, address1: '*?' } } }))
    for (const data of [{ note: `for ${odd}.` }, { note: 'for José' }])
      await database.transaction(async (tx) => tx.tell({ sellerId, type: 'order.changed', purchaseOrderId: '1', data }))
    expect(await erase(sellerId, 'c-1')).toMatchObject({ ok: true, erasure: { rows: { 'warehouse.changes': 1 } } })
    const notes = await database.query<{ data: unknown }>(
      `SELECT data FROM warehouse.changes WHERE seller_id = $1 AND type = 'order.changed' ORDER BY seq`,
      sellerId,
    )
    expect(notes.map(({ data }) => data)).toEqual([{ erased: true }, { note: 'for José' }])
  })

  test('leaves nothing when its reason names the buyer, or something is under way', async () => {
    const sellerId = newSeller()
    await store(sellerId, 1, order('1', 'c-1'))
    const request = { sellerId, customerOrderId: 'c-1', actor: 'Ada', reason: `for ${name.toUpperCase()}` }
    expect(await eraseBuyer(database, request)).toEqual({ ok: false, fault: 'reason-names-buyer' })
    await database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', $1, 'erp.order.accepted', '{"purchaseOrderId": " 1 "}')`,
      sellerId,
    )
    expect(await erase(sellerId, 'c-1')).toEqual({
      ok: false,
      fault: 'under-way',
      underWay: [{ what: 'event', name: `/erp ${sellerId}`, purchaseOrderId: '1', state: 'received' }],
    })
    expect(await named(sellerId)).toEqual(['1'])
    expect(await database.query('SELECT 1 AS found FROM tallyman.erased_records WHERE seller_id = $1', sellerId)).toEqual([])
  })
})
