import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import type { Vocabulary } from '../../domain/values/vocabulary.ts'
import { runPipelined } from '../commit/query-batching.ts'
import { assign, list, listNames } from '../db/columns.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { blockErasures } from '../privacy/erased-records.ts'
import {
  buildCountColumns,
  buildCounts,
  type ChildTable,
  childStatements,
  childTexts,
  flatten,
  serializeMembers,
} from './child-tables.ts'
import { markTable, type TableMarks } from './table-marks.ts'
import { type DifferingRecord, findDiffering, jsonArray, type StorableRecord } from './versions.ts'

/** The columns of a locked row that every table reads. */
export interface LockedRow {
  /** The key of the record. */
  readonly key: string
  readonly raw_hash: string
  readonly observed_at: Date
  /** One of the table's {@link VersionedTable.marks} is set. */
  readonly marked: boolean
}

/** A record that differs from its stored row. */
export interface DifferingRow<T, Row> {
  readonly record: DifferingRecord<T>
  readonly row: Row
}

/** As {@link DifferingRow}, with the stored version. */
export interface StoredView<T, Before, Row> extends DifferingRow<T, Row> {
  readonly before: Before
}

/** A record whose row the caller has locked. */
export interface LockedRecord<T> extends DifferingRecord<T> {
  readonly sellerId: string
  readonly observedAt: Date
}

/** A record to write, or a written one. */
export interface Written<T, Before> {
  readonly record: DifferingRecord<T>
  /** The new stored value. */
  readonly value: T
  /** The previous version; null: a new record. */
  readonly before: Before | null
}

/**
 * A table of the schema `warehouse` that contains the newest version of each record. Besides the columns of the options it has `seller_id`, `raw_hash`,
 * `raw`, `observed_at`, `first_seen_at` and `changed_at`.
 */
export interface VersionedTable<T, Before, Row extends LockedRow = LockedRow> {
  readonly name: string
  /** Marks all of its columns: which may contain a buyer's data. */
  readonly personalData: TableMarks
  /** The resource of replaced versions. */
  readonly resource: string
  /** Columns that identify a record of a seller, with their types (`order_id text`); empty: a seller has one row. */
  readonly key: readonly string[]
  /** A text for each key column; default: the record's key for the only column. */
  readonly buildKey?: (record: StorableRecord<T>) => readonly string[]
  /**
   * The key column that finds the rows of a page; default: the only one. Every statement needs this condition besides its joins: without statistics of
   * a newly filled table, the planner would read all of it.
   */
  readonly foundBy?: string
  /** Its other columns with their types (`level integer`). */
  readonly columns: readonly string[]
  /** A value for each column. */
  readonly row: (value: T, before: Before | null) => Readonly<Record<string, unknown>>
  /** SQL of computed columns, over the sent row `t`. */
  readonly computed?: Readonly<Record<string, string>>
  /** The payload as JSON text, or its path within the raw text; default: the raw text. */
  readonly payload?: { readonly text: (record: StorableRecord<T>) => string } | { readonly path: string }
  /** Hash of a raw text that distinguishes versions; default: `rawHash`. */
  readonly hash?: (rawText: string) => string
  /**
   * Columns that mark a row since when the marketplace does not return it, or returns it incorrectly. A marked row is written even if its text is
   * unchanged, and writing clears the marks.
   */
  readonly marks: readonly string[]
  /** Child tables; `whole` is the payload that contains their raw parts. */
  readonly children?: { readonly whole: (value: T) => unknown; readonly tables: readonly ChildTable<T>[] }
  /** Few records are written often enough for {@link prepared} statements. */
  readonly preparesSmallWrites?: true
  /** Acquires a lock before the locks of rows. */
  readonly lockFirst?: (tx: Transaction, sellerId: string) => Promise<void>
  /** Removes the data of erased buyers from the records; called while the rows are locked. */
  readonly withoutErased?: <Stored extends DifferingRecord<T>>(
    tx: Transaction,
    findSeller: (record: Stored) => string,
    records: readonly Stored[],
  ) => Promise<readonly Stored[]>
  /** SQL list of further columns to read when the rows (`o`) are locked. */
  readonly locked?: string
  /** The stored versions of these records by key; an omitted record is not written. */
  readonly before: (
    tx: Transaction,
    sellerId: string,
    differing: readonly DifferingRow<T, Row>[],
  ) => ReadonlyMap<string, Before> | Promise<ReadonlyMap<string, Before>>
  /** The records that replace their stored version; default: all except those with an older observation. */
  readonly choose?: (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    views: readonly StoredView<T, Before, Row>[],
  ) => Promise<readonly StoredView<T, Before, Row>[]>
  /** Merges a record into its stored version; default: the record replaces it. */
  readonly merge?: (before: Before, value: T, observedAt: Date) => T
  /** The changes between two versions, or those of a new record. */
  readonly changes: (sellerId: string, value: T, before: Before | null, vocabulary: Vocabulary) => readonly ChangeRecord[]
}

