import { toInteger } from '../core/database.ts'
import { dayMs } from '../core/duration.ts'
import { type Cents, computeShare } from '../core/money.ts'
import { dayAfter, pacificDay, pacificMidnight } from '../core/pacific.ts'
import type { World } from '../world.ts'

/** Days of the period of a report. */
export const periodDays = 14
const commissionPercent = 15
/** A Saturday, from which the periods are counted. */
const firstDay = '2020-01-04'

/** The day after the period in which a moment lies: it names the report. */
export const formatReportDate = (at: number): string => {
  const days = Math.round((Date.parse(pacificDay(at)) - Date.parse(firstDay)) / dayMs)
  return dayAfter(firstDay, (Math.floor(days / periodDays) + 1) * periodDays)
}

/** Reports of periods that are over and in which money was moved, oldest first. */
export const findReportDays = (world: World, sellerId: string, now: number): readonly string[] => {
  const moments = world.database.all(
    `SELECT DISTINCT at FROM effects WHERE seller_id = ? AND kind IN ('shipped', 'refunded')
     UNION SELECT at FROM reimbursements WHERE seller_id = ? ORDER BY at`,
    sellerId,
    sellerId,
  )
  const days = new Set(moments.map((row) => formatReportDate(toInteger(row, 'at'))))
  return [...days].filter((day) => pacificMidnight(day) <= now)
}

/** The commission on a price, negative. */
export const commissionOn = (price: Cents): Cents => -computeShare(price, commissionPercent, 100)
