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
  /** Whether the connections to Redis and its sentinels use TLS. */
  readonly tls: boolean
}

/** TLS of the connections to Redis, as PEM. Default: that of Node, which trusts public certificate authorities. */
export interface RedisTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

const sentinelPort = 26_379
const addressPattern =
  /^(rediss?)\+sentinel:\/\/(?:(?<account>[^/]*)@)?(?<nodes>[^/?#@]+)\/(?<master>[^/?#]+)(?:\/(?<db>\d{1,4}))?(?:\?(?<query>[^#]*))?$/i
const nodePattern = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^:[\]\s]+))(?::(?<port>\d{1,5}))?$/i
const parameters: readonly string[] = ['sentinel_username', 'sentinel_password']

/** Whether an address has the scheme of sentinels; it may be malformed. */
export const namesSentinels = (text: string): boolean => /^\s*rediss?\+sentinel:/i.test(text)

const findNode = (text: string): SentinelAddress['sentinels'][number] | null => {
  const groups = nodePattern.exec(text.trim())?.groups
  const host = groups?.['v6'] ?? groups?.['name']
  const port = Number(groups?.['port'] ?? sentinelPort)
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port }
}

const decode = (text: string | undefined): string | null => (text === undefined || text === '' ? null : decodeURIComponent(text))

/**
 * Reads `redis+sentinel://[user:password@]host[:port][,host[:port]…]/master[/db][?sentinel_username=…&sentinel_password=…]`, or the same with
 * `rediss`; null if it is malformed. User and password are those of Redis.
 */
export const parseSentinelAddress = (text: string): SentinelAddress | null => {
  const match = addressPattern.exec(text.trim())
  if (match?.groups === undefined) return null
  const { account = '', nodes = '', master = '', db = '0', query = '' } = match.groups
  const sentinels = nodes.split(',').map(findNode)
  const given = new URLSearchParams(query)
  if (sentinels.includes(null) || [...given.keys()].some((name) => !parameters.includes(name))) return null
  const colon = account.indexOf(':')
  try {
    return {
      sentinels: sentinels.filter((node) => node !== null),
      master: decodeURIComponent(master),
      db: Number(db),
      username: decode(colon === -1 ? account : account.slice(0, colon)),
      password: decode(colon === -1 ? undefined : account.slice(colon + 1)),
      sentinelUsername: given.get('sentinel_username'),
      sentinelPassword: given.get('sentinel_password'),
      tls: match[1]?.toLowerCase() === 'rediss',
    }
  } catch (error) {
    // A percent sign without an escape sequence.
    if (error instanceof URIError) return null
    throw error
  }
}

/** Whether the address, or one of the addresses of a cluster, uses TLS. */
export const isRedisOverTls = (text: string): boolean => text.split(',').some((address) => /^\s*rediss[:+]/i.test(address))
