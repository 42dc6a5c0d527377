import { expect, test } from 'vitest'
import type { OrderCommandContent } from '../../src/domain/commands/command.ts'
import type { OrderBaseline } from '../../src/domain/commands/evidence.ts'
import * as proof from '../../src/domain/commands/proof.ts'
import { computeProgress } from '../../src/domain/sync/progress.ts'
import { buildParcel, shipment } from '../support/commands.ts'
import { vocabulary } from '../support/vocabulary.ts'

const { provenOrder } = proof
const { statuses } = vocabulary
const buildProof = (confirmed: readonly proof.Confirmed[]) => proof.buildProof(statuses, confirmed)
const raiseBaseline = (line: OrderBaseline, proven: proof.Proof) => proof.raiseBaseline(statuses, line, proven)

const baseline = (
  units: Partial<OrderBaseline['lines'][number]['units']>,
  more: Partial<OrderBaseline['lines'][number]> = {},
): OrderBaseline => ({
  purchaseOrderId: '1',
  lines: [
    {
      lineNumber: '1',
      ordered: 5,
      units: { acknowledged: 5, shipped: 0, cancelled: 0, refunded: 0, ...units },
      statuses: [],
      refundedAmount: '0',
      refundReasons: [],
      ...more,
    },
  ],
})

const shipped = (trackingNumber: string, quantity: number) => shipment(buildParcel(trackingNumber, { '1': quantity }))

const refunded: OrderCommandContent = {
  kind: 'refund',
  payload: {
    lines: [
      {
        lineNumber: '1',
        quantity: 1,
        reason: 'DamagedItem',
        charges: [{ chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '-10.00', currency: 'USD', tax: null }],
      },
    ],
  },
}

test('a confirmed shipment raises a baseline that does not show it, count and tracking number', () => {
  const proof = buildProof([{ content: shipped('1Z-9', 1), baseline: baseline({ shipped: 1 }) }])
  const [line] = raiseBaseline(baseline({}), proof).lines
  expect(line?.units.shipped).toBe(2)
  expect(line?.statuses).toEqual([{ status: 'Shipped', quantity: 1, trackingNumber: '1Z9', cancellationReason: null }])
  expect(computeProgress(provenOrder(proof), baseline({ shipped: 1 })).lagging).toHaveLength(1)
  expect(computeProgress(provenOrder(proof), baseline({ shipped: 2 })).lagging).toEqual([])
})

test('a baseline that shows the count keeps its marks as the marketplace shows them', () => {
  const proof = buildProof([{ content: shipped('1Z-9', 1), baseline: baseline({}) }])
  // A tracking number may be lost when its unit is refunded.
  const shown = baseline(
    { shipped: 1, refunded: 1 },
    { statuses: [{ status: 'Refund', quantity: 1, trackingNumber: null, cancellationReason: null }] },
  )
  expect(raiseBaseline(shown, proof)).toEqual(shown)
})

test('several confirmed commands add up, whatever each one saw before it', () => {
  const proof = buildProof([
    { content: shipped('A', 1), baseline: baseline({}) },
    { content: shipped('A', 2), baseline: null },
  ])
  const [line] = raiseBaseline(baseline({}), proof).lines
  expect(line?.units.shipped).toBe(3)
  expect(line?.statuses).toMatchObject([{ quantity: 3, trackingNumber: 'A' }])
})

test('a refund is raised in what the line shows of refunds', () => {
  const proof = buildProof([{ content: refunded, baseline: baseline({}) }])
  expect(raiseBaseline(baseline({}), proof).lines[0]).toMatchObject({
    units: { refunded: 1 },
    refundedAmount: '10',
    refundReasons: ['DAMAGEDITEM'],
  })
  const moneyOnly = baseline({}, { refundedAmount: '4.00' })
  expect(raiseBaseline(moneyOnly, proof).lines[0]).toMatchObject({ units: { refunded: 0 }, refundedAmount: '10' })
  const unitsOnly = baseline({ refunded: 1 })
  expect(raiseBaseline(unitsOnly, proof)).toEqual(unitsOnly)
})

test('a view is behind, ahead, both or neither, by what can only grow', () => {
  const order = (units: object, more: object = {}) => baseline(units, more)
  expect(computeProgress(order({ shipped: 1 }), order({ shipped: 1, acknowledged: 0 })).order).toBe('same')
  expect(computeProgress(order({ shipped: 1 }), order({ shipped: 2 })).order).toBe('ahead')
  expect(computeProgress(order({ shipped: 1 }), order({ shipped: 0 })).order).toBe('behind')
  expect(computeProgress(order({ shipped: 1 }), order({ shipped: 0, cancelled: 1 })).order).toBe('mixed')
  expect(computeProgress(order({}, { refundedAmount: '5.00' }), order({}, { refundedAmount: '4.99' })).order).toBe('behind')
  expect(computeProgress(order({}), { lines: [] })).toEqual({ order: 'behind', lagging: ['line 1 is missing'] })
})
