import type { Config } from '../../config/config.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { JobContext } from '../../queues/job-runner.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import { readChannelAddress } from '../../store/alarms/alarm-channels.ts'
import { findDueChannels } from '../../store/alarms/alarm-notices.ts'
import type { Database } from '../../store/db/database.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import { version } from '../../util/version.ts'
import { refusalOfUrl } from '../webhooks/address.ts'
import { createWebhookTransport } from '../webhooks/transport.ts'
import { createMailer } from './mailer.ts'
import { type ChannelParts, type SendOutcome, sendDueAlarms, sendTest } from './send.ts'

/** Maximum time of an attempt to send an e-mail, in milliseconds. */
const mailTimeoutMs = 20_000
/** An attempt that is due sooner waits in the queue; a later one is found in Postgres when it is due. */
const maxQueuedMs = 60_000

/** Dependencies of the channels of alarms of a process. */
export interface AlarmChannelsParts {
  readonly config: Pick<Config, 'webhookPrivateAddresses' | 'smtp' | 'consoleUrl'>
  readonly metrics: Pick<Metrics, 'alarmMessages'>
  readonly quiet: QuietLog
  readonly database: Database
  readonly runtime: Pick<QueueRuntime, 'register' | 'enqueue'>
  readonly shutdownHooks: ShutdownHooks
}

/** The channels to which alarms are sent. */
export interface AlarmChannels {
  /** Whether e-mails can be sent. */
  readonly hasMailServer: boolean
  /** Why a URL cannot be a channel, as a predicate of "url"; null: it can. */
  findUrlFault(url: string): string | null
  /** Sends a test message now; null: there is no such channel. */
  test(id: string, signal: AbortSignal): Promise<(SendOutcome & { readonly durationMs: number }) | null>
  /** Adds the job of a channel: what is due is sent now. */
  enqueue(id: string): Promise<void>
  /** Adds the jobs of all channels to which alarms are due. */
  enqueueDue(): Promise<void>
  /** Registers the handler of the jobs `alarm.send`; before the queues start. */
  registerWorker(): void
}

/** Opens the channels; nothing is connected before a message is sent. */
export const createAlarmChannels = ({
  config,
  metrics,
  quiet,
  database,
  runtime,
  shutdownHooks,
}: AlarmChannelsParts): AlarmChannels => {
  const { webhookPrivateAddresses: privateAddresses, smtp, consoleUrl } = config
  const transport = createWebhookTransport({ privateAddresses })
  shutdownHooks.add('the connections to channels of alarms', async () => transport.close())
  const parts: ChannelParts = {
    database,
    transport,
    mailer: smtp === null ? null : createMailer(smtp, mailTimeoutMs),
    consoleUrl,
    userAgent: `Tallyman/${version}`,
    onOutcome: (kind, outcome) => metrics.alarmMessages.inc({ kind, outcome }),
  }
  const run = async ({ data: { channelId }, signal }: JobContext<'alarm.send'>): Promise<JobOutcome> => {
    const delayMs = await sendDueAlarms(parts, channelId, signal)
    return delayMs !== null && delayMs <= maxQueuedMs
      ? // The time in Postgres is exact to the millisecond: the job must not run before it.
        { runAgainAt: new Date(Date.now() + delayMs + 1), reason: 'the channel did not accept the message' }
      : { done: true }
  }
  return {
    hasMailServer: smtp !== null,
    findUrlFault: (url) => refusalOfUrl(url, privateAddresses),
    test: async (id, signal) => {
      const channel = await readChannelAddress(database, id)
      if (channel === null) return null
      const startedMs = performance.now()
      return { ...(await sendTest(parts, channel, signal)), durationMs: performance.now() - startedMs }
    },
    enqueue: async (channelId) => {
      await runtime.enqueue('alarm.send', { channelId }, { runNow: true }).catch((error: unknown) => {
        quiet.warn(
          'alarm-channels',
          { err: error },
          'a message to a channel could not be enqueued; it is found again within a minute',
        )
      })
    },
    enqueueDue: async () => {
      for (const channelId of await findDueChannels(database)) await runtime.enqueue('alarm.send', { channelId })
    },
    registerWorker: () => runtime.register('alarm.send', run),
  }
}
