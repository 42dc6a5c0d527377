import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LossesOfMonth, lossKinds, netLosses } from '../../src/domain/inventory/claims.ts'

const losses = (month: string, more: Partial<LossesOfMonth>): LossesOfMonth => ({
  month,
  lost: 0,
  damaged: 0,
  found: 0,
  unexplained: 0,
  returned: 0,
  ...more,
})
const net = (...months: readonly LossesOfMonth[]) => Object.fromEntries(netLosses(months))

test('found units settle what the report states as lost, then what is missing without a reason, but no damage', () => {
  expect(net(losses('2026-03', { lost: 3, damaged: 2, unexplained: 4, returned: 1, found: 5 }))).toEqual({
    '2026-03': { lost: 0, damaged: 2, missing: 1, returned: 1 },
  })
  expect(net(losses('2026-03', { damaged: 2, found: 5 }))).toMatchObject({ '2026-03': { damaged: 2 } })
})

test('they settle losses of their own and of earlier months, the youngest first, and no later ones', () => {
  const months = [losses('2026-03', { lost: 3 }), losses('2026-01', { lost: 3 }), losses('2026-02', { lost: 2, found: 4 })]
  expect(net(...months)).toMatchObject({ '2026-01': { lost: 1 }, '2026-02': { lost: 0 }, '2026-03': { lost: 3 } })
})

test('whatever was lost and found, the units that stay are the largest deficit of the last months, and each month keeps at most its own', () => {
  const units = fc.integer({ min: 0, max: 9 })
  const month = fc.record({ lost: units, damaged: units, found: units, missing: units, returned: units })
  fc.assert(
    fc.property(fc.array(month, { maxLength: 6 }), (given) => {
      const months = given.map(({ missing, returned, ...rest }, index) =>
        losses(`2026-0${index + 1}`, { ...rest, returned, unexplained: missing + returned }),
      )
      const found = netLosses(months)
      const deficits = months.map((_, from) =>
        months.slice(from).reduce((sum, one) => sum + one.lost + one.unexplained - one.found, 0),
      )
      const left = [...found.values()].reduce((sum, { lost, missing, returned }) => sum + lost + missing + returned, 0)
      expect(left).toBe(Math.max(0, ...deficits))
      for (const [index, one] of months.entries()) {
        const own = { ...one, missing: given[index]?.missing ?? 0 }
        for (const kind of lossKinds) {
          const claimed = found.get(one.month)?.[kind] ?? -1
          expect(claimed).toBeGreaterThanOrEqual(0)
          expect(claimed).toBeLessThanOrEqual(own[kind])
        }
        expect(found.get(one.month)?.damaged).toBe(one.damaged)
      }
    }),
  )
})
