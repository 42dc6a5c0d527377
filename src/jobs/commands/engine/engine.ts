import type { MarketplaceClient, ReadClient } from '../../../clients/http/client.ts'
import type { CommandKind } from '../../../domain/commands/command.ts'
import type { StoredCommand } from '../../../store/commands/commands.ts'
import { type CommitLane, commitTogether } from '../../../store/commit/commit-group.ts'
import type { Database, Transaction } from '../../../store/db/database.ts'
import type { ConfiguredSeller } from '../../../store/sellers/sellers.ts'
import { type After, type Clock, systemClock } from '../../../util/clock.ts'
import type { SellerRegistry } from '../../sellers/registry.ts'
import type { CommandSubject } from './subject.ts'

/** Dependencies of the command engine. */
export interface CommandParts {
  readonly database: Database
  readonly sellers: Pick<SellerRegistry, 'has' | 'worksFor' | 'suspend' | 'client' | 'liveClient' | 'configured' | 'findSettings'>
  /** Names this process in leases. */
  readonly owner: string
  readonly requestTimeoutMs: number
  /** How long after an unanswered write its effect may still appear; longer than the longest request can live. */
  readonly settleTimeMs: number
  /** Called after a command was settled: the next one of its subject may run. */
  readonly onSettled: (sellerId: string, subject: string) => Promise<void>
  /** Called when a seller was suspended in this process because its credentials are refused. */
  readonly onSuspended?: () => void
  /** Called when a command is due earlier than its job. */
  readonly onEarlierDue?: (commandId: string) => void
  /** Counts the outcomes of commands, by kind. */
  readonly onOutcome?: (
    kind: CommandKind,
    outcome: 'confirmed' | 'rejected' | 'predicted' | 'held' | 'unknown' | 'throttled' | 'not-sent',
  ) => void
  /** Our own clocks; those of the machine by default. */
  readonly clock?: Clock
  /** Schedules work; a timer of this process by default. */
  readonly after?: After
  /**
   * The database was restored from a backup: a request may have been sent that has no record. Before the first request of a command its subject is read,
   * not before this time of the monotonic clock: a request sent before the start of this process is visible by then.
   */
  readonly afterRestore?: { readonly readsFromMs: number }
  /** Jitter: from 0 up to but not including 1; `Math.random` by default. */
  readonly random?: () => number
}

/** The part of a log that the engine uses. */
export interface CommandLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The part of a job that the engine uses. */
export interface CommandJob {
  readonly signal: AbortSignal
  /** Runs of this job, including this one; one when left out. */
  readonly starts?: number
  /** Ids of commands that this process is running; the caller maintains it. Left out: only this one. */
  readonly inProgress?: Set<string>
  readonly log: CommandLog
}

/** One run of one command. */
export interface AnyRun {
  readonly parts: CommandParts
  /** Its configuration when the client was chosen: a failure of old settings must not stop a seller with new ones. */
  readonly seller: ConfiguredSeller
  readonly job: CommandJob
  readonly command: StoredCommand
  readonly client: ReadClient
  /** The same client with its writes; null: the seller is in shadow mode, and nothing can be sent. */
  readonly live: MarketplaceClient | null
}

/** One run of one command, with its subject. */
export interface Run<Thing, Request extends object> extends AnyRun {
  readonly subject: CommandSubject<Thing, Request>
}

/** The clocks of a run. */
export const getClock = ({ clock = systemClock }: Pick<CommandParts, 'clock'>): Clock => clock

/**
 * Runs a transaction of a run. For a command on an order it is committed together with concurrent ones, and may be repeated, so it must only have effects
 * on Postgres.
 */
export const commitInGroup = <Result>(
  { parts, command }: AnyRun,
  lane: CommitLane,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> => {
  const { id, sellerId, purchaseOrderId, content } = command
  // A return may belong to several orders, whose commands would lock it in any order.
  if (purchaseOrderId === null || content.kind === 'refund-return') return parts.database.transaction(work)
  return commitTogether(parts.database, lane, { sellerId, purchaseOrderId, commandId: id }, work)
}

/** Fields of every log line about a command. */
export const logFields = ({ command }: Pick<AnyRun, 'command'>) => ({
  seller_id: command.sellerId,
  ...(command.purchaseOrderId === null ? {} : { purchase_order_id: command.purchaseOrderId }),
  command_id: command.id,
  kind: command.content.kind,
})

/** Logs that a command was held, after the commit that held it. */
export const logHeld = (log: Pick<CommandLog, 'warn'>, run: Pick<AnyRun, 'command'>): void =>
  log.warn(logFields(run), 'command held: an operator must confirm, reject or retry it')
