import { beforeEach, describe, expect, test } from 'vitest'
import type { RateLimitSnapshot } from '../../src/domain/values/rate-limit-snapshot.ts'
import { readGaugeValues } from '../../src/store/sellers/gauge-values.ts'
import { announceSellers } from '../../src/store/sellers/seller-processes.ts'
import { pauseSeller, recordSellers, stopSeller } from '../../src/store/sellers/sellers.ts'
import { numbered } from '../support/changes.ts'
import { acknowledgement, storeCommand } from '../support/commands.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, ofItems } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase({ each: 'test' })
let server: TestServer
let reported: RateLimitSnapshot[]
let ran: { sellerId: string | null }[]
beforeEach(async () => {
  ran = []
  reported = []
  server = await startServer(stage.database, {
    sellers: () => ['s-1', 's-2'],
    budget: async () => reported,
    syncs: {
      resources: ['orders'],
      backfillable: ['orders'],
      reach: (_resource: string, now: Date) => ({ from: new Date(0), to: now }),
      run: async (request) => {
        ran.push(request)
        return [`${request.sellerId ?? 'all'}/orders`]
      },
    },
  })
  const mark = { credentialsFingerprint: 'f' }
  await recordSellers(stage.database, [
    { sellerId: 's-1', ...mark },
    { sellerId: 's-2', ...mark },
    { sellerId: 's-old', ...mark },
  ])
  return async () => {
    await server.close()
  }
})

