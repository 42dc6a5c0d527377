import { InvalidArgumentError } from 'commander'
import { mostForecastHours } from '../domain/forecast.ts'

/** A point in time from a date (its midnight in UTC) or a date and time with its offset. @throws InvalidArgumentError */
export const parseMoment = (text: string): Date => {
  const dateOnly = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const withOffset = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  const moment = new Date(dateOnly ? `${text}T00:00:00Z` : text)
  // Date accepts the 30th of February as the 2nd of March.
  const real = dateOnly
    ? !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text)
    : !Number.isNaN(moment.getTime())
  if ((dateOnly || withOffset) && real) return moment
  throw new InvalidArgumentError('a date such as 2026-03-01, or a date and time such as 2026-03-01T09:30:00Z, is accepted.')
}

/** A whole number of at least 1. @throws InvalidArgumentError */
export const parseCount = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number of at least 1 is accepted.')
}

/** Hours that a forecast looks ahead. @throws InvalidArgumentError */
export const parseHours = (text: string): number => {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= mostForecastHours) return Number(text)
  throw new InvalidArgumentError(`a whole number from 1 to ${mostForecastHours} is accepted.`)
}

/** A month, `YYYY-MM`. @throws InvalidArgumentError */
export const parseMonth = (text: string): string => {
  if (/^20\d{2}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('a month such as 2026-03 is accepted.')
}

/** Seconds, zero allowed. @throws InvalidArgumentError */
export const parseSeconds = (text: string): number => {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number of seconds is accepted.')
}

const mostOverlapSeconds = 30 * 86_400

/** Seconds for which two secrets sign, up to thirty days. @throws InvalidArgumentError */
export const parseOverlap = (text: string): number => {
  if (/^\d{1,7}$/.test(text) && Number(text) <= mostOverlapSeconds) return Number(text)
  throw new InvalidArgumentError(`a whole number of seconds up to ${mostOverlapSeconds} is accepted.`)
}
