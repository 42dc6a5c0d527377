import type { Database, SqlRunner, Transaction } from '../../store/db/database.ts'
import {
  readOtherSellers,
  recordSellers,
  type SellerFingerprint,
  sendSellersHeartbeat,
  servedForMs,
} from '../../store/sellers/sellers.ts'
import type { SellerRegistry } from './registry.ts'

/** The seller of an event that names none. `unsure`: a process that serves another seller may be about to start. */
export type OnlySeller =
  | { readonly kind: 'one'; readonly sellerId: string }
  | { readonly kind: 'several' }
  | { readonly kind: 'unsure'; readonly reason: string }

/** Announces the sellers of this process to the other processes on the same database, and reads theirs. */
export interface Serving {
  /**
   * Records the configured sellers; call it at the start, and before settings that were read again take effect. `inSameTransaction` runs in the
   * transaction that records them.
   */
  begin(
    by: 'start' | 'settings',
    sellers?: readonly SellerFingerprint[],
    inSameTransaction?: (transaction: Transaction) => Promise<void>,
  ): Promise<void>
  /** Sends the heartbeat of the sellers; call it every few seconds. Returns those that were removed meanwhile: they must be recorded again. */
  say(): Promise<readonly string[]>
  /** The only seller that any process serves: the same result in all of them, or `unsure`. */
  only(sql: SqlRunner): Promise<OnlySeller>
}

/** Dependencies of serving. */
export interface ServingParts {
  readonly database: Database
  readonly sellers: Pick<SellerRegistry, 'ids' | 'only' | 'configured'>
  /** How long heartbeats of other processes count, in ms. A process waits for the same time before it relies on their absence. */
  readonly heartbeatTimeoutMs?: number
}

/** The only seller of this process; other processes are not asked. */
export const onlyHere = (sellers: Pick<SellerRegistry, 'only'>): OnlySeller => {
  const sellerId = sellers.only()
  return sellerId === null ? { kind: 'several' } : { kind: 'one', sellerId }
}

/** Creates the announcements of this process; one for each process. */
export const createServing = ({ database, sellers, heartbeatTimeoutMs = servedForMs }: ServingParts): Serving => {
  // Start of the heartbeats without a gap, and the last one, by the database's clock. Announcements of others before that may have ended.
  let announced: { readonly since: Date; readonly at: Date } | null = null

  return {
    begin: async (by, marks = sellers.ids().map(sellers.configured), inSameTransaction) => {
      const at = await recordSellers(database, marks, by, inSameTransaction)
      announced = { since: at, at }
    },
    say: async () => {
      const { at, removed } = await sendSellersHeartbeat(database, sellers.ids())
      // The others may have had the same gap, and may not have announced their sellers again yet.
      const hasGap = announced === null || at.getTime() - announced.at.getTime() > heartbeatTimeoutMs
      announced = { since: hasGap || announced === null ? at : announced.since, at }
      return removed
    },
    only: async (sql) => {
      const here = onlyHere(sellers)
      if (here.kind !== 'one' || announced === null) return here
      const { since, at } = announced
      const others = await readOtherSellers(sql, here.sellerId, since)
      if (others.served) return { kind: 'several' }
      const listened =
        others.at.getTime() - since.getTime() > heartbeatTimeoutMs && others.at.getTime() - at.getTime() <= heartbeatTimeoutMs
      if (listened || !others.mayReturn) return here
      const reason = `it names no seller, and another one than ${here.sellerId} was served here before: whether it still is will be known within two minutes`
      return { kind: 'unsure', reason }
    },
  }
}
