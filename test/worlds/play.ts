import { stringify } from 'csv-stringify/sync'
import { createRandom } from '../../sandbox/core/random.ts'
import { readHeader, readRow } from '../../src/clients/marketplace/reports/report-csv.ts'
import { readLines } from '../../src/clients/marketplace/reports/report-lines.ts'
import { rowKey } from '../../src/domain/inventory/reconciliation-report.ts'
import { addMonths } from '../../src/domain/values/calendar.ts'
import type { Database } from '../../src/store/db/database.ts'
import { listClaims } from '../../src/store/inventory/claims.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { findDifferingEntries, markMissingEntries, storeDifferingEntries } from '../../src/store/inventory/inventory-log.ts'
import { lockSkus, recordLogReads } from '../../src/store/inventory/inventory-skus.ts'
import { recordReasons } from '../../src/store/inventory/log-reasons.ts'
import { beginReport, completeReport, findReport, finishReport } from '../../src/store/inventory/reconciliation-reports.ts'
import {
  findDifferingRows,
  findUnlistedSkus,
  listMonthSkus,
  markMissingRows,
  storeDifferingRows,
} from '../../src/store/inventory/reconciliation-rows.ts'
import { logRecord } from '../store/support/records.ts'
import { charge, orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { monthBounds, pacificMonth } from '../support/vocabulary.ts'
import { countClaimable, type Item, type LogLine, listCells, type World } from './world.ts'

/**
 * Plays a world into a database as the syncs would: its reports as files, its log entry by entry, in an order of chance, and then what the
 * marketplace makes of both later. Answers what was found out.
 */

/** What a world came to. */
export interface Played {
  /** Open differences in the end: `month sku kind report/expected`. */
  readonly open: readonly string[]
  /** Those of them whose value is not their units at the SKU's price. */
  readonly misvalued: readonly string[]
  /** Differences that were settled: `month sku kind`. */
  readonly settled: readonly string[]
  /** Differences that stood before the marketplace corrected itself. */
  readonly before: readonly string[]
  /** Unexplained units of each month, by the claim. */
  readonly unexplained: ReadonlyMap<string, number>
  /** Their value, as decimal text. */
  readonly unexplainedValue: ReadonlyMap<string, string>
  /** Units that can be claimed, by SKU, and the value of all of them as decimal text. */
  readonly claimable: ReadonlyMap<string, number>
  readonly claimableValue: string
}

const header = [
  'GTIN',
  'Vendor (Seller) SKU',
  'Beginning Balance',
  'Ending Balance',
  'Units Sold',
  'Returns',
  'Lost',
  'Found',
  'Damaged',
  'Adjustments',
]

const listBatch = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))

const importReport = async (database: Database, sellerId: string, world: World, month: string, phase: 0 | 1): Promise<void> => {
  const { to } = monthBounds(month)
  const generatedAt = new Date(to.getTime() + (phase + 1) * 86_400_000)
  const lines = world.items.flatMap(({ sku, rows }) => {
    const row = rows[phase].get(month)
    return row === undefined ? [] : [[`gtin-${sku}`, sku, ...listCells(row, world.signed).map(String)]]
  })
  const file = Buffer.from(stringify([header, ...lines]))
  const pieces = (from = 0) =>
    (async function* () {
      yield file.subarray(from)
    })()
  const { columns, end } = await readHeader(pieces())
  const id = await beginReport(database, {
    sellerId,
    month,
    fileName: null,
    generatedAt,
    retrievedAt: generatedAt,
    correlationId: 'world',
  })
  await completeReport(database, id, file.length)
  const report = await findReport(database, id)
  if (report === null) throw new Error('the report is gone')
  const records = []
  for await (const { cells } of readLines(pieces(end), columns)) {
    const record = readRow(month, columns, cells)
    if (!record.ok) throw new Error(record.fault)
    records.push({ ...record, value: { row: record.value, reportId: id } })
  }
  const differing = await findDifferingRows(database, sellerId, records)
  const came = new Set(records.map(({ value }) => value.row.sku))
  const stored = await listMonthSkus(database, sellerId, month, '', 10_000)
  const gone = stored.filter((sku) => !came.has(sku)).map((sku) => rowKey(month, sku))
  await database.transaction((tx) => storeDifferingRows(tx, sellerId, generatedAt, differing))
  await database.transaction(async (tx) => {
    await markMissingRows(tx, sellerId, generatedAt, gone)
    const skippedLines = { header: 1, blank: 0, total: 0, text: 0, continued: 0 }
    const counts = {
      lineCount: records.length + 1,
      rowCount: records.length,
      unreadCount: 0,
      namelessCount: 0,
      headers: [],
      skippedLines,
    }
    await finishReport(tx, report, { ...counts, byGtin: false })
  })
  await database.transaction(async (tx) => {
    const { skus } = await findUnlistedSkus(tx, sellerId, month, '')
    await reviewDiscrepancies(
      tx,
      sellerId,
      skus.map((sku) => ({ sku, month })),
    )
  })
}

