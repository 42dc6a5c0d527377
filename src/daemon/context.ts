import type { Config, Role } from '../config/config.ts'
import { createVocabularies, type Vocabularies } from '../jobs/sellers/vocabularies.ts'
import { createQuietLog, type Logger, type QuietLog } from '../observability/log.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { buildProcessName } from '../util/process-name.ts'
import type { ShutdownHooks } from '../util/shutdown-hooks.ts'
import { commit, version } from '../util/version.ts'

/** What every part of the daemon is given. */
export interface DaemonContext {
  readonly config: Config
  readonly log: Logger
  /** Logs an outage once, not at each attempt. */
  readonly quiet: QuietLog
  readonly metrics: Metrics
  readonly vocabularies: Vocabularies
  /** Names this process in leases. */
  readonly owner: string
  /** Aborted when the process has to stop. */
  readonly stop: AbortSignal
  /** A part adds each thing that it opens here at once, so that it is closed even if the start of the part fails later. */
  readonly shutdownHooks: ShutdownHooks
  has(role: Role): boolean
}

/** One for a start of the daemon. */
export const createContext = (config: Config, log: Logger, stop: AbortSignal, shutdownHooks: ShutdownHooks): DaemonContext => ({
  config,
  log,
  quiet: createQuietLog(log),
  metrics: createMetrics({ version, ...(commit === null ? {} : { commit }) }),
  vocabularies: createVocabularies(config.sellers),
  owner: buildProcessName(),
  stop,
  shutdownHooks,
  has: (role) => config.roles.includes(role),
})

/** Resolves once the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))
