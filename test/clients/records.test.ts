import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UnknownValueReport } from '../../src/clients/http/client-parts.ts'
import { cutRecords } from '../../src/clients/http/json.ts'
import { readRecord } from '../../src/clients/http/record.ts'
import { orderReader, parseOrder } from '../../src/clients/marketplace/orders/order-record.ts'
import { parseReturn } from '../../src/clients/marketplace/return-record.ts'
import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import { wireLine, wireOrderSample, wirePageText, wireReturnSample } from './samples.ts'

const orderExpression = (raw: unknown): PurchaseOrder => {
  const record = parseOrder(typeof raw === 'string' ? raw : JSON.stringify(raw))
  if (!record.ok) throw new Error(record.fault)
  return record.value
}

const findFault = (raw: unknown): string => {
  const record = parseOrder(JSON.stringify(raw))
  return record.ok ? 'none' : record.fault
}

const withStatuses = (units: number, statuses: readonly unknown[], overrides: Readonly<Record<string, unknown>> = {}) =>
  wireOrderSample('108', {
    orderLines: { orderLine: [wireLine('1', units, { orderLineStatuses: { orderLineStatus: statuses }, ...overrides })] },
  })

const entry = (status: string, amount: unknown, field = 'statusQuantity') => ({
  status,
  [field]: { unitOfMeasurement: 'EACH', amount },
})