const findRecord = (sku: string, { id, at, units, type, code, description, location }: LogLine) =>
  logRecord(sku, {
    id,
    changedUnits: units,
    transactionTime: at.toISOString(),
    transactionLocation: location,
    transactionReasonCode: code,
    transactionReasonDesc: description,
    transactionType: type,
  })

/** Reads the whole log of some SKUs. */
const readLogs = async (
  database: Database,
  sellerId: string,
  items: readonly Item[],
  phase: 0 | 1,
  { from, at }: { readonly from: Date; readonly at: Date },
): Promise<void> => {
  const skus = items.map(({ sku }) => sku)
  // What has not changed since is not written again; the syncs' own tests show that.
  const changed = items.filter(({ log }) => phase === 0 || log[0] !== log[1])
  const records = changed.flatMap(({ sku, log }) => log[phase].map((entry) => findRecord(sku, entry)))
  const differing = await findDifferingEntries(database, sellerId, records)
  await database.transaction(async (tx) => {
    await lockSkus(tx, sellerId, skus)
    const { touched } = await storeDifferingEntries(tx, sellerId, at, differing)
    const parts = items.map(({ sku, log }) => ({ sku, from, to: at, ids: log[phase].map(({ id }) => id), observedAt: at }))
    const gone = await markMissingEntries(tx, sellerId, parts)
    const comparable = await recordLogReads(
      tx,
      sellerId,
      skus.map((sku) => ({
        sku,
        gtin: null,
        productName: null,
        readUpTo: at,
        readAt: at,
        movedBefore: null,
        movedAt: null,
        dueAt: at,
        fullDueAt: null,
        pass: null,
        fault: null,
      })),
    )
    const months = [...touched, ...gone].map(({ sku, at: moved }) => ({ sku, month: pacificMonth(moved) }))
    await reviewDiscrepancies(tx, sellerId, [...months, ...comparable])
  })
}

interface Found {
  readonly sku: string
  readonly month: string
  readonly kind: string
  readonly report: number
  readonly expected: number
  readonly value: string | null
  readonly state: string
}

const readFound = (database: Database, sellerId: string): Promise<Found[]> =>
  database.query<Found>(
    `SELECT sku, to_char(month, 'YYYY-MM') AS month, kind, report_units::float8 AS report, expected_units::float8 AS expected,
       value::text AS value, state
     FROM warehouse.inventory_discrepancies WHERE seller_id = $1 ORDER BY month, sku, kind`,
    sellerId,
  )

const buildName = ({ month, sku, kind, report, expected }: Found): string => `${month} ${sku} ${kind} ${report}/${expected}`

