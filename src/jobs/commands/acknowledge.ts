import type { CommandDefinition } from './definition.ts'

/** Acknowledges the whole order at the marketplace (public facts 3.1), without a body; the only idempotent command. */
export const acknowledge: CommandDefinition<'acknowledge'> = {
  kind: 'acknowledge',
  readsOrderFirst: false,
  goalReached: (order) =>
    order.lines.some((line) => line.units.acknowledged > 0) &&
    order.lines.every((line) => line.units.acknowledged + line.units.cancelled >= line.ordered),
}
