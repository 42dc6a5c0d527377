import { jsonAmount } from '../core/money.ts'
import type { Dialect } from '../settings.ts'
import type { Campaign } from './model.ts'

/** The campaign as it goes over the wire (specification, "Campaign (SEM)"; the strategy from public facts, section 8.4). */
export const viewCampaign = (campaign: Campaign, { profile }: Dialect): Record<string, unknown> => ({
  campaignId: campaign.campaignId,
  name: campaign.name,
  startDate: campaign.startDate,
  endDate: campaign.endDate,
  dailyBudget: jsonAmount(campaign.dailyBudget),
  totalBudget: jsonAmount(campaign.totalBudget),
  targetRoas: campaign.targetRoas,
  ...(profile === 'walmart-us' ? { biddingStrategyType: campaign.biddingStrategyType } : {}),
  status: campaign.status,
  createdDate: campaign.createdDate,
})
