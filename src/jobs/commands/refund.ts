import type { CommandDefinition } from './definition.ts'

/**
 * Refunds shipped units (specification, section 9, rule 5). The marketplace also issues refunds (public facts 4.3),
 * and a second refund pays twice, so the order is read right before.
 */
export const refund: CommandDefinition<'refund'> = {
  kind: 'refund',
  readsOrderFirst: true,
  goalReached: () => false,
}
