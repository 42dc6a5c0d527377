import type { HeldLeave } from '../../clients/budget.ts'
import type { MarketplaceClient } from '../../clients/client.ts'
import { type After, type Clock, systemClock } from '../../clock.ts'
import type { CommandKind } from '../../domain/command.ts'
import type { StoredCommand } from '../../store/commands.ts'
import { type CommitLane, commitTogether } from '../../store/commit-group.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { ConfiguredSeller } from '../../store/sellers.ts'
import type { SellerRegistry } from '../sellers.ts'
import type { CommandSubject } from './subject.ts'

/** Dependencies of the command engine. */
export interface CommandParts {
  readonly database: Database
  readonly sellers: Pick<SellerRegistry, 'has' | 'worksFor' | 'putAside' | 'client' | 'configured'>
  /** Names this process in leases. */
  readonly owner: string
  readonly requestTimeoutMs: number
  /** How long after an unanswered write its effect may still appear; longer than the longest request can live. */
  readonly settleTimeMs: number
  /** Called after a command has been settled: the next of its subject may run. */
  readonly onSettled: (sellerId: string, subject: string) => Promise<void>
  /** Called after a command has been run by the job of another one, and goes on: its own job comes at a moment that does not hold any more. */
  readonly onRunForAnother?: (commandId: string) => void
  /** Counts the outcomes of commands, by kind. */
  readonly onOutcome?: (
    kind: CommandKind,
    outcome: 'confirmed' | 'rejected' | 'held' | 'unknown' | 'throttled' | 'not-sent',
  ) => void
  /** Our own clocks; those of the machine by default. */
  readonly clock?: Clock
  /** How work is done later; by a timer of this process by default. */
  readonly after?: After
  /**
   * The database was restored from a backup: a request may have been sent of which nothing is known. Before the first request of a command
   * its subject is read, from this moment of the monotonic clock on; what was sent before this process began has shown its effect by then.
   */
  readonly afterRestore?: { readonly readsFromMs: number }
  /** Jitter: from 0 up to but not including 1; `Math.random` by default. */
  readonly random?: () => number
}

/** The part of a log that the engine uses. */
interface CommandLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The part of a job that the engine uses. */
export interface CommandJob {
  readonly signal: AbortSignal
  /** Runs of this job, this one counted; one when left out. */
  readonly starts?: number
  /** Commands that are being run in this process; whoever runs one adds it. Left out: this one alone. */
  readonly underWay?: Set<string>
  /** Leave for its request, which another command has got and gives up for this one; whoever lends it takes back what is not spent. */
  readonly leave?: HeldLeave
  readonly log: CommandLog
  /** The log of another command that this job runs: its lines do not name this job. This one's when left out. */
  readonly logOf?: (commandId: string) => CommandLog
}

/** One run of one command. */
export interface AnyRun {
  readonly parts: CommandParts
  /** As it was configured when the client was picked: settings that came in meanwhile must not be stopped for the old ones. */
  readonly seller: ConfiguredSeller
  readonly job: CommandJob
  readonly command: StoredCommand
  readonly client: MarketplaceClient
}

/** One run of one command, with its subject. */
export interface Run<Thing, Request extends object> extends AnyRun {
  readonly subject: CommandSubject<Thing, Request>
}

/** The clocks of a run. */
export const clockOf = ({ clock = systemClock }: Pick<CommandParts, 'clock'>): Clock => clock

/**
 * A transaction of a run. That of a command on an order is committed with those of others that want it at the same time; it may be done again, so
 * it has no other effect than on Postgres.
 */
export const committing = <Result>(
  { parts, command }: AnyRun,
  lane: CommitLane,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> => {
  const { id, sellerId, purchaseOrderId } = command
  if (purchaseOrderId === null) return parts.database.transaction(work)
  return commitTogether(parts.database, lane, { sellerId, purchaseOrderId, commandId: id }, work)
}

/** Fields of every log line about a command. */
export const fieldsOf = ({ command }: Pick<AnyRun, 'command'>) => ({
  seller_id: command.sellerId,
  ...(command.purchaseOrderId === null ? {} : { purchase_order_id: command.purchaseOrderId }),
  command_id: command.id,
  kind: command.content.kind,
})
