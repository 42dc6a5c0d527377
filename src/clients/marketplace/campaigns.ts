import type { Campaign } from '../../domain/campaigns/campaign.ts'
import type { Call } from '../http/call.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { Refused } from '../http/errors.ts'
import { perMinute } from '../http/operation.ts'
import type { Observed, ParsedRecord } from '../http/record.ts'
import { readRecord } from '../http/record.ts'
import { campaignReader, parseCampaign } from './campaign-record.ts'
import { endpoint, type Host } from './endpoint.ts'

/** Search-engine-marketing campaigns of one seller. */
export interface CampaignsClient {
  /**
   * One campaign; null if the marketplace has none with this id. An unreadable record is `ok: false`.
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

/** The path is unknown. Other 404s of the marketplace itself concern the campaign. */
const unknownPath = /^URI_NOT_FOUND/i

/** The codes of a 404 for a campaign are not published, only the status (public facts, section 8.4). */
const isNoSuchCampaign = (error: unknown): boolean => {
  if (!(error instanceof Refused) || error.httpStatus !== 404) return false
  return error.faults.every(({ code }) => !unknownPath.test(code ?? ''))
}

/** The campaign operation of the specification, section 3, for one seller. */
const createCampaignsClient = ({ caller, onUnknownValue }: Host): CampaignsClient => {
  return {
    async get(campaignId, options) {
      // Dots would result in another path, and no campaign has such an id.
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
        if (isNoSuchCampaign(error)) return null
        throw error
      })
      if (answer === null || !answer.found) return null
      const [record] = answer.records
      if (record === undefined) throw caller.unexpectedAnswer(call, answer)
      const parsed = readRecord(campaignReader, record, onUnknownValue, caller.compareRecords(call.operation))
      if (parsed.key !== null && parsed.key !== campaignId) throw caller.unexpectedAnswer(call, answer)
      // An unreadable answer also belongs to this campaign.
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
