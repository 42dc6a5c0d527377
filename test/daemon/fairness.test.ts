import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, placeOrder, post } from './support.ts'

const kinds = hasRedisServer() ? (['postgres', 'redis'] as const) : (['postgres'] as const)
/** What answers late answers later than any of these tests lasts. */
const maxWaitMs = 60_000

describe.each(kinds)('two sellers, one of whom wants or keeps everything, with queues in %s', (kind) => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let daemon: TestDaemon
  let databaseUrl: string
  const stops: (() => Promise<unknown>)[] = []
  const stopsOfTest: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
    stops.push(
      () => sandbox.stop(),
      () => postgres.stop(),
    )
  }, 60_000)
  afterEach(async () => {
    for (const stop of stopsOfTest.splice(0)) await stop()
    await sandbox.control('PUT', '/faults', {})
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  // Whose turn it is, Postgres and the slots of the process decide, whatever the queues are in; jobs that get no slot go round in the queues.
  const testOnce = test.runIf(kind === 'postgres')

  const start = async (): Promise<void> => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-fairness-'))
    stopsOfTest.push(() => rm(folder, { recursive: true, force: true }))
    const sellersFile = path.join(folder, 'sellers.json')
    await writeFile(sellersFile, JSON.stringify(await makeSellers(sandbox, 'greedy', 'modest')))
    databaseUrl = await postgres.database()
    const redis = kind === 'redis' ? await startTestRedis() : null
    if (redis !== null) stopsOfTest.unshift(() => redis.stop())
    daemon = await startTestDaemon({
      SELLERS_FILE: sellersFile,
      DATA_DIR: folder,
      DATABASE_URL: databaseUrl,
      MARKETPLACE_URL: sandbox.url,
      REQUEST_TIMEOUT: '120s',
      SETTLE_TIME: '180s',
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
    })
    const { program } = daemon
    stopsOfTest.unshift(() => program.kill())
  }

  const countExpression = async (sql: string): Promise<number> => (await query<{ n: number }>(databaseUrl, sql))[0]?.n ?? 0
  const commands = (where: string): Promise<number> =>
    countExpression(`SELECT count(*)::int AS n FROM tallyman.commands WHERE ${where}`)
  const events = (where: string): Promise<number> =>
    countExpression(`SELECT count(*)::int AS n FROM tallyman.erp_event WHERE ${where}`)
  const modestIsServed = () =>
    eventually(async () => expect(await commands(`seller_id = 'modest' AND state = 'confirmed'`)).toBe(1), maxWaitMs)
  const corrupt = (fault: object) => sandbox.control('PUT', '/faults', { rules: [{ sellerId: 'greedy', ...fault }] })
  /** No answer for the greedy one. */
  const hang = (fault: object) => corrupt({ timeoutBefore: 1, ...fault })
  const acceptMany = async (): Promise<void> => {
    const orders = await Promise.all(Array.from({ length: 150 }, () => placeOrder(sandbox, 1, 'greedy')))
    await query(
      databaseUrl,
      `INSERT INTO tallyman.erp_event (source, id, type, data)
       SELECT '/inbox', po, 'erp.order.accepted', jsonb_build_object('sellerId', 'greedy', 'purchaseOrderId', po)
       FROM unnest(ARRAY[${orders.map(({ purchaseOrderId }) => `'${purchaseOrderId}'`).join(', ')}]) po`,
    )
  }

  testOnce(
    'hundreds of inbox rows of a seller whose marketplace is silent stand before none of the other',
    async () => {
      await start()
      await hang({ operation: 'orders.get' })
      const { purchaseOrderId } = await placeOrder(sandbox, 1, 'modest')
      await query(
        databaseUrl,
        `INSERT INTO tallyman.erp_event (source, id, type, data)
       SELECT '/inbox', n::text, 'erp.order.accepted', jsonb_build_object('sellerId', 'greedy', 'purchaseOrderId', 'unknown-' || n)
       FROM generate_series(1, 520) n
       UNION ALL
       SELECT '/inbox', 'modest', 'erp.order.accepted', jsonb_build_object('sellerId', 'modest', 'purchaseOrderId', '${purchaseOrderId}')`,
      )
      await eventually(async () => expect(await events(`id = 'modest' AND status = 'accepted'`)).toBe(1), maxWaitMs)
      // Not even those that one derivation brings of it have had their turn.
      expect(await events(`id <> 'modest' AND waits_for IS NOT NULL`)).toBeLessThan(250)
      expect(await events(`id <> 'modest' AND status = 'received'`)).toBe(520)
    },
    150_000,
  )

  testOnce(
    'thousands of commands of a seller that wait for budget are not all looked at before those of the other',
    async () => {
      await start()
      await query(
        databaseUrl,
        `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, next_action_at)
       SELECT 'g-' || n, 'greedy', 'g-' || n, 'acknowledge', 'pending', '{}', now() - interval '1 hour' FROM generate_series(1, 2400) n`,
      )
      const lookedAt = (): Promise<number> =>
        commands(`seller_id = 'greedy' AND (state <> 'pending' OR next_action_at > created_at)`)
      await eventually(async () => expect(await lookedAt()).toBeGreaterThan(0), maxWaitMs)
      expect(await post(daemon, accepted(await placeOrder(sandbox, 1, 'modest')))).toBe(202)
      await modestIsServed()
      // Those of one share, and the few for which there was budget.
      expect(await lookedAt()).toBeLessThan(500)
    },
    150_000,
  )

  test('a seller whose requests are not answered keeps no slot from the other', async () => {
    await start()
    await hang({ method: 'POST', operation: 'orders.*' })
    await acceptMany()
    const inProgress = (): Promise<number> => commands(`seller_id = 'greedy' AND state = 'sending'`)
    // As many as all slots of a process once were.
    await eventually(async () => expect(await inProgress()).toBeGreaterThanOrEqual(8), maxWaitMs)
    expect(await post(daemon, accepted(await placeOrder(sandbox, 1, 'modest')))).toBe(202)
    await modestIsServed()
    expect(await inProgress()).toBeGreaterThanOrEqual(8)
    expect(await commands(`seller_id = 'greedy' AND state = 'confirmed'`)).toBe(0)
  }, 150_000)

  testOnce.each([
    ['is answered with 429', { tooManyRequestsWithoutHeader: 1 }],
    ['is refused its credentials', { tokenRefused: 1 }],
  ])(
    'a seller who %s keeps the other from nothing',
    async (_how, fault) => {
      await start()
      await corrupt({ method: 'POST', operation: 'orders.*', ...fault })
      await acceptMany()
      const tried = (): Promise<number> => commands(`seller_id = 'greedy' AND attempts > 0`)
      await eventually(async () => expect(await tried()).toBeGreaterThan(0), maxWaitMs)
      expect(await post(daemon, accepted(await placeOrder(sandbox, 1, 'modest')))).toBe(202)
      await modestIsServed()
      expect(await commands(`seller_id = 'greedy' AND state = 'confirmed'`)).toBe(0)
      // What it wants waits, and is not lost.
      expect(await commands(`seller_id = 'greedy' AND state IN ('rejected', 'held')`)).toBe(0)
    },
    150_000,
  )

  testOnce(
    'an event whose order cannot be fetched keeps no events about another order waiting',
    async () => {
      // Unknown until they are fetched by their number.
      const noLists = ['orders.list', 'orders.released'].map((operation) => ({ operation, timeoutBefore: 1 }))
      await sandbox.control('PUT', '/faults', { rules: noLists })
      await start()
      const [slow, known] = await Promise.all([placeOrder(sandbox, 1, 'modest'), placeOrder(sandbox, 1, 'modest')])
      await sandbox.control('PUT', '/faults', {
        rules: [
          ...noLists,
          { operation: 'orders.get', purchaseOrderId: slow.purchaseOrderId, slow: { share: 1, delayMs: 8_000 } },
        ],
      })
      const posted = [accepted(slow), accepted(known), dispatched(known, 1, 1)]
      const values = posted.map(({ id, type, data }) => `('/inbox', '${id}', '${type}', '${JSON.stringify(data)}')`)
      await query(databaseUrl, `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ${values.join(', ')}`)
      const decided = async (): Promise<readonly string[]> =>
        (
          await query<{ id: string }>(
            databaseUrl,
            `SELECT id FROM tallyman.erp_event WHERE status = 'accepted' ORDER BY processed_at, sequence`,
          )
        ).map(({ id }) => id)
      await eventually(async () => expect(await decided()).toHaveLength(3), maxWaitMs)
      // Those about one order in the order in which they came.
      const [first, ...others] = posted.map(({ id }) => id)
      expect(await decided()).toEqual([...others, first])
      const listKinds = await query<{ kind: string }>(
        databaseUrl,
        `SELECT kind FROM tallyman.commands WHERE purchase_order_id = '${known.purchaseOrderId}' ORDER BY sequence`,
      )
      expect(listKinds.map(({ kind: one }) => one)).toEqual(['acknowledge', 'ship'])
    },
    150_000,
  )
})
