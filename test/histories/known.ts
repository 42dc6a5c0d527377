import type { History } from './history.ts'
import type { TrueEffect, World } from './marketplace.ts'

/** What happened so long ago shows in every read of one order, or of one return. */
export const maxLagMs = ({ nature }: History): number => Math.max(...nature.nodes.map(({ orderLagMs }) => orderLagMs)) + 1_000

/** When the order was last looked at before a request of ours was processed; the request itself where nobody looked. */
export const lookedAtMs = (
  world: World,
  { commandId, purchaseOrderId, askedAtMs }: Pick<TrueEffect, 'commandId' | 'purchaseOrderId' | 'askedAtMs'>,
): number =>
  world.requests
    .filter((each) => each.operation === 'get' && each.commandId === commandId && each.purchaseOrderId === purchaseOrderId)
    .filter(({ atMs }) => atMs <= askedAtMs)
    .at(-1)?.atMs ?? askedAtMs

/**
 * What stood there when ours was asked for: what we had done, and what somebody else had done so long before that the read before ours
 * must have shown it.
 */
export const knownBefore = (history: History, world: World, effect: TrueEffect): readonly TrueEffect[] => {
  const lagMs = maxLagMs(history)
  return world.effects.filter(
    (other) =>
      other.purchaseOrderId === effect.purchaseOrderId &&
      other.lineNumber === effect.lineNumber &&
      other !== effect &&
      (other.by === 'us' ? other.atMs <= effect.atMs : other.atMs + lagMs <= lookedAtMs(world, effect)),
  )
}
