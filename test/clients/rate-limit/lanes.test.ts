import { describe, expect, test } from 'vitest'
import type { CallLane } from '../../../src/clients/http/lane.ts'
import type { Operation, RateLimit } from '../../../src/clients/http/operation.ts'
import type { RateBudget } from '../../../src/clients/rate-limit/budget.ts'
import { createInProcessBudget, createSharedBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { createMemoryStore } from '../../../src/clients/rate-limit/store.ts'
import type { Clock } from '../../../src/util/clock.ts'

const startMs = Date.UTC(2026, 10, 24)
const minuteMs = 60_000
const hourMs = 3_600_000

/** Somebody who makes calls: one each `everyMs`, or the next one as soon as the last is answered. */
interface Caller {
  readonly lane: CallLane
  readonly everyMs: number | null
  /** It comes so much later than it was reported. */
  readonly lateMs?: number
  /** From when until when it calls, in ms from the start. */
  readonly fromMs?: number
  readonly untilMs?: number
  readonly process?: number
}

/** A call: when it was wanted and when it left, in ms from the start. */
interface Sent {
  readonly caller: Caller
  readonly wantedMs: number
  readonly sentMs: number
}

const answerMs = 200

/** Plays callers against the budgets of some processes, in virtual time. */
const play = async (
  limit: RateLimit,
  callers: readonly Caller[],
  forMs: number,
  budgetPrefix: (clock: Clock, limit: RateLimit) => readonly RateBudget[],
): Promise<{ readonly sent: readonly Sent[]; readonly asked: number }> => {
  const operation: Operation = { name: 'orders.list', limit, payloadKeys: [] }
  let nowMs = startMs
  const budgets = budgetPrefix({ wallMs: () => nowMs, monotonicMs: () => nowMs - startMs }, limit)
  const events: { readonly atMs: number; readonly run: () => Promise<void> }[] = []
  const at = (atMs: number, run: () => Promise<void>): void => {
    events.push({ atMs, run })
  }
  const sent: Sent[] = []
  let asked = 0
  const begin = (caller: Caller): void => {
    const { lane, everyMs, lateMs = 0, fromMs = 0, untilMs = forMs, process = 0 } = caller
    const budget = budgets[process]
    if (budget === undefined) throw new Error('there is no such process')
    const call = async (wantedMs: number): Promise<void> => {
      asked += 1
      const leave = await budget.take('S', operation, undefined, lane)
      if (!leave.granted) {
        expect(leave.availableAt.getTime()).toBeGreaterThanOrEqual(nowMs)
        return at(Math.max(nowMs + 1, leave.availableAt.getTime()) + lateMs, () => call(wantedMs))
      }
      sent.push({ caller, wantedMs, sentMs: nowMs - startMs })
      at(nowMs + answerMs, async () => {
        await budget.learn('S', operation, { status: 200, remaining: null, replenishAt: null, retryAfter: null })
        const nextMs = everyMs === null ? nowMs - startMs : wantedMs + everyMs
        if (nextMs < untilMs) at(Math.max(nowMs, startMs + nextMs), () => call(nextMs))
      })
    }
    at(startMs + fromMs, () => call(fromMs))
  }
  for (const caller of callers) begin(caller)
  for (;;) {
    const next = events.reduce<(typeof events)[number] | undefined>(
      (first, event) => (first === undefined || event.atMs < first.atMs ? event : first),
      undefined,
    )
    if (next === undefined || next.atMs > startMs + forMs) return { sent, asked }
    events.splice(events.indexOf(next), 1)
    nowMs = next.atMs
    await next.run()
  }
}

const inProcess = ({ wallMs }: Clock): readonly RateBudget[] => [createInProcessBudget({ now: wallMs, random: () => 0.5 })]
const shared =
  (processes: number) =>
  (clock: Clock, limit: RateLimit): ReturnType<typeof createSharedBudget>[] => {
    const store = createMemoryStore(clock.wallMs)
    let seed = 7
    const random = (): number => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed / 2_147_483_647
    }
    return Array.from({ length: processes }, (_, index) =>
      createSharedBudget({
        ...{ store, id: `p${index}`, findLimit: () => limit, ...clock, random },
        ...{ defer: queueMicrotask, timeoutMs: null },
      }),
    )
  }
const budgets = [
  ['in process', inProcess],
  ['shared, alone', shared(1)],
  ['shared by two', shared(2)],
] as const

