import type { Call, Operation } from '../calls/operation.ts'
import { blemishRecords } from '../calls/perform.ts'
import { readWhole } from '../calls/query.ts'
import { nullableWhole, type Row, toInteger, toText } from '../core/database.ts'
import { contentNotFound, Refusal, refuseParameter } from '../core/errors.ts'
import { type Cents, computeShare, decimalText } from '../core/money.ts'
import { dayAfter, pacificDay, pacificMidnight } from '../core/pacific.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { perMinute } from '../faults/limits.ts'
import { listFaults } from '../faults/schema.ts'
import type { Line, Order } from '../rules/model.ts'
import { sumCharged } from '../rules/refund.ts'
import { findSettlementError, type SettlementError, type SettlementErrorKind } from '../settlements/errors.ts'
import { commissionOn, findReportDays, periodDays } from '../settlements/periods.ts'
import { listReimbursements, type Reimbursement, reimbursementDescriptions } from '../settlements/reimbursements.ts'
import type { World } from '../world.ts'

// Settlement reports (public facts, section 13; none in the specification): every two weeks, what was shipped, refunded and reimbursed meanwhile.

const maxRows = 1_000

type ReportRow = Readonly<Record<string, string>>

const common = {
  method: 'GET',
  admission: 'marketplace',
  body: 'none',
  writes: false,
  errorShape: 'nested',
} as const

const dates: Operation = {
  ...common,
  name: 'settlements.dates',
  limit: perMinute(100),
  urls: ['/v3/report/reconreport/availableReconFiles'],
  faults: [],
  perform: (world, { sellerId }, _plan, now) => ({
    json: { availableApReportDates: findReportDays(world, sellerId, now).map(plainDay) },
  }),
}

const report: Operation = {
  ...common,
  name: 'settlements.report',
  limit: perMinute(100),
  urls: ['/v3/report/reconreport/reconFileJson'],
  faults: [...listFaults, 'cursorExpired'],
  onFurtherPage: ({ query }) => (query.get('offset') ?? '0') !== '0',
  perform: (world, call, plan, now) => ({ json: reportPage(world, call, plan, now) }),
}

/** The dates of settlement reports, and the reports. */
export const operations: readonly Operation[] = [dates, report]

/** `MMDDYYYY`. */
const plainDay = (day: string): string => {
  const [year, month, date] = day.split('-')
  return `${month}${date}${year}`
}

/** `MM/DD/YYYY`. */
const slashDay = (day: string): string => plainDay(day).replace(/^(..)(..)/, '$1/$2/')

/** A page: rows from a byte of the report on (public facts, section 13). */
const reportPage = (world: World, { sellerId, query }: Call, plan: FaultPlan, now: number): unknown => {
  const asked = query.get('reportDate')
  if (asked === null) throw refuseParameter('reportDate', 'reportDate is required, as MMDDYYYY')
  const day = findReportDays(world, sellerId, now).find((date) => plainDay(date) === asked)
  if (day === undefined) throw contentNotFound(`No report of ${asked}`, 'GMP_REPORT_API')
  const size = query.get('limit') === null ? 'noOfRecords' : 'limit'
  const limit = readWhole(query, size, maxRows, [1, maxRows])
  const offset = readWhole(query, 'offset', 0, [0, 999_999_999])
  const rows = listRows(world, sellerId, day)
  const starts = [0]
  for (const row of rows) starts.push((starts.at(-1) ?? 0) + Buffer.byteLength(JSON.stringify(row)) + 1)
  const first = starts.indexOf(offset)
  if (first === -1 || first === rows.length) throw invalidOffset()
  const end = Math.min(first + limit, rows.length)
  return {
    reportData: blemishRecords(rows.slice(first, end), 'Transaction Type', plan),
    nextOffset: end === rows.length ? -1 : starts[end],
    totalRecords: rows.length,
    description: 'Settlement report',
  }
}

const invalidOffset = (): Refusal => {
  const description = 'offset must be that of a page before'
  return new Refusal(400, [
    { code: 'INVALID_OFFSET.GMP_REPORT_API', field: 'offset', description, severity: 'ERROR', category: 'DATA' },
  ])
}

const listRows = (world: World, sellerId: string, day: string): readonly ReportRow[] => {
  const firstDay = dayAfter(day, -periodDays)
  const effects = world.database.all(
    `SELECT id, at, purchase_order_id, line_number, kind, quantity, amount, actor FROM effects
     WHERE seller_id = ? AND kind IN ('shipped', 'refunded') AND at >= ? AND at < ? ORDER BY id`,
    sellerId,
    pacificMidnight(firstDay),
    pacificMidnight(day),
  )
  const reimbursements = listReimbursements(world.database, sellerId, pacificMidnight(firstDay), pacificMidnight(day))
  const movements = [
    ...effects.flatMap((effect) => buildMovements(world, sellerId, effect)),
    ...reimbursements.map(buildReimbursement),
  ]
  const total = movements.reduce((sum, { cents }) => sum + cents, 0)
  const summary: ReportRow = {
    'Period Start Date': slashDay(firstDay),
    'Period End Date': slashDay(dayAfter(day, -1)),
    Currency: 'USD',
    'Total Payable': decimalText(total),
    'Transaction Type': 'PaymentSummary',
    'Transaction Description': 'Deposited in account',
    'Transaction Posted Timestamp': slashDay(day),
  }
  return [summary, ...movements.map(({ row, cents }) => ({ ...row, Amount: decimalText(cents) }))]
}

