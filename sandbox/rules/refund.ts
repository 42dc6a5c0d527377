import type { z } from 'zod'
import { refuseContent } from '../core/errors.ts'
import { type Cents, centsOf, shareOf } from '../core/money.ts'
import type { Dialect } from '../settings.ts'
import { readBody, refundBody } from './bodies.ts'
import { lineOf } from './lines.ts'
import type { EffectDraft, Line, Order, RefundedCharge } from './model.ts'
import { readQuantity } from './quantity.ts'
import { putUnits, takeUnits, unitsIn } from './units.ts'
import { isRefundReason } from './vocabulary.ts'

type AskedLine = z.infer<typeof refundBody>['orderRefund']['orderLines']['orderLine'][number]

/**
 * Pays back. Every request pays, also one that repeats another word for word, until the units or the charges of the line are
 * used up; any faulty line refuses the whole request (specification, section 9, rule 5; public facts, sections 3.4 and 6.4).
 */
export function refund(order: Order, body: unknown, dialect: Dialect, now: number): EffectDraft[] {
  const { orderRefund } = readBody(refundBody, body)
  if (typeof orderRefund.purchaseOrderId === 'string' && orderRefund.purchaseOrderId !== order.purchaseOrderId) {
    throw refuseContent('purchaseOrderId of the body is not that of the path', 'purchaseOrderId')
  }
  const lines = orderRefund.orderLines.orderLine
  if (new Set(lines.map((line) => line.isFullRefund === true)).size > 1) {
    throw refuseContent('All lines of one request must have the same isFullRefund', 'isFullRefund')
  }
  return lines.map((asked) => refundLine(order, lineOf(order, asked.lineNumber), asked, dialect, now))
}

function refundLine(order: Order, line: Line, asked: AskedLine, dialect: Dialect, now: number): EffectDraft {
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
  const charges = asked.isFullRefund === true ? allThatRemains(line, reasonOf(asked)) : readCharges(order, line, asked)
  if (charges.length === 0) throw refuseContent(`refundCharges are required in line number ${line.lineNumber}`, 'refundCharges')
  line.refunds.push(...charges)
  checkRemaining(order, line)
  const extra =
    dialect.fullPriceRefundsAll && paysWholePrice(line, charges) ? allThatRemains(line, charges[0]?.reason ?? 'Others') : []
  line.refunds.push(...extra)
  const paid = [...charges, ...extra]
  return moveRefunded(order, line, statuses.length > 0 ? named : unitsPaid(line, refundable), paid, now)
}

function reasonOf(asked: AskedLine): string {
  return asked.refunds?.refund[0]?.refundCharges.refundCharge[0]?.refundReason ?? 'Others'
}

function readCharges(order: Order, line: Line, asked: AskedLine): RefundedCharge[] {
  const charges: RefundedCharge[] = []
  for (const one of asked.refunds?.refund ?? []) {
    for (const { refundReason, charge } of one.refundCharges.refundCharge) {
      if (!isRefundReason(refundReason)) {
        throw refuseContent(`Refund reason is not supported in line number ${line.lineNumber}`, 'refundReason')
      }
      const tax = charge.tax ?? null
      charges.push({
        reason: refundReason,
        type: charge.chargeType,
        name: charge.chargeName,
        amount: readNegative(order, line, charge.chargeAmount, false),
        tax: tax === null ? null : { name: tax.taxName, amount: readNegative(order, line, tax.taxAmount, true) },
        refundId: one.refundId ?? null,
        comments: one.refundComments ?? null,
      })
    }
  }
  return charges
}

/** Cents of a negative amount, as a positive number. Only a tax may be zero. */
function readNegative(order: Order, line: Line, money: { currency: string; amount: unknown }, mayBeZero: boolean): Cents {
  if (money.currency !== order.currency) {
    throw refuseContent(`Currency of line number ${line.lineNumber} must be ${order.currency}`, 'currency')
  }
  const cents = centsOf(money.amount)
  if (cents === null || cents > 0 || (cents === 0 && !mayBeZero)) {
    throw refuseContent(`Refund amount must be negative with at most two decimals in line number ${line.lineNumber}`, 'amount')
  }
  return cents === 0 ? 0 : -cents
}

