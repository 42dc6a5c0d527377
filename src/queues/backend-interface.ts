import type { Queue } from 'bullmq'
import type { Consumer, ConsumerOptions } from './consumer.ts'
import type { QueueName } from './jobs.ts'

/** BullMQ's own events, kept for each queue: nobody listens to them, bull-board shows none. */
export const keptEvents = 100

/** What a check of the store found. */
export interface BackendCheck {
  readonly ok: boolean
  /** A sentence for a person; no secrets. */
  readonly detail: string
  /** What works but should not stay so. */
  readonly warnings: readonly string[]
}

/**
 * The store that the queues live in. `open` makes it usable and may be called again after a failure; once it has resolved, the store may come
 * and go, and everything made from it recovers by itself. Nothing outside of `queues/` can tell which store it is, but by `kind` in a message.
 */
export interface QueueBackend {
  readonly kind: 'redis' | 'postgres'
  /** @throws Error when the store cannot be reached or is not fit for use */
  open(): Promise<void>
  /** The queue by that name, for producers and for bull-board. @throws QueuesUnavailable before `open` has resolved */
  queue(name: QueueName): Queue
  /** @throws QueuesUnavailable before `open` has resolved */
  consumer(options: ConsumerOptions): Consumer
  /** Asks the store now. Never throws and never takes longer than `timeoutMs`. */
  check(timeoutMs: number): Promise<BackendCheck>
  /** Since when the store is known not to answer, in milliseconds of our clock; null while it does. */
  awaySinceMs(): number | null
  /** Told by those who use the store: it answered, or it did not. */
  report(answered: boolean): void
  /** Told by those who use the store: something went wrong. Goes to the log, at most once an interval for each kind of fault. */
  fault(thrown: unknown): void
  /** Closes all connections; does not wait for an answer that does not come. */
  close(): Promise<void>
}
