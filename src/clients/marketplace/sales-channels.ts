import type { SalesChannel } from '../../domain/sales-channel.ts'
import type { CallOptions } from '../call-options.ts'
import type { Call } from '../caller.ts'
import { wireSalesChannelPage } from '../contract/sales-channels.ts'
import type { Operations } from '../endpoint.ts'
import { perMinute } from '../operation.ts'
import type { Page } from '../record.ts'
import { endpoint, type Host } from './endpoint.ts'
import type { ReadEnvelope } from './paging.ts'
import { queryString, readPage } from './paging.ts'
import { parseSalesChannel, salesChannelReader } from './sales-channel-record.ts'

/** Sales channels of one seller in multichannel fulfilment. */
export interface SalesChannelsClient {
  /**
   * All of them, on one page; null when the marketplace answers that there is nothing of the kind for this seller, who is then not
   * enrolled.
   *
   * @throws MarketplaceFailure, also for an answer of 200 whose `status` is not OK
   */
  list(options: CallOptions): Promise<Page<SalesChannel> | null>
}

/** The limit is not published; this is a neighbour's (public facts, section 5.1). */
const operations = {
  list: { name: 'sales-channels.list', limit: perMinute(20), payloadKeys: ['payload'] },
} as const satisfies Operations

const path = '/v3/fulfillment/orders-fulfillments/channel-details'

/** Only these are success: a partial list, or one that is still being made, would let the channels it lacks look gone. */
const fine = /^(?:OK|NO_CONTENT)$/i

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireSalesChannelPage.safeParse(envelope)
  if (data === undefined || !fine.test(data.status ?? 'OK')) return null
  return { totalCount: null, nextCursor: null }
}

/**
 * The channel details of the specification, section 8, for one seller. The header `loggedInUser` carries the service name: requests are
 * made by this service and by no person, and neither the specification nor the public facts say what else is wanted there.
 */
const createSalesChannelsClient = ({ caller, connection, onUnknownValue }: Host): SalesChannelsClient => {
  const { sellerId, serviceName, headerPrefix, profile } = connection
  const { headerSpelling, martIdHeaders, martId, partnerIdParameter } = profile.channelDetails
  const prefix = headerPrefix.toLowerCase()
  const call: Call = {
    operation: operations.list,
    method: 'GET',
    target: path + queryString({ partnerId: partnerIdParameter ? sellerId : undefined }),
    body: null,
    recordsAt: ['payload'],
    headerSpelling,
    headers: {
      loggedInUser: serviceName,
      ...Object.fromEntries(martIdHeaders.map((name) => [name.replace('{prefix}', prefix), martId])),
    },
  }
  return {
    async list(options) {
      const answer = await caller.call(call, options)
      return answer.found ? await readPage(caller, call, answer, salesChannelReader, readEnvelope, onUnknownValue) : null
    },
  }
}

/** Sales channels (specification, section 8). */
export const salesChannelsEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseSalesChannel,
  create: createSalesChannelsClient,
})
