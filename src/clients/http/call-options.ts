import type { Grant } from '../rate-limit/budget.ts'
import type { CallLane } from './lane.ts'

/** Options of one call. Without a grant the call takes one itself, and fails with `Throttled` if there is none. */
export interface CallOptions {
  readonly signal: AbortSignal
  readonly correlationId?: string
  readonly grant?: Grant
  /** The lane in which it waits for a permit; default: the first, of commands and their reads. */
  readonly lane?: CallLane
  /** Called directly before the first byte of a write is sent; false: nothing is sent, and the call fails as never sent. */
  readonly maySend?: () => boolean
}

/** Options of a write. Its correlation id was stored with the intent. */
export type SendOptions = CallOptions & { readonly correlationId: string }
