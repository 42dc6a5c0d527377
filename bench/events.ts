/**
 * ERP events over HTTP into a daemon that carries them out, in batches and one by one, and the time from posting an event until the marketplace has its
 * request on an idle machine; beside it the same into a route that adds each event to a BullMQ queue, whose worker sends the same POST and does nothing
 * else (`bare-intake.ts`). The marketplace is a stub; stub, daemon, Postgres and Redis are processes of their own. On both queue backends, in turns.
 * Linux only.
 * `node bench/events.ts [--events 3000] [--batch 100] [--posts 300]`; prints events a second, and milliseconds.
 */
import { fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { ordersEndpoint } from '../src/clients/marketplace/orders/orders.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { startTestDaemon } from '../test/support/daemon.ts'
import { buildDispatch, cloudEvent, reportedParcel } from '../test/support/events.ts'
import { eventually } from '../test/support/eventually.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../test/support/redis.ts'
import { storeOrders } from '../test/support/store.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { generateOrder } from './generate.ts'
import { benchFolder, benchOptions, daemonFlags, median, processorMs } from './measure.ts'
import { buildCommand } from './ship-commands.ts'
import { startMarketplaceStub } from './start-stub.ts'

const { events: inBatches, batch: batchSize, posts } = benchOptions({ events: 3_000, batch: 100, posts: 300 }).numbers
const singles = Math.max(100, Math.floor(inBatches / 5))
/** So many posts of one event are in progress at once. */
const atOnce = 8
const betweenPostsMs = 40
const longestWaitMs = 60_000
const sellerId = 'bench'
const pageSize = 200

const receiptsSchema = z.object({ items: z.array(z.object({ status: z.string(), state: z.string() })) })

/** The dispatch of one parcel, which the marketplace's answer shows. */
const buildEvent = (order: number) => {
  const { purchaseOrderId, payload } = buildCommand(order)
  const [parcel] = payload.parcels
  if (parcel === undefined) throw new Error(`order ${purchaseOrderId} has no parcel`)
  const { trackingNumber, shippedAt, lines } = parcel
  return cloudEvent(
    buildDispatch({ sellerId, purchaseOrderId }, randomUUID(), { ...reportedParcel(trackingNumber, ...lines), shippedAt }),
  )
}

/** Takes events at `/v1/events`: a daemon, or the bare one. */
interface Intake {
  readonly url: string
  readonly pid: number
  stop(): Promise<unknown>
}

const post = async ({ url }: Intake, events: readonly object[]): Promise<void> => {
  const [only] = events
  const answer = await fetch(`${url}/v1/events`, {
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
  readonly intakeMs: number
  readonly postgresMs: number
}

/** What an intake does: taking in batches and one by one while it works on them, and from posting an event to its request. */
interface Measured {
  readonly batched: Rate
  readonly oneByOne: Rate
  readonly p50Ms: number
  readonly p99Ms: number
}

const addressSchema = z.object({ url: z.string() })

const folder = await benchFolder()
const shutdownHooks: (() => Promise<unknown> | unknown)[] = [() => rm(folder, { recursive: true, force: true })]
try {
  const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
  shutdownHooks.push(() => server.stop())
  const postgresPid = server.pid() ?? 0
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  shutdownHooks.push(() => admin.end())
  const sentAtMs = new Map<string, number>()
  const stub = await startMarketplaceStub((purchaseOrderId, atMs) => void sentAtMs.set(purchaseOrderId, atMs))
  shutdownHooks.push(() => stub.child.disconnect())
  const buildAddress = (name: string): string => server.url.replace(/\/tallyman$/, `/${name}`)

  const orders = inBatches + singles + 2 * posts
  await admin.query('CREATE DATABASE filled')
  await migrate(buildAddress('filled'))
  const filling = openDatabase({ findVocabulary, url: buildAddress('filled'), connections: 4 })
  for (let first = 0; first < orders; first += pageSize) {
    const records = Array.from({ length: Math.min(pageSize, orders - first) }, (_, index) => generateOrder(first + index, 0))
    await storeOrders(filling, { sellerId, records, observedAt: new Date(Date.now() - 60_000) })
  }
  await filling.query('VACUUM (ANALYZE)')
  await filling.close()

  const measureRate = async (intake: Intake, count: number, work: () => Promise<void>): Promise<Rate> => {
    const before = { own: await processorMs(intake.pid), postgres: await processorMs(postgresPid) }
    const started = performance.now()
    await work()
    const seconds = (performance.now() - started) / 1_000
    return {
      perSecond: count / seconds,
      intakeMs: ((await processorMs(intake.pid)) - before.own) / count,
      postgresMs: ((await processorMs(postgresPid)) - before.postgres) / count,
    }
  }

  const measure = async (start: () => Promise<Intake>, forget: () => Promise<unknown>): Promise<Measured> => {
    sentAtMs.clear()
    let next = 0
    const take = (count: number): object[] => Array.from({ length: count }, () => buildEvent(next++))
    const taking = await start()
    await post(taking, take(Math.min(batchSize, posts)))
    const batches = Math.floor((inBatches - batchSize) / batchSize)
    const batched = await measureRate(taking, batches * batchSize, async () => {
      for (let batch = 0; batch < batches; batch += 1) await post(taking, take(batchSize))
    })
    const oneByOne = await measureRate(taking, singles, async () => {
      let left = singles
      const client = async (): Promise<void> => {
        while (left > 0) {
          left -= 1
          await post(taking, take(1))
        }
      }
      await Promise.all(Array.from({ length: atOnce }, client))
    })
    await taking.stop()
    // What was taken is not to be executed beside what is measured next.
    await forget()

    const working = await start()
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
    await working.stop()
    waits.sort((a, b) => a - b)
    return { batched, oneByOne, p50Ms: median(waits), p99Ms: waits[Math.floor(waits.length * 0.99)] ?? Number.NaN }
  }

  /** In a database of its own, which goes with it. */
  const inDatabase = async <Result>(template: string, work: (url: string) => Promise<Result>): Promise<Result> => {
    const name = `bench_${randomBytes(4).toString('hex')}`
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
    try {
      return await work(buildAddress(name))
    } finally {
      await eventually(() => admin.query(`DROP DATABASE ${name}`))
    }
  }

  const measureDaemon = (redis: TestRedis | null): Promise<Measured> =>
    inDatabase('filled', (url) =>
      measure(
        async () => {
          const { url: address, program } = await startTestDaemon(
            {
              DATABASE_URL: url,
              MARKETPLACE_URL: stub.url,
              SELLER_ID: sellerId,
              CLIENT_ID: 'bench',
              CLIENT_SECRET: 'bench',
              ROLES: 'http,worker',
              RATE_LIMITS: JSON.stringify({ [ordersEndpoint.operations.ship.name]: { tokens: 1e6, per: '1m' } }),
              ...(redis === null ? {} : { REDIS_URL: redis.url }),
            },
            daemonFlags,
          )
          return { url: address, pid: program.child.pid ?? 0, stop: () => program.stop() }
        },
        async () => {
          const client = new pg.Client({ connectionString: url })
          await client.connect()
          await client.query(`UPDATE tallyman.commands SET state = 'confirmed'`)
          await client.end()
          await redis?.command('FLUSHALL')
        },
      ),
    )

  const measureBare = (redis: TestRedis | null): Promise<Measured> =>
    inDatabase('template0', (url) =>
      measure(
        async () => {
          const child = fork(path.join(import.meta.dirname, 'bare-intake.ts'), [], { execArgv: [...daemonFlags] })
          const answer = once(child, 'message')
          const queues = redis === null ? 'postgres' : 'redis'
          child.send({ queues, url: redis?.url ?? url, marketplace: stub.url })
          const [said]: unknown[] = await answer
          const ended = once(child, 'exit')
          const stop = async (): Promise<void> => {
            child.disconnect()
            await ended
          }
          return { ...addressSchema.parse(said), pid: child.pid ?? 0, stop }
        },
        async () => {
          const client = new pg.Client({ connectionString: url })
          await client.connect()
          await client.query('DROP SCHEMA IF EXISTS bullmq CASCADE')
          await client.end()
          await redis?.command('FLUSHALL')
        },
      ),
    )

  const redis = hasRedisServer() ? await startTestRedis() : null
  if (redis !== null) shutdownHooks.push(() => redis.stop())
  const figures: { readonly backend: string; readonly daemon: Measured; readonly bare: Measured }[] = []
  for (const [backend, queues] of [['Postgres', null] as const, ...(redis === null ? [] : [['Redis', redis] as const])]) {
    figures.push({ backend, bare: await measureBare(queues), daemon: await measureDaemon(queues) })
  }

  const shown = ({ perSecond, intakeMs, postgresMs }: Rate): string =>
    `${Math.round(perSecond)}/s (${intakeMs.toFixed(2)} + ${postgresMs.toFixed(2)} ms)`
  console.log(
    `batches of ${batchSize} one after another, and events one by one, ${atOnce} at a time: events a second while they are executed, and processor time of one event in the intake and in Postgres, with what is done for it meanwhile; then from posting one event to its request at the marketplace, ${posts} events one after another`,
  )
  console.table(
    figures.flatMap(({ backend, daemon, bare }) =>
      [{ intake: 'bare BullMQ', of: bare } as const, { intake: 'daemon', of: daemon } as const].map(({ intake, of }) => ({
        'queues in': backend,
        intake,
        'in batches': shown(of.batched),
        'to bare': (of.batched.perSecond / bare.batched.perSecond).toFixed(2),
        'one by one': shown(of.oneByOne),
        'to bare ': (of.oneByOne.perSecond / bare.oneByOne.perSecond).toFixed(2),
        p50: `${of.p50Ms.toFixed(1)} ms`,
        p99: `${of.p99Ms.toFixed(1)} ms`,
      })),
    ),
  )
  process.send?.(
    figures.map(({ backend, daemon: { batched, oneByOne, p50Ms, p99Ms }, bare }) => ({
      backend,
      batchedPerSecond: batched.perSecond,
      batchedToBare: batched.perSecond / bare.batched.perSecond,
      singlePerSecond: oneByOne.perSecond,
      singleToBare: oneByOne.perSecond / bare.oneByOne.perSecond,
      p50Ms,
      p99Ms,
    })),
  )
} finally {
  for (const close of shutdownHooks.reverse()) await close()
}
