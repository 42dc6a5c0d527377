import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DirectCommandContent, ShipPayload } from '../../src/domain/commands/command.ts'
import { judge, orderBaselineSchema, takeBaseline } from '../../src/domain/commands/evidence.ts'
import { vocabulary } from '../support/vocabulary.ts'
import * as market from './support/marketplace.ts'

const { statuses } = vocabulary

const ourTracking = ['1Z-OURS-1', '1Z-OURS-2']
const ourReasons = { cancel: ['SELLER_CANCEL_OUT_OF_STOCK', 'SELLER_CANCEL_PRICING_ERROR'], refund: ['DamagedItem', 'Others'] }

const step = fc.record({
  what: fc.constantFrom('acknowledge', 'ship', 'deliver', 'cancel', 'refund'),
  line: fc.nat(2),
  quantity: fc.integer({ min: 1, max: 3 }),
  mark: fc.nat(2),
  cents: fc.integer({ min: 1, max: 1_500 }),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** One thing that someone does to an order. Before our request anyone may have used our marks as well, after it only we do. */
const doStep = (order: market.Order, { what, line: index, quantity, mark, cents }: Step, marksOfOthers: boolean): boolean => {
  const line = order.lines[index % order.lines.length]
  const pick = (ours: readonly string[], others: readonly (string | null)[]): string | null =>
    (marksOfOthers ? others : [...others, ...ours])[mark % (others.length + (marksOfOthers ? 0 : ours.length))] ?? null
  switch (what) {
    case 'acknowledge':
      market.acknowledge(order)
      return true
    case 'ship':
      return market.ship(line, quantity, pick(ourTracking, ['OTHER-1', null]))
    case 'deliver':
      return market.deliver(line, quantity)
    case 'cancel':
      return market.cancel(line, quantity, pick(ourReasons.cancel, ['BUYER_CANCELLED', null]))
    default: {
      const reason = pick(ourReasons.refund, ['Customer returned item', 'Finance -> Goodwill'])
      return market.refund(order, line, quantity, reason === null ? [] : [reason], new Decimal(cents).div(100))
    }
  }
}

const portion = fc.record({
  line: fc.nat(2),
  quantity: fc.integer({ min: 1, max: 3 }),
  mark: fc.nat(1),
  cents: fc.integer({ min: 1, max: 1_500 }),
})
type Portion = typeof portion extends fc.Arbitrary<infer Value> ? Value : never

const buildCommand = (order: market.Order, kind: string, portions: readonly Portion[]): DirectCommandContent => {
  const numbered = portions.map((entry) => ({
    ...entry,
    lineNumber: order.lines[entry.line % order.lines.length]?.lineNumber ?? '',
  }))
  if (kind === 'ship') {
    const parcels: ShipPayload['parcels'] = numbered.map(({ lineNumber, quantity, mark }) => ({
      carrier: 'UPS',
      trackingNumber: ourTracking[mark] ?? '',
      trackingUrl: null,
      method: null,
      shippedAt: '2026-03-01T09:30:00.000Z',
      lines: [{ lineNumber, quantity }],
    }))
    return { kind, payload: { parcels } }
  }
  if (kind === 'cancel') {
    return {
      kind,
      payload: {
        lines: numbered.map(({ lineNumber, quantity, mark }) => ({
          lineNumber,
          quantity,
          reason: ourReasons.cancel[mark] ?? '',
        })),
      },
    }
  }
  if (kind === 'refund') {
    const lines = numbered.map(({ lineNumber, quantity, mark, cents }) => {
      const amount = new Decimal(cents).div(-100).toFixed(2)
      const charges = [{ chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount, currency: 'USD', tax: null }]
      return { lineNumber, quantity, reason: ourReasons.refund[mark] ?? '', charges }
    })
    return { kind, payload: { lines } }
  }
  return { kind: 'acknowledge', payload: {} }
}

const scenario = fc.record({
  quantities: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
  refundKeepsTracking: fc.boolean(),
  before: fc.array(step, { maxLength: 8 }),
  between: fc.array(step, { maxLength: 5 }),
  portions: fc.array(portion, { minLength: 1, maxLength: 3 }),
  landAt: fc.option(fc.nat(5), { nil: null }),
})

describe.each(['acknowledge', 'ship', 'cancel', 'refund'] as const)('evidence of %s', (kind) => {
  it('never contradicts what happened, and decides when nobody else did the same', () => {
    const seen = { applied: 0, 'not-applied': 0, unclear: 0 }
    fc.assert(
      fc.property(scenario, ({ quantities, refundKeepsTracking, before, between, portions, landAt }) => {
        const order = market.placeOrder(
          quantities.map((quantity) => ({ quantity })),
          refundKeepsTracking,
        )
        // Shipping and refunding need something to work with.
        if (kind === 'ship' || kind === 'refund') market.acknowledge(order)
        if (kind === 'refund') for (const line of order.lines) market.ship(line, Math.ceil(line.units.length / 2), 'EARLIER')
        for (const one of before) doStep(order, one, false)
        if (kind === 'acknowledge') fc.pre(order.lines.some((line) => line.units.some((unit) => unit.state === 'Created')))
        const command = buildCommand(order, kind, portions)
        // Through JSON, as it is stored.
        const baseline = orderBaselineSchema.parse(JSON.parse(JSON.stringify(takeBaseline(market.read(order)))))

        let landed = false
        let othersDidTheSame = false
        let refunds = false
        for (let at = 0; at <= between.length; at++) {
          if (landAt !== null && at === Math.min(landAt, between.length)) landed = market.apply(order, command)
          const one = between[at]
          if (one === undefined) continue
          const done = doStep(order, one, true)
          if (done && one.what === kind) othersDidTheSame = true
          if (done && one.what === 'refund') refunds = true
        }
        const now = market.read(order)
        const evidence = judge(statuses, command, baseline, now)
        seen[evidence.verdict]++
        if (kind === 'acknowledge') {
          // The goal counts, not who reached it.
          landed = now.lines.every((line) => line.units.acknowledged + line.units.cancelled === line.ordered)
          othersDidTheSame = now.lines.every((line) => line.units.cancelled === line.ordered)
        }
        expect(evidence.verdict, JSON.stringify(evidence)).not.toBe(landed ? 'not-applied' : 'applied')
        const trackingLost = kind === 'ship' && refunds && !refundKeepsTracking
        if (!othersDidTheSame && !trackingLost)
          expect(evidence.verdict, JSON.stringify(evidence)).toBe(landed ? 'applied' : 'not-applied')
      }),
      { numRuns: 3_000 },
    )
    // The histories above are worth something only if they are of every sort.
    for (const [verdict, times] of Object.entries(seen)) expect(times, verdict).toBeGreaterThan(10)
  })
})

describe.each(['ship', 'cancel', 'refund'] as const)('evidence of a %s that was applied in part', (kind) => {
  it('is unclear, whatever others do', () => {
    let partial = 0
    fc.assert(
      fc.property(scenario, fc.nat(2), ({ quantities, refundKeepsTracking, before, between, portions, landAt }, applied) => {
        const findQuantity = quantities.map((quantity) => ({ quantity: quantity + 4 }))
        const order = market.placeOrder(findQuantity, refundKeepsTracking)
        market.acknowledge(order)
        if (kind === 'refund') for (const line of order.lines) market.ship(line, Math.ceil(line.units.length / 2), 'EARLIER')
        for (const one of before) doStep(order, one, false)
        const command = buildCommand(order, kind, portions)
        const baseline = takeBaseline(market.read(order))
        const part = buildCommand(order, kind, portions.slice(0, 1 + (applied % portions.length)))
        fc.pre(part.kind !== 'acknowledge' && command.kind !== 'acknowledge')
        fc.pre(JSON.stringify(part) !== JSON.stringify(command))
        let landed = false
        for (let at = 0; at <= between.length; at++) {
          if (at === Math.min(landAt ?? 0, between.length)) landed = market.apply(order, part)
          const one = between[at]
          if (one !== undefined) doStep(order, one, true)
        }
        fc.pre(landed)
        partial++
        const evidence = judge(statuses, command, baseline, market.read(order))
        expect(evidence.verdict, JSON.stringify(evidence)).toBe('unclear')
      }),
      { numRuns: 3_000 },
    )
    expect(partial).toBeGreaterThan(100)
  })
})

describe('evidence, case by case', () => {
  const shipTwo: DirectCommandContent = buildCommand(market.placeOrder([{ quantity: 4 }]), 'ship', [
    { line: 0, quantity: 2, mark: 0, cents: 1 },
  ])
  const acknowledged = (quantity: number, refundKeepsTracking = true): market.Order => {
    const order = market.placeOrder([{ quantity }], refundKeepsTracking)
    market.acknowledge(order)
    return order
  }
  const verdictAfter = (order: market.Order, command: DirectCommandContent, act: (line: market.Line) => void): string => {
    const baseline = takeBaseline(market.read(order))
    for (const line of order.lines) act(line)
    return judge(statuses, command, baseline, market.read(order)).verdict
  }

  it('does not take units for ours whose tracking number was lost when they were refunded: they may be those of others', () => {
    const order = acknowledged(4, false)
    const verdict = verdictAfter(order, shipTwo, (line) => {
      market.ship(line, 2, ourTracking[0] ?? '')
      market.deliver(line, 2)
      market.refund(order, line, 1, ['Others'], new Decimal(1))
    })
    expect(verdict).toBe('unclear')
  })

  it('does not take a shipment of another program for ours, nor does it rule ours out', () => {
    expect(verdictAfter(acknowledged(4), shipTwo, (line) => void market.ship(line, 2, 'OTHER'))).toBe('unclear')
  })

  it('takes a part of a shipment for unclear', () => {
    expect(verdictAfter(acknowledged(4), shipTwo, (line) => void market.ship(line, 1, ourTracking[0] ?? ''))).toBe('unclear')
  })

  it('does not let a refund of other units explain a part of a shipment', () => {
    const order = acknowledged(4, false)
    market.ship(order.lines[0], 2, 'EARLIER')
    const verdict = verdictAfter(order, shipTwo, (line) => {
      market.ship(line, 1, ourTracking[0] ?? '')
      market.refund(order, line, 1, ['Others'], new Decimal(1))
    })
    expect(verdict).toBe('unclear')
  })

  it('takes a refund of fewer units for unclear, although money and reasons agree', () => {
    const order = acknowledged(4)
    market.ship(order.lines[0], 4, 'EARLIER')
    const refundTwo = buildCommand(order, 'refund', [{ line: 0, quantity: 2, mark: 0, cents: 500 }])
    const verdict = verdictAfter(order, refundTwo, (line) => {
      market.refund(order, line, 1, ['DamagedItem'], new Decimal(5))
    })
    expect(verdict).toBe('unclear')
  })

  it('takes twice the shipment for unclear', () => {
    expect(verdictAfter(acknowledged(4), shipTwo, (line) => void market.ship(line, 4, ourTracking[0] ?? ''))).toBe('unclear')
  })

  it('knows a tracking number written in another way', () => {
    expect(verdictAfter(acknowledged(4), shipTwo, (line) => void market.ship(line, 2, '1zours1'))).toBe('applied')
  })

  it('takes units that moved to an unknown state for unclear', () => {
    const order = acknowledged(2)
    const before = market.read(order)
    const lines = before.lines.map((line) => ({
      ...line,
      statuses: line.statuses.map((status) => ({ ...status, status: 'InTransit' })),
    }))
    expect(judge(statuses, shipTwo, takeBaseline(before), { ...before, lines }).verdict).toBe('unclear')
  })

  it('takes counts that went down, a changed order quantity and a missing line for unclear', () => {
    const order = acknowledged(4)
    market.ship(order.lines[0], 2, 'EARLIER')
    const baseline = takeBaseline(market.read(order))
    expect(judge(statuses, shipTwo, baseline, market.read(acknowledged(4))).verdict).toBe('unclear')
    expect(judge(statuses, shipTwo, baseline, market.read(acknowledged(5))).verdict).toBe('unclear')
    expect(judge(statuses, shipTwo, baseline, { ...market.read(order), lines: [] }).verdict).toBe('unclear')
  })

  it('does not take a cancellation by the buyer for ours', () => {
    const cancelTwo = buildCommand(market.placeOrder([{ quantity: 4 }]), 'cancel', [{ line: 0, quantity: 2, mark: 0, cents: 1 }])
    expect(verdictAfter(acknowledged(4), cancelTwo, (line) => void market.cancel(line, 2, 'BUYER_CANCELLED'))).toBe('unclear')
  })

  it('does not take a refund by the marketplace for ours, although units and money agree', () => {
    const order = acknowledged(4)
    market.ship(order.lines[0], 4, 'EARLIER')
    const refundTwo = buildCommand(order, 'refund', [{ line: 0, quantity: 2, mark: 0, cents: 500 }])
    const verdict = verdictAfter(order, refundTwo, (line) => {
      market.refund(order, line, 2, ['Customer returned item'], new Decimal(5))
    })
    expect(verdict).toBe('unclear')
  })

  it('goes by money and reasons where the marketplace shows no refunded units', () => {
    const order = acknowledged(4)
    market.ship(order.lines[0], 4, 'EARLIER')
    const refundTwo = buildCommand(order, 'refund', [{ line: 0, quantity: 2, mark: 0, cents: 500 }])
    const moneyOnly = (amount: number): string =>
      verdictAfter(acknowledged(4), refundTwo, (line) => {
        line.refunded = line.refunded.plus(amount)
        line.refundReasons.push('DAMAGED_ITEM')
      })
    expect(moneyOnly(5)).toBe('applied')
    expect(moneyOnly(4)).toBe('unclear')
  })

  it('takes an order that was cancelled wholly for unclear when an acknowledgement is looked for', () => {
    const order = market.placeOrder([{ quantity: 2 }])
    expect(verdictAfter(order, { kind: 'acknowledge', payload: {} }, (line) => void market.cancel(line, 2, null))).toBe('unclear')
  })
})

describe('the words of the evidence', () => {
  it.each([
    [1, '1 unit appeared under our tracking numbers'],
    [2, '2 units appeared under our tracking numbers'],
  ])('counts %i unit', (quantity, explanation) => {
    const order = market.placeOrder([{ quantity }], true)
    market.acknowledge(order)
    const baseline = takeBaseline(market.read(order))
    const command = buildCommand(order, 'ship', [{ line: 0, quantity, mark: 0, cents: 1 }])
    expect(market.apply(order, command)).toBe(true)
    expect(judge(statuses, command, baseline, market.read(order)).lines).toMatchObject([{ explanation }])
  })
})
