import { z } from 'zod'
import { type Intervals, intervalSettings } from '../domain/sync/intervals.ts'
import { interval } from './parsers.ts'

/** The interval of each sync, by the variables of the resources. */
export const intervalEnvironment = z.object(Object.fromEntries(intervalSettings.map(({ variable }) => [variable, interval()])))

/** The intervals in the environment. */
export type IntervalValues = z.infer<typeof intervalEnvironment>

/** Every interval: that of its variable, or its default. */
export const readIntervals = (values: IntervalValues, isDemonstration: boolean): Intervals =>
  Object.fromEntries(
    intervalSettings.map(({ variable, ordinaryMs, demonstrationMs }) => [
      variable,
      values[variable] ?? (isDemonstration ? demonstrationMs : ordinaryMs),
    ]),
  )
