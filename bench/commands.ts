/**
 * Ship commands a second: the command engine with its queue, against a bare BullMQ worker that sends the same POST and does nothing else; on the same queue backend, at the same concurrency, taking turns. The bare worker sends it as anyone would
 * write it, by got; and, as a second one, over the engine's own transport. Beside them runs the least that Postgres has to do for a command: two plain
 * statements for a batch of 32, over the engine's transport, without a queue. The marketplace is a stub in a process of its own. Linux only.
 * `node bench/commands.ts [--commands 1500] [--rounds 3] [--concurrency 128]`; prints medians and their ratio.
 * `node bench/commands.ts --statements 6000 [--concurrency 128]`: what each statement of the engine costs in Postgres.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import { createPostgresBackend, Queue, Worker } from 'bullmq'
import got from 'got'
import { createTransport, type Transport } from '../src/clients/http/http.ts'
import { ordersEndpoint } from '../src/clients/marketplace/orders/orders.ts'
import { commandsAtOnce } from '../src/jobs/dispatch/capacity.ts'
import type { SellerRegistry } from '../src/jobs/sellers/registry.ts'
import { createMetrics } from '../src/observability/metrics.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../test/support/redis.ts'
import { runCommand } from '../test/support/run-command.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchOptions, median, processorMs } from './measure.ts'
import { runPlainCommands } from './plain-commands.ts'
import { startScratchPostgres } from './scratch-postgres.ts'
import {
  benchSellerId,
  benchSellers,
  buildCommand,
  commandParts,
  fillCommands,
  openQueues,
  requestTimeoutMs,
} from './ship-commands.ts'
import { startMarketplaceStub } from './start-stub.ts'
import { type StatementCost, watchedServer, watchStatements } from './statements.ts'

const { numbers: options } = benchOptions({ statements: 0, commands: 1_500, rounds: 3, concurrency: 0 })
const statements = options.statements > 0 ? options.statements : null
const commands = statements ?? options.commands
const rounds = statements === null ? options.rounds : 1
const concurrency = options.concurrency > 0 ? options.concurrency : commandsAtOnce / 2
/** The queue retries a failing command with a growing back-off: after this time the run is aborted. */
const longestRunMs = 30_000 + commands * 200
/** Commands of a batch of plain statements. */
const plainBatch = 32
/** The first commands warm everything up and are not counted. */
const warmUp = Math.floor(commands / 5)

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
  /** An empty database. */
  readonly databaseUrl: string
}

