import { describe, expect, test } from 'vitest'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { reviewStock, withdrawUnlistedStock } from '../../src/store/inventory/stock-differences.ts'
import { listStockDifferences } from '../../src/store/inventory/stock-queries.ts'
import { findNewReadings, recordReadings } from '../../src/store/inventory/stock-readings.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { type LogEntry, logReadUpTo, storeLog, storeReport } from './support/inventory.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 's-1'
/** The report of March ends with 20 units of A at Pacific midnight. */
const reportedAt = '2026-04-01T07:00:00Z'
const storeMarch = () => storeReport(stage.database, sellerId, '2026-03', reportedAt, [{ sku: 'A', beginning: 20, ending: 20 }])

const sold = (id: string, units: number, at: string, more: Partial<LogEntry> = {}): LogEntry => ({
  ...{ sku: 'A', id, kind: 'sold', changedUnits: -units, at },
  ...more,
})

/** Reads the stock of a SKU as a page of the list does; returns the number of stored readings. */
const read = async (at: string, units: number, sku = 'A'): Promise<number> => {
  const observedAt = new Date(at)
  const readings = await findNewReadings(stage.database, sellerId, observedAt, [{ sku, gtin: '00012345678905', units }])
  if (readings.length > 0) await stage.database.transaction((tx) => recordReadings(tx, sellerId, observedAt, readings))
  return readings.length
}
const readLog = async (upTo: string, ...entries: readonly LogEntry[]): Promise<void> => {
  await storeLog(stage.database, sellerId, entries)
  await logReadUpTo(stage.database, sellerId, upTo, 'A')
  await stage.database.transaction((tx) => reviewStock(tx, sellerId, ['A']))
}
const list = async (state: 'open' | 'resolved' | null = null) => {
  const filter = { sellerId: null, sku: null, state, seen: { from: null, to: null } }
  return (await listStockDifferences(stage.database, filter, null, 100)).items
}
const readRecorded = async () =>
  (await numbered(stage.database)).query<{ type: string; data: Record<string, unknown> }>(
    `SELECT type, data FROM warehouse.changes WHERE type LIKE 'stock_difference.%' ORDER BY seq`,
  )
const waiting = () =>
  stage.database.query<{ at: Date; units: number }>('SELECT read_at AS at, units FROM tallyman.stock_readings ORDER BY read_at')

describe('stock on hand and inventory log', () => {
  test('are compared at the time of the reading, from the ending of the report on', async () => {
    await seedOrder(stage.database, sellerId, purchaseOrder('1', [orderLine('1', 'A', 1)]))
    await storeMarch()
    await read('2026-04-02T10:00:00Z', 15)
    await readLog(
      '2026-04-02T12:00:00Z',
      sold('before the report', 9, '2026-03-31T12:00:00Z'),
      sold('1', 3, '2026-04-01T12:00:00Z'),
      sold('unsellable', 4, '2026-04-01T13:00:00Z', { location: 'Salvage' }),
      sold('after the reading', 5, '2026-04-02T10:00:00Z'),
    )
    expect(await list()).toEqual([
      {
        ...{
          id: expect.any(BigInt),
          sellerId,
          sku: 'A',
          gtin: '00012345678905',
          countedUnits: 15,
          balanceUnits: 17,
          difference: -2,
        },
        ...{ asOf: new Date('2026-04-02T10:00:00Z'), openingUnits: 20, openingAt: new Date(reportedAt) },
        ...{ unitPrice: '1.0000', value: '2.00', currency: 'USD', state: 'open', resolution: null, resolvedAt: null },
        ...{ firstSeenAt: expect.any(Date), changedAt: expect.any(Date) },
      },
    ])
    expect(await readRecorded()).toMatchObject([
      { type: 'stock_difference.found', data: { countedUnits: 15, balanceUnits: 17, difference: -2, value: '2.00' } },
    ])
  })

  test('are compared only after the log has been read up to the reading, and again with each side', async () => {
    await storeMarch()
    await readLog('2026-04-02T09:00:00Z')
    await read('2026-04-02T10:00:00Z', 19)
    expect(await list()).toEqual([])
    await readLog('2026-04-02T11:00:00Z')
    expect(await list('open')).toMatchObject([{ difference: -1 }])
    // An entry that the marketplace reports late.
    await readLog('2026-04-02T12:00:00Z', sold('1', 3, '2026-04-02T08:00:00Z'))
    expect(await list('open')).toMatchObject([{ countedUnits: 19, balanceUnits: 17, difference: 2 }])
    await read('2026-04-02T11:30:00Z', 17)
    expect(await list()).toMatchObject([{ state: 'resolved', resolution: 'agrees' }])
    expect((await readRecorded()).map(({ type, data: { difference } }) => [type, difference])).toEqual([
      ['stock_difference.found', -1],
      ['stock_difference.changed', 2],
      ['stock_difference.resolved', undefined],
    ])
  })

  test('use the newest reading that the log has passed; older ones are removed, later ones wait', async () => {
    await storeMarch()
    await read('2026-04-02T08:00:00Z', 20)
    await read('2026-04-02T10:00:00Z', 18)
    await read('2026-04-02T12:00:00Z', 17)
    await readLog('2026-04-02T11:00:00Z', sold('1', 1, '2026-04-02T09:00:00Z'), sold('2', 1, '2026-04-02T11:30:00Z'))
    expect(await list()).toMatchObject([{ countedUnits: 18, balanceUnits: 19 }])
    expect((await waiting()).map(({ units }) => units)).toEqual([18, 17])
    await readLog('2026-04-02T13:00:00Z', sold('3', 1, '2026-04-02T11:40:00Z'))
    expect(await list()).toMatchObject([{ state: 'resolved', resolution: 'agrees' }])
    expect((await waiting()).map(({ units }) => units)).toEqual([17])
  })

  test('are not compared without a report, and not over unreadable entries of the log', async () => {
    await read('2026-04-02T10:00:00Z', 15)
    await readLog('2026-04-02T12:00:00Z')
    expect(await list()).toEqual([])
    await storeMarch()
    await stage.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, [{ sku: 'A', month: '2026-03' }]))
    expect(await list('open')).toMatchObject([{ difference: -5 }])
    const setAside = (createdFrom: string) =>
      stage.database.execute(
        `INSERT INTO tallyman.quarantined_records (seller_id, resource, stream, record_key, raw_text, raw_hash, fault, observed_at, created_from)
         VALUES ($1, 'inventory-log', 'due', 'A/7', '{}', '\\x00', 'changedUnits: missing', now(), $2::timestamptz)`,
        sellerId,
        createdFrom,
      )
    const review = () => stage.database.transaction((tx) => reviewStock(tx, sellerId, ['A']))
    await setAside('2026-03-20T00:00:00Z')
    await review()
    expect(await list('open')).toMatchObject([{ difference: -5 }])
    await stage.database.execute(`UPDATE tallyman.quarantined_records SET created_from = '2026-04-01T12:00:00Z'`)
    await review()
    expect(await list()).toMatchObject([{ state: 'resolved', resolution: 'withdrawn' }])
    await stage.database.execute(`UPDATE tallyman.quarantined_records SET state = 'superseded'`)
    await review()
    expect(await list('open')).toMatchObject([{ difference: -5 }])
  })

  test('a second review writes nothing; a price that becomes known is added', async () => {
    await storeMarch()
    await read('2026-04-02T10:00:00Z', 15)
    await readLog('2026-04-02T12:00:00Z')
    const version = () => stage.database.query('SELECT xmin::text, value FROM warehouse.stock_differences')
    const before = await version()
    await readLog('2026-04-02T12:30:00Z')
    expect(await version()).toEqual(before)
    await seedOrder(stage.database, sellerId, purchaseOrder('1', [orderLine('1', 'A', 1)]))
    await readLog('2026-04-02T12:40:00Z')
    expect(await list()).toMatchObject([{ value: '5.00', currency: 'USD' }])
    expect((await readRecorded()).map(({ type }) => type)).toEqual(['stock_difference.found'])
  })

  test('of a SKU that the list no longer has are withdrawn', async () => {
    await storeMarch()
    await read('2026-04-02T10:00:00Z', 15)
    await readLog('2026-04-02T12:00:00Z')
    await stage.database.execute(
      `INSERT INTO warehouse.stock_on_hand (seller_id, sku, available_units, raw_hash, raw, observed_at, first_seen_at, changed_at)
       VALUES ($1, 'A', 15, '\\x00', '{}', now(), now(), now())`,
      sellerId,
    )
    const withdraw = () => stage.database.transaction((tx) => withdrawUnlistedStock(tx, sellerId, ['A']))
    await withdraw()
    expect(await list('open')).toHaveLength(1)
    await stage.database.execute('UPDATE warehouse.stock_on_hand SET missing_since = now()')
    await withdraw()
    expect(await list()).toMatchObject([{ state: 'resolved', resolution: 'withdrawn' }])
    expect(await waiting()).toEqual([])
  })
})

