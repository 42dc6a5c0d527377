import { z } from 'zod'
import { readOverview, readThroughput } from '../../store/commands/operator-queries.ts'
import type { Database } from '../../store/db/database.ts'
import { recordAct } from '../../store/keys/audit.ts'
import { orderDeadlines } from '../../store/orders/order-deadlines.ts'
import {
  findOrderSellers,
  listOrders,
  type OrderKey,
  orderOutcomes,
  orderSorts,
  readOrderStates,
} from '../../store/orders/order-queries.ts'
import { readPickList } from '../../store/orders/pick-list.ts'
import { readOrder } from '../../store/orders/stored-orders.ts'
import { type App, problems } from '../app.ts'
import { type Caller, filterAccessible, resolveActor, resolveSellerFilter } from '../auth/caller.ts'
import { orderNotFound, pickBuyer, readOrderAnswer, readPastOrderAnswer } from '../order-answer.ts'
import { Problem } from '../problems.ts'
import {
  buildList,
  flagSchema,
  fromSchema,
  instantSchema,
  searchFilter,
  skuFilter,
  textFilter,
  toSchema,
} from '../schemas/lists.ts'
import {
  actorSchema,
  buyerSchema,
  hourOfWorkSchema,
  orderSchema,
  orderStatesSchema,
  orderSummarySchema,
  overviewSchema,
  pickedSkuSchema,
} from '../schemas/schemas.ts'
import type { RouteParts } from './parts.ts'

const positionSchema = z.object({
  sellerId: z.string(),
  purchaseOrderId: z.string(),
  at: z.union([z.iso.datetime(), z.enum(['infinity', '-infinity'])]).nullable(),
  // Absent in cursors of earlier versions.
  rank: z.int().min(0).max(1).nullable().default(null),
})
const orders = buildList('orders', orderSummarySchema, positionSchema, {
  q: searchFilter(
    'Beginning of a purchase order id, customer order id, SKU or tracking number, regardless of case, spaces and hyphens. Exact matches are listed first and completely; ' +
      'of the others, up to 1,000; then those whose purchase order id or customer order id ends with at least four characters.',
  ),
  purchaseOrderId: textFilter('With this id.'),
  customerOrderId: textFilter('Of this customer order.'),
  sku: skuFilter('At least one line has this SKU.'),
  trackingNumber: textFilter('At least one parcel has this tracking number, or had it before a refund or a correction.'),
  sellerId: textFilter('Of this seller.'),
  shipNodeType: textFilter("Shipped by this kind of node, in the marketplace's spelling."),
  open: flagSchema.optional().meta({ description: 'Some units are neither shipped nor cancelled.' }),
  outcome: z
    .enum(orderOutcomes)
    .optional()
    .meta({
      description:
        '`shipped`: nothing is open, and some units were shipped; `cancelled`: nothing is open, and no unit was shipped; `refunded`: some units were ' +
        'refunded. Also set a period: the orders are read one by one.',
    }),
  late: flagSchema.optional().meta({ description: 'true: open, shipped by the seller, and past the ship-by time.' }),
  shipSoon: flagSchema.optional().meta({ description: 'true: open, shipped by the seller, and to be shipped within 24 hours.' }),
  autoCancelSoon: flagSchema
    .optional()
    .meta({ description: 'true: open, and cancelled by the marketplace within 24 hours unless it is shipped.' }),
  acknowledgeOverdue: flagSchema
    .optional()
    .meta({ description: 'true: open, shipped by the seller, and past the acknowledgement deadline.' }),
  acknowledgeSoon: flagSchema
    .optional()
    .meta({ description: 'true: open, shipped by the seller, and to be acknowledged within an hour.' }),
  fulfilledBySeller: flagSchema
    .optional()
    .meta({ description: 'true: open, shipped by the seller, and still known to the marketplace; false: the other open ones.' }),
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
        '`-orderDate`: newest first; `shipBy`: by the estimated ship date; `acknowledgeBy`: by the acknowledgement deadline, so oldest first. ' +
        'Default: by seller and purchase order id.',
    }),
})
const maxHours = 168
const maxDays = 31
const dayMs = 86_400_000
const hourMs = 3_600_000
const sellerOfOrder = z.string().optional().meta({ description: 'Required when several sellers have an order with this id.' })

const buildFilter = (
  caller: Caller,
  query: z.output<typeof orders.querystring>,
  marketplaceTimes: ReadonlyMap<string, Date>,
) => ({
  q: query.q ?? null,
  purchaseOrderId: query.purchaseOrderId ?? null,
  customerOrderId: query.customerOrderId ?? null,
  sku: query.sku ?? null,
  trackingNumber: query.trackingNumber ?? null,
  sellerId: resolveSellerFilter(caller, query.sellerId),
  shipNodeType: query.shipNodeType ?? null,
  fulfilledBySeller: query.fulfilledBySeller ?? null,
  unacknowledged: query.unacknowledged ?? null,
  city: query.city ?? null,
  open: query.open ?? null,
  outcome: query.outcome ?? null,
  findNow: marketplaceTimes,
  due: orderDeadlines.filter((deadline) => query[deadline] === true),
  created: { from: query.createdFrom ?? null, to: query.createdTo ?? null },
  shipBy: { from: query.shipByFrom ?? null, to: query.shipByTo ?? null },
  sort: query.sort ?? null,
})

