import {
  type SettlementDifference,
  type SettlementDifferenceKind,
  type SettlementResolution,
  settleOrder,
  settleUnordered,
} from '../../domain/settlements/settlement-differences.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { markTable } from '../versioned/table-marks.ts'
import { endSettlementOrders, noOrder, takeSettlementOrders } from './settlement-orders.ts'
import { type OrderToSettle, readOrdersToSettle, readSettlementRules } from './settlement-sources.ts'

markTable('warehouse.settlement_differences', {
  none: `id seller_id kind difference_key purchase_order_id line_number sku report_date expected_amount paid_amount difference currency line_keys
    state resolution first_seen_at changed_at resolved_at`,
})
markTable('tallyman.settlement_orders', { none: 'seller_id purchase_order_id waiting noted_at' })
markTable('tallyman.settlement_periods', { none: 'seller_id due_from due_before checked_at' })

/** Orders that one transaction compares. */
export const settlementBatchSize = 2_000

interface Finding extends SettlementDifference {
  readonly key: string
  readonly purchaseOrderId: string | null
  readonly reportDate: string | null
  readonly currency: string | null
}

interface OpenRow {
  readonly id: bigint
  readonly kind: SettlementDifferenceKind
  readonly key: string
  readonly purchaseOrderId: string
  readonly lineNumber: string | null
  readonly sku: string | null
  readonly expected: string
  readonly paid: string
  readonly lineKeys: readonly string[]
}

const buildFinding = (order: OrderToSettle, difference: SettlementDifference): Finding => {
  const { kind, lineNumber, lineKeys } = difference
  const dates = new Map(order.rows.map(({ lineKey, reportDate }) => [lineKey, reportDate]))
  const reportDate = lineKeys.reduce<string | null>((newest, key) => {
    const date = dates.get(key) ?? null
    return date !== null && (newest === null || date > newest) ? date : newest
  }, null)
  // Each row of an unknown name is a difference.
  const key = kind === 'unknown-fee' ? lineKeys.join(' ') : JSON.stringify([order.purchaseOrderId, lineNumber])
  const purchaseOrderId = order.purchaseOrderId === noOrder ? null : order.purchaseOrderId
  return { ...difference, key, purchaseOrderId, reportDate, currency: order.currency }
}

const isStored = ({ purchaseOrderId, lines }: OrderToSettle): boolean => purchaseOrderId === noOrder || lines.length > 0

const readOpen = (tx: SqlRunner, sellerId: string, orders: readonly string[]): Promise<readonly OpenRow[]> =>
  tx.query<OpenRow>(
    `SELECT id, kind, difference_key AS key, coalesce(purchase_order_id, '') AS "purchaseOrderId", line_number AS "lineNumber", sku,
       expected_amount::text AS expected, paid_amount::text AS paid, line_keys AS "lineKeys"
     FROM warehouse.settlement_differences
     WHERE seller_id = $1 AND state = 'open' AND coalesce(purchase_order_id, '') = ANY ($2::text[])`,
    sellerId,
    orders,
  )

interface Written {
  readonly id: bigint
  readonly kind: SettlementDifferenceKind
  readonly key: string
  readonly difference: string
}

/** Returns the written rows; unchanged ones are left out. */
const writeOpen = (tx: SqlRunner, sellerId: string, findings: readonly Finding[]): Promise<readonly Written[]> =>
  tx.query<Written>(
    `INSERT INTO warehouse.settlement_differences AS d (seller_id, kind, difference_key, purchase_order_id, line_number, sku, report_date,
       expected_amount, paid_amount, currency, line_keys)
     SELECT $1, f.kind, f.key, f."purchaseOrderId", f."lineNumber", f.sku, f."reportDate", f.expected, f.paid, f.currency, f."lineKeys"
     FROM json_to_recordset($2::json) AS f(kind text, key text, "purchaseOrderId" text, "lineNumber" text, sku text, "reportDate" date,
       expected numeric, paid numeric, currency text, "lineKeys" text[])
     ORDER BY f.kind, f.key
     ON CONFLICT (seller_id, kind, difference_key) WHERE state = 'open' DO UPDATE SET line_number = excluded.line_number, sku = excluded.sku,
       report_date = excluded.report_date, expected_amount = excluded.expected_amount, paid_amount = excluded.paid_amount,
       currency = excluded.currency, line_keys = excluded.line_keys, changed_at = now()
       WHERE (d.expected_amount, d.paid_amount, d.line_keys) IS DISTINCT FROM (excluded.expected_amount, excluded.paid_amount, excluded.line_keys)
     RETURNING d.id, d.kind, d.difference_key AS key, d.difference::text AS difference`,
    sellerId,
    JSON.stringify(findings),
  )

