import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAvailability } from '../../src/queues/availability.ts'
import { listWarnings } from '../../src/queues/backend/redis-connection.ts'
import { isConnectionError, QueuesUnavailable, withDeadline } from '../../src/queues/errors.ts'
import { backoffMs } from '../../src/queues/job-runner.ts'
import { computeOffsetMs } from '../../src/queues/schedulers.ts'

const faultWith = (message: string, code?: string): Error => Object.assign(new Error(message), code === undefined ? {} : { code })

describe('backoff', () => {
  test('grows, stays within its bounds, and is jittered', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (failed, random) => {
        const waitMs = backoffMs(failed, { firstMs: 1_000, longestMs: 300_000 }, () => random)
        expect(waitMs).toBeGreaterThanOrEqual(500)
        expect(waitMs).toBeLessThanOrEqual(300_000)
        if (failed >= 10) expect(waitMs).toBeGreaterThanOrEqual(150_000)
      }),
    )
  })
})

describe('place of a scheduler in its interval', () => {
  test('lies within jitter and interval, and does not change', () => {
    const spans = fc.integer({ min: 1, max: 86_400_000 })
    fc.assert(
      fc.property(fc.string(), spans, spans, (id, everyMs, jitterMs) => {
        const offset = computeOffsetMs(id, everyMs, jitterMs)
        expect(offset).toBeGreaterThanOrEqual(1)
        expect(offset).toBeLessThanOrEqual(Math.max(1, Math.min(everyMs, jitterMs)))
        expect(computeOffsetMs(id, everyMs, jitterMs)).toBe(offset)
      }),
    )
  })

  test('a thousand sellers do not ask at once', () => {
    const seconds = Array.from({ length: 1_000 }, (_, seller) => Math.floor(computeOffsetMs(`seller-${seller}`, 60_000) / 1_000))
    const fullest = Math.max(
      ...Map.groupBy(seconds, (second) => second)
        .values()
        .map((group) => group.length),
    )
    expect(fullest).toBeLessThan(40)
  })
})

describe('connection faults', () => {
  test('are told from answers that we do not like, along the causes', () => {
    for (const fault of [
      faultWith('', 'ECONNREFUSED'),
      faultWith('the database system is starting up', '57P03'),
      faultWith('Connection terminated unexpectedly'),
      faultWith("Stream isn't writeable and enableOfflineQueue options is false"),
      new AggregateError([faultWith('', 'ECONNREFUSED')]),
      new Error('wrapped', { cause: faultWith('', 'ETIMEDOUT') }),
      new QueuesUnavailable('not yet'),
    ]) {
      expect(isConnectionError(fault), fault.message).toBe(true)
    }
    for (const fault of [
      faultWith('duplicate key', '23505'),
      faultWith('Missing lock for job 7'),
      new TypeError('x'),
      'ECONNREFUSED',
    ]) {
      expect(isConnectionError(fault)).toBe(false)
    }
  })

  test('a deadline ends the waiting, not the work', async () => {
    await expect(withDeadline(new Promise(() => undefined), 5, 'asking')).rejects.toThrow('asking: no answer within 5 ms')
    await expect(withDeadline(Promise.resolve(1), 1_000, 'asking')).resolves.toBe(1)
  })

  test('availability: away since the first fault, back with the first answer, told once each', () => {
    const told: string[] = []
    const availability = createAvailability('Redis', {
      warn: (_key, _fields, message) => void told.push(message),
      error: (key, fields) => void told.push(`${key} ${JSON.stringify(fields)}`),
      recovered: (key) => void told.push(`recovered ${key}`),
    })
    expect(availability.unavailableSinceMs()).toBeNull()
    availability.reportError(faultWith('', 'ECONNREFUSED'))
    expect(availability.unavailableSinceMs()).not.toBeNull()
    expect(availability.lastError()).toBe('ECONNREFUSED')
    availability.reportAvailable(true)
    expect([availability.unavailableSinceMs(), availability.lastError()]).toEqual([null, null])
    availability.reportError(new Error('Missing lock for job command.run~1. moveToFinished'))
    expect(availability.unavailableSinceMs()).toBeNull()
    availability.end()
    availability.reportError(faultWith('', 'ECONNRESET'))
    expect(told.map((line) => line.split(' {')[0])).toEqual([
      'queues:Redis',
      'recovered queues:Redis',
      expect.stringContaining('Missing lock for job moveToFinished'),
    ])
  })
})

describe("Redis's account of itself", () => {
  test('an eviction policy that loses jobs and an old version are reported', () => {
    expect(listWarnings('redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\n')).toEqual([])
    expect(listWarnings('redis_version:7.0.15\r\nmaxmemory_policy:allkeys-lru\r\n')).toEqual([
      expect.stringContaining('allkeys-lru'),
    ])
    expect(listWarnings('redis_version:6.0.16\r\n')).toEqual([expect.stringContaining('older than 6.2.0')])
    expect(listWarnings('redis_version:10.2.0\r\n')).toEqual([])
    // Valkey shows an old version number of Redis for compatibility.
    expect(listWarnings('redis_version:5.0.0\r\nvalkey_version:8.1.0\r\n')).toEqual([])
  })
})
