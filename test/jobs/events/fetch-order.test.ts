import path from 'node:path'
import { expect, test } from 'vitest'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { computeShare } from '../../../src/clients/rate-limit/budget.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { acceptEvents } from '../../../src/jobs/events/accept.ts'
import { createOrderFetcher, type OrderPresence } from '../../../src/jobs/events/fetch-order.ts'
import { processReceivedEvent } from '../../../src/jobs/events/process.ts'
import { unreadableOrders } from '../../../src/store/alarms/alarm-conditions.ts'
import { pauseSeller, recordSellers } from '../../../src/store/sellers/sellers.ts'
import { wireOrderSample } from '../../clients/samples.ts'
import { type Answer, generousLimits, sendJson, startClient, startMarketplace } from '../../clients/servers.ts'
import { withDatabase } from '../../support/database.ts'

const stage = withDatabase({ each: 'test' })

const none = { errors: { error: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' }] } }
const clock = { nowMs: 0 }

/** A fetcher over a marketplace that gives these answers, the last one again and again. */
const startFetcher = (...answers: readonly (readonly [status: number, body: unknown])[]) =>
  startFetcherAt((_request, response, index) => {
    // The first request is for the token.
    const [status, body] = answers[Math.min(index - 1, answers.length - 1)] ?? [500, '']
    sendJson(response, status, body)
  })

/** A fetcher over a marketplace that answers so. */
const startFetcherAt = async (answer: Answer, limits = generousLimits) => {
  const { url, seen } = await startMarketplace(answer)
  const { client } = startClient(url, { budget: createInProcessBudget({ limits }) })
  const sellers = { only: () => 'S-1', has: () => true }
  const getOrdersClient = () => client.of(ordersEndpoint)
  clock.nowMs = 1_000_000
  const parts = {
    database: stage.database,
    getOrdersClient,
    quiet: { warn: () => undefined },
    secondAskMs: 20,
    now: () => clock.nowMs,
  }
  const fetcher = createOrderFetcher(parts)
  const accept = { database: stage.database, sellers, fetcher, onStored: () => undefined }
  const asked = () => seen.filter(({ target }) => target !== '/v3/token').length
  const ensure = (purchaseOrderId = '108', { signal } = new AbortController()): Promise<OrderPresence> =>
    fetcher.ensure({ sellerId: 'S-1', purchaseOrderId }, signal)
  return { ensure, asked, accept }
}

/** Acceptances of so many orders. */
const acceptances = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    source: 'erp',
    id: `many-${index}`,
    type: 'erp.order.accepted',
    data: { purchaseOrderId: String(7_000 + index) },
  }))

test.each([
  ['CONTENT_NOT_FOUND', none],
  ['another code of its own', { errors: [{ code: 'ORDER_NOT_FOUND' }] }],
])('an order is unknown when the marketplace has said so twice (%s)', async (_name, body) => {
  const { ensure, asked } = await startFetcher([404, body])
  expect(await ensure()).toEqual({ presence: 'unknown' })
  expect(asked()).toBe(2)
})

test('a denial that is false is made up for', async () => {
  const { ensure, asked } = await startFetcher([404, none], [200, { order: wireOrderSample('108') }])
  expect(await ensure()).toEqual({ presence: 'stored' })
  expect(asked()).toBe(2)
})

test.each([
  [403, '<html><body>Access Denied</body></html>'],
  [404, '<html><body>Not here</body></html>'],
  [404, '<?xml version="1.0"?><error><code>CONTENT_NOT_FOUND</code></error>'],
  [404, ''],
  [404, { timestamp: 'x', status: 404, error: 'Not Found', path: '/v3/orders/108' }],
  [404, { message: 'no Route matched with those values' }],
  [404, { errors: [{ code: 'URI_NOT_FOUND.GMP_GATEWAY_API' }] }],
  [400, { errors: [{ code: 'INVALID_REQUEST_PARAM.GMP_ORDER_API' }] }],
  [403, { errors: [{ code: 'FORBIDDEN.GMP_GATEWAY_API' }] }],
  [410, ''],
  [422, { errors: [{ code: 'UNPROCESSABLE_ENTITY' }] }],
  [429, ''],
  [500, { errors: [{ code: 'CONTENT_NOT_FOUND' }] }],
])('%i %j says nothing of the order: its event waits, however often it comes', async (status, body) => {
  const { accept, asked } = await startFetcher([status, body])
  const event = { source: '/erp', id: 'e-1', type: 'erp.order.accepted', data: { purchaseOrderId: '108' } }
  const { signal } = new AbortController()
  expect(await acceptEvents(accept, [event], signal)).toMatchObject({ ok: true, receipts: [{ state: 'received' }] })
  for (let look = 0; look < 3; look += 1) {
    clock.nowMs += 3_700_000
    expect(await processReceivedEvent(accept, event, signal)).toMatchObject({ dueInMs: expect.any(Number) })
  }
  expect(asked()).toBeGreaterThan(status === 429 ? 0 : 1)
  expect(await stage.database.query('SELECT status FROM tallyman.erp_event')).toEqual([{ status: 'received' }])
  expect(await stage.database.query('SELECT 1 AS alarm FROM tallyman.alarms')).toEqual([])
})

