import { z } from 'zod'
import type { Call, Operation } from '../calls/operation.ts'
import { blemishRecords } from '../calls/perform.ts'
import { missingHeader } from '../core/errors.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { listFaults } from '../faults/schema.ts'
import { findHeader } from '../http/headers.ts'
import type { World } from '../world.ts'
import { requireEnrolment } from './enrolment.ts'
import { required } from './parameters.ts'

/** MCS sales channel details (specification, section 8): all channels of the seller at once. */
export const salesChannels: Operation = {
  name: 'sales-channels.list',
  limit: null,
  method: 'GET',
  urls: ['/v3/fulfillment/orders-fulfillments/channel-details'],
  admission: 'marketplace-either-spelling',
  requiredHeaders: () => ['loggedInUser'],
  body: 'none',
  writes: false,
  errorShape: 'flat',
  faults: listFaults,
  perform: (world, call, plan) => ({ json: listChannels(world, call, plan) }),
}

/** Body of `PUT /_sandbox/channels`; what is left out is as at the start. */
export const channelSettings = z.strictObject({
  /** Both spellings are in use (public facts, section 7.4). */
  shippingField: z.enum(['shippping', 'shipping']).default('shippping'),
  /** The seller's channels; omitted fields are generated. */
  items: z
    .array(
      z.strictObject({
        orderChannelId: z.string().min(1),
        orderChannelName: z.string().min(3).max(100).optional(),
        boxCatalogType: z.string().optional(),
        active: z.string().optional(),
      }),
    )
    .optional(),
})
type ChannelSettings = z.infer<typeof channelSettings>
type Channel = NonNullable<ChannelSettings['items']>[number]

export const readChannelSettings = ({ meta }: World, sellerId: string): ChannelSettings =>
  meta.read(`channels:${sellerId}`, channelSettings)

export const keepChannelSettings = ({ meta }: World, sellerId: string, settings: ChannelSettings): void => {
  meta.keep(`channels:${sellerId}`, settings)
}

const ordinaryChannels: readonly Channel[] = [
  { orderChannelId: '10001', orderChannelName: 'Own Web Shop', boxCatalogType: 'typeA', active: 'Y' },
  { orderChannelId: '10002', orderChannelName: 'Auction House', boxCatalogType: 'multichannel', active: 'Y' },
  { orderChannelId: '10003', orderChannelName: 'Pop-up Store', boxCatalogType: 'typeA', active: 'N' },
]

const listChannels = (world: World, call: Call, plan: FaultPlan): unknown => {
  requireMarket(world, call)
  // Required on the live service; the specification shows no query parameters (public facts, section 7.4).
  if (world.settings.dialect.fulfillment.channelsOfPartner) required(call.query, 'partnerId')
  requireEnrolment(world, call.sellerId, 'multichannel')
  const { shippingField, items = ordinaryChannels } = readChannelSettings(world, call.sellerId)
  const channels = items.map((channel) => buildView(world, call.sellerId, channel, shippingField))
  return { status: 'OK', header: { headerAttributes: {} }, errors: [], payload: blemishRecords(channels, 'orderChannelId', plan) }
}

/** `martId` and `xxmartid`; on the live service `wm_mart_id` alone will do as well (public facts, section 7.4). */
const requireMarket = ({ settings }: World, { headers }: Call): void => {
  const { fulfillment, headerPrefix } = settings.dialect
  const prefix = headerPrefix.toLowerCase()
  if (fulfillment.channelsOfPartner && findHeader(headers, `${prefix}_mart_id`) !== null) return
  for (const name of ['martId', `${prefix}martid`]) {
    if (findHeader(headers, name) === null) throw missingHeader(name)
  }
}

const buildView = ({ settings }: World, sellerId: string, channel: Channel, shippingField: string): Record<string, unknown> => {
  const live = settings.dialect.fulfillment.liveFields
  return {
    orderChannelId: channel.orderChannelId,
    orderChannelName: channel.orderChannelName ?? `Channel ${channel.orderChannelId}`,
    boxCatalogType: channel.boxCatalogType ?? 'typeA',
    [shippingField]: 'Standard (3 to 5 business days), Expedited (2 business days)',
    returnAddress: {
      ...(live ? { firstName: 'Returns' } : {}),
      line1: '12 Dock Road',
      line2: 'Gate 4',
      line3: '',
      city: 'Dayton',
      state: 'OH',
      country: 'USA',
      zip: '45402',
      addressType: 'OFFICE',
    },
    active: channel.active ?? 'Y',
    sellerId,
    sellerName: `Seller ${sellerId}`,
    createdDate: '2025-03-04T09:12:33.000-08:00',
    ...(live ? { modifiedDate: '2025-09-01T10:00:00.000-07:00', partialFulfillment: false, rapResponse: {} } : {}),
    martId: '202',
  }
}
