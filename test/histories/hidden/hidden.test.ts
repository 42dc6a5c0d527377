import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTheatre, type Theatre } from '../theatre.ts'
import { playHiding } from './play.ts'

let theatre: Theatre
beforeAll(async () => {
  theatre = await openTheatre(1)
})
afterAll(() => theatre.stop())

test('orders that lists hide, for hours and for ever, are stored within the cycle of what names or shows them, inside the budget', async () => {
  const { violations, figures } = await playHiding(theatre, {
    orders: 300,
    forEver: 0.15,
    forAWhile: 0.2,
    whileMs: 21_600_000,
    arrivalMs: 10_800_000,
    pollOrdersMs: 900_000,
  })
  expect(violations, figures.join('\n')).toEqual([])
  for (const by of ['event', 'return', 'inventory log'])
    expect(figures.filter((line) => line.includes(`hidden for ever, named by: ${by}`))).toHaveLength(1)
  expect(figures.some((line) => line.startsWith('hidden for ever, not named: 0 of '))).toBe(true)
}, 300_000)
