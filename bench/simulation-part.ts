/**
 * One part of the fleet of `simulation.ts`: a share of its sellers, with a share of its processes. What is a seller's own, its budgets above all, is
 * whole in its part. Started by `simulation.ts` with the world as its only argument; tells what came of it.
 */
import { ordersEndpoint } from '../src/clients/marketplace/orders.ts'
import { returnsEndpoint } from '../src/clients/marketplace/returns.ts'
import type { Operation } from '../src/clients/operation.ts'
import { createRandom } from '../src/daemon/simulation/random.ts'
import { allowedCalls, createRecord } from '../src/daemon/simulation/record.ts'
import { createSimulation } from '../src/daemon/simulation/simulation.ts'
import type { SimulatedBackfill, SimulatedCommand, SimulatedStream } from '../src/daemon/simulation/world.ts'
import { processorMs, residentMb } from './measure.ts'
import { type PartOutcome, readPart } from './simulation-messages.ts'

const { part, parts, sellers, hours, commandsEach, pollSeconds } = readPart(process.argv[2] ?? '')
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
const own = Array.from({ length: sellers }, (_, seller) => seller).filter(
  (seller) => Math.floor((seller * parts) / sellers) === part,
)
const isGreedy = (seller: number): boolean => seller === 0
const modest = own.filter((seller) => !isGreedy(seller))
const streams = own.flatMap((seller) => [
  ...['a', 'b', 'c'].map((node) => stream(seller, 'orders', `changed:${node}`, list, pollSeconds * 1_000, 1)),
  stream(seller, 'orders', 'released', released, pollSeconds * 1_000, 2),
  stream(seller, 'returns', 'changed', returnsEndpoint.operations.list, 15 * minuteMs, 1),
  stream(seller, 'orders', 'reread', list, 24 * hourMs, 15, 1),
])
const backfills = own
  .filter((seller) => seller % 100 === 1)
  .map(
    (seller): SimulatedBackfill => ({
      ...{ sellerId: idOf(seller), resource: 'returns', stream: 'backfill:past' },
      ...{ operation: returnsEndpoint.operations.list, calls: 5_000, lane: 1 },
    }),
  )

const wantedBy = (seller: number): number => Math.round((commandsEach * hours) / 24) * (isGreedy(seller) ? greedyTimes : 1)
const wanted = new Map<string, number>()
/** Half of the commands acknowledge within four hours, half ship within the day; spread over the time. */
const commands = function* (): Generator<SimulatedCommand, void, undefined> {
  const random = createRandom(7 + part)
  const total = own.reduce((sum, seller) => sum + wantedBy(seller), 0)
  const ofGreedy = own.filter(isGreedy).reduce((sum, seller) => sum + wantedBy(seller), 0)
  for (let number = 0; number < total; number += 1) {
    const seller = random() < ofGreedy / total ? 0 : modest[Math.floor(random() * modest.length)]
    if (seller === undefined) continue
    const sellerId = idOf(seller)
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
const processorBefore = await processorMs(process.pid)
const simulation = createSimulation(
  {
    ...{ startMs, seed: 1 + part, processes: 1, limitOf, streams, backfills, commands: commands() },
    memoryOf: () => null,
    answerMs: () => answerMs,
  },
  record,
)
simulation.advance(startMs + hours * hourMs)
const processorSeconds = ((await processorMs(process.pid)) - processorBefore) / 1_000
const { peak } = await residentMb(process.pid)

const forMs = hours * hourMs
const allowed = (sellerId: string, operation: Operation): number => allowedCalls(limitOf, sellerId, operation, forMs)
const polls = record.lateness.get(0)
const outcome: PartOutcome = {
  processorSeconds,
  memoryMb: peak - before,
  used: simulation.used().map(({ sellerId, operation, calls, waits }) => ({
    ...{ operation: operation.name, calls, waits },
    allowed: allowed(sellerId, operation),
  })),
  pollLateP50Ms: polls?.quantile(0.5) ?? 0,
  pollLateP99Ms: polls?.quantile(0.99) ?? 0,
  pollLateMostMs: polls?.most ?? 0,
  backfillHours: [...record.ends.values()].map((endMs) => (endMs - startMs) / hourMs),
  commandsSent: record.commands.sent,
  commandsLate: record.commands.late,
  commandWaitP99Ms: record.waits.quantile(0.99),
  served: own.map((seller) => ({
    got: got.get(idOf(seller)) ?? 0,
    wanted: wanted.get(idOf(seller)) ?? 0,
    allowed: allowed(idOf(seller), acknowledge) + allowed(idOf(seller), ship),
  })),
}
process.send?.(outcome, () => process.disconnect())
