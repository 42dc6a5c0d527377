import { contentNotFound } from '../core/errors.ts'
import { jsonAmount } from '../core/money.ts'
import { perMinute } from '../faults/limits.ts'
import type { Operation } from '../operations/operation.ts'
import { blemishRecords } from '../operations/perform.ts'
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

/** Search-engine-marketing campaigns (specification, endpoint 3). */
export const campaignOperations: readonly Operation[] = [
  {
    name: 'campaigns.get',
    limit: perMinute(10),
    method: 'GET',
    urls: ['/v3/advertising/sem/campaigns/:campaignId'],
    admission: 'marketplace',
    body: 'none',
    writes: false,
    errorShape: 'flat',
    faults: ['malformedRecord', 'unknownValue'],
    perform(world, { sellerId, params }, plan, now) {
      const campaignId = params['campaignId'] ?? ''
      const campaign = world.campaigns.find(sellerId, campaignId, now)
      // The body of 404 is not shown; this is the shape of newer operations (public facts, section 6.1).
      if (campaign === null)
        throw contentNotFound(`No campaign found for campaignId: ${campaignId}`, 'GMP_ADVERTISING_API', 'flat')
      return { json: blemishRecords([viewCampaign(campaign, world.settings.dialect)], 'campaignId', plan)[0] }
    },
  },
]
