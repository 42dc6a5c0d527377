import { setImmediate as letOthersRun } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type BudgetSignal, fullBucket } from '../../src/clients/bucket.ts'
import { giveBack, nameOfBucket } from '../../src/clients/budget.ts'
import type { RateLimit } from '../../src/clients/operation.ts'
import { createSharedBudget, type SharedBudget } from '../../src/clients/shared-budget.ts'
import { readStored } from '../../src/clients/stored-memory.ts'
import { type FleetOptions, memoryStore, runFleet } from './support/virtual-fleet.ts'

const perMinute = (tokens: number): RateLimit => ({ tokens, perMs: 60_000 })
const always = (tokens: number): Pick<FleetOptions, 'allows'> => ({ allows: () => perMinute(tokens) })
const tenMinutes = 600_000

/** Requests that the marketplace let through, of those that came back to its bucket after the first burst. */
const steadyShare = ({ sent, allowed }: { sent: number; allowed: number }, burst: number): number => sent / (allowed - burst)

describe('where the marketplace counts aloud', () => {
  test.each([1, 2, 4])('%i processes use at least 98 percent of what is allowed, and none is refused', async (processes) => {
    for (const tokens of [5, 60, 600]) {
      const { sent, allowed, refused } = await runFleet({ processes, durationMs: tenMinutes, ...always(tokens), tells: true })
      expect(refused).toBe(0)
      expect(sent / allowed).toBeGreaterThanOrEqual(0.98)
    }
  })

  test('its count wins over the table, be it more or less', async () => {
    const more = await runFleet({ processes: 1, durationMs: tenMinutes, ...always(120), believed: perMinute(60), tells: true })
    expect(more.sent / more.allowed).toBeGreaterThanOrEqual(0.98)
    expect(more.refused).toBe(0)
    const less = await runFleet({ processes: 2, durationMs: tenMinutes, ...always(30), believed: perMinute(60), tells: true })
    expect(less.sent / less.allowed).toBeGreaterThanOrEqual(0.98)
    expect(less.refused / less.sent).toBeLessThan(0.01)
  })

  test.each([1, 2, 4])(
    'its count wins over a table that is too low for %i processes, also when answers overlap',
    async (processes) => {
      for (const [tokens, table, latencyMs] of [
        [120, 60, 40],
        [120, 60, 2_000],
        [60, 10, 40],
        [60, 10, 2_000],
        [600, 60, 300],
      ] as const) {
        const run = { processes, durationMs: tenMinutes, ...always(tokens), believed: perMinute(table), latencyMs, workers: 16 }
        const { sent, allowed, refused } = await runFleet({ ...run, tells: true })
        expect.soft(sent / allowed, `${tokens} for ${table}, ${latencyMs} ms`).toBeGreaterThanOrEqual(0.92)
        expect.soft(refused / sent, `${tokens} for ${table}, ${latencyMs} ms`).toBeLessThan(0.01)
      }
    },
  )

  test.each([1, 2])('%i processes leave to another application what it takes', async (processes) => {
    const foreignPerMinute = 20
    const { sent, allowed, refused } = await runFleet({
      processes,
      durationMs: tenMinutes,
      ...always(60),
      foreignPerMinute,
      tells: true,
    })
    expect(refused / sent).toBeLessThan(0.01)
    expect(sent / (allowed - 10 * foreignPerMinute)).toBeGreaterThanOrEqual(0.98)
  })

  test.each([1, 2, 4])(
    '%i processes go slower where it takes much, instead of being refused again and again',
    async (processes) => {
      for (const [tokens, foreignPerMinute, latencyMs] of [
        [60, 40, 40],
        [600, 200, 300],
        [600, 100, 300],
      ] as const) {
        const fleet = await runFleet({
          processes,
          durationMs: tenMinutes,
          ...always(tokens),
          foreignPerMinute,
          latencyMs,
          tells: true,
        })
        expect(fleet.refused / fleet.requests.length).toBeLessThan(0.02)
        expect(fleet.sent / (fleet.allowed - 10 * foreignPerMinute)).toBeGreaterThanOrEqual(0.98)
      }
    },
  )
})

