import type { DecimalText } from '../orders/order.ts'
import { addDays } from '../values/calendar.ts'

/** Every state of a campaign (specification, "States and transitions"). */
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
] as const

/** One of {@link campaignStatuses}. */
export type CampaignStatus = (typeof campaignStatuses)[number]

/** States in which a campaign is out of budget, or about to end; and all in which it runs (specification, "States and transitions"). */
export const campaignStates = {
  outOfBudget: ['LIMITED_BY_BUDGET', 'BUDGET_EXHAUSTED'],
  endingSoon: 'CAMPAIGN_ENDING_SOON',
  running: ['RUNNING', 'LIMITED_BY_BUDGET', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON'],
} as const satisfies Readonly<Record<string, CampaignStatus | readonly CampaignStatus[]>>

/** A search-engine-marketing campaign (specification, "Campaign (SEM)"). Dates are days as text, `YYYY-MM-DD`. */
export interface Campaign {
  readonly campaignId: string
  readonly name: string | null
  readonly startDate: string | null
  /** Null: open end (`9999-12-30` on the wire, public facts, section 8.4). */
  readonly endDate: string | null
  readonly dailyBudget: DecimalText | null
  readonly totalBudget: DecimalText | null
  readonly targetRoas: DecimalText | null
  /** Open set: an unknown status is stored. */
  readonly status: string
  readonly createdDate: string | null
  readonly raw: unknown
}

/**
 * The transitions, exactly as the specification's table "States and transitions" lists them. COMPLETED, STOPPED and DELETED
 * are terminal.
 */
const moves: Readonly<Record<CampaignStatus, readonly CampaignStatus[]>> = {
  READY: ['RUNNING', 'DELETED'],
  SCHEDULED: ['RUNNING', 'DELETED'],
  RUNNING: ['LIMITED_BY_BUDGET', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON', 'COMPLETED', 'STOPPED'],
  LIMITED_BY_BUDGET: ['RUNNING', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON', 'COMPLETED', 'STOPPED'],
  BUDGET_EXHAUSTED: ['RUNNING', 'COMPLETED', 'STOPPED'],
  CAMPAIGN_ENDING_SOON: ['RUNNING', 'COMPLETED', 'STOPPED'],
  COMPLETED: [],
  STOPPED: [],
  DELETED: [],
}

const known: ReadonlyMap<string, CampaignStatus> = new Map(campaignStatuses.map((status) => [status, status]))

/** The transitions from this state, automatic or by the advertiser; none from a terminal or unknown state. */
export const nextStatuses = (status: string): readonly CampaignStatus[] => {
  const from = known.get(status)
  return from === undefined ? [] : moves[from]
}

/** Whether the specification lists this transition ("States and transitions"). Transitions to or from an unknown state are never listed. */
export const mayMove = (from: string, to: string): boolean => nextStatuses(from).some((status) => status === to)

/**
 * The states between the two on a shortest chain of listed transitions: empty if the transition itself is listed, null if there is no chain.
 * Polling misses states between two polls; null means that this cannot explain the transition.
 */
export const statesBetween = (from: string, to: string): readonly CampaignStatus[] | null => {
  const ways: { readonly at: string; readonly passed: readonly CampaignStatus[] }[] = [{ at: from, passed: [] }]
  const seen = new Set([from])
  for (const { at, passed } of ways) {
    if (mayMove(at, to)) return passed
    for (const next of nextStatuses(at)) {
      if (seen.has(next)) continue
      seen.add(next)
      ways.push({ at: next, passed: [...passed, next] })
    }
  }
  return null
}

/** A transition compared with the specification. */
export interface CampaignMove {
  /** The specification lists it. */
  readonly legal: boolean
  /** If it is not listed: the missed states of a chain of listed transitions, null if there is none. */
  readonly missed: readonly CampaignStatus[] | null
}

/** Judges a transition. */
export const judgeMove = (from: string, to: string): CampaignMove => {
  const legal = mayMove(from, to)
  return { legal, missed: legal ? [] : statesBetween(from, to) }
}

/** Message about a transition that the specification does not list. */
export const describeAnomaly = (campaignId: string, from: string, to: string): string => {
  const { missed } = judgeMove(from, to)
  const move = `campaign ${campaignId} went from ${from} to ${to}, a move that the specification does not list`
  if (missed !== null) {
    return `${move}; several moves between two looks explain it (${[from, ...missed, to].join(' -> ')}): check the campaign if nobody changed it`
  }
  const why = !known.has(to)
    ? `the state ${to} is not known`
    : !known.has(from)
      ? `the state ${from} is not known`
      : 'no chain of listed moves explains it'
  return `${move}; ${why}: look at the campaign in the advertising console`
}

/**
 * Urgency of the next poll of a campaign, most urgent first: `near` its budget, its start or its end; `running`; `waiting` for a start
 * that is not due yet, or unknown to the marketplace; `ended` finally.
 */
export const campaignUrgencies = ['near', 'running', 'waiting', 'ended'] as const

/** The urgency of campaigns that were never read. */
export const [maxUrgent] = campaignUrgencies

/** One of {@link campaignUrgencies}. */
export type CampaignUrgency = (typeof campaignUrgencies)[number]

/** The stored data of a watched campaign that determines its urgency. */
export interface CampaignState extends Pick<Campaign, 'status' | 'startDate' | 'endDate'> {
  /** The last answer of the marketplace was that it has no such campaign. */
  readonly missing: boolean
}

/** Days before its end date from which a campaign is near its end. */
const nearEndDays = 2

/**
 * Urgency of the next poll. The answer contains no spend, so only the status shows how near the budget is: LIMITED_BY_BUDGET and
 * BUDGET_EXHAUSTED. A terminal state is never left; polling it is a check.
 *
 * @param campaign what is stored; null when the campaign was never read
 * @param today the marketplace's day, `YYYY-MM-DD`: campaigns start at its midnight (public facts, section 8.4)
 */
export const findUrgency = (campaign: CampaignState | null, today: string): CampaignUrgency => {
  if (campaign === null) return 'near'
  const { status, startDate, endDate, missing } = campaign
  if (missing) return 'waiting'
  switch (known.get(status)) {
    case 'COMPLETED':
    case 'STOPPED':
    case 'DELETED':
      return 'ended'
    case 'LIMITED_BY_BUDGET':
    case 'BUDGET_EXHAUSTED':
    case 'CAMPAIGN_ENDING_SOON':
      return 'near'
    case 'READY':
    case 'SCHEDULED':
      return startDate === null ? 'running' : startDate <= today ? 'near' : 'waiting'
    case 'RUNNING':
    case undefined:
      return endDate !== null && endDate <= addDays(today, nearEndDays) ? 'near' : 'running'
  }
}
