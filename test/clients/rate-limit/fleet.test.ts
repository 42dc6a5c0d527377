import { describe, expect, test } from 'vitest'
import type { RateLimit } from '../../../src/clients/http/operation.ts'
import { type FleetOptions, runFleet } from './support/fleet.ts'

const perMinute = (tokens: number): RateLimit => ({ tokens, perMs: 60_000 })
const always = (tokens: number): Pick<FleetOptions, 'allows'> => ({ allows: () => perMinute(tokens) })
const tenMinutes = 600_000

/** Requests that the marketplace let through, of those that came back to its bucket after the first burst. */
const steadyShare = ({ sent, allowed }: { sent: number; allowed: number }, burst: number): number => sent / (allowed - burst)

describe('where the marketplace reports what remains', () => {
  test.each([1, 2, 4])('%i processes use at least 98 percent of what is allowed, and none is refused', async (processes) => {
    for (const tokens of [5, 60, 600]) {
      const { sent, allowed, refused } = await runFleet({ processes, durationMs: tenMinutes, ...always(tokens), tells: true })
      expect(refused).toBe(0)
      expect(sent / allowed).toBeGreaterThanOrEqual(0.98)
    }
  })

  test('its count wins over the table, be it more or less', async () => {
    const more = await runFleet({ processes: 1, durationMs: tenMinutes, ...always(120), believed: perMinute(60), tells: true })
    expect(more.sent / more.allowed).toBeGreaterThanOrEqual(0.97)
    expect(more.refused).toBe(0)
    const less = await runFleet({ processes: 2, durationMs: tenMinutes, ...always(30), believed: perMinute(60), tells: true })
    expect(less.sent / less.allowed).toBeGreaterThanOrEqual(0.98)
    expect(less.refused / less.sent).toBeLessThan(0.02)
  })

  test.each([1, 2, 4])(
    'its count wins over a table that is too low for %i processes, also when answers overlap',
    async (processes) => {
      for (const [tokens, table, latencyMs] of [
        [120, 60, 40],
        [120, 60, 2_000],
        [60, 10, 40],
        [60, 10, 2_000],
        [600, 60, 300],
      ] as const) {
        const run = { processes, durationMs: tenMinutes, ...always(tokens), believed: perMinute(table), latencyMs, workers: 16 }
        const { sent, allowed, refused } = await runFleet({ ...run, tells: true })
        expect.soft(sent / allowed, `${tokens} for ${table}, ${latencyMs} ms`).toBeGreaterThanOrEqual(0.92)
        expect.soft(refused / sent, `${tokens} for ${table}, ${latencyMs} ms`).toBeLessThan(0.01)
      }
    },
  )

  test.each([1, 2])('%i processes leave to another application what it takes', async (processes) => {
    const foreignPerMinute = 20
    const { sent, allowed, refused } = await runFleet({
      processes,
      durationMs: tenMinutes,
      ...always(60),
      foreignPerMinute,
      tells: true,
    })
    expect(refused / sent).toBeLessThan(0.01)
    expect(sent / (allowed - 10 * foreignPerMinute)).toBeGreaterThanOrEqual(0.98)
  })

  test.each([1, 2, 4])(
    '%i processes go slower where it takes much, instead of being refused again and again',
    async (processes) => {
      for (const [tokens, foreignPerMinute, latencyMs] of [
        [60, 40, 40],
        [600, 200, 300],
        [600, 100, 300],
      ] as const) {
        const fleet = await runFleet({
          processes,
          durationMs: tenMinutes,
          ...always(tokens),
          foreignPerMinute,
          latencyMs,
          tells: true,
        })
        expect(fleet.refused / fleet.requests.length).toBeLessThan(0.02)
        expect(fleet.sent / (fleet.allowed - 10 * foreignPerMinute)).toBeGreaterThanOrEqual(0.98)
      }
    },
  )
})

describe('where the marketplace reports what remains, several processes', () => {
  test.each([2, 4])("%i of them do not stand in each other's way where the store is some way off", async (processes) => {
    for (const [tokens, storeMs, least] of [
      [5_000, 30, 0.98],
      [5_000, 60, processes === 2 ? 0.8 : 0.4],
      [600, 100, 0.9],
    ] as const) {
      const run = { processes, durationMs: 120_000, ...always(tokens), storeMs, workers: 16, latencyMs: 100, tells: true }
      const { requests, storeCalls, refused } = await runFleet(run)
      const second = requests.filter(({ atMs }) => atMs > 60_000)
      expect.soft(second.length / tokens, `${tokens} a minute, ${storeMs} ms`).toBeGreaterThanOrEqual(least)
      expect.soft(storeCalls / requests.length, `${tokens} a minute, ${storeMs} ms`).toBeLessThan(6)
      expect(refused).toBe(0)
    }
  })

  test.each([2, 4])('%i of them use all again once another application that took all has gone', async (processes) => {
    for (const [tokens, times] of [
      [600, 1.2],
      [600, 1.5],
      [300, 2],
      [60, 2],
    ] as const) {
      const foreign = { foreignPerMinute: tokens * times, foreignForMs: 120_000 }
      const { requests } = await runFleet({ processes, durationMs: tenMinutes / 2, ...always(tokens), ...foreign, tells: true })
      const good = (fromMs: number, untilMs: number) =>
        requests.filter(({ atMs, refused }) => !refused && atMs >= fromMs && atMs < untilMs).length
      expect.soft(good(120_000, 300_000) / (3 * tokens), `${tokens} a minute, ${times} times`).toBeGreaterThanOrEqual(0.85)
      expect.soft(good(240_000, 300_000) / tokens, `${tokens} a minute, ${times} times`).toBeGreaterThanOrEqual(0.95)
    }
  })
})

