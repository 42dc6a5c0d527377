import { momentInText } from '../../clients/marketplace/moments.ts'
import { returnsEndpoint } from '../../clients/marketplace/returns.ts'
import type { ReturnOrder } from '../../domain/return.ts'
import { findDifferingReturns, storeDifferingReturns, storedReturnMoments } from '../../store/returns.ts'
import { resource } from './resource.ts'
import type { PagedStream, StreamContext, Witness } from './stream.ts'
import { followsChanges, range, rereads, witnessesAt } from './streams.ts'

// Stored returns, asked for by their creation.
const witnesses = async ({ client, database }: StreamContext): Promise<readonly Witness[]> =>
  witnessesAt(await storedReturnMoments(database, client.sellerId), ({ from, to }, options) =>
    client.of(returnsEndpoint).list({ createdFrom: from, createdTo: to, limit: 1 }, options),
  )

/**
 * Returns by last change, always with both ends of the window (public facts 4.1). Their retention is not published (public facts 2.4), so
 * nothing older is ruled out but by the first look-back.
 */
const changed: PagedStream<ReturnOrder> = followsChanges({
  operation: returnsEndpoint.operations.list,
  reachDays: null,
  across: null,
  createdFrom: null,
  witnesses,
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
  witnesses,
  list: ({ client, settings }, window, options) =>
    client.of(returnsEndpoint).list({ createdFrom: window.from, createdTo: window.to, limit: settings.pageSize }, options),
  next: ({ client }, cursor, options) => client.of(returnsEndpoint).continue(cursor, options),
})

/** Returns, by last change and by creation. */
export const returns = resource({
  name: 'returns',
  endpoint: returnsEndpoint,
  poll: { variable: 'POLL_RETURNS', ordinaryMs: 900_000, demonstrationMs: 30_000 },
  streams: { changed, reread: rereads(byCreation) },
  past: byCreation,
  createdAt: (rawText) => momentInText(rawText, 'returnOrderDate'),
  table: {
    findDiffering: findDifferingReturns,
    store: storeDifferingReturns,
  },
})
