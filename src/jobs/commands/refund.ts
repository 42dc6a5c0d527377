import type { CommandDefinition } from './definition.ts'

/**
 * Gives money back for shipped units (specification, section 9, rule 5). The marketplace refunds by itself too (public facts 4.3),
 * and a second refund pays twice, so the order is read right before.
 */
export const refund: CommandDefinition<'refund'> = {
  kind: 'refund',
  operation: 'orders.refund',
  readsOrderFirst: true,
  goalReached: () => false,
  request: (prepare, purchaseOrderId, payload) => prepare.refund({ purchaseOrderId, lines: payload.lines }),
}
