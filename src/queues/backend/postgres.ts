import {
  assertSchemaCompatibility,
  createPostgresBackend,
  isPgPool,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  Queue,
  runMigrations,
  SchemaMigrationRequiredError,
} from 'bullmq'
import type pg from 'pg'
import type { QuietLog } from '../../observability/log.ts'
import { CheckoutPool, SteadyClient } from '../../util/net/postgres-client.ts'
import { createAvailability } from '../availability.ts'
import { createConsumer } from '../consumer.ts'
import { asError, QueuesUnavailable, withDeadline } from '../errors.ts'
import { type ShownQueue, shownQueues } from '../jobs.ts'
import { type BackendCheck, keptEvents, type QueueBackend } from './backend-interface.ts'
import { createTableMaintenance, type TableMaintenance } from './postgres-maintenance.ts'
import { patchFunctions, reverseActiveIndex } from './postgres-patches.ts'

const schema = 'bullmq'
const openTimeoutMs = 10_000
/** One listening connection for each consumer, including the one of the inbound queue, and two more for work. */
export const queueConnections = shownQueues.length * 3

/**
 * A pool that returns no broken connection. `pg` does so when a backend ends right after the session was prepared, and such a client emits no further
 * events: BullMQ would keep it as its listening connection for ever and consume no more jobs.
 */
class LivePool extends CheckoutPool {
  protected override async checkOut(next: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    for (;;) {
      const client = await next()
      // `pg` has no other indication of it.
      if (Reflect.get(client, '_queryable') !== false) return client
      client.release(true)
    }
  }
}

// Each session of the pool must find BullMQ's functions. A hook, not a start-up option: DATABASE_URL may have its own options.
const useSchema = async (client: pg.ClientBase): Promise<void> => {
  // The relay derives a lost job again, so no job waits for the disk.
  await client.query(`SET search_path TO ${schema}; SET synchronous_commit TO off`)
}

const migrateSchema = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect()
  try {
    const version = await assertSchemaCompatibility(client, schema).catch((error: unknown) => {
      if (error instanceof SchemaMigrationRequiredError) return 0
      throw error
    })
    if (version < LATEST_SCHEMA_VERSION) await runMigrations(client, schema)
    await reverseActiveIndex(client, schema)
    await patchFunctions(client, schema)
  } finally {
    client.release()
  }
}

/** Queues in Postgres, in a separate schema, on BullMQ's own backend. */
export const createPostgresQueues = (options: { readonly databaseUrl: string; readonly quiet: QuietLog }): QueueBackend => {
  const { databaseUrl, quiet } = options
  const availability = createAvailability('Postgres', quiet)
  let pool: pg.Pool | undefined
  let queues: ReadonlyMap<ShownQueue, Queue> | undefined
  let maintenance: TableMaintenance | undefined

  const connect = (): pg.Pool => {
    const made = new LivePool({
      connectionString: databaseUrl,
      max: queueConnections,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: 'tallyman-queues',
      onConnect: useSchema,
      Client: SteadyClient,
    })
    made.setMaxListeners(100)
    made.on('error', (error) => availability.reportError(error))
    return made
  }

  return {
    kind: 'postgres',
    open: async () => {
      if (queues !== undefined) return
      pool ??= connect()
      await withDeadline(migrateSchema(pool), openTimeoutMs, 'preparing the schema of the queues')
      const connection = pool
      const made = new Map(shownQueues.map((name) => [name, createQueue(connection, name)]))
      for (const queue of made.values()) queue.on('error', (error) => availability.reportError(error))
      try {
        await withDeadline(
          Promise.all([...made.values()].map((queue) => queue.waitUntilReady())),
          openTimeoutMs,
          'opening the queues',
        )
      } catch (error) {
        // A queue whose first connection failed never recovers: the next `open` creates new ones.
        await Promise.allSettled([...made.values()].map((queue) => queue.close()))
        throw error
      }
      queues = made
      maintenance ??= createTableMaintenance({ pool: connection, schema, onError: (error) => availability.reportError(error) })
      maintenance.start()
      availability.reportAvailable(true)
    },
    queue: (name) => {
      const queue = queues?.get(name)
      if (queue === undefined) throw new QueuesUnavailable('the queues are not connected to Postgres yet')
      return queue
    },
    consumer: (consumerOptions) => {
      if (pool === undefined || queues === undefined) throw new QueuesUnavailable('the queues are not connected to Postgres yet')
      return createConsumer(consumerOptions, { connection: toBullMqPool(pool) }, createPostgresBackend)
    },
    check: async (timeoutMs): Promise<BackendCheck> => {
      if (pool === undefined) return { ok: false, detail: 'the queues are not connected to Postgres yet', warnings: [] }
      try {
        await withDeadline(pool.query('SELECT 1'), timeoutMs, 'asking Postgres')
        return { ok: true, detail: 'Postgres answers', warnings: [] }
      } catch (error) {
        return { ok: false, detail: `Postgres does not answer: ${asError(error).message}`, warnings: [] }
      }
    },
    unavailableSinceMs: availability.unavailableSinceMs,
    reportAvailable: availability.reportAvailable,
    reportError: availability.reportError,
    close: async () => {
      availability.end()
      await maintenance?.stop()
      await Promise.allSettled([...(queues?.values() ?? [])].map((queue) => queue.close()))
      await pool?.end()
    },
  }
}

// BullMQ declares the part of `pg` that it uses itself, slightly narrower than `pg` does.
const toBullMqPool = (pool: unknown): PgPool => {
  if (!isPgPool(pool)) throw new TypeError('BullMQ does not know this pool')
  return pool
}

// BullMQ's types include the store in every class; bull-board and producers use the plain `Queue`, which this is at run time.
const createQueue = (connection: pg.Pool, name: ShownQueue): Queue => {
  const queue: unknown = new Queue(
    name,
    { connection: toBullMqPool(connection), streams: { events: { maxLen: keptEvents } } },
    createPostgresBackend,
  )
  if (!(queue instanceof Queue)) throw new TypeError('BullMQ did not create a queue')
  return queue
}
