import type { DirectCommandKind } from '../../../domain/commands/command.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'

/**
 * The differences between the commands on a purchase order, for any marketplace. How a marketplace sends a command is declared by its client
 * (`clients/http/order-commands.ts`). The subject (`order.ts`) and the engine (`run.ts`) do the rest.
 */
interface CommandDefinition {
  /**
   * Whether the order is read right before the request is sent, instead of using the stored one. Needed where the effect has no
   * identifying mark, so that effects of others must not be mistaken for it.
   */
  readonly readsOrderFirst: boolean
  /** Whether the order is already in the requested state, so that nothing needs to be sent. */
  goalReached(order: PurchaseOrder): boolean
}

/** The commands on a purchase order. The refund through a return has its own subject (`refund-return.ts`). */
export const definitions: { readonly [Kind in DirectCommandKind]: CommandDefinition } = {
  /** Acknowledges the whole order at the marketplace (public facts 3.1), without a body; the only idempotent command. */
  acknowledge: {
    readsOrderFirst: false,
    goalReached: (order) =>
      order.lines.some((line) => line.units.acknowledged > 0) &&
      order.lines.every((line) => line.units.acknowledged + line.units.cancelled >= line.ordered),
  },
  /** Reports units as shipped. Tracking numbers are our identifying marks. */
  ship: { readsOrderFirst: false, goalReached: () => false },
  /** Cancels units that cannot be fulfilled (specification, section 9, rule 4). Buyers cancel as well, so the order is read first. */
  cancel: { readsOrderFirst: true, goalReached: () => false },
  /**
   * Refunds shipped units (specification, section 9, rule 5). The marketplace also issues refunds (public facts 4.3),
   * and a second refund pays twice, so the order is read right before.
   */
  refund: { readsOrderFirst: true, goalReached: () => false },
  /**
   * Changes the tracking number of shipped units (public facts, section 3.2). It names the number that they have now, so the order is read first; whether it
   * shows the new one already depends on the command (`checkCorrection`).
   */
  'correct-shipment': { readsOrderFirst: true, goalReached: () => false },
}
