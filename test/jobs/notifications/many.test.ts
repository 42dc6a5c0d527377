import { createHmac, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ordersEndpoint, orderWrites } from '../../../src/clients/marketplace/orders/orders.ts'
import { createNotificationIntake } from '../../../src/jobs/notifications/accept.ts'
import { NotificationReader } from '../../../src/jobs/notifications/read-worker.ts'
import { readStreams } from '../../../src/jobs/sync/engine/syncs.ts'
import type { JobToEnqueue } from '../../../src/queues/jobs.ts'
import type { Database } from '../../../src/store/db/database.ts'
import { findUnreadRecords, type NotifiedKey } from '../../../src/store/notifications/notifications.ts'
import { recordSellers } from '../../../src/store/sellers/sellers.ts'
import { startServer } from '../../http/support.ts'
import { withDatabase } from '../../support/database.ts'
import { buildRandom } from '../../support/random.ts'
import { type TestSeller, testSettings, withSyncBench } from '../sync/support.ts'

/** Notifications of this test; `NOTIFICATIONS` for more of them. */
const total = Number(process.env['NOTIFICATIONS'] ?? 500)
const perOrder = 4
const atOnce = 16
const secret = 'marketplace:a-password-of-the-tests'

const bench = withSyncBench()
const polled = withDatabase({ connections: 5 })