interface Movement {
  readonly row: ReportRow
  readonly cents: Cents
}

/** Money for units at the fulfilment service, without an order. */
const buildReimbursement = ({ id, at, reimburses, sku, units, amount }: Reimbursement): Movement => {
  const on = pacificDay(at)
  return {
    row: {
      'Period Start Date': '""',
      'Transaction Key': `${on.replaceAll('-', '_')}_R${id}`,
      'Transaction Posted Timestamp': slashDay(on),
      'Transaction Type': 'Adjustment',
      'Transaction Description': reimbursementDescriptions[reimburses],
      'Amount Type': 'WFS Inventory Fee/Reimbursement',
      ...(sku === null ? {} : { 'Partner Item Id': sku }),
      ...(units === null ? {} : { 'Ship Qty': String(units) }),
    },
    cents: amount,
  }
}

const amountTypes: Readonly<Record<string, string>> = { PRODUCT: 'Product Price', SHIPPING: 'Shipping Price' }

/** The rows of what happened to the units of one line, with the error that was planted in it. */
const buildMovements = (world: World, sellerId: string, effect: Row): readonly Movement[] => {
  const order = world.orders.find(sellerId, toText(effect, 'purchase_order_id'))
  const line = order?.lines.find(({ lineNumber }) => lineNumber === toText(effect, 'line_number'))
  if (order == null || line === undefined) return []
  const quantity = toInteger(effect, 'quantity')
  const at = pacificDay(toInteger(effect, 'at'))
  const build = (type: string, description: string, amounts: readonly NamedCents[]): readonly Movement[] =>
    amounts
      .filter(([, cents]) => cents !== 0)
      .map(([amountType, cents]) => ({
        row: {
          ...ofLine(order, line),
          'Period Start Date': '""',
          'Transaction Key': `${at.replaceAll('-', '_')}_${toInteger(effect, 'id')}`,
          'Transaction Posted Timestamp': slashDay(at),
          'Transaction Type': type,
          'Transaction Description': description,
          'Ship Qty': String(quantity),
          'Amount Type': amountType,
        },
        cents,
      }))
  if (toText(effect, 'kind') === 'refunded') {
    const description = toText(effect, 'actor') === 'seller' ? 'Seller Triggered Refund' : 'Return Refund'
    return build('Refund', description, buildRefund(nullableWhole(effect, 'amount') ?? 0))
  }
  const error = findSettlementError(world.database, sellerId, order.purchaseOrderId, line.lineNumber)
  const sale = build('Sale', 'Purchase', buildSale(line, quantity, error))
  switch (error?.kind) {
    case 'never-paid':
      return []
    case 'paid-twice':
      return [...sale, ...sale]
    case 'refund-without-return':
      return [...sale, ...build('Refund', 'Return Refund', buildRefund(sumCharged(line, 'PRODUCT', 'amount')))]
    case 'unknown-fee':
      return [...sale, ...build('Adjustment', 'Item compliance', [['Item compliance fee', -error.amount]])]
    default:
      return sale
  }
}

type NamedCents = readonly [amountType: string, cents: Cents]

/** Price and charges come in, taxes come in and are withheld, the commission goes out. */
const buildSale = (line: Line, quantity: number, error: SettlementError | null): readonly NamedCents[] => {
  const share = (cents: Cents): Cents => computeShare(cents, quantity, line.ordered)
  const off = (kind: SettlementErrorKind): Cents => (error?.kind === kind ? error.amount : 0)
  return line.charges.flatMap((charge): NamedCents[] => {
    const isPrice = charge.type === 'PRODUCT'
    const price = share(charge.amount) + (isPrice ? off('paid-more') - off('paid-less') : 0)
    const tax = share((charge.tax?.amount ?? 0) + (charge.fees?.amount ?? 0))
    return [
      [amountTypes[charge.type] ?? charge.name, price],
      ['Product tax', tax],
      ['Product tax withheld', -tax],
      ['Commission on Product', isPrice ? commissionOn(price) - off('commission-off-rate') : 0],
    ]
  })
}

/** What the buyer got back, less the commission on it. */
const buildRefund = (paid: Cents): readonly NamedCents[] => [
  ['Product Price', -paid],
  ['Commission on Product', -commissionOn(paid)],
]

const ofLine = (order: Order, line: Line): ReportRow => ({
  'Purchase Order #': order.purchaseOrderId,
  'Purchase Order line #': line.lineNumber,
  'Customer Order #': order.customerOrderId,
  'Customer Order line #': line.lineNumber,
  'Partner Item Id': line.item.sku,
  'Partner Item Name': line.item.productName,
  'Fulfillment Type': order.shipNodeType === 'SellerFulfilled' ? 'Seller Fulfilled' : 'WFS Fulfilled',
  'Shipping Method': order.methodCode,
  'Product Tax Code': '2038710',
  'Ship to City': order.buyer.city,
  'Ship to State': order.buyer.state,
  'Ship to Zipcode': order.buyer.postalCode,
})
