import { Decimal } from 'decimal.js'
import type { RefundCharge, RefundReturnPayload } from '../commands/command.ts'
import type { OrderLine, PurchaseOrder } from '../orders/order.ts'
import {
  availableOfReturn,
  describeReturned,
  listReturnedLedgers,
  type ReturnedLedger,
  type ReturnedLine,
} from '../orders/returned-units.ts'
import type { LineLedger } from '../orders/units.ts'
import { checkMoneyLeft } from '../refunds/refund-money.ts'
import { productShare, refundOfSlots, sameCurrency, slotsWithMoney } from '../refunds/refunds.ts'
import { allot } from '../sync/allotment.ts'
import { eventFaults, type ReadEvent } from './event-reading.ts'
import { type EventFault, returnEventType } from './event-shape.ts'
import type { PlanOptions, PlanResult } from './events.ts'

/** Units of a line of a return that an entry of the event is given. */
interface ReturnedPiece {
  readonly path: string
  readonly line: ReturnedLine
  readonly lineNumber: string
  readonly quantity: number
  readonly slots: readonly number[]
}

/**
 * Derives the command that refunds units through their return, and reserves the units in the ledger of the order: a unit is refunded once, through its return
 * or through its order. Or reports all faults.
 *
 * Entries that name a line of the return are served first; those by SKU take units of the return's lines with that SKU, in line order. The request states
 * units only, and the marketplace works out their money (public facts 4.3): a named amount is accepted only if it is the product charge of these units.
 *
 * @param returned the lines of every stored return of the order
 */
export const planReturnRefund = (
  event: ReadEvent,
  order: PurchaseOrder,
  ledgers: readonly LineLedger[],
  returned: readonly ReturnedLine[],
  options: PlanOptions,
): PlanResult => {
  const { vocabulary, commands = [] } = options
  const faults: EventFault[] = [...eventFaults(event, options)]
  const content = event.content?.type === returnEventType ? event.content : null
  const returnOrderId = event.address?.returnOrderId ?? null
  const path = 'data.returnOrderId'
  if (order.shipNodeType?.toLowerCase() === vocabulary.shipNodes.marketplace.toLowerCase()) {
    const message = 'the marketplace fulfilled this order itself and refunds its returns, the seller cannot'
    return { ok: false, faults: [...faults, { path, message }] }
  }
  const all = listReturnedLedgers(returned, commands)
  const ofReturn = all
    .filter(({ line }) => line.returnOrderId === returnOrderId)
    .sort((a, b) => a.line.returnLineNumber - b.line.returnLineNumber)
  const customerOrderId = ofReturn[0]?.line.customerOrderId ?? order.customerOrderId
  if (customerOrderId === null) faults.push({ path, message: 'is a return whose customer order is unknown' })
  if (faults.length > 0 && content === null) return { ok: false, faults }

  const taken = new Map<ReturnedLine, number>()
  const pieces: ReturnedPiece[] = []
  let current = ledgers
  const left = (ledger: ReturnedLedger): number => availableOfReturn(ledger) - (taken.get(ledger.line) ?? 0)
  const take = (entryPath: string, { line }: ReturnedLedger, quantity: number): void => {
    const { lineNumber } = line
    if (lineNumber === null) {
      const message = `line ${line.returnLineNumber} of the return names no line of an order, so its units cannot be counted`
      faults.push({ path: entryPath, message })
      return
    }
    const money = order.lines.find((candidate) => candidate.lineNumber === lineNumber)
    const carriesMoney = money === undefined ? () => true : slotsWithMoney(money, vocabulary)
    const allotment = allot([{ path: entryPath, lineNumber, sku: null, quantity }], 'refund', current, () => carriesMoney)
    faults.push(...allotment.faults)
    current = allotment.ledgers
    taken.set(line, (taken.get(line) ?? 0) + quantity)
    for (const { slots } of allotment.pieces.get(entryPath) ?? [])
      pieces.push({ path: entryPath, line, lineNumber, quantity, slots })
  }

  for (const { path: entryPath, returned: asked } of event.entries) {
    if (asked === null || (asked.returnLineNumber ?? null) === null) continue
    const ledger = ofReturn.find(({ line }) => line.returnLineNumber === asked.returnLineNumber)
    if (ledger === undefined) {
      const message = `the return has no line ${asked.returnLineNumber} of order ${order.purchaseOrderId}`
      faults.push({ path: `${entryPath}.returnLineNumber`, message })
      continue
    }
    const exception = exceptionFault(entryPath, [ledger])
    if (exception !== null) faults.push(exception)
    else if (asked.quantity > left(ledger))
      faults.push({ path: `${entryPath}.quantity`, message: `${describeReturned(ledger)}, ${asked.quantity} asked` })
    else take(entryPath, ledger, asked.quantity)
  }
  for (const { path: entryPath, returned: asked } of event.entries) {
    if (asked === null || (asked.returnLineNumber ?? null) !== null || (asked.sku ?? null) === null) continue
    const candidates = ofReturn.filter(({ line }) => line.sku === asked.sku)
    const ordinary = candidates.filter(({ line }) => line.exceptionItemType === null)
    const exception = ordinary.length > 0 ? null : exceptionFault(entryPath, candidates)
    const room = ordinary.reduce((sum, ledger) => sum + left(ledger), 0)
    if (candidates.length === 0)
      faults.push({ path: `${entryPath}.sku`, message: `the return has no line with SKU ${asked.sku}` })
    else if (exception !== null) faults.push(exception)
    else if (asked.quantity > room) {
      const described = ordinary.map(describeReturned).join('; ')
      faults.push({ path: `${entryPath}.quantity`, message: `${described}; ${asked.quantity} asked of SKU ${asked.sku}` })
    } else {
      let open = asked.quantity
      for (const ledger of ordinary) {
        const quantity = Math.min(open, left(ledger))
        if (quantity > 0) take(entryPath, ledger, quantity)
        open -= quantity
      }
    }
  }
  faults.push(...amountFaults(event, order, pieces, options))
  if (content === null || customerOrderId === null || returnOrderId === null || faults.length > 0) return { ok: false, faults }

  const reasons = new Map(event.entries.map((entry) => [entry.path, entry.returned?.reason ?? null]))
  const payload: RefundReturnPayload = {
    ...{ returnOrderId, customerOrderId },
    lines: pieces.map((piece) => ({
      lineNumber: piece.lineNumber,
      returnLineNumber: piece.line.returnLineNumber,
      quantity: piece.quantity,
      reason: reasons.get(piece.path) ?? null,
      charges: expectedCharges(order, piece, options),
      slots: [...piece.slots],
    })),
  }
  const spent = checkMoneyLeft(payload, order, order)
  if (spent.length > 0) return { ok: false, faults: spent.map((message) => ({ path: 'data.lines', message })) }
  return {
    ok: true,
    commands: [{ kind: 'refund-return', purchaseOrderId: order.purchaseOrderId, payload }],
    ledgers: current,
  }
}

