import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CorrectionPayload, OrderCommandContent, ShipPayload } from '../../src/domain/commands/command.ts'
import { listUnits, readStoredCommand } from '../../src/domain/commands/command.ts'
import { checkCorrection, findUncorrected, narrowToView } from '../../src/domain/commands/correction.ts'
import { judge, takeBaseline } from '../../src/domain/commands/evidence.ts'
import { buildProof, raiseBaseline } from '../../src/domain/commands/proof.ts'
import { readEvent } from '../../src/domain/events/event-reading.ts'
import { type PlanOptions, planCommands } from '../../src/domain/events/events.ts'
import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import { available, buildLedgers, checkBeforeSend, type LedgerCommand } from '../../src/domain/orders/units.ts'
import { vocabulary } from '../support/vocabulary.ts'
import * as market from './support/marketplace.ts'

const { statuses } = vocabulary
const purchaseOrderId = '1796277083022'
const shippedAt = '2026-03-01T09:30:00.000Z'
const wrong = '1Z-WRONG'
const right = '1Z-RIGHT'
const zero = new Decimal(0)

/** Lines 3 and 4, three and two units. */
const placeOrder = (): market.Order => {
  const order = market.placeOrder([
    { quantity: 3, sku: 'A' },
    { quantity: 2, sku: 'B' },
  ])
  market.acknowledge(order)
  return order
}

/** Two units of line 3 and one of line 4 are shipped under the wrong number. */
const placeShipped = (): market.Order => {
  const order = placeOrder()
  market.ship(order.lines[0], 2, wrong)
  market.ship(order.lines[1], 1, wrong)
  return order
}

/** As the marketplace shows it: with the times of its parcels, which the marketplace in memory does not know. */
const read = (order: market.Order): PurchaseOrder => {
  const view = market.read(order)
  return {
    ...view,
    lines: view.lines.map((line) => ({
      ...line,
      statuses: line.statuses.map((status) =>
        status.trackingNumber === null ? status : { ...status, shippedAt: new Date(shippedAt), methodCode: 'Standard' },
      ),
    })),
  }
}

const ship = (trackingNumber: string, ...lines: readonly (readonly [lineNumber: string, quantity: number])[]) => {
  const payload: ShipPayload = {
    parcels: [
      {
        carrier: 'UPS',
        trackingNumber,
        trackingUrl: null,
        method: 'Value',
        shippedAt,
        lines: lines.map(([lineNumber, quantity]) => ({ lineNumber, quantity })),
      },
    ],
  }
  return { kind: 'ship', payload } as const
}

const correction = (
  from: string,
  to: string,
  ...lines: readonly (readonly [lineNumber: string, quantity: number])[]
): { readonly kind: 'correct-shipment'; readonly payload: CorrectionPayload } => ({
  kind: 'correct-shipment',
  payload: {
    trackingNumber: from,
    replacement: { carrier: 'UPS', trackingNumber: to, trackingUrl: null },
    lines: lines.map(([lineNumber, quantity]) => ({ lineNumber, quantity, shippedAt, method: 'Standard' })),
  },
})

const inState = (state: LedgerCommand['state'], content: OrderCommandContent): LedgerCommand => ({
  ...content,
  state,
  baseline: null,
})

const plan = (
  order: PurchaseOrder,
  { from = wrong, to = right, replacement = {} }: { from?: string; to?: string; replacement?: object } = {},
  options: Partial<PlanOptions> = {},
) => {
  const data = {
    purchaseOrderId,
    trackingNumber: from,
    replacement: { carrier: 'UPS', trackingNumber: to, ...replacement },
  }
  const event = readEvent({ type: 'erp.shipment.corrected', data })
  const ledgers = buildLedgers(order, options.commands ?? [])
  const result = planCommands(event, order, ledgers, { vocabulary, correctsShipments: true, ...options })
  if (result.ok) expect(result.ledgers).toEqual(ledgers)
  return result
}

const planned = (...parameters: Parameters<typeof plan>): CorrectionPayload | null => {
  const result = plan(...parameters)
  if (!result.ok) throw new Error(JSON.stringify(result.faults))
  const [command] = result.commands
  if (command === undefined) return null
  if (command.kind !== 'correct-shipment') throw new Error(`a command of the kind ${command.kind}`)
  return command.payload
}

const listFaults = (result: ReturnType<typeof plan>): Record<string, string> => {
  if (result.ok) throw new Error('no fault')
  return Object.fromEntries(result.faults.map(({ path, message }) => [path, message]))
}

