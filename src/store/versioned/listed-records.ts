import { isDeepStrictEqual } from 'node:util'
import type { ChangeContent } from '../../domain/changes/catalogue.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { endFirstLoad, isFirstLoad } from '../sync/first-loads.ts'
import type { TableMarks } from './table-marks.ts'
import { type LockedRow, mapLockedRows, type VersionedStore, versionedTable } from './versioned-table.ts'

/** A table of records that are read by complete listings: a record that a listing lacks is marked as missing, and may reappear. */
export interface ListedTable<T, Identity extends object, State extends object> {
  /** In the schema `warehouse`. */
  readonly name: string
  /** Marks all of its columns: which may contain a buyer's data. */
  readonly personalData: TableMarks
  /** The resource of replaced versions. */
  readonly resource: string
  /** The column that identifies a record of a seller, with its type. */
  readonly key: { readonly column: string; readonly type: 'text' | 'bigint' }
  /** Its other columns with their types (`level integer`). */
  readonly columns: readonly string[]
  /** A value for each column. */
  readonly row: (value: T) => Readonly<Record<string, unknown>>
  /** Path of the payload within the record's text, if that is an envelope. */
  readonly payloadPath?: string
  /** SQL (text): the part of the listing that contains a stored row, or null. Omitted: the listing has no parts. */
  readonly part?: string
  /** The identity of the record in a change. */
  readonly identity: Reported<T, Identity>
  /** The state of the record in a change; other differences are not a change. */
  readonly state: Reported<T, State>
  /** Builds the change of a record; `before` is null for an added record, `after` for a removed one. */
  readonly change: (
    what: 'added' | 'changed' | 'removed',
    data: Identity & { readonly before: State | null; readonly after: State | null },
  ) => ChangeContent
  /** Builds the one change of the first complete reading, instead of a change for each record. Omitted: each record is reported. */
  readonly loaded?: (counts: LoadedRecords) => ChangeContent
}

/** The number of records after the first complete reading, in all and by part. */
export interface LoadedRecords {
  readonly count: number
  readonly parts: Readonly<Record<string, number>>
}

/** Data of a change: from a value, and as SQL (jsonb) from a stored row. */
interface Reported<T, Shown> {
  readonly of: (value: T) => Shown
  readonly sql: string
}

/** The statements of one table. */
export interface ListedStore<T> extends Pick<VersionedStore<T, unknown>, 'findDiffering' | 'store'> {
  /** Keys of records that are stored as present and are not among `keys`; `part`: of one part of the listing, null: of all. Reads only. */
  findMissing(sql: SqlRunner, sellerId: string, part: string | null, keys: ReadonlySet<string>): Promise<readonly string[]>
  /** Marks records as missing from the listings, and records the changes. Records are never deleted. Returns the number of newly marked ones. */
  noteMissing(tx: Transaction, sellerId: string, observedAt: Date, keys: readonly string[]): Promise<number>
  /** Stores that everything has been read; records a change the first time. */
  noteLoaded(tx: Transaction, sellerId: string): Promise<void>
}

interface ListedRow<State> extends LockedRow {
  readonly state: State
}

/** Declares a table of listed records. */
export const listedStore = <T, Identity extends object, State extends object>(
  table: ListedTable<T, Identity, State>,
): ListedStore<T> => {
  const { column: key, type } = table.key
  const from = `warehouse.${table.name}`
  // Keys are sent as text: a JavaScript number cannot represent every 64-bit integer.
  const isListed = `${key} = ANY($2::text[]::${type}[])`

  const versioned = versionedTable<T, ListedRow<State>, ListedRow<State>>({
    name: table.name,
    personalData: table.personalData,
    resource: table.resource,
    key: [`${key} ${type}`],
    columns: table.columns,
    row: table.row,
    ...(table.payloadPath === undefined ? {} : { payload: { path: table.payloadPath } }),
    marks: ['missing_since'],
    locked: `${table.state.sql} AS state`,
    before: mapLockedRows,
    changes: (sellerId, value, before) => {
      const identity = table.identity.of(value)
      const after = table.state.of(value)
      if (before === null || before.marked) {
        return [{ sellerId, ...table.change('added', { ...identity, before: null, after }) }]
      }
      if (isDeepStrictEqual(before.state, after)) return []
      return [{ sellerId, ...table.change('changed', { ...identity, before: before.state, after }) }]
    },
  })

  /** The transaction, without recording changes while the list is read for the first time. */
  const muteFirstLoad = async (tx: Transaction, sellerId: string): Promise<Transaction> =>
    table.loaded !== undefined && (await isFirstLoad(tx, sellerId, table.resource)) ? { ...tx, record: () => undefined } : tx

  return {
    findDiffering: versioned.findDiffering,
    store: async (tx, sellerId, observedAt, records) =>
      versioned.store(await muteFirstLoad(tx, sellerId), sellerId, observedAt, records),
    findMissing: async (sql, sellerId, part, keys) => {
      const rows = await sql.query<{ key: string }>(
        `SELECT o.${key}::text AS key FROM ${from} o
         WHERE o.seller_id = $1 AND o.missing_since IS NULL AND ($2::text IS NULL OR ${table.part ?? 'NULL'} = $2)
           AND NOT EXISTS (SELECT FROM unnest($3::text[]) AS listed WHERE listed = o.${key}::text)
         ORDER BY o.${key}`,
        sellerId,
        part,
        [...keys],
      )
      return rows.map((row) => row.key)
    },
    noteMissing: async (tx, sellerId, observedAt, keys) => {
      if (keys.length === 0) return 0
      const { record } = await muteFirstLoad(tx, sellerId)
      const rows = await tx.query<{ identity: Identity; state: State }>(
        `WITH missing AS MATERIALIZED (
           SELECT ${key} FROM ${from}
           WHERE seller_id = $1 AND ${isListed} AND missing_since IS NULL AND observed_at <= $3::timestamptz
           ORDER BY ${key} FOR UPDATE
         )
         UPDATE ${from} SET missing_since = $3::timestamptz, observed_at = $3::timestamptz, changed_at = now()
         WHERE seller_id = $1 AND ${key} IN (SELECT ${key} FROM missing)
         RETURNING ${table.identity.sql} AS identity, ${table.state.sql} AS state`,
        sellerId,
        keys,
        observedAt.toISOString(),
      )
      for (const { identity, state } of rows) {
        record({ sellerId, ...table.change('removed', { ...identity, before: state, after: null }) })
      }
      return rows.length
    },
    noteLoaded: async (tx, sellerId) => {
      if (table.loaded === undefined || !(await endFirstLoad(tx, sellerId, table.resource))) return
      const rows = await tx.query<{ part: string | null; count: number }>(
        `SELECT ${table.part ?? 'NULL::text'} AS part, count(*)::int AS count FROM ${from}
         WHERE seller_id = $1 AND missing_since IS NULL GROUP BY 1 ORDER BY 1`,
        sellerId,
      )
      const parts = Object.fromEntries(rows.flatMap(({ part, count }) => (part === null ? [] : [[part, count]])))
      tx.record({ sellerId, ...table.loaded({ count: rows.reduce((sum, { count }) => sum + count, 0), parts }) })
    },
  }
}
