const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/
const ZONE = /(Z|[+-]\d{2}:?\d{2})$/

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true
}

/** Epoch milliseconds of an ISO 8601 date-time, UTC where it names no zone, or of a day, whose midnight is UTC; `null` for anything else. */
export function parseMoment(text: string): number | null {
  if (!isDay(text.slice(0, 10))) return null
  const at = isDay(text) ? Date.parse(text) : MOMENT.test(text) ? Date.parse(ZONE.test(text) ? text : `${text}Z`) : Number.NaN
  return Number.isNaN(at) ? null : at
}
