import type { Resolution } from '../../domain/inventory/discrepancy-resolution.ts'
import { buildBalance, type StockBalance, type StockCount } from '../../domain/inventory/stock-balance.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { selectLastUnitPrices } from '../orders/unit-price.ts'
import { markTable } from '../versioned/table-marks.ts'
import { hasUnreadEntry, logCovers, logKey, readMovements } from './discrepancy-sources.ts'

markTable('warehouse.stock_differences', {
  none: `id seller_id sku gtin counted_units balance_units difference as_of opening_units opening_at unit_price value currency state resolution
    first_seen_at changed_at resolved_at`,
})

/** The newest reading of a SKU whose log has been read up to its time. */
interface Candidate extends StockCount {
  readonly sku: string
  readonly gtin: string | null
}

interface CandidateRow {
  readonly sku: string
  readonly gtin: string | null
  readonly countedUnits: number
  readonly asOf: Date
  /** Null: no report that the log follows without a gap, or its log has unreadable entries since. */
  readonly openingUnits: number | null
  readonly openingAt: Date | null
}

interface Balance extends StockBalance {
  readonly sku: string
  readonly gtin: string | null
}

interface OpenRow {
  readonly id: bigint
  readonly sku: string
  readonly gtin: string | null
  readonly difference: bigint
}

// A row of the month's report counts up to the end of its newest import, as in warehouse.reconciliation_current_rows. OFFSET 0 forces one lookup for each SKU.
const selectCandidates = `
  WITH months AS MATERIALIZED (
    SELECT month, max(covered_until) AS covered_until FROM warehouse.reconciliation_reports
    WHERE seller_id = $1 AND state = 'imported' GROUP BY month
  )
  SELECT a.sku, s.gtin, c.units AS "countedUnits", c.read_at AS "asOf", o.units AS "openingUnits", o.at AS "openingAt"
  FROM json_to_recordset($2::json) AS a(sku text, "logKey" text)
  CROSS JOIN LATERAL (SELECT * FROM tallyman.inventory_skus WHERE seller_id = $1 AND sku = a.sku OFFSET 0) s
  CROSS JOIN LATERAL (
    SELECT units, read_at FROM tallyman.stock_readings
    WHERE seller_id = $1 AND sku = a.sku AND read_at <= s.log_read_up_to ORDER BY read_at DESC LIMIT 1
  ) c
  LEFT JOIN LATERAL (
    SELECT r.ending_quantity AS units, n.covered_until AS at
    FROM warehouse.reconciliation_rows r
    JOIN warehouse.reconciliation_reports own ON own.id = r.report_id
    LEFT JOIN months m ON m.month = r.month
    CROSS JOIN LATERAL (SELECT greatest(own.covered_until, m.covered_until) AS covered_until) n
    WHERE r.seller_id = $1 AND r.sku = a.sku AND r.missing_since IS NULL AND n.covered_until <= c.read_at
      AND ${logCovers('s', 'n.covered_until', 'c.read_at')}
      AND NOT EXISTS (SELECT 1 FROM tallyman.unread_report_skus u WHERE u.seller_id = $1 AND u.month = r.month AND u.sku = a.sku)
    ORDER BY r.month DESC LIMIT 1
  ) o ON NOT ${hasUnreadEntry('a."logKey"', 'o.at', 'c.read_at')}`

const isComparable = (row: CandidateRow): row is Candidate & CandidateRow => row.openingUnits !== null && row.openingAt !== null

const readBalances = async (tx: SqlRunner, sellerId: string, candidates: readonly Candidate[]): Promise<readonly Balance[]> => {
  const movements = await readMovements(
    tx,
    sellerId,
    candidates.map(({ sku, openingAt, asOf }) => ({ sku, from: openingAt, to: asOf })),
  )
  return candidates.map((candidate, at) => ({ ...candidate, ...buildBalance(candidate, movements[at] ?? []) }))
}