describe('where the marketplace counts aloud, several processes', () => {
  test.each([2, 4])("%i of them do not stand in each other's way where the store is some way off", async (processes) => {
    for (const [tokens, storeMs, least] of [
      [5_000, 30, 0.98],
      [5_000, 60, processes === 2 ? 0.8 : 0.4],
      [600, 100, 0.9],
    ] as const) {
      const run = { processes, durationMs: 120_000, ...always(tokens), storeMs, workers: 16, latencyMs: 100, tells: true }
      const { requests, storeCalls, refused } = await runFleet(run)
      const second = requests.filter(({ atMs }) => atMs > 60_000)
      expect.soft(second.length / tokens, `${tokens} a minute, ${storeMs} ms`).toBeGreaterThanOrEqual(least)
      expect.soft(storeCalls / requests.length, `${tokens} a minute, ${storeMs} ms`).toBeLessThan(6)
      expect(refused).toBe(0)
    }
  })

  test.each([2, 4])('%i of them use all again once another application that took all has gone', async (processes) => {
    for (const [tokens, times] of [
      [600, 1.2],
      [600, 1.5],
      [300, 2],
      [60, 2],
    ] as const) {
      const foreign = { foreignPerMinute: tokens * times, foreignForMs: 120_000 }
      const { requests } = await runFleet({ processes, durationMs: tenMinutes / 2, ...always(tokens), ...foreign, tells: true })
      const good = (fromMs: number, untilMs: number) =>
        requests.filter(({ atMs, refused }) => !refused && atMs >= fromMs && atMs < untilMs).length
      expect.soft(good(120_000, 300_000) / (3 * tokens), `${tokens} a minute, ${times} times`).toBeGreaterThanOrEqual(0.85)
      expect.soft(good(240_000, 300_000) / tokens, `${tokens} a minute, ${times} times`).toBeGreaterThanOrEqual(0.95)
    }
  })
})

describe('where the marketplace says nothing', () => {
  test.each([1, 2, 4])('%i processes use at least 90 percent of the rate, and none is refused', async (processes) => {
    const result = await runFleet({ processes, durationMs: tenMinutes, ...always(60), tells: false })
    expect(steadyShare(result, 60)).toBeGreaterThanOrEqual(0.9)
    expect(result.refused).toBe(0)
  })

  test.each([2, 4])('%i processes use it where requests leave one at a time and the store is some way off', async (processes) => {
    for (const [tokens, storeMs] of [
      [5, 2],
      [10, 2],
      [10, 50],
      [19, 1],
    ] as const) {
      const run = { processes, durationMs: 2 * tenMinutes, ...always(tokens), storeMs, workers: 3, tells: false }
      const { sent, allowed, refused } = await runFleet(run)
      expect(refused).toBe(0)
      expect.soft(steadyShare({ sent, allowed }, 1), `${tokens} a minute, ${storeMs} ms`).toBeGreaterThanOrEqual(0.9)
    }
  })

  test('one an hour means one an hour for two processes, too', async () => {
    const hourly: RateLimit = { tokens: 1, perMs: 3_600_000 }
    const { sent, refused } = await runFleet({ processes: 2, durationMs: 4 * 3_600_000, allows: () => hourly, tells: false })
    expect([sent, refused]).toEqual([4, 0])
  })

  test.each([1, 2])(
    '%i processes find a limit that was halved within a minute, and run into it for less than 1 percent',
    async (processes) => {
      const halvedAtMs = 120_000
      const { requests } = await runFleet({
        processes,
        durationMs: 3_600_000,
        allows: (atMs) => perMinute(atMs < halvedAtMs ? 60 : 30),
        believed: perMinute(60),
        tells: false,
      })
      const after = requests.filter(({ atMs }) => atMs >= halvedAtMs + 60_000)
      const refused = after.filter((request) => request.refused).length
      expect(refused / after.length).toBeLessThan(0.01)
      expect((after.length - refused) / ((3_600_000 - halvedAtMs - 60_000) / 2_000)).toBeGreaterThanOrEqual(0.9)
    },
  )
})

