import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eraseBuyer } from '../../src/store/privacy/erasures.ts'
import { lineWith, orderWith, wireStatus } from '../store/support/records.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { at, listAt, ofItems, textAt } from '../support/json.ts'
import { storeOrders } from '../support/store.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
})
afterAll(() => server.close())

const buyers = ['Alex Early', 'Blair Later']

/** Waits until the database's clock shows a later time, so that the next version begins then. */
const leaveMillisecond = async (time: Date): Promise<void> => {
  for (let isLater = false; !isLater; ) {
    const [row] = await stage.database.query<{ later: boolean }>(
      `SELECT clock_timestamp() > $1::timestamptz + interval '2 milliseconds' AS later`,
      time.toISOString(),
    )
    isLater = row?.later === true
  }
}

/** Stores a version of an order with units in these states. Returns when it was stored. */
const storeVersion = async (purchaseOrderId: string, day: number, states: Readonly<Record<string, number>>, name = buyers[0]) => {
  const statuses = Object.entries(states).map(([status, units]) => wireStatus(status, units))
  const address = { name, address1: '1 Main Street', city: 'Springfield', state: 'IL', postalCode: '62701', country: 'USA' }
  const record = orderWith(purchaseOrderId, [lineWith('1', 2, statuses)], {
    customerOrderId: `C-${purchaseOrderId}`,
    shippingInfo: { phone: '5550100', methodCode: 'Standard', postalAddress: address },
  })
  const observedAt = new Date(Date.UTC(2026, 0, day))
  await storeOrders(stage.database, { sellerId: 's-1', records: [record], observedAt })
  const row = await stage.database.prisma.order.findFirst({ where: { purchaseOrderId }, select: { changedAt: true } })
  if (row === null) throw new Error('the order is not stored')
  await leaveMillisecond(row.changedAt)
  return row.changedAt
}
const ask = (purchaseOrderId: string, time: Date, more = '') =>
  server.json(`/v1/orders/${purchaseOrderId}?at=${time.toISOString()}${more}`)
const later = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

