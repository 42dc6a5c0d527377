import { z } from 'zod'
import { dayMs } from '../core/duration.ts'
import { parseCents } from '../core/money.ts'
import { oneLinePerUnit } from '../generator/legacy.ts'
import { plainBuyer } from '../generator/orders.ts'
import {
  type Charge,
  type Line,
  type NamedAmount,
  type Order,
  orderTypes,
  shipNodeTypes,
  shippingProgramTypes,
} from '../rules/model.ts'

const signedMoney = z.union([z.number(), z.string()]).transform((value, context) => {
  const cents = parseCents(value)
  if (cents !== null) return cents
  context.addIssue({ code: 'custom', message: 'must be an amount of money with at most two decimals' })
  return z.NEVER
})
/** An amount that is not negative. */
export const money = signedMoney.refine((cents) => cents >= 0, 'must not be negative')

/** A charge besides the price and the shipping, for the whole line: gift wrap, a discount, or any other. */
const furtherCharge = z.strictObject({
  type: z.string().min(1),
  name: z.string().min(1).optional(),
  /** Negative for a discount. */
  amount: signedMoney,
  tax: money.optional(),
  fees: money.optional(),
})
const moment = z.string().transform((value, context) => {
  const at = Date.parse(value)
  if (!Number.isNaN(at)) return at
  context.addIssue({ code: 'custom', message: 'must be an ISO date or timestamp' })
  return z.NEVER
})

const explicitLine = z.strictObject({
  lineNumber: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, 'must be a number above 0')
    .optional(),
  sku: z.string().min(1),
  productName: z.string().optional(),
  quantity: z.number().int().min(1).max(100_000).default(1),
  /** Price of one unit; the line's charge is this times `quantity`, unless `amount` says otherwise. */
  unitPrice: money.optional(),
  /** Charge, tax and shipping for the whole line. */
  amount: money.optional(),
  tax: money.optional(),
  shipping: money.optional(),
  shippingTax: money.optional(),
  /** `taxAndOtherFees` of the price. */
  fees: money.optional(),
  charges: z.array(furtherCharge).max(20).default([]),
  intentToCancel: z.boolean().default(false),
})

/** A legacy order has a line for every unit. */
const maxLegacyLines = 1_000

/** Body of `POST /_sandbox/orders`; empty places one random order, `lines` places exactly that order. */
export const orderRequest = z
  .strictObject({
    sellerId: z.string().min(1).optional(),
    count: z.number().int().min(1).max(1_000_000).default(1),
    createdFrom: moment.optional(),
    createdTo: moment.optional(),
    shipNodeType: z.enum(shipNodeTypes).optional(),
    /** Whether things happen to it by themselves: deliveries, buyers, returns, auto-cancel. Default: random orders yes, given ones no. */
    alive: z.boolean().optional(),
    /** Whether random orders older than some days come with the life they have had. */
    history: z.boolean().default(true),
    purchaseOrderId: z
      .string()
      .regex(/^\d{1,20}$/, 'must be digits')
      .optional(),
    customerOrderId: z
      .string()
      .regex(/^\d{1,20}$/, 'must be digits')
      .optional(),
    methodCode: z.string().optional(),
    shippingProgramType: z.enum(shippingProgramTypes).optional(),
    orderType: z.enum(orderTypes).optional(),
    originalCustomerOrderId: z.string().optional(),
    /** The legacy model: each line is split into one line a unit. */
    legacy: z.boolean().default(false),
    lines: z.array(explicitLine).min(1).max(500).optional(),
  })
  .transform((value) => ({ ...value, alive: value.alive ?? value.lines === undefined }))
  .superRefine((value, context) => {
    const numbers = value.lines?.map((line, index) => line.lineNumber ?? String(index + 1)) ?? []
    if (new Set(numbers).size !== numbers.length)
      context.addIssue({ code: 'custom', path: ['lines'], message: 'line numbers must differ' })
    const { purchaseOrderId, customerOrderId, methodCode, shippingProgramType, orderType, originalCustomerOrderId } = value
    const exact = [purchaseOrderId, customerOrderId, methodCode, shippingProgramType, orderType, originalCustomerOrderId]
    if (value.lines === undefined && exact.some((given) => given !== undefined)) {
      context.addIssue({
        code: 'custom',
        path: ['lines'],
        message: 'are needed when ids, the method or the kind of order are given',
      })
    }
    const units = value.lines?.reduce((sum, line) => sum + line.quantity, 0) ?? 0
    if (value.legacy && units > maxLegacyLines)
      context.addIssue({
        code: 'custom',
        path: ['lines'],
        message: `must not be of more than ${maxLegacyLines} units with legacy`,
      })
    if (value.legacy && units !== value.lines?.length && value.lines?.some((line) => line.lineNumber !== undefined))
      context.addIssue({ code: 'custom', path: ['lines'], message: 'must be of one unit each when legacy lines are numbered' })
    if (value.lines !== undefined && value.count !== 1)
      context.addIssue({ code: 'custom', path: ['count'], message: 'must be 1 with lines' })
  })

