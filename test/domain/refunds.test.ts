import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RefundCharge } from '../../src/domain/command.ts'
import type { Charge } from '../../src/domain/order.ts'
import {
  freeSlots,
  minorDigits,
  productShare,
  type RefundResult,
  refundOfAmount,
  refundOfSlots,
  refundTotal,
  splitByWeight,
} from '../../src/domain/refunds.ts'
import type { LineLedger } from '../../src/domain/units.ts'
import { charge } from './support/marketplace.ts'

function lineOf(ordered: number, charges: readonly Charge[], refundedAmount = '0') {
  return { lineNumber: '3', ordered, charges, refundedAmount }
}

function chargesOf(result: RefundResult): RefundCharge[] {
  if (!result.ok) throw new Error(result.message)
  return result.charges
}

const digitsOf: Record<string, number> = { USD: 2, JPY: 0, KWD: 3 }

/** A number of units cut into refunds of one or more slots, in random order. */
const split = fc
  .integer({ min: 1, max: 12 })
  .chain((ordered) =>
    fc.record({
      ordered: fc.constant(ordered),
      slots: fc.shuffledSubarray(
        Array.from({ length: ordered }, (_, slot) => slot),
        { minLength: ordered },
      ),
      cuts: fc.array(fc.boolean(), { minLength: ordered, maxLength: ordered }),
    }),
  )
  .map(({ ordered, slots, cuts }) => {
    const groups: number[][] = [[]]
    for (const [index, slot] of slots.entries()) {
      groups.at(-1)?.push(slot)
      if (cuts[index] === true) groups.push([])
    }
    return { ordered, groups: groups.filter((group) => group.length > 0) }
  })

describe('refund arithmetic', () => {
  it.each(Object.entries(digitsOf))('sums to the line in %s, however it is split and in whatever order', (currency, digits) => {
    const minor = fc.integer({ min: 0, max: 5_000_000 })
    fc.assert(
      fc.property(split, minor, minor, minor, minor, ({ ordered, groups }, product, productTax, shipping, shippingTax) => {
        const text = (amount: number): string => new Decimal(amount).div(10 ** digits).toFixed(digits)
        const line = lineOf(ordered, [
          charge(text(product), text(productTax), 'PRODUCT', currency),
          charge(text(shipping), text(shippingTax), 'SHIPPING', currency),
        ])
        const sums = new Map<string, Decimal>()
        const note = (name: string, amount: string): void => {
          expect(amount).toMatch(digits === 0 ? /^-?\d+$/ : new RegExp(`^-?\\d+\\.\\d{${digits}}$`))
          sums.set(name, (sums.get(name) ?? new Decimal(0)).minus(amount))
        }
        for (const slots of groups) {
          const refund = refundOfSlots(line, slots)
          if (!refund.ok) continue
          for (const one of refund.charges) {
            expect(new Decimal(one.amount).lte(0)).toBe(true)
            note(one.chargeType, one.amount)
            if (one.tax !== null) note(`${one.chargeType} tax`, one.tax.amount)
          }
        }
        expect((sums.get('PRODUCT') ?? new Decimal(0)).toFixed(digits)).toBe(text(product))
        expect((sums.get('PRODUCT tax') ?? new Decimal(0)).toFixed(digits)).toBe(text(productTax))
        expect((sums.get('SHIPPING') ?? new Decimal(0)).toFixed(digits)).toBe(text(shipping))
        expect((sums.get('SHIPPING tax') ?? new Decimal(0)).toFixed(digits)).toBe(text(shippingTax))
      }),
    )
  })

  it('gives each unit its fair share, no more than a minor unit off', () => {
    fc.assert(
      fc.property(split, fc.integer({ min: 1, max: 100_000 }), ({ ordered, groups }, cents) => {
        const line = lineOf(ordered, [charge(new Decimal(cents).div(100).toFixed(2))])
        for (const slots of groups) {
          const refund = refundOfSlots(line, slots)
          const given = refund.ok ? new Decimal(refundTotal(refund.charges)).times(100).toNumber() : 0
          expect(Math.abs(given - (cents * slots.length) / ordered)).toBeLessThan(slots.length + 1e-9)
        }
      }),
    )
  })

  it('splits three units of 10.00 with 0.80 tax into 3.33, 3.34, 3.33', () => {
    const line = lineOf(3, [charge('10.00', '0.80')])
    const parts = [0, 1, 2].map((slot) => chargesOf(refundOfSlots(line, [slot]))[0])
    expect(parts.map((part) => part?.amount)).toEqual(['-3.33', '-3.34', '-3.33'])
    expect(parts.map((part) => part?.tax?.amount)).toEqual(['-0.27', '-0.26', '-0.27'])
  })

  it('rounds half up', () => {
    const line = lineOf(2, [charge('0.05')])
    expect(chargesOf(refundOfSlots(line, [0]))[0]?.amount).toBe('-0.03')
    expect(chargesOf(refundOfSlots(line, [1]))[0]?.amount).toBe('-0.02')
  })

  it('takes a discount off the charge it belongs to, never giving back more than was paid', () => {
    const money = fc.integer({ min: 0, max: 10_000 })
    fc.assert(
      fc.property(split, money, money, money, ({ ordered, groups }, price, shipping, discount) => {
        const text = (cents: number): string => new Decimal(cents).div(100).toFixed(2)
        const line = lineOf(ordered, [charge(text(price)), charge(text(-discount)), charge(text(shipping), null, 'SHIPPING')])
        let total = new Decimal(0)
        for (const slots of groups) {
          const refund = refundOfSlots(line, slots)
          if (refund.ok) total = total.plus(refundTotal(refund.charges))
        }
        expect(total.toFixed(2)).toBe(text(Math.max(0, price + shipping - discount)))
      }),
    )
  })

  it('leaves other types of charges alone', () => {
    const line = lineOf(1, [charge('10.00'), charge('5.00', null, 'GIFT_WRAP')])
    expect(chargesOf(refundOfSlots(line, [0]))).toEqual([
      { chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '-10.00', currency: 'USD', tax: null },
    ])
  })

  it('never rounds a total up that is finer than the currency', () => {
    expect(chargesOf(refundOfSlots(lineOf(1, [charge('10.009')]), [0]))[0]?.amount).toBe('-10.00')
  })

  it('refuses what carries no money, mixed and unknown currencies, and more than is left', () => {
    expect(refundOfSlots(lineOf(1, [charge('0.00')]), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('no money'),
    })
    expect(refundOfSlots(lineOf(1, []), [0])).toMatchObject({ ok: false, message: expect.stringContaining('no product') })
    const mixed = [charge('1.00'), charge('1.00', null, 'SHIPPING', 'EUR')]
    expect(refundOfSlots(lineOf(1, mixed), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('more than one currency'),
    })
    const unknown = [charge('1.00', null, 'PRODUCT', '??')]
    expect(refundOfSlots(lineOf(1, unknown), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('unknown currency'),
    })
    expect(refundOfSlots(lineOf(2, [charge('10.00')], '6.00'), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('4'),
    })
  })

  it('knows the digits of a currency', () => {
    expect(['USD', 'JPY', 'KWD', 'dollars'].map(minorDigits)).toEqual([2, 0, 3, null])
  })
})

