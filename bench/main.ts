/**
 * All benchmarks at sizes that end within ten minutes, one after another, followed by one table of results and goals.
 * Compare ratios taken in one run; absolute figures move with everything else that the machine does. `npm run bench`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { z } from 'zod'
import { benchOptions, daemonFlags } from './measure.ts'

benchOptions({})

interface Outcome {
  readonly printed: string
  /** The data that the benchmark reported, if any. */
  readonly reported: unknown
}

/** Runs a benchmark as a process of its own, so that none inherits the memory of another. */
const run = async (file: string, args: readonly string[]): Promise<Outcome> => {
  console.log(`\n── ${[file, ...args].join(' ')}`)
  const child = fork(path.join(import.meta.dirname, file), args, {
    execArgv: [...daemonFlags],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  let printed = ''
  let reported: unknown
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    process.stdout.write(text)
  })
  child.on('message', (message) => {
    reported = message
  })
  const [code]: unknown[] = await once(child, 'close')
  if (code !== 0) throw new Error(`${file} ended with ${String(code)}`)
  return { printed, reported }
}

/** The row of a printed table whose first cell begins like this; cells by the heading of their column. */
const buildRow = (printed: string, begin: string): ReadonlyMap<string, string> => {
  const cells = (line: string): string[] =>
    line
      .split('│')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll(/^['"]|['"]$/g, ''))
  const lines = printed.split('\n').filter((line) => line.startsWith('│'))
  const headings = cells(lines[0] ?? '')
  const row = lines.map(cells).find(([, first]) => first?.startsWith(begin))
  if (row === undefined) throw new Error(`the table has no row ${begin}`)
  return new Map(headings.map((heading, index) => [heading, row[index] ?? '']))
}

/** Three figures printed as `first / unchanged / changed`. */
const three = (cell: string | undefined): readonly [number, number, number] => {
  const [first = Number.NaN, unchanged = Number.NaN, changed = Number.NaN] = (cell ?? '').split('/').map(Number)
  return [first, unchanged, changed]
}

const backfillSchema = z.object({
  firstToStorePath: z.number(),
  aboveIdleMb: z.number(),
  walUnchangedBytes: z.number(),
})
const inventoryLogSchema = z.object({ entriesPerSecond: z.number(), callsPerSecond: z.number(), aboveIdleMb: z.number() })
const reportPassSchema = z.object({ rowsPerSecond: z.number(), aboveIdleMb: z.number() })
const reportSchema = z.object({ first: reportPassSchema, again: reportPassSchema })
const mixedLoadSchema = z.object({
  rowsPerSecond: z.number(),
  longestGapSeconds: z.number(),
  apiP99Ms: z.number(),
  slowestClaimsMs: z.number(),
})
const claimsSchema = z.object({ slowestMs: z.number() })
/** Null without a browser. */
const listsSchema = z.object({ slowestP95Ms: z.number(), firstViewMs: z.number().nullable() })
const commandsSchema = z.array(
  z.object({
    backend: z.string(),
    ratio: z.number(),
    toOurs: z.number(),
    toPlain: z.number(),
    plainRatio: z.number(),
    ownMs: z.number(),
    postgresMs: z.number(),
  }),
)
const budgetSchema = z.object({
  reportedUsed: z.number(),
  reportedRefused: z.number(),
  blindUsed: z.number(),
  blindRefused: z.number(),
  halvedUsed: z.number(),
  halvedRefused: z.number(),
})
const neighboursSchema = z.object({ p99Ratio: z.number(), steadyFairness: z.number() })
const fairnessSchema = z.object({ fairMs: z.number(), eventsMs: z.number(), toOldest: z.number() })
const idleSchema = z.object({
  transactionsEach: z.number(),
  walBytesEach: z.number(),
  requestsEach: z.number(),
  longestSeconds: z.number(),
  daemonCores: z.number(),
  postgresCores: z.number(),
  memoryMb: z.number(),
})
const eventsSchema = z.array(
  z.object({
    backend: z.string(),
    batchedPerSecond: z.number(),
    batchedToBare: z.number(),
    singlePerSecond: z.number(),
    singleToBare: z.number(),
    p50Ms: z.number(),
    p99Ms: z.number(),
  }),
)

const store = buildRow((await run('store.ts', ['5000', '1'])).printed, "Tallyman's store path, 2 connections")
const backfill = backfillSchema.parse((await run('backfill.ts', ['--orders', '10000'])).reported)
const inventoryLog = inventoryLogSchema.parse((await run('inventory-log.ts', ['--skus', '1000'])).reported)
const report = reportSchema.parse((await run('report.ts', ['50000'])).reported)
const mixedLoad = mixedLoadSchema.parse((await run('mixed-load.ts', ['--rows', '50000'])).reported)
const claims = claimsSchema.parse((await run('claims.ts', ['30000'])).reported)
const lists = listsSchema.parse((await run('lists.ts', ['--orders', '200000', '--commands', '20000', '--rounds', '20'])).reported)
const commands = commandsSchema.parse((await run('commands.ts', ['--commands', '3000', '--rounds', '1'])).reported)
const events = eventsSchema.parse((await run('events.ts', ['--events', '2000', '--posts', '200'])).reported)

const fairness = fairnessSchema.parse((await run('fairness.ts', ['20000', '200'])).reported)
const neighbours = neighboursSchema.parse(
  (await run('neighbours.ts', ['--sellers', '300', '--backlog', '5000', '--seconds', '15', '--rounds', '1'])).reported,
)
const budget = budgetSchema.parse((await run('budget.ts', [])).reported)
const idle = idleSchema.parse((await run('idle-sellers.ts', ['--sellers', '1000', '--minutes', '1', '--settle', '60'])).reported)

const [firstToPlain] = three(store.get('to plain (first/unch./5 %)'))
const [firstToUsual, unchangedToUsual, changedToUsual] = three(store.get('to usual (first/unch./5 %)'))
const atLeast = (what: string, measured: number, goal: number, digits = 2) => ({
  what,
  measured: measured.toFixed(digits),
  goal: `at least ${goal}`,
  reached: measured >= goal ? 'yes' : 'no',
})
const atMost = (what: string, measured: number, goal: number, digits = 0) => ({
  what,
  measured: measured.toFixed(digits),
  goal: `at most ${goal}`,
  reached: measured <= goal ? 'yes' : 'no',
})

/** Without a goal of its own. */
const reported = (what: string, measured: number, digits = 2) => ({
  what,
  measured: measured.toFixed(digits),
  goal: '',
  reached: '',
})

console.log('\n── compared with the goals (docs/performance.md)')
console.table([
  atLeast('store path to plain SQL, first load', firstToPlain, 0.8),
  atLeast('store path to the usual loop, first load', firstToUsual, 15, 0),
  atLeast('store path to the usual loop, nothing changed', unchangedToUsual, 100, 0),
  atLeast('store path to the usual loop, 5 % changed', changedToUsual, 50, 0),
  atLeast('whole path to store path alone, first load', backfill.firstToStorePath, 0.5),
  atMost('memory above idle during a backfill, MB', backfill.aboveIdleMb, 150),
  atMost('WAL of an unchanged backfill above idle, kB', backfill.walUnchangedBytes / 1e3, 100),
  atLeast('inventory log, calls a second, against the 500 a minute that are allowed', inventoryLog.callsPerSecond, 500 / 60, 0),
  atMost('memory above idle while the inventory log is read, MB', inventoryLog.aboveIdleMb, 150),
  atMost('memory above idle while a report is imported, MB', report.first.aboveIdleMb, 150),
  reported(
    'rows of a report a second, while orders are polled every 2 s and the inventory log is read',
    mixedLoad.rowsPerSecond,
    0,
  ),
  atMost('longest gap between polls then, s', mixedLoad.longestGapSeconds, 4, 1),
  atMost('p99 of the API then, ms', mixedLoad.apiP99Ms, 500),
  atMost('slowest answer with claims then, ms', mixedLoad.slowestClaimsMs, 300),
  atMost('slowest answer with claims or differences, ms', claims.slowestMs, 300),
  atMost('slowest p95 of what the console asks, 200,000 orders, ms', lists.slowestP95Ms, 200),
  ...(lists.firstViewMs === null
    ? []
    : [atMost('first view of the console in a browser, 200,000 orders, ms', lists.firstViewMs, 1_000)]),
  ...commands.flatMap(({ backend, ratio, toOurs, toPlain, plainRatio, ...costs }) => [
    atLeast(`commands from the queue to a bare worker by got, queues in ${backend}`, ratio, backend === 'Postgres' ? 0.5 : 0.25),
    reported(`the same to a bare worker over our transport, queues in ${backend}`, toOurs),
    reported(`the same to two plain statements a batch`, toPlain),
    reported(`two plain statements a batch to a bare worker by got, queues in ${backend}`, plainRatio),
    atMost(`a command from the queue in Node, queues in ${backend}, ms`, costs.ownMs, 3, 1),
    atMost(`a command from the queue in Postgres, queues in ${backend}, ms`, costs.postgresMs, 2, 1),
  ]),
  ...events.flatMap(({ backend, batchedPerSecond, batchedToBare, singlePerSecond, singleToBare, p50Ms, p99Ms }) => [
    atLeast(`events a second, in batches of 100, queues in ${backend}`, batchedPerSecond, 1_000, 0),
    reported(`the same to a bare intake by BullMQ, queues in ${backend}`, batchedToBare),
    reported(`events a second, one by one, queues in ${backend}`, singlePerSecond, 0),
    reported(`the same to a bare intake by BullMQ, queues in ${backend}`, singleToBare),
    atMost(`event to its request at the marketplace, median, queues in ${backend}, ms`, p50Ms, 50),
    atMost(`event to its request at the marketplace, p99, queues in ${backend}, ms`, p99Ms, 150),
  ]),
  atLeast('calls used of those allowed, reported in each answer, least of 1, 2 and 4 processes', budget.reportedUsed, 0.95, 3),
  atMost('refusals then', budget.reportedRefused, 0.01, 3),
  atLeast('calls used of those allowed, blind, least of 1, 2 and 4 processes', budget.blindUsed, 0.85, 3),
  atMost('refusals then', budget.blindRefused, 0.02, 3),
  atLeast('calls used from a minute after the limit was halved on', budget.halvedUsed, 0.9, 3),
  atMost('refusals then', budget.halvedRefused, 0.02, 3),
  atLeast('Jain of what healthy sellers got, beside four bad neighbours', neighbours.steadyFairness, 0.99, 3),
  atMost('p99 of their commands, to the same without bad neighbours', neighbours.p99Ratio, 2, 2),
  atMost('due commands of 200 sellers, one of whom has 20,000, ms', fairness.fairMs, 100),
  atMost('waiting events of 200 sellers, one of whom has 20,000, ms', fairness.eventsMs, 60),
  atMost('due commands in rounds to the oldest of all', fairness.toOldest, 50),
  atMost('longest time between two polls of 1,000 sellers, s', idle.longestSeconds, 75),
  atMost('transactions of Postgres for an idle seller and minute', idle.transactionsEach, 40, 1),
  atMost('WAL for an idle seller and minute, kB', idle.walBytesEach / 1e3, 20, 1),
  atMost('cores for 1,000 idle sellers, daemon and Postgres', idle.daemonCores + idle.postgresCores, 0.5, 2),
  atMost('memory of a daemon with 1,000 idle sellers, MB', idle.memoryMb, 450),
])
