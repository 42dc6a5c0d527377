import type { SyncRunRequest } from '../../../domain/sync/run-request.ts'
import { intersect } from '../../../domain/sync/windows.ts'
import type { QueueRuntime } from '../../../queues/runtime.ts'
import type { Database } from '../../../store/db/database.ts'
import { readInactiveSellers } from '../../../store/sellers/sellers.ts'
import { expireEnrolment } from '../../../store/sync/enrolments.ts'
import { dropCursor } from '../../../store/sync/sync-states.ts'
import type { SellerRegistry } from '../../sellers/registry.ts'
import { syncJob } from './poll.ts'
import { findBackfillReach, readStreams, requestBackfill } from './syncs.ts'

/** Dependencies of running syncs on request. */
export interface RunNowParts {
  readonly database: Database
  readonly sellers: SellerRegistry
  readonly runtime: QueueRuntime
  /** The resources that a seller has. */
  listResources(sellerId: string): readonly string[]
}

/**
 * Runs syncs on request, backfills included; returns the names of the requested runs. Sellers that are stopped or paused are left out.
 * @throws what Postgres, the queues and `requestBackfill` throw
 */
export const createSyncsNow =
  ({ database, sellers, runtime, listResources }: RunNowParts) =>
  async ({ resource, sellerId: only, stream: wanted, from, to }: SyncRunRequest): Promise<readonly string[]> => {
    const backfill = async (sellerId: string, begin: Date): Promise<readonly string[]> => {
      const now = sellers.client(sellerId).clock().now()
      const range = { from: begin, to: to ?? now }
      // A time may be in the past for one seller's marketplace, and in the future for another's.
      if (intersect(range, findBackfillReach(resource, now)) === null) return []
      return [(await requestBackfill(database, { sellerId, resource, range, now })).stream]
    }
    const ids: string[] = []
    const requested = only === null ? sellers.ids() : [only]
    const inactive = await readInactiveSellers(database)
    for (const sellerId of requested.filter((id) => !inactive.has(id) && listResources(id).includes(resource))) {
      await expireEnrolment(database, sellerId, resource)
      const streams =
        from === null
          ? readStreams(resource)
              .map(({ stream }) => stream)
              .filter((stream) => wanted === undefined || stream === wanted)
          : await backfill(sellerId, from)
      for (const stream of streams) {
        // The caller may know that the stored cursor fails.
        if (from === null) await dropCursor(database, { sellerId, resource, stream })
        await runtime.enqueueMany([{ ...syncJob({ sellerId, resource, stream }), runNow: true }])
        ids.push(`${sellerId}/${resource}/${stream}`)
      }
    }
    return ids
  }
