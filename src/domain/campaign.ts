import type { DecimalText } from './order.ts'

/** Every state of a campaign (specification, "States and transitions"). */
export const campaignStatuses = [
  'READY',
  'SCHEDULED',
  'RUNNING',
  'LIMITED_BY_BUDGET',
  'BUDGET_EXHAUSTED',
  'CAMPAIGN_ENDING_SOON',
  'COMPLETED',
  'STOPPED',
  'DELETED',
] as const

/** One of {@link campaignStatuses}. */
export type CampaignStatus = (typeof campaignStatuses)[number]

/** A search-engine-marketing campaign (specification, "Campaign (SEM)"). Dates are days as text, `YYYY-MM-DD`. */
export interface Campaign {
  readonly campaignId: string
  readonly name: string | null
  readonly startDate: string | null
  /** Null: open end (`9999-12-30` on the wire, public facts, section 8.4). */
  readonly endDate: string | null
  readonly dailyBudget: DecimalText | null
  readonly totalBudget: DecimalText | null
  readonly targetRoas: DecimalText | null
  /** Open set: an unknown status is kept. */
  readonly status: string
  readonly createdDate: string | null
  readonly raw: unknown
}
