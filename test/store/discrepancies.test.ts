import { describe, expect, test } from 'vitest'
import { takeReasons } from '../../src/jobs/sync/resources/log-reasons.ts'
import type { Transaction } from '../../src/store/db/database.ts'
import { listClaims } from '../../src/store/inventory/claims.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { type DiscrepancyFilter, listDiscrepancies } from '../../src/store/inventory/discrepancy-queries.ts'
import type { SkuMonth } from '../../src/store/inventory/discrepancy-sources.ts'
import { recordOrderSkus } from '../../src/store/inventory/inventory-skus.ts'
import {
  findChangedReasons,
  findMonthsOfReasons,
  recordReasons,
  recordUnknownReasons,
} from '../../src/store/inventory/log-reasons.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { charge, orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { logReadUpTo, storeLog, storeReport } from './support/inventory.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 's-1'
const month = '2026-03'
/** Midnight of the 1st of April in Pacific daylight time. */
const endOfMonth = '2026-04-01T07:00:00Z'

const review = (...skus: readonly string[]): Promise<number> =>
  stage.database.transaction((tx) =>
    reviewDiscrepancies(
      tx,
      sellerId,
      skus.map((sku) => ({ sku, month })),
    ),
  )

const all: DiscrepancyFilter = { sellerId: null, month: null, sku: null, kind: null, state: null }
const list = async (filter: Partial<DiscrepancyFilter> = {}) =>
  (await listDiscrepancies(stage.database, { ...all, ...filter }, null, 1_000)).items
const readRecorded = async () =>
  (await numbered(stage.database)).query<{ type: string; data: Record<string, unknown> }>(
    `SELECT type, data FROM warehouse.changes WHERE type LIKE 'inventory_discrepancy.%' ORDER BY seq`,
  )
/** A claim without its values. */
const listUnits = async () => {
  const [claim] = (await listClaims(stage.database, { month, sellerId: null }, null, 10)).items
  if (claim === undefined) throw new Error('no claim')
  const { skus, skusCompared, lost, damaged, found, unexplained, uncertain, total, net } = claim
  return {
    skus,
    skusCompared,
    lost: lost.units,
    damaged: damaged.units,
    found: found.units,
    unexplained: unexplained.units,
    uncertain: uncertain.units,
    total: total.units,
    net: net.units,
  }
}

