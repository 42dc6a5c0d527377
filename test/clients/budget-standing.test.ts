import { expect, test } from 'vitest'
import { hour, once, rig, said, tick } from './support/budget-rig.ts'

test.each([false, true])(
  'a 429 of an hour that was learned while the store was away for this process only is not forgotten; control %s',
  async (control) => {
    const { share, live, drain, view, operation, pass, t } = rig({ tokens: 60, perMs: 60_000 })
    const va = view()
    const [a, b] = [share('A', va.of), share('B')]
    await live([a], 5_000)
    va.isAway = true
    await live([a], 20_000)
    if (!control) await drain(b, 1) // B is alone and has adopted the bucket; control: B knows nothing of it
    await live([a, b], 2_000)
    await drain(a, 1)
    await a.learn('S', operation, { status: 429, ...said, retryAfter: new Date(t.wall + hour) })
    va.isAway = false
    // A is back; B yields at its next beat.
    pass(1_000)
    await a.beat()
    await tick()
    await live([a, b], 10_000)
    expect((await drain(a)) + (await drain(b))).toBe(0)
  },
)

test.each([false, true])(
  'after an outage for all: the hourly call of the second one is known to both; control %s',
  async (control) => {
    const { share, live, drain, store, operation, market } = rig(once)
    const [a, b] = [share('A'), share('B')]
    await live([a, b], 5_000)
    store.isAway = true
    await live([a, b], 5_000)
    await drain(b, 1)
    await live([a, b], 4 * hour)
    expect(await drain(b, 1)).toBe(1)
    store.isAway = false
    // A comes first and is alone; an answer or a wish for that bucket lets it adopt it.
    await a.beat()
    if (!control) await a.learn('S', operation, { status: 200, ...said })
    await b.beat()
    await tick()
    await live([a, b], 10_000)
    expect((await drain(a)) + (await drain(b))).toBe(0)
    expect(market.over).toBe(0)
  },
)

test('a 429 that comes to a process that shares already while the other one is sole still', async () => {
  const { share, live, drain, operation, other, t } = rig({ tokens: 60, perMs: 60_000 })
  const [a, b] = [share('A'), share('B')]
  await live([a], 2_000)
  await drain(a, 1)
  await b.take('T', other) // joined; A is still sole
  await b.learn('S', operation, { status: 429, ...said, retryAfter: new Date(t.wall + hour) })
  await live([a, b], 10_000)
  expect((await drain(a)) + (await drain(b))).toBe(0)
})

const many = { tokens: 5_000, perMs: 60_000 }

test.each([false, true])(
  'gone away while "keep" is under way, and others are named: calls of the away time count; control %s',
  async (control) => {
    const { share, live, drain, view, pass, other, operation, market, t } = rig(many)
    const va = view()
    const [a, b] = [share('A', va.of), share('B')]
    await live([a], 2_000)
    await a.learn('S', operation, { status: 200, ...said, remaining: 4_999, replenishAt: new Date(t.wall + 12) })
    await drain(a)
    await live([a], 10_000)
    if (!control) await b.take('T', other) // B has come
    const h = va.hold('announce', 'after')
    pass(2_000) // a beat that came late
    const beating = a.beat()
    await tick()
    for (let i = 0; i < 295; i += 1) {
      pass(10)
      await drain(a)
    }
    h.go()
    await beating
    await live([a, b], 3_000)
    for (let i = 0; i < 3_000; i += 1) {
      await drain(a)
      await drain(b)
      pass(1)
    }
    expect(market.over).toBe(0)
  },
)

test('a claim that is answered after going away clears what was learned: 429 of an hour', async () => {
  const { share, live, drain, view, pass, t, other, operation } = rig({ tokens: 60, perMs: 60_000 })
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await a.take('T', other)
  await b.take('T', other)
  await live([a, b], 5_000)
  await drain(a, 1)
  await b.close()
  const h = va.hold('announce', 'after')
  pass(2_000)
  const beating = a.beat() // will be sole
  await tick()
  pass(2_600)
  await a.take('T', other) // it goes away
  await a.take('S', operation)
  await a.learn('S', operation, { status: 429, ...said, retryAfter: new Date(t.wall + hour) })
  h.go()
  await beating
  await live([a], 5_000)
  expect(await drain(a)).toBe(0)
})

