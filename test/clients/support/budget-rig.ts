import { setImmediate as tick } from 'node:timers/promises'
import { expect } from 'vitest'
import type { BudgetStore } from '../../../src/budget-store.ts'
import type { RateLimit } from '../../../src/clients/operation.ts'
import { createSharedBudget } from '../../../src/clients/shared-budget.ts'
import { memoryStore } from './virtual-fleet.ts'

export { tick }
export const hour = 3_600_000
/** Nothing in an answer speaks of what is left. */
export const said = { remaining: null, replenishAt: null, retryAfter: null }
/** One call an hour. */
export const once: RateLimit = { tokens: 1, perMs: hour }

/** A call of the store that waits, until it goes on or fails. */
interface Held {
  go(): void
  fail(): void
}

/** Processes that share the budget of a seller S, step by step in virtual time. */
export const rig = (first: RateLimit) => {
  const t = { wall: Date.UTC(2026, 10, 22), mono: 0, store: Date.UTC(2026, 10, 22) }
  const of = { limit: first }
  /** The marketplace's own bucket. `over`: calls that it would have refused. */
  const market = { tokens: first.tokens, atMs: t.store, sent: 0, over: 0 }
  /** When calls have left. */
  const sent: number[] = []
  /** A call comes to the marketplace. */
  const arrive = () => {
    const { tokens, perMs } = of.limit
    market.tokens = Math.min(tokens, market.tokens + ((t.store - market.atMs) * tokens) / perMs)
    market.atMs = t.store
    market.sent += 1
    sent.push(t.mono)
    if (market.tokens < 1 - 1e-9) market.over += 1
    else market.tokens -= 1
  }
  const store = memoryStore(() => t.store)
  const operation = { name: 'orders.list', limit: first, payloadKeys: [] }
  const other = { ...operation, name: 'orders.get' }
  const ended = new Set<string>()
  const share = (id: string, through: BudgetStore = store) =>
    createSharedBudget({
      store: through,
      id,
      random: () => 0.5,
      hasEnded: (who) => ended.has(who),
      limitOf: (seller) => (seller === 'S' ? of.limit : { tokens: 5_000, perMs: 60_000 }),
      clock: { wallMs: () => t.wall, monotonicMs: () => t.mono },
    })
  type Shared = ReturnType<typeof share>
  const pass = (ms: number) => {
    t.wall += ms
    t.mono += ms
    t.store += ms
  }
  /** What leaves now. */
  const drain = async (budget: Shared, atMost = 10_000) => {
    let calls = 0
    while (calls < atMost && (await budget.take('S', operation)).granted) {
      calls += 1
      arrive()
    }
    return calls
  }
  /** Time passes; beats, and calls of another seller. */
  const live = async (budgets: readonly Shared[], ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      pass(Math.min(1_000, left))
      for (const budget of budgets) {
        await budget.beat()
        await budget.take('T', other)
      }
    }
  }
  /** The most that has left within any time so long. */
  const most = (windowMs: number) =>
    Math.max(...sent.map((from) => sent.filter((at) => at >= from && at < from + windowMs).length))
  /** An hourly call is made while the store is away. */
  const useWhileAway = async (budget: Shared) => {
    await live([budget], 1_000)
    store.isAway = true
    await live([budget], 10_000)
    await drain(budget)
    await live([budget], 3 * hour)
    expect(await drain(budget)).toBe(1)
    store.isAway = false
  }
  /** The store as one process has it: away for it alone, or the next call of a kind held, before it is done or after it. */
  const view = () => {
    const holds: { readonly kind: keyof BudgetStore; readonly when: 'before' | 'after'; readonly end: Promise<void> }[] = []
    const state = { isAway: false }
    const far =
      <Given extends unknown[], Answer>(kind: keyof BudgetStore, ask: (...given: Given) => Promise<Answer>) =>
      async (...given: Given): Promise<Answer> => {
        if (state.isAway) throw new Error('the store is away for this process')
        const place = holds.findIndex((hold) => hold.kind === kind)
        const hold = place < 0 ? undefined : holds.splice(place, 1)[0]
        if (hold?.when === 'before') await hold.end
        const answer = await ask(...given)
        if (hold?.when === 'after') await hold.end
        return answer
      }
    const hold = (kind: keyof BudgetStore, when: 'before' | 'after' = 'before'): Held => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      // One that fails may have nobody who waits for it.
      void Promise.allSettled([promise])
      holds.push({ kind, when, end: promise })
      return { go: () => resolve(), fail: () => reject(new Error('the store does not answer in time')) }
    }
    const through: BudgetStore = {
      read: far('read', store.read),
      swap: far('swap', store.swap),
      put: far('put', store.put),
      announce: far('announce', store.announce),
      leave: far('leave', store.leave),
    }
    return Object.assign(state, { of: through, hold })
  }
  return { market, sent, arrive, t, of, store, operation, other, ended, share, pass, drain, live, most, useWhileAway, view }
}
