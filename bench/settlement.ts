/**
 * A settlement report with injected errors: its rows are stored, compared with their orders, and the differences are compared with the errors.
 * `node bench/settlement.ts [rows] [errors]`; prints the time and memory of both, and the money that nothing explains. Rows come from memory: the time of HTTP
 * is not included.
 */

import { rm } from 'node:fs/promises'
import { Decimal } from 'decimal.js'
import { settlementDifferenceKinds } from '../src/domain/settlements/settlement-differences.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { reviewSettlements } from '../src/store/orders/settlement-differences.ts'
import { hasSettlementOrders } from '../src/store/orders/settlement-orders.ts'
import { noteDueSettlements, type ReportRow, storeReportRows } from '../test/store/support/settlements.ts'
import { charge, orderLine, purchaseOrder } from '../test/support/orders.ts'
import { storeOrders } from '../test/support/store.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, forgetPeak, residentMb } from './measure.ts'

const { rows: wantedRows, errors } = benchOptions({ rows: 100_000, errors: 500 }, { inOrder: true }).numbers
const sellerId = 'bench'
const rowsOfSale = 4
const lines = Math.ceil(wantedRows / rowsOfSale)
const every = Math.max(1, Math.floor(lines / errors))
const findDivisor = (a: number, b: number): number => (b === 0 ? a : findDivisor(b, a % b))
/** No multiple of the distance between errors: otherwise some SKUs would have errors only. */
const findSkus = (from: number): number => (findDivisor(from, every) === 1 ? from : findSkus(from + 1))
const skus = findSkus(Math.max(1, Math.min(500, Math.floor(lines / 20))))
const pageRows = 1_000
const pageOrders = 250

const [reportDate, nextReport] = ['2026-03-14', '2026-03-28'] as const

type Kind = (typeof settlementDifferenceKinds)[number]

const money = (cents: number): string => new Decimal(cents).div(100).toFixed(2)
const commissionOn = (price: number): number => -Math.floor((price * 15 + 50) / 100)

interface Sale {
  readonly id: string
  readonly sku: string
  readonly price: number
  readonly shipping: number
  readonly error: Kind | null
}

const buildSale = (at: number): Sale => ({
  id: String(1_000_000_000 + at),
  sku: `SKU-${at % skus}`,
  price: 800 + ((at * 37) % 9_000),
  shipping: at % 3 === 0 ? 499 : 0,
  error:
    at % every === 0 && at / every < errors
      ? (settlementDifferenceKinds[(at / every) % settlementDifferenceKinds.length] ?? null)
      : null,
})

/** Cents by which the error changes what the report pays. */
const findOff = ({ price, shipping, error }: Sale): number => {
  const payout = price + shipping + commissionOn(price)
  switch (error) {
    case null:
      return 0
    case 'paid-more':
      return 100
    case 'paid-twice':
      return payout
    case 'never-paid':
      return -payout
    case 'refund-without-return':
      return -price - commissionOn(price)
    default:
      return -100
  }
}

const listRows = ({ id, sku, price, shipping, error }: Sale): readonly ReportRow[] => {
  const row = (type: string, amountType: string, cents: number): ReportRow => ({
    'Transaction Type': type,
    'Transaction Description': type,
    'Amount Type': amountType,
    Amount: money(cents),
    'Ship Qty': '1',
    'Purchase Order #': id,
    'Purchase Order line #': '1',
    'Partner Item Id': sku,
    'Transaction Key': `key-${id}`,
    'Transaction Posted Timestamp': '03/10/2026',
    'Period Start Date': '""',
  })
  const paid = price + (error === 'paid-more' ? 100 : error === 'paid-less' ? -100 : 0)
  const sale = [
    row('Sale', 'Product Price', paid),
    row('Sale', 'Commission on Product', commissionOn(paid) - (error === 'commission-off-rate' ? 100 : 0)),
    ...(shipping === 0 ? [] : [row('Sale', 'Shipping', shipping)]),
    row('Sale', 'Product tax', 80),
    row('Sale', 'Product tax withheld', -80),
  ]
  switch (error) {
    case 'never-paid':
      return []
    case 'paid-twice':
      return [...sale, ...sale]
    case 'refund-without-return':
      return [...sale, row('Refund', 'Product Price', -price), row('Refund', 'Commission on Product', -commissionOn(price))]
    case 'unknown-fee':
      return [...sale, row('Adjustment', 'A new fee', -100)]
    default:
      return sale
  }
}

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })

