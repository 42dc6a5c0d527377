import { describe, expect, it } from 'vitest'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import type { RefundReturnPayload } from '../../src/domain/commands/command.ts'
import {
  findRefundDue,
  type LateReturn,
  lateReturnsMessage,
  type RefundableLine,
  type RefundDue,
  type ReturnedStatus,
} from '../../src/domain/orders/late-returns.ts'
import { listReturnedLedgers, type ReturnedLine } from '../../src/domain/orders/returned-units.ts'
import type { LedgerCommand } from '../../src/domain/orders/units.ts'

const words = walmartUs.vocabulary.returns
if (words === null) throw new Error('the profile has no refund through a return')

const opened = new Date('2026-03-01T10:00:00Z')
const arrival = new Date('2026-03-10T10:00:00Z')
const hours = (count: number, from = arrival): Date => new Date(from.getTime() + count * 3_600_000)

const entry = (
  status: string,
  quantity: number | null,
  at: Date | null = arrival,
  currentRefundStatus: string | null = null,
): ReturnedStatus => ({ status, quantity, at, currentRefundStatus })

interface Case extends Partial<Omit<RefundableLine, 'ledger'>> {
  readonly quantity?: number
  readonly refunded?: number | null
  readonly commands?: readonly LedgerCommand[]
}

/** What is due of a line of two units after so many hours. */
const due = (
  afterHours: number,
  { quantity = 2, refunded = 0, commands = [], statuses = [entry('DELIVERED', quantity)], ...more }: Case,
): RefundDue | null => {
  const line: ReturnedLine = {
    returnOrderId: 'R',
    customerOrderId: '4861900000001',
    returnLineNumber: 1,
    purchaseOrderId: 'P',
    lineNumber: '1',
    sku: 'A',
    quantity,
    refunded,
    exceptionItemType: null,
    since: opened,
  }
  const [ledger] = listReturnedLedgers([line], commands)
  if (ledger === undefined) throw new Error('no ledger')
  const of = { ledger, status: null, statuses, storedAt: hours(1), leftInOrder: null, ...more }
  return findRefundDue(of, words, hours(afterHours))
}

const payload = (quantity: number): RefundReturnPayload => ({
  returnOrderId: 'R',
  customerOrderId: '4861900000001',
  lines: [{ lineNumber: '1', returnLineNumber: 1, quantity, reason: null, charges: [] }],
})
const throughReturn = (quantity: number, state: LedgerCommand['state']): LedgerCommand => ({
  kind: 'refund-return',
  payload: payload(quantity),
  state,
  baseline: null,
})
const throughOrder = (quantity: number, createdAt: Date): LedgerCommand => ({
  kind: 'refund',
  payload: { lines: [{ lineNumber: '1', quantity, reason: 'x', charges: [] }] },
  state: 'confirmed',
  baseline: null,
  createdAt,
})

describe('the deadline', () => {
  it.each([
    [0, 'in-time'],
    [35.9, 'in-time'],
    [36, 'soon'],
    [47.9, 'soon'],
    [48, 'late'],
    [500, 'late'],
  ] as const)('is 48 hours after the arrival: %s hours after it the refund is %s', (after, state) => {
    expect(due(after, {})).toEqual({ units: 2, arrivedAt: arrival, refundBy: hours(48), state })
  })

  it('counts from the storing of the line when the marketplace shows no time', () => {
    expect(due(0, { statuses: [entry('DELIVERED', 2, null)] })?.refundBy).toEqual(hours(49))
  })

  it('is that of the first arrival, in any case of the status', () => {
    const statuses = [entry('delivered_at_return_center', 1, hours(20)), entry('Delivered', 1)]
    expect(due(40, { statuses })).toEqual({ units: 2, arrivedAt: arrival, refundBy: hours(48), state: 'soon' })
  })

  it('exists only in the profile with the rule', () => {
    expect(specification.vocabulary.returns).toBe(null)
    expect(words.refundWithinHours).toBe(48)
  })
})

