import { expect, test } from 'vitest'
import { createSharedBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { createMemoryStore } from '../../../src/clients/rate-limit/store.ts'

const minute = { tokens: 60, perMs: 60_000 }
const operation = { name: 'orders.list', limit: minute, payloadKeys: [] }

/** Two processes, and a marketplace on a clock of its own that says what remains, or nothing. */
const buildFleet = (isTold: boolean) => {
  const time = { ownMs: Date.UTC(2026, 10, 22), storeMs: Date.UTC(2026, 10, 22) }
  const store = createMemoryStore(() => time.storeMs)
  const budgets = ['A', 'B'].map((id) =>
    createSharedBudget({
      ...{ store, id, findLimit: () => minute, random: () => 0.5, defer: queueMicrotask, timeoutMs: null },
      ...{ wallMs: () => time.ownMs, monotonicMs: () => time.ownMs },
    }),
  )
  const market = { tokens: minute.tokens, over: 0 }
  const drain = async (budget: (typeof budgets)[number]): Promise<number> => {
    for (let calls = 0; ; calls += 1) {
      const permit = await budget.take('S', operation)
      if (!permit.granted) return calls
      if (market.tokens < 1 - 1e-9) market.over += 1
      else market.tokens -= 1
      const remaining = isTold ? Math.floor(market.tokens + 1e-9) : null
      await budget.learn('S', operation, { status: 200, remaining, replenishAt: null, retryAfter: null }, undefined, permit)
    }
  }
  /** Calls in each of some minutes. */
  const play = async (minutes: number): Promise<readonly number[]> => {
    const counts: number[] = []
    for (let at = 0; at < minutes; at += 1) {
      let calls = 0
      for (let second = 0; second < 60; second += 1) {
        for (const budget of budgets) calls += await drain(budget)
        time.ownMs += 1_000
        time.storeMs += 1_000
        market.tokens = Math.min(minute.tokens, market.tokens + 1)
      }
      counts.push(calls)
    }
    return counts
  }
  return { time, play, market }
}

test.each([true, false].flatMap((isTold) => [-30_000, -3_600_000, 30_000, 3_600_000].map((stepMs) => ({ isTold, stepMs }))))(
  'after a failover to a clock that differs by $stepMs ms, two processes go on at their rate (told: $isTold)',
  async (given) => {
    const { time, play, market } = buildFleet(given.isTold)
    const [, before = 0] = await play(2)
    time.storeMs += given.stepMs
    for (const calls of await play(3)) expect(calls).toBeGreaterThanOrEqual(before - 2)
    if (given.stepMs < 0) expect(market.over).toBe(0)
  },
)
