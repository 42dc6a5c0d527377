import { describe, expect, it } from 'vitest'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import { parseCommand, type RefundReturnPayload } from '../../src/domain/commands/command.ts'
import { judgeReturn, type ReturnBaseline } from '../../src/domain/commands/evidence.ts'
import { eventFaults, readEvent } from '../../src/domain/events/event-reading.ts'
import { type PlanOptions, type PlanResult, planCommands } from '../../src/domain/events/events.ts'
import { planReturnRefund } from '../../src/domain/events/return-refunds.ts'
import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import { countReturned, listReturnedLedgers, type ReturnedLine } from '../../src/domain/orders/returned-units.ts'
import { available, buildLedgers, type LedgerCommand } from '../../src/domain/orders/units.ts'
import { charge } from '../support/orders.ts'
import * as market from './support/marketplace.ts'

const { vocabulary } = walmartUs
const purchaseOrderId = '1796277083022'
const returnOrderId = '188600142000000000'
const opened = new Date('2026-03-10T10:00:00Z')

/** Two lines of three and one units, all shipped; their numbers are 3 and 4. */
const shipped = (change: Partial<PurchaseOrder> = {}): PurchaseOrder => {
  const placed = market.placeOrder([
    { quantity: 3, sku: 'A', charges: [charge('30.00', '2.40'), charge('6.00', null, 'SHIPPING')] },
    { quantity: 1, sku: 'B', charges: [charge('5.00')] },
  ])
  market.acknowledge(placed)
  for (const line of placed.lines) market.ship(line, line.units.length, '1Z')
  return { ...market.read(placed), ...change }
}

const returned = (change: Partial<ReturnedLine> = {}): ReturnedLine => ({
  returnOrderId,
  customerOrderId: '4861900000001',
  returnLineNumber: 1,
  purchaseOrderId,
  lineNumber: shipped().lines[0]?.lineNumber ?? '',
  sku: 'A',
  quantity: 2,
  refunded: 0,
  exceptionItemType: null,
  since: opened,
  ...change,
})

const plan = (
  lines: readonly object[],
  {
    order = shipped(),
    of = [returned()],
    commands = [],
    ...options
  }: Partial<PlanOptions> & { readonly order?: PurchaseOrder; readonly of?: readonly ReturnedLine[] } = {},
): PlanResult => {
  const event = readEvent({ type: 'erp.return.refunded', data: { returnOrderId, lines } })
  const ledgers = buildLedgers(countReturned(order, of), commands)
  return planReturnRefund(event, order, ledgers, of, { vocabulary, commands, ...options })
}

const payloadOf = (result: PlanResult): RefundReturnPayload => {
  if (!result.ok) throw new Error(JSON.stringify(result.faults))
  const [command] = result.commands
  if (command?.kind !== 'refund-return') throw new Error('not a refund through a return')
  // What is planned must be what can be stored and read back.
  expect(parseCommand(command.kind, JSON.parse(JSON.stringify(command.payload)))).toEqual({
    kind: command.kind,
    payload: command.payload,
  })
  return command.payload
}

const messages = (result: PlanResult): Record<string, string> => {
  if (result.ok) throw new Error('no fault')
  return Object.fromEntries(result.faults.map(({ path, message }) => [path, message]))
}

const lineNumber = shipped().lines[0]?.lineNumber ?? ''

const payloadFor = (quantity: number): RefundReturnPayload => ({
  returnOrderId,
  customerOrderId: '1',
  lines: [{ lineNumber, returnLineNumber: 1, quantity, reason: null, charges: [] }],
})

const refundOf = (quantity: number, state: LedgerCommand['state']): LedgerCommand => ({
  kind: 'refund-return',
  payload: payloadFor(quantity),
  state,
  baseline: null,
})

const creditOf = (quantity: number, createdAt: Date): LedgerCommand => ({
  kind: 'refund',
  payload: { lines: [{ lineNumber, quantity, reason: 'Others', charges: [] }] },
  state: 'pending',
  baseline: null,
  createdAt,
})

