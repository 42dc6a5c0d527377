import { findResolution } from '../../domain/inventory/discrepancy-resolution.ts'
import { findMovementKind, type MovementKind, type ReasonMap } from '../../domain/inventory/log-reasons.ts'
import {
  type Difference,
  explainByLog,
  isMovementKind,
  type ReadMonth,
  reconcile,
  stockChange,
  stockEffect,
} from '../../domain/inventory/reconciliation.ts'
import { isOlderThanEntry } from '../../domain/inventory/report-schedule.ts'
import type { Calendar } from '../../domain/values/calendar.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { selectLastUnitPrices } from '../orders/unit-price.ts'
import { readClaimRows, reviewClaimRows, writeClaimRows } from './claim-rows.ts'
import {
  buildKey,
  type LogPeriod,
  listMonthsToReview,
  type MonthToReview,
  type ReviewedMonth,
  readEntries,
  readMonths,
  readMovements,
  type SkuMonth,
  type StoredEntry,
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
import { reviewStock } from './stock-differences.ts'

/** Maximum number of entries that a discrepancy names; it counts all of them. */
const maxEntryIds = 100

/** A reviewed month and its comparison. */
interface Reading {
  readonly month: ReviewedMonth
  readonly read: ReadMonth
}

const countedPeriod = ({ sku, month, until }: ReviewedMonth, calendar: Calendar): MonthToReview => ({
  sku,
  month,
  from: calendar.monthBounds(month).from,
  to: until,
})

/** The expected beginning quantity of the row; null: unknown. */
const endingBefore = ({ before }: ReviewedMonth, gapChange: number): number | null =>
  before === null || !before.whole ? null : before.ending + gapChange

const readEach = async (
  tx: SqlRunner,
  sellerId: string,
  months: readonly ReviewedMonth[],
  reasons: ReasonMap,
): Promise<readonly Reading[]> => {
  const { calendar } = tx.findVocabulary(sellerId)
  const periods: LogPeriod[] = []
  const addPeriod = (period: LogPeriod): number => periods.push(period) - 1
  const places = months.map((month) => {
    const gap = month.report === null ? null : (month.before?.gap ?? null)
    return {
      month,
      counted: month.logComplete ? addPeriod(countedPeriod(month, calendar)) : null,
      // In months without a row nothing moved, according to the report. Movements of the log in these months are already discrepancies there.
      gap: gap?.logComplete === true ? addPeriod({ sku: month.sku, from: gap.from, to: gap.to }) : null,
    }
  })
  const movements = await readMovements(tx, sellerId, periods)
  return places.map(({ month, counted, gap }): Reading => {
    const { report, endingWhenListed } = month
    const before = endingBefore(month, gap === null ? 0 : stockChange(movements[gap] ?? []))
    const moved = counted === null ? null : (movements[counted] ?? [])
    return { month, read: reconcile({ report, endingWhenListed, endingBefore: before, movements: moved, reasons }) }
  })
}

/** Entries that are newer than the report and can make a difference between both: what they add to the stock, and the newest of them. */
const findLate = (
  month: ReviewedMonth,
  { kind, difference }: Difference & { readonly kind: MovementKind },
  entries: readonly StoredEntry[],
  reasons: ReasonMap,
): Finding['late'] => {
  const { logKnownAt } = month
  if (logKnownAt === null) return null
  const late = entries.filter(
    (entry) =>
      entry.observedAt > logKnownAt && isOlderThanEntry(month, entry.observedAt) && findMovementKind(entry, reasons) === kind,
  )
  const units = late.reduce((sum, { changedUnits }) => sum + changedUnits, 0)
  if (stockEffect(kind, difference) * units >= 0) return null
  return { units, at: new Date(Math.max(...late.map(({ observedAt }) => observedAt.getTime()))) }
}

/** Explains differences by the log; reads single entries only for months in which the log may have extra ones. */
const explain = async (
  tx: SqlRunner,
  sellerId: string,
  differing: readonly { readonly month: ReviewedMonth; readonly difference: Difference }[],
  reasons: ReasonMap,
): Promise<readonly Finding[]> => {
  const { calendar } = tx.findVocabulary(sellerId)
  const candidates = differing.filter(({ difference: { kind, difference } }) => kind === 'other' || difference < 0)
  const suspects = candidates.filter(({ difference }) => isMovementKind(difference.kind)).map(({ month }) => month)
  const entriesByMonth = await readEntries(tx, sellerId, [
    ...new Map(suspects.map((month) => [buildKey(month), countedPeriod(month, calendar)])).values(),
  ])
  return differing.map(({ month: reviewed, difference }): Finding => {
    const { sku, month, gtin } = reviewed
    const { kind } = difference
    const finding = { ...difference, sku, month, gtin }
    const firstDay = `${month}-01`
    if (!isMovementKind(kind)) {
      return {
        ...finding,
        logVerdict: null,
        logCertainty: null,
        logEntryIds: [],
        logEntries: 0,
        copiedUnits: 0,
        late: null,
        earliestDay: firstDay,
      }
    }
    const entries = entriesByMonth.get(buildKey({ sku, month })) ?? []
    const { verdict, certainty, entries: extra, copiedUnits } = explainByLog({ ...difference, kind }, entries, reasons)
    const [earliest] = extra
    return {
      ...finding,
      logVerdict: verdict,
      logCertainty: certainty,
      logEntryIds: extra.slice(0, maxEntryIds).map((entry) => entry.id),
      logEntries: extra.length,
      copiedUnits,
      late: findLate(reviewed, { ...difference, kind }, entries, reasons),
      earliestDay: earliest === undefined ? firstDay : calendar.formatDay(earliest.transactionTime),
    }
  })
}

/** Those of these SKUs that have a known price. */
const findPricedSkus = async (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<ReadonlySet<string>> => {
  if (skus.length === 0) return new Set()
  const rows = await tx.query<{ sku: string }>(
    `SELECT sku FROM (${selectLastUnitPrices('(SELECT DISTINCT $1::text AS seller_id, sku FROM unnest($2::text[]) AS t(sku))', '$3')}) AS price`,
    sellerId,
    skus,
    tx.findVocabulary(sellerId).productCharge,
  )
  return new Set(rows.map((row) => row.sku))
}

/** The resolution of an open discrepancy that was not found again; null: it stays open. */
const buildResolved = (open: OpenRow, month: ReviewedMonth | undefined): Resolved | null => {
  if (month === undefined) return null
  const judged = { ...month, listed: month.report !== null }
  const resolution = findResolution({ kind: open.kind, reportUnits: Number(open.report_units) }, judged)
  return resolution === null ? null : { open, resolution }
}

/**
 * Recomputes the discrepancies of these SKUs and months, and of their next months with a row (whose beginning must equal the ending before), from report
 * rows and inventory log, and their claims; and compares the stock on hand of these SKUs again. Returns the number of found, changed and resolved discrepancies. A report without a row of a SKU means that
 * nothing of it moved. Report and log are compared only if the log was read up to the end of the report; until then earlier findings of the log stay.
 * Writes only differences. The number of statements does not depend on the number of pairs. Reviews of a seller are serialized by a lock, so that the later of
 * two concurrent changes sees both.
 */
export const reviewDiscrepancies = async (tx: Transaction, sellerId: string, pairs: readonly SkuMonth[]): Promise<number> => {
  if (pairs.length === 0) return 0
  await tx.execute(`SELECT pg_advisory_xact_lock(hashtextextended('tallyman.discrepancies ' || $1, 0))`, sellerId)
  const asked = await listMonthsToReview(tx, sellerId, pairs)
  const skus = [...new Set(asked.map(({ sku }) => sku))]
  const reasons = await readReasons(tx, sellerId)
  const months = await readMonths(tx, sellerId, asked)
  const openRows = await readOpen(tx, sellerId, skus)
  const claimRows = await readClaimRows(tx, sellerId, skus)
  const readings = await readEach(tx, sellerId, months, reasons)
  const differing = readings.flatMap(({ month, read }) => read.differences.map((difference) => ({ month, difference })))
  const findings = await explain(tx, sellerId, differing, reasons)

  const openByKey = new Map(openRows.map((open) => [discrepancyKey(open), open]))
  const found = new Set(findings.map(discrepancyKey))
  const askedKeys = new Set(asked.map(buildKey))
  const monthByKey = new Map(months.map((month) => [buildKey(month), month]))
  const resolved = openRows
    .filter((open) => askedKeys.has(buildKey(open)) && !found.has(discrepancyKey(open)))
    .flatMap((open) => buildResolved(open, monthByKey.get(buildKey(open))) ?? [])
  const claims = reviewClaimRows(readings, claimRows, { findings, openRows, resolved })

  const again = findings.flatMap((finding) => {
    const open = openByKey.get(discrepancyKey(finding))
    return open === undefined ? [] : [{ open, finding }]
  })
  const unpriced = [...again.filter(({ open }) => !open.priced).map(({ open }) => open), ...claims.unpriced].map(({ sku }) => sku)
  const nowPriced = await findPricedSkus(tx, sellerId, [...new Set(unpriced)])
  const fresh = findings.filter((finding) => !openByKey.has(discrepancyKey(finding)))
  const changed = again
    .filter(({ open, finding }) => !isSame(open, finding) || (!open.priced && nowPriced.has(finding.sku)))
    .map(({ open, finding }) => ({ id: open.id, finding }))

  await writeDiscrepancies(tx, sellerId, fresh, changed, resolved)
  await writeClaimRows(
    tx,
    sellerId,
    [...claims.changed, ...claims.unpriced.filter(({ sku }) => nowPriced.has(sku))],
    claims.obsolete,
  )
  await reviewStock(tx, sellerId, skus)
  return fresh.length + changed.length + resolved.length
}