const post = (path: string, body?: object) =>
  server.json(path, {
    method: 'POST',
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
const stop = (sellerId: string) =>
  stopSeller(stage.database, { sellerId, credentialsFingerprint: 'f', resumes: 0 }, 'the marketplace refuses the credentials')

const idle = {
  removedAt: null,
  removedBy: null,
  servedBy: [],
  openOrders: 0,
  lateOrders: 0,
  openCommands: 0,
  heldCommands: 0,
  waitingEvents: 0,
  quarantined: 0,
  openAlarms: 0,
  failingStreams: 0,
  ordersLagSeconds: null,
  furthestBehind: null,
  waitingOperations: [],
  mode: 'live',
  modeSince: expect.stringMatching(/^\d{4}-.*Z$/),
  modeBy: null,
}

test('sellers are listed with state, reason and since, page by page', async () => {
  await stop('s-1')
  await pauseSeller(stage.database, { sellerId: 's-2', actor: 'Ada', reason: 'stock-taking' })
  const { status, body } = await server.json('/v1/sellers')
  expect(status).toBe(200)
  expect(body).toEqual({
    items: [
      {
        sellerId: 's-1',
        state: 'stopped',
        reason: 'the marketplace refuses the credentials',
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        pausedBy: null,
        nextProbeAt: expect.stringMatching(/^\d{4}-.*Z$/),
        served: true,
        ...idle,
        openAlarms: 1,
      },
      {
        sellerId: 's-2',
        state: 'paused',
        reason: 'stock-taking',
        since: expect.any(String),
        pausedBy: 'Ada',
        nextProbeAt: null,
        served: true,
        ...idle,
      },
      {
        sellerId: 's-old',
        state: 'active',
        reason: null,
        since: null,
        pausedBy: null,
        nextProbeAt: null,
        served: false,
        ...idle,
      },
    ],
    nextCursor: null,
  })
  const first = (await server.json('/v1/sellers?limit=2')).body
  expect(at(first, 'items')).toHaveLength(2)
  expect(at((await server.json(`/v1/sellers?cursor=${at(first, 'nextCursor')}`)).body, 'items')).toMatchObject([
    { sellerId: 's-old' },
  ])
})

test('what waits for rate budget is named with its scope, and by the commands that wait where no process has reported it', async () => {
  const limit = { sellerId: 's-1', operation: 'reconciliation.report', available: 0, perMinute: 1, blockedUntil: null }
  reported = ['2026-10', '2026-11'].map((scope) => ({ ...limit, scope }))
  for (const purchaseOrderId of ['1', '2'])
    await seedOrder(stage.database, 's-1', purchaseOrder(purchaseOrderId, [orderLine('1', 'A', 1)]))
  const [waits, ails] = await Promise.all(
    ['1', '2'].map((purchaseOrderId) => storeCommand(stage.database, { sellerId: 's-1', purchaseOrderId }, acknowledgement)),
  )
  const waitingNow = async () => at((await server.json('/v1/sellers?sellerId=s-1')).body, 'items', 0, 'waitingOperations')
  const ofReports = ['2026-10', '2026-11'].map((scope) => ({ operation: 'reconciliation.report', scope, until: null }))
  expect(await waitingNow()).toEqual(ofReports)

  await stage.database.execute(`UPDATE tallyman.commands SET next_action_at = '2100-01-01T00:00:00Z' WHERE id = $1`, waits)
  await stage.database.execute(
    `UPDATE tallyman.commands SET next_action_at = '2099-01-01T00:00:00Z', troubled_since = now() WHERE id = $1`,
    ails,
  )
  const acknowledge = { operation: 'orders.acknowledge', scope: null, until: '2100-01-01T00:00:00.000Z' }
  expect(await waitingNow()).toEqual([...ofReports, acknowledge])
  reported.push({ ...limit, operation: 'orders.acknowledge', scope: null })
  expect(await waitingNow()).toEqual([...ofReports, acknowledge])
})

test('a person pauses with a reason and resumes, with or without one', async () => {
  expect(await post('/v1/sellers/s-1/pause', { actor: 'Ada', reason: 'stock-taking' })).toMatchObject({
    status: 200,
    body: { sellerId: 's-1', state: 'paused', reason: 'stock-taking', pausedBy: 'Ada' },
  })
  for (const body of [{}, { actor: 'Ada' }, { actor: 'Ada', reason: ' ' }, { reason: 'x', until: 'tomorrow' }]) {
    expect(await post('/v1/sellers/s-1/pause', body)).toMatchObject({ status: 422, body: { code: 'invalid-body' } })
  }
  expect(await post('/v1/sellers/s-1/resume', { actor: 'Ada', reason: 'done' })).toMatchObject({
    status: 200,
    body: { state: 'active', reason: null, since: null },
  })
  await stop('s-2')
  expect(await post('/v1/sellers/s-2/resume')).toMatchObject({ status: 200, body: { state: 'active' } })
  for (const route of ['pause', 'resume']) {
    expect(await post(`/v1/sellers/nobody/${route}`, { reason: 'x' })).toMatchObject({ status: 404, body: { code: 'not-found' } })
  }
  await numbered(stage.database)
  const { body } = await server.json('/v1/changes?after=0')
  expect(listAt(body, 'items').map((change) => [at(change, 'type'), at(change, 'data')])).toEqual([
    ['seller.paused', { actor: 'Ada', reason: 'stock-taking' }],
    ['seller.resumed', { by: 'person', actor: 'Ada', reason: 'done' }],
    ['seller.stopped', { reason: 'the marketplace refuses the credentials' }],
    ['seller.resumed', { by: 'person', actor: 'operator', reason: null }],
  ])
})

describe('a removal', () => {
  const remove = (sellerId: string, query = '') => server.json(`/v1/sellers/${sellerId}${query}`, { method: 'DELETE' })
  const listIds = async (query: string) => ofItems((await server.json(`/v1/sellers${query}`)).body, 'sellerId')
  const serve = (process: string) =>
    announceSellers(stage.database, { process, roles: ['worker'], sellerIds: ['s-old'], faults: [] }, 0)

  test('deletes a seller without a past, and finds none the second time', async () => {
    expect(await remove('s-old', '?reason=mistyped&actor=Ada')).toMatchObject({
      status: 200,
      body: { sellerId: 's-old', deleted: true, removedAt: null },
    })
    expect([await listIds(''), await listIds('?removed=true')]).toEqual([['s-1', 's-2'], []])
    expect(await remove('s-old')).toMatchObject({ status: 404, body: { code: 'not-found', detail: 'There is no seller s-old.' } })
    expect(await remove('nobody')).toMatchObject({ status: 404 })
    expect(await remove('s-old', '?reason=')).toMatchObject({ status: 400 })
  })

  test('is refused while a process serves it, with its name and what to do', async () => {
    await serve('host@mark-7-00000000')
    const { status, body } = await remove('s-old')
    expect({ status, code: at(body, 'code') }).toEqual({ status: 409, code: 'seller-served' })
    expect(at(body, 'detail')).toMatch(
      /^Seller s-old is served by host@mark-7-00000000\. Remove it from SELLERS_FILE .*`tallyman sellers reload`, POST \/v1\/sellers\/reload\), and try again/,
    )
    const knowing = await startServer(stage.database, { hasEnded: (name) => name === 'host@mark-7-00000000' })
    const servedBy = async (by: TestServer) => at((await by.json('/v1/sellers?sellerId=s-old')).body, 'items', 0, 'servedBy')
    expect([await servedBy(server), await servedBy(knowing)]).toEqual([['host@mark-7-00000000'], []])
    expect(await knowing.json('/v1/sellers/s-old', { method: 'DELETE' })).toMatchObject({ status: 200 })
    await knowing.close()
  })

  test('is refused while something is not settled, with how many and what to do', async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
       VALUES ('a', 's-old', '1', 'ship', 'verifying', '{}'), ('b', 's-old', '2', 'ship', 'held', '{}')`,
    )
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', '1', 'x', '{"sellerId": "s-old"}')`,
    )
    expect(await remove('s-old')).toMatchObject({
      status: 409,
      body: {
        code: 'seller-unsettled',
        detail:
          'Seller s-old has 2 commands that are not settled (1 of unknown outcome, 1 held for a person), 1 event that waits to be decided: ' +
          'decide its commands (`tallyman commands`), end its events (`tallyman events reject`), or let a process serve it until they are done, and try again.',
      },
    })
    await stage.database.execute(`UPDATE tallyman.commands SET state = 'rejected'`)
    await stage.database.execute(`UPDATE tallyman.erp_event SET status = 'rejected'`)
    await stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, lease_until) VALUES ('s-old', 'orders', 'sweep', now() + interval '1 minute')`,
    )
    expect(await remove('s-old')).toMatchObject({
      status: 409,
      body: { detail: 'Seller s-old has 1 stream being read now: wait half a minute, and try again.' },
    })
  })

  test('hides a seller with a past: it is listed when asked for, and nothing of it is open', async () => {
    await seedOrder(stage.database, 's-old', purchaseOrder('1', [orderLine('1', 'A', 1)]))
    const { execute } = stage.database
    await execute(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
       VALUES ('s-old', 'returns', '\\x01', '{}', 'no lines', now())`,
    )
    await execute(
      `INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, month, kind, report_units, expected_units, log_entry_ids, log_entries, earliest_day, state)
       VALUES ('s-old', 'A', '2026-02-01', 'balance', 1, 0, '{}', 0, '2026-02-01', 'open')`,
    )
    await execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, failures) VALUES ('s-old', 'orders', 'released', 3)`,
    )
    await execute(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) VALUES ('s-old', 'sync-failing', 'orders', 'look')`,
    )
    const open = async () => {
      const of = async (path: string) => ofItems((await server.json(path)).body, 'sellerId')
      const { body } = await server.json('/v1/overview')
      return {
        counts: [
          at(body, 'orders', 'open'),
          at(body, 'orders', 'late'),
          at(body, 'quarantined'),
          at(body, 'discrepancies'),
          at(body, 'alarms'),
        ],
        orders: [await of('/v1/orders?open=true'), await of('/v1/orders?late=true'), await of('/v1/orders?unacknowledged=true')],
        states: at((await server.json('/v1/order-states?days=30')).body, 'open'),
        others: [await of('/v1/quarantine'), await of('/v1/discrepancies'), await of('/v1/syncs'), await of('/v1/alarms')],
        failing: listAt((await server.json('/v1/lags')).body, 'items').map((lag) => at(lag, 'failing')),
        figure: (await readGaugeValues(stage.database)).quarantinedRecords,
      }
    }
    const old = ['s-old']
    expect(await open()).toEqual({
      ...{ counts: [1, 1, 1, 1, 1], orders: [old, old, []], states: 1, others: [old, old, old, old], failing: [1], figure: 1 },
    })
    const { status, body } = await remove('s-old', '?actor=Ada')
    expect({ status, body }).toEqual({ status: 200, body: { sellerId: 's-old', deleted: false, removedAt: expect.any(String) } })
    expect(await open()).toEqual({
      ...{ counts: [0, 0, 0, 0, 0], orders: [[], [], []], states: 0, others: [[], [], [], []], failing: [], figure: 0 },
    })

    expect(await listIds('')).toEqual(['s-1', 's-2'])
    expect(at((await server.json('/v1/sellers?removed=true')).body, 'items')).toMatchObject([
      { sellerId: 's-old', removedAt: at(body, 'removedAt'), removedBy: 'Ada', openOrders: 1, failingStreams: 1 },
    ])
    expect([await listIds('?sellerId=s-old'), await listIds('?sellerId=s-old&removed=false')]).toEqual([old, []])
    for (const path of ['/v1/orders?open=true&', '/v1/orders?', '/v1/quarantine?', '/v1/discrepancies?', '/v1/syncs?'])
      expect([path, ofItems((await server.json(`${path}sellerId=s-old`)).body, 'sellerId')]).toEqual([path, old])
    expect((await server.json('/v1/orders/1')).status).toBe(200)
    expect(ofItems((await server.json('/v1/orders')).body, 'sellerId')).toEqual(old)
    expect(await remove('s-old')).toMatchObject({ status: 200, body: { deleted: false, removedAt: at(body, 'removedAt') } })
  })
})