const buildKey = ({ kind, key }: { readonly kind: SettlementDifferenceKind; readonly key: string }): string => `${kind} ${key}`

const writeFindings = async (
  tx: Transaction,
  sellerId: string,
  findings: readonly Finding[],
  open: ReadonlySet<string>,
): Promise<void> => {
  if (findings.length === 0) return
  const byKey = new Map(findings.map((finding) => [buildKey(finding), finding]))
  for (const written of await writeOpen(tx, sellerId, findings)) {
    const finding = byKey.get(buildKey(written))
    if (finding === undefined) throw new Error('a settlement difference was written that was not found')
    const { kind, purchaseOrderId, lineNumber, sku, expected, paid, currency, lineKeys } = finding
    tx.record({
      sellerId,
      type: open.has(buildKey(written)) ? 'settlement_difference.changed' : 'settlement_difference.found',
      purchaseOrderId: purchaseOrderId ?? undefined,
      lineNumber: lineNumber ?? undefined,
      data: { id: String(written.id), kind, sku, expected, paid, difference: written.difference, currency, lineKeys },
    })
  }
}

const resolve = async (
  tx: Transaction,
  sellerId: string,
  resolved: readonly { readonly row: OpenRow; readonly resolution: SettlementResolution }[],
): Promise<void> => {
  if (resolved.length === 0) return
  await tx.execute(
    `UPDATE warehouse.settlement_differences AS d SET state = 'resolved', resolution = t.resolution, resolved_at = now(), changed_at = now()
     FROM json_to_recordset($1::json) AS t(id bigint, resolution text) WHERE d.id = t.id`,
    JSON.stringify(resolved.map(({ row, resolution }) => ({ id: String(row.id), resolution }))),
  )
  for (const { row, resolution } of resolved) {
    const { id, kind, purchaseOrderId, lineNumber, sku } = row
    tx.record({
      sellerId,
      type: 'settlement_difference.resolved',
      purchaseOrderId: purchaseOrderId === noOrder ? undefined : purchaseOrderId,
      lineNumber: lineNumber ?? undefined,
      data: { id: String(id), kind, sku, resolution },
    })
  }
}

/**
 * Compares noted orders of a seller with the rows of all reports, at most {@link settlementBatchSize}, and writes differences that are new, changed or
 * resolved. Returns the number of orders. Their rows of `tallyman.settlement_orders` are locked; an order that is not stored waits until it is.
 */
export const reviewSettlements = async (tx: Transaction, sellerId: string): Promise<number> => {
  const taken = await takeSettlementOrders(tx, sellerId, settlementBatchSize)
  if (taken.length === 0) return 0
  const orders = await readOrdersToSettle(tx, sellerId, taken)
  const stored = orders.filter(isStored)
  const rules = await readSettlementRules(tx, sellerId, stored)
  const findings = stored.flatMap((order) => {
    const differences =
      order.purchaseOrderId === noOrder
        ? settleUnordered(order.rows)
        : settleOrder(order.lines, order.rows, rules).flatMap((line) => line.differences)
    return differences.map((difference) => buildFinding(order, difference))
  })
  const open = await readOpen(tx, sellerId, taken)
  await writeFindings(tx, sellerId, findings, new Set(open.map(buildKey)))
  const found = new Set(findings.map(buildKey))
  const storedIds = new Set(stored.map(({ purchaseOrderId }) => purchaseOrderId))
  await resolve(
    tx,
    sellerId,
    open
      .filter((row) => !found.has(buildKey(row)))
      .map((row) => ({ row, resolution: storedIds.has(row.purchaseOrderId) ? 'settled' : 'withdrawn' })),
  )
  await endSettlementOrders(
    tx,
    sellerId,
    [...storedIds],
    taken.filter((id) => !storedIds.has(id)),
  )
  return taken.length
}