describe('units to refund', () => {
  it('are only those that have arrived', () => {
    expect(due(48, { statuses: [entry('RETURN_IN_TRANSIT', 2)] })).toBe(null)
    expect(due(48, { quantity: 3, statuses: [entry('RETURN_INITIATED', 1), entry('DELIVERED', 2)] })?.units).toBe(2)
  })

  it('are those of the status of the line, if it has no others', () => {
    expect(due(50, { statuses: [], status: 'DELIVERED' })).toMatchObject({ units: 2, refundBy: hours(49) })
    expect(due(50, { statuses: [], status: 'INITIATED' })).toBe(null)
    expect(due(50, { statuses: [entry('INITIATED', 2)], status: 'DELIVERED' })).toBe(null)
  })

  it('of a status without a quantity are the rest of the line', () => {
    expect(due(48, { statuses: [entry('RETURN_INITIATED', 1), entry('DELIVERED', null)] })?.units).toBe(1)
    expect(due(48, { statuses: [entry('DELIVERED', null), entry('DELIVERED', null)] })?.units).toBe(2)
  })

  it('are not those that the marketplace shows as refunded', () => {
    expect(due(48, { refunded: 2 })).toBe(null)
    expect(due(48, { refunded: null, statuses: [entry('DELIVERED', 2, arrival, 'REFUND_COMPLETED')] })).toBe(null)
    // The refunded unit has left the arrived status: the other one is open.
    expect(due(48, { refunded: 1, statuses: [entry('REFUND_ISSUED', 1), entry('DELIVERED', 1)] })?.units).toBe(1)
    // The status does not tell: the first one counts as refunded.
    const statuses = [entry('DELIVERED', 1), entry('DELIVERED', 1, hours(20))]
    expect(due(48, { refunded: 1, statuses })).toEqual({
      units: 1,
      arrivedAt: hours(20),
      refundBy: hours(68),
      state: 'in-time',
    })
    // The refund of the first unit, while the others are still on their way.
    expect(due(48, { quantity: 3, refunded: 1, statuses: [entry('DELIVERED', 1), entry('IN_TRANSIT', 2)] })).toBe(null)
  })

  it.each(['pending', 'sending', 'verifying', 'held', 'confirmed'] as const)(
    'are not those of a command through the return that is %s',
    (state) => {
      expect(due(48, { commands: [throughReturn(2, state)] })).toBe(null)
      expect(due(48, { commands: [throughReturn(1, state)] })?.units).toBe(1)
    },
  )

  it('are those of a rejected command', () => {
    expect(due(48, { commands: [throughReturn(2, 'rejected')] })?.units).toBe(2)
  })

  it('are not those that our commands refund through the order since the return exists', () => {
    expect(due(48, { commands: [throughOrder(2, hours(1))] })).toBe(null)
    expect(due(48, { commands: [throughOrder(1, hours(1))] })?.units).toBe(1)
    expect(due(48, { commands: [throughOrder(2, hours(-1, opened))] })?.units).toBe(2)
  })

  it('are no more than the order line has left to refund', () => {
    expect(due(48, { leftInOrder: 0 })).toBe(null)
    expect(due(48, { leftInOrder: 1 })?.units).toBe(1)
    expect(due(48, { leftInOrder: 5 })?.units).toBe(2)
  })
})

it('the message names the first five returns, with order, SKU, units and deadline, and what to do', () => {
  const found = (index: number): LateReturn => ({
    sellerId: 's-1',
    returnOrderId: `R${index}`,
    refundBy: hours(index),
    state: index === 0 ? 'late' : 'soon',
    lines: [
      {
        ...{ returnLineNumber: 1, purchaseOrderId: `P${index}`, lineNumber: '1', sku: 'TEA', units: 2, exceptionItemType: null },
        ...{ arrivedAt: arrival, refundBy: hours(index) },
      },
    ],
  })
  expect(lateReturnsMessage([found(0)])).toBe(
    '1 return to be refunded within 12 hours, 1 of them late already: return R0 (2 × TEA of order P0) by 2026-03-10T10:00:00.000Z. ' +
      'Send erp.return.refunded for each',
  )
  const hazardous = { ...found(0), lines: found(0).lines.map((line) => ({ ...line, exceptionItemType: 'HAZMAT' })) }
  expect(lateReturnsMessage([hazardous, found(1)])).toBe(
    '2 returns to be refunded within 12 hours, 1 of them late already: return R0 (2 × TEA (HAZMAT) of order P0) by 2026-03-10T10:00:00.000Z; ' +
      'return R1 (2 × TEA of order P1) by 2026-03-10T11:00:00.000Z. Send erp.return.refunded for each, erp.credit.issued for lines that are HAZMAT',
  )
  const many = lateReturnsMessage(Array.from({ length: 7 }, (_, index) => found(index)))
  expect(many).toContain('7 returns to be refunded within 12 hours, 1 of them late already')
  expect(many).toContain('return R4 (2 × TEA of order P4) by 2026-03-10T14:00:00.000Z; and 2 more.')
  expect(many).not.toContain('R5')
})