test('every kind of difference is found, with its units, entries, day and value, once', async () => {
  await seedOrder(
    stage.database,
    sellerId,
    purchaseOrder('1', [orderLine('1', 'A', 4)], { orderDate: new Date('2026-02-01T00:00:00Z') }),
  )
  const dear = {
    ...orderLine('1', 'A', 3),
    charges: [{ ...charge('10.00'), chargeName: 'Price' }],
  }
  await seedOrder(stage.database, sellerId, purchaseOrder('0', [dear], { orderDate: new Date('2026-03-01T00:00:00Z') }))
  await storeReport(stage.database, sellerId, '2026-02', '2026-03-01T08:00:00Z', [{ sku: 'A', beginning: 50, ending: 50 }])
  await storeReport(stage.database, sellerId, month, endOfMonth, [
    // Two units vanished before the month, and one of them came back by its end.
    { sku: 'A', beginning: 48, ending: 36, sold: 10, returned: 3, lost: 4, found: 1, damaged: 2, other: -1 },
    { sku: 'B', beginning: 5, ending: 5 },
  ])
  await storeLog(stage.database, sellerId, [
    { sku: 'A', id: 's1', kind: 'sold', changedUnits: -7, at: '2026-03-05T12:00:00Z' },
    { sku: 'A', id: 'r1', kind: 'returned', changedUnits: 3, at: '2026-03-08T05:00:00Z', shipmentId: 'R' },
    { sku: 'A', id: 'r2', kind: 'returned', changedUnits: 3, at: '2026-03-08T05:00:00Z', shipmentId: 'R' },
    { sku: 'A', id: 'l1', kind: 'lost', changedUnits: -3, at: '2026-03-09T12:00:00Z' },
    { sku: 'A', id: 'f1', kind: 'found', changedUnits: 1, at: '2026-03-10T12:00:00Z' },
    { sku: 'A', id: 'f2', kind: 'found', changedUnits: 4, at: '2026-03-10T13:00:00Z' },
    { sku: 'A', id: 'd1', kind: 'damaged', changedUnits: -2, at: '2026-03-11T12:00:00Z' },
    { sku: 'A', id: 'd2', kind: 'damaged', changedUnits: -1, at: '2026-03-12T12:00:00Z' },
    // Not for sale, and outside of the Pacific month by a second on either side.
    { sku: 'A', id: 'x1', kind: 'found', changedUnits: 9, at: '2026-03-12T12:00:00Z', location: 'Salvage' },
    { sku: 'A', id: 'x2', kind: 'sold', changedUnits: -9, at: '2026-03-01T07:59:59Z' },
    { sku: 'A', id: 'x3', kind: 'sold', changedUnits: -9, at: '2026-04-01T07:00:00Z' },
  ])
  await logReadUpTo(stage.database, sellerId, endOfMonth, 'A', 'B')
  expect(await review('A', 'B')).toBe(8)

  const found = await list()
  expect(found.every((one) => one.sku === 'A' && one.gtin === 'gtin of A' && one.month === month && one.state === 'open')).toBe(
    true,
  )
  expect(
    Object.fromEntries(
      found.map(({ kind, reportUnits, expectedUnits, difference, log, earliestDay, value }) => [
        kind,
        [
          reportUnits,
          expectedUnits,
          difference,
          log === null ? null : `${log.verdict} ${log.certainty} ${log.entries.map((entry) => entry.id)}`,
          earliestDay,
          value,
        ],
      ]),
    ),
  ).toEqual({
    balance: [36, 35, 1, null, '2026-03-01', '3.33'],
    'carry-over': [48, 50, -2, null, '2026-03-01', '6.67'],
    sold: [10, 7, 3, 'missing unknown ', '2026-03-01', '10.00'],
    returned: [3, 6, -3, 'extra likely r2', '2026-03-07', '10.00'],
    lost: [4, 3, 1, 'missing unknown ', '2026-03-01', '3.33'],
    found: [1, 5, -4, 'extra possible f2', '2026-03-10', '13.33'],
    damaged: [2, 3, -1, 'extra possible d2', '2026-03-12', '3.33'],
    other: [-1, 0, -1, 'missing unknown ', '2026-03-01', '3.33'],
  })
  expect(found[0]).toMatchObject({ unitPrice: '3.3333', currency: 'USD', resolution: null, resolvedAt: null })
  expect(found.find(({ kind }) => kind === 'found')?.log).toEqual({
    verdict: 'extra',
    certainty: 'possible',
    entryCount: 1,
    entries: [{ id: 'f2', transactionTime: new Date('2026-03-10T13:00:00Z'), changedUnits: 4, fcName: 'KY1', shipmentId: null }],
  })
  const changes = await readRecorded()
  expect(changes.map(({ type }) => type)).toEqual(Array(8).fill('inventory_discrepancy.found'))
  expect(changes.map(({ data }) => data)).toContainEqual({
    id: expect.any(String),
    sku: 'A',
    gtin: 'gtin of A',
    month,
    kind: 'sold',
    reportUnits: 10,
    expectedUnits: 7,
    difference: 3,
    logVerdict: 'missing',
    value: '10.00',
    currency: 'USD',
  })
  expect(await review('A', 'B')).toBe(0)
  expect(await readRecorded()).toHaveLength(8)
})

test('a discrepancy resolves itself when both agree, and one that comes back is another', async () => {
  await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 10, ending: 5, sold: 5 }])
  await storeLog(stage.database, sellerId, [{ sku: 'A', id: '1', kind: 'sold', changedUnits: -3, at: '2026-03-05T12:00:00Z' }])
  await logReadUpTo(stage.database, sellerId, endOfMonth, 'A')
  expect(await review('A')).toBe(1)
  const sell = (id: string, units: number) =>
    storeLog(stage.database, sellerId, [{ sku: 'A', id, kind: 'sold', changedUnits: -units, at: '2026-03-06T12:00:00Z' }])
  await sell('2', 1)
  expect(await review('A')).toBe(1)
  const [changed] = await list()
  expect(changed).toMatchObject({ kind: 'sold', reportUnits: 5, expectedUnits: 4, difference: 1 })
  await sell('2', 2)
  expect(await review('A')).toBe(1)
  expect(await list({ state: 'open' })).toEqual([])
  expect(await list()).toMatchObject([
    { id: changed?.id, state: 'resolved', resolution: 'agrees', resolvedAt: expect.any(Date), difference: 1 },
  ])
  await sell('2', 4)
  expect(await review('A')).toBe(1)
  expect(await list()).toMatchObject([
    { state: 'open', difference: -2 },
    { id: changed?.id, state: 'resolved' },
  ])
  expect((await readRecorded()).map(({ type }) => type)).toEqual(
    ['found', 'changed', 'resolved', 'found'].map((event) => `inventory_discrepancy.${event}`),
  )
})