test('an order that cannot be asked for is asked for again when its marketplace says, or after a pause that grows', async () => {
  const { ensure } = await startFetcher([503, ''])
  expect(await ensure()).toMatchObject({ presence: 'later', againInMs: 2_000 })
  clock.nowMs += 500
  expect(await ensure('109')).toMatchObject({ presence: 'later', againInMs: 1_500 })
  clock.nowMs += 1_500
  expect(await ensure()).toMatchObject({ presence: 'later', againInMs: 4_000 })
})

test('an order that cannot be read raises its alarm at once, and its event says so for as long as it waits', async () => {
  const wire: object = wireOrderSample('108')
  const { ensure, asked } = await startFetcher([200, { order: { ...wire, orderLines: 'none' } }], [200, { order: wire }])
  const reason = expect.stringMatching(/^order 108 cannot be read \(orderLines: .*\); it is record \d+ of the quarantine$/)
  expect(await ensure('108')).toMatchObject({ presence: 'later', reason })
  const before = asked()
  expect(await ensure('108')).toMatchObject({ presence: 'later', reason })
  expect(asked()).toBe(before)
  expect(await stage.database.query('SELECT seller_id, kind, message FROM tallyman.alarms')).toEqual([
    {
      seller_id: 'S-1',
      kind: 'order-unreadable',
      message: "order 108 cannot be read: the marketplace's records are in quarantine and not stored",
    },
  ])
  await stage.database.execute(`UPDATE tallyman.quarantined_records SET observed_at = observed_at - interval '1 minute'`)
  clock.nowMs += 2_000
  expect(await ensure('108')).toEqual({ presence: 'stored' })
  expect(await unreadableOrders(stage.database)).toEqual([])
})

test('orders that cannot be asked for at the same time fail together: the pause grows once', async () => {
  const { ensure } = await startFetcher([503, ''])
  const atOnce = () => Promise.all(['1', '2', '3', '4', '5', '6'].map((id) => ensure(id)))
  for (const againInMs of [2_000, 4_000]) {
    for (const one of await atOnce()) expect(one).toMatchObject({ presence: 'later', againInMs })
    clock.nowMs += againInMs
  }
})

test('one denial in the middle of an outage is not believed', async () => {
  const { ensure } = await startFetcher([404, none], [503, ''])
  expect(await ensure()).toMatchObject({ presence: 'later' })
})

test('of many orders of one request some are waited for; the others are decided when they come again', async () => {
  const { ensure, asked } = await startFetcher([404, none])
  const request = new AbortController()
  const presences: string[] = []
  for (const id of ['1', '2', '3', '4']) presences.push((await ensure(id, request)).presence)
  expect(presences).toEqual(['unknown', 'unknown', 'later', 'later'])
  const before = asked()
  // Not before its time.
  expect(await ensure('3', request)).toMatchObject({ presence: 'later' })
  expect(asked()).toBe(before)
  clock.nowMs += 1_000
  expect(await ensure('3', request)).toEqual({ presence: 'unknown' })
  expect(asked()).toBe(before + 1)
  // What was said long ago does not count any more.
  clock.nowMs += 86_400_000
  expect(await ensure('4', request)).toMatchObject({ presence: 'later' })
})

test('the marketplace is not asked for a seller that is stopped or paused', async () => {
  const { ensure, asked } = await startFetcher([200, { order: wireOrderSample('108') }])
  await recordSellers(stage.database, [{ sellerId: 'S-1', credentialsFingerprint: 'f' }])
  await pauseSeller(stage.database, { sellerId: 'S-1', actor: 'Ada', reason: 'stock-taking' })
  expect(await ensure()).toEqual({ presence: 'later', reason: 'seller S-1 is stopped or paused', againInMs: null })
  expect(asked()).toBe(0)
})

