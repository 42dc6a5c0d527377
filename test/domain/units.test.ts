import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CommandState, DirectCommandContent } from '../../src/domain/commands/command.ts'
import type { LineUnits } from '../../src/domain/orders/order.ts'
import {
  accounted,
  available,
  buildLedgers,
  checkBeforeSend,
  done,
  type LedgerCommand,
  type LineLedger,
  reserve,
} from '../../src/domain/orders/units.ts'
import * as market from './support/marketplace.ts'

const nothing: LineUnits = { acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 }

const ledger = (given: Partial<LineLedger>): LineLedger => ({
  lineNumber: '3',
  sku: 'A',
  ordered: 5,
  reported: nothing,
  confirmed: { shipped: 0, cancelled: 0, refunded: 0 },
  pending: { ship: 0, cancel: 0, refund: 0 },
  inFlight: null,
  refundSlots: [],
  ...given,
})

const contentByKey = (kind: 'ship' | 'cancel' | 'refund', quantity: number): DirectCommandContent => {
  const line = { lineNumber: '3', quantity }
  if (kind === 'cancel') return { kind, payload: { lines: [{ ...line, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] } }
  if (kind === 'refund') {
    const charges = [{ chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '-1.00', currency: 'USD', tax: null }]
    return { kind, payload: { lines: [{ ...line, reason: 'Others', charges }] } }
  }
  const parcel = {
    carrier: 'UPS',
    trackingNumber: '1Z',
    trackingUrl: null,
    method: null,
    shippedAt: '2026-03-01T09:30:00Z',
    lines: [line],
  }
  return { kind, payload: { parcels: [parcel] } }
}

describe('the unit ledger', () => {
  it('counts an effect once while its command is in flight, reported or not', () => {
    const inFlight = { kind: 'ship', quantity: 2, baseline: { ...nothing, shipped: 1 } } as const
    expect(done(ledger({ reported: { ...nothing, shipped: 1 }, inFlight }), 'ship')).toBe(3)
    expect(done(ledger({ reported: { ...nothing, shipped: 3 }, inFlight }), 'ship')).toBe(3)
    expect(done(ledger({ reported: { ...nothing, shipped: 4 }, inFlight }), 'ship')).toBe(4)
  })

  it('counts a confirmed effect that the stored order does not show yet, beneath the one in flight too', () => {
    const confirmed = { shipped: 2, cancelled: 0, refunded: 0 }
    const inFlight = { kind: 'ship', quantity: 1, baseline: nothing } as const
    expect(done(ledger({ confirmed }), 'ship')).toBe(2)
    expect(done(ledger({ confirmed, inFlight }), 'ship')).toBe(3)
  })

  it('lets a refund rely on a ship that is still pending', () => {
    const waiting = ledger({ pending: { ship: 2, cancel: 0, refund: 0 } })
    expect(available(waiting, 'refund')).toBe(2)
    expect(checkBeforeSend([waiting], contentByKey('refund', 1))).toHaveLength(1)
  })

  it('says which line, how many were asked and how many are left', () => {
    const reported = { ...nothing, shipped: 2, cancelled: 1 }
    const result = reserve([ledger({ reported, pending: { ship: 1, cancel: 0, refund: 0 } })], {
      kind: 'ship',
      lines: [
        { path: 'data.lines[0]', lineNumber: '3', quantity: 2 },
        { path: 'data.lines[1]', lineNumber: '9', quantity: 1 },
      ],
    })
    expect(result).toEqual({
      ok: false,
      faults: [
        {
          path: 'data.lines[0].quantity',
          lineNumber: '3',
          asked: 2,
          available: 1,
          message: 'line 3 has 1 unit left to ship (5 ordered, 2 shipped and 1 more in progress, 1 cancelled), 2 asked',
        },
        { path: 'data.lines[1].lineNumber', lineNumber: '9', asked: 1, available: 0, message: 'the order has no line 9' },
      ],
    })
  })

  it('counts entries of one request that name the same line together', () => {
    const line = { lineNumber: '3', quantity: 3 }
    const result = reserve([ledger({})], {
      kind: 'cancel',
      lines: [
        { ...line, path: 'a' },
        { ...line, path: 'b' },
      ],
    })
    expect(result).toMatchObject({ ok: false, faults: [{ path: 'b.quantity', asked: 3, available: 2 }] })
  })

  it('refuses to acknowledge only what is cancelled wholly', () => {
    const acknowledge: DirectCommandContent = { kind: 'acknowledge', payload: {} }
    expect(checkBeforeSend([ledger({})], acknowledge)).toEqual([])
    expect(checkBeforeSend([ledger({ reported: { ...nothing, cancelled: 5 } })], acknowledge)).toHaveLength(1)
  })

  it('counts twice rather than not at all when a command in flight has no baseline', () => {
    const order = market.placeOrder([{ quantity: 5 }])
    market.acknowledge(order)
    market.ship(order.lines[0], 2, '1Z')
    const [only] = buildLedgers(market.read(order), [{ ...contentByKey('ship', 2), state: 'held', baseline: null }])
    expect(only && done(only, 'ship')).toBe(4)
  })
})

// A program in small: commands are accepted, sent one at a time, lost, settled; the order is read now and then.
const move = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      kind: fc.constantFrom('ship', 'cancel', 'refund'),
      quantity: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      fate: fc.constantFrom('answered', 'lost-applied', 'lost-not-applied', 'refused'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('buyer-cancels' as const) }) },
)

