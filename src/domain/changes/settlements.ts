import { z } from 'zod'
import { settlementDifferenceKinds, settlementResolutions } from '../settlements/settlement-differences.ts'
import { kind } from './kind.ts'
import { count, day, list, listed, maybe, text } from './parts.ts'

const line = listed(
  { reportDate: day, row: count },
  z.object({
    transactionType: maybe,
    amountType: maybe,
    amount: maybe,
    totalPayable: maybe,
    currency: maybe,
    purchaseOrderId: maybe,
  }),
)

const name = { reportDate: '2026-03-10', row: 17 }
const row = {
  transactionType: 'Sale',
  amountType: 'Product Price',
  amount: '13.99',
  totalPayable: '11.89',
  currency: 'USD',
  purchaseOrderId: '1796277083022',
}

const difference = { id: text, kind: z.enum(settlementDifferenceKinds), sku: maybe }
const differenceSchema = z.object({
  ...difference,
  expected: text.meta({ description: 'What reports should have paid.' }),
  paid: text.meta({ description: 'What they have paid.' }),
  difference: text.meta({ description: 'Paid less expected.' }),
  currency: maybe,
  lineKeys: list(text).meta({ description: 'The rows of `warehouse.settlement_lines` that it comes from.' }),
})
const differenceName = { id: '5', kind: 'paid-less', sku: 'MUG-BLUE' } as const
const found = {
  ...differenceName,
  expected: '13.99',
  paid: '12.49',
  difference: '-1.50',
  currency: 'USD',
  lineKeys: ['2026-03-10/17'],
}
const ids = { ids: ['purchaseOrderId', 'lineNumber'], maybe: ['purchaseOrderId', 'lineNumber'] } as const

/** Changes of rows of settlement reports, and of their differences from orders. */
export const settlementChanges = {
  'settlement_line.added': kind('A row of a settlement report was stored.', line, {
    ...name,
    before: null,
    after: row,
  }),
  'settlement_line.changed': kind('A row of a settlement report differs from the stored one.', line, {
    ...name,
    before: row,
    after: { ...row, totalPayable: '11.90' },
  }),
  'settlement_line.removed': kind('A settlement report no longer has a row.', line, {
    ...name,
    before: row,
    after: null,
  }),
  'settlement_difference.found': kind(
    'Settlement reports have paid an order line otherwise than it is due, or moved money under an unknown name.',
    differenceSchema,
    found,
    ids,
  ),
  'settlement_difference.changed': kind(
    'The amounts or rows of an open difference changed.',
    differenceSchema,
    { ...found, paid: '12.99', difference: '-1.00' },
    ids,
  ),
  'settlement_difference.resolved': kind(
    'Later reports or records explain a difference, or its order is no longer stored.',
    z.object({ ...difference, resolution: z.enum(settlementResolutions) }),
    { ...differenceName, resolution: 'settled' },
    ids,
  ),
}
