import { z } from 'zod'
import { isObject } from '../../domain/values.ts'
import type { CallOptions } from '../call-options.ts'
import { identifier, lenient, numberLike, text } from '../contract/lenient.ts'
import type { Operations } from '../endpoint.ts'
import { asRecord, type CutRecord, cutRecords, decimalText, jsonOrNull, parseExact, wholeNumber } from '../json.ts'
import { perMinute } from '../operation.ts'
import type { OnUnknownValue, Page, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, readRecord, textOf } from '../record.ts'
import { readInTurns } from '../turns.ts'
import { endpoint, type Host } from './endpoint.ts'
import { listCall, queryString, type ReadEnvelope, readPage } from './paging.ts'

// Settlement reports (public facts, section 13): one each one or two weeks, its rows movements of money. The specification does not have them.

/** A row on the wire. A row lacks what does not apply to it. Money and units are not lenient. */
const wireLine = z.looseObject({
  'Transaction Type': identifier,
  'Transaction Description': lenient(text),
  'Transaction Reason Description': lenient(text),
  'Transaction Key': lenient(text),
  'Transaction Posted Timestamp': lenient(text),
  'Period Start Date': lenient(text),
  'Period End Date': lenient(text),
  Amount: numberLike.nullish(),
  'Amount Type': lenient(text),
  'Total Payable': numberLike.nullish(),
  Currency: lenient(text),
  'Ship Qty': numberLike.nullish(),
  'Purchase Order #': lenient(text),
  'Purchase Order line #': lenient(text),
  'Customer Order #': lenient(text),
  'Customer Order line #': lenient(text),
  'Partner Item Id': lenient(text),
  'Partner GTIN': lenient(text),
  'Partner Item Name': lenient(text),
  'Fulfillment Type': lenient(text),
  'Shipping Method': lenient(text),
  'Contract Category': lenient(text),
  'Product Type': lenient(text),
  'Product Tax Code': lenient(text),
})
type WireLine = z.infer<typeof wireLine>

/** Where a buyer lives: no money depends on it, so it is not kept. */
const placesOfBuyers = ['Ship to City', 'Ship to State', 'Ship to Zipcode']

/** A page of a report without its rows. */
const wirePage = z.looseObject({
  reportData: z.array(z.unknown()).max(0).nullish(),
  nextOffset: lenient(numberLike),
  totalRecords: lenient(numberLike),
})

const rowsAt = ['reportData']
const datesAt = ['availableApReportDates']

/** Limits: public facts, section 5.1; that of the dates is its neighbour's. */
const operations = {
  dates: { name: 'settlements.dates', limit: perMinute(100), payloadKeys: datesAt },
  report: { name: 'settlements.report', limit: perMinute(100), payloadKeys: rowsAt },
} as const satisfies Operations

/** Most rows that a page may ask for (public facts, section 13). */
const mostRows = 1_000

/** Where a row stands; the row itself does not say. */
interface Place {
  /** Day that names the report, as `YYYY-MM-DD`. */
  readonly reportDate: string
  /** From 1 on. */
  readonly row: number
  /** Of the whole report, where a row names none. */
  readonly currency: string | null
}

const slashDay = /^(\d{2})\/(\d{2})\/(\d{4})$/
const plainDay = /^(\d{2})(\d{2})(\d{4})$/

/** A calendar day as `YYYY-MM-DD`; null where there is no such day. */
const dayIn = (value: string, pattern: RegExp): string | null => {
  const [, month, date, year] = pattern.exec(value) ?? []
  const day = `${year}-${month}-${date}`
  return month !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true ? day : null
}

/** Days are `MM/DD/YYYY`; some rows carry a pair of quotation marks in place of none (public facts, section 13). */
const dayOf = (wire: WireLine, field: keyof WireLine & string, onUnknownValue: OnUnknownValue): string | null => {
  const value = String(wire[field] ?? '').replaceAll('"', '')
  if (value === '') return null
  const day = dayIn(value, slashDay)
  if (day === null) onUnknownValue({ resource: 'settlement', field, value })
  return day
}

const moneyOf = (wire: WireLine, field: 'Amount' | 'Total Payable'): string | null => {
  const value = wire[field]
  if (value === undefined || value === null || value === '') return null
  const money = decimalText(value)
  if (money === null) throw new RecordFault(`${field}: not an amount of money`)
  return money
}

