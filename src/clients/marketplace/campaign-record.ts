import { type Campaign, campaignStatuses } from '../../domain/campaign.ts'
import type { WireCampaign } from '../contract/campaigns.ts'
import { wireCampaign } from '../contract/campaigns.ts'
import { decimalText } from '../json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, readAny, textOf } from '../record.ts'

/** A day out of `YYYY-MM-DD`, also in front of a time; null when it is no day of the calendar. */
const dayOf = (value: string | null | undefined): string | null => {
  const day = /^\s*(\d{4}-\d{2}-\d{2})(?!\d)/.exec(value ?? '')?.[1]
  if (day === undefined) return null
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day) ? day : null
}

/** An open end stands as 9999-12-30 on the wire (public facts, section 8.4). */
const endOf = (value: string | null | undefined): string | null => {
  const day = dayOf(value)
  return day?.startsWith('9999') === true ? null : day
}

const amountOf = (field: string, value: string | number | null | undefined): string | null => {
  if (value === undefined || value === null || value === '') return null
  const amount = decimalText(value)
  if (amount === null) throw new RecordFault(`${field}: not a decimal number`)
  return amount
}

const statusOf = (wire: WireCampaign, onUnknownValue: OnUnknownValue): string => {
  const listed = campaignStatuses.find((status) => status === wire.status.toUpperCase())
  if (listed === undefined) onUnknownValue({ resource: 'campaign', field: 'status', value: wire.status })
  return listed ?? wire.status
}

const campaignOf = (wire: WireCampaign, raw: Readonly<Record<string, unknown>>, onUnknownValue: OnUnknownValue): Campaign => ({
  campaignId: String(wire.campaignId),
  name: textOf(wire.name),
  startDate: dayOf(wire.startDate),
  endDate: endOf(wire.endDate),
  dailyBudget: amountOf('dailyBudget', wire.dailyBudget),
  totalBudget: amountOf('totalBudget', wire.totalBudget),
  targetRoas: amountOf('targetRoas', wire.targetRoas),
  status: statusOf(wire, onUnknownValue),
  createdDate: dayOf(wire.createdDate),
  raw,
})

/** How a campaign is read. */
export const campaignReader: RecordReader<WireCampaign, Campaign> = {
  resource: 'campaign',
  schema: wireCampaign,
  keyField: 'campaignId',
  toDomain: campaignOf,
}

/** Reads one campaign from its JSON text (exact) or from a parsed value; for replaying records in quarantine. Never throws. */
export const parseCampaign = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<Campaign> =>
  readAny(campaignReader, raw, onUnknownValue)
