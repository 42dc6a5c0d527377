import type { CallOptions } from '../../../clients/http/call-options.ts'
import { type MarketplaceFailure, Throttled } from '../../../clients/http/errors.ts'
import type { Observed } from '../../../clients/http/record.ts'
import { campaignsEndpoint } from '../../../clients/marketplace/campaigns.ts'
import { type Campaign, type CampaignUrgency, campaignUrgencies, findUrgency } from '../../../domain/campaigns/campaign.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { findDifferingCampaigns, storeDifferingCampaigns } from '../../../store/campaigns/campaigns.ts'
import {
  type CampaignProblem,
  listWatchedCampaigns,
  markMissingCampaigns,
  recordCampaignProblems,
  recordReadCampaigns,
  type WatchedCampaign,
} from '../../../store/campaigns/watched-campaigns.ts'
import { resource } from '../engine/resource.ts'
import type { PagedStream, StreamContext } from '../engine/stream.ts'
import { afterKeys, type WalkPage, walk } from '../engine/streams.ts'
import { mayBeAboutRecord } from '../recovery/skip-rules.ts'

/** Campaigns per page: few, since the operation allows ten calls a minute (public facts, section 5.1). */
const campaignsPerPage = 5
/** Watched campaigns that one query returns, of which those of one urgency are used. */
const watchedPerQuery = 1_000

/** Interval of each urgency, as a multiple of the poll interval. An ended campaign never changes its state: it is read once a day at the default of 15 minutes. */
const multiples: Readonly<Record<CampaignUrgency, number>> = { near: 0.2, running: 1, waiting: 4, ended: 96 }

/** The next campaigns of an urgency after an id, and whether there are more. */
const readNext = async (
  { client, database }: StreamContext,
  urgency: CampaignUrgency,
  after: string,
): Promise<{ readonly campaigns: readonly WatchedCampaign[]; readonly more: boolean }> => {
  const today = client.vocabulary.calendar.formatDay(client.clock().now())
  const campaigns: WatchedCampaign[] = []
  for (let from = after; ; ) {
    const watched = await listWatchedCampaigns(database, client.sellerId, from, watchedPerQuery)
    campaigns.push(...watched.filter(({ state }) => findUrgency(state, today) === urgency))
    const last = watched.at(-1)
    if (campaigns.length > campaignsPerPage) return { campaigns: campaigns.slice(0, campaignsPerPage), more: true }
    if (last === undefined || watched.length < watchedPerQuery) return { campaigns, more: false }
    from = last.campaignId
  }
}

/** Result of reading one campaign. */
interface Reading extends WatchedCampaign {
  /** Null: the marketplace does not know it. Undefined: it could not be read. */
  readonly answer: Observed<Campaign> | null | undefined
  readonly failure: MarketplaceFailure | null
}

/** Whether only this campaign is refused; a missing permission or a wrong address concerns all campaigns. */
const refusesCampaign = ({ kind, httpStatus }: MarketplaceFailure): boolean =>
  kind === 'refused' && httpStatus !== null && [200, 400, 410, 422].includes(httpStatus)

// Sequential: without rate budget, concurrent requests would each get a later time. If the rate budget is used up in between, the campaigns read so far are
// stored. A campaign that cannot be read does not block the next ones.
const readEach = async (
  { client }: StreamContext,
  campaigns: readonly WatchedCampaign[],
  options: CallOptions,
): Promise<{ readonly readings: readonly Reading[]; readonly resumeAt?: Date }> => {
  const readings: Reading[] = []
  for (const campaign of campaigns) {
    try {
      readings.push({
        ...campaign,
        answer: await client.of(campaignsEndpoint).get(campaign.campaignId, options),
        failure: null,
      })
    } catch (error) {
      if (mayBeAboutRecord(error, options)) readings.push({ ...campaign, answer: undefined, failure: error })
      else if (readings.length > 0 && error instanceof Throttled) return { readings, resumeAt: error.retryAt }
      else throw error
    }
  }
  return { readings }
}

const readStep = async (
  context: StreamContext,
  urgency: CampaignUrgency,
  after: string,
  options: CallOptions,
): Promise<WalkPage<Campaign>> => {
  const { client } = context
  const { sellerId } = client
  const { campaigns, more } = await readNext(context, urgency, after)
  const { readings, ...rest } = await readEach(context, campaigns, options)
  const answers = readings.flatMap(({ answer }) => (answer === undefined || answer === null ? [] : [answer]))
  const failures = readings.flatMap(({ failure }) => (failure === null || refusesCampaign(failure) ? [] : [failure]))
  // If not even the first campaigns could be read, the failure is not about single campaigns. On later pages it may be, and must not stop the run.
  const [failure] = failures
  if (after === '' && failure !== undefined && failures.length === readings.length) throw failure

  const problems = readings.flatMap(({ campaignId, failure: reason, problem }): CampaignProblem[] => {
    if (reason === null) return []
    const refused = refusesCampaign(reason)
    return refused && reason.message === problem ? [] : [{ campaignId, problem: reason.message, refused }]
  })
  const recovered = readings.flatMap(({ campaignId, answer, state, problem }) =>
    answer !== undefined && answer !== null && (problem !== null || state?.missing === true) ? [campaignId] : [],
  )
  return {
    answers,
    records: answers.map((answer) => answer.record),
    missing: readings.flatMap(({ campaignId, answer, state }) =>
      answer === null && state?.missing !== true ? [campaignId] : [],
    ),
    next: more || readings.length < campaigns.length ? (readings.at(-1)?.campaignId ?? null) : null,
    ...rest,
    ...(problems.length + recovered.length === 0
      ? {}
      : {
          inSameTransaction: async (tx) => {
            await recordReadCampaigns(tx, sellerId, recovered)
            await recordCampaignProblems(tx, sellerId, problems)
          },
        }),
  }
}

/** Reads the watched campaigns of one urgency one by one, in the order of their ids. */
const buildStream = (urgency: CampaignUrgency): PagedStream<Campaign> =>
  walk({
    operation: campaignsEndpoint.operations.get,
    reads: 'watched campaigns of this urgency, by id',
    pace: { times: multiples[urgency], minMs: 0 },
    places: afterKeys,
    step: (context, { after }, options) => readStep(context, urgency, after, options),
  })

/**
 * Watched campaigns: the marketplace has no operation that lists them. Each urgency has a stream, so that the few calls per minute go first to the
 * campaigns near their budget, start or end. A campaign that was never read is most urgent.
 */
export const campaigns = resource({
  name: 'campaigns',
  endpoint: campaignsEndpoint,
  poll: pollIntervals.campaigns,
  streams: Object.fromEntries(campaignUrgencies.map((urgency) => [urgency, buildStream(urgency)])),
  table: {
    findDiffering: findDifferingCampaigns,
    store: storeDifferingCampaigns,
    noteMissing: markMissingCampaigns,
  },
})
