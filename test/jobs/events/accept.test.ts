import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { FindVocabulary } from '../../../src/domain/values/vocabulary.ts'
import { type AcceptParts, acceptEvents } from '../../../src/jobs/events/accept.ts'
import { processReceivedEvent } from '../../../src/jobs/events/process.ts'
import { isDatabaseUnavailable } from '../../../src/store/db/errors.ts'
import { type EventKey, type EventsResult, type IncomingEvent, readEvents } from '../../../src/store/events/events.ts'
import { numbered } from '../../support/changes.ts'
import { withDatabase } from '../../support/database.ts'
import { accepted as acceptanceOf, buildDispatch, reportedParcel } from '../../support/events.ts'
import { eventually } from '../../support/eventually.ts'
import { charge, orderLine, purchaseOrder } from '../../support/orders.ts'
import { seedOrder } from '../../support/store.ts'
import { vocabulary } from '../../support/vocabulary.ts'
import { marketplace, parts } from './support.ts'

const stage = withDatabase({ each: 'test', connections: 6 })
let shop: ReturnType<typeof marketplace>
const { signal } = new AbortController()

beforeEach(async () => {
  shop = marketplace()
})

const accepted = (purchaseOrderId: string, id: string = randomUUID()): IncomingEvent => ({
  source: 'urn:erp',
  ...acceptanceOf({ purchaseOrderId }, id),
})

const shipped = (purchaseOrderId: string, quantity: number, id: string = randomUUID(), sku = 'A'): IncomingEvent => ({
  source: 'urn:erp',
  ...buildDispatch({ purchaseOrderId }, id, reportedParcel(`T-${id}`, { sku, quantity })),
})

/** It has waited for so long. */
const waited = (id: string, minutes: number) =>
  stage.database.execute(
    `UPDATE tallyman.erp_event SET received_at = now() - $2::int * interval '1 minute' WHERE id = $1`,
    id,
    minutes,
  )

/** What the jobs of all waiting events come to. */
const processAll = async (events: AcceptParts) => {
  const waiting = await stage.database.query<EventKey>(
    `SELECT source, id FROM tallyman.erp_event WHERE status = 'received' ORDER BY sequence`,
  )
  for (const event of waiting) await processReceivedEvent(events, event, signal)
  const states = (await readEvents(stage.database, waiting)).map((event) => event.state)
  const of = (state: string) => states.filter((one) => one === state).length
  return { accepted: of('accepted'), rejected: of('rejected'), waiting: of('received') }
}

const listReceipts = (verdict: EventsResult) => {
  if (!verdict.ok) throw new Error(`not accepted: ${JSON.stringify(verdict)}`)
  return verdict.receipts
}
const listFaults = (verdict: EventsResult) => {
  if (verdict.ok || verdict.reason !== 'invalid') throw new Error('was not found wrong')
  return verdict.faults
}
const counts = async () => {
  const [row] = await (await numbered(stage.database)).query<{ events: number; commands: number; changes: number }>(
    `SELECT (SELECT count(*) FROM tallyman.erp_event)::int AS events, (SELECT count(*) FROM tallyman.commands)::int AS commands,
       (SELECT count(*) FROM warehouse.changes)::int AS changes`,
  )
  return row
}
const insertRow = (event: IncomingEvent) =>
  stage.database.execute(
    'INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, $3, $4::jsonb)',
    event.source,
    event.id,
    event.type,
    JSON.stringify(event.data),
  )
const findStatus = async (id: string) => {
  const [row] = await stage.database.query<{ status: string; problem: { errors: unknown[] } | null }>(
    'SELECT status, problem FROM tallyman.erp_event WHERE id = $1',
    id,
  )
  return row
}