/** The statements of one table. */
export interface VersionedStore<T, Before> {
  /** The records of a page whose text differs from the stored one, or whose row is marked. Reads only. */
  findDiffering(sql: SqlRunner, sellerId: string, records: readonly StorableRecord<T>[]): Promise<readonly DifferingRecord<T>[]>
  /**
   * Stores records that `findDiffering` found, by one statement, and records their changes; returns the written ones. An older observation never
   * overwrites a newer one; replaced versions are kept in `tallyman.superseded_versions`.
   */
  write(
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
  ): Promise<readonly Written<T, Before>[]>
  /**
   * As `write`, for records of several sellers whose rows the caller has locked, by the same statements for all of them. Only for tables with one key
   * column. Returns the written ones.
   */
  writeLocked(tx: Transaction, records: readonly LockedRecord<T>[]): Promise<readonly LockedRecord<T>[]>
  /** As `write`; returns the number of written records. */
  store(tx: Transaction, sellerId: string, observedAt: Date, records: readonly DifferingRecord<T>[]): Promise<number>
}

/** `before` of tables whose stored version is the locked row itself. */
export const mapLockedRows = <Row extends LockedRow>(
  _tx: Transaction,
  _sellerId: string,
  differing: readonly { readonly row: Row }[],
): ReadonlyMap<string, Row> => new Map(differing.map(({ row }) => [row.key, row]))

/** Larger numbers of records are a page, whose statements are not prepared. */
const maxFew = 64

