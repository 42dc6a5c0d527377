import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorShape } from '../core/errors.ts'
import type { Method } from '../core/methods.ts'
import type { FaultPlan } from '../faults/faults.ts'
import type { Limit } from '../faults/limits.ts'
import type { FaultName } from '../faults/schema.ts'
import type { Dialect } from '../settings.ts'
import type { World } from '../world.ts'
import type { Query } from './query.ts'

/** A business call that was let in. */
export interface Call {
  /** Name of the operation. */
  readonly operation: string
  /** Whose call it is; in display advertising the consumer id, since there the integrator is known and no seller. */
  readonly sellerId: string
  /** Of the path; empty where the path names none. */
  readonly purchaseOrderId: string
  /** The placeholders of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly headers: IncomingHttpHeaders
  /** As the operation's `body` says: JSON, text, or `null`. */
  readonly body: unknown
  readonly correlationId: string
  readonly requestId: string
}

/** What an operation answers when it does not refuse: JSON, or text that may come in pieces (a file). */
export type Result = {
  /** 200 unless given. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
} & ({ readonly json: unknown } | { readonly text: string | Iterable<string>; readonly contentType: string })

/**
 * How a request is let in: by the token operation's own credentials; by the seller's token and the marketplace headers; the same
 * with header names that may also be written without underscores (specification, Authentication); by a display signature.
 */
export type Admission = 'credentials' | 'marketplace' | 'marketplace-either-spelling' | 'display'

/** One operation of the marketplace. */
export interface Operation {
  /** As faults and limits use it. */
  readonly name: string
  /** How often a seller may call it (public facts, section 5.1); null: no number is published. */
  readonly limit: Limit | null
  readonly method: Method
  /** Fastify paths; the specification gives two for some operations. */
  readonly urls: readonly string[]
  readonly admission: Admission
  /** Headers beyond those of its admission, whose absence is a 400. */
  readonly requiredHeaders?: (dialect: Dialect) => readonly string[]
  /** `optional-json`: nothing at all is welcome too, and read as `null`. */
  readonly body: 'none' | 'json' | 'optional-json' | 'text'
  /** Whether it changes something: only writes have effects that can come late. */
  readonly writes: boolean
  /** How its own errors are wrapped; refusals of the gateway keep the gateway's shape, in display advertising they too come in this one. */
  readonly errorShape: ErrorShape
  /** The faults on rows and pages that mean anything to it; see `selectiveFaults`. */
  readonly faults: readonly FaultName[]
  /** The part of the seller's budget that a request takes from, where the budget is not one for all. */
  readonly budgetScope?: (world: World, query: Query) => string
  /** Whether the call asks for a further page of a list. */
  readonly onFurtherPage?: (call: Call) => boolean
  /**
   * Does what the call asks for. Throws a `Refusal`, and then nothing of it took effect. Only an operation that changes nothing here may wait for
   * another program.
   */
  readonly perform: (world: World, call: Call, plan: FaultPlan, now: number) => Result | Promise<Result>
}
