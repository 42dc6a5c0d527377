import { createHash } from 'node:crypto'
import type { Queue } from 'bullmq'
import type { QueueBackend } from './backend/backend-interface.ts'
import { withDeadline } from './errors.ts'
import { buildJobId, type JobName, type JobToEnqueue, jobDefinitions, type QueueName, queueNames } from './jobs.ts'
import { storedOptions } from './producer.ts'

/** A job that is enqueued repeatedly. */
export interface Scheduler {
  /** Defaults to the id of the job itself. */
  readonly id?: string
  readonly job: JobToEnqueue
  readonly everyMs: number
  /** Schedulers of one interval are distributed over this time in milliseconds, by their ids; default: the whole interval. */
  readonly jitterMs?: number
}

/** A scheduler in the queue. */
interface StoredScheduler {
  readonly id: string
  readonly queue: QueueName
  readonly name: string
  readonly everyMs: number | null
  /** Offset within the interval, in milliseconds. */
  readonly offsetMs: number | null
  readonly nextAt: Date | null
  readonly data: unknown
}

/** Delay after which a tick counts as lost by its scheduler (its job was removed manually); without a running worker it is only late. */
const lateMs = 60_000
const maxSchedulers = 100_000
const changeConcurrency = 8

/** What applying schedulers has changed, and how many there are now. */
export interface AppliedSchedulers {
  readonly made: number
  readonly removed: number
  readonly total: number
}

/** Id of a scheduler. */
export const buildSchedulerId = ({ id, job }: Scheduler): string => id ?? buildJobId(job.name, job.data)

/**
 * Offset of a scheduler within its interval, in milliseconds from 1 to the smaller of jitter and interval. Derived from its id only: it is the
 * same across restarts and processes, and a thousand sellers do not poll at the same time.
 */
export const computeOffsetMs = (id: string, everyMs: number, jitterMs: number = everyMs): number => {
  const spread = Math.max(1, Math.min(jitterMs, everyMs) - 1)
  return 1 + (createHash('sha256').update(id).digest().readUInt32BE(0) % spread)
}

const isSameWork = (name: JobName, wanted: Readonly<Record<string, string>>, data: unknown): boolean => {
  if (typeof data !== 'object' || data === null) return false
  const entries = Object.entries(data).map(([key, value]): [string, string] => [key, String(value)])
  return (
    buildJobId(name, Object.fromEntries(entries)) === buildJobId(name, wanted) && entries.length === Object.keys(wanted).length
  )
}

const isUpToDate = (stored: StoredScheduler, wanted: Scheduler, nowMs: number): boolean =>
  stored.queue === jobDefinitions[wanted.job.name].queue &&
  stored.name === wanted.job.name &&
  stored.everyMs === wanted.everyMs &&
  stored.offsetMs === computeOffsetMs(stored.id, wanted.everyMs, wanted.jitterMs) &&
  isSameWork(wanted.job.name, wanted.job.data, stored.data) &&
  stored.nextAt !== null &&
  // Not lost, and not later than one interval, as it is after the clock was set back.
  stored.nextAt.getTime() > nowMs - wanted.everyMs - lateMs &&
  stored.nextAt.getTime() <= nowMs + wanted.everyMs + lateMs

/** The job schedulers in the queues. Each adds its job at each of its times. */
export const createSchedulers = ({ backend, timeoutMs }: { readonly backend: QueueBackend; readonly timeoutMs: number }) => {
  const guarded = <Result>(work: Promise<Result>): Promise<Result> =>
    withDeadline(work, timeoutMs, 'reading or changing schedulers')

  const listSchedulers = async (queue: QueueName): Promise<readonly StoredScheduler[]> => {
    const found = await backend.queue(queue).getJobSchedulers(0, maxSchedulers)
    return found.map((stored) => ({
      id: stored.key,
      queue,
      name: stored.name,
      everyMs: stored.every ?? null,
      offsetMs: stored.offset ?? null,
      nextAt: stored.next === undefined ? null : new Date(stored.next),
      data: stored.template?.data,
    }))
  }

  const list = async (): Promise<readonly StoredScheduler[]> =>
    (await guarded(Promise.all(queueNames.map(listSchedulers)))).flat()

  const make = async (queue: Queue, scheduler: Scheduler): Promise<void> => {
    const id = buildSchedulerId(scheduler)
    const { everyMs, job } = scheduler
    await queue.upsertJobScheduler(
      id,
      { every: everyMs, offset: computeOffsetMs(id, everyMs, scheduler.jitterMs) },
      { name: job.name, data: job.data, opts: { ...storedOptions, removeOnFail: true } },
    )
  }

  const upsert = async (scheduler: Scheduler, stored: StoredScheduler | undefined): Promise<'made' | 'kept'> => {
    if (stored !== undefined && isUpToDate(stored, scheduler, Date.now())) return 'kept'
    const queue = backend.queue(jobDefinitions[scheduler.job.name].queue)
    // A changed interval or offset restarts the schedule; BullMQ would continue the old one.
    if (stored !== undefined) await guarded(backend.queue(stored.queue).removeJobScheduler(stored.id))
    await guarded(make(queue, scheduler))
    return 'made'
  }

  return {
    /** See `applySchedulers` of the runtime. */
    apply: async (
      wanted: readonly Scheduler[],
      mayRemove: (data: unknown) => boolean = () => true,
    ): Promise<AppliedSchedulers> => {
      const stored = new Map((await list()).map((one) => [one.id, one]))
      let made = 0
      for (let from = 0; from < wanted.length; from += changeConcurrency) {
        const some = wanted.slice(from, from + changeConcurrency)
        const outcomes = await Promise.all(some.map((scheduler) => upsert(scheduler, stored.get(buildSchedulerId(scheduler)))))
        made += outcomes.filter((outcome) => outcome === 'made').length
      }
      for (const scheduler of wanted) stored.delete(buildSchedulerId(scheduler))
      const others = [...stored.values()]
      const obsolete = others.filter(({ data }) => mayRemove(data))
      for (const { queue, id } of obsolete) await guarded(backend.queue(queue).removeJobScheduler(id))
      return { made, removed: obsolete.length, total: wanted.length + others.length - obsolete.length }
    },
    /** Number of schedulers in the queues. */
    count: async (): Promise<number> => {
      const counts = await guarded(Promise.all(queueNames.map((name) => backend.queue(name).getJobSchedulersCount())))
      return counts.reduce((sum, count) => sum + count, 0)
    },
  } as const
}
