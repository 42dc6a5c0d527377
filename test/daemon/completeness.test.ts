import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { sandboxSeller } from './support.ts'

// Orders that no list shows, through the whole daemon.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

const { SELLER_ID: sellerId } = sandboxSeller

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-completeness-'))
  databaseUrl = await postgres.database()
  await sandbox.control('PUT', '/faults', { hidden: [{ share: 1 }] })
  daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    POLL_ORDERS: '1s',
    POLL_ORDERS_NOTIFIED: '15m',
    POLL_RETURNS: '1s',
    POLL_INVENTORY_LOG: '1s',
    LOOK_BACK: '10m',
  })
})
afterAll(async () => {
  await daemon.program.stop()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const placedSchema = z.object({ purchaseOrderIds: z.array(z.string()) })
const place = async (count: number, more: object): Promise<readonly string[]> =>
  placedSchema.parse(await sandbox.control('POST', '/orders', { sellerId, count, ...more })).purchaseOrderIds

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

/** Opens a return of one unit of one of these orders: only what was delivered can come back. */
const openReturn = async (ids: readonly string[]): Promise<string> => {
  for (const purchaseOrderId of ids) {
    const delivered = (await sandbox.effects(purchaseOrderId)).find(({ kind }) => kind === 'delivered')
    if (delivered === undefined) continue
    const lines = [{ lineNumber: delivered.lineNumber, quantity: 1 }]
    await sandbox.control('POST', '/returns', { purchaseOrderId, lines, travels: false })
    return purchaseOrderId
  }
  throw new Error('none of the orders was delivered')
}

const itemsSchema = z.object({
  items: z.array(
    z.object({
      source: z.string(),
      named: z.number(),
      stored: z.number(),
      missing: z.number(),
      explained: z.number(),
      missingIds: z.array(z.string()),
      explanations: z.array(z.object({ purchaseOrderId: z.string(), reason: z.string() })),
    }),
  ),
})
const completeness = async (source: string) => {
  const { status, body } = await daemon.call('GET', `/v1/completeness?sellerId=${sellerId}&source=${source}`)
  expect(status).toBe(200)
  return itemsSchema.parse(body).items
}

test('orders that no list shows are stored within a minute after a return, the log or an event names them, and are shown', {
  timeout: 150_000,
}, async () => {
  const [past, [byLog = '', byEvent = '', unnamed = '']] = await Promise.all([
    place(20, { createdFrom: daysAgo(30), createdTo: daysAgo(10) }),
    place(3, { shipNodeType: 'WFSFulfilled' }),
  ])
  // The lists have been read, and show none of them.
  await eventually(async () => {
    const [state] = await query<{ read: boolean }>(
      databaseUrl,
      `SELECT bool_and(watermark IS NOT NULL) AS read FROM tallyman.sync_states WHERE resource = 'orders' AND stream LIKE 'changed:%'`,
    )
    expect(state?.read).toBe(true)
  })
  const byReturn = await openReturn(past)
  // Syncs read up to two minutes ago, by the marketplace's clock.
  await sandbox.control('POST', '/clock', { advance: '3m' })
  // An event that is wrong by itself fetches no order, and one names an order that does not exist.
  await query(
    databaseUrl,
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES
       ('/erp', 'wrong', 'erp.credit.issued', jsonb_build_object('purchaseOrderId', '${byEvent}')),
       ('/erp', 'malformed', 'erp.credit.issued', jsonb_build_object('purchaseOrderId', '../orders')),
       ('/erp', 'unknown', 'erp.credit.issued', jsonb_build_object('purchaseOrderId', '999000000000'))`,
  )
  const stored = async (): Promise<readonly string[]> =>
    (await query<{ id: string }>(databaseUrl, 'SELECT purchase_order_id AS id FROM warehouse.orders ORDER BY 1')).map(
      ({ id }) => id,
    )
  await eventually(async () => expect(await stored()).toEqual([byReturn, byEvent].sort()), 60_000)
  // The log of a SKU is read once an order of the marketplace's warehouse has it.
  const skus = await query<{ sku: string }>(
    databaseUrl,
    `SELECT sku FROM warehouse.order_lines WHERE purchase_order_id = '${byEvent}'`,
  )
  const movements = skus.map(({ sku }) => ({ sku, changedUnits: -1, shipmentId: byLog }))
  await sandbox.control('POST', '/inventory/movements', { movements })
  await sandbox.control('POST', '/clock', { advance: '3m' })
  await eventually(async () => expect(await stored()).toEqual([byReturn, byLog, byEvent].sort()), 60_000)
  expect(await stored()).not.toContain(unnamed)
  const waits = await query<{ id: string; late: boolean }>(
    databaseUrl,
    `SELECT n.purchase_order_id AS id, o.first_seen_at > n.named_at + interval '1 minute' AS late
     FROM tallyman.named_orders n JOIN warehouse.orders o USING (seller_id, purchase_order_id) ORDER BY 1`,
  )
  expect(waits).toEqual([byReturn, byLog, byEvent].sort().map((id) => ({ id, late: false })))

  await eventually(async () => {
    expect(await completeness('events')).toMatchObject([
      {
        named: 3,
        stored: 1,
        missing: 1,
        explained: 1,
        missingIds: ['999000000000'],
        explanations: [{ purchaseOrderId: '../orders' }],
      },
    ])
  })
  const settled = { named: 1, stored: 1, missing: 0, explained: 0 }
  expect(await completeness('returns')).toMatchObject([settled])
  expect(await completeness('inventory-log')).toMatchObject([settled])
})

test('while notifications arrive, the lists of orders are polled less often, and nothing else is', async () => {
  const body = {
    source: { eventType: 'ORDER_UPDATES', eventTime: new Date().toISOString(), eventId: 'notified' },
    payload: { subEventType: 'PO_CREATED', order: { purchaseOrderId: '999000000001' } },
  }
  expect((await daemon.call('POST', `/v1/notifications/${sellerId}`, body)).status).toBe(202)
  await eventually(async () => {
    const [poll] = await query<{ rarer: boolean }>(
      databaseUrl,
      `SELECT (SELECT max(last_started_at) FROM tallyman.sync_states WHERE resource = 'returns' AND stream = 'changed')
         > (SELECT max(last_started_at) FROM tallyman.sync_states WHERE resource = 'orders' AND stream IN ('released', 'changed:SellerFulfilled'))
           + interval '8 seconds' AS rarer`,
    )
    expect(poll?.rarer).toBe(true)
  })
})
