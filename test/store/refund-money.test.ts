import { afterAll, beforeAll, expect, test } from 'vitest'
import { mergeCharges } from '../../src/domain/orders/order-merge.ts'
import { openDatabase } from '../../src/store/db/database.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { seedOrder } from '../support/store.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { databaseBefore } from './support/earlier.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(() => postgres.stop())

const usd = (amount: unknown) => ({ currency: 'USD', amount })
const fees = { taxName: 'Fee', amount: '0.30', currency: 'USD' }
const charge = { chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '3.00', currency: 'USD', tax: null }

test('orders that were read before fees were known get them from their raw lines, and refunded money its sign', async () => {
  const url = await databaseBefore(postgres, '20261123000000_refund_money')
  const database = openDatabase({ findVocabulary, url })
  const wire = (taxAndOtherFees?: object, chargeName = 'ItemPrice') => ({
    chargeType: 'PRODUCT',
    chargeName,
    chargeAmount: usd(3),
    ...(taxAndOtherFees === undefined ? {} : { taxAndOtherFees }),
  })
  const charged = [
    wire({ taxName: 'Fee', taxAmount: usd(0.3) }),
    wire(undefined, 'Other'),
    wire({ taxAmount: { amount: '0.25' } }),
    wire({ taxName: 'Fee', taxAmount: usd('odd') }, 'Odd'),
  ]
  const raw = { charges: { charge: charged } }
  const charges = [{ ...charge, chargeName: 'Other' }, charge, charge, { ...charge, chargeName: 'Odd' }]
  const lines = [
    { ...orderLine('1', 'A', 1), charges, raw, refundedAmount: '-10.60' },
    { ...orderLine('2', 'B', 1), raw: { charges: 'none' }, refundedAmount: '2.00' },
  ]
  // Today's writer asks which orders are erased, keeps parcels, and stores changes without numbers; the tables for that came later.
  await database.execute('CREATE TABLE tallyman.erased_records (seller_id text, kind text, record_id text)')
  await database.execute(
    `CREATE TABLE warehouse.shipments (seller_id text, purchase_order_id text, line_number text, position integer, carrier text, method_code text,
       tracking_number text, tracking_url text, shipped_at timestamptz, quantity integer, shown_quantity integer, delivered_at timestamptz,
       delivered_quantity integer, first_seen_at timestamptz, changed_at timestamptz, PRIMARY KEY (seller_id, purchase_order_id, line_number, position))`,
  )
  await database.execute('ALTER TABLE warehouse.order_lines ADD COLUMN refunds jsonb')
  await database.execute('CREATE TABLE tallyman.unnumbered_changes (changes jsonb)')
  await seedOrder(database, 's-1', purchaseOrder('1', lines))
  await database.execute('ALTER TABLE warehouse.order_lines DROP COLUMN refunds')
  await database.execute('DROP TABLE tallyman.erased_records, tallyman.unnumbered_changes, warehouse.shipments')
  expect(await migrate(url)).toContain('20261123000000_refund_money')
  const stored = await readOrder(database, 's-1', '1')
  expect(stored?.lines.map((one) => one.refundedAmount)).toEqual(['10.60', '2.00'])
  expect(stored?.lines[0]?.charges).toEqual([
    { ...charge, chargeName: 'Other' },
    { ...charge, taxAndOtherFees: { ...fees, amount: '0.3' } },
    { ...charge, taxAndOtherFees: { taxName: '', amount: '0.25', currency: 'USD' } },
    { ...charge, chargeName: 'Odd' },
  ])
  expect(stored?.lines[1]?.charges).toEqual(lines[1]?.charges)
  await database.close()
})

test('fees are kept as first seen, and taken over when they come later', () => {
  const withFees = { ...charge, taxAndOtherFees: fees }
  const zero = { ...charge, amount: '0', taxAndOtherFees: { ...fees, amount: '0' } }
  expect(mergeCharges([withFees], [zero])).toEqual([withFees])
  expect(mergeCharges([withFees], [charge])).toEqual([withFees])
  expect(mergeCharges([charge], [withFees])).toEqual([withFees])
  expect(mergeCharges([charge], [charge])).toEqual([charge])
})
