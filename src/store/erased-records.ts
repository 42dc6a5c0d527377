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
  `SELECT e.kind || ' ' || e.record_id AS name, e.seller_id FROM tallyman.erased_records e
   WHERE e.seller_id = $1 AND (e.kind, e.record_id) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
)

// OFFSET 0: one lookup for each, whatever the statistics say.
const selectErasedOfSellers = prepared(
  `SELECT e.kind || ' ' || e.record_id AS name, e.seller_id FROM unnest($1::text[], $2::text[], $3::text[]) AS k(seller_id, kind, record_id)
   CROSS JOIN LATERAL (SELECT * FROM tallyman.erased_records e
     WHERE e.seller_id = k.seller_id AND e.kind = k.kind AND e.record_id = k.record_id OFFSET 0) e`,
)

/** A number that names a record of a seller. */
type Name = readonly [sellerId: string, kind: ErasedKind, recordId: string]

const nameOf = (sellerId: string, name: string): string => JSON.stringify([sellerId, name])

const erasedAmong = async (sql: SqlRunner, names: readonly Name[]): Promise<ReadonlySet<string>> => {
  const sellerIds = names.map(([sellerId]) => sellerId)
  const [only = '', ...others] = new Set(sellerIds)
  const rows = await sql.query<{ name: string; seller_id: string }>(
    others.length === 0 ? selectErased : selectErasedOfSellers,
    others.length === 0 ? only : sellerIds,
    names.map(([, kind]) => kind),
    names.map(([, , recordId]) => recordId),
  )
  return new Set(rows.map((row) => nameOf(row.seller_id, row.name)))
}

const named = (kind: ErasedKind, recordId: string | null): (readonly [ErasedKind, string])[] =>
  recordId === null ? [] : [[kind, recordId]]

/** Of which seller a record is. */
type SellerOf<Stored> = (record: Stored) => string

const withoutErased = async <Value, Stored extends StorableRecord<Value>>(
  tx: Transaction,
  sellerOf: SellerOf<Stored>,
  records: readonly Stored[],
  namesOf: (value: Value) => readonly (readonly [ErasedKind, string])[],
  redact: (value: Value) => Value,
): Promise<readonly Stored[]> => {
  const names = records.map((record) => namesOf(record.value).map((name): Name => [sellerOf(record), ...name]))
  const erased = await erasedAmong(tx, names.flat())
  if (erased.size === 0) return records
  return records.map((record, at) =>
    names[at]?.some(([sellerId, kind, recordId]) => erased.has(nameOf(sellerId, `${kind} ${recordId}`)))
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
  sellerOf: SellerOf<Stored>,
  records: readonly Stored[],
): Promise<readonly Stored[]> =>
  withoutErased<PurchaseOrder, Stored>(
    tx,
    sellerOf,
    records,
    (order) => [...named('purchase-order', order.purchaseOrderId), ...named('customer-order', order.customerOrderId)],
    redactOrder,
  )

/** As {@link withoutErasedOrders}, for returns. */
export const withoutErasedReturns = <Stored extends StorableRecord<ReturnOrder>>(
  tx: Transaction,
  sellerOf: SellerOf<Stored>,
  records: readonly Stored[],
): Promise<readonly Stored[]> =>
  withoutErased<ReturnOrder, Stored>(
    tx,
    sellerOf,
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