describe('while the store is away', () => {
  const other = { name: 'orders.get', limit: perMinute(60), payloadKeys: [] }
  /** Processes that ask each second, and what each answer to a request says. */
  const everySecond = async (
    processes: number,
    limit: RateLimit,
    seconds: number,
    isAway: (second: number) => boolean,
    answer: Omit<BudgetSignal, 'remaining' | 'replenishAt'>,
  ) => {
    let nowMs = Date.UTC(2026, 10, 22)
    const store = memoryStore(() => nowMs)
    const operation = { name: 'orders.acknowledge', limit, payloadKeys: [] }
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
    const budgets = Array.from({ length: processes }, (_, index) =>
      createSharedBudget({ store, id: `p${index}`, limitOf: (_seller, of) => of.limit, clock, random: () => 0.5 }),
    )
    for (const budget of budgets) await budget.take('S', other)
    const grantedAt: number[] = []
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000
      store.isAway = isAway(second)
      for (const budget of budgets) {
        await budget.beat()
        await budget.take('S', other)
        if (!(await budget.take('S', operation)).granted) continue
        grantedAt.push(second)
        await budget.learn('S', operation, { ...answer, remaining: null, replenishAt: null })
      }
    }
    return {
      grantedAt,
      rates: () => budgets.flatMap((budget) => budget.snapshot()).filter((state) => state.operation === operation.name),
    }
  }
  const often = (second: number): boolean => second >= 100 && second % 100 < 20

  test.each([1, 2])('%i processes remember that they were told to come back in an hour', async (processes) => {
    const until = new Date(Date.UTC(2026, 10, 22) + 3_600_000)
    const { grantedAt } = await everySecond(processes, perMinute(60), 3_590, often, { status: 429, retryAfter: until })
    expect(grantedAt.filter((second) => second > 5)).toEqual([])
  })

  test.each([1, 2])('what %i processes use of an hourly call then is used', async (processes) => {
    const hourly: RateLimit = { tokens: 1, perMs: 3_600_000 }
    for (const untilSecond of [9_000, 14_400]) {
      const isAway = (second: number): boolean => second >= 1_000 && second < untilSecond
      const { grantedAt } = await everySecond(processes, hourly, 21_600, isAway, { status: 200, retryAfter: null })
      const gaps = grantedAt.map((second, index) => second - (grantedAt[index - 1] ?? Number.NEGATIVE_INFINITY))
      const since = gaps.filter((_gap, index) => (grantedAt[index] ?? 0) >= untilSecond)
      expect(since.length).toBeGreaterThan(0)
      expect(Math.min(...since)).toBeGreaterThanOrEqual(3_600)
    }
  })

  test.each([1, 2])('%i processes keep the rate that refusals have taught them', async (processes) => {
    for (const isAway of [often, (second: number): boolean => second >= 300 && second < 1_150]) {
      const { rates } = await everySecond(processes, perMinute(60), 1_200, isAway, { status: 429, retryAfter: null })
      for (const { memory } of rates()) expect(memory.rate).toBeLessThan(0.1)
    }
  })
})

test.each([1, 2])('a process that slept with its machine asks who came meanwhile before it goes on, %i awake', async (awake) => {
  for (const beatsFirst of [false, true]) {
    let [nowMs, sleptMs] = [Date.UTC(2026, 10, 22), 0]
    const store = memoryStore(() => nowMs)
    const operation = { name: 'orders.ship', limit: perMinute(60), payloadKeys: [] }
    const other = { ...operation, name: 'orders.get' }
    const start = (id: string, monotonicMs: () => number) =>
      createSharedBudget({
        store,
        id,
        limitOf: () => operation.limit,
        clock: { wallMs: () => nowMs, monotonicMs },
        random: () => 0.5,
      })
    const sleeper = start('sleeper', () => nowMs - sleptMs)
    const others = Array.from({ length: awake }, (_, index) => start(`awake${index}`, () => nowMs))
    const signal = { status: 200, remaining: 59, replenishAt: null, retryAfter: null }
    const take = async (budget: SharedBudget): Promise<number> => {
      let taken = 0
      while ((await budget.take('S', operation)).granted) taken += 1
      return taken
    }
    await sleeper.take('S', operation)
    await sleeper.learn('S', operation, signal)
    for (let second = 0; second < 120; second += 1) {
      nowMs += 1_000
      if (second < 3) await sleeper.beat()
      else sleptMs += 1_000
      for (const budget of second < 3 ? [] : others) {
        await budget.take('S', other)
        await budget.beat()
      }
    }
    let taken = 0
    for (const [index, budget] of others.entries()) {
      if (index === 0 && (await budget.take('S', operation)).granted) {
        taken += 1
        await budget.learn('S', operation, { ...signal, remaining: 58 })
      }
      taken += await take(budget)
    }
    if (beatsFirst) await sleeper.beat()
    taken += await take(sleeper)
    expect(taken).toBeGreaterThan(50)
    expect(taken).toBeLessThanOrEqual(60)
  }
})

