/**
 * A thousand sellers, four of whom are bad neighbours: one has 100,000 commands waiting, the credentials of one are refused, one is answered with 429 and one
 * after 30 seconds. How soon the commands of the others leave, and how much alike they are served, beside the same without bad neighbours, in turns.
 * Linux only.
 * `node bench/neighbours.ts [--sellers 1000] [--backlog 100000] [--seconds 60] [--rounds 2] [--rate 30] [--queues postgres|redis]`
 */
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { ordersEndpoint } from '../src/clients/marketplace/orders/orders.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { insertCommands } from '../src/store/commands/command-steps.ts'
import { type Database, openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { startTestDaemon } from '../test/support/daemon.ts'
import { buildDispatch, cloudEvent, reportedParcel } from '../test/support/events.ts'
import { startTestRedis } from '../test/support/redis.ts'
import { storeOrders } from '../test/support/store.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { computeFairness } from './fairness-index.ts'
import { generateOrder } from './generate.ts'
import { benchFolder, benchOptions, daemonFlags, median } from './measure.ts'
import { badNeighbours } from './neighbours-sellers.ts'
import { buildCommand } from './ship-commands.ts'

const { numbers, queues } = benchOptions({ sellers: 1_000, backlog: 100_000, seconds: 60, rounds: 2, rate: 30 }, { queues: true })
const { sellers, backlog, seconds, rounds } = numbers
const redisWanted = queues === 'redis'

const bad = Object.keys(badNeighbours)
const [greedy = '', ...others] = bad
/** Commands that each bad neighbour but the greedy one has waiting. */
const waitingOfOthers = Math.min(500, backlog)
const healthy = Array.from({ length: sellers - bad.length }, (_, index) => `healthy-${index}`)
/** Events a second in the first part, each of another seller: so few that the machine has time. Where it has not, all of them wait for each other. */
const eventsPerSecond = numbers.rate
const steadyEvents = Math.floor(seconds * eventsPerSecond)
const steadyOfEach = Math.ceil(steadyEvents / healthy.length)
/** Events of each healthy seller that come all at once in the second part: more than the machine can carry at once, and fewer than a burst. */
const burstOfEach = 10
/** Of each seller: a tenth of it may be sent at once while the marketplace does not report what remains. */
const callsPerMinute = 60 * burstOfEach
const ordersOfEach = steadyOfEach + burstOfEach
const pageSize = 200
const settleMs = 30_000
const longestBurstMs = 300_000

/** The orders of a healthy seller follow each other; those of the bad ones come after all of them. */
const orderExpression = (seller: number, index: number): number => seller * ordersOfEach + index
const firstOfBad = healthy.length * ordersOfEach

const buildEvent = (sellerId: string, order: number) => {
  const { purchaseOrderId, payload } = buildCommand(order)
  const [parcel] = payload.parcels
  if (parcel === undefined) throw new Error(`order ${purchaseOrderId} has no parcel`)
  const reported = { ...reportedParcel(parcel.trackingNumber, ...parcel.lines), shippedAt: parcel.shippedAt }
  return cloudEvent(buildDispatch({ sellerId, purchaseOrderId }, randomUUID(), reported))
}

const storeSellerOrders = async (database: Database, sellerId: string, first: number, count: number): Promise<void> => {
  for (let done = 0; done < count; done += pageSize) {
    const records = Array.from({ length: Math.min(pageSize, count - done) }, (_, index) => generateOrder(first + done + index, 0))
    await storeOrders(database, { sellerId, records, observedAt: new Date(Date.now() - 60_000) })
  }
}

const insertShipments = async (database: Database, sellerId: string, first: number, count: number): Promise<void> => {
  for (let done = 0; done < count; done += pageSize) {
    await database.transaction(async (transaction) => {
      for (let order = first + done; order < first + Math.min(done + pageSize, count); order += 1) {
        const command = buildCommand(order)
        await insertCommands(transaction, {
          sellerId,
          purchaseOrderId: command.purchaseOrderId,
          event: null,
          commands: [command],
        })
      }
    })
  }
}

const saidSchema = z.union([
  z.object({ port: z.number() }),
  z.object({ shipped: z.string(), sellerId: z.string(), atMs: z.number() }),
])

interface Run {
  /** From posting an event to its request at the marketplace, of the healthy sellers while the machine has time, in milliseconds. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** How alike they are served in that time: of what each wanted, what had left a second after the end. */
  readonly steadyFairness: number
  /** The same when all of them want more than can be sent at once, at the time when half of it has left. */
  readonly burstFairness: number
  /** Commands of the healthy sellers a second in that second part. */
  readonly burstRate: number
}

const folder = await benchFolder()
const shutdownHooks: (() => Promise<unknown> | unknown)[] = [() => rm(folder, { recursive: true, force: true })]
try {
  const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
  shutdownHooks.push(() => server.stop())
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  shutdownHooks.push(() => admin.end())
  const buildAddress = (database: string): string => server.url.replace(/\/tallyman$/, `/${database}`)
  const prepare = async (name: string, template: string | null, fill: (database: Database) => Promise<void>): Promise<void> => {
    await admin.query(`CREATE DATABASE ${name}${template === null ? '' : ` TEMPLATE ${template}`}`)
    await migrate(buildAddress(name))
    const database = openDatabase({ findVocabulary, url: buildAddress(name), connections: 4 })
    try {
      await fill(database)
      await database.query('VACUUM (ANALYZE)')
    } finally {
      await database.close()
    }
  }
  await prepare('quiet', null, async (database) => {
    for (const [seller, sellerId] of healthy.entries())
      await storeSellerOrders(database, sellerId, orderExpression(seller, 0), ordersOfEach)
  })
  await prepare('beside', 'quiet', async (database) => {
    await storeSellerOrders(database, greedy, firstOfBad, backlog)
    await insertShipments(database, greedy, firstOfBad, backlog)
    for (const [index, sellerId] of others.entries()) {
      const first = firstOfBad + backlog + index * waitingOfOthers
      await storeSellerOrders(database, sellerId, first, waitingOfOthers)
      await insertShipments(database, sellerId, first, waitingOfOthers)
    }
  })
  const file = path.join(folder, 'sellers.json')
  const entries = [...healthy, ...bad].map((id) => ({ sellerId: id, clientId: id, clientSecret: 'bench' }))
  await writeFile(file, JSON.stringify({ sellers: entries }))

  const run = async (round: number, template: 'quiet' | 'beside'): Promise<Run> => {
    const name = `run_${round}_${template}`
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
    const ends: (() => Promise<unknown> | unknown)[] = [() => admin.query(`DROP DATABASE ${name} WITH (FORCE)`)]
    try {
      const redis = redisWanted ? await startTestRedis() : null
      if (redis !== null) ends.push(() => redis.stop())
      const sentAtMs = new Map<string, number>()
      const sentByKey = new Map<string, number>()
      const stub = fork(path.join(import.meta.dirname, 'neighbours-stub.ts'), template === 'quiet' ? ['--kind'] : [])
      ends.push(() => stub.disconnect())
      const { promise: listening, resolve: listens } = Promise.withResolvers<number>()
      stub.on('message', (message) => {
        const said = saidSchema.parse(message)
        if ('port' in said) listens(said.port)
        else if (!sentAtMs.has(said.shipped)) {
          sentAtMs.set(said.shipped, said.atMs)
          sentByKey.set(said.sellerId, (sentByKey.get(said.sellerId) ?? 0) + 1)
        }
      })
      const daemon = await startTestDaemon(
        {
          DATABASE_URL: buildAddress(name),
          MARKETPLACE_URL: `http://127.0.0.1:${await listening}`,
          SELLERS_FILE: file,
          REQUEST_TIMEOUT: '45s',
          RATE_LIMITS: JSON.stringify({ [ordersEndpoint.operations.ship.name]: { tokens: callsPerMinute, per: '1m' } }),
          POLL_ORDERS: '1m',
          POLL_ORDER_SWEEP: 'off',
          REREAD_EVERY: 'off',
          POLL_RETURNS: 'off',
          POLL_SHIPPING_SETTINGS: 'off',
          ...(redis === null ? {} : { REDIS_URL: redis.url }),
        },
        daemonFlags,
      )
      ends.push(() => daemon.program.kill())
      const post = async (events: readonly object[]): Promise<void> => {
        const [only] = events
        const kind = events.length === 1 ? 'cloudevents' : 'cloudevents-batch'
        const answer = await fetch(`${daemon.url}/v1/events`, {
          method: 'POST',
          headers: { 'content-type': `application/${kind}+json` },
          body: JSON.stringify(events.length === 1 ? only : events),
        })
        if (answer.status !== 202) throw new Error(`the events were not taken: ${answer.status} ${await answer.text()}`)
        await answer.body?.cancel()
      }
      await delay(settleMs)

      // At fixed times, independently of the answers: a sender that waited for each answer would hide delays.
      const posted = new Map<string, number>()
      const posts: Promise<void>[] = []
      const startedMs = performance.now()
      for (let number = 0; number < steadyEvents; number += 1) {
        const seller = number % healthy.length
        const order = orderExpression(seller, Math.floor(number / healthy.length))
        await delay(Math.max(0, startedMs + (number * 1_000) / eventsPerSecond - performance.now()))
        posted.set(generateOrder(order, 0).key, performance.timeOrigin + performance.now())
        posts.push(post([buildEvent(healthy[seller] ?? '', order)]))
      }
      await Promise.all(posts)
      await delay(1_000)
      const cutOffMs = performance.timeOrigin + performance.now()
      const waits = [...posted].map(([order, atMs]) => (sentAtMs.get(order) ?? cutOffMs) - atMs).sort((a, b) => a - b)
      const wanted = (seller: number): number => Math.floor((steadyEvents - seller - 1) / healthy.length) + 1
      const steady = healthy.flatMap((id, seller) => (wanted(seller) === 0 ? [] : [(sentByKey.get(id) ?? 0) / wanted(seller)]))

      sentByKey.clear()
      const burst = Array.from({ length: burstOfEach }, (_, index) =>
        healthy.map((sellerId, seller) => ({ sellerId, order: orderExpression(seller, steadyOfEach + index) })),
      ).flat()
      const total = burst.length
      const sent = (): number => healthy.reduce((sum, id) => sum + (sentByKey.get(id) ?? 0), 0)
      const burstMs = performance.now()
      const feed = (async () => {
        for (let first = 0; first < total; first += pageSize)
          await post(burst.slice(first, first + pageSize).map(({ sellerId, order }) => buildEvent(sellerId, order)))
      })()
      const waitFor = async (count: number): Promise<void> => {
        while (sent() < count) {
          if (performance.now() - burstMs > longestBurstMs)
            throw new Error(`${sent()} of ${total} commands left in ${longestBurstMs} ms`)
          await delay(20)
        }
      }
      await feed
      await waitFor(total / 2)
      const half = healthy.map((id) => (sentByKey.get(id) ?? 0) / burstOfEach)
      await waitFor(total)
      return {
        p50Ms: median(waits),
        p99Ms: waits[Math.floor(waits.length * 0.99)] ?? Number.NaN,
        steadyFairness: computeFairness(steady),
        burstFairness: computeFairness(half),
        burstRate: (total / (performance.now() - burstMs)) * 1_000,
      }
    } finally {
      for (const end of ends.reverse()) await end()
    }
  }

  const runs = { quiet: [] as Run[], beside: [] as Run[] }
  for (let round = 0; round < rounds; round += 1) {
    runs.quiet.push(await run(round, 'quiet'))
    runs.beside.push(await run(round, 'beside'))
    console.log(`round ${round + 1}: ${JSON.stringify({ quiet: runs.quiet.at(-1), beside: runs.beside.at(-1) })}`)
  }
  const of = (way: keyof typeof runs, pick: (run: Run) => number): number => median(runs[way].map(pick))
  const ratio = median(runs.beside.map(({ p99Ms }, round) => p99Ms / (runs.quiet[round]?.p99Ms ?? Number.NaN)))
  console.log(
    `${healthy.length} healthy sellers of ${sellers}, queues in ${redisWanted ? 'Redis' : 'Postgres'}, ${backlog} commands of the greedy one; medians of ${rounds} rounds`,
  )
  console.table(
    (['quiet', 'beside'] as const).map((way) => ({
      run: way === 'quiet' ? 'without bad neighbours' : 'beside four bad neighbours',
      'p50, ms': of(way, ({ p50Ms }) => p50Ms).toFixed(1),
      'p99, ms': of(way, ({ p99Ms }) => p99Ms).toFixed(1),
      'Jain, steady': of(way, ({ steadyFairness }) => steadyFairness).toFixed(4),
      'Jain, half of a burst': of(way, ({ burstFairness }) => burstFairness).toFixed(4),
      'burst, commands/s': Math.round(of(way, ({ burstRate }) => burstRate)),
    })),
  )
  console.log(`p99 beside bad neighbours to p99 without: ${ratio.toFixed(2)}`)
  process.send?.({
    p99Ratio: ratio,
    steadyFairness: of('beside', ({ steadyFairness }) => steadyFairness),
    burstFairness: of('beside', ({ burstFairness }) => burstFairness),
  })
} finally {
  for (const close of shutdownHooks.reverse()) await close()
}
