import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createPostgresBackend, createRedisBackend, type Job, Queue } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEventQueue, type EventQueueParts } from '../../../src/jobs/events/from-queue.ts'
import { createLogger, createQuietLog } from '../../../src/observability/log.ts'
import { createMetrics } from '../../../src/observability/metrics.ts'
import { createQueueBackend } from '../../../src/queues/backend/backend.ts'
import { serveInbound } from '../../../src/queues/inbound.ts'
import { createQueueRuntime } from '../../../src/queues/runtime.ts'
import { recordSellers } from '../../../src/store/sellers/sellers.ts'
import { withDatabase } from '../../support/database.ts'
import { accepted, buildDispatch, cloudEvent, reportedParcel } from '../../support/events.ts'
import { eventually } from '../../support/eventually.ts'
import { orderLine, purchaseOrder } from '../../support/orders.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from '../../support/redis.ts'
import { seedOrder } from '../../support/store.ts'
import { marketplace, parts } from './support.ts'

const stage = withDatabase({ connections: 6 })
const log = createLogger({ level: 'silent', format: 'json', destination: { write: () => undefined } })

interface Store {
  readonly redisUrl: string | null
  readonly prefix: string
  /** As an ERP opens it. */
  producer(): Queue
}

/** Has each other answer to the end of a job of a queue in Postgres, which may bring the next job along, come late. */
const delayFinishedJobs = (): (() => Promise<void>) => {
  const delaysMs = [60, 0]
  let answers = 0
  const original: unknown = Reflect.get(pg.Client.prototype, 'query')
  if (typeof original !== 'function') throw new TypeError('pg has no query')
  Reflect.set(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]): unknown {
    const text: unknown = typeof given[0] === 'object' && given[0] !== null ? Reflect.get(given[0], 'text') : given[0]
    const told: unknown = given.at(-1)
    if (!String(text).includes('move_to_completed') || typeof told !== 'function') return Reflect.apply(original, this, given)
    const late = (...answer: unknown[]) =>
      void delay(delaysMs[answers++ % delaysMs.length]).then(() => Reflect.apply(told, undefined, answer))
    return Reflect.apply(original, this, [...given.slice(0, -1), late])
  })
  return async () => {
    Reflect.set(pg.Client.prototype, 'query', original)
  }
}