describe('an event that refunds units through their return', () => {
  it('becomes one command, by the line of the return or by SKU, with the charge that the units are expected to give back', () => {
    const payload = payloadOf(plan([{ returnLineNumber: 1, quantity: 2, reason: 'checked' }]))
    expect(payload).toMatchObject({ returnOrderId, customerOrderId: '4861900000001' })
    expect(payload.lines).toEqual([
      {
        lineNumber: returned().lineNumber,
        returnLineNumber: 1,
        quantity: 2,
        reason: 'checked',
        charges: [expect.objectContaining({ chargeType: 'PRODUCT', amount: '-20.00' })],
        slots: [0, 1],
      },
    ])
    const two = [returned({ quantity: 1 }), returned({ returnLineNumber: 2, quantity: 1 })]
    const bySku = payloadOf(plan([{ sku: 'A', quantity: 2 }], { of: two }))
    expect(bySku.lines.map(({ returnLineNumber, quantity }) => [returnLineNumber, quantity])).toEqual([
      [1, 1],
      [2, 1],
    ])
  })

  it('counts in the ledger of the order, together with the refunds of the order', () => {
    const ledgers = buildLedgers(shipped(), [refundOf(2, 'pending')])
    expect(ledgers.map((ledger) => available(ledger, 'refund'))).toEqual([1, 1])
    const credit = readEvent({
      type: 'erp.credit.issued',
      data: { purchaseOrderId, lines: [{ lineNumber: returned().lineNumber, quantity: 2, reason: 'Others' }] },
    })
    expect(planCommands(credit, shipped(), ledgers, { vocabulary }).ok).toBe(false)
  })

  it('is refused for more units than the return has left, whoever refunded them', () => {
    const path = 'data.lines[0].quantity'
    const ask = [{ returnLineNumber: 1, quantity: 2 }]
    expect(messages(plan([{ returnLineNumber: 1, quantity: 3 }]))[path]).toContain('has 2 units left to refund')
    expect(messages(plan(ask, { of: [returned({ refunded: 1 })] }))[path]).toContain(
      '(2 returned, 1 refunded through the return)',
    )
    expect(messages(plan(ask, { commands: [refundOf(1, 'pending')] }))[path]).toContain('1 more in progress')
    expect(messages(plan(ask, { commands: [refundOf(1, 'verifying')] }))[path]).toContain('1 unit left')
    expect(messages(plan(ask, { commands: [refundOf(1, 'confirmed')] }))[path]).toContain('1 unit left')
    expect(plan(ask, { commands: [refundOf(1, 'rejected')] }).ok).toBe(true)
    expect(messages(plan([...ask, ...ask]))['data.lines[1].quantity']).toContain('2 asked')
  })

  it('counts credits of the order since the return was opened as returned units, older ones not', () => {
    const ask = [{ returnLineNumber: 1, quantity: 2 }]
    const later = creditOf(1, new Date(opened.getTime() + 1))
    expect(messages(plan(ask, { commands: [later] }))['data.lines[0].quantity']).toContain(
      'has 1 unit left to refund (2 returned, 0 refunded through the return, 1 refunded through the order)',
    )
    expect(plan(ask, { commands: [creditOf(1, new Date(opened.getTime() - 1))] }).ok).toBe(true)
    // One credit is one unit: of two returns it is a unit of the older one.
    const second = returned({ returnOrderId: '2', since: new Date(opened.getTime() + 1) })
    const [first, other] = listReturnedLedgers([second, returned()], [creditOf(1, new Date(opened.getTime() + 2))])
    expect([first?.line.returnOrderId, first?.credited, other?.credited]).toEqual([returnOrderId, 1, 0])
  })

  it('is refused where the marketplace refunds itself, for exceptions, and for lines that are not there', () => {
    const ask = [{ returnLineNumber: 1, quantity: 1 }]
    const fulfilled = shipped({ shipNodeType: vocabulary.shipNodes.marketplace })
    expect(messages(plan(ask, { order: fulfilled }))['data.returnOrderId']).toContain('refunds its returns')
    const hazardous = [returned({ exceptionItemType: 'HAZMAT' })]
    expect(messages(plan(ask, { of: hazardous }))['data.lines[0]']).toContain('HAZMAT')
    expect(messages(plan([{ sku: 'A', quantity: 1 }], { of: hazardous }))['data.lines[0]']).toContain('HAZMAT')
    expect(messages(plan([{ returnLineNumber: 7, quantity: 1 }]))).toHaveProperty(['data.lines[0].returnLineNumber'])
    expect(messages(plan([{ sku: 'Z', quantity: 1 }]))).toHaveProperty(['data.lines[0].sku'])
    expect(messages(plan([{ sku: 'A', returnLineNumber: 1, quantity: 1 }]))['data.lines[0]']).toContain('not by both')
    expect(messages(plan([{ lineNumber: 1, quantity: 1 }]))).toHaveProperty(['data.lines[0].lineNumber'])
  })

  it('takes the product charge of the units as the amount, and no other', () => {
    const ask = (amount: string, currency = 'USD') => plan([{ returnLineNumber: 1, quantity: 2, amount, currency }])
    expect(ask('20.00').ok).toBe(true)
    expect(messages(ask('19.99'))['data.lines[0].amount']).toContain('the product charge of its units, 20 USD')
    expect(messages(ask('20.00', 'EUR'))['data.lines[0].currency']).toContain('not in EUR')
    expect(messages(ask('-1'))).toHaveProperty(['data.lines[0].amount'])
  })

  it('is refused if the money of the units was given back otherwise', () => {
    const given = (refundedAmount: string): PurchaseOrder => {
      const order = shipped()
      return { ...order, lines: order.lines.map((line, place) => (place === 0 ? { ...line, refundedAmount } : line)) }
    }
    const ask = [{ returnLineNumber: 1, quantity: 2 }]
    // 38.40 was paid; two units are expected to give back 21.60.
    expect(payloadOf(plan(ask, { order: given('16.80') })).lines[0]?.charges).toHaveLength(1)
    expect(messages(plan(ask, { order: given('16.81') }))['data.lines']).toContain('has 21.59 left to give back')
  })

  it('is refused by a marketplace without this operation, in a sentence that says what to do', () => {
    const event = readEvent({ type: 'erp.return.refunded', data: { returnOrderId, lines: [{ sku: 'A', quantity: 1 }] } })
    const [fault] = eventFaults(event, { vocabulary: specification.vocabulary })
    expect(fault).toEqual({ path: 'type', message: expect.stringContaining('has no refund through a return') })
  })
})

