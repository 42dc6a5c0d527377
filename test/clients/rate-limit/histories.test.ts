import { expect, test } from 'vitest'
import { playBudget, type Trouble } from './support/history.ts'

/**
 * `TALLYMAN_SEED=4000 TALLYMAN_HISTORIES=500 npx vitest run test/clients/rate-limit/histories.test.ts` plays others, and more of them; the last test may
 * fail then.
 */
const firstSeed = Number(process.env['TALLYMAN_SEED'] ?? 1)
const histories = Number(process.env['TALLYMAN_HISTORIES'] ?? 40)
const seeds = Array.from({ length: histories }, (_, index) => firstSeed + index)

const ends: readonly (readonly Trouble[])[] = [
  ['kill', 'close'],
  ['kill', 'close', 'sleep'],
  ['step', 'close'],
]

test.each(ends.map((troubles) => [troubles.join(', '), troubles] as const))(
  'no call too many leaves, whatever happens to the processes that share a budget: %s',
  { timeout: 600_000 },
  async (_name, troubles) => {
    for (const seed of seeds) {
      const { told, sent, refused, excess, failures } = await playBudget(seed, troubles)
      expect.soft(failures, told).toEqual([])
      expect.soft(refused, told).toBe(0)
      expect.soft(excess, told).toBeLessThanOrEqual(0)
      expect.soft(sent, told).toBeGreaterThan(0)
    }
  },
)

// A permit may be late by what the store takes to answer, and the next one in time: one call too many for each.
test('hardly a call too many leaves while the store is away or slow', { timeout: 600_000 }, async () => {
  let [allSent, allRefused] = [0, 0]
  for (const seed of seeds) {
    const { told, sent, refused, excess, failures } = await playBudget(seed, ['outage', 'slow', 'kill'])
    expect.soft(failures, told).toEqual([])
    expect.soft(excess, told).toBeLessThanOrEqual(Math.max(2, sent / 20))
    allSent += sent
    allRefused += refused
  }
  expect(allRefused / allSent).toBeLessThan(0.005)
})