/** Goods such as HAZMAT are refunded through their order (public facts 4.3). */
const exceptionFault = (path: string, ledgers: readonly ReturnedLedger[]): EventFault | null => {
  const exception = ledgers.find(({ line }) => line.exceptionItemType !== null)?.line
  if (exception === undefined) return null
  const message = `line ${exception.returnLineNumber} of the return is ${exception.exceptionItemType}, which the marketplace refunds through the order only: use erp.credit.issued`
  return { path, message }
}

const findLine = (order: PurchaseOrder, lineNumber: string): OrderLine | undefined =>
  order.lines.find((candidate) => candidate.lineNumber === lineNumber)

/**
 * The product charge of a piece with its tax, as the marketplace is expected to give it back, whether so much is left or not; empty if the charges of the line
 * cannot be worked with.
 */
const expectedCharges = (
  order: PurchaseOrder,
  { lineNumber, slots }: ReturnedPiece,
  { vocabulary }: PlanOptions,
): RefundCharge[] => {
  const line = findLine(order, lineNumber)
  const refund = line === undefined ? null : refundOfSlots({ ...line, refundedAmount: '0' }, slots, vocabulary)
  if (refund?.ok !== true) return []
  return refund.charges.filter(({ chargeType }) => chargeType.toUpperCase() === vocabulary.productCharge)
}

/** Faults of amounts and currencies that are not those of the units: the request cannot state them. */
const amountFaults = (
  event: ReadEvent,
  order: PurchaseOrder,
  pieces: readonly ReturnedPiece[],
  { vocabulary }: PlanOptions,
): EventFault[] =>
  event.entries.flatMap(({ path, returned }): EventFault[] => {
    const own = pieces.filter((piece) => piece.path === path)
    if (returned === null || own.length === 0) return []
    const lines = own.flatMap(({ lineNumber, slots }) => {
      const line = findLine(order, lineNumber)
      return line === undefined ? [] : [{ line, slots }]
    })
    const charged = lines.map(({ line }) => line.currency ?? line.charges[0]?.currency ?? null)
    const { amount, currency } = returned
    const foreign = charged.find((one) => one !== null && (currency ?? null) !== null && !sameCurrency(one, currency ?? ''))
    if (foreign !== undefined)
      return [{ path: `${path}.currency`, message: `the units are charged in ${foreign}, not in ${currency}` }]
    if ((amount ?? null) === null) return []
    const shares = lines.map(({ line, slots }) => productShare(line, slots, vocabulary))
    const whole = shares.includes(null) ? null : shares.reduce((sum, share) => sum.plus(share ?? '0'), new Decimal(0))
    if (whole?.eq(amount ?? '0') === true) return []
    const known = whole === null ? '' : `, ${whole.toFixed()} ${charged[0] ?? ''}`.trimEnd()
    const message = `is ${amount}, but a refund through a return gives back the product charge of its units${known}: leave amount out, or refund another amount through the order, by erp.credit.issued`
    return [{ path: `${path}.amount`, message }]
  })
