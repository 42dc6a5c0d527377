import { expect, test } from 'vitest'
import { hour, rig, tick } from './support/budget-rig.ts'

type Rig = ReturnType<typeof rig>
/** Calls one after another, each answered with what is left; false: that it has to wait. */
const call = async ({ operation, arrive, market, t, of }: Rig, budget: ReturnType<Rig['share']>): Promise<boolean> => {
  const leave = await budget.take('S', operation)
  if (!leave.granted) return false
  const before = market.over
  arrive()
  const refused = market.over > before
  const nextMs = ((Math.floor(market.tokens) + 1 - market.tokens) * of.limit.perMs) / of.limit.tokens
  await budget.learn('S', operation, {
    status: refused ? 429 : 200,
    retryAfter: null,
    remaining: Math.floor(market.tokens + 1e-9),
    replenishAt: new Date(Math.ceil(t.wall + nextMs)),
  })
  return true
}

test('a part begins empty also where the first answer says that the marketplace counts', async () => {
  const r = rig({ tokens: 60, perMs: 60_000 })
  const { share, live, store, market, other, pass } = r
  const budgets = [share('A'), share('B'), share('C')]
  for (const b of budgets) await b.take('T', other)
  await live(budgets, 5_000)
  // All of them use the limit in full.
  for (let i = 0; i < 400; i += 1) {
    for (const b of budgets) await call(r, b)
    if (i % 10 === 0) for (const b of budgets) await b.beat()
    pass(100)
  }
  // Twice away, shortly.
  store.isAway = true
  await live(budgets, 6_000)
  store.isAway = false
  await live(budgets, 2_000)
  await tick()
  await live(budgets, 1_000)
  store.isAway = true
  await live(budgets, 6_000)
  const before = market.over
  let most = 0
  for (let i = 0; i < 300; i += 1) {
    let now = 0
    for (const b of budgets) while (await call(r, b)) now += 1
    most = Math.max(most, now)
    pass(20)
  }
  // Within six seconds each may use two of its 15 a minute.
  expect(market.over - before).toBe(0)
  expect(most).toBeLessThanOrEqual(3)
})

test('calls of the away time are not counted twice where each answer has said what is left', async () => {
  const r = rig({ tokens: 600, perMs: hour })
  const { share, live, store, market, pass, operation, t } = r
  const a = share('A')
  await live([a], 2_000)
  market.tokens = 300 // another application has used the rest
  expect(await call(r, a)).toBe(true)
  await live([a], 3_000)
  store.isAway = true
  await live([a], 10_000)
  await a.take('S', operation) // its part begins
  await live([a], hour / 2)
  // what has come back, and another application has used them
  market.tokens = 200
  market.atMs = t.store
  let n = 0
  while (n < 140 && (await call(r, a))) n += 1
  pass(100)
  store.isAway = false
  await live([a], 5_000)
  await tick()
  await live([a], 60_000)
  while (market.tokens >= 3 && (await call(r, a))) {
    pass(100)
    await a.beat()
  }
  const leave = await a.take('S', operation)
  expect(leave.granted || leave.availableAt.getTime() - t.wall < 60_000).toBe(true)
})

test('what was used before and while the store was away comes back at one rate, not at two', async () => {
  const r = rig({ tokens: 600, perMs: 60_000 })
  const { share, live, store, drain, pass, t } = r
  const a = share('A')
  await live([a], 2_000)
  const begunMs = t.mono
  // Blind: a burst of 60 and 541 a minute.
  let n = 0
  for (let i = 0; i < 1_000; i += 1) {
    n += await drain(a)
    if (i % 100 === 0) await a.beat()
    pass(10)
  }
  store.isAway = true
  for (let i = 0; i < 1_100; i += 1) {
    if (i % 100 === 0) await a.beat()
    n += await drain(a)
    pass(10)
  }
  store.isAway = false
  await live([a], 1_000)
  await tick()
  for (let i = 0; i < 10; i += 1) {
    n += await drain(a)
    pass(10)
  }
  const allowed = 60 + ((t.mono - begunMs) * 541) / 60_000
  expect(n).toBeLessThanOrEqual(allowed)
})
