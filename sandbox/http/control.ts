import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { operationNames } from '../calls/registry.ts'
import { registerCampaignControl } from '../campaigns/control.ts'
import { dayMs } from '../core/duration.ts'
import { decimalText } from '../core/money.ts'
import { registerDisplayControl } from '../display/control.ts'
import { registerApiStatusControl } from '../faults/api-status.ts'
import { limitsChange } from '../faults/limits.ts'
import { faultsSchema, nextFault } from '../faults/schema.ts'
import { registerFulfillmentControl, viewPlantedInventory } from '../fulfillment/control.ts'
import { liveOn } from '../fulfillment/simulation.ts'
import { placePast } from '../life/past.ts'
import { nextIds, placeOrder, placeRandomOrders } from '../life/place.ts'
import { registerNotificationControl } from '../notifications/control.ts'
import type { Order } from '../rules/model.ts'
import { registerSettlementControl, viewPlantedSettlements } from '../settlements/control.ts'
import { registerShippingSettingsControl } from '../shipping-settings/control.ts'
import { registerConnectionControl } from './connection-control.ts'
import { body, checked, duration, Misused, registeredSeller } from './control-request.ts'
import type { Gateway } from './gateway.ts'
import { registerOrderControl } from './order-control.ts'
import { explicitOrder, type OrderRequest, orderRequest } from './order-request.ts'

const maxIdsInAnswer = 1_000
const placeAtOnce = 1_000

const whole = (fallback: number, max: number) => z.coerce.number().int().min(0).max(max).default(fallback)
const effectsQuery = z.object({
  after: whole(0, Number.MAX_SAFE_INTEGER),
  limit: whole(1_000, 10_000),
  sellerId: z.string().optional(),
  purchaseOrderId: z.string().optional(),
})
const pageQuery = z.object({ after: whole(0, Number.MAX_SAFE_INTEGER), limit: whole(500, 5_000) })
const sellerQuery = z.object({ sellerId: z.string().min(1).optional() })
const clockBody = z.strictObject({ advance: duration })
const limitsBody = limitsChange(operationNames)
const sellerBody = z.strictObject({
  sellerId: z.string().min(1),
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  revoked: z.boolean().default(false),
  delegated: z.boolean().default(false),
})
/** The control routes, for programs on the same machine only. */
export const registerControl = (gateway: Gateway): ((app: FastifyInstance) => Promise<void>) => {
  const { world, life, limits, faults, requests } = gateway
  return async (app) => {
    app.addHook('onRequest', async (request) => refuseStrangers(request))
    app.addHook('preHandler', () => life.catchUp())
    app.setErrorHandler((error, _request, reply) => {
      if (!(error instanceof Misused)) throw error
      const { status, message, errors } = error
      reply.code(status).header('content-type', 'application/problem+json')
      reply.send(JSON.stringify({ type: 'about:blank', title: 'Control request refused', status, detail: message, errors }))
    })

    app.post('/orders', async (request, reply) => {
      reply.code(201)
      return place(gateway, body(orderRequest, request))
    })
    app.post('/clock', async (request) => {
      world.clock.advance(body(clockBody, request).advance)
      await life.catchUp()
      return clock(gateway)
    })
    app.get('/clock', async () => clock(gateway))
    app.get('/faults', async () => ({ ...faults.current(), struck: faults.struck() }))
    app.put('/faults', async (request) => {
      faults.replace(body(faultsSchema, request))
      world.hiding.follow()
      return faults.current()
    })
    app.post('/faults/next', async (request) => {
      faults.append(body(z.union([z.array(nextFault), nextFault.transform((one) => [one])]), request))
      return faults.current()
    })
    app.get('/limits', async () => limits.current())
    app.put('/limits', async (request) => limits.change(body(limitsBody, request)))
    app.get('/effects', async (request) => {
      const { after, limit, sellerId, purchaseOrderId } = checked(effectsQuery, request.query)
      const items = world.effects.list({ after, limit, sellerId: sellerId ?? null, purchaseOrderId: purchaseOrderId ?? null })
      return { items, next: items.length === limit ? (items.at(-1)?.id ?? null) : null }
    })
    app.get('/effects/summary', async (request) => {
      const { after, limit } = checked(pageQuery, request.query)
      const orders = world.orders.after(after, limit)
      const next = orders.length === limit ? (orders.at(-1)?.id ?? null) : null
      return { items: orders.flatMap(({ order }) => summarise(gateway, order)), next }
    })
    app.get('/requests', async (request) => ({
      totals: requests.totals(),
      writes: requests.writes(),
      items: requests.list(checked(z.object({ limit: whole(100, 5_000) }), request.query).limit),
    }))
    app.get('/state', async () => {
      liveOn(world, world.settings.sellerId, world.clock.now())
      return {
        now: new Date(world.clock.now()).toISOString(),
        profile: world.settings.dialect.profile,
        orders: world.orders.total(),
        returns: world.returns.total(),
        dueEvents: world.dueEvents.total(),
        triggers: world.triggers.total(),
        taxonomies: world.display.subcategories().length,
        contextualTargets: world.display.contextual().length,
        behavioralAudiences: world.display.behavioral().length,
        campaigns: world.campaigns.total(),
        shippingSettings: world.shippingSettings.total(),
        lastEffect: world.effects.last(),
        sellers: world.sellers.list().map(({ sellerId }) => sellerId),
        inventory: world.inventory.totals(),
        memoryBytes: process.memoryUsage().rss,
      }
    })
    app.get('/sellers', async () => ({ items: world.sellers.list() }))
    app.post('/sellers', async (request, reply) => {
      const { sellerId, clientId, clientSecret, revoked, delegated } = body(sellerBody, request)
      const known = world.sellers.find(sellerId)
      const seller = {
        sellerId,
        clientId: clientId ?? known?.clientId ?? `${sellerId}-client`,
        clientSecret: clientSecret ?? known?.clientSecret ?? `${sellerId}-secret`,
        revoked,
        delegated,
      }
      const other = world.sellers.byClientId(seller.clientId)
      if (other !== null && other.sellerId !== sellerId) throw new Misused(409, `clientId: is that of seller ${other.sellerId}`)
      world.sellers.put(seller)
      reply.code(known === null ? 201 : 200)
      return seller
    })
    registerConnectionControl(app, world)
    registerApiStatusControl(app, world)
    registerNotificationControl(app, world)
    registerOrderControl(app, world)
    registerDisplayControl(app, world)
    registerCampaignControl(app, world)
    registerShippingSettingsControl(app, world)
    registerFulfillmentControl(app, world, life)
    registerSettlementControl(app, world)
    app.get('/truth', async (request) => {
      const sellerId = registeredSeller(world, checked(sellerQuery, request.query).sellerId)
      return { sellerId, ...viewPlantedSettlements(world, sellerId), ...viewPlantedInventory(world, sellerId) }
    })
    app.delete('/', async () => {
      world.reset()
      placePast(world)
      limits.reset()
      faults.reset()
      requests.clear()
      return { reset: true }
    })
  }
}