const suite = (name: string, open: () => Promise<Store & { close(): Promise<void> }>): void => {
  describe(`the queue erp-events on ${name}`, () => {
    let store: Awaited<ReturnType<typeof open>>
    let queue: Queue
    let ends: (() => Promise<unknown>)[] = []

    /** Consumes it, as a process with the role worker does. */
    const consume = async (more: Partial<EventQueueParts> = {}) => {
      const outcomes: string[] = []
      const backend = createQueueBackend({
        redisUrl: store.redisUrl,
        databaseUrl: stage.url,
        quiet: createQuietLog(log),
        prefix: store.prefix,
      })
      const runtime = createQueueRuntime({ backend, log, metrics: createMetrics({ version: 'test', processMetrics: false }) })
      await runtime.start()
      const inbound = serveInbound({
        backend,
        opened: runtime.opened,
        log,
        lockMs: 5_000,
        stalledIntervalMs: 1_000,
        handle: createEventQueue({
          ...parts(stage.database, marketplace()),
          onQueued: (outcome) => outcomes.push(outcome),
          ...more,
        }),
      })
      ends.push(
        () => runtime.close(),
        () => inbound.close(),
      )
      return outcomes
    }

    beforeAll(async () => {
      store = await open()
      // The schema of the queues is there once a daemon has started.
      await consume()
      await endAll()
      queue = store.producer()
    })
    const endAll = async () => {
      for (const end of ends.reverse()) await end()
      ends = []
    }
    afterEach(endAll)
    afterAll(async () => {
      await queue.close()
      await store.close()
    })

    const order = async (ordered = 5): Promise<string> => {
      const purchaseOrderId = randomUUID()
      await seedOrder(stage.database, 's-1', purchaseOrder(purchaseOrderId, [orderLine('1', 'A', ordered)]))
      return purchaseOrderId
    }
    const ended = (job: Job): Promise<Job> =>
      eventually(async () => {
        const now = await queue.getJob(job.id ?? '')
        if (now?.finishedOn === undefined) throw new Error(`the job is ${await job.getState()}`)
        return now
      })
    const acceptance = (purchaseOrderId: string) => cloudEvent(accepted({ purchaseOrderId }, randomUUID()))
    const shipment = (purchaseOrderId: string, quantity: number) =>
      cloudEvent(buildDispatch({ purchaseOrderId }, randomUUID(), reportedParcel('1Z', { lineNumber: '1', quantity })))

    test('a job completes with the verdict of its event, and keeps none of its data', async () => {
      const outcomes = await consume()
      const event = acceptance(await order())
      const first = await ended(await queue.add('event', event))
      expect(first.returnvalue).toEqual({
        id: event.id,
        source: event.source,
        status: 'accepted',
        state: 'accepted',
        commands: [expect.any(String)],
        problem: null,
      })
      expect(first.data).toEqual({
        specversion: '1.0',
        id: event.id,
        source: event.source,
        type: event.type,
        'tallyman-verdict': 'taken',
      })
      const second = await ended(await queue.add('event', event))
      expect(second.returnvalue).toMatchObject({ status: 'duplicate', commands: first.returnvalue.commands })
      expect(outcomes).toEqual(['accepted', 'duplicate'])
    })

    test.each([
      [
        'a wrong event',
        { ...cloudEvent({ id: 'w-1', type: 'erp.order.accepted', data: { orderId: 'x' } }) },
        'data.purchaseOrderId is missing',
      ],
      ['no event', ['nothing'], 'must be an object: a CloudEvent'],
      ['an event without a source', { specversion: '1.0', id: '1', type: 'a' }, 'source is missing'],
      [
        'an event of an unknown seller',
        cloudEvent(accepted({ sellerId: 'nobody', purchaseOrderId: '1' })),
        'data.sellerId is nobody',
      ],
    ])('%s fails with its faults, once, however often it may be tried', async (_, event, message) => {
      const outcomes = await consume()
      const job = await ended(await queue.add('event', event, { attempts: 5 }))
      expect(job.failedReason).toContain('invalid-event: ')
      expect(job.failedReason).toContain(message)
      expect(job.attemptsMade).toBe(1)
      expect(job.data).not.toHaveProperty('data')
      expect(outcomes).toEqual(['refused'])
    })

    test('another event under a known id fails as a conflict', async () => {
      await consume()
      const event = acceptance(await order())
      await ended(await queue.add('event', event))
      const job = await ended(await queue.add('event', { ...event, data: { purchaseOrderId: await order() } }))
      expect(job.failedReason).toBe(
        `event-conflict: id ${event.id} of ${event.source} has another body; give it another id, and each ERP a source of its own`,
      )
    })

    test.each([false, true])(
      'events about one order are taken in the order in which they were added (answers delayed: %s)',
      async (delayed) => {
        if (delayed) ends.push(delayFinishedJobs())
        const purchaseOrderId = await order(20)
        const events = Array.from({ length: 20 }, () => shipment(purchaseOrderId, 1))
        await queue.addBulk(events.map((data) => ({ name: 'event', data })))
        await consume()
        const rows = () =>
          stage.database.query<{ event_id: string }>(
            'SELECT event_id FROM tallyman.commands WHERE purchase_order_id = $1 ORDER BY sequence',
            purchaseOrderId,
          )
        await eventually(async () => expect(await rows()).toHaveLength(20), 20_000)
        expect((await rows()).map(({ event_id: id }) => id)).toEqual(events.map(({ id }) => id))
      },
    )

    test('an event waits while Postgres is away, and is tried again without an attempt being counted', async () => {
      const { database } = stage
      let failures = 0
      await consume({
        database: {
          ...database,
          transaction: (work, options) => {
            failures += 1
            if (failures === 1) throw new Error('Postgres is away')
            return database.transaction(work, options)
          },
        },
      })
      const job = await queue.add('event', acceptance(await order()))
      await eventually(async () => expect(await job.getState()).toBe('delayed'), 20_000)
      await job.promote()
      expect((await ended(job)).returnvalue).toMatchObject({ status: 'accepted' })
    })

    test('an event of a seller whom another process serves is stored for it', async () => {
      await recordSellers(stage.database, [{ sellerId: 's-2', credentialsFingerprint: 'f' }], 'start')
      await consume()
      const job = await ended(
        await queue.add('event', cloudEvent(accepted({ sellerId: 's-2', purchaseOrderId: '2' }, randomUUID()))),
      )
      expect(job.returnvalue).toMatchObject({ status: 'accepted', state: 'received', commands: [] })
    })

    test('a job that was interrupted after its data had been removed tells its verdict again', async () => {
      await consume()
      const event = acceptance(await order())
      const { data: remains } = await ended(await queue.add('event', event))
      expect((await ended(await queue.add('event', remains))).returnvalue).toMatchObject({ status: 'duplicate' })
      const refused = await ended(await queue.add('event', { 'tallyman-verdict': 'refused' }))
      expect(refused.failedReason).toContain('data was removed when this job was refused')
    })
  })
}

suite('Postgres', async () => ({
  redisUrl: null,
  prefix: 'unused',
  producer: () => {
    const queue: unknown = new Queue(
      'erp-events',
      { connection: { connectionString: stage.url, schema: 'bullmq' } },
      createPostgresBackend,
    )
    if (!(queue instanceof Queue)) throw new TypeError('BullMQ did not create a queue')
    return queue
  },
  close: async () => undefined,
}))

if (hasRedisServer())
  suite('Redis', async () => {
    const server: TestRedis = await startTestRedis()
    const prefix = `test-${randomBytes(4).toString('hex')}`
    const connection = new Redis(server.url)
    return {
      redisUrl: server.url,
      prefix,
      producer: () => new Queue('erp-events', { connection, prefix: `{${prefix}}` }, createRedisBackend),
      close: async () => {
        connection.disconnect()
        await server.stop()
      },
    }
  })
