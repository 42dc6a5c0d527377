import { z } from 'zod'
import { isObject } from '../../../domain/values/values.ts'
import { identifier, lenient, numberLike, text } from '../../contract/lenient.ts'
import { describePublished } from '../../contract/published.ts'
import type { CallOptions } from '../../http/call-options.ts'
import type { Operations } from '../../http/endpoint.ts'
import { asRecord, type CutRecord, cutRecords, decimalText, jsonOrNull, parseExact, wholeNumber } from '../../http/json.ts'
import { perMinute } from '../../http/operation.ts'
import type { CompareRecord, OnUnknownValue, Page, ParsedRecord, RecordReader } from '../../http/record.ts'
import { parseSku, RecordFault, readRecord, toText } from '../../http/record.ts'
import { mapInTimeSlices } from '../../http/time-slices.ts'
import { endpoint, type Host } from '../endpoint.ts'
import { buildListCall, queryString, type ReadEnvelope, readPage } from '../paging.ts'
import { classifyRow, parseRate } from './settlement-words.ts'

// Settlement reports (public facts, section 13): one each one or two weeks, its rows movements of money. The specification does not have them.

/** A row on the wire. It has only the fields that apply to it. Money and units are not lenient. */
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
  'Commission Rate': lenient(text),
})
type WireLine = z.infer<typeof wireLine>

/** The address of a buyer. It is not stored, since no money depends on it. */
const placesOfBuyers = ['Ship to City', 'Ship to State', 'Ship to Zipcode']

const publishedLine = describePublished(wireLine, { also: { '': placesOfBuyers } })

/** A page of a report without its rows. */
const wirePage = z.looseObject({
  reportData: z.array(z.unknown()).max(0).nullish(),
  nextOffset: lenient(numberLike),
  totalRecords: lenient(numberLike),
})

const rowsAt = ['reportData']
const datesAt = ['availableApReportDates']

/** Limits: public facts, section 5.1. That of `dates` is the limit of the related operation. */
const operations = {
  dates: { name: 'settlements.dates', limit: perMinute(100), payloadKeys: datesAt },
  report: { name: 'settlements.report', limit: perMinute(100), payloadKeys: rowsAt },
} as const satisfies Operations

/** Maximum number of rows of a page (public facts, section 13). */
const maxRows = 1_000

/** The position of a row, which the row does not contain. */
interface Place {
  /** The day of the report, as `YYYY-MM-DD`. */
  readonly reportDate: string
  /** 1 is the first. */
  readonly row: number
  /** The currency of the report, for rows without one. */
  readonly currency: string | null
}

const slashDay = /^(\d{2})\/(\d{2})\/(\d{4})$/
const plainDay = /^(\d{2})(\d{2})(\d{4})$/

/** A calendar day as `YYYY-MM-DD`; null if there is no such day. */
const dayIn = (value: string, pattern: RegExp): string | null => {
  const [, month, date, year] = pattern.exec(value) ?? []
  const day = `${year}-${month}-${date}`
  return month !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true ? day : null
}

/** Days are `MM/DD/YYYY`. Some rows have a pair of quotation marks in place of an empty value (public facts, section 13). */
const parseDay = (wire: WireLine, field: keyof WireLine & string, onUnknownValue: OnUnknownValue): string | null => {
  const value = String(wire[field] ?? '').replaceAll('"', '')
  if (value === '') return null
  const day = dayIn(value, slashDay)
  if (day === null) onUnknownValue({ resource: 'settlement', field, value })
  return day
}

const parseMoney = (wire: WireLine, field: 'Amount' | 'Total Payable'): string | null => {
  const value = wire[field]
  if (value === undefined || value === null || value === '') return null
  const money = decimalText(value)
  if (money === null) throw new RecordFault(`${field}: not an amount of money`)
  return money
}

/** Maximum of a 32-bit integer of Postgres. */
const maxUnits = 2_147_483_647

