import { parseReturn } from '../../clients/client.ts'
import type { ReturnOrder } from '../../domain/return.ts'
import { findDifferingReturns, storeDifferingReturns } from '../../store/returns.ts'
import { backfillPrefix, planByLastChange, planReread, rereadStream, type SyncDefinition, type SyncStream } from './definition.ts'

/** Returns by last change. Their retention is not published (public facts 2.4), so nothing older is ruled out but by the first look-back. */
const changed: SyncStream<ReturnOrder> = {
  counted: true,
  checksCount: true,
  followsWatermark: true,
  narrows: true,
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
  retriedBy: rereadStream,
  plan: () => [],
  clamp: (_context, window) => window,
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
