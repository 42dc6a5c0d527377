import { returnsEndpoint } from '../../../clients/marketplace/returns.ts'
import { findTimestamp } from '../../../clients/marketplace/timestamps.ts'
import type { ReturnOrder } from '../../../domain/orders/return.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { findDifferingReturns, sampleReturnTimes, storeDifferingReturns } from '../../../store/orders/returns.ts'
import { resource } from '../engine/resource.ts'
import type { ControlRecord, PagedStream, StreamContext } from '../engine/stream.ts'
import { controlRecordsAt, followsChanges, range, rereads } from '../engine/streams.ts'

// Stored returns, requested by their creation time.
const controlRecords = async ({ client, database }: StreamContext): Promise<readonly ControlRecord[]> =>
  controlRecordsAt(await sampleReturnTimes(database, client.sellerId), ({ from, to }, options) =>
    client.of(returnsEndpoint).list({ createdFrom: from, createdTo: to, limit: 1 }, options),
  )

/**
 * Returns by last change, always with both ends of the window (public facts 4.1). Their retention is not published (public facts 2.4), so only the first
 * look-back limits their age.
 */
const changed: PagedStream<ReturnOrder> = followsChanges({
  operation: returnsEndpoint.operations.list,
  reachDays: null,
  across: null,
  createdFrom: null,
  controlRecords,
  list: ({ client, settings }, window, options) =>
    client
      .of(returnsEndpoint)
      .list({ lastModifiedFrom: window.from, lastModifiedTo: window.to, limit: settings.pageSize }, options),
  next: ({ client }, cursor, options) => client.of(returnsEndpoint).continue(cursor, options),
})

const byCreation = range<ReturnOrder>({
  operation: returnsEndpoint.operations.list,
  parts: [null],
  reachDays: null,
  across: null,
  controlRecords,
  list: ({ client, settings }, window, options) =>
    client.of(returnsEndpoint).list({ createdFrom: window.from, createdTo: window.to, limit: settings.pageSize }, options),
  next: ({ client }, cursor, options) => client.of(returnsEndpoint).continue(cursor, options),
})

/** Returns, by last change and by creation. */
export const returns = resource({
  name: 'returns',
  endpoint: returnsEndpoint,
  poll: pollIntervals.returns,
  streams: { changed, reread: rereads(byCreation) },
  backfill: byCreation,
  createdAt: (rawText) => findTimestamp(rawText, 'returnOrderDate'),
  table: {
    findDiffering: findDifferingReturns,
    store: storeDifferingReturns,
  },
})
