import type { ChangeRecord } from '../domain/changes/catalogue.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { type ChildTable, childStatements, childTexts, countColumns, countsOf, flatten, membersOf } from './child-tables.ts'
import { assign, list, namesOf } from './columns.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { holdErasuresBack } from './erased-records.ts'
import { prepared } from './prepared.ts'
import { markTable, type TableMarks } from './table-marks.ts'
import { atOnce } from './together.ts'
import { type DifferingRecord, findDiffering, jsonArray, rawHash, type StorableRecord } from './versions.ts'

/** What every stored row says of itself under its lock. */
export interface LockedRow {
  /** Of the record. */
  readonly key: string
  readonly raw_hash: string
  readonly observed_at: Date
  /** One of the table's {@link VersionedTable.marks} is set. */
  readonly marked: boolean
}

/** A record that differs from the row that is stored of it. */
export interface DifferingRow<T, Row> {
  readonly record: DifferingRecord<T>
  readonly row: Row
}

/** As {@link DifferingRow}, with what is stored. */
export interface StoredView<T, Before, Row> extends DifferingRow<T, Row> {
  readonly before: Before
}

/** A record of a seller, stored in a row that the caller has locked. */
export interface HeldRecord<T> extends DifferingRecord<T> {
  readonly sellerId: string
  readonly observedAt: Date
}

/** A record to be written, or that was. */
export interface Written<T, Before> {
  readonly record: DifferingRecord<T>
  /** As it is stored from now on. */
  readonly value: T
  /** What was stored; null for a new record. */
  readonly before: Before | null
}

/**
 * A table of the schema `warehouse` in which a record's newest version stands. It has the columns `seller_id`, `raw_hash`, `raw`, `observed_at`,
 * `first_seen_at` and `changed_at` beside those that are named here.
 */
export interface VersionedTable<T, Before, Row extends LockedRow = LockedRow> {
  readonly name: string
  /** Which of its columns may hold a buyer's data; all of them are named. */
  readonly personalData: TableMarks
  /** Under which replaced versions are kept. */
  readonly resource: string
  /** Columns that name a record beside the seller, as `order_id text`; none where a seller has one row. */
  readonly key: readonly string[]
  /** A text for each of them; by default, the record's key for the only one. */
  readonly keyOf?: (record: StorableRecord<T>) => readonly string[]
  /**
   * The column of the key by which the rows of a page are found: the only one, by default. Without this no statement may go by a join
   * alone: while a table that has just been filled has no statistics, the planner would read all of it.
   */
  readonly foundBy?: string
  /** The other columns of its own, as `level integer`. */
  readonly columns: readonly string[]
  /** A value for each of them. */
  readonly row: (value: T, before: Before | null) => Readonly<Record<string, unknown>>
  /** SQL of columns that are not stored as they are sent, over `t`, the row as it was sent. */
  readonly computed?: Readonly<Record<string, string>>
  /** The record's payload as JSON text, when that is not its raw text, or the path within it at which the payload stands. */
  readonly payload?: { readonly text: (record: StorableRecord<T>) => string } | { readonly path: string }
  /** What distinguishes versions, of the raw text; the text as it came by default. */
  readonly hash?: (rawText: string) => string
  /**
   * Columns that mark a row since when the marketplace shows it not at all, or not rightly. A marked row is written though its text is the
   * same, and writing clears the marks.
   */
  readonly marks: readonly string[]
  /** Tables that hang on this one; `whole` is the payload in which theirs stand. */
  readonly children?: { readonly whole: (value: T) => unknown; readonly tables: readonly ChildTable<T>[] }
  /** Records come one by one as well, often enough for their statements to be {@link prepared}. */
  readonly oftenFew?: true
  /** A lock to take before that of any row. */
  readonly lockFirst?: (tx: Transaction, sellerId: string) => Promise<void>
  /** The records as they may be stored, without buyers that were erased; asked under the locks of the rows. */
  readonly withoutErased?: <Stored extends DifferingRecord<T>>(
    tx: Transaction,
    sellerOf: (record: Stored) => string,
    records: readonly Stored[],
  ) => Promise<readonly Stored[]>
  /** Further columns that are read as the rows (`o`) are locked: a list of SQL. */
  readonly locked?: string
  /** What is stored of these records, by key; one that is left out is not written. */
  readonly before: (
    tx: Transaction,
    sellerId: string,
    differing: readonly DifferingRow<T, Row>[],
  ) => ReadonlyMap<string, Before> | Promise<ReadonlyMap<string, Before>>
  /** Which records replace what is stored; those that were not observed before it, by default. */
  readonly choose?: (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    views: readonly StoredView<T, Before, Row>[],
  ) => Promise<readonly StoredView<T, Before, Row>[]>
  /** What to store of a record, given what is stored; the record itself by default. */
  readonly merge?: (before: Before, value: T) => T
  /** Names what has changed between two versions, or that there is a first one. */
  readonly changes: (sellerId: string, value: T, before: Before | null, vocabulary: Vocabulary) => readonly ChangeRecord[]
}

