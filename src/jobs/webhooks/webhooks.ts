import type { Config } from '../../config/config.ts'
import type { Logger, QuietLog } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { JobContext } from '../../queues/job-runner.ts'
import type { JobOutcome, JobToEnqueue } from '../../queues/jobs.ts'
import { createRelay, type Relay } from '../../queues/relay.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import { postponeForSlot, type Slots } from '../../queues/slots.ts'
import type { Database } from '../../store/db/database.ts'
import type { Listener } from '../../store/db/listener.ts'
import { type DueWebhookDelivery, findDueDeliveries } from '../../store/webhooks/webhook-deliveries.ts'
import { webhooksChannel } from '../../store/webhooks/webhook-endpoints.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import { version } from '../../util/version.ts'
import { dueJobBackoff } from '../dispatch/capacity.ts'
import { createPrefetch, type Prefetch } from '../dispatch/prefetch.ts'
import { refusalOfUrl } from './address.ts'
import { deliver, deliverTest, fanOutChanges, type TestResult, type WebhookParts } from './deliver.ts'
import { createEndpointSlots } from './endpoint-slots.ts'
import { createWebhookTransport } from './transport.ts'

/** Maximum time between two readings of the change feed for webhooks. */
const intervalMs = 5_000
/** Every change of the feed is notified, also while there is no webhook: one reading serves the notifications of this time. */
const gatherMs = 50
/** Attempts at once. One endpoint has at most sixteen of them; see `createEndpointSlots`. */
const attemptsAtOnce = 128
/** An attempt that is due sooner waits in the queue; a later one is found in Postgres when it is due. */
const maxQueuedMs = 60_000
/** If the change feed was not read for this time, reading it fails. */
const stuckAfterMs = 120_000

/** Notified by Postgres of each change of the feed. */
export const changesChannel = 'tallyman_changes'

/** Dependencies of the webhooks of a process. */
export interface WebhooksParts {
  readonly config: Pick<Config, 'webhookPrivateAddresses'>
  readonly log: Logger
  readonly quiet: QuietLog
  readonly metrics: Pick<Metrics, 'webhookDeliveries' | 'webhookFanOuts' | 'webhookLastFanOut'>
  readonly database: Database
  readonly runtime: Pick<QueueRuntime, 'register' | 'enqueue' | 'enqueueMany'>
  readonly listener: Pick<Listener, 'on'>
  readonly shutdownHooks: ShutdownHooks
  /** Whether this process reads the change feed for webhooks. */
  readonly reads: boolean
}

const buildJob = ({ id, endpointId }: DueWebhookDelivery): JobToEnqueue => ({
  name: 'webhook.deliver',
  data: { endpointId, deliveryId: String(id) },
})

/** The webhooks of this process: messages are derived from the change feed, and delivered by jobs. */
export class Webhooks {
  readonly #parts: WebhooksParts
  readonly #delivery: WebhookParts
  readonly #slots: Slots = createEndpointSlots(attemptsAtOnce)
  /** One for each endpoint: the messages of an endpoint that does not answer do not end, and must not keep others from being derived. */
  readonly #prefetches = new Map<string, Prefetch>()
  readonly #relay: Relay
  #readAtMs = performance.now()

  constructor(parts: WebhooksParts) {
    const { config, log, metrics, database, runtime, shutdownHooks } = parts
    const transport = createWebhookTransport({ privateAddresses: config.webhookPrivateAddresses })
    shutdownHooks.add('the connections to webhooks', async () => transport.close())
    this.#parts = parts
    this.#delivery = {
      database,
      transport,
      userAgent: `Tallyman/${version}`,
      onOutcome: (outcome) => metrics.webhookDeliveries.inc({ outcome }),
    }
    this.#relay = createRelay({
      derive: () => this.#derive(),
      intervalMs,
      gatherMs,
      runtime,
      log,
      metrics: {
        relayRuns: { inc: (labels) => metrics.webhookFanOuts.inc(labels) },
        relayLastSuccess: { setToCurrentTime: () => metrics.webhookLastFanOut.setToCurrentTime() },
      },
    })
  }

  /** Why a URL cannot be an endpoint, as a predicate of "url"; null: it can. */
  findUrlFault(url: string): string | null {
    return refusalOfUrl(url, this.#parts.config.webhookPrivateAddresses)
  }

  /** Sends a test message now, once, and records it. */
  test(endpoint: { readonly id: string; readonly url: string }, signal: AbortSignal): Promise<TestResult> {
    return deliverTest(this.#delivery, endpoint, signal)
  }

  /** Whether the change feed is read for webhooks, if this process does that. */
  isRead(): boolean {
    return !this.#parts.reads || performance.now() - this.#readAtMs < stuckAfterMs
  }

  /** Registers the handler of the jobs `webhook.deliver`; before the queues start. */
  registerWorker(): void {
    this.#parts.runtime.register('webhook.deliver', (job) => this.#deliver(job), {
      concurrency: attemptsAtOnce,
      backoff: dueJobBackoff,
    })
  }

  /** Reads the change feed for webhooks from now on, if this process does that. */
  start(): void {
    const { reads, listener, shutdownHooks } = this.#parts
    if (!reads) return
    this.#readAtMs = performance.now()
    this.#relay.start()
    listener.on(changesChannel, () => this.#relay.trigger())
    listener.on(webhooksChannel, () => this.#relay.trigger())
    shutdownHooks.add('the reading for webhooks', () => this.#relay.stop())
  }

  async #derive(): Promise<readonly JobToEnqueue[]> {
    const { database } = this.#parts
    const { more } = await fanOutChanges(database)
    const due = await findDueDeliveries(database)
    for (const [endpointId, deliveries] of Map.groupBy(due, (delivery) => delivery.endpointId))
      this.#findPrefetch(endpointId).derived(deliveries.length)
    this.#readAtMs = performance.now()
    if (more) this.#relay.trigger()
    return due.map(buildJob)
  }

  #findPrefetch(endpointId: string): Prefetch {
    const known = this.#prefetches.get(endpointId) ?? createPrefetch(() => this.#relay.trigger())
    this.#prefetches.set(endpointId, known)
    return known
  }

  async #deliver({ data, signal, starts }: JobContext<'webhook.deliver'>): Promise<JobOutcome> {
    const { endpointId, deliveryId } = data
    const { runtime, quiet } = this.#parts
    const release = await this.#slots.take(endpointId, signal)
    if (release === null) return postponeForSlot(`webhook ${endpointId}`, starts)
    const { next, againInMs, recovered } = await deliver(this.#delivery, BigInt(deliveryId), signal).finally(release)
    this.#findPrefetch(endpointId).ended()
    // Only a few messages were derived for an endpoint that failed.
    if (recovered) this.#relay.trigger()
    if (next !== null) {
      await runtime.enqueue('webhook.deliver', { endpointId, deliveryId: String(next) }).catch((error: unknown) => {
        quiet.warn('webhook', { err: error }, 'a message to a webhook could not be enqueued; it is found again later')
      })
    }
    return againInMs !== null && againInMs <= maxQueuedMs
      ? // Its time in Postgres is exact to the millisecond, and was computed at least one round trip earlier: the job must not run before it.
        { runAgainAt: new Date(Date.now() + againInMs + 1), reason: 'the receiver did not take the message' }
      : { done: true }
  }
}
