import { asError } from './faults.ts'
import { type JobToEnqueue, jobDefinitions, jobIdOf, type QueueName } from './jobs.ts'

/** Runs in this process what the queues do not take. */
export interface StandIn {
  /**
   * All that is due, which no queue took: it is run here, the first of each queue first, as far as there is room for it. What has not begun by the
   * next time is forgotten: whoever derives what is due names it again.
   */
  take(jobs: readonly JobToEnqueue[]): void
  /** The queues take jobs again: nothing more is begun here. */
  stop(): void
}

/** What a stand-in needs. */
export interface StandInOptions {
  /** The queues whose jobs this process runs, with how many at once. */
  readonly queues: () => ReadonlyMap<QueueName, number>
  /** Runs a job to its end; answers when it is to be run again, in milliseconds from then. */
  readonly run: (job: JobToEnqueue) => Promise<number | null>
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

/** For one of those that derive what is due. */
export const createStandIn = ({ queues, run, onFault, random = Math.random }: StandInOptions): StandIn => {
  const waiting = new Map<QueueName, JobToEnqueue[]>()
  const under = new Map<QueueName, number>()
  const resting = new Map<string, NodeJS.Timeout>()
  let stopped = true

  const rest = (queue: QueueName, job: JobToEnqueue, againInMs: number): void => {
    const jobId = jobIdOf(job.name, job.data)
    const isSoon = againInMs <= longestRestMs
    const timer = setTimeout(
      () => {
        resting.delete(jobId)
        if (!isSoon) return
        waiting.set(queue, [...(waiting.get(queue) ?? []), job])
        begin(queue)
      },
      isSoon ? againInMs + random() * longestRoomMs : longestRestMs,
    )
    resting.set(jobId, timer.unref())
  }

  const runOne = async (queue: QueueName, job: JobToEnqueue): Promise<void> => {
    under.set(queue, (under.get(queue) ?? 0) + 1)
    try {
      const againInMs = await run(job)
      if (againInMs !== null && !stopped) rest(queue, job, againInMs)
    } catch (error) {
      onFault(asError(error))
    }
    under.set(queue, (under.get(queue) ?? 1) - 1)
    begin(queue)
  }

  const begin = (queue: QueueName): void => {
    const concurrency = queues().get(queue)
    const jobs = waiting.get(queue) ?? []
    while (concurrency !== undefined && (under.get(queue) ?? 0) < partOf(concurrency)) {
      const job = jobs.shift()
      if (job === undefined) return
      void runOne(queue, job)
    }
  }

  return {
    take: (jobs) => {
      stopped = false
      const rested = jobs.filter(({ name, data }) => !resting.has(jobIdOf(name, data)))
      waiting.clear()
      for (const [queue, its] of Map.groupBy(rested, ({ name }) => jobDefinitions[name].queue)) {
        waiting.set(queue, its)
        begin(queue)
      }
    },
    stop: () => {
      stopped = true
      waiting.clear()
      for (const timer of resting.values()) clearTimeout(timer)
      resting.clear()
    },
  }
}
