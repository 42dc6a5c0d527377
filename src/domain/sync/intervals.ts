import { alarmThresholds } from '../alarms/alarm-rules.ts'

/** A setting that says how often something runs: its variable, and what holds where that is not set. */
export interface IntervalSetting<Variable extends string = string> {
  readonly variable: Variable
  readonly ordinaryMs: number
  /** In a demonstration: its steps are visible within seconds. */
  readonly demonstrationMs: number
}

/**
 * How often each resource is polled. `orderSweep`: how often every open order is read by its id. `reread`: how often records that were created
 * lately are read again, where their resource is polled.
 */
export const pollIntervals = {
  orders: { variable: 'POLL_ORDERS', ordinaryMs: 60_000, demonstrationMs: 5_000 },
  orderSweep: { variable: 'POLL_ORDER_SWEEP', ordinaryMs: 86_400_000, demonstrationMs: 86_400_000 },
  reread: { variable: 'REREAD_EVERY', ordinaryMs: 86_400_000, demonstrationMs: 86_400_000 },
  returns: { variable: 'POLL_RETURNS', ordinaryMs: 900_000, demonstrationMs: 30_000 },
  reconciliation: { variable: 'POLL_RECONCILIATION', ordinaryMs: 900_000, demonstrationMs: 60_000 },
  taxonomies: { variable: 'POLL_TAXONOMIES', ordinaryMs: 86_400_000, demonstrationMs: 300_000 },
  contextualTargets: { variable: 'POLL_CONTEXTUAL_TARGETS', ordinaryMs: 86_400_000, demonstrationMs: 300_000 },
  behavioralAudiences: { variable: 'POLL_BEHAVIORAL_AUDIENCES', ordinaryMs: 86_400_000, demonstrationMs: 300_000 },
  campaigns: { variable: 'POLL_CAMPAIGNS', ordinaryMs: 900_000, demonstrationMs: 60_000 },
  salesChannels: { variable: 'POLL_SALES_CHANNELS', ordinaryMs: 86_400_000, demonstrationMs: 120_000 },
  shippingSettings: { variable: 'POLL_SHIPPING_SETTINGS', ordinaryMs: 86_400_000, demonstrationMs: 120_000 },
  replenishment: { variable: 'POLL_REPLENISHMENT', ordinaryMs: 86_400_000, demonstrationMs: 60_000 },
  inventoryLog: { variable: 'POLL_INVENTORY_LOG', ordinaryMs: 3_600_000, demonstrationMs: 30_000 },
  inventory: { variable: 'POLL_INVENTORY', ordinaryMs: 3_600_000, demonstrationMs: 30_000 },
  settlements: { variable: 'POLL_SETTLEMENTS', ordinaryMs: 86_400_000, demonstrationMs: 120_000 },
} as const satisfies Readonly<Record<string, IntervalSetting>>

/** All of {@link pollIntervals}. */
export const intervalSettings: readonly IntervalSetting[] = Object.values(pollIntervals)

/**
 * Maximum interval of the polls of orders while notifications arrive: half of the time after which a stream counts as behind, so that a rarer poll never does.
 */
export const maxNotifiedIntervalMs = alarmThresholds.behindForMs / 2

/** Time since the last notification of a seller about an order within which its notifications arrive. */
export const notifiedWithinMs = 3_600_000

/** What the settings say, by their variables; `off`: never by itself. One that is left out is as it ordinarily is. */
export type Intervals = Readonly<Partial<Record<string, number | 'off'>>>

/** How often a stream runs by itself. */
export type Pace =
  /** So many times as seldom as its resource is polled, and no oftener than this. */
  | { readonly times: number; readonly minMs: number }
  /** By a setting of its own: `always`, or only while its resource is polled. */
  | { readonly setting: IntervalSetting; readonly runs: 'always' | 'while polled' }

/** With every poll. */
export const everyPoll: Pace = { times: 1, minMs: 0 }

/** Whether it runs less often than its resource is polled. */
export const isSeldom = (pace: Pace): boolean => 'setting' in pace || pace.times > 1

/** What the settings say of one of them. */
export const findPollInterval = ({ variable, ordinaryMs }: IntervalSetting, intervals: Intervals): number | 'off' =>
  intervals[variable] ?? ordinaryMs

/** How often a stream of a resource runs. */
export const findIntervalMs = (pace: Pace, poll: IntervalSetting, intervals: Intervals): number | 'off' => {
  const pollMs = findPollInterval(poll, intervals)
  if ('setting' in pace)
    return pace.runs === 'while polled' && pollMs === 'off' ? 'off' : findPollInterval(pace.setting, intervals)
  return pollMs === 'off' ? 'off' : Math.max(Math.round(pollMs * pace.times), pace.minMs)
}
