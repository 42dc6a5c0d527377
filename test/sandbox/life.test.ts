import { describe, expect, test } from 'vitest'
import { dayMs } from '../../sandbox/core/duration.ts'
import { at, connect, items, type Json, listUnits, startTestSandbox, type TestClient } from './support.ts'

const started = async (): Promise<TestClient> => {
  const sandbox = await startTestSandbox()
  const client = await connect(sandbox.url)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

const advance = async (client: TestClient, duration: string): Promise<void> => {
  await client.control('POST', '/clock', { advance: duration })
  await client.renewToken()
}

describe('things that happen by themselves', () => {
  test('parcels arrive, and the time of last change is that of the event, not of the look', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 2 }], { alive: true })
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 2, tracking: 'T1' }])
    await advance(client, '5d')
    expect(listUnits(await client.order(po))).toBe('Delivered 2')
    const delivered =
      items(await client.control('GET', '/effects'), 'items').find((effect) => at(effect, 'kind') === 'delivered') ?? null
    expect(delivered).toMatchObject({ by: 'carrier', trackingNumber: 'T1', quantity: 2 })
    const before = Date.parse(String(at(await client.control('GET', '/clock'), 'now'))) - Date.parse(String(at(delivered, 'at')))
    expect(before).toBeGreaterThan(dayMs / 2)
  })

  test('what is not shipped four days after its ship-by date is cancelled by the marketplace', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 3 }, { sku: 'B' }], { alive: true })
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 1 }])
    await advance(client, '7d')
    const order = await client.order(po)
    expect(listUnits(order)).toMatch(/Cancelled 2/)
    expect(listUnits(order, 1)).toBe('Cancelled 1')
  })

  test('an order that is not alive waits for ever', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 3 }])
    await advance(client, '30d')
    expect(listUnits(await client.order(po))).toBe('Created 3')
  })

  test('a buyer cancels units, or asks the seller to', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 3 }])
    expect(await client.control('POST', '/buyer-cancel', { purchaseOrderId: po, lineNumber: '1', quantity: 1 })).toMatchObject({
      cancelled: 1,
    })
    await client.control('POST', '/buyer-cancel', { purchaseOrderId: po, lineNumber: '1', intentOnly: true })
    await client.acknowledge(po)
    expect((await client.ship(po, [{ line: '1', quantity: 1 }])).status).toBe(400)
    expect((await client.cancel(po, '1', 2, 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL')).status).toBe(200)
    const kinds = items(await client.control('GET', '/effects'), 'items').map(
      (effect) => `${at(effect, 'kind')} by ${at(effect, 'by')}`,
    )
    expect(kinds).toEqual(['cancelled by buyer', 'acknowledged by seller', 'cancelled by seller'])
  })

  test('marketplace-fulfilled orders are shipped without the seller', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 3 }], { shipNodeType: 'WFSFulfilled', alive: true })
    await advance(client, '1d')
    expect(listUnits(await client.order(po))).toBe('Shipped 3')
  })

  test('a return travels, arrives and is paid by the marketplace when the seller does nothing', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 3, amount: '10.00', tax: '1.00' }])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 3 }])
    await client.control('POST', '/returns', { purchaseOrderId: po, lines: [{ lineNumber: '1', quantity: 3 }] })
    const seen = new Set<string>()
    for (let step = 0; step < 30; step += 1) {
      await advance(client, '12h')
      const [returned] = items((await client.call('GET', '/v3/returns')).json, 'returnOrders')
      const statuses = items(returned ?? null, 'returnOrderLines', 0, 'currentTrackingStatuses')
      for (const status of statuses) seen.add(String(at(status, 'status')))
      expect(statuses.reduce((sum: number, status) => sum + Number(at(status, 'quantity', 'measurementValue')), 0)).toBe(3)
    }
    expect([...seen]).toEqual(expect.arrayContaining(['RETURN_IN_TRANSIT', 'DELIVERED_AT_RETURN_CENTER', 'REFUND_ISSUED']))
    expect(listUnits(await client.order(po))).toBe('Refund 3')
    const [summary] = items(await client.control('GET', '/effects/summary'), 'items')
    expect(summary).toMatchObject({ refunded: 3, refundedAmount: '11' })
  })
})

interface Tally {
  [line: string]: string
}

/** Every line of every order as the marketplace shows it, in the words of the effects' totals. */
const shown = async (client: TestClient, shipNodeType: string): Promise<Tally> => {
  const tally: Tally = {}
  let path: string | null = `/v3/orders?limit=200&createdStartDate=2020-01-01&shipNodeType=${shipNodeType}`
  while (path !== null) {
    const { json }: { json: Json } = await client.call('GET', path)
    for (const order of items(json, 'list', 'elements', 'order')) addLines(order, tally)
    const cursor = at(json, 'list', 'meta', 'nextCursor')
    path = typeof cursor === 'string' ? `/v3/orders${cursor}` : null
  }
  return tally
}

