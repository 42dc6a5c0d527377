import { readFile } from 'node:fs/promises'
import { createMarketplaceClient } from '../clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../clients/marketplace/orders/orders.ts'
import { profiles } from '../clients/marketplace/profiles/index.ts'
import type { Profile } from '../clients/marketplace/profiles/profile.ts'
import type { FindLimit, Grant, RateBudget, Wait } from '../clients/rate-limit/budget.ts'
import { type DisplaySettings, type SellerSettings, sandboxDisplay, sandboxDisplayKeyFile } from '../config/config.ts'
import { listSharedAccountWarnings } from '../config/shared-accounts.ts'
import { sandboxLines, startSandboxProcess } from '../demo/sandbox-process.ts'
import { createCallCounter } from '../jobs/monitoring/call-counter.ts'
import { createDriftRecorder } from '../jobs/monitoring/drift-recorder.ts'
import { openBudgets } from '../jobs/rate-limits/budgets.ts'
import { type BudgetFigures, shareBudgetFigures } from '../jobs/rate-limits/figures.ts'
import { createRefreshTokens } from '../jobs/sellers/refresh-tokens.ts'
import { createSellerRegistry, type SellerRegistry } from '../jobs/sellers/registry.ts'
import { ServedSellers } from '../jobs/sellers/served-sellers.ts'
import { createServing, type Serving } from '../jobs/sellers/serving.ts'
import type { Metrics } from '../observability/metrics.ts'
import { recordSpan } from '../observability/trace.ts'
import { removeUnusedRateLimits } from '../store/sellers/rate-limits.ts'
import { removeProcess } from '../store/sellers/seller-processes.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import type { QueuesPart } from './queues.ts'

/** The sandbox of a demonstration places an order this often. */
const demonstrationOrderInterval = '5s'
/** … and begins with orders of the last month, so that returns and stock have a past. */
const demonstrationPastOrders = 120

/** The marketplace as this daemon speaks to it. */
export interface MarketplacePart {
  /** Address of the built-in sandbox; null where a real marketplace is configured. */
  readonly sandboxUrl: string | null
  readonly sellers: SellerRegistry
  readonly serving: Serving
  readonly servedSellers: ServedSellers
  /** The budget that calls are taken from. */
  readonly budget: RateBudget
  /** How the limits stand, over all processes. */
  readonly budgetFigures: BudgetFigures
  /** The limits that hold. */
  readonly findLimit: FindLimit
  /** The profile of a seller that is configured here. */
  findProfile(sellerId: string): Profile | undefined
  /** Takes a permit to request an order that an event names, out of a share of the budget. */
  mayLookUp(sellerId: string): Promise<Grant | Wait>
  /** Replaces the settings: they are stored first. @throws an error that keeps them from being stored; no seller changes then */
  replaceSellers(settings: readonly SellerSettings[]): Promise<void>
}

interface SandboxPart {
  /** Null where a real marketplace is configured. */
  readonly sandboxUrl: string | null
  readonly display: DisplaySettings | null
}

/** Starts the sandbox where no marketplace is configured. Null: the process was stopped meanwhile. */
const startSandbox = async ({ config, log, stop, shutdownHooks }: DaemonContext): Promise<SandboxPart | null> => {
  const display = config.display === 'sandbox' ? null : config.display
  if (config.sandbox === null) return { sandboxUrl: null, display }
  const sandbox = await startSandboxProcess({
    port: config.sandbox.port,
    dataDir: config.dataDir,
    profile: config.sellers[0]?.profile ?? 'specification',
    orderInterval: config.sandbox.demo ? demonstrationOrderInterval : 'off',
    pastOrders: config.sandbox.demo ? demonstrationPastOrders : 0,
    onLine: sandboxLines(log),
  })
  shutdownHooks.add('the sandbox', () => sandbox.stop())
  if (stop.aborted) return null
  if (config.display !== 'sandbox') return { sandboxUrl: sandbox.url, display }
  const privateKey = await readFile(sandboxDisplayKeyFile(config.dataDir), 'utf8')
  return { sandboxUrl: sandbox.url, display: { ...sandboxDisplay, url: sandbox.url, privateKey } }
}

