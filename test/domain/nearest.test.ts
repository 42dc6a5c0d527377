import { expect, test } from 'vitest'
import { nearestName } from '../../src/domain/values/nearest.ts'

const known = ['limit', 'cursor', 'sellerId', 'trackingNumber', 'POLL_ORDERS', 'POLL_ORDER_SWEEP']

test.each([
  ['limt', 'limit'],
  ['limti', 'limit'],
  ['SELLERID', 'sellerId'],
  ['tracking_number', 'trackingNumber'],
  ['POLL_ORDRES', 'POLL_ORDERS'],
  ['POLL_ORDERSWEEP', 'POLL_ORDER_SWEEP'],
  ['dryRun', null],
  ['', null],
  ['x'.repeat(100_000), null],
])('%s means %s', (name, expected) => {
  expect(nearestName(name, known)).toBe(expected)
})

test('nothing is near where nothing is known', () => {
  expect(nearestName('limit', [])).toBeNull()
})
