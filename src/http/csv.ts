import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import { z } from 'zod'

/** Media type of tables. */
export const csvType = 'text/csv'

/** A streamed table. It is written without the serializer; in JSON Schema it is text. */
export const csvSchema = z.custom<Readable>().meta({
  type: 'string',
  description:
    'All matching rows (`limit` does not apply), with a header. Lists within a row are JSON. Text that a spreadsheet would execute begins with an apostrophe.',
})

/** Whether a client requests CSV. */
export const acceptsCsv = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === csvType)

const unwrap = (schema: unknown): unknown =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional ? unwrap(schema.unwrap()) : schema

/** Paths of the columns: each member of a row, and each member of an object in a row. */
const listColumns = (item: z.ZodObject): readonly (readonly string[])[] =>
  Object.entries(item.shape).flatMap(([name, schema]) => {
    const inner = unwrap(schema)
    return inner instanceof z.ZodObject ? Object.keys(inner.shape).map((member) => [name, member]) : [[name]]
  })

const readMember = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : null), row)

/** A replacer for `JSON.stringify`: bigints as text. */
export const bigintAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)

const buildCell = (value: unknown): string | number | bigint => {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value
  return typeof value === 'boolean' ? String(value) : JSON.stringify(value, bigintAsText)
}

const negativeDecimal = /^-\d+(\.\d+)?$/

/** Rows in pages. `next` returns null after the last page. */
export interface CsvPages<Row> {
  readonly first: readonly Row[]
  readonly next: () => Promise<readonly Row[] | null>
}

/** The rows as CSV (RFC 4180) with the columns of their schema. Pages are read as the client reads. Formulas in cells are escaped. */
export const buildCsv = <Row>(item: z.ZodObject, pages: CsvPages<Row>): Readable => {
  const columns = listColumns(item)
  const toText = (rows: readonly Row[], header: boolean): string =>
    stringify(
      rows.map((row) => columns.map((path) => buildCell(readMember(row, path)))),
      {
        header,
        columns: columns.map((path) => path.join('.')),
        record_delimiter: 'windows',
        escape_formulas: true,
        cast: { string: (text) => (negativeDecimal.test(text) ? { value: text, escape_formulas: false } : text) },
      },
    )
  const write = async function* (): AsyncGenerator<string, void, undefined> {
    yield toText(pages.first, true)
    for (let rows = await pages.next(); rows !== null; rows = await pages.next()) if (rows.length > 0) yield toText(rows, false)
  }
  return Readable.from(write(), { objectMode: false, highWaterMark: 65_536 })
}
