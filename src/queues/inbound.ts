import { DelayedError, UnrecoverableError } from 'bullmq'
import type { Logger } from '../observability/log.ts'
import { pause } from '../pause.ts'
import type { QueueBackend } from './backend-interface.ts'
import type { Consumer, RawJob } from './consumer.ts'
import { asError, withDeadline } from './faults.ts'
import { inboundQueue } from './jobs.ts'

/**
 * What came of a job that another program has added. `data` is what remains of its data in the queue: nothing personal.
 *
 * - done: it completes with the value.
 * - refused: it fails with the message, and is not tried again.
 * - later: it could not be looked at now, and comes back.
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
  /** Jobs are handed over in the order in which they are fetched, so many at once. What throws comes back later. */
  readonly handle: (data: unknown, signal: AbortSignal) => Promise<InboundOutcome>
}

/** The inbound queue, as this process consumes it. */
export interface Inbound {
  /** Fetches no more jobs, and waits a moment for those that run; others are recovered by another process. Never rejects. */
  close(): Promise<void>
}

const atOnce = 8
const connectTimeoutMs = 5_000
const longestPauseMs = 5_000
/** Running jobs get so long when the process stops; then their signal is aborted, and they get it once more. */
const graceMs = 3_000
/** A job that fails for no fault of its own comes back after so long. */
const afterErrorMs = 5_000
/** The producer decides how long ended jobs stay, or else these do: in seconds. */
const keptCompleted = { age: 3_600, count: 1_000 }
const keptFailed = { age: 7 * 86_400, count: 1_000 }

/** Consumes the queue that other programs add ERP events to, in whichever store the queues are. */
export const serveInbound = (options: InboundOptions): Inbound => {
  const { backend, opened, log, lockMs, stalledIntervalMs, handle } = options
  const closing = new AbortController()
  const stopping = new AbortController()
  let consumer: Consumer | null = null

  const putOff = async (job: RawJob, token: string, delayMs: number): Promise<never> => {
    await job.moveToDelayed(Date.now() + delayMs, token)
    throw new DelayedError()
  }

  const run = async (job: RawJob, token: string): Promise<object> => {
    const fields = { queue: inboundQueue, job_id: job.id }
    const outcome = await handle(job.data, stopping.signal).catch((error: unknown): InboundOutcome => {
      log.warn({ ...fields, err: error }, 'an event of the queue could not be taken; it comes back')
      return { kind: 'later', delayMs: afterErrorMs, reason: asError(error).message }
    })
    if (outcome.kind === 'later') return putOff(job, token, outcome.delayMs)
    await job.updateData(outcome.data)
    if (outcome.kind === 'done') return outcome.value
    throw new UnrecoverableError(outcome.message)
  }

  const connect = (): Consumer =>
    backend.consumer({
      queue: inboundQueue,
      concurrency: atOnce,
      inOrder: true,
      lockMs,
      stalledIntervalMs,
      maxStalls: 3,
      keep: { completed: keptCompleted, failed: keptFailed },
      process: run,
      backoff: () => -1,
      on: {
        turn: () => backend.report(true),
        fault: (error) => backend.fault(error),
        failed: (job, error) => {
          log.warn({ queue: inboundQueue, job_id: job?.id, reason: error.message }, 'an event of the queue was refused')
        },
        stalled: (jobId) => {
          log.warn({ queue: inboundQueue, job_id: jobId }, 'job recovered from a worker that no longer answers')
        },
        // An event that is taken twice is a duplicate of itself.
        locksRenewed: () => undefined,
        locksLost: () => undefined,
      },
    })

  const open = async (): Promise<void> => {
    await opened
    for (let pauseMs = 250; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const made = connect()
      try {
        await withDeadline(made.ready(), connectTimeoutMs, `connecting the consumer of ${inboundQueue}`)
      } catch (error) {
        backend.fault(error)
        await end(made, true)
        await pause(pauseMs, closing.signal)
        continue
      }
      if (closing.signal.aborted) return end(made, true)
      consumer = made
      made.start()
      return
    }
  }

  const end = async (made: Consumer, force: boolean): Promise<void> => {
    try {
      await made.close(force)
    } catch (error) {
      backend.fault(error)
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
    // A store that is away confirms no end.
    await within(end(running, true), graceMs)
  }

  let closed: Promise<void> | undefined
  open().catch((error: unknown) => backend.fault(error))
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