test('a log that has not been read far enough is not compared, and what it showed before stays', async () => {
  const early = '2026-03-15T07:00:00Z'
  await storeReport(stage.database, sellerId, month, early, [{ sku: 'A', beginning: 10, ending: 9, sold: 2 }])
  expect(await review('A')).toBe(1)
  expect(await list()).toMatchObject([{ kind: 'balance', difference: 1 }])
  expect(await listUnits()).toMatchObject({ skus: 1, skusCompared: 0 })
  await logReadUpTo(stage.database, sellerId, '2026-03-15T06:59:59Z', 'A')
  expect(await review('A')).toBe(0)
  await logReadUpTo(stage.database, sellerId, early, 'A')
  expect(await review('A')).toBe(1)
  expect(await list({ kind: 'sold' })).toMatchObject([{ difference: 2, log: { verdict: 'missing' } }])
  expect(await listUnits()).toMatchObject({ skus: 1, skusCompared: 1 })

  // The next report counts for longer than the log has been read: the sale may be in what is missing.
  await storeReport(stage.database, sellerId, month, '2026-03-16T07:00:00Z', [{ sku: 'A', beginning: 10, ending: 10 }])
  expect(await review('A')).toBe(1)
  expect(await list({ state: 'open' })).toMatchObject([{ kind: 'sold', difference: 2 }])
  await logReadUpTo(stage.database, sellerId, '2026-03-16T07:00:00Z', 'A')
  expect(await review('A')).toBe(1)
  expect(await list({ state: 'open' })).toEqual([])
})

test('months from before the log reaches back are not compared with it', async () => {
  await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 3, ending: 1, sold: 2 }])
  await logReadUpTo(stage.database, sellerId, '2027-03-15T00:00:00Z', 'A')
  expect(await review('A')).toBe(0)
  await logReadUpTo(stage.database, sellerId, '2027-02-28T00:00:00Z', 'A')
  expect(await review('A')).toBe(1)
})

test('a month is held against the next one only when its report counts to its end, and both are reviewed together', async () => {
  const row = (beginning: number) => [{ sku: 'A', beginning, ending: beginning }]
  await storeReport(stage.database, sellerId, month, '2026-03-31T07:00:00Z', row(10))
  await storeReport(stage.database, sellerId, '2026-04', '2026-04-10T07:00:00Z', row(8))
  expect(await review('A')).toBe(0)
  await storeReport(stage.database, sellerId, month, endOfMonth, row(10))
  expect(await review('A')).toBe(1)
  expect(await list()).toMatchObject([{ kind: 'carry-over', month: '2026-04', difference: -2 }])
  await storeReport(stage.database, sellerId, month, endOfMonth, row(8))
  expect(await review('A')).toBe(1)
  expect(await list()).toMatchObject([{ state: 'resolved', resolution: 'agrees' }])
})

const dropRow = (sku: string, ofMonth = month) =>
  stage.database.execute(
    `UPDATE warehouse.reconciliation_rows SET missing_since = now() WHERE sku = $1 AND month = $2::date`,
    sku,
    `${ofMonth}-01`,
  )
const brief = async (filter: Partial<DiscrepancyFilter> = { state: 'open' }) =>
  (await list(filter)).map((one) => `${one.month} ${one.sku} ${one.kind} ${one.reportUnits}/${one.expectedUnits}`).sort()