interface Stored {
  content: DirectCommandContent
  state: CommandState
  baseline: Record<string, LineUnits> | null
  landed: boolean
}

describe('the unit ledger over a life', () => {
  it('never promises a unit twice and never loses sight of one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(move, { maxLength: 40 }), (ordered, moves) => {
        const order = market.placeOrder([{ quantity: ordered }])
        market.acknowledge(order)
        let stored = market.read(order)
        const commands: Stored[] = []
        const ledgers = (): LineLedger[] =>
          buildLedgers(
            stored,
            commands.map(({ content, state, baseline }): LedgerCommand => ({ ...content, state, baseline })),
          )
        let foreign = false
        for (const one of moves) {
          const flying = commands.find((command) => command.state === 'verifying')
          if (one.do === 'accept') {
            const content = contentByKey(one.kind, one.quantity)
            if (reserve(ledgers(), { kind: one.kind, lines: [{ path: '', lineNumber: '3', quantity: one.quantity }] }).ok) {
              commands.push({ content, state: 'pending', baseline: null, landed: false })
            }
          } else if (one.do === 'send' && flying === undefined) {
            const next = commands.find((command) => command.state === 'pending')
            if (next === undefined) continue
            stored = market.read(order)
            if (checkBeforeSend(ledgers(), next.content).length > 0) {
              next.state = 'rejected'
              continue
            }
            next.baseline = { '3': stored.lines[0]?.units ?? nothing }
            if (one.fate === 'refused') {
              next.state = 'rejected'
            } else {
              next.landed = one.fate !== 'lost-not-applied'
              // What passed the check is there to be done, nobody else being at it between the read and the request.
              if (next.landed) expect(market.apply(order, next.content)).toBe(true)
              next.state = one.fate === 'answered' ? 'confirmed' : 'verifying'
            }
          } else if (one.do === 'settle' && flying !== undefined) {
            flying.state = flying.landed ? 'confirmed' : 'pending'
          } else if (one.do === 'read') {
            stored = market.read(order)
          } else if (one.do === 'buyer-cancels') {
            foreign ||= market.cancel(order.lines[0], 1, 'BUYER_CANCELLED')
          }
          const [now] = ledgers()
          const real = market.read(order).lines[0]?.units
          if (now === undefined || real === undefined) throw new Error('the order has lost its line')
          const promised = accounted(now, 'ship') + accounted(now, 'cancel')
          if (!foreign) {
            expect(promised).toBeLessThanOrEqual(ordered)
            // Not one unit less than happened, whether or not the order has been read since.
            expect(done(now, 'ship')).toBeGreaterThanOrEqual(real.shipped)
            expect(done(now, 'cancel')).toBeGreaterThanOrEqual(real.cancelled)
            expect(done(now, 'refund')).toBeGreaterThanOrEqual(real.refunded)
            // And not one more than was ever asked and not refused.
            const asked = (kind: string): number =>
              commands
                .filter((command) => command.content.kind === kind && command.state !== 'rejected')
                .reduce((sum, command) => sum + unitsIn(command.content), 0)
            expect(accounted(now, 'ship')).toBe(asked('ship'))
            expect(accounted(now, 'cancel')).toBe(asked('cancel'))
            expect(accounted(now, 'refund')).toBe(asked('refund'))
          }
          for (const kind of ['ship', 'cancel', 'refund'] as const) expect(available(now, kind)).toBeGreaterThanOrEqual(0)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

const unitsIn = (content: DirectCommandContent): number => {
  if (content.kind === 'acknowledge') return 0
  const lines = content.kind === 'ship' ? content.payload.parcels.flatMap((parcel) => parcel.lines) : content.payload.lines
  return lines.reduce((sum, line) => sum + line.quantity, 0)
}
