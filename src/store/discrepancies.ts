import type { Calendar } from '../domain/calendar.ts'
import { resolutionOf } from '../domain/discrepancy-resolution.ts'
import type { ReasonMap } from '../domain/log-reasons.ts'
import {
  type Difference,
  explainByLog,
  isMovementKind,
  type ReadMonth,
  reconcile,
  stockChange,
} from '../domain/reconciliation.ts'
import { readClaimRows, reviewClaimRows, writeClaimRows } from './claim-rows.ts'
import type { SqlRunner, Transaction } from './database.ts'
import {
  type AskedMonth,
  keyOf,
  type LogStretch,
  monthsToReview,
  type ReviewedMonth,
  readEntries,
  readMonths,
  readMovements,
  type SkuMonth,
} from './discrepancy-sources.ts'
import {
  discrepancyKey,
  type Finding,
  isSame,
  type OpenRow,
  type Resolved,
  readOpen,
  writeDiscrepancies,
} from './discrepancy-writes.ts'
import { readReasons } from './log-reasons.ts'
import { lastUnitPrice } from './unit-price.ts'

/** Entries that a discrepancy names at most; it counts all of them. */
const maxEntryIds = 100

/** A month as it was read, with where it stands. */
interface Reading {
  readonly month: ReviewedMonth
  readonly read: ReadMonth
}

const countedTime = ({ sku, month, until }: ReviewedMonth, calendar: Calendar): AskedMonth => ({
  sku,
  month,
  from: calendar.monthBounds(month).from,
  to: until,
})

/** What the row should begin with; null when that is not known. */
const endingBefore = ({ before }: ReviewedMonth, gapChange: number): number | null =>
  before === null || !before.whole ? null : before.ending + gapChange

const readEach = async (
  tx: SqlRunner,
  sellerId: string,
  months: readonly ReviewedMonth[],
  reasons: ReasonMap,
): Promise<readonly Reading[]> => {
  const { calendar } = tx.vocabularyOf(sellerId)
  const stretches: LogStretch[] = []
  const stretch = (of: LogStretch): number => stretches.push(of) - 1
  const places = months.map((month) => {
    const gap = month.report === null ? null : (month.before?.gap ?? null)
    return {
      month,
      counted: month.logComplete ? stretch(countedTime(month, calendar)) : null,
      // Without a row nothing moved, by the report; where the log knows better, what it knows is missing in those months already.
      gap: gap?.logComplete === true ? stretch({ sku: month.sku, from: gap.from, to: gap.to }) : null,
    }
  })
  const movements = await readMovements(tx, sellerId, stretches)
  return places.map(({ month, counted, gap }): Reading => {
    const { report, endingWhenListed } = month
    const before = endingBefore(month, gap === null ? 0 : stockChange(movements[gap] ?? []))
    const moved = counted === null ? null : (movements[counted] ?? [])
    return { month, read: reconcile({ report, endingWhenListed, endingBefore: before, movements: moved, reasons }) }
  })
}

/** Adds what the log says to differences; single entries are read only of months in which the log may hold too much. */
const explain = async (
  tx: SqlRunner,
  sellerId: string,
  differing: readonly { readonly month: ReviewedMonth; readonly difference: Difference }[],
  reasons: ReasonMap,
): Promise<readonly Finding[]> => {
  const { calendar } = tx.vocabularyOf(sellerId)
  const mayBeExtra = differing.filter(({ difference: { kind, difference } }) => kind === 'other' || difference < 0)
  const suspects = mayBeExtra.filter(({ difference }) => isMovementKind(difference.kind)).map(({ month }) => month)
  const entriesOf = await readEntries(tx, sellerId, [
    ...new Map(suspects.map((month) => [keyOf(month), countedTime(month, calendar)])).values(),
  ])
  return differing.map(({ month: { sku, month, gtin }, difference }): Finding => {
    const { kind } = difference
    const finding = { ...difference, sku, month, gtin }
    const firstDay = `${month}-01`
    if (!isMovementKind(kind)) {
      return { ...finding, logVerdict: null, logCertainty: null, logEntryIds: [], logEntries: 0, earliestDay: firstDay }
    }
    const entries = entriesOf.get(keyOf({ sku, month })) ?? []
    const { verdict, certainty, entries: extra } = explainByLog({ ...difference, kind }, entries, reasons)
    const [earliest] = extra
    return {
      ...finding,
      logVerdict: verdict,
      logCertainty: certainty,
      logEntryIds: extra.slice(0, maxEntryIds).map((entry) => entry.id),
      logEntries: extra.length,
      earliestDay: earliest === undefined ? firstDay : calendar.dayOf(earliest.transactionTime),
    }
  })
}

