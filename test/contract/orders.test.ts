import { describe, expect, test } from 'vitest'
import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import type { Observed } from '../../src/clients/http/record.ts'
import type { WireRequest } from '../../src/clients/marketplace/orders/order-requests.ts'
import { ordersEndpoint, orderWrites } from '../../src/clients/marketplace/orders/orders.ts'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import { returnsEndpoint } from '../../src/clients/marketplace/returns.ts'
import type { OrderLine, PurchaseOrder } from '../../src/domain/orders/order.ts'
import { forever } from '../clients/servers.ts'
import { buildFailure, rehearse } from './rehearse.ts'

const mugs = { sku: 'MUG', quantity: 3, unitPrice: '10.10', tax: '0.84', shipping: '5.00' }
const dayMs = 86_400_000

const send = (client: MarketplaceClient, request: WireRequest): Promise<Observed<PurchaseOrder>> =>
  client.writer(orderWrites).send(request, { signal: forever(), correlationId: crypto.randomUUID() })

const findLine = (observed: Observed<PurchaseOrder> | null): OrderLine => {
  if (observed?.record.ok !== true) throw new Error('expected an order that can be read')
  const [line] = observed.record.value.lines
  if (line === undefined) throw new Error('expected a line')
  return line
}

const shipment = (quantity: number, trackingNumber: string) => ({
  quantity,
  carrier: 'UPS',
  trackingNumber,
  trackingUrl: `https://t.example/${trackingNumber}`,
  methodCode: 'Standard',
  shippedAt: new Date(),
})

describe.each([specification, walmartUs])('the life of a line under the profile $name', (profile) => {
  test('is reported by every answer, unit by unit and cent by cent', async () => {
    const { client, sandbox } = await rehearse(profile)
    const { prepare } = client.of(ordersEndpoint)
    const purchaseOrderId = await sandbox.place([mugs])
    expect(findLine(await send(client, prepare.acknowledge(purchaseOrderId))).units).toEqual({
      acknowledged: 3,
      shipped: 0,
      cancelled: 0,
      refunded: 0,
    })
    const parcels = [shipment(1, 'P1'), shipment(1, 'P2')]
    const shipped = await send(client, prepare.ship({ purchaseOrderId, lines: [{ lineNumber: '1', shipments: parcels }] }))
    expect(findLine(shipped).units).toEqual({ acknowledged: 3, shipped: 2, cancelled: 0, refunded: 0 })
    expect(findLine(shipped).statuses.flatMap((status) => status.trackingNumber ?? [])).toEqual(['P1', 'P2'])
    const reason = 'SELLER_CANCEL_OUT_OF_STOCK'
    const cancelled = await send(client, prepare.cancel({ purchaseOrderId, lines: [{ lineNumber: '1', quantity: 1, reason }] }))
    expect(findLine(cancelled).units).toEqual({ acknowledged: 2, shipped: 2, cancelled: 1, refunded: 0 })
    const charges = [
      {
        chargeType: 'PRODUCT',
        chargeName: 'ItemPrice',
        amount: '-3.37',
        currency: 'USD',
        tax: { taxName: 'Tax1', amount: '-0.28', currency: 'USD' },
      },
    ]
    const lines = [{ lineNumber: '1', quantity: 1, reason: 'DamagedItem', charges }]
    await send(client, prepare.refund({ purchaseOrderId, lines }))
    const read = findLine(await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() }))
    expect(read.units).toEqual({ acknowledged: 2, shipped: 2, cancelled: 1, refunded: 1 })
    expect(read.refundedAmount).toBe('3.65')
    expect(read.refundReasons).toEqual(['DamagedItem'])
  })
})

