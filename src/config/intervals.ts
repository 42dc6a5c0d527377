import { z } from 'zod'
import type { Intervals } from '../jobs/sync/intervals.ts'
import { intervalSettings } from '../jobs/sync/resources.ts'
import { interval } from './parsers.ts'

/** How often each sync runs by itself, by the variables that the resources name. */
export const intervalEnvironment = z.object(Object.fromEntries(intervalSettings.map(({ variable }) => [variable, interval()])))

/** What the environment says of them. */
export type IntervalValues = z.infer<typeof intervalEnvironment>

/** Every interval: the variable's, or what holds where it is not set. */
export const readIntervals = (values: IntervalValues, isDemonstration: boolean): Intervals =>
  Object.fromEntries(
    intervalSettings.map(({ variable, ordinaryMs, demonstrationMs }) => [
      variable,
      values[variable] ?? (isDemonstration ? demonstrationMs : ordinaryMs),
    ]),
  )
