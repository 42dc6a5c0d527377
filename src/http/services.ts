import type { Queue } from 'bullmq'
import type { Logger } from 'pino'
import type { HttpLimits } from '../config/config.ts'
import type { EffectiveSetting } from '../config/effective-settings.ts'
import type { Forecast } from '../domain/commands/forecast-answer.ts'
import type { GtinReport } from '../domain/inventory/gtin-report.ts'
import type { MarketplaceNotification } from '../domain/sync/notification.ts'
import type { RetentionSettings } from '../domain/sync/retention.ts'
import type { SyncRunRequest } from '../domain/sync/run-request.ts'
import type { RateLimitSnapshot } from '../domain/values/rate-limit-snapshot.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { DecisionRequest, DecisionResult } from '../store/commands/command-decisions.ts'
import type { Database } from '../store/db/database.ts'
import type { Listener } from '../store/db/listener.ts'
import type {
  EventForecast,
  EventKey,
  EventsResult,
  IncomingEvent,
  RejectionRequest,
  RejectionResult,
} from '../store/events/events.ts'
import type { OtherReread } from '../store/sellers/seller-processes.ts'
import type { ReplayOutcome } from '../store/sync/quarantine.ts'
import type { StreamPace } from '../store/sync/sync-states.ts'

/** One check of health. `detail` is a sentence for the operator; never a secret. */
export interface HealthCheck {
  readonly name: string
  readonly ok: boolean
  readonly detail?: string | undefined
}

/** Kinds of marketplace: the real one, the built-in sandbox, the sandbox with the demonstration ERP. */
export const marketplaceKinds = ['real', 'sandbox', 'demonstration'] as const

/** One of {@link marketplaceKinds}. */
export type MarketplaceKind = (typeof marketplaceKinds)[number]

/** Health as a list of checks; `ok` if all of them are. */
export interface HealthReport {
  readonly ok: boolean
  readonly checks: readonly HealthCheck[]
}

/** A queue as bull-board shows it. */
export interface BoardQueue {
  readonly queue: Queue
  /** Jobs cannot be retried, removed or added: they only trigger work, and Postgres decides. */
  readonly readOnly: boolean
}

