import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { createInProcessBudget } from '../../../src/clients/budget.ts'
import type { MarketplaceClient } from '../../../src/clients/client.ts'
import type { MarketplaceFailure } from '../../../src/clients/errors.ts'
import { Refused, Unavailable } from '../../../src/clients/errors.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { specification } from '../../../src/clients/marketplace/profiles/index.ts'
import type { RateLimits } from '../../../src/clients/operation.ts'
import type { SyncDeps } from '../../../src/jobs/sync/run.ts'
import type { SyncSettings } from '../../../src/jobs/sync/settings.ts'
import { runSync } from '../../../src/jobs/sync/syncs.ts'
import type { JobOutcome } from '../../../src/queues/jobs.ts'
import { type Database, openDatabase } from '../../../src/store/database.ts'
import { limitsOfAll } from '../../clients/operations.ts'
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'
import { vocabularyOf } from '../../support/vocabulary.ts'

/** Times a run may ask to go on before a test calls it endless. */
const runsAtMost = 500
const noBody = () => undefined

/** A seller at the sandbox with a client, and what the engine needs to sync it. */
export interface TestSeller {
  readonly sellerId: string
  readonly client: MarketplaceClient
  readonly deps: SyncDeps
  /** Runs a stream until it says that it is done; answers how often it had to. */
  sync(resource: string, stream: string, deps?: Partial<SyncDeps>): Promise<number>
  /** Runs a stream once. */
  once(resource: string, stream: string, deps?: Partial<SyncDeps>, signal?: AbortSignal): Promise<JobOutcome>
  /** Runs a stream as its job does, failed runs included, but without its pauses, until it is done; answers how many runs failed. */
  read(resource: string, stream: string, deps?: Partial<SyncDeps>, atMost?: number): Promise<number>
  /** Places random orders that nothing happens to by itself. */
  place(count: number, more?: object): Promise<readonly string[]>
  storedOrders(): Promise<readonly string[]>
  changes(): Promise<readonly { readonly type: string; readonly purchase_order_id: string }[]>
  state(stream: string): Promise<StreamState>
  runs(stream: string): Promise<readonly StreamRun[]>
  /** Keys of what is passed over now. */
  passedOver(): Promise<readonly string[]>
  /** Open alarms of what was passed over. */
  skipAlarms(): Promise<readonly { readonly subject: string }[]>
  /** The seller's requests so far, oldest first: method and target. */
  requests(): Promise<readonly string[]>
}

/** A row of `tallyman.sync_states`. */
export interface StreamState {
  readonly watermark: Date | null
  readonly cursor: string | null
  readonly pages: number
  readonly windows: number
  readonly last_error: string | null
  readonly failures: number
  readonly totals: {
    readonly windowsTotal: number
    readonly windowsDone: number
    readonly seen: number
    readonly changed: number
  }
}

/** A row of `tallyman.sync_runs`. */
export interface StreamRun {
  readonly pages: number
  readonly seen: number
  readonly changed: number
  readonly quarantined: number
  readonly error: string | null
}

/** What a client throws when the marketplace answers with this status. */
export const spoiltFailure = (operation: string, sellerId: string, status: number): MarketplaceFailure => {
  const details = {
    operation,
    sellerId,
    correlationId: 'c',
    sent: 'answered',
    httpStatus: status,
    faults: [],
    retryAt: null,
    credentialsDead: false,
    staleToken: false,
    contentNotFound: false,
    alreadyDone: false,
    networkCode: null,
  } as const
  return status >= 500 ? new Unavailable('spoilt', details) : new Refused('spoilt', details)
}

/** A moment so many days before now, ISO. */
export const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

/** Waits as the job does that is told to run again. */
export const until = (moment: Date): Promise<void> => delay(Math.max(0, moment.getTime() - Date.now()))

/** One Postgres, one database and one sandbox for a file of tests. */
export interface SyncBench {
  readonly postgres: TestPostgres
  readonly database: Database
  readonly sandbox: TestSandbox
  seller(limits?: RateLimits): Promise<TestSeller>
  advance(duration: string): Promise<void>
  stop(): Promise<void>
}

/** Enough for any page here; an answer above it comes soon. */
const mostBytes = 1_048_576

/** Small steps, so that a few hundred orders are many pages. */
export const testSettings: Partial<SyncSettings> = { pageSize: 25, lagMs: 1_000, leaseMs: 30_000 }

