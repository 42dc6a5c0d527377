import type { RateLimitSnapshot } from '../values/rate-limit-snapshot.ts'
import type { CommandKind, CommandState } from './command.ts'
import type { Forecast } from './forecast-answer.ts'

const minuteMs = 60_000
/** Minimum time of a page of a backfill: pages are requested one after another. */
const pageMs = 500
/** Requests of a limit of several that are reserved for commands; polls and backfills do not use them. */
const reserved = 1
/** Late commands that are named. */
const maxNamed = 200

/** The state of a rate budget, and its limit of `tokens` requests in `perMs` milliseconds. */
type CallBudget = Pick<RateLimitSnapshot, 'available' | 'perMinute' | 'blockedUntil'> & Record<'tokens' | 'perMs', number>

/**
 * When the request at a place of the queue is sent, from 1 on, in epoch ms; infinity: never. Available requests are sent at once, each further one an
 * interval after the one before. A blocked budget has its first request when the block ends.
 */
export const sentAtMs = (budget: CallBudget, place: number, nowMs: number): number => {
  const startMs = Math.max(nowMs, budget.blockedUntil?.getTime() ?? 0)
  const waiting = place - (startMs > nowMs ? Math.max(1, budget.available) : budget.available)
  if (waiting <= 0) return startMs
  return budget.perMinute > 0 ? startMs + (waiting * minuteMs) / budget.perMinute : Number.POSITIVE_INFINITY
}

/**
 * An open command. `previousId`: the open one before it of its subject. `isBehindHeld`: a held one of its subject comes before it, and a person has to
 * decide that one first.
 */
export interface OpenCommand {
  readonly id: string
  readonly sequence: number
  readonly sellerId: string
  readonly purchaseOrderId: string | null
  readonly previousId: string | null
  readonly kind: CommandKind
  readonly state: CommandState
  readonly attempts: number
  readonly actBy: Date | null
  readonly nextActionAt: Date
  readonly lines: readonly string[]
  readonly isBehindHeld: boolean
}

