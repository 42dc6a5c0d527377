import { isUtf8 } from 'node:buffer'

/**
 * The lines of a report file and their cells. Quotes are read as in RFC 4180, except that an unclosed quote never includes the lines below it in its cell: such a
 * line is read by itself.
 */

/** The file as a whole cannot be read. The message names columns and lines, never their contents. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault'
}

/** How the lines of a file are divided into cells. */
export interface LineFormat {
  readonly delimiter: string
  /** Cells may be quoted; otherwise a quote is an ordinary character. */
  readonly quoted: boolean
  /** The cells of the header line. A record has the same number of cells. */
  readonly headers: readonly string[]
  /** The cells with the key of a row. */
  readonly sku: number | null
  readonly gtin: number | null
}

/** One record of the file: its cells and its position. */
export interface ReportLine {
  readonly cells: readonly string[]
  /** Its end in bytes from the start of reading. */
  readonly end: number
  /** The number of its first line. */
  readonly number: number
  /** Its number of lines. */
  readonly lines: number
}

/** A line between two line breaks. */
export interface PlainLine {
  readonly text: string
  /** The line break as it is in the file; empty at the end of the file. */
  readonly lineBreak: string
  readonly end: number
  readonly number: number
}

const maxLineBytes = 1_000_000
/** Maximum lines of one record. */
const maxRecordLines = 100

const newline = 0x0a
const carriageReturn = 0x0d

const lineBreakAt = (bytes: Uint8Array, from: number): number => {
  let at = from
  while (at < bytes.length && bytes[at] !== newline && bytes[at] !== carriageReturn) at += 1
  return at
}

/**
 * The lines of a text file in UTF-8. `firstNumber` is the number of the first line. A byte order mark is removed from the first line of a file.
 *
 * @throws ReportFault if a line is not UTF-8 or is too long; errors of `bytes`
 */
export const readPlainLines = async function* (
  bytes: AsyncIterable<Uint8Array>,
  firstNumber = 1,
): AsyncGenerator<PlainLine, void, undefined> {
  let rest = Buffer.alloc(0)
  let restStart = 0
  /** Chunks after the rest, without a line break. */
  let chunks: Uint8Array[] = []
  let chunkBytes = 0
  let number = firstNumber
  const take = (from: number, at: number, lineBreak: string): PlainLine => {
    const line = rest.subarray(from, at)
    if (line.length > maxLineBytes) throw new ReportFault(`line ${number} is longer than ${maxLineBytes} bytes`)
    if (!isUtf8(line)) throw new ReportFault(`line ${number} is not text in UTF-8, and the marketplace names no other encoding`)
    const text = line.toString('utf8')
    const isFirst = number === 1 && text.startsWith('\uFEFF')
    number += 1
    return {
      text: isFirst ? text.slice(1) : text,
      lineBreak,
      end: restStart + at + lineBreak.length,
      number: number - 1,
    }
  }
  for await (const chunk of bytes) {
    const isInside = lineBreakAt(chunk, 0) === chunk.length && (chunks.at(-1) ?? rest).at(-1) !== carriageReturn
    chunks.push(chunk)
    chunkBytes += chunk.length
    if (rest.length + chunkBytes > maxLineBytes && isInside)
      throw new ReportFault(`line ${number} is longer than ${maxLineBytes} bytes`)
    if (isInside) continue
    rest = Buffer.concat([rest, ...chunks])
    chunks = []
    chunkBytes = 0
    let from = 0
    for (let at = lineBreakAt(rest, from); at < rest.length; at = lineBreakAt(rest, from)) {
      // The second half of the line break may be in the next chunk.
      if (rest[at] === carriageReturn && at + 1 === rest.length) break
      const lineBreak = rest[at] === newline ? '\n' : rest[at + 1] === newline ? '\r\n' : '\r'
      yield take(from, at, lineBreak)
      from = at + lineBreak.length
    }
    rest = rest.subarray(from)
    restStart += from
  }
  rest = Buffer.concat([rest, ...chunks])
  if (rest.length === 0) return
  const isBroken = rest.at(-1) === carriageReturn
  yield take(0, isBroken ? rest.length - 1 : rest.length, isBroken ? '\r' : '')
}

/** The cells of a text. */
interface Split {
  readonly cells: readonly string[]
  /** The first cell with an unclosed quote, which is read as plain text. Null: there is none. */
  readonly openAt: number | null
  /** There is no text after a closing quote. */
  readonly isStrict: boolean
}

/** The content of a quoted cell and its end; null if its quote is not closed. */
const quotedCell = (text: string, start: number): { readonly value: string; readonly end: number } | null => {
  let value = ''
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from)
    if (quote < 0) return null
    value += text.slice(from, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    from = quote + 2
  }
}

