import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** How a run of a job ended. `again`: to be run later, not counted as an attempt; `capped`: too many runs without an end. */
export type JobRunOutcome = 'done' | 'again' | 'retried' | 'failed' | 'invalid' | 'capped' | 'aborted'

/** Settings of the metrics. */
export interface MetricsOptions {
  readonly version: string
  /** Commit of the release that runs; `unknown` when absent. */
  readonly commit?: string
  /** Memory, CPU, event loop and garbage collection of the process; off in tests. */
  readonly processMetrics?: boolean
}

const requestSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const jobSeconds = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900]
const waitSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600]

/**
 * Declares all metrics of the program, in a separate registry. Their names begin with `tallyman_`, in base units. Metrics of the process keep the usual
 * names (`process_`, `nodejs_`), so that common dashboards work. Labels are bounded: sellers come from the settings, all other values from fixed
 * lists; never an id of an order, a command or an event.
 */
export const createMetrics = ({ version, commit = 'unknown', processMetrics = true }: MetricsOptions) => {
  const registry = new Registry()
  const registers = [registry]
  if (processMetrics) collectDefaultMetrics({ register: registry })

  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `tallyman_${name}`, help, labelNames, registers })
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name: `tallyman_${name}`, help, labelNames, registers })
  const histogram = <Label extends string>(name: string, help: string, labelNames: readonly Label[], buckets: number[]) =>
    new Histogram({ name: `tallyman_${name}`, help, labelNames, buckets, registers })

  gauge('build_info', 'Always 1; the labels are the version and commit.', ['version', 'commit']).set({ version, commit }, 1)

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
      'Time from sending a request to the marketplace to its complete answer.',
      ['operation'],
      requestSeconds,
    ),
    unknownValues: counter(
      'api_unknown_values_total',
      'Values of the marketplace that this version does not know; stored unchanged.',
      ['resource', 'field'],
    ),
    rateLimitWait: histogram(
      'rate_limit_wait_seconds',
      'How long work was delayed because the rate budget was used up.',
      ['operation'],
      waitSeconds,
    ),
    rateLimitTokens: gauge('rate_limit_tokens', 'Tokens left in the rate budget.', ['seller', 'operation']),
    rateLimitPerMinute: gauge(
      'rate_limit_requests_per_minute',
      'Requests a minute that the rate budget lets through in the long run, as learned so far.',
      ['seller', 'operation'],
    ),
    rateLimitBlocked: gauge(
      'rate_limit_blocked_seconds',
      'Seconds until the marketplace accepts requests again, as it has requested; 0: now.',
      ['seller', 'operation'],
    ),

    pollRuns: counter('poll_runs_total', 'Sync runs; outcome is done or failed.', ['resource', 'stream', 'outcome']),
    pollRecords: counter('poll_records_total', 'Records of sync runs; outcome is seen, changed or quarantined.', [
      'resource',
      'stream',
      'outcome',
    ]),
    pollLastSuccess: gauge('poll_last_success_timestamp_seconds', 'When a sync last succeeded.', [
      'resource',
      'stream',
      'seller',
    ]),
    pollLag: gauge(
      'poll_lag_seconds',
      'Age of the newest change that a sync in this process can have read; of several processes, take the minimum.',
      ['resource', 'stream', 'seller'],
    ),

    eventsReceived: counter(
      'events_received_total',
      'ERP events; way is http, sql or queue, outcome is accepted, duplicate, conflict or refused. A row of the SQL inbox counts once it is decided.',
      ['way', 'outcome'],
    ),
    notifications: counter(
      'notifications_total',
      'Notifications of the marketplace; outcome is accepted, duplicate, other (a type that is not read), unreadable (no record named), malformed or refused (not proven).',
      ['outcome'],
    ),
    commands: counter('commands_total', 'Commands that reached a state.', ['kind', 'outcome']),
    commandsUnknown: gauge('commands_unknown', 'Commands with an unknown outcome that are being read back.', []),
    commandsHeld: gauge('commands_held', 'Commands that wait for an operator.', []),
    outboxOldest: gauge(
      'outbox_oldest_timestamp_seconds',
      'Acceptance time of the oldest command or event that is due and unfinished; 0: none.',
      [],
    ),
    workWaiting: gauge(
      'work_waiting_seconds',
      'Maximum time that a due step of a command or event has waited for a process; 0: none waits. For autoscaling.',
      [],
    ),
    alarmsOpen: gauge('alarms_open', 'Open alarms that are not silenced (docs/alarms.md).', ['kind', 'severity']),
    alarmsSilenced: gauge('alarms_silenced', 'Open alarms that an operator has silenced.', ['kind', 'severity']),
    ordersAcknowledgeLate: gauge(
      'orders_acknowledge_late',
      'Open orders that were not acknowledged within the time limit of the marketplace.',
      ['seller'],
    ),
    ordersShipLate: gauge('orders_ship_late', 'Open orders that should have been shipped by now.', ['seller']),
    ordersCancelSoon: gauge(
      'orders_cancel_soon',
      'Open orders that the marketplace cancels within a day because they were not shipped.',
      ['seller'],
    ),
    sellersInState: gauge('sellers', 'Sellers in each state that a process serves.', ['state']),
    deadLetters: gauge('dead_letters', 'Quarantined records and rejected events that wait for an operator.', ['kind']),

    webhookDeliveries: counter(
      'webhook_deliveries_total',
      'Attempts to deliver a message to a webhook; outcome is delivered, retried, given-up, paused, disabled, change-removed, test-delivered or test-failed.',
      ['outcome'],
    ),
    webhookEndpoints: gauge('webhook_endpoints', 'Webhook endpoints in each state.', ['state']),
    webhookPending: gauge('webhook_pending_deliveries', 'Messages that wait for their next attempt.', []),
    webhookLag: gauge('webhook_lag_changes', 'Maximum number of changes that an active webhook has not read.', []),
    webhookOldest: gauge(
      'webhook_oldest_undelivered_timestamp_seconds',
      'Time of the oldest change that was not delivered to an active webhook; 0: none.',
      [],
    ),
    webhookFanOuts: counter('webhook_fan_outs_total', 'Readings of the change feed for webhooks; outcome is done or failed.', [
      'outcome',
    ]),
    webhookLastFanOut: gauge('webhook_last_fan_out_timestamp_seconds', 'When the change feed was last read for webhooks.', []),

    alarmMessages: counter(
      'alarm_messages_total',
      'Attempts to send alarms to a channel; kind is slack, teams or email, outcome is sent or failed.',
      ['kind', 'outcome'],
    ),

    tableRows: gauge('table_rows', 'Rows of a table, as Postgres estimates them.', ['table']),
    tableBytes: gauge('table_bytes', 'Size of a table on disk, with its indexes and long values.', ['table']),
    retentionRemoved: counter('retention_removed_total', 'Rows removed, or reduced, because of their age.', ['data']),

    httpRequests: counter(
      'http_requests_total',
      'Requests to the HTTP server; route is the template, not the path, or none; status is the class, such as 2xx.',
      ['method', 'route', 'status'],
    ),
    httpRequestDuration: histogram(
      'http_request_duration_seconds',
      'Time until a request was answered, including the wait of a request for changes.',
      ['method', 'route', 'status'],
      requestSeconds,
    ),

    jobRuns: counter('job_runs_total', 'Runs of jobs by outcome.', ['job', 'outcome']),
    jobDuration: histogram('job_duration_seconds', 'Time of one run of a job.', ['job'], jobSeconds),
    jobsEnqueued: counter('jobs_enqueued_total', 'Jobs enqueued; outcome is added, exists, promoted, replaced or failed.', [
      'job',
      'outcome',
    ]),
    jobsStalled: counter('jobs_stalled_total', 'Jobs recovered from a worker that no longer answers.', ['queue']),
    jobsActive: gauge('jobs_active', 'Jobs running in this process.', ['queue']),
    queueJobs: gauge('queue_jobs', 'Jobs in the queues of all processes.', ['queue', 'state']),
    queueLastTurn: gauge('queue_last_turn_timestamp_seconds', 'When this process last polled a queue and got an answer.', [
      'queue',
    ]),
    queueBackendUp: gauge('queue_backend_up', '1 if the store of the queues answers, 0 if not.', ['backend']),
    relayRuns: counter('relay_runs_total', 'Derivations of due jobs from Postgres; outcome is done or failed.', ['outcome']),
    relayLastSuccess: gauge('relay_last_success_timestamp_seconds', 'When due jobs were last derived and enqueued.', []),
  } as const
}

/** All metrics of the program. */
export type Metrics = ReturnType<typeof createMetrics>
