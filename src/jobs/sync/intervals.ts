/** A setting that says how often something runs: its variable, and what holds where that is not set. */
export interface IntervalSetting<Variable extends string = string> {
  readonly variable: Variable
  readonly ordinaryMs: number
  /** Where a demonstration runs: whoever watches it does not want to wait a minute for each step. */
  readonly demonstrationMs: number
}

/** What the settings say, by their variables; `off`: never by itself. One that is left out is as it ordinarily is. */
export type Intervals = Readonly<Partial<Record<string, number | 'off'>>>

/** How often a stream runs by itself. */
export type Pace =
  /** So many times as seldom as its resource is polled, and no oftener than this. */
  | { readonly times: number; readonly leastMs: number }
  /** By a setting of its own: `always`, or only while its resource is polled. A start does not run it where it has succeeded within its interval. */
  | { readonly setting: IntervalSetting; readonly runs: 'always' | 'while polled'; readonly restsAfterRestart: boolean }

/** With every poll. */
export const everyPoll: Pace = { times: 1, leastMs: 0 }

/** Whether it runs less often than its resource is polled. */
export const isSeldom = (pace: Pace): boolean => 'setting' in pace || pace.times > 1

/** What the settings say of one of them. */
export const intervalOf = ({ variable, ordinaryMs }: IntervalSetting, intervals: Intervals): number | 'off' =>
  intervals[variable] ?? ordinaryMs

/** How often a stream of a resource runs. */
export const everyMsOf = (pace: Pace, poll: IntervalSetting, intervals: Intervals): number | 'off' => {
  const pollMs = intervalOf(poll, intervals)
  if ('setting' in pace) return pace.runs === 'while polled' && pollMs === 'off' ? 'off' : intervalOf(pace.setting, intervals)
  return pollMs === 'off' ? 'off' : Math.max(Math.round(pollMs * pace.times), pace.leastMs)
}
