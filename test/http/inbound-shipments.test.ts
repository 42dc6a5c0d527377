import { afterAll, beforeAll, expect, test } from 'vitest'
import { reviewInbound } from '../../src/store/inventory/inbound-shipments.ts'
import { logReadUpTo, storeLog } from '../store/support/inventory.ts'
import { withDatabase } from '../support/database.ts'
import { at, ofItems } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
})
afterAll(async () => {
  await server.close()
})

const post = (id: string, data: object, query = '') =>
  server.json(`/v1/events${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify({ specversion: '1.0', id, source: 'urn:erp', type: 'erp.inbound.shipped', data }),
  })

const shipment = (more: object = {}) => ({
  shipmentId: '1WFA',
  ...{ shippedAt: '2026-03-01T00:00:00Z', expectedBy: '2026-03-20T00:00:00Z' },
  lines: [
    { sku: 'A', quantity: 10 },
    { sku: 'B', quantity: 5 },
  ],
  ...more,
})
const list = async (query = '') => at((await server.json(`/v1/inbound-shipments${query}`)).body, 'items')

test('a dry run stores nothing, and an event becomes lines and no command', async () => {
  expect(await post('e-1', shipment(), '?dryRun=true')).toMatchObject({
    status: 200,
    body: { items: [{ would: 'accepted', commands: [], problem: null }] },
  })
  expect(await list()).toEqual([])
  expect(await post('e-1', shipment())).toMatchObject({ status: 202, body: { items: [{ state: 'accepted', commands: [] }] } })
  expect(await post('e-1', shipment())).toMatchObject({ status: 202, body: { items: [{ status: 'duplicate' }] } })
  expect(await post('e-1', shipment({ shipmentId: '2WFA' }))).toMatchObject({ status: 409 })
  const open = { shipmentId: '1WFA', receivedUnits: 0, completeAt: null, logReadUpTo: null, state: 'open', late: false }
  expect(await list()).toMatchObject([
    { ...open, sku: 'A', sentUnits: 10, difference: -10, expectedBy: '2026-03-20T00:00:00.000Z' },
    { ...open, sku: 'B', sentUnits: 5, difference: -5 },
  ])
  const due = await stage.database.query(
    `SELECT sku, log_due_at, log_moved_at IS NOT NULL AS moved FROM tallyman.inventory_skus ORDER BY sku`,
  )
  expect(due).toEqual([
    { sku: 'A', log_due_at: null, moved: true },
    { sku: 'B', log_due_at: null, moved: true },
  ])
})

test('receipts and their corrections count, other movements of the shipment do not', async () => {
  const sellerId = String(at(await list(), 0, 'sellerId'))
  await storeLog(stage.database, sellerId, [
    { sku: 'A', id: '1', kind: 'other', changedUnits: 12, at: '2026-03-05T00:00:00Z', shipmentId: '1WFA' },
    { sku: 'A', id: '2', kind: 'other', changedUnits: -1, at: '2026-03-06T00:00:00Z', shipmentId: '1WFA' },
    { sku: 'A', id: '3', kind: 'lost', changedUnits: -1, at: '2026-03-07T00:00:00Z', shipmentId: '1WFA' },
    { sku: 'A', id: '4', kind: 'other', changedUnits: 9, at: '2026-03-07T00:00:00Z', shipmentId: '9WFA' },
    { sku: 'B', id: '5', kind: 'other', changedUnits: 3, at: '2026-03-07T00:00:00Z', shipmentId: '1WFA' },
  ])
  await logReadUpTo(stage.database, sellerId, '2026-03-21T00:00:00Z', 'A', 'B')
  await stage.database.transaction((tx) => reviewInbound(tx, sellerId, ['A', 'B']))
  const [over, short] = [
    { sku: 'A', receivedUnits: 11, difference: 1, state: 'over', late: false },
    { sku: 'B', receivedUnits: 3, difference: -2, state: 'short', late: true },
  ]
  expect(await list()).toMatchObject([{ ...over, completeAt: '2026-03-05T00:00:00.000Z' }, short])
  expect(await list('?state=short')).toMatchObject([short])
  expect(await list('?late=false')).toMatchObject([over])
  expect(await list('?sku=B&shipmentId=1WFA')).toMatchObject([short])
  expect(await list('?shipmentId=9WFA')).toEqual([])
  const first = await server.json('/v1/inbound-shipments?limit=1')
  const rest = await server.json(`/v1/inbound-shipments?limit=1&cursor=${at(first.body, 'nextCursor')}`)
  expect([...ofItems(first.body, 'sku'), ...ofItems(rest.body, 'sku')]).toEqual(['A', 'B'])
  const version = () => stage.database.query('SELECT sku, xmin::text FROM warehouse.inbound_shipment_lines ORDER BY sku')
  const before = await version()
  await stage.database.transaction((tx) => reviewInbound(tx, sellerId, ['A', 'B']))
  expect(await version()).toEqual(before)
})

test('a SKU that nothing else names is not known once its log was read', async () => {
  const lines = [{ sku: 'MISPELT', quantity: 1 }]
  await post('e-9', shipment({ shipmentId: '4WFA', deliveredAt: '2026-03-04T00:00:00Z', lines }))
  const sellerId = String(at(await list(), 0, 'sellerId'))
  expect(await list('?shipmentId=4WFA')).toMatchObject([{ state: 'open', deliveredAt: '2026-03-04T00:00:00.000Z' }])
  await logReadUpTo(stage.database, sellerId, '2026-03-21T00:00:00Z', 'MISPELT')
  await stage.database.transaction((tx) => reviewInbound(tx, sellerId, ['MISPELT']))
  expect(await list('?state=unknown-sku')).toMatchObject([{ sku: 'MISPELT', receivedUnits: 0, late: false }])
  expect(await list('?state=not-received')).toMatchObject([{ sku: 'B', state: 'short' }, { sku: 'MISPELT' }])
})

test('a later event about the same shipment replaces its lines', async () => {
  const lines = [
    { sku: 'A', quantity: 11 },
    { sku: 'C', quantity: 1 },
  ]
  expect(await post('e-2', shipment({ lines }))).toMatchObject({ status: 202 })
  expect(await list('?shipmentId=1WFA')).toMatchObject([
    { sku: 'A', sentUnits: 11, receivedUnits: 11, state: 'complete', late: false },
    { sku: 'C', sentUnits: 1, receivedUnits: 0, state: 'open' },
  ])
})

test('a wrong event is a problem with the path of each fault', async () => {
  const lines = [
    { sku: 'A', quantity: 0 },
    { quantity: 1, lineNumber: '1' },
  ]
  const { status, body } = await post('e-3', { shippedAt: 'yesterday', lines })
  expect(status).toBe(422)
  expect(at(body, 'errors')).toMatchObject([
    { path: 'data.shipmentId', message: 'is missing' },
    { path: 'data.shippedAt', message: expect.stringContaining('must be an ISO 8601 date and time') },
    { path: 'data.lines[0].quantity', message: 'must be at least 1' },
    { path: 'data.lines[1].sku', message: 'is missing' },
    { path: 'data.lines[1].lineNumber', message: 'is unknown; accepted: sku, quantity' },
  ])
  const twice = [
    { sku: 'A', quantity: 1 },
    { sku: ' A', quantity: 2 },
  ]
  const wrong = await post('e-4', shipment({ expectedBy: '2026-02-01T00:00:00Z', lines: twice }))
  expect(at(wrong.body, 'errors')).toMatchObject([
    { path: 'data.expectedBy', message: 'is 2026-02-01T00:00:00.000Z, before the time of shipping, 2026-03-01T00:00:00.000Z' },
    { path: 'data.lines[1].sku', message: 'stands in this shipment already; state the whole quantity once' },
  ])
  const delivered = await post('e-8', shipment({ deliveredAt: '2026-02-01T00:00:00Z' }))
  expect(at(delivered.body, 'errors')).toMatchObject([
    { path: 'data.deliveredAt', message: expect.stringContaining('before the time') },
  ])
  const future = await post('e-5', shipment({ shippedAt: '2999-01-01T00:00:00Z', expectedBy: null }))
  expect(at(future.body, 'errors')).toMatchObject([
    { path: 'data.shippedAt', message: expect.stringContaining('lies in the future') },
  ])
  expect(await list('?shipmentId=1WFA')).toHaveLength(2)
})

test('a row of the SQL inbox becomes lines too', async () => {
  const key = { source: 'urn:erp', id: 'e-6' }
  await stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ($1, $2, 'erp.inbound.shipped', $3::jsonb)`,
    key.source,
    key.id,
    JSON.stringify(shipment({ shipmentId: '3WFA' })),
  )
  // The next event of the seller decides those that wait first.
  expect(await post('e-7', shipment({ shipmentId: '3WFA', lines: [{ sku: 'A', quantity: 4 }] }))).toMatchObject({ status: 202 })
  expect((await server.json('/v1/events/urn%3Aerp/e-6')).body).toMatchObject({ state: 'accepted', commands: [] })
  expect(await list('?shipmentId=3WFA')).toMatchObject([{ sku: 'A', sentUnits: 4 }])
})
