import type { CommandDefinition } from './definition.ts'

/** Cancels units that cannot be fulfilled (specification, section 9, rule 4). Buyers cancel as well, so the order is read first. */
export const cancel: CommandDefinition<'cancel'> = {
  kind: 'cancel',
  readsOrderFirst: true,
  goalReached: () => false,
}
