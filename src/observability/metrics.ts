import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** How a run of a job ended; `again`: to be run later, no attempt counted; `capped`: run too often without an end. */
export type JobRunOutcome = 'done' | 'again' | 'retried' | 'failed' | 'invalid' | 'capped' | 'aborted'

/** What the metrics need to know of the program. */
export interface MetricsOptions {
  readonly version: string
  /** Commit that was built; `unknown` when absent. */
  readonly commit?: string
  /** Off in tests: memory, CPU, event loop and garbage collection of the process. */
  readonly processMetrics?: boolean
}

const requestSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const jobSeconds = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900]
const waitSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600]

/**
 * Declares every metric of the program, in a registry of its own. All names begin with `tallyman_`, in base units. Labels are bounded: a seller
 * comes from the settings, everything else from a fixed list; never an id of an order, a command or an event.
 */
export const createMetrics = ({ version, commit = 'unknown', processMetrics = true }: MetricsOptions) => {
  const registry = new Registry()
  const registers = [registry]
  if (processMetrics) collectDefaultMetrics({ register: registry, prefix: 'tallyman_' })

  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `tallyman_${name}`, help, labelNames, registers })
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name: `tallyman_${name}`, help, labelNames, registers })
  const histogram = <Label extends string>(name: string, help: string, labelNames: readonly Label[], buckets: number[]) =>
    new Histogram({ name: `tallyman_${name}`, help, labelNames, buckets, registers })

  gauge('build_info', 'Always 1; the labels say what runs.', ['version', 'commit']).set({ version, commit }, 1)

  return {
    registry,
    /** The text that a scraper reads, and its content type. */
    read: async (): Promise<{ readonly contentType: string; readonly body: string }> => ({
      contentType: registry.contentType,
      body: await registry.metrics(),
    }),

    apiRequests: counter('api_requests_total', 'Requests sent to the marketplace; outcome is ok or the kind of failure.', [
      'operation',
      'outcome',
    ]),
    apiRequestDuration: histogram(
      'api_request_duration_seconds',
      'Time from sending a request to the marketplace to its whole answer.',
      ['operation'],
      requestSeconds,
    ),
    unknownValues: counter(
      'api_unknown_values_total',
      'Values of the marketplace that this version does not know; kept as they are.',
      ['resource', 'field'],
    ),
    rateLimitWait: histogram(
      'rate_limit_wait_seconds',
      'How long work was put off because the rate budget was spent.',
      ['operation'],
      waitSeconds,
    ),
    rateLimitTokens: gauge('rate_limit_tokens', 'Tokens left in the rate budget.', ['seller', 'operation']),

    pollRuns: counter('poll_runs_total', 'Sync runs; outcome is done or failed.', ['stream', 'outcome']),
    pollRecords: counter('poll_records_total', 'Records of sync runs; outcome is seen, changed or quarantined.', [
      'stream',
      'outcome',
    ]),
    pollLastSuccess: gauge('poll_last_success_timestamp_seconds', 'When a sync last ended well.', ['stream', 'seller']),
    pollLag: gauge('poll_lag_seconds', 'Age of the newest change that a sync can have seen.', ['stream', 'seller']),

    eventsReceived: counter('events_received_total', 'ERP events; outcome is accepted, duplicate, conflict or refused.', [
      'type',
      'outcome',
    ]),
    commands: counter('commands_total', 'Commands that reached a state.', ['kind', 'outcome']),
    commandsUnknown: gauge('commands_unknown', 'Commands whose outcome is unknown and being read back.', []),
    commandsHeld: gauge('commands_held', 'Commands that wait for a person.', []),
    outboxOldest: gauge(
      'outbox_oldest_timestamp_seconds',
      'Acceptance of the oldest command or event that is due and unfinished; 0: none.',
      [],
    ),
    deadLetters: gauge('dead_letters', 'Records and events that were given up until somebody looks.', ['kind']),

    tableRows: gauge('table_rows', 'Rows of a table, as Postgres estimates them.', ['table']),
    tableBytes: gauge('table_bytes', 'Size of a table on disk, with its indexes and long values.', ['table']),
    retentionRemoved: counter('retention_removed_total', 'Rows that went, or lost their bulk, for their age.', ['data']),

    httpRequests: counter('http_requests_total', 'Requests to the HTTP server; route is the template, not the path.', [
      'method',
      'route',
      'status',
    ]),
    httpRequestDuration: histogram(
      'http_request_duration_seconds',
      'Time to answer a request.',
      ['method', 'route'],
      requestSeconds,
    ),

    jobRuns: counter('job_runs_total', 'Runs of jobs by how they ended.', ['job', 'outcome']),
    jobDuration: histogram('job_duration_seconds', 'Time of one run of a job.', ['job'], jobSeconds),
    jobsEnqueued: counter(
      'jobs_enqueued_total',
      'Jobs handed to the queues; outcome is added, exists, promoted, replaced or failed.',
      ['job', 'outcome'],
    ),
    jobsStalled: counter('jobs_stalled_total', 'Jobs taken back from a worker that no longer answers.', ['queue']),
    jobsActive: gauge('jobs_active', 'Jobs that this process is running.', ['queue']),
    queueJobs: gauge('queue_jobs', 'Jobs in the queues of all processes.', ['queue', 'state']),
    queueLastTurn: gauge(
      'queue_last_turn_timestamp_seconds',
      'When this process last asked a queue for work and got an answer.',
      ['queue'],
    ),
    queueBackendUp: gauge('queue_backend_up', '1 when the store of the queues answers, 0 when not.', ['backend']),
    relayRuns: counter('relay_runs_total', 'Derivations of due jobs from Postgres; outcome is done or failed.', ['outcome']),
    relayLastSuccess: gauge('relay_last_success_timestamp_seconds', 'When due jobs were last derived and enqueued.', []),
  } as const
}

/** All metrics of the program. */
export type Metrics = ReturnType<typeof createMetrics>
