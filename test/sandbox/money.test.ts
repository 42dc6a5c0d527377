import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDuration } from '../../sandbox/core/duration.ts'
import { computeShare, decimalText, jsonAmount, parseCents } from '../../sandbox/core/money.ts'

const cents = fc.integer({ min: -100_000_000_000, max: 100_000_000_000 })

test('an amount survives the wire to the cent', () => {
  fc.assert(
    fc.property(cents, (amount) => {
      expect(parseCents(JSON.parse(JSON.stringify(jsonAmount(amount))))).toBe(amount)
      expect(JSON.stringify(jsonAmount(amount))).toBe(decimalText(amount))
      expect(parseCents(decimalText(amount))).toBe(amount)
    }),
  )
})

test.each(['1e3', '1.001', '', 'abc', '--1', null, true, Number.NaN, 1e21])('%j is no amount', (value) => {
  expect(parseCents(value)).toBeNull()
})

test('shares of the units of a line add up to its charge', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000_000 }), fc.integer({ min: 1, max: 50 }), (total, units) => {
      let paid = 0
      for (let unit = 1; unit <= units; unit += 1) {
        const step = computeShare(total, unit, units) - computeShare(total, unit - 1, units)
        expect(step).toBeGreaterThanOrEqual(0)
        paid += step
      }
      expect(paid).toBe(total)
    }),
  )
})

test('durations', () => {
  expect(['250ms', '5s', '10m', '2h', '3d', '1.5h'].map(parseDuration)).toEqual([
    250, 5_000, 600_000, 7_200_000, 259_200_000, 5_400_000,
  ])
  expect(['5', 's', '-1s', '1 s', '1w', ''].map(parseDuration)).toEqual([null, null, null, null, null, null])
})
