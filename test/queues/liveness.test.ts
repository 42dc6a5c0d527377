import { describe, expect, test } from 'vitest'
import { type ConsumptionInput, type ConsumptionMark, evaluateConsumption } from '../../src/queues/liveness.ts'

const mark = (changes: Partial<ConsumptionMark> = {}): ConsumptionMark => ({
  queue: 'sync',
  lastPolledAtMs: 1_000_000,
  lastProgressAtMs: null,
  active: 0,
  concurrency: 2,
  ...changes,
})
const verdict = (changes: Partial<ConsumptionInput> = {}) =>
  evaluateConsumption({
    nowMs: 1_000_000,
    startedAtMs: 100_000,
    isDraining: false,
    storeUnavailableSinceMs: null,
    marks: [mark()],
    bootGraceMs: 60_000,
    stuckAfterMs: 600_000,
    ...changes,
  })

describe('is work being consumed?', () => {
  test('an idle queue that answers is alive', () => {
    expect(verdict().alive).toBe(true)
    expect(verdict({ marks: [mark({ lastPolledAtMs: 400_000 })] }).alive).toBe(true)
  })

  test('a queue that was not asked for too long is not', () => {
    expect(verdict({ marks: [mark(), mark({ queue: 'commands', lastPolledAtMs: 399_999 })] })).toEqual({
      alive: false,
      detail: 'no work is consumed from commands (600 s)',
    })
    expect(verdict({ marks: [mark({ lastPolledAtMs: null })] }).alive).toBe(false)
  })

  test('while all places are taken, only the jobs can give a sign', () => {
    const busy = { active: 2, lastPolledAtMs: 100_000 }
    expect(verdict({ marks: [mark({ ...busy, lastProgressAtMs: 900_000 })] }).alive).toBe(true)
    expect(verdict({ marks: [mark({ ...busy, lastProgressAtMs: 200_000 })] })).toEqual({
      alive: false,
      detail: 'no work is consumed from sync (800 s, all workers busy)',
    })
    // A place is free, so the queue must be asked: progress of the other job is no excuse.
    expect(verdict({ marks: [mark({ active: 1, lastPolledAtMs: 100_000, lastProgressAtMs: 1_000_000 })] }).alive).toBe(false)
  })

  test('nothing is held against a process that just started, rests, consumes nothing, or waits for the store', () => {
    const stuck = [mark({ lastPolledAtMs: null })]
    expect(verdict({ marks: stuck, startedAtMs: 950_000 }).alive).toBe(true)
    expect(verdict({ marks: stuck, isDraining: true }).alive).toBe(true)
    expect(verdict({ marks: [] }).alive).toBe(true)
    expect(verdict({ marks: stuck, startedAtMs: null }).alive).toBe(true)
    expect(verdict({ marks: stuck, storeUnavailableSinceMs: 200_000 }).alive).toBe(true)
  })
})
