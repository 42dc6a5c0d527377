import { describe, expect, test } from 'vitest'
import { classifyRow, parseRate } from '../../src/clients/marketplace/reports/settlement-words.ts'
import { withDatabase } from '../support/database.ts'
import { charge, orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { reportRow, storeReportRows } from './support/settlements.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 's-1'
const read = (sql: string) => stage.database.query(sql)

describe('the money of order lines', () => {
  test('is what was charged, and what reports paid, charged and refunded; each row belongs to one line', async () => {
    const line = (number: string, sku: string, price: string) =>
      orderLine(number, sku, 2, { shipped: 1 }, { charges: [charge(price, '2.00'), charge('5.00', '0.50', 'SHIPPING')] })
    const order = purchaseOrder('1', [line('1', 'PAN', '20.00'), line('2', 'POT', '40.00'), line('3', 'POT', '40.00')])
    await seedOrder(stage.database, sellerId, order)
    await storeReportRows(stage.database, sellerId, '2026-03-14', [
      { 'Transaction Type': 'PaymentSummary', 'Total Payable': '31.55' },
      // Another number than that of the order's line, and the SKU in another case.
      reportRow('1', 'pan', '7', ['Sale', 'Product Price'], '10.00'),
      reportRow('1', 'pan', '7', ['Sale', 'Product tax'], '1.00'),
      reportRow('1', 'pan', '7', ['Sale', 'Product tax withheld'], '-1.00'),
      reportRow('1', 'pan', '7', ['Sale', 'Commission on Product'], '-1.50'),
      reportRow('1', 'POT', '3', ['Sale', 'Product Price'], '20.00'),
      reportRow('1', 'POT', '3', ['Sale', 'Shipping'], '2.50'),
      reportRow('1', 'POT', '3', ['Refund', 'Product Price'], '-5.00'),
      reportRow('1', 'POT', '3', ['Refund', 'Commission on Product'], '0.75'),
      reportRow('1', 'POT', '3', ['Adjustment', 'Fee/Reimbursement'], '-1.20'),
      reportRow('1', 'POT', '3', ['Adjustment', 'A new name'], '-0.30'),
      reportRow('1', 'POT', '3', ['Sale', 'Promo Code'], '-2.00'),
      reportRow('1', 'POT', '3', ['Reserve', 'Reserve'], '-4.00'),
    ])
    const money = `price::text, shipping::text, tax::text, paid::text, net_tax::text, commission::text, fees::text, refunds::text, other::text,
      payout::text, open_amount::text`
    const none = { net_tax: '0.00', commission: '0', fees: '0', refunds: '0', other: '0' }
    const charged = { price: '40.00', shipping: '5.00', tax: '2.50' }
    expect(await read(`SELECT line_number, ${money}, report_rows FROM warehouse.order_money ORDER BY line_number`)).toEqual([
      {
        ...{ line_number: '1', ...charged, price: '20.00', paid: '10.00', ...none, commission: '-1.50', payout: '8.50' },
        ...{ open_amount: '2.50', report_rows: 4 },
      },
      { line_number: '2', ...charged, paid: '0', ...none, net_tax: '0', payout: '0', open_amount: '22.50', report_rows: 0 },
      {
        ...{ line_number: '3', ...charged, paid: '22.50', net_tax: '0', commission: '0.75', fees: '-1.50', refunds: '-5.00' },
        ...{ other: '-6.00', payout: '10.75', open_amount: '0', report_rows: 8 },
      },
    ])
    // Each amount is in one column.
    expect(
      await read(
        'SELECT sum(payout - paid - net_tax - commission - fees - refunds - other)::numeric = 0 AS whole FROM warehouse.order_money',
      ),
    ).toEqual([{ whole: true }])
    expect(
      await read(
        `SELECT sku, month::text, orders, ordered::int, price::text, payout::text, open_amount::text FROM warehouse.sku_money ORDER BY sku`,
      ),
    ).toEqual([
      { sku: 'PAN', month: '2026-03-01', orders: 1, ordered: 2, price: '20.00', payout: '8.50', open_amount: '2.50' },
      { sku: 'POT', month: '2026-03-01', orders: 1, ordered: 4, price: '80.00', payout: '10.75', open_amount: '22.50' },
    ])
  })
})

test('rows are classified by the words of the report', () => {
  const row = (transactionType: string, amountType: string | null, description: string | null = null) =>
    classifyRow({ transactionType, amountType, description })
  expect(row('Sale', 'Product Price')).toEqual({ movement: 'sale', component: 'price', reimburses: null })
  expect(row('Refund', 'Product tax withheld', 'Seller Triggered Refund')).toMatchObject({
    movement: 'seller-refund',
    component: 'tax-withheld',
  })
  expect(row('Service Fee', null, '"WFS Return Shipping fee "')).toMatchObject({ movement: 'other', component: 'fee' })
  expect(row('Service Fee', null, 'A new fee')).toMatchObject({ movement: 'other', component: 'unknown' })
  expect(row('PaymentSummary', null)).toMatchObject({ movement: 'summary', component: 'summary' })
  expect(['15', '15%', '0.15', '12.5 %', 'none', null].map(parseRate)).toEqual(['0.15', '0.15', '0.15', '0.125', null, null])
})
