import { tzOffset } from '@date-fns/tz'

/** Days and months of a marketplace, which begin at midnight in its time zone. */
export interface Calendar {
  /** The time zone by its IANA name. */
  readonly zone: string
  /**
   * The moment at which a calendar day (`YYYY-MM-DD`) strikes a full hour: one that daylight saving skips is the one after it.
   * @throws RangeError when `day` is no calendar day
   */
  hour(day: string, hour: number): Date
  /**
   * The moment at which a calendar day begins.
   * @throws RangeError when `day` is no calendar day
   */
  midnight(day: string): Date
  /** The calendar day of a moment, as `YYYY-MM-DD`. */
  formatDay(instant: Date): string
  /** The month of a moment, as `YYYY-MM`. */
  formatMonth(instant: Date): string
  /**
   * The midnights between which a month (`YYYY-MM`) lies; `to`, the next month's first, is not part of it.
   * @throws RangeError when `month` is no month
   */
  monthBounds(month: string): { readonly from: Date; readonly to: Date }
}

const dayText = /^(\d{4})-(\d{2})-(\d{2})$/
const monthText = /^(\d{4})-(\d{2})$/

const partsOfDay = (day: string): readonly [year: number, month: number, day: number] => {
  const [, year, month, date] = dayText.exec(day) ?? []
  // A day that does not exist would silently become another one.
  if (year === undefined || new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) !== true) {
    throw new RangeError(`${day} is no calendar day (YYYY-MM-DD)`)
  }
  return [Number(year), Number(month), Number(date)]
}

const partsOfMonth = (month: string): readonly [year: number, month: number] => {
  const [, year, number] = monthText.exec(month) ?? []
  if (year === undefined || Number(number) < 1 || Number(number) > 12) throw new RangeError(`${month} is no month (YYYY-MM)`)
  return [Number(year), Number(number)]
}

/** The day of an instant in UTC, as `YYYY-MM-DD`. */
export const toUtcDay = (instant: Date): string => instant.toISOString().slice(0, 'yyyy-mm-dd'.length)

/**
 * The calendar day so many days later, or earlier when `days` is negative.
 * @throws RangeError when `day` is no calendar day
 */
export const addDays = (day: string, days: number): string => {
  const [year, month, date] = partsOfDay(day)
  return new Date(Date.UTC(year, month - 1, date + days)).toISOString().slice(0, 10)
}

/**
 * The month so many months later, or earlier when `months` is negative.
 * @throws RangeError when `month` is no month
 */
export const addMonths = (month: string, months: number): string => {
  const [year, number] = partsOfMonth(month)
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7)
}

/** The calendar of a time zone, daylight saving included. */
export const calendar = (zone: string): Calendar => {
  const offsetMs = (instant: number): number => tzOffset(zone, new Date(instant)) * 60_000
  // A moment by its wall clock. A day beyond the end of the month runs on into the next; an hour skipped by daylight saving is the one after it.
  const wallTime = (year: number, month: number, day: number, hour: number): Date => {
    const asUtc = Date.UTC(year, month - 1, day, hour)
    const near = asUtc - offsetMs(asUtc)
    const exact = asUtc - offsetMs(near)
    return new Date(exact + offsetMs(exact) === asUtc ? exact : near)
  }
  const hour = (day: string, at: number): Date => wallTime(...partsOfDay(day), at)
  const formatDay = (instant: Date): string =>
    new Date(instant.getTime() + offsetMs(instant.getTime())).toISOString().slice(0, 'YYYY-MM-DD'.length)
  return {
    zone,
    hour,
    midnight: (day) => hour(day, 0),
    formatDay,
    formatMonth: (instant) => formatDay(instant).slice(0, 'YYYY-MM'.length),
    monthBounds: (month) => ({
      from: wallTime(...partsOfMonth(month), 1, 0),
      to: wallTime(...partsOfMonth(addMonths(month, 1)), 1, 0),
    }),
  }
}
