import { InvalidArgumentError } from 'commander'
import { maxForecastHours } from '../domain/commands/forecast-answer.ts'

/** A time from a date (its midnight in UTC) or a date and time with its offset. @throws InvalidArgumentError */
export const parseTime = (text: string): Date => {
  const dateOnly = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const withOffset = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  const time = new Date(dateOnly ? `${text}T00:00:00Z` : text)
  // Date accepts the 30th of February as the 2nd of March.
  const exists = dateOnly ? !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text) : !Number.isNaN(time.getTime())
  if ((dateOnly || withOffset) && exists) return time
  throw new InvalidArgumentError('a date such as 2026-03-01, or a date and time such as 2026-03-01T09:30:00Z, is accepted.')
}

/** A whole number of at least 1. @throws InvalidArgumentError */
export const parseCount = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number of at least 1 is accepted.')
}

/** Hours of a forecast. @throws InvalidArgumentError */
export const parseHours = (text: string): number => {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= maxForecastHours) return Number(text)
  throw new InvalidArgumentError(`a whole number from 1 to ${maxForecastHours} is accepted.`)
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

const maxOverlapSeconds = 30 * 86_400

/** Seconds for which the old and the new secret are valid, up to thirty days. @throws InvalidArgumentError */
export const parseOverlap = (text: string): number => {
  if (/^\d{1,7}$/.test(text) && Number(text) <= maxOverlapSeconds) return Number(text)
  throw new InvalidArgumentError(`a whole number of seconds up to ${maxOverlapSeconds} is accepted.`)
}
