import type { Command } from 'commander'
import { parseCount } from '../arguments.ts'
import type { Program } from '../parts.ts'
import { listOrders, showOrder } from '../show-orders.ts'

/** Adds `tallyman orders`. */
export const addOrders = ({ program, leaf, act }: Program): void => {
  const orders = program.command('orders').description('orders, their units and what became of them')
  leaf(orders, 'list', 'orders; the newest first', { isDefault: true })
    .option('-q, --search <text>', 'purchase order, customer order, SKU or tracking number')
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
        act(command, (context) =>
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
  leaf(orders, 'show', 'an order with its units, parcels and commands')
    .argument('<purchaseOrderId>')
    .option('--seller <id>', 'its seller; required when several sellers have it')
    .action((purchaseOrderId: string, options: { seller?: string }, command: Command) =>
      act(command, (context) => showOrder(context, { purchaseOrderId, sellerId: options.seller ?? null })),
    )
}
