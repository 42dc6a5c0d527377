import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import { createQueueRuntime, type QueueRuntime } from '../../src/queues/runtime.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'

let server: TestPostgres
let url: string
let holder: pg.Client
let other: pg.Client
let watcher: pg.Client
let runtimes: QueueRuntime[] = []

beforeAll(async () => {
  server = await startTestPostgres()
})
afterAll(() => server.stop())

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

beforeEach(async () => {
  url = await server.emptyDatabase()
  holder = await connect()
  other = await connect()
  watcher = await connect()
})
afterEach(async () => {
  await Promise.all([holder, other, watcher].map((client) => client.end()))
  await Promise.all(runtimes.map((runtime) => runtime.close()))
  runtimes = []
})

const make = (): QueueRuntime => {
  const log = createLogger({ level: 'error', format: 'json', destination: { write: () => true } })
  const backend = createQueueBackend({ redisUrl: null, databaseUrl: url, quiet: createQuietLog(log) })
  const runtime = createQueueRuntime({ backend, log, metrics: createMetrics({ version: 'test', processMetrics: false }) })
  runtimes.push(runtime)
  return runtime
}

const anHourMs = 3_600_000
/** Two jobs that are due in an hour; nobody consumes them. */
const delayTwo = async (): Promise<void> => {
  const runtime = make()
  await runtime.start()
  for (const commandId of ['1', '2']) await runtime.enqueue('command.run', { commandId }, { delayMs: anHourMs })
}
/** Fetches a job as a worker does, in two hours from now. */
const fetchOne = async (by: pg.Client): Promise<readonly string[]> => {
  const { rows } = await by.query<{ id: string }>(
    `SELECT id FROM bullmq.move_to_active('commands', 'token', 10000, $1, 'worker', NULL, NULL)`,
    [Date.now() + 2 * anHourMs],
  )
  return rows.map(({ id }) => id)
}
const inHand = async (id: string): Promise<void> => {
  await holder.query('BEGIN')
  await holder.query('SELECT FROM bullmq.job WHERE id = $1 FOR UPDATE', [id])
}
/** The bodies of BullMQ's functions, by their names. */
const bodies = async (): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await other.query<{ name: string; body: string }>(
    `SELECT oid::regprocedure::text AS name, prosrc AS body FROM pg_proc WHERE pronamespace = 'bullmq'::regnamespace ORDER BY 1`,
  )
  return new Map(rows.map(({ name, body }) => [name.replace(/^bullmq\.(\w+)\(.*$/, '$1'), body]))
}

describe('what another process has in hand of a queue in Postgres', () => {
  test('is skipped by who fetches a job, and is fetched afterwards', async () => {
    await delayTwo()
    await other.query(`SET lock_timeout = '1s'`)
    await inHand('command.run~1')
    expect(await fetchOne(other)).toEqual(['command.run~2'])
    expect(await fetchOne(other)).toEqual([])
    await holder.query('COMMIT')
    expect(await fetchOne(other)).toEqual(['command.run~1'])
  })

  test('makes nobody wait in a circle: who meets the jobs in another order skips those of the other', async () => {
    await delayTwo()
    await inHand('command.run~2')
    let answered = false
    const fetched = fetchOne(other).finally(() => {
      answered = true
    })
    const isWaiting = async (): Promise<boolean> =>
      (await watcher.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)).rows
        .length > 0
    await eventually(async () => expect(answered || (await isWaiting())).toBe(true))
    expect(await Promise.all([fetched, fetchOne(holder)])).toEqual([['command.run~1'], ['command.run~2']])
    await holder.query('COMMIT')
  })

  test('lets nobody sleep once it is ready', async () => {
    const nextDelay = async (): Promise<number | null> =>
      (await other.query<{ at: number | null }>(`SELECT bullmq.next_delay('commands')::float8 AS at`)).rows[0]?.at ?? null
    await delayTwo()
    expect(await nextDelay()).toBeGreaterThan(Date.now())
    expect(await fetchOne(other)).toHaveLength(1)
    // Neither in the future nor unknown: the other one waits.
    expect(await nextDelay()).toBe(0)
    await other.query(`SELECT bullmq.pause('commands', true)`)
    expect(await nextDelay()).toBe(null)
    await other.query(`SELECT bullmq.pause('commands', false)`)
    expect(await fetchOne(other)).toHaveLength(1)
    expect(await nextDelay()).toBe(null)
  })

  test('is skipped by the search for stalled jobs, and found by the next one', async () => {
    await delayTwo()
    for (let fetched = 0; fetched < 2; fetched += 1) expect(await fetchOne(other)).toHaveLength(1)
    const search = async (atMs: number): Promise<readonly string[]> => {
      const { rows } = await other.query<{ id: string }>(
        `SELECT id FROM bullmq.move_stalled_jobs_to_wait('commands', 3, $1, 1000) AS t(id) ORDER BY id`,
        [Date.now() + atMs],
      )
      return rows.map(({ id }) => id)
    }
    await inHand('command.run~1')
    await other.query(`SET lock_timeout = '1s'`)
    expect(await search(3 * anHourMs)).toEqual([])
    expect(await search(4 * anHourMs)).toEqual(['command.run~2'])
    await holder.query('COMMIT')
    expect(await search(5 * anHourMs)).toEqual([])
    expect(await search(6 * anHourMs)).toEqual(['command.run~1'])
  })
})

