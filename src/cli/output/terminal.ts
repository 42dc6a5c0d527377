import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { styleText } from 'node:util'
import { escapeControlCharacters } from '../../observability/control-characters.ts'

/** Where a command writes: data to `out`, messages for the user to `talk`. */
export interface Terminal {
  readonly out: NodeJS.WritableStream
  readonly messages: NodeJS.WritableStream
  /** Data as JSON instead of tables. */
  readonly json: boolean
}

/** Colours with a meaning; none is written if NO_COLOR is set or the stream is not a terminal. */
export type Tone = 'good' | 'warning' | 'bad' | 'quiet' | 'strong'

const styles = { good: 'green', warning: 'yellow', bad: 'red', quiet: 'dim', strong: 'bold' } as const

// Colours are control characters too. Ours are marked with a random token until they are written.
const escapeMark = `\u001b${randomUUID()}`

/** Colours a text for this stream; the result must be written by `write`. */
export const paint = (stream: NodeJS.WritableStream, tone: Tone, text: string): string =>
  styleText(styles[tone], '\u0000', { stream, validateStream: true })
    .replaceAll('\u001b', escapeMark)
    .replace('\u0000', () => text)

/** Writes to a stream of the command line; only this function and `printFile` do. Escapes control sequences in texts, except those of `paint`. */
export const write = (stream: NodeJS.WritableStream, text: string): void => {
  stream.write(text.split(escapeMark).map(escapeControlCharacters).join('\u001b'))
}

/** Writes a file as data. Its lines may end with CR LF, as those of CSV do; all other control characters are escaped. */
export const printFile = (terminal: Terminal, text: string): void => {
  terminal.out.write(text.split('\r\n').map(escapeControlCharacters).join('\r\n'))
}

/** A cell of a table. */
export interface Cell {
  readonly text: string
  readonly tone?: Tone
}

/** One column: its heading and alignment. */
export interface Column {
  readonly heading: string
  readonly align?: 'left' | 'right'
}

/** A text on one line, as a cell or a note: line breaks become spaces. */
export const oneLine = (text: string): string =>
  escapeControlCharacters(text.replace(/[\s\p{Zl}\p{Zp}]*[\n\r\t\v\f\u0085\p{Zl}\p{Zp}][\s\p{Zl}\p{Zp}]*/gu, ' '))

/** Columns are not narrowed below this width. */
const minWidth = 8
const gap = 2

/** Narrows columns until they fit into `maxWidth`, the widest first. */
const fitWidths = (widths: readonly number[], maxWidth: number): readonly number[] => {
  const fit = [...widths]
  const total = (): number => fit.reduce((sum, width) => sum + width, gap * (fit.length - 1))
  for (let over = total() - maxWidth; over > 0; over = total() - maxWidth) {
    const widest = Math.max(...fit)
    if (widest <= minWidth) break
    const next = Math.max(minWidth, ...fit.filter((width) => width < widest))
    const sharing = fit.filter((width) => width === widest).length
    const cut = Math.min(widest - next, Math.ceil(over / sharing)) || 1
    for (const [index, width] of fit.entries()) if (width === widest) fit[index] = width - cut
  }
  return fit
}

const truncate = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

/** Rows under headings. Columns are as wide as their widest cell, or narrower to fit into `maxWidth`. Lines have no trailing space. */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
  paintCell: (tone: Tone, text: string) => string = (_tone, text) => text,
  maxWidth = Number.POSITIVE_INFINITY,
): string => {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) })),
  )
  const widths = fitWidths(
    columns.map((column, index) =>
      cells.reduce((width, row) => Math.max(width, row[index]?.text.length ?? 0), column.heading.length),
    ),
    maxWidth,
  )
  const line = (row: readonly Cell[], tone: Tone | null): string =>
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0
        const { text: whole, tone: own } = row[index] ?? { text: '' }
        const shown = truncate(whole, width)
        const space = ' '.repeat(width - shown.length)
        const toned = own ?? tone
        const text = toned === null || shown === '' ? shown : paintCell(toned, shown)
        return column.align === 'right' ? space + text : text + space
      })
      .join(' '.repeat(gap))
      .trimEnd()
  return [
    line(
      columns.map((column) => ({ text: column.heading })),
      'strong',
    ),
    ...cells.map((row) => line(row, null)),
  ].join('\n')
}

/** Writes a line of data. */
export const print = (terminal: Terminal, text: string): void => {
  write(terminal.out, `${text}\n`)
}

/** Writes one JSON document as data. */
export const printJson = (terminal: Terminal, value: unknown): void => print(terminal, JSON.stringify(value, null, 2))

/** Width of a terminal; infinite for a file or a pipe. */
const countColumns = (stream: NodeJS.WritableStream): number =>
  'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY

/** Writes a table as data; for an empty one only the message `none`. */
export const printTable = (
  terminal: Terminal,
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
): void => {
  if (rows.length === 0) printMessage(terminal, 'none')
  else
    print(
      terminal,
      table(columns, rows, (tone, text) => paint(terminal.out, tone, text), countColumns(terminal.out)),
    )
}

/** Writes a message for the user. */
export const printMessage = (terminal: Terminal, text: string): void => {
  write(terminal.messages, `${text}\n`)
}

/** A number with its noun: `1 line`, `3 lines`. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`

/** A duration in its two largest units: `3 d 4 h`, `2 m 5 s`, `12 ms`. */
export const duration = (durationMs: number): string => {
  const ms = Math.abs(Math.round(durationMs))
  if (ms < 1_000) return `${ms} ms`
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const
  const first = units.findIndex(([, size]) => ms >= size)
  const parts: string[] = []
  let rest = ms
  for (const [name, size] of units.slice(first, first + 2)) {
    const amount = Math.floor(rest / size)
    rest -= amount * size
    if (amount > 0) parts.push(`${amount} ${name}`)
  }
  return parts.join(' ')
}

/** Resolves after a delay; rejects when the signal is aborted. */
export const pause = async (delayMs: number, signal: AbortSignal): Promise<void> => {
  await wait(delayMs, undefined, { signal })
}