test('a limit that an operator has set holds for a process alone, however many the marketplace says to be left', async () => {
  let nowMs = Date.UTC(2026, 10, 22)
  const operation = { name: 'orders.acknowledge', limit: perMinute(60), payloadKeys: [] }
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const parts = { store: memoryStore(() => nowMs), clock, id: 'only' }
  const budget = createSharedBudget({ ...parts, limitOf: () => ({ ...perMinute(1), isSet: true }) })
  for (let minute = 0; minute < 3; minute += 1) {
    expect(await budget.take('S', operation)).toEqual({ granted: true })
    nowMs += 50
    await budget.learn('S', operation, { status: 200, remaining: 59, replenishAt: null, retryAfter: null })
    // A second for a request that is quicker on its way than the last one was, at most.
    expect(await budget.take('S', operation)).toEqual({ granted: false, availableAt: new Date(nowMs - 50 + 60_600) })
    await budget.beat()
    // What a beat stores nobody waits for.
    await letOthersRun()
    nowMs += 60_550
    await budget.beat()
  }
})

test('of two processes, each that waits alone is told the moment of the next request, and not a later one', async () => {
  let nowMs = Date.UTC(2026, 10, 22)
  const store = memoryStore(() => nowMs)
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const operation = { name: 'orders.acknowledge', limit: perMinute(1), payloadKeys: [] }
  const [one, two] = ['one', 'two'].map((id) =>
    createSharedBudget({ store, id, limitOf: () => operation.limit, clock, random: () => 0.99 }),
  )
  if (one === undefined || two === undefined) throw new Error('a process is missing')
  for (const budget of [one, two]) await budget.take('S', { ...operation, name: 'orders.get' })
  for (let second = 0; second < 3; second += 1) {
    nowMs += 1_000
    for (const budget of [one, two]) await budget.beat()
  }
  expect(await one.take('S', operation)).toEqual({ granted: true })
  for (const budget of [two, one]) {
    const leave = await budget.take('S', operation)
    const waitMs = leave.granted ? 0 : leave.availableAt.getTime() - nowMs
    expect(waitMs).toBeGreaterThanOrEqual(60_600)
    expect(waitMs).toBeLessThanOrEqual(60_851)
  }
  // Whoever comes behind another one in the same process is told one interval more.
  const third = await one.take('S', operation)
  expect(third.granted ? 0 : third.availableAt.getTime() - nowMs).toBeLessThanOrEqual(121_500)
})

test('what one of two processes gives back is there for the other one, unless that one has written since', async () => {
  let nowMs = Date.UTC(2026, 10, 22)
  const store = memoryStore(() => nowMs)
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const operation = { name: 'orders.cancel', limit: { tokens: 1, perMs: 3_600_000 }, payloadKeys: [] }
  const [one, two] = ['one', 'two'].map((id) =>
    createSharedBudget({ store, id, limitOf: () => operation.limit, clock, random: () => 0.5 }),
  )
  if (one === undefined || two === undefined) throw new Error('a process is missing')
  const beat = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000
      for (const budget of [one, two]) await budget.beat()
    }
  }
  for (const budget of [one, two]) await budget.take('S', { ...operation, name: 'orders.get' })
  await beat(3)
  const unused = await one.take('S', operation)
  if (!unused.granted) throw new Error('there is no leave')
  await beat(20)
  await giveBack(unused)
  const used = await two.take('S', operation)
  if (!used.granted) throw new Error('there is no leave')
  await one.learn('S', operation, { status: 429, remaining: null, replenishAt: null, retryAfter: null })
  await giveBack(used)
  await beat(60)
  for (const budget of [one, two]) expect((await budget.take('S', operation)).granted).toBe(false)
})

