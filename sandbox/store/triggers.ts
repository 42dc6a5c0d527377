import { type Database, toInteger, toText } from '../core/database.ts'
import type { DueEvent } from './due-events.ts'

/** Right before the operation takes effect, or right after it did and before its answer goes out. */
export type Side = 'before' | 'after'

/** A call that was let in. Calls of operations without an order in their path count for every order of the seller. */
export interface CallSeen {
  readonly sellerId: string
  readonly purchaseOrderId: string | null
  readonly operation: string
}

/** What happens when an operation is called the n-th time from now on. */
export interface TriggerStore {
  /** `call` counts from 1. */
  set(on: CallSeen & { readonly purchaseOrderId: string; readonly side: Side; readonly call: number }, event: DueEvent): void
  /** Counts a call and takes out the events that are its, in the order in which they were set. */
  take(call: CallSeen, side: Side): DueEvent[]
  total(): number
}

export const createTriggerStore = (database: Database): TriggerStore => {
  const total = (): number => {
    const row = database.get('SELECT count(*) AS total FROM triggers')
    return row === undefined ? 0 : toInteger(row, 'total')
  }
  let waiting = total()
  return {
    total,
    set({ sellerId, purchaseOrderId, operation, side, call }, event) {
      database.run(
        'INSERT INTO triggers (seller_id, purchase_order_id, operation, side, calls_left, event) VALUES (?, ?, ?, ?, ?, ?)',
        sellerId,
        purchaseOrderId,
        operation,
        side,
        call,
        JSON.stringify(event),
      )
      waiting += 1
    },
    take({ sellerId, purchaseOrderId, operation }, side) {
      // Counted here, so that a sandbox without triggers asks its file nothing.
      if (waiting === 0) return []
      return database.transaction(() => {
        const meant = 'seller_id = ? AND operation = ? AND side = ? AND (? IS NULL OR purchase_order_id = ?)'
        const values = [sellerId, operation, side, purchaseOrderId, purchaseOrderId]
        database.run(`UPDATE triggers SET calls_left = calls_left - 1 WHERE ${meant}`, ...values)
        const due = database.all(`SELECT id, event FROM triggers WHERE calls_left <= 0 AND ${meant} ORDER BY id`, ...values)
        for (const row of due) database.run('DELETE FROM triggers WHERE id = ?', toInteger(row, 'id'))
        waiting = total()
        return due.map((row): DueEvent => JSON.parse(toText(row, 'event')))
      })
    },
  }
}
