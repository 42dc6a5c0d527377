import type { z } from 'zod'
import { refuseContent } from '../core/errors.ts'
import { type Cents, computeShare, parseCents } from '../core/money.ts'
import type { Dialect } from '../settings.ts'
import { readBody, refundBody, type taxOfRequest } from './bodies.ts'
import { findLine } from './lines.ts'
import {
  type Charge,
  type ChargePart,
  chargeParts,
  type EffectDraft,
  type Entry,
  type Line,
  type NamedAmount,
  type Order,
  type RefundedCharge,
} from './model.ts'
import { readQuantity } from './quantity.ts'
import { putUnits, takeUnits, unitsIn } from './units.ts'
import { isRefundReason } from './vocabulary.ts'

type AskedLine = z.infer<typeof refundBody>['orderRefund']['orderLines']['orderLine'][number]

/**
 * Pays back. Every request pays, also one that repeats another word for word, until the units or the charges of the line are
 * used up; any faulty line refuses the whole request (specification, section 9, rule 5; public facts, sections 3.4 and 6.4).
 */
export const refund = (order: Order, body: unknown, dialect: Dialect, now: number): EffectDraft[] => {
  const { orderRefund } = readBody(refundBody, body)
  if (typeof orderRefund.purchaseOrderId === 'string' && orderRefund.purchaseOrderId !== order.purchaseOrderId) {
    throw refuseContent('purchaseOrderId of the body is not that of the path', 'purchaseOrderId')
  }
  const lines = orderRefund.orderLines.orderLine
  if (new Set(lines.map((line) => line.isFullRefund === true)).size > 1) {
    throw refuseContent('All lines of one request must have the same isFullRefund', 'isFullRefund')
  }
  return lines.map((asked) => refundLine(order, findLine(order, asked.lineNumber), asked, dialect, now))
}

const refundLine = (order: Order, line: Line, asked: AskedLine, dialect: Dialect, now: number): EffectDraft => {
  const refundable = unitsIn(line, 'Shipped', 'Delivered')
  const where = `The Line: ${line.lineNumber} of PO: ${order.purchaseOrderId}`
  const statuses = asked.orderLineStatuses?.orderLineStatus ?? []
  if (statuses.length === 0 && dialect.refundNeedsQuantity) {
    throw refuseContent(
      `${dialect.quantityField} with amount is required in line number ${line.lineNumber}`,
      `orderLines.orderLine.orderLineStatuses.orderLineStatus.${dialect.quantityField}`,
    )
  }
  for (const { status } of statuses) {
    if (typeof status === 'string' && !/^refund(ed)?$/i.test(status)) {
      throw refuseContent(`status must be Refund in line number ${line.lineNumber}`, 'status')
    }
  }
  if (refundable === 0) throw refuseContent(`Unable to process this request. ${where} has no shipped quantity to refund`)
  const named = statuses.reduce((sum, entry) => sum + readQuantity(entry, dialect.quantityField, line.lineNumber), 0)
  if (named > refundable) {
    throw refuseContent(
      `Unable to process this request. ${where} doesn't have enough shipped quantity to refund requested quantity`,
    )
  }
  const charges = asked.isFullRefund === true ? allThatRemains(line, findReason(asked)) : readCharges(order, line, asked)
  if (charges.length === 0) throw refuseContent(`refundCharges are required in line number ${line.lineNumber}`, 'refundCharges')
  line.refunds.push(...charges)
  checkRemaining(order, line)
  const extra =
    dialect.fullPriceRefundsAll && paysWholePrice(line, charges) ? allThatRemains(line, charges[0]?.reason ?? 'Others') : []
  line.refunds.push(...extra)
  const paid = [...charges, ...extra]
  return moveRefunded(order, line, statuses.length > 0 ? named : unitsPaid(line, refundable), paid, now)
}

const findReason = (asked: AskedLine): string => asked.refunds?.refund[0]?.refundCharges.refundCharge[0]?.refundReason ?? 'Others'

const readCharges = (order: Order, line: Line, asked: AskedLine): RefundedCharge[] => {
  const charges: RefundedCharge[] = []
  for (const one of asked.refunds?.refund ?? []) {
    for (const { refundReason, charge } of one.refundCharges.refundCharge) {
      if (!isRefundReason(refundReason)) {
        throw refuseContent(`Refund reason is not supported in line number ${line.lineNumber}`, 'refundReason')
      }
      if (!chargeTypes(line).has(charge.chargeType)) {
        throw refuseContent(`Charge type is not supported in line number ${line.lineNumber}`, 'chargeType')
      }
      const part = (given: z.infer<typeof taxOfRequest> | null | undefined): NamedAmount | null =>
        given == null ? null : { name: given.taxName, amount: readNegative(order, line, given.taxAmount, true) }
      charges.push({
        reason: refundReason,
        type: charge.chargeType,
        name: charge.chargeName,
        amount: readNegative(order, line, charge.chargeAmount, false),
        tax: part(charge.tax),
        fees: part(charge.taxAndOtherFees),
        refundId: one.refundId ?? null,
        comments: one.refundComments ?? null,
      })
    }
  }
  return charges
}

/** Cents of a negative amount, as a positive number. Only a tax may be zero. */
const readNegative = (order: Order, line: Line, money: { currency: string; amount: unknown }, mayBeZero: boolean): Cents => {
  if (money.currency !== order.currency) {
    throw refuseContent(`Currency of line number ${line.lineNumber} must be ${order.currency}`, 'currency')
  }
  const cents = parseCents(money.amount)
  if (cents === null || cents > 0 || (cents === 0 && !mayBeZero)) {
    throw refuseContent(`Refund amount must be negative with at most two decimals in line number ${line.lineNumber}`, 'amount')
  }
  return cents === 0 ? 0 : -cents
}

