import { dayMs, hourMs } from '../core/duration.ts'
import type { Cents } from '../core/money.ts'
import type { Random } from '../core/random.ts'
import {
  type Buyer,
  type Charge,
  type Item,
  type Line,
  type Order,
  type ShipNodeType,
  shippingProgramTypes,
} from '../rules/model.ts'
import { catalogue, firstNames, lastNames, type Product, places, streets } from './catalogue.ts'

export interface OrderFrame {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly customerOrderId: string
  readonly createdAt: number
  readonly alive: boolean
  /** Left out: mostly seller-fulfilled, some of the others. */
  readonly shipNodeType?: ShipNodeType | undefined
}

/** Makes up a believable order: the same draws give the same order. `rare` decides on what few orders have. */
export const makeOrder = (random: Random, frame: OrderFrame, rare: Random): Order => {
  const place = random.pick(places)
  const shipBy = endOfDay(frame.createdAt + random.whole(1, 3) * dayMs)
  const shipNodeType = frame.shipNodeType ?? drawNode(random)
  return {
    sellerId: frame.sellerId,
    purchaseOrderId: frame.purchaseOrderId,
    customerOrderId: frame.customerOrderId,
    createdAt: frame.createdAt,
    shipNodeType,
    methodCode: random.pick(['Standard', 'Standard', 'Standard', 'Value', 'Express', 'OneDay']),
    shipBy,
    deliverBy: shipBy + random.whole(2, 5) * dayMs,
    currency: 'USD',
    buyer: makeBuyer(random, place, frame.customerOrderId),
    alive: frame.alive,
    ...(rare.chance(0.08) ? { shippingProgramType: rare.pick(shippingProgramTypes) } : {}),
    ...(rare.chance(0.02)
      ? { orderType: 'REPLACEMENT', originalCustomerOrderId: String(Number(frame.customerOrderId) - 53) }
      : {}),
    lines: makeLines(random, place[3], frame.createdAt).map((line) => ({ ...line, charges: withRareCharges(line, rare) })),
  }
}

/** Fees beside the tax, and gift wrap: the name of the latter is not published, so any may occur. */
const withRareCharges = ({ charges, ordered }: Line, rare: Random): readonly Charge[] => {
  const fees = rare.chance(0.04) ? { name: 'Fees', amount: rare.whole(5, 60) * ordered } : null
  const wrapped = rare.chance(0.03)
  const [price, ...others] = charges
  if (price === undefined || (fees === null && !wrapped)) return charges
  const wrap: Charge = { type: 'GIFT_WRAP', name: 'Gift Wrap', amount: 399 * ordered, tax: null }
  return [fees === null ? price : { ...price, fees }, ...others, ...(wrapped ? [wrap] : [])]
}

const drawNode = (random: Random): ShipNodeType => {
  const draw = random.next()
  return draw < 0.86 ? 'SellerFulfilled' : draw < 0.95 ? 'WFSFulfilled' : '3PLFulfilled'
}

const endOfDay = (at: number): number => Math.ceil(at / dayMs) * dayMs - hourMs

/** A buyer at one of the places; mail addresses and phone numbers are of reserved ranges without a recipient. */
const makeBuyer = (
  random: Random,
  [city, state, zip]: readonly [string, string, string, number],
  customerOrderId: string,
): Buyer => ({
  name: `${random.pick(firstNames)} ${random.pick(lastNames)}`,
  email: `buyer-${customerOrderId}@relay.example`,
  phone: `555010${String(random.whole(0, 9_999)).padStart(4, '0')}`,
  address1: `${random.whole(1, 9_899)} ${random.pick(streets)}`,
  address2: random.chance(0.2) ? `Apt ${random.whole(1, 40)}` : null,
  city,
  state,
  postalCode: `${zip}${String(random.whole(1, 99)).padStart(2, '0')}`,
  addressType: random.chance(0.85) ? 'RESIDENTIAL' : 'OFFICE',
})

/** Default buyer of orders whose lines are given. */
export const plainBuyer = (customerOrderId: string): Buyer => ({
  name: 'Ana Abbott',
  email: `buyer-${customerOrderId}@relay.example`,
  phone: '5550100100',
  address1: '1 Alder St',
  address2: null,
  city: 'Dayton',
  state: 'OH',
  postalCode: '45402',
  addressType: 'RESIDENTIAL',
})

const makeLines = (random: Random, taxBasisPoints: number, createdAt: number): Line[] => {
  const count = random.pick([1, 1, 1, 1, 2, 2, 3, 4])
  const products: Product[] = Array.from({ length: count }, () => random.pick(catalogue))
  const first = products[0]
  // The same stock key on two lines: the ERP's event names the SKU and must be allotted over both.
  if (first !== undefined && random.chance(0.12)) products.push(first)
  // Line numbers are identifiers, not positions: some orders begin at 4 or have gaps.
  const start = random.chance(0.2) ? 4 : 1
  const step = random.chance(0.15) ? 2 : 1
  return products.map((product, index) => {
    const ordered = random.pick([1, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 12])
    return {
      lineNumber: String(start + index * step),
      item: findItem(product),
      ordered,
      charges: makeCharges(random, product.price * ordered, ordered, taxBasisPoints),
      entries: [{ state: 'Created', quantity: ordered }],
      statusDate: createdAt,
      intentToCancelAt: null,
      refunds: [],
      sellerOrderId: null,
    }
  })
}

const findItem = (product: Product): Item => ({
  sku: product.sku,
  productName: product.productName,
  condition: 'New',
  imageUrl: `https://images.example/${product.sku}.jpeg`,
  weightPounds: product.weightPounds,
})

/** Item price, tax and sometimes shipping, all for the whole line: odd discounts make totals that no number of units divides evenly. */
const makeCharges = (random: Random, full: Cents, ordered: number, taxBasisPoints: number): Charge[] => {
  const amount = ordered > 1 && random.chance(0.45) ? full - random.whole(1, Math.min(499, full - 1)) : full
  const taxed = (name: string, base: Cents): Charge['tax'] =>
    taxBasisPoints === 0 ? null : { name, amount: Math.round((base * taxBasisPoints) / 10_000) }
  const charges: Charge[] = [{ type: 'PRODUCT', name: 'ItemPrice', amount, tax: taxed('Tax1', amount) }]
  if (random.chance(0.4)) {
    const shipping = random.pick([499, 599, 799, 1250])
    charges.push({ type: 'SHIPPING', name: 'Shipping', amount: shipping, tax: taxed('Shipping Tax', shipping) })
  }
  return charges
}
