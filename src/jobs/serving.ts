import type { Database, SqlRunner, Transaction } from '../store/database.ts'
import { readOtherSellers, recordSellers, type SellerSettingsMark, saySellersServed, servedForMs } from '../store/sellers.ts'
import type { SellerRegistry } from './sellers.ts'

/** Whose an event is that names no seller. `unsure`: a process that serves another seller may be about to start. */
export type OnlySeller =
  | { readonly kind: 'one'; readonly sellerId: string }
  | { readonly kind: 'several' }
  | { readonly kind: 'unsure'; readonly reason: string }

/** Which sellers this process serves, said to the others that share its database, and what the others say. */
export interface Serving {
  /**
   * Records the sellers as they are configured; call it at the start and whenever they have been read again, before they hold. What `alongside` does
   * is stored with it, or none of both.
   */
  begin(
    by: 'start' | 'settings',
    sellers?: readonly SellerSettingsMark[],
    alongside?: (transaction: Transaction) => Promise<void>,
  ): Promise<void>
  /** Says again that they are served; call it every few seconds. Answers which of them have been removed meanwhile: they are to be recorded again. */
  say(): Promise<readonly string[]>
  /** The only seller that any process serves: the same answer in all of them, or none yet. */
  only(sql: SqlRunner): Promise<OnlySeller>
}

/** Dependencies of serving. */
export interface ServingParts {
  readonly database: Database
  readonly sellers: Pick<SellerRegistry, 'ids' | 'only' | 'configured'>
  /** So long a process listens, in milliseconds, before it believes that what others do not say is so; as long as what they say counts. */
  readonly patienceMs?: number
}

/** The only seller of one process, where no other is asked. */
export const onlyHere = (sellers: Pick<SellerRegistry, 'only'>): OnlySeller => {
  const sellerId = sellers.only()
  return sellerId === null ? { kind: 'several' } : { kind: 'one', sellerId }
}

/** One for the process. */
export const createServing = ({ database, sellers, patienceMs = servedForMs }: ServingParts): Serving => {
  // Since when it has been said without a gap, and when it was said last, by the database's clock. What others said before that may have ended.
  let said: { readonly since: Date; readonly at: Date } | null = null

  return {
    begin: async (by, marks = sellers.ids().map(sellers.configured), alongside) => {
      const at = await recordSellers(database, marks, by, alongside)
      said = { since: at, at }
    },
    say: async () => {
      const { at, removed } = await saySellersServed(database, sellers.ids())
      // After a gap the others may have had one too, and have not come back yet.
      const gone = said === null || at.getTime() - said.at.getTime() > patienceMs
      said = { since: gone || said === null ? at : said.since, at }
      return removed
    },
    only: async (sql) => {
      const here = onlyHere(sellers)
      if (here.kind !== 'one' || said === null) return here
      const { since, at } = said
      const others = await readOtherSellers(sql, here.sellerId, since)
      if (others.served) return { kind: 'several' }
      const listened = others.at.getTime() - since.getTime() > patienceMs && others.at.getTime() - at.getTime() <= patienceMs
      if (listened || !others.mayReturn) return here
      const reason = `it names no seller, and another one than ${here.sellerId} was served here before: whether it still is will be known within two minutes`
      return { kind: 'unsure', reason }
    },
  }
}