/** Only programs on this machine, and no web page that a browser on this machine has open. */
const refuseStrangers = (request: FastifyRequest): void => {
  const address = request.socket.remoteAddress ?? ''
  const loopback = address === '::1' || /^(::ffff:)?127\./.test(address)
  const origin = request.headers.origin
  const foreignPage = origin !== undefined && !/^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin)
  if (!loopback || foreignPage) throw new Misused(403, 'The control routes answer on the loopback address only')
}

const clock = ({ world }: Gateway): { now: string; offsetMs: number } => ({
  now: new Date(world.clock.now()).toISOString(),
  offsetMs: world.clock.offsetMs(),
})

const place = async (gateway: Gateway, asked: OrderRequest): Promise<{ count: number; purchaseOrderIds: string[] }> => {
  const { world, life } = gateway
  const sellerId = registeredSeller(world, asked.sellerId)
  const now = world.clock.now()
  if (asked.lines !== undefined) {
    const order = explicitOrder(asked, asked.lines, sellerId, nextIds(world, 1).at(0), now)
    if (world.orders.find(sellerId, order.purchaseOrderId) !== null)
      throw new Misused(409, `purchaseOrderId: ${order.purchaseOrderId} exists`)
    placeOrder(world, order)
    return { count: 1, purchaseOrderIds: [order.purchaseOrderId] }
  }
  const createdTo = Math.min(asked.createdTo ?? now, now)
  const createdFrom = asked.createdFrom ?? (asked.createdTo === undefined ? now : createdTo - dayMs)
  if (createdFrom > createdTo) throw new Misused(400, 'createdFrom: must not be after createdTo, nor in the future')
  const purchaseOrderIds: string[] = []
  for (let placed = 0; placed < asked.count; placed += placeAtOnce) {
    const count = Math.min(placeAtOnce, asked.count - placed)
    const { shipNodeType, alive, history, legacy } = asked
    const ids = placeRandomOrders(world, { sellerId, count, createdFrom, createdTo, shipNodeType, alive, history, legacy })
    purchaseOrderIds.push(...ids.slice(0, maxIdsInAnswer - purchaseOrderIds.length))
    await life.breathe()
  }
  return { count: asked.count, purchaseOrderIds }
}

const summarise = ({ world }: Gateway, order: Order): Record<string, unknown>[] => {
  const totals = world.effects.totals(order.sellerId, order.purchaseOrderId)
  return order.lines.map((line) => {
    const of = totals.get(line.lineNumber)
    return {
      sellerId: order.sellerId,
      purchaseOrderId: order.purchaseOrderId,
      lineNumber: line.lineNumber,
      shipNodeType: order.shipNodeType,
      ordered: line.ordered,
      acknowledged: of?.acknowledged ?? 0,
      shipped: of?.shipped ?? 0,
      delivered: of?.delivered ?? 0,
      cancelled: of?.cancelled ?? 0,
      refunded: of?.refunded ?? 0,
      cancelledAfterAcknowledged: of?.cancelledAfterAcknowledged ?? 0,
      refundedAmount: decimalText(of?.refundedAmount ?? 0),
    }
  })
}