/** Open work and its budgets. */
export interface OpenWork<Call> {
  readonly fromMs: number
  readonly untilMs: number
  /** In the order in which the marketplace wants them; of `count` that are open. */
  readonly commands: readonly OpenCommand[]
  readonly count: number
  /** The command that is asked for. */
  readonly commandId: string | undefined
  readonly polls: readonly { readonly sellerId: string; readonly call: Call; readonly perMinute: number }[]
  readonly backfills: readonly (Omit<Forecast['backfills'][number], 'operation' | 'endsAt'> & { readonly call: Call })[]
  /** Nothing is done for other sellers. */
  readonly isWorking: (sellerId: string) => boolean
  /** What a command asks, its own request last; none: nothing is sent for it. */
  readonly listCalls: (command: OpenCommand) => readonly Call[]
  readonly findBudget: (sellerId: string, call: Call) => CallBudget
  /** How far the marketplace's clock is ahead of ours. */
  readonly aheadMs: (sellerId: string) => number
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
/** The latest time that a date can be. */
const latestMs = 8.64e15
const dateBy = (untilMs: number, ms = Number.POSITIVE_INFINITY): Date | null => (ms <= untilMs ? new Date(ms) : null)

/** The open calls of one operation of a seller, and when the last of them is sent. */
const emptyQueue = (sellerId: string, operation: string, budget: CallBudget) => ({
  ...{ sellerId, operation, budget, ofCommands: 0, ofBackfills: [] as number[], pollsPerMinute: 0, lastMs: 0 },
})

/** When open work is done: commands first, then polls, then backfills. Each operation of a seller has a queue of its own. */
export const forecastWork = <Call extends { readonly name: string }>(work: OpenWork<Call>) => {
  const { fromMs, untilMs, commands } = work
  const queues = new Map<string, ReturnType<typeof emptyQueue>>()
  const findQueue = (sellerId: string, call: Call) => {
    const key = `${call.name} ${sellerId}`
    const queue = queues.get(key) ?? emptyQueue(sellerId, call.name, work.findBudget(sellerId, call))
    queues.set(key, queue)
    return queue
  }

  const places = new Map<string, { atMs: number; readonly position: number; readonly operation: string }>()
  for (const command of commands) {
    // A command that has failed is tried again then; one that waits for budget was only named a time to ask again.
    let atMs = command.attempts > 0 ? command.nextActionAt.getTime() : fromMs
    for (const call of work.listCalls(command)) {
      const queue = findQueue(command.sellerId, call)
      queue.ofCommands += 1
      queue.lastMs = sentAtMs(queue.budget, queue.ofCommands, fromMs)
      atMs = Math.max(atMs, queue.lastMs)
      places.set(command.id, { atMs, position: queue.ofCommands, operation: call.name })
    }
  }
  // Commands of one subject are sent one after another.
  const followers = commands.filter(({ previousId }) => previousId !== null).sort((a, b) => a.sequence - b.sequence)
  for (const { id, previousId } of followers) {
    const place = places.get(id)
    if (place !== undefined) place.atMs = Math.max(place.atMs, places.get(previousId ?? '')?.atMs ?? 0)
  }

  const { isWorking, backfills } = work
  for (const { sellerId, call, perMinute } of work.polls) findQueue(sellerId, call).pollsPerMinute += perMinute
  for (const { sellerId, call, pages } of backfills) if (isWorking(sellerId)) findQueue(sellerId, call).ofBackfills.push(pages)
  const ended = backfills.map(({ call, ...backfill }) => {
    const { sellerId, pages } = backfill
    if (!isWorking(sellerId)) return { ...backfill, operation: call.name, endsAt: null }
    const queue = findQueue(sellerId, call)
    const { tokens } = queue.budget
    const available = Math.max(0, queue.budget.available - (tokens > 1 ? reserved : 0))
    const left = { ...queue.budget, available, perMinute: queue.budget.perMinute - queue.pollsPerMinute }
    // Backfills of a queue take turns: by the end of this one each other has read as many pages, or all that it has.
    const place = queue.ofCommands + sum(queue.ofBackfills.map((others) => Math.min(others, pages)))
    const endMs = Math.max(sentAtMs(left, place, fromMs), fromMs + pages * pageMs)
    queue.lastMs = Math.max(queue.lastMs, endMs)
    return { ...backfill, operation: call.name, endsAt: dateBy(untilMs, endMs) }
  })

  const operations = [...queues.values()].map(({ sellerId, operation, budget, pollsPerMinute, lastMs, ...calls }) => {
    const { available, perMinute, blockedUntil, tokens, perMs } = budget
    const open = calls.ofCommands + sum(calls.ofBackfills)
    const usableMs = Math.max(0, untilMs - Math.max(fromMs, blockedUntil?.getTime() ?? 0))
    const allowed = Math.floor(available + (perMinute * usableMs) / minuteMs)
    const within = Math.min(allowed, Math.round(open + (pollsPerMinute * (untilMs - fromMs)) / minuteMs))
    return {
      ...{ sellerId, operation, tokens, perMs, perMinute, pollsPerMinute, blockedUntil, open, allowed, calls: within },
      ...{ lastAt: open === 0 ? null : dateBy(latestMs, lastMs), share: within / Math.max(1, allowed) },
    }
  })

  const named = ({ id: commandId, sellerId, purchaseOrderId, kind, lines }: OpenCommand) => ({
    ...{ commandId, sellerId, purchaseOrderId, kind, lines },
  })
  const pending = commands.filter(({ state }) => state === 'pending')
  const sent = pending.filter(({ id }) => (places.get(id)?.atMs ?? Number.POSITIVE_INFINITY) <= untilMs).length
  const lateOnes = pending
    .flatMap((command) => {
      const { actBy, id, sellerId } = command
      if (actBy === null) return []
      const atMs = places.get(id)?.atMs
      const isLate = Math.min(atMs ?? untilMs, untilMs) > actBy.getTime() - work.aheadMs(sellerId)
      return isLate ? [{ ...named(command), actBy, expectedAt: dateBy(untilMs, atMs) }] : []
    })
    .sort((a, b) => a.actBy.getTime() - b.actBy.getTime())
  const unsent = pending.length - sent + work.count - commands.length
  const asked = commands.find(({ id }) => id === work.commandId)
  const { atMs, position = null, operation = null } = places.get(asked?.id ?? '') ?? {}
  return {
    ...{ from: new Date(fromMs), until: new Date(untilMs), backfills: ended },
    operations: operations.sort((a, b) => b.share - a.share || b.open - a.open),
    commands: { open: work.count, sent, unsent, late: lateOnes.length, lateOnes: lateOnes.slice(0, maxNamed) },
    command:
      asked === undefined
        ? null
        : { ...named(asked), actBy: asked.actBy, position, operation, expectedAt: dateBy(latestMs, atMs) },
    atRisk: lateOnes.filter(({ kind }) => kind === 'ship').slice(0, maxNamed),
  }
}
