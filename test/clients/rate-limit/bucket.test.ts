import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Operation, RateLimit } from '../../../src/clients/http/operation.ts'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { tokenOperation } from '../../../src/clients/marketplace/token-authorisation.ts'
import {
  availableIn,
  type Bucket,
  type BucketSignal,
  createBucket,
  drawFrom,
  learnFrom,
  shapeOfBucket,
} from '../../../src/clients/rate-limit/bucket.ts'
import { type Grant, giveBack } from '../../../src/clients/rate-limit/budget.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'

const start = Date.UTC(2026, 10, 21)
const nothingSaid = { remaining: null, replenishAtMs: null, retryAtMs: null, isLate: false }
const nothingTold = { remaining: null, replenishAt: null, retryAfter: null }
const unused = createBucket(start)
const blind = { reportsRemaining: false, rate: 1 }
const draw = (bucket: Bucket, limit: RateLimit, nowMs: number) => drawFrom(bucket, limit, 'command', nowMs)

const anyLimit: fc.Arbitrary<RateLimit> = fc.record({
  tokens: fc.integer({ min: 1, max: 300 }),
  perMs: fc.integer({ min: 1_000, max: 3_600_000 }),
})

const maxInAnyWindow = (grants: readonly number[], windowMs: number): number => {
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
        const { intervalMs } = shapeOfBucket(limit, blind)
        let bucket = unused
        let now = start
        const grants: number[] = []
        for (const gap of gaps) {
          // Gaps around the bucket's own interval, from a flood (0) to a trickle.
          now += Math.round((gap * intervalMs) / 20)
          const taken = draw(bucket, limit, now)
          bucket = taken.bucket
          if (taken.waitUntilMs === null) grants.push(now)
        }
        expect(maxInAnyWindow(grants, limit.perMs)).toBeLessThanOrEqual(limit.tokens)
      }),
    )
  })

  test('used in full, it lets no more through although the last request is quicker on its way than the first', () => {
    fc.assert(
      fc.property(anyLimit, (limit) => {
        let bucket = unused
        let now = start
        const grants: number[] = []
        while (now < start + 2 * limit.perMs) {
          const taken = draw(bucket, limit, now)
          bucket = taken.bucket
          if (taken.waitUntilMs === null) grants.push(now)
          else now = taken.waitUntilMs
        }
        const hasteMs = Math.min(900, limit.perMs / 200)
        expect(maxInAnyWindow(grants, limit.perMs + hasteMs)).toBeLessThanOrEqual(limit.tokens)
      }),
    )
  })

  test('uses nearly all of it: asked at every moment it names, at least 90 % of the limit gets through', () => {
    fc.assert(
      fc.property(anyLimit, (limit) => {
        let bucket = unused
        let now = start
        let grants = 0
        while (now < start + 20 * limit.perMs && grants < 10_000) {
          const taken = draw(bucket, limit, now)
          bucket = taken.bucket
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
        const { intervalMs } = shapeOfBucket(limit, blind)
        let bucket = unused
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
          const taken = draw(bucket, limit, last)
          bucket = taken.bucket
          if (taken.waitUntilMs === null) served.add(next.asker)
          else {
            expect(taken.waitUntilMs).toBeGreaterThan(last)
            waiting.push({ asker: next.asker, at: taken.waitUntilMs })
          }
        }
        expect(served.size).toBe(askers)
        expect(last - start).toBeLessThanOrEqual(Math.ceil(askers * (intervalMs + 2)) + limit.perMs)
      }),
    )
  })

  test('one an hour means one an hour', () => {
    const hourly = { tokens: 1, perMs: 3_600_000 }
    const first = draw(unused, hourly, start)
    expect(first.waitUntilMs).toBeNull()
    // And a second, for a request that is quicker on its way than the last one was.
    expect(draw(first.bucket, hourly, start + 1).waitUntilMs).toBe(start + 3_601_000)
    expect(draw(first.bucket, hourly, start + 3_601_000).waitUntilMs).toBeNull()
  })
})

