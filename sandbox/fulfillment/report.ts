import { stringify } from 'csv-stringify/sync'
import type { Call, Operation, Result } from '../calls/operation.ts'
import type { Query } from '../calls/query.ts'
import { hourMs } from '../core/duration.ts'
import { contentNotFound, gatewayRefusal } from '../core/errors.ts'
import { isDay } from '../core/moment.ts'
import { findMonth, type Month, pacificMonth } from '../core/pacific.ts'
import type { FaultPlan } from '../faults/faults.ts'
import type { World } from '../world.ts'
import { requireEnrolment } from './enrolment.ts'
import { isOutflow } from './model.ts'
import { gtinParameter, noSuchItem, refuseValue, required } from './parameters.ts'
import { buildFileName, findPeriod } from './report-period.ts'
import { type Column, publishedHeadings, type ReportSettings, readReportSettings } from './report-settings.ts'
import { liveOn } from './simulation.ts'
import type { ReportPeriod, ReportRow } from './store.ts'

/** There are no reports of earlier months (specification, Limits). */
export const firstMonth = '2022-01'
const rowsAtOnce = 1_000

const common = {
  name: 'reconciliation.report',
  limit: { tokens: 1, perMs: hourMs, foreignPerMinute: 0, clock: 'virtual' },
  method: 'GET',
  admission: 'marketplace',
  body: 'none',
  writes: false,
  errorShape: 'flat',
  faults: ['malformedRecord', 'unknownValue', 'duplicateRows'],
} as const satisfies Partial<Operation>

/**
 * The inventory reconciliation report (specification, section 6). Reports are made of whole months: any two days of one month ask for
 * that month. Days of different months are refused.
 */
export const reportByDates: Operation = {
  ...common,
  urls: ['/v3/report/wfs/InventoryReconciliationReport'],
  // One an hour: of each month in the specification, which only recommends it; altogether on the live service (public facts, section 5.1).
  budgetScope: ({ settings }, query) =>
    settings.dialect.fulfillment.reportBudgetPerMonth ? (query.get('startDate')?.slice(0, 7) ?? '') : '',
  perform: (world, call, plan, now) => makeReport(world, call, monthOfDates, plan, now),
}

/** The same on the second path of the specification, which the live service has removed (public facts, section 13). */
export const reportByDatesHyphenated: Operation = {
  ...reportByDates,
  urls: ['/v3/report/wfs/inventory-reconciliation-report'],
  perform(world, call, plan, now) {
    if (world.settings.dialect.fulfillment.reportRequests)
      throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
    return reportByDates.perform(world, call, plan, now)
  },
}

/** The same by `monthYear`, on the live service's own path (public facts, section 7.2). */
export const reportByMonth: Operation = {
  ...common,
  urls: ['/v3/report/wfs/inventoryReconciliationReport'],
  perform(world, call, plan, now) {
    if (!world.settings.dialect.fulfillment.reportByMonth)
      throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
    return makeReport(world, call, monthOfName, plan, now)
  },
}

type MonthReader = (query: Query, now: number) => Month

const makeReport = (world: World, { sellerId, query }: Call, readMonth: MonthReader, plan: FaultPlan, now: number): Result => {
  requireEnrolment(world, sellerId, 'fulfillment')
  const month = readMonth(query, now)
  const gtin = query.get('gtin')
  if (gtin !== null && month.name !== findMonth(now).name)
    throw refuseValue('gtin', 'A single GTIN can be asked for in the current month only')
  liveOn(world, sellerId, now)
  world.inventory.seen(sellerId, now)
  if (gtin !== null && world.inventory.itemsOfGtin(sellerId, gtinParameter(gtin)).length === 0) throw noSuchItem()
  const period = findPeriod(month, now)
  if (period === null) throw contentNotFound(`The report of ${month.name} has not been made yet`, 'GMP_REPORT_API', 'flat')
  const settings = readReportSettings(world)
  return {
    text: buildCsv(world, sellerId, period, gtin, settings, plan),
    contentType: settings.contentType,
    headers: { 'content-disposition': `${settings.disposition} filename=${buildFileName(period)}` },
  }
}

