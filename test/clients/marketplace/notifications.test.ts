import { expect, test } from 'vitest'
import { readNotification } from '../../../src/clients/marketplace/notifications.ts'

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

const read = (eventType: string, payload: unknown, eventId: unknown = 'e-1') =>
  readNotification(bytes({ source: { eventType, eventTime: '2026-11-27T10:00:00Z', eventId }, payload }))

const known = (eventType: string, records: readonly object[], hold: string | null = null, eventId = 'e-1') => ({
  kind: 'known',
  notification: { eventId, eventType, records, hold },
})
const order = { resource: 'orders', recordId: '108' }

test.each([
  ['PO_CREATED', null],
  ['PO_LINE_AUTOCANCELLED', null],
  ['INTENT_TO_CANCEL', 'intent-to-cancel'],
  ['FRAUD_CANCEL', 'fraud-cancel'],
])('ORDER_UPDATES with %s names its order, and so does the single event', (event, hold) => {
  const buyer = { purchaseOrderId: '108', shippingInfo: { phone: '555' } }
  expect(read('ORDER_UPDATES', { subEventType: event, order: buyer })).toEqual(known(event, [order], hold))
  expect(read(event, { partnerId: 1, ...buyer, orderLines: [] })).toEqual(known(event, [order], hold))
})

test('an order event that is not known is a change of its order, and holds nothing', () => {
  expect(read('ORDER_UPDATES', { subEventType: 'PO_MOVED', order: { purchaseOrderId: 108 } })).toEqual(
    known('ORDER_UPDATES', [order]),
  )
  expect(read('ORDER_UPDATES', { subEventType: 'constructor', purchaseOrderId: '108' })).toEqual(known('ORDER_UPDATES', [order]))
})

test('a return event names each of its returns once', () => {
  const returns = ['7', '8'].map((recordId) => ({ resource: 'returns', recordId }))
  const returnOrders = [{ returnOrderId: '7' }, { returnOrderId: 8 }, { returnOrderId: '7' }]
  expect(read('RETURN_CREATED', { returnOrders })).toEqual(known('RETURN_CREATED', returns))
  expect(read('RETURN_REFUNDED', { returnOrders: { returnOrderId: '7' } })).toEqual(
    known('RETURN_REFUNDED', [{ resource: 'returns', recordId: '7' }]),
  )
})

test('a report status names the request', () => {
  expect(read('REPORT_STATUS', { requestId: 'r-1', status: 'READY' })).toEqual(
    known('REPORT_STATUS', [{ resource: 'reconciliation', recordId: 'r-1' }]),
  )
})

test.each(['OFFER_PUBLISHED', 'BUY_BOX_CHANGED', 'MCS_RETURN_ORDER_STATUS_UPDATE', 'constructor'])('%s is not read', (type) => {
  expect(read(type, { purchaseOrderId: '108' })).toEqual({ kind: 'other', eventType: type })
})

test.each([
  undefined,
  null,
  '',
  ' ',
  '../token',
  'a/b',
  '9007199254740993e3',
  9_007_199_254_740_992,
  'x'.repeat(101),
  'a\u0000b',
])('the id %j names no order that could be requested', (purchaseOrderId) => {
  const result = read('PO_CREATED', { purchaseOrderId })
  if (purchaseOrderId === '9007199254740993e3') expect(result).toMatchObject({ kind: 'known' })
  else expect(result).toEqual({ kind: 'unreadable', eventType: 'PO_CREATED' })
})

test('without a usable event id, the same bytes are the same event', () => {
  const first = read('PO_CREATED', { purchaseOrderId: '108' }, null)
  expect(first).toMatchObject({ notification: { eventId: expect.stringMatching(/^sha256:/) } })
  expect(read('PO_CREATED', { purchaseOrderId: '108' }, null)).toEqual(first)
  expect(read('PO_CREATED', { purchaseOrderId: '109' }, null)).not.toMatchObject({
    notification: { eventId: first.kind === 'known' ? first.notification.eventId : '' },
  })
})

test.each(['', 'x', '[]', 'null', '{}', '{"source":{}}', '{"source":{"eventType":""}}', '\ufffd{'])('%j is malformed', (text) => {
  expect(readNotification(new TextEncoder().encode(text))).toEqual({ kind: 'malformed' })
  expect(readNotification(new Uint8Array([0xff, 0xfe, 0x7b]))).toEqual({ kind: 'malformed' })
})
