import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDuration, parseDurationMs } from '../src/util/duration.ts'

test('a duration is read from its text', () => {
  for (const [text, ms] of [
    ['500ms', 500],
    ['90s', 90_000],
    [' 5m ', 300_000],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
    ['0s', 0],
  ] as const)
    expect(parseDurationMs(text)).toBe(ms)
  for (const text of ['', '5', 'm', '-5m', '1.5h', '5 m', '5w', `${Number.MAX_SAFE_INTEGER}s`])
    expect(parseDurationMs(text)).toBeNull()
})

test('the text of a duration has its longest unit that leaves no rest, and is read as the same', () => {
  expect([172_800_000, 90_000_000, 5_400_000, 61_000, 1_001].map(formatDuration)).toEqual(['2d', '25h', '90m', '61s', '1001ms'])
  fc.assert(fc.property(fc.nat(), (ms) => parseDurationMs(formatDuration(ms)) === ms))
})
