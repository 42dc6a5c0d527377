import { assign, list, listNames } from '../db/columns.ts'
import { markTable, type TableMarks } from './table-marks.ts'
import { findPaths } from './versions.ts'

type Fields = Readonly<Record<string, unknown>>
type Paths = ReadonlyMap<unknown, readonly string[]>

/** The part of a child table from which its SQL is built. */
interface ChildShape {
  readonly name: string
  /** The column that identifies a row within its parent, with its type. */
  readonly key: string
  /** Rows are identified by their position; rows after the last one are deleted. */
  readonly positional: boolean
  readonly columns: readonly string[]
  readonly lasting: readonly string[] | null
  /** The table has a column for the marketplace's JSON value. */
  readonly hasRaw: boolean
  readonly children: readonly ChildShape[]
}

/** A table of rows that belong to a parent row. Its columns: those of the options, the keys of its ancestors, `seller_id`, and optionally `raw`. */
export interface ChildTable<Parent> {
  readonly shape: ChildShape
  /** The number of rows of a parent. */
  count(parent: Parent): number
  /** Visits the marketplace's JSON value of each row of a parent, and of their descendants. */
  visitRaw(parent: Parent, visitor: (raw: unknown) => void): void
  /** Visits the rows of a parent, and their descendants, as JSON texts. `key` is that of the parent, see {@link serializeMembers}. */
  visit(parent: Parent, key: string, paths: Paths, visitor: (shape: ChildShape, text: string) => void): void
}

/** Options of {@link childTable}. */
export interface ChildTableOptions<Parent, Item> {
  /** In the schema `warehouse`. */
  readonly name: string
  /** Marks all of its columns: which may contain a buyer's data. */
  readonly personalData: TableMarks
  /** The column that identifies a row within its parent (`line_number text`). Such a row stays if a later version lacks it. Default: its position. */
  readonly key?: { readonly column: string; readonly of: (item: Item) => unknown }
  readonly columns: readonly string[]
  readonly items: (parent: Parent) => readonly Item[]
  /** A value for each column. */
  readonly row: (item: Item, index: number) => Fields
  /** The marketplace's JSON value; null: the table has no column `raw`. */
  readonly raw: ((item: Item) => unknown) | null
  /**
   * The table has `first_seen_at` and `changed_at`. A change of one of these columns resets `first_seen_at`; empty: no change does.
   */
  readonly lasting?: readonly string[]
  readonly children?: readonly ChildTable<Item>[]
}

/** Members of a JSON object without its braces, to concatenate texts, which is twice as fast as merging objects. */
export const serializeMembers = (fields: Fields): string => JSON.stringify(fields).slice(1, -1)

/** The numbers of a parent's rows in each of these tables, as further members of the parent's row. */
export const buildCounts = <Parent>(tables: readonly ChildTable<Parent>[], parent: Parent): string => {
  let members = ''
  for (const table of tables) if (table.shape.positional) members += `,"${table.shape.name}_count":${table.count(parent)}`
  return members
}

/** The columns of {@link buildCounts}. */
export const buildCountColumns = (tables: readonly { readonly shape: ChildShape }[]): readonly string[] =>
  tables.filter(({ shape }) => shape.positional).map(({ shape }) => `${shape.name}_count int`)

/** Declares a child table. */
export const childTable = <Parent, Item>(options: ChildTableOptions<Parent, Item>): ChildTable<Parent> => {
  const { key, items, row, raw, children = [] } = options
  markTable(`warehouse.${options.name}`, options.personalData)
  const shape: ChildShape = {
    name: options.name,
    key: key?.column ?? 'position int',
    positional: key === undefined,
    columns: options.columns,
    lasting: options.lasting ?? null,
    hasRaw: raw !== null,
    children: children.map((child) => child.shape),
  }
  const [keyName = ''] = listNames([shape.key])
  return {
    shape,
    count: (parent) => items(parent).length,
    visitRaw: (parent, visitor) => {
      for (const item of items(parent)) {
        if (raw !== null) visitor(raw(item))
        for (const child of children) child.visitRaw(item, visitor)
      }
    },
    visit: (parent, parentKey, paths, visitor) => {
      for (const [index, item] of items(parent).entries()) {
        const own = `${parentKey},"${keyName}":${key === undefined ? index : JSON.stringify(key.of(item))}`
        // A raw part of the root's raw value is referenced by its path; any other is sent.
        const path = raw === null ? undefined : paths.get(raw(item))
        const part = raw === null ? '' : `${serializeMembers(path === undefined ? { own_raw: raw(item) } : { raw_path: path })},`
        visitor(shape, `{${own}${buildCounts(children, item)},${part}${serializeMembers(row(item, index))}}`)
        for (const child of children) child.visit(item, own, paths, visitor)
      }
    },
  }
}

