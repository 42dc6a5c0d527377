import type { LineUnits } from '../orders/order.ts'
import type { Calendar } from './calendar.ts'

/** State of a unit of an order line, independent of the term of the marketplace. */
export type LineState = 'created' | keyof LineUnits

/** A marketplace's words for the states of units. */
export interface StatusWords {
  /** The state that a word means, in upper or lower case; null: the word is not known. */
  findState(word: string): LineState | null
  /** The word for a state. */
  findWord(state: LineState): string
  /** Whether a word means that the units have reached the buyer. */
  isDelivered(word: string): boolean
  /** Every word. */
  readonly all: readonly string[]
}

/** Words for states: of several for one state the first is the one that is written. `delivered`: those of them that mean that the buyer has the units. */
export const statusWords = (
  words: Readonly<Record<LineState, readonly [string, ...string[]]>>,
  delivered: readonly string[] = [],
): StatusWords => {
  const deliveredWords = new Set(delivered.map((word) => word.toLowerCase()))
  const states = ['created', 'acknowledged', 'shipped', 'cancelled', 'refunded'] as const
  const byWord = new Map(states.flatMap((state) => words[state].map((word) => [word.toLowerCase(), state])))
  return {
    findState: (word) => byWord.get(word.toLowerCase()) ?? null,
    findWord: (state) => words[state][0],
    isDelivered: (word) => deliveredWords.has(word.toLowerCase()),
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

/**
 * The members that differ between the two forms of shipping settings. The first form has a priority and no methods, the second one has methods and
 * no priority (public facts, section 15).
 */
export interface SettingsForm {
  /** Whether the account must state `shippingPriority`; false: it must not. */
  readonly hasPriority: boolean
  /** What `shippingMethod` of a carrier configuration may be; empty: it must not be stated. */
  readonly methods: readonly string[]
}

/** How a marketplace refunds units through their return. */
export interface ReturnWords {
  /** Statuses of returned units that have arrived at the return center, in upper case; compared without case. */
  readonly arrived: readonly string[]
  /** Statuses and refund statuses of returned units that are refunded; written and compared as `arrived`. */
  readonly refunded: readonly string[]
  /** So many hours after the arrival of returned units the seller must have refunded them; then the marketplace does it. */
  readonly refundWithinHours: number
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
  readonly settingsForm: SettingsForm
  /** Null: the marketplace has no refund through a return. */
  readonly returns: ReturnWords | null
  /** Time after the order date within which an order must be acknowledged, in hours. */
  readonly acknowledgeWithinHours: number
  /** Days after the ship-by time at which the open units of an order are cancelled; null: never. */
  readonly cancelsAfterDays: number | null
}

/** The words of the marketplace of a seller; null: of a seller whom nobody knows, who gets those that are common to all. */
export type FindVocabulary = (sellerId: string | null) => Vocabulary
