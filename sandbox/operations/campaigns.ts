import type { Operation } from '../calls/operation.ts'
import { blemishRecords } from '../calls/perform.ts'
import { viewCampaign } from '../campaigns/view.ts'
import { contentNotFound } from '../core/errors.ts'
import { perMinute } from '../faults/limits.ts'

/** Search-engine-marketing campaigns (specification, endpoint 3). */
export const operations: readonly Operation[] = [
  {
    name: 'campaigns.get',
    limit: perMinute(10),
    method: 'GET',
    urls: ['/v3/advertising/sem/campaigns/:campaignId'],
    admission: 'marketplace',
    body: 'none',
    writes: false,
    errorShape: 'flat',
    faults: ['malformedRecord', 'unknownValue', 'changedType'],
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
