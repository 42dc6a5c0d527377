import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { createInProcessBudget, type Grant, type RateBudget, shareOf, type Wait } from './clients/budget.ts'
import { createMarketplaceClient } from './clients/client.ts'
import { MarketplaceFailure } from './clients/errors.ts'
import { profiles } from './clients/profiles/index.ts'
import type { Profile } from './clients/profiles/profile.ts'
import { type Config, InvalidConfig, readSellersAgain, sandboxDisplay, sandboxDisplayKeyFile } from './config.ts'
import { startDemonstration } from './demo/erp.ts'
import { retainedData } from './domain/retention.ts'
import { intersect } from './domain/windows.ts'
import { makeDataDir } from './embedded/data-dir.ts'
import { startEmbeddedPostgres } from './embedded/postgres.ts'
import { lockFolder } from './embedded/process-lock.ts'
import { unprivilegedUser } from './embedded/unprivileged-user.ts'
import { assertListenable } from './free-port.ts'
import { createHttpServer } from './http/server.ts'
import type { HealthCheck } from './http/services.ts'
import { acknowledgeNewOrders } from './jobs/commands/auto-acknowledge.ts'
import { createOverdueWatch, reviewOverdueCommands } from './jobs/commands/overdue.ts'
import { runCommand } from './jobs/commands/run.ts'
import { acceptEvents } from './jobs/events/accept.ts'
import { createOrderFetcher } from './jobs/events/fetch-order.ts'
import { processReceivedEvent } from './jobs/events/process.ts'
import { rejectByPerson } from './jobs/events/reject.ts'
import { reviewEvents, reviewWaitingEvents } from './jobs/events/review.ts'
import { readGtinReport } from './jobs/gtin-report.ts'
import { handBack } from './jobs/hand-back.ts'
import { takeReasons } from './jobs/log-reasons.ts'
import { runRetention } from './jobs/retention.ts'
import { createSellerRegistry, credentialsRefused, probeSeller } from './jobs/sellers.ts'
import { createServing } from './jobs/serving.ts'
import { rereadStream } from './jobs/sync/definition.ts'
import {
  backfillResources,
  isDisplayResource,
  reachOfBackfill,
  replayQuarantined,
  requestBackfill,
  runSync,
  streamsOf,
  syncResources,
} from './jobs/sync/syncs.ts'
import { createQuietLog, type Logger, type QuietLog } from './observability/log.ts'
import { createMetrics } from './observability/metrics.ts'
import { createQueueBackend } from './queues/backend.ts'
import type { JobToEnqueue } from './queues/jobs.ts'
import { createRelay } from './queues/relay.ts'
import { createQueueRuntime } from './queues/runtime.ts'
import type { Scheduler } from './queues/schedulers.ts'
import { sandboxLines, startSandboxProcess } from './sandbox-process.ts'
import { shareCheck } from './shared-check.ts'
import { reviewSyncAlarm } from './store/alarms.ts'
import { decideCommand } from './store/command-decisions.ts'
import { dueCommands, headCommand } from './store/commands.ts'
import { openDatabase } from './store/database.ts'
import { askEnrolmentAgain } from './store/enrolments.ts'
import { dueEvents } from './store/events.ts'
import { describeAway, isTurnedAway } from './store/faults.ts'
import { readFigures } from './store/figures.ts'
import { recordConfiguredSkus } from './store/inventory-skus.ts'
import { openListener } from './store/listener.ts'
import { finishedMigrations, migrate, missingMigrations } from './store/migrate.ts'
import { streamsWithDueSkips } from './store/quarantine.ts'
import { lookAtStore } from './store/readiness.ts'
import { askForPasses, readTableSizes } from './store/retention.ts'
import {
  dueProbes,
  isCommandAtRest,
  isSellerAtRest,
  readSellers,
  sellersAtRest,
  sellersChannel,
  servedSellers,
  stopSeller,
} from './store/sellers.ts'
import { dropCursor, listSyncs, unfinishedSyncs } from './store/sync-states.ts'
import { recordConfiguredCampaigns } from './store/watched-campaigns.ts'
import { version } from './version.ts'

