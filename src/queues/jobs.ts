import { createHash } from 'node:crypto'
import { z } from 'zod'

// Glossary
//   job        a signal that something is due; contains ids only, Postgres defines the work. Exception: a job of `erp-events` contains its event
//   run        one start of a job's handler; ends as done, with a time for the next run, or in an error
//   attempt    a run that ended in an error; counted by BullMQ, limited by `attempts`
//   tick       the job that a scheduler adds at each of its times
//   relay      derives due jobs from Postgres and enqueues them again (`relay.ts`)

/** The queues, in the order in which they are drained. */
export const queueNames = ['polls', 'backfills', 'commands', 'events', 'webhooks', 'maintenance'] as const
export type QueueName = (typeof queueNames)[number]

/**
 * The queue to which other programs add ERP events (docs/events.md). It holds no other jobs. A waiting job contains its event, which is stored nowhere
 * else: it cannot be derived from Postgres, and may contain a buyer's data.
 */
export const inboundQueue = 'erp-events'

/** Every queue of the store, as pages and metrics show them. */
export const shownQueues = [...queueNames, inboundQueue] as const
export type ShownQueue = (typeof shownQueues)[number]

const id = z.string().min(1).max(1_000)

/** Every kind of job: its queue and its payload. Unknown fields are refused: a job holds ids, never a copy of the data. */
export const jobDefinitions = {
  /** Runs those streams of a seller's resource that are due; added by the resource's scheduler. */
  'poll.run': { queue: 'polls', data: z.strictObject({ sellerId: id, resource: id }) },
  /** Reads a record that notifications name. */
  'notification.read': { queue: 'polls', data: z.strictObject({ sellerId: id, resource: id, recordId: id }) },
  /** Continues one stream that a poll has not finished, or runs one on request. */
  'sync.run': { queue: 'polls', data: z.strictObject({ sellerId: id, resource: id, stream: id }) },
  /** The same for a stream that reads past or all records: separate, so that no poll waits for it. */
  'backfill.run': { queue: 'backfills', data: z.strictObject({ sellerId: id, resource: id, stream: id }) },
  /** Executes the next step of a command. */
  'command.run': { queue: 'commands', data: z.strictObject({ commandId: id }) },
  /** Derives commands from a stored ERP event. */
  'event.process': { queue: 'events', data: z.strictObject({ source: id, id }) },
  /** Attempts to deliver a message to a webhook. */
  'webhook.deliver': { queue: 'webhooks', data: z.strictObject({ endpointId: id, deliveryId: z.string().regex(/^\d{1,18}$/) }) },
  /** Sends a channel the alarms that are due to it. */
  'alarm.send': { queue: 'webhooks', data: z.strictObject({ channelId: id }) },
  /** Checks whether the credentials of a stopped seller are accepted again. */
  'seller.probe': { queue: 'maintenance', data: z.strictObject({ sellerId: id }) },
  /** Maintenance: trimming, sweeps, alarms. */
  'maintenance.run': { queue: 'maintenance', data: z.strictObject({ task: id }) },
} as const satisfies Record<string, { queue: QueueName; data: z.ZodType<Readonly<Record<string, string>>> }>

export type JobName = keyof typeof jobDefinitions
export type JobData<Name extends JobName> = Readonly<z.infer<(typeof jobDefinitions)[Name]['data']>>

/** True for the name of a job that this version knows. */
export const isJobName = (name: string): name is JobName => Object.hasOwn(jobDefinitions, name)

/** Payload schemas by job name. */
export const jobSchemas: { readonly [Name in JobName]: z.ZodType<JobData<Name>> } = {
  'poll.run': jobDefinitions['poll.run'].data,
  'notification.read': jobDefinitions['notification.read'].data,
  'sync.run': jobDefinitions['sync.run'].data,
  'backfill.run': jobDefinitions['backfill.run'].data,
  'command.run': jobDefinitions['command.run'].data,
  'event.process': jobDefinitions['event.process'].data,
  'webhook.deliver': jobDefinitions['webhook.deliver'].data,
  'alarm.send': jobDefinitions['alarm.send'].data,
  'seller.probe': jobDefinitions['seller.probe'].data,
  'maintenance.run': jobDefinitions['maintenance.run'].data,
}

/** How a job is enqueued. */
export interface EnqueueOptions {
  /** Delay in milliseconds; default: none. */
  readonly delayMs?: number
  /** Run it now even if it waits for a later time, and even if it has just failed. */
  readonly runNow?: boolean
  /** Its work is new: it has no job yet, so no existing one is searched. Only for `enqueueMany`. */
  readonly fresh?: boolean
}

/** A job to be enqueued. */
export type JobToEnqueue = {
  [Name in JobName]: { readonly name: Name; readonly data: JobData<Name> } & EnqueueOptions
}[JobName]

/** A job of any name, its payload unchecked. */
export interface PlainJob extends EnqueueOptions {
  readonly name: JobName
  readonly data: Readonly<Record<string, string>>
}

const maxPlainIdLength = 200

/** Encodes a text. Lone surrogates, which `encodeURIComponent` rejects, become `%u` and hexadecimal digits; different texts stay different. */
const encode = (text: string): string =>
  text.isWellFormed()
    ? encodeURIComponent(text)
    : text.replace(/\p{Surrogate}|\P{Surrogate}+/gu, (part) =>
        part.isWellFormed() ? encodeURIComponent(part) : `%u${part.charCodeAt(0).toString(16)}`,
      )

/**
 * The id of a job, derived from its name and data: the same work has the same id, so a second enqueue adds nothing.
 * Without `:`, which BullMQ refuses in an id.
 */
export const buildJobId = (name: JobName, data: Readonly<Record<string, string>>): string => {
  const parts = Object.keys(data)
    .sort()
    .map((key) => encode(data[key] ?? '').replaceAll('~', '%7E'))
  const plain = [name, ...parts].join('~')
  // Event ids come from outside and may be long; an index entry of Postgres is limited to 2.7 kB.
  return plain.length <= maxPlainIdLength ? plain : `${name}~${createHash('sha256').update(plain).digest('base64url')}`
}

/** How a run of a job ended: done, or to be run again at a time. Waiting does not count as an attempt and occupies no worker. `reason` is logged. */
export type JobOutcome = { readonly done: true } | { readonly runAgainAt: Date; readonly reason: string }
