import type { CommandDefinition } from './definition.ts'

/** Reports units as shipped. Tracking numbers are our identifying marks. */
export const ship: CommandDefinition<'ship'> = {
  kind: 'ship',
  readsOrderFirst: false,
  goalReached: () => false,
}
