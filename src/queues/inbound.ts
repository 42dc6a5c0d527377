import { DelayedError, UnrecoverableError } from 'bullmq'
import type { Logger } from '../observability/log.ts'
import { pause } from '../util/sleep.ts'
import type { QueueBackend } from './backend/backend-interface.ts'
import type { Consumer, RawJob } from './consumer.ts'
import { asError, withDeadline } from './errors.ts'
import { inboundQueue } from './jobs.ts'

/**
 * Result of a job that another program has added. `data` replaces its data in the queue, without personal data.
 *
 * - done: the job completes with the value.
 * - refused: the job fails with the message and is not retried.
 * - later: the job could not be processed now and is delayed.
 */
export type InboundOutcome =
  | { readonly kind: 'done'; readonly value: object; readonly data: object }
  | { readonly kind: 'refused'; readonly message: string; readonly data: object }
  | { readonly kind: 'later'; readonly delayMs: number; readonly reason: string }

/** Dependencies of the inbound queue. */
export interface InboundOptions {
  readonly backend: QueueBackend
  /** Resolves once the store of the queues is connected. */
  readonly opened: Promise<void>
  readonly log: Logger
  readonly lockMs: number
  readonly stalledIntervalMs: number
  /** Called in the order in which the jobs are fetched, concurrently. A job whose call throws is delayed. */
  readonly handle: (data: unknown, signal: AbortSignal) => Promise<InboundOutcome>
}

/** The inbound queue, as this process consumes it. */
export interface Inbound {
  /** Fetches no more jobs and waits some seconds for running ones; another process recovers the rest. Never rejects. */
  close(): Promise<void>
}

const concurrency = 8
const connectTimeoutMs = 5_000
const maxPauseMs = 5_000
/** Grace period of running jobs when the process stops; then their signal is aborted, and the same period follows. */
const graceMs = 3_000
/** Delay of a job whose processing failed. */
const errorDelayMs = 5_000
/** How long ended jobs are kept if their producer does not say so; ages in seconds. */
const keptCompleted = { age: 3_600, count: 1_000 }
const keptFailed = { age: 7 * 86_400, count: 1_000 }

/** Consumes the queue that other programs add ERP events to, in whichever store the queues are. */
export const serveInbound = (options: InboundOptions): Inbound => {
  const { backend, opened, log, lockMs, stalledIntervalMs, handle } = options
  const closing = new AbortController()
  const stopping = new AbortController()
  let consumer: Consumer | null = null

  const postpone = async (job: RawJob, token: string, delayMs: number): Promise<never> => {
    await job.moveToDelayed(Date.now() + delayMs, token)
    throw new DelayedError()
  }

  const run = async (job: RawJob, token: string): Promise<object> => {
    const fields = { queue: inboundQueue, job_id: job.id }
    const outcome = await handle(job.data, stopping.signal).catch((error: unknown): InboundOutcome => {
      log.warn({ ...fields, err: error }, 'an event of the queue could not be processed; it will be retried')
      return { kind: 'later', delayMs: errorDelayMs, reason: asError(error).message }
    })
    if (outcome.kind === 'later') return postpone(job, token, outcome.delayMs)
    await job.updateData(outcome.data)
    if (outcome.kind === 'done') return outcome.value
    throw new UnrecoverableError(outcome.message)
  }

  const connect = (): Consumer =>
    backend.consumer({
      queue: inboundQueue,
      concurrency,
      inOrder: true,
      lockMs,
      stalledIntervalMs,
      maxStalls: 3,
      keep: { completed: keptCompleted, failed: keptFailed },
      process: run,
      backoff: () => -1,
      on: {
        polled: () => backend.reportAvailable(true),
        error: (error) => backend.reportError(error),
        failed: (job, error) => {
          log.warn({ queue: inboundQueue, job_id: job?.id, reason: error.message }, 'an event of the queue was refused')
        },
        stalled: (jobId) => {
          log.warn({ queue: inboundQueue, job_id: jobId }, 'job recovered from a worker that no longer answers')
        },
        // An event that is processed twice is stored once.
        locksRenewed: () => undefined,
        locksLost: () => undefined,
      },
    })

  const open = async (): Promise<void> => {
    await opened
    for (let pauseMs = 250; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const created = connect()
      try {
        await withDeadline(created.ready(), connectTimeoutMs, `connecting the consumer of ${inboundQueue}`)
      } catch (error) {
        backend.reportError(error)
        await end(created, true)
        await pause(pauseMs, closing.signal)
        continue
      }
      if (closing.signal.aborted) return end(created, true)
      consumer = created
      created.start()
      return
    }
  }

  const end = async (ending: Consumer, force: boolean): Promise<void> => {
    try {
      await ending.close(force)
    } catch (error) {
      backend.reportError(error)
    }
  }

  const close = async (): Promise<void> => {
    closing.abort()
    if (consumer === null) return
    const running = consumer
    const ended = end(running, false)
    await within(ended, graceMs)
    stopping.abort()
    await within(ended, graceMs)
    // An unavailable store confirms no end.
    await within(end(running, true), graceMs)
  }

  let closed: Promise<void> | undefined
  open().catch((error: unknown) => backend.reportError(error))
  return {
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

const within = async (work: Promise<unknown>, timeoutMs: number): Promise<void> => {
  const over = new AbortController()
  await Promise.race([work, pause(timeoutMs, over.signal)])
  over.abort()
}
