import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import { z } from 'zod'

/** Media type of tables. */
export const csvType = 'text/csv'

/** A streamed table; written without the serializer, in JSON Schema it is text. */
export const csvSchema = z.custom<Readable>().meta({
  type: 'string',
  description:
    'All matching rows (`limit` does not apply), with a header. Lists within a row are JSON. Text that a spreadsheet would execute begins with an apostrophe.',
})

/** Whether a client asks for a table. */
export const wantsCsv = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === csvType)

const unwrapped = (schema: unknown): unknown =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema

/** Members of a row that are columns, as paths: those of an object in a row are columns of their own. */
const columnsOf = (item: z.ZodObject): readonly (readonly string[])[] =>
  Object.entries(item.shape).flatMap(([name, schema]) => {
    const inner = unwrapped(schema)
    return inner instanceof z.ZodObject ? Object.keys(inner.shape).map((member) => [name, member]) : [[name]]
  })

const memberAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : null), row)

/** For `JSON.stringify`: whole numbers of any size as text. */
export const plain = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)

const cellOf = (value: unknown): string | number | bigint => {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value
  return typeof value === 'boolean' ? String(value) : JSON.stringify(value, plain)
}

const negativeDecimal = /^-\d+(\.\d+)?$/

/** Rows that come in pages; null: there is no further page. */
export interface CsvPages<Row> {
  readonly first: readonly Row[]
  readonly next: () => Promise<readonly Row[] | null>
}

/** The rows as a table with the columns of their schema, pulled by its reader page by page (RFC 4180; formulas in cells are escaped). */
export const csvOf = <Row>(item: z.ZodObject, pages: CsvPages<Row>): Readable => {
  const columns = columnsOf(item)
  const textOf = (rows: readonly Row[], header: boolean): string =>
    stringify(
      rows.map((row) => columns.map((path) => cellOf(memberAt(row, path)))),
      {
        header,
        columns: columns.map((path) => path.join('.')),
        record_delimiter: 'windows',
        escape_formulas: true,
        cast: { string: (text) => (negativeDecimal.test(text) ? { value: text, escape_formulas: false } : text) },
      },
    )
  const write = async function* (): AsyncGenerator<string, void, undefined> {
    yield textOf(pages.first, true)
    for (let rows = await pages.next(); rows !== null; rows = await pages.next()) if (rows.length > 0) yield textOf(rows, false)
  }
  return Readable.from(write(), { objectMode: false, highWaterMark: 65_536 })
}