test.each(['.', '..', '', '../../secret', 'a/b', 'a\\b', '..%2F', 'a b', 'a?b', 'a#b', 'a\u0000b', 'a\nb'])(
  'an id that would be another path (%j) is never sent',
  async (id) => {
    const { ensure, asked, accept } = await startFetcher([200, { order: wireOrderSample('108') }])
    // Nothing looks for text that Postgres cannot hold.
    if (!id.includes('\u0000')) expect(await ensure(id)).toEqual({ presence: 'unknown' })
    const event = { source: 'erp', id: 'e-path', type: 'erp.order.accepted', data: { purchaseOrderId: id } }
    const verdict = await acceptEvents(accept, [event], new AbortController().signal)
    expect(verdict).toMatchObject({ ok: false, reason: 'invalid' })
    if (verdict.ok || verdict.reason !== 'invalid') throw new Error('it was accepted')
    expect(verdict.faults.map(({ path }) => path)).toContain('data.purchaseOrderId')
    expect(asked()).toBe(0)
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('sql', 'e', 'erp.order.accepted', $1::jsonb)`,
      JSON.stringify({ purchaseOrderId: id.replace('\u0000', '\u0001') }),
    )
    expect(await processReceivedEvent(accept, { source: 'sql', id: 'e' }, new AbortController().signal)).toBe('settled')
    expect(await stage.database.query(`SELECT status FROM tallyman.erp_event WHERE source = 'sql'`)).toEqual([
      { status: 'rejected' },
    ])
    expect(asked()).toBe(0)
  },
)

test('a batch of a thousand unknown orders asks for some of them, and its other events wait', async () => {
  const { asked, accept } = await startFetcher([404, none])
  const verdict = await acceptEvents(accept, acceptances(1_000), new AbortController().signal)
  // Two are asked for twice, and are unknown then.
  if (verdict.ok || verdict.reason !== 'invalid') throw new Error('it was accepted')
  expect(verdict.faults).toHaveLength(2)
  expect(asked()).toBe(52)
})

test('orders of one post are looked up side by side, eight at once', async () => {
  const held: (() => void)[] = []
  let most = 0
  const { asked, accept } = await startFetcherAt(({ target }, response) => {
    held.push(() => sendJson(response, 200, { order: wireOrderSample(path.basename(target)) }))
    most = Math.max(most, held.length)
    if (held.length === 8) for (const answer of held.splice(0)) answer()
  })
  const verdict = await acceptEvents(accept, acceptances(16), new AbortController().signal)
  if (!verdict.ok) throw new Error('it was not accepted')
  expect(verdict.receipts.map(({ state }) => state)).toEqual(Array(16).fill('accepted'))
  expect(asked()).toBe(16)
  expect(most).toBe(8)
})

test('a post is answered in time though its orders are not: its events wait, and the seller is left alone for a moment', async () => {
  const { asked, accept, ensure } = await startFetcherAt(() => undefined)
  const startedMs = performance.now()
  const verdict = await acceptEvents({ ...accept, lookUpMs: 500 }, acceptances(30), new AbortController().signal)
  expect(performance.now() - startedMs).toBeLessThan(4_000)
  if (!verdict.ok) throw new Error('it was not accepted')
  expect(verdict.receipts.map(({ state }) => state)).toEqual(Array(30).fill('received'))
  expect(asked()).toBe(8)
  expect(await ensure()).toMatchObject({ presence: 'later', againInMs: 2_000 })
  expect(asked()).toBe(8)
})

test('lookups of a seller take a share of the budget, and leave the rest to others', async () => {
  const budget = createInProcessBudget({ findLimit: (_sellerId, { limit }) => computeShare(limit, 0.002) })
  const { ensure, asked } = await startFetcher([200, { order: wireOrderSample('108') }])
  const fetcher = createOrderFetcher({
    database: stage.database,
    getOrdersClient: () => ({ get: async () => null }),
    quiet: { warn: () => undefined },
    mayAsk: (sellerId) => budget.take(sellerId, ordersEndpoint.operations.get),
    secondAskMs: 1,
  })
  const found: OrderPresence[] = []
  for (let index = 0; index < 20; index += 1)
    found.push(await fetcher.ensure({ sellerId: 'S-1', purchaseOrderId: String(index) }, new AbortController().signal))
  const waiting = found.filter(({ presence }) => presence === 'later')
  expect(waiting.length).toBeGreaterThan(15)
  for (const one of waiting) expect(one).toMatchObject({ againInMs: expect.any(Number) })
  expect(found[0]).toEqual({ presence: 'unknown' })
  expect(await ensure()).toEqual({ presence: 'stored' })
  expect(asked()).toBe(1)
})

test('an event whose order the budget does not let be asked for says so, and not that there was no answer', async () => {
  const limits = { ...generousLimits, 'orders.get': { tokens: 1, perMs: 60_000 } }
  const { ensure, asked } = await startFetcherAt(
    (_request, response) => sendJson(response, 200, { order: wireOrderSample('108') }),
    limits,
  )
  expect(await ensure()).toEqual({ presence: 'stored' })
  expect(await ensure('109')).toEqual({
    presence: 'later',
    reason: 'the rate budget lets its order be looked up later',
    againInMs: expect.any(Number),
  })
  expect(asked()).toBe(1)
})
