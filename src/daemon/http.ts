import { InvalidConfig } from '../config.ts'
import { writeDaemonAddress } from '../daemon-address.ts'
import { retainedData } from '../domain/retention.ts'
import { makeDataDir } from '../embedded/data-dir.ts'
import { createHttpServer } from '../http/server.ts'
import { acceptEvents } from '../jobs/events/accept.ts'
import { dryRunEvents } from '../jobs/events/dry-run.ts'
import type { AcceptParts } from '../jobs/events/parts.ts'
import { rejectByPerson } from '../jobs/events/reject.ts'
import { reviewWaitingEvents } from '../jobs/events/review.ts'
import { readGtinReport } from '../jobs/gtin-report.ts'
import { backfillResources, reachOfBackfill, replayQuarantined, streamsOf, syncResources } from '../jobs/sync/syncs.ts'
import { messageOf } from '../message-of.ts'
import { decideCommand } from '../store/command-decisions.ts'
import { askForPasses } from '../store/retention.ts'
import { version } from '../version.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import { createForecaster } from './forecast.ts'
import type { Observed } from './health-server.ts'
import { savingOf } from './intake.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { RereadSellersEverywhere } from './pass-rereads.ts'
import { hasEnded } from './process-name.ts'
import type { QueuesPart } from './queues.ts'
import { SellersNotStored } from './reread-sellers.ts'
import { createSyncsNow } from './syncs-now.ts'
import type { WebhooksPart } from './webhooks.ts'

/** Requests under way get so long when the daemon stops. */
const httpGraceMs = 3_000

/** Writes the address into DATA_DIR, where the command line looks for it. A machine on which that folder cannot be written has TALLYMAN_URL. */
const tellCommandLine = async ({ config, log, closers }: DaemonContext, address: string): Promise<void> => {
  const { dataDir } = config
  try {
    await makeDataDir(dataDir, { owner: null, say: () => undefined })
    const url = address.replace(/^http:\/\/(0\.0\.0\.0|\[::\]):/, 'http://127.0.0.1:')
    closers.add('the address in DATA_DIR', await writeDaemonAddress(dataDir, url))
  } catch (error) {
    const why = messageOf(error)
    log.info(`the command line needs TALLYMAN_URL=${address}: the address cannot be written into ${dataDir} (${why})`)
  }
}

/**
 * Serves HTTP; answers the address, with the real port.
 * @throws when the address cannot be listened at
 */
export const startHttp = async ({
  context,
  database: { database },
  marketplace,
  queues,
  intake,
  reread,
  webhooks,
  observed,
}: {
  readonly context: DaemonContext
  readonly database: DatabasePart
  readonly marketplace: MarketplacePart
  readonly queues: QueuesPart
  readonly intake: AcceptParts
  readonly reread: RereadSellersEverywhere
  readonly webhooks: WebhooksPart
  readonly observed: Observed
}): Promise<string> => {
  const { config, log, metrics, owner, stop, closers } = context
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
    marketplace: config.sandbox === null ? 'real' : config.sandbox.demo ? 'demonstration' : 'sandbox',
    settings: { effective: config.shown, unknown: config.unknownSettings },
    hasEnded: (process) => process !== owner && hasEnded(process),
    sellers: () => sellers.ids(),
    reloadSellers: async () => {
      try {
        return { ok: true, ...(await reread()) }
      } catch (error) {
        if (error instanceof InvalidConfig) return { ok: false, faults: error.faults }
        if (error instanceof SellersNotStored) {
          log.error({ err: error.cause }, error.message)
          return { ok: false, isStored: false }
        }
        throw error
      }
    },
    marketplaceNow: (sellerId) => (sellers.has(sellerId) ? sellers.client(sellerId).clock().now() : new Date()),
    paces: syncResources.flatMap((resource) =>
      streamsOf(resource, config.intervals).map(({ stream, everyMs }) => ({ resource, stream, everyMs })),
    ),
    budget: () => marketplace.budgetFigures.read(),
    forecast: createForecaster(database, marketplace, queues),
    acceptEvents: (events, signal) => acceptEvents(intake, events, AbortSignal.any([signal])),
    dryRunEvents: (events) => dryRunEvents({ ...intake, clientOf: sellers.client }, events),
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
    webhooks: webhooks.services,
    ...observed,
    counters: metrics,
    boardQueues: () => runtime.queues().map((queue) => ({ queue, readOnly: true })),
  })
  const address = await server.listen({ host: config.http.host, port: config.http.port })
  stop.addEventListener('abort', () => server.drain(), { once: true })
  closers.add('the HTTP server', () => server.close(httpGraceMs))
  await tellCommandLine(context, address)
  return address
}
