import { maxIdLength } from '../../domain/event-bounds.ts'
import type { EventOptions, ReadEvent } from '../../domain/event-reading.ts'
import type { PlanOptions } from '../../domain/events.ts'
import type { DueCommand } from '../../store/commands.ts'
import type { Database, SqlRunner } from '../../store/database.ts'
import { type OnlySeller, onlyHere } from '../serving.ts'
import type { EventSellers, OrderFetcher } from './fetch-order.ts'

/** What the events of a seller are checked against, beside what they are about. */
export type EventRules = Required<Pick<PlanOptions, 'vocabulary' | 'now' | 'shipUnacknowledged' | 'fullPriceRefundsAll'>>

/** Dependencies of accepting events. */
export interface AcceptParts {
  readonly database: Database
  readonly sellers: EventSellers
  readonly fetcher: OrderFetcher
  /** A post looks for orders that are not stored for so long, in milliseconds; the events of the others wait. Left out: ten seconds. */
  readonly lookUpMs?: number
  /** After the commit: these commands are due. Must not throw; a sweep finds them anyway. */
  readonly wake: (commands: readonly DueCommand[]) => void
  /** A waiting event is rejected for an order that the marketplace does not know only when it has waited for so long; left out: two minutes. */
  readonly settleTimeMs?: number
  /** Whose an event is that names no seller. Left out: no other process is asked. */
  readonly only?: (sql: SqlRunner) => Promise<OnlySeller>
  /** Told of each row of the SQL inbox that has been decided, once that is committed. Must not throw. */
  readonly onInbox?: (outcome: 'accepted' | 'refused') => void
  /** Rules of a seller that is served here. Left out: our own clock, shipments acknowledge first, refunds give back what they ask for. */
  readonly rules?: (sellerId: string) => Omit<EventRules, 'vocabulary'>
}

/** What rules are worked out from. */
export interface RuleParts extends Pick<AcceptParts, 'rules'> {
  readonly database: SqlRunner
}

/** What an event says of what it is about, and the seller that was fixed for it when it was taken; null: none was. */
export interface Addressable extends Pick<ReadEvent, 'address'> {
  readonly sellerId: string | null
}

/** Whose those of some events are that name no seller; nobody else is asked when all of them name theirs. */
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
export const rulesOf = ({ database, rules }: RuleParts, sellerId: string): EventRules => ({
  vocabulary: database.vocabularyOf(sellerId),
  ...(rules?.(sellerId) ?? { now: new Date(), shipUnacknowledged: 'acknowledge-first', fullPriceRefundsAll: false }),
})

/** What every event is checked against, whosever it is. */
export const commonRules = ({ database }: Pick<RuleParts, 'database'>): EventOptions => ({
  vocabulary: database.vocabularyOf(null),
})
