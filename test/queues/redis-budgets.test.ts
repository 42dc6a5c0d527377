import { afterAll, beforeAll, describe } from 'vitest'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createRedisBudgetStore } from '../../src/queues/redis-budgets.ts'
import { budgetStoreContract } from '../budget-store.contract.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../support/redis.ts'

describe.skipIf(!hasRedisServer())('with a Redis', () => {
  let redis: TestRedis
  let store: ReturnType<typeof createRedisBudgetStore>
  beforeAll(async () => {
    redis = await startTestRedis()
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
  budgetStoreContract('Redis', () => store)
})
