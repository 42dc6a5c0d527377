import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLogger } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { QueuesUnavailable } from '../../src/queues/faults.ts'
import type { JobToEnqueue } from '../../src/queues/jobs.ts'
import { createRelay } from '../../src/queues/relay.ts'

const job: JobToEnqueue = { name: 'command.run', data: { commandId: '1' } }

const trim: JobToEnqueue = { name: 'housekeeping.run', data: { task: 'trim' } }

const setUp = (intervalMs = 10_000, { standsIn = false } = {}) => {
  const lines: Record<string, unknown>[] = []
  const enqueued: number[] = []
  const state = {
    derivations: 0,
    due: [job],
    fault: undefined as Error | undefined,
    queueFault: undefined as Error | undefined,
    /** What the stand-in has got last; null: it does nothing. */
    stoodIn: null as readonly JobToEnqueue[] | null,
    hold: undefined as Promise<void> | undefined,
    scheduled: 0,
  }
  const relay = createRelay({
    derive: async () => {
      state.derivations += 1
      await state.hold
      if (state.fault !== undefined) throw state.fault
      return state.due
    },
    schedulers: () => [{ job: trim, everyMs: 60_000 }],
    intervalMs,
    ...(standsIn
      ? {
          standIn: {
            take: (jobs, byClock = []) => (state.stoodIn = [...jobs, ...byClock]),
            stop: () => (state.stoodIn = null),
            takenAtMs: () => null,
          },
        }
      : {}),
    runtime: {
      enqueueMany: async (jobs) => {
        if (state.queueFault !== undefined) throw state.queueFault
        return enqueued.push(jobs.length)
      },
      applySchedulers: async () => {
        if (state.queueFault !== undefined) throw state.queueFault
        state.scheduled += 1
        return { made: 0, removed: 0 }
      },
      check: async () => ({ ok: state.queueFault === undefined, detail: '', warnings: [] }),
    },
    log: createLogger({ level: 'info', format: 'json', destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
    metrics: createMetrics({ version: 'test', processMetrics: false }),
  })
  return { relay, lines, enqueued, state }
}

describe('the relay', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('derives at the start and at intervals', async () => {
    const { relay, enqueued, state } = setUp()
    relay.start()
    await vi.advanceTimersByTimeAsync(0)
    expect(enqueued).toEqual([1])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(enqueued).toEqual([1, 1])
    state.due = []
    await vi.advanceTimersByTimeAsync(10_000)
    expect([state.derivations, enqueued.length]).toEqual([3, 2])
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(state.derivations).toBe(3)
  })

  test('applies the schedulers at intervals, not with each nudge', async () => {
    const { relay, state } = setUp()
    relay.start()
    await vi.advanceTimersByTimeAsync(0)
    for (let nudge = 0; nudge < 20; nudge += 1) {
      relay.nudge()
      await vi.advanceTimersByTimeAsync(100)
    }
    expect([state.derivations, state.scheduled]).toEqual([21, 1])
    await vi.advanceTimersByTimeAsync(20_000)
    expect([state.derivations, state.scheduled]).toEqual([23, 3])
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('rests after a slow derivation for four times as long, whatever nudges it, and no longer than the interval', async () => {
    const { relay, state } = setUp()
    const derivedWithin = async (milliseconds: number): Promise<number> => {
      const before = state.derivations
      relay.nudge()
      await vi.advanceTimersByTimeAsync(milliseconds)
      return state.derivations - before
    }
    state.hold = new Promise((resolve) => setTimeout(resolve, 500))
    relay.start()
    await vi.advanceTimersByTimeAsync(500)
    expect(await derivedWithin(1_999)).toBe(0)
    expect(await derivedWithin(1)).toBe(1)
    // It was quick.
    expect(await derivedWithin(20)).toBe(1)
    state.hold = new Promise((resolve) => setTimeout(resolve, 60_000))
    relay.nudge()
    await vi.advanceTimersByTimeAsync(60_020)
    expect(await derivedWithin(10_000)).toBe(1)
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('many nudges are one derivation; one that comes during a derivation is not lost', async () => {
    const { relay, state } = setUp()
    relay.start()
    await vi.advanceTimersByTimeAsync(0)
    for (let nudge = 0; nudge < 100; nudge += 1) relay.nudge()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(2)
    const { promise, resolve } = Promise.withResolvers<void>()
    state.hold = promise
    relay.nudge()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(3)
    relay.nudge()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(3)
    state.hold = undefined
    resolve()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(4)
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('a fault slows it down whatever the nudges, fills no log, and is over with the first success', async () => {
    const { relay, state, lines } = setUp(30_000)
    state.fault = new QueuesUnavailable('away')
    relay.start()
    for (let second = 0; second < 600; second += 1) {
      relay.nudge()
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(state.derivations).toBeLessThan(40)
    expect(lines.length).toBeLessThanOrEqual(21)
    state.fault = undefined
    await vi.advanceTimersByTimeAsync(30_000)
    expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'the relay works again' })
    const { derivations } = state
    relay.nudge()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(derivations + 1)
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('what the queues do not take goes to the stand-in, with the jobs of schedulers at their interval, and is looked for each second', async () => {
    const { relay, state, enqueued, lines } = setUp(10_000, { standsIn: true })
    state.queueFault = new QueuesUnavailable('away')
    relay.start()
    await vi.advanceTimersByTimeAsync(0)
    expect(state.stoodIn).toEqual([job, trim])
    relay.nudge()
    await vi.advanceTimersByTimeAsync(20)
    expect([state.derivations, state.stoodIn]).toEqual([2, [job]])
    state.due = []
    await vi.advanceTimersByTimeAsync(50_000)
    expect([state.derivations, state.stoodIn]).toEqual([52, []])
    const stoodIn: unknown[] = []
    for (let second = 0; second < 10; second += 1) {
      await vi.advanceTimersByTimeAsync(1_000)
      stoodIn.push(...(state.stoodIn ?? []))
    }
    expect(stoodIn).toEqual([trim])
    expect(lines.map(({ msg }) => msg)).toContain('the queues do not take what is due: this process runs it without them')
    // Said once, however often there was nothing due meanwhile.
    expect(lines).toHaveLength(1)
    state.queueFault = undefined
    state.due = [job]
    const before = state.scheduled
    // The queues are asked beside what runs; then all goes to them.
    await vi.advanceTimersByTimeAsync(1_020)
    expect([enqueued, state.stoodIn, state.scheduled - before]).toEqual([[1], null, 1])
    expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'the relay works again' })
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('the stand-in gets nothing while Postgres does not say what is due', async () => {
    const { relay, state } = setUp(10_000, { standsIn: true })
    state.fault = new Error('away')
    state.queueFault = new QueuesUnavailable('away')
    relay.start()
    await vi.advanceTimersByTimeAsync(30_000)
    expect(state.stoodIn).toBeNull()
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })
})
