import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import { createTableMaintenance } from '../../src/queues/backend/postgres-maintenance.ts'
import { reverseActiveIndex } from '../../src/queues/backend/postgres-patches.ts'
import { createQueueRuntime, type QueueRuntime } from '../../src/queues/runtime.ts'
import { applyGrants } from '../../src/store/db/grants.ts'
import { migrate } from '../../src/store/db/migrate.ts'
import { eventually } from '../support/eventually.ts'
import { openPool } from '../support/pool.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'

let server: TestPostgres
let url: string
let pool: pg.Pool
let holder: pg.Client
let runtime: QueueRuntime
let lines: string[]
const handled = new Map<string, number>()
const commandIds = (from: number, count: number) => Array.from({ length: count }, (_, index) => `c-${from + index}`)

beforeAll(async () => {
  server = await startTestPostgres()
})
afterAll(() => server.stop())

beforeEach(async () => {
  url = await server.emptyDatabase()
  pool = openPool({ connectionString: url })
  holder = new pg.Client({ connectionString: url })
  await holder.connect()
  handled.clear()
  lines = []
  const log = createLogger({ level: 'info', format: 'json', destination: { write: (line) => void lines.push(line) } })
  const backend = createQueueBackend({ redisUrl: null, databaseUrl: url, quiet: createQuietLog(log) })
  runtime = createQueueRuntime({ backend, log, metrics: createMetrics({ version: 'test', processMetrics: false }) })
  runtime.register(
    'command.run',
    async ({ data }) => {
      handled.set(data.commandId, (handled.get(data.commandId) ?? 0) + 1)
      return { done: true }
    },
    { concurrency: 8 },
  )
  await runtime.start()
})
afterEach(async () => {
  await runtime.close()
  await Promise.all([holder.end(), pool.end()])
})

const maintenance = (by = pool) =>
  createTableMaintenance({
    pool: by,
    schema: 'bullmq',
    onError: (error) => {
      throw error
    },
  })

const hold = async (): Promise<void> => {
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await holder.query('SELECT 1')
}
/** Lets so many transactions begin that a snapshot of before is an old one. */
const age = () => pool.query(`DO $$ BEGIN FOR i IN 1..1100 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`)
/** Dead versions of the rows of a table, more than it may have; of none that a worker has in hand: the two could wait for each other. */
const makeDead = async (table: string, times: number): Promise<void> => {
  const free = `SELECT ctid FROM bullmq.${table} FOR UPDATE SKIP LOCKED`
  for (let time = 0; time < times; time += 1)
    await pool.query(`UPDATE bullmq.${table} SET queue = queue WHERE ctid = ANY(ARRAY(${free}))`)
  await pool.query('SELECT pg_stat_force_next_flush()')
}
const countBytes = async (table: string): Promise<number> => {
  const { rows } = await pool.query<{ bytes: number }>(
    `SELECT pg_total_relation_size('bullmq.${table}'::regclass)::float8 AS bytes`,
  )
  return rows[0]?.bytes ?? Number.NaN
}
const jobs = async (): Promise<readonly unknown[]> => (await pool.query('SELECT * FROM bullmq.job ORDER BY queue, id')).rows

/** Jobs that are not due; whoever watches over the tables by itself is gone. */
const later = async (count: number): Promise<void> => {
  await runtime.enqueueMany(
    commandIds(0, count).map((commandId) => ({ name: 'command.run', data: { commandId }, delayMs: 3_600_000, fresh: true })),
  )
}

