import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RefundCharge } from '../../src/domain/commands/command.ts'
import type { Charge } from '../../src/domain/orders/order.ts'
import type { LineLedger } from '../../src/domain/orders/units.ts'
import type { RefundableLine, RefundResult } from '../../src/domain/refunds/refunds.ts'
import * as refunds from '../../src/domain/refunds/refunds.ts'
import { charge } from '../support/orders.ts'
import { vocabulary } from '../support/vocabulary.ts'

const { freeSlots, minorDigits, refundTotal, splitByWeight } = refunds
const slotsWithMoney = (line: RefundableLine) => refunds.slotsWithMoney(line, vocabulary)
const refundOfSlots = (line: RefundableLine, slots: readonly number[]) => refunds.refundOfSlots(line, slots, vocabulary)
const refundOfAmount = (line: RefundableLine, slots: readonly number[], amount: string) =>
  refunds.refundOfAmount(line, slots, amount, vocabulary)
const productShare = (line: RefundableLine, slots: readonly number[]) => refunds.productShare(line, slots, vocabulary)
const fullPriceGivesBack = (line: RefundableLine, charges: readonly RefundCharge[]) =>
  refunds.fullPriceGivesBack(line, charges, vocabulary)

const findLine = (ordered: number, charges: readonly Charge[], refundedAmount = '0') => ({
  lineNumber: '3',
  ordered,
  charges,
  refundedAmount,
})

const listCharges = (result: RefundResult): RefundCharge[] => {
  if (!result.ok) throw new Error(result.message)
  return result.charges
}

