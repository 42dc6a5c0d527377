import { describe, expect, test } from 'vitest'
import { decideDue } from '../../src/daemon/due.ts'
import { createPolls } from '../../src/daemon/polls.ts'
import type { ScheduledStream } from '../../src/daemon/schedule.ts'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { QueuesUnavailable } from '../../src/queues/faults.ts'
import type { JobToEnqueue } from '../../src/queues/jobs.ts'
import type { DueStanding } from '../../src/store/sync-states.ts'
import { eventually } from '../support/eventually.ts'

const stream = (name: string, everyMs: number, sellerId = 's-1'): ScheduledStream => ({
  ...{ sellerId, resource: 'orders', stream: name, everyMs },
  restsAfterRestart: false,
})
const well: DueStanding = { atRest: false, running: false, unfinished: false, pausing: false, startedAgoMs: null }

describe('what is to be done with a stream that is due', () => {
  const minute = 60_000
  const decide = (standing: Partial<DueStanding>, { everyMs = minute, runsHere = true, lateMs = 500 } = {}) =>
    decideDue({ stream: stream('changed', everyMs), dueAtMs: 1e12 - lateMs }, { ...well, ...standing }, { nowMs: 1e12, runsHere })

  test('what is often due runs here, what is seldom due as a job that outlives this process', () => {
    expect(decide({})).toBe('here')
    expect(decide({}, { everyMs: 15 * minute })).toBe('here')
    expect(decide({}, { everyMs: 16 * minute })).toBe('queue')
    expect(decide({}, { runsHere: false })).toBe('queue')
  })

  test('what has failed or left something over belongs to the queue', () => {
    expect(decide({ unfinished: true })).toBe('queue')
  })

  test('what rests, runs, or was begun for the same moment by another process is left alone', () => {
    expect(decide({ atRest: true })).toBe('leave')
    expect(decide({ running: true })).toBe('leave')
    expect(decide({ startedAgoMs: 400 })).toBe('leave')
    expect(decide({ startedAgoMs: 5_400 })).toBe('leave')
    expect(decide({ startedAgoMs: 5_600 })).toBe('here')
    expect(decide({ startedAgoMs: minute })).toBe('here')
    // Of short intervals a quarter, not all of the interval.
    expect(decide({ startedAgoMs: 900 }, { everyMs: 2_000, lateMs: 100 })).toBe('here')
    expect(decide({ startedAgoMs: 500 }, { everyMs: 2_000, lateMs: 100 })).toBe('leave')
  })
})

