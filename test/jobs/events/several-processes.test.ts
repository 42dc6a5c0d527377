import { describe, expect, test } from 'vitest'
import { acceptEvents } from '../../../src/jobs/events/accept.ts'
import { dryRunEvents } from '../../../src/jobs/events/dry-run.ts'
import type { AcceptParts } from '../../../src/jobs/events/parts.ts'
import { processReceivedEvent } from '../../../src/jobs/events/process.ts'
import { createServing, type Serving } from '../../../src/jobs/sellers/serving.ts'
import { readStoredEvent } from '../../../src/store/events/events.ts'
import { withDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { orderLine, purchaseOrder } from '../../support/orders.ts'
import { seedOrder } from '../../support/store.ts'
import { marketplace, parts } from './support.ts'

const stage = withDatabase({ each: 'test', connections: 6 })
const { signal } = new AbortController()
const source = 'urn:erp'

/** The parts of a process that serves these sellers; its marketplace knows no order. */
const buildProcess = (sellerIds: readonly string[], heartbeatTimeoutMs?: number): AcceptParts & { readonly serving: Serving } => {
  const only = () => (sellerIds.length === 1 ? (sellerIds[0] ?? null) : null)
  const configured = (sellerId: string) => ({ sellerId, credentialsFingerprint: 'f', resumes: 0 })
  const sellers = { ids: () => sellerIds, only, configured }
  const serving = createServing({
    database: stage.database,
    sellers,
    ...(heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeoutMs }),
  })
  return { ...parts(stage.database, marketplace(), sellerIds, { only: serving.only, settleTimeMs: 0 }), serving }
}
const insert = (id: string, data: object) =>
  stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, 'erp.order.accepted', $3::jsonb)`,
    source,
    id,
    JSON.stringify(data),
  )
const look = (process: AcceptParts, id: string) => processReceivedEvent(process, { source, id }, signal)
const stored = async (id: string) => {
  const event = await readStoredEvent(stage.database, { source, id })
  return { state: event?.state, sellerId: event?.sellerId, errors: event?.problem?.errors }
}
const post = (process: AcceptParts, id: string) =>
  acceptEvents(process, [{ source, id, type: 'erp.order.accepted', data: { purchaseOrderId: '1' } }], signal)
/** As if so much time had passed since anybody said that he serves a seller. */
const silentFor = (sellerId: string, seconds: number) =>
  stage.database.execute(
    `UPDATE tallyman.sellers SET served_at = now() - $2::float8 * interval '1 second' WHERE seller_id = $1`,
    sellerId,
    seconds,
  )
const missing = { path: 'data.sellerId', message: 'is missing; it is needed because several sellers are served here' }

describe('an event without sellerId, where two processes serve a seller each', () => {
  test.each([
    ['the one that began first', 0, 1],
    ['the one that began last', 1, 0],
  ])('has the same fault in both, whichever looks first: %s', async (_, first, second) => {
    const both = [buildProcess(['s-1']), buildProcess(['s-2'])] as const
    for (const { serving } of both) await serving.begin('start')
    await both[0].serving.say()
    // What the first said before the second began may be over: it says it again every few seconds.
    await silentFor('s-1', -0.01)
    const looks = [first, second].map((place) => (place === 0 ? both[0] : both[1]))
    await seedOrder(stage.database, 's-2', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    for (const id of ['r-1', 'r-2', 'r-3']) await insert(id, { purchaseOrderId: '1' })
    for (const id of ['r-1', 'r-2', 'r-3']) {
      for (const process of looks) await look(process, id)
      expect(await stored(id)).toEqual({ state: 'rejected', sellerId: null, errors: [missing] })
    }
    for (const process of looks)
      expect(await post(process, 'e-1')).toEqual({ ok: false, reason: 'invalid', faults: [{ index: 0, ...missing }] })
  })

  test('is stored when it names its seller, whichever of them is posted to, and decided by the one that serves it', async () => {
    const both = [buildProcess(['s-1']), buildProcess(['s-2'])] as const
    for (const { serving } of both) await serving.begin('start')
    await seedOrder(stage.database, 's-2', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    const event = { source, id: 'e-1', type: 'erp.order.accepted', data: { sellerId: 's-2', purchaseOrderId: '1' } }
    const findClient = (sellerId: string): never => {
      throw new Error(`no request to ${sellerId} is worded here`)
    }
    expect(await dryRunEvents({ ...both[0], findClient }, [event])).toMatchObject([
      {
        would: 'accepted',
        commands: [],
        problem: { code: 'event-waits', detail: expect.stringContaining('another process serves seller s-2') },
      },
    ])
    expect(await acceptEvents(both[0], [event], signal)).toMatchObject({
      ok: true,
      receipts: [{ state: 'received', commands: [] }],
    })
    expect(await look(both[0], 'e-1')).toEqual({ servedByOther: 's-2' })
    expect(await look(both[1], 'e-1')).toBe('settled')
    expect(await stored('e-1')).toMatchObject({ state: 'accepted', sellerId: 's-2' })
    // Nobody serves it any more.
    await silentFor('s-2', 121)
    expect(await acceptEvents(both[0], [{ ...event, id: 'e-2' }], signal)).toMatchObject({ ok: false, reason: 'invalid' })
  })

  test('is decided when it names its seller, by the process that serves it, and not put off by the other', async () => {
    const both = [buildProcess(['s-1']), buildProcess(['s-2'])] as const
    for (const { serving } of both) await serving.begin('start')
    await seedOrder(stage.database, 's-2', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    await insert('r-1', { sellerId: 's-2', purchaseOrderId: '1' })
    const before = await readStoredEvent(stage.database, { source, id: 'r-1' })
    expect(await look(both[0], 'r-1')).toEqual({ servedByOther: 's-2' })
    expect({ ...(await readStoredEvent(stage.database, { source, id: 'r-1' })), waitedMs: 0 }).toEqual({ ...before, waitedMs: 0 })
    expect(await look(both[1], 'r-1')).toBe('settled')
    expect(await stored('r-1')).toMatchObject({ state: 'accepted', sellerId: 's-2' })
  })

  test('belongs to whom it was given while one seller was served, when another comes', async () => {
    const one = buildProcess(['s-1'])
    await one.serving.begin('start')
    // No order yet: it waits, and is of this seller.
    await insert('r-1', { purchaseOrderId: '1' })
    await look({ ...one, settleTimeMs: 3_600_000 }, 'r-1')
    expect(await stored('r-1')).toMatchObject({ state: 'received', sellerId: 's-1' })
    await buildProcess(['s-2']).serving.begin('start')
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    expect(await look(one, 'r-1')).toBe('settled')
    expect(await stored('r-1')).toMatchObject({ state: 'accepted', sellerId: 's-1' })
  })
})

describe('an event without sellerId, where another seller was served once', () => {
  test('waits, by HTTP and in the inbox, until it is clear that nobody serves the other one any more', async () => {
    await buildProcess(['s-2']).serving.begin('start')
    const one = buildProcess(['s-1'], 400)
    await one.serving.begin('start')
    await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 3)]))
    await insert('r-1', { purchaseOrderId: '1' })
    const unsure = buildProcess(['s-1'])
    await unsure.serving.begin('settings')
    expect(await look(unsure, 'r-1')).toMatchObject({ dueInMs: 15_000 })
    expect(await stored('r-1')).toMatchObject({ state: 'received', sellerId: null })
    expect(await post(unsure, 'e-1')).toMatchObject({ ok: true, receipts: [{ state: 'received', status: 'accepted' }] })
    expect(await post(unsure, 'e-1')).toMatchObject({ ok: true, receipts: [{ state: 'received', status: 'duplicate' }] })
    expect(await stored('e-1')).toMatchObject({ state: 'received', sellerId: null })
    await eventually(async () => {
      await one.serving.say()
      expect(await one.serving.only(stage.database)).toEqual({ kind: 'one', sellerId: 's-1' })
      await look(one, 'r-1')
      expect(await stored('r-1')).toMatchObject({ state: 'accepted', sellerId: 's-1' })
    })
    // Who decides one decides all that wait for its order.
    expect(await stored('e-1')).toMatchObject({ state: 'accepted', sellerId: 's-1' })
    // A process that was away itself knows no more than one that has just begun.
    await eventually(async () => expect(await one.serving.only(stage.database)).toMatchObject({ kind: 'unsure' }))
    await one.serving.say()
    expect(await one.serving.only(stage.database)).toMatchObject({ kind: 'unsure' })
  })

  test('is decided at once when that is a week ago, or when there has never been another', async () => {
    const one = buildProcess(['s-1'])
    await one.serving.begin('start')
    expect(await one.serving.only(stage.database)).toEqual({ kind: 'one', sellerId: 's-1' })
    await buildProcess(['s-2']).serving.begin('start')
    expect(await one.serving.only(stage.database)).toEqual({ kind: 'several' })
    await silentFor('s-2', 130)
    expect(await one.serving.only(stage.database)).toMatchObject({ kind: 'unsure' })
    await silentFor('s-2', 8 * 86_400)
    expect(await one.serving.only(stage.database)).toEqual({ kind: 'one', sellerId: 's-1' })
    expect(await buildProcess(['s-1', 's-2']).serving.only(stage.database)).toEqual({ kind: 'several' })
  })
})
