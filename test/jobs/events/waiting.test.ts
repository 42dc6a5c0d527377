import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { maxFaultsKept } from '../../../src/domain/events/event-bounds.ts'
import { acceptEvents } from '../../../src/jobs/events/accept.ts'
import type { AcceptParts } from '../../../src/jobs/events/parts.ts'
import { processReceivedEvent } from '../../../src/jobs/events/process.ts'
import { rejectByPerson } from '../../../src/jobs/events/reject.ts'
import { reviewEvents, reviewWaitingEvents } from '../../../src/jobs/events/review.ts'
import { readOverview } from '../../../src/store/commands/operator-queries.ts'
import { findDueEvents, readStoredEvent } from '../../../src/store/events/events.ts'
import { numbered } from '../../support/changes.ts'
import { withDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { orderLine, purchaseOrder } from '../../support/orders.ts'
import { seedOrder } from '../../support/store.ts'
import { vocabulary } from '../../support/vocabulary.ts'
import { marketplace, parts } from './support.ts'

const stage = withDatabase({ each: 'test', connections: 6 })
let shop: ReturnType<typeof marketplace>
const { signal } = new AbortController()
const source = 'urn:erp'

beforeEach(async () => {
  shop = marketplace()
})

/** A row of the inbox; `data` is JSON text, as an ERP writes it. */
const insert = (id: string, data: string, type = 'erp.order.accepted', receivedDaysAgo = 0) =>
  stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data, received_at) VALUES ($1, $2, $3, $4::jsonb, now() - $5::float8 * interval '1 day')`,
    source,
    id,
    type,
    data,
    receivedDaysAgo,
  )
/** Looks at every row that is due, once. */
const processDue = async (events: AcceptParts) => {
  for (const key of await findDueEvents(stage.database, 1_000)) await processReceivedEvent(events, key, signal)
}
const findState = async (id: string) => (await readStoredEvent(stage.database, { source, id }))?.state
const buildProblem = async (id: string) => (await readStoredEvent(stage.database, { source, id }))?.problem
const alarms = (kind: string) =>
  stage.database.query<{ seller_id: string; subject: string; message: string }>(
    'SELECT seller_id, subject, message FROM tallyman.alarms WHERE kind = $1 AND resolved_at IS NULL ORDER BY id',
    kind,
  )
const data = (purchaseOrderId: unknown, more: object = {}) => JSON.stringify({ purchaseOrderId, ...more })
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const unserved = () => parts(stage.database, shop, ['s-1', 's-2'])

describe('a row of the SQL inbox', () => {
  test('is accepted where its transaction was ended for another one that waited for it', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    await insert('r-1', data('1'))
    const other = new pg.Client({ connectionString: stage.url })
    await other.connect()
    try {
      await other.query(`SET deadlock_timeout = '10s'; BEGIN; SELECT 1 FROM tallyman.erp_event WHERE id = 'r-1' FOR UPDATE`)
      const settled = processReceivedEvent(parts(stage.database, shop), { source, id: 'r-1' }, signal)
      await eventually(async () => {
        const waiting = await stage.database.query(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        )
        expect(waiting).not.toEqual([])
      })
      // Now both wait for each other, and the server ends the one that looks first.
      await other.query(`SELECT 1 FROM warehouse.orders WHERE purchase_order_id = '1' FOR UPDATE`)
      await other.query('ROLLBACK')
      expect(await settled).toBe('settled')
    } finally {
      await other.end()
    }
    expect(await findState('r-1')).toBe('accepted')
  })

  test.each([
    ['a newline', '"1\\n"'],
    ['a tab', '"\\t1"'],
    ['a no-break space', '"\\u00a01\\u00a0"'],
    ['the number 1.0', '1.0'],
  ])('ends when its purchase order id is written with %s, and stands before a later post', async (_, id) => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    await insert('r-1', `{"purchaseOrderId": ${id}}`)
    await acceptEvents(events, [{ source, id: 'e-1', type: 'erp.order.accepted', data: { purchaseOrderId: '1' } }], signal)
    expect(await findState('r-1')).toBe('accepted')
    const commands = await stage.database.query<{ event_id: string }>('SELECT event_id FROM tallyman.commands ORDER BY sequence')
    expect(commands.map((row) => row.event_id)).toEqual(['r-1', 'e-1'])
    await insert('r-2', `{"purchaseOrderId": ${id}}`)
    await processDue(events)
    expect(await findState('r-2')).toBe('accepted')
  })

  test.each([
    ['nested 4,000 deep', `{"purchaseOrderId": "1", "note": ${nested(4_000)}}`, 'data', /32 levels/],
    ['nested 33 deep', `{"purchaseOrderId": "1", "note": ${nested(32)}}`, 'data', /32 levels/],
    ['large', data('1', { note: 'x'.repeat(4_200_000) }), 'data', /too large/],
    ['about an order by an inexact number', '{"purchaseOrderId": 9007199254740990.6}', 'data.purchaseOrderId', /exact/],
    ['about an order by a number beyond 2^53', '{"purchaseOrderId": 9007199254740993}', 'data.purchaseOrderId', /./],
    ['about an order of a long id', data('9'.repeat(300)), 'data.purchaseOrderId', /255/],
    ['of a seller of a long id', data('1', { sellerId: 's'.repeat(5_000) }), 'data.sellerId', /255/],
    ['about nothing', 'null', 'data', /./],
  ])('is rejected with a reason and an alarm when it is %s, and holds up nothing of its order', async (_, written, path, why) => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    // The table refuses a large one by now; a row of before it did so must end all the same.
    await stage.database.execute('ALTER TABLE tallyman.erp_event DROP CONSTRAINT erp_event_data_takes_4194304_bytes_as_text')
    await insert('r-1', written)
    const event = { source, id: 'e-1', type: 'erp.order.accepted', data: { purchaseOrderId: '1' } }
    expect(await acceptEvents(events, [event], signal)).toMatchObject({ ok: true })
    await processDue(events)
    const problem = await buildProblem('r-1')
    expect(problem?.errors[0]).toMatchObject({ path, message: expect.stringMatching(why) })
    expect(await alarms('event-rejected')).toMatchObject([{ seller_id: 's-1', subject: 'urn:erp r-1' }])
    // Posted under the same id it is another event, and nothing breaks.
    const again = { ...event, id: 'r-1', type: 'erp.lines.unfulfillable' }
    expect(await acceptEvents(events, [again], signal)).toMatchObject({ ok: false, reason: 'conflict' })
  })

  test('whose order cannot be asked for now is due when it can, and the less often the longer it has waited', async () => {
    await insert('r-1', data('1'))
    const dueInMs = async (waitedMs: number, againInMs: number | null): Promise<number> => {
      const fetcher = { ensure: async () => ({ presence: 'later' as const, reason: 'no budget', againInMs }) }
      await stage.database.execute(
        `UPDATE tallyman.erp_event SET received_at = now() - $1::float8 * interval '1 millisecond'`,
        waitedMs,
      )
      const came = await processReceivedEvent(parts(stage.database, shop, ['s-1'], { fetcher }), { source, id: 'r-1' }, signal)
      if (came === 'settled' || !('dueInMs' in came)) throw new Error('it does not wait')
      const [kept] = await stage.database.query<{ ms: number }>(
        'SELECT (extract(epoch FROM due_at - now()) * 1000)::float8 AS ms FROM tallyman.erp_event',
      )
      expect(kept?.ms).toBeLessThanOrEqual(came.dueInMs + 1)
      expect(kept?.ms).toBeGreaterThan(came.dueInMs - 5_000)
      return came.dueInMs
    }
    expect(await dueInMs(1, 12_345)).toBe(12_345)
    // Twice what it has waited, and that grows while it is looked at.
    const rested = await dueInMs(5_000, 0)
    expect([rested >= 10_000, rested < 15_000]).toEqual([true, true])
    expect(await dueInMs(60_000, 250)).toBe(15_000)
    expect(await dueInMs(1, 86_400_000)).toBe(15_000)
    expect(await dueInMs(1, null)).toBe(15_000)
    expect(await dueInMs(600_000, null)).toBeGreaterThanOrEqual(30_000)
  })

  test('is no duplicate of a post before it has been looked at either', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    await insert('r-1', `{"purchaseOrderId": "1", "note": ${nested(4_000)}}`)
    const event = { source, id: 'r-1', type: 'erp.order.accepted', data: { purchaseOrderId: '1' } }
    const verdict = await acceptEvents(parts(stage.database, shop), [event], signal)
    expect(verdict).toEqual({ ok: false, reason: 'conflict', indexes: [0] })
  })

  test('keeps no more than the first faults, each cut to what can be read', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const lines = Array.from({ length: 2_000 }, (_, at) => ({ lineNumber: `${at}${'😀'.repeat(400)}`, quantity: 1, reason: 'x' }))
    await insert('r-1', data('1', { lines }), 'erp.lines.unfulfillable')
    await processDue(parts(stage.database, shop))
    const problem = await buildProblem('r-1')
    expect(problem?.errors).toHaveLength(maxFaultsKept)
    expect(problem?.detail).toMatch(/^The event has \d{4} faults; the first 50 are listed\.$/)
    const [alarm] = await alarms('event-rejected')
    expect(alarm?.message.length).toBeLessThan(2_200)
    const [change] = await (await numbered(stage.database)).query<{ length: number }>(
      'SELECT octet_length(data::text) AS length FROM warehouse.changes',
    )
    expect(change?.length).toBeLessThan(150_000)
  })

  test('of before its bounds were kept by the table ends too', async () => {
    await stage.database.execute(
      `ALTER TABLE tallyman.erp_event DROP CONSTRAINT erp_event_id_takes_1_to_1000_bytes, DROP CONSTRAINT erp_event_source_takes_1_to_1000_bytes,
         DROP CONSTRAINT erp_event_source_and_id_are_not_dots, DROP CONSTRAINT erp_event_type_takes_1_to_256_characters`,
    )
    const old: readonly [sourceOfOld: string, id: string, type: string][] = [
      ['', 'e-1', 'erp.order.accepted'],
      [source, '', 'erp.order.accepted'],
      [source, 'x'.repeat(20_000), 'erp.order.accepted'],
      ['s'.repeat(20_000), 'ü'.repeat(1_000), 'erp.order.accepted'],
      [source, '..', 'erp.order.accepted'],
      [source, 'e-2', 't'.repeat(300)],
    ]
    for (const [sourceOfOld, id, type] of old) {
      await stage.database.execute(
        `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, $3, '{"purchaseOrderId": "1"}')`,
        sourceOfOld,
        id,
        type,
      )
    }
    await stage.database.execute(
      `ALTER TABLE tallyman.erp_event
         ADD CONSTRAINT erp_event_id_fits CHECK (status <> 'received' OR octet_length(id) BETWEEN 1 AND 1000) NOT VALID,
         ADD CONSTRAINT erp_event_source_fits CHECK (status <> 'received' OR octet_length(source) BETWEEN 1 AND 1000) NOT VALID`,
    )
    await processDue(parts(stage.database, shop))
    expect(await reviewEvents(stage.database)).toEqual({ waiting: 0, rejected: 4 })
    const left = await stage.database.query(`SELECT 1 AS found FROM tallyman.erp_event WHERE status <> 'rejected'`)
    expect(left).toEqual([])
    expect(await alarms('event-rejected')).toHaveLength(old.length)
  })

  test('that cannot be worked out is rejected, and those behind it go on', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    let planned = 0
    const words = {
      ...vocabulary,
      get shipNodes() {
        planned += 1
        if (planned === 1) throw new RangeError('beyond all bounds')
        return vocabulary.shipNodes
      },
    }
    await insert('r-1', data('1'))
    await insert('r-2', data('1'))
    await processDue(parts({ ...stage.database, findVocabulary: () => words }, shop, ['s-1']))
    expect((await buildProblem('r-1'))?.errors).toEqual([{ path: 'data', message: 'cannot be worked out: beyond all bounds' }])
    expect(await findState('r-2')).toBe('accepted')
  })

  test('that cannot be looked at says why, and does not stand before others', async () => {
    const rules = () => {
      throw new RangeError('no time')
    }
    await insert('r-1', data('1'))
    await insert('r-2', data('1'))
    const look = processReceivedEvent(parts(stage.database, shop, ['s-1'], { rules }), { source, id: 'r-1' }, signal)
    await expect(look).rejects.toThrow('no time')
    expect(await readStoredEvent(stage.database, { source, id: 'r-1' })).toMatchObject({
      waitsFor: 'processing failed: no time',
    })
    expect(await findDueEvents(stage.database, 10)).toMatchObject([{ id: 'r-2' }])
  })
})

describe('an event that waits', () => {
  test('raises one alarm for its seller after 15 minutes, which closes by itself when none waits', async () => {
    shop.state.failure = new Error('no route')
    const events = parts(stage.database, shop)
    for (const id of ['r-1', 'r-2', 'r-3', 'r-4']) await insert(id, data('1'), 'erp.order.accepted', 1 / 24)
    await insert('r-5', data('1'))
    await processDue(events)
    expect(await reviewEvents(stage.database)).toEqual({ waiting: 4, rejected: 0 })
    const [alarm, ...others] = await alarms('event-waiting')
    expect(others).toEqual([])
    expect(alarm).toMatchObject({
      seller_id: 's-1',
      message: expect.stringMatching(/^4 ERP events .* r-1 of urn:erp since \S+ \(no route\)/),
    })
    expect(alarm?.message).toContain('1 more')
    expect((await readOverview(stage.database, new Map())).needsPerson).toMatchObject({ eventsWaiting: 4, eventsRejected: 0 })

    shop.state.failure = null
    shop.orders.set('1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    events.clock.nowMs += 600_000
    expect(await processReceivedEvent(events, { source, id: 'r-1' }, signal)).toBe('settled')
    await reviewEvents(stage.database)
    expect(await alarms('event-waiting')).toEqual([])
    expect((await readOverview(stage.database, new Map())).needsPerson).toMatchObject({ eventsWaiting: 0 })
  })

  test('is rejected with an alarm after seven days, and says why it waited', async () => {
    shop.state.failure = new Error('no route')
    const events = parts(stage.database, shop)
    await insert('r-1', data('1'), 'erp.order.accepted', 7.01)
    await insert('r-2', data('1'), 'erp.order.accepted', 6.9)
    await processDue(events)
    expect(await reviewEvents(stage.database)).toEqual({ waiting: 1, rejected: 1 })
    expect(await buildProblem('r-1')).toMatchObject({ code: 'event-expired', detail: expect.stringContaining('no route') })
    expect(await findState('r-2')).toBe('received')
    expect(await alarms('event-rejected')).toMatchObject([{ subject: 'urn:erp r-1' }])
    expect(await (await numbered(stage.database)).query('SELECT type, purchase_order_id FROM warehouse.changes')).toEqual([
      { type: 'event.rejected', purchase_order_id: '1' },
    ])
  })

  test('is ended by a person, once, with who and why; an event that is decided is not', async () => {
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const events = parts(stage.database, shop)
    await insert('r-1', data('2', { sellerId: 's-9' }), 'erp.order.accepted', 1)
    await insert('r-2', data('1'))
    await processDue(events)
    await reviewEvents(stage.database)
    expect(await alarms('event-waiting')).toHaveLength(1)
    const by = { actor: 'Ada', reason: 'done by hand' }
    expect(await rejectByPerson(stage.database, { source, id: 'r-1' }, by)).toEqual({ ok: true, state: 'rejected' })
    expect(await rejectByPerson(stage.database, { source, id: 'r-1' }, by)).toEqual({
      ok: false,
      fault: 'not-waiting',
      state: 'rejected',
    })
    expect(await rejectByPerson(stage.database, { source, id: 'r-2' }, by)).toEqual({
      ok: false,
      fault: 'not-waiting',
      state: 'accepted',
    })
    expect(await rejectByPerson(stage.database, { source, id: 'r-3' }, by)).toEqual({ ok: false, fault: 'not-found' })
    expect(await buildProblem('r-1')).toMatchObject({ code: 'event-rejected-by-person', detail: 'Ada: done by hand' })
    expect(await alarms('event-rejected')).toEqual([])
    const [change] = await (await numbered(stage.database)).query<{ data: unknown }>(
      `SELECT data FROM warehouse.changes WHERE type = 'event.rejected'`,
    )
    expect(change?.data).toMatchObject({ id: 'r-1', actor: 'Ada', reason: 'done by hand' })
    await reviewWaitingEvents(stage.database)
    expect(await alarms('event-waiting')).toEqual([])
  })
})

describe('the seller of an event', () => {
  test('who is not served yet is waited for: another process, or a later configuration, takes it', async () => {
    await seedOrder(stage.database, 's-2', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    await insert('r-1', data('1', { sellerId: 's-2' }))
    await processDue(parts(stage.database, shop, ['s-1']))
    expect(await readStoredEvent(stage.database, { source, id: 'r-1' })).toMatchObject({
      state: 'received',
      waitsFor: expect.stringContaining('seller s-2'),
    })
    expect(await findDueEvents(stage.database, 10)).toEqual([])
    expect(await alarms('event-rejected')).toEqual([])
    expect(await processReceivedEvent(unserved(), { source, id: 'r-1' }, signal)).toBe('settled')
    expect(await findState('r-1')).toBe('accepted')
  })

  test('who is not served does not keep what is wrong by itself', async () => {
    await insert('r-1', data('1', { sellerId: 's-9' }), 'erp.lines.unfulfillable')
    await processDue(parts(stage.database, shop, ['s-1']))
    expect((await buildProblem('r-1'))?.errors.map(({ path }) => path)).toContain('data.lines')
    expect(await alarms('event-rejected')).toMatchObject([{ seller_id: 's-9' }])
  })

  test('is fixed when it is taken: a second seller changes nothing for what waits', async () => {
    shop.state.failure = new Error('no route')
    const alone = parts(stage.database, shop, ['s-1'])
    await acceptEvents(alone, [{ source, id: 'e-1', type: 'erp.order.accepted', data: { purchaseOrderId: '1' } }], signal)
    await insert('r-1', data('1'))
    await processDue(alone)
    expect(await readStoredEvent(stage.database, { source, id: 'r-1' })).toMatchObject({ state: 'received', sellerId: 's-1' })

    shop.state.failure = null
    shop.orders.set('1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    expect(await processReceivedEvent(unserved(), { source, id: 'e-1' }, signal)).toBe('settled')
    expect([await findState('e-1'), await findState('r-1')]).toEqual(['accepted', 'accepted'])
    const owners = await stage.database.query<{ seller_id: string }>('SELECT seller_id FROM tallyman.commands')
    expect(owners.map((row) => row.seller_id)).toEqual(['s-1', 's-1'])
  })
})