describe('an event of a stored order', () => {
  test('becomes commands, wakes them, and twice the same is a duplicate with the same answer', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    const event = shipped('1', 2, 'e-1')
    const [first] = listReceipts(await acceptEvents(events, [event], signal))
    expect(first).toMatchObject({ id: 'e-1', source: 'urn:erp', status: 'accepted', state: 'accepted' })
    expect(first?.commands).toHaveLength(1)
    expect(events.woken).toEqual(first?.commands)

    const reordered = { ...event, data: Object.fromEntries(Object.entries(event.data as object).reverse()) }
    const [second] = listReceipts(await acceptEvents(events, [reordered], signal))
    expect(second).toEqual({ ...first, status: 'duplicate' })
    expect(await counts()).toMatchObject({ events: 1, commands: 1 })
    expect(shop.state.asked).toBe(0)
  })

  test('under the id of another body is a conflict, and nothing changes', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    await acceptEvents(events, [shipped('1', 1, 'e-1')], signal)
    const before = await counts()
    const verdict = await acceptEvents(events, [accepted('1', 'e-2'), shipped('1', 2, 'e-1')], signal)
    expect(verdict).toEqual({ ok: false, reason: 'conflict', indexes: [1] })
    const inside = await acceptEvents(events, [shipped('1', 1, 'e-3'), shipped('1', 2, 'e-3')], signal)
    expect(inside).toEqual({ ok: false, reason: 'conflict', indexes: [1] })
    expect(await counts()).toEqual(before)
  })

  test('posted by many at once is accepted once and a duplicate for all others', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 1)]))
    const events = parts(stage.database, shop)
    const verdicts = await Promise.all(Array.from({ length: 12 }, () => acceptEvents(events, [shipped('1', 1, 'e-1')], signal)))
    const receipts = verdicts.flatMap(listReceipts)
    expect(receipts.filter(({ status }) => status === 'accepted')).toHaveLength(1)
    expect(new Set(receipts.flatMap(({ commands }) => commands)).size).toBe(1)
    expect(await counts()).toMatchObject({ events: 1, commands: 1 })
  })

  test('racing others for the last units never reserves a unit twice', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 5)]))
    const events = parts(stage.database, shop)
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => acceptEvents(events, [shipped('1', 1)], signal)))
    expect(verdicts.filter(({ ok }) => ok)).toHaveLength(5)
    for (const verdict of verdicts)
      if (!verdict.ok) expect(listFaults(verdict)[0]?.path).toBe('data.parcels[0].lines[0].quantity')
    expect(await counts()).toMatchObject({ events: 5, commands: 5 })
  })

  test('racing batches that lock the same orders the other way round all end', async () => {
    const ids = ['1', '2', '3', '4']
    for (const id of ids) await seedOrder(stage.database, 's-1', purchaseOrder(id, [orderLine('1', 'A', 50)]))
    const events = parts(stage.database, shop)
    const verdicts = await Promise.all(
      Array.from({ length: 8 }, (_, turn) => {
        const batch = ids.map((id) => shipped(id, 1))
        return acceptEvents(events, turn % 2 === 0 ? batch : batch.reverse(), signal)
      }),
    )
    expect(verdicts.every(({ ok }) => ok)).toBe(true)
    expect(await counts()).toMatchObject({ events: 32, commands: 32 })
  })

  test('and the same ids in another order, over orders of their own, still all end', async () => {
    for (const id of ['1', '2']) await seedOrder(stage.database, 's-1', purchaseOrder(id, [orderLine('1', 'A', 50)]))
    const events = parts(stage.database, shop)
    // Two batches that name the same two ids crosswise, each over an order that the other does not lock.
    const verdicts = await Promise.all([
      acceptEvents(events, [accepted('1', 'x'), accepted('1', 'y')], signal),
      acceptEvents(events, [accepted('2', 'y'), accepted('2', 'x')], signal),
    ])
    expect(verdicts.filter(({ ok }) => ok)).toHaveLength(1)
    expect(await counts()).toMatchObject({ events: 2, commands: 2 })
  })
})

