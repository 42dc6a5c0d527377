import type { Grant } from './budget.ts'
import type { CallLane } from './lane.ts'

/** How one call is made. Without a grant the call takes one itself and fails with `Throttled` when there is none. */
export interface CallOptions {
  readonly signal: AbortSignal
  readonly correlationId?: string
  readonly grant?: Grant
  /** In which lane it waits for the budget; default: the first one, of commands and what they read. */
  readonly lane?: CallLane
  /** Asked right before the first byte of a write leaves; false: nothing is sent, and the call fails as never sent. */
  readonly mayLeave?: () => boolean
}

/** How a write is sent: its correlation id was stored with the intent, so it is given. */
export type SendOptions = CallOptions & { readonly correlationId: string }
