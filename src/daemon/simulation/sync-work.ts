import { type SyncLane, syncLanes } from '../../clients/lane.ts'
import { turnedAwayForMs } from '../../queues/shares.ts'
import { createAgenda, inOrderOfTime } from '../agenda.ts'
import { queuedSyncsAtOnce, syncSlots } from '../capacity.ts'
import { decideDue, gatherFor, patienceMs } from '../due.ts'
import type { ScheduledStream } from '../schedule.ts'
import type { SimulatedBudget, SimulatedBudgets } from './budgets.ts'
import { createFifo, type Fifo } from './fifo.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { type Applicant, createSimulatedSlots, type SimulatedSlots } from './slots.ts'
import type { Happening, Timeline } from './timeline.ts'
import type { SimulatedBackfill, SimulatedStream, Witness, World } from './world.ts'

/** When a run gives its worker back. */
export interface RunTurns {
  readonly maxPagesPerRun: number
  readonly turnMs: number
}

/** A process as far as syncs go. */
interface Process {
  readonly slots: SimulatedSlots
  /** Polls that are due and have not begun, the oldest first. */
  readonly polls: Fifo<Reading>
  /** Polls without a job, and jobs of the queue, that have begun. */
  pollsBegun: number
  jobsBegun: number
  /** What ends at once makes room while others are begun: no second loop is needed for it. */
  isBeginning: boolean
}

/** What becomes of a reading in the course of time. */
interface Course {
  admitted(reading: Reading): void
  turnedAway(reading: Reading): void
  answered(reading: Reading): void
  isDue(reading: Reading): void
}

/** Something that is read: a stream time after time, or a backfill once. A class, since there are hundreds of thousands: they share their methods. */
class Reading implements ScheduledStream, Applicant, Happening {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
  readonly everyMs: number
  readonly restsAfterRestart: boolean
  readonly calls: number
  readonly lane: number
  readonly callLane: SyncLane
  readonly declared: Declared
  readonly budget: SimulatedBudget
  readonly #course: Course
  /** Calls that are left of what was planned; 0: nothing is planned. */
  left = 0
  isRunning = false
  /** There is a job for it, waiting or delayed. */
  isQueued = false
  /** It waits in its process without a job, since `waitsSinceMs`. */
  isWaiting = false
  waitsSinceMs = 0
  isAsking = false
  /** Never; infinitely long ago. */
  startedAtMs = Number.NEGATIVE_INFINITY
  pagesOfRun = 0
  /** When what is to be done now was due. */
  dueAtMs = 0
  starts = 0
  process: Process | null = null
  viaQueue = false

  constructor(declared: Declared, budget: SimulatedBudget, course: Course) {
    const { sellerId, resource, stream, calls, lane } = declared.is
    this.sellerId = sellerId
    this.resource = resource
    this.stream = stream
    this.everyMs = declared.once ? Number.POSITIVE_INFINITY : declared.is.everyMs
    this.restsAfterRestart = !declared.once && declared.is.restsAfterRestart
    this.calls = calls
    this.lane = lane
    this.callLane = syncLanes[lane] ?? 'poll'
    this.declared = declared
    this.budget = budget
    this.#course = course
  }

  admit(): void {
    this.#course.admitted(this)
  }

  turnAway(): void {
    this.#course.turnedAway(this)
  }

  happen(): void {
    if (this.isAsking) this.#course.answered(this)
    else this.#course.isDue(this)
  }
}

/** What a world declares: a backfill, or a stream. */
type Declared = { readonly once: true; readonly is: SimulatedBackfill } | { readonly once: false; readonly is: SimulatedStream }

