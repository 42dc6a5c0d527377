import type { QuietLog } from '../../observability/log.ts'
import type { RedisTls } from '../../util/net/redis-address.ts'
import type { QueueBackend } from './backend-interface.ts'
import { createPostgresQueues } from './postgres.ts'
import { createRedisQueues } from './redis.ts'

export type { QueueBackend } from './backend-interface.ts'

/** Location of the queues. */
export interface QueueBackendOptions {
  /** As `REDIS_URL`: one address, those of a cluster, or those of sentinels. Null: the queues live in Postgres. */
  readonly redisUrl: string | null
  readonly redisTls?: RedisTls
  /** Postgres, used without Redis: schema `bullmq`. Each connection must be a session of its own. */
  readonly databaseUrl: string
  readonly quiet: QuietLog
  /** Prefix of all keys in Redis. */
  readonly prefix?: string
}

/** The only place that selects the store of the queues. Does not connect before `open`. */
export const createQueueBackend = ({
  redisUrl,
  redisTls = {},
  databaseUrl,
  quiet,
  prefix = 'tallyman',
}: QueueBackendOptions): QueueBackend =>
  redisUrl === null ? createPostgresQueues({ databaseUrl, quiet }) : createRedisQueues({ redisUrl, redisTls, quiet, prefix })