const listWaits = (sent: readonly Sent[], lane: CallLane): readonly number[] =>
  sent.filter(({ caller }) => caller.lane === lane).map(({ wantedMs, sentMs }) => sentMs - wantedMs)
const maxIn = (sent: readonly Sent[], windowMs: number): number => {
  const times = sent.map(({ sentMs }) => sentMs).sort((a, b) => a - b)
  return Math.max(...times.map((fromMs) => times.filter((atMs) => atMs >= fromMs && atMs < fromMs + windowMs).length))
}
const backfills = (count: number, more: Partial<Caller> = {}): readonly Caller[] =>
  Array.from({ length: count }, () => ({ lane: 'backfill', everyMs: null, ...more }))

describe.each(budgets)('lanes of a budget: %s', (_name, budgetPrefix) => {
  test('polls come in time beside backfills, which use all that is left', async () => {
    const limit = { tokens: 6, perMs: minuteMs }
    const polls: readonly Caller[] = [0, 11_000, 23_000].map((fromMs) => ({ lane: 'poll', everyMs: 60_000, fromMs }))
    const { sent } = await play(limit, [...backfills(6), ...polls], hourMs, budgetPrefix)
    const waits = listWaits(sent, 'poll')
    expect(waits.length).toBeGreaterThanOrEqual(175)
    // Three intervals where all three want a call at once, and the time that a job may take.
    expect(Math.max(...waits)).toBeLessThanOrEqual(3 * 10_100 + 1_000)
    expect(sent.length).toBeGreaterThanOrEqual(0.98 * Math.floor(hourMs / 10_100))
    expect(maxIn(sent, minuteMs)).toBeLessThanOrEqual(6)
  })

  test('a command waits for one request at most, however many backfills and polls wait for the same operation', async () => {
    const limit = { tokens: 6, perMs: minuteMs }
    const commands: Caller = { lane: 'command', everyMs: 67_000, fromMs: 5_000 }
    const polls: readonly Caller[] = [0, 1_000].map((fromMs) => ({ lane: 'poll', everyMs: 25_000, fromMs }))
    const { sent } = await play(limit, [...backfills(6), ...polls, commands], hourMs, budgetPrefix)
    const waits = listWaits(sent, 'command')
    expect(waits.length).toBeGreaterThanOrEqual(52)
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_100 + 1_000)
  })

  test('a poll that comes later than it was reported has its call nevertheless', async () => {
    const limit = { tokens: 6, perMs: minuteMs }
    const poll: Caller = { lane: 'poll', everyMs: 35_000, fromMs: 3_000, lateMs: 3_000 }
    const { sent } = await play(limit, [...backfills(6, { lateMs: 20 }), poll], hourMs, budgetPrefix)
    expect(Math.max(...listWaits(sent, 'poll'))).toBeLessThanOrEqual(10_100 + 4_000)
    expect(listWaits(sent, 'poll').length).toBeGreaterThanOrEqual(100)
  })

  test('snapshots come behind backfills, and at once when these have ended', async () => {
    const limit = { tokens: 6, perMs: minuteMs }
    const snapshot: Caller = { lane: 'snapshot', everyMs: null, fromMs: 1_000 }
    const { sent } = await play(limit, [...backfills(3, { untilMs: hourMs / 2 }), snapshot], hourMs, budgetPrefix)
    const first = sent.filter(({ caller }) => caller === snapshot).map(({ sentMs }) => sentMs)
    expect(first.filter((atMs) => atMs > 60_000 && atMs < hourMs / 2)).toEqual([])
    expect(first.filter((atMs) => atMs >= hourMs / 2 + 4 * 10_100).length).toBeGreaterThanOrEqual(168)
  })

  test('who has gone without its call costs the others seconds, be one an hour allowed', async () => {
    const limit = { tokens: 1, perMs: hourMs }
    const gone: Caller = { lane: 'poll', everyMs: null, fromMs: 1_000, lateMs: 1_000 * hourMs }
    const { sent } = await play(limit, [...backfills(1), gone], 10 * hourMs, budgetPrefix)
    expect(sent.length).toBeGreaterThanOrEqual(8)
  })
})

