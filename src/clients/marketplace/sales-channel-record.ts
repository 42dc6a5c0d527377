import type { z } from 'zod'
import type { ReturnAddress, SalesChannel } from '../../domain/campaigns/sales-channel.ts'
import type { WireSalesChannel, wireReturnAddress } from '../contract/sales-channels.ts'
import { publishedSalesChannel, wireSalesChannel } from '../contract/sales-channels.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseRecord, toText } from '../http/record.ts'
import { parseTimestamp } from './timestamps.ts'

const buildAddress = (wire: z.infer<typeof wireReturnAddress>): ReturnAddress => ({
  line1: toText(wire.line1),
  line2: toText(wire.line2),
  line3: toText(wire.line3),
  city: toText(wire.city),
  state: toText(wire.state),
  country: toText(wire.country),
  zip: toText(wire.zip),
  addressType: toText(wire.addressType),
})

const yes = /^(?:y|yes|true)$/i
const no = /^(?:n|no|false)$/i

/** `Y` and, on the live service, `true` are documented (public facts, section 7.4). Their opposites mean no; any other value is unknown. */
const parseActive = (value: WireSalesChannel['active'], onUnknownValue: OnUnknownValue): boolean | null => {
  if (value === undefined || value === null || value === '') return null
  const text = String(value)
  if (yes.test(text)) return true
  if (no.test(text)) return false
  onUnknownValue({ resource: 'sales-channel', field: 'active', value: text })
  return null
}

const parseChannel = (
  wire: WireSalesChannel,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): SalesChannel => ({
  orderChannelId: String(wire.orderChannelId),
  orderChannelName: toText(wire.orderChannelName),
  boxCatalogType: toText(wire.boxCatalogType),
  shippingMethods: toText(wire.shippping) ?? toText(wire.shipping),
  returnAddress: wire.returnAddress === undefined || wire.returnAddress === null ? null : buildAddress(wire.returnAddress),
  active: parseActive(wire.active, onUnknownValue),
  partnerId: toText(wire.sellerId),
  partnerName: toText(wire.sellerName),
  createdDate: parseTimestamp(wire.createdDate, { resource: 'sales-channel', field: 'createdDate' }, onUnknownValue),
  martId: toText(wire.martId),
  raw,
})

/** Parses a sales channel. */
export const salesChannelReader: RecordReader<WireSalesChannel, SalesChannel> = {
  resource: 'sales-channel',
  schema: wireSalesChannel,
  published: publishedSalesChannel,
  keyField: 'orderChannelId',
  toDomain: parseChannel,
}

/** Parses one sales channel from its JSON text (exact) or from a parsed value; for records in quarantine. Never throws. */
export const parseSalesChannel = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<SalesChannel> =>
  parseRecord(salesChannelReader, raw, onUnknownValue)
