import type { Config } from '../../../config/config.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import type { ShipNodes } from '../../../domain/values/vocabulary.ts'
import { insertCommands } from '../../../store/commands/command-steps.ts'
import type { Transaction } from '../../../store/db/database.ts'
import type { SyncHooks } from '../../sync/engine/resource.ts'

const waitsForAcknowledgement = (order: PurchaseOrder, { seller }: ShipNodes): boolean =>
  (order.shipNodeType ?? seller) === seller &&
  order.lines.some((line) => line.units.acknowledged + line.units.cancelled < line.ordered)

/**
 * `AUTO_ACKNOWLEDGE=on-import`: an acknowledge command for each new order that waits for one, in the transaction that stores the
 * order. Orders that the marketplace fulfils acknowledge themselves (public facts 2.4).
 */
const acknowledgeNewOrders = async (
  transaction: Transaction,
  { sellerId, newOrders }: { readonly sellerId: string; readonly newOrders: readonly PurchaseOrder[] },
): Promise<void> => {
  const { shipNodes } = transaction.findVocabulary(sellerId)
  for (const { purchaseOrderId } of newOrders.filter((order) => waitsForAcknowledgement(order, shipNodes))) {
    await insertCommands(transaction, {
      sellerId,
      purchaseOrderId,
      event: null,
      commands: [{ kind: 'acknowledge', payload: {} }],
    })
  }
}

/** What every process does in the transaction that stores an order for the first time. */
export const buildSaveHooks = (autoAcknowledge: Config['autoAcknowledge']): SyncHooks =>
  autoAcknowledge === 'on-import' ? { afterSave: acknowledgeNewOrders } : {}
