import {
  findRefundDue,
  type LateReturn,
  type LateReturnLine,
  maxLateMs,
  type RefundDue,
  type ReturnedStatus,
  refundSoonMs,
} from '../../domain/orders/late-returns.ts'
import { listReturnedLedgers, type ReturnedLine } from '../../domain/orders/returned-units.ts'
import type { ReturnWords } from '../../domain/values/vocabulary.ts'
import { readWorkOfOrders } from '../commands/command-ledgers.ts'
import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { readReturnedOfOrders } from './returns.ts'

/** A seller whose marketplace sets a deadline for refunds. */
export interface ReturnRules {
  readonly sellerId: string
  /** The marketplace's time; null: the database's time. */
  readonly now: Date | null
  readonly words: ReturnWords
  /** Node type of orders that the marketplace fulfils; it refunds their returns. */
  readonly fulfilledByMarketplace: string
}

/**
 * The rules of those of these sellers whose marketplace sets a deadline for refunds. Only a process that has a seller in its settings knows its marketplace.
 *
 * @param times the marketplace's time by seller, of all sellers of this process
 */
export const listReturnRules = (
  { findVocabulary }: Pick<SqlRunner, 'findVocabulary'>,
  times: ReadonlyMap<string, Date | null>,
  filter: SellerFilter,
): readonly ReturnRules[] => {
  const only = toSellerIds(filter)
  return [...times].flatMap(([sellerId, now]) => {
    const { returns: words, shipNodes } = findVocabulary(sellerId)
    if (words === null || only?.includes(sellerId) === false) return []
    return [{ sellerId, now, words, fulfilledByMarketplace: shipNodes.marketplace }]
  })
}

interface Row {
  readonly sellerId: string
  readonly now: Date
  readonly returnOrderId: string
  readonly customerOrderId: string | null
  readonly returnLineNumber: number
  readonly purchaseOrderId: string | null
  readonly lineNumber: string | null
  readonly sku: string | null
  readonly quantity: number
  readonly refunded: number | null
  readonly exceptionItemType: string | null
  readonly since: Date
  readonly status: string | null
  readonly storedAt: Date
  readonly leftInOrder: number | null
  readonly statuses:
    | readonly (Omit<ReturnedStatus, 'at'> & {
        /** ISO 8601. */
        readonly at: string | null
      })[]
    | null
}

const seconds = (parameter: string): string => `make_interval(secs => ${parameter}::float8 / 1000)`

/** SQL: `time` is that of an arrival whose refund is late, or due soon. */
const isDue = (time: string): string =>
  `${time} > s.now - s.hours - ${seconds('$3')} AND ${time} <= s.now - s.hours + ${seconds('$2')}`

/**
 * Lines with arrived units that the marketplace does not show as refunded. Each of the three parts reads a range of an index of lines that are not refunded:
 * units with the time of their arrival; units without one, and lines without statuses, for which the time of storing counts. OFFSET 0
 * forces one lookup for each of them, regardless of statistics.
 */
