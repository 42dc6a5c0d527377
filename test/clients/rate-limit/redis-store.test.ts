import { afterAll, beforeAll, describe } from 'vitest'
import { createRedisStore } from '../../../src/clients/rate-limit/redis-store.ts'
import { connectRedis, untilReady } from '../../../src/queues/backend/redis-connection.ts'
import { rateLimitStoreContract } from '../../rate-limit-store.contract.ts'
import { redisPrograms, startTestRedis, type TestRedis } from '../../support/redis.ts'

describe.each(redisPrograms())('with a %s', (name, program) => {
  let redis: TestRedis
  let client: ReturnType<typeof connectRedis>
  beforeAll(async () => {
    redis = await startTestRedis([], { program })
    client = connectRedis(redis.url, 'producer')
    await untilReady(client)
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })
  rateLimitStoreContract(name, () => createRedisStore(client))
})