/** The statements of one table. */
export interface VersionedStore<T, Before> {
  /** Those records of a page whose text differs from what is stored, or whose row is marked. Reads only. */
  findDiffering(sql: SqlRunner, sellerId: string, records: readonly StorableRecord<T>[]): Promise<readonly DifferingRecord<T>[]>
  /**
   * Stores records that `findDiffering` found, by one statement, and records what has changed; returns what was written. An older observation
   * never overwrites a newer one; the version that is replaced is kept in `tallyman.superseded_versions`.
   */
  write(
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
  ): Promise<readonly Written<T, Before>[]>
  /**
   * As `write`, of records of any sellers whose rows the caller has locked: by the same few statements for all of them. Only for a table whose key
   * is one column, and of which there are often few. Returns those that were written.
   */
  writeHeld(tx: Transaction, records: readonly HeldRecord<T>[]): Promise<readonly HeldRecord<T>[]>
  /** As `write`; returns how many were written. */
  store(tx: Transaction, sellerId: string, observedAt: Date, records: readonly DifferingRecord<T>[]): Promise<number>
}

/** For tables of which all that counts is read with the lock. */
export const asLocked = <Row extends LockedRow>(
  _tx: Transaction,
  _sellerId: string,
  differing: readonly { readonly row: Row }[],
): ReadonlyMap<string, Row> => new Map(differing.map(({ row }) => [row.key, row]))

/** More records than these are a page. */
const mostFew = 64

