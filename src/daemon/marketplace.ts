import { readFile } from 'node:fs/promises'
import { createInProcessBudget, type Grant, type LimitOf, type RateBudget, shareOf, type Wait } from '../clients/budget.ts'
import { createMarketplaceClient } from '../clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../clients/marketplace/orders.ts'
import { profiles } from '../clients/marketplace/profiles/index.ts'
import type { Profile } from '../clients/marketplace/profiles/profile.ts'
import { oneAccountWarnings } from '../config/one-account.ts'
import { type DisplaySettings, type SellerSettings, sandboxDisplay, sandboxDisplayKeyFile } from '../config.ts'
import { createInTurn } from '../in-turn.ts'
import { takeReasons } from '../jobs/log-reasons.ts'
import { createSellerRegistry, type SellerRegistry } from '../jobs/sellers.ts'
import { createServing, type Serving } from '../jobs/serving.ts'
import type { Metrics } from '../observability/metrics.ts'
import { sandboxLines, startSandboxProcess } from '../sandbox-process.ts'
import { wakeWaitingCommands } from '../store/command-waits.ts'
import type { Database } from '../store/database.ts'
import { recordConfiguredSkus } from '../store/inventory-skus.ts'
import { withOtherReasons } from '../store/log-reasons.ts'
import { acceptedElsewhere, forgetCredentials, noteAccepted } from '../store/seller-credentials.ts'
import { claimSellers, leaveProcesses, sayServes } from '../store/seller-processes.ts'
import { readSellers, type SellerSettingsMark, type SellerStanding, stopSeller } from '../store/sellers.ts'
import { recordConfiguredCampaigns } from '../store/watched-campaigns.ts'
import { type AnswerTimes, createAnswerTimes } from './answer-times.ts'
import { openBudget } from './budget.ts'
import { type BudgetFigures, shareBudgetFigures } from './budget-figures.ts'
import type { DaemonContext } from './context.ts'
import { noticeCounting } from './counted-aloud.ts'

/** Orders that events name before a sync has brought them are looked up with this share of the budget; the rest is for orders that are known. */
const lookupShare = 0.25
/** See `sayAccepted`. */
const notedForMs = 600_000
/** The sandbox of a demonstration places an order this often. */
const demonstrationOrderInterval = '5s'
/** … and begins with orders of the last month, so that returns and stock have a past. */
const demonstrationPastOrders = 120

/**
 * Has the settings read again, unless no seller that is served here is removed any more when its turn comes. False: the process stops.
 * @throws what keeps settings from being stored; wrong ones are told of, and all stays as it was
 */
export type RereadRemoved = (removed: () => Promise<readonly string[]>) => Promise<boolean>

/** The marketplace as this daemon speaks to it. */
export interface MarketplacePart {
  /** Address of the built-in sandbox; null where a real marketplace is configured. */
  readonly sandboxUrl: string | null
  readonly sellers: SellerRegistry
  readonly serving: Serving
  /** The budget that calls are taken from. */
  readonly budget: RateBudget
  /** How the limits stand, over all processes. */
  readonly budgetFigures: BudgetFigures
  /** The limits that hold. */
  readonly limitOf: LimitOf
  readonly answerTimes: Pick<AnswerTimes, 'of'>
  /** The profile of a seller that is configured here. */
  profileOf(sellerId: string): Profile | undefined
  /** Leave to look an order up that an event names, out of a share of the budget. */
  mayLookUp(sellerId: string): Promise<Grant | Wait>
  /** Says again which sellers are served here, and reads how they stand; a failure is logged. */
  learnSellers(): Promise<void>
  /** Who has the settings read again when sellers turn out to be removed that are served here; until then these are left alone. */
  onRemoved(reread: RereadRemoved): void
  /** Takes other settings: they are stored first, and where that fails, the sellers stay as they were. */
  replaceSellers(settings: readonly SellerSettings[]): Promise<void>
  /** Told of the commands that wait no more, since the marketplace has begun to say how many requests are left. */
  onCommandsDue(listener: (commandIds: readonly string[]) => void): void
}

/**
 * Starts the sandbox where no marketplace is configured, and makes a client for each seller. Null: told to stop meanwhile.
 * @throws what keeps them from being used
 */