/** These tables and their descendants, parents first. */
export const flatten = (tables: readonly { readonly shape: ChildShape }[]): readonly ChildShape[] =>
  tables.flatMap(({ shape }) => [shape, ...flatten(shape.children.map((child) => ({ shape: child })))])

/** The rows of each of these tables, as JSON texts. */
export const childTexts = <Root>(
  tables: readonly ChildTable<Root>[],
  shapes: readonly ChildShape[],
  roots: readonly { readonly value: Root; readonly whole: unknown; readonly key: string }[],
): readonly (readonly string[])[] => {
  const texts = new Map<ChildShape, string[]>(shapes.map((shape) => [shape, []]))
  for (const { value, whole, key } of roots) {
    const parts = new Set<unknown>()
    for (const table of tables) table.visitRaw(value, (raw) => parts.add(raw))
    const paths = findPaths(whole, parts)
    for (const table of tables) table.visit(value, key, paths, (shape, text) => texts.get(shape)?.push(text))
  }
  return [...texts.values()]
}

/**
 * SQL that writes the rows of child tables, within a statement that has the CTEs `reported`, `inserted` and `updated`.
 *
 * @param rootKey columns of the root's key; without `seller_id` among them, the seller is `$1`
 * @param found the condition that finds the rows `c` of known roots
 * @param place number of the first parameter; there is one for each table, in the order of {@link flatten}
 */
export const childStatements = (
  tables: readonly { readonly shape: ChildShape }[],
  rootKey: readonly string[],
  found: string,
  place: number,
): string => {
  const root = list(rootKey)
  const namesSeller = listNames(rootKey).includes('seller_id')
  const [sellerColumn, seller] = namesSeller ? ['', ''] : ['seller_id, ', '$1, ']
  let next = place
  const write = (shape: ChildShape, parent: string, parentKey: readonly string[]): string => {
    const { name, lasting, hasRaw } = shape
    const key = [...parentKey, shape.key]
    const nested = shape.children.map((child) => ({ shape: child }))
    const columns = [...shape.columns, ...(hasRaw ? ['raw jsonb'] : [])]
    const sent = [...key, ...buildCountColumns(nested), ...(hasRaw ? ['raw_path text[]', 'own_raw jsonb'] : []), ...shape.columns]
    const dates = lasting === null ? '' : ', first_seen_at, changed_at'
    const firstSeen =
      lasting === null || lasting.length === 0
        ? ''
        : `first_seen_at = CASE WHEN (${lasting.map((column) => `c.${column}`).join(', ')}) IS NOT DISTINCT FROM
            (${lasting.map((column) => `excluded.${column}`).join(', ')}) THEN c.first_seen_at ELSE now() END, `
    const reported = `${name}_reported AS ${nested.length > 0 ? 'MATERIALIZED ' : ''}(
      SELECT t.*${hasRaw ? ', coalesce(t.own_raw, r.raw #> t.raw_path) AS raw' : ''}
      FROM jsonb_to_recordset($${next}::jsonb) AS t(${sent.join(', ')})
      JOIN reported r USING (${root})
      WHERE (${list(rootKey, 't.')}) IN (SELECT ${root} FROM written)
    )`
    next += 1
    const written = `${name}_written AS (
      INSERT INTO warehouse.${name} AS c (${sellerColumn}${list(key)}, ${list(columns)}${dates})
      SELECT ${seller}${list(key)}, ${list(columns)}${lasting === null ? '' : ', now(), now()'} FROM ${name}_reported
      ON CONFLICT (${sellerColumn}${list(key)}) DO UPDATE
      SET ${firstSeen}${lasting === null ? '' : 'changed_at = now(), '}${assign(columns, 'excluded')}
      WHERE (${list(columns, 'c.')}) IS DISTINCT FROM (${list(columns, 'excluded.')})
    )`
    const isOfParent = listNames(parentKey).map((column) => ` AND c.${column} = p.${column}`)
    const vanished = `${name}_vanished AS (
      DELETE FROM warehouse.${name} c USING ${parent} p
      WHERE ${found}${isOfParent.join('')} AND c.${list([shape.key])} >= p.${name}_count
    )`
    const below = nested.map((child) => write(child.shape, `${name}_reported`, key))
    return [reported, written, ...(shape.positional ? [vanished] : []), ...below].join(', ')
  }
  const written = `written AS (SELECT ${root} FROM inserted UNION ALL SELECT ${root} FROM updated)`
  return [written, ...tables.map(({ shape }) => write(shape, 'reported', rootKey))].join(', ')
}