describe('a report without a row', () => {
  const sale = (sku: string, id: string, units: number, at: string) =>
    storeLog(stage.database, sellerId, [{ sku, id, kind: 'sold', changedUnits: -units, at }])

  test('of a SKU that the log shows to move: never listed, left out of one month, or listed no more', async () => {
    const listed = { sku: 'LISTED', beginning: 1, ending: 1 }
    await storeReport(stage.database, sellerId, '2026-02', '2026-03-01T08:00:00Z', [
      listed,
      { sku: 'OUT', beginning: 20, ending: 20 },
    ])
    await storeReport(stage.database, sellerId, month, endOfMonth, [listed])
    await storeReport(stage.database, sellerId, '2026-04', '2026-05-01T07:00:00Z', [
      listed,
      { sku: 'OUT', beginning: 16, ending: 16 },
    ])
    for (const sku of ['NEVER', 'OUT']) await sale(sku, '1', 4, '2026-03-05T12:00:00Z')
    // No report of May: nothing to hold this against.
    await sale('NEVER', '2', 9, '2026-05-05T12:00:00Z')
    await logReadUpTo(stage.database, sellerId, '2026-06-01T07:00:00Z', 'NEVER', 'OUT', 'LISTED')
    await review('NEVER', 'OUT', 'LISTED')
    expect(await brief()).toEqual(['2026-03 NEVER sold 0/4', '2026-03 OUT sold 0/4'])
    expect(await list({ sku: 'NEVER' })).toMatchObject([{ log: { verdict: 'extra', entries: [{ id: '1' }] } }])
    expect(await listUnits()).toMatchObject({ skus: 1, skusCompared: 1, unexplained: 0, uncertain: 0 })
  })

  test('is not judged before the log has been read, and not where nothing moves', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A' }])
    await sale('B', '1', 4, '2026-03-05T12:00:00Z')
    expect(await review('B', 'C')).toBe(0)
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'B', 'C')
    expect(await review('B', 'C')).toBe(1)
    expect(await brief()).toEqual(['2026-03 B sold 0/4'])
  })

  test('that disappeared: its quantities stay while the SKU moves, and movements differ', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [
      { sku: 'A', beginning: 20, ending: 13, sold: 4, lost: 3 },
      { sku: 'B', beginning: 9, ending: 9 },
    ])
    await sale('A', '1', 4, '2026-03-05T12:00:00Z')
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'A', 'B')
    await review('A', 'B')
    expect(await brief()).toEqual(['2026-03 A lost 3/0'])
    await dropRow('A')
    await dropRow('B')
    await review('A', 'B')
    expect(await brief()).toEqual(['2026-03 A lost 3/0', '2026-03 A sold 0/4', '2026-03 B row 0/9'])
    expect(await listUnits()).toMatchObject({ skus: 0, unexplained: 0, uncertain: 12 })
    // It is back, and says what it said.
    await storeReport(stage.database, sellerId, month, endOfMonth, [
      { sku: 'A', beginning: 20, ending: 13, sold: 4, lost: 3 },
      { sku: 'B', beginning: 9, ending: 9 },
    ])
    await review('A', 'B')
    expect(await brief()).toEqual(['2026-03 A lost 3/0'])
    expect(await list({ kind: 'row' })).toMatchObject([{ state: 'resolved', resolution: 'agrees' }])
  })

  test('that went is withdrawn once the log shows that nothing moves, but for its stock', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 3, ending: 1 }])
    await storeReport(stage.database, sellerId, '2026-04', '2026-04-10T07:00:00Z', [{ sku: 'A', beginning: 2, ending: 2 }])
    await review('A')
    expect(await brief()).toEqual(['2026-03 A balance 1/3', '2026-04 A carry-over 2/1'])
    await dropRow('A')
    await review('A')
    expect(await brief()).toEqual(['2026-03 A balance 1/3', '2026-03 A row 0/1'])
    expect(await list({ kind: 'carry-over' })).toMatchObject([{ state: 'resolved', resolution: 'withdrawn' }])
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'A')
    await review('A')
    expect(await brief()).toEqual(['2026-03 A row 0/1'])
    expect(await list({ kind: 'balance' })).toMatchObject([{ state: 'resolved', resolution: 'withdrawn' }])
  })
})

describe('the beginning after months without a row', () => {
  const report = (ofMonth: string, until: string, quantity: number | null) =>
    storeReport(
      stage.database,
      sellerId,
      ofMonth,
      until,
      quantity === null ? [] : [{ sku: 'A', beginning: quantity, ending: quantity }],
    )

  test('is what the last row ended with, and what the log knows since', async () => {
    await report('2026-01', '2026-02-01T08:00:00Z', 20)
    await report('2026-02', '2026-03-01T08:00:00Z', null)
    await report(month, endOfMonth, null)
    await report('2026-04', '2026-05-01T07:00:00Z', 14)
    const pairs = [{ sku: 'A', month: '2026-01' }]
    await stage.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
    expect(await brief()).toEqual(['2026-04 A carry-over 14/20'])
    await storeLog(stage.database, sellerId, [{ sku: 'A', id: '1', kind: 'sold', changedUnits: -4, at: '2026-03-05T12:00:00Z' }])
    await logReadUpTo(stage.database, sellerId, '2026-05-02T07:00:00Z', 'A')
    await review('A')
    // Four of the six are sold by the log, in a month without a row.
    expect(await brief()).toEqual(['2026-03 A sold 0/4', '2026-04 A carry-over 14/16'])
  })

  test('is not known where a month between has no report, or none to its end', async () => {
    await report('2026-01', '2026-02-01T08:00:00Z', 20)
    await report(month, endOfMonth, 14)
    expect(await review('A')).toBe(0)
    await report('2026-02', '2026-02-20T08:00:00Z', null)
    expect(await review('A')).toBe(0)
    await report('2026-02', '2026-03-01T08:00:00Z', null)
    expect(await review('A')).toBe(1)
    expect(await brief()).toEqual(['2026-03 A carry-over 14/20'])
  })

  test('is what the log makes of it over months without any report, once it is read over all of them', async () => {
    await report('2026-01', '2026-01-20T08:00:00Z', 10)
    await report(month, endOfMonth, 5)
    await storeLog(stage.database, sellerId, [{ sku: 'A', id: '1', kind: 'sold', changedUnits: -2, at: '2026-02-05T12:00:00Z' }])
    await logReadUpTo(stage.database, sellerId, '2026-02-20T08:00:00Z', 'A')
    await review('A')
    expect(await brief()).toEqual([])
    await logReadUpTo(stage.database, sellerId, '2026-04-02T07:00:00Z', 'A')
    await review('A')
    // The row of January does not count to the end of its month.
    expect(await brief()).toEqual([])
    await report('2026-01', '2026-02-01T08:00:00Z', 10)
    await review('A')
    expect(await brief()).toEqual(['2026-03 A carry-over 5/8'])
    expect((await listClaims(stage.database, { month, sellerId }, null, 1)).items).toMatchObject([{ unexplained: { units: 3 } }])
    // The report that comes after all says the same of the sale.
    await storeReport(stage.database, sellerId, '2026-02', '2026-03-01T08:00:00Z', [
      { sku: 'A', beginning: 10, ending: 8, sold: 2 },
    ])
    await stage.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, [{ sku: 'A', month: '2026-02' }]))
    expect(await brief()).toEqual(['2026-03 A carry-over 5/8'])
  })
})