describe('a shipment of an order that is still Created', () => {
  const created = (id: string) => purchaseOrder(id, [orderLine('1', 'A', 3, { acknowledged: 0 })])
  const kinds = async () =>
    (await stage.database.query<{ kind: string }>('SELECT kind FROM tallyman.commands ORDER BY sequence')).map(({ kind }) => kind)

  test('is acknowledged first, once, whichever events come and however', async () => {
    await seedOrder(stage.database, 's-1', created('1'))
    const events = parts(stage.database, shop)
    const [first] = listReceipts(await acceptEvents(events, [shipped('1', 1), shipped('1', 1)], signal))
    expect(first?.commands).toHaveLength(2)
    listReceipts(await acceptEvents(events, [shipped('1', 1)], signal))
    expect(await kinds()).toEqual(['acknowledge', 'ship', 'ship', 'ship'])
  })

  test('needs no acknowledgement after one by the ERP, and a new one after that was rejected', async () => {
    await seedOrder(stage.database, 's-1', created('1'))
    const events = parts(stage.database, shop)
    listReceipts(await acceptEvents(events, [accepted('1'), shipped('1', 1)], signal))
    expect(await kinds()).toEqual(['acknowledge', 'ship'])
    await stage.database.execute(`UPDATE tallyman.commands SET state = 'rejected', settled_at = now() WHERE kind = 'acknowledge'`)
    listReceipts(await acceptEvents(events, [shipped('1', 1)], signal))
    expect(await kinds()).toEqual(['acknowledge', 'ship', 'acknowledge', 'ship'])
  })

  test('is refused where the settings say so', async () => {
    await seedOrder(stage.database, 's-1', created('1'))
    const rules = () => ({
      now: new Date(),
      shipUnacknowledged: 'refuse' as const,
      fullPriceRefundsAll: false,
      correctsShipments: false,
    })
    const events = parts(stage.database, shop, ['s-1'], { rules })
    expect(listFaults(await acceptEvents(events, [shipped('1', 1)], signal))).toMatchObject([{ path: 'data.purchaseOrderId' }])
    expect(await kinds()).toEqual([])
  })
})

test('a shipment is checked against the carriers and the clock of its own seller', async () => {
  for (const sellerId of ['s-1', 's-2']) await seedOrder(stage.database, sellerId, purchaseOrder('1', [orderLine('1', 'A', 3)]))
  const rules = (sellerId: string) => ({
    now: new Date(sellerId === 's-1' ? '2026-11-20T09:00:00Z' : '2026-11-21T00:00:00Z'),
    shipUnacknowledged: 'refuse' as const,
    fullPriceRefundsAll: false,
    correctsShipments: false,
  })
  const findVocabulary: FindVocabulary = (sellerId) => ({
    ...vocabulary,
    carriers: sellerId === 's-1' ? new Set(['FedEx']) : null,
  })
  const events = parts({ ...stage.database, findVocabulary }, shop, ['s-1', 's-2'], { rules })
  const of = (sellerId: string): IncomingEvent => {
    const event = shipped('1', 1)
    return { ...event, data: { ...(event.data as object), sellerId } }
  }
  const faults = listFaults(await acceptEvents(events, [of('s-1')], signal))
  expect(faults.map(({ path }) => path).sort()).toEqual(['data.parcels[0].shippedAt', 'data.parcels[0].trackingUrl'])
  expect(listReceipts(await acceptEvents(events, [of('s-2')], signal))).toMatchObject([{ state: 'accepted' }])
})

test('a credit of the whole price is refused where the marketplace of its seller gives back tax too', async () => {
  const charges = [charge('10.00'), charge('5.00', null, 'SHIPPING')]
  for (const sellerId of ['s-1', 's-2'])
    await seedOrder(stage.database, sellerId, purchaseOrder('1', [{ ...orderLine('1', 'A', 1, { shipped: 1 }), charges }]))
  const rules = (sellerId: string) => ({
    now: new Date(),
    shipUnacknowledged: 'refuse' as const,
    fullPriceRefundsAll: sellerId === 's-1',
    correctsShipments: false,
  })
  const findVocabulary: FindVocabulary = (sellerId) => ({
    ...vocabulary,
    carriers: sellerId === 's-1' ? new Set(['FedEx']) : null,
  })
  const events = parts({ ...stage.database, findVocabulary }, shop, ['s-1', 's-2'], { rules })
  const of = (sellerId: string): IncomingEvent => ({
    source: 'urn:erp',
    id: `credit-${sellerId}`,
    type: 'erp.credit.issued',
    data: { sellerId, purchaseOrderId: '1', lines: [{ sku: 'A', quantity: 1, reason: 'DamagedItem', amount: '10.00' }] },
  })
  expect(listFaults(await acceptEvents(events, [of('s-1')], signal))).toMatchObject([
    { path: 'data.lines[0].amount', message: expect.stringContaining('15 USD') },
  ])
  expect(listReceipts(await acceptEvents(events, [of('s-2')], signal))).toMatchObject([{ state: 'accepted' }])
})

