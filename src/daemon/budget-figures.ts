import type { RateBudget } from '../clients/budget.ts'
import { forgetLimits, readToldLimits, type ToldLimit, tellLimits, toldForMs } from '../store/budget-figures.ts'
import type { Database } from '../store/database.ts'
import type { DaemonContext } from './context.ts'

/** A process tells the others how its limits stand this often … */
const tellEveryMs = 5_000
/** … and less often where it has many: one takes this part of the time. */
const tellEachMs = 2

/** How the rate limits stand, over all processes. */
export interface BudgetFigures {
  /** Of this process as they are now, of the others as they were some seconds ago. */
  read(): Promise<readonly ToldLimit[]>
}

const nameOf = ({ sellerId, operation, scope }: ToldLimit): string => JSON.stringify([sellerId, operation, scope])

/** Of several processes that know a bucket, the one that draws on it knows of less than those that have let it fill up. */
const knowsMore = (one: ToldLimit, other: ToldLimit): boolean =>
  one.available < other.available ||
  (one.available === other.available && (one.blockedUntil?.getTime() ?? 0) > (other.blockedUntil?.getTime() ?? 0))

/** One figure for each limit, from what several processes know. */
export const mergeLimits = (known: readonly ToldLimit[]): readonly ToldLimit[] => {
  const merged = new Map<string, ToldLimit>()
  for (const limit of known) {
    const other = merged.get(nameOf(limit))
    if (other === undefined || knowsMore(limit, other)) merged.set(nameOf(limit), limit)
  }
  return [...merged.values()]
}

/** Tells other processes through Postgres how the limits stand that this one uses, while that changes, and reads what they tell. */
export const shareBudgetFigures = (
  { quiet, closers, owner }: Pick<DaemonContext, 'quiet' | 'closers' | 'owner'>,
  database: Database,
  budget: Pick<RateBudget, 'snapshot'>,
): BudgetFigures => {
  const own = (): readonly ToldLimit[] => budget.snapshot().map(({ memory: _, ...limit }) => limit)
  let told = { text: '[]', atMs: Number.NEGATIVE_INFINITY, everyMs: tellEveryMs }
  let telling: Promise<void> | null = null
  const tell = async (): Promise<void> => {
    const nowMs = performance.now()
    if (nowMs - told.atMs < told.everyMs) return
    const limits = own()
    const text = JSON.stringify(limits)
    if (limits.length === 0 || (text === told.text && nowMs - told.atMs < toldForMs / 2)) return
    try {
      await tellLimits(database, owner, limits)
      told = { text, atMs: nowMs, everyMs: Math.max(tellEveryMs, limits.length * tellEachMs) }
      quiet.recovered('budget-figures', 'other processes are told again how the rate limits stand')
    } catch (error) {
      quiet.warn('budget-figures', { err: error }, 'other processes cannot be told how the rate limits stand')
    }
  }
  const timer = setInterval(() => {
    telling ??= tell().finally(() => {
      telling = null
    })
  }, tellEveryMs)
  closers.add('the figures of the rate budget', async () => {
    clearInterval(timer)
    await telling
    if (told.text === '[]') return
    await forgetLimits(database, owner).catch((error: unknown) => {
      quiet.warn('budget-figures', { err: error }, 'other processes cannot be told that this one ends')
    })
  })
  return { read: async () => mergeLimits([...own(), ...(await readToldLimits(database, owner))]) }
}
