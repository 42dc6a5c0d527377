import { describe, expect, test } from 'vitest'
import type { Operation, RateLimit } from '../../../src/clients/http/operation.ts'
import { type BudgetSignal, type FindLimit, type Grant, giveBack } from '../../../src/clients/rate-limit/budget.ts'
import { createSharedBudget, type SharedBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { testStore } from './support/fleet.ts'

const perMinute = (tokens: number): RateLimit => ({ tokens, perMs: 60_000 })
const hourly: RateLimit = { tokens: 1, perMs: 3_600_000 }
const startMs = Date.UTC(2026, 10, 22)
const operation: Operation = { name: 'orders.ship', limit: perMinute(60), payloadKeys: [] }
const answer = (status: number, said: Partial<BudgetSignal> = {}): BudgetSignal => ({
  ...{ status, remaining: null, replenishAt: null, retryAfter: null },
  ...said,
})

/** Processes that share limits, in virtual time. */
const stage = () => {
  const time = { nowMs: startMs, onTheWay: () => Promise.resolve() }
  const store = testStore(
    () => time.nowMs,
    () => time.onTheWay(),
  )
  const reports: string[] = []
  const start = (id: string, findLimit: FindLimit = (_seller, { limit }) => limit, shared: typeof store = store) =>
    createSharedBudget({
      ...{ store: shared, id, findLimit, wallMs: () => time.nowMs, monotonicMs: () => time.nowMs - startMs, random: () => 0.5 },
      ...{ defer: queueMicrotask, timeoutMs: null },
      report: { unavailable: () => void reports.push('unavailable'), recovered: () => void reports.push('recovered') },
    })
  const findWait = async (budget: SharedBudget, of = operation): Promise<number> => {
    const result = await budget.take('S', of)
    return result.granted ? 0 : result.availableAt.getTime() - time.nowMs
  }
  const drain = async (budget: SharedBudget, of = operation): Promise<number> => {
    let count = 0
    while ((await budget.take('S', of)).granted) count += 1
    return count
  }
  const readGrant = async (budget: SharedBudget, of = operation): Promise<Grant> => {
    const result = await budget.take('S', of)
    if (!result.granted) throw new Error('there is no permit')
    return result
  }
  return { time, store, start, findWait, drain, readGrant, reports }
}

describe('while the store is unavailable', () => {
  test('callers wait for seconds, without a request to the store each, and go on when it is back', async () => {
    const { time, store, start, findWait, reports } = stage()
    const scarce = { ...operation, limit: hourly }
    const budget = start('one')
    expect(await findWait(budget)).toBe(0)
    store.isAway = true
    const calls = store.calls
    for (let asked = 0; asked < 20; asked += 1) {
      for (const each of [operation, scarce]) expect(await findWait(budget, each)).toBe(1_500)
    }
    expect(store.calls).toBe(calls + 1)
    time.nowMs += 1_500
    expect(await findWait(budget)).toBe(1_500)
    store.isAway = false
    time.nowMs += 1_500
    expect(await findWait(budget)).toBe(0)
    expect(reports).toEqual(['unavailable', 'unavailable', 'recovered'])
  })

  test('also at the start of a process', async () => {
    const { time, store, start, findWait } = stage()
    store.isAway = true
    const budget = start('one')
    expect(await findWait(budget)).toBe(1_500)
    store.isAway = false
    time.nowMs += 1_500
    expect(await findWait(budget)).toBe(0)
  })

  test('what answers say is kept, and told to the others afterwards', async () => {
    const { time, store, start, findWait } = stage()
    const [one, two] = [start('one'), start('two')]
    await one.take('S', operation)
    store.isAway = true
    await one.learn('S', operation, answer(429, { retryAfter: new Date(startMs + 3_600_000) }))
    expect(one.snapshot()).toMatchObject([{ available: 0, blockedUntil: new Date(startMs + 3_600_000) }])
    store.isAway = false
    time.nowMs += 1_500
    expect(await findWait(one)).toBeGreaterThan(3_000_000)
    expect(await findWait(two)).toBeGreaterThan(3_000_000)
  })

  test('nothing is used twice if the store has written, but its answer was lost', async () => {
    const { time, store, start, drain, readGrant } = stage()
    const budget = start('one')
    const grant = await readGrant(budget)
    let isLost = true
    time.onTheWay = async () => {
      isLost = !isLost
      if (isLost) throw new Error('the answer was lost')
    }
    isLost = false
    await giveBack(grant)
    time.onTheWay = () => Promise.resolve()
    time.nowMs += 2_000
    const before = store.calls
    expect(await drain(budget)).toBeLessThanOrEqual(6)
    expect(store.calls).toBeGreaterThan(before)
  })
})

describe('two processes', () => {
  test('that draw at the same time get what one would get', async () => {
    const { start } = stage()
    const asked = ['one', 'two', 'three']
      .map((id) => start(id))
      .flatMap((budget) => [1, 2, 3, 4].map(() => budget.take('S', operation)))
    expect((await Promise.all(asked)).filter(({ granted }) => granted)).toHaveLength(5)
  })

  test('what one gives back the other one can use, unless the marketplace has counted since', async () => {
    const { start, findWait, readGrant } = stage()
    const scarce = { ...operation, limit: hourly }
    const [one, two] = [start('one'), start('two')]
    const unused = await readGrant(one, scarce)
    expect(await findWait(two, scarce)).toBeGreaterThan(0)
    await giveBack(unused)
    const used = await readGrant(two, scarce)
    await giveBack(unused)
    await one.learn('S', scarce, answer(429))
    await giveBack(used)
    for (const budget of [one, two]) expect(await findWait(budget, scarce)).toBeGreaterThan(0)
  })

  test('a store that loses its content gives neither a second call within the hour', async () => {
    const { time, store, start, findWait } = stage()
    const scarce = { ...operation, limit: hourly }
    const budgets = [start('one'), start('two')]
    const granted = async () => {
      let count = 0
      for (const budget of budgets) if ((await findWait(budget, scarce)) === 0) count += 1
      return count
    }
    expect(await granted()).toBe(1)
    for (let time = 0; time < 3; time += 1) {
      store.lose()
      expect(await granted()).toBe(0)
    }
    time.nowMs += 3_700_000
    expect(await granted()).toBe(1)
  })

  test('an operation that each process calls for itself is not shared', async () => {
    const { time, store, start, drain } = stage()
    const own = { ...operation, limit: perMinute(20), ofEachProcess: true } as const
    for (const id of ['one', 'two']) {
      const budget = start(id)
      expect(await drain(budget, own)).toBe(2)
      await budget.learn('S', own, answer(429, { retryAfter: new Date(time.nowMs + 60_000) }))
      expect(budget.snapshot()).toMatchObject([{ available: 0, blockedUntil: new Date(time.nowMs + 60_000) }])
    }
    expect(store.calls).toBe(0)
  })
})

test('a caller that waits alone gets the time of the next request, and the one behind it one interval more', async () => {
  const { start, findWait } = stage()
  const once = { ...operation, limit: perMinute(2) }
  const [one, two] = [start('one'), start('two')]
  expect(await findWait(one, once)).toBe(0)
  expect(await findWait(two, once)).toBe(30_300)
  expect(await findWait(one, once)).toBe(60_600)
  expect(await findWait(one, { ...once, isShared: true })).toBe(30_300)
})

test('the command that asks in the same tick comes first, and a poll before a backfill', async () => {
  const { start } = stage()
  const budget = start('one')
  const take = (lane: 'command' | 'poll' | 'backfill') => budget.take('S', { ...operation, limit: perMinute(1) }, undefined, lane)
  const results = await Promise.all([take('backfill'), take('poll'), take('command')])
  expect(results.map(({ granted }) => granted)).toEqual([false, false, true])
  const [backfill, poll] = results.map((result) => (result.granted ? 0 : result.availableAt.getTime()))
  expect(backfill).toBeGreaterThan(poll ?? Number.NaN)
})

test('a limit that an operator has set holds, however much the marketplace says remains', async () => {
  const { time, start, findWait } = stage()
  const budget = start('one', () => ({ ...perMinute(1), isSet: true }))
  for (let minute = 0; minute < 3; minute += 1) {
    expect(await findWait(budget)).toBe(0)
    time.nowMs += 50
    await budget.learn('S', operation, answer(200, { remaining: 59 }))
    expect(await findWait(budget)).toBeGreaterThan(59_000)
    time.nowMs += 60_550
  }
})

test.each([1, 2])('a limit that is changed counts at once for %i processes, and what was used stays used', async (processes) => {
  const { start, findWait } = stage()
  let limit = hourly
  const budgets = ['one', 'two'].slice(0, processes).map((id) => start(id, () => limit))
  const waits = async () => {
    const all: number[] = []
    for (const budget of budgets) all.push(await findWait(budget))
    return all
  }
  expect((await waits()).filter((wait) => wait === 0)).toHaveLength(1)
  expect(Math.min(...(await waits()))).toBeGreaterThan(3_500_000)
  limit = perMinute(60)
  expect(Math.max(...(await waits()))).toBe(0)
  limit = hourly
  expect(Math.min(...(await waits()))).toBeGreaterThan(3_500_000)
  expect(Math.max(...(await waits()))).toBeLessThan(4 * 3_700_000)
})

test('a raised limit is not delayed by the times that callers of other lanes were given under the old one', async () => {
  const { start, findWait } = stage()
  let limit = hourly
  const budget = start('one', () => limit)
  for (let asked = 0; asked < 3; asked += 1) await budget.take('S', operation, undefined, 'poll')
  limit = { tokens: 10, perMs: 60_000 }
  await findWait(budget)
  const backfill = await budget.take('S', operation, undefined, 'backfill')
  expect(backfill.granted ? 0 : backfill.availableAt.getTime() - startMs).toBeLessThan(90_000)
})

test.each([-3_600_000, 3_600_000])('an own clock that is set by %i ms changes nothing', async (stepMs) => {
  let [wallMs, monotonicMs] = [startMs, 0]
  const store = testStore(() => startMs + monotonicMs)
  const budget = createSharedBudget({
    ...{ store, id: 'one', findLimit: () => perMinute(60), defer: queueMicrotask, timeoutMs: null },
    ...{ wallMs: () => wallMs, monotonicMs: () => monotonicMs },
  })
  while ((await budget.take('S', operation)).granted);
  wallMs += stepMs
  const result = await budget.take('S', operation)
  const waitMs = result.granted ? 0 : result.availableAt.getTime() - wallMs
  expect(waitMs).toBeGreaterThan(0)
  expect(waitMs).toBeLessThan(5_000)
  monotonicMs += waitMs
  wallMs += waitMs
  expect(await budget.take('S', operation)).toEqual({ granted: true })
})

test('an answer that took long does not bring back what was used meanwhile', async () => {
  const { time, start, drain, readGrant } = stage()
  const budget = start('one')
  const late = await readGrant(budget)
  await budget.learn('S', operation, answer(200, { remaining: 59 }), undefined, late)
  const slow = await readGrant(budget)
  time.nowMs += 15_000
  await drain(budget)
  await budget.learn('S', operation, answer(200, { remaining: 58 }), undefined, slow)
  expect(await drain(budget)).toBe(0)
})

test('what was learned is written when the process ends', async () => {
  const { store, start } = stage()
  const budget = start('one')
  await budget.take('S', operation)
  await budget.learn('S', operation, answer(429))
  await budget.learn('S', operation, answer(200))
  await budget.close()
  const calls = store.calls
  const next = start('two')
  await next.take('S', operation)
  expect(next.snapshot()[0]?.perMinute).toBe(budget.snapshot()[0]?.perMinute)
  expect(store.calls).toBe(calls + 3)
})
