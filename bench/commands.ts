/**
 * Ship commands a second: the command engine with its queue, against a bare BullMQ worker that sends the same POST and does nothing else; on the
 * same queue backend, at the same concurrency, taking turns. The marketplace is a stub in a process of its own. Linux only.
 * `node bench/commands.ts [--commands 1500] [--rounds 3] [--concurrency 64]`; prints medians and their ratio.
 * `node bench/commands.ts --statements 300 [--concurrency 1]`: with the duration of each statement.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createPostgresBackend, Queue, Worker } from 'bullmq'
import pg from 'pg'
import { createInProcessBudget } from '../src/clients/budget.ts'
import { createTransport } from '../src/clients/http.ts'
import { createMarketplaceClient } from '../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../src/clients/marketplace/orders.ts'
import { profiles } from '../src/clients/marketplace/profiles/index.ts'
import type { PlannedCommand } from '../src/domain/command.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { runCommand } from '../src/jobs/commands/run.ts'
import { createSellerRegistry, type SellerRegistry } from '../src/jobs/sellers.ts'
import { createLogger, createQuietLog } from '../src/observability/log.ts'
import { createMetrics } from '../src/observability/metrics.ts'
import { createQueueBackend } from '../src/queues/backend.ts'
import { createQueueRuntime } from '../src/queues/runtime.ts'
import { insertCommands } from '../src/store/command-steps.ts'
import { headCommand } from '../src/store/commands.ts'
import { type Database, openDatabase } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { recordSellers } from '../src/store/sellers.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../test/support/redis.ts'
import { storeOrders } from '../test/support/store.ts'
import { vocabularyOf } from '../test/support/vocabulary.ts'
import { generateOrder } from './generate.ts'
import { benchFolder, median, numberOption, processorMs } from './measure.ts'
import { startMarketplaceStub } from './start-stub.ts'
import { type StatementCost, watchStatements } from './statements.ts'

const statements = process.argv.includes('--statements') ? numberOption('statements', 300) : null
const commands = statements ?? numberOption('commands', 1_500)
const rounds = statements === null ? numberOption('rounds', 3) : 1
const concurrency = numberOption('concurrency', statements === null ? 64 : 1)
const sellerId = 'bench'
const requestTimeoutMs = 30_000
const pageSize = 200
/** The queue retries a failing command with a growing back-off: after this time the run is aborted. */
const longestRunMs = 30_000 + commands * 200
/** The first commands warm everything up and are not counted. */
const warmUp = Math.floor(commands / 5)

const log = createLogger({ level: 'info', format: 'json', destination: { write: () => undefined } })
const unlimited = { [ordersEndpoint.operations.ship.name]: { tokens: 1e9, perMs: 60_000 } }