test.each([1, 2])('a store that loses its content gives %i processes no second call within the hour', async (processes) => {
  let nowMs = Date.UTC(2026, 10, 22)
  const store = memoryStore(() => nowMs)
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const operation = { name: 'orders.acknowledge', limit: { tokens: 1, perMs: 3_600_000 }, payloadKeys: [] }
  const budgets = Array.from({ length: processes }, (_, index) =>
    createSharedBudget({ store, id: `p${index}`, limitOf: () => operation.limit, clock, random: () => 0.5 }),
  )
  const beat = async (): Promise<void> => {
    nowMs += 1_000
    for (const budget of budgets) await budget.beat()
  }
  for (const budget of budgets) await budget.take('S', { ...operation, name: 'orders.get' })
  for (let second = 0; second < 3; second += 1) await beat()
  let granted = 0
  const all = async (): Promise<void> => {
    for (const budget of budgets) if ((await budget.take('S', operation)).granted) granted += 1
  }
  await all()
  expect(granted).toBe(1)
  for (let time = 0; time < 3; time += 1) {
    store.lose()
    await all()
    for (let second = 0; second < 8; second += 1) {
      await beat()
      await all()
    }
  }
  expect(granted).toBe(1)
  nowMs += 3_700_000
  for (let second = 0; second < 8; second += 1) {
    await beat()
    await all()
  }
  expect(granted).toBe(2)
})

test.each([
  [600, 20],
  [60, 10],
  [60_000, 300],
])(
  'of a bucket of %i a minute with enough for all %i calls at once of each of two processes none is told to wait',
  async (tokens, each) => {
    let nowMs = Date.UTC(2026, 10, 22)
    const store = memoryStore(() => nowMs)
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
    const operation = { name: 'orders.ship', limit: perMinute(tokens), payloadKeys: [] }
    const other = { ...operation, name: 'orders.get' }
    const budgets = ['one', 'two'].map((id) =>
      createSharedBudget({ store, id, limitOf: () => operation.limit, clock, random: () => 0.5 }),
    )
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        nowMs += 1_000
        for (const budget of budgets) await Promise.all([budget.take('S', other), budget.beat()])
      }
    }
    for (const budget of budgets) await budget.take('S', other)
    await pass(4)
    // Counted aloud the burst is the whole limit.
    expect(await budgets[0]?.take('S', operation)).toEqual({ granted: true })
    await budgets[0]?.learn('S', operation, { status: 200, remaining: tokens - 1, replenishAt: null, retryAfter: null })
    await pass(25)
    const answers = await Promise.all(
      budgets.flatMap((budget) => Array.from({ length: each }, () => budget.take('S', operation))),
    )
    expect(answers.filter(({ granted }) => !granted)).toEqual([])
  },
)

test('a process that ends gives a store that has lost its content back what it remembers', async () => {
  let nowMs = Date.UTC(2026, 10, 22)
  const store = memoryStore(() => nowMs)
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const operation = { name: 'reports.download', limit: { tokens: 1, perMs: 3_600_000 }, payloadKeys: [] }
  const other = { ...operation, name: 'orders.get', limit: perMinute(5_000) }
  let made = 0
  const start = () => {
    made += 1
    return createSharedBudget({ store, id: `p${made}`, limitOf: (_seller, { limit }) => limit, clock, random: () => 0.5 })
  }
  let budgets = [start(), start()]
  // Polls go on all the time; who was told of an hour does not ask meanwhile.
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000
      for (const budget of budgets) {
        await budget.take('S', other)
        await budget.beat()
      }
    }
  }
  let granted = 0
  const askAll = async (): Promise<void> => {
    for (const budget of budgets) if ((await budget.take('S', operation)).granted) granted += 1
  }
  await pass(10)
  await askAll()
  expect(granted).toBe(1)
  await pass(60)
  store.lose()
  await pass(300)
  // A rolling restart: a new one comes, then an old one ends in good order.
  for (const old of budgets) {
    budgets = [...budgets, start()]
    await pass(5)
    await old.close()
    budgets = budgets.filter((budget) => budget !== old)
    await pass(8)
  }
  await askAll()
  await pass(8)
  await askAll()
  expect(granted).toBe(1)
})

