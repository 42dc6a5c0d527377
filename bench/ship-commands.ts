import { createMarketplaceClient } from '../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../src/clients/marketplace/orders/orders.ts'
import { profiles } from '../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../src/clients/rate-limit/shared-budget.ts'
import type { PlannedCommand } from '../src/domain/commands/command.ts'
import type { CommandParts } from '../src/jobs/commands/engine/engine.ts'
import { createSellerRegistry, type SellerRegistry } from '../src/jobs/sellers/registry.ts'
import { createLogger, createQuietLog } from '../src/observability/log.ts'
import type { Metrics } from '../src/observability/metrics.ts'
import { createQueueBackend, type QueueBackendOptions } from '../src/queues/backend/backend.ts'
import { createQueueRuntime, type QueueRuntime } from '../src/queues/runtime.ts'
import { insertCommands } from '../src/store/commands/command-steps.ts'
import { findHeadCommand } from '../src/store/commands/commands.ts'
import type { Database } from '../src/store/db/database.ts'
import { recordSellers } from '../src/store/sellers/sellers.ts'
import { storeOrders } from '../test/support/store.ts'
import { generateOrder } from './generate.ts'

export const benchSellerId = 'bench'
/** Time-out of a request to the stub, in milliseconds. */
export const requestTimeoutMs = 30_000
const pageSize = 200

/** Goes nowhere: a benchmark prints its figures only. */
export const benchLog = createLogger({ level: 'info', format: 'json', destination: { write: () => undefined } })
const unlimited = { [ordersEndpoint.operations.ship.name]: { tokens: 1e9, perMs: 60_000 } }

/** Ships one unit of each line; the tracking numbers are those that the stub answers with. */
export const buildCommand = (order: number): Extract<PlannedCommand, { kind: 'ship' }> => {
  const { key, value } = generateOrder(order, 1)
  return {
    kind: 'ship',
    purchaseOrderId: key,
    payload: {
      parcels: value.lines.flatMap((line) =>
        line.statuses
          .filter(({ status }) => status === 'Shipped')
          .map(({ quantity, carrier, trackingNumber, trackingUrl, methodCode, shippedAt }) => ({
            carrier: carrier ?? '',
            trackingNumber: trackingNumber ?? '',
            trackingUrl,
            method: methodCode,
            shippedAt: (shippedAt ?? new Date()).toISOString(),
            lines: [{ lineNumber: line.lineNumber, quantity }],
          })),
      ),
    },
  }
}

/** The one seller of a benchmark, at a marketplace that allows everything. */
export const benchSellers = (stubUrl: string): SellerRegistry => {
  const budget = createInProcessBudget({ limits: unlimited })
  const seller = {
    sellerId: benchSellerId,
    clientId: 'bench',
    clientSecret: 'bench',
    refreshToken: null,
    notificationsSecret: null,
    partnerId: null,
    profile: 'specification' as const,
    marketplaceUrl: stubUrl,
    headerPrefix: null,
    quantityField: null,
    serviceName: 'bench',
    tokenPath: null,
    advertiserId: null,
    campaignIds: [],
    skus: [],
    logReasons: new Map(),
    reportColumns: {},
    rateLimits: {},
    mode: 'live' as const,
  }
  return createSellerRegistry({
    sellers: [seller],
    sandboxUrl: null,
    display: null,
    requestTimeoutMs,
    profiles,
    budget,
    log: benchLog,
    hooks: {},
    createClient: createMarketplaceClient,
  })
}

/** Stores this many orders, each with a ship command, and names the commands. */
export const fillCommands = async (database: Database, sellers: SellerRegistry, commands: number): Promise<readonly string[]> => {
  await recordSellers(database, [sellers.configured(benchSellerId)])
  const ids: string[] = []
  for (let first = 0; first < commands; first += pageSize) {
    const numbers = Array.from({ length: Math.min(pageSize, commands - first) }, (_, index) => first + index)
    const records = numbers.map((order) => generateOrder(order, 0))
    await storeOrders(database, { sellerId: benchSellerId, records, observedAt: new Date(Date.now() - 60_000) })
    const stored = await database.transaction(async (transaction) => {
      const made: string[] = []
      for (const order of numbers) {
        const command = buildCommand(order)
        const { purchaseOrderId } = command
        made.push(
          ...(await insertCommands(transaction, { sellerId: benchSellerId, purchaseOrderId, event: null, commands: [command] })),
        )
      }
      return made
    })
    ids.push(...stored)
  }
  return ids
}

/** Queues over connections of their own, as a process has them. */
export const openQueues = (options: Omit<QueueBackendOptions, 'quiet'>, metrics: Metrics): QueueRuntime =>
  createQueueRuntime({ backend: createQueueBackend({ ...options, quiet: createQuietLog(benchLog) }), log: benchLog, metrics })

/** What the command engine needs, wired as the daemon wires it. */
export const commandParts = ({
  database,
  sellers,
  runtime,
  metrics,
}: {
  readonly database: Database
  readonly sellers: SellerRegistry
  readonly runtime: QueueRuntime
  readonly metrics: Metrics
}): CommandParts => ({
  database,
  sellers,
  owner: 'bench',
  requestTimeoutMs,
  settleTimeMs: 120_000,
  onSettled: async (seller, subject) => {
    const next = await findHeadCommand(database, seller, subject)
    if (next !== null) await runtime.enqueueMany([{ name: 'command.run', data: { commandId: next }, fresh: true }])
  },
  onOutcome: (kind, outcome) => metrics.commands.inc({ kind, outcome }),
})
