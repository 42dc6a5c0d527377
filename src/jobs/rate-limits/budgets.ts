import { computeShare, type FindLimit, type RateBudget } from '../../clients/rate-limit/budget.ts'
import { createRedisStore } from '../../clients/rate-limit/redis-store.ts'
import { createInProcessBudget, createSharedBudget, type SharedBudget } from '../../clients/rate-limit/shared-budget.ts'
import type { Config } from '../../config/config.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { connectRedis } from '../../queues/backend/redis-connection.ts'
import { makeWaitingCommandsDue } from '../../store/commands/waiting-commands.ts'
import type { Database } from '../../store/db/database.ts'
import { createPostgresRateLimits } from '../../store/sellers/rate-limits.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import type { CommandJobs } from '../commands/engine/command-jobs.ts'
import { notifyOnReportedRemaining } from './reported-remaining.ts'

/** Orders that events name before a sync has stored them are requested with this share of the budget; the rest is for orders that are stored. */
const lookupShare = 0.25

/** Dependencies of the rate budgets. */
export interface BudgetsParts {
  readonly config: Pick<Config, 'redisUrl' | 'redisTls'>
  readonly quiet: QuietLog
  readonly metrics: Pick<Metrics, 'rateLimitWait'>
  readonly shutdownHooks: ShutdownHooks
  /** Names this process among those that share the budget. */
  readonly owner: string
  readonly database: Database
  readonly commandJobs: Pick<CommandJobs, 'addNow'>
  /** The current limits of a seller. */
  readonly findLimit: FindLimit
}

/** The rate budgets of a process. */
export interface Budgets {
  /** The budget of all calls, shared by all processes. */
  readonly budget: RateBudget
  /** The part of the budget for orders that are not stored; of this process alone. */
  readonly lookupBudget: RateBudget
}

/** The budget that all processes share: through Redis if it is configured, otherwise through Postgres. */
const openShared = ({ config, quiet, shutdownHooks, owner, database, findLimit }: BudgetsParts): SharedBudget => {
  const unavailable = (error: unknown): void =>
    quiet.warn('rate-limits', { err: error }, 'the store of the rate limits is unavailable: calls wait until it is back')
  const redis = config.redisUrl === null ? null : connectRedis(config.redisUrl, 'producer', config.redisTls)
  if (redis !== null) {
    redis.on('error', unavailable)
    shutdownHooks.add('the connection of the rate limits', async () => redis.disconnect())
  }
  const budget = createSharedBudget({
    store: redis === null ? createPostgresRateLimits(database) : createRedisStore(redis),
    id: owner,
    findLimit,
    report: { unavailable, recovered: () => quiet.recovered('rate-limits', 'the store of the rate limits is back') },
  })
  shutdownHooks.add('the rate budget', () => budget.close())
  return budget
}

/** A budget whose waits are measured. */
const observeWaits = (budget: RateBudget, { rateLimitWait }: Pick<Metrics, 'rateLimitWait'>): RateBudget => ({
  ...budget,
  take: async (sellerId, operation, scope, lane) => {
    const result = await budget.take(sellerId, operation, scope, lane)
    if (!result.granted)
      rateLimitWait.observe({ operation: operation.name }, Math.max(0, result.availableAt.getTime() - Date.now()) / 1_000)
    return result
  },
})

/** Opens the budgets. Commands that wait for the budget become due when the marketplace begins to report remaining requests. */
export const openBudgets = (parts: BudgetsParts): Budgets => {
  const { quiet, metrics, database, commandJobs, findLimit } = parts
  const wakeWaiting = async (sellerId: string): Promise<void> => {
    try {
      commandJobs.addNow(await makeWaitingCommandsDue(database, [sellerId]))
    } catch (error) {
      quiet.warn(
        'waits',
        { seller_id: sellerId, err: error },
        'commands that wait for the rate limit could not be rescheduled; they will run later than necessary',
      )
    }
  }
  return {
    budget: notifyOnReportedRemaining(observeWaits(openShared(parts), metrics), (sellerId) => void wakeWaiting(sellerId)),
    lookupBudget: observeWaits(
      createInProcessBudget({ findLimit: (...asked) => computeShare(findLimit(...asked), lookupShare) }),
      metrics,
    ),
  }
}
