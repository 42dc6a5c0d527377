import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { RateBudget } from '../clients/budget.ts'
import type { MarketplaceClient } from '../clients/client.ts'
import type { ClientHooks, ClientLog } from '../clients/client-parts.ts'
import type { SellerConnection } from '../clients/marketplace/connection.ts'
import type { Profile } from '../clients/marketplace/profiles/profile.ts'
import type { DisplaySettings, SellerSettings } from '../config.ts'
import type { Database } from '../store/database.ts'
import {
  type ConfiguredSeller,
  claimProbe,
  resumeProbed,
  type SellerSettingsMark,
  type SellerStanding,
  type Stop,
  stopSeller,
} from '../store/sellers.ts'

/** No such seller is configured in this process. */
export class UnknownSeller extends Error {
  override readonly name = 'UnknownSeller'
  constructor(sellerId: string) {
    super(
      `seller ${sellerId} is not configured; add it to SELLERS_FILE and have it read again (\`tallyman sellers reload\`, POST /v1/sellers/reload, SIGHUP), or set SELLER_ID and restart`,
    )
  }
}

/** Why a seller is stopped, with advice. */
export const credentialsRefused = (sellerId: string, httpStatus: number | null, process: string): string =>
  `the marketplace repeatedly refuses the credentials of seller ${sellerId} (HTTP ${httpStatus ?? 'none'}), as the process ${process} has them, so nothing of this seller runs: correct them in the settings, then have these read again (\`tallyman sellers reload\`, POST /v1/sellers/reload, SIGHUP) or restart; if they are right, \`tallyman sellers resume ${sellerId}\` tries them at once, which happens by itself every 15 minutes`

/** The configured sellers, each with its client; replaced as a whole when the settings are read again. */
export interface SellerRegistry {
  ids(): readonly string[]
  /** The only seller that this process serves, or null when there are several. */
  only(): string | null
  has(sellerId: string): boolean
  /** @throws UnknownSeller */
  client(sellerId: string): MarketplaceClient
  /** Whether this process works for a seller: it is configured here, and not put aside. */
  worksFor(sellerId: string): boolean
  /**
   * Puts a seller aside whose credentials are refused here while another process works with others, until settings are read again or it is resumed.
   */
  putAside(seller: ConfiguredSeller, reason: string): void
  /** The sellers that are put aside, each with why. */
  aside(): readonly { readonly seller: ConfiguredSeller; readonly reason: string }[]
  /** Told whenever this process works for other sellers than before, but for settings that are read again. */
  onWorkChanged(listener: () => void): void
  /** Those that have been granted a token, and have not been refused since. */
  accepted(): readonly SellerSettingsMark[]
  /** The current settings of every seller. */
  settings(): readonly SellerSettings[]
  /** The settings of one; undefined where it is not configured here. */
  settingsOf(sellerId: string): SellerSettings | undefined
  /** @throws UnknownSeller */
  configured(sellerId: string): ConfiguredSeller
  /**
   * Takes new settings: a client that would be made from the same is kept with its token, but forgets that credentials were refused; any other is
   * retired, which nobody waits for. They hold once `store` has resolved; where it fails, all stays as it was.
   */
  replace(sellers: readonly SellerSettings[], store?: (marks: readonly SellerSettingsMark[]) => Promise<void>): Promise<void>
  /** Takes over how the sellers stand: the client of one that has been resumed since forgets that its credentials were refused. */
  learn(standings: readonly Pick<SellerStanding, 'sellerId' | 'resumes'>[]): void
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
  readonly createClient: (
    connection: SellerConnection,
    parts: { readonly budget: RateBudget; readonly log: ClientLog; readonly hooks: ClientHooks; readonly maxRecords?: number },
  ) => MarketplaceClient
}

interface Entry {
  readonly settings: SellerSettings
  /** What the client was made from. */
  readonly connection: SellerConnection
  readonly fingerprint: string
  readonly client: MarketplaceClient
}

