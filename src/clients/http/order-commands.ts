import type { DirectCommandContent, DirectCommandKind, RefundReturnPayload } from '../../domain/commands/command.ts'
import type { PurchaseOrder } from '../../domain/orders/order.ts'
import type { ReturnOrder } from '../../domain/orders/return.ts'
import type { CallOptions, SendOptions } from './call-options.ts'
import type { Operation } from './operation.ts'
import type { Observed } from './record.ts'

/** The payload of a command of a kind. */
export type CommandPayload<Kind extends DirectCommandKind> = Extract<DirectCommandContent, { kind: Kind }>['payload']

/** How commands of one kind are sent to a marketplace. */
export interface SupportedCommand<Kind extends DirectCommandKind, Request extends object> {
  readonly operation: Operation
  /** The request, with explicit quantities. It contains only JSON values, since it is stored as the intent. Pure. */
  request(purchaseOrderId: string, payload: CommandPayload<Kind>): Request
}

/** The kinds of commands that a marketplace supports. */
export type SupportedCommands<Request extends object> = { readonly [Kind in DirectCommandKind]?: SupportedCommand<Kind, Request> }

/** The requests of the commands on purchase orders of one seller, and the read of an order, which throws a `MarketplaceFailure`. */
export interface OrderCommands<Request extends object = object> {
  readonly commands: SupportedCommands<Request>
  /** One order; null if the marketplace has none with this id. */
  get(purchaseOrderId: string, options: CallOptions): Promise<Observed<PurchaseOrder> | null>
}

/** Sends the commands on purchase orders of one seller. */
export interface OrderWriter<Request extends object = object> {
  /**
   * Sends a request that was built by one of `OrderCommands.commands`.
   *
   * @throws MarketplaceFailure
   */
  send(request: Request, options: SendOptions): Promise<Observed<PurchaseOrder>>
}

/** The answer to a request that was accepted, without the record that it changed. */
export interface Acceptance {
  readonly record: null
  readonly observedAt: Date
  readonly correlationId: string
  readonly httpStatus: number
}

/** How units are refunded through their return. */
export interface ReturnRefund<Request extends object> {
  readonly operation: Operation
  /** The request, with explicit quantities. It contains only JSON values, since it is stored as the intent. Pure. */
  request(payload: RefundReturnPayload): Request
}

/** The requests of the commands on returns of one seller, and the read of a return, which throws a `MarketplaceFailure`. */
export interface ReturnCommands<Request extends object = object> {
  /** Null: the marketplace has no refund through a return. */
  readonly refund: ReturnRefund<Request> | null
  /** One return; null if the marketplace has none with this id. */
  get(returnOrderId: string, options: CallOptions): Promise<Observed<ReturnOrder> | null>
}

/** Sends the commands on returns of one seller. */
export interface ReturnWriter<Request extends object = object> {
  /**
   * Sends a request that was built by {@link ReturnRefund.request}. The answer does not show the return, which must be read back.
   *
   * @throws MarketplaceFailure
   */
  send(request: Request, options: SendOptions): Promise<Acceptance>
}
