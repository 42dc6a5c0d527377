import { InvalidConfig } from '../config.ts'
import { retainedData } from '../domain/retention.ts'
import { createHttpServer } from '../http/server.ts'
import { acceptEvents } from '../jobs/events/accept.ts'
import type { AcceptParts } from '../jobs/events/parts.ts'
import { rejectByPerson } from '../jobs/events/reject.ts'
import { reviewWaitingEvents } from '../jobs/events/review.ts'
import { readGtinReport } from '../jobs/gtin-report.ts'
import { backfillResources, reachOfBackfill, replayQuarantined, syncResources } from '../jobs/sync/syncs.ts'
import { decideCommand } from '../store/command-decisions.ts'
import { askForPasses } from '../store/retention.ts'
import { version } from '../version.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import { createMetricsReader } from './figures.ts'
import { createHealth } from './health.ts'
import { savingOf } from './intake.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'
import type { RereadSellersNow } from './reread-sellers.ts'
import { createSyncsNow } from './syncs-now.ts'

/** Requests under way get so long when the daemon stops. */
const httpGraceMs = 3_000

/**
 * Serves HTTP; answers the address, with the real port.
 * @throws when the address cannot be listened at
 */
export const startHttp = async ({
  context,
  database: databasePart,
  marketplace,
  queues,
  intake,
  reread,
}: {
  readonly context: DaemonContext
  readonly database: DatabasePart
  readonly marketplace: MarketplacePart
  readonly queues: QueuesPart
  readonly intake: AcceptParts
  readonly reread: RereadSellersNow
}): Promise<string> => {
  const { config, log, metrics, stop, closers } = context
  const { database } = databasePart
  const { sellers } = marketplace
  const { relay, runtime, listener } = queues
  const server = await createHttpServer({
    database,
    listener,
    log,
    limits: config.http.limits,
    apiKey: config.http.apiKey,
    eventsSecrets: config.http.eventsSecrets,
    version,
    sellers: () => sellers.ids(),
    reloadSellers: async () => {
      try {
        return { ok: true, ...(await reread()) }
      } catch (error) {
        if (error instanceof InvalidConfig) return { ok: false, faults: error.faults }
        throw error
      }
    },
    marketplaceNow: (sellerId) => (sellers.has(sellerId) ? sellers.client(sellerId).clock().now() : new Date()),
    acceptEvents: (events, signal) => acceptEvents(intake, events, AbortSignal.any([signal])),
    decide: async (request) => {
      const result = await decideCommand(database, request)
      if (result.ok) relay.nudge()
      return result
    },
    rejectEvent: async (key, by) => {
      const result = await rejectByPerson(database, key, by)
      if (result.ok) await reviewWaitingEvents(database)
      return result
    },
    syncs: {
      resources: syncResources,
      withPast: backfillResources,
      reach: reachOfBackfill,
      run: createSyncsNow(database, marketplace, queues),
    },
    readGtinReport: (sellerId, gtin, signal) => readGtinReport({ client: sellers.client(sellerId), database }, gtin, { signal }),
    retention: {
      keep: config.retention,
      run: async () => {
        const limited = retainedData.filter((kind) => config.retention[kind] !== 'forever')
        const askedAt = await askForPasses(database, limited)
        await runtime.enqueue('housekeeping.run', { task: 'trim' }, { runNow: true })
        return askedAt
      },
    },
    replayQuarantined: (id) => replayQuarantined({ database, ...savingOf(context) }, id),
    health: createHealth(databasePart, queues),
    counters: metrics,
    metrics: createMetricsReader(context, databasePart, marketplace, queues),
    boardQueues: () => runtime.queues().map((queue) => ({ queue, readOnly: true })),
  })
  const address = await server.listen({ host: config.http.host, port: config.http.port })
  stop.addEventListener('abort', () => server.drain(), { once: true })
  closers.add('the HTTP server', () => server.close(httpGraceMs))
  return address
}
