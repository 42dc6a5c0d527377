import { EventEmitter } from 'node:events'
import { createRedisBackend, Queue } from 'bullmq'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { QuietLog } from '../observability/log.ts'
import { isRedisOverTls, parseSentinelAddress, type RedisTls, type SentinelAddress } from '../redis-address.ts'
import { tlsSaying } from '../tls-faults.ts'
import { type BackendCheck, keptEvents, type QueueBackend } from './backend-interface.ts'
import { createConsumer } from './consumer.ts'
import { asError, QueuesUnavailable, withDeadline } from './faults.ts'
import { type QueueName, queueNames } from './jobs.ts'
import { createPresence } from './presence.ts'

type Client = Redis | Cluster

const openTimeoutMs = 5_000
/** A sentinel that does not answer for so long is passed over. */
const sentinelTimeoutMs = 2_000
const longestReconnectMs = 2_000
/**
 * A server that owes an answer for so long is given up: one that falls silent without closing its connections, as a machine that has lost its power,
 * would be waited for long after another one has taken its place. Longer than any wait for jobs that is asked for (five seconds; BullMQ's own: ten).
 */
const silentMs = 15_000
/** Oldest version that BullMQ's scripts are tested with. */
const oldestRedis = '6.2.0'

// Bounded and with jitter: processes must not all reconnect at once, nor long after Redis is back.
const reconnectDelayMs = (times: number): number =>
  Math.min(50 * 2 ** Math.min(times, 10), longestReconnectMs) * (0.5 + Math.random() / 2)

const common = {
  // BullMQ parses answers of protocol 2.
  protocol: 2,
  connectTimeout: 5_000,
  keepAlive: 10_000,
  socketTimeout: silentMs,
  // A server that was demoted to a replica refuses writes: reconnect, and send the refused command again (it had no effect).
  reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
} as const satisfies RedisOptions

/**
 * A producer must fail at once, so that its caller gets an error; a consumer waits as long as necessary. `once` is a single look: it connects when
 * it is told to, and tries nothing twice.
 */
const roles = {
  producer: { maxRetriesPerRequest: 1, enableOfflineQueue: false, retryStrategy: reconnectDelayMs },
  consumer: { maxRetriesPerRequest: null, enableOfflineQueue: true, retryStrategy: reconnectDelayMs },
  once: {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: true,
    retryStrategy: () => null,
    lazyConnect: true,
    commandTimeout: 5_000,
  },
} as const

// A socket may tell of more than one error when TLS does not come about. ioredis listens once, and an error that nobody listens to would end the
// process. Nothing is hidden: whatever uses the connection rejects.
const steady = <Connection extends object>(client: Connection): Connection => {
  let stream: unknown
  return Object.defineProperty(client, 'stream', {
    get: () => stream,
    set: (next: unknown) => {
      if (next instanceof EventEmitter) {
        next.on('error', () => undefined)
        // Each command that a replica refuses closes it once more, and waits for that.
        next.setMaxListeners(0)
      }
      stream = next
    },
  })
}

const connectSteadily = (client: Redis): Redis => {
  const duplicate = client.duplicate.bind(client)
  // BullMQ makes connections for waiting from it.
  client.duplicate = <Override extends Partial<RedisOptions> | undefined>(override?: Override) =>
    steady(duplicate<Override>(override))
  return steady(client)
}

