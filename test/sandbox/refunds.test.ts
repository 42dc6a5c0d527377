import { describe, expect, test } from 'vitest'
import { at, description, items, type Json, listUnits, type Reply, readEffects, startClient, type TestClient } from './support.ts'

const line = { sku: 'A', quantity: 3, unitPrice: '10.00', tax: '2.00' }

const shipped = async (client: TestClient, lines: readonly object[] = [line]): Promise<string> => {
  const po = await client.place(lines)
  await client.acknowledge(po)
  await client.ship(
    po,
    lines.map((line, index) => ({ line: String(index + 1), quantity: Number(Reflect.get(line, 'quantity')) })),
  )
  return po
}

const findLine = (order: Json, line = 0): Json => at(order, 'orderLines', 'orderLine', line)
const refundedAmounts = (order: Json): readonly Json[] =>
  items(findLine(order), 'refund', 'refundCharges', 'refundCharge').map((one) => at(one, 'charge', 'chargeAmount', 'amount'))

describe('how refunds are shown', () => {
  test('as money only: the units stay where they were, with their parcel', async () => {
    const client = await startClient()
    const po = await shipped(client)
    await client.refund(po, '1', 2, -20)
    await client.control('PUT', '/faults', { rules: [{ operation: 'orders.*', refundsAsMoney: 1 }] })
    const order = await client.order(po)
    expect([listUnits(order), refundedAmounts(order)]).toEqual(['Shipped 3', [-20]])
    const statuses = items(findLine(order), 'orderLineStatuses', 'orderLineStatus')
    expect(statuses.map((status) => at(status, 'trackingInfo', 'trackingNumber'))).toEqual(['T-1'])
    const listed = items((await client.call('GET', '/v3/orders')).json, 'list', 'elements', 'order')[0] ?? null
    expect(listUnits(listed)).toBe('Shipped 3')
    expect(listUnits(at((await client.refund(po, '1', 1, -10)).json, 'order'))).toBe('Shipped 3')
    await client.control('PUT', '/faults', {})
    expect(listUnits(await client.order(po))).toBe('Refund 3')
  })

  test('with positive amounts, as one official example has them', async () => {
    const client = await startClient()
    const po = await shipped(client)
    await client.control('PUT', '/faults', { rules: [{ purchaseOrderId: po, positiveRefunds: 1 }] })
    const told = at((await client.refund(po, '1', 1, -10, -0.67)).json, 'order')
    expect(refundedAmounts(told)).toEqual([10])
    expect(refundedAmounts(await client.order(po))).toEqual([10])
    await client.control('PUT', '/faults', {})
    expect(refundedAmounts(await client.order(po))).toEqual([-10])
  })
})

describe('the marketplace refunds by itself', () => {
  const refund = (client: TestClient, po: string, body: object): Promise<Json> =>
    client.control('POST', `/orders/${po}/refund`, body)

  test('units, with what they cost', async () => {
    const client = await startClient()
    const po = await shipped(client)
    expect(await refund(client, po, { lines: [{ lineNumber: '1', quantity: 2 }] })).toEqual({ refunded: 2, amount: '21.33' })
    expect(listUnits(await client.order(po))).toBe('Refund 2, Shipped 1')
    expect((await readEffects(client, po)).at(-1)).toBe('refunded 2 of line 1 by marketplace')
  })

  test('money only: no unit moves, and the seller cannot pay it out again', async () => {
    const client = await startClient()
    const po = await shipped(client)
    expect(await refund(client, po, { lines: [{ lineNumber: '1', amount: '25.00', tax: '1.00' }] })).toEqual({
      refunded: 0,
      amount: '26',
    })
    const order = await client.order(po)
    expect([listUnits(order), refundedAmounts(order)]).toEqual(['Shipped 3', [-25]])
    expect(description(await client.refund(po, '1', 1, -10))).toContain('exceeds the remaining PRODUCT charge')
  })

  test('at a moment of the virtual clock, never more than is left', async () => {
    const client = await startClient()
    const po = await shipped(client)
    expect(await refund(client, po, { lines: [{ lineNumber: '1', quantity: 3 }], when: { in: '2h' } })).toEqual({ scheduled: 1 })
    await client.refund(po, '1', 2, -20)
    expect(listUnits(await client.order(po))).toBe('Refund 2, Shipped 1')
    await client.control('POST', '/clock', { advance: '2h' })
    await client.renewToken()
    expect(listUnits(await client.order(po))).toBe('Refund 3')
    expect(refundedAmounts(await client.order(po))).toEqual([-20, -10])
  })

  test('right before a call: the seller asks for what has just been paid', async () => {
    const client = await startClient()
    const po = await shipped(client, [{ ...line, quantity: 1 }])
    await refund(client, po, { lines: [{ lineNumber: '1', amount: '10.00' }], when: { before: 'orders.refund' } })
    expect(listUnits(await client.order(po))).toBe('Shipped 1')
    expect((await client.refund(po, '1', 1, -10)).status).toBe(400)
  })

  test.each([
    [{ lines: [] }, 'lines'],
    [{ lines: [{ lineNumber: '1' }] }, 'units or an amount'],
    [{ lines: [{ lineNumber: '9', quantity: 1 }] }, 'no line 9'],
    [{ lines: [{ lineNumber: '1', quantity: 1 }], reason: 'Because' }, 'no reason'],
    [{ lines: [{ lineNumber: '1', quantity: 1 }], when: {} }, 'one of at, in, before, after'],
    [{ lines: [{ lineNumber: '1', quantity: 1 }], when: { in: '1h', before: 'orders.ship' } }, 'one of at, in, before, after'],
    [{ lines: [{ lineNumber: '1', quantity: 1 }], when: { in: '1h', call: 2 } }, 'counts calls'],
    [{ lines: [{ lineNumber: '1', quantity: 1 }], when: { at: '2020-01-01T00:00:00Z' } }, 'past'],
  ])('%j is refused', async (body, message) => {
    const client = await startClient()
    const po = await shipped(client)
    await expect(refund(client, po, body)).rejects.toThrow(message)
  })

  test('nothing where nothing is shipped', async () => {
    const client = await startClient()
    const po = await client.place([line])
    await expect(refund(client, po, { lines: [{ lineNumber: '1', quantity: 1 }] })).rejects.toThrow('409')
  })
})

