const two = (number: number): string => String(number).padStart(2, '0')

/** A moment in UTC, as `2026-03-01 09:30:00 UTC`. */
export const inUtc = (moment: Date): string => `${moment.toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** The time of day of a moment in the viewer's zone. */
export const timeOf = (moment: Date): string => moment.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })

/** The day of a moment in the viewer's zone, as `2026-03-01`. */
export const dayOf = (moment: Date): string =>
  `${String(moment.getFullYear()).padStart(4, '0')}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`

/** The first moment of a day such as `2026-03-01` in the viewer's zone, also where the clocks are changed at midnight; null: it is no day. */
export const beginningOf = (day: string): Date | null => {
  const moment = new Date(`${day}T00:00:00`)
  return day === '' || Number.isNaN(moment.getTime()) ? null : moment
}

/** A moment in the viewer's zone: today's by its time alone. */
export const inZone = (moment: Date, now: Date): string => {
  const time = timeOf(moment)
  if (moment.toDateString() === now.toDateString()) return time
  const year = moment.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return `${moment.toLocaleDateString(undefined, { month: 'short', day: 'numeric', ...year })}, ${time}`
}

/** A time span, as `2 h 05 min`; the sign is left out. */
export const span = (milliseconds: number): string => {
  const minutes = Math.round(Math.abs(milliseconds) / 60_000)
  if (minutes < 1) return `${Math.round(Math.abs(milliseconds) / 1_000)} s`
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${two(minutes % 60)} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** A count with separators. */
export const count = (number: number): string => number.toLocaleString()

/** Money, in the viewer's way of writing it. */
export const money = (amount: string, currency: string): string => {
  const value = Number(amount)
  if (!Number.isFinite(value) || !/^[A-Z]{3}$/.test(currency)) return `${amount} ${currency}`
  return value.toLocaleString(undefined, { style: 'currency', currency })
}

/** Several things with their word: `1 order`, `2 orders`. */
export const several = (number: number, one: string, many = `${one}s`): string => `${count(number)} ${number === 1 ? one : many}`
