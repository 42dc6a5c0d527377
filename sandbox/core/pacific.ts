import { TZDate } from '@date-fns/tz'
import { dayMs } from './duration.ts'

const zone = 'America/Los_Angeles'

/** A calendar month of the Pacific zone, its bounds in epoch milliseconds; `to` is the next month's first instant. */
export interface Month {
  /** `YYYY-MM`. */
  readonly name: string
  readonly from: number
  readonly to: number
}

/** What was worked out before: rules of daylight saving are dear to look up, and the same days are asked for again and again. */
const hours = new Map<string, number>()

/** The moment at which a Pacific day (`YYYY-MM-DD`) reaches this hour; daylight saving is seen to. */
export const pacificHour = (day: string, hour: number): number => {
  const key = `${day} ${hour}`
  const known = hours.get(key)
  if (known !== undefined) return known
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const at = new TZDate(year, month - 1, date, hour, zone).getTime()
  hours.set(key, at)
  return at
}

/** The first instant of a Pacific day. */
export const pacificMidnight = (day: string): number => pacificHour(day, 0)

/** The Pacific day, `YYYY-MM-DD`, of a moment. */
export const pacificDay = (at: number): string => {
  const date = new TZDate(at, zone)
  return `${buildName(date.getFullYear(), date.getMonth())}-${String(date.getDate()).padStart(2, '0')}`
}

/** The day this number of days later (earlier if negative), both `YYYY-MM-DD`. */
export const dayAfter = (day: string, days = 1): string => new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)

/** The month by its name, `YYYY-MM`. */
export const pacificMonth = (name: string): Month => ({
  name,
  from: pacificMidnight(`${name}-01`),
  to: pacificMidnight(`${monthAfter(name, 1)}-01`),
})

/** The month of a moment. */
export const findMonth = (at: number): Month => pacificMonth(pacificDay(at).slice(0, 7))

/** The name of the month this number of months later (earlier if negative). */
export const monthAfter = (name: string, months: number): string => {
  const [year = 0, month = 1] = name.split('-').map(Number)
  const count = year * 12 + month - 1 + months
  return buildName(Math.floor(count / 12), count % 12)
}

const buildName = (year: number, month: number): string =>
  `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}`