const selectArrived = `
  WITH s AS MATERIALIZED (
    SELECT seller_id, coalesce(now, now()) AS now, make_interval(hours => hours) AS hours, arrived, marketplace
    FROM jsonb_to_recordset($1::jsonb) AS t(seller_id text, now timestamptz, hours int, arrived text[], marketplace text))
  SELECT s.seller_id AS "sellerId", s.now, l.return_order_id AS "returnOrderId", r.customer_order_id AS "customerOrderId",
    l.return_order_line_number AS "returnLineNumber", l.purchase_order_id AS "purchaseOrderId", l.purchase_order_line_number AS "lineNumber",
    l.sku, l.quantity, l.refunded_quantity AS refunded, l.exception_item_type AS "exceptionItemType",
    LEAST(r.first_seen_at, r.return_order_date) AS since, l.status, l.changed_at AS "storedAt", p.shipped - p.refunded AS "leftInOrder",
    (SELECT json_agg(json_build_object('status', t.status, 'currentRefundStatus', t.current_refund_status, 'quantity', t.quantity,
        'at', t.status_time) ORDER BY t.position)
      FROM warehouse.return_line_tracking_statuses t WHERE t.seller_id = l.seller_id AND t.return_order_id = l.return_order_id
        AND t.return_order_line_number = l.return_order_line_number) AS statuses
  FROM s CROSS JOIN LATERAL (
    SELECT t.return_order_id, t.return_order_line_number FROM warehouse.return_line_tracking_statuses t
    WHERE t.seller_id = s.seller_id AND t.refund_open AND upper(t.status) = ANY (s.arrived) AND ${isDue('t.status_time')}
    UNION
    SELECT t.return_order_id, t.return_order_line_number FROM warehouse.return_line_tracking_statuses t
    JOIN warehouse.return_lines u ON u.seller_id = t.seller_id AND u.return_order_id = t.return_order_id
      AND u.return_order_line_number = t.return_order_line_number
    WHERE t.seller_id = s.seller_id AND t.refund_open AND upper(t.status) = ANY (s.arrived) AND t.status_time IS NULL AND ${isDue('u.changed_at')}
    UNION
    SELECT u.return_order_id, u.return_order_line_number FROM warehouse.return_lines u
    WHERE u.seller_id = s.seller_id AND (u.refunded_quantity IS NULL OR u.refunded_quantity < u.quantity) AND upper(u.status) = ANY (s.arrived)
      AND ${isDue('u.changed_at')}
      AND NOT EXISTS (SELECT FROM warehouse.return_line_tracking_statuses t WHERE t.seller_id = u.seller_id
        AND t.return_order_id = u.return_order_id AND t.return_order_line_number = u.return_order_line_number)
    OFFSET 0) k
  CROSS JOIN LATERAL (SELECT * FROM warehouse.return_lines l WHERE l.seller_id = s.seller_id AND l.return_order_id = k.return_order_id
    AND l.return_order_line_number = k.return_order_line_number OFFSET 0) l
  CROSS JOIN LATERAL (SELECT * FROM warehouse.returns r WHERE r.seller_id = l.seller_id AND r.return_order_id = l.return_order_id OFFSET 0) r
  LEFT JOIN LATERAL (SELECT o.ship_node_type FROM warehouse.orders o
    WHERE o.seller_id = l.seller_id AND o.purchase_order_id = l.purchase_order_id OFFSET 0) o ON true
  LEFT JOIN LATERAL (SELECT p.shipped, p.refunded FROM warehouse.order_lines p WHERE p.seller_id = l.seller_id
    AND p.purchase_order_id = l.purchase_order_id AND p.line_number = l.purchase_order_line_number OFFSET 0) p ON true
  WHERE lower(o.ship_node_type) IS DISTINCT FROM lower(s.marketplace)`

/** The lines with their ledgers: units that our commands refund do not have to be refunded again. */
const withLedgers = async (sql: SqlRunner, rows: readonly Row[]) => {
  const buildOrderKey = ({ sellerId, purchaseOrderId }: Row): string => JSON.stringify([sellerId, purchaseOrderId])
  const orders = new Map(
    rows.flatMap((row) => {
      const { sellerId, purchaseOrderId } = row
      return purchaseOrderId === null ? [] : [[buildOrderKey(row), { sellerId, purchaseOrderId }] as const]
    }),
  )
  const keys = [...orders.values()]
  const returned = await readReturnedOfOrders(sql, keys)
  const work = await readWorkOfOrders(sql, keys)
  const ledgers = new Map(
    [...orders.keys()].map((key, index) => [key, listReturnedLedgers(returned[index] ?? [], work[index]?.ledgerCommands ?? [])]),
  )
  return rows.flatMap((row) => {
    const isSame = ({ returnOrderId, returnLineNumber }: ReturnedLine): boolean =>
      returnOrderId === row.returnOrderId && returnLineNumber === row.returnLineNumber
    const ofOrder = row.purchaseOrderId === null ? listReturnedLedgers([row], []) : ledgers.get(buildOrderKey(row))
    const ledger = ofOrder?.find(({ line }) => isSame(line))
    return ledger === undefined ? [] : [{ row, ledger }]
  })
}

const toLine = (row: Row, { units, arrivedAt, refundBy }: RefundDue): LateReturnLine => ({
  returnLineNumber: row.returnLineNumber,
  purchaseOrderId: row.purchaseOrderId,
  lineNumber: row.lineNumber,
  sku: row.sku,
  units,
  arrivedAt,
  refundBy,
  exceptionItemType: row.exceptionItemType,
})