const parseQuantity = (wire: WireLine): number | null => {
  const value = wire['Ship Qty']
  if (value === undefined || value === null || value === '') return null
  const quantity = Number(decimalText(value) ?? Number.NaN)
  if (!Number.isInteger(quantity) || Math.abs(quantity) > maxUnits) throw new RecordFault('Ship Qty: not a whole number of units')
  return quantity
}

/** Converts a row of a report to its domain form. */
const parseLine = ({ reportDate, row, currency }: Place, wire: WireLine, raw: unknown, onUnknownValue: OnUnknownValue) => {
  const amount = parseMoney(wire, 'Amount')
  const totalPayable = parseMoney(wire, 'Total Payable')
  if (amount === null && totalPayable === null) throw new RecordFault('Amount: missing, and Total Payable too')
  const transactionType = String(wire['Transaction Type'])
  const description = toText(wire['Transaction Description'])
  const amountType = toText(wire['Amount Type'])
  return {
    reportDate,
    row,
    transactionType,
    description,
    reason: toText(wire['Transaction Reason Description']),
    transactionKey: toText(wire['Transaction Key']),
    postedOn: parseDay(wire, 'Transaction Posted Timestamp', onUnknownValue),
    periodStart: parseDay(wire, 'Period Start Date', onUnknownValue),
    periodEnd: parseDay(wire, 'Period End Date', onUnknownValue),
    amount,
    amountType,
    totalPayable,
    currency: toText(wire.Currency) ?? currency,
    quantity: parseQuantity(wire),
    purchaseOrderId: toText(wire['Purchase Order #']),
    purchaseOrderLine: toText(wire['Purchase Order line #']),
    customerOrderId: toText(wire['Customer Order #']),
    customerOrderLine: toText(wire['Customer Order line #']),
    sku: parseSku(wire['Partner Item Id']),
    gtin: toText(wire['Partner GTIN']),
    productName: toText(wire['Partner Item Name']),
    fulfillmentType: toText(wire['Fulfillment Type']),
    shippingMethod: toText(wire['Shipping Method']),
    contractCategory: toText(wire['Contract Category']),
    productType: toText(wire['Product Type']),
    productTaxCode: toText(wire['Product Tax Code']),
    ...classifyRow({ transactionType, description, amountType }),
    commissionRate: parseRate(toText(wire['Commission Rate'])),
    raw,
  }
}

/** One movement of money of a settlement report, or its summary. */
export type SettlementLine = ReturnType<typeof parseLine>

const buildKey = ({ reportDate, row }: Place): string => `${reportDate}/${row}`

const buildReader = (place: Place): RecordReader<WireLine, SettlementLine> => ({
  resource: 'settlement',
  schema: wireLine,
  published: publishedLine,
  keyField: () => buildKey(place),
  toDomain: (wire, raw, onUnknownValue) => parseLine(place, wire, raw, onUnknownValue),
})

/** A row without addresses of buyers; unchanged if it is no object. Numbers that a double may not hold exactly become strings of their digits. */
const withoutPlaces = (record: CutRecord): string => {
  const raw = jsonOrNull(record.text)
  if (!isObject(raw) || !placesOfBuyers.some((name) => Object.hasOwn(raw, name))) return record.text
  return JSON.stringify(parseExact(record), (name, value: unknown) => (placesOfBuyers.includes(name) ? undefined : value))
}

/**
 * The text of a row in an envelope with its position, so that it can be parsed again without the answer. The position is the key of a row: transaction keys
 * repeat, and a report may have equal rows, so a key from the content would lose money.
 */
const placedText = ({ reportDate, row, currency }: Place, rowText: string): string =>
  `${JSON.stringify({ reportDate, row, currency }).slice(0, -1)},"reportData":[${rowText}]}`

/** Parses a row. An unreadable row also has a key: its position. */
const placedRecord = (
  place: Place,
  record: CutRecord,
  onUnknownValue: OnUnknownValue,
  compare?: CompareRecord,
): ParsedRecord<SettlementLine> => {
  const rowText = withoutPlaces(record)
  const kept = rowText === record.text ? record : asRecord(rowText)
  return {
    ...readRecord(buildReader(place), kept, onUnknownValue, compare),
    key: buildKey(place),
    rawText: placedText(place, rowText),
  }
}

