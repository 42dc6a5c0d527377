import { EventSource } from 'eventsource'
import createClient from 'openapi-fetch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Change, paths } from '../../types/index.d.ts'
import { placeOrder, sandboxSeller } from '../daemon/support.ts'
import { faultOfChange } from '../support/changes.ts'
import { everyPoll, startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

let postgres: TestPostgres
let sandbox: TestSandbox
let daemon: TestDaemon

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  daemon = await startTestDaemon({
    ...sandboxSeller,
    ...everyPoll,
    DATABASE_URL: await postgres.database(),
    MARKETPLACE_URL: sandbox.url,
    DATA_DIR: `${sandbox.folder}/daemon`,
    POLL_ORDERS: '1s',
    POLL_RETURNS: '1s',
  })
}, 120_000)
afterAll(async () => {
  await daemon?.program.stop()
  await sandbox?.stop()
  await postgres?.stop()
})

test('a client generated from the document carries an order to its shipment, and hears of it by EventSource', async () => {
  const client = createClient<paths>({ baseUrl: daemon.url })
  const changes: Change[] = []
  const source = new EventSource(`${daemon.url}/v1/changes?types=order.*,order_line.*,command.*`)
  source.onmessage = ({ data }) => void changes.push(JSON.parse(data))
  await placeOrder(sandbox, 3)
  const order = await eventually(async () => {
    const { data } = await client.GET('/v1/orders', { params: { query: { open: true, sort: '-orderDate', limit: 1 } } })
    const [first] = data?.items ?? []
    if (first === undefined) throw new Error('the order has not come yet')
    return first
  })
  const { purchaseOrderId } = order
  const sent = await client.POST('/v1/events', {
    body: {
      ...{ specversion: '1.0', id: 'ship-1', source: '/erp', type: 'erp.shipment.dispatched' },
      data: {
        purchaseOrderId,
        parcels: [
          {
            ...{ carrier: 'UPS', trackingNumber: '1Z999AA10123456784', shippedAt: new Date().toISOString() },
            lines: order.lines.map(({ lineNumber, ordered }) => ({ lineNumber, quantity: ordered })),
          },
        ],
      },
    },
  })
  expect(sent.error).toBeUndefined()
  expect(sent.data?.items).toMatchObject([{ id: 'ship-1', status: 'accepted' }])
  await eventually(async () => {
    const { data } = await client.GET('/v1/commands', { params: { query: { purchaseOrderId, kind: 'ship' } } })
    expect(data?.items).toMatchObject([{ state: 'confirmed' }])
  })
  const found = await client.GET('/v1/orders', { params: { query: { q: '1Z999AA10123456784' } } })
  expect(found.data?.items.map((one) => one.purchaseOrderId)).toEqual([purchaseOrderId])
  const { data: whole } = await client.GET('/v1/orders/{purchaseOrderId}', { params: { path: { purchaseOrderId } } })
  expect(whole?.lines.every(({ shipped, ordered }) => shipped === ordered)).toBe(true)
  const runs = await client.GET('/v1/syncs/{resource}/runs', { params: { path: { resource: 'orders' } } })
  expect(runs.data?.items.length).toBeGreaterThan(0)
  const none = await client.GET('/v1/orders/{purchaseOrderId}', { params: { path: { purchaseOrderId: 'none' } } })
  expect([none.response.status, none.error?.code]).toEqual([404, 'not-found'])

  await eventually(async () => {
    const ofOrder = changes.filter((change) => change.purchaseOrderId === purchaseOrderId).map(({ type }) => type)
    expect(ofOrder).toEqual(expect.arrayContaining(['order.seen', 'command.pending', 'command.confirmed', 'order_line.changed']))
  })
  source.close()
  expect(changes.flatMap((change) => faultOfChange(change) ?? [])).toEqual([])
}, 120_000)

test('everything that the daemon has recorded fits the catalogue, and a first reading of a list is one change', async () => {
  const client = createClient<paths>({ baseUrl: daemon.url })
  await eventually(async () => {
    const { data } = await client.GET('/v1/changes', { params: { query: { types: 'sales_channel.*', limit: 1000 } } })
    expect(data?.items.map(({ type }) => type)).toEqual(expect.arrayContaining(['sales_channel.loaded']))
  })
  const types = new Set<string>()
  for (let after = '0'; ; ) {
    const { data } = await client.GET('/v1/changes', { params: { query: { after, limit: 1000 } } })
    const items = data?.items ?? []
    expect(items.flatMap((change) => faultOfChange(change) ?? [])).toEqual([])
    for (const { type } of items) types.add(type)
    if (items.length === 0) break
    after = data?.nextCursor ?? after
  }
  expect([...types]).toEqual(expect.arrayContaining(['order.seen', 'order_line.changed', 'command.confirmed']))
  expect([...types].filter((type) => /^(taxonomy_node|target|sales_channel)\.added$/.test(type))).toEqual([])
}, 60_000)
