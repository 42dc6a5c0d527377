import type { Config, Role } from '../config.ts'
import { createQuietLog, type Logger, type QuietLog } from '../observability/log.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { commit, version } from '../version.ts'
import type { Closers } from './closers.ts'
import { nameOfProcess } from './process-name.ts'
import { createVocabularies, type Vocabularies } from './vocabularies.ts'

/** What every part of the daemon is given. */
export interface DaemonContext {
  readonly config: Config
  readonly log: Logger
  /** Says once, not each time, that something is away. */
  readonly quiet: QuietLog
  readonly metrics: Metrics
  readonly vocabularies: Vocabularies
  /** Names this process in leases. */
  readonly owner: string
  /** Told to stop. */
  readonly stop: AbortSignal
  /** Whatever a part opens it adds here at once, so that it is closed even when the part fails later in its start. */
  readonly closers: Closers
  has(role: Role): boolean
}

/** One for a start of the daemon. */
export const createContext = (config: Config, log: Logger, stop: AbortSignal, closers: Closers): DaemonContext => ({
  config,
  log,
  quiet: createQuietLog(log),
  metrics: createMetrics({ version, ...(commit === null ? {} : { commit }) }),
  vocabularies: createVocabularies(config.sellers),
  owner: nameOfProcess(),
  stop,
  closers,
  has: (role) => config.roles.includes(role),
})

/** Resolves once the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))
