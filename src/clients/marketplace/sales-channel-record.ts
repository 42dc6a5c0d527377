import type { z } from 'zod'
import type { ReturnAddress, SalesChannel } from '../../domain/sales-channel.ts'
import type { WireSalesChannel, wireReturnAddress } from '../contract/sales-channels.ts'
import { wireSalesChannel } from '../contract/sales-channels.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { readAny, textOf } from '../record.ts'
import { momentOf } from './moments.ts'

const addressOf = (wire: z.infer<typeof wireReturnAddress>): ReturnAddress => ({
  line1: textOf(wire.line1),
  line2: textOf(wire.line2),
  line3: textOf(wire.line3),
  city: textOf(wire.city),
  state: textOf(wire.state),
  country: textOf(wire.country),
  zip: textOf(wire.zip),
  addressType: textOf(wire.addressType),
})

const yes = /^(?:y|yes|true)$/i
const no = /^(?:n|no|false)$/i

/** `Y` and, on the live service, `true` are shown (public facts, section 7.4); their opposites are read as no, anything else is unknown. */
const activeOf = (value: WireSalesChannel['active'], onUnknownValue: OnUnknownValue): boolean | null => {
  if (value === undefined || value === null || value === '') return null
  const said = String(value)
  if (yes.test(said)) return true
  if (no.test(said)) return false
  onUnknownValue({ resource: 'sales-channel', field: 'active', value: said })
  return null
}

const channelOf = (
  wire: WireSalesChannel,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): SalesChannel => ({
  orderChannelId: String(wire.orderChannelId),
  orderChannelName: textOf(wire.orderChannelName),
  boxCatalogType: textOf(wire.boxCatalogType),
  shippingMethods: textOf(wire.shippping) ?? textOf(wire.shipping),
  returnAddress: wire.returnAddress === undefined || wire.returnAddress === null ? null : addressOf(wire.returnAddress),
  active: activeOf(wire.active, onUnknownValue),
  partnerId: textOf(wire.sellerId),
  partnerName: textOf(wire.sellerName),
  createdDate: momentOf(wire.createdDate, { resource: 'sales-channel', field: 'createdDate' }, onUnknownValue),
  martId: textOf(wire.martId),
  raw,
})

/** How a sales channel is read. */
export const salesChannelReader: RecordReader<WireSalesChannel, SalesChannel> = {
  resource: 'sales-channel',
  schema: wireSalesChannel,
  keyField: 'orderChannelId',
  toDomain: channelOf,
}

/** Reads one sales channel from its JSON text (exact) or from a parsed value; for replaying records in quarantine. Never throws. */
export const parseSalesChannel = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<SalesChannel> =>
  readAny(salesChannelReader, raw, onUnknownValue)
