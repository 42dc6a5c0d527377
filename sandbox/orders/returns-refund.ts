import { z } from 'zod'
import type { Call, Operation } from '../calls/operation.ts'
import { contentNotFound, gatewayRefusal, Refusal } from '../core/errors.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { perMinute } from '../faults/limits.ts'
import { refundReturnedUnits } from '../life/returns.ts'
import { allowanceOf } from '../rules/partial.ts'
import type { ReturnedLine, ReturnOrder } from '../rules/returns-model.ts'
import type { World } from '../world.ts'

const refundBody = z.looseObject({
  customerOrderId: z.string().nullish(),
  refundLines: z
    .array(
      z.looseObject({
        returnOrderLineNumber: z.number().int().nullish(),
        quantity: z.looseObject({ unitOfMeasure: z.string().nullish(), measurementValue: z.number().int().min(1) }),
      }),
    )
    .min(1),
})

/** `POST /v3/returns/{returnOrderId}/refund`, on the live service only (public facts, section 4.3): the answer echoes the request. */
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
  const asked = askedUnits(returned, refundLines)
  const partial = plan.blemishes.get('partialEffect')
  const numbers = new Map([...asked].map(([line, units]) => [String(line.returnOrderLineNumber), units]))
  const most = partial === undefined ? () => Number.POSITIVE_INFINITY : allowanceOf(partial, numbers, plan.random)
  world.database.transaction(() => {
    for (const [line, wanted] of asked) {
      const units = Math.min(wanted, most(String(line.returnOrderLineNumber)))
      const actor = { by: 'seller', correlationId, requestId } as const
      if (units > 0) refundReturnedUnits(world, returned, line, units, actor, now)
    }
  })
  return { returnOrderId, ...parsed.data }
}

/** The units of each line that the request names. Throws a `Refusal` for lines and units that are not there. */
const askedUnits = (
  returned: ReturnOrder,
  refundLines: z.infer<typeof refundBody>['refundLines'],
): ReadonlyMap<ReturnedLine, number> => {
  const asked = new Map<ReturnedLine, number>()
  for (const { returnOrderLineNumber: number, quantity } of refundLines) {
    const [first] = returned.lines
    const line = number == null ? first : returned.lines.find((one) => one.returnOrderLineNumber === number)
    if (number == null && returned.lines.length > 1)
      throw refuse('returnOrderLineNumber is required for a return of several lines', 'returnOrderLineNumber')
    if (line === undefined) throw refuse(`Return line ${number} does not exist`, 'returnOrderLineNumber')
    if (line.exceptionItemType !== undefined)
      throw refuse(
        `Return line ${line.returnOrderLineNumber} is an exception (${line.exceptionItemType}): refund the order instead`,
      )
    const units = (asked.get(line) ?? 0) + quantity.measurementValue
    const left = line.quantity - line.refundedQuantity
    if (units > left) throw refuse(`Return line ${line.returnOrderLineNumber} has ${left} units left to be refunded`, 'quantity')
    asked.set(line, units)
  }
  return asked
}
