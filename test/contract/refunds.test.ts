import { Decimal } from 'decimal.js'
import { describe, expect, test } from 'vitest'
import { ordersEndpoint, orderWrites } from '../../src/clients/marketplace/orders/orders.ts'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../src/clients/marketplace/profiles/profile.ts'
import { judge, takeBaseline } from '../../src/domain/commands/evidence.ts'
import { readEvent } from '../../src/domain/events/event-reading.ts'
import { type PlanResult, planCommands } from '../../src/domain/events/events.ts'
import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import { buildLedgers, type LedgerCommand } from '../../src/domain/orders/units.ts'
import { forever } from '../clients/servers.ts'
import { at, items } from '../sandbox/support.ts'
import { type Rehearsal, rehearse } from './rehearse.ts'

// Credits of lines with every kind of charge: planned, sent, and read back from a marketplace that counts what is left tax by tax and
// fee by fee. All units credited, in whatever pieces, give back exactly what was paid.

interface Case {
  readonly name: string
  readonly line: object
  readonly quantity: number
  /** What the buyer paid, and gets back. */
  readonly paid: string
}

const cases: readonly Case[] = [
  { name: 'fees only', quantity: 1, line: { amount: '10.00', fees: '0.30' }, paid: '10.3' },
  { name: 'fees and tax', quantity: 2, line: { amount: '10.00', tax: '0.80', fees: '0.31' }, paid: '11.11' },
  {
    name: 'fees and tax on every kind of charge',
    quantity: 3,
    line: {
      ...{ amount: '10.00', tax: '0.83', fees: '0.07', shipping: '4.99', shippingTax: '0.41' },
      charges: [{ type: 'GIFT_WRAP', amount: '2.00', tax: '0.17', fees: '0.05' }],
    },
    paid: '18.52',
  },
  {
    name: 'a discount that takes the product wholly',
    quantity: 2,
    line: {
      ...{ amount: '10.00', tax: '0.80', fees: '0.30', shipping: '5.00', shippingTax: '0.40' },
      charges: [{ type: 'DISCOUNT', amount: '-10.00' }],
    },
    paid: '6.5',
  },
  {
    name: 'a discount beyond the product',
    quantity: 2,
    line: {
      amount: '10.00',
      tax: '0.80',
      shipping: '5.00',
      shippingTax: '0.40',
      charges: [{ type: 'DISCOUNT', amount: '-12.00' }],
    },
    paid: '4.2',
  },
  {
    name: 'a partial discount',
    quantity: 2,
    line: {
      amount: '10.00',
      tax: '0.80',
      shipping: '5.00',
      shippingTax: '0.40',
      charges: [{ type: 'DISCOUNT', amount: '-3.33' }],
    },
    paid: '12.87',
  },
  {
    name: 'a partial discount of the price itself',
    quantity: 3,
    line: { amount: '10.00', tax: '0.80', charges: [{ type: 'PRODUCT', name: 'SubscriptionDiscount', amount: '-0.50' }] },
    paid: '10.3',
  },
  {
    name: 'two charges of one type',
    quantity: 2,
    line: {
      ...{ amount: '10.00', tax: '0.80' },
      charges: [
        { type: 'SHIPPING', name: 'a', amount: '3.00', tax: '0.24' },
        { type: 'SHIPPING', name: 'b', amount: '2.00', tax: '0.16' },
      ],
    },
    paid: '16.2',
  },
]

const reason = 'DamagedItem'

/** An order of one line, shipped, whose credits are planned and sent like those of the daemon. */
const readCredits = async (profile: Profile, line: object, quantity: number) => {
  const rehearsal = await rehearse(profile)
  const { client, sandbox } = rehearsal
  const purchaseOrderId = await sandbox.place([{ sku: 'A', quantity, ...line }])
  await sandbox.acknowledge(purchaseOrderId)
  await sandbox.ship(purchaseOrderId, [{ line: '1', quantity }])
  const commands: LedgerCommand[] = []
  const read = (): Promise<PurchaseOrder> => orderExpression(rehearsal, purchaseOrderId)

  const plan = async (units: number, amount?: string): Promise<PlanResult> => {
    const order = await read()
    const data = {
      purchaseOrderId,
      lines: [{ lineNumber: '1', quantity: units, reason, ...(amount === undefined ? {} : { amount }) }],
    }
    const { fullPriceRefundsAll } = profile
    return planCommands(readEvent({ type: 'erp.credit.issued', data }), order, buildLedgers(order, commands), {
      vocabulary: profile.vocabulary,
      fullPriceRefundsAll,
    })
  }

  /** The verdict on the order read back. */
  const credit = async (units: number, amount?: string): Promise<string> => {
    const planned = await plan(units, amount)
    if (!planned.ok) throw new Error(JSON.stringify(planned.faults))
    for (const command of planned.commands) {
      if (command.kind !== 'refund') throw new Error(`expected a refund, not ${command.kind}`)
      const baseline = takeBaseline(await read())
      const request = client.of(ordersEndpoint).prepare.refund({ purchaseOrderId, lines: command.payload.lines })
      await client.writer(orderWrites).send(request, { signal: forever(), correlationId: crypto.randomUUID() })
      const { verdict, lines } = judge(profile.vocabulary.statuses, command, baseline, await read())
      if (verdict !== 'applied') return lines.map(({ explanation }) => explanation).join('; ')
      commands.push({ ...command, state: 'confirmed', baseline: null })
    }
    return 'applied'
  }

  /** What the marketplace truly paid back, request by request. */
  const paidBack = async (): Promise<string[]> => {
    const effects = items(await sandbox.control('GET', `/effects?purchaseOrderId=${purchaseOrderId}`), 'items')
    return effects.filter((effect) => at(effect, 'kind') === 'refunded').map((effect) => String(at(effect, 'amount')))
  }
  return { plan, credit, paidBack }
}

