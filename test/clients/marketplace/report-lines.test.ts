import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Body } from '../../../src/clients/http/body.ts'
import { toUtf8 } from '../../../src/clients/http/text-encoding.ts'
import { previewRow, readHeader, readRow } from '../../../src/clients/marketplace/reports/report-csv.ts'
import { createRowSorter, type SortedLine } from '../../../src/clients/marketplace/reports/report-footer.ts'
import { createLineCounter, ReportFault, readLines } from '../../../src/clients/marketplace/reports/report-lines.ts'

const headers = ['GTIN', 'SKU', 'Name', 'Beginning', 'Ending', 'Sold', 'Returned', 'Lost', 'Found', 'Damaged', 'Other']

const inPieces = async function* (bytes: Uint8Array, size: number): Body {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** How a name is written in its cell. `spanning`: with a line break in quotes. */
const nameForms = ['plain', 'quoted', 'spanning', 'open', 'closing', 'inside', 'stray'] as const
const lineKinds = ['row', 'row', 'row', 'row', 'short', 'long', 'total', 'blank'] as const
const encodings = ['utf8', 'utf8 with a mark', 'latin1', 'utf16le with a mark', 'latin1 without a charset'] as const

const oneLine = fc.record({
  kind: fc.constantFrom(...lineKinds),
  form: fc.constantFrom(...nameForms),
  word: fc.constantFrom('Pfanne', 'Crème 12', 'pot, large', 'a; b', "it's"),
})
const oneFile = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  lineBreak: fc.constantFrom('\n', '\r\n', '\r'),
  encoding: fc.constantFrom(...encodings),
  preamble: fc.constantFrom([], ['Inventory report'], ['Inventory report', '']),
  lines: fc.array(oneLine, { maxLength: 12 }),
  endsBroken: fc.boolean(),
  size: fc.constantFrom(3, 17, 1_000),
})

type Line = typeof oneLine extends fc.Arbitrary<infer T> ? T : never
type File = typeof oneFile extends fc.Arbitrary<infer T> ? T : never

/** A row is about its number and nothing else: SKU, GTIN and all units say it. */
const listUnits = (number: number): number => number * 1_000 + 7
const parseSku = (number: number): string => `S${number}`

const nameCell = ({ form, word }: Line, number: number, lineBreak: string): string => {
  const text = `${word} no${number}`
  if (form === 'quoted') return `"${text}"`
  if (form === 'spanning') return `"${text}${lineBreak}more ""of"" it"`
  if (form === 'open') return `"${text}`
  if (form === 'closing') return `${text}"`
  if (form === 'inside') return `${text} 12" wide`
  if (form === 'stray') return `"${text}" wide`
  return text
}

const listCells = (line: Line, number: number, lineBreak: string): string[] => {
  const units = String(listUnits(number))
  return [`9${number}`, parseSku(number), nameCell(line, number, lineBreak), units, '0', units, '0', '0', '0', '0', '0']
}

/** The text of a file. Each line of the input has its number, which is that of its row. */
const toText = ({ delimiter, lineBreak, preamble, lines, endsBroken }: File): string => {
  const sums: number[] = []
  const body = lines.map((line, number): string => {
    const cells = listCells(line, number, lineBreak)
    if (line.kind === 'blank') return ''
    if (line.kind === 'short') return cells.slice(0, 7).join(delimiter)
    if (line.kind === 'long') return [...cells, 'x', 'y'].join(delimiter)
    if (line.kind === 'row') {
      sums.push(listUnits(number))
      return cells.join(delimiter)
    }
    const sum = String(sums.reduce((all, units) => all + units, 0))
    return ['', 'Total', '', sum, '0', sum, '0', '0', '0', '0', '0'].join(delimiter)
  })
  return [...preamble, headers.join(delimiter), ...body].join(lineBreak) + (endsBroken ? lineBreak : '')
}

const encoded = (text: string, encoding: File['encoding']): { bytes: Uint8Array; contentType: string | null } => {
  if (encoding === 'utf8') return { bytes: Buffer.from(text), contentType: 'text/csv' }
  if (encoding === 'utf8 with a mark') return { bytes: Buffer.from(`\uFEFF${text}`), contentType: 'text/csv; charset=latin1' }
  if (encoding === 'utf16le with a mark') return { bytes: Buffer.from(`\uFEFF${text}`, 'utf16le'), contentType: null }
  const contentType = encoding === 'latin1' ? 'text/csv; charset=cp1252' : 'text/csv'
  return { bytes: Buffer.from(text, 'latin1'), contentType }
}