const countDigits: Record<string, number> = { USD: 2, JPY: 0, KWD: 3 }

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
  it.each(Object.entries(countDigits))(
    'sums to the line in %s, however it is split and in whatever order',
    (currency, digits) => {
      const minor = fc.integer({ min: 0, max: 5_000_000 })
      fc.assert(
        fc.property(split, minor, minor, minor, minor, ({ ordered, groups }, product, productTax, shipping, shippingTax) => {
          const text = (amount: number): string => new Decimal(amount).div(10 ** digits).toFixed(digits)
          const line = findLine(ordered, [
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
          expect((sums.get('SHIPPING') ?? new Decimal(0)).toFixed(digits)).toBe(text(shipping))
          // No request can name a tax whose charge is nothing.
          expect((sums.get('PRODUCT tax') ?? new Decimal(0)).toFixed(digits)).toBe(text(product > 0 ? productTax : 0))
          expect((sums.get('SHIPPING tax') ?? new Decimal(0)).toFixed(digits)).toBe(text(shipping > 0 ? shippingTax : 0))
        }),
      )
    },
  )

  it('gives back charges of every type with taxes, fees and discounts, to the cent, in whatever pieces, and never a charge of zero', () => {
    const cents = (max: number) => fc.integer({ min: 0, max })
    const money = fc.oneof(cents(12), cents(5_000))
    const types = fc.constantFrom('PRODUCT', 'SHIPPING', 'GIFT_WRAP', 'Recycling')
    const text = (amount: number): string => new Decimal(amount).div(100).toFixed(2)
    const one = fc.record({ type: types, amount: money, tax: fc.option(money), fees: fc.option(money), discount: fc.boolean() })
    fc.assert(
      fc.property(split, fc.array(one, { minLength: 1, maxLength: 6 }), ({ ordered, groups }, given) => {
        const charges = given.map(({ type, amount, tax, fees, discount }): Charge => {
          const sign = discount ? -1 : 1
          const taxed = charge(text(sign * amount), tax === null ? null : text(sign * tax), type)
          return fees === null || discount
            ? taxed
            : { ...taxed, taxAndOtherFees: { taxName: 'Fees', amount: text(fees), currency: 'USD' } }
        })
        const sum = (of: (entry: (typeof given)[number]) => number, type?: string) =>
          given
            .filter((entry) => type === undefined || entry.type === type)
            .reduce((total, entry) => total + (entry.discount ? -1 : 1) * of(entry), 0)
        const parts = {
          amount: (entry: (typeof given)[number]) => entry.amount,
          tax: (entry: (typeof given)[number]) => entry.tax ?? 0,
          fees: (entry: (typeof given)[number]) => (entry.discount ? 0 : (entry.fees ?? 0)),
        }
        const amounts = sum(parts.amount)
        const taxes = sum(parts.tax) + sum(parts.fees)
        const line = findLine(ordered, charges)
        let total = new Decimal(0)
        const asked = new Map<string, Decimal>()
        for (const slots of groups) {
          const refund = refundOfSlots(line, slots)
          if (!refund.ok) {
            expect(refund.message).toContain('no money')
            continue
          }
          for (const { chargeType, amount, tax, taxAndOtherFees } of refund.charges) {
            const money = { amount, tax: tax?.amount, fees: taxAndOtherFees?.amount }
            for (const [name, value] of Object.entries(money)) {
              if (value === undefined) continue
              expect(new Decimal(value).lt(0)).toBe(true)
              const key = `${chargeType} ${name}`
              asked.set(key, (asked.get(key) ?? new Decimal(0)).minus(value))
            }
          }
          total = total.plus(refundTotal(refund.charges))
        }
        // The marketplace counts what is left of each type, tax by tax and fee by fee (public facts 3.4).
        for (const type of new Set(given.map((entry) => entry.type))) {
          for (const [name, of] of Object.entries(parts))
            expect((asked.get(`${type} ${name}`) ?? new Decimal(0)).times(100).toNumber()).toBeLessThanOrEqual(
              Math.max(0, sum(of, type)),
            )
        }
        expect(total.times(100).toNumber()).toBeLessThanOrEqual(Math.max(0, amounts + taxes))
        // More discount than charges lowers the taxes, and the other way round. All is given back unless a tax has no charge to go with.
        const own = [...new Set(given.map((entry) => entry.type))].every(
          (type) => sum(parts.amount, type) > 0 || (sum(parts.tax, type) <= 0 && sum(parts.fees, type) <= 0),
        )
        if (own && amounts + Math.min(0, taxes) >= given.length) expect(total.toFixed(2)).toBe(text(amounts + taxes))
      }),
      { numRuns: 500 },
    )
  })

  it('gives each unit its fair share, no more than a minor unit off', () => {
    fc.assert(
      fc.property(split, fc.integer({ min: 1, max: 100_000 }), ({ ordered, groups }, cents) => {
        const line = findLine(ordered, [charge(new Decimal(cents).div(100).toFixed(2))])
        for (const slots of groups) {
          const refund = refundOfSlots(line, slots)
          const given = refund.ok ? new Decimal(refundTotal(refund.charges)).times(100).toNumber() : 0
          expect(Math.abs(given - (cents * slots.length) / ordered)).toBeLessThan(slots.length + 1e-9)
        }
      }),
    )
  })

  it('splits three units of 10.00 with 0.80 tax into 3.33, 3.34, 3.33', () => {
    const line = findLine(3, [charge('10.00', '0.80')])
    const parts = [0, 1, 2].map((slot) => listCharges(refundOfSlots(line, [slot]))[0])
    expect(parts.map((part) => part?.amount)).toEqual(['-3.33', '-3.34', '-3.33'])
    expect(parts.map((part) => part?.tax?.amount)).toEqual(['-0.27', '-0.26', '-0.27'])
  })

  it('rounds half up', () => {
    const line = findLine(2, [charge('0.05')])
    expect(listCharges(refundOfSlots(line, [0]))[0]?.amount).toBe('-0.03')
    expect(listCharges(refundOfSlots(line, [1]))[0]?.amount).toBe('-0.02')
  })

  it('takes a discount off the charge it belongs to, never giving back more than was paid', () => {
    const money = fc.integer({ min: 0, max: 10_000 })
    fc.assert(
      fc.property(split, money, money, money, ({ ordered, groups }, price, shipping, discount) => {
        const text = (cents: number): string => new Decimal(cents).div(100).toFixed(2)
        const line = findLine(ordered, [charge(text(price)), charge(text(-discount)), charge(text(shipping), null, 'SHIPPING')])
        let total = new Decimal(0)
        for (const slots of groups) {
          const refund = refundOfSlots(line, slots)
          if (refund.ok) total = total.plus(refundTotal(refund.charges))
        }
        expect(total.toFixed(2)).toBe(text(Math.max(0, price + shipping - discount)))
      }),
    )
  })

  it('gives gift wrap and whatever else was charged back, under its own type', () => {
    const line = findLine(2, [charge('10.00'), charge('5.00', '0.40', 'GIFT_WRAP')])
    expect(listCharges(refundOfSlots(line, [0]))).toEqual([
      { chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '-5.00', currency: 'USD', tax: null },
      {
        chargeType: 'GIFT_WRAP',
        chargeName: 'Shipping',
        amount: '-2.50',
        currency: 'USD',
        tax: { taxName: 'Shipping Tax', amount: '-0.20', currency: 'USD' },
      },
    ])
  })

  it('sends the fees of a charge beside its tax, as the order shows them', () => {
    const fees = { taxName: 'Bag fee', amount: '0.30', currency: 'USD' }
    const given = { taxName: 'Bag fee', amount: '-0.30', currency: 'USD' }
    const both = findLine(1, [{ ...charge('10.00', '0.80'), taxAndOtherFees: fees }])
    expect(listCharges(refundOfSlots(both, [0]))[0]).toMatchObject({ tax: { amount: '-0.80' }, taxAndOtherFees: given })
    const alone = findLine(1, [{ ...charge('10.00'), taxAndOtherFees: fees }])
    expect(listCharges(refundOfSlots(alone, [0]))[0]).toMatchObject({ tax: null, taxAndOtherFees: given })
    expect(refundTotal(listCharges(refundOfSlots(both, [0])))).toBe('11.1')
    // All of it may be given back, and no more.
    expect(refundOfSlots({ ...both, refundedAmount: '0.01' }, [0])).toMatchObject({ ok: false })
    expect(refundOfSlots({ ...both, refundedAmount: '0.00' }, [0]).ok).toBe(true)
  })

  it('plans no charge of zero for a line that a discount of its own type took wholly, and leaves out the tax that no request can name', () => {
    expect(refundOfSlots(findLine(1, [charge('10.00', '0.80'), charge('-10.00')]), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('no money'),
    })
    const shipped = findLine(1, [charge('10.00', '0.80'), charge('-10.00'), charge('5.00', '0.40', 'SHIPPING')])
    expect(listCharges(refundOfSlots(shipped, [0]))).toMatchObject([
      { chargeType: 'SHIPPING', amount: '-5.00', tax: { amount: '-0.40' } },
    ])
  })

  it('lets a charge that a discount of another type took wholly keep a cent a unit, so that its tax and fees go with it', () => {
    const product = { ...charge('10.00', '0.80'), taxAndOtherFees: { taxName: 'Bag fee', amount: '0.30', currency: 'USD' } }
    const line = findLine(2, [product, charge('-10.00', null, 'DISCOUNT'), charge('5.00', '0.40', 'SHIPPING')])
    expect(listCharges(refundOfSlots(line, [0, 1]))).toMatchObject([
      { chargeType: 'PRODUCT', amount: '-0.02', tax: { amount: '-0.80' }, taxAndOtherFees: { amount: '-0.30' } },
      { chargeType: 'SHIPPING', amount: '-4.98', tax: { amount: '-0.40' } },
    ])
    expect(listCharges(refundOfSlots(line, [1]))[0]).toMatchObject({ amount: '-0.01', tax: { amount: '-0.40' } })
    // A cent is kept for the tax of the giver as well.
    const poor = findLine(2, [product, charge('-10.00', null, 'DISCOUNT'), charge('0.02', '0.01', 'SHIPPING')])
    expect(listCharges(refundOfSlots(poor, [0, 1])).map(({ amount }) => amount)).toEqual(['-0.01', '-0.01'])
  })

  it('refuses a charge without a type, which no request can name', () => {
    const line = findLine(1, [charge('10.00'), charge('1.00', null, '')])
    expect(refundOfSlots(line, [0])).toMatchObject({ ok: false, message: expect.stringContaining('without a type') })
    expect(refundOfAmount(line, [0], '10.00').ok).toBe(true)
    expect(refundOfSlots(findLine(1, [charge('10.00'), charge('0.00', null, '', '')]), [0]).ok).toBe(true)
  })

  it('never rounds a total up that is finer than the currency', () => {
    expect(listCharges(refundOfSlots(findLine(1, [charge('10.009')]), [0]))[0]?.amount).toBe('-10.00')
  })

  it('refuses what carries no money, mixed and unknown currencies, and more than is left', () => {
    expect(refundOfSlots(findLine(1, [charge('0.00')]), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('no money'),
    })
    expect(refundOfSlots(findLine(1, []), [0])).toMatchObject({ ok: false, message: expect.stringContaining('no charge') })
    const mixed = [charge('1.00'), charge('1.00', null, 'SHIPPING', 'EUR')]
    expect(refundOfSlots(findLine(1, mixed), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('more than one currency'),
    })
    const unknown = [charge('1.00', null, 'PRODUCT', '??')]
    expect(refundOfSlots(findLine(1, unknown), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('unknown currency'),
    })
    expect(refundOfSlots(findLine(2, [charge('10.00')], '6.00'), [0])).toMatchObject({
      ok: false,
      message: expect.stringContaining('4'),
    })
  })

  it('knows the digits of a currency', () => {
    expect(['USD', 'JPY', 'KWD', 'dollars'].map(minorDigits)).toEqual([2, 0, 3, null])
  })
})

