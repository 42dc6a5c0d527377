import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMarketplaceClock } from '../../src/clients/http/clock.ts'

const start = Date.UTC(2026, 10, 21)

/** Sends one request to a marketplace whose clock is `offsetMs` ahead, and lets the clock learn from its answer. */
const ask = (
  clock: ReturnType<typeof createMarketplaceClock>,
  sentMs: number,
  thereMs: number,
  backMs: number,
  offsetMs: number,
): number => {
  const header = new Date(Math.floor((sentMs + thereMs + offsetMs) / 1000) * 1000).toUTCString()
  clock.observe(header, sentMs, sentMs + thereMs + backMs)
  return sentMs + thereMs + backMs
}

const anyOffset = fc.integer({ min: -1e9, max: 1e9 })
const anyDelays = fc.array(fc.tuple(fc.nat(30_000), fc.nat(30_000)), { minLength: 1, maxLength: 30 })

describe('the estimate of the marketplace’s clock', () => {
  test('is our own clock until an answer was seen, or when its header cannot be read', () => {
    const clock = createMarketplaceClock(() => start)
    clock.observe(undefined, start, start)
    clock.observe('yesterday', start, start)
    expect(clock.now()).toEqual(new Date(start))
  })

  test('is never further off than half of what the best answer leaves open', () => {
    fc.assert(
      fc.property(anyOffset, anyDelays, (offset, delays) => {
        let now = start
        const clock = createMarketplaceClock(() => now)
        let best = Number.POSITIVE_INFINITY
        for (const [there, back] of delays) {
          now = ask(clock, now, there, back, offset)
          best = Math.min(best, there + back)
          const error = Math.abs(clock.now().getTime() - (now + offset))
          // Slack: the header’s second, rounding, and the drift that a long series of slow answers allows for.
          expect(error).toBeLessThanOrEqual(best + 1_000 + 1 + (now - start) * 200e-6)
        }
      }),
    )
  })

  test('a slow answer does not corrupt what a quick one showed', () => {
    fc.assert(
      fc.property(anyOffset, anyDelays, (offset, delays) => {
        let now = start
        const clock = createMarketplaceClock(() => now)
        now = ask(clock, now, 20, 20, offset)
        for (const [there, back] of delays) now = ask(clock, now, there, back, offset)
        expect(Math.abs(clock.now().getTime() - (now + offset))).toBeLessThanOrEqual(1_040 + 1 + (now - start) * 200e-6)
      }),
    )
  })

  test('follows at once when either clock is set', () => {
    const clock = createMarketplaceClock(() => start)
    ask(clock, start, 10, 10, 0)
    ask(clock, start, 10, 10, 7 * 86_400_000)
    expect(Math.abs(clock.now().getTime() - (start + 7 * 86_400_000))).toBeLessThanOrEqual(1_021)
    ask(clock, start, 10, 10, 0)
    expect(Math.abs(clock.now().getTime() - start)).toBeLessThanOrEqual(1_021)
  })
})
