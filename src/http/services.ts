import type { Queue } from 'bullmq'
import type { Logger } from 'pino'
import type { GtinReport } from '../domain/gtin-report.ts'
import type { RetentionSettings } from '../domain/retention.ts'
import type { DecisionRequest, DecisionResult } from '../store/command-decisions.ts'
import type { Database } from '../store/database.ts'
import type { EventKey, EventsVerdict, IncomingEvent, PersonsReason, PersonsRejection } from '../store/events.ts'
import type { Listener } from '../store/listener.ts'

/** One thing that health depends on. `detail` is a sentence for a person; never a secret. */
export interface HealthCheck {
  readonly name: string
  readonly ok: boolean
  readonly detail?: string | undefined
}

/** Health as a list of checks; healthy when all of them are. */
export interface HealthReport {
  readonly ok: boolean
  readonly checks: readonly HealthCheck[]
}

/** A request to run syncs now. `from`/`to` make it a backfill of that time instead. */
export interface SyncRunRequest {
  readonly resource: string
  /** Null: all sellers. */
  readonly sellerId: string | null
  /** Only this stream of the resource; all of them when absent. */
  readonly stream?: string
  readonly from: Date | null
  readonly to: Date | null
}

/** What became of a quarantined record that was read again. */
export type ReplayResult =
  | { readonly outcome: 'replayed' }
  | { readonly outcome: 'superseded' }
  | { readonly outcome: 'still-malformed'; readonly fault: string }
  | { readonly outcome: 'not-found' }
  /** It was replayed or superseded before. */
  | { readonly outcome: 'already-settled'; readonly state: string }

/** A queue as bull-board shows it. */
export interface BoardQueue {
  readonly queue: Queue
  /** No retry, no removal, no adding: the queue's jobs are hints, Postgres decides. */
  readonly readOnly: boolean
}

/** Bounds of what the HTTP server takes. */
export interface HttpLimits {
  /** Largest body, in bytes. */
  readonly bodyBytes: number
  /** Most events of one batch: all of them are decided in one transaction. */
  readonly batchEvents: number
  /** Connections at once. */
  readonly connections: number
  /** Readers of the change feed that wait at once, by server-sent events or long poll. */
  readonly streams: number
  /** Most faults that one answer lists. */
  readonly faultsTold: number
}

/** Everything that the HTTP server needs from the rest of the daemon; wired in `main.ts`. */
export interface HttpServices {
  readonly database: Database
  readonly limits: HttpLimits
  /** Wakes long polls and event streams; its channel `tallyman_changes`. */
  readonly listener: Listener
  readonly log: Logger
  /** Bearer key; null: open, on the loopback interface only. */
  readonly apiKey: string | null
  /** Standard Webhooks secrets (`whsec_…`), any of which may have signed; empty: events are not signed. */
  readonly eventsSecrets: readonly string[]
  readonly version: string
  /** Ids of the sellers that this daemon serves. */
  sellers(): readonly string[]
  /** The marketplace's time for a seller: "late" and "lag" are measured by it. */
  marketplaceNow(sellerId: string): Date
  /** Makes events durable and turns them into commands (`jobs/events/accept.ts`). */
  acceptEvents(events: readonly IncomingEvent[], signal: AbortSignal): Promise<EventsVerdict>
  /** A person ends a waiting event (`jobs/events/reject.ts`). */
  rejectEvent(key: EventKey, by: PersonsReason): Promise<PersonsRejection>
  /** Carries out a decision and enqueues what is due then. */
  decide(request: DecisionRequest): Promise<DecisionResult>
  readonly syncs: {
    /** Names of the resources that can be synced. */
    readonly resources: readonly string[]
    /** Those of them that have a past which can be read again. */
    readonly withPast: readonly string[]
    /** Times of such a resource that can be read again now. */
    reach(resource: string, now: Date): { readonly from: Date; readonly to: Date }
    /** Answers the ids of the jobs that will do it. Times out of reach are left out. */
    run(request: SyncRunRequest): Promise<readonly string[]>
  }
  /** Asks the marketplace for the report of one GTIN now (`jobs/gtin-report.ts`); throws what that throws. */
  readGtinReport(sellerId: string, gtin: string, signal: AbortSignal): Promise<GtinReport>
  readonly retention: {
    readonly keep: RetentionSettings
    /** Has old data removed now; answers when that was asked for, by the clock of Postgres. */
    run(): Promise<Date>
  }
  replayQuarantined(id: bigint): Promise<ReplayResult>
  readonly health: {
    /** Alive: work is being consumed. Does not touch the database. */
    live(): HealthReport
    /** Ready: migrated, connected, roles started. Draining is added by the server itself. */
    ready(): Promise<HealthReport>
  }
  /** Prometheus text. */
  metrics(): Promise<{ readonly contentType: string; readonly body: string }>
  /** Queues for bull-board; asked once, at the start. */
  boardQueues(): readonly BoardQueue[]
}
