import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { at, listAt, membersAt, textAt, textOrNullAt } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { idleQueue, startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
  for (const id of ['10', '11', '12'])
    await seedOrder(
      stage.database,
      's-1',
      purchaseOrder(id, [orderLine('1', 'A', 3), orderLine('2', id === '12' ? 'B' : 'C', 2)]),
    )
  await seedOrder(stage.database, 's-2', purchaseOrder('12', [orderLine('1', 'A', 1)]))
  await seedOrder(stage.database, 's-1', purchaseOrder('13', [orderLine('1', 'D', 1, { shipped: 1 })]))
})
afterAll(async () => {
  await server.close()
})

const post = (path: string, body?: unknown) =>
  server.json(path, {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
const ship = async (id: string, purchaseOrderId: string, quantity: number): Promise<string> => {
  const event = cloudEvent(buildDispatch({ purchaseOrderId }, id, reportedParcel(id, { sku: 'A', quantity })))
  const answer = await server.json('/v1/events', {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(event),
  })
  return textAt(answer.body, 'items', 0, 'commands', 0)
}
/** All items of a list, page after page of this size. */
const all = async (path: string, limit: number) => {
  const items: Record<string, unknown>[] = []
  let pages = 0
  let cursor: string | null = null
  do {
    const { status, body } = await server.json(
      `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    expect(status).toBe(200)
    expect(listAt(body, 'items').length).toBeLessThanOrEqual(limit)
    items.push(...listAt(body, 'items').map((item) => membersAt(item)))
    cursor = textOrNullAt(body, 'nextCursor')
    pages += 1
  } while (cursor !== null)
  return { items, pages }
}

describe('orders', () => {
  test('are listed page by page, each once', async () => {
    const { items, pages } = await all('/v1/orders', 2)
    expect(items.map(({ sellerId, purchaseOrderId }) => `${sellerId} ${purchaseOrderId}`)).toEqual([
      's-1 10',
      's-1 11',
      's-1 12',
      's-1 13',
      's-2 12',
    ])
    expect(pages).toBe(3)
    expect(items[0]).toMatchObject({
      open: true,
      totalAmount: '10.00',
      lines: [{ lineNumber: '1', sku: 'A', ordered: 3, shipped: 0 }, { lineNumber: '2' }],
    })
  })

  test.each([
    ['open=false', ['s-1 13']],
    ['sku=B', ['s-1 12']],
    ['sellerId=s-2', ['s-2 12']],
    ['open=true&sku=A&sellerId=s-1', ['s-1 10', 's-1 11', 's-1 12']],
    ['late=true&sellerId=s-1', ['s-1 10', 's-1 11', 's-1 12']],
  ])('are filtered by %s', async (query, expected) => {
    const { items } = await all(`/v1/orders?${query}`, 1)
    expect(items.map(({ sellerId, purchaseOrderId }) => `${sellerId} ${purchaseOrderId}`)).toEqual(expected)
  })

  test('are late by the clock of the marketplace', async () => {
    const early = await startServer(stage.database, { marketplaceNow: () => new Date('2026-03-03T09:59:00Z') })
    expect(at((await early.json('/v1/orders?late=true&sellerId=s-1')).body, 'items')).toEqual([])
    expect(at((await early.json('/v1/overview')).body, 'orders')).toMatchObject({ open: 4 })
    await early.close()
    expect(at((await server.json('/v1/overview')).body, 'orders')).toMatchObject({ open: 4, late: 4 })
  })

  test('one shows lines, units, commands and history', async () => {
    const commandId = await ship('o-1', '10', 2)
    await numbered(stage.database)
    const { status, body } = await server.json('/v1/orders/10')
    expect(status).toBe(200)
    expect(body).toMatchObject({ sellerId: 's-1', purchaseOrderId: '10', customerName: 'A Buyer', open: true })
    expect(at(body, 'lines', 0)).toMatchObject({
      lineNumber: '1',
      ordered: 3,
      shipped: 0,
      charges: [{ amount: '3.00' }],
      ledger: { reserved: { ship: 2, cancel: 0, refund: 0 }, inFlight: null, available: { ship: 1, cancel: 1, refund: 2 } },
    })
    expect(at(body, 'commands')).toMatchObject([
      {
        id: commandId,
        kind: 'ship',
        state: 'pending',
        event: { source: 'urn:erp', id: 'o-1' },
        lines: [{ lineNumber: '1', quantity: 2 }],
      },
    ])
    expect(at(body, 'history', 'versions')).toMatchObject([{ lastSeenAt: null, raw: { purchaseOrderId: '10' } }])
    expect(listAt(body, 'history', 'changes').map((change) => at(change, 'type'))).toEqual(
      expect.arrayContaining(['order.seen', 'command.pending']),
    )
  })

  test('by an id that several sellers have need the seller', async () => {
    expect(await server.json('/v1/orders/12')).toMatchObject({ status: 409, body: { code: 'ambiguous-order' } })
    expect(await server.json('/v1/orders/12?sellerId=s-2')).toMatchObject({ status: 200, body: { sellerId: 's-2' } })
    expect(await server.json('/v1/orders/12?sellerId=s-3')).toMatchObject({ status: 404 })
    expect(await server.json('/v1/orders/nothing')).toMatchObject({ status: 404, body: { code: 'not-found' } })
  })
})

describe('commands', () => {
  test('are listed newest first, page by page, and filtered', async () => {
    const ids: string[] = []
    for (const id of ['c-1', 'c-2', 'c-3']) ids.push(await ship(id, '11', 1))
    const { items } = await all('/v1/commands?purchaseOrderId=11', 2)
    expect(items.map(({ id }) => id)).toEqual([...ids].reverse())
    expect((await all('/v1/commands?eventId=c-2', 5)).items).toMatchObject([{ id: ids[1] }])
    expect((await all('/v1/commands?state=held&purchaseOrderId=11', 5)).items).toEqual([])
    expect(await server.json('/v1/commands?state=lost')).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'query.state' }] },
    })
  })

  test('show their attempts, evidence and decisions, and take what a person decides unless their request is leaving', async () => {
    const id = await ship('d-1', '12-none', 1).catch(() => null)
    expect(id).toBeNull()
    const commandId = await ship('d-2', '10', 1)
    const decision = { actor: 'Ada', reason: 'seen in the seller center' }
    await stage.database.execute(
      `UPDATE tallyman.commands SET state = 'sending', leased_until = now() + interval '1 minute' WHERE id = $1`,
      commandId,
    )
    expect(await post(`/v1/commands/${commandId}/confirm`, decision)).toMatchObject({
      status: 409,
      body: { code: 'illegal-state' },
    })

    await stage.database.execute(
      `UPDATE tallyman.commands SET state = 'held', attempts = 1, reason = 'unclear', evidence = '{"verdict":"unclear"}' WHERE id = $1`,
      commandId,
    )
    await stage.database.execute(
      `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, outcome, http_status, read_backs)
       VALUES ($1, 1, 'corr-1', '{"path":"/x"}', '{"lines":[]}', 'unknown', 504, '[{"at":"2026-03-02T10:00:00Z"}]')`,
      commandId,
    )
    expect(at((await server.json('/v1/overview')).body, 'commands')).toMatchObject({ held: 1 })
    const held = await server.json('/v1/commands?state=held')
    expect(at(held.body, 'items')).toMatchObject([
      {
        id: commandId,
        evidence: { verdict: 'unclear' },
        correlationIds: ['corr-1'],
        attempts: [{ httpStatus: 504, readBacks: [{}] }],
        decisions: [],
      },
    ])
    expect(await post(`/v1/commands/${commandId}/reject`, { actor: 'Ada' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'reason' }] },
    })
    expect(await post(`/v1/commands/${commandId}/confirm`, decision)).toMatchObject({
      status: 200,
      body: { id: commandId, state: 'confirmed' },
    })
    const after = await server.json(`/v1/commands/${commandId}`)
    expect(after.body).toMatchObject({
      state: 'confirmed',
      decisions: [{ ...decision, decision: 'confirm', evidence: { verdict: 'unclear' } }],
    })
    expect(at(after.body, 'settledAt')).toMatch(/Z$/)
    expect(await post(`/v1/commands/${commandId}/retry`, decision)).toMatchObject({ status: 409 })
    expect(await post('/v1/commands/nothing/retry', decision)).toMatchObject({ status: 404 })
  })
})

describe('syncs', () => {
  test('are listed page by page with their lag', async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, watermark, last_success_at, failures, last_error)
       SELECT 's-1', 'orders', 'stream-' || n, '2026-03-01T00:00:00Z', now() - interval '90 seconds', n, NULL FROM generate_series(1, 5) n`,
    )
    const { items, pages } = await all('/v1/syncs', 2)
    expect(items.map(({ stream }) => stream)).toEqual(['stream-1', 'stream-2', 'stream-3', 'stream-4', 'stream-5'])
    expect(pages).toBe(3)
    expect(items[0]).toMatchObject({ watermark: '2026-03-01T00:00:00.000Z', running: false, failures: 1 })
    expect(Number(items[0]?.['lagMs'])).toBeGreaterThanOrEqual(90_000)
  })

  test('can be run now, or for a time', async () => {
    expect(await post('/v1/syncs/orders/run')).toMatchObject({ status: 202, body: { resource: 'orders', jobs: ['orders~all'] } })
    expect(
      await post('/v1/syncs/returns/run', { sellerId: 's-1', from: '2026-01-01', to: '2026-02-01T00:00:00Z' }),
    ).toMatchObject({
      status: 202,
      body: { jobs: ['returns~s-1'] },
    })
    expect(await post('/v1/syncs/orders/run', { sellerId: 'nobody' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'sellerId' }] },
    })
    expect(await post('/v1/syncs/orders/run', { from: '2026-02-01', to: '2026-01-01' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'to' }] },
    })
    expect(await post('/v1/syncs/nothing/run')).toMatchObject({ status: 404 })
  })

  test('read what can be reached of a time, and say so', async () => {
    const wall = '2025-09-11T00:00:00.000Z'
    const now = '2026-03-10T00:00:00.000Z'
    for (const [from, to, range] of [
      ['2026-01-01', '2026-02-01', { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z', clamped: false }],
      ['0000-01-01', '2026-02-01', { from: wall, to: '2026-02-01T00:00:00.000Z', clamped: true }],
      ['0001-01-01', undefined, { from: wall, to: now, clamped: true }],
      ['2026-01-01', '9999-12-31T23:59:59-14:00', { from: '2026-01-01T00:00:00.000Z', to: now, clamped: true }],
    ] as const) {
      expect(await post('/v1/syncs/orders/run', { from, to }), from).toMatchObject({ status: 202, body: { range } })
    }
    for (const [from, to, path] of [
      ['0000-01-01', '0001-01-01', 'to'],
      ['2020-01-01', '2021-01-01', 'to'],
      ['2027-01-01', undefined, 'from'],
      ['9998-01-01', '9999-01-01', 'from'],
    ] as const) {
      expect(await post('/v1/syncs/orders/run', { from, to }), from).toMatchObject({ status: 422, body: { errors: [{ path }] } })
    }
  })
})

