import pg from 'pg'
import { walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { clockedUrl, installClocks } from './clock.ts'
import { type Marketplace, startMarketplace } from './marketplace.ts'

/** Where one history at a time is played: connections with a virtual clock of their own. */
export interface Slot {
  readonly clock: number
  /** What the engine works with; goes by the clock. */
  readonly database: Database
  /** Of the harness; goes by the true time. */
  readonly client: pg.Client
}

/** What histories share: a Postgres, a marketplace and some slots. */
export interface Theatre {
  readonly marketplace: Marketplace
  /** Runs work in a free slot, as soon as there is one. */
  inSlot<Result>(work: (slot: Slot) => Promise<Result>): Promise<Result>
  stop(): Promise<void>
}

/** Opens a theatre with room for so many histories at once. */
export const openTheatre = async (room: number): Promise<Theatre> => {
  const [postgres, marketplace] = await Promise.all([startTestPostgres(), startMarketplace()])
  const url = await postgres.database()
  await installClocks(url)
  const slots = await Promise.all(
    Array.from({ length: room }, async (_, clock): Promise<Slot> => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      return {
        clock,
        client,
        database: openDatabase({ findVocabulary: () => walmartUs.vocabulary, url: clockedUrl(url, clock), connections: 3 }),
      }
    }),
  )
  const free = [...slots]
  const waiting: ((slot: Slot) => void)[] = []
  const take = (): Promise<Slot> => {
    const slot = free.pop()
    return slot === undefined ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve(slot)
  }
  const give = (slot: Slot): void => {
    const next = waiting.shift()
    if (next === undefined) free.push(slot)
    else next(slot)
  }
  return {
    marketplace,
    inSlot: async (work) => {
      const slot = await take()
      try {
        return await work(slot)
      } finally {
        give(slot)
      }
    },
    stop: async () => {
      await Promise.all(slots.flatMap((slot) => [slot.database.close(), slot.client.end()]))
      await Promise.all([postgres.stop(), marketplace.stop()])
    },
  }
}
