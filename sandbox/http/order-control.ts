import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { decimalText } from '../core/money.ts'
import { returnReasons } from '../generator/catalogue.ts'
import { askToCancel, buyerCancel, fraudCancel, refundByItself } from '../life/live.ts'
import { arriveReturn, openReturn, returnableUnits } from '../life/returns.ts'
import { announceReturn } from '../notifications/announce.ts'
import type { Line, Order } from '../rules/model.ts'
import { unitsIn } from '../rules/units.ts'
import { isRefundReason } from '../rules/vocabulary.ts'
import type { DueEvent } from '../store/due-events.ts'
import type { World } from '../world.ts'
import { body, Misused } from './control-request.ts'
import { money } from './order-request.ts'
import { readParams } from './params.ts'
import { putOff, whenSchema } from './when.ts'

const returnBody = z.strictObject({
  sellerId: z.string().optional(),
  purchaseOrderId: z.string(),
  lines: z
    .array(
      z.strictObject({
        lineNumber: z.string(),
        quantity: z.number().int().min(1),
        reason: z.string().default(returnReasons[0]),
        exceptionItemType: z.enum(['HAZMAT', 'FREIGHT', 'OTHER']).optional(),
      }),
    )
    .min(1),
  /** Whether the goods travel, arrive and are refunded by themselves in time. */
  travels: z.boolean().default(true),
})

const arrivalBody = z.strictObject({ sellerId: z.string().optional() })

const buyerCancelBody = z
  .strictObject({
    sellerId: z.string().optional(),
    purchaseOrderId: z.string(),
    /** Left out: every line. */
    lineNumber: z.string().optional(),
    quantity: z.number().int().min(1).optional(),
    intentOnly: z.boolean().default(false),
    when: whenSchema.optional(),
  })
  .refine(({ lineNumber, quantity }) => lineNumber !== undefined || quantity === undefined, {
    path: ['quantity'],
    message: 'is of one line: lineNumber must be given',
  })

const fraudBody = z.strictObject({
  sellerId: z.string().optional(),
  /** Whether the units that are not shipped are cancelled; otherwise only the notification tells of it. */
  cancels: z.boolean().default(true),
  when: whenSchema.optional(),
})

const ownRefundBody = z.strictObject({
  sellerId: z.string().optional(),
  lines: z
    .array(
      z
        .strictObject({
          lineNumber: z.string(),
          quantity: z.number().int().min(0).default(0),
          amount: money.optional(),
          tax: money.optional(),
          fees: money.optional(),
        })
        .refine(({ quantity, amount, tax, fees }) => quantity > 0 || (amount ?? 0) + (tax ?? 0) + (fees ?? 0) > 0, {
          message: 'units or an amount must be given',
        }),
    )
    .min(1),
  reason: z.string().refine(isRefundReason, 'is no reason of a refund').default('Customer returned item'),
  when: whenSchema.optional(),
})