test('a put that fails while the buckets are given away: a 429 is not forgotten', async () => {
  const { share, live, drain, view, pass, t, other, operation } = rig({ tokens: 60, perMs: 60_000 })
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await live([a], 5_000)
  await drain(a, 3)
  await a.learn('S', operation, { status: 429, ...said, retryAfter: new Date(t.wall + hour) })
  const h = va.hold('put')
  await a.beat()
  await tick()
  await b.take('T', other)
  pass(1_000)
  const h2 = va.hold('announce', 'after') // keep
  const beating = a.beat()
  await tick()
  const h3 = va.hold('announce', 'before') // yield
  h2.go()
  await tick()
  h.fail() // the put of the last second: bear() in mode yielding
  await tick()
  await a.take('S', operation) // away: the part takes what was carried
  h3.go()
  await beating
  await tick()
  await live([a, b], 5_000)
  expect((await drain(a)) + (await drain(b))).toBe(0)
})

test.each([false, true])('shared to sole: a 429 that is being stored meanwhile is not forgotten; control %s', async (control) => {
  const { share, live, drain, view, pass, t, other, operation } = rig({ tokens: 60, perMs: 60_000 })
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await a.take('T', other)
  await b.take('T', other)
  await live([a, b], 5_000)
  await drain(a, 1)
  await b.close()
  const h = va.hold('swap')
  const learning = a.learn('S', operation, { status: 429, ...said, retryAfter: new Date(t.wall + hour) })
  await tick()
  pass(50)
  if (control) {
    h.go()
    await learning
  }
  await a.beat() // is sole now
  const n = await drain(a, 2)
  h.go()
  await learning
  await live([a], 5_000)
  expect(n + (await drain(a))).toBe(0)
})

test('a bucket that was read in an earlier time of being alone is not adopted', async () => {
  const { share, live, drain, view, pass, operation, other } = rig(once)
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await live([a], 2_000)
  const h = va.hold('read', 'after')
  const first = a.take('S', operation)
  await tick()
  await b.take('T', other)
  pass(500)
  await a.beat() // yields
  pass(300)
  await b.beat() // ready
  const n = await drain(b)
  await b.close()
  pass(700)
  await a.beat() // sole again
  pass(1_000)
  h.go()
  const m = (await first).granted ? 1 : 0
  expect(n).toBe(1)
  expect(n + m + (await drain(a))).toBe(1)
})

test.each([false, true])('a limit that is raised while a put is under way; control %s', async (control) => {
  const { share, live, drain, view, operation, of, ended, pass, market, t } = rig(once)
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await live([a], 2_000)
  const h = va.hold('put')
  const first = a.take('S', operation)
  await tick()
  if (!control) {
    of.limit = { tokens: 600, perMs: 60_000 }
    await a.take('S', operation)
  }
  h.go()
  expect((await first).granted).toBe(true)
  of.limit = { tokens: 600, perMs: 60_000 }
  await live([a], 10_000)
  await a.learn('S', operation, { status: 200, ...said, remaining: 599, replenishAt: new Date(t.wall + 100) })
  await live([a], 120_000)
  await drain(a)
  ended.add('A')
  await drain(b)
  pass(1_300)
  await b.beat()
  await drain(b)
  // it learns that its marketplace counts
  expect(market.sent).toBeLessThanOrEqual(600 + 13)
})

test.each(['kill', 'close'])('what the marketplace says to be left is known to the successor: %s', async (how) => {
  const { share, live, drain, operation, ended, t } = rig({ tokens: 20, perMs: hour })
  const [a, b] = [share('A'), share('B')]
  await live([a], 2_000)
  expect(await drain(a, 1)).toBe(1)
  await live([a], 1_000) // a beat between a call and its answer
  await a.learn('S', operation, { status: 200, ...said, remaining: 15, replenishAt: new Date(t.wall + 180_000) })
  expect(await drain(a, 1)).toBe(1)
  await live([a], 1_000)
  // another application has taken the rest
  await a.learn('S', operation, { status: 200, ...said, remaining: 1, replenishAt: new Date(t.wall + 180_000) })
  await live([a], 60_000)
  if (how === 'close') await a.close()
  else ended.add('A')
  await drain(b)
  await live([b], 3_000)
  expect(await drain(b)).toBeLessThanOrEqual(1)
})

