import type { QuietLog } from '../observability/log.ts'
import type { QueueBackend } from './backend-interface.ts'
import { createPostgresQueues } from './postgres.ts'
import { createRedisQueues } from './redis.ts'

export type { QueueBackend } from './backend-interface.ts'

/** Where the queues may live. */
export interface QueueBackendOptions {
  /** `redis://` or `rediss://`, or several of them with commas between: the nodes of a cluster. Null: the queues live in Postgres. */
  readonly redisUrl: string | null
  /** Postgres, used when there is no Redis: schema `bullmq`. */
  readonly databaseUrl: string
  readonly quiet: QuietLog
  /** Beginning of all keys in Redis. */
  readonly prefix?: string
}

/** The one place that decides where the queues live. Connects to nothing before `open`. */
export const createQueueBackend = ({ redisUrl, databaseUrl, quiet, prefix = 'tallyman' }: QueueBackendOptions): QueueBackend =>
  redisUrl === null ? createPostgresQueues({ databaseUrl, quiet }) : createRedisQueues({ redisUrl, quiet, prefix })
