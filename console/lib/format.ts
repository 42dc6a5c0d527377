const padTwo = (number: number): string => String(number).padStart(2, '0')

/** A time in UTC, as `2026-03-01 09:30:00 UTC`. */
export const formatUtc = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** The time of day in the viewer's zone. */
export const formatTimeOfDay = (time: Date): string => time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })

/** The day in the viewer's zone, as `2026-03-01`. */
export const formatDay = (time: Date): string =>
  `${String(time.getFullYear()).padStart(4, '0')}-${padTwo(time.getMonth() + 1)}-${padTwo(time.getDate())}`

/** The beginning of a day such as `2026-03-01` in the viewer's zone, also if the clocks change at midnight; null: the text is not a day. */
export const findDayStart = (day: string): Date | null => {
  const time = new Date(`${day}T00:00:00`)
  return day === '' || Number.isNaN(time.getTime()) ? null : time
}

/** The end of the day of a time in the viewer's zone; `days` later ones with it. */
export const findDayEnd = (time: Date, days = 0): Date => new Date(time.getFullYear(), time.getMonth(), time.getDate() + 1 + days)

/** The beginning of a day, as `2026-11-29`, in a time zone. */
export const findZonedDayStart = (day: string, timeZone: string): Date => {
  const guess = Date.parse(`${day}T00:00:00Z`)
  // Swedish writes times as ISO 8601 does.
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(guess)
  return new Date(guess - (Date.parse(`${shown.replace(' ', 'T')}Z`) - guess))
}

/** A time in the viewer's zone; a time of today without its date. */
export const formatLocal = (time: Date, now: Date): string => {
  const timeOfDay = formatTimeOfDay(time)
  if (time.toDateString() === now.toDateString()) return timeOfDay
  const year = time.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return `${time.toLocaleDateString(undefined, { month: 'short', day: 'numeric', ...year })}, ${timeOfDay}`
}

/** A duration without its sign, as `2 h 05 min`. */
export const formatDuration = (milliseconds: number): string => {
  const minutes = Math.round(Math.abs(milliseconds) / 60_000)
  if (minutes < 1) return `${Math.round(Math.abs(milliseconds) / 1_000)} s`
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${padTwo(minutes % 60)} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** A number with separators. */
export const count = (number: number): string => number.toLocaleString()

/** A lower rate is shown in the next longer unit, so that it is not rounded to 0. A learned rate may be a little below its limit. */
const minRate = 0.95

/** A rate as `60 per minute`, `1 per hour` or `3 per day`. */
export const formatRate = (perMinute: number): string => {
  const perHour = perMinute * 60
  if (perMinute >= minRate) return `${count(Math.round(perMinute))} per minute`
  if (perHour >= minRate) return `${count(Math.round(perHour))} per hour`
  return `${count(Math.round(perHour * 24))} per day`
}

/** Money in the viewer's locale; without a currency, `''`, as a number. */
export const formatMoney = (amount: string, currency: string): string => {
  const value = Number(amount)
  if (currency === '' && Number.isFinite(value))
    return value.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 4 })
  if (!Number.isFinite(value) || !/^[A-Z]{3}$/.test(currency))
    return `${amount.replace(/^(-?\d+)(?:\.(\d))?$/, (_, whole, tenths = '0') => `${whole}.${tenths}0`)} ${currency}`.trimEnd()
  return value.toLocaleString(undefined, { style: 'currency', currency })
}

/** A number with its noun: `1 order`, `2 orders`. */
export const pluralize = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`
