import { expect, test } from 'vitest'
import { formatRate } from '../../console/lib/format.ts'

test.each([
  [60, '60 per minute'],
  [0.99, '1 per minute'],
  [0.5, '30 per hour'],
  [1 / 60, '1 per hour'],
  [0.99 / 60, '1 per hour'],
  [1 / 1_440, '1 per day'],
  [0, '0 per day'],
])('a rate of %s a minute is shown as %s', (perMinute, shown) => {
  expect(formatRate(perMinute)).toBe(shown)
})
