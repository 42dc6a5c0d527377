import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDaemon } from '../support/daemon.ts'
import { dispatched, type ErpEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, sandboxSeller, untilReady, untilSettled } from './support.ts'

const orderCount = 40
const crashes = 2

let postgres: TestPostgres
let sandbox: TestSandbox

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
}, 60_000)
afterAll(async () => {
  await Promise.all([postgres.stop(), sandbox.stop()])
})

test('a Postgres that crashes under load loses jobs, which are not on the disk, but nothing of the work', async () => {
  const databaseUrl = await postgres.database()
  await sandbox.control('PUT', '/limits', { enabled: false })
  const perMinute = { tokens: 60_000, per: '1m' }
  const daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: sandbox.folder,
    MARKETPLACE_URL: sandbox.url,
    POLL_ORDERS: '1s',
    REQUEST_TIMEOUT: '2s',
    SETTLE_TIME: '4s',
    RATE_LIMITS: JSON.stringify({ 'orders.acknowledge': perMinute, 'orders.ship': perMinute, 'orders.get': perMinute }),
  })
  /** Kills a backend the hard way: the server ends all sessions, and recovers from what is on the disk. */
  const crash = async (): Promise<void> => {
    const [backend] = await query<{ pid: number }>(
      databaseUrl,
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'tallyman-queues' LIMIT 1`,
    )
    if (backend === undefined) throw new Error('no session of the queues')
    process.kill(backend.pid, 'SIGKILL')
  }
  const untilTaken = (event: ErpEvent): Promise<void> =>
    eventually(async () => expect(await post(daemon, event).catch(() => 0)).toBe(202), 60_000)

  const orders = await Promise.all(Array.from({ length: orderCount }, () => placeOrder(sandbox, 1)))
  await eventually(async () => {
    const [row] = await query<{ n: number }>(databaseUrl, 'SELECT count(*)::int AS n FROM warehouse.orders')
    expect(row?.n).toBe(orderCount)
  }, 60_000)
  for (let part = 0; part < crashes; part += 1) {
    const some = orders.slice((part * orderCount) / crashes, ((part + 1) * orderCount) / crashes)
    // Each is acknowledged first, by a command of its own.
    const posts = some.map((order) => untilTaken(dispatched(order, 0, 1)))
    await crash()
    await Promise.all(posts)
  }

  await untilReady(daemon)
  expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 2 * orderCount })
  const effects = await sandbox.effects()
  const listKinds = Map.groupBy(effects, ({ purchaseOrderId }) => purchaseOrderId)
  for (const { purchaseOrderId } of orders)
    expect(listKinds.get(purchaseOrderId)?.map(({ kind }) => kind)).toEqual(['acknowledged', 'shipped'])
  expect(await daemon.program.stop()).toBe(0)
}, 240_000)
