import { createRedisBackend, Queue } from 'bullmq'
import type { QuietLog } from '../../observability/log.ts'
import type { RedisTls } from '../../util/net/redis-address.ts'
import { createAvailability } from '../availability.ts'
import { createConsumer } from '../consumer.ts'
import { asError, QueuesUnavailable, withDeadline } from '../errors.ts'
import { type ShownQueue, shownQueues } from '../jobs.ts'
import { type BackendCheck, keptEvents, type QueueBackend } from './backend-interface.ts'
import {
  connectRedis,
  explainRedisError,
  isReady,
  listWarnings,
  openTimeoutMs,
  type RedisClient,
  untilReady,
} from './redis-connection.ts'

const refusalMessages: readonly (readonly [RegExp, string])[] = [
  [/^OOM /, 'Redis is full and takes no writes: raise its maxmemory or free memory'],
  [/^READONLY /, 'Redis takes no writes: it is a replica'],
  [/^MISCONF /, 'Redis takes no writes: it cannot save to its disk'],
  [/^Stream isn't writeable/, 'Redis is not connected'],
  [/^(NOAUTH|WRONGPASS|NOPERM) /, 'Redis refuses the credentials of REDIS_URL'],
]

const describeError = (error: unknown): string => {
  const { message } = asError(error)
  return refusalMessages.find(([pattern]) => pattern.test(message))?.[1] ?? `Redis does not answer: ${message}`
}

/** Lifetime of the key that a check writes to verify that Redis takes writes. */
const writtenMs = 1_000

/** Queues in Redis or Valkey. */
export const createRedisQueues = (options: {
  readonly redisUrl: string
  readonly redisTls?: RedisTls
  readonly quiet: QuietLog
  readonly prefix: string
}): QueueBackend => {
  const { redisUrl, redisTls, quiet } = options
  // One hash slot for all keys: BullMQ's scripts access many keys at once, which a cluster allows only within a slot.
  const prefix = `{${options.prefix}}`
  const availability = createAvailability('Redis', quiet)
  let clients: { readonly producer: RedisClient; readonly consumer: RedisClient } | undefined
  let queues: ReadonlyMap<ShownQueue, Queue> | undefined
  let skipVersionCheck = false

  const watch = (client: RedisClient): RedisClient => {
    client.on('error', (error) => availability.reportError(explainRedisError(error)))
    client.on('close', () => availability.reportAvailable(false))
    client.on('ready', () => availability.reportAvailable(true))
    client.setMaxListeners(100)
    return client
  }

  const inspect = async (client: RedisClient): Promise<readonly string[]> => listWarnings(await client.info())

  return {
    kind: 'redis',
    open: async () => {
      if (queues !== undefined) return
      clients ??= {
        producer: watch(connectRedis(redisUrl, 'producer', redisTls)),
        consumer: watch(connectRedis(redisUrl, 'consumer', redisTls)),
      }
      const { producer, consumer } = clients
      await Promise.all([untilReady(producer), untilReady(consumer)])
      const warnings = await withDeadline(inspect(producer), openTimeoutMs, 'reading the settings of Redis')
      for (const warning of warnings) quiet.warn(`redis:${warning}`, {}, warning)
      // BullMQ prints the same warning for each connection; without its version check only the precision of short waits is lost.
      skipVersionCheck = warnings.length > 0
      const made = new Map(
        shownQueues.map((name) => [
          name,
          new Queue(
            name,
            { connection: producer, prefix, skipVersionCheck, streams: { events: { maxLen: keptEvents } } },
            createRedisBackend,
          ),
        ]),
      )
      for (const queue of made.values()) queue.on('error', (error) => availability.reportError(error))
      try {
        await withDeadline(
          Promise.all([...made.values()].map((queue) => queue.waitUntilReady())),
          openTimeoutMs,
          'opening the queues',
        )
      } catch (error) {
        // A queue whose first connection failed never recovers: the next `open` creates new ones.
        await Promise.allSettled([...made.values()].map((queue) => queue.close()))
        throw error
      }
      queues = made
      availability.reportAvailable(true)
    },
    queue: (name) => {
      const queue = queues?.get(name)
      if (queue === undefined) throw new QueuesUnavailable('the queues are not connected to Redis yet')
      return queue
    },
    consumer: (consumerOptions) => {
      if (clients === undefined || queues === undefined) throw new QueuesUnavailable('the queues are not connected to Redis yet')
      return createConsumer(consumerOptions, { connection: clients.consumer, prefix, skipVersionCheck }, createRedisBackend)
    },
    check: async (timeoutMs): Promise<BackendCheck> => {
      if (clients === undefined || !isReady(clients.producer)) {
        return { ok: false, detail: availability.lastError() ?? 'Redis is not connected', warnings: [] }
      }
      const { producer, consumer } = clients
      try {
        const checks = Promise.all([inspect(producer), producer.set(`${prefix}:writable`, '1', 'PX', writtenMs)])
        const [warnings] = await withDeadline(checks, timeoutMs, 'asking Redis')
        if (isReady(consumer)) availability.reportAvailable(true)
        return { ok: true, detail: 'Redis answers and takes writes', warnings }
      } catch (error) {
        // Its connections may be open and emit no event.
        availability.reportAvailable(false)
        return { ok: false, detail: describeError(error), warnings: [] }
      }
    },
    unavailableSinceMs: availability.unavailableSinceMs,
    reportAvailable: availability.reportAvailable,
    reportError: availability.reportError,
    close: async () => {
      availability.end()
      await Promise.allSettled([...(queues?.values() ?? [])].map((queue) => queue.close()))
      clients?.producer.disconnect()
      clients?.consumer.disconnect()
    },
  }
}
