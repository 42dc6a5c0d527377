import { EventEmitter } from 'node:events'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { isRedisOverTls, parseSentinelAddress, type RedisTls, type SentinelAddress } from '../../util/net/redis-address.ts'
import { describeTlsError } from '../../util/net/tls-errors.ts'
import { asError, QueuesUnavailable, withDeadline } from '../errors.ts'

/** A connection to Redis or to a cluster. */
export type RedisClient = Redis | Cluster

/** Timeout of connecting, in milliseconds. */
export const openTimeoutMs = 5_000
/** A sentinel that does not answer within this time is skipped. */
const sentinelTimeoutMs = 2_000
const maxReconnectDelayMs = 2_000
/**
 * A connection with an outstanding answer is closed after this time. A machine that lost its power closes no connections, and the process would wait
 * for it long after another server has taken over. Longer than any blocking wait for jobs (ours: five seconds, BullMQ's: ten).
 */
const answerTimeoutMs = 15_000
/** Oldest version that BullMQ's scripts are tested with. */
const minRedisVersion = '6.2.0'

// Bounded and with jitter: processes must not all reconnect at once, nor long after Redis is back.
const reconnectDelayMs = (times: number): number =>
  Math.min(50 * 2 ** Math.min(times, 10), maxReconnectDelayMs) * (0.5 + Math.random() / 2)

const common = {
  // BullMQ parses answers of protocol 2.
  protocol: 2,
  connectTimeout: 5_000,
  keepAlive: 10_000,
  socketTimeout: answerTimeoutMs,
  // A server that was demoted to a replica refuses writes: reconnect, and send the refused command again (it had no effect).
  reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
} as const satisfies RedisOptions

/**
 * A producer fails immediately, so that its caller gets an error; a consumer waits as long as necessary. `once` is for a single check: it connects on
 * request and retries nothing.
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

// A socket may emit more than one error when a TLS handshake fails. ioredis listens once, and an error event without a listener would end the process.
// No error is hidden: commands on the connection reject.
const keepListening = <Connection extends object>(client: Connection): Connection => {
  let stream: unknown
  return Object.defineProperty(client, 'stream', {
    get: () => stream,
    set: (next: unknown) => {
      if (next instanceof EventEmitter) {
        next.on('error', () => undefined)
        // Each command that a replica refuses adds a listener for the close.
        next.setMaxListeners(0)
      }
      stream = next
    },
  })
}

const guardConnection = (client: Redis): Redis => {
  const duplicate = client.duplicate.bind(client)
  // BullMQ duplicates the client for blocking waits.
  client.duplicate = <Override extends Partial<RedisOptions> | undefined>(override?: Override) =>
    keepListening(duplicate<Override>(override))
  return keepListening(client)
}

/** Connects to Redis, to a cluster, or to the master that sentinels name; the only place that does. `tls`: for addresses with the scheme `rediss`. */
export const connectRedis = (redisUrl: string, role: keyof typeof roles, tls: RedisTls = {}): RedisClient => {
  const secured: Pick<RedisOptions, 'tls'> = isRedisOverTls(redisUrl) ? { tls: { ...tls } } : {}
  const options = { ...common, ...roles[role], ...secured }
  const address = parseSentinelAddress(redisUrl)
  if (address !== null) {
    const { sentinels, master, db, username, password, sentinelUsername, sentinelPassword } = address
    return guardConnection(
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
  // The scheme `rediss` would select TLS without our options.
  if (others.length === 0) return guardConnection(new Redis(first.replace(/^rediss:/i, 'redis:'), options))
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

/** Redis in messages about TLS. */
const redisServer = { name: 'Redis', authority: 'REDIS_CA_FILE', own: 'REDIS_CERT_FILE and REDIS_KEY_FILE' } as const

/** The message of a connection error, with advice if there is any. */
export const describeRedisError = (error: unknown): string => {
  const { message } = asError(error)
  const [, last] = /^All sentinels are unreachable\b.*?(?:Last error: (.*))?$/s.exec(message) ?? []
  return (
    describeTlsError(message, redisServer) ??
    (message.startsWith('All sentinels are unreachable')
      ? `no sentinel of REDIS_URL names the master${last === undefined ? '' : ` (${last.replace(/\.$/, '')})`}; tallyman doctor checks each of them`
      : message)
  )
}

/** The error with the message of {@link describeRedisError}. */
export const explainRedisError = (error: unknown): Error => {
  const message = describeRedisError(error)
  return message === asError(error).message ? asError(error) : new QueuesUnavailable(message, { cause: error })
}

export const isReady = (client: RedisClient): boolean => client.status === 'ready'

/** Resolves once connected; rejects at the first error, while the client itself continues to retry. @throws QueuesUnavailable */
export const untilReady = async (client: RedisClient): Promise<void> => {
  if (isReady(client)) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refused = (error: unknown): void => {
    reject(new QueuesUnavailable(`Redis cannot be reached: ${describeRedisError(error)}`, { cause: error }))
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

const isOlder = (version: string, oldest: string): boolean => version.localeCompare(oldest, 'en', { numeric: true }) < 0

/** Settings of Redis that endanger the queues. */
export const listWarnings = (info: string): readonly string[] => {
  const policy = field(info, 'maxmemory_policy')
  const version = field(info, 'redis_version')
  const successor = field(info, 'valkey_version') ?? field(info, 'dragonfly_version')
  return [
    ...(policy !== null && policy !== 'noeviction'
      ? [`maxmemory-policy is ${policy}: Redis may evict jobs when it is full; set it to noeviction`]
      : []),
    ...(version !== null && successor === null && isOlder(version, minRedisVersion)
      ? [`Redis ${version} is older than ${minRedisVersion}; upgrade it`]
      : []),
  ]
}

/** Runs one query over a separate connection. Rejects with the reason if it cannot connect. */
const queryOnce = async <Answer>(client: RedisClient, query: () => Promise<Answer>): Promise<Answer> => {
  let reason: Error | undefined
  client.on('error', (error) => {
    reason = error
  })
  try {
    await client.connect()
    return await query()
  } catch (error) {
    throw reason ?? error
  } finally {
    client.disconnect()
  }
}

/** Connects once to Redis, or to the master that sentinels name. Returns the settings that endanger the queues ({@link listWarnings}). */
export const findRedisWarnings = (redisUrl: string, tls: RedisTls): Promise<readonly string[]> => {
  const client = connectRedis(redisUrl, 'once', tls)
  return queryOnce(client, async () => listWarnings(await client.info()))
}

/** Whether a sentinel knows the master. */
export const knowsMaster = (
  { master, sentinelUsername, sentinelPassword, ...address }: SentinelAddress,
  { host, port }: SentinelAddress['sentinels'][number],
  tls: RedisTls,
): Promise<boolean> => {
  const client = guardConnection(
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
  return queryOnce(client, async () => (await client.call('SENTINEL', 'get-master-addr-by-name', master)) !== null)
}