describe('while an old snapshot is held', () => {
  test('a table full of dead rows is rewritten, and its jobs are as they were', async () => {
    await later(100)
    await pool.query(`INSERT INTO bullmq.job_log (queue, job_id, idx, row) SELECT queue, id, 0, 'kept' FROM bullmq.job LIMIT 3`)
    await hold()
    await age()
    await makeDead('job', 60)
    const [before, bytes] = [await jobs(), await countBytes('job')]
    await pool.query('VACUUM bullmq.job')
    expect(await countBytes('job')).toBeGreaterThanOrEqual(bytes)

    await eventually(async () => expect(await maintenance().runOnce()).toEqual(['job']))
    expect(await jobs()).toEqual(before)
    expect((await pool.query('SELECT row FROM bullmq.job_log')).rows).toHaveLength(3)
    expect(await countBytes('job')).toBeLessThan(bytes / 5)
    // There is nothing left to do.
    await pool.query('SELECT pg_stat_force_next_flush()')
    await eventually(async () => expect(await maintenance().runOnce()).toEqual([]))
  })

  test('jobs that come and go meanwhile are done once each', async () => {
    await later(50)
    await hold()
    await age()
    const care = maintenance()
    const total = 1_500
    let rewritten = 0
    const rewriting = (async () => {
      while (handled.size < total || rewritten === 0) {
        await makeDead('job', 25)
        rewritten += (await care.runOnce()).length
      }
    })()
    for (let from = 0; from < total; from += 100)
      await runtime.enqueueMany(
        commandIds(1_000 + from, 100).map((commandId) => ({ name: 'command.run', data: { commandId }, fresh: true })),
      )
    await eventually(() => expect(handled.size).toBe(total), 60_000)
    await rewriting
    expect(rewritten).toBeGreaterThan(0)
    expect([...handled.values()].filter((times) => times !== 1)).toEqual([])
    // The last one was handled, and is about to be taken off.
    await eventually(async () => expect(await jobs()).toHaveLength(50))
    expect(lines.filter((line) => line.includes('fault'))).toEqual([])
  })

  test('a login with the rights of the role tallyman_daemon may do it', async () => {
    await later(100)
    await runtime.close()
    const owner = new pg.Client({ connectionString: url })
    await owner.connect()
    await migrate(url)
    expect((await applyGrants(owner)).granted).toContain('tallyman_daemon')
    await owner.query(`CREATE ROLE runs LOGIN PASSWORD 'secret'`)
    await owner.query('GRANT tallyman_daemon TO runs')
    await owner.end()
    await hold()
    await age()
    await makeDead('job', 60)
    const address = new URL(url)
    address.username = 'runs'
    address.password = 'secret'
    const own = openPool({ connectionString: address.href })
    await eventually(async () => expect(await maintenance(own).runOnce()).toEqual(['job']))
    expect(await jobs()).toHaveLength(100)
    await own.end()
  })

  test('nothing is rewritten at another isolation level, where rows of the last moment would be missed', async () => {
    await later(100)
    await runtime.close()
    await hold()
    await age()
    await makeDead('job', 60)
    const bytes = await countBytes('job')
    const strict = openPool({ connectionString: url, options: '-c default_transaction_isolation=serializable' })
    await eventually(async () => expect(await maintenance(strict).runOnce()).toEqual(['job']))
    expect(await countBytes('job')).toBe(bytes)
    await strict.end()
    await maintenance().runOnce()
    expect(await countBytes('job')).toBeLessThan(bytes / 5)
    expect(await jobs()).toHaveLength(100)
  })

  test('a table that is being read in a long transaction keeps the queues waiting for a moment only', async () => {
    await later(100)
    await runtime.close()
    await hold()
    await holder.query('SELECT count(*) FROM bullmq.job')
    await age()
    await makeDead('job', 60)
    await eventually(async () => await expect(maintenance().runOnce()).rejects.toThrow('lock timeout'))
    expect(await jobs()).toHaveLength(100)
  })
})

test('of the active jobs the newest is found first, in an index that BullMQ knows by its name', async () => {
  const definition = async () =>
    (await pool.query<{ text: string }>(`SELECT pg_get_indexdef('bullmq.job_active_idx'::regclass) AS text`)).rows[0]?.text
  const turned = await definition()
  expect(turned).toMatch(/ON bullmq\.job USING btree \(queue, locked_until_ms DESC\) WHERE \(state = 'active'/)
  const client = await pool.connect()
  await client.query('DROP INDEX bullmq.job_active_idx')
  await client.query(`CREATE INDEX job_active_idx ON bullmq.job (queue, locked_until_ms) WHERE state = 'active'`)
  await reverseActiveIndex(client, 'bullmq')
  expect(await definition()).toBe(turned)
  await reverseActiveIndex(client, 'bullmq')
  expect(await definition()).toBe(turned)
  client.release()
})

test('without an old snapshot nothing is rewritten: vacuum does it', async () => {
  await later(100)
  await age()
  await makeDead('job', 60)
  expect(await maintenance().runOnce()).toEqual([])
})
