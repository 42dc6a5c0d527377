import type { SqlRunner } from '../db/database.ts'
import { buildPage, isOrAny, isWithin, type ListPage, type Period } from '../db/page.ts'
import { type SellerFilter, sellerCondition } from '../sellers/seller-filter.ts'
import type { SyncKey } from './sync-states.ts'

/** A run of a stream, or several in a row that changed nothing. */
export interface RecordedRun extends SyncKey {
  readonly id: bigint
  readonly windowFrom: Date | null
  readonly windowTo: Date | null
  readonly pages: number
  readonly seen: number
  readonly changed: number
  readonly quarantined: number
  readonly startedAt: Date
  readonly finishedAt: Date
  readonly error: string | null
  /** The number of runs. */
  readonly runs: number
}

/** Which runs to list; null: any. */
export interface RunFilter {
  readonly resource: string
  readonly sellerId: SellerFilter
  readonly stream: string | null
  readonly failed: boolean | null
  readonly started: Period
}

/** Runs of a resource, newest first, before this id. */
export const listSyncRuns = async (
  { prisma }: SqlRunner,
  { resource, sellerId, stream, failed, started }: RunFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<RecordedRun, bigint>> => {
  const rows = await prisma.syncRun.findMany({
    where: {
      resource,
      sellerId: sellerCondition(sellerId),
      stream: isOrAny(stream),
      ...(failed === null ? {} : { error: failed ? { not: null } : null }),
      startedAt: isWithin(started),
      id: before === null ? {} : { lt: before },
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  })
  return buildPage(rows, limit, ({ id }) => id)
}
