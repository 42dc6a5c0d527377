import type { Calendar } from './calendar.ts'
import type { LineUnits } from './order.ts'

/** What a unit of an order line is, whatever the marketplace calls it. */
export type LineState = 'created' | keyof LineUnits

/** A marketplace's words for the states of units. */
export interface StatusWords {
  /** The state that a word means, in upper or lower case; null: the word is not known. */
  stateOf(word: string): LineState | null
  /** The word for a state. */
  wordOf(state: LineState): string
  /** Every word. */
  readonly all: readonly string[]
}

/** Words for states: of several for one state the first is the one that is written. */
export const statusWords = (words: Readonly<Record<LineState, readonly [string, ...string[]]>>): StatusWords => {
  const states = ['created', 'acknowledged', 'shipped', 'cancelled', 'refunded'] as const
  const byWord = new Map(states.flatMap((state) => words[state].map((word) => [word.toLowerCase(), state])))
  return {
    stateOf: (word) => byWord.get(word.toLowerCase()) ?? null,
    wordOf: (state) => words[state][0],
    all: states.flatMap((state) => words[state]),
  }
}

/** What a marketplace calls those who store and ship the goods of an order; an open set: unknown ones are stored. */
export interface ShipNodes {
  /** The seller; also meant by an order that names none. */
  readonly seller: string
  /** The marketplace: it acknowledges and ships by itself, so that such an order is never released, and the inventory log tells of its stock. */
  readonly marketplace: string
  /** Every one that is known. */
  readonly all: readonly string[]
}

/** Carriers by which shipping settings are stated. */
export interface SettingsCarriers {
  /** The services of each carrier, by its published name. */
  readonly services: ReadonlyMap<string, readonly string[]>
  /** Those of these services that deliver to post office boxes and military addresses too. */
  readonly mailboxServices: ReadonlySet<string>
}

/** The words of a marketplace that our rules need, and its calendar. A value that the marketplace's folder gives; the rules know none of them. */
export interface Vocabulary {
  /** By which reports, campaigns and the inventory log count days and months. */
  readonly calendar: Calendar
  readonly statuses: StatusWords
  readonly shipNodes: ShipNodes
  /** Type of the charge that is the price of the goods, in upper case; charges are compared without case. */
  readonly productCharge: string
  /** Reasons that it accepts for a cancellation. */
  readonly cancelReasons: readonly string[]
  /** The one of them that says that the buyer asked for it. */
  readonly buyerCancelReason: string
  /** Reasons that it accepts for a refund. */
  readonly refundReasons: readonly string[]
  /** Carriers that go by name; null: it publishes no list. */
  readonly carriers: ReadonlySet<string> | null
  readonly settingsCarriers: SettingsCarriers
  /** By so long after its order date it wants an order acknowledged. */
  readonly acknowledgeWithinHours: number
  /** So many days after its ship-by time it cancels what is still open of an order; null: it never does. */
  readonly cancelsAfterDays: number | null
}

/** The words of the marketplace of a seller; null: of a seller whom nobody knows, who gets those that are common to all. */
export type VocabularyOf = (sellerId: string | null) => Vocabulary
