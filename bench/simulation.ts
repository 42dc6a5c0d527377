/**
 * The simulation of a fleet in virtual time: how long a day takes it, and what that day looks like. Every seller polls its orders at the ordinary
 * interval, carries out commands, and one in a hundred reads its past; one wants 100 times as much as the others.
 * `node bench/simulation.ts [--sellers 10000] [--hours 24] [--processes 8] [--commands 50] [--poll 60]`
 */
import { ordersEndpoint } from '../src/clients/marketplace/orders.ts'
import { returnsEndpoint } from '../src/clients/marketplace/returns.ts'
import type { Operation } from '../src/clients/operation.ts'
import { createRandom } from '../src/daemon/simulation/random.ts'
import { allowedCalls, createRecord } from '../src/daemon/simulation/record.ts'
import { createSimulation } from '../src/daemon/simulation/simulation.ts'
import type { SimulatedBackfill, SimulatedCommand, SimulatedStream } from '../src/daemon/simulation/world.ts'
import { numberOption, processorMs, residentMb } from './measure.ts'
import { fairnessAmong, operationUses } from './simulation-figures.ts'

const sellers = numberOption('sellers', 10_000)
const hours = numberOption('hours', 24)
const processes = numberOption('processes', 8)
/** Commands of a seller a day. */
const perSeller = numberOption('commands', 50)
/** Seconds between two polls of a stream of orders. */
const pollSeconds = numberOption('poll', 60)
const greedyTimes = 100
const answerMs = 200
const startMs = Date.UTC(2026, 10, 23)
const hourMs = 3_600_000
const minuteMs = 60_000
const { list, released, acknowledge, ship } = ordersEndpoint.operations

const idOf = (seller: number): string => `seller-${seller}`
const stream = (
  seller: number,
  resource: string,
  name: string,
  operation: Operation,
  everyMs: number,
  calls: number,
  lane = 0,
): SimulatedStream => ({
  ...{ sellerId: idOf(seller), resource, stream: name, everyMs, operation, calls, lane },
  restsAfterRestart: false,
})
const all = Array.from({ length: sellers }, (_, seller) => seller)
const streams = all.flatMap((seller) => [
  ...['a', 'b', 'c'].map((node) => stream(seller, 'orders', `changed:${node}`, list, pollSeconds * 1_000, 1)),
  stream(seller, 'orders', 'released', released, pollSeconds * 1_000, 2),
  stream(seller, 'returns', 'changed', returnsEndpoint.operations.list, 15 * minuteMs, 1),
  stream(seller, 'orders', 'reread', list, 24 * hourMs, 15, 1),
])
const backfills = all
  .filter((seller) => seller % 100 === 1)
  .map(
    (seller): SimulatedBackfill => ({
      ...{ sellerId: idOf(seller), resource: 'returns', stream: 'backfill:past' },
      ...{ operation: returnsEndpoint.operations.list, calls: 5_000, lane: 1 },
    }),
  )

const wantedBy = (seller: number): number => Math.round((perSeller * hours) / 24) * (seller === 0 ? greedyTimes : 1)
const wanted = new Map<string, number>()
/** Half of the commands acknowledge within four hours, half ship within the day; spread over the time. */
const commands = function* (): Generator<SimulatedCommand, void, undefined> {
  const random = createRandom(7)
  const total = all.reduce((sum, seller) => sum + wantedBy(seller), 0)
  for (let number = 0; number < total; number += 1) {
    const isGreedy = random() < wantedBy(0) / total
    const sellerId = idOf(isGreedy ? 0 : 1 + Math.floor(random() * (sellers - 1)))
    const comesAtMs = startMs + (number / total) * hours * hourMs
    const kind = random() < 0.5 ? 'acknowledge' : 'ship'
    wanted.set(sellerId, (wanted.get(sellerId) ?? 0) + 1)
    yield {
      ...{ id: String(number), sellerId, subject: String(number), kind, comesAtMs, dueAtMs: comesAtMs, reads: null },
      operation: kind === 'ship' ? ship : acknowledge,
      actByMs: comesAtMs + (kind === 'ship' ? 24 : 4) * hourMs,
    }
  }
}

const got = new Map<string, number>()
const record = createRecord(({ sellerId }) => void got.set(sellerId, (got.get(sellerId) ?? 0) + 1))
const limitOf = (_sellerId: string, operation: Operation) => operation.limit
const { now: before } = await residentMb(process.pid)
const started = performance.now()
const processorBefore = await processorMs(process.pid)
const simulation = createSimulation(
  {
    ...{ startMs, seed: 1, processes, limitOf, streams, backfills, commands: commands() },
    memoryOf: () => null,
    answerMs: () => answerMs,
  },
  record,
)
simulation.advance(startMs + hours * hourMs)
const seconds = (performance.now() - started) / 1_000
const processorSeconds = ((await processorMs(process.pid)) - processorBefore) / 1_000
const { peak } = await residentMb(process.pid)

const used = simulation.used()
const calls = used.reduce((sum, use) => sum + use.calls, 0)
const forMs = hours * hourMs
console.table(
  Object.fromEntries(
    operationUses(used, limitOf, forMs).map(({ operation, ...use }) => [
      operation,
      { ...use, share: Number(use.share.toFixed(4)), highestShare: Number(use.highestShare.toFixed(3)) },
    ]),
  ),
)
const polls = record.lateness.get(0)
const ends = [...record.ends.values()].map((endMs) => (endMs - startMs) / hourMs)
const served = all.map((seller) => {
  const writes = [acknowledge, ship].reduce((sum, write) => sum + allowedCalls(limitOf, idOf(seller), write, forMs), 0)
  return { got: got.get(idOf(seller)) ?? 0, wanted: wanted.get(idOf(seller)) ?? 0, allowed: writes }
})
const measured = {
  sellers,
  hours,
  processes,
  calls,
  seconds,
  processorSeconds,
  callsPerProcessorSecond: calls / processorSeconds,
  memoryMb: peak - before,
  pollLateP50Ms: polls?.quantile(0.5) ?? 0,
  pollLateP99Ms: polls?.quantile(0.99) ?? 0,
  pollLateMostMs: polls?.most ?? 0,
  backfillsEnded: ends.length,
  lastBackfillHours: Math.max(0, ...ends),
  commandsSent: record.commands.sent,
  commandsLate: record.commands.late,
  commandWaitP99Ms: record.waits.quantile(0.99),
  fairness: fairnessAmong(served),
}
console.table(Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, Number(value.toFixed(3))])))
process.send?.(measured)
