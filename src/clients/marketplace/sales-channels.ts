import type { SalesChannel } from '../../domain/campaigns/sales-channel.ts'
import { wireSalesChannelPage } from '../contract/sales-channels.ts'
import type { Call } from '../http/call.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { perMinute } from '../http/operation.ts'
import type { Page } from '../http/record.ts'
import { endpoint, type Host } from './endpoint.ts'
import type { ReadEnvelope } from './paging.ts'
import { queryString, readPage } from './paging.ts'
import { parseSalesChannel, salesChannelReader } from './sales-channel-record.ts'

/** Sales channels of one seller in multichannel fulfilment. */
export interface SalesChannelsClient {
  /**
   * All channels on one page; null if the marketplace answers "not found": the seller is not enrolled.
   *
   * @throws MarketplaceFailure, also for a 200 whose `status` is not OK
   */
  list(options: CallOptions): Promise<Page<SalesChannel> | null>
}

/** The limit is not published; this is the limit of a related operation (public facts, section 5.1). */
const operations = {
  list: { name: 'sales-channels.list', limit: perMinute(20), payloadKeys: ['payload'] },
} as const satisfies Operations

const path = '/v3/fulfillment/orders-fulfillments/channel-details'

/** The statuses of complete answers: channels that are missing in a partial list would be read as removed. */
const successStatus = /^(?:OK|NO_CONTENT)$/i

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireSalesChannelPage.safeParse(envelope)
  if (data === undefined || !successStatus.test(data.status ?? 'OK')) return null
  return { totalCount: null, nextCursor: null }
}

/**
 * The channel details of the specification, section 8, for one seller. The header `loggedInUser` has the service name: no person makes the requests, and neither
 * the specification nor the public facts define another value.
 */
const createSalesChannelsClient = ({ caller, connection, onUnknownValue }: Host): SalesChannelsClient => {
  const { sellerId, serviceName, headerPrefix, profile } = connection
  const partnerId = connection.partnerId ?? sellerId
  const { headerSpelling, martIdHeaders, martId, partnerIdParameter } = profile.channelDetails
  const prefix = headerPrefix.toLowerCase()
  const call: Call = {
    operation: operations.list,
    method: 'GET',
    target: path + queryString({ partnerId: partnerIdParameter ? partnerId : undefined }),
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