const readOpen = (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<readonly OpenRow[]> =>
  tx.query<OpenRow>(
    `SELECT id, sku, gtin, difference FROM warehouse.stock_differences WHERE seller_id = $1 AND sku = ANY ($2::text[]) AND state = 'open'`,
    sellerId,
    skus,
  )

interface Written {
  readonly id: bigint
  readonly sku: string
  readonly value: string | null
  readonly currency: string | null
}

/** Returns the written rows; unchanged ones are left out. */
const writeOpen = (tx: SqlRunner, sellerId: string, balances: readonly Balance[]): Promise<readonly Written[]> =>
  tx.query<Written>(
    `WITH found AS MATERIALIZED (
       SELECT * FROM json_to_recordset($2::json) AS t(sku text, gtin text, "countedUnits" bigint, "balanceUnits" bigint, "asOf" timestamptz,
         "openingUnits" bigint, "openingAt" timestamptz)
     ), price AS MATERIALIZED (${selectLastUnitPrices('(SELECT $1::text AS seller_id, sku FROM found)', '$3')})
     INSERT INTO warehouse.stock_differences AS d (seller_id, sku, gtin, counted_units, balance_units, as_of, opening_units, opening_at, unit_price,
       value, currency)
     SELECT $1, f.sku, f.gtin, f."countedUnits", f."balanceUnits", f."asOf", f."openingUnits", f."openingAt", round(p.amount / p.units, 4),
       round(abs(f."countedUnits" - f."balanceUnits") * p.amount / p.units, 2), p.currency
     FROM found f LEFT JOIN price p ON p.sku = f.sku ORDER BY f.sku
     ON CONFLICT (seller_id, sku) WHERE state = 'open' DO UPDATE SET gtin = excluded.gtin, counted_units = excluded.counted_units,
       balance_units = excluded.balance_units, as_of = excluded.as_of, opening_units = excluded.opening_units, opening_at = excluded.opening_at,
       unit_price = excluded.unit_price, value = excluded.value, currency = excluded.currency, changed_at = now()
       WHERE (d.gtin, d.counted_units, d.balance_units, d.as_of, d.opening_units, d.opening_at)
           IS DISTINCT FROM (excluded.gtin, excluded.counted_units, excluded.balance_units, excluded.as_of, excluded.opening_units, excluded.opening_at)
         OR (d.value IS NULL AND excluded.value IS NOT NULL)
     RETURNING d.id, d.sku, d.value::text AS value, d.currency`,
    sellerId,
    JSON.stringify(balances),
    tx.findVocabulary(sellerId).productCharge,
  )

/** An open difference that no longer holds, and why. */
interface Resolved {
  readonly open: OpenRow
  readonly resolution: Resolution
}

const resolve = async (tx: Transaction, sellerId: string, resolved: readonly Resolved[]): Promise<void> => {
  if (resolved.length === 0) return
  await tx.execute(
    `UPDATE warehouse.stock_differences AS d SET state = 'resolved', resolution = t.resolution, resolved_at = now(), changed_at = now()
     FROM json_to_recordset($1::json) AS t(id bigint, resolution text) WHERE d.id = t.id`,
    JSON.stringify(resolved.map(({ open, resolution }) => ({ id: String(open.id), resolution }))),
  )
  for (const { open, resolution } of resolved) {
    const { id, sku, gtin } = open
    tx.record({ sellerId, type: 'stock_difference.resolved', data: { id: String(id), sku, gtin, resolution } })
  }
}

/** Writes differences, and records those that are new or whose number of units changed. */
const writeDifferences = async (
  tx: Transaction,
  sellerId: string,
  balances: readonly Balance[],
  openBySku: ReadonlyMap<string, OpenRow>,
): Promise<void> => {
  if (balances.length === 0) return
  const balanceBySku = new Map(balances.map((balance) => [balance.sku, balance]))
  for (const { id, sku, value, currency } of await writeOpen(tx, sellerId, balances)) {
    const balance = balanceBySku.get(sku)
    if (balance === undefined) throw new Error('a stock difference was written that was not found')
    const { gtin, countedUnits, balanceUnits, difference, asOf, openingUnits, openingAt } = balance
    const open = openBySku.get(sku)
    if (open !== undefined && Number(open.difference) === difference) continue
    tx.record({
      sellerId,
      type: open === undefined ? 'stock_difference.found' : 'stock_difference.changed',
      data: {
        ...{ id: String(id), sku, gtin, countedUnits, balanceUnits, difference, asOf: asOf.toISOString() },
        ...{ openingUnits, openingAt: openingAt.toISOString(), value, currency },
      },
    })
  }
}

/** The lock of a seller's discrepancies, which are reviewed one after another. */
const lockDiscrepancies = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.execute(`SELECT pg_advisory_xact_lock(hashtextextended('tallyman.discrepancies ' || $1, 0))`, sellerId)
}

