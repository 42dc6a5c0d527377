import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listUnits, type PlannedCommand, parseCommand, readStoredCommand } from '../../src/domain/commands/command.ts'
import { readEvent } from '../../src/domain/events/event-reading.ts'
import type { RawEvent } from '../../src/domain/events/event-shape.ts'
import { type PlanOptions, type PlanResult, planCommands } from '../../src/domain/events/events.ts'
import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import { accounted, available, buildLedgers, type LedgerCommand, type LineLedger } from '../../src/domain/orders/units.ts'
import { refundTotal } from '../../src/domain/refunds/refunds.ts'
import { charge } from '../support/orders.ts'
import { vocabulary } from '../support/vocabulary.ts'
import * as market from './support/marketplace.ts'

const purchaseOrderId = '1796277083022'
const parcel = { carrier: 'UPS', trackingNumber: '1Z999', shippedAt: '2026-03-01T09:30:00+01:00' }
const outOfStock = 'SELLER_CANCEL_OUT_OF_STOCK'

/** Lines 3 and 4 carry the same SKU. */
const order = (): market.Order => {
  const placed = market.placeOrder([
    { quantity: 2, sku: 'A', charges: [charge('20.00', '1.60')] },
    { quantity: 3, sku: 'A', charges: [charge('60.00', '4.80'), charge('9.00', null, 'SHIPPING')] },
    { quantity: 1, sku: 'B', charges: [charge('5.00')] },
  ])
  market.acknowledge(placed)
  return placed
}

const planEvent = (
  event: RawEvent,
  on: PurchaseOrder,
  ledgers: readonly LineLedger[],
  options: Partial<PlanOptions> = {},
): PlanResult => planCommands(readEvent(event), on, ledgers, { vocabulary, ...options })

const plan = (type: string, data: Record<string, unknown>, on: market.Order = order(), options = {}): PlanResult => {
  const read = market.read(on)
  return planEvent({ type, data: { purchaseOrderId, ...data } }, read, buildLedgers(read, []), options)
}

const buildCommand = (result: PlanResult): PlannedCommand => {
  if (!result.ok) throw new Error(JSON.stringify(result.faults))
  const [command] = result.commands
  if (command === undefined || result.commands.length !== 1) throw new Error('not one command')
  // What is planned must be what can be stored and read back.
  expect(parseCommand(command.kind, JSON.parse(JSON.stringify(command.payload)))).toEqual({
    kind: command.kind,
    payload: command.payload,
  })
  return command
}

const listFaults = (result: PlanResult): Record<string, string> => {
  if (result.ok) throw new Error('no fault')
  return Object.fromEntries(result.faults.map((fault) => [fault.path, fault.message]))
}

describe('an accepted order', () => {
  it('becomes an acknowledgement, even when it is acknowledged already', () => {
    expect(buildCommand(plan('erp.order.accepted', {}))).toEqual({ kind: 'acknowledge', purchaseOrderId, payload: {} })
  })

  it('is refused when every unit is cancelled', () => {
    const cancelled = order()
    for (const line of cancelled.lines) market.cancel(line, line.units.length, null)
    expect(listFaults(plan('erp.order.accepted', {}, cancelled))).toHaveProperty(['data.purchaseOrderId'])
  })
})

