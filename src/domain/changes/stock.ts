import { z } from 'zod'
import { kind } from './kind.ts'
import { listed, maybe, text, time } from './parts.ts'
import { loadedSchema } from './shapes.ts'

const units = z.int().nullable()

const stock = listed(
  { sku: text },
  z.object({
    availableUnits: z.int(),
    reservedUnits: units,
    onHandUnits: units,
    inboundUnits: units,
    inReviewUnits: units,
    inMovementUnits: units,
    publishingStatus: maybe,
    lifecycle: maybe,
    stockStatus: maybe,
  }),
)

const name = { sku: 'MUG-BLUE' }
const state = {
  availableUnits: 94,
  reservedUnits: 2,
  onHandUnits: 96,
  inboundUnits: 40,
  inReviewUnits: 0,
  inMovementUnits: 0,
  publishingStatus: 'Published',
  lifecycle: 'Active',
  stockStatus: 'In-stock',
}

const difference = { id: text, sku: text, gtin: maybe }
const differenceSchema = z.object({
  ...difference,
  countedUnits: z.int().meta({ description: "Units on hand, by the marketplace's list." }),
  balanceUnits: z.int().meta({ description: 'The opening units, and the movements of the inventory log since.' }),
  difference: z.int().meta({ description: 'countedUnits minus balanceUnits.' }),
  asOf: time,
  openingUnits: z.int().meta({ description: 'The ending of the newest monthly report before `asOf`.' }),
  openingAt: time,
  value: maybe,
  currency: maybe,
})
const differenceName = { id: '3', sku: 'MUG-BLUE', gtin: '00012345678905' }
const found = {
  ...differenceName,
  countedUnits: 96,
  balanceUnits: 98,
  difference: -2,
  asOf: '2026-03-02T10:00:00.000Z',
  openingUnits: 101,
  openingAt: '2026-03-02T08:00:00.000Z',
  value: '27.98',
  currency: 'USD',
}

/** Changes of the stock on hand. */
export const stockChanges = {
  'stock.loaded': kind('The stock on hand of a seller was read completely for the first time.', loadedSchema, {
    count: 34,
    parts: {},
  }),
  'stock.added': kind('The list of the stock on hand has a SKU for the first time, or again.', stock, {
    ...name,
    before: null,
    after: state,
  }),
  'stock.changed': kind('Units or a status of the stock on hand of a SKU changed.', stock, {
    ...name,
    before: state,
    after: { ...state, availableUnits: 92, onHandUnits: 94 },
  }),
  'stock.removed': kind('The list of the stock on hand no longer has a SKU.', stock, {
    ...name,
    before: state,
    after: null,
  }),
  'stock_difference.found': kind(
    'The stock on hand of a SKU differs from the balance of its inventory log at the same time.',
    differenceSchema,
    found,
  ),
  'stock_difference.changed': kind('The units of an open difference between stock and log changed.', differenceSchema, {
    ...found,
    countedUnits: 97,
    difference: -1,
    value: '13.99',
  }),
  'stock_difference.resolved': kind(
    'Stock and log agree again, or can no longer be compared.',
    z.object({ ...difference, resolution: z.enum(['agrees', 'withdrawn']) }),
    { ...differenceName, resolution: 'agrees' },
  ),
}
