import { type Database, nullableText, nullableWhole, toInteger, toText } from '../core/database.ts'
import { type Cents, decimalText } from '../core/money.ts'
import type { Actor, EffectDraft, Order } from '../rules/model.ts'

/** A true effect on units, as returned by `GET /_sandbox/effects`. */
interface Effect {
  readonly id: number
  readonly at: string
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly kind: string
  readonly quantity: number
  readonly from: string | null
  readonly amount: string | null
  readonly currency: string | null
  readonly trackingNumber: string | null
  readonly by: string
  readonly correlationId: string | null
  readonly requestId: string | null
}

/** Totals of one line over all its effects. */
interface LineTotals {
  acknowledged: number
  shipped: number
  delivered: number
  cancelled: number
  refunded: number
  /** Units that had been acknowledged before they were cancelled. */
  cancelledAfterAcknowledged: number
  refundedAmount: Cents
}

interface EffectFilter {
  readonly after: number
  readonly limit: number
  readonly sellerId: string | null
  readonly purchaseOrderId: string | null
}

export interface EffectStore {
  append(order: Order, drafts: readonly EffectDraft[], at: number, actor: Actor): void
  /** Something that happened to no order: order and line are empty, the quantity is 0. */
  appendOther(sellerId: string, kind: 'shipping-settings-created', at: number, actor: Actor): void
  list(filter: EffectFilter): Effect[]
  totals(sellerId: string, purchaseOrderId: string): Map<string, LineTotals>
  last(): number
}

export const createEffectStore = (database: Database): EffectStore => ({
  append(order, drafts, at, actor) {
    for (const draft of drafts) {
      database.run(
        `INSERT INTO effects (at, seller_id, purchase_order_id, line_number, kind, quantity, from_state, amount, currency, tracking_number,
             actor, correlation_id, request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        at,
        order.sellerId,
        order.purchaseOrderId,
        draft.lineNumber,
        draft.kind,
        draft.quantity,
        draft.from,
        draft.amount ?? null,
        draft.currency ?? null,
        draft.trackingNumber ?? null,
        actor.by,
        actor.correlationId,
        actor.requestId,
      )
    }
  },
  appendOther(sellerId, kind, at, actor) {
    database.run(
      `INSERT INTO effects (at, seller_id, purchase_order_id, line_number, kind, quantity, actor, correlation_id, request_id)
         VALUES (?, ?, '', '', ?, 0, ?, ?, ?)`,
      at,
      sellerId,
      kind,
      actor.by,
      actor.correlationId,
      actor.requestId,
    )
  },
  list({ after, limit, sellerId, purchaseOrderId }) {
    const rows = database.all(
      `SELECT * FROM effects WHERE id > ? AND (? IS NULL OR seller_id = ?)${purchaseOrderId === null ? '' : ' AND purchase_order_id = ?'}
         ORDER BY id LIMIT ?`,
      after,
      sellerId,
      sellerId,
      ...(purchaseOrderId === null ? [] : [purchaseOrderId]),
      limit,
    )
    return rows.map((row) => {
      const amount = nullableWhole(row, 'amount')
      return {
        id: toInteger(row, 'id'),
        at: new Date(toInteger(row, 'at')).toISOString(),
        sellerId: toText(row, 'seller_id'),
        purchaseOrderId: toText(row, 'purchase_order_id'),
        lineNumber: toText(row, 'line_number'),
        kind: toText(row, 'kind'),
        quantity: toInteger(row, 'quantity'),
        from: nullableText(row, 'from_state'),
        amount: amount === null ? null : decimalText(amount),
        currency: nullableText(row, 'currency'),
        trackingNumber: nullableText(row, 'tracking_number'),
        by: toText(row, 'actor'),
        correlationId: nullableText(row, 'correlation_id'),
        requestId: nullableText(row, 'request_id'),
      }
    })
  },
  totals(sellerId, purchaseOrderId) {
    const totals = new Map<string, LineTotals>()
    const rows = database.all(
      `SELECT line_number,
           sum(CASE kind WHEN 'acknowledged' THEN quantity ELSE 0 END) AS acknowledged,
           sum(CASE kind WHEN 'shipped' THEN quantity ELSE 0 END) AS shipped,
           sum(CASE kind WHEN 'delivered' THEN quantity ELSE 0 END) AS delivered,
           sum(CASE kind WHEN 'cancelled' THEN quantity ELSE 0 END) AS cancelled,
           sum(CASE kind WHEN 'refunded' THEN quantity ELSE 0 END) AS refunded,
           sum(CASE WHEN kind = 'cancelled' AND from_state = 'Acknowledged' THEN quantity ELSE 0 END) AS cancelled_after,
           sum(coalesce(amount, 0)) AS refunded_amount
         FROM effects WHERE seller_id = ? AND purchase_order_id = ? GROUP BY line_number`,
      sellerId,
      purchaseOrderId,
    )
    for (const row of rows) {
      totals.set(toText(row, 'line_number'), {
        acknowledged: toInteger(row, 'acknowledged'),
        shipped: toInteger(row, 'shipped'),
        delivered: toInteger(row, 'delivered'),
        cancelled: toInteger(row, 'cancelled'),
        refunded: toInteger(row, 'refunded'),
        cancelledAfterAcknowledged: toInteger(row, 'cancelled_after'),
        refundedAmount: toInteger(row, 'refunded_amount'),
      })
    }
    return totals
  },
  last() {
    const row = database.get('SELECT coalesce(max(id), 0) AS last FROM effects')
    return row === undefined ? 0 : toInteger(row, 'last')
  },
})
