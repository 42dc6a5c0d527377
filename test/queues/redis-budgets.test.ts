import { afterAll, beforeAll, describe } from 'vitest'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createRedisBudgetStore } from '../../src/queues/redis-budgets.ts'
import { budgetStoreContract } from '../budget-store.contract.ts'
import { redisPrograms, startTestRedis, type TestRedis } from '../support/redis.ts'

describe.each(redisPrograms())('with a %s', (name, program) => {
  let redis: TestRedis
  let store: ReturnType<typeof createRedisBudgetStore>
  beforeAll(async () => {
    redis = await startTestRedis([], { program })
    store = createRedisBudgetStore({
      redisUrl: redis.url,
      quiet: createQuietLog(createLogger({ level: 'fatal', format: 'json' })),
    })
    await store.announce('first', { sole: 'claim', forMs: 1_000 })
    await store.leave('first')
  })
  afterAll(async () => {
    store.close()
    await redis.stop()
  })
  budgetStoreContract(name, () => store)
})
