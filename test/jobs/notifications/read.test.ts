import { beforeEach, expect, test } from 'vitest'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import type { MarketplaceNotification, NotifiedRecord } from '../../../src/domain/sync/notification.ts'
import { createNotificationIntake } from '../../../src/jobs/notifications/accept.ts'
import { NotificationReader } from '../../../src/jobs/notifications/read-worker.ts'
import type { JobToEnqueue } from '../../../src/queues/jobs.ts'
import { storeReportRequest } from '../../../src/store/inventory/report-requests.ts'
import { findUnreadRecords } from '../../../src/store/notifications/notifications.ts'
import { pauseSeller, recordSellers } from '../../../src/store/sellers/sellers.ts'
import { wireOrderSample } from '../../clients/samples.ts'
import { type Answer, generousLimits, type SeenRequest, sendJson, startClient, startMarketplace } from '../../clients/servers.ts'
import { withDatabase } from '../../support/database.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 'S-1'
const { signal } = new AbortController()
const order: NotifiedRecord = { resource: 'orders', recordId: '108' }

const notification = (eventId: string, more: Partial<MarketplaceNotification> = {}): MarketplaceNotification => ({
  eventId,
  eventType: 'PO_CREATED',
  records: [order],
  hold: null,
  ...more,
})

beforeEach(async () => {
  await recordSellers(stage.database, [{ sellerId, credentialsFingerprint: 'f' }], 'start')
})

