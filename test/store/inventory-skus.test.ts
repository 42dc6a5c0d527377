import { beforeEach, expect, test } from 'vitest'
import { beginPass } from '../../src/domain/inventory/inventory-log-pass.ts'
import {
  type DueRequest,
  findDueSkus,
  findOtherSku,
  type LogRead,
  listInventorySkus,
  readMarketplaceSpellings,
  recordConfiguredSkus,
  recordListedSkus,
  recordLogReads,
  recordOrderSkus,
} from '../../src/store/inventory/inventory-skus.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { storeOrders } from '../support/store.ts'
import { lineWith, orderWith, wireStatus } from './support/records.ts'

const stage = withDatabase()
let sellers = 0
let sellerId = ''
const at = (minute: number): Date => new Date(Date.UTC(2026, 9, 1, 0, minute))

beforeEach(() => {
  sellers += 1
  sellerId = `seller-${sellers}`
})

const due = async (by: Date, more: Partial<DueRequest> = {}) =>
  (await findDueSkus(stage.database, sellerId, { by, except: [], withGtin: false, limit: 10, ...more })).map(({ sku }) => sku)

const read = (sku: string, more: Partial<LogRead> = {}): LogRead => ({
  sku,
  gtin: null,
  productName: null,
  readUpTo: at(10),
  readAt: at(12),
  movedBefore: null,
  movedAt: null,
  dueAt: at(12),
  fullDueAt: null,
  pass: null,
  fault: null,
  ...more,
})
const note = (...reads: readonly LogRead[]) => stage.database.transaction((tx) => recordLogReads(tx, sellerId, reads))

const rows = () =>
  stage.database.query<Record<string, unknown>>(
    `SELECT sku, marketplace_sku, gtin, source, log_read_up_to, log_read_at, log_moved_at, log_due_at, log_pass, log_fault, xmin::text AS version
     FROM tallyman.inventory_skus WHERE seller_id = $1 ORDER BY sku`,
    sellerId,
  )

test('SKUs of the settings are added once and listed in batches', async () => {
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: ['C', 'A', 'B', 'A'] }])
  const before = await rows()
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: ['A', 'B', 'C'] }])
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: [] }])
  expect(await rows()).toEqual(before)
  expect(before).toMatchObject([
    { sku: 'A', source: 'settings', log_due_at: null },
    { sku: 'B', log_moved_at: expect.any(Date) },
    { sku: 'C' },
  ])
  expect(await listInventorySkus(stage.database, sellerId, '', 2)).toEqual([
    { sku: 'A', gtin: null },
    { sku: 'B', gtin: null },
  ])
  expect(await listInventorySkus(stage.database, sellerId, 'B', 2)).toEqual([{ sku: 'C', gtin: null }])
})

test('a report adds SKUs and makes moved ones due; the others are not written', async () => {
  await recordListedSkus(stage.database, sellerId, at(1), [
    { sku: 'moved', gtin: '1', units: 1, moved: true },
    { sku: 'still', gtin: null, units: 0, moved: false },
    { sku: 'still', gtin: '2', units: 0, moved: false },
  ])
  expect(await rows()).toMatchObject([
    { sku: 'moved', gtin: '1', source: 'report', log_moved_at: at(1) },
    { sku: 'still', gtin: '2', log_moved_at: null },
  ])
  await note(read('moved', { movedBefore: at(1), movedAt: at(1), dueAt: at(100) }), read('still', { dueAt: at(100) }))
  const before = await rows()
  await recordListedSkus(stage.database, sellerId, at(2), [
    { sku: 'moved', gtin: 'another', units: 0, moved: false },
    { sku: 'still', gtin: null, units: 0, moved: false },
  ])
  expect(await rows()).toEqual(before)
  expect(await due(at(50))).toEqual([])
  await recordListedSkus(stage.database, sellerId, at(3), [{ sku: 'still', gtin: null, units: 1, moved: true }])
  expect(await due(at(50))).toEqual(['still'])
})

