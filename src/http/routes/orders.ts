import { z } from 'zod'
import { available, type LineLedger } from '../../domain/units.ts'
import { readChangesOfOrder } from '../../store/changes.ts'
import { readLedgers } from '../../store/command-ledgers.ts'
import { commandsOfOrder } from '../../store/command-queries.ts'
import { readOverview } from '../../store/operator-queries.ts'
import { listOrders, type OrderKey, readOrderSummary, readOrderVersions, sellersOfOrder } from '../../store/order-queries.ts'
import { readOrder } from '../../store/stored-orders.ts'
import { type App, problems } from '../app.ts'
import { cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import { orderSchema, orderSummarySchema, overviewSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('orders', z.object({ sellerId: z.string(), purchaseOrderId: z.string() }))
const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')
const versionLimit = 50
const changeLimit = 1_000

const shownLedger = (ledger: LineLedger) => ({
  reported: ledger.reported,
  confirmed: ledger.confirmed,
  reserved: ledger.pending,
  inFlight: ledger.inFlight,
  available: { ship: available(ledger, 'ship'), cancel: available(ledger, 'cancel'), refund: available(ledger, 'refund') },
})

/** Orders with their units, and the overview. */
export const orderRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  const lateAt = (): ReadonlyMap<string, Date> =>
    new Map(services.sellers().map((sellerId) => [sellerId, services.marketplaceNow(sellerId)]))

  app.route({
    method: 'GET',
    url: '/v1/orders',
    schema: {
      tags: ['orders'],
      summary: 'Orders, by seller and purchase order id',
      querystring: z.object({
        ...pagingSchema,
        sellerId: z.string().optional(),
        open: flag.optional().meta({ description: 'Some units are neither shipped nor cancelled.' }),
        late: flag.optional().meta({ description: 'true: open, and past the ship-by time.' }),
        sku: z.string().optional().meta({ description: 'At least one line has this SKU.' }),
      }),
      response: { 200: pageSchema(orderSummarySchema), ...problems() },
    },
    handler: async ({ query }) => {
      const filter = {
        sellerId: query.sellerId ?? null,
        open: query.open ?? null,
        sku: query.sku ?? null,
        lateAt: query.late === true ? lateAt() : null,
      }
      const page = await listOrders(database, filter, cursors.decode(query.cursor), query.limit)
      return { items: [...page.items], nextCursor: cursors.encode(page.next) }
    },
  })

  const find = async (purchaseOrderId: string, sellerId: string | undefined): Promise<OrderKey> => {
    const sellers = sellerId === undefined ? await sellersOfOrder(database, purchaseOrderId) : [sellerId]
    const [only] = sellers
    if (only === undefined) throw notFound(purchaseOrderId)
    if (sellers.length > 1) {
      throw new Problem('ambiguous-order', { detail: `Name one of the sellers with ?sellerId=: ${sellers.join(', ')}.` })
    }
    return { sellerId: only, purchaseOrderId }
  }

  app.route({
    method: 'GET',
    url: '/v1/orders/:purchaseOrderId',
    schema: {
      tags: ['orders'],
      summary: 'An order with lines, unit ledger, commands and history',
      params: z.object({ purchaseOrderId: z.string().min(1).max(1_000) }),
      querystring: z.object({
        sellerId: z.string().optional().meta({ description: 'Required when several sellers have an order with this id.' }),
      }),
      response: { 200: orderSchema, ...problems(404, 409) },
    },
    handler: async ({ params: { purchaseOrderId }, query }) => {
      const key = await find(purchaseOrderId, query.sellerId)
      const summary = await readOrderSummary(database, key)
      const order = await readOrder(database, key.sellerId, purchaseOrderId)
      if (summary === null || order === null) throw notFound(purchaseOrderId)
      const [ledgers, commands, versions, changes] = await Promise.all([
        readLedgers(database, key.sellerId, order),
        commandsOfOrder(database, key.sellerId, purchaseOrderId),
        readOrderVersions(database, key, versionLimit),
        readChangesOfOrder(database, key.sellerId, purchaseOrderId, changeLimit),
      ])
      const ledgerOf = new Map(ledgers.map((ledger) => [ledger.lineNumber, shownLedger(ledger)]))
      return {
        ...summary,
        ...order,
        shippingAddress: order.shippingAddress === null ? null : { ...order.shippingAddress },
        lines: order.lines.map((line) => ({
          ...line,
          ...line.units,
          statuses: [...line.statuses],
          charges: line.charges.map((charge) => ({ ...charge, taxAndOtherFees: charge.taxAndOtherFees ?? null })),
          ledger: ledgerOf.get(line.lineNumber) ?? null,
        })),
        commands,
        history: { versions, changes },
      }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/overview',
    schema: {
      tags: ['orders'],
      summary: 'The main numbers',
      response: { 200: overviewSchema, ...problems() },
    },
    handler: () => readOverview(database, lateAt()),
  })
}

const notFound = (purchaseOrderId: string): Problem =>
  new Problem('not-found', { detail: `There is no order ${purchaseOrderId} in the database.` })