describe('an order', () => {
  test('whose statuses account for more units than were ordered is kept, and counted', () => {
    const seen: UnknownValueReport[] = []
    const raw = withStatuses(3, [entry('Shipped', '3'), entry('Cancelled', '1')])
    const record = parseOrder(JSON.stringify(raw), (report) => void seen.push(report))
    expect(record).toMatchObject({ ok: true, value: { lines: [{ ordered: 3, units: { shipped: 3, cancelled: 1 } }] } })
    expect(seen).toEqual([{ resource: 'order', field: 'orderLineStatus.quantity', value: 'more than ordered' }])
  })

  test('is read field by field', () => {
    const order = orderExpression(wireOrderSample('108000000001'))
    expect(order).toMatchObject({
      purchaseOrderId: '108000000001',
      customerOrderId: '40108000000001',
      orderDate: new Date(1_760_000_000_000),
      shipNodeType: 'SellerFulfilled',
      methodCode: 'Standard',
      customerName: 'Ada Example',
      customerPhone: '5550100100',
      totalAmount: '110.4',
      currency: 'USD',
    })
    expect(order.lines.map((line) => [line.lineNumber, line.ordered])).toEqual([
      ['1', 3],
      ['2', 1],
      ['4', 2],
    ])
    expect(order.lines[0]?.charges).toEqual([
      {
        chargeType: 'PRODUCT',
        chargeName: 'ItemPrice',
        amount: '30.3',
        currency: 'USD',
        tax: { taxName: 'Tax1', amount: '2.5', currency: 'USD' },
      },
      { chargeType: 'SHIPPING', chargeName: 'Shipping', amount: '4', currency: 'USD', tax: null },
    ])
  })

  test.each(['statusQuantity', 'quantity'])('units are read from %s, as text or number, and counted cumulatively', (field) => {
    const order = orderExpression(
      withStatuses(7, [
        entry('Acknowledged', '1', field),
        entry('SHIPPED', 2, field),
        entry('delivered', '1.0', field),
        entry('Refund', '1', field),
        entry('Cancelled', 2, field),
      ]),
    )
    expect(order.lines[0]?.units).toEqual({ acknowledged: 5, shipped: 4, cancelled: 2, refunded: 1 })
  })

  test('the refunded money is minus the charges and taxes of the refund', () => {
    const charge = (amount: unknown, tax: unknown) => ({
      refundReason: 'DamagedItem',
      charge: {
        chargeType: 'PRODUCT',
        chargeName: 'ItemPrice',
        chargeAmount: { currency: 'USD', amount },
        tax: { taxName: 'T', taxAmount: { currency: 'USD', amount: tax } },
      },
    })
    const order = orderExpression(
      withStatuses(1, [entry('Refund', '1')], {
        refund: { refundCharges: { refundCharge: [charge(-0.1, -0.2), charge('-10.30', 0)] } },
      }),
    )
    expect(order.lines[0]?.refundedAmount).toBe('10.6')
    expect(order.lines[0]?.refundReasons).toEqual(['DamagedItem', 'DamagedItem'])
    expect(orderExpression(wireOrderSample('1')).lines[0]?.refundedAmount).toBe('0')
  })

  test('refunded money that comes positive counts all the same, with its fees', () => {
    const money = (amount: unknown) => ({ currency: 'USD', amount })
    const fees = { taxName: 'Fee', taxAmount: money(0.05) }
    const charge = {
      chargeType: 'PRODUCT',
      chargeName: 'ItemPrice',
      chargeAmount: money('10.30'),
      tax: null,
      taxAndOtherFees: fees,
    }
    const order = orderExpression(
      withStatuses(1, [entry('Refund', '1')], {
        refund: { refundCharges: { refundCharge: [{ refundReason: 'DamagedItem', charge }] } },
      }),
    )
    expect(order.lines[0]?.refundedAmount).toBe('10.35')
  })

  test('fees beside the tax of a charge are money too', () => {
    const fees = { taxName: 'Bag fee', taxAmount: { currency: 'USD', amount: 0.3 } }
    const product = { chargeType: 'PRODUCT', chargeName: 'ItemPrice', chargeAmount: { currency: 'USD', amount: 30 }, tax: null }
    const charged = (taxAndOtherFees: unknown) =>
      wireOrderSample('1', {
        orderLines: { orderLine: [wireLine('1', 1, { charges: { charge: [{ ...product, taxAndOtherFees }] } })] },
      })
    expect(orderExpression(charged(fees)).lines[0]?.charges[0]?.taxAndOtherFees).toEqual({
      taxName: 'Bag fee',
      amount: '0.3',
      currency: 'USD',
    })
    expect(orderExpression(charged(null)).lines[0]?.charges[0]).not.toHaveProperty('taxAndOtherFees')
    expect(findFault(charged({ ...fees, taxAmount: { currency: 'USD', amount: 'some' } }))).toContain('taxAndOtherFees')
  })

  test('an unknown status is kept, counted, and moves no units', () => {
    const seen: UnknownValueReport[] = []
    const record = parseOrder(JSON.stringify(withStatuses(2, [entry('OnHold', '2')])), (report) => seen.push(report))
    expect(record.ok && record.value.lines[0]?.statuses[0]).toMatchObject({ status: 'OnHold', quantity: 2 })
    expect(record.ok && record.value.lines[0]?.units).toEqual({ acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 })
    expect(seen).toEqual([{ resource: 'order', field: 'orderLineStatus.status', value: 'OnHold' }])
  })

  test('one status without a quantity stands for the units that no other names', () => {
    const order = orderExpression(withStatuses(5, [entry('Shipped', '2'), { status: 'Acknowledged' }]))
    expect(order.lines[0]?.statuses.map((status) => status.quantity)).toEqual([2, 3])
    expect(findFault(withStatuses(5, [{ status: 'Acknowledged' }, { status: 'Shipped' }]))).toContain('without a quantity')
  })

  test('tracking is read with the carrier under either name', () => {
    const tracking = (carrierName: unknown) => ({
      shipDateTime: 1_760_000_000_000,
      carrierName,
      methodCode: 'Standard',
      trackingNumber: 9400,
      trackingURL: 'https://t.example/1',
    })
    for (const name of [{ carrier: 'UPS' }, { otherCarrier: 'UPS' }, 'UPS']) {
      const order = orderExpression(withStatuses(1, [{ ...entry('Shipped', '1'), trackingInfo: tracking(name) }]))
      expect(order.lines[0]?.statuses[0]).toMatchObject({
        carrier: 'UPS',
        trackingNumber: '9400',
        shippedAt: new Date(1_760_000_000_000),
      })
    }
  })

  test('decorative fields of a surprising type or missing do not stop it', () => {
    const order = orderExpression({
      ...wireOrderSample('108'),
      customerEmailId: { odd: true },
      shippingInfo: null,
      shipNode: {},
      orderSummary: 'none',
      orderDate: 'soon',
      brandNew: [1],
    })
    expect(order).toMatchObject({
      customerEmail: null,
      shipNodeType: null,
      totalAmount: null,
      orderDate: null,
      raw: { brandNew: [1] },
    })
  })

  test('fields that units or money hang on do, with their path and without their contents', () => {
    expect(
      findFault(
        wireOrderSample('1', { orderLines: { orderLine: [wireLine('1', 1, { orderLineQuantity: { amount: 'two secret' } })] } }),
      ),
    ).toBe('orderLines.orderLine.0.orderLineQuantity.amount: not a whole number of units')
    const badCharge = { charge: [{ chargeType: 'PRODUCT', chargeAmount: { currency: 'USD', amount: 'free' } }] }
    expect(findFault(wireOrderSample('1', { orderLines: { orderLine: [wireLine('1', 1, { charges: badCharge })] } }))).toContain(
      'charges.charge.0',
    )
    expect(findFault(wireOrderSample('1', { orderLines: null }))).toContain('orderLines')
    expect(findFault(wireOrderSample('1', { orderLines: { orderLine: [] } }))).toContain('empty')
    expect(findFault(wireOrderSample('1', { orderLines: { orderLine: [wireLine('1', 1), wireLine('1', 1)] } }))).toContain(
      'twice',
    )
    expect(findFault({ hello: 'world' })).toContain('purchaseOrderId')
  })

  test('money and large numbers are as exact as the text was', () => {
    const text = JSON.stringify(withStatuses(1, [entry('Created', '1')]))
      .replace('"amount":30.3', '"amount":12345678901234567.891')
      .replace('"purchaseOrderId":"108"', '"purchaseOrderId":123456789012345678901')
    const order = orderExpression(text)
    expect(order.purchaseOrderId).toBe('123456789012345678901')
    expect(order.lines[0]?.charges[0]?.amount).toBe('12345678901234567.891')
  })

  test('intentToCancel is true for a moment or a flag, false for nothing', () => {
    const flags = [undefined, null, false, '', 'false', true, 'true', '2025-10-09T08:53:20Z', 1_760_000_000_000]
    const read = flags.map(
      (intentToCancel) => orderExpression(withStatuses(1, [entry('Created', '1')], { intentToCancel })).lines[0]?.intentToCancel,
    )
    expect(read).toEqual([false, false, false, false, false, true, true, true, true])
  })
})