const addLines = (order: Json, tally: Tally): void => {
  for (const [index, line] of items(order, 'orderLines', 'orderLine').entries()) {
    const units: Record<string, number> = {}
    for (const part of listUnits(order, index).split(', ')) {
      const [state = '', quantity = '0'] = part.split(' ')
      units[state] = Number(quantity)
    }
    const of = (state: string): number => units[state] ?? 0
    const shipped = of('Shipped') + of('Delivered') + of('Refund')
    const refunded = items(line, 'refund', 'refundCharges', 'refundCharge').reduce(
      (sum: number, charge) =>
        sum -
        [['chargeAmount'], ['tax', 'taxAmount'], ['taxAndOtherFees', 'taxAmount']]
          .map((path) => Math.round(100 * Number(at(charge, 'charge', ...path, 'amount'))))
          .reduce((total, cents) => total + cents, 0),
      0,
    )
    const ordered = Number(at(line, 'orderLineQuantity', 'amount'))
    expect(of('Created') + of('Acknowledged') + shipped + of('Cancelled')).toBe(ordered)
    tally[`${at(order, 'purchaseOrderId')}/${at(line, 'lineNumber')}`] =
      `${ordered} acknowledged ${of('Acknowledged') + shipped} shipped ${shipped} cancelled ${of('Cancelled')} refunded ${of('Refund')} ${refunded}`
  }
}

const happened = async (client: TestClient): Promise<Tally> => {
  const tally: Tally = {}
  for (let after: Json = 0; after !== null; ) {
    const page: Json = await client.control('GET', `/effects/summary?limit=100&after=${after}`)
    for (const line of items(page, 'items')) {
      const count = (name: string): number => Number(at(line, name))
      tally[`${at(line, 'purchaseOrderId')}/${at(line, 'lineNumber')}`] =
        `${count('ordered')} acknowledged ${count('acknowledged') - count('cancelledAfterAcknowledged')} shipped ${count('shipped')} ` +
        `cancelled ${count('cancelled')} refunded ${count('refunded')} ${Math.round(100 * count('refundedAmount'))}`
    }
    after = at(page, 'next')
  }
  return tally
}

test('whatever happens, effects and orders agree on every unit and cent', { timeout: 60_000 }, async () => {
  const client = await started()
  await client.control('POST', '/orders', { count: 400, createdFrom: new Date(Date.now() - 100 * dayMs).toISOString() })
  const fresh = await client.control('POST', '/orders', { count: 120, shipNodeType: 'SellerFulfilled' })
  for (const [index, id] of items(fresh, 'purchaseOrderIds').entries()) {
    const po = String(id)
    if (index % 8 === 0) continue
    await client.acknowledge(po)
    const [line] = items(await client.order(po), 'orderLines', 'orderLine')
    const number = String(at(line ?? null, 'lineNumber'))
    const ordered = Number(at(line ?? null, 'orderLineQuantity', 'amount'))
    if (index % 3 === 0) await client.cancel(po, number, 1)
    await client.ship(po, [{ line: number, quantity: Math.ceil(ordered / 2), tracking: `S${index}` }])
    if (index % 5 === 0) await client.refund(po, number, 1, -0.5)
  }
  for (const step of ['6h', '2d', '5d', '20d', '30d']) await advance(client, step)
  const real = await happened(client)
  const told = {
    ...(await shown(client, 'SellerFulfilled')),
    ...(await shown(client, 'WFSFulfilled')),
    ...(await shown(client, '3PLFulfilled')),
  }
  expect(Object.keys(real).length).toBeGreaterThan(700)
  expect(told).toEqual(real)
  expect(Number(at(await client.control('GET', '/state'), 'returns'))).toBeGreaterThan(20)
})

describe('generated orders', () => {
  const generate = async (seed: string): Promise<readonly Json[]> => {
    const client = await connect((await startTestSandbox({ seed })).url)
    await client.control('POST', '/orders', { count: 200, shipNodeType: 'SellerFulfilled' })
    return items((await client.call('GET', '/v3/orders?limit=200')).json, 'list', 'elements', 'order')
  }
  const withoutTimes = (orders: readonly Json[]): unknown =>
    JSON.parse(JSON.stringify(orders), (key, value) => (/date|by/i.test(key) ? null : value))

  test('the same seed gives the same orders, another seed others', async () => {
    const [one, again, other] = [await generate('1'), await generate('1'), await generate('2')]
    expect(withoutTimes(again)).toEqual(withoutTimes(one))
    expect(withoutTimes(other)).not.toEqual(withoutTimes(one))
  })

  test('are of every kind that an integration must stand', async () => {
    const orders = await generate('3')
    const lines = orders.flatMap((order) => items(order, 'orderLines', 'orderLine').map((line) => ({ order, line })))
    const count = (test: (entry: { order: Json; line: Json }) => boolean): number => lines.filter(test).length
    const units = (line: Json): number => Number(at(line, 'orderLineQuantity', 'amount'))
    const cents = (line: Json): number => Math.round(100 * Number(at(line, 'charges', 'charge', 0, 'chargeAmount', 'amount')))
    const skus = (order: Json): Json[] => items(order, 'orderLines', 'orderLine').map((line) => at(line, 'item', 'sku'))
    expect(count(({ line }) => units(line) > 1)).toBeGreaterThan(50)
    expect(count(({ line }) => cents(line) % units(line) !== 0)).toBeGreaterThan(15)
    expect(count(({ line }) => items(line, 'charges', 'charge').length > 1)).toBeGreaterThan(40)
    expect(count(({ line }) => at(line, 'charges', 'charge', 0, 'tax') === null)).toBeGreaterThan(20)
    expect(orders.filter((order) => items(order, 'orderLines', 'orderLine').length > 1).length).toBeGreaterThan(50)
    expect(orders.filter((order) => new Set(skus(order)).size < skus(order).length).length).toBeGreaterThan(5)
    expect(orders.filter((order) => at(order, 'orderLines', 'orderLine', 0, 'lineNumber') !== '1').length).toBeGreaterThan(10)
    expect(count(({ line }) => String(at(line, 'item', 'sku')).startsWith('BUNDLE'))).toBeGreaterThan(5)
  })
})
