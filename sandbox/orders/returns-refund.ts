import { z } from 'zod'
import type { Call, Operation } from '../calls/operation.ts'
import { contentNotFound, gatewayRefusal, Refusal } from '../core/errors.ts'
import { type Cents, computeShare, decimalText, parseCents } from '../core/money.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { perMinute } from '../faults/limits.ts'
import { refundReturnedUnits } from '../life/returns.ts'
import { buildAllowance } from '../rules/partial.ts'
import { countRemaining, sumCharged } from '../rules/refund.ts'
import type { ReturnedLine, ReturnOrder } from '../rules/returns-model.ts'
import { unitsIn } from '../rules/units.ts'
import type { World } from '../world.ts'

const refundBody = z.looseObject({
  customerOrderId: z.string().nullish(),
  refundLines: z
    .array(
      z.looseObject({
        returnOrderLineNumber: z.number().int().nullish(),
        quantity: z.looseObject({ unitOfMeasure: z.string().nullish(), measurementValue: z.number().int().min(1) }),
        /** Left out: the product charge of the units, tax and fees. */
        amount: z.looseObject({ currency: z.string(), amount: z.union([z.number(), z.string()]) }).nullish(),
      }),
    )
    .min(1),
})

/** `POST /v3/returns/{returnOrderId}/refund`, on the live service only (public facts, sections 4.3 and 15): the answer echoes the request. */
export const refundOfReturn: Operation = {
  name: 'returns.refund',
  limit: perMinute(60),
  method: 'POST',
  urls: ['/v3/returns/:returnOrderId/refund'],
  admission: 'marketplace',
  body: 'json',
  writes: true,
  errorShape: 'nested',
  faults: ['partialEffect'],
  perform(world, call, plan, now) {
    if (!world.settings.dialect.liveOperations) throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
    return { json: refund(world, call, plan, now) }
  },
}

const refuse = (description: string, field = 'data'): Refusal => {
  const fault = { code: 'INVALID_REQUEST_CONTENT.GMP_RETURNS_API', field, description } as const
  return new Refusal(400, [{ ...fault, severity: 'ERROR', category: 'DATA' }])
}

/** Any faulty line refuses the whole request. */
const refund = (world: World, call: Call, plan: FaultPlan, now: number): unknown => {
  const { sellerId, correlationId, requestId } = call
  const returnOrderId = call.params['returnOrderId'] ?? ''
  const returned = world.returns.find(sellerId, returnOrderId)
  if (returned === null) throw contentNotFound(`No return found for: ${returnOrderId}`, 'GMP_RETURNS_API')
  const parsed = refundBody.safeParse(call.body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw refuse(issue?.message ?? 'Invalid Request', issue?.path.join('.') || 'data')
  }
  const { customerOrderId, refundLines } = parsed.data
  if (customerOrderId != null && customerOrderId !== returned.customerOrderId)
    throw refuse('customerOrderId is not that of the return', 'customerOrderId')
  if (returned.wfs) throw refuse('Returns of orders that the marketplace fulfilled cannot be refunded by the seller')
  const asked = parseAsked(world, returned, refundLines)
  const partial = plan.blemishes.get('partialEffect')
  const numbers = new Map([...asked].map(([line, { units }]) => [String(line.returnOrderLineNumber), units]))
  const most = partial === undefined ? () => Number.POSITIVE_INFINITY : buildAllowance(partial, numbers, plan.random)
  world.database.transaction(() => {
    for (const [line, { units: wanted, paid }] of asked) {
      const units = Math.min(wanted, most(String(line.returnOrderLineNumber)))
      const money = paid === null ? null : computeShare(paid, units, wanted)
      const actor = { by: 'seller', correlationId, requestId } as const
      if (units > 0) refundReturnedUnits(world, returned, line, units, actor, now, money)
    }
  })
  return { returnOrderId, ...parsed.data }
}

/** What a request asks for a line of the return. */
interface AskedLine {
  units: number
  /** The amount that the request names, as a positive one; null: that of the units. */
  paid: Cents | null
}

/** What the request asks for each line that it names. Throws a `Refusal` for lines, units and money that are not there. */
const parseAsked = (
  world: World,
  returned: ReturnOrder,
  refundLines: z.infer<typeof refundBody>['refundLines'],
): ReadonlyMap<ReturnedLine, AskedLine> => {
  const asked = new Map<ReturnedLine, AskedLine>()
  for (const { returnOrderLineNumber: number, quantity, amount } of refundLines) {
    const [first] = returned.lines
    const line = number == null ? first : returned.lines.find((one) => one.returnOrderLineNumber === number)
    if (number == null && returned.lines.length > 1)
      throw refuse('returnOrderLineNumber is required for a return of several lines', 'returnOrderLineNumber')
    if (line === undefined) throw refuse(`Return line ${number} does not exist`, 'returnOrderLineNumber')
    if (line.exceptionItemType !== undefined)
      throw refuse(
        `Return line ${line.returnOrderLineNumber} is an exception (${line.exceptionItemType}): refund the order instead`,
      )
    const before = asked.get(line)
    const units = (before?.units ?? 0) + quantity.measurementValue
    const paid = amount == null ? null : (before?.paid ?? 0) + readAmount(returned, line, amount)
    asked.set(line, { units, paid })
  }
  for (const [line, { units, paid }] of asked) checkLine(world, returned, asked, line, units, paid)
  return asked
}

const readAmount = (
  returned: ReturnOrder,
  line: ReturnedLine,
  { currency, amount }: { readonly currency: string; readonly amount: number | string },
): Cents => {
  const cents = parseCents(amount)
  const where = `in return line ${line.returnOrderLineNumber}`
  if (cents === null || cents >= 0) throw refuse(`amount must be negative ${where}`, 'amount')
  if (currency !== returned.currency) throw refuse(`currency must be ${returned.currency} ${where}`, 'currency')
  return -cents
}

/** The units must be open in the return and in its order, and the money must not have been given back. */
const checkLine = (
  world: World,
  returned: ReturnOrder,
  asked: ReadonlyMap<ReturnedLine, AskedLine>,
  line: ReturnedLine,
  units: number,
  paid: Cents | null,
): void => {
  const where = `Return line ${line.returnOrderLineNumber}`
  const left = line.quantity - line.refundedQuantity
  if (units > left) throw refuse(`${where} has ${left} units left to be refunded`, 'quantity')
  const orderLine = world.orders
    .find(returned.sellerId, line.purchaseOrderId)
    ?.lines.find((candidate) => candidate.lineNumber === line.purchaseOrderLineNumber)
  if (orderLine === undefined) throw refuse(`${where} has no order`)
  const together = [...asked].reduce(
    (sum, [other, request]) =>
      other.purchaseOrderId === line.purchaseOrderId && other.purchaseOrderLineNumber === line.purchaseOrderLineNumber
        ? sum + request.units
        : sum,
    0,
  )
  const shipped = unitsIn(orderLine, 'Shipped', 'Delivered')
  if (together > shipped)
    throw refuse(`Requested quantity is not available: ${shipped} units of the order line can be refunded`, 'quantity')
  const most = Math.min(
    computeShare(sumCharged(orderLine, 'PRODUCT', 'amount'), units, orderLine.ordered),
    countRemaining(orderLine, 'PRODUCT', 'amount'),
  )
  if (paid !== null && paid > most)
    throw refuse(`${where} was charged ${decimalText(most)}, which is less than the amount`, 'amount')
}
