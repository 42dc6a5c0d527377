/** What a process has used of a budget is known to whoever takes its place, whenever and however it ends. In virtual time. */
import { setImmediate as tick } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { bucketShape } from '../../src/clients/bucket.ts'
import { createInProcessBudget, giveBack } from '../../src/clients/budget.ts'
import type { CallLane } from '../../src/clients/lane.ts'
import { createSharedBudget } from '../../src/clients/shared-budget.ts'
import { hour, once, rig, said } from './support/budget-rig.ts'
import { memoryStore, runFleet } from './support/virtual-fleet.ts'

const failed = (): never => {
  throw new Error('there is no such process')
}

test.each([
  [13, 60_000],
  [20, 90_000],
  [60, 60_000],
])('%i in %i ms: a process that is killed within five seconds of storing leaves no call twice', async (tokens, perMs) => {
  const limit = { tokens, perMs }
  const { share, live, drain, pass, ended, most } = rig(limit)
  const [a, b] = [share('A'), share('B')]
  await live([a], 60_000)
  await drain(a, bucketShape(limit).intervalMs > 1_200 ? 1 : 2)
  await live([a], 4_000)
  pass(950)
  await drain(a)
  ended.add('A')
  for (let i = 0; i < perMs; i += 10) {
    await drain(b)
    pass(10)
    if (i % 1_000 === 0) await b.beat()
  }
  expect(most(perMs)).toBeLessThanOrEqual(tokens)
})

test.each(['put', 'read'] as const)(
  'a process that was suspended while its %s was under way leaves the call to the one that has come',
  async (kind) => {
    const { share, live, pass, view, operation, drain } = rig(once)
    const far = view()
    const [a, b] = [share('A', far.of), share('B')]
    await live([a], 5_000)
    const slow = far.hold(kind, kind === 'put' ? 'before' : 'after')
    const first = a.take('S', operation)
    await tick()
    pass(7_000)
    const second = await drain(b)
    slow.go()
    expect(second + ((await first).granted ? 1 : 0)).toBe(1)
  },
)

test('no call leaves behind one that could not be stored', async () => {
  const { share, live, pass, view, operation, drain } = rig({ tokens: 20, perMs: hour })
  const far = view()
  const [a, b] = [share('A', far.of), share('B')]
  await live([a], 5_000)
  const slow = [far.hold('put'), far.hold('put')]
  const takes = [a.take('S', operation), a.take('S', operation)]
  await tick()
  pass(4_600)
  void a.take('T', operation)
  for (const put of slow) put.fail()
  const left = (await Promise.all(takes)).filter(({ granted }) => granted).length
  pass(3_000)
  expect(left + (await drain(b))).toBeLessThanOrEqual(2)
})

test.each([
  [60, 60_000],
  [600, hour],
  [20, hour],
])('several calls together that could not be stored are there still, %i in %i', async (tokens, perMs) => {
  const limit = { tokens, perMs }
  const { share, live, drain, store, operation } = rig(limit)
  const a = share('A')
  await live([a], 1_000)
  await drain(a, 1)
  await live([a], 2 * hour)
  store.isAway = true
  const { burst } = bucketShape(limit)
  const left = (await Promise.all(Array.from({ length: burst }, () => a.take('S', operation)))).filter(
    ({ granted }) => granted,
  ).length
  store.isAway = false
  expect(left + (await drain(a))).toBe(burst)
})