/** An intake and a reader at a marketplace that answers so. */
const start = async (answer: Answer, limits = generousLimits) => {
  const { url, seen } = await startMarketplace(answer)
  const { client } = startClient(url, { budget: createInProcessBudget({ limits }) })
  const jobs: JobToEnqueue[] = []
  const runtime = {
    enqueueMany: async (added: readonly JobToEnqueue[]) => {
      jobs.push(...added)
      return added.length
    },
  }
  const { database } = stage
  const accept = createNotificationIntake({
    database,
    runtime,
    quiet: { warn: () => undefined, error: () => undefined, recovered: () => undefined },
  })
  const reader = new NotificationReader({
    database,
    runtime,
    owner: 'test',
    saveHooks: {},
    commandJobs: { addNow: () => undefined },
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
  return {
    jobs,
    accept: (one: MarketplaceNotification) => accept(sellerId, one),
    read: (record = order) => reader.run({ sellerId, ...record }, { signal }),
    requests: (): readonly SeenRequest[] => seen.filter(({ target }) => target !== '/v3/token'),
  }
}

const answerOrder: Answer = (_request, response) => sendJson(response, 200, { order: wireOrderSample('108') })

const stored = () =>
  stage.database.query<{ purchase_order_id: string }>('SELECT purchase_order_id FROM warehouse.orders ORDER BY 1')

const unread = async (): Promise<number> => {
  const rows = await stage.database.query('SELECT 1 AS unread FROM tallyman.notifications WHERE read_at IS NULL')
  return rows.length
}

/** As if the notifications had been received so long ago. */
const age = (seconds: number) =>
  stage.database.execute(`UPDATE tallyman.notifications SET received_at = now() - $1::float8 * interval '1 second'`, seconds)

test('an order is stored by one read, whatever number of notifications names it', async () => {
  const { accept, read, jobs, requests } = await start(answerOrder)
  expect(await accept(notification('e-1'))).toBe(true)
  expect(await accept(notification('e-1'))).toBe(false)
  expect(await accept(notification('e-2', { eventType: 'PO_LINE_AUTOCANCELLED' }))).toBe(true)
  const job = { name: 'notification.read', data: { sellerId, ...order }, fresh: true }
  expect(jobs).toEqual([job, job])
  expect(await read()).toEqual({ done: true })
  expect(await stored()).toEqual([{ purchase_order_id: '108' }])
  expect([await unread(), requests().length]).toEqual([0, 1])
  expect(await read()).toEqual({ done: true })
  expect(requests()).toHaveLength(1)
})

test('a notification that arrives while its order is read causes one more read', async () => {
  const started = await start((request, response, index) => {
    // The first request of the marketplace is for the token.
    if (index > 1) return answerOrder(request, response, index)
    void Promise.all([started.accept(notification('e-2')), started.accept(notification('e-3'))]).then(() =>
      answerOrder(request, response, index),
    )
  })
  await started.accept(notification('e-1'))
  expect(await started.read()).toEqual({ done: true })
  expect([await unread(), started.requests().length]).toEqual([0, 2])
})

test('a return is read by its id', async () => {
  const { accept, read, requests } = await start((_request, response) => sendJson(response, 200, { returnOrders: [], meta: {} }))
  const record = { resource: 'returns', recordId: 'r/1' } as const
  await accept(notification('e-1', { records: [record] }))
  expect(await read(record)).toMatchObject({ reason: 'the marketplace does not show the record yet' })
  expect(requests().map(({ target }) => target)).toEqual(['/v3/returns?returnOrderId=r%2F1'])
})

test('an order that the marketplace does not show yet is requested again for ten minutes, then it is left to the polls', async () => {
  const none = { errors: { error: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' }] } }
  const { accept, read } = await start((_request, response) => sendJson(response, 404, none))
  await accept(notification('e-1'))
  expect(await read()).toMatchObject({ runAgainAt: expect.any(Date) })
  await age(599)
  expect(await read()).toMatchObject({ runAgainAt: expect.any(Date) })
  expect(await unread()).toBe(1)
  await age(601)
  expect(await read()).toEqual({ done: true })
  expect(await unread()).toBe(0)
})

test('held shipments wait until their order can be read, however long the marketplace does not show it', async () => {
  const none = { errors: { error: [{ code: 'CONTENT_NOT_FOUND.GMP_ORDER_API', severity: 'INFO' }] } }
  let isShown = true
  const { accept, read } = await start((request, response, body) =>
    isShown ? answerOrder(request, response, body) : sendJson(response, 404, none),
  )
  await accept(notification('e-1'))
  expect(await read()).toEqual({ done: true })
  isShown = false
  await accept(notification('e-2', { eventType: 'INTENT_TO_CANCEL', hold: 'intent-to-cancel' }))
  await age(601)
  expect(await read()).toMatchObject({ reason: 'the marketplace does not show the record yet' })
  expect(await unread()).toBe(1)
})

test('an order that cannot be parsed is quarantined; only held shipments make it be read again', async () => {
  const broken = { order: { ...wireOrderSample('108'), orderLines: 'none' } }
  const { accept, read } = await start((_request, response) => sendJson(response, 200, broken))
  await accept(notification('e-1'))
  expect(await read()).toEqual({ done: true })
  expect(await stage.database.query('SELECT state FROM tallyman.quarantined_records')).toEqual([{ state: 'open' }])
  await accept(notification('e-2', { eventType: 'FRAUD_CANCEL', hold: 'fraud-cancel' }))
  expect(await read()).toMatchObject({ reason: 'the record cannot be parsed' })
  expect(await unread()).toBe(1)
})

test('without a token of the rate limit the read is postponed', async () => {
  const { accept, read, requests } = await start(answerOrder, {
    ...generousLimits,
    'orders.get': { tokens: 1, perMs: 3_600_000 },
  })
  await accept(notification('e-1'))
  expect(await read()).toEqual({ done: true })
  await accept(notification('e-2'))
  expect(await read()).toMatchObject({ reason: 'the rate budget is used up', runAgainAt: expect.any(Date) })
  expect([requests().length, await unread()]).toEqual([1, 1])
})

test('an outage of the marketplace fails the job, which is tried again', async () => {
  const { accept, read } = await start((_request, response) => sendJson(response, 503, ''))
  await accept(notification('e-1'))
  await expect(read()).rejects.toThrow(/503/)
  expect(await unread()).toBe(1)
})

test('a report that is ready makes its open request be read now; any other report nothing', async () => {
  const { accept, read, jobs } = await start(answerOrder)
  const requestedAt = new Date('2026-11-27T10:00:00Z')
  await storeReportRequest(stage.database, { sellerId, month: '2026-11' }, { requestId: 'r-1', requestedAt })
  for (const recordId of ['r-2', 'r-1']) {
    const record = { resource: 'reconciliation', recordId } as const
    await accept(notification(`e-${recordId}`, { eventType: 'REPORT_STATUS', records: [record] }))
    jobs.length = 0
    expect(await read(record)).toEqual({ done: true })
    const poll = { name: 'backfill.run', data: { sellerId, resource: 'reconciliation', stream: 'reports' }, runNow: true }
    expect(jobs).toEqual(recordId === 'r-1' ? [poll] : [])
  }
  expect(await unread()).toBe(0)
})

test('the relay finds unread records of active sellers, each once', async () => {
  const { accept } = await start(answerOrder)
  await accept(notification('e-1'))
  await accept(notification('e-2'))
  await accept(notification('e-3', { records: [{ resource: 'returns', recordId: '7' }] }))
  expect(await findUnreadRecords(stage.database, 10)).toEqual([])
  await age(2)
  const found = await findUnreadRecords(stage.database, 10)
  expect(found).toHaveLength(2)
  expect(found).toEqual(expect.arrayContaining([{ sellerId, ...order }]))
  expect(await findUnreadRecords(stage.database, 1)).toHaveLength(1)
  await pauseSeller(stage.database, { sellerId, actor: 'Ada', keyId: null, reason: 'stock-taking' })
  expect(await findUnreadRecords(stage.database, 10)).toEqual([])
})
