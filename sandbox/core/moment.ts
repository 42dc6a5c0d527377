const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/
const zone = /(Z|[+-]\d{2}:?\d{2})$/

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true

/** Epoch milliseconds of an ISO 8601 date-time, UTC where it names no zone, or of a day, whose midnight is UTC; `null` for anything else. */
export const parseMoment = (text: string): number | null => {
  if (!isDay(text.slice(0, 10))) return null
  const at = isDay(text) ? Date.parse(text) : moment.test(text) ? Date.parse(zone.test(text) ? text : `${text}Z`) : Number.NaN
  return Number.isNaN(at) ? null : at
}