export type OrderRequest = z.infer<typeof orderRequest>
type ExplicitLine = z.infer<typeof explicitLine>

/** The order that a request spells out, placed at `createdFrom` or now. */
export const explicitOrder = (
  request: OrderRequest,
  lines: readonly ExplicitLine[],
  sellerId: string,
  ids: { readonly purchaseOrderId: string; readonly customerOrderId: string },
  now: number,
): Order => {
  const createdAt = Math.min(request.createdFrom ?? now, now)
  const customerOrderId = request.customerOrderId ?? ids.customerOrderId
  const stated: Line[] = lines.map((line, index) => ({
    lineNumber: line.lineNumber ?? String(index + 1),
    item: {
      sku: line.sku,
      productName: line.productName ?? `Product ${line.sku}`,
      condition: 'New',
      imageUrl: `https://images.example/${encodeURIComponent(line.sku)}.jpeg`,
      weightPounds: '1.0',
    },
    ordered: line.quantity,
    charges: listCharges(line),
    entries: [{ state: 'Created', quantity: line.quantity }],
    statusDate: createdAt,
    intentToCancelAt: line.intentToCancel ? createdAt : null,
    refunds: [],
    sellerOrderId: null,
  }))
  return {
    sellerId,
    purchaseOrderId: request.purchaseOrderId ?? ids.purchaseOrderId,
    customerOrderId,
    createdAt,
    shipNodeType: request.shipNodeType ?? 'SellerFulfilled',
    methodCode: request.methodCode ?? 'Standard',
    ...(request.shippingProgramType === undefined ? {} : { shippingProgramType: request.shippingProgramType }),
    ...(request.orderType === undefined ? {} : { orderType: request.orderType }),
    ...(request.originalCustomerOrderId === undefined ? {} : { originalCustomerOrderId: request.originalCustomerOrderId }),
    shipBy: createdAt + 2 * dayMs,
    deliverBy: createdAt + 5 * dayMs,
    currency: 'USD',
    buyer: plainBuyer(customerOrderId),
    alive: request.alive,
    lines: request.legacy ? oneLinePerUnit(stated) : stated,
  }
}

const listCharges = (line: ExplicitLine): Charge[] => {
  const amount = line.amount ?? (line.unitPrice ?? 1_000) * line.quantity
  const named = (name: string, given: number | undefined): NamedAmount | null =>
    given === undefined ? null : { name, amount: given }
  const charges: Charge[] = [
    { type: 'PRODUCT', name: 'ItemPrice', amount, tax: named('Tax1', line.tax), fees: named('Fees', line.fees) },
  ]
  if (line.shipping !== undefined) {
    charges.push({ type: 'SHIPPING', name: 'Shipping', amount: line.shipping, tax: named('Shipping Tax', line.shippingTax) })
  }
  for (const { type, name = type, amount: further, tax, fees } of line.charges)
    charges.push({ type, name, amount: further, tax: named(`${name} Tax`, tax), fees: named('Fees', fees) })
  return charges
}
