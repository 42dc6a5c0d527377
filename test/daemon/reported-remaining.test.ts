import { expect, test } from 'vitest'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import { notifyOnReportedRemaining } from '../../src/jobs/rate-limits/reported-remaining.ts'

const acknowledge = { name: 'orders.acknowledge', limit: { tokens: 60, perMs: 60_000 }, payloadKeys: [], write: true }
const answer = (status: number, remaining: number | null) => ({ status, remaining, replenishAt: null, retryAfter: null })

/** A budget on a clock of its own, and the sellers of whom it was said that their commands may come. */
const noticed = () => {
  let nowMs = Date.UTC(2026, 10, 24)
  const begun: string[] = []
  const now = () => nowMs
  const budget = notifyOnReportedRemaining(
    createInProcessBudget({ now, random: () => 0 }),
    (sellerId) => void begun.push(sellerId),
    now,
  )
  return {
    budget,
    begun,
    passes: (ms: number) => {
      nowMs += ms
    },
    /** Asks until nothing is left, and so many times more; answers how many were let through. */
    ask: async (sellerId: string, more = 5): Promise<number> => {
      let granted = 0
      for (let waiting = 0; waiting < more; ) {
        if ((await budget.take(sellerId, acknowledge)).granted) granted += 1
        else waiting += 1
      }
      return granted
    },
  }
}

test('commands that were told of a tenth of the limit come as soon as the marketplace says what is left', async () => {
  const { budget, begun, passes, ask } = noticed()
  expect(await ask('S')).toBe(5)
  passes(300)
  await budget.learn('S', acknowledge, answer(200, 59))
  expect(begun).toEqual(['S'])
  // Those that are there now are let through at once.
  expect(await ask('S')).toBeGreaterThan(40)
  await budget.learn('S', acknowledge, answer(200, 58))
  expect(begun).toEqual(['S'])
})

test('and once more after a refusal', async () => {
  const { budget, begun, passes, ask } = noticed()
  await ask('S')
  await budget.learn('S', acknowledge, answer(200, 59))
  await ask('S')
  await budget.learn('S', acknowledge, answer(429, null))
  passes(10_000)
  await ask('S')
  await budget.learn('S', acknowledge, answer(200, 40))
  expect(begun).toEqual(['S', 'S'])
})

test('nobody is notified where nobody waits, where nothing is left, where nothing is said, and of what is only read', async () => {
  const { budget, begun, passes, ask } = noticed()
  await budget.take('quiet', acknowledge)
  await budget.learn('quiet', acknowledge, answer(200, 59))
  await ask('silent')
  await budget.learn('silent', acknowledge, answer(200, null))
  await ask('empty')
  await budget.learn('empty', acknowledge, answer(200, 0))
  await budget.learn('reader', { ...acknowledge, name: 'orders.get', write: false }, answer(200, 59))
  await ask('patient')
  passes(120_000)
  await budget.learn('patient', acknowledge, answer(200, 59))
  expect(begun).toEqual([])
})