describe('a limit that is changed', () => {
  const operation = { name: 'orders.ship', limit: perMinute(60), payloadKeys: [] }
  const hourly: RateLimit = { tokens: 1, perMs: 3_600_000 }

  test.each([1, 2])('counts at once for %i processes, and what was used under the old one stays used', async (processes) => {
    let nowMs = Date.UTC(2026, 10, 22)
    let limit = hourly
    const store = memoryStore(() => nowMs)
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
    const budgets = Array.from({ length: processes }, (_, index) =>
      createSharedBudget({ store, id: `p${index}`, limitOf: () => limit, clock, random: () => 0.5 }),
    )
    const other = { ...operation, name: 'orders.get' }
    const beat = async (): Promise<void> => {
      nowMs += 1_000
      for (const budget of budgets) await budget.beat()
    }
    for (const budget of budgets) await budget.take('S', other)
    for (let second = 0; second < 3; second += 1) await beat()
    const waits = async (): Promise<readonly number[]> => {
      const leaves = []
      for (const budget of budgets) leaves.push(await budget.take('S', operation))
      return leaves.map((leave) => (leave.granted ? 0 : leave.availableAt.getTime() - nowMs))
    }
    expect((await waits()).filter((wait) => wait === 0)).toHaveLength(1)
    expect(Math.min(...(await waits()))).toBeGreaterThan(3_500_000)
    limit = perMinute(60)
    expect(Math.max(...(await waits()))).toBe(0)
    // Back again: no request is free for having been moved.
    limit = hourly
    for (let asked = 0; asked < 2; asked += 1) expect(Math.min(...(await waits()))).toBeGreaterThan(3_500_000)
    // No more than a whole period.
    expect(Math.max(...(await waits()))).toBeLessThan(3 * 3_700_000)
  })

  test('holds for a memory that a version has written which stored none', async () => {
    const nowMs = Date.UTC(2026, 10, 22)
    const store = memoryStore(() => nowMs)
    const { arrivalMs, ...rest } = fullBucket
    await store.swap('["S","orders.ship",null]', 0, JSON.stringify({ ...rest, arrivalMs: arrivalMs + nowMs + 3_600_000 }))
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
    const budget = createSharedBudget({ store, id: 'only', limitOf: () => hourly, clock })
    expect(await budget.take('S', operation)).toEqual({ granted: false, availableAt: new Date(nowMs + 3_600_000) })
  })
})

test.each([
  [1, true],
  [2, true],
  [4, true],
  [1, false],
  [2, false],
])('%i processes are back within a minute after a storm of refusals (counted aloud: %s)', async (processes, tells) => {
  for (const tokens of [60, 5_000]) {
    const { requests } = await runFleet({
      processes,
      durationMs: 480_000,
      ...always(tokens),
      tells,
      storms: (atMs) => atMs >= 120_000 && atMs < 200_000,
    })
    const firstMs = requests.find(({ atMs, refused }) => atMs > 200_000 && !refused)?.atMs ?? Number.POSITIVE_INFINITY
    // The last wait of the storm is a minute at most, and a quarter of it for chance.
    expect(firstMs).toBeLessThan(275_000)
    const after = requests.filter(({ atMs }) => atMs >= firstMs + 60_000 && atMs < firstMs + 180_000)
    expect(after.filter(({ refused }) => refused)).toEqual([])
    // Where nothing is said, the last tenth of the rate is approached with caution.
    expect(after.length / (2 * tokens)).toBeGreaterThanOrEqual(tells ? 0.98 : 0.8)
  }
})