/** Of a 32-bit integer, as Postgres has it. */
const mostUnits = 2_147_483_647

const quantityOf = (wire: WireLine): number | null => {
  const value = wire['Ship Qty']
  if (value === undefined || value === null || value === '') return null
  const quantity = Number(decimalText(value) ?? Number.NaN)
  if (!Number.isInteger(quantity) || Math.abs(quantity) > mostUnits)
    throw new RecordFault('Ship Qty: not a whole number of units')
  return quantity
}

/** A row of a report in its normal form. */
const lineOf = ({ reportDate, row, currency }: Place, wire: WireLine, raw: unknown, onUnknownValue: OnUnknownValue) => {
  const amount = moneyOf(wire, 'Amount')
  const totalPayable = moneyOf(wire, 'Total Payable')
  if (amount === null && totalPayable === null) throw new RecordFault('Amount: missing, and Total Payable too')
  return {
    reportDate,
    row,
    transactionType: String(wire['Transaction Type']),
    description: textOf(wire['Transaction Description']),
    reason: textOf(wire['Transaction Reason Description']),
    transactionKey: textOf(wire['Transaction Key']),
    postedOn: dayOf(wire, 'Transaction Posted Timestamp', onUnknownValue),
    periodStart: dayOf(wire, 'Period Start Date', onUnknownValue),
    periodEnd: dayOf(wire, 'Period End Date', onUnknownValue),
    amount,
    amountType: textOf(wire['Amount Type']),
    totalPayable,
    currency: textOf(wire.Currency) ?? currency,
    quantity: quantityOf(wire),
    purchaseOrderId: textOf(wire['Purchase Order #']),
    purchaseOrderLine: textOf(wire['Purchase Order line #']),
    customerOrderId: textOf(wire['Customer Order #']),
    customerOrderLine: textOf(wire['Customer Order line #']),
    sku: textOf(wire['Partner Item Id']),
    gtin: textOf(wire['Partner GTIN']),
    productName: textOf(wire['Partner Item Name']),
    fulfillmentType: textOf(wire['Fulfillment Type']),
    shippingMethod: textOf(wire['Shipping Method']),
    contractCategory: textOf(wire['Contract Category']),
    productType: textOf(wire['Product Type']),
    productTaxCode: textOf(wire['Product Tax Code']),
    raw,
  }
}

/** One movement of money of a settlement report, or its summary. */
export type SettlementLine = ReturnType<typeof lineOf>

const keyOf = ({ reportDate, row }: Place): string => `${reportDate}/${row}`

const readerOf = (place: Place): RecordReader<WireLine, SettlementLine> => ({
  resource: 'settlement',
  schema: wireLine,
  keyField: () => keyOf(place),
  toDomain: (wire, raw, onUnknownValue) => lineOf(place, wire, raw, onUnknownValue),
})

/** A row without the places of buyers; as it came where it is no object. Numbers that a double would harm become strings of their digits. */
const withoutPlaces = (record: CutRecord): string => {
  const raw = jsonOrNull(record.text)
  if (!isObject(raw) || !placesOfBuyers.some((name) => Object.hasOwn(raw, name))) return record.text
  return JSON.stringify(parseExact(record), (name, value: unknown) => (placesOfBuyers.includes(name) ? undefined : value))
}

/**
 * The text of a row as a record of its own: within an envelope that says where it stands, so that it can be read again without the answer.
 * Rows are named by their place. Their transaction keys repeat, and no text says that a report has no two equal rows: by content, money
 * would be lost.
 */
const placedText = ({ reportDate, row, currency }: Place, rowText: string): string =>
  `${JSON.stringify({ reportDate, row, currency }).slice(0, -1)},"reportData":[${rowText}]}`

/** Reads a row. It has a key though nothing of it can be read: its place. */
const placedRecord = (place: Place, record: CutRecord, onUnknownValue: OnUnknownValue): ParsedRecord<SettlementLine> => {
  const rowText = withoutPlaces(record)
  const kept = rowText === record.text ? record : asRecord(rowText)
  return { ...readRecord(readerOf(place), kept, onUnknownValue), key: keyOf(place), rawText: placedText(place, rowText) }
}

const wirePlaced = z.object({ reportDate: z.string(), row: z.int(), currency: z.string().nullable() })

