import type { Cents } from '../core/money.ts'
import { dayAfter, pacificDay, pacificMidnight } from '../core/pacific.ts'
import { createRandom } from '../core/random.ts'
import { live, move } from './life.ts'
import { biddingStrategies, type Campaign, openEnd } from './model.ts'

/** What may be said about a new campaign; the rest is made up from its id. */
export interface CampaignDraft {
  readonly sellerId: string
  readonly campaignId: string
  readonly name?: string | undefined
  readonly startDate?: string | undefined
  readonly endDate?: string | undefined
  readonly dailyBudget?: Cents | undefined
  readonly totalBudget?: Cents | undefined
  readonly targetRoas?: number | undefined
  readonly pace?: number | undefined
  readonly biddingStrategyType?: (typeof biddingStrategies)[number] | undefined
}

const goods = ['Enamel Mugs', 'Desk Lamps', 'Bath Towels', 'Yoga Mats', 'Camp Kitchen', 'Jute Rugs'] as const
const seasons = ['Spring', 'Summer', 'Back to School', 'Holiday', 'Always On'] as const

/**
 * A campaign that was created the day before it starts, or now when it starts tomorrow or later, and has lived since. One that starts on
 * the day after its creation is READY, a later one SCHEDULED.
 */
export const makeCampaign = (draft: CampaignDraft, seed: string, now: number): Campaign => {
  const random = createRandom(seed, 'campaign', draft.campaignId)
  const today = pacificDay(now)
  const startDate = draft.startDate ?? dayAfter(today, random.whole(-20, 10))
  const createdDate = startDate > today ? today : dayAfter(startDate, -1)
  const dailyBudget = draft.dailyBudget ?? random.whole(1, 40) * 500
  const campaign: Campaign = {
    sellerId: draft.sellerId,
    campaignId: draft.campaignId,
    name: draft.name ?? `${random.pick(seasons)} - ${random.pick(goods)}`,
    createdDate,
    startDate,
    endDate: draft.endDate ?? (random.chance(0.5) ? openEnd : dayAfter(startDate, random.whole(5, 60))),
    dailyBudget,
    totalBudget: draft.totalBudget ?? Math.min(25_000_000, dailyBudget * random.whole(2, 25)),
    targetRoas: draft.targetRoas ?? 3.5,
    biddingStrategyType: draft.biddingStrategyType ?? random.pick(biddingStrategies),
    pace: draft.pace ?? random.whole(3, 10) / 10,
    status: startDate === dayAfter(createdDate) ? 'READY' : 'SCHEDULED',
    spent: 0,
    spentToday: 0,
    livedTo: createdDate === today ? now : pacificMidnight(createdDate),
    pinned: false,
    moves: [],
  }
  live(campaign, now)
  return campaign
}

interface Fixture extends Omit<CampaignDraft, 'sellerId' | 'startDate' | 'endDate'> {
  /** Days from today. */
  readonly starts: number
  readonly ends?: number
  readonly ended?: 'STOPPED' | 'DELETED'
}

const fixture = (campaignId: string, name: string, dailyBudget: Cents, totalBudget: Cents): Omit<Fixture, 'starts'> => ({
  campaignId,
  name,
  dailyBudget,
  totalBudget,
  pace: 0.8,
  biddingStrategyType: 'TARGET_ROAS',
})

/** What a fresh world has, one campaign for each state. Its pace brings the state about. */
const fixtures: readonly Fixture[] = [
  { ...fixture('SEM-1001', 'Always On - Enamel Mugs', 4_000, 1_000_000), starts: -10 },
  { ...fixture('SEM-1002', 'Spring - Desk Lamps', 2_500, 100_000), starts: 1 },
  { ...fixture('SEM-1003', 'Holiday - Bath Towels', 5_000, 150_000), starts: 7, ends: 37 },
  // 80 % of 10 a day: 240 of 260 were spent before today.
  { ...fixture('SEM-1004', 'Summer - Yoga Mats', 1_000, 26_000), starts: -30 },
  // 80 % of 20 a day: 300 were spent yesterday.
  { ...fixture('SEM-1005', 'Back to School - Camp Kitchen', 2_000, 30_000), starts: -20, ends: 40 },
  { ...fixture('SEM-1006', 'Summer - Jute Rugs', 3_000, 200_000), starts: -15, ends: 1 },
  { ...fixture('SEM-1007', 'Spring - Enamel Mugs', 2_000, 100_000), starts: -60, ends: -30 },
  { ...fixture('SEM-1008', 'Holiday - Desk Lamps', 2_000, 80_000), starts: -9, ended: 'STOPPED' },
  { ...fixture('SEM-1009', 'Holiday - Jute Rugs', 2_000, 80_000), starts: 20, ended: 'DELETED' },
]

/** The campaigns of a fresh world, `SEM-1001` to `SEM-1009`. */
export const firstCampaigns = (sellerId: string, seed: string, now: number): Campaign[] => {
  const today = pacificDay(now)
  return fixtures.map(({ starts, ends, ended, ...rest }) => {
    const startDate = dayAfter(today, starts)
    const endDate = ends === undefined ? openEnd : dayAfter(today, ends)
    const campaign = makeCampaign({ ...rest, sellerId, startDate, endDate }, seed, now)
    if (ended !== undefined) move(campaign, ended, now)
    return campaign
  })
}