describe('an answer that comes', () => {
  const operation = { name: 'orders.ship', limit: perMinute(60), payloadKeys: [] }
  const other = { ...operation, name: 'orders.get' }
  const said = (status: number, retryAfter: Date | null = null): BudgetSignal => ({
    status,
    remaining: null,
    replenishAt: null,
    retryAfter,
  })
  const stage = () => {
    const time = { nowMs: Date.UTC(2026, 10, 22), onTheWay: () => Promise.resolve() }
    const store = memoryStore(
      () => time.nowMs,
      () => time.onTheWay(),
    )
    const clock = { wallMs: () => time.nowMs, monotonicMs: () => time.nowMs }
    const make = (id: string) => createSharedBudget({ store, id, limitOf: () => operation.limit, clock, random: () => 0.5 })
    return { time, store, make }
  }

  test('while a process gives its buckets to another one is not lost', async () => {
    const { time, make } = stage()
    const [one, two] = [make('one'), make('two')]
    await one.take('S', operation)
    await two.take('S', other)
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let ways = 0
    time.onTheWay = () => {
      ways += 1
      // It has learned of the other one, there and back, and stores what it remembers.
      if (ways <= 2) return Promise.resolve()
      begun.resolve()
      return gate.promise
    }
    time.nowMs += 1_000
    const yielding = one.beat()
    await begun.promise
    await one.learn('S', operation, said(429, new Date(time.nowMs + 3_600_000)))
    gate.resolve()
    await yielding
    for (const budget of [one, two]) await budget.beat()
    expect(await one.take('S', operation)).toMatchObject({ granted: false })
    expect(await two.take('S', operation)).toMatchObject({ granted: false })
  })

  test('when its process has left for want of work is not lost', async () => {
    const { time, make } = stage()
    const budget = make('one')
    await budget.take('S', operation)
    time.nowMs += 33_000
    await budget.beat()
    await budget.learn('S', operation, said(429, new Date(time.nowMs + 3_600_000)))
    expect(await budget.take('S', operation)).toMatchObject({ granted: false })
  })

  test('and raises the rate a little counts also where its process leaves before it draws again', async () => {
    const { time, store, make } = stage()
    const [one, two] = [make('one'), make('two')]
    await one.take('S', operation)
    await two.take('S', other)
    for (let turn = 0; turn < 2; turn += 1) for (const budget of [one, two]) await budget.beat()
    await one.take('S', operation)
    await one.learn('S', operation, said(429))
    const rate = async () =>
      readStored(
        (await store.read(nameOfBucket({ sellerId: 'S', operation, scope: null }))).value.text,
        operation.limit,
        time.nowMs,
      ).memory
    const refused = await rate()
    time.nowMs += 4_000
    for (const budget of [one, two]) await budget.beat()
    expect(await one.take('S', operation)).toEqual(expect.objectContaining({ granted: true }))
    // Each raises it by a step, which is stored with the next draw.
    for (let answer = 0; answer < 3; answer += 1) await one.learn('S', operation, said(200))
    for (let second = 0; second < 33; second += 3) {
      time.nowMs += 3_000
      await two.take('S', other)
      for (const budget of [one, two]) await budget.beat()
    }
    expect((await rate()).calm).toBe(refused.calm + 3)
  })
})

test('an operation that each process calls for itself is not shared', async () => {
  const nowMs = (): number => Date.UTC(2026, 10, 22)
  const store = memoryStore(nowMs)
  const operation = { name: 'token', limit: perMinute(20), payloadKeys: [], ofEachProcess: true } as const
  for (const id of ['first', 'second']) {
    const budget = createSharedBudget({
      store,
      id,
      limitOf: () => operation.limit,
      clock: { wallMs: nowMs, monotonicMs: () => 0 },
    })
    for (let asked = 0; asked < 2; asked += 1) expect(await budget.take('S', operation)).toEqual({ granted: true })
    expect(await budget.take('S', operation)).toMatchObject({ granted: false })
    await budget.learn('S', operation, {
      status: 429,
      remaining: null,
      replenishAt: null,
      retryAfter: new Date(nowMs() + 60_000),
    })
    expect(budget.snapshot()).toMatchObject([{ operation: 'token', available: 0, blockedUntil: new Date(nowMs() + 60_000) }])
  }
  expect(store.calls).toBe(0)
})

