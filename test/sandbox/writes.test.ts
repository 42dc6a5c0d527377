import { describe, expect, test } from 'vitest'
import { buildDialect } from '../../sandbox/settings.ts'
import { at, connect, description, items, listUnits, refundBody, startTestSandbox, type TestClient } from './support.ts'

const started = async (): Promise<TestClient> => {
  const sandbox = await startTestSandbox()
  const client = await connect(sandbox.url)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

const threeUnits = { sku: 'A', quantity: 3, unitPrice: '10.00', tax: '2.00', shipping: '5.00' }

describe('acknowledge', () => {
  test('takes every unit once; the second call is refused and changes nothing', async () => {
    const client = await started()
    const po = await client.place([threeUnits, { sku: 'B', quantity: 2 }])
    const first = await client.acknowledge(po)
    expect(first.status).toBe(200)
    expect(listUnits(at(first.json, 'order'))).toBe('Acknowledged 3')
    expect(listUnits(at(first.json, 'order'), 1)).toBe('Acknowledged 2')
    const second = await client.acknowledge(po)
    expect(second.status).toBe(400)
    expect(at(second.json, 'errors', 'error', 0, 'code')).toBe('INVALID_REQUEST_CONTENT.GMP_ORDER_API')
    expect(description(second)).toBe(`Failed when called acknowledge API for '${po}'. Some or all qty in higher status`)
    expect(items(await client.control('GET', '/effects'), 'items')).toHaveLength(2)
  })

  test('an unknown order is 404 CONTENT_NOT_FOUND', async () => {
    const client = await started()
    const reply = await client.acknowledge('1')
    expect([reply.status, at(reply.json, 'errors', 'error', 0, 'code')]).toEqual([404, 'CONTENT_NOT_FOUND.GMP_ORDER_API'])
  })
})

describe('ship', () => {
  test('parcels of one line become entries of their own with their tracking', async () => {
    const client = await started()
    const po = await client.place([threeUnits])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 1, tracking: 'ONE' }])
    const reply = await client.ship(po, [{ line: '1', quantity: 2, tracking: 'TWO' }])
    const entries = items(reply.json, 'order', 'orderLines', 'orderLine', 0, 'orderLineStatuses', 'orderLineStatus')
    expect(entries.map((entry) => [at(entry, 'trackingInfo', 'trackingNumber'), at(entry, 'statusQuantity', 'amount')])).toEqual([
      ['ONE', '1'],
      ['TWO', '2'],
    ])
  })

  test('too many, again, too early and unknown lines are refused in the published words', async () => {
    const client = await started()
    const po = await client.place([threeUnits])
    expect(description(await client.ship(po, [{ line: '1', quantity: 1 }]))).toContain('is in CREATED status')
    await client.acknowledge(po)
    expect(description(await client.ship(po, [{ line: '1', quantity: 4 }]))).toContain("doesn't have enough quantity to ship")
    await client.ship(po, [{ line: '1', quantity: 2 }])
    expect(description(await client.ship(po, [{ line: '1', quantity: 2 }]))).toContain(
      `Failed when called shipConfirm API for ${po}. Qty OverShipped`,
    )
    await client.ship(po, [{ line: '1', quantity: 1 }])
    expect(description(await client.ship(po, [{ line: '1', quantity: 1 }]))).toContain(
      `The Line: 1 of PO: ${po} is in SHIPPED status`,
    )
    expect(description(await client.ship(po, [{ line: '9', quantity: 1 }]))).toContain(`Line: 9 of PO: ${po} does not exist`)
    expect(listUnits(await client.order(po))).toBe('Shipped 3')
  })

  test('one faulty line refuses the whole request', async () => {
    const client = await started()
    const po = await client.place([threeUnits, { sku: 'B', quantity: 1 }])
    await client.acknowledge(po)
    const reply = await client.ship(po, [
      { line: '1', quantity: 3 },
      { line: '2', quantity: 2 },
    ])
    expect(reply.status).toBe(400)
    expect(listUnits(await client.order(po))).toBe('Acknowledged 3')
  })

  test.each([
    ['a quantity left out', (entry: object) => ({ ...entry, quantity: undefined }), 'quantity'],
    ['a quantity of zero', (entry: object) => ({ ...entry, quantity: { amount: '0' } }), 'quantity'],
    [
      'the other name of the quantity',
      (entry: object) => ({ ...entry, quantity: undefined, statusQuantity: { amount: '1' } }),
      'quantity',
    ],
    ['an unknown method', (entry: object) => withTracking(entry, { methodCode: 'standard' }), 'methodCode'],
    ['a ship time in seconds', (entry: object) => withTracking(entry, { shipDateTime: 1_790_000_000 }), 'shipDateTime'],
    ['a ship time as text', (entry: object) => withTracking(entry, { shipDateTime: '2026-01-01T00:00:00Z' }), 'shipDateTime'],
    [
      'another carrier without an address to track',
      (entry: object) => withTracking(entry, { carrierName: { otherCarrier: 'X' }, trackingURL: undefined }),
      'trackingURL',
    ],
    ['no tracking number', (entry: object) => withTracking(entry, { trackingNumber: undefined }), 'trackingNumber'],
  ])('%s is refused', async (_name, corrupt, field) => {
    const client = await started()
    const po = await client.place([threeUnits])
    await client.acknowledge(po)
    const good = {
      status: 'Shipped',
      quantity: { amount: '1' },
      trackingInfo: { shipDateTime: Date.now(), carrierName: { carrier: 'UPS' }, methodCode: 'Standard', trackingNumber: 'T' },
    }
    const orderLine = [{ lineNumber: '1', orderLineStatuses: { orderLineStatus: [corrupt(good)] } }]
    const reply = await client.call('POST', `/v3/orders/${po}/shipping`, { orderShipment: { orderLines: { orderLine } } })
    expect(reply.status).toBe(400)
    expect(at(reply.json, 'errors', 'error', 0, 'field')).toContain(field)
  })

  test('a line whose buyer asked to cancel ships only by override', async () => {
    const client = await started()
    const po = await client.place([{ ...threeUnits, intentToCancel: true }])
    await client.acknowledge(po)
    expect((await client.ship(po, [{ line: '1', quantity: 1 }])).status).toBe(400)
    expect((await client.ship(po, [{ line: '1', quantity: 1, more: { intentToCancelOverride: true } }])).status).toBe(200)
    expect(at(await client.order(po), 'orderLines', 'orderLine', 0, 'intentToCancel')).toMatch(/^\d{4}-/)
  })

  test('PARTIAL_UPDATE changes tracking and moves no unit', async () => {
    const client = await started()
    const po = await client.place([threeUnits])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 2, tracking: 'OLD' }])
    const entry = {
      status: 'Shipped',
      trackingInfo: { shipDateTime: Date.now(), carrierName: { carrier: 'UPS' }, methodCode: 'Standard', trackingNumber: 'NEW' },
      currentTrackingInfo: { trackingNumber: 'OLD' },
    }
    const reply = await client.call('POST', `/v3/orders/${po}/shipping`, {
      orderShipment: {
        processMode: 'PARTIAL_UPDATE',
        orderLines: { orderLine: [{ lineNumber: '1', orderLineStatuses: { orderLineStatus: [entry] } }] },
      },
    })
    expect(listUnits(at(reply.json, 'order'))).toBe('Acknowledged 1, Shipped 2')
    expect(reply.text).toContain('"NEW"')
    const effects = items(await client.control('GET', '/effects'), 'items')
    expect(effects.slice(1).map((effect) => [at(effect, 'kind'), at(effect, 'quantity'), at(effect, 'trackingNumber')])).toEqual([
      ['shipped', 2, 'OLD'],
      ['corrected', 2, 'NEW'],
    ])
  })
})

