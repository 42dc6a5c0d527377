import { contentNotFound } from '../core/errors.ts'
import { createRandom, type Random } from '../core/random.ts'
import type { FaultDetails } from '../faults/schema.ts'
import { changeOrder } from '../life/change.ts'
import { creditReturns } from '../life/returns.ts'
import { scheduleAfterShipping } from '../life/schedule.ts'
import { acknowledge } from '../rules/acknowledge.ts'
import { cancel } from '../rules/cancel.ts'
import type { Actor, EffectDraft, Order } from '../rules/model.ts'
import { buildAllowance, parseAsked, reduced } from '../rules/partial.ts'
import { refund } from '../rules/refund.ts'
import { ship } from '../rules/ship.ts'
import type { Dialect } from '../settings.ts'
import type { World } from '../world.ts'

const writeOperations = ['orders.acknowledge', 'orders.ship', 'orders.cancel', 'orders.refund'] as const
export type WriteOperation = (typeof writeOperations)[number]

export const isWriteOperation = (name: string): name is WriteOperation => writeOperations.some((operation) => operation === name)

type Rule = (order: Order, body: unknown, dialect: Dialect, now: number) => EffectDraft[]

const rules: Readonly<Record<WriteOperation, Rule>> = {
  'orders.acknowledge': (order, _body, _dialect, now) => acknowledge(order, now),
  'orders.ship': ship,
  'orders.cancel': cancel,
  'orders.refund': refund,
}

/** A write as requested. */
export interface WriteRequest {
  readonly operation: WriteOperation
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly body: unknown
  readonly actor: Actor
}

/** What faults make of a write that is accepted. */
export interface PartialWrite {
  /** The part that takes effect; `null` for all of it. */
  readonly effect: FaultDetails | null
  /** The part that the answer shows; `null` for what truly is. */
  readonly answer: FaultDetails | null
  readonly random: Random
}

const whole: PartialWrite = { effect: null, answer: null, random: createRandom('whole') }

/**
 * One write request. What the rules refuse throws a `Refusal` and leaves everything as it was; what they accept takes effect as a
 * whole, unless a fault lets through only a part. Gives the order as it is to be shown.
 */
export const applyWrite = (world: World, request: WriteRequest, partial: PartialWrite = whole, now: number): Order => {
  const { operation, sellerId, purchaseOrderId, body, actor } = request
  const order = world.orders.find(sellerId, purchaseOrderId)
  if (order === null) throw contentNotFound(`No order found for PO: ${purchaseOrderId}`)
  const { effect, answer, random } = partial
  return world.database.transaction(() => {
    const before = answer === null ? order : structuredClone(order)
    const whole = (target: Order): EffectDraft[] => rules[operation](target, body, world.settings.dialect, now)
    // Also what is done in part is first judged as a whole: a request that the rules refuse has no part that they accept.
    if (effect !== null) whole(structuredClone(order))
    const rule = (): EffectDraft[] => (effect === null ? whole(order) : applyPart(order, request, effect, world, random, now))
    const effects = changeOrder(world, order, now, actor, rule)
    if (operation === 'orders.ship') scheduleAfterShipping(world, order, effects, now)
    if (operation === 'orders.refund') creditReturns(world, order, effects, now)
    if (answer === null) return order
    applyPart(before, request, answer, world, random, now)
    return before
  })
}

/** Applies a part of the request to the order, without storing it. */
const applyPart = (
  order: Order,
  { operation, body }: WriteRequest,
  details: FaultDetails,
  { settings: { dialect } }: World,
  random: Random,
  now: number,
): EffectDraft[] => {
  const allowance = buildAllowance(details, parseAsked(operation, order, body, dialect.quantityField), random)
  if (operation === 'orders.acknowledge') return acknowledge(order, now, allowance)
  const part = reduced(operation, order, body, dialect.quantityField, allowance, details.amount)
  return part === null ? [] : rules[operation](order, part, dialect, now)
}