/** Reads a row from its text as {@link placedText} makes it. Never throws. */
const parseSettlementLine = (rawText: string, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<SettlementLine> => {
  const cut = cutRecords(rawText, rowsAt)
  const [record] = cut?.records ?? []
  const { data } = wirePlaced.safeParse(cut === null ? null : jsonOrNull(cut.envelopeText))
  if (record === undefined || data === undefined) return { ok: false, key: null, fault: 'record: no row of a report', rawText }
  return { ...placedRecord(data, record, onUnknownValue), rawText }
}

/** Where a page of a report begins. */
export interface SettlementQuery {
  /** `YYYY-MM-DD`. */
  readonly reportDate: string
  /** In bytes, as the page before it says; 0 at first. */
  readonly offset: number
  /** Rows of the pages before it. */
  readonly rows: number
  /** As a page before it names it. */
  readonly currency: string | null
  /** The marketplace gives no more than 1,000. */
  readonly limit: number
}

/** A page of a report. `totalCount` counts all its rows; `nextCursor` is the offset of the next page. */
export interface SettlementPage extends Page<SettlementLine> {
  /** Of the report, as far as it is known by now. */
  readonly currency: string | null
}

/** Settlement reports of one seller. */
export interface SettlementsClient {
  /**
   * The days (`YYYY-MM-DD`) of all reports there are, oldest first.
   *
   * @throws MarketplaceFailure
   */
  dates(options: CallOptions): Promise<{ readonly dates: readonly string[]; readonly observedAt: Date }>
  /**
   * One page of a report; empty when there is none. Keys of its records name the report and the row.
   *
   * @throws MarketplaceFailure
   */
  page(query: SettlementQuery, options: CallOptions): Promise<SettlementPage>
}

const currencyIn = z.looseObject({ Currency: text })

const createSettlementsClient = ({ caller, connection, onUnknownValue }: Host): SettlementsClient => {
  const { pageSizeParameters } = connection.profile.settlementReports
  return {
    async dates(options) {
      // Reports of the earlier version have no form in JSON (documentation of the operation).
      const call = listCall(
        operations.dates,
        `/v3/report/reconreport/availableReconFiles${queryString({ reportVersion: 'v1' })}`,
        datesAt,
      )
      const answer = await caller.call(call, options)
      const dates = answer.records.map((record) => dayIn(String(parseExact(record)), plainDay))
      const known = dates.filter((date) => date !== null)
      if (known.length < dates.length) throw caller.misfit(call, answer)
      return { dates: [...new Set(known)].sort(), observedAt: caller.clock.at(answer.sentMs) }
    },
    async page({ reportDate, offset, rows, currency, limit }, options) {
      const [year, month, date] = reportDate.split('-')
      const size = Math.min(limit, mostRows)
      const target = queryString({
        reportDate: `${month}${date}${year}`,
        ...Object.fromEntries(pageSizeParameters.map((name) => [name, size])),
        offset,
      })
      const call = listCall(operations.report, `/v3/report/reconreport/reconFileJson${target}`, rowsAt)
      const answer = await caller.call(call, options)
      const named = answer.records.map((record) => currencyIn.safeParse(jsonOrNull(record.text)).data?.Currency)
      const ofReport = currency ?? textOf(named.find((name) => textOf(name) !== null))
      const readEnvelope: ReadEnvelope = (envelope) => {
        const { data } = wirePage.safeParse(envelope)
        const next = wholeNumber(data?.nextOffset)
        // An offset that does not move on would be the same page for ever.
        if (data === undefined || (next !== null && next <= offset && answer.records.length > 0)) return null
        // -1 ends the report.
        const isLast = next === null || answer.records.length === 0
        return { totalCount: data.totalRecords, nextCursor: isLast ? null : String(next) }
      }
      const place = { reportDate, row: 0, currency: ofReport }
      const page = await readPage(caller, call, { ...answer, records: [] }, readerOf(place), readEnvelope, onUnknownValue)
      const placed = answer.records.map((record, at) => ({ record, place: { ...place, row: rows + at + 1 } }))
      const records = await readInTurns(placed, (one) => [placedRecord(one.place, one.record, onUnknownValue)])
      return { ...page, records, currency: ofReport }
    },
  }
}

/** Settlement reports (public facts, section 13). */
export const settlementsEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseSettlementLine,
  create: createSettlementsClient,
})
