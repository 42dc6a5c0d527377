import { InvalidConfig } from '../config/config.ts'
import { makeTrouble } from '../demo/trouble.ts'
import { retainedData } from '../domain/sync/retention.ts'
import { makeDataDir } from '../embedded/data-dir.ts'
import { createHttpServer } from '../http/server.ts'
import type { AlarmChannels } from '../jobs/alarm-channels/alarm-channels.ts'
import type { Dispatch } from '../jobs/dispatch/dispatch.ts'
import { acceptEvents } from '../jobs/events/accept.ts'
import { dryRunEvents } from '../jobs/events/dry-run.ts'
import type { AcceptParts } from '../jobs/events/parts.ts'
import { rejectByPerson } from '../jobs/events/reject.ts'
import { reviewWaitingEvents } from '../jobs/events/review.ts'
import { createNotificationIntake } from '../jobs/notifications/accept.ts'
import { readForecast } from '../jobs/rate-limits/forecast.ts'
import type { RereadAllProcesses } from '../jobs/sellers/reread-all-processes.ts'
import { SellersNotStored } from '../jobs/sellers/reread-sellers.ts'
import type { SyncHooks } from '../jobs/sync/engine/resource.ts'
import { createSyncsNow } from '../jobs/sync/engine/run-now.ts'
import { backfillResources, findBackfillReach, listPaces, replayQuarantined, syncResources } from '../jobs/sync/engine/syncs.ts'
import { readGtinReport } from '../jobs/sync/resources/gtin-report.ts'
import type { Webhooks } from '../jobs/webhooks/webhooks.ts'
import { decideCommand } from '../store/commands/command-decisions.ts'
import type { Listener } from '../store/db/listener.ts'
import { requestPasses } from '../store/privacy/retention.ts'
import { readSeller } from '../store/sellers/sellers.ts'
import { errorMessage } from '../util/error-message.ts'
import { writeDaemonAddress } from '../util/net/daemon-address.ts'
import { hasEnded } from '../util/process-name.ts'
import { version } from '../util/version.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import type { Observed } from './health-server.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'

/** Maximum time for requests in progress when the daemon stops. */
const httpGraceMs = 3_000

/** Writes the address into DATA_DIR, where the command line looks for it. A machine on which that folder cannot be written has TALLYMAN_URL. */
const tellCommandLine = async ({ config, log, shutdownHooks }: DaemonContext, address: string): Promise<void> => {
  const { dataDir } = config
  try {
    await makeDataDir(dataDir, { owner: null, say: () => undefined })
    const url = address.replace(/^http:\/\/(0\.0\.0\.0|\[::\]):/, 'http://127.0.0.1:')
    shutdownHooks.add('the address in DATA_DIR', await writeDaemonAddress(dataDir, url))
  } catch (error) {
    const why = errorMessage(error)
    log.info(`the command line needs TALLYMAN_URL=${address}: the address cannot be written into ${dataDir} (${why})`)
  }
}

/** What the HTTP interface needs of the other parts. */
type HttpParts = DaemonContext &
  Pick<DatabasePart, 'database'> &
  MarketplacePart &
  QueuesPart &
  Dispatch & {
    readonly listener: Listener
    readonly intake: AcceptParts
    readonly saveHooks: SyncHooks
    readonly reread: RereadAllProcesses
    readonly webhooks: Webhooks
    readonly alarmChannels: AlarmChannels
    readonly observed: Observed
  }

/**
 * Serves HTTP; answers the address, with the real port.
 * @throws when the address cannot be listened at
 */
export const startHttp = async (parts: HttpParts): Promise<string> => {
  const { config, log, metrics, owner, stop, shutdownHooks, database, sellers, relay, runtime, listener } = parts
  const { intake, saveHooks, reread, webhooks, alarmChannels, observed, sandboxUrl } = parts
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
    knowsSeller: async (sellerId) => sellers.ids().includes(sellerId) || (await readSeller(database, sellerId)) !== null,
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
    paces: listPaces(config.intervals),
    budget: () => parts.budgetFigures.read(),
    forecast: (...asked) => readForecast(database, parts, ...asked),
    acceptEvents: (events, signal) => acceptEvents(intake, events, AbortSignal.any([signal])),
    makeTrouble:
      config.sandbox?.demo === true && sandboxUrl !== null
        ? (signal) =>
            makeTrouble(
              {
                sandboxUrl,
                sellerId: sellers.ids()[0] ?? '',
                acceptEvents: (events, until) => acceptEvents(intake, events, AbortSignal.any([until])),
              },
              signal,
            )
        : null,
    dryRunEvents: (events) => dryRunEvents({ ...intake, findClient: sellers.client }, events),
    decide: async (request) => {
      const result = await decideCommand(database, request)
      if (result.ok) relay.trigger()
      return result
    },
    rejectEvent: async (key, by) => {
      const result = await rejectByPerson(database, key, by)
      if (result.ok) await reviewWaitingEvents(database)
      return result
    },
    syncs: {
      resources: syncResources,
      backfillable: backfillResources,
      reach: findBackfillReach,
      run: createSyncsNow(parts),
    },
    readGtinReport: (sellerId, gtin, signal) => readGtinReport({ client: sellers.client(sellerId), database }, gtin, { signal }),
    retention: {
      keep: config.retention,
      run: async () => {
        const limited = retainedData.filter((kind) => config.retention[kind] !== 'forever')
        const askedAt = await requestPasses(database, limited)
        await runtime.enqueue('maintenance.run', { task: 'trim' }, { runNow: true })
        return askedAt
      },
    },
    notifications: {
      findSecret: (sellerId) => sellers.findSettings(sellerId)?.notificationsSecret,
      accept: createNotificationIntake(parts),
    },
    replayQuarantined: (id) => replayQuarantined({ database, ...saveHooks }, id),
    webhooks,
    alarmChannels,
    ...observed,
    counters: metrics,
    boardQueues: () => runtime.queues().map((queue) => ({ queue, readOnly: true })),
  })
  const address = await server.listen({ host: config.http.host, port: config.http.port })
  stop.addEventListener('abort', () => server.drain(), { once: true })
  shutdownHooks.add('the HTTP server', () => server.close(httpGraceMs))
  await tellCommandLine(parts, address)
  return address
}
