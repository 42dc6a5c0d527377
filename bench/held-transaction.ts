/**
 * What an idle transaction does to queues in Postgres: jobs go through the daemon's queue runtime while another session holds an old snapshot
 * (`BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1`), and the same without, taking turns, each in a database of its own. The jobs that do nothing
 * make the dead row versions of a long time; then ship commands go through the same queue. Linux only.
 * `node bench/held-transaction.ts [--jobs 50000] [--parts 5] [--commands 1000] [--rounds 3] [--concurrency 128]`; prints jobs a second of each part,
 * commands a second, and dead row versions at the end. `--statements`: also what the statements of each side cost in Postgres.
 */

import pg from 'pg'
import { commandsAtOnce } from '../src/jobs/dispatch/capacity.ts'
import { createMetrics } from '../src/observability/metrics.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { runCommand } from '../test/support/run-command.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchOptions, median, processorMs } from './measure.ts'
import { startScratchPostgres } from './scratch-postgres.ts'
import { benchSellers, commandParts, fillCommands, openQueues } from './ship-commands.ts'
import { startMarketplaceStub } from './start-stub.ts'

const { numbers, flags } = benchOptions(
  { jobs: 50_000, parts: 5, commands: 1_000, rounds: 3, concurrency: commandsAtOnce / 2 },
  { flags: ['statements'] },
)
const { jobs, parts, commands, rounds, concurrency } = numbers
const showStatements = flags.has('statements')

const jobsAPart = Math.floor(jobs / parts)
/** Jobs that wait or run at once: a queue that keeps up is nearly empty. */
const atOnce = 1_000
const jobsABulk = 500
const nothing = 'nothing-'

interface Run {
  /** Of each part. */
  readonly jobs: readonly Cost[]
  readonly commands: Cost
  readonly dead: readonly DeadRows[]
  readonly statements: readonly StatementTime[]
}

/** How fast, and processor time of Postgres for one, which hardly depends on what else the machine does. */
interface Cost {
  readonly rate: number
  readonly postgresMs: number
}

interface DeadRows {
  readonly table: string
  readonly dead: number
  readonly live: number
  readonly bytes: number
}

interface StatementTime {
  readonly statement: string
  readonly calls: number
  readonly totalMs: number
}

const deadRows = async (client: pg.Client): Promise<readonly DeadRows[]> => {
  // Statistics of a backend that is busy come once a second.
  await client.query('SELECT pg_stat_force_next_flush(), pg_sleep(1.5)')
  const { rows } = await client.query<DeadRows>(
    `SELECT schemaname || '.' || relname AS table, n_dead_tup::float8 AS dead, n_live_tup::float8 AS live,
       pg_total_relation_size(relid)::float8 AS bytes
     FROM pg_stat_user_tables WHERE schemaname IN ('bullmq', 'tallyman', 'warehouse') ORDER BY n_dead_tup DESC LIMIT 12`,
  )
  return rows
}

const statementTimes = async (client: pg.Client): Promise<readonly StatementTime[]> => {
  const { rows } = await client.query<StatementTime>(
    `SELECT regexp_replace(left(query, 90), '\\s+', ' ', 'g') AS statement, calls::float8 AS calls, total_exec_time AS "totalMs"
     FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()
     WHERE calls > 10 ORDER BY total_exec_time DESC LIMIT 16`,
  )
  return rows
}

let postgresPid = 0
const timed = async (count: number, work: () => Promise<void>): Promise<Cost> => {
  const [startedMs, usedMs] = [performance.now(), await processorMs(postgresPid)]
  await work()
  const [endedMs, nowUsedMs] = [performance.now(), await processorMs(postgresPid)]
  return { rate: count / ((endedMs - startedMs) / 1_000), postgresMs: (nowUsedMs - usedMs) / count }
}