/** Plays a world for a seller of its own. */
export const play = async (database: Database, world: World): Promise<Played> => {
  const sellerId = `world-${world.seed}`
  const random = createRandom(world.seed, 'play')
  const { months, items } = world
  const bounds = { from: new Date(monthBounds(months[0]).from.getTime() - 86_400_000) }
  const at = (days: number): Date => new Date(monthBounds(months[2]).to.getTime() + days * 86_400_000)
  const priceByKey = new Map(items.map(({ sku, priceCents }) => [sku, priceCents]))
  const lines = items.map(({ sku, priceCents }, index) => ({
    ...orderLine(String(index + 1), sku, 1),
    charges: [{ ...charge((priceCents / 100).toFixed(2)), chargeName: 'Price' }],
  }))
  await seedOrder(database, sellerId, purchaseOrder(`PO-${world.seed}`, lines))
  await recordReasons(database, sellerId, world.reasons)
  await database.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, source) SELECT $1, sku, 'settings' FROM unnest($2::text[]) AS t(sku)`,
    sellerId,
    items.map(({ sku }) => sku),
  )
  const logs = (phase: 0 | 1, days: number) => async () => {
    for (const some of listBatch(items, 75)) await readLogs(database, sellerId, some, phase, { ...bounds, at: at(days) })
  }
  const reports = (phase: 0 | 1) => months.map((month) => () => importReport(database, sellerId, world, month, phase))
  const inAnyOrder = async (steps: readonly (() => Promise<void>)[]): Promise<void> => {
    const left = [...steps]
    while (left.length > 0) await left.splice(random.whole(0, left.length - 1), 1)[0]?.()
  }
  await inAnyOrder([...reports(0), logs(0, 1)])
  const before = (await readFound(database, sellerId)).filter(({ state }) => state === 'open')
  await inAnyOrder([...reports(1), logs(1, 5)])
  const found = await readFound(database, sellerId)
  const open = found.filter(({ state }) => state === 'open')
  const worth = ({ sku, report, expected }: Found): string =>
    ((Math.abs(report - expected) * (priceByKey.get(sku) ?? 0)) / 100).toFixed(2)
  const claims = await Promise.all(
    [...months, addMonths(months[2], 1)].map(async (month) => {
      const { items: ofMonth } = await listClaims(database, { month, sellerId }, null, 1)
      return [month, ofMonth[0]] as const
    }),
  )
  const claimable = await database.query<{ sku: string; units: number }>(
    'SELECT sku, sum(units)::float8 AS units FROM warehouse.claims WHERE seller_id = $1 GROUP BY sku',
    sellerId,
  )
  return {
    open: open.map(buildName),
    misvalued: open.filter((one) => one.value !== worth(one)).map((one) => `${buildName(one)}: ${one.value}, not ${worth(one)}`),
    settled: found.filter(({ state }) => state === 'resolved').map(({ month, sku, kind }) => `${month} ${sku} ${kind}`),
    before: before.map(({ month, sku, kind }) => `${month} ${sku} ${kind}`),
    unexplained: new Map(claims.map(([month, claim]) => [month, claim?.unexplained.units ?? 0])),
    unexplainedValue: new Map(claims.map(([month, claim]) => [month, claim?.unexplained.values[0]?.amount ?? '0.00'])),
    claimable: new Map(claimable.map(({ sku, units }) => [sku, units])),
    claimableValue: (
      claims.reduce((sum, [, claim]) => sum + Math.round(100 * Number(claim?.net.values[0]?.amount ?? 0)), 0) / 100
    ).toFixed(2),
  }
}

/** What a world shows and was not found, or was found and it does not show; empty when all is as it should be. */
export const listFaults = ({ months, items }: World, played: Played): readonly string[] => {
  const claimable = items.map((item) => ({ item, units: countClaimable(item, months) }))
  const worth = (claimable.reduce((sum, { item, units }) => sum + units * item.priceCents, 0) / 100).toFixed(2)
  const deedByKey = new Map(items.map(({ sku, deed }) => [sku, deed]))
  const told = (name: string): string => `${name} (${deedByKey.get(name.split(' ')[1] ?? '') ?? 'nobody'})`
  const expected = items.flatMap(({ sku, differences }) =>
    differences.map((one) => `${one.month} ${sku} ${one.kind} ${one.report}/${one.expected}`),
  )
  const toSettle = items.flatMap(({ sku, settled }) => settled.map(({ month, kind }) => `${month} ${sku} ${kind}`))
  const [open, wanted, settled, before] = [played.open, expected, played.settled, played.before].map((names) => new Set(names))
  const cents = (month: string): number =>
    items.reduce((sum, { priceCents, unexplained }) => sum + priceCents * (unexplained.get(month) ?? 0), 0)
  return [
    ...expected.filter((name) => open?.has(name) !== true).map((name) => `not found: ${told(name)}`),
    ...played.open.filter((name) => wanted?.has(name) !== true).map((name) => `made up: ${told(name)}`),
    ...toSettle.filter((name) => before?.has(name) !== true).map((name) => `never found: ${told(name)}`),
    ...toSettle.filter((name) => settled?.has(name) !== true).map((name) => `not settled: ${told(name)}`),
    ...played.misvalued.map((text) => `wrong value: ${text}`),
    ...claimable.flatMap(({ item: { sku, deed }, units }) => {
      const claimed = played.claimable.get(sku) ?? 0
      return claimed === units ? [] : [`${sku} (${deed}): ${claimed} units can be claimed, not ${units}`]
    }),
    ...(played.claimableValue === worth ? [] : [`claims are worth ${played.claimableValue}, not ${worth}`]),
    ...months.flatMap((month) => {
      const units = items.reduce((sum, { unexplained }) => sum + (unexplained.get(month) ?? 0), 0)
      const value = (cents(month) / 100).toFixed(2)
      const [claimed, worth] = [played.unexplained.get(month), played.unexplainedValue.get(month)]
      return claimed === units && worth === value
        ? []
        : [`${month}: ${claimed} unexplained units worth ${worth} are claimed, not ${units} worth ${value}`]
    }),
  ]
}
