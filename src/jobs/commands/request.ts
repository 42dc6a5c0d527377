import type { MarketplaceClient } from '../../clients/client.ts'
import type { CommandContent } from '../../domain/command.ts'
import { type JsonObject, jsonOf } from '../../domain/json.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { acknowledge } from './acknowledge.ts'
import { orderSubject } from './order.ts'
import { shippingSettingsSubject } from './shipping-settings.ts'

/** A command that is not stored, on an order (null: on the seller's shipping settings). */
interface UnstoredCommand {
  readonly sellerId: string
  readonly order: PurchaseOrder | null
  /** A command in front of it acknowledges the order, or has done so. */
  readonly acknowledging: boolean
  /** Commands in front of it cancel every unit of the order, or have done so. */
  readonly cancelling: boolean
  readonly content: CommandContent
}

/**
 * The request of a command as its first attempt would store and send it; nothing is sent. Null: none would leave, since the order is
 * acknowledged or cancelled wholly already, or will be by commands in front, or the marketplace has no such command.
 */
export const requestOf = (
  { sellerId, order, acknowledging, cancelling, content }: UnstoredCommand,
  client: MarketplaceClient,
): JsonObject | null => {
  if (content.kind === 'create-shipping-settings')
    return jsonOf(shippingSettingsSubject({ sellerId, payload: content.payload }, client).prepare())
  if (order === null) throw new Error(`a command to ${content.kind} is about an order`)
  if (content.kind === 'acknowledge' && (acknowledging || cancelling || acknowledge.goalReached(order))) return null
  const unstored = { id: '', sellerId, applied: [], eventId: null, purchaseOrderId: order.purchaseOrderId, content }
  const subject = orderSubject(unstored, client)
  return subject === null ? null : jsonOf(subject.prepare())
}
