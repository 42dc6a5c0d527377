/** A time of day at the end without a zone, perhaps followed by a year as C formats it. */
const endsWithoutZone = /[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: \d{4})?$/i

/**
 * The date in a header, in epoch ms; NaN if it is unreadable. Without a zone it is UTC, as all times of HTTP: `Date` would use the zone of this machine.
 */
export const parseHeaderDateMs = (text: string): number => {
  const date = text.trim()
  return Date.parse(endsWithoutZone.test(date) ? `${date}Z` : date)
}
