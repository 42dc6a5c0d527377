import { expect, test } from 'vitest'
import { hour, rig, tick } from './support/budget-rig.ts'

const minute = { tokens: 60, perMs: 60_000 }

/** A marketplace on a clock of its own. */
const marketOf = (t: { readonly mono: number }) => {
  let atMs = t.mono
  let tokens = minute.tokens
  const market = {
    over: 0,
    /** One call comes; answers how many are left. */
    arrive: (): number => {
      tokens = Math.min(minute.tokens, tokens + ((t.mono - atMs) * minute.tokens) / minute.perMs)
      atMs = t.mono
      if (tokens < 1 - 1e-9) market.over += 1
      else tokens -= 1
      return Math.floor(tokens + 1e-9)
    },
  }
  return market
}

/** A marketplace that counts aloud, or says nothing; calls in each of some minutes. */
const minutesOf = (isTold: boolean) => {
  const fleet = rig(minute)
  const market = marketOf(fleet.t)
  const two = [fleet.share('A'), fleet.share('B')]
  const drain = async (budget: (typeof two)[number]): Promise<number> => {
    let calls = 0
    for (;;) {
      const leave = await budget.take('S', fleet.operation)
      if (!leave.granted) return calls
      calls += 1
      const left = market.arrive()
      const remaining = isTold ? left : null
      await budget.learn('S', fleet.operation, { status: 200, remaining, replenishAt: null, retryAfter: null }, undefined, leave)
      await tick()
    }
  }
  const play = async (minutes: number): Promise<readonly number[]> => {
    const counts: number[] = []
    for (let at = 0; at < minutes; at += 1) {
      let calls = 0
      for (let second = 0; second < 60; second += 1) {
        for (const budget of two) calls += await drain(budget)
        await fleet.live(two, 1_000)
      }
      counts.push(calls)
    }
    return counts
  }
  return { ...fleet, market, two, play }
}

test.each([
  { isTold: true, setBackMs: 30_000 },
  { isTold: true, setBackMs: hour },
  { isTold: false, setBackMs: 30_000 },
  { isTold: false, setBackMs: hour },
])(
  'after a failover to a clock that is $setBackMs ms behind, two processes go on at their rate (told: $isTold)',
  async ({ isTold, setBackMs }) => {
    const { t, two, live, play, market } = minutesOf(isTold)
    await live(two, 5_000)
    const [, before = 0] = await play(2)
    t.store -= setBackMs
    for (const calls of await play(3)) expect(calls).toBeGreaterThanOrEqual(before - 2)
    expect(market.over).toBe(0)
  },
)

test('a process that was alone and has died before the clock was set back is not waited for as long as that', async () => {
  const { t, share, live, drain } = rig(minute)
  const first = share('A')
  await live([first], 5_000)
  await drain(first)
  t.store -= hour
  const second = share('B')
  let waitedMs = 0
  for (; waitedMs < 120_000 && (await drain(second)) === 0; waitedMs += 1_000) await live([second], 1_000)
  expect(waitedMs).toBeLessThan(60_000)
})
