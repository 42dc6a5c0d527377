import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { BucketMemory } from '../clients/bucket.ts'
import type { Operation } from '../clients/operation.ts'
import {
  type Forecast,
  type ForecastBackfill,
  type ForecastCommand,
  type ForecastOperation,
  type PagesLeft,
  pagesLeft,
} from '../domain/forecast.ts'
import { countSlices } from '../domain/windows.ts'
import { createInTurn } from '../in-turn.ts'
import { callsOfCommand } from '../jobs/commands/calls.ts'
import { askingOf } from '../jobs/sync/syncs.ts'
import type { Database } from '../store/database.ts'
import { deadlineRulesOf } from '../store/deadlines.ts'
import {
  type OpenBackfill,
  type OpenCommand,
  readOpenBackfills,
  readOpenCommands,
  readOrdersWithoutCommand,
  readPagesPerRun,
} from '../store/forecast.ts'
import { sellersAtRest } from '../store/sellers.ts'
import type { SyncWindow } from '../store/sync-states.ts'
import { nameOfStream } from './agenda.ts'
import { laneOfJob } from './lanes.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'
import { allowedCalls, createRecord } from './simulation/record.ts'
import { createSimulation } from './simulation/simulation.ts'
import type { SimulatedBackfill, SimulatedCommand, SimulatedStream } from './simulation/world.ts'

const hourMs = 3_600_000
/** Others run after the simulation has had so long, in milliseconds. */
const turnMs = 20
/** So much virtual time is gone through before the clock is looked at. */
const strideMs = 10_000
/** An answer is taken to last so long where the marketplace has not been asked yet. */
const unknownAnswerMs = 500
/** Open commands that are carried through, and commands and orders that are named. */
const mostCommands = 50_000
const mostNamed = 200

/** What a forecast reads with. */
type Sources = readonly [
  Database,
  Pick<MarketplacePart, 'sellers' | 'budget' | 'limitOf' | 'answerTimes' | 'profileOf'>,
  Pick<QueuesPart, 'schedule'>,
]

const windowsIn = (window: SyncWindow): number => (window.sliceMs === undefined ? 1 : countSlices(window, window.sliceMs))

/** What is left of a backfill, in pages. */
const leftOf = ({ windows, ...progress }: OpenBackfill, pageSize: number): PagesLeft & { readonly windowsLeft: number } => {
  const windowsLeft = windows.reduce((sum, window) => sum + windowsIn(window), 0)
  return { ...pagesLeft({ ...progress, windowsLeft, pageSize }), windowsLeft }
}

const hoursOf = (hours: number): string => (hours === 1 ? 'hour' : `${hours} hours`)

/** Every sentence is about what the figures cannot say themselves. */
const assumptionsOf = ({
  hours,
  resting,
  left,
  behindHeld,
  unserved,
}: {
  readonly hours: number
  readonly resting: readonly string[]
  readonly left: number
  readonly behindHeld: number
  readonly unserved: readonly string[]
}): readonly string[] => [
  `What is known now is carried out within the next ${hoursOf(hours)} by one process; no event, order or command is added.`,
  'The marketplace accepts everything within the limits, and answers as fast as lately.',
  'Of each budget as much is left as this process knows; one that it has not used lately counts as full.',
  'A page is one call; streams that ask for records one by one take more.',
  'Other sellers of this daemon take nothing from those that are shown: each has its share of the slots.',
  ...(resting.length === 0 ? [] : [`Nothing is done for sellers that are stopped or paused: ${resting.join(', ')}.`]),
  ...(unserved.length === 0
    ? []
    : [`This process does not serve ${unserved.join(', ')}: their limits and polls are not known here.`]),
  ...(behindHeld === 0
    ? []
    : [`Nothing is sent for commands that wait behind held ones until a person has decided those: ${behindHeld}.`]),
  ...(left === 0 ? [] : [`${left} further open commands are not carried through: those that are wanted earliest are.`]),
]

/** The command as the simulation takes it; null: nothing is sent for it. `aheadMs`: the marketplace's clock is ahead of ours by so much. */
const simulated = (
  command: OpenCommand,
  client: Parameters<typeof callsOfCommand>[0],
  aheadMs: number,
): SimulatedCommand | null => {
  const { id, sellerId, subject, kind, state, attempts, actBy, nextActionAt, createdAt } = command
  const calls = callsOfCommand(client, kind)
  if (calls === null) return null
  const isSent = state !== 'pending'
  return {
    ...{ id, sellerId, subject, kind },
    operation: isSent ? null : calls.write,
    reads: isSent || calls.readsFirst || attempts > 0 ? calls.read : null,
    actByMs: actBy === null ? null : actBy.getTime() - aheadMs,
    comesAtMs: createdAt.getTime(),
    dueAtMs: nextActionAt.getTime(),
  }
}

