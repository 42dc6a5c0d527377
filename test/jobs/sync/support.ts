import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { MarketplaceClient } from '../../../src/clients/http/client.ts'
import type { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { Refused, Unavailable } from '../../../src/clients/http/errors.ts'
import type { RateLimits } from '../../../src/clients/http/operation.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { specification } from '../../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../../src/clients/marketplace/profiles/profile.ts'
import type { RateBudget } from '../../../src/clients/rate-limit/budget.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import type { SyncDeps } from '../../../src/jobs/sync/engine/run.ts'
import type { SyncSettings } from '../../../src/jobs/sync/engine/sync-settings.ts'
import { runSync } from '../../../src/jobs/sync/engine/syncs.ts'
import type { JobOutcome } from '../../../src/queues/jobs.ts'
import type { Database } from '../../../src/store/db/database.ts'
import { limitsOfAll } from '../../clients/operations.ts'
import { numbered } from '../../support/changes.ts'
import { withDatabase } from '../../support/database.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'

/** Times a run may ask to go on before a test calls it endless. */
const runsAtMost = 500
const noBody = () => undefined

/** A seller at the sandbox with a client, and what the engine needs to sync it. */
export interface TestSeller {
  readonly sellerId: string
  readonly client: MarketplaceClient
  readonly deps: SyncDeps
  /** Waits as the job does that is told to run again; limits of this seller's own count it as waited. */
  readonly goOn: Pace['goOn']
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
  /**
   * Lets a minute pass since anything was set aside. The marketplace's clock is known to a second only: what heals it must have been observed
   * later by that clock too.
   */
  ageQuarantine(): Promise<number>
  /** Keys of what is skipped now. */
  skipped(): Promise<readonly string[]>
  /** Open alarms of what was skipped. */
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
export const corruptFailure = (operation: string, sellerId: string, status: number): MarketplaceFailure => {
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
  return status >= 500 ? new Unavailable('corrupt', details) : new Refused('corrupt', details)
}

/** A moment so many days before now, ISO. */
export const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

/** A database and a sandbox of a file's own. They are there within its hooks and tests only. */
export interface SyncBench {
  readonly database: Database
  /** Address of the database, for connections of a test's own. */
  readonly url: string
  readonly sandbox: TestSandbox
  /** A new seller at the sandbox, with a client of its own. */
  seller(limits?: RateLimits): Promise<TestSeller>
  /** Sets the sandbox's clock forward. */
  advance(duration: string): Promise<void>
}

/** A seller's rate budget, and how a run waits that is told to go on at a moment. */
export interface Pace {
  readonly budget: RateBudget
  goOn(at: Date): Promise<void>
}

/**
 * More budget than any test needs but for these limits. The time of limits stands still until `goOn`: they cut a run after the same requests on
 * a machine of any speed.
 */
export const buildPace = (limits: RateLimits | null): Pace => {
  const rateLimits = { ...limitsOfAll({ tokens: 1_000_000, perMs: 1_000 }), ...limits }
  if (limits === null) {
    const goOn = (at: Date): Promise<void> => delay(Math.max(0, at.getTime() - Date.now()))
    return { budget: createInProcessBudget({ limits: rateLimits }), goOn }
  }
  let nowMs = Date.now()
  return {
    budget: createInProcessBudget({ limits: rateLimits, now: () => nowMs }),
    goOn: async (at) => {
      nowMs = Math.max(nowMs, at.getTime())
    },
  }
}

/** Enough for any page here; an answer above it comes soon. */
const maxBytes = 1_048_576

/** The load of the machine does not decide where a turn ends, or whether a running process has lost its lease: a test of these sets them. */
export const unhurried: Partial<SyncSettings> = { turnMs: 600_000, leaseMs: 600_000 }

/** Small steps, so that a few hundred orders are many pages. */
export const testSettings: Partial<SyncSettings> = { ...unhurried, pageSize: 25, lagMs: 1_000 }

/** Opens the parts for this file, ends every fault after each of its tests, and closes the parts afterwards. Call it before hooks that use it. */
export const withSyncBench = (profile: Profile = specification): SyncBench => {
  const stage = withDatabase({ connections: 5 })
  let started: TestSandbox | null = null
  const clients: MarketplaceClient[] = []
  const log = pino({ level: 'silent' })
  let count = 0
  const bench: SyncBench = {
    get database() {
      return stage.database
    },
    get url() {
      return stage.url
    },
    get sandbox() {
      if (started === null) throw new Error('the sandbox of a test is there within its hooks and tests only')
      return started
    },
    advance: async (duration) => void (await bench.sandbox.control('POST', '/clock', { advance: duration })),
    seller: async (limits) => {
      const { database, sandbox } = bench
      count += 1
      const sellerId = `sync-${count}`
      await sandbox.control('POST', '/sellers', { sellerId })
      const { budget, goOn } = buildPace(limits ?? null)
      const client = createMarketplaceClient(
        {
          sellerId,
          clientId: `${sellerId}-client`,
          clientSecret: `${sellerId}-secret`,
          profile,
          marketplaceUrl: sandbox.url,
          display: null,
          headerPrefix: profile.headerPrefix,
          quantityField: profile.quantityField,
          serviceName: 'Tallyman test',
          tokenPath: profile.tokenPath,
          requestTimeoutMs: 10_000,
        },
        { budget, log: { debug: noBody, warn: noBody }, maxBodyBytes: maxBytes },
      )
      clients.push(client)
      const deps: SyncDeps = { database, client: () => client, owner: 'test', settings: testSettings }
      const once: TestSeller['once'] = (resource, stream, more = {}, signal = new AbortController().signal) =>
        runSync({ ...deps, ...more }, { sellerId, resource, stream }, { signal, log })
      const rows = async <Row>(sql: string, ...parameters: readonly unknown[]) =>
        (await numbered(database)).query<Row>(sql, sellerId, ...parameters)
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
        goOn,
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
            await goOn(outcome.runAgainAt)
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
        ageQuarantine: () =>
          database.execute(
            `UPDATE tallyman.quarantined_records SET observed_at = observed_at - interval '1 minute' WHERE seller_id = $1`,
            sellerId,
          ),
        skipped: async () =>
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
  }
  beforeAll(async () => {
    started = await startTestSandbox({ MARKETPLACE_PROFILE: profile.name })
  })
  afterEach(() => bench.sandbox.control('PUT', '/faults', {}))
  afterAll(async () => {
    const { sandbox } = bench
    started = null
    await Promise.all(clients.map((client) => client.close()))
    await sandbox.stop()
  })
  return bench
}