const statementsOf = <T, Before, Row extends LockedRow>(table: VersionedTable<T, Before, Row>) => {
  const from = `warehouse.${table.name}`
  const keys = namesOf(table.key)
  const types = table.key.map((column) => column.slice(column.indexOf(' ') + 1))
  const [only] = keys
  const single = keys.length === 1
  const columns = namesOf(table.columns)
  const foundBy = table.foundBy ?? only
  const typeOf = (name: string | undefined): string => types[keys.indexOf(name ?? '')] ?? 'text'
  // Keys travel as text: a 64-bit integer would not survive as a number.
  const found = (place: number, row = 'o'): string =>
    foundBy === undefined
      ? `cardinality($${place}::text[]) > 0`
      : `${row}.${foundBy} = ANY($${place}::text[]::${typeOf(foundBy)}[])`
  const same = (one: string, other: string): string => keys.map((key) => ` AND ${one}.${key} = ${other}.${key}`).join('')
  const recordKey = single ? `r.${only}::text` : 'r.record_key'
  const marked = table.marks.map((mark) => `o.${mark} IS NOT NULL`).join(' OR ') || 'false'
  const hash = `encode(o.raw_hash, 'hex')`

  // Records are named by one array of each column of the key, after one of their own keys where that is not the column.
  const sent = `unnest(${['record_key', ...keys].map((_, at) => `$${at + 2}::text[]`).join(', ')}) AS t(record_key${keys.map((key) => `, ${key}`).join('')})`
  const isSent = keys.map((key) => ` AND o.${key} = t.${key}::${typeOf(key)}`).join('')

  // An unchanged record leaves no trace here: even `ON CONFLICT … DO UPDATE … WHERE false` would lock its row and write to the log. One row
  // of arrays, not a row for each record: half the work of a page without changes is carrying rows.
  const hashes = `array_agg(${table.marks.length === 0 ? hash : `CASE WHEN ${marked} THEN '' ELSE ${hash} END`}) AS hashes`
  // Rows of several columns are looked up one by one; OFFSET 0 keeps them from being joined otherwise, see `foundBy`.
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
    ...countColumns(tables),
  ]
  const computed = columns.map((name) => {
    const sql = table.computed?.[name]
    return sql === undefined ? `t.${name}` : `${sql} AS ${name}`
  })

  // Of rows that are locked already, one by one: each seller has few of them.
  const lockOfSellers = `SELECT k.seller_id, o.* FROM unnest($1::text[], $2::text[]) AS k(seller_id, record_key)
    CROSS JOIN LATERAL (SELECT o.${foundBy}::text AS key, ${lockedColumns} FROM ${from} o
      WHERE o.seller_id = k.seller_id AND o.${foundBy} = k.record_key::${typeOf(foundBy)} FOR UPDATE) o`

  // $1 seller, $2 observed at, $3 records, $4 by what known ones are found, from $5 on the rows of each child table. Known ones are locked by
  // the caller. Returns the new ones that someone else has stored meanwhile: nothing of those was written.
  // Of several sellers each record names its own, and $1 are those of the known ones.
  const writeFor = (sellersAre: 'one' | 'several'): string => {
    const several = sellersAre === 'several'
    const own = several ? ['seller_id text'] : []
    const isOf = (place: number, row: string): string =>
      `${row}.seller_id = ${several ? 'ANY($1::text[])' : '$1'} AND ${found(place, row)}`
    const sameRow = (one: string, other: string): string =>
      `${several ? ` AND ${one}.seller_id = ${other}.seller_id` : ''}${same(one, other)}`
    return `
    WITH reported AS MATERIALIZED (
      SELECT ${[...namesOf([...own, ...sentColumns]).map((name) => `t.${name}`), ...computed].join(', ')}, ${path === null ? 't.raw' : `t.raw #> '${path}' AS raw`}
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
      WHERE ${isOf(4, 'o')} AND o.raw_hash <> decode(r.raw_hash, 'hex')
      ON CONFLICT DO NOTHING
    ), updated AS (
      UPDATE ${from} o
      SET ${assign(table.columns, 'r')}, raw_hash = decode(r.raw_hash, 'hex'), raw = r.raw,
        observed_at = GREATEST(o.observed_at, COALESCE(r.observed_at, $2::timestamptz)), ${table.marks.map((mark) => `${mark} = NULL, `).join('')}changed_at = now()
      FROM reported r WHERE ${isOf(4, 'o')} AND r.known${sameRow('o', 'r')}
      RETURNING ${['o.seller_id', ...keys.map((key) => `o.${key}`)].join(', ')}
    )${children.length === 0 ? '' : `, ${childStatements(tables, [...own, ...table.key], isOf(4, 'c'), 5)}`}
    SELECT ${recordKey} AS key FROM reported r
    WHERE NOT r.known AND NOT EXISTS (SELECT FROM inserted i WHERE true${sameRow('i', 'r')})`
  }
  const write = writeFor('one')

  // Pages are not prepared: a plan that was made while the table was nearly empty would read all of it until it is analysed.
  const few = table.oftenFew === true ? (sql: string): string => prepared(`${sql}\n-- few records`) : (sql: string): string => sql
  const ofFew = { lock: few(lock), write: few(write) }
  const by = (count: number): typeof ofFew => (count <= mostFew ? ofFew : { lock, write })
  const ofSellers = { lock: few(lockOfSellers), write: few(writeFor('several')) }

  return { probe, by, ofSellers, keys, single, foundAt: foundBy === undefined ? null : keys.indexOf(foundBy), children }
}

/** The statements for a table. */
export const versionedTable = <T, Before, Row extends LockedRow = LockedRow>(
  table: VersionedTable<T, Before, Row>,
): VersionedStore<T, Before> => {
  markTable(`warehouse.${table.name}`, table.personalData)
  const statements = statementsOf(table)
  const { keyOf = ({ key }: StorableRecord<T>): readonly string[] => [key], hash = rawHash } = table

  const namedBy = (records: readonly StorableRecord<T>[]): readonly (readonly string[])[] => {
    const recordKeys = records.map((record) => record.key)
    if (statements.single && table.keyOf === undefined) return [recordKeys]
    const values = records.map(keyOf)
    const columns = statements.keys.map((_, at) => values.map((value) => value[at] ?? ''))
    return statements.single ? columns : [recordKeys, ...columns]
  }

  const prepare = async (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    reported: readonly DifferingRecord<T>[],
  ): Promise<readonly Written<T, Before>[]> => {
    const known = reported.filter((record) => record.known)
    if (table.withoutErased !== undefined && known.length < reported.length) await holdErasuresBack(tx, sellerId)
    const [rows, records] = await atOnce(
      tx,
      async () => (known.length === 0 ? [] : tx.query<Row>(statements.by(known.length).lock, sellerId, ...namedBy(known))),
      async () => (await table.withoutErased?.(tx, () => sellerId, reported)) ?? reported,
    )
    return toWrite(tx, sellerId, observedAt, records, rows)
  }

  /** What to write of records whose rows are locked, and read as they then are. */
  const toWrite = async <Sent extends DifferingRecord<T>>(
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly Sent[],
    rows: readonly Row[],
  ): Promise<readonly (Written<T, Before> & { readonly record: Sent })[]> => {
    const locked = new Map(rows.map((row) => [row.key, row]))
    // What was found before the lock may have changed since.
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
    const replacing = new Map(chosen.map(({ record, before }) => [record.key, before]))
    return records.flatMap((record): (Written<T, Before> & { readonly record: Sent })[] => {
      if (!locked.has(record.key)) return [{ record, value: record.value, before: null }]
      const before = replacing.get(record.key)
      return before === undefined ? [] : [{ record, value: table.merge?.(before, record.value) ?? record.value, before }]
    })
  }

  const keyMembers = (record: StorableRecord<T>): string =>
    keyOf(record)
      .map((text, at) => `"${statements.keys[at]}":${JSON.stringify(text)}`)
      .join()

  /** `members` name the record. */
  const textOf = ({ record, value, before }: Written<T, Before>, members: string): string => {
    const names = members === '' ? '' : `${members},`
    const version = membersOf({
      ...(statements.single ? {} : { record_key: record.key }),
      known: before !== null,
      raw_hash: record.hash,
      ...(record.observedAt === undefined ? {} : { observed_at: record.observedAt }),
    })
    const counts = countsOf(table.children?.tables ?? [], value)
    const payload = table.payload !== undefined && 'text' in table.payload ? table.payload.text(record) : record.rawText
    return `{${names}${version}${counts},"raw":${payload},${membersOf(table.row(value, before))}}`
  }

  /** The records and the rows that hang on them, each as a JSON array; `membersFor` names a record. */
  const textsOf = <One extends Written<T, Before>>(
    writes: readonly One[],
    membersFor: (record: One['record']) => string,
  ): readonly string[] => {
    const named = writes.map((one) => ({ one, members: membersFor(one.record) }))
    const texts = jsonArray(named.map(({ one, members }) => textOf(one, members)))
    const { children } = table
    if (children === undefined) return [texts]
    const roots = named.map(({ one: { value }, members }) => ({ value, whole: children.whole(value), key: members }))
    return [texts, ...childTexts(children.tables, statements.children, roots).map(jsonArray)]
  }

  /** Returns the keys of those that were not written, since someone else has stored them meanwhile. */
  const send = async (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    writes: readonly Written<T, Before>[],
  ): Promise<ReadonlySet<string>> => {
    const known = writes.filter(({ before }) => before !== null)
    const [texts, ...childrenTexts] = textsOf(writes, keyMembers)
    const missed = await tx.query<{ key: string }>(
      statements.by(writes.length).write,
      sellerId,
      observedAt.toISOString(),
      texts,
      known.map(({ record }) => keyOf(record)[statements.foundAt ?? -1] ?? record.key),
      ...childrenTexts,
    )
    return new Set(missed.map(({ key }) => key))
  }

  const tell = (tx: Transaction, sellerId: string, { value, before }: Written<T, Before>): void => {
    for (const change of table.changes(sellerId, value, before, tx.vocabularyOf(sellerId))) tx.record(change)
  }

  const write = async (
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
  ): Promise<readonly Written<T, Before>[]> => {
    if (records.length > 0) await table.lockFirst?.(tx, sellerId)
    const all: Written<T, Before>[] = []
    let rest = records
    // Records that someone else stores at the same moment are known in the next round, where they are locked.
    while (rest.length > 0) {
      const writes = await prepare(tx, sellerId, observedAt, rest)
      if (writes.length === 0) break
      const missed = await send(tx, sellerId, observedAt, writes)
      for (const one of writes) {
        if (missed.has(one.record.key)) continue
        all.push(one)
        tell(tx, sellerId, one)
      }
      rest = rest.filter((record) => missed.has(record.key)).map((record) => ({ ...record, known: true }))
    }
    return all
  }

  const writeHeld = async (tx: Transaction, held: readonly HeldRecord<T>[]): Promise<readonly HeldRecord<T>[]> => {
    const [rows, records] = await atOnce(
      tx,
      () =>
        tx.query<Row & { readonly seller_id: string }>(
          statements.ofSellers.lock,
          held.map(({ sellerId }) => sellerId),
          held.map(({ key }) => key),
        ),
      async () => (await table.withoutErased?.(tx, ({ sellerId }: HeldRecord<T>) => sellerId, held)) ?? held,
    )
    const rowsOf = Map.groupBy(rows, (row) => row.seller_id)
    const writes: (Written<T, Before> & { readonly record: HeldRecord<T> })[] = []
    for (const [sellerId, ofSeller] of Map.groupBy(records, (record) => record.sellerId)) {
      for (const { observedAt } of ofSeller.slice(0, 1))
        writes.push(...(await toWrite(tx, sellerId, observedAt, ofSeller, rowsOf.get(sellerId) ?? [])))
    }
    const [first] = writes
    if (first === undefined) return []
    const [texts, ...childrenTexts] = textsOf(
      writes,
      (record) => `${membersOf({ seller_id: record.sellerId })},${keyMembers(record)}`,
    )
    await tx.query(
      statements.ofSellers.write,
      [...new Set(writes.map(({ record }) => record.sellerId))],
      first.record.observedAt.toISOString(),
      texts,
      writes.map(({ record }) => record.key),
      ...childrenTexts,
    )
    for (const one of writes) tell(tx, one.record.sellerId, one)
    return writes.map(({ record }) => record)
  }

  return {
    findDiffering: (sql, sellerId, records) =>
      findDiffering(records, (distinct) => sql.query(statements.probe, sellerId, ...namedBy(distinct)), hash),
    write,
    writeHeld,
    store: async (tx, sellerId, observedAt, records) => (await write(tx, sellerId, observedAt, records)).length,
  }
}
