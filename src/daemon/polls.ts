import type { QuietLog } from '../observability/log.ts'
import { pause } from '../pause.ts'
import { loggedFault } from '../queues/faults.ts'
import type { JobToEnqueue } from '../queues/jobs.ts'
import type { QueueRuntime } from '../queues/runtime.ts'
import type { DueStanding } from '../store/sync-states.ts'
import { createAgenda, type DueTick, firstLook, nameOfStream, type StreamLag } from './agenda.ts'
import { decideDue, gatherFor, gatherMs, patienceMs } from './due.ts'
import type { ScheduledStream } from './schedule.ts'

const firstPauseMs = 500
const longestPauseMs = 10_000

/** What the polls need of the rest. */
export interface PollsParts {
  /** All streams that run by themselves, of the sellers of this process. */
  readonly schedule: () => readonly ScheduledStream[]
  /** How far behind the streams are. */
  readonly readLags: () => Promise<readonly StreamLag[]>
  /** How streams stand, in their order. */
  readonly standingOf: (streams: readonly ScheduledStream[]) => Promise<readonly DueStanding[]>
  readonly runtime: Pick<QueueRuntime, 'enqueueMany' | 'runHere'>
  /** Runs without a queue that are under way at once; 0: this process does not work. */
  readonly atOnce: number
  readonly quiet: QuietLog
}

/** Runs the streams of all sellers when they are due. */
export interface Polls {
  /** Begins; once. */
  start(): void
  /** The sellers, or what they have, are others now. */
  replan(): void
  /** Begins nothing any more. Resolves when the look that is under way has ended; runs go on. */
  stop(): Promise<void>
}

/** A stream for the queue, and whether it pauses after a failure. */
interface Unsent {
  readonly stream: ScheduledStream
  readonly pausing: boolean
}

const jobOf = ({ sellerId, resource, stream }: ScheduledStream): JobToEnqueue => ({
  name: 'sync.run',
  data: { sellerId, resource, stream },
})

/**
 * Begins every stream when it is due. Nothing is stored of when that is (`createAgenda`): what has become due is looked up in Postgres by one
 * statement for all, and what is due often is run in this process without a job. So an idle seller costs what its own runs cost.
 */
export const createPolls = ({ schedule, readLags, standingOf, runtime, atOnce, quiet }: PollsParts): Polls => {
  const agenda = createAgenda(Date.now())
  const stopping = new AbortController()
  let wake = new AbortController()
  let planned: ReadonlySet<string> = new Set()
  let gatherForMs = gatherMs
  let isPlanDue = true
  let looking: Promise<void> | undefined
  /** What has not begun yet, by its names, the oldest first. */
  const waiting = new Map<string, { readonly tick: DueTick; readonly sinceMs: number }>()
  /** What the queue has not taken yet, by its names. */
  const unsent = new Map<string, Unsent>()
  let under = 0

  const plan = async (): Promise<void> => {
    const streams = schedule()
    const fresh = streams.filter((stream) => !planned.has(nameOfStream(stream)))
    agenda.replace(streams, fresh.length === 0 ? [] : firstLook(fresh, await readLags(), Date.now()))
    planned = new Set(streams.map(nameOfStream))
    gatherForMs = gatherFor(streams)
    isPlanDue = false
  }

  const send = (stream: ScheduledStream, pausing = false): void => void unsent.set(nameOfStream(stream), { stream, pausing })

  const begin = async (stream: ScheduledStream): Promise<void> => {
    const { sellerId, resource, stream: name } = stream
    try {
      if (!(await runtime.runHere('sync.run', { sellerId, resource, stream: name }))) send(stream)
    } catch (error) {
      // What it has left over stands in Postgres, where the relay finds it.
      quiet.warn('poll', loggedFault(error), 'a poll could not be put off in the queue; what it has left over is derived again')
    } finally {
      under -= 1
      beginNext()
    }
  }

  const beginNext = (): void => {
    while (under < atOnce && !stopping.signal.aborted) {
      const [next] = waiting
      if (next === undefined) return
      const [name, { tick }] = next
      waiting.delete(name)
      under += 1
      void begin(tick.stream)
    }
  }

  const look = async (): Promise<void> => {
    if (isPlanDue) await plan()
    const ticks = agenda.take(Date.now())
    if (ticks.length > 0) {
      try {
        const standings = await standingOf(ticks.map(({ stream }) => stream))
        const nowMs = Date.now()
        for (const [index, tick] of ticks.entries()) {
          const standing = standings[index]
          const decision = standing === undefined ? 'queue' : decideDue(tick, standing, { nowMs, runsHere: atOnce > 0 })
          if (decision === 'here') waiting.set(nameOfStream(tick.stream), { tick, sinceMs: nowMs })
          else if (decision === 'queue') send(tick.stream, standing?.pausing)
        }
      } catch (error) {
        agenda.putBack(ticks)
        throw error
      }
    }
    const oldestMs = Date.now() - patienceMs
    const tooLong = [...waiting].filter(([, { sinceMs }]) => sinceMs < oldestMs)
    for (const [name] of tooLong) waiting.delete(name)
    agenda.putBack(tooLong.map(([, { tick }]) => tick))
    beginNext()
    await handOver()
  }

  /** What belongs to the queue goes there; while it takes nothing, it runs here too, but for what the queue would hold back after a failure. */
  const handOver = async (): Promise<void> => {
    const sent = [...unsent]
    if (sent.length === 0) return
    const taken = (): void => {
      for (const [name, one] of sent) if (unsent.get(name) === one) unsent.delete(name)
    }
    try {
      await runtime.enqueueMany(sent.map(([, { stream }]) => jobOf(stream)))
      taken()
    } catch (error) {
      if (atOnce === 0) throw error
      quiet.warn(
        'polls without a queue',
        loggedFault(error),
        'the queue does not take what is due to be read: it is read without it',
      )
      taken()
      const nowMs = Date.now()
      for (const [name, { stream, pausing }] of sent)
        if (!pausing) waiting.set(name, { tick: { stream, dueAtMs: nowMs }, sinceMs: nowMs })
      beginNext()
    }
  }

  const rest = async (milliseconds: number): Promise<void> => {
    await pause(milliseconds, AbortSignal.any([stopping.signal, wake.signal]))
    if (wake.signal.aborted) wake = new AbortController()
  }

  const run = async (): Promise<void> => {
    let failuresInARow = 0
    while (!stopping.signal.aborted) {
      try {
        await look()
        failuresInARow = 0
        quiet.recovered('polls', 'what is due to be read is looked for again')
      } catch (error) {
        failuresInARow += 1
        quiet.warn('polls', loggedFault(error), 'what is due to be read could not be looked for; it is tried again')
      }
      if (failuresInARow > 0) {
        await rest(Math.min(firstPauseMs * 2 ** (failuresInARow - 1), longestPauseMs) * (0.75 + Math.random() / 4))
      } else {
        // At a moment of its own, so that what several processes find due is spread over them.
        const gatheredMs = gatherForMs * (0.75 + Math.random() / 2)
        const untilNextMs = Math.min(agenda.nextAtMs() - Date.now(), gatherMs)
        await rest(unsent.size > 0 || waiting.size > 0 ? gatheredMs : Math.max(untilNextMs, gatheredMs))
      }
    }
  }

  return {
    start: () => {
      looking ??= run()
    },
    replan: () => {
      isPlanDue = true
      wake.abort()
    },
    stop: async () => {
      stopping.abort()
      await looking
    },
  }
}
