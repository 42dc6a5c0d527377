import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DemoLine, type DemoOrder, decide, demoSource, planOrder } from '../../src/demo/plan.ts'
import { type WarehouseLine, warehouse } from './warehouse.ts'

const lines = fc
  .array(fc.record({ ordered: fc.integer({ min: 1, max: 8 }), sku: fc.constantFrom('A', 'B', 'C', null), asked: fc.boolean() }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((entries) =>
    entries.map(
      ({ ordered, sku, asked }, index): WarehouseLine => ({
        lineNumber: String(index + 1),
        sku,
        ordered,
        intentToCancel: asked && index === 0,
      }),
    ),
  )
const orderId = fc.integer({ min: 1, max: 1_000_000 }).map((number) => `1088${number}`)

const freshLine = (line: WarehouseLine): DemoLine => ({
  ...line,
  acknowledged: 0,
  cancelled: 0,
  shippable: line.ordered,
  cancellable: line.ordered,
  refundable: 0,
})
const freshOrder = (purchaseOrderId: string, orderLines: readonly WarehouseLine[]): DemoOrder => ({
  sellerId: 'S',
  purchaseOrderId,
  orderDate: new Date('2026-03-01T10:00:00Z'),
  lines: orderLines.map(freshLine),
  commands: [],
})

const sum = (units: ReadonlyMap<string, number>): number => [...units.values()].reduce((total, quantity) => total + quantity, 0)

describe('the plan', () => {
  test('property: short units and parcels take each ordered unit exactly once, and no parcel is empty', () => {
    fc.assert(
      fc.property(orderId, lines, (id, orderLines) => {
        const plan = planOrder(freshOrder(id, orderLines))
        for (const line of orderLines) {
          const planned = [plan.short, ...plan.parcels].map((units) => units.get(line.lineNumber) ?? 0)
          expect(planned.reduce((total, quantity) => total + quantity, 0)).toBe(line.ordered)
        }
        expect(plan.parcels.length).toBeGreaterThanOrEqual(1)
        expect(plan.parcels.length).toBeLessThanOrEqual(2)
        for (const parcel of plan.parcels) expect(sum(parcel)).toBeGreaterThan(0)
      }),
    )
  })

  test('over many orders everything that the demonstration can do happens', () => {
    const orderLines: WarehouseLine[] = [
      { lineNumber: '1', sku: 'A', ordered: 3, intentToCancel: false },
      { lineNumber: '2', sku: 'B', ordered: 1, intentToCancel: false },
    ]
    const plans = Array.from({ length: 300 }, (_, index) => planOrder(freshOrder(`108${index}`, orderLines)))
    expect(plans.some((plan) => plan.short.size > 0)).toBe(true)
    expect(plans.some((plan) => plan.credit.size > 0)).toBe(true)
    expect(plans.some((plan) => plan.parcels.length === 2 && plan.together)).toBe(true)
    expect(plans.some((plan) => plan.parcels.length === 2 && plan.parcels.every((parcel) => parcel.has('1')))).toBe(true)
    expect(plans.filter((plan) => plan.parcels.length === 1).length).toBeGreaterThan(100)
  })
})

describe('decisions', () => {
  test('property: every order comes to its end, each event fits what is available, and no unit is left open', () => {
    fc.assert(
      fc.property(orderId, lines, (id, orderLines) => {
        const store = warehouse('S', id, orderLines)
        for (let round = 0; ; round++) {
          expect(round).toBeLessThan(12)
          const decision = decide(store.order(), new Set())
          if (decision.kind !== 'say') {
            expect(decision.kind).toBe('finished')
            break
          }
          const faults = store.plan(decision.event)
          expect(faults).toEqual([])
          expect(decide(store.order(), new Set())).toEqual({ kind: 'wait' })
          store.settle('confirmed')
        }
        for (const line of store.order().lines) {
          expect(line.shippable).toBe(0)
          expect(line.acknowledged + line.cancelled).toBe(line.ordered)
        }
      }),
    )
  })

  test('property: an order whose commands are refused still comes to an end and no event is said twice', () => {
    fc.assert(
      fc.property(orderId, lines, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (id, orderLines, fates) => {
        const store = warehouse('S', id, orderLines)
        const said = new Set<string>()
        for (const fate of fates) {
          const decision = decide(store.order(), new Set())
          if (decision.kind !== 'say') break
          expect(said.has(decision.event.id)).toBe(false)
          said.add(decision.event.id)
          store.plan(decision.event)
          store.settle(fate ? 'confirmed' : 'rejected')
        }
        expect(decide(store.order(), new Set())).toEqual({ kind: 'finished' })
      }),
    )
  })

  test('property: the same order leads to the same event, byte for byte, so that sending it again is a duplicate', () => {
    fc.assert(
      fc.property(orderId, lines, (id, orderLines) => {
        const first = decide(freshOrder(id, orderLines), new Set())
        const second = decide(freshOrder(id, orderLines), new Set())
        expect(JSON.stringify(first)).toBe(JSON.stringify(second))
      }),
    )
  })

  test('an event that the daemon has answered for good is not said again, even when it left no command', () => {
    const order = freshOrder('1', [{ lineNumber: '1', sku: 'A', ordered: 1, intentToCancel: false }])
    const first = decide(order, new Set())
    if (first.kind !== 'say') throw new Error('expected an event')
    const next = decide(order, new Set([first.event.id]))
    expect(next.kind === 'say' ? next.event.id : next.kind).not.toBe(first.event.id)
  })

  test('a line whose buyer asked to cancel is cancelled with that reason and never shipped', () => {
    const store = warehouse('S', '7', [
      { lineNumber: '1', sku: 'A', ordered: 2, intentToCancel: true },
      { lineNumber: '2', sku: 'A', ordered: 2, intentToCancel: false },
    ])
    const told: unknown[] = []
    for (let decision = decide(store.order(), new Set()); decision.kind === 'say'; decision = decide(store.order(), new Set())) {
      told.push(decision.event.data)
      store.plan(decision.event)
      store.settle('confirmed')
    }
    const [asked] = store.order().lines
    expect(asked?.cancelled).toBe(2)
    expect(told).toContainEqual(
      expect.objectContaining({ lines: [{ lineNumber: '1', quantity: 2, reason: 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL' }] }),
    )
  })

  test.each(['pending', 'sending', 'verifying'])('a %s command of somebody else is waited for as well', (state) => {
    const order = freshOrder('1', [{ lineNumber: '1', sku: 'A', ordered: 1, intentToCancel: false }])
    const commands = [{ eventSource: 'another', eventId: 'x', state }]
    expect(decide({ ...order, commands }, new Set())).toEqual({ kind: 'wait' })
    expect(
      decide({ ...order, commands: [{ ...commands[0], eventSource: null, eventId: null, state: 'held' }] }, new Set()),
    ).toEqual({ kind: 'held' })
  })

  test('an order that somebody else has sent events about is left to them', () => {
    const order = freshOrder('1', [{ lineNumber: '1', sku: 'A', ordered: 1, intentToCancel: false }])
    const by = (eventSource: string | null) => ({ ...order, commands: [{ eventSource, eventId: 'x', state: 'confirmed' }] })
    expect(decide(by('/erp'), new Set())).toEqual({ kind: 'finished' })
    expect(decide(by(null), new Set()).kind).toBe('say')
  })

  test('events carry the source and ids of the demonstration', () => {
    const decision = decide(freshOrder('42', [{ lineNumber: '1', sku: 'A', ordered: 1, intentToCancel: false }]), new Set())
    expect(decision).toMatchObject({
      kind: 'say',
      event: { source: demoSource, id: 'demo-42-accept', type: 'erp.order.accepted' },
    })
  })
})
