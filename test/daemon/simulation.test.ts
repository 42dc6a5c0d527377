import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fullBucket } from '../../src/clients/bucket.ts'
import { createInProcessBudget } from '../../src/clients/budget.ts'
import type { Operation, RateLimit } from '../../src/clients/operation.ts'
import { queuedSyncsAtOnce } from '../../src/daemon/capacity.ts'
import { allowedCalls, createRecord } from '../../src/daemon/simulation/record.ts'
import { createSimulation } from '../../src/daemon/simulation/simulation.ts'
import type { SimulatedBackfill, SimulatedCommand, SimulatedStream, Witness, World } from '../../src/daemon/simulation/world.ts'
import { byUrgency, inRounds, shareOfKind } from '../../src/domain/command-shares.ts'
import { dueCommands } from '../../src/store/commands.ts'
import { recordSellers } from '../../src/store/sellers.ts'
import { withDatabase } from '../support/database.ts'

const startMs = Date.UTC(2026, 10, 23)
const minuteMs = 60_000
const hourMs = 3_600_000

const operation = (name: string, tokens = 60, perMs = minuteMs): Operation => ({
  name,
  limit: { tokens, perMs },
  payloadKeys: [],
})
const ship = operation('ship')
const list = operation('list', 600)

const command = (number: number, sellerId: string, more: Partial<SimulatedCommand> = {}): SimulatedCommand => ({
  ...{ id: `${sellerId}-${number}`, sellerId, subject: String(number), kind: 'ship', operation: ship, reads: null },
  ...{ actByMs: null, comesAtMs: startMs, dueAtMs: startMs },
  ...more,
})
const many = (count: number, sellerId: string): readonly SimulatedCommand[] =>
  Array.from({ length: count }, (_, number) => command(number, sellerId))
const poll = (sellerId: string, more: Partial<SimulatedStream> = {}): SimulatedStream => ({
  ...{ sellerId, resource: 'orders', stream: 'changed', everyMs: minuteMs, restsAfterRestart: false },
  ...{ operation: list, calls: 1, lane: 0 },
  ...more,
})
const backfill = (sellerId: string, calls: number, more: Partial<SimulatedBackfill> = {}): SimulatedBackfill => ({
  ...{ sellerId, resource: 'orders', stream: 'backfill:past', operation: list, calls, lane: 1 },
  ...more,
})

/** Lets a world go on for so long; what was told, in its order. */
const play = (given: Partial<World>, forMs: number, heard: Partial<Witness> = {}) => {
  const told: string[] = []
  const sent = new Map<string, number>()
  const record = createRecord()
  const world: World = {
    ...{ startMs, seed: 1, processes: 1, streams: [], backfills: [], commands: [] },
    limitOf: (_sellerId, { limit }) => limit,
    memoryOf: () => null,
    answerMs: () => 200,
    ...given,
  }
  const simulation = createSimulation(world, {
    ...record,
    granted: (sellerId, { name }, atMs) => void told.push(`${atMs} ${sellerId} ${name}`),
    sent: (one, atMs) => {
      sent.set(one.id, atMs)
      record.sent(one, atMs)
    },
    ...heard,
  })
  simulation.advance(startMs + forMs)
  return { told, sent, record, used: simulation.used() }
}

const mostInAnyWindow = (times: readonly number[], windowMs: number): number => {
  let most = 0
  let first = 0
  for (let last = 0; last < times.length; last += 1) {
    while ((times[last] ?? 0) - (times[first] ?? 0) >= windowMs) first += 1
    most = Math.max(most, last - first + 1)
  }
  return most
}

const anyLimit: fc.Arbitrary<RateLimit> = fc.record({
  tokens: fc.integer({ min: 1, max: 100 }),
  perMs: fc.integer({ min: 1_000, max: minuteMs }),
})