test('a SKU of orders, reports and settings is one, and keeps the spelling of the marketplace for requests', async () => {
  const line = lineWith('1', 1, [wireStatus('Created', 1)], { item: { sku: '\u00a0PO\u0308T ', productName: 'Pot' } })
  await storeOrders(stage.database, {
    sellerId,
    records: [orderWith('pot', [line], { shipNode: { type: 'WFSFulfilled' } })],
    observedAt: at(1),
  })
  await recordListedSkus(stage.database, sellerId, at(1), [{ sku: 'P\u00d6T', gtin: '7', units: 0, moved: false }])
  await recordOrderSkus(await numbered(stage.database), sellerId, at(1))
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: ['PO\u0308T', ' PAN'] }])
  expect(await rows()).toMatchObject([
    { sku: 'PAN', marketplace_sku: ' PAN' },
    { sku: 'P\u00d6T', marketplace_sku: '\u00a0PO\u0308T ', gtin: '7' },
  ])
  expect([...(await readMarketplaceSpellings(stage.database, sellerId, ['P\u00d6T', 'no one']))]).toEqual([
    ['P\u00d6T', '\u00a0PO\u0308T '],
  ])
})

test('logs that were never read come by the value that has moved, the dearest first', async () => {
  const priced = (sku: string, amount: string) =>
    lineWith('1', 1, [wireStatus('Created', 1)], {
      item: { sku, productName: 'Mug' },
      charges: { charge: [{ chargeType: 'PRODUCT', chargeName: 'ItemPrice', chargeAmount: { currency: 'USD', amount } }] },
    })
  await storeOrders(stage.database, {
    sellerId,
    records: [orderWith('dear', [priced('dear', '90.00')], {}), orderWith('cheap', [priced('cheap', '0.50')], {})],
    observedAt: at(1),
  })
  const moved = (sku: string, units: number) => ({ sku, gtin: null, units, moved: true })
  await recordListedSkus(stage.database, sellerId, at(2), [
    moved('cheap', 60),
    moved('dear', 2),
    moved('many', 50),
    moved('few', 1),
  ])
  expect(await due(at(3))).toEqual(['dear', 'many', 'cheap', 'few'])
  expect(await due(at(3), { limit: 1 })).toEqual(['dear'])
})

test('SKUs of changed orders that the fulfilment service ships are found in the change feed, each change once', async () => {
  const order = (id: string, type: string, sku: string, status: string) => ({
    sellerId,
    records: [
      orderWith(id, [lineWith('1', 1, [wireStatus(status, 1)], { item: { sku, productName: 'Mug' } })], { shipNode: { type } }),
    ],
    observedAt: at(status === 'Created' ? 1 : 5),
  })
  await storeOrders(stage.database, order('P1', 'WFSFulfilled', 'wfs', 'Created'))
  await storeOrders(stage.database, order('P2', 'SellerFulfilled', 'own', 'Created'))
  await storeOrders(stage.database, { ...order('P3', 'WFSFulfilled', 'foreign', 'Created'), sellerId: `${sellerId}-other` })
  await recordOrderSkus(await numbered(stage.database), sellerId, at(2))
  expect(await rows()).toMatchObject([{ sku: 'wfs', source: 'orders', log_moved_at: at(2), log_due_at: null }])
  await note(read('wfs', { movedBefore: at(2), movedAt: at(2), dueAt: at(100) }))
  const before = await rows()
  const mark = () =>
    stage.database.query('SELECT changes_seq, xmin::text FROM tallyman.inventory_order_marks WHERE seller_id = $1', sellerId)
  const markBefore = await mark()
  await recordOrderSkus(await numbered(stage.database), sellerId, at(3))
  expect(await rows()).toEqual(before)
  expect(await mark()).toEqual(markBefore)
  await storeOrders(stage.database, order('P1', 'WFSFulfilled', 'wfs', 'Shipped'))
  await recordOrderSkus(await numbered(stage.database), sellerId, at(6))
  expect(await rows()).toMatchObject([{ sku: 'wfs', log_moved_at: at(6), log_due_at: null }])
})