describe('an order at a time', () => {
  let versions: Date[]

  beforeAll(async () => {
    versions = [await storeVersion('20', 1, { Acknowledged: 2 })]
    // A command between the first two versions.
    const event = cloudEvent(
      buildDispatch({ purchaseOrderId: '20' }, 'o-20', reportedParcel('1Z20', { lineNumber: '1', quantity: 1 })),
    )
    const posted = await server.json('/v1/events', {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(event),
    })
    expect(posted.status).toBe(202)
    versions.push(await storeVersion('20', 2, { Acknowledged: 1, Shipped: 1 }, buyers[1]))
    versions.push(await storeVersion('20', 3, { Shipped: 2 }, buyers[1]))
    await numbered(stage.database)
  })

  test('is the version that was valid then, from its beginning until the next one', async () => {
    const [first = new Date(0), second = new Date(0), third = new Date(0)] = versions
    const shown = async (time: Date) => {
      const { status, body } = await ask('20', time)
      expect(status).toBe(200)
      return body
    }
    const early = await shown(first)
    expect(early).toMatchObject({
      at: first.toISOString(),
      version: 1,
      validFrom: first.toISOString(),
      validTo: second.toISOString(),
      firstSeenAt: first.toISOString(),
      changedAt: first.toISOString(),
      open: true,
      customerName: buyers[0],
      commands: [],
    })
    expect(at(early, 'lines', 0)).toMatchObject({ shipped: 0, ledger: null, statuses: [{ status: 'Acknowledged', quantity: 2 }] })
    expect(at(early, 'history', 'versions')).toMatchObject([{ firstSeenAt: first.toISOString(), lastSeenAt: null }])
    expect(listAt(early, 'history', 'changes').map((change) => at(change, 'type'))).toEqual(['order.seen'])
    expect(await shown(later(second, -1))).toMatchObject({ version: 1, lines: [{ shipped: 0 }] })
    expect(await shown(second)).toMatchObject({
      version: 2,
      validTo: third.toISOString(),
      open: true,
      customerName: buyers[1],
      lines: [{ shipped: 1 }],
      commands: [{ kind: 'ship', state: 'pending' }],
    })
    const last = await shown(later(third, 3_600_000))
    expect(last).toMatchObject({
      version: 3,
      validFrom: third.toISOString(),
      validTo: null,
      open: false,
      lines: [{ shipped: 2 }],
    })
    // It has every member of the ordinary answer, but the payouts: settlement reports have no versions.
    const { body: ordinary } = await server.json('/v1/orders/20')
    expect(ordinary).toMatchObject({ payouts: [{ state: 'pending', payout: '0' }] })
    const { payouts: _, ...members } = ordinary as Record<string, unknown>
    expect(last).toMatchObject({ ...members, lines: [{ ...(at(ordinary, 'lines', 0) as object), ledger: null }] })
  })

  test('has the commands as they were then', async () => {
    const [, second = new Date(0), third = new Date(0)] = versions
    const id = textAt((await ask('20', second)).body, 'commands', 0, 'id')
    const started = later(third, 1_000)
    const finished = later(third, 2_000)
    await stage.database.execute(
      `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, started_at, finished_at, outcome, http_status)
       VALUES ($1, 1, 'corr-20', '{}', '{"purchaseOrderId": "20", "lines": []}', $2::timestamptz, $3::timestamptz, 'accepted', 200)`,
      id,
      started.toISOString(),
      finished.toISOString(),
    )
    await stage.database.execute(
      `UPDATE tallyman.commands SET state = 'confirmed', reason = 'every line shows it', settled_at = $2::timestamptz, updated_at = $2::timestamptz WHERE id = $1`,
      id,
      later(third, 3_000).toISOString(),
    )
    const command = async (ms: number) => at((await ask('20', later(third, ms))).body, 'commands', 0)
    // The feed has recorded that it was pending.
    expect(await command(500)).toMatchObject({ state: 'pending', attempts: [], correlationIds: [], settledAt: null })
    expect(await command(1_500)).toMatchObject({
      attempts: [{ correlationId: 'corr-20', finishedAt: null, outcome: null, httpStatus: null }],
      settledAt: null,
    })
    expect(await command(2_500)).toMatchObject({ attempts: [{ finishedAt: finished.toISOString(), outcome: 'accepted' }] })
    expect(await command(3_500)).toMatchObject({ state: 'confirmed', reason: 'every line shows it' })
  })

  test('hides the buyer as the ordinary answer does', async () => {
    const [first = new Date(0)] = versions
    const { body } = await ask('20', first, '&masked=true')
    expect(body).toMatchObject({ customerName: '•••', customerPhone: '•••', shippingAddress: { city: 'Springfield' } })
    for (const name of buyers) expect(JSON.stringify(body)).not.toContain(name)
  })

  test.each([
    ['2026-03-01', 'a day'],
    ['2026-03-01T09:30:00', 'without a zone'],
    ['yesterday', 'no time'],
    ['', 'empty'],
    ['0000-01-01T00:00:00Z', 'a year that Postgres does not have'],
  ])('%s is refused: %s', async (text) => {
    const { status, body } = await server.json(`/v1/orders/20?at=${text}`)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid-request' })
    expect(ofItems({ items: listAt(body, 'errors') }, 'path')).toEqual(['query.at'])
  })

  test('a time with another zone than UTC is read', async () => {
    const [first = new Date(0)] = versions
    const text = encodeURIComponent(`${later(first, 7_200_000).toISOString().slice(0, -1)}+02:00`)
    expect((await server.json(`/v1/orders/20?at=${text}`)).body).toMatchObject({ at: first.toISOString(), version: 1 })
  })

  test('before the order was first seen there is none, and the answer says since when there is', async () => {
    const [first = new Date(0)] = versions
    const { status, body } = await ask('20', later(first, -1))
    expect([status, at(body, 'code')]).toEqual([404, 'not-yet-known'])
    expect(textAt(body, 'detail')).toContain(`first seen at ${first.toISOString()}`)
    expect(await ask('nothing', first)).toMatchObject({ status: 404, body: { code: 'not-found' } })
  })

  test('before the oldest kept version, the answer names it', async () => {
    const first = await storeVersion('21', 1, { Created: 2 })
    const second = await storeVersion('21', 2, { Shipped: 1, Created: 1 })
    await storeVersion('21', 3, { Shipped: 2 })
    await stage.database.execute(
      `DELETE FROM tallyman.superseded_versions WHERE record_key = '21' AND last_seen_at = $1::timestamptz`,
      second.toISOString(),
    )
    const { status, body } = await ask('21', first)
    expect([status, at(body, 'code')]).toEqual([410, 'version-not-kept'])
    expect(textAt(body, 'detail')).toContain(`the oldest kept one is of ${second.toISOString()}`)
    expect((await ask('21', second)).body).toMatchObject({ version: 1, lines: [{ shipped: 1 }] })
  })

  test('an erased buyer is in no version', async () => {
    const first = await storeVersion('22', 1, { Created: 2 })
    const second = await storeVersion('22', 2, { Shipped: 1, Created: 1 })
    const request = { sellerId: 's-1', customerOrderId: 'C-22', actor: 'Ada', reason: 'request 4711' }
    expect(await eraseBuyer(stage.database, request)).toMatchObject({ ok: true })
    const third = await storeVersion('22', 3, { Shipped: 2 }, buyers[1])
    for (const [time, status] of [
      [first, 410],
      [second, 410],
      [third, 200],
    ] as const) {
      const answer = await ask('22', time)
      expect(answer.status).toBe(status)
      for (const name of buyers) expect(JSON.stringify(answer.body)).not.toContain(name)
    }
  })
})
