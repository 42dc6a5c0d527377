import { createHmac, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, sandboxSeller } from './support.ts'

// Notifications of the marketplace (profile `walmart-us`), through the whole daemon, against the sandbox. No poll reads orders meanwhile.

const secret = 'marketplace:a-password-of-the-tests'

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-notifications-'))
  databaseUrl = await postgres.database()
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    NOTIFICATIONS_SECRET: secret,
    POLL_ORDERS: 'off',
    POLL_ORDER_SWEEP: 'off',
    POLL_RETURNS: 'off',
    REQUEST_TIMEOUT: '1s',
    SETTLE_TIME: '2s',
  })
})
afterAll(async () => {
  await daemon.program.kill()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const orderUpdate = (subEventType: string, purchaseOrderId: string, eventId: string = randomUUID()): string =>
  JSON.stringify({
    source: { eventType: 'ORDER_UPDATES', eventTime: new Date().toISOString(), eventId },
    payload: { subEventType, order: { purchaseOrderId } },
  })

/** Delivers a notification; answers the status. */
const deliver = async (body: string, key = secret): Promise<number> => {
  const answer = await fetch(`${daemon.url}/v1/notifications/sandbox-seller`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: createHmac('sha256', key).update(body).digest('base64') },
    body,
  })
  await answer.text()
  return answer.status
}

const storedOrders = async (purchaseOrderId: string): Promise<number> =>
  (await query(databaseUrl, `SELECT 1 AS found FROM warehouse.orders WHERE purchase_order_id = '${purchaseOrderId}'`)).length

const untilStored = (purchaseOrderId: string) => eventually(async () => expect(await storedOrders(purchaseOrderId)).toBe(1))

const requestsSchema = z.object({ items: z.array(z.object({ url: z.string() })) })
/** Requests for an order by its id. */
const reads = async (purchaseOrderId: string): Promise<number> =>
  requestsSchema
    .parse(await sandbox.control('GET', '/requests?limit=1000'))
    .items.filter((request) => request.url.includes(purchaseOrderId)).length

test('a notification brings its order without a poll; repeated deliveries read it once, and a forged one never', async () => {
  const { purchaseOrderId } = await placeOrder(sandbox, 2)
  const other = await placeOrder(sandbox, 1)
  const body = orderUpdate('PO_CREATED', purchaseOrderId)
  expect(await deliver(orderUpdate('PO_CREATED', other.purchaseOrderId), 'another:secret-of-a-stranger')).toBe(401)
  expect(await deliver(body)).toBe(202)
  await untilStored(purchaseOrderId)
  expect([await deliver(body), await deliver(body)]).toEqual([202, 202])
  // Read after the repeated deliveries: an order of a later notification.
  const later = await placeOrder(sandbox, 1)
  expect(await deliver(orderUpdate('PO_CREATED', later.purchaseOrderId))).toBe(202)
  await untilStored(later.purchaseOrderId)
  expect([await reads(purchaseOrderId), await reads(other.purchaseOrderId)]).toEqual([1, 0])
  expect(await storedOrders(other.purchaseOrderId)).toBe(0)
  expect(
    await query(databaseUrl, 'SELECT count(*)::int AS received, count(read_at)::int AS read FROM tallyman.notifications'),
  ).toEqual([{ received: 2, read: 2 }])
  const { text } = await fetch(`${daemon.url}/metrics`).then(async (answer) => ({ text: await answer.text() }))
  expect(text).toContain('tallyman_notifications_total{outcome="refused"} 1')
})

test('a fraud cancel holds the shipment of its order until an operator decides', async () => {
  const order = await placeOrder(sandbox, 2)
  const { purchaseOrderId } = order
  expect(await deliver(orderUpdate('PO_CREATED', purchaseOrderId))).toBe(202)
  await untilStored(purchaseOrderId)
  expect((await daemon.call('POST', '/v1/events', cloudEvent(accepted(order), '/erp'))).status).toBe(202)
  const find = async (kind: string): Promise<readonly { id: string; state: string; reason: string | null }[]> =>
    query(
      databaseUrl,
      `SELECT id, state, reason FROM tallyman.commands WHERE purchase_order_id = '${purchaseOrderId}' AND kind = '${kind}'`,
    )
  await eventually(async () => expect(await find('acknowledge')).toMatchObject([{ state: 'confirmed' }]))
  expect(await deliver(orderUpdate('FRAUD_CANCEL', purchaseOrderId))).toBe(202)
  const parcel = reportedParcel(`1Z${purchaseOrderId}`, { lineNumber: '1', quantity: 2 })
  const dispatched = buildDispatch(order, `${purchaseOrderId}-ship`, parcel)
  expect((await daemon.call('POST', '/v1/events', cloudEvent(dispatched, '/erp'))).status).toBe(202)
  const reason = expect.stringContaining('the marketplace suspects fraud')
  const [held] = await eventually(async () => {
    const found = await find('ship')
    expect(found).toMatchObject([{ state: 'held', reason }])
    return found
  })
  expect((await sandbox.effects(purchaseOrderId)).map(({ kind }) => kind)).not.toContain('shipped')
  expect(
    await query(databaseUrl, `SELECT kind FROM tallyman.alarms WHERE subject = '${held?.id}' AND resolved_at IS NULL`),
  ).toEqual([{ kind: 'command-held' }])
  const decision = { actor: 'Ada', reason: 'the marketplace has withdrawn it' }
  expect((await daemon.call('POST', `/v1/commands/${held?.id}/retry`, decision)).status).toBe(200)
  await eventually(async () => expect(await find('ship')).toMatchObject([{ state: 'confirmed' }]))
})