/** Creates the registry with a client for each seller, and the functions that depend on the current settings of a seller. */
const connectSellers = (context: DaemonContext, database: DatabasePart, queues: QueuesPart, sandbox: SandboxPart) => {
  const { config, log, metrics, shutdownHooks } = context
  const findProfile = (sellerId: string): Profile | undefined => profiles.get(sellers.findSettings(sellerId)?.profile ?? '')
  const findLimit: FindLimit = (sellerId, { name, limit }) => {
    const set = sellers.findSettings(sellerId)?.rateLimits[name]
    return set === undefined ? (findProfile(sellerId)?.rateLimits[name] ?? limit) : { ...set, isSet: true }
  }
  const drift = createDriftRecorder(context, database.database)
  const budgets = openBudgets({ ...context, ...database, ...queues, findLimit })
  for (const warning of listSharedAccountWarnings(config.sellers)) log.warn(warning)
  const sellers = createSellerRegistry({
    ...sandbox,
    sellers: config.sellers,
    requestTimeoutMs: config.requestTimeoutMs,
    maxRecords: config.maxPageRecords,
    profiles,
    budget: budgets.budget,
    log,
    hooks: { ...buildClientHooks(metrics, createCallCounter(context, database.database)), onDrift: drift.record },
    refreshTokens: createRefreshTokens({
      ...context,
      ...database,
      encryptionKeys: config.tokenEncryptionKeys,
      requestTimeoutMs: config.requestTimeoutMs,
    }),
    createClient: createMarketplaceClient,
  })
  shutdownHooks.add('the marketplace clients', () => sellers.close())
  return { sellers, findProfile, findLimit, ...budgets }
}

const buildClientHooks = (
  metrics: Metrics,
  countCall: ReturnType<typeof createCallCounter>,
): Parameters<typeof createSellerRegistry>[0]['hooks'] => ({
  onRequest: ({ operation, sellerId, correlationId, outcome, status, durationMs }) => {
    countCall({ sellerId, outcome })
    recordSpan(operation, {
      kind: 'client',
      durationMs,
      failed: outcome !== 'ok' && outcome !== 'none',
      attributes: {
        'tallyman.seller.id': sellerId,
        'tallyman.correlation_id': correlationId,
        'tallyman.outcome': outcome,
        ...(status === null ? {} : { 'http.response.status_code': status }),
      },
    })
    metrics.apiRequests.inc({ operation, outcome: outcome === 'none' ? 'ok' : outcome })
    metrics.apiRequestDuration.observe({ operation }, durationMs / 1_000)
  },
  onUnknownValue: ({ resource, field }) => metrics.unknownValues.inc({ resource, field }),
})

/**
 * Starts the sandbox where no marketplace is configured, and makes a client for each seller. Null: the process was stopped meanwhile.
 * @throws what keeps them from being used
 */
export const startMarketplace = async (
  context: DaemonContext,
  databasePart: DatabasePart,
  queues: QueuesPart,
): Promise<MarketplacePart | null> => {
  const { quiet, owner, stop, shutdownHooks } = context
  const { database } = databasePart
  const sandbox = await startSandbox(context)
  if (sandbox === null) return null
  const { sellers, budget, lookupBudget, findLimit, findProfile } = connectSellers(context, databasePart, queues, sandbox)
  const serving = createServing({ database, sellers })
  const servedSellers = new ServedSellers({ ...context, database, sellers, serving })
  shutdownHooks.add('the row of this process', () =>
    removeProcess(database, owner).catch((error: unknown) => {
      quiet.warn('rereads', { err: error }, 'the row of this process cannot be removed')
    }),
  )
  await removeUnusedRateLimits(database)
  await servedSellers.begin()
  if (stop.aborted) return null

  return {
    sandboxUrl: sandbox.sandboxUrl,
    sellers,
    serving,
    servedSellers,
    budget,
    // The budget keeps limits of sellers that this process no longer serves; no job waits for those.
    budgetFigures: shareBudgetFigures({ quiet, shutdownHooks, owner }, database, {
      snapshot: () => budget.snapshot().filter(({ sellerId }) => sellers.has(sellerId)),
    }),
    findLimit,
    findProfile,
    mayLookUp: async (sellerId) =>
      sellers.has(sellerId) ? await lookupBudget.take(sellerId, ordersEndpoint.operations.get) : { granted: true },
    replaceSellers: (settings) => servedSellers.replace(settings),
  }
}
