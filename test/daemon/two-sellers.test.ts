import { randomUUID } from 'node:crypto'
import { createPostgresBackend, Queue } from 'bullmq'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { accepted, cloudEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, post } from './support.ts'

const kinds = hasRedisServer() ? (['postgres', 'redis'] as const) : (['postgres'] as const)
/** A job that is requeued goes round in less than a second; one that was kept from its process for a minute would not make it. */
const boundMs = 55_000

// Most of it is waiting: for both stores at the same time.
describe.concurrent.each(kinds)('two daemons with a seller each, on one database, with queues in %s', (kind) => {
  const stage = withDatabase()
  let sandbox: TestSandbox
  let redisUrl: string | null = null
  const stops: (() => Promise<unknown>)[] = []
  const daemons: TestDaemon[] = []

  beforeAll(async () => {
    sandbox = await startTestSandbox()
    stops.push(() => sandbox.stop())
    const redis = kind === 'redis' ? await startTestRedis() : null
    if (redis !== null) stops.push(() => redis.stop())
    redisUrl = redis?.url ?? null
    const sellers = await makeSellers(sandbox, 'seller-one', 'seller-two')
    for (const { sellerId, clientId, clientSecret } of sellers) {
      const daemon = await startTestDaemon({
        SELLER_ID: sellerId,
        CLIENT_ID: clientId,
        CLIENT_SECRET: clientSecret,
        DATABASE_URL: stage.url,
        MARKETPLACE_URL: sandbox.url,
        POLL_ORDERS: '2s',
        REQUEST_TIMEOUT: '2s',
        SETTLE_TIME: '4s',
        ...(redis === null ? {} : { REDIS_URL: redis.url }),
      })
      daemons.push(daemon)
      stops.unshift(() => daemon.program.kill())
    }
  }, 120_000)
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  /** As an ERP opens the queue. */
  const producer = (): Queue => {
    const queue: unknown =
      redisUrl === null
        ? new Queue('erp-events', { connection: { connectionString: stage.url, schema: 'bullmq' } }, createPostgresBackend)
        : new Queue('erp-events', { connection: { url: redisUrl }, prefix: '{tallyman}' })
    if (!(queue instanceof Queue)) throw new TypeError('BullMQ did not create a queue')
    stops.unshift(() => queue.close())
    return queue
  }

  const countExpression = async (sql: string): Promise<number> => (await query<{ n: number }>(stage.url, sql))[0]?.n ?? 0

  test('none keeps the commands, the events or the syncs of the other', async () => {
    const [one, two] = daemons
    if (one === undefined || two === undefined) throw new Error('a daemon is missing')
    const places = Array.from({ length: 10 }, (_, place) => place)
    const posted = await Promise.all(places.map((place) => placeOrder(sandbox, 1, place % 2 === 0 ? 'seller-one' : 'seller-two')))
    const inserted = await Promise.all(places.map(() => placeOrder(sandbox, 1, 'seller-two')))
    for (const order of posted) expect(await post(order.sellerId === 'seller-one' ? one : two, accepted(order))).toBe(202)
    // The inbox belongs to no process.
    for (const { sellerId, purchaseOrderId } of inserted) {
      await query(
        stage.url,
        `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/inbox', '${purchaseOrderId}', 'erp.order.accepted',
           '{"sellerId": "${sellerId}", "purchaseOrderId": "${purchaseOrderId}"}')`,
      )
    }
    await eventually(
      async () =>
        expect(await countExpression(`SELECT count(*)::int AS n FROM tallyman.commands WHERE state = 'confirmed'`)).toBe(20),
      boundMs,
    )
    // Nor does the queue that ERPs add to: whichever takes a job, the process of the seller decides its event.
    const queue = producer()
    const queued = await Promise.all(places.map((place) => placeOrder(sandbox, 1, place % 2 === 0 ? 'seller-one' : 'seller-two')))
    await queue.addBulk(queued.map((order) => ({ name: 'event', data: cloudEvent(accepted(order), '/queue') })))
    await eventually(
      async () =>
        expect(await countExpression(`SELECT count(*)::int AS n FROM tallyman.commands WHERE state = 'confirmed'`)).toBe(30),
      boundMs,
    )
    expect(await queue.getFailedCount()).toBe(0)
    // Neither is the only seller, whichever daemon is asked.
    for (const daemon of daemons) {
      const event = { type: 'erp.order.accepted', data: { purchaseOrderId: posted[0]?.purchaseOrderId } }
      await eventually(async () => expect(await post(daemon, { id: randomUUID(), ...event })).toBe(422))
    }
    // Nor do they take away each other's schedulers, or their ticks.
    const readRuns = (sellerId: string) =>
      countExpression(`SELECT coalesce(sum(runs), 0)::int AS n FROM tallyman.sync_runs WHERE seller_id = '${sellerId}'
         AND resource = 'orders' AND stream = 'released'`)
    const before = { one: await readRuns('seller-one'), two: await readRuns('seller-two') }
    await eventually(
      async () =>
        expect(
          Math.min((await readRuns('seller-one')) - before.one, (await readRuns('seller-two')) - before.two),
        ).toBeGreaterThanOrEqual(4),
      boundMs,
    )
  }, 240_000)
})
