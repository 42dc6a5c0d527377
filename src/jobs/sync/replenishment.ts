import { parseReplenishment } from '../../clients/client.ts'
import type { CallOptions, Page } from '../../clients/interface.ts'
import type { ReplenishmentRecommendation } from '../../domain/replenishment.ts'
import { inventorySkusAfter } from '../../store/inventory-skus.ts'
import {
  currentlyRecommended,
  endRecommendations,
  findDifferingRecommendations,
  storeDifferingRecommendations,
} from '../../store/replenishment.ts'
import { type FetchedPage, type StreamContext, type SyncDefinition, type SyncStream, windowNow } from './definition.ts'

const nothing = ({ client }: StreamContext): FetchedPage<ReplenishmentRecommendation> => ({
  unasked: true,
  records: [],
  totalCount: null,
  nextCursor: null,
  observedAt: client.clock().now(),
  marketplaceNow: client.clock().now(),
  correlationId: 'none',
})

// Of those that were asked for: what is stored as recommended, but did not come. A record without a key could be any of them.
const withdrawn = async (
  { client, database }: StreamContext,
  skus: readonly string[],
  { records }: Page<ReplenishmentRecommendation>,
): Promise<readonly string[]> => {
  const came = new Set(records.map((record) => record.key))
  return came.has(null)
    ? []
    : currentlyRecommended(
        database,
        client.sellerId,
        skus.filter((sku) => !came.has(sku)),
      )
}

const recommendAfter = async (
  context: StreamContext,
  after: string,
  options: CallOptions,
): Promise<FetchedPage<ReplenishmentRecommendation>> => {
  const { client, database, settings } = context
  const most = Math.min(settings.pageSize, client.replenishment.mostKeys)
  const skus = (await inventorySkusAfter(database, client.sellerId, after, most)).map(({ sku }) => sku)
  if (skus.length === 0) return nothing(context)
  const page = await client.replenishment.recommend({ skus }, options)
  return {
    ...page,
    missing: await withdrawn(context, skus, page),
    nextCursor: skus.length < most ? null : (skus.at(-1) ?? null),
  }
}

/** Every SKU that the marketplace keeps for the seller, in batches, in their order. */
const all: SyncStream<ReplenishmentRecommendation> = {
  counted: false,
  checksCount: false,
  followsWatermark: false,
  plan: (context) => [windowNow(context)],
  clamp: (_context, window) => window,
  first: (context, _window, options) => recommendAfter(context, '', options),
  next: (context, _window, cursor, options) => recommendAfter(context, cursor, options),
}

/** Recommended shipment quantities, for sellers that are enrolled in the fulfilment service. */
export const replenishmentSync: SyncDefinition<ReplenishmentRecommendation> = {
  resource: 'replenishment',
  streams: ['all'],
  needsEnrolment: true,
  stream: (name) => (name === 'all' ? all : null),
  backfillParts: [],
  parse: (rawText) => parseReplenishment(rawText),
  find: findDifferingRecommendations,
  store: storeDifferingRecommendations,
  noteMissing: endRecommendations,
}
