import type { QuietLog } from '../observability/log.ts'
import type { QueueBackend } from './backend-interface.ts'
import { createPostgresQueues } from './postgres.ts'
import { createRedisQueues } from './redis.ts'

export type { QueueBackend } from './backend-interface.ts'

/** Location of the queues. */
export interface QueueBackendOptions {
  /** `redis://` or `rediss://`, or several, comma-separated: the nodes of a cluster. Null: the queues live in Postgres. */
  readonly redisUrl: string | null
  /** Postgres, used without Redis: schema `bullmq`. */
  readonly databaseUrl: string
  readonly quiet: QuietLog
  /** Prefix of all keys in Redis. */
  readonly prefix?: string
}

/** The only place that selects the store of the queues. Does not connect before `open`. */
export const createQueueBackend = ({ redisUrl, databaseUrl, quiet, prefix = 'tallyman' }: QueueBackendOptions): QueueBackend =>
  redisUrl === null ? createPostgresQueues({ databaseUrl, quiet }) : createRedisQueues({ redisUrl, quiet, prefix })