describe('a named amount', () => {
  const line = findLine(3, [charge('10.00', '0.80'), charge('6.00', null, 'SHIPPING')])

  it('is given back on the product charge, without tax', () => {
    expect(listCharges(refundOfAmount(line, [1], '2.5'))).toEqual([
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

  it('of the whole price gives everything of the line back, where the marketplace does so', () => {
    const asked = (on: ReturnType<typeof findLine>, amount: string): string | null =>
      fullPriceGivesBack(on, listCharges(refundOfAmount(on, [0, 1, 2], amount)))
    expect(asked(line, '9.99')).toBeNull()
    expect(asked(line, '10.00')).toBe('16.8')
    expect(asked({ ...line, refundedAmount: '5.00' }, '10')).toBe('11.8')
    // There is nothing beyond the price, or no longer.
    expect(asked(findLine(3, [charge('10.00')]), '10.00')).toBeNull()
    expect(asked({ ...line, refundedAmount: '6.80' }, '10.00')).toBeNull()
    // The price is what is left after a discount of its own.
    expect(asked(findLine(3, [charge('10.00', '0.80'), charge('-4.00')]), '6.00')).toBe('6.8')
    expect(asked(findLine(3, [charge('10.00', '0.80'), charge('-4.00', null, 'DISCOUNT')]), '6.00')).toBeNull()
    expect(fullPriceGivesBack(line, listCharges(refundOfSlots(line, [0, 1, 2])))).toBeNull()
    // A discount of another type is taken off the price first, so that all units at once are never the whole price.
    const shippedFree = [charge('5.00', '0.40', 'SHIPPING'), charge('-5.00', null, 'DISCOUNT'), charge('10.00', '0.80')]
    expect(
      fullPriceGivesBack(findLine(3, shippedFree), listCharges(refundOfSlots(findLine(3, shippedFree), [0, 1, 2]))),
    ).toBeNull()
    const loneTax = findLine(3, [charge('10.00'), charge('5.00', '0.40', 'SHIPPING'), charge('-5.00', null, 'SHIPPING')])
    expect(fullPriceGivesBack(loneTax, listCharges(refundOfSlots(loneTax, [0, 1, 2])))).toBe('10.4')
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
    expect(productShare(findLine(1, []), [0])).toBeNull()
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

  it('are those with money first, where there is less than a minor unit for each', () => {
    const line = findLine(3, [charge('0.02')])
    expect(slotsWithMoney(line)(0)).toBe(true)
    expect(slotsWithMoney(line)(1)).toBe(false)
    expect(slotsWithMoney(findLine(1, []))(0)).toBe(true)
    expect(freeSlots(ledger({ ordered: 3 }), 2, slotsWithMoney(line))).toEqual([0, 2])
    expect(freeSlots(ledger({ ordered: 3, refundSlots: [0] }), 1, slotsWithMoney(line))).toEqual([2])
  })

  it('are kept from the top for refunds that were not ours', () => {
    const reported = { acknowledged: 4, shipped: 4, cancelled: 0, refunded: 2 }
    expect(freeSlots(ledger({ reported }), 2)).toEqual([0, 1])
    expect(freeSlots(ledger({ reported }), 3)).toBeNull()
  })
})
