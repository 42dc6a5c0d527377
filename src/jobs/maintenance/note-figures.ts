import type { Intervals } from '../../domain/sync/intervals.ts'
import type { Database } from '../../store/db/database.ts'
import { readResourceLags } from '../../store/sync/sync-states.ts'
import { computeDailyFigures, readLastComputation, recordLags } from '../../store/trends/daily-figures.ts'
import { listPaces } from '../sync/engine/syncs.ts'

/** Figures of records are computed again after this time at the latest … */
const computeEveryMs = 3_600_000
/** … and earlier if that takes at most this share of the time: a small warehouse is up to date within minutes. */
const computeShare = 1 / 300
/** Days that are computed each time. */
const recentDays = 2
/** Days that are computed once a day: 90 days, and the 90 before them. */
const allDays = 190

/** Notes the lag of each sync for the trends, and the figures of the stored records. */
export const noteFigures = async (database: Database, intervals: Intervals, now: Date): Promise<void> => {
  const lags = await readResourceLags(database, listPaces(intervals))
  await recordLags(
    database,
    lags.flatMap(({ resource, lagMs }) => (lagMs === null ? [] : [{ resource, seconds: Math.round(lagMs / 1_000) }])),
  )
  const last = await readLastComputation(database)
  const dueAfterMs = Math.min(computeEveryMs, (last?.tookMs ?? 0) / computeShare)
  if (last !== null && now.getTime() - last.at.getTime() < dueAfterMs) return
  await computeDailyFigures(database, last === null ? allDays : recentDays)
}
