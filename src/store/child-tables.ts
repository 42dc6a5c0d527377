import { assign, list, namesOf } from './columns.ts'
import { markTable, type TableMarks } from './table-marks.ts'
import { pathsWithin } from './versions.ts'

type Fields = Readonly<Record<string, unknown>>
type Paths = ReadonlyMap<unknown, readonly string[]>

/** The part of a child table that its SQL is made of. */
interface ChildShape {
  readonly name: string
  /** The column that names a row beside those of the parent's key, with its type. */
  readonly key: string
  /** Rows are named by their place, and what lies behind the last one goes. */
  readonly positional: boolean
  readonly columns: readonly string[]
  readonly lasting: readonly string[] | null
  readonly children: readonly ChildShape[]
}

/** A table whose rows hang on those of a parent. Its columns are those that are named, the keys above it, `seller_id` and `raw`. */
export interface ChildTable<Parent> {
  readonly shape: ChildShape
  /** How many rows a parent has. */
  count(parent: Parent): number
  /** Hands out the marketplace's own JSON value of each row of a parent, and of what hangs on them. */
  visitRaw(parent: Parent, take: (raw: unknown) => void): void
  /** Hands out the rows of a parent, and of what hangs on them, each as a JSON text. `key` is that of the parent, see {@link membersOf}. */
  visit(parent: Parent, key: string, paths: Paths, take: (shape: ChildShape, text: string) => void): void
}

/** How a child table is made. */
export interface ChildTableOptions<Parent, Item> {
  /** In the schema `warehouse`. */
  readonly name: string
  /** Which of its columns may hold a buyer's data; all of them are named. */
  readonly personalData: TableMarks
  /** What names a row within its parent, as `line_number text`, and stays though a later version lacks it; its place, by default. */
  readonly key?: { readonly column: string; readonly of: (item: Item) => unknown }
  readonly columns: readonly string[]
  readonly items: (parent: Parent) => readonly Item[]
  /** A value for each column. */
  readonly row: (item: Item, index: number) => Fields
  /** The marketplace's own JSON value. */
  readonly raw: (item: Item) => unknown
  /**
   * The table has `first_seen_at` and `changed_at`. A row counts as the one that was seen first for as long as these of its columns stay as they
   * are; empty: always.
   */
  readonly lasting?: readonly string[]
  readonly children?: readonly ChildTable<Item>[]
}

/** Members of a JSON object without its braces: texts are put together, which takes half the time of putting objects together. */
export const membersOf = (fields: Fields): string => JSON.stringify(fields).slice(1, -1)

/** How many rows each of these tables has of a parent: further members of the parent's row. */
export const countsOf = <Parent>(tables: readonly ChildTable<Parent>[], parent: Parent): string => {
  let members = ''
  for (const table of tables) if (table.shape.positional) members += `,"${table.shape.name}_count":${table.count(parent)}`
  return members
}

/** The columns for {@link countsOf}. */
export const countColumns = (tables: readonly { readonly shape: ChildShape }[]): readonly string[] =>
  tables.filter(({ shape }) => shape.positional).map(({ shape }) => `${shape.name}_count int`)

/** A child table. */
export const childTable = <Parent, Item>(options: ChildTableOptions<Parent, Item>): ChildTable<Parent> => {
  const { key, items, row, raw, children = [] } = options
  markTable(`warehouse.${options.name}`, options.personalData)
  const shape: ChildShape = {
    name: options.name,
    key: key?.column ?? 'position int',
    positional: key === undefined,
    columns: options.columns,
    lasting: options.lasting ?? null,
    children: children.map((child) => child.shape),
  }
  const [keyName = ''] = namesOf([shape.key])
  return {
    shape,
    count: (parent) => items(parent).length,
    visitRaw: (parent, take) => {
      for (const item of items(parent)) {
        take(raw(item))
        for (const child of children) child.visitRaw(item, take)
      }
    },
    visit: (parent, parentKey, paths, take) => {
      for (const [index, item] of items(parent).entries()) {
        const own = `${parentKey},"${keyName}":${key === undefined ? index : JSON.stringify(key.of(item))}`
        // A raw part that stands within the whole is named by its path; only one from elsewhere is sent.
        const path = paths.get(raw(item))
        const part = membersOf(path === undefined ? { own_raw: raw(item) } : { raw_path: path })
        take(shape, `{${own}${countsOf(children, item)},${part},${membersOf(row(item, index))}}`)
        for (const child of children) child.visit(item, own, paths, take)
      }
    },
  }
}