/** Ships one unit of each line; the tracking numbers are those that the stub answers with. */
const commandOf = (order: number): Extract<PlannedCommand, { kind: 'ship' }> => {
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

/** Counts commands as they end; answers commands a second without the warm-up. */
const createMeter = () => {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let ended = 0
  let startedMs = 0
  const deadline = setTimeout(
    () => reject(new Error(`${ended} of ${commands} commands ended in ${longestRunMs} ms`)),
    longestRunMs,
  )
  return {
    rate: promise,
    ended: (): void => {
      ended += 1
      if (ended === warmUp) startedMs = performance.now()
      if (ended < commands) return
      clearTimeout(deadline)
      resolve((commands - warmUp) / ((performance.now() - startedMs) / 1_000))
    },
  }
}

interface Setting {
  readonly stubUrl: string
  readonly redis: TestRedis | null
  /** Address of an empty database. */
  newDatabase(): Promise<string>
}

const sellersOf = (stubUrl: string): SellerRegistry => {
  const budget = createInProcessBudget({ limits: unlimited })
  const seller = {
    sellerId,
    clientId: 'bench',
    clientSecret: 'bench',
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
  }
  return createSellerRegistry({
    sellers: [seller],
    sandboxUrl: null,
    display: null,
    requestTimeoutMs,
    profiles,
    budget,
    log,
    hooks: {},
    createClient: createMarketplaceClient,
  })
}

const fill = async (database: Database, sellers: SellerRegistry): Promise<readonly string[]> => {
  await recordSellers(database, [sellers.configured(sellerId)])
  const ids: string[] = []
  for (let first = 0; first < commands; first += pageSize) {
    const numbers = Array.from({ length: Math.min(pageSize, commands - first) }, (_, index) => first + index)
    const records = numbers.map((order) => generateOrder(order, 0))
    await storeOrders(database, { sellerId, records, observedAt: new Date(Date.now() - 60_000) })
    const stored = await database.transaction(async (transaction) => {
      const made: string[] = []
      for (const order of numbers) {
        const command = commandOf(order)
        const { purchaseOrderId } = command
        made.push(...(await insertCommands(transaction, { sellerId, purchaseOrderId, event: null, commands: [command] })))
      }
      return made
    })
    ids.push(...stored)
  }
  return ids
}

/** The engine, wired as the daemon wires it. */
const runEngine = async ({ stubUrl, redis, newDatabase }: Setting): Promise<Run> => {
  const url = await newDatabase()
  await migrate(url)
  const database = openDatabase({ vocabularyOf, url, connections: 12 })
  const sellers = sellersOf(stubUrl)
  const metrics = createMetrics({ version: 'bench', processMetrics: false })
  const prefix = `engine-${randomBytes(4).toString('hex')}`
  const connect = () => {
    const backend = createQueueBackend({ redisUrl: redis?.url ?? null, databaseUrl: url, quiet: createQuietLog(log), prefix })
    return createQueueRuntime({ backend, log, metrics })
  }
  const runtime = connect()
  const producer = connect()
  const meter = createMeter()
  const parts = {
    database,
    sellers,
    owner: 'bench',
    requestTimeoutMs,
    settleTimeMs: 120_000,
    onSettled: async (seller: string, subject: string) => {
      const next = await headCommand(database, seller, subject)
      if (next !== null) await runtime.enqueue('command.run', { commandId: next }, { runNow: true })
    },
    onOutcome: (kind: string, outcome: string) => metrics.commands.inc({ kind, outcome }),
  }
  runtime.register(
    'command.run',
    async ({ data, signal, log: jobLog }) => {
      const outcome = await runCommand(parts, data.commandId, { signal, log: jobLog })
      if ('done' in outcome) meter.ended()
      return outcome
    },
    { concurrency },
  )
  try {
    const ids = await fill(database, sellers)
    await database.query('VACUUM (ANALYZE)')
    await producer.start()
    await producer.enqueueMany(ids.map((commandId) => ({ name: 'command.run', data: { commandId } })))
    const watch = statements === null ? null : watchStatements()
    const run = await timed(meter.rate, () => runtime.start())
    const costs = watch?.end() ?? []
    const [found] = await database.query<{ count: bigint }>(
      `SELECT count(*) AS count FROM tallyman.commands WHERE state = 'confirmed'`,
    )
    if (Number(found?.count) !== commands) throw new Error(`${found?.count} of ${commands} commands were confirmed`)
    return { ...run, costs }
  } finally {
    await runtime.close()
    await producer.close()
    await sellers.close()
    await database.close()
  }
}

/** What anyone would write first: the request is in the job, the worker sends it. */
const runBare = async ({ stubUrl, redis, newDatabase }: Setting): Promise<Run> => {
  const sellers = sellersOf(stubUrl)
  const { ship } = sellers.client(sellerId).of(ordersEndpoint).commands
  const transport = createTransport({ baseUrl: stubUrl, requestTimeoutMs, maxBodyBytes: 1e7, now: Date.now })
  const meter = createMeter()
  const work = async ({ data }: { data: { path: string; body: unknown } }): Promise<void> => {
    const { status } = await transport.exchange({
      method: 'POST',
      target: data.path,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'XX_QOS.CORRELATION_ID': randomUUID(),
        'XX_SVC.NAME': 'bench',
        'XX_SEC.ACCESS_TOKEN': 'bench',
      },
      body: JSON.stringify(data.body),
      signal: AbortSignal.timeout(requestTimeoutMs),
      freshConnection: true,
    })
    if (status !== 200) throw new Error(`the stub answered ${status}`)
    meter.ended()
  }
  const open = async () => {
    if (redis !== null) {
      const prefix = `bare-${randomBytes(4).toString('hex')}`
      return {
        queue: new Queue('bare', { connection: { url: redis.url }, prefix }),
        worker: new Worker('bare', work, {
          connection: { url: redis.url, maxRetriesPerRequest: null },
          prefix,
          concurrency,
          autorun: false,
        }),
      }
    }
    const connection = { connectionString: await newDatabase(), max: 12, migrate: true }
    const queue = new Queue('bare', { connection }, createPostgresBackend)
    await queue.waitUntilReady()
    return { queue, worker: new Worker('bare', work, { connection, concurrency, autorun: false }, createPostgresBackend) }
  }
  const { queue, worker } = await open()
  try {
    const jobs = Array.from({ length: commands }, (_, order) => {
      const { purchaseOrderId, payload } = commandOf(order)
      const { path: target, body } = ship.request(purchaseOrderId, payload)
      return { name: 'ship', data: { path: target, body }, opts: { removeOnComplete: true } }
    })
    for (let first = 0; first < jobs.length; first += 500) await queue.addBulk(jobs.slice(first, first + 500))
    await worker.waitUntilReady()
    const faults = Promise.withResolvers<never>()
    worker.on('failed', (_job, error) => faults.reject(error))
    return {
      ...(await timed(Promise.race([meter.rate, faults.promise]), async () => {
        worker.run().catch(faults.reject)
      })),
      costs: [],
    }
  } finally {
    await worker.close()
    await queue.close()
    await sellers.close()
    transport.close()
  }
}