const buildStatements = <T, Before, Row extends LockedRow>(table: VersionedTable<T, Before, Row>) => {
  const from = `warehouse.${table.name}`
  const keys = listNames(table.key)
  const types = table.key.map((column) => column.slice(column.indexOf(' ') + 1))
  const [only] = keys
  const single = keys.length === 1
  const columns = listNames(table.columns)
  const foundBy = table.foundBy ?? only
  const findType = (name: string | undefined): string => types[keys.indexOf(name ?? '')] ?? 'text'
  // Keys are sent as text: a JavaScript number cannot represent every 64-bit integer.
  const found = (place: number, row = 'o'): string =>
    foundBy === undefined
      ? `cardinality($${place}::text[]) > 0`
      : `${row}.${foundBy} = ANY($${place}::text[]::${findType(foundBy)}[])`
  const same = (one: string, other: string): string => keys.map((key) => ` AND ${one}.${key} = ${other}.${key}`).join('')
  const recordKey = single ? `r.${only}::text` : 'r.record_key'
  const marked = table.marks.map((mark) => `o.${mark} IS NOT NULL`).join(' OR ') || 'false'
  const hash = `encode(o.raw_hash, 'hex')`

  // Records are identified by one array for each key column, preceded by an array of their record keys if the key has several columns.
  const sent = `unnest(${['record_key', ...keys].map((_, at) => `$${at + 2}::text[]`).join(', ')}) AS t(record_key${keys.map((key) => `, ${key}`).join('')})`
  const isSent = keys.map((key) => ` AND o.${key} = t.${key}::${findType(key)}`).join('')

  // A probe writes nothing for unchanged records: even `ON CONFLICT … DO UPDATE … WHERE false` would lock rows and write to the log. It returns one row
  // of arrays, because transferring a row for each record is half the work of a page without changes.
  const hashes = `array_agg(${table.marks.length === 0 ? hash : `CASE WHEN ${marked} THEN '' ELSE ${hash} END`}) AS hashes`
  // Rows with several key columns are looked up one by one; OFFSET 0 prevents another join strategy, see `foundBy`.
  const probe = single
    ? `SELECT array_agg(o.${only}::text) AS keys, ${hashes} FROM ${from} o WHERE o.seller_id = $1 AND ${found(2)}`
    : `SELECT array_agg(t.record_key) AS keys, ${hashes} FROM ${sent}
       CROSS JOIN LATERAL (SELECT * FROM ${from} o WHERE o.seller_id = $1${isSent} OFFSET 0) o`

  const lockedColumns = `${hash} AS raw_hash, o.observed_at, (${marked}) AS marked${table.locked === undefined ? '' : `, ${table.locked}`}`
  const inOrder = keys.length === 0 ? '' : `ORDER BY ${list(table.key, 'o.')}`
  const lock = single
    ? `SELECT o.${only}::text AS key, ${lockedColumns} FROM ${from} o WHERE o.seller_id = $1 AND ${found(2)} ${inOrder} FOR UPDATE`
    : `SELECT t.record_key AS key, ${lockedColumns} FROM ${sent} JOIN ${from} o ON o.seller_id = $1${isSent}
       WHERE ${found(foundBy === undefined ? 2 : keys.indexOf(foundBy) + 3)} ${inOrder} FOR UPDATE OF o`

  const tables = table.children?.tables ?? []
  const children = flatten(tables)
  const path = table.payload !== undefined && 'path' in table.payload ? table.payload.path : null
  const sentColumns = [
    ...table.key,
    ...(single ? [] : ['record_key text']),
    'known boolean',
    'raw_hash text',
    'observed_at timestamptz',
    ...buildCountColumns(tables),
  ]
  const computed = columns.map((name) => {
    const sql = table.computed?.[name]
    return sql === undefined ? `t.${name}` : `${sql} AS ${name}`
  })

  // Looks up the rows one by one, because each seller has few of them.
  const lockOfSellers = `SELECT k.seller_id, o.* FROM unnest($1::text[], $2::text[]) AS k(seller_id, record_key)
    CROSS JOIN LATERAL (SELECT o.${foundBy}::text AS key, ${lockedColumns} FROM ${from} o
      WHERE o.seller_id = k.seller_id AND o.${foundBy} = k.record_key::${findType(foundBy)} FOR UPDATE) o`

  // $1 seller, $2 time of observation, $3 records, $4 `foundBy` values of known records, from $5 on the rows of each child table. The caller has locked
  // the known records. Returns the new records that another transaction has stored meanwhile; nothing of them was written.
  // For several sellers, each record contains its seller, and $1 contains the sellers of the known records.
  const writeFor = (sellersAre: 'one' | 'several'): string => {
    const several = sellersAre === 'several'
    const own = several ? ['seller_id text'] : []
    const rowCondition = (place: number, row: string): string =>
      `${row}.seller_id = ${several ? 'ANY($1::text[])' : '$1'} AND ${found(place, row)}`
    const sameRow = (one: string, other: string): string =>
      `${several ? ` AND ${one}.seller_id = ${other}.seller_id` : ''}${same(one, other)}`
    return `
    WITH reported AS MATERIALIZED (
      SELECT ${[...listNames([...own, ...sentColumns]).map((name) => `t.${name}`), ...computed].join(', ')}, ${path === null ? 't.raw' : `t.raw #> '${path}' AS raw`}
      FROM jsonb_to_recordset($3::jsonb) AS t(${[...own, ...sentColumns, ...table.columns, 'raw jsonb'].join(', ')})
    ), inserted AS (
      INSERT INTO ${from} AS o (${['seller_id', ...keys, ...columns].join(', ')}, raw_hash, raw, observed_at, first_seen_at, changed_at)
      SELECT ${[several ? 'seller_id' : '$1', ...keys, ...columns].join(', ')}, decode(raw_hash, 'hex'), raw, COALESCE(observed_at, $2::timestamptz), now(), now()
      FROM reported WHERE NOT known
      ON CONFLICT DO NOTHING
      RETURNING ${['o.seller_id', ...keys.map((key) => `o.${key}`)].join(', ')}
    ), superseded AS (
      INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
      SELECT ${several ? 'o.seller_id' : '$1'}, '${table.resource}', ${recordKey}, o.raw_hash, o.raw, o.changed_at, now()
      FROM ${from} o JOIN reported r ON r.known${sameRow('o', 'r')}
      WHERE ${rowCondition(4, 'o')} AND o.raw_hash <> decode(r.raw_hash, 'hex')
      ON CONFLICT DO NOTHING
    ), updated AS (
      UPDATE ${from} o
      SET ${assign(table.columns, 'r')}, raw_hash = decode(r.raw_hash, 'hex'), raw = r.raw,
        observed_at = GREATEST(o.observed_at, COALESCE(r.observed_at, $2::timestamptz)), ${table.marks.map((mark) => `${mark} = NULL, `).join('')}changed_at = now()
      FROM reported r WHERE ${rowCondition(4, 'o')} AND r.known${sameRow('o', 'r')}
      RETURNING ${['o.seller_id', ...keys.map((key) => `o.${key}`)].join(', ')}
    )${children.length === 0 ? '' : `, ${childStatements(tables, [...own, ...table.key], rowCondition(4, 'c'), 5)}`}
    SELECT ${recordKey} AS key FROM reported r
    WHERE NOT r.known AND NOT EXISTS (SELECT FROM inserted i WHERE true${sameRow('i', 'r')})`
  }
  const write = writeFor('one')

  // Statements of pages are not prepared: a plan from a time when the table was nearly empty would read all of it until it is analysed.
  const few =
    table.preparesSmallWrites === true
      ? (sql: string): string => prepared(`${sql}\n-- few records`)
      : (sql: string): string => sql
  const forFew = { lock: few(lock), write: few(write) }
  const forCount = (count: number): typeof forFew => (count <= maxFew ? forFew : { lock, write })
  const forSellers = { lock: few(lockOfSellers), write: few(writeFor('several')) }

  return { probe, forCount, forSellers, keys, single, foundAt: foundBy === undefined ? null : keys.indexOf(foundBy), children }
}

type Statements = ReturnType<typeof buildStatements>

type WrittenRecord<T, Before, Sent extends DifferingRecord<T>> = Written<T, Before> & { readonly record: Sent }

/** Builds the parameters of the statements of a table. */
class ParameterBuilder<T, Before, Row extends LockedRow> {
  private readonly table: VersionedTable<T, Before, Row>
  private readonly statements: Statements
  private readonly buildKey: (record: StorableRecord<T>) => readonly string[]

  constructor(table: VersionedTable<T, Before, Row>, statements: Statements) {
    this.table = table
    this.statements = statements
    this.buildKey = table.buildKey ?? (({ key }) => [key])
  }

  /** One array for each key column, preceded by the record keys if the key has several columns. */
  buildKeys(records: readonly StorableRecord<T>[]): readonly (readonly string[])[] {
    const recordKeys = records.map((record) => record.key)
    if (this.statements.single && this.table.buildKey === undefined) return [recordKeys]
    const values = records.map(this.buildKey)
    const columns = this.statements.keys.map((_, at) => values.map((value) => value[at] ?? ''))
    return this.statements.single ? columns : [recordKeys, ...columns]
  }

  /** The value of the column `foundBy` of a record. */
  findValue(record: StorableRecord<T>): string {
    return this.buildKey(record)[this.statements.foundAt ?? -1] ?? record.key
  }

  /** The members of a JSON object that identify a record of a seller. */
  buildKeyMembers(record: StorableRecord<T>): string {
    return this.buildKey(record)
      .map((text, at) => `"${this.statements.keys[at]}":${JSON.stringify(text)}`)
      .join()
  }

  /** The records and their rows in each child table, each as a JSON array; `buildMembers` identifies a record. */
  buildRows<Sent extends DifferingRecord<T>>(
    writes: readonly WrittenRecord<T, Before, Sent>[],
    buildMembers: (record: Sent) => string,
  ): readonly string[] {
    const identified = writes.map((one) => ({ one, members: buildMembers(one.record) }))
    const rows = jsonArray(identified.map(({ one, members }) => this.buildRow(one, members)))
    const { children } = this.table
    if (children === undefined) return [rows]
    const roots = identified.map(({ one: { value }, members }) => ({ value, whole: children.whole(value), key: members }))
    return [rows, ...childTexts(children.tables, this.statements.children, roots).map(jsonArray)]
  }

  private buildRow({ record, value, before }: Written<T, Before>, members: string): string {
    const { children, payload, row } = this.table
    const identity = members === '' ? '' : `${members},`
    const version = serializeMembers({
      ...(this.statements.single ? {} : { record_key: record.key }),
      known: before !== null,
      raw_hash: record.hash,
      ...(record.observedAt === undefined ? {} : { observed_at: record.observedAt }),
    })
    const counts = buildCounts(children?.tables ?? [], value)
    const raw = payload !== undefined && 'text' in payload ? payload.text(record) : record.rawText
    return `{${identity}${version}${counts},"raw":${raw},${serializeMembers(row(value, before))}}`
  }
}

/** Selects the records to write, given their locked rows: the stored versions may have changed since `findDiffering`. */
const selectWrites = async <T, Before, Row extends LockedRow, Sent extends DifferingRecord<T>>(
  table: VersionedTable<T, Before, Row>,
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly Sent[],
  rows: readonly Row[],
): Promise<readonly WrittenRecord<T, Before, Sent>[]> => {
  const locked = new Map(rows.map((row) => [row.key, row]))
  const differing = records.flatMap((record) => {
    const row = locked.get(record.key)
    if (row === undefined || (row.raw_hash === record.hash && !row.marked)) return []
    return table.choose === undefined && row.observed_at > (record.observedAt ?? observedAt) ? [] : [{ record, row }]
  })
  const stored = differing.length === 0 ? new Map<string, Before>() : await table.before(tx, sellerId, differing)
  const views = differing.flatMap(({ record, row }) => {
    const before = stored.get(record.key)
    return before === undefined ? [] : [{ record, row, before }]
  })
  const chosen = (await table.choose?.(tx, sellerId, observedAt, views)) ?? views
  const replaced = new Map(chosen.map(({ record, before }) => [record.key, before]))
  return records.flatMap((record): WrittenRecord<T, Before, Sent>[] => {
    if (!locked.has(record.key)) return [{ record, value: record.value, before: null }]
    const before = replaced.get(record.key)
    if (before === undefined) return []
    return [{ record, value: table.merge?.(before, record.value, record.observedAt ?? observedAt) ?? record.value, before }]
  })
}

/** Declares a versioned table. */
export const versionedTable = <T, Before, Row extends LockedRow = LockedRow>(
  table: VersionedTable<T, Before, Row>,
): VersionedStore<T, Before> => {
  markTable(`warehouse.${table.name}`, table.personalData)
  const statements = buildStatements(table)
  const parameters = new ParameterBuilder(table, statements)

  const lockAndSelect = async (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    reported: readonly DifferingRecord<T>[],
  ): Promise<readonly Written<T, Before>[]> => {
    const known = reported.filter((record) => record.known)
    if (table.withoutErased !== undefined && known.length < reported.length) await blockErasures(tx, sellerId)
    const lock = statements.forCount(known.length).lock
    const [rows, records] = await runPipelined(
      tx,
      async () => (known.length === 0 ? [] : tx.query<Row>(lock, sellerId, ...parameters.buildKeys(known))),
      async () => (await table.withoutErased?.(tx, () => sellerId, reported)) ?? reported,
    )
    return selectWrites(table, tx, sellerId, observedAt, records, rows)
  }

  /** Returns the keys of the records that were not written, because another transaction has stored them meanwhile. */
  const send = async (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    writes: readonly Written<T, Before>[],
  ): Promise<ReadonlySet<string>> => {
    const known = writes.filter(({ before }) => before !== null)
    const [rows, ...childRows] = parameters.buildRows(writes, (record) => parameters.buildKeyMembers(record))
    const missed = await tx.query<{ key: string }>(
      statements.forCount(writes.length).write,
      sellerId,
      observedAt.toISOString(),
      rows,
      known.map(({ record }) => parameters.findValue(record)),
      ...childRows,
    )
    return new Set(missed.map(({ key }) => key))
  }

  const recordChanges = (tx: Transaction, sellerId: string, { value, before }: Written<T, Before>): void => {
    for (const change of table.changes(sellerId, value, before, tx.findVocabulary(sellerId))) tx.record(change)
  }

  const write = async (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
  ): Promise<readonly Written<T, Before>[]> => {
    if (records.length > 0) await table.lockFirst?.(tx, sellerId)
    const written: Written<T, Before>[] = []
    let rest = records
    // Records that another transaction stores concurrently are known in the next round, and locked there.
    while (rest.length > 0) {
      const writes = await lockAndSelect(tx, sellerId, observedAt, rest)
      if (writes.length === 0) break
      const missed = await send(tx, sellerId, observedAt, writes)
      for (const one of writes) {
        if (missed.has(one.record.key)) continue
        written.push(one)
        recordChanges(tx, sellerId, one)
      }
      rest = rest.filter((record) => missed.has(record.key)).map((record) => ({ ...record, known: true }))
    }
    return written
  }

  const writeLocked = async (tx: Transaction, held: readonly LockedRecord<T>[]): Promise<readonly LockedRecord<T>[]> => {
    const [rows, records] = await runPipelined(
      tx,
      () =>
        tx.query<Row & { readonly seller_id: string }>(
          statements.forSellers.lock,
          held.map(({ sellerId }) => sellerId),
          held.map(({ key }) => key),
        ),
      async () => (await table.withoutErased?.(tx, ({ sellerId }: LockedRecord<T>) => sellerId, held)) ?? held,
    )
    const rowsBySeller = Map.groupBy(rows, (row) => row.seller_id)
    const writes: WrittenRecord<T, Before, LockedRecord<T>>[] = []
    for (const [sellerId, ofSeller] of Map.groupBy(records, (record) => record.sellerId)) {
      for (const { observedAt } of ofSeller.slice(0, 1))
        writes.push(...(await selectWrites(table, tx, sellerId, observedAt, ofSeller, rowsBySeller.get(sellerId) ?? [])))
    }
    const [first] = writes
    if (first === undefined) return []
    const [texts, ...childRows] = parameters.buildRows(
      writes,
      (record) => `${serializeMembers({ seller_id: record.sellerId })},${parameters.buildKeyMembers(record)}`,
    )
    await tx.query(
      statements.forSellers.write,
      [...new Set(writes.map(({ record }) => record.sellerId))],
      first.record.observedAt.toISOString(),
      texts,
      writes.map(({ record }) => record.key),
      ...childRows,
    )
    for (const one of writes) recordChanges(tx, one.record.sellerId, one)
    return writes.map(({ record }) => record)
  }

  return {
    findDiffering: (sql, sellerId, records) =>
      findDiffering(records, (distinct) => sql.query(statements.probe, sellerId, ...parameters.buildKeys(distinct)), table.hash),
    write,
    writeLocked,
    store: async (tx, sellerId, observedAt, records) => (await write(tx, sellerId, observedAt, records)).length,
  }
}
