/**
 * ERP events over HTTP into a daemon, in batches and one by one, and the time from posting an event until the marketplace has its request. The
 * marketplace is a stub; stub, daemon and Postgres are processes of their own, the queues are in Postgres. Linux only.
 * `node bench/events.ts [--events 3000] [--batch 100] [--posts 300]`; prints events a second, and milliseconds.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { ordersEndpoint } from '../src/clients/marketplace/orders.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { startTestDaemon, type TestDaemon } from '../test/support/daemon.ts'
import { cloudEvent, dispatchOf, toldParcel } from '../test/support/events.ts'
import { storeOrders } from '../test/support/store.ts'
import { vocabularyOf } from '../test/support/vocabulary.ts'
import { generateOrder } from './generate.ts'
import { benchFolder, daemonFlags, median, numberOption, processorMs } from './measure.ts'
import { commandOf } from './ship-commands.ts'
import { startMarketplaceStub } from './start-stub.ts'

const inBatches = numberOption('events', 3_000)
const batchSize = numberOption('batch', 100)
const posts = numberOption('posts', 300)
const singles = Math.max(100, Math.floor(inBatches / 5))
/** So many posts of one event are under way at once. */
const atOnce = 8
const betweenPostsMs = 40
const longestWaitMs = 60_000
const sellerId = 'bench'
const pageSize = 200

const receiptsSchema = z.object({ items: z.array(z.object({ status: z.string(), state: z.string() })) })

/** The dispatch of one parcel, which the marketplace's answer shows. */
const eventOf = (order: number) => {
  const { purchaseOrderId, payload } = commandOf(order)
  const [parcel] = payload.parcels
  if (parcel === undefined) throw new Error(`order ${purchaseOrderId} has no parcel`)
  const { trackingNumber, shippedAt, lines } = parcel
  return cloudEvent(
    dispatchOf({ sellerId, purchaseOrderId }, randomUUID(), { ...toldParcel(trackingNumber, ...lines), shippedAt }),
  )
}

const post = async (daemon: TestDaemon, events: readonly object[]): Promise<void> => {
  const [only] = events
  const answer = await fetch(`${daemon.url}/v1/events`, {
    method: 'POST',
    headers: { 'content-type': events.length === 1 ? 'application/cloudevents+json' : 'application/cloudevents-batch+json' },
    body: JSON.stringify(events.length === 1 ? only : events),
  })
  if (answer.status !== 202) throw new Error(`the events were not taken: ${answer.status} ${await answer.text()}`)
  const { items } = receiptsSchema.parse(await answer.json())
  const taken = items.filter(({ status, state }) => status === 'accepted' && state === 'accepted')
  if (taken.length !== events.length) throw new Error(`${taken.length} of ${events.length} events were accepted`)
}

/** What so many events took. */
interface Rate {
  readonly perSecond: number
  /** Processor time of one event. */
  readonly daemonMs: number
  readonly postgresMs: number
}

