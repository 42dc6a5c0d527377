import type { OrderRequests, WireRequest } from '../../clients/client.ts'
import type { WriteOperationName } from '../../clients/profiles/profile.ts'
import type { OrderCommandContent, OrderCommandKind } from '../../domain/command.ts'
import type { PurchaseOrder } from '../../domain/order.ts'

/** What differs between the commands on a purchase order; the subject (`order.ts`) and the engine (`run.ts`) do all the rest. */
export interface CommandDefinition<Kind extends OrderCommandKind = OrderCommandKind> {
  readonly kind: Kind
  readonly operation: WriteOperationName
  /**
   * Whether the order is read right before the request leaves, and not taken as stored. Needed where the effect carries no
   * mark of ours, so that what others did meanwhile must not be taken for it.
   */
  readonly readsOrderFirst: boolean
  /** Whether the marketplace already stands where the command wants it, so that nothing needs to be sent. */
  goalReached(order: PurchaseOrder): boolean
  /** The request, quantities always explicit. Pure. */
  request(
    prepare: OrderRequests,
    purchaseOrderId: string,
    payload: Extract<OrderCommandContent, { kind: Kind }>['payload'],
  ): WireRequest
}