/**
 * Compares the stock on hand of these SKUs with the balance of their inventory logs at the same time, and writes differences that are new, changed or
 * resolved. The compared reading is the newest one whose time the log has been read up to; older ones are removed. The balance begins with the newest monthly
 * report before that time; without one, or if the log has unreadable entries since, the SKU is not compared and its difference is withdrawn. The number of
 * statements does not depend on the number of SKUs. Locks the discrepancies of the seller.
 */
export const reviewStock = async (tx: Transaction, sellerId: string, skus: readonly string[]): Promise<void> => {
  if (skus.length === 0) return
  const wanted = JSON.stringify([...new Set(skus)].map((sku) => ({ sku, logKey: logKey(sku) })))
  const [any] = await tx.query(
    `SELECT 1 FROM json_to_recordset($2::json) AS a(sku text)
     WHERE EXISTS (SELECT 1 FROM tallyman.stock_readings r WHERE r.seller_id = $1 AND r.sku = a.sku) LIMIT 1`,
    sellerId,
    wanted,
  )
  if (any === undefined) return
  await lockDiscrepancies(tx, sellerId)
  const rows = await tx.query<CandidateRow>(selectCandidates, sellerId, wanted)
  if (rows.length === 0) return
  const reviewed = rows.map(({ sku }) => sku)
  const balances = await readBalances(tx, sellerId, rows.filter(isComparable))
  const balanceBySku = new Map(balances.map((balance) => [balance.sku, balance]))
  const open = await readOpen(tx, sellerId, reviewed)
  const openBySku = new Map(open.map((row) => [row.sku, row]))
  await writeDifferences(
    tx,
    sellerId,
    balances.filter(({ difference }) => difference !== 0),
    openBySku,
  )
  const resolved = open.flatMap((row): readonly Resolved[] => {
    const balance = balanceBySku.get(row.sku)
    if (balance === undefined) return [{ open: row, resolution: 'withdrawn' }]
    return balance.difference === 0 ? [{ open: row, resolution: 'agrees' }] : []
  })
  await resolve(tx, sellerId, resolved)
  await tx.execute(
    `DELETE FROM tallyman.stock_readings r USING json_to_recordset($2::json) AS c(sku text, "asOf" timestamptz)
     WHERE r.seller_id = $1 AND r.sku = c.sku AND r.read_at < c."asOf"`,
    sellerId,
    JSON.stringify(rows.map(({ sku, asOf }) => ({ sku, asOf }))),
  )
}

/** Removes the readings of those of these SKUs that the marketplace no longer lists, and withdraws their differences. */
export const withdrawUnlistedStock = async (tx: Transaction, sellerId: string, skus: readonly string[]): Promise<void> => {
  const unlisted = await tx.query<{ sku: string }>(
    `SELECT sku FROM warehouse.stock_on_hand WHERE seller_id = $1 AND sku = ANY ($2::text[]) AND missing_since IS NOT NULL`,
    sellerId,
    skus,
  )
  if (unlisted.length === 0) return
  const gone = unlisted.map(({ sku }) => sku)
  await lockDiscrepancies(tx, sellerId)
  await tx.execute('DELETE FROM tallyman.stock_readings WHERE seller_id = $1 AND sku = ANY ($2::text[])', sellerId, gone)
  const open = await readOpen(tx, sellerId, gone)
  await resolve(
    tx,
    sellerId,
    open.map((row) => ({ open: row, resolution: 'withdrawn' })),
  )
}
