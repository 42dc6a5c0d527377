import { intersect } from '../domain/windows.ts'
import type { SyncRunRequest } from '../http/services.ts'
import { reachOfBackfill, requestBackfill, streamsOf } from '../jobs/sync/syncs.ts'
import type { Database } from '../store/database.ts'
import { askEnrolmentAgain } from '../store/enrolments.ts'
import { sellersAtRest } from '../store/sellers.ts'
import { dropCursor } from '../store/sync-states.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'

/**
 * Runs syncs because somebody asks for them now, backfills included; answers what will run. Sellers that are stopped or paused are left out.
 * @throws what Postgres, the queues and `requestBackfill` throw
 */
export const createSyncsNow =
  (database: Database, { sellers }: MarketplacePart, { runtime, resourcesOf }: QueuesPart) =>
  async ({ resource, sellerId: only, stream: wanted, from, to }: SyncRunRequest): Promise<readonly string[]> => {
    const backfill = async (sellerId: string, begin: Date): Promise<readonly string[]> => {
      const now = sellers.client(sellerId).clock().now()
      const range = { from: begin, to: to ?? now }
      // What one seller's marketplace has reached may be still to come for another's.
      if (intersect(range, reachOfBackfill(resource, now)) === null) return []
      return [(await requestBackfill(database, { sellerId, resource, range, now })).stream]
    }
    const ids: string[] = []
    const asked = only === null ? sellers.ids() : [only]
    const resting = await sellersAtRest(database)
    for (const sellerId of asked.filter((id) => !resting.has(id) && resourcesOf(id).includes(resource))) {
      await askEnrolmentAgain(database, sellerId, resource)
      const streams =
        from === null
          ? streamsOf(resource)
              .map(({ stream }) => stream)
              .filter((stream) => wanted === undefined || stream === wanted)
          : await backfill(sellerId, from)
      for (const stream of streams) {
        // Whoever asks may know that its cursor leads nowhere.
        if (from === null) await dropCursor(database, { sellerId, resource, stream })
        await runtime.enqueue('sync.run', { sellerId, resource, stream }, { runNow: true })
        ids.push(`${sellerId}/${resource}/${stream}`)
      }
    }
    return ids
  }