test('a wait that is named while the store is away is short, however scarce the calls are', async () => {
  let nowMs = Date.UTC(2026, 10, 22)
  const store = memoryStore(() => nowMs)
  const operation = { name: 'reconciliation.report', limit: { tokens: 1, perMs: 3_600_000 }, payloadKeys: [] }
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const budget = createSharedBudget({ store, id: 'only', limitOf: () => operation.limit, clock })
  store.isAway = true
  expect(await budget.take('S', operation)).toEqual({ granted: false, availableAt: new Date(nowMs + 5_000) })
  store.isAway = false
  nowMs += 5_000
  await budget.beat()
  expect(await budget.take('S', operation)).toEqual({ granted: true })
})

describe('a process', () => {
  test('alone asks the store by the clock, and not for each call', async () => {
    const { sent, storeCalls } = await runFleet({ processes: 1, workers: 40, durationMs: 60_000, ...always(5_000), tells: true })
    expect(sent).toBeGreaterThan(5_000)
    expect(storeCalls).toBeLessThan(60 * 3)
  })

  test('that comes later waits for its share; both together send no more than is allowed', async () => {
    const { requests, sent, allowed, refused } = await runFleet({
      processes: 2,
      atStart: [0],
      durationMs: tenMinutes,
      ...always(60),
      tells: false,
      each: (second, fleet) => second === 100 && fleet.start(1),
    })
    expect(refused).toBe(0)
    expect(steadyShare({ sent, allowed }, 60)).toBeGreaterThanOrEqual(0.9)
    const late = requests.filter(({ atMs }) => atMs > 120_000)
    expect(late.filter(({ process }) => process === 1).length / late.length).toBeGreaterThan(0.3)
  })

  test.each([false, true])('that is killed leaves its share to the others, to the token (counted aloud: %s)', async (tells) => {
    const kills: readonly Pick<FleetOptions, 'each' | 'atStart'>[] = [
      { each: (second, fleet) => second === 100 && fleet.kill(0) },
      // The only one is killed, and another one takes over what it had used.
      { atStart: [0], each: (second, fleet) => second === 10 && [fleet.kill(0), fleet.start(1)] },
    ]
    for (const kill of kills) {
      const { requests, refused } = await runFleet({ processes: 2, durationMs: tenMinutes, ...always(60), tells, ...kill })
      expect(refused).toBe(0)
      const late = requests.filter(({ atMs }) => atMs > 300_000)
      expect(late.length).toBeGreaterThanOrEqual(300 * 0.9)
    }
  })

  test('that is killed and started again and again has no full bucket each time, where limits are by the minute', async () => {
    const { requests, storeCalls } = await runFleet({
      processes: 1,
      durationMs: 180_000,
      allows: () => perMinute(600),
      believed: perMinute(60),
      tells: false,
      each: (second, fleet) => second >= 60 && second < 130 && second % 7 === 0 && [fleet.kill(0), fleet.start(0)],
    })
    const most = Math.max(
      ...requests.map(({ atMs }) => requests.filter((other) => other.atMs >= atMs && other.atMs < atMs + 60_000).length),
    )
    // But for one that was quicker on its way.
    expect(most).toBeLessThanOrEqual(61)
    expect(storeCalls).toBeLessThan(180 * 3)
  })

  test('that cannot reach the store goes on with a part, so that all together send no more than is allowed', async () => {
    const { requests, refused } = await runFleet({
      processes: 3,
      durationMs: tenMinutes,
      ...always(60),
      tells: false,
      each: (second, { store }) => {
        store.isAway = second >= 200 && second < 400
      },
    })
    expect(refused).toBe(0)
    const away = requests.filter(({ atMs }) => atMs >= 210_000 && atMs < 400_000)
    expect(new Set(away.map(({ process }) => process)).size).toBe(3)
    expect(away.length).toBeGreaterThan(190 * 0.5)
    const after = requests.filter(({ atMs }) => atMs >= 420_000)
    expect(after.length).toBeGreaterThanOrEqual(180 * 0.9)
  })
})
