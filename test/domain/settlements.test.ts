import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findUsualRate } from '../../src/domain/settlements/commission.ts'
import {
  type PayableLine,
  type PaymentRow,
  type SettledLine,
  settleOrder,
  settleUnordered,
} from '../../src/domain/settlements/settlement-differences.ts'
import { charge } from '../support/orders.ts'

const rate = '0.15'
const rules = { productCharge: 'PRODUCT', usualRate: () => rate }
const money = (cents: number): string => new Decimal(cents).div(100).toFixed(2)
const cents = (text: string): number => new Decimal(text).times(100).toNumber()
/** Half up, as reports round. */
const share = (total: number, part: number, whole: number): number => Math.floor((2 * total * part + whole) / (2 * whole))
const commissionOn = (amount: number): number => -share(amount, 15, 100)

const row = (more: Partial<PaymentRow>): PaymentRow => ({
  lineKey: '2026-03-14/2',
  reportDate: '2026-03-14',
  transactionKey: 'key-1',
  movement: 'sale',
  component: 'price',
  amountType: 'Product Price',
  amount: '0',
  quantity: 1,
  lineNumber: '1',
  sku: 'PAN',
  commissionRate: null,
  ...more,
})

const line = (more: Partial<PayableLine> = {}): PayableLine => ({
  lineNumber: '1',
  sku: 'PAN',
  ordered: 1,
  cancelled: 0,
  dueUnits: 1,
  charges: [charge('20.00', '1.60')],
  refundableUnits: 0,
  ...more,
})

const list = (settled: readonly SettledLine[]) =>
  settled.flatMap(({ differences }) => differences.map(({ kind, expected, paid }) => [kind, Number(expected), Number(paid)]))

const sale = [
  row({ amount: '20.00' }),
  row({ component: 'tax', amount: '1.60' }),
  row({ component: 'tax-withheld', amount: '-1.60' }),
  row({ component: 'commission', amount: '-3.00' }),
]

describe('an order and its payments', () => {
  test('agree', () => {
    expect(settleOrder([line()], sale, rules)).toEqual([{ lineNumber: '1', due: '17', paid: '17', differences: [] }])
  })

  test.each([
    ['a lower price', [row({ amount: '18.00' }), row({ component: 'commission', amount: '-2.70' })], [['paid-less', 20, 18]]],
    ['a higher price', [row({ amount: '21.00' }), row({ component: 'commission', amount: '-3.15' })], [['paid-more', 20, 21]]],
    ['the sale twice', [...sale, ...sale], [['paid-twice', 0, 17]]],
    ['no payment', [], [['never-paid', 17, 0]]],
    [
      'another rate',
      [row({ amount: '20.00' }), row({ component: 'commission', amount: '-3.60' })],
      [['commission-off-rate', -3, -3.6]],
    ],
    ['a tax kept', sale.filter(({ component }) => component !== 'tax'), [['paid-less', 20, 18.4]]],
    [
      'a refund',
      [
        ...sale,
        row({ movement: 'refund', amount: '-21.60' }),
        row({ movement: 'refund', component: 'commission', amount: '3.24' }),
      ],
      [['refund-without-return', 0, -18.36]],
    ],
    [
      'a new name',
      [...sale, row({ movement: 'other', component: 'unknown', amountType: 'New fee', amount: '-2.00' })],
      [['unknown-fee', 0, -2]],
    ],
    ['a known fee', [...sale, row({ movement: 'other', component: 'fee', amount: '-2.00' })], []],
    [
      'a refund by the seller',
      [
        ...sale,
        row({ movement: 'seller-refund', amount: '-5.00' }),
        row({ movement: 'seller-refund', component: 'commission', amount: '0.75' }),
      ],
      [],
    ],
    [
      'a tax that is not withheld',
      [row({ amount: '20.00' }), row({ component: 'tax', amount: '1.60' }), row({ component: 'commission', amount: '-3.00' })],
      [],
    ],
  ] as const)('%s', (_what, rows, expected) => {
    const settled = settleOrder([line()], rows, rules)
    expect(list(settled)).toEqual(expected)
  })

  test('a refund is explained by a return, but not with more money than was paid', () => {
    const refund = (amount: string, back: string) => [
      row({ movement: 'refund', amount }),
      row({ movement: 'refund', component: 'commission', amount: back }),
    ]
    const returned = [line({ refundableUnits: 1 })]
    expect(list(settleOrder(returned, [...sale, ...refund('-21.60', '3.24')], rules))).toEqual([])
    expect(list(settleOrder(returned, [...sale, ...refund('-31.60', '4.74')], rules))).toEqual([
      ['refund-without-return', 0, -8.5],
    ])
    // The same units twice.
    expect(list(settleOrder(returned, [...sale, ...refund('-10.00', '1.50'), ...refund('-10.00', '1.50')], rules))).toEqual([
      ['refund-without-return', 0, -8.5],
    ])
  })

  test('a rate that a row states is the one that counts; without a known rate no commission differs', () => {
    const rows = [row({ amount: '20.00' }), row({ component: 'commission', amount: '-2.40', commissionRate: '0.12' })]
    expect(list(settleOrder([line()], rows, rules))).toEqual([])
    expect(
      list(
        settleOrder(
          [line()],
          rows.map((one) => ({ ...one, commissionRate: null })),
          { ...rules, usualRate: () => null },
        ),
      ),
    ).toEqual([])
  })

  test('a later payment that completes the price settles it', () => {
    const less = [row({ amount: '18.00' }), row({ component: 'commission', amount: '-3.00' })]
    expect(list(settleOrder([line()], less, rules))).toEqual([
      ['paid-less', 20, 18],
      ['commission-off-rate', -2.7, -3],
    ])
    for (const movement of ['sale', 'other'] as const) {
      const rest = row({ movement, amount: '2.00', reportDate: '2026-03-28', transactionKey: 'key-2' })
      expect(list(settleOrder([line()], [...less, rest], rules))).toEqual([])
    }
  })

  test('units that are not due are not missing, and cancelled ones are paid twice', () => {
    expect(list(settleOrder([line({ dueUnits: 0 })], [], rules))).toEqual([])
    expect(list(settleOrder([line({ dueUnits: 0, cancelled: 1 })], sale, rules))).toEqual([['paid-twice', 0, 17]])
  })

  test('rows belong to the line of their SKU when reports number lines otherwise', () => {
    const lines = [line({ lineNumber: '1', sku: 'POT' }), line({ lineNumber: '2' })]
    const rows = ['POT', 'pan'].flatMap((sku, at) => sale.map((one) => ({ ...one, sku, lineNumber: String(2 - at) })))
    expect(list(settleOrder(lines, rows, rules))).toEqual([])
  })

  test('a charge of the line is no unknown fee', () => {
    const wrapped = line({ charges: [charge('20.00'), { ...charge('3.99', null, 'GIFT_WRAP'), chargeName: 'Gift Wrap' }] })
    const rows = [...sale, row({ component: 'unknown', amountType: 'Gift Wrap', amount: '3.99' })]
    expect(list(settleOrder([wrapped], rows, rules))).toEqual([])
  })

  test('rows without an order differ if their name is not known', () => {
    const fee = row({ movement: 'other', component: 'unknown', amount: '-4.00', lineKey: '2026-03-14/9' })
    expect(settleUnordered([fee, { ...fee, component: 'fee' }])).toEqual([
      { kind: 'unknown-fee', lineNumber: null, sku: null, expected: '0', paid: '-4', lineKeys: ['2026-03-14/9'] },
    ])
  })
})