describe('a named amount', () => {
  const line = lineOf(3, [charge('10.00', '0.80'), charge('6.00', null, 'SHIPPING')])

  it('is given back on the product charge, without tax', () => {
    expect(chargesOf(refundOfAmount(line, [1], '2.5'))).toEqual([
      { chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '-2.50', currency: 'USD', tax: null },
    ])
  })

  it('may be all of the product charge of these units and no more', () => {
    expect(refundOfAmount(line, [1], '3.34').ok).toBe(true)
    expect(refundOfAmount(line, [1], '3.35')).toMatchObject({ ok: false, message: expect.stringContaining('3.34 USD') })
  })

  it('must be above zero and no finer than the currency', () => {
    expect(refundOfAmount(line, [1], '0')).toMatchObject({ ok: false, message: expect.stringContaining('above zero') })
    expect(refundOfAmount(line, [1], '1.005')).toMatchObject({ ok: false, message: expect.stringContaining('finer') })
  })

  it('is split by weight exactly, no piece above its own charge', () => {
    const cents = fc.integer({ min: 0, max: 10_000 })
    fc.assert(
      fc.property(fc.array(cents, { minLength: 1, maxLength: 6 }), fc.nat(10_000), (weights, part) => {
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        fc.pre(total > 0)
        const text = (value: number): string => new Decimal(value).div(100).toFixed(2)
        const amount = Math.floor((total * part) / 10_000)
        const pieces = splitByWeight(text(amount), weights.map(text), 2)
        expect(pieces.reduce((sum, piece) => sum.plus(piece), new Decimal(0)).toFixed(2)).toBe(text(amount))
        for (const [index, piece] of pieces.entries()) expect(new Decimal(piece).lte(text(weights[index] ?? 0))).toBe(true)
      }),
    )
  })

  it('knows the product charge of units', () => {
    expect(productShare(line, [0, 1, 2])).toBe('10.00')
    expect(productShare(lineOf(1, []), [0])).toBeNull()
  })
})

describe('slots', () => {
  const ledger = (given: Partial<LineLedger>): LineLedger => ({
    lineNumber: '3',
    sku: null,
    ordered: 4,
    reported: { acknowledged: 4, shipped: 4, cancelled: 0, refunded: 0 },
    confirmed: { shipped: 0, cancelled: 0, refunded: 0 },
    pending: { ship: 0, cancel: 0, refund: 0 },
    inFlight: null,
    refundSlots: [],
    ...given,
  })

  it('are the lowest that none of our refunds holds, so that a rejected refund leaves no money behind', () => {
    const pending = { ship: 0, cancel: 0, refund: 2 }
    expect(freeSlots(ledger({ pending, refundSlots: [0, 2] }), 2)).toEqual([1, 3])
    expect(freeSlots(ledger({ pending, refundSlots: [0, 2] }), 3)).toBeNull()
  })

  it('are kept from the top for refunds that were not ours', () => {
    const reported = { acknowledged: 4, shipped: 4, cancelled: 0, refunded: 2 }
    expect(freeSlots(ledger({ reported }), 2)).toEqual([0, 1])
    expect(freeSlots(ledger({ reported }), 3)).toBeNull()
  })
})
