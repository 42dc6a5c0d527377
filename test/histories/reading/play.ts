import { pino } from 'pino'
import type { MarketplaceClient } from '../../../src/clients/http/client.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { specification } from '../../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { noteNamedOrders } from '../../../src/jobs/maintenance/note-named-orders.ts'
import { runSync } from '../../../src/jobs/sync/engine/syncs.ts'
import type { Database } from '../../../src/store/db/database.ts'
import { numbered } from '../../support/changes.ts'
import { setClock } from '../clock.ts'
import type { Slot, Theatre } from '../theatre.ts'
import { lyingEndsMs, type ReadingHistory } from './history.ts'
import { createReadingWorld, nodeTypes } from './marketplace.ts'
import { judgeReading } from './oracle.ts'

/** How a history of reading went: what it has broken, in words; empty: withstood. */
export interface ReadingPlayed {
  readonly violations: readonly string[]
  readonly requests: number
  readonly runs: number
  readonly trace: readonly string[]
}

const hourMs = 3_600_000
const minuteMs = 60_000
const beginningMs = Date.UTC(2026, 10, 20, 12)
/** Within so long after the last lie everything must be as it truly is: a cycle of the daily reading, and what was skipped comes again. */
const maxWaitMs = 10 * hourMs
/** More runs than that are as bad as no end. */
const maxRuns = 600
/** More requests than that would not fit beside everything else. */
const maxRequests = 15_000

const settings = {
  pageSize: 4,
  maxPerQuery: 10_000,
  lagMs: 2 * minuteMs,
  lookBackMs: 30 * minuteMs,
  rereadDepthMs: 8 * 24 * hourMs,
  oldestDays: 10,
  turnMs: 600_000,
  leaseMs: minuteMs,
} as const

class Died extends Error {
  override readonly name = 'Died'
}

interface Stream {
  readonly name: string
  /** While the marketplace lies, and after it. */
  readonly everyMs: readonly [number, number]
  atMs: number
  failures: number
}

const readStreams = (history: ReadingHistory): Stream[] => {
  const changed = [...new Set(history.orders.map(({ node }) => nodeTypes[node]))]
  const stream = (name: string, whileMs: number, afterMs: number, atMs = 0): Stream => ({
    name,
    everyMs: [whileMs, afterMs],
    atMs: beginningMs + atMs,
    failures: 0,
  })
  return [
    stream('released', 30 * minuteMs, 5 * hourMs),
    ...changed.map((node) => stream(`changed:${node}`, 30 * minuteMs, 4 * hourMs, minuteMs)),
    stream('named', 2 * hourMs, 5 * hourMs, 2 * minuteMs),
    stream('reread', 8 * hourMs, 8 * hourMs, 10 * minuteMs),
  ]
}

let played = 0

/** Plays a history of reading to its end and judges it. */
export const playReading = (theatre: Theatre, history: ReadingHistory): Promise<ReadingPlayed> =>
  theatre.inSlot((slot) => playIn(theatre, slot, history))