/** One side: its database, its jobs and its commands. */
const play = async (url: string, stubUrl: string, held: boolean): Promise<Run> => {
  await migrate(url)
  const watcher = new pg.Client({ connectionString: url })
  const holder = new pg.Client({ connectionString: url, application_name: 'idle' })
  await Promise.all([watcher.connect(), holder.connect()])
  if (showStatements) await watcher.query('CREATE EXTENSION pg_stat_statements')
  const database = openDatabase({ findVocabulary, url, connections: 12 })
  const sellers = benchSellers(stubUrl)
  const metrics = createMetrics({ version: 'bench', processMetrics: false })
  const options = { redisUrl: null, databaseUrl: url }
  const runtime = openQueues(options, metrics)
  const producer = openQueues(options, metrics)
  const engine = commandParts({ database, sellers, runtime, metrics })
  let ended = 0
  let awaited = { count: 0, reached: (): void => undefined }
  const count = (): void => {
    ended += 1
    if (ended >= awaited.count) awaited.reached()
  }
  const endedAre = async (total: number): Promise<void> => {
    if (ended >= total) return
    const { promise, resolve } = Promise.withResolvers<void>()
    awaited = { count: total, reached: resolve }
    await promise
  }
  runtime.register(
    'command.run',
    async ({ data, signal, log }) => {
      if (data.commandId.startsWith(nothing)) {
        count()
        return { done: true }
      }
      const outcome = await runCommand(engine, data.commandId, { signal, log })
      if ('done' in outcome) count()
      return outcome
    },
    { concurrency },
  )
  try {
    const queued = await fillCommands(database, sellers, commands)
    await database.query('VACUUM (ANALYZE)')
    await producer.start()
    await runtime.start()
    if (held) {
      await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
      await holder.query('SELECT 1')
    }
    const costs: Cost[] = []
    let added = 0
    for (let part = 0; part < parts; part += 1) {
      const upTo = (part + 1) * jobsAPart
      const cost = await timed(jobsAPart, async () => {
        for (; added < upTo; added += jobsABulk) {
          await endedAre(added - atOnce + jobsABulk)
          await producer.enqueueMany(
            Array.from({ length: jobsABulk }, (_, index) => ({
              name: 'command.run',
              data: { commandId: `${nothing}${added + index}` },
              fresh: true,
            })),
          )
        }
        await endedAre(upTo)
      })
      costs.push(cost)
    }
    const endsAt = ended + commands
    const commandCost = await timed(commands, async () => {
      await producer.enqueueMany(queued.map((commandId) => ({ name: 'command.run', data: { commandId }, fresh: true })))
      await endedAre(endsAt)
    })
    const dead = await deadRows(watcher)
    return { jobs: costs, commands: commandCost, dead, statements: showStatements ? await statementTimes(watcher) : [] }
  } finally {
    await Promise.all([holder.end(), watcher.end()])
    await runtime.close()
    await producer.close()
    await sellers.close()
    await database.close()
  }
}

const shutdownHooks: (() => Promise<unknown> | unknown)[] = []
try {
  const postgres = await startScratchPostgres(
    showStatements ? ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all'] : [],
  )
  shutdownHooks.push(postgres.stop)
  postgresPid = postgres.pid
  const stub = await startMarketplaceStub()
  shutdownHooks.push(() => stub.child.disconnect())

  const free: Run[] = []
  const held: Run[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (const [runs, isHeld] of round % 2 === 0
      ? ([
          [free, false],
          [held, true],
        ] as const)
      : ([
          [held, true],
          [free, false],
        ] as const)) {
      runs.push(await postgres.inDatabase((url) => play(url, stub.url, isHeld)))
    }
  }

  const of = (runs: readonly Run[], pick: (run: Run) => number): number => median(runs.map(pick))
  const ratio = (pick: (run: Run) => number): number => median(held.map((run, round) => pick(run) / pick(free[round] ?? run)))
  const buildRow = (what: string, pick: (run: Run) => Cost | undefined) => {
    const rate = (run: Run): number => pick(run)?.rate ?? Number.NaN
    const postgresMs = (run: Run): number => pick(run)?.postgresMs ?? Number.NaN
    return {
      what,
      'a second: free, held': `${Math.round(of(free, rate))}, ${Math.round(of(held, rate))}`,
      ratio: ratio(rate).toFixed(2),
      'Postgres, ms each: free, held': `${of(free, postgresMs).toFixed(2)}, ${of(held, postgresMs).toFixed(2)}`,
      'ratio of it': ratio(postgresMs).toFixed(2),
    }
  }
  console.log(
    `${jobs} jobs that do nothing, then ${commands} ship commands, ${concurrency} at a time, medians of ${rounds} rounds; queues in Postgres`,
  )
  console.table([
    ...Array.from({ length: parts }, (_, part) => buildRow(`jobs, up to ${(part + 1) * jobsAPart}`, (run) => run.jobs[part])),
    buildRow('commands from the queue, then', (run) => run.commands),
  ])
  for (const [label, runs] of [
    ['no snapshot held', free],
    ['snapshot held', held],
  ] as const) {
    const last = runs.at(-1)
    console.log(`${label}: row versions at the end of the last round`)
    console.table(last?.dead.map(({ bytes, ...row }) => ({ ...row, MB: (bytes / 1e6).toFixed(1) })))
    if (showStatements)
      console.table(
        last?.statements.map(({ statement, calls, totalMs }) => ({
          statement,
          calls,
          'ms each': (totalMs / calls).toFixed(3),
          'ms of all': Math.round(totalMs),
        })),
      )
  }
  process.send?.({
    lastPart: ratio((run) => run.jobs.at(-1)?.rate ?? Number.NaN),
    commands: ratio((run) => run.commands.rate),
    commandPostgres: ratio((run) => run.commands.postgresMs),
  })
} finally {
  for (const close of shutdownHooks.reverse()) await close()
}
