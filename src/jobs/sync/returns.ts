import { parseReturn } from '../../clients/client.ts'
import type { ReturnOrder } from '../../domain/return.ts'
import { findDifferingReturns, storeDifferingReturns, storedReturnMoments } from '../../store/returns.ts'
import {
  backfillPrefix,
  clampAsked,
  longestReachDays,
  planByLastChange,
  planReread,
  rereadStream,
  type StreamContext,
  type SyncDefinition,
  type SyncStream,
  type Witness,
  witnessesAt,
} from './definition.ts'

// Stored returns, asked for by their creation.
const witnesses = async ({ client, database }: StreamContext): Promise<readonly Witness[]> =>
  witnessesAt(await storedReturnMoments(database, client.sellerId), ({ from, to }, options) =>
    client.returns.list({ createdFrom: from, createdTo: to, limit: 1 }, options),
  )

/** Returns by last change. Their retention is not published (public facts 2.4), so nothing older is ruled out but by the first look-back. */
const changed: SyncStream<ReturnOrder> = {
  counted: true,
  checksCount: true,
  followsWatermark: true,
  narrows: true,
  witnesses,
  plan: planByLastChange,
  clamp: (_context, window) => window,
  first: ({ client, settings }, window, options) =>
    client.returns.list({ lastModifiedFrom: window.from, lastModifiedTo: window.to, limit: settings.pageSize }, options),
  next: ({ client }, _window, cursor, options) => client.returns.continue(cursor, options),
}

/** Returns by creation, for a range that someone asked for. */
const backfill: SyncStream<ReturnOrder> = {
  counted: true,
  checksCount: true,
  followsWatermark: false,
  narrows: true,
  witnesses,
  retriedBy: rereadStream,
  createdFrom: (_context, { from }) => from,
  plan: () => [],
  clamp: (context, window) => clampAsked(window, context, longestReachDays),
  first: ({ client, settings }, window, options) =>
    client.returns.list({ createdFrom: window.from, createdTo: window.to, limit: settings.pageSize }, options),
  next: ({ client }, _window, cursor, options) => client.returns.continue(cursor, options),
}

/** What was created lately, whatever its last change says. */
const reread: SyncStream<ReturnOrder> = {
  ...backfill,
  seldom: true,
  complete: 'resource',
  plan: (context) => planReread(context, [null]),
}

const streams: ReadonlyMap<string, SyncStream<ReturnOrder>> = new Map([
  ['changed', changed],
  [rereadStream, reread],
])

/** Returns: by last change, always with both ends of the window (public facts 4.1). */
export const returnsSync: SyncDefinition<ReturnOrder> = {
  resource: 'returns',
  streams: [...streams.keys()],
  stream: (name) => (name.startsWith(backfillPrefix) ? backfill : (streams.get(name) ?? null)),
  backfillParts: [null],
  parse: (rawText) => parseReturn(rawText),
  find: findDifferingReturns,
  store: async (tx, sellerId, observedAt, records) => (await storeDifferingReturns(tx, sellerId, observedAt, records)).changed,
  noteMissing: async () => 0,
}
