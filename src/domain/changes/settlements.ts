import { z } from 'zod'
import { kind } from './kind.ts'
import { count, day, listed, maybe } from './parts.ts'

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

/** Changes of rows of settlement reports. */
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
}
