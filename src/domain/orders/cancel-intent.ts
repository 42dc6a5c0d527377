import type { ShipPayload } from '../commands/command.ts'
import type { PurchaseOrder } from './order.ts'

/** Numbers of the lines that the buyer has asked to cancel. */
export const listLinesToCancel = ({ lines }: PurchaseOrder): ReadonlySet<string> =>
  new Set(lines.filter((line) => line.intentToCancel).map((line) => line.lineNumber))

/**
 * Why a shipment is not sent: the buyer has asked to cancel some of its lines, and the marketplace ships them only if the request says so (public facts
 * 3.2). Null: it may be sent.
 *
 * @param cancelReason the reason for which the seller cancels such lines
 */
export const findCancelIntent = ({ parcels }: ShipPayload, order: PurchaseOrder, cancelReason: string): string | null => {
  const asked = listLinesToCancel(order)
  const lines = parcels
    .flatMap((parcel) => parcel.lines)
    .filter(({ lineNumber, intentToCancelOverride }) => asked.has(lineNumber) && intentToCancelOverride !== true)
  if (lines.length === 0) return null
  const numbers = [...new Set(lines.map(({ lineNumber }) => lineNumber))].join(', ')
  return `the buyer has asked to cancel line ${numbers}: report it again with intentToCancelOverride: true to ship it all the same, or cancel it for ${cancelReason}; nothing was sent`
}
