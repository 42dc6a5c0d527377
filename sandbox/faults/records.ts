import type { VirtualClock } from '../core/clock.ts'
import { type Database, toInteger, toText } from '../core/database.ts'
import type { Meta } from '../core/meta.ts'
import { createRandom } from '../core/random.ts'
import { faultsSchema, type HiddenRule, type RecordKind, recordKinds } from './schema.ts'

interface Named {
  readonly records: RecordKind
  readonly ids?: readonly string[] | undefined
  readonly share?: number | undefined
  readonly sellerId?: string | undefined
}

/** One record, as rules about records know it. */
export interface RecordName {
  readonly records: RecordKind
  readonly sellerId: string
  readonly id: string
}

/**
 * The first rule that means this record. Rules by share take disjoint parts of all records, one after the other: which part a record
 * falls into depends on the seed, `what` and its id alone.
 */
export const findRule = <T extends Named>(
  rules: readonly T[],
  record: RecordName,
  what: string,
  seed: string | number,
): T | null => {
  let draw = createRandom(what, seed, record.records, record.sellerId, record.id).next()
  for (const rule of rules) {
    if (rule.records !== record.records) continue
    const ofSeller = rule.sellerId === undefined || rule.sellerId === record.sellerId
    if (rule.ids?.includes(record.id) === true && ofSeller) return rule
    if (rule.share === undefined) continue
    if (draw >= 0 && draw < rule.share) return ofSeller ? rule : null
    draw -= rule.share
  }
  return null
}

/** For ever, as far as the virtual clock can go. */
const never = Number.MAX_SAFE_INTEGER

/** Which records no list shows, and until when. Everything else knows them. */
export interface Hiding {
  /** Takes the rules of the faults as they are now kept, for all records that are there and those to come. */
  follow(): void
  /** A record has come, under this inner number. */
  came(name: RecordName, innerId: number): void
  /** Whether any record is hidden: a list that hides nothing must cost nothing. */
  any(kind: RecordKind): boolean
}

const atOnce = 10_000
const tables = {
  orders: { table: 'orders', id: 'purchase_order_id' },
  returns: { table: 'returns', id: 'return_order_id' },
} as const satisfies Record<RecordKind, unknown>

/** The condition that leaves hidden records out; its parameter is the moment of looking. */
export const notHidden = (kind: RecordKind): string =>
  `id NOT IN (SELECT inner_id FROM hidden_records WHERE kind = '${kind}' AND until > ?)`

/** Records that are hidden lie in a table of their own, by the inner number of orders and returns. */
export const createHiding = (meta: Meta, database: Database, clock: VirtualClock): Hiding => {
  const read = (): { rules: readonly HiddenRule[]; seed: string | number } => {
    const { hidden, seed } = meta.read('faults', faultsSchema)
    return { rules: hidden, seed }
  }
  let kept = read()
  const came = (name: RecordName, innerId: number): void => {
    const rule = kept.rules.length === 0 ? null : findRule(kept.rules, name, 'hidden', kept.seed)
    if (rule === null) return
    database.run(
      'INSERT OR REPLACE INTO hidden_records (kind, inner_id, until) VALUES (?, ?, ?)',
      name.records,
      innerId,
      rule.forMs === undefined ? never : clock.now() + rule.forMs,
    )
  }
  return {
    came,
    follow() {
      kept = read()
      database.transaction(() => {
        database.run('DELETE FROM hidden_records')
        if (kept.rules.length === 0) return
        for (const records of recordKinds) {
          const { table, id } = tables[records]
          const page = `SELECT id, seller_id, ${id} AS name FROM ${table} WHERE id > ? ORDER BY id LIMIT ${atOnce}`
          for (let last = 0, rows = database.all(page, last); rows.length > 0; rows = database.all(page, last)) {
            for (const row of rows) {
              last = toInteger(row, 'id')
              came({ records, sellerId: toText(row, 'seller_id'), id: toText(row, 'name') }, last)
            }
          }
        }
      })
    },
    any: (kind) => kept.rules.some((rule) => rule.records === kind),
  }
}
