import { describe, expect, test } from 'vitest'
import { raiseAlarm } from '../../src/store/alarms/alarms.ts'
import { eraseBuyer } from '../../src/store/privacy/erasures.ts'
import { findNewlyFaulty, quarantine } from '../../src/store/sync/quarantine.ts'
import { wireReturnSample } from '../clients/samples.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { storeOrders, storeReturns } from '../support/store.ts'
import { orderRecord, returnRecord } from './support/records.ts'

const stage = withDatabase({ connections: 8 })
let counter = 0

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
  storeOrders(stage.database, { sellerId, records, observedAt: at(minute) })
const erase = (sellerId: string, customerOrderId: string) =>
  eraseBuyer(stage.database, { sellerId, customerOrderId, actor: 'Ada', reason: 'request 4711' })
const named = async (sellerId: string): Promise<readonly string[]> => {
  const rows = await stage.database.query<{ id: string }>(
    `SELECT purchase_order_id AS id FROM warehouse.orders o WHERE seller_id = $1 AND o::text LIKE '%Quackenbush%' ORDER BY 1`,
    sellerId,
  )
  return rows.map(({ id }) => id)
}
const faulty = async (sellerId: string, minute: number, key: string | null, rawText: string): Promise<void> => {
  const found = await findNewlyFaulty(stage.database, sellerId, 'orders', at(minute), [{ key, rawText, fault: 'no lines' }])
  await stage.database.transaction((tx) => quarantine(tx, sellerId, 'orders', at(minute), found))
}
const quarantined = (sellerId: string) =>
  stage.database.query<{ state: string; raw_text: string }>(
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
    await storeReturns(stage.database, { sellerId, records: [returned], observedAt: at(4) })
    const versions = await stage.database.query(
      `SELECT 1 AS found FROM warehouse.returns r WHERE r.seller_id = $1 AND r::text LIKE '%Quackenbush%'
       UNION ALL SELECT 1 FROM tallyman.superseded_versions v WHERE v.seller_id = $1 AND v::text LIKE '%Quackenbush%'`,
      sellerId,
    )
    expect(versions).toEqual([])
    const [units] = await stage.database.query<{ lines: number }>(
      'SELECT count(*)::int AS lines FROM warehouse.order_lines WHERE seller_id = $1 AND ordered > 0',
      sellerId,
    )
    expect(units?.lines).toBeGreaterThanOrEqual(3)
  })

  test('misses no record that is stored concurrently, known or not', async () => {
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

  test('takes rejected events that name the order anywhere, in any form, for any seller', async () => {
    const [sellerId, other] = [newSeller(), newSeller()]
    await store(sellerId, 1, order('4811', '5811'))
    await stage.database.execute(
      `INSERT INTO tallyman.sellers (seller_id, state) VALUES ($1, 'active'), ($2, 'active')`,
      sellerId,
      other,
    )
    const put = async (
      id: string,
      data: object,
      { of = null, status = 'rejected' }: { of?: string | null; status?: string } = {},
    ) => {
      await stage.database.execute(
        `INSERT INTO tallyman.erp_event (source, id, type, data, status, seller_id, problem, processed_at)
         VALUES ($1, $2, 'x', $3::jsonb, $4, $5, CASE $4 WHEN 'rejected' THEN $6::jsonb END, now())`,
        `/${sellerId}`,
        id,
        JSON.stringify(data),
        status,
        of,
        JSON.stringify({ code: 'invalid-event', title: 'wrong', errors: [{ path: 'data', message: name }] }),
      )
      await stage.database.transaction(async (tx) =>
        tx.record({
          sellerId: of ?? '',
          type: 'event.rejected',
          data: { source: `/${sellerId}`, id, type: 'x', code: 'invalid-event', errors: [{ path: 'data', message: name }] },
        }),
      )
    }
    await put('nested', { order: { purchaseOrderId: '4811' }, name })
    await put('customer', { customerOrderId: 5811, name }, { of: sellerId })
    await put('list', { purchaseOrderId: [4811], name })
    await put('object', { purchaseOrderId: { id: '4811', name } })
    await put('beside', { purchaseOrderId: `4811 of ${name}` })
    await put('seller', { purchaseOrderId: '4811', sellerId: name }, { of: name })
    await put('key', { [`4811 ${name}`]: 1 })
    const foreign = ['longer', 'of-other', 'accepted']
    await put('longer', { note: '48110', name }, { of: sellerId })
    await put('of-other', { order: '4811', name }, { of: other })
    await put('accepted', { purchaseOrderId: '9', note: '4811', name }, { of: sellerId, status: 'accepted' })
    expect(await erase(sellerId, '5811')).toMatchObject({ ok: true, erasure: { rows: { 'tallyman.erp_event': 7 } } })
    const left = async (sql: string) =>
      (await stage.database.query<{ id: string }>(sql, `/${sellerId}`)).map(({ id }) => id).sort()
    const holds = (text: string) => `${text} LIKE '%Quackenbush%'`
    expect(
      await left(`SELECT id FROM tallyman.erp_event WHERE source = $1 AND (${holds('data::text')} OR ${holds('problem::text')})`),
    ).toEqual([...foreign].sort())
    expect(
      await left(`SELECT data ->> 'id' AS id FROM warehouse.changes WHERE data ->> 'source' = $1 AND ${holds('data::text')}`),
    ).toEqual([...foreign].sort())
    expect(await erase(sellerId, '5811')).toMatchObject({ ok: true, erasure: { rows: { 'tallyman.erp_event': 0 } } })
  })

  test('erases an unknown type and an unknown seller from rejected events, their alarms and changes', async () => {
    const sellerId = newSeller()
    await store(sellerId, 1, order('4911', '5911'))
    const put = (id: string, type: string, of: string) =>
      stage.database.transaction(async (tx) => {
        await tx.execute(
          `INSERT INTO tallyman.erp_event (source, id, type, data, status, seller_id, processed_at)
           VALUES ($1, $2, $3, '{"purchaseOrderId": "4911"}', 'rejected', $4, now())`,
          `/${sellerId}`,
          id,
          type,
          of,
        )
        tx.record({ sellerId: of, type: 'event.rejected', data: { source: `/${sellerId}`, id, type, code: 'invalid-event' } })
        await raiseAlarm(tx, { sellerId: of, kind: 'event-rejected', subject: `/${sellerId} ${id}` }, 'wrong')
      })
    await put('type', `order of ${name}`, sellerId)
    await put('seller', 'erp.order.accepted', name)
    for (const owner of [name, sellerId])
      await raiseAlarm(
        stage.database,
        { sellerId: owner, kind: 'event-waiting', subject: 'events' },
        `seller ${owner} is unknown`,
      )
    expect(await erase(sellerId, '5911')).toMatchObject({
      ok: true,
      erasure: { rows: { 'tallyman.erp_event': 2, 'warehouse.changes': 2, 'tallyman.alarms': 3 } },
    })
    expect(
      await stage.database.query(
        'SELECT id, type, seller_id FROM tallyman.erp_event WHERE source = $1 ORDER BY id',
        `/${sellerId}`,
      ),
    ).toEqual([
      { id: 'seller', type: 'erp.order.accepted', seller_id: null },
      { id: 'type', type: 'erased', seller_id: sellerId },
    ])
    expect(
      await (await numbered(stage.database)).query(
        `SELECT seller_id, data ->> 'type' AS type FROM warehouse.changes WHERE data ->> 'source' = $1 ORDER BY seq`,
        `/${sellerId}`,
      ),
    ).toEqual([
      { seller_id: sellerId, type: 'erased' },
      { seller_id: '', type: 'erp.order.accepted' },
    ])
    expect(
      await stage.database.query(
        `SELECT seller_id, kind, message, resolved_at IS NULL AS open FROM tallyman.alarms
         WHERE seller_id IN ($1, '', $2) AND kind LIKE 'event-%' ORDER BY kind, seller_id`,
        sellerId,
        name,
      ),
    ).toEqual([
      { seller_id: '', kind: 'event-rejected', message: 'erased', open: true },
      { seller_id: sellerId, kind: 'event-rejected', message: 'erased', open: true },
      { seller_id: '', kind: 'event-waiting', message: 'erased', open: false },
      { seller_id: sellerId, kind: 'event-waiting', message: `seller ${sellerId} is unknown`, open: true },
    ])
    expect(await erase(sellerId, '5911')).toMatchObject({
      ok: true,
      erasure: { rows: { 'tallyman.erp_event': 0, 'warehouse.changes': 0, 'tallyman.alarms': 0 } },
    })
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

  test('finds a name in any text', async () => {
    const sellerId = newSeller()
    const odd = 'José (Büro) + Söhne [a|b] \\d $1 Ünal'
    await store(sellerId, 1, order('1', 'c-1', { shippingInfo: { postalAddress: { name: odd, address1: '*?' } } }))
    for (const customerOrderId of [`for ${odd}.`, 'for José'])
      await stage.database.transaction(async (tx) =>
        tx.record({ sellerId, type: 'order.erased', purchaseOrderId: '1', data: { customerOrderId } }),
      )
    expect(await erase(sellerId, 'c-1')).toMatchObject({ ok: true, erasure: { rows: { 'warehouse.changes': 1 } } })
    const notes = await stage.database.query<{ data: unknown }>(
      `SELECT data FROM warehouse.changes WHERE seller_id = $1 AND type = 'order.erased' ORDER BY seq LIMIT 2`,
      sellerId,
    )
    expect(notes.map(({ data }) => data)).toEqual([{ erased: true }, { customerOrderId: 'for José' }])
  })

  test('changes nothing when its reason names the buyer, or something is unsettled', async () => {
    const sellerId = newSeller()
    await store(sellerId, 1, order('1', 'c-1'))
    const request = { sellerId, customerOrderId: 'c-1', actor: 'Ada', reason: `for ${name.toUpperCase()}` }
    expect(await eraseBuyer(stage.database, request)).toEqual({ ok: false, fault: 'reason-names-buyer' })
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', $1, 'erp.order.accepted', '{"purchaseOrderId": " 1 "}')`,
      sellerId,
    )
    expect(await erase(sellerId, 'c-1')).toEqual({
      ok: false,
      fault: 'unsettled',
      unsettled: [{ what: 'event', name: `/erp ${sellerId}`, purchaseOrderId: '1', state: 'received' }],
    })
    expect(await named(sellerId)).toEqual(['1'])
    expect(await stage.database.query('SELECT 1 AS found FROM tallyman.erased_records WHERE seller_id = $1', sellerId)).toEqual(
      [],
    )
  })
})