describe('a wrong event', () => {
  test('gets every fault by its path and leaves no trace', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const before = await counts()
    const wrong: IncomingEvent = {
      source: 'urn:erp',
      id: 'e-1',
      type: 'erp.lines.unfulfillable',
      data: {
        purchaseOrderId: '1',
        lines: [
          { sku: 'A', quantity: 9, reason: 'SELLER_CANCEL_OUT_OF_STOCK' },
          { lineNumber: '7', quantity: 1, reason: 'because' },
          { quantity: 0 },
        ],
      },
    }
    const verdict = await acceptEvents(parts(stage.database, shop), [wrong], signal)
    const paths = listFaults(verdict).map(({ path }) => path)
    for (const path of [
      'data.lines[0].quantity',
      'data.lines[1].reason',
      'data.lines[2].quantity',
      'data.lines[2].reason',
      'data.lines[2]',
    ]) {
      expect(paths).toContain(path)
    }
    expect(paths.some((path) => path.startsWith('data.lines[1].lineNumber'))).toBe(true)
    expect(await counts()).toEqual(before)
  })

  test('takes its whole batch with it, and faults name the event', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const before = await counts()
    const batch = [shipped('1', 2), shipped('1', 2), { ...accepted('1'), type: 'erp.unheard' }]
    const verdict = await acceptEvents(parts(stage.database, shop), batch, signal)
    expect(listFaults(verdict).map(({ index, path }) => `${index} ${path}`)).toEqual([
      '1 data.parcels[0].lines[0].quantity',
      '2 type',
    ])
    expect(await counts()).toEqual(before)
  })

  test.each([
    ['a zero character', { purchaseOrderId: '1', note: 'a\u0000b' }, 'data.note'],
    ['half a surrogate pair', { purchaseOrderId: '1', note: '\ud800' }, 'data.note'],
    [
      'bottomless nesting',
      { purchaseOrderId: '1', note: JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) },
      /^data\.note(\[0\])+$/,
    ],
    ['a purchase order id beyond all bounds', { purchaseOrderId: '9'.repeat(300) }, 'data.purchaseOrderId'],
    ['a seller that is not ours', { purchaseOrderId: '1', sellerId: 'nobody' }, 'data.sellerId'],
    ['no data', null, 'data'],
  ])('is refused for %s', async (_, data, path) => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const verdict = await acceptEvents(parts(stage.database, shop), [{ ...accepted('1'), data }], signal)
    expect(listFaults(verdict)[0]?.path).toMatch(path)
  })

  test('must name its seller when there are several', async () => {
    await seedOrder(stage.database, 's-2', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop, ['s-1', 's-2'])
    expect(listFaults(await acceptEvents(events, [accepted('1')], signal))).toMatchObject([{ path: 'data.sellerId' }])
    const named = { ...accepted('1'), data: { purchaseOrderId: '1', sellerId: 's-2' } }
    expect(listReceipts(await acceptEvents(events, [named], signal))).toMatchObject([{ state: 'accepted' }])
  })
})