const withTracking = (entry: object, more: object): object => ({
  ...entry,
  trackingInfo: { ...Reflect.get(entry, 'trackingInfo'), ...more },
})

describe('cancel', () => {
  test('part of a line, then the rest: prices and phone are blanked only when nothing is left', async () => {
    const client = await started()
    const po = await client.place([threeUnits])
    const part = await client.cancel(po, '1', 1)
    expect(listUnits(at(part.json, 'order'))).toBe('Cancelled 1, Created 2')
    expect(at(part.json, 'order', 'shippingInfo', 'phone')).not.toBe('0000000000')
    const all = await client.cancel(po, '1', 2)
    expect(listUnits(at(all.json, 'order'))).toBe('Cancelled 3')
    expect(at(all.json, 'order', 'shippingInfo', 'phone')).toBe('0000000000')
    expect(at(all.json, 'order', 'orderLines', 'orderLine', 0, 'charges', 'charge', 0, 'chargeAmount', 'amount')).toBe(0)
    expect(description(await client.cancel(po, '1', 1))).toContain('is in CANCELLED status')
  })

  test('nothing shipped, nothing beyond what is left, and no unknown or unfounded reason', async () => {
    const client = await started()
    const po = await client.place([threeUnits])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 2 }])
    expect((await client.cancel(po, '1', 2)).status).toBe(400)
    expect((await client.cancel(po, '1', 1, 'CUSTOMER_CHANGED_MIND')).status).toBe(400)
    expect((await client.cancel(po, '1', 1, 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL')).status).toBe(400)
    await client.cancel(po, '1', 1)
    expect(listUnits(await client.order(po))).toBe('Cancelled 1, Shipped 2')
    expect(description(await client.cancel(po, '1', 1))).toContain('is in SHIPPED status')
  })

  test('more than 100 lines are refused', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 200 }])
    const entry = { status: 'Cancelled', cancellationReason: 'SELLER_CANCEL_OUT_OF_STOCK', quantity: { amount: '1' } }
    const orderLine = Array.from({ length: 101 }, () => ({ lineNumber: '1', orderLineStatuses: { orderLineStatus: [entry] } }))
    const reply = await client.call('POST', `/v3/orders/${po}/cancel`, { orderCancellation: { orderLines: { orderLine } } })
    expect(reply.status).toBe(400)
  })

  test('marketplace-fulfilled orders are neither shipped nor cancelled by the seller', async () => {
    const client = await started()
    const po = await client.place([threeUnits], { shipNodeType: 'WFSFulfilled' })
    expect(listUnits(await client.order(po))).toBe('Acknowledged 3')
    expect((await client.ship(po, [{ line: '1', quantity: 1 }])).status).toBe(400)
    expect((await client.cancel(po, '1', 1)).status).toBe(400)
  })
})

