import type { RateBudget } from '../clients/budget.ts'
import type { BudgetFigure } from '../domain/budget-figure.ts'
import { readReportedLimits, reportedForMs, reportLimits, withdrawLimits } from '../store/budget-figures.ts'
import type { Database } from '../store/database.ts'
import type { DaemonContext } from './context.ts'

/** A process reports how its limits stand this often … */
const reportEveryMs = 5_000
/** … and less often where it has many: one takes this part of the time. */
const reportEachMs = 2

/** How the rate limits stand, over all processes. */
export interface BudgetFigures {
  /** Of this process as they are now, of the others as they were some seconds ago. */
  read(): Promise<readonly BudgetFigure[]>
}

const nameOf = ({ sellerId, operation, scope }: BudgetFigure): string => JSON.stringify([sellerId, operation, scope])

/** Of several processes that know a bucket, the one that draws on it knows of less than those that have let it fill up. */
const knowsMore = (one: BudgetFigure, other: BudgetFigure): boolean =>
  one.available < other.available ||
  (one.available === other.available && (one.blockedUntil?.getTime() ?? 0) > (other.blockedUntil?.getTime() ?? 0))

/** One figure for each limit, from what several processes know. */
export const mergeLimits = (known: readonly BudgetFigure[]): readonly BudgetFigure[] => {
  const merged = new Map<string, BudgetFigure>()
  for (const limit of known) {
    const other = merged.get(nameOf(limit))
    if (other === undefined || knowsMore(limit, other)) merged.set(nameOf(limit), limit)
  }
  return [...merged.values()]
}

/** Reports to other processes through Postgres how the limits stand that this one uses, while that changes, and reads their reports. */
export const shareBudgetFigures = (
  { quiet, closers, owner }: Pick<DaemonContext, 'quiet' | 'closers' | 'owner'>,
  database: Database,
  budget: Pick<RateBudget, 'snapshot'>,
): BudgetFigures => {
  const own = (): readonly BudgetFigure[] => budget.snapshot().map(({ memory: _, ...limit }) => limit)
  let reported = { text: '[]', atMs: Number.NEGATIVE_INFINITY, everyMs: reportEveryMs }
  let reporting: Promise<void> | null = null
  const report = async (): Promise<void> => {
    const nowMs = performance.now()
    if (nowMs - reported.atMs < reported.everyMs) return
    const limits = own()
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
  closers.add('the figures of the rate budget', async () => {
    clearInterval(timer)
    await reporting
    if (reported.text === '[]') return
    await withdrawLimits(database, owner).catch((error: unknown) => {
      quiet.warn('budget-figures', { err: error }, 'the last report of this process on its rate limits cannot be removed')
    })
  })
  return { read: async () => mergeLimits([...own(), ...(await readReportedLimits(database, owner))]) }
}