/** The order with this id that the caller may read. @throws Problem when there is none, or several sellers have one */
const findOrderKey = async (
  database: Database,
  caller: Caller,
  purchaseOrderId: string,
  sellerId: string | undefined,
): Promise<OrderKey> => {
  const candidates = sellerId === undefined ? await findOrderSellers(database, purchaseOrderId) : [sellerId]
  const sellers = filterAccessible(caller, candidates)
  const [only] = sellers
  if (only === undefined) throw orderNotFound(purchaseOrderId)
  if (sellers.length > 1) {
    throw new Problem('ambiguous-order', { detail: `Name one of the sellers with ?sellerId=: ${sellers.join(', ')}.` })
  }
  return { sellerId: only, purchaseOrderId }
}

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
      const filter = buildFilter(request.caller, request.query, marketplaceTimes())
      return orders.answer(request, reply, (after, limit) => listOrders(database, filter, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/orders/:purchaseOrderId',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'An order with lines, unit ledger, commands and history',
      description:
        'With `at`: the order as it was known then, from its kept versions. `commands`, `history` and `open` are of that time too; `ledger` is null. The ' +
        'problem `not-yet-known` says when the order was first seen; `version-not-kept`: the version of that time was removed or erased.',
      params: z.object({ purchaseOrderId: z.string().min(1).max(1_000) }),
      querystring: z.object({
        sellerId: sellerOfOrder,
        at: instantSchema('As it was known at this time.'),
        masked: flagSchema.optional().meta({ description: "true: without the buyer's data. Sessions never get it here." }),
      }),
      response: { 200: orderSchema, ...problems(404, 409, 410) },
    },
    handler: async ({ params: { purchaseOrderId }, query, caller }) => {
      const key = await findOrderKey(database, caller, purchaseOrderId, query.sellerId)
      const viewer = { session: caller.session || query.masked === true }
      return query.at === undefined
        ? readOrderAnswer(database, key, viewer)
        : readPastOrderAnswer(database, key, viewer, query.at)
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/orders/:purchaseOrderId/reveal',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: "Show an order's buyer",
      description: 'For sessions, which get orders without the buyer. The request is audited.',
      params: z.object({ purchaseOrderId: z.string().min(1).max(1_000) }),
      body: z.strictObject({ sellerId: sellerOfOrder, actor: actorSchema }).nullish(),
      response: { 200: buyerSchema, ...problems(404, 409, 413, 415, 422) },
    },
    handler: async ({ params: { purchaseOrderId }, body, caller }) => {
      const { sellerId } = await findOrderKey(database, caller, purchaseOrderId, body?.sellerId)
      const order = await readOrder(database, sellerId, purchaseOrderId)
      if (order === null) throw orderNotFound(purchaseOrderId)
      const by = resolveActor(caller, body?.actor)
      await recordAct(database, { by, action: 'buyer.shown', sellerId, subject: purchaseOrderId, reason: null })
      return pickBuyer(order)
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/overview',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'The main numbers',
      querystring: z.object({
        sellerId: textFilter('Of this seller.'),
        dueBy: instantSchema('Count in `orders.dueBy` the orders to be shipped before this time.'),
      }),
      response: { 200: overviewSchema, ...problems() },
    },
    handler: ({ query, caller }) =>
      readOverview(database, marketplaceTimes(), resolveSellerFilter(caller, query.sellerId), query.dueBy ?? null),
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
          .number(`must be a whole number from 1 to ${maxDays}`)
          .int(`must be a whole number from 1 to ${maxDays}`)
          .min(1, 'must be at least 1')
          .max(maxDays, `must be at most ${maxDays}`)
          .default(7),
      }),
      response: { 200: orderStatesSchema, ...problems() },
    },
    handler: async ({ query, caller }) => {
      const [first = ''] = filterAccessible(caller, services.sellers())
      const now = services.marketplaceNow(query.sellerId ?? first).getTime()
      const from = new Date(now - (now % hourMs) - query.days * dayMs)
      return { from, ...(await readOrderStates(database, from, resolveSellerFilter(caller, query.sellerId))) }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/pick-list',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Units to ship, by SKU',
      description: 'Of open orders that the seller ships, the earliest first.',
      querystring: z.object({
        sellerId: textFilter('Of this seller.'),
        shipBefore: instantSchema('Of orders that must be shipped before this time.'),
      }),
      response: { 200: z.object({ items: z.array(pickedSkuSchema).readonly() }), ...problems() },
    },
    handler: async ({ query, caller }) => {
      const sellers = resolveSellerFilter(caller, query.sellerId)
      return { items: await readPickList(database, marketplaceTimes(), sellers, query.shipBefore ?? null) }
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
          .max(maxHours, `must be at most ${maxHours}`)
          .default(24)
          .meta({ description: 'Number of hours, including the current one.' }),
      }),
      response: { 200: z.object({ items: z.array(hourOfWorkSchema).readonly() }), ...problems() },
    },
    handler: async ({ query, caller }) => {
      const [sellerId = ''] = filterAccessible(caller, services.sellers())
      return { items: await readThroughput(database, query.hours, services.marketplaceNow(sellerId), caller.sellers) }
    },
  })
}
