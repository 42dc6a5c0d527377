import type { SqlRunner, Transaction } from './database.ts'
import { rawHash, storageFaultPrefix } from './versions.ts'

/** A record that could not be understood or stored, as it came. */
export interface FaultyRecord {
  /** Its identity, where that much could be read. */
  readonly key: string | null
  readonly rawText: string
  /** Why, in a sentence without personal data. */
  readonly fault: string
}

/** A record in quarantine. */
export interface QuarantinedRecord extends FaultyRecord {
  readonly id: bigint
  readonly sellerId: string
  readonly resource: string
  readonly state: 'open' | 'replayed' | 'superseded'
  /** On the marketplace's clock. */
  readonly observedAt: Date
}

/** A faulty record that must be written down: new, seen again after an hour, or back after it was settled. */
export interface NewlyFaulty extends FaultyRecord {
  /** SHA-1 of the raw text, hexadecimal. */
  readonly hash: string
}

/**
 * Those of a page's faulty records that must be written down. The same text again counts as seen at most once an hour, so that a
 * poll that meets it every minute writes nothing.
 */
export const findNewlyFaulty = async (
  sql: SqlRunner,
  sellerId: string,
  resource: string,
  observedAt: Date,
  records: readonly FaultyRecord[],
): Promise<readonly NewlyFaulty[]> => {
  if (records.length === 0) return []
  const byHash = new Map(records.map((record) => [rawHash(record.rawText), record]))
  const rows = await sql.query<{ hash: string }>(
    `SELECT encode(raw_hash, 'hex') AS hash FROM tallyman.quarantined_records
     WHERE seller_id = $1 AND resource = $2 AND raw_hash IN (SELECT decode(h, 'hex') FROM unnest($3::text[]) AS h)
       AND (CASE WHEN state = 'open' THEN last_seen_at > now() - interval '1 hour' ELSE observed_at >= $4::timestamptz END)`,
    sellerId,
    resource,
    [...byHash.keys()],
    observedAt.toISOString(),
  )
  const settled = new Set(rows.map((row) => row.hash))
  return [...byHash].filter(([hash]) => !settled.has(hash)).map(([hash, record]) => ({ ...record, hash }))
}

/** A text as Postgres can keep it: a NUL that was not escaped, which no JSON may hold, is escaped. */
const keepable = (text: string): string => text.toWellFormed().replaceAll('\0', '\\u0000')

/** Writes faulty records down, or that they were seen again. */
export const quarantine = async (
  tx: Transaction,
  sellerId: string,
  resource: string,
  observedAt: Date,
  records: readonly NewlyFaulty[],
): Promise<void> => {
  if (records.length === 0) return
  await tx.execute(
    `INSERT INTO tallyman.quarantined_records AS q (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at)
     SELECT $1, $2, key, decode(hash, 'hex'), "rawText", fault, $3::timestamptz
     FROM json_to_recordset($4::json) AS t(key text, hash text, "rawText" text, fault text) ORDER BY hash
     ON CONFLICT (seller_id, resource, raw_hash) DO UPDATE
     SET state = 'open', fault = excluded.fault, record_key = excluded.record_key, last_seen_at = now(), seen_count = q.seen_count + 1,
       observed_at = greatest(q.observed_at, excluded.observed_at)`,
    sellerId,
    resource,
    observedAt.toISOString(),
    JSON.stringify(
      records.map(({ key, hash, rawText, fault }) => ({
        key: key === null ? null : keepable(key),
        hash,
        rawText: keepable(rawText),
        fault,
      })),
    ),
  )
}

/** Keys of records that stand in quarantine now, the newest 10,000. */
export const openQuarantineKeys = async (sql: SqlRunner, sellerId: string, resource: string): Promise<Set<string>> => {
  const rows = await sql.query<{ record_key: string }>(
    `SELECT record_key FROM tallyman.quarantined_records
     WHERE state = 'open' AND seller_id = $1 AND resource = $2 AND record_key IS NOT NULL ORDER BY id DESC LIMIT 10000`,
    sellerId,
    resource,
  )
  return new Set(rows.map((row) => row.record_key))
}

/**
 * Texts of these records that Postgres refused before and that still stand in quarantine for it: trying them again with every
 * poll would fail every time.
 */
export const findRefusedTexts = async (
  sql: SqlRunner,
  sellerId: string,
  resource: string,
  records: readonly { readonly rawText: string }[],
): Promise<ReadonlySet<string>> => {
  if (records.length === 0) return new Set()
  const byHash = new Map(records.map((record) => [rawHash(record.rawText), record.rawText]))
  const rows = await sql.query<{ hash: string }>(
    `SELECT encode(raw_hash, 'hex') AS hash FROM tallyman.quarantined_records
     WHERE seller_id = $1 AND resource = $2 AND raw_hash IN (SELECT decode(h, 'hex') FROM unnest($3::text[]) AS h)
       AND state = 'open' AND starts_with(fault, $4)`,
    sellerId,
    resource,
    [...byHash.keys()],
    storageFaultPrefix,
  )
  return new Set(rows.flatMap((row) => byHash.get(row.hash) ?? []))
}

/** Settles quarantined versions of records of which a later version was understood. */
export const supersedeQuarantined = (
  tx: Transaction,
  sellerId: string,
  resource: string,
  observedAt: Date,
  keys: readonly string[],
): Promise<number> =>
  tx.execute(
    `UPDATE tallyman.quarantined_records SET state = 'superseded'
     WHERE state = 'open' AND seller_id = $1 AND resource = $2 AND record_key = ANY($3::text[]) AND observed_at < $4::timestamptz`,
    sellerId,
    resource,
    keys,
    observedAt.toISOString(),
  )

/** A quarantined record, locked until the transaction ends; null when there is none. */
export const lockQuarantined = async (tx: Transaction, id: bigint): Promise<QuarantinedRecord | null> => {
  const [row] = await tx.query<QuarantinedRecord>(
    `SELECT id, seller_id AS "sellerId", resource, record_key AS key, raw_text AS "rawText", fault, state, observed_at AS "observedAt"
     FROM tallyman.quarantined_records WHERE id = $1::bigint FOR UPDATE`,
    id,
  )
  return row ?? null
}

/** Marks a locked record as replayed: it was understood now and stored, or a newer version stands already. */
export const markReplayed = async (tx: Transaction, id: bigint, state: 'replayed' | 'superseded', key: string): Promise<void> => {
  await tx.execute(
    'UPDATE tallyman.quarantined_records SET state = $2, record_key = $3, replayed_at = now() WHERE id = $1::bigint',
    id,
    state,
    key,
  )
}

/** Notes why a locked record still is not understood. */
export const noteFault = async (tx: Transaction, id: bigint, fault: string): Promise<void> => {
  await tx.execute('UPDATE tallyman.quarantined_records SET fault = $2 WHERE id = $1::bigint', id, fault)
}