/** These tables and those that hang on them, each before its own. */
export const flatten = (tables: readonly { readonly shape: ChildShape }[]): readonly ChildShape[] =>
  tables.flatMap(({ shape }) => [shape, ...flatten(shape.children.map((child) => ({ shape: child })))])

/** The rows of each of these shapes, as JSON texts. */
export const childTexts = <Root>(
  tables: readonly ChildTable<Root>[],
  shapes: readonly ChildShape[],
  roots: readonly { readonly value: Root; readonly whole: unknown; readonly key: string }[],
): readonly (readonly string[])[] => {
  const texts = new Map<ChildShape, string[]>(shapes.map((shape) => [shape, []]))
  for (const { value, whole, key } of roots) {
    const parts = new Set<unknown>()
    for (const table of tables) table.visitRaw(value, (raw) => parts.add(raw))
    const paths = pathsWithin(whole, parts)
    for (const table of tables) table.visit(value, key, paths, (shape, text) => texts.get(shape)?.push(text))
  }
  return [...texts.values()]
}

/**
 * SQL that writes the rows of child tables within the statement that has the tables `reported`, `inserted` and `updated`.
 *
 * @param rootKey columns that name the root; the seller is `$1` where they do not name it too
 * @param found the condition by which the rows `c` of known roots are found
 * @param place of the first parameter: one for each table, in the order of {@link flatten}
 */
export const childStatements = (
  tables: readonly { readonly shape: ChildShape }[],
  rootKey: readonly string[],
  found: string,
  place: number,
): string => {
  const root = list(rootKey)
  const namesSeller = namesOf(rootKey).includes('seller_id')
  const [sellerColumn, seller] = namesSeller ? ['', ''] : ['seller_id, ', '$1, ']
  let next = place
  const write = (shape: ChildShape, parent: string, parentKey: readonly string[]): string => {
    const { name, columns, lasting } = shape
    const key = [...parentKey, shape.key]
    const nested = shape.children.map((child) => ({ shape: child }))
    const sent = [...key, ...countColumns(nested), 'raw_path text[]', 'own_raw jsonb', ...columns]
    const dates = lasting === null ? '' : ', first_seen_at, changed_at'
    const firstSeen =
      lasting === null || lasting.length === 0
        ? ''
        : `first_seen_at = CASE WHEN (${lasting.map((column) => `c.${column}`).join(', ')}) IS NOT DISTINCT FROM
            (${lasting.map((column) => `excluded.${column}`).join(', ')}) THEN c.first_seen_at ELSE now() END, `
    const reported = `${name}_reported AS ${nested.length > 0 ? 'MATERIALIZED ' : ''}(
      SELECT t.*, coalesce(t.own_raw, r.raw #> t.raw_path) AS raw
      FROM jsonb_to_recordset($${next}::jsonb) AS t(${sent.join(', ')})
      JOIN reported r USING (${root})
      WHERE (${list(rootKey, 't.')}) IN (SELECT ${root} FROM written)
    )`
    next += 1
    const written = `${name}_written AS (
      INSERT INTO warehouse.${name} AS c (${sellerColumn}${list(key)}, ${list(columns)}, raw${dates})
      SELECT ${seller}${list(key)}, ${list(columns)}, raw${lasting === null ? '' : ', now(), now()'} FROM ${name}_reported
      ON CONFLICT (${sellerColumn}${list(key)}) DO UPDATE
      SET ${assign(columns, 'excluded')}, ${firstSeen}${lasting === null ? '' : 'changed_at = now(), '}raw = excluded.raw
      WHERE (${list(columns, 'c.')}, c.raw) IS DISTINCT FROM (${list(columns, 'excluded.')}, excluded.raw)
    )`
    const isOfParent = namesOf(parentKey).map((column) => ` AND c.${column} = p.${column}`)
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