/** Refuses when what was paid back in all exceeds what was charged, charge by charge and tax by tax. */
const checkRemaining = (order: Order, line: Line): void => {
  for (const type of chargeTypes(line)) {
    if (chargeParts.some((part) => sumAll(line.refunds, type, part) > 0 && countRemaining(line, type, part) < 0)) {
      throw refuseContent(
        `Refund amount exceeds the remaining ${type} charge of Line: ${line.lineNumber} of PO: ${order.purchaseOrderId}`,
        'chargeAmount',
      )
    }
  }
}

/** The kinds of charges that a request may name: those of the line, and those that every text knows. */
const chargeTypes = (line: Line): ReadonlySet<string> =>
  new Set(['PRODUCT', 'SHIPPING', ...line.charges.map((charge) => charge.type)])

const selectCents = (charge: Charge, part: ChargePart): Cents => (part === 'amount' ? charge.amount : (charge[part]?.amount ?? 0))

const sumAll = (charges: readonly Charge[], type: string, part: ChargePart): Cents =>
  charges.reduce((sum, one) => sum + (one.type === type ? selectCents(one, part) : 0), 0)

/** What the buyer was charged for all units of the line, or the tax on it, or the fees beside it. */
export const sumCharged = (line: Line, type: string, part: ChargePart): Cents => sumAll(line.charges, type, part)

/** What was not paid back so far. */
export const countRemaining = (line: Line, type: string, part: ChargePart): Cents =>
  sumCharged(line, type, part) - sumAll(line.refunds, type, part)

/** A full refund gives everything back, as far as it was not given back before. */
const allThatRemains = (line: Line, reason: string): RefundedCharge[] => {
  const rest: RefundedCharge[] = []
  for (const type of chargeTypes(line)) {
    const left = (part: ChargePart): Cents => Math.max(0, countRemaining(line, type, part))
    const money = { amount: left('amount'), tax: left('tax'), fees: left('fees') }
    if (money.amount + money.tax + money.fees > 0) rest.push(refundedCharge(line, type, reason, money))
  }
  return rest
}

type Money = Readonly<Record<ChargePart, Cents>>

const refundedCharge = (line: Line, type: string, reason: string, { amount, tax, fees }: Money): RefundedCharge => {
  const charged = line.charges.find((charge) => charge.type === type)
  const name = charged?.name ?? (type === 'PRODUCT' ? 'ItemPrice' : 'Shipping')
  return {
    reason,
    type,
    name,
    amount,
    tax: tax === 0 ? null : { name: `${name} Tax`, amount: tax },
    fees: fees === 0 ? null : { name: charged?.fees?.name ?? `${name} Fees`, amount: fees },
    refundId: null,
    comments: null,
  }
}

const paysWholePrice = (line: Line, charges: readonly RefundedCharge[]): boolean => {
  const product = charges.reduce((sum, one) => sum + (one.type === 'PRODUCT' ? one.amount : 0), 0)
  return product > 0 && product === sumCharged(line, 'PRODUCT', 'amount')
}

/** How many more units the money paid back covers, for requests that name no units. */
const unitsPaid = (line: Line, refundable: number): number => {
  const charged = sumCharged(line, 'PRODUCT', 'amount')
  const refunded = charged - countRemaining(line, 'PRODUCT', 'amount')
  const covered = charged === 0 ? line.ordered : Math.floor((refunded * line.ordered) / charged)
  return Math.max(0, Math.min(refundable, covered - unitsIn(line, 'Refund')))
}

const moveRefunded = (order: Order, line: Line, quantity: number, paid: readonly RefundedCharge[], now: number): EffectDraft => {
  const from = unitsIn(line, 'Delivered') >= quantity ? 'Delivered' : 'Shipped'
  for (const taken of quantity > 0 ? takeUnits(line, quantity, 'Delivered', 'Shipped') : []) {
    const state = taken.state === 'Delivered' ? taken.state : 'Shipped'
    const before: Entry['before'] = taken.parcel === undefined ? { state } : { state, parcel: taken.parcel }
    putUnits(line, { state: 'Refund', quantity: taken.quantity, before })
  }
  line.statusDate = now
  const amount = paid.reduce((sum, one) => sum + chargeParts.reduce((total, part) => total + selectCents(one, part), 0), 0)
  return { lineNumber: line.lineNumber, kind: 'refunded', quantity, from, amount, currency: order.currency }
}

/** What a refund that the marketplace works out itself is about. */
export interface OwnRefund {
  /** Units that are refunded; 0 gives money only. */
  readonly quantity: number
  /** The money, in cents; `null` for the product charge, tax and fees of exactly those units. */
  readonly money: { readonly [part in ChargePart]?: Cents | undefined } | null
  readonly reason: string
}

/**
 * Money given back without a request that words it. What is worked out for units is such that refunds of all units sum to the charge.
 * Never more than remains.
 */
export const refundByMarketplace = (
  order: Order,
  line: Line,
  { quantity, money, reason }: OwnRefund,
  now: number,
): EffectDraft => {
  const before = unitsIn(line, 'Refund')
  const part = (name: ChargePart): Cents => {
    const total = sumCharged(line, 'PRODUCT', name)
    const wanted =
      money === null
        ? computeShare(total, before + quantity, line.ordered) - computeShare(total, before, line.ordered)
        : (money[name] ?? 0)
    return Math.max(0, Math.min(countRemaining(line, 'PRODUCT', name), wanted))
  }
  const paid = [refundedCharge(line, 'PRODUCT', reason, { amount: part('amount'), tax: part('tax'), fees: part('fees') })]
  line.refunds.push(...paid)
  return moveRefunded(order, line, quantity, paid, now)
}
