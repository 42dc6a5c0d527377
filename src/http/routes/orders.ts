import { z } from 'zod'
import { mask, masked, maskedAddress } from '../../domain/masking.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { available, type LineLedger } from '../../domain/units.ts'
import { recordAct } from '../../store/audit.ts'
import { readChangesOfOrder } from '../../store/changes.ts'
import { readLedgers } from '../../store/command-ledgers.ts'
import { commandsOfOrder } from '../../store/command-queries.ts'
import { readOverview, readThroughput } from '../../store/operator-queries.ts'
import { orderDeadlines } from '../../store/order-deadlines.ts'
import {
  listOrders,
  type OrderKey,
  orderOutcomes,
  orderSorts,
  readOrderStates,
  readOrderSummary,
  readOrderVersions,
  sellersOfOrder,
} from '../../store/order-queries.ts'
import { readOrder } from '../../store/stored-orders.ts'
import { type App, problems } from '../app.ts'
import { actingAs, type Caller, coveredOf, sellersAsked } from '../caller.ts'
import { flagSchema, fromSchema, listOf, textFilter, toSchema } from '../lists.ts'
import { changeFor, commandFor } from '../masked.ts'
import { Problem } from '../problems.ts'
import {
  actorSchema,
  buyerSchema,
  hourOfWorkSchema,
  orderSchema,
  orderStatesSchema,
  orderSummarySchema,
  overviewSchema,
} from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const place = z.object({
  sellerId: z.string(),
  purchaseOrderId: z.string(),
  at: z.union([z.iso.datetime(), z.enum(['infinity', '-infinity'])]).nullable(),
})
const orders = listOf('orders', orderSummarySchema, place, {
  q: textFilter('Purchase order, customer order, SKU or tracking number: whichever it is.'),
  purchaseOrderId: textFilter('With this id.'),
  customerOrderId: textFilter('Parts of this customer order.'),
  sku: textFilter('At least one line has this SKU.'),
  trackingNumber: textFilter('At least one parcel has this tracking number.'),
  sellerId: textFilter('Of this seller.'),
  shipNodeType: textFilter('Stored and shipped by this kind of node, in a word of the marketplace.'),
  open: flagSchema.optional().meta({ description: 'Some units are neither shipped nor cancelled.' }),
  outcome: z
    .enum(orderOutcomes)
    .optional()
    .meta({
      description:
        '`shipped`: nothing is open, and some units were shipped; `cancelled`: nothing is open, and no unit was shipped; `refunded`: some units were ' +
        'refunded. Name a period, too: the orders are read one by one.',
    }),
  late: flagSchema.optional().meta({ description: 'true: open, shipped by the seller, and past the ship-by time.' }),
  shipSoon: flagSchema.optional().meta({ description: 'true: open, shipped by the seller, and to be shipped within 24 hours.' }),
  autoCancelSoon: flagSchema
    .optional()
    .meta({ description: 'true: open, and cancelled by the marketplace within 24 hours unless it is shipped.' }),
  acknowledgeOverdue: flagSchema
    .optional()
    .meta({ description: 'true: open, shipped by the seller, and past the time to be acknowledged by.' }),
  acknowledgeSoon: flagSchema
    .optional()
    .meta({ description: 'true: open, shipped by the seller, and to be acknowledged within an hour.' }),
  fulfilledBySeller: flagSchema
    .optional()
    .meta({ description: 'true: open, shipped by the seller, and still with the marketplace; false: the other open ones.' }),
  unacknowledged: flagSchema
    .optional()
    .meta({ description: 'true: open, shipped by the seller, and some units are not acknowledged; false: the other open ones.' }),
  city: textFilter("City of the buyer's address, in upper or lower case."),
  createdFrom: fromSchema('Ordered'),
  createdTo: toSchema('Ordered'),
  shipByFrom: fromSchema('To be shipped'),
  shipByTo: toSchema('To be shipped'),
  sort: z
    .enum(orderSorts)
    .optional()
    .meta({
      description:
        '`-orderDate`: newest first; `shipBy`: by the estimated ship date; `acknowledgeBy`: oldest first, as the time to acknowledge begins with the order. ' +
        'Default: by seller and purchase order id.',
    }),
})
const versionLimit = 50
const changeLimit = 1_000
const mostHours = 168
const mostDays = 31
const dayMs = 86_400_000
const hourMs = 3_600_000
const sellerOfOrder = z.string().optional().meta({ description: 'Required when several sellers have an order with this id.' })

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
  const marketplaceTimes = (): ReadonlyMap<string, Date> =>
    new Map(services.sellers().map((sellerId) => [sellerId, services.marketplaceNow(sellerId)]))

  app.route({
    method: 'GET',
    url: '/v1/orders',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Search orders',
      querystring: orders.querystring,
      response: orders.response,
    },
    handler: (request, reply) => {
      const { query } = request
      const filter = {
        q: query.q ?? null,
        purchaseOrderId: query.purchaseOrderId ?? null,
        customerOrderId: query.customerOrderId ?? null,
        sku: query.sku ?? null,
        trackingNumber: query.trackingNumber ?? null,
        sellerId: sellersAsked(request.caller, query.sellerId),
        shipNodeType: query.shipNodeType ?? null,
        fulfilledBySeller: query.fulfilledBySeller ?? null,
        unacknowledged: query.unacknowledged ?? null,
        city: query.city ?? null,
        open: query.open ?? null,
        outcome: query.outcome ?? null,
        nowOf: marketplaceTimes(),
        due: orderDeadlines.filter((deadline) => query[deadline] === true),
        created: { from: query.createdFrom ?? null, to: query.createdTo ?? null },
        shipBy: { from: query.shipByFrom ?? null, to: query.shipByTo ?? null },
        sort: query.sort ?? null,
      }
      return orders.answer(request, reply, (after, limit) => listOrders(database, filter, after, limit))
    },
  })

  const find = async (caller: Caller, purchaseOrderId: string, sellerId: string | undefined): Promise<OrderKey> => {
    const sellers = coveredOf(caller, sellerId === undefined ? await sellersOfOrder(database, purchaseOrderId) : [sellerId])
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
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'An order with lines, unit ledger, commands and history',
      params: z.object({ purchaseOrderId: z.string().min(1).max(1_000) }),
      querystring: z.object({
        sellerId: sellerOfOrder,
        masked: flagSchema.optional().meta({ description: "true: without the buyer's data, as a session always gets it." }),
      }),
      response: { 200: orderSchema, ...problems(404, 409) },
    },
    handler: async ({ params: { purchaseOrderId }, query, caller }) => {
      const key = await find(caller, purchaseOrderId, query.sellerId)
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
      const viewer = { session: caller.session || query.masked === true }
      const buyer = { ...buyerOf(order) }
      return {
        ...summary,
        ...order,
        ...(viewer.session ? maskedBuyer(buyer) : buyer),
        lines: order.lines.map((line) => ({
          ...line,
          ...line.units,
          statuses: [...line.statuses],
          charges: line.charges.map((charge) => ({ ...charge, taxAndOtherFees: charge.taxAndOtherFees ?? null })),
          ledger: ledgerOf.get(line.lineNumber) ?? null,
        })),
        commands: commands.map((command) => commandFor(viewer, command)),
        history: {
          versions: versions.map((version) => ({ ...version, raw: viewer.session ? masked(version.raw) : version.raw })),
          changes: changes.map((change) => changeFor(viewer, change)),
        },
      }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/orders/:purchaseOrderId/reveal',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: "Show an order's buyer",
      description: 'For people in a session, who see orders without it. The audit says who has asked.',
      params: z.object({ purchaseOrderId: z.string().min(1).max(1_000) }),
      body: z.strictObject({ sellerId: sellerOfOrder, actor: actorSchema }).nullish(),
      response: { 200: buyerSchema, ...problems(404, 409, 413, 415, 422) },
    },
    handler: async ({ params: { purchaseOrderId }, body, caller }) => {
      const { sellerId } = await find(caller, purchaseOrderId, body?.sellerId)
      const order = await readOrder(database, sellerId, purchaseOrderId)
      if (order === null) throw notFound(purchaseOrderId)
      const by = actingAs(caller, body?.actor)
      await recordAct(database, { by, action: 'buyer.shown', sellerId, subject: purchaseOrderId, reason: null })
      return buyerOf(order)
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/overview',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'The main numbers',
      querystring: z.object({ sellerId: textFilter('Of this seller.') }),
      response: { 200: overviewSchema, ...problems() },
    },
    handler: ({ query, caller }) => readOverview(database, marketplaceTimes(), sellersAsked(caller, query.sellerId)),
  })

  app.route({
    method: 'GET',
    url: '/v1/order-states',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Orders of the last days, by state',
      description: 'Each number is that of `GET /v1/orders` with `createdFrom`, and with `open=true` or `outcome`.',
      querystring: z.object({
        sellerId: textFilter('Of this seller.'),
        days: z.coerce
          .number(`must be a whole number from 1 to ${mostDays}`)
          .int(`must be a whole number from 1 to ${mostDays}`)
          .min(1, 'must be at least 1')
          .max(mostDays, `must be at most ${mostDays}`)
          .default(7),
      }),
      response: { 200: orderStatesSchema, ...problems() },
    },
    handler: async ({ query, caller }) => {
      const [first = ''] = coveredOf(caller, services.sellers())
      const now = services.marketplaceNow(query.sellerId ?? first).getTime()
      const from = new Date(now - (now % hourMs) - query.days * dayMs)
      return { from, ...(await readOrderStates(database, from, sellersAsked(caller, query.sellerId))) }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/throughput',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Orders and commands of the last hours, hour by hour',
      querystring: z.object({
        hours: z.coerce
          .number('must be a whole number from 1 to 168')
          .int('must be a whole number from 1 to 168')
          .min(1, 'must be at least 1')
          .max(mostHours, `must be at most ${mostHours}`)
          .default(24)
          .meta({ description: 'The hour under way included.' }),
      }),
      response: { 200: z.object({ items: z.array(hourOfWorkSchema).readonly() }), ...problems() },
    },
    handler: async ({ query, caller }) => {
      const [sellerId = ''] = coveredOf(caller, services.sellers())
      return { items: await readThroughput(database, query.hours, services.marketplaceNow(sellerId), caller.sellers) }
    },
  })
}

type Buyer = Pick<PurchaseOrder, 'customerName' | 'customerEmail' | 'customerPhone' | 'shippingAddress'>

const buyerOf = ({ customerName, customerEmail, customerPhone, shippingAddress }: Buyer) => ({
  customerName,
  customerEmail,
  customerPhone,
  shippingAddress: shippingAddress === null ? null : { ...shippingAddress },
})

/** The place of the address stays. */
const maskedBuyer = ({ shippingAddress, ...texts }: ReturnType<typeof buyerOf>): ReturnType<typeof buyerOf> => ({
  customerName: texts.customerName === null ? null : mask,
  customerEmail: texts.customerEmail === null ? null : mask,
  customerPhone: texts.customerPhone === null ? null : mask,
  shippingAddress: shippingAddress === null ? null : maskedAddress(shippingAddress),
})

const notFound = (purchaseOrderId: string): Problem =>
  new Problem('not-found', { detail: `There is no order ${purchaseOrderId} in the database.` })
