import type { CallOptions, SendOptions } from '../../../clients/http/call-options.ts'
import type { MarketplaceFailure } from '../../../clients/http/errors.ts'
import type { Operation } from '../../../clients/http/operation.ts'
import type { Acceptance } from '../../../clients/http/order-commands.ts'
import type { Observed } from '../../../clients/http/record.ts'
import type { Evidence } from '../../../domain/commands/evidence.ts'
import type { Transaction } from '../../../store/db/database.ts'

/** A request that was sent, with the subject's state before it. `outcome` is null while it is unknown. */
export interface SentRequest {
  readonly baseline: unknown
  readonly outcome: string | null
}

/** Why a command is not sent: its goal is already reached, or our own rules refuse it. */
export interface Blocker {
  readonly state: 'confirmed' | 'rejected'
  readonly reason: string
  /** A command that was not requested by the ERP is refused without an alarm. */
  readonly quiet?: true
}

/** The known state of a subject, under its lock: the stored state, and the effects that our own commands prove. */
export interface SubjectState<Thing> {
  /** As stored; null if it is not stored. */
  readonly stored: Thing | null
  /** Why the read state is stale, so that it decides nothing; null if it is not. */
  lag(read: Thing): string | null
  /** Null: the command may be sent. */
  blocker(view: Thing | null): Blocker | null
  /** Its state before the request is sent, with all proven effects; JSON, stored with the intent. */
  baseline(view: Thing | null): object
  /** As {@link baseline}, as if only our confirmed commands had changed the subject since its creation. */
  originalBaseline(view: Thing | null): object
}

/**
 * Sends the request of a command. An answer that does not show the subject is an acceptance; the subject is then read back.
 *
 * @throws MarketplaceFailure
 */
export type Send<Thing, Request extends object> = (
  request: Request,
  options: SendOptions,
) => Promise<Observed<Thing> | Acceptance>

/**
 * The subject of a command, a purchase order or the seller's shipping settings, with the command's operations on it. The engine
 * (`run.ts`) does the rest. Commands of one subject run one at a time.
 */
export interface CommandSubject<Thing, Request extends object> {
  /** Its name in messages: `the order`. */
  readonly name: string
  readonly operation: Operation
  /**
   * Whether it is read right before the request is sent, instead of using the stored state. Needed where the effect has no identifying mark, so that
   * effects of others must not be mistaken for it.
   */
  readonly readsFirst: boolean
  /** Why a command cannot continue while nothing is stored or shown; null if a missing record is a regular state. */
  readonly absence: string | null

  /**
   * Reads it from the marketplace; null when there is none.
   *
   * @throws MarketplaceFailure
   */
  read(options: CallOptions): Promise<Observed<Thing> | null>
  /** Whether retrying is useless: the marketplace does not offer this read. */
  isUnreadable(failure: MarketplaceFailure): boolean
  /** Stores the read record, or that there was none at the time of the request (on the marketplace's clock). */
  store(tx: Transaction, observed: Observed<Thing> | null, requestedAt: Date): Promise<void>
  /** Locks it until the transaction ends, and returns its known state. */
  lock(tx: Transaction): Promise<SubjectState<Thing>>

  /** The evidence for the requests that were sent, first to last; null: none. */
  judge(sent: readonly SentRequest[], now: Thing | null): Evidence | null
  /** Whether a refusal may mean that an earlier request was applied: it is then read back. A hint only. */
  mayBeDone(failure: MarketplaceFailure): boolean

  /** Builds the request for this state of the subject (null: there is none), as JSON values. Pure. */
  prepare(view: Thing | null): Request
  /** Null: the seller is in shadow mode, and nothing can be sent. */
  readonly send: Send<Thing, Request> | null
  /** Further changes in the transaction that confirms the command. */
  confirmed?(tx: Transaction): Promise<void>
}

/** Outcomes of requests that the marketplace did not process. */
export const neverProcessed: ReadonlySet<string> = new Set(['not-sent', 'throttled', 'predicted'])

/** Requests that the marketplace may have processed. */
export const mayBeProcessed = <Attempt extends { readonly outcome: string | null }>(attempts: readonly Attempt[]): Attempt[] =>
  attempts.filter(({ outcome }) => !neverProcessed.has(outcome ?? ''))

/** Outcomes of requests that changed nothing. `dismissed`: stated by an operator. */
export const withoutEffect: ReadonlySet<string> = new Set([...neverProcessed, 'refused', 'dismissed'])
