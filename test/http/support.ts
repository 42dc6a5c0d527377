import { EventEmitter } from 'node:events'
import { Queue } from 'bullmq'
import { pino } from 'pino'
import { readConfig } from '../../src/config/config.ts'
import { createHttpServer, type HttpServer } from '../../src/http/server.ts'
import type { BoardQueue, HttpServices } from '../../src/http/services.ts'
import { acceptEvents } from '../../src/jobs/events/accept.ts'
import { dryRunEvents } from '../../src/jobs/events/dry-run.ts'
import { rejectByPerson } from '../../src/jobs/events/reject.ts'
import { refusalOfUrl } from '../../src/jobs/webhooks/address.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { decideCommand } from '../../src/store/commands/command-decisions.ts'
import type { Database } from '../../src/store/db/database.ts'
import type { Listener } from '../../src/store/db/listener.ts'
import { marketplace, parts } from '../jobs/events/support.ts'
import { unreachableClient } from '../support/client.ts'

/** A listener that hears what the test says. */
export const silentListener = (): Listener & { say(): void } => {
  const heard = new EventEmitter()
  heard.setMaxListeners(0)
  return {
    on: (_channel, callback) => {
      heard.on('word', callback)
      return () => heard.off('word', callback)
    },
    connected: () => true,
    close: async () => undefined,
    say: () => heard.emit('word'),
  }
}

/** The server with the parts that a test can look at. */
export interface TestServer {
  readonly url: string
  readonly server: HttpServer
  readonly shop: ReturnType<typeof marketplace>
  /** Lines of the log, as objects. */
  readonly log: Record<string, unknown>[]
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** An answer with its JSON, which `support/json.ts` reads. */
  json(path: string, init?: RequestInit): Promise<{ status: number; body: unknown; headers: Headers }>
  close(): Promise<void>
}

/** The limits of a daemon without settings. */
export const defaultLimits = readConfig({}, false).http.limits

/** Starts the server over a real database, on any free port unless one is named. */
export const startServer = async (database: Database, overrides: Partial<HttpServices> = {}, port = 0): Promise<TestServer> => {
  const shop = marketplace()
  const log: Record<string, unknown>[] = []
  const events = parts(database, shop)
  const services: HttpServices = {
    database,
    limits: defaultLimits,
    listener: silentListener(),
    log: pino({ level: 'debug' }, { write: (text: string) => void log.push(JSON.parse(text)) }),
    apiKey: null,
    eventsSecrets: [],
    version: '0.0.0-test',
    marketplace: 'real',
    settings: { effective: readConfig({}, false).shown, unknown: [] },
    hasEnded: () => false,
    sellers: () => ['s-1'],
    // Most tests write rows of sellers that no daemon has recorded.
    knowsSeller: async (sellerId) => sellerId !== 'nobody',
    reloadSellers: async () => ({ ok: true, sellers: ['S'], added: [], removed: [], others: [] }),
    marketplaceNow: () => new Date('2026-03-10T00:00:00Z'),
    paces: [
      { resource: 'orders', stream: 'released', everyMs: 60_000 },
      { resource: 'orders', stream: 'reread', everyMs: 86_400_000 },
      { resource: 'taxonomies', stream: 'all', everyMs: 86_400_000 },
    ],
    budget: async () => [],
    forecast: async (sellerIds, hours) => ({
      from: new Date('2026-03-10T00:00:00Z'),
      until: new Date(Date.parse('2026-03-10T00:00:00Z') + hours * 3_600_000),
      sellerIds,
      assumptions: ['Nothing is known.'],
      backfills: [],
      operations: [],
      commands: { open: 0, sent: 0, late: 0, unsent: 0, lateOnes: [] },
      shipBy: { atRisk: [], waitingForErp: [], waitingForErpCount: 0 },
      command: null,
    }),
    acceptEvents: (posted, signal) => acceptEvents(events, posted, signal),
    makeTrouble: null,
    dryRunEvents: (posted) => dryRunEvents({ ...events, findClient: unreachableClient }, posted),
    rejectEvent: (key, by) => rejectByPerson(database, key, by),
    decide: (request) => decideCommand(database, request),
    syncs: {
      resources: ['orders', 'returns'],
      backfillable: ['orders', 'returns'],
      reach: (_resource, now) => ({ from: new Date(now.getTime() - 180 * 86_400_000), to: now }),
      run: async ({ resource, sellerId }) => [`${resource}~${sellerId ?? 'all'}`],
    },
    readGtinReport: async (sellerId, gtin) => ({
      sellerId,
      gtin,
      month: '2026-03',
      generatedAt: null,
      coveredUntil: null,
      rows: [],
    }),
    retention: { keep: readConfig({}, false).retention, run: async () => new Date() },
    webhooks: {
      findUrlFault: (url) => refusalOfUrl(url, false),
      test: async () => ({ deliveryId: 1n, delivered: true, httpStatus: 204, error: null, durationMs: 3 }),
    },
    alarmChannels: {
      hasMailServer: true,
      findUrlFault: (url) => refusalOfUrl(url, false),
      test: async () => ({ delivered: true, status: 200, error: null, durationMs: 3 }),
      enqueue: async () => undefined,
    },
    notifications: { findSecret: () => null, accept: async () => true },
    replayQuarantined: async (id) =>
      id === 1n
        ? { outcome: 'replayed' }
        : id === 2n
          ? { outcome: 'still-malformed', fault: 'no lines' }
          : { outcome: 'not-found' },
    health: {
      live: () => ({ ok: true, checks: [{ name: 'work', ok: true }] }),
      ready: async () => ({ ok: true, checks: [{ name: 'postgres', ok: true, detail: 'answers' }] }),
    },
    counters: createMetrics({ version: '0.0.0-test', processMetrics: false }),
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'tallyman_up 1\n' }),
    boardQueues: (): readonly BoardQueue[] => [],
    ...overrides,
  }
  const server = await createHttpServer(services)
  const url = await server.listen({ host: '127.0.0.1', port })
  const get = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init)
  return {
    url,
    server,
    shop,
    log,
    fetch: get,
    json: async (path, init) => {
      const response = await get(path, init)
      return { status: response.status, body: await response.json(), headers: response.headers }
    },
    close: () => server.close(),
  }
}

/** A queue that is never connected: enough for bull-board's page. */
export const idleQueue = (name: string): Queue => {
  const queue = new Queue(name, { connection: { host: '127.0.0.1', port: 1, lazyConnect: true, retryStrategy: () => null } })
  queue.on('error', () => undefined)
  return queue
}
