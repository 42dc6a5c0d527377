import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../sandbox/server.ts'
import {
  at,
  connect,
  items,
  listUnits,
  type Reply,
  startClient,
  startTestSandbox,
  type TestClient,
  temporaryDirectory,
} from './support.ts'

const listIds = (reply: Reply): string[] =>
  items(reply.json, 'list', 'elements', 'order').map((order) => String(at(order, 'purchaseOrderId')))
const firstLines = (reply: Reply): string => listUnits(items(reply.json, 'list', 'elements', 'order')[0] ?? null)
const faults = (client: TestClient, ...rules: object[]): Promise<unknown> => client.control('PUT', '/faults', { rules })
const advance = (client: TestClient, by: string): Promise<unknown> => client.control('POST', '/clock', { advance: by })

/** Created three minutes ago, acknowledged two, one unit shipped one minute ago. */
const withPast = async (client: TestClient): Promise<string> => {
  const po = await client.place([{ sku: 'A', quantity: 2 }])
  await advance(client, '1m')
  await client.acknowledge(po)
  await advance(client, '1m')
  await client.ship(po, [{ line: '1', quantity: 1 }])
  await advance(client, '1m')
  return po
}

describe('stale reads', () => {
  test('a read of one order shows it as it was then, while lists are up to date', async () => {
    const client = await startClient()
    const po = await withPast(client)
    for (const [delayMs, units] of [
      [30_000, 'Acknowledged 1, Shipped 1'],
      [90_000, 'Acknowledged 2'],
      [150_000, 'Created 2'],
    ] as const) {
      await faults(client, { operation: 'orders.get', stale: { share: 1, delayMs } })
      expect(listUnits(await client.order(po))).toBe(units)
      expect(firstLines(await client.call('GET', '/v3/orders'))).toBe('Acknowledged 1, Shipped 1')
    }
    await faults(client, { operation: 'orders.get', stale: { share: 1, delayMs: 600_000 } })
    expect((await client.call('GET', `/v3/orders/${po}`)).status).toBe(404)
  })

  test('a list shows the orders of then, by their states and last changes of then', async () => {
    const client = await startClient()
    const po = await withPast(client)
    const later = await client.place([{ sku: 'B' }])
    await faults(client, { operation: 'orders.list', stale: { share: 1, delayMs: 90_000 } })
    const seen = await client.call('GET', '/v3/orders')
    expect([listIds(seen), firstLines(seen), at(seen.json, 'list', 'meta', 'totalCount')]).toEqual([[po], 'Acknowledged 2', 1])
    expect((await client.call('GET', '/v3/orders?status=Shipped')).status).toBe(404)
    const since = new Date(Date.now() + 90_000).toISOString().replace(/\.\d+Z/, 'Z')
    expect((await client.call('GET', `/v3/orders?lastModifiedStartDate=${since}`)).status).toBe(404)
    expect(listUnits(await client.order(po))).toBe('Acknowledged 1, Shipped 1')
    expect(listUnits(await client.order(later))).toBe('Created 1')
    expect(listIds(await client.call('GET', '/v3/orders/released'))).toEqual([later])
  })

  test('returns lag by themselves', async () => {
    const client = await startClient()
    const po = await withPast(client)
    await client.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '1', quantity: 1 }], travels: false })
    await advance(client, '1m')
    await client.refund(po, '1', 1, -1)
    const refunded = async (): Promise<unknown> =>
      at((await client.call('GET', '/v3/returns')).json, 'returnOrders', 0, 'returnOrderLines', 0, 'refundedQty')
    expect(await refunded()).toBe(1)
    await faults(client, { operation: 'returns.list', stale: { share: 1, delayMs: 30_000 } })
    expect(await refunded()).toBe(0)
    await faults(client, { operation: 'returns.list', stale: { share: 1, delayMs: 120_000 } })
    expect((await client.call('GET', '/v3/returns')).status).toBe(404)
  })

  test('begin and end when they should, by the virtual clock, and hit only the order that they name', async () => {
    const client = await startClient()
    const po = await withPast(client)
    const other = await withPast(client)
    const rule = { operation: 'orders.get', purchaseOrderId: po, afterMs: 60_000, forMs: 120_000 }
    await faults(client, { ...rule, stale: { share: 1, delayMs: 86_400_000 } })
    const found = async (id: string): Promise<number> => (await client.call('GET', `/v3/orders/${id}`)).status
    expect(await found(po)).toBe(200)
    await advance(client, '61s')
    expect([await found(po), await found(other)]).toEqual([404, 200])
    await advance(client, '119s')
    expect(await found(po)).toBe(200)
  })

  test('survive a restart: the rule, its end, and what the order was', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startSandbox({ dataDir, log: () => undefined })
    const client = await connect(first.url)
    const po = await withPast(client)
    await faults(client, { operation: 'orders.get', forMs: 3_600_000, stale: { share: 1, delayMs: 90_000 } })
    await first.close()
    const again = await connect((await startTestSandbox({ dataDir })).url)
    expect(listUnits(await again.order(po))).toBe('Acknowledged 2')
    await advance(again, '1h')
    await again.renewToken()
    expect(listUnits(await again.order(po))).toBe('Acknowledged 1, Shipped 1')
  })
})
