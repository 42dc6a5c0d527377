import type { CallOptions } from '../../clients/call-options.ts'
import { type MarketplaceFailure, Throttled } from '../../clients/errors.ts'
import { campaignsEndpoint } from '../../clients/marketplace/campaigns.ts'
import type { Observed } from '../../clients/record.ts'
import { type Campaign, type CampaignUrgency, campaignUrgencies, urgencyOf } from '../../domain/campaign.ts'
import { findDifferingCampaigns, storeDifferingCampaigns } from '../../store/campaigns.ts'
import {
  type CampaignProblem,
  noteCampaignProblems,
  noteMissingCampaigns,
  noteReadCampaigns,
  type WatchedCampaign,
  watchedCampaignsAfter,
} from '../../store/watched-campaigns.ts'
import { mayBeOfOne } from './passing-over.ts'
import { resource } from './resource.ts'
import type { PagedStream, StreamContext } from './stream.ts'
import { behindKeys, type WalkPage, walk } from './streams.ts'

/** Campaigns that one page reads: few, since the operation allows ten calls a minute (public facts, section 5.1). */
const step = 5
/** Watched campaigns that are looked through at a time for those of one urgency. */
const lookThrough = 1_000

/** How often each urgency is looked at, as a multiple of the poll interval. Terminal states are never left: a check a day at the usual 15 minutes. */
const multiples: Readonly<Record<CampaignUrgency, number>> = { near: 0.2, running: 1, waiting: 4, ended: 96 }

/** The next campaigns of an urgency after this id, and where to go on looking; null: at the end. */
const nextOf = async (
  { client, database }: StreamContext,
  urgency: CampaignUrgency,
  after: string,
): Promise<{ readonly campaigns: readonly WatchedCampaign[]; readonly more: boolean }> => {
  const today = client.vocabulary.calendar.dayOf(client.clock().now())
  const campaigns: WatchedCampaign[] = []
  for (let from = after; ; ) {
    const watched = await watchedCampaignsAfter(database, client.sellerId, from, lookThrough)
    campaigns.push(...watched.filter(({ state }) => urgencyOf(state, today) === urgency))
    const last = watched.at(-1)
    if (campaigns.length > step) return { campaigns: campaigns.slice(0, step), more: true }
    if (last === undefined || watched.length < lookThrough) return { campaigns, more: false }
    from = last.campaignId
  }
}

/** What became of one campaign. */
interface Reading extends WatchedCampaign {
  /** Null: the marketplace does not know it. Undefined: it could not be read. */
  readonly answer: Observed<Campaign> | null | undefined
  readonly failure: MarketplaceFailure | null
}

/** A refusal of this one campaign; no permission, or no such address, would be one of all campaigns. */
const refusesCampaign = ({ kind, httpStatus }: MarketplaceFailure): boolean =>
  kind === 'refused' && httpStatus !== null && [200, 400, 410, 422].includes(httpStatus)

// One after another: several requests at once without budget would each be given a later time. When the budget ends in between,
// what came before counts. A campaign that cannot be read does not block the next ones.
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
      if (mayBeOfOne(error, options)) readings.push({ ...campaign, answer: undefined, failure: error })
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
  const { campaigns, more } = await nextOf(context, urgency, after)
  const { readings, ...rest } = await readEach(context, campaigns, options)
  const answers = readings.flatMap(({ answer }) => (answer === undefined || answer === null ? [] : [answer]))
  const failures = readings.flatMap(({ failure }) => (failure === null || refusesCampaign(failure) ? [] : [failure]))
  // Not even the first ones could be read: that is not about some campaign. Later it may be, and must not keep the run from its end.
  const [failure] = failures
  if (after === '' && failure !== undefined && failures.length === readings.length) throw failure

  const problems = readings.flatMap(({ campaignId, failure: reason, problem }): CampaignProblem[] => {
    if (reason === null) return []
    const refused = refusesCampaign(reason)
    return refused && reason.message === problem ? [] : [{ campaignId, problem: reason.message, refused }]
  })
  const readAgain = readings.flatMap(({ campaignId, answer, state, problem }) =>
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
    ...(problems.length + readAgain.length === 0
      ? {}
      : {
          alongside: async (tx) => {
            await noteReadCampaigns(tx, sellerId, readAgain)
            await noteCampaignProblems(tx, sellerId, problems)
          },
        }),
  }
}

/** Watched campaigns of one urgency, one by one, in the order of their ids. */
const streamOf = (urgency: CampaignUrgency): PagedStream<Campaign> =>
  walk({
    operation: campaignsEndpoint.operations.get,
    reads: 'watched campaigns of this urgency, by id',
    pace: { times: multiples[urgency], leastMs: 0 },
    places: behindKeys,
    step: (context, { after }, options) => readStep(context, urgency, after, options),
  })

/**
 * Campaigns that are watched: the marketplace has no operation that lists them. One stream for each urgency, so that the few calls a
 * minute go first to those that are near their budget, start or end. A campaign that was never read belongs to the most urgent.
 */
export const campaigns = resource({
  name: 'campaigns',
  endpoint: campaignsEndpoint,
  poll: { variable: 'POLL_CAMPAIGNS', ordinaryMs: 900_000, demonstrationMs: 60_000 },
  streams: Object.fromEntries(campaignUrgencies.map((urgency) => [urgency, streamOf(urgency)])),
  table: {
    findDiffering: findDifferingCampaigns,
    store: storeDifferingCampaigns,
    noteMissing: noteMissingCampaigns,
  },
})
