/** So many commands of one kind of a seller are enqueued or wait for budget at once; the others stay where they are until these are done. */
export const mostOfAKind = 200

/** The share of each seller and kind in a derivation of at most `most` commands, where so many of them have open ones; at least one. */
export const shareOfKind = (most: number, kinds: number): number =>
  Math.min(mostOfAKind, Math.max(1, Math.floor(most / Math.max(1, kinds))))

/** What commands are ordered by. */
export interface OrderedCommand {
  /** By when the marketplace wants it, in epoch ms; null: it has not said. */
  readonly actByMs: number | null
  /** In which order they came. */
  readonly sequence: number
}

/** The order of the commands of a seller and kind: those that the marketplace wants earliest first, those without such a moment last. */
export const byUrgency = (a: OrderedCommand, b: OrderedCommand): number => {
  const [aMs, bMs] = [a.actByMs ?? Number.POSITIVE_INFINITY, b.actByMs ?? Number.POSITIVE_INFINITY]
  return aMs === bMs ? a.sequence - b.sequence : aMs - bMs
}

/** A command that is due, and its place among those of its seller and kind, from 1 on. */
export interface PlacedCommand extends OrderedCommand {
  readonly sellerId: string
  readonly place: number
}

/** In rounds: one of each seller, then another of each, those of one round by urgency. */
export const inRounds = <Command extends PlacedCommand>(placed: readonly Command[]): readonly Command[] =>
  [...Map.groupBy(placed, ({ sellerId }) => sellerId).values()]
    .flatMap((own) => own.sort((a, b) => a.place - b.place || byUrgency(a, b)).map((command, round) => ({ command, round })))
    .sort((a, b) => a.round - b.round || byUrgency(a.command, b.command))
    .map(({ command }) => command)