describe('a corrected shipment', () => {
  it('becomes one command with the units that are shipped under the wrong number, line by line', () => {
    expect(planned(read(placeShipped()), { replacement: { carrier: 'USPS', trackingUrl: 'https://t.example/1' } })).toEqual({
      trackingNumber: wrong,
      replacement: { carrier: 'USPS', trackingNumber: right, trackingUrl: 'https://t.example/1' },
      lines: [
        { lineNumber: '3', quantity: 2, shippedAt, method: 'Standard' },
        { lineNumber: '4', quantity: 1, shippedAt, method: 'Standard' },
      ],
    })
  })

  it('finds its parcel without regard to case and punctuation, and keeps the order’s spelling', () => {
    expect(planned(read(placeShipped()), { from: '1zwrong' })?.trackingNumber).toBe(wrong)
  })

  it('repeats the override of lines whose buyer has asked to cancel', () => {
    const order = read(placeShipped())
    const lines = order.lines.map((line) => ({ ...line, intentToCancel: line.lineNumber === '4' }))
    expect(planned({ ...order, lines })?.lines.map((line) => line.intentToCancelOverride)).toEqual([undefined, true])
  })

  it('is refused where the profile has no corrections, with what to do', () => {
    const result = plan(read(placeShipped()), {}, { correctsShipments: false })
    expect(listFaults(result)).toEqual({ type: expect.stringContaining('change it in its seller center') })
  })

  it('is refused for a number that is not of the order, with the known ones', () => {
    const order = placeShipped()
    market.ship(order.lines[1], 1, '1Z-OTHER')
    expect(listFaults(plan(read(order), { from: '1Z-NONE' }))).toEqual({
      'data.trackingNumber': `is 1Z-NONE, which is not a tracking number of the order; the order's tracking numbers are: ${wrong}, 1Z-OTHER`,
    })
    expect(listFaults(plan(read(placeOrder())))['data.trackingNumber']).toContain('tracking numbers are: none')
  })

  it('is refused if both numbers are the same, or the marketplace ships the order itself', () => {
    const faults = listFaults(plan(read(placeShipped()), { to: wrong.toLowerCase() }))
    expect(faults['data.replacement.trackingNumber']).toContain('needs another one')
    const order = placeShipped()
    order.shipNodeType = 'WFSFulfilled'
    expect(listFaults(plan(read(order)))['data.purchaseOrderId']).toContain('the seller cannot correct it')
  })

  it('needs the address of an unknown carrier, and names unknown members', () => {
    const carriers = new Set(['UPS', 'USPS'])
    const options = { vocabulary: { ...vocabulary, carriers } }
    expect(planned(read(placeShipped()), { replacement: { carrier: 'usps' } }, options)?.replacement.carrier).toBe('USPS')
    const faults = listFaults(plan(read(placeShipped()), { replacement: { carrier: 'Bike', trackingUri: 'x' } }, options))
    expect(faults['data.replacement.trackingUrl']).toContain('Bike is no carrier')
    expect(faults['data.replacement.trackingUri']).toContain('did you mean trackingUrl?')
  })

  it('is refused as a whole without a replacement, and never reads lines', () => {
    const event = readEvent({
      type: 'erp.shipment.corrected',
      data: { purchaseOrderId, trackingNumber: ' ', lines: [{ quantity: 0 }] },
    })
    expect(event.faults.map(({ path }) => path)).toEqual(['data.trackingNumber', 'data.replacement', 'data.lines'])
    expect(event.entries).toEqual([])
    const [order, ledgers] = [read(placeShipped()), buildLedgers(read(placeShipped()), [])]
    expect(planCommands(event, order, ledgers, { vocabulary, correctsShipments: true }).ok).toBe(false)
  })

  it('counts a shipment that is not settled, whether it shows already or not', () => {
    for (const state of ['pending', 'sending', 'verifying', 'held'] as const) {
      const commands = [inState(state, ship(wrong, ['3', 2]))]
      expect(planned(read(placeOrder()), {}, { commands })?.lines).toEqual([
        { lineNumber: '3', quantity: 2, shippedAt, method: 'Value' },
      ])
    }
    const commands = [inState('verifying', ship(wrong, ['3', 2]))]
    expect(planned(read(placeShipped()), {}, { commands })?.lines.map(({ quantity }) => quantity)).toEqual([2, 1])
    expect(plan(read(placeOrder()), {}, { commands: [inState('rejected', ship(wrong, ['3', 2]))] }).ok).toBe(false)
  })

  it('counts all parcels of an unsettled shipment that have the number', () => {
    const { payload } = ship(wrong, ['3', 1])
    const twice: OrderCommandContent = { kind: 'ship', payload: { parcels: [...payload.parcels, ...payload.parcels] } }
    for (const state of ['pending', 'sending', 'verifying', 'held'] as const) {
      const [line] = planned(read(placeOrder()), {}, { commands: [inState(state, twice)] })?.lines ?? []
      expect([state, line?.quantity]).toEqual([state, 2])
    }
  })

  it('takes the time from our shipment, the parcel as it was shown, or the line, and is refused without any', () => {
    const order = market.read(placeShipped())
    expect(listFaults(plan(order))['data.trackingNumber']).toContain('no time at which the units of line 3, 4 were shipped')
    const [statusDate, earlier] = [new Date('2026-03-02T00:00:00Z'), new Date('2026-03-01T01:00:00Z')]
    const lines = order.lines.map((line) => ({ ...line, statusDate }))
    expect(planned({ ...order, lines })?.lines[0]?.shippedAt).toBe(statusDate.toISOString())
    const shipments = [
      {
        carrier: 'UPS',
        methodCode: null,
        trackingNumber: wrong,
        trackingUrl: null,
        shippedAt: earlier,
        quantity: 2,
        shownQuantity: 2,
        deliveredQuantity: 0,
        deliveredAt: null,
      },
    ]
    const withParcels = { ...order, lines: lines.map((line) => ({ ...line, shipments })) }
    expect(planned(withParcels)?.lines[0]?.shippedAt).toBe(earlier.toISOString())
    const commands = [inState('confirmed', ship(wrong, ['3', 2]))]
    expect(planned(withParcels, {}, { commands })?.lines[0]?.shippedAt).toBe(shippedAt)
  })

  it('leaves out refunded units', () => {
    const order = placeShipped()
    market.deliver(order.lines[0], 2)
    market.refund(order, order.lines[0], 1, [], zero)
    expect(planned(read(order))?.lines.map(({ quantity }) => quantity)).toEqual([1, 1])
  })
})

