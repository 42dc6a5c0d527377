import { describe, expect, test } from 'vitest'
import { rig, said, tick } from './support/budget-rig.ts'

const perMinute = { tokens: 60, perMs: 60_000 }

/** Two processes that share, and have used all that they believe to be there. */
const usedUp = async () => {
  const fleet = rig(perMinute)
  const [a, b] = [fleet.share('A'), fleet.share('B')]
  /** What the marketplace answers just now. */
  const answer = () => ({ status: 200, ...said, remaining: Math.floor(fleet.market.tokens) })
  await fleet.live([a, b], 5_000)
  for (const budget of [a, b, a, b]) {
    while ((await budget.take('S', fleet.operation)).granted) {
      fleet.arrive()
      await budget.learn('S', fleet.operation, answer())
    }
  }
  return { ...fleet, a, b, answer }
}

describe('what an answer says to be left, more than was thought', () => {
  test('is used by all processes at once, though they have drawn as many within the last seconds', async () => {
    const { a, b, pass, drain, operation, answer, market } = await usedUp()
    // Requests that were drawn and never left.
    market.tokens += 10
    pass(1_100)
    expect(await drain(a, 1)).toBe(1)
    await a.learn('S', operation, answer())
    await tick()
    expect((await drain(b)) + (await drain(a))).toBeGreaterThanOrEqual(8)
    expect(market.over).toBe(0)
  })

  test('is not what others have drawn that the marketplace has not counted', async () => {
    const { a, b, pass, drain, operation, arrive, answer, market } = await usedUp()
    market.tokens += 10
    pass(3_100)
    // Two of B are under way for longer than one of A.
    const underWay = [await b.take('S', operation), await b.take('S', operation)].filter(({ granted }) => granted)
    expect(underWay).toHaveLength(2)
    expect(await drain(a, 1)).toBe(1)
    await a.learn('S', operation, answer())
    await tick()
    const sent = await drain(a)
    for (const _ of underWay) arrive()
    expect(sent).toBeGreaterThan(0)
    expect(market.over).toBe(0)
  })

  test('is not what another process has drawn since its request was, answered or not', async () => {
    const { a, b, live, operation, arrive, drain, answer, market } = await usedUp()
    market.tokens += 4
    await live([a, b], 10_000)
    expect((await a.take('S', operation)).granted).toBe(true)
    arrive()
    const early = answer()
    // Counted after that answer was made, and answered before it comes.
    const inBetween = await drain(b)
    expect(inBetween).toBeGreaterThan(5)
    for (let calls = 0; calls < inBetween; calls += 1) await b.learn('S', operation, { status: 500, ...said })
    await drain(a)
    await a.learn('S', operation, early)
    await tick()
    await drain(a)
    await drain(b)
    expect(market.over).toBe(0)
  })
})
