import { type Database, toInteger, toText } from '../core/database.ts'
import { live } from './life.ts'
import type { Campaign } from './model.ts'

/** The campaigns of all sellers; who reads one sees it as it is by now. */
export interface CampaignStore {
  find(sellerId: string, campaignId: string, now: number): Campaign | null
  /** By id. */
  list(now: number): Campaign[]
  put(campaign: Campaign): void
  total(): number
}

export const createCampaignStore = (database: Database): CampaignStore => {
  const put = (campaign: Campaign): void => {
    database.run(
      `INSERT INTO campaigns (seller_id, campaign_id, document) VALUES (?, ?, ?)
       ON CONFLICT (seller_id, campaign_id) DO UPDATE SET document = excluded.document`,
      campaign.sellerId,
      campaign.campaignId,
      JSON.stringify(campaign),
    )
  }
  const read = (document: string, now: number): Campaign => {
    const campaign: Campaign = JSON.parse(document)
    const before = campaign.livedTo
    live(campaign, now)
    if (campaign.livedTo !== before) put(campaign)
    return campaign
  }
  return {
    find(sellerId, campaignId, now) {
      const row = database.get('SELECT document FROM campaigns WHERE seller_id = ? AND campaign_id = ?', sellerId, campaignId)
      return row === undefined ? null : read(toText(row, 'document'), now)
    },
    list: (now) =>
      database
        .all('SELECT document FROM campaigns ORDER BY campaign_id, seller_id')
        .map((row) => read(toText(row, 'document'), now)),
    put,
    total() {
      const row = database.get('SELECT count(*) AS total FROM campaigns')
      return row === undefined ? 0 : toInteger(row, 'total')
    },
  }
}
