import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/db/database.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { logReadUpTo, storeLog, storeReport } from '../store/support/inventory.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { type Rig, startRig } from './rig.ts'
import { type CliRun, cli } from './run.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
  const database = openDatabase({ findVocabulary, url: rig.databaseUrl })
  // Sellers that the daemon does not sync: nothing else touches their rows.
  await recordSellers(
    database,
    ['s-1', 's-2'].map((sellerId) => ({ sellerId, credentialsFingerprint: 'f' })),
  )
  for (const sellerId of ['s-1', 's-2']) {
    await storeReport(database, sellerId, '2026-03', '2026-04-01T07:00:00Z', [
      { sku: 'A', beginning: 20, ending: 15, lost: 2, sold: 3 },
      { sku: 'B', beginning: 20, ending: 19 },
    ])
    await storeLog(database, sellerId, [
      { sku: 'A', id: '1', kind: 'lost', changedUnits: -2, at: '2026-03-05T12:00:00Z' },
      { sku: 'A', id: '2', kind: 'sold', changedUnits: -4, at: '2026-03-05T12:00:00Z' },
      { sku: 'A', id: '3', kind: 'sold', changedUnits: -1, at: '2026-03-06T12:00:00Z' },
    ])
    await logReadUpTo(database, sellerId, '2026-04-02T00:00:00Z', 'A')
    const pairs = ['A', 'B'].map((sku) => ({ sku, month: '2026-03' }))
    await database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
  }
  await storeReport(database, 's-1', '2026-02', '2026-03-01T08:00:00Z', [{ sku: 'A', beginning: 20, ending: 20 }])
  await database.transaction((tx) => reviewDiscrepancies(tx, 's-1', [{ sku: 'A', month: '2026-02' }]))
  await database.execute(
    `INSERT INTO warehouse.stock_on_hand (seller_id, sku, item_name, available_units, reserved_units, on_hand_units, stock_status, raw_hash, raw,
       observed_at, first_seen_at, changed_at)
     SELECT 's-1', sku, 'Blue mug', 4, 1, 5, 'In-stock', '\\x00', '{}', now(), now(), now() FROM unnest('{A,B,C}'::text[]) AS t(sku)`,
  )
  await database.execute(
    `INSERT INTO warehouse.stock_differences (seller_id, sku, counted_units, balance_units, as_of, opening_units, opening_at, value, currency)
     VALUES ('s-1', 'B', 5, 3, '2026-04-02T10:00:00Z', 19, '2026-04-01T07:00:00Z', 8, 'USD')`,
  )
  await database.execute(
    `INSERT INTO warehouse.settlement_differences (seller_id, kind, difference_key, purchase_order_id, line_number, sku, report_date, expected_amount,
       paid_amount, currency, line_keys)
     VALUES ('s-1', 'paid-less', '1', '1796277083022', '1', 'B', '2026-03-14', 20, 18.5, 'USD', '{}')`,
  )
  await database.close()
})
afterAll(async () => {
  await rig.stop()
})

const reconcile = (...args: readonly string[]): Promise<CliRun> => cli(['reconcile', ...args], rig.environment)

test('shows what differs and what could be claimed', async () => {
  const { code, out, messages } = await reconcile('--month', '2026-03', '--seller', 's-1')
  expect(messages).toBe('')
  expect(code).toBe(0)
  expect(out).toMatch(/^sku +kind +report +expected +difference +value +since +log +seller$/m)
  expect(out).toMatch(/^A +sold +3 +5 +-2 +2026-03-01 +extra +s-1$/m)
  expect(out).toMatch(/^B +balance +19 +20 +-1 +2026-03-01 +s-1$/m)
  expect(out).toContain('2 differences of 2 SKUs in 2026-03')
  expect(out).toContain('s-1: 2 SKUs in the report, 1 compared with the log')
  expect(out).toMatch(/^lost +2 +2$/m)
  expect(out).toMatch(/^lost, damaged and unexplained +3 +3$/m)
  expect(out).not.toContain('s-2')
})

