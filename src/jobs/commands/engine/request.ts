import type { ReadClient } from '../../../clients/http/client.ts'
import type { CommandContent } from '../../../domain/commands/command.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import { type JsonObject, toJson } from '../../../domain/values/json.ts'
import { definitions } from '../kinds/definitions.ts'
import { orderSubject } from '../kinds/order.ts'
import { refundReturnSubject } from '../kinds/refund-return.ts'
import { shippingSettingsSubject } from '../kinds/shipping-settings.ts'

/** A command that is not stored, on an order (null: on the seller's shipping settings). */
interface UnstoredCommand {
  readonly sellerId: string
  readonly order: PurchaseOrder | null
  /** An earlier command acknowledges the order, or has done so. */
  readonly acknowledging: boolean
  /** Earlier commands cancel every unit of the order, or have done so. */
  readonly cancelling: boolean
  readonly content: CommandContent
}

/**
 * The request that the first attempt of a command would store and send; nothing is sent. Null: none would be sent, since the order is already
 * acknowledged or completely cancelled, or will be by earlier commands, or the marketplace has no such command.
 */
export const buildRequest = (
  { sellerId, order, acknowledging, cancelling, content }: UnstoredCommand,
  client: ReadClient,
): JsonObject | null => {
  if (content.kind === 'create-shipping-settings')
    return toJson(shippingSettingsSubject({ sellerId, payload: content.payload }, client, null).prepare(null))
  if (order === null) throw new Error(`a command to ${content.kind} is about an order`)
  if (content.kind === 'acknowledge' && (acknowledging || cancelling || definitions.acknowledge.goalReached(order))) return null
  const unstoredCommand = { id: '', sellerId, applied: [], eventId: null, purchaseOrderId: order.purchaseOrderId }
  if (content.kind === 'refund-return') {
    const subject = refundReturnSubject({ ...unstoredCommand, payload: content.payload }, client, null)
    return subject === null ? null : toJson(subject.prepare(null))
  }
  const unstored = { ...unstoredCommand, content }
  const subject = orderSubject(unstored, client, null)
  return subject === null ? null : toJson(subject.prepare(order))
}
