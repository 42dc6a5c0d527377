import { describe, expect, test } from 'vitest'
import type { SharedBudget } from '../../src/clients/shared-budget.ts'
import { rig, said, tick } from './support/budget-rig.ts'

const perMinute = { tokens: 60, perMs: 60_000 }

/** Two processes that share, and have used all that they believe to be there. */
const usedUp = async () => {
  const fleet = rig(perMinute)
  const { operation, market, arrive } = fleet
  const [a, b] = [fleet.share('A'), fleet.share('B')]
  /** A request leaves; what its answer says as of now. Null: it may not. */
  const call = async (budget: SharedBudget, status = 200) => {
    const leave = await budget.take('S', operation)
    if (!leave.granted) return null
    arrive()
    const remaining = status === 200 ? Math.floor(market.tokens) : null
    return { come: () => budget.learn('S', operation, { status, ...said, remaining }, undefined, leave) }
  }
  /** A request leaves, and its answer comes at once and is stored. */
  const exchange = async (budget: SharedBudget) => {
    const answer = await call(budget)
    expect(answer).not.toBeNull()
    await answer?.come()
    await tick()
  }
  await fleet.live([a, b], 5_000)
  for (const budget of [a, b, a, b]) {
    let answer = await call(budget)
    while (answer !== null) {
      await answer.come()
      answer = await call(budget)
    }
  }
  return { ...fleet, a, b, call, exchange }
}

describe('what an answer says to be left, more than was thought', () => {
  test('is used by all processes at once, though they have drawn as many within the last seconds', async () => {
    const { a, b, pass, drain, exchange, market } = await usedUp()
    // Requests that were drawn and never left.
    market.tokens += 10
    pass(1_100)
    await exchange(a)
    expect((await drain(b)) + (await drain(a))).toBeGreaterThanOrEqual(8)
    expect(market.over).toBe(0)
  })

  test('is so although a request of the process is never answered', async () => {
    const { a, b, live, drain, call, exchange, market } = await usedUp()
    await live([a, b], 2_000)
    expect(await call(a)).not.toBeNull()
    for (let second = 0; second < 40; second += 1) {
      const answer = await call(a)
      await answer?.come()
      await live([a, b], 1_000)
    }
    market.tokens += 10
    await exchange(a)
    expect((await drain(b)) + (await drain(a))).toBeGreaterThanOrEqual(8)
    expect(market.over).toBe(0)
  })

  test('is so where processes take turns, and each has had an answer that the others have not heard of', async () => {
    const { share, live, call, market, a, b } = await usedUp()
    const budgets = [a, b, share('C'), share('D')]
    await live(budgets, 10_000)
    const turn = async (second: number) => {
      let sent = 0
      for (const place of [0, 1, 2, 3]) {
        const budget = budgets[(second + place) % 4] ?? a
        for (let answer = await call(budget); answer !== null; answer = await call(budget)) {
          sent += 1
          await answer.come()
          await tick()
        }
      }
      await live(budgets, 1_000)
      return sent
    }
    for (let second = 0; second < 5; second += 1) await turn(second)
    market.tokens += 4
    let sent = 0
    for (let second = 0; second < 8; second += 1) sent += await turn(second)
    expect(sent).toBeGreaterThanOrEqual(11)
    expect(market.over).toBe(0)
  })

  test('is not what others have drawn that the marketplace has not counted', async () => {
    const { a, b, pass, drain, exchange, operation, arrive, market } = await usedUp()
    market.tokens += 10
    pass(3_100)
    // Two of B are under way for longer than one of A.
    const underWay = [await b.take('S', operation), await b.take('S', operation)].filter(({ granted }) => granted)
    expect(underWay).toHaveLength(2)
    await exchange(a)
    const sent = await drain(a)
    for (const _ of underWay) arrive()
    expect(sent).toBeGreaterThan(0)
    expect(market.over).toBe(0)
  })

  test('is not what another process has drawn since its request was, answered or not', async () => {
    const { a, b, live, drain, call, market } = await usedUp()
    market.tokens += 4
    await live([a, b], 10_000)
    const early = await call(a)
    // Counted after that answer was made, and answered before it comes.
    const inBetween = []
    for (let one = await call(b, 500); one !== null; one = await call(b, 500)) inBetween.push(one)
    expect(inBetween.length).toBeGreaterThan(5)
    for (const { come } of inBetween) await come()
    await drain(a)
    await early?.come()
    await tick()
    await drain(a)
    await drain(b)
    expect(market.over).toBe(0)
  })
})