describe('refund', () => {
  const shipped = async (): Promise<{ client: TestClient; po: string }> => {
    const client = await started()
    const po = await client.place([threeUnits])
    await client.acknowledge(po)
    await client.ship(po, [{ line: '1', quantity: 3 }])
    return { client, po }
  }

  test('twice pays twice, until units or money are used up', async () => {
    const { client, po } = await shipped()
    for (const left of ['Refund 1, Shipped 2', 'Refund 2, Shipped 1']) {
      const reply = await client.refund(po, '1', 1, -10, -0.67)
      expect(reply.status).toBe(200)
      expect(listUnits(at(reply.json, 'order'))).toBe(left)
    }
    expect((await client.refund(po, '1', 2, -5)).status).toBe(400)
    expect(description(await client.refund(po, '1', 1, -10.01))).toContain('exceeds the remaining PRODUCT charge')
    expect(description(await client.refund(po, '1', 1, -10, -0.67))).toContain('exceeds the remaining PRODUCT charge')
    expect((await client.refund(po, '1', 1, -10, -0.66)).status).toBe(200)
    expect((await client.refund(po, '1', 1, -0.01)).status).toBe(400)
    const line = at(await client.order(po), 'orderLines', 'orderLine', 0)
    const charges = items(line, 'refund', 'refundCharges', 'refundCharge')
    expect(charges.map((charge) => at(charge, 'charge', 'chargeAmount', 'amount'))).toEqual([-10, -10, -10])
    expect(charges.map((charge) => at(charge, 'charge', 'tax', 'taxAmount', 'amount'))).toEqual([-0.67, -0.67, -0.66])
    const effects = items(await client.control('GET', '/effects?limit=100'), 'items').filter(
      (effect) => at(effect, 'kind') === 'refunded',
    )
    expect(effects.map((effect) => at(effect, 'amount'))).toEqual(['10.67', '10.67', '10.66'])
  })

  test('units are required, amounts negative, and only shipped units count', async () => {
    const { client, po } = await shipped()
    const without = await client.call('POST', `/v3/orders/${po}/refund`, refundBody(po, '1', {}, -1))
    expect(at(without.json, 'errors', 'error', 0, 'field')).toBe(
      'orderLines.orderLine.orderLineStatuses.orderLineStatus.quantity',
    )
    expect((await client.refund(po, '1', 1, 10)).status).toBe(400)
    expect((await client.refund(po, '1', 1, -1.001)).status).toBe(400)
    const other = await client.place([threeUnits])
    await client.acknowledge(other)
    expect(description(await client.refund(other, '1', 1, -1))).toContain('no shipped quantity')
  })

  test('a full refund gives item, tax and shipping back', async () => {
    const { client, po } = await shipped()
    const line = {
      lineNumber: '1',
      isFullRefund: true,
      orderLineStatuses: { orderLineStatus: [{ status: 'Refund', quantity: { amount: '3' } }] },
    }
    const reply = await client.call('POST', `/v3/orders/${po}/refund`, { orderRefund: { orderLines: { orderLine: [line] } } })
    expect(listUnits(at(reply.json, 'order'))).toBe('Refund 3')
    const effects = items(await client.control('GET', '/effects'), 'items')
    expect(at(effects.at(-1) ?? null, 'amount')).toBe('37')
  })
})

