import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { hasRedisServer, startTestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, sandboxSeller } from './support.ts'

const kinds = hasRedisServer() ? (['Postgres', 'Redis'] as const) : (['Postgres'] as const)
const orders = 40
/** A full bucket of ten, and one more every half second. */
const limit = { tokens: 10, perMs: 5_000 }

const requestsSchema = z.object({ items: z.array(z.object({ operation: z.string().nullable(), status: z.number().nullable() })) })

// Most of it is waiting: for both stores at the same time.
describe.concurrent.each(kinds)('two daemons of one seller that share through %s', (kind) => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let environment: Record<string, string>
  const stops: (() => Promise<unknown>)[] = []
  const daemons: TestDaemon[] = []

  beforeAll(async () => {
    ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
    stops.push(
      () => sandbox.stop(),
      () => postgres.stop(),
    )
    environment = {
      ...sandboxSeller,
      MARKETPLACE_URL: sandbox.url,
      DATABASE_URL: await postgres.database(),
      DATA_DIR: sandbox.folder,
      POLL_ORDERS: '1s',
      // What the killed one had not sent yet is sent by the other one after this time.
      REQUEST_TIMEOUT: '2s',
      SETTLE_TIME: '4s',
      RATE_LIMITS: JSON.stringify({ 'orders.acknowledge': { tokens: limit.tokens, per: `${limit.perMs}ms` } }),
    }
    if (kind === 'Redis') {
      const redis = await startTestRedis()
      stops.push(() => redis.stop())
      environment['REDIS_URL'] = redis.url
    }
  })
  afterEach(async () => {
    for (const { program } of daemons.splice(0)) await program.stop()
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  const acknowledgements = async (): Promise<readonly (number | null)[]> =>
    requestsSchema
      .parse(await sandbox.control('GET', '/requests?limit=5000'))
      .items.filter(({ operation }) => operation === 'orders.acknowledge')
      .map(({ status }) => status)

  test('send all that is wanted without one refusal, also when one of them is killed', { timeout: 300_000 }, async () => {
    await sandbox.control('PUT', '/limits', {
      enabled: true,
      operations: { 'orders.acknowledge': limit, 'orders.get': null, 'orders.list': null, 'orders.released': null, token: null },
    })
    const [first, second] = await Promise.all([startTestDaemon(environment), startTestDaemon(environment)])
    if (first === undefined || second === undefined) throw new Error('a daemon is missing')
    daemons.push(first, second)
    const placed = []
    for (let order = 0; order < orders; order += 1) placed.push(await placeOrder(sandbox, 1))
    for (const [index, order] of placed.entries()) expect(await post(index % 2 === 0 ? first : second, accepted(order))).toBe(202)
    await eventually(async () => expect((await acknowledgements()).length).toBeGreaterThan(orders / 2), 120_000)
    first.program.child.kill('SIGKILL')
    await eventually(async () => {
      const effects = await sandbox.effects()
      expect(effects.filter((effect) => effect.kind === 'acknowledged')).toHaveLength(orders)
    }, 120_000)
    expect((await acknowledgements()).filter((status) => status === 429)).toEqual([])
  })
})
