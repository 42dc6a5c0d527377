import { describe, expect, test } from 'vitest'
import { at, connect, items, listUnits, startTestSandbox, type TestClient } from './support.ts'

const started = async (): Promise<TestClient> => {
  const sandbox = await startTestSandbox()
  const client = await connect(sandbox.url)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

describe('legacy orders', () => {
  test('have one line a unit, whose charges add up to those of the whole', async () => {
    const client = await started()
    const lines = [
      { sku: 'A', quantity: 3, amount: '10.00', tax: '0.50' },
      { sku: 'B', quantity: 1, amount: '2.00' },
    ]
    const order = await client.order(await client.place(lines, { legacy: true }))
    const shown = items(order, 'orderLines', 'orderLine')
    expect(
      shown.map((line) => [at(line, 'lineNumber'), at(line, 'item', 'sku'), at(line, 'orderLineQuantity', 'amount')]),
    ).toEqual([
      ['1', 'A', '1'],
      ['2', 'A', '1'],
      ['3', 'A', '1'],
      ['4', 'B', '1'],
    ])
    const amounts = shown.slice(0, 3).map((line) => Number(at(line, 'charges', 'charge', 0, 'chargeAmount', 'amount')))
    expect(amounts.map((amount) => Math.round(amount * 100)).reduce((sum, cents) => sum + cents, 0)).toBe(1_000)
    const taxes = shown.slice(0, 3).map((line) => Number(at(line, 'charges', 'charge', 0, 'tax', 'taxAmount', 'amount')))
    expect(taxes.map((tax) => Math.round(tax * 100)).reduce((sum, cents) => sum + cents, 0)).toBe(50)
  })

  test('each line is shipped, cancelled and refunded on its own', async () => {
    const client = await started()
    const po = await client.place([{ sku: 'A', quantity: 3, unitPrice: '5.00' }], { legacy: true })
    expect((await client.acknowledge(po)).status).toBe(200)
    expect((await client.ship(po, [{ line: '2', quantity: 1 }])).status).toBe(200)
    expect((await client.ship(po, [{ line: '2', quantity: 1 }])).status).toBe(400)
    expect((await client.cancel(po, '3', 1)).status).toBe(200)
    expect((await client.refund(po, '2', 1, -5)).status).toBe(200)
    const order = await client.order(po)
    expect([0, 1, 2].map((line) => listUnits(order, line))).toEqual(['Acknowledged 1', 'Refund 1', 'Cancelled 1'])
  })

  test('random ones are legacy too, those with a past as well', async () => {
    const client = await started()
    await client.control('POST', '/orders', {
      count: 40,
      legacy: true,
      createdFrom: '2026-01-01',
      shipNodeType: 'SellerFulfilled',
    })
    const summary = items(await client.control('GET', '/effects/summary?limit=5000'), 'items')
    expect(summary.length).toBeGreaterThan(60)
    expect(new Set(summary.map((line) => at(line, 'ordered')))).toEqual(new Set([1]))
    const orders = new Set(summary.map((line) => at(line, 'purchaseOrderId')))
    expect(orders.size).toBe(40)
  })

  test('lines of several units cannot be numbered', async () => {
    const client = await started()
    await expect(client.place([{ sku: 'A', quantity: 2, lineNumber: '7' }], { legacy: true })).rejects.toThrow('numbered')
    const order = await client.order(await client.place([{ sku: 'A', lineNumber: '7' }], { legacy: true }))
    expect(at(order, 'orderLines', 'orderLine', 0, 'lineNumber')).toBe('7')
  })
})