const wirePlaced = z.object({ reportDate: z.string(), row: z.int(), currency: z.string().nullable() })

/** Parses a row from its text ({@link placedText}). Never throws. */
const parseSettlementLine = (rawText: string, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<SettlementLine> => {
  const cut = cutRecords(rawText, rowsAt)
  const [record] = cut?.records ?? []
  const { data } = wirePlaced.safeParse(cut === null ? null : jsonOrNull(cut.envelopeText))
  if (record === undefined || data === undefined) return { ok: false, key: null, fault: 'record: no row of a report', rawText }
  return { ...placedRecord(data, record, onUnknownValue), rawText }
}

/** A page of a report. */
export interface SettlementQuery {
  /** `YYYY-MM-DD`. */
  readonly reportDate: string
  /** In bytes, from the previous page; 0 for the first page. */
  readonly offset: number
  /** Number of rows of the previous pages. */
  readonly rows: number
  /** From the previous pages. */
  readonly currency: string | null
  /** At most 1,000. */
  readonly limit: number
}

/** A page of a report. `totalCount` counts all its rows; `nextCursor` is the offset of the next page. */
export interface SettlementPage extends Page<SettlementLine> {
  /** The currency of the report, if it is known by now. */
  readonly currency: string | null
}

/** Settlement reports of one seller. */
export interface SettlementsClient {
  /**
   * The days (`YYYY-MM-DD`) of all reports, oldest first.
   *
   * @throws MarketplaceFailure
   */
  dates(options: CallOptions): Promise<{ readonly dates: readonly string[]; readonly observedAt: Date }>
  /**
   * One page of a report; empty if there is none. Keys of its records consist of the report and the row.
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
      // Reports of the earlier version are not available in JSON (documentation of the operation).
      const call = buildListCall(
        operations.dates,
        `/v3/report/reconreport/availableReconFiles${queryString({ reportVersion: 'v1' })}`,
        datesAt,
      )
      const answer = await caller.call(call, options)
      const dates = answer.records.map((record) => dayIn(String(parseExact(record)), plainDay))
      const known = dates.filter((date) => date !== null)
      if (known.length < dates.length) throw caller.unexpectedAnswer(call, answer)
      return { dates: [...new Set(known)].sort(), observedAt: caller.clock.at(answer.sentMs) }
    },
    async page({ reportDate, offset, rows, currency, limit }, options) {
      const [year, month, date] = reportDate.split('-')
      const size = Math.min(limit, maxRows)
      const target = queryString({
        reportDate: `${month}${date}${year}`,
        ...Object.fromEntries(pageSizeParameters.map((name) => [name, size])),
        offset,
      })
      const call = buildListCall(operations.report, `/v3/report/reconreport/reconFileJson${target}`, rowsAt)
      const answer = await caller.call(call, options)
      const named = answer.records.map((record) => currencyIn.safeParse(jsonOrNull(record.text)).data?.Currency)
      const reportCurrency = currency ?? toText(named.find((name) => toText(name) !== null))
      const readEnvelope: ReadEnvelope = (envelope) => {
        const { data } = wirePage.safeParse(envelope)
        const next = wholeNumber(data?.nextOffset)
        // An offset that does not increase would return the same page again and again.
        if (data === undefined || (next !== null && next <= offset && answer.records.length > 0)) return null
        // -1 ends the report.
        const isLast = next === null || answer.records.length === 0
        return { totalCount: data.totalRecords, nextCursor: isLast ? null : String(next) }
      }
      const place = { reportDate, row: 0, currency: reportCurrency }
      const page = await readPage(caller, call, { ...answer, records: [] }, buildReader(place), readEnvelope, onUnknownValue)
      const placed = answer.records.map((record, at) => ({ record, place: { ...place, row: rows + at + 1 } }))
      const compare = caller.compareRecords(call.operation)
      const records = await mapInTimeSlices(placed, (one) => [placedRecord(one.place, one.record, onUnknownValue, compare)])
      return { ...page, records, currency: reportCurrency }
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