/** Control routes about one order: what buyers and the marketplace do to it. */
export const registerOrderControl = (app: FastifyInstance, world: World): void => {
  app.post('/returns', async (request, reply) => {
    const asked = body(returnBody, request)
    const order = findOrder(world, asked.sellerId, asked.purchaseOrderId)
    for (const { lineNumber, quantity } of asked.lines) {
      const line = findLine(order, lineNumber)
      const free = returnableUnits(world, order, line)
      if (quantity > free) throw new Misused(409, `lines: line ${lineNumber} has ${free} units that can be returned`)
    }
    reply.code(201)
    const now = world.clock.now()
    const opened = world.database.transaction(() => {
      const made = openReturn(world, order, asked.lines, now, asked.travels)
      announceReturn(world, made, 'RETURN_CREATED', now)
      return made
    })
    return { returnOrderId: opened.returnOrderId }
  })
  app.post('/returns/:id/arrive', async (request) => {
    const { sellerId = world.settings.sellerId } = body(arrivalBody, request)
    const id = readParams(request)['id'] ?? ''
    const returned = world.returns.find(sellerId, id)
    if (returned === null) throw new Misused(404, `returnOrderId: there is no return ${id}`)
    const arrivedAt = world.clock.now()
    world.database.transaction(() => arriveReturn(world, returned, arrivedAt))
    return { arrivedAt: new Date(arrivedAt).toISOString() }
  })
  app.post('/buyer-cancel', async (request) => {
    const asked = body(buyerCancelBody, request)
    const order = findOrder(world, asked.sellerId, asked.purchaseOrderId)
    const lines = asked.lineNumber === undefined ? order.lines : [findLine(order, asked.lineNumber)]
    if (asked.when !== undefined) {
      const events = lines.map((line) => cancellation(order, line, asked.quantity, asked.intentOnly))
      putOff(world, asked.when, order, events)
      return { scheduled: events.length }
    }
    const now = world.clock.now()
    let cancelled = 0
    world.database.transaction(() => {
      for (const line of lines) {
        if (asked.intentOnly) askToCancel(world, order, line, now)
        else cancelled += buyerCancel(world, order, line, asked.quantity ?? unitsIn(line, 'Created', 'Acknowledged'), now)
      }
    })
    return { cancelled, intentToCancel: lines.every((line) => line.intentToCancelAt !== null) }
  })
  app.post('/orders/:po/fraud-cancel', async (request) => {
    const { cancels, sellerId, when } = body(fraudBody, request)
    const order = findOrder(world, sellerId, readParams(request)['po'] ?? '')
    if (when !== undefined) {
      const { sellerId: owner, purchaseOrderId } = order
      putOff(world, when, order, [{ kind: 'fraud-cancel', sellerId: owner, purchaseOrderId, cancels }])
      return { scheduled: 1 }
    }
    return { cancelled: world.database.transaction(() => fraudCancel(world, order, cancels, world.clock.now())) }
  })
  app.post('/orders/:po/refund', async (request) => {
    const { lines, reason, sellerId, when } = body(ownRefundBody, request)
    const order = findOrder(world, sellerId, readParams(request)['po'] ?? '')
    const refunds = lines.map(({ lineNumber, quantity, amount, tax, fees }) => {
      const line = findLine(order, lineNumber)
      const money = amount === undefined && tax === undefined && fees === undefined ? null : { amount, tax, fees }
      return { line, quantity, money }
    })
    if (when !== undefined) {
      putOff(
        world,
        when,
        order,
        refunds.map(({ line, quantity, money }) => ({
          ...({ kind: 'own-refund', sellerId: order.sellerId, purchaseOrderId: order.purchaseOrderId } as const),
          ...{ lineNumber: line.lineNumber, quantity, money, reason },
        })),
      )
      return { scheduled: refunds.length }
    }
    const now = world.clock.now()
    return world.database.transaction(() => {
      const effects = refunds.flatMap(({ line, quantity, money }) =>
        refundByItself(world, order, line, { quantity, money, reason }, now),
      )
      if (effects.length === 0) throw new Misused(409, 'lines: nothing is shipped, or nothing is left to be refunded')
      const paid = effects.reduce((sum, effect) => sum + (effect.amount ?? 0), 0)
      return { refunded: effects.reduce((sum, { quantity }) => sum + quantity, 0), amount: decimalText(paid) }
    })
  })
}

/** The whole line is cancelled in its state at that time. */
const cancellation = (order: Order, line: Line, quantity: number | undefined, intentOnly: boolean): DueEvent => {
  const { sellerId, purchaseOrderId } = order
  const common = { sellerId, purchaseOrderId, lineNumber: line.lineNumber }
  return intentOnly
    ? { kind: 'intent-to-cancel', ...common }
    : { kind: 'buyer-cancel', ...common, quantity: quantity ?? line.ordered }
}

const findOrder = (world: World, sellerId: string | undefined, purchaseOrderId: string): Order => {
  const order = world.orders.find(sellerId ?? world.settings.sellerId, purchaseOrderId)
  if (order === null) throw new Misused(404, `purchaseOrderId: there is no order ${purchaseOrderId}`)
  return order
}

const findLine = (order: Order, lineNumber: string): Line => {
  const line = order.lines.find((candidate) => candidate.lineNumber === lineNumber)
  if (line === undefined) throw new Misused(404, `lineNumber: order ${order.purchaseOrderId} has no line ${lineNumber}`)
  return line
}