/** The month of that name, as far as there are reports; `parameter` is what named it. */
const reportMonth = (name: string, parameter: string, now: number): Month => {
  if (name < firstMonth) throw refuseValue(parameter, `There are no reports of months before ${firstMonth}`)
  if (name > findMonth(now).name) throw refuseValue(parameter, 'There are no reports of months to come')
  return pacificMonth(name)
}

const monthOfName = (query: Query, now: number): Month => {
  const [, month, year] = /^(0[1-9]|1[0-2])-(\d{4})$/.exec(required(query, 'monthYear')) ?? []
  if (month === undefined || year === undefined) throw refuseValue('monthYear', 'monthYear must be a month, MM-YYYY')
  return reportMonth(`${year}-${month}`, 'monthYear', now)
}

const monthOfDates = (query: Query, now: number): Month => {
  const start = day(query, 'startDate')
  const end = day(query, 'endDate')
  if (start > end) throw refuseValue('startDate', 'startDate must not be after endDate')
  const month = start.slice(0, 7)
  if (end.slice(0, 7) !== month) throw refuseValue('endDate', 'Reports are made per month: both dates must lie in the same one')
  return reportMonth(month, 'startDate', now)
}

const day = (query: Query, name: string): string => {
  const value = required(query, name)
  if (!isDay(value)) throw refuseValue(name, `${name} must be a day, YYYY-MM-DD`)
  return value
}

/** The file in pieces: however many rows there are, only some of them are in memory. */
export const buildCsv = function* (
  world: World,
  sellerId: string,
  period: ReportPeriod,
  gtin: string | null,
  settings: ReportSettings,
  plan: FaultPlan,
): Generator<string> {
  const write = (rows: readonly (readonly string[])[]): string => stringify([...rows], { record_delimiter: settings.lineBreak })
  const omitted = new Set(settings.omitSkus)
  const struck = plan.random.whole(0, Math.max(0, Math.min(world.inventory.countRows(sellerId, period), rowsAtOnce) - 1))
  yield `${settings.byteOrderMark ? '\uFEFF' : ''}${write([listHeadings(settings, plan)])}`
  let index = 0
  for (let afterSku = '', more = true; more; ) {
    const rows = world.inventory.rows(sellerId, period, afterSku, rowsAtOnce, gtin)
    const lines: string[][] = []
    for (const row of rows) {
      if (omitted.has(row.sku)) continue
      const cells = listCells(row, settings, plan)
      lines.push(index === struck && plan.blemishes.has('malformedRecord') ? plan.random.pick(breakages)(cells, settings) : cells)
      if (index === struck && plan.blemishes.has('duplicateRows')) lines.push(cells)
      index += 1
    }
    if (lines.length > 0) yield write(lines)
    more = rows.length === rowsAtOnce
    afterSku = rows.at(-1)?.sku ?? ''
  }
}

const listHeadings = ({ columns, headings, letterCase, additional }: ReportSettings, plan: FaultPlan): string[] => {
  const written = [
    ...columns.map((column) => headings[column] ?? publishedHeadings[column]),
    ...additional.map(({ heading }) => heading),
  ]
  const all = plan.blemishes.has('unknownValue') ? [...written, 'Future Column'] : written
  if (letterCase === 'asWritten') return all
  return all.map((heading) => (letterCase === 'upper' ? heading.toUpperCase() : heading.toLowerCase()))
}

const listCells = (row: ReportRow, { columns, additional, negativeOutflows }: ReportSettings, plan: FaultPlan): string[] => {
  const cell = (column: Column): string => {
    if (column === 'gtin') return row.gtin
    if (column === 'sku') return row.sku
    if (column === 'itemName') return row.productName
    if (column === 'beginning' || column === 'ending') return String(row[column])
    return String(negativeOutflows && isOutflow(column) ? 0 - row[column] : row[column])
  }
  const cells = [...columns.map(cell), ...additional.map(({ value }) => value)]
  return plan.blemishes.has('unknownValue') ? [...cells, 'unknown'] : cells
}

type Breakage = (cells: string[], settings: ReportSettings) => string[]

/** Ways to make a row unusable. */
const breakages: readonly [Breakage, ...Breakage[]] = [
  (cells, { columns }) => cells.map((cell, index) => (columns[index] === 'ending' ? 'n/a' : cell)),
  (cells, { columns }) => cells.map((cell, index) => (columns[index] === 'sku' ? '' : cell)),
  (cells) => cells.slice(0, 3),
]
