import { createHash } from 'node:crypto'
import { z } from 'zod'

// Glossary
//   job        a signal that something is due; contains ids only, Postgres defines the work
//   run        one start of a job's handler; ends in done, in "again at", or in an error
//   attempt    a run that ended in an error; counted by BullMQ, limited by `attempts`
//   tick       the job that a scheduler creates; only enqueues the job that it represents
//   relay      derives due jobs from Postgres and enqueues them again (`relay.ts`)

/** The queues, in the order in which they are drained. */
export const queueNames = ['sync', 'commands', 'events', 'webhooks', 'housekeeping'] as const
export type QueueName = (typeof queueNames)[number]

/** The queue that other programs add jobs to: ERP events (docs/events.md). Nobody else's jobs are in it. */
export const inboundQueue = 'erp-events'

const id = z.string().min(1).max(1_000)

/** Every kind of job: its queue and its payload. Unknown fields are refused: a job never holds a second copy of the data. */
export const jobDefinitions = {
  /** Brings one stream of a seller's resource up to date. */
  'sync.run': { queue: 'sync', data: z.strictObject({ sellerId: id, resource: id, stream: id }) },
  /** Executes the next step of a command. */
  'command.run': { queue: 'commands', data: z.strictObject({ commandId: id }) },
  /** Derives commands from a stored ERP event. */
  'event.process': { queue: 'events', data: z.strictObject({ source: id, id }) },
  /** Attempts to deliver a message to a webhook. */
  'webhook.deliver': { queue: 'webhooks', data: z.strictObject({ endpointId: id, deliveryId: z.string().regex(/^\d{1,18}$/) }) },
  /** Checks whether the credentials of a stopped seller are accepted again. */
  'seller.probe': { queue: 'housekeeping', data: z.strictObject({ sellerId: id }) },
  /** Maintenance: trimming, sweeps, alarms. */
  'housekeeping.run': { queue: 'housekeeping', data: z.strictObject({ task: id }) },
} as const satisfies Record<string, { queue: QueueName; data: z.ZodType<Readonly<Record<string, string>>> }>

export type JobName = keyof typeof jobDefinitions
export type JobData<Name extends JobName> = Readonly<z.infer<(typeof jobDefinitions)[Name]['data']>>

/** True for the name of a job that this version knows. */
export const isJobName = (name: string): name is JobName => Object.hasOwn(jobDefinitions, name)

/** Payload schemas by job name. */
export const jobSchemas: { readonly [Name in JobName]: z.ZodType<JobData<Name>> } = {
  'sync.run': jobDefinitions['sync.run'].data,
  'command.run': jobDefinitions['command.run'].data,
  'event.process': jobDefinitions['event.process'].data,
  'webhook.deliver': jobDefinitions['webhook.deliver'].data,
  'seller.probe': jobDefinitions['seller.probe'].data,
  'housekeeping.run': jobDefinitions['housekeeping.run'].data,
}

/** How a job is enqueued. */
export interface EnqueueOptions {
  /** Delay in milliseconds; default: none. */
  readonly delayMs?: number
  /** Run it now even if it waits for a later time, and even if it has just failed. */
  readonly runNow?: boolean
  /** Its work has only just come to be: there is no job of it yet, so none is looked for. Only for `enqueueMany`. */
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

const longestPlainId = 200

/** Half of a pair, which cannot be encoded, as `%u` and its digits, which no encoded text has. Every text has a form of its own. */
const encoded = (text: string): string =>
  text.isWellFormed()
    ? encodeURIComponent(text)
    : text.replace(/\p{Surrogate}|\P{Surrogate}+/gu, (part) =>
        part.isWellFormed() ? encodeURIComponent(part) : `%u${part.charCodeAt(0).toString(16)}`,
      )

/**
 * The id of a job, derived from its name and data: the same work is the same job, so a second enqueue adds none.
 * Without `:`, which BullMQ refuses in an id.
 */
export const jobIdOf = (name: JobName, data: Readonly<Record<string, string>>): string => {
  const parts = Object.keys(data)
    .sort()
    .map((key) => encoded(data[key] ?? '').replaceAll('~', '%7E'))
  const plain = [name, ...parts].join('~')
  // Event ids come from outside and may be long; an index entry of Postgres is limited to 2.7 kB.
  return plain.length <= longestPlainId ? plain : `${name}~${createHash('sha256').update(plain).digest('base64url')}`
}

/**
 * How a run of a job ended: it is done, or it is to be run again at a time. Waiting does not count as an attempt and occupies no worker.
 * `reason` is logged.
 */
export type JobOutcome = { readonly done: true } | { readonly runAgainAt: Date; readonly reason: string }