test.each([
  ['in process', inProcess, 0],
  ['shared, alone', shared(1), 0],
  ['shared, of the same process', shared(2), 0],
  ['shared, of another process', shared(2), 1],
  ['shared by four', shared(4), 3],
] as const)('where a bucket holds several requests, one is left to commands: %s', async (_name, budgetPrefix, process) => {
  const limit = { tokens: 60, perMs: minuteMs }
  const commands: Caller = { lane: 'command', everyMs: 10_300, fromMs: 1_000, process }
  const polls: Caller = { lane: 'poll', everyMs: null }
  const { sent } = await play(limit, [...backfills(6), polls, commands], hourMs / 2, budgetPrefix)
  const [first = Number.NaN, ...waits] = listWaits(sent, 'command')
  expect(waits.length).toBeGreaterThan(170)
  // Nothing is kept before a command has asked: the first one has the next call, but for chance where several share.
  expect(first).toBeLessThanOrEqual(2_200)
  expect(Math.max(...waits)).toBe(0)
  expect(sent.length).toBeGreaterThanOrEqual(0.98 * 55 * 30)
  expect(maxIn(sent, minuteMs)).toBeLessThanOrEqual(60)
})

test.each([20, 60, 100])('polls come before backfills where one is left to commands, %i a minute', async (tokens) => {
  const intervalMs = minuteMs / tokens
  const command: Caller = { lane: 'command', everyMs: hourMs, fromMs: 100 }
  const polls: readonly Caller[] = [0, 1].map((index) => ({ lane: 'poll', everyMs: 10 * intervalMs, fromMs: 5_000 + index }))
  const { sent } = await play({ tokens, perMs: minuteMs }, [command, ...backfills(3), ...polls], hourMs / 4, inProcess)
  const waits = listWaits(sent, 'poll')
  expect(waits.length).toBeGreaterThanOrEqual((2 * 0.95 * (hourMs / 4)) / (10 * intervalMs))
  expect(Math.max(...waits)).toBeLessThanOrEqual(4 * intervalMs)
})

test.each([
  [1, 2],
  [1, 4],
  [5, 12],
])('%i a minute: commands and polls come before %i backfills of another process', async (tokens, count) => {
  const intervalMs = minuteMs / tokens
  const others: readonly Caller[] = (['command', 'poll'] as const).map((lane) => ({ lane, everyMs: 8 * intervalMs }))
  const { sent } = await play(
    { tokens, perMs: minuteMs },
    [...backfills(count, { process: 1 }), ...others],
    4 * hourMs,
    shared(2),
  )
  for (const lane of ['command', 'poll'] as const) {
    const waits = listWaits(sent, lane)
    expect.soft(waits.length, lane).toBeGreaterThanOrEqual((4 * tokens * 60) / 8 - 3)
    expect.soft(Math.max(...waits), lane).toBeLessThanOrEqual(4 * intervalMs)
  }
})

test('two processes: each keeps the order of its own lanes, and together they send no more than is allowed', async () => {
  const limit = { tokens: 60, perMs: minuteMs }
  const each = (process: number): readonly Caller[] => [
    ...backfills(8, { process }),
    { lane: 'poll', everyMs: 5_000, process, fromMs: 500 },
    { lane: 'command', everyMs: 7_000, process, fromMs: 900 },
  ]
  const { sent, asked } = await play(limit, [...each(0), ...each(1)], hourMs / 6, shared(2))
  const steady = sent.filter(({ sentMs }) => sentMs > minuteMs)
  expect(maxIn(sent, minuteMs)).toBeLessThanOrEqual(60)
  expect(steady.length).toBeGreaterThanOrEqual(0.9 * 9 * 60)
  for (const lane of ['poll', 'command'] as const) expect(Math.max(...listWaits(steady, lane))).toBeLessThanOrEqual(5_000)
  // Nobody asks without end.
  expect(asked).toBeLessThan(8 * sent.length)
})

test('a poll comes before the backfills of another process', async () => {
  const limit = { tokens: 6, perMs: minuteMs }
  const poll: Caller = { lane: 'poll', everyMs: 35_000, fromMs: 60_000, process: 1 }
  const { sent } = await play(limit, [...backfills(6, { process: 0 }), poll], hourMs, shared(2))
  expect(listWaits(sent, 'poll').length).toBeGreaterThanOrEqual(100)
  expect(Math.max(...listWaits(sent, 'poll'))).toBeLessThanOrEqual(2 * 10_100 + 1_000)
  expect(sent.length).toBeGreaterThanOrEqual(0.94 * Math.floor(hourMs / 10_100))
})