/**
 * Of what decides whether a token is granted, and of nothing else: what is refused with one is refused with the other. The built-in sandbox gets a new
 * port at each start; its address must not make old credentials look new.
 */
const fingerprintOf = ({ marketplaceUrl }: SellerSettings, connection: SellerConnection): string => {
  const { clientId, clientSecret, tokenPath, headerPrefix, serviceName, profile } = connection
  const deciding = [clientId, clientSecret, marketplaceUrl, tokenPath, headerPrefix, serviceName, profile.name]
  return createHash('sha256').update(JSON.stringify(deciding)).digest('hex')
}

/** Creates a client for each seller. */
export const createSellerRegistry = (parts: SellerRegistryParts): SellerRegistry => {
  let entries = new Map<string, Entry>()
  const resumes = new Map<string, number>()
  const aside = new Map<string, { readonly seller: ConfiguredSeller; readonly reason: string }>()
  let workChanged: () => void = () => undefined

  const connect = (settings: SellerSettings): Entry => {
    const profile = parts.profiles.get(settings.profile)
    if (profile === undefined) throw new Error(`no profile is named ${settings.profile}; set MARKETPLACE_PROFILE`)
    const marketplaceUrl = settings.marketplaceUrl ?? parts.sandboxUrl
    if (marketplaceUrl === null) throw new Error(`seller ${settings.sellerId} has no marketplace address; set MARKETPLACE_URL`)
    const connection: SellerConnection = {
      sellerId: settings.sellerId,
      clientId: settings.clientId,
      clientSecret: settings.clientSecret,
      profile,
      marketplaceUrl,
      display:
        parts.display === null || settings.advertiserId === null
          ? null
          : { ...parts.display, advertiserId: settings.advertiserId },
      headerPrefix: settings.headerPrefix ?? profile.headerPrefix,
      quantityField: settings.quantityField ?? profile.quantityField,
      serviceName: settings.serviceName,
      tokenPath: settings.tokenPath ?? profile.tokenPath,
      requestTimeoutMs: parts.requestTimeoutMs,
      reportColumns: settings.reportColumns,
    }
    const kept = entries.get(settings.sellerId)
    if (kept !== undefined && isDeepStrictEqual(kept.connection, connection)) return { ...kept, settings }
    return {
      settings,
      connection,
      fingerprint: fingerprintOf(settings, connection),
      client: parts.createClient(connection, {
        budget: parts.budget,
        log: parts.log,
        hooks: parts.hooks,
        ...(parts.maxRecords === undefined ? {} : { maxRecords: parts.maxRecords }),
      }),
    }
  }

  const find = (sellerId: string): Entry => {
    const entry = entries.get(sellerId)
    if (entry === undefined) throw new UnknownSeller(sellerId)
    return entry
  }

  const connectAll = (sellers: readonly SellerSettings[]): Map<string, Entry> =>
    new Map(sellers.map((settings) => [settings.sellerId, connect(settings)]))
  const clientsWithout = (from: Map<string, Entry>, others: Map<string, Entry>): readonly MarketplaceClient[] => {
    const kept = new Set([...others.values()].map(({ client }) => client))
    return [...from.values()].map(({ client }) => client).filter((client) => !kept.has(client))
  }
  /** Clients that others have taken the place of, while something of them is under way. */
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
  })

  entries = connectAll(parts.sellers)
  return {
    ids: () => [...entries.keys()],
    only: () => (entries.size === 1 ? ([...entries.keys()][0] ?? null) : null),
    has: (sellerId) => entries.has(sellerId),
    client: (sellerId) => find(sellerId).client,
    settings: () => [...entries.values()].map((entry) => entry.settings),
    settingsOf: (sellerId) => entries.get(sellerId)?.settings,
    configured,
    worksFor: (sellerId) => entries.has(sellerId) && !aside.has(sellerId),
    putAside: (seller, reason) => {
      aside.set(seller.sellerId, { seller, reason })
      workChanged()
    },
    aside: () => [...aside.values()],
    onWorkChanged: (listener) => {
      workChanged = listener
    },
    accepted: () =>
      [...entries.values()]
        .filter(({ client }) => client.credentials.accepted())
        .map(({ client }) => configured(client.sellerId)),
    replace: async (sellers, store = async () => undefined) => {
      const next = connectAll(sellers)
      try {
        await store([...next].map(([sellerId, { fingerprint }]) => ({ sellerId, credentialsFingerprint: fingerprint })))
      } catch (error) {
        await Promise.all(clientsWithout(next, entries).map((client) => client.close()))
        throw error
      }
      const before = entries
      entries = next
      aside.clear()
      for (const { client } of entries.values()) client.credentials.forgive()
      for (const client of clientsWithout(before, entries)) void retire(client)
    },
    learn: (standings) => {
      for (const { sellerId, resumes: count } of standings) {
        if ((resumes.get(sellerId) ?? 0) === count) continue
        // The memory goes before the count is known: in between, what is remembered must not pass for something newer.
        entries.get(sellerId)?.client.credentials.forgive()
        resumes.set(sellerId, count)
        if (aside.delete(sellerId)) workChanged()
      }
    },
    close: async () => {
      await Promise.all([...[...entries.values()].map(({ client }) => client), ...retired].map((client) => client.close()))
    },
  }
}

