import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { z } from 'zod'
import {
  type ColumnMeaning,
  type ColumnNames,
  columnMeanings,
  type ReconciliationRow,
  rowKey,
} from '../../domain/reconciliation-report.ts'
import { jsonOrNull } from '../json.ts'
import type { ParsedRecord } from '../record.ts'

/**
 * Reading the CSV file of the inventory reconciliation report. Neither its column names nor their order are published (specification,
 * "Inventory reconciliation report"; public facts, section 7.2): columns are found by what their headers say.
 */

/** The file as a whole cannot be read. The message names columns, never their contents. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault'
}

/** What names a row, and words that may stand around that in a header, once case, spaces and punctuation are taken off. */
const keys = {
  sku: /^(?:seller|vendor|partner|merchant|supplier|item|product|your|my|m)*sku(?:s|id|number|no|num|code|key)*$/,
  gtin: /^(?:item|product|trade|global|seller|vendor)*(?:gtin(?:14)?|globaltradeitemnumber)(?:s|id|number|no|num|code)*$/,
} as const

const owner = 'seller|vendor|partner|merchant|supplier'

/** Headers of a SKU, the surest first: one that is the seller's own by its name, before those that may be the marketplace's. */
const skuHeaders = [
  new RegExp(`^(?:item|product|m)*(?:${owner}|your|my|m)+(?:item|product)*sku(?:s|id|number|no|num|code|key)*$`),
  /^(?:sku|stockkeepingunits?)$/,
  new RegExp(`^(?:${owner})+(?:item|product|part|article|stock)(?:id|number|no|num|nr|code|key)$`),
  keys.sku,
]

const owners = new Set(owner.split('|'))
const keyWords = new Set(['id', 'ids', 'identifier', 'number', 'no', 'num', 'nr', 'code', 'key'])

/** Whether a header that nobody knows may name rows: then the GTIN must not replace it unasked. */
const isKeyLike = (header: string): boolean => {
  const words = header
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  if (words.some((word) => /^(?:gtin|upc|ean|isbn)/.test(word))) return false
  return /sku|#\s*$/i.test(header) || words.some((word) => owners.has(word)) || keyWords.has(words.at(-1) ?? '')
}

/** Words that may stand around what a quantity is called, in any number: `Units Sold`, `soldUnits`, `Total Qty Sold`. */
const filler =
  '(?:units?|quantity|quantities|qty|inventory|stock|total|count|onhand|of|balances?|levels?|the|month|period|net|customers?)*'

/** Where units may have been lost, found or damaged. */
const place = '(?:(?:in|at|by)?(?:the)?(?:warehouses?|fc|fulfillmentcenters?|fulfilmentcenters?|transit|inbound|walmart|wfs))?'

/** Each needed quantity, as a fault names it and as its header may call it; where the first words name no column, the second may. */
const quantities = {
  beginningQuantity: ['Beginning Quantity', 'beginning|begin|opening|starting', 'open|start|initial'],
  endingQuantity: ['Ending Quantity', 'ending|end|closing', 'close|final'],
  sold: ['Units Sold', 'sold', 'sales?|shipped|shipments|shippedtocustomers?|orders?|ordered'],
  returned: ['Units Returned', 'returned|returns|customerreturned|customerreturns', 'return|returnedbycustomers?|customerreturn'],
  lost: ['Units Lost', 'lost', `(?:lost|loss|losses|missing)${place}|${place}(?:lost|loss|losses)`],
  found: ['Units Found', 'found', `(?:found|recovered)${place}|${place}found`],
  damaged: ['Units Damaged', 'damaged|damages', `(?:damaged?|damages)${place}|${place}(?:damaged?|damages)`],
  otherAdjustments: [
    'Other Adjustments',
    'otheradjustments?|otheradjusted|other',
    'others|adjustments?|adjusted|othermovements?|otherchanges?',
  ],
} as const

const meanings = {
  beginningQuantity: 'beginning',
  endingQuantity: 'ending',
  sold: 'sold',
  returned: 'returned',
  lost: 'lost',
  found: 'found',
  damaged: 'damaged',
  otherAdjustments: 'other',
} as const satisfies Record<keyof typeof quantities, ColumnMeaning>

