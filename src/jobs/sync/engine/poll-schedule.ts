import type { QueueRuntime } from '../../../queues/runtime.ts'
import type { Scheduler } from '../../../queues/schedulers.ts'
import type { Database } from '../../../store/db/database.ts'
import { findServedSellers, readInactiveSellers } from '../../../store/sellers/sellers.ts'
import { findDueStreams, type PolledStream } from './poll.ts'
import type { StreamInterval } from './syncs.ts'

/** Intervals at which the schedulers are counted, and compared one by one. */
const countEveryMs = 2_500
const compareEveryMs = 300_000
/** After the machine's clock was set back, the schedulers are compared each time for this long. */
const unsettledMs = 60_000
/** Delay between the first polls after a start; together at most one interval. */
const firstSpreadMs = 100

/** What the scheduled streams depend on. */
export interface ScheduledStreamsParts {
  readonly sellerIds: readonly string[]
  /** The resources that a seller has. */
  readonly listResources: (sellerId: string) => readonly string[]
  /** The scheduled streams of a resource. */
  readonly listIntervals: (resource: string) => readonly StreamInterval[]
}

/** Every scheduled stream of every seller. */
export const listScheduledStreams = ({
  sellerIds,
  listResources,
  listIntervals,
}: ScheduledStreamsParts): readonly PolledStream[] =>
  sellerIds.flatMap((sellerId) =>
    listResources(sellerId).flatMap((resource) =>
      listIntervals(resource).map((interval) => ({ sellerId, resource, ...interval })),
    ),
  )

/** Dependencies of the poll schedule. */
export interface PollScheduleParts {
  readonly database: Database
  readonly runtime: Pick<QueueRuntime, 'applySchedulers' | 'countSchedulers' | 'enqueueMany'>
  /** Scheduled streams of the sellers that are assigned to this process. */
  readonly polled: () => readonly PolledStream[]
  readonly worksFor: (sellerId: string) => boolean
  /** Schedulers that do not belong to a seller. */
  readonly others: readonly Scheduler[]
}

/** Maintains one job scheduler in the queue `polls` for each resource of each seller. */
export interface PollSchedule {
  /** Updates the schedulers to the sellers; cheap while nothing has changed. @throws errors of Postgres and the queues */
  keep(): Promise<void>
  /** The sellers or their resources may have changed: the next `keep` compares all schedulers. */
  changed(): void
  /** The machine's clock was set back: schedulers may wait for times of the old clock, and are compared each time for a while. */
  clockSetBack(): void
}

/** The name of a scheduler in the queue `polls`: `{sellerId}:{resource}`. */
const buildPollSchedulerId = ({ sellerId, resource }: Pick<PolledStream, 'sellerId' | 'resource'>): string =>
  `${sellerId}:${resource}`

/** One scheduler for each resource of a seller, at the interval of its most frequent stream. */
const listSchedulers = (streams: readonly PolledStream[]): readonly Scheduler[] =>
  [...Map.groupBy(streams, buildPollSchedulerId)].flatMap(([id, [first, ...others]]) => {
    if (first === undefined) return []
    const { sellerId, resource } = first
    const everyMs = others.reduce((shortestMs, other) => Math.min(shortestMs, other.everyMs), first.everyMs)
    return [{ id, job: { name: 'poll.run', data: { sellerId, resource } }, everyMs }]
  })

const findSellerId = (data: unknown): string | null =>
  typeof data === 'object' && data !== null && 'sellerId' in data && typeof data.sellerId === 'string' ? data.sellerId : null

/**
 * Creates the schedule. A seller that is stopped, paused or removed has no schedulers. Schedulers of sellers that are assigned only to other processes
 * are not changed. A stream that this process schedules for the first time is polled immediately if it is due.
 */
export const createPollSchedule = ({ database, runtime, polled, worksFor, others }: PollScheduleParts): PollSchedule => {
  let isChanged = true
  let unsettledUntilMs = 0
  let comparedAtMs = 0
  let countedAtMs = 0
  let total = 0
  let scheduled: ReadonlySet<string> = new Set()

  const isUnchanged = async (): Promise<boolean> => {
    const nowMs = performance.now()
    if (isChanged || nowMs - comparedAtMs >= compareEveryMs) return false
    if (nowMs - countedAtMs < countEveryMs) return true
    if (nowMs < unsettledUntilMs) return false
    countedAtMs = nowMs
    // The queues may have been emptied.
    return (await runtime.countSchedulers()) === total
  }

  const pollFirst = async (streams: readonly PolledStream[]): Promise<void> => {
    const { run, enqueue } = await findDueStreams(database, streams)
    const dueIds = new Set([...run, ...enqueue].map(buildPollSchedulerId))
    const due = listSchedulers(streams.filter((stream) => dueIds.has(buildPollSchedulerId(stream))))
    await runtime.enqueueMany(
      due.map(({ job, everyMs }, place) => ({ ...job, delayMs: place * Math.min(firstSpreadMs, everyMs / due.length) })),
    )
  }

  const compare = async (): Promise<void> => {
    const [atRest, served] = [await readInactiveSellers(database), await findServedSellers(database)]
    const wanted = polled().filter(({ sellerId }) => !atRest.has(sellerId))
    const applied = await runtime.applySchedulers([...others, ...listSchedulers(wanted)], (data) => {
      const sellerId = findSellerId(data)
      return sellerId === null || worksFor(sellerId) || atRest.has(sellerId) || !served.has(sellerId)
    })
    total = applied.total
    await pollFirst(wanted.filter((stream) => !scheduled.has(buildPollSchedulerId(stream))))
    scheduled = new Set(wanted.map(buildPollSchedulerId))
  }

  return {
    changed: () => {
      isChanged = true
    },
    clockSetBack: () => {
      isChanged = true
      // A job that waits already sets the next time of its scheduler by the old clock when it starts.
      unsettledUntilMs = performance.now() + unsettledMs
    },
    keep: async () => {
      if (await isUnchanged()) return
      isChanged = false
      try {
        await compare()
        comparedAtMs = performance.now()
        countedAtMs = comparedAtMs
      } catch (error) {
        isChanged = true
        throw error
      }
    },
  }
}