describe('a simulation', () => {
  test('polls, and commands that read first, have their calls beside backfills', () => {
    const few = operation('few', 6)
    const streams = ['a', 'b', 'c'].map((stream) => poll('seller', { stream, operation: few, everyMs: 60_000 }))
    const backfills = [1, 2, 3, 4, 5, 6].map((past) =>
      backfill('seller', 100_000, { stream: `backfill:${past}`, operation: few }),
    )
    const commands = [...Array(20).keys()].map((number) =>
      command(number, 'seller', { reads: few, comesAtMs: startMs + number * 61_000, dueAtMs: startMs + number * 61_000 }),
    )
    const began: number[] = []
    const heard: Partial<Witness> = { began: (_stream, _dueAtMs, atMs) => void began.push(atMs) }
    const { sent, used } = play({ streams, backfills, commands }, hourMs, heard)
    expect(began.length).toBeGreaterThanOrEqual(175)
    for (const { id, comesAtMs } of commands)
      expect((sent.get(id) ?? Number.POSITIVE_INFINITY) - comesAtMs).toBeLessThanOrEqual(12_000)
    expect(used.find((use) => use.operation === few)?.calls).toBeGreaterThanOrEqual(0.98 * (hourMs / 10_100))
  })

  test('never lets more calls through than the limit, in any window, whatever wants them', () => {
    fc.assert(
      fc.property(anyLimit, fc.nat(200), fc.nat(100), fc.integer({ min: 1, max: 3 }), (limit, commands, calls, processes) => {
        const both = { ...list, limit }
        const times: number[] = []
        play(
          {
            processes,
            streams: [poll('a', { operation: both, everyMs: 7_000 })],
            backfills: calls === 0 ? [] : [backfill('a', calls, { operation: both })],
            commands: many(commands, 'a').map((one) => ({ ...one, operation: both })),
          },
          5 * minuteMs,
          { granted: (_sellerId, _operation, atMs) => void times.push(atMs) },
        )
        expect(times.length).toBeGreaterThan(0)
        expect(mostInAnyWindow(times, limit.perMs)).toBeLessThanOrEqual(limit.tokens)
      }),
      { numRuns: 30 },
    )
  })

  test.each([false, true])('uses no more of a limit than is allowed, and nearly all of it (counted aloud: %s)', (counted) => {
    const backfills = [backfill('a', 1_000_000, { operation: ship })]
    const { used } = play({ backfills, memoryOf: () => ({ ...fullBucket, counted }) }, hourMs)
    const allowed = allowedCalls((_sellerId, { limit }) => limit, 'a', ship, hourMs, counted)
    const [{ calls } = { calls: 0 }] = used
    expect(calls / allowed).toBeGreaterThan(0.95)
    expect(calls / allowed).toBeLessThanOrEqual(1)
  })

  test('has the same future for the same world, and another one for another seed', () => {
    const plenty = operation('ship', 100_000)
    const world = (seed: number): Partial<World> => ({
      ...{ seed, streams: ['a', 'b', 'c'].map((sellerId) => poll(sellerId)) },
      // Beyond the share of the slots: they are turned away, and come back at moments of their own.
      commands: many(300, 'a').map((one) => ({ ...one, operation: plenty })),
      answerMs: () => 2_000,
    })
    const once = play(world(1), hourMs).told
    expect(play(world(1), hourMs).told).toEqual(once)
    expect(play(world(2), hourMs).told).not.toEqual(once)
  })

  test('is the same in one stretch and step by step', () => {
    const given: Partial<World> = { streams: [poll('a')], backfills: [backfill('b', 400)], commands: many(100, 'a') }
    const whole = play(given, 10 * minuteMs)
    const told: string[] = []
    const simulation = createSimulation(
      {
        ...{ startMs, seed: 1, processes: 1, memoryOf: () => null, answerMs: () => 200 },
        limitOf: (_sellerId, { limit }) => limit,
        streams: given.streams ?? [],
        backfills: given.backfills ?? [],
        commands: given.commands ?? [],
      },
      { ...createRecord(), granted: (sellerId, { name }, atMs) => void told.push(`${atMs} ${sellerId} ${name}`) },
    )
    for (let atMs = startMs; atMs <= startMs + 10 * minuteMs; atMs += 777) simulation.advance(atMs)
    simulation.advance(startMs + 10 * minuteMs)
    expect(told).toEqual(whole.told)
  })

  test('carries commands out while polls and backfills hold all slots of the syncs', () => {
    const sellers = Array.from({ length: 200 }, (_, seller) => `s-${seller}`)
    const { sent } = play(
      {
        streams: sellers.map((sellerId) => poll(sellerId, { everyMs: 10_000 })),
        backfills: sellers.map((sellerId) => backfill(sellerId, 1_000)),
        commands: [command(1, 's-1', { comesAtMs: startMs + 30_000, dueAtMs: startMs + 30_000 })],
        answerMs: () => 30_000,
      },
      minuteMs,
    )
    expect(sent.get('s-1-1')).toBe(startMs + 30_000)
  })

  test('begins what is polled before backfills that wait as well: after a turn of those that run', () => {
    const sellers = Array.from({ length: 2 * queuedSyncsAtOnce }, (_, seller) => `s-${seller}`)
    const beganIn = (lane: number) =>
      play(
        {
          // Too seldom to run without a job.
          streams: sellers.map((sellerId) => poll(sellerId, { everyMs: 20 * minuteMs, lane })),
          backfills: sellers.map((sellerId) => backfill(sellerId, 10_000)),
          answerMs: () => 2_000,
        },
        40 * minuteMs,
      ).record.lateness.get(lane)
    const first = beganIn(0)
    expect(first?.count).toBeGreaterThanOrEqual(2 * sellers.length - 1)
    expect(first?.most).toBeLessThanOrEqual(19_000)
    // Behind the backfills none has its turn.
    expect(beganIn(2)?.count ?? 0).toBe(0)
  })

  test('a seller that wants everything delays no command and no poll of the others', () => {
    const others = Array.from({ length: 20 }, (_, seller) => `s-${seller}`)
    const wanted = others.map((sellerId, number) =>
      command(number, sellerId, { comesAtMs: startMs + 60_000 + number, dueAtMs: startMs + 60_000 + number }),
    )
    const world = (greedy: boolean): Partial<World> => ({
      streams: others.map((sellerId) => poll(sellerId)),
      backfills: greedy ? Array.from({ length: 40 }, (_, n) => backfill('greedy', 10_000, { stream: `backfill:${n}` })) : [],
      commands: greedy ? [...many(5_000, 'greedy'), ...wanted] : wanted,
      // What the greedy one asks hangs for long.
      answerMs: (sellerId) => (sellerId === 'greedy' ? 30_000 : 200),
    })
    const alone = play(world(false), 10 * minuteMs)
    const beside = play(world(true), 10 * minuteMs)
    for (const { id } of wanted) expect(beside.sent.get(id)).toBe(alone.sent.get(id))
    expect(beside.record.lateness.get(0)?.most).toBe(alone.record.lateness.get(0)?.most)
    expect(beside.sent.size).toBeGreaterThan(wanted.length)
  })

  test('of one seller those commands leave first that the marketplace wants earliest, one after another of each order', () => {
    const urgent = command(1_000, 'a', { actByMs: startMs + hourMs, comesAtMs: startMs + minuteMs, dueAtMs: startMs })
    const twice = command(1_001, 'a', { subject: '0', actByMs: startMs })
    const { sent } = play({ commands: [...many(500, 'a'), twice, urgent] }, hourMs)
    expect(sent.size).toBe(502)
    const first = sent.get('a-0') ?? Number.POSITIVE_INFINITY
    expect(sent.get(twice.id)).toBeGreaterThanOrEqual(first + 200)
    // Before those that came a minute earlier and were not enqueued yet.
    const before = [...sent.values()].filter((atMs) => atMs < (sent.get(urgent.id) ?? 0)).length
    expect(before).toBeLessThan(400)
  })

  test('of those that wait for budget the one that is wanted earliest has the next call, whenever it came', () => {
    const limit = { tokens: 1, perMs: hourMs }
    const later = Array.from({ length: 20 }, (_, number) =>
      command(number, 'a', {
        actByMs: startMs + (40 - number) * hourMs,
        comesAtMs: startMs + number * minuteMs,
        dueAtMs: startMs,
      }),
    )
    const { sent } = play({ commands: later, limitOf: () => limit }, 30 * hourMs)
    const order = [...sent].sort(([, a], [, b]) => a - b).map(([id]) => id)
    // The first one left when nothing else was there.
    expect(order).toEqual([
      'a-0',
      ...later
        .slice(1)
        .reverse()
        .map(({ id }) => id),
    ])
    expect(new Set(sent.values()).size).toBe(20)
  })

  test('a backfill with a tight limit ends when its calls are through, and polls take their part', () => {
    const tight = operation('list', 60, minuteMs)
    const alone = play({ backfills: [backfill('a', 600, { operation: tight })] }, hourMs)
    const ends = [...alone.record.ends.values()].map((atMs) => (atMs - startMs) / minuteMs)
    expect(ends).toHaveLength(1)
    // 55 a minute in the long run, after a burst of six.
    expect(ends[0]).toBeGreaterThan(10.5)
    expect(ends[0]).toBeLessThan(11.5)
    const shared = play(
      { backfills: [backfill('a', 600, { operation: tight })], streams: [poll('a', { operation: tight, everyMs: 5_000 })] },
      hourMs,
    )
    const [end = 0] = shared.record.ends.values()
    expect((end - startMs) / minuteMs).toBeGreaterThan(12.5)
    expect(shared.used).toMatchObject([{ sellerId: 'a', operation: tight }])
  })
})