describe('a reading is stored', () => {
  test('of the first list, of other units, after a movement in the log, and after a new report, but not of the same units again', async () => {
    expect(await read('2026-04-02T10:00:00Z', 20)).toBe(1)
    expect(await read('2026-04-02T11:00:00Z', 20)).toBe(0)
    expect(await read('2026-04-02T12:00:00Z', 19)).toBe(1)
    await storeLog(stage.database, sellerId, [sold('1', 1, '2026-04-02T11:59:00Z')])
    expect(await read('2026-04-02T13:00:00Z', 19)).toBe(0)
    await storeLog(stage.database, sellerId, [sold('2', 1, '2026-04-02T13:30:00Z')])
    expect(await read('2026-04-02T14:00:00Z', 19)).toBe(1)
    expect(await read('2026-04-02T15:00:00Z', 19)).toBe(0)
    await storeReport(stage.database, sellerId, '2026-04', '2026-04-03T07:00:00Z', [{ sku: 'A', ending: 19 }])
    expect(await read('2026-04-03T08:00:00Z', 19)).toBe(1)
    // A list that is older than the last reading states nothing new.
    expect(await read('2026-04-02T09:00:00Z', 5)).toBe(0)
  })

  test('and makes the log of a new or moved SKU due', async () => {
    const due = () =>
      stage.database.query(
        'SELECT sku, gtin, source, log_due_at IS NULL AS due, log_moved_at AS moved FROM tallyman.inventory_skus ORDER BY sku',
      )
    await read('2026-04-02T10:00:00Z', 20)
    expect(await due()).toEqual([{ sku: 'A', gtin: '00012345678905', source: 'stock', due: true, moved: null }])
    await stage.database.execute(`UPDATE tallyman.inventory_skus SET log_due_at = '2026-05-01'`)
    await read('2026-04-02T11:00:00Z', 19)
    expect(await due()).toMatchObject([{ due: true, moved: new Date('2026-04-02T11:00:00Z') }])
  })

  test('of a SKU whose log is never read, the newest hundred wait', async () => {
    for (let minute = 0; minute < 105; minute += 1)
      await read(new Date(Date.parse('2026-04-02T10:00:00Z') + minute * 60_000).toISOString(), minute)
    const readings = await waiting()
    expect(readings).toHaveLength(100)
    expect(readings.at(-1)?.units).toBe(104)
  })
})