const playIn = async (theatre: Theatre, slot: Slot, history: ReadingHistory): Promise<ReadingPlayed> => {
  played += 1
  const number = played
  const sellerId = `reading-${number}`
  const trace: string[] = []
  let nowMs = beginningMs
  const tell = (line: string): void => {
    trace.push(`${((nowMs - beginningMs) / 1000).toFixed(1).padStart(9)} s  ${line}`)
  }
  const world = createReadingWorld({
    history,
    name: number,
    beginningMs,
    nowMs: () => nowMs,
    tick: (ms) => {
      nowMs += ms
    },
    tell,
  })
  const name = `r${number}`
  const url = theatre.marketplace.open(name, world)
  const log = pino({ level: 'warn', base: null, timestamp: false }, { write: (text: string) => tell(`  ${text.trim()}`) })
  const clients: MarketplaceClient[] = Array.from({ length: history.processes }, () =>
    createMarketplaceClient(
      {
        sellerId,
        clientId: 'client',
        clientSecret: 'secret',
        profile: specification,
        marketplaceUrl: url,
        display: null,
        headerPrefix: specification.headerPrefix,
        quantityField: specification.quantityField,
        serviceName: 'Histories',
        tokenPath: specification.tokenPath,
        requestTimeoutMs: 10_000,
      },
      { budget: createInProcessBudget({ limits: specification.rateLimits, now: () => nowMs }), log, now: () => nowMs },
    ),
  )
  let transactions = 0
  const mortal = (): Database => {
    let dead = false
    const alive = (): void => {
      if (dead) throw new Died('the process is dead')
    }
    return {
      findVocabulary: slot.database.findVocabulary,
      get prisma() {
        alive()
        return slot.database.prisma
      },
      query: async (sql, ...parameters) => {
        alive()
        return slot.database.query(sql, ...parameters)
      },
      execute: async (sql, ...parameters) => {
        alive()
        return slot.database.execute(sql, ...parameters)
      },
      transaction: async (work, options) => {
        alive()
        transactions += 1
        dead = history.kills.includes(transactions)
        // Half of those that die do so before, half after the commit.
        if (dead && transactions % 2 === 0) alive()
        const result = await slot.database.transaction(work, options)
        alive()
        return result
      },
      close: async () => undefined,
    }
  }

  const endMs = beginningMs + lyingEndsMs(history) + maxWaitMs
  const streams = readStreams(history)
  let runs = 0
  let first = true
  const setTime = async (): Promise<void> => {
    await setClock(slot.client, slot.clock, nowMs, first)
    first = false
  }
  try {
    await setTime()
    await slot.client.query(
      `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id, status, received_at)
       SELECT '/histories', id, 'erp.order.accepted', jsonb_build_object('purchaseOrderId', id), $1, 'rejected', to_timestamp(at / 1000)
       FROM jsonb_to_recordset($2::jsonb) AS t(id text, at float8, by text) WHERE by = 'event'`,
      [sellerId, formatNamed(history, world.findId)],
    )
    await slot.client.query(
      `WITH given AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS t(id text, at float8, by text) WHERE by = 'return'), parents AS (
         INSERT INTO warehouse.returns (seller_id, return_order_id, return_order_date, raw_hash, raw, observed_at, first_seen_at, changed_at)
         SELECT $1, id, to_timestamp(at / 1000), '', '{}', now(), now(), now() FROM given RETURNING return_order_id)
       INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, purchase_order_id, quantity, raw, first_seen_at,
         changed_at)
       SELECT $1, return_order_id, 1, return_order_id, 1, '{}', now(), now() FROM parents`,
      [sellerId, formatNamed(history, world.findId)],
    )
    await noteNamedOrders(slot.database, [sellerId], new Date(nowMs))
    for (;;) {
      const next = streams.reduce((one, other) => (other.atMs < one.atMs ? other : one))
      if (next.atMs > endMs || runs >= maxRuns) break
      nowMs = Math.max(nowMs, next.atMs)
      await setTime()
      runs += 1
      const place = runs % history.processes
      const client = clients[place] ?? clients[0]
      if (client === undefined) throw new Error('no process')
      tell(`process ${place} runs ${next.name}`)
      const lies = nowMs < beginningMs + lyingEndsMs(history)
      try {
        const outcome = await runSync(
          { database: mortal(), client: () => client, owner: `process-${place}`, settings },
          { sellerId, resource: 'orders', stream: next.name },
          { signal: new AbortController().signal, log },
        )
        next.failures = 0
        if ('done' in outcome) next.atMs = nowMs + next.everyMs[lies ? 0 : 1]
        // Turns are taken by the true clock.
        else next.atMs = outcome.reason === 'taking turns' ? nowMs + 100 : Math.max(nowMs + 1_000, outcome.runAgainAt.getTime())
      } catch (error) {
        next.failures += 1
        tell(`  failed: ${error instanceof Error ? error.message : String(error)}`)
        next.atMs = nowMs + Math.min(10 * minuteMs, 5_000 * 2 ** next.failures)
      }
    }
    nowMs = Math.max(nowMs, endMs)
    await setTime()
    await numbered(slot.database)
    const violations = await judgeReading({ history, world, client: slot.client, sellerId })
    if (runs >= maxRuns) violations.push(`no end after ${runs} runs`)
    if (world.requests() > maxRequests) violations.push(`${world.requests()} requests`)
    return { violations, requests: world.requests(), runs, trace }
  } finally {
    theatre.marketplace.close(name)
    await Promise.all(clients.map((client) => client.close()))
  }
}

const formatNamed = ({ orders }: ReadingHistory, findId: (place: number) => string): string =>
  JSON.stringify(
    orders.map(({ createdMs, namedBy }, place) => ({ id: findId(place), at: beginningMs + Math.min(createdMs, 0), by: namedBy })),
  )
