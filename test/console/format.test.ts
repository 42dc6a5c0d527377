import { expect, test } from 'vitest'
import { formatRate } from '../../console/lib/format.ts'
import { describePath } from '../../console/lib/json.ts'

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

test.each([
  ['orderLines.orderLine[0].orderLineStatuses.orderLineStatus[1].status', 'order line 1, order line status 2, status'],
  ['shippingInfo.estimatedShipDate', 'shipping info, estimated ship date'],
  ['orderDate', 'order date'],
  ['charges.charge[2]', 'charge 3'],
])('the path %s reads %s', (path, words) => {
  expect(describePath(path)).toBe(words)
})
