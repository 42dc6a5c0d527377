import { parseSalesChannel } from '../../clients/client.ts'
import type { SalesChannel } from '../../domain/sales-channel.ts'
import { salesChannelStore } from '../../store/sales-channels.ts'
import { NotEnrolled, type SyncDefinition, type SyncStream, windowNow } from './definition.ts'

/** All channels: the operation gives them on one page. */
const all: SyncStream<SalesChannel> = {
  counted: false,
  checksCount: false,
  followsWatermark: false,
  snapshot: true,
  plan: (context) => [windowNow(context)],
  clamp: (_context, window) => window,
  first: async ({ client }, _window, options) => {
    const page = await client.salesChannels.list(options)
    if (page === null) throw new NotEnrolled('the marketplace has no sales channels for this seller')
    return page
  },
  next: () => Promise.reject(new RangeError('sales channels come on one page')),
}

/** Sales channels of multichannel fulfilment, for sellers that are enrolled in it. */
export const salesChannelsSync: SyncDefinition<SalesChannel> = {
  resource: 'sales-channels',
  streams: ['all'],
  needsEnrolment: true,
  stream: (name) => (name === 'all' ? all : null),
  backfillParts: [],
  parse: (rawText) => parseSalesChannel(rawText),
  find: salesChannelStore.findDiffering,
  store: salesChannelStore.store,
  noteMissing: salesChannelStore.noteMissing,
  findGone: (sql, sellerId, _part, keys) => salesChannelStore.findGone(sql, sellerId, keys),
}
