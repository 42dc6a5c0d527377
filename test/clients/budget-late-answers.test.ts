import { expect, test } from 'vitest'
import type { SharedBudget } from '../../src/clients/shared-budget.ts'
import { rig, tick } from './support/budget-rig.ts'

type Fleet = ReturnType<typeof rig>

/** A request leaves, and is counted at once; its answer says what was left then. Null: it may not leave. */
const callOf =
  ({ market, arrive, operation, t }: Fleet) =>
  async (budget: SharedBudget) => {
    const leave = await budget.take('S', operation)
    if (!leave.granted) return null
    arrive()
    const remaining = Math.max(0, Math.floor(market.tokens + 1e-9))
    const replenishAt = new Date(Math.ceil(t.wall + (remaining + 1 - market.tokens) * 1_000))
    const signal = { status: 200, remaining, replenishAt, retryAfter: null }
    return { remaining, come: () => budget.learn('S', operation, signal, undefined, leave) }
  }

/** Processes that share, and have learned that the marketplace counts aloud. */
const counted = async (processes: number) => {
  const fleet = rig({ tokens: 60, perMs: 60_000 })
  const { live } = fleet
  const budgets = ['A', 'B'].slice(0, processes).map((id) => fleet.share(id))
  const call = callOf(fleet)
  const useAll = async () => {
    for (const budget of budgets) {
      for (let answer = await call(budget); answer !== null; answer = await call(budget)) {
        await answer.come()
        await tick()
      }
    }
  }
  await live(budgets, 5_000)
  const [first] = budgets
  if (first === undefined) throw new Error('no process')
  await (await call(first))?.come()
  await tick()
  await live(budgets, 5_000)
  return { ...fleet, budgets, first, call, useAll }
}

test.each([
  { processes: 1, busySeconds: 15, idleSeconds: 0 },
  { processes: 1, busySeconds: 25, idleSeconds: 0 },
  { processes: 1, busySeconds: 5, idleSeconds: 20 },
  { processes: 2, busySeconds: 15, idleSeconds: 0 },
  { processes: 2, busySeconds: 25, idleSeconds: 0 },
  { processes: 2, busySeconds: 5, idleSeconds: 20 },
])(
  'an answer that was long on its way does not bring back what was used meanwhile ($processes, $busySeconds s, $idleSeconds s)',
  async ({ processes, busySeconds, idleSeconds }) => {
    const { budgets, first, call, useAll, live, drain, market } = await counted(processes)
    const late = await call(first)
    expect(late?.remaining).toBeGreaterThan(50)
    await useAll()
    for (let second = 0; second < busySeconds; second += 1) {
      await live(budgets, 1_000)
      await useAll()
    }
    for (let second = 0; second < idleSeconds; second += 1) await live(budgets, 1_000)
    await late?.come()
    await tick()
    for (const budget of budgets) await drain(budget)
    expect(market.over).toBe(0)
  },
)

test.each([10, 20, 30])(
  'what was answered counts once, though the store was written and its answer was lost (%i under way elsewhere)',
  async (underWay) => {
    const fleet = rig({ tokens: 60, perMs: 60_000 })
    const { market, arrive, operation, live, pass, drain, store, share, t } = fleet
    let toLose = 0
    const [a, b] = [
      share('A', {
        ...store,
        swap: async (name, version, text) => {
          const isWritten = await store.swap(name, version, text)
          // When nearly all is used.
          const stored: unknown = JSON.parse(text)
          const arrivalMs = typeof stored === 'object' && stored !== null && 'arrivalMs' in stored ? Number(stored.arrivalMs) : 0
          if (toLose === 0 || !isWritten || !name.includes('"S"') || arrivalMs < t.store + 58_000) return isWritten
          toLose -= 1
          throw new Error('the answer of the store was lost')
        },
      }),
      share('B'),
    ]
    const call = callOf(fleet)
    await live([a, b], 5_000)
    for (const budget of [a, b]) {
      await (await call(budget))?.come()
      await tick()
    }
    await live([a, b], 25_000)
    // Drawn, and not come to the marketplace yet.
    let onTheWay = 0
    while (onTheWay < underWay && (await b.take('S', operation)).granted) onTheWay += 1
    expect(onTheWay).toBe(underWay)
    toLose = 1
    for (let answer = await call(a); answer !== null; answer = await call(a)) {
      await answer.come()
      await tick()
    }
    expect(toLose).toBe(0)
    for (let round = 0; round < 3; round += 1) {
      const held: NonNullable<Awaited<ReturnType<typeof call>>>[] = []
      for (let answer = await call(a); answer !== null; answer = await call(a)) held.push(answer)
      for (const answer of held) {
        await answer.come()
        await tick()
      }
      pass(1_100)
    }
    await drain(a)
    await drain(b)
    for (let at = 0; at < underWay; at += 1) arrive()
    expect(market.over).toBe(0)
  },
)
