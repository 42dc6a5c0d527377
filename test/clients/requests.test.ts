import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOrderCommands } from '../../src/clients/marketplace/orders/order-commands.ts'
import { createOrderRequests } from '../../src/clients/marketplace/orders/order-requests.ts'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'

const shipment = {
  quantity: 2,
  carrier: 'UPS',
  trackingNumber: '1Z1',
  trackingUrl: 'https://t.example/1Z1',
  methodCode: 'Standard',
  shippedAt: new Date(1_760_000_000_123),
}
const charge = {
  chargeType: 'PRODUCT',
  chargeName: 'ItemPrice',
  amount: '-10.10',
  currency: 'USD',
  tax: { taxName: 'Tax1', amount: '-0.83', currency: 'USD' },
}

describe('writes after the specification', () => {
  const prepare = createOrderRequests(specification)

  test('acknowledge has no body', () => {
    expect(prepare.acknowledge('108')).toEqual({
      operation: 'orders.acknowledge',
      purchaseOrderId: '108',
      path: '/v3/orders/108/acknowledge',
      body: null,
    })
  })

  test('ship: two parcels of one line are two entries with their own units', () => {
    const request = prepare.ship({
      purchaseOrderId: '108',
      lines: [
        {
          lineNumber: '4',
          shipments: [shipment, { ...shipment, quantity: 1, trackingNumber: '1Z2', trackingUrl: null, methodCode: null }],
        },
      ],
    })
    expect(request.path).toBe('/v3/orders/108/shipping')
    expect(request.body).toEqual({
      orderShipment: {
        orderLines: {
          orderLine: [
            {
              lineNumber: '4',
              orderLineStatuses: {
                orderLineStatus: [
                  {
                    status: 'Shipped',
                    quantity: { unitOfMeasurement: 'EACH', amount: '2' },
                    trackingInfo: {
                      shipDateTime: 1_760_000_000_123,
                      carrierName: { carrier: 'UPS' },
                      methodCode: 'Standard',
                      trackingNumber: '1Z1',
                      trackingURL: 'https://t.example/1Z1',
                    },
                  },
                  {
                    status: 'Shipped',
                    quantity: { unitOfMeasurement: 'EACH', amount: '1' },
                    trackingInfo: { shipDateTime: 1_760_000_000_123, carrierName: { carrier: 'UPS' }, trackingNumber: '1Z2' },
                  },
                ],
              },
            },
          ],
        },
      },
    })
  })

  test('cancel and refund state their units, refund its negative money as JSON numbers', () => {
    expect(prepare.cancel({ purchaseOrderId: '1', lines: [{ lineNumber: '1', quantity: 3, reason: 'R' }] }).body).toEqual({
      orderCancellation: {
        orderLines: {
          orderLine: [
            {
              lineNumber: '1',
              orderLineStatuses: {
                orderLineStatus: [
                  { status: 'Cancelled', cancellationReason: 'R', quantity: { unitOfMeasurement: 'EACH', amount: '3' } },
                ],
              },
            },
          ],
        },
      },
    })
    const refund = prepare.refund({
      purchaseOrderId: '1',
      lines: [{ lineNumber: '1', quantity: 2, reason: 'DamagedItem', charges: [charge] }],
    })
    expect(refund.body).toEqual({
      orderRefund: {
        purchaseOrderId: '1',
        orderLines: {
          orderLine: [
            {
              lineNumber: '1',
              orderLineStatuses: {
                orderLineStatus: [{ status: 'Refund', quantity: { unitOfMeasurement: 'EACH', amount: '2' } }],
              },
              refunds: {
                refund: [
                  {
                    refundCharges: {
                      refundCharge: [
                        {
                          refundReason: 'DamagedItem',
                          charge: {
                            chargeType: 'PRODUCT',
                            chargeName: 'ItemPrice',
                            chargeAmount: { currency: 'USD', amount: -10.1 },
                            tax: { taxName: 'Tax1', taxAmount: { currency: 'USD', amount: -0.83 } },
                          },
                        },
                      ],
                    },
                  },
                ],
              },
            },
          ],
        },
      },
    })
  })

  test('fees of a charge that is refunded stand beside its tax, as orders show them', () => {
    const charges = [{ ...charge, taxAndOtherFees: { taxName: 'Bag fee', amount: '-0.30', currency: 'USD' } }]
    const { body } = prepare.refund({ purchaseOrderId: '1', lines: [{ lineNumber: '1', quantity: 1, reason: 'R', charges }] })
    expect(JSON.stringify(body)).toContain(
      '"tax":{"taxName":"Tax1","taxAmount":{"currency":"USD","amount":-0.83}},' +
        '"taxAndOtherFees":{"taxName":"Bag fee","taxAmount":{"currency":"USD","amount":-0.3}}',
    )
  })

  test('ship: the override of a buyer’s wish to cancel stands on the line', () => {
    const lines = [
      { lineNumber: '1', shipments: [shipment, { ...shipment, intentToCancelOverride: true }] },
      { lineNumber: '2', shipments: [{ ...shipment, intentToCancelOverride: false }] },
    ]
    expect(prepare.ship({ purchaseOrderId: '108', lines }).body).toMatchObject({
      orderShipment: {
        orderLines: { orderLine: [{ lineNumber: '1', intentToCancelOverride: true }, { lineNumber: '2' }] },
      },
    })
    expect(JSON.stringify(prepare.ship({ purchaseOrderId: '108', lines: lines.slice(1) }).body)).not.toContain('Override')
  })

  test('an id cannot leave its place in the path', () => {
    expect(prepare.acknowledge('1&2=3;4').path).toBe('/v3/orders/1%262%3D3%3B4/acknowledge')
    for (const id of ['', '.', '..', '../token?x=1', 'a/b', 'a\\b', '%2e%2e', '1#2', '1\n2'])
      expect(() => prepare.acknowledge(id), id).toThrow(RangeError)
  })

  test('no units, half units or inexact money are refused before anything is sent', () => {
    for (const quantity of [0, -1, 1.5, Number.NaN]) {
      expect(() => prepare.cancel({ purchaseOrderId: '1', lines: [{ lineNumber: '1', quantity, reason: 'R' }] })).toThrow(
        RangeError,
      )
    }
    const lines = [{ lineNumber: '1', shipments: [{ ...shipment, shippedAt: new Date('no time') }] }]
    expect(() => prepare.ship({ purchaseOrderId: '1', lines })).toThrow(RangeError)
    const charges = [{ ...charge, amount: '-12345678901234567.89' }]
    expect(() =>
      prepare.refund({ purchaseOrderId: '1', lines: [{ lineNumber: '1', quantity: 1, reason: 'R', charges }] }),
    ).toThrow(RangeError)
  })

  test('any amount of cents reaches the wire exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000 }), (cents) => {
        const amount = `-${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
        const charges = [{ ...charge, amount, tax: null }]
        const text = JSON.stringify(
          prepare.refund({ purchaseOrderId: '1', lines: [{ lineNumber: '1', quantity: 1, reason: 'R', charges }] }).body,
        )
        const sent = /"amount":(-[\d.]+)/.exec(text)?.[1] ?? ''
        const [whole = '', fraction = ''] = sent.split('.')
        expect(`${whole}.${fraction.padEnd(2, '0')}`).toBe(amount)
      }),
    )
  })
})

test('the live profile words the same differently', () => {
  const prepare = createOrderRequests(walmartUs)
  const ship = prepare.ship({
    purchaseOrderId: '108',
    lines: [{ lineNumber: '1', shipments: [{ ...shipment, carrier: 'Pigeon Post' }] }],
  })
  expect(JSON.stringify(ship.body)).toContain('"statusQuantity":{"unitOfMeasurement":"EACH","amount":"2"}')
  expect(JSON.stringify(ship.body)).toContain('"carrierName":{"otherCarrier":"Pigeon Post"}')
  const lower = prepare.ship({
    purchaseOrderId: '108',
    lines: [{ lineNumber: '1', shipments: [{ ...shipment, carrier: 'ups' }] }],
  })
  expect(JSON.stringify(lower.body)).toContain('"carrierName":{"carrier":"UPS"}')
  expect(JSON.stringify(ship.body)).toContain('"sellerOrderId":"108"')
  const refund = prepare.refund({
    purchaseOrderId: '1',
    lines: [{ lineNumber: '1', quantity: 2, reason: 'R', charges: [charge] }],
  })
  expect(JSON.stringify(refund.body)).toContain('"isFullRefund":false')
})

test('a correction under walmart-us names the number that it replaces; the specification has none', () => {
  const { operations } = ordersEndpoint
  const of = (profile: typeof walmartUs) =>
    createOrderCommands(operations, createOrderRequests(profile), profile)['correct-shipment']
  expect(of(specification)).toBeUndefined()
  const command = of(walmartUs)
  expect(command?.operation.name).toBe('orders.ship')
  const shippedAt = new Date(1_760_000_000_123).toISOString()
  const request = command?.request('108', {
    trackingNumber: '1Z-OLD',
    replacement: { carrier: 'Bike', trackingNumber: '1Z-NEW', trackingUrl: 'https://t.example/1' },
    lines: [
      { lineNumber: '4', quantity: 2, shippedAt, method: 'Standard' },
      { lineNumber: '5', quantity: 1, shippedAt, method: null, intentToCancelOverride: true },
    ],
  })
  const trackingInfo = {
    shipDateTime: 1_760_000_000_123,
    carrierName: { otherCarrier: 'Bike' },
    trackingNumber: '1Z-NEW',
    trackingURL: 'https://t.example/1',
  }
  const entry = (amount: string, methodCode: object) => ({
    orderLineStatus: [
      {
        status: 'Shipped',
        statusQuantity: { unitOfMeasurement: 'EACH', amount },
        trackingInfo: { ...trackingInfo, ...methodCode },
        currentTrackingInfo: { trackingNumber: '1Z-OLD' },
      },
    ],
  })
  expect(request).toEqual({
    operation: 'orders.ship',
    purchaseOrderId: '108',
    path: '/v3/orders/108/shipping',
    body: {
      orderShipment: {
        processMode: 'PARTIAL_UPDATE',
        orderLines: {
          orderLine: [
            { lineNumber: '4', sellerOrderId: '108', orderLineStatuses: entry('2', { methodCode: 'Standard' }) },
            { lineNumber: '5', intentToCancelOverride: true, sellerOrderId: '108', orderLineStatuses: entry('1', {}) },
          ],
        },
      },
    },
  })
})
