import { byUrgency, inRounds, mostOfAKind, type OrderedCommand, shareOfKind } from '../../domain/command-shares.ts'
import { turnedAwayForMs } from '../../queues/shares.ts'
import { commandsAtOnce, mostCommands, relayIntervalMs } from '../capacity.ts'
import { createRefill } from '../refill.ts'
import type { SimulatedBudget, SimulatedBudgets } from './budgets.ts'
import { createFifo, type Fifo } from './fifo.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { type Applicant, createSimulatedSlots, type SimulatedSlots } from './slots.ts'
import type { Happening, Timeline } from './timeline.ts'
import type { SimulatedCommand, Witness, World } from './world.ts'

/** A nudged derivation begins after so long, in ms: the relay gathers what it is nudged for. */
const nudgedAfterMs = 20

interface Process {
  readonly slots: SimulatedSlots
  begun: number
}

/** Commands of one kind of a seller. */
interface Line {
  /** Open ones that are not enqueued, in the order of their urgency, from `head` on. */
  waiting: Work[]
  head: number
  /** Those that are enqueued or wait for budget: they keep their place. */
  readonly placed: Set<Work>
  /** All that are not settled. */
  unsettled: number
}

/** A command on its way. */
interface Work extends OrderedCommand, Applicant, Happening {
  readonly command: SimulatedCommand
  readonly line: Line
  readonly write: SimulatedBudget | null
  readonly reads: SimulatedBudget | null
  step: 'waits' | 'reads' | 'sends'
  /** When it is due again that has waited for budget before; null: it has not, or is under way. */
  budgetUntilMs: number | null
  hasWaited: boolean
  starts: number
  process: Process | null
}

