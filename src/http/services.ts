import type { Queue } from 'bullmq'
import type { Logger } from 'pino'
import type { BudgetFigure } from '../domain/budget-figure.ts'
import type { Forecast } from '../domain/forecast.ts'
import type { GtinReport } from '../domain/gtin-report.ts'
import type { RetentionSettings } from '../domain/retention.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { DecisionRequest, DecisionResult } from '../store/command-decisions.ts'
import type { Database } from '../store/database.ts'
import type { EventForecast, EventKey, EventsVerdict, IncomingEvent, PersonsReason, PersonsRejection } from '../store/events.ts'
import type { Listener } from '../store/listener.ts'
import type { ReplayOutcome } from '../store/quarantine.ts'
import type { StreamPace } from '../store/sync-states.ts'

/** One check of health. `detail` is a sentence for the operator; never a secret. */
export interface HealthCheck {
  readonly name: string
  readonly ok: boolean
  readonly detail?: string | undefined
}

/** What can stand for the marketplace. */
export const marketplaceKinds = ['real', 'sandbox', 'demonstration'] as const

/** One of {@link marketplaceKinds}. */
export type MarketplaceKind = (typeof marketplaceKinds)[number]

/** Health as a list of checks; healthy if all of them are. */
export interface HealthReport {
  readonly ok: boolean
  readonly checks: readonly HealthCheck[]
}

/** A request to run syncs now. With `from`/`to` it is a backfill of that time instead. */
export interface SyncRunRequest {
  readonly resource: string
  /** Null: all sellers. */
  readonly sellerId: string | null
  /** Only this stream of the resource; all of them when absent. */
  readonly stream?: string
  readonly from: Date | null
  readonly to: Date | null
}

/** A queue as bull-board shows it. */
export interface BoardQueue {
  readonly queue: Queue
  /** No retrying, removing or adding: jobs only trigger work, Postgres decides. */
  readonly readOnly: boolean
}

/** Limits of the HTTP server. */
export interface HttpLimits {
  /** Largest body, in bytes. */
  readonly bodyBytes: number
  /** Maximum number of events in a batch: all of them are decided in one transaction. */
  readonly batchEvents: number
  /** Concurrent connections. */
  readonly connections: number
  /** Concurrent waiting readers of the change feed, by server-sent events or long poll. */
  readonly streams: number
  /** Maximum number of faults in one answer. */
  readonly faultsTold: number
}

/** What the API of webhooks needs from their sender. */
export interface WebhookServices {
  /** Why a URL cannot be that of an endpoint, to follow the word "url"; null: it can. */
  refusalOf(url: string): string | null
  /** Sends a test message now, once, and records it. `error` is a code. */
  test(
    endpoint: { readonly id: string; readonly url: string },
    signal: AbortSignal,
  ): Promise<{
    readonly deliveryId: bigint
    readonly delivered: boolean
    readonly httpStatus: number | null
    readonly error: string | null
    readonly durationMs: number
  }>
}

/** What became of reading the sellers again in another process. */
export interface OtherReread {
  readonly process: string
  readonly roles: readonly string[]
  /** Those that it serves now. */
  readonly sellers: readonly string[]
  readonly state: 'reread' | 'faulty' | 'unanswered'
  /** What is wrong with its settings. */
  readonly faults: readonly string[]
}

/** What became of reading the sellers again. */
export type SellersReload =
  | {
      readonly ok: true
      readonly sellers: readonly string[]
      readonly added: readonly string[]
      readonly removed: readonly string[]
      /** Null: the others could not be asked. */
      readonly others: readonly OtherReread[] | null
    }
  /** One line a fault, each with its place; no secrets. */
  | { readonly ok: false; readonly faults: readonly string[] }
  /** They are right, and could not be stored. */
  | { readonly ok: false; readonly isStored: false }