const storeSales = async (): Promise<void> => {
  for (let from = 0; from < lines; from += pageOrders) {
    const page = Array.from({ length: Math.min(pageOrders, lines - from) }, (_, at) => {
      const { id, sku, price, shipping } = buildSale(from + at)
      const shippedAt = new Date('2026-03-05T10:00:00Z')
      const parcel = {
        carrier: 'UPS',
        methodCode: null,
        trackingNumber: `T${id}`,
        trackingUrl: null,
        shippedAt,
        quantity: 1,
        shownQuantity: 1,
        deliveredQuantity: 0,
        deliveredAt: null,
      }
      const charges = [charge(money(price), '0.80'), ...(shipping === 0 ? [] : [charge(money(shipping), null, 'SHIPPING')])]
      const line = orderLine('1', sku, 1, { shipped: 1 }, { charges, shipments: [parcel] })
      const month = String(1 + ((from + at) % 3)).padStart(2, '0')
      const order = purchaseOrder(id, [line], { orderDate: new Date(`2026-${month}-03T10:00:00Z`) })
      return { key: id, value: order, rawText: JSON.stringify({ purchaseOrderId: id, lines: order.lines }) }
    })
    await storeOrders(database, { sellerId, observedAt: new Date('2026-03-06T10:00:00Z'), records: page })
  }
}

const summary = (from: string, to: string): ReportRow => ({
  'Transaction Type': 'PaymentSummary',
  'Total Payable': '1.00',
  'Period Start Date': from,
  'Period End Date': to,
})

/** Stores the reports page by page; returns the number of rows. */
const storeReports = async (): Promise<number> => {
  let page: ReportRow[] = [summary('02/28/2026', '03/13/2026')]
  let stored = 0
  const flush = async (): Promise<void> => {
    await storeReportRows(database, sellerId, reportDate, page, stored + 1)
    stored += page.length
    page = []
  }
  for (let at = 0; at < lines; at += 1) {
    page.push(...listRows(buildSale(at)))
    if (page.length >= pageRows) await flush()
  }
  await flush()
  await storeReportRows(database, sellerId, nextReport, [summary('03/14/2026', '03/27/2026')])
  return stored
}

const compareAll = async (): Promise<void> => {
  await noteDueSettlements(database, sellerId)
  while (await hasSettlementOrders(database, sellerId)) await database.transaction((tx) => reviewSettlements(tx, sellerId))
}

interface Judged {
  readonly found: number
  readonly missing: number
  readonly invented: number
  readonly unexplained: string
}

const judge = async (): Promise<Judged> => {
  const found = await database.query<{ kind: string; id: string; off: string }>(
    `SELECT kind, purchase_order_id AS id, difference::text AS off FROM warehouse.settlement_differences WHERE seller_id = $1 AND state = 'open'`,
    sellerId,
  )
  const name = (kind: string, id: string, off: Decimal.Value): string => `${kind} ${id} ${new Decimal(off).toFixed(2)}`
  const truth = new Set<string>()
  let due = new Decimal(0)
  for (let at = 0; at < lines; at += 1) {
    const sale = buildSale(at)
    const off = findOff(sale)
    const paid = listRows(sale).reduce((sum, row) => sum.plus(row['Amount'] ?? 0), new Decimal(0))
    due = due.plus(paid).minus(money(off))
    if (sale.error !== null) truth.add(name(sale.error, sale.id, money(off)))
  }
  const shown = new Set(found.map(({ kind, id, off }) => name(kind, id, off)))
  const [paid] = await database.query<{ total: string }>(
    `SELECT sum(amount)::text AS total FROM warehouse.settlement_lines WHERE seller_id = $1 AND movement <> 'summary'`,
    sellerId,
  )
  const differences = found.reduce((sum, { off }) => sum.plus(off), new Decimal(0))
  return {
    found: [...shown].filter((one) => truth.has(one)).length,
    missing: [...truth].filter((one) => !shown.has(one)).length,
    invented: [...shown].filter((one) => !truth.has(one)).length,
    unexplained: new Decimal(paid?.total ?? 0).minus(due).minus(differences).toFixed(2),
  }
}

try {
  await storeSales()
  await database.execute('ANALYZE')
  await forgetPeak(process.pid)
  const idle = await residentMb(process.pid)
  const started = performance.now()
  const stored = await storeReports()
  const storedMs = performance.now() - started
  await compareAll()
  const seconds = (performance.now() - started) / 1_000
  const aboveIdleMb = (await residentMb(process.pid)).peak - idle.now
  const { found, missing, invented, unexplained } = await judge()
  console.log(
    `${stored} rows of ${lines} orders with ${errors} errors: ${seconds.toFixed(1)} s (${(storedMs / 1_000).toFixed(1)} s to store them), ` +
      `${Math.round(stored / seconds)} rows/s, ${Math.round(aboveIdleMb)} MB above ${Math.round(idle.now)} MB; ` +
      `${found} errors found, ${missing} missing, ${invented} invented, ${unexplained} unexplained`,
  )
  process.send?.({ seconds, aboveIdleMb, missing, invented, unexplained })
} finally {
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
