import type { Cents } from '../core/money.ts'

/** Every state of a campaign with the states it may move to (specification, "States and transitions"). */
export const moves = {
  READY: ['RUNNING', 'DELETED'],
  SCHEDULED: ['RUNNING', 'DELETED'],
  RUNNING: ['LIMITED_BY_BUDGET', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON', 'COMPLETED', 'STOPPED'],
  LIMITED_BY_BUDGET: ['RUNNING', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON', 'COMPLETED', 'STOPPED'],
  BUDGET_EXHAUSTED: ['RUNNING', 'COMPLETED', 'STOPPED'],
  CAMPAIGN_ENDING_SOON: ['RUNNING', 'COMPLETED', 'STOPPED'],
  COMPLETED: [],
  STOPPED: [],
  DELETED: [],
} as const satisfies Readonly<Record<string, readonly string[]>>
export type CampaignStatus = keyof typeof moves

export const campaignStatuses = [
  'READY',
  'SCHEDULED',
  'RUNNING',
  'LIMITED_BY_BUDGET',
  'BUDGET_EXHAUSTED',
  'CAMPAIGN_ENDING_SOON',
  'COMPLETED',
  'STOPPED',
  'DELETED',
] as const satisfies readonly CampaignStatus[]

/** The end date of a campaign that has none (public facts, section 8.4). */
export const openEnd = '9999-12-30'
export const biddingStrategies = ['TARGET_ROAS', 'MAXIMIZE_TRAFFIC'] as const

/** A search-engine-marketing campaign as the sandbox keeps it. Days are Pacific, `YYYY-MM-DD`; moments epoch milliseconds. */
export interface Campaign {
  readonly sellerId: string
  readonly campaignId: string
  readonly name: string
  readonly createdDate: string
  readonly startDate: string
  endDate: string
  readonly dailyBudget: Cents
  totalBudget: Cents
  readonly targetRoas: number
  readonly biddingStrategyType: (typeof biddingStrategies)[number]
  /** Share of the daily budget that it spends on a day, evenly over its hours. */
  readonly pace: number
  status: CampaignStatus
  spent: Cents
  spentToday: Cents
  /** Up to when it has been lived through. */
  livedTo: number
  /** It was put where no listed move leads, and stays there until something is done to it. */
  pinned: boolean
  moves: { readonly at: number; readonly from: CampaignStatus; readonly to: CampaignStatus }[]
}