type Quantity = keyof typeof quantities

const eachQuantity = <Of>(of: (name: Quantity) => Of): Readonly<Record<Quantity, Of>> => ({
  beginningQuantity: of('beginningQuantity'),
  endingQuantity: of('endingQuantity'),
  sold: of('sold'),
  returned: of('returned'),
  lost: of('lost'),
  found: of('found'),
  damaged: of('damaged'),
  otherAdjustments: of('otherAdjustments'),
})

/** The header line of a file, and where in a row what we need stands. */
export interface ReportColumns {
  /** Each once: a name that comes again is numbered, an empty one says which column it is. */
  readonly headers: readonly string[]
  readonly sku: number | null
  readonly gtin: number | null
  readonly quantities: Readonly<Record<Quantity, number>>
  /** Columns in the order of their names: a file with other column order holds the same rows. */
  readonly byName: readonly (readonly [name: string, index: number])[]
  /** What was said about headers that stand here; kept with each row, which can be read again by it. */
  readonly said: ColumnNames
  /** What separates the cells of a line. */
  readonly delimiter: string
}

const maxHeadersTold = 40
const maxHeaderTold = 60

const compact = (header: string): string => header.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

const distinct = (headers: readonly string[]): readonly string[] => {
  const seen = new Map<string, number>()
  return headers.map((header, index) => {
    const name = header.trim() || `column ${index + 1}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name} (${count})`
  })
}

const told = (headers: readonly string[]): string => {
  const names = headers.slice(0, maxHeadersTold).map((header) => JSON.stringify(header.slice(0, maxHeaderTold)))
  return `${names.join(', ')}${headers.length > names.length ? ` and ${headers.length - names.length} more` : ''}`
}

/** What a header line is found to hold, and what is wrong with it. */
interface FoundColumns {
  readonly columns: ReportColumns
  readonly faults: readonly string[]
  /** How many of the needed columns are there. */
  readonly known: number
}

const lookForColumns = (line: readonly string[], names: ColumnNames, delimiter: string): FoundColumns => {
  const headers = distinct(line)
  const texts = line.map(compact)
  const saidOf = new Map(Object.entries(names).map(([header, meaning]) => [compact(header), meaning]))
  const said = texts.map((text) => saidOf.get(text))
  // Every other byte of ASCII text in 16 bits is zero; without a byte order mark nobody knows which.
  const faults: string[] = line.some((header) => header.includes('\0')) ? ['the file is no text in UTF-8'] : []
  const matching = (meaning: ColumnMeaning, ...patterns: readonly RegExp[]): readonly number[] => {
    const meant = said.flatMap((one, at) => (one === meaning ? [at] : []))
    if (meant.length > 0) return meant
    const tries = patterns.map((pattern) =>
      texts.flatMap((text, at) => (said[at] === undefined && pattern.test(text) ? [at] : [])),
    )
    return tries.find((found) => found.length > 0) ?? []
  }
  const one = (label: string, found: readonly number[]): number | null => {
    if (found.length > 1) faults.push(`more than one column could be ${label}`)
    return found[0] ?? null
  }
  const quantity = (name: Quantity): number | null => {
    const [label, words, others] = quantities[name]
    const patterns = [words, others].map((each) => new RegExp(`^${filler}(?:${each})${filler}$`))
    const index = one(label, matching(meanings[name], ...patterns))
    if (index === null) faults.push(`the column ${label} is missing`)
    return index
  }
  // Several headers may name the same key: the surest counts, and of equals the first by its name, whatever their order.
  const surest = (found: readonly number[]): number | null =>
    found.toSorted((left, right) => ((texts[left] ?? '') < (texts[right] ?? '') ? -1 : 1))[0] ?? null
  const sku = surest(matching('sku', ...skuHeaders))
  const gtin = surest(matching('gtin', /^gtin$/, keys.gtin))
  const found = eachQuantity(quantity)
  const known = new Set<number | null>([sku, gtin, ...Object.values(found)])
  const unread = headers.find((header, at) => said[at] === undefined && !known.has(at) && isKeyLike(header))
  if (sku === null && unread !== undefined) {
    faults.push(`${told([unread])} may name rows and is not known; REPORT_COLUMNS can say what it means`)
  } else if (sku === null && gtin === null) faults.push('both columns SKU and GTIN are missing')
  const columns = {
    headers,
    sku,
    gtin,
    quantities: {
      beginningQuantity: found.beginningQuantity ?? 0,
      endingQuantity: found.endingQuantity ?? 0,
      sold: found.sold ?? 0,
      returned: found.returned ?? 0,
      lost: found.lost ?? 0,
      found: found.found ?? 0,
      damaged: found.damaged ?? 0,
      otherAdjustments: found.otherAdjustments ?? 0,
    },
    byName: [...headers.entries()]
      .map(([index, name]) => [name, index] as const)
      .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
    said: Object.fromEntries(
      line.flatMap((header, at): [string, ColumnMeaning][] => {
        const meaning = said[at]
        return meaning === undefined ? [] : [[header.trim(), meaning]]
      }),
    ),
    delimiter,
  }
  return { columns, faults, known: [sku, gtin, ...Object.values(found)].filter((index) => index !== null).length }
}