test('the turn: what moved, what is not read to its end, what was never read, then by due time', async () => {
  await recordListedSkus(
    stage.database,
    sellerId,
    at(0),
    ['early', 'late', 'later', 'moved', 'never', 'part', 'quiet'].map((sku) => ({ sku, gtin: null, units: 0, moved: false })),
  )
  const pass = { ...beginPass({ from: at(0), to: at(1) }, at(9)), offset: 50, seen: new Set(['x', 'y']), totalCount: 70 }
  await note(
    read('early', { dueAt: at(20) }),
    read('late', { dueAt: at(30) }),
    read('later', { dueAt: at(31) }),
    read('quiet', { dueAt: at(900) }),
    read('moved', { dueAt: at(900) }),
    read('part', { readUpTo: at(5), dueAt: null, pass }),
  )
  await recordListedSkus(stage.database, sellerId, at(13), [{ sku: 'moved', gtin: null, units: 1, moved: true }])
  expect(await due(at(30))).toEqual(['moved', 'part', 'never', 'early', 'late'])
  expect(await due(at(30), { limit: 2 })).toEqual(['moved', 'part'])
  expect(await due(at(30), { limit: 2, except: ['moved', 'never'] })).toEqual(['part', 'early'])
  expect(await due(at(30), { withGtin: true })).toEqual([])
  const [, part] = await findDueSkus(stage.database, sellerId, { by: at(30), except: [], withGtin: false, limit: 2 })
  expect(part).toEqual({
    sku: 'part',
    marketplaceSku: null,
    gtin: null,
    differs: false,
    fault: null,
    fullDueAt: null,
    readUpTo: at(5),
    readAt: at(12),
    movedAt: null,
    pageFrom: null,
    pass,
  })
})

test('what was read never moves back, and a sign of movement during the read keeps the SKU due', async () => {
  await recordListedSkus(stage.database, sellerId, at(0), [{ sku: 'A', gtin: null, units: 0, moved: false }])
  await note(read('A', { gtin: '7', movedAt: at(4), fault: 'oops' }))
  expect(await rows()).toMatchObject([
    {
      gtin: '7',
      log_read_up_to: at(10),
      log_read_at: at(12),
      log_moved_at: at(4),
      log_due_at: at(12),
      log_pass: null,
      log_fault: 'oops',
    },
  ])
  await recordListedSkus(stage.database, sellerId, at(20), [{ sku: 'A', gtin: null, units: 1, moved: true }])
  await note(read('A', { movedBefore: at(4), movedAt: at(5), readUpTo: at(8), readAt: null, dueAt: at(99) }))
  expect(await rows()).toMatchObject([
    { gtin: '7', log_read_up_to: at(10), log_read_at: at(12), log_moved_at: at(20), log_due_at: null, log_fault: null },
  ])
})

test('a SKU that another transaction has locked is skipped', async () => {
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: ['A', 'B'] }])
  await stage.database.transaction(async (tx) => {
    await recordListedSkus(tx, sellerId, at(1), [{ sku: 'A', gtin: null, units: 1, moved: true }])
    const moved = (await rows())[1]?.['log_moved_at']
    if (!(moved instanceof Date)) throw new Error('no moment')
    await note(read('A'), read('B', { movedBefore: moved, movedAt: moved }))
    expect(await rows()).toMatchObject([
      { sku: 'A', log_read_up_to: null },
      { sku: 'B', log_read_up_to: at(10) },
    ])
  })
  expect(await due(at(0))).toEqual(['A'])
})

