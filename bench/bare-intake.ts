/**
 * What anyone would write first to take events: a route that adds each event to a BullMQ queue as a job, and a worker that sends the same POST for each. A
 * child process of `events.ts`; reports its port, and takes `{ queues, url, marketplace }` from its parent first.
 */
import { createPostgresBackend, Queue, Worker } from 'bullmq'
import fastify from 'fastify'
import got from 'got'
import { z } from 'zod'

const settingsSchema = z.object({
  queues: z.enum(['postgres', 'redis']),
  url: z.string(),
  marketplace: z.string(),
})
const eventSchema = z.object({ id: z.string(), data: z.looseObject({ purchaseOrderId: z.string() }) })
const concurrency = 256

const start = async (settings: z.infer<typeof settingsSchema>): Promise<void> => {
  const send = async ({ data }: { data: unknown }): Promise<void> => {
    const { data: reported } = eventSchema.parse(data)
    await got.post(`${settings.marketplace}/v3/orders/${reported.purchaseOrderId}/shipping`, {
      json: reported,
      retry: { limit: 0 },
    })
  }
  const open = () => {
    if (settings.queues === 'redis') {
      const connection = { url: settings.url }
      return {
        queue: new Queue('bare', { connection }),
        worker: new Worker('bare', send, {
          connection: { ...connection, maxRetriesPerRequest: null },
          concurrency,
        }),
      }
    }
    const connection = { connectionString: settings.url, max: 12, migrate: true }
    return {
      queue: new Queue('bare', { connection }, createPostgresBackend),
      worker: new Worker('bare', send, { connection, concurrency }, createPostgresBackend),
    }
  }
  const { queue, worker } = open()
  await queue.waitUntilReady()
  await worker.waitUntilReady()
  const app = fastify()
  app.addContentTypeParser(/^application\/cloudevents/, { parseAs: 'string' }, (_request, body, done) => {
    done(null, JSON.parse(String(body)))
  })
  app.post('/v1/events', async (request, reply) => {
    const events = z.array(eventSchema).parse(Array.isArray(request.body) ? request.body : [request.body])
    const [only] = events
    if (events.length === 1 && only !== undefined) await queue.add('event', only, { removeOnComplete: true })
    else await queue.addBulk(events.map((data) => ({ name: 'event', data, opts: { removeOnComplete: true } })))
    return reply.code(202).send({ items: events.map(({ id }) => ({ id, status: 'accepted', state: 'accepted' })) })
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  process.send?.({ url: address })
}

process.once('message', (message) => {
  start(settingsSchema.parse(message)).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit())
