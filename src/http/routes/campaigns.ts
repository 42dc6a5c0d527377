import { z } from 'zod'
import { nextStatuses, urgencyOf } from '../../domain/campaign.ts'
import { type CampaignSummary, findCampaigns, listCampaigns, readStatusChanges } from '../../store/campaigns.ts'
import { unwatchCampaign, watchCampaigns } from '../../store/watched-campaigns.ts'
import { type App, problems } from '../app.ts'
import { cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import { campaignDetailSchema, campaignSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('campaigns', z.object({ sellerId: z.string(), campaignId: z.string() }))
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

  const find = async (campaignId: string, sellerId: string | undefined): Promise<CampaignSummary> => {
    const all = await findCampaigns(database, campaignId)
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
  const sellerOf = (named: string | undefined): string => {
    const sellers = services.sellers()
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
    schema: {
      tags: ['campaigns'],
      summary: 'Campaigns, by seller and campaign id',
      querystring: z.object({
        ...pagingSchema,
        sellerId: z.string().optional(),
        status: z.string().optional(),
        watched: z
          .enum(['true', 'false'], 'must be true or false')
          .transform((text) => text === 'true')
          .optional(),
      }),
      response: { 200: pageSchema(campaignSchema), ...problems() },
    },
    handler: async ({ query }) => {
      const filter = { sellerId: query.sellerId ?? null, status: query.status ?? null, watched: query.watched ?? null }
      const page = await listCampaigns(database, filter, cursors.decode(query.cursor), query.limit)
      return { items: page.items.map(shown), nextCursor: cursors.encode(page.next) }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/campaigns/:campaignId',
    schema: {
      tags: ['campaigns'],
      summary: 'A campaign with every change of its status',
      params: z.object({ campaignId: z.string().min(1).max(1_000) }),
      querystring: z.object({
        sellerId: z.string().optional().meta({ description: 'Required when several sellers have a campaign with this id.' }),
      }),
      response: { 200: campaignDetailSchema, ...problems(404, 409) },
    },
    handler: async ({ params: { campaignId }, query }) => {
      const campaign = await find(campaignId, query.sellerId)
      return { ...shown(campaign), statusChanges: await readStatusChanges(database, campaign, changeLimit) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/campaigns',
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
    handler: async ({ body }, reply) => {
      const sellerId = sellerOf(body.sellerId)
      const campaignIds = [...new Set(body.campaignIds)]
      const added = await watchCampaigns(database, sellerId, campaignIds, 'operator')
      // Campaigns that were never read are the most urgent ones.
      const jobs =
        added.length === 0
          ? []
          : await services.syncs.run({ resource: 'campaigns', sellerId, stream: 'near', from: null, to: null })
      reply.status(202)
      return { sellerId, campaignIds, added, jobs }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/campaigns/:campaignId',
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
    handler: async ({ params: { campaignId }, query }) => {
      const { sellerId } = await find(campaignId, query.sellerId)
      const removed = await database.transaction((tx) => unwatchCampaign(tx, sellerId, campaignId, 'operator'))
      if (!removed) throw new Problem('not-found', { detail: `Campaign ${campaignId} of seller ${sellerId} is not watched.` })
      return { sellerId, campaignId, watched: false as const }
    },
  })
}

const notFound = (campaignId: string): Problem =>
  new Problem('not-found', { detail: `There is no campaign ${campaignId}; use POST /v1/campaigns to watch one.` })