describe('a return', () => {
  test('keeps every tracking status and refund channel, in any form', () => {
    const seen: UnknownValueReport[] = []
    const sample = wireReturnSample('R-1', { returnType: 'SWAP' })
    const record = parseReturn(JSON.stringify(sample), (report) => seen.push(report))
    if (!record.ok) throw new Error(record.fault)
    expect(record.value.lines[0]).toMatchObject({
      returnOrderLineNumber: 1,
      quantity: 3,
      refundedQuantity: 1,
      purchaseOrderLineNumber: '1',
    })
    expect(record.value.lines[0]?.trackingStatuses.map((status) => [status.status, status.quantity])).toEqual([
      ['IN_TRANSIT', 2],
      ['DELIVERED', 1],
    ])
    expect(record.value.lines[0]?.refundChannels.map((channel) => [channel.refundChannelName, channel.quantity])).toEqual([
      ['SELLER_MANUAL_REFUND', 2],
      ['SomethingNew', 1],
    ])
    expect(record.value.totalRefundAmount).toBe('21.87')
    expect(seen).toEqual([{ resource: 'return', field: 'returnType', value: 'SWAP' }])
  })

  test.each([
    ['SELLER', 'SELLER'],
    ['SomethingNew', 'SomethingNew'],
    ['', null],
    [7, null],
    [undefined, null],
  ])('names %j as who bears the refund: %j', (refundCoveredBy, read) => {
    const [line] = wireReturnSample('R-1').returnOrderLines
    const record = parseReturn(JSON.stringify(wireReturnSample('R-1', { returnOrderLines: [{ ...line, refundCoveredBy }] })))
    expect(record).toMatchObject({ ok: true, value: { lines: [{ refundCoveredBy: read }] } })
  })

  test.each([21.87, -21.87, '21.87', '-21.87'])('gives back %s as 21.87: the sign says nothing', (currencyAmount) => {
    const record = parseReturn(
      JSON.stringify(wireReturnSample('R-1', { totalRefundAmount: { currencyAmount, currencyUnit: 'USD' } })),
    )
    expect(record).toMatchObject({ ok: true, value: { totalRefundAmount: '21.87' } })
  })

  test('is not dropped for the shape of those two fields', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (currentTrackingStatuses, refundChannels) => {
        const line = { returnOrderLineNumber: 1, quantity: { measurementValue: 1 }, currentTrackingStatuses, refundChannels }
        const record = parseReturn(JSON.stringify(wireReturnSample('R-1', { returnOrderLines: [line] })))
        expect(record.ok ? 'read' : record.fault).toBe('read')
      }),
    )
  })
})