const read = async (file: File) => {
  const text = toText(file)
  const { bytes, contentType } = encoded(text, file.encoding)
  const pieces: Uint8Array[] = []
  for await (const piece of toUtf8(inPieces(bytes, file.size), contentType)) pieces.push(piece)
  const utf8 = Buffer.concat(pieces)
  const { columns, end, lines: headerLines } = await readHeader(inPieces(utf8, file.size))
  const sorter = createRowSorter((cells) => previewRow(columns, cells))
  const counter = createLineCounter()
  const sorted: SortedLine[] = []
  const rest = counter.through(inPieces(utf8.subarray(end), file.size))
  for await (const line of readLines(rest, columns, headerLines + 1)) sorted.push(...sorter.next(line))
  sorted.push(...sorter.close())
  return { text, columns, sorted, headerLines, lineCount: headerLines + counter.count() }
}

test('every line of a file is read, quarantined or skipped, and no cell of one row is read as that of another', async () => {
  const seed = Math.trunc(Math.random() * 2 ** 31)
  console.info(`reports of seed ${seed}`)
  await fc.assert(
    fc.asyncProperty(oneFile, async (file) => {
      const isUtf8 = file.encoding !== 'latin1 without a charset' || !/[^\0-\x7f]/.test(toText(file))
      if (!isUtf8) {
        await expect(read(file)).rejects.toThrow(ReportFault)
        return
      }
      const { text, columns, sorted, headerLines, lineCount } = await read(file)
      const accounted = sorted.reduce((sum, { line }) => sum + line.lines, headerLines)
      const expected = text.split(file.lineBreak).length - (text.endsWith(file.lineBreak) ? 1 : 0)
      expect([accounted, lineCount]).toEqual([expected, expected])
      const readable = new Set<string>()
      for (const { line, fault, skipped, isDoubtful } of sorted) {
        if (skipped !== null || isDoubtful || fault !== null) continue
        const record = readRow('2026-10', columns, line.cells)
        if (!record.ok) throw new Error(`a row has no fault but cannot be read: ${record.fault}`)
        const { sku, gtin, beginningQuantity, sold, raw } = record.value
        const number = Number(sku.slice(1))
        expect({ sku, gtin, beginningQuantity, sold }).toEqual({
          ...{ sku: parseSku(number), gtin: `9${number}` },
          ...{ beginningQuantity: listUnits(number), sold: listUnits(number) },
        })
        // All that stands in its name is its own.
        const named = [...(raw['Name'] ?? '').matchAll(/no(\d+)/g)].map(([, found]) => Number(found))
        expect(named).toEqual([number])
        readable.add(sku)
      }
      // What needs no guess is read.
      for (const [number, { kind, form, word }] of file.lines.entries()) {
        const isSafe = !word.includes(file.delimiter) && (form === 'plain' || form === 'inside' || form === 'closing')
        if (kind === 'row' && (isSafe || form === 'quoted')) expect(readable).toContain(parseSku(number))
      }
    }),
    { seed, interruptAfterTimeLimit: 2_000, numRuns: 2_000 },
  )
})

test.each([
  ['a total without a name', ['A,5', 'B,6', ',11'], ['A', 'B'], ['total']],
  [
    'subtotals and a total',
    ['A,5', 'B,6', 'Subtotal,11', 'C,7', 'D,8', 'Subtotal,15', 'Grand total,26'],
    ['A', 'B', 'C', 'D'],
    ['total', 'total', 'total'],
  ],
  ['a total below a row that cannot be read', ['A,5', 'B,six', 'Total,11'], ['A'], ['total']],
  ['a SKU that begins like a total', ['A,5', 'Total-Care 1,9', 'B,6'], ['A', 'Total-Care 1', 'B'], []],
  ['blank lines, and text at the end', ['A,5', '', ',', 'end of report'], ['A'], ['blank', 'blank', 'text']],
])('of %s rows are read and others skipped', async (_name, lines, skus, skips) => {
  const [header, ...rest] = ['SKU,Beginning,Ending,Sold,Returned,Lost,Found,Damaged,Other', ...lines].map((line, at) =>
    at === 0 || !/,./.test(line) ? line : `${line},0,0,0,0,0,0,0`,
  )
  const bytes = Buffer.from([header, ...rest].join('\n'))
  const { columns, end } = await readHeader(inPieces(bytes, 50))
  const sorter = createRowSorter((cells) => previewRow(columns, cells))
  const sorted: SortedLine[] = []
  for await (const line of readLines(inPieces(bytes.subarray(end), 50), columns)) sorted.push(...sorter.next(line))
  sorted.push(...sorter.close())
  expect(sorted.flatMap(({ sku, fault, skipped }) => (skipped === null && fault === null ? [sku] : []))).toEqual(skus)
  expect(sorted.flatMap(({ skipped }) => skipped ?? [])).toEqual(skips)
})