/** How often due work is derived from Postgres without being asked. */
const relayIntervalMs = 5_000
/**
 * So often a process says which sellers it serves, and reads how they stand: it learns that another one has resumed a seller by a notification, and
 * one that was lost is made up for.
 */
const learnSellersMs = 15_000
/** Waiting events that one derivation enqueues; the others follow. */
const mostEvents = 500
/** Old data goes once a day; whether that is due is asked this often, so that a day without a process is made up for. */
const trimIntervalMs = 3_600_000
/** Removing old data leaves other upkeep its turn after so long. */
const trimTurnMs = 10_000
/** … and may need many turns: the first pass over years of data lasts hours. */
const upkeepStarts = { maxStarts: 10_000 }
/** A scrape reads the sizes of the tables at most this often. */
const sizesFreshMs = 60_000
/** Work that nobody does is looked for this often. */
const reviewIntervalMs = 300_000
/** A command or an event that failed (Postgres was away) must not wait long: its rows are due, and a look costs little. */
const jobBackoff = { firstMs: 500, longestMs: 10_000 }
/** A job of a process that was killed is taken over after so long. */
const jobTimes = { lockMs: 10_000, stalledIntervalMs: 5_000 }
/** A sync may be silent for one request and this much more; then another process takes over. */
const syncLeaseMarginMs = 10_000
/**
 * A run mostly waits for answers. So many at once that logs and reports of some sellers, whose runs last as long as their turn, do not keep
 * the orders of all waiting.
 */
const syncsAtOnce = 12
/** A sync stores one page while it plans the next; the others of the process need a connection now and then. */
const databaseConnections = 20
/** Orders that events name before a sync has brought them are looked up with this share of the budget; the rest is for orders that are known. */
const lookupShare = 0.25
/** The sandbox of a demonstration places an order this often. */
const demonstrationOrderInterval = '5s'
/** … and begins with orders of the last month, so that returns and stock have a past. */
const demonstrationPastOrders = 120
/** The built-in sandbox shows a change in its lists at once; a real marketplace takes its time. */
const sandboxLagMs = 2_000
/** A database that does not answer at the start is waited for; a supervisor may start both together. */
const startPatienceMs = 60_000
/** … but one that answers and lets us in not only for as long as another program may take to make the role or the database. */
const turnedAwayPatienceMs = 10_000
const checkTimeoutMs = 2_000
/** Requests under way get so long when the daemon stops. */
const httpGraceMs = 3_000

/** Things to be closed, last opened first. */
const createClosers = (log: Logger) => {
  const closers: { readonly name: string; close(): Promise<unknown> }[] = []
  return {
    add: (name: string, close: () => Promise<unknown>): void => void closers.push({ name, close }),
    closeAll: async (): Promise<void> => {
      for (const { name, close } of closers.splice(0).reverse()) {
        try {
          await close()
        } catch (error) {
          log.error({ err: error }, `closing ${name} failed`)
        }
      }
    },
  }
}