test.each(['after', 'before'] as const)(
  'answers of the store that come late move no clock (killed, fast successor): %s',
  async (when) => {
    const { share, live, drain, view, pass, ended, operation, other, market, t } = rig(many)
    const va = view()
    const [a, b] = [share('A', va.of), share('B')]
    await live([a], 2_000)
    await a.learn('S', operation, { status: 200, ...said, remaining: 4_999, replenishAt: new Date(t.wall + 12) })
    await live([a], 60_000)
    const slowBeat = async (works: boolean) => {
      const h = va.hold('announce', when)
      const beating = a.beat()
      for (let i = 0; i < 290; i += 1) {
        pass(10)
        if (works) await drain(a)
        else await a.take('T', other)
      }
      h.go()
      await beating
    }
    await slowBeat(false)
    await drain(a)
    for (let i = 0; i < 100; i += 1) {
      pass(10)
      await drain(a)
    }
    await slowBeat(true)
    for (let i = 0; i < 100; i += 1) {
      pass(10)
      await drain(a)
    }
    ended.add('A')
    await b.take('T', other)
    pass(1_250)
    await b.beat()
    await drain(b)
    expect(market.over).toBe(0)
  },
)

test('a lease does not outlast the way of the store', async () => {
  const { share, live, drain, view, pass, operation, other, t, market, arrive } = rig(many)
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await a.take('T', other)
  await b.take('T', other)
  await live([a, b], 5_000)
  await b.take('S', operation)
  await b.learn('S', operation, { status: 200, ...said, remaining: 4_999, replenishAt: new Date(t.wall + 12) })
  await drain(b, 1)
  await live([a, b], 61_000)
  const h = va.hold('swap', 'after')
  const some = Array.from({ length: 400 }, () => a.take('S', operation))
  await tick()
  pass(2_900)
  h.go()
  for (const x of await Promise.all(some)) if (x.granted) arrive()
  await drain(b)
  await drain(a)
  expect(market.over).toBe(0)
})

test.each([[{ tokens: 1, perMs: 60_000 }], [once]])(
  'one at a time, several processes: a draw that took long makes the next one come no earlier, %o',
  async (limit) => {
    const { share, live, drain, view, pass, operation, other, market, arrive } = rig(limit)
    const va = view()
    const [a, b] = [share('A', va.of), share('B')]
    await a.take('T', other)
    await b.take('T', other)
    await live([a, b], 70_000)
    const h = va.hold('read', 'after')
    const g = va.hold('swap', 'after')
    const first = a.take('S', operation)
    await tick()
    pass(1_800)
    h.go()
    await tick()
    pass(1_800)
    g.go()
    expect((await first).granted).toBe(true)
    arrive()
    while (market.sent < 2) {
      pass(100)
      if ((market.atMs + limit.perMs - 5_000) % 1_000 === 0) void 0
      await a.beat()
      await b.beat()
      await a.take('T', other)
      await b.take('T', other)
      await drain(b, 1)
    }
    expect(market.over).toBe(0)
  },
)

test('a machine that sleeps for three seconds has no lease that is older than it thinks', async () => {
  const { share, live, drain, operation, other, t, market, arrive } = rig(many)
  const [a, b] = [share('A'), share('B')]
  await a.take('T', other)
  await b.take('T', other)
  await live([a, b], 5_000)
  await b.take('S', operation)
  await b.learn('S', operation, { status: 200, ...said, remaining: 4_999, replenishAt: new Date(t.wall + 12) })
  await live([a, b], 61_000)
  const some = Array.from({ length: 80 }, () => a.take('S', operation))
  for (const x of await Promise.all(some)) if (x.granted) arrive()
  await drain(a, 1)
  t.wall += 3_500
  t.store += 3_500
  await drain(b)
  await drain(a)
  expect(market.over).toBe(0)
})

test.each([true, false])('a process that is closed while away, though the store answers again: %s', async (closesAtOnce) => {
  const { share, live, drain, useWhileAway, pass, market } = rig(once)
  const [a, b] = [share('A'), share('B')]
  await useWhileAway(a)
  pass(300)
  if (!closesAtOnce) await live([a], 2_000)
  await a.close()
  pass(10_000)
  expect(await drain(b)).toBe(0)
  expect(market.over).toBe(0)
})

