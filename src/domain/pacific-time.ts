import { tzOffset } from '@date-fns/tz'

/**
 * The calendar of inventory reports. A month or a day of theirs begins at midnight in the Pacific time zone: the specification says "7 am PST"
 * and "midnight of the previous day" (its notes on the report's refresh), which is interpreted as Pacific local time, with daylight saving.
 */

/** The Pacific time zone by its IANA name. */
const pacificZone = 'America/Los_Angeles'

const dayText = /^(\d{4})-(\d{2})-(\d{2})$/
const monthText = /^(\d{4})-(\d{2})$/

const offsetMs = (instant: number): number => tzOffset(pacificZone, new Date(instant)) * 60_000

/** A moment by its wall clock. A day beyond the end of the month runs on into the next; an hour skipped by daylight saving is the one after it. */
const wallTime = (year: number, month: number, day: number, hour: number): Date => {
  const asUtc = Date.UTC(year, month - 1, day, hour)
  const near = asUtc - offsetMs(asUtc)
  const exact = asUtc - offsetMs(near)
  return new Date(exact + offsetMs(exact) === asUtc ? exact : near)
}

const dayOf = (day: string): readonly [year: number, month: number, day: number] => {
  const [, year, month, date] = dayText.exec(day) ?? []
  // A day that does not exist would silently become another one.
  if (year === undefined || new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) !== true) {
    throw new RangeError(`${day} is no calendar day (YYYY-MM-DD)`)
  }
  return [Number(year), Number(month), Number(date)]
}

const monthOf = (month: string): readonly [year: number, month: number] => {
  const [, year, number] = monthText.exec(month) ?? []
  if (year === undefined || Number(number) < 1 || Number(number) > 12) throw new RangeError(`${month} is no month (YYYY-MM)`)
  return [Number(year), Number(number)]
}

/**
 * The moment at which a Pacific calendar day strikes a full hour: two o'clock on the day that has none is three o'clock.
 * @throws RangeError when `day` is no calendar day
 */
export const pacificHour = (day: string, hour: number): Date => wallTime(...dayOf(day), hour)

/**
 * The moment at which a Pacific calendar day (`YYYY-MM-DD`) begins.
 * @throws RangeError when `day` is no calendar day
 */
export const pacificMidnight = (day: string): Date => pacificHour(day, 0)

/** The Pacific calendar day of a moment, as `YYYY-MM-DD`. */
export const pacificDay = (instant: Date): string =>
  new Date(instant.getTime() + offsetMs(instant.getTime())).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** The Pacific month of a moment, as `YYYY-MM`. */
export const pacificMonth = (instant: Date): string => pacificDay(instant).slice(0, 7)

/**
 * The calendar day so many days later, or earlier when `days` is negative.
 * @throws RangeError when `day` is no calendar day
 */
export const addDays = (day: string, days: number): string => {
  const [year, month, date] = dayOf(day)
  return new Date(Date.UTC(year, month - 1, date + days)).toISOString().slice(0, 10)
}

/**
 * The month so many months later, or earlier when `months` is negative.
 * @throws RangeError when `month` is no month
 */
export const addMonths = (month: string, months: number): string => {
  const [year, number] = monthOf(month)
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7)
}

/**
 * Pacific midnights between which a month (`YYYY-MM`) lies; `to`, the next month's first, is not part of it.
 * @throws RangeError when `month` is no month
 */
export const monthBounds = (month: string): { readonly from: Date; readonly to: Date } => ({
  from: wallTime(...monthOf(month), 1, 0),
  to: wallTime(...monthOf(addMonths(month, 1)), 1, 0),
})