test('the walmart-us profile has its own header names and quantity field, and needs no units to refund', async () => {
  const sandbox = await startTestSandbox({ dialect: buildDialect('walmart-us') })
  const client = await connect(sandbox.url, { prefix: 'WM', quantityField: 'statusQuantity' })
  const po = await client.place([threeUnits])
  await client.acknowledge(po)
  expect((await client.ship(po, [{ line: '1', quantity: 3 }])).status).toBe(200)
  const body = { orderRefund: { orderLines: { orderLine: [{ lineNumber: '1', refunds: parseRefunds(-20) }] } } }
  const reply = await client.call('POST', `/v3/orders/${po}/refund`, body)
  expect(listUnits(at(reply.json, 'order'))).toBe('Refund 2, Shipped 1')
})

test('under walmart-us a refund of the whole price gives tax and shipping back as well, and carriers are a closed list', async () => {
  const sandbox = await startTestSandbox({ dialect: buildDialect('walmart-us') })
  const client = await connect(sandbox.url, { prefix: 'WM', quantityField: 'statusQuantity' })
  const po = await client.place([threeUnits])
  await client.acknowledge(po)
  const line = { lineNumber: '1', orderLineStatuses: { orderLineStatus: [shippedBy('Nobody Knows It')] } }
  const unknown = await client.call('POST', `/v3/orders/${po}/shipping`, { orderShipment: { orderLines: { orderLine: [line] } } })
  expect(description(unknown)).toContain('Carrier is not supported')
  await client.ship(po, [{ line: '1', quantity: 3 }])
  expect((await client.refund(po, '1', 3, -30)).status).toBe(200)
  const effects = items(await client.control('GET', '/effects'), 'items')
  expect(at(effects.at(-1) ?? null, 'amount')).toBe('37')
})

const shippedBy = (carrier: string): object => ({
  status: 'Shipped',
  statusQuantity: { amount: '1' },
  trackingInfo: { shipDateTime: Date.now(), carrierName: { carrier }, methodCode: 'Standard', trackingNumber: 'T' },
})

const parseRefunds = (amount: number): object => {
  const charge = { chargeType: 'PRODUCT', chargeName: 'ItemPrice', chargeAmount: { currency: 'USD', amount } }
  return { refund: [{ refundCharges: { refundCharge: [{ refundReason: 'DamagedItem', charge }] } }] }
}

test('the effects tell who did what, in which request', async () => {
  const client = await started()
  const po = await client.place([threeUnits])
  const correlationId = '7f1b5f0e-2f0e-4b63-8a3e-0f1f54d9c001'
  await client.call('POST', `/v3/orders/${po}/acknowledge`, undefined, { 'XX_QOS.CORRELATION_ID': correlationId })
  const [effect] = items(await client.control('GET', `/effects?purchaseOrderId=${po}`), 'items')
  expect(effect).toMatchObject({
    kind: 'acknowledged',
    quantity: 3,
    by: 'seller',
    correlationId,
    lineNumber: '1',
    sellerId: 'sandbox-seller',
  })
  const summary = items(await client.control('GET', '/effects/summary'), 'items')
  expect(summary).toEqual([
    expect.objectContaining({ purchaseOrderId: po, ordered: 3, acknowledged: 3, shipped: 0, refundedAmount: '0' }),
  ])
})
