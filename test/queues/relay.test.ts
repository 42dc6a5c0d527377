import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLogger } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { QueuesUnavailable } from '../../src/queues/errors.ts'
import type { JobToEnqueue } from '../../src/queues/jobs.ts'
import { createRelay } from '../../src/queues/relay.ts'

const job: JobToEnqueue = { name: 'command.run', data: { commandId: '1' } }

const setUp = (intervalMs = 10_000) => {
  const lines: Record<string, unknown>[] = []
  const enqueued: number[] = []
  const state = {
    derivations: 0,
    due: [job],
    fault: undefined as Error | undefined,
    queueFault: undefined as Error | undefined,
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
    keepSchedulers: async () => {
      state.scheduled += 1
    },
    intervalMs,
    runtime: {
      enqueueMany: async (jobs) => {
        if (state.queueFault !== undefined) throw state.queueFault
        return enqueued.push(jobs.length)
      },
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

  test('looks after the schedulers with each derivation that the queues take', async () => {
    const { relay, state, enqueued, lines } = setUp()
    relay.start()
    await vi.advanceTimersByTimeAsync(10_000)
    expect([state.derivations, state.scheduled]).toEqual([2, 2])
    state.queueFault = new QueuesUnavailable('away')
    await vi.advanceTimersByTimeAsync(30_000)
    expect([enqueued.length, state.scheduled]).toEqual([2, 2])
    expect(lines.map(({ msg }) => msg)).toContain('the relay cannot reach Postgres or the queues; it will retry')
    state.queueFault = undefined
    // It is back within its interval.
    await vi.advanceTimersByTimeAsync(10_000)
    expect(enqueued.length).toBeGreaterThan(2)
    expect(state.scheduled).toBe(enqueued.length)
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('rests after a slow derivation for four times as long, whatever triggers it, and no longer than the interval', async () => {
    const { relay, state } = setUp()
    const derivedWithin = async (milliseconds: number): Promise<number> => {
      const before = state.derivations
      relay.trigger()
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
    relay.trigger()
    await vi.advanceTimersByTimeAsync(60_020)
    expect(await derivedWithin(10_000)).toBe(1)
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('many triggers are one derivation; one that comes during a derivation is not lost', async () => {
    const { relay, state } = setUp()
    relay.start()
    await vi.advanceTimersByTimeAsync(0)
    for (let trigger = 0; trigger < 100; trigger += 1) relay.trigger()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(2)
    const { promise, resolve } = Promise.withResolvers<void>()
    state.hold = promise
    relay.trigger()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(3)
    relay.trigger()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(3)
    state.hold = undefined
    resolve()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(4)
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })

  test('a fault slows it down whatever the triggers, fills no log, and is over with the first success', async () => {
    const { relay, state, lines } = setUp(30_000)
    state.fault = new QueuesUnavailable('away')
    relay.start()
    for (let second = 0; second < 600; second += 1) {
      relay.trigger()
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(state.derivations).toBeLessThan(40)
    expect(lines.length).toBeLessThanOrEqual(21)
    state.fault = undefined
    await vi.advanceTimersByTimeAsync(30_000)
    expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'the relay works again' })
    const { derivations } = state
    relay.trigger()
    await vi.advanceTimersByTimeAsync(100)
    expect(state.derivations).toBe(derivations + 1)
    await Promise.all([relay.stop(), vi.advanceTimersByTimeAsync(0)])
  })
})
