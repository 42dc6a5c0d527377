import { z } from 'zod'
import { findUrgency, maxUrgent, nextStatuses } from '../../domain/campaigns/campaign.ts'
import { type CampaignSummary, findCampaigns, listCampaigns, readStatusChanges } from '../../store/campaigns/campaigns.ts'
import { unwatchCampaign, watchCampaigns } from '../../store/campaigns/watched-campaigns.ts'
import { recordAct } from '../../store/keys/audit.ts'
import { type App, problems } from '../app.ts'
import { type Caller, filterAccessible, mayAccessSeller, resolveActor, resolveSellerFilter } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { buildList, flagSchema, textFilter } from '../schemas/lists.ts'
import { campaignDetailSchema, campaignSchema } from '../schemas/schemas.ts'
import type { RouteParts } from './parts.ts'

const campaigns = buildList('campaigns', campaignSchema, z.object({ sellerId: z.string(), campaignId: z.string() }), {
  sellerId: textFilter('Of this seller.'),
  campaignId: textFilter('With this id.'),
  status: textFilter('In this status of the marketplace.'),
  watched: flagSchema.optional().meta({ description: 'Whether it is watched.' }),
})
const changeLimit = 1_000

const campaignIdSchema = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must not be longer than 200 characters')
  .regex(/^\P{Cc}+$/u, 'must not contain control characters')
  .refine((id) => !/^\.+$/.test(id), 'must not consist of dots only')