test('rows of the report that have become comparable are named once', async () => {
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: ['A'] }])
  const [report] = await stage.database.query<{ id: bigint }>(
    `INSERT INTO warehouse.reconciliation_reports (seller_id, month, state, generated_at, covered_until, retrieved_at, byte_count, correlation_id)
     VALUES ($1, '2026-09-01', 'imported', now(), $2::timestamptz, now(), 1, 'c') RETURNING id`,
    sellerId,
    at(30).toISOString(),
  )
  await stage.database.execute(
    `INSERT INTO warehouse.reconciliation_rows (seller_id, month, sku, beginning_quantity, ending_quantity, sold, returned, lost, found,
       damaged, other_adjustments, report_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
     VALUES ($1, '2026-09-01', 'A', 0, 0, 0, 0, 0, 0, 0, 0, $2, '', '{}', now(), now(), now())`,
    sellerId,
    report?.id,
  )
  expect(await note(read('A', { readUpTo: at(29) }))).toEqual([])
  expect(await note(read('A', { readUpTo: at(30) }))).toEqual([{ sku: 'A', month: '2026-09' }])
  expect(await note(read('A', { readUpTo: at(31) }))).toEqual([])
})

test('the freshness of each log can be read', async () => {
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: ['A', 'B'] }])
  await note(read('A', { productName: 'Mug' }))
  await note(read('A'))
  const fresh = await stage.database.query(
    `SELECT sku, gtin, product_name, read_up_to, read_at, age > interval '1 minute' AS old, fault FROM warehouse.inventory_log_freshness
     WHERE seller_id = $1 ORDER BY sku`,
    sellerId,
  )
  expect(fresh).toEqual([
    { sku: 'A', gtin: null, product_name: 'Mug', read_up_to: at(10), read_at: at(12), old: expect.any(Boolean), fault: null },
    { sku: 'B', gtin: null, product_name: null, read_up_to: null, read_at: null, old: null, fault: null },
  ])
})

test('another SKU is one that was read before, if there is one', async () => {
  expect(await findOtherSku(stage.database, sellerId, [], false)).toBeNull()
  await recordConfiguredSkus(stage.database, [{ sellerId, skus: ['A', 'B', 'C'] }])
  await note(read('B'))
  expect(await findOtherSku(stage.database, sellerId, ['A'], false)).toMatchObject({ sku: 'B', gtin: null })
  expect(await findOtherSku(stage.database, sellerId, ['A', 'B'], false)).toMatchObject({ sku: 'C', gtin: null })
  expect(await findOtherSku(stage.database, sellerId, ['A', 'B'], true)).toBeNull()
})

test('among 100,000 SKUs the next ones are found without reading the others', async () => {
  await stage.database.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, source, log_read_up_to, log_read_at, log_due_at)
     SELECT $1, 'S' || lpad(n::text, 6, '0'), 'report', $2::timestamptz, $2::timestamptz,
       CASE WHEN n % 1000 <> 0 THEN $2::timestamptz + n * interval '1 second' END
     FROM generate_series(1, 100000) AS t(n)`,
    sellerId,
    at(0).toISOString(),
  )
  await stage.database.execute('ANALYZE tallyman.inventory_skus')
  const { chosen, readRows } = await stage.database.transaction(async (tx) => {
    const choose = (by: Date, limit: number) => findDueSkus(tx, sellerId, { by, except: ['S000001'], withGtin: false, limit })
    const found = [...(await choose(at(1), 48)), ...(await choose(at(0), 200))]
    const [row] = await tx.query<{ readRows: bigint }>(
      `SELECT idx_tup_fetch + seq_tup_read AS "readRows" FROM pg_stat_xact_user_tables
       WHERE schemaname = 'tallyman' AND relname = 'inventory_skus'`,
    )
    return { chosen: found, readRows: Number(row?.readRows) }
  })
  expect(chosen).toHaveLength(48 + 100)
  expect(readRows).toBeGreaterThan(0)
  expect(readRows).toBeLessThan(1_000)
})
