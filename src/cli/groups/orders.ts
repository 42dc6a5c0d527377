import type { Command } from 'commander'
import { parseCount, parseTime } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { listOrders, showOrder } from '../commands/show-orders.ts'

/** Adds `tallyman orders`. */
export const addOrders = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  const orders = program.command('orders').description('orders with their units')
  defineCommand(orders, 'list', 'orders; the newest first', { isDefault: true })
    .option('-q, --search <text>', 'beginning of a purchase order id, customer order id, SKU or tracking number')
    .option('--open', 'some units are neither shipped nor cancelled')
    .option('--late', 'open, and past the ship-by time')
    .option('--sku <sku>', 'with a line of this SKU')
    .option('--tracking-number <number>', 'with a parcel of this number')
    .option('--seller <id>', 'of this seller only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action(
      (
        options: {
          search?: string
          open?: true
          late?: true
          sku?: string
          trackingNumber?: string
          seller?: string
          limit: number
        },
        command: Command,
      ) =>
        runAction(command, (context) =>
          listOrders(context, {
            q: options.search ?? null,
            open: options.open ?? null,
            late: options.late ?? null,
            sku: options.sku ?? null,
            trackingNumber: options.trackingNumber ?? null,
            sellerId: options.seller ?? null,
            limit: options.limit,
          }),
        ),
    )
  defineCommand(orders, 'show', 'an order with its units, parcels and commands')
    .argument('<purchaseOrderId>')
    .option('--seller <id>', 'its seller; required when several sellers have it')
    .option('--at <time>', 'as it was known at this time, such as 2026-03-01T09:30:00Z', parseTime)
    .action((purchaseOrderId: string, options: { seller?: string; at?: Date }, command: Command) =>
      runAction(command, (context) =>
        showOrder(context, { purchaseOrderId, sellerId: options.seller ?? null, at: options.at?.toISOString() ?? null }),
      ),
    )
}
