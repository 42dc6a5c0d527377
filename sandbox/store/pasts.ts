import type { Database } from '../core/database.ts'
import { dayMs } from '../core/duration.ts'
import type { RecordKind } from '../faults/schema.ts'

/** Maximum staleness of a read: older states are deleted. */
export const maxLagMs = dayMs
/** So many changes are let pass between two times of forgetting: each costs a search of the whole table. */
const forgetEvery = 512

const tables = {
  orders: { table: 'orders', state: 'states', name: 'purchase_order_id' },
  returns: { table: 'returns', state: 'state', name: 'return_order_id' },
} as const satisfies Record<RecordKind, unknown>

/** What orders and returns were before their last changes. */
export interface Pasts {
  /** Stores the current record before it is changed at `until`. */
  keep(kind: RecordKind, sellerId: string, id: string, until: number): void
}

export const createPasts = (database: Database): Pasts => {
  let kept = 0
  return {
    keep(kind, sellerId, id, until) {
      const { table, state, name } = tables[kind]
      database.run(
        `INSERT INTO pasts (kind, inner_id, until, modified_at, state, document)
         SELECT '${kind}', id, ?, modified_at, ${state}, document FROM ${table} WHERE seller_id = ? AND ${name} = ?`,
        until,
        sellerId,
        id,
      )
      kept += 1
      if (kept % forgetEvery === 0) database.run('DELETE FROM pasts WHERE until < ?', until - maxLagMs)
    },
  }
}

/**
 * A table of records as they were at a moment, to be selected from: the same columns, those of a record that has changed since as they
 * were. Takes the moment as its only parameter, in the place of the `?`. Records that came later are not left out.
 */
export const asOf = (kind: RecordKind, columns: readonly string[]): string => {
  const { table, state } = tables[kind]
  const past: Readonly<Record<string, string>> = { modified_at: 'modified_at', [state]: 'state', document: 'document' }
  const selected = columns.map((name) => {
    const before = past[name]
    return before === undefined ? `now.${name} AS ${name}` : `iif(past.id IS NULL, now.${name}, past.${before}) AS ${name}`
  })
  return `(SELECT ${selected.join(', ')} FROM ${table} now LEFT JOIN pasts past ON past.id =
    (SELECT id FROM pasts WHERE kind = '${kind}' AND inner_id = now.id AND until > ? ORDER BY until, id LIMIT 1))`
}
