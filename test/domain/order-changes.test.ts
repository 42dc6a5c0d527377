import { expect, test } from 'vitest'
import { orderChanges, orderSeen } from '../../src/domain/orders/order-changes.ts'
import { lineWith, orderWith, wireStatus } from '../store/support/records.ts'

const created = orderWith('1', [lineWith('1', 2, [wireStatus('Created', 2)]), lineWith('2', 1, [wireStatus('Created', 1)])]).value
const withPerson = (customerPhone: string) => ({
  ...created,
  customerName: 'Given Family',
  customerPhone,
  shippingAddress: { street: 'Quay' },
})

test('an order that is seen first is reported with its lines, without its buyer', () => {
  const seen = orderSeen(withPerson('5550100'))
  expect(seen).toMatchObject({ type: 'order.seen', purchaseOrderId: '1' })
  expect(seen.data.lines.map(({ lineNumber, ordered }) => [lineNumber, ordered])).toEqual([
    ['1', 2],
    ['2', 1],
  ])
  expect(JSON.stringify(seen)).not.toMatch(/Given|5550100|Quay/)
})

test('an order that says the same is no change, however its members are ordered', () => {
  const address = { street: 'Quay', city: 'Portland' }
  const turned = { city: 'Portland', street: 'Quay' }
  expect(orderChanges({ ...created, shippingAddress: address }, { ...created, shippingAddress: turned })).toEqual([])
})

test('a buyer’s data that changed is named, and not told', () => {
  const changes = orderChanges(withPerson('5550100'), withPerson('5550199'))
  expect(changes).toMatchObject([{ type: 'order.changed', purchaseOrderId: '1', data: { fields: ['customerPhone'] } }])
  expect(JSON.stringify(changes)).not.toMatch(/Given|5550|Quay/)
})

test('the header comes before the lines, and only lines that differ are reported', () => {
  const [first, second] = orderWith('1', [
    lineWith('1', 2, [wireStatus('Shipped', 1), wireStatus('Created', 1)]),
    lineWith('2', 1, [wireStatus('Created', 1)]),
  ]).value.lines
  if (first === undefined || second === undefined) throw new Error('no lines')
  const changes = orderChanges(created, { ...created, methodCode: 'Express', lines: [first, second] })
  expect(changes).toMatchObject([
    { type: 'order.changed', data: { fields: ['methodCode'], after: { methodCode: 'Express' } } },
    { type: 'order_line.changed', lineNumber: '1', data: { before: { shipped: 0 }, after: { shipped: 1 } } },
  ])
})

test('a line that was not there before is reported without what it was', () => {
  const less = { ...created, lines: created.lines.slice(0, 1) }
  expect(orderChanges(less, created)).toMatchObject([{ type: 'order_line.changed', lineNumber: '2', data: { before: null } }])
  expect(orderChanges(created, less)).toEqual([])
})
