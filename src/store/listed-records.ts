import { isDeepStrictEqual } from 'node:util'
import type { SqlRunner, Transaction } from './database.ts'
import type { Prisma } from './generated/client.ts'
import { type DifferingRecord, findDiffering, jsonArray, jsonObject, type StorableRecord } from './versions.ts'

/** A table of records that complete listings show: a record is there, or gone since some listing, and may come back. */
export interface ListedTable<T> {
  /** In the schema `warehouse`. */
  readonly name: string
  /** Under which replaced versions are kept. */
  readonly resource: string
  /** Column that names a record beside the seller, with its type. */
  readonly key: { readonly column: string; readonly type: 'text' | 'bigint' }
  /** The other columns of its own, as `level integer`. */
  readonly columns: readonly string[]
  /** A value for each column. */
  readonly row: (value: T) => Readonly<Record<string, unknown>>
  /** Changes are told as `<entity>.added`, `<entity>.changed` and `<entity>.removed`. */
  readonly entity: string
  /** What names the record in a change, of a value and, as SQL that makes a jsonb, of a stored row. */
  readonly identity: Told<T>
  /** What a change tells before and after; nothing else counts as a change. */
  readonly state: Told<T>
}

interface Told<T> {
  readonly of: (value: T) => Prisma.InputJsonObject
  readonly sql: string
}

/** The statements of one table. */
export interface ListedStore<T> {
  /** Those records of a page whose text differs from what is stored, or that were thought gone. Reads only. */
  findDiffering(sql: SqlRunner, sellerId: string, records: readonly StorableRecord<T>[]): Promise<readonly DifferingRecord<T>[]>
  /**
   * Stores records that `findDiffering` found and tells what has changed; answers how many were written. An older observation never
   * overwrites a newer one; the version that is replaced is kept in `tallyman.superseded_versions`.
   */
  store(tx: Transaction, sellerId: string, observedAt: Date, records: readonly DifferingRecord<T>[]): Promise<number>
  /** Keys of what is stored as being there and fits `condition` (SQL, its parameters from $3 on), but is not among these. Reads only. */
  findGone(
    sql: SqlRunner,
    sellerId: string,
    keys: ReadonlySet<string>,
    condition?: string,
    ...parameters: readonly unknown[]
  ): Promise<readonly string[]>
  /** Notes records that the listings do not show any more, and tells it once; they are never deleted. Answers how many are newly noted. */
  noteMissing(tx: Transaction, sellerId: string, observedAt: Date, keys: readonly string[]): Promise<number>
}

interface LockedRow {
  readonly key: string
  readonly raw_hash: string
  readonly observed_at: Date
  readonly missing: boolean
  readonly state: Prisma.InputJsonObject
}

interface Write<T> {
  readonly record: DifferingRecord<T>
  /** The row as it is stored; null for a new record. */
  readonly before: LockedRow | null
}