describe('beside the budget of the daemon, driven by a clock of its own', () => {
  test('every call is granted at the same moment', () => {
    const asks = fc.array(fc.nat(2_000), { minLength: 1, maxLength: 150 })
    return fc.assert(
      fc.asyncProperty(anyLimit, asks, async (limit, gaps) => {
        const write = { ...ship, limit }
        let atMs = startMs
        const commands = gaps.map((gapMs, number) => {
          atMs += gapMs
          return command(number, 'a', { operation: write, comesAtMs: atMs, dueAtMs: atMs, kind: `kind ${number}` })
        })
        const { told } = play({ commands, answerMs: () => 1 }, hourMs)

        let nowMs = startMs
        const budget = createInProcessBudget({ now: () => nowMs, random: () => 0 })
        const waiting = commands.map(({ comesAtMs }, number) => ({ atMs: comesAtMs, number }))
        const granted: string[] = []
        let added = waiting.length
        while (waiting.length > 0) {
          waiting.sort((a, b) => a.atMs - b.atMs || a.number - b.number)
          const next = waiting.shift()
          if (next === undefined || next.atMs > startMs + hourMs) break
          nowMs = next.atMs
          const leave = await budget.take('a', write)
          if (leave.granted) {
            granted.push(`${nowMs} a ship`)
            await budget.learn('a', write, { status: 200, remaining: null, replenishAt: null, retryAfter: null })
          } else {
            waiting.push({ atMs: leave.availableAt.getTime(), number: added })
            added += 1
          }
        }
        expect(told).toEqual(granted)
      }),
      { numRuns: 40 },
    )
  })
})

