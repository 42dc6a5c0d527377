/**
 * The simulation of a fleet in virtual time: how long a day takes it, and what that day looks like. Every seller polls its orders at the ordinary
 * interval, carries out commands, and one in a hundred reads its past; one wants 100 times as much as the others. Each process of the fleet has its part of
 * the sellers; as many parts are simulated at once as there are cores, since what is a seller's own fits into the cache of a core then.
 * `node bench/simulation.ts [--sellers 10000] [--hours 24] [--processes 8] [--commands 50] [--poll 60]`
 */
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { benchOptions, daemonFlags } from './measure.ts'
import { fairnessAmong, operationUses } from './simulation-figures.ts'
import { type PartOfFleet, type PartOutcome, partOutcomeSchema } from './simulation-messages.ts'

/** Commands of a seller a day; seconds between two polls of a stream of orders. */
const {
  sellers,
  hours,
  processes,
  commands: commandsEach,
  poll: pollSeconds,
} = benchOptions({ sellers: 10_000, hours: 24, processes: 8, commands: 50, poll: 60 }).numbers

const simulatePart = (part: PartOfFleet): Promise<PartOutcome> => {
  const { promise, resolve, reject } = Promise.withResolvers<PartOutcome>()
  const child = fork(path.join(import.meta.dirname, 'simulation-part.ts'), [JSON.stringify(part)], { execArgv: [...daemonFlags] })
  child.once('message', (message) => resolve(partOutcomeSchema.parse(message)))
  child.once('exit', (code) => reject(new Error(`part ${part.part} of the fleet has ended with ${code}`)))
  return promise
}

const started = performance.now()
const outcomes: PartOutcome[] = []
const left = Array.from(
  { length: processes },
  (_, part): PartOfFleet => ({ part, parts: processes, sellers, hours, commandsEach, pollSeconds }),
)
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let part = left.shift(); part !== undefined; part = left.shift()) outcomes.push(await simulatePart(part))
  }),
)
const seconds = (performance.now() - started) / 1_000

const sum = (of: (outcome: PartOutcome) => number): number => outcomes.reduce((total, outcome) => total + of(outcome), 0)
const most = (of: (outcome: PartOutcome) => number): number => Math.max(...outcomes.map(of))
const uses = outcomes.flatMap(({ used }) => used)
console.table(
  Object.fromEntries(
    operationUses(uses).map(({ operation, ...use }) => [
      operation,
      { ...use, share: Number(use.share.toFixed(4)), highestShare: Number(use.highestShare.toFixed(3)) },
    ]),
  ),
)
const calls = uses.reduce((total, use) => total + use.calls, 0)
const processorSeconds = sum((outcome) => outcome.processorSeconds)
const ends = outcomes.flatMap(({ backfillHours }) => backfillHours)
const measured = {
  sellers,
  hours,
  processes,
  calls,
  seconds,
  processorSeconds,
  callsPerProcessorSecond: calls / processorSeconds,
  // Of one part; so many are in memory at once as there are cores.
  memoryMb: most(({ memoryMb }) => memoryMb),
  pollLateP50Ms: most(({ pollLateP50Ms }) => pollLateP50Ms),
  pollLateP99Ms: most(({ pollLateP99Ms }) => pollLateP99Ms),
  pollLateMostMs: most(({ pollLateMostMs }) => pollLateMostMs),
  backfillsEnded: ends.length,
  lastBackfillHours: Math.max(0, ...ends),
  commandsSent: sum(({ commandsSent }) => commandsSent),
  commandsLate: sum(({ commandsLate }) => commandsLate),
  commandWaitP99Ms: most(({ commandWaitP99Ms }) => commandWaitP99Ms),
  fairness: fairnessAmong(outcomes.flatMap(({ served }) => served)),
}
console.table(Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, Number(value.toFixed(3))])))
process.send?.(measured)