/** Runs work for each item, some at once. */
const forEach = async <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> => {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** Runs the jobs as the queue does: a job that waits or runs exists once. */
const createJobRunner = (run: (key: NotifiedKey) => Promise<unknown>) => {
  const existing = new Map<string, Promise<unknown>>()
  let reads = 0
  return {
    add: (key: NotifiedKey): void => {
      const id = JSON.stringify(key)
      if (existing.has(id)) return
      reads += 1
      existing.set(
        id,
        run(key).finally(() => existing.delete(id)),
      )
    },
    untilIdle: async () => {
      while (existing.size > 0) await Promise.all(existing.values())
    },
    reads: () => reads,
  }
}

/** A third of the deliveries is disturbed: repeated, dropped, forged or late. */
const disturb = (bodies: readonly string[], random: () => number) => {
  const deliveries: { readonly body: string; readonly isForged: boolean }[] = []
  const late: typeof deliveries = []
  let dropped = 0
  for (const body of bodies) {
    const choice = random()
    const delivery = { body, isForged: choice < 1 / 12 }
    if (choice >= 3 / 12 && choice < 4 / 12) dropped += 1
    else if (choice >= 2 / 12 && choice < 3 / 12) late.push(delivery)
    else deliveries.push(delivery, ...(choice >= 1 / 12 && choice < 2 / 12 ? [delivery] : []))
  }
  return { deliveries: [...deliveries, ...late.reverse()], dropped }
}

const buildBody = (subEventType: string, purchaseOrderId: string): string =>
  JSON.stringify({
    source: { eventType: 'ORDER_UPDATES', eventId: randomUUID() },
    payload: { subEventType, order: { purchaseOrderId } },
  })

const poll = async (seller: TestSeller, database: Database): Promise<void> => {
  for (const { stream } of readStreams('orders').filter(({ stream: name }) => /^(released|changed:)/.test(name)))
    await seller.sync('orders', stream, { database, settings: { ...testSettings, pageSize: 200 } })
}

const readTables = async (database: Database, sellerId: string) => ({
  orders: await database.query(
    'SELECT purchase_order_id, order_date, open, missing_since, raw FROM warehouse.orders WHERE seller_id = $1 ORDER BY 1',
    sellerId,
  ),
  lines: await database.query(
    `SELECT purchase_order_id, line_number, ordered, acknowledged, shipped, cancelled, refunded FROM warehouse.order_lines
     WHERE seller_id = $1 ORDER BY 1, 2`,
    sellerId,
  ),
})

test('repeated, late, forged and dropped notifications leave the tables as polls alone do, and forged ones cause no read', async () => {
  const random = buildRandom(20_261_127)
  const seller = await bench.seller()
  const { sellerId, client } = seller
  const { database } = bench
  await recordSellers(database, [{ sellerId, credentialsFingerprint: 'f' }], 'start')
  const ids = await seller.place(Math.ceil(total / perOrder))
  const strangers = await seller.place(10)

  const reader = new NotificationReader({
    database,
    owner: 'test',
    runtime: { enqueueMany: async (jobs) => jobs.length },
    commandJobs: { addNow: () => undefined },
    saveHooks: {},
    sellersChanged: () => undefined,
    sellers: {
      has: () => true,
      worksFor: () => true,
      client: () => client,
      configured: () => ({ sellerId, credentialsFingerprint: 'f', resumes: 0 }),
      findSettings: () => undefined,
      suspend: () => undefined,
    },
  })
  const jobs = createJobRunner((key) => reader.run(key, { signal: AbortSignal.timeout(300_000) }))
  const accept = createNotificationIntake({
    database,
    quiet: { warn: () => undefined, error: () => undefined, recovered: () => undefined },
    runtime: {
      enqueueMany: async (added: readonly JobToEnqueue[]) => {
        for (const { name, data } of added)
          if (name === 'notification.read') jobs.add({ sellerId, resource: 'orders', recordId: data.recordId })
        return added.length
      },
    },
  })
  const server = await startServer(database, { notifications: { findSecret: () => secret, accept } })
  const statuses = new Map<number, number>()
  const deliver = async ({ body, isForged }: { readonly body: string; readonly isForged: boolean }): Promise<void> => {
    const key = isForged ? 'another:secret-of-a-stranger' : secret
    const authorization = createHmac('sha256', key).update(body).digest('hex')
    const { status } = await server.json(`/v1/notifications/${sellerId}`, { method: 'POST', body, headers: { authorization } })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const deliverAll = async (types: readonly string[]): Promise<number> => {
    const { deliveries, dropped } = disturb(
      types.flatMap((type) => ids.map((id) => buildBody(type, id))),
      random,
    )
    await forEach(deliveries, deliver)
    return dropped
  }

  const began = performance.now()
  const droppedFirst = await deliverAll(['PO_CREATED', 'PO_LINE_AUTOCANCELLED'])
  let acknowledged = 0
  await forEach(
    ids.filter(() => random() < 0.3),
    async (id) => {
      const request = client.of(ordersEndpoint).prepare.acknowledge(id)
      // Some random orders are fulfilled by the marketplace, which acknowledges them itself.
      const sent = client.writer(orderWrites).send(request, { signal: AbortSignal.timeout(30_000), correlationId: randomUUID() })
      const [answer] = await Promise.allSettled([sent])
      if (answer.status === 'fulfilled') acknowledged += 1
    },
  )
  const droppedLater = await deliverAll(['PO_LINE_AUTOCANCELLED', 'INTENT_TO_CANCEL'])
  await forEach(strangers, (id) => deliver({ body: buildBody('FRAUD_CANCEL', id), isForged: true }))
  await jobs.untilIdle()
  // The relay finds what came while a read ended.
  await database.execute(`UPDATE tallyman.notifications SET received_at = received_at - interval '2 seconds'`)
  for (let unread = await findUnreadRecords(database, 100); unread.length > 0; unread = await findUnreadRecords(database, 100)) {
    for (const key of unread) jobs.add(key)
    await jobs.untilIdle()
  }
  const tookMs = performance.now() - began
  await server.close()

  const forgedOnly = await database.query(
    `SELECT 1 AS found FROM warehouse.orders WHERE purchase_order_id = ANY ($1::text[])
     UNION ALL SELECT 1 FROM tallyman.notifications WHERE record_id = ANY ($1::text[])`,
    strangers,
  )
  expect(forgedOnly).toEqual([])
  const stored = (await seller.storedOrders()).length
  expect(stored).toBeGreaterThan(ids.length / 2)
  expect(acknowledged).toBeGreaterThan(0)
  expect(droppedFirst + droppedLater).toBeGreaterThan(0)
  expect([...statuses.keys()].sort()).toEqual([202, 401])
  expect(jobs.reads()).toBeLessThanOrEqual(statuses.get(202) ?? 0)

  await bench.advance('10m')
  await poll(seller, database)
  await poll(seller, polled.database)
  const tables = await readTables(database, sellerId)
  expect(tables.orders).toHaveLength(ids.length + strangers.length)
  expect(tables).toEqual(await readTables(polled.database, sellerId))
  if (process.env['NOTIFICATIONS'] !== undefined)
    console.log({ ...Object.fromEntries(statuses), dropped: droppedFirst + droppedLater, reads: jobs.reads(), stored, tookMs })
}, 1_200_000)