/** Answers what was applied; null: told to stop before Postgres answered. */
const migrateWithPatience = async (url: string, quiet: QuietLog, stop: AbortSignal): Promise<readonly string[] | null> => {
  const beganMs = performance.now()
  for (;;) {
    try {
      const applied = await migrate(url)
      quiet.recovered('start', 'Postgres answers')
      return applied
    } catch (error) {
      const away = await finishedMigrations(url).then(
        () => null,
        (cause: unknown) => ({ cause, turnedAway: isTurnedAway(cause) }),
      )
      if (away === null) throw error
      if (stop.aborted) return null
      const { cause, turnedAway } = away
      const patienceMs = turnedAway ? turnedAwayPatienceMs : startPatienceMs
      if (performance.now() - beganMs > patienceMs) {
        const seconds = Math.round(patienceMs / 1_000)
        throw new Error(`${describeAway(cause)}, for ${seconds} seconds now: check DATABASE_URL`, { cause })
      }
      if (turnedAway) quiet.warn('turned away', {}, `${describeAway(cause)}; trying again for some seconds`)
      else quiet.warn('start', {}, 'Postgres does not answer yet; waiting for it')
      await Promise.race([delay(1_000), aborted(stop)])
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))

/**
 * Starts the parts that the roles need, runs until `stop` is aborted, drains, and closes everything.
 * @throws what keeps it from starting, after closing what was open
 */
export const startDaemon = async (config: Config, log: Logger, stop: AbortSignal): Promise<void> => {
  const closers = createClosers(log)
  try {
    await run(config, log, stop, closers)
  } finally {
    await closers.closeAll()
  }
}

const run = async (config: Config, log: Logger, stop: AbortSignal, closers: ReturnType<typeof createClosers>): Promise<void> => {
  const owner = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  const has = (role: Config['roles'][number]): boolean => config.roles.includes(role)
  const metrics = createMetrics({ version })
  const quiet = createQuietLog(log)

  if (has('http') && config.http.port !== 0) await assertListenable(config.http)

  // ── Postgres ──
  let databaseUrl = config.databaseUrl
  if (databaseUrl === null || config.sandbox !== null) {
    const owner = databaseUrl === null ? await unprivilegedUser() : null
    await makeDataDir(config.dataDir, { owner, say: (line) => log.info(line) })
    const lock = await lockFolder(config.dataDir)
    closers.add('the lock of DATA_DIR', () => lock.release())
  }
  if (databaseUrl === null) {
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, say: (line) => log.info(line) })
    closers.add('the embedded Postgres', () => postgres.stop())
    databaseUrl = postgres.url
    if (stop.aborted) return
  }
  const url = databaseUrl
  const migrations = await missingMigrations([])
  const applied = await migrateWithPatience(url, quiet, stop)
  if (applied === null) return
  if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
  let closingDatabase = false
  const database = openDatabase({
    url,
    connections: databaseConnections,
    onError: (error) => {
      // The pool counts as closed a moment before its connections are; what they still say is no news.
      if (!closingDatabase) quiet.warn('pool', { err: error }, 'a database connection was lost')
    },
  })
  closers.add('the database', () => {
    closingDatabase = true
    return database.close()
  })

  // ── the marketplace, or the sandbox in its place ──
  let sandboxUrl: string | null = null
  let display = config.display === 'sandbox' ? null : config.display
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
    if (stop.aborted) return
    sandboxUrl = sandbox.url
    if (config.display === 'sandbox')
      display = { ...sandboxDisplay, url: sandbox.url, privateKey: await readFile(sandboxDisplayKeyFile(config.dataDir), 'utf8') }
  }
  const budgets = new Map<string, RateBudget>()
  const budgetOf = (profile: Profile): RateBudget => {
    const budget = budgets.get(profile.name) ?? createInProcessBudget({ limits: profile.rateLimits })
    budgets.set(profile.name, budget)
    return budget
  }
  const sellers = createSellerRegistry({
    sellers: config.sellers,
    sandboxUrl,
    display,
    requestTimeoutMs: config.requestTimeoutMs,
    maxRecords: config.maxPageRecords,
    profiles,
    budgetOf,
    log,
    hooks: {
      onRequest: ({ operation, outcome, durationMs }) => {
        metrics.apiRequests.inc({ operation, outcome: outcome === 'none' ? 'ok' : outcome })
        metrics.apiRequestDuration.observe({ operation }, durationMs / 1_000)
      },
      onUnknownValue: ({ resource, field }) => metrics.unknownValues.inc({ resource, field }),
    },
    createClient: createMarketplaceClient,
  })
  closers.add('the marketplace clients', () => sellers.close())
  const serving = createServing({ database, sellers })
  const learnSellers = async (): Promise<void> => {
    try {
      await serving.say()
      sellers.learn(await readSellers(database))
      quiet.recovered('sellers', 'how the sellers stand can be told and read again')
    } catch (error) {
      quiet.warn('sellers', { err: error }, 'how the sellers stand cannot be told or read')
    }
  }
  const rememberSellers = async (by: 'start' | 'settings'): Promise<void> => {
    await serving.begin(by)
    sellers.learn(await readSellers(database))
    for (const { sellerId, campaignIds, skus, logReasons } of sellers.settings()) {
      await recordConfiguredCampaigns(database, sellerId, campaignIds)
      await recordConfiguredSkus(database, sellerId, skus)
      await takeReasons(database, sellerId, logReasons)
    }
  }
  await rememberSellers('start')
  if (stop.aborted) return

  // ── queues ──
  const backend = createQueueBackend({ redisUrl: config.redisUrl, databaseUrl: url, quiet })
  const queuesName = backend.kind === 'redis' ? 'redis' : 'queues'
  const runtime = createQueueRuntime({ backend, log, metrics, times: jobTimes })
  closers.add('the queues', () => runtime.close())
  const listener = openListener({ url, channels: ['tallyman_changes', 'tallyman_erp_event', sellersChannel], log })
  closers.add('the listener', () => listener.close())
  listener.on(sellersChannel, () => void learnSellers())
  const learning = setInterval(() => void learnSellers(), learnSellersMs)
  closers.add('the look at the sellers', async () => clearInterval(learning))

  const afterSave = config.autoAcknowledge === 'on-import' ? acknowledgeNewOrders : undefined
  const saving = afterSave === undefined ? {} : { afterSave }

  const resourcesOf = (sellerId: string): readonly string[] =>
    syncResources.filter((resource) => sellers.client(sellerId).display !== null || !isDisplayResource(resource))
  const schedulers = (): readonly Scheduler[] => {
    const wanted: Scheduler[] = [
      { job: { name: 'housekeeping.run', data: { task: 'trim' } }, everyMs: trimIntervalMs },
      { job: { name: 'housekeeping.run', data: { task: 'review' } }, everyMs: reviewIntervalMs },
    ]
    const intervals: Readonly<Record<string, number | 'off'>> = config.poll
    for (const sellerId of sellers.ids()) {
      for (const resource of resourcesOf(sellerId)) {
        const pollMs = intervals[resource] ?? 'off'
        for (const { stream, everyMs: oftenMs } of streamsOf(resource, pollMs === 'off' ? 0 : pollMs)) {
          // The sweep has an interval of its own; what is not polled at all is not read again either.
          const rereadMs = stream === rereadStream ? config.reread.everyMs : oftenMs
          const everyMs = stream === 'sweep' ? config.poll.orderSweep : pollMs === 'off' ? pollMs : rereadMs
          if (everyMs !== 'off') wanted.push({ job: { name: 'sync.run', data: { sellerId, resource, stream } }, everyMs })
        }
      }
    }
    return wanted
  }
  const derive = async (): Promise<readonly JobToEnqueue[]> => {
    const resting = await sellersAtRest(database)
    const commands = (await dueCommands(database, 2_000)).map(
      (commandId): JobToEnqueue => ({ name: 'command.run', data: { commandId } }),
    )
    // What was passed over is tried again when it is due, however seldom its stream runs by itself.
    const syncs = [...(await unfinishedSyncs(database)), ...(await streamsWithDueSkips(database))]
      .filter(
        ({ sellerId, resource }) => sellers.has(sellerId) && !resting.has(sellerId) && resourcesOf(sellerId).includes(resource),
      )
      .map(({ sellerId, resource, stream }): JobToEnqueue => ({ name: 'sync.run', data: { sellerId, resource, stream } }))
    const events = (await dueEvents(database, mostEvents)).map(
      ({ source, id }): JobToEnqueue => ({ name: 'event.process', data: { source, id } }),
    )
    const probes = (await dueProbes(database))
      .filter((sellerId) => sellers.has(sellerId))
      .map((sellerId): JobToEnqueue => ({ name: 'seller.probe', data: { sellerId } }))
    return [...commands, ...events, ...syncs, ...probes]
  }
  const foreignSellers = async (): Promise<ReadonlySet<string>> =>
    new Set([...(await servedSellers(database))].filter((sellerId) => !sellers.has(sellerId)))
  const relay = createRelay({ derive, schedulers, foreignSellers, intervalMs: relayIntervalMs, runtime, log, metrics })
  const wakeCommands = (commandIds: readonly string[]): void => {
    for (const commandId of commandIds) {
      runtime.enqueue('command.run', { commandId }, { runNow: true }).catch((error: unknown) => {
        quiet.warn('wake', { err: error }, 'a command could not be enqueued; the relay brings it later')
      })
    }
  }

  const profileOf = (sellerId: string): Profile | undefined =>
    profiles.get(sellers.settings().find((seller) => seller.sellerId === sellerId)?.profile ?? '')
  const lookupBudgets = new Map<string, RateBudget>()
  const mayLookUp = async (sellerId: string): Promise<Grant | Wait> => {
    const profile = profileOf(sellerId)
    if (profile === undefined) return { granted: true }
    const known = lookupBudgets.get(profile.name)
    const budget = known ?? createInProcessBudget({ limits: shareOf(profile.rateLimits, 'orders.get', lookupShare) })
    lookupBudgets.set(profile.name, budget)
    return budget.take(sellerId, 'orders.get')
  }
  const fetcher = createOrderFetcher({ database, sellers, log, mayAsk: mayLookUp, ...saving })
  const accept = {
    database,
    sellers,
    fetcher,
    wake: wakeCommands,
    only: serving.only,
    settleTimeMs: config.settleTimeMs,
    rules: (sellerId: string) => ({
      now: sellers.client(sellerId).clock().now(),
      carriers: profileOf(sellerId)?.carriers ?? null,
      shipUnacknowledged: config.shipUnacknowledged,
      fullPriceRefundsAll: profileOf(sellerId)?.fullPriceRefundsAll ?? false,
    }),
  }

  if (has('worker')) {
    const commandParts = {
      database,
      sellers,
      owner,
      requestTimeoutMs: config.requestTimeoutMs,
      settleTimeMs: config.settleTimeMs,
      onSettled: async (sellerId: string, subject: string) => {
        const next = await headCommand(database, sellerId, subject)
        if (next !== null) wakeCommands([next])
      },
      onOutcome: (kind: string, outcome: string) => metrics.commands.inc({ kind, outcome }),
    }
    runtime.register(
      'command.run',
      async ({ data, signal, starts, log: jobLog }) =>
        // What waits for a seller that is stopped or paused is due again when the seller is.
        (await isCommandAtRest(database, data.commandId))
          ? { done: true }
          : runCommand(commandParts, data.commandId, { signal, starts, log: jobLog }),
      { concurrency: 8, backoff: jobBackoff },
    )
    runtime.register(
      'sync.run',
      async ({ data, signal, starts, log: jobLog }) => {
        if (await isSellerAtRest(database, data.sellerId)) return { done: true }
        if (!sellers.has(data.sellerId)) return handBack({ database }, data.sellerId, starts)
        // Taken before the run: settings that are read again meanwhile are not those that were refused.
        const seller = sellers.configured(data.sellerId)
        const outcome = await runSync(
          {
            database,
            client: (sellerId) => sellers.client(sellerId),
            owner,
            settings: {
              leaseMs: config.requestTimeoutMs + syncLeaseMarginMs,
              lookBackMs: config.lookBackMs,
              rereadDepthMs: config.reread.depthMs,
              ...(sandboxUrl === null ? {} : { lagMs: sandboxLagMs }),
            },
            ...saving,
            onRun: ({ sellerId, stream, run: ended, watermark }) => {
              const kind = stream.startsWith('backfill:') ? 'backfill' : stream
              metrics.pollRuns.inc({ stream: kind, outcome: ended.error === null ? 'done' : 'failed' })
              metrics.pollRecords.inc({ stream: kind, outcome: 'seen' }, ended.seen)
              metrics.pollRecords.inc({ stream: kind, outcome: 'changed' }, ended.changed)
              metrics.pollRecords.inc({ stream: kind, outcome: 'quarantined' }, ended.quarantined)
              if (ended.error === null) metrics.pollLastSuccess.set({ stream: kind, seller: sellerId }, Date.now() / 1_000)
              if (watermark !== null) {
                const lagMs = sellers.client(sellerId).clock().now().getTime() - watermark.getTime()
                metrics.pollLag.set({ stream: kind, seller: sellerId }, lagMs / 1_000)
              }
            },
          },
          data,
          { signal, log: jobLog },
        )
          .catch(async (error: unknown) => {
            if (!(error instanceof MarketplaceFailure) || !error.credentialsDead) throw error
            const reason = credentialsRefused(data.sellerId, error.httpStatus)
            if (await stopSeller(database, seller, reason)) jobLog.warn({ seller_id: data.sellerId }, reason)
            return { done: true } as const
          })
          .finally(() => reviewSyncAlarm(database, data))
        if (afterSave !== undefined) relay.nudge()
        return outcome
      },
      { concurrency: syncsAtOnce },
    )
    runtime.register(
      'event.process',
      async ({ data, signal, starts }) => {
        const came = await processReceivedEvent(accept, data, signal)
        // One that still waits is due again when its row says so, and then in any process.
        return typeof came === 'object' ? handBack({ database }, came.elsewhere, starts) : { done: true }
      },
      { backoff: jobBackoff },
    )
    runtime.register('seller.probe', async ({ data: { sellerId }, signal, starts, log: jobLog }) => {
      if (!sellers.has(sellerId)) return handBack({ database }, sellerId, starts)
      const outcome = await probeSeller({ database, sellers }, sellerId, signal)
      if (outcome === 'resumed') jobLog.info({ seller_id: sellerId }, 'the credentials are accepted again; the seller goes on')
      else if (outcome !== null) jobLog.warn({ seller_id: sellerId, outcome }, 'the stopped seller has still not got a token')
      return { done: true }
    })
    const overdueWatch = createOverdueWatch()
    runtime.register(
      'housekeeping.run',
      async ({ data, signal, log: jobLog }) => {
        if (data.task === 'review') {
          const overdue = await reviewOverdueCommands({ database, settleTimeMs: config.settleTimeMs }, overdueWatch)
          if (overdue > 0) jobLog.warn({ overdue }, 'commands are due and nobody works on them')
          const events = await reviewEvents(database)
          if (events.rejected > 0) jobLog.warn({ rejected: events.rejected }, 'events were rejected: they could not be decided')
          if (events.waiting > 0) jobLog.warn({ waiting: events.waiting }, 'events have been waiting for long')
          return { done: true }
        }
        const { removed, finished } = await runRetention(
          { database, owner, keep: config.retention },
          { signal, turnMs: trimTurnMs },
        )
        for (const [kind, count] of Object.entries(removed)) metrics.retentionRemoved.inc({ data: kind }, count)
        if (Object.values(removed).some((count) => count > 0)) jobLog.info({ removed }, 'old data removed')
        return finished ? { done: true } : { runAgainAt: new Date(), reason: 'there is more to be removed' }
      },
      upkeepStarts,
    )
  }
  await runtime.start()
  const tableSizes = shareCheck(
    () =>
      readTableSizes(database).catch((error: unknown) => {
        quiet.warn('sizes', { err: error }, 'the sizes of the tables cannot be read')
        return null
      }),
    { freshMs: sizesFreshMs, timeoutMs: checkTimeoutMs, mostHanging: 1, late: null },
  )

  if (has('scheduler')) {
    relay.start()
    // Rows of the SQL inbox are told by Postgres; the relay looks for them at intervals as well.
    listener.on('tallyman_erp_event', () => relay.nudge())
    listener.on(sellersChannel, () => relay.nudge())
    runtime.opened.then(firstLook).catch((error: unknown) => log.warn({ err: error }, 'the first look is left to the schedulers'))
    closers.add('the relay', () => relay.stop())
  }

  // ── HTTP ──
  const address = has('http') ? await serve() : null
  log.info(
    {
      ...(address === null ? {} : { console: `${address}/`, api: `${address}/docs` }),
      ...(sandboxUrl === null ? {} : { sandbox: sandboxUrl }),
      database: new URL(url).host + new URL(url).pathname,
      queues: backend.kind,
      sellers: sellers.ids().length,
      roles: config.roles,
    },
    address === null ? 'tallyman is running' : `tallyman is running: open ${address}/`,
  )

  if (config.sandbox?.demo === true && address !== null) {
    const demonstration = startDemonstration({
      daemonUrl: address,
      apiKey: config.http.apiKey,
      eventsSecret: config.http.eventsSecrets[0] ?? null,
      log: log.child({ demonstration: true }),
      signal: stop,
    })
    log.info(
      { demonstration: true },
      'a demonstration ERP accepts, ships, cancels and refunds the orders of the sandbox; DEMO=off leaves it out',
    )
    closers.add('the demonstration', () => demonstration)
  }

  const onHangUp = (): void => void rereadSellers()
  process.on('SIGHUP', onHangUp)
  closers.add('SIGHUP', async () => void process.off('SIGHUP', onHangUp))

  await aborted(stop)

  // ── drain: no new work, what runs gets its time, then it is aborted ──
  const drained = await runtime.drain(config.drainTimeoutMs)
  log.info({ clean: drained.clean, aborted: drained.aborted }, 'drained')

  // A start is a good moment to look at everything: schedulers are spread over their whole interval. The looks are spread as well.
  async function firstLook(): Promise<void> {
    // What was read again not long ago is not read again because of a restart.
    const rereadLately = new Set(
      (await listSyncs(database))
        .filter(
          ({ stream, lagMs }) =>
            stream === rereadStream && config.reread.everyMs !== 'off' && lagMs !== null && lagMs < config.reread.everyMs,
        )
        .map(({ sellerId, resource }) => JSON.stringify([sellerId, resource])),
    )
    const syncs = schedulers().flatMap(({ job, everyMs }) => {
      if (job.name !== 'sync.run') return []
      const { sellerId, resource, stream } = job.data
      return stream === rereadStream && rereadLately.has(JSON.stringify([sellerId, resource])) ? [] : [{ job, everyMs }]
    })
    await runtime.enqueueMany(syncs.map(({ job, everyMs }, place) => ({ ...job, delayMs: Math.min(place * 100, everyMs) })))
  }

  async function rereadSellers(): Promise<void> {
    try {
      await sellers.replace(readSellersAgain(process.env))
      await rememberSellers('settings')
      relay.nudge()
      log.info({ sellers: sellers.ids().length }, 'sellers read again')
    } catch (error) {
      if (error instanceof InvalidConfig) for (const fault of error.faults) log.error(`the sellers stay as they were: ${fault}`)
      else log.error({ err: error }, 'the sellers could not be read again')
    }
  }

  async function serve(): Promise<string> {
    // Anybody may ask, as often as they like: one look a second serves all, and takes no connection but those of the pools.
    const shared = { freshMs: 1_000, timeoutMs: checkTimeoutMs, mostHanging: 2 }
    const late = { ok: false, detail: 'Postgres does not answer in time' }
    const lookAtPostgres = shareCheck(() => lookAtStore(database, migrations, checkTimeoutMs), { ...shared, late })
    const lookAtQueues = shareCheck(() => runtime.check(checkTimeoutMs), {
      ...shared,
      timeoutMs: checkTimeoutMs * 2,
      late: { ok: false, detail: 'the store of the queues does not answer in time', warnings: [] },
    })
    const ready = async () => {
      const [store, queues] = await Promise.all([lookAtPostgres(), lookAtQueues()])
      const checks: readonly HealthCheck[] = [
        { name: 'postgres', ...store },
        { name: queuesName, ok: queues.ok, detail: queues.detail },
      ]
      return { ok: checks.every((check) => check.ok), checks }
    }
    const server = await createHttpServer({
      database,
      listener,
      log,
      limits: config.http.limits,
      apiKey: config.http.apiKey,
      eventsSecrets: config.http.eventsSecrets,
      version,
      sellers: () => sellers.ids(),
      marketplaceNow: (sellerId) => (sellers.has(sellerId) ? sellers.client(sellerId).clock().now() : new Date()),
      acceptEvents: (events, signal) => acceptEvents(accept, events, AbortSignal.any([signal])),
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
      syncs: { resources: syncResources, withPast: backfillResources, reach: reachOfBackfill, run: runSyncsNow },
      readGtinReport: (sellerId, gtin, signal) =>
        readGtinReport({ client: sellers.client(sellerId), database }, gtin, { signal }),
      retention: {
        keep: config.retention,
        run: async () => {
          const askedAt = await askForPasses(
            database,
            retainedData.filter((kind) => config.retention[kind] !== 'forever'),
          )
          await runtime.enqueue('housekeeping.run', { task: 'trim' }, { runNow: true })
          return askedAt
        },
      },
      replayQuarantined: (id) => replayQuarantined({ database, ...saving }, id),
      health: { live, ready },
      metrics: readMetrics,
      boardQueues: () => runtime.queues().map((queue) => ({ queue, readOnly: true })),
    })
    const listening = await server.listen({ host: config.http.host, port: config.http.port })
    stop.addEventListener('abort', () => server.drain(), { once: true })
    closers.add('the HTTP server', () => server.close(httpGraceMs))
    return listening
  }

  async function runSyncsNow(request: {
    readonly resource: string
    readonly sellerId: string | null
    readonly stream?: string
    readonly from: Date | null
    readonly to: Date | null
  }): Promise<readonly string[]> {
    const ids: string[] = []
    const { resource } = request
    const asked = request.sellerId === null ? sellers.ids() : [request.sellerId]
    const backfill = async (sellerId: string, from: Date, to: Date | null): Promise<readonly string[]> => {
      const now = sellers.client(sellerId).clock().now()
      const range = { from, to: to ?? now }
      // What one seller's marketplace has reached may be still to come for another's.
      if (intersect(range, reachOfBackfill(resource, now)) === null) return []
      return [(await requestBackfill(database, { sellerId, resource, range, now })).stream]
    }
    const resting = await sellersAtRest(database)
    for (const sellerId of asked.filter((id) => !resting.has(id) && resourcesOf(id).includes(resource))) {
      await askEnrolmentAgain(database, sellerId, resource)
      const streams =
        request.from === null
          ? streamsOf(resource)
              .map(({ stream }) => stream)
              .filter((stream) => request.stream === undefined || stream === request.stream)
          : await backfill(sellerId, request.from, request.to)
      for (const stream of streams) {
        // Whoever asks may know that its cursor leads nowhere.
        if (request.from === null) await dropCursor(database, { sellerId, resource, stream })
        await runtime.enqueue('sync.run', { sellerId, resource, stream }, { runNow: true })
        ids.push(`${sellerId}/${resource}/${stream}`)
      }
    }
    return ids
  }

  function live() {
    const verdict = runtime.liveness(Date.now())
    return { ok: verdict.alive, checks: [{ name: 'work is consumed', ok: verdict.alive, detail: verdict.detail }] }
  }

  async function readMetrics() {
    for (const { table, rows, bytes } of (await tableSizes()) ?? []) {
      metrics.tableRows.set({ table }, rows)
      metrics.tableBytes.set({ table }, bytes)
    }
    const figures = await readFigures(database).catch((error: unknown) => {
      quiet.warn('figures', { err: error }, 'the figures of the database cannot be read')
      return null
    })
    if (figures !== null) {
      metrics.commandsUnknown.set(figures.commandsVerifying)
      metrics.commandsHeld.set(figures.commandsHeld)
      metrics.outboxOldest.set((figures.oldestDue?.getTime() ?? 0) / 1_000)
      metrics.deadLetters.set({ kind: 'record' }, figures.quarantinedRecords)
      metrics.deadLetters.set({ kind: 'event' }, figures.rejectedEvents)
    }
    for (const budget of budgets.values()) {
      // Months are many and would be labels without end.
      for (const state of budget.snapshot())
        if (state.scope === null)
          metrics.rateLimitTokens.set({ seller: state.sellerId, operation: state.operation }, state.available)
    }
    await runtime.refreshMetrics()
    return metrics.read()
  }
}
