import type { PurchaseOrder } from '../../domain/order.ts'
import type { ShipNodes } from '../../domain/vocabulary.ts'
import { insertCommands } from '../../store/command-steps.ts'
import type { Transaction } from '../../store/database.ts'

const waitsForAcknowledgement = (order: PurchaseOrder, { seller }: ShipNodes): boolean =>
  (order.shipNodeType ?? seller) === seller &&
  order.lines.some((line) => line.units.acknowledged + line.units.cancelled < line.ordered)

/**
 * `AUTO_ACKNOWLEDGE=on-import`: an acknowledge command for each new order that waits for one, in the transaction that stores the
 * order. Orders that the marketplace fulfils acknowledge themselves (public facts 2.4).
 */
export const acknowledgeNewOrders = async (
  transaction: Transaction,
  { sellerId, newOrders }: { readonly sellerId: string; readonly newOrders: readonly PurchaseOrder[] },
): Promise<void> => {
  const { shipNodes } = transaction.vocabularyOf(sellerId)
  for (const { purchaseOrderId } of newOrders.filter((order) => waitsForAcknowledgement(order, shipNodes))) {
    await insertCommands(transaction, {
      sellerId,
      purchaseOrderId,
      event: null,
      commands: [{ kind: 'acknowledge', payload: {} }],
    })
  }
}
