import { dayMs, hourMs } from '../core/duration.ts'
import { dayAfter, pacificDay, pacificMidnight } from '../core/pacific.ts'
import { type Campaign, type CampaignStatus, moves } from './model.ts'

/** From this share of the total budget, or of the daily one on one day, a campaign is limited by its budget. */
const limitedFrom = 0.9
/** So many days, the end date among them, a campaign is ending soon. */
const endingSoonDays = 3

/**
 * Lets the campaign live until `now`: it starts at the Pacific midnight of its start date, spends hour by hour, and is completed when its
 * end date has passed. Neither the shares nor the days at which it counts as near its budget or end are published.
 */
export const live = (campaign: Campaign, now: number): void => {
  if (campaign.livedTo < now) {
    for (let day = buildDay(pacificDay(campaign.livedTo)); campaign.livedTo < now && !isOver(campaign); ) {
      const nextDay = buildDay(dayAfter(day.name))
      const [midnight, nextMidnight] = [pacificMidnight(day.name), pacificMidnight(nextDay.name)]
      for (let at = nextHour(campaign.livedTo); at <= Math.min(nextMidnight, now); at += hourMs) {
        spend(campaign, midnight, at)
        // At midnight the daily budget starts again at zero.
        if (at === nextMidnight) campaign.spentToday = 0
        settle(campaign, at, at === nextMidnight ? nextDay : day)
      }
      campaign.livedTo = Math.min(nextMidnight, now)
      day = nextDay
    }
    campaign.livedTo = now
  }
}

/** The full hour after a moment; every Pacific midnight is one. */
const nextHour = (at: number): number => (Math.floor(at / hourMs) + 1) * hourMs

const isOver = ({ status }: Campaign): boolean => moves[status].length === 0

const isServing = ({ status }: Campaign): boolean =>
  status === 'RUNNING' || status === 'LIMITED_BY_BUDGET' || status === 'CAMPAIGN_ENDING_SOON'

const spend = (campaign: Campaign, midnight: number, at: number): void => {
  if (!isServing(campaign)) return
  const share = Math.min(1, (at - midnight) / dayMs) * campaign.pace
  const due = Math.floor(campaign.dailyBudget * share) - campaign.spentToday
  const amount = Math.max(0, Math.min(due, campaign.totalBudget - campaign.spent))
  campaign.spent += amount
  campaign.spentToday += amount
}

/** A Pacific day, and the first day that an end date must reach not to be soon. */
interface Day {
  readonly name: string
  readonly notSoon: string
}

const buildDay = (name: string): Day => ({ name, notSoon: dayAfter(name, endingSoonDays) })

/** Makes every move that the moment asks for, one after the other. */
export const settle = (campaign: Campaign, at: number, day = buildDay(pacificDay(at))): void => {
  if (campaign.pinned) return
  for (let to = nextMove(campaign, day); to !== null; to = nextMove(campaign, day)) move(campaign, to, at)
}

const nextMove = (campaign: Campaign, { name: day, notSoon }: Day): CampaignStatus | null => {
  const ended = day > campaign.endDate
  const near = notSoon > campaign.endDate
  const exhausted = campaign.spent >= campaign.totalBudget
  const limited =
    campaign.spent >= campaign.totalBudget * limitedFrom || campaign.spentToday >= campaign.dailyBudget * limitedFrom
  switch (campaign.status) {
    case 'READY':
    case 'SCHEDULED':
      return day >= campaign.startDate ? 'RUNNING' : null
    case 'RUNNING':
    case 'LIMITED_BY_BUDGET':
      if (ended) return 'COMPLETED'
      if (exhausted) return 'BUDGET_EXHAUSTED'
      if (near) return 'CAMPAIGN_ENDING_SOON'
      if (limited) return campaign.status === 'RUNNING' ? 'LIMITED_BY_BUDGET' : null
      return campaign.status === 'RUNNING' ? null : 'RUNNING'
    case 'BUDGET_EXHAUSTED':
      if (ended) return 'COMPLETED'
      return exhausted ? null : 'RUNNING'
    case 'CAMPAIGN_ENDING_SOON':
      if (ended) return 'COMPLETED'
      return near ? null : 'RUNNING'
    default:
      return null
  }
}

/** The one way in which a campaign changes its state. Throws for a move that is not listed: nothing here may ask for one. */
export const move = (campaign: Campaign, to: CampaignStatus, at: number): void => {
  if (!canMove(campaign, to))
    throw new Error(`campaign ${campaign.campaignId}: no move from ${campaign.status} to ${to} is listed`)
  campaign.moves.push({ at, from: campaign.status, to })
  campaign.status = to
}

/** Whether the move is one of those that occur. */
export const canMove = ({ status }: Campaign, to: CampaignStatus): boolean => {
  const listed: readonly CampaignStatus[] = moves[status]
  return listed.includes(to)
}