describe('a dispatched shipment', () => {
  it('becomes one ship command with an entry for each line of each parcel', () => {
    const command = buildCommand(
      plan('erp.shipment.dispatched', {
        parcels: [
          {
            ...parcel,
            trackingUrl: 'https://carrier.example/1Z999',
            method: 'Standard',
            lines: [
              { lineNumber: 3, quantity: 1 },
              { lineNumber: '5', quantity: 1 },
            ],
          },
          { ...parcel, trackingNumber: '1Z000', lines: [{ sku: 'A', quantity: 3 }] },
        ],
      }),
    )
    expect(command.payload).toEqual({
      parcels: [
        {
          carrier: 'UPS',
          trackingNumber: '1Z999',
          trackingUrl: 'https://carrier.example/1Z999',
          method: 'Standard',
          shippedAt: '2026-03-01T08:30:00.000Z',
          lines: [
            { lineNumber: '3', quantity: 1 },
            { lineNumber: '5', quantity: 1 },
          ],
        },
        {
          carrier: 'UPS',
          trackingNumber: '1Z000',
          trackingUrl: null,
          method: null,
          shippedAt: '2026-03-01T08:30:00.000Z',
          lines: [
            { lineNumber: '3', quantity: 1 },
            { lineNumber: '4', quantity: 2 },
          ],
        },
      ],
    })
  })

  it('keeps the units of an entry by line number from an entry by SKU, whichever comes first', () => {
    const lines = [
      { sku: 'A', quantity: 3 },
      { lineNumber: '3', quantity: 2 },
    ]
    const command = buildCommand(plan('erp.shipment.dispatched', { parcels: [{ ...parcel, lines }] }))
    expect(listUnits(command.payload)).toEqual([
      { lineNumber: '4', quantity: 3 },
      { lineNumber: '3', quantity: 2 },
    ])
  })

  it('states a line once in a parcel although it is named by number and by SKU', () => {
    const lines = [
      { lineNumber: '3', quantity: 1 },
      { sku: 'A', quantity: 1 },
    ]
    const command = buildCommand(plan('erp.shipment.dispatched', { parcels: [{ ...parcel, lines }] }))
    expect(command.payload).toMatchObject({ parcels: [{ lines: [{ lineNumber: '3', quantity: 2 }] }] })
  })

  it('tells every fault at once', () => {
    const faults = listFaults(
      plan('erp.shipment.dispatched', {
        purchaseOrderId: '7',
        parcels: [
          {
            carrier: ' ',
            trackingNumber: '1Z 999',
            trackingUrl: 'ftp://carrier.example',
            shippedAt: 'yesterday',
            lines: [
              { lineNumber: '3', quantity: 0 },
              { lineNumber: '3', sku: 'A', quantity: 1 },
              { quantity: 1 },
              { sku: 'nope', quantity: 1 },
              { lineNumber: '9', quantity: 1 },
              { lineNumber: '5', quantity: 2 },
              { lineNumber: 5, quantity: 1.5 },
            ],
          },
          { ...parcel, lines: [{ sku: 'A', quantity: 6 }] },
          { trackingNumber: '1Z', lines: [] },
        ],
      }),
    )
    expect(Object.keys(faults).sort()).toEqual(
      [
        'data.purchaseOrderId',
        'data.parcels[0].carrier',
        'data.parcels[0].trackingNumber',
        'data.parcels[0].trackingUrl',
        'data.parcels[0].shippedAt',
        'data.parcels[0].lines[0].quantity',
        'data.parcels[0].lines[1]',
        'data.parcels[0].lines[2]',
        'data.parcels[0].lines[3].sku',
        'data.parcels[0].lines[4].lineNumber',
        'data.parcels[0].lines[5].quantity',
        'data.parcels[0].lines[6].quantity',
        'data.parcels[0].lines[6].lineNumber',
        'data.parcels[1].lines[0].quantity',
        'data.parcels[2].carrier',
        'data.parcels[2].shippedAt',
        'data.parcels[2].lines',
      ].sort(),
    )
    expect(faults['data.parcels[2].carrier']).toBe('is missing')
    expect(faults['data.parcels[0].lines[5].quantity']).toContain('line 5 has 1 unit left to ship')
  })

  it.each([
    ['the end of the year 9999 as others count it', '9999-12-31T23:59:59-05:00'],
    ['the year 0', '0000-01-01T00:00:00Z'],
    ['a time before the year 0', '0000-01-01T00:00:00+01:00'],
    ['the last century', '1999-12-31T23:59:59Z'],
    ['a day that does not exist', '2026-02-30T00:00:00Z'],
    ['an hour that does not exist', '2026-02-28T24:00:00Z'],
  ])('is refused for %s, also without an order', (_, shippedAt) => {
    const parcels = [{ ...parcel, shippedAt, lines: [{ sku: 'B', quantity: 1 }] }]
    expect(listFaults(plan('erp.shipment.dispatched', { parcels }))).toHaveProperty(['data.parcels[0].shippedAt'])
    expect(readEvent({ type: 'erp.shipment.dispatched', data: { purchaseOrderId, parcels } }).faults).toMatchObject([
      { path: 'data.parcels[0].shippedAt' },
    ])
  })

  it('never throws for a time of shipping, and what it accepts can be stored and read back', () => {
    const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`))
    const offset = fc.oneof(
      fc.constant('Z'),
      fc.tuple(fc.constantFrom('+', '-'), digits(2), digits(2)).map(([s, h, m]) => `${s}${h}:${m}`),
    )
    const moment = fc
      .tuple(digits(4), digits(2), digits(2), digits(2), digits(2), digits(2), fc.option(fc.stringMatching(/^\d{1,9}$/)), offset)
      .map(([y, mo, d, h, mi, s, f, o]) => `${y}-${mo}-${d}T${h}:${mi}:${s}${f === null ? '' : `.${f}`}${o}`)
    const near = fc
      .date({ noInvalidDate: true, min: new Date('1990-01-01'), max: new Date('9999-12-31T23:59:59Z') })
      .map((at) => at.toISOString())
    fc.assert(
      fc.property(fc.oneof(moment, near), (shippedAt) => {
        const result = plan('erp.shipment.dispatched', {
          parcels: [{ ...parcel, shippedAt, lines: [{ sku: 'B', quantity: 1 }] }],
        })
        if (!result.ok) return
        const command = buildCommand(result)
        expect(readStoredCommand(command.kind, JSON.parse(JSON.stringify(command.payload)), []).fault).toBeNull()
      }),
      { numRuns: 1_000 },
    )
  })

  it('cannot have been shipped later than now, as the marketplace counts it', () => {
    const now = new Date('2026-03-01T08:20:00Z')
    const shippedAt = (text: string, clock: Date | undefined = now) =>
      plan(
        'erp.shipment.dispatched',
        { parcels: [{ ...parcel, shippedAt: text, lines: [{ sku: 'B', quantity: 1 }] }] },
        order(),
        {
          ...(clock === undefined ? {} : { now: clock }),
        },
      )
    expect(shippedAt('2026-03-01T08:30:00Z').ok).toBe(true)
    expect(listFaults(shippedAt('2026-03-01T08:30:01Z'))['data.parcels[0].shippedAt']).toContain('in the future')
    expect(listFaults(shippedAt('2026-03-01T09:31:00+01:00'))['data.parcels[0].shippedAt']).toContain('2026-03-01T08:31:00.000Z')
  })

  it('takes the marketplace’s own spelling of a carrier, and needs an address to track others', () => {
    const carriers = new Set(['UPS', 'DHL Ecommerce - US'])
    const dispatched = (carrier: string, more: object = {}, published: ReadonlySet<string> | null = carriers) =>
      plan(
        'erp.shipment.dispatched',
        { parcels: [{ ...parcel, carrier, ...more, lines: [{ sku: 'B', quantity: 1 }] }] },
        order(),
        { vocabulary: { ...vocabulary, carriers: published } },
      )
    const buildCarrier = (result: PlanResult) => buildCommand(result).payload
    expect(buildCarrier(dispatched(' ups '))).toMatchObject({ parcels: [{ carrier: 'UPS', trackingUrl: null }] })
    expect(buildCarrier(dispatched('dhl  ecommerce - us'))).toMatchObject({ parcels: [{ carrier: 'DHL Ecommerce - US' }] })
    expect(listFaults(dispatched('Pigeon Post'))['data.parcels[0].trackingUrl']).toContain('Pigeon Post')
    const trackingUrl = 'https://pigeons.example/7'
    expect(buildCarrier(dispatched('Pigeon Post', { trackingUrl }))).toMatchObject({
      parcels: [{ carrier: 'Pigeon Post', trackingUrl }],
    })
    expect(buildCarrier(dispatched('Pigeon Post', {}, null))).toMatchObject({ parcels: [{ carrier: 'Pigeon Post' }] })
  })

  it('of a line whose buyer asked to cancel must say that it ships all the same', () => {
    const read = market.read(order())
    const asked = { ...read, lines: read.lines.map((line) => ({ ...line, intentToCancel: line.lineNumber === '4' })) }
    const ship = (lines: object[]) =>
      planEvent(
        { type: 'erp.shipment.dispatched', data: { purchaseOrderId, parcels: [{ ...parcel, lines }] } },
        asked,
        buildLedgers(asked, []),
      )
    expect(ship([{ lineNumber: '3', quantity: 2 }]).ok).toBe(true)
    expect(listFaults(ship([{ sku: 'A', quantity: 3 }]))['data.parcels[0].lines[0].intentToCancelOverride']).toContain('line 4')
    const overridden = ship([
      { sku: 'A', quantity: 3, intentToCancelOverride: true },
      { sku: 'B', quantity: 1 },
    ])
    expect(buildCommand(overridden).payload).toMatchObject({
      parcels: [
        {
          lines: [
            { lineNumber: '3', quantity: 2, intentToCancelOverride: true },
            { lineNumber: '4', quantity: 1, intentToCancelOverride: true },
            { lineNumber: '5', quantity: 1 },
          ],
        },
      ],
    })
    expect(listFaults(ship([{ sku: 'B', quantity: 1, intentToCancelOverride: 'yes' }]))).toHaveProperty([
      'data.parcels[0].lines[0].intentToCancelOverride',
    ])
  })

  it('of units that are still Created acknowledges first, unless that is in progress, or is refused', () => {
    const created = market.placeOrder([{ quantity: 2, sku: 'A' }])
    const shipped = { parcels: [{ ...parcel, lines: [{ sku: 'A', quantity: 1 }] }] }
    const kinds = (result: PlanResult) => (result.ok ? result.commands.map(({ kind }) => kind) : listFaults(result))
    expect(kinds(plan('erp.shipment.dispatched', shipped, created))).toEqual(['acknowledge', 'ship'])
    expect(kinds(plan('erp.shipment.dispatched', shipped, created, { acknowledging: true }))).toEqual(['ship'])
    const refused = plan('erp.shipment.dispatched', shipped, created, { shipUnacknowledged: 'refuse' })
    expect(listFaults(refused)['data.purchaseOrderId']).toContain('acknowledge it first')
    const under = { shipUnacknowledged: 'refuse', acknowledging: true }
    expect(kinds(plan('erp.shipment.dispatched', shipped, created, under))).toEqual(['ship'])
    market.acknowledge(created)
    expect(kinds(plan('erp.shipment.dispatched', shipped, created, { shipUnacknowledged: 'refuse' }))).toEqual(['ship'])
    const cancel = { lines: [{ sku: 'A', quantity: 1, reason: outOfStock }] }
    expect(kinds(plan('erp.lines.unfulfillable', cancel, market.placeOrder([{ quantity: 2, sku: 'A' }])))).toEqual(['cancel'])
  })

  it('is refused when the marketplace fulfils the order itself', () => {
    const theirs = order()
    theirs.shipNodeType = 'WFSFulfilled'
    const lines = [{ sku: 'B', quantity: 1 }]
    expect(listFaults(plan('erp.shipment.dispatched', { parcels: [{ ...parcel, lines }] }, theirs))).toHaveProperty([
      'data.purchaseOrderId',
    ])
    const cancel = { lines: [{ sku: 'B', quantity: 1, reason: outOfStock }] }
    expect(listFaults(plan('erp.lines.unfulfillable', cancel, theirs))).toHaveProperty(['data.purchaseOrderId'])
    expect(plan('erp.order.accepted', {}, theirs).ok).toBe(true)
  })
})

describe('unfulfillable lines', () => {
  it('become a cancel command, one entry for each line and reason', () => {
    const lines = [
      { sku: 'A', quantity: 3, reason: outOfStock },
      { lineNumber: '3', quantity: 1, reason: outOfStock },
      { sku: 'A', quantity: 1, reason: 'SELLER_CANCEL_PRICING_ERROR' },
    ]
    expect(buildCommand(plan('erp.lines.unfulfillable', { lines })).payload).toEqual({
      lines: [
        { lineNumber: '3', quantity: 2, reason: outOfStock },
        { lineNumber: '4', quantity: 2, reason: outOfStock },
        { lineNumber: '4', quantity: 1, reason: 'SELLER_CANCEL_PRICING_ERROR' },
      ],
    })
  })

  it('need a reason that the marketplace takes', () => {
    const data = { lines: [{ sku: 'B', quantity: 1, reason: 'NO_INVENTORY' }] }
    expect(listFaults(plan('erp.lines.unfulfillable', data))['data.lines[0].reason']).toContain(
      vocabulary.cancelReasons.join(', '),
    )
  })
})

it('a SKU is compared without outer white space and by its Unicode normal form', () => {
  const placed = market.placeOrder([{ quantity: 2, sku: 'P\u00d6T' }])
  market.acknowledge(placed)
  const shipped = (...skus: readonly string[]) =>
    plan('erp.shipment.dispatched', { parcels: [{ ...parcel, lines: skus.map((sku) => ({ sku, quantity: 1 })) }] }, placed)
  for (const sku of ['P\u00d6T', 'PO\u0308T', '\u00a0P\u00d6T ']) expect(shipped(sku).ok).toBe(true)
  expect(listFaults(shipped('P\u00d6T', ' PO\u0308T'))['data.parcels[0].lines[1].sku']).toContain('stands in this parcel already')
  expect(listFaults(shipped('POT'))).toHaveProperty(['data.parcels[0].lines[0].sku'])
})

describe('a second refund of a unit', () => {
  const parseRefund = (amount: string): LedgerCommand => ({
    kind: 'refund',
    state: 'confirmed',
    baseline: null,
    event: { source: '/shop', id: 'goodwill-1' },
    payload: {
      lines: [
        {
          ...{ lineNumber: '3', quantity: 1, reason: 'DamagedItem', slots: [0] },
          charges: [{ chargeType: 'PRODUCT', chargeName: 'Item Price', amount: `-${amount}`, currency: 'USD', tax: null }],
        },
      ],
    },
  })
  const planAgain = (line: object, commands: readonly LedgerCommand[]) => {
    const placed = market.placeOrder([{ quantity: 1, sku: 'C', charges: [charge('25.00', '2.00')] }])
    market.acknowledge(placed)
    expect(market.ship(market.findLine(placed, '3'), 1, '1Z1')).toBe(true)
    const read = market.read(placed)
    const data = { purchaseOrderId, lines: [{ quantity: 1, reason: 'DamagedItem', ...line }] }
    return planEvent({ type: 'erp.credit.issued', data }, read, buildLedgers(read, commands), { commands })
  }

  it.each([{ sku: 'C' }, { lineNumber: '3' }])(
    'says what was refunded by which event, what is left and what to do: %j',
    (line) => {
      const message = listFaults(planAgain({ ...line, amount: '18.00' }, [parseRefund('7.00')]))['data.lines[0].quantity']
      expect(message).toContain('line 3 has 0 units left to refund')
      expect(message).toContain(
        '1 unit is refunded by the event goodwill-1 of /shop for 7.00 USD; 20.00 USD of the 27.00 USD of line 3 is left: a unit is refunded once',
      )
      expect(message).toContain("refund the rest in the marketplace's seller center")
    },
  )

  it('advises nothing where no money is left, and is quiet where nothing was refunded', () => {
    const message = listFaults(planAgain({ sku: 'C' }, [parseRefund('27.00')]))['data.lines[0].quantity']
    expect(message).toMatch(/for 27\.00 USD; no money of line 3 is left$/)
    expect(planAgain({ sku: 'C' }, []).ok).toBe(true)
    expect(listFaults(planAgain({ sku: 'C', quantity: 2 }, []))['data.lines[0].quantity']).toMatch(/2 asked of SKU C$/)
  })
})

describe('invisible characters', () => {
  it.each([
    ['trackingNumber', '1Z\u200b999', 'U+200B at position 3'],
    ['trackingNumber', '\u2066940010\u2069', 'U+2066 at position 1'],
    ['trackingNumber', '🚚1Z\u00ad999', 'U+00AD at position 4'],
    ['carrier', 'Pigeon\u0007Post', 'U+0007 at position 7'],
    ['carrier', ' Pigeon\u2028Post', 'U+2028 at position 8'],
    ['trackingUrl', 'https://pigeons.example/\u200d7', 'U+200D at position 25'],
    ['method', 'Val\ufe0fue', 'U+FE0F at position 4'],
  ])('are refused in %s: %j', (name, value, found) => {
    const parcels = [{ ...parcel, [name]: value, lines: [{ sku: 'A', quantity: 1 }] }]
    expect(listFaults(plan('erp.shipment.dispatched', { parcels }))).toMatchObject({
      [`data.parcels[0].${name}`]: `contains the invisible character ${found}`,
    })
  })

  it('are refused in reasons, sellers and orders, and at any depth of shipping settings, but 50 times at most', () => {
    const lines = [{ lineNumber: '3', quantity: 1, reason: `${outOfStock}\u200c` }]
    const faults = listFaults(plan('erp.lines.unfulfillable', { sellerId: 's\u200b1', purchaseOrderId: '17\u200b96', lines }))
    expect(faults).toMatchObject({
      'data.sellerId': expect.stringContaining('U+200B'),
      'data.lines[0].reason': expect.any(String),
    })
    const settings = { accountConfigs: { carrierConfigs: Array.from({ length: 60 }, () => ({ name: ['\u00a0a\u200eb '] })) } }
    const read = readEvent({ type: 'erp.shipping-settings.defined', data: { simplifiedShippingSettings: settings } })
    const told = read.faults.filter(({ message }) => message.includes('invisible'))
    expect(told).toHaveLength(51)
    expect(told[0]).toEqual({
      path: 'data.simplifiedShippingSettings.accountConfigs.carrierConfigs[0].name[0]',
      message: 'contains the invisible character U+200E at position 3',
    })
  })

  it('are part of a SKU that has them', () => {
    const placed = market.placeOrder([{ quantity: 1, sku: 'A\u200dB' }])
    market.acknowledge(placed)
    const parcels = [{ ...parcel, lines: [{ sku: 'A\u200dB', quantity: 1 }] }]
    expect(plan('erp.shipment.dispatched', { parcels }, placed).ok).toBe(true)
    const other = [{ ...parcel, lines: [{ sku: 'A\u200cB', quantity: 1 }] }]
    expect(listFaults(plan('erp.shipment.dispatched', { parcels: other }, placed))['data.parcels[0].lines[0].sku']).toBe(
      'the order has no line with SKU A\u200cB, which contains the invisible character U+200C at position 2',
    )
  })
})

describe('a tracking number', () => {
  it('is bounded', () => {
    const faults = (length: number) =>
      readEvent({
        type: 'erp.shipment.dispatched',
        data: {
          purchaseOrderId,
          parcels: [{ ...parcel, trackingNumber: 'T'.repeat(length), lines: [{ sku: 'A', quantity: 1 }] }],
        },
      }).faults
    expect(faults(255)).toEqual([])
    expect(faults(256)).toEqual([{ path: 'data.parcels[0].trackingNumber', message: 'must not be longer than 255 characters' }])
  })
})

describe('an issued credit', () => {
  const shipped = (): market.Order => {
    const placed = order()
    for (const line of placed.lines) market.ship(line, line.units.length, '1Z')
    return placed
  }
  const creditUnder = (options: Partial<PlanOptions>, ...lines: Record<string, unknown>[]): PlanResult =>
    plan('erp.credit.issued', { lines: lines.map((line) => ({ reason: 'DamagedItem', ...line })) }, shipped(), options)
  const credit = (...lines: Record<string, unknown>[]): PlanResult => creditUnder({}, ...lines)

  it('becomes a refund of the charges of exactly those units', () => {
    const command = buildCommand(credit({ lineNumber: 4, quantity: 2 }))
    expect(command.payload).toEqual({
      lines: [
        {
          lineNumber: '4',
          quantity: 2,
          reason: 'DamagedItem',
          slots: [0, 1],
          charges: [
            {
              chargeType: 'PRODUCT',
              chargeName: 'ItemPrice',
              amount: '-40.00',
              currency: 'USD',
              tax: { taxName: 'ItemPrice Tax', amount: '-3.20', currency: 'USD' },
            },
            { chargeType: 'SHIPPING', chargeName: 'Shipping', amount: '-6.00', currency: 'USD', tax: null },
          ],
        },
      ],
    })
  })

  it('takes an amount as text or as a number, in the currency of the line', () => {
    for (const amount of ['2.50', 2.5]) {
      const command = buildCommand(credit({ lineNumber: 4, quantity: 1, amount, currency: 'USD' }))
      expect(command.payload).toMatchObject({ lines: [{ charges: [{ chargeType: 'PRODUCT', amount: '-2.50', tax: null }] }] })
    }
    expect(listFaults(credit({ lineNumber: 4, quantity: 1, amount: 2.5, currency: 'EUR' }))).toHaveProperty([
      'data.lines[0].currency',
    ])
    expect(listFaults(credit({ lineNumber: 4, quantity: 1, amount: '20.01' }))['data.lines[0].amount']).toContain('20.00')
    expect(listFaults(credit({ lineNumber: 4, quantity: 1, amount: '-1' }))).toHaveProperty(['data.lines[0].amount'])
  })

  it('compares currencies without regard to case', () => {
    const placed = market.placeOrder([{ quantity: 1, sku: 'A', charges: [charge('20.00', '1.60', 'PRODUCT', 'usd')] }])
    market.acknowledge(placed)
    for (const line of placed.lines) market.ship(line, 1, '1Z')
    for (const currency of ['USD', 'usd']) {
      const lines = [{ sku: 'A', quantity: 1, reason: 'DamagedItem', amount: '10.00', currency }]
      expect(buildCommand(plan('erp.credit.issued', { lines }, placed)).payload).toMatchObject({
        lines: [{ charges: [{ amount: '-10.00', currency: 'usd' }] }],
      })
    }
  })

  it('of the whole product price is refused where the marketplace would then give back tax and shipping too', () => {
    const all = { fullPriceRefundsAll: true }
    const whole = { lineNumber: 4, quantity: 3, amount: '60.00' }
    expect(credit(whole).ok).toBe(true)
    expect(listFaults(creditUnder(all, whole))).toEqual({
      'data.lines[0].amount': expect.stringMatching(/73\.8 USD.* leave amount out/),
    })
    expect(creditUnder(all, { ...whole, amount: '59.99' }).ok).toBe(true)
    // Without an amount just that is asked for; line 5 has nothing but its price.
    expect(creditUnder(all, { lineNumber: 4, quantity: 3 }).ok).toBe(true)
    expect(creditUnder(all, { lineNumber: 5, quantity: 1, amount: '5.00' }).ok).toBe(true)
    // What one request asks for counts together, and each line by itself.
    const parts = [
      { lineNumber: 4, quantity: 1 },
      { lineNumber: 4, quantity: 2, amount: '40.00' },
    ]
    expect(listFaults(creditUnder(all, ...parts))).toHaveProperty(['data.lines[1].amount'])
    const both = creditUnder(all, { sku: 'A', quantity: 5, amount: '80.00' })
    expect(both).toMatchObject({
      ok: false,
      faults: [{ message: expect.stringContaining('line 3') }, { message: expect.stringContaining('line 4') }],
    })
    expect(creditUnder(all, { sku: 'A', quantity: 5, amount: '79.00' }).ok).toBe(true)
  })

  it('of all units at once is refused where the marketplace would give back a tax that no request can name', () => {
    const shipping = [charge('5.00', '0.40', 'SHIPPING'), charge('-5.00', null, 'SHIPPING')]
    const placed = market.placeOrder([{ quantity: 2, sku: 'A', charges: [charge('20.00', '1.60'), ...shipping] }])
    market.acknowledge(placed)
    for (const line of placed.lines) market.ship(line, 2, '1Z')
    const of = (quantity: number): PlanResult =>
      plan('erp.credit.issued', { lines: [{ sku: 'A', quantity, reason: 'DamagedItem' }] }, placed, { fullPriceRefundsAll: true })
    expect(listFaults(of(2))['data.lines[0]']).toContain('22 USD instead of 21.6; credit these units one by one')
    expect(of(1).ok).toBe(true)
  })

  it('splits an amount for units of several lines by their product charges', () => {
    const command = buildCommand(credit({ sku: 'A', quantity: 5, amount: '8.00' }))
    expect(command.payload).toMatchObject({
      lines: [
        { lineNumber: '3', charges: [{ amount: '-2.00' }] },
        { lineNumber: '4', charges: [{ amount: '-6.00' }] },
      ],
    })
  })

  it('is refused when its amount is finer than the currency, also where it spreads over several lines', () => {
    expect(listFaults(credit({ sku: 'A', quantity: 5, amount: '5.005' }))['data.lines[0].amount']).toContain('finer')
    expect(listFaults(credit({ sku: 'A', quantity: 5, amount: 5.005 }))['data.lines[0].amount']).toContain('5.005')
    expect(listFaults(credit({ sku: 'A', quantity: 5, amount: '0.01' }))['data.lines[0].amount']).toContain('leaves nothing')
    expect(credit({ sku: 'A', quantity: 5, amount: '5.010' }).ok).toBe(true)
  })

  it('takes no amount for lines in different currencies', () => {
    const placed = market.placeOrder([
      { quantity: 1, sku: 'A', charges: [charge('20.00')] },
      { quantity: 1, sku: 'A', charges: [charge('20.00', null, 'PRODUCT', 'EUR')] },
    ])
    market.acknowledge(placed)
    for (const line of placed.lines) market.ship(line, 1, '1Z')
    const lines = [{ sku: 'A', quantity: 2, reason: 'DamagedItem', amount: '10.00' }]
    expect(listFaults(plan('erp.credit.issued', { lines }, placed))['data.lines[0].amount']).toContain('different currencies')
    expect(plan('erp.credit.issued', { lines: [{ sku: 'A', quantity: 2, reason: 'DamagedItem' }] }, placed).ok).toBe(true)
  })

  it('says that fully discounted units have no money to give back, and gives back those that have', () => {
    const placed = market.placeOrder([
      { quantity: 1, sku: 'FREE', charges: [charge('20.00', '1.60'), charge('-20.00')] },
      { quantity: 3, sku: 'CHEAP', charges: [charge('0.02')] },
    ])
    market.acknowledge(placed)
    for (const line of placed.lines) market.ship(line, line.units.length, '1Z')
    const refund = (sku: string, quantity: number, ledgers: readonly LineLedger[] = buildLedgers(market.read(placed), [])) => {
      const data = { purchaseOrderId, lines: [{ sku, quantity, reason: 'DamagedItem' }] }
      return planEvent({ type: 'erp.credit.issued', data }, market.read(placed), ledgers)
    }
    expect(listFaults(refund('FREE', 1))['data.lines[0]']).toContain('no money')
    const first = refund('CHEAP', 1)
    const second = refund('CHEAP', 1, first.ok ? first.ledgers : [])
    expect([first, second].map((result) => buildCommand(result).payload)).toMatchObject([
      { lines: [{ slots: [0], charges: [{ amount: '-0.01' }] }] },
      { lines: [{ slots: [2], charges: [{ amount: '-0.01' }] }] },
    ])
    expect(listFaults(refund('CHEAP', 1, second.ok ? second.ledgers : []))['data.lines[0]']).toContain('no money')
  })

  it('is refused for units that were not shipped, and accepted once their ship command is pending', () => {
    const data = { purchaseOrderId, lines: [{ sku: 'B', quantity: 1, reason: 'DamagedItem' }] }
    const read = market.read(order())
    const event = { type: 'erp.credit.issued', data }
    expect(listFaults(planEvent(event, read, buildLedgers(read, [])))).toHaveProperty(['data.lines[0].quantity'])
    const ship = buildCommand(plan('erp.shipment.dispatched', { parcels: [{ ...parcel, lines: [{ sku: 'B', quantity: 1 }] }] }))
    expect(planEvent(event, read, buildLedgers(read, [{ ...ship, state: 'pending', baseline: null }])).ok).toBe(true)
  })

  it('gives each refund units of its own, so that refunds of a line sum to the line', () => {
    const read = market.read(shipped())
    let ledgers = buildLedgers(read, [])
    let total = new Decimal(0)
    for (let times = 0; times < 3; times++) {
      const result = planEvent(
        { type: 'erp.credit.issued', data: { purchaseOrderId, lines: [{ lineNumber: '4', quantity: 1, reason: 'Others' }] } },
        read,
        ledgers,
      )
      const command = buildCommand(result)
      if (command.kind !== 'refund' || !result.ok) throw new Error('not a refund')
      ledgers = [...result.ledgers]
      for (const line of command.payload.lines) total = total.plus(refundTotal(line.charges))
    }
    expect(total.toFixed(2)).toBe('73.80')
  })
})

describe('any event', () => {
  it('is refused when its type is unknown or its data is none', () => {
    expect(listFaults(plan('erp.order.vanished', {}))).toHaveProperty(['type'])
    const read = market.read(order())
    expect(planEvent({ type: 'erp.order.accepted', data: undefined }, read, [])).toEqual({
      ok: false,
      faults: [{ path: 'data', message: 'is missing' }],
    })
    expect(readEvent({ type: 'erp.credit.issued', data: 'x' }).faults).toMatchObject([{ path: 'data' }])
  })

  it('names its order even when other things are wrong', () => {
    const data = { sellerId: 'S1', purchaseOrderId: 1796277083022, lines: 'none' }
    expect(readEvent({ type: 'erp.credit.issued', data }).address).toEqual({
      sellerId: 'S1',
      purchaseOrderId,
      returnOrderId: null,
    })
    expect(readEvent({ type: 'erp.return.refunded', data: { returnOrderId: 7, lines: 'none' } }).address).toEqual({
      sellerId: null,
      purchaseOrderId: null,
      returnOrderId: '7',
    })
    expect(readEvent({ type: 'erp.credit.issued', data: {} }).address).toBeNull()
    expect(readEvent({ type: 'other', data }).address).toBeNull()
  })

  it('is read alike whether or not something else is wrong with it', () => {
    const credit = { lineNumber: 4, quantity: 2, reason: ' Others ', amount: 12.5, currency: 'USD' }
    const shipment = { ...parcel, shippedAt: '2026-03-01T10:30:00+01:00', carrier: ' UPS ' }
    const events: RawEvent[] = [
      {
        type: 'erp.credit.issued',
        data: { purchaseOrderId: 1796277083022, sellerId: ' S1 ', lines: [credit, { ...credit, sku: 'A' }] },
      },
      {
        type: 'erp.shipment.dispatched',
        data: { purchaseOrderId, parcels: [{ ...shipment, lines: [{ sku: ' B ', quantity: 1, intentToCancelOverride: true }] }] },
      },
      { type: 'erp.lines.unfulfillable', data: { purchaseOrderId, lines: [{ sku: 'B', quantity: 1, reason: outOfStock }] } },
    ]
    for (const { type, data } of events) {
      const right = readEvent({ type, data })
      expect(right.content).not.toBeNull()
      // A list that is too long by an entry of another kind.
      const lists = Object.entries(Object(data)).map(([name, value]) => [name, Array.isArray(value) ? [...value, 7] : value])
      const wrong = readEvent({ type, data: Object.fromEntries(lists) })
      expect(wrong.content).toBeNull()
      expect(wrong.address).toEqual(right.address)
      expect(wrong.parcels).toEqual(right.parcels)
      expect(
        wrong.entries.map(({ path, line, credit: money, intentToCancelOverride }) => [
          path,
          line?.sku,
          line?.lineNumber,
          line?.quantity,
          money,
          intentToCancelOverride,
        ]),
      ).toEqual(
        right.entries.map(({ path, line, credit: money, intentToCancelOverride }) => [
          path,
          line?.sku,
          line?.lineNumber,
          line?.quantity,
          money,
          intentToCancelOverride,
        ]),
      )
    }
  })

  it('never throws and never plans with a fault, whatever it holds', () => {
    const read = market.read(order())
    const entry = fc.oneof(
      fc.anything(),
      fc.record(
        {
          lineNumber: fc.anything(),
          sku: fc.constantFrom('A', 'B', 7, null),
          quantity: fc.anything(),
          reason: fc.anything(),
          amount: fc.anything(),
        },
        { requiredKeys: [] },
      ),
    )
    const lists = fc.oneof(fc.anything(), fc.array(fc.oneof(entry, fc.record({ lines: fc.array(entry) }))))
    const data = fc.oneof(
      fc.anything(),
      fc.record(
        { purchaseOrderId: fc.constantFrom(purchaseOrderId, 1, null), lines: lists, parcels: lists },
        { requiredKeys: [] },
      ),
    )
    const type = fc.constantFrom(
      'erp.order.accepted',
      'erp.shipment.dispatched',
      'erp.lines.unfulfillable',
      'erp.credit.issued',
      'toString',
    )
    fc.assert(
      fc.property(type, data, (eventType, eventData) => {
        const result = planEvent({ type: eventType, data: eventData }, read, buildLedgers(read, []))
        if (!result.ok) expect(result.faults.length).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })
})

describe('allotment', () => {
  const line = fc.record({ quantity: fc.integer({ min: 1, max: 4 }), sku: fc.constantFrom('A', 'B', 'C') })
  const asked = fc.record({ by: fc.constantFrom('line', 'sku'), line: fc.nat(4), quantity: fc.integer({ min: 1, max: 5 }) })

  it('gives exactly what is asked where it may be taken, or nothing when it cannot fit', () => {
    const seen = { fits: 0, refused: 0 }
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 5 }),
        fc.array(asked, { minLength: 1, maxLength: 4 }),
        (lines, entries) => {
          const placed = market.placeOrder(lines)
          market.acknowledge(placed)
          const read = market.read(placed)
          const ledgers = buildLedgers(read, [])
          const named = entries.map((entry) => {
            const target = placed.lines[entry.line % placed.lines.length]
            return {
              lineNumber: entry.by === 'line' ? target?.lineNumber : null,
              sku: entry.by === 'sku' ? target?.sku : null,
              quantity: entry.quantity,
              reason: outOfStock,
            }
          })
          const result = planEvent({ type: 'erp.lines.unfulfillable', data: { purchaseOrderId, lines: named } }, read, ledgers)
          const parseAsked = (match: (entry: (typeof named)[number]) => boolean): number =>
            named.filter(match).reduce((sum, entry) => sum + entry.quantity, 0)
          const lineFits = placed.lines.every(
            (one) => parseAsked((entry) => entry.lineNumber === one.lineNumber) <= one.units.length,
          )
          const skuFits = ['A', 'B', 'C'].every((sku) => {
            const ofSku = placed.lines.filter((one) => one.sku === sku)
            const numbers = ofSku.map((one) => one.lineNumber)
            const room = ofSku.reduce((sum, one) => sum + one.units.length, 0)
            return parseAsked((entry) => entry.sku === sku || numbers.includes(entry.lineNumber ?? '')) <= room
          })
          expect(result.ok).toBe(lineFits && skuFits)
          if (!result.ok) {
            seen.refused++
            return
          }
          seen.fits++
          const command = buildCommand(result)
          for (const [index, one] of placed.lines.entries()) {
            const taken = listUnits(command.payload).find((entry) => entry.lineNumber === one.lineNumber)?.quantity ?? 0
            const after = result.ledgers[index]
            if (after === undefined) throw new Error('a ledger is lost')
            expect(taken).toBeLessThanOrEqual(one.units.length)
            expect(taken).toBeGreaterThanOrEqual(parseAsked((entry) => entry.lineNumber === one.lineNumber))
            expect(accounted(after, 'cancel')).toBe(taken)
            expect(available(after, 'cancel')).toBe(one.units.length - taken)
          }
          const total = listUnits(command.payload).reduce((sum, entry) => sum + entry.quantity, 0)
          expect(total).toBe(parseAsked(() => true))
        },
      ),
      { numRuns: 500 },
    )
    expect(Math.min(seen.fits, seen.refused)).toBeGreaterThan(20)
  })
})

describe('an event with thousands of entries', () => {
  const entries = (count: number) => Array.from({ length: count }, () => ({}))
  it('is one fault, whichever way they are spread', () => {
    const events = [
      ['erp.lines.unfulfillable', { lines: entries(60_000) }, 'data.lines'],
      ['erp.credit.issued', { lines: entries(2_001) }, 'data.lines'],
      ['erp.shipment.dispatched', { parcels: entries(60_000) }, 'data.parcels'],
      ['erp.shipment.dispatched', { parcels: [{ ...parcel, lines: entries(60_000) }] }, 'data.parcels'],
      [
        'erp.shipment.dispatched',
        { parcels: Array.from({ length: 200 }, () => ({ ...parcel, lines: entries(10) })) },
        'data.parcels',
      ],
    ] as const
    for (const [type, data, path] of events) {
      const fault = { path, message: expect.stringMatching(/^holds \d+ entries, at most 2000$/) }
      expect(readEvent({ type, data: { purchaseOrderId, ...data } }).faults, type).toEqual([fault])
      expect(plan(type, data), type).toMatchObject({ ok: false, faults: [fault] })
    }
    expect(
      readEvent({ type: 'erp.lines.unfulfillable', data: { purchaseOrderId, lines: entries(2_000) } }).faults.length,
    ).toBeGreaterThan(2_000)
  })
})