describe('a correction after another one', () => {
  const lines = [
    ['3', 2],
    ['4', 1],
  ] as const
  const first = correction(wrong, right, ...lines)

  it('with the same content is accepted and does nothing, in any state but rejected', () => {
    for (const state of ['pending', 'sending', 'verifying', 'held'] as const) {
      expect(planned(read(placeShipped()), {}, { commands: [inState(state, first)] })).toBeNull()
    }
    const corrected = placeShipped()
    market.apply(corrected, first)
    expect(planned(read(corrected), {}, { commands: [inState('confirmed', first)] })).toBeNull()
    expect(planned(read(placeShipped()), {}, { commands: [inState('rejected', first)] })).not.toBeNull()
  })

  it('with another content is refused with the number that the units have by now', () => {
    const commands = [inState('pending', first)]
    for (const more of [{ to: '1Z-THIRD' }, { replacement: { carrier: 'USPS' } }]) {
      const faults = listFaults(plan(read(placeShipped()), more, { commands }))
      expect(faults['data.trackingNumber']).toContain(`was corrected to ${right} (UPS) before`)
    }
  })

  it('corrects the new number, and may go back to the old one', () => {
    const commands = [inState('pending', first)]
    expect(planned(read(placeShipped()), { from: right, to: '1Z-THIRD' }, { commands })?.trackingNumber).toBe(right)
    expect(planned(read(placeShipped()), { from: right, to: wrong }, { commands })?.lines).toHaveLength(2)
  })

  it('never undoes a correction for units of another parcel', () => {
    const order = placeShipped()
    market.ship(order.lines[1], 1, right)
    const commands = [inState('pending', first)]
    const faults = listFaults(plan(read(order), { from: right, to: wrong }, { commands }))
    expect(faults['data.trackingNumber']).toContain('it is unclear which of them is meant')
    expect(planned(read(order), { from: right, to: '1Z-THIRD' }, { commands })?.lines.map(({ quantity }) => quantity)).toEqual([
      2, 2,
    ])
  })

  it('of a number that somebody else has changed does nothing if it is the same change', () => {
    const order = placeShipped()
    market.correct(order.lines[0], wrong, right)
    market.correct(order.lines[1], wrong, right)
    const view = read(order)
    const parcel = {
      carrier: 'UPS',
      methodCode: null,
      trackingUrl: null,
      shippedAt: null,
      quantity: 2,
      shownQuantity: 0,
      deliveredQuantity: 0,
      deliveredAt: null,
    }
    const former = {
      ...view,
      lines: view.lines.map((line) => ({ ...line, shipments: [{ ...parcel, trackingNumber: wrong }] })),
    }
    expect(planned(former)).toBeNull()
    expect(listFaults(plan(former, { to: '1Z-THIRD' }))['data.trackingNumber']).toContain(
      'no shipped unit of the order has any more',
    )
  })
})