describe('reasons that the settings name', () => {
  test('count by their kind, and an entry that the log no longer has does not count', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 9, ending: 5, lost: 4 }])
    await storeLog(stage.database, sellerId, [{ sku: 'A', id: '1', kind: 'other', changedUnits: -4, at: '2026-03-05T12:00:00Z' }])
    await stage.database.execute(
      `UPDATE warehouse.inventory_log_entries SET transaction_type = 'Adjustment', transaction_reason_code = 'Q7', transaction_reason_description = 'Gone West'`,
    )
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'A')
    await review('A')
    expect(await brief()).toEqual(['2026-03 A lost 4/0', '2026-03 A other 0/-4'])
    expect(await recordReasons(stage.database, sellerId, new Map([['gone west', 'lost']]))).toEqual(['gone west'])
    expect(await findMonthsOfReasons(stage.database, sellerId, ['gone west'])).toEqual([{ sku: 'A', month }])
    await review('A')
    expect(await brief()).toEqual([])
    await stage.database.execute('UPDATE warehouse.inventory_log_entries SET missing_since = now()')
    await review('A')
    expect(await brief()).toEqual(['2026-03 A lost 4/0'])
    expect(await recordReasons(stage.database, sellerId, new Map())).toEqual(['gone west'])
  })

  test('are taken over from the settings, and every month with such an entry is judged anew', async () => {
    const skus = ['A', 'B', 'C']
    await storeReport(
      stage.database,
      sellerId,
      month,
      endOfMonth,
      skus.map((sku) => ({ sku, beginning: 9, ending: 5, lost: 4 })),
    )
    await storeLog(
      stage.database,
      sellerId,
      skus.map((sku) => ({ sku, id: '1', kind: 'other', changedUnits: -4, at: '2026-03-05T12:00:00Z' })),
    )
    await stage.database.execute(
      `UPDATE warehouse.inventory_log_entries SET transaction_type = 'Adjustment', transaction_reason_code = 'Q7',
         transaction_reason_description = CASE sku WHEN 'C' THEN 'Other' ELSE 'Gone West' END`,
    )
    await logReadUpTo(stage.database, sellerId, endOfMonth, ...skus)
    await review(...skus)
    const differing = async () => [...new Set((await brief()).map((text) => text.split(' ')[1]))]
    expect(await differing()).toEqual(['A', 'B', 'C'])
    await takeReasons(stage.database, sellerId, new Map([['gone west', 'lost']]))
    expect(await differing()).toEqual(['C'])
    await takeReasons(stage.database, sellerId, new Map())
    expect(await differing()).toEqual(['A', 'B', 'C'])
  })

  test('of the settings are compared for all sellers by one statement: unchanged ones are omitted', async () => {
    const names = ['same', 'more', 'less', 'other-kind', 'none-left', 'new', 'never'].map((name) => `${sellerId}-${name}`)
    const [same, more, less, otherKind, noneLeft, fresh, never] = names
    const west = ['gone west', 'lost'] as const
    const fishing = ['gone fishing', 'damaged'] as const
    for (const [name, known] of [
      [same, [west, fishing]],
      [more, [west]],
      [less, [west, fishing]],
      [otherKind, [west]],
      [noneLeft, [west]],
    ] as const)
      await recordReasons(stage.database, name ?? '', new Map(known))
    // What the log of a seller names, and its settings do not, is nothing that was taken over.
    const unknown = { transactionReasonCode: 'Q7', transactionReasonDescription: null }
    await stage.database.transaction((tx) => recordUnknownReasons(tx, never ?? '', [unknown]))
    const settings = [
      [same, [fishing, west]],
      [more, [west, fishing]],
      [less, [west]],
      [otherKind, [['gone west', 'damaged']]],
      [noneLeft, []],
      [fresh, [west]],
      [never, []],
    ] as const
    const asked = settings.map(([name, reasons]) => ({ sellerId: name ?? '', logReasons: new Map(reasons) }))
    const others = await findChangedReasons(stage.database, asked)
    expect(others.map((other) => other.sellerId)).toEqual([more, less, otherKind, noneLeft, fresh])
  })

  test('count as other if the text says found and the number is negative, unlike positive ones', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 10, ending: 12, found: 5, lost: 3 }])
    await storeLog(stage.database, sellerId, [
      { sku: 'A', id: '1', kind: 'found', changedUnits: 5, at: '2026-03-05T12:00:00Z' },
      { sku: 'A', id: '2', kind: 'found', changedUnits: -3, at: '2026-03-06T12:00:00Z' },
    ])
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'A')
    await review('A')
    expect(await brief()).toEqual(['2026-03 A lost 3/0', '2026-03 A other 0/-3'])
  })

  test('raise an alarm once each', async () => {
    const reason = { transactionReasonCode: 'Q7', transactionReasonDescription: 'Gone West' }
    const note = () => stage.database.transaction((tx) => recordUnknownReasons(tx, sellerId, [reason, reason]))
    await note()
    const alarms = () =>
      stage.database.query<{ message: string }>(`SELECT message FROM tallyman.alarms WHERE resolved_at IS NULL`)
    expect(await alarms()).toMatchObject([{ message: expect.stringContaining('"Q7: Gone West"') }])
    await stage.database.execute('UPDATE tallyman.alarms SET resolved_at = now()')
    await note()
    expect(await alarms()).toEqual([])
    await recordReasons(stage.database, sellerId, new Map([['q8', 'damaged']]))
    await stage.database.transaction((tx) => recordUnknownReasons(tx, sellerId, [{ ...reason, transactionReasonCode: 'Q8' }]))
    await stage.database.transaction((tx) =>
      recordUnknownReasons(tx, sellerId, [{ transactionReasonCode: 'Q8', transactionReasonDescription: 'Other words' }]),
    )
    expect(await alarms()).toEqual([])
  })
})

