import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { decimalText, parseCents } from '../core/money.ts'
import { body, Misused, registeredSeller } from '../http/control-request.ts'
import { readParams } from '../http/params.ts'
import type { World } from '../world.ts'
import { makeCampaign } from './create.ts'
import { canMove, move, settle } from './life.ts'
import { biddingStrategies, type Campaign, campaignStatuses, moves } from './model.ts'
import { viewCampaign } from './view.ts'

const maxTotalCents = 25_000_000
const day = z.iso.date()
const cents = (low: number, high: number) =>
  z
    .union([z.string(), z.number()])
    .transform((value) => parseCents(value) ?? -1)
    .refine(
      (value) => value >= low * 100 && value <= high * 100,
      `must be an amount from ${low} to ${high}, at most two decimals`,
    )

/** Ranges of the live service (public facts, section 8.4). */
const campaignsBody = z
  .strictObject({
    count: z.number().int().min(1).max(1_000).default(1),
    sellerId: z.string().min(1).optional(),
    campaignId: z.string().min(1).optional(),
    name: z.string().min(1).optional(),
    startDate: day.optional(),
    endDate: day.optional(),
    dailyBudget: cents(5, 2_500).optional(),
    totalBudget: cents(5, 250_000).optional(),
    targetRoas: z.number().min(1).max(20).optional(),
    biddingStrategyType: z.enum(biddingStrategies).optional(),
    pace: z.number().min(0).max(1).optional(),
  })
  .refine(({ count, campaignId }) => count === 1 || campaignId === undefined, {
    path: ['campaignId'],
    error: 'can be given to one campaign only',
  })
const changeBody = z
  .strictObject({
    sellerId: z.string().min(1).optional(),
    addFunds: cents(0.01, 250_000).optional(),
    endDate: day.optional(),
    stop: z.literal(true).optional(),
    delete: z.literal(true).optional(),
    illegalMove: z.enum(campaignStatuses).optional(),
  })
  .refine(({ sellerId: _, ...changes }) => Object.keys(changes).length === 1, {
    error: 'one of addFunds, endDate, stop, delete, illegalMove must be given',
  })
type Change = z.infer<typeof changeBody>

/** Control routes of the campaigns. */
export const registerCampaignControl = (app: FastifyInstance, world: World): void => {
  app.get('/campaigns', async () => {
    return { items: world.campaigns.list(world.clock.now()).map((campaign) => tell(world, campaign)) }
  })
  app.post('/campaigns', async (request, reply) => {
    const { count, campaignId, sellerId: named, ...draft } = body(campaignsBody, request)
    const sellerId = registeredSeller(world, named)
    const now = world.clock.now()
    const campaignIds = campaignId === undefined ? freeIds(world, count) : [campaignId]
    const made = campaignIds.map((id) => makeCampaign({ ...draft, sellerId, campaignId: id }, world.settings.seed, now))
    for (const campaign of made) checkNew(world, campaign, now)
    world.database.transaction(() => {
      for (const campaign of made) world.campaigns.put(campaign)
    })
    reply.code(201)
    return { count: campaignIds.length, campaignIds }
  })
  app.post('/campaigns/:campaignId', async (request) => {
    const change = body(changeBody, request)
    const { campaignId = '' } = readParams(request)
    const now = world.clock.now()
    const campaign = world.campaigns.find(change.sellerId ?? world.settings.sellerId, campaignId, now)
    if (campaign === null) throw new Misused(404, `campaignId: there is no campaign ${campaignId}`)
    apply(campaign, change, now)
    world.campaigns.put(campaign)
    return tell(world, campaign)
  })
}

/** Ids beyond those of a fresh world. */
const freeIds = (world: World, count: number): string[] => {
  const first = 2_000 + world.meta.sequence('campaign', count)
  return Array.from({ length: count }, (_, index) => `SEM-${first + index}`)
}

const checkNew = (world: World, campaign: Campaign, now: number): void => {
  const { sellerId, campaignId, startDate, endDate, dailyBudget, totalBudget } = campaign
  if (world.campaigns.find(sellerId, campaignId, now) !== null) throw new Misused(409, `campaignId: ${campaignId} exists`)
  if (endDate < startDate) throw new Misused(400, 'endDate: must not be before startDate')
  if (totalBudget < dailyBudget) throw new Misused(400, 'totalBudget: must not be below dailyBudget')
}

/** Moves by themselves follow at once; a move that the state does not allow is refused, unless it is asked for as such. */
const apply = (campaign: Campaign, change: Change, now: number): void => {
  const { illegalMove, addFunds, endDate } = change
  if (illegalMove !== undefined) {
    if (illegalMove === campaign.status) throw new Misused(409, `illegalMove: it is ${illegalMove} already`)
    if (canMove(campaign, illegalMove))
      throw new Misused(409, `illegalMove: ${campaign.status} to ${illegalMove} is a legal move`)
    campaign.moves.push({ at: now, from: campaign.status, to: illegalMove })
    campaign.status = illegalMove
    campaign.pinned = true
    return
  }
  if (moves[campaign.status].length === 0) throw new Misused(409, `status: ${campaign.status} is final`)
  const wanted = change.stop === true ? 'STOPPED' : change.delete === true ? 'DELETED' : null
  if (wanted !== null && !canMove(campaign, wanted))
    throw new Misused(409, `status: no move from ${campaign.status} to ${wanted}`)
  if (addFunds !== undefined && campaign.totalBudget + addFunds > maxTotalCents)
    throw new Misused(409, `addFunds: the total budget would be above ${decimalText(maxTotalCents)}`)
  if (endDate !== undefined && endDate < campaign.startDate) throw new Misused(400, 'endDate: must not be before startDate')
  campaign.pinned = false
  if (wanted !== null) move(campaign, wanted, now)
  campaign.totalBudget += addFunds ?? 0
  campaign.endDate = endDate ?? campaign.endDate
  settle(campaign, now)
}

const tell = ({ settings }: World, campaign: Campaign): Record<string, unknown> => ({
  sellerId: campaign.sellerId,
  ...viewCampaign(campaign, settings.dialect),
  pace: campaign.pace,
  spent: decimalText(campaign.spent),
  spentToday: decimalText(campaign.spentToday),
  moves: campaign.moves.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
})