/** Divides a text into its cells. */
export const splitCells = (text: string, { delimiter, quoted }: Pick<LineFormat, 'delimiter' | 'quoted'>): Split => {
  if (!quoted || !text.includes('"')) return { cells: text.split(delimiter), openAt: null, isStrict: true }
  const cells: string[] = []
  let openAt: number | null = null
  let isStrict = true
  for (let at = 0; ; ) {
    const cell = text[at] === '"' ? quotedCell(text, at) : null
    if (text[at] === '"' && cell === null) openAt ??= cells.length
    const isClosed = cell !== null && (cell.end === text.length || text.startsWith(delimiter, cell.end))
    if (cell !== null && !isClosed) isStrict = false
    const found = isClosed ? cell.end : text.indexOf(delimiter, at)
    const end = found < 0 ? text.length : found
    cells.push(isClosed ? cell.value : text.slice(at, end))
    if (end === text.length) return { cells, openAt, isStrict }
    at = end + delimiter.length
  }
}

/** Whether all cells of a line are empty. */
export const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '')

/** Counts the lines of a file only by its line breaks, independently of how they are read. */
export const createLineCounter = (): {
  through(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined>
  count(): number
} => {
  let breaks = 0
  let last = newline
  const through = async function* (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of bytes) {
      for (const byte of chunk) {
        if (byte === carriageReturn || (byte === newline && last !== carriageReturn)) breaks += 1
        last = byte
      }
      yield chunk
    }
  }
  return { through, count: () => breaks + (last === newline || last === carriageReturn ? 0 : 1) }
}

const joinedText = (lines: readonly PlainLine[]): string =>
  lines.map(({ text, lineBreak }, at) => (at === lines.length - 1 ? text : text + lineBreak)).join('')

/** Whether a line may be a row by itself. The key of a row never begins with a quote. */
const isRow = (cells: readonly string[], { headers, sku, gtin }: LineFormat): boolean =>
  cells.length >= headers.length && [sku, gtin].every((at) => at === null || cells[at]?.startsWith('"') !== true)

/**
 * The cells of a record whose first line has an unclosed quote, if this line and the lines below it are one record: all quotes are closed, it has as many cells as
 * the header, and no other line of it is a row by itself. If the first line is a complete row, only its last cell may be unclosed, since it includes no cell of
 * another row. Null otherwise.
 */
const joinLines = async (
  first: Split,
  format: LineFormat,
  lineAt: (index: number) => Promise<PlainLine | null>,
): Promise<{ readonly cells: readonly string[]; readonly last: PlainLine; readonly lines: number } | null> => {
  const width = format.headers.length
  if (isRow(first.cells, format) && first.openAt !== width - 1) return null
  const lines: PlainLine[] = []
  for (let index = 0; index < maxRecordLines; index += 1) {
    const line = await lineAt(index)
    if (line === null) return null
    lines.push(line)
    if (index === 0) continue
    if (isRow(splitCells(line.text, format).cells, format)) return null
    // A line without a quote cannot close one.
    if (!line.text.includes('"')) continue
    const { cells, openAt, isStrict } = splitCells(joinedText(lines), format)
    if (openAt === null) return isStrict && cells.length === width ? { cells, last: line, lines: lines.length } : null
  }
  return null
}

/**
 * The records of a file, or of the rest of a file from a record on, including blank lines. U+FFFD replaces each NUL, which Postgres cannot store.
 *
 * @throws as {@link readPlainLines}
 */
export const readLines = async function* (
  bytes: AsyncIterable<Uint8Array>,
  format: LineFormat,
  firstNumber = 1,
): AsyncGenerator<ReportLine, void, undefined> {
  const source = readPlainLines(bytes, firstNumber)
  const ahead: PlainLine[] = []
  const lineAt = async (index: number): Promise<PlainLine | null> => {
    while (ahead.length <= index) {
      const { value, done } = await source.next()
      if (done === true || value === undefined) return null
      ahead.push(value.text.includes('\0') ? { ...value, text: value.text.replaceAll('\0', '\uFFFD') } : value)
    }
    return ahead[index] ?? null
  }
  try {
    for (let line = await lineAt(0); line !== null; line = await lineAt(0)) {
      const { number } = line
      const alone = splitCells(line.text, format)
      const joined = alone.openAt === null ? null : await joinLines(alone, format, lineAt)
      ahead.splice(0, joined?.lines ?? 1)
      if (joined === null) yield { cells: alone.cells, end: line.end, number, lines: 1 }
      else yield { cells: joined.cells, end: joined.last.end, number, lines: joined.lines }
    }
  } finally {
    await source.return()
  }
}