test('a value is added when a price becomes known, and not touched by later prices', async () => {
  await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 3, ending: 1 }])
  expect(await review('A')).toBe(1)
  expect(await list()).toMatchObject([{ unitPrice: null, value: null, currency: null }])
  const sold = (amount: string) => [{ ...orderLine('1', 'A', 1), charges: [{ ...charge(amount), chargeName: 'Price' }] }]
  // Nothing was charged for a unit that was cancelled before we saw it.
  await seedOrder(stage.database, sellerId, purchaseOrder('1', sold('0'), { orderDate: new Date('2026-03-03T00:00:00Z') }))
  expect(await review('A')).toBe(0)
  await seedOrder(stage.database, sellerId, purchaseOrder('2', sold('12.50'), { orderDate: new Date('2026-03-02T00:00:00Z') }))
  expect(await review('A')).toBe(1)
  await seedOrder(stage.database, sellerId, purchaseOrder('3', sold('13.00'), { orderDate: new Date('2026-03-04T00:00:00Z') }))
  expect(await review('A')).toBe(0)
  expect(await list()).toMatchObject([{ value: '25.00', currency: 'USD' }])
})

describe('the claim of a month', () => {
  test('of a SKU without a price takes that of an order that comes later, and keeps it', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 3, ending: 1, lost: 2 }])
    await review('A')
    const lost = async () => (await listClaims(stage.database, { month, sellerId: null }, null, 10)).items[0]?.lost
    expect(await lost()).toMatchObject({ units: 2, values: [] })
    const sold = async (id: string, amount: string) => {
      const charges = [{ ...charge(amount), chargeName: 'Price' }]
      await seedOrder(stage.database, sellerId, {
        ...purchaseOrder(id, [{ ...orderLine('1', 'A', 1), charges }]),
        orderDate: new Date('2026-04-02T00:00:00Z'),
      })
      await recordOrderSkus(await numbered(stage.database), sellerId, new Date('2026-04-02T00:00:00Z'))
    }
    await sold('1', '12.50')
    expect(await lost()).toMatchObject({ units: 2, values: [{ amount: '25.00', currency: 'USD' }] })
    await sold('2', '99.00')
    expect(await lost()).toMatchObject({ units: 2, values: [{ amount: '25.00', currency: 'USD' }] })
  })

  test('adds up lost and damaged units, nets found ones by SKU, and values what has a price', async () => {
    await seedOrder(stage.database, sellerId, purchaseOrder('1', [orderLine('1', 'A', 2)]))
    await storeReport(stage.database, sellerId, month, endOfMonth, [
      { sku: 'A', beginning: 20, ending: 12, lost: -5, found: 2, damaged: 4, other: -1 },
      { sku: 'B', beginning: 20, ending: 26, lost: 1, found: 7 },
      { sku: 'C', beginning: 20, ending: 17 },
    ])
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'A', 'B')
    await storeLog(stage.database, sellerId, [
      { sku: 'A', id: '1', kind: 'lost', changedUnits: -5, at: '2026-03-05T12:00:00Z' },
      { sku: 'A', id: '2', kind: 'found', changedUnits: 2, at: '2026-03-05T12:00:00Z' },
      { sku: 'A', id: '3', kind: 'other', changedUnits: 1, at: '2026-03-05T12:00:00Z' },
    ])
    await review('A', 'B', 'C')
    await storeReport(stage.database, 's-2', month, endOfMonth, [])
    const { items, next } = await listClaims(stage.database, { month, sellerId: null }, null, 1)
    // Of A two units are gone without a movement that the log knows; C lacks three by the report itself.
    expect(items).toEqual([
      {
        sellerId,
        month,
        skus: 3,
        skusCompared: 2,
        lost: { units: 6, values: [{ amount: '5.00', currency: 'USD' }], unpricedUnits: 1 },
        damaged: { units: 4, values: [{ amount: '4.00', currency: 'USD' }], unpricedUnits: 0 },
        found: { units: 9, values: [{ amount: '2.00', currency: 'USD' }], unpricedUnits: 7 },
        unexplained: { units: 5, values: [{ amount: '2.00', currency: 'USD' }], unpricedUnits: 3 },
        uncertain: { units: 0, values: [], unpricedUnits: 0 },
        total: { units: 15, values: [{ amount: '11.00', currency: 'USD' }], unpricedUnits: 4 },
        net: { units: 12, values: [{ amount: '9.00', currency: 'USD' }], unpricedUnits: 3 },
      },
    ])
    expect(next).toBe(sellerId)
    expect((await listClaims(stage.database, { month, sellerId: null }, next, 1)).items).toMatchObject([
      { sellerId: 's-2', skus: 0, total: { units: 0, values: [], unpricedUnits: 0 } },
    ])
    expect((await listClaims(stage.database, { month: '2026-04', sellerId: null }, null, 10)).items).toEqual([])
  })

  test('counts no unit as unexplained that was only booked under another kind, or that another cell makes good', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [
      // Sold by the report, lost by the log; and a wrong cell that the ending does not follow.
      { sku: 'A', beginning: 20, ending: 18, sold: 2 },
      { sku: 'B', beginning: 20, ending: 18, sold: 5 },
    ])
    await storeLog(stage.database, sellerId, [
      { sku: 'A', id: '1', kind: 'lost', changedUnits: -2, at: '2026-03-05T12:00:00Z' },
      { sku: 'B', id: '1', kind: 'sold', changedUnits: -2, at: '2026-03-05T12:00:00Z' },
    ])
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'A', 'B')
    expect(await review('A', 'B')).toBe(4)
    expect(await listUnits()).toMatchObject({ unexplained: 0, total: 0 })
  })
})

