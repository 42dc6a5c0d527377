import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../sandbox/server.ts'
import {
  at,
  connect,
  type Json,
  listUnits,
  readEffects,
  startClient,
  startTestSandbox,
  type TestClient,
  temporaryDirectory,
} from './support.ts'

const lines = [
  { sku: 'A', quantity: 3 },
  { sku: 'B', quantity: 1 },
]
const cancel = (client: TestClient, po: string, more: object = {}): Promise<Json> =>
  client.control('POST', '/buyer-cancel', { purchaseOrderId: po, ...more })
const unitsOfBoth = async (client: TestClient, po: string): Promise<string[]> => {
  const order = await client.order(po)
  return [listUnits(order), listUnits(order, 1)]
}

describe('the buyer cancels', () => {
  test('the whole order at once', async () => {
    const client = await startClient()
    const po = await client.place(lines)
    expect(await cancel(client, po)).toEqual({ cancelled: 4, intentToCancel: false })
    expect(await unitsOfBoth(client, po)).toEqual(['Cancelled 3', 'Cancelled 1'])
    expect((await client.acknowledge(po)).status).toBe(400)
  })

  test('units, at a moment of the virtual clock', async () => {
    const client = await startClient()
    const po = await client.place(lines)
    const now = Date.parse(String(at(await client.control('GET', '/clock'), 'now')))
    const moment = new Date(now + 600_000).toISOString()
    expect(await cancel(client, po, { lineNumber: '1', quantity: 2, when: { at: moment } })).toEqual({ scheduled: 1 })
    await client.control('POST', '/clock', { advance: '590s' })
    expect(await unitsOfBoth(client, po)).toEqual(['Created 3', 'Created 1'])
    await client.control('POST', '/clock', { advance: '11s' })
    expect(await unitsOfBoth(client, po)).toEqual(['Cancelled 2, Created 1', 'Created 1'])
  })

  test('right before the acknowledgement, which then finds nothing', async () => {
    const client = await startClient()
    const po = await client.place(lines)
    await cancel(client, po, { when: { before: 'orders.acknowledge' } })
    expect(await unitsOfBoth(client, po)).toEqual(['Created 3', 'Created 1'])
    expect((await client.acknowledge(po)).status).toBe(400)
    expect(await readEffects(client, po)).toEqual(['cancelled 3 of line 1 by buyer', 'cancelled 1 of line 2 by buyer'])
  })

  test('right after the second read, which still shows the order whole', async () => {
    const client = await startClient()
    const po = await client.place(lines)
    await cancel(client, po, { when: { after: 'orders.get', call: 2 } })
    expect(await unitsOfBoth(client, po)).toEqual(['Created 3', 'Created 1'])
    expect(await unitsOfBoth(client, po)).toEqual(['Created 3', 'Created 1'])
    expect(await unitsOfBoth(client, po)).toEqual(['Cancelled 3', 'Cancelled 1'])
  })

  test('right after a list was read; calls about other orders and other sellers do not count', async () => {
    const client = await startClient()
    await client.control('POST', '/sellers', { sellerId: 'two' })
    const other = await connect(client.url, { clientId: 'two-client', clientSecret: 'two-secret' })
    const [po, second] = [await client.place(lines), await client.place(lines)]
    await cancel(client, po, { when: { after: 'orders.list' } })
    await cancel(client, second, { when: { before: 'orders.acknowledge' } })
    await other.call('GET', '/v3/orders')
    await client.acknowledge(po)
    expect(await unitsOfBoth(client, po)).toEqual(['Acknowledged 3', 'Acknowledged 1'])
    await client.call('GET', '/v3/orders')
    expect(await unitsOfBoth(client, po)).toEqual(['Cancelled 3', 'Cancelled 1'])
    expect(await unitsOfBoth(client, second)).toEqual(['Created 3', 'Created 1'])
  })

  test('under a fault as well: after an answer that was lost', async () => {
    const client = await startClient()
    const po = await client.place(lines)
    await client.control('POST', '/faults/next', { fault: 'serverErrorBefore', operation: 'orders.acknowledge' })
    await cancel(client, po, { lineNumber: '2', when: { after: 'orders.acknowledge' } })
    expect((await client.acknowledge(po)).status).toBeGreaterThanOrEqual(500)
    expect(await unitsOfBoth(client, po)).toEqual(['Created 3', 'Cancelled 1'])
  })

  test('also after a restart in between', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startSandbox({ dataDir, log: () => undefined })
    const client = await connect(first.url)
    const po = await client.place(lines)
    await cancel(client, po, { when: { before: 'orders.ship', call: 1 } })
    await client.acknowledge(po)
    expect(at(await client.control('GET', '/state'), 'triggers')).toBe(2)
    await first.close()
    const again = await connect((await startTestSandbox({ dataDir })).url)
    expect((await again.ship(po, [{ line: '1', quantity: 3 }])).status).toBe(400)
    expect(await unitsOfBoth(again, po)).toEqual(['Cancelled 3', 'Cancelled 1'])
    expect(at(await again.control('GET', '/state'), 'triggers')).toBe(0)
  })
})

test('the buyer asks to cancel right before the shipment: refused without the override, accepted with it', async () => {
  const client = await startClient()
  const po = await client.place(lines)
  await client.acknowledge(po)
  await cancel(client, po, { lineNumber: '1', intentOnly: true, when: { before: 'orders.ship' } })
  const refused = await client.ship(po, [{ line: '1', quantity: 3 }])
  expect([refused.status, at(refused.json, 'errors', 'error', 0, 'code')]).toEqual([400, 'INVALID_REQUEST_CONTENT.GMP_ORDER_API'])
  expect(at(await client.order(po), 'orderLines', 'orderLine', 0, 'intentToCancel')).toMatch(/^\d{4}-/)
  expect((await client.ship(po, [{ line: '2', quantity: 1 }])).status).toBe(200)
  expect((await client.ship(po, [{ line: '1', quantity: 3, more: { intentToCancelOverride: false } }])).status).toBe(400)
  expect((await client.ship(po, [{ line: '1', quantity: 3, more: { intentToCancelOverride: true } }])).status).toBe(200)
})

test.each([
  [{ quantity: 1 }, 'lineNumber'],
  [{ lineNumber: '9' }, 'no line 9'],
  [{ when: { before: 'orders.nothing' } }, 'before'],
])('%j is refused', async (body, message) => {
  const client = await startClient()
  const po = await client.place(lines)
  await expect(cancel(client, po, body)).rejects.toThrow(message)
})
