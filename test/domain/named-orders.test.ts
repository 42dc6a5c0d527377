import { expect, test } from 'vitest'
import {
  deniedAnswer,
  findOrderOfEntry,
  judgeAnswer,
  listNamedOrders,
  malformedReason,
  unknownReason,
} from '../../src/domain/orders/named-orders.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const at = (text: string): Date => new Date(text)

test('each named order is listed once, sorted, with its earliest day in UTC; a malformed id gets a fault, what is no id is left out', () => {
  const orders = [
    { purchaseOrderId: '20', at: at('2026-11-02T23:59:59Z') },
    { purchaseOrderId: '10', at: at('2026-11-02T00:30:00+02:00') },
    { purchaseOrderId: '20', at: at('2026-11-01T08:00:00Z') },
    { purchaseOrderId: '../7', at: at('2026-11-03T00:00:00Z') },
    ...[null, '', '9'.repeat(101), 'a\0', 'a\ud800'].map((purchaseOrderId) => ({
      purchaseOrderId,
      at: at('2026-11-03T00:00:00Z'),
    })),
  ]
  expect(listNamedOrders(orders)).toEqual([
    { purchaseOrderId: '../7', day: '2026-11-03', fault: malformedReason },
    { purchaseOrderId: '10', day: '2026-11-01', fault: null },
    { purchaseOrderId: '20', day: '2026-11-01', fault: null },
  ])
})

test('an order that the marketplace denies is explained after five requests within an hour, and requested at growing intervals up to a week', () => {
  const verdicts = Array.from({ length: 20 }, (_, index) => judgeAnswer(deniedAnswer, index + 1))
  expect(verdicts.map(({ state }) => state)).toEqual([...Array(4).fill('missing'), ...Array(16).fill('explained')])
  const delays = verdicts.map(({ delayMs }) => delayMs)
  expect(delays.slice(0, 6)).toEqual([minuteMs, 4 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs, 2 * hourMs])
  expect(delays.slice(0, 4).reduce((sum, delayMs) => sum + delayMs, 0)).toBeLessThan(hourMs)
  expect(delays.at(-1)).toBe(7 * 24 * hourMs)
  expect(verdicts.map(({ answer }) => answer)).toEqual([...Array(4).fill(deniedAnswer), ...Array(16).fill(unknownReason)])
})

test('an order that cannot be read stays missing, however often it is requested', () => {
  expect(judgeAnswer('HTTP 500', 12)).toEqual({ state: 'missing', answer: 'HTTP 500', delayMs: 128 * hourMs })
})

test.each([
  [-1, '108934567890123', '108934567890123'],
  [1, '108934567890123', null],
  [-1, 'FBA-12', null],
  [-1, '12345678', null],
  [-1, null, null],
])('an entry of %i units with shipment %s names the order %s', (changedUnits, shipmentId, order) => {
  expect(findOrderOfEntry({ changedUnits, shipmentId })).toBe(order)
})
