import type { Role, SellerSettings } from '../../config/config.ts'
import type { Logger, QuietLog } from '../../observability/log.ts'
import { recordConfiguredCampaigns } from '../../store/campaigns/watched-campaigns.ts'
import type { Database } from '../../store/db/database.ts'
import type { Listener } from '../../store/db/listener.ts'
import { recordConfiguredSkus } from '../../store/inventory/inventory-skus.ts'
import { findChangedReasons } from '../../store/inventory/log-reasons.ts'
import { deleteUnusedRefreshTokens } from '../../store/sellers/refresh-tokens.ts'
import { deleteOutdatedCredentials, findAcceptedByOthers, recordAccepted } from '../../store/sellers/seller-credentials.ts'
import { announceSellers, updateAnnouncedSellers } from '../../store/sellers/seller-processes.ts'
import {
  readSellers,
  type SellerFingerprint,
  type SellerStatus,
  sellersChannel,
  stopSeller,
} from '../../store/sellers/sellers.ts'
import { createMutex } from '../../util/mutex.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import { takeReasons } from '../sync/resources/log-reasons.ts'
import { resolveReplacedAlarms } from './refresh-tokens.ts'
import type { SellerRegistry } from './registry.ts'
import type { RereadRemoved } from './reread-all-processes.ts'
import type { Serving } from './serving.ts'

/** Accepted credentials are recorded again after this time: another process may have removed the record. */
const recordedForMs = 600_000
/**
 * A process announces its sellers, and reads their states, at this interval. It learns by a notification that another process has resumed a seller; the
 * interval makes up for a lost notification.
 */
const learnEveryMs = 15_000

/** Dependencies of the sellers that a process serves. */
export interface ServedSellersParts {
  readonly config: { readonly roles: readonly Role[]; readonly tokenEncryptionKeys: readonly Uint8Array[] }
  readonly database: Database
  readonly sellers: SellerRegistry
  readonly serving: Serving
  /** Names this process in Postgres. */
  readonly owner: string
  readonly log: Logger
  readonly quiet: QuietLog
}

/** The sellers that this process serves, in Postgres and in the registry. */
export class ServedSellers {
  readonly #parts: ServedSellersParts
  /** Replacements are made one after the other: Postgres and the registry must agree. */
  readonly #mutex = createMutex()
  /** Fingerprints of the accepted credentials that were recorded, by seller. */
  #recorded = new Map<string, string>()
  #recordedSinceMs = performance.now()

  constructor(parts: ServedSellersParts) {
    this.#parts = parts
  }

  /** Stores the sellers as they are configured, and reads their states. @throws errors of Postgres */
  async begin(): Promise<void> {
    const { database, sellers } = this.#parts
    await this.#storeConfigured()
    sellers.learn(await readSellers(database))
  }

