import { describe, expect, test } from 'vitest'
import {
  at,
  items,
  type Json,
  listUnits,
  type Reply,
  readEffects,
  startClient,
  startLiveClient,
  type TestClient,
} from './support.ts'

const lines = [
  { sku: 'A', quantity: 3, unitPrice: '10.00', tax: '2.00' },
  { sku: 'B', quantity: 2, unitPrice: '5.00' },
]
const shownIn = (reply: Reply): readonly string[] => {
  const order = at(reply.json, 'order')
  return items(order, 'orderLines', 'orderLine').map((_, index) => listUnits(order, index))
}
const next = (client: TestClient, fault: string, more: object = {}): Promise<Json> =>
  client.control('POST', '/faults/next', { fault, ...more })

const acknowledged = async (client: TestClient): Promise<string> => {
  const po = await client.place(lines)
  await client.acknowledge(po)
  return po
}

const both = [
  { line: '1', quantity: 3 },
  { line: '2', quantity: 2 },
]

describe('partialEffect: a part is done, and the answer says truly which', () => {
  test('of a shipment only the lines that are named', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await next(client, 'partialEffect', { operation: 'orders.ship', lines: ['2'] })
    const reply = await client.ship(po, both)
    expect([reply.status, ...shownIn(reply)]).toEqual([200, 'Acknowledged 3', 'Shipped 2'])
    expect((await readEffects(client, po)).filter((effect) => effect.startsWith('shipped'))).toEqual([
      'shipped 2 of line 2 by seller',
    ])
    expect(listUnits(await client.order(po))).toBe('Acknowledged 3')
  })

  test('of a cancellation fewer units', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await next(client, 'partialEffect', { units: 1 })
    const reply = await client.cancel(po, '1', 3)
    expect([reply.status, shownIn(reply)[0]]).toEqual([200, 'Acknowledged 2, Cancelled 1'])
  })

  test('of a refund fewer units, and their money', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await client.ship(po, both)
    await next(client, 'partialEffect', { units: 2 })
    const reply = await client.refund(po, '1', 3, -30, -2)
    expect([reply.status, shownIn(reply)[0]]).toEqual([200, 'Refund 2, Shipped 1'])
    const effects = items(await client.control('GET', `/effects?purchaseOrderId=${po}`), 'items')
    expect(effects.at(-1)).toMatchObject({ kind: 'refunded', quantity: 2, amount: '21.33' })
  })

  test('of a refund other money than was asked, as far as the charges go', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await client.ship(po, both)
    await next(client, 'partialEffect', { amount: '30.00' })
    expect((await client.refund(po, '1', 1, -10)).status).toBe(200)
    const charge = at(await client.order(po), 'orderLines', 'orderLine', 0, 'refund', 'refundCharges', 'refundCharge', 0)
    expect(at(charge, 'charge', 'chargeAmount', 'amount')).toBe(-30)
  })

  test('of an acknowledgement some lines, and nothing at all where nothing is let through', async () => {
    const client = await startClient()
    const po = await client.place(lines)
    await next(client, 'partialEffect', { lines: ['1'] })
    expect(shownIn(await client.acknowledge(po))).toEqual(['Acknowledged 3', 'Created 2'])
    await next(client, 'partialEffect', { units: 0 })
    const reply = await client.acknowledge(po)
    expect([reply.status, ...shownIn(reply)]).toEqual([200, 'Acknowledged 3', 'Created 2'])
  })

  test('left to chance it leaves something out each time, the same for the same seed', async () => {
    const client = await startClient()
    const run = async (): Promise<string[]> => {
      await client.control('PUT', '/faults', { seed: 5, rules: [{ operation: 'orders.ship', partialEffect: 1 }] })
      const seen: string[] = []
      for (let index = 0; index < 6; index += 1) {
        const po = await client
          .place(lines, { purchaseOrderId: `77${index}`, sellerId: 'sandbox-seller' })
          .catch(() => `77${index}`)
        await client.acknowledge(po)
        seen.push(shownIn(await client.ship(po, both)).join(' / '))
      }
      return seen
    }
    const first = await run()
    for (const shown of first) expect(shown).toMatch(/Acknowledged/)
    expect(new Set(first).size).toBeGreaterThan(1)
    await client.control('DELETE', '/')
    await client.control('PUT', '/limits', { enabled: false })
    await client.renewToken()
    expect(await run()).toEqual(first)
  })

  test('what the rules refuse is refused whole', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await next(client, 'partialEffect', { lines: ['1'] })
    const reply = await client.ship(po, [
      { line: '1', quantity: 3 },
      { line: '2', quantity: 9 },
    ])
    expect(reply.status).toBe(400)
    expect(listUnits(await client.order(po))).toBe('Acknowledged 3')
  })

  test('goes with an answer that never comes well: half done, and then 500', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await next(client, 'partialEffect', { lines: ['1'] })
    await next(client, 'serverErrorAfter', { status: 500 })
    expect((await client.ship(po, both)).status).toBe(500)
    expect(listUnits(await client.order(po))).toBe('Shipped 3')
    expect(listUnits(await client.order(po), 1)).toBe('Acknowledged 2')
  })

  test('of a refund through a return', async () => {
    const client = await startLiveClient()
    const po = await acknowledged(client)
    await client.ship(po, both)
    const opened = await client.control('POST', '/returns', {
      purchaseOrderId: po,
      lines: [{ lineNumber: '1', quantity: 3 }],
      travels: false,
    })
    await next(client, 'partialEffect', { units: 1 })
    const refundLines = [{ quantity: { unitOfMeasure: 'EA', measurementValue: 3 } }]
    const reply = await client.call('POST', `/v3/returns/${at(opened, 'returnOrderId')}/refund`, { refundLines })
    expect(reply.status).toBe(200)
    expect(listUnits(await client.order(po))).toBe('Refund 1, Shipped 2')
  })
})

describe('partialAnswer: all is done, and the answer shows a part of it', () => {
  test('one of two lines shipped; the next read shows both', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await next(client, 'partialAnswer', { lines: ['1'] })
    const reply = await client.ship(po, both)
    expect([reply.status, ...shownIn(reply)]).toEqual([200, 'Shipped 3', 'Acknowledged 2'])
    expect(listUnits(await client.order(po), 1)).toBe('Shipped 2')
  })

  test('nothing of it: the answer shows the order as it was before', async () => {
    const client = await startClient()
    const po = await acknowledged(client)
    await next(client, 'partialAnswer', { units: 0, purchaseOrderId: po })
    expect(shownIn(await client.cancel(po, '1', 2))[0]).toBe('Acknowledged 3')
    expect(listUnits(await client.order(po))).toBe('Acknowledged 1, Cancelled 2')
  })
})