/** One side in one round; processor times are for one command. */
interface Run {
  readonly rate: number
  readonly ownMs: number
  readonly postgresMs: number
  readonly costs: readonly StatementCost[]
}

let postgresPid = 0
const timed = async (rate: Promise<number>, start: () => Promise<void>): Promise<Omit<Run, 'costs'>> => {
  const own = process.cpuUsage()
  const postgres = await processorMs(postgresPid)
  await start()
  const measured = await rate
  const used = process.cpuUsage(own)
  return {
    rate: measured,
    ownMs: (used.user + used.system) / 1_000 / commands,
    postgresMs: ((await processorMs(postgresPid)) - postgres) / commands,
  }
}

const folder = await benchFolder()
const closers: (() => Promise<unknown> | unknown)[] = [() => rm(folder, { recursive: true, force: true })]
try {
  const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
  closers.push(() => server.stop())
  postgresPid = server.pid() ?? 0
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  closers.push(() => admin.end())
  const stub = await startMarketplaceStub()
  closers.push(() => stub.child.disconnect())
  const newDatabase = async (): Promise<string> => {
    const name = `bench_${randomBytes(4).toString('hex')}`
    await admin.query(`CREATE DATABASE ${name}`)
    return server.url.replace(/\/tallyman$/, `/${name}`)
  }
  const redis = hasRedisServer() ? await startTestRedis() : null
  if (redis !== null) closers.push(() => redis.stop())

  const backends = [
    { backend: 'Postgres', setting: { stubUrl: stub.url, redis: null, newDatabase } },
    ...(redis === null ? [] : [{ backend: 'Redis', setting: { stubUrl: stub.url, redis, newDatabase } }]),
  ].map((entry) => ({ ...entry, engine: [] as Run[], bare: [] as Run[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { setting, engine, bare } of backends) {
      bare.push(await runBare(setting))
      engine.push(await runEngine(setting))
    }
  }

  const figures = backends.map(({ backend, engine, bare }) => {
    const of = (runs: readonly Run[], pick: (run: Run) => number): number => median(runs.map(pick))
    return {
      backend,
      engine: of(engine, ({ rate }) => rate),
      bare: of(bare, ({ rate }) => rate),
      ratio: median(engine.map(({ rate }, round) => rate / (bare[round]?.rate ?? Number.NaN))),
      ownMs: of(engine, ({ ownMs }) => ownMs),
      bareMs: of(bare, ({ ownMs }) => ownMs),
      postgresMs: of(engine, ({ postgresMs }) => postgresMs),
      barePostgresMs: of(bare, ({ postgresMs }) => postgresMs),
    }
  })
  console.log(
    `${commands} ship commands, ${concurrency} at a time, medians of ${rounds} rounds; commands a second, processor time of one command`,
  )
  console.table(
    figures.map(({ backend, engine, bare, ratio, ownMs, bareMs, postgresMs, barePostgresMs }) => ({
      'queues in': backend,
      engine: Math.round(engine),
      'bare worker': Math.round(bare),
      'engine to bare': ratio.toFixed(2),
      'engine, Node': `${ownMs.toFixed(2)} ms`,
      'engine, Postgres': `${postgresMs.toFixed(2)} ms`,
      'bare, Node': `${bareMs.toFixed(2)} ms`,
      'bare, Postgres': `${barePostgresMs.toFixed(2)} ms`,
    })),
  )
  for (const { backend, engine } of statements === null ? [] : backends) {
    console.log(`queues in ${backend}: ${concurrency} at a time, time of each statement from sending to answer`)
    console.table(
      (engine[0]?.costs ?? []).slice(0, 24).map(({ statement, count, totalMs }) => ({
        statement,
        'a command': (count / commands).toFixed(2),
        'ms each': (totalMs / count).toFixed(2),
        'ms a command': (totalMs / commands).toFixed(2),
      })),
    )
  }
  process.send?.(
    figures.map(({ backend, engine, bare, ratio, ownMs, postgresMs }) => ({ backend, engine, bare, ratio, ownMs, postgresMs })),
  )
} finally {
  for (const close of closers.reverse()) await close()
}
