import type { PurchaseOrder } from '../../domain/orders/order.ts'
import type { ReturnOrder } from '../../domain/orders/return.ts'
import { erasedRawText, redactOrder, redactReturn } from '../../domain/values/redaction.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import type { StorableRecord } from '../versioned/versions.ts'

/** SQL list of the resources whose records contain buyers' data. */
export const buyerResources = `'orders', 'returns'`

/** Key of the advisory lock between writers of new records, which have no row to lock (shared), and erasures (exclusive). */
const erasureLock = 7_255_312

/**
 * Blocks erasures of a seller's buyers until the transaction ends. A transaction that stores a new record acquires this lock before it calls
 * {@link withoutErased}, and before any row lock.
 */
export const blockErasures = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${erasureLock}, hashtext($1))::text AS held`, sellerId)
}

/** Waits for the transactions that hold the lock of {@link blockErasures}, and blocks new ones until this transaction ends. */
export const lockErasure = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.query(`SELECT pg_advisory_xact_lock(${erasureLock}, hashtext($1))::text AS held`, sellerId)
}

/** The kind of the record of an id in `tallyman.erased_records`. */
export type ErasedKind = 'customer-order' | 'purchase-order' | 'return'

const selectErased = prepared(
  `SELECT e.kind || ' ' || e.record_id AS name, e.seller_id FROM tallyman.erased_records e
   WHERE e.seller_id = $1 AND (e.kind, e.record_id) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
)

// OFFSET 0 forces one lookup for each record, regardless of statistics.
const selectErasedOfSellers = prepared(
  `SELECT e.kind || ' ' || e.record_id AS name, e.seller_id FROM unnest($1::text[], $2::text[], $3::text[]) AS k(seller_id, kind, record_id)
   CROSS JOIN LATERAL (SELECT * FROM tallyman.erased_records e
     WHERE e.seller_id = k.seller_id AND e.kind = k.kind AND e.record_id = k.record_id OFFSET 0) e`,
)

/** The identity of a record. */
type Name = readonly [sellerId: string, kind: ErasedKind, recordId: string]

const buildName = (sellerId: string, name: string): string => JSON.stringify([sellerId, name])

const findErased = async (sql: SqlRunner, names: readonly Name[]): Promise<ReadonlySet<string>> => {
  const sellerIds = names.map(([sellerId]) => sellerId)
  const [only = '', ...others] = new Set(sellerIds)
  const rows = await sql.query<{ name: string; seller_id: string }>(
    others.length === 0 ? selectErased : selectErasedOfSellers,
    others.length === 0 ? only : sellerIds,
    names.map(([, kind]) => kind),
    names.map(([, , recordId]) => recordId),
  )
  return new Set(rows.map((row) => buildName(row.seller_id, row.name)))
}

const named = (kind: ErasedKind, recordId: string | null): (readonly [ErasedKind, string])[] =>
  recordId === null ? [] : [[kind, recordId]]

/** Returns the seller of a record. */
type FindSeller<Stored> = (record: Stored) => string

const withoutErased = async <Value, Stored extends StorableRecord<Value>>(
  tx: Transaction,
  findSeller: FindSeller<Stored>,
  records: readonly Stored[],
  listNames: (value: Value) => readonly (readonly [ErasedKind, string])[],
  redact: (value: Value) => Value,
): Promise<readonly Stored[]> => {
  const names = records.map((record) => listNames(record.value).map((name): Name => [findSeller(record), ...name]))
  const erased = await findErased(tx, names.flat())
  if (erased.size === 0) return records
  return records.map((record, at) =>
    names[at]?.some(([sellerId, kind, recordId]) => erased.has(buildName(sellerId, `${kind} ${recordId}`)))
      ? { ...record, value: redact(record.value), rawText: erasedRawText }
      : record,
  )
}

/**
 * Removes the data of erased buyers from the records. Their hash stays that of the received text, so that the same text is not a change. Call it while the
 * rows are locked.
 */
export const withoutErasedOrders = <Stored extends StorableRecord<PurchaseOrder>>(
  tx: Transaction,
  findSeller: FindSeller<Stored>,
  records: readonly Stored[],
): Promise<readonly Stored[]> =>
  withoutErased<PurchaseOrder, Stored>(
    tx,
    findSeller,
    records,
    (order) => [...named('purchase-order', order.purchaseOrderId), ...named('customer-order', order.customerOrderId)],
    redactOrder,
  )

/** As {@link withoutErasedOrders}, for returns. */
export const withoutErasedReturns = <Stored extends StorableRecord<ReturnOrder>>(
  tx: Transaction,
  findSeller: FindSeller<Stored>,
  records: readonly Stored[],
): Promise<readonly Stored[]> =>
  withoutErased<ReturnOrder, Stored>(
    tx,
    findSeller,
    records,
    (order) => [
      ...named('return', order.returnOrderId),
      ...named('customer-order', order.customerOrderId),
      ...order.lines.flatMap((line) => named('purchase-order', line.purchaseOrderId)),
    ],
    redactReturn,
  )

// Non-ASCII letters must not be escaped: Postgres would read them as the name of a class.
const escapeRegex = (text: string): string => `regexp_replace(${text}, '([\\[\\]\\\\.^$*+?(){}|])', '\\\\\\1', 'g')`

/** SQL: the text contains the number (or the words) as a whole, so that `12` is not found in `123`. */
export const containsNumber = (text: string, number: string): string =>
  `${text} ~ ('(^|[^A-Za-z0-9])' || ${escapeRegex(number)} || '([^A-Za-z0-9]|$)')`

/** SQL: the buyer of the record with this seller, key and text was erased. */
export const isErased = (sellerId: string, recordKey: string, text: string): string =>
  `EXISTS (SELECT FROM tallyman.erased_records e WHERE e.seller_id = ${sellerId}
     AND (e.record_id = ${recordKey} OR (position(e.record_id IN ${text}) > 0 AND ${containsNumber(text, 'e.record_id')})))`
