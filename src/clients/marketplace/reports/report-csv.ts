import { z } from 'zod'
import {
  type ColumnMeaning,
  type ColumnNames,
  columnMeanings,
  type ReconciliationRow,
  rowKey,
} from '../../../domain/inventory/reconciliation-report.ts'
import { normalSku } from '../../../domain/values/text.ts'
import { jsonOrNull, storableJson } from '../../http/json.ts'
import type { ParsedRecord } from '../../http/record.ts'
import { isBlank, type LineFormat, type PlainLine, ReportFault, readPlainLines, splitCells } from './report-lines.ts'

/**
 * Reads the CSV file of the inventory reconciliation report. The names and the order of its columns are not published (specification, "Inventory reconciliation
 * report"; public facts, section 7.2): columns are identified by their headers.
 */

/** Headers of the key of a row, with words that may be around it; without case, spaces and punctuation. */
const keys = {
  sku: /^(?:seller|vendor|partner|merchant|supplier|item|product|your|my|m)*sku(?:s|id|number|no|num|code|key)*$/,
  gtin: /^(?:item|product|trade|global|seller|vendor)*(?:gtin(?:14)?|globaltradeitemnumber)(?:s|id|number|no|num|code)*$/,
} as const

const owner = 'seller|vendor|partner|merchant|supplier'

/** Headers of a SKU in order of certainty: the seller's own by name, before names that may mean the marketplace's. */
const skuHeaders = [
  new RegExp(`^(?:item|product|m)*(?:${owner}|your|my|m)+(?:item|product)*sku(?:s|id|number|no|num|code|key)*$`),
  /^(?:sku|stockkeepingunits?)$/,
  new RegExp(`^(?:${owner})+(?:item|product|part|article|stock)(?:id|number|no|num|nr|code|key)$`),
  keys.sku,
]

const owners = new Set(owner.split('|'))
const keyWords = new Set(['id', 'ids', 'identifier', 'number', 'no', 'num', 'nr', 'code', 'key'])

/** Whether an unknown header may be the key of rows: then the GTIN must not silently replace it. */
const isKeyLike = (header: string): boolean => {
  const words = header
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  if (words.some((word) => /^(?:gtin|upc|ean|isbn)/.test(word))) return false
  return /sku|#\s*$/i.test(header) || words.some((word) => owners.has(word)) || keyWords.has(words.at(-1) ?? '')
}

/** Words that may be around the name of a quantity, in any number: `Units Sold`, `soldUnits`, `Total Qty Sold`. */
const filler =
  '(?:units?|quantity|quantities|qty|inventory|stock|total|count|onhand|of|balances?|levels?|the|month|period|net|customers?)*'

/** Places in which units may have been lost, found or damaged. */
const place = '(?:(?:in|at|by)?(?:the)?(?:warehouses?|fc|fulfillmentcenters?|fulfilmentcenters?|transit|inbound|walmart|wfs))?'

/** Each required quantity: its name in faults, patterns of its header, and patterns that apply if the first ones match no column. */
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

/** The header line of a file, and the positions of the required columns. */
export interface ReportColumns extends LineFormat {
  /** Distinct: a repeated name gets a number, an empty one the number of its column. */
  readonly headers: readonly string[]
  readonly quantities: Readonly<Record<Quantity, number>>
  /** Columns in the order of their names: the order in the file does not change the rows. */
  readonly byName: readonly (readonly [name: string, index: number])[]
  /** The configured meanings of these headers. They are stored with each row, which can be parsed again with them. */
  readonly columnNames: ColumnNames
}

const maxReportedHeaders = 40
const maxHeaderLength = 60

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

const formatHeaders = (headers: readonly string[]): string => {
  const names = headers.slice(0, maxReportedHeaders).map((header) => JSON.stringify(header.slice(0, maxHeaderLength)))
  return `${names.join(', ')}${headers.length > names.length ? ` and ${headers.length - names.length} more` : ''}`
}

/** The columns of a header line, and its faults. */
interface FoundColumns {
  readonly columns: ReportColumns
  readonly faults: readonly string[]
  /** Number of required columns that were found. */
  readonly known: number
}

/** Between tabs a quote is plain text, unless the file quotes its headers too. */
const isQuoted = (delimiter: string, headers: readonly string[]): boolean =>
  delimiter !== '\t' || headers.every((header) => /^".*"$/.test(header))