/** Connects to Redis, to a cluster, or to the master that sentinels name; the only place that does. `tls`: for addresses that say `rediss`. */
export const connectRedis = (redisUrl: string, role: keyof typeof roles, tls: RedisTls = {}): Client => {
  const secured: Pick<RedisOptions, 'tls'> = isRedisOverTls(redisUrl) ? { tls: { ...tls } } : {}
  const options = { ...common, ...roles[role], ...secured }
  const address = parseSentinelAddress(redisUrl)
  if (address !== null) {
    const { sentinels, master, db, username, password, sentinelUsername, sentinelPassword } = address
    return connectSteadily(
      new Redis({
        ...options,
        sentinels: [...sentinels],
        name: master,
        db,
        ...(username === null ? {} : { username }),
        ...(password === null ? {} : { password }),
        ...(sentinelUsername === null ? {} : { sentinelUsername }),
        ...(sentinelPassword === null ? {} : { sentinelPassword }),
        ...(address.tls ? { sentinelTLS: { ...tls }, enableTLSForSentinelMode: true } : {}),
        sentinelCommandTimeout: sentinelTimeoutMs,
        sentinelRetryStrategy: roles[role].retryStrategy,
      }),
    )
  }
  const [first = '', ...others] = redisUrl.split(',').map((url) => url.trim())
  // The scheme alone would have TLS without our options.
  if (others.length === 0) return connectSteadily(new Redis(first.replace(/^rediss:/i, 'redis:'), options))
  const scheme = /^[a-z]+:\/\//i.exec(first)?.[0] ?? 'redis://'
  const urls = [first, ...others].map((url) => new URL(/^[a-z]+:\/\//i.test(url) ? url : scheme + url))
  const account = urls.find((url) => url.password !== '' || url.username !== '')
  return new Cluster(
    urls.map((url) => ({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6379) })),
    {
      enableOfflineQueue: roles[role].enableOfflineQueue,
      clusterRetryStrategy: roles[role].retryStrategy,
      redisOptions: {
        ...options,
        ...(account === undefined ? {} : { password: decodeURIComponent(account.password) }),
        ...(account === undefined || account.username === '' ? {} : { username: decodeURIComponent(account.username) }),
      },
      // Certificates of managed clusters contain host names, not addresses.
      ...(secured.tls === undefined ? {} : { dnsLookup: (address, callback) => callback(null, address) }),
    },
  )
}

/** Redis as messages name it. */
const redisServer = { name: 'Redis', authority: 'REDIS_CA_FILE', own: 'REDIS_CERT_FILE and REDIS_KEY_FILE' } as const

/** An error of a connection in words that say what to do, where there are any. */
export const redisSaying = (error: unknown): string => {
  const { message } = asError(error)
  const [, last] = /^All sentinels are unreachable\b.*?(?:Last error: (.*))?$/s.exec(message) ?? []
  return (
    tlsSaying(message, redisServer) ??
    (message.startsWith('All sentinels are unreachable')
      ? `no sentinel of REDIS_URL names the master${last === undefined ? '' : ` (${last.replace(/\.$/, '')})`}; tallyman doctor asks each of them`
      : message)
  )
}

const inWords = (error: unknown): Error => {
  const saying = redisSaying(error)
  return saying === asError(error).message ? asError(error) : new QueuesUnavailable(saying, { cause: error })
}

const isReady = (client: Client): boolean => client.status === 'ready'

/** Resolves once connected; rejects at the first refusal, while the client itself goes on trying. @throws QueuesUnavailable */
export const untilReady = async (client: Client): Promise<void> => {
  if (isReady(client)) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refused = (error: unknown): void => {
    reject(new QueuesUnavailable(`Redis cannot be reached: ${redisSaying(error)}`, { cause: error }))
  }
  client.once('ready', resolve)
  client.once('error', refused)
  try {
    await withDeadline(promise, openTimeoutMs, 'connecting to Redis')
  } finally {
    client.off('ready', resolve)
    client.off('error', refused)
  }
}

const field = (info: string, name: string): string | null => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? null

const olderThan = (version: string, oldest: string): boolean => version.localeCompare(oldest, 'en', { numeric: true }) < 0

/** Settings of Redis that endanger the queues. */
export const warningsOf = (info: string): readonly string[] => {
  const policy = field(info, 'maxmemory_policy')
  const version = field(info, 'redis_version')
  const successor = field(info, 'valkey_version') ?? field(info, 'dragonfly_version')
  return [
    ...(policy !== null && policy !== 'noeviction'
      ? [`maxmemory-policy is ${policy}: Redis may evict jobs when it is full; set it to noeviction`]
      : []),
    ...(version !== null && successor === null && olderThan(version, oldestRedis)
      ? [`Redis ${version} is older than ${oldestRedis}; upgrade it`]
      : []),
  ]
}

/** Asks over a connection of its own, once; rejects with the reason why it was not made, where it was not. */
const askOnce = async <Answer>(client: Client, ask: () => Promise<Answer>): Promise<Answer> => {
  let reason: Error | undefined
  client.on('error', (error) => {
    reason = error
  })
  try {
    await client.connect()
    return await ask()
  } catch (error) {
    throw reason ?? error
  } finally {
    client.disconnect()
  }
}

/** Looks at one Redis, or at the master that sentinels name; answers what endangers the queues ({@link warningsOf}). */
export const lookAtRedis = (redisUrl: string, tls: RedisTls): Promise<readonly string[]> => {
  const client = connectRedis(redisUrl, 'once', tls)
  return askOnce(client, async () => warningsOf(await client.info()))
}

/** Whether a sentinel knows the master. */
export const knowsMaster = (
  { master, sentinelUsername, sentinelPassword, ...address }: SentinelAddress,
  { host, port }: SentinelAddress['sentinels'][number],
  tls: RedisTls,
): Promise<boolean> => {
  const client = connectSteadily(
    new Redis({
      ...common,
      ...roles.once,
      host,
      port,
      ...(sentinelUsername === null ? {} : { username: sentinelUsername }),
      ...(sentinelPassword === null ? {} : { password: sentinelPassword }),
      ...(address.tls ? { tls: { ...tls } } : {}),
    }),
  )
  return askOnce(client, async () => (await client.call('SENTINEL', 'get-master-addr-by-name', master)) !== null)
}

const noWritesSayings: readonly (readonly [RegExp, string])[] = [
  [/^OOM /, 'Redis is full and takes no writes: raise its maxmemory or free memory'],
  [/^READONLY /, 'Redis takes no writes: it is a replica'],
  [/^MISCONF /, 'Redis takes no writes: it cannot save to its disk'],
  [/^Stream isn't writeable/, 'Redis is not connected'],
  [/^(NOAUTH|WRONGPASS|NOPERM) /, 'Redis refuses the credentials of REDIS_URL'],
]

const sayingOf = (error: unknown): string => {
  const { message } = asError(error)
  return noWritesSayings.find(([pattern]) => pattern.test(message))?.[1] ?? `Redis does not answer: ${message}`
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
  const presence = createPresence('Redis', quiet)
  let clients: { readonly producer: Client; readonly consumer: Client } | undefined
  let queues: ReadonlyMap<QueueName, Queue> | undefined
  let skipVersionCheck = false

  const watched = (client: Client): Client => {
    client.on('error', (error) => presence.fault(inWords(error)))
    client.on('close', () => presence.report(false))
    client.on('ready', () => presence.report(true))
    client.setMaxListeners(100)
    return client
  }

  const inspect = async (client: Client): Promise<readonly string[]> => warningsOf(await client.info())

  return {
    kind: 'redis',
    open: async () => {
      if (queues !== undefined) return
      clients ??= {
        producer: watched(connectRedis(redisUrl, 'producer', redisTls)),
        consumer: watched(connectRedis(redisUrl, 'consumer', redisTls)),
      }
      const { producer, consumer } = clients
      await Promise.all([untilReady(producer), untilReady(consumer)])
      const warnings = await withDeadline(inspect(producer), openTimeoutMs, 'reading the settings of Redis')
      for (const warning of warnings) quiet.warn(`redis:${warning}`, {}, warning)
      // BullMQ prints the same to the console for each connection; without the check it only loses precision of short waits.
      skipVersionCheck = warnings.length > 0
      const made = new Map(
        queueNames.map((name) => [
          name,
          new Queue(
            name,
            { connection: producer, prefix, skipVersionCheck, streams: { events: { maxLen: keptEvents } } },
            createRedisBackend,
          ),
        ]),
      )
      for (const queue of made.values()) queue.on('error', (error) => presence.fault(error))
      try {
        await withDeadline(
          Promise.all([...made.values()].map((queue) => queue.waitUntilReady())),
          openTimeoutMs,
          'opening the queues',
        )
      } catch (error) {
        // A queue whose first connection failed never recovers: the next `open` makes new ones.
        await Promise.allSettled([...made.values()].map((queue) => queue.close()))
        throw error
      }
      queues = made
      presence.report(true)
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
        return { ok: false, detail: presence.lastFault() ?? 'Redis is not connected', warnings: [] }
      }
      const { producer, consumer } = clients
      try {
        const asked = Promise.all([inspect(producer), producer.set(`${prefix}:writable`, '1', 'PX', writtenMs)])
        const [warnings] = await withDeadline(asked, timeoutMs, 'asking Redis')
        if (isReady(consumer)) presence.report(true)
        return { ok: true, detail: 'Redis answers and takes writes', warnings }
      } catch (error) {
        // Its connections may stand, and tell of nothing.
        presence.report(false)
        return { ok: false, detail: sayingOf(error), warnings: [] }
      }
    },
    awaySinceMs: presence.awaySinceMs,
    report: presence.report,
    fault: presence.fault,
    close: async () => {
      presence.end()
      await Promise.allSettled([...(queues?.values() ?? [])].map((queue) => queue.close()))
      clients?.producer.disconnect()
      clients?.consumer.disconnect()
    },
  }
}