/** Starts what is read: polls when they are due, jobs of the queue by their lanes. Nothing happens before the time advances. */
export const startSyncs = (
  { startMs, processes: count, streams, backfills }: Pick<World, 'startMs' | 'processes' | 'streams' | 'backfills'>,
  {
    timeline,
    budgets,
    random,
    witness,
    turns,
  }: {
    readonly timeline: Timeline
    readonly budgets: SimulatedBudgets
    readonly random: () => number
    readonly witness: Pick<Witness, 'began' | 'wentOn' | 'finished'>
    readonly turns: RunTurns
  },
): void => {
  const processes = Array.from(
    { length: count },
    (): Process => ({
      slots: createSimulatedSlots(syncSlots, timeline),
      polls: createFifo(),
      pollsBegun: 0,
      jobsBegun: 0,
      isBeginning: false,
    }),
  )
  /** Jobs of the queue that are ready, by lane. */
  const ready: Fifo<Reading>[] = []
  const agenda = createAgenda<Reading>(startMs)

  const makeReady = (reading: Reading): void => {
    reading.isQueued = true
    let lane = ready[reading.lane]
    while (lane === undefined) {
      ready.push(createFifo())
      lane = ready[reading.lane]
    }
    lane.push(reading)
    dispatch()
  }

  const enqueue = (reading: Reading, dueAtMs: number): void => {
    if (reading.isQueued || reading.isRunning) return
    reading.dueAtMs = dueAtMs
    reading.starts = 0
    makeReady(reading)
  }

  const delay = (reading: Reading, untilMs: number): void => {
    reading.isQueued = true
    timeline.at(untilMs, reading)
  }

  /** Jobs go to whichever process has room. */
  const dispatch = oneAtATime(() => {
    for (;;) {
      const lane = ready.find(({ length }) => length > 0)
      const process = lane && roomiest()
      const reading = process && lane?.shift()
      if (process === undefined || reading === undefined) return
      process.jobsBegun += 1
      reading.isQueued = false
      begin(reading, process, true)
    }
  })

  const roomiest = (): Process | undefined => {
    let most: Process | undefined
    for (const process of processes) if (most === undefined || process.jobsBegun < most.jobsBegun) most = process
    return most !== undefined && most.jobsBegun < queuedSyncsAtOnce ? most : undefined
  }

  const begin = (reading: Reading, process: Process, viaQueue: boolean): void => {
    reading.process = process
    reading.viaQueue = viaQueue
    reading.isRunning = true
    reading.starts += 1
    process.slots.apply(reading)
  }

  const leaveProcess = (reading: Reading): void => {
    const { process, viaQueue } = reading
    reading.isRunning = false
    reading.process = null
    if (process === null) return
    if (viaQueue) {
      process.jobsBegun -= 1
      dispatch()
    } else {
      process.pollsBegun -= 1
      beginPolls(process)
    }
  }

  const stop = (reading: Reading, againAtMs: number | null): void => {
    reading.process?.slots.release(reading.sellerId)
    // Before its place is given away, so that it does not count as new.
    if (againAtMs !== null) delay(reading, againAtMs)
    leaveProcess(reading)
    if (againAtMs === null && reading.declared.once) witness.finished(reading.declared.is, timeline.nowMs())
  }

  const ask = (reading: Reading): void => {
    const nowMs = timeline.nowMs()
    const { pagesOfRun, startedAtMs } = reading
    const isOver = pagesOfRun >= turns.maxPagesPerRun || (pagesOfRun > 0 && nowMs - startedAtMs >= turns.turnMs)
    const againAtMs = isOver ? nowMs : reading.budget.take(reading.callLane)
    if (againAtMs !== null) {
      stop(reading, againAtMs)
      return
    }
    reading.isAsking = true
    timeline.after(reading.budget.answerMs, reading)
  }

  const answered = (reading: Reading): void => {
    reading.isAsking = false
    reading.budget.answered()
    reading.left -= 1
    reading.pagesOfRun += 1
    if (reading.left > 0) ask(reading)
    else stop(reading, null)
  }

  const beginPolls = (process: Process): void => {
    if (process.isBeginning) return
    process.isBeginning = true
    while (process.pollsBegun < syncSlots) {
      const reading = process.polls.shift()
      if (reading === undefined) break
      reading.isWaiting = false
      process.pollsBegun += 1
      begin(reading, process, false)
    }
    process.isBeginning = false
  }

  /** Those that have waited for too long are asked for again; another process may be faster. */
  const giveUp = (process: Process, beforeMs: number): void => {
    for (;;) {
      const first = process.polls.first()
      if (first === undefined || first.waitsSinceMs >= beforeMs) return
      process.polls.shift()
      first.isWaiting = false
      agenda.putBack([{ stream: first, dueAtMs: first.dueAtMs }])
    }
  }

  const look = (): void => {
    const nowMs = timeline.nowMs()
    for (const tick of agenda.take(nowMs)) {
      const { stream: reading, dueAtMs } = tick
      if (reading.isWaiting) continue
      const { isRunning: running, startedAtMs } = reading
      const startedAgoMs = startedAtMs === Number.NEGATIVE_INFINITY ? null : nowMs - startedAtMs
      const standing = { atRest: false, running, unfinished: reading.left > 0 || reading.isQueued, startedAgoMs }
      const decision = decideDue(tick, standing, { nowMs, runsHere: true })
      if (decision === 'queue') enqueue(reading, dueAtMs)
      if (decision !== 'here') continue
      reading.dueAtMs = dueAtMs
      reading.starts = 0
      reading.isWaiting = true
      reading.waitsSinceMs = nowMs
      // Whoever is first reads what is due.
      processes[Math.floor(random() * processes.length)]?.polls.push(reading)
    }
    for (const process of processes) {
      giveUp(process, nowMs - patienceMs)
      beginPolls(process)
    }
  }

  const course: Course = {
    admitted: (reading) => {
      const { declared } = reading
      const nowMs = timeline.nowMs()
      if (declared.once) witness.wentOn(declared.is, nowMs)
      // A run that goes on is of the same moment.
      else if (reading.left === 0) witness.began(declared.is, reading.dueAtMs, nowMs)
      if (reading.left === 0) reading.left = reading.calls
      reading.startedAtMs = nowMs
      reading.pagesOfRun = 0
      if (reading.left > 0) ask(reading)
      else stop(reading, null)
    },
    turnedAway: (reading) => {
      delay(reading, timeline.nowMs() + turnedAwayForMs(reading.starts, random()))
      leaveProcess(reading)
    },
    answered,
    isDue: makeReady,
  }
  const readingOf = (declared: Declared): Reading =>
    new Reading(declared, budgets.of(declared.is.sellerId, declared.is.operation), course)

  // In the order in which they are due, each behind the other in memory: most of the time goes into waiting for what is not in the cache.
  const planned = inOrderOfTime(streams).map((is) => readingOf({ once: false, is }))
  agenda.replace(planned, [])
  const gatherMs = gatherFor(planned)
  const looks: Happening = {
    happen: () => {
      look()
      timeline.at(timeline.nowMs() + gatherMs, looks)
    },
  }
  if (planned.length > 0) timeline.at(startMs + gatherMs, looks)
  for (const is of backfills) {
    const reading = readingOf({ once: true, is })
    timeline.at(startMs, { happen: () => enqueue(reading, startMs) })
  }
}