/** A setting as it is in force. */
export interface EffectiveSetting {
  /** Name of the variable. */
  readonly name: string
  /** The text that the variable would have; null: nothing is set, or it is a secret. */
  readonly value: string | null
  readonly secret: boolean
  readonly isSet: boolean
  /** `file`: the variable with `_FILE` names it. */
  readonly from: 'default' | 'environment' | 'file'
}

/** Everything that the HTTP server needs from the rest of the daemon; wired in `src/daemon/http.ts`. */
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
  /** What this process takes for the marketplace: the real one, the built-in sandbox, or that with the demonstration ERP. */
  readonly marketplace: MarketplaceKind
  readonly settings: {
    readonly effective: readonly EffectiveSetting[]
    /** Variables that begin like settings and are none. */
    readonly unknown: readonly string[]
  }
  /** Whether another process, by its name, is known to have ended. */
  readonly hasEnded: (process: string) => boolean
  /** Ids of the sellers served by this daemon. */
  sellers(): readonly string[]
  /** Reads the settings of the sellers again; where they are wrong, or cannot be stored, all stay as they were. */
  reloadSellers(): Promise<SellersReload>
  /** The marketplace's time for a seller, by which "late" and "lag" are measured. */
  marketplaceNow(sellerId: string): Date
  /** How often the streams run by themselves that do. */
  readonly paces: readonly StreamPace[]
  /** The rate limits that were used lately, by any process. */
  budget(): Promise<readonly BudgetFigure[]>
  /** What comes next for sellers within so many hours; takes a while where they are many (`daemon/forecast.ts`). */
  forecast(sellerIds: readonly string[], hours: number, signal: AbortSignal): Promise<Forecast>
  /** Stores events durably and derives their commands (`jobs/events/accept.ts`). */
  acceptEvents(events: readonly IncomingEvent[], signal: AbortSignal): Promise<EventsVerdict>
  /** Works out what events would come to now, and writes nothing (`jobs/events/dry-run.ts`). */
  dryRunEvents(events: readonly IncomingEvent[]): Promise<readonly EventForecast[]>
  /** An operator rejects a waiting event (`jobs/events/reject.ts`). */
  rejectEvent(key: EventKey, by: PersonsReason): Promise<PersonsRejection>
  /** Applies a decision and enqueues the resulting jobs. */
  decide(request: DecisionRequest): Promise<DecisionResult>
  readonly syncs: {
    /** Names of the resources that can be synced. */
    readonly resources: readonly string[]
    /** Those of them that support backfills. */
    readonly withPast: readonly string[]
    /** The time range of such a resource that a backfill can read now. */
    reach(resource: string, now: Date): { readonly from: Date; readonly to: Date }
    /** Returns the ids of the jobs. Times out of reach are excluded. */
    run(request: SyncRunRequest): Promise<readonly string[]>
  }
  /** Requests the report of one GTIN from the marketplace now (`jobs/gtin-report.ts`); throws what that throws. */
  readGtinReport(sellerId: string, gtin: string, signal: AbortSignal): Promise<GtinReport>
  readonly retention: {
    readonly keep: RetentionSettings
    /** Starts the removal of old data; returns the time of the request by the clock of Postgres. */
    run(): Promise<Date>
  }
  readonly webhooks: WebhookServices
  replayQuarantined(id: bigint): Promise<ReplayOutcome>
  readonly health: {
    /** Alive: work is being consumed. Does not touch the database. */
    live(): HealthReport
    /** Ready: migrated, connected, roles started. Draining is added by the server itself. */
    ready(): Promise<HealthReport>
  }
  /** What the server counts itself. */
  readonly counters: Pick<Metrics, 'httpRequests' | 'httpRequestDuration' | 'eventsReceived'>
  /** Prometheus text. */
  metrics(): Promise<{ readonly contentType: string; readonly body: string }>
  /** Queues for bull-board; read once, at the start. */
  boardQueues(): readonly BoardQueue[]
}