const matchColumns = (
  line: readonly string[],
  names: ColumnNames,
  { delimiter, quoted }: Pick<LineFormat, 'delimiter' | 'quoted'>,
): FoundColumns => {
  const headers = distinct(line)
  const texts = line.map(compact)
  const meaningsByHeader = new Map(Object.entries(names).map(([header, meaning]) => [compact(header), meaning]))
  const stated = texts.map((text) => meaningsByHeader.get(text))
  // In UTF-16 every other byte of ASCII text is zero; without a byte order mark the byte order is unknown.
  const faults: string[] = line.some((header) => header.includes('\0')) ? ['the file is not text in UTF-8'] : []
  const matching = (meaning: ColumnMeaning, ...patterns: readonly RegExp[]): readonly number[] => {
    const meant = stated.flatMap((one, at) => (one === meaning ? [at] : []))
    if (meant.length > 0) return meant
    const tries = patterns.map((pattern) =>
      texts.flatMap((text, at) => (stated[at] === undefined && pattern.test(text) ? [at] : [])),
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
  // Several headers may match the same key: the most certain one counts, of equal ones the first by name, independently of their order.
  const findMostCertain = (found: readonly number[]): number | null =>
    found.toSorted((left, right) => ((texts[left] ?? '') < (texts[right] ?? '') ? -1 : 1))[0] ?? null
  const sku = findMostCertain(matching('sku', ...skuHeaders))
  const gtin = findMostCertain(matching('gtin', /^gtin$/, keys.gtin))
  const found = eachQuantity(quantity)
  const known = new Set<number | null>([sku, gtin, ...Object.values(found)])
  const unread = headers.find((header, at) => stated[at] === undefined && !known.has(at) && isKeyLike(header))
  if (sku === null && unread !== undefined) {
    faults.push(`${formatHeaders([unread])} may be the key of rows and is unknown; REPORT_COLUMNS can define its meaning`)
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
    columnNames: Object.fromEntries(
      line.flatMap((header, at): [string, ColumnMeaning][] => {
        const meaning = stated[at]
        return meaning === undefined ? [] : [[header.trim(), meaning]]
      }),
    ),
    delimiter,
    quoted,
  }
  return { columns, faults, known: [sku, gtin, ...Object.values(found)].filter((index) => index !== null).length }
}

/**
 * Finds the columns.
 *
 * @throws ReportFault if one is missing or ambiguous
 */
const requireColumns = ({ columns, faults }: FoundColumns): ReportColumns => {
  if (faults.length > 0) throw new ReportFault(`${faults.join(', ')}; the columns are ${formatHeaders(columns.headers)}`)
  return columns
}

/** Maximum number of lines above the header (such as a title or a date), and size of the beginning that is searched for the header. */
const preambleLines = 25
const headBytes = 64 * 1_024
const delimiters = [',', ';', '\t', '|'] as const

const newline = 0x0a
const carriageReturn = 0x0d

/** The beginning of a file, up to the end of a line. */
const readHead = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => {
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

/** Maximum number of lines of a header whose cells contain line breaks. */
const maxHeaderLines = 20

/** A candidate for the header, and its last line. */
interface HeaderLine extends FoundColumns {
  readonly last: PlainLine
}

const readLines = async (head: Buffer): Promise<readonly PlainLine[]> => {
  const lines: PlainLine[] = []
  const bytes = async function* () {
    yield head
  }
  for await (const line of readPlainLines(bytes())) {
    lines.push(line)
    if (lines.length === preambleLines * 2 + maxHeaderLines) break
  }
  return lines
}

/** Candidates for the header at an index: the line by itself, or with the lines below it if a quote is unclosed. */
const headersAt = (lines: readonly PlainLine[], index: number, delimiter: string, names: ColumnNames): readonly HeaderLine[] => {
  const found: HeaderLine[] = []
  let text = ''
  for (const line of lines.slice(index, index + maxHeaderLines)) {
    text += line.text
    const quoted = isQuoted(delimiter, text.split(delimiter))
    const { cells, openAt } = splitCells(text, { delimiter, quoted })
    const isAlone = text === line.text
    if (isAlone || openAt === null) found.push({ ...matchColumns(cells, names, { delimiter, quoted }), last: line })
    if (openAt === null) break
    text += line.lineBreak
  }
  return found
}

/** The header line of a file, and the beginning of its rows. */
export interface ReportHeader {
  readonly columns: ReportColumns
  /** End of the header line, in bytes. */
  readonly end: number
  /** Number of lines up to its end. */
  readonly lines: number
}

/**
 * The header line of a file: the first line with all required columns, with any known delimiter. `names` are the configured meanings of unknown headers.
 *
 * @throws ReportFault if there is none, a required column is missing, or the text is not UTF-8; errors of `bytes`
 */
export const readHeader = async (bytes: AsyncIterable<Uint8Array>, names: ColumnNames = {}): Promise<ReportHeader> => {
  const lines = await readLines(await readHead(bytes))
  let best: HeaderLine | null = null
  const buildHeader = (line: HeaderLine): ReportHeader => ({
    columns: requireColumns(line),
    end: line.last.end,
    lines: line.last.number,
  })
  for (const delimiter of delimiters) {
    const filled = lines.flatMap(({ text }, index) => (isBlank(text.split(delimiter)) ? [] : [index])).slice(0, preambleLines)
    for (const line of filled.flatMap((index) => headersAt(lines, index, delimiter, names))) {
      if (line.faults.length === 0) return buildHeader(line)
      if (best === null || line.known > best.known) best = line
    }
  }
  if (best === null) throw new ReportFault('the file is empty')
  return buildHeader(best)
}

const maxInteger = 2 ** 31 - 1

/** Some countries use spaces of any width or apostrophes between thousands; the same character within a number. */
const grouped = "\\d{1,3}(?:([,\\s'’])\\d{3}(?:\\1\\d{3})*)"
const wholeNumber = new RegExp(`^(?:\\d+|${grouped})(?:\\.0{0,2})?$`)
/** Files with semicolons between the cells use a comma before the decimals and a point between thousands. */
const wholeNumberBesideSemicolons = new RegExp(
  `^(?:\\d+(?:[.,]0{0,2})?|${grouped}(?:\\.0{0,2})?|\\d{1,3}(?:\\.\\d{3})+(?:,0{0,2})?)$`,
)
const decimals = /[.,]0{0,2}$/
const minus = /^[-−‐‑–﹣－]/

/**
 * Parses a count in the forms of reports: `5`, ` 5 `, `5.0`, `1,234`, `1 234`, `1'234`, `-3`, `3-`, `(3)`; an empty cell is 0. Units are whole numbers, so a
 * point before three digits can only be between thousands; this is accepted only with semicolons between the cells. Null for any other text.
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
  // Converts minus zero to zero.
  return Math.abs(value) <= maxInteger ? value + 0 : null
}

/** The text of a row, which can be parsed again: its cells by header, and cells without a header. */
const rawRow = z.object({
  month: z.string(),
  row: z.record(z.string(), z.string()),
  /** Cells after the last header. */
  more: z.array(z.string()).optional(),
  /** Number of the last headers without cells. */
  missing: z.number().optional(),
  /** Configured meanings of unknown headers. */
  columns: z.record(z.string(), z.enum(columnMeanings)).optional(),
  /** The delimiter, if it is no comma: it changes the forms of numbers. */
  delimiter: z.string().optional(),
})

const findWidthFault = (columns: ReportColumns, cells: readonly string[], extra: number): string | null => {
  const wanted = columns.headers.length
  if (cells.length < wanted) return `too few cells: ${cells.length} of ${wanted}`
  if (extra > 0) return `too many cells: ${wanted + extra} of ${wanted}`
  return null
}

const cellAt = (cells: readonly string[], index: number | null): string => (index === null ? '' : (cells[index]?.trim() ?? ''))

/** The column with the key of a row: the GTIN if the report has no SKUs. */
const keyColumn = ({ sku, gtin }: ReportColumns): number | null => sku ?? gtin
const keyAt = (columns: ReportColumns, cells: readonly string[]): string => normalSku(cellAt(cells, keyColumn(columns)))

/** Why a cell cannot be the key of a row; null if it can. */
const findKeyProblem = (cell: string, { quoted }: LineFormat): string | null => {
  if (cell.includes('\uFFFD')) return 'contains U+FFFD in place of a lost character'
  if (/[\r\n]/.test(cell)) return 'contains a line break'
  return quoted && cell.startsWith('"') ? 'begins with a quote' : null
}

const readCells = (
  month: string,
  columns: ReportColumns,
  cells: readonly string[],
  extra: number,
  raw: Readonly<Record<string, string>>,
  rawText: string,
): ParsedRecord<ReconciliationRow> => {
  const widthFault = findWidthFault(columns, cells, extra)
  // The columns of the cells are unknown then, and so is the key of the row.
  if (widthFault !== null) return { ok: false, key: null, fault: widthFault, rawText }
  const gtin = cellAt(cells, columns.gtin) || null
  const sku = keyAt(columns, cells)
  if (sku === '') return { ok: false, key: null, fault: `${columns.sku === null ? 'GTIN' : 'SKU'}: empty`, rawText }
  const faults: string[] = Object.values(columns.quantities).every((index) => cellAt(cells, index) === '')
    ? ['no quantities']
    : []
  for (const index of [columns.sku, columns.gtin]) {
    const problem = index === null ? null : findKeyProblem(cellAt(cells, index), columns)
    if (index !== null && problem !== null) faults.push(`${columns.headers[index]}: ${problem}`)
  }
  const quantity = (name: Quantity): number => {
    const index = columns.quantities[name]
    const value = count(cells[index] ?? '', columns.delimiter)
    if (value === null) faults.push(`${columns.headers[index]}: not a whole number`)
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

/** A line below the header, before it is stored. */
export interface RowPreview {
  /** The SKU, as {@link readRow} parses it; null if it is unknown. */
  readonly sku: string | null
  /** Why it is unreadable; null: it is readable. */
  readonly fault: string | null
  /** The cells of the columns SKU and GTIN, if there are such columns. */
  readonly names: readonly string[]
  /** The cell of the GTIN in a file with both columns; null otherwise. */
  readonly gtin: string | null
  /** Its units, null for an empty or missing cell. Null: one of the cells is not a number. */
  readonly quantities: readonly (number | null)[] | null
  /** All cells that are not empty. */
  readonly texts: readonly string[]
}

/** Parses a line before it is stored. */
export const previewRow = (columns: ReportColumns, cells: readonly string[]): RowPreview => {
  const extra = extraCells(columns, cells)
  const parsed = readCells('', columns, cells, extra.length, {}, '')
  const units = Object.values(columns.quantities).map((index) => {
    const cell = cellAt(cells, index)
    return cell === '' ? null : (count(cell, columns.delimiter) ?? Number.NaN)
  })
  return {
    sku: parseSku(columns, cells),
    fault: parsed.ok ? null : parsed.fault,
    names: [columns.sku, columns.gtin].flatMap((index) => (index === null ? [] : [cellAt(cells, index)])),
    gtin: columns.sku === null || columns.gtin === null ? null : cellAt(cells, columns.gtin),
    quantities: units.some((one) => Number.isNaN(one)) || extra.length > 0 ? null : units,
    texts: cells.map((cell) => cell.trim()).filter((cell) => cell !== ''),
  }
}

/** Whether the key of rows is the GTIN, since the file has no SKUs. */
export const isByGtin = ({ sku }: ReportColumns): boolean => sku === null

/** The SKU of a row, as {@link readRow} parses it; null if it is unknown. */
export const parseSku = (columns: ReportColumns, cells: readonly string[]): string | null => {
  if (findWidthFault(columns, cells, extraCells(columns, cells).length) !== null) return null
  return keyAt(columns, cells) || null
}

/** Parses one row. An unreadable row is returned as its text. The text does not depend on the order of the columns. */
export const readRow = (month: string, columns: ReportColumns, cells: readonly string[]): ParsedRecord<ReconciliationRow> => {
  const { headers, byName, columnNames, delimiter } = columns
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
    ...(Object.keys(columnNames).length > 0 ? { columns: columnNames } : {}),
    ...(delimiter === ',' ? {} : { delimiter }),
  })
  return readCells(month, columns, cells, more.length, row, rawText)
}

/** Parses the text of a row, as {@link readRow} returns it. */
export const parseReportRow = (rawText: string): ParsedRecord<ReconciliationRow> => {
  const { data } = rawRow.safeParse(jsonOrNull(storableJson(rawText)))
  if (data === undefined) return { ok: false, key: null, fault: 'no row of a report', rawText }
  const { month, row, more = [], missing = 0, columns: columnNames = {}, delimiter = ',' } = data
  const cells = Object.values(row)
  const lacking = Array.from({ length: missing }, (_, index) => `missing column ${index + 1}`)
  try {
    const quoted = isQuoted(delimiter, Object.keys(row))
    const columns = requireColumns(matchColumns([...Object.keys(row), ...lacking], columnNames, { delimiter, quoted }))
    return readCells(month, columns, cells, more.length, row, rawText)
  } catch (error) {
    if (error instanceof ReportFault) return { ok: false, key: null, fault: error.message, rawText }
    throw error
  }
}
