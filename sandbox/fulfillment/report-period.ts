import { dayAfter, type Month, pacificDay, pacificHour, pacificMidnight } from '../core/pacific.ts'
import { hashWords } from '../core/random.ts'
import type { ReportPeriod } from './store.ts'

/** Reports are generated at this hour, Pacific time (specification, Limits). */
const generatedAtHour = 7

/** One daily making of the reports. */
export interface Generation {
  readonly at: number
  /** Every transaction before this Pacific midnight is counted. */
  readonly coveredUntil: number
}

/** The latest making of the reports at a moment. */
export const generationAt = (now: number): Generation => {
  const today = pacificDay(now)
  const day = pacificHour(today, generatedAtHour) <= now ? today : dayAfter(today, -1)
  return { at: pacificHour(day, generatedAtHour), coveredUntil: pacificMidnight(day) }
}

/** What the report of a month counts at a moment; `null` when none was made of it yet. */
export const findPeriod = (month: Month, now: number): ReportPeriod | null => {
  const { at, coveredUntil } = generationAt(now)
  if (month.from > coveredUntil) return null
  return { from: month.from, to: Math.min(month.to, coveredUntil), generatedAt: at }
}

/** The name of the file: the moment at which it was made, with underscores (public facts, section 7.2). */
export const buildFileName = ({ generatedAt }: ReportPeriod): string => {
  const made = new Date(generatedAt + (hashWords('report', generatedAt) % 1_000)).toISOString()
  return `InventoryReconciliationReport_${made.replaceAll(':', '_')}.csv`
}