test('the usual rate is that of more than half of the sales', () => {
  const sold = (price: string, commission: string) => ({ price, commission })
  expect(findUsualRate([sold('13.99', '2.10'), sold('1.99', '0.30'), sold('20.00', '3.00'), sold('20.00', '3.60')])).toBe('0.15')
  expect(findUsualRate([sold('13.99', '2.10'), sold('1.99', '0.30')])).toBeNull()
  expect(findUsualRate([sold('10.00', '1.00'), sold('10.00', '1.50'), sold('10.00', '2.00')])).toBeNull()
})

// ── random orders with planted errors ──────────────────────────────────────────────────────────────

const errors = [
  'paid-less',
  'paid-more',
  'paid-twice',
  'never-paid',
  'refund-without-return',
  'commission-off-rate',
  'unknown-fee',
] as const
type PlantedKind = (typeof errors)[number]

interface Planned {
  readonly ordered: number
  readonly cancelled: number
  readonly price: number
  readonly shipping: number
  readonly tax: number
  readonly parcels: readonly number[]
  readonly returned: number
  readonly error: PlantedKind | null
  readonly off: number
}

const planned: fc.Arbitrary<Planned> = fc
  .record({
    parcels: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
    cancelled: fc.integer({ min: 0, max: 2 }),
    price: fc.integer({ min: 500, max: 20_000 }),
    shipping: fc.constantFrom(0, 499, 1250),
    tax: fc.integer({ min: 0, max: 900 }),
    isReturned: fc.boolean(),
    error: fc.option(fc.constantFrom(...errors)),
    off: fc.integer({ min: 50, max: 300 }),
  })
  .map(({ isReturned, ...plan }) => {
    const shipped = plan.parcels.reduce((sum, units) => sum + units, 0)
    return { ...plan, ordered: shipped + plan.cancelled, returned: isReturned ? Math.ceil(shipped / 2) : 0 }
  })

interface Played {
  readonly line: PayableLine
  readonly rows: readonly PaymentRow[]
  /** What the rows would be without the error. */
  readonly due: number
  /** Cents by which the error changes the payment. */
  readonly off: number
}

