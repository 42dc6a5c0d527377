import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { z } from 'zod'
import { type ReconciliationRow, rowKey } from '../../domain/reconciliation-report.ts'
import type { ParsedRecord } from '../interface.ts'

/**
 * Reading the CSV file of the inventory reconciliation report. Neither its column names nor their order are published (specification,
 * "Inventory reconciliation report"; public facts, section 7.2): columns are found by what their headers say.
 */

/** The file as a whole cannot be read. The message names columns, never what stands in them. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault'
}

/** What a column may be called, once case, spaces and punctuation are taken off. The first spelling that is found counts. */
const KEY_SPELLINGS = {
  sku: ['sku', 'sellersku', 'vendorsku', 'partnersku', 'merchantsku', 'itemsku', 'skuid', 'skunumber', 'skucode'],
  gtin: ['gtin', 'gtin14', 'itemgtin', 'productgtin', 'gtinnumber', 'globaltradeitemnumber'],
} as const

/** Words that may stand around what a quantity is called, in any number: `Units Sold`, `soldUnits`, `Total Qty Sold`. */
const FILLER = '(?:units?|quantity|quantities|qty|inventory|stock|total|count|onhand|of)*'

/** Each needed quantity, as a fault names it and as its header may call it. */
const QUANTITIES = {
  beginningQuantity: ['Beginning Quantity', 'beginning|begin|opening|starting'],
  endingQuantity: ['Ending Quantity', 'ending|end|closing'],
  sold: ['Units Sold', 'sold'],
  returned: ['Units Returned', 'returned|returns|customerreturned|customerreturns'],
  lost: ['Units Lost', 'lost'],
  found: ['Units Found', 'found'],
  damaged: ['Units Damaged', 'damaged|damages'],
  otherAdjustments: ['Other Adjustments', 'otheradjustments?|otheradjusted|other'],
} as const

type Quantity = keyof typeof QUANTITIES

/** The header line of a file, and where in a row what we need stands. */
export interface ReportColumns {
  /** Each once: a name that comes again is numbered, an empty one says which column it is. */
  readonly headers: readonly string[]
  readonly sku: number | null
  readonly gtin: number | null
  readonly quantities: Readonly<Record<Quantity, number>>
  /** Columns in the order of their names: a file with other column order holds the same rows. */
  readonly byName: readonly (readonly [name: string, index: number])[]
}

const MAX_HEADERS_TOLD = 40
const MAX_HEADER_TOLD = 60

const compact = (header: string): string => header.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

function distinct(headers: readonly string[]): readonly string[] {
  const seen = new Map<string, number>()
  return headers.map((header, index) => {
    const name = header.trim() || `column ${index + 1}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name} (${count})`
  })
}

function told(headers: readonly string[]): string {
  const names = headers.slice(0, MAX_HEADERS_TOLD).map((header) => JSON.stringify(header.slice(0, MAX_HEADER_TOLD)))
  return `${names.join(', ')}${headers.length > names.length ? ` and ${headers.length - names.length} more` : ''}`
}

/**
 * Finds the columns.
 *
 * @throws ReportFault when one is missing, or several could be the same one
 */
function findColumns(line: readonly string[]): ReportColumns {
  const headers = distinct(line)
  const names = line.map(compact)
  const faults: string[] = []
  const key = (spellings: readonly string[]): number | null =>
    spellings.map((spelling) => names.indexOf(spelling)).find((index) => index >= 0) ?? null
  const quantity = (name: Quantity): number => {
    const [label, words] = QUANTITIES[name]
    const pattern = new RegExp(`^${FILLER}(?:${words})${FILLER}$`)
    const [index, another] = names.flatMap((text, at) => (pattern.test(text) ? [at] : []))
    if (index === undefined) faults.push(`the column ${label} is missing`)
    if (another !== undefined) faults.push(`more than one column could be ${label}`)
    return index ?? 0
  }
  const columns = {
    headers,
    sku: key(KEY_SPELLINGS.sku),
    gtin: key(KEY_SPELLINGS.gtin),
    quantities: {
      beginningQuantity: quantity('beginningQuantity'),
      endingQuantity: quantity('endingQuantity'),
      sold: quantity('sold'),
      returned: quantity('returned'),
      lost: quantity('lost'),
      found: quantity('found'),
      damaged: quantity('damaged'),
      otherAdjustments: quantity('otherAdjustments'),
    },
    byName: [...headers.entries()]
      .map(([index, name]) => [name, index] as const)
      .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)),
  }
  if (columns.sku === null && columns.gtin === null) faults.unshift('both columns SKU and GTIN are missing')
  if (faults.length > 0) throw new ReportFault(`${faults.join(', ')}; the columns are ${told(headers)}`)
  return columns
}

/** One line of the file: its cells, and where in the file it ends, in bytes. */
export interface ReportLine {
  readonly cells: readonly string[]
  readonly end: number
}

/** No row is as long as this; a quote that is never closed swallows the rest of the file. */
const MAX_ROW_CHARACTERS = 1_000_000

interface ParsedLine {
  readonly record: readonly string[]
  readonly info: { readonly bytes: number }
}

const isParsedLine = (value: unknown): value is ParsedLine =>
  typeof value === 'object' && value !== null && 'record' in value && Array.isArray(value.record) && 'info' in value

