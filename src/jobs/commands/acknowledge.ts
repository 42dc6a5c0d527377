import type { CommandDefinition } from './definition.ts'

/** Tells the marketplace that the seller takes the order (public facts 3.1): the whole order, no body; the one idempotent command. */
export const acknowledge: CommandDefinition<'acknowledge'> = {
  kind: 'acknowledge',
  operation: 'orders.acknowledge',
  readsOrderFirst: false,
  goalReached: (order) =>
    order.lines.some((line) => line.units.acknowledged > 0) &&
    order.lines.every((line) => line.units.acknowledged + line.units.cancelled >= line.ordered),
  request: (prepare, purchaseOrderId) => prepare.acknowledge(purchaseOrderId),
}
