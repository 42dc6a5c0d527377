import type { Actor, EffectDraft, Order } from '../rules/model.ts'
import type { World } from '../world.ts'

/** The one way in which an order changes: rule, stored order and effects stand or fall together. */
export function changeOrder(
  world: World,
  order: Order,
  at: number,
  actor: Actor,
  rule: (order: Order) => EffectDraft[],
): EffectDraft[] {
  return world.database.transaction(() => {
    const effects = rule(order)
    world.orders.update(order, at)
    world.effects.append(order, effects, at, actor)
    return effects
  })
}

/** A change without a request. */
export function byItself(by: Actor['by']): Actor {
  return { by, correlationId: null, requestId: null }
}