describe('what is not lost for sure', () => {
  const unit = { unexplained: 0, uncertain: 4 }
  const readClaim = async (ofMonth: string) => {
    const [claim] = (await listClaims(stage.database, { month: ofMonth, sellerId: null }, null, 10)).items
    return { unexplained: claim?.unexplained.units, uncertain: claim?.uncertain.units }
  }

  test('is kept apart: what is right again the next month, cut off at its edge, or likely a copy', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 20, ending: 16 }])
    await review('A')
    expect(await readClaim(month)).toEqual({ unexplained: 4, uncertain: 0 })
    await storeReport(stage.database, sellerId, '2026-04', '2026-05-01T07:00:00Z', [{ sku: 'A', beginning: 20, ending: 20 }])
    await review('A')
    expect(await readClaim(month)).toEqual(unit)
    expect(await readClaim('2026-04')).toEqual({ unexplained: 0, uncertain: 0 })
  })

  test('such as a sale that the log counts after midnight', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 20, ending: 16, sold: 4 }])
    await storeReport(stage.database, sellerId, '2026-04', '2026-05-01T07:00:00Z', [{ sku: 'A', beginning: 16, ending: 16 }])
    await storeLog(stage.database, sellerId, [{ sku: 'A', id: '1', kind: 'sold', changedUnits: -4, at: endOfMonth }])
    await logReadUpTo(stage.database, sellerId, '2026-05-02T00:00:00Z', 'A')
    await review('A')
    expect(await brief()).toEqual(['2026-03 A sold 4/0', '2026-04 A sold 0/4'])
    expect(await readClaim(month)).toEqual(unit)
  })

  test('such as a return that the log has twice', async () => {
    await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 20, ending: 24, returned: 4 }])
    const returned = { sku: 'A', kind: 'returned', changedUnits: 4, at: '2026-03-05T12:00:00Z' } as const
    await storeLog(stage.database, sellerId, [
      { ...returned, id: '1' },
      { ...returned, id: '2' },
    ])
    await logReadUpTo(stage.database, sellerId, endOfMonth, 'A')
    await review('A')
    expect(await readClaim(month)).toEqual(unit)
  })
})