describe('further charges', () => {
  const wrapped = {
    ...{ sku: 'A', quantity: 2, unitPrice: '10.00', tax: '1.60', fees: '0.50', shipping: '4.00' },
    charges: [
      { type: 'GIFT_WRAP', name: 'Gift Wrap', amount: '3.98', tax: '0.32', fees: '0.10' },
      { type: 'DISCOUNT', name: 'SubscriptionDiscount', amount: '-1.00' },
    ],
  }
  const listCharges = (order: Json): readonly Json[] =>
    items(findLine(order), 'charges', 'charge').map((charge) => [
      at(charge, 'chargeType'),
      at(charge, 'chargeAmount', 'amount'),
      at(charge, 'taxAndOtherFees', 'taxAmount', 'amount'),
    ])

  test('are shown beside price and shipping, and counted in the total', async () => {
    const client = await startClient()
    const order = await client.order(await client.place([wrapped]))
    expect(listCharges(order)).toEqual([
      ['PRODUCT', 20, 0.5],
      ['SHIPPING', 4, null],
      ['GIFT_WRAP', 3.98, 0.1],
      ['DISCOUNT', -1, null],
    ])
    expect(at(order, 'orderSummary', 'totalAmount', 'currencyAmount')).toBe(29.5)
  })

  test('are given back by a full refund, and by name, up to what they were', async () => {
    const client = await startClient()
    const charge = (chargeType: string, amount: number, fees?: number): object => ({
      refundReason: 'DamagedItem',
      charge: {
        chargeType,
        chargeName: chargeType,
        chargeAmount: { currency: 'USD', amount },
        ...(fees === undefined ? {} : { taxAndOtherFees: { taxName: 'Fees', taxAmount: { currency: 'USD', amount: fees } } }),
      },
    })
    const ask = (po: string, more: object): Promise<Reply> => {
      const orderLineStatuses = { orderLineStatus: [{ status: 'Refund', quantity: { amount: '1' } }] }
      const orderLine = [{ lineNumber: '1', orderLineStatuses, ...more }]
      return client.call('POST', `/v3/orders/${po}/refund`, { orderRefund: { orderLines: { orderLine } } })
    }
    const refunds = (...refundCharge: readonly object[]): object => ({
      refunds: { refund: [{ refundCharges: { refundCharge } }] },
    })
    const po = await shipped(client, [wrapped])
    expect(description(await ask(po, refunds(charge('GIFT_WRAP', -3.99))))).toContain('exceeds the remaining GIFT_WRAP charge')
    expect(description(await ask(po, refunds(charge('PRODUCT', -1, -0.51))))).toContain('exceeds the remaining PRODUCT charge')
    expect(description(await ask(po, refunds(charge('INSURANCE', -1))))).toContain('Charge type is not supported')
    expect((await ask(po, refunds(charge('PRODUCT', -10, -0.25), charge('GIFT_WRAP', -1)))).status).toBe(200)
    expect((await ask(po, { isFullRefund: true })).status).toBe(200)
    const effects = items(await client.control('GET', `/effects?purchaseOrderId=${po}`), 'items')
    expect(effects.slice(-2).map((effect) => at(effect, 'amount'))).toEqual(['11.25', '19.25'])
  })

  test('come now and then with random orders', async () => {
    const client = await startClient()
    await client.control('POST', '/orders', { count: 400, shipNodeType: 'SellerFulfilled' })
    const first = await client.call('GET', '/v3/orders?limit=200')
    const second = await client.call('GET', `/v3/orders${at(first.json, 'list', 'meta', 'nextCursor')}`)
    const orders = [first, second].flatMap((page) => items(page.json, 'list', 'elements', 'order'))
    const charges = orders.flatMap((order) =>
      items(order, 'orderLines', 'orderLine').flatMap((line) => items(line, 'charges', 'charge')),
    )
    expect(charges.filter((charge) => at(charge, 'taxAndOtherFees') !== null).length).toBeGreaterThan(5)
    expect(charges.filter((charge) => at(charge, 'chargeType') === 'GIFT_WRAP').length).toBeGreaterThan(5)
    expect(charges.filter((charge) => at(charge, 'chargeType') === 'PRODUCT').length).toBeGreaterThan(400)
  })
})
