import type { Operation } from '../../clients/http/operation.ts'
import type { Profile } from '../../clients/marketplace/profiles/profile.ts'
import type { FindLimit } from '../../clients/rate-limit/budget.ts'
import { forecastWork, type OpenCommand } from '../../domain/commands/forecast.ts'
import type { Forecast } from '../../domain/commands/forecast-answer.ts'
import { pagesLeft } from '../../domain/sync/backfill-pages.ts'
import { countSlices } from '../../domain/sync/windows.ts'
import { readOpenCommands } from '../../store/commands/open-commands.ts'
import type { Database } from '../../store/db/database.ts'
import { listDeadlineRules } from '../../store/orders/deadlines.ts'
import { readOrdersWithoutCommand } from '../../store/orders/order-deadlines.ts'
import { readInactiveSellers } from '../../store/sellers/sellers.ts'
import { readOpenBackfills } from '../../store/sync/sync-states.ts'
import { findCommandOperations } from '../commands/engine/operations.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import type { PolledStream } from '../sync/engine/poll.ts'
import { findOperation } from '../sync/engine/syncs.ts'
import type { BudgetFigures } from './figures.ts'

/** Open commands that are counted one by one, and orders that are named. */
const maxCommands = 100_000
const maxNamed = 200

/** What a forecast is computed from, beside Postgres. */
export interface ForecastParts {
  readonly sellers: SellerRegistry
  readonly budgetFigures: BudgetFigures
  readonly findLimit: FindLimit
  findProfile(sellerId: string): Profile | undefined
  /** The streams that run by themselves. */
  schedule(): readonly PolledStream[]
}

/** Says when open work of sellers will be done. */
export const readForecast = async (
  database: Database,
  { sellers, budgetFigures, findLimit, findProfile, schedule }: ForecastParts,
  sellerIds: readonly string[],
  hours: number,
  commandId: string | undefined,
): Promise<Forecast> => {
  const getClock = (sellerId: string) => (sellers.has(sellerId) ? sellers.client(sellerId).clock() : null)
  const atRest = await readInactiveSellers(database)
  const { commands, count } = await readOpenCommands(database, sellerIds, maxCommands)
  const rules = listDeadlineRules(database, sellerIds, (sellerId) => getClock(sellerId)?.now() ?? null)
  const { orders, count: waitingForErpCount } = await readOrdersWithoutCommand(database, rules, hours, maxNamed)
  const openBackfills = await readOpenBackfills(database, sellerIds)
  const all = (await budgetFigures.read()).filter(({ scope }) => scope === null)
  const figures = new Map(all.map((figure) => [`${figure.operation} ${figure.sellerId}`, figure]))

  // Nothing is awaited from here on: a reload may take sellers out meanwhile.
  const fromMs = Date.now()
  const working = new Set(sellerIds.filter((sellerId) => sellers.has(sellerId) && !atRest.has(sellerId)))
  const isWorking = (sellerId: string): boolean => working.has(sellerId)
  const listCalls = ({ sellerId, kind, state, attempts, isBehindHeld }: OpenCommand): readonly Operation[] => {
    const calls = isWorking(sellerId) && !isBehindHeld ? findCommandOperations(sellers.client(sellerId), kind) : null
    if (calls === null) return []
    const reads = calls.read !== null && (state !== 'pending' || calls.readsFirst || attempts > 0) ? [calls.read] : []
    return state === 'pending' ? [...reads, calls.write] : reads
  }
  const polls = schedule().flatMap(({ sellerId, resource, stream, everyMs }) => {
    const call = isWorking(sellerId) ? findOperation(resource, stream)?.operation : undefined
    return call === undefined ? [] : [{ sellerId, call, perMinute: 60_000 / everyMs }]
  })
  const backfills = openBackfills.flatMap(({ windows, ...progress }) => {
    const { sellerId, resource, stream } = progress
    const asking = findOperation(resource, stream)
    if (asking === null) return []
    const windowsLeft = windows.reduce((sum, window) => sum + (window.sliceMs ? countSlices(window, window.sliceMs) : 1), 0)
    const maxOfPage = findProfile(sellerId)?.maxPageSize ?? Number.POSITIVE_INFINITY
    const pageSize = Number.isFinite(asking.pageSize) ? Math.min(asking.pageSize, maxOfPage) : asking.pageSize
    const left = pagesLeft({ ...progress, windowsLeft, pageSize })
    return [{ sellerId, resource, stream, windowsLeft, ...left, call: asking.operation }]
  })
  const { atRisk, ...answer } = forecastWork({
    ...{ fromMs, untilMs: fromMs + hours * 3_600_000, commands, count, commandId, polls, backfills, isWorking, listCalls },
    findBudget: (sellerId, operation) => {
      const { tokens, perMs } = findLimit(sellerId, operation)
      const unused = { available: 1, perMinute: (tokens * 60_000) / perMs, blockedUntil: null }
      return { ...(figures.get(`${operation.name} ${sellerId}`) ?? unused), tokens, perMs }
    },
    aheadMs: (sellerId) => (getClock(sellerId)?.now().getTime() ?? fromMs) - fromMs,
  })
  const resting = sellerIds.filter((sellerId) => atRest.has(sellerId))
  const unserved = sellerIds.filter((sellerId) => !sellers.has(sellerId))
  const behindHeld = commands.filter(({ isBehindHeld }) => isBehindHeld).length
  const further = count - commands.length
  const unless = (isNone: boolean, text: string): readonly string[] => (isNone ? [] : [text])
  const assumptions = [
    'No event, order or command is added, and nothing fails.',
    'The marketplace accepts everything within the limits, as reported or learned so far; times are right to an interval of the limit.',
    'A page of a backfill is one call, and so is a poll; those that ask for records one by one take more.',
    ...unless(resting.length === 0, `Nothing is done for sellers that are stopped or paused: ${resting.join(', ')}.`),
    ...unless(unserved.length === 0, `This process does not serve ${unserved.join(', ')}: their limits are not known here.`),
    ...unless(
      behindHeld === 0,
      `Nothing is sent for commands that wait behind held ones until those are decided: ${behindHeld}.`,
    ),
    ...unless(further === 0, `${further} further open commands, those wanted latest, are counted as open and unsent only.`),
  ]
  return { ...answer, sellerIds, assumptions, shipBy: { atRisk, waitingForErp: orders, waitingForErpCount } }
}