/** Carries commands out as they come, by their places and shares. Nothing happens before the time advances. */
export const startCommands = (
  { startMs, processes: count, commands }: Pick<World, 'startMs' | 'processes' | 'commands'>,
  {
    timeline,
    budgets,
    random,
    witness,
  }: {
    readonly timeline: Timeline
    readonly budgets: SimulatedBudgets
    readonly random: () => number
    readonly witness: Pick<Witness, 'sent'>
  },
): void => {
  const processes = Array.from(
    { length: count },
    (): Process => ({ slots: createSimulatedSlots(commandsAtOnce, timeline), begun: 0 }),
  )
  const lines = new Map<string, Map<string, Line>>()
  /** Lines in which something waits to be derived. */
  const behind = new Set<Line>()
  /** Those of one subject that come after the one that is under way, by seller and subject. */
  const subjects = new Map<string, Map<string, Fifo<Work>>>()
  const ready = createFifo<Work>()
  let kinds = 0
  let sequence = 0
  let isNudged = false

  const lineOf = ({ sellerId, kind }: SimulatedCommand): Line => {
    const own = lines.get(sellerId) ?? new Map<string, Line>()
    lines.set(sellerId, own)
    const line = own.get(kind) ?? { waiting: [], head: 0, placed: new Set<Work>(), unsettled: 0 }
    own.set(kind, line)
    return line
  }

  /** Where it belongs among those that wait. */
  const indexIn = ({ waiting, head }: Line, work: Work): number => {
    let low = head
    let high = waiting.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = waiting[middle]
      if (other !== undefined && byUrgency(other, work) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }

  const placedBefore = ({ placed }: Line, work: Work): number => {
    let before = 0
    for (const other of placed) if (byUrgency(other, work) < 0) before += 1
    return before
  }

  const place = (work: Work): void => {
    work.line.placed.add(work)
    const { dueAtMs } = work.command
    if (dueAtMs > timeline.nowMs()) timeline.at(dueAtMs, work)
    else makeReady(work)
  }

  const makeReady = (work: Work): void => {
    ready.push(work)
    dispatch()
  }

  /** One that has come, or whose turn it is among those of its subject. */
  const open = (work: Work): void => {
    const { line } = work
    const index = indexIn(line, work)
    if (index - line.head + placedBefore(line, work) < mostOfAKind) {
      place(work)
      return
    }
    if (index === line.waiting.length) line.waiting.push(work)
    else line.waiting.splice(index, 0, work)
    behind.add(line)
  }

  const derive = (): void => {
    isNudged = false
    const share = shareOfKind(mostCommands, kinds)
    const found: (OrderedCommand & { readonly sellerId: string; readonly place: number; readonly work: Work })[] = []
    for (const line of behind) {
      for (let index = line.head; index < line.waiting.length; index += 1) {
        const work = line.waiting[index]
        if (work === undefined) break
        const rank = index - line.head + placedBefore(line, work)
        if (rank >= share) break
        const { actByMs } = work
        found.push({ actByMs, sequence: work.sequence, sellerId: work.sellerId, place: rank + 1, work })
      }
    }
    refill.derived(found.length + ready.length)
    for (const { work } of inRounds(found)) {
      takeFromFront(work.line)
      place(work)
    }
  }

  // Those of a line are found from its front on, and placed in that order.
  const takeFromFront = (line: Line): void => {
    line.head += 1
    if (line.head === line.waiting.length) {
      line.waiting = []
      line.head = 0
      behind.delete(line)
    } else if (line.head > mostOfAKind && line.head * 2 > line.waiting.length) {
      line.waiting = line.waiting.slice(line.head)
      line.head = 0
    }
  }

  const refill = createRefill(() => {
    if (isNudged) return
    isNudged = true
    timeline.at(timeline.nowMs() + nudgedAfterMs, { happen: derive })
  })

  const dispatch = oneAtATime(() => {
    while (ready.length > 0) {
      let process: Process | undefined
      for (const one of processes) if (process === undefined || one.begun < process.begun) process = one
      if (process === undefined || process.begun >= commandsAtOnce) return
      const work = ready.shift()
      if (work === undefined) return
      process.begun += 1
      work.process = process
      work.starts += 1
      process.slots.apply(work)
    }
  })

  const leaveProcess = (work: Work, holdsSlot: boolean): void => {
    const { process } = work
    work.process = null
    if (process === null) return
    process.begun -= 1
    if (holdsSlot) process.slots.release(work.sellerId)
    dispatch()
  }

  const wait = (work: Work, untilMs: number): void => {
    work.step = 'waits'
    work.budgetUntilMs = Math.max(untilMs, timeline.nowMs())
    work.hasWaited = true
    timeline.at(untilMs, work)
  }

  const postpone = (work: Work, untilMs: number): void => {
    wait(work, untilMs)
    leaveProcess(work, true)
  }

  /** The most urgent one of its line that waits for budget as well, and is wanted earlier. */
  const wantedEarlier = (work: Work): Work | null => {
    let first: Work | null = null
    for (const other of work.line.placed) {
      if (other.budgetUntilMs !== null && byUrgency(other, first ?? work) < 0) first = other
    }
    return first
  }

  /** The other one goes in its place, and it is due when that one would have been. */
  const exchange = (work: Work, other: Work): void => {
    const untilMs = other.budgetUntilMs ?? timeline.nowMs()
    other.budgetUntilMs = null
    other.process = work.process
    work.process = null
    wait(work, untilMs)
  }

  /** What the daemon does with a command that is due: budget of the write first, then what it reads, then the request. */
  const run = (work: Work): void => {
    const untilMs = work.write?.take('command') ?? null
    if (untilMs !== null) {
      postpone(work, untilMs)
      return
    }
    const first = work.hasWaited && work.write !== null ? wantedEarlier(work) : null
    if (first !== null) exchange(work, first)
    read(first ?? work)
  }

  const read = (work: Work): void => {
    const untilMs = work.reads?.take('command') ?? null
    if (untilMs !== null) {
      postpone(work, untilMs)
      return
    }
    if (work.reads === null) {
      send(work)
      return
    }
    work.step = 'reads'
    timeline.after(work.reads.answerMs, work)
  }

  const send = (work: Work): void => {
    // From its intent on it has no place.
    work.line.placed.delete(work)
    if (work.write === null) {
      settle(work)
      return
    }
    const nowMs = timeline.nowMs()
    witness.sent(work.command, nowMs)
    work.step = 'sends'
    timeline.after(work.write.answerMs, work)
  }

  const settle = (work: Work): void => {
    const { line, command } = work
    line.unsettled -= 1
    if (line.unsettled === 0) kinds -= 1
    refill.ended()
    leaveProcess(work, true)
    const own = subjects.get(command.sellerId)
    const others = own?.get(command.subject)
    const next = others?.shift()
    if (next !== undefined) open(next)
    else own?.delete(command.subject)
  }

  const workOf = (command: SimulatedCommand): Work => {
    const { sellerId, operation, reads } = command
    const work: Work = {
      command,
      sellerId,
      actByMs: command.actByMs,
      sequence,
      line: lineOf(command),
      write: operation === null ? null : budgets.of(sellerId, operation),
      reads: reads === null ? null : budgets.of(sellerId, reads),
      step: 'waits',
      budgetUntilMs: null,
      hasWaited: false,
      starts: 0,
      process: null,
      admit: () => run(work),
      turnAway: () => {
        wait(work, timeline.nowMs() + turnedAwayForMs(work.starts, random()))
        leaveProcess(work, false)
      },
      happen: () => {
        if (work.step === 'waits') {
          // Of an earlier moment than it waits for now, or of one at which another one went in its place.
          if (work.hasWaited && work.budgetUntilMs !== timeline.nowMs()) return
          work.budgetUntilMs = null
          makeReady(work)
        } else if (work.step === 'reads') {
          work.reads?.answered()
          send(work)
        } else {
          work.write?.answered()
          settle(work)
        }
      },
    }
    sequence += 1
    return work
  }

  const come = (command: SimulatedCommand): void => {
    const work = workOf(command)
    if (work.line.unsettled === 0) kinds += 1
    work.line.unsettled += 1
    const own = subjects.get(command.sellerId) ?? new Map<string, Fifo<Work>>()
    subjects.set(command.sellerId, own)
    const others = own.get(command.subject)
    if (others !== undefined) {
      others.push(work)
      return
    }
    own.set(command.subject, createFifo())
    open(work)
  }

  const source = commands[Symbol.iterator]()
  const comeNext = (): void => {
    const { done, value } = source.next()
    if (done === true) return
    timeline.at(Math.max(startMs, value.comesAtMs), {
      happen: () => {
        come(value)
        comeNext()
      },
    })
  }
  comeNext()
  const relay: Happening = {
    happen: () => {
      if (behind.size > 0) derive()
      timeline.at(timeline.nowMs() + relayIntervalMs, relay)
    },
  }
  timeline.at(startMs, relay)
}