/** Watched campaigns with their status and history. */
export const campaignRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services

  const toAnswer = (campaign: CampaignSummary) => {
    const { status, startDate, endDate, missingSince } = campaign
    const missing = missingSince !== null
    const { calendar } = database.findVocabulary(campaign.sellerId)
    const state = status === null && !missing ? null : { status: status ?? '', startDate, endDate, missing }
    return {
      ...campaign,
      nextStatuses: status === null ? [] : nextStatuses(status),
      urgency: findUrgency(state, calendar.formatDay(services.marketplaceNow(campaign.sellerId))),
    }
  }

  /** The campaign with this id that the caller may read. @throws Problem when there is none, or several sellers have one */
  const findCampaign = async (caller: Caller, campaignId: string, sellerId: string | undefined): Promise<CampaignSummary> => {
    const all = (await findCampaigns(database, campaignId)).filter((campaign) => mayAccessSeller(caller, campaign.sellerId))
    const found = all.filter((campaign) => sellerId === undefined || campaign.sellerId === sellerId)
    const [only] = found
    if (only === undefined) throw buildNotFound(campaignId)
    if (found.length > 1) {
      const sellers = found.map((campaign) => campaign.sellerId).join(', ')
      throw new Problem('ambiguous-campaign', { detail: `Name one of the sellers with ?sellerId=: ${sellers}.` })
    }
    return only
  }

  /** The requested seller; without a request the only one. @throws Problem */
  const resolveSeller = (caller: Caller, named: string | undefined): string => {
    const sellers = filterAccessible(caller, services.sellers())
    const [only] = sellers
    const resolved = named ?? (sellers.length === 1 ? only : undefined)
    if (resolved !== undefined && sellers.includes(resolved)) return resolved
    const message =
      named === undefined
        ? 'is required, since there are several sellers'
        : `is ${named}, a seller that this daemon does not serve`
    throw new Problem('invalid-body', { errors: [{ path: 'sellerId', message }] })
  }

  app.route({
    method: 'GET',
    url: '/v1/campaigns',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['campaigns'],
      summary: 'Campaigns, by seller and campaign id',
      querystring: campaigns.querystring,
      response: campaigns.response,
    },
    handler: (request, reply) => {
      const { query } = request
      const filter = {
        sellerId: resolveSellerFilter(request.caller, query.sellerId),
        campaignId: query.campaignId ?? null,
        status: query.status ?? null,
        watched: query.watched ?? null,
      }
      return campaigns.answer(request, reply, async (after, limit) => {
        const page = await listCampaigns(database, filter, after, limit)
        return { items: page.items.map(toAnswer), next: page.next }
      })
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/campaigns/:campaignId',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['campaigns'],
      summary: 'A campaign with every change of its status',
      params: z.object({ campaignId: z.string().min(1).max(1_000) }),
      querystring: z.object({
        sellerId: z.string().optional().meta({ description: 'Required when several sellers have a campaign with this id.' }),
      }),
      response: { 200: campaignDetailSchema, ...problems(404, 409) },
    },
    handler: async ({ params: { campaignId }, query, caller }) => {
      const campaign = await findCampaign(caller, campaignId, query.sellerId)
      return { ...toAnswer(campaign), statusChanges: await readStatusChanges(database, campaign, changeLimit) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/campaigns',
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['campaigns'],
      summary: 'Watch campaigns',
      description:
        'The marketplace has no operation that lists campaigns, so the ids to read are added here. New ones are read immediately.',
      body: z.strictObject({
        sellerId: z.string().min(1).optional().meta({ description: 'Required when the daemon serves several sellers.' }),
        campaignIds: z.array(campaignIdSchema).min(1, 'must name at least one').max(1_000, 'must name at most 1000'),
      }),
      response: {
        202: z.object({
          sellerId: z.string(),
          campaignIds: z.array(z.string()).readonly().meta({ description: 'All given ids, without duplicates.' }),
          added: z.array(z.string()).readonly().meta({ description: 'Ids that were not watched before.' }),
          jobs: z.array(z.string()).readonly().meta({ description: 'Ids of the jobs that will read them.' }),
        }),
        ...problems(413, 415, 422),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const sellerId = resolveSeller(caller, body.sellerId)
      const campaignIds = [...new Set(body.campaignIds)]
      const by = resolveActor(caller, null)
      const added = await database.transaction(async (tx) => {
        const fresh = await watchCampaigns(tx, sellerId, campaignIds, 'operator')
        const details = { added: fresh.length }
        await recordAct(tx, {
          by,
          action: 'campaigns.watched',
          sellerId,
          subject: campaignIds.join(' ').slice(0, 1_000),
          reason: null,
          details,
        })
        return fresh
      })
      // Campaigns that were never read are the most urgent ones.
      const jobs =
        added.length === 0
          ? []
          : await services.syncs.run({ resource: 'campaigns', sellerId, stream: maxUrgent, from: null, to: null })
      reply.status(202)
      return { sellerId, campaignIds, added, jobs }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/campaigns/:campaignId',
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['campaigns'],
      summary: 'Stop watching a campaign; stored data is kept',
      params: z.object({ campaignId: z.string().min(1).max(1_000) }),
      querystring: z.object({
        sellerId: z.string().optional().meta({ description: 'Required when several sellers have a campaign with this id.' }),
      }),
      response: {
        200: z.object({ sellerId: z.string(), campaignId: z.string(), watched: z.literal(false) }),
        ...problems(404, 409),
      },
    },
    handler: async ({ params: { campaignId }, query, caller }) => {
      const { sellerId } = await findCampaign(caller, campaignId, query.sellerId)
      const by = resolveActor(caller, null)
      const removed = await database.transaction(async (tx) => {
        if (!(await unwatchCampaign(tx, sellerId, campaignId, 'operator'))) return false
        await recordAct(tx, { by, action: 'campaign.unwatched', sellerId, subject: campaignId, reason: null })
        return true
      })
      if (!removed) throw new Problem('not-found', { detail: `Campaign ${campaignId} of seller ${sellerId} is not watched.` })
      return { sellerId, campaignId, watched: false as const }
    },
  })
}

const buildNotFound = (campaignId: string): Problem =>
  new Problem('not-found', { detail: `There is no campaign ${campaignId}; use POST /v1/campaigns to watch one.` })
