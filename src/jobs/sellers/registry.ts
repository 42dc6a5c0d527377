import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { RefreshTokens } from '../../clients/http/auth.ts'
import { type MarketplaceClient, type ReadClient, toReadClient } from '../../clients/http/client.ts'
import type { ClientHooks, ClientLog, ClientParts } from '../../clients/http/client-parts.ts'
import type { SellerConnection } from '../../clients/marketplace/connection.ts'
import type { Profile } from '../../clients/marketplace/profiles/profile.ts'
import type { RateBudget } from '../../clients/rate-limit/budget.ts'
import type { DisplaySettings, SellerSettings } from '../../config/config.ts'
import type { SellerMode } from '../../domain/shadow/mode.ts'
import type { ConfiguredSeller, SellerFingerprint, SellerStatus } from '../../store/sellers/sellers.ts'

/** No such seller is configured in this process. */
export class UnknownSeller extends Error {
  override readonly name = 'UnknownSeller'
  constructor(sellerId: string) {
    super(
      `seller ${sellerId} is not configured; add it to SELLERS_FILE and have it read again (\`tallyman sellers reload\`, POST /v1/sellers/reload, SIGHUP), or set SELLER_ID and restart`,
    )
  }
}

/** The configured sellers, each with its client; replaced as a whole when the settings are read again. */
export interface SellerRegistry {
  ids(): readonly string[]
  /** The only seller that this process serves, or null when there are several. */
  only(): string | null
  has(sellerId: string): boolean
  /** @throws UnknownSeller */
  client(sellerId: string): ReadClient
  /**
   * The client that can write; null: the seller is in shadow mode as far as this process knows.
   *
   * @throws UnknownSeller
   */
  liveClient(sellerId: string): MarketplaceClient | null
  /** The sellers that are in shadow mode as far as this process knows. */
  listShadowed(): readonly string[]
  /** Whether this process works for a seller: it is configured here, and not suspended. */
  worksFor(sellerId: string): boolean
  /**
   * Suspends a seller whose credentials are refused here while another process works with others, until settings are read again or it is resumed.
   */
  suspend(seller: ConfiguredSeller, reason: string): void
  /** The suspended sellers, each with the reason. */
  suspended(): readonly { readonly seller: ConfiguredSeller; readonly reason: string }[]
  /** Those that have been granted a token, and have not been refused since. */
  accepted(): readonly SellerFingerprint[]
  /** The current settings of every seller. */
  settings(): readonly SellerSettings[]
  /** The settings of one; undefined where it is not configured here. */
  findSettings(sellerId: string): SellerSettings | undefined
  /** @throws UnknownSeller */
  configured(sellerId: string): ConfiguredSeller
  /**
   * Takes new settings: a client that would be made from the same is kept with its token, but forgets that credentials were refused; any other is
   * retired, which nobody waits for. They hold once `store` has resolved; where it fails, all stays as it was.
   */
  replace(sellers: readonly SellerSettings[], store?: (marks: readonly SellerFingerprint[]) => Promise<void>): Promise<void>
  /**
   * Takes over the states of the sellers: the client of a seller that was resumed forgets that its credentials were refused. Returns whether this
   * process works for more sellers than before.
   */
  learn(states: readonly Pick<SellerStatus, 'sellerId' | 'resumes' | 'mode'>[]): boolean
  close(): Promise<void>
}

/** Dependencies of the clients that the registry creates. */
export interface SellerRegistryParts {
  readonly sellers: readonly SellerSettings[]
  /** Address of the built-in sandbox, for sellers without one of their own. */
  readonly sandboxUrl: string | null
  /** Display advertising, for sellers that are advertisers; null while it is off. */
  readonly display: DisplaySettings | null
  readonly requestTimeoutMs: number
  /** Most records of one answer; the clients' own bound when absent. */
  readonly maxRecords?: number
  readonly profiles: ReadonlyMap<string, Profile>
  readonly budget: RateBudget
  readonly log: ClientLog
  readonly hooks: ClientHooks
  /** Keeps replaced refresh tokens; absent: the configured ones are used. */
  readonly refreshTokens?: RefreshTokens
  readonly createClient: (connection: SellerConnection, parts: ClientParts) => MarketplaceClient
}

interface Entry {
  readonly settings: SellerSettings
  /** What the client was made from. */
  readonly connection: SellerConnection
  readonly fingerprint: string
  readonly client: MarketplaceClient
  /** The same client without its writes. */
  readonly reader: ReadClient
}

/**
 * Of what decides whether a token is granted, and of nothing else: what is refused with one is refused with the other. The built-in sandbox gets a new
 * port at each start; its address must not make old credentials look new.
 */
const buildFingerprint = ({ marketplaceUrl }: SellerSettings, connection: SellerConnection): string => {
  const { clientId, clientSecret, tokenPath, headerPrefix, serviceName, profile, refreshToken = null, partnerId } = connection
  const ofGrant = refreshToken === null ? [] : [refreshToken, partnerId]
  const deciding = [clientId, clientSecret, marketplaceUrl, tokenPath, headerPrefix, serviceName, profile.name, ...ofGrant]
  return createHash('sha256').update(JSON.stringify(deciding)).digest('hex')
}

