import { contentNotFound } from '../core/errors.ts'
import { changeOrder } from '../life/change.ts'
import { creditReturns } from '../life/returns.ts'
import { scheduleAfterShipping } from '../life/schedule.ts'
import { acknowledge } from '../rules/acknowledge.ts'
import { cancel } from '../rules/cancel.ts'
import type { Actor, EffectDraft, Order } from '../rules/model.ts'
import { refund } from '../rules/refund.ts'
import { ship } from '../rules/ship.ts'
import type { Dialect } from '../settings.ts'
import type { World } from '../world.ts'

const WRITE_OPERATIONS = ['orders.acknowledge', 'orders.ship', 'orders.cancel', 'orders.refund'] as const
export type WriteOperation = (typeof WRITE_OPERATIONS)[number]

export function isWriteOperation(name: string): name is WriteOperation {
  return WRITE_OPERATIONS.some((operation) => operation === name)
}

type Rule = (order: Order, body: unknown, dialect: Dialect, now: number) => EffectDraft[]

const RULES: Readonly<Record<WriteOperation, Rule>> = {
  'orders.acknowledge': (order, _body, _dialect, now) => acknowledge(order, now),
  'orders.ship': ship,
  'orders.cancel': cancel,
  'orders.refund': refund,
}

/** One write request: it takes effect as a whole or throws a `Refusal` and leaves everything as it was. */
export function applyWrite(
  world: World,
  operation: WriteOperation,
  sellerId: string,
  purchaseOrderId: string,
  body: unknown,
  actor: Actor,
  now: number,
): Order {
  const order = world.orders.find(sellerId, purchaseOrderId)
  if (order === null) throw contentNotFound(`No order found for PO: ${purchaseOrderId}`)
  return world.database.transaction(() => {
    const effects = changeOrder(world, order, now, actor, () => RULES[operation](order, body, world.settings.dialect, now))
    if (operation === 'orders.ship') scheduleAfterShipping(world, order, effects, now)
    if (operation === 'orders.refund') creditReturns(world, order, effects, now)
    return order
  })
}
