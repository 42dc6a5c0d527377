import type { CallOptions, Observed, SendOptions } from '../../clients/client.ts'
import type { MarketplaceFailure } from '../../clients/errors.ts'
import type { WriteOperationName } from '../../clients/profiles/profile.ts'
import type { Evidence } from '../../domain/evidence.ts'
import type { Transaction } from '../../store/database.ts'

/** A request that was sent, with how the subject stood before. `outcome` is null while nobody knows. */
export interface SentRequest {
  readonly baseline: unknown
  readonly outcome: string | null
}

/** What keeps a command from being sent: its goal is reached already, or our own rules refuse it. */
export interface Obstacle {
  readonly state: 'confirmed' | 'rejected'
  readonly reason: string
  /** A command that nobody asked for is refused without an alarm. */
  readonly quiet?: true
}

/** All that is known of a subject, held under its lock: what is stored, and what our own commands prove. */
export interface Standing<Thing> {
  /** As stored; null when nothing is. */
  readonly stored: Thing | null
  /** Why what was read is behind what is known, so that it decides nothing; null when it is not. */
  lag(read: Thing): string | null
  /** Null: the command may be sent. */
  obstacle(view: Thing | null): Obstacle | null
  /** How it stands before the request leaves, with all that is proven; JSON, stored with the intent. */
  baseline(view: Thing | null): object
}

/**
 * What a command is about, a purchase order or the seller's shipping settings, together with what the command does to it. The engine
 * (`run.ts`) does all the rest. Commands of one subject run one at a time.
 */
export interface CommandSubject<Thing, Request extends object> {
  /** As sentences name it: `the order`. */
  readonly name: string
  readonly operation: WriteOperationName
  /**
   * Whether it is read right before the request leaves, and not taken as stored. Needed where the effect carries no mark of ours, so
   * that what others did meanwhile must not be taken for it.
   */
  readonly readsFirst: boolean
  /** Why a command cannot go on while nothing is stored or shown; null where nothing there is a state like any other. */
  readonly absence: string | null

  /**
   * Reads it from the marketplace; null when there is none.
   *
   * @throws MarketplaceFailure
   */
  read(options: CallOptions): Promise<Observed<Thing> | null>
  /** Whether asking again is pointless: the marketplace does not offer this read. */
  isUnreadable(failure: MarketplaceFailure): boolean
  /** Stores what was read, or that there was none when it was asked for (the marketplace's clock). */
  store(tx: Transaction, observed: Observed<Thing> | null, askedAt: Date): Promise<void>
  /** Locks it until the transaction ends, and answers all that is known of it. */
  lock(tx: Transaction): Promise<Standing<Thing>>

  /** What it tells of the requests that were sent, first to last; null: nothing. */
  judge(sent: readonly SentRequest[], now: Thing | null): Evidence | null
  /** Whether a refusal may mean that an earlier request was applied: it is then read back. A hint only. */
  mayBeDone(failure: MarketplaceFailure): boolean

  /** The request; JSON through and through. Pure. */
  prepare(): Request
  /** @throws MarketplaceFailure */
  send(request: Request, options: SendOptions): Promise<Observed<Thing>>
  /** What else becomes known in the transaction that confirms the command. */
  confirmed?(tx: Transaction): Promise<void>
}

/** Outcomes of requests that the marketplace has never looked at. */
export const neverProcessed: ReadonlySet<string> = new Set(['not-sent', 'throttled'])

/** Those requests that the marketplace may have looked at. */
export const mayBeProcessed = <Attempt extends { readonly outcome: string | null }>(attempts: readonly Attempt[]): Attempt[] =>
  attempts.filter(({ outcome }) => !neverProcessed.has(outcome ?? ''))

/** Outcomes of requests that changed nothing. `dismissed`: a person says so. */
export const withoutEffect: ReadonlySet<string> = new Set([...neverProcessed, 'refused', 'dismissed'])