/** The statements for a table. */
export const listedStore = <T>(table: ListedTable<T>): ListedStore<T> => {
  const { column: key, type } = table.key
  const from = `warehouse.${table.name}`
  const names = table.columns.map((column) => column.split(' ')[0])
  const all = names.join(', ')
  // Keys travel as text: a 64-bit integer would not survive as a number.
  const isOneOf = `${key} = ANY($2::text[]::${type}[])`

  const probe = `
    SELECT array_agg(${key}::text) AS keys,
      array_agg(CASE WHEN missing_since IS NULL THEN encode(raw_hash, 'hex') ELSE '' END) AS hashes
    FROM ${from} WHERE seller_id = $1 AND ${isOneOf}`

  const lock = `
    SELECT ${key}::text AS key, encode(raw_hash, 'hex') AS raw_hash, observed_at, missing_since IS NOT NULL AS missing,
      ${table.state.sql} AS state
    FROM ${from} WHERE seller_id = $1 AND ${isOneOf} ORDER BY ${key} FOR UPDATE`

  // $1 seller, $2 observed at, $3 records. Known ones are locked by the caller. Answers the new ones that someone else has stored
  // meanwhile: nothing of those was written.
  const write = `
    WITH reported AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset($3::jsonb) AS t(${key} ${type}, known boolean, raw_hash text, raw jsonb, ${table.columns.join(', ')})
    ), inserted AS (
      INSERT INTO ${from} (seller_id, ${key}, ${all}, raw_hash, raw, observed_at, first_seen_at, changed_at)
      SELECT $1, ${key}, ${all}, decode(raw_hash, 'hex'), raw, $2::timestamptz, now(), now() FROM reported WHERE NOT known
      ON CONFLICT DO NOTHING
      RETURNING ${key}
    ), superseded AS (
      INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
      SELECT $1, '${table.resource}', o.${key}::text, o.raw_hash, o.raw, o.changed_at, now()
      FROM ${from} o JOIN reported r USING (${key})
      WHERE o.seller_id = $1 AND r.known AND o.raw_hash <> decode(r.raw_hash, 'hex')
      ON CONFLICT DO NOTHING
    ), updated AS (
      UPDATE ${from} o
      SET ${names.map((name) => `${name} = r.${name}`).join(', ')}, raw_hash = decode(r.raw_hash, 'hex'), raw = r.raw,
        observed_at = $2::timestamptz, missing_since = NULL, changed_at = now()
      FROM reported r WHERE o.seller_id = $1 AND r.known AND o.${key} = r.${key}
    )
    SELECT r.${key}::text AS key FROM reported r WHERE NOT r.known AND r.${key} NOT IN (SELECT ${key} FROM inserted)`

  const prepare = async (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
  ): Promise<readonly Write<T>[]> => {
    const known = records.filter((record) => record.known).map((record) => record.key)
    const rows = known.length === 0 ? [] : await tx.query<LockedRow>(lock, sellerId, known)
    const locked = new Map(rows.map((row) => [row.key, row]))
    // What was found before the lock may have changed since.
    return records.flatMap((record): Write<T>[] => {
      const before = locked.get(record.key) ?? null
      const outdated =
        before === null || (before.observed_at <= observedAt && (before.raw_hash !== record.hash || before.missing))
      return outdated ? [{ record, before }] : []
    })
  }

  const tell = (tx: Transaction, sellerId: string, { record: { value }, before }: Write<T>): void => {
    const identity = table.identity.of(value)
    const after = table.state.of(value)
    if (before === null || before.missing) {
      tx.tell({ sellerId, type: `${table.entity}.added`, data: { ...identity, before: null, after } })
    } else if (!isDeepStrictEqual(before.state, after)) {
      tx.tell({ sellerId, type: `${table.entity}.changed`, data: { ...identity, before: before.state, after } })
    }
  }

  return {
    findDiffering: (sql, sellerId, records) => findDiffering(sql, probe, sellerId, records),
    store: async (tx, sellerId, observedAt, records) => {
      let changed = 0
      let rest = records
      // Records that someone else stores at the same moment are known in the next round, where they are locked.
      while (rest.length > 0) {
        const writes = await prepare(tx, sellerId, observedAt, rest)
        if (writes.length === 0) break
        const texts = writes.map(({ record, before }) =>
          jsonObject(
            { ...table.row(record.value), [key]: record.key, known: before !== null, raw_hash: record.hash },
            { raw: record.rawText },
          ),
        )
        const rows = await tx.query<{ key: string }>(write, sellerId, observedAt.toISOString(), jsonArray(texts))
        const missed = new Set(rows.map((row) => row.key))
        const written = writes.filter(({ record }) => !missed.has(record.key))
        for (const one of written) tell(tx, sellerId, one)
        changed += written.length
        rest = rest.filter((record) => missed.has(record.key)).map((record) => ({ ...record, known: true }))
      }
      return changed
    },
    findGone: async (sql, sellerId, keys, condition = 'true', ...parameters) => {
      const rows = await sql.query<{ key: string }>(
        `SELECT o.${key}::text AS key FROM ${from} o
         WHERE o.seller_id = $1 AND o.missing_since IS NULL AND (${condition})
           AND NOT EXISTS (SELECT FROM unnest($2::text[]) AS listed WHERE listed = o.${key}::text)
         ORDER BY o.${key}`,
        sellerId,
        [...keys],
        ...parameters,
      )
      return rows.map((row) => row.key)
    },
    noteMissing: async (tx, sellerId, observedAt, keys) => {
      if (keys.length === 0) return 0
      const rows = await tx.query<{ identity: Prisma.InputJsonObject; state: Prisma.InputJsonObject }>(
        `WITH gone AS MATERIALIZED (
           SELECT ${key} FROM ${from}
           WHERE seller_id = $1 AND ${isOneOf} AND missing_since IS NULL AND observed_at <= $3::timestamptz
           ORDER BY ${key} FOR UPDATE
         )
         UPDATE ${from} SET missing_since = $3::timestamptz, observed_at = $3::timestamptz, changed_at = now()
         WHERE seller_id = $1 AND ${key} IN (SELECT ${key} FROM gone)
         RETURNING ${table.identity.sql} AS identity, ${table.state.sql} AS state`,
        sellerId,
        keys,
        observedAt.toISOString(),
      )
      for (const { identity, state } of rows) {
        tx.tell({ sellerId, type: `${table.entity}.removed`, data: { ...identity, before: state, after: null } })
      }
      return rows.length
    },
  }
}