test.each([
  [25, 1],
  [25, 3],
  [25, 2],
  [20, 4],
])(
  '%i a minute, %i processes: polls come and the rate is used where a bucket of two keeps one for commands',
  async (tokens, processes) => {
    for (const [storeMs, command] of [
      [0, false],
      [0, true],
      [5, false],
      [5, true],
    ] as const) {
      const startMs = Date.UTC(2026, 10, 24)
      const limit = { tokens, perMs: 60_000 }
      let nowMs = startMs
      const events: { atMs: number; run: () => Promise<void> | void }[] = []
      const at = (atMs: number, run: () => Promise<void> | void): void => {
        const place = events.findIndex((event) => event.atMs > atMs)
        events.splice(place < 0 ? events.length : place, 0, { atMs, run })
      }
      const store = memoryStore(
        () => nowMs,
        () => new Promise((resolve) => (storeMs === 0 ? resolve() : at(nowMs + storeMs / 2, resolve))),
      )
      let seed = 11
      const random = () => {
        seed = (seed * 16_807) % 2_147_483_647
        return seed / 2_147_483_647
      }
      const operation = { name: 'orders.list', limit, payloadKeys: [] }
      const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs - startMs }
      const sent: CallLane[] = []
      const budgets = Array.from({ length: processes }, (_, p) =>
        createSharedBudget({ store, id: `p${p}`, limitOf: () => limit, clock, random }),
      )
      for (const budget of budgets) {
        const beat = async (): Promise<void> => {
          await budget.beat()
          await budget.take('S', { ...operation, name: 'orders.get' })
          at(nowMs + 1_000, beat)
        }
        at(startMs, beat)
      }
      const call = (p: number, lane: CallLane, everyMs: number, wantedMs: number) => async (): Promise<void> => {
        const budget = budgets.at(p % processes) ?? failed()
        const leave = await budget.take('S', operation, undefined, lane)
        if (!leave.granted) return at(Math.max(nowMs + 1, leave.availableAt.getTime()), call(p, lane, everyMs, wantedMs))
        if (nowMs > startMs + 30_000) sent.push(lane)
        at(nowMs + 40, async () => {
          await budget.learn('S', operation, { status: 200, ...said })
          const nextMs = Math.max(nowMs, wantedMs + everyMs)
          at(nextMs, call(p, lane, everyMs, nextMs))
        })
      }
      for (let p = 0; p < processes; p += 1)
        for (let w = 0; w < 3; w += 1) at(startMs + 3_000 + w, call(p, 'backfill', 0, startMs + 3_000))
      at(startMs + 4_000, call(1, 'poll', (8 * 60_000) / tokens, startMs + 4_000))
      at(startMs + 5_000, call(2, 'poll', (9 * 60_000) / tokens, startMs + 5_000))
      if (command) at(startMs + 2_000, call(3, 'command', 24_720, startMs + 2_000))
      for (;;) {
        const next = events.shift()
        if (next === undefined || next.atMs > startMs + 300_000) break
        nowMs = next.atMs
        void next.run()
        await tick()
      }
      const polls = sent.filter((lane) => lane === 'poll').length
      const told = `${storeMs} ms to the store, ${command ? 'with' : 'without'} commands: ${polls} polls, ${((100 * sent.length) / (tokens * 4.5)).toFixed(0)} %`
      expect.soft(sent.length / (tokens * 4.5), told).toBeGreaterThanOrEqual(0.9)
      expect.soft(polls, told).toBeGreaterThanOrEqual(20)
    }
  },
)

test.each(['close', 'yield', 'kill'])(
  'what was used while the store was away is known to the next process though nobody asks for it again: %s',
  async (how) => {
    const { share, live, drain, pass, useWhileAway } = rig(once)
    const [a, b] = [share('A'), share('B')]
    await useWhileAway(a)
    await live([a], 60_000)
    if (how === 'close') await a.close()
    if (how === 'kill') pass(10_000)
    let n = await drain(b)
    if (how === 'yield') await live([a, b], 5_000)
    n += await drain(b)
    expect(n).toBe(0)
  },
)

test.each(['waiting', 'new'])('two successors of a process that was killed wait alike: %s', async (which) => {
  const { share, live, drain, store, operation, other, ended } = rig({ tokens: 5_000, perMs: 60_000 })
  let between: (() => Promise<unknown>) | null = null
  const of = {
    ...store,
    leave: async (id: string) => {
      await store.leave(id)
      await between?.()
    },
  }
  const [a, b, c] = [share('A'), share('B', of), share('C')]
  await live([a], 1_000)
  if (which === 'waiting') await c.take('S', operation)
  else between = () => c.take('S', other)
  let n = await drain(a, 89)
  ended.add('A')
  n += await drain(b)
  await c.beat()
  n += await drain(c)
  expect(n).toBeLessThanOrEqual(500)
})

test('calls that waited for the store do not leave beside as many that came later', async () => {
  const { share, t, store, operation, other, pass, sent, most } = rig({ tokens: 600, perMs: 60_000 })
  let waiting: { atMs: number; go: () => void }[] = []
  const a = share('A', {
    ...store,
    put: async (id, texts) => {
      await new Promise<void>((go) => waiting.push({ atMs: t.mono + 2_000, go }))
      return await store.put(id, texts)
    },
  })
  let isBeating = false
  await a.take('S', other)
  for (; t.mono < 70_000; pass(10)) {
    for (const { go } of waiting.filter(({ atMs }) => atMs <= t.mono)) go()
    waiting = waiting.filter(({ atMs }) => atMs > t.mono)
    for (let i = 0; i < 50; i += 1) await null
    if (t.mono % 1_000 === 0 && !isBeating) {
      isBeating = true
      void a.beat().finally(() => {
        isBeating = false
      })
    }
    for (let i = 0; i < (t.mono === 0 ? 60 : 1); i += 1)
      void a.take('S', operation).then((leave) => {
        if (leave.granted) sent.push(t.mono)
      })
    for (let i = 0; i < 50; i += 1) await null
  }
  expect(most(60_000)).toBeLessThanOrEqual(600)
})

