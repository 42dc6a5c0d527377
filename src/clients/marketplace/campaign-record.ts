import { type Campaign, campaignStatuses } from '../../domain/campaigns/campaign.ts'
import type { WireCampaign } from '../contract/campaigns.ts'
import { publishedCampaign, wireCampaign } from '../contract/campaigns.ts'
import { decimalText } from '../http/json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseRecord, RecordFault, toText } from '../http/record.ts'

/** A day from `YYYY-MM-DD`, also before a time; null if it is no calendar day. */
const parseDay = (value: string | null | undefined): string | null => {
  const day = /^\s*(\d{4}-\d{2}-\d{2})(?!\d)/.exec(value ?? '')?.[1]
  if (day === undefined) return null
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day) ? day : null
}

/** 9999-12-30 means no end (public facts, section 8.4). */
const parseEnd = (value: string | null | undefined): string | null => {
  const day = parseDay(value)
  return day?.startsWith('9999') === true ? null : day
}

const parseAmount = (field: string, value: string | number | null | undefined): string | null => {
  if (value === undefined || value === null || value === '') return null
  const amount = decimalText(value)
  if (amount === null) throw new RecordFault(`${field}: not a decimal number`)
  return amount
}

const parseStatus = (wire: WireCampaign, onUnknownValue: OnUnknownValue): string => {
  const listed = campaignStatuses.find((status) => status === wire.status.toUpperCase())
  if (listed === undefined) onUnknownValue({ resource: 'campaign', field: 'status', value: wire.status })
  return listed ?? wire.status
}

const parseCampaignFields = (
  wire: WireCampaign,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): Campaign => ({
  campaignId: String(wire.campaignId),
  name: toText(wire.name),
  startDate: parseDay(wire.startDate),
  endDate: parseEnd(wire.endDate),
  dailyBudget: parseAmount('dailyBudget', wire.dailyBudget),
  totalBudget: parseAmount('totalBudget', wire.totalBudget),
  targetRoas: parseAmount('targetRoas', wire.targetRoas),
  status: parseStatus(wire, onUnknownValue),
  createdDate: parseDay(wire.createdDate),
  raw,
})

/** Parses a campaign. */
export const campaignReader: RecordReader<WireCampaign, Campaign> = {
  resource: 'campaign',
  schema: wireCampaign,
  published: publishedCampaign,
  keyField: 'campaignId',
  toDomain: parseCampaignFields,
}

/** Parses one campaign from its JSON text (exact) or from a parsed value; for records in quarantine. Never throws. */
export const parseCampaign = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<Campaign> =>
  parseRecord(campaignReader, raw, onUnknownValue)
