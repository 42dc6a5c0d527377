import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  allowedAtMs,
  type BucketMemory,
  type BudgetSignal,
  bucketShape,
  fullBucket,
  intervalOf,
  learnFrom,
  takeFrom,
} from '../../src/clients/bucket.ts'
import { createInProcessBudget, type Grant, giveBack } from '../../src/clients/budget.ts'
import { tokenOperation } from '../../src/clients/marketplace/authorisation.ts'
import { ordersEndpoint } from '../../src/clients/marketplace/orders.ts'
import type { Operation, RateLimit } from '../../src/clients/operation.ts'

const start = Date.UTC(2026, 10, 21)
const nothingTold = { remaining: null, replenishAt: null, retryAfter: null }

const anyLimit: fc.Arbitrary<RateLimit> = fc.record({
  tokens: fc.integer({ min: 1, max: 300 }),
  perMs: fc.integer({ min: 1_000, max: 3_600_000 }),
})

const mostInAnyWindow = (grants: readonly number[], windowMs: number): number => {
  let most = 0
  let first = 0
  for (let last = 0; last < grants.length; last += 1) {
    while ((grants[last] ?? 0) - (grants[first] ?? 0) >= windowMs) first += 1
    most = Math.max(most, last - first + 1)
  }
  return most
}

describe('a bucket', () => {
  test('never lets more through than the limit, in any window, however it is asked', () => {
    fc.assert(
      fc.property(anyLimit, fc.array(fc.nat(40), { minLength: 50, maxLength: 600 }), (limit, gaps) => {
        const shape = bucketShape(limit)
        let memory = fullBucket
        let now = start
        const grants: number[] = []
        for (const gap of gaps) {
          // Gaps around the bucket's own interval, from a flood (0) to a trickle.
          now += Math.round((gap * shape.intervalMs) / 20)
          const taken = takeFrom(shape, memory, now, limit.perMs)
          memory = taken.memory
          if (taken.waitUntilMs === null) grants.push(now)
        }
        expect(mostInAnyWindow(grants, limit.perMs)).toBeLessThanOrEqual(limit.tokens)
      }),
    )
  })

  test('used in full, it lets no more through although the last request is quicker on its way than the first', () => {
    fc.assert(
      fc.property(anyLimit, (limit) => {
        let memory = fullBucket
        let now = start
        const grants: number[] = []
        while (now < start + 2 * limit.perMs) {
          const taken = takeFrom(bucketShape(limit), memory, now, limit.perMs)
          memory = taken.memory
          if (taken.waitUntilMs === null) grants.push(now)
          else now = taken.waitUntilMs
        }
        const hasteMs = Math.min(900, limit.perMs / 200)
        expect(mostInAnyWindow(grants, limit.perMs + hasteMs)).toBeLessThanOrEqual(limit.tokens)
      }),
    )
  })

  test('uses nearly all of it: asked at every moment it names, at least 90 % of the limit gets through', () => {
    fc.assert(
      fc.property(anyLimit, (limit) => {
        const shape = bucketShape(limit)
        let memory = fullBucket
        let now = start
        let grants = 0
        while (now < start + 20 * limit.perMs && grants < 10_000) {
          const taken = takeFrom(shape, memory, now, limit.perMs)
          memory = taken.memory
          if (taken.waitUntilMs === null) grants += 1
          else now = taken.waitUntilMs
        }
        const windows = (now - start) / limit.perMs
        expect(grants).toBeGreaterThanOrEqual(Math.floor(0.9 * limit.tokens * windows * (1 - 20 / limit.perMs)))
      }),
    )
  })

  test('starves nobody: everyone who comes back when told is served in bounded time', () => {
    fc.assert(
      fc.property(anyLimit, fc.integer({ min: 1, max: 60 }), (limit, askers) => {
        const shape = bucketShape(limit)
        let memory = fullBucket
        const waiting = Array.from({ length: askers }, (_, asker) => ({ asker, at: start }))
        const served = new Set<number>()
        let last = start
        for (let turns = 0; waiting.length > 0; turns += 1) {
          // Everyone asks about once in each window until served; nobody asks without end.
          expect(turns).toBeLessThan(askers * (askers / limit.tokens + 20))
          waiting.sort((a, b) => a.at - b.at)
          const next = waiting.shift()
          if (next === undefined) break
          last = Math.max(last, next.at)
          const taken = takeFrom(shape, memory, last, limit.perMs)
          memory = taken.memory
          if (taken.waitUntilMs === null) served.add(next.asker)
          else {
            expect(taken.waitUntilMs).toBeGreaterThan(last)
            waiting.push({ asker: next.asker, at: taken.waitUntilMs })
          }
        }
        expect(served.size).toBe(askers)
        expect(last - start).toBeLessThanOrEqual(Math.ceil(askers * (shape.intervalMs + 2)) + limit.perMs)
      }),
    )
  })

  test('one an hour means one an hour', () => {
    const shape = bucketShape({ tokens: 1, perMs: 3_600_000 })
    const first = takeFrom(shape, fullBucket, start, 3_600_000)
    expect(first.waitUntilMs).toBeNull()
    // And a second, for a request that is quicker on its way than the last one was.
    expect(takeFrom(shape, first.memory, start + 1, 3_600_000).waitUntilMs).toBe(start + 3_601_000)
    expect(takeFrom(shape, first.memory, start + 3_601_000, 3_600_000).waitUntilMs).toBeNull()
  })
})