describe('units that the marketplace refunded through a return', () => {
  it('cannot be credited, although the order does not show them', () => {
    const [ledger] = buildLedgers(countReturned(shipped(), [returned({ refunded: 2 })]), [])
    expect(ledger === undefined ? null : available(ledger, 'refund')).toBe(1)
  })
})

describe('the evidence of a refund through a return', () => {
  const baseline = (refunded: number | null): ReturnBaseline => ({
    returnOrderId,
    lines: [{ returnLineNumber: 1, quantity: 3, refunded }],
  })
  const payload = payloadFor(2)
  const verdict = (before: number | null, now: number | null) => judgeReturn(payload, baseline(before), baseline(now)).verdict

  it.each([
    [0, 0, 'not-applied'],
    [1, 1, 'not-applied'],
    [0, 2, 'applied'],
    [1, 3, 'applied'],
    // The marketplace refunded others too: every unit that was asked for is refunded.
    [0, 3, 'applied'],
    [0, 1, 'unclear'],
    [2, 1, 'unclear'],
    [null, 2, 'unclear'],
    [0, null, 'unclear'],
  ] as const)('%j refunded units before and %j after: %s', (before, now, expected) => {
    expect(verdict(before, now)).toBe(expected)
  })

  it('is unclear for a line that is not there', () => {
    expect(judgeReturn(payload, undefined, baseline(2)).verdict).toBe('unclear')
    expect(judgeReturn(payload, baseline(0), { returnOrderId, lines: [] }).verdict).toBe('unclear')
  })
})