/** A seller with its client; `kept` is returned with the new settings if its client was created from the same connection. */
const connect = (parts: SellerRegistryParts, settings: SellerSettings, kept: Entry | undefined): Entry => {
  const profile = parts.profiles.get(settings.profile)
  if (profile === undefined) throw new Error(`no profile is named ${settings.profile}; set MARKETPLACE_PROFILE`)
  const marketplaceUrl = settings.marketplaceUrl ?? parts.sandboxUrl
  if (marketplaceUrl === null) throw new Error(`seller ${settings.sellerId} has no marketplace address; set MARKETPLACE_URL`)
  const connection: SellerConnection = {
    sellerId: settings.sellerId,
    clientId: settings.clientId,
    clientSecret: settings.clientSecret,
    refreshToken: settings.refreshToken,
    partnerId: settings.partnerId,
    profile,
    marketplaceUrl,
    display:
      parts.display === null || settings.advertiserId === null ? null : { ...parts.display, advertiserId: settings.advertiserId },
    headerPrefix: settings.headerPrefix ?? profile.headerPrefix,
    quantityField: settings.quantityField ?? profile.quantityField,
    serviceName: settings.serviceName,
    tokenPath: settings.tokenPath ?? profile.tokenPath,
    requestTimeoutMs: parts.requestTimeoutMs,
    reportColumns: settings.reportColumns,
  }
  if (kept !== undefined && isDeepStrictEqual(kept.connection, connection)) return { ...kept, settings }
  const client = parts.createClient(connection, {
    budget: parts.budget,
    log: parts.log,
    hooks: parts.hooks,
    ...(parts.maxRecords === undefined ? {} : { maxRecords: parts.maxRecords }),
    ...(parts.refreshTokens === undefined ? {} : { refreshTokens: parts.refreshTokens }),
  })
  return { settings, connection, fingerprint: buildFingerprint(settings, connection), client, reader: toReadClient(client) }
}

/** Creates a client for each seller. */
export const createSellerRegistry = (parts: SellerRegistryParts): SellerRegistry => {
  let entries = new Map<string, Entry>()
  const resumes = new Map<string, number>()
  /** The stored mode of each seller; until it is known, its setting counts. */
  const modes = new Map<string, SellerMode>()
  const suspended = new Map<string, { readonly seller: ConfiguredSeller; readonly reason: string }>()

  const find = (sellerId: string): Entry => {
    const entry = entries.get(sellerId)
    if (entry === undefined) throw new UnknownSeller(sellerId)
    return entry
  }

  const findMode = ({ settings }: Entry): SellerMode => modes.get(settings.sellerId) ?? settings.mode
  const connectAll = (sellers: readonly SellerSettings[]): Map<string, Entry> =>
    new Map(sellers.map((settings) => [settings.sellerId, connect(parts, settings, entries.get(settings.sellerId))]))
  const clientsWithout = (from: Map<string, Entry>, others: Map<string, Entry>): readonly MarketplaceClient[] => {
    const kept = new Set([...others.values()].map(({ client }) => client))
    return [...from.values()].map(({ client }) => client).filter((client) => !kept.has(client))
  }
  /** Replaced clients that still have calls in progress. */
  const retired = new Set<MarketplaceClient>()
  const retire = async (client: MarketplaceClient): Promise<void> => {
    retired.add(client)
    try {
      await client.retire()
    } catch (error) {
      parts.log.warn({ seller_id: client.sellerId, err: error }, 'a client that was replaced could not be closed')
    } finally {
      retired.delete(client)
    }
  }

  const configured = (sellerId: string): ConfiguredSeller => ({
    sellerId,
    credentialsFingerprint: find(sellerId).fingerprint,
    resumes: resumes.get(sellerId) ?? 0,
    mode: find(sellerId).settings.mode,
  })

  entries = connectAll(parts.sellers)
  return {
    ids: () => [...entries.keys()],
    only: () => (entries.size === 1 ? ([...entries.keys()][0] ?? null) : null),
    has: (sellerId) => entries.has(sellerId),
    client: (sellerId) => find(sellerId).reader,
    liveClient: (sellerId) => {
      const entry = find(sellerId)
      return findMode(entry) === 'live' ? entry.client : null
    },
    listShadowed: () => [...entries].flatMap(([sellerId, entry]) => (findMode(entry) === 'shadow' ? [sellerId] : [])),
    settings: () => [...entries.values()].map((entry) => entry.settings),
    findSettings: (sellerId) => entries.get(sellerId)?.settings,
    configured,
    worksFor: (sellerId) => entries.has(sellerId) && !suspended.has(sellerId),
    suspend: (seller, reason) => {
      suspended.set(seller.sellerId, { seller, reason })
    },
    suspended: () => [...suspended.values()],
    accepted: () =>
      [...entries.values()]
        .filter(({ client }) => client.credentials.areAccepted())
        .map(({ client }) => configured(client.sellerId)),
    replace: async (sellers, store = async () => undefined) => {
      const next = connectAll(sellers)
      try {
        await store(
          [...next].map(([sellerId, { fingerprint, settings }]) => ({
            sellerId,
            credentialsFingerprint: fingerprint,
            mode: settings.mode,
          })),
        )
      } catch (error) {
        await Promise.all(clientsWithout(next, entries).map((client) => client.close()))
        throw error
      }
      const before = entries
      entries = next
      suspended.clear()
      for (const { client } of entries.values()) client.credentials.clearRefusals()
      for (const client of clientsWithout(before, entries)) void retire(client)
    },
    learn: (states) => {
      let isResumed = false
      for (const { sellerId, resumes: count, mode } of states) {
        modes.set(sellerId, mode)
        if ((resumes.get(sellerId) ?? 0) === count) continue
        // Refusals are cleared before the new count is known: a refusal from before must not count as a later one.
        entries.get(sellerId)?.client.credentials.clearRefusals()
        resumes.set(sellerId, count)
        isResumed = suspended.delete(sellerId) || isResumed
      }
      return isResumed
    },
    close: async () => {
      await Promise.all([...[...entries.values()].map(({ client }) => client), ...retired].map((client) => client.close()))
    },
  }
}
