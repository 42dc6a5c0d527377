import { describe, expect, test } from 'vitest'
import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import type { Observed } from '../../src/clients/http/record.ts'
import { parseOrder } from '../../src/clients/marketplace/orders/order-record.ts'
import type { WireRequest } from '../../src/clients/marketplace/orders/order-requests.ts'
import { ordersEndpoint, orderWrites } from '../../src/clients/marketplace/orders/orders.ts'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import { parseReturn } from '../../src/clients/marketplace/return-record.ts'
import { returnsEndpoint } from '../../src/clients/marketplace/returns.ts'
import { readEvent } from '../../src/domain/events/event-reading.ts'
import { planCommands } from '../../src/domain/events/events.ts'
import type { OrderLine, PurchaseOrder } from '../../src/domain/orders/order.ts'
import { buildLedgers } from '../../src/domain/orders/units.ts'
import { forever } from '../clients/servers.ts'
import { at, items, type Json } from '../sandbox/support.ts'
import { reportedParcel } from '../support/events.ts'
import { charge } from '../support/orders.ts'
import { buildFailure, rehearse } from './rehearse.ts'

// The eight rules of the multi-line multi-quantity model (specification, section 9), each under both profiles.

const bundle = { sku: 'BUNDLE-CAMP-COOK', quantity: 3, unitPrice: '65.33', tax: '4.74', shipping: '0.00' }
const reason = 'SELLER_CANCEL_OUT_OF_STOCK'
const shipment = (quantity: number, trackingNumber: string) => ({
  quantity,
  carrier: 'UPS',
  trackingNumber,
  trackingUrl: null,
  methodCode: 'Standard',
  shippedAt: new Date(),
})

const send = (client: MarketplaceClient, request: WireRequest): Promise<Observed<PurchaseOrder>> =>
  client.writer(orderWrites).send(request, { signal: forever(), correlationId: crypto.randomUUID() })

const orderExpression = (observed: Observed<PurchaseOrder> | null): PurchaseOrder => {
  if (observed?.record.ok !== true) throw new Error('expected an order that can be read')
  return observed.record.value
}

const findLine = (observed: Observed<PurchaseOrder> | null, lineNumber = '1'): OrderLine => {
  const line = orderExpression(observed).lines.find((candidate) => candidate.lineNumber === lineNumber)
  if (line === undefined) throw new Error(`expected a line ${lineNumber}`)
  return line
}

const buildBody = (request: WireRequest): Json => JSON.parse(JSON.stringify(request.body))