describe('where the marketplace says nothing', () => {
  test.each([1, 2, 4])('%i processes use at least 90 percent of the rate, and none is refused', async (processes) => {
    const result = await runFleet({ processes, durationMs: tenMinutes, ...always(60), tells: false })
    expect(steadyShare(result, 60)).toBeGreaterThanOrEqual(0.9)
    expect(result.refused).toBe(0)
  })

  test.each([2, 4])('%i processes use it where requests leave one at a time and the store is some way off', async (processes) => {
    for (const [tokens, storeMs] of [
      [5, 2],
      [10, 2],
      [10, 50],
      [19, 1],
    ] as const) {
      const run = { processes, durationMs: 2 * tenMinutes, ...always(tokens), storeMs, workers: 3, tells: false }
      const { sent, allowed, refused } = await runFleet(run)
      expect(refused).toBe(0)
      expect.soft(steadyShare({ sent, allowed }, 1), `${tokens} a minute, ${storeMs} ms`).toBeGreaterThanOrEqual(0.9)
    }
  })

  test('one an hour means one an hour for two processes, too', async () => {
    const hourly: RateLimit = { tokens: 1, perMs: 3_600_000 }
    const { sent, refused } = await runFleet({ processes: 2, durationMs: 4 * 3_600_000, allows: () => hourly, tells: false })
    expect([sent, refused]).toEqual([4, 0])
  })

  test.each([1, 2])(
    '%i processes find a limit that was halved within a minute, and run into it for less than 1 percent',
    async (processes) => {
      const halvedAtMs = 120_000
      const { requests } = await runFleet({
        processes,
        durationMs: 3_600_000,
        allows: (atMs) => perMinute(atMs < halvedAtMs ? 60 : 30),
        believed: perMinute(60),
        tells: false,
      })
      const after = requests.filter(({ atMs }) => atMs >= halvedAtMs + 60_000)
      const refused = after.filter((request) => request.refused).length
      expect(refused / after.length).toBeLessThan(0.01)
      expect((after.length - refused) / ((3_600_000 - halvedAtMs - 60_000) / 2_000)).toBeGreaterThanOrEqual(0.9)
    },
  )
})

test.each([
  [1, true],
  [2, true],
  [4, true],
  [1, false],
  [2, false],
])('%i processes are back within a minute after a storm of refusals (what remains is reported: %s)', async (processes, tells) => {
  for (const tokens of [60, 5_000]) {
    const { requests } = await runFleet({
      processes,
      durationMs: 480_000,
      ...always(tokens),
      tells,
      storms: (atMs) => atMs >= 120_000 && atMs < 200_000,
    })
    const firstMs = requests.find(({ atMs, refused }) => atMs > 200_000 && !refused)?.atMs ?? Number.POSITIVE_INFINITY
    // The last wait of the storm is a minute at most, and a quarter of it for chance.
    expect(firstMs).toBeLessThan(275_000)
    const after = requests.filter(({ atMs }) => atMs >= firstMs + 60_000 && atMs < firstMs + 180_000)
    expect(after.filter(({ refused }) => refused)).toEqual([])
    // Where nothing is said, the last tenth of the rate is approached with caution.
    expect(after.length / (2 * tokens)).toBeGreaterThanOrEqual(tells ? 0.98 : 0.75)
  }
})

describe('a process', () => {
  test('that comes later waits for its share; both together send no more than is allowed', async () => {
    const { requests, sent, allowed, refused } = await runFleet({
      processes: 2,
      atStart: [0],
      durationMs: tenMinutes,
      ...always(60),
      tells: false,
      each: (second, fleet) => second === 100 && fleet.start(1),
    })
    expect(refused).toBe(0)
    expect(steadyShare({ sent, allowed }, 60)).toBeGreaterThanOrEqual(0.9)
    const late = requests.filter(({ atMs }) => atMs > 120_000)
    expect(late.filter(({ process }) => process === 1).length / late.length).toBeGreaterThan(0.3)
  })

  test.each([false, true])(
    'that is killed leaves its share to the others, to the token (what remains is reported: %s)',
    async (tells) => {
      const kills: readonly Pick<FleetOptions, 'each' | 'atStart'>[] = [
        { each: (second, fleet) => second === 100 && fleet.kill(0) },
        // The only one is killed, and another one takes over what it had used.
        { atStart: [0], each: (second, fleet) => second === 10 && [fleet.kill(0), fleet.start(1)] },
      ]
      for (const kill of kills) {
        const { requests, refused } = await runFleet({ processes: 2, durationMs: tenMinutes, ...always(60), tells, ...kill })
        expect(refused).toBe(0)
        const late = requests.filter(({ atMs }) => atMs > 300_000)
        expect(late.length).toBeGreaterThanOrEqual(300 * 0.9)
      }
    },
  )

  test('that is killed and started again and again has no full bucket each time, where limits are by the minute', async () => {
    const { requests } = await runFleet({
      processes: 1,
      durationMs: 180_000,
      allows: () => perMinute(600),
      believed: perMinute(60),
      tells: false,
      each: (second, fleet) => second >= 60 && second < 130 && second % 7 === 0 && [fleet.kill(0), fleet.start(0)],
    })
    const most = Math.max(
      ...requests.map(({ atMs }) => requests.filter((other) => other.atMs >= atMs && other.atMs < atMs + 60_000).length),
    )
    // But for one that was quicker on its way.
    expect(most).toBeLessThanOrEqual(61)
  })
})
