/** Kinds of data that go after a while; each has a setting of its own. The ledger of units and money is none of them. */
export const retainedData = [
  'runs',
  'attempts',
  'versions',
  'changes',
  'events',
  'alarms',
  'quarantine',
  'deliveries',
  'notifications',
  'log-entries',
] as const
/** One of {@link retainedData}. */
export type RetainedData = (typeof retainedData)[number]

const dayMs = 86_400_000

/** How long a kind of data is kept, in milliseconds. */
export type Retention = number | 'forever'

/** How long each kind is kept. */
export type RetentionSettings = Readonly<Record<RetainedData, Retention>>

/** What the setting of a kind is called, what it is without one, and the shortest that is accepted; in milliseconds. */
export interface RetentionRule {
  readonly variable: `RETAIN_${string}`
  readonly defaultMs: number
  readonly minMs: number
  /** Why nothing shorter is accepted; null: any length is. */
  readonly because: string | null
}

const anyLength = { minMs: 1_000, because: null } as const

/**
 * The marketplace gives 365 days of the inventory log, all of which is read again and again: an entry that went within that time would come back
 * as a new one. A month of the report is held against the log as a whole while its first day is within reach, hence a month more.
 */
const minLogDays = 365 + 31 + 1

/** The settings. */
export const retentionRules: Readonly<Record<RetainedData, RetentionRule>> = {
  runs: { variable: 'RETAIN_RUNS', defaultMs: 30 * dayMs, ...anyLength },
  attempts: { variable: 'RETAIN_ATTEMPTS', defaultMs: 400 * dayMs, ...anyLength },
  versions: { variable: 'RETAIN_VERSIONS', defaultMs: 400 * dayMs, ...anyLength },
  changes: { variable: 'RETAIN_CHANGES', defaultMs: 90 * dayMs, ...anyLength },
  events: { variable: 'RETAIN_EVENTS', defaultMs: 400 * dayMs, ...anyLength },
  alarms: { variable: 'RETAIN_ALARMS', defaultMs: 400 * dayMs, ...anyLength },
  quarantine: { variable: 'RETAIN_QUARANTINE', defaultMs: 400 * dayMs, ...anyLength },
  deliveries: { variable: 'RETAIN_DELIVERIES', defaultMs: 30 * dayMs, ...anyLength },
  notifications: { variable: 'RETAIN_NOTIFICATIONS', defaultMs: 30 * dayMs, ...anyLength },
  'log-entries': {
    variable: 'RETAIN_LOG_ENTRIES',
    defaultMs: 800 * dayMs,
    minMs: minLogDays * dayMs,
    because: 'the reconciliation reads the log of the last year again, and compares whole months with it',
  },
}

/** Longer than this nothing is kept but for ever. */
export const maxRetentionMs = 36_500 * dayMs