describe('any record', () => {
  /** A sample with one value somewhere in it replaced by anything. */
  const mutated = (sample: unknown) =>
    fc.tuple(fc.nat(), fc.jsonValue()).map(([seed, value]) => {
      const paths: (readonly (string | number)[])[] = []
      const collect = (node: unknown, path: readonly (string | number)[]): void => {
        paths.push(path)
        if (typeof node !== 'object' || node === null) return
        for (const [key, child] of Object.entries(node)) collect(child, [...path, key])
      }
      collect(sample, [])
      const chosen = paths[seed % paths.length] ?? []
      const replace = (node: unknown, at: number): unknown => {
        if (at === chosen.length) return value
        if (Array.isArray(node))
          return node.map((child, index) => (String(index) === chosen[at] ? replace(child, at + 1) : child))
        if (typeof node !== 'object' || node === null) return node
        return Object.fromEntries(
          Object.entries(node).map(([key, child]) => [key, key === chosen[at] ? replace(child, at + 1) : child]),
        )
      }
      return replace(sample, 0)
    })

  test('comes back read or as its own text; none is lost and nothing throws', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(mutated(wireOrderSample('108')), fc.jsonValue()), { maxLength: 8 }), (records) => {
        const cut = cutRecords(wirePageText(records), ['list', 'elements', 'order'])
        const read = (cut?.records ?? []).map((record) => readRecord(orderReader, record, () => undefined))
        expect(read.map((record) => record.rawText)).toEqual(records.map((record) => JSON.stringify(record)))
      }),
      { numRuns: 300 },
    )
  })

  test('the same for returns, and for text that is no JSON', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          mutated(wireReturnSample('R-1')).map((value) => JSON.stringify(value)),
          fc.string(),
        ),
        (text) => {
          expect(parseReturn(text).rawText).toBe(text)
          expect(parseOrder(text).rawText).toBe(text)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('one that is nested without end comes as its text, and harms nobody', () => {
    const deep = `${'['.repeat(200_000)}12345678901234567890${']'.repeat(200_000)}`
    for (const text of [deep, `{"purchaseOrderId":"1","x":${deep}}`]) {
      const record = parseOrder(text)
      expect(record.ok ? 'read' : record.fault).toBe('record: nested too deeply')
      expect(record.rawText === text).toBe(true)
    }
  })

  test('a key that no database keeps is reported, not stored', () => {
    for (const [spelt, shown] of [
      [String.raw`10\u00008`, '10\ufffd8'],
      [String.raw`10\ud8008`, '10\ufffd8'],
    ]) {
      const text = JSON.stringify(wireOrderSample('108')).replace('"108"', `"${spelt}"`)
      expect(parseOrder(text)).toEqual({ ok: false, key: shown, fault: 'key: holds a NUL or half a character', rawText: text })
    }
    expect(parseOrder(JSON.stringify(wireOrderSample('10\ufffd8')))).toMatchObject({ ok: true, key: '10\ufffd8' })
  })

  test('a fault never repeats what the record holds', () => {
    const marker = 'PERSONAL-DATA'
    fc.assert(
      fc.property(mutated(wireOrderSample('108')), (value) => {
        const text = JSON.stringify(value).replaceAll('"USD"', `"${marker}"`).replaceAll('Ada Example', marker)
        const record = parseOrder(text)
        if (!record.ok) expect(record.fault).not.toContain(marker)
      }),
    )
  })
})
