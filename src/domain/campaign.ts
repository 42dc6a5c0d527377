import type { DecimalText } from './order.ts'
import { addDays } from './pacific-time.ts'

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
  /** Open set: an unknown status is kept. */
  readonly status: string
  readonly createdDate: string | null
  readonly raw: unknown
}

/**
 * The moves that occur, exactly as the specification's table "States and transitions" lists them. COMPLETED, STOPPED and DELETED
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

/** Where a campaign may move from this state by itself or by its advertiser; nowhere from a terminal state or an unknown one. */
export function nextStatuses(status: string): readonly CampaignStatus[] {
  const from = known.get(status)
  return from === undefined ? [] : moves[from]
}

/** Whether the specification lists this move ("States and transitions"). Moves to or from an unknown state are never listed. */
export function mayMove(from: string, to: string): boolean {
  return nextStatuses(from).some((status) => status === to)
}

/**
 * The states between the two on a shortest chain of listed moves: empty when the move itself is listed, null when no chain leads from
 * one to the other. Whoever looks only now and then misses what lies between two looks; null means that it cannot explain the move.
 */
export function statesBetween(from: string, to: string): readonly CampaignStatus[] | null {
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

/** How a move from one state to another stands to the specification. */
export interface CampaignMove {
  /** The specification lists it. */
  readonly legal: boolean
  /** Where it is not listed: the states that were missed if it is made of listed moves, null when it cannot be. */
  readonly missed: readonly CampaignStatus[] | null
}

/** Judges a move. */
export function judgeMove(from: string, to: string): CampaignMove {
  const legal = mayMove(from, to)
  return { legal, missed: legal ? [] : statesBetween(from, to) }
}

/** What a person is told about a move that the specification does not list. */
export function describeAnomaly(campaignId: string, from: string, to: string): string {
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
 * How urgent the next look at a campaign is, most urgent first: `near` its budget, its start or its end; `running`; `waiting` for a start
 * that is not due yet, or for the marketplace to know it; `ended` for good.
 */
export const campaignUrgencies = ['near', 'running', 'waiting', 'ended'] as const

/** One of {@link campaignUrgencies}. */
export type CampaignUrgency = (typeof campaignUrgencies)[number]

/** What is stored of a watched campaign, as far as its urgency hangs on it. */
export interface CampaignState extends Pick<Campaign, 'status' | 'startDate' | 'endDate'> {
  /** The marketplace answered last that it has no such campaign. */
  readonly missing: boolean
}

/** Days before its end date from which a campaign is near its end. */
const nearEndDays = 2

/**
 * How urgent the next look is. The answer carries no spend, so only the status tells how near the budget is: LIMITED_BY_BUDGET and
 * BUDGET_EXHAUSTED. A terminal state is never left; looking there is a check.
 *
 * @param campaign what is stored; null when the campaign was never read
 * @param today the marketplace's day, `YYYY-MM-DD`: campaigns start at midnight Pacific time (public facts, section 8.4)
 */
export function urgencyOf(campaign: CampaignState | null, today: string): CampaignUrgency {
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