  /** Replaces the settings: they are stored first. @throws an error that keeps them from being stored; no seller changes then */
  replace(settings: readonly SellerSettings[]): Promise<void> {
    const { database, sellers, owner, log } = this.#parts
    return this.#mutex(async () => {
      let states: readonly SellerStatus[] = []
      await sellers.replace(settings, async (marks) => {
        await this.#store('settings', settings, marks)
        states = await readSellers(database)
      })
      sellers.learn(states)
      try {
        await updateAnnouncedSellers(database, owner, sellers.ids())
      } catch (error) {
        log.warn(
          { err: error },
          'the other processes could not be notified which sellers this process no longer serves; it is tried again',
        )
      }
    })
  }

  /**
   * Announces the sellers, reads their states, and records accepted credentials. Never throws: a failure is logged, and the next call repeats all.
   * Returns whether this process works for other sellers than before.
   *
   * @param rereadRemoved reads the settings again when sellers of this process turn out to be removed
   */
  async learn(rereadRemoved: RereadRemoved): Promise<boolean> {
    const { database, sellers, serving, quiet } = this.#parts
    let changed = false
    try {
      const removed = await serving.say()
      // Only the current settings show whether they are still served: they may have changed while this process was silent.
      if (removed.length > 0 && (await rereadRemoved(serving.say))) await this.#mutex(() => this.#restoreRemoved())
      changed = sellers.learn(await readSellers(database))
      await this.#recordAccepted()
      await this.#reviewSuspended()
      quiet.recovered('sellers', 'the states of the sellers can be stored and read again')
    } catch (error) {
      quiet.warn('sellers', { err: error }, 'the states of the sellers cannot be stored or read')
    }
    return changed
  }

  /** Stores settings, the sellers themselves last: from then on they are served. */
  async #store(
    by: 'start' | 'settings',
    settings: readonly SellerSettings[],
    marks: readonly SellerFingerprint[],
  ): Promise<void> {
    const { config, database, sellers, serving, owner } = this.#parts
    for (const { sellerId, logReasons } of await findChangedReasons(database, settings))
      await takeReasons(database, sellerId, logReasons)
    const sellerIds = [...new Set([...sellers.ids(), ...settings.map(({ sellerId }) => sellerId)])]
    await serving.begin(by, marks, async (transaction) => {
      await announceSellers(transaction, { process: owner, roles: config.roles, sellerIds, faults: [] }, process.uptime() * 1_000)
      await deleteOutdatedCredentials(transaction, owner, marks)
      await resolveReplacedAlarms(
        transaction,
        settings.flatMap(({ sellerId, refreshToken }) =>
          refreshToken === null || config.tokenEncryptionKeys.length > 0 ? [sellerId] : [],
        ),
      )
      await deleteUnusedRefreshTokens(transaction)
      await recordConfiguredCampaigns(transaction, settings)
      await recordConfiguredSkus(transaction, settings)
    })
    this.#recorded = new Map()
  }

  #storeConfigured(): Promise<void> {
    const { sellers } = this.#parts
    return this.#store('start', sellers.settings(), sellers.ids().map(sellers.configured))
  }

  /** Stores sellers again that are removed but still served: the settings that might say otherwise cannot be read. */
  async #restoreRemoved(): Promise<void> {
    const { serving, log } = this.#parts
    const removed = await serving.say()
    if (removed.length === 0) return
    log.warn({ sellers: removed }, 'removed sellers are stored again, because the settings of this process are invalid')
    await this.#storeConfigured()
  }

  /** Records credentials that were accepted since the last call. */
  async #recordAccepted(): Promise<void> {
    const { database, sellers, owner } = this.#parts
    if (performance.now() - this.#recordedSinceMs > recordedForMs) {
      this.#recorded = new Map()
      this.#recordedSinceMs = performance.now()
    }
    const accepted = sellers.accepted()
    const fresh = accepted.filter(
      ({ sellerId, credentialsFingerprint }) => this.#recorded.get(sellerId) !== credentialsFingerprint,
    )
    // Credentials that are refused now are recorded again when they are accepted.
    const unchanged = accepted.filter(({ sellerId }) => this.#recorded.has(sellerId))
    this.#recorded = new Map(unchanged.map(({ sellerId, credentialsFingerprint }) => [sellerId, credentialsFingerprint]))
    if (fresh.length === 0) return
    await recordAccepted(database, owner, fresh)
    for (const { sellerId, credentialsFingerprint } of fresh) this.#recorded.set(sellerId, credentialsFingerprint)
  }

  /** Stops suspended sellers whose other process has ended, or is refused too. */
  async #reviewSuspended(): Promise<void> {
    const { database, sellers, owner, log } = this.#parts
    const suspended = sellers.suspended()
    if (suspended.length === 0) return
    const acceptedByOthers = await findAcceptedByOthers(
      database,
      owner,
      suspended.map(({ seller }) => seller),
    )
    for (const { seller, reason } of suspended)
      if (!acceptedByOthers.has(seller.sellerId) && (await stopSeller(database, seller, reason, owner)) === 'stopped')
        log.warn({ seller_id: seller.sellerId }, reason)
  }
}

/** Dependencies of following the states of the sellers. */
export interface FollowSellersParts {
  readonly servedSellers: Pick<ServedSellers, 'learn'>
  readonly rereadRemoved: RereadRemoved
  readonly listener: Pick<Listener, 'on'>
  readonly shutdownHooks: ShutdownHooks
  /** Called when this process works for other sellers than before. */
  sellersChanged(): void
}

/** Learns the states of the sellers now, at each notification and at intervals, until the process stops. */
export const followSellers = ({
  servedSellers,
  rereadRemoved,
  listener,
  shutdownHooks,
  sellersChanged,
}: FollowSellersParts): void => {
  const learn = async (): Promise<void> => {
    if (await servedSellers.learn(rereadRemoved)) sellersChanged()
  }
  const learnNow = (): void => void learn()
  listener.on(sellersChannel, learnNow)
  const timer = setInterval(learnNow, learnEveryMs)
  shutdownHooks.add('the states of the sellers', async () => clearInterval(timer))
  learnNow()
}