export const startMarketplace = async (
  { config, log, quiet, metrics, owner, stop, closers }: DaemonContext,
  database: Database,
): Promise<MarketplacePart | null> => {
  let sandboxUrl: string | null = null
  let display: DisplaySettings | null = config.display === 'sandbox' ? null : config.display
  if (config.sandbox !== null) {
    const sandbox = await startSandboxProcess({
      port: config.sandbox.port,
      dataDir: config.dataDir,
      profile: config.sellers[0]?.profile ?? 'specification',
      orderInterval: config.sandbox.demo ? demonstrationOrderInterval : 'off',
      pastOrders: config.sandbox.demo ? demonstrationPastOrders : 0,
      onLine: sandboxLines(log),
    })
    closers.add('the sandbox', () => sandbox.stop())
    if (stop.aborted) return null
    sandboxUrl = sandbox.url
    if (config.display === 'sandbox') {
      const privateKey = await readFile(sandboxDisplayKeyFile(config.dataDir), 'utf8')
      display = { ...sandboxDisplay, url: sandbox.url, privateKey }
    }
  }

  const limitOf: LimitOf = (sellerId, { name, limit }) => {
    const set = sellers.settingsOf(sellerId)?.rateLimits[name]
    return set === undefined ? (profileOf(sellerId)?.rateLimits[name] ?? limit) : { ...set, isSet: true }
  }
  let commandsDue: (commandIds: readonly string[]) => void = () => undefined
  const wakeWaiting = async (sellerId: string): Promise<void> => {
    try {
      commandsDue(await wakeWaitingCommands(database, [sellerId]))
    } catch (error) {
      quiet.warn(
        'waits',
        { seller_id: sellerId, err: error },
        'commands that wait for budget keep moments that are later than need be',
      )
    }
  }
  const budget = noticeCounting(
    observeWaits(openBudget({ config, quiet, closers, owner }, database, limitOf), metrics),
    (sellerId) => void wakeWaiting(sellerId),
  )
  const lookupBudget = observeWaits(
    createInProcessBudget({ limitOf: (...asked) => shareOf(limitOf(...asked), lookupShare) }),
    metrics,
  )
  const answerTimes = createAnswerTimes()
  for (const warning of oneAccountWarnings(config.sellers)) log.warn(warning)
  const sellers = createSellerRegistry({
    sellers: config.sellers,
    sandboxUrl,
    display,
    requestTimeoutMs: config.requestTimeoutMs,
    maxRecords: config.maxPageRecords,
    profiles,
    budget,
    log,
    hooks: {
      onRequest: ({ sellerId, operation, outcome, durationMs }) => {
        answerTimes.note(sellerId, operation, durationMs)
        metrics.apiRequests.inc({ operation, outcome: outcome === 'none' ? 'ok' : outcome })
        metrics.apiRequestDuration.observe({ operation }, durationMs / 1_000)
      },
      onUnknownValue: ({ resource, field }) => metrics.unknownValues.inc({ resource, field }),
    },
    createClient: createMarketplaceClient,
  })
  closers.add('the marketplace clients', () => sellers.close())
  const serving = createServing({ database, sellers })

  const profileOf = (sellerId: string): Profile | undefined => profiles.get(sellers.settingsOf(sellerId)?.profile ?? '')
  /** What has been written down of credentials that are accepted; all of it is written anew now and then, for another process may have removed it. */
  let noted = new Map<string, string>()
  let notedSinceMs = performance.now()
  /** Takes settings into the database, the sellers themselves last: from then on they are served. */
  const rememberSellers = async (
    by: 'start' | 'settings',
    settings: readonly SellerSettings[],
    marks: readonly SellerSettingsMark[],
  ): Promise<void> => {
    for (const { sellerId, logReasons } of await withOtherReasons(database, settings))
      await takeReasons(database, sellerId, logReasons)
    const sellerIds = [...new Set([...sellers.ids(), ...settings.map(({ sellerId }) => sellerId)])]
    await serving.begin(by, marks, async (transaction) => {
      await claimSellers(transaction, { process: owner, roles: config.roles, sellerIds, faults: [] }, process.uptime() * 1_000)
      await forgetCredentials(transaction, owner, marks)
      await recordConfiguredCampaigns(transaction, settings)
      await recordConfiguredSkus(transaction, settings)
    })
    noted = new Map()
  }
  const rememberAsTheyAre = (): Promise<void> =>
    rememberSellers('start', sellers.settings(), sellers.ids().map(sellers.configured))
  /** One after the other: what is stored and what the registry holds would come apart otherwise. */
  const inTurn = createInTurn()
  let rereadRemoved: RereadRemoved = async () => false
  /** Takes up again what is removed and served all the same, since the settings cannot be read that might say otherwise. */
  const takeUpAgain = async (): Promise<void> => {
    const removed = await serving.say()
    if (removed.length === 0) return
    log.warn({ sellers: removed }, 'sellers that were removed are taken up again, since the settings of this process are wrong')
    await rememberAsTheyAre()
  }
  const sayAccepted = async (): Promise<void> => {
    if (performance.now() - notedSinceMs > notedForMs) {
      noted = new Map()
      notedSinceMs = performance.now()
    }
    const accepted = sellers.accepted()
    const fresh = accepted.filter(({ sellerId, credentialsFingerprint }) => noted.get(sellerId) !== credentialsFingerprint)
    // Those that are refused by now are written down again when they are accepted.
    const stillNoted = accepted.filter(({ sellerId }) => noted.has(sellerId))
    noted = new Map(stillNoted.map(({ sellerId, credentialsFingerprint }) => [sellerId, credentialsFingerprint]))
    if (fresh.length === 0) return
    await noteAccepted(database, owner, fresh)
    for (const { sellerId, credentialsFingerprint } of fresh) noted.set(sellerId, credentialsFingerprint)
  }
  /** Stops those that were left to a process that has ended, or is refused too. */
  const reviewAside = async (): Promise<void> => {
    const aside = sellers.aside()
    if (aside.length === 0) return
    const elsewhere = await acceptedElsewhere(
      database,
      owner,
      aside.map(({ seller }) => seller),
    )
    for (const { seller, reason } of aside)
      if (!elsewhere.has(seller.sellerId) && (await stopSeller(database, seller, reason, owner)) === 'stopped')
        log.warn({ seller_id: seller.sellerId }, reason)
  }
  closers.add('the row of this process', () =>
    leaveProcesses(database, owner).catch((error: unknown) => {
      quiet.warn('rereads', { err: error }, 'the row of this process cannot be removed')
    }),
  )
  await rememberAsTheyAre()
  sellers.learn(await readSellers(database))
  if (stop.aborted) return null

  return {
    sandboxUrl,
    sellers,
    serving,
    budget,
    // The budget remembers limits of sellers that are not served any more; nobody waits for those.
    budgetFigures: shareBudgetFigures({ quiet, closers, owner }, database, {
      snapshot: () => budget.snapshot().filter(({ sellerId }) => sellers.has(sellerId)),
    }),
    limitOf,
    answerTimes,
    profileOf,
    mayLookUp: async (sellerId) =>
      sellers.has(sellerId) ? await lookupBudget.take(sellerId, ordersEndpoint.operations.get) : { granted: true },
    learnSellers: async () => {
      try {
        const removed = await serving.say()
        // Only settings as they are now say whether they are served still: this process may have been silent while these were changed.
        if (removed.length > 0 && (await rereadRemoved(serving.say))) await inTurn(takeUpAgain)
        sellers.learn(await readSellers(database))
        await sayAccepted()
        await reviewAside()
        quiet.recovered('sellers', 'the states of the sellers can be stored and read again')
      } catch (error) {
        quiet.warn('sellers', { err: error }, 'the states of the sellers cannot be stored or read')
      }
    },
    onRemoved: (reread) => {
      rereadRemoved = reread
    },
    replaceSellers: (settings) =>
      inTurn(async () => {
        let standings: readonly SellerStanding[] = []
        await sellers.replace(settings, async (marks) => {
          await rememberSellers('settings', settings, marks)
          standings = await readSellers(database)
        })
        sellers.learn(standings)
        try {
          await sayServes(database, owner, sellers.ids())
        } catch (error) {
          log.warn(
            { err: error },
            'which sellers this process serves no more cannot be said to the others yet; it is tried again',
          )
        }
      }),
    onCommandsDue: (listener) => {
      commandsDue = listener
    },
  }
}

/** A budget whose waits are measured. */
const observeWaits = (budget: RateBudget, { rateLimitWait }: Pick<Metrics, 'rateLimitWait'>): RateBudget => ({
  ...budget,
  take: async (sellerId, operation, scope, lane) => {
    const leave = await budget.take(sellerId, operation, scope, lane)
    if (!leave.granted)
      rateLimitWait.observe({ operation: operation.name }, Math.max(0, leave.availableAt.getTime() - Date.now()) / 1_000)
    return leave
  },
})
