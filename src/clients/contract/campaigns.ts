import { z } from 'zod'
import { campaignStatuses } from '../../domain/campaigns/campaign.ts'
import { identifier, lenient, numberLike, text } from './lenient.ts'
import { describePublished } from './published.ts'

/**
 * A search-engine-marketing campaign on the wire (specification, section 3 and "Campaign (SEM)"). Loose: unknown fields are kept. Its status and its amounts are
 * not lenient: an unexpected value is a fault. Dates are `YYYY-MM-DD`.
 */
export const wireCampaign = z.looseObject({
  campaignId: identifier,
  name: lenient(text),
  startDate: lenient(z.string()),
  endDate: lenient(z.string()),
  dailyBudget: numberLike.nullish(),
  totalBudget: numberLike.nullish(),
  targetRoas: numberLike.nullish(),
  status: z.string().trim().min(1),
  createdDate: lenient(z.string()),
})

/** A campaign on the wire. */
export type WireCampaign = z.infer<typeof wireCampaign>

/** What is published about a campaign (specification; public facts, section 8.4). */
export const publishedCampaign = describePublished(wireCampaign, {
  also: { '': ['biddingStrategyType'] },
  values: {
    biddingStrategyType: ['TARGET_ROAS', 'MAXIMIZE_TRAFFIC'],
    status: campaignStatuses,
  },
})
