import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, reportRateLimits } from './support.ts'

// The stock on hand of the live marketplace (profile `walmart-us`), through the whole daemon.

/** A seller of the fulfillment service with this many items, and a seller that is not enrolled in it. */
const enrolled = 'enrolled'
const outside = 'outside'
const items = 12

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-stock-'))
  databaseUrl = await postgres.database()
  const sellersFile = path.join(folder, 'sellers.json')
  await writeFile(sellersFile, JSON.stringify(await makeSellers(sandbox, enrolled, outside)))
  await sandbox.control('POST', '/inventory', { sellerId: enrolled, skus: items, entriesPerSku: 6, replace: true })
  await sandbox.control('PUT', '/enrolment', { sellerId: outside, fulfillment: false, answer: 'ineligible' })
  // The first pages lack rows that they announce.
  await sandbox.next({ fault: 'missingRows', rows: 3, sellerId: enrolled, operation: 'inventory.list', times: 2 })
  daemon = await startTestDaemon({
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    SELLERS_FILE: sellersFile,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    POLL_ORDERS: '1s',
    POLL_INVENTORY: '2s',
    POLL_INVENTORY_LOG: '2s',
    POLL_RECONCILIATION: '2s',
    RATE_LIMITS: reportRateLimits,
  })
})
afterAll(async () => {
  await daemon.program.stop()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const stockSchema = z.object({ items: z.array(z.object({ sku: z.string(), onHandUnits: z.number() })) })
const listStock = async (sellerId: string) => {
  const { items: found } = stockSchema.parse((await daemon.call('GET', `/v1/stock?sellerId=${sellerId}`)).body)
  return found.map(({ sku, onHandUnits }) => [sku, onHandUnits] as const)
}
const inventorySchema = z.object({ items: z.array(z.object({ sku: z.string(), stock: z.number() })) })
const listItems = async () => {
  const answer = await sandbox.control('GET', `/inventory?sellerId=${enrolled}&limit=1000`)
  return inventorySchema.parse(answer).items.map(({ sku, stock }) => [sku, stock] as const)
}
const listDifferences = async () => (await daemon.call('GET', `/v1/stock-differences?sellerId=${enrolled}&state=all`)).body

const waitMs = 60_000

test('all items are stored although pages lack rows, and a seller that is not enrolled is not stopped', {
  timeout: waitMs + 10_000,
}, async () => {
  await eventually(async () => expect(await listStock(enrolled)).toEqual(await listItems()), waitMs)
  expect(await listItems()).toHaveLength(items)
  const missing = await query(databaseUrl, 'SELECT sku FROM warehouse.stock_on_hand WHERE missing_since IS NOT NULL')
  expect(missing).toEqual([])
  await eventually(
    async () =>
      expect(
        await query(databaseUrl, `SELECT seller_id, enrolled FROM tallyman.enrolments WHERE resource = 'inventory' ORDER BY 1`),
      ).toEqual([
        { seller_id: enrolled, enrolled: true },
        { seller_id: outside, enrolled: false },
      ]),
    waitMs,
  )
  expect(await listStock(outside)).toEqual([])
  expect(await query(databaseUrl, 'SELECT DISTINCT state FROM tallyman.sellers')).toEqual([{ state: 'active' }])
})

test('stock that differs from the log is found, and resolved when it agrees again', { timeout: 3 * waitMs }, async () => {
  const [item] = await listItems()
  if (item === undefined) throw new Error('the sandbox has no items')
  const [sku, stock] = item
  // The report from which the balance begins is generated on request.
  const reports = (state: string, from: string) =>
    eventually(async () => expect(await query(databaseUrl, `SELECT 1 FROM ${from} WHERE ${state}`)).not.toEqual([]), waitMs)
  await reports(`seller_id = '${enrolled}'`, 'tallyman.report_requests')
  await sandbox.control('POST', '/clock', { advance: '30m' })
  await reports(`seller_id = '${enrolled}' AND state = 'imported'`, 'warehouse.reconciliation_reports')
  const differ = async (difference: number) => {
    await sandbox.control('PUT', '/stock', { sellerId: enrolled, sku, difference })
    await eventually(async () => expect(await listStock(enrolled)).toContainEqual([sku, stock + difference]), waitMs)
    // The log is read by whole days.
    await sandbox.control('POST', '/clock', { advance: '1d' })
  }
  await differ(-2)
  const found = { sellerId: enrolled, sku, countedUnits: stock - 2, balanceUnits: stock, difference: -2 }
  await eventually(async () => expect(await listDifferences()).toMatchObject({ items: [{ ...found, state: 'open' }] }), waitMs)
  await differ(0)
  await eventually(
    async () => expect(await listDifferences()).toMatchObject({ items: [{ sku, state: 'resolved', resolution: 'agrees' }] }),
    waitMs,
  )
  // The feed shows a change a moment after its row: it waits for the transactions that began before it.
  await eventually(async () => {
    const { body } = await daemon.call('GET', `/v1/changes?types=stock_difference.*&sellerId=${enrolled}`)
    expect(body).toMatchObject({ items: [{ type: 'stock_difference.found' }, { type: 'stock_difference.resolved' }] })
  })
})

test('receipts are compared with what the ERP has sent: short, over and late', { timeout: waitMs + 10_000 }, async () => {
  const skus = (await listItems()).slice(3, 6).map(([sku]) => sku)
  const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()
  const receipt = (sku: string | undefined, changedUnits: number, days: number) => ({
    ...{ sku, changedUnits, transactionTime: daysAgo(days), shipmentId: '4711000WFA' },
    ...{ transactionType: 'Receipt', transactionReasonCode: 'RCV', transactionReasonDesc: 'Received from Shipment' },
  })
  const [short, over, late] = skus
  const movements = [receipt(short, 7, 9), receipt(over, 12, 9), receipt(late, 4, 9), receipt(late, 6, 7)]
  await sandbox.control('POST', '/inventory/movements', { sellerId: enrolled, movements })
  await sandbox.control('POST', '/clock', { advance: '1d' })
  const event = {
    specversion: '1.0',
    ...{ id: 'inbound-4711', source: '/erp', type: 'erp.inbound.shipped' },
    data: {
      sellerId: enrolled,
      shipmentId: '4711000WFA',
      ...{ shippedAt: daysAgo(20), expectedBy: daysAgo(8) },
      lines: skus.map((sku) => ({ sku, quantity: 10 })),
    },
  }
  const accepted = { id: 'inbound-4711', state: 'accepted', commands: [] }
  expect(await daemon.call('POST', '/v1/events', event)).toMatchObject({
    status: 202,
    body: { items: [{ ...accepted, status: 'accepted' }] },
  })
  expect(await daemon.call('POST', '/v1/events', event)).toMatchObject({
    body: { items: [{ ...accepted, status: 'duplicate' }] },
  })
  await eventually(async () => {
    const { body } = await daemon.call('GET', '/v1/inbound-shipments?shipmentId=4711000WFA')
    expect(body).toMatchObject({
      items: [
        { sku: short, sentUnits: 10, receivedUnits: 7, difference: -3, state: 'short', late: true },
        { sku: over, sentUnits: 10, receivedUnits: 12, difference: 2, state: 'over', late: false },
        { sku: late, sentUnits: 10, receivedUnits: 10, difference: 0, state: 'complete', late: true },
      ],
    })
  }, waitMs)
})