const folder = await benchFolder()
const closers: (() => Promise<unknown> | unknown)[] = [() => rm(folder, { recursive: true, force: true })]
try {
  const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
  closers.push(() => server.stop())
  const postgresPid = server.pid() ?? 0
  await migrate(server.url)
  const database = openDatabase({ vocabularyOf, url: server.url, connections: 4 })
  closers.push(() => database.close())
  const sentAtMs = new Map<string, number>()
  const stub = await startMarketplaceStub((purchaseOrderId, atMs) => void sentAtMs.set(purchaseOrderId, atMs))
  closers.push(() => stub.child.disconnect())

  const orders = inBatches + singles + 2 * posts
  for (let first = 0; first < orders; first += pageSize) {
    const records = Array.from({ length: Math.min(pageSize, orders - first) }, (_, index) => generateOrder(first + index, 0))
    await storeOrders(database, { sellerId, records, observedAt: new Date(Date.now() - 60_000) })
  }
  await database.query('VACUUM (ANALYZE)')

  const startDaemon = async (roles: string): Promise<TestDaemon> => {
    const daemon = await startTestDaemon(
      {
        DATABASE_URL: server.url,
        MARKETPLACE_URL: stub.url,
        SELLER_ID: sellerId,
        CLIENT_ID: 'bench',
        CLIENT_SECRET: 'bench',
        ROLES: roles,
        RATE_LIMITS: JSON.stringify({ [ordersEndpoint.operations.ship.name]: { tokens: 1e6, per: '1m' } }),
      },
      daemonFlags,
    )
    closers.push(() => daemon.program.kill())
    return daemon
  }

  let next = 0
  const take = (count: number): object[] => Array.from({ length: count }, () => eventOf(next++))
  const measure = async (daemon: TestDaemon, count: number, work: () => Promise<void>): Promise<Rate> => {
    const pid = daemon.program.child.pid ?? 0
    const before = { own: await processorMs(pid), postgres: await processorMs(postgresPid) }
    const started = performance.now()
    await work()
    const seconds = (performance.now() - started) / 1_000
    return {
      perSecond: count / seconds,
      daemonMs: ((await processorMs(pid)) - before.own) / count,
      postgresMs: ((await processorMs(postgresPid)) - before.postgres) / count,
    }
  }

  // Takes events and works on none, so that nothing but the taking is measured.
  const taking = await startDaemon('http')
  await post(taking, take(Math.min(batchSize, posts)))
  const batches = Math.floor((inBatches - batchSize) / batchSize)
  const batched = await measure(taking, batches * batchSize, async () => {
    for (let batch = 0; batch < batches; batch += 1) await post(taking, take(batchSize))
  })
  const oneByOne = await measure(taking, singles, async () => {
    let left = singles
    const client = async (): Promise<void> => {
      while (left > 0) {
        left -= 1
        await post(taking, take(1))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, client))
  })
  await taking.program.stop()
  // What was taken is not to be carried out beside what is measured next.
  await database.execute(`UPDATE tallyman.commands SET state = 'confirmed'`)

  const working = await startDaemon('http,worker')
  const waits: number[] = []
  const warmUp = Math.floor(posts / 10)
  for (let number = 0; number < posts + warmUp; number += 1) {
    const { key } = generateOrder(next, 0)
    const postedMs = performance.timeOrigin + performance.now()
    await post(working, take(1))
    for (const deadline = performance.now() + longestWaitMs; !sentAtMs.has(key); await delay(1)) {
      if (performance.now() > deadline) throw new Error(`nothing was sent for order ${key}`)
    }
    if (number >= warmUp) waits.push((sentAtMs.get(key) ?? Number.NaN) - postedMs)
    await delay(betweenPostsMs)
  }
  await working.program.stop()
  waits.sort((a, b) => a - b)
  const effect = { p50Ms: median(waits), p99Ms: waits[Math.floor(waits.length * 0.99)] ?? Number.NaN }

  const shown = ({ perSecond, daemonMs, postgresMs }: Rate) => ({
    'events a second': Math.round(perSecond),
    daemon: `${daemonMs.toFixed(2)} ms`,
    Postgres: `${postgresMs.toFixed(2)} ms`,
  })
  console.log(
    `${batches} batches of ${batchSize}, one after another; ${singles} events one by one, ${atOnce} at a time; processor time of one event`,
  )
  console.table({ 'in batches': shown(batched), 'one by one': shown(oneByOne) })
  console.log(`from posting one event to its request at the marketplace, ${waits.length} events, one after another`)
  console.table({ 'event to effect': { p50: `${effect.p50Ms.toFixed(1)} ms`, p99: `${effect.p99Ms.toFixed(1)} ms` } })
  process.send?.({ batchedPerSecond: batched.perSecond, singlePerSecond: oneByOne.perSecond, ...effect })
} finally {
  for (const close of closers.reverse()) await close()
}
