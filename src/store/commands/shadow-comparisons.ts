import { buildProof, parseBaseline } from '../../domain/commands/proof.ts'
import {
  type ComparedOrder,
  compareOrder,
  isSelected,
  openVerdicts,
  type Prediction,
  type ShadowSelection,
  type ShadowVerdict,
} from '../../domain/shadow/compare.ts'
import type { SqlRunner } from '../db/database.ts'
import type { ListPage } from '../db/page.ts'
import { readReturnedOfOrders } from '../orders/returns.ts'
import { readOrdersInRows } from '../orders/stored-orders.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { readContent } from './command-content.ts'

/** Which orders of sellers in shadow mode to compare; null: any. */
export interface ShadowFilter {
  readonly sellerId: SellerFilter
  readonly purchaseOrderId: string | null
  /** With a prediction at or after this time, or placed then. */
  readonly from: Date | null
}

/** Where a page of compared orders ends. */
export interface ShadowPlace {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** An order of a seller in shadow mode beside its predictions. */
export interface ShadowOrder extends ComparedOrder, ShadowPlace {
  /** When the order was last read; null: it is not stored. */
  readonly observedAt: Date | null
}

/** Number of orders by verdict. */
export type ShadowCounts = Readonly<Record<ShadowVerdict, number>>

/** Maximum number of orders that one statement finds; their comparison reads as many. */
const maxChunkSize = 500
/** Maximum number of orders that one page compares to find those with a verdict. */
const maxComparedOfPage = 5_000

interface Row extends ShadowPlace {
  readonly since: Date
  readonly now: Date
  readonly observedAt: Date | null
}

// The parts each read a range of an index from the place on: predictions, orders placed in shadow mode, and parcels shipped in it. Without the limit of
// each part a chunk would read all orders after it, and the comparison of a seller would take the square of its orders. OFFSET 0 forces one lookup for
// each order: a join would read the lines from the first order on.
const selectOrders = `
  SELECT s.seller_id AS "sellerId", k.id AS "purchaseOrderId", s.since, now() AS now, r.observed_at AS "observedAt"
  FROM (
    SELECT seller_id, mode_since AS since, CASE WHEN seller_id = $4 THEN $5 ELSE '' END AS place FROM tallyman.sellers
    WHERE mode = 'shadow' AND seller_id >= $4 AND ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) ORDER BY seller_id) s
  CROSS JOIN LATERAL (
    (SELECT DISTINCT c.purchase_order_id AS id FROM tallyman.commands c
    WHERE c.seller_id = s.seller_id AND c.purchase_order_id > s.place AND c.state = 'predicted'
      AND ($2::text IS NULL OR c.purchase_order_id = $2) AND ($3::timestamptz IS NULL OR c.created_at >= $3)
    ORDER BY c.purchase_order_id LIMIT $6)
    UNION
    (SELECT o.purchase_order_id FROM warehouse.orders o
    WHERE o.seller_id = s.seller_id AND o.purchase_order_id > s.place AND o.order_date >= greatest(s.since, $3)
      AND ($2::text IS NULL OR o.purchase_order_id = $2) AND EXISTS (
      SELECT 1 FROM warehouse.order_lines l WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id
        AND l.shipped + l.cancelled + l.refunded > 0 OFFSET 0)
    ORDER BY o.purchase_order_id LIMIT $6)
    UNION
    (SELECT DISTINCT p.purchase_order_id FROM warehouse.shipments p
    WHERE p.seller_id = s.seller_id AND p.purchase_order_id > s.place AND p.shipped_at >= greatest(s.since, $3)
      AND ($2::text IS NULL OR p.purchase_order_id = $2)
    ORDER BY p.purchase_order_id LIMIT $6)
    ORDER BY id LIMIT $6) k
  LEFT JOIN warehouse.orders r ON r.seller_id = s.seller_id AND r.purchase_order_id = k.id
  ORDER BY s.seller_id, k.id LIMIT $6::int`

interface PredictedRow {
  readonly place: number
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly payload: unknown
  readonly parts: unknown
  readonly predictedAt: Date | null
  readonly baseline: unknown
}

// OFFSET 0 forces one lookup for each order, regardless of statistics.
const selectPredictions = `
  SELECT k.place::int AS place, c.id, c.kind, c.state, c.payload, c.parts, a.started_at AS "predictedAt", a.baseline
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
  CROSS JOIN LATERAL (SELECT * FROM tallyman.commands c
    WHERE c.seller_id = k.seller_id AND c.purchase_order_id = k.purchase_order_id AND c.state IN ('predicted', 'confirmed') OFFSET 0) c
  LEFT JOIN LATERAL (SELECT t.started_at, t.baseline FROM tallyman.command_attempts t
    WHERE t.command_id = c.id AND t.outcome = 'predicted' ORDER BY t.attempt DESC LIMIT 1) a ON c.state = 'predicted'
  ORDER BY k.place, c.sequence`

/** The predictions of an order, and the tracking numbers that our commands have sent. */
const readCommands = async (sql: SqlRunner, sellerId: string, rows: readonly PredictedRow[]) => {
  const { statuses } = sql.findVocabulary(sellerId)
  const predictions: Prediction[] = []
  const ownNumbers = new Set<string>()
  for (const row of rows) {
    const { content } = await readContent(sql, row)
    if (content.kind === 'create-shipping-settings') continue
    if (row.state === 'predicted' && row.predictedAt !== null) {
      const before = row.baseline === null ? null : parseBaseline(statuses, row.baseline, buildProof(statuses, []))
      predictions.push({ commandId: row.id, predictedAt: row.predictedAt, content, before })
    } else if (content.kind === 'ship') for (const { trackingNumber } of content.payload.parcels) ownNumbers.add(trackingNumber)
    else if (content.kind === 'correct-shipment') ownNumbers.add(content.payload.replacement.trackingNumber)
  }
  return { predictions, ownNumbers }
}

const compareRows = async (sql: SqlRunner, rows: readonly Row[]): Promise<readonly ShadowOrder[]> => {
  const found = await sql.query<PredictedRow>(
    selectPredictions,
    rows.map(({ sellerId }) => sellerId),
    rows.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const byPlace = Map.groupBy(found, ({ place }) => place)
  const returned = await readReturnedOfOrders(sql, rows)
  const orders = await readOrdersInRows(sql, rows)
  const compared: ShadowOrder[] = []
  for (const [index, { sellerId, purchaseOrderId, since, now, observedAt }] of rows.entries()) {
    const commands = await readCommands(sql, sellerId, byPlace.get(index + 1) ?? [])
    const order = orders[index]?.value ?? null
    const comparison = compareOrder({ order, since, returned: returned[index] ?? [], ...commands }, now)
    // An older order may be found by a parcel of ours.
    if (comparison.commands.length + comparison.unpredicted.length > 0)
      compared.push({ sellerId, purchaseOrderId, observedAt, ...comparison })
  }
  return compared
}

/** The compared orders in chunks, sorted by seller and purchase order id; `place` is where each chunk ends. */
const compareAll = async function* (
  sql: SqlRunner,
  { sellerId, purchaseOrderId, from }: ShadowFilter,
  after: ShadowPlace | null,
  chunkSize: number,
) {
  let place = after ?? { sellerId: '', purchaseOrderId: '' }
  for (;;) {
    const rows = await sql.query<Row>(
      selectOrders,
      toSellerIds(sellerId),
      purchaseOrderId,
      from === null ? null : from.toISOString(),
      place.sellerId,
      place.purchaseOrderId,
      chunkSize,
    )
    const last = rows.at(-1)
    if (last === undefined) return
    place = { sellerId: last.sellerId, purchaseOrderId: last.purchaseOrderId }
    const isLast = rows.length < chunkSize
    yield { orders: await compareRows(sql, rows), count: rows.length, place, isLast }
    if (isLast) return
  }
}

/**
 * Orders of sellers in shadow mode beside their predictions, sorted by seller and purchase order id, after this place. A page may have fewer orders than
 * `limit`, or none, and a next page: it compares a limited number of orders.
 */
export const listShadowOrders = async (
  sql: SqlRunner,
  filter: ShadowFilter,
  selection: ShadowSelection,
  after: ShadowPlace | null,
  limit: number,
): Promise<ListPage<ShadowOrder, ShadowPlace>> => {
  const items: ShadowOrder[] = []
  let compared = 0
  const isAny = Object.values(selection).every((value) => value === null)
  // One order more than the page shows whether there is a next one.
  const chunkSize = isAny ? Math.min(limit + 1, maxChunkSize) : maxChunkSize
  for await (const { orders, count, place, isLast } of compareAll(sql, filter, after, chunkSize)) {
    for (const order of orders) {
      if (!isSelected(order, selection)) continue
      const last = items.at(-1)
      if (items.length === limit && last !== undefined)
        return { items, next: { sellerId: last.sellerId, purchaseOrderId: last.purchaseOrderId } }
      items.push(order)
    }
    compared += count
    if (!isLast && compared >= maxComparedOfPage) return { items, next: place }
  }
  return { items, next: null }
}

/** The compared orders by verdict. */
export interface ShadowSummary {
  readonly counts: ShadowCounts
  /** Whether every order was compared, not only the first ones. */
  readonly complete: boolean
  /** Predicted commands that the orders show completely. */
  readonly shown: ReadonlySet<string>
}

/** Counts orders by verdict; `maxCompared`: about how many are compared. */
export const summarizeShadow = async (sql: SqlRunner, filter: ShadowFilter, maxCompared: number): Promise<ShadowSummary> => {
  const counts = { difference: 0, missing: 0, unpredicted: 0, pending: 0, agreement: 0 } satisfies ShadowCounts
  const shown = new Set<string>()
  let compared = 0
  for await (const { orders, count, isLast } of compareAll(sql, filter, null, maxChunkSize)) {
    for (const { verdict, commands } of orders) {
      counts[verdict] += 1
      for (const command of commands) if (command.shown) shown.add(command.commandId)
    }
    compared += count
    if (!isLast && compared >= maxCompared) return { counts, complete: false, shown }
  }
  return { counts, complete: true, shown }
}

/** Orders that differ from their predictions. */
export const countDifferences = (counts: ShadowCounts): number => openVerdicts.reduce((sum, verdict) => sum + counts[verdict], 0)