/** Those of these SKUs of which a price is known. */
const skusWithPrice = async (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<ReadonlySet<string>> => {
  if (skus.length === 0) return new Set()
  const rows = await tx.query<{ sku: string }>(
    `SELECT sku FROM (${lastUnitPrice('(SELECT DISTINCT $1::text AS seller_id, sku FROM unnest($2::text[]) AS t(sku))', '$3')}) AS price`,
    sellerId,
    skus,
    tx.vocabularyOf(sellerId).productCharge,
  )
  return new Set(rows.map((row) => row.sku))
}

/** The discrepancy as it is to be resolved; null when it stays. */
const resolvedBy = (open: OpenRow, month: ReviewedMonth | undefined): Resolved | null => {
  if (month === undefined) return null
  const judged = { ...month, listed: month.report !== null }
  const resolution = resolutionOf({ kind: open.kind, reportUnits: Number(open.report_units) }, judged)
  return resolution === null ? null : { open, resolution }
}

/**
 * Recomputes the discrepancies of these SKUs and months, and of the next months with a row, which should begin where these end, from the
 * report rows and the inventory log as this transaction sees them, and what they bring to claims; returns how many were found, changed or
 * resolved. A month's report that has no row of a SKU says that nothing of it moved. Writes only what differs. Report and log are compared
 * when the log has been read up to where the report counts; until then what was found by the log stands as it is. A fixed number of
 * statements, however many pairs. Reviews of one seller wait for each other until their transactions end, so that of two that change both
 * sides at once the later one sees both changes.
 */
export const reviewDiscrepancies = async (tx: Transaction, sellerId: string, pairs: readonly SkuMonth[]): Promise<number> => {
  if (pairs.length === 0) return 0
  await tx.execute(`SELECT pg_advisory_xact_lock(hashtextextended('tallyman.discrepancies ' || $1, 0))`, sellerId)
  const asked = await monthsToReview(tx, sellerId, pairs)
  const skus = [...new Set(asked.map(({ sku }) => sku))]
  const reasons = await readReasons(tx, sellerId)
  const months = await readMonths(tx, sellerId, asked)
  const openRows = await readOpen(tx, sellerId, skus)
  const claimRows = await readClaimRows(tx, sellerId, skus)
  const readings = await readEach(tx, sellerId, months, reasons)
  const differing = readings.flatMap(({ month, read }) => read.differences.map((difference) => ({ month, difference })))
  const findings = await explain(tx, sellerId, differing, reasons)

  const openOf = new Map(openRows.map((open) => [discrepancyKey(open), open]))
  const found = new Set(findings.map(discrepancyKey))
  const askedKeys = new Set(asked.map(keyOf))
  const monthOf = new Map(months.map((month) => [keyOf(month), month]))
  const resolved = openRows
    .filter((open) => askedKeys.has(keyOf(open)) && !found.has(discrepancyKey(open)))
    .flatMap((open) => resolvedBy(open, monthOf.get(keyOf(open))) ?? [])
  const claims = reviewClaimRows(readings, claimRows, { findings, openRows, resolved })

  const again = findings.flatMap((finding) => {
    const open = openOf.get(discrepancyKey(finding))
    return open === undefined ? [] : [{ open, finding }]
  })
  const unpriced = [...again.filter(({ open }) => !open.priced).map(({ open }) => open), ...claims.unpriced].map(({ sku }) => sku)
  const nowPriced = await skusWithPrice(tx, sellerId, [...new Set(unpriced)])
  const fresh = findings.filter((finding) => !openOf.has(discrepancyKey(finding)))
  const changed = again
    .filter(({ open, finding }) => !isSame(open, finding) || (!open.priced && nowPriced.has(finding.sku)))
    .map(({ open, finding }) => ({ id: open.id, finding }))

  await writeDiscrepancies(tx, sellerId, fresh, changed, resolved)
  await writeClaimRows(tx, sellerId, [...claims.changed, ...claims.unpriced.filter(({ sku }) => nowPriced.has(sku))], claims.gone)
  return fresh.length + changed.length + resolved.length
}