describe('an event of an order that is not stored', () => {
  test('fetches and stores it', async () => {
    shop.orders.set('1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const [receipt] = listReceipts(await acceptEvents(parts(stage.database, shop), [shipped('1', 3)], signal))
    expect(receipt).toMatchObject({ state: 'accepted' })
    expect(receipt?.commands).toHaveLength(1)
    expect(shop.state.asked).toBe(1)
  })

  test('is wrong when the marketplace knows none', async () => {
    const verdict = await acceptEvents(parts(stage.database, shop), [accepted('1')], signal)
    expect(listFaults(verdict)).toMatchObject([{ index: 0, path: 'data.purchaseOrderId' }])
    expect(await counts()).toEqual({ events: 0, commands: 0, changes: 0 })
  })

  test('waits while the marketplace cannot be asked, keeps its place before later ones, and is decided afterwards', async () => {
    shop.state.failure = new Error('no route')
    const events = parts(stage.database, shop)
    const [waiting] = listReceipts(await acceptEvents(events, [shipped('1', 2, 'e-1')], signal))
    expect(waiting).toEqual({ source: 'urn:erp', id: 'e-1', status: 'accepted', state: 'received', commands: [], problem: null })
    expect(await processAll(events)).toEqual({ accepted: 0, rejected: 0, waiting: 1 })
    expect(shop.state.asked).toBe(1)

    shop.state.failure = null
    shop.orders.set('1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    events.clock.nowMs += 600_000
    // The later event brings the order; the earlier one is decided first and takes its units first.
    const verdict = await acceptEvents(events, [shipped('1', 2, 'e-2')], signal)
    expect(listFaults(verdict)).toMatchObject([{ path: 'data.parcels[0].lines[0].quantity' }])
    expect(await processReceivedEvent(events, { source: 'urn:erp', id: 'e-1' }, signal)).toBe('settled')
    const [again] = listReceipts(await acceptEvents(events, [shipped('1', 2, 'e-1')], signal))
    expect(again).toMatchObject({ status: 'duplicate', state: 'accepted' })
    expect(again?.commands).toHaveLength(1)
    expect(events.woken).toEqual(again?.commands)
  })

  test('waits while a node of the marketplace that lags denies the order', async () => {
    const events = parts(stage.database, shop)
    await insertRow(accepted('1', 'r-1'))
    expect(await processAll(events)).toEqual({ accepted: 0, rejected: 0, waiting: 1 })
    expect((await readEvents(stage.database, [{ source: 'urn:erp', id: 'r-1' }]))[0]?.waitsFor).toMatch(/has no order 1/)
    shop.orders.set('1', purchaseOrder('1', [orderLine('1', 'A', 1)]))
    events.clock.nowMs += 60_000
    expect(await processAll(events)).toEqual({ accepted: 1, rejected: 0, waiting: 0 })
  })

  test('is rejected for good, told and alarmed, when it turns out to be wrong later', async () => {
    shop.state.failure = new Error('no route')
    const events = parts(stage.database, shop)
    await acceptEvents(events, [accepted('1', 'e-1')], signal)
    shop.state.failure = null
    events.clock.nowMs += 600_000
    expect(await processAll(events)).toEqual({ accepted: 0, rejected: 0, waiting: 1 })
    await waited('e-1', 2)
    expect(await processAll(events)).toEqual({ accepted: 0, rejected: 1, waiting: 0 })
    expect(await findStatus('e-1')).toMatchObject({
      status: 'rejected',
      problem: { status: 422, errors: [{ path: 'data.purchaseOrderId' }] },
    })
    const [receipt] = listReceipts(await acceptEvents(events, [accepted('1', 'e-1')], signal))
    expect(receipt).toMatchObject({ status: 'duplicate', state: 'rejected', commands: [], problem: { code: 'invalid-event' } })
    expect(await stage.database.query('SELECT kind, subject FROM tallyman.alarms')).toEqual([
      { kind: 'event-rejected', subject: 'urn:erp e-1' },
    ])
    expect(await (await numbered(stage.database)).query(`SELECT type, purchase_order_id FROM warehouse.changes`)).toEqual([
      { type: 'event.rejected', purchase_order_id: '1' },
    ])
  })
})

describe('the SQL inbox', () => {
  test('is decided in the order of its rows, each row by the rules of a post', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    await insertRow(shipped('1', 2, 'r-1'))
    await insertRow(shipped('1', 2, 'r-2'))
    await insertRow(shipped('1', 1, 'r-3'))
    await insertRow({ source: 'urn:erp', id: 'r-4', type: 'erp.unheard', data: 'nothing' })
    await insertRow(shipped('2', 1, 'r-5'))
    await waited('r-5', 2)
    expect(await processAll(events)).toEqual({ accepted: 2, rejected: 3, waiting: 0 })
    expect((await findStatus('r-1'))?.status).toBe('accepted')
    expect(await findStatus('r-2')).toMatchObject({
      status: 'rejected',
      problem: { errors: [{ path: 'data.parcels[0].lines[0].quantity' }] },
    })
    expect((await findStatus('r-3'))?.status).toBe('accepted')
    expect(await findStatus('r-4')).toMatchObject({ status: 'rejected', problem: { errors: [{ path: 'type' }] } })
    expect(await findStatus('r-5')).toMatchObject({ status: 'rejected' })
    const commands = await stage.database.query<{ event_id: string }>('SELECT event_id FROM tallyman.commands ORDER BY sequence')
    expect(commands.map((row) => row.event_id)).toEqual(['r-1', 'r-3'])
    expect(await processAll(events)).toEqual({ accepted: 0, rejected: 0, waiting: 0 })
  })

  test('a posted event is decided after the rows of its order that wait', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    await insertRow(shipped('1', 1, 'r-1'))
    await acceptEvents(events, [shipped('1', 1, 'e-1')], signal)
    const commands = await stage.database.query<{ event_id: string }>('SELECT event_id FROM tallyman.commands ORDER BY sequence')
    expect(commands.map((row) => row.event_id)).toEqual(['r-1', 'e-1'])
    expect(events.woken).toHaveLength(2)
  })

  test('a row posted again is a duplicate, and the rows of many passes at once are decided once', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 30)]))
    const events = parts(stage.database, shop)
    for (let turn = 0; turn < 20; turn += 1) await insertRow(shipped('1', 1, `r-${turn}`))
    await Promise.all(Array.from({ length: 4 }, () => processAll(events)))
    expect(await stage.database.prisma.erpEvent.count({ where: { status: 'accepted' } })).toBe(20)
    expect(await counts()).toMatchObject({ events: 20, commands: 20 })
    const [receipt] = listReceipts(await acceptEvents(events, [shipped('1', 1, 'r-3')], signal))
    expect(receipt?.status).toBe('duplicate')
  })

  test('an order that cannot be fetched holds up its own events only', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    shop.state.failure = new Error('no route')
    const events = parts(stage.database, shop)
    await insertRow(shipped('2', 1, 'r-1'))
    await insertRow(shipped('1', 1, 'r-2'))
    expect(await processAll(events)).toEqual({ accepted: 1, rejected: 0, waiting: 1 })
    expect((await findStatus('r-1'))?.status).toBe('received')
  })
})