test('what is computed first is stored first', async () => {
  const { share, live, drain, view, operation, ended } = rig(once)
  const far = view()
  const [a, b] = [share('A', far.of), share('B')]
  await live([a], 1_000)
  await drain(a)
  await live([a], 2 * hour)
  await a.learn('S', operation, { status: 429, ...said })
  await live([a], 2 * hour)
  await a.learn('S', operation, { status: 200, ...said })
  const slow = far.hold('put')
  const beating = a.beat()
  await tick()
  const draining = drain(a)
  await tick()
  slow.go()
  await beating
  expect(await draining).toBe(1)
  await live([a], 3_000)
  ended.add('A')
  await drain(b)
  await live([b], 3_000)
  expect(await drain(b)).toBe(0)
})

test('a call that comes while an idle process gives its buckets away is counted', async () => {
  const { share, live, drain, pass, view } = rig(once)
  const far = view()
  const a = share('A', far.of)
  await live([a], 1_000)
  await drain(a)
  await live([a], hour + 100_000)
  for (let i = 0; i < 29; i += 1) {
    pass(1_000)
    await a.beat()
  }
  pass(1_500)
  const slow = far.hold('put')
  const beating = a.beat()
  await tick()
  const draining = drain(a)
  await tick()
  slow.go()
  await beating
  expect((await draining) + (await drain(a))).toBe(1)
})

test('a call in the very moment of giving the buckets away is counted', async () => {
  const twice: number[] = []
  for (let ticks = 0; ticks < 30; ticks += 1) {
    const { share, live, drain, pass, operation } = rig(once)
    const [a, b] = [share('A'), share('B')]
    await live([a], 1_000)
    await drain(a)
    await live([a], hour + 100_000)
    await b.take('S', operation)
    pass(300)
    const beating = a.beat()
    for (let i = 0; i < ticks; i += 1) await null
    const first = (await a.take('S', operation)).granted ? 1 : 0
    await beating
    await b.beat()
    if (first + (await drain(b)) > 1) twice.push(ticks)
  }
  expect(twice).toEqual([])
})

test('of a part that was drawn no more is left than the bucket has not had back', async () => {
  const { share, live, drain, pass, other } = rig({ tokens: 600, perMs: 60_000 })
  const [a, b] = [share('A'), share('B')]
  await a.take('T', other)
  await b.take('T', other)
  await live([a, b], 5_000)
  for (let call = 0; call < 3; call += 1) {
    if (call > 0) pass(115)
    await drain(a, 1)
  }
  pass(330)
  expect((await drain(a, 1)) + (await drain(b)) + (await drain(a))).toBeLessThanOrEqual(60)
})

test('a clock that is set while answers are under way makes none of them old', async () => {
  const { t, operation, pass } = rig({ tokens: 60, perMs: 60_000 })
  const a = createInProcessBudget({ now: () => t.wall, monotonicMs: () => t.mono })
  const drain = async (most: number) => {
    let n = 0
    while (n < most && (await a.take('S', operation)).granted) n += 1
    return n
  }
  await drain(1)
  await a.learn('S', operation, { status: 200, ...said, remaining: 59 })
  pass(70_000)
  const n = await drain(30)
  t.wall += hour
  await a.learn('S', operation, { status: 200, ...said, remaining: 59 })
  expect(n + (await drain(1_000))).toBeLessThanOrEqual(60)
})

test('two short sleeps of the machine are as good as a long one', async () => {
  const { t, share, live, drain, pass, other } = rig(once)
  const [a, b] = [share('A'), share('B')]
  await live([a], 1_000)
  await drain(a)
  await live([a], hour + 100_000)
  const sleep = (ms: number) => {
    t.wall += ms
    t.store += ms
  }
  sleep(4_400)
  pass(400)
  await a.take('T', other)
  sleep(4_400)
  expect((await drain(b)) + (await drain(a))).toBe(1)
})

test('where one call comes back after more than five seconds, a successor has all that was not used', async () => {
  const { share, live, drain, ended } = rig({ tokens: 600, perMs: hour })
  const [a, b] = [share('A'), share('B')]
  await live([a], 5_000)
  await drain(a, 1)
  ended.add('A')
  await drain(b)
  await live([b], 3_000)
  expect(await drain(b)).toBe(53)
})

test.each([
  [1, hour],
  [600, hour],
  [10, 60_000],
])('a process alone, %i in %i ms, gets its first call though the store takes a while', async (tokens, perMs) => {
  for (const storeMs of [1, 60, 1_000]) {
    const t = { ms: Date.UTC(2026, 10, 22) }
    const store = memoryStore(
      () => t.ms,
      async () => {
        t.ms += storeMs / 2
      },
    )
    const limit = { tokens, perMs }
    const clock = { wallMs: () => t.ms, monotonicMs: () => t.ms }
    const operation = { name: 'orders.list', limit, payloadKeys: [] }
    const budget = createSharedBudget({ store, id: 'A', limitOf: () => limit, clock, random: () => 0.5 })
    let granted = 0
    for (let call = 0; call < 5; call += 1) {
      if ((await budget.take('S', operation)).granted) granted += 1
      t.ms += 10
      await budget.beat()
    }
    expect.soft(granted, `${storeMs} ms`).toBeGreaterThanOrEqual(1)
    expect.soft(store.calls, `${storeMs} ms`).toBeLessThan(50)
  }
})

