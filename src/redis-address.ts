/** A Redis whose master is named by its sentinels. */
export interface SentinelAddress {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  /** Name of the master, as the sentinels know it. */
  readonly master: string
  readonly db: number
  /** Account of Redis itself; null: none. */
  readonly username: string | null
  readonly password: string | null
  /** Account of the sentinels; null: none. */
  readonly sentinelUsername: string | null
  readonly sentinelPassword: string | null
  /** Whether Redis and its sentinels are spoken to over TLS. */
  readonly tls: boolean
}

/** TLS of the connections to Redis, as PEM; what is left out is that of Node, which trusts public authorities. */
export interface RedisTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

const sentinelPort = 26_379
const shape =
  /^(rediss?)\+sentinel:\/\/(?:(?<account>[^/]*)@)?(?<nodes>[^/?#@]+)\/(?<master>[^/?#]+)(?:\/(?<db>\d{1,4}))?(?:\?(?<query>[^#]*))?$/i
const nodeShape = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^:[\]\s]+))(?::(?<port>\d{1,5}))?$/i
const parameters: readonly string[] = ['sentinel_username', 'sentinel_password']

/** Whether an address is meant for sentinels, well formed or not. */
export const namesSentinels = (text: string): boolean => /^\s*rediss?\+sentinel:/i.test(text)

const nodeOf = (text: string): SentinelAddress['sentinels'][number] | null => {
  const groups = nodeShape.exec(text.trim())?.groups
  const host = groups?.['v6'] ?? groups?.['name']
  const port = Number(groups?.['port'] ?? sentinelPort)
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port }
}

const decoded = (text: string | undefined): string | null => (text === undefined || text === '' ? null : decodeURIComponent(text))

/**
 * Reads `redis+sentinel://[user:password@]host[:port][,host[:port]…]/master[/db][?sentinel_username=…&sentinel_password=…]`, or the same with
 * `rediss`; null when it is none. The user and password are those of Redis.
 */
export const parseSentinelAddress = (text: string): SentinelAddress | null => {
  const match = shape.exec(text.trim())
  if (match?.groups === undefined) return null
  const { account = '', nodes = '', master = '', db = '0', query = '' } = match.groups
  const sentinels = nodes.split(',').map(nodeOf)
  const given = new URLSearchParams(query)
  if (sentinels.includes(null) || [...given.keys()].some((name) => !parameters.includes(name))) return null
  const colon = account.indexOf(':')
  try {
    return {
      sentinels: sentinels.filter((node) => node !== null),
      master: decodeURIComponent(master),
      db: Number(db),
      username: decoded(colon === -1 ? account : account.slice(0, colon)),
      password: decoded(colon === -1 ? undefined : account.slice(colon + 1)),
      sentinelUsername: given.get('sentinel_username'),
      sentinelPassword: given.get('sentinel_password'),
      tls: match[1]?.toLowerCase() === 'rediss',
    }
  } catch (error) {
    // A percent sign that begins no escape.
    if (error instanceof URIError) return null
    throw error
  }
}

/** Whether the address, or one of those of a cluster, is spoken to over TLS. */
export const isRedisOverTls = (text: string): boolean => text.split(',').some((address) => /^\s*rediss[:+]/i.test(address))