describe('a correction takes no units', () => {
  it('in ledgers, in whatever state', () => {
    const order = read(placeShipped())
    const content = correction(wrong, right, ['3', 2], ['4', 1])
    for (const state of ['pending', 'verifying', 'confirmed'] as const) {
      const ledgers = buildLedgers(order, [inState(state, content)])
      expect(ledgers).toEqual(buildLedgers(order, []))
      expect(ledgers.map((ledger) => available(ledger, 'ship'))).toEqual([1, 1])
    }
    expect(checkBeforeSend(buildLedgers(order, []), content)).toEqual([])
  })

  it('and is listed with the units that it concerns, whatever is stored of it', () => {
    const { payload } = correction(wrong, right, ['3', 2])
    expect(listUnits(payload)).toEqual([{ lineNumber: '3', quantity: 2 }])
    expect(readStoredCommand('correct-shipment', payload, [])).toEqual({
      content: { kind: 'correct-shipment', payload },
      fault: null,
    })
    const broken = readStoredCommand('correct-shipment', { lines: 'none' }, [{ lineNumber: '3', quantity: 2 }])
    expect(broken).toMatchObject({ content: { kind: 'correct-shipment' }, fault: expect.stringContaining('cannot be read') })
    expect(listUnits(broken.content.payload)).toEqual([{ lineNumber: '3', quantity: 2 }])
    const untimed = { ...payload, lines: payload.lines.map((line) => ({ ...line, shippedAt: 'today' })) }
    expect(readStoredCommand('correct-shipment', untimed, []).fault).toContain('today is no time of shipping')
  })
})

describe('before a correction is sent', () => {
  const { payload } = correction(wrong, right, ['3', 2], ['4', 1])
  const check = (order: market.Order) => checkCorrection(statuses, payload, takeBaseline(read(order)))

  it('the order must show the wrong number; what shows the new one is done', () => {
    expect(check(placeShipped())).toBeNull()
    expect(check(placeOrder())).toEqual({
      state: 'rejected',
      reason: `the order shows no shipped unit with the tracking number ${wrong}; its tracking numbers are: none`,
    })
    const corrected = placeShipped()
    market.apply(corrected, { kind: 'correct-shipment', payload })
    expect(check(corrected)).toMatchObject({ state: 'confirmed', reason: expect.stringContaining('nothing was sent') })
  })

  it('it names the units that the order shows now, in the order’s spelling', () => {
    const order = placeShipped()
    market.refund(order, order.lines[1], 1, [], zero)
    const spelt = { ...payload, trackingNumber: '1zwrong' }
    expect(narrowToView(statuses, spelt, read(order))).toEqual({
      ...payload,
      lines: [{ lineNumber: '3', quantity: 2, shippedAt, method: 'Standard' }],
    })
    expect(narrowToView(statuses, payload, read(placeOrder()))).toBe(payload)
  })

  it('a view that lacks an earlier correction is stale, unless it is the one that is repeated', () => {
    const confirmed = [{ content: correction('1Z-FIRST', wrong, ['3', 2]), baseline: null }]
    const late = placeOrder()
    market.ship(late.lines[0], 2, '1Z-FIRST')
    expect(findUncorrected(statuses, payload, confirmed, read(late))).toContain(`which was corrected to ${wrong}`)
    expect(findUncorrected(statuses, payload, confirmed, read(placeShipped()))).toBeNull()
    expect(findUncorrected(statuses, correction('1Z-FIRST', right, ['3', 2]).payload, confirmed, read(late))).toBeNull()
  })

  it('a view that lacks an equal correction is stale, unless its units were refunded or have another number since', () => {
    const confirmed = [{ content: correction(wrong, right, ['3', 2]), baseline: null }]
    const late = placeShipped()
    expect(findUncorrected(statuses, payload, confirmed, read(late))).toContain(`which was corrected to ${right}`)
    const further = [...confirmed, { content: correction(right, '1Z-LAST', ['3', 2]), baseline: null }]
    expect(findUncorrected(statuses, payload, further, read(late))).toBeNull()
    const again = placeShipped()
    market.apply(again, { kind: 'correct-shipment', payload })
    market.ship(again.lines[0], 1, wrong)
    expect(findUncorrected(statuses, payload, confirmed, read(again))).toBeNull()
    market.refund(late, late.lines[0], 1, [], zero)
    expect(findUncorrected(statuses, payload, confirmed, read(late))).toBeNull()
  })

  it('what our commands prove counts under the number that it was corrected to', () => {
    const proof = buildProof(statuses, [
      { content: ship(wrong, ['3', 2]), baseline: takeBaseline(read(placeOrder())) },
      { content: correction(wrong, right, ['3', 2]), baseline: null },
    ])
    const raised = raiseBaseline(statuses, takeBaseline(read(placeOrder())), proof)
    const tracked = raised.lines[0]?.statuses.filter(({ trackingNumber }) => trackingNumber !== null)
    expect(tracked).toEqual([{ status: 'Shipped', quantity: 2, trackingNumber: '1ZRIGHT', cancellationReason: null }])
    expect(raised.lines[0]?.units.shipped).toBe(2)
  })
})