test('a call given back, and taken again while that is being stored, is known to the successor', async () => {
  const { share, live, drain, view, operation, ended } = rig({ tokens: 20, perMs: hour })
  const far = view()
  const [a, b] = [share('A', far.of), share('B')]
  let left = await drain(a, 1)
  const second = await a.take('S', operation)
  if (second.granted) await giveBack(second)
  await live([a], 2_000)
  const third = await a.take('S', operation)
  if (third.granted) await giveBack(third)
  const slow = far.hold('put')
  const beating = a.beat()
  await tick()
  const again = a.take('S', operation)
  await tick()
  slow.go()
  await beating
  if ((await again).granted) left += 1
  await live([a], 10_000)
  ended.add('A')
  await live([b], 4_000)
  expect(left + (await drain(b))).toBeLessThanOrEqual(2)
})

test('a process alone uses its rate though the store takes a second and a half', async () => {
  const { requests } = await runFleet({
    processes: 1,
    durationMs: 300_000,
    allows: () => ({ tokens: 60, perMs: 60_000 }),
    tells: false,
    storeMs: 1_500,
  })
  expect(requests.filter(({ atMs }) => atMs > 100_000).length / 200).toBeGreaterThan(0.85)
})

/** A process that has used its only call while the store was away. The store is back, and what is to be written is on its way. */
const usedAway = async () => {
  const { store, share, drain, pass, useWhileAway } = rig(once)
  const answers: (() => void)[] = []
  let isSlow = true
  const a = share('A', {
    ...store,
    swap: async (name, version, text) => {
      if (isSlow)
        await new Promise<void>((resolve) => {
          answers.push(resolve)
        })
      return await store.swap(name, version, text)
    },
  })
  const b = share('B')
  await useWhileAway(a)
  pass(1_000)
  await a.beat()
  await tick()
  return {
    ...{ a, b, drain, pass },
    go: () => {
      isSlow = false
      for (const answer of answers) answer()
    },
  }
}

test.each(['is closed', 'gives its buckets to another one'])(
  'a process that %s stores first what was used while the store was away',
  async (how) => {
    const { a, b, drain, pass, go } = await usedAway()
    if (how !== 'is closed') await drain(b)
    pass(500)
    const ending = how === 'is closed' ? a.close() : a.beat()
    await tick()
    expect(await drain(b)).toBe(0)
    go()
    await ending
    pass(500)
    await b.beat()
    expect(await drain(b)).toBe(0)
  },
)

describe('a process that is alone', () => {
  test('stores nothing of calls that its bucket has back at once', async () => {
    const { store, share, live, drain } = rig({ tokens: 5_000, perMs: 60_000 })
    let stored = 0
    const a = share('A', {
      ...store,
      put: async (...given) => {
        stored += 1
        return await store.put(...given)
      },
    })
    for (let call = 0; call < 40; call += 1) {
      expect(await drain(a, 3)).toBe(3)
      await live([a], 15_000)
    }
    expect(stored).toBe(0)
    expect(await drain(a, 300)).toBe(300)
    expect(stored).toBe(1)
  })

  test('has its calls still that did not leave because they could not be stored', async () => {
    const { store, share, live, drain } = rig({ tokens: 60, perMs: 60_000 })
    const a = share('A')
    await live([a], 1_000)
    store.isAway = true
    for (let call = 0; call < 10; call += 1) expect(await drain(a, 1)).toBe(0)
    store.isAway = false
    expect(await drain(a)).toBe(5)
  })

  test.each([
    ['a minute', { tokens: 60, perMs: 60_000 }, 60_000],
    ['a minute, many', { tokens: 5_000, perMs: 60_000 }, 60_000],
    ['an hour', once, 3_700_000],
    ['an hour, some', { tokens: 20, perMs: hour }, hour],
  ])(
    'leaves nothing to its successor that it has used just before it was killed, where limits are by %s',
    async (_by, limit, quietMs) => {
      const { share, live, drain, pass, ended } = rig(limit)
      const [a, b] = [share('A'), share('B')]
      expect(await drain(a, 1)).toBe(1)
      await live([a], quietMs)
      await drain(a)
      ended.add('A')
      // It waits until what is stored nowhere is paid back.
      expect(await drain(b)).toBe(0)
      pass(1_300)
      expect(await drain(b)).toBeLessThanOrEqual(Math.floor((1_300 * limit.tokens) / limit.perMs))
    },
  )
})