describe('while somebody else holds the rows of orders', () => {
  const buildAccepted = (sellerId: string, purchaseOrderId: string): IncomingEvent => ({
    source: 'urn:erp',
    ...acceptanceOf({ purchaseOrderId, sellerId }, randomUUID()),
  })
  const hold = async () => {
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holding = stage.database.transaction(async (tx) => {
      await tx.query(`SELECT FROM warehouse.orders WHERE seller_id = 's-1' FOR UPDATE`)
      locked.resolve()
      await held.promise
    })
    await locked.promise
    return {
      release: async () => {
        held.resolve()
        await holding
      },
    }
  }

  test('posts about them leave the connections to the others, and are accepted once they are free', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `L${index}`)
    for (const name of names) await seedOrder(stage.database, 's-1', purchaseOrder(name, [orderLine('1', 'A', 1)]))
    await seedOrder(stage.database, 's-2', purchaseOrder('FREE', [orderLine('1', 'A', 1)]))
    const events = parts(stage.database, shop, ['s-1', 's-2'])
    const { release } = await hold()
    const blocked = Promise.all(names.map((name) => acceptEvents(events, [buildAccepted('s-1', name)], signal)))
    expect(await acceptEvents(events, [buildAccepted('s-2', 'FREE')], signal)).toMatchObject({ ok: true })
    // In the end one of them waits in the queue of its lock, for longer than a first try does.
    await eventually(async () => {
      const waiting = await stage.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '0.2 s'`,
      )
      expect(waiting).toHaveLength(1)
    })
    expect(await acceptEvents(events, [buildAccepted('s-2', 'FREE')], signal)).toMatchObject({ ok: true })
    await release()
    for (const verdict of await blocked) expect(listReceipts(verdict)).toMatchObject([{ status: 'accepted' }])
  })

  test('a post that is given up meanwhile says that the rows are held, and has done nothing', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('L', [orderLine('1', 'A', 1)]))
    const { release } = await hold()
    const stop = new AbortController()
    const given = acceptEvents(parts(stage.database, shop), [accepted('L')], stop.signal)
    stop.abort()
    const error: unknown = await given.catch((thrown: unknown) => thrown)
    await release()
    expect(isDatabaseUnavailable(error)).toBe(true)
    expect(await counts()).toMatchObject({ events: 0, commands: 0 })
  })
})