test('a sync of a seller that is stopped or paused is refused at once, with since when and why', async () => {
  await stop('s-1')
  for (const body of [{ sellerId: 's-1' }, { sellerId: 's-1', from: '2026-01-01' }]) {
    expect(await post('/v1/syncs/orders/run', body)).toMatchObject({
      status: 409,
      body: {
        code: 'seller-stopped',
        detail: expect.stringMatching(/seller s-1 is stopped since \d{4}-\S+Z: the marketplace refuses the credentials/),
      },
    })
  }
  expect(ran).toEqual([])
  expect(await post('/v1/syncs/orders/run')).toMatchObject({ status: 202, body: { resting: ['s-1'] } })
  expect(await post('/v1/syncs/orders/run', { sellerId: 's-2' })).toMatchObject({ status: 202, body: { resting: [] } })
  expect(ran).toHaveLength(2)
  await pauseSeller(stage.database, { sellerId: 's-2', actor: 'Ada', reason: 'stock-taking' })
  expect(await post('/v1/syncs/orders/run')).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('seller s-2 is paused since') },
  })
  expect(ran).toHaveLength(2)
})

test('a seller is listed with its open work, its failing streams and the lag of its orders, and not with those of others', async () => {
  await stage.database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
     VALUES ('a', 's-1', '1', 'ship', 'pending', '{}'), ('b', 's-1', '2', 'ship', 'confirmed', '{}'), ('c', 's-2', '3', 'ship', 'verifying', '{}')`,
  )
  await stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', '1', 'erp.order.accepted', '{"sellerId": "s-1", "purchaseOrderId": "1"}')`,
  )
  const state = (resource: string, stream: string, ago: string | null, failures: number) =>
    stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_success_at, failures) VALUES ('s-1', $1, $2, now() - $3::interval, $4::int)`,
      resource,
      stream,
      ago,
      failures,
    )
  await state('orders', 'released', '10 seconds', 0)
  await state('orders', 'changed:SellerFulfilled', '90 seconds', 1)
  await state('orders', 'sweep', '1 day', 0)
  await state('returns', 'changed', null, 3)
  const shown = async (query: string) => (await server.json(`/v1/sellers${query}`)).body
  expect(await shown('?sellerId=s-1')).toMatchObject({
    items: [
      { sellerId: 's-1', openCommands: 1, waitingEvents: 1, failingStreams: 2, ordersLagSeconds: expect.closeTo(90, -1.5) },
    ],
    nextCursor: null,
  })
  expect(await shown('?sellerId=s-2')).toMatchObject({ items: [{ ...idle, sellerId: 's-2', openCommands: 1 }] })
  expect(await shown('?sellerId=nobody')).toMatchObject({ code: 'not-found', detail: 'There is no seller nobody.' })
  // One of the polled streams has never been read to its end.
  await state('orders', 'changed:WFSFulfilled', null, 0)
  expect(await shown('?sellerId=s-1')).toMatchObject({ items: [{ ordersLagSeconds: null }] })
})

test('a seller is listed with its orders, what waits for a person, and the stream that is furthest behind', async () => {
  const { execute } = stage.database
  // The marketplace's time is the morning of 2026-03-10.
  await execute(
    `INSERT INTO warehouse.orders (seller_id, purchase_order_id, customer_order_id, order_date, ship_node_type, estimated_ship_date, customer_name,
       shipping_address, total_amount, currency, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT seller_id, id, id, '2026-03-01', node, ship_by::timestamptz, 'Ann', '{}', 1, 'USD', open, decode(md5(id), 'hex'), '{}', now(), now(), now()
     FROM (VALUES ('s-1', '1', 'SellerFulfilled', '2026-03-09', true), ('s-1', '2', 'SellerFulfilled', '2026-03-11', true),
       ('s-1', '3', 'WFSFulfilled', '2026-03-09', true), ('s-1', '4', 'SellerFulfilled', '2026-03-09', false),
       ('s-2', '5', 'SellerFulfilled', '2026-03-11', true)) AS t(seller_id, id, node, ship_by, open)`,
  )
  await execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
     VALUES ('a', 's-1', '1', 'ship', 'held', '{}'), ('b', 's-1', '2', 'ship', 'rejected', '{}')`,
  )
  await execute(
    `INSERT INTO tallyman.alarms (seller_id, kind, subject, message, resolved_at)
     VALUES ('s-1', 'command-held', 'a', 'decide', NULL), ('s-1', 'command-rejected', 'b', 'look', now())`,
  )
  await execute(
    `INSERT INTO tallyman.quarantined_records (seller_id, resource, record_key, raw_hash, raw_text, fault, state, observed_at)
     SELECT 's-1', 'returns', key, decode(md5(key), 'hex'), '{}', 'no lines', state, now()
     FROM (VALUES ('R-1', 'open'), ('R-2', 'open'), ('R-3', 'replayed')) AS t(key, state)`,
  )
  await execute(
    `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_success_at)
     SELECT 's-1', resource, stream, now() - ago::interval
     FROM (VALUES ('orders', 'released', '10 seconds'), ('returns', 'changed', '2 hours'), ('settlements', 'reports', NULL),
       ('orders', 'backfill:1', '9 days'), ('replenishment', 'all', '8 days')) AS t(resource, stream, ago)`,
  )
  await execute(
    `INSERT INTO tallyman.enrolments (seller_id, resource, enrolled, detail) VALUES ('s-1', 'replenishment', false, 'not in the programme')`,
  )
  const { body } = await server.json('/v1/sellers')
  expect(at(body, 'items')).toMatchObject([
    {
      ...idle,
      sellerId: 's-1',
      openOrders: 3,
      lateOrders: 1,
      heldCommands: 1,
      quarantined: 2,
      openAlarms: 1,
      ordersLagSeconds: expect.closeTo(10, -1.5),
      furthestBehind: { resource: 'returns', stream: 'changed', lagSeconds: expect.closeTo(7_200, -2) },
    },
    { ...idle, sellerId: 's-2', openOrders: 1 },
    { ...idle, sellerId: 's-old' },
  ])
})
