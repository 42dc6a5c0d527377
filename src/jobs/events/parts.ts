import type { PlanOptions } from '../../domain/events.ts'
import type { Database } from '../../store/database.ts'
import type { EventSellers, OrderFetcher } from './fetch-order.ts'

/** What the events of a seller are checked against, beside what they are about. */
export type EventRules = Required<Pick<PlanOptions, 'now' | 'carriers' | 'shipUnacknowledged'>>

/** What accepting events needs. */
export interface AcceptParts {
  readonly database: Database
  readonly sellers: EventSellers
  readonly fetcher: OrderFetcher
  /** After the commit: these commands are due. Must not throw; a sweep finds them anyway. */
  readonly wake: (commandIds: readonly string[]) => void
  /** Rules of a seller that is served here. Left out: our own clock, any carrier, shipments acknowledge first. */
  readonly rules?: (sellerId: string) => EventRules
}

/** The rules of a seller. */
export const rulesOf = ({ rules }: Pick<AcceptParts, 'rules'>, sellerId: string): EventRules =>
  rules?.(sellerId) ?? { now: new Date(), carriers: null, shipUnacknowledged: 'acknowledge-first' }
