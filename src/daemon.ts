import { flushCompileCache } from 'node:module'
import type { Config } from './config/config.ts'
import { aborted, createContext } from './daemon/context.ts'
import { startDatabase } from './daemon/database.ts'
import { startDemonstration } from './daemon/demonstration.ts'
import { startHealthServer } from './daemon/health-server.ts'
import { startHttp } from './daemon/http.ts'
import { startMarketplace } from './daemon/marketplace.ts'
import { openQueues } from './daemon/queues.ts'
import { registerWorkers, serveQueuedEvents } from './daemon/workers.ts'
import { createAlarmChannels } from './jobs/alarm-channels/alarm-channels.ts'
import { buildSaveHooks } from './jobs/commands/kinds/auto-acknowledge.ts'
import { createDispatch, inboxChannel } from './jobs/dispatch/dispatch.ts'
import { createIntake } from './jobs/events/intake.ts'
import { createHealth } from './jobs/monitoring/health.ts'
import { createMetricsReader } from './jobs/monitoring/metrics-reader.ts'
import { createChangedLimits } from './jobs/rate-limits/changed-limits.ts'
import { createRereadAllProcesses } from './jobs/sellers/reread-all-processes.ts'
import { rereadSellers } from './jobs/sellers/reread-sellers.ts'
import { followSellers } from './jobs/sellers/served-sellers.ts'
import { createSyncMetrics } from './jobs/sync/engine/sync-metrics.ts'
import { changesChannel, Webhooks } from './jobs/webhooks/webhooks.ts'
import type { Logger } from './observability/log.ts'
import type { Telemetry } from './observability/otlp.ts'
import { openListener } from './store/db/listener.ts'
import { sellersChannel } from './store/sellers/sellers.ts'
import { webhooksChannel } from './store/webhooks/webhook-endpoints.ts'
import { assertListenable } from './util/net/free-port.ts'
import { createShutdownHooks, type ShutdownHooks } from './util/shutdown-hooks.ts'
import type { StopSignals } from './util/stop-signals.ts'

/**
 * Starts the parts that the roles need, runs until it is asked to stop, drains, and closes everything.
 * @throws what keeps it from starting, after closing what was open
 */
export const startDaemon = async (
  config: Config,
  log: Logger,
  asked: Pick<StopSignals, 'signal' | 'hangUps'>,
  telemetry: Telemetry | null,
): Promise<void> => {
  const shutdownHooks = createShutdownHooks(log)
  try {
    await run(config, log, asked, telemetry, shutdownHooks)
  } finally {
    await shutdownHooks.closeAll()
  }
}

const run = async (
  config: Config,
  log: Logger,
  { signal: stop, hangUps }: Pick<StopSignals, 'signal' | 'hangUps'>,
  telemetry: Telemetry | null,
  shutdownHooks: ShutdownHooks,
): Promise<void> => {
  const context = createContext(config, log, stop, shutdownHooks)
  const { has } = context
  const { host, port, healthPort } = config.http
  for (const [name, wanted] of [
    ['PORT', has('http') ? port : 0],
    ['HEALTH_PORT', healthPort ?? 0],
  ] as const) {
    if (wanted !== 0) await assertListenable({ host, port: wanted, name })
  }

  const database = await startDatabase(context)
  if (database === null) return
  const queues = openQueues(context, database)
  const { runtime } = queues
  const marketplace = await startMarketplace(context, database, queues)
  if (marketplace === null) return
  // Jobs need the clients of the marketplace until they end.
  shutdownHooks.add('the jobs in progress', () => runtime.drain(0))
  const listener = openListener({
    url: database.sessionUrl,
    channels: [changesChannel, inboxChannel, sellersChannel, webhooksChannel],
    log,
  })
  shutdownHooks.add('the listener', () => listener.close())

  const opened = { ...context, ...database, ...queues, ...marketplace, listener }
  const { sellers } = marketplace
  const dispatch = createDispatch(opened)
  const saveHooks = buildSaveHooks(config.autoAcknowledge)
  const intake = createIntake({ ...opened, saveHooks })
  const syncMetrics = createSyncMetrics(context.metrics, (id) => (sellers.has(id) ? sellers.client(id).clock().now() : null))
  const webhooks = new Webhooks({ ...opened, reads: has('scheduler') || has('worker') })
  const alarmChannels = createAlarmChannels(opened)
  const parts = { ...opened, ...dispatch, saveHooks, intake, syncMetrics, webhooks, alarmChannels }
  if (has('worker')) registerWorkers(parts)
  await runtime.start(dispatch.clockSetBack)
  if (has('worker') && config.erpEventsQueue) serveQueuedEvents(parts)
  if (has('scheduler')) dispatch.start()
  webhooks.start()

  const observed = {
    health: createHealth(parts),
    metrics: createMetricsReader(parts),
  }
  if (telemetry !== null) {
    const { registry } = context.metrics
    telemetry.exportMetrics(async () => {
      await observed.metrics()
      return await registry.getMetricsAsJSON()
    })
    // The last export comes after the database is closed: its figures stay as they are.
    shutdownHooks.add('the figures of telemetry', async () => telemetry.exportMetrics(() => registry.getMetricsAsJSON()))
  }
  await startHealthServer(context, observed)
  const changedLimits = createChangedLimits(parts)
  changedLimits.voidWaits()
  const rereadHere = rereadSellers({ ...parts, ...changedLimits }, hangUps)
  const { rereadAll, rereadRemoved } = createRereadAllProcesses({ ...parts, roles: config.roles }, rereadHere)
  followSellers({ ...parts, rereadRemoved })
  const address = has('http') ? await startHttp({ ...parts, reread: rereadAll, observed }) : null
  log.info(
    {
      ...(address === null ? {} : { console: `${address}/`, api: `${address}/docs` }),
      ...(marketplace.sandboxUrl === null ? {} : { sandbox: marketplace.sandboxUrl }),
      database: database.shownUrl,
      queues: queues.kind,
      sellers: sellers.ids().length,
      roles: config.roles,
    },
    address === null ? 'tallyman is running' : `tallyman is running: open ${address}/`,
  )
  if (address !== null) startDemonstration(context, address)
  // The next start finds what was compiled, even if this process is killed.
  flushCompileCache()

  await aborted(stop)

  // No new work; what runs gets its time, then it is aborted.
  const drained = await runtime.drain(config.drainTimeoutMs)
  log.info({ clean: drained.clean, aborted: drained.aborted }, 'drained')
}
