import type { RowPreview } from './report-csv.ts'
import { isBlank, type ReportLine } from './report-lines.ts'

/** Maximum number of text lines below the rows. If there are more, the first ones count as rows. */
const maxFooters = 20

const totalName = /^(?:(?:grand|overall|report|sub) ?)?(?:totals?|sums?|summe|gesamt)(?: (?:items|skus|units|rows))?$/
const footerText =
  /^(?:end of|eof\b|report|generated|created|printed|exported|rows?\b|records?\b|page\b|notes?\b|source\b|confidential|copyright|as of\b|\(c\)|©|\*|#|--|==)/i

/** A text that begins or ends with a word for a total: `Subtotal Kitchen`, `Kitchen total`. */
const totalLabel = /^(?:sub ?)?(?:totals?|summe|gesamt)(?: .*)?$|.* (?:sub ?)?totals?$/

const normalizeText = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim()

const isTotalName = (text: string): boolean => totalName.test(normalizeText(text))

const hasUnits = ({ quantities }: RowPreview): boolean => quantities?.some((units) => units !== null) === true

const isTotal = (row: RowPreview): boolean => hasUnits(row) && row.names.every((name) => name === '' || isTotalName(name))

const isText = (row: RowPreview): boolean => {
  if (row.quantities === null || row.quantities.some((units) => units !== null)) return false
  const [first = '', ...rest] = row.texts
  return footerText.test(first) || (rest.length === 0 && (/\s/.test(first) || !/[\p{L}\p{N}]/u.test(first)))
}

/** The reason why a line of a report is no row. */
export type SkipReason = 'blank' | 'total' | 'text'

/** A classified line of a report. */
export interface SortedLine {
  readonly line: ReportLine
  /** Its SKU; null if it is unknown. */
  readonly sku: string | null
  /** Why it is unreadable; null: it is readable. */
  readonly fault: string | null
  /** It is unreadable only because of its position in the file. */
  readonly isDoubtful: boolean
  /** Why it is no row; null: it is a row. */
  readonly skipped: SkipReason | null
}

/** Distinguishes the rows of a report from other lines. */
export interface RowSorter {
  /** Takes the next line and returns the lines that are classified now. A text line may be returned after the total below it. */
  next(line: ReportLine): readonly SortedLine[]
  /** Returns the remaining lines. */
  close(): readonly SortedLine[]
}

const notTheSum = 'it has the form of a total but is not the sum of the rows'
const mayBeSum = 'it has no GTIN and its units are the sum of the rows above, so it may be a total'

/** Sums of the units of rows. */
interface Sums {
  units: number[]
  /** Number of rows with units. */
  filled: number
  /** Every row is readable. */
  allRead: boolean
}

const noSums = (): Sums => ({ units: [], filled: 0, allRead: true })

/**
 * These lines are no rows: blank lines, text without units below the rows, and totals (the sums of all rows, or of those since the last total, without a SKU and a
 * GTIN). A total that is not the sum is an unreadable row, because it may be a row without its key. A row with a SKU but without a GTIN that is the sum of several
 * rows is also unreadable, unless its text names it a total.
 */
export const createRowSorter = (previewRow: (cells: readonly string[]) => RowPreview): RowSorter => {
  const all = noSums()
  let group = noSums()
  let waiting: { readonly line: ReportLine; readonly row: RowPreview }[] = []
  const asRow = ({ line, row }: { readonly line: ReportLine; readonly row: RowPreview }): SortedLine => {
    const { sku, fault, quantities } = row
    for (const sums of [all, group]) {
      if (fault !== null || quantities === null) sums.allRead = false
      else {
        sums.units = quantities.map((units, at) => (sums.units[at] ?? 0) + (units ?? 0))
        if (quantities.some((units) => units !== null && units !== 0)) sums.filled += 1
      }
    }
    return { line, sku, fault, isDoubtful: false, skipped: null }
  }
  const skip = (line: ReportLine, skipped: SkipReason): SortedLine => ({
    ...{ line, sku: null, fault: null, isDoubtful: false },
    skipped,
  })
  const doubt = (line: ReportLine, sku: string | null, fault: string): SortedLine => ({
    ...{ line, sku, fault, isDoubtful: true },
    skipped: null,
  })
  const sumAll = ({ quantities }: RowPreview): Sums | undefined =>
    [group, all].find(
      ({ units: sums, allRead }) =>
        allRead && quantities?.every((units, at) => units === null || units === (sums[at] ?? 0)) === true,
    )
  const endGroup = (line: ReportLine): SortedLine => {
    group = noSums()
    return skip(line, 'total')
  }
  const sortTotal = (line: ReportLine, row: RowPreview): SortedLine => {
    const isNamed = row.names.some((name) => name !== '')
    if (sumAll(row) !== undefined || (isNamed && !all.allRead)) return endGroup(line)
    return doubt(line, null, notTheSum)
  }
  const sortRow = (line: ReportLine, row: RowPreview): SortedLine => {
    const sum = row.gtin === '' && hasUnits(row) && row.fault === null ? sumAll(row) : undefined
    if (sum === undefined || sum.filled === 0) return asRow({ line, row })
    const isLabelled = row.texts.some((text) => totalLabel.test(normalizeText(text)))
    if (sum.filled > 1 && isLabelled) return endGroup(line)
    return sum.filled > 1 || isLabelled ? doubt(line, row.sku, mayBeSum) : asRow({ line, row })
  }
  const flush = (): SortedLine[] => {
    const lines = waiting.map(asRow)
    waiting = []
    return lines
  }
  return {
    next: (line) => {
      if (isBlank(line.cells)) return [skip(line, 'blank')]
      const row = previewRow(line.cells)
      if (isText(row)) {
        waiting.push({ line, row })
        return waiting.length > maxFooters ? waiting.splice(0, 1).map(asRow) : []
      }
      if (!isTotal(row)) return [...flush(), sortRow(line, row)]
      // A total may be below text at the end of the file. Text above a row is a row.
      return [sortTotal(line, row)]
    },
    close: () => waiting.map(({ line }) => skip(line, 'text')),
  }
}