/** The engine, wired as the daemon wires it. */
const runEngine = async ({ stubUrl, redis, databaseUrl: url }: Setting): Promise<Run> => {
  await migrate(url)
  const database = openDatabase({ findVocabulary, url, connections: 12 })
  const sellers = benchSellers(stubUrl)
  const metrics = createMetrics({ version: 'bench', processMetrics: false })
  const prefix = `engine-${randomBytes(4).toString('hex')}`
  const options = { redisUrl: redis?.url ?? null, databaseUrl: url, prefix }
  const runtime = openQueues(options, metrics)
  const producer = openQueues(options, metrics)
  const meter = createMeter()
  const parts = commandParts({ database, sellers, runtime, metrics })
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
    const ids = await fillCommands(database, sellers, commands)
    await database.query('VACUUM (ANALYZE)')
    await producer.start()
    await producer.enqueueMany(ids.map((commandId) => ({ name: 'command.run', data: { commandId } })))
    const watch = statements === null ? null : await watchStatements(url)
    const run = await timed(meter.rate, () => runtime.start())
    const costs = (await watch?.end()) ?? []
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

/** Sends what a job of a bare worker holds; answers the body of a 200. */
type Send = (target: string, body: string) => Promise<string>

const bareHeaders = () => ({
  accept: 'application/json',
  'content-type': 'application/json',
  'XX_QOS.CORRELATION_ID': randomUUID(),
  'XX_SVC.NAME': 'bench',
  'XX_SEC.ACCESS_TOKEN': 'bench',
})

/** As anyone would write it, connections kept. */
const sendByGot =
  (stubUrl: string): Send =>
  async (target, body) => {
    const options = { headers: bareHeaders(), body, timeout: { request: requestTimeoutMs }, retry: { limit: 0 } }
    return (await got.post(`${stubUrl}${target}`, options)).body
  }

/** As the engine sends a write. */
const sendByOurs =
  (transport: Transport): Send =>
  async (target, body) => {
    const { status, bodyText } = await transport.exchange({
      method: 'POST',
      target,
      headers: bareHeaders(),
      body,
      signal: AbortSignal.timeout(requestTimeoutMs),
      freshConnection: true,
    })
    if (status !== 200 || bodyText === null) throw new Error(`the stub answered ${status}`)
    return bodyText
  }

/** What each command asks of the marketplace. */
const buildRequests = (sellers: SellerRegistry) => {
  const { ship } = sellers.client(benchSellerId).of(ordersEndpoint).commands
  return Array.from({ length: commands }, (_, order) => {
    const { purchaseOrderId, payload } = buildCommand(order)
    const { path: target, body } = ship.request(purchaseOrderId, payload)
    return { purchaseOrderId, target, body: JSON.stringify(body) }
  })
}

/** The least that Postgres has to do. */
const runPlain = async ({ stubUrl, databaseUrl }: Setting): Promise<Run> => {
  const sellers = benchSellers(stubUrl)
  const transport = createTransport({ baseUrl: stubUrl, requestTimeoutMs, maxBodyBytes: 1e7, now: Date.now })
  const meter = createMeter()
  try {
    const run = await runPlainCommands({
      databaseUrl,
      requests: buildRequests(sellers),
      batchSize: plainBatch,
      batches: Math.max(1, Math.floor(concurrency / plainBatch)),
      send: sendByOurs(transport),
      ended: meter.ended,
      measure: (work) => timed(meter.rate, work),
    })
    return { ...run, costs: [] }
  } finally {
    await sellers.close()
    transport.close()
  }
}

/** What anyone would write first: the request is in the job, the worker sends it. */
const runBare = async ({ stubUrl, redis, databaseUrl }: Setting, by: 'got' | 'ours'): Promise<Run> => {
  const sellers = benchSellers(stubUrl)
  const transport = createTransport({ baseUrl: stubUrl, requestTimeoutMs, maxBodyBytes: 1e7, now: Date.now })
  const send = by === 'got' ? sendByGot(stubUrl) : sendByOurs(transport)
  const meter = createMeter()
  const work = async ({ data }: { data: { target: string; body: string } }): Promise<void> => {
    await send(data.target, data.body)
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
    const connection = { connectionString: databaseUrl, max: 12, migrate: true }
    const queue = new Queue('bare', { connection }, createPostgresBackend)
    await queue.waitUntilReady()
    return { queue, worker: new Worker('bare', work, { connection, concurrency, autorun: false }, createPostgresBackend) }
  }
  const { queue, worker } = await open()
  try {
    const jobs = buildRequests(sellers).map(({ target, body }) => ({
      name: 'ship',
      data: { target, body },
      opts: { removeOnComplete: true },
    }))
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

interface Backend {
  readonly name: string
  readonly redis: TestRedis | null
}

/** Runs one way in a database of its own. */
type InDatabase = (redis: TestRedis | null, run: (setting: Setting) => Promise<Run>) => Promise<Run>

/** All ways, in turns; prints and sends medians and ratios. */
const compareWays = async (backends: readonly Backend[], inDatabase: InDatabase): Promise<void> => {
  const played = backends.map(({ name: backend, redis: server }) => ({
    backend,
    server,
    engine: [] as Run[],
    bare: [] as Run[],
    ours: [] as Run[],
    plain: [] as Run[],
  }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { server: queues, engine, bare, ours, plain } of played) {
      bare.push(await inDatabase(queues, (setting) => runBare(setting, 'got')))
      ours.push(await inDatabase(queues, (setting) => runBare(setting, 'ours')))
      engine.push(await inDatabase(queues, (setting) => runEngine(setting)))
      plain.push(await inDatabase(queues, runPlain))
    }
  }

  const figures = played.map(({ backend, engine, bare, ours, plain }) => {
    const of = (runs: readonly Run[], pick: (run: Run) => number): number => median(runs.map(pick))
    const to = (runs: readonly Run[], others: readonly Run[]): number =>
      median(runs.map(({ rate }, round) => rate / (others[round]?.rate ?? Number.NaN)))
    const rows = [
      { way: 'a bare worker, by got', runs: bare },
      { way: 'a bare worker, over our transport', runs: ours },
      { way: 'the engine, from the queue', runs: engine },
      { way: 'two plain statements a batch, no queue', runs: plain },
    ].map(({ way, runs }) => ({
      'queues in': backend,
      way,
      'a second': Math.round(of(runs, ({ rate }) => rate)),
      'to got': to(runs, bare).toFixed(2),
      'to ours': to(runs, ours).toFixed(2),
      Node: `${of(runs, ({ ownMs }) => ownMs).toFixed(2)} ms`,
      Postgres: `${of(runs, ({ postgresMs }) => postgresMs).toFixed(2)} ms`,
    }))
    return {
      backend,
      rows,
      ratio: to(engine, bare),
      toOurs: to(engine, ours),
      toPlain: to(engine, plain),
      plainRatio: to(plain, bare),
      ownMs: of(engine, ({ ownMs }) => ownMs),
      postgresMs: of(engine, ({ postgresMs }) => postgresMs),
    }
  })
  console.log(
    `${commands} ship commands, ${concurrency} at a time, medians of ${rounds} rounds; commands a second, processor time of one command`,
  )
  console.table(figures.flatMap(({ rows }) => rows))
  process.send?.(figures.map(({ rows, ...reported }) => reported))
}

/** What each statement of the engine costs in Postgres. */
const showStatements = async (backends: readonly Backend[], inDatabase: InDatabase): Promise<void> => {
  for (const { name, redis } of backends) {
    const { costs } = await inDatabase(redis, (setting) => runEngine(setting))
    console.log(`queues in ${name}: ${commands} ship commands, ${concurrency} at a time; time in Postgres and log written`)
    console.table(
      costs.slice(0, 24).map(({ statement, calls, totalMs, walBytes }) => ({
        statement,
        calls,
        'ms each': (totalMs / calls).toFixed(2),
        'ms a command': (totalMs / commands).toFixed(3),
        'kB a command': (walBytes / commands / 1e3).toFixed(2),
      })),
    )
  }
}

const shutdownHooks: (() => Promise<unknown> | unknown)[] = []
try {
  const postgres = await startScratchPostgres(statements === null ? [] : watchedServer)
  shutdownHooks.push(postgres.stop)
  postgresPid = postgres.pid
  const stub = await startMarketplaceStub()
  shutdownHooks.push(() => stub.child.disconnect())
  const inDatabase: InDatabase = (redis, run) =>
    postgres.inDatabase((databaseUrl) => run({ stubUrl: stub.url, redis, databaseUrl }))
  const redis = hasRedisServer() ? await startTestRedis() : null
  if (redis !== null) shutdownHooks.push(() => redis.stop())

  const backends: readonly Backend[] = [{ name: 'Postgres', redis: null }, ...(redis === null ? [] : [{ name: 'Redis', redis }])]
  await (statements === null ? compareWays(backends, inDatabase) : showStatements(backends, inDatabase))
} finally {
  for (const close of shutdownHooks.reverse()) await close()
}