test('as JSON, of all sellers', async () => {
  const { code, out } = await reconcile('--month', '2026-03', '--json')
  expect(code).toBe(0)
  const answer: unknown = JSON.parse(out)
  expect(answer).toMatchObject({
    month: '2026-03',
    items: expect.arrayContaining([
      expect.objectContaining({ sellerId: 's-1', sku: 'A', kind: 'sold', difference: -2 }),
      expect.objectContaining({ sellerId: 's-2', sku: 'B', kind: 'balance', difference: -1 }),
    ]),
    claims: expect.arrayContaining([
      expect.objectContaining({ sellerId: 's-1', lost: expect.objectContaining({ units: 2 }) }),
      expect.objectContaining({ sellerId: 's-2', total: expect.objectContaining({ units: 3 }) }),
    ]),
  })
})

test('says when all is in order, and when there is no report', async () => {
  const inOrder = await reconcile('--month', '2026-02', '--seller', 's-1')
  expect(inOrder).toMatchObject({ code: 0, messages: 'none\n' })
  expect(inOrder.out).toContain('0 differences of 0 SKUs in 2026-02')
  expect(inOrder.out).toContain('s-1: 1 SKU in the report, 1 compared with the log')
  expect(await reconcile('--month', '2024-01', '--seller', 's-1')).toEqual({
    code: 0,
    out: '',
    messages: 'there is no inventory report of 2024-01 yet\n',
  })
})

test('reads one item of the running month now, once an hour', async () => {
  const { items } = (await rig.sandbox.control('GET', '/inventory?sellerId=sandbox-seller&limit=1')) as {
    items: readonly { sku: string; gtin: string }[]
  }
  const [item] = items
  if (item === undefined) throw new Error('the sandbox has no stock')
  const { code, out, messages } = await reconcile('--gtin', item.gtin, '--json')
  // The daemon itself may have asked for the month within the hour.
  if (code === 1) expect(messages).toMatch(/throttled|budget|not available/i)
  else expect(JSON.parse(out)).toMatchObject({ gtin: item.gtin, rows: [{ sku: item.sku }] })
  expect(await reconcile()).toMatchObject({ code: 2 })
  expect(await reconcile('--gtin', 'x')).toMatchObject({ code: 1 })
})

test('fails when the daemon refuses', async () => {
  const { code, messages } = await cli(['reconcile', '--month', '2026-03'], { ...rig.environment, API_KEY: 'wrong' })
  expect(code).toBe(1)
  expect(messages).toContain('set API_KEY')
})

test('shows where settlement reports and orders differ', async () => {
  const { code, out, messages } = await cli(['settlements', '--seller', 's-1', '--kind', 'paid-less'], rig.environment)
  expect({ code, messages }).toEqual({ code: 0, messages: '' })
  expect(out).toMatch(/^paid-less +1796277083022 +1 +B +20\.00 +18\.50 +-1\.50 USD +2026-03-14 +s-1 *$/m)
  expect(await cli(['settlements', 'differences', '--seller', 's-2'], rig.environment)).toMatchObject({
    ...{ code: 0, messages: 'settlement reports and orders agree, as far as they have been compared\n' },
  })
})

describe('stock', () => {
  const stock = (...args: readonly string[]): Promise<CliRun> => cli(['stock', ...args], rig.environment)

  test('lists the stock on hand, and says when there is more', async () => {
    const { code, out, messages } = await stock('--seller', 's-1', '--limit', '2')
    expect({ code, messages }).toEqual({ code: 0, messages: 'there are more; --limit shows them\n' })
    expect(out).toMatch(/^sku +item +available +reserved +on hand +inbound +status +seller *$/m)
    expect(out).toMatch(/^A +Blue mug +4 +1 +5 +In-stock +s-1 *$/m)
    const { out: text } = await stock('list', '--sku', 'C', '--json')
    expect(JSON.parse(text)).toMatchObject({ items: [{ sellerId: 's-1', sku: 'C', availableUnits: 4 }], more: false })
    expect(await stock('--sku', 'X')).toMatchObject({ code: 0, out: '', messages: 'no stock on hand is stored\n' })
  })

  test('differences lists where it differs from the log', async () => {
    const { code, out } = await stock('differences', '--seller', 's-1')
    expect(code).toBe(0)
    expect(out).toMatch(/^B +5 +3 +\+2 +8\.00 USD +2026-04-02T10:00:00.000Z +\S+ +s-1 *$/m)
    expect(await stock('differences', '--seller', 's-2')).toMatchObject({
      ...{ code: 0, messages: 'stock on hand and inventory log agree, as far as they have been compared\n' },
    })
  })
})
