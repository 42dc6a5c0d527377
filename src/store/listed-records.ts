import { isDeepStrictEqual } from 'node:util'
import type { ChangeContent } from '../domain/changes/catalogue.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { endFirstLoad, isFirstLoad } from './first-loads.ts'
import type { TableMarks } from './table-marks.ts'
import { asLocked, type LockedRow, type VersionedStore, versionedTable } from './versioned-table.ts'

/** A table of records that complete listings show: a record is there, or gone since some listing, and may come back. */
export interface ListedTable<T, Identity extends object, State extends object> {
  /** In the schema `warehouse`. */
  readonly name: string
  /** Which of its columns may hold a buyer's data; all of them are named. */
  readonly personalData: TableMarks
  /** Under which replaced versions are kept. */
  readonly resource: string
  /** Column that names a record beside the seller, with its type. */
  readonly key: { readonly column: string; readonly type: 'text' | 'bigint' }
  /** The other columns of its own, as `level integer`. */
  readonly columns: readonly string[]
  /** A value for each column. */
  readonly row: (value: T) => Readonly<Record<string, unknown>>
  /** Path of the payload within the record's text, where that is an envelope around it. */
  readonly payloadPath?: string
  /** SQL of the part of the listing that shows a stored row, as text; null where no part does. Left out: the listing has no parts. */
  readonly part?: string
  /** What names the record in a change, of a value and, as SQL that makes a jsonb, of a stored row. */
  readonly identity: Told<T, Identity>
  /** What a change contains, before and after; nothing else counts as a change. */
  readonly state: Told<T, State>
  /** The change that is recorded of a record; `before` is null of an added one, `after` of a removed one. */
  readonly change: (
    what: 'added' | 'changed' | 'removed',
    data: Identity & { readonly before: State | null; readonly after: State | null },
  ) => ChangeContent
  /** The change that is recorded when everything has been read for the first time, instead of each record. Left out: each is recorded. */
  readonly loaded?: (counts: LoadedRecords) => ChangeContent
}

/** What a list had when it was first read completely: how many records, and how many of each of its parts. */
export interface LoadedRecords {
  readonly count: number
  readonly parts: Readonly<Record<string, number>>
}

interface Told<T, Shown> {
  readonly of: (value: T) => Shown
  readonly sql: string
}

/** The statements of one table. */
export interface ListedStore<T> extends Pick<VersionedStore<T, unknown>, 'findDiffering' | 'store'> {
  /** Keys of what is stored as present, but is not among these; of one part of the listing, or of all where it is null. Reads only. */
  findGone(sql: SqlRunner, sellerId: string, part: string | null, keys: ReadonlySet<string>): Promise<readonly string[]>
  /** Notes records that the listings no longer show, and records that once; they are never deleted. Returns how many are newly noted. */
  noteMissing(tx: Transaction, sellerId: string, observedAt: Date, keys: readonly string[]): Promise<number>
  /** Notes that everything has been read; records it when it is the first time. */
  noteLoaded(tx: Transaction, sellerId: string): Promise<void>
}

interface ListedRow<State> extends LockedRow {
  readonly state: State
}

/** The statements for a table. */
export const listedStore = <T, Identity extends object, State extends object>(
  table: ListedTable<T, Identity, State>,
): ListedStore<T> => {
  const { column: key, type } = table.key
  const from = `warehouse.${table.name}`
  // Keys travel as text: a 64-bit integer would not survive as a number.
  const isOneOf = `${key} = ANY($2::text[]::${type}[])`

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
    before: asLocked,
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

  /** The transaction as changes are recorded through it: not at all while the list is read for the first time. */
  const telling = async (tx: Transaction, sellerId: string): Promise<Transaction> =>
    table.loaded !== undefined && (await isFirstLoad(tx, sellerId, table.resource)) ? { ...tx, record: () => undefined } : tx

  return {
    findDiffering: versioned.findDiffering,
    store: async (tx, sellerId, observedAt, records) =>
      versioned.store(await telling(tx, sellerId), sellerId, observedAt, records),
    findGone: async (sql, sellerId, part, keys) => {
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
      const { record } = await telling(tx, sellerId)
      const rows = await tx.query<{ identity: Identity; state: State }>(
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
