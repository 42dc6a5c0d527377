import { createHash } from 'node:crypto'
import type { Queue } from 'bullmq'
import type { QueueBackend } from './backend-interface.ts'
import { withDeadline } from './faults.ts'
import { type JobName, type JobToEnqueue, jobDefinitions, jobIdOf, type QueueName, queueNames } from './jobs.ts'
import { storedOptions } from './producer.ts'

/** A job that is enqueued repeatedly. */
export interface Scheduler {
  /** Defaults to the id of the job itself. Without `:`. */
  readonly id?: string
  readonly job: JobToEnqueue
  readonly everyMs: number
  /** Schedulers of one interval are distributed over this time in milliseconds, by their ids; default: the whole interval. */
  readonly jitterMs?: number
}

/** A scheduler as it stands in the queue. */
interface Stored {
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
const mostSchedulers = 100_000

/** Id of a scheduler. */
export const schedulerIdOf = ({ id, job }: Scheduler): string => id ?? jobIdOf(job.name, job.data)

/**
 * Offset of a scheduler within its interval, in milliseconds from 1 to the smaller of jitter and interval. Derived from its id only: it is the
 * same across restarts and processes, and a thousand sellers do not poll at the same moment.
 */
export const offsetMsOf = (id: string, everyMs: number, jitterMs: number = everyMs): number => {
  const spread = Math.max(1, Math.min(jitterMs, everyMs) - 1)
  return 1 + (createHash('sha256').update(id).digest().readUInt32BE(0) % spread)
}

const sameWork = (name: JobName, wanted: Readonly<Record<string, string>>, data: unknown): boolean => {
  if (typeof data !== 'object' || data === null) return false
  const entries = Object.entries(data).map(([key, value]): [string, string] => [key, String(value)])
  return jobIdOf(name, Object.fromEntries(entries)) === jobIdOf(name, wanted) && entries.length === Object.keys(wanted).length
}

const standsAsWanted = (stored: Stored, wanted: Scheduler, nowMs: number): boolean =>
  stored.queue === jobDefinitions[wanted.job.name].queue &&
  stored.name === wanted.job.name &&
  stored.everyMs === wanted.everyMs &&
  stored.offsetMs === offsetMsOf(stored.id, wanted.everyMs, wanted.jitterMs) &&
  sameWork(wanted.job.name, wanted.job.data, stored.data) &&
  stored.nextAt !== null &&
  // Neither lost nor beyond its interval, as after a clock that was set back.
  stored.nextAt.getTime() > nowMs - wanted.everyMs - lateMs &&
  stored.nextAt.getTime() <= nowMs + wanted.everyMs + lateMs

/** The schedulers in the queues. Each creates ticks; a tick enqueues the job that it represents, so that no job exists twice. */
export const createSchedulers = ({ backend, timeoutMs }: { readonly backend: QueueBackend; readonly timeoutMs: number }) => {
  const guarded = <Result>(work: Promise<Result>): Promise<Result> =>
    withDeadline(work, timeoutMs, 'reading or changing schedulers')

  const listOf = async (queue: QueueName): Promise<readonly Stored[]> => {
    const found = await backend.queue(queue).getJobSchedulers(0, mostSchedulers)
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

  const list = async (): Promise<readonly Stored[]> => (await guarded(Promise.all(queueNames.map(listOf)))).flat()

  const make = async (queue: Queue, scheduler: Scheduler): Promise<void> => {
    const id = schedulerIdOf(scheduler)
    const { everyMs, job } = scheduler
    await queue.upsertJobScheduler(
      id,
      { every: everyMs, offset: offsetMsOf(id, everyMs, scheduler.jitterMs) },
      { name: job.name, data: job.data, opts: { ...storedOptions, removeOnFail: true } },
    )
  }

  const upsert = async (scheduler: Scheduler, stored: Stored | undefined): Promise<'made' | 'kept'> => {
    if (stored !== undefined && standsAsWanted(stored, scheduler, Date.now())) return 'kept'
    const queue = backend.queue(jobDefinitions[scheduler.job.name].queue)
    // A changed interval or offset restarts the schedule; BullMQ would continue from the old one.
    if (stored !== undefined) await guarded(backend.queue(stored.queue).removeJobScheduler(stored.id))
    await guarded(make(queue, scheduler))
    return 'made'
  }

  return {
    /** Makes the schedulers exactly these; see `applySchedulers` of the runtime. */
    apply: async (wanted: readonly Scheduler[]): Promise<{ readonly made: number; readonly removed: number }> => {
      const stored = new Map((await list()).map((one) => [one.id, one]))
      let made = 0
      for (const scheduler of wanted) {
        const id = schedulerIdOf(scheduler)
        if ((await upsert(scheduler, stored.get(id))) === 'made') made += 1
        stored.delete(id)
      }
      const obsolete = [...stored.values()]
      for (const { queue, id } of obsolete) await guarded(backend.queue(queue).removeJobScheduler(id))
      return { made, removed: obsolete.length }
    },
  } as const
}