describe('learning', () => {
  const limit = { tokens: 60, perMs: 60_000 }
  const shape = bucketShape(limit)
  const learn = (memory: BucketMemory, signal: BudgetSignal, nowMs: number, uncounted: number | null = null) =>
    learnFrom(limit, memory, signal, { nowMs, random: 0, uncounted })
  const available = (memory: BucketMemory, now: number): number => {
    let count = 0
    let state = memory
    for (;;) {
      const taken = takeFrom(bucketShape(limit, state.counted), state, now, 60_000)
      if (taken.waitUntilMs !== null) return count
      state = taken.memory
      count += 1
    }
  }

  test('a 429 that names a moment blocks until then, and lets one through first', () => {
    const until = new Date(start + 30_000)
    const memory = learn(fullBucket, { ...nothingTold, status: 429, retryAfter: until }, start)
    expect(takeFrom(shape, memory, start + 29_999, 60_000).waitUntilMs).toBe(start + 30_000)
    expect(available(memory, start + 30_000)).toBe(1)
  })

  test('429s that say nothing halve the rate and double the wait; success brings it back, near the limit with caution', () => {
    let memory = fullBucket
    let now = start
    const waits: number[] = []
    for (let strike = 0; strike < 7; strike += 1) {
      memory = learn(memory, { ...nothingTold, status: 429 }, now)
      waits.push(memory.blockedUntilMs - now)
      now = memory.blockedUntilMs
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    expect(memory.rate).toBe(1 / 32)
    const one = learn(memory, { ...nothingTold, status: 200 }, now)
    expect(one.rate).toBe(2 * memory.rate)
    const answers = (count: number): BucketMemory => {
      let after = memory
      for (let success = 0; success < count; success += 1) after = learn(after, { ...nothingTold, status: 200 }, now)
      return after
    }
    expect(answers(60).rate).toBeGreaterThan(0.85)
    expect(answers(60).rate).toBeLessThan(0.91)
    expect(answers(600).rate).toBe(1)
  })

  /** The bucket after refusals without a hint, each on the request that the last wait let through. */
  const afterStorm = (of: RateLimit, before: BucketMemory): { readonly memory: BucketMemory; readonly nowMs: number } => {
    let memory = before
    let nowMs = start
    for (let strike = 0; strike < 5; strike += 1) {
      memory = learnFrom(of, memory, { ...nothingTold, status: 429 }, { nowMs, random: 0 })
      nowMs = takeFrom(bucketShape(of, memory.counted), memory, memory.blockedUntilMs - 1, of.perMs).waitUntilMs ?? nowMs
      memory = takeFrom(bucketShape(of, memory.counted), memory, nowMs, of.perMs).memory
    }
    return { memory, nowMs }
  }

  test.each([
    { tokens: 60, remaining: 50 },
    { tokens: 5_000, remaining: 4_000 },
    { tokens: 60, remaining: null },
    { tokens: 5_000, remaining: null },
  ])('a storm of refusals that say nothing is over within a minute, at $tokens a minute and with $remaining left', (shown) => {
    const { tokens, remaining } = shown
    const busy: RateLimit = { tokens, perMs: 60_000 }
    let { memory, nowMs } = afterStorm(busy, { ...fullBucket, counted: remaining !== null })
    const firstMs = nowMs
    const grants: number[] = []
    while (nowMs < firstMs + 120_000) {
      memory = learnFrom(busy, memory, { ...nothingTold, status: 200, remaining }, { nowMs, random: 0 })
      const taken = takeFrom(bucketShape(busy, memory.counted), memory, nowMs, busy.perMs)
      const waitUntilMs = taken.waitUntilMs ?? nowMs
      memory = takeFrom(bucketShape(busy, memory.counted), memory, waitUntilMs, busy.perMs).memory
      nowMs = Math.max(waitUntilMs, nowMs)
      grants.push(nowMs - firstMs)
    }
    const later = grants.filter((atMs) => atMs > 60_000 && atMs <= 120_000).length
    expect(later / tokens).toBeGreaterThanOrEqual(remaining === null ? 0.8 : 0.98)
  })

  test('no answer without a refusal moves the next request away, but by what it says to be left', () => {
    const steps = fc.array(fc.tuple(fc.nat(40), fc.constantFrom(200, 404, 429, 429), fc.boolean()), { maxLength: 60 })
    fc.assert(
      fc.property(anyLimit, steps, (of, answers) => {
        let memory = fullBucket
        let nowMs = start
        for (const [gap, status, isTold] of answers) {
          nowMs += Math.round((gap * bucketShape(of).intervalMs) / 20)
          const shape = bucketShape(of, memory.counted)
          const before = Math.max(nowMs, allowedAtMs(shape, memory))
          memory = learnFrom(of, memory, { ...nothingTold, status, remaining: isTold ? of.tokens : null }, { nowMs, random: 0 })
          const after = bucketShape(of, memory.counted)
          // A marketplace that does not count any more is given its smaller burst, and the time of a whole period.
          const isFewer = after.burst < shape.burst
          if (status !== 429 && !isFewer) {
            expect(allowedAtMs(after, memory)).toBeLessThanOrEqual(Math.ceil(before + intervalOf(after, memory)))
          }
          memory = takeFrom(after, memory, nowMs, of.perMs).memory
        }
      }),
    )
  })

  test('refusals that name a moment are forgotten as soon as those that do not', () => {
    let memory = fullBucket
    let nowMs = start
    for (let refusal = 0; refusal < 20; refusal += 1) {
      nowMs += 40_000
      memory = learn(memory, { ...nothingTold, status: 429, retryAfter: new Date(nowMs + 2_000) }, nowMs)
    }
    expect(memory.rate).toBe(1 / 32)
    for (let answer = 0; answer < 30; answer += 1) memory = learn(memory, { ...nothingTold, status: 200 }, nowMs)
    expect(memory.rate).toBeGreaterThan(0.85)
  })

  test('a limit that the count does not show is not run into again and again', () => {
    // It says that plenty is left, and lets half of it through.
    let memory: BucketMemory = { ...fullBucket, counted: true }
    let nowMs = start
    let hidden = 30
    let hiddenAtMs = start
    let [sent, refused] = [0, 0]
    while (nowMs < start + 3_600_000) {
      const taken = takeFrom(bucketShape(limit, memory.counted), memory, nowMs, limit.perMs)
      memory = taken.memory
      if (taken.waitUntilMs !== null) {
        nowMs = taken.waitUntilMs
        continue
      }
      hidden = Math.min(30, hidden + (nowMs - hiddenAtMs) / 2_000)
      hiddenAtMs = nowMs
      const isRefused = hidden < 1
      if (!isRefused) hidden -= 1
      sent += 1
      refused += isRefused ? 1 : 0
      memory = learn(memory, { ...nothingTold, status: isRefused ? 429 : 200, remaining: 50 }, nowMs)
    }
    expect(refused / sent).toBeLessThan(0.015)
    expect((sent - refused) / 1_800).toBeGreaterThan(0.85)
  })

  test('a limit of one an hour behind a table of 60 a minute is learned, though nothing is said', () => {
    let memory = fullBucket
    let nowMs = start
    let lastMs = Number.NEGATIVE_INFINITY
    const refusals = [0, 0]
    let answered = 0
    while (nowMs < start + 2 * 86_400_000) {
      const taken = takeFrom(shape, memory, nowMs, limit.perMs)
      memory = taken.memory
      if (taken.waitUntilMs !== null) {
        nowMs = taken.waitUntilMs
        continue
      }
      const isRefused = nowMs - lastMs < 3_600_000
      if (isRefused) refusals[nowMs < start + 86_400_000 ? 0 : 1] = (refusals[nowMs < start + 86_400_000 ? 0 : 1] ?? 0) + 1
      else {
        lastMs = nowMs
        answered += 1
      }
      memory = learn(memory, { ...nothingTold, status: isRefused ? 429 : 200 }, nowMs)
    }
    expect(refusals[0]).toBeLessThan(120)
    expect(refusals[1]).toBeLessThan(80)
    expect(answered).toBeGreaterThan(36)
  })

  test('the wait after refusals that say nothing is a minute at most for ten minutes, and grows to an hour then', () => {
    let memory = fullBucket
    let now = start
    const waits: number[] = []
    while (now < start + 5 * 3_600_000) {
      memory = learn(memory, { ...nothingTold, status: 429 }, now)
      waits.push((memory.blockedUntilMs - now) / 1_000)
      now = memory.blockedUntilMs
      if (now < start + 600_000) expect(waits.at(-1)).toBeLessThanOrEqual(60)
    }
    expect(waits.at(-1)).toBe(3_600)
    expect(waits.length).toBeLessThan(30)
    // What answers again may have been a storm: it must not be felt for long.
    expect(memory.rate).toBe(1 / 32)
  })

  test('429s of requests that were under way together count once', () => {
    const first = learn(fullBucket, { ...nothingTold, status: 429 }, start)
    const second = learn(first, { ...nothingTold, status: 429 }, start + 5)
    expect(second.rate).toBe(first.rate)
    expect(second.strikes).toBe(1)
  })

  test('what the marketplace says is left is never exceeded, and never adds to our own count', () => {
    const told = (remaining: number) => ({ ...nothingTold, status: 200, remaining })
    expect(available(learn(fullBucket, told(2), start), start)).toBe(2)
    const empty = { ...fullBucket, arrivalMs: start + 60_000 }
    expect(available(learn(empty, told(50), start), start)).toBe(0)
    // Somebody else has emptied it: the request that comes back first is left to them.
    const none = learn(fullBucket, { ...told(0), replenishAt: new Date(start + 9_000) }, start)
    expect(takeFrom(bucketShape(limit, true), none, start, 60_000).waitUntilMs).toBe(start + 10_000)
  })

  test.each([
    { tokens: 1, afterMs: 0 },
    { tokens: 2, afterMs: 30_000 },
    { tokens: 3, afterMs: 20_000 },
  ])(
    'an empty bucket of $tokens a minute says that somebody else draws on it, but where one call empties it',
    ({ tokens, afterMs }) => {
      const few = { tokens, perMs: 60_000 }
      const none = learnFrom(
        few,
        { ...fullBucket, counted: true },
        { ...nothingTold, status: 200, remaining: 0, replenishAt: new Date(start + 9_000) },
        { nowMs: start, random: 0 },
      )
      const { waitUntilMs } = takeFrom(bucketShape(few, true), none, start, 60_000)
      // A burst of one is a little slower than its limit.
      expect(Math.abs((waitUntilMs ?? 0) - (start + 9_000 + afterMs))).toBeLessThan(1_000)
    },
  )

  test('an answer that names a pause and what is left is believed in both', () => {
    const told = { ...nothingTold, status: 200, remaining: 2, replenishAt: new Date(start + 1_000) }
    for (const retryAfter of [start, start + 5_000]) {
      const memory = learn({ ...fullBucket, counted: true }, { ...told, retryAfter: new Date(retryAfter) }, start)
      expect(allowedAtMs(bucketShape(limit, true), memory)).toBe(retryAfter === start ? start : start + 5_000)
      expect(available(memory, start)).toBe(retryAfter === start ? 2 : 0)
    }
  })

  test('a marketplace that counts aloud is believed when it has more than was thought, but for one request', () => {
    const told = (remaining: number) => ({ ...nothingTold, status: 200, remaining })
    const empty = { ...fullBucket, arrivalMs: start + 60_000 }
    expect(available(learn(empty, told(50), start, 0), start)).toBe(49)
    expect(available(learn(empty, told(1_000), start, 0), start)).toBe(59)
    expect(available(learn(empty, told(50), start), start)).toBe(0)
    // It stops counting: what nobody says is not relied on.
    const counted = learn(fullBucket, told(50), start)
    expect(learn(counted, { ...nothingTold, status: 200 }, start).counted).toBe(false)
    expect(learn(counted, { ...nothingTold, status: 429 }, start).counted).toBe(true)
  })

  test('a limit that an operator has set is lowered by what the marketplace says to be left, and never raised', () => {
    const signals = fc.record({
      status: fc.constantFrom(200, 200, 404, 429, 503),
      remaining: fc.option(fc.nat(500), { nil: null }),
      replenishAt: fc.constant(null),
      retryAfter: fc.constant(null),
    })
    fc.assert(
      fc.property(anyLimit, fc.array(fc.tuple(fc.nat(40), signals), { maxLength: 200 }), (of, steps) => {
        let memory: BucketMemory = { ...fullBucket, counted: true }
        let nowMs = start
        const grants: number[] = []
        for (const [gap, signal] of steps) {
          nowMs += Math.round((gap * of.perMs) / of.tokens / 20)
          const taken = takeFrom(bucketShape(of, memory.counted), memory, nowMs, of.perMs)
          memory = taken.memory
          if (taken.waitUntilMs === null) grants.push(nowMs)
          memory = learnFrom({ ...of, isSet: true }, memory, signal, { nowMs, random: 0, uncounted: 0 })
        }
        // A full bucket, and what comes back in the period.
        expect(mostInAnyWindow(grants, of.perMs)).toBeLessThanOrEqual(Math.max(1, 2 * of.tokens - 1))
      }),
    )
  })

  test('a 429 of a bucket that is counted aloud lowers the rate like every one that names a moment: somebody else draws on it', () => {
    const counted = learn(fullBucket, { ...nothingTold, status: 200, remaining: 5 }, start)
    const until = new Date(start + 2_000)
    expect(learn(counted, { ...nothingTold, status: 429, remaining: 0, replenishAt: until }, start).rate).toBe(0.8)
    expect(learn(counted, { ...nothingTold, status: 429, retryAfter: until }, start).rate).toBe(0.8)
  })

  test('no signal, however odd, ever makes a bucket exceed the limit or break while nothing is counted aloud', () => {
    const anySignal = fc.record({
      status: fc.integer({ min: 100, max: 599 }),
      remaining: fc.constant(null),
      replenishAt: fc.option(fc.date({ min: new Date(0), max: new Date(start + 3_600_000), noInvalidDate: true }), { nil: null }),
      retryAfter: fc.option(fc.date({ min: new Date(0), max: new Date(start + 3_600_000), noInvalidDate: true }), { nil: null }),
    })
    fc.assert(
      fc.property(
        anyLimit,
        fc.array(fc.tuple(fc.nat(40), fc.option(anySignal, { nil: null })), { maxLength: 300 }),
        (limit, steps) => {
          let memory = fullBucket
          let now = start
          const grants: number[] = []
          for (const [gap, signal] of steps) {
            now += Math.round((gap * bucketShape(limit).intervalMs) / 20)
            if (signal !== null) memory = learnFrom(limit, memory, signal, { nowMs: now, random: 0.5 })
            const taken = takeFrom(bucketShape(limit, memory.counted), memory, now, limit.perMs)
            memory = taken.memory
            if (taken.waitUntilMs === null) grants.push(now)
            else expect(Number.isFinite(taken.waitUntilMs)).toBe(true)
          }
          expect(mostInAnyWindow(grants, limit.perMs)).toBeLessThanOrEqual(limit.tokens)
        },
      ),
    )
  })
})

describe('the budget of all sellers', () => {
  test('keeps sellers and operations apart', async () => {
    let now = start
    const budget = createInProcessBudget({ now: () => now })
    const takeAll = async (sellerId: string, operation: Operation): Promise<number> => {
      let count = 0
      while ((await budget.take(sellerId, operation)).granted) count += 1
      return count
    }
    expect(await takeAll('A', ordersEndpoint.operations.ship)).toBe(5)
    expect(await takeAll('B', ordersEndpoint.operations.ship)).toBe(5)
    expect(await takeAll('A', ordersEndpoint.operations.cancel)).toBe(5)
    expect(await budget.take('A', ordersEndpoint.operations.ship)).toMatchObject({ granted: false })
    now += 60_000
    expect(await takeAll('A', ordersEndpoint.operations.ship)).toBe(5)
  })

  test('brings all who wait for a token back together, since one token serves them all', async () => {
    const budget = createInProcessBudget({ now: () => start })
    while ((await budget.take('A', tokenOperation)).granted);
    const waits = await Promise.all(Array.from({ length: 50 }, () => budget.take('A', tokenOperation)))
    const moments = new Set(waits.map((wait) => (wait.granted ? 0 : wait.availableAt.getTime() - start)))
    expect(moments.size).toBe(1)
    expect(Math.max(...moments)).toBeLessThanOrEqual(20_000)
  })

  test.each([-3_600_000, 3_600_000])('is the same after a clock that was set by %i ms', async (stepMs) => {
    let now = start
    let monotonicMs = 0
    const budget = createInProcessBudget({
      limits: { 'orders.get': { tokens: 60, perMs: 60_000 } },
      now: () => now,
      monotonicMs: () => monotonicMs,
    })
    while ((await budget.take('s', ordersEndpoint.operations.get)).granted);
    now += stepMs
    const answer = await budget.take('s', ordersEndpoint.operations.get)
    expect(answer.granted).toBe(false)
    const waitMs = answer.granted ? 0 : answer.availableAt.getTime() - now
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThan(5_000)
    now += waitMs
    monotonicMs += waitMs
    expect(await budget.take('s', ordersEndpoint.operations.get)).toEqual({ granted: true })
  })

  test('has back what is given back, once, and if nobody has drawn and no answer has come since', async () => {
    let now = start
    const limits = { 'orders.get': { tokens: 1, perMs: 3_600_000 } }
    const budget = createInProcessBudget({ limits, now: () => now })
    const { get } = ordersEndpoint.operations
    const take = () => budget.take('s', get)
    const grantOf = async (): Promise<Grant> => {
      const leave = await take()
      if (!leave.granted) throw new Error('there is no leave')
      return leave
    }
    const first = await grantOf()
    now += 20_000
    // Whoever asked meanwhile has drawn nothing.
    expect((await take()).granted).toBe(false)
    await giveBack(first)
    const second = await grantOf()
    await giveBack(first)
    expect((await take()).granted).toBe(false)
    await budget.learn('s', get, { status: 200, ...nothingTold })
    await giveBack(second)
    expect((await take()).granted).toBe(false)
  })

  test('lets no more requests leave than the limit, in any window, however many are given back', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyLimit,
        fc.array(fc.record({ gap: fc.nat(40), isUsed: fc.boolean() }), { minLength: 50, maxLength: 300 }),
        async (limit, asked) => {
          let now = start
          const budget = createInProcessBudget({ limits: { 'orders.get': limit }, now: () => now })
          const used: number[] = []
          const unused: Grant[] = []
          const { burst, intervalMs } = bucketShape(limit)
          for (const { gap, isUsed } of asked) {
            now += Math.round((gap * intervalMs) / 20)
            const leave = await budget.take('s', ordersEndpoint.operations.get)
            const [late] = unused.splice(0)
            if (late !== undefined) await giveBack(late)
            if (!leave.granted) continue
            if (isUsed) used.push(now)
            else unused.push(leave)
          }
          expect(mostInAnyWindow(used, limit.perMs)).toBeLessThanOrEqual(Math.max(limit.tokens, burst))
        },
      ),
    )
  })

  test('takes by the limit of the operation, unless another one is given for its name', async () => {
    const budget = createInProcessBudget({ limits: { 'orders.cancel': { tokens: 1, perMs: 60_000 } }, now: () => start })
    const takeAll = async (operation: Operation): Promise<number> => {
      let count = 0
      while ((await budget.take('A', operation)).granted) count += 1
      return count
    }
    expect(await takeAll(ordersEndpoint.operations.cancel)).toBe(1)
    expect(
      await takeAll({ ...ordersEndpoint.operations.ship, name: 'orders.teleport', limit: { tokens: 20, perMs: 60_000 } }),
    ).toBe(2)
  })

  test('shows its state', async () => {
    const budget = createInProcessBudget({ now: () => start, random: () => 0 })
    await budget.take('A', ordersEndpoint.operations.ship)
    await budget.learn('A', ordersEndpoint.operations.cancel, { ...nothingTold, status: 429 })
    expect(budget.snapshot()).toEqual([
      {
        sellerId: 'A',
        operation: 'orders.ship',
        scope: null,
        available: 4,
        perMinute: expect.closeTo(55, 1),
        blockedUntil: null,
        memory: expect.objectContaining({ rate: 1, blockedUntilMs: 0 }),
      },
      {
        sellerId: 'A',
        operation: 'orders.cancel',
        scope: null,
        available: 0,
        perMinute: expect.closeTo(27.5, 1),
        blockedUntil: new Date(start + 2_000),
        memory: expect.objectContaining({ rate: 0.5, strikes: 1, blockedUntilMs: start + 2_000 }),
      },
    ])
  })
})
