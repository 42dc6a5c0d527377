import { setImmediate as tick } from 'node:timers/promises'
import type { BudgetStore } from '../../../src/budget-store.ts'
import type { RateLimit } from '../../../src/clients/operation.ts'
import { createSharedBudget } from '../../../src/clients/shared-budget.ts'
import { memoryStore } from './virtual-fleet.ts'

export { tick }
export const hour = 3_600_000
export const said = { remaining: null, replenishAt: null, retryAfter: null }
export const once: RateLimit = { tokens: 1, perMs: hour }

/** A store of which single calls can be held, before or after they are done. */
export const rig = (first: RateLimit) => {
  const t = { wall: Date.UTC(2026, 10, 22), mono: 0, store: Date.UTC(2026, 10, 22) }
  const of = { limit: first }
  /** The marketplace: a token bucket of its own. `over`: calls that it would have refused. */
  const market = { tokens: first.tokens, atMs: t.store, sent: 0, over: 0 }
  const arrive = () => {
    const { tokens, perMs } = of.limit
    market.tokens = Math.min(tokens, market.tokens + ((t.store - market.atMs) * tokens) / perMs)
    market.atMs = t.store
    market.sent += 1
    if (market.tokens < 1 - 1e-9) market.over += 1
    else market.tokens -= 1
  }
  const store = memoryStore(() => t.store)
  const operation = { name: 'orders.list', limit: first, payloadKeys: [] }
  const other = { ...operation, name: 'orders.get' }
  const ended = new Set<string>()
  const share = (id: string, s: BudgetStore = store) =>
    createSharedBudget({
      store: s,
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
  const drain = async (budget: Shared, most = 10_000) => {
    let n = 0
    while (n < most && (await budget.take('S', operation)).granted) {
      n += 1
      arrive()
    }
    return n
  }
  const live = async (budgets: readonly Shared[], ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      pass(Math.min(1_000, left))
      for (const b of budgets) {
        await b.beat()
        await b.take('T', other)
      }
    }
  }
  /** A store of one process; the call that is held next, before or after it is done. isAway: only for this process. */
  const view = () => {
    const held: { kind: string; when: 'before' | 'after'; go: () => void; fail: () => void; promise: Promise<void> }[] = []
    const v = { isAway: false }
    const wrap =
      <G extends unknown[], A>(kind: string, ask: (...given: G) => Promise<A>) =>
      async (...given: G): Promise<A> => {
        if (v.isAway) throw new Error('away for this one')
        const i = held.findIndex((h) => h.kind === kind)
        const h = i < 0 ? null : held.splice(i, 1)[0]
        if (h?.when === 'before') await h.promise
        const answer = await ask(...given)
        if (h?.when === 'after') await h.promise
        return answer
      }
    const hold = (kind: keyof BudgetStore, when: 'before' | 'after' = 'before') => {
      let go = (): void => undefined
      let fail = (): void => undefined
      const promise = new Promise<void>((resolve, reject) => {
        go = () => resolve()
        fail = () => reject(new Error('deadline'))
      })
      promise.catch(() => undefined)
      held.push({ kind, when, go, fail, promise })
      return { go: () => go(), fail: () => fail() }
    }
    const of: BudgetStore = {
      read: wrap('read', (...g) => store.read(...g)),
      swap: wrap('swap', (...g) => store.swap(...g)),
      put: wrap('put', (...g) => store.put(...g)),
      announce: wrap('announce', (...g) => store.announce(...g)),
      leave: wrap('leave', (...g) => store.leave(...g)),
    }
    return Object.assign(v, { of, hold })
  }
  return { market, arrive, t, of, store, operation, other, ended, share, pass, drain, live, view }
}
