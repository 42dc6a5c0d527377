/** A time of day at the end, perhaps with the year behind it as C writes it, but no zone. */
const endsWithoutZone = /[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: \d{4})?$/i

/**
 * A moment that a header names, in epoch ms; NaN when it is none. Without a zone it is UTC, as all times of HTTP are: `Date` would take it for one of
 * the zone in which this machine happens to stand.
 */
export const headerMomentMs = (text: string): number => {
  const moment = text.trim()
  return Date.parse(endsWithoutZone.test(moment) ? `${moment}Z` : moment)
}