/**
 * Finds the columns.
 *
 * @throws ReportFault when one is missing, or several could be the same one
 */
const findColumns = ({ columns, faults }: FoundColumns): ReportColumns => {
  if (faults.length > 0) throw new ReportFault(`${faults.join(', ')}; the columns are ${told(columns.headers)}`)
  return columns
}

/** One line of the file: its cells, and where in the file it ends, in bytes. */
export interface ReportLine {
  readonly cells: readonly string[]
  readonly end: number
}

/** No row is as long as this; a quote that is never closed swallows the rest of the file. */
const maxRowCharacters = 1_000_000

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
export const readLines = async function* (
  bytes: AsyncIterable<Uint8Array>,
  { delimiter = ',' }: { readonly delimiter?: string } = {},
): AsyncGenerator<ReportLine, void, undefined> {
  const parser = parse({
    delimiter,
    bom: true,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: maxRowCharacters,
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

/** Lines that may stand above the header (a title, when it was made), and what they and the header are looked for in. */
const preambleLines = 25
const headBytes = 64 * 1_024
const delimiters = [',', ';', '\t', '|'] as const

const newline = 0x0a
const carriageReturn = 0x0d

/** The beginning of a file, up to the end of a line. */
const headOf = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    pieces.push(piece)
    size += piece.length
    if (size >= headBytes) {
      const head = Buffer.concat(pieces)
      const end = Math.max(head.lastIndexOf(newline), head.lastIndexOf(carriageReturn))
      return end < 0 ? head : head.subarray(0, end + 1)
    }
  }
  return Buffer.concat(pieces)
}

interface HeaderLine extends FoundColumns {
  readonly end: number
}

const headerLines = async (head: Buffer, delimiter: string, names: ColumnNames): Promise<readonly HeaderLine[]> => {
  const lines: HeaderLine[] = []
  try {
    for await (const { cells, end } of readLines(Readable.from([head]), { delimiter })) {
      lines.push({ ...lookForColumns(cells, names, delimiter), end })
      if (lines.length === preambleLines) break
    }
  } catch (error) {
    // A line further down breaks off; reading the rows shows whether that is a fault.
    if (!(error instanceof ReportFault) || lines.length === 0) throw error
  }
  return lines
}

/**
 * The header line of a file, and where the rows begin: the first line that names all that is needed, with whatever stands between its cells.
 * `names` says what headers mean that nobody knows.
 *
 * @throws ReportFault when there is none, or a needed column is missing; what reading `bytes` throws
 */
export const readHeader = async (
  bytes: AsyncIterable<Uint8Array>,
  names: ColumnNames = {},
): Promise<{ readonly columns: ReportColumns; readonly end: number }> => {
  const head = await headOf(bytes)
  let best: HeaderLine | null = null
  for (const delimiter of delimiters) {
    for (const line of await headerLines(head, delimiter, names)) {
      if (line.faults.length === 0) return { columns: line.columns, end: line.end }
      if (best === null || line.known > best.known) best = line
    }
  }
  if (best === null) throw new ReportFault('the file is empty')
  return { columns: findColumns(best), end: best.end }
}

const maxInteger = 2 ** 31 - 1

/** Spaces of any width and apostrophes stand between thousands in some countries; the same one all through a number. */
const grouped = "\\d{1,3}(?:([,\\s'’])\\d{3}(?:\\1\\d{3})*)"
const wholeNumber = new RegExp(`^(?:\\d+|${grouped})(?:\\.0{0,2})?$`)
/** Semicolons separate cells where a comma begins the decimals, and a point stands between thousands. */
const wholeNumberBesideSemicolons = new RegExp(
  `^(?:\\d+(?:[.,]0{0,2})?|${grouped}(?:\\.0{0,2})?|\\d{1,3}(?:\\.\\d{3})+(?:,0{0,2})?)$`,
)
const decimals = /[.,]0{0,2}$/
const minus = /^[-−‐‑–﹣－]/

/**
 * A count as reports write it: `5`, ` 5 `, `5.0`, `1,234`, `1 234`, `1'234`, `-3`, `3-`, `(3)`; nothing at all is none. Units are whole, so that a
 * point before three digits can only stand between thousands; which, without semicolons between the cells, is a guess. Null for anything else.
 */
const count = (cell: string, delimiter: string): number | null => {
  const text = cell.trim()
  if (text === '') return 0
  const [, bracketed] = /^\((.*)\)$/.exec(text) ?? []
  const signed = bracketed ?? text.replace(/^(.*\d)\s*([-−–])$/, '$2$1')
  const isNegative = bracketed !== undefined || minus.test(signed)
  const digits = (bracketed ?? signed.replace(isNegative ? minus : /^\+/, '')).trim()
  const form = delimiter === ';' ? wholeNumberBesideSemicolons : wholeNumber
  if (!form.test(digits)) return null
  const value = Number(digits.replace(decimals, '').replaceAll(/\D/g, '')) * (isNegative ? -1 : 1)
  // A negative zero is none.
  return Math.abs(value) <= maxInteger ? value + 0 : null
}

/** A row as text that can be read again: by header, with what does not fit beside it. */
const rawRow = z.object({
  month: z.string(),
  row: z.record(z.string(), z.string()),
  /** Cells beyond the last header. */
  more: z.array(z.string()).optional(),
  /** Cells that the last headers lack. */
  missing: z.number().optional(),
  /** What was said about headers that nobody knows. */
  columns: z.record(z.string(), z.enum(columnMeanings)).optional(),
  /** What separated the cells, where that was no comma: numbers are written otherwise then. */
  delimiter: z.string().optional(),
})

const faultOf = (columns: ReportColumns, cells: readonly string[], extra: number): string | null => {
  const wanted = columns.headers.length
  if (cells.length < wanted) return `too few cells: ${cells.length} of ${wanted}`
  if (extra > 0) return `too many cells: ${wanted + extra} of ${wanted}`
  return null
}

const cellAt = (cells: readonly string[], index: number | null): string => (index === null ? '' : (cells[index]?.trim() ?? ''))

/** The column that names a row: the GTIN where the report has no SKUs at all. */
const keyColumn = ({ sku, gtin }: ReportColumns): number | null => sku ?? gtin

const readCells = (
  month: string,
  columns: ReportColumns,
  cells: readonly string[],
  extra: number,
  raw: Readonly<Record<string, string>>,
  rawText: string,
): ParsedRecord<ReconciliationRow> => {
  const misfit = faultOf(columns, cells, extra)
  // Which cell is which is not known then, nor whose row it is.
  if (misfit !== null) return { ok: false, key: null, fault: misfit, rawText }
  const gtin = cellAt(cells, columns.gtin) || null
  const sku = cellAt(cells, keyColumn(columns))
  if (sku === '') return { ok: false, key: null, fault: `${columns.sku === null ? 'GTIN' : 'SKU'}: empty`, rawText }
  const faults: string[] = Object.values(columns.quantities).every((index) => cellAt(cells, index) === '')
    ? ['no quantities']
    : []
  const quantity = (name: Quantity): number => {
    const index = columns.quantities[name]
    const value = count(cells[index] ?? '', columns.delimiter)
    if (value === null) faults.push(`${columns.headers[index]}: no whole number`)
    return value ?? 0
  }
  const value = {
    month,
    sku,
    gtin,
    ...eachQuantity(quantity),
    raw,
  }
  const key = rowKey(month, sku)
  return faults.length > 0 ? { ok: false, key, fault: faults.join('; '), rawText } : { ok: true, key, value, rawText }
}

const extraCells = ({ headers }: ReportColumns, cells: readonly string[]): readonly string[] => {
  const more = cells.slice(headers.length)
  return more.some((cell) => cell.trim() !== '') ? more : []
}

/** What a line below the header looks like, before anything is stored of it. */
export interface RowLook {
  /** The SKU that it is about, as {@link readRow} reads it; null where it cannot be known. */
  readonly sku: string | null
  /** Why it cannot be read; null when it can. */
  readonly fault: string | null
  /** What stands where SKU and GTIN do, as far as there are such columns. */
  readonly names: readonly string[]
  /** Its units, null where the cell is empty or not there; null when one of them is no number. */
  readonly quantities: readonly (number | null)[] | null
  /** All cells in which something stands. */
  readonly texts: readonly string[]
}

/** Looks at a line without keeping it. */
export const lookAtRow = (columns: ReportColumns, cells: readonly string[]): RowLook => {
  const extra = extraCells(columns, cells)
  const parsed = readCells('', columns, cells, extra.length, {}, '')
  const units = Object.values(columns.quantities).map((index) => {
    const cell = cellAt(cells, index)
    return cell === '' ? null : (count(cell, columns.delimiter) ?? Number.NaN)
  })
  return {
    sku: skuOf(columns, cells),
    fault: parsed.ok ? null : parsed.fault,
    names: [columns.sku, columns.gtin].flatMap((index) => (index === null ? [] : [cellAt(cells, index)])),
    quantities: units.some((one) => Number.isNaN(one)) || extra.length > 0 ? null : units,
    texts: cells.map((cell) => cell.trim()).filter((cell) => cell !== ''),
  }
}

/** Whether a file names its rows by GTIN, having no SKUs at all. */
export const isByGtin = ({ sku }: ReportColumns): boolean => sku === null

/** The SKU that a row is about, as {@link readRow} reads it; null where it cannot be known. */
export const skuOf = (columns: ReportColumns, cells: readonly string[]): string | null => {
  if (faultOf(columns, cells, extraCells(columns, cells).length) !== null) return null
  return cellAt(cells, keyColumn(columns)) || null
}

/** Reads one row. A row that cannot be read comes as its text; the text of the same row is the same whatever the order of the columns. */
export const readRow = (month: string, columns: ReportColumns, cells: readonly string[]): ParsedRecord<ReconciliationRow> => {
  const { headers, byName, said, delimiter } = columns
  const row: Record<string, string> = {}
  for (const [name, index] of byName) {
    const cell = cells[index]
    if (cell !== undefined) row[name] = cell
  }
  const more = extraCells(columns, cells)
  const missing = Math.max(headers.length - cells.length, 0)
  const rawText = JSON.stringify({
    month,
    row,
    ...(more.length > 0 ? { more } : {}),
    ...(missing > 0 ? { missing } : {}),
    ...(Object.keys(said).length > 0 ? { columns: said } : {}),
    ...(delimiter === ',' ? {} : { delimiter }),
  })
  return readCells(month, columns, cells, more.length, row, rawText)
}

/** Reads the text of a row again, as {@link readRow} left it. */
export const parseReportRow = (rawText: string): ParsedRecord<ReconciliationRow> => {
  const { data } = rawRow.safeParse(jsonOrNull(rawText))
  if (data === undefined) return { ok: false, key: null, fault: 'no row of a report', rawText }
  const { month, row, more = [], missing = 0, columns: said = {}, delimiter = ',' } = data
  const cells = Object.values(row)
  const lacking = Array.from({ length: missing }, (_, index) => `missing column ${index + 1}`)
  try {
    const columns = findColumns(lookForColumns([...Object.keys(row), ...lacking], said, delimiter))
    return readCells(month, columns, cells, more.length, row, rawText)
  } catch (error) {
    if (error instanceof ReportFault) return { ok: false, key: null, fault: error.message, rawText }
    throw error
  }
}
