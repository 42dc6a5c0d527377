import fc from 'fast-check'
import { buildValues, hostileText, type JsonSchema } from './values.ts'

/** A row for the inbox, as an ERP may write it by SQL. `data` is JSON text, which Postgres may refuse. */
export interface HostileRow {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly data: string
}

const types = [
  'erp.order.accepted',
  'erp.shipment.dispatched',
  'erp.lines.unfulfillable',
  'erp.credit.issued',
  'erp.shipment.corrected',
  'erp.return.refunded',
  'erp.shipping-settings.defined',
  'erp.inbound.shipped',
]

const text: JsonSchema = { type: 'string' }
const line: JsonSchema = {
  type: 'object',
  properties: {
    lineNumber: text,
    returnLineNumber: { type: 'integer' },
    sku: text,
    quantity: { type: 'integer' },
    reason: text,
    amount: text,
    currency: { enum: ['USD', 'EUR'] },
  },
}
const data: JsonSchema = {
  type: 'object',
  properties: {
    sellerId: text,
    purchaseOrderId: text,
    returnOrderId: text,
    lines: { type: 'array', items: line },
    trackingNumber: text,
    replacement: {
      type: 'object',
      properties: { carrier: { enum: ['UPS', 'ups', 'FedEx'] }, trackingNumber: text, trackingUrl: text },
    },
    parcels: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          carrier: { enum: ['UPS', 'ups', 'FedEx'] },
          trackingNumber: text,
          shippedAt: text,
          lines: { type: 'array', items: line },
        },
      },
    },
  },
}

/** Rows that are events here and there, and otherwise of any type, size and nesting. `texts`: names of what is there. */
export const inboxRows = (texts: readonly string[]): fc.Arbitrary<HostileRow> =>
  fc.record({
    source: fc.oneof({ weight: 3, arbitrary: fc.constant('/fuzz') }, hostileText),
    id: fc.oneof({ weight: 3, arbitrary: fc.uuid() }, hostileText),
    type: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...types) }, hostileText),
    data: fc.oneof(
      { weight: 6, arbitrary: buildValues(data, () => ({}), texts).map((value) => JSON.stringify(value) ?? 'null') },
      fc.integer({ min: 40, max: 5_000 }).map((depth) => `{"purchaseOrderId":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`),
      fc
        .integer({ min: 1_000, max: 200_000 })
        .map((length) => JSON.stringify({ purchaseOrderId: texts[0], note: 'x'.repeat(length) })),
      fc.constantFrom(
        'null',
        '1',
        '"x"',
        '[]',
        '{"purchaseOrderId":1.0}',
        '{"purchaseOrderId":" \\t"}',
        '{"a":"\\u0000"}',
        '{"a":"\\ud800"}',
      ),
    ),
  })
