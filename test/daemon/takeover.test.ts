import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { type OrderAddress, placeOrder, post, sandboxSeller, untilEffects, untilSettled } from './support.ts'

const kinds = hasRedisServer() ? (['Postgres', 'Redis'] as const) : (['Postgres'] as const)
const orders = 12
/** A list takes so long that the process which asks for it still waits when its commands are in progress. */
const slowReadMs = 8_000
/** … and a command longer than its lease, and than the start of the other process. */
const slowWriteMs = 20_000
/** From the end of a process until everything that it had in hand is in the hands of another one. */
const takenOverWithinMs = 30_000

const requestsSchema = z.object({
  items: z.array(z.object({ operation: z.string().nullable(), purchaseOrderId: z.string().nullable() })),
})

interface InHand {
  readonly commands: readonly string[]
  readonly streams: readonly string[]
}

// Most of it is waiting: for both stores at the same time.
describe.concurrent.each(kinds)('two daemons of one seller with queues in %s', (kind) => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let databaseUrl: string
  let environment: Record<string, string>
  const stops: (() => Promise<unknown>)[] = []
  const daemons: TestDaemon[] = []

  beforeAll(async () => {
    ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
    stops.push(
      () => sandbox.stop(),
      () => postgres.stop(),
    )
    databaseUrl = await postgres.database()
    environment = {
      ...sandboxSeller,
      MARKETPLACE_URL: sandbox.url,
      DATABASE_URL: databaseUrl,
      DATA_DIR: sandbox.folder,
      POLL_ORDERS: '2s',
      SETTLE_TIME: '40s',
      RATE_LIMITS: JSON.stringify({ 'orders.acknowledge': { tokens: 6_000, per: '1m' } }),
    }
    if (kind === 'Redis') {
      const redis = await startTestRedis()
      stops.push(() => redis.stop())
      environment['REDIS_URL'] = redis.url
    }
  })
  afterEach(async () => {
    for (const { program } of daemons.splice(0)) await program.kill()
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  /** What a process has in hand, by its process id; of streams only what it has begun within so long. */
  const readInHand = async (pid: number | undefined, withinMs = 3_600_000): Promise<InHand> => {
    const rows = await query<{ what: 'command' | 'stream'; name: string }>(
      databaseUrl,
      `SELECT 'command' AS what, id AS name FROM tallyman.commands WHERE state = 'sending' AND lease_owner LIKE '%-${pid}-%'
       UNION ALL SELECT 'stream', resource || '/' || stream FROM tallyman.sync_states
       WHERE lease_owner LIKE '%-${pid}-%' AND last_started_at > now() - ${withinMs} * interval '1 millisecond'`,
    )
    const listNames = (what: string) => rows.filter((row) => row.what === what).map(({ name }) => name)
    return { commands: listNames('command'), streams: listNames('stream') }
  }

  /** The orders that requests to acknowledge have named, each as often as it was. */
  const acknowledgements = async (): Promise<readonly (string | null)[]> =>
    requestsSchema
      .parse(await sandbox.control('GET', '/requests?limit=5000'))
      .items.filter(({ operation }) => operation === 'orders.acknowledge')
      .map(({ purchaseOrderId }) => purchaseOrderId)

  /** A daemon that acknowledges new orders at a marketplace that takes its time, and another one that is started meanwhile. */
  const begin = async (slowMs: number) => {
    await sandbox.control('PUT', '/faults', {})
    const first = await startTestDaemon(environment)
    daemons.push(first)
    const placed: OrderAddress[] = []
    for (let order = 0; order < orders; order += 1) placed.push(await placeOrder(sandbox, 1))
    const ids = placed.map(({ purchaseOrderId }) => purchaseOrderId)
    await eventually(async () => {
      const [stored] = await query<{ count: number }>(
        databaseUrl,
        `SELECT count(*)::int AS count FROM warehouse.orders WHERE purchase_order_id IN ('${ids.join("','")}')`,
      )
      expect(stored?.count).toBe(orders)
    })
    await sandbox.control('PUT', '/faults', {
      rules: [
        { operation: 'orders.*', method: 'POST', slow: { share: 1, delayMs: slowMs } },
        { operation: 'orders.released', method: 'GET', slow: { share: 1, delayMs: slowReadMs } },
        { operation: 'orders.list', method: 'GET', slow: { share: 1, delayMs: slowReadMs } },
      ],
    })
    await eventually(async () => expect((await readInHand(first.program.child.pid, 1_000)).streams).not.toEqual([]), 60_000)
    expect(await Promise.all(placed.map((order) => post(first, accepted(order))))).toEqual(placed.map(() => 202))
    await eventually(async () => expect((await readInHand(first.program.child.pid)).commands.length).toBeGreaterThan(1))
    const second = await startTestDaemon(environment)
    daemons.push(second)
    /** Every order is acknowledged, by one request. */
    const untilAcknowledged = async (): Promise<void> => {
      await eventually(async () => {
        const states = await query<{ state: string }>(
          databaseUrl,
          `SELECT state FROM tallyman.commands WHERE purchase_order_id IN ('${ids.join("','")}')`,
        )
        expect(states.map(({ state }) => state)).toEqual(ids.map(() => 'confirmed'))
        // Whoever ends between the intent and its request has sent nothing, which is certain after the settle time.
      }, 120_000)
      const asked = (await acknowledgements()).filter((id) => id !== null && ids.includes(id))
      expect(asked.sort()).toEqual([...ids].sort())
      const effects = (await sandbox.effects()).filter(({ kind: what }) => what === 'acknowledged')
      const acknowledged = effects.map(({ purchaseOrderId }) => purchaseOrderId).filter((id) => ids.includes(id))
      expect(acknowledged.sort()).toEqual([...ids].sort())
    }
    return { first, second, untilAcknowledged }
  }

  // Leases are in Postgres, whatever the queues are in: what does not touch them is tried once.
  const signals = kind === 'Postgres' ? (['SIGKILL', 'SIGSTOP'] as const) : (['SIGKILL'] as const)
  test.each(signals)(
    'what one has in hand at a %s is in the hands of the other within 30 s, and nothing is sent twice',
    {
      timeout: 240_000,
      concurrent: false,
    },
    async (signal) => {
      const { first, untilAcknowledged } = await begin(slowWriteMs)
      await eventually(async () => {
        const { commands, streams } = await readInHand(first.program.child.pid)
        expect(commands.length).toBeGreaterThan(1)
        expect(streams.length).toBeGreaterThan(0)
      })
      first.program.child.kill(signal)
      const endedAtMs = performance.now()
      const [{ now } = { now: new Date() }] = await query<{ now: Date }>(databaseUrl, 'SELECT now() AS now')
      const left = await readInHand(first.program.child.pid)
      expect(left.commands.length).toBeGreaterThan(0)
      expect(left.streams.length).toBeGreaterThan(0)

      await eventually(async () => {
        expect(await readInHand(first.program.child.pid)).toEqual({ commands: [], streams: [] })
        const started = await query<{ name: string }>(
          databaseUrl,
          `SELECT resource || '/' || stream AS name FROM tallyman.sync_states WHERE last_started_at > '${now.toISOString()}'`,
        )
        expect(started.map(({ name }) => name)).toEqual(expect.arrayContaining([...left.streams]))
      }, 90_000)
      expect(performance.now() - endedAtMs).toBeLessThan(takenOverWithinMs)

      await untilAcknowledged()
      if (signal === 'SIGKILL') return
      first.program.child.kill('SIGCONT')
      const order = await placeOrder(sandbox, 1)
      await sandbox.control('PUT', '/faults', {})
      expect(await post(first, accepted(order), 30_000)).toBe(202)
      await untilEffects(sandbox, order, ['acknowledged'])
      await untilAcknowledged()
      // A command whose answer is not stored yet would be interrupted by the end of this test, and found by the next one.
      await untilSettled(databaseUrl)
    },
  )

  test.runIf(kind === 'Postgres')(
    'an answer that takes longer than a lease is waited for',
    { timeout: 240_000, concurrent: false },
    async () => {
      const { first, second, untilAcknowledged } = await begin(slowWriteMs)
      await untilAcknowledged()
      for (const { program } of [first, second])
        expect(program.output()).not.toContain('the sending of this command was interrupted')
    },
  )
})
