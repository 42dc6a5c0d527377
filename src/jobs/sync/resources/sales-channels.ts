import { salesChannelsEndpoint } from '../../../clients/marketplace/sales-channels.ts'
import type { SalesChannel } from '../../../domain/campaigns/sales-channel.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { salesChannelStore } from '../../../store/campaigns/sales-channels.ts'
import { resource } from '../engine/resource.ts'
import { snapshot } from '../engine/streams.ts'
import { NotEnrolled } from '../recovery/errors.ts'

/** All channels: the operation returns them on one page. */
const all = snapshot<SalesChannel>({
  operation: salesChannelsEndpoint.operations.list,
  parts: [null],
  page: async ({ client }, _part, _cursor, options) => {
    const page = await client.of(salesChannelsEndpoint).list(options)
    if (page === null) throw new NotEnrolled('the marketplace has no sales channels for this seller')
    return page
  },
})

/** Sales channels of multichannel fulfilment, for sellers that are enrolled in it. */
export const salesChannels = resource({
  name: 'sales-channels',
  endpoint: salesChannelsEndpoint,
  poll: pollIntervals.salesChannels,
  enrolment: 'needed',
  streams: { all },
  table: salesChannelStore,
})
