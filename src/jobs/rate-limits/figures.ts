import type { RateBudget } from '../../clients/rate-limit/budget.ts'
import type { RateLimitSnapshot } from '../../domain/values/rate-limit-snapshot.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Database } from '../../store/db/database.ts'
import { readReportedLimits, reportedForMs, reportLimits, withdrawLimits } from '../../store/sellers/reported-limits.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'

/** A process reports how its limits stand this often … */
const reportEveryMs = 5_000
/** … and less often where it has many: one takes this part of the time. */
const reportEachMs = 2

/** How the rate limits stand, over all processes. */
export interface BudgetFigures {
  /** Of this process as they are now, of the others as they were some seconds ago. */
  read(): Promise<readonly RateLimitSnapshot[]>
}

const buildName = ({ sellerId, operation, scope }: RateLimitSnapshot): string => JSON.stringify([sellerId, operation, scope])

/** Of several processes that know a bucket, the one that draws on it knows of less than those that have let it fill up. */
const knowsMore = (one: RateLimitSnapshot, other: RateLimitSnapshot): boolean =>
  one.available < other.available ||
  (one.available === other.available && (one.blockedUntil?.getTime() ?? 0) > (other.blockedUntil?.getTime() ?? 0))

/** One figure for each limit, from what several processes know. */
export const mergeLimits = (known: readonly RateLimitSnapshot[]): readonly RateLimitSnapshot[] => {
  const merged = new Map<string, RateLimitSnapshot>()
  for (const limit of known) {
    const other = merged.get(buildName(limit))
    if (other === undefined || knowsMore(limit, other)) merged.set(buildName(limit), limit)
  }
  return [...merged.values()]
}

/** Reports to other processes through Postgres how the limits stand that this one uses, while that changes, and reads their reports. */
export const shareBudgetFigures = (
  { quiet, shutdownHooks, owner }: { readonly quiet: QuietLog; readonly shutdownHooks: ShutdownHooks; readonly owner: string },
  database: Database,
  budget: Pick<RateBudget, 'snapshot'>,
): BudgetFigures => {
  let reported = { text: '[]', atMs: Number.NEGATIVE_INFINITY, everyMs: reportEveryMs }
  let reporting: Promise<void> | null = null
  const report = async (): Promise<void> => {
    const nowMs = performance.now()
    if (nowMs - reported.atMs < reported.everyMs) return
    const limits = budget.snapshot()
    const text = JSON.stringify(limits)
    if (limits.length === 0 || (text === reported.text && nowMs - reported.atMs < reportedForMs / 2)) return
    try {
      await reportLimits(database, owner, limits)
      reported = { text, atMs: nowMs, everyMs: Math.max(reportEveryMs, limits.length * reportEachMs) }
      quiet.recovered('budget-figures', 'how the rate limits stand is reported to other processes again')
    } catch (error) {
      quiet.warn('budget-figures', { err: error }, 'how the rate limits stand cannot be reported to other processes')
    }
  }
  const timer = setInterval(() => {
    reporting ??= report().finally(() => {
      reporting = null
    })
  }, reportEveryMs)
  shutdownHooks.add('the figures of the rate budget', async () => {
    clearInterval(timer)
    await reporting
    if (reported.text === '[]') return
    await withdrawLimits(database, owner).catch((error: unknown) => {
      quiet.warn('budget-figures', { err: error }, 'the last report of this process on its rate limits cannot be removed')
    })
  })
  return { read: async () => mergeLimits([...budget.snapshot(), ...(await readReportedLimits(database, owner))]) }
}
