import type { OrderCommandKind } from '../../domain/command.ts'
import type { PurchaseOrder } from '../../domain/order.ts'

/**
 * The differences between the commands on a purchase order, whatever the marketplace; how it carries them it says itself
 * (`clients/order-commands.ts`). The subject (`order.ts`) and the engine (`run.ts`) do the rest.
 */
export interface CommandDefinition<Kind extends OrderCommandKind = OrderCommandKind> {
  readonly kind: Kind
  /**
   * Whether the order is read right before the request is sent, instead of using the stored one. Needed where the effect has no
   * identifying mark, so that effects of others must not be mistaken for it.
   */
  readonly readsOrderFirst: boolean
  /** Whether the order is already in the requested state, so that nothing needs to be sent. */
  goalReached(order: PurchaseOrder): boolean
}