/** Refuses when what was paid back in all exceeds what was charged, charge by charge and tax by tax. */
function checkRemaining(order: Order, line: Line): void {
  for (const type of ['PRODUCT', 'SHIPPING'] as const) {
    if (
      refundedOf(line, type, 'amount') > chargedOf(line, type, 'amount') ||
      refundedOf(line, type, 'tax') > chargedOf(line, type, 'tax')
    ) {
      throw refuseContent(
        `Refund amount exceeds the remaining ${type} charge of Line: ${line.lineNumber} of PO: ${order.purchaseOrderId}`,
        'chargeAmount',
      )
    }
  }
}

/** What the buyer was charged for all units of the line, or the tax on it. */
export function chargedOf(line: Line, type: 'PRODUCT' | 'SHIPPING', part: 'amount' | 'tax'): Cents {
  return line.charges.reduce(
    (sum, one) => sum + (one.type === type ? (part === 'amount' ? one.amount : (one.tax?.amount ?? 0)) : 0),
    0,
  )
}

/** What was paid back so far, positive. */
function refundedOf(line: Line, type: 'PRODUCT' | 'SHIPPING', part: 'amount' | 'tax'): Cents {
  return line.refunds.reduce(
    (sum, one) => sum + (one.type === type ? (part === 'amount' ? one.amount : (one.tax?.amount ?? 0)) : 0),
    0,
  )
}

/** A full refund gives item, tax and shipping back, as far as they were not given back before. */
function allThatRemains(line: Line, reason: string): RefundedCharge[] {
  const rest: RefundedCharge[] = []
  for (const type of ['PRODUCT', 'SHIPPING'] as const) {
    const amount = chargedOf(line, type, 'amount') - refundedOf(line, type, 'amount')
    const tax = chargedOf(line, type, 'tax') - refundedOf(line, type, 'tax')
    if (amount <= 0 && tax <= 0) continue
    rest.push(refundedCharge(type, reason, amount, tax))
  }
  return rest
}

function refundedCharge(type: 'PRODUCT' | 'SHIPPING', reason: string, amount: Cents, tax: Cents): RefundedCharge {
  const name = type === 'PRODUCT' ? 'ItemPrice' : 'Shipping'
  return {
    reason,
    type,
    name,
    amount,
    tax: tax === 0 ? null : { name: `${name} Tax`, amount: tax },
    refundId: null,
    comments: null,
  }
}

function paysWholePrice(line: Line, charges: readonly RefundedCharge[]): boolean {
  const product = charges.reduce((sum, one) => sum + (one.type === 'PRODUCT' ? one.amount : 0), 0)
  return product > 0 && product === chargedOf(line, 'PRODUCT', 'amount')
}

/** How many more units the money paid back covers, for requests that name no units. */
function unitsPaid(line: Line, refundable: number): number {
  const charged = chargedOf(line, 'PRODUCT', 'amount')
  const covered = charged === 0 ? line.ordered : Math.floor((refundedOf(line, 'PRODUCT', 'amount') * line.ordered) / charged)
  return Math.max(0, Math.min(refundable, covered - unitsIn(line, 'Refund')))
}

function moveRefunded(order: Order, line: Line, quantity: number, paid: readonly RefundedCharge[], now: number): EffectDraft {
  const from = unitsIn(line, 'Delivered') >= quantity ? 'Delivered' : 'Shipped'
  if (quantity > 0) {
    takeUnits(line, quantity, 'Delivered', 'Shipped')
    putUnits(line, { state: 'Refund', quantity })
  }
  line.statusDate = now
  const amount = paid.reduce((sum, one) => sum + one.amount + (one.tax?.amount ?? 0), 0)
  return { lineNumber: line.lineNumber, kind: 'refunded', quantity, from, amount, currency: order.currency }
}

/**
 * The marketplace pays `quantity` units back by itself: the product charge and tax of exactly those units, worked out so that
 * refunds of all units sum to the charge. Never more than remains.
 */
export function refundByMarketplace(order: Order, line: Line, quantity: number, reason: string, now: number): EffectDraft {
  const before = unitsIn(line, 'Refund')
  const part = (total: Cents, paid: Cents): Cents =>
    Math.max(0, Math.min(total - paid, shareOf(total, before + quantity, line.ordered) - shareOf(total, before, line.ordered)))
  const amount = part(chargedOf(line, 'PRODUCT', 'amount'), refundedOf(line, 'PRODUCT', 'amount'))
  const tax = part(chargedOf(line, 'PRODUCT', 'tax'), refundedOf(line, 'PRODUCT', 'tax'))
  const paid = [refundedCharge('PRODUCT', reason, amount, tax)]
  line.refunds.push(...paid)
  return moveRefunded(order, line, quantity, paid, now)
}