describe.each([specification, walmartUs])('multi-quantity under the profile $name', (profile) => {
  const listStatuses = (body: Json, root: string, line = 0): readonly Json[] =>
    items(body, root, 'orderLines', 'orderLine', line, 'orderLineStatuses', 'orderLineStatus')

  test('rule 1: a line carries many units, and the amount is read, never assumed', async () => {
    const { client, sandbox } = await rehearse(profile)
    const purchaseOrderId = await sandbox.place([bundle])
    const observed = await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() })
    expect(findLine(observed).ordered).toBe(3)
    const raw: Json = JSON.parse(observed?.record.rawText ?? 'null')
    const [line] = items(raw, 'orderLines', 'orderLine')
    expect(at(line ?? null, 'orderLineQuantity', 'amount')).toBe('3')
    // Without its amount a line is not taken for a single unit: the record is set aside.
    const without = JSON.stringify(raw).replace(/"orderLineQuantity":\{[^}]*\},?/, '')
    expect(parseOrder(without)).toMatchObject({ ok: false, key: purchaseOrderId })
  })

  test('rule 2: acknowledge, ship, cancel and refund work on the line and the units being processed', async () => {
    const { client, sandbox } = await rehearse(profile)
    const { prepare } = client.of(ordersEndpoint)
    const purchaseOrderId = await sandbox.place([bundle, { ...bundle, quantity: 2 }])
    await send(client, prepare.acknowledge(purchaseOrderId))
    await send(client, prepare.ship({ purchaseOrderId, lines: [{ lineNumber: '1', shipments: [shipment(2, 'T1')] }] }))
    await send(client, prepare.cancel({ purchaseOrderId, lines: [{ lineNumber: '2', quantity: 1, reason }] }))
    await send(
      client,
      prepare.refund({
        purchaseOrderId,
        lines: [{ lineNumber: '1', quantity: 1, reason: 'DamagedItem', charges: [charge('-10.00')] }],
      }),
    )
    const observed = await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() })
    expect(findLine(observed, '1').units).toMatchObject({ shipped: 2, cancelled: 0 })
    expect(findLine(observed, '2').units).toMatchObject({ shipped: 0, cancelled: 1 })
    expect(findLine(observed, '1').refundedAmount).toBe('10')
    expect(findLine(observed, '2').refundedAmount).toBe('0')
  })

  test('rule 3: each shipment line names its lineNumber and the units shipped; a partial shipment is that many units', async () => {
    const { client, sandbox } = await rehearse(profile)
    const { prepare } = client.of(ordersEndpoint)
    const purchaseOrderId = await sandbox.place([{ ...bundle, lineNumber: '4' }])
    const request = prepare.ship({
      purchaseOrderId,
      lines: [{ lineNumber: '4', shipments: [shipment(1, 'T1'), shipment(1, 'T2')] }],
    })
    const body = buildBody(request)
    expect(at(body, 'orderShipment', 'orderLines', 'orderLine', 0, 'lineNumber')).toBe('4')
    expect(listStatuses(body, 'orderShipment').map((status) => at(status, profile.quantityField, 'amount'))).toEqual(['1', '1'])
    await sandbox.acknowledge(purchaseOrderId)
    expect(findLine(await send(client, request), '4').units).toMatchObject({ shipped: 2 })
  })

  test('rule 4: each cancelled line states the units that are cancelled, no more and no fewer', async () => {
    const { client, sandbox } = await rehearse(profile)
    const { prepare } = client.of(ordersEndpoint)
    const purchaseOrderId = await sandbox.place([bundle])
    const request = prepare.cancel({ purchaseOrderId, lines: [{ lineNumber: '1', quantity: 2, reason }] })
    const [status] = listStatuses(buildBody(request), 'orderCancellation')
    expect(at(status ?? null, profile.quantityField, 'amount')).toBe('2')
    expect(findLine(await send(client, request)).units).toMatchObject({ cancelled: 2, shipped: 0 })
  })

  test('rule 5: a refund states its units, 2 of a line of 3, and never leaves them out', async () => {
    const { client, sandbox } = await rehearse(profile)
    const { prepare } = client.of(ordersEndpoint)
    const purchaseOrderId = await sandbox.place([bundle])
    await sandbox.acknowledge(purchaseOrderId)
    await sandbox.ship(purchaseOrderId, [{ line: '1', quantity: 3 }])
    const refund = (quantity: number) =>
      prepare.refund({
        purchaseOrderId,
        lines: [{ lineNumber: '1', quantity, reason: 'DamagedItem', charges: [charge('-20.00')] }],
      })
    const [status] = listStatuses(buildBody(refund(2)), 'orderRefund')
    expect(at(status ?? null, profile.quantityField, 'amount')).toBe('2')
    for (const quantity of [0, -1, 1.5]) expect(() => refund(quantity)).toThrow(RangeError)
    expect(findLine(await send(client, refund(2))).refundedAmount).toBe('20')
  })

  test('rule 6: a return with currentTrackingStatuses and refundChannels is read whole, in any form', async () => {
    const { client, sandbox } = await rehearse(profile)
    const purchaseOrderId = await sandbox.place([bundle])
    await sandbox.acknowledge(purchaseOrderId)
    await sandbox.ship(purchaseOrderId, [{ line: '1', quantity: 3 }])
    await sandbox.control('POST', '/returns', { purchaseOrderId, lines: [{ lineNumber: '1', quantity: 2 }] })
    const day = 86_400_000
    const window = { createdFrom: new Date(Date.now() - day), createdTo: new Date(Date.now() + day), limit: 10 }
    const { records } = await client.of(returnsEndpoint).list(window, { signal: forever() })
    expect(records).toMatchObject([{ ok: true, value: { lines: [{ quantity: 2, trackingStatuses: [{ quantity: 2 }] }] } }])
    const raw: Json = JSON.parse(records[0]?.rawText ?? 'null')
    const shapes = [null, [], 'IN_TRANSIT', ['RECEIVED', { status: 'COMPLETED', quantity: 'two' }], { any: 1 }, [[1]]]
    for (const currentTrackingStatuses of shapes) {
      for (const refundChannels of shapes) {
        const [line] = items(raw, 'returnOrderLines')
        const changed = { ...Object(raw), returnOrderLines: [{ ...Object(line), currentTrackingStatuses, refundChannels }] }
        expect(parseReturn(JSON.stringify(changed))).toMatchObject({ ok: true, value: { lines: [{ quantity: 2 }] } })
      }
    }
  })

  test('rule 7: the legacy model, one line a unit, is read and executed line by line', async () => {
    const { client, sandbox } = await rehearse(profile)
    const { prepare } = client.of(ordersEndpoint)
    const purchaseOrderId = await sandbox.place([bundle], { legacy: true })
    await send(client, prepare.acknowledge(purchaseOrderId))
    const order = orderExpression(await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() }))
    expect(order.lines.map(({ sku, ordered }) => ({ sku, ordered }))).toEqual(Array(3).fill({ sku: bundle.sku, ordered: 1 }))
    // The ERP knows stock keys: two of them are two lines here, each with one unit of its own.
    const parcels = [reportedParcel('T1', { sku: bundle.sku, quantity: 2 })]
    const plan = planCommands(
      readEvent({ type: 'erp.shipment.dispatched', data: { purchaseOrderId, parcels } }),
      order,
      buildLedgers(order, []),
      { vocabulary: profile.vocabulary },
    )
    if (!plan.ok) throw new Error(JSON.stringify(plan.faults))
    const numbers = order.lines.map(({ lineNumber }) => lineNumber)
    expect(plan.commands).toMatchObject([
      { kind: 'ship', payload: { parcels: [{ lines: numbers.slice(0, 2).map((lineNumber) => ({ lineNumber, quantity: 1 })) }] } },
    ])
    const lines = numbers.slice(0, 2).map((lineNumber) => ({ lineNumber, shipments: [shipment(1, 'T1')] }))
    const shipped = orderExpression(await send(client, prepare.ship({ purchaseOrderId, lines })))
    expect(shipped.lines.map(({ units }) => units.shipped)).toEqual([1, 1, 0])
    const [first = ''] = numbers
    const refund = { lineNumber: first, quantity: 1, reason: 'DamagedItem', charges: [charge('-65.33')] }
    await send(client, prepare.refund({ purchaseOrderId, lines: [refund] }))
    const refunded = orderExpression(await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() }))
    expect(refunded.lines.map(({ refundedAmount }) => refundedAmount === '0')).toEqual([false, true, true])
  })

  test('rule 8: a bundle line passes a whole rehearsal, unit by unit, as enablement requires', async () => {
    const { client, sandbox } = await rehearse(profile)
    const { prepare } = client.of(ordersEndpoint)
    const purchaseOrderId = await sandbox.place([bundle])
    await send(client, prepare.acknowledge(purchaseOrderId))
    const parcels = [shipment(1, 'T1'), shipment(1, 'T2')]
    await send(client, prepare.ship({ purchaseOrderId, lines: [{ lineNumber: '1', shipments: parcels }] }))
    await send(client, prepare.cancel({ purchaseOrderId, lines: [{ lineNumber: '1', quantity: 1, reason }] }))
    const lines = [{ lineNumber: '1', quantity: 1, reason: 'DamagedItem', charges: [charge('-10.00')] }]
    await send(client, prepare.refund({ purchaseOrderId, lines }))
    const happened = items(await sandbox.control('GET', `/effects/summary`), 'items')
    expect(happened).toMatchObject([{ ordered: 3, acknowledged: 3, shipped: 2, cancelled: 1, refundedAmount: '10' }])
    // More than the line has left is refused, so no unit can be processed twice.
    const once = prepare.ship({ purchaseOrderId, lines: [{ lineNumber: '1', shipments: [shipment(1, 'T3')] }] })
    expect(await buildFailure(send(client, once))).toMatchObject({ kind: 'refused' })
  })
})