/**
 * The lines of a file, or of the rest of one that begins with a line. Lines without anything in them are left out.
 *
 * @throws ReportFault where the CSV breaks off; what reading `bytes` throws
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ReportLine, void, undefined> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: MAX_ROW_CHARACTERS,
    record_delimiter: ['\r\n', '\n', '\r'],
  })
  // Errors on the way arrive at the reader of the parser.
  pipeline(Readable.from(bytes), parser, () => undefined)
  try {
    for await (const line of parser) {
      const read: unknown = line
      if (isParsedLine(read)) yield { cells: read.record, end: read.info.bytes }
    }
  } catch (error) {
    if (error instanceof CsvError)
      throw new ReportFault(`the file cannot be read as CSV (${error.code}, line ${parser.info.lines})`)
    throw error
  }
}

/**
 * The header line of a file, and where the rows begin.
 *
 * @throws ReportFault when there is none, or a needed column is missing; what reading `bytes` throws
 */
export async function readHeader(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly columns: ReportColumns; readonly end: number }> {
  for await (const { cells, end } of readLines(bytes)) return { columns: findColumns(cells), end }
  throw new ReportFault('the file is empty')
}

const MAX_INTEGER = 2 ** 31 - 1
const WHOLE_NUMBER = /^[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.0*)?$/

/** A count as reports write it: `5`, ` 5 `, `5.0`, `1,234`, `-3`; null for anything else. */
function count(cell: string): number | null {
  const text = cell.trim()
  if (!WHOLE_NUMBER.test(text)) return null
  const value = Number(text.replaceAll(',', ''))
  // A negative zero is none.
  return Math.abs(value) <= MAX_INTEGER ? value + 0 : null
}

/** A row as text that can be read again: by header, with what does not fit beside it. */
const rawRow = z.object({
  month: z.string(),
  row: z.record(z.string(), z.string()),
  /** Cells beyond the last header. */
  more: z.array(z.string()).optional(),
  /** Cells that the last headers lack. */
  missing: z.number().optional(),
})

function faultOf(columns: ReportColumns, cells: readonly string[], extra: number): string | null {
  const wanted = columns.headers.length
  if (cells.length < wanted) return `too few cells: ${cells.length} of ${wanted}`
  if (extra > 0) return `too many cells: ${wanted + extra} of ${wanted}`
  return null
}

function cellAt(cells: readonly string[], index: number | null): string {
  return index === null ? '' : (cells[index]?.trim() ?? '')
}

/** The column that names a row: the GTIN stands in where the report has no SKUs at all. */
const keyColumn = ({ sku, gtin }: ReportColumns): number | null => sku ?? gtin

function readCells(
  month: string,
  columns: ReportColumns,
  cells: readonly string[],
  extra: number,
  raw: Readonly<Record<string, string>>,
  rawText: string,
): ParsedRecord<ReconciliationRow> {
  const misfit = faultOf(columns, cells, extra)
  // Which cell is which is not known then, nor whose row it is.
  if (misfit !== null) return { ok: false, key: null, fault: misfit, rawText }
  const gtin = cellAt(cells, columns.gtin) || null
  const sku = cellAt(cells, keyColumn(columns))
  if (sku === '') return { ok: false, key: null, fault: `${columns.sku === null ? 'GTIN' : 'SKU'}: empty`, rawText }
  const faults: string[] = []
  const quantity = (name: Quantity): number => {
    const index = columns.quantities[name]
    const value = count(cells[index] ?? '')
    if (value === null) faults.push(`${columns.headers[index]}: no whole number`)
    return value ?? 0
  }
  const value = {
    month,
    sku,
    gtin,
    beginningQuantity: quantity('beginningQuantity'),
    endingQuantity: quantity('endingQuantity'),
    sold: quantity('sold'),
    returned: quantity('returned'),
    lost: quantity('lost'),
    found: quantity('found'),
    damaged: quantity('damaged'),
    otherAdjustments: quantity('otherAdjustments'),
    raw,
  }
  const key = rowKey(month, sku)
  return faults.length > 0 ? { ok: false, key, fault: faults.join('; '), rawText } : { ok: true, key, value, rawText }
}

const extraCells = ({ headers }: ReportColumns, cells: readonly string[]): readonly string[] => {
  const more = cells.slice(headers.length)
  return more.some((cell) => cell.trim() !== '') ? more : []
}

/** The SKU that a row is about, as {@link readRow} reads it; null where it cannot be known. */
export function skuOf(columns: ReportColumns, cells: readonly string[]): string | null {
  if (faultOf(columns, cells, extraCells(columns, cells).length) !== null) return null
  return cellAt(cells, keyColumn(columns)) || null
}

/** Reads one row. A row that cannot be read comes as its text; the text of the same row is the same whatever the order of the columns. */
export function readRow(month: string, columns: ReportColumns, cells: readonly string[]): ParsedRecord<ReconciliationRow> {
  const { headers, byName } = columns
  const row: Record<string, string> = {}
  for (const [name, index] of byName) {
    const cell = cells[index]
    if (cell !== undefined) row[name] = cell
  }
  const more = extraCells(columns, cells)
  const missing = Math.max(headers.length - cells.length, 0)
  const rawText = JSON.stringify({ month, row, ...(more.length > 0 ? { more } : {}), ...(missing > 0 ? { missing } : {}) })
  return readCells(month, columns, cells, more.length, row, rawText)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Reads the text of a row again, as {@link readRow} left it. */
export function parseReportRow(rawText: string): ParsedRecord<ReconciliationRow> {
  const { data } = rawRow.safeParse(parseJson(rawText))
  if (data === undefined) return { ok: false, key: null, fault: 'no row of a report', rawText }
  const { month, row, more = [], missing = 0 } = data
  const cells = Object.values(row)
  const lacking = Array.from({ length: missing }, (_, index) => `missing column ${index + 1}`)
  try {
    const columns = findColumns([...Object.keys(row), ...lacking])
    return readCells(month, columns, cells, more.length, row, rawText)
  } catch (error) {
    if (error instanceof ReportFault) return { ok: false, key: null, fault: error.message, rawText }
    throw error
  }
}
