import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { hasRedisServer, startTestSentinel, type TestSentinel } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, readiness, sandboxSeller, untilEffects, untilReady, untilSettled } from './support.ts'

/** Several servers, and the daemon. */
const startMs = 120_000

describe.skipIf(!hasRedisServer())('a Redis that sentinels watch', () => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let sentinel: TestSentinel
  let databaseUrl: string
  let daemon: TestDaemon

  const stops: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    ;[postgres, sandbox, sentinel] = await Promise.all([startTestPostgres(), startTestSandbox(), startTestSentinel('orders')])
    stops.push(
      () => postgres.stop(),
      () => sandbox.stop(),
      () => sentinel.stop(),
    )
    databaseUrl = await postgres.database()
    daemon = await startTestDaemon({
      ...sandboxSeller,
      DATABASE_URL: databaseUrl,
      REDIS_URL: sentinel.url,
      MARKETPLACE_URL: sandbox.url,
      POLL_ORDERS: '1s',
      POLL_RETURNS: 'off',
      REQUEST_TIMEOUT: '2s',
      SETTLE_TIME: '4s',
    })
    stops.push(() => daemon.program.kill())
  }, startMs)
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  const doctor = async (url: string) => {
    const { out } = await cli(['doctor'], { DATABASE_URL: databaseUrl, REDIS_URL: url, TALLYMAN_URL: daemon.url })
    return out
      .split('\n')
      .filter((line) => line.includes('redis: '))
      .map((line) => line.trim())
  }

  test.concurrent('work goes on when its master is killed and the replica is promoted, and nothing is lost or done twice', {
    timeout: 240_000,
  }, async () => {
    const masterPort = new URL(sentinel.master.url).port
    const before = await placeOrder(sandbox, 2)
    expect(await post(daemon, accepted(before))).toBe(202)
    await untilEffects(sandbox, before, ['acknowledged'])
    expect(await sentinel.master.command('DBSIZE'), 'it holds the queues').toBeGreaterThan(0)

    await sentinel.master.kill()
    // What comes meanwhile is durable in Postgres.
    const meanwhile = await Promise.all([1, 2, 3, 4].map(() => placeOrder(sandbox, 2)))
    for (const order of [before, ...meanwhile]) expect(await post(daemon, dispatched(order, 1, 2))).toBe(202)

    await eventually(async () => expect(await sentinel.replica.command('ROLE')).toContain('master'))
    await untilReady(daemon)
    for (const order of [before, ...meanwhile]) await untilEffects(sandbox, order, ['acknowledged', 'shipped'])
    const afterwards = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(afterwards))).toBe(202)
    await untilEffects(sandbox, afterwards, ['acknowledged'])
    const settled = await untilSettled(databaseUrl)
    expect(Object.keys(settled)).toEqual(['confirmed'])
    for (const { shipped, ordered } of await sandbox.summary()) expect([0, ordered]).toContain(shipped)

    // One that was a master and is back is a replica, and is not used.
    await sentinel.master.start()
    await eventually(async () => expect(await sentinel.master.command('ROLE')).toContain('slave'))
    expect(await sentinel.command('SENTINEL', 'get-master-addr-by-name', 'orders')).not.toContain(masterPort)
    await untilReady(daemon)
  })

  // Most of it is waiting: at the same time as the test before, with servers of its own.
  test.concurrent('a master that falls silent with its connections open is left when the replica is promoted', {
    timeout: startMs,
  }, async () => {
    const own = await startTestSentinel('orders')
    const other = await startTestDaemon({
      ...sandboxSeller,
      DATABASE_URL: await postgres.database(),
      REDIS_URL: own.url,
      MARKETPLACE_URL: sandbox.url,
      POLL_ORDERS: '1s',
      POLL_RETURNS: 'off',
    })
    try {
      const [, processId] = /process_id:(\d+)/.exec(String(await own.master.command('INFO', 'server'))) ?? []
      process.kill(Number(processId), 'SIGSTOP')
      await eventually(async () => expect(await own.replica.command('ROLE')).toContain('master'))
      await eventually(async () => expect((await readiness(other)).status).toBe(503))
      await eventually(async () => expect((await readiness(other)).status).toBe(200), 60_000)
      const order = await placeOrder(sandbox, 1)
      expect(await post(other, accepted(order))).toBe(202)
      await untilEffects(sandbox, order, ['acknowledged'])
    } finally {
      await other.program.kill()
      await own.stop()
    }
  })

  test('the doctor asks the sentinels, and then the master that they name', async () => {
    const port = new URL(sentinel.url).port
    expect(await doctor(sentinel.url)).toEqual([
      expect.stringMatching(new RegExp(`^ok +redis: the sentinel 127\\.0\\.0\\.1:${port} answers$`)),
      expect.stringMatching(/^ok +redis: the master orders answers$/),
    ])
  })
  test.each([
    ['another name', (url: string) => url.replace('/orders', '/others'), /FAIL.*knows no master of the name others/i],
    ['another password of the sentinel', (url: string) => url.replace('of-the-sentinel', 'wrong'), /FAIL.*WRONGPASS/i],
    ['another password of Redis', (url: string) => url.replace('of-redis', 'wrong'), /FAIL.*the master orders .*WRONGPASS/i],
  ])('the doctor says what is wrong: %s', async (_, change, said) => {
    const lines = await doctor(change(sentinel.url))
    expect(lines.join('\n')).toMatch(said)
    expect(lines.join('\n')).not.toMatch(/wrong(?!pass)|of-redis|of-the-sentinel/)
  })
})
