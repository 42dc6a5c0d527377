import { salesChannelsEndpoint } from '../../clients/marketplace/sales-channels.ts'
import type { SalesChannel } from '../../domain/sales-channel.ts'
import { salesChannelStore } from '../../store/sales-channels.ts'
import { NotEnrolled } from './faults.ts'
import { resource } from './resource.ts'
import { dayMs } from './settings.ts'
import { snapshot } from './streams.ts'

/** All channels: the operation gives them on one page. */
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
  poll: { variable: 'POLL_SALES_CHANNELS', ordinaryMs: dayMs, demonstrationMs: 120_000 },
  enrolment: 'needed',
  streams: { all },
  table: salesChannelStore,
})
