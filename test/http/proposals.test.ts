import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteOldProposals } from '../../src/store/events/proposals.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, textAt } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { startServer, type TestServer } from './support.ts'

const apiKey = 'a-key-of-sixteen-or-more'
const stage = withDatabase()
let server: TestServer
let agent: string
let ada: string
let orders = 0

const call = (key: string, method: string, path: string, body?: object) =>
  server.json(path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const addKey = async (name: string, scopes: readonly string[]): Promise<string> =>
  textAt((await call(apiKey, 'POST', '/v1/keys', { name, scopes })).body, 'key')

beforeAll(async () => {
  server = await startServer(stage.database, { apiKey })
  agent = await addKey('assistant', ['read', 'propose'])
  ada = await addKey('ada', ['read', 'operate'])
})
afterAll(async () => {
  await server.close()
})

/** A stored order of five units. */
const storeOrder = async (): Promise<string> => {
  orders += 1
  await seedOrder(stage.database, 's-1', purchaseOrder(String(orders), [orderLine('1', 'A', 5)]))
  return String(orders)
}
const buildCancel = (purchaseOrderId: string, quantity = 1) => ({
  type: 'erp.lines.unfulfillable',
  data: { purchaseOrderId, lines: [{ lineNumber: '1', quantity, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
  reason: 'the shelf is empty',
})
const propose = async (purchaseOrderId: string, quantity = 1): Promise<string> => {
  const { status, body } = await call(agent, 'POST', '/v1/proposals', buildCancel(purchaseOrderId, quantity))
  expect(status).toBe(201)
  return textAt(body, 'id')
}
const listCommands = async (purchaseOrderId: string) =>
  listAt((await call(ada, 'GET', `/v1/commands?purchaseOrderId=${purchaseOrderId}`)).body, 'items')

describe('a proposed event', () => {
  test('does nothing until a person approves it; then it is posted once, in the name of the person', async () => {
    const order = await storeOrder()
    const { status, body } = await call(agent, 'POST', '/v1/proposals', buildCancel(order, 2))
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        sellerId: 's-1',
        state: 'open',
        proposedBy: 'assistant',
        data: { sellerId: 's-1', purchaseOrderId: order },
        forecast: { would: 'accepted', commands: [{ kind: 'cancel', lines: [{ lineNumber: '1', quantity: 2 }] }] },
      },
    })
    const id = textAt(body, 'id')
    expect(await listCommands(order)).toEqual([])
    expect(at((await call(ada, 'GET', '/v1/overview')).body, 'proposals')).toBe(1)
    expect((await call(ada, 'GET', `/v1/proposals/${id}`)).body).toMatchObject({
      reason: 'the shelf is empty',
      forecast: { would: 'accepted' },
    })

    const approved = await call(ada, 'POST', `/v1/proposals/${id}/approve`, { reason: 'checked' })
    expect(approved).toMatchObject({ status: 200, body: { id, state: 'approved', commands: [expect.any(String)] } })
    expect(await listCommands(order)).toMatchObject([{ kind: 'cancel', event: { source: 'urn:tallyman:proposals', id } }])
    expect((await call(ada, 'GET', `/v1/proposals/${id}`)).body).toMatchObject({
      state: 'approved',
      decidedBy: 'ada',
      decisionReason: 'checked',
      forecast: null,
    })
    for (const how of ['approve', 'reject'])
      expect(await call(ada, 'POST', `/v1/proposals/${id}/${how}`, { reason: 'again' })).toMatchObject({
        status: 409,
        body: { code: 'illegal-state' },
      })
    expect(await listCommands(order)).toHaveLength(1)
    expect((await call(ada, 'GET', '/v1/audit?action=proposal.approval_requested')).body).toMatchObject({
      items: [{ actor: 'ada', subject: id, sellerId: 's-1', reason: 'checked' }],
    })
  })

  test('is rejected with a reason, and nothing is posted', async () => {
    const order = await storeOrder()
    const id = await propose(order)
    expect((await call(ada, 'POST', `/v1/proposals/${id}/reject`, {})).status).toBe(422)
    expect((await call(ada, 'POST', `/v1/proposals/${id}/reject`, { reason: 'it is in stock' })).status).toBe(200)
    expect((await call(ada, 'POST', `/v1/proposals/${id}/approve`)).status).toBe(409)
    expect(await listCommands(order)).toEqual([])
    expect(listAt((await call(ada, 'GET', '/v1/proposals')).body, 'items')).toEqual([])
    expect((await call(ada, 'GET', '/v1/proposals?state=all&limit=1')).body).toMatchObject({ items: [{ id, state: 'rejected' }] })
  })

  test('that is refused when it is approved stays open', async () => {
    const order = await storeOrder()
    const [first, second] = [await propose(order, 3), await propose(order, 3)]
    expect((await call(ada, 'POST', `/v1/proposals/${first}/approve`)).status).toBe(200)
    expect(await call(ada, 'POST', `/v1/proposals/${second}/approve`)).toMatchObject({
      status: 422,
      body: { code: 'invalid-event' },
    })
    expect((await call(ada, 'GET', `/v1/proposals/${second}`)).body).toMatchObject({
      state: 'open',
      decidedBy: null,
      forecast: { would: 'rejected' },
    })
    expect((await call(ada, 'POST', `/v1/proposals/${second}/reject`, { reason: 'no units' })).status).toBe(200)
  })

  test('whose approval was interrupted is approved again, and accepted once', async () => {
    const order = await storeOrder()
    const id = await propose(order)
    const failing = await startServer(stage.database, {
      apiKey,
      acceptEvents: async () => {
        throw new Error('the process dies')
      },
    })
    const answer = await failing.json(`/v1/proposals/${id}/approve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada}` },
    })
    await failing.close()
    expect(answer.status).toBe(500)
    expect((await call(ada, 'GET', '/v1/proposals')).body).toMatchObject({ items: [{ id, state: 'approving' }] })
    expect((await call(ada, 'POST', `/v1/proposals/${id}/reject`, { reason: 'no' })).status).toBe(409)
    expect((await call(ada, 'POST', `/v1/proposals/${id}/approve`)).status).toBe(200)
    expect(await listCommands(order)).toHaveLength(1)
  })

  test('needs the scope of a program to propose, and that of a person to decide', async () => {
    const order = await storeOrder()
    expect((await call(ada, 'POST', '/v1/proposals', buildCancel(order))).status).toBe(403)
    const id = await propose(order)
    for (const how of ['approve', 'reject'])
      expect(await call(agent, 'POST', `/v1/proposals/${id}/${how}`, { reason: 'mine' })).toMatchObject({
        status: 403,
        body: { code: 'scope-missing' },
      })
    expect((await call(agent, 'POST', '/v1/events', {})).status).toBe(403)
    await call(ada, 'POST', `/v1/proposals/${id}/reject`, { reason: 'done' })
  })

  test.each([
    ['an unknown type', { ...buildCancel('1'), type: 'erp.everything.erased' }, 'type'],
    ['no reason', { ...buildCancel('1'), reason: ' ' }, 'reason'],
    ['more units than the order has', buildCancel('1', 50), 'data.lines[0].quantity'],
  ])('with %s is refused', async (_name, body, path) => {
    await storeOrder()
    const answer = await call(agent, 'POST', '/v1/proposals', body)
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ path }] } })
  })

  test('is refused while 200 others wait', async () => {
    const order = await storeOrder()
    await stage.database.execute(
      `INSERT INTO tallyman.event_proposals (seller_id, type, data, reason, proposed_by)
       SELECT 's-1', 'erp.order.accepted', '{}', 'x', 'x' FROM generate_series(1, 200)`,
    )
    expect(await call(agent, 'POST', '/v1/proposals', buildCancel(order))).toMatchObject({ status: 409 })
    await stage.database.execute(
      `UPDATE tallyman.event_proposals SET state = 'rejected', decided_at = now() - interval '2 days' WHERE reason = 'x'`,
    )
    await deleteOldProposals(stage.database, 86_400_000)
    expect(await stage.database.prisma.eventProposal.count({ where: { reason: 'x' } })).toBe(0)
    expect(await stage.database.prisma.eventProposal.count()).toBeGreaterThan(3)
  })
})

test("a program that can propose gets buyers' data masked", async () => {
  const order = await storeOrder()
  const [forAgent, forAda] = await Promise.all(
    [agent, ada].map(async (key) => (await call(key, 'GET', `/v1/orders/${order}`)).body),
  )
  expect(at(forAda, 'customerName')).not.toBe('•••')
  expect(at(forAgent, 'customerName')).toBe('•••')
})
