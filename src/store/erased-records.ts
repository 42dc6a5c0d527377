import type { PurchaseOrder } from '../domain/order.ts'
import { erasedRawText, redactOrder, redactReturn } from '../domain/redaction.ts'
import type { ReturnOrder } from '../domain/return.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { prepared } from './prepared.ts'
import type { StorableRecord } from './versions.ts'

/** Resources whose records name buyers, as a list of SQL. */
export const resourcesWithBuyers = `'orders', 'returns'`

/** Key of the advisory lock between whoever stores records that no row lock stands for yet (shared) and an erasure (alone). */
const erasureLock = 7_255_312

/**
 * Holds erasures of a seller's buyers back until the transaction ends: whoever stores a record that is not stored yet takes this before it
 * looks for {@link withoutErased}. Take it before any row lock.
 */
export const holdErasuresBack = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${erasureLock}, hashtext($1))::text AS held`, sellerId)
}

/** Waits for all that {@link holdErasuresBack} holds, and keeps others from it until the transaction ends. */
export const eraseAlone = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.query(`SELECT pg_advisory_xact_lock(${erasureLock}, hashtext($1))::text AS held`, sellerId)
}

/** What a number in `tallyman.erased_records` names. */
export type ErasedKind = 'customer-order' | 'purchase-order' | 'return'

const selectErased = prepared(
  `SELECT e.kind || ' ' || e.record_id AS name FROM tallyman.erased_records e
   WHERE e.seller_id = $1 AND (e.kind, e.record_id) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
)

const erasedAmong = async (
  sql: SqlRunner,
  sellerId: string,
  records: readonly (readonly [kind: ErasedKind, recordId: string])[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ name: string }>(
    selectErased,
    sellerId,
    records.map(([kind]) => kind),
    records.map(([, recordId]) => recordId),
  )
  return new Set(rows.map(({ name }) => name))
}

const named = (kind: ErasedKind, recordId: string | null): (readonly [ErasedKind, string])[] =>
  recordId === null ? [] : [[kind, recordId]]

const withoutErased = async <Value, Stored extends StorableRecord<Value>>(
  tx: Transaction,
  sellerId: string,
  records: readonly Stored[],
  namesOf: (value: Value) => readonly (readonly [ErasedKind, string])[],
  redact: (value: Value) => Value,
): Promise<readonly Stored[]> => {
  const names = records.map((record) => namesOf(record.value))
  const erased = await erasedAmong(tx, sellerId, names.flat())
  if (erased.size === 0) return records
  return records.map((record, at) =>
    names[at]?.some(([kind, recordId]) => erased.has(`${kind} ${recordId}`))
      ? { ...record, value: redact(record.value), rawText: erasedRawText }
      : record,
  )
}

/**
 * The records as they may be stored: those whose buyer was erased without him. Their hash stays that of the text as it came, so that the same
 * text again is no change. Ask under the locks of the rows.
 */
export const withoutErasedOrders = <Stored extends StorableRecord<PurchaseOrder>>(
  tx: Transaction,
  sellerId: string,
  records: readonly Stored[],
): Promise<readonly Stored[]> =>
  withoutErased<PurchaseOrder, Stored>(
    tx,
    sellerId,
    records,
    (order) => [...named('purchase-order', order.purchaseOrderId), ...named('customer-order', order.customerOrderId)],
    redactOrder,
  )

/** As {@link withoutErasedOrders}, for returns. */
export const withoutErasedReturns = <Stored extends StorableRecord<ReturnOrder>>(
  tx: Transaction,
  sellerId: string,
  records: readonly Stored[],
): Promise<readonly Stored[]> =>
  withoutErased<ReturnOrder, Stored>(
    tx,
    sellerId,
    records,
    (order) => [
      ...named('return', order.returnOrderId),
      ...named('customer-order', order.customerOrderId),
      ...order.lines.flatMap((line) => named('purchase-order', line.purchaseOrderId)),
    ],
    redactReturn,
  )

// Letters beyond ASCII must not be escaped: Postgres would take them for the name of a class.
const literally = (text: string): string => `regexp_replace(${text}, '([\\[\\]\\\\.^$*+?(){}|])', '\\\\\\1', 'g')`

/** A condition of SQL: this text names the number (or holds the words) as a whole, so that `12` is not found in `123`. */
export const namesNumber = (text: string, number: string): string =>
  `${text} ~ ('(^|[^A-Za-z0-9])' || ${literally(number)} || '([^A-Za-z0-9]|$)')`

/** A condition of SQL: the record of this seller, key and text is one whose buyer was erased. */
export const namesErased = (sellerId: string, recordKey: string, text: string): string =>
  `EXISTS (SELECT FROM tallyman.erased_records e WHERE e.seller_id = ${sellerId}
     AND (e.record_id = ${recordKey} OR (position(e.record_id IN ${text}) > 0 AND ${namesNumber(text, 'e.record_id')})))`
