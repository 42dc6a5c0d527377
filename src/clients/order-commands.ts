import type { OrderCommandContent, OrderCommandKind } from '../domain/command.ts'
import type { PurchaseOrder } from '../domain/order.ts'
import type { CallOptions, SendOptions } from './call-options.ts'
import type { Operation } from './operation.ts'
import type { Observed } from './record.ts'

/** What a command of a kind is to do. */
export type PayloadOf<Kind extends OrderCommandKind> = Extract<OrderCommandContent, { kind: Kind }>['payload']

/** How a marketplace carries the commands of one kind. */
export interface CarriedCommand<Kind extends OrderCommandKind, Request extends object> {
  readonly operation: Operation
  /** The request, quantities always explicit; JSON through and through, since it is stored as the intent. Pure. */
  request(purchaseOrderId: string, payload: PayloadOf<Kind>): Request
}

/** The kinds of commands that a marketplace carries; it has no such thing as those that are left out. */
export type CarriedCommands<Request extends object> = { readonly [Kind in OrderCommandKind]?: CarriedCommand<Kind, Request> }

/** What of an endpoint carries the commands on purchase orders of one seller. Its methods throw a `MarketplaceFailure`. */
export interface OrderCommands<Request extends object = object> {
  readonly commands: CarriedCommands<Request>
  /** One order, or null when the marketplace has none by that id. */
  get(purchaseOrderId: string, options: CallOptions): Promise<Observed<PurchaseOrder> | null>
  /** Sends a request that one of its own commands has made, and no other. */
  send(request: Request, options: SendOptions): Promise<Observed<PurchaseOrder>>
}
