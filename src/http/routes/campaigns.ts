import { z } from 'zod'
import { mostUrgent, nextStatuses, urgencyOf } from '../../domain/campaign.ts'
import { recordAct } from '../../store/audit.ts'
import { type CampaignSummary, findCampaigns, listCampaigns, readStatusChanges } from '../../store/campaigns.ts'
import { unwatchCampaign, watchCampaigns } from '../../store/watched-campaigns.ts'
import { type App, problems } from '../app.ts'
import { actingAs, type Caller, coveredOf, coversSeller, sellersAsked } from '../caller.ts'
import { flagSchema, listOf, textFilter } from '../lists.ts'
import { Problem } from '../problems.ts'
import { campaignDetailSchema, campaignSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const campaigns = listOf('campaigns', campaignSchema, z.object({ sellerId: z.string(), campaignId: z.string() }), {
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

  const shown = (campaign: CampaignSummary) => {
    const { status, startDate, endDate, missingSince } = campaign
    const missing = missingSince !== null
    const { calendar } = database.vocabularyOf(campaign.sellerId)
    const state = status === null && !missing ? null : { status: status ?? '', startDate, endDate, missing }
    return {
      ...campaign,
      nextStatuses: status === null ? [] : nextStatuses(status),
      urgency: urgencyOf(state, calendar.dayOf(services.marketplaceNow(campaign.sellerId))),
    }
  }

  const find = async (caller: Caller, campaignId: string, sellerId: string | undefined): Promise<CampaignSummary> => {
    const all = (await findCampaigns(database, campaignId)).filter((campaign) => coversSeller(caller, campaign.sellerId))
    const found = all.filter((campaign) => sellerId === undefined || campaign.sellerId === sellerId)
    const [only] = found
    if (only === undefined) throw notFound(campaignId)
    if (found.length > 1) {
      const sellers = found.map((campaign) => campaign.sellerId).join(', ')
      throw new Problem('ambiguous-campaign', { detail: `Name one of the sellers with ?sellerId=: ${sellers}.` })
    }
    return only
  }

  /** The requested seller; optional if there is only one. */
  const sellerOf = (caller: Caller, named: string | undefined): string => {
    const sellers = coveredOf(caller, services.sellers())
    const [only] = sellers
    const meant = named ?? (sellers.length === 1 ? only : undefined)
    if (meant !== undefined && sellers.includes(meant)) return meant
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
        sellerId: sellersAsked(request.caller, query.sellerId),
        campaignId: query.campaignId ?? null,
        status: query.status ?? null,
        watched: query.watched ?? null,
      }
      return campaigns.answer(request, reply, async (after, limit) => {
        const page = await listCampaigns(database, filter, after, limit)
        return { items: page.items.map(shown), next: page.next }
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
      const campaign = await find(caller, campaignId, query.sellerId)
      return { ...shown(campaign), statusChanges: await readStatusChanges(database, campaign, changeLimit) }
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
        'The marketplace has no operation that lists campaigns, so the ids to read are added here. New ones are read at once.',
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
      const sellerId = sellerOf(caller, body.sellerId)
      const campaignIds = [...new Set(body.campaignIds)]
      const by = actingAs(caller, null)
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
          : await services.syncs.run({ resource: 'campaigns', sellerId, stream: mostUrgent, from: null, to: null })
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
      const { sellerId } = await find(caller, campaignId, query.sellerId)
      const by = actingAs(caller, null)
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

const notFound = (campaignId: string): Problem =>
  new Problem('not-found', { detail: `There is no campaign ${campaignId}; use POST /v1/campaigns to watch one.` })