describe('quarantine and alarms', () => {
  test('are listed page by page', async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at, state)
       SELECT 's-1', 'orders', decode(lpad(n::text, 40, '0'), 'hex'), '{"n":' || n || '}', 'no lines', now(),
         CASE WHEN n = 3 THEN 'replayed' ELSE 'open' END FROM generate_series(1, 5) n`,
    )
    expect((await all('/v1/quarantine', 2)).items).toHaveLength(4)
    expect((await all('/v1/quarantine?state=all', 2)).items).toHaveLength(5)
    await stage.database.execute(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message, resolved_at)
       SELECT 's-1', 'sync-failing', 'subject ' || n, 'look', CASE WHEN n = 1 THEN now() END FROM generate_series(1, 4) n`,
    )
    const alarms = await all('/v1/alarms', 2)
    expect(alarms.items.map(({ subject }) => subject)).toEqual(['subject 4', 'subject 3', 'subject 2'])
    expect((await all('/v1/alarms?state=all', 3)).items).toHaveLength(4)
  })

  test('the alarm of a rejected event is closed by a person, others only by their cause', async () => {
    const raised = await stage.database.query<{ id: bigint; kind: string }>(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message)
       VALUES ('s-1', 'event-rejected', '/erp#1', 'look'), ('s-1', 'command-held', 'c-1', 'look') RETURNING id, kind`,
    )
    const findId = (kind: string) => raised.find((alarm) => alarm.kind === kind)?.id
    const close = (id: unknown) => post(`/v1/alarms/${String(id)}/resolve`, { actor: 'kim' })
    expect(await close(findId('event-rejected'))).toMatchObject({ status: 200 })
    expect(await close(findId('event-rejected'))).toMatchObject({ status: 409 })
    expect(await close(findId('command-held'))).toMatchObject({ status: 409 })
    expect(await close(999_999)).toMatchObject({ status: 404 })
  })

  test('a record is replayed, or the reason is reported', async () => {
    expect(await post('/v1/quarantine/1/replay')).toMatchObject({ status: 200, body: { id: '1', outcome: 'replayed' } })
    expect(await post('/v1/quarantine/2/replay')).toMatchObject({
      status: 422,
      body: { code: 'still-malformed', detail: 'no lines' },
    })
    expect(await post('/v1/quarantine/9/replay')).toMatchObject({ status: 404 })
    expect(await post('/v1/quarantine/x/replay')).toMatchObject({ status: 400, body: { errors: [{ path: 'path.id' }] } })
  })

  test('a record is dismissed with a reason, and once', async () => {
    const [row] = await stage.database.query<{ id: bigint }>(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
       VALUES ('s-1', 'orders', '\x77', '[]', 'no key', now()) RETURNING id`,
    )
    const path = `/v1/quarantine/${row?.id}/dismiss`
    expect(await post(path, { actor: 'kim' })).toMatchObject({ status: 422 })
    expect(await post(path, { actor: 'kim', reason: 'not to be had' })).toMatchObject({
      status: 200,
      body: { state: 'dismissed' },
    })
    expect(await post(path, { actor: 'kim', reason: 'again' })).toMatchObject({ status: 409 })
    expect(await post('/v1/quarantine/999999/dismiss', { actor: 'kim', reason: 'no such' })).toMatchObject({ status: 404 })
    const { items } = await all('/v1/quarantine?state=dismissed', 10)
    expect(items).toMatchObject([{ dismissedBy: 'kim', dismissedReason: 'not to be had', skipped: false, retryAt: null }])
  })
})

describe('the queue board', () => {
  test('shows the queues, loads nothing from other hosts, and refuses changes of read-only queues', async () => {
    const queue = idleQueue('commands')
    const board = await startServer(stage.database, { boardQueues: () => [{ queue, readOnly: true }] })
    const page = await board.fetch('/queues')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    const text = await page.text()
    expect(text).not.toContain('googleapis')
    expect(text).toContain('<a href="/"')
    expect(text).toContain('Back to the console')
    const script = /src="(static\/[^"]+)"/.exec(text)?.[1]
    expect((await board.fetch(`/queues/${script}`)).status).toBe(200)
    expect((await board.fetch('/queues/api/queues/commands/retry/failed', { method: 'PUT' })).status).toBe(405)
    await board.close()
    await queue.close().catch(() => undefined)
  })
})