describe('reading', () => {
  test('walks the pages of a window, each order once, and finds none as an empty page', async () => {
    const { client, sandbox } = await rehearse()
    const window = { shipNodeType: 'SellerFulfilled', createdFrom: new Date(Date.now() - 30 * dayMs), limit: 10 }
    expect(await client.of(ordersEndpoint).list(window, { signal: forever() })).toMatchObject({ records: [], nextCursor: null })
    for (let order = 0; order < 25; order += 1) await sandbox.place([mugs])
    const keys: (string | null)[] = []
    for await (const page of client.of(ordersEndpoint).pages(window, { signal: forever() }))
      keys.push(...page.records.map((record) => record.key))
    expect(keys).toHaveLength(25)
    expect(new Set(keys).size).toBe(25)
    const released = await client
      .of(ordersEndpoint)
      .listReleased({ ...window, createdTo: new Date(Date.now() + dayMs) }, { signal: forever() })
    expect(released.totalCount).toBe(25)
    const second = await client.of(ordersEndpoint).continue(released.nextCursor ?? '', 'released', { signal: forever() })
    expect(second.records).toHaveLength(10)
    expect(await client.of(ordersEndpoint).get('404', { signal: forever() })).toBeNull()
  })

  test('reads returns', async () => {
    const { client, sandbox } = await rehearse()
    const purchaseOrderId = await sandbox.place([mugs])
    await sandbox.acknowledge(purchaseOrderId)
    await sandbox.ship(purchaseOrderId, [{ line: '1', quantity: 3 }])
    await sandbox.control('POST', '/returns', { purchaseOrderId, lines: [{ lineNumber: '1', quantity: 2 }] })
    const window = { createdFrom: new Date(Date.now() - dayMs), createdTo: new Date(Date.now() + dayMs), limit: 50 }
    const page = await client.of(returnsEndpoint).list(window, { signal: forever() })
    const [record] = page.records
    if (record?.ok !== true) throw new Error('the return cannot be read')
    const { value } = record
    expect(record.key).toBe(value.returnOrderId)
    expect(value).toMatchObject({
      returnType: 'REFUND',
      currency: 'USD',
      lines: [{ quantity: 2, purchaseOrderId, purchaseOrderLineNumber: '1' }],
    })
    expect(value.customerOrderId).toMatch(/^\d+$/)
    expect(value.returnOrderDate).toBeInstanceOf(Date)
    expect(Number(value.totalRefundAmount)).toBeGreaterThan(0)
    const [line] = value.lines
    expect(line).toMatchObject({
      sku: mugs.sku,
      unitOfMeasure: expect.stringMatching(/^EA/),
      returnReason: expect.any(String),
      status: expect.any(String),
    })
    expect(line?.trackingStatuses.reduce((units, status) => units + (status.quantity ?? 0), 0)).toBe(2)
    expect(line?.trackingStatuses.every(({ status, statusTime }) => status !== null && statusTime instanceof Date)).toBe(true)
    expect(line?.refundChannels).toMatchObject([{ refundChannelName: expect.any(String), quantity: 2 }])
  })

  test('a malformed record comes as its text, an unknown value is kept, the page goes on', async () => {
    const { client, sandbox, unknownValues } = await rehearse()
    for (let order = 0; order < 5; order += 1) await sandbox.place([mugs])
    const window = { shipNodeType: 'SellerFulfilled', createdFrom: new Date(Date.now() - dayMs), limit: 100 }
    await sandbox.control('PUT', '/faults', { next: [{ fault: 'malformedRecord' }] })
    const damaged = await client.of(ordersEndpoint).list(window, { signal: forever() })
    expect(damaged.records).toHaveLength(5)
    expect(damaged.records.filter((record) => !record.ok).length).toBeGreaterThan(0)
    for (const record of damaged.records) expect(record.rawText.length).toBeGreaterThan(0)
    await sandbox.control('PUT', '/faults', { next: [{ fault: 'unknownValue' }] })
    const odd = await client.of(ordersEndpoint).list(window, { signal: forever() })
    expect(odd.records.every((record) => record.ok)).toBe(true)
    expect(unknownValues.length).toBeGreaterThan(0)
  })

  test('keeps the marketplace’s time when its clock is moved', async () => {
    const { client, sandbox } = await rehearse()
    const purchaseOrderId = await sandbox.place([mugs])
    await sandbox.control('POST', '/clock', { advance: '3d' })
    const read = await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() })
    expect(Math.abs((read?.observedAt.getTime() ?? 0) - Date.now() - 3 * dayMs)).toBeLessThan(5_000)
  })
})