describe('beside the derivation of the daemon', () => {
  const stage = withDatabase()

  test('the shares and rounds are those of Postgres', async () => {
    const sellers = ['a', 'b', 'c']
    await recordSellers(
      stage.database,
      sellers.map((sellerId) => ({ sellerId, credentialsFingerprint: 'f' })),
    )
    await stage.database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, next_action_at, act_by)
       SELECT n::text, (ARRAY['a', 'a', 'a', 'b', 'c'])[1 + n % 5], n::text, (ARRAY['ship', 'acknowledge'])[1 + (n / 5) % 2], 'pending', '{}',
         now() - interval '1 hour', CASE WHEN n % 7 > 0 THEN now() + (n * 7919 % 1000) * interval '1 minute' END
       FROM generate_series(1, 900) n`,
    )
    const rows = await stage.database.query<{ id: string; seller: string; kind: string; act: Date | null; sequence: bigint }>(
      'SELECT id, seller_id AS seller, kind, act_by AS act, sequence FROM tallyman.commands',
    )
    for (const most of [1, 30, 500, 2_000]) {
      const lines = [...Map.groupBy(rows, ({ seller, kind }) => `${seller} ${kind}`).values()]
      const share = shareOfKind(most, lines.length)
      const placed = lines.flatMap((line) =>
        line
          .map(({ id, seller, act, sequence }) => ({
            ...{ id, sellerId: seller, actByMs: act?.getTime() ?? null },
            sequence: Number(sequence),
          }))
          .sort(byUrgency)
          .slice(0, share)
          .map((one, index) => ({ ...one, place: index + 1 })),
      )
      expect(inRounds(placed).map(({ id }) => id)).toEqual(await dueCommands(stage.database, most))
    }
  })
})