describe('learning', () => {
  const limit = { tokens: 60, perMs: 60_000 }
  const learn = (
    bucket: Bucket,
    signal: Partial<BucketSignal> & { readonly status: number },
    nowMs: number,
    of: RateLimit = limit,
  ) => learnFrom(bucket, of, { ...nothingSaid, ...signal }, { atMs: nowMs, nowMs, random: 0 })
  const counted: Bucket = { ...unused, reportsRemaining: true }

  test('a 429 that names a time blocks until then, and lets one request through first', () => {
    const bucket = learn(unused, { status: 429, retryAtMs: start + 30_000 }, start)
    expect(draw(bucket, limit, start + 29_999).waitUntilMs).toBe(start + 30_000)
    expect(availableIn(bucket, limit, start + 30_000)).toBe(1)
  })

  test('429s that say nothing halve the rate and double the wait, up to an hour; success brings it back, near the limit slowly', () => {
    let bucket = unused
    let nowMs = start
    const waits: number[] = []
    for (let strike = 0; strike < 14; strike += 1) {
      bucket = learn(bucket, { status: 429 }, nowMs)
      waits.push((bucket.blockedUntilMs - nowMs) / 1_000)
      nowMs = bucket.blockedUntilMs
    }
    expect(waits.slice(0, 6)).toEqual([2, 4, 8, 16, 32, 64])
    expect(waits.at(-1)).toBe(3_600)
    expect(bucket.rate).toBe(1 / 32)
    const afterwards = (accepted: number): Bucket => {
      let better = bucket
      for (let count = 0; count < accepted; count += 1) better = learn(better, { status: 200 }, nowMs)
      return better
    }
    expect(afterwards(1).rate).toBe(1 / 16)
    expect(afterwards(60).rate).toBeGreaterThan(0.85)
    expect(afterwards(60).rate).toBeLessThan(0.91)
    expect(afterwards(600).rate).toBe(1)
  })

  test('no answer but a refusal moves the next request away, but by what it says remains', () => {
    const steps = fc.array(fc.tuple(fc.nat(40), fc.constantFrom(200, 404, 429, 429), fc.boolean()), { maxLength: 60 })
    const openAtMs = (bucket: Bucket, of: RateLimit, nowMs: number) => draw({ ...bucket, waitsUntilMs: [0, 0, 0, 0] }, of, nowMs)
    fc.assert(
      fc.property(anyLimit, steps, (of, answers) => {
        let bucket = unused
        let nowMs = start
        for (const [gap, status, isTold] of answers) {
          nowMs += Math.round((gap * shapeOfBucket(of, blind).intervalMs) / 20)
          const before = openAtMs(bucket, of, nowMs).waitUntilMs ?? nowMs
          const burst = shapeOfBucket(of, bucket).burst
          bucket = learn(bucket, { status, remaining: isTold ? of.tokens : null }, nowMs, of)
          const shape = shapeOfBucket(of, bucket)
          // A marketplace that does not report any more is given its smaller burst.
          if (status !== 429 && shape.burst >= burst) {
            expect(openAtMs(bucket, of, nowMs).waitUntilMs ?? nowMs).toBeLessThanOrEqual(Math.ceil(before + shape.intervalMs))
          }
          bucket = draw(bucket, of, nowMs).bucket
        }
      }),
    )
  })

  test('a limit that the count does not show is not run into again and again', () => {
    // It says that plenty remains, and lets half of it through.
    let bucket = counted
    let nowMs = start
    let [hidden, hiddenAtMs] = [30, start]
    let [sent, refused] = [0, 0]
    while (nowMs < start + 3_600_000) {
      const taken = draw(bucket, limit, nowMs)
      bucket = taken.bucket
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
      bucket = learn(bucket, { status: isRefused ? 429 : 200, remaining: 50 }, nowMs)
    }
    expect(refused / sent).toBeLessThan(0.04)
    expect((sent - refused) / 1_800).toBeGreaterThan(0.85)
  })

  test('429s of requests that were in progress together count once', () => {
    const first = learn(unused, { status: 429 }, start)
    const second = learn(first, { status: 429 }, start + 5)
    expect(second.rate).toBe(first.rate)
    expect(second.strikes).toBe(1)
  })

  test('what the marketplace says remains is never exceeded; the next request of an empty bucket is left to its other user', () => {
    expect(availableIn(learn(unused, { status: 200, remaining: 2 }, start), limit, start)).toBe(2)
    const none = learn(unused, { status: 200, remaining: 0, replenishAtMs: start + 9_000 }, start)
    expect(draw(none, limit, start).waitUntilMs).toBe(start + 10_000)
    const once = { tokens: 1, perMs: 60_000 }
    expect(
      draw(learn(unused, { status: 200, remaining: 0, replenishAtMs: start + 9_000 }, start, once), once, start).waitUntilMs,
    ).toBe(start + 9_000)
  })

  test('an answer that names a pause and what remains is believed in both', () => {
    const bucket = learn(counted, { status: 503, remaining: 2, retryAtMs: start + 5_000 }, start)
    expect(availableIn(bucket, limit, start + 4_999)).toBe(0)
    expect(availableIn(bucket, limit, start + 5_000)).toBe(7)
  })

  test('more than was thought is used, but for requests that may not be counted yet, and not where an operator has set the limit', () => {
    const empty: Bucket = { ...counted, used: 59 }
    expect(availableIn(learn(empty, { status: 200, remaining: 50 }, start), limit, start)).toBe(49)
    expect(availableIn(learn(empty, { status: 200, remaining: 50, isLate: true }, start), limit, start)).toBe(0)
    const busy: Bucket = { ...empty, recent: { sinceMs: start, count: 20, before: 5 } }
    expect(availableIn(learn(busy, { status: 200, remaining: 50 }, start), limit, start)).toBe(24)
    expect(availableIn(learn(empty, { status: 200, remaining: 50 }, start, { ...limit, isSet: true }), limit, start)).toBe(0)
    // What is not reported any more is not relied on, but by a refusal.
    expect(learn(counted, { status: 200 }, start).reportsRemaining).toBe(false)
    expect(learn(counted, { status: 429 }, start).reportsRemaining).toBe(true)
  })

  test('no signal, however odd, makes a bucket exceed the limit or break while nothing is reported', () => {
    const anyTime = fc.option(fc.integer({ min: 0, max: start + 3_600_000 }), { nil: null })
    const anySignal = fc.record({ status: fc.integer({ min: 100, max: 599 }), replenishAtMs: anyTime, retryAtMs: anyTime })
    const steps = fc.array(fc.tuple(fc.nat(40), fc.option(anySignal, { nil: null })), { maxLength: 300 })
    fc.assert(
      fc.property(anyLimit, steps, (of, given) => {
        let bucket = unused
        let nowMs = start
        const grants: number[] = []
        for (const [gap, signal] of given) {
          nowMs += Math.round((gap * shapeOfBucket(of, blind).intervalMs) / 20)
          if (signal !== null) bucket = learn(bucket, signal, nowMs, of)
          const taken = draw(bucket, of, nowMs)
          bucket = taken.bucket
          if (taken.waitUntilMs === null) grants.push(nowMs)
          else expect(Number.isFinite(taken.waitUntilMs)).toBe(true)
        }
        expect(maxInAnyWindow(grants, of.perMs)).toBeLessThanOrEqual(of.tokens)
      }),
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

  test('has back what is given back, once, and if nobody has drawn and no answer has come since', async () => {
    let now = start
    const limits = { 'orders.get': { tokens: 1, perMs: 3_600_000 } }
    const budget = createInProcessBudget({ limits, now: () => now })
    const { get } = ordersEndpoint.operations
    const take = () => budget.take('s', get)
    const readGrant = async (): Promise<Grant> => {
      const leave = await take()
      if (!leave.granted) throw new Error('there is no leave')
      return leave
    }
    const first = await readGrant()
    now += 20_000
    // Whoever asked meanwhile has drawn nothing.
    expect((await take()).granted).toBe(false)
    await giveBack(first)
    const second = await readGrant()
    await giveBack(first)
    expect((await take()).granted).toBe(false)
    await budget.learn('s', get, { status: 200, ...nothingTold, remaining: 0, replenishAt: new Date(now + 3_600_000) })
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
          const { burst, intervalMs } = shapeOfBucket(limit, blind)
          for (const { gap, isUsed } of asked) {
            now += Math.round((gap * intervalMs) / 20)
            const leave = await budget.take('s', ordersEndpoint.operations.get)
            const [late] = unused.splice(0)
            if (late !== undefined) await giveBack(late)
            if (!leave.granted) continue
            if (isUsed) used.push(now)
            else unused.push(leave)
          }
          expect(maxInAnyWindow(used, limit.perMs)).toBeLessThanOrEqual(Math.max(limit.tokens, burst))
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
      },
      {
        sellerId: 'A',
        operation: 'orders.cancel',
        scope: null,
        available: 0,
        perMinute: expect.closeTo(27.5, 1),
        blockedUntil: new Date(start + 2_000),
      },
    ])
  })
})