describe('faults', () => {
  test.each([
    ['tooManyRequests', 'throttled', 'answered'],
    ['tooManyRequestsWithoutHeader', 'throttled', 'answered'],
    ['serverErrorBefore', 'unknown', 'answered'],
    ['serverErrorAfter', 'unknown', 'answered'],
    ['timeoutBefore', 'unknown', 'maybe'],
    ['timeoutAfter', 'unknown', 'maybe'],
    ['dropBefore', 'unknown', 'maybe'],
    ['dropAfter', 'unknown', 'maybe'],
    ['emptyBody', 'unknown', 'answered'],
    ['truncatedJson', 'unknown', 'answered'],
  ])('%s on a write is %s, and the request went out once', async (fault, kind, sent) => {
    const { client, sandbox, reports } = await rehearse()
    const purchaseOrderId = await sandbox.place([mugs])
    await sandbox.control('PUT', '/faults', {
      errorShape: 'mixed',
      next: [{ fault, operation: 'orders.acknowledge', method: 'POST' }],
    })
    const failure = await buildFailure(send(client, client.of(ordersEndpoint).prepare.acknowledge(purchaseOrderId)))
    expect(failure).toMatchObject({ kind, sent })
    expect(reports.filter((report) => report.operation === 'orders.acknowledge')).toHaveLength(1)
  })

  test('doing it twice is refused with the hint that it was done', async () => {
    const { client, sandbox } = await rehearse()
    const purchaseOrderId = await sandbox.place([mugs])
    await send(client, client.of(ordersEndpoint).prepare.acknowledge(purchaseOrderId))
    expect(await buildFailure(send(client, client.of(ordersEndpoint).prepare.acknowledge(purchaseOrderId)))).toMatchObject({
      kind: 'refused',
      alreadyDone: true,
    })
    const premature = await sandbox.place([mugs])
    const lines = [{ lineNumber: '1', shipments: [shipment(1, 'P')] }]
    const early = await buildFailure(send(client, client.of(ordersEndpoint).prepare.ship({ purchaseOrderId: premature, lines })))
    expect(early).toMatchObject({ kind: 'refused', alreadyDone: false })
  })

  test('a token that dies early costs one renewal; a write is left to its sender', async () => {
    const { client, sandbox, reports } = await rehearse()
    const purchaseOrderId = await sandbox.place([mugs])
    await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() })
    await sandbox.control('PUT', '/faults', { next: [{ fault: 'tokenDiesEarly', operation: 'orders.acknowledge' }] })
    const { acknowledge } = client.of(ordersEndpoint).prepare
    expect(await buildFailure(send(client, acknowledge(purchaseOrderId)))).toMatchObject({
      kind: 'unavailable',
      staleToken: true,
    })
    expect(findLine(await send(client, acknowledge(purchaseOrderId))).units.acknowledged).toBe(3)
    await sandbox.control('PUT', '/faults', { next: [{ fault: 'tokenDiesEarly', operation: 'orders.get' }] })
    expect(findLine(await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() })).units.acknowledged).toBe(3)
    expect(reports.map((report) => `${report.operation} ${report.status}`)).toEqual([
      'token 200',
      'orders.get 200',
      'orders.acknowledge 401',
      'token 200',
      'orders.acknowledge 200',
      'orders.get 401',
      'token 200',
      'orders.get 200',
    ])
  })

  test('a revoked client is dead when it was refused for a minute, and left alone', async () => {
    let nowMs = Date.now()
    const { client, sandbox, reports } = await rehearse(specification, { now: () => nowMs })
    const seller = { sellerId: 'sandbox-seller', clientId: 'sandbox-client', clientSecret: 'sandbox-secret' }
    await sandbox.control('POST', '/sellers', { ...seller, revoked: true })
    const ask = () => buildFailure(client.of(ordersEndpoint).get('1', { signal: forever() }))
    for (let refusals = 1; refusals < 3; refusals += 1) {
      const failure = await ask()
      expect(failure).toMatchObject({ kind: 'unavailable', credentialsDead: false, httpStatus: 400 })
      expect(reports).toHaveLength(refusals)
      nowMs = failure.retryAt?.getTime() ?? nowMs
    }
    for (let call = 0; call < 3; call += 1) expect(await ask()).toMatchObject({ kind: 'refused', credentialsDead: true })
    expect(reports).toHaveLength(3)
    await sandbox.control('POST', '/sellers', { ...seller, revoked: false })
    expect(await client.credentials.check(forever())).toEqual({ accepted: true })
    expect(await client.of(ordersEndpoint).get('1', { signal: forever() })).toBeNull()
  })

  test('the sandbox’s own limits teach the budget', async () => {
    const { client, sandbox } = await rehearse()
    await sandbox.control('PUT', '/limits', { enabled: true, operations: { 'orders.get': { tokens: 2, perMs: 60_000 } } })
    await client.of(ordersEndpoint).get('1', { signal: forever() })
    expect(await client.budget.take(ordersEndpoint.operations.get)).toMatchObject({ granted: true })
    await client.of(ordersEndpoint).get('1', { signal: forever(), grant: { granted: true } })
    const wait = await client.budget.take(ordersEndpoint.operations.get)
    if (wait.granted) throw new Error('expected a wait')
    expect(wait.availableAt.getTime() - Date.now()).toBeGreaterThan(10_000)
    expect(wait.availableAt.getTime() - Date.now()).toBeLessThanOrEqual(31_000)
  })
})