const orderExpression = async ({ client }: Rehearsal, purchaseOrderId: string): Promise<PurchaseOrder> => {
  const observed = await client.of(ordersEndpoint).get(purchaseOrderId, { signal: forever() })
  if (observed?.record.ok !== true) throw new Error('expected an order that can be read')
  return observed.record.value
}

const sum = (amounts: readonly string[]): string =>
  amounts.reduce((total, amount) => total.plus(amount), new Decimal(0)).toFixed()

describe.each([specification, walmartUs])('credits under the profile $name', (profile) => {
  test.each(cases)('$name: all units at once give back exactly what was paid', async ({ line, quantity, paid }) => {
    const credits = await readCredits(profile, line, quantity)
    expect(await credits.credit(quantity)).toBe('applied')
    expect(await credits.paidBack()).toEqual([paid])
  })

  test.each(cases.filter(({ quantity }) => quantity > 1))(
    '$name: units credited one after the other give back exactly what was paid',
    async ({ line, quantity, paid }) => {
      const credits = await readCredits(profile, line, quantity)
      for (let unit = 0; unit < quantity; unit += 1) expect(await credits.credit(1)).toBe('applied')
      const amounts = await credits.paidBack()
      expect(amounts).toHaveLength(quantity)
      expect(sum(amounts)).toBe(paid)
    },
  )

  test('a price that a discount of its own took wholly: its tax stays, since no request can name it', async () => {
    const charges = [{ type: 'PRODUCT', name: 'SubscriptionDiscount', amount: '-10.00' }]
    const line = { amount: '10.00', tax: '0.80', shipping: '5.00', shippingTax: '0.40', charges }
    const credits = await readCredits(profile, line, 2)
    for (let unit = 0; unit < 2; unit += 1) expect(await credits.credit(1)).toBe('applied')
    expect(sum(await credits.paidBack())).toBe('5.4')
  })

  test('an amount below the price is given back as it is, and the rest of the units afterwards', async () => {
    const credits = await readCredits(profile, { amount: '20.00', tax: '1.60', shipping: '5.00', shippingTax: '0.40' }, 2)
    expect(await credits.credit(1, '10.00')).toBe('applied')
    expect(await credits.credit(1)).toBe('applied')
    expect(await credits.paidBack()).toEqual(['10', '13.5'])
  })
})

describe('an amount that is the whole price', () => {
  const line = { amount: '20.00', tax: '1.60', shipping: '5.00', shippingTax: '0.40' }

  test('is given back as it is under the specification', async () => {
    const credits = await readCredits(specification, line, 2)
    expect(await credits.credit(2, '20.00')).toBe('applied')
    expect(await credits.paidBack()).toEqual(['20'])
  })

  test('is refused where the live service would give back tax and shipping too', async () => {
    const credits = await readCredits(walmartUs, line, 2)
    const plan = await credits.plan(2, '20.00')
    expect(plan).toMatchObject({
      ok: false,
      faults: [{ path: 'data.lines[0].amount', message: expect.stringContaining('27 USD') }],
    })
    expect(await credits.credit(2, '19.99')).toBe('applied')
    expect(await credits.paidBack()).toEqual(['19.99'])
  })

  test('is given back where the line has nothing but its price', async () => {
    const credits = await readCredits(walmartUs, { amount: '20.00' }, 2)
    expect(await credits.credit(2, '20.00')).toBe('applied')
    expect(await credits.paidBack()).toEqual(['20'])
  })
})