test('lists page by id and filter by seller, month, SKU, kind and state', async () => {
  const skus = ['A', 'B', 'C', 'D', 'E']
  await storeReport(
    stage.database,
    sellerId,
    month,
    endOfMonth,
    skus.map((sku) => ({ sku, beginning: 3, ending: 1 })),
  )
  await review(...skus)
  const ids = (await list()).map(({ id }) => id)
  expect(ids).toEqual([...ids].sort((a, b) => Number(b - a)))
  const first = await listDiscrepancies(stage.database, all, null, 2)
  const second = await listDiscrepancies(stage.database, all, first.next, 2)
  const third = await listDiscrepancies(stage.database, all, second.next, 2)
  expect([first, second, third].flatMap(({ items }) => items.map(({ id }) => id))).toEqual(ids)
  expect(third.next).toBeNull()
  expect(await list({ sku: 'C', sellerId, month, kind: 'balance', state: 'open' })).toMatchObject([{ sku: 'C' }])
  for (const none of [
    { sku: 'Z' },
    { sellerId: 's-2' },
    { month: '2026-04' },
    { kind: 'sold' },
    { state: 'resolved' },
  ] as const) {
    expect(await list(none)).toEqual([])
  }
})

/** A transaction that counts its statements. */
const counting = (tx: Transaction): { readonly tx: Transaction; readonly statements: () => number } => {
  let statements = 0
  return {
    tx: {
      ...tx,
      query: (sql, ...parameters) => {
        statements += 1
        return tx.query(sql, ...parameters)
      },
      execute: (sql, ...parameters) => {
        statements += 1
        return tx.execute(sql, ...parameters)
      },
    },
    statements: () => statements,
  }
}

test('as many statements for a thousand pairs as for one', async () => {
  const skus = Array.from({ length: 1_000 }, (_, index) => `SKU-${index}`)
  await storeReport(
    stage.database,
    sellerId,
    month,
    endOfMonth,
    skus.map((sku) => ({ sku, beginning: 9, ending: 5, sold: 3 })),
  )
  await storeLog(
    stage.database,
    sellerId,
    skus.flatMap((sku) =>
      Array.from({ length: 5 }, (_, index) => ({
        sku,
        id: String(index),
        kind: 'sold' as const,
        changedUnits: -1,
        at: `2026-03-0${index + 1}T12:00:00Z`,
      })),
    ),
  )
  await logReadUpTo(stage.database, sellerId, endOfMonth, ...skus)
  const reviewCounted = (pairs: readonly SkuMonth[]) =>
    stage.database.transaction(async (tx) => {
      const counted = counting(tx)
      return { found: await reviewDiscrepancies(counted.tx, sellerId, pairs), statements: counted.statements() }
    })
  const [one, ...others] = skus.map((sku) => ({ sku, month }))
  if (one === undefined) throw new Error('no SKU')
  const alone = await reviewCounted([one])
  const together = await reviewCounted(others)
  expect(alone.found).toBe(2)
  expect(together).toEqual({ found: 2 * 999, statements: alone.statements })
  expect(alone.statements).toBeLessThan(15)
})

test('two transactions that change both sides concurrently end with a consistent result', async () => {
  await storeReport(stage.database, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 10, ending: 10 }])
  await logReadUpTo(stage.database, sellerId, endOfMonth, 'A')
  const pairs = [{ sku: 'A', month }]
  const [reportStored, logStored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const bothStored = Promise.all([reportStored.promise, logStored.promise])
  // Either change alone differs, and neither sees the other; both together agree.
  await Promise.all([
    stage.database.transaction(async (tx) => {
      await storeReport(tx, sellerId, month, endOfMonth, [{ sku: 'A', beginning: 10, ending: 8, sold: 2 }])
      reportStored.resolve()
      await bothStored
      await reviewDiscrepancies(tx, sellerId, pairs)
    }),
    stage.database.transaction(async (tx) => {
      await storeLog(tx, sellerId, [{ sku: 'A', id: '1', kind: 'sold', changedUnits: -2, at: '2026-03-05T12:00:00Z' }])
      logStored.resolve()
      await bothStored
      await reviewDiscrepancies(tx, sellerId, pairs)
    }),
  ])
  expect(await list({ state: 'open' })).toEqual([])
  expect(await review('A')).toBe(0)
})
