import { asError } from './faults.ts'
import { type JobToEnqueue, jobDefinitions, jobIdOf, type QueueName } from './jobs.ts'
import type { RunHere } from './runs.ts'

/** Runs in this process what the queues do not take. */
export interface StandIn {
  /**
   * All that is due, which no queue took: it is run here, the first of each queue first, as far as there is room for it. What has not begun by the
   * next time is forgotten: whoever derives what is due names it again. What comes `byClock` is named once, and stays until it has run.
   */
  take(jobs: readonly JobToEnqueue[], byClock?: readonly JobToEnqueue[]): void
  /** The queues take jobs again: nothing more is begun here. */
  stop(): void
  /** When it was given jobs last, our clock in epoch ms; null: it does not stand in. */
  takenAtMs(): number | null
}

/** What a stand-in needs. */
export interface StandInOptions {
  /** The queues whose jobs this process runs, with how many at once. */
  readonly queues: () => ReadonlyMap<QueueName, number>
  /** Runs a job to its end, which has failed so often before. */
  readonly run: (job: JobToEnqueue, failedAttempts: number) => Promise<RunHere>
  /** Told what could not even be begun. */
  readonly onFault: (error: Error) => void
  /** A number in [0, 1); `Math.random` by default. */
  readonly random?: () => number
}

/** A job that is to be run again has no other run until then, but for no longer than this: it may have become due by something else. */
const longestRestMs = 30_000

/** So much later at most it runs here: another process, which may have what it waits for, finds it due before. */
const longestRoomMs = 1_000

/** Half of what a queue has at once: so many slots one seller alone may have, and none of its jobs is turned away for want of one. */
const partOf = (concurrency: number): number => Math.max(1, Math.floor(concurrency / 2))

const idOf = ({ name, data }: JobToEnqueue): string => jobIdOf(name, data)
const queueOf = ({ name }: JobToEnqueue): QueueName => jobDefinitions[name].queue

/** For one of those that derive what is due. */
export const createStandIn = ({ queues, run, onFault, random = Math.random }: StandInOptions): StandIn => {
  const waiting = new Map<QueueName, JobToEnqueue[]>()
  /** Those that no derivation names again, by their ids. */
  const byClock = new Map<string, JobToEnqueue>()
  const under = new Map<QueueName, Set<string>>()
  const resting = new Map<string, NodeJS.Timeout>()
  const failures = new Map<string, number>()
  let takenAtMs: number | null = null

  const ofQueue = (queue: QueueName): Set<string> => {
    const its = under.get(queue) ?? new Set()
    under.set(queue, its)
    return its
  }

  /** No run of it for so long; then it runs, or is run if it is named. */
  const rest = (job: JobToEnqueue, forMs: number, runsThen: boolean): void => {
    const jobId = idOf(job)
    const timer = setTimeout(() => {
      resting.delete(jobId)
      if (!runsThen) return
      waiting.set(queueOf(job), [...(waiting.get(queueOf(job)) ?? []), job])
      begin(queueOf(job))
    }, forMs)
    resting.set(jobId, timer.unref())
  }

  /** When it is tried again after a failure the database says, so that several processes do not each try it; here it rests as in a queue. */
  const after = (job: JobToEnqueue, { againInMs, failed }: RunHere, wasByClock: boolean): void => {
    const jobId = idOf(job)
    if (failed) failures.set(jobId, (failures.get(jobId) ?? 0) + 1)
    else failures.delete(jobId)
    if (againInMs === null || takenAtMs === null) return
    if (wasByClock) byClock.set(jobId, job)
    const runsThen = wasByClock || (!failed && againInMs <= longestRestMs)
    rest(job, runsThen ? againInMs + random() * longestRoomMs : failed ? againInMs : longestRestMs, runsThen)
  }

  const runOne = async (queue: QueueName, job: JobToEnqueue): Promise<void> => {
    const jobId = idOf(job)
    ofQueue(queue).add(jobId)
    const wasByClock = byClock.delete(jobId)
    try {
      after(job, await run(job, failures.get(jobId) ?? 0), wasByClock)
    } catch (error) {
      onFault(asError(error))
    }
    ofQueue(queue).delete(jobId)
    begin(queue)
  }

  const begin = (queue: QueueName): void => {
    const concurrency = queues().get(queue)
    const jobs = waiting.get(queue) ?? []
    while (concurrency !== undefined && ofQueue(queue).size < partOf(concurrency)) {
      const job = jobs.shift()
      if (job === undefined) return
      void runOne(queue, job)
    }
  }

  return {
    take: (jobs, comeByClock = []) => {
      takenAtMs = Date.now()
      for (const job of comeByClock) byClock.set(idOf(job), job)
      // Those of the clock are few, and seldom: behind all the others they might never begin.
      const named = [...byClock.values(), ...jobs].filter(
        (job) => !resting.has(idOf(job)) && !ofQueue(queueOf(job)).has(idOf(job)),
      )
      waiting.clear()
      for (const [queue, its] of Map.groupBy(named, queueOf)) {
        waiting.set(queue, its)
        begin(queue)
      }
    },
    stop: () => {
      takenAtMs = null
      waiting.clear()
      byClock.clear()
      failures.clear()
      for (const timer of resting.values()) clearTimeout(timer)
      resting.clear()
    },
    takenAtMs: () => takenAtMs,
  }
}