/** What the webhook routes need from the sender of webhooks. */
export interface WebhookServices {
  /** Why a URL cannot be an endpoint, as a predicate of "url" (`must begin with https://`); null: it can. */
  findUrlFault(url: string): string | null
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

/** What the routes of the channels of alarms need from the sender of alarms. */
export interface AlarmChannelServices {
  /** Whether e-mails can be sent. */
  readonly hasMailServer: boolean
  /** Why a URL cannot be a channel, as a predicate of "url" (`must begin with https://`); null: it can. */
  findUrlFault(url: string): string | null
  /** Sends a test message now; null: there is no such channel. `error` is a code. */
  test(
    id: string,
    signal: AbortSignal,
  ): Promise<{
    readonly delivered: boolean
    readonly status: number | null
    readonly error: string | null
    readonly durationMs: number
  } | null>
  /** What is due to a channel is sent now. */
  enqueue(id: string): Promise<void>
}

/** What the route of the marketplace's notifications needs. */
export interface NotificationServices {
  /** The secret that proves notifications about a seller; null: none is set, undefined: no such seller is configured here. */
  findSecret(sellerId: string): string | null | undefined
  /** Stores it, and makes its records be read (`jobs/notifications/accept.ts`). False: it was received before. */
  accept(sellerId: string, notification: MarketplaceNotification): Promise<boolean>
}

/** Result of reading the sellers again. */
export type SellersReload =
  | {
      readonly ok: true
      readonly sellers: readonly string[]
      readonly added: readonly string[]
      readonly removed: readonly string[]
      /** Null: the other processes could not be reached. */
      readonly others: readonly OtherReread[] | null
    }
  /** One line for each error, with its position; no secrets. */
  | { readonly ok: false; readonly faults: readonly string[] }
  /** They are valid, but could not be stored. */
  | { readonly ok: false; readonly isStored: false }

/** Dependencies of the HTTP server; wired in `src/daemon/http.ts`. */
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
  /** The marketplace that this process uses. */
  readonly marketplace: MarketplaceKind
  readonly settings: {
    readonly effective: readonly EffectiveSetting[]
    /** Variables with the prefix of a setting that are not settings. */
    readonly unknown: readonly string[]
  }
  /** Whether the process with this name is known to have ended. */
  readonly hasEnded: (process: string) => boolean
  /** Ids of the sellers served by this daemon. */
  sellers(): readonly string[]
  /** Whether a seller is, or once was, one of this database. */
  knowsSeller(sellerId: string): Promise<boolean>
  /** Reads the settings of the sellers again. If they are invalid or cannot be stored, no seller changes. */
  reloadSellers(): Promise<SellersReload>
  /** The marketplace's time for a seller, by which "late" and "lag" are measured. */
  marketplaceNow(sellerId: string): Date
  /** Intervals of the streams that are scheduled. */
  readonly paces: readonly StreamPace[]
  /** The rate limits that any process used recently. */
  budget(): Promise<readonly RateLimitSnapshot[]>
  /** When open work of sellers, and one command of theirs, will be done (`jobs/rate-limits/forecast.ts`). */
  forecast(sellerIds: readonly string[], hours: number, commandId: string | undefined): Promise<Forecast>
  /** Stores events durably and derives their commands (`jobs/events/accept.ts`). */
  acceptEvents(events: readonly IncomingEvent[], signal: AbortSignal): Promise<EventsResult>
  /** Makes trouble in the sandbox to look at; null: this is no demonstration. */
  readonly makeTrouble: ((signal: AbortSignal) => Promise<{ readonly heldOrder: string; readonly lateOrder: string }>) | null
  /** What events would do now; writes nothing (`jobs/events/dry-run.ts`). */
  dryRunEvents(events: readonly IncomingEvent[]): Promise<readonly EventForecast[]>
  /** An operator rejects a waiting event (`jobs/events/reject.ts`). */
  rejectEvent(key: EventKey, by: RejectionRequest): Promise<RejectionResult>
  /** Applies a decision and enqueues the resulting jobs. */
  decide(request: DecisionRequest): Promise<DecisionResult>
  readonly syncs: {
    /** Names of the resources that can be synced. */
    readonly resources: readonly string[]
    /** Names of the resources that support backfills. */
    readonly backfillable: readonly string[]
    /** The time range that a backfill of the resource can read now. */
    reach(resource: string, now: Date): { readonly from: Date; readonly to: Date }
    /** Returns the ids of the jobs. Times that cannot be read are excluded. */
    run(request: SyncRunRequest): Promise<readonly string[]>
  }
  /** Requests the report of one GTIN from the marketplace now (`jobs/sync/resources/gtin-report.ts`). @throws MarketplaceFailure */
  readGtinReport(sellerId: string, gtin: string, signal: AbortSignal): Promise<GtinReport>
  readonly retention: {
    readonly keep: RetentionSettings
    /** Starts the removal of old data; returns the time of the request by the clock of Postgres. */
    run(): Promise<Date>
  }
  readonly webhooks: WebhookServices
  readonly alarmChannels: AlarmChannelServices
  readonly notifications: NotificationServices
  replayQuarantined(id: bigint): Promise<ReplayOutcome>
  readonly health: {
    /** Alive: work is being consumed. Does not touch the database. */
    live(): HealthReport
    /** Ready: migrated, connected, roles started. Draining is added by the server itself. */
    ready(): Promise<HealthReport>
  }
  /** The metrics that the server counts. */
  readonly counters: Pick<Metrics, 'httpRequests' | 'httpRequestDuration' | 'eventsReceived' | 'notifications'>
  /** Prometheus text. */
  metrics(): Promise<{ readonly contentType: string; readonly body: string }>
  /** Queues for bull-board; read once, at the start. */
  boardQueues(): readonly BoardQueue[]
}