/** Dependencies of a stop. */
export interface StopParts {
  readonly database: Database
  readonly sellers: Pick<SellerRegistry, 'has' | 'configured' | 'putAside'>
  /** The name of this process. */
  readonly owner: string
}

/** What became of stopping a seller, and what is to be told of it. */
export interface StopTold {
  readonly stop: Stop
  readonly reason: string
}

/**
 * The marketplace refuses the credentials with which a run began: the seller is stopped for all, or put aside here while another process works with
 * other ones. Settings that came in meanwhile are not judged by the old ones.
 */
export const stopRefused = async (
  { database, sellers, owner }: StopParts,
  seller: ConfiguredSeller,
  httpStatus: number | null,
): Promise<StopTold> => {
  const { sellerId, credentialsFingerprint } = seller
  if (!sellers.has(sellerId) || sellers.configured(sellerId).credentialsFingerprint !== credentialsFingerprint)
    return { stop: 'outdated', reason: `the credentials of seller ${sellerId} were refused, and are other ones by now` }
  const reason = credentialsRefused(sellerId, httpStatus, owner)
  const stop = await stopSeller(database, seller, reason, owner)
  if (stop === 'stopped') return { stop, reason }
  if (stop === 'outdated')
    return { stop, reason: `the credentials of seller ${sellerId} were refused before it was resumed or paused` }
  sellers.putAside(seller, reason)
  return {
    stop,
    reason: `the marketplace refuses the credentials that the process ${owner} has for seller ${sellerId} (HTTP ${httpStatus ?? 'none'}) and accepts those of another process, so this one leaves the seller to it: correct its settings, then have them read again (\`tallyman sellers reload\`, SIGHUP) or restart it`,
  }
}

/** Dependencies of a probe. */
export interface ProbeParts {
  readonly database: Database
  readonly sellers: SellerRegistry
}

/**
 * Asks for a token of a stopped seller, when that is due and nobody else does it, and takes the seller up again when one is granted; what a
 * `seller.probe` job does. Answers what came of it; null when it was not to be asked.
 */
export const probeSeller = async (
  { database, sellers }: ProbeParts,
  sellerId: string,
  signal: AbortSignal,
): Promise<'resumed' | 'refused' | 'unanswered' | null> => {
  if (!sellers.has(sellerId)) return null
  // Taken before anything is waited for: it may be dropped meanwhile.
  const { credentials } = sellers.client(sellerId)
  if (!(await claimProbe(database, sellerId))) return null
  const answer = await credentials.ask(signal)
  if (!answer.accepted) return answer.refused ? 'refused' : 'unanswered'
  return (await resumeProbed(database, sellerId)) ? 'resumed' : null
}