type Place = Pick<LateReturn, 'refundBy' | 'sellerId' | 'returnOrderId'>

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Sorts by deadline, then by seller and id. */
const compare = (a: Place, b: Place): number =>
  a.refundBy.getTime() - b.refundBy.getTime() ||
  compareText(a.sellerId, b.sellerId) ||
  compareText(a.returnOrderId, b.returnOrderId)

/**
 * The returns of these sellers whose refund is late, or due soon, the earliest deadline first. Returns of goods that the marketplace fulfils are not listed,
 * nor those that are late for more than 30 days.
 */
export const readLateReturns = async (sql: SqlRunner, rules: readonly ReturnRules[]): Promise<readonly LateReturn[]> => {
  if (rules.length === 0) return []
  const rows = await sql.query<Row>(
    selectArrived,
    JSON.stringify(
      rules.map(({ sellerId, now, words, fulfilledByMarketplace }) => ({
        seller_id: sellerId,
        now,
        hours: words.refundWithinHours,
        arrived: words.arrived,
        marketplace: fulfilledByMarketplace,
      })),
    ),
    refundSoonMs,
    maxLateMs,
  )
  if (rows.length === 0) return []
  const wordsBySeller = new Map(rules.map(({ sellerId, words }) => [sellerId, words]))
  const found = new Map<string, LateReturn>()
  for (const { row, ledger } of await withLedgers(sql, rows)) {
    const words = wordsBySeller.get(row.sellerId)
    if (words === undefined) continue
    const { status, storedAt, leftInOrder, now, sellerId, returnOrderId } = row
    const statuses = (row.statuses ?? []).map((entry) => ({ ...entry, at: entry.at === null ? null : new Date(entry.at) }))
    const due = findRefundDue({ ledger, status, statuses, storedAt, leftInOrder }, words, now)
    if (due === null || due.state === 'in-time') continue
    const key = JSON.stringify([sellerId, returnOrderId])
    const known = found.get(key)
    const first = known === undefined || due.refundBy < known.refundBy ? { refundBy: due.refundBy, state: due.state } : known
    const lines = [...(known?.lines ?? []), toLine(row, due)].sort((a, b) => a.returnLineNumber - b.returnLineNumber)
    found.set(key, { sellerId, returnOrderId, refundBy: first.refundBy, state: first.state, lines })
  }
  return [...found.values()].sort(compare)
}

/** A position in the list of late returns. */
export interface LateReturnPlace {
  /** ISO 8601. */
  readonly refundBy: string
  readonly sellerId: string
  readonly returnOrderId: string
}

/** Which late returns to list; null: any. */
export interface LateReturnFilter {
  readonly state: LateReturn['state'] | null
  readonly returnOrderId: string | null
  /** A line belongs to this order. */
  readonly purchaseOrderId: string | null
  /** A line has this SKU. */
  readonly sku: string | null
}

/** The late returns of these sellers after a position. All of them are read for each page: there are few. */
export const listLateReturns = async (
  sql: SqlRunner,
  rules: readonly ReturnRules[],
  filter: LateReturnFilter,
  after: LateReturnPlace | null,
  limit: number,
): Promise<ListPage<LateReturn, LateReturnPlace>> => {
  const { state, returnOrderId, purchaseOrderId, sku } = filter
  const place = after === null ? null : { ...after, refundBy: new Date(after.refundBy) }
  const rows = (await readLateReturns(sql, rules)).filter(
    (found) =>
      (state === null || found.state === state) &&
      (returnOrderId === null || found.returnOrderId === returnOrderId) &&
      (purchaseOrderId === null || found.lines.some((line) => line.purchaseOrderId === purchaseOrderId)) &&
      (sku === null || found.lines.some((line) => line.sku === sku)) &&
      (place === null || compare(place, found) < 0),
  )
  return buildPage(rows.slice(0, limit + 1), limit, (found) => ({
    refundBy: found.refundBy.toISOString(),
    sellerId: found.sellerId,
    returnOrderId: found.returnOrderId,
  }))
}