test('a postponed job wakes who is asleep, unless that one wakes up before it anyway', async () => {
  await delayTwo()
  const heard: { channel: string; payload?: string | undefined }[] = []
  watcher.on('notification', ({ channel, payload }) => heard.push({ channel, payload }))
  await watcher.query('LISTEN bullmq_jobs')
  await watcher.query('LISTEN bullmq_events')
  const postpone = async (id: string, atMs: number): Promise<void> => {
    await other.query(`SELECT bullmq.move_to_delayed('commands', $1, 'token', $2, 0, true, NULL, NULL)`, [id, atMs])
  }
  const fetchBoth = async (): Promise<void> => {
    for (let fetched = 0; fetched < 2; fetched += 1) expect(await fetchOne(other)).toHaveLength(1)
  }
  const atMs = Date.now() + anHourMs
  await fetchBoth()
  await postpone('command.run~1', atMs)
  await postpone('command.run~2', atMs + 1)
  await fetchBoth()
  await postpone('command.run~2', atMs + 1)
  await postpone('command.run~1', atMs)
  // Of the four only the second one wakes nobody; of the fetches nothing is reported.
  await eventually(() =>
    expect(heard).toEqual(Array.from({ length: 3 }, () => ({ channel: 'bullmq_jobs', payload: 'commands' }))),
  )
})

test('BullMQ’s functions are changed once, and only where they are as they are known', async () => {
  await make().start()
  const changed = await bodies()
  // What stands in each of them, and did not before.
  for (const [name, passage] of [
    ['move_stalled_jobs_to_wait', "state = 'active' FOR UPDATE SKIP LOCKED"],
    ['move_to_active', 'ctid = ANY(ARRAY('],
    ['move_to_delayed', 'IF NOT EXISTS ('],
    ['next_delay', 'THEN 0'],
    ['publish_event', "IF p_queue NOT IN ('polls', 'backfills', 'commands', 'events', 'webhooks', 'maintenance')"],
  ] as const)
    expect(changed.get(name)?.split(passage)).toHaveLength(2)
  await other.query(
    `CREATE OR REPLACE FUNCTION bullmq.move_stalled_jobs_to_wait(p_queue text, p_max_stalled integer, p_now bigint, p_max_check_time bigint)
       RETURNS SETOF text LANGUAGE plpgsql AS 'BEGIN RETURN; END'`,
  )
  await make().start()
  expect(await bodies()).toEqual(new Map([...changed, ['move_stalled_jobs_to_wait', 'BEGIN RETURN; END']]))
})
