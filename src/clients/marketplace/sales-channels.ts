import type { Call, Caller } from '../caller.ts'
import { wireSalesChannelPage } from '../contract/sales-channels.ts'
import type { SalesChannelsClient, SellerConnection } from '../interface.ts'
import type { ReadEnvelope } from './paging.ts'
import { queryString, readPage } from './paging.ts'
import type { OnUnknownValue } from './record.ts'
import { salesChannelReader } from './sales-channel-record.ts'

const PATH = '/v3/fulfillment/orders-fulfillments/channel-details'

/** Only these are success: a partial list, or one that is still being made, would let the channels it lacks look gone. */
const FINE = /^(?:OK|NO_CONTENT)$/i

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireSalesChannelPage.safeParse(envelope)
  if (data === undefined || !FINE.test(data.status ?? 'OK')) return null
  return { totalCount: null, nextCursor: null }
}

/**
 * The channel details of the specification, section 8, for one seller. The header `loggedInUser` carries the service name: requests are
 * made by this service and by no person, and neither the specification nor the public facts say what else is wanted there.
 */
export function createSalesChannelsClient(
  caller: Caller,
  { sellerId, serviceName, headerPrefix, profile }: SellerConnection,
  onUnknownValue: OnUnknownValue,
): SalesChannelsClient {
  const { headerSpelling, martIdHeaders, martId, partnerIdParameter } = profile.channelDetails
  const prefix = headerPrefix.toLowerCase()
  const call: Call = {
    operation: 'sales-channels.list',
    method: 'GET',
    target: PATH + queryString({ partnerId: partnerIdParameter ? sellerId : undefined }),
    body: null,
    write: false,
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
