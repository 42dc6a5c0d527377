import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type Row, toText } from '../core/database.ts'
import { type Cents, decimalText } from '../core/money.ts'
import { body, checked, Misused, registeredSeller } from '../http/control-request.ts'
import type { Line } from '../rules/model.ts'
import type { World } from '../world.ts'
import { listSettlementErrors, type SettlementErrorKind, settlementErrorKinds } from './errors.ts'
import { commissionOn, findReportDays, formatReportDate } from './periods.ts'
import { addReimbursement, listReimbursements, reimbursedKinds } from './reimbursements.ts'

/** What a sale of a line pays, and its price. */
const computeSale = ({ charges }: Line): { readonly price: Cents; readonly payout: Cents } => {
  const total = (isPrice: boolean): Cents =>
    charges.reduce((sum, { type, amount }) => ((type === 'PRODUCT') === isPrice ? sum + amount : sum), 0)
  const price = total(true)
  return { price, payout: price + total(false) + commissionOn(price) }
}

const computeDifference = (kind: SettlementErrorKind, line: Line, amount: Cents): Cents => {
  const { price, payout } = computeSale(line)
  switch (kind) {
    case 'paid-more':
      return amount
    case 'paid-twice':
      return payout
    case 'never-paid':
      return -payout
    case 'refund-without-return':
      return -price - commissionOn(price)
    default:
      return -amount
  }
}

/** The lines that an error can be planted in, as `purchaseOrderId` and `lineNumber`: shipped at once and completely, never refunded, without an error. */
const listCandidates = (world: World, sellerId: string, before: number): readonly Row[] =>
  world.database.all(
    `SELECT e.purchase_order_id, e.line_number FROM effects AS e
     WHERE e.seller_id = ? AND e.kind IN ('shipped', 'refunded', 'cancelled')
       AND NOT EXISTS (SELECT 1 FROM settlement_errors AS s WHERE s.seller_id = e.seller_id AND s.purchase_order_id = e.purchase_order_id)
     GROUP BY e.purchase_order_id, e.line_number HAVING count(*) = 1 AND min(e.kind) = 'shipped' AND max(e.at) < ?
     ORDER BY e.purchase_order_id, e.line_number`,
    sellerId,
    before,
  )

const minPrice = 500

/** Plants `count` errors of each kind, one in an order, in reports that are followed by another one. Throws `Misused` if there are not enough lines. */
const plant = (world: World, sellerId: string, count: number, now: number): void => {
  const newest = findReportDays(world, sellerId, now).at(-1)
  const used = new Set<string>()
  const lines = listCandidates(world, sellerId, now).flatMap((row) => {
    const purchaseOrderId = toText(row, 'purchase_order_id')
    const order = world.orders.find(sellerId, purchaseOrderId)
    const line = order?.lines.find(({ lineNumber }) => lineNumber === toText(row, 'line_number'))
    const shippedAt = line?.entries.find(({ parcel }) => parcel !== undefined)?.parcel?.shippedAt
    if (order == null || line === undefined || shippedAt === undefined || used.has(purchaseOrderId)) return []
    // Only its number distinguishes one of several lines of a SKU.
    const isAlone = order.lines.every((other) => other === line || other.item.sku !== line.item.sku)
    const isReported = newest !== undefined && formatReportDate(shippedAt) < newest
    if (!isAlone || !isReported || computeSale(line).price < minPrice * line.ordered) return []
    used.add(purchaseOrderId)
    return [{ purchaseOrderId, line }]
  })
  const wanted = settlementErrorKinds.flatMap((kind) => Array.from({ length: count }, () => kind))
  if (lines.length < wanted.length)
    throw new Misused(409, `count: ${wanted.length} lines are needed, and ${lines.length} are settled completely`)
  world.database.transaction(() => {
    for (const [at, kind] of wanted.entries()) {
      const found = lines[Math.floor((at * lines.length) / wanted.length)]
      if (found === undefined) continue
      const amount = 50 + ((7 * at) % 400)
      world.database.run(
        `INSERT INTO settlement_errors (seller_id, purchase_order_id, line_number, kind, sku, amount, difference) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        sellerId,
        found.purchaseOrderId,
        found.line.lineNumber,
        kind,
        found.line.item.sku,
        amount,
        computeDifference(kind, found.line, amount),
      )
    }
  })
}

const seller = { sellerId: z.string().min(1).optional() }
const plantBody = z.strictObject({ ...seller, count: z.number().int().min(1).max(10_000).default(1) })
const reimbursementBody = z.strictObject({
  ...seller,
  reimburses: z.enum(reimbursedKinds).default('lost'),
  sku: z.string().min(1).optional(),
  units: z.number().int().min(1).max(1_000_000).optional(),
  amount: z.string().regex(/^-?\d{1,9}\.\d{2}$/, 'must be an amount such as 12.50'),
  at: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .optional(),
})
const sellerQuery = z.object(seller)

/** What is planted in the settlement reports of a seller. */
export const viewPlantedSettlements = (world: World, sellerId: string) => ({
  settlementErrors: listSettlementErrors(world.database, sellerId).map(({ amount: _, difference, ...error }) => ({
    ...error,
    difference: decimalText(difference),
  })),
  reimbursements: listReimbursements(world.database, sellerId).map(({ at, amount, ...one }) => ({
    ...one,
    at: new Date(at).toISOString(),
    amount: decimalText(amount),
  })),
})

/** Control routes of planted errors and reimbursements of settlement reports. */
export const registerSettlementControl = (app: FastifyInstance, world: World): void => {
  const view = (sellerId: string) => ({ sellerId, ...viewPlantedSettlements(world, sellerId) })
  app.post('/reimbursements', async (request, reply) => {
    const asked = body(reimbursementBody, request)
    const sellerId = registeredSeller(world, asked.sellerId)
    const { at = world.clock.now(), reimburses, sku = null, units = null, amount } = asked
    if (at > world.clock.now()) throw new Misused(400, 'at: must not lie in the future')
    addReimbursement(world.database, sellerId, { at, reimburses, sku, units, amount: Math.round(Number(amount) * 100) })
    reply.code(201)
    return view(sellerId)
  })
  app.post('/settlement-errors', async (request, reply) => {
    const asked = body(plantBody, request)
    const sellerId = registeredSeller(world, asked.sellerId)
    plant(world, sellerId, asked.count, world.clock.now())
    reply.code(201)
    return view(sellerId)
  })
  app.delete('/settlement-errors', async (request) => {
    const sellerId = registeredSeller(world, checked(sellerQuery, request.query).sellerId)
    world.database.run('DELETE FROM settlement_errors WHERE seller_id = ?', sellerId)
    return view(sellerId)
  })
}
