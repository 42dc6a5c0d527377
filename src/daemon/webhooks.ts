import type { WebhookServices } from '../http/services.ts'
import { refusalOfUrl } from '../jobs/webhooks/address.ts'
import { deliver, deliverTest, fanOutChanges, type WebhookParts } from '../jobs/webhooks/deliver.ts'
import { createEndpointSlots } from '../jobs/webhooks/endpoint-slots.ts'
import { createWebhookTransport } from '../jobs/webhooks/transport.ts'
import type { JobToEnqueue } from '../queues/jobs.ts'
import { createRelay } from '../queues/relay.ts'
import { turnedAway } from '../queues/slots.ts'
import { type DueWebhookDelivery, dueDeliveries } from '../store/webhook-deliveries.ts'
import { webhooksChannel } from '../store/webhook-endpoints.ts'
import { version } from '../version.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import type { QueuesPart } from './queues.ts'
import { createRefill, type Refill } from './refill.ts'

/** How often the change feed is read for webhooks without being asked. */
const intervalMs = 5_000
/** Every change of the feed is notified, also while there is no webhook: one reading serves those of so long. In milliseconds. */
const gatherMs = 50
/** Attempts at once. One endpoint has at most sixteen of them; see `createEndpointSlots`. */
const attemptsAtOnce = 128
/** An attempt that is due sooner waits in the queue; a later one is found in Postgres when it is due. */
const waitsInQueueMs = 60_000
/** An attempt that failed because Postgres was away must not wait long: its row is due. */
const jobBackoff = { firstMs: 500, longestMs: 10_000 }
/** The change feed has not been read for so long: something is wrong with reading it. */
const stuckAfterMs = 120_000

const changesChannel = 'tallyman_changes'

/** The webhooks of this process. */
export interface WebhooksPart {
  readonly services: WebhookServices
  /** Whether the change feed is read for webhooks, where this process does that. */
  isRead(): boolean
  /** Reads the change feed for webhooks from now on, where this process plans or works. */
  start(): void
}

const jobOf = ({ id, endpointId }: DueWebhookDelivery): JobToEnqueue => ({
  name: 'webhook.deliver',
  data: { endpointId, deliveryId: String(id) },
})

/** Registers the delivery of messages, and reads the change feed for it. Before the queues start. */
export const createWebhooks = (
  { config, log, quiet, metrics, closers, has }: DaemonContext,
  { database }: DatabasePart,
  { runtime, listener }: QueuesPart,
): WebhooksPart => {
  const transport = createWebhookTransport({ privateAddresses: config.webhookPrivateAddresses })
  closers.add('the connections to webhooks', async () => transport.close())
  const parts: WebhookParts = {
    database,
    transport,
    userAgent: `Tallyman/${version}`,
    onOutcome: (outcome) => metrics.webhookDeliveries.inc({ outcome }),
  }
  /** One for each endpoint: what a silent one was given does not end, and must not keep others from getting more. */
  const refills = new Map<string, Refill>()
  const refillOf = (endpointId: string): Refill => {
    const known = refills.get(endpointId) ?? createRefill(() => relay.nudge())
    refills.set(endpointId, known)
    return known
  }
  let readAtMs = performance.now()
  const relay = createRelay({
    derive: async () => {
      const { more } = await fanOutChanges(database)
      const due = await dueDeliveries(database)
      for (const [endpointId, its] of Map.groupBy(due, (delivery) => delivery.endpointId))
        refillOf(endpointId).derived(its.length)
      readAtMs = performance.now()
      if (more) relay.nudge()
      return due.map(jobOf)
    },
    intervalMs,
    gatherMs,
    runtime: { enqueueMany: runtime.enqueueMany, applySchedulers: runtime.applySchedulers, check: runtime.check },
    ...(has('worker') ? { standIn: runtime.standIn() } : {}),
    log,
    metrics: {
      relayRuns: { inc: (labels) => metrics.webhookFanOuts.inc(labels) },
      relayLastSuccess: { setToCurrentTime: () => metrics.webhookLastFanOut.setToCurrentTime() },
    },
  })

  if (has('worker')) {
    const slots = createEndpointSlots(attemptsAtOnce)
    runtime.register(
      'webhook.deliver',
      async ({ data: { endpointId, deliveryId }, signal, starts }) => {
        const release = await slots.take(endpointId, signal)
        if (release === null) return turnedAway(`webhook ${endpointId}`, starts)
        const { next, againInMs, recovered } = await deliver(parts, BigInt(deliveryId), signal).finally(release)
        refillOf(endpointId).ended()
        // Of an endpoint that failed only a few were derived.
        if (recovered) relay.nudge()
        if (next !== null) {
          await runtime.enqueue('webhook.deliver', { endpointId, deliveryId: String(next) }).catch((error: unknown) => {
            quiet.warn('webhook', { err: error }, 'a message to a webhook could not be enqueued; it is found again later')
          })
        }
        return againInMs !== null && againInMs <= waitsInQueueMs
          ? // Its moment in Postgres is to the millisecond, and began a round trip earlier at least: not before that.
            { runAgainAt: new Date(Date.now() + againInMs + 1), reason: 'the receiver did not take the message' }
          : { done: true }
      },
      { concurrency: attemptsAtOnce, backoff: jobBackoff },
    )
  }

  const reads = has('scheduler') || has('worker')
  return {
    services: {
      refusalOf: (url) => refusalOfUrl(url, config.webhookPrivateAddresses),
      test: (endpoint, signal) => deliverTest(parts, endpoint, signal),
    },
    isRead: () => !reads || performance.now() - readAtMs < stuckAfterMs,
    start: () => {
      if (!reads) return
      readAtMs = performance.now()
      relay.start()
      listener.on(changesChannel, () => relay.nudge())
      listener.on(webhooksChannel, () => relay.nudge())
      closers.add('the reading for webhooks', () => relay.stop())
    },
  }
}
