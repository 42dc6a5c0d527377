import type { Campaign } from '../../domain/campaign.ts'
import type { CallOptions } from '../call-options.ts'
import type { Call } from '../caller.ts'
import type { Operations } from '../endpoint.ts'
import { Refused } from '../errors.ts'
import { perMinute } from '../operation.ts'
import type { Observed, ParsedRecord } from '../record.ts'
import { readRecord } from '../record.ts'
import { campaignReader, parseCampaign } from './campaign-record.ts'
import { endpoint, type Host } from './endpoint.ts'

/** Search-engine-marketing campaigns of one seller. */
export interface CampaignsClient {
  /**
   * One campaign, or null when the marketplace has none by that id. A record that does not parse comes as `ok: false`.
   *
   * @throws MarketplaceFailure
   */
  get(campaignId: string, options: CallOptions): Promise<Observed<Campaign> | null>
}

/** Limit: public facts, section 5.1. */
const operations = {
  get: { name: 'campaigns.get', limit: perMinute(10), payloadKeys: ['campaignId'] },
} as const satisfies Operations

const path = '/v3/advertising/sem/campaigns/'

/** No such address at all: other 404s in the marketplace's own words speak of the campaign. */
const noSuchAddress = /^URI_NOT_FOUND/i

/** Codes of a 404 for a campaign are not published (public facts, section 8.4: only the status is). */
const knowsNoSuchCampaign = (error: unknown): boolean => {
  if (!(error instanceof Refused) || error.httpStatus !== 404) return false
  return error.faults.every(({ code }) => !noSuchAddress.test(code ?? ''))
}

/** The campaign operation of the specification, section 3, for one seller. */
const createCampaignsClient = ({ caller, onUnknownValue }: Host): CampaignsClient => {
  return {
    async get(campaignId, options) {
      // A path of dots would be another path, and no campaign has such an id.
      if (/^\.{0,2}$/.test(campaignId)) return null
      const call: Call = {
        operation: operations.get,
        method: 'GET',
        target: path + encodeURIComponent(campaignId),
        body: null,
        recordsAt: [],
        answerIsRecord: true,
      }
      const answer = await caller.call(call, options).catch((error: unknown) => {
        if (knowsNoSuchCampaign(error)) return null
        throw error
      })
      if (answer === null || !answer.found) return null
      const [record] = answer.records
      if (record === undefined) throw caller.misfit(call, answer)
      const parsed = readRecord(campaignReader, record, onUnknownValue)
      if (parsed.key !== null && parsed.key !== campaignId) throw caller.misfit(call, answer)
      // Whatever came, it was the answer on this campaign.
      const kept: ParsedRecord<Campaign> = parsed.ok ? parsed : { ...parsed, key: campaignId }
      return {
        record: kept,
        observedAt: caller.clock.at(answer.sentMs),
        correlationId: answer.correlationId,
        httpStatus: answer.httpStatus,
      }
    },
  }
}

/** Search-engine-marketing campaigns (specification, section 3). */
export const campaignsEndpoint = endpoint({ host: 'marketplace', operations, read: parseCampaign, create: createCampaignsClient })
