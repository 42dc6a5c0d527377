import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { styleText } from 'node:util'
import { harmless } from '../observability/harmless.ts'

/** Where a command writes: data to `out`, messages for the user to `talk`. */
export interface Terminal {
  readonly out: NodeJS.WritableStream
  readonly talk: NodeJS.WritableStream
  /** Data as JSON instead of tables. */
  readonly json: boolean
}

/** Colours with a meaning; none is written if NO_COLOR is set or the stream is not a terminal. */
export type Tone = 'good' | 'warning' | 'bad' | 'quiet' | 'strong'

const styles = { good: 'green', warning: 'yellow', bad: 'red', quiet: 'dim', strong: 'bold' } as const

// Colours are control characters too. Ours are marked with a random token until they are written.
const ourMark = `\u001b${randomUUID()}`

/** Colours a text for this stream; the result must be written by `write`. */
export const paint = (stream: NodeJS.WritableStream, tone: Tone, text: string): string =>
  styleText(styles[tone], '\u0000', { stream, validateStream: true })
    .replaceAll('\u001b', ourMark)
    .replace('\u0000', () => text)

/** The only function that writes to a stream of the command line. Control sequences in texts from outside are escaped. */
export const write = (stream: NodeJS.WritableStream, text: string): void => {
  stream.write(text.split(ourMark).map(harmless).join('\u001b'))
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
  harmless(text.replace(/[\s\p{Zl}\p{Zp}]*[\n\r\t\v\f\u0085\p{Zl}\p{Zp}][\s\p{Zl}\p{Zp}]*/gu, ' '))

/** No column of a table is made narrower than this for the sake of the terminal. */
const narrowest = 8
const gap = 2

/** Widths that fit together into `room`: the widest columns give way first. */
const fitted = (widths: readonly number[], room: number): readonly number[] => {
  const fit = [...widths]
  const total = (): number => fit.reduce((sum, width) => sum + width, gap * (fit.length - 1))
  for (let over = total() - room; over > 0; over = total() - room) {
    const widest = Math.max(...fit)
    if (widest <= narrowest) break
    const next = Math.max(narrowest, ...fit.filter((width) => width < widest))
    const sharing = fit.filter((width) => width === widest).length
    const cut = Math.min(widest - next, Math.ceil(over / sharing)) || 1
    for (const [index, width] of fit.entries()) if (width === widest) fit[index] = width - cut
  }
  return fit
}

const cutTo = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

/** Rows under headings, columns as wide as their widest cell or as the room allows, no space at line ends. */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
  paintCell: (tone: Tone, text: string) => string = (_tone, text) => text,
  room = Number.POSITIVE_INFINITY,
): string => {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) })),
  )
  const widths = fitted(
    columns.map((column, index) =>
      cells.reduce((width, row) => Math.max(width, row[index]?.text.length ?? 0), column.heading.length),
    ),
    room,
  )
  const line = (row: readonly Cell[], tone: Tone | null): string =>
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0
        const { text: whole, tone: own } = row[index] ?? { text: '' }
        const shown = cutTo(whole, width)
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

/** Columns of a terminal; a file or a pipe has room for everything. */
const roomOf = (stream: NodeJS.WritableStream): number =>
  'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY

/** Writes a table as data; for an empty one only a note that there is nothing. */
export const printTable = (
  terminal: Terminal,
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
): void => {
  if (rows.length === 0) say(terminal, 'none')
  else
    print(
      terminal,
      table(columns, rows, (tone, text) => paint(terminal.out, tone, text), roomOf(terminal.out)),
    )
}

/** Writes a message for the user. */
export const say = (terminal: Terminal, text: string): void => {
  write(terminal.talk, `${text}\n`)
}

/** A number of things, in words: `1 line`, `3 lines`. */
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

/** Resolves after a delay; rejects at once when the signal is aborted. */
export const pause = async (delayMs: number, signal: AbortSignal): Promise<void> => {
  await wait(delayMs, undefined, { signal })
}
