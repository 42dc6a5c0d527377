import type { Actor, EffectDraft, Order } from '../rules/model.ts'
import type { World } from '../world.ts'

/** The one way in which an order changes: rule, stored order and effects stand or fall together. */
export const changeOrder = (
  world: World,
  order: Order,
  at: number,
  actor: Actor,
  rule: (order: Order) => EffectDraft[],
): EffectDraft[] =>
  world.database.transaction(() => {
    const effects = rule(order)
    world.orders.update(order, at)
    world.effects.append(order, effects, at, actor)
    return effects
  })

/** A change without a request. */
export const byItself = (by: Actor['by']): Actor => ({ by, correlationId: null, requestId: null })
