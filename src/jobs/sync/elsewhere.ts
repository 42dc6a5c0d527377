import { Throttled } from '../../clients/errors.ts'
import { hasSkips } from '../../store/quarantine.ts'
import { failuresOf, type SyncWindow } from '../../store/sync-states.ts'
import { fetchPage } from './fetching.ts'
import { longWindowMs } from './passes.ts'
import { failuresAgainstOthers } from './passing-over.ts'
import { dayMs } from './settings.ts'
import type { TimeRules } from './stream.ts'
import type { PagedRun } from './stream-run.ts'

/** No more records than this may all be spoilt; of more than these it is an outage when none is answered for. */
const fewWitnesses = 2
/** How far from a window that cannot be read another one is asked for, to distinguish a spoilt page from an outage of everything. */
const elsewhereMs = [3_600_000, dayMs, 7 * dayMs]

/**
 * How the marketplace answers for something else than a window. An answer that there is nothing proves little: whoever renders rows may
 * be down. So records are asked for that are known; only where none is, where they are in no list any more, or where the few there are may
 * be spoilt themselves, an empty answer counts.
 */
export const answerElsewhere = async <T>(
  run: PagedRun<T>,
  time: TimeRules,
  window: SyncWindow,
): Promise<'with rows' | 'without rows' | 'none'> => {
  const { calls } = run
  const witnesses = await time.witnesses(run.context, window)
  let answered = witnesses.length === 0
  for (const witness of witnesses) {
    const [answer] = await Promise.allSettled([witness(calls)])
    if (answer.status === 'fulfilled' && answer.value.records.length > 0) return 'with rows'
    answered ||= answer.status === 'fulfilled'
    if (answer.status === 'rejected' && (answer.reason instanceof Throttled || calls.signal.aborted)) return 'none'
  }
  answered ||= witnesses.length <= fewWitnesses && (await maySpoilWhatIsKnown(run))
  return answered && (await answersElsewhere(run, window)) ? 'without rows' : 'none'
}

/** Whether what is known fails perhaps because a record spoils it, and not because of an outage. */
const maySpoilWhatIsKnown = async <T>({ context: { database }, key }: PagedRun<T>): Promise<boolean> =>
  (await failuresOf(database, key)) >= failuresAgainstOthers || (await hasSkips(database, key.sellerId, key.resource))

/** Whether the marketplace answers for a second outside of a window, or of a long one. An answer that there is nothing is one. */
const answersElsewhere = async <T>(run: PagedRun<T>, { from, to, part }: SyncWindow): Promise<boolean> => {
  const nowMs = run.context.client.clock().now().getTime()
  const lengthMs = to.getTime() - from.getTime()
  const starts = [
    ...elsewhereMs.map((awayMs) => from.getTime() - awayMs),
    ...elsewhereMs.map((awayMs) => to.getTime() + awayMs).filter((startMs) => startMs < nowMs - 1_000),
    ...(lengthMs > longWindowMs ? [0.25, 0.5, 0.75].map((share) => from.getTime() + Math.floor(lengthMs * share)) : []),
  ]
  for (const startMs of starts) {
    const second = Math.floor(startMs / 1_000) * 1_000
    const other = { from: new Date(second), to: new Date(second + 1_000), part }
    const reached = run.stream.reach(run.context, other)
    if (reached === null) continue
    const answer = await fetchPage(run, { ...other, ...reached, limit: 1 }, null)
    if (answer.status === 'fulfilled') return true
    if (answer.reason instanceof Throttled || run.options.signal.aborted) return false
  }
  return false
}
