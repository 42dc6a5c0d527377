import type { LimitOf } from '../clients/budget.ts'
import { beatEveryMs, createSharedBudget, type SharedBudget } from '../clients/shared-budget.ts'
import { createRedisBudgetStore } from '../queues/redis-budgets.ts'
import type { Database } from '../store/database.ts'
import { createPostgresBudgetStore } from '../store/rate-budgets.ts'
import type { DaemonContext } from './context.ts'
import { hasEnded } from './process-name.ts'

/** The rate budget that all processes share: through Redis where there is one, otherwise through Postgres. */
export const openBudget = (
  { config, quiet, closers, owner }: Pick<DaemonContext, 'config' | 'quiet' | 'closers' | 'owner'>,
  database: Database,
  limitOf: LimitOf,
): SharedBudget => {
  const inRedis =
    config.redisUrl === null ? null : createRedisBudgetStore({ redisUrl: config.redisUrl, redisTls: config.redisTls, quiet })
  if (inRedis !== null) closers.add('the connection of the rate budget', async () => inRedis.close())
  const budget = createSharedBudget({
    store: inRedis ?? createPostgresBudgetStore(database),
    id: owner,
    limitOf,
    hasEnded,
    report: {
      away: (error) =>
        quiet.warn('budget', { err: error }, 'the rate budget cannot be shared: this process goes on with a part of it'),
      back: () => quiet.recovered('budget', 'the rate budget is shared again'),
    },
  })
  let beating: Promise<void> | null = null
  const beat = setInterval(() => {
    beating ??= budget.beat().finally(() => {
      beating = null
    })
  }, beatEveryMs)
  closers.add('the rate budget', async () => {
    clearInterval(beat)
    await beating
    await budget.close()
  })
  return budget
}
