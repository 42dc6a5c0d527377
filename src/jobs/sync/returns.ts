import { parseReturn } from '../../clients/client.ts'
import type { ReturnOrder } from '../../domain/return.ts'
import { findDifferingReturns, storeDifferingReturns } from '../../store/returns.ts'
import { backfillPrefix, planByLastChange, type SyncDefinition, type SyncStream } from './definition.ts'

/** Returns by last change. Their retention is not published (public facts 2.4), so nothing older is ruled out but by the first look-back. */
const changed: SyncStream<ReturnOrder> = {
  counted: true,
  checksCount: true,
  followsWatermark: true,
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
  plan: () => [],
  clamp: (_context, window) => window,
  first: ({ client, settings }, window, options) =>
    client.returns.list({ createdFrom: window.from, createdTo: window.to, limit: settings.pageSize }, options),
  next: ({ client }, _window, cursor, options) => client.returns.continue(cursor, options),
}

/** Returns: by last change, always with both ends of the window (public facts 4.1). */
export const returnsSync: SyncDefinition<ReturnOrder> = {
  resource: 'returns',
  streams: ['changed'],
  stream: (name) => (name.startsWith(backfillPrefix) ? backfill : name === 'changed' ? changed : null),
  backfillParts: [null],
  parse: (rawText) => parseReturn(rawText),
  find: findDifferingReturns,
  store: async (tx, sellerId, observedAt, records) => (await storeDifferingReturns(tx, sellerId, observedAt, records)).changed,
  noteMissing: async () => 0,
}
