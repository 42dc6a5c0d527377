import { flushCompileCache } from 'node:module'
import type { Config } from './config.ts'
import { type Closers, createClosers } from './daemon/closers.ts'
import { aborted, createContext } from './daemon/context.ts'
import { startDatabase } from './daemon/database.ts'
import { startDemonstration } from './daemon/demonstration.ts'
import { createMetricsReader } from './daemon/figures.ts'
import { createHealth } from './daemon/health.ts'
import { startHealthServer } from './daemon/health-server.ts'
import { startHttp } from './daemon/http.ts'
import { createIntake } from './daemon/intake.ts'
import { startMarketplace } from './daemon/marketplace.ts'
import { createOldLimits } from './daemon/old-limits.ts'
import { passRereads } from './daemon/pass-rereads.ts'
import { createQueues } from './daemon/queues.ts'
import { rereadSellers } from './daemon/reread-sellers.ts'
import { createSyncMetrics } from './daemon/sync-metrics.ts'
import { createWebhooks } from './daemon/webhooks.ts'
import { registerWork } from './daemon/work.ts'
import { assertListenable } from './free-port.ts'
import type { Logger } from './observability/log.ts'
import type { StopSignals } from './stop-signals.ts'

/**
 * Starts the parts that the roles need, runs until it is asked to stop, drains, and closes everything.
 * @throws what keeps it from starting, after closing what was open
 */
export const startDaemon = async (config: Config, log: Logger, asked: Pick<StopSignals, 'signal' | 'hangUps'>): Promise<void> => {
  const closers = createClosers(log)
  try {
    await run(config, log, asked, closers)
  } finally {
    await closers.closeAll()
  }
}

const run = async (
  config: Config,
  log: Logger,
  { signal: stop, hangUps }: Pick<StopSignals, 'signal' | 'hangUps'>,
  closers: Closers,
): Promise<void> => {
  const context = createContext(config, log, stop, closers)
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
  const marketplace = await startMarketplace(context, database.database)
  if (marketplace === null) return

  const queues = createQueues(context, database, marketplace)
  marketplace.onCommandsDue(queues.wakeWaitingCommands)
  const intake = createIntake(context, database, marketplace, queues)
  const { sellers } = marketplace
  const syncMetrics = createSyncMetrics(context.metrics, (id) => (sellers.has(id) ? sellers.client(id).clock().now() : null))
  if (has('worker')) registerWork({ context, database: database.database, marketplace, queues, intake, syncMetrics })
  const webhooks = createWebhooks(context, database, queues)
  await queues.start()
  webhooks.start()

  const observed = {
    health: createHealth(database, queues, webhooks),
    metrics: createMetricsReader(context, database, marketplace, queues, syncMetrics),
  }
  await startHealthServer(context, observed)
  const oldLimits = createOldLimits(context, database, marketplace, queues)
  oldLimits.voidWaits()
  const rereadHere = rereadSellers(context, marketplace, queues, oldLimits, hangUps)
  const reread = passRereads(context, database, marketplace, queues, rereadHere)
  const address = has('http')
    ? await startHttp({ context, database, marketplace, queues, intake, reread, webhooks, observed })
    : null
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
  const drained = await queues.runtime.drain(config.drainTimeoutMs)
  log.info({ clean: drained.clean, aborted: drained.aborted }, 'drained')
}