/** Says what comes next for sellers within so many hours. One at a time, and never for long at a stretch: others have their turn in between. */
export const createForecaster = (
  ...sources: Sources
): ((sellerIds: readonly string[], hours: number, signal: AbortSignal) => Promise<Forecast>) => {
  const inTurn = createInTurn()
  return (sellerIds, hours, signal) => inTurn(() => forecast(sources, sellerIds, hours, signal))
}

const forecast = async (
  [database, marketplace, queues]: Sources,
  sellerIds: readonly string[],
  hours: number,
  signal: AbortSignal,
): Promise<Forecast> => {
  signal.throwIfAborted()
  const { sellers, limitOf, answerTimes } = marketplace
  const atRest = await sellersAtRest(database)
  const resting = sellerIds.filter((sellerId) => atRest.has(sellerId))

  const { commands, count } = await readOpenCommands(database, sellerIds, mostCommands)
  const backfills = await readOpenBackfills(database, sellerIds)
  const pagesPerRun = new Map((await readPagesPerRun(database, sellerIds)).map((run) => [nameOfStream(run), run.pages]))
  const nowOf = (sellerId: string): Date | null => (sellers.has(sellerId) ? sellers.client(sellerId).clock().now() : null)
  const waiting = await readOrdersWithoutCommand(database, deadlineRulesOf(database, sellerIds, nowOf), hours, mostNamed)

  // Of all that has been read: a reload may have taken sellers out meanwhile, and may do so while the simulation lets others run.
  const clients = new Map(
    sellerIds.flatMap((sellerId) => (sellers.has(sellerId) ? [[sellerId, sellers.client(sellerId)] as const] : [])),
  )
  const unserved = sellerIds.filter((sellerId) => !clients.has(sellerId))
  const working = new Set(sellerIds.filter((sellerId) => clients.has(sellerId) && !atRest.has(sellerId)))
  const startMs = Date.now()
  const forMs = hours * hourMs
  const aheadMsOf = (sellerId: string): number => (clients.get(sellerId)?.clock().now().getTime() ?? startMs) - startMs
  const isWorking = ({ sellerId }: { readonly sellerId: string }): boolean => working.has(sellerId)

  const streams = queues
    .schedule()
    .filter(isWorking)
    .flatMap((scheduled): SimulatedStream[] => {
      const { sellerId, resource, stream } = scheduled
      const asking = askingOf(resource, stream)
      if (asking === null) return []
      const calls = Math.max(1, Math.round(pagesPerRun.get(nameOfStream(scheduled)) ?? 1))
      const lane = laneOfJob({ name: 'sync.run', data: { sellerId, resource, stream } })
      return [{ ...scheduled, operation: asking.operation, calls, lane }]
    })
  const read = backfills.flatMap((backfill) => {
    const { sellerId, resource, stream } = backfill
    const asking = askingOf(resource, stream)
    if (asking === null) return []
    const most = marketplace.profileOf(sellerId)?.maxPageSize ?? Number.POSITIVE_INFINITY
    const left = leftOf(
      backfill,
      asking.pageSize === Number.POSITIVE_INFINITY ? asking.pageSize : Math.min(asking.pageSize, most),
    )
    const lane = laneOfJob({ name: 'sync.run', data: { sellerId, resource, stream } })
    const simulatedBackfill: SimulatedBackfill = {
      ...{ sellerId, resource, stream, lane },
      ...{ operation: asking.operation, calls: left.pages },
    }
    return [{ left, simulatedBackfill }]
  })
  const byId = new Map(commands.map((command) => [command.id, command]))
  const carried = commands
    .filter((command) => isWorking(command) && !command.isBehindHeld)
    .flatMap((command) => {
      const client = clients.get(command.sellerId)
      return client === undefined ? [] : (simulated(command, client, aheadMsOf(command.sellerId)) ?? [])
    })

  const memories = new Map(
    marketplace.budget
      .snapshot()
      .map(({ sellerId, operation, scope, memory }) => [JSON.stringify([sellerId, operation, scope]), memory]),
  )
  const memoryOf = (sellerId: string, { name }: Operation): BucketMemory | null =>
    memories.get(JSON.stringify([sellerId, name, null])) ?? null
  const sentAt = new Map<string, number>()
  const record = createRecord(({ id }, atMs) => void sentAt.set(id, atMs))
  const simulation = createSimulation(
    {
      ...{ startMs, seed: 1, processes: 1, limitOf, streams, commands: carried },
      backfills: read.map(({ simulatedBackfill }) => simulatedBackfill).filter(isWorking),
      memoryOf,
      answerMs: (sellerId, { name }) => Math.round(answerTimes.of(sellerId, name) ?? unknownAnswerMs),
    },
    record,
  )
  for (let turnEndsMs = performance.now() + turnMs; simulation.nowMs() < startMs + forMs; ) {
    simulation.advance(Math.min(simulation.nowMs() + strideMs, startMs + forMs))
    if (performance.now() < turnEndsMs) continue
    await letOthersRun()
    signal.throwIfAborted()
    turnEndsMs = performance.now() + turnMs
  }

  const endOf = (simulatedBackfill: SimulatedBackfill): Date | null => {
    const endMs = record.ends.get(simulatedBackfill)
    return endMs === undefined ? null : new Date(endMs)
  }
  const late = lateOnes([...byId.values()], { sentAt, aheadMsOf, untilMs: startMs + forMs })
  const polls = record.lateness.get(0)
  const unsent = commands.filter(({ id, state }) => state === 'pending' && !sentAt.has(id)).length + (count - commands.length)
  return {
    from: new Date(startMs),
    until: new Date(startMs + forMs),
    sellerIds,
    assumptions: assumptionsOf({
      ...{ hours, resting, unserved },
      left: count - commands.length,
      behindHeld: commands.filter(({ isBehindHeld }) => isBehindHeld).length,
    }),
    backfills: read.map(
      ({ left, simulatedBackfill }): ForecastBackfill => ({
        ...left,
        sellerId: simulatedBackfill.sellerId,
        resource: simulatedBackfill.resource,
        stream: simulatedBackfill.stream,
        operation: simulatedBackfill.operation.name,
        endsAt: endOf(simulatedBackfill),
      }),
    ),
    operations: simulation
      .used()
      .map(({ sellerId, operation, calls, waits }): ForecastOperation => {
        const { tokens, perMs } = limitOf(sellerId, operation)
        const allowed = allowedCalls(limitOf, sellerId, operation, forMs, memoryOf(sellerId, operation)?.counted)
        return { sellerId, operation: operation.name, tokens, perMs, calls, allowed, share: calls / allowed, waits }
      })
      .sort(byUse),
    commands: { open: count, sent: sentAt.size, late: late.length, unsent, lateOnes: late.slice(0, mostNamed) },
    shipBy: {
      atRisk: late.filter(({ kind }) => kind === 'ship').slice(0, mostNamed),
      waitingForErp: waiting.orders,
      waitingForErpCount: waiting.count,
    },
    polls: { runs: polls?.count ?? 0, lateP99Ms: polls?.quantile(0.99) ?? 0, lateMostMs: polls?.most ?? 0 },
  }
}

const byUse = (a: ForecastOperation, b: ForecastOperation): number =>
  b.share - a.share || (a.operation < b.operation ? -1 : 1) || (a.sellerId < b.sellerId ? -1 : 1)

/** Commands that leave after the marketplace wants them, or that have not left until it does, the earliest first. */
const lateOnes = (
  commands: readonly OpenCommand[],
  {
    sentAt,
    aheadMsOf,
    untilMs,
  }: {
    readonly sentAt: ReadonlyMap<string, number>
    readonly aheadMsOf: (sellerId: string) => number
    readonly untilMs: number
  },
): readonly ForecastCommand[] =>
  commands
    .flatMap(({ id, sellerId, purchaseOrderId, kind, state, lines, actBy }): ForecastCommand[] => {
      if (state !== 'pending' || actBy === null) return []
      const sentAtMs = sentAt.get(id)
      const isLate = (sentAtMs ?? untilMs) > actBy.getTime() - aheadMsOf(sellerId)
      const expectedAt = sentAtMs === undefined ? null : new Date(sentAtMs)
      return isLate ? [{ commandId: id, sellerId, purchaseOrderId, kind, lines, actBy, expectedAt }] : []
    })
    .sort((a, b) => a.actBy.getTime() - b.actBy.getTime())
