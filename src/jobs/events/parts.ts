import { maxIdLength } from '../../domain/events/event-bounds.ts'
import type { EventOptions, ReadEvent } from '../../domain/events/event-reading.ts'
import type { PlanOptions } from '../../domain/events/events.ts'
import type { Database, SqlRunner } from '../../store/db/database.ts'
import { type OnlySeller, onlyHere } from '../sellers/serving.ts'
import type { EventSellers, OrderFetcher } from './fetch-order.ts'
import type { ReturnFetcher } from './fetch-return.ts'

/** The rules that apply to the events of a seller. */
export type EventRules = Required<
  Pick<PlanOptions, 'vocabulary' | 'now' | 'shipUnacknowledged' | 'fullPriceRefundsAll' | 'correctsShipments'>
>

/** Dependencies of accepting events. */
export interface AcceptParts {
  readonly database: Database
  readonly sellers: EventSellers
  readonly fetcher: OrderFetcher
  /** Fetches returns that an event names before a sync has brought them. Default: such events wait for the sync. */
  readonly returns?: ReturnFetcher
  /** Maximum time in which a post fetches orders that are not stored, in ms; events of the others wait. Default: ten seconds. */
  readonly lookUpMs?: number
  /** Called after the commit with the ids of the commands that were stored. Must not throw; the relay finds them anyway. */
  readonly onStored: (commandIds: readonly string[]) => void
  /** Minimum waiting time before an event is rejected because the marketplace does not know its order, in ms; default: two minutes. */
  readonly settleTimeMs?: number
  /** Finds the seller of an event that names none. Left out: no other process is asked. */
  readonly only?: (sql: SqlRunner) => Promise<OnlySeller>
  /** Called for each decided row of the SQL inbox, after the commit. Must not throw. */
  readonly onInbox?: (outcome: 'accepted' | 'refused') => void
  /** Rules of a seller that is served here. Left out: our own clock, shipments acknowledge first, refunds give back what they ask for, no corrections. */
  readonly rules?: (sellerId: string) => Omit<EventRules, 'vocabulary'>
}

/** Dependencies of rules. */
export interface RuleParts extends Pick<AcceptParts, 'rules'> {
  readonly database: SqlRunner
}

/** The address in an event, and the seller that was determined when it was accepted; null: none was. */
export interface Addressable extends Pick<ReadEvent, 'address'> {
  readonly sellerId: string | null
}

/** The seller of those events that name none; no other process is asked if all name theirs. */
export const onlySeller = async (
  parts: Pick<AcceptParts, 'sellers' | 'only'>,
  sql: SqlRunner,
  events: readonly Addressable[],
): Promise<OnlySeller> => {
  const isNamed = events.every(({ address, sellerId }) => {
    const named = address?.sellerId ?? sellerId
    return named !== null && named.length <= maxIdLength
  })
  return isNamed || parts.only === undefined ? onlyHere(parts.sellers) : parts.only(sql)
}

/** The rules of a seller. */
export const findRules = ({ database, rules }: RuleParts, sellerId: string): EventRules => ({
  vocabulary: database.findVocabulary(sellerId),
  ...(rules?.(sellerId) ?? {
    now: new Date(),
    shipUnacknowledged: 'acknowledge-first',
    fullPriceRefundsAll: false,
    correctsShipments: false,
  }),
})

/** The rules that apply to the events of every seller. */
export const commonRules = ({ database }: Pick<RuleParts, 'database'>): EventOptions => ({
  vocabulary: database.findVocabulary(null),
})