describe('the evidence of a correction', () => {
  const content = correction(wrong, right, ['3', 2], ['4', 1])
  const before = () => takeBaseline(read(placeShipped()))
  const judged = (change: (order: market.Order) => void, accepted = false) => {
    const order = placeShipped()
    change(order)
    return judge(statuses, content, before(), read(order), accepted).verdict
  }

  it('is the new number on every unit that was under the wrong one', () => {
    expect(judged((order) => market.apply(order, content))).toBe('applied')
    expect(judged(() => undefined)).toBe('not-applied')
    expect(judged((order) => market.correct(order.lines[0], wrong, right))).toBe('unclear')
  })

  it('does not mind deliveries, refunds and further shipments meanwhile', () => {
    const meanwhile = (order: market.Order): void => {
      market.deliver(order.lines[0], 2)
      market.refund(order, order.lines[0], 1, [], zero)
      market.ship(order.lines[1], 1, '1Z-OTHER')
    }
    expect(
      judged((order) => {
        market.apply(order, content)
        meanwhile(order)
      }),
    ).toBe('applied')
    expect(judged(meanwhile)).toBe('not-applied')
  })

  it('is unclear where all units were refunded, or another number appeared', () => {
    expect(judged((order) => market.correct(order.lines[0], wrong, '1Z-THIRD'))).toBe('unclear')
    expect(
      judged((order) => {
        market.refund(order, order.lines[0], 2, [], zero)
        market.refund(order, order.lines[1], 1, [], zero)
      }),
    ).toBe('unclear')
  })

  it('needs no new number where the marketplace said yes and the wrong one is gone', () => {
    const anonymous = (order: market.Order): void => {
      for (const unit of order.lines.flatMap(({ units }) => units)) if (unit.tracking === wrong) unit.tracking = null
    }
    expect(judged(anonymous)).toBe('unclear')
    expect(judged(anonymous, true)).toBe('applied')
    expect(judged(() => undefined, true)).toBe('not-applied')
  })

  it('concerns only the lines that showed the wrong number when it was sent', () => {
    const order = placeOrder()
    market.ship(order.lines[0], 2, wrong)
    const baseline = takeBaseline(read(order))
    market.correct(order.lines[0], wrong, right)
    expect(judge(statuses, content, baseline, read(order)).lines.map(({ lineNumber }) => lineNumber)).toEqual(['3'])
    expect(judge(statuses, content, baseline, read(order)).verdict).toBe('applied')
  })

  it('never calls an untouched order applied, nor a corrected one untouched, whatever else happens', () => {
    const step = fc.record({ what: fc.constantFrom('deliver', 'refund', 'ship'), line: fc.nat(1), keeps: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), fc.boolean(), fc.boolean(), fc.nat(6), (steps, isApplied, keeps, place) => {
        const order = { ...placeShipped(), refundKeepsTracking: keeps }
        const baseline = takeBaseline(read(order))
        for (const [index, { what, line }] of [...steps, { what: 'end', line: 0 }].entries()) {
          if (isApplied && index === Math.min(place, steps.length)) market.apply(order, content)
          if (what === 'deliver') market.deliver(order.lines[line], 1)
          if (what === 'refund') market.refund(order, order.lines[line], 1, [], zero)
          if (what === 'ship') market.ship(order.lines[line], 1, '1Z-OTHER')
        }
        const hasNew = order.lines.some(({ units }) => units.some(({ tracking }) => tracking === right))
        const { verdict } = judge(statuses, content, baseline, read(order))
        expect(verdict).not.toBe(hasNew ? 'not-applied' : 'applied')
      }),
    )
  })
})
