import type { ReportLine, RowLook } from './report-csv.ts'

/** How many lines below the rows may be none; of more, the first ones count as rows. */
const mostFooters = 20

const totalName = /^(?:(?:grand|overall|report|sub) ?)?(?:totals?|sums?|summe|gesamt)(?: (?:items|skus|units|rows))?$/
const footerText =
  /^(?:end of|eof\b|report|generated|created|printed|exported|rows?\b|records?\b|page\b|notes?\b|source\b|confidential|copyright|as of\b|\(c\)|©|\*|#|--|==)/i

const isTotalName = (text: string): boolean =>
  totalName.test(
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}]+/gu, ' ')
      .trim(),
  )

const isTotal = ({ names, quantities }: RowLook): boolean =>
  quantities?.some((units) => units !== null) === true && names.every((name) => name === '' || isTotalName(name))

const isText = (look: RowLook): boolean => {
  if (look.quantities === null || look.quantities.some((units) => units !== null)) return false
  const [first = '', ...rest] = look.texts
  return footerText.test(first) || (rest.length === 0 && (/\s/.test(first) || !/[\p{L}\p{N}]/u.test(first)))
}

/** A line of a report that counts as a row, and what it looks like. */
export interface LookedAt {
  readonly line: ReportLine
  readonly look: RowLook
  /** It is named as a total, without a GTIN, but is not what the rows above make together: nobody knows what it is. */
  readonly isDoubtful: boolean
}

/** Tells the rows of a report from what stands below them. */
export interface RowSorter {
  /** Takes the next line; returns what is known to be rows now. */
  next(line: ReportLine): readonly LookedAt[]
  /** The lines that are left: rows, and how many footers stand below them. */
  close(): { readonly rows: readonly LookedAt[]; readonly footers: number }
}

/**
 * Lines below the rows are no rows when they are text without units, or the sums of the columns without a SKU and a GTIN of their own. A total that
 * is not the sum is a row, for it may be one that lacks its name, and so are such lines between rows.
 */
export const createRowSorter = (lookAt: (cells: readonly string[]) => RowLook): RowSorter => {
  let sums: number[] = []
  let allRead = true
  let waiting: { readonly line: ReportLine; readonly look: RowLook }[] = []
  const asRow = ({ line, look }: { readonly line: ReportLine; readonly look: RowLook }): LookedAt => {
    if (look.fault !== null || look.quantities === null) allRead = false
    else sums = look.quantities.map((units, at) => (sums[at] ?? 0) + (units ?? 0))
    return { line, look, isDoubtful: false }
  }
  const isSum = ({ quantities }: RowLook): boolean =>
    allRead && quantities?.every((units, at) => units === null || units === (sums[at] ?? 0)) === true
  return {
    next: (line) => {
      const look = lookAt(line.cells)
      if (isText(look) || isTotal(look)) {
        waiting.push({ line, look })
        return waiting.length > mostFooters ? waiting.splice(0, 1).map(asRow) : []
      }
      const rows = [...waiting, { line, look }].map(asRow)
      waiting = []
      return rows
    },
    close: () => {
      const rows = waiting
        .filter(({ look }) => !isText(look) && !isSum(look))
        .map(({ line, look }) => ({ line, look, isDoubtful: true }))
      return { rows, footers: waiting.length - rows.length }
    },
  }
}