test('a clock that is set while the buckets are given away, and that fails', async () => {
  const { share, live, drain, view, t, pass, other, operation } = rig({ tokens: 60, perMs: 60_000 })
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await live([a], 2_000)
  await drain(a, 1)
  await a.learn('S', operation, { status: 429, ...said, retryAfter: new Date(t.wall + hour) })
  await b.take('T', other)
  const h = va.hold('put')
  pass(900)
  const beating = a.beat()
  await tick()
  t.wall += hour
  await a.take('T', other)
  h.fail()
  await beating
  await live([a, b], 10_000)
  expect((await drain(a)) + (await drain(b))).toBe(0)
})

test('a clock that is set while an answer waits to be stored', async () => {
  const { share, live, drain, view, t, other, operation } = rig({ tokens: 60, perMs: 60_000 })
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await a.take('T', other)
  await b.take('T', other)
  await live([a, b], 5_000)
  await drain(a, 1)
  const h = va.hold('read', 'before')
  const learning = a.learn('S', operation, { status: 429, ...said, retryAfter: new Date(t.wall + hour / 2) })
  await tick()
  t.wall += hour
  await a.take('T', other)
  h.go()
  await learning
  await live([a, b], 10_000)
  expect((await drain(a)) + (await drain(b))).toBe(0)
})

test('a process with many buckets to store gives them away within a few seconds, and stays announced', async () => {
  const { share, store, t, other, operation, pass } = rig({ tokens: 60, perMs: 60_000 })
  // 5 ms for each call of the store
  const waiting: { at: number; go: () => void }[] = []
  const slowly = async <T>(ask: () => Promise<T>): Promise<T> => {
    await new Promise<void>((go) => waiting.push({ at: t.mono + 5, go }))
    return await ask()
  }
  const a = share('A', {
    ...store,
    read: (name) => slowly(() => store.read(name)),
    swap: (...g) => slowly(() => store.swap(...g)),
  })
  const b = share('B')
  const run = async (ms: number, each: () => void = () => undefined) => {
    for (let i = 0; i < ms; i += 5) {
      pass(5)
      for (const w of waiting.filter(({ at }) => at <= t.mono)) {
        waiting.splice(waiting.indexOf(w), 1)
        w.go()
      }
      await tick()
      each()
    }
  }
  const first = a.take('T', other)
  await run(50)
  await first
  const takes = Promise.all(Array.from({ length: 1_500 }, (_, i) => a.take('S', operation, `s${i}`)))
  await run(100)
  await takes
  store.isAway = true
  for (let i = 0; i < 10; i += 1) {
    pass(1_000)
    void a.beat()
    void a.take('T', other)
    await run(10)
  }
  store.isAway = false
  void a.beat() // sole again, and begins to store what it knows
  await run(50)
  await b.take('T', other) // another one comes
  pass(1_000)
  let isDone = false
  void a.beat().then(() => {
    isDone = true
  })
  let ms = 0
  let secondSole = -1
  while (!isDone && ms < 60_000) {
    await run(100)
    ms += 100
    if (ms % 1_000 === 0) {
      void b.beat()
      void a.beat()
      await run(5)
      const answer = await store.announce('look', { sole: 'yield', forMs: 1 })
      if (secondSole < 0 && answer.value.others.some(({ id, isSole }) => id === 'B' && isSole)) secondSole = ms
    }
  }
  expect(secondSole).toBe(-1)
  expect(ms).toBeLessThan(6_000)
})

test('a take while the idle process leaves, through a store that does not keep the order', async () => {
  const { share, live, drain, view, pass, other } = rig({ tokens: 5_000, perMs: 60_000 })
  const va = view()
  const [a, b] = [share('A', va.of), share('B')]
  await live([a], 1_000)
  for (let i = 0; i < 30; i += 1) {
    pass(1_000)
    await a.beat()
  }
  pass(1_000)
  const h = va.hold('leave')
  const leaving = a.beat()
  await tick()
  let n = await drain(a, 1)
  h.go()
  await leaving
  await b.take('T', other)
  for (let i = 0; i < 10; i += 1) {
    n += await drain(a)
    n += await drain(b)
    pass(50)
  }
  expect(n).toBeLessThanOrEqual(500 + 45)
})
