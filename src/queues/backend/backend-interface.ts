import type { Queue } from 'bullmq'
import type { Consumer, ConsumerOptions } from '../consumer.ts'
import type { ShownQueue } from '../jobs.ts'

/** Number of BullMQ's own events kept per queue: nothing reads them, bull-board shows none. */
export const keptEvents = 100

/** Result of a check of the store. */
export interface BackendCheck {
  readonly ok: boolean
  /** A sentence for the operator; no secrets. */
  readonly detail: string
  /** Conditions that work but should be corrected. */
  readonly warnings: readonly string[]
}

/**
 * The store of the queues. `open` makes it usable and may be called again after a failure; once it has resolved, everything created from it
 * recovers from outages of the store. Nothing outside of `queues/` depends on the store; `kind` is for messages.
 */
export interface QueueBackend {
  readonly kind: 'redis' | 'postgres'
  /** @throws Error when the store cannot be reached or is not usable */
  open(): Promise<void>
  /** The queue by that name, for producers and for bull-board. @throws QueuesUnavailable before `open` has resolved */
  queue(name: ShownQueue): Queue
  /** @throws QueuesUnavailable before `open` has resolved */
  consumer(options: ConsumerOptions): Consumer
  /** Checks the store now. Never throws and never takes longer than `timeoutMs`. */
  check(timeoutMs: number): Promise<BackendCheck>
  /** Since when the store has not answered, in epoch milliseconds; null while it answers. */
  unavailableSinceMs(): number | null
  /** Called by users of the store: it answered (true), or it did not. */
  reportAvailable(available: boolean): void
  /** Called by users of the store: an error occurred. Logged at most once per interval for each kind of error. */
  reportError(thrown: unknown): void
  /** Closes all connections without waiting for outstanding answers. */
  close(): Promise<void>
}