/** Starts the parts. */
export const startSyncBench = async (): Promise<SyncBench> => {
  const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const database = openDatabase({ vocabularyOf, url: await postgres.database(), connections: 5 })
  const clients: MarketplaceClient[] = []
  const log = pino({ level: 'silent' })
  let count = 0
  return {
    postgres,
    database,
    sandbox,
    advance: async (duration) => void (await sandbox.control('POST', '/clock', { advance: duration })),
    seller: async (limits = {}) => {
      count += 1
      const sellerId = `sync-${count}`
      await sandbox.control('POST', '/sellers', { sellerId })
      const plenty = { tokens: 1_000_000, perMs: 1_000 }
      const rateLimits = { ...limitsOfAll(plenty), ...limits }
      const client = createMarketplaceClient(
        {
          sellerId,
          clientId: `${sellerId}-client`,
          clientSecret: `${sellerId}-secret`,
          profile: specification,
          marketplaceUrl: sandbox.url,
          display: null,
          headerPrefix: specification.headerPrefix,
          quantityField: specification.quantityField,
          serviceName: 'Tallyman test',
          tokenPath: specification.tokenPath,
          requestTimeoutMs: 10_000,
        },
        { budget: createInProcessBudget({ limits: rateLimits }), log: { debug: noBody, warn: noBody }, maxBodyBytes: mostBytes },
      )
      clients.push(client)
      const deps: SyncDeps = { database, client: () => client, owner: 'test', settings: testSettings }
      const once: TestSeller['once'] = (resource, stream, more = {}, signal = new AbortController().signal) =>
        runSync({ ...deps, ...more }, { sellerId, resource, stream }, { signal, log })
      const rows = <Row>(sql: string, ...parameters: readonly unknown[]) => database.query<Row>(sql, sellerId, ...parameters)
      const state: TestSeller['state'] = async (stream) => {
        const [found] = await rows<StreamState>(
          `SELECT watermark, cursor, pages, jsonb_array_length(pending) AS windows, last_error, failures, totals
           FROM tallyman.sync_states WHERE seller_id = $1 AND stream = $2`,
          stream,
        )
        if (found === undefined) throw new Error(`no stream ${stream}`)
        return found
      }
      return {
        sellerId,
        client,
        deps,
        once,
        read: async (resource, stream, more = {}, atMost = 60) => {
          let failed = 0
          for (let run = 0; run < atMost; run += 1) {
            const [outcome] = await Promise.allSettled([once(resource, stream, more)])
            if (outcome.status === 'rejected') failed += 1
            else if ('done' in outcome.value) return failed
          }
          throw new Error(`${resource}/${stream} does not come to an end: ${(await state(stream)).last_error}`)
        },
        sync: async (resource, stream, more) => {
          for (let runs = 1; runs <= runsAtMost; runs += 1) {
            const outcome = await once(resource, stream, more)
            if ('done' in outcome) return runs
            await until(outcome.runAgainAt)
          }
          throw new Error(`${resource}/${stream} does not come to an end`)
        },
        place: async (howMany, more = {}) => {
          const ids: string[] = []
          // An answer names at most a thousand ids.
          while (ids.length < howMany) {
            ids.push(...(await sandbox.placeRandom(Math.min(1_000, howMany - ids.length), { sellerId, alive: false, ...more })))
          }
          return ids
        },
        storedOrders: async () =>
          (
            await rows<{ id: string }>(
              'SELECT purchase_order_id AS id FROM warehouse.orders WHERE seller_id = $1 ORDER BY purchase_order_id',
            )
          ).map((row) => row.id),
        changes: () => rows('SELECT type, purchase_order_id FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq'),
        state,
        runs: (stream) =>
          rows(
            'SELECT pages, seen, changed, quarantined, error FROM tallyman.sync_runs WHERE seller_id = $1 AND stream = $2 ORDER BY id',
            stream,
          ),
        passedOver: async () =>
          (
            await rows<{ record_key: string }>(
              `SELECT record_key FROM tallyman.quarantined_records WHERE seller_id = $1 AND state = 'open' AND skipped IS NOT NULL
               ORDER BY record_key`,
            )
          ).map((row) => row.record_key),
        skipAlarms: () =>
          rows(`SELECT subject FROM tallyman.alarms WHERE seller_id = $1 AND kind = 'reading-skipped' AND resolved_at IS NULL`),
        requests: async () => {
          const { items } = (await sandbox.control('GET', '/requests?limit=5000')) as {
            items: { sellerId: string | null; method: string; url: string }[]
          }
          return items.filter((item) => item.sellerId === sellerId).map((item) => `${item.method} ${item.url}`)
        },
      }
    },
    stop: async () => {
      await Promise.all(clients.map((client) => client.close()))
      await database.close()
      await Promise.all([postgres.stop(), sandbox.stop()])
    },
  }
}