/** The rows of a line, by a report that has one error at most. */
const play = (plan: Planned, at: number): Played => {
  const { ordered, price, shipping, tax, parcels, error } = plan
  const name = { lineNumber: String(at + 1), sku: `SKU-${at}` }
  const rows: PaymentRow[] = []
  const add = (more: Partial<PaymentRow>, amount: number): void => {
    if (amount !== 0) rows.push(row({ ...name, ...more, amount: money(amount), lineKey: `2026-03-14/${at}-${rows.length}` }))
  }
  const sell = (units: number, parcel: number, less = 0, offRate = 0): void => {
    const shared = { quantity: units, transactionKey: `key-${parcel}` }
    const paid = share(price, units, ordered) - less
    add(shared, paid)
    add({ ...shared, component: 'commission' }, commissionOn(paid) - offRate)
    add({ ...shared, component: 'shipping' }, share(shipping, units, ordered))
    add({ ...shared, component: 'tax' }, share(tax, units, ordered))
    add({ ...shared, component: 'tax-withheld' }, -share(tax, units, ordered))
  }
  const refund = (units: number): void => {
    const shared = { quantity: units, transactionKey: 'refund', movement: 'refund' } as const
    const paid = share(price, units, ordered)
    add(shared, -paid)
    add({ ...shared, component: 'commission' }, -commissionOn(paid))
  }
  const total = (): number => rows.reduce((sum, { amount }) => sum + cents(amount), 0)
  for (const [parcel, units] of parcels.entries()) sell(units, parcel)
  const sold = total()
  if (plan.returned > 0) refund(plan.returned)
  const due = total()
  const shipped = parcels.reduce((sum, units) => sum + units, 0)
  const [first = 1] = parcels
  if (error === 'paid-less' || error === 'paid-more' || error === 'commission-off-rate') {
    rows.length = 0
    const less = error === 'paid-less' ? plan.off : error === 'paid-more' ? -plan.off : 0
    for (const [parcel, units] of parcels.entries())
      sell(units, parcel, parcel === 0 ? less : 0, parcel === 0 && less === 0 ? plan.off : 0)
    if (plan.returned > 0) refund(plan.returned)
  }
  if (error === 'paid-twice') sell(shipped, 9)
  if (error === 'never-paid') {
    rows.length = 0
    if (plan.returned > 0) refund(plan.returned)
  }
  if (error === 'refund-without-return') refund(first)
  if (error === 'unknown-fee') add({ component: 'unknown', movement: 'other', amountType: 'New fee' }, -plan.off)
  // The commission on a wrong price follows the price.
  const lessCommission =
    error === 'paid-less' || error === 'paid-more' ? total() - due + (error === 'paid-less' ? plan.off : -plan.off) : 0
  return {
    line: line({
      ...name,
      ordered,
      cancelled: plan.cancelled,
      dueUnits: shipped,
      charges: [charge(money(price), money(tax)), ...(shipping === 0 ? [] : [charge(money(shipping), null, 'SHIPPING')])],
      refundableUnits: plan.returned,
    }),
    rows,
    due: due + lessCommission,
    off: error === 'never-paid' ? -sold : total() - due - lessCommission,
  }
}

test('of random orders each planted error is found with its amount, none is invented, and what is due and the differences are the paid amount', () => {
  fc.assert(
    fc.property(fc.array(planned, { minLength: 1, maxLength: 4 }), (plans) => {
      const played = plans.map(play)
      const settled = settleOrder(
        played.map((one) => one.line),
        played.flatMap(({ rows }) => rows),
        rules,
      )
      for (const [at, { rows, due, off }] of played.entries()) {
        const plan = plans[at]
        const one = settled[at]
        if (plan === undefined || one === undefined) throw new Error('a line was not settled')
        expect(one.differences.map(({ kind }) => kind)).toEqual(plan.error === null ? [] : [plan.error])
        // Shares of parcels are rounded one by one.
        const rounded = plan.parcels.length + 2
        const found = one.differences.reduce((sum, { paid, expected }) => sum + cents(paid) - cents(expected), 0)
        expect(Math.abs(found - off)).toBeLessThanOrEqual(rounded)
        expect(Math.abs(cents(one.due) - due)).toBeLessThanOrEqual(rounded)
        const paid = rows.reduce((sum, { amount }) => sum.plus(amount), new Decimal(0))
        expect(one.paid).toBe(paid.toFixed())
        const explained = one.differences.reduce(
          (sum, { expected, paid: got }) => sum.plus(got).minus(expected),
          new Decimal(one.due),
        )
        expect(explained.minus(paid).toFixed(2)).toBe('0.00')
        expect(
          one.differences.flatMap(({ lineKeys }) => lineKeys).every((key) => rows.some(({ lineKey }) => lineKey === key)),
        ).toBe(true)
        for (const { kind, lineKeys, paid: got } of one.differences) {
          if (kind === 'paid-less' || kind === 'paid-more') continue
          const listed = rows
            .filter(({ lineKey }) => lineKeys.includes(lineKey))
            .reduce((sum, { amount }) => sum + cents(amount), 0)
          expect(Math.abs(listed - cents(got))).toBeLessThanOrEqual(rounded)
        }
      }
    }),
    { numRuns: 500 },
  )
})