describe('the polls', () => {
  const setUp = (schedule: readonly ScheduledStream[], atOnce = 24) => {
    const state = {
      schedule,
      here: [] as string[],
      queued: [] as string[],
      under: 0,
      mostUnder: 0,
      standing: well,
      fault: null as Error | null,
      queueFault: null as Error | null,
      hold: Promise.resolve(),
      looks: 0,
      begun: [] as string[],
      /** Sellers whose streams it was asked about, each time. */
      asked: [] as string[],
    }
    const nameOf = (job: JobToEnqueue) => ('stream' in job.data ? `${job.data.sellerId} ${job.data.stream}` : '')
    const polls = createPolls({
      schedule: () => state.schedule,
      readLags: async () => [],
      standingOf: async (streams) => {
        state.looks += 1
        state.asked.push(...streams.map(({ sellerId }) => sellerId))
        if (state.fault !== null) throw state.fault
        return streams.map(() => state.standing)
      },
      runtime: {
        enqueueMany: async (jobs) => {
          if (state.queueFault !== null) throw state.queueFault
          state.queued.push(...jobs.map(nameOf))
          return jobs.length
        },
        runHere: async (_name, data) => {
          state.under += 1
          state.begun.push('sellerId' in data ? String(data.sellerId) : '')
          state.mostUnder = Math.max(state.mostUnder, state.under)
          await state.hold
          state.under -= 1
          state.here.push(JSON.stringify(data))
          return true
        },
      },
      atOnce,
      quiet: createQuietLog(createLogger({ level: 'info', format: 'json', destination: { write: () => undefined } })),
    })
    return { polls, state }
  }
  const countOf = (names: readonly string[], part: string) => names.filter((name) => name.includes(part)).length

  test('runs streams again and again, looks at many by one question, and stops', async () => {
    const { polls, state } = setUp(Array.from({ length: 100 }, (_, index) => stream('changed', 400, `s-${index}`)))
    polls.start()
    await eventually(() => {
      for (let index = 0; index < 100; index += 1) expect(countOf(state.here, `"s-${index}"`)).toBeGreaterThanOrEqual(2)
    })
    expect(state.looks).toBeLessThan(state.here.length / 2)
    expect(state.mostUnder).toBeLessThanOrEqual(24)
    await polls.stop()
    const after = state.here.length
    await eventually(() => expect(state.under).toBe(0))
    expect(state.here.length - after).toBeLessThanOrEqual(24)
  })

  test('a process that does not work fills the queue', async () => {
    const { polls, state } = setUp([stream('changed', 400)], 0)
    polls.start()
    await eventually(() => expect(state.queued.length).toBeGreaterThanOrEqual(2))
    expect(state.here).toEqual([])
    await polls.stop()
  })

  test('loses nothing that was due while Postgres or the queue were away', async () => {
    const { polls, state } = setUp([stream('changed', 3_600_000)], 0)
    state.fault = new Error('away')
    polls.start()
    await eventually(() => expect(state.looks).toBeGreaterThanOrEqual(2))
    state.queueFault = new Error('away')
    state.fault = null
    const before = state.looks
    await eventually(() => expect(state.looks).toBeGreaterThan(before))
    expect(state.queued).toEqual([])
    state.queueFault = null
    await eventually(() => expect(state.queued).toEqual(['s-1 changed']))
    await polls.stop()
  })

  test('while the queue takes nothing, what belongs to it runs here, once each time that it is due', async () => {
    const { polls, state } = setUp([stream('changed', 3_600_000, 's-seldom'), stream('changed', 400, 's-often')])
    state.standing = { ...well, unfinished: true }
    state.queueFault = new QueuesUnavailable('away')
    polls.start()
    await eventually(() => expect(countOf(state.here, 's-often')).toBeGreaterThanOrEqual(4))
    expect(countOf(state.here, 's-seldom')).toBe(1)
    state.queueFault = null
    await eventually(() => expect(countOf(state.queued, 's-often')).toBeGreaterThanOrEqual(2))
    await polls.stop()
    expect(countOf(state.queued, 's-seldom')).toBe(0)
  })

  test('while the queue takes nothing, what pauses after a failure is not read more often for that', async () => {
    const { polls, state } = setUp([stream('changed', 400)])
    state.standing = { ...well, unfinished: true, pausing: true }
    state.queueFault = new QueuesUnavailable('away')
    polls.start()
    await eventually(() => expect(state.asked.length).toBeGreaterThanOrEqual(4))
    expect(state.here).toEqual([])
    state.standing = { ...state.standing, pausing: false }
    await eventually(() => expect(state.here.length).toBeGreaterThanOrEqual(1))
    await polls.stop()
  })

  test('what waits for its turn is left to another process that was faster', async () => {
    const { polls, state } = setUp(
      Array.from({ length: 6 }, (_, index) => stream('changed', 800_000, `s-${index}`)),
      4,
    )
    const { promise, resolve } = Promise.withResolvers<void>()
    state.hold = promise
    polls.start()
    await eventually(() => expect([state.under, new Set(state.asked).size]).toEqual([4, 6]))
    state.standing = { ...well, startedAgoMs: 0 }
    const before = state.asked.length
    const waiting = new Set(state.asked).difference(new Set(state.begun))
    // Both that wait are asked about again; any of them may come to its next turn meanwhile.
    await eventually(() => expect([...waiting.difference(new Set(state.asked.slice(before)))]).toEqual([]))
    resolve()
    await eventually(() => expect(state.under).toBe(0))
    await polls.stop()
    expect([state.here.length, state.queued]).toEqual([4, []])
  })

  test('sellers that come to be are read soon, not when their interval is over', async () => {
    const { polls, state } = setUp([])
    polls.start()
    state.schedule = [stream('changed', 800_000, 's-new')]
    polls.replan()
    await eventually(() => expect(countOf(state.here, 's-new')).toBe(1))
    await polls.stop()
  })
})
